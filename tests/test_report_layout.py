"""The report as people see it: on a phone and on a desk, light and dark, and on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tools.check_site import LOOK

from dubio import FeatureSelector, FisherScore, Ranking, audit_labels, label_tolerance, stability
from dubio.charts import (
    Chart,
    Curve,
    chance_chart,
    correlation_heat,
    rank_heat,
    ranking_chart,
    share_chart,
    size_chart,
    tolerance_chart,
)
from dubio.pipelines import evaluate_problem, usual_model
from dubio.plots import COLOURS
from dubio_app.report import render_report
from dubio_app.report.findings import gather_problem
from dubio_app.report.sections import rates_chart
from dubio_app.report.svg import figure
from tests.browser import View
from tests.made_up import made_up_stability, made_up_tolerance

#: Letters of drawings that are too small, in pixels of the screen.
SMALL = """
[...document.querySelectorAll("svg text")].filter(t => t.checkVisibility() && t.getBoundingClientRect().width > 0)
  .map(t => [parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a, t.textContent])
  .filter(([size]) => size < 10.99).map(([size, text]) => `${size.toFixed(1)} px: ${text}`)
"""
#: Letters of drawings that reach beyond the drawing.
CLIPPED = """
[...document.querySelectorAll("svg text")].filter(t => t.checkVisibility() && t.getBoundingClientRect().width > 0)
  .filter(t => {
    const box = t.getBoundingClientRect(), all = t.closest("svg").getBoundingClientRect();
    return box.left < all.left - 1 || box.right > all.right + 1 || box.top < all.top - 1 || box.bottom > all.bottom + 2;
  }).map(t => `${t.closest("svg").getAttribute("aria-label")}: ${t.textContent}`)
"""
#: Tables and drawings that need more room than the page has.
WIDE = """
[...document.querySelectorAll("main *")].filter(e => !e.closest("svg") && e.checkVisibility())
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => `${e.tagName} ${e.className}: ${e.textContent.trim().slice(0, 40)}`)
"""

#: Numbers and short words of tables that are broken in the middle: they stand on more than one line.
BROKEN = """
[...document.querySelectorAll("td.number, td.percent, td.word, td.yes, [data-table=features] th")].filter(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const lines = new Set([...range.getClientRects()].filter(r => r.width > 0).map(r => Math.round(r.top))).size;
    return lines > (cell.tagName === "TH" ? cell.textContent.split(/[ -]/).length : 1);
  }).map(cell => cell.textContent)
"""
#: Heads of tables that are boxes of their own, which paper does not repeat on the next page.
HEADS = """
[...document.querySelectorAll("thead th button")].filter(b => getComputedStyle(b).display !== "contents")
  .map(b => b.textContent)
"""
#: Tables with a part that is reached only by scrolling, and whether their edge says so.
SCROLLED = """
[...document.querySelectorAll(".scroll")].filter(box => box.scrollWidth > box.clientWidth + 1)
  .map(box => [box.getAttribute("aria-label"), getComputedStyle(box).backgroundAttachment])
