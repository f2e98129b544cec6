"""Not in the LNT paper: what its noise model does when most columns are irrelevant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dubio.errors import counted
from dubio.searches.mutual_information import MutualInformationSearch
from dubio.searches.neighbor_search import NeighborSearch
from dubio.simulate import flip_labels
from dubio.table.matrix import standardize
from dubio_papers.claims import better
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Curves, Experiment, Finding, Table
from dubio_papers.judges import tuned_balanced_error

FLIPS = 0.2
RANDOM = "random order"
METHODS = ("LNT-BW", "BW-N", "NeighborSearch")
MEANS = tuple(f"mean {name}" for name in (*METHODS, RANDOM))
OVER_PLAIN = "LNT-BW over BW-N"
GAINS = (OVER_PLAIN, *(f"{name} over {RANDOM}" for name in METHODS))
#: Seconds per repetition, by the number of shuffled copies of each column.
DATASETS = {"wine": (0.5, 0.8, 2.3, 4.6), "vertebral_column": (0.4, 0.7, 1.5, 3.0), "glass": (0.5, 0.8, 1.4, 2.7)}
COPIES = (0, 1, 3, 7)


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """The protocol of Figures 4 to 6, with shuffled copies of all columns."""
    data = load(parameters["dataset"], paper="lnt")
    real, y = standardize(data.X), np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    X = np.hstack([real, *(random.permuted(real, axis=0) for _ in range(parameters["copies"]))])
    train, test = np.split(random.permutation(len(X)), [round(0.7 * len(X))])
    noisy = flip_labels(y[train], FLIPS, random_state=int(random.integers(2**31)))
    folds = random.permutation(np.arange(len(train)) % 10)
    seed = int(random.integers(2**31))
    size = real.shape[1]
    fitted = {
        name: MutualInformationSearch(
            n_features_to_select=1, label_noise=label_noise, standardize=False, random_state=seed
        ).fit(X[train], noisy)
        for name, label_noise in (("LNT-BW", True), ("BW-N", False))
    }
    fitted["NeighborSearch"] = NeighborSearch(n_features_to_select=1, standardize=False, random_state=seed).fit(
        X[train], noisy
    )
    orders = {name: np.argsort(search.ranking_, kind="stable")[:size] for name, search in fitted.items()}
    orders[RANDOM] = random.permutation(X.shape[1])[:size]
    curves = {
        name: tuned_balanced_error(X[train], y[train], X[test], y[test], order, folds) for name, order in orders.items()
    }
    means = {name: float(curve.mean()) for name, curve in curves.items()}
    return {
        **curves,
        **{f"mean {name}": mean for name, mean in means.items()},
        OVER_PLAIN: means["BW-N"] - means["LNT-BW"],
        **{f"{name} over {RANDOM}": means[RANDOM] - means[name] for name in METHODS},
        **{f"own columns, {name} (%)": 100 * float(np.mean(order < size)) for name, order in orders.items()},
    }


def findings(summary: Any) -> list[Finding]:
    """Not claims of the paper: the noise model should help, and a search should beat a random order."""
    found = []
    for cell in summary.cells:
        claim = f"{cell.title}: LNT-BW has a lower error than BW-N."
        found.append(better(summary, cell.key, OVER_PLAIN, claim, group=OVER_PLAIN))
    for name in METHODS:
        for cell in summary.cells:
            if "copies=0" not in cell.key:
                measure = f"{name} over {RANDOM}"
                claim = f"{cell.title}: {name} has a lower error than a random order."
                found.append(better(summary, cell.key, measure, claim, group=measure))
    return [replace(finding, of_paper=False) for finding in found]


_CELLS = tuple(
    Cell(
        {"dataset": name, "copies": copies},
        30,
        1 if name == "vertebral_column" and copies < 3 else 0,
        seconds,
        name,
        f"{name.replace('_', ' ')}, {counted(copies, 'shuffled copy', 'shuffled copies') if copies else 'as it is'}",
    )
    for name, row in DATASETS.items()
    for copies, seconds in zip(COPIES, row, strict=True)
)
EXPERIMENTS = (
    Experiment(
        name="lnt-irrelevant-columns",
        paper="lnt",
        title="Not in the paper: the noise model among irrelevant columns",
        about="The protocol of Figures 4 to 6 with 20 % of the labels flipped. Copies of all columns are added, each "
        "shuffled on its own, so they tell nothing about the class. The noise model takes its memberships from "
        "distances over all columns, and a backward search starts with all of them. LNT-BW is compared with plain "
        "mutual information (BW-N), with the engine of dubio's 'auto' (NeighborSearch), and with a random order of all "
        "columns. An order is judged on its first 1, 2, ... columns, as many as the table had.",
        cells=_CELLS,
        protocol=run,
        displays=(
            Table("Balanced error (%), mean over the sizes", MEANS, digits=2, row_header="dataset"),
            Table(
                "Gain over plain mutual information and over a random order (points)",
                GAINS,
                digits=2,
                row_header="dataset",
            ),
            Table(
                "Share of the table's own columns among those judged (%)",
                tuple(f"own columns, {name} (%)" for name in (*METHODS, RANDOM)),
                digits=1,
                row_header="dataset",
            ),
            Curves("Balanced error by size", (*METHODS, RANDOM), "number of features", "balanced error (%)"),
        ),
        findings=findings,
    ),
)
