"""The k-NN densities of the noise model for several sets of memberships at once, on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio._gpu.balls import ball_targets, exact_squared, grow_balls
from dubio._gpu.information import SORTED_BYTES_PER_CELL
from dubio._gpu.pair_distances import PairDistances
from dubio._gpu.torch_door import torch

Floats = NDArray[np.float64]


class SortedRows:
    """For each row, the other rows by distance. They are kept if they fit into the memory of the device.

    Parameters
    ----------
    pairs : PairDistances
        Distances of all rows in the current subset.
    kept : tensor, optional
        Memory of an earlier object, to be used again.
    """

    def __init__(self, pairs: PairDistances, kept: Any = None) -> None:
        self._pairs = pairs
        n = pairs.n_rows
        self.kept = kept
        if kept is None:
            self.kept = pairs.device.hold(
                4.0 * n**2, lambda: torch.empty((n, n - 1), dtype=torch.int32, device=pairs.device.name)
            )
        if self.kept is not None:
            place = self.kept

            def work(start: int, stop: int) -> None:
                place[start:stop] = self._sort(start, stop)

            pairs.device.in_tiles(n, self._bytes_per_row, work)

    @property
    def _bytes_per_row(self) -> float:
        return float(SORTED_BYTES_PER_CELL * self._pairs.n_rows)

    def _sort(self, start: int, stop: int) -> Any:
        return torch.sort(self._pairs.of(start, stop), dim=1, stable=True)[1][:, :-1]

    def log_densities(
        self, subset: NDArray[np.int64], memberships: Floats, n_neighbors: int, log_volume: float
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
            ends, reached = [], []
            for of_set, of_set_totals in zip(weights, totals, strict=True):
                for of_class, total in zip(of_set, of_set_totals, strict=True):
                    targets = ball_targets(n_neighbors, 0.0, total - of_class[rows])
                    end, weight = grow_balls(order, of_class, targets)
                    ends.append(end)
                    reached.append(weight)
            others, inside = torch.stack(ends), torch.stack(reached)
            squared = exact_squared(columns, rows.expand(others.shape), others)
            found = torch.special.digamma(inside) - 0.5 * len(subset) * torch.log(4.0 * squared)
            shape = (*memberships.shape[::2], stop - start)  # sets, classes, rows
            return found.view(shape).cpu().numpy(), int((squared <= 0.0).sum())

        parts = pairs.device.in_tiles(pairs.n_rows, bytes_per_row, work)
        digamma_totals = torch.special.digamma(torch.from_numpy(totals)).numpy()
        found = np.concatenate([part for part, _ in parts], axis=2).transpose(0, 2, 1)
        return found - digamma_totals[:, None, :] - log_volume, sum(n_zero for _, n_zero in parts)
