"""Turn repetitions into means, errors and verdicts: everything that a page shows, as plain data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import counted
from dubio_papers.datasets.catalog import UNAVAILABLE
from dubio_papers.datasets.load import where
from dubio_papers.experiment import Cell, Curves, Display, Experiment, Finding, Point, Table
from dubio_papers.runner import seed
from dubio_papers.store import Record, ResultFile

#: With fewer repetitions than this we do not say whether a printed number is in its band.
_FEWEST = 10
#: We require twice as many repetitions as the paper, but at most this many.
_ENOUGH = 500


@dataclass(frozen=True)
class Measure:
    """Mean over the repetitions and its standard error (None for one repetition), as numbers or as curves."""

    mean: Any
    error: Any


@dataclass(frozen=True)
class CellSummary:
    """One cell: its number of repetitions, the number in a full run, and the results."""

    key: str
    title: str
    dataset: str | None
    repetitions: int
    planned: int
    skipped: str | None
    measures: Mapping[str, Measure]


@dataclass(frozen=True)
class Entry:
    """Our number and the printed number; ``inside`` is None if nothing is printed or it is undecided."""

    ours: float | None
    error: float | None
    printed: float | None = None
    low: float | None = None
    high: float | None = None
    inside: bool | None = None


@dataclass(frozen=True)
class Shown:
    """A display with its numbers; for a table, ``rows`` holds the entries of each cell."""

    kind: str
    title: str
    measures: tuple[str, ...]
    options: Mapping[str, Any]
    rows: Mapping[str, Mapping[str, Entry]] = field(default_factory=dict)


@dataclass(frozen=True)
class ExperimentSummary:
    """Everything that a page says about an experiment."""

    name: str
    paper: str
    title: str
    about: str
    versions: tuple[str, ...]
    days: tuple[str, ...]
    checksums: Mapping[str, str]
    cells: tuple[CellSummary, ...]
    displays: tuple[Shown, ...] = ()
    findings: tuple[Finding, ...] = ()
    verdict: str = ""

    def cell(self, key: str) -> CellSummary:
        """A cell by its key."""
        return next(cell for cell in self.cells if cell.key == key)

    def mean(self, key: str, measure: str) -> Any:
        """Mean of a measure in a cell; None if the cell was not run."""
        found = self.cell(key).measures.get(measure)
        return None if found is None else found.mean

    def error(self, key: str, measure: str) -> Any:
        """Standard error of that mean."""
        found = self.cell(key).measures.get(measure)
        return None if found is None else found.error

    @property
    def is_complete(self) -> bool:
        """Whether every cell that can be run has all its repetitions."""
        return all(cell.skipped or cell.repetitions >= cell.planned for cell in self.cells)


def summarize(
    experiments: Iterable[Experiment],
    folder: Path,
    *,
    complete_only: bool = False,
    stored: Sequence[ExperimentSummary] = (),
) -> list[ExperimentSummary]:
    """Summaries of all experiments with results in ``folder``, and of derived ones whose sources have results.

    With ``complete_only`` a cell counts as not run until it has all repetitions of a full run. A cell without results
    in ``folder`` keeps its numbers from ``stored``, the summaries of earlier runs. Words and verdicts are always made
    again.
    """
    done: dict[str, ExperimentSummary] = {}
    earlier = {summary.name: summary for summary in stored}
    experiments = list(experiments)
    for experiment in sorted(experiments, key=lambda e: bool(e.sources)):
        if experiment.protocol is not None:
            records = ResultFile(Path(folder), experiment.name).read()
            if complete_only:
                counts = Counter(key for key, _ in records)
                complete = {cell.key for cell in experiment.cells if counts[cell.key] >= cell.full}
                records = {name: record for name, record in records.items() if name[0] in complete}
            summary = _from_records(experiment, records, earlier.get(experiment.name))
            if summary is not None:
                done[experiment.name] = summary
        elif all(source in done for source in experiment.sources):
            done[experiment.name] = _derived(experiment, done)
    return [done[experiment.name] for experiment in experiments if experiment.name in done]


def _from_records(
    experiment: Experiment, records: Mapping[tuple[str, int], Record], stored: ExperimentSummary | None
) -> ExperimentSummary | None:
    """None if no cell has results."""
    values: dict[str, dict[str, NDArray[np.float64]]] = {}
    earlier = {cell.key: cell for cell in stored.cells} if stored else {}
    cells, kept = [], set()
    for cell in experiment.cells:
        own = [record for (key, _), record in sorted(records.items()) if key == cell.key]
        if not own and cell.key in earlier and earlier[cell.key].repetitions:
            kept.add(cell.key)
            cells.append(_cell(cell, earlier[cell.key].repetitions, earlier[cell.key].measures))
            continue
        values[cell.key] = {
            name: np.array([record["measures"][name] for record in own]) for name in (own[0]["measures"] if own else {})
        }
        measures = {name: _measure(v) for name, v in values[cell.key].items()}
        cells.append(_cell(cell, len(own), measures))
    if not any(cell.repetitions for cell in cells):
        return None
    keys = {cell.key for cell in experiment.cells}
    used = [record for (key, _), record in records.items() if key in keys]
    old = stored if kept else None
    checksums: dict[str, str] = dict(old.checksums) if old else {}
    for record in used:
        checksums.update(record.get("data", {}))
    summary = ExperimentSummary(
        name=experiment.name,
        paper=experiment.paper,
        title=experiment.title,
        about=experiment.about,
        versions=tuple(sorted({record["dubio"] for record in used} | set(old.versions if old else ()))),
        days=tuple(sorted({record["when"][:10] for record in used} | set(old.days if old else ()))),
        checksums={name: checksums[name] for name in experiment.datasets if name in checksums},
        cells=tuple(cells),
    )
    return _judged(experiment, summary, values, _bands(old, kept))


def _bands(
    stored: ExperimentSummary | None, kept: Iterable[str]
) -> dict[tuple[str, str], tuple[float | None, float | None]]:
    """The bands of the cells that keep their numbers, by cell and measure."""
    return {
        (key, measure): (entry.low, entry.high)
        for shown in (stored.displays if stored else ())
        for key in kept
        for measure, entry in shown.rows.get(key, {}).items()
        if entry.low is not None
    }


def _derived(experiment: Experiment, done: Mapping[str, ExperimentSummary]) -> ExperimentSummary:
    assert experiment.derive is not None
    sources = [done[name] for name in experiment.sources]
    derived = experiment.derive({source.name: source for source in sources})
    cells = []
    for cell in experiment.cells:
        measures, repetitions = derived.get(cell.key, ({}, 0))
        cells.append(_cell(cell, repetitions, measures))
    summary = ExperimentSummary(
        name=experiment.name,
        paper=experiment.paper,
        title=experiment.title,
        about=experiment.about,
        versions=tuple(sorted({version for source in sources for version in source.versions})),
        days=tuple(sorted({day for source in sources for day in source.days})),
        checksums={},
        cells=tuple(cells),
    )
    return _judged(experiment, summary, {}, {})


def _cell(cell: Cell, repetitions: int, measures: Mapping[str, Measure]) -> CellSummary:
    skipped = None
    if not repetitions and cell.dataset is not None and where(cell.dataset) is None:
        skipped = UNAVAILABLE.get(cell.dataset, "the dataset is unavailable")
    return CellSummary(cell.key, cell.title, cell.dataset, repetitions, cell.full, skipped, measures)


def _measure(values: NDArray[np.float64]) -> Measure:
    mean = values.mean(axis=0)
    error = None if len(values) < 2 else values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return Measure(_rounded(mean.tolist()), None if error is None else _rounded(error.tolist()))


def _judged(
    experiment: Experiment,
    summary: ExperimentSummary,
    values: Mapping[str, Mapping[str, NDArray[np.float64]]],
    bands: Mapping[tuple[str, str], tuple[float | None, float | None]],
) -> ExperimentSummary:
    displays = tuple(_shown(experiment.name, display, summary, values, bands) for display in experiment.displays)
    findings = tuple(experiment.findings(summary)) if experiment.findings else ()
    remarks = experiment.remarks(summary) if experiment.remarks else []
    verdict = _verdict(summary, displays, findings, remarks)
    return replace(summary, displays=displays, findings=findings, verdict=verdict)


def _shown(
    name: str,
    display: Display,
    summary: ExperimentSummary,
    values: Mapping[str, Mapping[str, NDArray[np.float64]]],
    bands: Mapping[tuple[str, str], tuple[float | None, float | None]],
) -> Shown:
    if isinstance(display, Curves):
        labels: dict[str, Any] = {"x_label": display.x_label, "y_label": display.y_label}
        return Shown("curves", display.title, display.measures, labels)
    rows: dict[str, dict[str, Entry]] = {}
    for cell in summary.cells:
        if display.cells and cell.key not in display.cells:
            continue
        rows[cell.key] = {}
        for measure in display.measures:
            printed = display.printed.get(cell.key, {}).get(measure)
            found = cell.measures.get(measure)
            if found is None:
                rows[cell.key][measure] = Entry(None, None, printed)
                continue
            sample = values.get(cell.key, {}).get(measure)
            judged = printed is not None and display.comparable
            low, high = None, None
            if judged and sample is not None:
                low, high = _rounded(band(name, cell.key, measure, sample, display))
            elif judged:
                low, high = bands.get((cell.key, measure), (None, None))
            inside = None if low is None or high is None or printed is None else bool(low <= printed <= high)
            rows[cell.key][measure] = Entry(found.mean, found.error, printed, low, high, inside)
    options: dict[str, Any] = {
        "digits": display.digits,
        "row_header": display.row_header,
        "printed_repetitions": display.printed_repetitions,
        "printed_digits": display.printed_digits,
        "comparable": display.comparable,
        "beside": list(display.beside),
    }
    return Shown("table", display.title, display.measures, options, rows)


def band(
    experiment: str, cell: str, measure: str, sample: NDArray[np.float64], table: Table
) -> tuple[float | None, float | None]:
    """The range in which a printed mean may lie if the paper did the same as we did.

    We draw as many of our repetitions as the paper used and take their mean. The band contains 99.7 % of such means.
    (A normal curve would not do: means of percentages near 100 are skewed.) The band is widened by three standard
    errors of our own mean, and by the rounding of the printed number. The band of a fact (``printed_repetitions=0``)
    only allows for rounding.
    """
    rounding = 0.5 * 10.0**-table.printed_digits + 1e-9
    if table.printed_repetitions == 0:
        return float(sample.mean() - rounding), float(sample.mean() + rounding)
    if len(sample) < max(_FEWEST, min(2 * table.printed_repetitions, _ENOUGH)):
        return None, None
    random = np.random.default_rng(seed(experiment, f"{cell}|{measure}|band", 0))
    draws = random.integers(0, len(sample), size=(4000, table.printed_repetitions))
    low, high = np.quantile(sample[draws].mean(axis=1), [0.00135, 0.99865])
    slack = 3 * sample.std(ddof=1) / np.sqrt(len(sample)) + rounding
    return float(low - slack), float(high + slack)


def _verdict(
    summary: ExperimentSummary, displays: Sequence[Shown], findings: Sequence[Finding], remarks: Sequence[str]
) -> str:
    """A few sentences that follow from the numbers alone."""
    entries = [entry for shown in displays for row in shown.rows.values() for entry in row.values()]
    parts = []
    tables = [(shown.title, _judged_entries(shown)) for shown in displays]
    tables = [(title, judged) for title, judged in tables if judged]
    for title, judged in tables:
        inside = sum(bool(entry.inside) for entry in judged)
        gaps = [abs(e.ours - e.printed) for e in judged if e.ours is not None and e.printed is not None]
        words = f"{inside} of {len(judged)} printed numbers lie inside their band"
        name = f"{title.split(':')[0]}: " if len(tables) > 1 else ""
        parts.append(f"{name}{words} (mean absolute difference {np.mean(gaps):.3g}).")
    parts += [*_counts_of_claims(findings), *remarks]
    if not parts:
        judgeable = bool(findings) or any(entry.printed is not None for entry in entries)
        parts.append("Too few repetitions to judge." if judgeable else "No printed number to compare with.")
    if not summary.is_complete:
        short = [cell for cell in summary.cells if not cell.skipped and cell.repetitions < cell.planned]
        done = [f"{cell.title} {cell.repetitions} of {cell.planned}" for cell in short]
        words = ", ".join(done) if len(done) <= 6 else f"{counted(len(done), 'cell')} have fewer"
        parts.append(f"Not all repetitions of a full run are done: {words}.")
    return " ".join(parts)


def _counts_of_claims(findings: Sequence[Finding]) -> list[str]:
    """A sentence for each group of claims."""
    sentences = []
    for group in dict.fromkeys(finding.group for finding in findings):
        told = [finding for finding in findings if finding.group == group and finding.holds is not None]
        if told:
            impossible = sum(finding.cannot_hold for finding in told)
            words = f"{sum(bool(f.holds) for f in told)} of {len(told)} claims hold in our numbers"
            words += f" ({impossible} cannot hold)" if impossible else ""
            sentences.append(f"{group[0].upper()}{group[1:]}: {words}." if group else f"{words}.")
    return sentences


def _judged_entries(shown: Shown) -> list[Entry]:
    return [entry for row in shown.rows.values() for entry in row.values() if entry.inside is not None]


def to_json(summaries: Sequence[ExperimentSummary]) -> str:
    """All summaries as JSON, one line each; floats are rounded to more digits than any page shows."""
    lines = [json.dumps(_rounded(asdict(summary)), ensure_ascii=False, allow_nan=False) for summary in summaries]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def from_json(text: str) -> list[ExperimentSummary]:
    """Read what :func:`to_json` wrote."""
    return [_read(item) for item in json.loads(text)]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.8g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def _read(item: dict[str, Any]) -> ExperimentSummary:
    cells = tuple(
        CellSummary(**{**cell, "measures": {name: Measure(**m) for name, m in cell["measures"].items()}})
        for cell in item["cells"]
    )
    displays = tuple(
        Shown(
            shown["kind"],
            shown["title"],
            tuple(shown["measures"]),
            shown["options"],
            {key: {m: Entry(**entry) for m, entry in row.items()} for key, row in shown["rows"].items()},
        )
        for shown in item["displays"]
    )
    return ExperimentSummary(
        **{
            **item,
            "versions": tuple(item["versions"]),
            "days": tuple(item["days"]),
            "cells": cells,
            "displays": displays,
            "findings": tuple(
                Finding(**{**finding, "points": tuple(Point(**point) for point in finding.get("points", ()))})
                for finding in item["findings"]
            ),
        }
    )
