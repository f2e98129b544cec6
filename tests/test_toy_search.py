"""A search added in one file: registered, it passes every common check and is known everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import dubio
from dubio.methods.base import Searched, SearchSelector
from dubio.methods.parameters import estimator
from dubio.methods.register import METHODS, register
from dubio.neighbors.greedy import greedy_search
from dubio.problem import Problem
from dubio.target.reader import Target
from dubio_app.command.run import run
from dubio_app.report import write_report
from tests import test_common


class ExplainedShare:
    """A criterion: the share of the target that a linear fit on the subset explains."""

    larger_is_better = True

    def __init__(self, table: np.ndarray, target: np.ndarray) -> None:
        self._table, self._target, self._subset = table, target, list[int]()

    def start(self, features):
        self._subset = list(features)
        return self._value(self._subset)

    def evaluate(self, candidates, change):
        return np.array([self._value([*self._subset, j]) for j in candidates])

    def apply(self, feature, change):
        self._subset.append(feature)

    def _value(self, subset):
        if not subset:
            return 0.0
        order = np.lexsort(self._table[:, sorted(subset)].T)  # sums do not depend on the order of the rows
        table, target = self._table[order][:, sorted(subset)], self._target[order]
        fitted = table @ np.linalg.lstsq(table, target, rcond=None)[0]
        return round(float((fitted**2).sum() / (target**2).sum()), 12)


@estimator
class LinearFitSearch(SearchSelector):
    """Classes or numbers: forward search for the features that a linear fit needs."""

    _name = "linear_fit_search"
    _does = "forward search for a linear fit"
    _takes = ("hard", "soft", "numbers")
    _target = "auto"
    _criterion = "share explained (high is good)"

    target: Target = "auto"
    missing_label: Any = "auto"

    def _search(self, problem: Problem, count: int | None) -> Searched:
        known = problem.supervision.labelled
        table = problem.standardized_table[known]
        varying = np.flatnonzero((table != table[0]).any(axis=0))
        constant = np.setdiff1d(np.arange(problem.n_features), varying)
        path = greedy_search(
            ExplainedShare(table, problem.supervision.target_matrix(known)), varying, direction="forward"
        )
        best = max(path.values.values())
        enough = min(size for size, value in path.values.items() if value >= 0.95 * best)
        scores = np.zeros(problem.n_features)
        scores[path.order()] = np.diff([step.value for step in path.steps], prepend=0.0)
        return Searched(
            path.subsets,
            path.values,
            np.concatenate([path.order(), constant]),
            scores,
            sufficient=(enough, "95 % of what all features explain"),
        )


@pytest.fixture(scope="module", autouse=True)
def registered():
    register(LinearFitSearch)
    yield
    del METHODS["linear_fit_search"]


@pytest.fixture
def case():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 6)) * [1, 10, 0.1, 5, 2, 1] + [0, 5, -3, 100, 1, 0]
    return LinearFitSearch(), X, rng.integers(0, 3, size=60)


# Every common check, run on the toy.
globals().update(
    {
        name: check
        for name, check in vars(test_common).items()
        if name.startswith("test_") and name != "test_scikit_learn_checks"
    }
)


@parametrize_with_checks([LinearFitSearch()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 4)), columns=["a", "b", "c", "d"])
    y = X["b"] - X["d"] + 0.05 * rng.normal(size=80)
    X.assign(size=y).to_csv(tmp_path / "toy.csv", index=False)
    return X, y, tmp_path


def test_it_is_a_search_and_says_what_suffices(table):
    X, y, _ = table
    assert METHODS["linear_fit_search"].is_search and not METHODS["fisher"].is_search
    fitted = LinearFitSearch(n_features_to_select="auto").fit(X, y)
    assert set(fitted.get_feature_names_out()) == {"b", "d"}
    assert fitted.n_relevant_ == fitted.n_sufficient_ == 2
    assert fitted.explanation_.startswith("2 features stand out")
    assert set(fitted.subsets_) == set(fitted.values_) == {1, 2, 3, 4}


def test_it_works_through_the_front_door_and_under_resampling(table):
    X, y, _ = table
    selector = dubio.FeatureSelector("linear_fit_search").fit(X, y)
    assert set(selector.get_feature_names_out()) == {"b", "d"}
    sure = dubio.stability(clone(selector), X, y, n_draws=4)
    assert sure.frequency.tolist() == [0, 1, 0, 1]


def test_the_command_and_the_report_know_it(table, capsys):
    X, y, folder = table
    assert run(["methods", "--csv"]) == 0
    listed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("linear_fit_search")]
    assert len(listed) == 1 and ",search," in listed[0]
    paths = [str(folder / "toy.csv"), "--report", str(folder / "toy.html")]
    assert run(["rank", *paths, "-t", "size", "-m", "linear_fit_search", "--stability", "2"]) == 0
    assert "linear_fit_search" in capsys.readouterr().out
    assert "share explained (high is good)" in (folder / "toy.html").read_text()
    write_report(folder / "own.html", LinearFitSearch().fit(X, y), X, y)
