"""Mutual information of one feature at a time. On a line, sorting once is enough to find neighbours."""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from dubio._kernels.information import NEGLIGIBLE, ball_target
from dubio._kernels.special import digamma

Floats = NDArray[np.float64]


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
    columns: Floats,
    features: NDArray[np.int64],
    weights: Floats,
    totals: Floats,
    n_neighbors: float,
    slack: float,
    start: int,
    stop: int,
) -> tuple[Floats, int]:
    """The sum of `current_information` for each single feature in ``features[start:stop]``."""
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
                target = ball_target(n_neighbors, slack, totals[g] - weight)
                radius, reached = _grow_interval(positions[:members], member_weights, place, target)
                if radius <= 0.0:
                    n_zero += 1
                    continue
                log_diameter = math.log(2.0 * radius)
                if g == n_groups - 1:
                    sums[f - start] += log_diameter
                else:
                    sums[f - start] += weight * (digamma(reached) - log_diameter)
    return sums, n_zero
