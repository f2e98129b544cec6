"""Laplacian scores on a graph of near rows, of rows with near numbers (SLS), or of both (SSLS)."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dubio.checks import POSITIVE, HasMethods, StrOptions
from dubio.errors import InputError
from dubio.evidence.permutation import SCREEN, RatioForms, graph_null, permutation_pvalues
from dubio.kernels.edges import SAME_DISTANCE, leave_one_out_neighbors
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.methods.base import ScoreSelector
from dubio.methods.parameters import documented, estimator
from dubio.neighbors.graphs import (
    Kernel,
    MixedNeighbors,
    Neighborhood,
    Route,
    RowNeighbors,
    Symmetry,
    TargetNeighbors,
    heat,
    read_graph,
)
from dubio.neighbors.quadratic import anchor_ratio, laplacian_ratio
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.sampling import order_of_contents
from dubio.table.matrix import LARGEST, Columns, Matrix, columns_of_sizes
from dubio.target.numbers import moderate

#: The time of the test grows with the square of the rows, so longer tables are tested on a random sample of rows.
MAX_TESTED_ROWS = 4000
#: Number of values (features x rows x neighbours) in the neighbour lists held at a time.
_BLOCK = 4_000_000
#: Permutations come in rounds of this many; a feature is decided once enough of them did as well as the feature.
_ROUND, _ENOUGH = 125, 30


@documented
def laplacian_score(
    X: ArrayLike,
    *,
    n_neighbors: int = 5,
    t: float | Literal["mean"] = 1.0,
    kernel: Kernel = "squared",
    graph: Any = None,
    symmetry: Symmetry = "or",
    neighbors: Route = "exact",
    n_anchors: int = 2000,
    standardize: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    r"""Laplacian score of every feature: how smoothly it varies over the neighbour graph (low is good).

    .. math:: LS_r = \frac{\tilde f_r^T L \tilde f_r}{\tilde f_r^T D \tilde f_r}, \qquad
              S_{ij} = e^{-\|x_i - x_j\|^2 / t} \text{ for neighbours}, \quad L = D - S,

    with :math:`\tilde f_r` the feature minus its D-weighted mean.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        The table.
    n_neighbors : int
        Number of neighbours of each row, not counting itself.
    kernel : {"squared", "linear"}
        ``exp(-d^2/t)``, or ``exp(-d/t)`` as [2]_ prints it. The rankings differ.
    graph : sparse matrix or transformer, optional
        Your own weights, or a scikit-learn neighbours transformer that chooses the neighbours.
    symmetry : {"or", "and"}
        "or": one of two rows must be among the neighbours of the other. "and": each must be.

    Returns
    -------
    scores : array (d,)
        ``inf`` for a constant feature.

    References
    ----------
    .. [1] X. He, D. Cai and P. Niyogi (2005). Laplacian score for feature selection. NIPS.
    .. [2] G. Doquire and M. Verleysen (2012). Handling imprecise labels in feature selection with graph Laplacian.
    .. [3] G. Doquire and M. Verleysen (2013). A graph Laplacian based approach to semi-supervised feature selection
       for regression problems. Neurocomputing.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import laplacian_score
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 5.0], 50)
    >>> X = np.column_stack([group + rng.normal(size=100), rng.normal(size=100)])
    >>> int(laplacian_score(X).argmin())  # the feature that has structure
    0
    """
    return LaplacianScore._scores_for(**locals())


@estimator
class GraphScore(ScoreSelector):
    """A score that says how smoothly a feature varies over a graph of neighbours."""

    _attributes = ("scores", "std_error", "labelled")

    t: float | Literal["mean"] = 1.0
    neighbors: Route = "exact"
    n_anchors: int = 2000
    standardize: bool = True
    random_state: Any = 0

    def _space(self, problem: Problem) -> Matrix:
        return problem.standardized if self.standardize else problem.X

    @property
    def _search(self) -> dict[str, Any]:
        """How neighbours of rows are found."""
        options = {name: getattr(self, name) for name in ("n_neighbors", "random_state", "n_jobs")}
        return {**options, "approximate": self.neighbors == "approximate"}

    def _graph_pvalues(self, graph: sparse.csr_array, X: Matrix, columns: Columns | None) -> NDArray[np.float64]:
        """Test each feature on a graph that it did not help to build."""
        n_jobs = getattr(self, "n_jobs", None)
        null = graph_null(graph, X, columns=columns)
        return permutation_pvalues(null, alpha=self.alpha, random_state=self._seed, n_jobs=n_jobs)

    def _smoothness(self, near: Neighborhood, X: Matrix, columns: Columns | None, times: Any = 1.0) -> Scored:
        """The ratio of the graph, times something; with anchors, estimated from sampled rows with standard errors."""
        if self.neighbors != "anchors":
            return Scored(product(laplacian_ratio(near.graph(self.t), X, columns), times))
        scores, errors = anchor_ratio(near.anchors(self.t, self.n_anchors, self.random_state), X, columns)
        errors = errors * np.where(np.isfinite(times), times, 0.0)
        return Scored(product(scores, times), {"std_error": errors}, {"scores_std_error_": errors})


def product(ratios: NDArray[np.float64], times: Any) -> NDArray[np.float64]:
    """The product; ``inf`` if either one is ``inf`` (even 0 * inf: nothing is known about it)."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(ratios) | np.isinf(times), np.inf, ratios * times)


