"""The constrained Laplacian score: few pairs, and clusters of a self-organising map."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import svd
from sklearn.base import clone
from sklearn.metrics import davies_bouldin_score

from dubio.checks import AT_LEAST_ONE, HasMethods, Interval, StrOptions, check_parameters, require_choice
from dubio.errors import InputError, InputWarning, warn
from dubio.kernels.threads import chunks
from dubio.methods.parameters import documented, estimator
from dubio.neighbors.graphs import RowNeighbors, cluster_graph_blocks, ends_of, squared_distances, symmetrize
from dubio.neighbors.quadratic import quadratic_form
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.sampling import order_of_contents
from dubio.scores.coherence import Order, select_pairs, squared_lengths
from dubio.scores.constraint import PairSelector
from dubio.scores.weighted import ratio
from dubio.table.matrix import Columns, feature_sums, read_matrix
from dubio.table.matrix import standardize as standardize_columns
from dubio.target.pairs import Pairs, pair_graph, read_pairs

Floats = NDArray[np.float64]
#: Number of distances held at a time.
_BLOCK_ENTRIES = 2**22


@dataclass(frozen=True)
class SelfOrganizingMap:
    """A fitted map: ``prototypes`` (units x features) on a sheet of ``shape``, and the unit of each row."""

    prototypes: Floats
    shape: tuple[int, int]
    unit: NDArray[np.int64]


def map_shape(n_rows: int, largest: float, second: float) -> tuple[int, int]:
    """Sides of a hexagonal sheet of about 5 sqrt(n) units, in the ratio of the two largest standard deviations.

    With u = ceil(5 sqrt(n)) and r = sqrt(largest / second), the short side is sqrt(u sqrt(0.75) / r) and the long side
    is u / short, both rounded half up: the rule of the SOM Toolbox. In a hexagonal sheet the rows of units are
    sqrt(0.75) apart. The rule gives seven of the eight maps in Table 1 of the CSFS paper (two of them exchanged there).

    References
    ----------
    Vesanto, Himberg, Alhoniemi, Parhankangas, "SOM Toolbox for Matlab 5", 2000.

    >>> map_shape(111, 2.91, 0.914)
    (11, 5)
    """
    units = int(np.ceil(5 * np.sqrt(n_rows)))
    ratio = np.sqrt(largest / second) if second > 0 else np.inf
    short = min(units, max(1, int(np.sqrt(units * np.sqrt(0.75) / ratio) + 0.5)))
    return max(1, int(units / short + 0.5)), short


def fit_map(X: Floats, *, n_epochs: int = 25) -> SelfOrganizingMap:
    """Fit a batch map to the rows of ``X``.

    The sheet is hexagonal: every second row of units is shifted by half a unit. It starts as a grid on the plane of
    the two largest principal components, two standard deviations to each side, so nothing is random. In each epoch,
    every row is assigned to its nearest prototype. Then every prototype becomes a weighted mean of all rows: the weight
    is a Gaussian of the distance on the sheet between the prototype and the row's unit. The width of the Gaussian falls
    linearly from a quarter of the longer side to 1. Units without any row are kept: the sheet is smooth there too.

    References
    ----------
    Kohonen, "Self-organizing maps", 1997.

    Examples
    --------
    >>> fit_map(np.arange(20.0).reshape(10, 2)).shape
    (16, 1)
    """
    mean = X.mean(axis=0)
    centred = X - mean
    _, singular, axes = svd(centred, full_matrices=False, lapack_driver="gesdd")
    deviation = np.zeros(2)
    deviation[: min(2, len(singular))] = singular[:2] / np.sqrt(max(1, len(X) - 1))
    deviation[deviation <= 1e-12 * deviation[0]] = 0.0
    shape = map_shape(len(X), *(deviation**2)) if deviation[0] > 0 else (1, 1)
    sheet = np.stack(np.meshgrid(*(np.arange(side) for side in shape), indexing="ij"), axis=-1).reshape(-1, 2)
    place = np.zeros((len(sheet), 2))
    for axis, side in enumerate(shape):
        if side > 1:
            place[:, axis] = 2 * deviation[axis] * (2 * sheet[:, axis] / (side - 1) - 1)
    axes = np.array([axis * _sign(axis, centred) for axis in axes[:2]])
    prototypes = place[:, : len(axes)] @ axes
    place_on_sheet = np.column_stack([np.sqrt(0.75) * sheet[:, 0], sheet[:, 1] + 0.5 * (sheet[:, 0] % 2)])
    apart = ((place_on_sheet[:, None, :] - place_on_sheet[None, :, :]) ** 2).sum(axis=-1)
    for width in np.linspace(max(1.0, max(shape) / 4), 1.0, n_epochs):
        unit = _nearest_unit(centred, prototypes)
        nearness = np.exp(-apart / (2 * width**2))
        belongs = sparse.csr_array((np.ones(len(X)), (unit, np.arange(len(X)))), shape=(len(sheet), len(X)))
        weight = nearness @ belongs.sum(axis=1)
        reached = weight > 0
        prototypes[reached] = (nearness @ (belongs @ centred))[reached] / weight[reached, None]
    return SelfOrganizingMap(mean + prototypes, shape, _nearest_unit(centred, prototypes))


def _sign(axis: Floats, centred: Floats) -> float:
    """The sign of a principal axis is arbitrary: its largest entry is made positive.

    Of two features on one scale, both entries are equally large, and rounding would choose. Then the longer tail of the
    rows along the axis points upwards.
    """
    size = np.abs(axis)
    largest = int(size.argmax())
    if np.count_nonzero(size > (1.0 - 1e-9) * size[largest]) > 1:
        return 1.0 if float(((centred @ axis) ** 3).sum()) >= 0 else -1.0
    return float(np.sign(axis[largest]))


def _nearest_unit(X: Floats, prototypes: Floats) -> NDArray[np.int64]:
    """The nearest prototype of each row, by one matrix product per block and without starting threads."""
    squares = np.einsum("ij,ij->i", prototypes, prototypes)
    unit = np.empty(len(X), dtype=np.int64)
    for start, stop in chunks(len(X), max(1, _BLOCK_ENTRIES // len(prototypes))):
        unit[start:stop] = (squares - 2 * (X[start:stop] @ prototypes.T)).argmin(axis=1)
    return unit


@dataclass(frozen=True)
class RowClusters:
    """Clusters of the labelled rows and of prototypes of the unlabelled rows.

    ``points`` holds the labelled rows, then the prototypes, ``point_cluster`` their clusters. In ``row_cluster``, an
    unlabelled row has the cluster of its prototype. ``map_shape`` is None if there was no unlabelled row to map.
    """

    points: Floats
    point_cluster: NDArray[np.int64]
    row_cluster: NDArray[np.int64]
    n_clusters: int
    map_shape: tuple[int, int] | None


def cluster_rows(
    X: Floats, labelled: NDArray[np.int64], *, n_clusters: int | None = None, n_epochs: int = 25
) -> RowClusters:
    """Map the unlabelled rows, join the prototypes with the labelled rows, and cluster them by Ward's method.

    Without ``n_clusters``, their number, from 2 to the square root of the number of points, is the one with the
    smallest Davies-Bouldin index. Ward's method holds all distances between points in memory: 4 bytes times the
    squared number of points, so 10,000 points take 400 MB. The number of points is 5 times the square root of the
    number of unlabelled rows, plus the number of labelled rows.

    References
    ----------
    Hindawi, Allab, Benabdeslem, "Constraint selection based semi-supervised feature selection", 2011,
    section 4.1 and 5.1.
    """
    known, unknown = np.unique(labelled), np.setdiff1d(np.arange(len(X)), labelled)
    sheet = fit_map(X[unknown], n_epochs=n_epochs) if len(unknown) else None
    points = X[known] if sheet is None else np.concatenate([X[known], sheet.prototypes])
    cluster = ward_clusters(points, n_clusters)
    row_cluster = np.empty(len(X), dtype=np.int64)
    row_cluster[known] = cluster[: len(known)]
    if sheet is not None:
        row_cluster[unknown] = cluster[len(known) + sheet.unit]
    return RowClusters(points, cluster, row_cluster, int(cluster.max()) + 1, None if sheet is None else sheet.shape)


def ward_clusters(points: Floats, n_clusters: int | None = None) -> NDArray[np.int64]:
    """Ward's clusters of the points: as many as given, or as the Davies-Bouldin index chooses."""
    one = np.zeros(len(points), dtype=np.int64)
    if len(points) < 3:
        return one
    tree = linkage(points, method="ward")
    if n_clusters is not None:
        return (fcluster(tree, min(n_clusters, len(points)), criterion="maxclust") - 1).astype(np.int64)
    best, lowest = one, np.inf
    for count in range(2, max(2, int(np.sqrt(len(points)))) + 1):
        cluster = fcluster(tree, count, criterion="maxclust") - 1
        # Equal points cannot be separated, so there may be fewer clusters than requested.
        index = davies_bouldin_score(points, cluster) if 2 <= cluster.max() + 1 < len(points) else np.inf
        if index < lowest:
            best, lowest = cluster.astype(np.int64), index
    return best


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
) -> Floats:
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
        Width of the kernel, :math:`\lambda`, in units of ``scale``.
    scale : {"mean", "none"}
        ``"mean"`` divides squared distances by their mean over all pairs of rows. ``"none"`` uses the formula as
        printed; on wide or unscaled tables all weights then underflow, with a warning.
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
    if not isinstance(lam, Real) or not 0 < lam < np.inf:
        raise InputError("lam", f"={lam!r}", "the width of the kernel exp(-d^2 / lam) must be positive and finite")
    require_choice("scale", scale, get_args(Scale))
    graph, n = sparse.issparse(neighbor_labels), len(table)
    neighbors: Any = neighbor_labels if graph else np.asarray(neighbor_labels)
    if neighbors.shape != ((n, n) if graph else (n,)):
        wanted = f"a graph must have shape ({n}, {n})" if graph else f"it must hold the cluster of each of the {n} rows"
        raise InputError("neighbor_labels", f"has shape {neighbors.shape}", wanted)
    if graph:  # edges in either direction, without those from a row to itself
        neighbors = symmetrize(sparse.csr_array(neighbors != 0).astype(np.float64))
    else:
        neighbors = np.unique(neighbors, return_inverse=True)[1]
    return score_of_neighbors(table, neighbors, pairs, lam, scale)


