"""Graph scores of the Laplacian family: unsupervised, supervised by numbers, and in between (low is good)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.graphs.anchor_ratio import anchor_ratio
from dubio.graphs.anchors import neighbor_anchors, semi_supervised_anchors, target_anchors
from dubio.graphs.nearest_rows import Route
from dubio.graphs.neighbors import Kernel, Symmetry, neighbor_graph, read_graph
from dubio.graphs.quadratic import laplacian_ratio
from dubio.graphs.targets import semi_supervised_graph, target_graph
from dubio.supervision import read_supervision, require_numbers
from dubio.table import Matrix, read_matrix

#: Scores and, where they are estimates, their standard errors.
ScoresAndErrors: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64] | None]


def laplacian_score(
    X: ArrayLike,
    *,
    n_neighbors: int = 5,
    t: float | Literal["mean"] = 1.0,
    kernel: Kernel = "squared",
    graph: Any = None,
    symmetry: Symmetry = "or",
    neighbors: Route = "exact",
    n_anchors: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    r"""Laplacian score of every feature: does it vary smoothly over the neighbour graph? (low is good)

    .. math:: LS_r = \frac{\tilde f_r^T L \tilde f_r}{\tilde f_r^T D \tilde f_r}, \qquad
              S_{ij} = e^{-\|x_i - x_j\|^2 / t} \text{ for neighbours}, \quad L = D - S,

    with :math:`\tilde f_r` the feature less its D-weighted mean.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        Taken as it is: standardise columns of different units first (:class:`~dubio.LaplacianScore` does).
    n_neighbors : int
        Neighbours of each row, itself not counted.
    t : float or "mean"
        Width of the kernel; "mean" takes the mean over the edges.
    kernel : {"squared", "linear"}
        ``exp(-d^2/t)`` as in [1]_ and [3]_, or ``exp(-d/t)`` as printed in [2]_. The rankings differ.
    graph : sparse matrix or transformer, optional
        Weights of your own, or a scikit-learn neighbours transformer that chooses the neighbours.
    symmetry : {"or", "and"}
        Whether an edge needs one end or both ends to choose the other.
    neighbors : {"exact", "approximate", "anchors"}
        For many rows: "approximate" finds neighbours by nearest-neighbour descent (needs pynndescent); "anchors"
        estimates the score from the exact neighbours of ``n_anchors`` sampled rows.
    n_anchors : int
        Rows sampled for "anchors".
    random_state : int, RandomState or None
        For "approximate" and "anchors".
    n_jobs : int, optional
        For the neighbour search.

    Returns
    -------
    scores : array (d,)
        ``inf`` for a constant feature.

    References
    ----------
    .. [1] X. He, D. Cai and P. Niyogi (2005). Laplacian score for feature selection. NIPS.
    .. [2] G. Doquire and M. Verleysen (2012). Handling imprecise labels in feature selection with graph Laplacian.
    .. [3] G. Doquire and M. Verleysen (2013). A graph Laplacian based approach to semi-supervised feature selection
       for regression problems. Neurocomputing.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import laplacian_score
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 5.0], 50)
    >>> X = np.column_stack([group + rng.normal(size=100), rng.normal(size=100)])
    >>> laplacian_score(X).argmin()  # the feature that has structure
    np.int64(0)
    """
    matrix = read_matrix(X, accept_sparse=True)
    return laplacian_scores(
        matrix,
        matrix,
        n_neighbors=n_neighbors,
        t=t,
        kernel=kernel,
        graph=graph,
        symmetry=symmetry,
        neighbors=neighbors,
        n_anchors=n_anchors,
        random_state=random_state,
        n_jobs=n_jobs,
    )[0]


def supervised_laplacian_score(
    X: ArrayLike,
    y: Any,
    *,
    n_neighbors: int = 5,
    t: float | Literal["mean"] = 1.0,
    neighbors: Literal["exact", "anchors"] = "exact",
    n_anchors: int = 2000,
    random_state: Any = None,
) -> NDArray[np.float64]:
    r"""Supervised Laplacian score for a numeric target: do rows with close y have close values? (low is good)

    The Laplacian score on the graph whose neighbours and weights :math:`e^{-(y_i-y_j)^2/t}` are taken on y alone
    (SSLS paper, equations 3 and 4). Sees non-linear relations that correlation cannot.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        Any scale: the score does not depend on that of a column.
    y : array-like (n,)
        Numbers, taken as they are (standardise them for the meaning of ``t``); rows with NaN are left out.
    n_neighbors, t
        As in :func:`laplacian_score`, on the line of y.
    neighbors, n_anchors, random_state
        As in :func:`laplacian_score`; neighbours on a line are found exactly in any case.

    Returns
    -------
    scores : array (d,)
        ``inf`` for a feature that is constant among the labelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import supervised_laplacian_score
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> supervised_laplacian_score(X, X[:, 1] ** 3).argmin()
    np.int64(1)
    """
    matrix = read_matrix(X, accept_sparse=True)
    supervision = read_supervision(y, matrix.shape[0], target="numbers")
    require_numbers(supervision)
    assert supervision.values is not None
    known = supervision.labelled
    return supervised_scores(
        matrix[known],
        supervision.values[known],
        n_neighbors=n_neighbors,
        t=t,
        neighbors=neighbors,
        n_anchors=n_anchors,
        random_state=random_state,
    )[0]


def semi_supervised_laplacian_score(
    X: ArrayLike,
    y: Any,
    *,
    n_neighbors: int = 30,
    n_neighbors_supervised: int = 5,
    t: float | Literal["mean"] = 1.0,
    C: float = 1.0,
    neighbors: Route = "exact",
    n_anchors: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    r"""Semi-supervised Laplacian score for a numeric target of which most is missing (low is good).

    .. math:: SSLS_r = \frac{\tilde f_r^T L^{semi} \tilde f_r}{\tilde f_r^T D^{semi} \tilde f_r} \cdot SLS_r,

    where the mixed graph takes distances in y between labelled rows and, per feature, in X otherwise, and
    :math:`SLS_r` is the supervised score of the labelled rows (SSLS paper, equations 10 and 11).

    Parameters
    ----------
    X : array-like (n, d)
        Standardised columns, as in the paper (:class:`~dubio.SemiSupervisedLaplacianScore` does it for you).
    y : array-like (n,)
        Numbers, NaN = unlabelled, standardised likewise.
    n_neighbors : int
        Neighbours in the mixed graph.
    n_neighbors_supervised : int
        Neighbours in the graph of the labelled rows.
    t : float or "mean"
        Width of the kernel.
    C : float
        Weight of an edge between two labelled rows (5 when under about 1 % are labelled).
    neighbors, n_anchors, random_state
        As in :func:`laplacian_score`, for the mixed graph; the labelled rows' own is always exact.
    n_jobs : int, optional
        For the neighbour search.

    Returns
    -------
    scores : array (d,)

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import semi_supervised_laplacian_score
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = X[:, 2] ** 3
    >>> y[40:] = np.nan
    >>> semi_supervised_laplacian_score(X, y).argmin()
    np.int64(2)
    """
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C={C!r}: the weight of labelled edges must be a positive number.")
    matrix = read_matrix(X)
    supervision = read_supervision(y, matrix.shape[0], target="numbers")
    require_numbers(supervision)
    assert supervision.values is not None
    return semi_supervised_scores(
        matrix,
        matrix,
        supervision.values,
        n_neighbors=n_neighbors,
        n_neighbors_supervised=n_neighbors_supervised,
        t=t,
        C=C,
        neighbors=neighbors,
        n_anchors=n_anchors,
        random_state=random_state,
        n_jobs=n_jobs,
    )[0]


def laplacian_scores(
    space: Matrix,
    X: Matrix,
    *,
    n_neighbors: int,
    t: float | Literal["mean"],
    kernel: Kernel,
    graph: Any,
    symmetry: Symmetry,
    neighbors: Route,
    n_anchors: int,
    random_state: Any,
    n_jobs: int | None,
) -> ScoresAndErrors:
    """:func:`laplacian_score` of validated data, with distances taken in ``space``."""
    options: dict[str, Any] = {"t": t, "kernel": kernel, "symmetry": symmetry}
    if graph is not None:
        if neighbors != "exact":
            raise ValueError(f"graph and neighbors={neighbors!r} cannot be given together: the graph is your own.")
        return laplacian_ratio(read_graph(graph, space, **options), X), None
    options |= {"n_neighbors": n_neighbors, "random_state": random_state, "n_jobs": n_jobs}
    if _check_route(neighbors) == "anchors":
        return anchor_ratio(neighbor_anchors(space, n_anchors=n_anchors, **options), X)
    return laplacian_ratio(neighbor_graph(space, approximate=neighbors == "approximate", **options), X), None


def supervised_scores(
    X: Matrix,
    y: NDArray[np.float64],
    *,
    n_neighbors: int,
    t: float | Literal["mean"],
    neighbors: Route,
    n_anchors: int,
    random_state: Any,
) -> ScoresAndErrors:
    """:func:`supervised_laplacian_score` of labelled rows."""
    if _check_route(neighbors) == "anchors":
        edges = target_anchors(y, n_neighbors=n_neighbors, t=t, n_anchors=n_anchors, random_state=random_state)
        return anchor_ratio(edges, X)
    return laplacian_ratio(target_graph(y, n_neighbors=n_neighbors, t=t), X), None


def semi_supervised_scores(
    space: Matrix,
    X: Matrix,
    y: NDArray[np.float64],
    *,
    n_neighbors: int,
    n_neighbors_supervised: int,
    t: float | Literal["mean"],
    C: float,
    neighbors: Route,
    n_anchors: int,
    random_state: Any,
    n_jobs: int | None,
) -> ScoresAndErrors:
    """:func:`semi_supervised_laplacian_score` of validated data, with distances taken in ``space``."""
    options: dict[str, Any] = {"n_neighbors": n_neighbors, "t": t, "C": C}
    options |= {"random_state": random_state, "n_jobs": n_jobs}
    known = ~np.isnan(y)
    supervised = laplacian_ratio(target_graph(y[known], n_neighbors=n_neighbors_supervised, t=t), X[known])
    if _check_route(neighbors) == "anchors":
        mixed, error = anchor_ratio(semi_supervised_anchors(space, y, n_anchors=n_anchors, **options), X)
        return combine_semi_supervised(mixed, supervised), error * np.where(np.isfinite(supervised), supervised, 0.0)
    graph = semi_supervised_graph(space, y, approximate=neighbors == "approximate", **options)
    return combine_semi_supervised(laplacian_ratio(graph, X), supervised), None


def _check_route(neighbors: Route) -> Route:
    if neighbors not in ("exact", "approximate", "anchors"):
        raise ValueError(f"neighbors={neighbors!r}: give 'exact', 'approximate' or 'anchors'.")
    return neighbors


def combine_semi_supervised(mixed: NDArray[np.float64], supervised: NDArray[np.float64]) -> NDArray[np.float64]:
    """Product of the two ratios; ``inf`` where either is (0 * inf: nothing is known of such a feature)."""
    product = np.full(len(mixed), np.inf)
    both = np.isfinite(mixed) & np.isfinite(supervised)
    product[both] = mixed[both] * supervised[both]
    return product
