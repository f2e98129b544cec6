"""The Laplacian score: does a feature vary smoothly over the neighbour graph? The function, the estimator, its null."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dubio.checks import HasMethods, StrOptions
from dubio.errors import InputError
from dubio.evidence.permutation import SCREEN, RatioForms, graph_null, permutation_pvalues
from dubio.kernels.edges import leave_one_out_neighbors
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.methods.base import ScoreSelector
from dubio.methods.parameters import documented, estimator
from dubio.neighbors.graphs import Kernel, Route, RowNeighbors, Symmetry, heat, read_graph
from dubio.neighbors.quadratic import anchor_ratio, laplacian_ratio
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.table.columns import Columns, columns_of_sizes
from dubio.table.matrix import Matrix

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
    t : float or "mean"
        Width of the kernel; "mean" uses the mean (squared) distance over the edges.
    kernel : {"squared", "linear"}
        ``exp(-d^2/t)`` as in [1]_ and [3]_, or ``exp(-d/t)`` as printed in [2]_. The rankings differ.
    graph : sparse matrix or transformer, optional
        Your own weights, or a scikit-learn neighbours transformer that chooses the neighbours.
    symmetry : {"or", "and"}
        "or": one of two rows must be among the neighbours of the other. "and": each must be.
    {neighbors}
    {n_anchors}
    {standardize}
    {random_state}
    {n_jobs}

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
    method = LaplacianScore(
        n_neighbors=n_neighbors,
        t=t,
        kernel=kernel,
        graph=graph,
        symmetry=symmetry,
        neighbors=neighbors,
        n_anchors=n_anchors,
        standardize=standardize,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return method.scores_of(X)


@estimator
class LaplacianScore(ScoreSelector):
    """Unsupervised: keep the features that vary smoothly over the neighbour graph (see :func:`laplacian_score`).

    The function uses X as it is; the estimator first scales its columns unless ``standardize=False``.

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    n_neighbors : int
        Number of neighbours of each row.
    t : float or "mean"
        Width of the kernel.
    kernel : {"squared", "linear"}
        ``exp(-d^2/t)`` or ``exp(-d/t)``.
    graph : sparse matrix or transformer, optional
        Your own graph instead of the nearest neighbours.
    symmetry : {"or", "and"}
        How directed neighbours become edges.
    {neighbors}
    {n_anchors}
    {standardize}
    {random_state}
    {n_jobs}

    Attributes
    ----------
    {scores}
        Low scores are good; ``inf`` for a constant feature.
    scores_std_error_ : array (n_features,)
        With ``neighbors="anchors"``: the standard error of each score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import LaplacianScore
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> list(LaplacianScore(n_features_to_select=2).fit(X).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _name = "laplacian"
    _does = "smooth over neighbours; labels are not used"
    _takes = ("none", "hard", "soft", "numbers")
    _target = "none"
    _needs_labels = False
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions({"squared", "linear"})],
        "graph": [None, "sparse matrix", HasMethods("fit_transform")],
        "symmetry": [StrOptions({"or", "and"})],
        "neighbors": [StrOptions({"exact", "approximate", "anchors"})],
    }

    n_neighbors: int = 5
    t: float | Literal["mean"] = 1.0
    kernel: Kernel = "squared"
    graph: Any = None
    symmetry: Symmetry = "or"
    neighbors: Route = "exact"
    n_anchors: int = 2000
    standardize: bool = True
    random_state: Any = 0
    n_jobs: int | None = None

    def _score(self, problem: Problem) -> Scored:
        space, X = self._space(problem), problem.X
        if self.graph is not None:
            if self.neighbors != "exact":
                raise InputError(
                    "graph", f"is given together with neighbors={self.neighbors!r}", "leave one of them out"
                )
            return Scored(laplacian_ratio(read_graph(self.graph, space, **self._graph_options), X, problem.columns))
        near = RowNeighbors(
            space,
            n_neighbors=self.n_neighbors,
            kernel=self.kernel,
            symmetry=self.symmetry,
            approximate=self.neighbors == "approximate",
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        if self.neighbors == "anchors":
            edges = near.anchors(self.t, self.n_anchors, self.random_state)
            return estimated(*anchor_ratio(edges, X, problem.columns))
        return Scored(laplacian_ratio(near.graph(self.t), X, problem.columns))

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        """Test each feature on the graph of all other features, or on the user's own graph if there is one."""
        space = self._space(problem)
        if self.graph is not None:
            graph = read_graph(self.graph, space, **self._graph_options)
            null = graph_null(graph, problem.X, columns=problem.columns)
            return permutation_pvalues(null, alpha=self.alpha, random_state=self._seed, n_jobs=self.n_jobs)
        return leave_one_out_pvalues(
            space,
            columns=problem.columns,
            n_neighbors=self.n_neighbors,
            random_state=self._seed,
            n_jobs=self.n_jobs,
            **self._graph_options,
        )

    def _space(self, problem: Problem) -> Matrix:
        return problem.standardized if self.standardize else problem.X

    @property
    def _graph_options(self) -> dict[str, Any]:
        return {"t": self.t, "kernel": self.kernel, "symmetry": self.symmetry}


def estimated(scores: NDArray[np.float64], errors: NDArray[np.float64]) -> Scored:
    """Scores estimated from sampled rows, with their standard errors."""
    return Scored(scores, {"std_error": errors}, {"scores_std_error_": errors})


def leave_one_out_pvalues(
    space: Matrix,
    *,
    columns: Columns | None = None,
    n_neighbors: int = 5,
    t: float | Literal["mean"] = 1.0,
    kernel: Kernel = "squared",
    symmetry: Symmetry = "or",
    n_permutations: int = 1000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """p-value of every feature's Laplacian score on the neighbour graph of all *other* features.

    On a graph that a feature helped to build, this feature always looks smooth (99 % false positives). On a graph built
    without it, a feature that is unrelated to the others looks like any permutation of itself.

    Parameters
    ----------
    space : array (n, d)
        The features, scaled as for distances.
    columns : Columns, optional
        Which columns are one feature; without it, each.
    n_neighbors, t, kernel, symmetry
        As in :func:`~dubio.laplacian_score`.
    n_permutations : int
        Number of permutations for a feature that closed-form moments do not already show to be ordinary.
    random_state : int
    n_jobs : int, optional
        Threads.

    Returns
    -------
    pvalues : array (d,)
        1 for constant features, and for a table with a single feature.
    """
    X = np.asarray(space.toarray() if sparse.issparse(space) else space, dtype=np.float64)
    if len(X) > MAX_TESTED_ROWS:
        X = X[np.random.default_rng([random_state, 3]).permutation(len(X))[:MAX_TESTED_ROWS]]
    X = np.ascontiguousarray(X - X.mean(axis=0))
    columns = columns_of_sizes(np.ones(X.shape[1], dtype=np.int64)) if columns is None else columns
    n, d = len(X), columns.n_features
    ends = np.append(columns.starts[1:], X.shape[1])
    k = min(n_neighbors, n - 1)
    if d < 2 or n < 4:
        return np.ones(d)
    threads = resolve_threads(n_jobs)
    pvalues: list[list[float]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the score itself already reported a kernel that is too narrow
        for first, last in chunks(d, max(1, _BLOCK // (n * k))):
            neighbors = np.empty((last - first, n, k), dtype=np.int64)
            squared = np.empty((last - first, n, k))

            def search(start: int, stop: int, first: int = first, out: tuple = (neighbors, squared)) -> None:
                leave_one_out_neighbors(X, columns.starts, ends, first, start, stop, *out)

            def test(start: int, stop: int, first: int = first, lists: tuple = (neighbors, squared)) -> list[float]:
                found = []
                for r in range(start, stop):
                    distances = lists[1][r] if kernel == "squared" else np.sqrt(lists[1][r])
                    graph = _graph(lists[0][r], distances, symmetry)
                    graph.data = heat(graph.data, t)
                    rng = np.random.default_rng([random_state, 4, first + r])
                    found.append(_pvalue(graph, X[:, columns.of(first + r)], n_permutations, rng))
                return found

            run_chunks(search, chunks(n, 64), threads)
            pvalues += run_chunks(test, chunks(last - first, 8), threads)
    return np.concatenate(pvalues)


def _graph(neighbors: NDArray[np.int64], distances: NDArray[np.float64], symmetry: Symmetry) -> sparse.csr_array:
    """Symmetric graph of distances from neighbour lists; a distance of zero is an edge too."""
    n, k = neighbors.shape
    rows = np.repeat(np.arange(n), k)
    columns = neighbors.ravel()
    keys = np.concatenate([rows * n + columns, columns * n + rows])
    unique, position, count = np.unique(keys, return_index=True, return_counts=True)
    if symmetry == "and":
        unique, position = unique[count == 2], position[count == 2]
    data = np.concatenate([distances.ravel(), distances.ravel()])[position]
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
