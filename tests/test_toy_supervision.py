"""A kind of supervision added in one file: a subclass and a reader; it flows to a method that declares it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import dubio
from dubio.errors import InputError
from dubio.evidence.relevance import relevance_of
from dubio.methods.base import ScoreSelector
from dubio.methods.register import METHODS, register
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.target.knowledge import Supervision
from dubio.target.numbers import Numbers
from dubio.target.reader import READERS, Reader
from dubio_app.command import question
from dubio_app.command.run import run
from dubio_app.report import render_report
from dubio_app.report.findings import gather


@dataclass(frozen=True)
class AtLeast:
    """What a person passes as y: for each row a number that the target reaches at least; NaN = nothing is known."""

    low: Any

    def __len__(self) -> int:
        return len(self.low)


@dataclass(frozen=True, kw_only=True)
class LowerBounds(Supervision):
    """The target is at least so large."""

    kind: ClassVar[str] = "lower bounds"
    words: ClassVar[str] = "lower bounds"
    given: ClassVar[str] = "the target holds lower bounds"
    _by_row: ClassVar[dict[str, Any]] = {"low": np.nan}

    low: np.ndarray = field(repr=False)

    def require_enough(self) -> None:
        if self.n_labelled < 2:
            raise InputError("y", "has fewer than two bounds", "give more")

    def as_tested(self) -> Supervision:
        return self.as_kind(Numbers, values=self.low)


def read_bounds(y, question):
    low = np.asarray(y.low, dtype=float)
    if len(low) != question.n_rows:
        raise InputError("y", f"has {len(low)} rows and X has {question.n_rows}")
    return LowerBounds(labelled=~np.isnan(low), low=low)


class BoundScore(ScoreSelector):
    """Absolute correlation with the lower bounds."""

    _name = "bound"
    _does = "correlation with lower bounds"
    _takes = ("lower bounds",)
    _lower_is_better = False
    _scores_are_independent = True

    def _score(self, problem: Problem) -> Scored:
        known = problem.supervision.labelled
        target = problem.supervision.target_matrix(known)[:, 0]
        table = problem.table[known] - problem.table[known].mean(axis=0)
        return Scored(np.abs(target @ table) / np.sqrt(len(target) * (table**2).sum(axis=0)))


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(METHODS, "bound", register(BoundScore) and METHODS["bound"])
    READERS.insert(0, Reader(lambda y: isinstance(y, AtLeast), read_bounds))
    yield
    READERS.pop(0)
    METHODS.pop("bound", None)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    low = X[:, 2] + 0.2 * rng.normal(size=100)
    low[::5] = np.nan
    return X, AtLeast(low)


def test_it_flows_through_the_front_door(data):
    X, y = data
    selector = dubio.FeatureSelector("bound").fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2]
    assert selector.n_unlabelled_ == 20
    assert selector.explanation_.startswith("80 rows with lower bounds, 20 rows without a label. Method: bound")
    np.testing.assert_array_equal(selector.pvalues_ < 0.01, [False, False, True, False])


def test_it_is_resampled_and_shuffled_like_any_other(data):
    X, y = data
    sure = dubio.stability(BoundScore(n_features_to_select=1), X, y, n_draws=4)
    assert sure.frequency.tolist() == [0, 0, 1, 0]


@pytest.fixture
def more_data(data):
    """More rows, and groups, weights and a second target."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(160, 4))
    low = X[:, 2] + 0.2 * rng.normal(size=160)
    low[::5] = np.nan
    return X, AtLeast(low), {"groups": np.arange(160) // 2, "sample_weight": rng.uniform(1, 2, size=160)}


@pytest.mark.parametrize("wish", ["auto", "sufficient"])
@pytest.mark.parametrize("facts", [("groups",), ("sample_weight",), ("groups", "sample_weight")])
def test_it_passes_the_front_door_with_every_fact_about_rows(more_data, wish, facts):
    X, y, more = more_data
    selector = dubio.FeatureSelector(n_features_to_select=wish).fit(X, y, **{name: more[name] for name in facts})
    assert selector.method_ == "neighbor_search"
    assert selector.get_support(indices=True).tolist() == [2]


def test_it_may_be_one_of_several_targets(more_data):
    X, y, more = more_data
    targets = dubio.several_targets({"reached": y, "dose": X[:, 1]})
    for facts in ({}, {"groups": more["groups"]}):
        selector = dubio.FeatureSelector().fit(X, targets, **facts)
        assert "reached (lower bounds, known in 128)" in selector.explanation_
        assert selector.get_support(indices=True).tolist() == [1, 2]


def test_it_is_tested_and_resampled(more_data):
    X, y, more = more_data
    problem = dubio.FeatureSelector().read_problem(X, y, groups=more["groups"])
    assert np.flatnonzero(relevance_of(problem).relevant).tolist() == [2]
    sure = dubio.stability(dubio.FeatureSelector(), X, y, n_draws=3)
    assert sure.frequency.tolist() == [0, 0, 1, 0]


def test_it_has_a_report(more_data):
    X, y, _ = more_data
    selector = dubio.FeatureSelector().fit(X, y)
    page = render_report(gather(selector, X, y, target_name="dose"))
    assert "rows with lower bounds" in page


@pytest.mark.thorough
def test_the_command_ranks_for_it_and_writes_its_page(more_data, monkeypatch, tmp_path, capsys):
    X, y, _ = more_data
    table = pd.DataFrame(X, columns=list("abcd")).assign(dose=y.low)
    table.to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.setattr(
        question.Question, "_column", lambda self, name: question._Read(AtLeast(self.table[name].to_numpy()))
    )
    page = tmp_path / "page.html"
    assert run(["rank", str(tmp_path / "table.csv"), "--target", "dose", "--report", str(page)]) == 0
    assert "128 rows with lower bounds" in capsys.readouterr().out
    assert "rows with lower bounds" in page.read_text(encoding="utf-8")


def test_what_cannot_be_done_with_it_is_said(more_data):
    X, y, _ = more_data
    for call in (dubio.audit_labels, dubio.label_tolerance, dubio.label_fingerprints):
        with pytest.raises(InputError, match="the target holds lower bounds"):
            call(X, y)


def test_methods_that_do_not_declare_it_say_so(data):
    X, y = data
    with pytest.raises(InputError, match=r"method='fisher' needs classes or .*, but the target holds lower bounds"):
        dubio.FeatureSelector("fisher").fit(X, y)
    with pytest.raises(
        InputError, match="y cannot be used: the target holds lower bounds, and FisherScore needs classes"
    ):
        dubio.FisherScore().fit(X, y)
    with pytest.raises(InputError, match="y cannot be used: the target is numeric, and BoundScore needs lower bounds"):
        BoundScore().fit_problem(dubio.SmoothR2Score().read_problem(X, X[:, 0]))
    with pytest.raises(InputError, match="y has fewer than two bounds"):
        BoundScore().fit(X, AtLeast(np.full(100, np.nan)))
