"""``dubio check``: the draw, the files, and the page on which a person judges rows without their labels."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from dubio import InputError
from dubio.trust import draw_rows, join_checks, rows_needed
from dubio_app.command.run import run
from tests.browser import View

pd = pytest.importorskip("pandas")

CLASSES = ['ill, "very" <b>', "well\u2028</script><script>alert(1)</script>"]
HOSTILE = "<img src=x onerror=alert(2)>"


def test_every_row_has_the_chance_that_is_written_down():
    """Over many draws, rows come as often as their chance says: 3 of 4,000 counts beyond 3.7 standard errors."""
    strata, doubt = np.repeat([0, 1, 2], [70, 20, 10]), np.linspace(0, 1, 100)
    for design in ("random", "class", "doubtful"):
        facts = {"design": design, "strata": strata, "disagreement": doubt}
        draws = [draw_rows(100, 20, random_state=seed, **facts) for seed in range(400)]
        counts = np.bincount(np.concatenate([draw.rows for draw in draws]), minlength=100)
        chance = draws[0].chance
        assert all(len(set(draw.rows.tolist())) == 20 for draw in draws)
        assert chance.sum() == pytest.approx(20)
        z = (counts - 400 * chance) / np.sqrt(400 * chance * (1 - chance))
        assert np.abs(z).max() < 4.2
    assert chance[-1] == pytest.approx(4 * chance[0])


def test_rows_added_later_are_drawn_afresh_and_whole_groups_together():
    first = draw_rows(50, 10)
    drawn = np.isin(np.arange(50), first.rows)
    more = draw_rows(50, 15, before=drawn)
    assert (draw_rows(50, 15, before=drawn.astype(int)).rows == more.rows).all()
    assert not set(first.rows) & set(more.rows)
    assert more.chance == pytest.approx(0.5)
    assert (len(more.rows), more.n_before) == (15, 10)
    groups = np.arange(60) // 3
    draw = draw_rows(60, 5, groups=groups)
    assert len(draw.rows) == 15
    assert len(set(groups[draw.rows])) == 5
    assert draw.chance == pytest.approx(0.25)
    assert draw_rows(50, 10).rows.tolist() == first.rows.tolist() != draw_rows(50, 10, random_state=1).rows.tolist()


def test_draws_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="rows=51, but 50 rows of the table are left"):
        draw_rows(50, 51)
    with pytest.raises(InputError, match="'doubtful' cannot add rows"):
        draw_rows(4, 1, design="doubtful", disagreement=np.ones(4), before=[True, False, False, False])


@pytest.mark.parametrize("design", ["class", "doubtful"])
def test_rows_are_not_added_to_a_draw_of_another_design(design):
    """Their chances would be wrong: the rows of the first draw had others."""
    strata, doubt = np.repeat([0, 1], [80, 20]), np.linspace(0, 1, 100)
    first = draw_rows(100, 20, design=design, strata=strata, disagreement=doubt)
    before = np.where(np.isin(np.arange(100), first.rows), first.chance, np.nan)
    with pytest.raises(InputError, match="before holds rows that were drawn in another way"):
        draw_rows(100, 10, before=before)
    with pytest.raises(InputError, match="in another way"):
        draw_rows(100, 10, before=before, groups=np.arange(100) // 2)
    if design == "class":
        more = draw_rows(100, 10, design=design, strata=strata, before=before)
        assert more.chance[[0, -1]] == pytest.approx([15 / 80, 15 / 20]) and more.n_before == 20


def test_the_forecast_grows_with_disagreement_and_stays_within_the_table():
    few, many = rows_needed(np.full(2000, 0.05)), rows_needed(np.full(2000, 0.3))
    assert 30 <= few < many < 300
    assert rows_needed(np.full(40, 0.5)) == 40
    assert rows_needed([np.nan, np.nan]) == 30


def made_up(folder: Path, n: int = 300) -> np.ndarray:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=n)
    table = pd.DataFrame(rng.normal(size=(n, 3)).round(3), columns=["age", HOSTILE, "scanner"])
    table["age"] += truth
    given = np.where((truth == 1) & (table["scanner"] > 0.3) & (rng.random(n) < 0.6), 0, truth)
    table.insert(0, "who", [f"P{i:03d}<script>alert(3)</script>" for i in range(n)])
    table["kind"] = np.asarray(CLASSES, dtype=object)[given]
    table.to_csv(folder / "t.csv", index=False)
    return np.asarray(CLASSES, dtype=object)[truth]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    folder = tmp_path_factory.mktemp("checked")
    truth = made_up(folder)
    arguments = [
        "--rows",
        "60",
        "--by",
        "class",
        "--seed",
        "1",
        "--draw",
        str(folder / "draw.csv"),
        "--page",
        str(folder / "p.html"),
    ]
    assert run(["check", str(folder / "t.csv"), "-t", "kind", "--id", "who", *arguments, "-q"]) == 0
    return folder, truth


def data_of(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_page_knows_neither_labels_nor_chances(drawn) -> None:
    """Were the labels others, the page would be the same, byte for byte."""
    folder, _ = drawn
    table, pages = pd.read_csv(folder / "t.csv"), []
    for kinds in (table["kind"], table["kind"][::-1].to_numpy()):
        table.assign(kind=kinds).to_csv(folder / "other.csv", index=False)
        files = ["--draw", str(folder / "other_draw.csv"), "--page", str(folder / "other.html")]
        assert run(["check", str(folder / "other.csv"), "-t", "kind", "--rows", "60", *files, "-q"]) == 0
        pages.append((folder / "other.html").read_bytes())
    assert pages[0] == pages[1]
    page = (folder / "p.html").read_text(encoding="utf-8")
    data = data_of(page)
    assert data.keys() == {"cards", "classes", "key", "chance", "judged"}
    assert data["chance"] == ""  # by class, it would tell the label
    assert all(card.keys() == {"rows", "names", "cells"} for card in data["cards"])
    cells = {name for card in data["cards"] for row in card["cells"] for name, _ in row}
    assert cells == {"age", HOSTILE, "scanner"}
    with (folder / "draw.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(data["cards"]) == 60
    assert not any(line["value"] for line in lines)
    assert {line["chance"] for line in lines}.isdisjoint(page.split())
    shown = [card["rows"][0] for card in data["cards"]]
    assert shown != sorted(shown)  # in the order of the draw, which tells nothing of the class


def test_sixty_rows_are_judged_by_the_keyboard_and_nothing_is_lost(browser, drawn, capsys) -> None:
    folder, truth = drawn
    page = folder / "p.html"
    cards = data_of(page.read_text(encoding="utf-8"))["cards"]
    wanted = [CLASSES.index(truth[card["rows"][0] - 1]) for card in cards]
    browser.open(page)
    for code in wanted[:30]:
        browser.press(str(code + 1))
    again = browser.page.context.new_page()
    browser.page.close()
    browser = View(again)
    browser.open(page)
    assert browser.run("document.querySelector('.correct-progress').textContent").startswith("30 of 60 judged")
    browser.press("u", "z")
    for code in wanted[30:-1]:
        browser.press(str(code + 1))
    browser.press("u")
    assert (
        browser.run("document.querySelector('.correct-progress').textContent") == "60 of 60 judged, 1 of them undecided"
    )
    assert browser.run("document.querySelectorAll('#check img, #check script, #check b').length") == 0
    with browser.page.expect_download() as download:
        browser.press("d")
    judged = folder / download.value.suggested_filename
    judged.write_bytes(download.value.path().read_bytes())
    assert browser.problems == []
    assert browser.requests == [page.resolve().as_uri()]
    with judged.open(newline="", encoding="utf-8") as file:
        lines = {int(line["row"]): line for line in csv.DictReader(file)}
    assert judged.name == "draw_judged.csv" and len(lines) == 60
    assert all(lines[row]["value"] == truth[row - 1] for card in cards[:-1] for row in card["rows"])
    assert lines[cards[-1]["rows"][0]]["value"] == ""
    arguments = ["--checked", str(folder / "draw.csv"), "--checked", str(judged), "--json", "-q"]
    assert run(["rank", str(folder / "t.csv"), "-t", "kind", "--id", "who", *arguments]) == 0
    features = {row["feature"]: row for row in json.loads(capsys.readouterr().out)["features"]}
    assert features["age"]["verdict"] == "related to the truth"
    assert features["scanner"]["verdict"] == "related only to how rows were labelled"


def test_numbers_are_typed_and_groups_have_one_card(browser, tmp_path) -> None:
    table = pd.DataFrame(
        {"x": np.arange(40) / 7, "subject": np.arange(40) // 2, "dose": np.repeat(np.arange(20), 2) + 0.5}
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = [
        "--groups",
        "subject",
        "--rows",
        "3",
        "--draw",
        str(tmp_path / "d.csv"),
        "--page",
        str(tmp_path / "p.html"),
    ]
    assert run(["check", str(tmp_path / "t.csv"), "-t", "dose", "--target-kind", "numbers", *arguments, "-q"]) == 0
    cards = data_of((tmp_path / "p.html").read_text(encoding="utf-8"))["cards"]
    assert [len(card["rows"]) for card in cards] == [2, 2, 2]
    browser.open(tmp_path / "p.html")
    browser.page.keyboard.type("many")
    browser.press("Enter")
    assert browser.run("document.querySelector('#check input').getAttribute('aria-invalid')") == "true"
    browser.run("document.querySelector('#check input').value = ''")
    browser.page.keyboard.type("12,5")
    browser.press("Enter")
    browser.press("u")
    assert (
        browser.run("document.querySelector('.correct-progress').textContent") == "2 of 3 judged, 1 of them undecided"
    )
    with browser.page.expect_download() as download:
        browser.press("d")
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == "row,id,value,chance,checker"
    assert sorted(line.split(",")[2] for line in lines[1:]) == ["", "", "", "", "12.5", "12.5"]
    assert {line.split(",")[3] for line in lines[1:]} == {"0.15"}


def test_a_page_of_equal_chances_writes_all_that_is_needed(browser, tmp_path, capsys) -> None:
    """With the command as it stands in the guide; two people with their names; and forgetting asks first."""
    truth = made_up(tmp_path, 200)
    table, page = str(tmp_path / "t.csv"), tmp_path / "check.html"
    assert run(["check", table, "-t", "kind", "--id", "who", "--rows", "40", "--page", str(page), "-q"]) == 0
    assert "then add --checked check_judged.csv to dubio rank" in " ".join(capsys.readouterr().out.split())
    cards = data_of(page.read_text(encoding="utf-8"))["cards"]
    files = []
    for name, wrong in (("ann", -1), ("=bob()", 5)):
        browser.open(page)
        if files:  # dialogs are dismissed: nothing is forgotten
            browser.run("document.querySelector('[data-do=clear]').click()")
            assert browser.problems == ["asks Forget all 40 answers?"]
            browser.run("localStorage.clear()")
            browser.open(page)
        for place, card in enumerate(cards):
            code = CLASSES.index(truth[card["rows"][0] - 1])
            browser.press(str(1 + (code if place != wrong else 1 - code)))
        browser.page.fill("[name=checker]", name)
        with browser.page.expect_download() as download:
            browser.run("document.querySelector('[data-do=download]').click()")
        files.append(tmp_path / f"{len(files)}.csv")
        files[-1].write_bytes(download.value.path().read_bytes())
    assert ",'=bob()" in files[1].read_text(encoding="utf-8")
    joined = join_checks(files, 200)
    assert (joined.n_checked, joined.n_undecided, joined.n_checked_twice, joined.n_disagreements) == (39, 1, 40, 1)
    both = ["--checked", str(files[0]), "--checked", str(files[1])]
    assert run(["rank", table, "-t", "kind", "--id", "who", *both]) == 0
    said = capsys.readouterr()
    assert "39 rows were checked and 1 could not be decided" in " ".join(said.out.split())
    assert "two people checked 40 rows and disagree in 1" in " ".join(said.err.split())
    judged = pd.read_csv(tmp_path / "check.csv").assign(value="ill")
    judged.to_csv(tmp_path / "check.csv", index=False)
    assert run(["check", table, "-t", "kind", "--rows", "40", "--page", str(page), "-q"]) == 2
    assert "holds what somebody found" in " ".join(capsys.readouterr().err.split())


def test_the_next_draw_holds_the_rows_of_the_first(drawn, tmp_path, capsys) -> None:
    folder, truth = drawn
    first = pd.read_csv(folder / "draw.csv", dtype=str, keep_default_na=False)
    first["value"] = [truth[int(row) - 1] for row in first["row"]]
    first.to_csv(tmp_path / "first.csv", index=False)
    arguments = [
        "--rows",
        "40",
        "--by",
        "class",
        "--draw",
        str(tmp_path / "more.csv"),
        "--checked",
        str(tmp_path / "first.csv"),
    ]
    assert run(["check", str(folder / "t.csv"), "-t", "kind", "--id", "who", *arguments, "-q"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "also holds the 60 rows of earlier draws" in told
    assert "The chances in" in told and "may give the labels away" in told  # two classes, and no page
    more = pd.read_csv(tmp_path / "more.csv", dtype=str, keep_default_na=False)
    assert len(more) == 100
    assert (more["value"] != "").sum() == 60
    assert more["chance"].nunique() == 2
    assert (more.merge(first, on="row")["chance_x"].astype(float) > 60 / 300 * 0.5).all()


def test_probabilities_and_votes_can_be_checked_and_stay_off_the_page(tmp_path, capsys) -> None:
    rng = np.random.default_rng(0)
    ill = rng.random(200) < 0.5
    table = pd.DataFrame({"crp": rng.normal(size=200) + 2 * ill, "age": rng.normal(size=200)})
    table["p_ill"] = np.where(ill, 0.8125, 0.1875)
    table["p_well"] = 1 - table["p_ill"]
    for who in ("ann", "bob", "eve"):
        table[who] = np.where(ill ^ (rng.random(200) < 0.2), "p_ill", "p_well")
    table.to_csv(tmp_path / "t.csv", index=False)
    for asked, others in (
        (["--soft", "p_ill,p_well"], "ann,bob,eve"),
        (["--annotators", "ann,bob,eve"], "p_ill,p_well"),
    ):
        arguments = [str(tmp_path / "t.csv"), *asked, "--ignore", others, "-q"]
        draw, page = tmp_path / "d.csv", tmp_path / "p.html"
        assert run(["check", *arguments, "--rows", "40", "--draw", str(draw), "--page", str(page)]) == 0
        data = data_of(page.read_text(encoding="utf-8"))
        assert data["classes"] == ["p_ill", "p_well"]
        assert {name for card in data["cards"] for row in card["cells"] for name, _ in row} == {"crp", "age"}
        drawn = pd.read_csv(draw)
        drawn["value"] = np.where(ill, "p_ill", "p_well")[drawn["row"] - 1]
        drawn.to_csv(tmp_path / "judged.csv", index=False)
        capsys.readouterr()
        assert run(["rank", *arguments, "--checked", str(tmp_path / "judged.csv"), "--json"]) == 0
        features = {row["feature"]: row for row in json.loads(capsys.readouterr().out)["features"]}
        assert features["crp"]["verdict"] == "related to the truth"
        draw.unlink()
    assert run(["check", str(tmp_path / "t.csv"), "--rows", "40"]) != 0
    assert "give the column whose truth is to be found" in capsys.readouterr().err


def test_an_audit_uses_checked_rows_or_says_why_not(tmp_path, capsys) -> None:
    """Also where the columns do not separate the classes: then the wrong labels that were found are listed."""
    truth = made_up(tmp_path)
    rows = np.arange(0, 300, 4)
    checked = tmp_path / "c.csv"
    pd.DataFrame({"row": rows + 1, "value": truth[rows], "chance": 0.25}).to_csv(checked, index=False)
    table, arguments = pd.read_csv(tmp_path / "t.csv"), ["--checked", str(checked), "-q"]
    table["noise"] = np.random.default_rng(1).normal(size=300)
    blind, numbers = tmp_path / "blind.csv", tmp_path / "numbers.csv"
    table[["noise", "kind"]].to_csv(blind, index=False)
    table[["noise", "age"]].to_csv(numbers, index=False)
    assert run(["audit", str(blind), "-t", "kind", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["anchored"] and not found["judged"]
    assert [row["row"] - 1 for row in found["rows"]] == rows[truth[rows] != table["kind"][rows]].tolist()
    assert run(["audit", str(blind), "-t", "kind", *arguments]) == 0
    assert "only labels that were checked and are wrong are listed" in " ".join(capsys.readouterr().out.split())
    assert run(["audit", str(blind), "-t", "kind", *arguments, "--share", "0.1"]) == 2
    assert "give --share or --checked, not both" in " ".join(capsys.readouterr().err.split())
    pd.DataFrame({"row": rows + 1, "value": 1.5, "chance": 0.25}).to_csv(checked, index=False)
    assert run(["audit", str(numbers), "-t", "age", "--target-kind", "numbers", *arguments]) == 2
    assert "--checked cannot anchor this audit: the target is numeric" in " ".join(capsys.readouterr().err.split())


def test_what_cannot_be_checked_is_refused(drawn, capsys, tmp_path) -> None:
    folder, _ = drawn
    table = str(folder / "t.csv")
    assert run(["check", table, "-t", "kind", "--rows", "900", "--draw", str(tmp_path / "d.csv")]) == 2
    assert "--rows 900, but 300 rows of the table are left" in " ".join(capsys.readouterr().err.split())
    by_class, asked = ["--checked", str(folder / "draw.csv")], ["--rows", "10", "--draw", str(tmp_path / "d.csv")]
    assert run(["check", table, "-t", "kind", *asked, *by_class]) == 2
    assert "--checked holds rows that were drawn in another way" in " ".join(capsys.readouterr().err.split())
    assert run(["check", table, "-t", "age", "--target-kind", "numbers", "--by", "class", *asked]) == 2
    assert "--by class needs classes: the target is numeric" in " ".join(capsys.readouterr().err.split())
    assert run(["check", table, "-t", "age", "--target-kind", "numbers", *asked[2:]]) == 0
    assert "60 rows are drawn, a usual number" in " ".join(capsys.readouterr().err.split())
    (tmp_path / "c.csv").write_text("row,value\n4,odd\n")
    assert run(["rank", table, "-t", "kind", "--checked", str(tmp_path / "c.csv")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--checked has no chance for line 5 of the file: give the file of the draw too" in said
