"""Mutual information and its noise model on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.kernels.distances_gpu import BYTES_PER_CELL, PairDistances
from dubio.kernels.gpu import Device, torch
from dubio.kernels.information import NEGLIGIBLE, ROUNDING, Balls, ball_target
from dubio.progress import parts_of

#: Nearest rows looked at first; only balls that need more look at all rows.
_FIRST = 256


def ball_targets(n_neighbors: Any, slack: float, available: Any) -> Any:
    """The weight at which each ball stops growing: ``ball_target`` of ``kernels/information.py``."""
    return (available.clamp(max=n_neighbors) - (0.5 * available).clamp(max=slack)) * (1.0 - ROUNDING)


def grow_balls(order: Any, weights: Any, targets: Any) -> tuple[Any, Any]:
    """The row at which each ball stops, and the weight inside; a ball whose target is never reached holds all rows.

    ``order`` (balls, rows) has the other rows of each ball by increasing distance.
    """
    ends, reached, found = _grow(order[:, :_FIRST], weights, targets)
    left = (~found).nonzero()[:, 0]
    if order.shape[1] > _FIRST and len(left):
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

    ``rows`` and ``others`` are (sets, pairs); ``left_out`` (sets,): for each set, a place in ``columns`` that does not
    count.
    """
    gaps = columns[:, rows] - columns[:, others]
    gaps.mul_(gaps)
    if left_out is not None:
        gaps[left_out, torch.arange(len(left_out), device=gaps.device)] = 0.0
    return gaps.sum(dim=0)


Floats = NDArray[np.float64]

#: Bytes of a tile per distance, if all distances are sorted: keys, places, the sort's own copies, and sums of weights.
SORTED_BYTES_PER_CELL = 96


def information_terms(
    pairs: PairDistances, subset: NDArray[np.int64], balls: Balls, candidates: NDArray[np.int64], sign: int
) -> tuple[Floats, int]:
    """(candidates, rows): what each row adds to the sum of equation 19, and the number of balls of radius zero.

    Groups in which every weight is 0 or 1 need only the k nearest members; for the others, all rows are sorted by
    distance.
    """
    device = pairs.device
    groups = [_Group(device, balls, place) for place in range(len(balls.totals))]
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
        balls_of = [(group, *group.balls_of(rows)) for group in groups]
        at_once = max(1, int(device.tile_bytes // ((stop - start) * bytes_per_row)))
        parts, n_zero = [], torch.zeros((), dtype=torch.int64, device=device.name)
        for some, some_places in zip(chosen.split(at_once), places.split(at_once), strict=True):
            distances = pairs.changed(current, start, stop, some, sign)
            order = None
            total = torch.zeros((len(some), stop - start), dtype=torch.float64, device=device.name)
            for group, inside, own, targets in balls_of:
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
                if group is groups[-1]:
                    total[:, inside] += spread
                else:
                    total[:, inside] += own * (torch.special.digamma(reached + group.own_counts * own) - spread)
            parts.append(total)
        found: Floats = torch.cat(parts).cpu().numpy()
        return found, int(n_zero)

    done = device.in_tiles(pairs.n_judged, bytes_per_row, work, parts_of("one step of the search"))
    return np.concatenate([part for part, _ in done], axis=1), sum(n_zero for _, n_zero in done)


class _Group:
    """A class, or all rows: the weight of every row in it, and how balls grow over these weights."""

    def __init__(self, device: Device, balls: Balls, place: int) -> None:
        weights, self._total = balls.weights[place], float(balls.totals[place])
        self._weights, self._n_neighbors, self._slack = device.put(weights), balls.n_neighbors, balls.slack
        self.own_counts = float(balls.own_counts[place])
        #: The rows in the group, if all weights are 0 or 1; else None.
        self.members: Any = None
        if ((weights == 0) | (weights == 1)).all():
            self.members = device.put(np.flatnonzero(weights))
            others = ball_target(self._n_neighbors - self.own_counts, self._slack, self._total - 1.0)
            self._k = int(np.ceil(others))

    def balls_of(self, rows: Any) -> tuple[Any, Any, Any]:
        """Places of the rows that are in the group, their weights, and the targets of their balls."""
        own = self._weights[rows]
        inside = (own > NEGLIGIBLE).nonzero()[:, 0]
        own = own[inside]
        wanted = self._n_neighbors - self.own_counts * own
        return inside, own, ball_targets(wanted, self._slack, self._total - own)

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


class SortedRows:
    """For each row, the other rows by distance. They are kept if they fit into the memory of the device.

    ``kept`` is the memory of an earlier object, to be used again.
    """

    def __init__(self, pairs: PairDistances, kept: Any = None) -> None:
        n, device = pairs.n_rows, pairs.device
        self._pairs, self._bytes_per_row, self.kept = pairs, float(SORTED_BYTES_PER_CELL * n), kept
        if kept is None:
            self.kept = device.hold(4.0 * n**2, lambda: torch.empty((n, n - 1), dtype=torch.int32, device=device.name))
        if self.kept is not None:

            def work(start: int, stop: int) -> None:
                self.kept[start:stop] = self._sort(start, stop)

            device.in_tiles(n, self._bytes_per_row, work)

    def _sort(self, start: int, stop: int) -> Any:
        return torch.sort(self._pairs.of(start, stop), dim=1, stable=True)[1][:, :-1]

    def log_densities(
        self,
        subset: NDArray[np.int64],
        memberships: Floats,
        n_neighbors: int,
        log_volume: float,
        own_counts: float = 0.0,
    ) -> tuple[Floats, int]:
        """Equation 15 for (sets, rows, classes), and the number of balls of radius zero."""
        pairs = self._pairs
        weights = pairs.device.put(np.ascontiguousarray(memberships.transpose(0, 2, 1)))
        totals = memberships.sum(axis=1)
        columns = pairs.columns[pairs.device.put(subset)]
        bytes_per_row = self._bytes_per_row + 24.0 * len(subset) * totals.size

        def work(start: int, stop: int) -> tuple[Floats, int]:
            order = self._sort(start, stop) if self.kept is None else self.kept[start:stop]
            rows = torch.arange(start, stop, device=pairs.device.name)
            own = weights.flatten(0, 1)[:, rows]
            wanted = float(n_neighbors) - own_counts * own
            grown = [
                grow_balls(order, of_class, ball_targets(of_others, 0.0, total - of_rows))
                for of_class, of_rows, of_others, total in zip(
                    weights.flatten(0, 1), own, wanted, totals.ravel(), strict=True
                )
            ]
            others, inside = map(torch.stack, zip(*grown, strict=True))
            inside = inside + own_counts * own
            squared = exact_squared(columns, rows.expand(others.shape), others)
            found = torch.special.digamma(inside) - 0.5 * len(subset) * torch.log(4.0 * squared)
            shape = (*memberships.shape[::2], stop - start)  # sets, classes, rows
            return found.view(shape).cpu().numpy(), int((squared <= 0.0).sum())

        parts = pairs.device.in_tiles(pairs.n_rows, bytes_per_row, work)
        digamma_totals = torch.special.digamma(torch.from_numpy(totals)).numpy()
        found = np.concatenate([part for part, _ in parts], axis=2).transpose(0, 2, 1)
        return found - digamma_totals[:, None, :] - log_volume, sum(n_zero for _, n_zero in parts)
