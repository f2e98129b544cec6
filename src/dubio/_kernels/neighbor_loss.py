"""How badly the nearest other rows predict a row, for a subset of features or for all subsets one feature away.

Some of the nearest rows of the current subset, more than k, are known; the k-th smallest of their changed distances
bounds those of the k nearest in a changed subset, so that few rows have to be looked at one by one.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from dubio._kernels.distances import UNBOUNDED, scratch_marks
from dubio._kernels.nearest import offer

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def bound_from_known(
    row: Floats, column: Floats, own: float, sign: float, known: NDArray[np.int32], distances: Floats
) -> float:
    """The ``len(distances)``-th smallest changed distance among the ``known`` rows; ``distances`` is scratch."""
    wanted = distances.shape[0]
    found = 0
    for other in known:
        gap = own - column[other]
        distance = row[other] + sign * gap * gap
        if found == wanted:
            if distance >= distances[wanted - 1]:
                continue
            place = wanted - 1
        else:
            place = found
            found += 1
        while place > 0 and distances[place - 1] > distance:
            distances[place] = distances[place - 1]
            place -= 1
        distances[place] = distance
    return distances[wanted - 1]


@numba.njit(cache=True, nogil=True)
def nearest_after_change(
    row: Floats,
    column: Floats,
    own: float,
    sign: float,
    bound: float,
    marks: NDArray[np.bool_],
    distances: Floats,
    nearest: NDArray[np.int32],
) -> None:
    """Fill ``nearest`` with the rows of smallest changed distance, in order; of equal ones the earlier row.

    At least ``len(nearest)`` rows must lie within ``bound``; ``distances`` is scratch of that length. The first loop
    has no branch and compiles to vector instructions; the second looks at eight marks at once.
    """
    n = row.shape[0]
    for other in range(n):
        gap = own - column[other]
        marks[other] = row[other] + sign * gap * gap <= bound
    found = 0
    words = marks.view(np.uint64)
    for word in range(words.shape[0]):
        if words[word] == 0:
            continue
        for other in range(8 * word, 8 * word + 8):
            if not marks[other]:
                continue
            gap = own - column[other]
            distance = row[other] + sign * gap * gap
            found = offer(distance, other, distances, nearest, found)


@numba.njit(cache=True, nogil=True)
def fill_nearest(squared_part: Floats, known: NDArray[np.int32], is_known: bool, start: int) -> None:
    """The nearest rows of rows ``start..`` in the current subset; ``known`` holds those of an earlier one."""
    n = squared_part.shape[1]
    marks = scratch_marks(n)
    no_column = np.zeros(n)
    distances = np.empty(known.shape[1])
    nearest = np.empty(known.shape[1], dtype=np.int32)
    for p in range(squared_part.shape[0]):
        row = squared_part[p]
        bound = bound_from_known(row, no_column, 0.0, 0.0, known[start + p], distances) if is_known else UNBOUNDED
        nearest_after_change(row, no_column, 0.0, 0.0, bound, marks, distances, nearest)
        known[start + p] = nearest


@numba.njit(cache=True, nogil=True)
def cross_entropy_sums(
    columns: Floats,
    squared: Floats,
    candidates: Integers,
    sign: float,
    memberships: Floats,
    row_weights: Floats,
    priors: Floats,
    known: NDArray[np.int32],
    is_known: bool,
    k: int,
    start: int,
    stop: int,
) -> Floats:
    """Weighted cross-entropy of rows ``start..stop`` for the subset changed by each candidate (``sign`` 0: unchanged).

    ``memberships`` and ``row_weights`` are (classes, rows); a row's prediction is its nearest rows' memberships and
    the priors as one row more.
    """
    n_classes, n = memberships.shape
    marks = scratch_marks(n)
    distances = np.empty(k)
    nearest = np.empty(k, dtype=np.int32)
    sums = np.zeros(len(candidates))
    for i in range(start, stop):
        row = squared[i]
        for c in range(len(candidates)):
            column = columns[candidates[c]]
            own = column[i]
            bound = bound_from_known(row, column, own, sign, known[i], distances) if is_known else UNBOUNDED
            nearest_after_change(row, column, own, sign, bound, marks, distances, nearest)
            for s in range(n_classes):
                if row_weights[s, i] == 0.0:
                    continue
                mass = priors[s]
                of_class = memberships[s]
                for p in range(k):
                    mass += of_class[nearest[p]]
                sums[c] -= row_weights[s, i] * math.log(mass / (k + 1.0))
    return sums


@numba.njit(cache=True, nogil=True)
def squared_error_sums(
    columns: Floats,
    squared: Floats,
    candidates: Integers,
    sign: float,
    values: Floats,
    known: NDArray[np.int32],
    is_known: bool,
    k: int,
    start: int,
    stop: int,
) -> Floats:
    """Squared error of the mean of the nearest rows, summed over rows ``start..stop``, for each changed subset."""
    marks = scratch_marks(len(values))
    distances = np.empty(k)
    nearest = np.empty(k, dtype=np.int32)
    sums = np.zeros(len(candidates))
    for i in range(start, stop):
        row = squared[i]
        for c in range(len(candidates)):
            column = columns[candidates[c]]
            own = column[i]
            bound = bound_from_known(row, column, own, sign, known[i], distances) if is_known else UNBOUNDED
            nearest_after_change(row, column, own, sign, bound, marks, distances, nearest)
            total = 0.0
            for p in range(k):
                total += values[nearest[p]]
            error = values[i] - total / k
            sums[c] += error * error
    return sums
