"""CSFS paper, section 5.1: the four clusters of soybean; and section 3.2: the score when every row has a label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from dubio.scores.constrained_laplacian import cluster_rows, constrained_laplacian_score, ward_clusters
from dubio.table.matrix import standardize
from dubio.target.reader import pairs_from_labels
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Experiment, Table, printed_table
from dubio_papers.pair_protocol import quarter_of_each_class

#: Printed sizes of the four clusters, in ascending order; in the paper 9, 16, 9 and 10.
SIZES = (9, 9, 10, 16)
NUMBERS = ("2 clusters", "3 clusters", "4 clusters", "5 clusters", "6 clusters", "more")
CUT = tuple(f"size {place} of the cut at 4" for place in range(1, 5))
APART, AROUND_MEAN = "numerator: cannot-linked neighbours (%)", "denominator: spread around the mean (%)"


def run_soybean(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """The number of clusters that the Davies-Bouldin index chooses, and the sizes if the tree is cut at four."""
    data = load("soybean_small", paper="csfs")
    labelled = np.flatnonzero(quarter_of_each_class(data.y, random))
    clusters = cluster_rows(standardize(data.X), labelled)
    found = int(ward_clusters(clusters.points).max()) + 1
    assert found == clusters.n_clusters
    cut = fcluster(linkage(clusters.points, method="ward"), 4, criterion="maxclust")
    chosen = {name: 100.0 * (place == min(found - 2, 5)) for place, name in enumerate(NUMBERS)}
    return {**chosen, **dict(zip(CUT, map(float, np.sort(np.bincount(cut)[1:])), strict=True))}


def run_all_labelled(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """Which share of both terms of the score does not come from the pairs that a constraint score would use."""
    data = load(parameters["dataset"], paper="csfs")
    X = standardize(data.X)
    X = X[:, np.ptp(X, axis=0) > 0]
    pairs = pairs_from_labels(data.y)
    cluster = ward_clusters(X)
    gaps = X[:, None, :] - X[None, :, :]
    squared = (gaps**2).sum(axis=2)
    weights = np.exp(-squared / (0.1 * squared.sum() / (len(X) * (len(X) - 1))))
    near = (cluster[:, None] == cluster[None, :]) & ~np.eye(len(X), dtype=bool)
    same = data.y[:, None] == data.y[None, :]
    S = np.where(near, weights, 0.0)
    N = np.where(near & same, weights, np.where(near ^ same, weights**2, 0.0)) * ~np.eye(len(X), dtype=bool)
    above = np.einsum("ijf,ij->f", gaps**2, S + N)
    apart = np.einsum("ijf,ij->f", gaps**2, np.where(same, 0.0, S + N))
    around = S.sum(axis=1) @ (X - X.mean(axis=0)) ** 2
    below = around + np.einsum("ijf,i,ij->f", gaps**2, S.sum(axis=1), ~same)
    ours = constrained_laplacian_score(X, cluster, pairs.must_link, pairs.cannot_link)
    np.testing.assert_allclose(ours, above / below, rtol=1e-6)
    return {APART: 100 * float(apart.sum() / above.sum()), AROUND_MEAN: 100 * float(around.sum() / below.sum())}


EXPERIMENTS = (
    Experiment(
        name="csfs-soybean-clusters",
        paper="csfs",
        title="Section 5.1: the clusters of soybean",
        about="The paper finds four clusters of soybean's map and labelled rows (44 points), of 9, 16, 9 and 10 "
        "points, by the Davies-Bouldin index. The table shows how often this index chooses each number over random "
        "draws of the labelled "
        "quarter, and the sizes, in ascending order, if Ward's tree is cut at four, the number of classes.",
        cells=(Cell({"dataset": "soybean_small"}, 100, 10, 0.02, "soybean_small", "soybean small"),),
        protocol=run_soybean,
        displays=(
            Table("Number of clusters (% of the draws)", NUMBERS, row_header="dataset"),
            Table(
                "Sizes of the cut at four clusters",
                CUT,
                printed_table(["dataset=soybean_small"], CUT, [SIZES]),
                printed_digits=0,
                row_header="dataset",
                beside=CUT,
            ),
        ),
    ),
    Experiment(
        name="csfs-all-labelled",
        paper="csfs",
        title="Section 3.2: the score when every row has a label",
        about='The paper says that without unlabelled rows the score "represents an adjusted" constraint score, with '
        "must-links in the numerator and cannot-links in the denominator, both weighted. By its equations 9 and 10 the "
        "numerator also has cannot-linked neighbours, and the denominator also the spread around the mean. The table "
        "shows how much of each term this is, summed over the features, with all rows labelled.",
        cells=tuple(
            Cell({"dataset": name}, 1, 1, 0.5, name, name.replace("_", " "))
            for name in ("iris", "sonar", "soybean_small")
        ),
        protocol=run_all_labelled,
        displays=(Table("Not of the pairs", (APART, AROUND_MEAN), row_header="dataset"),),
    ),
)