"""


#: A colour of the page: its name, light and dark.
COLOUR = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)")


def _write(folder: Path, name: str, selector: Any, problem: Any, **more: Any) -> Path:
    path = folder / name
    findings = gather_problem(selector, problem, table_name="the clinic", command="dubio rank x.csv " * 12, **more)
    path.write_text(render_report(findings), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """One page with everything on it, one of a numeric target with categories, and one without a target."""
    folder = tmp_path_factory.mktemp("layout")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    X = pd.DataFrame(rng.normal(size=(150, 24)), columns=[f"measurement_{i:02d}_of_the_blood" for i in range(24)])
    X.iloc[:, :4] += 1.5 * y[:, None]
    X["WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"] = y + rng.normal(size=150)
    X["血圧の測定値が長い名前であること血圧の測定値が長い名前であること"] = y + rng.normal(size=150)
    X["colour of the sample"] = np.where(rng.random(150) < 0.7, np.array(["red", "green", "blue"])[y], "a longer name")
    X.iloc[::9, 2] = np.nan
    classes = np.array(["healthy people", "<b>ill</b>", "WWWWWWWWWWWWWWWW"])[y]
    given = np.where(np.arange(150) < 12, np.roll(classes, 1), classes)
    selector = FeatureSelector("linear_r2", n_features_to_select=8).fit(X, given)
    problem = selector.read_problem(X, given)
    tested = FeatureSelector().fit(X, given)
    plain = X.iloc[:, :26].fillna(0.0)
    everything = {
        "stability": stability(FeatureSelector("linear_r2", n_features_to_select=8), X, given, n_draws=5),
        "audit": audit_labels(plain.to_numpy(), given),
        "tolerance": label_tolerance(X, given),
        "evaluation": evaluate_problem(selector, usual_model("logistic"), problem, n_repeats=1, sizes=[1, 5, 27]),
        "identifiers": {"patient": [f"patient {i}" for i in range(150)]},
        "alerts": [{"sentence": "something is odd", "remedy": "look at it"}],
    }
    target = X.iloc[:, 0].to_numpy() * 1e4 + np.where(X["colour of the sample"] == "red", 5e4, 0.0)
    numbers = FeatureSelector("linear_r2", target="numbers", n_features_to_select=6).fit(X, target)
    alone = FisherScore(n_features_to_select=3).fit(X.iloc[:, :8].fillna(0.0), given)
    return {
        "everything": _write(folder, "everything.html", tested, problem, **everything),
        "numbers": _write(folder, "numbers.html", numbers, numbers.read_problem(X, target)),
        "scores": _write(folder, "scores.html", alone, alone.read_problem(X.iloc[:, :8].fillna(0.0), given)),
    }


@pytest.fixture(params=[(360, False), (360, True), (768, False), (1280, False), (1280, True)], ids=str, scope="module")
def screen(request, chromium) -> Iterator[View]:
    width, dark = request.param
    view = chromium.view(width=width, height=800, dark=dark)
    yield view
    view.page.context.close()


@pytest.mark.parametrize("name", ["everything", "numbers", "scores"])
def test_a_page_on_a_screen(screen, pages, name):
    screen.open(pages[name])
    assert screen.problems == [] and screen.requests == [pages[name].as_uri()]
    assert screen.run(LOOK) == []  # no scrolling sideways, contrast of 4.5:1
    assert screen.run(SMALL) == []
    assert screen.run(CLIPPED) == []


def test_a_table_that_goes_on_says_so(screen, pages):
    screen.open(pages["everything"])
    scrolled = dict(screen.run(SCROLLED))
    assert set(scrolled.values()) <= {"local, local, scroll, scroll"}  # a shadow at the edge
    assert "Top features with a correlation of 0.7 or more" not in scrolled
    if screen.run("document.documentElement.clientWidth") >= 1200:
        assert "All 27 features" not in scrolled


def test_one_drawing_of_each_pair_is_shown(screen, pages):
    screen.open(pages["everything"])
    shown = "[...document.querySelectorAll({!r})].filter(e => e.checkVisibility()).length"
    wide, narrow = screen.run(shown.format(".wide")), screen.run(shown.format(".narrow"))
    assert sorted([wide, narrow])[0] == 0 and max(wide, narrow) >= 8


@pytest.mark.parametrize("name", ["everything", "numbers", "scores"])
def test_a_page_on_paper(chromium, pages, name):
    """A4 has 182 mm between the margins, 688 pixels: nothing is cut off there, and tables keep their heads."""
    browser = chromium.view(width=688, height=1010, dark=True)
    browser.open(pages[name])
    browser.page.emulate_media(media="print")
    assert browser.run(WIDE) == []
    assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert browser.run(BROKEN) == []
    assert browser.run(HEADS) == []
    assert browser.run("[...document.querySelectorAll('svg')].every(s => s.getBoundingClientRect().height < 1000)")
    assert browser.run(
        "[...document.querySelectorAll('thead')].every(t => getComputedStyle(t).display === 'table-header-group')"
    )
    assert browser.run("[...document.querySelectorAll('tr')].every(r => getComputedStyle(r).breakInside === 'avoid')")
    assert re.search(rb"/MediaBox \[0 0 59[45][.\d]* 84[12][.\d]*\]", browser.page.pdf(prefer_css_page_size=True))


def svg(chart: Chart, narrow: bool = False) -> str:
    """The drawing for wide pages, or the one for phones."""
    wide, phone = re.findall("<svg.*?</svg>", figure(chart))
    return phone if narrow else wide


def test_bars_are_empty_at_zero(pages):
    nothing, some = np.zeros(2), np.array([0.0, 0.5])
    assert svg(share_chart("t", ["a", "b"], nothing, ["0 %", "0 %"])).count("<rect") == 0
    for narrow in (False, True):
        assert svg(share_chart("t", ["a", "b"], some, ["0 %", "50 %"]), narrow).count("<rect") == 1
        drawn = svg(tolerance_chart(made_up_tolerance(some, nothing, some), np.arange(2)), narrow)
        assert drawn.count('class="kept"') == 1 and drawn.count('class="whisker"') == 2


def test_rates_that_print_as_zero_have_no_bar():
    drawn = figure(rates_chart("t", ["a", "b", "c"], np.array([4e-4, -1e-17, np.nan])))
    assert drawn.count("<rect") == 0 and drawn.count(">0.0 %<") == 4 and drawn.count(">–<") == 2
    small, full = (svg(rates_chart("t", ["a", "b"], np.array([rate, 0.0]))) for rate in (0.01, 0.05))
    widths = [float(re.findall(r'<rect[^>]* width="([\d.]+)"', one)[0]) for one in (small, full)]
    assert small.count("<rect") == 1 and np.isclose(
        widths[0], widths[1] / 5, rtol=0.01
    )  # 1 % is a fifth of the least axis


@pytest.mark.parametrize("size", [3, 12, 20])
def test_the_legend_of_correlations_stays_inside(size):
    sign = np.ones((size, size), dtype=bool)
    sign[0, 1] = sign[1, 0] = False
    for narrow in (False, True):
        drawn = svg(correlation_heat([f"f{i}" for i in range(size)], np.eye(size), sign), narrow)
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', drawn)[1])
        start = float(re.search(r'<text x="([\d.]+)"[^>]*>no direction<', drawn)[1])
        assert start + 90 <= width
        assert drawn.count('class="undirected"') == 3 and 'class="kept"' not in drawn


def test_colours_that_mean_different_things_are_different(pages):
    """Plus, minus and no direction are three colours, light and dark, and the plots have those of a light page."""
    page = pages["everything"].read_text(encoding="utf-8")
    light, dark = ({name: pair[i] for name, *pair in COLOUR.findall(page)} for i in (0, 1))
    for colours in (light, dark):
        assert len({colours[name] for name in ("accent", "warn", "undirected", "left", "card")}) == 5
        assert len({colours[f"c{place}"] for place in range(8)}) == 8
    for role, name in {"plus": "accent", "minus": "warn", "kept": "accent", "unkept": "ink", "whisker": "soft"}.items():
        assert COLOURS[role] == light[name]
    same = ("related", "left", "undirected", *(f"c{place}" for place in range(8)))
    assert {name: COLOURS[name] for name in same} == {name: light[name] for name in same}


def test_words_and_lines_of_curves_keep_apart():
    sizes, values = np.arange(1, 16), np.geomspace(1e-12, 1.0, 15)
    curve = Curve(sizes, values, 13, "q-value", 0.05, True)
    for narrow in (False, True):
        drawn = svg(size_chart(curve, "13 related"), narrow)
        mark = float(re.search(r'y="([\d.]+)" class="chosen-name"', drawn)[1])
        others = re.findall(r'points="([^"]+)" fill="none" class="(?:threshold|curve|grid)"', drawn)
        assert len(others) > 5
        assert mark < min(float(point.split(",")[1]) for points in others for point in points.split())
        dots = svg(chance_chart(np.linspace(1e-9, 1.0, 10), np.arange(10) < 2), narrow)
        assert dots.count('class="unkept"') == 8 and dots.count('class="kept"') == 2


@pytest.mark.parametrize("narrow", [False, True])
def test_titles_of_axes_do_not_touch_the_numbers(narrow):
    one = np.ones(3)
    ranking = Ranking.from_scores(np.arange(3.0), names=["a", "b", "c"])
    sure = made_up_stability(3, ranking.names)
    for chart in (
        ranking_chart(ranking, np.arange(3), sure, from_worst=True),
        tolerance_chart(made_up_tolerance(one / 2, one / 4, one), np.arange(3)),
        rank_heat(sure, np.arange(3), 3),
    ):
        drawn = svg(chart, narrow)
        title = max(float(y) for y in re.findall(r'y="([\d.]+)" class="axis-name"', drawn))
        ticks = min(float(y) for y in re.findall(r'y="([\d.]+)" class="tick"', drawn))
        assert ticks - title >= 18


@pytest.mark.parametrize("narrow", [False, True])
def test_notes_stand_beside_or_under_their_bars(narrow):
    half = np.full(3, 0.5)
    drawn = svg(tolerance_chart(made_up_tolerance(half, half / 2, half), np.arange(3)), narrow)
    names = [float(y) for y in re.findall(r'y="([\d.]+)" class="name"', drawn)]
    notes = [float(y) for y in re.findall(r'y="([\d.]+)" class="value"', drawn)]
    tops = [float(y) for y in re.findall(r'<rect [^>]*y="([\d.]+)"[^>]*height="13" class="kept"', drawn)]
    assert len(names) == len(notes) == len(tops) == 3
    if narrow:
        assert all(name < top < top + 13 + 10 < note for name, top, note in zip(names, tops, notes, strict=True))
        assert all(note + 10 < name for note, name in zip(notes, names[1:], strict=False))
    else:
        assert all(top < note < top + 13 for top, note in zip(tops, notes, strict=True)) and names == notes


def test_categories_have_bars_and_numbers_have_densities(pages):
    page = pages["everything"].read_text(encoding="utf-8")
    drawn = page.split('<section id="drawn">')[1].split("</section>")[0]
    assert "share of each category by class" in drawn and 'class="area c0"' in drawn
    numbers = pages["numbers"].read_text(encoding="utf-8").split('<section id="drawn">')[1].split("</section>")[0]
    assert "in each category of colour of the sample" in numbers and "with the running mean" in numbers


def test_the_null_and_the_limits_are_shown(pages):
    everything, scores = (pages[name].read_text(encoding="utf-8") for name in ("everything", "scores"))
    assert "Compared with chance" in everything and "what chance would give" in everything
    assert "Compared with chance" not in scores and "they were ranked, but not tested" in scores
    assert "What this does not tell you" in everything and "--evaluate logistic" not in everything
    assert "--evaluate logistic" in scores


def test_the_null_is_that_of_uniform_numbers():
    """Of d independent p-values, the band holds the middle 95 %: literal, by simulation."""
    from scipy.stats import beta

    rng = np.random.default_rng(0)
    draws = np.sort(rng.random((20_000, 7)), axis=1)
    for i in (1, 4, 7):
        low, high = beta.ppf([0.025, 0.975], i, 8 - i)
        inside = np.mean((draws[:, i - 1] >= low) & (draws[:, i - 1] <= high))
        assert inside == pytest.approx(0.95, abs=0.006)
