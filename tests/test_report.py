"""The report: what the page says, and how it behaves in a real browser."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris

import dubio
from dubio import FeatureSelector, FisherScore, FuzzyRoughSearch, LinearR2Score, Ranking, audit_labels, stability, words
from dubio.charts import tick_name
from dubio.errors import NoFeatureStandsOut
from dubio.simulate import flip_labels, unsure_annotator
from dubio.target.ordered import ordered_classes
from dubio_app.command.run import run
from dubio_app.report import render_report, write_report
from dubio_app.report.findings import gather
from dubio_app.report.tables import as_json
from tests.made_up import made_up_stability

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "a\u2028b\x00c\x1b[31m",
    "--><!-- ]]> &amp; 'quotes' \"",
)
CLASSES = ('"; DROP', "</title><b>x")


def page_data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def column(table: dict[str, Any], label: str) -> list[Any]:
    return next(c["values"] for c in table["columns"] if c["label"] == label)


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory) -> Path:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 30)), columns=[*HOSTILE, *(f"f{i}" for i in range(25))])
    y = np.repeat(CLASSES, 50).astype(object)
    X.iloc[:50, :5] += 1.5
    y[[3, 70]] = y[[70, 3]]
    selector = FeatureSelector().fit(X, y)
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    write_report(
        path,
        selector,
        X,
        y,
        stability=stability(FisherScore(n_features_to_select=5), X, y, n_draws=5),
        audit=audit_labels(X, y),
        table_name="</style><script>alert(3)</script>",
        target_name=CLASSES[0],
        code="print('</script>')",
    )
    return path


@pytest.fixture(scope="module")
def wide_page(tmp_path_factory) -> Path:
    d = 20_000
    rng = np.random.default_rng(0)
    names = [f"gene_{i:05d}_expression" for i in range(d)]
    X = pd.DataFrame(rng.normal(size=(40, d)), columns=names)
    y = np.repeat(["ill", "well"], 20)
    X.iloc[:20, :20] += 2
    selector = FisherScore(n_features_to_select=25).fit(X, y)
    path = tmp_path_factory.mktemp("wide") / "report.html"
    write_report(path, selector, X, y, stability=made_up_stability(d, np.asarray(names, dtype=object)))
    return path


def test_page_holds_every_feature_in_order():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = FeatureSelector().fit(X, y)
    table = page_data(render_report(gather(selector, X, y)))["features"]
    ranking = selector.to_ranking()
    assert column(table, "feature") == ranking.names[ranking.order].tolist()
    assert "score" not in [one["label"] for one in table["columns"]]  # the place in a search is not shown
    assert column(table, "q-value") == pytest.approx(selector.qvalues_[ranking.order], rel=1e-2)
    assert column(table, "kept") == selector.support_[ranking.order].astype(int).tolist()


def test_same_findings_same_page():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pages = [render_report(gather(FeatureSelector().fit(X, y), X, y)) for _ in range(2)]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("kind", ["soft", "numbers", "none", "missing", "pairs"])
def test_every_form_of_supervision_has_a_page(kind):
    X, y = load_iris(return_X_y=True, as_frame=True)
    pairs: dict[str, Any] = {}
    if kind == "soft":
        y = unsure_annotator(y, 0.3, random_state=0).memberships
    elif kind == "numbers":
        X, y = load_diabetes(return_X_y=True, as_frame=True)
    elif kind == "none":
        y = None
    elif kind == "missing":
        y = y.where(y.index % 3 == 0)
        X = X.mask(np.random.default_rng(0).random(X.shape) < 0.05)
    else:
        y, pairs = None, {"must_link": [(0, 1), (50, 51)], "cannot_link": [(0, 50), (1, 120)]}
    selector = FeatureSelector().fit(X, y, **pairs)
    page = render_report(gather(selector, X, y))
    assert selector.supervision_.describe() in page
    assert page.count("<svg") >= 3 + min(6, X.shape[1])
    assert "nan" not in re.findall(r'(?:x|y|cx|cy|width|height|points)="([^"]*)"', page)
    assert not re.search(r'="[^"]*\bnan\b[^"]*"', page)


def test_page_says_when_nothing_stands_out():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(40, 6)))
    X.columns = [f"f{j}" for j in range(6)]
    with pytest.warns(UserWarning, match="no feature that stands out"):
        selector = FeatureSelector().fit(X, np.tile([0, 1], 20))
    assert "<h1>No feature stands out: nothing in the table" in render_report(gather(selector, X))


@pytest.mark.parametrize(("draws_with_some", "said"), [(0, "nothing was kept"), (3, "kept in 3 of")])
def test_nothing_kept_is_not_called_stable(draws_with_some, said):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(40, 6)), columns=list("abcdef"))
    with pytest.warns(NoFeatureStandsOut):
        selector = FeatureSelector().fit(X, np.tile([0, 1], 20))
    kept = np.zeros((10, 6), dtype=bool)
    kept[:draws_with_some, 0] = True
    sure = replace(made_up_stability(6, np.array(list("abcdef"), dtype=object)), selected=kept)
    page = render_report(gather(selector, X, np.tile([0, 1], 20), stability=sure))
    answer = page.split('<section id="answer">')[1].split("</section>")[0]
    assert said in answer and "stable" not in answer and "always the same" not in answer
    assert 'class="chips"' not in answer
    size = page.split('<section id="size">')[1].split("</section>")[0]
    assert "by number of features; none related" in size and 'class="chosen"' not in size and "enough" not in size


def test_sufficient_features_are_marked_among_the_related():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 2
    X = pd.DataFrame({"a": y + rng.normal(size=150), "noise": rng.normal(size=150)})
    for copy in "bcd":
        X[copy] = X["a"] + 0.05 * rng.normal(size=150)
    findings = gather(FeatureSelector().fit(X, y), X, y)
    assert 0 < findings.n_enough < findings.n_kept
    page = render_report(findings)
    chips = re.findall(r"<li( class=\"also\")?>", page.split('class="chips"')[1].split("</ul>")[0])
    assert [bool(also) for also in chips] == [i >= findings.n_enough for i in range(findings.n_kept)]
    assert "Filled: sufficient. Outlined: related too" in page
    assert f"by number of features; {findings.n_kept} related" in page
    assert f"; {'1 is' if findings.n_enough == 1 else f'{findings.n_enough} are'} enough" in page
    alone = gather(FeatureSelector("fisher", n_features_to_select=2).fit(X, y), X, y)
    assert alone.n_enough == 0 and 'class="also"' not in render_report(alone)


def test_columns_that_were_left_out_are_not_drawn():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = pd.DataFrame({"a": y + rng.normal(size=80), "b": rng.normal(size=80), "c": rng.normal(size=80), "zero": 0.0})
    findings = gather(FeatureSelector().fit(X, y), X, y)
    assert findings.ranking.left_out and len(findings.curve.sizes) == 3
    chance = render_report(findings).split("<h3>Compared with chance</h3>")[1].split("</figure>")[0]
    assert chance.count("<circle") == 2 * 3  # for wide pages, and for phones


def test_one_suggestion_for_one_row():
    """What "Labels in doubt" and "Correction of labels" say of a row is the same, doubtful or only the nearest."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = pd.DataFrame(rng.normal(size=(120, 3)) + 5.0 * y[:, None], columns=list("abc"))
    for given, order in ((y, None), (np.where(np.arange(120) < 8, (y + 1) % 3, y), None), (y, [2, 0, 1])):
        labels = given if order is None else ordered_classes(given, order)
        selector = FeatureSelector("linear_r2", n_features_to_select=2).fit(X, labels)
        audit = audit_labels(X, labels)
        data = page_data(render_report(gather(selector, X, labels, audit=audit)))
        mend, called = data["corrections"], data["corrections"]["called"]
        assert called == ("suggested label" if audit.doubtful.any() else "next likely label")
        table = column(data["suspects"], called)
        assert table == [mend["classes"][k] for k in mend["suggested"]][: len(table)]
        assert all(k != own for k, own in zip(mend["suggested"], mend["given"], strict=True))


