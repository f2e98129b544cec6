"""A batch self-organising map: a small sheet of prototypes that represents many rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import svd

from dubio._kernels.threads import chunks

#: Number of distances held at a time.
_BLOCK_ENTRIES = 2**22


@dataclass(frozen=True)
class SelfOrganizingMap:
    """A fitted map: ``prototypes`` (units x features) on a sheet of ``shape``, and the unit of each row."""

    prototypes: NDArray[np.float64]
    shape: tuple[int, int]
    unit: NDArray[np.int64]


def map_shape(n_rows: int, largest: float, second: float) -> tuple[int, int]:
    """Sides of a hexagonal sheet of about 5 sqrt(n) units, in the ratio of the two largest standard deviations.

    With u = ceil(5 sqrt(n)) and r = sqrt(largest / second), the short side is sqrt(u sqrt(0.75) / r) and the long side
    is u / short, both rounded half up: the rule of the SOM Toolbox. In a hexagonal sheet the rows of units are
    sqrt(0.75) apart. The rule gives seven of the eight maps in Table 1 of the CSFS paper (two of them exchanged there).

    References
    ----------
    Vesanto, Himberg, Alhoniemi, Parhankangas, "SOM Toolbox for Matlab 5", 2000.

    >>> map_shape(111, 2.91, 0.914)
    (11, 5)
    """
    units = int(np.ceil(5 * np.sqrt(n_rows)))
    ratio = np.sqrt(largest / second) if second > 0 else np.inf
    short = min(units, max(1, int(np.sqrt(units * np.sqrt(0.75) / ratio) + 0.5)))
    return max(1, int(units / short + 0.5)), short


def fit_map(X: NDArray[np.float64], *, n_epochs: int = 25) -> SelfOrganizingMap:
    """Fit a batch map to the rows of ``X``.

    The sheet is hexagonal: every second row of units is shifted by half a unit. It starts as a grid on the plane of
    the two largest principal components, two standard deviations to each side, so nothing is random. In each epoch,
    every row is assigned to its nearest prototype. Then every prototype becomes a weighted mean of all rows: the weight
    is a Gaussian of the distance on the sheet between the prototype and the row's unit. The width of the Gaussian falls
    linearly from a quarter of the longer side to 1. Units without any row are kept: the sheet is smooth there too.

    References
    ----------
    Kohonen, "Self-organizing maps", 1997.

    Examples
    --------
    >>> fit_map(np.arange(20.0).reshape(10, 2)).shape
    (16, 1)
    """
    mean = X.mean(axis=0)
    centred = X - mean
    _, singular, axes = svd(centred, full_matrices=False, lapack_driver="gesdd")
    deviation = np.zeros(2)
    deviation[: min(2, len(singular))] = singular[:2] / np.sqrt(max(1, len(X) - 1))
    deviation[deviation <= 1e-12 * deviation[0]] = 0.0
    shape = map_shape(len(X), *(deviation**2)) if deviation[0] > 0 else (1, 1)
    sheet = np.stack(np.meshgrid(*(np.arange(side) for side in shape), indexing="ij"), axis=-1).reshape(-1, 2)
    place = np.zeros((len(sheet), 2))
    for axis, side in enumerate(shape):
        if side > 1:
            place[:, axis] = 2 * deviation[axis] * (2 * sheet[:, axis] / (side - 1) - 1)
    axes = np.array([axis * _sign(axis, centred) for axis in axes[:2]])
    prototypes = place[:, : len(axes)] @ axes
    place_on_sheet = np.column_stack([np.sqrt(0.75) * sheet[:, 0], sheet[:, 1] + 0.5 * (sheet[:, 0] % 2)])
    apart = ((place_on_sheet[:, None, :] - place_on_sheet[None, :, :]) ** 2).sum(axis=-1)
    for width in np.linspace(max(1.0, max(shape) / 4), 1.0, n_epochs):
        unit = _nearest_unit(centred, prototypes)
        nearness = np.exp(-apart / (2 * width**2))
        belongs = sparse.csr_array((np.ones(len(X)), (unit, np.arange(len(X)))), shape=(len(sheet), len(X)))
        weight = nearness @ belongs.sum(axis=1)
        reached = weight > 0
        prototypes[reached] = (nearness @ (belongs @ centred))[reached] / weight[reached, None]
    return SelfOrganizingMap(mean + prototypes, shape, _nearest_unit(centred, prototypes))


def _sign(axis: NDArray[np.float64], centred: NDArray[np.float64]) -> float:
    """The sign of a principal axis is arbitrary: its largest entry is made positive.

    Of two features on one scale, both entries are equally large, and rounding would choose. Then the longer tail of the
    rows along the axis points upwards.
    """
    size = np.abs(axis)
    largest = int(size.argmax())
    if np.count_nonzero(size > (1.0 - 1e-9) * size[largest]) > 1:
        return 1.0 if float(((centred @ axis) ** 3).sum()) >= 0 else -1.0
    return float(np.sign(axis[largest]))


def _nearest_unit(X: NDArray[np.float64], prototypes: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest prototype of each row, by one matrix product per block and without starting threads."""
    squares = np.einsum("ij,ij->i", prototypes, prototypes)
    unit = np.empty(len(X), dtype=np.int64)
    for start, stop in chunks(len(X), max(1, _BLOCK_ENTRIES // len(prototypes))):
        unit[start:stop] = (squares - 2 * (X[start:stop] @ prototypes.T)).argmin(axis=1)
    return unit
