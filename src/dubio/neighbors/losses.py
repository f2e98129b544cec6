"""Leave-one-out nearest-neighbour losses of a subset of features, for one target and for several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.errors import InputError, counted
from dubio.kernels.neighbor_loss import Targets, fill_nearest, loss_sums
from dubio.kernels.neighbor_loss_gpu import Terms, row_losses
from dubio.kernels.threads import run_chunks
from dubio.neighbors.distances import Change, DeviceDistances, SubsetDistances
from dubio.progress import parts_of

Floats = NDArray[np.float64]

# How many nearest rows in the current subset are kept per neighbour wanted: enough that most neighbours in a changed
# subset are among them, and few enough to go through for every candidate.
KNOWN_PER_NEIGHBOR = 2
# How many rows are used per neighbour wanted for a first bound on distances, when no near rows are known yet.
SAMPLED_PER_NEIGHBOR = 4


class _NeighborLoss(ABC):
    """The loss of a subset, summed over targets: each target is predicted by the same nearest rows.

    ``targets`` says what is predicted. The loss of target t is its sum over rows, divided by ``units[t]``.
    """

    larger_is_better = False

    def __init__(
        self,
        distances: SubsetDistances | DeviceDistances,
        n_neighbors: int,
        targets: Targets,
        units: Floats,
    ) -> None:
        n = distances.n_rows
        if n < 2:
            raise InputError(
                "X", f"has {counted(n, 'labelled row')}", "a row is predicted by others, so at least 2 are needed"
            )
        if n_neighbors < 1:
            raise InputError("n_neighbors", f"={n_neighbors}", "give at least 1")
        if distances.n_others < 1:
            raise InputError(
                "groups",
                "puts all labelled rows into one group",
                "a row is predicted by rows of other groups, so at least two are needed",
            )
        self.distances, self.n_neighbors = distances, min(n_neighbors, distances.n_others)
        self._targets, self._units = targets, units
        self._near = self._any_rows()
        self._terms: Terms | None = None  # on a device, from the first time that they are needed

    @property
    @abstractmethod
    def value_of_nothing(self) -> float:
        """The loss without any feature, when every row gets the same prediction."""

    def start(self, features: NDArray[np.int64]) -> float:
        """Start at a subset and return its value, or 0.0 for the empty subset."""
        self.distances.start(features)
        self._near = self._any_rows()
        if len(features) == 0:
            return 0.0
        self._find_nearest()
        return float(self.evaluate(np.asarray(features[:1], dtype=np.int64), 0)[0])

    def evaluate(self, candidates: NDArray[np.int64], change: int) -> Floats:
        """Loss of the current subset with or without each candidate."""
        if isinstance(self.distances, DeviceDistances):
            return self._row_losses(self.distances, candidates, change).sum(axis=1)
        return np.asarray(self.evaluate_each(candidates, change).sum(axis=1))

    def evaluate_each(self, candidates: NDArray[np.int64], change: int) -> Floats:
        """(candidates, targets): the loss of each target, on the processor."""
        assert isinstance(self.distances, SubsetDistances)
        values = np.empty((len(candidates), len(self._units)))
        for step in self.distances.changes(candidates, change):

            def work(start: int, stop: int, step: Change = step) -> Floats:
                return self._sums(step, change, start, stop)

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
        return np.array([self._sums(step, 0, i, i + 1).sum() for i in range(self.distances.n_judged)])

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

    def _sums(self, step: Change, change: int, start: int, stop: int) -> Floats:
        """(candidates, targets): what some rows add to the losses for the current subset changed by each candidate."""
        sums = loss_sums(
            self.distances.columns,
            step.squared,
            step.columns,
            float(change),
            self._targets,
            self._near,
            self.n_neighbors,
            max(1, len(step.subset) + change),
            start,
            stop,
        )
        return np.asarray(sums / self._units)

    def _row_losses(self, at: DeviceDistances, candidates: NDArray[np.int64], change: int) -> Floats:
        """(candidates, rows): what each row adds, computed on the device. Sums are added here, always in one order."""
        if self._terms is None:
            self._terms = Terms(at.pairs.device, self._targets, self._units)
        return row_losses(at.pairs, self._terms, candidates, change, self.n_neighbors)

    def _any_rows(self) -> NDArray[np.int32]:
        """Some rows for each judged row, when no near ones are known."""
        first = np.arange(min(self.distances.n_rows, SAMPLED_PER_NEIGHBOR * self.n_neighbors + 1), dtype=np.int32)
        return np.tile(first, (self.distances.n_judged if isinstance(self.distances, SubsetDistances) else 0, 1))

    def _find_nearest(self) -> None:
        at = self.distances
        if isinstance(at, DeviceDistances):
            return
        near = self._near
        nearest = np.empty((at.n_judged, min(KNOWN_PER_NEIGHBOR * self.n_neighbors, at.n_others)), dtype=np.int32)

        def work(start: int, stop: int) -> None:
            fill_nearest(at.squared[start:stop], near[start:stop], nearest[start:stop], max(1, len(at.subset_columns)))

        run_chunks(work, at.row_chunks, at.n_threads)
        self._near = nearest


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
        votes = _votes(weights)
        by_class = np.ascontiguousarray(np.asarray(memberships, dtype=np.float64).T)
        if len(votes):
            by_class = by_class * votes
        totals = by_class.sum(axis=1)
        present = totals > 0
        by_class, totals = np.ascontiguousarray(by_class[present]), totals[present]
        judged = by_class[:, : distances.n_judged]
        sizes = judged.sum(axis=1)
        if balanced:
            row_weights = judged / np.where(sizes > 0, sizes, 1.0)[:, None] / np.count_nonzero(sizes)
        else:
            row_weights = judged / sizes.sum()
        one_target = np.zeros(len(totals), dtype=np.int64)
        nothing = np.empty((0, distances.n_rows))
        targets = Targets(nothing, by_class, row_weights, totals / totals.sum(), one_target, votes)
        super().__init__(distances, n_neighbors, targets, np.ones(1))

    @property
    def value_of_nothing(self) -> float:
        """The cross-entropy of the priors."""
        return float(-(self._targets.row_weights.sum(axis=1) @ np.log(self._targets.priors)))


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
        votes, n_judged = _votes(weights), distances.n_judged
        numbers = np.array(values, dtype=np.float64)[None]
        nothing = np.empty((0, distances.n_rows))
        targets = Targets(numbers, nothing, nothing[:, :n_judged], np.empty(0), np.zeros(1, dtype=np.int64), votes)
        unit = votes[:n_judged].sum() if len(votes) else float(n_judged)
        super().__init__(distances, n_neighbors, targets, np.array([unit]))

    @property
    def value_of_nothing(self) -> float:
        """The error when a row is predicted by the mean of all other rows."""
        values, votes = self._targets.values[0], self._targets.votes
        n = len(values)
        judged = values[: self.distances.n_judged]
        if len(votes):
            w, whole = votes[: len(judged)], votes.sum()
            alone = (judged - np.average(values, weights=votes)) * whole / (whole - w)
            return float(np.average(alone**2, weights=w))
        return float(np.mean((judged - values.mean()) ** 2) * (n / (n - 1)) ** 2)


class NeighborJointLoss(_NeighborLoss):
    r"""The mean over several targets of how much of each its nearest rows leave unexplained; small is good.

    .. math:: L = \frac{1}{q} \sum_t \frac{L_t}{L_t^0},

    with the loss :math:`L_t` of target t (:class:`NeighborSquaredError` of numbers, :class:`NeighborCrossEntropy` of
    classes) and its loss :math:`L_t^0` without any feature. So the unit of a number and the number of classes do not
    decide how much a target counts. All targets are predicted by the same neighbours.

    Parameters
    ----------
    distances : SubsetDistances or DeviceDistances
        Shared distances; the criterion updates them, and works where they are.
    targets : sequence of array (n_rows,) or array (n_rows, n_classes)
        Numbers, or memberships whose rows sum to 1.
    n_neighbors : int, default=15
        Reduced to the number of other rows if that is smaller.
    balanced : bool, default=False
        Whether every class has the same weight, instead of every row.
    weights : array (n_rows,), optional
        Weights of the rows, with a mean of 1.
    """

    def __init__(
        self,
        distances: SubsetDistances | DeviceDistances,
        targets: Sequence[Floats],
        *,
        n_neighbors: int = 15,
        balanced: bool = False,
        weights: Floats | None = None,
    ) -> None:
        losses = [
            NeighborSquaredError(distances, target, n_neighbors=n_neighbors, weights=weights)
            if target.ndim == 1
            else NeighborCrossEntropy(distances, target, n_neighbors=n_neighbors, balanced=balanced, weights=weights)
            for target in targets
        ]
        parts = [loss._targets for loss in losses]
        of_numbers = [place for place, part in enumerate(parts) for _ in part.values]
        of_classes = [place for place, part in enumerate(parts) for _ in part.priors]
        joined = Targets(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.memberships for part in parts]),
            np.concatenate([part.row_weights for part in parts]),
            np.concatenate([part.priors for part in parts]),
            np.array([*of_numbers, *of_classes], dtype=np.int64),
            parts[0].votes,
        )
        nothing = [loss.value_of_nothing or 1.0 for loss in losses]
        units = np.concatenate([loss._units for loss in losses]) * nothing * len(losses)
        super().__init__(distances, n_neighbors, joined, units)

    @property
    def value_of_nothing(self) -> float:
        """The loss without any feature: 1."""
        return 1.0


def _votes(weights: Floats | None) -> Floats:
    """The weights of the rows as kernels take them: empty if every row counts alike."""
    return np.empty(0) if weights is None else np.array(weights, dtype=np.float64)
