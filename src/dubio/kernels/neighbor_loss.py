"""How badly the nearest other rows predict a row: for one subset, or for all subsets that differ by one feature.

Some of the nearest rows in the current subset, more than k, are known. The k-th smallest of their changed distances is
an upper bound for the k nearest rows in a changed subset, so only few rows have to be checked one by one.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from dubio.kernels.distances import UNBOUNDED, offer, scratch_marks

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: 1 in each of the eight bytes of a word.
_ONES = np.uint64(0x0101010101010101)
_ONE, _TOP_BYTE = np.uint64(1), np.uint64(56)
#: Up to this many surplus rows are removed one by one; if there are more, the rows are sorted.
_FEW_TOO_MANY = 8
#: Rows used for a first bound, per neighbour wanted, when no near rows are known.
_SAMPLED_PER_NEIGHBOR = 4
#: If more than this many rows per neighbour wanted lie within a bound, a tighter one is tried; and how many it aims at.
_LOOSE, _TIGHT = 3, 1.6


@numba.njit(cache=True, nogil=True)
def nearest_of_some(
    row: Floats,
    column: Floats,
    own: float,
    sign: float,
    some: NDArray[np.int32],
    distances: Floats,
    rows: NDArray[np.int32],
) -> float:
    """Sort the nearest of ``some`` rows after the change into ``distances`` and ``rows``; return the last distance."""
    filled = 0
    for other in some:
        gap = own - column[other]
        filled = offer(row[other] + sign * gap * gap, other, distances, rows, filled)
    return distances[len(distances) - 1]


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
    """Fill ``nearest`` with the rows of smallest changed distance, in order; ties go to the earlier row.

    At least ``len(nearest)`` rows must lie within ``bound``; ``distances`` is scratch space of that length. The first
    loop has no branch and compiles to vector instructions; the second looks at eight marks at once.
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
def mark_within(row: Floats, column: Floats, own: float, sign: float, bound: float, marks: NDArray[np.bool_]) -> int:
    """Mark the rows whose changed distance is within ``bound`` and return how many there are. No loop has a branch."""
    for other in range(row.shape[0]):
        gap = own - column[other]
        marks[other] = row[other] + sign * gap * gap <= bound
    count = 0
    words = marks.view(np.uint64)
    for word in range(words.shape[0]):
        count += int((words[word] * _ONES) >> _TOP_BYTE)
    return count


@numba.njit(cache=True, nogil=True)
def nearest_set_after_change(
    row: Floats,
    column: Floats,
    own: float,
    sign: float,
    some: NDArray[np.int32],
    power: float,
    marks: NDArray[np.bool_],
    distances: Floats,
    rows: NDArray[np.int32],
    k: int,
) -> None:
    """Fill ``rows[:k]`` with the rows of smallest changed distance, in any order; ties go to the earlier rows.

    The k nearest among ``some`` rows give a bound on the distance. Often no other row lies within it, and they are the
    answer. If the bound is loose, a tighter one is tried, as if rows were spread evenly (squared distances then grow
    with the share of rows to the ``power`` of 2 / dimensions). ``distances`` and ``rows`` are scratch for all rows.
    """
    bound = nearest_of_some(row, column, own, sign, some, distances[:k], rows[:k])
    within = mark_within(row, column, own, sign, bound, marks)
    if within == k:
        return
    if within > _LOOSE * k and 0.0 < bound < np.inf:
        within = mark_within(row, column, own, sign, bound * (_TIGHT * k / within) ** power, marks)
        if within < k:
            mark_within(row, column, own, sign, bound, marks)
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
    if found - k <= _FEW_TOO_MANY:
        while found > k:
            worst = 0
            for p in range(1, found):
                if distances[p] >= distances[worst]:  # rows are in increasing order: of equal ones the last is removed
                    worst = p
            found -= 1
            for p in range(worst, found):
                distances[p] = distances[p + 1]
                rows[p] = rows[p + 1]
        return
    filled = 0
    for p in range(found):  # the sorted list never overwrites rows that are not yet offered
        filled = offer(distances[p], rows[p], distances[:k], rows[:k], filled)


@numba.njit(cache=True, nogil=True)
def first_rows(n: int, k: int) -> NDArray[np.int32]:
    """Some rows for a first bound on distances, when no near rows are known."""
    return np.arange(min(n, _SAMPLED_PER_NEIGHBOR * k + 1)).astype(np.int32)


