"""How badly the nearest other rows predict a row: for one subset, or for all subsets that differ by one feature.

Some of the nearest rows in the current subset, more than k, are known. The k-th smallest of their changed distances is
an upper bound for the k nearest rows in a changed subset, so only few rows have to be compared with each other.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from dubio.kernels.distances import (
    Floats,
    Integers,
    Marks,
    Rows,
    bound_from_rows,
    gather_marked,
    mark_within,
    offer,
    scratch_marks,
    sort_by_distance,
)

#: Columns that may be added are tried this many at a time.
_WIDTH = 64
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
    bound: float,
    power: float,
    marks: Marks,
    distances: Floats,
    rows: Rows,
    k: int,
) -> None:
    """Fill ``rows[:k]`` with the rows of smallest changed distance, in any order; ties go to the earlier rows.

    At least k rows are within the ``bound``, and often few others are. If there are many, a tighter bound is tried, as
    if rows were spread evenly (squared distances then grow with the share of rows to the ``power`` of 2 / dimensions).
    ``distances`` and ``rows`` are scratch for all rows.
    """
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


@numba.njit(nogil=True, inline="always")  # compiled once, with what calls it
def smallest_after_adding(
    block: Floats,
    row: Floats,
    i: int,
    near: Rows,
    near_distances: Floats,
    changed: Floats,
    smallest: Floats,
) -> int:
    """Fill ``changed`` (near rows, columns) with the distances of row i to its near rows if a column is added.

    ``row`` has the distances without it, and ``block`` the columns that may be added. ``smallest`` (k, columns) gets
    the k smallest distances in order. A row comes no nearer when a column is added, so near rows are asked in their
    order until all further ones lie beyond the k-th smallest; returns how many were asked. The innermost loops run
    over columns without a branch: they compile to vector instructions.
    """
    k, width = smallest.shape
    own, new = block[i], np.empty(width)
    smallest[:] = np.inf
    for p in range(len(near)):
        distance, other, both = row[near[p]], block[near[p]], changed[p]
        if p >= k:
            within, bounds = 0, smallest[k - 1]
            for c in range(width):
                within += near_distances[p] <= bounds[c]
            if within == 0:
                return p
        for c in range(width):
            gap = own[c] - other[c]
            new[c] = distance + gap * gap
            both[c] = new[c]
        for q in range(min(p + 1, k)):
            known = smallest[q]
            for c in range(width):
                one, two = known[c], new[c]
                known[c], new[c] = min(one, two), max(one, two)
    return len(near)


@numba.njit(cache=True, nogil=True)
def fill_nearest(squared: Floats, near: Rows, nearest: Rows, nearest_distances: Floats, dimensions: int) -> None:
    """Fill ``nearest`` with the nearest rows of each row in the current subset, in order; ties go to the earlier row.

    ``near`` holds more rows, or as many, for a first bound on the distances: those of an earlier subset, or any.
    """
    n, k = squared.shape[1], nearest.shape[1]
    marks, no_column, no_weights = scratch_marks(n), np.zeros(n), np.empty(k)
    distances, rows = np.empty(n), np.zeros(n, dtype=np.int32)
    for i in range(len(squared)):
        bound = bound_from_rows(squared[i], no_column, 0.0, 0.0, near[i, :k])
        nearest_set_after_change(squared[i], no_column, 0.0, 0.0, bound, 2.0 / dimensions, marks, distances, rows, k)
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
    #: (rows, numbers + classes + 1): what a near row says: its numbers times its vote, its memberships, and its vote.
    said: Floats


@numba.njit(nogil=True, inline="always")
def hear_nearest(near: Rows, asked: int, changed: Floats, smallest: Floats, said: Floats, heard: Floats) -> None:
    """Fill ``heard`` (targets, columns) with the sums of what the k nearest rows say, for each column of ``changed``.

    They are among the first rows ``asked``; of rows that are equally far, the earlier ones count.
    """
    k, width = smallest.shape
    inside, surplus, bounds = np.empty(width), np.full(width, -float(k)), smallest[k - 1]
    heard[:] = 0.0
    for p in range(asked):
        distances = changed[p]
        for c in range(width):
            inside[c] = 1.0 if distances[c] <= bounds[c] else 0.0
            surplus[c] += inside[c]
        for t in range(len(heard)):
            word, sums = said[near[p], t], heard[t]
            for c in range(width):
                sums[c] += inside[c] * word
    for c in range(width):
        last = np.int64(len(said))
        while surplus[c] > 0.0:
            worst = np.int64(-1)
            for p in range(asked):
                if changed[p, c] == bounds[c] and worst < near[p] < last:
                    worst = near[p]
            for t in range(len(heard)):
                heard[t, c] -= said[worst, t]
            last = worst
            surplus[c] -= 1.0


@numba.njit(nogil=True, inline="always")
def hear_rows(rows: Rows, said: Floats, heard: Any) -> None:
    """Fill ``heard`` with the sums of what some rows say."""
    heard[:] = 0.0
    for p in range(len(rows)):
        for t in range(len(heard)):
            heard[t] += said[rows[p], t]


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
    of each row in the current subset, at least k, and their distances; in the empty subset any rows, with distances of
    0.
    """
    n_numbers, n_classes, n = len(targets.values), len(targets.memberships), columns.shape[1]
    n_said = n_numbers + n_classes
    marks = scratch_marks(n)
    distances, nearest = np.empty(n), np.zeros(n, dtype=np.int32)
    power = 2.0 / dimensions
    for first in range(0, len(candidates), _WIDTH):
        width = min(_WIDTH, len(candidates) - first)
        block, changed = np.empty((n, width)), np.empty((near.shape[1], width))
        smallest, heard = np.empty((k, width)), np.empty((n_said + 1, width))
        for c in range(width if sign > 0.0 else 0):
            column = columns[candidates[first + c]]
            for i in range(n):
                block[i, c] = column[i]
        for i in range(start, stop):
            row = squared[i]
            if sign > 0.0:
                asked = smallest_after_adding(block, row, i, near[i], near_distances[i], changed, smallest)
                hear_nearest(near[i], asked, changed, smallest, targets.said, heard)
            for c in range(width):
                if sign <= 0.0 or not near_distances[i, -1] > smallest[k - 1, c]:
                    column, chosen = columns[candidates[first + c]], near[i, :k]
                    if sign != 0.0:
                        own, bound = column[i], smallest[k - 1, c]
                        if sign < 0.0:
                            bound = bound_from_rows(row, column, own, sign, chosen)
                        nearest_set_after_change(row, column, own, sign, bound, power, marks, distances, nearest, k)
                        chosen = nearest[:k]
                    hear_rows(chosen, targets.said, heard[:, c])
                votes, place = heard[n_said, c], first + c
                for v in range(n_numbers):
                    error = targets.values[v, i] - heard[v, c] / votes
                    sums[place, targets.target_of[v]] += targets.said[i, n_said] * error * error
                for s in range(n_classes):
                    if targets.row_weights[s, i] != 0.0:
                        share = (targets.priors[s] + heard[n_numbers + s, c]) / (votes + 1.0)
                        sums[place, targets.target_of[n_numbers + s]] -= targets.row_weights[s, i] * math.log(share)
