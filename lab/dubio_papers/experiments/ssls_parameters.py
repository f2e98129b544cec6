"""SSLS paper, sections 6.2 and 6.3: many known targets, and the number of neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from dubio.scores.laplacian import semi_supervised_laplacian_score, supervised_laplacian_score
from dubio.table.matrix import standardize
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Curves, Experiment, Table
from dubio_papers.experiments.ssls_figures import TITLES, Ranker, five_folds
from dubio_papers.judges import best_first

SHARES = (0.03, 0.1, 0.3, 0.6, 0.9, 1.0)
AGREEMENT = "agreement of SSLS and SLS"
RISE = "agreement with 90 % known, minus with 3 %"
NEIGHBORS = (30, 50, 100)


def run_many_known(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """Kendall's tau of the two scores over the features, for nested sets of known targets."""
    data = load(parameters["dataset"], paper="ssls")
    X, order = standardize(data.X), random.permutation(len(data.y))
    taus = []
    for share in SHARES:
        known = np.zeros(len(order), dtype=bool)
        known[order[: max(5, round(share * len(order)))]] = True
        y = (data.y - data.y[known].mean()) / data.y[known].std()
        semi = semi_supervised_laplacian_score(X, np.where(known, y, np.nan), C=5.0)
        taus.append(float(kendalltau(semi, supervised_laplacian_score(X[known], y[known])).statistic))
    return {"x": [100 * share for share in SHARES], AGREEMENT: taus, RISE: taus[-2] - taus[0]}


def _with(n_neighbors: int) -> Ranker:
    def rank(X: NDArray[np.float64], y: NDArray[np.float64], known: NDArray[np.bool_], seed: int) -> NDArray[np.int64]:
        scores = semi_supervised_laplacian_score(X, np.where(known, y, np.nan), n_neighbors=n_neighbors, C=5.0)
        return best_first(scores, low_is_good=True)

    return rank


def run_neighbors(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """Mean RMSE over the sizes with 3 % known targets, for each number of neighbours."""
    found = five_folds(parameters["dataset"], random, {f"k = {k}": (_with(k), 0.03) for k in NEIGHBORS})
    scale = load(parameters["dataset"], paper="ssls").y.std() / 100
    means = {f"mean k = {k}": found[f"mean k = {k}"] for k in NEIGHBORS}
    gains = {f"gain of k = {k}": (means["mean k = 30"] - means[f"mean k = {k}"]) / scale for k in NEIGHBORS[1:]}
    return {**means, **gains}


def _cells(full: int, seconds: Mapping[str, float]) -> tuple[Cell, ...]:
    return tuple(
        Cell({"dataset": name}, full, 0 if name == "delve_census" else 1, time, name, TITLES[name])
        for name, time in seconds.items()
    )


EXPERIMENTS = (
    Experiment(
        name="ssls-many-known",
        paper="ssls",
        title="Section 6.2: SSLS and SLS when more targets are known",
        about="The paper expects that both scores behave alike when many targets are known. The agreement is Kendall's "
        "tau between the scores of all features (C = 5, k = 30 and 5); 1 is the same order.",
        cells=_cells(10, {"delve_census": 4.0, "pollen": 0.2, "diabetes": 0.2}),
        protocol=run_many_known,
        displays=(
            Curves("Agreement by share of known targets", (AGREEMENT,), "known targets (%)", "Kendall's tau"),
            Table("Rise of the agreement", (RISE,), digits=2, row_header="dataset"),
        ),
    ),
    Experiment(
        name="ssls-neighbors",
        paper="ssls",
        title="Section 6.3: SSLS with 30, 50 and 100 neighbours",
        about="Mean RMSE of 5-NN over the sizes, as in Figures 3 to 6 with 3 % known targets and C = 5. Gains are over "
        "k = 30, in % of the standard deviation of y. The paper tried 50 neighbours, and 100 on Delve census.",
        cells=_cells(10, {"delve_census": 5.0, "pollen": 0.3, "diabetes": 0.3}),
        protocol=run_neighbors,
        displays=(
            Table(
                "Mean RMSE, and gain over k = 30",
                (*(f"mean k = {k}" for k in NEIGHBORS), *(f"gain of k = {k}" for k in NEIGHBORS[1:])),
                digits=2,
                row_header="dataset",
            ),
        ),
    ),
)