def test_a_class_has_one_colour():
    rng = np.random.default_rng(0)
    y = np.repeat(["few", "many", "some"], [20, 60, 40])
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    X["a"] += 4.0 * (y == "many") + 8.0 * (y == "some")
    X["kind"] = np.where(y == "some", "x", "z")
    findings = gather(FeatureSelector().fit(X, y), X, y, audit=audit_labels(X[["a", "b", "c"]], y))
    page = render_report(findings)
    mend = page_data(page)["corrections"]
    assert mend["classes"] == ["few", "many", "some"] and mend["colours"] == [2, 0, 1]
    lanes = re.search(r'aria-label="a by class".*?</svg>', page)[0]
    drawn = re.findall(r'class="name"[^>]*>(\w+)</text>', lanes), re.findall(r'class="area c(\d)"', lanes)
    assert {name: int(colour) for name, colour in zip(*drawn, strict=True)} == dict(
        zip(mend["classes"], mend["colours"], strict=True)
    )


def test_numbers_on_axes():
    shown = {1000: "1,000", 20_000: "20,000", 12_500: "12,500", -5000: "-5,000", 0: "0", 0.25: "0.25", 2e6: "2e6"}
    assert {value: tick_name(value) for value in shown} == shown
    assert tick_name(1e-5) == "1e-5" and tick_name(0.1 + 0.2) == "0.3"
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(45_000, 9000, 80), "b": rng.normal(size=80)})
    y = X["income"].to_numpy() / 5
    page = render_report(gather(FeatureSelector("linear_r2", n_features_to_select=1).fit(X, y), X, y))
    assert ">40,000<" in page and ">10,000<" in page and not re.search(r'class="tick"[^>]*>[\d.]+e\+', page)


