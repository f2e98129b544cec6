"""Rows of a table, centred and scaled into a small buffer that stays in the cache for matrix products."""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(cache=True, nogil=True)
def centre_rows(X: Any, shift: Any, roots: Any, start: int, stop: int, out: Any) -> None:
    """``out[i, r] = (X[start + i, r] - shift[r]) * roots[start + i]`` for a C-ordered table.

    The product is also taken if the factor is 0, so that a NaN or infinity always shows as NaN.
    """
    for i in range(start, stop):
        root = roots[i]
        row = out[i - start]
        for r in range(X.shape[1]):
            row[r] = (X[i, r] - shift[r]) * root


@numba.njit(cache=True, nogil=True)
def centre_columns(XT: Any, shift: Any, roots: Any, start: int, stop: int, out: Any) -> None:
    """The same for a Fortran-ordered table, given transposed; ``out`` is (features, rows)."""
    for r in range(XT.shape[0]):
        centre = shift[r]
        column, row = XT[r], out[r]
        for i in range(start, stop):
            row[i - start] = (column[i] - centre) * roots[i]
