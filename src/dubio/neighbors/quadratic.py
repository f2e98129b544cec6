"""Quadratic forms of a graph, and their ratio, for all features at once; or estimated from sampled rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.errors import InputError
from dubio.kernels.edges import edge_energy
from dubio.kernels.threads import chunks, default_threads, run_chunks
from dubio.neighbors.graphs import AnchorEdges
from dubio.table.matrix import CANCELLED, Columns, Matrix, columns_of_sizes, feature_sums

Floats = NDArray[np.float64]

#: Sum of weights from which on they are scaled down.
_MOST_WEIGHT = 1e6
#: Size of one dense block of columns, in bytes.
_BLOCK_BYTES = 32 * 2**20


def quadratic_form(graph: sparse.csr_array, X: Matrix) -> Floats:
    r""":math:`f^T L f = \frac12 \sum_{ij} S_{ij} (f_i - f_j)^2` for every column f of ``X``.

    ``graph`` is a symmetric CSR matrix S. Dense tables are summed over edges, from differences, in blocks of columns.
    Sparse tables take time proportional to their stored values; columns that would lose digits are summed as dense.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from dubio.neighbors.quadratic import quadratic_form
    >>> S = sparse.csr_array([[0.0, 2.0], [2.0, 0.0]])
    >>> quadratic_form(S, np.array([[0.0, 1.0], [3.0, 1.0]]))
    array([18.,  0.])
    """
    if sparse.issparse(X):
        energy, squares = _sparse_energy(graph, np.asarray(graph.sum(axis=1)).ravel(), X)
        lost = np.flatnonzero(energy < CANCELLED * squares)
        if len(lost):
            energy[lost] = by_blocks(X, lambda block: edge_energies(graph, block), lost)
        return energy
    return by_blocks(X, lambda block: edge_energies(graph, block))


def laplacian_ratio(graph: sparse.csr_array, X: Matrix, columns: Columns | None = None) -> Floats:
    r""":math:`\tilde f^T L \tilde f / \tilde f^T D \tilde f` for every feature, centred by its D-weighted mean.

    If a feature has several columns, both forms are summed over them. ``inf`` where a feature does not vary over the
    nodes of the graph (0/0): the worst score, because low is good.
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    total = degrees.sum()
    if not total > 0:
        remedy = "give more neighbours, a wider kernel (t), or a graph with edges"
        raise InputError("graph", "has no edge with a positive weight", remedy)

    graph = moderate(graph, total)
    degrees, total = np.asarray(graph.sum(axis=1)).ravel(), graph.sum()

    def both(block: Floats) -> Floats:
        block -= block[np.argmax(degrees)]  # makes a constant column exactly zero
        block -= degrees @ block / total
        return np.vstack([edge_energies(graph, block), degrees @ block**2])

    if sparse.issparse(X):
        energy, squares = _sparse_energy(graph, degrees, X)
        forms = np.stack([energy, squares - np.asarray(degrees @ X).ravel() ** 2 / total])
        lost = np.flatnonzero(forms.min(axis=0) < CANCELLED * squares)
        if len(lost):
            forms[:, lost] = by_blocks(X, both, lost)
    else:
        forms = by_blocks(X, both)
    energy, spread = feature_sums(forms, columns)
    return np.divide(energy, spread, out=np.full(len(energy), np.inf), where=spread > 0)


def moderate(weights: Any, total: float) -> Any:
    """The same weights; times a power of two if their sum is large, which changes no ratio and no digit of one.

    Values up to 1e150 can be squared, but not times the weights of so many edges.
    """
    return weights if total < _MOST_WEIGHT else weights * 2.0 ** -int(np.frexp(total)[1])


def edge_energies(graph: sparse.csr_array, block: Floats) -> Floats:
    """The quadratic form of a C-ordered float64 block of columns."""
    out = np.zeros(block.shape[1])
    edge_energy(graph.indptr, graph.indices, graph.data, block, out)
    return out


def _sparse_energy(graph: sparse.csr_array, degrees: Floats, X: Matrix) -> tuple[Floats, Floats]:
    """The quadratic form of sparse columns as a difference of sums, and the sum of squares that it starts from."""
    table = sparse.csr_array(X).astype(np.float64)
    squares = degrees @ table.multiply(table)
    return squares - table.multiply(graph @ table).sum(axis=0), squares


