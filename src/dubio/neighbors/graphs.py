"""Neighbour graphs of rows, of targets and of clusters, as sparse matrices; of all rows or around sampled ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from dubio.checks import clip_neighbors, random_of
from dubio.errors import InputError, InputWarning, warn
from dubio.kernels.edges import SAME_DISTANCE, neighbors_on_a_line, pair_squared_distances
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.progress import advance
from dubio.table.matrix import Matrix, centre_far_columns

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: How a graph is found: exact neighbours of every row, approximate ones, or exact ones of sampled rows only.
Route = Literal["exact", "approximate", "anchors"]
#: Whether the exponent of a weight holds the squared or the plain distance.
Kernel = Literal["squared", "linear"]
#: Whether one of two rows must be among the nearest of the other, or each.
Symmetry = Literal["or", "and"]
#: The width of the kernel; "mean" is the mean distance over the edges.
Width = float | Literal["mean"]

#: With fewer rows, an exact search is as fast as an approximate one.
_FEW_ROWS = 4096
#: Rows whose neighbours are searched in one call, and pairs of rows whose distances are computed at once.
_SEARCHED_AT_ONCE, _PAIRS_AT_ONCE = 1000, 65_536


@dataclass(frozen=True)
class AnchorEdges:
    """Sampled rows (m,), their neighbours (m, k), and the weights (m, k) of these edges in sums.

    With ``t="mean"`` the width is itself an estimate. For the standard error, ``slope`` is the derivative of the
    weights by the width, and ``pull`` (m,) is the effect of each sampled row on the width.
    """

    n_rows: int
    rows: Integers
    neighbors: Integers
    weights: Floats
    slope: Floats | None = None
    pull: Floats | None = None


class Neighborhood(ABC):
    """The nearest rows of each row, and how far apart two rows are.

    From these, :meth:`graph` makes a graph of all rows, and :meth:`anchors` the edges of some sampled rows.
    """

    n_rows: int
    #: With "or", an edge connects two rows if one of them is among the k nearest of the other; with "and", if each is.
    symmetry: Symmetry = "or"

    @abstractmethod
    def others(self, rows: Integers) -> Integers:
        """The k nearest other rows (m, k) of each of ``rows``, nearest first."""

    @abstractmethod
    def distances(self, first: Integers, second: Integers) -> Floats:
        """How far apart rows ``first[e]`` and ``second[e]`` are: the distance in the exponent of the weight."""

    def factor(self, first: Integers, second: Integers) -> Any:
        """A factor of the weight of the edge between rows ``first[e]`` and ``second[e]``."""
        return 1.0

    def edges(self) -> sparse.csr_array:
        """The symmetric 0/1 graph of neighbours, without a diagonal."""
        neighbors = self.others(np.arange(self.n_rows))
        n, k = neighbors.shape
        lists = (np.ones(n * k), neighbors.ravel().astype(np.int32), np.arange(0, n * k + 1, k))
        return symmetrize(sparse.csr_array(lists, shape=(n, n)), self.symmetry)

    def graph(self, t: Width = 1.0) -> sparse.csr_array:
        r"""Weights :math:`e^{-d_{ij}/t}` between neighbours, as a symmetric matrix (n, n) without a diagonal.

        Weights are relative to the weight of the closest pair. This leaves every score unchanged and avoids underflow
        in wide tables.
        """
        graph = self.edges()
        ends = ends_of(graph)
        graph.data = heat(self.distances(*ends), t) * self.factor(*ends)
        return graph

    def anchors(self, t: Width, n_anchors: int, random_state: Any = 0) -> AnchorEdges:
        """The edges of sampled rows: an edge that is in the lists of both its rows counts half in each of them."""
        rows = sample_rows(self.n_rows, n_anchors, random_state)
        neighbors = self.others(rows)
        share = self._shares(rows, neighbors)
        counted = share > 0
        if not counted.any():
            found = f"={neighbors.shape[1]} leaves no sampled row with an edge"
            raise InputError("n_neighbors", found, "give more neighbours or anchors, or symmetry='or'")
        ends = np.broadcast_to(rows[:, None], neighbors.shape), neighbors
        distances = self.distances(ends[0].ravel(), neighbors.ravel()).reshape(neighbors.shape)
        width = float((share * distances).sum() / share.sum()) or 1.0 if t == "mean" else float(t)
        heated = np.zeros(distances.shape)
        heated[counted] = heat(distances[counted], width)
        weights = share * self.factor(*ends) * heated
        pull = (share * (distances - width)).sum(axis=1) / share.sum()
        of_width = (weights * distances / width**2, pull) if t == "mean" else ()
        return AnchorEdges(self.n_rows, rows, neighbors, weights, *of_width)

    def _shares(self, rows: Integers, neighbors: Integers) -> Floats:
        """How much of each edge (m, k) counts in the list of its sampled row."""
        ends = np.unique(neighbors)
        back = self.others(ends)
        mutual = np.empty(neighbors.shape, dtype=bool)
        for start, stop in chunks(len(rows), 4096):
            lists_of_ends = back[np.searchsorted(ends, neighbors[start:stop])]
            mutual[start:stop] = (lists_of_ends == rows[start:stop, None, None]).any(axis=2)
        return np.where(mutual, 0.5, 1.0 if self.symmetry == "or" else 0.0)


def sample_rows(n_rows: int, n_anchors: int, random_state: Any) -> Integers:
    """``n_anchors`` different rows, each row equally likely (all rows if there are no more); sorted."""
    if n_anchors < 2:
        raise InputError("n_anchors", f"={n_anchors}", "a standard error needs at least two sampled rows")
    if n_anchors >= n_rows:
        return np.arange(n_rows)
    return np.sort(random_of(random_state).choice(n_rows, size=n_anchors, replace=False)).astype(np.int64)


class RowSearch:
    """The k nearest rows in a table: of its own rows, or of other points.

    The table must be centred: neighbour search expands squares, and a large offset would then cost digits.
    ``approximate`` uses nearest-neighbour descent (pynndescent), drawn with ``random_state``, instead of scikit-learn's
    exact search. Tables with fewer than 4,096 rows are always searched exactly.
    """

    def __init__(
        self, points: Matrix, k: int, *, approximate: bool = False, random_state: Any = 0, n_jobs: int | None = None
    ) -> None:
        resolve_threads(n_jobs)  # raises for a number that nobody can use
        self._points, self._k, self._n_jobs = points, k, n_jobs
        self._descent: Any = None
        if approximate and points.shape[0] >= _FEW_ROWS:
            try:
                from pynndescent import NNDescent
            except ImportError as error:
                need = "neighbors='approximate' needs pynndescent: pip install 'dubio[approximate]'"
                raise ImportError(need) from error
            # With longer lists than needed, the descent finds more of the true neighbours.
            longer, seed = max(k + 1, 15), random_of(random_state).randint(2**31 - 1)
            self._descent = NNDescent(points, n_neighbors=longer, random_state=seed, n_jobs=n_jobs)

    @cached_property
    def _exact(self) -> NearestNeighbors:
        return NearestNeighbors(n_neighbors=self._k, n_jobs=self._n_jobs).fit(self._points)

    def others(self, rows: Integers) -> Integers:
        """The k nearest other rows of ``rows``: (m, k), nearest first."""
        if self._descent is None:
            return self._exact_others(rows)
        neighbors = drop_self(self._descent.neighbor_graph[0][rows, : self._k + 1].astype(np.int64), rows)
        unfinished = (neighbors < 0).any(axis=1)  # the descent marks what it has not found by -1
        neighbors[unfinished] = self._exact_others(rows[unfinished])
        return neighbors

    def _exact_others(self, rows: Integers) -> Integers:
        """The same by an exact search; many rows are searched in parts, so that the progress can be seen."""
        neighbors = np.empty((len(rows), self._k), dtype=np.int64)
        for start, stop in chunks(len(rows), _SEARCHED_AT_ONCE):
            points = self._points[rows[start:stop]]
            found = self._exact.kneighbors(points, n_neighbors=self._k + 1, return_distance=False)
            neighbors[start:stop] = drop_self(found, rows[start:stop])
            if len(rows) > _SEARCHED_AT_ONCE:
                advance("neighbours", stop, len(rows))
        return neighbors

    def nearest(self, points: Matrix) -> Integers:
        """The k rows nearest to each of some other points."""
        if self._descent is not None:
            found = self._descent.query(points, k=self._k)[0]
            if (found >= 0).all():
                return np.asarray(found, dtype=np.int64)
        return np.asarray(self._exact.kneighbors(points, return_distance=False))


def drop_self(found: Integers, rows: Integers) -> Integers:
    """Remove each row from its own list of k + 1 neighbours.

    If more copies of a row than neighbours have pushed it out, the first entry goes, as in scikit-learn.
    """
    other = found != rows[:, None]
    other[other.all(axis=1), 0] = False
    return found[other].reshape(len(rows), -1)


def _centred(X: Matrix) -> Matrix:
    if sparse.issparse(X):
        return centre_far_columns(X)
    return X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)


class RowNeighbors(RowSearch, Neighborhood):
    """Rows whose features are near.

    ``n_neighbors`` does not count the row itself; it is reduced to n - 1, with a warning, if it is larger. ``symmetry``
    is that of :class:`Neighborhood`, and further options are those of :class:`RowSearch`.
    """

    def __init__(
        self, X: Matrix, *, n_neighbors: int = 5, kernel: Kernel = "squared", symmetry: Symmetry = "or", **search: Any
    ) -> None:
        super().__init__(_centred(X), clip_neighbors(n_neighbors, X.shape[0] - 1), **search)
        self.n_rows, self.symmetry, self._X, self._kernel = X.shape[0], symmetry, X, kernel

    def distances(self, first: Integers, second: Integers) -> Floats:
        """Squared or plain distances of rows."""
        return kernel_distances(self._X, first, second, self._kernel, self._n_jobs)


#: Most edges of a graph in which all rows with equal numbers are neighbours.
_MOST_EDGES = 2e7


class TargetNeighbors(Neighborhood):
    """Rows whose numbers are near.

    In the graph, rows with equal numbers are treated alike: if one of them is a neighbour, all of them are. So the
    order of the rows does not matter. (If this needs more than 20 million edges, neighbours among equal numbers are the
    next rows.)
    """

    def __init__(self, y: Floats, *, n_neighbors: int = 5) -> None:
        self.n_rows, self._y = len(y), y
        self._k = clip_neighbors(n_neighbors, len(y) - 1, where="labelled row")

    def others(self, rows: Integers) -> Integers:
        """The k nearest other numbers of each of ``rows``; of equally near ones, the first."""
        return line_neighbors(self._y, self._k, rows)

    def distances(self, first: Integers, second: Integers) -> Floats:
        """Squared differences of the numbers."""
        return np.asarray((self._y[first] - self._y[second]) ** 2)

    def edges(self) -> sparse.csr_array:
        """The symmetric 0/1 graph of neighbours, without a diagonal: all rows of a number are neighbours, or none.

        The neighbours of a number are the nearest numbers, so many that they have at least k other rows.
        """
        values, group, counts = np.unique(self._y, return_inverse=True, return_counts=True)
        n, m = self.n_rows, len(values)
        if m == n:
            return super().edges()
        width = min(m, self._k + 2)  # every number has at least one row; the last one may have a twin on the other side
        nearest = np.column_stack([np.arange(m), line_neighbors(values, width - 1, np.arange(m))])
        distances = np.abs(values[nearest] - values[:, None])
        order = np.argsort(distances, axis=1, kind="stable")
        nearest, distances = np.take_along_axis(nearest, order, axis=1), np.take_along_axis(distances, order, axis=1)
        reached = np.cumsum(counts[nearest], axis=1) - 1  # other rows, up to each of the numbers
        last = np.argmax(reached >= self._k, axis=1)
        farthest = np.take_along_axis(distances, last[:, None], axis=1)
        used = distances <= farthest + SAME_DISTANCE * (values[-1] - values[0])
        ends = np.repeat(np.arange(m), used.sum(axis=1)), nearest[used]
        pairs = sparse.coo_array((np.ones(len(ends[0])), ends), shape=(m, m))
        between = sparse.csr_array(((pairs + pairs.T) > 0).astype(np.float64))
        if float(counts @ (between @ counts)) > _MOST_EDGES:
            return super().edges()
        rows_of = sparse.csr_array((np.ones(n), (np.arange(n), group)), shape=(n, m))
        return without_diagonal(rows_of @ between @ rows_of.T)


def line_neighbors(values: Floats, k: int, rows: Integers) -> Integers:
    """Indices (m, k) of the k other values nearest to each of ``values[rows]`` on a line; O(n log n + m k)."""
    out = np.empty((len(rows), k), dtype=np.int64)
    neighbors_on_a_line(np.ascontiguousarray(values, dtype=np.float64), rows, k, out)
    return out


_SMALLEST = float(np.finfo(np.float64).tiny)


class MixedNeighbors(Neighborhood):
    r"""The mixed graph of Doquire and Verleysen (2013), equation 11: near in y if both are known, otherwise in X.

    The distance of two rows is :math:`d_{ij}^2 = (y_i - y_j)^2` if both numbers are known, otherwise the mean over
    features of :math:`(f_{ri} - f_{rj})^2`. Weights are multiplied by C if both numbers are known.

    For an unlabelled row this is a plain search. For a labelled row, its nearest unlabelled rows (in X) are merged with
    its nearest labelled rows (on the line of y). So no n x n array is ever created.

    ``y`` is NaN where a number is not known; further options are those of :class:`RowSearch`.
    """

    def __init__(self, X: Matrix, y: Floats, *, n_neighbors: int = 30, C: float = 1.0, **search: Any) -> None:
        self.n_rows, self._n_jobs = X.shape[0], search.get("n_jobs")
        self._X, self._y, self._C, self._points = X, y, C, _centred(X)
        self._k = k = clip_neighbors(n_neighbors, self.n_rows - 1)
        labelled = ~np.isnan(y)
        self._labelled, self._unlabelled = np.flatnonzero(labelled), np.flatnonzero(~labelled)
        self._place = np.cumsum(labelled) - 1  # position of a labelled row among the labelled ones
        if len(self._unlabelled):
            unlabelled = self._points[self._unlabelled]
            self._all_rows = RowSearch(self._points, k, **search)
            self._unlabelled_rows = RowSearch(unlabelled, min(k, len(self._unlabelled)), **search)

    def others(self, rows: Integers) -> Integers:
        """The k nearest other rows (m, k) of each of ``rows``."""
        labelled = ~np.isnan(self._y[rows])
        neighbors = np.empty((len(rows), self._k), dtype=np.int64)
        if not labelled.all():
            neighbors[~labelled] = self._all_rows.others(rows[~labelled])
        if labelled.any():
            neighbors[labelled] = self._labelled_neighbors(rows[labelled])
        return neighbors

    def distances(self, first: Integers, second: Integers) -> Floats:
        """Squared differences of the numbers, or mean squared differences of the features."""
        in_y = self._y[first] - self._y[second]
        in_X = squared_distances(self._X, first, second, self._n_jobs) / self._X.shape[1]
        return np.where(np.isnan(in_y), in_X, in_y**2)

    def factor(self, first: Integers, second: Integers) -> Any:
        """C if both numbers are known."""
        return np.where(np.isnan(self._y[first] - self._y[second]), 1.0, self._C)

    def _labelled_neighbors(self, rows: Integers) -> Integers:
        """The best of k labelled rows by y and k unlabelled ones by X."""
        k_line = min(self._k, len(self._labelled) - 1)
        candidates = np.empty((len(rows), 0), dtype=np.int64)
        if k_line:
            candidates = self._labelled[line_neighbors(self._y[self._labelled], k_line, self._place[rows])]
        if len(self._unlabelled):
            found = self._unlabelled_rows.nearest(self._points[rows])
            candidates = np.hstack([candidates, self._unlabelled[found]])
        # ties go to the lowest row index, as in a sort of all rows; the units of y must not break them by rounding
        squared = self.distances(np.repeat(rows, candidates.shape[1]), candidates.ravel()).reshape(candidates.shape)
        coarse = np.round(squared / max(float(squared.max(initial=0.0)), _SMALLEST) / SAME_DISTANCE)
        order = np.lexsort((candidates, coarse), axis=1)[:, : self._k]
        return np.take_along_axis(candidates, order, axis=1)


def symmetrize(graph: sparse.csr_array, symmetry: Symmetry = "or") -> sparse.csr_array:
    """Join both directions of a 0/1 graph ("or"), or keep edges that go both ways ("and"); drops the diagonal."""
    other = graph.T.tocsr()
    return without_diagonal(graph.maximum(other) if symmetry == "or" else graph.minimum(other))


def without_diagonal(graph: Any) -> sparse.csr_array:
    """The graph as CSR, without self edges and stored zeros."""
    coo = sparse.coo_array(graph)
    keep = (coo.row != coo.col) & (coo.data != 0)
    return sparse.csr_array((coo.data[keep], (coo.row[keep], coo.col[keep])), shape=coo.shape)


def ends_of(graph: sparse.csr_array) -> tuple[Integers, Integers]:
    """The two rows of every stored edge."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices


