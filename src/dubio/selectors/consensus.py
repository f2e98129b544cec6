"""The consensus of several scores as one selector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from dubio.scores.consensus import mean_rank
from dubio.selectors.base import Count, ScoreSelector
from dubio.selectors.register import get_method
from dubio.significance.dependence import relation_pvalues
from dubio.supervision import Supervision
from dubio.supervision.reader import Target
from dubio.table import Matrix

#: Scores that did best together: see the page on choosing a method.
FOR_CLASSES = ("smooth_r2", "relieff")
FOR_MEMBERSHIPS = ("smooth_r2", "soft_relief")
FOR_NUMBERS = ("linear_r2", "supervised_laplacian")


class MeanRankScore(ScoreSelector):
    """Classes, hard or soft, or numbers: the mean of the ranks that several scores give a feature.

    In our trials it beat each of its parts. With ``n_features_to_select="auto"`` features are tested for a linear or
    smooth relation to the target (:func:`~dubio.significance.relation_pvalues`).

    Parameters
    ----------
    methods : "auto" or sequence of str
        Names of scores (``dubio.METHODS``) that take this target. "auto": smooth R2 with ReliefF for classes
        and with soft Relief for class probabilities, correlation and supervised Laplacian score for numbers.
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    target : {"auto", "classes", "numbers"}
        What a 1-D y holds.
    missing_label : "auto", None or a value
        What means "unlabelled" in classes besides None and NaN.
    random_state : int, RandomState or None
        For ties and permutations.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    scores_ : array (n_features,)
        Mean ranks; low is good.
    parts_ : dict of arrays
        The raw scores by name.
    ranking_, support_, n_features_, explanation_, pvalues_, qvalues_
        See :class:`~dubio.selectors.base.ScoreSelector`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import MeanRankScore
    >>> X, y = load_iris(return_X_y=True)
    >>> MeanRankScore().fit(X, y).scores_
    array([3. , 4. , 1.5, 1.5])
    """

    _target = "auto"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"methods": [StrOptions({"auto"}), "array-like"]}

    def __init__(
        self,
        *,
        methods: Literal["auto"] | Sequence[str] = "auto",
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        target: Target = "auto",
        missing_label: Any = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.methods = methods
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.target = target
        self.missing_label = missing_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        supervision = supervision.certain_as_hard()
        names = self.methods
        if isinstance(names, str):
            names = {"numbers": FOR_NUMBERS, "hard": FOR_CLASSES}.get(supervision.kind, FOR_MEMBERSHIPS)
        scorers = []
        for name in names:
            method = get_method(name)
            if not issubclass(method.estimator, ScoreSelector) or method.estimator is MeanRankScore:
                raise ValueError(f"methods: {name!r} gives no score of single features; choose among the rankers.")
            method.require(supervision)
            scorers.append(method.make(random_state=self._seed, n_jobs=self.n_jobs))
        self.parts_ = {name: scorer._score(X, supervision, None) for name, scorer in zip(names, scorers, strict=True)}
        return mean_rank(list(self.parts_.values()), lower_is_better=[s._lower_is_better for s in scorers])

    def _pvalues(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        tests = relation_pvalues(X, supervision, alpha=self.alpha, random_state=self._seed, n_jobs=self.n_jobs)
        return tests.pvalues
