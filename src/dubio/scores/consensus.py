"""Rankings from rankings: the mean rank of several scores, and an order that puts features that repeat others last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from dubio.checks import AT_LEAST_ONE, NOT_NEGATIVE, StrOptions, check_parameters
from dubio.errors import InputError, counted
from dubio.evidence.evidence import Evidence
from dubio.evidence.relations import relation_pvalues
from dubio.methods.base import ScoreSelector
from dubio.methods.parameters import estimator
from dubio.methods.register import get_method
from dubio.problem import Problem
from dubio.ranking import Scored, rank_in_order
from dubio.table.matrix import read_matrix
from dubio.target.knowledge import nothing
from dubio.target.reader import Target

#: Scores that take weights of rows.
FOR_WEIGHTS = ("smooth_r2", "linear_r2")


def mean_rank(scores: Sequence[ArrayLike], *, lower_is_better: Sequence[bool]) -> NDArray[np.float64]:
    """Mean rank of each feature over several scores, 1 = best (low is good); equal scores share their mean rank.

    ``lower_is_better`` is the direction of each score. Scores that differ by less than 1e-10 of the largest one (or of
    0.001, if that is more) are equal: such a difference is rounding.

    Examples
    --------
    >>> from dubio.scores.consensus import mean_rank
    >>> mean_rank([[0.1, 0.9, 0.5], [3.0, 1.0, 1.0]], lower_is_better=[True, False])
    array([1.  , 2.75, 2.25])
    """
    columns = [np.asarray(s, dtype=np.float64) for s in scores]
    if not columns or len(columns) != len(lower_is_better):
        wrong = f"has {counted(len(lower_is_better), 'direction')} for {counted(len(columns), 'score')}"
        raise InputError("lower_is_better", wrong, "give at least one score, and one direction per score")
    lengths = {len(c) for c in columns}
    if len(lengths) > 1:
        raise InputError("scores", f"have different lengths, {sorted(lengths)}", "they must be for the same features")
    for position, column in enumerate(columns):
        if np.isnan(column).any():
            wrong = f"[{position}] contains NaN in {counted(int(np.isnan(column).sum()), 'place')}"
            raise InputError("scores", wrong, "give every feature a number")
    largest = [np.abs(column[np.isfinite(column)]).max(initial=1e-3) for column in columns]
    signs = [1 if low else -1 for low in lower_is_better]
    ranks = [rankdata(np.round(s * c / most, 10)) for c, s, most in zip(columns, signs, largest, strict=True)]
    return np.asarray(np.mean(ranks, axis=0))


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

    Attributes
    ----------
        Scores are mean ranks; low is good.
    parts_ : dict of arrays
        The raw scores that were combined, by name.

    Notes
    -----
    This method has no paper: it was found here, by trials that the guide's page on choosing a method tells. Assumes
    that each of the scores sees a part of the relation, on any scale. Do not use it if features repeat each other,
    or matter only together: like every ranking of single features, it sees neither. Use a search for those.

    References
    ----------
    .. [1] C. Dwork, R. Kumar, M. Naor and D. Sivakumar (2001). Rank aggregation methods for the web. WWW, 613-622.
       (Mean ranks, there Borda's method.)

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
    _tests_any_weights = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"methods": [StrOptions({"auto"}), "array-like"]}

    methods: Literal["auto"] | Sequence[str] = "auto"
    target: Target = "auto"
    missing_label: Any = "auto"
    random_state: Any = 0
    n_jobs: int | None = None

    def _score(self, problem: Problem) -> Scored:
        problem = problem.with_supervision(problem.supervision.certain())
        weighted, names = problem.uneven_weights is not None, self.methods
        if isinstance(names, str):
            names = FOR_WEIGHTS if weighted else problem.supervision.usual_scores
        elif np.ndim(names) == 0:
            raise InputError("methods", f"={names!r}, which is no list", "give names, such as ['fisher', 'relieff']")
        scorers = {}
        for name in names:
            method = get_method(name)
            if not issubclass(method.estimator, ScoreSelector) or method.estimator is MeanRankScore:
                raise InputError("methods", f"holds {name!r}, which does not score single features", "choose rankings")
            method.require(problem.supervision)
            if weighted:
                method.require_weights()
            scorers[name] = method.make(random_state=self._seed, n_jobs=self.n_jobs)
        parts = {name: scorer._score(problem).scores for name, scorer in scorers.items()}
        directions = [scorer._lower_is_better for scorer in scorers.values()]
        return Scored(mean_rank(list(parts.values()), lower_is_better=directions), attributes={"parts_": parts})

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        options: dict[str, Any] = {"alpha": self.alpha, "random_state": self._seed, "n_jobs": self.n_jobs}
        return relation_pvalues(Evidence.of(problem), **options).pvalues


def redundancy_ranking(X: ArrayLike, ranking: ArrayLike, *, weight: float = 1.0, n_top: int = 200) -> NDArray[np.int64]:
    r"""Greedy re-ranking that penalises a feature correlated with one already chosen (after mRMR [1]_).

    The relevance is :math:`v_r = 1 - (\mathrm{rank}_r - 1)/(d - 1)`, which exists for any score. The next feature is
    the one with the largest

    .. math:: v_r - w \max_{s \text{ chosen}} |\mathrm{corr}(f_r, f_s)| .

    mRMR uses the mean over the chosen features instead of the maximum. A copy of one of them would then be chosen as
    soon as enough other features are chosen.

    Parameters
    ----------
    X : array-like (n, d)
        The table, on any scale.
    ranking : array-like (d,)
        1 = best, as in the result.
    weight : float
        The w of the formula; 0 leaves the ranking as it is.
    n_top : int
        Number of features chosen in this way; the others follow in their old order.

    References
    ----------
    .. [1] C. Ding and H. Peng (2005). Minimum redundancy feature selection from microarray gene expression data.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.scores.consensus import redundancy_ranking
    >>> a, b = np.random.default_rng(0).normal(size=(2, 100))
    >>> redundancy_ranking(np.column_stack([a, a + 0.01 * b, b]), [1, 2, 3])  # the copy goes last
    array([1, 3, 2])
    """
    matrix = read_matrix(X)
    return rank_without_repeats(Problem(matrix, nothing(matrix.shape[0])), ranking, weight=weight, n_top=n_top)


def rank_without_repeats(
    problem: Problem, ranking: ArrayLike, *, weight: float = 1.0, n_top: int = 200, n_movable: int | None = None
) -> NDArray[np.int64]:
    """:func:`redundancy_ranking` of a problem; only the first ``n_movable`` features change places."""
    check_parameters({"weight": NOT_NEGATIVE, "n_top": AT_LEAST_ONE}, {"weight": weight, "n_top": n_top})
    d = problem.n_features
    try:
        given = np.asarray(ranking, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("ranking", "does not hold numbers", "give one rank per feature, 1 = best") from error
    if given.shape != (d,):
        wrong = f"has shape {given.shape}, but the table has {counted(d, 'feature')}"
        raise InputError("ranking", wrong, "give one rank per feature")
    if sorted(given.tolist()) != list(range(1, d + 1)):
        wrong = "does not hold each rank from 1 to the number of features once"
        raise InputError("ranking", wrong, "give a ranking, 1 = best")
    ranks = given.astype(np.int64)
    unit = problem.standardized_table / np.sqrt(problem.n_rows)
    relevance = 1.0 - (ranks - 1) / max(d - 1, 1)
    likeness = np.zeros(d)
    left = np.ones(d, dtype=bool) if n_movable is None else ranks <= n_movable
    chosen: list[int] = []
    for _ in range(min(n_top, int(left.sum()))):
        value = relevance - weight * likeness
        value[~left] = -np.inf
        best = int(np.lexsort((ranks, -value))[0])  # ties go to the better rank
        chosen.append(best)
        left[best] = False
        likeness = np.maximum(likeness, _likeness(problem, unit, best))
    rest = np.setdiff1d(np.arange(d), chosen)
    return rank_in_order(np.concatenate([np.asarray(chosen, dtype=np.int64), rest[np.argsort(ranks[rest])]]))


def _likeness(problem: Problem, unit: NDArray[np.float64], feature: int) -> NDArray[np.float64]:
    r"""How much every feature resembles one: the absolute correlation.

    For several columns A and B, :math:`\sqrt{\|A^T B\|^2 / (\|A^T A\| \|B^T B\|)}`, the root of the RV coefficient.
    """
    if not problem.has_wide_features:
        return np.abs(unit.T @ unit[:, feature])
    assert problem.columns is not None
    own = unit[:, problem.columns.of(feature)]
    shared = problem.per_feature(((unit.T @ own) ** 2).sum(axis=1))
    parts = (unit[:, problem.columns.of(j)] for j in range(problem.n_features))
    lengths = problem.once("lengths of features", lambda: np.array([np.linalg.norm(part.T @ part) for part in parts]))
    scale = lengths * lengths[feature]
    return np.sqrt(np.divide(shared, scale, out=np.zeros_like(shared), where=scale > 0))


def likenesses(problem: Problem) -> NDArray[np.float64]:
    """(n_features, n_features): how much features resemble each other; correlations where both have one column."""
    unit = problem.standardized_table / np.sqrt(problem.n_rows)
    alike = np.array([_likeness(problem, unit, j) for j in range(problem.n_features)])
    if problem.columns is not None:
        single = problem.columns.starts[problem.columns.sizes == 1]
        places = np.flatnonzero(problem.columns.sizes == 1)
        alike[np.ix_(places, places)] = unit[:, single].T @ unit[:, single]
    return alike
