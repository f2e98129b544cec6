r"""Edges of a neighbour graph as seen from a sample of rows: enough for unbiased sums over all edges.

Let N(i) be the k nearest rows of i. Every edge of the graph is in the list of one of its ends, or of both. So a sum
over edges is a sum over rows i and :math:`j \in N(i)`: an edge that is in one list counts fully, and an edge that is in
both lists counts half, twice. The part of row i needs its own list, and whether i is in the lists of its neighbours.
For m sampled rows these are at most m (k + 1) lists, each found exactly among all n rows. The sum over a simple random
sample of rows, times n / m, is then an unbiased estimate of the whole sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dubio._kernels.threads import chunks
from dubio.counts import clip_neighbors
from dubio.errors import InputError, require_choice
from dubio.graphs.nearest_rows import RowSearch, centre_columns
from dubio.graphs.neighbors import Kernel, Symmetry, check_width, heat, line_neighbors, list_distances
from dubio.graphs.targets import MixedSearch
from dubio.seeds import random_of
from dubio.tables.matrix import Matrix

Lists = Callable[[NDArray[np.int64]], NDArray[np.int64]]


@dataclass(frozen=True)
class AnchorEdges:
    """Sampled rows (m,), their neighbours (m, k), and the weights (m, k) of these edges in sums.

    With ``t="mean"`` the width is itself an estimate. For the standard error, ``slope`` is the derivative of the
    weights by the width, and ``pull`` (m,) is the effect of each sampled row on the width.
    """

    n_rows: int
    rows: NDArray[np.int64]
    neighbors: NDArray[np.int64]
    weights: NDArray[np.float64]
    slope: NDArray[np.float64] | None = None
    pull: NDArray[np.float64] | None = None


def neighbor_anchors(
    X: Matrix,
    *,
    n_neighbors: int,
    t: float | Literal["mean"],
    kernel: Kernel,
    symmetry: Symmetry,
    n_anchors: int,
    random_state: Any,
    n_jobs: int | None = None,
) -> AnchorEdges:
    """Sampled rows of the graph of :func:`~dubio.graphs.neighbor_graph`."""
    check_width(t)
    n = X.shape[0]
    k = clip_neighbors(n_neighbors, n - 1)
    rows = sample_rows(n, n_anchors, random_state)
    search = RowSearch(centre_columns(X), k, n_jobs=n_jobs)
    neighbors = search.others(k, rows)
    share = edge_shares(rows, neighbors, lambda these: search.others(k, these), symmetry)
    squared = list_distances(X, rows, neighbors, n_jobs)
    return _weigh(n, rows, neighbors, share, squared if kernel == "squared" else np.sqrt(squared), t)


def target_anchors(
    y: NDArray[np.float64], *, n_neighbors: int, t: float | Literal["mean"], n_anchors: int, random_state: Any
) -> AnchorEdges:
    """Sampled rows of the graph of :func:`~dubio.graphs.target_graph`."""
    check_width(t)
    k = clip_neighbors(n_neighbors, len(y) - 1, where="labelled row")
    rows = sample_rows(len(y), n_anchors, random_state)
    neighbors = line_neighbors(y, k, rows)
    share = edge_shares(rows, neighbors, lambda these: line_neighbors(y, k, these), "or")
    return _weigh(len(y), rows, neighbors, share, (y[rows][:, None] - y[neighbors]) ** 2, t)


def semi_supervised_anchors(
    X: Matrix,
    y: NDArray[np.float64],
    *,
    n_neighbors: int,
    t: float | Literal["mean"],
    C: float,
    n_anchors: int,
    random_state: Any,
    n_jobs: int | None = None,
) -> AnchorEdges:
    """Sampled rows of the graph of :func:`~dubio.graphs.semi_supervised_graph`."""
    check_width(t)
    k = clip_neighbors(n_neighbors, X.shape[0] - 1)
    rows = sample_rows(X.shape[0], n_anchors, random_state)
    search = MixedSearch(X, y, k, n_jobs=n_jobs)
    neighbors = search.others(rows)
    share = edge_shares(rows, neighbors, search.others, "or")
    factor = np.where(np.isnan(y[rows][:, None] - y[neighbors]), 1.0, C)
    return _weigh(X.shape[0], rows, neighbors, share, search.squared(rows, neighbors), t, factor)


def sample_rows(n_rows: int, n_anchors: int, random_state: Any) -> NDArray[np.int64]:
    """``n_anchors`` different rows, each row equally likely (all rows if there are no more); sorted."""
    if n_anchors < 2:
        raise InputError("n_anchors", f"={n_anchors}", "a standard error needs at least two sampled rows")
    if n_anchors >= n_rows:
        return np.arange(n_rows)
    chosen = random_of(random_state).choice(n_rows, size=n_anchors, replace=False)
    return np.sort(chosen).astype(np.int64)


def edge_shares(
    rows: NDArray[np.int64], neighbors: NDArray[np.int64], lists: Lists, symmetry: Symmetry
) -> NDArray[np.float64]:
    """How much of each edge (m, k) counts in the list of ``rows[m]``; see the top of this file."""
    require_choice("symmetry", symmetry, ("or", "and"))
    ends = np.unique(neighbors)
    back = lists(ends)
    mutual = np.empty(neighbors.shape, dtype=bool)
    for start, stop in chunks(len(rows), 4096):
        lists_of_ends = back[np.searchsorted(ends, neighbors[start:stop])]
        mutual[start:stop] = (lists_of_ends == rows[start:stop, None, None]).any(axis=2)
    return np.where(mutual, 0.5, 1.0 if symmetry == "or" else 0.0)


def _weigh(
    n_rows: int,
    rows: NDArray[np.int64],
    neighbors: NDArray[np.int64],
    share: NDArray[np.float64],
    distances: NDArray[np.float64],
    t: float | Literal["mean"],
    factor: NDArray[np.float64] | float = 1.0,
) -> AnchorEdges:
    counted = share > 0
    if not counted.any():
        raise InputError(
            "n_neighbors",
            f"={neighbors.shape[1]} leaves no sampled row with an edge",
            "give more neighbours or anchors, or symmetry='or'",
        )
    width = float((share * distances).sum() / share.sum()) or 1.0 if t == "mean" else float(t)
    heated = np.zeros(distances.shape)
    heated[counted] = heat(distances[counted], width)
    weights = share * factor * heated
    if t != "mean":
        return AnchorEdges(n_rows, rows, neighbors, weights)
    pull = (share * (distances - width)).sum(axis=1) / share.sum()
    return AnchorEdges(n_rows, rows, neighbors, weights, weights * distances / width**2, pull)