def squared_distances(X: Matrix, first: Integers, second: Integers, n_jobs: int | None = None) -> Floats:
    """Squared distance of rows ``first[e]`` and ``second[e]``, from differences (a Gram matrix would lose digits)."""
    out = np.empty(len(first))
    table = X if sparse.issparse(X) else np.ascontiguousarray(X)

    def work(start: int, stop: int) -> None:
        if sparse.issparse(table):
            difference = (table[first[start:stop]] - table[second[start:stop]]).astype(np.float64)
            out[start:stop] = np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
        else:
            pair_squared_distances(table, first, second, start, stop, out)

    run_chunks(work, chunks(len(first), _PAIRS_AT_ONCE), 1 if sparse.issparse(X) else resolve_threads(n_jobs))
    return out


def kernel_distances(X: Matrix, first: Integers, second: Integers, kernel: Kernel, n_jobs: int | None = None) -> Floats:
    """Squared or plain distances of rows ``first[e]`` and ``second[e]``, as the kernel takes them."""
    squared = squared_distances(X, first, second, n_jobs)
    return squared if kernel == "squared" else np.sqrt(squared)


def heat(distances: Floats, t: Width) -> Floats:
    """``exp(-(d - min d) / t)``; warns if the kernel is so narrow that hardly any edge counts."""
    if len(distances) == 0:
        return distances
    width = float(distances.mean()) or 1.0 if t == "mean" else float(t)
    with np.errstate(over="ignore"):  # an infinite distance has the weight 0
        weights = np.exp(-(distances - distances.min()) / width)
    effective = weights.sum() ** 2 / (weights**2).sum()
    if effective < 0.02 * len(weights):
        narrow = f"={width:g} makes the kernel too narrow for these distances (their mean is {distances.mean():g})"
        few = f"about {effective:.0f} of {len(weights)} edge weights decide the score"
        warn(InputWarning("t", f"{narrow}: {few}", "use t='mean' or a larger t"))
    return weights


