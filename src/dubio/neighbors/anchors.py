"""Graph scores estimated from some rows, the anchors, with standard errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.checks import clip_neighbors, random_of
from dubio.errors import InputError, require_choice
from dubio.kernels.threads import chunks, default_threads, run_chunks
from dubio.neighbors.graphs import (
    Kernel,
    MixedSearch,
    RowSearch,
    Symmetry,
    centre_columns,
    check_width,
    heat,
    line_neighbors,
    list_distances,
)
from dubio.table.columns import Columns
from dubio.table.matrix import Matrix

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
    """Sampled rows of the graph of :func:`~dubio.neighbors.graphs.neighbor_graph`."""
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
    """Sampled rows of the graph of :func:`~dubio.neighbors.graphs.target_graph`."""
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
    """Sampled rows of the graph of :func:`~dubio.neighbors.graphs.semi_supervised_graph`."""
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


#: Memory in bytes for the values at all ends of the sampled edges, for one block of columns.
_BLOCK_BYTES = 32 * 2**20


def anchor_ratio(
    edges: AnchorEdges, X: Matrix, columns: Columns | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score of every feature and its standard error; ``inf`` and 0 for a feature constant over the edges."""
    if not edges.weights.sum() > 0:
        raise InputError(
            "t", "leaves no sampled edge with a positive weight", "give a wider kernel (t) or more anchors"
        )
    touched = np.unique(np.concatenate([edges.rows, edges.neighbors.ravel()]))
    here = np.searchsorted(touched, edges.rows)
    there = np.searchsorted(touched, edges.neighbors)
    table = X[touched]
    if sparse.issparse(table):
        table = table.tocsc()
    width = int(np.clip(_BLOCK_BYTES // (8 * there.size), 1, 64))

    def work(start: int, stop: int) -> NDArray[np.float64]:
        block: Any = table[:, start:stop]
        values = np.array(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)
        values -= values[0]  # makes a constant column exactly zero
        return np.vstack(_ratio(edges, values[here], values[there]))

    if columns is None or columns.is_plain:
        scores, errors = np.concatenate(run_chunks(work, chunks(X.shape[1], width), default_threads()), axis=1)
        return scores, errors
    of_features = [_wide_ratio(edges, table[:, columns.of(j)], here, there) for j in range(columns.n_features)]
    scores, errors = np.array(of_features).T
    return scores, errors


def _wide_ratio(
    edges: AnchorEdges, values: NDArray[Any], here: NDArray[np.intp], there: NDArray[np.intp]
) -> tuple[float, float]:
    """The score of one feature of several columns, and its standard error."""
    values = np.array(values, dtype=np.float64)
    values -= values[0]
    scores, errors = _ratio(edges, values[here], values[there], together=True)
    return float(scores[0]), float(errors[0])


def product_of_sums(u: NDArray[np.float64], z: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """Unbiased estimate of (sum of u over all rows) x (sum of z over all rows) from sampled rows along axis 0."""
    m = len(u)
    same = (u * z).sum(axis=0)
    different = u.sum(axis=0) * z.sum(axis=0) - same
    return np.asarray(n_rows / m * same + n_rows * (n_rows - 1) / (m * (m - 1)) * different)


def numerator_and_denominator(
    edges: AnchorEdges, x: NDArray[np.float64], x_there: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unbiased estimates of V A and V Q - M^2, from values (m, b) at sampled rows and (m, k, b) at neighbours."""
    a, q, s, v = _parts(edges.weights, x, x_there)
    n = edges.n_rows
    return product_of_sums(v, a, n), product_of_sums(v, q, n) - product_of_sums(s, s, n)


def _parts(
    weights: NDArray[np.float64], x: NDArray[np.float64], x_there: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    total = weights.sum(axis=1)[:, None]
    a = np.einsum("mk,mkb->mb", weights, (x[:, None, :] - x_there) ** 2)
    q = total * x**2 + np.einsum("mk,mkb->mb", weights, x_there**2)
    s = total * x + np.einsum("mk,mkb->mb", weights, x_there)
    return a, q, s, 2 * total


def _ratio(
    edges: AnchorEdges, x: NDArray[np.float64], x_there: NDArray[np.float64], together: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of the columns and their standard errors; one score of all of them ``together``."""

    def joined(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values.sum(axis=-1, keepdims=True) if together else values

    _, _, s, v = _parts(edges.weights, x, x_there)
    mean = s.sum(axis=0) / v.sum()
    x, x_there = x - mean, x_there - mean  # changes no estimate, but avoids loss of digits
    n, m = edges.n_rows, len(edges.rows)
    above, below = map(joined, numerator_and_denominator(edges, x, x_there))
    a, q, s, v = _parts(edges.weights, x, x_there)
    # In a very small sample the unbiased estimate of a positive number may be negative; the plain estimate cannot.
    plain = joined((n / m) ** 2 * (v.sum() * q.sum(axis=0) - s.sum(axis=0) ** 2))
    below = np.where(below > 0, below, plain)
    varies = plain > 0
    scores = np.divide(above, below, out=np.full(len(above), np.inf), where=varies)
    if m == n:
        return scores, np.zeros_like(scores)
    spread = np.where(varies, below / (n / m * v.sum()), 1.0)
    finite = np.where(varies, scores, 0.0)
    mu = s.sum(axis=0) / v.sum()
    e = joined(a - finite * (q - 2 * mu * s + mu**2 * v)) / spread
    if edges.slope is not None and edges.pull is not None:
        a, q, s, v = _parts(edges.slope, x, x_there)
        by_width = n / m * joined(a - finite * (q - 2 * mu * s + mu**2 * v)).sum(axis=0) / spread
        e = e + by_width * (edges.pull * m / n)[:, None]
    errors = n * np.sqrt((1 - m / n) / m * e.var(axis=0, ddof=1))
    return scores, np.where(varies, errors, 0.0)
