"""A messy clinic table, as somebody meets it who has read only the README: every screen says one thing, and plainly."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dubio_app.command.run import run


def clinic() -> pd.DataFrame:
    """Visits of 70 patients, with units, decimal commas, blanks, a constant, a different text per row, wrong labels."""
    rng = np.random.default_rng(5)
    patient = np.repeat(np.arange(70), rng.integers(2, 5, 70))
    n = len(patient)
    level = rng.normal(size=70)[patient]
    age, sex = rng.integers(30, 90, 70)[patient], rng.choice(["f", "m"], 70)[patient]
    dose = rng.choice([5, 7.5, 10, 20], n)
    relapse = np.where(2 * level + 0.05 * (age - 60) + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    wrong = rng.choice(n, 9, replace=False)
    relapse[wrong] = np.where(relapse[wrong] == "yes", "no", "yes")
    spo2 = 97 - level - 0.12 * dose + 0.5 * rng.normal(size=n)
    spo2[3] -= 20
    return pd.DataFrame(
        {
            "patient": [f"K{i:03d}" for i in patient],
            "sample": [f"s-{i}-{rng.integers(10**6)}" for i in range(n)],
            "ward": "3 East",
            "age": age,
            "sex": sex,
            "dose": [f"{value:g} mg".replace(".", ",") for value in dose],
            "crp": np.where(rng.random(n) < 0.05, None, np.round(np.exp(2 + level + 0.3 * rng.normal(size=n)), 1)),
            "x1": rng.normal(size=n).round(2),
            "sure": np.where((relapse == "yes") & (rng.random(n) < 0.5), "yes", None),
            "relapse": np.where(rng.random(n) < 0.1, None, relapse),
            "SpO2": [f"{value:.1f} %" if rng.random() > 0.07 else None for value in spo2],
        }
    )


@pytest.fixture
def dubio(tmp_path, monkeypatch, capfd):
    """The command in a folder with the table; it returns what was printed and what was noted."""
    clinic().to_excel(tmp_path / "clinic.xlsx", index=False)
    monkeypatch.chdir(tmp_path)

    def called(*arguments: str) -> tuple[str, str]:
        assert run(list(arguments)) == 0, capfd.readouterr().err
        out, err = capfd.readouterr()
        return out, err

    return called


def flat(text: str) -> str:
    return " ".join(text.split())


def seen(page: str) -> str:
    """What a reader of a page sees."""
    page = re.sub(r"<(script|style|svg|title)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return flat(unescape(re.sub("<[^>]+>", " ", page)))


QUICK = ("--method", "linear_r2")


def test_one_count_of_columns_and_no_alert_that_asks_nothing(dubio, tmp_path):
    words = ("rank", "clinic.xlsx", "--target", "relapse", "--ignore", "sure", *QUICK)
    out, _ = dubio(*words, "--report", "r.html", "--stability", "0")
    assert "of 7 columns" in flat(out)
    left_out = (
        "7 of 9 columns were ranked; left out: 'sample' (a different text in every row), 'ward' (only one value)."
    )
    assert left_out in flat(out)
    assert "Alert: rows with the same value of 'patient'" in flat(out)
    assert "add --groups patient" in flat(out) and "nothing needs to be done" not in out
    assert "Features for 'relapse'" in out
    page = seen((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "of 7 columns" in page and left_out in page and "All 7 features" in page
    assert "nothing needs to be done" not in page.lower()
    assert "about 'relapse'?" in page
    assert "doubt q-value of the test whether labels are more doubtful" in page  # every column is explained
    found = json.loads(dubio(*words, "--json")[0])
    assert len(found["features"]) == 7 and "Kept 4 of 7" in found["explanation"]
    assert found["left_out"] == {"sample": "a different text in every row", "ward": "only one value"}


def test_worst_case_is_not_promised_for_groups(dubio, tmp_path):
    words = ("rank", "clinic.xlsx", "--target", "relapse", "--ignore", "sure", "--groups", "patient", *QUICK)
    out, _ = dubio(*words, "--report", "r.html", "--stability", "0", "--tolerance")
    said = "What a feature survives at worst is not known for rows in groups."
    assert said in flat(out) and "worst case" not in out
    page = seen((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert said in page and "On the right" not in page


def test_an_audit_can_be_repeated_and_names_rows_as_the_file_does(dubio, tmp_path):
    words = ("audit", "clinic.xlsx", "--target", "relapse", "--ignore", "sure", "--groups", "patient", "--seed", "3")
    out, err = dubio(*words, "--report", "a.html")
    assert "left out: 'sample' (a different text in every row), 'ward' (only one value)." in err
    first = int(re.search(r"^ +(\d+) +(?:yes|no) ", out, re.MULTILINE)[1])
    counted = f"Rows are counted from 1, without the header: row {first} is row {first + 1} of sheet 'Sheet1'."
    assert counted in flat(out) and "Labels to look at first: 'relapse'" in out
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert counted in seen(page)
    code = unescape(re.search(r"In Python:</p><pre><code>(.*?)</code>", page, re.DOTALL)[1])
    assert "audit_labels(X, y, target='classes', random_state=3, groups=groups)" in code
    assert "FeatureSelector" not in code
    found = json.loads(dubio(*words, "--json")[0])
    names: dict[str, Any] = {}
    exec(code, names)
    assert [row["row"] - 1 for row in found["rows"]] == names["audit"].to_frame()[names["audit"].doubtful].sort_values(
        "rank"
    ).index.tolist()
    assert found["share_high"] == pytest.approx(names["audit"].share_high)


def test_one_share_and_one_count_after_corrections(dubio, tmp_path):
    words = ("audit", "clinic.xlsx", "--target", "relapse", "--ignore", "sure", "--groups", "patient")
    rows = json.loads(dubio(*words, "--json")[0])["rows"][:4]
    lines = [f"{row['row']},,{row['given']},change,{row['suggested']}" for row in rows[1:]]  # most were wrong
    lines.append(f"{rows[0]['row']},,{rows[0]['given']},right,")
    (tmp_path / "c.csv").write_text("\n".join(["row,id,given,decision,label", *lines]), encoding="utf-8")
    words = (*words, "--corrections", "c.csv")
    found = json.loads(dubio(*words, "--json")[0])
    out = flat(dubio(*words, "--report", "a.html")[0])
    share, before = (f"{100 * found['corrections'][f'share_high_{when}']:.1f}" for when in ("left", "before"))
    assert found["corrections"]["doubtful_left"] == found["doubtful"] == len(found["rows"])
    assert found["share_high"] == found["corrections"]["share_high_left"]
    assert f"In {found['doubtful']} of {found['labels']} rows the models disagree" in out
    assert f"Between 0 and {share} % of the labels may be wrong" in out
    page = seen((tmp_path / "a.html").read_text(encoding="utf-8"))
    for text in (out, page):
        assert f"t most {before} % of the labels may have been wrong before your corrections" in text
        assert f"at most {share} % after them." in text
        assert f"In {found['doubtful']} rows the models still disagree with the label." in text
        assert set(re.findall(r"(?i)in (\d+) (?:of \d+ )?rows the models", text)) == {str(found["doubtful"])}
    code = unescape(
        re.search(r"In Python:</p><pre><code>(.*?)</code>", (tmp_path / "a.html").read_text(), re.DOTALL)[1]
    )
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["audit"].share_high == pytest.approx(found["share_high"])


def test_numbers_left_out_of_the_search_are_not_called_doubtful(dubio):
    words = ("clinic.xlsx", "--target", "SpO2", "--ignore", "sure,relapse", "--groups", "patient")
    out = flat(dubio("rank", *words)[0])
    assert "left out of the search: " in out and "more than 2.5 robust standard deviations" in out
    assert "An audit is stricter: it lists fewer of them." in out
    out = flat(dubio("audit", *words, "--target-kind", "numbers")[0])
    assert "Numbers to look at first: 'SpO2'" in out and "In 1 of " in out


def test_an_audit_without_doubtful_rows_prints_no_empty_table(dubio, tmp_path):
    table = clinic()
    table.loc[3, "SpO2"] = None
    table.to_excel(tmp_path / "right.xlsx", index=False)
    words = ("audit", "right.xlsx", "--target", "SpO2", "--target-kind", "numbers", "--ignore", "sure,relapse")
    out = dubio(*words, "--report", "a.html")[0]
    page = seen((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert "Which numbers of 'SpO2' in right.xlsx should somebody look at first? The models do not clearly" in page
    assert "do not clearly disagree with any of the" in flat(out)
    assert "disagreement" not in out and "Rows are counted" not in out


def test_several_targets_are_told_apart(dubio, tmp_path):
    words = ("rank", "clinic.xlsx", "--target", "relapse,SpO2", "--ignore", "sure,patient", *QUICK)
    found = json.loads(dubio(*words, "--json")[0])
    assert found["target"] == ["relapse", "SpO2"]
    known = {name: int(clinic()[name].notna().sum()) for name in ("relapse", "SpO2")}
    assert f"relapse (2 classes, known in {known['relapse']})" in found["labels"]
    assert f"SpO2 (a number, known in {known['SpO2']})" in found["labels"]
    out, _ = dubio(*words, "--report", "r.html", "--stability", "0")
    assert "Features for 'relapse' and 'SpO2'" in out
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", (tmp_path / "r.html").read_text(encoding="utf-8"))
    serves = {row["feature"]: row["serves"] for row in found["features"]}
    assert len(captions) == 5 and "no target" in "".join(captions)
    for caption in captions:
        name, target, served = re.fullmatch(r"\d+\. (.*), against (\w+); serves (.*)", unescape(caption)).groups()
        assert served == (serves[name] or "no target")
        assert not serves[name] or target in served


def test_the_target_at_fault_is_named(dubio, tmp_path, capfd):
    clinic().assign(empty=None, mixed=["12", "x"] * (len(clinic()) // 2) + ["13"] * (len(clinic()) % 2)).to_excel(
        tmp_path / "t.xlsx", index=False
    )
    for fault in ("empty", "ward", "sample"):
        assert run(["rank", "t.xlsx", "--target", f"relapse,{fault}"]) == 2
        said = capfd.readouterr().err
        assert f"'{fault}'" in said and "relapse," not in said


def test_a_skill_below_zero_is_printed_as_it_is(dubio, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).assign(y=rng.choice(["u", "v"], 60))
    table.to_csv(tmp_path / "noise.csv", index=False)
    skills = json.loads(dubio("audit", "noise.csv", "--target", "y", "--json")[0])["skills"]
    out = flat(dubio("audit", "noise.csv", "--target", "y")[0])
    assert min(skills.values()) < -0.01 and "below 0 is worse than guessing" in out
    for name, skill in skills.items():
        assert f"{name} {round(skill, 2) + 0.0:.2f}" in out


def test_ridge_is_not_called_logistic(dubio):
    words = ("rank", "clinic.xlsx", "--target", "SpO2", "--ignore", "sure,relapse,sample,patient", *QUICK)
    out, err = dubio(*words, "--evaluate", "logistic", "--json")
    assert "--evaluate logistic is ridge regression" in err
    evaluation = json.loads(out)["evaluation"]
    assert evaluation["model"] == "ridge" and re.search(r"[+-]0\.\d{3}, interval [+-]", evaluation["verdict"])
