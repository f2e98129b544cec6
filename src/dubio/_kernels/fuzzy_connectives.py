"""Fuzzy-rough positive regions for any t-norm, implicator and similarity: looks at every pair, one row at a time.

Claims are defined in ``fuzzy_rough``. The truth of (x, c) is the smallest ``I(R_B(x, y), membership_c(y))`` over y.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from dubio._kernels import connectives


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
    t_norm, implicator, gaussian = relation
    columns, on_a_line, crisp = decision
    n_rows, n_candidates = len(coordinates), len(candidates)
    sums, region, best = np.zeros(n_candidates), np.empty(n_candidates), np.empty(n_candidates)
    for i in range(start, stop):
        x = rows[i]
        region[:] = floors[x]
        for claim in range(claim_starts[x], claim_starts[x + 1]):
            if not live[claim]:
                continue
            label, radius, own, since = labels[claim], ceilings[claim], ceilings[claim], 0
            best[:] = radius
            for y in range(n_rows):
                if y == x:
                    continue
                alike = 1.0
                for a in chosen:
                    alike = _join(t_norm, alike, _alike(gaussian, nominal[a], coordinates[x, a], coordinates[y, a]))
                membership = 0.0
                if on_a_line:
                    if not np.isnan(columns[x, 0]) and not np.isnan(columns[y, 0]):
                        membership = _alike(gaussian, crisp, columns[x, 0], columns[y, 0])
                elif label >= 0:
                    membership = columns[y, label]
                value = _imply(implicator, alike, membership)
                if value >= radius:
                    continue  # an implicator decreases in its first argument: no candidate can be lower either
                own = min(own, value)
                for j in range(n_candidates):
                    a = candidates[j]
                    joined = _join(t_norm, alike, _alike(gaussian, nominal[a], coordinates[x, a], coordinates[y, a]))
                    best[j] = min(best[j], _imply(implicator, joined, membership))
                since += 1
                if n_candidates == 0:
                    radius = own
                elif since == 8:
                    radius, since = best.max(), 0
            truth[claim] = own
            for j in range(n_candidates):
                region[j] = max(region[j], best[j])
        for j in range(n_candidates):
            sums[j] += weights[x] * region[j]
    return sums
