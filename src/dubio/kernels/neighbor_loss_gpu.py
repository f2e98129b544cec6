"""How badly the nearest rows predict each judged row, after each change of a subset: the k-NN losses on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.kernels.distances_gpu import NEAR, PairDistances, smallest
from dubio.kernels.gpu import Device, torch
from dubio.kernels.neighbor_loss import Targets
from dubio.progress import parts_of

Floats = NDArray[np.float64]


class Terms:
    """What each row adds to the loss, given its neighbours; see :class:`~dubio.kernels.neighbor_loss.Targets`.

    The term of a target is divided by its unit, then the terms of all targets are added.
    """

    def __init__(self, device: Device, targets: Targets, units: Floats) -> None:
        self._values, self._memberships = device.put(targets.values), device.put(targets.memberships)
        self._row_weights, self._priors = device.put(targets.row_weights), targets.priors.tolist()
        self._votes = device.put(targets.votes) if len(targets.votes) else None
        units_of = units[targets.target_of].tolist()
        self._value_units, self._class_units = units_of[: len(targets.values)], units_of[len(targets.values) :]

    def of(self, nearest: Any, rows: Any) -> Any:
        """(..., k) neighbours of (...) rows -> (...) terms."""
        votes: Any = 1.0 if self._votes is None else self._votes[nearest]
        heard = nearest.shape[-1] if self._votes is None else votes.sum(dim=-1)
        total = torch.zeros(nearest.shape[:-1], dtype=torch.float64, device=nearest.device)
        for values, unit in zip(self._values, self._value_units, strict=True):
            errors = (values[rows] - (votes * values[nearest]).sum(dim=-1) / heard) ** 2
            total += (errors if self._votes is None else self._votes[rows] * errors) / unit
        for of_class, weights, prior, unit in zip(
            self._memberships, self._row_weights, self._priors, self._class_units, strict=True
        ):
            mass = of_class[nearest].sum(dim=-1) + prior
            total -= weights[rows] * torch.log(mass / (heard + 1.0)) / unit
        return total


def row_losses(pairs: PairDistances, terms: Terms, candidates: NDArray[np.int64], sign: int, k: int) -> Floats:
    """(candidates, judged rows): what each row adds to the loss of the subset changed by each candidate."""
    chosen = pairs.device.put(candidates)
    near = pairs.near() if sign > 0 else None
    if near is not None and k < near[0].shape[1]:
        return _from_near_rows(pairs, terms, chosen, sign, k, near)

    def work(start: int, stop: int) -> Floats:
        current = pairs.of(start, stop)
        rows = torch.arange(start, stop, device=pairs.device.name)
        at_once = max(1, int(pairs.device.tile_bytes // ((stop - start) * pairs.bytes_per_row)))
        parts = [
            terms.of(smallest(pairs.changed(current, start, stop, some, sign), k)[0], rows)
            for some in chosen.split(at_once)
        ]
        found: Floats = torch.cat(parts).cpu().numpy()
        return found

    said = parts_of("one step of the search")
    return np.concatenate(pairs.device.in_tiles(pairs.n_judged, pairs.bytes_per_row, work, said), axis=1)


def _from_near_rows(
    pairs: PairDistances, terms: Terms, candidates: Any, sign: int, k: int, near: tuple[Any, Any, Any]
) -> Floats:
    """The same when a feature is added to a subset: its neighbours are sought among the near rows of the subset.

    An added feature makes no distance smaller. So if the k-th smallest distance among the near rows is below the
    distance of the farthest of them, no other row can be a neighbour. The few rows for which it is not are compared
    with all rows.
    """
    near_rows, near_distances, farthest = near
    every = torch.arange(pairs.n_judged, device=pairs.device.name)

    def work(start: int, stop: int) -> tuple[Any, Any]:
        columns = pairs.columns[candidates[start:stop]]
        gaps = columns[:, near_rows]
        gaps.sub_(columns[:, : pairs.n_judged, None])
        gaps.mul_(gaps)
        gaps.add_(near_distances)
        places, last = smallest(gaps, k)
        nearest = near_rows.expand(len(columns), -1, -1).gather(2, places)
        return terms.of(nearest, every), last < farthest

    bytes_per_candidate = 56.0 * pairs.n_judged * NEAR
    parts = pairs.device.in_tiles(len(candidates), bytes_per_candidate, work)
    losses = torch.cat([part for part, _ in parts])
    candidate, row = (~torch.cat([sure for _, sure in parts])).nonzero(as_tuple=True)

    def again(start: int, stop: int) -> Any:
        rows = row[start:stop]
        distances = pairs.changed_pairs(candidates[candidate[start:stop]], rows, sign)
        return terms.of(smallest(distances, k)[0], rows)

    if len(row):
        losses[candidate, row] = torch.cat(pairs.device.in_tiles(len(row), 2 * pairs.bytes_per_row, again))
    found: Floats = losses.cpu().numpy()
    return found
