"""The terms of the k-NN mutual information, row by row, after each change of a subset: on a device, and all exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio._gpu.balls import ball_targets, exact_squared, grow_balls
from dubio._gpu.pair_distances import PairDistances
from dubio._gpu.torch_door import torch
from dubio._kernels.information import NEGLIGIBLE
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
    unit = ((weights == 0) | (weights == 1)).all(axis=1)
    on_device = device.put(weights)
    chosen = device.put(candidates)
    # all rows, and single classes: each a place in `weights`, and the rows that are members
    members = {int(g): device.put(np.flatnonzero(weights[g])) for g in np.flatnonzero(unit)}
    bytes_per_row = float(pairs.n_rows * (pairs.bytes_per_row / pairs.n_rows if unit.all() else SORTED_BYTES_PER_CELL))
    dimension = len(subset) + sign

    def work(start: int, stop: int) -> tuple[Floats, int]:
        current = pairs.of(start, stop)
        rows = torch.arange(start, stop, device=device.name)
        at_once = max(1, int(device.tile_bytes // ((stop - start) * bytes_per_row)))
        parts, n_zero = [], 0
        for some in chosen.split(at_once):
            distances = pairs.changed(current, start, stop, some, sign)
            tile = _Tile(pairs, subset, some, sign, rows, distances)
            total = torch.zeros((len(some), stop - start), dtype=torch.float64, device=device.name)
            for group in range(len(weights)):
                own = on_device[group, rows]
                inside = (own > NEGLIGIBLE).nonzero()[:, 0]
                if not len(inside):
                    continue
                targets = ball_targets(size.n_neighbors, size.slack, totals[group] - own[inside])
                if unit[group]:
                    ends, reached = tile.nearest_members(inside, members[group], targets)
                else:
                    ends, reached = tile.grown(inside, on_device[group], targets)
                squared = tile.exact(inside, ends)
                n_zero += int((squared <= 0.0).sum())
                spread = dimension * 0.5 * torch.log(4.0 * squared)
                if group == len(weights) - 1:
                    total[:, inside] += spread
                else:
                    total[:, inside] += own[inside] * (torch.special.digamma(reached) - spread)
            parts.append(total)
        found: Floats = torch.cat(parts).cpu().numpy()
        return found, n_zero

    done = device.in_tiles(pairs.n_judged, bytes_per_row, work, parts_of("one step of the search"))
    return np.concatenate([part for part, _ in done], axis=1), sum(n_zero for _, n_zero in done)


class _Tile:
    """The distances of some rows in some changed subsets, and the balls in them."""

    def __init__(
        self, pairs: PairDistances, subset: NDArray[np.int64], candidates: Any, sign: int, rows: Any, distances: Any
    ) -> None:
        self._pairs, self._subset, self._candidates, self._sign = pairs, subset, candidates, sign
        self._rows, self._distances = rows, distances
        self._order: Any = None

    def nearest_members(self, inside: Any, members: Any, targets: Any) -> tuple[Any, Any]:
        """For rows that are members of a group of weights 0 and 1: all of them have the same target."""
        k = int(np.ceil(float(targets[0])))
        distances = self._distances
        if len(inside) < distances.shape[1]:
            distances = distances[:, inside]
        if len(members) < self._pairs.n_rows:
            distances = distances[:, :, members]
        places = torch.topk(distances, k, largest=False, sorted=True)[1]
        ends = members[places[..., -1]]
        return ends, torch.full(ends.shape, float(k), dtype=torch.float64, device=ends.device)

    def grown(self, inside: Any, weights: Any, targets: Any) -> tuple[Any, Any]:
        """For any weights: rows are sorted by distance once for all groups; a row is never its own neighbour."""
        if self._order is None:
            self._order = torch.sort(self._distances, dim=2, stable=True)[1][:, :, :-1]
        n_candidates = len(self._order)
        order = self._order[:, inside].flatten(0, 1)
        ends, reached = grow_balls(order, weights, targets.repeat(n_candidates))
        return ends.view(n_candidates, -1), reached.view(n_candidates, -1)

    def exact(self, inside: Any, ends: Any) -> Any:
        """The squared radii, from scratch."""
        columns, rows = self._pairs.columns, self._rows[inside].expand(ends.shape)
        total = exact_squared(columns, self._subset, rows, ends) if self._sign >= 0 else None
        if self._sign == 0:
            return total
        own = columns[self._candidates]
        gaps = (own.gather(1, rows) - own.gather(1, ends)) ** 2
        if total is not None:
            return total + gaps
        parts = [
            exact_squared(columns, self._subset[self._subset != candidate], rows[c], ends[c])
            for c, candidate in enumerate(self._candidates.tolist())
        ]
        return torch.stack(parts)
