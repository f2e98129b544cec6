"""Sums over the edges of a graph, and graphs that leave one column out."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from dubio.kernels.distances import offer

#: Distances on a line that differ by less than this share of its range are equal.
SAME_DISTANCE = 1e-12


@numba.njit(cache=True, nogil=True)
def edge_energy(indptr: Any, indices: Any, weights: Any, X: Any, out: Any) -> None:
    """``out[r] = 1/2 sum_ij w_ij (x_ir - x_jr)^2`` over the stored edges of a symmetric CSR graph."""
    n, d = X.shape
    row = np.empty(d)
    for i in range(n):
        row[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j >= i:  # each edge once
                continue
            w = weights[e]
            for r in range(d):
                difference = X[i, r] - X[j, r]
                row[r] += w * difference * difference
        for r in range(d):
            out[r] += row[r]


@numba.njit(cache=True, nogil=True)
def pair_squared_distances(X: Any, first: Any, second: Any, start: int, stop: int, out: Any) -> None:
    """``out[e]`` = squared Euclidean distance between rows ``first[e]`` and ``second[e]`` of ``X``."""
    d = X.shape[1]
    for e in range(start, stop):
        i, j = first[e], second[e]
        total = 0.0
        for r in range(d):
            difference = np.float64(X[i, r]) - np.float64(X[j, r])
            total += difference * difference
        out[e] = total


@numba.njit(cache=True, nogil=True)
def neighbors_on_a_line(values: Any, rows: Any, k: int, out: Any) -> None:
    """``out[m]`` = the k points nearest to ``values[rows[m]]``, nearest first; ties go to the lowest index.

    Points are sorted once. From each point two pointers move outwards over groups of equal values. Ties within
    a group and between the two sides are broken by index, exactly as in a full sort. Distances that differ by less than
    ``SAME_DISTANCE`` of the range are equal: in other units, rounding would decide.
    """
    n = len(values)
    order = np.argsort(values, kind="mergesort")
    same = SAME_DISTANCE * (values[order[n - 1]] - values[order[0]])
    # group g holds order[first[g]:first[g + 1]], all with the same value, in order of index
    first = np.empty(n + 1, dtype=np.int64)
    group = np.empty(n, dtype=np.int64)
    n_groups = 0
    for position in range(n):
        if position == 0 or values[order[position]] != values[order[position - 1]]:
            first[n_groups] = position
            n_groups += 1
        group[order[position]] = n_groups - 1
    first[n_groups] = n
    for m in range(len(rows)):
        i = rows[m]
        v = values[i]
        filled = 0
        for position in range(first[group[i]], first[group[i] + 1]):
            j = order[position]
            if j != i:
                out[m, filled] = j
                filled += 1
                if filled == k:
                    break
        left, right = group[i] - 1, group[i] + 1
        while filled < k:
            to_left = v - values[order[first[left]]] if left >= 0 else np.inf
            to_right = values[order[first[right]]] - v if right < n_groups else np.inf
            # positions not yet taken on each side; the sides are merged by index when equally far
            a, a_end = (first[left], first[left + 1]) if to_left <= to_right + same else (0, 0)
            b, b_end = (first[right], first[right + 1]) if to_right <= to_left + same else (0, 0)
            while filled < k and (a < a_end or b < b_end):
                if b >= b_end or (a < a_end and order[a] < order[b]):
                    out[m, filled] = order[a]
                    a += 1
                else:
                    out[m, filled] = order[b]
                    b += 1
                filled += 1
            if to_left <= to_right + same:
                left -= 1
            if to_right <= to_left + same:
                right += 1


@numba.njit(cache=True, nogil=True)
def leave_one_out_neighbors(
    X: Any, starts: Any, ends: Any, first: int, start: int, stop: int, neighbors: Any, squared: Any
) -> None:
    """``neighbors[r, i]`` = the rows nearest to row i by all features except ``first + r``, for rows start:stop.

    Feature f has the columns ``starts[f]`` to ``ends[f]`` (without the last). ``squared`` receives their squared
    distances. Each pair needs one full distance, from which the part of one feature is subtracted: the work is n^2 d in
    total. Ties go to the lowest index.
    """
    (n, d), (width, _, k) = X.shape, neighbors.shape
    full, best, rows = np.empty(n), np.empty(k), np.empty(k, dtype=np.int64)
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
