"""Balls around rows that grow until the weights inside reach a target (Algorithm 1 of the LNT paper), on a device."""

from __future__ import annotations

from typing import Any

from dubio._gpu.torch_door import torch
from dubio._kernels.information import ROUNDING

#: Nearest rows looked at first; only balls that need more look at all rows.
_FIRST = 256


def ball_targets(n_neighbors: int, slack: float, available: Any) -> Any:
    """The weight at which each ball stops growing: ``ball_target`` of ``_kernels/information.py``."""
    return (available.clamp(max=float(n_neighbors)) - (0.5 * available).clamp(max=slack)) * (1.0 - ROUNDING)


def grow_balls(order: Any, weights: Any, targets: Any) -> tuple[Any, Any]:
    """The row at which each ball stops, and the weight inside.

    Parameters
    ----------
    order : tensor (balls, rows)
        For each ball, the other rows by increasing distance.
    weights : tensor (n_rows,)
        Weight of each row.
    targets : tensor (balls,)
        A ball whose target is never reached holds all rows.
    """
    first = min(_FIRST, order.shape[1])
    ends, reached, found = _grow(order[:, :first], weights, targets)
    if first < order.shape[1]:
        left = (~found).nonzero()[:, 0]
        if len(left):
            ends[left], reached[left], _ = _grow(order[left], weights, targets[left])
    return ends, reached


def _grow(order: Any, weights: Any, targets: Any) -> tuple[Any, Any, Any]:
    inside = weights[order].cumsum(dim=1)
    place = (inside < targets[:, None]).sum(dim=1)
    found = place < order.shape[1]
    place = place.clamp(max=order.shape[1] - 1)[:, None]
    return order.gather(1, place)[:, 0].to(torch.int64), inside.gather(1, place)[:, 0], found


def exact_squared(columns: Any, rows: Any, others: Any, left_out: Any = None) -> Any:
    """Squared distances of pairs of rows over some columns, from scratch: differences of large sums would lose digits.

    Parameters
    ----------
    columns : tensor (columns, n_rows)
        The columns of the subset.
    rows, others : tensors (sets, pairs)
        The two rows of each pair.
    left_out : tensor (sets,), optional
        For each set of pairs, a place in ``columns`` that does not count.
    """
    gaps = columns[:, rows] - columns[:, others]
    gaps.mul_(gaps)
    if left_out is not None:
        gaps[left_out, torch.arange(len(left_out), device=gaps.device)] = 0.0
    return gaps.sum(dim=0)
