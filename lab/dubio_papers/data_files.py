"""The numbers of the pages as files that a spreadsheet opens: one CSV per experiment."""

from __future__ import annotations

import csv
import io
from typing import Any

from dubio_papers.summary import ExperimentSummary

COLUMNS = (
    "cell",
    "measure",
    "x",
    "mean",
    "standard_error",
    "repetitions",
    "printed",
    "band_low",
    "band_high",
    "inside",
)


def as_csv(summary: ExperimentSummary) -> str:
    """A line per number; a curve has a line per point, with its place on the horizontal axis in ``x``."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    entries = {
        (key, measure): entry
        for shown in summary.displays
        for key, row in shown.rows.items()
        for measure, entry in row.items()
    }
    for cell in summary.cells:
        places = cell.measures["x"].mean if "x" in cell.measures else None
        for name, measure in cell.measures.items():
            if name == "x":
                continue
            entry = entries.get((cell.key, name))
            judged = [entry.printed, entry.low, entry.high, entry.inside] if entry else [None] * 4
            if isinstance(measure.mean, list):
                errors = measure.error or [None] * len(measure.mean)
                for number, (mean, error) in enumerate(zip(measure.mean, errors, strict=True)):
                    x = number + 1 if places is None else places[number]
                    writer.writerow(_filled([cell.title, name, x, mean, error, cell.repetitions, *judged]))
            else:
                writer.writerow(
                    _filled([cell.title, name, None, measure.mean, measure.error, cell.repetitions, *judged])
                )
    return lines.getvalue()


def _filled(values: list[Any]) -> list[Any]:
    """Whole numbers without decimals; nothing for None. A title is never taken for a formula: none begins with one."""
    return ["" if v is None else int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
