r"""Laplacian scores from sampled rows, with standard errors.

A score is :math:`R = A / (Q - M^2 / V)`, where A, Q, M and V are sums over edges (of :math:`s (f_i - f_j)^2`,
:math:`s (f_i^2 + f_j^2)`, :math:`s (f_i + f_j)` and :math:`2 s`), or :math:`R = V A / (V Q - M^2)`. Each is also a sum
over rows of parts :math:`a_i, q_i, m_i, v_i` (see :mod:`dubio.graphs.anchors`). From a simple random sample S of m of n
rows, the product of two such sums is estimated without bias by

.. math:: \widehat{U Z} = \frac{n}{m} \sum_{i \in S} u_i z_i + \frac{n (n - 1)}{m (m - 1)} \sum_{i \ne j \in S} u_i z_j,

so numerator and denominator are both unbiased; with m = n they are exact. Their ratio has a bias of order 1/m. By the
delta method it has the variance of :math:`n \bar e` with :math:`\mu = M / V` and

.. math:: e_i = (a_i - R\, (q_i - 2 \mu m_i + \mu^2 v_i)) / (Q - M^2 / V).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio._kernels.threads import chunks, default_threads, run_chunks
from dubio.errors import InputError
from dubio.graphs.anchors import AnchorEdges
from dubio.tables.features import Columns
from dubio.tables.matrix import Matrix

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
