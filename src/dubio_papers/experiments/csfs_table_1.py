"""CSFS paper, Table 1 (sizes of the maps), and the numbers of coherent constraints in its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dubio.constraints.selection import select_pairs
from dubio.constraints.som import map_shape
from dubio.supervision.pair_forms import pairs_from_labels
from dubio.tables.scaling import standardize
from dubio_papers.datasets import load
from dubio_papers.experiment import Cell, Experiment, Table
from dubio_papers.pair_protocol import quarter_of_each_class

#: Printed sides of the map (long, short), printed number of coherent constraints, seconds per repetition.
DATASETS = {
    "iris": (11, 5, 8, 0.05),
    "ionosphere": (12, 7, 13, 0.5),
    "sonar": (9, 7, 11, 0.3),
    "soybean_small": (8, 4, 7, 0.02),
    "leukemia": (7, 5, 8, 0.1),
    "colon": (6, 6, 7, 0.05),
    "pie10p": (8, 5, 9, 0.3),
    "pix10p": (9, 7, 6, 0.3),
}
SIDES = ("long side", "short side")
COUNTS = ("pairs", "coherent pairs (hard)", "coherent pairs (soft)")


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """Label a quarter of each class, find the map size for the rest, and count the pairs that each selection keeps."""
    data = load(parameters["dataset"], paper="csfs")
    X = standardize(data.X)
    labelled = quarter_of_each_class(data.y, random)
    rest = X[~labelled] - X[~labelled].mean(axis=0)
    values = np.linalg.eigvalsh(rest @ rest.T if rest.shape[1] > rest.shape[0] else rest.T @ rest) / (len(rest) - 1)
    sides = map_shape(len(rest), float(values[-1]), float(values[-2]))
    pairs = pairs_from_labels(data.y[labelled])
    kept = {how: select_pairs(X[labelled], pairs.must_link, pairs.cannot_link, how=how) for how in ("hard", "soft")}
    return {
        "long side": max(sides),
        "short side": min(sides),
        "pairs": len(pairs),
        "coherent pairs (hard)": len(kept["hard"]),
        "coherent pairs (soft)": len(kept["soft"]),
    }


_CELLS = tuple(
    Cell({"dataset": name}, full=100, quick=5, seconds=row[3], dataset=name, label=name.replace("_", " "))
    for name, row in DATASETS.items()
)
EXPERIMENTS = (
    Experiment(
        name="csfs-table-1",
        paper="csfs",
        title="Table 1: sizes of the maps, and how many constraints are coherent",
        about="A quarter of each class is labelled. The map has about 5 sqrt(n) units for the n unlabelled rows, which "
        "are standardised. Its sides have the ratio of the two largest standard deviations. The paper counts the "
        "coherent constraints of one random draw, so the band is the band of single draws. With all pairs of the "
        "labelled rows, the hard rule keeps almost none. The reason: two rows of one class and a third row of another "
        "class form a triangle, and at most one angle of a triangle is not acute.",
        cells=_CELLS,
        protocol=run,
        displays=(
            Table(
                "Sides of the map",
                SIDES,
                {f"dataset={name}": {SIDES[0]: row[0], SIDES[1]: row[1]} for name, row in DATASETS.items()},
                printed_digits=0,
                row_header="dataset",
            ),
            Table(
                "Constraints",
                COUNTS,
                {f"dataset={name}": {COUNTS[1]: row[2]} for name, row in DATASETS.items()},
                printed_digits=0,
                row_header="dataset",
            ),
        ),
    ),
)
