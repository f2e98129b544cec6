"""Neighbour graphs as symmetric CSR matrices of weights: no self edges, and never a dense n x n array."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio._kernels.edges import edge_squared_distances, list_squared_distances, neighbors_on_a_line
from dubio._kernels.threads import chunks, resolve_threads, run_chunks
from dubio.counts import clip_neighbors
from dubio.errors import InputError, InputWarning, require_choice, warn
from dubio.graphs.nearest_rows import RowSearch, centre_columns
from dubio.tables.matrix import Matrix

Kernel = Literal["squared", "linear"]
Symmetry = Literal["or", "and"]


def check_width(t: float | str, name: str = "t") -> None:
    """Raise unless ``t`` is a positive number (or the word "mean")."""
    if isinstance(t, str) and t == "mean":
        return
    if not isinstance(t, Real) or isinstance(t, bool) or not 0 < t <= np.finfo(np.float64).max:
        raise InputError(name, f"={t!r}", "the width of the kernel must be a positive number, or 'mean'")


def neighbor_graph(
    X: Matrix,
    *,
    n_neighbors: int = 5,
    t: float | Literal["mean"] = 1.0,
    kernel: Kernel = "squared",
    symmetry: Symmetry = "or",
    n_jobs: int | None = None,
    approximate: bool = False,
    random_state: Any = 0,
) -> sparse.csr_array:
    r"""Weights :math:`e^{-d_{ij}^2/t}` (or :math:`e^{-d_{ij}/t}`) between nearest neighbours.

    With "or", an edge connects i and j if one of them is among the k nearest of the other; with "and", if each is among
    the k nearest of the other. Weights are relative to the weight of the closest pair. This leaves every score
    unchanged and avoids underflow in wide tables.

    Parameters
    ----------
    X : array or CSR matrix (n, d)
    n_neighbors : int
        k, without the row itself; reduced to n - 1, with a warning, if it is larger.
    t : float or "mean"
        Width; "mean" takes the mean squared (or plain) distance over the edges.
    kernel : {"squared", "linear"}
        Whether the exponent holds the squared or the plain distance.
    symmetry : {"or", "and"}
    n_jobs : int, optional
    approximate : bool
        Search by nearest-neighbour descent; see :class:`~dubio.graphs.nearest_rows.RowSearch`.
    random_state : int, RandomState or None
        For the descent.

    Returns
    -------
    scipy.sparse.csr_array (n, n)
        Symmetric, without a diagonal.
    """
    check_width(t)
    n = X.shape[0]
    k = clip_neighbors(n_neighbors, n - 1)
    nearest = nearest_others(X, k, n_jobs, approximate=approximate, random_state=random_state)
    return weigh(symmetrize(nearest, symmetry), X, t=t, kernel=kernel, n_jobs=n_jobs)


def nearest_others(
    X: Matrix, k: int, n_jobs: int | None = None, *, approximate: bool = False, random_state: Any = 0
) -> sparse.csr_array:
    """0/1 graph from each row to its k nearest other rows (exact: scikit-learn chooses the algorithm)."""
    search = RowSearch(centre_columns(X), k, approximate=approximate, random_state=random_state, n_jobs=n_jobs)
    return from_neighbor_lists(search.others(k), X.shape[0])


def from_neighbor_lists(neighbors: NDArray[Any], n_columns: int) -> sparse.csr_array:
    """0/1 graph with an edge from row i to each of ``neighbors[i]``."""
    n, k = neighbors.shape
    return sparse.csr_array(
        (np.ones(n * k), neighbors.ravel().astype(np.int32), np.arange(0, n * k + 1, k)), shape=(n, n_columns)
    )


def line_neighbors(values: NDArray[np.float64], k: int, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Indices (n, k) of the k nearest other values of each value (or of some) on a line; O(n log n + n k)."""
    rows = np.arange(len(values)) if rows is None else rows
    out = np.empty((len(rows), k), dtype=np.int64)
    neighbors_on_a_line(np.ascontiguousarray(values, dtype=np.float64), rows, k, out)
    return out


def symmetrize(graph: sparse.csr_array, symmetry: Symmetry = "or") -> sparse.csr_array:
    """Join both directions of a 0/1 graph ("or"), or keep edges that go both ways ("and"); drops the diagonal."""
    require_choice("symmetry", symmetry, ("or", "and"))
    other = graph.T.tocsr()
    joined = graph.maximum(other) if symmetry == "or" else graph.minimum(other)
    return without_diagonal(joined)


def without_diagonal(graph: Any) -> sparse.csr_array:
    """The graph as CSR, without self edges and stored zeros."""
    coo = sparse.coo_array(graph)
    keep = (coo.row != coo.col) & (coo.data != 0)
    return sparse.csr_array((coo.data[keep], (coo.row[keep], coo.col[keep])), shape=coo.shape)