def test_page_agrees_with_the_selection_on_what_stands_out():
    rng = np.random.default_rng(106)
    X, y = rng.normal(size=(60, 4)), np.repeat([0, 1], 30)
    with pytest.warns(NoFeatureStandsOut, match=r"must reach 0\.025 \(half of alpha\)"):
        selector = LinearR2Score(n_features_to_select="auto").fit(X, y)
    assert 0.025 < selector.qvalues_.min() <= 0.05  # passes by itself, and is not clear enough
    findings = gather(selector, X, y)
    assert not findings.stands_out
    assert "<h1>No feature stands out" in render_report(findings)


@pytest.mark.parametrize("form", ["text", "declared", "nullable", "sparse"])
def test_every_table_a_selector_takes_has_a_page(tmp_path, form):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X: Any = np.round(rng.normal(size=(60, 3)) + 2 * y[:, None], 1)
    selector: Any = FisherScore()
    shown = X.copy()
    if form in ("text", "declared"):
        X = pd.DataFrame(X).astype(object)
        X[1] = np.where(y == 1, "old", "new")
        shown[:, 1] = y  # "new" comes before "old"
        X.columns = ["a", "b", "c"]
        X = X.astype({"a": float, "c": float}) if form == "text" else X.to_numpy()
        selector = FuzzyRoughSearch(nominal=None if form == "text" else [1])
    elif form == "nullable":
        X = pd.DataFrame(np.round(10 * X), columns=["a", "b", "c"]).astype("Int64")
        X.iloc[[0, 7], 0] = pd.NA
        shown = np.round(10 * shown)
        shown[[0, 7], 0] = np.nan
        selector = FeatureSelector()
    else:
        X = sparse.csr_matrix(X)
    selector.fit(X, y)
    np.testing.assert_array_equal(gather(selector, X, y).table, shown)
    write_report(tmp_path / "report.html", selector, X, y)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(column(page_data(page)["features"], "feature")) == 3


def test_constant_features_do_not_break_the_charts():
    X = pd.DataFrame({"a": [0.0, 1, 0, 1, 0, 1], "constant": 3.0, "empty": np.nan})
    selector = FeatureSelector(n_features_to_select=1).fit(X, [0, 1, 0, 1, 0, 1])
    page = render_report(gather(selector, X))
    assert not re.search(r'="[^"]*\b(nan|inf)\b[^"]*"', page)


