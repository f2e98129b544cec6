"""Mutual information as a criterion for a greedy search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dubio._gpu.information import BallSize, information_terms
from dubio._kernels.distances import UNBOUNDED
from dubio._kernels.information import candidate_information, current_information
from dubio._kernels.threads import run_chunks
from dubio.information.estimators import feature_mutual_information
from dubio.information.groups import Groups, raise_if_zero
from dubio.progress import parts_of
from dubio.search.distances import Change, DeviceDistances, SubsetDistances

# If a row has less membership than this in a class, its term is only bounded at first: such terms seldom decide which
# feature wins, and their balls are large. Candidates that may still win are then evaluated exactly.
MINOR = 1e-3

Distances = SubsetDistances | DeviceDistances
MembershipsOf = Callable[[Distances], NDArray[np.float64]]


class InformationCriterion:
    """Noise-tolerant mutual information (equation 19) of the current subset and of all subsets one feature apart.

    Follows `dubio.search.Criterion`. One-hot memberships give the estimator of Gomez-Verdejo et al.

    Parameters
    ----------
    distances : SubsetDistances or DeviceDistances
        Shared distances; the criterion updates them, and works where they are.
    memberships_of : callable
        Called with ``distances`` once for each subset the search reaches, before its candidates are evaluated
        (Algorithm 2 estimates the label noise at this point). Returns memberships (n, classes). Return the same array
        each time to keep them fixed.
    n_neighbors : int
        k.
    slack : float
        See :func:`dubio.noise_tolerant_mutual_information`.
    """

    larger_is_better = True

    def __init__(
        self, distances: Distances, memberships_of: MembershipsOf, *, n_neighbors: int, slack: float = 0.5
    ) -> None:
        self.distances = distances
        self.n_neighbors = n_neighbors
        self.slack = slack
        self._memberships_of = memberships_of
        self._memberships: NDArray[np.float64] | None = None
        self._ready = False

    def start(self, features: NDArray[np.int64]) -> float:
        self.distances.start(features)
        return self._prepare(0.0)

    def apply(self, feature: int, change: int) -> None:
        self.distances.apply(feature, change)
        self._ready = False

    def evaluate(self, candidates: NDArray[np.int64], change: int) -> NDArray[np.float64]:
        if not self._ready:
            self._prepare(MINOR)
        at = self.distances
        if len(at.subset) == 0:
            return feature_mutual_information(
                at.rows,
                at.columns,
                [at.columns_of(one) for one in candidates[:, None]],
                self._groups,
                n_neighbors=self.n_neighbors,
                slack=self.slack,
                n_threads=at.n_threads,
            )

        if isinstance(at, DeviceDistances):
            return self._on_device(at, candidates, change).mean(axis=1)
        lower, values = self._bounds(candidates, change, MINOR)
        contenders = np.flatnonzero(values >= lower.max() - 1e-12)
        if (lower[contenders] < values[contenders]).any():
            values[contenders] = self._bounds(candidates[contenders], change, 0.0)[1]
        return values

    def _on_device(self, at: DeviceDistances, candidates: NDArray[np.int64], change: int) -> NDArray[np.float64]:
        """(candidates, rows): values of which the mean over rows is the criterion."""
        size = BallSize(self.n_neighbors, self.slack)
        weights, totals = self._groups.weights, self._groups.totals
        terms, n_zero = information_terms(at.pairs, at.subset, weights, totals, size, candidates, change)
        raise_if_zero(n_zero, at.subset if change == 0 else None)
        return self._groups.constant(self.n_neighbors) + terms

    def _bounds(
        self, candidates: NDArray[np.int64], change: int, minor: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A lower and an upper bound on each candidate's value; equal if ``minor`` is 0."""
        assert isinstance(self.distances, SubsetDistances)
        both = np.empty((2, len(candidates)))
        for step in self.distances.changes(candidates, change):
            both[:, step.places] = self._step_bounds(step, change, minor)
        return both[0], both[1]

    def _step_bounds(self, step: Change, change: int, minor: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        at = self.distances

        def work(start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
            result: tuple[NDArray[np.float64], NDArray[np.float64], int] = candidate_information(
                at.rows,
                at.columns,
                step.squared,
                step.subset,
                step.columns,
                float(change),
                self._groups.weights,
                self._groups.totals,
                float(self.n_neighbors),
                self.slack,
                minor,
                self._seeds,
                self._n_seeds,
                self._radii,
                start,
                stop,
            )
            return result

        parts = run_chunks(work, at.row_chunks, at.n_threads, parts_of("one step of the search"))
        raise_if_zero(sum(n_zero for _, _, n_zero in parts))
        constant = self._groups.constant(self.n_neighbors)
        lower = constant + np.sum([part for part, _, _ in parts], axis=0) / at.n_rows
        upper = constant + np.sum([part for _, part, _ in parts], axis=0) / at.n_rows
        return lower, upper

    def _prepare(self, minor: float) -> float:
        """Update memberships, seeds and radii for the current subset; return its value if ``minor`` is 0."""
        at = self.distances
        memberships = self._memberships_of(at)
        if memberships is not self._memberships:
            self._groups = Groups(memberships)
        if self._memberships is None and isinstance(at, SubsetDistances):
            n_groups = len(self._groups.totals)
            self._seeds = np.zeros((at.n_rows, n_groups, 4 * self.n_neighbors), dtype=np.int32)
            self._n_seeds = np.zeros((at.n_rows, n_groups), dtype=np.int32)
            self._radii = np.full((at.n_rows, n_groups), UNBOUNDED)
        self._memberships = memberships
        self._ready = True
        if len(at.subset) == 0:
            return 0.0
        if isinstance(at, DeviceDistances):
            return float(self._on_device(at, at.subset[:1], 0).mean()) if minor == 0.0 else 0.0
        parts = run_chunks(lambda start, stop: self._current(start, stop, minor), at.row_chunks, at.n_threads)
        raise_if_zero(sum(n_zero for _, n_zero in parts), at.subset)
        return self._groups.constant(self.n_neighbors) + sum(total for total, _ in parts) / at.n_rows

    def _current(self, start: int, stop: int, minor: float) -> tuple[float, int]:
        """How much rows ``start:stop`` add to the value of the current subset, times n; and balls of radius zero."""
        at = self.distances
        assert isinstance(at, SubsetDistances)
        result: tuple[float, int] = current_information(
            at.rows,
            at.subset_columns,
            at.squared[start:stop],
            self._groups.weights,
            self._groups.totals,
            float(self.n_neighbors),
            self.slack,
            minor,
            self._seeds,
            self._n_seeds,
            self._radii,
            start,
            stop,
        )
        return result

    def row_values(self, features: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much each row adds to the value of a subset; this subset becomes the current one."""
        self.start(features)
        n = self.distances.n_rows
        if isinstance(self.distances, DeviceDistances):
            return self._on_device(self.distances, self.distances.subset[:1], 0)[0] / n
        totals = np.array([self._current(i, i + 1, 0.0)[0] for i in range(n)])
        return (self._groups.constant(self.n_neighbors) + totals) / n
