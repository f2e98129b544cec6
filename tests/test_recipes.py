"""The recipes of CONTRIBUTING.md, each carried out by a toy that is added in exactly the places that it names.

Longer toys: a score (test_toy_score.py), a search (test_toy_search.py), a kind of target (test_toy_supervision.py) and
an option of the command (test_command_reference.py).
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dubio
from dubio import alerts, words
from dubio.evidence.evidence import Evidence
from dubio.findings import Alert
from dubio.methods import base
from dubio.methods.parameters import estimator
from dubio.methods.register import METHODS, register
from dubio.problem import Problem, read_problem
from dubio.table.rows import centred_within
from dubio.words import note
from dubio_app import files
from dubio_app.command import options
from dubio_app.command.options import OPTIONS, Option
from dubio_app.command.run import run
from dubio_app.files import TableFile, read_table
from dubio_app.report import tables

ROOT = Path(__file__).parents[1]


def test_every_path_in_the_guide_exists():
    """The paths in backquotes, from the root of the project; a name in angle brackets stands for a new file."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = {path for path in re.findall(r"`([\w./<>*-]+)`", guide) if "/" in path}
    missing = [path for path in paths if "<" not in path and not (ROOT / path).exists()]
    new = [path for path in paths if "<" in path and not (ROOT / path).parent.is_dir()]
    assert len(paths) > 30 and not missing and not new


def test_every_name_in_the_guide_stands_in_its_file():
    """A line such as "`NAME` in `path`" names something that is in this file."""
    guide = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    named = re.findall(r"`(\w+)` (?:of|in) `([\w./-]+\.\w+)`", guide)
    assert len(named) > 10
    for name, path in named:
        assert re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8")), (name, path)


@pytest.fixture
def table(tmp_path) -> tuple[Path, pd.DataFrame, np.ndarray]:
    """A file of 80 rows in two sites; "a" separates the classes, "level" only the sites."""
    rng = np.random.default_rng(0)
    site, ill = np.arange(80) % 2, rng.random(80)
    ill = ill < np.where(site == 0, 0.25, 0.75)
    X = pd.DataFrame({"a": rng.normal(size=80) + 2 * ill, "b": rng.normal(size=80)})
    X["level"] = 5.0 * site + rng.normal(size=80)
    y, path = np.where(ill, "ill", "well"), tmp_path / "table.csv"
    X.assign(site=site, y=y).to_csv(path, index=False)
    return path, X.assign(site=site), y


@dataclass(frozen=True, eq=False)
class ProblemWithSites(Problem):
    """A field for the fact, and its rows."""

    site: np.ndarray | None = None

    def rows(self, index: np.ndarray) -> ProblemWithSites:
        part = super().rows(index)
        assert self.site is not None and isinstance(part, ProblemWithSites)
        return replace(part, site=self.site[index])


def test_a_fact_about_rows(table, monkeypatch, capsys):
    """Rows of one site are compared with each other: a field of the problem, the evidence made of it, an option."""
    path, X, y = table
    evidence_of = Evidence.of

    def read(X: Any, y: Any = None, *, site: Any = None, **more: Any) -> Problem:
        problem = read_problem(X, y, **more)
        parts = {one.name: getattr(problem, one.name) for one in fields(problem) if one.init}
        return problem if site is None else ProblemWithSites(**parts, site=np.asarray(site))

    def within_sites(problem: Problem, **more: Any) -> Evidence:
        evidence = evidence_of(problem, **more)
        if not isinstance(problem, ProblemWithSites):
            return evidence
        site = problem.tested.labelled.site
        columns, scores = (centred_within(part, site) for part in (evidence.columns, evidence.scores))
        return replace(evidence, columns=columns, scores=scores / np.sqrt((scores**2).mean()), exchange=site)

    monkeypatch.setattr(base, "read_problem", read)
    monkeypatch.setattr(Evidence, "of", staticmethod(within_sites))
    new = Option("--site COL", "Column with the site.", columns="fact", passed="fit")
    monkeypatch.setattr(options, "OPTIONS", (*OPTIONS, new))

    selector = dubio.FeatureSelector("linear_r2", n_features_to_select="auto")
    features = X[["a", "b", "level"]]
    assert set(selector.fit(features, y).get_feature_names_out()) == {"a", "level"}
    selector.fit_problem(selector.read_problem(features, y, site=X["site"]))
    assert list(selector.get_feature_names_out()) == ["a"]
    assert run(["rank", str(path), "-t", "y", "--site", "site", "-m", "linear_r2", "--stability", "0"]) == 0
    assert "1 of 3 columns is related to 'y': a." in capsys.readouterr().out