def test_a_column_with_one_category_and_blanks_is_drawn():
    """Found with a clinic's table: a column that holds only "yes", beside empty cells."""
    y = np.repeat(["ill", "well"], 30)
    X = pd.DataFrame({"sure": np.where(y == "ill", "yes", None), "x": np.arange(60.0) % 7})
    selector = FeatureSelector("fisher").fit(X, y)
    findings = gather(selector, X, y, audit=audit_labels(X[["x"]].assign(z=(y == "ill") * 1.0), y))
    assert findings.cells(0, np.array([0, 59])) == ["yes", "–"]
    assert "yes" in render_report(findings)


def test_another_table_is_refused():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = FeatureSelector().fit(X, y)
    with pytest.raises(ValueError, match="shape"):
        gather(selector, X.iloc[:, :3])
    with pytest.raises(ValueError, match="does not have the same column names"):
        gather(selector, X.rename(columns=str.upper))


def test_correlations_of_categories_have_no_sign():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    ward = np.array(["a", "b", "c"])[np.digitize(x, [-0.6, 0.6])]
    sex = np.where(x + 0.2 * rng.normal(size=120) > 0, "f", "m")  # f is high, m is low
    X = pd.DataFrame({"x": x, "ward": ward, "sex": sex, "back": -x + 0.1 * rng.normal(size=120)})
    y = (x > 0).astype(int)
    page = render_report(gather(FeatureSelector("fisher").fit(X, y), X, y))
    assert "no direction" in page and re.search(r"x and back: [-−]0\.99", page)
    for pair in ("x and ward", "ward and sex", "x and sex", "back and sex"):
        shown = re.search(f"<title>{pair}: ([^<]+)</title>", page)[1]
        assert re.fullmatch(r"0\.\d+, without a direction", shown), (pair, shown)
    numbers = X[["x", "back"]]
    assert "no direction" not in render_report(gather(FeatureSelector("fisher").fit(numbers, y), numbers, y))


def test_every_sentence_has_a_place():
    """Each code of a sentence or a column is named where it is said, whole or as the start of a computed one."""
    root = Path(dubio.__file__).parents[1]
    files = [path for path in root.rglob("*") if path.suffix in (".py", ".j2") and path != Path(words.__file__)]
    places = "".join(path.read_text(encoding="utf-8") for path in files)
    computed = tuple(re.findall(r'f"([\w ]+ )\{', places))
    parts = ("visits ", "constant ", "identifier ", "text ")  # see Alert
    for code in (*words.SENTENCES, *words.COLUMNS):
        named = re.search(f"[\"']{re.escape(code)}[\"']", places) or code.startswith((*computed, *parts))
        assert named or code.endswith((" remedy", " left out")), code


