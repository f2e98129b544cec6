"""Selectors by how much of the target one feature explains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.scores.dependence import linear_r2, smooth_r2
from dubio.selectors.base import Count, ScoreSelector
from dubio.significance.dependence import linear_pvalues, smooth_pvalues
from dubio.supervision import Supervision
from dubio.supervision.reader import Target
from dubio.table import Matrix


class SmoothR2Score(ScoreSelector):
    """Classes, hard or soft, or numbers: keep the features along which the target varies smoothly.

    See :func:`smooth_r2_score`. Unlabelled rows are left out. With ``n_features_to_select="auto"`` all features share
    one permutation null.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    target : {"auto", "classes", "numbers"}
        What a 1-D y holds.
    missing_label : "auto", None or a value
        What means "unlabelled" in classes besides None and NaN.
    random_state : int, RandomState or None
        For the order of rows with equal values, and for permutations.
    n_jobs : int, optional
        Threads over the features.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_, explanation_, pvalues_, qvalues_
        See :class:`~dubio.selectors.base.ScoreSelector`. High scores are good.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import SmoothR2Score
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 5))
    >>> selector = SmoothR2Score(n_features_to_select="auto").fit(X, X[:, 1] ** 2 - np.abs(X[:, 4]))
    >>> selector.get_support(indices=True)
    array([1, 4])
    """

    _target = "auto"
    _lower_is_better = False
    _scores_are_independent = True

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        target: Target = "auto",
        missing_label: Any = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.target = target
        self.missing_label = missing_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return smooth_r2(X, supervision, random_state=self._seed, n_jobs=self.n_jobs)

    def _pvalues(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return smooth_pvalues(
            X, supervision, scores=self.scores_, alpha=self.alpha, random_state=self._seed, n_jobs=self.n_jobs
        )


class LinearR2Score(ScoreSelector):
    """Classes, hard or soft, or numbers: keep the features that a regression on the target explains best.

    See :func:`linear_r2_score`: squared correlation for numbers, analysis of variance for classes, the like for
    memberships. Unlabelled rows are left out. With ``n_features_to_select="auto"`` the F-test decides.

    Parameters
    ----------
    n_features_to_select, alpha, target, missing_label
        As for :class:`SmoothR2Score`.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_, explanation_, pvalues_, qvalues_
        See :class:`~dubio.selectors.base.ScoreSelector`. High scores are good.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dubio import LinearR2Score
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> list(LinearR2Score(n_features_to_select=2).fit(X, y).get_feature_names_out())
    ['bmi', 's5']
    """

    _target = "auto"
    _lower_is_better = False
    _scores_are_independent = True

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        target: Target = "auto",
        missing_label: Any = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.target = target
        self.missing_label = missing_label

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return linear_r2(X, supervision)[0]

    def _pvalues(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return linear_pvalues(X, supervision)
