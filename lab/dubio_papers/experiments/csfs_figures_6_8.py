"""CSFS paper, Figures 6 to 8: accuracy of 1-NN by number of features and by number of constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np

from dubio.scores.constraint import c4_score, constraint_score
from dubio_papers.claims import better, not_worse
from dubio_papers.experiment import Cell, Curves, Display, Experiment, Finding, Table
from dubio_papers.judges import best_first
from dubio_papers.pair_protocol import (
    RANKERS,
    SOURCES,
    SPLITS,
    STATED,
    cfld_axes,
    csfs_on_pairs,
    draw_pairs,
    principal_axes,
    set_scene,
    ssdr_axes,
)
from dubio_papers.summary import Measure

SMALL = {"iris": 0.1, "ionosphere": 0.4, "sonar": 0.4, "soybean_small": 0.1}
WIDE = {"leukemia": 1.5, "colon": 0.5}
FEATURES = ("CSFS", "CSFS as published", "constraint", "Laplacian", "Fisher")
VARIANT = "CSFS variant"
SMALL_FEATURES = (*FEATURES, VARIANT)
WIDE_FEATURES = (*FEATURES, "C4")
#: The methods whose claims are counted, and what they are compared with; True if the paper says "better".
CANDIDATES = ("CSFS", "CSFS as published", VARIANT)
OTHERS = {"constraint": True, "Laplacian": True, "Fisher": False}
#: How much better than the Laplacian's the best of all orders of the features is.
ROOM = "best order over Laplacian"
PAIRS = ("CSFS", "constraint", "PCA", "cFLD", "SSDR-CMU")
WIDE_PAIRS = ("CSFS", "constraint", "C4", "Fisher")
NUMBERS_OF_PAIRS = (2, 4, 8, 16, 32, 64)
WIDE_SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 4000, 7129)


def run_by_features(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """All rankings on one random draw of labelled rows."""
    scene = set_scene(parameters["dataset"], parameters["labels"], random, parameters.get("split", STATED))
    d = scene.X.shape[1]
    wide = d > 100
    sizes = [size for size in WIDE_SIZES if size <= d] if wide else list(range(1, d + 1))
    names = WIDE_FEATURES if wide else SMALL_FEATURES
    curves = {name: scene.accuracy(RANKERS[name](scene), sizes) for name in names}
    means = {name: float(curve[:-1].mean()) for name, curve in curves.items()}
    measures = {f"mean {name}": mean for name, mean in means.items()}
    for candidate in (name for name in CANDIDATES if name in means):
        for other, mean in means.items():
            if other not in CANDIDATES or (candidate == "CSFS" and other != "CSFS"):
                measures[_gain(candidate, other)] = means[candidate] - mean
    if d <= 4:  # so few that all orders can be tried
        every = (scene.accuracy(np.array(order), sizes)[:-1].mean() for order in permutations(range(d)))
        measures[ROOM] = max(every) - means["Laplacian"]
    return {"x": sizes, **curves, **measures}


def _gain(candidate: str, other: str) -> str:
    """The name of the measure."""
    return f"over {other}" if candidate == "CSFS" else f"{candidate} over {other}"


def run_by_pairs(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """Half of the features, or as many axes, chosen from 2 to 64 pairs; each set of pairs contains the smaller ones."""
    scene = set_scene(parameters["dataset"], parameters["labels"], random)
    d = scene.X.shape[1]
    half = max(1, d // 2)
    everything = draw_pairs(scene, NUMBERS_OF_PAIRS[-1], random)
    wide = d > 100
    curves: dict[str, list[float]] = {name: [] for name in (WIDE_PAIRS if wide else PAIRS)}
    baseline = 0.0 if wide else scene.projected_accuracy(principal_axes(scene.X, half))
    all_labels = float(scene.accuracy(RANKERS["Fisher"](scene), [half])[0]) if wide else 0.0
    for number in NUMBERS_OF_PAIRS:
        pairs = type(everything)(everything.must_link[: number // 2], everything.cannot_link[: number // 2])
        scores = constraint_score(scene.X, pairs.must_link, pairs.cannot_link)
        curves["CSFS"].append(float(scene.accuracy(csfs_on_pairs(scene, pairs), [half])[0]))
        curves["constraint"].append(float(scene.accuracy(best_first(scores, low_is_good=True), [half])[0]))
        if wide:
            both = c4_score(scene.X, pairs.must_link, pairs.cannot_link, t="mean")
            curves["C4"].append(float(scene.accuracy(best_first(both, low_is_good=True), [half])[0]))
            curves["Fisher"].append(all_labels)
        else:
            curves["PCA"].append(baseline)
            curves["cFLD"].append(scene.projected_accuracy(cfld_axes(scene.X, pairs, half)))
            curves["SSDR-CMU"].append(scene.projected_accuracy(ssdr_axes(scene.X, pairs, half)))
    means = {name: float(np.mean(curve)) for name, curve in curves.items()}
    gains = {f"over {name}": means["CSFS"] - mean for name, mean in means.items() if name != "CSFS"}
    return {"x": list(NUMBERS_OF_PAIRS), **curves, **gains}


def _cells(datasets: Mapping[str, float], factor: float, splits: Sequence[str] = ()) -> tuple[Cell, ...]:
    """A cell for each dataset, each source of labels and, if given, each way to split."""
    return tuple(
        Cell(
            {"dataset": name, "labels": source, **({"split": split} if split else {})},
            50,
            1,
            factor * seconds,
            name,
            f"{name.replace('_', ' ')}, labels from {source}" + (f", {split}" if split else ""),
        )
        for split in splits or ("",)
        for name, seconds in datasets.items()
        for source in SOURCES
    )


def _findings(others: Mapping[str, bool]) -> Callable[[Any], list[Finding]]:
    return lambda summary: _judged(summary, others, "CSFS")


def _judged(summary: Any, others: Mapping[str, bool], candidate: str) -> list[Finding]:
    """The claims that ``candidate`` is better than each of the others, or at least as good."""
    found = []
    for cell in summary.cells:
        group = cell.key.split("split=")[1] if "split=" in cell.key else ""
        for other, strictly in others.items():
            if _gain(candidate, other) not in cell.measures and cell.measures:
                continue
            words = "more accurate than" if strictly else "at least as accurate as"
            finding = (better if strictly else not_worse)(
                summary,
                cell.key,
                _gain(candidate, other),
                f"{cell.title}: {candidate} is {words} {other}.",
                group=group,
            )
            room = cell.measures.get(ROOM)
            if finding.holds is False and other == "Laplacian" and room is not None and room.mean <= 1e-9:
                orders = factorial(len(cell.measures["x"].mean))
                reason = f"Of all {orders} orders of the features none is more accurate than the Laplacian's."
                finding = replace(finding, numbers=f"{finding.numbers} {reason}", cannot_hold=True)
            found.append(finding)
    return found


def _count_claims(summaries: Mapping[str, Any]) -> dict[str, Any]:
    """How many claims hold for each candidate, by the way to split."""
    summary = summaries["csfs-figure-6"]
    repetitions = min(cell.repetitions for cell in summary.cells)
    counted: dict[str, Any] = {}
    for candidate in CANDIDATES:
        findings = [f for f in _judged(summary, OTHERS, candidate) if f.holds is not None]
        if findings:
            counts: dict[str, Measure] = {}
            for split in SPLITS:
                own = [finding for finding in findings if finding.group == split]
                counts[split] = Measure(sum(bool(finding.holds) for finding in own), None)
                counts[f"of, {split}"] = Measure(len(own), None)
            counted[f"method={candidate}"] = (counts, repetitions)
    return counted


def _remarks(summary: Any) -> list[str]:
    """The counts as sentences."""
    return [
        f"{cell.title}: "
        + " and ".join(
            f"{cell.measures[split].mean:.0f} of {cell.measures[f'of, {split}'].mean:.0f} claims hold ({split})"
            for split in SPLITS
        )
        + "."
        for cell in summary.cells
        if cell.measures
    ]


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
        about=_ABOUT + "Half of the cells use random halves of each class instead of the first halves. "
        "In the paper, CSFS is clearly better than the constraint and Laplacian scores, and not worse than Fisher. "
        "'CSFS variant' is not in the paper: the score uses all rows instead of prototypes, Ward's tree is cut at the "
        "number of classes (which it must know), and the kernel is in units of the mean distance. It was chosen among "
        "many readings because it keeps most of the claims.",
        cells=_cells(SMALL, 1, SPLITS),
        protocol=run_by_features,
        displays=_displays("features", SMALL_FEATURES),
        findings=_findings(OTHERS),
    ),
    Experiment(
        name="csfs-figure-6-claims",
        paper="csfs",
        title="Figure 6: how many of the claims hold",
        about="The same claims (more accurate than the constraint and Laplacian scores, at least as accurate as "
        "Fisher) are judged for CSFS, for CSFS as published and for the variant of Figure 6, on four tables with "
        "labels from training rows and from all rows.",
        cells=tuple(Cell({"method": method}, 50, 1, 0.0, None, method) for method in CANDIDATES),
        displays=(
            Table(
                "Claims that hold",
                tuple(name for split in SPLITS for name in (split, f"of, {split}")),
                digits=0,
                row_header="method",
            ),
        ),
        sources=("csfs-figure-6",),
        derive=_count_claims,
        remarks=_remarks,
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
        findings=_findings(dict.fromkeys(("constraint", "Laplacian", "Fisher", "C4"), False)),
    ),
    Experiment(
        name="csfs-figure-8bd",
        paper="csfs",
        title="Figure 8 (b, d): accuracy by number of constraints, gene expressions",
        about=_ABOUT + "Half of the features are used.",
        cells=_cells(WIDE, 2),
        protocol=run_by_pairs,
        displays=_displays("pairs", WIDE_PAIRS),
        findings=_findings(dict.fromkeys(WIDE_PAIRS[1:], True)),
    ),
)
