"""``dubio audit --annotators``: likely truth, annotators, votes that look wrong, whom to ask."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from dubio_app.command.run import run

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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --target, or the columns of --annotators"),
        (["--annotators", "rad_A"], "votes of one annotator only"),
        (["--annotators", "rad_A,nobody"], "nobody"),
        (["--annotators", "rad_A,rad_B", "--share", "10%"], "--share and --annotators cannot be combined"),
        (["--target", "rad_A", "--save-labels", "truth.csv"], "--save-labels writes what the votes say together"),
    ],
)
def test_bad_calls_are_refused(scans, capfd, words, message):
    assert run(["audit", str(scans[0]), *words]) == 2
    assert message in capfd.readouterr().err
