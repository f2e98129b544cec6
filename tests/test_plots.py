"""Displays draw what the selectors found."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError

from dubio import FisherScore, FuzzyRoughSearch, LinearR2Score, audit_labels, stability
from dubio.plots import LabelAuditDisplay, RankingDisplay, SubsetPathDisplay
from dubio.simulate import flip_labels

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def test_ranking_bars_are_the_scores_best_on_top(iris):
    X, y = iris
    selector = FisherScore(n_features_to_select=2).fit(X, y)
    display = RankingDisplay.from_estimator(selector, n_features=3)
    widths = [patch.get_width() for patch in display.ax_.patches]
    assert widths == pytest.approx(np.sort(selector.scores_)[::-1][:3])
    assert display.ax_.yaxis_inverted()
    colours = [patch.get_facecolor() for patch in display.ax_.patches]
    assert colours[0] == colours[1] != colours[2]  # two kept


def test_ranking_with_stability_draws_intervals(iris):
    X, y = iris
    sure = stability(FisherScore(n_features_to_select=2), X, y, n_draws=5)
    display = RankingDisplay.from_estimator(FisherScore().fit(X, y), stability=sure)
    spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in display.interval_ax_.patches]
    order = display.ranking.order
    assert np.allclose(spans, np.column_stack([sure.rank_low[order], sure.rank_high[order]]))


def test_ranking_into_given_axes_and_odd_names():
    X = pd.DataFrame({"$x_1$ costs $5": [0.0, 1, 0, 1], "constant": [1.0] * 4})
    selector = FisherScore().fit(X, [0, 1, 0, 1])
    _, ax = plt.subplots()
    display = RankingDisplay.from_estimator(selector, ax=ax)
    assert display.ax_ is ax
    display.figure_.canvas.draw()  # a lone dollar would fail here


def test_unfitted_is_refused():
    with pytest.raises(NotFittedError):
        RankingDisplay.from_estimator(FisherScore())


def test_path_of_a_search_ends_at_its_dependency():
    X, y = load_wine(return_X_y=True, as_frame=True)
    search = FuzzyRoughSearch().fit(X, y)
    display = SubsetPathDisplay.from_estimator(search)
    assert display.ax_.lines[0].get_ydata() == pytest.approx(search.dependencies_)
    assert display.curve.chosen == search.n_features_


def test_path_of_an_automatic_count_crosses_alpha(iris):
    X, y = iris
    noisy = X.assign(noise=np.random.default_rng(0).normal(size=len(X)))
    selector = LinearR2Score(n_features_to_select="auto").fit(noisy, y)
    display = SubsetPathDisplay.from_estimator(selector)
    assert display.curve.threshold == 0.05
    values = display.ax_.lines[0].get_ydata()
    kept = selector.n_features_
    assert kept < 5
    assert values[kept - 1] <= 0.05 < values[kept]


def test_path_of_a_plain_ranking_is_its_scores(iris):
    X, y = iris
    selector = FisherScore(n_features_to_select=1).fit(X, y)
    display = SubsetPathDisplay.from_estimator(selector)
    assert display.ax_.lines[0].get_ydata() == pytest.approx(np.sort(selector.scores_)[::-1])


def test_audit_shows_shares_of_given_classes(iris):
    X, y = iris
    audit = audit_labels(X, flip_labels(y, 0.2, random_state=0))
    display = LabelAuditDisplay.from_audit(audit)
    assert display.shares.sum(axis=1) == pytest.approx(1)
    assert 1 - display.shares.diagonal() == pytest.approx(audit.error_rates)
    assert f"{int(audit.doubtful.sum())} of 150" in display.ax_.get_title()
    with pytest.raises(ValueError, match="did not audit its labels"):
        LabelAuditDisplay.from_estimator(FisherScore().fit(X, y))