@estimator
class LaplacianScore(GraphScore):
    """Unsupervised: keep the features that vary smoothly over the neighbour graph (see :func:`laplacian_score`).

    The function uses X as it is; the estimator first scales its columns unless ``standardize=False``.

    Notes
    -----
    Equations 1 and 2 of the paper [3]_, with the kernel of the original [1]_; ``kernel="linear"`` is what [2]_
    prints. Assumes that the rows form clusters or a smooth surface that the relevant features follow. Do not use it
    if there is a target: it does not see it, and prefers features that follow whatever most features share.

    References
    ----------
    .. [1] X. He, D. Cai and P. Niyogi (2005). Laplacian score for feature selection. NIPS.
    .. [2] G. Doquire and M. Verleysen (2012). Handling imprecise labels in feature selection with graph Laplacian.
       ICPRAM, 162-169.
    .. [3] G. Doquire and M. Verleysen (2013). A graph Laplacian based approach to semi-supervised feature selection
       for regression problems. Neurocomputing 121, 5-13.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import LaplacianScore
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> list(LaplacianScore(n_features_to_select=2).fit(X).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _function = "laplacian_score"
    _name = "laplacian"
    _does = "smooth over neighbours; labels are not used"
    _takes = ("none", "hard", "soft", "numbers")
    _target = "none"
    _needs_labels = False
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions({"squared", "linear"})],
        "graph": [None, "sparse matrix", HasMethods(["fit_transform"])],
        "symmetry": [StrOptions({"or", "and"})],
    }

    n_neighbors: int = 5
    kernel: Kernel = "squared"
    graph: Any = None
    symmetry: Symmetry = "or"
    n_jobs: int | None = None

    def _score(self, problem: Problem) -> Scored:
        if self.graph is not None:
            if self.neighbors != "exact":
                wrong = f"is given together with neighbors={self.neighbors!r}"
                raise InputError("graph", wrong, "leave one of them out")
            return Scored(laplacian_ratio(self._given_graph(problem), problem.X, problem.columns))
        near = RowNeighbors(self._space(problem), kernel=self.kernel, symmetry=self.symmetry, **self._search)
        return self._smoothness(near, problem.X, problem.columns)

    def _given_graph(self, problem: Problem) -> sparse.csr_array:
        return read_graph(self.graph, self._space(problem), t=self.t, kernel=self.kernel, symmetry=self.symmetry)

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        if self.graph is not None:
            return self._graph_pvalues(self._given_graph(problem), problem.X, problem.columns)
        return self._leave_one_out_pvalues(self._space(problem), problem.columns)

    def _leave_one_out_pvalues(self, space: Matrix, columns: Columns | None) -> NDArray[np.float64]:
        """p-value of every feature's Laplacian score on the neighbour graph of all *other* features.

        On a graph that a feature helped to build, this feature always looks smooth (99 % false positives). On a graph
        built without it, a feature that is unrelated to the others looks like any permutation of itself. The p-value is
        1 for a constant feature, and in a table with a single feature.
        """
        seed = self._seed
        X = np.asarray(space.toarray() if sparse.issparse(space) else space, dtype=np.float64)
        if len(X) > MAX_TESTED_ROWS:
            X = X[np.random.default_rng([seed, 3]).permutation(len(X))[:MAX_TESTED_ROWS]]
        X = np.ascontiguousarray(X - X.mean(axis=0))
        columns = columns_of_sizes(np.ones(X.shape[1], dtype=np.int64)) if columns is None else columns
        n, d = len(X), columns.n_features
        ends = np.append(columns.starts[1:], X.shape[1])
        k = min(self.n_neighbors, n - 1)
        if d < 2 or n < 4:
            return np.ones(d)
        threads = resolve_threads(self.n_jobs)
        pvalues: list[list[float]] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the score itself already reported a narrow kernel
            for first, last in chunks(d, max(1, _BLOCK // (n * k))):
                found_lists = np.empty((last - first, n, k), dtype=np.int64), np.empty((last - first, n, k))

                def search(start: int, stop: int, first: int = first, out: tuple = found_lists) -> None:
                    leave_one_out_neighbors(X, columns.starts, ends, first, start, stop, *out)

                def test(start: int, stop: int, first: int = first, lists: tuple = found_lists) -> list[float]:
                    found = []
                    for r in range(start, stop):
                        distances = lists[1][r] if self.kernel == "squared" else np.sqrt(lists[1][r])
                        graph = _graph(lists[0][r], distances, self.symmetry)
                        graph.data = heat(graph.data, self.t)
                        rng = np.random.default_rng([seed, 4, first + r])
                        found.append(_pvalue(graph, X[:, columns.of(first + r)], self._n_permutations, rng))
                    return found

                run_chunks(search, chunks(n, 64), threads)
                pvalues += run_chunks(test, chunks(last - first, 8), threads)
        return np.concatenate(pvalues)


def _graph(neighbors: NDArray[np.int64], distances: NDArray[np.float64], symmetry: Symmetry) -> sparse.csr_array:
    """Symmetric graph of distances from neighbour lists; a distance of zero is an edge too."""
    n, k = neighbors.shape
    rows, columns = np.repeat(np.arange(n), k), neighbors.ravel()
    keys = np.concatenate([rows * n + columns, columns * n + rows])
    unique, position, count = np.unique(keys, return_index=True, return_counts=True)
    if symmetry == "and":
        unique, position = unique[count == 2], position[count == 2]
    data = np.tile(distances.ravel(), 2)[position]
    indptr = np.searchsorted(unique, np.arange(n + 1) * n)
    return sparse.csr_array((data, unique % n, indptr), shape=(n, n))


def _pvalue(graph: sparse.csr_array, f: NDArray[np.float64], n_permutations: int, rng: np.random.Generator) -> float:
    """Share of permutations of a feature's columns that are as smooth on the graph; from closed-form moments if clearly
    ordinary."""
    if graph.nnz == 0 or (f == f[0]).all():
        return 1.0
    width = f.shape[1]
    observed = laplacian_ratio(graph, f, columns_of_sizes([width]))
    quick = float(RatioForms.of_laplacian(graph).pvalues(f, observed, columns_of_sizes([width]))[0])
    if quick > SCREEN:
        return quick
    hits = done = 0
    while done < n_permutations and hits < _ENOUGH:
        batch = min(_ROUND, n_permutations - done)
        if width == 1:
            shuffled = rng.permuted(np.repeat(f, batch, axis=1), axis=0)
        else:  # the columns move together
            shuffled = np.hstack([f[rng.permutation(len(f))] for _ in range(batch)])
        ratios = laplacian_ratio(graph, shuffled, columns_of_sizes([width] * batch))
        hits += int((ratios <= observed * (1 + 1e-10)).sum())
        done += batch
    return (hits + 1) / (done + 1)


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
    (equations 3 and 4 of [1]_). It finds non-linear relations that correlation misses.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        On any scale: the score does not depend on the scale of a column.
    y : array-like (n,)
        Numbers; rows with NaN are left out.
    n_neighbors : int
        Number of neighbours of each row on the line of y.
    t : float or "mean"
        Width of the kernel, in the units of y squared.
    neighbors : {"exact", "anchors"}
        Whether to use all labelled rows, or only ``n_anchors`` sampled ones, which gives estimates with standard
        errors. Neighbours on a line are always found exactly.
    standardize : bool
        Whether y is first scaled to unit variance, which gives ``t`` its meaning. The estimator does so by default;
        the function uses y as it is by default.

    Returns
    -------
    scores : array (d,)
        ``inf`` for a feature that is constant among the labelled rows.

    References
    ----------
    .. [1] G. Doquire and M. Verleysen (2013). A graph Laplacian based approach to semi-supervised feature selection
       for regression problems. Neurocomputing 121, 5-13, equations 3 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import supervised_laplacian_score
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> int(supervised_laplacian_score(X, X[:, 1] ** 3).argmin())
    1
    """
    return SupervisedLaplacianScore._scores_for(**locals())


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
    :math:`SLS_r` is the supervised score of the labelled rows (equations 10 to 12 of [1]_).

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
    C : float
        Weight of an edge between two labelled rows (use 5 if fewer than about 1 % are labelled).
    {neighbors}
        This is for the mixed graph; the graph of the labelled rows is always exact.
    standardize : bool
        Whether the columns of X and y are first scaled to unit variance. The estimator does so by default; the
        function uses both as they are by default.

    Returns
    -------
    scores : array (d,)
        ``inf`` for a feature that is constant among the labelled rows.

    References
    ----------
    .. [1] G. Doquire and M. Verleysen (2013). A graph Laplacian based approach to semi-supervised feature selection
       for regression problems. Neurocomputing 121, 5-13, equations 10 to 12.

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
    return SemiSupervisedLaplacianScore._scores_for(**locals())


