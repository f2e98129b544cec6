"""The constrained Laplacian score (CSFS): a Laplacian score that respects pairs of rows."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dubio._sklearn import Interval, StrOptions, check_parameters
from dubio.constraints.row_clusters import cluster_rows
from dubio.constraints.selection import Order, select_hard, select_soft, squared_lengths
from dubio.counts import clip_neighbors
from dubio.errors import InputError, InputWarning, warn
from dubio.graphs.cluster_blocks import cluster_graph_blocks
from dubio.graphs.neighbors import nearest_others, squared_distances, symmetrize
from dubio.graphs.quadratic import quadratic_form
from dubio.methods.constraint import PairSelector, ratio
from dubio.methods.parameters import documented, estimator
from dubio.problem import Problem, order_of_contents
from dubio.ranking import Scored
from dubio.supervision.pair_forms import supervision_pairs
from dubio.supervision.pairs import Pairs, pair_graph, read_pairs
from dubio.tables.features import Columns, feature_sums
from dubio.tables.matrix import read_matrix
from dubio.tables.scaling import standardize as standardize_columns

Scale = Literal["mean", "none"]


@documented
def constrained_laplacian_score(
    X: ArrayLike,
    neighbor_labels: ArrayLike | sparse.sparray,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    *,
    lam: float = 0.1,
    scale: Scale = "mean",
    standardize: bool = False,
    must_link_weights: ArrayLike | None = None,
    cannot_link_weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Constrained Laplacian score of each feature; low is good.

    .. math::
        \varphi_r = \frac{\sum_{i,j} (f_{ri} - f_{rj})^2 (S_{ij} + N_{ij})}
        {\sum_i D_i \left[ (f_{ri} - \mu_r)^2 + \sum_{j \in CL(i)} (f_{ri} - f_{rj})^2 \right]}

    with :math:`w_{ij} = \exp(-\|x_i - x_j\|^2 / \lambda)`; :math:`S_{ij} = w_{ij}` between neighbours;
    :math:`N_{ij} = w_{ij}` for a must-link between neighbours, :math:`w_{ij}^2` for a cannot-link between neighbours or
    for a must-link between rows that are not neighbours, 0 otherwise; :math:`D_i = \sum_j S_{ij}` and :math:`\mu_r` the
    plain mean.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The table.
    neighbor_labels : array-like of shape (n_rows,) or sparse matrix of shape (n_rows, n_rows)
        The cluster of each row: rows of the same cluster are neighbours. Or any graph: rows i and j are neighbours
        if the graph has a nonzero entry at (i, j) or (j, i).
    must_link, cannot_link : array-like of shape (m, 2) and (c, 2), optional
        Row indices of pairs that belong to the same class, and to different classes.
    lam : float
        :math:`\lambda`, in units of ``scale``.
    scale : {"mean", "none"}
        ``"mean"`` divides squared distances by their mean over all pairs of rows. ``"none"`` uses the formula as
        printed; on wide or unscaled tables all weights then underflow, with a warning.
    {standardize}
    must_link_weights, cannot_link_weights : array-like, optional
        How certain each pair is: this multiplies the pair's :math:`N_{ij}`, or its term in the denominator.

    Returns
    -------
    ndarray of shape (n_features,)
        ``inf``, the worst score, for a constant feature.

    Notes
    -----
    The paper prints the denominator as a double sum that counts the spread around the mean n times, and as a
    quadratic form that is not symmetric. Here it is interpreted so that without pairs the score is the paper's
    Laplacian score (its equation 1), as the paper states.

    References
    ----------
    Hindawi, Allab, Benabdeslem, "Constraint selection based semi-supervised feature selection", 2011,
    equations 7 to 10.

    Examples
    --------
    >>> X = [[0.0, 3.0], [0.1, 8.0], [1.0, 2.0], [1.1, 9.0]]
    >>> scores = constrained_laplacian_score(X, [0, 0, 1, 1], [(0, 1)], [(1, 2)])
    >>> bool(scores[0] < scores[1])
    True
    """
    table = read_matrix(X).astype(np.float64, copy=False)
    check_parameters({"standardize": ["boolean"]}, {"standardize": standardize})
    if standardize:
        table = standardize_columns(table)
    pairs = read_pairs(must_link, cannot_link, len(table), must_link_weights, cannot_link_weights)
    check_kernel(lam, scale)
    if sparse.issparse(neighbor_labels):
        return score_on_graph(table, _pattern(neighbor_labels, len(table)), pairs, lam, scale)
    labels = np.asarray(neighbor_labels)
    if labels.shape != (len(table),):
        raise InputError(
            "neighbor_labels", f"has shape {labels.shape}", f"it must hold the cluster of each of the {len(table)} rows"
        )
    return score_on_clusters(table, np.unique(labels, return_inverse=True)[1], pairs, lam, scale)


