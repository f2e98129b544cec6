"""From the raw results of a regime to its summary: paired differences by table, and standard errors over tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.selection.regimes import Regime
from benchmarks.selection.selectors import AUTO, selectors
from benchmarks.selection.summary import Culprit, Difference, Gap, Measured, Summary, best_first, short
from dubio_papers.store import Record, ResultFile

Value = Callable[[Record], float]


class Results:
    """The raw results of one regime."""

    def __init__(self, folder: Path, regime: Regime) -> None:
        self.regime = regime
        self.records: dict[str, dict[tuple[str, int], Record]] = {name: {} for name in selectors()}
        self.slow: dict[str, dict[str, float]] = defaultdict(dict)  # tables and time limits
        self.failed: dict[str, dict[str, str]] = defaultdict(dict)
        for (cell, draw), record in ResultFile(folder, regime.name).read().items():
            table, _, name = cell.partition("|")
            if name not in self.records:
                continue
            if record.get("slow") and draw == 0:
                self.slow[name][table] = record.get("limit", 0.0)
            elif record.get("failed"):
                self.failed[name][table] = record["failed"]
            elif "area" in record:
                self.records[name][table, draw] = record
        for name, tables in self.slow.items():  # a table that was too slow does not count at all
            self.records[name] = {key: r for key, r in self.records[name].items() if key[0] not in tables}

    def summary(self) -> Summary | None:
        """What the page needs of them; nothing if ``auto`` has no results."""
        auto = self.records[AUTO]
        if not auto:
            return None
        compared = [name for name, records in self.records.items() if not auto.keys().isdisjoint(records)]
        return Summary(
            name=self.regime.name,
            tables=tuple(dict.fromkeys(table for table, _ in auto)),
            selectors=best_first({name: self._measured(name) for name in compared}),
            slow=dict(self.slow),
            failed=dict(self.failed),
        )

    def _measured(self, name: str) -> Measured:
        areas = self._by_table(name, lambda mine, auto: mine["area"])
        return Measured(
            draws=short(np.mean([len(values) for values in areas.values()])),
            tables=len(areas),
            area=short(np.mean([np.mean(values) for values in areas.values()])),
            difference=self._difference(name, lambda record: record["area"]),
            balanced=self._balanced(name),
            judges=self._judges(name),
            gap=self._gap(name),
            culprit=self._culprit(name),
            seconds=self._seconds(name),
            sources=tuple(sorted({r["source"] for r in self.records[name].values() if "source" in r})),
        )

    def _by_table(self, name: str, value: Callable[[Record, Record], float]) -> dict[str, list[float]]:
        """By table: a value of each draw that ``auto`` has too, from the selector's record and that of ``auto``."""
        by_table: dict[str, list[float]] = defaultdict(list)
        for key, record in self.records[name].items():
            if key in self.records[AUTO]:
                by_table[key[0]].append(value(record, self.records[AUTO][key]))
        return by_table

    def _table_differences(self, name: str, value: Value) -> dict[str, float]:
        """By table: the mean over draws of a selector minus ``auto``, on the same rows and labels."""
        by_table = self._by_table(name, lambda mine, auto: value(mine) - value(auto))
        return {table: float(np.mean(values)) for table, values in by_table.items()}

    def _difference(self, name: str, value: Value) -> Difference | None:
        if name == AUTO:
            return None
        values = np.array(list(self._table_differences(name, value).values()))
        return Difference(
            mean=short(values.mean()),
            error=short(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None,
            better=int((values > 1e-9).sum()),
            worse=int((values < -1e-9).sum()),
            tables=len(values),
        )

    def _balanced(self, name: str) -> Difference | None:
        if self.regime.tables == "numbers":
            return None
        return self._difference(name, lambda record: record["balanced"])

    def _judges(self, name: str) -> dict[str, Difference] | None:
        judges = next(iter(self.records[AUTO].values()))["judges"]
        by_judge = {judge: self._difference(name, _area_of(judge)) for judge in judges}
        return {judge: found for judge, found in by_judge.items() if found is not None} or None

    def _gap(self, name: str) -> Gap | None:
        if name == AUTO:
            return None
        differences = self._table_differences(name, lambda record: record["area"])
        table, points = max(differences.items(), key=lambda pair: pair[1])
        return Gap(table, short(points))

    def _culprit(self, name: str) -> Culprit | None:
        records = [record for record in self.records[name].values() if "culprit" in record]
        if not records:
            return None
        ranks = np.array([record["culprit"] for record in records])
        columns = np.mean([record["features"] for record in records])
        return Culprit(short(ranks.mean()), short(100 * (ranks <= 5).mean()), short(columns))

    def _seconds(self, name: str) -> float:
        """Mean over tables of the median over draws."""
        by_table: dict[str, list[float]] = defaultdict(list)
        for (table, _), record in self.records[name].items():
            by_table[table].append(record["seconds"])
        return short(np.mean([np.median(values) for values in by_table.values()]))


def _area_of(judge: str) -> Value:
    return lambda record: record["judges"][judge]
