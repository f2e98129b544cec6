"""The command, as a person or a program uses it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from dubio import METHODS, FeatureSelector, soft_labels, stability
from dubio.progress import listening
from dubio.simulate import flip_labels, unsure_annotator
from dubio_app.command.run import run

SOURCE = Path(__file__).parents[1] / "src"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Iris in several forms: classes, probabilities, annotators, confidences, missing labels, pairs."""
    place = tmp_path_factory.mktemp("tables")
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    rng = np.random.default_rng(0)
    P = unsure_annotator(names, 0.3, random_state=0).memberships
    table = X.assign(noise=rng.normal(size=len(X)), species=names)
    table.to_csv(place / "iris.csv", index=False)
    table.to_parquet(place / "iris.parquet")
    experts = {f"expert_{i}": flip_labels(names, 0.2, random_state=i) for i in range(3)}
    everything = table.assign(
        **{f"p_{k}": P.memberships[:, i] for i, k in enumerate(P.classes)},
        **experts,
        sure=np.linspace(0.5, 1, len(X)),
        partly=np.where(rng.random(len(X)) < 0.7, "unknown", names),
    )
    everything.to_csv(place / "doubt.csv", index=False)
    pd.DataFrame({"a": [1, 51, 1], "b": [2, 52, 121], "kind": ["must", "must", "cannot"]}).to_csv(
        place / "pairs.csv", index=False
    )
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.assign(progress=y).to_csv(place / "diabetes.csv", index=False)
    return place


def dubio(capfd, *words: object) -> tuple[int, str, str]:
    code = run([str(word) for word in words])
    out, err = capfd.readouterr()
    return code, out, err


def ranked(capfd, *words: object) -> dict:
    code, out, err = dubio(capfd, "rank", *words, "--json")
    assert code == 0, err
    return json.loads(out)


OTHERS = "noise,p_setosa,p_versicolor,p_virginica,expert_0,expert_1,expert_2,sure,partly,species"


def test_rank_prints_a_table(capfd, folder):
    code, out, err = dubio(capfd, "rank", folder / "iris.csv", "--target", "species")
    assert code == 0 and err == ""
    assert out.startswith("4 of 5 columns are related to 'species': petal_width, petal_length,")
    assert "sufficient" in out and "related" in out
    assert "\x1b" not in out  # no colours in a pipe


def test_json_is_what_the_selector_says(capfd, folder):
    table = pd.read_csv(folder / "iris.csv")
    selector = FeatureSelector(random_state=3).fit(table.drop(columns="species"), table["species"])
    found = ranked(capfd, folder / "iris.csv", "-t", "species", "--seed", 3)
    assert found["explanation"] == selector.explanation_
    assert found["kept"] == [
        str(n)
        for n in selector.to_ranking().names[selector.to_ranking().order][
            selector.support_[selector.to_ranking().order]
        ]
    ]
    scores = {row["feature"]: row["score"] for row in found["features"]}
    assert [scores[name] for name in table.columns[:-1]] == selector.scores_.tolist()


def test_csv_has_every_feature(capfd, folder):
    code, out, _ = dubio(capfd, "rank", folder / "iris.parquet", "-t", "species", "--csv", "--top", 1)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert {row["kept"] for row in rows} == {"true", "false"}
    assert float(rows[0]["qvalue"]) < 1e-10


@pytest.mark.parametrize("form", ["--json", "--csv"])
@pytest.mark.thorough
def test_same_seed_same_bytes_for_any_jobs(capfd, folder, form):
    words = ["rank", folder / "doubt.csv", "--soft", "p_setosa,p_versicolor,p_virginica", "--ignore"]
    words += [OTHERS.replace("noise,", "").replace("p_setosa,p_versicolor,p_virginica,", ""), "--stability", 5, form]
    outputs = [dubio(capfd, *words, "--seed", 7, "--jobs", jobs)[1] for jobs in (1, 2, 1)]
    assert outputs[0] == outputs[1] == outputs[2] != ""


def test_soft_confidence_annotators_and_missing(capfd, folder):
    table = pd.read_csv(folder / "doubt.csv")
    X = table.iloc[:, :5]
    path, apart = folder / "doubt.csv", OTHERS.replace("noise,", "").split(",")

    def found(*words: str, target: list[str]) -> dict:
        ignore = ",".join(name for name in apart if name not in target)
        return ranked(capfd, path, *words, "--ignore", ignore)

    def scores(y: object) -> list[float]:
        order = FeatureSelector(target="classes").fit(X, y).to_ranking()
        return order.scores[order.order].tolist()

    soft = [f"p_{name}" for name in ("setosa", "versicolor", "virginica")]
    assert [r["score"] for r in found("--soft", ",".join(soft), target=soft)["features"]] == scores(table[soft])
    labels = soft_labels(table["species"], confidence=table["sure"])
    sure = found("--target", "species", "--confidence", "sure", target=["species", "sure"])
    assert [r["score"] for r in sure["features"]] == scores(labels)
    experts = [f"expert_{i}" for i in range(3)]
    votes = soft_labels(table[experts].to_numpy(dtype=object), combine="dawid-skene")
    voted = found("--annotators", ",".join(experts), "--combine", "dawid-skene", target=experts)
    assert [r["score"] for r in voted["features"]] == scores(votes)
    partly = found("--target", "partly", "--unlabelled", "unknown", target=["partly"])
    assert [r["score"] for r in partly["features"]] == scores(table["partly"].mask(table["partly"] == "unknown"))
    assert "without a label" in partly["labels"]