@estimator
class ConstrainedLaplacianScore(PairSelector):
    """Laplacian score of all rows that respects pairs (CSFS; see :func:`constrained_laplacian_score`).

    Neighbours are rows of the same cluster, as published, or plain nearest neighbours. Pairs can first be selected by
    coherence. With all pairs of a labelling, the hard rule keeps hardly any, so the default is to keep all pairs.
    :meth:`as_published` is the paper's own setting.

    Parameters
    ----------
    neighbors : {"clusters", "knn"} or clusterer
        ``"clusters"``: rows of the same cluster are neighbours. Rows that are in no pair are first replaced by a
        self-organising map. The map and the other rows are then clustered by Ward's method, and the Davies-Bouldin
        index chooses the number of clusters. ``"knn"``: two rows are neighbours if one is among the ``n_neighbors``
        nearest of the other. A scikit-learn clusterer: its clusters of the rows themselves. (For clusters that you
        have, use the function :func:`constrained_laplacian_score`.)
    selection : {"all", "hard", "soft"}
        Which pairs count; see :func:`~dubio.scores.coherence.select_pairs`.
    order : {"shortest", "random", "weight"}
        For ``selection="soft"``, which pairs come first.
    n_clusters : int, optional
        For ``neighbors="clusters"``: the number of clusters, in place of the Davies-Bouldin index. The paper's sizes
        fit the number of classes.
    n_neighbors : int
        For ``neighbors="knn"``.
    unlabelled : {"prototypes", "rows"}
        For ``neighbors="clusters"``, whether the score uses the prototypes of the map, as published, or the rows
        themselves. The time for rows grows with the square of the cluster sizes.
    closure : bool
        Whether pairs that follow from the given pairs count too.

    Attributes
    ----------
    n_must_link_, n_cannot_link_, n_must_link_kept_, n_cannot_link_kept_ : int
        Number of pairs known, including those that follow from others, and of pairs used, after selection.
    map_shape_ : tuple of int or None
        Sides of the map; None if there is no map (``"knn"``, or every row is in a pair).
    n_clusters_, row_clusters_ : int and array (n_rows,), or None
        Number of clusters, and the cluster of each row.

    Notes
    -----
    Equations 7 to 10 of the paper [1]_; the guide's page on choosing a method says where the default differs.
    Assumes that rows of a cluster belong together. Do not use it in place of :class:`ConstraintScore` without a
    reason: it was behind on average over seven tables, and most where clusters and classes differ.

    References
    ----------
    .. [1] M. Hindawi, K. Allab and K. Benabdeslem (2011). Constraint selection based semi-supervised feature
       selection. ICDM, 1080-1085.

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

    _function = "constrained_laplacian_score"
    _name = "constrained_laplacian"
    _does = "Laplacian score that respects pairs, CSFS"
    _n_permutations = 200  # each one clusters the rows again
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "neighbors": [StrOptions({"clusters", "knn"}), HasMethods(["fit_predict"])],
        "n_clusters": [None, *AT_LEAST_ONE],
        "selection": [StrOptions({"all", "hard", "soft"})],
        "order": [StrOptions({"shortest", "random", "weight"})],
        "lam": [Interval(Real, 0, None, closed="neither")],
        "scale": [StrOptions({"mean", "none"})],
        "unlabelled": [StrOptions({"prototypes", "rows"})],
    }

    _as_published: ClassVar[dict[str, Any]] = {"closure": False, "selection": "hard", "scale": "none"}

    neighbors: Any = "clusters"
    n_clusters: int | None = None
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
        """The paper's setting: hard selection of the given pairs, clusters of a map, lambda = 0.1 on plain distances.

        On wide tables the kernel then underflows and hardly any pair is coherent; a warning reports both.

        >>> from dubio import ConstrainedLaplacianScore
        >>> ConstrainedLaplacianScore.as_published(n_features_to_select=5)
        ConstrainedLaplacianScore(closure=False, n_features_to_select=5, scale='none',
                                  selection='hard')
        """
        return cls(**{**cls._as_published, **parameters})

    def _score(self, problem: Problem) -> Scored:
        space, supervision = problem.space(self.standardize), problem.supervision
        known = supervision.all_pairs(closure=self.closure)
        kept = self._select(space, known)
        attributes: dict[str, Any] = dict.fromkeys(("map_shape_", "n_clusters_", "row_clusters_"))
        for name, some in (("", known), ("kept_", kept)):
            counts = {f"n_must_link_{name}": len(some.must_link), f"n_cannot_link_{name}": len(some.cannot_link)}
            attributes |= counts
        if self.neighbors == "knn":
            graph = RowNeighbors(space, n_neighbors=self.n_neighbors, n_jobs=self.n_jobs).edges()
            scores = score_of_neighbors(space, graph, kept, self.lam, self.scale, problem.columns)
            return Scored(scores, attributes=attributes)
        if not isinstance(self.neighbors, str):
            own = clone(self.neighbors).fit_predict(space)
            cluster = np.unique(np.asarray(own), return_inverse=True)[1].astype(np.int64)
            attributes |= {"n_clusters_": int(cluster.max()) + 1, "row_clusters_": cluster}
            scores = score_of_neighbors(space, cluster, kept, self.lam, self.scale, problem.columns)
            return Scored(scores, attributes=attributes)
        in_pairs = supervision.labelled.copy()
        in_pairs[known.rows] = True
        # Units of a small map are equally far apart: the order of the table must not choose, not even by rounding.
        order = order_of_contents(problem)
        place = np.argsort(order)
        space, kept = problem.rows(order).space(self.standardize), kept.moved(place)
        rows = np.flatnonzero(in_pairs[order])
        clusters = cluster_rows(space, rows, n_clusters=self.n_clusters)
        attributes |= {"map_shape_": clusters.map_shape, "n_clusters_": clusters.n_clusters}
        attributes["row_clusters_"] = clusters.row_cluster[place]
        cluster = clusters.row_cluster
        if self.unlabelled == "prototypes":
            space, cluster = clusters.points, clusters.point_cluster
            places = (np.searchsorted(rows, kept.must_link), np.searchsorted(rows, kept.cannot_link))
            kept = Pairs(*places, kept.must_link_weights, kept.cannot_link_weights)
        scores = score_of_neighbors(space, cluster, kept, self.lam, self.scale, problem.columns)
        return Scored(scores, attributes=attributes)

    def _select(self, space: Floats, known: Pairs) -> Pairs:
        """The pairs that count; warns if there are none, or none of one kind."""
        if not len(known):
            empty = "and cannot_link are empty: the score is a plain Laplacian score of the neighbours"
            warn(InputWarning("must_link", empty))
            return known
        kept = known
        if self.selection != "all":
            kept = select_pairs(space, known, how=self.selection, order=self.order, random_state=self.random_state)
        counts = f"of {len(known.must_link)} must-link and {len(known.cannot_link)} cannot-link pairs"
        if not len(kept):
            found = f"={self.selection!r} kept none {counts}, because no pair is coherent with all others"
            warn(InputWarning("selection", f"{found}. All of them are used instead", "selection='soft' keeps more"))
            return known
        left = f"left after selection {counts}" if self.selection != "all" else "given"
        for missing, pairs, effect in (
            ("must-link", kept.must_link, "its numerator only keeps neighbours together"),
            ("cannot-link", kept.cannot_link, "its denominator only measures the spread around the mean"),
        ):
            if not len(pairs):
                found = f"is empty (no {missing} pair is {left}): the score still ranks features, but {effect}"
                warn(InputWarning(missing.replace("-", "_"), found))
        return kept


def score_of_neighbors(
    X: Floats, neighbors: Any, pairs: Pairs, lam: float, scale: Scale, columns: Columns | None = None
) -> Floats:
    """:func:`constrained_laplacian_score` of validated input.

    Neighbours share a cluster (``neighbors`` holds the cluster of each row), or an edge of a symmetric graph.
    """
    n = len(X)
    mean = float(2 * ((X - X.mean(axis=0)) ** 2).sum() / max(1, n - 1))  # of the squared distances of all pairs
    width = lam * mean if scale == "mean" and mean > 0 else lam
    ends = (pairs.must_link, pairs.cannot_link)
    if sparse.issparse(neighbors):
        graph = neighbors.copy()
        graph.data = np.exp(-squared_distances(X, *ends_of(neighbors)) / width)
        above, degree = quadratic_form(graph, X), np.asarray(graph.sum(axis=1)).ravel()
        has_neighbors = np.diff(neighbors.indptr) > 0
        near = [len(part) and np.asarray(neighbors[part[:, 0], part[:, 1]]).ravel() != 0 for part in ends]
    else:
        above, degree = np.zeros(X.shape[1]), np.zeros(n)
        for rows, piece in cluster_graph_blocks(X, neighbors, width):
            above += quadratic_form(piece, X[rows])
            degree[rows] += piece.sum(axis=1)
        has_neighbors = np.bincount(neighbors)[neighbors] > 1
        near = [neighbors[part[:, 0]] == neighbors[part[:, 1]] for part in ends]
    lost, total = int((has_neighbors & (degree < np.finfo(np.float64).tiny)).sum()), int(has_neighbors.sum())
    if total and 2 * lost >= total:
        found = f"={lam:g} is so small that the kernel exp(-d^2 / lam) underflows: for {lost} of {total} rows with "
        found += "neighbours, all edge weights are zero, so these rows do not count"
        advice = 'pass scale="mean", or a larger lam' if scale == "none" else "pass a larger lam"
        warn(InputWarning("lam", found, advice))

    def form(part: NDArray[np.int64], weights: Floats | None, kernel: Floats) -> Floats:
        return quadratic_form(pair_graph(part, kernel if weights is None else weights * kernel, n), X)

    below = degree @ (X - X.mean(axis=0)) ** 2
    if len(pairs.must_link):
        kernel = np.exp(-squared_lengths(X, pairs.must_link) / width)
        kernel[~near[0]] **= 2
        above = above + form(pairs.must_link, pairs.must_link_weights, kernel)
    if len(pairs.cannot_link):
        kernel = np.where(near[1], np.exp(-2 * squared_lengths(X, pairs.cannot_link) / width), 0.0)
        above = above + form(pairs.cannot_link, pairs.cannot_link_weights, kernel)
        # sum_i D_i sum_j C_ij (f_i - f_j)^2 is the quadratic form of the graph DC + CD.
        below = below + form(pairs.cannot_link, pairs.cannot_link_weights, degree[pairs.cannot_link].sum(axis=1))
    below[np.equal(X, X[0]).all(axis=0)] = 0.0  # a rounding error of the mean is not spread
    return ratio(feature_sums(2 * above, columns), feature_sums(below, columns))
