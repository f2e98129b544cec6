"""The report as people see it: on a phone and on a desk, light and dark, and on paper."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tools.check_site import LOOK

from dubio import FeatureSelector, FisherScore, audit_labels, label_tolerance, stability
from dubio.pipelines.evaluation import evaluate_problem, usual_model
from dubio_app.report import render_report
from dubio_app.report.findings import gather_problem
from tests.browser import Browser, find_browser

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
def screen(request) -> Iterator[Browser]:
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium found: install Debian's chromium, or set DUBIO_CHROMIUM")
    width, dark = request.param
    browser = Browser(path, width=width, dark=dark)
    mobile = width < 500
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=mobile)
    yield browser
    browser.close()


@pytest.mark.parametrize("name", ["everything", "numbers", "scores"])
def test_a_page_on_a_screen(screen, pages, name):
    screen.messages.clear()
    screen.open(pages[name])
    assert screen.problems() == [] and screen.requests() == []
    assert screen.run(LOOK) == []  # no scrolling sideways, contrast of 4.5:1
    assert screen.run(SMALL) == []
    assert screen.run(CLIPPED) == []


def test_a_table_that_goes_on_says_so(screen, pages):
    screen.open(pages["everything"])
    scrolled = dict(screen.run(SCROLLED))
    assert set(scrolled.values()) <= {"local, local, scroll, scroll"}  # a shadow at the edge
    assert "Features that are alike" not in scrolled
    if screen.run("document.documentElement.clientWidth") >= 1200:
        assert "All 27 features" not in scrolled


def test_one_drawing_of_each_pair_is_shown(screen, pages):
    screen.open(pages["everything"])
    shown = "[...document.querySelectorAll({!r})].filter(e => e.checkVisibility()).length"
    wide, narrow = screen.run(shown.format(".wide")), screen.run(shown.format(".narrow"))
    assert sorted([wide, narrow])[0] == 0 and max(wide, narrow) >= 8


@pytest.mark.parametrize("name", ["everything", "numbers", "scores"])
def test_a_page_on_paper(pages, name):
    """A4 has 182 mm between the margins, 688 pixels: nothing is cut off there, and tables keep their heads."""
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium found: install Debian's chromium, or set DUBIO_CHROMIUM")
    browser = Browser(path, dark=True)
    try:
        browser.open(pages[name])
        browser.call("Emulation.setDeviceMetricsOverride", width=688, height=1010, deviceScaleFactor=1, mobile=False)
        browser.call("Emulation.setEmulatedMedia", media="print")
        assert browser.run(WIDE) == []
        assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert browser.run(BROKEN) == []
        assert browser.run(HEADS) == []
        assert browser.run("[...document.querySelectorAll('svg')].every(s => s.getBoundingClientRect().height < 1000)")
        assert browser.run(
            "[...document.querySelectorAll('thead')].every(t => getComputedStyle(t).display === 'table-header-group')"
        )
        assert browser.run(
            "[...document.querySelectorAll('tr')].every(r => getComputedStyle(r).breakInside === 'avoid')"
        )
        page = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
        assert re.search(rb"/MediaBox \[0 0 59[45][.\d]* 84[12][.\d]*\]", page)  # A4 in points
    finally:
        browser.close()


def test_bars_are_empty_at_zero(pages):
    from dubio_app.report.charts import interval_bars, share_bars

    nothing, some = np.zeros(2), np.array([0.0, 0.5])
    assert share_bars(["a", "b"], nothing, ["0 %", "0 %"], "t").count("<rect") == 0
    for narrow in (False, True):
        assert share_bars(["a", "b"], some, ["0 %", "50 %"], "t", narrow=narrow).count("<rect") == 1
        drawn = interval_bars(["a", "b"], some, nothing, some, ["", "words"], "l", "t", narrow=narrow)
        assert drawn.count("<rect") == 1


def test_rates_that_print_as_zero_have_no_bar():
    from dubio_app.report.content import _rates

    drawn = _rates(["a", "b", "c"], np.array([4e-4, -1e-17, np.nan]))
    assert drawn.count("<rect") == 0 and drawn.count(">0.0 %<") == 4 and drawn.count(">–<") == 2
    small = _rates(["a", "b"], np.array([0.01, 0.0]))
    widths = [float(width) for width in re.findall(r'<rect[^>]* width="([\d.]+)"', small)]
    full = [float(width) for width in re.findall(r'<rect[^>]* width="([\d.]+)"', _rates(["a"], np.array([0.5])))]
    assert len(widths) == 2 and np.allclose(widths, np.array(full) / 5, atol=0.1)  # 1 % is a fifth of the least axis


@pytest.mark.parametrize("size", [3, 12, 20])
def test_the_legend_of_correlations_stays_inside(size):
    from dubio_app.report.charts import correlation_heat

    sign = np.ones((size, size), dtype=bool)
    sign[0, 1] = sign[1, 0] = False
    for narrow in (False, True):
        drawn = correlation_heat([f"f{i}" for i in range(size)], np.eye(size), sign, narrow=narrow)
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', drawn)[1])
        start = float(re.search(r'<text x="([\d.]+)"[^>]*>no direction<', drawn)[1])
        assert start + 90 <= width
        assert drawn.count('class="undirected"') == 3 and 'class="heat"' not in drawn


def test_colours_that_mean_different_things_are_different(pages):
    page = pages["everything"].read_text(encoding="utf-8")
    found = [dict(re.findall(r"--(plus|minus|undirected): (#\w+)", block)) for block in page.split("--page:")[1:]]
    assert len(found) == 4 and all(len(set(colours.values())) == 3 for colours in found)


def test_words_and_lines_of_curves_keep_apart():
    from dubio_app.report.charts import chance_chart, size_chart

    sizes, values = np.arange(1, 16), np.geomspace(1e-12, 1.0, 15)
    for narrow in (False, True):
        drawn = size_chart(sizes, values, 13, "13 related", "q-value", 0.05, True, narrow=narrow)
        mark = float(re.search(r'y="([\d.]+)" class="chosen-name"', drawn)[1])
        others = re.findall(r'points="([^"]+)" fill="none" class="(?:threshold|curve|grid)"', drawn)
        assert mark < min(float(point.split(",")[1]) for points in others for point in points.split())
        dots = chance_chart(np.linspace(1e-9, 1.0, 10), np.arange(10) < 2, narrow=narrow)
        assert dots.count('class="unkept"') == 8 and dots.count('class="kept"') == 2


@pytest.mark.parametrize("narrow", [False, True])
def test_titles_of_axes_do_not_touch_the_numbers(narrow):
    from dubio_app.report.charts import interval_bars, rank_heat, ranking_bars

    one = np.ones(3)
    ranks = (one, 2 * one, 3 * one)
    for drawn in (
        ranking_bars(["a", "b", "c"], one, ["1", "1", "1"], one > 0, ranks, 3, narrow=narrow),
        interval_bars(["a", "b", "c"], one / 2, one / 4, one, ["", "", ""], "label", "title", narrow=narrow),
        rank_heat(["a", "b", "c"], np.eye(3), ["1", "2", "3"], narrow=narrow),
    ):
        title = max(float(y) for y in re.findall(r'y="([\d.]+)" class="axis-name"', drawn))
        ticks = min(float(y) for y in re.findall(r'y="([\d.]+)" class="tick"', drawn))
        assert ticks - title >= 18


def test_categories_have_bars_and_numbers_have_densities(pages):
    page = pages["everything"].read_text(encoding="utf-8")
    drawn = page.split('<section id="drawn">')[1].split("</section>")[0]
    assert "share of each category by class" in drawn and 'density"' in drawn
    numbers = pages["numbers"].read_text(encoding="utf-8").split('<section id="drawn">')[1].split("</section>")[0]
    assert "in each category of colour of the sample" in numbers and "with the running mean" in numbers


def test_the_null_and_the_limits_are_shown(pages):
    everything, scores = (pages[name].read_text(encoding="utf-8") for name in ("everything", "scores"))
    assert "Beside chance" in everything and "what chance would give" in everything
    assert "Beside chance" not in scores and "they were ranked, but not tested" in scores
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
