"""Distances between rows, and the nearest of them."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: Rows in half the memory.
Rows = NDArray[np.int32]
Marks = NDArray[np.bool_]

# A bound above every distance except the infinite distance of a row to itself.
UNBOUNDED = 1.7e308
# Below this length a sort is faster than another partition.
_SMALL = 24
#: 1 in each of the eight bytes of a word.
_ONES = np.uint64(0x0101010101010101)
_ONE, _TOP_BYTE = np.uint64(1), np.uint64(56)


@numba.njit(cache=True, nogil=True)
def fill_squared_distances(columns: Floats, features: Integers, start: int, part: Floats) -> None:
    """Squared distances over ``columns[features]`` to all rows, from row ``start`` and the rows after it."""
    n = columns.shape[1]
    for i in range(start, start + part.shape[0]):
        row = part[i - start]
        row[:] = 0.0
        for feature in features:
            column = columns[feature]
            own = column[i]
            for other in range(n):
                gap = own - column[other]
                row[other] += gap * gap
        row[i] = np.inf


@numba.njit(cache=True, nogil=True)
def change_squared_distances(column: Floats, sign: float, squared: Floats, start: int, stop: int) -> None:
    """Add (``sign = 1.0``) or remove (``-1.0``) one column. Rounding must not make a squared distance negative."""
    n = column.shape[0]
    for i in range(start, stop):
        row = squared[i]
        own = column[i]
        for other in range(n):
            gap = own - column[other]
            row[other] = max(row[other] + sign * gap * gap, 0.0)


@numba.njit(cache=True, nogil=True)
def distance_after_change(rows: Floats, subset: Integers, i: int, other: int, feature: int, sign: float) -> float:
    """Squared distance of two rows over ``subset`` with (``sign > 0``) or without ``feature``, summed from scratch.

    Differences of large numbers lose digits, so the few distances that enter a result are computed here.
    """
    total = 0.0
    for member in subset:
        if sign < 0.0 and member == feature:
            continue
        gap = rows[i, member] - rows[other, member]
        total += gap * gap
    if sign > 0.0:
        gap = rows[i, feature] - rows[other, feature]
        total += gap * gap
    return total


@numba.njit(cache=True, nogil=True)
def bound_from_rows(row: Floats, column: Floats, own: float, sign: float, known: Rows) -> float:
    """The largest changed distance among the ``known`` rows: a ball of this size contains all of them."""
    bound = 0.0
    for other in known:
        gap = own - column[other]
        bound = max(bound, row[other] + sign * gap * gap)
    return bound


@numba.njit(cache=True, nogil=True)
def scratch_marks(n: int) -> Marks:
    """Marks for ``n`` rows, all False, padded to a multiple of eight."""
    return np.zeros((n + 7) // 8 * 8, dtype=np.bool_)


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def mark_within(row: Floats, column: Floats, own: float, sign: float, bound: float, marks: Marks) -> int:
    """Mark the rows whose changed distance is within ``bound`` and return how many there are.

    ``marks`` is scratch space from `scratch_marks`. No loop has a branch, so both compile to vector instructions.
    """
    for other in range(row.shape[0]):
        gap = own - column[other]
        marks[other] = row[other] + sign * gap * gap <= bound
    count = 0
    words = marks.view(np.uint64)
    for word in range(words.shape[0]):
        count += int((words[word] * _ONES) >> _TOP_BYTE)
    return count


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def gather_marked(
    row: Floats, column: Floats, own: float, sign: float, marks: Marks, distances: Floats, rows: Any
) -> int:
    """The marked rows, in row order, and their changed distances; returns how many there are."""
    found = 0
    words = marks.view(np.uint64)
    for word in range(words.shape[0]):
        left = words[word]
        while left != 0:
            low = left & (~left + _ONE)
            left ^= low
            # the bytes below the lowest mark, counted by a multiplication
            other = 8 * word + np.int64((((low - _ONE) & _ONES) * _ONES) >> _TOP_BYTE)
            gap = own - column[other]
            distances[found] = row[other] + sign * gap * gap
            rows[found] = other
            found += 1
    return found


@numba.njit(cache=True, nogil=True)
def collect_within(
    row: Floats, column: Floats, own: float, sign: float, bound: float, marks: Marks, distances: Floats, rows: Integers
) -> int:
    """Find all rows whose changed distance is at most ``bound``, in row order, and return how many there are."""
    mark_within(row, column, own, sign, bound, marks)
    return gather_marked(row, column, own, sign, marks, distances, rows)


@numba.njit(cache=True, nogil=True)
def _gather_below(
    distances: Floats, rows: Integers, weights: Floats, first: int, last: int, pivot: float, strictly: bool
) -> tuple[int, float]:
    """Move everything below ``pivot`` to the front of ``first..last``; return where it ends and its total weight."""
    end = first
    weight = 0.0
    for p in range(first, last):
        if distances[p] < pivot or (not strictly and distances[p] == pivot):
            distances[p], distances[end] = distances[end], distances[p]
            rows[p], rows[end] = rows[end], rows[p]
            weights[p], weights[end] = weights[end], weights[p]
            weight += weights[end]
            end += 1
    return end, weight


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sort_by_distance(distances: Floats, rows: Integers, weights: Floats, first: int, last: int) -> None:
    """Sort by distance; equal distances by row."""
    gap = 1
    while last - first > _SMALL * gap:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's sort; with few entries an insertion sort
        for p in range(first + gap, last):
            distance, row, weight = distances[p], rows[p], weights[p]
            q = p - gap
            while q >= first and (distances[q] > distance or (distances[q] == distance and rows[q] > row)):
                distances[q + gap], rows[q + gap], weights[q + gap] = distances[q], rows[q], weights[q]
                q -= gap
            distances[q + gap], rows[q + gap], weights[q + gap] = distance, row, weight
        gap //= 3


@numba.njit(cache=True, nogil=True)
def nearest_until(distances: Floats, rows: Integers, weights: Floats, count: int, target: float) -> tuple[int, float]:
    """Rearrange the first ``count`` entries: the nearest ones, whose weights together reach ``target``, come first.

    Returns the position of the last of these, which has the largest distance (ties by row), and the weight
    reached. With unit weights and ``target = k - 0.5`` these are the k nearest. This is a weighted quickselect: the
    half in which the target is not reached is never sorted.
    """
    first, last, reached = 0, count, 0.0
    while last - first > _SMALL:
        a, b, c = distances[first], distances[(first + last) // 2], distances[last - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        end, weight = _gather_below(distances, rows, weights, first, last, pivot, False)
        if end == last:
            end, weight = _gather_below(distances, rows, weights, first, last, pivot, True)
            if end == first:
                break
        if reached + weight >= target:
            last = end
        else:
            reached += weight
            first = end
    sort_by_distance(distances, rows, weights, first, last)
    for p in range(first, last):
        reached += weights[p]
        if reached >= target:
            return p, reached
    return last - 1, reached


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def offer(distance: float, row: int, best: Any, rows: Any, filled: int) -> int:
    """Insert a row into a list sorted by (distance, row) with room for ``len(best)``; returns how many it now holds.

    Rows must be offered in increasing order. Of two rows at equal distance, the earlier one stays first.
    """
    size = len(best)
    if filled == size and distance >= best[size - 1]:
        return filled
    place = filled if filled < size else size - 1
    while place > 0 and best[place - 1] > distance:
        best[place] = best[place - 1]
        rows[place] = rows[place - 1]
        place -= 1
    best[place] = distance
    rows[place] = row
    return min(filled + 1, size)