def read_graph(graph: Any, X: Matrix, *, t: Width, kernel: Kernel, symmetry: Symmetry) -> sparse.csr_array:
    """Read the user's own graph: a sparse matrix of weights, or a neighbours transformer (KNeighborsTransformer).

    A matrix is used as it is (without its diagonal) and must be symmetric and not negative. A transformer only
    chooses the neighbours; the weights are then computed as for our own graph.
    """
    n = X.shape[0]
    if hasattr(graph, "fit_transform"):
        found = graph.fit_transform(X)
        if not sparse.issparse(found) or found.shape != (n, n):
            remedy = "its fit_transform must give a sparse (n, n) neighbours graph"
            raise InputError("graph", f"is a {type(graph).__name__}", remedy)
        edges = sparse.csr_array(found)
        edges.data = np.ones(edges.nnz)  # a stored distance of zero is an edge too
        edges = symmetrize(edges, symmetry)
        edges.data = heat(kernel_distances(X, *ends_of(edges), kernel), t)
        return edges
    if not sparse.issparse(graph):
        remedy = "give a SciPy sparse matrix of weights or a neighbours transformer"
        raise InputError("graph", f"is a {type(graph).__name__}", remedy)
    return without_diagonal(read_weights(graph, n))


def read_weights(graph: Any, n_rows: int, tolerance: float = 1e-12) -> sparse.csr_array:
    """A matrix of weights between rows: not negative, and symmetric up to a share of the largest weight."""
    weights = sparse.csr_array(graph, dtype=np.float64)
    if weights.shape != (n_rows, n_rows):
        found = f"has shape {weights.shape}, but X has {n_rows} rows"
        raise InputError("graph", found, f"it must have shape ({n_rows}, {n_rows})")
    if weights.nnz and not (np.isfinite(weights.data).all() and weights.data.min() >= 0):
        raise InputError("graph", "has negative or infinite weights", "give similarities, and 0 where there is no edge")
    difference = abs(weights - weights.T)
    if difference.nnz and difference.max() > tolerance * weights.max():
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
            upper, size = sparse.coo_array(np.triu(weights, k=1)), len(rows) - start
            half = sparse.csr_array((upper.data, (upper.row, upper.col)), shape=(size, size))
            yield rows[start:], half + half.T
