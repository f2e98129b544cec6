"""The paper kit: what it says is what the run found, and running it again gives the same bytes."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dubio.words import SENTENCES
from dubio_app.command.run import run
from dubio_app.paper.checklist import ITEMS
from dubio_app.paper.text import CITED, METHODS, REFERENCES, RESULTS


def clinic(n: int = 150, seed: int = 0) -> pd.DataFrame:
    """Patients with two visits each; a marker and a colour follow the diagnosis, two columns do not."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n) == 1
    time = rng.exponential(np.where(ill, 300, 900)).round(1)
    return pd.DataFrame(
        {
            "patient": [f"P{row // 2:03}" for row in range(n)],
            "marker": np.where(rng.random(n) < 0.05, np.nan, rng.normal(size=n) + 1.5 * ill).round(5),
            "colour": np.where(rng.random(n) < 0.2 + 0.5 * ill, "red", "blue"),
            "noise": rng.normal(size=n).round(5),
            "remark": [f"remark {row}" for row in range(n)],
            "diagnosis": np.where(rng.random(n) < 0.1, None, np.where(ill, "ill", "well")),
            "p_ill": np.where(ill, 0.8, 0.3),
            "p_well": np.where(ill, 0.2, 0.7),
            "stage": 1 + ill + (rng.random(n) < 0.3),
            "days": time,
            "event": np.where(time < 600, "yes", "no"),
            "chance": np.where(rng.random(n) < 0.5, "a", "b"),
        }
    )


pytestmark = pytest.mark.thorough

_OTHERS = ("diagnosis", "p_ill", "p_well", "stage", "days", "event", "chance")
#: Questions about the same table: the options, and the columns of other targets.
QUESTIONS = {
    "classes in groups": ("--target diagnosis --groups patient", ()),
    "probabilities": ("--soft p_ill,p_well --id patient", ()),
    "numbers": ("--target days --regression --id patient --stability 4", ()),
    "ordered": ("--target stage --target-kind ordered --id patient", ()),
    "survival": ("--time days --event event --id patient", ()),
    "given": ("--target diagnosis --id patient --given colour", ()),
    "nothing stands out": ("--target chance --id patient --evaluate logistic", ()),
}


def words_of(question: str) -> list[str]:
    options = QUESTIONS[question][0].split()
    named = {name for word in options for name in word.split(",")}
    return [*options, "--ignore", ",".join(name for name in _OTHERS if name not in named)]


