"""Rows of a table and of its target, centred and weighted, in a small buffer that stays in the cache for products."""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(cache=True, nogil=True)
def centre_rows(X: Any, shift: Any, T: Any, mean: Any, roots: Any, start: int, stop: int, out: Any) -> None:
    """Rows ``start:stop`` of a C-ordered table, in the rows of ``out``: features, the root of the weight, the target.

    Features are taken around ``shift``, the target around ``mean``; both are multiplied by ``roots``. This is also done
    if the factor is 0, so that a NaN or infinity always shows as NaN. ``T`` holds the target of these rows only.
    """
    d, n_targets = X.shape[1], T.shape[1]
    for i in range(start, stop):
        root = roots[i]
        row = out[i - start]
        for r in range(d):
            row[r] = (X[i, r] - shift[r]) * root
        row[d] = root
        for k in range(n_targets):
            row[d + 1 + k] = (T[i - start, k] - mean[k]) * root


@numba.njit(cache=True, nogil=True)
def centre_columns(XT: Any, shift: Any, T: Any, mean: Any, roots: Any, start: int, stop: int, out: Any) -> None:
    """The same for a Fortran-ordered table, given transposed, in the columns of ``out``."""
    d, n_targets = XT.shape[0], T.shape[1]
    factors = roots[start:stop]
    for r in range(d):
        centre = shift[r]
        column, row = XT[r, start:stop], out[r]
        for i in range(len(factors)):
            row[i] = (column[i] - centre) * factors[i]
    for i in range(len(factors)):
        out[d, i] = factors[i]
        for k in range(n_targets):
            out[d + 1 + k, i] = (T[i, k] - mean[k]) * factors[i]
