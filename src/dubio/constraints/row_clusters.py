"""Neighbourhoods that follow the data: clusters of the labelled rows and of a map of the unlabelled rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import davies_bouldin_score

from dubio.constraints.som import fit_map


@dataclass(frozen=True)
class RowClusters:
    """Clusters of the labelled rows and of prototypes of the unlabelled rows.

    ``points`` holds the labelled rows, then the prototypes, and ``point_cluster`` their clusters. ``row_cluster``
    holds the cluster of every row of the table; an unlabelled row has the cluster of its prototype. ``map_shape`` is
    ``None`` if there was no unlabelled row to map.
    """

    points: NDArray[np.float64]
    point_cluster: NDArray[np.int64]
    row_cluster: NDArray[np.int64]
    n_clusters: int
    map_shape: tuple[int, int] | None


def cluster_rows(X: NDArray[np.float64], labelled: NDArray[np.int64], *, n_epochs: int = 25) -> RowClusters:
    """Map the unlabelled rows, join the prototypes with the labelled rows, and cluster them by Ward's method.

    The number of clusters, from 2 to the square root of the number of points, is the one with the smallest
    Davies-Bouldin index. Ward's method holds all distances between points in memory: 4 bytes times the squared number
    of points, so 10,000 points take 400 MB. The number of points is 5 times the square root of the number of unlabelled
    rows, plus the number of labelled rows.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    labelled : array of int
        Rows about which something is known; all others are mapped.

    References
    ----------
    Hindawi, Allab, Benabdeslem, "Constraint selection based semi-supervised feature selection", 2011,
    section 4.1 and 5.1.
    """
    is_labelled = np.zeros(len(X), dtype=bool)
    is_labelled[labelled] = True
    known, unknown = np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)
    sheet = fit_map(X[unknown], n_epochs=n_epochs) if len(unknown) else None
    points = X[known] if sheet is None else np.concatenate([X[known], sheet.prototypes])
    cluster = ward_clusters(points)
    row_cluster = np.empty(len(X), dtype=np.int64)
    row_cluster[known] = cluster[: len(known)]
    if sheet is not None:
        row_cluster[unknown] = cluster[len(known) + sheet.unit]
    return RowClusters(points, cluster, row_cluster, int(cluster.max()) + 1, None if sheet is None else sheet.shape)


def ward_clusters(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Ward's clusters of the points; the Davies-Bouldin index chooses how many."""
    one = np.zeros(len(points), dtype=np.int64)
    if len(points) < 3:
        return one
    tree = linkage(points, method="ward")
    best, lowest = one, np.inf
    for n_clusters in range(2, max(2, int(np.sqrt(len(points)))) + 1):
        cluster = fcluster(tree, n_clusters, criterion="maxclust") - 1
        # Equal points cannot be separated, so there may be fewer clusters than requested.
        if not 2 <= cluster.max() + 1 <= len(points) - 1:
            continue
        index = davies_bouldin_score(points, cluster)
        if index < lowest:
            best, lowest = cluster.astype(np.int64), index
    return best
