"""The rows around each row in order of distance, sorted only where needed.

A full sort for every row would cost more than the search that uses it. Rows are put into buckets of increasing
distance in linear time. A bucket is sorted when a ball first ends inside it. The order does not depend on memberships,
so every iteration and every restart of a noise model shares it.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from dubio._kernels.distances import distance_after_change, sort_by_distance
from dubio._kernels.information import ball_target
from dubio._kernels.special import digamma

Floats = NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def deal_into_buckets(
    squared: Floats, order: NDArray[np.int32], starts: NDArray[np.int32], start: int, stop: int
) -> None:
    """Fill ``order[i]`` with all other rows, bucket by bucket; bucket ``b`` starts at ``starts[i, b]``."""
    n = squared.shape[0]
    n_buckets = starts.shape[1] - 1
    bucket_of = np.empty(n, dtype=np.int32)
    place = np.empty(n_buckets, dtype=np.int32)
    for i in range(start, stop):
        row = squared[i]
        nearest = np.inf
        total = 0.0
        for other in range(n):
            if other != i:
                nearest = min(nearest, row[other])
                total += row[other]
        # Far rows share the last bucket, so that a few outliers do not push all other rows into the first.
        width = (3.0 * total / (n - 1) - nearest) / n_buckets
        scale = 1.0 / width if width > 0.0 else 0.0
        last = n_buckets - 1.0
        for other in range(n):
            bucket_of[other] = np.int32(min((row[other] - nearest) * scale, last)) if other != i else 0
        counts = starts[i]
        counts[:] = 0
        for other in range(n):
            counts[bucket_of[other] + 1] += 1
        counts[1] -= 1
        for b in range(n_buckets):
            counts[b + 1] += counts[b]
            place[b] = counts[b]
        for other in range(n):
            if other != i:
                bucket = bucket_of[other]
                order[i, place[bucket]] = other
                place[bucket] += 1


@numba.njit(cache=True, nogil=True)
def _sort_bucket(row: Floats, order: NDArray[np.int32], first: int, last: int) -> None:
    m = last - first
    distances, rows, unused = np.empty(m), np.empty(m, dtype=np.int64), np.empty(m)
    for p in range(m):
        rows[p] = order[first + p]
        distances[p] = row[rows[p]]
    sort_by_distance(distances, rows, unused, 0, m)
    for p in range(m):
        order[first + p] = rows[p]


@numba.njit(cache=True, nogil=True)
def _ball(
    row: Floats,
    order: NDArray[np.int32],
    starts: NDArray[np.int32],
    is_sorted: NDArray[np.bool_],
    weights: Floats,
    target: float,
) -> tuple[int, float]:
    """Algorithm 1 for one row and class: the row where the weights reach ``target``, and the weight reached."""
    reached = 0.0
    n_buckets = len(starts) - 1
    end = order[starts[n_buckets] - 1]
    for b in range(n_buckets):
        first, last = starts[b], starts[b + 1]
        if first == last:
            continue
        # Four separate sums: in a single one, each addition would wait for the one before.
        a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
        whole = last - (last - first) % 4
        for p in range(first, whole, 4):
            a0 += weights[order[p]]
            a1 += weights[order[p + 1]]
            a2 += weights[order[p + 2]]
            a3 += weights[order[p + 3]]
        for p in range(whole, last):
            a0 += weights[order[p]]
        inside = (a0 + a1) + (a2 + a3)
        if reached + inside < target:
            reached += inside
            continue
        if not is_sorted[b]:
            _sort_bucket(row, order, first, last)
            is_sorted[b] = True
        for p in range(first, last):
            reached += weights[order[p]]
            if reached >= target or p == last - 1:
                return order[p], reached
    return end, reached


@numba.njit(cache=True, nogil=True)
def log_densities(
    table: Floats,
    subset: NDArray[np.int64],
    squared: Floats,
    order: NDArray[np.int32],
    starts: NDArray[np.int32],
    is_sorted: NDArray[np.bool_],
    weights: Floats,
    totals: Floats,
    n_neighbors: float,
    log_volume: float,
    start: int,
    stop: int,
    densities: Floats,
) -> int:
    """Equation 15 for every row in the range and every class; returns the number of balls of radius zero."""
    n_zero = 0
    for i in range(start, stop):
        for s in range(weights.shape[0]):
            target = ball_target(n_neighbors, 0.0, totals[s] - weights[s, i])
            other, reached = _ball(squared[i], order[i], starts[i], is_sorted[i], weights[s], target)
            if reached <= 0.0:  # no other row belongs to the class
                densities[i, s] = -np.inf
                continue
            distance = distance_after_change(table, subset, i, other, -1, 0.0)
            if distance <= 0.0:
                n_zero += 1
                continue
            densities[i, s] = (
                digamma(reached) - digamma(totals[s]) - log_volume - 0.5 * len(subset) * math.log(4.0 * distance)
            )
    return n_zero