@pytest.mark.thorough
def test_a_large_table_or_a_folder_is_streamed_unasked(capfd, folder, tmp_path, monkeypatch):
    words = folder / "iris.parquet", "-t", "species", "--keep", "2", "--json", "--method", "weighted_laplacian"
    whole = ranked(capfd, *words)
    monkeypatch.setattr("dubio_app.command.options.LARGE", 1000)
    streamed = ranked(capfd, *words)
    assert "is read once" in streamed["notes"][0]
    assert streamed["kept"] == whole["kept"]
    assert "petal_width" in streamed["kept"]
    assert not any("is read once" in note for note in ranked(capfd, *words, "--no-stream")["notes"])
    # The default method ranks a sample, with every option that a loaded table has.
    sampled = ranked(capfd, folder / "iris.parquet", "-t", "species", "--stability", "3", "--json")
    assert sampled["method"] == "neighbor_search" and "petal_width" in sampled["kept"]
    monkeypatch.setattr("dubio.streams.sample.SAMPLE_ROWS", 90)
    for more in (["-t", "species"], ["-t", "petal_width", "--regression"], []):
        sampled = ranked(capfd, folder / "iris.parquet", *more, "--json")
        assert any("a sample of 90 of 150 rows was used" in note for note in sampled["notes"]), more
        assert any("of all rows: " in note for note in sampled["notes"]) is bool(more)
    # A folder of files is streamed whatever its size, and text columns are left out with a note.
    monkeypatch.undo()
    table = pd.read_parquet(folder / "iris.parquet").assign(remark="none")
    table[::2].to_parquet(tmp_path / "a.parquet")
    table[1::2].to_parquet(tmp_path / "b.parquet")
    parts = ranked(capfd, tmp_path, "-t", "species", "--keep", "2", "--json", "--method", "weighted_laplacian")
    assert parts["kept"] == whole["kept"]
    assert "remark" in parts["notes"][1]
    table.loc[7, "noise"] = np.nan
    table.to_parquet(tmp_path / "b.parquet")
    monkeypatch.setattr("dubio_app.command.options.LARGE", 1000)
    code, _, err = dubio(capfd, "rank", tmp_path / "b.parquet", "-t", "species", "-m", "weighted_laplacian")
    assert code == 2
    assert "'noise'" in err and "--no-stream" in err


