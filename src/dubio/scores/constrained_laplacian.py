"""The constrained Laplacian score (CSFS): a Laplacian score that respects pairs of rows."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dubio.constraints.selection import squared_lengths
from dubio.graphs.cluster_blocks import cluster_graph_blocks
from dubio.graphs.neighbors import squared_distances, symmetrize
from dubio.graphs.quadratic import quadratic_form
from dubio.scores.constraint import ratio
from dubio.supervision.pairs import Pairs, pair_graph, read_pairs
from dubio.table import read_matrix

Scale = Literal["mean", "none"]


def constrained_laplacian_score(
    X: ArrayLike,
    neighbor_labels: ArrayLike | sparse.sparray,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    *,
    lam: float = 0.1,
    scale: Scale = "mean",
    must_link_weights: ArrayLike | None = None,
    cannot_link_weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Constrained Laplacian score of each feature; low is good.

    .. math::
        \varphi_r = \frac{\sum_{i,j} (f_{ri} - f_{rj})^2 (S_{ij} + N_{ij})}
        {\sum_i D_i \left[ (f_{ri} - \mu_r)^2 + \sum_{j \in CL(i)} (f_{ri} - f_{rj})^2 \right]}

    with :math:`w_{ij} = \exp(-\|x_i - x_j\|^2 / \lambda)`; :math:`S_{ij} = w_{ij}` between neighbours;
    :math:`N_{ij} = w_{ij}` for a must-link between neighbours, :math:`w_{ij}^2` for a cannot-link between
    neighbours or a must-link between rows that are not, 0 otherwise; :math:`D_i = \sum_j S_{ij}` and
    :math:`\mu_r` the plain mean.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Used as it is.
    neighbor_labels : array-like of shape (n_rows,) or sparse matrix of shape (n_rows, n_rows)
        The cluster of each row: rows of one cluster are neighbours. Or any graph: rows i and j are neighbours
        where it has an entry that is not zero, at (i, j) or (j, i).
    must_link, cannot_link : array-like of shape (m, 2) and (c, 2), optional
        Row indices of pairs that belong to one class, and to two.
    lam : float
        :math:`\lambda`, in units of ``scale``.
    scale : {"mean", "none"}
        ``"mean"`` divides squared distances by their mean over all pairs of rows. ``"none"`` is as printed;
        on wide or unscaled tables all weights then underflow, which is warned of.
    must_link_weights, cannot_link_weights : array-like, optional
        How sure each pair is: it multiplies the pair's :math:`N_{ij}`, or its term of the denominator.

    Returns
    -------
    ndarray of shape (n_features,)
        ``inf``, the worst score, for a constant feature.

    Notes
    -----
    The paper prints the denominator as a double sum that counts the spread around the mean n times, and as a
    quadratic form that is not symmetric. Here it is read so that without pairs the score is the paper's
    Laplacian score (its equation 1), as the paper says it is.

    References
    ----------
    Hindawi, Allab, Benabdeslem, "Constraint selection based semi-supervised feature selection", 2011,
    equations 7 to 10.

    Examples
    --------
    >>> X = [[0.0, 3.0], [0.1, 8.0], [1.0, 2.0], [1.1, 9.0]]
    >>> scores = constrained_laplacian_score(X, [0, 0, 1, 1], [(0, 1)], [(1, 2)])
    >>> scores[0] < scores[1]
    np.True_
    """
    table = read_matrix(X).astype(np.float64, copy=False)
    pairs = read_pairs(must_link, cannot_link, len(table), must_link_weights, cannot_link_weights)
    check_kernel(lam, scale)
    if sparse.issparse(neighbor_labels):
        return score_on_graph(table, _pattern(neighbor_labels, len(table)), pairs, lam, scale)
    labels = np.asarray(neighbor_labels)
    if labels.shape != (len(table),):
        raise ValueError(
            f"neighbor_labels must hold the cluster of each of the {len(table)} rows; found shape {labels.shape}"
        )
    return score_on_clusters(table, np.unique(labels, return_inverse=True)[1], pairs, lam, scale)


def check_kernel(lam: float, scale: str) -> None:
    """Raise if the kernel has no width."""
    if not (np.isfinite(lam) and lam > 0):
        raise ValueError(f"lam must be positive, the width of the kernel exp(-d^2 / lam); found {lam!r}")
    if scale not in ("mean", "none"):
        raise ValueError(f'scale must be "mean" or "none"; found {scale!r}')


def _pattern(graph: Any, n_rows: int) -> sparse.csr_array:
    """Where a graph has edges in either direction, no row with itself."""
    if graph.shape != (n_rows, n_rows):
        raise ValueError(f"neighbor_labels as a graph must have shape ({n_rows}, {n_rows}); found {graph.shape}")
    return symmetrize(sparse.csr_array(graph != 0).astype(np.float64))


