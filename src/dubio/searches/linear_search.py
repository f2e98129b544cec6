"""Backward elimination of a ridge regression, from second moments."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dger
from scipy.special import gammaln

from dubio.checks import Interval, StrOptions
from dubio.errors import InputError, NoFeatureStandsOut, counted, warn
from dubio.kernels.threads import one_blas_thread
from dubio.methods.base import Searched, SearchSelector, TakesWeights, Wished
from dubio.methods.from_moments import RunningSelector
from dubio.methods.parameters import estimator
from dubio.moments.running import RunningMoments
from dubio.moments.second_moments import SecondMoments
from dubio.problem import Problem
from dubio.ranking import Answer
from dubio.table.matrix import Columns, feature_sums, nothing_varies
from dubio.target.reader import Target

Floats = NDArray[np.float64]

#: Costs that differ by less than this share of themselves are equal.
SAME = 1e-8
#: Costs that differ by less than this share of the target are equal.
NOTHING = 1e-15
#: The matrix is inverted again once less than this share of the features is left.
_STILL_THERE = 0.8
#: The matrix is inverted again once a value of its diagonal has become smaller by this factor.
_DIGITS = 1e4
#: Rows of the largest matrix that is faster in one thread.
_SMALL = 300


@dataclass(frozen=True)
class Elimination:
    """The features in the order in which they were dropped, and the fit at every size.

    The last one ``dropped`` is the best. ``costs`` is what the fit lost with each of them, in the order of ``dropped``,
    as a share of the target. By size (d + 1): ``values``, the share of the target that is explained, after the penalty;
    ``residuals``, their mean square, as a share of the target; ``freedoms``, the degrees of freedom of the fit.
    """

    dropped: NDArray[np.int64]
    costs: Floats
    values: Floats
    residuals: Floats
    freedoms: Floats


def ridge_elimination(
    C: Floats,
    B: Floats,
    total: float,
    ridge: float,
    starts: NDArray[np.int64] | None = None,
    given: NDArray[np.int64] | None = None,
) -> Elimination:
    r"""Drop, step by step, the feature without which a ridge regression loses least.

    See :class:`LinearSearch` for :math:`A`, :math:`W` and the cost of one column. After each step, :math:`A^{-1}` and
    :math:`W` follow by an update of rank one. A feature with several columns J costs
    :math:`\mathrm{tr}(W_J^T ((A^{-1})_{JJ})^{-1} W_J)`, and its columns are dropped together. If costs are equal, the
    last feature is dropped.

    ``C`` (d, d) holds the correlations of the columns, ``B`` (d, K) the mean products of the standardised columns and
    the centred columns of the target, ``total`` the mean square of the centred target, summed over its columns, and
    ``starts`` the first column of each feature (by default each column is one). Features that are ``given`` are dropped
    after all others. Sizes count features, degrees of freedom columns.
    """
    members = np.split(np.arange(len(C)), np.arange(1, len(C)) if starts is None else starts[1:])
    d = len(members)
    is_given = np.isin(np.arange(d), [] if given is None else given)
    dropped, costs = np.empty(d, dtype=np.int64), np.empty(d)
    values, residuals, freedoms = np.zeros(d + 1), np.ones(d + 1), np.zeros(d + 1)
    left = np.arange(d)
    with one_blas_thread() if len(C) <= _SMALL else nullcontext():
        while len(left):
            columns = np.concatenate([members[feature] for feature in left])
            inverse = _inverse(C[np.ix_(columns, columns)], ridge)
            goal = B[columns]
            W = inverse @ goal
            sizes = np.array([len(members[feature]) for feature in left])
            first = np.cumsum(sizes) - sizes
            alive, kept = np.ones(len(left), dtype=bool), np.ones(len(columns), dtype=bool)
            at_first = inverse.diagonal().copy()
            n_alive = len(left)
            while n_alive:
                diagonal = inverse.diagonal()
                values[n_alive] = value = (W * goal).sum() / total  # dropped rows of W are zero
                residuals[n_alive] = 1.0 - value - ridge * (W**2).sum() / total
                freedoms[n_alive] = np.count_nonzero(kept) - ridge * diagonal[kept].sum()
                if n_alive < _STILL_THERE * len(left) or (at_first > _DIGITS * diagonal)[kept].any():
                    break
                of_columns = np.full(len(columns), np.inf)
                np.divide((W**2).sum(axis=1), diagonal * total, out=of_columns, where=kept)
                cost = of_columns[first]
                for several in np.flatnonzero(alive & (sizes > 1)):
                    own = slice(first[several], first[several] + sizes[several])
                    cost[several] = (W[own] * np.linalg.solve(inverse[own, own], W[own])).sum() / total
                if (alive & ~is_given[left]).any():
                    cost[is_given[left]] = np.inf
                j = int(np.flatnonzero(cost <= cost.min() * (1.0 + SAME) + NOTHING)[-1])
                n_alive -= 1
                dropped[d - 1 - n_alive], costs[d - 1 - n_alive], alive[j] = left[j], cost[j], False
                for c in range(first[j], first[j] + sizes[j]):
                    column, weights = inverse[:, c].copy(), W[c] / inverse[c, c]
                    inverse = dger(-1.0 / column[c], column, column, a=inverse, overwrite_a=True)
                    W -= np.outer(column, weights)
                    inverse[c], inverse[:, c], W[c], kept[c] = 0.0, 0.0, 0.0, False
            left = left[alive]
    return Elimination(dropped, costs, values, np.clip(residuals, 0.0, 1.0), freedoms)


def _inverse(C: Floats, ridge: float) -> Floats:
    """Inverse of ``C + ridge I``, in Fortran order."""
    A = np.asfortranarray(C)
    A[np.diag_indices_from(A)] += ridge
    inverse = np.asfortranarray(cho_solve(cho_factor(A, lower=True, overwrite_a=True), np.eye(len(A), order="F")))
    return np.asfortranarray((inverse + inverse.T) / 2)


def gcv_ridge(C: Floats, B: Floats, total: float, n_rows: float, grid: Floats) -> float:
    """The penalty of the grid with the smallest generalised cross-validation error of the fit on all features.

    See :class:`LinearSearch`. Among penalties that are as good (within a millionth), the largest.
    """
    with one_blas_thread() if len(C) <= _SMALL else nullcontext():
        e, V = np.linalg.eigh(C)
    e = np.maximum(e, 0.0)
    explained = ((V.T @ B) ** 2).sum(axis=1) / total
    sums = e + grid[:, None]
    residual = np.maximum(1.0 - ((e + 2 * grid[:, None]) / sums**2 * explained).sum(axis=1), 0.0)
    freedom = (e / sums).sum(axis=1)
    error = residual / (1.0 - (1.0 + freedom) / n_rows) ** 2
    return float(grid[np.flatnonzero(error <= error.min() * (1 + 1e-6) + 1e-9)[-1]])


#: Penalties tried by cross-validation. Smaller ones are not safe: columns may repeat each other.
_GRID = np.logspace(-6, 2, 33)
#: With fewer rows than this per feature, cross-validation cannot be trusted, and the penalty is max(0.05, d / n).
_ROWS_PER_FEATURE = 5
_FEW_ROWS_RIDGE = 0.05
#: A difference in BIC of 2 is "not worth more than a bare mention" (Kass and Raftery 1995).
_BARE_MENTION = 2.0
#: Residuals below this share of the target are rounding errors.
_NO_RESIDUAL = 1e-12
_NONE = np.zeros(0, dtype=np.int64)


@estimator
class LinearSearch(TakesWeights, RunningSelector, SearchSelector):
    r"""Backward search for the features that a linear fit of the target needs, from sums over rows alone.

    The target is a matrix T of centred columns: one per class (one-hot classes or memberships), or the standardised
    number; of several targets, those of all of them, each with the same sum of squares (a missing cell is 0). The
    columns of X are standardised to Z. A ridge regression on all features is fitted, and the feature without which it
    loses least is dropped, until none is left. The last one ranks first. If features lose equally little, the last
    column is dropped. The criterion of a subset S is the share of the target that the fit explains, after the penalty
    (high is good, at most 1):

    .. math:: R^2_S = 1 - \min_W \frac{\|T - Z_S W\|^2 / n + \lambda \|W\|^2}{\|T\|^2 / n}
              = \frac{\mathrm{tr}(B_S^T A_S^{-1} B_S)}{\|T\|^2 / n}

    with :math:`A = Z^T Z / n + \lambda I` and :math:`B = Z^T T / n`. Without feature j it is smaller by exactly
    :math:`\|w_j\|^2 / (A^{-1})_{jj}`, with :math:`W = A^{-1} B`, in units of the target [1]_. So one pass over the
    rows is enough, and features that repeat others are dropped early. Relations that are not linear, such as a product
    of two features, are not seen: use :class:`NeighborSearch` for those.

    Rows without a label are left out. ``partial_fit`` takes the table in blocks, ``merge`` joins two selectors, and
    ``fit`` takes sparse tables, Dask arrays and dataframes. Each ``partial_fit`` searches again, which takes time in
    proportion to the cube of the number of features; :func:`~dubio.streams.stream.fit_stream` searches once.

    Parameters
    ----------
    n_features_to_select : int, float, "auto", "relevant", "sufficient" or None
        A count, a share, or None for half. "relevant" and "sufficient" test the features of a table in memory
        (:func:`~dubio.evidence.relevance.relevance_of`). "auto" needs only sums: the smallest subset whose BIC is at
        most 2 above the smallest BIC of all subsets on the path. With residual sum of squares RSS, df degrees of
        freedom and q independent columns of the target, it is the extended criterion [3]_

        .. math:: BIC_S = q\,(n \log RSS_S + df_S \log n) + 2 \log \binom{d}{|S|}.

        If no subset is better than no features at all, one feature is kept, with a warning.
    ridge : float or "auto"
        The penalty :math:`\lambda`. "auto": the one with the smallest generalised cross-validation error [2]_ of the
        fit on all features,

        .. math:: GCV(\lambda) = \frac{\|T - Z W_\lambda\|^2 / n}{(1 - (1 + df_\lambda) / n)^2},\qquad
                  df_\lambda = \sum_i \frac{e_i}{e_i + \lambda},

        among 33 values from 1e-6 to 100, with the eigenvalues :math:`e_i` of :math:`Z^T Z / n`. With fewer than five
        rows per feature, it is :math:`\max(0.05, d / n)` instead. n is the number of labelled rows with a weight above
        0: a row is one observation, whatever its weight.
    {target}
        If the table comes in blocks, the first labelled block decides.

    Attributes
    ----------
    ridge_ : float
        The penalty used.

    Notes
    -----
    Assumes that the target is a weighted sum of the features. Do not use it for products of features, or for
    relations that rise and fall again.

    References
    ----------
    .. [1] B. Hassibi and D. G. Stork (1993). Second order derivatives for network pruning: optimal brain surgeon. NIPS
       5, 164-171. (The cost of a removal.)
    .. [2] G. H. Golub, M. Heath and G. Wahba (1979). Generalized cross-validation as a method for choosing a good ridge
       parameter. Technometrics 21, 215-223.
    .. [3] J. Chen and Z. Chen (2008). Extended Bayesian information criteria for model selection with large model
       spaces. Biometrika 95, 759-771.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import LinearSearch
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> search = LinearSearch(n_features_to_select=3).fit(X, y)
    >>> sorted(search.get_feature_names_out())
    ['color_intensity', 'flavanoids', 'proline']
    >>> round(search.values_[3], 2), round(search.values_[13], 2)
    (0.73, 0.83)
    """

    _tested = ("relevant", "sufficient")
    _name = "linear_search"
    _takes_given = True
    _does = "subsets that a linear fit of the target needs, from sums over rows"
    _takes = ("hard", "soft", "numbers", "several")
    _criterion = "share of the target that a ridge regression explains (high is good)"
    _moments = SecondMoments
    _finds_count = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ridge": [StrOptions({"auto"}), Interval(Real, 1e-8, None, closed="left")],
    }

    ridge: float | Literal["auto"] = "auto"
    target: Target = "auto"
    missing_label: Any = "auto"

    def _search(self, problem: Problem, count: int | None) -> Searched:
        moments, target = SecondMoments.of_problem(problem), problem.supervision
        wide = problem.columns if problem.has_wide_features else None
        running = RunningMoments(type(target), target.column_names(), moments, target.n_rows, target.n_labelled)
        self._require_running(running)
        found = self._search_running(running, count, wide, problem.given_features)
        if target.targets or problem.given is not None:  # no other block of rows may follow
            found.attributes["_running"] = None
        return found

    def _solve_running(self, running: RunningMoments[Any], names: NDArray[Any], wished: Wished) -> Answer:
        return self._answer(self._search_running(running, wished[0]), names, wished)

    def _is_ready(self, running: RunningMoments[Any]) -> bool:
        moments: SecondMoments = running.moments
        varies = moments.squares.any() and (moments.products.diagonal() > 0).any()
        return bool(running.independent_columns > 0 and varies)

    def _require_running(self, running: RunningMoments[Any]) -> None:
        moments: SecondMoments = running.moments
        if running.independent_columns < 1:
            running.require_two_classes()
        if not moments.squares.any():
            wrong = f"has the same value in all {counted(running.n_labelled, 'labelled row')}"
            raise InputError("y", wrong, "such a target says nothing about the features")
        if not (moments.products.diagonal() > 0).any():
            raise nothing_varies(len(moments.origin), running.n_labelled)

    def _search_running(
        self,
        running: RunningMoments[Any],
        count: int | None,
        wide: Columns | None = None,
        given: NDArray[np.int64] = _NONE,
    ) -> Searched:
        moments: SecondMoments = running.moments
        n, weight = moments.n_counted, moments.weight
        spread = np.sqrt(feature_sums(moments.products.diagonal(), wide))  # of each feature
        varying = np.flatnonzero(spread > 0)
        used = varying if wide is None else wide.of_all(varying)
        scale = spread[used if wide is None else wide.feature_of[used]]
        C = moments.products[np.ix_(used, used)] / scale / scale[:, None]
        B = moments.cross[used] / scale[:, None] / np.sqrt(weight)
        total = float(moments.squares.sum()) / weight
        if not isinstance(self.ridge, str):
            ridge = float(self.ridge)
        else:
            few = n < _ROWS_PER_FEATURE * len(C)
            ridge = max(_FEW_ROWS_RIDGE, len(C) / n) if few else gcv_ridge(C, B, total, n, _GRID)
        starts, held = None if wide is None else wide.only(varying).starts, np.isin(varying, given)
        path = ridge_elimination(C, B, total, ridge, starts, np.flatnonzero(held))
        best_first, least = varying[path.dropped[::-1]], max(1, int(held.sum()))
        scores = np.zeros(len(spread))
        scores[varying[path.dropped]] = path.costs
        sizes = range(least, len(varying) + 1)
        others = np.concatenate([best_first, np.flatnonzero(spread == 0)])
        return Searched(
            {size: best_first[:size] for size in sizes},
            {size: float(path.values[size]) for size in sizes},
            np.concatenate([given, others[~np.isin(others, given)]]),
            scores,
            _sufficient_size(path, n, running.independent_columns, least) if count is None else None,
            attributes={"ridge_": ridge, "_running": running if wide is None else None},
        )


def _sufficient_size(path: Elimination, n: int, n_columns: int, least: int = 1) -> tuple[int, str]:
    """The smallest size, from ``least`` on, whose BIC is about the best, and why; see :class:`LinearSearch`."""
    d = len(path.dropped)
    sizes = np.arange(d + 1)
    fit = n * np.log(np.maximum(path.residuals, _NO_RESIDUAL)) + path.freedoms * np.log(n)
    choices = gammaln(d + 1) - gammaln(sizes + 1) - gammaln(d - sizes + 1)
    bic = n_columns * fit + 2.0 * choices
    best = int(np.argmin(bic[least:])) + least
    if bic[best] >= bic[0]:
        text = f"no subset has a better BIC ({bic[best]:.4g}) than no features at all ({bic[0]:.4g})"
        warn(NoFeatureStandsOut.because(text))
        return least, f"no feature stands out: {text}; one is kept so that the selection is not empty"
    size = int(np.flatnonzero(bic[least:] <= bic[best] + _BARE_MENTION)[0]) + least
    why = f"the smallest BIC of all subsets of the search ({bic[size]:.4g})"
    if size != best:
        as_good = f"about as good as the best ({bic[best]:.4g}, {best} features)"
        why = f"the smallest subset whose BIC ({bic[size]:.4g}) is {as_good}"
    return size, f"{counted(size, 'feature')}: {why}"
