"""Search by k-NN mutual information with classes that may be soft, wrong or missing."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from dubio.information import InformationCriterion
from dubio.ranking import Ranking, rank_in_order, resolve_count
from dubio.search import MAX_ROWS, SearchPath, SearchStep, SubsetDistances, greedy_search
from dubio.search.greedy import Direction
from dubio.selectors.base import AT_LEAST_ONE, BaseSelector, Count
from dubio.selectors.information_problem import CONSTRAINTS, InformationProblem
from dubio.selectors.mutual_information_ranking import information_of_each
from dubio.significance.subsets import smallest_sufficient_size
from dubio.supervision import Supervision
from dubio.table import Matrix


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
        **CONSTRAINTS,
        "direction": [StrOptions({"backward", "forward"})],
        "reestimate": [StrOptions({"step", "once"})],
        "prescreen": [None, *AT_LEAST_ONE],
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
        problem = InformationProblem(self, X, supervision)
        searched, order = np.arange(len(problem.varying)), np.empty(0, dtype=np.int64)
        if self.prescreen is not None and self.prescreen < len(searched):
            scores, _ = information_of_each(self, problem)
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
        self.ranking_ = rank_in_order(np.concatenate([columns[path.order()], problem.varying[order], constant]))
        self.support_ = self.ranking_ <= count
        self.n_features_ = count
        self.noise_model_ = None
        if problem.tracker is not None:
            distances.start(np.flatnonzero(self.support_[columns]))
            self.noise_model_ = problem.tracker.fit(distances)

    def _sufficient(self, path: SearchPath, problem: InformationProblem, distances: SubsetDistances) -> tuple[int, str]:
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