def mean_squared_distance(X: NDArray[np.float64]) -> float:
    """Mean of the squared distances between all pairs of different rows."""
    return float(2 * ((X - X.mean(axis=0)) ** 2).sum() / max(1, len(X) - 1))


def kernel_width(X: NDArray[np.float64], lam: float, scale: str) -> float:
    """``lam`` in the units of squared distances."""
    unit = mean_squared_distance(X) if scale == "mean" else 1.0
    return lam * unit if unit > 0 else lam


def score_on_clusters(
    X: NDArray[np.float64], cluster: NDArray[np.int64], pairs: Pairs, lam: float, scale: str
) -> NDArray[np.float64]:
    """:func:`constrained_laplacian_score` of validated input, neighbours by cluster."""
    width = kernel_width(X, lam, scale)
    above, degree = np.zeros(X.shape[1]), np.zeros(len(X))
    for rows, piece in cluster_graph_blocks(X, cluster, width):
        above += quadratic_form(piece, X[rows])
        degree[rows] += piece.sum(axis=1)
    near = [cluster[part[:, 0]] == cluster[part[:, 1]] for part in (pairs.must_link, pairs.cannot_link)]
    has_neighbors = np.bincount(cluster)[cluster] > 1
    _warn_of_underflow(degree, has_neighbors, lam, scale)
    return _score(X, above, degree, pairs, near[0], near[1], width)


def score_on_graph(
    X: NDArray[np.float64], edges: sparse.csr_array, pairs: Pairs, lam: float, scale: str
) -> NDArray[np.float64]:
    """:func:`constrained_laplacian_score` of validated input, neighbours by a symmetric graph."""
    width = kernel_width(X, lam, scale)
    graph = edges.copy()
    graph.data = np.exp(-squared_distances(edges, X) / width)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    _warn_of_underflow(degree, np.diff(edges.indptr) > 0, lam, scale)
    near = [
        np.asarray(edges[part[:, 0], part[:, 1]]).ravel() != 0 if len(part) else np.empty(0, dtype=bool)
        for part in (pairs.must_link, pairs.cannot_link)
    ]
    return _score(X, quadratic_form(graph, X), degree, pairs, near[0], near[1], width)


def _score(
    X: NDArray[np.float64],
    above: NDArray[np.float64],
    degree: NDArray[np.float64],
    pairs: Pairs,
    near_must_link: NDArray[np.bool_],
    near_cannot_link: NDArray[np.bool_],
    width: float,
) -> NDArray[np.float64]:
    """The score from the quadratic form ``above`` and the degrees of S: what is left is a matter of pairs."""
    n = len(X)
    below = degree @ (X - X.mean(axis=0)) ** 2
    if len(pairs.must_link):
        kernel = np.exp(-squared_lengths(X, pairs.must_link) / width)
        kernel[~near_must_link] **= 2
        above = above + quadratic_form(_weighted(pairs.must_link, pairs.must_link_weights, kernel, n), X)
    if len(pairs.cannot_link):
        kernel = np.exp(-2 * squared_lengths(X, pairs.cannot_link) / width)
        kernel[~near_cannot_link] = 0.0
        above = above + quadratic_form(_weighted(pairs.cannot_link, pairs.cannot_link_weights, kernel, n), X)
        # sum_i D_i sum_j C_ij (f_i - f_j)^2 is the quadratic form of the graph DC + CD.
        both = degree[pairs.cannot_link].sum(axis=1)
        below = below + quadratic_form(_weighted(pairs.cannot_link, pairs.cannot_link_weights, both, n), X)
    below[np.equal(X, X[0]).all(axis=0)] = 0.0  # rounding of the mean is no spread
    return ratio(2 * above, below)


def _weighted(
    pairs: NDArray[np.int64], weights: NDArray[np.float64] | None, kernel: NDArray[np.float64], n_rows: int
) -> sparse.csr_array:
    return pair_graph(pairs, kernel if weights is None else weights * kernel, n_rows)


def _warn_of_underflow(degree: NDArray[np.float64], has_neighbors: NDArray[np.bool_], lam: float, scale: str) -> None:
    lost = int(np.count_nonzero(has_neighbors & (degree < np.finfo(np.float64).tiny)))
    total = int(np.count_nonzero(has_neighbors))
    if not total or 2 * lost < total:
        return
    advice = 'pass scale="mean", or a larger lam' if scale == "none" else "pass a larger lam"
    warnings.warn(
        f"the kernel exp(-d^2 / lam) underflows: with lam={lam:g}, {lost} of {total} rows with neighbours "
        f"have no weight to any of them, and do not count; {advice}",
        UserWarning,
        stacklevel=3,
    )
