"""Charts become pictures: displays draw what the selectors found, and every chart is drawn as SVG, PDF and PNG."""

from __future__ import annotations

import inspect
import io
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError

from dubio import (
    FisherScore,
    FuzzyRoughSearch,
    LinearR2Score,
    Ranking,
    audit_labels,
    charts,
    feature_charts,
    stability,
    votes,
)
from dubio.charts import Chart, Curve
from dubio.doubt.anchor import Anchor
from dubio.plots import LabelAuditDisplay, RankingDisplay, SubsetPathDisplay, draw
from dubio.simulate import flip_labels
from dubio_app.report.svg import figure
from tests.made_up import made_up_stability, made_up_tolerance

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
    moved = np.bincount(audit.codes[audit.doubtful]) / np.bincount(audit.codes)
    assert 1 - display.shares.diagonal() == pytest.approx(moved)  # what the models prefer, not what is wrong
    anchored = audit.with_anchor(Anchor.of(0.2))
    shares = LabelAuditDisplay.from_audit(anchored).shares
    assert 1 - shares.diagonal() == pytest.approx(anchored.error_rates)
    assert f"{int(audit.doubtful.sum())} of 150" in display.ax_.get_title()
    with pytest.raises(ValueError, match="did not audit its labels"):
        LabelAuditDisplay.from_estimator(FisherScore().fit(X, y))


def adjusted(ranking: Ranking) -> Ranking:
    """The same with p-values with and without given columns; of the last, none is known."""
    words = np.array(["only without", "only with", ""], dtype=object)
    columns = {"pvalue": np.array([0.5, 1e-20, np.nan]), "pvalue_without": np.array([1e-4, 1.0, np.nan])}
    return ranking.with_columns({**columns, "adjusting": words})


def every_chart() -> dict[str, Chart]:
    """A chart from each function, with hostile names and awkward numbers."""
    rng = np.random.default_rng(0)
    names = ["<b>$a$", "b & c", "Größe"]
    values, target, codes = rng.normal(size=60), rng.normal(size=60) * 1e6, np.arange(60.0) % 3
    values[::7] = codes[::11] = np.nan
    classes = np.eye(3)[np.arange(60) // 20]
    ranking, shown = Ranking.from_scores([3.0, np.nan, -1.0], names=names), np.arange(3)
    sure, thirds = made_up_stability(3, names), np.array([0.1, np.nan, 0.4])
    scores = rng.random((5, 3))
    evaluation = SimpleNamespace(
        sizes=np.array([1, 2, 60]),
        measure="accuracy",
        random_by_size=scores,
        all_features=scores[0],
        chance=scores[0] / 2,
        record=lambda: {"by_size": [{"mean": 0.5, "low": 0.3, "high": 0.8}] * 3},
    )
    audit = audit_labels(rng.normal(size=(60, 2)) + 5 * classes[:, :2], np.repeat(names, 20))
    said = np.where(rng.random((60, 2)) < 0.8, np.repeat(names, 20)[:, None], rng.choice(names, (60, 2)))
    people = audit_labels(rng.normal(size=(60, 2)), votes(dict(zip(names, said.T, strict=False))))
    against = {"memberships": classes, "classes": names, "order": shown}
    return {
        "ranking_chart": charts.ranking_chart(ranking, shown, sure, from_worst=True),
        "adjusting_chart": charts.adjusting_chart(adjusted(ranking), shown),
        "share_chart": charts.share_chart("shares", names, np.array([0.0, 0.1, 0.5]), ["0 %", "10 %", "50 %"]),
        "tolerance_chart": charts.tolerance_chart(made_up_tolerance(thirds, thirds / 2, thirds * 2), shown),
        "rank_heat": charts.rank_heat(sure, shown[:2], 3),
        "correlation_heat": charts.correlation_heat(names, np.array([[1, -0.5, np.nan]] * 3), np.eye(3) > 0),
        "confusion_chart": charts.confusion_chart(audit),
        "annotators_chart": charts.annotators_chart(people),
        "votes_chart": charts.votes_chart(people, 0),
        "size_chart": charts.size_chart(Curve(shown + 1, np.array([0.0, 1e-4, 0.3]), 0, "q", 0.05, True), "none"),
        "chance_chart": charts.chance_chart(rng.random(50) ** 9, np.arange(50) < 4),
        "evaluation_chart": charts.evaluation_chart(evaluation),
        "numbers_by_class": feature_charts.numbers_by_class("x", values, **against),
        "categories_by_class": feature_charts.categories_by_class("x", codes, names, **against),
        "number_by_number": feature_charts.number_by_number("x", values, target, names[0]),
        "number_by_category": feature_charts.number_by_category("x", codes, names, target, names[0]),
    }


def test_every_chart_is_drawn_by_both():
    drawn = every_chart()
    functions = {
        name
        for module in (charts, feature_charts)
        for name, made in inspect.getmembers(module, inspect.isfunction)
        if made.__annotations__.get("return") == "Chart" and not name.startswith("_")
    }
    assert set(drawn) == functions  # a new chart joins the list above, and nothing else
    for name, chart in drawn.items():
        page = str(figure(chart))
        assert chart.title and "nan" not in page, name
        tree = ElementTree.fromstring(f"<div>{page}</div>")
        drawings = tree.findall(".//svg")
        assert len(drawings) == (1 if chart.small else 2), name
        for drawing in drawings:
            assert drawing.get("aria-label") == drawing.find("title").text == chart.title
            texts = {element.text for element in drawing.iter("text")}
            assert all(any(row.startswith((text or "").rstrip("…")) for text in texts) for row in chart.rows), name
        axes = draw(chart)
        assert len(axes) == len(chart.panels)
        for form in ("svg", "pdf", "png"):
            buffer = io.BytesIO()
            axes[0].figure.savefig(buffer, format=form)
            assert buffer.tell() > 1000, (name, form)


def test_a_chart_without_anything_to_draw_is_empty():
    empty = np.full(5, np.nan)
    for chart in (
        charts.chance_chart(np.array([0.5, np.nan]), np.array([True, False])),
        charts.size_chart(Curve(np.arange(5), empty, 2, "score"), "2 kept"),
        feature_charts.number_by_number("x", empty, empty, "y"),
        feature_charts.number_by_category("x", empty, ["a"], empty, "y"),
    ):
        assert figure(chart) == ""
        draw(chart)
