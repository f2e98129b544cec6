"""ssFRFS paper, Table 1 again: how much its sizes depend on which labels are removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from dubio.errors import counted
from dubio.searches.fuzzy_rough import FuzzyRoughSearch
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Experiment, Finding, Point, Table, printed_table
from dubio_papers.experiments.ssfrfs_tables import DATASETS, LEVELS, SIZES, TABLE_1

CROSS_VALIDATIONS = 5


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """Remove labels from the whole table once, then average over five stratified ten-fold cross-validations."""
    data = load(parameters["dataset"], paper="ssfrfs")
    hidden = random.permutation(len(data.y))
    parts = [
        train
        for _ in range(CROSS_VALIDATIONS)
        for train, _ in StratifiedKFold(10, shuffle=True, random_state=int(random.integers(2**31))).split(
            data.X, data.y
        )
    ]
    sizes = {}
    for level, size in zip(LEVELS, SIZES, strict=True):
        labels = data.y.astype(object)
        labels[hidden[: round(level / 100 * len(hidden))]] = None
        found = [
            len(FuzzyRoughSearch(target="classes").fit(data.X[part], labels[part]).dependencies_) for part in parts
        ]
        sizes[size] = float(np.mean(found))
    return sizes


def findings(summary: Any) -> list[Finding]:
    """How many mean sizes are near the printed ones, and where random draws of the labels differ by more than that."""
    gaps, spread, points = [], [], []
    for (name, row), cell in zip(zip(DATASETS, TABLE_1, strict=True), summary.cells, strict=True):
        for size, printed in zip(SIZES, row, strict=True):
            if cell.measures and cell.repetitions > 2 and (name, size) != ("wine", "0 %"):
                deviation = cell.measures[size].error * np.sqrt(cell.repetitions)
                gap = abs(cell.measures[size].mean - printed)
                gaps.append(gap <= 0.3)
                points.append(Point(f"{name}, {size} missing", gap))
                if deviation > 0.3:
                    spread.append(f"{name} {size}")
    return [
        Finding(
            "Mean sizes lie within 0.3 features of the printed ones (except wine at 0 %).",
            all(gaps) if gaps else None,
            f"{sum(gaps)} of {len(gaps)} do. The standard deviation between draws of the labels is above 0.3 in "
            f"{counted(len(spread), 'cell')}: {', '.join(spread)}."
            if gaps
            else "",
            tuple(points),
            against=0.3,
            scale="difference from the printed size (features)",
        )
    ]


_CELLS = tuple(
    Cell(
        {"dataset": name},
        full=4 if name == "segment" else 12,
        quick=1 if seconds <= 0.1 else 0,
        seconds=25 * seconds,
        dataset=name,
        label=name,
    )
    for name, seconds in DATASETS.items()
)

EXPERIMENTS = (
    Experiment(
        name="ssfrfs-label-draws",
        paper="ssfrfs",
        title="Table 1, labels removed once from each table",
        about='The paper says that labels "are randomly removed from" a share of each dataset, but not how often. Here '
        "each repetition removes them once from the whole table and averages the sizes over five ten-fold "
        "cross-validations. If the paper did the same, a printed number is one such repetition, and its band is the "
        "spread of the repetitions.",
        cells=_CELLS,
        protocol=run,
        displays=(
            Table(
                "Average size of the subset, by share of missing labels",
                SIZES,
                printed_table([cell.key for cell in _CELLS], SIZES, TABLE_1),
                digits=2,
                printed_repetitions=1,
                row_header="dataset",
                beside=SIZES,
            ),
        ),
        findings=findings,
    ),
)