class _NumericScore(GraphScore):
    """What both scores share: a numeric target, scaled or used as it is."""

    _takes = ("numbers",)
    _target = "numbers"

    def _values(self, problem: Problem) -> NDArray[np.float64]:
        """The target, NaN where it is missing."""
        target = problem.supervision
        if self.standardize:
            return target.standardized()
        if np.abs(target.values[target.labelled]).max(initial=0.0) >= LARGEST:
            raise InputError("y", "has values too large to square", "rescale it, or pass standardize=True")
        return target.values


@estimator
class SupervisedLaplacianScore(_NumericScore):
    """Numeric target: keep features with close values where y is close (see :func:`supervised_laplacian_score`).

    Rows whose y is NaN are left out.

    Notes
    -----
    Equations 3 and 4 of the paper [1]_. Assumes that the target is a continuous function of the features and that
    its scale means something, since neighbours are near in y. Do not use it for a target with heavy tails, most of
    whose values are then equal to it, or if a straight line is enough: with all targets known it was ahead of the
    correlation on one of three tables and behind it on one.

    References
    ----------
    .. [1] G. Doquire and M. Verleysen (2013). A graph Laplacian based approach to semi-supervised feature selection
       for regression problems. Neurocomputing 121, 5-13.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dubio import SupervisedLaplacianScore
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> list(SupervisedLaplacianScore(n_features_to_select=2).fit(X, y).get_feature_names_out())
    ['bmi', 's5']
    """

    _function = "supervised_laplacian_score"
    _name = "supervised_laplacian"
    _does = "close values where the target is close, SLS"
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"neighbors": [StrOptions({"exact", "anchors"})]}

    n_neighbors: int = 5
    neighbors: Literal["exact", "anchors"] = "exact"

    def _score(self, problem: Problem) -> Scored:
        problem = by_content(problem)
        return self._smoothness(*self._near(problem), problem.columns)

    def _near(self, problem: Problem) -> tuple[TargetNeighbors, Matrix]:
        """The neighbours of the labelled rows, and these rows."""
        known = problem.supervision.labelled
        return TargetNeighbors(self._values(problem)[known], n_neighbors=self.n_neighbors), problem.X[known]

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        near, X = self._near(problem)
        return self._graph_pvalues(near.graph(self.t), X, problem.columns)


