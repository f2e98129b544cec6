"""CSFS paper, Figures 6 to 8: accuracy of 1-NN by number of features and by number of constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dubio.methods import constraint_score
from dubio_papers.claims import better, not_worse
from dubio_papers.experiment import Cell, Curves, Display, Experiment, Finding, Table
from dubio_papers.judges import best_first
from dubio_papers.pair_protocol import (
    RANKERS,
    SOURCES,
    cfld_axes,
    csfs_on_pairs,
    draw_pairs,
    principal_axes,
    set_scene,
    ssdr_axes,
)

SMALL = {"iris": 0.1, "ionosphere": 0.4, "sonar": 0.4, "soybean_small": 0.1}
WIDE = {"leukemia": 1.5, "colon": 0.5}
FEATURES = ("CSFS", "CSFS as published", "constraint", "Laplacian", "Fisher")
WIDE_FEATURES = (*FEATURES, "C4")
PAIRS = ("CSFS", "constraint", "PCA", "cFLD", "SSDR-CMU")
NUMBERS_OF_PAIRS = (2, 4, 8, 16, 32, 64)
WIDE_SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 4000, 7129)


def run_by_features(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """All rankings on one random draw of labelled rows."""
    scene = set_scene(parameters["dataset"], parameters["labels"], random)
    d = scene.X.shape[1]
    wide = d > 100
    sizes = [size for size in WIDE_SIZES if size <= d] if wide else list(range(1, d + 1))
    curves = {name: scene.accuracy(RANKERS[name](scene), sizes) for name in (WIDE_FEATURES if wide else FEATURES)}
    means = {f"mean {name}": float(curve[:-1].mean()) for name, curve in curves.items()}
    gains = {f"over {name}": means["mean CSFS"] - mean for name, mean in _by_name(means).items() if name != "CSFS"}
    return {"x": sizes, **curves, **means, **gains}


def _by_name(means: Mapping[str, float]) -> dict[str, float]:
    return {key.removeprefix("mean "): value for key, value in means.items()}


def run_by_pairs(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """Half of the features, or as many axes, chosen from 2 to 64 pairs; each set of pairs contains the smaller ones."""
    scene = set_scene(parameters["dataset"], parameters["labels"], random)
    d = scene.X.shape[1]
    half = max(1, d // 2)
    everything = draw_pairs(scene, NUMBERS_OF_PAIRS[-1], random)
    wide = d > 100
    curves: dict[str, list[float]] = {name: [] for name in (("CSFS", "constraint") if wide else PAIRS)}
    baseline = 0.0 if wide else scene.projected_accuracy(principal_axes(scene.X, half))
    for number in NUMBERS_OF_PAIRS:
        pairs = type(everything)(everything.must_link[: number // 2], everything.cannot_link[: number // 2])
        scores = constraint_score(scene.X, pairs.must_link, pairs.cannot_link)
        curves["CSFS"].append(float(scene.accuracy(csfs_on_pairs(scene, pairs), [half])[0]))
        curves["constraint"].append(float(scene.accuracy(best_first(scores, low_is_good=True), [half])[0]))
        if not wide:
            curves["PCA"].append(baseline)
            curves["cFLD"].append(scene.projected_accuracy(cfld_axes(scene.X, pairs, half)))
            curves["SSDR-CMU"].append(scene.projected_accuracy(ssdr_axes(scene.X, pairs, half)))
    means = {name: float(np.mean(curve)) for name, curve in curves.items()}
    gains = {f"over {name}": means["CSFS"] - mean for name, mean in means.items() if name != "CSFS"}
    return {"x": list(NUMBERS_OF_PAIRS), **curves, **gains}


def _cells(datasets: Mapping[str, float], factor: float) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            {"dataset": name, "labels": source},
            50,
            2,
            factor * seconds,
            name,
            f"{name.replace('_', ' ')}, labels from {source}",
        )
        for name, seconds in datasets.items()
        for source in SOURCES
    )


def _findings(others: Mapping[str, bool]) -> Any:
    def findings(summary: Any) -> list[Finding]:
        found = []
        for cell in summary.cells:
            for other, strictly in others.items():
                if f"over {other}" in cell.measures or not cell.measures:
                    rule, words = (better, "more") if strictly else (not_worse, "at least as")
                    claim = f"{cell.title}: CSFS is {words} accurate than {other}."
                    found.append(
                        rule(summary, cell.key, f"over {other}", claim.replace("as accurate than", "as accurate as"))
                    )
        return found

    return findings


def _displays(what: str, methods: tuple[str, ...]) -> tuple[Display, ...]:
    """Curves of all methods by the number of ``what``, and the mean gain of CSFS (the first) over the others."""
    over = "the sizes" if what == "features" else f"the numbers of {what}"
    return (
        Curves(f"Accuracy by number of {what}", methods, f"number of {what}", "accuracy (%)"),
        Table(
            f"Mean gain of CSFS, averaged over {over} (points)",
            tuple(f"over {name}" for name in methods[1:]),
            digits=2,
            row_header="dataset",
        ),
    )


_ABOUT = (
    "1-NN is trained on the first half of each class and tested on the rest; a quarter of each class is labelled. "
    "There are two variants: labels come only from training rows, or as in the paper from all rows. In the second "
    "variant the selection sees labels of rows that are tested later. Rows are standardised. CSFS uses all pairs and a "
    "kernel in units of the mean distance. 'As published' means the hard selection and lambda = 0.1 on plain distances "
    "(if no pair is coherent, all are used). Fisher sees all training labels. "
)
EXPERIMENTS = (
    Experiment(
        name="csfs-figure-6",
        paper="csfs",
        title="Figure 6: accuracy by number of features, UCI tables",
        about=_ABOUT
        + "In the paper, CSFS is clearly better than the constraint and Laplacian scores, and not worse than Fisher.",
        cells=_cells(SMALL, 1),
        protocol=run_by_features,
        displays=_displays("features", FEATURES),
        findings=_findings({"constraint": True, "Laplacian": True, "Fisher": False}),
    ),
    Experiment(
        name="csfs-figure-7",
        paper="csfs",
        title="Figure 7: accuracy by number of constraints, UCI tables",
        about=_ABOUT
        + "The methods choose half of the features, or as many axes, from 2 to 64 pairs, half of each kind. SSDR-CMU "
        "(alpha = 1, beta = 20) and cFLD are our own short implementations.",
        cells=_cells(SMALL, 2),
        protocol=run_by_pairs,
        displays=_displays("pairs", PAIRS),
        findings=_findings({"PCA": True, "cFLD": True}),
    ),
    Experiment(
        name="csfs-figure-8ac",
        paper="csfs",
        title="Figure 8 (a, c): accuracy by number of features, gene expressions",
        about=_ABOUT,
        cells=_cells(WIDE, 1),
        protocol=run_by_features,
        displays=_displays("features", WIDE_FEATURES),
        findings=_findings({"constraint": False, "Laplacian": False, "Fisher": False, "C4": False}),
    ),
    Experiment(
        name="csfs-figure-8bd",
        paper="csfs",
        title="Figure 8 (b, d): accuracy by number of constraints, gene expressions",
        about=_ABOUT + "Half of the features are used.",
        cells=_cells(WIDE, 2),
        protocol=run_by_pairs,
        displays=_displays("pairs", ("CSFS", "constraint")),
        findings=_findings({"constraint": True}),
    ),
)