@estimator
class ConstrainedLaplacianScore(PairSelector):
    """Laplacian score of all rows that respects pairs (CSFS; see :func:`constrained_laplacian_score`).

    Neighbours are rows of the same cluster, as published, or plain nearest neighbours. Pairs can first be selected by
    coherence. With all pairs of a labelling, the hard rule keeps hardly any, so the default is to keep all pairs.
    :meth:`as_published` is the paper's own setting.

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    neighbors : {"clusters", "knn"}
        ``"clusters"``: rows of the same cluster are neighbours. Rows that are in no pair are first replaced by a
        self-organising map. The map and the other rows are then clustered by Ward's method, and the Davies-Bouldin
        index chooses the number of clusters. ``"knn"``: two rows are neighbours if one is among the ``n_neighbors``
        nearest of the other.
    selection : {"all", "hard", "soft"}
        Which pairs count; see :func:`~dubio.constraints.select_pairs`.
    order : {"shortest", "random", "weight"}
        For ``selection="soft"``, which pairs come first.
    n_neighbors : int
        For ``neighbors="knn"``.
    lam : float
        Width of the kernel, in units of ``scale``.
    scale : {"mean", "none"}
        Whether squared distances are divided by their mean.
    unlabelled : {"prototypes", "rows"}
        For ``neighbors="clusters"``, whether the score uses the prototypes of the map, as published, or the rows
        themselves. The time for rows grows with the square of the cluster sizes.
    closure : bool
        Whether pairs that follow from the given pairs count too.
    {standardize}
    {missing_label}
    random_state : int, RandomState or None, default=0
        For ``order="random"``.
    {n_jobs}

    Attributes
    ----------
    {scores}
        Low scores are good.
    n_must_link_, n_cannot_link_ : int
        Number of pairs known, including those that follow from others.
    n_must_link_kept_, n_cannot_link_kept_ : int
        Number of pairs used, after selection.
    map_shape_ : tuple of int or None
        Sides of the map; None if there is no map (``"knn"``, or every row is in a pair).
    n_clusters_ : int or None
    row_clusters_ : array (n_rows,) or None
        Cluster of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from dubio import ConstrainedLaplacianScore
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> y[np.arange(150) % 5 != 0] = -1
    >>> selector = ConstrainedLaplacianScore(n_features_to_select=2).fit(X, y)
    >>> list(selector.get_feature_names_out()), selector.map_shape_, selector.n_clusters_
    (['petal length (cm)', 'petal width (cm)'], (11, 5), 2)
    """

    _name = "constrained_laplacian"
    _does = "Laplacian score that respects pairs, CSFS"
    _n_permutations = 200  # each one clusters the rows again
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "neighbors": [StrOptions({"clusters", "knn"})],
        "selection": [StrOptions({"all", "hard", "soft"})],
        "order": [StrOptions({"shortest", "random", "weight"})],
        "lam": [Interval(Real, 0, None, closed="neither")],
        "scale": [StrOptions({"mean", "none"})],
        "unlabelled": [StrOptions({"prototypes", "rows"})],
    }

    neighbors: Literal["clusters", "knn"] = "clusters"
    selection: Literal["all", "hard", "soft"] = "all"
    order: Order = "shortest"
    n_neighbors: int = 5
    lam: float = 0.1
    scale: Scale = "mean"
    unlabelled: Literal["prototypes", "rows"] = "prototypes"
    closure: bool = True
    standardize: bool = True
    missing_label: Any = "auto"
    random_state: Any = 0
    n_jobs: int | None = None

    @classmethod
    def as_published(cls, **parameters: Any) -> Self:
        """The paper's setting: hard selection, clusters of a map, lambda = 0.1 on plain squared distances.

        On wide tables the kernel then underflows and hardly any pair is coherent; a warning reports both.

        >>> from dubio import ConstrainedLaplacianScore
        >>> ConstrainedLaplacianScore.as_published(n_features_to_select=5)
        ConstrainedLaplacianScore(n_features_to_select=5, scale='none', selection='hard')
        """
        published = {
            "neighbors": "clusters",
            "selection": "hard",
            "lam": 0.1,
            "scale": "none",
            "unlabelled": "prototypes",
            "closure": True,
        }
        return cls(**{**published, **parameters})

    def _score(self, problem: Problem) -> Scored:
        space, supervision = problem.space(self.standardize), problem.supervision
        known = supervision_pairs(supervision, closure=self.closure)
        kept = self._select(space, known)
        attributes: dict[str, Any] = {
            "n_must_link_": len(known.must_link),
            "n_cannot_link_": len(known.cannot_link),
            "n_must_link_kept_": len(kept.must_link),
            "n_cannot_link_kept_": len(kept.cannot_link),
            "map_shape_": None,
            "n_clusters_": None,
            "row_clusters_": None,
        }
        if self.neighbors == "knn":
            k = clip_neighbors(self.n_neighbors, len(space) - 1)
            graph = symmetrize(nearest_others(space, k, self.n_jobs))
            scores = score_on_graph(space, graph, kept, self.lam, self.scale, problem.columns)
            return Scored(scores, attributes=attributes)
        in_pairs = supervision.labelled.copy()
        in_pairs[known.rows] = True
        # Units of a small map are equally far apart: the order of the table must not choose, not even by rounding.
        order = order_of_contents(problem)
        place = np.argsort(order)
        space, kept, rows = (
            problem.rows(order).space(self.standardize),
            kept.moved(place),
            np.flatnonzero(in_pairs[order]),
        )
        clusters = cluster_rows(space, rows)
        attributes |= {"map_shape_": clusters.map_shape, "n_clusters_": clusters.n_clusters}
        attributes["row_clusters_"] = clusters.row_cluster[place]
        if self.unlabelled == "rows":
            scores = score_on_clusters(space, clusters.row_cluster, kept, self.lam, self.scale, problem.columns)
            return Scored(scores, attributes=attributes)
        points = Pairs(
            np.searchsorted(rows, kept.must_link),
            np.searchsorted(rows, kept.cannot_link),
            kept.must_link_weights,
            kept.cannot_link_weights,
        )
        scores = score_on_clusters(
            clusters.points, clusters.point_cluster, points, self.lam, self.scale, problem.columns
        )
        return Scored(scores, attributes=attributes)

    def _select(self, space: NDArray[np.float64], known: Pairs) -> Pairs:
        if not len(known):
            warn(
                InputWarning(
                    "must_link",
                    "and cannot_link are empty: the score is a plain Laplacian score of the neighbours",
                )
            )
            return known
        kept = known
        if self.selection == "hard":
            kept = select_hard(space, known)
        elif self.selection == "soft":
            kept = select_soft(space, known, self.order, self.random_state)
        counts = f"of {len(known.must_link)} must-link and {len(known.cannot_link)} cannot-link pairs"
        if not len(kept):
            warn(
                InputWarning(
                    "selection",
                    f"={self.selection!r} kept none {counts}, because no pair is coherent with all others. All of "
                    "them are used instead",
                    "selection='soft' keeps more",
                )
            )
            return known
        if not len(kept.must_link):
            self._warn_of_one_kind(counts, "must-link", "its numerator only keeps neighbours together")
        elif not len(kept.cannot_link):
            self._warn_of_one_kind(counts, "cannot-link", "its denominator only measures the spread around the mean")
        return kept

    def _warn_of_one_kind(self, counts: str, missing: str, effect: str) -> None:
        left = f"left after selection {counts}" if self.selection != "all" else "given"
        warn(
            InputWarning(
                missing.replace("-", "_"),
                f"is empty (no {missing} pair is {left}): the score still ranks features, but {effect}",
            )
        )


