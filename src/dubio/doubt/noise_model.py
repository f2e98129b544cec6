"""The noise model of the LNT paper: memberships and flip rates, by expectation maximisation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from dubio.checks import AT_LEAST_ONE, NOT_NEGATIVE, Interval, StrOptions, check_parameters, clip_neighbors, random_of
from dubio.kernels.information import Balls, Buckets, deal_into_buckets, log_densities
from dubio.kernels.information_gpu import SortedRows
from dubio.kernels.threads import resolve_threads, run_chunks
from dubio.methods.parameters import documented
from dubio.neighbors.distances import MAX_ROWS, DeviceDistances, SubsetDistances, check_row_limit
from dubio.neighbors.information import log_unit_ball_volume, raise_if_zero, require_another_row
from dubio.problem import Problem, read_problem
from dubio.progress import advance, parts_of
from dubio.target.knowledge import Supervision


@dataclass(frozen=True)
class NoiseModel:
    """What the expectation-maximisation found.

    Attributes
    ----------
    memberships : array (n, classes)
        Probability that each row truly belongs to each class; rows sum to 1.
    error_rates : array (classes,) or None
        Estimated probability that a row of this true class carries another label. None for soft labels, which are taken
        as they are.
    priors : array (classes,)
        Share of each true class.
    classes : array (classes,)
        Names of the classes.
    objectives : tuple of arrays
        One array per restart: the incomplete log-likelihood (equation 24) at each iteration.
    best_restart : int
        The restart that was kept: the one with the largest final objective.
    converged : bool
        Whether that restart stopped because its objective settled, not because it reached ``max_iter``.
    confusion : array (classes, classes) or None
        Estimated probability of each label (column) for rows of each true class (row).
    """

    memberships: NDArray[np.float64] = field(repr=False)
    error_rates: NDArray[np.float64] | None
    priors: NDArray[np.float64]
    classes: NDArray[Any]
    objectives: tuple[NDArray[np.float64], ...] = field(repr=False)
    best_restart: int
    converged: bool
    confusion: NDArray[np.float64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for value in (*vars(self).values(), *self.objectives):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def objective(self) -> float:
        """The objective at the end of the restart that was kept."""
        return float(self.objectives[self.best_restart][-1])


#: One error rate for each true class, or one for each pair of true class and label.
Noise = Literal["uniform", "matrix"]

# A probability of exactly 0 or 1 could never change again: its logarithm is infinite.
SMALLEST_ERROR_RATE = 1e-6
SMALLEST_MEMBERSHIP = 1e-12


class NeighborOrder:
    """For each row, the other rows by distance, sorted only as far as needed.

    It takes 4 bytes per pair of rows, in addition to the distances.
    """

    def __init__(self, n_rows: int) -> None:
        n_buckets = int(np.clip(n_rows // 16, 4, 256))
        self._buckets = Buckets(
            np.empty((n_rows, n_rows - 1), dtype=np.int32),
            np.empty((n_rows, n_buckets + 1), dtype=np.int32),
            np.empty((n_rows, n_buckets), dtype=np.bool_),
        )

    def update(self, distances: SubsetDistances) -> None:
        """Replace the order by that of the current distances."""
        self._distances = distances

        def work(start: int, stop: int) -> None:
            deal_into_buckets(distances.squared, self._buckets, start, stop)

        run_chunks(work, distances.row_chunks, distances.n_threads, parts_of("order of the rows"))

    def log_densities_of(
        self, memberships: NDArray[np.float64], n_neighbors: int, include_self: bool = False
    ) -> NDArray[np.float64]:
        """Equation 15 for several sets of memberships: (sets, rows, classes)."""
        return np.stack([self.log_densities(one, n_neighbors, include_self) for one in memberships])

    def log_densities(
        self, memberships: NDArray[np.float64], n_neighbors: int, include_self: bool = False
    ) -> NDArray[np.float64]:
        """Equation 15 for every row and class."""
        at = self._distances
        weights = np.ascontiguousarray(memberships.T)
        own_counts = np.full(len(weights), float(include_self))
        balls = Balls(weights, weights.sum(axis=1), float(n_neighbors), 0.0, own_counts)
        densities = np.zeros(memberships.shape)
        inside = at.subset_columns
        log_volume = log_unit_ball_volume(len(inside))

        def work(start: int, stop: int) -> int:
            found = log_densities(at.rows, inside, at.squared, self._buckets, balls, log_volume, start, stop, densities)
            return int(found)

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

    def log_densities_of(
        self, memberships: NDArray[np.float64], n_neighbors: int, include_self: bool = False
    ) -> NDArray[np.float64]:
        """Equation 15 for several sets of memberships: (sets, rows, classes)."""
        assert self._sorted is not None
        subset = self._distances.subset
        log_volume, own_counts = log_unit_ball_volume(len(subset)), float(include_self)
        densities, n_zero = self._sorted.log_densities(subset, memberships, n_neighbors, log_volume, own_counts)
        raise_if_zero(n_zero, subset)
        return densities


#: With fewer rows, an iteration takes milliseconds.
_MANY_ROWS = 5000


def fit_noise_model(
    order: NeighborOrder | DeviceOrder,
    known_of: Supervision,
    *,
    random_state: np.random.RandomState,
    n_neighbors: int = 3,
    include_self: bool = False,
    noise: Noise = "uniform",
    n_init: int = 5,
    max_iter: int = 50,
    tol: float = 1e-3,
) -> NoiseModel:
    """Run the EM from ``n_init`` starts, all in step, on the neighbours in ``order``; see :func:`estimate_memberships`.

    Of memberships, rows that sum to 1 are kept as they are, and rows of zeros are estimated.
    """
    codes, given = known_of.given_codes, known_of.memberships
    known = codes >= 0 if codes is not None else given.sum(axis=1) > 0
    start_priors = given[known].sum(axis=0) / known.sum()
    present = np.full(len(start_priors), codes is not None) | (start_priors > 0)
    given, start_priors = np.ascontiguousarray(given[:, present]), start_priors[present]
    n, n_classes = given.shape  # nothing is known of a class to which no row belongs
    starts = random_state.uniform(0.0, 0.5, size=(int(n_init), n_classes))
    if codes is None:
        starts = starts[:1]  # nothing is random: soft labels are not doubted, and other rows start from the priors
    label_log_priors = 0.0 if codes is None else np.log(start_priors[codes[known]]).sum()

    runs = []
    for rates in np.clip(starts, SMALLEST_ERROR_RATE, None):
        confusion = _uniform_confusion(rates)
        first = _posterior(np.zeros((n, n_classes)), codes, given, known, confusion, start_priors)[0]
        runs.append(_Run(confusion, start_priors, first))
    for iteration in range(max_iter):
        running = [run for run in runs if not run.converged]
        if not running:
            break
        memberships = np.stack([run.memberships for run in running])
        densities = order.log_densities_of(memberships, n_neighbors, include_self)
        for run, of_run in zip(running, densities, strict=True):
            run.memberships, evidence = _posterior(of_run, codes, given, known, run.confusion, run.priors)
            run.objective.append(evidence - label_log_priors)
            run.confusion, run.priors = _update(run.memberships, codes, known, noise)
            change = abs(run.objective[-1] - run.objective[-2]) if len(run.objective) > 1 else np.inf
            run.converged = bool(change <= tol * n)
        if n >= _MANY_ROWS:
            advance("noise model", iteration + 1, max_iter)
    best = max(range(len(runs)), key=lambda r: (runs[r].objective[-1], -r))
    kept = runs[best]
    every, priors = np.zeros((n, len(present))), np.zeros(len(present))
    every[:, present], priors[present] = kept.memberships, kept.priors
    return NoiseModel(
        memberships=every,
        error_rates=None if codes is None else 1.0 - np.diag(kept.confusion),
        priors=priors,
        classes=known_of.classes,
        objectives=tuple(np.asarray(run.objective) for run in runs),
        best_restart=best,
        converged=kept.converged,
        confusion=None if codes is None else kept.confusion,
    )


@dataclass
class _Run:
    """One restart of the EM, so far."""

    confusion: NDArray[np.float64]
    priors: NDArray[np.float64]
    memberships: NDArray[np.float64]
    objective: list[float] = field(default_factory=list)
    converged: bool = False


def _posterior(
    densities: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
    given: NDArray[np.float64],
    known: NDArray[np.bool_],
    confusion: NDArray[np.float64],
    priors: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """Memberships (equation 26) and the summed log-likelihood, in log space.

    Rows without a label have no label likelihood.
    """
    joint = densities + np.log(np.maximum(priors, SMALLEST_MEMBERSHIP))
    if codes is not None:
        joint[known] += np.log(confusion).T[codes[known]]
    evidence = logsumexp(joint, axis=1)
    memberships = np.maximum(np.exp(joint - evidence[:, None]), SMALLEST_MEMBERSHIP)
    memberships /= memberships.sum(axis=1, keepdims=True)
    if codes is None:
        memberships[known] = given[known]
    return memberships, float(evidence.sum())


def _uniform_confusion(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equation 20: probabilities of the labels (columns) when a wrong label is any other class alike."""
    n_classes = len(rates)
    confusion = np.repeat((rates / max(1, n_classes - 1))[:, None], n_classes, axis=1)
    np.fill_diagonal(confusion, 1.0 - rates)
    return confusion


