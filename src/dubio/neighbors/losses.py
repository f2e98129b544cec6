"""Leave-one-out nearest-neighbour loss of a subset of features, for one target and for several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted
from dubio.kernels.neighbor_loss import Targets, fill_nearest, loss_sums
from dubio.kernels.neighbor_loss_gpu import Terms, row_losses
from dubio.kernels.threads import run_chunks
from dubio.neighbors.distances import Change, DeviceDistances, Distances, SubsetDistances
from dubio.neighbors.greedy import ADD

Floats = NDArray[np.float64]

#: Nearest rows in the current subset that are kept, in order, for each neighbour wanted: when a feature is added to two
#: or more, the new neighbours are nearly always among them.
_KEPT_PER_NEIGHBOR = 4
#: Rows used for each neighbour wanted for a first bound on distances, when no near rows are known yet.
_SAMPLED_PER_NEIGHBOR = 4


class NeighborLoss:
    r"""How badly the nearest other rows predict the target of a row; small is good.

    For a *number* :math:`y_i` and the :math:`k` nearest other rows :math:`N_i`, the mean squared error

    .. math:: L = \frac{1}{n} \sum_i \Bigl( y_i - \frac{1}{k} \sum_{j \in N_i} y_j \Bigr)^2 .

    For *memberships* :math:`m_{is}` of classes, the cross-entropy of a prediction by the neighbours and by the class
    priors :math:`\pi`, which count as one more row:

    .. math::

        \hat p_{is} = \frac{\pi_s + \sum_{j \in N_i} m_{js}}{k + 1}, \qquad
        L = -\sum_s c_s \sum_i m_{is} \log \hat p_{is} ,

    with :math:`c_s = 1/n`, or :math:`c_s = 1 / (K \sum_i m_{is})` if every class has the same weight, large or small
    (``balanced``). Classes without any membership are left out.

    For *several targets*, the mean over targets of how much of each is left unexplained,

    .. math:: L = \frac{1}{q} \sum_t \frac{L_t}{L_t^0},

    with the loss :math:`L_t^0` of target t without any feature. So the unit of a number and the number of classes do
    not decide how much a target counts. All targets are predicted by the same neighbours.

    If only some rows are judged, the sums over :math:`i` are over these; neighbours and priors are those of all rows.

    The criterion updates the shared ``distances``, and works where they are. ``goals`` has, target by target, numbers
    (n_rows,) or memberships (n_rows, n_classes) whose rows sum to 1. ``n_neighbors`` is reduced to the number of other
    rows if that is smaller. With ``weights`` :math:`w_i > 0` of the rows (with a mean of 1), the vote of row j and the
    loss of row i are multiplied by theirs, and :math:`k` in the denominators becomes :math:`\sum_{j \in N_i} w_j`.
    ``value_of_nothing`` is the loss without any feature, when every row gets the same prediction.
    """

    larger_is_better = False

    def __init__(
        self,
        distances: Distances,
        goals: Sequence[Floats],
        *,
        n_neighbors: int = 15,
        balanced: bool = False,
        weights: Floats | None = None,
    ) -> None:
        if distances.n_rows < 2:
            remedy = "a row is predicted by others, so at least 2 are needed"
            raise InputError("X", f"has {counted(distances.n_rows, 'labelled row')}", remedy)
        if distances.n_others < 1:
            remedy = "a row is predicted by rows of other groups, so at least two are needed"
            raise InputError("groups", "puts all labelled rows into one group", remedy)
        self.distances, self.n_neighbors = distances, min(n_neighbors, distances.n_others)
        votes = np.empty(0) if weights is None else np.array(weights, dtype=np.float64)
        read: dict[int, Callable[..., _Part]] = {1: _number_part, 2: partial(_class_part, balanced=balanced)}
        parts = [read[goal.ndim](np.asarray(goal, dtype=np.float64), distances.n_judged, votes) for goal in goals]
        self._units = np.array([part.unit for part in parts])
        self.value_of_nothing = parts[0].value_of_nothing
        if len(parts) > 1:
            self._units *= np.array([part.value_of_nothing or 1.0 for part in parts]) * len(parts)
            self.value_of_nothing = 1.0
        target_of = [place for place, part in enumerate(parts) for _ in part.values]
        target_of += [place for place, part in enumerate(parts) for _ in part.priors]
        values, memberships, row_weights, priors = map(np.concatenate, zip(*(part[:4] for part in parts), strict=True))
        numbers = np.array(target_of, dtype=np.int64)
        own = votes if len(votes) else np.ones(distances.n_rows)
        said = np.column_stack([(values * own).T, memberships.T, own])
        self._targets = Targets(values, memberships, row_weights, priors, numbers, votes, said)
        self._near, self._near_distances = self._any_rows()
        self._n_known = 0
        self._terms: Terms | None = None  # on a device, once they are needed

    def start(self, features: NDArray[np.int64]) -> float:
        """Start at a subset and return its value, or 0.0 for the empty subset."""
        self.distances.start(features)
        self._near, self._near_distances = self._any_rows()
        self._n_known = 0
        return float(self.evaluate(np.asarray(features[:1], dtype=np.int64), 0)[0]) if len(features) else 0.0

    def evaluate(self, candidates: NDArray[np.int64], change: int) -> Floats:
        """Loss of the current subset with or without each candidate."""
        if isinstance(self.distances, DeviceDistances):
            return self._row_losses(self.distances, candidates, change).sum(axis=1)
        return np.asarray(self.evaluate_each(candidates, change).sum(axis=1))

    def evaluate_each(self, candidates: NDArray[np.int64], change: int) -> Floats:
        """(candidates, targets): the loss of each target, on the processor."""
        assert isinstance(self.distances, SubsetDistances)
        self._know_nearest(self.distances, change)
        values = np.empty((len(candidates), len(self._units)))
        for places, parts in self.distances.in_chunks(candidates, change, partial(self._sums, change)):
            values[places] = np.sum(parts, axis=0)
        return values

    def unit_values(self, features: NDArray[np.int64]) -> Floats:
        """How much each independent unit, a row or a group of rows, adds to the loss of a subset.

        This subset becomes the current one.
        """
        self.start(features)
        one, at = np.asarray(features[:1], dtype=np.int64), self.distances
        if isinstance(at, DeviceDistances):
            values = self._row_losses(at, one, 0)[0]
        else:
            step = next(at.changes(one, 0))
            values = np.array([self._sums(0, step, i, i + 1).sum() for i in range(at.n_judged)])
        if at.groups is None:
            return values
        return np.asarray(np.bincount(np.unique(at.groups[: len(values)], return_inverse=True)[1], values))

    def apply(self, feature: int, change: int) -> None:
        """Make this change; the old neighbours limit the search for the new ones."""
        self.distances.apply(feature, change)
        self._n_known = 0

    def _sums(self, change: int, step: Change, start: int, stop: int) -> Floats:
        """(candidates, targets): what some rows add to the losses for the current subset changed by each candidate."""
        changed = self.distances.columns, step.squared, step.columns, float(change)
        near = self._near, self._near_distances, self.n_neighbors
        sums = np.zeros((len(step.columns), len(self._units)))
        loss_sums(*changed, self._targets, *near, max(1, len(step.subset) + change), start, stop, sums)
        return sums / self._units

    def _row_losses(self, at: DeviceDistances, candidates: NDArray[np.int64], change: int) -> Floats:
        """(candidates, rows): what each row adds, computed on the device. Sums are added here, always in one order."""
        if self._terms is None:
            self._terms = Terms(at.pairs.device, self._targets, self._units)
        return row_losses(at.pairs, self._terms, candidates, change, self.n_neighbors)

    def _any_rows(self) -> tuple[NDArray[np.int32], Floats]:
        """Some rows for each judged row, when no near ones are known, and 0 as their distances."""
        first = np.arange(min(self.distances.n_rows, _SAMPLED_PER_NEIGHBOR * self.n_neighbors + 1), dtype=np.int32)
        any_rows = np.tile(first, (self.distances.n_judged if isinstance(self.distances, SubsetDistances) else 0, 1))
        return any_rows, np.zeros(any_rows.shape)

    def _know_nearest(self, at: SubsetDistances, change: int) -> None:
        """Find the nearest rows in the current subset, more of them if a feature is to be added to it."""
        count = min((_KEPT_PER_NEIGHBOR if change == ADD else 1) * self.n_neighbors, at.n_others)
        if count <= self._n_known or not len(at.subset):
            return
        near = self._near if self._near.shape[1] >= count else self._any_rows()[0]
        nearest, dimensions = np.empty((at.n_judged, count), dtype=np.int32), len(at.subset_columns)
        distances = np.empty(nearest.shape)

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            fill_nearest(at.squared[part], near[part], nearest[part], distances[part], dimensions)

        run_chunks(work, at.row_chunks, at.n_threads)
        self._near, self._near_distances, self._n_known = nearest, distances, count


class _Part(NamedTuple):
    """One target as the kernel takes it: the rows of :class:`Targets` that are its own.

    ``unit`` is what its sum over rows is divided by, ``value_of_nothing`` its loss without any feature.
    """

    values: Floats
    memberships: Floats
    row_weights: Floats
    priors: Floats
    unit: float
    value_of_nothing: float


def _number_part(values: Floats, n_judged: int, votes: Floats) -> _Part:
    """A number; without any feature, a row is predicted by the mean of all other rows."""
    n, judged = len(values), values[:n_judged]
    if len(votes):
        w, whole = votes[:n_judged], votes.sum()
        alone = (judged - np.average(values, weights=votes)) * whole / (whole - w)
        unit, without = float(w.sum()), float(np.average(alone**2, weights=w))
    else:
        unit, without = float(n_judged), float(np.mean((judged - values.mean()) ** 2) * (n / (n - 1)) ** 2)
    nothing = np.empty((0, n))
    return _Part(values[None], nothing, nothing[:, :n_judged], np.empty(0), unit, without)


def _class_part(memberships: Floats, n_judged: int, votes: Floats, balanced: bool) -> _Part:
    """Classes; without any feature, a row is predicted by the priors."""
    by_class = memberships.T * votes if len(votes) else memberships.T
    totals = by_class.sum(axis=1)
    present = totals > 0
    by_class, totals = np.ascontiguousarray(by_class[present]), totals[present]
    judged = by_class[:, :n_judged]
    sizes = judged.sum(axis=1)
    if balanced:
        row_weights = judged / np.where(sizes > 0, sizes, 1.0)[:, None] / np.count_nonzero(sizes)
    else:
        row_weights = judged / sizes.sum()
    priors = totals / totals.sum()
    without = float(-(row_weights.sum(axis=1) @ np.log(priors)))
    return _Part(np.empty((0, memberships.shape[0])), by_class, row_weights, priors, 1.0, without)