def test_every_sentence_of_the_page_comes_from_its_words(monkeypatch):
    """If each sentence is a mark, the page has no other paragraph, title or item but those of the library."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = load_iris().target_names[flip_labels(y, 0.1, random_state=0)]
    selector = FeatureSelector().fit(X, labels)
    findings = gather(selector, X, labels, audit=audit_labels(X, labels), stability=made_up_stability(4, X.columns))
    mark_all(monkeypatch)
    page = re.sub("<svg.*?</svg>", "", render_report(findings), flags=re.DOTALL)
    main = page.split("<main>")[1].split('<script type="application/json"')[0]
    said = re.findall(
        r"<(?:p|h\d|li|caption|summary|figcaption)(?: [^>]*)?>(.*?)</(?:p|h\d|li|caption|summary|figcaption)>", main
    )
    ours = [text for text in said if "§" not in text and text.strip()]
    of_the_library = [selector.explanation_, selector.supervision_.describe() + ".", *X.columns]
    left = [text for text in ours if html.unescape(text) not in of_the_library]
    assert len(said) > 40 and all("Rows " in text or "<kbd>" in text or "Download" in text for text in left), left


def mark_all(monkeypatch) -> None:
    for code in words.SENTENCES:
        monkeypatch.setitem(words.SENTENCES, code, f"§{code}§")
    for column, (name, _) in words.COLUMNS.items():
        monkeypatch.setitem(words.COLUMNS, column, (name, f"§{column}§"))


def without_marks(text: str) -> str:
    """What is left of a text without its marks and what stands between them."""
    return re.sub(r"§[^§]*§", "", text).strip(" .\n")


def test_python_the_command_and_the_page_say_the_same(monkeypatch, tmp_path, capsys):
    """With marks in place of sentences, all three front ends show the same ones, and hardly anything else."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    X["copy"], X["name"] = np.repeat([3.0, 7.0], 30), [f"p{i}" for i in range(60)]
    X.loc[4, "a"] = np.nan
    X["d"] = 1.0
    y = np.repeat(["ill", "well"], 30)
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    mark_all(monkeypatch)
    selector = FeatureSelector().fit(X, y)
    labels = selector.supervision_.describe()
    python = f"{selector.explanation_} {selector.to_ranking().headline()} {selector.alerts_[0]}"
    table, page, small = (str(tmp_path / name) for name in ("t.csv", "t.html", "small.csv"))
    more = ["--stability", "0", "--tolerance", "--evaluate", "logistic", "--save-table", small]
    assert run(["rank", table, "-t", "y", "--report", page, *more]) == 0
    captured = capsys.readouterr()
    printed = [line for line in captured.out.splitlines() if not re.search(r" {3}|─", line)]  # besides the table
    command = " ".join([*printed, *captured.err.splitlines()])
    shown = html.unescape(Path(page).read_text(encoding="utf-8"))
    everywhere = ("left out", "headline", "missing cells", "joined labels")
    in_some = {"method": (python, shown), "alert": (python, command), "copy": (shown,)}
    in_some |= dict.fromkeys(("evaluation", "tested"), (command, shown)) | {"table": (command,), "size": (shown,)}
    for code, places in {**dict.fromkeys(everywhere, (python, command, shown)), **in_some}.items():
        assert all(re.search(f"§{code}", place, re.IGNORECASE) for place in places), code
    assert without_marks(selector.explanation_) == labels
    assert {without_marks(line) for line in printed} <= {"", labels}
    assert {without_marks(line) for line in captured.err.splitlines()} == {"dubio:"}
    assert run(["audit", table, "-t", "y", "--ignore", "copy"]) == 0
    assert "§skills" in capsys.readouterr().out


def test_json_cannot_leave_its_script_element():
    packed = as_json({"t": ["</script>", "<!--", "\u2028", "&lt;"]})
    assert not set("<>&\u2028\u2029") & set(packed)
    assert json.loads(packed) == {"t": ["</script>", "<!--", "\u2028", "&lt;"]}


def test_hostile_text_never_becomes_markup(hostile_page):
    page = hostile_page.read_text(encoding="utf-8")
    assert page.count("<script") == 2  # the data and the page's own
    assert "<img" not in page
    assert "onerror=alert(1)&gt;" in page  # as text
    assert "\x00" not in page and "\x1b" not in page
    assert "{{ 7 * 7 }}" in page  # nor is it a template


def test_hostile_page_in_browser(browser, hostile_page):
    browser.open(hostile_page)
    assert browser.problems == []
    assert browser.requests == [hostile_page.as_uri()]
    assert browser.run("document.querySelectorAll('img').length") == 0
    text = browser.run("document.body.innerText")
    assert HOSTILE[0] in text and CLASSES[0] in text
    assert browser.run("document.title").startswith(CLASSES[0])
    cells = browser.run("[...document.querySelectorAll('[data-table=features] td.text')].map(c => c.textContent)")
    assert set(HOSTILE[:3]) <= set(cells)
    given = browser.run("[...document.querySelectorAll('[data-table=suspects] td.text')].map(c => c.textContent)")
    assert set(CLASSES) <= set(given)


