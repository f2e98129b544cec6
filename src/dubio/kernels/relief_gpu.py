"""Relief scores on a device: nearest rows by L1 distance, then differences to hits and to misses. No n x n array.

Distances are added feature by feature, as on the CPU, so that they are the same to the last bit, and so are ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.kernels.distances_gpu import smallest
from dubio.kernels.gpu import Device, torch
from dubio.progress import parts_of

#: Bytes of a tile per distance: itself, the gaps of one feature, and what the search for the smallest takes.
_BYTES_PER_CELL = 48


def nearest_rows(device: Device, table: NDArray[np.float64], n_nearest: int) -> NDArray[np.int64]:
    """(rows, n_nearest): the nearest other rows of every row (L1), in any order; ties go to the lowest index."""
    columns = device.put(np.ascontiguousarray(table.T))

    def work(start: int, stop: int) -> NDArray[np.int64]:
        found: NDArray[np.int64] = smallest(_distances(columns, start, stop), n_nearest)[0].cpu().numpy()
        return found

    n = len(table)
    return np.concatenate(device.in_tiles(n, float(_BYTES_PER_CELL * n), work, parts_of("neighbours")))


def relieff_sums(
    device: Device, table: NDArray[np.float64], codes: NDArray[np.int64], priors: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    """(features,): ReliefF's differences, summed over rows: k nearest rows per class, weighted by priors."""
    rows, classes, shares = device.put(table), device.put(codes), device.put(priors)
    columns = rows.T.contiguous()
    members = {c: device.put(np.flatnonzero(codes == c)) for c in np.unique(codes).tolist()}

    def work(start: int, stop: int) -> Any:
        distances = _distances(columns, start, stop)
        own_class = classes[start:stop]
        own = rows[start:stop, None, :]
        sums = torch.zeros(table.shape[1], dtype=torch.float64, device=device.name)
        for c, in_class in members.items():
            wanted = min(k, len(in_class))
            of_class = distances[:, in_class]
            places, _ = smallest(of_class, wanted)
            usable = of_class.gather(1, places) < torch.inf  # a row is not its own neighbour
            others = in_class[places]
            n_used = usable.sum(dim=1).clamp(min=1)
            gain = torch.where(own_class == c, -1.0, shares[c] / (1.0 - shares[own_class])) / n_used
            gains = torch.where(usable, gain[:, None], 0.0)
            for place in range(wanted):
                sums += gains[:, place] @ (own[:, 0] - rows[others[:, place]]).abs_()
        return sums.cpu().numpy()

    n, d = table.shape
    return np.sum(device.in_tiles(n, float(_BYTES_PER_CELL * n + 32 * d), work, parts_of("rows")), axis=0)


def _distances(columns: Any, start: int, stop: int) -> Any:
    """L1 distances from some rows to all rows; ``inf`` to themselves."""
    n = columns.shape[1]
    total = torch.zeros((stop - start, n), dtype=torch.float64, device=columns.device)
    gaps = torch.empty_like(total)
    for column in columns:
        torch.sub(column[start:stop, None], column[None, :], out=gaps)
        total.add_(gaps.abs_())
    places = torch.arange(stop - start, device=columns.device)
    total[places, places + start] = torch.inf
    return total
