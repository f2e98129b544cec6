"""How badly the nearest other rows predict a row: for one subset, or for all subsets that differ by one feature.

Some of the nearest rows in the current subset, more than k, are known. The k-th smallest of their changed distances is
an upper bound for the k nearest rows in a changed subset, so only few rows have to be compared with each other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from dubio.kernels.distances import (
    Floats,
    Integers,
    Marks,
    Rows,
    gather_marked,
    mark_within,
    offer,
    scratch_marks,
    sort_by_distance,
)

#: Rows used for each neighbour wanted for a bound on distances.
_FOR_BOUND = 2
#: Halvings of an interval that holds the k-th smallest distance. The distances below its middle are counted without a
#: branch, so by vector instructions; a sorted list of k takes four times as long.
_HALVINGS = 8
#: Up to this many surplus rows are removed one by one; if there are more, because distances are equal, rows are sorted.
_FEW_TOO_MANY = 8
#: If more than this many rows per neighbour wanted lie within a bound, a tighter one is tried; and how many it aims at.
_LOOSE, _TIGHT = 3, 1.6


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def bound_on_kth(distances: Floats, found: int, k: int) -> float:
    """A number that at least k of ``found`` distances do not exceed, and seldom many more."""
    low, high = np.inf, 0.0
    for p in range(found):
        low, high = min(low, distances[p]), max(high, distances[p])
    for _ in range(_HALVINGS):
        middle, below = 0.5 * (low + high), 0
        for p in range(found):
            below += distances[p] <= middle
        if below >= k:
            high = middle
            if below == k:
                break
        else:
            low = middle
    return high


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
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

    The k nearest among ``some`` rows give a bound on the distance. If a column is removed, the first k of them do: they
    should be the nearest in the subset, and they come nearer. Often few other rows lie within the bound. If it is
    loose, a tighter one is tried, as if rows were spread evenly (squared distances then grow with the share of rows to
    the ``power`` of 2 / dimensions). ``distances`` and ``rows`` are scratch for all rows.
    """
    bound = 0.0
    for p in range(len(some)):
        gap = own - column[some[p]]
        distances[p] = row[some[p]] + sign * gap * gap
        if p < k:
            bound = max(bound, distances[p])
    within = mark_within(row, column, own, sign, bound, marks) if sign < 0.0 else _LOOSE * k + 1
    if within > _LOOSE * k:
        bound = bound_on_kth(distances, len(some), k)
        within = mark_within(row, column, own, sign, bound, marks)
    if within > _LOOSE * k and 0.0 < bound < np.inf:
        within = mark_within(row, column, own, sign, bound * (_TIGHT * k / within) ** power, marks)
        if within < k:
            mark_within(row, column, own, sign, bound, marks)
    found = gather_marked(row, column, own, sign, marks, distances, rows)
    if found > k + 1:
        bound, kept = bound_on_kth(distances, found, k), 0
        for p in range(found):
            distances[kept], rows[kept] = distances[p], rows[p]
            kept += distances[p] <= bound
        found = kept
    if found - k <= _FEW_TOO_MANY:
        while found > k:
            worst = 0
            for p in range(1, found):
                if distances[p] >= distances[worst]:  # rows are in increasing order: of equal ones the last is removed
                    worst = p
            found -= 1
            for p in range(worst, found):
                distances[p], rows[p] = distances[p + 1], rows[p + 1]
        return
    filled = 0
    for p in range(found):  # the sorted list never overwrites rows that are not yet offered
        filled = offer(distances[p], rows[p], distances[:k], rows[:k], filled)


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def nearest_set_after_adding(
    row: Floats,
    column: Floats,
    own: float,
    sign: float,
    near: Rows,
    near_distances: Floats,
    distances: Floats,
    rows: Rows,
    k: int,
) -> bool:
    """The same for a column that is added (``sign`` 0: none is), from the rows near without it, in their order.

    A row comes no nearer when a column is added. So the rows whose distance without it is within the bound are enough.
    Returns False if ``near`` may not hold all of them.
    """
    first = min(_FOR_BOUND * k, len(near))
    for p in range(first):
        gap = own - column[near[p]]
        distances[p] = row[near[p]] + sign * gap * gap
        rows[p] = near[p]
    bound = bound_on_kth(distances, first, k)
    if not near_distances[-1] > bound:
        return False
    found = 0
    for p in range(first):
        distances[found], rows[found] = distances[p], rows[p]
        found += distances[p] <= bound
    for p in range(first, len(near)):
        if near_distances[p] > bound:
            break
        gap = own - column[near[p]]
        distances[found] = row[near[p]] + sign * gap * gap
        rows[found] = near[p]
        found += distances[found] <= bound
    while found > k:
        worst = 0
        for p in range(1, found):
            if distances[p] > distances[worst] or (distances[p] == distances[worst] and rows[p] > rows[worst]):
                worst = p
        found -= 1
        distances[worst], rows[worst] = distances[found], rows[found]
    return True


@numba.njit(cache=True, nogil=True)
def fill_nearest(squared: Floats, near: Rows, nearest: Rows, nearest_distances: Floats, dimensions: int) -> None:
    """Fill ``nearest`` with the nearest rows of each row in the current subset, in order; ties go to the earlier row.

    ``near`` holds more rows, or as many, for a first bound on the distances: those of an earlier subset, or any.
    """
    n, k = squared.shape[1], nearest.shape[1]
    marks, no_column, no_weights = scratch_marks(n), np.zeros(n), np.empty(k)
    distances, rows = np.empty(n), np.empty(n, dtype=np.int32)
    for i in range(len(squared)):
        nearest_set_after_change(squared[i], no_column, 0.0, 0.0, near[i], 2.0 / dimensions, marks, distances, rows, k)
        sort_by_distance(distances, rows, no_weights, 0, k)
        for p in range(k):  # an assignment of the whole row would take a second to compile
            nearest[i, p], nearest_distances[i, p] = rows[p], distances[p]


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
    near_distances: Floats,
    k: int,
    dimensions: int,
    start: int,
    stop: int,
    sums: Floats,
) -> None:
    """The loss of each target, summed over rows ``start..stop``, for the subset changed by each candidate.

    They are added to ``sums``: one row for each candidate (``sign`` 0: the subset is not changed) and one column for
    each target. Numbers are predicted by the mean of the k nearest rows, and have squared errors. Classes are predicted
    by the memberships of these rows and by the priors, and have weighted cross-entropies. ``near`` are the nearest rows
    of each row, at least k, and their distances in the current subset; or any rows, with distances of 0.
    """
    n_numbers, n_classes, n = len(targets.values), len(targets.memberships), columns.shape[1]
    votes = targets.votes
    weighted = len(votes) > 0
    marks = scratch_marks(n)
    distances, nearest = np.empty(n), np.empty(n, dtype=np.int32)
    power, most = 2.0 / dimensions, min(_FOR_BOUND * k, near.shape[1])
    for i in range(start, stop):
        row = squared[i]
        for c in range(len(candidates)):
            column = columns[candidates[c]]
            own = column[i]
            if sign < 0.0 or not nearest_set_after_adding(
                row, column, own, sign, near[i], near_distances[i], distances, nearest, k
            ):
                nearest_set_after_change(row, column, own, sign, near[i, :most], power, marks, distances, nearest, k)
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
