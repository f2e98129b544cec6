r"""What is left of columns and of the target once given columns are known: residuals of a regression on them.

Every given number becomes cubic splines, every given category its levels, and every two given columns their products.
A ridge regression on these predicts each row from the other rows (from other groups, if rows belong together), and what
it misses is the residual. The products of two residuals have mean zero if the two are unrelated given these columns
[1]_; that each row is predicted without itself keeps the fit from hiding what it has learnt by heart [2]_.

In trials with a site, an age, an age in a curve and an age that acts differently by site, straight lines failed where
age acts in a curve, and trees with 120 rows.

References
----------
.. [1] R. D. Shah and J. Peters (2020). The hardness of conditional independence testing and the generalised covariance
   measure. Annals of Statistics 48, 1514-1538.
.. [2] V. Chernozhukov et al. (2018). Double/debiased machine learning for treatment and structural parameters. The
   Econometrics Journal 21, C1-C68.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.preprocessing import SplineTransformer

from dubio.kernels.threads import chunks
from dubio.problem import Problem
from dubio.sampling import mixed_contents
from dubio.table.rows import centred_within, groups_of_rows

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Most different numbers of a column that are taken as categories: a curve needs more.
FEW_NUMBERS = 5
#: Fewest and most knots of a curve; between them, the cube root of the number of rows.
_KNOTS = 5, 10
#: The spread of the products of two columns, with 1 for each of the columns.
_PRODUCT = 0.5
#: Most columns of all products, and their largest number as a share of the rows.
_MOST_PRODUCTS, _PRODUCTS_PER_ROW = 500, 1.0
#: Penalties that are tried; generalised cross-validation chooses one for each column.
_PENALTIES = np.logspace(-5, 2, 22)
#: Largest degrees of freedom of a fit, as a share of the rows.
_MOST_FREEDOM = 0.5
#: Share of the variance below which the rest is rounding: given columns say all of it.
_NOTHING_LEFT = 1e-6
#: The smallest share of a row, or of a group, that is not of its own making.
_LEAST_LEFT = 1e-9
#: Columns whose residuals are computed at a time.
_COLUMNS = 256


def without_given(problem: Problem, *, centred: bool = False) -> Problem:
    """The same problem with the residuals of every column that is not given; itself if nothing is given.

    All rows take part, also those without a label. ``centred``: the columns have no means of groups any more.
    """
    if problem.given is None:
        return problem

    def adjusted() -> Problem:
        columns = problem.columns_of(np.flatnonzero(problem.is_judged))
        order, regression = _of_all_rows(problem, centred)
        X = np.array(problem.X, dtype=np.float64)
        cells = np.ix_(order, columns)
        X[cells] = regression.residuals(X[cells])
        return replace(problem, X=X)

    return problem.once(("residuals", centred), adjusted)


def shared_by_chance(problem: Problem, rows: NDArray[Any], scores: Floats, free: int, *, centred: bool) -> Floats:
    """How many times as much the residuals of each column share with these scores by chance as if rows were shuffled.

    ``rows`` of the problem have the ``scores``, which have so many ``free`` directions (:meth:`Regression.shared`).
    """
    order, regression = _of_all_rows(problem, centred)
    places = np.argsort(order)[rows]
    return regression.shared(np.asarray(problem.X, dtype=np.float64)[order], places, scores, free)


def explained_by_given(problem: Problem) -> float:
    """The share of the variation of the target that given columns explain, on rows that were not used to learn it."""
    return problem.once("explained by given", lambda: _explained(problem))


def _explained(problem: Problem) -> float:
    rows = problem.tested.supervision.labelled
    scores = problem.tested.supervision.target_matrix(rows)
    regression = regression_of(problem, np.flatnonzero(rows), centred=False)
    rest, total = regression.residuals(scores, together=True), regression.centred(scores)
    weights = regression.weights[:, None]
    return float(max(0.0, 1.0 - (weights * rest**2).sum() / (total**2).sum()))


def _of_all_rows(problem: Problem, centred: bool) -> tuple[NDArray[Any], Regression]:
    """An order of the rows by their contents, and the regression in it: no rounding makes equal residuals differ."""

    def found() -> tuple[NDArray[Any], Regression]:
        order = np.argsort(mixed_contents(problem, 0), kind="stable")
        return order, regression_of(problem, order, centred)

    return problem.once(("regression", centred), found)


def regression_of(problem: Problem, rows: NDArray[Any], centred: bool) -> Regression:
    """The regression on the given columns of some rows."""
    part = problem.features(problem.given_features).rows(rows)
    basis, groups = basis_of(part), part.groups
    if centred:
        assert groups is not None
        basis = centred_within(basis, groups)
    return Regression(basis, part.uneven_weights, groups, has_mean=not centred)


def basis_of(problem: Problem) -> Floats:
    """The columns on which others are regressed: splines, categories and products of the given features."""
    features = [_of_feature(problem, int(feature)) for feature in problem.given_features]
    features = [(curves, plain) for curves, plain in features if curves.shape[1]]
    n = problem.n_rows
    most = min(_MOST_PRODUCTS, int(_PRODUCTS_PER_ROW * n))
    products: list[Floats] = []
    for form in (0, 1):  # of curves; if these are too many, of the columns themselves
        pairs = list(combinations([both[form] for both in features], 2))
        if sum(one.shape[1] * other.shape[1] for one, other in pairs) <= most:
            products = [(one[:, :, None] * other[:, None, :]).reshape(n, -1) for one, other in pairs]
            break
    columns = [curves for curves, _ in features] + [_PRODUCT * one for one in map(_scaled, products) if one.shape[1]]
    return np.hstack(columns) if columns else np.zeros((n, 0))


def _of_feature(problem: Problem, feature: int) -> tuple[Floats, Floats]:
    """The columns of one given feature: numbers as curves, and as they are."""
    places = problem.columns_of(np.array([feature]))
    table = np.asarray(problem.X[:, places], dtype=np.float64)
    roles = np.full(len(places), "value") if problem.columns is None else problem.columns.roles[places]
    curves = [
        _curve(column) if role == "value" else column[:, None] for column, role in zip(table.T, roles, strict=True)
    ]
    return _scaled(np.hstack(curves)), _scaled(table)


def _curve(column: Floats) -> Floats:
    """A column of numbers as cubic splines with knots at its quantiles; of a few numbers, as categories."""
    values = np.unique(column)
    if len(values) <= FEW_NUMBERS:
        return np.asarray(column[:, None] == values, dtype=np.float64)
    low, high = values[0], values[-1]
    column = (column - low) / (high - low) if np.isfinite(high - low) else column / max(abs(low), abs(high))
    n_knots = int(np.clip(len(column) ** (1 / 3), *_KNOTS))
    knots = np.unique(np.quantile(column, np.linspace(0, 1, n_knots)))
    if len(knots) < 3:  # nearly all numbers are the same
        knots = np.unique(np.quantile(np.unique(column), np.linspace(0, 1, n_knots)))
    return np.asarray(SplineTransformer(knots=knots[:, None], degree=3).fit_transform(column[:, None]))


def _scaled(columns: Floats) -> Floats:
    """The columns that vary, centred, with a sum of variances of 1."""
    columns = columns[:, (columns != columns[:1]).any(axis=0)]
    columns = columns - columns.mean(axis=0)
    total = float(np.sqrt((columns**2).mean(axis=0).sum()))
    return columns / total if total > 0 else columns[:, :0]


class Regression:
    r"""Ridge regression on some columns, of which each row is predicted by the others.

    With the basis B, weights W and the hat matrix :math:`H = W^{1/2} B (B^T W B + n \lambda I)^{-1} B^T W^{1/2}` (and
    the mean), the residuals :math:`r` of a fit to all rows give those of fits to all other rows:
    :math:`r_i / (1 - H_{ii})`, and :math:`(I - H_{gg})^{-1} r_g` if the rows of a group g are left out together. The
    penalty of each column has the smallest error of generalised cross-validation.
    """

    def __init__(self, basis: Floats, weights: Floats | None, groups: Codes | None, *, has_mean: bool = True) -> None:
        n = len(basis)
        self._root = np.ones(n) if weights is None else np.sqrt(weights)
        self._groups, self._has_mean = groups, has_mean
        basis = self.centred(basis)
        squares, V = linalg.eigh(basis.T @ basis) if basis.shape[1] else (np.zeros(0), np.zeros((0, 0)))
        held = squares > 1e-10 * max(squares.max(initial=0.0), 1e-300)
        self._left = basis @ V[:, held] / np.sqrt(squares[held])
        self._shrunk = squares[held] / (squares[held] + n * _PENALTIES[:, None])  # by penalty

    def residuals(self, table: Floats, *, together: bool = False) -> Floats:
        """What is left of every column; exactly zero if it is only rounding. ``together``: with the same penalty."""
        found = [self._residuals(table[:, start:stop], together) for start, stop in chunks(table.shape[1], _COLUMNS)]
        return np.hstack(found) if found else np.zeros(table.shape)

    def _residuals(self, table: Floats, together: bool) -> Floats:
        table = self.centred(table)
        total, parts = (table**2).sum(axis=0), self._left.T @ table
        if together:
            best = self._penalties(total.sum(keepdims=True), (parts**2).sum(axis=1, keepdims=True))
            chosen = np.repeat(best, len(total))
        else:
            chosen = self._penalties(total, parts**2)
        out = np.empty(table.shape)
        for place in np.unique(chosen).tolist():
            own, shrunk = chosen == place, self._shrunk[place]
            out[:, own] = self._left_out(table[:, own] - self._left @ (shrunk[:, None] * parts[:, own]), shrunk)
        out[:, (out**2).sum(axis=0) <= _NOTHING_LEFT * total] = 0.0
        return out / self._root[:, None]

    def shared(self, table: Floats, rows: NDArray[Any], scores: Floats, free: int) -> Floats:
        r"""How many times as much the residuals of each column share with some scores by chance as shuffled ones do.

        The residuals of a column x are :math:`D (I - H) x` with :math:`D_{ii} = 1 / (1 - H_{ii})`. If x is noise, the
        squares of their products with scores s have the mean :math:`|(I - H) D s|^2`, and those of the residuals
        :math:`\mathrm{tr}\,D (I - H)^2 D`. The regression has taken the same directions from columns and scores, so
        with k categories they share :math:`n / (n - k)` times as much by chance as shuffled rows would. It is never
        below 1. If groups are left out together, D counts as 1.
        """
        left, size, out = self._left[rows], (scores**2).sum(), np.ones(table.shape[1])
        for start, stop in chunks(table.shape[1], _COLUMNS):
            block = self.centred(table[:, start:stop])
            chosen = self._penalties((block**2).sum(axis=0), (self._left.T @ block) ** 2)
            for place in np.unique(chosen).tolist():
                shrunk, scale = self._shrunk[place], np.ones(len(rows))
                if self._groups is None:
                    scale = self._left_out(np.ones((len(self._root), 1)), shrunk)[rows, 0]
                moved, taken = scale[:, None] * scores, shrunk * (2.0 - shrunk)
                products = (moved**2).sum() - taken @ ((left.T @ moved) ** 2).sum(axis=1)
                products -= self._has_mean * (moved.sum(axis=0) ** 2).sum() / len(self._root)
                squares = scale**2 @ (free / len(rows) - left**2 @ taken) / free
                if squares > 0:
                    out[start:stop][chosen == place] = max(1.0, products / (size * squares))
        return out

    def _penalties(self, total: Floats, squares: Floats) -> Codes:
        """The place of the penalty of each column."""
        n = len(self._root)
        errors = np.full((len(_PENALTIES), len(total)), np.inf)
        for place, shrunk in enumerate(self._shrunk):
            freedom = shrunk.sum() + self._has_mean
            if freedom <= _MOST_FREEDOM * n or place == len(_PENALTIES) - 1:
                rest = total - (shrunk * (2.0 - shrunk)) @ squares
                errors[place] = np.maximum(rest, 0.0) / max(1.0 - freedom / n, 1.0 / n) ** 2
        return np.asarray(errors.argmin(axis=0))

    def _left_out(self, rest: Floats, shrunk: Floats) -> Floats:
        """The residuals of fits to all other rows, from those of one fit to all rows."""
        left = self._left * np.sqrt(shrunk)
        if self._has_mean:
            left = np.column_stack([left, self._root / np.sqrt((self._root**2).sum())])
        if self._groups is None:
            return rest / np.maximum(1.0 - (left**2).sum(axis=1), _LEAST_LEFT)[:, None]
        order, starts, sizes = groups_of_rows(self._groups)
        out = np.empty_like(rest)
        for start, size in zip(starts, sizes, strict=True):
            rows = order[start : start + size]
            own = left[rows]
            out[rows] = linalg.solve(np.eye(size) * (1.0 + _LEAST_LEFT) - own @ own.T, rest[rows], assume_a="pos")
        return out

    @property
    def weights(self) -> Floats:
        return self._root**2

    def centred(self, table: Floats) -> Floats:
        """Columns without their means, each row times the root of its weight."""
        table = np.array(table, dtype=np.float64)
        if self._has_mean and len(table):
            table -= table[:1].copy()  # a constant column becomes exactly zero
            table -= np.average(table, axis=0, weights=self._root**2)
        table *= self._root[:, None]
        return table
