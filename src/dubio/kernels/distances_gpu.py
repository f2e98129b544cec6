"""Distances between rows on a GPU, in tiles that fit its memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.kernels.gpu import Device, torch

#: Bytes of a tile per distance: itself, squared gaps, and what the search for the smallest takes.
BYTES_PER_CELL = 56
#: How many of the nearest rows in the current subset are kept, and the fewest rows for which that pays.
NEAR, MANY_ROWS = 4096, 16_384


class PairDistances:
    """Squared distances of the judged rows, which come first in the table, to all rows.

    They are held from step to step if they fit into the memory of the device. Otherwise each tile is computed again.
    Rows of one of the ``groups`` are infinitely far from each other; without groups, each row from itself.
    """

    def __init__(
        self, device: Device, columns: NDArray[np.float64], n_judged: int, groups: NDArray[np.int64] | None = None
    ) -> None:
        n = columns.shape[1]
        self.device, self.n_judged, self.n_rows, self.bytes_per_row = device, n_judged, n, float(BYTES_PER_CELL * n)
        self._groups = device.put(np.arange(n) if groups is None else groups)
        self.columns = device.put(columns)
        self._changes: list[tuple[int, int]] = []
        self._n_at_start = 0
        self._near: tuple[Any, Any, Any] | None = None
        kind = {"dtype": torch.float64, "device": device.name}
        self._held = device.hold(8.0 * n_judged * n, lambda: torch.zeros((n_judged, n), **kind))

    def start(self, features: NDArray[np.int64]) -> None:
        """Make ``features`` the subset."""
        self._changes = [(int(feature), 1) for feature in features]
        self._n_at_start = len(self._changes)
        self._near = None
        self._hold(lambda rows, held: self._compute(rows))

    def change(self, feature: int, sign: int) -> None:
        """Add (1) or remove (-1) a feature."""
        self._changes.append((feature, sign))
        self._near = None
        self._hold(lambda rows, held: _added(held, self._gaps(feature, rows), sign).clamp_(min=0.0))

    def _hold(self, distances: Callable[[Any, Any], Any]) -> None:
        """If distances are held, replace those of each tile by ``distances(rows, held)``."""
        held = self._held
        if held is not None:

            def work(start: int, stop: int) -> None:
                rows = torch.arange(start, stop, device=self.device.name)
                held[start:stop] = distances(rows, held[start:stop])

            self.device.in_tiles(self.n_judged, self.bytes_per_row, work)

    def of(self, start: int, stop: int) -> Any:
        """(rows, n_rows): the distances of some judged rows; infinite to their own group. Not to be written to."""
        if self._held is not None:
            return self._held[start:stop]
        return self._compute(torch.arange(start, stop, device=self.device.name))

    def changed(self, current: Any, start: int, stop: int, candidates: Any, sign: int) -> Any:
        """(candidates, rows, n_rows): the distances after each candidate is added or removed (``sign`` 0: neither)."""
        if sign == 0:
            return current[None]
        columns = self.columns[candidates]
        gaps = _squared_gaps(columns[:, start:stop, None], columns[:, None, :])
        return _added(current, gaps, sign, out=gaps)

    def changed_pairs(self, candidates: Any, rows: Any, sign: int) -> Any:
        """(pairs, n_rows): the distances of one judged row after the change of one candidate, per pair."""
        columns = self.columns[candidates]
        gaps = _squared_gaps(columns.gather(1, rows[:, None]), columns)
        current = self._held[rows] if self._held is not None else self._compute(rows)
        return _added(current, gaps, sign, out=gaps)

    def near(self) -> tuple[Any, Any, Any] | None:
        """The nearest rows in the current subset (in increasing order), their distances, and the largest of these.

        None if the table is small, or nothing is held. All other rows are at least as far as the largest distance,
        before and after a feature is added.
        """
        if self._held is None or not self._changes or self.n_rows < max(MANY_ROWS, NEAR + 1):
            return None
        if self._near is None:
            if 24.0 * self.n_judged * NEAR > self.device.held_bytes:
                return None

            def work(start: int, stop: int) -> tuple[Any, Any, Any]:
                found, rows = torch.topk(self.of(start, stop), NEAR, largest=False, sorted=False)
                rows, order = rows.sort(dim=1)
                return rows, found.gather(1, order), found.amax(dim=1)

            parts = self.device.in_tiles(self.n_judged, self.bytes_per_row, work)
            rows, found, farthest = map(torch.cat, zip(*parts, strict=True))
            self._near = rows, found, farthest
        return self._near

    def _gaps(self, feature: int, rows: Any) -> Any:
        column = self.columns[feature]
        return _squared_gaps(column[rows][:, None], column[None, :])

    def _compute(self, rows: Any) -> Any:
        total = torch.zeros((len(rows), self.n_rows), dtype=torch.float64, device=self.device.name)
        for place, (feature, sign) in enumerate(self._changes):
            _added(total, self._gaps(feature, rows), sign, out=total)
            if place >= self._n_at_start:
                total.clamp_(min=0.0)  # rounding must not make a squared distance negative
        return total.masked_fill_(self._groups[rows][:, None] == self._groups, torch.inf)


def _squared_gaps(own: Any, others: Any) -> Any:
    """``(own - others)**2`` for shapes that fit together, in one pass and rounded like a product of its own."""
    shape = torch.broadcast_shapes(own.shape, others.shape)
    return torch.nn.functional.mse_loss(own.expand(shape), others.expand(shape), reduction="none")


def _added(total: Any, gaps: Any, sign: int, out: Any = None) -> Any:
    return torch.add(total, gaps, out=out) if sign > 0 else torch.sub(total, gaps, out=out)


def smallest(values: Any, k: int) -> tuple[Any, Any]:
    """Places of the ``k`` smallest numbers of each row, in any order, and the largest of these numbers.

    ``topk`` takes any of several equal numbers. So one more than k is asked for, and only rows in which the last two
    are equal are looked at again.
    """
    n = values.shape[-1]
    found, places = torch.topk(values, min(k + 1, n), largest=False, sorted=True)
    last, places = found[..., k - 1], places[..., :k]
    if k == n:
        return places, last
    tied = found[..., k] == last
    if bool(tied.any()):  # of equal numbers the first are taken
        some, bar = values[tied], last[tied][:, None]
        below, equal = some < bar, some == bar
        wanted = k - below.sum(dim=1, keepdim=True, dtype=torch.int32)
        chosen = below | (equal & (equal.cumsum(dim=1, dtype=torch.int32) <= wanted))
        places = places.clone()
        places[tied] = chosen.nonzero()[:, 1].view(-1, k)
    return places, last
