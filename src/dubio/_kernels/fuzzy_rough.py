"""Fuzzy-rough positive regions under the Lukasiewicz connectives, without looking at all pairs of rows.

A *claim* is a pair (row x, class c): "x belongs to c". With distances delta in [0, 1] per feature, the truth of the
claim under the features B is

    f_B(x, c) = min(cap, min over y != x of  membership_c(y) + sum over a in B of delta_a(x, y))

The membership is 0 where y or x is unlabelled; an unlabelled x is a class of its own. The positive region of x is the
largest truth among its claims. If the decision is one column of coordinates (``on_a_line``: numbers, or the codes of
hard classes), there is one claim per row, and the membership of y in the class of x is max(0, 1 - |distance|).

Some arguments are tuples:

* ``claims`` = (starts, labels, live, ceilings): the claims of row x are ``starts[x]:starts[x + 1]``. Each claim is
  about the class in ``labels`` (-1: the class that holds only x), and its truth never exceeds its ceiling;
* ``space`` = (rows, points, n_features, on_a_line, node_starts, low, high): a box tree (see ``box_tree``). Rows are
  visited in its order ("positions"); ``points`` holds the columns of B, then those of the decision;
* ``pairs`` = (starts, counts, partners, values): the live pairs of each claim, with offset plus distance so far.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_STACK = 128  # a path leaves one node per level waiting; no table has 2**128 rows


@numba.njit(cache=True, nogil=True)
def _value(points: Any, n_features: int, on_a_line: bool, label: int, p: int, q: int, radius: float) -> float:
    """Membership plus distance of a pair of positions; exact if below ``radius``."""
    total = 0.0
    if on_a_line:
        similarity = 1.0 - abs(points[p, n_features] - points[q, n_features])
        if similarity > 0.0:  # false where one of the two is unlabelled (NaN)
            total = similarity
    elif label >= 0:
        total = points[q, n_features + label]
    for a in range(n_features):
        if total >= radius:
            return total
        distance = abs(points[p, a] - points[q, a])
        if distance > 0.0:  # false for a missing value
            total += min(distance, 1.0)
    return total


@numba.njit(cache=True, nogil=True)
def _bound(space: Any, label: int, p: int, node: int, radius: float) -> float:
    """A lower bound on the value of every row of the node."""
    _, points, n_features, on_a_line, _, low, high = space
    total = 0.0
    if on_a_line:
        value = points[p, n_features]
        reach = max(abs(value - low[node, n_features]), abs(value - high[node, n_features]))
        if 1.0 - reach > 0.0:
            total = 1.0 - reach
    elif label >= 0:
        total = low[node, n_features + label]
    for a in range(n_features):
        if total >= radius:
            return total
        value = points[p, a]
        distance = max(low[node, a] - value, value - high[node, a])
        if distance > 0.0:
            total += min(distance, 1.0)
    return total


@numba.njit(cache=True, nogil=True)
def _next_leaf(
    space: Any, label: int, p: int, radius: float, stack: Any, bounds: Any, depth: int
) -> tuple[int, int, int]:
    """Go down, nearer child first, to the next leaf that may hold a value below ``radius``.

    Returns ``(start, stop, depth)``: the positions of the leaf. ``start`` is -1 when no leaf is left.
    """
    node_starts = space[4]
    n_nodes = len(node_starts)
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if bounds[depth] >= radius:
            continue
        left = 2 * node + 1
        if left >= n_nodes:
            return node_starts[node, 0], node_starts[node, 1], depth
        right = left + 1
        bound_left = _bound(space, label, p, left, radius)
        bound_right = _bound(space, label, p, right, radius)
        # If the bounds are equal, the half that holds the row itself comes first: the close rows are there.
        right_holds = node_starts[right, 0] <= p < node_starts[right, 1]
        if bound_right < bound_left or (bound_right == bound_left and right_holds):
            left, right, bound_left, bound_right = right, left, bound_right, bound_left
        if bound_right < radius:
            stack[depth], bounds[depth] = right, bound_right
            depth += 1
        if bound_left < radius:
            stack[depth], bounds[depth] = left, bound_left
            depth += 1
    return -1, -1, 0


@numba.njit(cache=True, nogil=True)
def _lower(best: Any, total: float, candidates: Any, p: int, q: int) -> None:
    """Lower the best value of each candidate feature to the value of this pair, if that is smaller."""
    for j in range(len(best)):
        distance = abs(candidates[p, j] - candidates[q, j])
        distance = distance if distance > 0.0 else 0.0  # zero for a missing value
        distance = distance if distance < 1.0 else 1.0
        value = total + distance
        best[j] = value if value < best[j] else best[j]


@numba.njit(cache=True, nogil=True)
def nearest_claims(start: int, stop: int, positions: Any, claims: Any, space: Any, truth: Any) -> None:
    """Set the truth of every live claim of ``positions[start:stop]`` under the features of the space."""
    rows, points, n_features, on_a_line, _, _, _ = space
    claim_starts, labels, live, ceilings = claims
    stack, bounds = np.empty(_STACK, np.int64), np.empty(_STACK)
    for i in range(start, stop):
        p = positions[i]
        for claim in range(claim_starts[rows[p]], claim_starts[rows[p] + 1]):
            if not live[claim]:
                continue
            label, best = labels[claim], ceilings[claim]
            stack[0], bounds[0], depth = 0, -1.0, 1
            while True:
                first, last, depth = _next_leaf(space, label, p, best, stack, bounds, depth)
                if first < 0:
                    break
                for q in range(first, last):
                    if q != p:
                        best = min(best, _value(points, n_features, on_a_line, label, p, q, best))
            truth[claim] = best


@numba.njit(cache=True, nogil=True)
def search_candidates(
    start: int,
    stop: int,
    positions: Any,
    claims: Any,
    space: Any,
    floors: Any,
    weights: Any,
    candidates: Any,
    truth: Any,
) -> tuple[Any, int]:
    """Weighted sum, over ``positions[start:stop]``, of the positive region with each candidate added.

    The search for a claim ends when every remaining row is, under the features already chosen, at least as far as the
    best row of the worst candidate: no such row can lower any candidate. ``truth`` is set to its value without
    candidates; ``floors`` are lower bounds on the positive regions. Returns the sums and the number of pairs visited.
    """
    rows, points, n_features, on_a_line, _, _, _ = space
    claim_starts, labels, live, ceilings = claims
    stack, bounds = np.empty(_STACK, np.int64), np.empty(_STACK)
    n_candidates = candidates.shape[1]
    sums, region, best = np.zeros(n_candidates), np.empty(n_candidates), np.empty(n_candidates)
    n_pairs = 0
    for i in range(start, stop):
        p = positions[i]
        row = rows[p]
        region[:] = floors[row]
        for claim in range(claim_starts[row], claim_starts[row + 1]):
            if not live[claim]:
                continue
            label, radius, own = labels[claim], ceilings[claim], ceilings[claim]
            best[:] = radius
            stack[0], bounds[0], depth = 0, -1.0, 1
            while True:
                first, last, depth = _next_leaf(space, label, p, radius, stack, bounds, depth)
                if first < 0:
                    break
                found = 0
                for q in range(first, last):
                    if q == p:
                        continue
                    total = _value(points, n_features, on_a_line, label, p, q, radius)
                    if total < radius:
                        found += 1
                        own = min(own, total)
                        _lower(best, total, candidates, p, q)
                if found > 0:
                    n_pairs += found
                    radius = best.max()
            truth[claim] = own
            for j in range(n_candidates):
                region[j] = max(region[j], best[j])
        for j in range(n_candidates):
            sums[j] += weights[row] * region[j]
    return sums, n_pairs


@numba.njit(cache=True, nogil=True)
def list_pairs(start: int, stop: int, positions: Any, claims: Any, space: Any, pairs: Any, write: bool) -> int:
    """Count the rows below the ceiling of each live claim; with ``write``, store these rows and their values too."""
    rows, points, n_features, on_a_line, _, _, _ = space
    claim_starts, labels, live, ceilings = claims
    pair_starts, pair_counts, partners, values = pairs
    stack, bounds = np.empty(_STACK, np.int64), np.empty(_STACK)
    listed = 0
    for i in range(start, stop):
        p = positions[i]
        for claim in range(claim_starts[rows[p]], claim_starts[rows[p] + 1]):
            if not live[claim]:
                continue
            label, radius, found = labels[claim], ceilings[claim], 0
            stack[0], bounds[0], depth = 0, -1.0, 1
            while True:
                first, last, depth = _next_leaf(space, label, p, radius, stack, bounds, depth)
                if first < 0:
                    break
                for q in range(first, last):
                    if q == p:
                        continue
                    value = _value(points, n_features, on_a_line, label, p, q, radius)
                    if value < radius:
                        if write:
                            partners[pair_starts[claim] + found] = q
                            values[pair_starts[claim] + found] = value
                        found += 1
            pair_counts[claim] = found
            listed += found
    return listed


@numba.njit(cache=True, nogil=True)
def scan_candidates(
    start: int,
    stop: int,
    positions: Any,
    rows: Any,
    claims: Any,
    pairs: Any,
    floors: Any,
    weights: Any,
    candidates: Any,
) -> Any:
    """The same sums as ``search_candidates``, from the stored list of live pairs."""
    claim_starts, _, live, ceilings = claims
    pair_starts, pair_counts, partners, values = pairs
    n_candidates = candidates.shape[1]
    sums, region, best = np.zeros(n_candidates), np.empty(n_candidates), np.empty(n_candidates)
    for i in range(start, stop):
        p = positions[i]
        row = rows[p]
        region[:] = floors[row]
        for claim in range(claim_starts[row], claim_starts[row + 1]):
            if not live[claim]:
                continue
            radius, since = ceilings[claim], 0
            best[:] = radius
            for pair in range(pair_starts[claim], pair_starts[claim] + pair_counts[claim]):
                if values[pair] < radius:
                    _lower(best, values[pair], candidates, p, partners[pair])
                    since += 1
                    if since == 8:
                        radius, since = best.max(), 0
            for j in range(n_candidates):
                region[j] = max(region[j], best[j])
        for j in range(n_candidates):
            sums[j] += weights[row] * region[j]
    return sums


@numba.njit(cache=True, nogil=True)
def add_to_pairs(
    start: int, stop: int, positions: Any, rows: Any, claims: Any, pairs: Any, column: Any, truth: Any
) -> None:
    """Add the distance of one feature to the live pairs, drop those that reach the ceiling, and set the truths."""
    claim_starts, _, live, ceilings = claims
    pair_starts, pair_counts, partners, values = pairs
    for i in range(start, stop):
        p = positions[i]
        for claim in range(claim_starts[rows[p]], claim_starts[rows[p] + 1]):
            if not live[claim]:
                continue
            first, ceiling = pair_starts[claim], ceilings[claim]
            kept, own = first, ceiling
            for pair in range(first, first + pair_counts[claim]):
                value = values[pair]
                distance = abs(column[p] - column[partners[pair]])
                if distance > 0.0:
                    value += min(distance, 1.0)
                if value < ceiling:
                    partners[kept] = partners[pair]
                    values[kept] = value
                    kept += 1
                    own = min(own, value)
            pair_counts[claim] = kept - first
            truth[claim] = own
