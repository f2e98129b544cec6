"""The nearest enemy of each row under the Lukasiewicz t-norm, and trees of boxes that find it."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from dubio.kernels import connectives


@numba.njit(cache=True, nogil=True)
def _join(t_norm: int, a: float, b: float) -> Any:
    if t_norm == 0:
        return connectives.lukasiewicz_t_norm(a, b)
    if t_norm == 1:
        return connectives.minimum_t_norm(a, b)
    return connectives.product_t_norm(a, b)


@numba.njit(cache=True, nogil=True)
def _imply(implicator: int, a: float, b: float) -> Any:
    if implicator == 0:
        return connectives.lukasiewicz_implicator(a, b)
    if implicator == 1:
        return connectives.kleene_dienes_implicator(a, b)
    if implicator == 2:
        return connectives.reichenbach_implicator(a, b)
    if implicator == 3:
        return connectives.goedel_implicator(a, b)
    return connectives.goguen_implicator(a, b)


@numba.njit(cache=True, nogil=True)
def _alike(gaussian: bool, crisp: bool, a: float, b: float) -> float:
    distance = abs(a - b)
    if not distance > 0.0:  # equal, or one of the two is missing
        return 1.0
    if crisp:
        return 0.0
    if gaussian:
        return np.exp(-0.5 * distance * distance)
    return max(0.0, 1.0 - distance)


@numba.njit(cache=True, nogil=True)
def _alike_after(relation: Any, coordinates: Any, nominal: Any, alike: float, a: int, x: int, y: int) -> Any:
    """The similarity of two rows, joined with their similarity in feature ``a``."""
    t_norm, _, gaussian = relation
    return _join(t_norm, alike, _alike(gaussian, nominal[a], coordinates[x, a], coordinates[y, a]))


@numba.njit(cache=True, nogil=True)
def _membership_in(relation: Any, decision: Any, x: int, y: int, label: int) -> float:
    """How much row ``y`` belongs to the class that row ``x`` claims."""
    columns, on_a_line, crisp = decision
    if on_a_line:
        if np.isnan(columns[x, 0]) or np.isnan(columns[y, 0]):
            return 0.0
        return _alike(relation[2], crisp, columns[x, 0], columns[y, 0])
    return columns[y, label] if label >= 0 else 0.0


@numba.njit(cache=True, nogil=True)
def scan_rows(
    start: int,
    stop: int,
    rows: Any,
    claims: Any,
    relation: Any,
    coordinates: Any,
    nominal: Any,
    decision: Any,
    chosen: Any,
    candidates: Any,
    floors: Any,
    weights: Any,
    truth: Any,
) -> Any:
    """Weighted sum over ``rows[start:stop]`` of the positive region with each candidate added to the chosen features.

    ``relation`` = (t-norm, implicator, gaussian), numbered as in ``_join`` and ``_imply``; ``decision`` =
    (columns, on_a_line, crisp). The ``truth`` of each live claim is set to its value with only the chosen features.
    """
    claim_starts, labels, live, ceilings = claims
    implicator = relation[1]
    n_candidates = len(candidates)
    sums, region, best = np.zeros(n_candidates), np.empty(n_candidates), np.empty(n_candidates)
    for i in range(start, stop):
        x = rows[i]
        region[:] = floors[x]
        for claim in range(claim_starts[x], claim_starts[x + 1]):
            if not live[claim]:
                continue
            radius, lowest, since = ceilings[claim], ceilings[claim], 0
            best[:] = radius
            for y in range(len(coordinates)):
                if y == x:
                    continue
                alike = 1.0
                for a in chosen:
                    alike = _alike_after(relation, coordinates, nominal, alike, a, x, y)
                membership = _membership_in(relation, decision, x, y, labels[claim])
                value = _imply(implicator, alike, membership)
                if value >= radius:
                    continue  # an implicator decreases in its first argument: no candidate can be lower either
                lowest = min(lowest, value)
                for j in range(n_candidates):
                    joined = _alike_after(relation, coordinates, nominal, alike, candidates[j], x, y)
                    best[j] = min(best[j], _imply(implicator, joined, membership))
                since += 1
                if n_candidates == 0:
                    radius = lowest
                elif since == 8:
                    radius, since = best.max(), 0
            truth[claim] = lowest
            for j in range(n_candidates):
                region[j] = max(region[j], best[j])
        for j in range(n_candidates):
            sums[j] += weights[x] * region[j]
    return sums


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
) -> Any:
    """Weighted sum, over ``positions[start:stop]``, of the positive region with each candidate added.

    The search for a claim ends when every remaining row is, under the features already chosen, at least as far as the
    best row of the worst candidate: no such row can lower any candidate. ``truth`` is set to its value without
    candidates (``candidates`` may have no column); ``floors`` are lower bounds on the positive regions.
    """
    rows, points, n_features, on_a_line, _, _, _ = space
    claim_starts, labels, live, ceilings = claims
    stack, bounds = np.empty(_STACK, np.int64), np.empty(_STACK)
    n_candidates = candidates.shape[1]
    sums, region, best = np.zeros(n_candidates), np.empty(n_candidates), np.empty(n_candidates)
    for i in range(start, stop):
        p = positions[i]
        row = rows[p]
        region[:] = floors[row]
        for claim in range(claim_starts[row], claim_starts[row + 1]):
            if not live[claim]:
                continue
            label, radius, lowest = labels[claim], ceilings[claim], ceilings[claim]
            best[:] = radius
            stack[0], bounds[0], depth = 0, -1.0, 1
            while True:
                first, last, depth = _next_leaf(space, label, p, radius, stack, bounds, depth)
                if first < 0:
                    break
                lower = False
                for q in range(first, last):
                    if q == p:
                        continue
                    total = _value(points, n_features, on_a_line, label, p, q, radius)
                    if total < radius:
                        lower = n_candidates > 0
                        lowest = min(lowest, total)
                        if lower:
                            _lower(best, total, candidates, p, q)
                        else:
                            radius = lowest
                if lower:
                    radius = best.max()
            truth[claim] = lowest
            for j in range(n_candidates):
                region[j] = max(region[j], best[j])
        for j in range(n_candidates):
            sums[j] += weights[row] * region[j]
    return sums


@numba.njit(cache=True, nogil=True)
def _partition_at(order: Any, keys: Any, start: int, stop: int, middle: int) -> None:
    """Reorder ``order[start:stop]`` so that position ``middle`` holds the entry that sorting by key would put there."""
    low, high = start, stop - 1
    while low < high:
        pivot = keys[order[(low + high) >> 1]]
        left, right = low, high
        while left <= right:
            while keys[order[left]] < pivot:
                left += 1
            while keys[order[right]] > pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            return


@numba.njit(cache=True, nogil=True)
def build_box_tree(points: Any, leaf_size: int) -> tuple[Any, Any, Any, Any]:
    """Return ``(order, starts, low, high)``; node ``i`` has the children ``2 i + 1`` and ``2 i + 2``.

    ``order`` lists the rows leaf by leaf; node ``i`` holds ``order[starts[i, 0]:starts[i, 1]]``.
    """
    n_rows, n_columns = points.shape
    levels = 0  # so often are rows split in half until no part holds more than ``leaf_size``
    while (n_rows + (1 << levels) - 1) >> levels > leaf_size:
        levels += 1
    n_nodes = (1 << (levels + 1)) - 1
    first_leaf = (1 << levels) - 1
    order = np.arange(n_rows)
    starts = np.empty((n_nodes, 2), np.int64)
    low, high = np.empty((n_nodes, n_columns)), np.empty((n_nodes, n_columns))
    keys = np.empty(n_rows)
    starts[0, 0], starts[0, 1] = 0, n_rows
    for node in range(n_nodes):
        start, stop = starts[node, 0], starts[node, 1]
        widest, widest_spread = -1, 0.0
        for column in range(n_columns):
            least, largest, total, known = np.inf, -np.inf, 0.0, 0
            for i in range(start, stop):
                value = points[order[i], column]
                if value == value:
                    known += 1
                    total += value
                    least = min(least, value)
                    largest = max(largest, value)
            if known < stop - start:
                low[node, column], high[node, column] = -np.inf, np.inf
            else:
                low[node, column], high[node, column] = least, largest
            if node < first_leaf and known > 0 and (largest > least or known < stop - start):
                # Distances are truncated at 1, so a few far rows must not make a column look wide.
                centre, spread = total / known, 0.0
                for i in range(start, stop):
                    value = points[order[i], column]
                    if value == value:
                        spread += min(1.0, abs(value - centre))
                    else:
                        spread += 0.5
                if spread > widest_spread:
                    widest, widest_spread = column, spread
        if node < first_leaf:
            middle = (start + stop) >> 1
            if widest >= 0:
                for i in range(start, stop):
                    value = points[order[i], widest]
                    keys[order[i]] = value if value == value else -np.inf
                _partition_at(order, keys, start, stop, middle)
            starts[2 * node + 1, 0], starts[2 * node + 1, 1] = start, middle
            starts[2 * node + 2, 0], starts[2 * node + 2, 1] = middle, stop
    return order, starts, low, high
