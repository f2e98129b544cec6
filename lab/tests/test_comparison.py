"""The comparison with other libraries: cells are stored, not run twice, and the page says what the numbers say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.selection import run as runner
from benchmarks.selection import tables
from benchmarks.selection.__main__ import SUMMARIES, main
from benchmarks.selection.page import page
from benchmarks.selection.quote import renewed
from benchmarks.selection.regimes import REGIMES
from benchmarks.selection.results import Results
from benchmarks.selection.selectors import AUTO, Selector, selectors
from benchmarks.selection.stored import (
    Versions,
    merged,
    read_summaries,
    read_summary,
    read_versions,
    renew,
    write_summary,
)
from benchmarks.selection.summary import Culprit, Difference, Gap, Measured, Summary, best_first

DOCS = Path(__file__).parents[2] / "docs"


def tiny(rng: np.random.Generator) -> tuple[Any, Any]:
    """Two columns of six tell the class."""
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 6))
    X[:, 2] += 2.5 * (y == 1)
    X[:, 4] += 2.5 * (y == 2)
    return X, y


def made_results(folder: Path) -> Path:
    """Raw results of the regime "column": two draws of two tables; the F-test lacks one, RFE is slow and fails."""

    def record(name: str, table: str, draw: int, area: float, seconds: float, culprit: int) -> dict[str, Any]:
        judges = {"k-NN": area, "SVM": 2 * area, "forest": area + 1}
        source = {"source": "abc"} if name == AUTO else {}
        return {
            "cell": f"classes/{table}|{name}",
            "repetition": draw,
            "seconds": seconds,
            "area": area,
            "balanced": area / 2,
            "judges": judges,
            "culprit": culprit,
            "features": 10 if table == "wine" else 20,
            **source,
        }

    records = [
        record(AUTO, "wine", 0, 70.0, 1.0, 5),
        record(AUTO, "wine", 1, 74.0, 1.0, 5),
        record(AUTO, "sonar", 0, 60.0, 2.0, 15),
        record(AUTO, "sonar", 1, 62.0, 4.0, 15),
        record("F-test", "wine", 0, 72.0, 1.0, 2),
        record("F-test", "wine", 1, 73.0, 3.0, 7),
        record("F-test", "sonar", 0, 57.0, 5.0, 9),
        {"cell": "classes/wine|RFE", "repetition": 0, "seconds": 9.0, "slow": True, "limit": 9.0},
        {"cell": "classes/sonar|RFE", "repetition": 0, "seconds": 1.0, "failed": "ValueError: no"},
    ]
    folder.mkdir(exist_ok=True)
    (folder / "column.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "versions.json").write_text(json.dumps({"Python": "3.11.7", "numpy": "2.4.6"}))
    return folder


def summary_of(folder: Path) -> Summary:
    summary = Results(folder, REGIMES["column"]).summary()
    assert summary is not None
    return summary


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    table = tables.Table("made:tiny", "classes", "small", make=tiny)
    monkeypatch.setitem(tables.BY_NAME, "classes/made:tiny", table)

    def cells(*names: str, draws: int = 1, **options: Any) -> int:
        return runner.run(
            tmp_path,
            regimes=["column"],
            tables=["classes/made:tiny"],
            wanted={name: selectors()[name] for name in names},
            draws=draws,
            say=lambda line: None,
            **options,
        )

    return cells


def test_cells_are_run_once_and_new_selectors_are_filled_in(go: Any, tmp_path: Path) -> None:
    assert go(AUTO, "F-test") == 1
    stored = (tmp_path / "column.jsonl").read_text()
    assert go(AUTO, "F-test") == 0
    assert go(AUTO, "F-test", "random order") == 1
    assert (tmp_path / "column.jsonl").read_text().startswith(stored)
    summary = summary_of(tmp_path)
    assert set(summary.selectors) == {AUTO, "F-test", "random order"}
    area, difference = summary.selectors["F-test"].area, summary.difference("F-test")
    assert difference is not None and difference.tables == 1
    assert difference.mean == pytest.approx(area - summary.auto.area)
    text = page([summary], Versions({}))
    assert f"| made:tiny | classes | no | {tables.BY_NAME['classes/made:tiny'].why} |" in text
    assert f"| F-test | 1 | 1 | {area:.2f} | {difference} |" in text
    assert "`auto` puts it at rank" in text
    assert "* RFE: not run" in text
    assert runner.forget(tmp_path, ["column"], ["F-test"]) == 1
    assert go(AUTO, "F-test") == 1
    assert summary_of(tmp_path).difference("F-test") == difference  # the same rows, labels and judges


def test_a_slow_selector_is_left_out_on_that_table(go: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert go("F-test", draws=2, limit=1e-6) == 1
    assert Results(tmp_path, REGIMES["column"]).slow == {"F-test": {"classes/made:tiny": 1e-6}}


def test_a_failure_is_noted() -> None:
    def fails(known: Any) -> Any:
        raise ValueError("no")

    order, record = runner.select(Selector("x", "peer", fails, lambda regime: True), None, 10.0)
    assert order is None and record["failed"] == "ValueError: no"


@pytest.mark.parametrize("regime", [r for r in REGIMES.values() if r.tables == "classes"], ids=lambda r: r.name)
def test_doubt_leaves_the_truth_alone(regime: Any) -> None:
    sample = tables.draw(tables.Table("made:tiny", "classes", "", make=tiny), np.random.default_rng(0))
    before = sample.y.copy()
    sample_after, known, culprit = regime.doubt(sample, np.random.default_rng(1))
    assert (sample.y == before).all() and len(known.y) == len(known.X) == len(sample_after.X)
    assert known.X.shape[1] == 6 + (culprit is not None)
    if regime.few:
        assert np.bincount(known.labels[known.rows]).min() >= 3 and len(known.rows) < 15


def test_the_page_of_alternatives_quotes_the_comparison() -> None:
    text = (DOCS / "alternatives.md").read_text(encoding="utf-8")
    assert renewed(text, (DOCS / "comparison.md").read_text(encoding="utf-8")) == text


def test_the_summary_of_raw_results_literally(tmp_path: Path) -> None:
    summary = summary_of(made_results(tmp_path))
    assert summary == Summary(
        name="column",
        tables=("classes/wine", "classes/sonar"),
        selectors={
            AUTO: Measured(
                draws=2.0,
                tables=2,
                area=66.5,
                difference=None,
                balanced=None,
                judges=None,
                gap=None,
                culprit=Culprit(10.0, 50.0, 15.0),
                seconds=2.0,
                sources=("abc",),
            ),
            "F-test": Measured(  # by table: (2 - 1) / 2 and -3
                draws=1.5,
                tables=2,
                area=64.75,
                difference=Difference(-1.25, 1.75, 1, 1, 2),
                balanced=Difference(-0.625, 0.875, 1, 1, 2),
                judges={
                    "k-NN": Difference(-1.25, 1.75, 1, 1, 2),
                    "SVM": Difference(-2.5, 3.5, 1, 1, 2),
                    "forest": Difference(-1.25, 1.75, 1, 1, 2),
                },
                gap=Gap("classes/wine", 0.5),
                culprit=Culprit(6.0, 33.33333333, 13.33333333),
                seconds=3.5,
                sources=(),
            ),
        },
        slow={"RFE": {"classes/wine": 9.0}},
        failed={"RFE": {"classes/sonar": "ValueError: no"}},
    )
    assert list(summary.selectors) == [AUTO, "F-test"]  # the best first


def test_the_page_needs_no_raw_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.selection.__main__.THREADS", ())  # the other tests keep their threads
    raw, stored, none = made_results(tmp_path / "raw"), tmp_path / "stored", tmp_path / "none"
    direct = page([summary_of(raw)], Versions({"Python": "3.11.7", "numpy": "2.4.6"}))
    for results in (raw, none):
        written = tmp_path / f"{results.name}.md"
        main(["--write", "--results", str(results), "--summaries", str(stored), "--page", str(written)])
        assert written.read_text(encoding="utf-8") == direct
    assert capsys.readouterr().out.count("renewed: the summary of column") == 1
    assert renew(stored, raw) == []  # they are in it already
    assert "| F-test | 2 | 1.5 | 64.75 | -1.25 ± 1.75 | -0.62 ± 0.88 | 1 / 1 | 3.5 |" in direct
    assert "* Boruta: not run. No results are stored." in direct
    assert "irrelevant column: left out where it took longer than 9 s: wine." in direct
    assert "irrelevant column: failed on sonar (ValueError: no)." in direct


def measured(draws: float, n_tables: int, mean: float) -> Measured:
    difference = Difference(mean, 1.0, 0, 0, n_tables)
    return Measured(draws, n_tables, 50.0, difference, None, None, None, None, 1.0, ())


@pytest.mark.parametrize(
    ("stored", "new", "enters"),
    [
        ((10.0, 10), (10.0, 10), True),
        ((10.0, 10), (12.0, 10), True),
        ((10.0, 10), (9.5, 10), False),
        ((10.0, 10), (12.0, 9), False),
    ],
)
def test_merging_keeps_what_is_better_measured(stored: tuple[float, int], new: tuple[float, int], enters: bool) -> None:
    def summary(table: str, **found: Measured) -> Summary:
        auto = replace(measured(10.0, 10, 0.0), difference=None)
        slow = {"RFE": {table: 9.0}, "L1 path": {table: 9.0}}
        return Summary("right", ("classes/iris", table), best_first({AUTO: auto, **found}), slow, {})

    before = summary("classes/wine", RFE=measured(*stored, -3.0), Boruta=measured(3.0, 10, -2.0))
    after = merged(before, summary("classes/sonar", RFE=measured(*new, -1.0), fastcan=measured(1.0, 2, 1.0)))
    rfe = measured(*new, -1.0) if enters else measured(*stored, -3.0)
    assert after.selectors["RFE"] == rfe
    assert list(after.selectors) == ["fastcan", AUTO, *(["RFE", "Boruta"] if enters else ["Boruta", "RFE"])]
    assert after.tables == ("classes/iris", "classes/wine", "classes/sonar")
    assert after.slow["RFE"] == {"classes/sonar" if enters else "classes/wine": 9.0}
    assert after.slow["L1 path"] == {"classes/sonar": 9.0}  # measured nowhere: the news count


def test_summaries_of_different_tables_are_joined_exactly(tmp_path: Path) -> None:
    whole = made_results(tmp_path / "whole")
    lines = (whole / "column.jsonl").read_text().splitlines(keepends=True)
    parts = []
    for table in ("wine", "sonar"):
        (tmp_path / table).mkdir()
        (tmp_path / table / "column.jsonl").write_text("".join(line for line in lines if f"/{table}|" in line))
        parts.append(summary_of(tmp_path / table))
    joined, at_once = merged(*parts), summary_of(whole)
    assert joined == at_once and list(joined.selectors) == list(at_once.selectors)
    three = np.array([1.0, 4.0, -2.0])
    one, two = Difference(4.0, None, 1, 0, 1), Difference(-0.5, 1.5, 1, 1, 2)
    assert one.joined(two).error == pytest.approx(three.std(ddof=1) / np.sqrt(3))
    alone = {**parts[0].selectors, "RFE": parts[0].selectors["F-test"]}
    assert merged(replace(parts[0], selectors=alone), parts[1]).selectors["RFE"] == parts[0].selectors["F-test"]


def test_the_page_leaves_out_what_is_unknown(tmp_path: Path) -> None:
    summary = summary_of(made_results(tmp_path))
    bare = replace(summary.selectors["F-test"], balanced=None, judges=None, gap=None, culprit=None)
    text = page([replace(summary, selectors={**summary.selectors, "F-test": bare})], Versions({}))
    assert "| F-test | 2 | 1.5 | 64.75 | -1.25 ± 1.75 |  | 1 / 1 | 3.5 |" in text
    assert "| F-test | 6.0 |" not in text and "None" not in text


def test_versions_of_the_code_are_counted_once(tmp_path: Path) -> None:
    summary = summary_of(made_results(tmp_path))
    assert Versions({}, 6).of_dubio([summary, summary]) == 1
    unknown = replace(summary, selectors={**summary.selectors, "relieff": replace(summary.auto, sources=None)})
    assert Versions({}, 6).of_dubio([summary, unknown]) == 7


@pytest.mark.parametrize("name", REGIMES)
def test_stored_summaries_are_valid(name: str, tmp_path: Path) -> None:
    summary = read_summary(SUMMARIES, name)
    assert summary is not None and summary.name == name
    write_summary(tmp_path, summary)
    file = f"{name}.json"
    assert (tmp_path / file).read_text(encoding="utf-8") == (SUMMARIES / file).read_text(encoding="utf-8")
    assert list(best_first(summary.selectors)) == list(summary.selectors)
    assert all(tables.BY_NAME[table].kind == REGIMES[name].tables for table in summary.tables)
    assert summary.auto.draws >= 10 and summary.auto.tables <= len(summary.tables)
    for selector, found in summary.selectors.items():
        differences = [found.difference, found.balanced, *(found.judges or {}).values()]
        assert (found.difference is None) == (selector == AUTO)
        assert all(d.tables == found.tables <= len(summary.tables) for d in differences if d is not None)
        assert (found.culprit is None) == (name != "column")
    assert summary.best_peer() is not None


def test_the_page_says_what_the_summaries_say() -> None:
    text = page(read_summaries(SUMMARIES), read_versions(SUMMARIES))
    assert (DOCS / "comparison.md").read_text(encoding="utf-8") == text
