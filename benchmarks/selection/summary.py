"""Numbers from the stored results: paired differences by table, and their standard errors over tables."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.selection.regimes import REGIMES, Regime
from benchmarks.selection.selectors import AUTO, Selector, selectors
from dubio_papers.store import Record, ResultFile


@dataclass(frozen=True)
class Difference:
    """A paired difference: mean over tables of the means over draws, its standard error over tables, and counts."""

    mean: float
    error: float
    better: int
    worse: int
    tables: int

    @property
    def clear(self) -> bool:
        return abs(self.mean) > 2 * self.error  # never if there is one table only

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.error:.2f}" if np.isfinite(self.error) else f"{self.mean:+.2f}"


class Results:
    """The stored results of one regime."""

    def __init__(self, folder: Path, regime: Regime) -> None:
        self.regime = regime
        self.records: dict[str, dict[tuple[str, int], Record]] = defaultdict(dict)
        self.slow: dict[str, dict[str, float]] = defaultdict(dict)  # tables and time limits
        self.failed: dict[str, dict[str, str]] = defaultdict(dict)
        known = selectors()
        stored = ResultFile(folder, regime.name).read()
        for (cell, draw), record in stored.items():
            table, _, name = cell.partition("|")
            if record.get("slow") and draw == 0:
                self.slow[name][table] = record.get("limit", 0.0)
            elif record.get("failed"):
                self.failed[name][table] = record["failed"]
            elif "area" in record and name in known:
                self.records[name][table, draw] = record
        for name, tables in self.slow.items():  # a table that was too slow does not count at all
            self.records[name] = {key: r for key, r in self.records[name].items() if key[0] not in tables}
        self.known: dict[str, Selector] = known

    @property
    def names(self) -> list[str]:
        return [name for name in self.known if self.records.get(name)]

    @property
    def tables(self) -> list[str]:
        return list(dict.fromkeys(table for table, _ in self.records[AUTO]))

    @property
    def draws(self) -> float:
        """Draws of a table, on average."""
        return len(self.records[AUTO]) / max(1, len(self.tables))

    def mean(self, name: str) -> float:
        """Mean area over tables, on the draws that ``auto`` has too."""
        by_table: dict[str, list[float]] = defaultdict(list)
        for key, record in self.records[name].items():
            if key in self.records[AUTO]:
                by_table[key[0]].append(record["area"])
        return float(np.mean([np.mean(values) for values in by_table.values()]))

    def table_differences(self, name: str, measure: str = "area", judge: str | None = None) -> dict[str, float]:
        """By table: the mean over draws of a selector minus ``auto``, on the same rows and labels."""
        by_table: dict[str, list[float]] = defaultdict(list)
        for key, record in self.records[name].items():
            if key in self.records[AUTO]:
                both = [r["judges"][judge] if judge else r[measure] for r in (record, self.records[AUTO][key])]
                by_table[key[0]].append(both[0] - both[1])
        return {table: float(np.mean(values)) for table, values in by_table.items()}

    def difference(self, name: str, measure: str = "area", judge: str | None = None) -> Difference | None:
        values = np.array(list(self.table_differences(name, measure, judge).values()))
        if not len(values):
            return None
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
        return Difference(
            float(values.mean()), error, int((values > 1e-9).sum()), int((values < -1e-9).sum()), len(values)
        )

    def seconds(self, name: str) -> float:
        """Mean over tables of the median over draws."""
        by_table: dict[str, list[float]] = defaultdict(list)
        for (table, _), record in self.records[name].items():
            by_table[table].append(record["seconds"])
        return float(np.mean([np.median(values) for values in by_table.values()]))

    def ordered(self, family: str | None = None) -> list[tuple[str, Difference]]:
        """Selectors with their differences to ``auto``, the best first."""
        found = [(name, self.difference(name)) for name in self.names if name != AUTO]
        kept = [(n, d) for n, d in found if d is not None and family in (None, self.known[n].family)]
        return sorted(kept, key=lambda pair: -pair[1].mean)

    def best_peer(self) -> tuple[str, Difference] | None:
        """The peer with the best difference among those that ran on at least half of the tables."""
        return next((pair for pair in self.ordered("peer") if 2 * pair[1].tables >= len(self.tables)), None)

    def culprit(self, name: str) -> tuple[float, float, float]:
        """Mean rank of the irrelevant column, share of draws with it in the first five (%), mean number of columns."""
        records = [record for record in self.records[name].values() if "culprit" in record]
        ranks = np.array([record["culprit"] for record in records])
        return float(ranks.mean()), 100 * float((ranks <= 5).mean()), float(np.mean([r["features"] for r in records]))


def read(folder: Path) -> list[Results]:
    """The regimes for which ``auto`` has results."""
    found = [Results(folder, regime) for regime in REGIMES.values()]
    return [results for results in found if results.records.get(AUTO)]