def test_streamed_and_loaded_alike(capfd, tmp_path, monkeypatch):
    """What a cell means, what is no feature and what is no class do not depend on how a table is read."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=600)
    words = np.array(["x", "y", "z"])[codes].astype(object)
    words[rng.random(600) < 0.3] = "?"
    table = pd.DataFrame({"id": range(600), "a": rng.normal(size=600) + codes, "b": rng.normal(size=600)})
    table["huge"] = rng.integers(2**60, 2**62, size=600)
    table["name"] = "a\nb"
    cases = {
        "words.csv": words,
        "signs.parquet": np.where(codes > 0, 1, -1),
        "signs.csv": codes - 1,
        "halves.parquet": 1 + codes / 2,
        "many.parquet": rng.integers(0, 40, size=600),
    }
    for name, target in cases.items():
        path, full = tmp_path / name, table.assign(t=target)
        full.to_csv(path, index=False) if name.endswith("csv") else full.to_parquet(path)
        found = []
        for large in (1, 2**40):
            monkeypatch.setattr("dubio_app.command.options.LARGE", large)
            if name.startswith(("halves", "many")):  # numbers: no classes to stream
                loaded = ranked(capfd, path, "-t", "t", "-k", "1", "--ignore", "name")
                assert not any("is read once" in note for note in loaded["notes"])
                found.append(loaded)
                continue
            found.append(ranked(capfd, path, "-t", "t", "-m", "weighted_laplacian", "-k", "1", "--ignore", "name"))
            assert any("is read once" in note for note in found[-1]["notes"]) == (large == 1), name
        one, other = found[0]["features"], found[-1]["features"]
        assert [row["feature"] for row in one] == [row["feature"] for row in other] != []
        assert [row["score"] for row in one] == pytest.approx([row["score"] for row in other], rel=1e-9)
        assert "id" not in [row["feature"] for row in one]


def test_stream_gives_the_same_ranking(capfd, folder):
    words = [folder / "iris.parquet", "-t", "species", "-m", "fisher", "--keep", 2]
    whole, streamed = ranked(capfd, *words), ranked(capfd, *words, "--stream")
    assert streamed["kept"] == whole["kept"]
    for one, other in zip(whole["features"], streamed["features"], strict=True):
        assert one["feature"] == other["feature"] and one["score"] == pytest.approx(other["score"], rel=1e-9)
    code, out, err = dubio(capfd, "rank", *words[:5], "--stream")
    assert code == 0 and "half of the features are kept" in err and "petal_length" in out
    code, _, err = dubio(capfd, "rank", *words[:5], "--stream", "--report", "x.html")
    assert code == 2 and "leave out --report" in err
    assert dubio(capfd, "rank", *words[:3], "--stream", "-m", "relieff")[0] == 2


def test_regression_is_found_out(capfd, folder):
    found = ranked(capfd, folder / "diabetes.csv", "-t", "progress")
    assert "442 rows with a numeric target" in found["labels"]
    assert set(found["kept"]) >= {"bmi", "s5"}


def test_pairs_and_nothing(capfd, folder):
    found = ranked(capfd, folder / "iris.csv", "--pairs", folder / "pairs.csv", "--ignore", "species", "--keep", 2)
    assert "2 must-link pairs and 1 cannot-link pair" in found["labels"]
    found = ranked(capfd, folder / "iris.csv", "--ignore", "species", "--keep", "40%")
    assert found["method"] == "laplacian" and len(found["kept"]) == 2


@pytest.mark.parametrize("method", ["fisher", "fuzzy_rough_search", "relieff"])
def test_methods_by_name(capfd, folder, method):
    found = ranked(capfd, folder / "iris.csv", "-t", "species", "-m", method, "--keep", 2)
    assert found["method"] == method and len(found["kept"]) == 2


def test_methods_lists_all(capfd):
    code, out, _ = dubio(capfd, "methods", "--json")
    assert code == 0
    assert [row["method"] for row in json.loads(out)["methods"]] == list(METHODS)
    assert "fuzzy_rough_search" in dubio(capfd, "methods")[1]


def test_table_from_standard_input(capfd, folder, monkeypatch):
    content = io.TextIOWrapper(io.BytesIO((folder / "iris.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", content)
    assert ranked(capfd, "-", "-t", "species")["kept"][0].startswith("petal")


def test_saved_table_has_the_kept_columns(capfd, folder, tmp_path):
    out = tmp_path / "small.csv"
    found = ranked(capfd, folder / "iris.csv", "-t", "species", "--keep", 2, "--save-table", out)
    small = pd.read_csv(out)
    assert set(small.columns) == {*found["kept"], "species"} and len(small) == 150


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_blank_cell_does_not_change_whole_numbers(capfd, tmp_path, ending):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    age = (50 + 9 * (y == "b") + rng.integers(0, 9, 80)).astype(str)
    age[3] = ""
    path, out = tmp_path / "t.csv", tmp_path / f"small.{ending}"
    pd.DataFrame({"age": age, "noise": rng.normal(size=80), "y": y}).to_csv(path, index=False)
    code, _, err = dubio(capfd, "rank", path, "-t", "y", "--keep", 1, "--save-table", out)
    assert code == 0, err
    lines = out.read_text().splitlines()
    if ending == "csv":
        assert lines == ["age,y", *(f"{a},{b}" for a, b in zip(age, y, strict=True))]
    else:
        assert [json.loads(line)["age"] for line in lines] == [int(a) if a else None for a in age]
        assert ".0" not in out.read_text()


def test_what_was_left_out_is_told_once(capfd, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 3)).round(3), columns=list("abc"))
    X["note"] = [f"free text {i} here" for i in range(90)]
    X["y"] = np.where(X["a"] > 0, "ill", "well")
    pd.concat([X, X.iloc[:8]]).to_csv(tmp_path / "t.csv", index=False)
    for command in ("rank", "audit"):
        code, out, err = dubio(capfd, command, tmp_path / "t.csv", "-t", "y")
        said = " ".join((out + err).split())
        assert code == 0 and said.count("left out") == 1 and said.count("'note'") == 1
        assert "left out: 'note' (text with 90 different values, such as 'free text 0 here')." in said
        assert ("q-value" in said) is (command == "rank") and "rows are independent" in said


def test_nominal_columns_are_kept_whole(capfd, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 50)
    colour = np.where(y == "a", "red", rng.choice(["green", "blue"], 100))
    path, out = tmp_path / "t.csv", tmp_path / "small.parquet"
    pd.DataFrame({"x": rng.normal(size=100), "colour": colour, "y": y}).to_csv(path, index=False)
    code, text, err = dubio(capfd, "rank", path, "-t", "y", "--keep", 1, "--save-table", out, "--csv")
    assert code == 0 and "\n1,colour," in text and "colour=" not in text
    assert "1 column was read as categories: 'colour'" in err
    assert list(pd.read_parquet(out).columns) == ["colour", "y"]


def test_report_and_its_code(capfd, folder, tmp_path):
    out = tmp_path / "report.html"
    found = ranked(capfd, folder / "iris.csv", "-t", "species", "--report", out, "--stability", 5, "--keep", 3)
    page = out.read_text()
    assert found["stability"]["draws"] == 5
    assert "Labels in doubt" in page and "Stability" in page
    import html

    code = html.unescape(page.split("In Python:</p><pre><code>")[1].split("</code>")[0])
    scope: dict = {}
    exec(code, scope)
    assert scope["selector"].scores_.tolist() == [
        row["score"] for name in scope["X"].columns for row in found["features"] if row["feature"] == name
    ]
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("method", ["neighbor_search", "mutual_information_search", "fuzzy_rough_search"])
def test_report_of_a_search_shows_its_criterion(capfd, folder, tmp_path, method):
    out = tmp_path / "report.html"
    found = ranked(capfd, folder / "iris.csv", "-t", "species", "-m", method, "--report", out, "--stability", 0)
    page = out.read_text()
    assert re.search(r"is good\) by number of features; \d+ (kept|is enough|are enough)", page)
    assert found["kept"]


def test_code_of_a_messy_table(capfd, tmp_path):
    import html

    path, out = tmp_path / "messy.csv", tmp_path / "report.html"
    rng = np.random.default_rng(0)
    lines = ["nr;x;colour;y"]
    for i in range(60):
        x, colour = "?" if i % 7 == 0 else round(rng.normal(), 3), "None" if i % 3 else "red"
        lines.append(f"{i};{x};{colour};{'-' if i % 5 == 0 else 'ab'[i % 2]}")
    path.write_text("\n".join(lines))
    found = ranked(capfd, path, "-t", "y", "--unlabelled", "-", "--keep", 2, "--report", out, "--stability", 0)
    scope: dict = {}
    exec(html.unescape(out.read_text().split("In Python:</p><pre><code>")[1].split("</code>")[0]), scope)
    ranking = scope["selector"].to_ranking()
    assert [row["feature"] for row in found["features"]] == ranking.names[ranking.order].tolist()
    assert [row["score"] for row in found["features"]] == ranking.scores[ranking.order].tolist()
    assert "'nr' was left out: it only counts the rows" in " ".join(found["notes"])


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.thorough
def test_progress_is_shown_to_a_person_only(folder, quiet):
    import pty

    ours, theirs = pty.openpty()
    words = ["rank", str(folder / "iris.csv"), "-t", "species", "--csv", "--stability", "20", "-m", "fisher"]
    words += ["--quiet"] if quiet else []
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-m", "dubio", *words], env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # how Linux says that the other end is closed
            break
        if not piece:
            break
        shown += piece
    out = process.stdout.read() if process.stdout else ""
    os.close(ours)
    assert process.wait(timeout=60) == 0
    if quiet:
        assert shown == b""
    else:
        assert b"ranking" in shown and b"resamples 20 of 20" in shown
    assert out.startswith("rank,feature,") and "\x1b" not in out


def test_permutations_are_counted(capfd, folder, monkeypatch):
    import contextlib

    told: dict[str, list[tuple[int, int]]] = {}

    @contextlib.contextmanager
    def step(what):
        with listening(lambda part, done, total: told.setdefault(f"{what}: {part}", []).append((done, total))):
            yield

    monkeypatch.setattr("dubio_app.command.rank.step", step)
    ranked(capfd, folder / "iris.csv", "-t", "species", "-m", "relieff")
    assert all(part.startswith("ranking: ") for part in told)  # short steps report their parts on a busy machine
    counts = told["ranking: permutations"]
    assert len(counts) > 2 and [done for done, _ in counts] == sorted(done for done, _ in counts)
    assert all(done <= total for done, total in counts)
    told.clear()
    FeatureSelector("relieff").fit(*load_iris(return_X_y=True))  # nobody watches any longer
    assert told == {}


def test_audit_leaves_out_what_nobody_can_judge(capfd, folder, tmp_path):
    table = pd.read_csv(folder / "iris.csv")
    table.loc[7, "species"] = "unique"
    table.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = dubio(capfd, "audit", tmp_path / "t.csv", "-t", "species", "--json")
    assert code == 0 and json.loads(out)["labels"] == 149
    assert "1 class with only one row cannot be judged ('unique'): it is treated as unlabelled" in err
    code, out, err = dubio(capfd, "audit", folder / "diabetes.csv", "-t", "progress")
    assert code == 2 and "different numbers, not classes" in err
    table["species"] = ["setosa"] * 149 + ["unique"]  # nobody can judge one of the two classes, and one is not enough
    table.to_csv(tmp_path / "t.csv", index=False)
    for engine in ("pooled", "confident", "lnt"):
        code, out, err = dubio(capfd, "audit", tmp_path / "t.csv", "-t", "species", "--engine", engine)
        assert code == 2 and out == "" and "only one class ('setosa' in 149 labelled rows)" in err


@pytest.mark.parametrize(
    "words", [["audit"], ["audit", "--engine", "lnt"], ["rank"], ["rank", "-m", "laplacian"], ["rank", "-m", "relieff"]]
)
def test_values_too_large_to_square_are_named(capfd, folder, tmp_path, words):
    table = pd.read_csv(folder / "iris.csv")
    table.loc[7, "petal_width"] = 1e200
    table.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = dubio(capfd, words[0], tmp_path / "t.csv", "-t", "species", *words[1:])
    assert code == 2 and out == "" and "too large to square in column 'petal_width'" in err


def test_audit_finds_wrong_labels(capfd, folder, tmp_path):
    table = pd.read_csv(folder / "iris.csv")
    wrong = [3, 77, 140]
    table.loc[wrong, "species"] = ["virginica", "setosa", "setosa"]
    table.to_csv(tmp_path / "wrong.csv", index=False)
    code, out, err = dubio(capfd, "audit", tmp_path / "wrong.csv", "--target", "species", "--json")
    found = json.loads(out)
    assert code == 0, err
    assert {row["row"] for row in found["rows"]} >= {row + 1 for row in wrong}  # rows are counted from 1
    assert found["doubtful"] == len(found["rows"])
    by_row = {row["row"]: row for row in found["rows"]}
    assert by_row[4]["suggested"] == "setosa" and by_row[141]["suggested"] == "virginica"
    assert "petal_length" in by_row[4]  # a telling value of the row
    code, out, _ = dubio(capfd, "audit", tmp_path / "wrong.csv", "-t", "species", "--csv", "--all")
    assert code == 0 and len(list(csv.DictReader(io.StringIO(out)))) == 150
    code, out, _ = dubio(capfd, "audit", tmp_path / "wrong.csv", "-t", "species")
    assert code == 0 and "141" in out and "disagreement" in out and "Skill of the models" in out
    table.insert(0, "patient", [f"P{i}" for i in range(150)])
    table.to_csv(tmp_path / "named.csv", index=False)
    page = tmp_path / "audit.html"
    words = ["audit", tmp_path / "named.csv", "-t", "species", "--id", "patient", "--csv", "--report", page]
    code, out, err = dubio(capfd, *words)
    assert code == 0 and "P140" in out and "Labels in doubt" in page.read_text(), err


def test_an_audit_without_a_doubtful_label_writes_a_header(capfd, folder):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).assign(y=rng.permutation(["p", "q"] * 30))
    noise.to_csv(folder / "noise.csv", index=False)
    code, out, _ = dubio(capfd, "audit", folder / "noise.csv", "-t", "y", "--csv")
    assert code == 0 and out == "row,given,suggested,disagreement,doubtful,rank\n"
    code, out, _ = dubio(capfd, "audit", folder / "noise.csv", "-t", "y")
    assert code == 0 and "cannot be judged" in out


def test_an_audit_writes_the_same_bytes_with_any_number_of_jobs(capfd, folder):
    words = ["audit", folder / "iris.csv", "-t", "species", "--all", "--csv"]
    runs = {dubio(capfd, *words, "-j", str(jobs))[1] for jobs in (1, 2, 1, 2)}
    assert len(runs) == 1


def test_audit_of_a_wide_table(capfd, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 300))
    X[:20] += 0.7
    table = pd.DataFrame(X, columns=[f"g{i}" for i in range(300)]).assign(y=np.repeat(["a", "b"], 20))
    table.loc[5, "y"] = "b"
    table.to_csv(tmp_path / "wide.csv", index=False)
    code, out, err = dubio(capfd, "audit", tmp_path / "wide.csv", "-t", "y", "--json", "--all")
    assert code == 0, err
    rows = json.loads(out)["rows"]
    assert min(rows, key=lambda row: row["rank"])["row"] == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["rank", "{iris}", "-t", "speceis"],
            "--target names 'speceis', but the table has no such column: did you mean 'species'?",
        ),
        (["rank", "{empty}", "-t", "y"], "is empty"),
        (["rank", "{ragged}", "-t", "y"], "line 3"),
        (
            ["rank", "{mixed}", "-t", "y"],
            "mixes numbers (4 cells) with text (1 cell) in column 'x', first 'oops'",
        ),
        (["rank", "{missing}", "-t", "y"], "all labels are missing"),
        (["rank", "{iris}", "-t", "sepal_length", "--ignore", "species", "--classes"], ""),
        (["rank", "{id}", "-t", "id"], "identifier"),
        (["audit", "{id}", "-t", "id"], "identifier"),
        (["rank", "{iris}", "-t", "species", "--report", "/nonexistent/out.html"], "no folder"),
        (["rank", "{iris}", "-t", "species", "--method", "fischer"], "did you mean 'fisher'"),
        (["rank", "{iris}", "-t", "species", "--method", "supervised_laplacian"], "needs a numeric target"),
        (["rank", "{iris}", "-t", "species", "--keep", "many"], "--keep"),
        (["rank", "{iris}", "-t", "species", "--keep", "99"], "the table has 5 features"),
        (["rank", "{iris}", "--soft", "sepal_length,sepal_width"], "sum"),
        (["rank", "{iris}", "--soft", "sepal_length"], "at least two"),
        (["rank", "{iris}", "-t", "species", "--annotators", "noise"], "both say what the target is"),
        (["rank", "{iris}", "--confidence", "noise"], "give --target too"),
        (["rank", "{iris}", "--json", "--csv"], "one of them"),
        (["rank", "{iris}", "--pairs", "{iris}"], "three columns"),
        (["rank"], "Missing argument"),
        (["rank", "{iris}", "--nope"], "--nope"),
        (["explain"], "explain"),
    ],
)
def test_mistakes_are_one_line(capfd, folder, tmp_path, words, message):
    files = {
        "empty": "",
        "ragged": "x,y\n1,a\n2\n",
        "mixed": "x,y\n1,a\n2,b\n3,a\noops,b\n5,a\n",
        "missing": "x,y\n1,\n2,\n",
        "id": "id,x\na1,1\na2,2\na3,3\n",
    }
    places = {"iris": folder / "iris.csv"}
    for name, content in files.items():
        places[name] = tmp_path / f"{name}.csv"
        places[name].write_text(content)
    before = sorted(tmp_path.iterdir())
    code, out, err = dubio(capfd, *[word.format(**places) for word in words])
    assert code == 2
    assert out == ""
    assert err.startswith("dubio: ") and err.count("\n") == 1 and "Traceback" not in err
    assert message in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["rank", "{sums}", "--soft", "A,B"],
            "sum to 3, not to 1, in line 2 of the file (60 such rows): --normalize divides each row",
        ),
        (["rank", "{sums}", "--soft", "A,B", "--stream"], "divide each row by its sum in the file"),
        (
            ["rank", "{sums}", "--soft", "A,N", "--normalize"],
            "negative or missing values in line 2 of the file (60 such rows): fill all probabilities of a row (none "
            "below 0)",
        ),
        (
            ["rank", "{sums}", "--soft", "Y,Z", "--normalize"],
            "the target sums to 0 in line 2 of the file (60 such rows): if a row is unlabelled, leave all of its "
            "cells empty",
        ),
        (["rank", "{sums}", "--soft", "A,B", "--normalize", "--stream", "-m", "fisher"], "leave out --normalize"),
        (["rank", "{iris}", "-t", "species", "--normalize"], "--soft columns by its sum: give --soft too"),
        (
            ["rank", "{iris}", "-t", "species", "--keep", "50"],
            "--keep 50, but the table has 5 features: give a number",
        ),
        (["rank", "{iris}", "-t", "species", "--alpha", "2"], "--alpha 2.0: give a number between 0 and 1."),
        (["rank", "{iris}", "-t", "species", "--redundancy", "-1"], "--redundancy -1.0: give 0 or a positive number."),
        (
            ["rank", "{iris}", "-t", "species", "--jobs", "0"],
            "--jobs 0: give a number of threads, or -1 for all processors.",
        ),
        (
            ["rank", "{iris}", "-t", "species", "--confidence", "noise"],
            "--confidence is -0.132105 in line 3 of the file (96 such rows)",
        ),
        (
            ["rank", "{iris}", "-t", "noise", "--confidence", "sepal_width", "--regression"],
            "--confidence says how sure a class is, but the target holds numbers: leave it out.",
        ),
        (["rank", "{iris}", "-t", "species", "--annotator", "species"], "--annotator names 'species', which is the"),
        (["rank", "{iris}", "-t", "noise", "--method", "fisher"], "but the target is numeric"),
        (["rank", "{iris}", "--ignore", "species", "--method", "fisher"], "but no target is given: give --target."),
        (["rank", "{iris}", "--ignore", "species", "--pairs", "{pairs}"], "pair 1 says that row 1 differs from itself"),
        (
            ["rank", "{iris}", "-t", "species", "--stream", "--ignore", "noise", "--keep", "9"],
            "--keep 9, but the table",
        ),
        (["rank", "{iris}", "-t", "noise", "--pairs", "{good}"], "--pairs cannot be used here: the target is numeric"),
        (["audit", "{sums}", "-t", "count"], "an audit needs one class per row, so name the column with the class"),
    ],
)
def test_mistakes_are_told_in_the_words_of_the_command(capfd, folder, tmp_path, words, message):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "z"])
    table = table.assign(A=1.0, B=2.0, N=-1.0, Y=0.0, Z=0.0, count=np.arange(60) // 2)
    table.to_csv(tmp_path / "sums.csv", index=False)
    (tmp_path / "pairs.csv").write_text("a,b,kind\n1,1,cannot\n")
    places = {"iris": folder / "iris.csv", "sums": tmp_path / "sums.csv", "pairs": tmp_path / "pairs.csv"}
    places["good"] = folder / "pairs.csv"
    code, out, err = dubio(capfd, *[word.format(**places) for word in words])
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert message in err
    python_words = "soft_labels", "n_features_to_select", "n_jobs", "of y ", "y holds", "X has", "parameter of", "None"
    for python in python_words:
        assert python not in err
    if words[0] == "audit":
        assert "--regression" not in err


def test_decimal_commas_from_file_to_answer(capfd, folder, tmp_path):
    table = pd.read_csv(folder / "iris.csv", float_precision="round_trip")
    table.to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    small = tmp_path / "small.csv"
    words = ["-t", "species", "--json", "--seed", 1]
    expected = json.loads(dubio(capfd, "rank", folder / "iris.csv", *words)[1])
    code, out, err = dubio(capfd, "rank", tmp_path / "comma.csv", *words, "--save-table", small)
    assert code == 0 and json.loads(out)["features"] == expected["features"]
    assert "dubio: 5 columns with decimal commas were read as numbers: 'sepal_length'" in err
    assert "separated by a semicolon" in err
    assert pd.read_csv(small, decimal=",")["petal_width"].tolist() == table["petal_width"].tolist()
    # marks such as 1,3 are classes if one says so, and numbers if not
    table["mark"] = np.repeat(["1,0", "1,3", "1,7"], 50)
    table.drop(columns="species").to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    assert "3 classes" in ranked(capfd, tmp_path / "comma.csv", "-t", "mark", "--classes")["labels"]
    assert "numeric" in ranked(capfd, tmp_path / "comma.csv", "-t", "mark")["labels"]


def test_odd_class_names_are_told(capfd, folder, tmp_path):
    table = pd.read_csv(folder / "iris.csv")
    table.loc[:2, "species"] = ["Setosa", "Setosa", "setosa "]
    table.loc[60:62, "species"] = "None"
    table.to_csv(tmp_path / "t.csv", index=False)
    for command in ("rank", "audit"):
        code, _, err = dubio(capfd, command, tmp_path / "t.csv", "-t", "species")
        assert code == 0 and "Warning" not in err
        told = [line for line in err.splitlines() if "differ only in case or spaces" in line]
        assert told == [
            "dubio: the target has classes that differ only in case or spaces: 'Setosa' (2 rows), 'setosa' (47 rows), "
            "'setosa ' (1 row). They are read as different classes: if they are the same class, spell them the same "
            "way."
        ]
        assert err.count("'None' (3 rows)") == 1 and "--unlabelled VALUE reads such rows as unlabelled" in err
        assert "'None'" not in dubio(capfd, command, tmp_path / "t.csv", "-t", "species", "--unlabelled", "None")[2]
    votes = table.assign(other=table["species"])
    votes.to_csv(tmp_path / "votes.csv", index=False)
    code, _, err = dubio(capfd, "rank", tmp_path / "votes.csv", "--annotators", "species,other", "--keep", 2)
    assert code == 0 and "'Setosa' (4 rows)" in err and "Warning" not in err


def test_counts_of_classes_are_normalized(capfd, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    table = pd.DataFrame({"x": y + rng.normal(size=60), "z": rng.normal(size=60)})
    table["never"], table["often"] = np.where(y, 1, 4), np.where(y, 5, 0)  # whole numbers: no votes for class 5
    table.to_csv(tmp_path / "t.csv", index=False)
    words = [tmp_path / "t.csv", "--soft", "never,often", "--normalize", "--keep", 1]
    found = ranked(capfd, *words)
    expected = table[["never", "often"]].div(table[["never", "often"]].sum(axis=1), axis=0)
    selector = FeatureSelector(n_features_to_select=1).fit(table[["x", "z"]], expected)
    assert found["kept"] == ["x"] and found["features"][0]["score"] == selector.scores_[0]
    report = tmp_path / "report.html"
    assert dubio(capfd, "rank", *words, "--report", report, "--stability", 3)[0] == 0
    import html

    scope: dict = {}
    exec(html.unescape(report.read_text().split("In Python:</p><pre><code>")[1].split("</code>")[0]), scope)
    assert scope["selector"].scores_.tolist() == selector.scores_.tolist()
    assert "Kept 1 of 2: as many as requested." in " ".join(dubio(capfd, "rank", *words)[1].split())


def test_nothing_stands_out_is_said(capfd, tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(40, 6)), columns=list("abcdef")).assign(y=["p", "q"] * 20)
    table.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = dubio(capfd, "rank", tmp_path / "t.csv", "-t", "y", "--json")
    found = json.loads(out)
    assert code == 0 and found["kept"] == [] and found["n_relevant"] == 0
    assert not any(row["kept"] for row in found["features"])
    code, out, _ = dubio(capfd, "rank", tmp_path / "t.csv", "-t", "y", "--save-table", tmp_path / "none.csv")
    assert code == 0 and out.startswith("No feature stands out") and not (tmp_path / "none.csv").exists()
    assert err.startswith("dubio: the table has no feature that stands out")
    assert dubio(capfd, "rank", tmp_path / "t.csv", "-t", "y", "--json", "--quiet")[2] == ""


def test_hostile_names_in_a_terminal(capfd, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 2)), columns=["[red]bold[/red]", "\x1b[2Jclear"])
    table.assign(y=["a", "b"] * 15).to_csv(tmp_path / "t.csv", index=False)
    code, out, _ = dubio(capfd, "rank", tmp_path / "t.csv", "-t", "y", "--keep", 1)
    assert code == 0 and "[red]bold[/red]" in out and "\x1b" not in out


def test_debug_shows_the_traceback(folder):
    with pytest.raises(Exception, match="the table has no such column"):
        run(["rank", str(folder / "iris.csv"), "-t", "nope", "--debug"])


def test_help_has_examples(capfd):
    for command in ("rank", "audit"):
        code, out, _ = dubio(capfd, command, "--help")
        assert code == 0 and f"dubio {command} " in out and "Examples" in out
    assert dubio(capfd, "--version")[1].startswith("dubio ")


@pytest.mark.parametrize("words", [(), ("papers",)])
def test_no_words_show_the_help(capfd, words):
    code, out, err = dubio(capfd, *words)
    assert code == 2 and out == ""
    assert err == dubio(capfd, *words, "--help")[1].rstrip() + "\n"
    assert "\\n" not in err and len(err.splitlines()) > 5


def start(*words: object, before: tuple[str, ...] = ()) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*before, sys.executable, "-m", "dubio", *map(str, words)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_process_clean_output_and_exit_code(folder):
    process = start("rank", folder / "iris.csv", "-t", "species", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and err == ""
    assert json.loads(out)["method"]
    process = start("rank", folder / "nope.csv", "-t", "species")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2 and out == "" and err.startswith("dubio: ") and "nope.csv' does not exist" in err


def _seconds_of_work(pid: int) -> float:
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see how far the run has come")
@pytest.mark.thorough
def test_interrupted_run_is_one_line(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 60))
    pd.DataFrame(X, columns=[f"f{i}" for i in range(60)]).assign(y=np.tile(["a", "b"], 1500)).to_parquet(
        tmp_path / "long.parquet"
    )
    out = tmp_path / "report.html"
    process = start("rank", tmp_path / "long.parquet", "-t", "y", "--stability", 100_000, "--report", out)
    while _seconds_of_work(process.pid) < 6:  # past the imports, well into the work
        time.sleep(0.2)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    text, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert text == "" and err == "dubio: interrupted.\n"
    assert [p.name for p in tmp_path.iterdir()] == ["long.parquet"]


@pytest.mark.thorough
def test_interrupted_imports_are_one_line(tmp_path):
    (tmp_path / "numpy.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(SOURCE)])}
    process = subprocess.Popen(
        [sys.executable, "-m", "dubio", "methods"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and err == "dubio: interrupted.\n"


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("rank", "--help"), ("papers", "--help")])
@pytest.mark.thorough
def test_help_imports_nothing_large(words):
    code = (
        "import sys\n"
        "from dubio_app.command.run import run\n"
        f"assert run({list(words)!r}) == 0\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'pyarrow', 'jinja2'} & sys.modules.keys()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.endswith("\n[]\n"), done.stdout + done.stderr


@pytest.mark.thorough
def test_the_command_starts_where_the_package_says(folder):
    import tomllib

    scripts = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"dubio": "dubio_app.command:main"}
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    words = [sys.executable, "-m", "dubio", "rank", str(folder / "nope.csv"), "-t", "species"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and done.stderr.startswith("dubio: ") and "nope.csv' does not exist" in done.stderr


@pytest.mark.thorough
def test_folder_without_permission(folder, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    before: tuple = ()
    if os.geteuid() == 0:  # root may write everywhere, unless it gives that up
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and there is no setpriv to give that up")
        before = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    process = start("rank", folder / "iris.csv", "-t", "species", "--report", locked / "out.html", before=before)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2 and out == ""
    assert "permission" in err and err.count("\n") == 1
    assert list(locked.iterdir()) == []


def test_permission_lost_on_the_way(capfd, folder, tmp_path, monkeypatch):
    def refuse(*args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied", "report.html")

    monkeypatch.setattr("dubio_app.whole_files.os.replace", refuse)
    code, out, err = dubio(
        capfd, "rank", folder / "iris.csv", "-t", "species", "--report", tmp_path / "report.html", "--stability", 0
    )
    assert code == 2 and out == "" and err == "dubio: report.html: Permission denied.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_pipe_that_closes_early(folder):
    process = start("rank", folder / "iris.csv", "-t", "species", "--csv")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=120) == 1  # as other commands, and without a word
    assert process.stderr is not None and process.stderr.read() == ""


@pytest.mark.thorough
def test_demo_writes_its_report(tmp_path, capfd):
    out = tmp_path / "demo.html"
    code, text, err = dubio(capfd, "demo", "--report", out)
    assert code == 0 and err == ""
    assert str(out) in text and "clean labels" in text
    assert "Method: neighbor_search" in text and "related to" in text
    assert "<h1>" in out.read_text()


def test_missing_packages_are_named(monkeypatch, capfd):
    import dubio_app.command

    monkeypatch.setattr(dubio_app.command, "find_spec", lambda name: None if name == "typer" else object())
    with pytest.raises(SystemExit) as stop:
        dubio_app.command.main()
    assert stop.value.code == 2
    assert capfd.readouterr().err == "dubio: the command needs typer: install it with  pip install 'dubio[cli]'\n"


def test_the_table_itself_is_never_overwritten(capfd, folder, tmp_path):
    path = shutil.copy(folder / "iris.csv", tmp_path / "own.csv")
    before = Path(path).read_bytes()
    for option in ("--save-table", "--report"):
        code, _, err = dubio(capfd, "rank", path, "-t", "species", option, path)
        assert code == 2 and "is the table itself" in err
    assert Path(path).read_bytes() == before
    _, _, err = dubio(capfd, "rank", path, "-t", "species", "-m", "fisher", "--save-table", tmp_path / "small.csv")
    assert f"table with 4 features (all that are related to the target) written to {tmp_path / 'small.csv'}" in err


def test_the_saved_table_says_which_features_it_has(capfd, tmp_path):
    """A copy with noise is related too, but one of the two suffices: the answer names fewer than are written."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    real = 4 * y + rng.normal(size=80)
    table = pd.DataFrame({"real": real, "echo": real + 0.3 * rng.normal(size=80), "noise": rng.normal(size=80)})
    table.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    code, out, err = dubio(capfd, "rank", tmp_path / "t.csv", "-t", "y", "--save-table", tmp_path / "small.csv")
    assert code == 0 and "2 of 3 columns are related to 'y': " in " ".join(out.split()), out
    said = "table with 2 features (all that are related to the target) written to"
    assert said in err and "small.csv; --keep sufficient writes 1 of them" in err