@pytest.fixture(scope="module")
def kits(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("kits")
    clinic().to_csv(folder / "clinic.csv", index=False)
    for name in QUESTIONS:
        words = ["rank", str(folder / "clinic.csv"), *words_of(name), "--paper", str(folder / name), "--quiet"]
        assert run([*words, "--json"]) == 0
    return {name: folder / name for name in QUESTIONS}


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_number_is_that_of_the_run(kits, name, capfd):
    folder = kits[name]
    assert run(["rank", str(folder.parent / "clinic.csv"), *words_of(name), "--json", "--quiet"]) == 0
    answer = json.loads(capfd.readouterr().out)
    table = pd.read_csv(folder / "tables" / "features.csv")
    features = pd.DataFrame(answer["features"])
    assert table["feature"].tolist() == features["feature"].tolist()
    for column in ("rank", "pvalue", "qvalue"):
        np.testing.assert_allclose(table[column], features[column].astype(float), rtol=1e-12)
    assert table["kept"].tolist() == features["kept"].tolist()
    results = (folder / "results.md").read_text(encoding="utf-8")
    kept = features[features["kept"] & features["pvalue"].notna()]
    for row in kept.itertuples():
        line = next(line for line in results.splitlines() if line.startswith(f"- {row.feature}:"))
        p, q = (float(number) for number in re.findall(r"[pq] = ([\d.e+-]+\d)", line))
        np.testing.assert_allclose([p, q], [row.pvalue, row.qvalue], rtol=1e-3)
    assert ("No feature was found" in results) == kept.empty
    assert f"Of {len(clinic())} rows" in results


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_paragraph_has_a_gap(kits, name):
    for page in ("methods.md", "results.md", "checklist.md"):
        text = (kits[name] / page).read_text(encoding="utf-8")
        assert not re.search(r"None|nan\b|\{|\}|  |\(\)| ,|\.\.", text.replace("@", "")), page
    methods = (kits[name] / "methods.md").read_text(encoding="utf-8")
    assert ("belong together" in methods) == ("groups" in name)
    assert "resamples" in methods
    assert ("taken as known" in methods) == (name == "given")
    assert ("cross-validation" in methods) == (name == "nothing stands out")
    written = (kits[name] / "references.bib").read_text(encoding="utf-8")
    assert set(re.findall(r"@(\w+\d{4}|dubio)", methods)) == set(re.findall(r"@\w+\{(\w+),", written))


def test_the_word_file_holds_the_same_text(kits):
    from docx import Document

    document = Document(str(kits["ordered"] / "paper.docx"))
    methods = (kits["ordered"] / "methods.md").read_text(encoding="utf-8")
    shown = [paragraph.text for paragraph in document.paragraphs]
    assert all(block in shown for block in methods.strip().split("\n\n") if not block.startswith("#"))
    assert len(document.tables) == 2 and len(document.tables[0].rows) == len(ITEMS) + 1


def test_it_runs_again_with_the_same_bytes_elsewhere(kits, tmp_path, monkeypatch, capfd):
    for name in ("clinic.csv", "classes in groups"):
        source = kits["classes in groups"].parent / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert run(["rerun", "classes in groups"]) == 0
    assert "Every file is the same" in capfd.readouterr().out
    table = pd.read_csv(tmp_path / "clinic.csv")
    table.loc[0, "marker"] = 55.0
    (tmp_path / "moved").mkdir()
    table.to_csv(tmp_path / "moved" / "new.csv", index=False)
    (tmp_path / "clinic.csv").unlink()
    assert run(["rerun", "classes in groups", "--table", "moved/new.csv"]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert "The table (moved/new.csv) is not the file that was analysed" in told and "These files differ" in told


def test_checked_rows_are_part_of_what_is_repeated(tmp_path, monkeypatch, capfd):
    table = clinic()
    table.drop(columns=list(_OTHERS[1:])).to_csv(tmp_path / "t.csv", index=False)
    rows = np.random.default_rng(0).choice(150, 50, replace=False)
    values = table["diagnosis"].fillna("well")[rows].to_numpy()
    pd.DataFrame({"row": rows + 1, "value": values, "chance": 50 / 150}).to_csv(tmp_path / "c.csv", index=False)
    words = [str(tmp_path / "t.csv"), "-t", "diagnosis", "--id", "patient", "--checked", str(tmp_path / "c.csv")]
    assert run(["rank", *words, "--quiet", "--paper", str(tmp_path / "kit"), "--stability", "0"]) == 0
    methods = (tmp_path / "kit" / "methods.md").read_text(encoding="utf-8")
    assert "The truth of 50 rows" in methods and "@angelopoulos2023" in methods
    results = (tmp_path / "kit" / "results.md").read_text(encoding="utf-8")
    assert "50 rows were checked" in results and "related to the truth, q of the truth = " in results
    capfd.readouterr()
    monkeypatch.chdir(tmp_path.parent)
    assert run(["rerun", str(tmp_path / "kit")]) == 0
    assert "Every file is the same" in capfd.readouterr().out


def test_a_changed_version_is_named(kits, tmp_path, capfd):
    folder = tmp_path / "kit"
    shutil.copytree(kits["ordered"], folder)
    record = (folder / "run.toml").read_text(encoding="utf-8")
    (folder / "run.toml").write_text(re.sub(r'scipy = "[^"]+"', 'scipy = "0.1"', record), encoding="utf-8")
    assert run(["rerun", str(folder), "--table", str(kits["ordered"].parent / "clinic.csv")]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert "scipy was 0.1, and is" in told and "This file differs: run.toml" in told


@pytest.mark.parametrize("content", ["", "[options]", "= 1", "[options]\n[files]\n[hashes]\nversions = 3"])
def test_what_is_no_kit_is_refused(tmp_path, capfd, content):
    (tmp_path / "run.toml").write_text(content)
    assert run(["rerun", str(tmp_path)]) == 2
    assert "holds no run.toml of a paper kit" in capfd.readouterr().err


def test_a_folder_with_other_files_is_refused_before_the_work(tmp_path, capfd):
    clinic(40).to_csv(tmp_path / "t.csv", index=False)
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "chance", "--paper", str(tmp_path)]) == 2
    assert "holds other files" in capfd.readouterr().err


def test_sentences_and_works_are_there():
    claims = [code for part in (*METHODS.values(), RESULTS) for code, _ in part]
    claims += [code for item in ITEMS for code, _ in item.answers]
    assert set(claims) <= set(SENTENCES)
    assert {key for keys in CITED.values() for key in keys} == set(REFERENCES)


def test_most_items_of_tripod_that_concern_selection_are_answered(kits):
    text = (kits["numbers"] / "checklist.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| TRIPOD+AI")]
    assert len(rows) == 16
    assert sum("You must say" not in row for row in rows) == 11
    text = (kits["nothing stands out"] / "checklist.md").read_text(encoding="utf-8")  # with --evaluate
    assert sum(line.startswith("| TRIPOD+AI") and "You must say" not in line for line in text.splitlines()) == 13