def test_tables_sort_and_search(browser, hostile_page):
    browser.open(hostile_page)
    box = "document.querySelector('[data-table=features]')"

    def cells(column: int) -> list[str]:
        return browser.run(f"[...{box}.querySelectorAll('tbody tr')].map(r => r.cells[{column}].textContent)")

    def sorts() -> list[str]:
        return browser.run(f"[...{box}.querySelectorAll('thead th')].map(h => h.getAttribute('aria-sort'))")

    assert cells(0) == [str(i) for i in range(1, 26)]
    assert sorts()[0] == "ascending"
    browser.run(f"{box}.querySelectorAll('thead button')[0].click()")
    assert cells(0) == [str(i) for i in range(30, 5, -1)]
    assert sorts()[:2] == ["descending", "none"]
    browser.run(f"{box}.querySelectorAll('thead button')[1].click()")
    names = [name for name in cells(1) if re.fullmatch(r"f\d+", name)]
    assert names == sorted(names, key=lambda name: int(name[1:]))  # f2 before f10
    browser.run(f"(i => {{ i.value = 'IMG'; i.dispatchEvent(new Event('input')) }})({box}.querySelector('input'))")
    assert cells(1) == [HOSTILE[0]]
    assert "1 to 1 of 1 features, filtered from 30" in browser.run(f"{box}.querySelector('.status').textContent")
    browser.run(f"(i => {{ i.value = 'nowhere'; i.dispatchEvent(new Event('input')) }})({box}.querySelector('input'))")
    assert cells(1) == []
    browser.run(f"(i => {{ i.value = ''; i.dispatchEvent(new Event('input')) }})({box}.querySelector('input'))")
    browser.run(f"{box}.querySelector('input[type=checkbox]').click()")
    assert set(cells(3)) == {"yes"} and set(cells(2)) <= {"sufficient", "related"}
    assert browser.problems == []


def test_pages_of_a_table(browser, hostile_page):
    browser.open(hostile_page)
    box = "document.querySelector('[data-table=features]')"
    count = f"{box}.querySelectorAll('tbody tr').length"
    assert browser.run(count) == 25
    browser.run(f"{box}.querySelector('[data-step=\"1\"]').click()")
    assert browser.run(count) == 5
    assert browser.run(f"{box}.querySelector('[data-step=\"1\"]').disabled")
    browser.run(f"(s => {{ s.value = '100'; s.dispatchEvent(new Event('change')) }})({box}.querySelector('select'))")
    assert browser.run(count) == 30


def test_keyboard_reaches_sorting_and_the_theme(browser, hostile_page):
    browser.open(hostile_page)
    browser.run("document.querySelector('[data-table=features] thead button').focus()")
    assert browser.run("document.activeElement.tagName") == "BUTTON"
    browser.press("Enter")
    assert browser.run("document.querySelector('thead th').getAttribute('aria-sort')") == "descending"
    background = "getComputedStyle(document.body).backgroundColor"
    light = browser.run(background)
    browser.run("document.getElementById('theme').click()")
    assert browser.run(background) != light


def test_page_is_named_for_screen_readers(browser, hostile_page):
    browser.open(hostile_page)
    assert browser.run("document.documentElement.lang") == "en"
    assert browser.run(
        "[...document.querySelectorAll('svg')].every(s => s.getAttribute('aria-label') && s.role !== '')"
    )
    assert browser.run("[...document.querySelectorAll('table')].every(t => t.caption && t.caption.textContent.trim())")
    assert browser.run("[...document.querySelectorAll('th')].every(h => h.scope)")
    assert browser.run("[...document.querySelectorAll('input, select')].every(i => i.labels.length === 1)")
    levels = browser.run("[...document.querySelectorAll('h1, h2, h3')].map(h => +h.tagName[1])")
    assert levels[0] == 1 and set(levels[1:]) == {2, 3}


