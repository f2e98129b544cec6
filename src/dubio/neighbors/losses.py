"""Leave-one-out nearest-neighbour losses of a subset of features, for one target and for several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.errors import InputError, counted
from dubio.kernels.gpu import Device
from dubio.kernels.neighbor_loss import cross_entropy_sums, fill_nearest, joint_sums, squared_error_sums
from dubio.kernels.neighbor_loss_gpu import CrossEntropyTerms, SquaredErrorTerms, Terms, row_losses
from dubio.kernels.threads import run_chunks
from dubio.neighbors.distances import Change, DeviceDistances, SubsetDistances
from dubio.progress import parts_of

Floats = NDArray[np.float64]

# How many nearest rows in the current subset are kept per neighbour wanted: enough that most neighbours in a changed
# subset are among them, and few enough to go through for every candidate.
KNOWN_PER_NEIGHBOR = 2


#: Stands for "every row counts alike" in the kernels.
_NO_WEIGHTS = np.empty(0)


class _NeighborLoss(ABC):
    """What the two criteria share: the distances in the current subset, and the nearest rows."""

    larger_is_better = False

    def __init__(self, distances: SubsetDistances | DeviceDistances, n_neighbors: int) -> None:
        self.distances = distances
        n = distances.n_rows
        if n < 2:
            raise InputError(
                "X", f"has {counted(n, 'labelled row')}", "a row is predicted by others, so at least 2 are needed"
            )
        if n_neighbors < 1:
            raise InputError("n_neighbors", f"={n_neighbors}", "give at least 1")
        others = distances.n_others
        if others < 1:
            raise InputError(
                "groups",
                "puts all labelled rows into one group",
                "a row is predicted by rows of other groups, so at least two are needed",
            )
        self.n_neighbors = min(n_neighbors, others)
        self._terms: Terms | None = None  # of the rows, on a device
        if isinstance(distances, DeviceDistances):
            return
        n_known = min(KNOWN_PER_NEIGHBOR * self.n_neighbors, others)
        self._known = np.zeros((distances.n_judged, n_known), dtype=np.int32)
        self._is_known = False

    @abstractmethod
    def _sums(self, change: Change, sign: float, start: int, stop: int) -> Floats:
        """The loss of some rows for the current subset changed by each candidate."""

    @abstractmethod
    def _terms_on(self, device: Device) -> Terms:
        """What each row adds to the loss, on a device."""

    @property
    @abstractmethod
    def value_of_nothing(self) -> float:
        """The loss without any feature, when every row gets the same prediction."""

    def start(self, features: NDArray[np.int64]) -> float:
        """Start at a subset and return its value, or 0.0 for the empty subset."""
        self.distances.start(features)
        self._is_known = False
        if len(features) == 0:
            return 0.0
        self._find_nearest()
        return float(self.evaluate(np.asarray(features[:1], dtype=np.int64), 0)[0])

    def evaluate(self, candidates: NDArray[np.int64], change: int) -> Floats:
        """Loss of the current subset with or without each candidate."""
        if isinstance(self.distances, DeviceDistances):
            return self._row_losses(self.distances, candidates, change).sum(axis=1)
        values = np.empty(len(candidates))
        for step in self.distances.changes(candidates, change):

            def work(start: int, stop: int, step: Change = step) -> Floats:
                return self._sums(step, float(change), start, stop)

            parts = run_chunks(
                work, self.distances.row_chunks, self.distances.n_threads, parts_of("one step of the search")
            )
            values[step.places] = np.sum(parts, axis=0)
        return values

    def row_values(self, features: NDArray[np.int64]) -> Floats:
        """How much each row adds to the loss of a subset; this subset becomes the current one."""
        self.start(features)
        one = np.asarray(features[:1], dtype=np.int64)
        if isinstance(self.distances, DeviceDistances):
            return self._row_losses(self.distances, one, 0)[0]
        step = next(self.distances.changes(one, 0))
        return np.array([self._sums(step, 0.0, i, i + 1)[0] for i in range(self.distances.n_judged)])

    def _row_losses(self, at: DeviceDistances, candidates: NDArray[np.int64], change: int) -> Floats:
        """(candidates, rows): what each row adds, computed on the device. Sums are added here, always in one order."""
        if self._terms is None:
            self._terms = self._terms_on(at.pairs.device)
        return row_losses(at.pairs, self._terms, candidates, change, self.n_neighbors)

    def unit_values(self, features: NDArray[np.int64]) -> Floats:
        """How much each independent unit adds to the loss of a subset: each row, or each group of rows."""
        values, groups = self.row_values(features), self.distances.groups
        if groups is None:
            return values
        return np.asarray(np.bincount(np.unique(groups[: len(values)], return_inverse=True)[1], values))

    def apply(self, feature: int, change: int) -> None:
        """Make this change; the old neighbours limit the search for the new ones."""
        self.distances.apply(feature, change)
        self._find_nearest()

    def _find_nearest(self) -> None:
        at = self.distances
        if isinstance(at, DeviceDistances):
            return

        def work(start: int, stop: int) -> None:
            fill_nearest(at.squared[start:stop], self._known, self._is_known, start)

        run_chunks(work, at.row_chunks, at.n_threads)
        self._is_known = True


class NeighborCrossEntropy(_NeighborLoss):
    r"""Leave-one-out cross-entropy of the memberships, predicted by the nearest rows; small is good.

    Row :math:`i` is predicted by its :math:`k` nearest other rows :math:`N_i` and by the class priors :math:`\pi`,
    which count as one more row:

    .. math::

        \hat p_{is} = \frac{\pi_s + \sum_{j \in N_i} m_{js}}{k + 1}, \qquad
        L = -\sum_s c_s \sum_i m_{is} \log \hat p_{is} ,

    with :math:`c_s = 1 / (K \sum_i m_{is})` if every class has the same weight, large or small (``balanced``), and
    :math:`c_s = 1/n` if every row has the same weight. Classes without any membership are left out. If only some rows
    are judged, the sums over :math:`i` are over these, and neighbours and priors are those of all rows.

    Parameters
    ----------
    distances : SubsetDistances or DeviceDistances
        Shared distances; the criterion updates them, and works where they are.
    memberships : array (n_rows, n_classes)
        Rows sum to 1.
    n_neighbors : int, default=15
        Reduced to the number of other rows if that is smaller.
    balanced : bool, default=True
        Whether every class has the same weight, instead of every row.
    weights : array (n_rows,), optional
        Weights :math:`w_i > 0` of the rows, with a mean of 1: the vote of row j and the loss of row i are multiplied by
        theirs, and :math:`k` in the denominator becomes :math:`\sum_{j \in N_i} w_j`.
    """

    def __init__(
        self,
        distances: SubsetDistances | DeviceDistances,
        memberships: ArrayLike,
        *,
        n_neighbors: int = 15,
        balanced: bool = True,
        weights: Floats | None = None,
    ) -> None:
        super().__init__(distances, n_neighbors)
        self._votes = _NO_WEIGHTS if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        by_class = np.ascontiguousarray(np.asarray(memberships, dtype=np.float64).T)
        if weights is not None:
            by_class = by_class * self._votes
        totals = by_class.sum(axis=1)
        present = totals > 0
        self._memberships = np.ascontiguousarray(by_class[present])
        totals = totals[present]
        judged = self._memberships[:, : distances.n_judged]
        sizes = judged.sum(axis=1)
        if balanced:
            self._row_weights = judged / np.where(sizes > 0, sizes, 1.0)[:, None] / np.count_nonzero(sizes)
        else:
            self._row_weights = judged / sizes.sum()
        self._priors = totals / totals.sum()

    @property
    def value_of_nothing(self) -> float:
        """The cross-entropy of the priors."""
        return float(-(self._row_weights.sum(axis=1) @ np.log(self._priors)))

    def _terms_on(self, device: Device) -> Terms:
        return CrossEntropyTerms(device, self._memberships, self._row_weights, self._votes, self._priors)

    def _sums(self, change: Change, sign: float, start: int, stop: int) -> Floats:
        return cross_entropy_sums(
            self.distances.columns,
            change.squared,
            change.columns,
            sign,
            self._memberships,
            self._row_weights,
            self._votes,
            self._priors,
            self._known,
            self._is_known,
            self.n_neighbors,
            max(1, len(change.subset) + int(sign)),
            start,
            stop,
        )


class NeighborSquaredError(_NeighborLoss):
    r"""Mean squared error of the leave-one-out k-NN prediction of a numeric target; small is good.

    .. math:: L = \frac{1}{n} \sum_i \Bigl( y_i - \frac{1}{k} \sum_{j \in N_i} y_j \Bigr)^2

    with the sum over the judged rows.

    Parameters
    ----------
    distances : SubsetDistances or DeviceDistances
        Shared distances; the criterion updates them, and works where they are.
    values : array (n_rows,)
        The target.
    n_neighbors : int, default=15
        Reduced to the number of other rows if that is smaller.
    weights : array (n_rows,), optional
        Weights of the rows, with a mean of 1: means and the sum are weighted.
    """

    def __init__(
        self,
        distances: SubsetDistances | DeviceDistances,
        values: ArrayLike,
        *,
        n_neighbors: int = 15,
        weights: Floats | None = None,
    ) -> None:
        super().__init__(distances, n_neighbors)
        self._values = np.ascontiguousarray(values, dtype=np.float64)
        self._votes = _NO_WEIGHTS if weights is None else np.ascontiguousarray(weights, dtype=np.float64)

    @property
    def value_of_nothing(self) -> float:
        """The error when a row is predicted by the mean of all other rows."""
        n = len(self._values)
        judged = self._values[: self.distances.n_judged]
        if len(self._votes):
            w, whole = self._votes[: len(judged)], self._votes.sum()
            alone = (judged - np.average(self._values, weights=self._votes)) * whole / (whole - w)
            return float(np.average(alone**2, weights=w))
        return float(np.mean((judged - self._values.mean()) ** 2) * (n / (n - 1)) ** 2)

    def _terms_on(self, device: Device) -> Terms:
        return SquaredErrorTerms(device, self._values, self._votes, self.distances.n_judged)

    def _sums(self, change: Change, sign: float, start: int, stop: int) -> Floats:
        sums = squared_error_sums(
            self.distances.columns,
            change.squared,
            change.columns,
            sign,
            self._values,
            self._votes,
            self._known,
            self._is_known,
            self.n_neighbors,
            max(1, len(change.subset) + int(sign)),
            start,
            stop,
        )
        judged = self.distances.n_judged
        return sums / (self._votes[:judged].sum() if len(self._votes) else judged)


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
