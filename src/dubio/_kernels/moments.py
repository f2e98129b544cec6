"""Weighted moments of every feature within every class, in one pass over the table."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def class_sums_rows(
    X: Any, P: Any, shift: Any, start: int, stop: int, weight: Any, first: Any, second: Any, poison: Any
) -> None:
    """Add rows ``start:stop`` of a C-ordered table to ``weight[k]``, ``first[k, r]`` and ``second[k, r]``.

    The sums are of ``p_ik``, of ``p_ik (x_ir - shift_r)`` and of ``p_ik (x_ir - shift_r)^2``. Rows whose memberships are all zero do not count,
    but a NaN or an infinity in them still shows in ``poison``.
    """
    n_classes, d = first.shape
    z = np.empty(d)
    for i in range(start, stop):
        for r in range(d):
            z[r] = X[i, r] - shift[r]
        counted = False
        for k in range(n_classes):
            p = P[i, k]
            if p == 0.0:
                continue
            counted = True
            weight[k] += p
            for r in range(d):
                pz = p * z[r]
                first[k, r] += pz
                second[k, r] += pz * z[r]
        if not counted:
            for r in range(d):
                poison[r] += 0.0 * z[r]


@numba.njit(cache=True, nogil=True)
def class_sums_columns(
    XT: Any, P: Any, shift: Any, start: int, stop: int, weight: Any, first: Any, second: Any, poison: Any
) -> None:
    """The same for a Fortran-ordered table, given transposed (C-ordered, one row a feature).

    ``first`` and ``second`` are (features, classes) here; ``P`` is (rows, classes).
    """
    d, n_classes = first.shape
    for i in range(start, stop):
        for k in range(n_classes):
            weight[k] += P[i, k]
    for r in range(d):
        for i in range(start, stop):
            z = XT[r, i] - shift[r]
            counted = False
            for k in range(n_classes):
                p = P[i, k]
                if p != 0.0:
                    counted = True
                    first[r, k] += p * z
                    second[r, k] += p * z * z
            if not counted:
                poison[r] += 0.0 * z


@numba.njit(cache=True, nogil=True)
def class_sums_csr(
    data: Any, indices: Any, indptr: Any, P: Any, start: int, stop: int, first: Any, second: Any
) -> None:
    """The sums over the stored values of a CSR table, unshifted: zeros add nothing."""
    n_classes = first.shape[0]
    for i in range(start, stop):
        for k in range(n_classes):
            p = P[i, k]
            if p == 0.0:
                continue
            for e in range(indptr[i], indptr[i + 1]):
                v = data[e]
                first[k, indices[e]] += p * v
                second[k, indices[e]] += p * v * v
