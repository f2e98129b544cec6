"""Nearest rows of every row when one feature at a time is left out of the distance."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from dubio._kernels.nearest import offer


@numba.njit(cache=True, nogil=True)
def leave_one_out_neighbors(
    X: Any, starts: Any, ends: Any, first: int, start: int, stop: int, neighbors: Any, squared: Any
) -> None:
    """``neighbors[r, i]`` = the rows nearest to row i by all features except ``first + r``, for rows start:stop.

    Feature f has the columns ``starts[f]`` to ``ends[f]`` (without the last). ``squared`` receives their squared
    distances. Each pair needs one full distance, from which the part of one feature is subtracted: the work is n^2 d in
    total. Ties go to the lowest index.
    """
    n, d = X.shape
    width, _, k = neighbors.shape
    full = np.empty(n)
    best = np.empty(k)
    rows = np.empty(k, dtype=np.int64)
    for i in range(start, stop):
        for j in range(n):
            total = 0.0
            for r in range(d):
                difference = X[i, r] - X[j, r]
                total += difference * difference
            full[j] = total
        for r in range(width):
            filled = 0
            for j in range(n):
                if j == i:
                    continue
                own = 0.0
                for column in range(starts[first + r], ends[first + r]):
                    difference = X[i, column] - X[j, column]
                    own += difference * difference
                filled = offer(max(full[j] - own, 0.0), j, best, rows, filled)
            neighbors[r, i] = rows
            squared[r, i] = best
