"""Rank again, so that a feature that resembles a chosen one comes later."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.checks import AT_LEAST_ONE, NOT_NEGATIVE, check_parameters
from dubio.errors import InputError, counted
from dubio.problem import Problem
from dubio.table.matrix import read_matrix
from dubio.target.knowledge import nothing


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
        1 = best.
    weight : float
        The w of the formula; 0 leaves the ranking as it is.
    n_top : int
        Number of features chosen in this way; the others follow in their old order.

    Returns
    -------
    ranking : array (d,)
        The new one; 1 = best.

    References
    ----------
    .. [1] C. Ding and H. Peng (2005). Minimum redundancy feature selection from microarray gene expression data.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import redundancy_ranking
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
    if given.shape == (d,) and sorted(given.tolist()) != list(range(1, d + 1)):
        raise InputError(
            "ranking", "does not hold each rank from 1 to the number of features once", "give a ranking, 1 = best"
        )
    ranks = given.astype(np.int64) if np.isfinite(given).all() else np.zeros(0, dtype=np.int64)
    if ranks.shape != (d,):
        raise InputError(
            "ranking",
            f"has shape {ranks.shape}, but the table has {counted(d, 'feature')}",
            "give one rank per feature",
        )
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
    order = np.concatenate([np.asarray(chosen, dtype=np.int64), rest[np.argsort(ranks[rest], kind="stable")]])
    result = np.empty(d, dtype=np.int64)
    result[order] = np.arange(1, d + 1)
    return result


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
