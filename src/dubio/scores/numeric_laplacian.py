"""Laplacian scores for a numeric target, fully known or mostly missing (SLS, SSLS)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.checks import POSITIVE, StrOptions
from dubio.errors import InputError
from dubio.evidence.permutation import graph_null, permutation_pvalues
from dubio.kernels.edges import SAME_DISTANCE
from dubio.methods.base import ScoreSelector
from dubio.methods.parameters import documented, estimator
from dubio.neighbors.graphs import MixedNeighbors, Route, TargetNeighbors
from dubio.neighbors.quadratic import anchor_ratio, laplacian_ratio
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.sampling import order_of_contents
from dubio.scores.laplacian import estimated
from dubio.table.matrix import LARGEST
from dubio.target.numbers import Numbers, moderate


@documented
def supervised_laplacian_score(
    X: ArrayLike,
    y: Any,
    *,
    n_neighbors: int = 5,
    t: float | Literal["mean"] = 1.0,
    neighbors: Literal["exact", "anchors"] = "exact",
    n_anchors: int = 2000,
    standardize: bool = False,
    random_state: Any = 0,
) -> NDArray[np.float64]:
    r"""Supervised Laplacian score for a numeric target: how close values are where y is close (low is good).

    This is the Laplacian score on a graph whose neighbours and weights :math:`e^{-(y_i-y_j)^2/t}` depend only on y
    (SSLS paper, equations 3 and 4). It finds non-linear relations that correlation misses.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        On any scale: the score does not depend on the scale of a column.
    y : array-like (n,)
        Numbers; rows with NaN are left out.
    n_neighbors, t
        As in :func:`laplacian_score`, on the line of y.
    neighbors, n_anchors
        As in :func:`laplacian_score`; neighbours on a line are always found exactly.
    standardize : bool
        Whether y is first scaled to unit variance, which gives ``t`` its meaning. The estimator does so by default;
        this function uses y as it is by default.
    {random_state}

    Returns
    -------
    scores : array (d,)
        ``inf`` for a feature that is constant among the labelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import supervised_laplacian_score
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> int(supervised_laplacian_score(X, X[:, 1] ** 3).argmin())
    1
    """
    method = SupervisedLaplacianScore(
        n_neighbors=n_neighbors,
        t=t,
        neighbors=neighbors,
        n_anchors=n_anchors,
        standardize=standardize,
        random_state=random_state,
    )
    return method.scores_of(X, y)


@documented
def semi_supervised_laplacian_score(
    X: ArrayLike,
    y: Any,
    *,
    n_neighbors: int = 30,
    n_neighbors_supervised: int = 5,
    t: float | Literal["mean"] = 1.0,
    C: float = 1.0,
    neighbors: Route = "exact",
    n_anchors: int = 2000,
    standardize: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    r"""Semi-supervised Laplacian score for a numeric target that is mostly missing (low is good).

    .. math:: SSLS_r = \frac{\tilde f_r^T L^{semi} \tilde f_r}{\tilde f_r^T D^{semi} \tilde f_r} \cdot SLS_r,

    where the mixed graph uses distances in y between labelled rows and, per feature, distances in X otherwise.
    :math:`SLS_r` is the supervised score of the labelled rows (SSLS paper, equations 10 and 11).

    Parameters
    ----------
    X : array-like (n, d)
        The table; in the paper its columns are standardised.
    y : array-like (n,)
        Numbers, NaN = unlabelled; in the paper standardised too.
    n_neighbors : int
        Number of neighbours in the mixed graph.
    n_neighbors_supervised : int
        Number of neighbours in the graph of the labelled rows.
    t : float or "mean"
        Width of the kernel.
    C : float
        Weight of an edge between two labelled rows (use 5 if fewer than about 1 % are labelled).
    neighbors, n_anchors
        As in :func:`laplacian_score`, for the mixed graph; the graph of the labelled rows is always exact.
    standardize : bool
        Whether the columns of X and y are first scaled to unit variance. The estimator does so by default; this
        function uses both as they are by default.
    {random_state}
    {n_jobs}

    Returns
    -------
    scores : array (d,)
        ``inf`` for a feature that is constant among the labelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import semi_supervised_laplacian_score
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = X[:, 2] ** 3
    >>> y[40:] = np.nan
    >>> int(semi_supervised_laplacian_score(X, y).argmin())
    2
    """
    method = SemiSupervisedLaplacianScore(
        n_neighbors=n_neighbors,
        n_neighbors_supervised=n_neighbors_supervised,
        t=t,
        C=C,
        neighbors=neighbors,
        n_anchors=n_anchors,
        standardize=standardize,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return method.scores_of(X, y)


@estimator
class _NumericScore(ScoreSelector):
    """What both scores share: a numeric target, scaled or used as it is."""

    _takes = ("numbers",)
    _target = "numbers"

    standardize: bool = True

    def _values(self, problem: Problem) -> NDArray[np.float64]:
        """The target, NaN where it is missing."""
        known = problem.supervision
        assert isinstance(known, Numbers)
        if self.standardize:
            return known.standardized()
        if np.abs(known.values[known.labelled]).max(initial=0.0) >= LARGEST:
            raise InputError("y", "has values too large to square", "rescale it, or pass standardize=True")
        return known.values


@estimator
class SupervisedLaplacianScore(_NumericScore):
    """Numeric target: keep features with close values where y is close (see :func:`supervised_laplacian_score`).

    Rows whose y is NaN are left out.

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    n_neighbors : int
        Number of neighbours of each row on the line of y.
    t : float or "mean"
        Width of the kernel, in squared standard deviations of y.
    neighbors : {"exact", "anchors"}
        Whether to use all labelled rows, or only ``n_anchors`` sampled ones, which gives estimates with standard
        errors. Neighbours on a line are always found exactly.
    {n_anchors}
    standardize : bool
        Whether y is first scaled to unit variance. The estimator does so by default; the function does not.
    {random_state}

    Attributes
    ----------
    {scores}
        Low scores are good.
    scores_std_error_ : array (n_features,)
        With ``neighbors="anchors"``: the standard error of each score.
    {labelled}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dubio import SupervisedLaplacianScore
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> list(SupervisedLaplacianScore(n_features_to_select=2).fit(X, y).get_feature_names_out())
    ['bmi', 's5']
    """

    _name = "supervised_laplacian"
    _does = "close values where the target is close, SLS"
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"neighbors": [StrOptions({"exact", "anchors"})]}

    n_neighbors: int = 5
    t: float | Literal["mean"] = 1.0
    neighbors: Literal["exact", "anchors"] = "exact"
    n_anchors: int = 2000
    standardize: bool = True
    random_state: Any = 0

    def _score(self, problem: Problem) -> Scored:
        problem = by_content(problem)
        known = problem.supervision.labelled
        X, y = problem.X[known], self._values(problem)[known]
        near = TargetNeighbors(y, n_neighbors=self.n_neighbors)
        if self.neighbors == "anchors":
            edges = near.anchors(self.t, self.n_anchors, self.random_state)
            return estimated(*anchor_ratio(edges, X, problem.columns))
        return Scored(laplacian_ratio(near.graph(self.t), X, problem.columns))

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        known = problem.supervision.labelled
        graph = TargetNeighbors(self._values(problem)[known], n_neighbors=self.n_neighbors).graph(self.t)
        null = graph_null(graph, problem.X[known], columns=problem.columns)
        return permutation_pvalues(null, alpha=self.alpha, random_state=self._seed)


@estimator
class SemiSupervisedLaplacianScore(_NumericScore):
    """Numeric target, mostly missing: neighbours in y where it is known, in X otherwise.

    See :func:`semi_supervised_laplacian_score`. NaN in y means unlabelled.

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    n_neighbors, n_neighbors_supervised : int
        Number of neighbours in the mixed graph and in the graph of the labelled rows.
    t : float or "mean"
        Width of both kernels.
    C : float
        Weight of edges between labelled rows.
    {neighbors}
    {n_anchors}
    standardize : bool
        Whether the columns of X and y are first scaled to unit variance. The estimator does so by default; the
        function does not.
    {random_state}
    {n_jobs}

    Attributes
    ----------
    {scores}
        Low scores are good.
    scores_std_error_ : array (n_features,)
        With ``neighbors="anchors"``: the standard error of each score.
    {labelled}

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from dubio import SemiSupervisedLaplacianScore
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> y = y.to_numpy(copy=True)
    >>> y[100:] = np.nan
    >>> selector = SemiSupervisedLaplacianScore(n_features_to_select=2).fit(X, y)
    >>> list(selector.get_feature_names_out()), selector.n_unlabelled_
    (['s4', 's5'], 342)
    """

    _name = "semi_supervised_laplacian"
    _does = "SLS that also uses rows without a number, SSLS"
    _n_permutations = 200  # each one builds the mixed graph again
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": POSITIVE,
        "neighbors": [StrOptions({"exact", "approximate", "anchors"})],
    }

    n_neighbors: int = 30
    n_neighbors_supervised: int = 5
    t: float | Literal["mean"] = 1.0
    C: float = 1.0
    neighbors: Route = "exact"
    n_anchors: int = 2000
    standardize: bool = True
    random_state: Any = 0
    n_jobs: int | None = None

    def _score(self, problem: Problem) -> Scored:
        problem = by_content(problem)
        X, y = problem.X, self._values(problem)
        space = problem.standardized if self.standardize else X
        known = problem.supervision.labelled
        graph = TargetNeighbors(y[known], n_neighbors=self.n_neighbors_supervised).graph(self.t)
        supervised = laplacian_ratio(graph, X[known], problem.columns)
        near = MixedNeighbors(
            space,
            y,
            n_neighbors=self.n_neighbors,
            C=self.C,
            approximate=self.neighbors == "approximate",
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        if self.neighbors == "anchors":
            edges = near.anchors(self.t, self.n_anchors, self.random_state)
            mixed, error = anchor_ratio(edges, X, problem.columns)
            return estimated(_product(mixed, supervised), error * np.where(np.isfinite(supervised), supervised, 0.0))
        return Scored(_product(laplacian_ratio(near.graph(self.t), X, problem.columns), supervised))


def by_content(problem: Problem) -> Problem:
    """The same rows in an order that depends on their contents, if some numbers are equal or equally far apart:
    neighbours among such rows must not depend on the place of a row in the table."""
    known = problem.supervision
    assert isinstance(known, Numbers)
    numbers = np.sort(moderate(known.values[known.labelled]))
    gaps = np.sort(np.diff(numbers))
    same = SAME_DISTANCE * float(gaps.sum())  # the range
    equal_gaps = (np.diff(gaps) <= same).any() or (numbers == np.round(numbers)).all()
    if not equal_gaps and (gaps > same).all():
        return problem
    return problem.rows(order_of_contents(problem))


def _product(mixed: NDArray[np.float64], supervised: NDArray[np.float64]) -> NDArray[np.float64]:
    """Product of the two ratios; ``inf`` if either one is ``inf`` (even 0 * inf: nothing is known about it)."""
    product = np.full(len(mixed), np.inf)
    both = np.isfinite(mixed) & np.isfinite(supervised)
    product[both] = mixed[both] * supervised[both]
    return product