@estimator
class SemiSupervisedLaplacianScore(_NumericScore):
    """Numeric target, mostly missing: neighbours in y where it is known, in X otherwise.

    See :func:`semi_supervised_laplacian_score`. NaN in y means unlabelled.

    Notes
    -----
    Equations 10 to 12 of the paper [1]_; its figures use ``C=5``, its text recommends ``C=1``. Assumes that rows
    near in all features have near targets. Do not use it where many features have nothing to do with the target:
    with 3 to 5 % of the targets known it lost to the known rows alone (:class:`SupervisedLaplacianScore`) on two of
    three tables.

    References
    ----------
    .. [1] G. Doquire and M. Verleysen (2013). A graph Laplacian based approach to semi-supervised feature selection
       for regression problems. Neurocomputing 121, 5-13.

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

    _function = "semi_supervised_laplacian_score"
    _name = "semi_supervised_laplacian"
    _does = "SLS that also uses rows without a number, SSLS"
    _n_permutations = 200  # each one builds the mixed graph again
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"C": POSITIVE}

    n_neighbors: int = 30
    n_neighbors_supervised: int = 5
    C: float = 1.0
    n_jobs: int | None = None

    def _score(self, problem: Problem) -> Scored:
        problem = by_content(problem)
        X, y = problem.X, self._values(problem)
        known = problem.supervision.labelled
        graph = TargetNeighbors(y[known], n_neighbors=self.n_neighbors_supervised).graph(self.t)
        supervised = laplacian_ratio(graph, X[known], problem.columns)
        near = MixedNeighbors(self._space(problem), y, C=self.C, **self._search)
        return self._smoothness(near, X, problem.columns, supervised)


def by_content(problem: Problem) -> Problem:
    """The same rows in an order that depends on their contents, if some numbers are equal or equally far apart:
    neighbours among such rows must not depend on the place of a row in the table."""
    numbers = np.sort(moderate(problem.supervision.values[problem.supervision.labelled]))
    gaps = np.sort(np.diff(numbers))
    same = SAME_DISTANCE * float(gaps.sum())  # the range
    equal_gaps = (np.diff(gaps) <= same).any() or (numbers == np.round(numbers)).all()
    if not equal_gaps and (gaps > same).all():
        return problem
    return problem.rows(order_of_contents(problem))
