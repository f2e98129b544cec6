"""LNT paper, Figures 4 to 6 (and 1): how wrong labels harm a backward search, and how much the noise model helps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dubio.errors import counted
from dubio.searches.mutual_information import MutualInformationSearch
from dubio.simulate import flip_labels
from dubio.table.matrix import standardize
from dubio_papers.claims import better, enough, the_same
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Curves, Experiment, Finding, Point, Table
from dubio_papers.judges import tuned_balanced_error

METHODS = ("BW-C", "BW-N", "LNT-BW")
MEANS = tuple(f"mean {method}" for method in METHODS)

#: Repetitions in a full and in a quick run, seconds per repetition, the figure, and whether the paper sees a gain at
#: 10 % and at 20 %.
DATASETS: dict[str, tuple[int, int, float, int, tuple[bool, bool]]] = {
    "iris": (100, 3, 0.15, 4, (True, True)),
    "segment": (100, 0, 20.0, 4, (True, True)),
    "vehicle": (100, 0, 3.0, 4, (True, True)),
    "vertebral_column": (100, 2, 0.3, 4, (False, True)),
    "wall_robot": (100, 0, 200.0, 5, (False, True)),
    "waveform": (100, 0, 400.0, 5, (True, True)),
    "wine": (100, 3, 0.3, 5, (True, True)),
    "yeast": (100, 0, 3.0, 5, (True, True)),
    "ecoli": (100, 1, 0.3, 6, (False, False)),
    "glass": (100, 2, 0.3, 6, (False, False)),
    "page_blocks": (10, 0, 60.0, 6, (False, False)),
}


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """One split, one draw of flips, three searches, and k-NN on clean labels for every subset size."""
    data = load(parameters["dataset"], paper="lnt")
    X, y = standardize(data.X), np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    shuffled = random.permutation(len(X))
    train, test = np.split(shuffled, [round(0.7 * len(X))])
    noisy = flip_labels(y[train], parameters["flips"], random_state=int(random.integers(2**31)))
    folds = random.permutation(np.arange(len(train)) % 10)
    jitter = int(random.integers(2**31))  # the same jitter for all three: they differ only in labels and estimator
    curves = {}
    for method, labels, label_noise in zip(METHODS, (y[train], noisy, noisy), (False, False, True), strict=True):
        search = MutualInformationSearch(
            n_features_to_select=1, label_noise=label_noise, standardize=False, random_state=jitter, device="auto"
        ).fit(X[train], labels)
        order = np.argsort(search.ranking_)
        curves[method] = tuned_balanced_error(X[train], y[train], X[test], y[test], order, folds)
    means = {mean: float(curves[method][:-1].mean()) for mean, method in zip(MEANS, METHODS, strict=True)}
    return {**curves, **means, "gain": means["mean BW-N"] - means["mean LNT-BW"]}


def findings(summary: Any) -> list[Finding]:
    found = []
    for cell in summary.cells:
        dataset, flips = cell.dataset, 1 if "flips=0.2" in cell.key else 0
        if DATASETS[dataset][4][flips]:
            found.append(better(summary, cell.key, "gain", f"{cell.title}: LNT-BW has a lower error than BW-N."))
        else:
            found.append(the_same(summary, cell.key, "gain", f"{cell.title}: LNT-BW and BW-N do not differ."))
    return found


def _cells() -> tuple[Cell, ...]:
    return tuple(
        Cell(
            {"dataset": name, "flips": flips},
            full,
            quick,
            seconds,
            name,
            f"{name.replace('_', ' ')}, {flips:.0%} flipped",
        )
        for name, (full, quick, seconds, _, _) in DATASETS.items()
        for flips in (0.1, 0.2)
    )


def _figure_1(summaries: Mapping[str, Any]) -> dict[str, Any]:
    """Iris at 20 % is part of Figure 4, so it need not run twice."""
    cell = summaries["lnt-figures-4-6"].cell("dataset=iris,flips=0.2")
    if not cell.measures:
        return {}
    curves = {"noise-free": cell.measures["BW-C"], "20 % flipped": cell.measures["BW-N"]}
    return {"dataset=iris": (curves, cell.repetitions)}


def _figure_1_findings(summary: Any) -> list[Finding]:
    """The paper: the error is significantly higher for every number of features except all of them."""
    claim = "The error is higher with wrong labels at 1, 2 and 3 features, by more than two standard errors."
    if not enough(summary, "dataset=iris"):
        return [Finding(claim, None, "Too few repetitions.")]
    measures = summary.cell("dataset=iris").measures
    clean, noisy = measures["noise-free"], measures["20 % flipped"]
    points = tuple(
        Point(
            counted(i + 1, "feature"),
            noisy.mean[i] - clean.mean[i],
            (noisy.error[i] ** 2 + clean.error[i] ** 2) ** 0.5,
        )
        for i in range(3)
    )
    apart = [point.value > 2 * (point.error or 0) for point in points]
    gaps = ", ".join(f"{point.value:.1f}" for point in points)
    return [
        Finding(claim, all(apart), f"Differences {gaps} points.", points, scale="rise of the balanced error (points)")
    ]


EXPERIMENTS = (
    Experiment(
        name="lnt-figures-4-6",
        paper="lnt",
        title="Figures 4 to 6: balanced error of k-NN by size of the subset",
        about="Features are standardised. Rows are split at random into 70 % for training and 30 % for testing. 10 or "
        "20 % of the training labels are flipped. There are three backward searches: plain mutual information on clean "
        "labels (BW-C) and on noisy labels (BW-N), and the noise model on noisy labels (LNT-BW). k is 8, or 3 in the "
        "noise model; the jitter is 0.001. k-NN is tuned by ten-fold cross-validation over the paper's grid, and is "
        "trained and tested on clean labels. The gain is the paired difference between the errors of BW-N and LNT-BW, "
        "averaged over the sizes 1 to d - 1. The paper has 100 repetitions; here, page blocks has 10.",
        cells=_cells(),
        protocol=run,
        displays=(
            Table(
                "Balanced error (%), mean over the sizes 1 to d - 1, and gain of LNT-BW over BW-N (points)",
                (*MEANS, "gain"),
                digits=2,
                row_header="dataset",
            ),
            Curves("Balanced error by size of the subset", METHODS, "number of features", "balanced error (%)"),
        ),
        findings=findings,
    ),
    Experiment(
        name="lnt-figure-1",
        paper="lnt",
        title="Figure 1: how 20 % of wrong labels harm a plain backward search on iris",
        about="The iris cell of Figure 4 at 20 %: BW-C and BW-N.",
        cells=(Cell({"dataset": "iris"}, 100, 3, 0.0, "iris", "iris"),),
        findings=_figure_1_findings,
        displays=(
            Curves(
                "Balanced error by size of the subset",
                ("noise-free", "20 % flipped"),
                "number of features",
                "balanced error (%)",
            ),
        ),
        sources=("lnt-figures-4-6",),
        derive=_figure_1,
    ),
)
