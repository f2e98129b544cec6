"""``dubio audit --annotators``: likely truth, annotators, votes that look wrong, whom to ask."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from dubio_app.command.run import run
from dubio_app.files import read_with_votes

NAMES = ("rad_A", "rad_B", "rad_C")


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """A table of three radiologists; the third misses what is small."""
    rng = np.random.default_rng(1)
    n = 160
    size, texture, other = rng.normal(size=(3, n))
    truth = (texture + 0.5 * size + 0.3 * rng.normal(size=n) > 0).astype(int)
    table = pd.DataFrame({"id": [f"p{i}" for i in range(n)], "size": size, "texture": texture, "other": other})
    for name, skill in zip(NAMES, (0.93, 0.88, 0.65), strict=True):
        said = np.where(rng.random(n) < skill, truth, 1 - truth)
        table[name] = np.where(rng.random(n) < 0.2, None, np.array(["benign", "<b>malignant"])[said])
    path = tmp_path_factory.mktemp("votes") / "scans.csv"
    table.to_csv(path, index=False)
    return path, np.array(["benign", "<b>malignant"])[truth]


def test_the_first_screen(scans, capfd, tmp_path):
    path, truth = scans
    saved, page = tmp_path / "truth.csv", tmp_path / "page.html"
    words = ["audit", str(path), "--annotators", ",".join(NAMES), "--id", "id", "--top", "4"]
    assert run([*words, "--save-labels", str(saved), "--report", str(page)]) == 0
    out, err = (" ".join(part.split()) for part in capfd.readouterr())
    for part in ("Annotators, the best first", "rad_C agrees with the likely truth in", "Votes that look wrong"):
        assert part in out
    assert "Whom to ask next" in out and "expert" not in out
    assert "likely labels written to" in err
    labels = pd.read_csv(saved)
    assert list(labels) == ["id", "size", "texture", "other", "likely", "probability"]
    assert np.mean(labels["likely"] == truth) > 0.9
    text = page.read_text(encoding="utf-8")
    assert "Annotators and their votes" in text and "rad_C" in text
    assert text.index("Annotators and their votes") < text.index("All features")
    assert "<b>malignant" not in text


def test_checked_rows_are_known(scans, capfd, tmp_path):
    path, truth = scans
    judged, saved = tmp_path / "judged.csv", tmp_path / "truth.csv"
    turned = np.where(truth[:40] == "benign", "<b>malignant", "benign")  # the file decides, whatever the votes say
    rows = "".join(f"{row};{value};0,25;Jörg\n" for row, value in enumerate(turned, 1))
    judged.write_text(f"row;value;chance;checker\n{rows}", encoding="cp1252")
    words = ["audit", str(path), "--annotators", ",".join(NAMES), "--quiet", "--checked", str(judged)]
    assert run([*words, "--save-labels", str(saved)]) == 0, capfd.readouterr().err
    likely = pd.read_csv(saved)
    assert (likely["likely"][:40] == turned).all() and (likely["probability"][:40] == 1).all()


def test_csv_and_json_have_every_row_and_every_vote(scans, capfd):
    path, _ = scans
    words = ["audit", str(path), "--annotators", ",".join(NAMES), "--quiet"]
    assert run([*words, "--csv"]) == 0
    rows = capfd.readouterr().out.splitlines()
    assert rows[0] == "row,votes,likely,probability,ask,gain,rank"
    assert len(rows) == 161
    assert run([*words, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [one["annotator"] for one in found["annotators"]][-1] == "rad_C"
    assert all(one["low"] < one["right"] < one["high"] for one in found["annotators"])
    assert len(found["votes"]) > 300 and len(found["rows"]) == 160


def test_ranking_with_votes_and_columns(scans, capfd, tmp_path):
    path, _ = scans
    page = tmp_path / "page.html"
    words = ["rank", str(path), "--annotators", ",".join(NAMES), "--combine", "columns", "--ignore", "id"]
    assert run([*words, "--report", str(page)]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "votes of 3 annotators" in out and "rad_C agrees with the likely truth in" in out
    text = page.read_text(encoding="utf-8")
    assert text.index("Annotators and their votes") < text.index("All features") and "<b>malignant" not in text


def in_a_file_of_votes(path, folder):
    """The table without its votes, and a file with one line per vote."""
    table = pd.read_csv(path)
    cast = table.melt("id", list(NAMES), "reader", "diagnosis").dropna().sample(frac=1.0, random_state=0)
    table.drop(columns=list(NAMES)).to_csv(folder / "table.csv", index=False)
    cast.to_csv(folder / "votes.csv", index=False)
    return cast


@pytest.mark.parametrize("command", ["rank", "audit"])
def test_a_file_of_votes_is_the_same_as_columns(scans, capfd, tmp_path, command):
    path, _ = scans
    in_a_file_of_votes(path, tmp_path)
    answers = []
    for words in (
        [str(path), "--annotators", ",".join(NAMES)],
        [str(tmp_path / "table.csv"), "--votes", str(tmp_path / "votes.csv")],
    ):
        assert run([command, *words, "--id", "id", "--csv", "--quiet"]) == 0
        answers.append(capfd.readouterr().out)
    assert answers[0] == answers[1]


def test_rows_of_a_file_of_votes_may_be_numbers_and_its_code_runs(scans, capfd, tmp_path):
    path, _ = scans
    cast = in_a_file_of_votes(path, tmp_path)
    cast["id"] = cast["id"].str[1:].astype(int) + 1
    cast.assign(minutes=3).set_axis(["row", "who", "label", "minutes"], axis=1).to_csv(tmp_path / "n.csv", index=False)
    table, saved = tmp_path / "table.csv", tmp_path / "truth.csv"
    assert (
        run(["audit", str(table), "--votes", str(tmp_path / "n.csv"), "--save-labels", str(saved), "--ignore", "id"])
        == 0
    )
    assert "rad_C agrees with the likely truth in" in " ".join(capfd.readouterr().out.split())
    assert list(pd.read_csv(saved)) == ["id", "size", "texture", "other", "likely", "probability"]
    said = read_with_votes(pd.read_csv(table), str(tmp_path / "n.csv"), None)[list(NAMES)]
    pd.testing.assert_frame_equal(said, pd.read_csv(path)[list(NAMES)], check_names=False)


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        (
            lambda cast: cast.assign(id=cast["id"].replace("p3", "q3")),
            ["--id", "id"],
            "names row 'q3', which is not in",
        ),
        (
            lambda cast: pd.concat([cast, cast.iloc[:1].assign(diagnosis="cyst")]),
            ["--id", "id"],
            "two different labels of",
        ),
        (lambda cast: cast.assign(reader=cast["reader"].replace("rad_A", "size")), ["--id", "id"], "called 'size'"),
        (lambda cast: cast.assign(more=1), ["--id", "id"], "has 4 columns"),
        (lambda cast: cast.set_axis(["p1", "ann", "benign"], axis=1), ["--id", "id"], "begins with a vote: p1, ann"),
        (
            lambda cast: cast.assign(reader=cast["reader"].replace("rad_A", None)),
            ["--id", "id"],
            "lacks the row or the",
        ),
        (lambda cast: cast, [], "name the column with these values by --id"),
        (lambda cast: cast, ["--id", "site"], "names several rows"),
        (lambda cast: cast, ["--id", "nobody"], "the table has no such column"),
        (lambda cast: cast, ["--id", "id", "--target", "size"], "--votes and --target cannot be combined"),
        (lambda cast: cast, ["--id", "id", "--share", "10%"], "--share and --votes cannot be combined"),
    ],
)
def test_a_bad_file_of_votes_is_refused(scans, capfd, tmp_path, change, words, message):
    change(in_a_file_of_votes(scans[0], tmp_path)).to_csv(tmp_path / "bad.csv", index=False)
    pd.read_csv(tmp_path / "table.csv").assign(site="a").to_csv(tmp_path / "table.csv", index=False)
    assert run(["audit", str(tmp_path / "table.csv"), "--votes", str(tmp_path / "bad.csv"), *words]) == 2
    assert message in " ".join(capfd.readouterr().err.split())


def test_ordered_classes_and_numbers_from_the_command(scans, capfd, tmp_path):
    table = pd.read_csv(scans[0]).drop(columns=list(NAMES))
    rng = np.random.default_rng(0)
    measured = table["texture"].to_numpy()[:, None] + [0.1, 0.3, 0.8] * rng.normal(size=(160, 3))
    grades = np.array(["none", "mild", "severe"])[np.digitize(measured, [-0.6, 0.6])]
    people = ["--annotators", ",".join(NAMES), "--ignore", "id"]
    path = str(tmp_path / "t.csv")
    table.assign(**dict(zip(NAMES, grades.T, strict=True))).to_csv(path, index=False)
    ordered = [*people, "--order", "none,mild,severe"]
    assert run(["rank", path, *ordered]) == 0
    assert "3 ordered classes: none < mild < severe" in " ".join(capfd.readouterr().out.split())
    assert run(["audit", path, *ordered, "--json"]) == 0
    assert "severe" in {row["likely"] for row in json.loads(capfd.readouterr().out)["rows"]}
    for words, message in (
        ([*people, "--target-kind", "ordered"], "the order of the classes is not known: add --order"),
        (["--order", "none,mild"], "--order names the classes of the target: give --target or --annotators or --votes"),
    ):
        assert run(["audit", path, *words]) == 2
        assert message in capfd.readouterr().err
    table.assign(**dict(zip(NAMES, measured.T, strict=True))).to_csv(path, index=False)
    assert run(["rank", path, *people]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "votes of 3 annotators (numbers)" in out and "rad_C is" in out


def test_a_vote_that_stands_twice_is_told(scans, capfd, tmp_path):
    cast = in_a_file_of_votes(scans[0], tmp_path)
    pd.concat([cast, cast.iloc[:2]]).to_csv(tmp_path / "votes.csv", index=False)
    words = ["audit", str(tmp_path / "table.csv"), "--votes", str(tmp_path / "votes.csv"), "--id", "id", "--csv"]
    assert run(words) == 0
    assert "holds 2 votes twice: each counts once" in " ".join(capfd.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --target, or --annotators or --votes"),
        (["--annotators", "rad_A"], "votes of one annotator only"),
        (["--annotators", "rad_A,nobody"], "nobody"),
        (["--annotators", "rad_A,rad_B", "--share", "10%"], "--share and --annotators cannot be combined"),
        (["--target", "rad_A", "--save-labels", "truth.csv"], "--save-labels writes what the votes say together"),
    ],
)
def test_bad_calls_are_refused(scans, capfd, words, message):
    assert run(["audit", str(scans[0]), *words]) == 2
    assert message in capfd.readouterr().err