def test_pairs_without_a_header(capfd, folder, tmp_path):
    lines = (folder / "pairs.csv").read_text().splitlines()
    (tmp_path / "bare.csv").write_text("\n".join(lines[1:]) + "\n")
    words = "rank", folder / "iris.csv", "--ignore", "species", "--csv", "--pairs"
    assert dubio(capfd, *words, tmp_path / "bare.csv")[1] == dubio(capfd, *words, folder / "pairs.csv")[1] != ""


def test_minus_one_is_a_class_in_a_file(capfd, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(-1, 2, size=90)
    path = tmp_path / "signs.csv"
    pd.DataFrame({"a": y + rng.normal(size=90), "b": rng.normal(size=90), "y": y}).to_csv(path, index=False)
    words = path, "-t", "y", "-m", "fisher"
    found = ranked(capfd, *words)
    assert "3 classes" in found["labels"]
    assert "--unlabelled -1" in found["notes"][0]
    assert "2 classes" in ranked(capfd, *words, "--unlabelled", "-1")["labels"]
    assert "no row has this value" in ranked(capfd, *words, "--unlabelled", "7")["notes"][0]


def test_other_encodings_and_commas_in_names(capfd, tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes("temp (°C);y\n1;a\n2;b\n3;a\n".encode("cp1252"))
    code, _, err = dubio(capfd, "rank", path, "-t", "y", "-m", "fisher")
    assert code == 0 and "read as Windows-1252, for example '(°C)'" in err
    path.write_text('"bar, mean",b,y\n1,2,p\n2,1,q\n3,5,p\n4,3,q\n')
    code, _, err = dubio(capfd, "rank", path, "-t", "y", "--ignore", "bar, mean")
    assert code == 2 and "Write a comma in a name twice" in err
    assert dubio(capfd, "rank", path, "-t", "y", "-m", "fisher", "--ignore", "bar,, mean", "--csv")[0] == 0


def test_stability_asks_the_same_question(capfd, folder):
    """Resampled fits keep what the tests keep, as the fit itself does and as `stability` does in Python."""
    words = folder / "iris.csv", "-t", "species", "--stability", "4"
    found = ranked(capfd, *words)
    table = pd.read_csv(folder / "iris.csv")
    selector = FeatureSelector(target="classes", random_state=0)
    expected = stability(selector, table.iloc[:, :5], table["species"], n_draws=4, random_state=0)
    assert found["stability"]["index"] == pytest.approx(expected.index.value)
    code, out, _ = dubio(capfd, "rank", *words)
    assert code == 0 and "kept in" in out


def test_a_folder_is_ranked_by_the_default_method(capfd, folder, tmp_path):
    shutil.copy(folder / "iris.parquet", tmp_path / "one.parquet")
    found = ranked(capfd, tmp_path, "-t", "species", "--json")
    assert found["method"] == "neighbor_search" and "petal_width" in found["kept"]


def test_identifiers_of_an_audit(capfd, folder, tmp_path):
    table = pd.read_csv(folder / "iris.csv").assign(row=range(1000, 1150), rank=1)
    table.loc[3, "species"] = "virginica"
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["audit", tmp_path / "t.csv", "-t", "species", "--csv"]
    code, out, _ = dubio(capfd, *words, "--id", "row,rank")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and {"row", "row (table)", "rank (table)"} <= rows[0].keys()
    assert any(row["row"] == "4" and row["row (table)"] == "1003" for row in rows)
    code, _, err = dubio(capfd, *words, "--id", "nope")
    assert code == 2 and "--id names 'nope'" in err
    page = tmp_path / "page.html"
    assert dubio(capfd, *words, "--id", "row", "--report", page)[0] == 0
    assert "1003" in page.read_text() and "rows the models disagree with the label" in page.read_text()
    (tmp_path / "two.csv").write_text("a,b,y\n1,2,p\n3,5,q\n")
    code, _, err = dubio(capfd, "audit", tmp_path / "two.csv", "-t", "y")
    assert code == 2 and "fewer than two classes with at least two labelled rows" in err


def test_numbers_with_a_unit_get_no_harmful_advice(capfd, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=80), "spo2": [f"{v:.1f} %" for v in rng.normal(96, 2, 80)]})
    table.assign(y=np.arange(80) % 2).to_csv(tmp_path / "t.csv", index=False)
    _, _, err = dubio(capfd, "rank", tmp_path / "t.csv", "-t", "y")
    assert "numbers with a unit: 'spo2' (%)" in err and "--nominal" not in err


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_shows_every_name(capfd, folder, monkeypatch, width):
    monkeypatch.setattr("dubio_app.command.rank.terminal_width", lambda: width)
    _, out, _ = dubio(capfd, "rank", folder / "iris.csv", "-t", "species", "--stability", "3")
    assert "petal_length" in out and "sufficient" in out
