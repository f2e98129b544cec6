"""Neighbour graphs of rows, of targets and of clusters, as sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from dubio.checks import clip_neighbors, random_of
from dubio.errors import InputError, InputWarning, require_choice, warn
from dubio.kernels.edges import SAME_DISTANCE, edge_squared_distances, list_squared_distances, neighbors_on_a_line
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.progress import advance
from dubio.table.matrix import Matrix
from dubio.table.scaling import centre_far_columns

#: How a graph is found: exact neighbours of every row, approximate ones, or exact ones of sampled rows only.
Route = Literal["exact", "approximate", "anchors"]

#: With fewer rows, an exact search is as fast as an approximate one.
_FEW_ROWS = 4096
#: Number of rows whose neighbours are searched in one call.
_SEARCHED_AT_ONCE = 1000


class RowSearch:
    """Nearest rows in a table: for all its rows, for some of them, or for other points.

    Parameters
    ----------
    points : array or CSR matrix (n, d)
        See :func:`centre_columns`.
    k : int
        The largest number of neighbours that will be requested.
    approximate : bool
        Use nearest-neighbour descent (pynndescent) instead of scikit-learn's exact search. Tables with fewer than 4,096
        rows are always searched exactly.
    random_state, n_jobs
        ``random_state`` is for the descent, ``n_jobs`` for both kinds of search.
    """

    def __init__(
        self,
        points: Matrix,
        k: int,
        *,
        approximate: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self._points = points
        resolve_threads(n_jobs)  # raises for a number that nobody can use
        self._n_jobs = n_jobs
        self._descent = None
        if approximate and points.shape[0] >= _FEW_ROWS:
            self._descent = _descent(self._points, k, random_state, n_jobs)
        else:
            self._exact = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(self._points)

    def others(self, k: int, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """The k nearest other rows of every row, or of ``rows``: (m, k), nearest first."""
        if self._descent is not None:
            found = self._descent.neighbor_graph[0][:, : k + 1]
            found = found if rows is None else found[rows]
            return self._complete(drop_self(found, np.arange(len(found)) if rows is None else rows), rows, k)
        if rows is None:
            return self._others_of_all(k)
        found = self._exact.kneighbors(self._points[rows], n_neighbors=k + 1, return_distance=False)
        return drop_self(found, rows)

    def _others_of_all(self, k: int) -> NDArray[np.int64]:
        """The k nearest other rows of every row; many rows are searched in parts, so that the progress can be seen."""
        n = self._points.shape[0]
        if n <= _SEARCHED_AT_ONCE:
            return np.asarray(self._exact.kneighbors(n_neighbors=k, return_distance=False))
        parts = []
        for start in range(0, n, _SEARCHED_AT_ONCE):
            rows = np.arange(start, min(start + _SEARCHED_AT_ONCE, n))
            found = self._exact.kneighbors(self._points[rows], n_neighbors=k + 1, return_distance=False)
            other = found != rows[:, None]
            other[other.all(axis=1), 0] = False  # more copies of a row than neighbours: as scikit-learn does
            parts.append(found[other].reshape(len(rows), k))
            advance("neighbours", int(rows[-1]) + 1, n)
        return np.concatenate(parts)

    def nearest(self, points: Matrix, k: int) -> NDArray[np.int64]:
        """The k rows nearest to each of some other points."""
        if self._descent is not None:
            found = self._descent.query(points, k=k)[0]
            if (found >= 0).all():
                return np.asarray(found, dtype=np.int64)
            self._exact = NearestNeighbors(n_neighbors=k, n_jobs=self._n_jobs).fit(self._points)
        return np.asarray(self._exact.kneighbors(points, n_neighbors=k, return_distance=False))

    def _complete(self, neighbors: NDArray[Any], rows: NDArray[np.int64] | None, k: int) -> NDArray[np.int64]:
        """Find exactly the lists that the descent left unfinished (marked by -1)."""
        unfinished = np.flatnonzero((neighbors < 0).any(axis=1))
        neighbors = neighbors.astype(np.int64)
        if len(unfinished):
            exact = NearestNeighbors(n_neighbors=k, n_jobs=self._n_jobs).fit(self._points)
            these = unfinished if rows is None else rows[unfinished]
            found = exact.kneighbors(self._points[these], n_neighbors=k + 1, return_distance=False)
            neighbors[unfinished] = drop_self(found, these)
        return neighbors


def centre_columns(X: Matrix) -> Matrix:
    """Centre the columns: neighbour search expands squares, and a large offset would then cost digits."""
    if sparse.issparse(X):
        return centre_far_columns(X)
    return X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)


def drop_self(found: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Remove each row from its own list of k + 1 neighbours (or the last entry if duplicates pushed the row out)."""
    is_self = found == rows[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    return np.asarray(found[~is_self].reshape(len(rows), -1))


def _descent(points: Matrix, k: int, random_state: Any, n_jobs: int | None) -> Any:
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError("neighbors='approximate' needs pynndescent: pip install 'dubio[approximate]'") from error
    seed = random_of(random_state).randint(2**31 - 1)
    # With longer lists than needed, the descent finds more of the true neighbours.
    return NNDescent(points, n_neighbors=max(k + 1, 15), random_state=seed, n_jobs=n_jobs)


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
        Search by nearest-neighbour descent; see :class:`~dubio.neighbors.graphs.RowSearch`.
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


#: Number of entries in one block.
BLOCK_ENTRIES = 2**21


def cluster_graph_blocks(
    X: NDArray[np.float64], cluster: NDArray[np.int64], width: float, block_entries: int = BLOCK_ENTRIES
) -> Iterator[tuple[NDArray[np.int64], sparse.csr_array]]:
    """The graph of weights exp(-d^2 / width) between all rows of a cluster, in symmetric pieces.

    Yields ``(rows, piece)``: ``piece`` connects some of ``rows``. Each edge of the graph is in exactly one piece, and a
    piece holds at most about twice ``block_entries`` entries. Weights that underflow are left out.
    """
    order = np.argsort(cluster, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1):
        if len(rows) < 2:
            continue
        members = X[rows]
        for start, stop in chunks(len(rows), max(1, block_entries // len(rows))):
            # Rows start:stop with themselves and all later rows: later pieces contain none of their edges.
            weights = np.exp(-cdist(members[start:stop], members[start:], "sqeuclidean") / width)
            upper = sparse.coo_array(np.triu(weights, k=1))
            size = len(rows) - start
            half = sparse.csr_array((upper.data, (upper.row, upper.col)), shape=(size, size))
            yield rows[start:], half + half.T


_SMALLEST = float(np.finfo(np.float64).tiny)
#: Most edges of a graph in which all rows with equal numbers are neighbours.
_MOST_EDGES = 2e7


def target_graph(y: NDArray[np.float64], *, n_neighbors: int = 5, t: float | Literal["mean"] = 1.0) -> sparse.csr_array:
    r"""Weights :math:`e^{-(y_i-y_j)^2/t}` between rows whose numbers are nearest (in at least one direction: "or").

    Rows with equal numbers are treated alike: if one of them is a neighbour, all of them are. So the order of the rows
    does not matter. (If this needs more than 20 million edges, neighbours among equal numbers are the next rows.)
    """
    check_width(t)
    k = clip_neighbors(n_neighbors, len(y) - 1, where="labelled row")
    graph = _tied_graph(y, k)
    if graph is None:
        graph = symmetrize(from_neighbor_lists(line_neighbors(y, k), len(y)))
    graph.data = heat(squared_distances(graph, y[:, None]), t)
    return graph


def _tied_graph(y: NDArray[np.float64], k: int) -> sparse.csr_array | None:
    """Neighbours in y, where all rows of a number are neighbours or none; None without equal numbers, or with too many.

    The neighbours of a number are the nearest numbers, so many that they have at least k other rows.
    """
    values, group, counts = np.unique(y, return_inverse=True, return_counts=True)
    m = len(values)
    if m == len(y):
        return None
    width = min(m, k + 2)  # every number has at least one row; the last one may have a twin on the other side
    nearest = np.empty((m, width), dtype=np.int64)
    nearest[:, 0] = np.arange(m)
    if width > 1:
        nearest[:, 1:] = line_neighbors(values, width - 1)
    distances = np.abs(values[nearest] - values[:, None])
    order = np.argsort(distances, axis=1, kind="stable")
    nearest, distances = np.take_along_axis(nearest, order, axis=1), np.take_along_axis(distances, order, axis=1)
    reached = np.cumsum(counts[nearest], axis=1) - 1  # other rows, up to each of the numbers
    last = np.argmax(reached >= k, axis=1)
    used = distances <= np.take_along_axis(distances, last[:, None], axis=1) + SAME_DISTANCE * (values[-1] - values[0])
    pairs = sparse.coo_array(
        (np.ones(int(used.sum())), (np.repeat(np.arange(m), used.sum(axis=1)), nearest[used])), shape=(m, m)
    )
    between = sparse.csr_array(((pairs + pairs.T) > 0).astype(np.float64))
    if float(counts @ (between @ counts)) > _MOST_EDGES:
        return None
    rows_of = sparse.csr_array((np.ones(len(y)), (np.arange(len(y)), group)), shape=(len(y), m))
    edges = sparse.coo_array(rows_of @ between @ rows_of.T)
    apart = edges.row != edges.col
    return sparse.csr_array((edges.data[apart], (edges.row[apart], edges.col[apart])), shape=edges.shape)


def semi_supervised_graph(
    X: Matrix,
    y: NDArray[np.float64],
    *,
    n_neighbors: int = 30,
    t: float | Literal["mean"] = 1.0,
    C: float = 1.0,
    n_jobs: int | None = None,
    approximate: bool = False,
    random_state: Any = 0,
) -> sparse.csr_array:
    r"""The mixed graph of the SSLS paper (equation 11): neighbours in y if both numbers are known, otherwise in X.

    Weights are :math:`e^{-d_{ij}^2/t}` with the distances of :class:`MixedSearch`, times C if both numbers are known.
    """
    check_width(t)
    k = clip_neighbors(n_neighbors, X.shape[0] - 1)
    search = MixedSearch(X, y, k, approximate=approximate, random_state=random_state, n_jobs=n_jobs)
    graph = symmetrize(from_neighbor_lists(search.others(np.arange(X.shape[0])), X.shape[0]))
    squared = squared_distances(graph, X, n_jobs) / X.shape[1]
    rows = np.repeat(np.arange(X.shape[0]), np.diff(graph.indptr))
    in_y = y[rows] - y[graph.indices]
    both = ~np.isnan(in_y)
    squared[both] = in_y[both] ** 2
    graph.data = heat(squared, t)
    graph.data[both] *= C
    return graph


class MixedSearch:
    r"""Nearest rows by :math:`d_{ij}^2 = (y_i - y_j)^2` if both numbers are known, otherwise by the mean over features
    of :math:`(f_{ri} - f_{rj})^2`.

    For an unlabelled row this is a plain search. For a labelled row, its nearest unlabelled rows (in X) are merged with
    its nearest labelled rows (on the line of y). So no n x n array is ever created.
    """

    def __init__(
        self,
        X: Matrix,
        y: NDArray[np.float64],
        k: int,
        *,
        approximate: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self._points, self._y, self._k, self._n_jobs = centre_columns(X), y, k, n_jobs
        known = ~np.isnan(y)
        self._labelled, self._unlabelled = np.flatnonzero(known), np.flatnonzero(~known)
        self._place = np.cumsum(known) - 1  # position of a labelled row among the labelled ones
        options: dict[str, Any] = {"approximate": approximate, "random_state": random_state, "n_jobs": n_jobs}
        if len(self._unlabelled):
            self._all_rows = RowSearch(self._points, k, **options)
            self._unlabelled_rows = RowSearch(self._points[self._unlabelled], min(k, len(self._unlabelled)), **options)

    def others(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The k nearest other rows (m, k) of each of ``rows``."""
        known = ~np.isnan(self._y[rows])
        neighbors = np.empty((len(rows), self._k), dtype=np.int64)
        if not known.all():
            neighbors[~known] = self._all_rows.others(self._k, rows[~known])
        if known.any():
            neighbors[known] = self._labelled_neighbors(rows[known])
        return neighbors

    def squared(self, rows: NDArray[np.int64], neighbors: NDArray[np.int64]) -> NDArray[np.float64]:
        """Squared distances (m, k) between each of ``rows`` and its list of neighbours."""
        squared = list_distances(self._points, rows, neighbors, self._n_jobs) / self._points.shape[1]
        in_y = self._y[rows][:, None] - self._y[neighbors]
        return np.where(np.isnan(in_y), squared, in_y**2)

    def _labelled_neighbors(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The best of k labelled rows by y and k unlabelled ones by X."""
        k_line = min(self._k, len(self._labelled) - 1)
        candidates = np.empty((len(rows), 0), dtype=np.int64)
        if k_line:
            found = line_neighbors(self._y[self._labelled], k_line, self._place[rows])
            candidates = self._labelled[found]
        if len(self._unlabelled):
            found = self._unlabelled_rows.nearest(self._points[rows], min(self._k, len(self._unlabelled)))
            candidates = np.hstack([candidates, self._unlabelled[found]])
        # ties go to the lowest row index, as in a sort of all rows; the units of y must not break them by rounding
        squared = self.squared(rows, candidates)
        coarse = np.round(squared / max(float(squared.max(initial=0.0)), _SMALLEST) / SAME_DISTANCE)
        order = np.lexsort((candidates, coarse), axis=1)[:, : self._k]
        return np.take_along_axis(candidates, order, axis=1)
