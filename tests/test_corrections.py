"""Corrections of labels are applied and refused, trusted by the cleaning, and made on a page in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dubio import FeatureSelector, InputError, apply_corrections, audit_labels
from dubio.doubt.belief import believe
from dubio.doubt.experts import ExpertOptions
from dubio.problem import read_problem
from dubio.trust.corrections import audit_left, calibrated, compare
from dubio_app.command.run import run
from dubio_app.report import render_report
from dubio_app.report.findings import gather
from dubio_app.report.tables import corrections
from tests.browser import View
from tests.corrections_case import write_case

NAMES = ["age", "</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "pulse", "mass", "site"]
CLASSES = ('ill, "very" <b>', "well\u2028</script>")


def flipped_table(n: int = 300, flips: int = 40) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with hostile names, ids and classes; a known set of labels is wrong."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2
    X = rng.normal(size=(n, len(NAMES)))
    X[:, :3] += 2.0 * truth[:, None]
    given = truth.copy()
    rows = rng.permutation(n)[:flips]
    given[rows] = 1 - given[rows]
    table = pd.DataFrame(X.round(3), columns=NAMES)
    table.insert(0, "who", [f"P{i:03d}<script>alert(3)</script>" for i in range(n)])
    return table.assign(kind=np.asarray(CLASSES, dtype=object)[given]), np.asarray(CLASSES, dtype=object)[truth]


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    folder = tmp_path_factory.mktemp("corrections")
    table, truth = flipped_table()
    table.to_csv(folder / "t.csv", index=False)
    assert run(["audit", str(folder / "t.csv"), "-t", "kind", "--id", "who", "-r", str(folder / "t.html"), "-q"]) == 0
    return folder, truth


def downloaded(browser: View) -> bytes:
    """The file that the page offers for its key."""
    with browser.page.expect_download() as download:
        browser.press("d")
    assert download.value.suggested_filename == "corrections.csv"
    return download.value.path().read_bytes()


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])["corrections"]


def test_twenty_corrections_by_the_keyboard(browser, audited, tmp_path, capsys) -> None:
    folder, truth = audited
    data = data_of((folder / "t.html").read_text(encoding="utf-8"))
    assert data["classes"] == list(CLASSES) and len(data["rows"]) >= 20
    files = []
    for attempt in range(2):
        browser.open(folder / "t.html")
        if attempt:  # forget what the browser remembers, then do the same again
            browser.run("document.querySelector('[data-do=clear]').click()")
        browser.run("document.querySelector('.correct-card').focus()")
        for i in range(20):
            is_right = truth[data["rows"][i] - 1] == CLASSES[data["given"][i]]
            browser.press("r" if is_right else str(1 + list(CLASSES).index(truth[data["rows"][i] - 1])))
        assert "20 of " in browser.run("document.querySelector('.correct-progress').textContent")
        files.append(downloaded(browser))
    assert files[0] == files[1]  # the same decisions, the same bytes
    assert browser.problems == [] and browser.requests == [(folder / "t.html").as_uri()]
    assert browser.run("document.querySelectorAll('#corrections img, #corrections script, #corrections b').length") == 0
    assert len(files[0].decode().splitlines()) >= 21
    corrections = tmp_path / "corrections.csv"
    corrections.write_bytes(files[0])
    out = tmp_path / "after.html"
    arguments = ["rank", str(folder / "t.csv"), "-t", "kind", "--id", "who", "--corrections", str(corrections)]
    assert run([*arguments, "--report", str(out), "--stability", "0", "--json", "-q"]) == 0
    changes = json.loads(capsys.readouterr().out)["corrections"]
    assert changes["right"] + changes["changed"] == 20 and changes["changed"] >= 15
    assert changes["share_high_left"] < changes["share_high_before"]
    assert "Effect of the corrections" in out.read_text(encoding="utf-8")


def test_page_remembers_and_undoes(browser, audited) -> None:
    folder, _ = audited
    browser.open(folder / "t.html")
    progress = "document.querySelector('.correct-progress').textContent"
    row = "document.querySelector('.correct-row').textContent"
    browser.run("document.querySelector('[data-do=clear]').click()")
    browser.run("document.querySelector('.correct-card').focus()")
    first = browser.run(row)
    browser.press("u")
    browser.press("ArrowRight")
    browser.press("ArrowLeft")
    browser.run("document.querySelectorAll('.correct-choices button')[1].click()")
    assert browser.run(progress).startswith("2 of") and "1 changed" in browser.run(progress)
    browser.open(folder / "t.html")
    assert browser.run(progress).startswith("2 of")  # kept by the browser
    browser.run("document.querySelectorAll('#corrections tbody tr')[0].click()")
    assert browser.run(row) == first
    assert "Your decision: cannot tell" in browser.run("document.querySelector('.correct-labels').textContent")
    browser.run("document.querySelector('.correct-card').focus()")
    browser.press("r")
    assert "Your decision" not in browser.run("document.querySelector('.correct-labels').textContent")
    browser.press("z")
    assert browser.run(row) == first
    assert "cannot tell" in browser.run("document.querySelector('.correct-labels').textContent")
    browser.run("document.querySelector('[data-do=clear]').click()")
    assert browser.run(progress).startswith("0 of")
    assert browser.run("document.querySelector('[data-do=download]').disabled")


def test_page_for_corrections_on_a_phone_in_the_dark_and_printed(chromium, audited) -> None:
    folder, _ = audited
    browser = chromium.view(width=360, height=740, dark=True)
    browser.open(folder / "t.html")
    assert browser.run("document.documentElement.scrollWidth") <= 360
    assert browser.run("document.querySelector('.correct-card').getBoundingClientRect().right") <= 360
    dark = browser.run("getComputedStyle(document.querySelector('.correct-card')).color")
    assert sum(map(int, re.findall(r"\d+", dark)[:3])) > 400  # light letters
    browser.page.emulate_media(media="print")
    assert browser.run("getComputedStyle(document.querySelector('.correct-card')).display") == "none"
    assert browser.run("document.querySelector('#corrections tbody tr') !== null")
    assert browser.problems == []


def test_twenty_thousand_rows_open_quickly(browser, tmp_path) -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    y = np.arange(n) % 2
    X = pd.DataFrame(rng.normal(size=(n, 6)) + y[:, None], columns=list("abcdef"))
    selector = FeatureSelector("linear_r2", n_features_to_select=3).fit(X, y)
    unsure = np.full((n, 2), 0.45)
    unsure[np.arange(n), 1 - y] = 0.55
    audit = audit_labels(None, y, probabilities=unsure, engine="pooled")
    object.__setattr__(audit, "doubtful", np.ones(n, dtype=bool))
    object.__setattr__(audit, "judged", True)
    page = tmp_path / "large.html"
    page.write_text(render_report(gather(selector, X, y, audit=audit)), encoding="utf-8")
    assert len(data_of(page.read_text(encoding="utf-8"))["rows"]) == n
    browser.open(page)
    assert browser.run("+document.documentElement.dataset.ready") < 2000
    browser.run("document.querySelector('.correct-card').focus()")
    browser.press("2")
    assert browser.run("document.querySelector('.correct-progress').textContent").startswith("1 of 20,000")


def test_corrections_are_applied_and_their_labels_trusted() -> None:
    table, truth = flipped_table(120, 16)
    X, y = table[["age", "pulse", "mass"]], table["kind"]
    wrong = np.flatnonzero(y.to_numpy() != truth)
    decisions = [{"row": i + 1, "given": y[i], "decision": "change", "label": truth[i]} for i in wrong[:5]]
    decisions += [{"row": 1 + int(np.flatnonzero(y == truth)[0]), "given": y[0], "decision": "right", "label": ""}]
    decisions[-1]["given"] = y[decisions[-1]["row"] - 1]
    decisions += [{"row": wrong[6] + 1, "given": y[wrong[6]], "decision": "unsure", "label": ""}]
    corrected = apply_corrections(y, pd.DataFrame(decisions))
    assert corrected.confirmed.sum() == 6 and corrected.labels[wrong[6]] is None
    assert str(corrected) == "7 labels looked at: 1 right, 5 changed, 1 left open."
    assert (y.to_numpy() == table["kind"].to_numpy()).all()  # the caller's labels are as they were
    problem = read_problem(X, corrected)
    assert problem.supervision.confirmed.sum() == 6
    audit = audit_labels(X, corrected)
    assert not audit.doubtful[corrected.confirmed].any() and (audit.disagreement[corrected.confirmed] == 0).all()
    belief = believe(problem, "experts", True, ExpertOptions())
    assert (belief.supervision.memberships[corrected.confirmed].max(axis=1) == 1).all()
    part = problem.rows(np.arange(119, -1, -1)).supervision
    np.testing.assert_array_equal(part.confirmed, problem.supervision.confirmed[::-1])
    assert FeatureSelector().fit(X, corrected).n_relevant_ >= 1


def test_rows_are_found_by_their_names_in_any_order() -> None:
    decisions = [{"row": 1, "id": "q", "given": "b", "decision": "change", "label": "a"}]
    corrected = apply_corrections(["a", "a", "b"], decisions, ids=["o", "p", "q"])
    assert corrected.labels.tolist() == ["a", "a", "a"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row": 9}, "counted from 1 to 3"),
        ({"row": "x"}, "has the row 'x'"),
        ({"given": "a"}, "was labelled 'a', but its label is 'b'"),
        ({"decision": "maybe"}, "use right, change or unsure"),
        ({"label": "bb"}, "changes row 2 to 'bb'"),
        ({"label": "b"}, "changes row 2 to 'b'"),
    ],
)
def test_corrections_that_do_not_match_the_table_are_refused(change: dict[str, Any], message: str) -> None:
    entry = {"row": 2, "given": "b", "decision": "change", "label": "a"}
    with pytest.raises(InputError, match=re.escape(message)):
        apply_corrections(["a", "b", "a"], [{**entry, **change}])
    with pytest.raises(InputError, match="second time"):
        apply_corrections(["a", "b", "a"], [entry, entry])
    with pytest.raises(InputError, match="which no row has"):
        apply_corrections(["a", "b", "a"], [{**entry, "id": "z"}], ids=["p", "q", "r"])
    with pytest.raises(InputError, match="more than once"):
        apply_corrections(["a", "b", "a"], [entry], ids=["p", "p", "r"])


def test_numbers_as_classes_match_what_the_page_wrote(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("row,id,given,decision,label\n2,,1,change,0\n", encoding="utf-8")
    assert apply_corrections(np.array([0.0, 1.0, np.nan]), tmp_path / "c.csv").labels[1] == 0
    (tmp_path / "d.csv").write_text("row,given\n2,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column 'id'"):
        apply_corrections([0, 1], tmp_path / "d.csv")


def test_decided_labels_correct_what_the_audit_says_of_the_others() -> None:
    table, _ = flipped_table(200, 30)
    X, y = table[["age", "pulse", "mass"]], table["kind"].to_numpy()
    before = audit_labels(X, y)
    first = np.argsort(-np.nan_to_num(before.disagreement))[:15]
    claims = []
    for outcome in ("right", "change"):
        others = {CLASSES[0]: CLASSES[1], CLASSES[1]: CLASSES[0]}
        decisions = [
            {"row": i + 1, "given": y[i], "decision": outcome, "label": others[y[i]] if outcome == "change" else ""}
            for i in first
        ]
        corrected = apply_corrections(y, decisions)
        after = audit_labels(X, corrected)
        left = calibrated(before, after, corrected)
        claims.append(left.sum())
        assert calibrated(before, before, corrected)[first].sum() == 0
        audit = audit_left(before, after, corrected)
        undecided = np.setdiff1d(np.arange(len(y)), first)
        assert np.allclose(audit.disagreement[undecided], left[undecided], atol=1e-12)
        assert np.allclose(audit.probabilities.sum(axis=1), after.probabilities.sum(axis=1))
        assert np.allclose(audit.joint.sum(axis=1), np.bincount(after.codes))
        assert np.allclose(after.joint.sum(axis=1), np.bincount(after.codes))
        per_claim = (1 - np.trace(before.joint) / len(y)) * len(y) / before.disagreement.sum()
        assert 1 - np.trace(audit.joint) / len(y) == pytest.approx(per_claim * left.sum() / len(y))
        assert (audit.doubtful == (left >= before.disagreement[before.doubtful].min())).all()
    assert claims[0] < claims[1]  # if all doubted labels were right, fewer of the others are wrong


def test_after_honest_corrections_the_audit_agrees_with_itself() -> None:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(300, 4))
    true = (X[:, 0] + X[:, 1] > 0).astype(int)
    y = np.where(rng.random(300) < 0.15, 1 - true, true)
    before = audit_labels(X, y)
    first = np.argsort(-before.disagreement)[:40]
    outcomes = [("right", "") if y[i] == true[i] else ("change", str(true[i])) for i in first]
    decided = [
        {"row": i + 1, "given": str(y[i]), "decision": decision, "label": label}
        for i, (decision, label) in zip(first, outcomes, strict=True)
    ]
    corrected = apply_corrections(y, decided)
    after = audit_labels(X, corrected)
    left = audit_left(before, after, corrected)
    truly_left = (y != true)[corrected.decisions == ""].sum()
    assert left.doubtful.any() and left.disagreement[left.doubtful].min() > left.disagreement[~left.doubtful].max()
    assert abs(300 - np.trace(left.joint) - truly_left) < 10 and abs(left.disagreement.sum() - truly_left) < 15
    nothing = apply_corrections(y, [])
    same = audit_left(before, before, nothing)
    assert (same.doubtful == before.doubtful).all() and np.allclose(same.disagreement, before.disagreement, atol=2e-6)
    assert same.share_high == pytest.approx(before.share_high, abs=1e-5)
    n_changed, n_wrong = corrected.count("change"), int((y != true).sum())
    known = audit_left(audit_labels(X, y, share=n_wrong / 300), after, corrected)  # what was changed is wrong no more
    assert known.error_rate * 300 == pytest.approx(n_wrong - n_changed)
    assert np.nansum(known.wrong) == pytest.approx(n_wrong - n_changed) and (known.wrong[first] == 0).all()
    with pytest.raises(InputError, match="before is a NumberAudit"):
        audit_left(audit_labels(X, X[:, 0] + rng.normal(size=300)), after, corrected)
    with pytest.raises(InputError, match="after is an audit of 100 rows, but the corrections are of 300"):
        audit_left(before, audit_labels(X[:100], y[:100]), corrected)


def test_before_and_after_in_words() -> None:
    X = np.random.default_rng(0).normal(size=(80, 4))
    y = np.repeat(["a", "b"], 40)
    X[:, 0] += 3 * (y == "b")
    shuffled = y.copy()
    shuffled[:10], shuffled[40:50] = "b", "a"
    corrected = apply_corrections(shuffled, [{"row": 1, "given": "b", "decision": "change", "label": "a"}])
    before = FeatureSelector("linear_r2", n_features_to_select=1).fit(X[:, ::-1], y).to_ranking()
    after = FeatureSelector("linear_r2", n_features_to_select=1).fit(X, y).to_ranking()
    found = compare(corrected, before, after)
    assert found.came_in == ["x0"] and found.went_out == ["x3"]
    assert found.moved[0] in (("x0", 4, 1), ("x3", 1, 4)) or abs(found.moved[0][1] - found.moved[0][2]) >= 2
    assert any("kept now that" in sentence and "'x0'" in sentence for sentence in found.sentences())
    assert found.record()["share_high_left"] is None
    few = y.copy()
    few[:4] = "b"
    corrected = apply_corrections(few, [{"row": 1, "given": "b", "decision": "change", "label": "a"}])
    audits = [audit_labels(X, few), audit_labels(X, corrected)]
    found = compare(corrected, before, after, *audits)
    said, left = " ".join(found.sentences()), int(audit_left(*audits, corrected).doubtful.sum())
    assert f"{100 * audits[0].share_high:.1f} % of the labels may have been wrong before your corrections" in said
    assert (
        f"In {left} rows the models still disagree with the label." in said and found.record()["doubtful_left"] == left
    )


def test_command_refuses_corrections_of_another_table(audited, tmp_path, capsys) -> None:
    folder, _ = audited
    bad = tmp_path / "c.csv"
    bad.write_text("row,id,given,decision,label\n1,,nobody,right,nobody\n", encoding="utf-8")
    assert run(["audit", str(folder / "t.csv"), "-t", "kind", "--corrections", str(bad)]) == 2
    assert "--corrections[entry 1] says that row 1 was labelled 'nobody'" in capsys.readouterr().err
    assert run(["rank", str(folder / "t.csv"), "--corrections", str(bad)]) == 2
    assert "give --target" in capsys.readouterr().err


def test_a_saved_table_has_the_corrected_labels(tmp_path):
    table = write_case(tmp_path)
    frame = pd.read_csv(table)
    first, second = frame["patient"][:2]
    other = next(name for name in frame["diagnosis"].unique() if name != frame["diagnosis"][0])
    corrections = pd.DataFrame(
        {"id": [first, second], "row": [1, 2], "given": frame["diagnosis"][:2], "decision": ["change", "unsure"]}
    ).assign(label=[other, ""])
    corrections.to_csv(tmp_path / "corrections.csv", index=False, sep=";")  # as some spreadsheets write it
    saved = tmp_path / "saved.csv"
    options = ["--id", "patient", "--corrections", str(tmp_path / "corrections.csv"), "--save-table", str(saved), "-q"]
    assert run(["rank", str(table), "-t", "diagnosis", "-m", "linear_r2", *options]) == 0
    corrected = pd.read_csv(saved)
    assert corrected["diagnosis"][0] == other and pd.isna(corrected["diagnosis"][1])
    assert (corrected["diagnosis"][2:] == frame["diagnosis"][2:]).all()


def test_values_beside_a_row_are_those_of_the_feature() -> None:
    """A column of categories is several columns of the matrix: the features after it keep their own values."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = pd.DataFrame({"kind": rng.choice(["a", "b", "c", "d"], 120), "noise": rng.normal(size=120)})
    X["telling"] = np.round(3.0 * y + rng.normal(size=120), 3)
    given = np.where(np.arange(120) < 6, 1 - y, y)
    findings = gather(FeatureSelector().fit(X, given), X, given, audit=audit_labels(X[["telling"]], given))
    content = corrections(findings)
    names = findings.ranking.names[findings.ranking.order].tolist()
    assert [one["name"] for one in content["features"]] == names
    shown = next(one for one in content["features"] if one["name"] == "telling")
    assert shown["values"] == X["telling"].to_numpy()[np.array(content["rows"]) - 1].tolist()


def test_corrections_of_patients_with_several_rows_go_by_row(tmp_path, capsys) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    table = pd.DataFrame({"who": np.arange(40) // 4, "a": rng.normal(size=40) + 3 * y, "y": np.where(y, "ill", "well")})
    table.to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "corrections.csv").write_text("row,id,given,decision,label\n2,0,ill,change,well\n")
    words = ["audit", str(tmp_path / "visits.csv"), "--target", "y", "--id", "who"]
    assert run([*words, "--corrections", str(tmp_path / "corrections.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["corrections"]["changed"] == 1