@numba.njit(cache=True, nogil=True)
def fill_nearest(squared_part: Floats, known: NDArray[np.int32], is_known: bool, start: int) -> None:
    """Find the nearest rows of rows ``start..`` in the current subset; ``known`` holds those of an earlier subset."""
    n = squared_part.shape[1]
    marks = scratch_marks(n)
    no_column = np.zeros(n)
    distances = np.empty(known.shape[1])
    nearest = np.empty(known.shape[1], dtype=np.int32)
    for p in range(squared_part.shape[0]):
        row = squared_part[p]
        bound = UNBOUNDED
        if is_known:
            bound = nearest_of_some(row, no_column, 0.0, 0.0, known[start + p], distances, nearest)
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
    votes: Floats,
    priors: Floats,
    known: NDArray[np.int32],
    is_known: bool,
    k: int,
    dimensions: int,
    start: int,
    stop: int,
) -> Floats:
    """Weighted cross-entropy of rows ``start..stop`` for the subset changed by each candidate (``sign`` 0: unchanged).

    ``memberships`` and ``row_weights`` are (classes, rows). A row is predicted from the memberships of its nearest rows
    and the priors, which count as one more row. ``votes`` is empty, or the weight of each row: then ``memberships``
    contain it already.
    """
    n_classes, n = memberships.shape
    marks = scratch_marks(n)
    distances, nearest = np.empty(n), np.empty(n, dtype=np.int32)
    anywhere = first_rows(n, k)
    sums = np.zeros(len(candidates))
    power = 2.0 / dimensions
    for i in range(start, stop):
        row = squared[i]
        for c in range(len(candidates)):
            column = columns[candidates[c]]
            own = column[i]
            some = known[i] if is_known else anywhere
            nearest_set_after_change(row, column, own, sign, some, power, marks, distances, nearest, k)
            total = k + 1.0
            if len(votes):
                total = 1.0
                for p in range(k):
                    total += votes[nearest[p]]
            for s in range(n_classes):
                if row_weights[s, i] == 0.0:
                    continue
                mass = priors[s]
                of_class = memberships[s]
                for p in range(k):
                    mass += of_class[nearest[p]]
                sums[c] -= row_weights[s, i] * math.log(mass / total)
    return sums


@numba.njit(cache=True, nogil=True)
def squared_error_sums(
    columns: Floats,
    squared: Floats,
    candidates: Integers,
    sign: float,
    values: Floats,
    votes: Floats,
    known: NDArray[np.int32],
    is_known: bool,
    k: int,
    dimensions: int,
    start: int,
    stop: int,
) -> Floats:
    """Squared error when a row is predicted by the mean of its nearest rows, summed over rows ``start..stop``.

    ``votes`` is empty, or the weight of each row. Returns one sum per changed subset.
    """
    marks = scratch_marks(len(values))
    distances, nearest = np.empty(len(values)), np.empty(len(values), dtype=np.int32)
    anywhere = first_rows(len(values), k)
    sums = np.zeros(len(candidates))
    power = 2.0 / dimensions
    for i in range(start, stop):
        row = squared[i]
        for c in range(len(candidates)):
            column = columns[candidates[c]]
            own = column[i]
            some = known[i] if is_known else anywhere
            nearest_set_after_change(row, column, own, sign, some, power, marks, distances, nearest, k)
            total = 0.0
            if len(votes):
                voices = 0.0
                for p in range(k):
                    total += votes[nearest[p]] * values[nearest[p]]
                    voices += votes[nearest[p]]
                error = values[i] - total / voices
                sums[c] += votes[i] * error * error
                continue
            for p in range(k):
                total += values[nearest[p]]
            error = values[i] - total / k
            sums[c] += error * error
    return sums


@numba.njit(cache=True, nogil=True)
def joint_sums(
    columns: Floats,
    squared: Floats,
    candidates: Integers,
    sign: float,
    values: Floats,
    memberships: Floats,
    row_weights: Floats,
    priors: Floats,
    target_of: Integers,
    votes: Floats,
    known: NDArray[np.int32],
    is_known: bool,
    k: int,
    dimensions: int,
    start: int,
    stop: int,
) -> Floats:
    """The losses of several targets for the same neighbours: one column per target, one row per changed subset.

    ``values`` are (targets of numbers, rows), as in :func:`squared_error_sums`; ``memberships``, ``row_weights`` and
    ``priors`` hold the classes of all other targets, as in :func:`cross_entropy_sums`. ``target_of`` says to which
    target each row of ``values`` and then each class belongs.
    """
    n_numbers, n_classes, n = values.shape[0], memberships.shape[0], columns.shape[1]
    marks = scratch_marks(n)
    distances, nearest = np.empty(n), np.empty(n, dtype=np.int32)
    anywhere = first_rows(n, k)
    sums = np.zeros((len(candidates), target_of.max() + 1))
    power = 2.0 / dimensions
    for i in range(start, stop):
        row = squared[i]
        for c in range(len(candidates)):
            column = columns[candidates[c]]
            own = column[i]
            some = known[i] if is_known else anywhere
            nearest_set_after_change(row, column, own, sign, some, power, marks, distances, nearest, k)
            voices = float(k)
            if len(votes):
                voices = 0.0
                for p in range(k):
                    voices += votes[nearest[p]]
            for v in range(n_numbers):
                total = 0.0
                for p in range(k):
                    other = nearest[p]
                    total += votes[other] * values[v, other] if len(votes) else values[v, other]
                error = values[v, i] - total / voices
                sums[c, target_of[v]] += (votes[i] if len(votes) else 1.0) * error * error
            for s in range(n_classes):
                if row_weights[s, i] == 0.0:
                    continue
                mass = priors[s]
                for p in range(k):
                    mass += memberships[s, nearest[p]]
                sums[c, target_of[n_numbers + s]] -= row_weights[s, i] * math.log(mass / (voices + 1.0))
    return sums