def _update(
    memberships: NDArray[np.float64], codes: NDArray[np.int64] | None, known: NDArray[np.bool_], noise: Noise
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities of the labels (equation 28, over the labelled rows; or one for each label) and priors (29)."""
    priors = memberships.mean(axis=0)
    if codes is None:
        return np.ones((len(priors), len(priors))), priors
    counts = memberships[known].T @ np.eye(len(priors))[codes[known]]
    shares = counts / counts.sum(axis=1, keepdims=True)
    if noise == "uniform":
        return _uniform_confusion(
            np.clip(1.0 - np.diag(shares), SMALLEST_ERROR_RATE, 1.0 - SMALLEST_ERROR_RATE)
        ), priors
    shares = np.maximum(shares, SMALLEST_ERROR_RATE)
    return shares / shares.sum(axis=1, keepdims=True), priors


#: Valid values of the parameters that are not checked elsewhere.
_VALID: dict[str, list[Any]] = {
    "include_self": ["boolean"],
    "noise": [StrOptions({"uniform", "matrix"})],
    "n_init": [Interval(Integral, 1, 10_000, closed="both")],
    "max_iter": AT_LEAST_ONE,
    "tol": NOT_NEGATIVE,
    "max_rows": AT_LEAST_ONE,
}


@documented
def estimate_memberships(
    X: ArrayLike,
    y: Any,
    *,
    n_neighbors: int = 3,
    include_self: bool = False,
    noise: Noise = "uniform",
    n_init: int = 5,
    max_iter: int = 50,
    tol: float = 1e-3,
    missing_label: Any = "auto",
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    max_rows: int = MAX_ROWS,
) -> NoiseModel:
    r"""Probability that each row truly belongs to each class, when some of the labels are wrong.

    A row of true class s carries the label s with probability :math:`1 - p_e(s)`, and each other label with
    probability :math:`p_e(s) / (K - 1)`. Expectation-maximisation alternates

    .. math:: \gamma(s|i) \propto \hat p(x_i|s) \, p(y_i|s) \, p(s), \qquad
              p_e(s) = \frac{\sum_{i: y_i \ne s} \gamma(s|i)}{\sum_i \gamma(s|i)}, \qquad
              p(s) = \frac1n \sum_i \gamma(s|i),

    with k-nearest-neighbour densities :math:`\log \hat p(x_i|s) = \psi(\Gamma(s|i)) - \psi(\Gamma(s)) - \log c_d -
    d \log \epsilon(i|s)` that depend on the memberships themselves. So the objective may fall from one iteration to the
    next. The iteration stops when the objective per row changes by no more than ``tol``, or after ``max_iter`` steps.

    A row without a label has no label likelihood :math:`p(y_i|s)`: its memberships come from the densities and the
    priors. Soft labels (2-D ``y``) are kept as they are, and only rows of NaN are estimated.

    The memberships are good enough to improve a selection, but they do not detect wrong labels reliably. With large
    ``n_neighbors`` a large class can absorb a small one.

    Parameters
    ----------
    X : array-like (n, d)
        The features, used as they are: they are not scaled, and no noise is added to break ties.
    y : array-like (n,) or (n, classes)
        Labels, some of them wrong or missing; or memberships, with rows of NaN.
    n_neighbors : int, default=3
        Number of neighbours k for the densities.
    include_self : bool, default=False
        Whether a row counts as one of its own neighbours, as the paper says below its equation 16.
    noise : {"uniform", "matrix"}
        "uniform": one error rate for each true class, and a wrong label is any other class alike, as in the paper.
        "matrix": an error rate for each pair of true class and label.
    n_init : int, default=5
        Number of restarts from random error rates in [0, 0.5); the one with the largest objective is kept.
    max_iter : int, default=50
        Maximum number of iterations per restart.
    tol : float, default=1e-3
        A restart has settled when the objective per row changes by no more than this.
    {missing_label}
    {random_state}
    {n_jobs}
    max_rows : int, default=20_000
        Tables with more rows are refused: the method needs 12 bytes per pair of rows.

    Returns
    -------
    NoiseModel
        The memberships, the rates of wrong labels and the likelihood at each iteration.

    References
    ----------
    .. [1] B. Frenay, G. Doquire and M. Verleysen (2014). Estimating mutual information for feature selection in the
       presence of label noise. Computational Statistics and Data Analysis 71, 832-848, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import estimate_memberships
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 60)
    >>> X = rng.normal(size=(120, 2)) + 5 * truth[:, None]
    >>> y = truth.copy()
    >>> y[:6] = 1  # six wrong labels
    >>> model = estimate_memberships(X, y, random_state=0)
    >>> model.error_rates.round(2), model.memberships[:3].round(2).tolist()
    (array([0.09, 0.  ]), [[0.93, 0.07], [0.87, 0.13], [0.96, 0.04]])
    """
    options: dict[str, Any] = {"n_init": n_init, "max_iter": max_iter, "tol": tol, "max_rows": max_rows}
    options |= {"include_self": include_self, "noise": noise}
    check_parameters(_VALID, options)
    problem = read_problem(X, y, missing_label=missing_label)
    return membership_model(problem, n_neighbors=n_neighbors, random_state=random_state, n_jobs=n_jobs, **options)


def membership_model(
    problem: Problem,
    *,
    n_neighbors: int = 3,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    max_rows: int = MAX_ROWS,
    **options: Any,
) -> NoiseModel:
    """The same as :func:`estimate_memberships`, for a problem."""
    supervision, table = problem.supervision, np.ascontiguousarray(problem.table)
    supervision.require_form("hard", "soft", remedy="estimating memberships needs some labels")
    supervision.require_enough()
    n_neighbors = clip_neighbors(n_neighbors, len(table) - 1)
    require_another_row(n_neighbors, options.get("include_self", False))
    check_row_limit(len(table), max_rows)
    distances = SubsetDistances(table, n_threads=resolve_threads(n_jobs))
    distances.start(np.arange(table.shape[1]))
    order = NeighborOrder(len(table))
    order.update(distances)
    rng = random_of(random_state)
    return fit_noise_model(order, supervision, n_neighbors=n_neighbors, random_state=rng, **options)


class NoiseTracker:
    """Estimate the noise model again, on the current distances, at each call, or only ``once``.

    The options are those of :func:`fit_noise_model`; ``random_state`` gives the restarts of all models, one after the
    other.
    """

    def __init__(self, supervision: Supervision, *, once: bool = False, **options: Any) -> None:
        self._supervision, self._once, self._options = supervision, once, options
        self._on_device = DeviceOrder()
        self._memberships: NDArray[np.float64] | None = None

    @cached_property
    def _order(self) -> NeighborOrder:
        return NeighborOrder(self._supervision.n_rows)

    def __call__(self, distances: SubsetDistances | DeviceDistances) -> NDArray[np.float64]:
        """Memberships for the current subset. An empty subset cannot separate classes, so all features are used."""
        if self._memberships is not None and self._once:
            return self._memberships
        is_empty = len(distances.subset) == 0
        if is_empty:
            distances.start(np.arange(distances.n_features))
        self._memberships = self.fit(distances).memberships
        if is_empty:
            distances.start([])
        return self._memberships

    def fit(self, distances: SubsetDistances | DeviceDistances) -> NoiseModel:
        """The noise model on the current distances."""
        order: Any = self._on_device if isinstance(distances, DeviceDistances) else self._order
        order.update(distances)
        return fit_noise_model(order, self._supervision, **self._options)
