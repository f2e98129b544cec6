"""Weighted moments of every feature within every class, in one pass over the table.

Rows are added four at a time: the sums are then loaded and stored a quarter as often, which nearly halves the time.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

#: Rows of a Fortran-ordered table that are turned into row order at a time, in the fastest cache (a multiple of 4).
_BLOCK = 64


@numba.njit(cache=True, nogil=True)
def _add_four(z: Any, p: Any, weight: Any, first: Any, second: Any, poison: Any) -> None:
    """Add four centred rows with memberships ``p``; rows that do not count still show their NaN in ``poison``."""
    n_classes, d = first.shape
    counted = False
    for k in range(n_classes):
        p0, p1, p2, p3 = p[0, k], p[1, k], p[2, k], p[3, k]
        if p0 == 0.0 and p1 == 0.0 and p2 == 0.0 and p3 == 0.0:
            continue
        counted = True
        weight[k] += (p0 + p1) + (p2 + p3)
        for r in range(d):
            z0, z1, z2, z3 = z[0, r], z[1, r], z[2, r], z[3, r]
            first[k, r] += (p0 * z0 + p1 * z1) + (p2 * z2 + p3 * z3)
            second[k, r] += (p0 * z0 * z0 + p1 * z1 * z1) + (p2 * z2 * z2 + p3 * z3 * z3)
    if not counted:
        for r in range(d):
            poison[r] += 0.0 * ((z[0, r] + z[1, r]) + (z[2, r] + z[3, r]))


@numba.njit(cache=True, nogil=True)
def _four_memberships(P: Any, i: int, stop: int, p: Any) -> None:
    """``p`` = rows ``i`` to ``i + 3`` of ``P``; zero from ``stop`` on."""
    for j in range(4):
        for k in range(P.shape[1]):
            p[j, k] = P[i + j, k] if i + j < stop else 0.0


@numba.njit(cache=True, nogil=True)
def class_sums_rows(
    X: Any, P: Any, shift: Any, start: int, stop: int, weight: Any, first: Any, second: Any, poison: Any
) -> None:
    """Add rows ``start:stop`` of a C-ordered table to ``weight[k]``, ``first[k, r]`` and ``second[k, r]``.

    The sums are of ``p_ik``, of ``p_ik (x_ir - shift_r)`` and of ``p_ik (x_ir - shift_r)^2``.
    """
    d = X.shape[1]
    z = np.empty((4, d))
    p = np.empty((4, P.shape[1]))
    for i in range(start, stop, 4):
        for j in range(4):
            if i + j < stop:
                for r in range(d):
                    z[j, r] = X[i + j, r] - shift[r]
            else:
                z[j] = 0.0
        _four_memberships(P, i, stop, p)
        _add_four(z, p, weight, first, second, poison)


@numba.njit(cache=True, nogil=True)
def class_sums_columns(
    XT: Any, P: Any, shift: Any, start: int, stop: int, weight: Any, first: Any, second: Any, poison: Any
) -> None:
    """The same for a Fortran-ordered table, given transposed (C-ordered, one row a feature)."""
    d = XT.shape[0]
    z = np.zeros((_BLOCK, d))
    p = np.empty((4, P.shape[1]))
    for block in range(start, stop, _BLOCK):
        size = min(_BLOCK, stop - block)
        for r in range(d):
            for i in range(size):
                z[i, r] = XT[r, block + i] - shift[r]
        z[size:] = 0.0
        for i in range(0, size, 4):
            _four_memberships(P, block + i, stop, p)
            _add_four(z[i : i + 4], p, weight, first, second, poison)


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
