"""Quadratic forms of a graph, for all features at once: all graph scores use this."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.errors import InputError
from dubio.kernels.edges import edge_energy
from dubio.kernels.threads import chunks, default_threads, run_chunks
from dubio.table.columns import Columns, feature_sums
from dubio.table.matrix import CANCELLED, Matrix

#: Size of one dense block of columns, in bytes.
_BLOCK_BYTES = 32 * 2**20


def quadratic_form(graph: sparse.csr_array, X: Matrix) -> NDArray[np.float64]:
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


def laplacian_ratio(graph: sparse.csr_array, X: Matrix, columns: Columns | None = None) -> NDArray[np.float64]:
    r""":math:`\tilde f^T L \tilde f / \tilde f^T D \tilde f` for every feature, centred by its D-weighted mean.

    If a feature has several columns, both forms are summed over them. ``inf`` where a feature does not vary over the
    nodes of the graph (0/0): the worst score, because low is good.
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    total = degrees.sum()
    if not total > 0:
        raise InputError(
            "graph",
            "has no edge with a positive weight",
            "give more neighbours, a wider kernel (t), or a graph with edges",
        )

    def both(block: NDArray[np.float64]) -> NDArray[np.float64]:
        block -= block[np.argmax(degrees)]  # makes a constant column exactly zero
        block -= degrees @ block / total
        return np.vstack([edge_energies(graph, block), degrees @ block**2])

    if not sparse.issparse(X):
        return _ratio(*feature_sums(by_blocks(X, both), columns))
    energy, squares = _sparse_energy(graph, degrees, X)
    spread = squares - np.asarray(degrees @ X).ravel() ** 2 / total
    lost = np.flatnonzero(np.minimum(energy, spread) < CANCELLED * squares)
    if len(lost):
        energy[lost], spread[lost] = by_blocks(X, both, lost)
    return _ratio(feature_sums(energy, columns), feature_sums(spread, columns))


def edge_energies(graph: sparse.csr_array, block: NDArray[np.float64]) -> NDArray[np.float64]:
    """The quadratic form of a C-ordered float64 block of columns."""
    out = np.zeros(block.shape[1])
    edge_energy(graph.indptr, graph.indices, graph.data, block, out)
    return out


def _sparse_energy(
    graph: sparse.csr_array, degrees: NDArray[np.float64], X: Matrix
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The quadratic form of sparse columns as a difference of sums, and the sum of squares that it starts from."""
    table = sparse.csr_array(X).astype(np.float64)
    squares = degrees @ table.multiply(table)
    return squares - table.multiply(graph @ table).sum(axis=0), squares


def by_blocks(X: Matrix, work: Any, columns: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
    """Call ``work`` on writable dense copies of blocks of columns (all or some); join results along the last axis."""
    n = X.shape[0]
    if columns is not None:
        X = X[:, columns]
    if sparse.issparse(X):
        X = X.tocsc()
    d = X.shape[1]
    # at most 64 columns, so that the rows of a block stay in the cache while edges jump between them
    width = int(np.clip(_BLOCK_BYTES // (8 * n), 1, 64))

    def call(start: int, stop: int) -> NDArray[np.float64]:
        block = X[:, start:stop]
        dense = block.toarray() if sparse.issparse(block) else block
        return np.asarray(work(np.array(dense, dtype=np.float64, order="C")))

    return np.concatenate(run_chunks(call, chunks(d, width), default_threads()), axis=-1)


def _ratio(energy: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(energy, spread, out=np.full(len(energy), np.inf), where=spread > 0)
