"""Quadratic forms of a graph, for every feature at once: the one routine behind all graph scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio._kernels.edges import edge_energy
from dubio._kernels.threads import chunks, default_threads, run_chunks
from dubio.table import Matrix

#: Bytes of one dense block of columns.
_BLOCK_BYTES = 32 * 2**20


def quadratic_form(graph: sparse.csr_array, X: Matrix) -> NDArray[np.float64]:
    r""":math:`f^T L f = \frac12 \sum_{ij} S_{ij} (f_i - f_j)^2` for every column f of ``X``.

    ``graph`` is a symmetric CSR matrix S. Dense tables are summed over edges, from differences, by blocks of
    columns; sparse ones in time proportional to their stored values.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from dubio.scores.quadratic import quadratic_form
    >>> S = sparse.csr_array([[0.0, 2.0], [2.0, 0.0]])
    >>> quadratic_form(S, np.array([[0.0, 1.0], [3.0, 1.0]]))
    array([18.,  0.])
    """
    if sparse.issparse(X):
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        squares = np.asarray(degrees @ X.multiply(X)).ravel()
        products = np.asarray(X.multiply(graph @ X).sum(axis=0)).ravel()
        return np.maximum(squares - products, 0.0)
    return _by_blocks(graph, X, lambda block: edge_energies(graph, block))


def laplacian_ratio(graph: sparse.csr_array, X: Matrix) -> NDArray[np.float64]:
    r""":math:`\tilde f^T L \tilde f / \tilde f^T D \tilde f` for every column, centred by its D-weighted mean.

    ``inf`` where a column does not vary over the nodes of the graph (0/0): the worst score, low being good.
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    total = degrees.sum()
    if not total > 0:
        raise ValueError(
            "the graph has no edge with a positive weight: give more neighbours, a wider kernel (t), or a graph "
            "with edges."
        )
    if sparse.issparse(X):
        mean = np.asarray(degrees @ X).ravel() / total
        spread = np.asarray(degrees @ X.multiply(X)).ravel() - total * mean**2
        # What is left of a constant column after this subtraction is rounding.
        constant = np.asarray(X.max(axis=0).todense()).ravel() == np.asarray(X.min(axis=0).todense()).ravel()
        return _ratio(quadratic_form(graph, X), np.where(constant, 0.0, spread))

    def both(block: NDArray[np.float64]) -> NDArray[np.float64]:
        block -= block[np.argmax(degrees)]  # so that a constant column is exactly zero from here on
        block -= degrees @ block / total
        return np.vstack([edge_energies(graph, block), degrees @ block**2])

    energy, spread = _by_blocks(graph, X, both)
    return _ratio(energy, spread)


def edge_energies(graph: sparse.csr_array, block: NDArray[np.float64]) -> NDArray[np.float64]:
    """The quadratic form of a C-ordered float64 block of columns."""
    out = np.zeros(block.shape[1])
    edge_energy(graph.indptr, graph.indices, graph.data, block, out)
    return out


def _by_blocks(graph: sparse.csr_array, X: NDArray[Any], work: Any) -> NDArray[np.float64]:
    """Call ``work`` on writable copies of blocks of columns, joined along the last axis."""
    n, d = X.shape
    # at most 64 columns, so that a block's rows stay in the caches while edges jump between them
    width = int(np.clip(_BLOCK_BYTES // (8 * n), 1, 64))

    def call(start: int, stop: int) -> NDArray[np.float64]:
        return np.asarray(work(np.array(X[:, start:stop], dtype=np.float64, order="C")))

    return np.concatenate(run_chunks(call, chunks(d, width), default_threads()), axis=-1)


def _ratio(energy: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(energy, spread, out=np.full(len(energy), np.inf), where=spread > 0)