def test_a_file_format(table, monkeypatch, tmp_path, capsys):
    """An ending, and the function that reads it."""
    path = tmp_path / "table.bars"
    path.write_text("\n".join("|".join(line.split(",")) for line in table[0].read_text().splitlines()))

    def read_bars(path: str, how: Any) -> TableFile:
        return TableFile(pd.read_csv(path, sep="|"), code=f"pd.read_csv({path!r}, sep='|')")

    monkeypatch.setitem(files.FORMATS, ".bars", "bars")
    monkeypatch.setitem(files.READERS, "bars", read_bars)
    pd.testing.assert_frame_equal(read_table(str(path)), pd.read_csv(table[0]))
    page = tmp_path / "page.html"
    assert run(["rank", str(path), "-t", "y", "-m", "fisher", "--report", str(page), "--stability", "0"]) == 0
    assert "rank" in capsys.readouterr().out and "table.bars" in page.read_text(encoding="utf-8")
    assert run(["rank", str(path), "-t", "y", "--sep", "|"]) == 2
    assert "a .bars file has no separators" in capsys.readouterr().err


def shown_everywhere(path: Path, method: str, capsys: Any) -> list[str]:
    """The texts of the command and of the page."""
    page = path.with_suffix(".html")
    assert run(["rank", str(path), "-t", "y", "-m", method, "--report", str(page), "--stability", "0"]) == 0
    captured = capsys.readouterr()
    return [" ".join(f"{captured.out} {captured.err}".split()), page.read_text(encoding="utf-8")]


def test_an_alert(table, monkeypatch, capsys):
    """A function that looks at the columns, and its sentences."""
    path, X, y = table

    def negative_alerts(view: Any) -> list[Alert]:
        negative = [j for j in view.numbers.tolist() if (view.X[:, j] < 0).any()]
        return [Alert("negative", view.named(view.feature_of[negative]))] if negative else []

    monkeypatch.setattr(alerts, "FINDERS", [*alerts.FINDERS, negative_alerts])
    monkeypatch.setitem(words.SENTENCES, "negative", "{features!q} {features:has|have} negative values")
    monkeypatch.setitem(words.SENTENCES, "negative remedy", "look at how {features:it was|they were} measured")
    selector = dubio.FeatureSelector("fisher").fit(X[["b", "site"]], y)
    assert str(selector.alerts_[-1]) == "'b' has negative values: look at how it was measured."
    assert "Alert: 'b' has negative values." in selector.explanation_
    for text in shown_everywhere(path, "fisher", capsys):
        assert "have negative values" in text and "look at how they were measured" in text.casefold()


@estimator
class ToyScore(dubio.LinearR2Score):
    """The linear score, with a column and a note."""

    _name = "toy"
    _does = "the linear score"

    def _score(self, problem: Problem) -> Any:
        scored = super()._score(problem)
        return replace(scored, columns={**scored.columns, "spread": problem.table.std(axis=0)})

    def _solve(self, problem: Problem) -> Any:
        return replace(super()._solve(problem), notes=(note("toy", n=problem.n_rows),))


@pytest.fixture
def toy_score(monkeypatch):
    register(ToyScore)
    yield
    del METHODS["toy"]


def test_a_column_of_the_result(table, toy_score, monkeypatch, capsys):
    """A column of the record that the method returns; on the page, its name and its meaning."""
    path, X, y = table
    monkeypatch.setitem(words.SENTENCES, "toy", "toy")
    monkeypatch.setitem(tables.COLUMNS, "spread", ("spread", "standard deviation of the feature"))
    selector = dubio.FeatureSelector("toy").fit(X, y)
    assert selector.to_ranking().to_frame().set_index("feature")["spread"]["site"] == pytest.approx(0.5)
    command, page = shown_everywhere(path, "toy", capsys)
    assert "spread" in command and "standard deviation of the feature" in page
    assert run(["rank", str(path), "-t", "y", "-m", "toy", "--csv"]) == 0
    assert "spread" in capsys.readouterr().out.splitlines()[0].split(",")


def test_a_sentence(table, toy_score, monkeypatch, capsys):
    """A code with its sentence, and a note with its facts where they are known."""
    path, X, y = table
    monkeypatch.setitem(words.SENTENCES, "toy", "{n} {n:row was|rows were} looked at twice")
    selector = dubio.FeatureSelector("toy").fit(X, y)
    assert selector.notes_ == ("80 rows were looked at twice",) and selector.notes_[0] in selector.explanation_
    for text in shown_everywhere(path, "toy", capsys):
        assert "80 rows were looked at twice" in text


def test_a_default_is_the_same_in_the_code_and_in_its_documentation():
    compared = 0
    for cls in (dubio.FeatureSelector, *(method.estimator for method in METHODS.values())):
        defaults = cls().get_params(deep=False)
        for name, documented in re.findall(r"(?m)^    (\w+) : .*default=(.+)$", cls.__doc__):
            assert defaults[name] == ast.literal_eval(documented), (cls, name)
            compared += 1
    assert compared > 40


def test_a_default_is_the_same_in_python_and_in_the_command():
    same = {"relevant": "auto"}  # two words for one wish
    made = {"rank": dubio.FeatureSelector().get_params(), "audit": dubio.audit_labels.__kwdefaults__}
    compared = 0
    for one in OPTIONS:
        for command in {"rank", "audit"} & set(one.commands.split()) if one.passed == "make" else ():
            default, name = made[command][one.argument or one.name], one.argument or one.name
            assert same.get(one.unset, one.unset) == same.get(default, default) or not one.unset, name
            compared += 1
    assert compared > 8
