"""Relief scores, row by row: nearest rows by L1 distance, then differences to hits and to misses. No n x n array."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from dubio.kernels.distances import offer


@numba.njit(cache=True, nogil=True)
def _distances_from(X: Any, i: int, out: Any) -> None:
    """L1 distance from row i to every row; ``inf`` to itself."""
    n, d = X.shape
    for j in range(n):
        total = 0.0
        for r in range(d):
            total += abs(X[i, r] - X[j, r])
        out[j] = total
    out[i] = np.inf


@numba.njit(cache=True, nogil=True)
def nearest_rows(X: Any, start: int, stop: int, out: Any) -> None:
    """``out[i]`` = the rows nearest to row i (L1), nearest first; ties go to the lowest index."""
    n, k = len(X), out.shape[1]
    distances, best = np.empty(n), np.empty(k)
    for i in range(start, stop):
        _distances_from(X, i, distances)
        filled = 0
        for j in range(n):
            if j != i:
                filled = offer(distances[j], j, best, out[i], filled)


@numba.njit(cache=True, nogil=True)
def soft_relief_sums(X: Any, P: Any, neighbors: Any, start: int, stop: int, out: Any) -> int:
    """Add to ``out[r]``, for rows start:stop, the mean difference to misses minus that to hits; returns rows used.

    A neighbour j of row i is a hit with weight ``q = p_i . p_j`` and a miss with weight ``1 - q``. A row whose
    neighbours are all hits, or all misses, gives no comparison and is left out.
    """
    d, k = X.shape[1], neighbors.shape[1]
    weight, used = np.empty(k), 0
    for i in range(start, stop):
        hits = misses = 0.0
        for a in range(k):
            j = neighbors[i, a]
            q = 0.0
            for c in range(P.shape[1]):
                q += P[i, c] * P[j, c]
            weight[a] = q
            hits += q
            misses += 1.0 - q
        if misses < 1e-9 or hits < 1e-9:
            continue
        used += 1
        for a in range(k):
            # how much one unit of difference to this neighbour adds
            gain = (1.0 - weight[a]) / misses - weight[a] / hits
            j = neighbors[i, a]
            for r in range(d):
                out[r] += gain * abs(X[i, r] - X[j, r])
    return used


@numba.njit(cache=True, nogil=True)
def _add_differences(X: Any, i: int, rows: Any, filled: Any, own: int, priors: Any, out: Any) -> None:
    """Add row i's differences to ``rows[c]``, the nearest rows of class c: misses by prior, minus hits."""
    for c in range(len(priors)):
        if filled[c] == 0:
            continue
        gain = -1.0 if c == own else priors[c] / (1.0 - priors[own])
        gain /= filled[c]
        for a in range(filled[c]):
            j = rows[c, a]
            for r in range(X.shape[1]):
                out[r] += gain * abs(X[i, r] - X[j, r])


@numba.njit(cache=True, nogil=True)
def relieff_sums(X: Any, codes: Any, priors: Any, k: int, start: int, stop: int, out: Any) -> None:
    """Add to ``out[r]``, for rows start:stop, ReliefF's differences: k nearest rows per class, weighted by priors."""
    n = X.shape[0]
    n_classes = len(priors)
    distances = np.empty(n)
    best = np.empty((n_classes, k))
    rows = np.empty((n_classes, k), dtype=np.int64)
    filled = np.empty(n_classes, dtype=np.int64)
    for i in range(start, stop):
        _distances_from(X, i, distances)
        filled[:] = 0
        for j in range(n):
            if j != i:
                c = codes[j]
                filled[c] = offer(distances[j], j, best[c], rows[c], filled[c])
        _add_differences(X, i, rows, filled, codes[i], priors, out)


@numba.njit(cache=True, nogil=True)
def sort_rows_by_distance(X: Any, start: int, stop: int, out: Any) -> None:
    """``out[i]`` = all other rows, nearest (L1) first; ties go to the lowest index."""
    n = X.shape[0]
    distances = np.empty(n)
    for i in range(start, stop):
        _distances_from(X, i, distances)
        order = np.argsort(distances, kind="mergesort")
        for a in range(n - 1):
            out[i, a] = order[a]


@numba.njit(cache=True, nogil=True)
def relieff_sums_from_order(
    X: Any, order: Any, codes: Any, priors: Any, k: int, start: int, stop: int, out: Any
) -> None:
    """As :func:`relieff_sums`, for rows already sorted by distance: used for many labellings of the same rows."""
    n = X.shape[0]
    n_classes = len(priors)
    rows = np.empty((n_classes, k), dtype=np.int64)
    filled = np.empty(n_classes, dtype=np.int64)
    for i in range(start, stop):
        filled[:] = 0
        full = 0
        for a in range(n - 1):
            j = order[i, a]
            c = codes[j]
            if filled[c] < k:
                rows[c, filled[c]] = j
                filled[c] += 1
                full += filled[c] == k
                if full == n_classes:
                    break
        _add_differences(X, i, rows, filled, codes[i], priors, out)