def by_blocks(X: Matrix, work: Any, columns: NDArray[np.intp] | None = None) -> Floats:
    """Call ``work`` on writable dense copies of blocks of columns (all or some); join results along the last axis."""
    n = X.shape[0]
    if columns is not None:
        X = X[:, columns]
    if sparse.issparse(X):
        X = X.tocsc()

    def call(start: int, stop: int) -> Floats:
        return np.asarray(work(_dense_copy(X[:, start:stop])))

    return np.concatenate(run_chunks(call, chunks(X.shape[1], _block_width(n)), default_threads()), axis=-1)


def _block_width(n_values: int) -> int:
    """How many columns are worked on at once: few, so that their rows stay in the cache while edges jump."""
    return int(np.clip(_BLOCK_BYTES // (8 * n_values), 1, 64))


def _dense_copy(block: Any) -> Floats:
    return np.array(block.toarray() if sparse.issparse(block) else block, dtype=np.float64, order="C")


def anchor_ratio(edges: AnchorEdges, X: Matrix, columns: Columns | None = None) -> tuple[Floats, Floats]:
    """The ratio of :func:`laplacian_ratio` for every feature, estimated from the edges of sampled rows, and its
    standard error; ``inf`` and 0 for a feature constant over the edges."""
    if not edges.weights.sum() > 0:
        found = "leaves no sampled edge with a positive weight"
        raise InputError("t", found, "give a wider kernel (t) or more anchors")
    total = float(edges.weights.sum())
    slope = None if edges.slope is None else moderate(edges.slope, total)
    edges = replace(edges, weights=moderate(edges.weights, total), slope=slope)
    touched = np.unique(np.concatenate([edges.rows, edges.neighbors.ravel()]))
    here, there = np.searchsorted(touched, edges.rows), np.searchsorted(touched, edges.neighbors)
    table = X[touched].tocsc() if sparse.issparse(X) else X[touched]
    columns = columns_of_sizes(np.ones(X.shape[1], dtype=np.int64)) if columns is None else columns
    ends = columns.starts + columns.sizes

    def work(first: int, last: int) -> Floats:
        values = _dense_copy(table[:, columns.starts[first] : ends[last - 1]])
        values -= values[0]  # makes a constant column exactly zero
        return np.vstack(_estimated_ratio(edges, values[here], values[there], columns.sizes[first:last]))

    parts = run_chunks(work, chunks(columns.n_features, _block_width(there.size)), default_threads())
    scores, errors = np.concatenate(parts, axis=1)
    return scores, errors


def _estimated_ratio(edges: AnchorEdges, x: Floats, x_there: Floats, sizes: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Scores and standard errors, from values (m, b) at sampled rows and (m, k, b) at their neighbours.

    ``sizes`` is the number of columns of each feature.
    """
    starts = np.cumsum(sizes) - sizes

    def joined(values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(values, starts, axis=-1))

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
    finite = np.repeat(np.where(varies, scores, 0.0), sizes)
    mu = s.sum(axis=0) / v.sum()
    e = joined(a - finite * (q - 2 * mu * s + mu**2 * v)) / spread
    if edges.slope is not None and edges.pull is not None:
        a, q, s, v = _parts(edges.slope, x, x_there)
        by_width = n / m * joined(a - finite * (q - 2 * mu * s + mu**2 * v)).sum(axis=0) / spread
        e = e + by_width * (edges.pull * m / n)[:, None]
    errors = n * np.sqrt((1 - m / n) / m * e.var(axis=0, ddof=1))
    return scores, np.where(varies, errors, 0.0)


def numerator_and_denominator(edges: AnchorEdges, x: Floats, x_there: Floats) -> tuple[Floats, Floats]:
    """Unbiased estimates of V A and V Q - M^2, from values (m, b) at sampled rows and (m, k, b) at neighbours."""
    a, q, s, v = _parts(edges.weights, x, x_there)
    n = edges.n_rows
    return _product_of_sums(v, a, n), _product_of_sums(v, q, n) - _product_of_sums(s, s, n)


def _product_of_sums(u: Floats, z: Floats, n_rows: int) -> Floats:
    """Unbiased estimate of (sum of u over all rows) x (sum of z over all rows) from sampled rows along axis 0."""
    m = len(u)
    same = (u * z).sum(axis=0)
    different = u.sum(axis=0) * z.sum(axis=0) - same
    return np.asarray(n_rows / m * same + n_rows * (n_rows - 1) / (m * (m - 1)) * different)


def _parts(weights: Floats, x: Floats, x_there: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    total = weights.sum(axis=1)[:, None]
    a = np.einsum("mk,mkb->mb", weights, (x[:, None, :] - x_there) ** 2)
    q = total * x**2 + np.einsum("mk,mkb->mb", weights, x_there**2)
    s = total * x + np.einsum("mk,mkb->mb", weights, x_there)
    return a, q, s, 2 * total
