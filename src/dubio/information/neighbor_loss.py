"""Criteria that measure how well the nearest other rows predict a row: cross-entropy and squared error."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio._gpu.devices import Device
from dubio._gpu.neighbor_loss import CrossEntropyTerms, SquaredErrorTerms, Terms, row_losses
from dubio._kernels.neighbor_loss import cross_entropy_sums, fill_nearest, squared_error_sums
from dubio._kernels.threads import run_chunks
from dubio.errors import InputError, counted
from dubio.progress import parts_of
from dubio.search.distances import Change, DeviceDistances, SubsetDistances

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
