"""The summaries in the repository: one file for each regime, renewed from the raw results of the machine that has some.

The page is written from these files alone, so that it survives the raw results.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.selection.regimes import REGIMES
from benchmarks.selection.results import Results
from benchmarks.selection.run import VERSIONS
from benchmarks.selection.selectors import PREVIOUS, selectors
from benchmarks.selection.summary import Culprit, Difference, Gap, Measured, Summary, best_first
from dubio_app.whole_files import write_whole


@dataclass(frozen=True)
class Versions:
    """Versions of the packages, and how many versions of dubio's code are behind selectors with unknown sources."""

    packages: dict[str, str]
    unknown_sources: int = 0

    def of_dubio(self, found: list[Summary]) -> int:
        """Versions of dubio's code behind these summaries."""
        mine = [m.sources for summary in found for name, m in summary.selectors.items() if name != PREVIOUS]
        named = set().union(*(sources for sources in mine if sources is not None))
        return len(named) + (self.unknown_sources if None in mine else 0)


def read_summaries(folder: Path) -> list[Summary]:
    """The summaries of all regimes that have one."""
    found = [read_summary(folder, name) for name in REGIMES]
    return [summary for summary in found if summary is not None]


def read_summary(folder: Path, name: str) -> Summary | None:
    """The summary of a regime, without selectors that are gone since."""
    file = _file(folder, name)
    if not file.exists():
        return None
    data = json.loads(file.read_text(encoding="utf-8"))
    return Summary(
        name=data["name"],
        tables=tuple(data["tables"]),
        selectors={selector: _measured(value) for selector, value in _known(data["selectors"]).items()},
        slow=_known(data["slow"]),
        failed=_known(data["failed"]),
    )


def write_summary(folder: Path, summary: Summary) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write(_file(folder, summary.name), asdict(summary))


def read_versions(folder: Path) -> Versions:
    file = folder / VERSIONS
    return Versions(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else Versions({})


def renew(folder: Path, results: Path) -> list[str]:
    """Merge the raw results in the folder ``results`` into the summaries; return the regimes that changed."""
    changed = []
    for regime in REGIMES.values():
        new = Results(results, regime).summary()
        if new is None:
            continue
        before = read_summary(folder, regime.name)
        after = merged(before, new) if before else new
        if after != before:
            write_summary(folder, after)
            changed.append(regime.name)
    if changed:
        _renew_versions(folder, results)
    return changed


def merged(stored: Summary, new: Summary) -> Summary:
    """The stored summary, with each selector of the new one that is measured at least as well there.

    If the new one is of other tables, the two are joined.
    """
    if set(stored.tables).isdisjoint(new.tables):
        return _joined(stored, new)
    entering = {name: m for name, m in new.selectors.items() if _at_least_as_well_measured(m, name, stored)}
    staying = {name: m for name, m in stored.selectors.items() if name not in entering}

    def left_out(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
        """As before for those that stay and those without news, else the news."""
        news = {name: where for name, where in now.items() if name not in staying}
        return {name: where for name, where in before.items() if name not in entering} | news

    return Summary(
        name=stored.name,
        tables=tuple(dict.fromkeys([*(stored.tables if staying else ()), *(new.tables if entering else ())])),
        selectors=best_first({**stored.selectors, **entering}),
        slow=left_out(stored.slow, new.slow),
        failed=left_out(stored.failed, new.failed),
    )


def _joined(one: Summary, other: Summary) -> Summary:
    """Two summaries of one regime on different tables. A selector that only one of them has stays as it is there."""
    both = {name: one.selectors[name].joined(m) for name, m in other.selectors.items() if name in one.selectors}

    def of_both(mine: dict[str, dict[str, Any]], others: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return {name: {**mine.get(name, {}), **others.get(name, {})} for name in {**mine, **others}}

    return Summary(
        name=one.name,
        tables=(*one.tables, *other.tables),
        selectors=best_first({**one.selectors, **other.selectors, **both}),
        slow=of_both(one.slow, other.slow),
        failed=of_both(one.failed, other.failed),
    )


def _at_least_as_well_measured(new: Measured, name: str, stored: Summary) -> bool:
    """As many draws on as many tables, or more."""
    old = stored.selectors.get(name)
    return old is None or (new.tables >= old.tables and new.draws >= old.draws)


def _renew_versions(folder: Path, results: Path) -> None:
    stored, file = read_versions(folder), results / VERSIONS
    packages = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    _write(folder / VERSIONS, asdict(Versions({**stored.packages, **packages}, stored.unknown_sources)))


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def _write(file: Path, data: dict[str, Any]) -> None:
    write_whole(file, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _known(by_selector: dict[str, Any]) -> dict[str, Any]:
    names = selectors()
    return {name: value for name, value in by_selector.items() if name in names}


def _measured(data: dict[str, Any]) -> Measured:
    judges, sources = data["judges"], data["sources"]
    return Measured(
        **{
            **data,
            "difference": _maybe(Difference, data["difference"]),
            "balanced": _maybe(Difference, data["balanced"]),
            "judges": None if judges is None else {name: Difference(**value) for name, value in judges.items()},
            "gap": _maybe(Gap, data["gap"]),
            "culprit": _maybe(Culprit, data["culprit"]),
            "sources": None if sources is None else tuple(sources),
        }
    )


def _maybe(kind: type[Any], data: dict[str, Any] | None) -> Any:
    return None if data is None else kind(**data)
