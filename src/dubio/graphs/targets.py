"""Graphs that take their neighbours from a numeric target, fully or partly known (SSLS paper, equations 3 and 11)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from dubio.graphs.neighbors import (
    _centre,
    check_width,
    clip_neighbors,
    from_neighbor_lists,
    heat,
    line_neighbors,
    squared_distances,
    symmetrize,
)
from dubio.table import Matrix


def target_graph(y: NDArray[np.float64], *, n_neighbors: int = 5, t: float | Literal["mean"] = 1.0) -> sparse.csr_array:
    r"""Weights :math:`e^{-(y_i-y_j)^2/t}` between rows whose numbers are nearest ("or" of both directions)."""
    check_width(t)
    k = clip_neighbors(n_neighbors, len(y) - 1, where="labelled row(s)")
    graph = symmetrize(from_neighbor_lists(line_neighbors(y, k), len(y)))
    graph.data = heat(squared_distances(graph, y[:, None]), t)
    return graph


def semi_supervised_graph(
    X: Matrix,
    y: NDArray[np.float64],
    *,
    n_neighbors: int = 30,
    t: float | Literal["mean"] = 1.0,
    C: float = 1.0,
    n_jobs: int | None = None,
) -> sparse.csr_array:
    r"""The mixed graph of the SSLS paper (equation 11): neighbours in y where both are known, else in X.

    :math:`d_{ij}^2 = (y_i - y_j)^2` if both numbers are known, else the mean over features of
    :math:`(f_{ri} - f_{rj})^2`; weights :math:`e^{-d_{ij}^2/t}`, times C where both are known. For an unlabelled row
    this is a plain search; a labelled row has its nearest unlabelled rows (in X) merged with its nearest labelled
    rows (on the line of y), so no n x n array is ever made.
    """
    check_width(t)
    n, d = X.shape
    k = clip_neighbors(n_neighbors, n - 1)
    labelled = np.flatnonzero(~np.isnan(y))
    unlabelled = np.flatnonzero(np.isnan(y))
    centred = _centre(X)
    neighbors = np.empty((n, k), dtype=np.int64)
    if len(unlabelled):
        search = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(centred)
        found = search.kneighbors(centred[unlabelled], n_neighbors=k + 1, return_distance=False)
        neighbors[unlabelled] = _drop_self(found, unlabelled)
    if len(labelled):
        neighbors[labelled] = _labelled_neighbors(centred, y, labelled, unlabelled, k, d, n_jobs)
    graph = symmetrize(from_neighbor_lists(neighbors, n))
    squared = squared_distances(graph, X, n_jobs) / d
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    in_y = y[rows] - y[graph.indices]
    both = ~np.isnan(in_y)
    squared[both] = in_y[both] ** 2
    graph.data = heat(squared, t)
    graph.data[both] *= C
    return graph


def _labelled_neighbors(
    X: Matrix,
    y: NDArray[np.float64],
    labelled: NDArray[np.int64],
    unlabelled: NDArray[np.int64],
    k: int,
    d: int,
    n_jobs: int | None,
) -> NDArray[np.int64]:
    """The k nearest of each labelled row: the best of k labelled ones by y and k unlabelled ones by X."""
    k_line = min(k, len(labelled) - 1)
    by_target = labelled[line_neighbors(y[labelled], k_line)] if k_line else np.empty((len(labelled), 0), np.int64)
    distances = (y[labelled, None] - y[by_target]) ** 2
    candidates = by_target
    if len(unlabelled):
        k_space = min(k, len(unlabelled))
        search = NearestNeighbors(n_neighbors=k_space, n_jobs=n_jobs).fit(X[unlabelled])
        found = search.kneighbors(X[labelled], return_distance=False)
        by_space = unlabelled[found]
        graph = from_neighbor_lists(by_space, X.shape[0])
        # distances from differences, as everywhere
        full = sparse.csr_array(
            (graph.data, graph.indices, _indptr_for(labelled, graph.indptr, X.shape[0])),
            shape=(X.shape[0],) * 2,
        )
        in_space = squared_distances(full, X, n_jobs).reshape(by_space.shape) / d
        candidates = np.hstack([by_target, by_space])
        distances = np.hstack([distances, in_space])
    # of equal distances the lowest row index, as a literal sort of all rows would have it
    order = np.lexsort((candidates, distances), axis=1)[:, :k]
    return np.take_along_axis(candidates, order, axis=1)


def _indptr_for(rows: NDArray[np.int64], indptr: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Row pointers of an n-row CSR matrix whose stored rows are ``rows`` (sorted), with their own ``indptr``."""
    counts = np.zeros(n, dtype=np.int64)
    counts[rows] = np.diff(indptr)
    return np.concatenate([[0], np.cumsum(counts)])


def _drop_self(found: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Remove each row from its own list of k + 1 neighbours (the last one if it is not there: duplicates)."""
    is_self = found == rows[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    return found[~is_self].reshape(len(rows), -1)
