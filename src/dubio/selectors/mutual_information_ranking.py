"""Rank features one by one by k-NN mutual information with classes that may be soft, wrong or missing."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dubio.information import univariate_mutual_information
from dubio.information.groups import Groups
from dubio.noise import NoiseModel
from dubio.search import MAX_ROWS, SubsetDistances
from dubio.selectors.base import Count, ScoreSelector
from dubio.selectors.information_problem import CONSTRAINTS, InformationProblem
from dubio.supervision import Supervision
from dubio.table import Matrix


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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS

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
        problem = InformationProblem(self, X, supervision)
        scores = np.full(X.shape[1], -np.inf)
        scores[problem.varying], self.noise_model_ = information_of_each(self, problem)
        return scores


def information_of_each(selector: Any, problem: InformationProblem) -> tuple[NDArray[np.float64], NoiseModel | None]:
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
