"""Selectors by k-NN mutual information with classes that may be soft, wrong or missing."""

from __future__ import annotations

import time
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dubio._kernels.threads import resolve_threads
from dubio.information import InformationCriterion, univariate_mutual_information
from dubio.information.groups import Groups, check_neighbors
from dubio.noise import NoiseModel, NoiseTracker
from dubio.ranking import Ranking, resolve_count
from dubio.search import SearchPath, SearchStep, SubsetDistances, greedy_search
from dubio.search.distances import MAX_ROWS, check_row_limit
from dubio.search.greedy import Direction
from dubio.selectors.base import BaseSelector, Count, ScoreSelector
from dubio.significance.subsets import smallest_sufficient_size
from dubio.supervision import Supervision, require_two_rows_a_class
from dubio.table import Matrix, standardize, varying_columns

_COUNT = [Interval(Integral, 1, None, closed="left")]
_CONSTRAINTS: dict[str, list[Any]] = {
    "label_noise": ["boolean"],
    "n_neighbors": _COUNT,
    "noise_neighbors": _COUNT,
    "n_init": _COUNT,
    "noise_max_iter": _COUNT,
    "noise_tol": [Interval(Real, 0, None, closed="left")],
    "slack": [Interval(Real, 0, 1, closed="left")],
    "jitter": [Interval(Real, 0, None, closed="left")],
    "max_rows": _COUNT,
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


class _Problem:
    """What both selectors work on: the rows that count, scaled and jittered; the features that vary; the labels."""

    def __init__(self, selector: Any, X: Matrix, supervision: Supervision) -> None:
        assert supervision.memberships is not None
        require_two_rows_a_class(supervision)
        X = np.asarray(X, dtype=np.float64)
        if not selector.label_noise:
            X, supervision = _labelled_rows(X, supervision)
        check_neighbors(selector.n_neighbors, len(X))
        self.random_state = check_random_state(selector.random_state)
        self.supervision = supervision
        self.varying = varying_columns(X, supervision.labelled)
        table = standardize(X) if selector.standardize else X
        self.table = _against_ties(table[:, self.varying], supervision, selector.jitter, self.random_state)
        self.n_threads = resolve_threads(selector.n_jobs)
        self.tracker: NoiseTracker | None = None
        in_doubt = supervision.kind == "hard" or supervision.n_labelled < supervision.n_rows
        if selector.label_noise and in_doubt:
            check_neighbors(selector.noise_neighbors, len(X), "noise_neighbors")
            check_row_limit(len(X), selector.max_rows)
            self.tracker = NoiseTracker(
                supervision,
                n_neighbors=selector.noise_neighbors,
                n_init=selector.n_init,
                max_iter=selector.noise_max_iter,
                tol=selector.noise_tol,
                random_state=self.random_state,
                once=getattr(selector, "reestimate", "once") == "once",
            )

    def memberships_of(self, distances: SubsetDistances) -> NDArray[np.float64]:
        """Memberships as given, or estimated on the current subset."""
        assert self.supervision.memberships is not None
        return self.supervision.memberships if self.tracker is None else self.tracker(distances)


def _labelled_rows(X: NDArray[np.float64], supervision: Supervision) -> tuple[NDArray[np.float64], Supervision]:
    assert supervision.memberships is not None
    rows = supervision.labelled
    codes = None if supervision.codes is None else supervision.codes[rows]
    kept = replace(
        supervision,
        n_rows=int(rows.sum()),
        labelled=np.ones(int(rows.sum()), dtype=bool),
        codes=codes,
        memberships=supervision.memberships[rows],
    )
    return X[rows], kept


def _against_ties(
    table: NDArray[np.float64], supervision: Supervision, jitter: float, random_state: np.random.RandomState
) -> NDArray[np.float64]:
    """Add Gaussian noise, drawn for the rows in sorted order: the order they are given in does not matter."""
    if jitter == 0:
        return table
    assert supervision.memberships is not None
    order = np.lexsort((*supervision.memberships.T, *table.T))
    noise = np.empty(table.shape)
    noise[order] = random_state.normal(scale=jitter, size=table.shape)
    return table + noise


class MutualInformationSearch(BaseSelector):
    """Greedy search for the features that together tell most about a class, when labels may be wrong.

    Backward search removes, one at a time, the feature without which the mutual information of the rest with the
    class is largest. With ``label_noise=True`` the labels are taken as noisy copies of the true classes: before each
    step the probability of every true class of every row is estimated (:func:`dubio.estimate_memberships`), and the
    noise-tolerant mutual information of equation 19 is used (LNT-BW, Algorithm 2 of the paper [1]_).
    ``label_noise=False`` is the plain search (BW).

    Soft labels (2-D ``y``) go straight into the noise-tolerant estimator: they say themselves what is uncertain.
    Rows without a label take part with memberships estimated by the noise model; with ``label_noise=False`` they are
    left out.

    The search keeps one n x n array of float64 distances and, with label noise, as many int32 neighbours: 12 bytes a
    pair of rows. For wide tables use ``prescreen``.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, or None for half. "auto": the smallest subset whose mutual information is not significantly
        below the best (:func:`~dubio.significance.smallest_sufficient_size`).
    alpha : float, default=0.05
        With "auto": level of that test.
    label_noise : bool, default=True
        Doubt hard labels.
    direction : {"backward", "forward"}, default="backward"
        Backward starts with all the information there is, which the noise model needs.
    n_neighbors : int, default=8
        k of the mutual information.
    noise_neighbors : int, default=3
        k of the noise model's densities. With more, small classes are swallowed by large ones.
    n_init : int, default=5
        Restarts of the noise model.
    slack : float, default=0.5
        See :func:`dubio.noise_tolerant_mutual_information`.
    jitter : float, default=1e-3
        Standard deviation of the Gaussian noise added (to a copy, for the search only) against ties, in units of a
        standardised feature. Among a few discrete features the jitter decides.
    reestimate : {"step", "once"}, default="step"
        Fit the noise model anew on each subset, or once on all features.
    prescreen : int, optional
        Search only among this many features, the best by their own mutual information
        (:class:`MutualInformationRanking`).
    noise_max_iter, noise_tol
        When a restart of the noise model stops, see :func:`dubio.estimate_memberships`.
    standardize : bool, default=True
        Scale every column to unit variance before distances are taken; the columns handed back are the original.
    missing_label : "auto", None or a value
        What means "unlabelled" besides None and NaN.
    max_rows : int, default=20_000
        More rows are refused before memory is asked for.
    random_state : int, RandomState or None
        Seed of the jitter and of the restarts.
    n_jobs : int, optional
        Threads over rows. The result does not depend on it.
    verbose : int, default=0
        1 prints a line after each step.

    Attributes
    ----------
    subsets_ : dict of int to array
        The features of the subset of each size, as column indices.
    values_ : dict of int to float
        Mutual information (nats) of each of these subsets, as estimated when it was chosen.
    ranking_ : array (n_features,)
        1 = best: the last to be removed, the first to be added. Features left out by ``prescreen`` follow, by their own
        mutual information; constant ones come last and are in no subset.
    noise_model_ : NoiseModel or None
        Memberships, error rates and objectives on the chosen subset; None if nothing was estimated.
    history_ : tuple of SearchStep
        Every step: what was tried and what it was worth. Of a candidate that could not win, the value may be an upper
        bound.
    support_, n_features_
        The features chosen, and how many.

    References
    ----------
    .. [1] B. Frenay, G. Doquire and M. Verleysen (2014). Estimating mutual information for feature selection in the
       presence of label noise. Computational Statistics and Data Analysis 71, 832-848.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import MutualInformationSearch
    >>> from dubio.supervision import flip_labels
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> noisy = flip_labels(y, 0.2, random_state=0)  # every fifth label is wrong
    >>> search = MutualInformationSearch(n_features_to_select=2, random_state=0).fit(X, noisy)
    >>> list(search.get_feature_names_out())
    ['alcohol', 'flavanoids']
    >>> search.subsets_[3], round(search.values_[3], 1)
    (array([ 0,  6, 10]), 0.8)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_CONSTRAINTS,
        "direction": [StrOptions({"backward", "forward"})],
        "reestimate": [StrOptions({"step", "once"})],
        "prescreen": [None, *_COUNT],
    }

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        label_noise: bool = True,
        direction: Direction = "backward",
        n_neighbors: int = 8,
        noise_neighbors: int = 3,
        n_init: int = 5,
        slack: float = 0.5,
        jitter: float = 1e-3,
        reestimate: Literal["step", "once"] = "step",
        prescreen: int | None = None,
        noise_max_iter: int = 50,
        noise_tol: float = 1e-3,
        standardize: bool = True,
        missing_label: Any = "auto",
        max_rows: int = MAX_ROWS,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.label_noise = label_noise
        self.direction = direction
        self.n_neighbors = n_neighbors
        self.noise_neighbors = noise_neighbors
        self.n_init = n_init
        self.slack = slack
        self.jitter = jitter
        self.reestimate = reestimate
        self.prescreen = prescreen
        self.noise_max_iter = noise_max_iter
        self.noise_tol = noise_tol
        self.standardize = standardize
        self.missing_label = missing_label
        self.max_rows = max_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> None:
        d = X.shape[1]
        automatic = isinstance(self.n_features_to_select, str)
        count = 1
        if not automatic:
            count, self.explanation_ = resolve_count(self.n_features_to_select, d)
        if self.prescreen is not None and self.prescreen < count:
            raise ValueError(
                f"prescreen={self.prescreen} features are searched, fewer than the {count} to select: raise prescreen "
                "or give a smaller n_features_to_select."
            )
        problem = _Problem(self, X, supervision)
        searched, order = np.arange(len(problem.varying)), np.empty(0, dtype=np.int64)
        if self.prescreen is not None and self.prescreen < len(searched):
            scores, _ = _univariate(self, problem)
            order = np.argsort(-scores, kind="stable")
            searched, order = np.sort(order[: self.prescreen]), order[self.prescreen :]
        table = problem.table[:, searched]
        columns = problem.varying[searched]

        distances = SubsetDistances(table, n_threads=problem.n_threads, max_rows=self.max_rows)
        criterion = InformationCriterion(
            distances, problem.memberships_of, n_neighbors=self.n_neighbors, slack=self.slack
        )
        progress = _Progress(self.verbose, self.direction, len(searched))
        try:
            path = greedy_search(
                criterion, np.arange(len(searched)), direction=self.direction, on_step=progress.on_step
            )
        except KeyboardInterrupt:
            raise KeyboardInterrupt(progress.interrupted(columns, self._names())) from None

        self.subsets_ = {size: columns[path.subsets[size]] for size in sorted(path.subsets)}
        self.values_ = {size: path.values[size] for size in sorted(path.values)}
        self.history_ = tuple(
            replace(step, feature=int(columns[step.feature]), candidates=columns[step.candidates])
            for step in path.steps
        )
        if automatic:
            count, self.explanation_ = self._sufficient(path, problem, distances)
        constant = np.setdiff1d(np.arange(d), problem.varying)
        best_first = np.concatenate([columns[path.order()], problem.varying[order], constant])
        self.ranking_ = np.empty(d, dtype=np.int64)
        self.ranking_[best_first] = np.arange(1, d + 1)
        self.support_ = self.ranking_ <= count
        self.n_features_ = count
        self.noise_model_ = None
        if problem.tracker is not None:
            distances.start(np.flatnonzero(self.support_[columns]))
            self.noise_model_ = problem.tracker.fit(distances)

    def _sufficient(self, path: SearchPath, problem: _Problem, distances: SubsetDistances) -> tuple[int, str]:
        """The smallest sufficient size; all subsets are compared under the labels as the best of them shows them."""
        best = max(path.values, key=lambda size: (path.values[size], -size))
        distances.start(path.subsets[best])
        memberships = problem.memberships_of(distances)

        def row_values(subset: NDArray[np.int64]) -> NDArray[np.float64]:
            criterion = InformationCriterion(
                distances, lambda _: memberships, n_neighbors=self.n_neighbors, slack=self.slack
            )
            return criterion.row_values(subset)

        return smallest_sufficient_size(path.subsets, path.values, row_values, larger_is_better=True, alpha=self.alpha)

    def to_ranking(self) -> Ranking:
        """The result as a :class:`~dubio.ranking.Ranking`; the score of a feature is the mutual information of the
        subset it completes (``-inf`` outside the search)."""
        check_is_fitted(self)
        scores = np.array([self.values_.get(int(rank), -np.inf) for rank in self.ranking_])
        return Ranking(
            self._names(), scores, False, self.ranking_, self.support_, type(self).__name__, self.explanation_
        )


class MutualInformationRanking(ScoreSelector):
    """Rank features one by one by their mutual information with a class, when labels may be wrong.

    The estimators of :class:`MutualInformationSearch` on single features: it sees any relation of one feature with
    the class, and neither redundancy nor features that only tell something together. On one feature neighbours are
    found by sorting, so wide tables are no trouble. With ``label_noise=True`` the noise model is estimated once, on
    all features together.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float, default=0.05
        With "auto": the share of false discoveries to allow.
    label_noise : bool, default=True
        Doubt hard labels. This keeps 12 bytes a pair of rows; without it nothing of that size is needed.
    n_neighbors, noise_neighbors, n_init, slack, jitter, noise_max_iter, noise_tol, standardize, missing_label, max_rows
        See :class:`MutualInformationSearch`.
    random_state : int, RandomState or None
        Seed of the jitter and of the restarts.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    scores_ : array (n_features,)
        Mutual information in nats, high is good; ``-inf`` for a constant feature.
    noise_model_ : NoiseModel or None
        The noise model on all features; None if nothing was estimated.
    ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import MutualInformationRanking
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> list(MutualInformationRanking(n_features_to_select=2, random_state=0).fit(X, y).get_feature_names_out())
    ['flavanoids', 'od280/od315_of_diluted_wines']
    """

    _lower_is_better = False
    _n_permutations = 200  # each estimates the noise anew
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _CONSTRAINTS

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        label_noise: bool = True,
        n_neighbors: int = 8,
        noise_neighbors: int = 3,
        n_init: int = 5,
        slack: float = 0.5,
        jitter: float = 1e-3,
        noise_max_iter: int = 50,
        noise_tol: float = 1e-3,
        standardize: bool = True,
        missing_label: Any = "auto",
        max_rows: int = MAX_ROWS,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.label_noise = label_noise
        self.n_neighbors = n_neighbors
        self.noise_neighbors = noise_neighbors
        self.n_init = n_init
        self.slack = slack
        self.jitter = jitter
        self.noise_max_iter = noise_max_iter
        self.noise_tol = noise_tol
        self.standardize = standardize
        self.missing_label = missing_label
        self.max_rows = max_rows
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        problem = _Problem(self, X, supervision)
        scores = np.full(X.shape[1], -np.inf)
        scores[problem.varying], self.noise_model_ = _univariate(self, problem)
        return scores


def _univariate(selector: Any, problem: _Problem) -> tuple[NDArray[np.float64], NoiseModel | None]:
    """Mutual information of each varying feature alone, and the noise model on all of them."""
    d = problem.table.shape[1]
    memberships, model = problem.supervision.memberships, None
    if problem.tracker is not None:
        distances = SubsetDistances(problem.table, n_threads=problem.n_threads, max_rows=selector.max_rows)
        distances.start(np.arange(d))
        model = problem.tracker.fit(distances)
        memberships = model.memberships
    assert memberships is not None
    scores = univariate_mutual_information(
        np.ascontiguousarray(problem.table.T),
        np.arange(d),
        Groups(memberships),
        n_neighbors=selector.n_neighbors,
        slack=selector.slack,
        n_threads=problem.n_threads,
    )
    return scores, model


class _Progress:
    """Says how far a search is, and what is known when it is stopped."""

    def __init__(self, verbose: int, direction: Direction, n_features: int) -> None:
        self._verbose = verbose
        self._verb = "removed" if direction == "backward" else "added"
        self._n_steps = n_features - 1 if direction == "backward" else n_features
        self._began = time.perf_counter()
        self._steps: list[SearchStep] = []

    def on_step(self, step: SearchStep, n_steps: int) -> None:
        self._steps.append(step)
        if self._verbose:
            seconds = time.perf_counter() - self._began
            print(
                f"[MutualInformationSearch] step {len(self._steps)} of {n_steps}: {step.size} feature(s), "
                f"mutual information {step.value:.4f}, {seconds:.1f} s",
                flush=True,
            )

    def interrupted(self, columns: NDArray[np.int64], names: NDArray[Any]) -> str:
        moved = ", ".join(str(names[columns[step.feature]]) for step in self._steps)
        return (
            f"MutualInformationSearch was stopped after {len(self._steps)} of {self._n_steps} steps "
            f"({time.perf_counter() - self._began:.0f} s); {self._verb} so far: {moved or 'nothing'}. The selector is "
            "not fitted. To be faster: prescreen=..., reestimate='once', a smaller n_init, n_jobs=-1, or fewer rows."
        )
