"""A score added in one file: registered, it passes every common check and is known everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import dubio
from dubio.methods.base import ScoreSelector
from dubio.methods.parameters import estimator
from dubio.methods.register import METHODS, register
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.target.classes import OfClasses
from dubio_app.command.run import run
from dubio_app.report import write_report
from tests import test_common


@estimator
class MedianGapScore(ScoreSelector):
    """Classes: the largest gap between the medians of two classes, in standard deviations of the feature."""

    _name = "median_gap"
    _does = "gap between the medians of classes"
    _takes = ("hard",)
    _lower_is_better = False
    _scores_are_independent = True

    missing_label: Any = "auto"

    def _score(self, problem: Problem) -> Scored:
        known = problem.supervision
        assert isinstance(known, OfClasses)
        table = problem.table[known.labelled]
        codes = known.memberships[known.labelled].argmax(axis=1)
        medians = np.array([np.median(table[codes == k], axis=0) for k in np.unique(codes)])
        spread = table.std(axis=0)
        varies = (table != table[0]).any(axis=0)
        gap = np.divide(np.ptp(medians, axis=0), spread, out=np.full(len(spread), -np.inf), where=varies)
        return Scored(gap, columns={"spread": spread}, attributes={"medians_": medians})


@pytest.fixture(scope="module", autouse=True)
def registered():
    register(MedianGapScore)
    yield
    del METHODS["median_gap"]


@pytest.fixture
def case():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 6)) * [1, 10, 0.1, 5, 2, 1] + [0, 5, -3, 100, 1, 0]
    return MedianGapScore(), X, rng.integers(0, 3, size=60)


# Every common check, run on the toy.
globals().update(
    {
        name: check
        for name, check in vars(test_common).items()
        if name.startswith("test_") and name != "test_scikit_learn_checks"
    }
)


@parametrize_with_checks([MedianGapScore()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    X = pd.DataFrame(rng.normal(size=(80, 4)), columns=["gap", "p", "q", "r"])
    X["gap"] += 3 * (y == "b")
    X.assign(kind=y).to_csv(tmp_path / "toy.csv", index=False)
    return X, y, tmp_path


def test_it_tests_its_features(table):
    X, y, _ = table
    fitted = MedianGapScore(n_features_to_select="auto").fit(X, y)
    assert list(fitted.get_feature_names_out()) == ["gap"]
    assert fitted.medians_.shape == (2, 4)
    assert list(fitted.to_ranking().to_frame().columns[-1:]) == ["spread"]


def test_it_works_through_the_front_door_and_under_resampling(table):
    X, y, _ = table
    selector = dubio.FeatureSelector("median_gap", n_features_to_select=1).fit(X, y)
    assert selector.method_ == "median_gap" and list(selector.get_feature_names_out()) == ["gap"]
    assert "gap between the medians" in selector.explanation_
    assert dubio.stability(clone(selector), X, y, n_draws=5).frequency.tolist() == [1, 0, 0, 0]
    with pytest.raises(ValueError, match="'median_gap' needs classes, but the target is numeric"):
        dubio.FeatureSelector("median_gap").fit(X, X["p"])


def test_the_command_and_the_report_know_it(table, capsys):
    X, y, folder = table
    assert run(["methods"]) == 0
    assert "median_gap" in capsys.readouterr().out
    paths = [str(folder / "toy.csv"), "--report", str(folder / "toy.html")]
    assert run(["rank", *paths, "-t", "kind", "-m", "median_gap", "-k", "1", "--stability", "2"]) == 0
    assert "median_gap" in capsys.readouterr().out
    assert "gap between the medians" in (folder / "toy.html").read_text()
    write_report(folder / "own.html", MedianGapScore().fit(X, y), X, y)
    assert (folder / "own.html").stat().st_size > 1000
