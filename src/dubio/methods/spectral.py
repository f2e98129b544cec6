"""SPEC: three ways to measure how well each feature follows a graph; and C4, a product of two scores."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import eigsh

from dubio.errors import InputError
from dubio.graphs.quadratic import quadratic_form
from dubio.methods.constraint import constraint_score, ratio
from dubio.methods.laplacian import laplacian_score
from dubio.tables.matrix import read_matrix

#: Up to this many rows, computing all eigenvectors is as fast as computing a few, and safer.
_DENSE_ROWS = 400


def spec_score(
    X: ArrayLike,
    graph: Any,
    *,
    function: Literal[1, 2, 3] = 1,
    power: int = 1,
    n_eigenvectors: int | None = None,
) -> NDArray[np.float64]:
    r"""One of SPEC's three ranking functions on a given graph.

    With :math:`\mathcal L = D^{-1/2} (D - S) D^{-1/2}`, eigenvalues :math:`\lambda_j` (ascending) and
    eigenvectors :math:`\xi_j`, :math:`\hat f = D^{1/2} f / \|D^{1/2} f\|`, :math:`\alpha_j = \hat f' \xi_j`
    and :math:`\gamma(\lambda) = \lambda^{power}`:

    .. math::
        \varphi_1 = \hat f' \gamma(\mathcal L) \hat f, \qquad
        \varphi_2 = \frac{\varphi_1}{1 - \alpha_1^2}, \qquad
        \varphi_3 = \sum_{j=2}^{k} (\gamma(2) - \gamma(\lambda_j)) \alpha_j^2

    Low is good for the first two; **high** is good for the third. The second, with power 1, is the Laplacian score
    of the graph. The first depends on the zero point of a feature, so it is meant for centred features.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    graph : sparse matrix or array of shape (n_rows, n_rows)
        Symmetric, not negative. A neighbour graph gives an unsupervised score; a graph of equal classes (see
        :func:`class_graph`) gives a supervised score. The diagonal counts, as in the paper.
    function : {1, 2, 3}
    power : int
        1, or more to damp the high frequencies of the graph ("F2+r^4" is function 2 with power 4).
    n_eigenvectors : int or None
        k for the third function, usually the number of classes or clusters.

    Returns
    -------
    ndarray of shape (n_features,)
        A feature without any spread on the graph has the worst score: ``inf``, or 0 for the third function.

    References
    ----------
    Zhao, Liu, "Spectral feature selection for supervised and unsupervised learning", 2007.

    Examples
    --------
    >>> X = [[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0]]
    >>> spec_score(X, class_graph(["a", "a", "b", "b"]), function=2).round(6)
    array([0., 1.])
    """
    table = read_matrix(X).astype(np.float64, copy=False)
    if np.ndim(function) or function not in (1, 2, 3):
        raise InputError("function", f"={function!r}", "give 1, 2 or 3")
    if not (isinstance(power, int | np.integer) and power >= 1):
        raise InputError("power", f"={power!r}", "give a whole number of at least 1")
    edges = _read_graph(graph, len(table))
    degree = np.asarray(edges.sum(axis=1)).ravel()
    if not degree.any():
        raise InputError("graph", "has no edge", "there is nothing for a feature to follow")
    # Functions 2 and 3 only use differences from the weighted mean; exactly zero for constant columns.
    mean = degree @ (table - table[0]) / degree.sum()
    centred = np.where((table == table[0]).all(axis=0), 0.0, table - table[0] - mean)
    spread = degree @ centred**2
    if function == 3:
        if n_eigenvectors is None:
            raise InputError("n_eigenvectors", "is needed for function=3", "give the number of classes or clusters")
        return _third(table, centred, edges, degree, power, n_eigenvectors)
    smooth = _power_form(edges, degree, centred, power)
    return ratio(smooth, degree @ table**2 if function == 1 else spread)


def class_graph(y: ArrayLike) -> sparse.csr_array:
    """SPEC's supervised graph: 1 / (size of the class) between rows of the same class, including a row with itself.

    Examples
    --------
    >>> class_graph(["a", "b", "a"]).toarray()
    array([[0.5, 0. , 0.5],
           [0. , 1. , 0. ],
           [0.5, 0. , 0.5]])
    """
    codes = np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)
    indicator = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))
    share = sparse.csr_array(indicator / np.bincount(codes)[None, :])
    return sparse.csr_array(share @ indicator.T)


def c4_score(
    X: ArrayLike,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    *,
    y: ArrayLike | None = None,
    must_link_weights: ArrayLike | None = None,
    cannot_link_weights: ArrayLike | None = None,
    n_neighbors: int = 5,
    t: float | Literal["mean"] = 1.0,
) -> NDArray[np.float64]:
    """C4: the Laplacian score of all rows times the constraint score of the pairs; low is good.

    Parameters are those of :func:`~dubio.constraint_score` and :func:`~dubio.laplacian_score`.

    References
    ----------
    Kalakech, Biela, Macaire, Hamad, "Constraint scores for semi-supervised feature selection: a comparative
    study", 2011.

    Examples
    --------
    >>> X = [[0.0, 5.0], [1.0, 9.0], [7.0, 4.0], [8.0, 9.0]]
    >>> scores = c4_score(X, must_link=[(0, 1)], cannot_link=[(0, 2)], n_neighbors=1)
    >>> bool(scores[0] < scores[1])
    True
    """
    pairs = constraint_score(
        X,
        must_link,
        cannot_link,
        y=y,
        must_link_weights=must_link_weights,
        cannot_link_weights=cannot_link_weights,
    )
    locality = laplacian_score(X, n_neighbors=n_neighbors, t=t)
    # 0 times infinity is not a number; a feature that is worst in one of the scores stays worst.
    worst = np.isinf(pairs) | np.isinf(locality)
    return np.where(worst, np.inf, np.where(worst, 1.0, pairs) * np.where(worst, 1.0, locality))


def _read_graph(graph: Any, n_rows: int) -> sparse.csr_array:
    edges = sparse.csr_array(graph, dtype=np.float64)
    if edges.shape != (n_rows, n_rows):
        raise InputError("graph", f"has shape {edges.shape}", f"it must have shape ({n_rows}, {n_rows})")
    if edges.nnz and (not np.isfinite(edges.data).all() or edges.data.min() < 0):
        raise InputError("graph", "has weights that are negative or not finite")
    difference = abs(edges - edges.T)
    if difference.nnz and difference.max() > 1e-9 * edges.max():
        raise InputError("graph", "is not symmetric", "pass (graph + graph.T) / 2, or their maximum")
    return edges


def _inverse_root(degree: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)


def _power_form(
    edges: sparse.csr_array, degree: NDArray[np.float64], f: NDArray[np.float64], power: int
) -> NDArray[np.float64]:
    r""":math:`f' D^{1/2} \mathcal L^{power} D^{1/2} f` of each column."""
    inverse = _inverse_root(degree)
    # L^p = L^h L^(p - 2h) L^h; (D - S) g and f'(D - S) f need no eigenvectors.
    for _ in range((power - 1) // 2):
        f = inverse[:, None] ** 2 * (degree[:, None] * f - edges @ f)
    if power % 2:
        return quadratic_form(edges, f)
    g = inverse[:, None] * (degree[:, None] * f - edges @ f)
    return np.einsum("ij,ij->j", g, g)


def _third(
    table: NDArray[np.float64],
    centred: NDArray[np.float64],
    edges: sparse.csr_array,
    degree: NDArray[np.float64],
    power: int,
    n_eigenvectors: int,
) -> NDArray[np.float64]:
    n = len(table)
    if not 1 <= n_eigenvectors <= n:
        raise InputError("n_eigenvectors", f"={n_eigenvectors}", f"give a number from 1 to {n}, the number of rows")
    inverse = _inverse_root(degree)
    similar = sparse.csr_array(edges * inverse[:, None] * inverse[None, :])
    isolated = sparse.diags_array((degree <= 0).astype(np.float64))
    if n <= _DENSE_ROWS or n_eigenvectors > n // 4:
        values, vectors = np.linalg.eigh((similar + isolated).toarray())
        values, vectors = values[::-1][:n_eigenvectors], vectors[:, ::-1][:, :n_eigenvectors]
    else:
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = eigsh(similar + isolated, k=n_eigenvectors, which="LA", v0=start)
    eigenvalues = np.clip(1.0 - values, 0.0, 2.0)
    # Centring removes the trivial eigenvector, for any basis of the zero eigenvalues.
    alpha = vectors.T @ (np.sqrt(degree)[:, None] * centred)
    norm = degree @ table**2
    gain = (2.0**power - eigenvalues**power) @ alpha**2
    return np.divide(gain, norm, out=np.zeros_like(gain), where=norm > 0)
