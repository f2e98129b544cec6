"""LNT paper, section 6.1: does a large class absorb a small one when the noise model sees more neighbours?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dubio.doubt.noise_model import estimate_memberships
from dubio.simulate import flip_labels
from dubio.table.matrix import standardize
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Experiment, Table

NUMBERS = (3, 8)
LOSS = "share lost with 8 instead of 3 (points)"


def share(neighbors: int) -> str:
    """The name of the measure: how much of the smallest class the memberships keep."""
    return f"share of the smallest class kept, k = {neighbors} (%)"


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """Memberships of the whole table with 20 % of the labels flipped, for both numbers of neighbours."""
    data = load(parameters["dataset"], paper="lnt")
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    X = standardize(data.X) + random.normal(scale=1e-3, size=data.X.shape)
    noisy = flip_labels(y, 0.2, random_state=int(random.integers(2**31)))
    seed, smallest = int(random.integers(2**31)), int(np.bincount(y).argmin())
    measures = {}
    for k in NUMBERS:
        model = estimate_memberships(X, noisy, n_neighbors=k, random_state=seed)
        measures[share(k)] = 100 * float(model.memberships[y == smallest, smallest].mean())
        measures[f"iterations, k = {k}"] = float(len(model.objectives[model.best_restart]))
    return {**measures, LOSS: measures[share(3)] - measures[share(8)]}


EXPERIMENTS = (
    Experiment(
        name="lnt-noise-neighbors",
        paper="lnt",
        title="Section 6.1: the noise model with k = 3 and k = 8",
        about='The paper takes k = 3 in the noise model, because with larger k "minority classes tend to be integrated '
        'in majority classes". Here the noise model is estimated on all features, with 20 % of the labels flipped. The '
        "table shows the mean membership of the rows of the smallest true class in this class, and the number of "
        "iterations of the best restart.",
        cells=tuple(
            Cell({"dataset": name}, 30, 2, 0.1, name, name.replace("_", " "))
            for name in ("ecoli", "glass", "vertebral_column", "wine")
        ),
        protocol=run,
        displays=(
            Table(
                "The smallest class",
                (share(3), share(8), LOSS, "iterations, k = 3", "iterations, k = 8"),
                row_header="dataset",
            ),
        ),
    ),
)
