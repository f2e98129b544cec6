"""How badly the nearest other rows predict a row: for one subset, or for all subsets that differ by one feature.

Some of the nearest rows in the current subset, more than k, are known. The k-th smallest of their changed distances is
an upper bound for the k nearest rows in a changed subset, so only few rows have to be checked one by one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from dubio.kernels.distances import Floats, Integers, Marks, Rows, gather_marked, mark_within, offer, scratch_marks

#: Up to this many surplus rows are removed one by one; if there are more, the rows are sorted.
_FEW_TOO_MANY = 8
#: If more than this many rows per neighbour wanted lie within a bound, a tighter one is tried; and how many it aims at.
_LOOSE, _TIGHT = 3, 1.6


@numba.njit(cache=True, nogil=True)
def nearest_set_after_change(
    row: Floats,
    column: Floats,
    own: float,
    sign: float,
    some: Rows,
    power: float,
    marks: Marks,
    distances: Floats,
    rows: Rows,
    k: int,
) -> None:
    """Fill ``rows[:k]`` with the rows of smallest changed distance, in any order; ties go to the earlier rows.

    The k nearest among ``some`` rows give a bound on the distance. Often no other row lies within it, and they are the
    answer. If the bound is loose, a tighter one is tried, as if rows were spread evenly (squared distances then grow
    with the share of rows to the ``power`` of 2 / dimensions). ``distances`` and ``rows`` are scratch for all rows.
    """
    first_distances, first_rows, filled = distances[:k], rows[:k], 0
    for other in some:
        gap = own - column[other]
        filled = offer(row[other] + sign * gap * gap, other, first_distances, first_rows, filled)
    bound = first_distances[k - 1]
    within = mark_within(row, column, own, sign, bound, marks)
    if within == k:
        return
    if within > _LOOSE * k and 0.0 < bound < np.inf:
        within = mark_within(row, column, own, sign, bound * (_TIGHT * k / within) ** power, marks)
        if within < k:
            mark_within(row, column, own, sign, bound, marks)
    found = gather_marked(row, column, own, sign, marks, distances, rows)
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
        filled = offer(distances[p], rows[p], first_distances, first_rows, filled)


@numba.njit(cache=True, nogil=True)
def fill_nearest(squared: Floats, near: Rows, nearest: Rows, dimensions: int) -> None:
    """Fill ``nearest`` with the nearest rows of each row in the current subset, in order; ties go to the earlier row.

    ``near`` holds more rows, or as many, for a first bound on the distances: those of an earlier subset, or any.
    """
    n, k = squared.shape[1], nearest.shape[1]
    marks, no_column = scratch_marks(n), np.zeros(n)
    distances, rows = np.empty(n), np.empty(n, dtype=np.int32)
    for i in range(len(squared)):
        nearest_set_after_change(squared[i], no_column, 0.0, 0.0, near[i], 2.0 / dimensions, marks, distances, rows, k)
        for p in range(k):
            distance, row = distances[p], rows[p]
            q = p
            while q > 0 and (distances[q - 1] > distance or (distances[q - 1] == distance and rows[q - 1] > row)):
                distances[q], rows[q] = distances[q - 1], rows[q - 1]
                q -= 1
            distances[q], rows[q] = distance, row
        for p in range(k):  # an assignment of the whole row would take a second to compile
            nearest[i, p] = rows[p]


class Targets(NamedTuple):
    """What near rows predict: numbers, classes, or some of both."""

    #: (numbers, rows): one row for each target of numbers.
    values: Floats
    #: (classes, rows), of the classes of all other targets, times the votes.
    memberships: Floats
    #: (classes, judged rows): how much each membership counts in the loss.
    row_weights: Floats
    #: (classes,): they count as one more near row.
    priors: Floats
    #: (numbers + classes,): the target to which each number, and then each class, belongs.
    target_of: Integers
    #: (rows,): the weight of each row; empty if all count alike.
    votes: Floats


@numba.njit(cache=True, nogil=True)
def loss_sums(
    columns: Floats,
    squared: Floats,
    candidates: Integers,
    sign: float,
    targets: Targets,
    near: Rows,
    k: int,
    dimensions: int,
    start: int,
    stop: int,
) -> Floats:
    """The loss of each target, summed over rows ``start..stop``, for the subset changed by each candidate.

    Returns one row for each candidate (``sign`` 0: the subset is not changed) and one column for each target. Numbers
    are predicted by the mean of the k nearest rows, and have squared errors. Classes are predicted by the memberships
    of these rows and by the priors, and have weighted cross-entropies. ``near`` are some rows for each row, at least k,
    preferably near ones: they give a first bound on its distances.
    """
    n_numbers, n_classes, n = len(targets.values), len(targets.memberships), columns.shape[1]
    votes = targets.votes
    weighted = len(votes) > 0
    marks = scratch_marks(n)
    distances, nearest = np.empty(n), np.empty(n, dtype=np.int32)
    sums = np.zeros((len(candidates), targets.target_of.max() + 1))
    power = 2.0 / dimensions
    for i in range(start, stop):
        row = squared[i]
        for c in range(len(candidates)):
            column = columns[candidates[c]]
            nearest_set_after_change(row, column, column[i], sign, near[i], power, marks, distances, nearest, k)
            heard, heard_with_priors = float(k), k + 1.0
            if weighted:
                heard, heard_with_priors = 0.0, 1.0
                for p in range(k):
                    heard += votes[nearest[p]]
                    heard_with_priors += votes[nearest[p]]
            for v in range(n_numbers):
                values = targets.values[v]
                total = 0.0
                for p in range(k):
                    total += votes[nearest[p]] * values[nearest[p]] if weighted else values[nearest[p]]
                error = values[i] - total / heard
                sums[c, targets.target_of[v]] += (votes[i] if weighted else 1.0) * error * error
            for s in range(n_classes):
                if targets.row_weights[s, i] == 0.0:
                    continue
                memberships = targets.memberships[s]
                mass = targets.priors[s]
                for p in range(k):
                    mass += memberships[nearest[p]]
                term = targets.row_weights[s, i] * math.log(mass / heard_with_priors)
                sums[c, targets.target_of[n_numbers + s]] -= term
    return sums
