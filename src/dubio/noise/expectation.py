"""The expectation-maximisation of the noise model, on the distances in a subset of features."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dubio._gpu.densities import SortedRows
from dubio._kernels.neighbor_order import deal_into_buckets, log_densities
from dubio._kernels.threads import run_chunks
from dubio.information.estimators import log_unit_ball_volume
from dubio.information.groups import raise_if_zero
from dubio.noise.noise_model import NoiseModel
from dubio.progress import advance, parts_of
from dubio.search.distances import DeviceDistances, SubsetDistances

# A probability of exactly 0 or 1 could never change again: its logarithm is infinite.
SMALLEST_ERROR_RATE = 1e-6
SMALLEST_MEMBERSHIP = 1e-12


class NeighborOrder:
    """For each row, the other rows by distance, sorted only as far as needed.

    It takes 4 bytes per pair of rows, in addition to the distances.
    """

    def __init__(self, n_rows: int) -> None:
        self.n_buckets = int(np.clip(n_rows // 16, 4, 256))
        self._order = np.empty((n_rows, n_rows - 1), dtype=np.int32)
        self._starts = np.empty((n_rows, self.n_buckets + 1), dtype=np.int32)
        self._sorted = np.empty((n_rows, self.n_buckets), dtype=np.bool_)

    def update(self, distances: SubsetDistances) -> None:
        """Replace the order by that of the current distances."""
        self._distances = distances
        self._sorted[:] = False

        def work(start: int, stop: int) -> None:
            deal_into_buckets(distances.squared, self._order, self._starts, start, stop)

        run_chunks(work, distances.row_chunks, distances.n_threads, parts_of("order of the rows"))

    def log_densities_of(self, memberships: NDArray[np.float64], n_neighbors: int) -> NDArray[np.float64]:
        """Equation 15 for several sets of memberships: (sets, rows, classes)."""
        return np.stack([self.log_densities(one, n_neighbors) for one in memberships])

    def log_densities(self, memberships: NDArray[np.float64], n_neighbors: int) -> NDArray[np.float64]:
        """Equation 15 for every row and class."""
        at = self._distances
        weights = np.ascontiguousarray(memberships.T)
        densities = np.zeros(memberships.shape)
        inside = at.subset_columns
        log_volume = log_unit_ball_volume(len(inside))

        def work(start: int, stop: int) -> int:
            return int(
                log_densities(
                    at.rows,
                    inside,
                    at.squared,
                    self._order,
                    self._starts,
                    self._sorted,
                    weights,
                    weights.sum(axis=1),
                    float(n_neighbors),
                    log_volume,
                    start,
                    stop,
                    densities,
                )
            )

        parts = run_chunks(work, at.row_chunks, at.n_threads, parts_of("one step of the noise model"))
        raise_if_zero(sum(parts), at.subset)
        return densities


class DeviceOrder:
    """The same on a device: all rows are sorted, and all sets of memberships are looked at together."""

    def __init__(self) -> None:
        self._sorted: SortedRows | None = None

    def update(self, distances: DeviceDistances) -> None:
        """Replace the order by that of the current distances."""
        self._distances = distances
        kept = None if self._sorted is None else self._sorted.kept
        self._sorted = SortedRows(distances.pairs, kept)

    def log_densities_of(self, memberships: NDArray[np.float64], n_neighbors: int) -> NDArray[np.float64]:
        """Equation 15 for several sets of memberships: (sets, rows, classes)."""
        assert self._sorted is not None
        subset = self._distances.subset
        log_volume = log_unit_ball_volume(len(subset))
        densities, n_zero = self._sorted.log_densities(subset, memberships, n_neighbors, log_volume)
        raise_if_zero(n_zero, subset)
        return densities


#: With fewer rows, an iteration takes milliseconds.
_MANY_ROWS = 5000


def fit_noise_model(
    order: NeighborOrder | DeviceOrder,
    *,
    codes: NDArray[np.int64] | None,
    given: NDArray[np.float64],
    classes: NDArray[Any],
    n_neighbors: int,
    n_init: int,
    max_iter: int,
    tol: float,
    random_state: np.random.RandomState,
) -> NoiseModel:
    """Run the EM from ``n_init`` starts, all in step, on the neighbours in ``order``; see :func:`estimate_memberships`.

    ``codes`` are hard labels (-1 means no label). Without them, ``given`` holds memberships: rows that sum to 1 are
    kept as they are, rows of zeros are estimated.
    """
    n, n_classes = given.shape
    known = codes >= 0 if codes is not None else given.sum(axis=1) > 0
    start_priors = given[known].sum(axis=0) / known.sum()
    present = start_priors > 0
    if codes is None and not present.all():  # nothing is known of a class to which no row belongs
        model = fit_noise_model(
            order,
            codes=None,
            given=np.ascontiguousarray(given[:, present]),
            classes=classes[present],
            n_neighbors=n_neighbors,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )
        memberships, priors = np.zeros(given.shape), np.zeros(n_classes)
        memberships[:, present], priors[present] = model.memberships, model.priors
        return replace(model, memberships=memberships, priors=priors, classes=classes)
    starts = random_state.uniform(0.0, 0.5, size=(n_init, n_classes))
    if codes is None:
        starts = starts[:1]  # nothing is random: soft labels are not doubted, and other rows start from the priors
    label_log_priors = 0.0 if codes is None else np.log(start_priors[codes[known]]).sum()

    runs = [_Run(np.clip(start, SMALLEST_ERROR_RATE, None), start_priors) for start in starts]
    for run in runs:
        run.memberships = _posterior(np.zeros((n, n_classes)), codes, given, known, run.rates, run.priors)[0]
    for iteration in range(max_iter):
        running = [run for run in runs if not run.converged]
        if not running:
            break
        densities = order.log_densities_of(np.stack([run.memberships for run in running]), n_neighbors)
        for run, of_run in zip(running, densities, strict=True):
            run.memberships, evidence = _posterior(of_run, codes, given, known, run.rates, run.priors)
            run.objective.append(evidence - label_log_priors)
            run.rates, run.priors = _update(run.memberships, codes, known)
            change = abs(run.objective[-1] - run.objective[-2]) if len(run.objective) > 1 else np.inf
            run.converged = bool(change <= tol * n)
        if n >= _MANY_ROWS:
            advance("noise model", iteration + 1, max_iter)
    best = max(range(len(runs)), key=lambda r: (runs[r].objective[-1], -r))
    kept = runs[best]
    return NoiseModel(
        memberships=kept.memberships,
        error_rates=None if codes is None else kept.rates,
        priors=kept.priors,
        classes=classes,
        objectives=tuple(np.asarray(run.objective) for run in runs),
        best_restart=best,
        converged=kept.converged,
    )


@dataclass
class _Run:
    """One restart of the EM, so far."""

    rates: NDArray[np.float64]
    priors: NDArray[np.float64]
    memberships: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    objective: list[float] = field(default_factory=list)
    converged: bool = False


def _posterior(
    densities: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
    given: NDArray[np.float64],
    known: NDArray[np.bool_],
    rates: NDArray[np.float64],
    priors: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """Memberships (equation 26) and the summed log-likelihood, in log space.

    Rows without a label have no label likelihood.
    """
    joint = densities + np.log(np.maximum(priors, SMALLEST_MEMBERSHIP))
    if codes is not None:
        wrong = np.log(rates / (len(rates) - 1))
        labels = np.where(given[known] > 0, np.log1p(-rates), wrong)
        joint[known] += labels
    evidence = logsumexp(joint, axis=1)
    memberships = np.maximum(np.exp(joint - evidence[:, None]), SMALLEST_MEMBERSHIP)
    memberships /= memberships.sum(axis=1, keepdims=True)
    if codes is None:
        memberships[known] = given[known]
    return memberships, float(evidence.sum())


def _update(
    memberships: NDArray[np.float64], codes: NDArray[np.int64] | None, known: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Error rates (equation 28, over the labelled rows) and priors (equation 29)."""
    priors = memberships.mean(axis=0)
    if codes is None:
        return np.zeros(memberships.shape[1]), priors
    labelled = memberships[known]
    right = np.bincount(codes[known], labelled[np.arange(len(labelled)), codes[known]], minlength=len(priors))
    totals = labelled.sum(axis=0)
    return np.clip(1.0 - right / totals, SMALLEST_ERROR_RATE, 1.0 - SMALLEST_ERROR_RATE), priors
