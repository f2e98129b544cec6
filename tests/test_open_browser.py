"""The page of ``dubio open`` in Chromium: from a file to what is taken away, for everybody, and hostile tables."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dubio_app.command.run import run
from dubio_app.page.project import Project
from tests.browser import View
from tests.corrections_case import write_case

pytest.importorskip("starlette", reason="the page needs starlette: pip install 'dubio[app]'")
pytestmark = pytest.mark.thorough
STEPS = ("table", "question", "answer", "labels", "take")
_LONG = 240_000  # milliseconds to wait for work on a busy machine


class Served:
    """A server in a process of its own, with its project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        words = [sys.executable, "-m", "dubio", "open", "--no-browser", "--project", str(self.folder)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split()[-1]

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    server = Served(tmp_path_factory.mktemp("served"))
    yield server
    server.end()


def clinic(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n) == 1
    table = pd.DataFrame(rng.normal(size=(n, 5)).round(3), columns=["marker", "age", "noise", "more", "other"])
    table["marker"] += 2 * ill
    return table.assign(diagnosis=np.where(ill, "ill", "well"))


def drop(view: View, path: Path) -> None:
    """Drop a file on the page, as it comes from a folder of the system."""
    place = view.page.locator("#drop").bounding_box()
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    devtools = view.page.context.new_cdp_session(view.page)
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send(
            "Input.dispatchDragEvent", {"type": kind, "x": place["x"] + 30, "y": place["y"] + 9, "data": data}
        )
    devtools.detach()


def choose_table(view: View, served: Served, path: Path) -> None:
    """Open the page and drop a file; everything else is clicked."""
    view.page.goto(served.address)
    drop(view, path)
    view.page.locator("#project").filter(has_text=path.name).wait_for(timeout=_LONG)
    view.page.wait_for_selector("#columns .long-row", timeout=_LONG)
    step(view, "question")


def step(view: View, name: str) -> None:
    view.page.click(f'[data-step="{name}"]')
    view.page.wait_for_selector(f"#{name}:not([hidden])")


def pick(view: View, label: str, *names: str) -> None:
    """Choose columns in a picker, with the mouse."""
    picker = view.page.locator(".picker", has_text=label).first
    picker.locator(".picker-open").click()
    for name in names:
        picker.locator(f'[data-column="{name}"]').click()
    if picker.get_by_text("Done").count():
        picker.get_by_text("Done").click()


def find(view: View) -> None:
    """Ask the question and wait for the whole answer."""
    view.page.wait_for_selector("#question [data-run]:not([disabled])", timeout=_LONG)
    view.page.click("#question [data-run]")
    view.page.wait_for_selector("#found:not([hidden])", timeout=_LONG)
    view.page.locator("#spoken").filter(has_text="The answer is ready").wait_for(state="attached", timeout=_LONG)


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Where two answers differ: words must be the same, numbers the same but for the last digits."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() ^ other.keys():
            return [f"{where}: only one has {sorted(one.keys() ^ other.keys())}"]
        return [each for key in one for each in differences(one[key], other[key], f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            each for i, pair in enumerate(zip(one, other, strict=True)) for each in differences(*pair, f"{where}.{i}")
        ]
    if isinstance(one, float) and isinstance(other, float) and np.isclose(one, other, rtol=1e-9, atol=1e-12):
        return []
    return [] if one == other else [f"{where}: {one!r} and {other!r}"]


def compare(view: View, served: Served, capfd, monkeypatch) -> dict[str, Any]:
    """The answer of the page is that of the command, number by number; return it."""
    step(view, "take")
    with view.page.expect_download() as kept:
        view.page.click('a[href="/take/kept"]')
    with view.page.expect_download() as paper:
        view.page.click('a[href="/take/paper"]')
    assert Path(paper.value.path()).read_bytes()[:2] == b"PK"
    shown = json.loads((served.folder / "answer.json").read_text())["told"]
    words = Project(served.folder).words("rank")
    assert " ".join(words[:2]) in view.page.inner_text("#command")
    monkeypatch.chdir(served.folder)
    capfd.readouterr()
    assert run([*words, "--report=again.html", "--save-table=again.csv", "--json", "--quiet"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert differences({**shown, "notes": []}, {**told, "notes": []}) == []
    assert Path(kept.value.path()).read_text() == Path("again.csv").read_text()
    for name in ("again.csv", "again.html"):
        Path(name).unlink()
    assert view.problems == []
    return dict(shown)


# ---- six messy tables, from the file to the kept columns, without a keyboard ---------------------------------------


def test_a_workbook_with_a_title_and_merged_cells(browser, served, tmp_path, capfd, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    table, book = clinic().assign(ward="N"), openpyxl.Workbook()
    sheet = book.active
    for line in (["Klinikum Nord, Export"], [], list(table), *table.to_numpy().tolist()):
        sheet.append(line)
    sheet.merge_cells("A1:G1")
    for row in range(4, 60, 3):  # the ward stands over three rows
        sheet.merge_cells(start_row=row, end_row=row + 2, start_column=7, end_column=7)
    book.save(tmp_path / "export.xlsx")
    choose_table(browser, served, tmp_path / "export.xlsx")
    pick(browser, "Column with the class", "diagnosis")
    find(browser)
    assert compare(browser, served, capfd, monkeypatch)["target"] == "diagnosis"


def test_semicolons_and_decimal_commas(browser, served, tmp_path, capfd, monkeypatch):
    table = clinic().rename(columns={"other": "größe"})
    table["more"] = [f"{value:.2f} mg".replace(".", ",") for value in table["more"]]
    table.to_csv(tmp_path / "labor.csv", sep=";", decimal=",", index=False, encoding="cp1252")
    choose_table(browser, served, tmp_path / "labor.csv")
    assert "mg" in browser.page.locator(".column", has_text="more").first.text_content()
    pick(browser, "Column with the class", "diagnosis")
    pick(browser, "Known already", "age")
    find(browser)
    assert "marker" in compare(browser, served, capfd, monkeypatch)["kept"]


def test_a_file_of_spss(browser, served, tmp_path, capfd, monkeypatch):
    pyreadstat = pytest.importorskip("pyreadstat")
    table = clinic()
    table["diagnosis"] = (table["diagnosis"] == "ill").astype(float)
    labels = {"diagnosis": {0.0: "well", 1.0: "ill"}}
    pyreadstat.write_sav(table, str(tmp_path / "study.sav"), variable_value_labels=labels)
    choose_table(browser, served, tmp_path / "study.sav")
    pick(browser, "Column with the class", "diagnosis")
    find(browser)
    assert "marker" in compare(browser, served, capfd, monkeypatch)["kept"]


def test_survival(browser, served, tmp_path, capfd, monkeypatch):
    table, rng = clinic(80), np.random.default_rng(1)
    times = np.round(10 * np.exp(-table["marker"] + 0.5 * rng.normal(size=80)), 1)
    table = table.drop(columns="diagnosis").assign(months=times, died=rng.random(80) < 0.7)
    table.to_csv(tmp_path / "survival.csv", index=False)
    choose_table(browser, served, tmp_path / "survival.csv")
    browser.page.click("#kinds label:has([value=time])")
    pick(browser, "Column with the time", "months")
    pick(browser, "whether it happened", "died")
    find(browser)
    assert "marker" in compare(browser, served, capfd, monkeypatch)["kept"]


def test_three_annotators(browser, served, tmp_path, capfd, monkeypatch):
    table, rng = clinic(70), np.random.default_rng(2)
    truth = table.pop("diagnosis").to_numpy()
    for name in ("ann", "bob", "eve"):
        wrong = rng.random(70) < 0.15
        table[name] = np.where(wrong, np.where(truth == "ill", "well", "ill"), truth)
        table.loc[rng.random(70) < 0.1, name] = None
    table.to_csv(tmp_path / "votes.csv", index=False)
    choose_table(browser, served, tmp_path / "votes.csv")
    browser.page.click("#kinds label:has([value=annotators])")
    pick(browser, "Columns of the annotators", "ann", "bob", "eve")
    find(browser)
    assert "marker" in compare(browser, served, capfd, monkeypatch)["kept"]
    assert browser.page.locator('a[href="/take/likely"]').count() == 1
    step(browser, "labels")
    assert "ann" in browser.page.inner_text("#people ul")


def test_three_thousand_columns(browser, served, tmp_path, capfd, monkeypatch):
    rng = np.random.default_rng(3)
    ill = rng.integers(0, 2, 80) == 1
    table = pd.DataFrame(rng.normal(size=(80, 3000)).round(3), columns=[f"gene {j}" for j in range(3000)])
    table["gene 7"] += 3 * ill
    table.assign(diagnosis=np.where(ill, "ill", "well")).to_csv(tmp_path / "genes.csv", index=False)
    choose_table(browser, served, tmp_path / "genes.csv")
    assert browser.run("document.querySelectorAll('.column').length") < 60  # only what is seen is there
    browser.page.locator(".picker-open").first.click()
    assert browser.run("document.querySelectorAll('#target [data-column]').length") <= 200
    browser.page.locator("#target input").fill("diagn")
    browser.page.click('#target [data-column="diagnosis"]')
    find(browser)
    assert browser.run("document.querySelectorAll('.feature').length") < 60
    assert compare(browser, served, capfd, monkeypatch)["kept"][0] == "gene 7"


# ---- the answer is alive, and decisions show before and after ------------------------------------------------------


def test_the_whole_way_for_everybody(browser, served, tmp_path):
    """Example, refusals, line, labels, checks, undo; no serious fault on any step, light and dark, wide and narrow."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the tests need axe-playwright-python")
    page = browser.page
    table = clinic().astype({"more": object})
    table.loc[[3, 9], "more"] = "n/d"
    table.to_csv(tmp_path / "clinic.csv", index=False)
    choose_table(browser, served, tmp_path / "clinic.csv")
    step(browser, "table")
    assert "One thing to settle first" in page.inner_text("#problems")
    page.get_by_role("button", name="'n/d' means missing: more").click()
    page.wait_for_selector("#problems", state="hidden", timeout=_LONG)
    step(browser, "question")
    pick(browser, "Column with the class", "diagnosis")
    find(browser)
    assert "marker" in page.inner_text("#first h2")
    page.locator("#picture svg").first.wait_for(timeout=_LONG)
    order = page.locator(".feature-name").all_inner_texts()
    page.select_option("#feature-sort", "feature")
    assert page.locator(".feature-name").all_inner_texts() == sorted(order, key=str.casefold)
    page.select_option("#feature-sort", "rank")
    page.check("#feature-kept")
    assert page.locator(".feature-name").count() == int(page.input_value("#line"))
    page.uncheck("#feature-kept")
    page.fill("#feature-search", "noi")
    assert page.locator(".feature-name").all_inner_texts() == ["noise"]
    page.fill("#feature-search", "")
    page.click(".feature-name >> text=noise")
    page.locator("#feature h3", has_text="noise").wait_for()
    page.locator("#line").press("End")
    page.locator("#line-cost").filter(has_text="more than the 5 % that you allow").wait_for()
    page.click("#line-back")
    page.locator("#line-text").filter(has_text="Keep these").wait_for()
    step(browser, "labels")
    page.click("#correct-choices button:nth-child(2)")
    page.locator("#correct-progress").filter(has_text="1 of").wait_for()
    page.fill("#draw-rows", "30")
    page.click("#draw")
    page.wait_for_selector("#check:not([hidden])", timeout=_LONG)
    page.click("#check-choices button")
    page.locator("#check-progress").filter(has_text="1 of 30").wait_for()
    page.click("#labels #again button")
    page.wait_for_selector("#changes:not([hidden])", timeout=_LONG)
    page.wait_for_selector("#work", state="hidden", timeout=_LONG)
    step(browser, "take")
    clinic(40, seed=1).drop(columns="diagnosis").to_csv(tmp_path / "next month.csv", index=False)
    page.set_input_files("#next-file", str(tmp_path / "next month.csv"))
    page.locator("#next-said li").first.wait_for(timeout=_LONG)
    for name in ("kept", "corrections", "labels", "report", "selection", "numbers", "next"):
        with page.expect_download() as taken:
            page.click(f'a[href="/take/{name}"]')
        file = served.folder / taken.value.suggested_filename
        assert Path(taken.value.path()).read_bytes() == file.read_bytes() != b""
    for name in STEPS:
        step(browser, name)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            faults = axe.Axe().run(page).response["violations"]
            serious = [
                (one["id"], one["nodes"][0]["html"]) for one in faults if one["impact"] in ("serious", "critical")
            ]
            assert not serious, (name, scheme, serious)
    page.set_viewport_size({"width": 360, "height": 740})
    for name in STEPS:
        step(browser, name)
        assert browser.run("document.documentElement.scrollWidth") <= 360, name
        assert all(page.locator(f'[data-step="{one}"]').is_visible() for one in STEPS)
    page.set_viewport_size({"width": 1100, "height": 900})
    for _ in range(3):
        page.click("#undo")
        page.wait_for_timeout(300)
    page.locator('[data-step="labels"] span').filter(has_text="nothing decided").wait_for()
    assert browser.problems == []


def test_the_keyboard_alone(browser, served, tmp_path):
    clinic().to_csv(tmp_path / "keys.csv", index=False)
    choose_table(browser, served, tmp_path / "keys.csv")
    page = browser.page
    page.evaluate("document.activeElement.blur()")
    page.focus('[data-step="question"]')
    browser.press("Enter")
    for _ in range(40):  # to the first picker, over the cards
        browser.press("Tab")
        if "picker-open" in (page.evaluate("document.activeElement.className") or ""):
            break
    browser.press("Enter")
    page.keyboard.type("diag")
    browser.press("Tab", "Enter")
    page.wait_for_selector("#question [data-run]:not([disabled])", timeout=_LONG)
    for _ in range(40):
        browser.press("Tab")
        if page.evaluate("document.activeElement.dataset.run") is not None:
            break
    browser.press("Enter")
    page.wait_for_selector("#found:not([hidden])", timeout=_LONG)
    page.focus(".feature-name")
    browser.press("ArrowDown", "ArrowDown", "Enter")
    third = page.locator(".feature-name").nth(2).inner_text()
    page.locator("#feature h3").get_by_text(third, exact=True).wait_for()
    page.wait_for_selector("#work", state="hidden", timeout=_LONG)
    step(browser, "labels")
    page.focus("#correct-card")
    browser.press("r")
    page.locator("#correct-progress").filter(has_text="1 of").wait_for()
    browser.press("z")
    page.locator("#correct-progress").filter(has_text="0 of").wait_for()
    assert browser.problems == []


def test_the_page_says_where_everything_lies_and_deletes_it(browser, tmp_path):
    server, page = Served(tmp_path), browser.page
    page.goto(server.address)
    page.click("#example")
    page.wait_for_selector("#columns .long-row", timeout=_LONG)
    step(browser, "take")
    page.fill("#title", "wines of 2026")
    page.locator("#title").press("Tab")
    page.locator("#project").filter(has_text="wines of 2026").wait_for()
    state = Project(server.folder).state
    assert page.inner_text("#folder") == str(server.folder)
    assert page.inner_text("#copy") == str(server.folder / state["table"]) and state["title"] == "wines of 2026"
    page.click("#delete")
    page.click("#delete-no")
    assert server.folder.is_dir()
    page.click("#delete")
    page.click("#delete-yes")
    page.locator("main").filter(has_text="The project was deleted").wait_for()
    assert not server.folder.exists() and server.process.wait(timeout=30) == 0


def test_quick_clicks_of_one_person_are_no_conflict(browser, served, tmp_path):
    clinic().to_csv(tmp_path / "quick.csv", index=False)
    choose_table(browser, served, tmp_path / "quick.csv")
    step(browser, "table")
    browser.run("document.querySelectorAll('.column .clicks button:first-child').forEach(one => one.click())")
    browser.page.locator('#columns [aria-pressed="true"]').nth(5).wait_for()
    assert Project(served.folder).state["options"] == {"ignore": list(clinic())}
    assert not browser.page.is_visible("#message")


REDRAWN = """import("/static/parts.js").then(({ button, element, redraw }) => {
    const box = document.body.appendChild(element("div"));
    const clicked = [];
    const named = (turn) => (name) => button(name, () => clicked.push(name + turn), { "data-key": name, lang: turn });
    const more = (text) => element("details", "", {}, element("summary", text));
    redraw(box, [...["a", "b", "c"].map(named("1")), more("more")]);
    const [first, second, , details] = box.children;
    second.focus();
    details.open = true;
    redraw(box, [...["d", "b", "c"].map(named("2")), more("less")]);
    second.click();
    const kept = document.activeElement === second && details.open && !first.isConnected;
    const found = [box.textContent, kept, second.lang, clicked];
    box.remove();
    return found;
})"""


def test_redrawing_keeps_what_is_there(browser, served):
    """A child with the same name stays, with its focus, and does what the new one does."""
    browser.page.goto(served.address)
    browser.page.wait_for_selector("body[data-ready]")
    assert browser.run(REDRAWN) == ["dbcless", True, "2", ["b2"]]
    assert browser.problems == []


def test_what_somebody_is_at_stays_when_the_page_shows_something_new(browser, chromium, served, tmp_path):
    """Another window decides while a picker is open, and while a number is being typed."""
    clinic().to_csv(tmp_path / "stays.csv", index=False)
    choose_table(browser, served, tmp_path / "stays.csv")
    page, other = browser.page, chromium.view()
    other.page.goto(served.address)
    other.page.wait_for_selector("#columns .long-row", state="attached", timeout=_LONG)
    step(other, "question")
    page.locator(".picker", has_text="Known already").locator(".picker-open").click()
    age = page.locator('#facts [data-column="age"]').element_handle()
    pick(other, "Column with the class", "diagnosis")
    shown = page.locator('[data-step="question"] span')
    shown.filter(has_text="diagnosis").wait_for(timeout=_LONG)
    age.click()  # it is the same button
    page.get_by_role("button", name="Done").click()
    page.locator("summary", has_text="More choices").click()
    page.locator("#field-alpha").press_sequentially("0.0")
    other.page.locator("#facts .picker-open", has_text="age").wait_for(timeout=_LONG)
    pick(other, "Column with the class", "more")
    shown.filter(has_text="more").wait_for(timeout=_LONG)
    page.keyboard.type("1")
    with page.expect_response("**/api/decide"):
        page.keyboard.press("Tab")
    assert Project(served.folder).state["options"] == {"target": "more", "given": ["age"], "alpha": "0.01"}
    assert not page.is_visible("#message")
    other.page.context.close()


def test_two_windows_see_each_other(browser, chromium, served, tmp_path):
    clinic().to_csv(tmp_path / "two.csv", index=False)
    choose_table(browser, served, tmp_path / "two.csv")
    other = chromium.view()
    other.page.goto(served.address)
    other.page.wait_for_selector("body[data-ready]")
    step(other, "question")
    pick(other, "Column with the class", "diagnosis")
    other.page.locator('[data-step="question"] span').filter(has_text="diagnosis").wait_for()
    known = browser.page.locator(".picker", has_text="Known already")
    known.locator(".picker-open").click()
    known.locator('[data-column="age"]').click()  # on a state that is not the newest any more
    browser.page.locator("#message").filter(has_text="Another window").wait_for()
    browser.page.locator('[data-step="question"] span').filter(has_text="diagnosis").wait_for()
    assert Project(served.folder).state["options"] == {"target": "diagnosis"}
    other.page.context.close()


def test_a_page_that_dies_loses_nothing(chromium, served, tmp_path):
    """Pages are closed at random moments right after a decision."""
    clinic().to_csv(tmp_path / "dies.csv", index=False)
    first = chromium.view()
    choose_table(first, served, tmp_path / "dies.csv")
    first.page.context.close()
    rng = np.random.default_rng(0)
    for turn in range(10):
        view = chromium.view()
        view.page.goto(served.address)
        step(view, "question")
        view.page.locator("summary", has_text="More choices").click()
        with view.page.expect_response("**/api/decide"):
            view.page.fill("#field-alpha", f"0.0{turn + 1}")
            view.page.locator("#field-alpha").press("Tab")
        view.page.wait_for_timeout(int(rng.integers(0, 60)))
        view.page.context.close()
        assert Project(served.folder).state["options"]["alpha"] == f"0.0{turn + 1}"


# ---- the pictures of the guide


def test_the_walk_of_the_guide(chromium, tmp_path):
    """Pictures of each step, and all of them in one that moves; DUBIO_PICTURES names the folder that keeps them."""
    image = pytest.importorskip("PIL.Image", reason="the pictures need Pillow")
    place = Path(os.environ.get("DUBIO_PICTURES", tmp_path))
    table, server, frames = write_case(tmp_path), Served(tmp_path), []
    view = chromium.view(width=980, height=760)

    def frame(name: str = "") -> None:
        view.page.evaluate("document.activeElement.blur()")
        view.page.wait_for_timeout(250)
        shot = image.open(io.BytesIO(view.page.screenshot())).convert("RGB").quantize(48)
        frames.append(shot)
        if name:
            size = {"x": 0, "y": 0, "width": 980, "height": view.run("Math.min(document.body.scrollHeight, 1500)")}
            whole = image.open(io.BytesIO(view.page.screenshot(full_page=True, clip=size)))
            whole.convert("RGB").quantize(48).save(place / name, optimize=True)

    try:
        view.page.goto(server.address)
        view.page.wait_for_selector("body[data-ready]")
        frame()
        choose_table(view, server, table)
        step(view, "table")
        frame("open-table.png")
        step(view, "question")
        pick(view, "Column with the class", "diagnosis")
        pick(view, "Columns that name a row", "patient")
        view.page.locator("#before-state").filter(has_text="found").wait_for(timeout=_LONG)
        view.page.evaluate("scrollTo(0, 0)")
        frame("open-question.png")
        find(view)
        view.page.locator("#picture svg").first.wait_for(timeout=_LONG)
        frame("open-answer.png")
        step(view, "labels")
        view.page.click("#correct-choices button:nth-child(2)")
        view.page.locator("#correct-progress").filter(has_text="1 of").wait_for()
        view.page.evaluate("scrollTo(0, 0)")
        frame()
        step(view, "take")
        frame()
    finally:
        server.end()
    small = [one.convert("RGB").resize((735, 570), image.Resampling.LANCZOS) for one in frames]
    beside = image.new("RGB", (735 * len(small), 570))
    for i, one in enumerate(small):
        beside.paste(one, (735 * i, 0))
    colours = beside.quantize(40)  # the same for all, so that what stays the same costs nothing
    small = [one.quantize(palette=colours, dither=image.Dither.NONE) for one in small]
    small[0].save(place / "open-walk.png", save_all=True, append_images=small[1:], duration=2500, loop=0, optimize=True)
    with image.open(place / "open-walk.png") as walk:
        assert walk.n_frames == len(frames) == 6
    assert all(
        (place / f"open-{name}.png").stat().st_size < 400_000 for name in ("table", "question", "answer", "walk")
    )


# ---- hostile tables

#: Names and cells that would run, break out or go astray somewhere if they were taken for anything but text.
HOSTILE = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1>",
    '"><script>window.hacked=1</script>',
    "'><img src=x onerror=window.hacked=1>",
    "</script><script>window.hacked=1</script>",
    "</title><script>window.hacked=1</script>",
    "</textarea><script>window.hacked=1</script>",
    "<iframe src=javascript:window.hacked=1>",
    "<a href=javascript:window.hacked=1>x</a>",
    "javascript:window.hacked=1",
    "{{7*7}}",
    "{% raw %}",
    "${window.hacked=1}",
    "`${window.hacked=1}`",
    "'-window.hacked=1-'",
    '\\";window.hacked=1//',
    "&lt;script&gt;",
    "&#x3C;script&#x3E;window.hacked=1",
    "%3Cscript%3E",
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[",
    "<style>*{display:none}</style>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0>",
    "<form action=//evil.example>",
    "<math><mi xlink:href=javascript:1>",
    "<template>",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "../../etc/passwd",
    "..\\..\\x",
    "/etc/passwd",
    "C:\\x",
    "--report=x.html",
    "-t",
    "; rm -rf ~",
    "$(touch hacked)",
    "`touch hacked`",
    "=cmd|'/c calc'!A1",
    "@SUM(1)",
    "\u202egnp.exe",
    "a\u0000b".replace("\u0000", ""),
    "e\u0301\u0301\u0301",
    "\U0001f480" * 20,
    "x" * 3000,
]


def test_fifty_hostile_names_and_cells(browser, served, tmp_path):
    assert len(HOSTILE) == 50
    rng, n = np.random.default_rng(0), 60
    table = pd.DataFrame(rng.normal(size=(n, 50)).round(2), columns=HOSTILE)
    target = np.where(rng.random(n) < 0.5, HOSTILE[0], HOSTILE[3])
    table[HOSTILE[1]] += 2 * (target == HOSTILE[0])
    table = table.assign(**{"<b>label</b>": target, "words": [HOSTILE[i % 50] for i in range(n)]})
    name = "img onerror=alert(1).csv" if os.name == "nt" else "<img src=x onerror=alert(1)>.csv"
    table.to_csv(tmp_path / name, index=False)
    before = set(os.listdir(tmp_path))
    choose_table(browser, served, tmp_path / name)
    pick(browser, "Column with the class", "<b>label</b>")
    find(browser)
    page = browser.page
    for name in page.locator(".feature-name").all()[:8]:
        name.click()
    step(browser, "labels")
    if page.is_visible("#correct"):
        page.click("#correct-choices button:nth-child(2)")
    page.fill("#draw-rows", "20")
    page.click("#draw")
    page.wait_for_selector("#check:not([hidden])", timeout=_LONG)
    step(browser, "take")
    step(browser, "answer")
    page.locator("summary", has_text="The whole report").click()
    frame = page.frame_locator("#report")
    frame.locator("h1").first.wait_for(timeout=_LONG)
    assert page.evaluate("window.hacked") is None
    assert [one.evaluate("window.hacked") for one in page.frames[1:]] == [None]
    assert set(os.listdir(tmp_path)) == before and not (served.folder / "hacked").exists()
    assert browser.problems == [] and all(url.startswith(("http://127.0.0.1:", "data:")) for url in browser.requests)


# ---- how long it takes ---------------------------------------------------------------------------------------------


def test_something_to_read_soon_and_an_answer_in_time(browser, served, tmp_path):
    """300 rows and 30 columns. Limits for free cores; where processes share a core, they are as much wider."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 1.0
    slow = max(1.0, 2 * load / (os.cpu_count() or 1))
    clinic(300).join(pd.DataFrame(np.random.default_rng(1).normal(size=(300, 25))).add_prefix("lab ")).to_csv(
        tmp_path / "timed.csv", index=False
    )
    browser.page.goto(served.address)
    began = time.monotonic()
    browser.page.set_input_files("#file", str(tmp_path / "timed.csv"))
    browser.page.locator("#size").filter(has_text="timed.csv").wait_for(timeout=_LONG)
    assert time.monotonic() - began < 2 * slow
    browser.page.wait_for_selector("#columns .long-row", timeout=_LONG)
    step(browser, "question")
    pick(browser, "Column with the class", "diagnosis")
    browser.page.wait_for_selector("#question [data-run]:not([disabled])", timeout=_LONG)
    browser.page.click("#question [data-run]")
    browser.page.wait_for_selector("#found:not([hidden])", timeout=_LONG)
    assert time.monotonic() - began < 15 * slow
    browser.page.locator("#line").press("End")  # in the early answer; the complete one leaves the line where it is
    browser.page.locator("#spoken").filter(has_text="The answer is ready").wait_for(state="attached", timeout=_LONG)
    assert browser.page.input_value("#line") == "30"


def test_the_first_paint_comes_at_once(browser, tmp_path):
    """Of a server that has just begun, which loads nothing for it."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 1.0
    server = Served(tmp_path)
    try:
        browser.page.goto(server.address)
        browser.page.wait_for_selector("body[data-ready]")
        paint = browser.run("performance.getEntriesByType('paint')[0].startTime")
    finally:
        server.end()
    assert paint < 500 * max(1.0, 2 * load / (os.cpu_count() or 1))
