"""Nearest neighbours for k-NN estimates of mutual information, and the digamma function."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from dubio.kernels.distances import (
    UNBOUNDED,
    Floats,
    Integers,
    Marks,
    Rows,
    bound_from_rows,
    collect_within,
    distance_after_change,
    nearest_until,
    scratch_marks,
    sort_by_distance,
)


@numba.njit(cache=True, nogil=True)
def digamma(x: float) -> float:
    """The digamma function of ``x > 0``: recurrence up to 10, then the asymptotic series, exact up to rounding."""
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    rest = 1.0 / 252.0 - inverse * (1.0 / 240.0 - inverse * (1.0 / 132.0 - inverse * 691.0 / 32760.0))
    series = inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse * rest))
    return shift + math.log(x) - 0.5 / x - series


# A row whose membership in a class is below this adds less than 1e-10 to a sum that is divided by n.
NEGLIGIBLE = 1e-12
# Sums of memberships are compared with their target up to this share, so that rounding does not add a row.
ROUNDING = 1e-9
# Only rows with at least this membership are worth keeping as seeds of a large ball.
_HEAVY = 0.5
# The seeds hold this many times the target weight: more seeds give a tighter bound.
_SEED_RESERVE = 2.0
# Marks in place of a bound: the row is not in the group, or its membership is so small that bounds are enough.
_SKIP, _BOUND_ONLY = -1.0, -2.0
# Number of rows used for the first guess of a radius.
_SAMPLE = 256
# A ball that turns out too small grows by this factor in volume.
_VOLUME_GROWTH = 3.0


class Balls(NamedTuple):
    """The groups of rows over which balls grow, and how far: every class, and last all rows together.

    ``weights`` (groups, rows) is the membership of each row in each group, ``totals`` (groups,) their sums. A ball
    stops growing when the weights in it reach ``n_neighbors - slack``. ``own_counts`` (groups,) is 1 where the weight
    of the row in the centre counts too, else 0.
    """

    weights: Floats
    totals: Floats
    n_neighbors: float
    slack: float
    own_counts: Floats


class Seeds(NamedTuple):
    """Near rows of every row in every group, from the last subset, for a first bound on the next ball.

    ``rows`` (rows, groups, room), how many of them there are, and the squared radius of the last ball (rows, groups).
    """

    rows: Rows
    counts: Rows
    radii: Floats


@numba.njit(cache=True, nogil=True)
def ball_target(n_neighbors: float, slack: float, available: float) -> float:
    """Weight of other rows at which a ball stops growing: ``k - slack``, or less in a class smaller than k.

    ``n_neighbors`` is what the other rows should weigh: k, less the row's own weight if that counts. In a class with a
    weight below ``2 slack`` outside the row, half of that weight is enough, so the target stays above zero.
    """
    return (min(n_neighbors, available) - min(slack, 0.5 * available)) * (1.0 - ROUNDING)


@numba.njit(cache=True, nogil=True)
def _scratch(n: int) -> Any:
    """Room for rows found (marks, distances, rows), and for near ones of a group (distances, rows, weights)."""
    found = scratch_marks(n), np.empty(n), np.empty(n, dtype=np.int64)
    return found, (np.empty(n), np.empty(n, dtype=np.int64), np.empty(n))


@numba.njit(cache=True, nogil=True)
def _group_members(weights: Floats, group: int, bound: float, count: int, found: Any, near: Any) -> int:
    """Copy the ``count`` rows found, if within ``bound``, that have a positive weight in the group."""
    _, found_distances, found_rows = found
    distances, rows, row_weights = near
    members = 0
    for h in range(count):
        weight = weights[group, found_rows[h]]
        if found_distances[h] <= bound and weight > 0.0:
            distances[members] = found_distances[h]
            rows[members] = found_rows[h]
            row_weights[members] = weight
            members += 1
    return members


@numba.njit(cache=True, nogil=True)
def _bound_from_seeds(
    squared_row: Floats, column: Floats, own: float, sign: float, seeds: Rows, weights: Floats, target: float, near: Any
) -> float:
    """Radius of the ball when only the seeds count; the ball over all rows cannot be larger."""
    distances, rows, row_weights = near
    for p in range(len(seeds)):
        other = seeds[p]
        gap = own - column[other]
        distances[p] = squared_row[other] + sign * gap * gap
        rows[p] = other
        row_weights[p] = weights[other]
    last, _ = nearest_until(distances, rows, row_weights, len(seeds), target)
    return distances[last]


@numba.njit(cache=True, nogil=True)
def candidate_information(
    table: Floats,
    columns: Floats,
    squared: Floats,
    subset: Integers,
    candidates: Integers,
    sign: float,
    balls: Balls,
    minor: float,
    seeds: Seeds,
    start: int,
    stop: int,
) -> tuple[Floats, Floats, int]:
    """Sum over rows ``start..stop`` of the information terms of ``subset`` changed by each candidate.

    ``sign`` is +1 (add the candidate) or -1 (remove it). The term of a candidate is
    ``sum_i [d log eps(i) + sum_s gamma(s|i) (psi(Gamma(s|i)) - d log eps(i|s))]``. Returns a lower and an upper bound
    of it, and the number of balls of radius zero. The terms of these balls are left out, so the caller must not use the
    sums if there are any. The bounds differ only because of classes in which a row has a membership below ``minor``:
    the ball of such a class often holds hundreds of rows, is expensive to find, and hardly counts. With ``minor = 0``
    both bounds are exact.
    """
    weights = balls.weights
    n_groups, n = weights.shape
    found, near = _scratch(n)
    bounds, targets, log_bounds = np.empty(n_groups), np.empty(n_groups), np.empty(n_groups)
    inside = np.empty(n_groups)
    lower, upper = np.zeros(len(candidates)), np.zeros(len(candidates))
    n_zero = 0
    dimension = len(subset) + sign
    for i in range(start, stop):
        squared_row = squared[i]
        for g in range(n_groups):
            inside[g] = balls.own_counts[g] * weights[g, i]
            targets[g] = ball_target(balls.n_neighbors - inside[g], balls.slack, balls.totals[g] - weights[g, i])
        for c in range(len(candidates)):
            feature = candidates[c]
            column = columns[feature]
            own = column[i]
            widest = 0.0
            for g in range(n_groups):
                bounds[g] = _SKIP
                if weights[g, i] <= NEGLIGIBLE:
                    continue
                known = seeds.rows[i, g, : seeds.counts[i, g]]
                if weights[g, i] < minor and targets[g] > balls.n_neighbors - 1.0 and (len(known) > 0 or sign < 0.0):
                    bounds[g] = _BOUND_ONLY
                    limit = seeds.radii[i, g]
                    if len(known) > 0:
                        limit = bound_from_rows(squared_row, column, own, sign, known)
                    log_bounds[g] = 0.5 * math.log(4.0 * limit)
                    continue
                if len(known) > 0:
                    bounds[g] = _bound_from_seeds(squared_row, column, own, sign, known, weights[g], targets[g], near)
                else:
                    # Without a feature every distance shrinks, so the ball of the larger subset is large enough.
                    bounds[g] = seeds.radii[i, g] if sign < 0.0 else UNBOUNDED
                widest = max(widest, bounds[g])
            count = collect_within(squared_row, column, own, sign, widest, *found)
            log_overall = 0.0
            for g in range(n_groups - 1, -1, -1):
                if bounds[g] == _SKIP:
                    continue
                if bounds[g] == _BOUND_ONLY:
                    # Each row weighs at most 1, so this ball holds at least as many rows as the ball of all rows.
                    lower[c] += weights[g, i] * (digamma(targets[g] + inside[g]) - dimension * log_bounds[g])
                    most = targets[g] + 1.0 + inside[g]
                    upper[c] += weights[g, i] * (digamma(most) - dimension * log_overall)
                    continue
                members = _group_members(weights, g, bounds[g], count, found, near)
                last, reached = nearest_until(*near, members, targets[g])
                exact = distance_after_change(table, subset, i, near[1][last], feature, sign)
                if exact <= 0.0:
                    n_zero += 1
                    continue
                log_diameter = 0.5 * math.log(4.0 * exact)
                if g == n_groups - 1:
                    term = dimension * log_diameter
                    log_overall = log_diameter
                else:
                    term = weights[g, i] * (digamma(reached + inside[g]) - dimension * log_diameter)
                lower[c] += term
                upper[c] += term
    return lower, upper, n_zero


@numba.njit(cache=True, nogil=True)
def _keep_seeds(near: Any, members: int, target: float, wanted: float, kept: Rows) -> int:
    """Store the nearest rows, or nearest heavy rows, whose weights sum to at least ``target``, ideally ``wanted``."""
    if len(kept) == 0:
        return 0
    distances, rows, row_weights = near
    last, reached = nearest_until(distances, rows, row_weights, members, wanted)
    if last >= len(kept):
        heavy = 0
        for p in range(members):
            if row_weights[p] >= _HEAVY:
                distances[heavy], rows[heavy], row_weights[heavy] = distances[p], rows[p], row_weights[p]
                heavy += 1
        if heavy == 0:
            return 0
        last, reached = nearest_until(distances, rows, row_weights, heavy, wanted)
    if last >= len(kept) or reached < target:
        return 0
    for p in range(last + 1):
        kept[p] = rows[p]
    return last + 1


@numba.njit(cache=True, nogil=True)
def _guess_radius(squared_row: Floats, n_neighbors: float, near: Any) -> float:
    """Squared radius that holds somewhat more than ``n_neighbors`` rows, estimated from a sample of the rows."""
    distances, rows, row_weights = near
    n = len(squared_row)
    step = max(n // _SAMPLE, 1)
    size = 0
    for other in range(0, n, step):
        distances[size], rows[size], row_weights[size] = squared_row[other], other, 1.0
        size += 1
    last, _ = nearest_until(distances, rows, row_weights, size, max(4.0 * n_neighbors / step, 2.0))
    return min(distances[last], UNBOUNDED)


@numba.njit(cache=True, nogil=True)
def _seeds_reach(group_weights: Floats, seeds: Rows, target: float) -> bool:
    reached = 0.0
    for other in seeds:
        reached += group_weights[other]
    return reached >= target


@numba.njit(cache=True, nogil=True)
def _collect_until(
    squared_row: Floats, weights: Floats, no_column: Floats, wanted: Floats, growth: float, bounds: Floats, found: Any
) -> int:
    """Collect the rows within the largest of ``bounds``, and raise these until each holds the weight wanted."""
    _, found_distances, found_rows = found
    while True:
        count = collect_within(squared_row, no_column, 0.0, 0.0, max(0.0, bounds.max()), *found)
        enough = True
        for g in range(len(bounds)):
            if bounds[g] == _SKIP or bounds[g] >= UNBOUNDED:
                continue
            reached = 0.0
            for h in range(count):
                if found_distances[h] <= bounds[g]:
                    reached += weights[g, found_rows[h]]
            if reached < wanted[g]:
                everything = bounds[g] == 0.0 or count == len(squared_row) - 1
                bounds[g] = UNBOUNDED if everything else growth * bounds[g]
                enough = False
        if enough:
            return count


@numba.njit(cache=True, nogil=True)
def current_information(
    table: Floats,
    subset: Integers,
    squared_part: Floats,
    balls: Balls,
    minor: float,
    seeds: Seeds,
    start: int,
    stop: int,
) -> tuple[float, int]:
    """The same sum for ``subset`` itself; fills its seeds and squared radii, with the old ones as a first guess.

    ``squared_part`` holds only the distances of rows ``start..stop``. Classes in which a row has a membership below
    ``minor`` keep their seeds as long as these reach the target, and are left out of the sum.
    """
    weights = balls.weights
    n_groups, n = weights.shape
    found, near = _scratch(n)
    no_column = np.zeros(n)
    bounds, targets, wanted = np.empty(n_groups), np.empty(n_groups), np.empty(n_groups)
    reserve = _SEED_RESERVE if seeds.rows.shape[2] > 0 else 1.0
    growth = _VOLUME_GROWTH ** (2.0 / len(subset))
    total = 0.0
    n_zero = 0
    for i in range(start, stop):
        squared_row = squared_part[i - start]
        for g in range(n_groups):
            bounds[g] = _SKIP
            if weights[g, i] <= NEGLIGIBLE:
                seeds.counts[i, g] = 0
                continue
            available = balls.totals[g] - weights[g, i]
            targets[g] = ball_target(balls.n_neighbors - balls.own_counts[g] * weights[g, i], balls.slack, available)
            wanted[g] = min(reserve * targets[g], available * (1.0 - ROUNDING))
            known = seeds.rows[i, g, : seeds.counts[i, g]]
            if weights[g, i] < minor and _seeds_reach(weights[g], known, targets[g]):
                continue
            # The memberships may have changed since the seeds were stored, so this bound is only a guess.
            bounds[g] = seeds.radii[i, g]
            if len(known) > 0:
                bounds[g] = bound_from_rows(squared_row, no_column, 0.0, 0.0, known)
            elif bounds[g] >= UNBOUNDED:
                bounds[g] = _guess_radius(squared_row, balls.n_neighbors, near)
        count = _collect_until(squared_row, weights, no_column, wanted, growth, bounds, found)
        for g in range(n_groups):
            if bounds[g] == _SKIP:
                continue
            members = _group_members(weights, g, bounds[g], count, found, near)
            last, reached = nearest_until(*near, members, targets[g])
            seeds.radii[i, g] = near[0][last]
            exact = distance_after_change(table, subset, i, near[1][last], -1, 0.0)
            seeds.counts[i, g] = _keep_seeds(near, members, targets[g], wanted[g], seeds.rows[i, g])
            if exact <= 0.0:
                n_zero += 1
                continue
            log_diameter = 0.5 * math.log(4.0 * exact)
            if g == n_groups - 1:
                total += len(subset) * log_diameter
            else:
                inside = reached + balls.own_counts[g] * weights[g, i]
                total += weights[g, i] * (digamma(inside) - len(subset) * log_diameter)
    return total, n_zero


@numba.njit(cache=True, nogil=True)
def _grow_interval(positions: Floats, member_weights: Floats, place: int, target: float) -> tuple[float, float]:
    """Take members around ``place``, nearest first, until their weights reach ``target``; return radius and weight."""
    left, right = place - 1, place + 1
    here = positions[place]
    reached = 0.0
    radius = 0.0
    while reached < target and (left >= 0 or right < len(positions)):
        gap_left = here - positions[left] if left >= 0 else np.inf
        gap_right = positions[right] - here if right < len(positions) else np.inf
        if gap_left <= gap_right:
            radius = gap_left
            reached += member_weights[left]
            left -= 1
        else:
            radius = gap_right
            reached += member_weights[right]
            right += 1
    return radius, reached


@numba.njit(cache=True, nogil=True)
def univariate_information(
    columns: Floats, features: Integers, balls: Balls, start: int, stop: int
) -> tuple[Floats, int]:
    """The sum of `current_information` for each single feature in ``features[start:stop]``."""
    weights = balls.weights
    n_groups, n = weights.shape
    positions, member_weights = np.empty(n), np.empty(n)
    sums = np.zeros(stop - start)
    n_zero = 0
    for f in range(start, stop):
        column = columns[features[f]]
        order = np.argsort(column)
        for g in range(n_groups):
            members = 0
            for row in order:
                if weights[g, row] > 0.0:
                    positions[members] = column[row]
                    member_weights[members] = weights[g, row]
                    members += 1
            for place in range(members):
                weight = member_weights[place]
                if weight <= NEGLIGIBLE:
                    continue
                inside = balls.own_counts[g] * weight
                target = ball_target(balls.n_neighbors - inside, balls.slack, balls.totals[g] - weight)
                radius, reached = _grow_interval(positions[:members], member_weights, place, target)
                if radius <= 0.0:
                    n_zero += 1
                    continue
                log_diameter = math.log(2.0 * radius)
                if g == n_groups - 1:
                    sums[f - start] += log_diameter
                else:
                    sums[f - start] += weight * (digamma(reached + inside) - log_diameter)
    return sums, n_zero


class Buckets(NamedTuple):
    """For each row, the other rows by distance, sorted only as far as needed.

    ``order`` (rows, rows - 1) has them bucket by bucket, ``starts`` (rows, buckets + 1) where each bucket starts, and
    ``sorted`` (rows, buckets) whether its rows are sorted.
    """

    order: Rows
    starts: Rows
    sorted: Marks


@numba.njit(cache=True, nogil=True)
def deal_into_buckets(squared: Floats, buckets: Buckets, start: int, stop: int) -> None:
    """Deal the other rows of each row into buckets by distance; no bucket is sorted."""
    order, starts = buckets.order, buckets.starts
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
        buckets.sorted[i] = False


@numba.njit(cache=True, nogil=True)
def _sort_bucket(row: Floats, order: Rows, first: int, last: int) -> None:
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
    row: Floats, order: Rows, starts: Rows, is_sorted: Marks, weights: Floats, target: float
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
    subset: Integers,
    squared: Floats,
    buckets: Buckets,
    balls: Balls,
    log_volume: float,
    start: int,
    stop: int,
    densities: Floats,
) -> int:
    """Equation 15 for every row in the range and every group; returns the number of balls of radius zero."""
    n_zero = 0
    for i in range(start, stop):
        for s in range(len(balls.weights)):
            of_group = balls.weights[s]
            inside = balls.own_counts[s] * of_group[i]
            target = ball_target(balls.n_neighbors - inside, balls.slack, balls.totals[s] - of_group[i])
            other, reached = _ball(squared[i], buckets.order[i], buckets.starts[i], buckets.sorted[i], of_group, target)
            if reached <= 0.0:  # no other row belongs to the class
                densities[i, s] = -np.inf
                continue
            distance = distance_after_change(table, subset, i, other, -1, 0.0)
            if distance <= 0.0:
                n_zero += 1
                continue
            log_ball = 0.5 * len(subset) * math.log(4.0 * distance)
            densities[i, s] = digamma(reached + inside) - digamma(balls.totals[s]) - log_volume - log_ball
    return n_zero