def check_kernel(lam: float, scale: str) -> None:
    """Raise if the kernel has no width."""
    if not isinstance(lam, Real) or not 0 < lam < np.inf:
        raise InputError("lam", f"={lam!r}", "the width of the kernel exp(-d^2 / lam) must be positive and finite")
    if not isinstance(scale, str) or scale not in ("mean", "none"):
        raise InputError("scale", f"={scale!r}", "give 'mean' or 'none'")


def _pattern(graph: Any, n_rows: int) -> sparse.csr_array:
    """Where a graph has edges in either direction, without self edges."""
    if graph.shape != (n_rows, n_rows):
        raise InputError("neighbor_labels", f"has shape {graph.shape}", f"a graph must have shape ({n_rows}, {n_rows})")
    return symmetrize(sparse.csr_array(graph != 0).astype(np.float64))


def mean_squared_distance(X: NDArray[np.float64]) -> float:
    """Mean of the squared distances between all pairs of different rows."""
    return float(2 * ((X - X.mean(axis=0)) ** 2).sum() / max(1, len(X) - 1))


def kernel_width(X: NDArray[np.float64], lam: float, scale: str) -> float:
    """``lam`` in the units of squared distances."""
    unit = mean_squared_distance(X) if scale == "mean" else 1.0
    return lam * unit if unit > 0 else lam


