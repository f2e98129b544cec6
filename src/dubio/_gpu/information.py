"""The terms of the k-NN mutual information, row by row, after each change of a subset: on a device, and all exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio._gpu.balls import ball_targets, exact_squared, grow_balls
from dubio._gpu.devices import Device
from dubio._gpu.pair_distances import BYTES_PER_CELL, PairDistances
from dubio._gpu.torch_door import torch
from dubio._kernels.information import NEGLIGIBLE, ball_target
from dubio.progress import parts_of

Floats = NDArray[np.float64]

#: Bytes of a tile per distance, if all distances are sorted: keys, places, the sort's own copies, and sums of weights.
SORTED_BYTES_PER_CELL = 96


@dataclass(frozen=True)
class BallSize:
    """What the balls of all rows share."""

    n_neighbors: int
    slack: float


def information_terms(
    pairs: PairDistances,
    subset: NDArray[np.int64],
    weights: Floats,
    totals: Floats,
    size: BallSize,
    candidates: NDArray[np.int64],
    sign: int,
) -> tuple[Floats, int]:
    """(candidates, rows): what each row adds to the sum of equation 19, and the number of balls of radius zero.

    ``weights`` and ``totals`` are those of :class:`dubio.information.groups.Groups`: one row per class, and a last one
    for all rows together. Groups in which every weight is 0 or 1 need only the k nearest members; for the others, all
    rows are sorted by distance.
    """
    device = pairs.device
    groups = [_Group(device, of_group, total, size) for of_group, total in zip(weights, totals, strict=True)]
    chosen = device.put(candidates)
    place_of = {int(feature): place for place, feature in enumerate(subset)}
    places = device.put(np.array([place_of.get(int(candidate), 0) for candidate in candidates]))
    columns = pairs.columns[device.put(subset)]
    cell = SORTED_BYTES_PER_CELL if any(group.members is None for group in groups) else BYTES_PER_CELL
    bytes_per_row = float(cell * pairs.n_rows + 32 * len(subset))
    dimension = len(subset) + sign

    def work(start: int, stop: int) -> tuple[Floats, int]:
        current = pairs.of(start, stop)
        rows = torch.arange(start, stop, device=device.name)
        balls = [(group, *group.balls_of(rows)) for group in groups]
        at_once = max(1, int(device.tile_bytes // ((stop - start) * bytes_per_row)))
        parts, n_zero = [], torch.zeros((), dtype=torch.int64, device=device.name)
        for some, some_places in zip(chosen.split(at_once), places.split(at_once), strict=True):
            distances = pairs.changed(current, start, stop, some, sign)
            order = None
            total = torch.zeros((len(some), stop - start), dtype=torch.float64, device=device.name)
            for group, inside, own, targets in balls:
                if not len(inside):
                    continue
                if group.members is not None:
                    ends, reached = group.nearest_members(distances, inside)
                else:
                    if order is None:  # a row is never its own neighbour: it is the last one
                        order = torch.sort(distances, dim=2, stable=True)[1][:, :, :-1]
                    ends, reached = group.grown(order, inside, targets)
                centres = rows[inside].expand(ends.shape)
                squared = exact_squared(columns, centres, ends, some_places if sign < 0 else None)
                if sign > 0:
                    added = pairs.columns[some]
                    squared += (added.gather(1, centres) - added.gather(1, ends)) ** 2
                n_zero += (squared <= 0.0).sum()
                spread = dimension * 0.5 * torch.log(4.0 * squared)
                total[:, inside] += spread if group is groups[-1] else own * (torch.special.digamma(reached) - spread)
            parts.append(total)
        found: Floats = torch.cat(parts).cpu().numpy()
        return found, int(n_zero)

    done = device.in_tiles(pairs.n_judged, bytes_per_row, work, parts_of("one step of the search"))
    return np.concatenate([part for part, _ in done], axis=1), sum(n_zero for _, n_zero in done)


class _Group:
    """A class, or all rows: the weight of every row in it, and how balls grow over these weights."""

    def __init__(self, device: Device, weights: Floats, total: float, size: BallSize) -> None:
        self._weights, self._total, self._size = device.put(weights), float(total), size
        #: The rows in the group, if all weights are 0 or 1; else None.
        self.members: Any = None
        if ((weights == 0) | (weights == 1)).all():
            self.members = device.put(np.flatnonzero(weights))
            self._k = int(np.ceil(ball_target(float(size.n_neighbors), size.slack, self._total - 1.0)))

    def balls_of(self, rows: Any) -> tuple[Any, Any, Any]:
        """Places of the rows that are in the group, their weights, and the targets of their balls."""
        own = self._weights[rows]
        inside = (own > NEGLIGIBLE).nonzero()[:, 0]
        own = own[inside]
        return inside, own, ball_targets(self._size.n_neighbors, self._size.slack, self._total - own)

    def nearest_members(self, distances: Any, inside: Any) -> tuple[Any, Any]:
        """The last row of each ball, and how many are in it: members weigh 1, so all balls hold the same number."""
        if len(inside) < distances.shape[1]:
            distances = distances[:, inside]
        if len(self.members) < distances.shape[2]:
            distances = distances[:, :, self.members]
        ends = self.members[torch.topk(distances, self._k, largest=False, sorted=True)[1][..., -1]]
        return ends, torch.full(ends.shape, float(self._k), dtype=torch.float64, device=ends.device)

    def grown(self, order: Any, inside: Any, targets: Any) -> tuple[Any, Any]:
        """The last row of each ball, and the weight in it, when rows are sorted by distance."""
        n_candidates = len(order)
        some = order[:, inside].flatten(0, 1) if len(inside) < order.shape[1] else order.flatten(0, 1)
        ends, reached = grow_balls(some, self._weights, targets.repeat(n_candidates))
        return ends.view(n_candidates, -1), reached.view(n_candidates, -1)