def weigh(
    graph: sparse.csr_array,
    X: Matrix,
    *,
    t: float | Literal["mean"] = 1.0,
    kernel: Kernel = "squared",
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """Replace the entries of a 0/1 graph by kernel weights of the distances between rows of ``X``."""
    require_choice("kernel", kernel, ("squared", "linear"))
    squared = squared_distances(graph, X, n_jobs)
    graph = graph.copy()
    graph.data = heat(squared if kernel == "squared" else np.sqrt(squared), t)
    return graph


def squared_distances(graph: sparse.csr_array, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Squared distance along every stored edge, from differences (a Gram matrix would lose digits)."""
    if sparse.issparse(X):
        rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        out = np.empty(graph.nnz)
        for start, stop in chunks(graph.nnz, 65_536):
            difference = (X[rows[start:stop]] - X[graph.indices[start:stop]]).astype(np.float64)
            out[start:stop] = np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
        return out
    out = np.empty(graph.nnz)
    table = np.ascontiguousarray(X)

    def work(start: int, stop: int) -> None:
        edge_squared_distances(graph.indptr, graph.indices, table, start, stop, out)

    run_chunks(work, chunks(graph.shape[0], 4096), resolve_threads(n_jobs))
    return out


def list_distances(
    X: Matrix, rows: NDArray[np.int64], neighbors: NDArray[np.int64], n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Squared distance (m, k) between each of ``rows`` and each row in its list of neighbours."""
    out = np.empty(neighbors.shape)
    if sparse.issparse(X):
        for start, stop in chunks(len(rows), max(1, 65_536 // neighbors.shape[1])):
            difference = X[np.repeat(rows[start:stop], neighbors.shape[1])] - X[neighbors[start:stop].ravel()]
            squared = np.asarray(difference.multiply(difference).sum(axis=1))
            out[start:stop] = squared.reshape(stop - start, -1)
        return out
    table = np.ascontiguousarray(X)

    def work(start: int, stop: int) -> None:
        list_squared_distances(table, rows, neighbors, start, stop, out)

    run_chunks(work, chunks(len(rows), 4096), resolve_threads(n_jobs))
    return out


def heat(distances: NDArray[np.float64], t: float | Literal["mean"]) -> NDArray[np.float64]:
    """``exp(-(d - min d) / t)``; warns if the kernel is so narrow that hardly any edge counts."""
    if len(distances) == 0:
        return distances
    width = float(distances.mean()) or 1.0 if t == "mean" else float(t)
    weights = np.exp(-(distances - distances.min()) / width)
    effective = weights.sum() ** 2 / (weights**2).sum()
    if effective < 0.02 * len(weights):
        warn(
            InputWarning(
                "t",
                f"={width:g} makes the kernel too narrow for these distances (their mean is "
                f"{distances.mean():g}): about {effective:.0f} of {len(weights)} edge weights decide the score",
                "use t='mean' or a larger t",
            )
        )
    return weights


def read_graph(
    graph: Any, X: Matrix, *, t: float | Literal["mean"], kernel: Kernel, symmetry: Symmetry
) -> sparse.csr_array:
    """Read the user's own graph: a sparse matrix of weights, or a neighbours transformer (KNeighborsTransformer).

    A matrix is used as it is (without its diagonal) and must be symmetric and not negative. A transformer only
    chooses the neighbours; the weights are then computed as for our own graph.
    """
    n = X.shape[0]
    if hasattr(graph, "fit_transform"):
        found = graph.fit_transform(X)
        if not sparse.issparse(found) or found.shape != (n, n):
            raise InputError(
                "graph", f"is a {type(graph).__name__}", "its fit_transform must give a sparse (n, n) neighbours graph"
            )
        edges = sparse.csr_array(found)
        edges.data = np.ones(edges.nnz)  # a stored distance of zero is an edge too
        return weigh(symmetrize(edges, symmetry), X, t=t, kernel=kernel)
    if not sparse.issparse(graph):
        raise InputError(
            "graph",
            f"is a {type(graph).__name__}",
            "give a SciPy sparse matrix of weights or a neighbours transformer",
        )
    if graph.shape != (n, n):
        raise InputError("graph", f"has shape {graph.shape}, but X has {n} rows", f"give an ({n}, {n}) matrix")
    weights = without_diagonal(graph).astype(np.float64)
    if weights.nnz and not (np.isfinite(weights.data).all() and weights.data.min() >= 0):
        raise InputError("graph", "has negative or infinite weights", "give similarities, and 0 where there is no edge")
    difference = abs(weights - weights.T)
    if difference.nnz and difference.max() > 1e-12 * weights.max():
        raise InputError("graph", "is not symmetric", "join both directions first, for example graph.maximum(graph.T)")
    return weights