def test_wide_table_is_small_and_quick(browser, wide_page):
    assert wide_page.stat().st_size < 5_000_000
    browser.open(wide_page)
    assert browser.problems == []
    assert browser.run("+document.documentElement.dataset.ready") < 2000
    assert browser.run("document.querySelectorAll('tbody tr').length") < 100
    spent = browser.run(
        """(() => {
            const box = document.querySelector("[data-table=features]"), start = performance.now();
            box.querySelectorAll("thead button")[1].click();
            const input = box.querySelector("input");
            input.value = "gene_01234";
            input.dispatchEvent(new Event("input"));
            return performance.now() - start;
        })()"""
    )
    assert spent < 2000
    assert browser.run("document.querySelector('[data-table=features] td.text').textContent") == "gene_01234_expression"


def test_page_prints(browser, hostile_page):
    browser.open(hostile_page)
    browser.page.emulate_media(media="print")
    assert browser.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert browser.run("getComputedStyle(document.querySelector('.controls')).display") == "none"
    assert len(browser.page.pdf()) > 10_000


def test_report_without_a_browser_script_still_shows_rows(hostile_page):
    page = hostile_page.read_text(encoding="utf-8")
    body = page.split('data-table="features"')[1].split("</table>")[0]
    assert body.count("<tr>") == 26  # the header and 25 rows


def test_ranking_in_a_notebook_is_escaped_and_short():
    names = ["<b>bold</b>", *(f"f{j}" for j in range(99))]
    shown = Ranking.from_scores(np.arange(100.0), names=names)._repr_html_()
    assert "<b>" not in shown and "&lt;b&gt;bold" in shown
    assert shown.count("<tr") == 1 + 50 + 1 and "and 50 more" in shown


def test_suspicious_labels_show_cells_as_they_are_written():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = np.where(x > 0, "ill", "well")
    y[:6] = np.where(y[:6] == "ill", "well", "ill")
    cells = [f"{value + 5:.1f} mg".replace(".", ",") if value > -1 else "<4,0 mg" for value in x]
    X = pd.DataFrame({"dose": cells, "pulse": rng.normal(size=80)})
    findings = gather(FeatureSelector().fit(X, y), X, y, audit=audit_labels(X, y))
    table = page_data(render_report(findings))["suspects"]
    rows = column(table, "row")
    assert len(rows) and column(table, "dose") == [cells[row - 1] for row in rows]
    assert all(isinstance(value, float) for value in column(table, "pulse"))


def test_q_values_and_the_order_are_explained_as_they_are():
    X, y = load_iris(return_X_y=True, as_frame=True)
    page = render_report(gather(FeatureSelector().fit(X, y), X, y))
    assert "if the features with this q-value or a smaller one are kept" in page and "up to this one" not in page
    assert "Related features come first, in the order of the method" in page
    assert "of their scores, best first" not in page


def test_audit_table_has_the_suspicious_rows():
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = flip_labels(y, 0.1, random_state=0)
    audit = audit_labels(X, labels)
    table = page_data(render_report(gather(FeatureSelector().fit(X, labels), X, labels, audit=audit)))["suspects"]
    assert set((np.flatnonzero(audit.doubtful) + 1).tolist()) <= set(column(table, "row"))
    assert column(table, "row")[0] == 1 + int(np.argmin(np.where(audit.rank > 0, audit.rank, 999)))


@pytest.mark.parametrize("command", ["rank", "audit"])
def test_notes_on_columns_stand_once_in_a_report(tmp_path, command):
    rng = np.random.default_rng(0)
    crp = [*(f"{value:.1f} mg/l" for value in rng.normal(50, 9, 55)), *("-" * 5)]
    pd.DataFrame({"crp": crp, "age": rng.normal(size=60), "y": ["a", "b"] * 30}).to_csv(tmp_path / "t.csv", index=False)
    words = [command, str(tmp_path / "t.csv"), "-t", "y", "--report", str(tmp_path / "r.html"), "--quiet"]
    assert run([*words, "--stability", "0"] if command == "rank" else words) == 0
    page = html.unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert page.count("olumn 'crp': 5 cells with '-' were read as missing") == 1