def score_on_clusters(
    X: NDArray[np.float64],
    cluster: NDArray[np.int64],
    pairs: Pairs,
    lam: float,
    scale: str,
    columns: Columns | None = None,
) -> NDArray[np.float64]:
    """:func:`constrained_laplacian_score` of validated input; neighbours share a cluster."""
    width = kernel_width(X, lam, scale)
    above, degree = np.zeros(X.shape[1]), np.zeros(len(X))
    for rows, piece in cluster_graph_blocks(X, cluster, width):
        above += quadratic_form(piece, X[rows])
        degree[rows] += piece.sum(axis=1)
    near = [cluster[part[:, 0]] == cluster[part[:, 1]] for part in (pairs.must_link, pairs.cannot_link)]
    has_neighbors = np.bincount(cluster)[cluster] > 1
    _warn_of_underflow(degree, has_neighbors, lam, scale)
    return _score(X, above, degree, pairs, near[0], near[1], width, columns)


def score_on_graph(
    X: NDArray[np.float64],
    edges: sparse.csr_array,
    pairs: Pairs,
    lam: float,
    scale: str,
    columns: Columns | None = None,
) -> NDArray[np.float64]:
    """:func:`constrained_laplacian_score` of validated input; neighbours share an edge of a symmetric graph."""
    width = kernel_width(X, lam, scale)
    graph = edges.copy()
    graph.data = np.exp(-squared_distances(edges, X) / width)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    _warn_of_underflow(degree, np.diff(edges.indptr) > 0, lam, scale)
    near = [
        np.asarray(edges[part[:, 0], part[:, 1]]).ravel() != 0 if len(part) else np.empty(0, dtype=bool)
        for part in (pairs.must_link, pairs.cannot_link)
    ]
    return _score(X, quadratic_form(graph, X), degree, pairs, near[0], near[1], width, columns)


def _score(
    X: NDArray[np.float64],
    above: NDArray[np.float64],
    degree: NDArray[np.float64],
    pairs: Pairs,
    near_must_link: NDArray[np.bool_],
    near_cannot_link: NDArray[np.bool_],
    width: float,
    columns: Columns | None,
) -> NDArray[np.float64]:
    """The score from the quadratic form ``above`` and the degrees of S; this adds the terms of the pairs."""
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
    below[np.equal(X, X[0]).all(axis=0)] = 0.0  # a rounding error of the mean is not spread
    return ratio(feature_sums(2 * above, columns), feature_sums(below, columns))


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
    warn(
        InputWarning(
            "lam",
            f"={lam:g} is so small that the kernel exp(-d^2 / lam) underflows: for {lost} of {total} rows with "
            "neighbours, all edge weights are zero, so these rows do not count",
            advice,
        )
    )
