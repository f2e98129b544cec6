"""The consensus of several scores: the mean of the ranks that they give to a feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from dubio.checks import StrOptions
from dubio.errors import InputError, counted
from dubio.evidence.evidence import Evidence
from dubio.evidence.relations import relation_pvalues
from dubio.methods.base import ScoreSelector
from dubio.methods.parameters import estimator
from dubio.methods.register import get_method
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.target.reader import Target

#: Scores that did best in combination; see the page on choosing a method.
FOR_CLASSES = ("smooth_r2", "relieff")
FOR_MEMBERSHIPS = ("smooth_r2", "soft_relief")
FOR_NUMBERS = ("linear_r2", "supervised_laplacian")
#: Scores that take weights of rows.
FOR_WEIGHTS = ("smooth_r2", "linear_r2")


def mean_rank(scores: Sequence[ArrayLike], *, lower_is_better: Sequence[bool]) -> NDArray[np.float64]:
    """Mean rank of each feature over several scores, 1 = best (low is good); equal scores share their mean rank.

    Scores that differ by less than 1e-10 of the largest one (or of 0.001, if that is more) are equal: such a difference
    is rounding.

    Parameters
    ----------
    scores : sequence of arrays (d,)
    lower_is_better : sequence of bool
        The direction of each score.

    Returns
    -------
    ranks : array (d,)

    Examples
    --------
    >>> from dubio.scores.consensus import mean_rank
    >>> mean_rank([[0.1, 0.9, 0.5], [3.0, 1.0, 1.0]], lower_is_better=[True, False])
    array([1.  , 2.75, 2.25])
    """
    columns = [np.asarray(s, dtype=np.float64) for s in scores]
    if not columns or len(columns) != len(lower_is_better):
        raise InputError(
            "lower_is_better",
            f"has {counted(len(lower_is_better), 'direction')} for {counted(len(columns), 'score')}",
            "give at least one score, and one direction per score",
        )
    lengths = {len(c) for c in columns}
    if len(lengths) > 1:
        raise InputError("scores", f"have different lengths, {sorted(lengths)}", "they must be for the same features")
    for position, column in enumerate(columns):
        if np.isnan(column).any():
            raise InputError(
                "scores",
                f"[{position}] contains NaN in {counted(int(np.isnan(column).sum()), 'place')}",
                "give every feature a number",
            )
    ranks = [rankdata(_rounded(c if low else -c)) for c, low in zip(columns, lower_is_better, strict=True)]
    return np.asarray(np.mean(ranks, axis=0))


def _rounded(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = np.abs(scores[np.isfinite(scores)]).max(initial=1e-3)
    return np.asarray(np.round(scores / largest, 10))


@estimator
class MeanRankScore(ScoreSelector):
    """Classes, hard or soft, or numbers: the mean of the ranks that several scores give to a feature.

    In our trials it was better than each of the scores it combines. With ``n_features_to_select="auto"``, features are
    tested for a linear or smooth relation to the target (:func:`~dubio.evidence.relations.relation_pvalues`).

    Parameters
    ----------
    methods : "auto" or sequence of str
        Names of scores (``dubio.METHODS``) that take this target. "auto": smooth R2 and ReliefF for classes, smooth R2
        and soft Relief for class probabilities, correlation and supervised Laplacian score for numbers. If rows have
        different weights: smooth and linear R2.
    {n_features_to_select}
    {alpha}
    {target}
    {missing_label}
    {random_state}
    {n_jobs}

    Attributes
    ----------
    {scores}
        Scores are mean ranks; low is good.
    parts_ : dict of arrays
        The raw scores that were combined, by name.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import MeanRankScore
    >>> X, y = load_iris(return_X_y=True)
    >>> MeanRankScore().fit(X, y).scores_
    array([3. , 4. , 1.5, 1.5])
    """

    _name = "mean_rank"
    _takes_weights = True
    _does = "consensus: the mean rank of two scores"
    _takes = ("hard", "soft", "numbers")
    _target = "auto"
    _tests_within_groups = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"methods": [StrOptions({"auto"}), "array-like"]}

    methods: Literal["auto"] | Sequence[str] = "auto"
    target: Target = "auto"
    missing_label: Any = "auto"
    random_state: Any = 0
    n_jobs: int | None = None

    def _score(self, problem: Problem) -> Scored:
        problem = problem.with_supervision(problem.supervision.certain())
        kind = problem.supervision.kind
        names = self.methods
        if isinstance(names, str):
            names = {"numbers": FOR_NUMBERS, "hard": FOR_CLASSES}.get(kind, FOR_MEMBERSHIPS)
            names = names if problem.uneven_weights is None else FOR_WEIGHTS
        elif np.ndim(names) == 0:
            raise InputError("methods", f"={names!r}, which is no list", "give names, such as ['fisher', 'relieff']")
        scorers = []
        for name in names:
            method = get_method(name)
            if not issubclass(method.estimator, ScoreSelector) or method.estimator is MeanRankScore:
                raise InputError("methods", f"holds {name!r}, which does not score single features", "choose rankings")
            method.require(problem.supervision)
            if problem.uneven_weights is not None:
                method.require_weights()
            scorers.append(method.make(random_state=self._seed, n_jobs=self.n_jobs))
        parts = {name: scorer._score(problem).scores for name, scorer in zip(names, scorers, strict=True)}
        scores = mean_rank(list(parts.values()), lower_is_better=[scorer._lower_is_better for scorer in scorers])
        return Scored(scores, attributes={"parts_": parts})

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        options: dict[str, Any] = {"alpha": self.alpha, "random_state": self._seed, "n_jobs": self.n_jobs}
        return relation_pvalues(Evidence.of(problem), **options).pvalues