def rare_values(table: pd.DataFrame) -> set[str]:
    """Everything written in a table that fewer than five rows share, if it is long enough to be told from a count."""
    rare = set()
    for name in table:
        counts = table[name].value_counts()
        rare |= {str(value) for value in counts[counts < 5].index}
    return {value for value in rare if len(value) >= (4 if value[-1].isalpha() else 7)}


def text_of(path: Path) -> str:
    if path.suffix != ".docx":
        return path.read_bytes().decode("utf-8", "replace")
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        return " ".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())


def test_without_rows_nothing_rare_is_written(tmp_path):
    check_without_rows(tmp_path, seeds=range(3))


@pytest.mark.slow
def test_without_rows_nothing_rare_is_written_in_many_tables(tmp_path):
    check_without_rows(tmp_path, seeds=range(3, 203))


def check_without_rows(folder: Path, seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        table = clinic(80, seed).drop(columns=list(_OTHERS[1:]))
        table["colour"] = np.where(np.arange(80) < 3, "<b>puce & co", table["colour"])
        table["diagnosis"] = np.where(np.arange(80) > 76, "rare disease", table["diagnosis"])
        table["measure"] = rng.integers(100_000, 999_999, 80)
        path = folder / f"t{seed}"
        path.mkdir()
        table.to_csv(path / "t.csv", index=False)
        words = ["rank", str(path / "t.csv"), "-t", "diagnosis", "--id", "patient", "--no-rows", "--quiet", "--json"]
        out = ["--report", str(path / "r.html"), "--save-selection", str(path / "s.json"), "--paper", str(path / "kit")]
        assert run([*words, *out, "--stability", "0"]) == 0
        rare = rare_values(table)
        assert "rare disease" in rare and "<b>puce & co" in rare and len(rare) > 100
        rare |= {"puce", "P001", *map(str, table["measure"])}
        for file in path.rglob("*"):
            if file.is_file() and file.name != "t.csv" and file.suffix != ".pdf":
                tokens = text_of(file)
                found = {value for value in rare if re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w.])", tokens)}
                assert not found, (file.name, found)


def test_votes_without_rows_name_no_rare_class_and_no_row(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90)})
    truth = np.where(table["a"] > 0, "yes", "no").astype(object)
    truth[:2] = "rare disease"
    for name in ("ann", "bob", "eve"):
        table[name] = np.where(rng.random(90) < 0.85, truth, "no")
    table.loc[[70, 71], ["ann", "bob", "eve"]] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["rank", str(tmp_path / "t.csv"), "--annotators", "ann,bob,eve", "--combine", "columns", "--quiet"]
    page = tmp_path / "r.html"
    assert run([*words, "--report", str(page)]) == 0
    assert "rare disease" in page.read_text(encoding="utf-8") and "71" in text_of(page)
    assert run([*words, "--report", str(page), "--no-rows"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "rare disease" not in text and "rows 71" not in text and "Row 71" not in text


def test_control_characters_of_names_reach_no_file_for_people(tmp_path):
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, 60)
    frame = pd.DataFrame({"\x1b]0;x\x07crp": rng.normal(size=60) + 2 * ill, "\u202eabc": rng.normal(size=60)})
    frame.assign(y=np.array(["no", "\x1b[31myes"])[ill]).to_csv(tmp_path / "t.csv", index=False)
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "y", "-m", "fisher", "--paper", str(tmp_path / "kit")]) == 0
    for path in [*tmp_path.glob("kit/*.md"), *tmp_path.glob("kit/figures/*.svg")]:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", path.read_text(encoding="utf-8")), path
