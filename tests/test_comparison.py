"""The comparison with other libraries: cells are stored, not run twice, and the page says what the numbers say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.selection import run as runner
from benchmarks.selection import tables
from benchmarks.selection.page import page
from benchmarks.selection.quote import renewed
from benchmarks.selection.regimes import REGIMES
from benchmarks.selection.selectors import AUTO, Selector, selectors
from benchmarks.selection.summary import Results


def tiny(rng: np.random.Generator) -> tuple[Any, Any]:
    """Two columns of six tell the class."""
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 6))
    X[:, 2] += 2.5 * (y == 1)
    X[:, 4] += 2.5 * (y == 2)
    return X, y


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
    results = Results(tmp_path, REGIMES["column"])
    assert results.names == [AUTO, "F-test", "random order"]
    difference = results.difference("F-test")
    assert difference is not None and difference.tables == 1
    assert difference.mean == pytest.approx(results.mean("F-test") - results.mean(AUTO))
    text = page(tmp_path)
    assert f"| made:tiny | classes | no | {tables.BY_NAME['classes/made:tiny'].why} |" in text
    assert f"| F-test | 1 | {results.mean('F-test'):.2f} | {difference} |" in text
    assert "`auto` puts it at rank" in text
    assert "* RFE: not run" in text
    assert runner.forget(tmp_path, ["column"], ["F-test"]) == 1
    assert go(AUTO, "F-test") == 1
    again = Results(tmp_path, REGIMES["column"])
    assert again.difference("F-test") == difference  # the same rows, labels and judges


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
    docs = Path(__file__).parents[1] / "docs"
    text = (docs / "alternatives.md").read_text(encoding="utf-8")
    assert renewed(text, (docs / "comparison.md").read_text(encoding="utf-8")) == text
