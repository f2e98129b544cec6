"""Selectors of the Relief family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dubio.scores.relief import (
    relief_neighbors,
    relieff,
    relieff_from_order,
    scale_to_range,
    soft_relief,
    soft_relief_from_neighbors,
    sorted_rows,
)
from dubio.selectors.base import AT_LEAST_ONE, Count, ScoreSelector
from dubio.significance.permutation import OrderNull, permutation_pvalues
from dubio.supervision import Supervision
from dubio.table import Matrix

#: Rows of which the test of ReliefF sorts all pairs.
MAX_TESTED_ROWS = 2000


class SoftReliefScore(ScoreSelector):
    """Classes, hard or soft: keep the features that tell a row from its unlike neighbours.

    See :func:`soft_relief_score`. Features are scaled to their range inside; unlabelled rows are left out.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    n_neighbors : int
        k; four times as many neighbours are looked at.
    missing_label : "auto", None or a value
        What means "unlabelled" in hard labels besides None and NaN.
    random_state : int, RandomState or None
        For the permutations of "auto".
    n_jobs : int, optional
        Threads over the rows.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_, explanation_, pvalues_, qvalues_
        See :class:`~dubio.selectors.base.ScoreSelector`. High scores are good.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import SoftReliefScore
    >>> from dubio.supervision import unsure_expert
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> doubtful = unsure_expert(y, mean=0.3, random_state=0).memberships
    >>> list(SoftReliefScore(n_features_to_select=2).fit(X, doubtful).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _lower_is_better = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_neighbors": AT_LEAST_ONE}

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        n_neighbors: int = 10,
        missing_label: Any = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.missing_label = missing_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return soft_relief(X, supervision, n_neighbors=self.n_neighbors, n_jobs=self.n_jobs)

    def _pvalues(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        table, _ = scale_to_range(X, supervision)
        assert supervision.memberships is not None
        P = supervision.memberships[supervision.labelled]
        neighbors = relief_neighbors(table, self.n_neighbors, self.n_jobs)

        def score(order: NDArray[np.int64]) -> NDArray[np.float64]:
            return soft_relief_from_neighbors(table, P[order], neighbors)

        return self._shuffle_rows(table, score)

    def _shuffle_rows(
        self, table: NDArray[np.float64], score: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """p-values from a score of shuffled labels that finds no neighbours anew: they do not depend on labels."""
        scores = score(np.arange(len(table)))
        scores[np.isneginf(self.scores_)] = -np.inf
        null = OrderNull(score, table, scores, lower_is_better=False)
        return permutation_pvalues(null, alpha=self.alpha, random_state=self._seed, n_jobs=self.n_jobs)


class ReliefFScore(SoftReliefScore):
    """Hard classes, also few of them: keep the features that tell a row from the nearest rows of other classes.

    See :func:`relieff_score`. Parameters and attributes as for :class:`SoftReliefScore`, with ``n_neighbors`` rows of
    each class; unlabelled rows are left out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import ReliefFScore
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> y = y.where(y.index % 5 == 0)  # four of five labels lost
    >>> list(ReliefFScore(n_features_to_select=2).fit(X, y).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _takes_soft = False

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return relieff(X, supervision, n_neighbors=self.n_neighbors, n_jobs=self.n_jobs)

    def _pvalues(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        table, _ = scale_to_range(X, supervision)
        assert supervision.codes is not None
        codes = supervision.codes[supervision.labelled]
        if len(table) > MAX_TESTED_ROWS:  # all rows are sorted for each row: a sample of a long table is tested
            rows = np.random.default_rng([self._seed, 5]).permutation(len(table))[:MAX_TESTED_ROWS]
            table, codes = table[rows], codes[rows]
        neighbors = sorted_rows(table, self.n_jobs)

        def score(order: NDArray[np.int64]) -> NDArray[np.float64]:
            return relieff_from_order(table, codes[order], neighbors, self.n_neighbors)

        return self._shuffle_rows(table, score)
