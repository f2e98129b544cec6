"""How well the nearest other rows predict several targets of a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dubio._gpu.devices import Device
from dubio._gpu.neighbor_loss import Terms
from dubio._kernels.neighbor_loss import joint_sums
from dubio._kernels.threads import run_chunks
from dubio.information.neighbor_loss import NeighborCrossEntropy, NeighborSquaredError, _NeighborLoss
from dubio.search.distances import Change, SubsetDistances

Floats = NDArray[np.float64]


class NeighborJointLoss(_NeighborLoss):
    r"""The mean over several targets of how much of each its nearest rows leave unexplained; small is good.

    .. math:: L = \frac{1}{q} \sum_t \frac{L_t}{L_t^0},

    with the loss :math:`L_t` of target t (:class:`NeighborSquaredError` of numbers, :class:`NeighborCrossEntropy` of
    classes) and its loss :math:`L_t^0` without any feature. So the unit of a number and the number of classes do not
    decide how much a target counts. All targets are predicted by the same neighbours.

    Parameters
    ----------
    distances : SubsetDistances
        Shared distances; the criterion updates them.
    targets : sequence of array (n_rows,) or array (n_rows, n_classes)
        Numbers, or memberships whose rows sum to 1.
    n_neighbors : int, default=15
        Reduced to the number of other rows if that is smaller.
    balanced : bool, default=False
        Whether every class has the same weight, instead of every row.
    weights : array (n_rows,), optional
        Weights of the rows, with a mean of 1.
    """

    distances: SubsetDistances

    def __init__(
        self,
        distances: SubsetDistances,
        targets: Sequence[Floats],
        *,
        n_neighbors: int = 15,
        balanced: bool = False,
        weights: Floats | None = None,
    ) -> None:
        super().__init__(distances, n_neighbors)
        numbers: list[Floats] = []
        classes: list[NeighborCrossEntropy] = []
        of_numbers, of_classes, nothing, units = [], [], [], []
        judged = distances.n_judged
        for place, target in enumerate(targets):
            part: NeighborSquaredError | NeighborCrossEntropy
            if target.ndim == 1:
                part = NeighborSquaredError(distances, target, n_neighbors=n_neighbors, weights=weights)
                numbers.append(part._values)
                of_numbers.append(place)
                units.append(1.0 / (judged if weights is None else part._votes[:judged].sum()))
            else:
                part = NeighborCrossEntropy(
                    distances, target, n_neighbors=n_neighbors, balanced=balanced, weights=weights
                )
                classes.append(part)
                of_classes += [place] * len(part._priors)
                units.append(1.0)
            self._votes = part._votes
            nothing.append(part.value_of_nothing)
        n = distances.n_rows
        self._values = np.array(numbers).reshape(len(numbers), n)
        self._memberships = np.concatenate([np.empty((0, n)), *(part._memberships for part in classes)])
        self._row_weights = np.concatenate([np.empty((0, judged)), *(part._row_weights for part in classes)])
        self._priors = np.concatenate([np.empty(0), *(part._priors for part in classes)])
        self._target_of = np.asarray([*of_numbers, *of_classes], dtype=np.int64)
        #: What a sum is multiplied by to get the share of each target that is left, divided by their number.
        self._scale = np.asarray(units) / np.where(np.asarray(nothing) > 0, nothing, 1.0) / len(targets)

    @property
    def value_of_nothing(self) -> float:
        """The loss without any feature: 1."""
        return 1.0

    def evaluate_each(self, candidates: NDArray[np.int64], change: int) -> Floats:
        """(candidates, targets): the share of the loss that each target has."""
        values = np.empty((len(candidates), len(self._scale)))
        for step in self.distances.changes(candidates, change):

            def work(start: int, stop: int, step: Change = step) -> Floats:
                return self._sums_of_each(step, float(change), start, stop)

            values[step.places] = np.sum(run_chunks(work, self.distances.row_chunks, self.distances.n_threads), axis=0)
        return values

    def _terms_on(self, device: Device) -> Terms:
        raise NotImplementedError("several targets are searched on the processor only")

    def _sums(self, change: Change, sign: float, start: int, stop: int) -> Floats:
        return np.asarray(self._sums_of_each(change, sign, start, stop).sum(axis=1))

    def _sums_of_each(self, change: Change, sign: float, start: int, stop: int) -> Floats:
        sums = joint_sums(
            self.distances.columns,
            change.squared,
            change.columns,
            sign,
            self._values,
            self._memberships,
            self._row_weights,
            self._priors,
            self._target_of,
            self._votes,
            self._known,
            self._is_known,
            self.n_neighbors,
            max(1, len(change.subset) + int(sign)),
            start,
            stop,
        )
        return np.asarray(sums * self._scale)
