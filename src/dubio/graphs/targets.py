"""Graphs whose neighbours come from a numeric target, fully or partly known (SSLS paper, equations 3 and 11)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio._kernels.edges import SAME_DISTANCE
from dubio.counts import clip_neighbors
from dubio.graphs.nearest_rows import RowSearch, centre_columns
from dubio.graphs.neighbors import (
    check_width,
    from_neighbor_lists,
    heat,
    line_neighbors,
    list_distances,
    squared_distances,
    symmetrize,
)
from dubio.tables.matrix import Matrix

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
