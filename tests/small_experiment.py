"""A small experiment for the tests of the laboratory, importable by its worker processes."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dubio_papers.experiment import Curves, Experiment, Finding, Point, Table, grid
from dubio_papers.runner import run_experiments
from dubio_papers.summary import summarize, to_json


def protocol(parameters, random):
    """Sums whose last bits show any difference in threads or order, after a short and varying time."""
    values = random.normal(parameters["mean"], 1.0, size=(60, 60))
    time.sleep(parameters["pause"] * random.uniform(0.5, 1.5))
    product = values @ values.T
    return {"mean": values.mean(), "trace": np.trace(product), "curve": np.linalg.eigvalsh(product)[:5]}


def findings(summary):
    first, second = (summary.mean(cell.key, "mean") for cell in CELLS[:2])
    if first is None or second is None:
        return [Finding("The mean grows.", None, "")]
    points = (Point("first", first), Point("second", second))
    return [Finding("The mean grows.", bool(first < second), "", points, against=None, scale="mean")]


CELLS = grid(full=40, quick=4, seconds=0.02, label="mean {mean}", mean=(0.0, 1.0, 2.0), pause=(0.02,))
SMALL = Experiment(
    name="small",
    paper="wls",
    title="A small experiment",
    about="For tests & nothing else: <b>.",
    cells=CELLS,
    protocol=protocol,
    displays=(
        Table(
            "Means",
            ("mean", "trace"),
            {CELLS[0].key: {"mean": 0.0}, CELLS[1].key: {"mean": 1.0}, CELLS[2].key: {"mean": 7.0}},
            digits=3,
            printed_repetitions=10,
        ),
        Curves("Eigenvalues", ("curve",), "number", "value"),
    ),
    findings=findings,
)


def tables(folder: Path) -> Any:
    """Everything a page shows of the small experiment, without the day."""
    (summary,) = summarize([SMALL], folder)
    return to_json([replace(summary, days=())])


if __name__ == "__main__":
    run_experiments([SMALL], Path(sys.argv[1]), full=True, n_jobs=int(sys.argv[2]))
