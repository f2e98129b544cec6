"""k-nearest-neighbour mutual information of one subset, or of all subsets one feature away.

Both estimators of the paper are one sum over rows. A *group* is a class, or (the last one) all rows together;
``weights[g, i]`` is the membership of row ``i`` in group ``g``, 1 in the last group. For each row and each group
it belongs to, Algorithm 1 grows a ball until the weights inside reach a target; equation 19 adds up the
logarithms of the radii. One-hot memberships give the estimator of Gomez-Verdejo et al. (equation 6).

*Seeds* are rows near row ``i`` whose weights are known to reach the target of the current subset. They reach it
in any other subset too, so the largest of their changed distances bounds the ball there, and few other rows lie
within that bound.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from dubio._kernels.distances import (
    UNBOUNDED,
    bound_from_rows,
    collect_within,
    distance_after_change,
    nearest_until,
    scratch_marks,
)
from dubio._kernels.special import digamma

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A row whose membership in a class is below this adds less than 1e-10 to a sum that is divided by n.
NEGLIGIBLE = 1e-12
# Sums of memberships are compared with their target up to this share, so that rounding takes no extra row.
ROUNDING = 1e-9
# Members at least this much are the ones worth keeping as seeds of a large ball.
_HEAVY = 0.5


@numba.njit(cache=True, nogil=True)
def ball_target(n_neighbors: float, slack: float, available: float) -> float:
    """Weight at which a ball stops growing: ``k - slack``, or what there is in a class smaller than k.

    Of a class with less than ``2 slack`` outside the row, half is enough: the target stays above zero.
    """
    return (min(n_neighbors, available) - min(slack, 0.5 * available)) * (1.0 - ROUNDING)


@numba.njit(cache=True, nogil=True)
def _group_members(
    weights: Floats,
    group: int,
    bound: float,
    count: int,
    found_distances: Floats,
    found_rows: Integers,
    least: float,
    distances: Floats,
    rows: Integers,
    row_weights: Floats,
) -> int:
    """Copy what was found within ``bound`` and weighs more than ``least`` in the group."""
    members = 0
    for h in range(count):
        weight = weights[group, found_rows[h]]
        if found_distances[h] <= bound and weight > least:
            distances[members] = found_distances[h]
            rows[members] = found_rows[h]
            row_weights[members] = weight
            members += 1
    return members


@numba.njit(cache=True, nogil=True)
def candidate_information(
    table: Floats,
    columns: Floats,
    squared: Floats,
    subset: Integers,
    candidates: Integers,
    sign: float,
    weights: Floats,
    totals: Floats,
    n_neighbors: float,
    slack: float,
    seeds: NDArray[np.int32],
    n_seeds: NDArray[np.int32],
    radii: Floats,
    start: int,
    stop: int,
) -> tuple[Floats, int]:
    """Sum over rows ``start..stop`` of the information terms of ``subset`` changed by each candidate.

    ``sign`` is +1 (add the candidate) or -1 (remove it). Returns a term per candidate,
    ``sum_i [d log eps(i) + sum_s gamma(s|i) (psi(Gamma(s|i)) - d log eps(i|s))]``, and the number of balls of
    radius zero met (their terms are left out; the caller must not use the sums then).
    """
    n_groups, n = weights.shape
    marks = scratch_marks(n)
    found_distances, found_rows = np.empty(n), np.empty(n, dtype=np.int64)
    distances, rows, row_weights = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n)
    bounds = np.empty(n_groups)
    sums = np.zeros(len(candidates))
    n_zero = 0
    dimension = len(subset) + sign
    for i in range(start, stop):
        squared_row = squared[i]
        for c in range(len(candidates)):
            feature = candidates[c]
            column = columns[feature]
            own = column[i]
            widest = 0.0
            for g in range(n_groups):
                bounds[g] = -1.0
                if weights[g, i] > NEGLIGIBLE:
                    if n_seeds[i, g] > 0:
                        bounds[g] = bound_from_rows(squared_row, column, own, sign, seeds[i, g, : n_seeds[i, g]])
                    else:
                        # Without a feature every distance shrinks, so the ball of the larger subset will do.
                        bounds[g] = radii[i, g] if sign < 0.0 else UNBOUNDED
                    widest = max(widest, bounds[g])
            count = collect_within(squared_row, column, own, sign, widest, marks, found_distances, found_rows)
            for g in range(n_groups):
                if bounds[g] < 0.0:
                    continue
                members = _group_members(
                    weights, g, bounds[g], count, found_distances, found_rows, 0.0, distances, rows, row_weights
                )
                target = ball_target(n_neighbors, slack, totals[g] - weights[g, i])
                last, reached = nearest_until(distances, rows, row_weights, members, target)
                exact = distance_after_change(table, subset, i, rows[last], feature, sign)
                if exact <= 0.0:
                    n_zero += 1
                    continue
                log_diameter = 0.5 * math.log(4.0 * exact)
                if g == n_groups - 1:
                    sums[c] += dimension * log_diameter
                else:
                    sums[c] += weights[g, i] * (digamma(reached) - dimension * log_diameter)
    return sums, n_zero


@numba.njit(cache=True, nogil=True)
def _keep_seeds(
    distances: Floats,
    rows: Integers,
    row_weights: Floats,
    last: int,
    members: int,
    target: float,
    kept: NDArray[np.int32],
) -> int:
    """Store rows that reach ``target``: the ball itself, or its heavy members and the next ones outside."""
    if last < len(kept):
        for p in range(last + 1):
            kept[p] = rows[p]
        return last + 1
    heavy = 0
    total = 0.0
    for p in range(members):
        if row_weights[p] >= _HEAVY:
            distances[heavy], rows[heavy], row_weights[heavy] = distances[p], rows[p], row_weights[p]
            total += row_weights[p]
            heavy += 1
    if total < target:
        return 0
    last, _ = nearest_until(distances, rows, row_weights, heavy, target)
    if last >= len(kept):
        return 0
    for p in range(last + 1):
        kept[p] = rows[p]
    return last + 1


@numba.njit(cache=True, nogil=True)
def current_information(
    table: Floats,
    subset: Integers,
    squared_part: Floats,
    weights: Floats,
    totals: Floats,
    n_neighbors: float,
    slack: float,
    seeds: NDArray[np.int32],
    n_seeds: NDArray[np.int32],
    radii: Floats,
    start: int,
    stop: int,
) -> tuple[float, int]:
    """The same sum for ``subset`` itself; fills its seeds and squared radii. Old seeds are used where they hold.

    ``squared_part`` holds the distances of rows ``start..stop`` only.
    """
    n_groups, n = weights.shape
    marks = scratch_marks(n)
    found_distances, found_rows = np.empty(n), np.empty(n, dtype=np.int64)
    distances, rows, row_weights = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n)
    no_column = np.zeros(n)
    bounds = np.empty(n_groups)
    targets = np.empty(n_groups)
    total = 0.0
    n_zero = 0
    for i in range(start, stop):
        squared_row = squared_part[i - start]
        widest = 0.0
        for g in range(n_groups):
            bounds[g] = -1.0
            if weights[g, i] > NEGLIGIBLE:
                targets[g] = ball_target(n_neighbors, slack, totals[g] - weights[g, i])
                bounds[g] = UNBOUNDED
                reached = 0.0
                for p in range(n_seeds[i, g]):
                    reached += weights[g, seeds[i, g, p]]
                if reached >= targets[g]:
                    bounds[g] = bound_from_rows(squared_row, no_column, 0.0, 0.0, seeds[i, g, : n_seeds[i, g]])
                widest = max(widest, bounds[g])
        count = collect_within(squared_row, no_column, 0.0, 0.0, widest, marks, found_distances, found_rows)
        for g in range(n_groups):
            if bounds[g] < 0.0:
                n_seeds[i, g] = 0
                radii[i, g] = np.inf
                continue
            members = _group_members(
                weights, g, bounds[g], count, found_distances, found_rows, 0.0, distances, rows, row_weights
            )
            last, reached = nearest_until(distances, rows, row_weights, members, targets[g])
            radii[i, g] = distances[last]
            exact = distance_after_change(table, subset, i, rows[last], -1, 0.0)
            n_seeds[i, g] = _keep_seeds(distances, rows, row_weights, last, members, targets[g], seeds[i, g])
            if exact <= 0.0:
                n_zero += 1
                continue
            log_diameter = 0.5 * math.log(4.0 * exact)
            if g == n_groups - 1:
                total += len(subset) * log_diameter
            else:
                total += weights[g, i] * (digamma(reached) - len(subset) * log_diameter)
    return total, n_zero
