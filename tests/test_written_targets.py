"""Targets that are numbers but do not look like it: Python and the command read them alike."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dubio import FeatureSelector, audit_labels, stability
from dubio.errors import InputError
from dubio.target.classes import Classes
from dubio.target.numbers import Numbers
from dubio.target.reader import read_supervision
from dubio_app.command.run import run

N = 90
DAYS = pd.Timestamp("2021-03-01") + pd.to_timedelta(np.arange(N) * 3, unit="D")


def table():
    rng = np.random.default_rng(0)
    x = np.arange(N) / 15
    return pd.DataFrame({"x": x + 0.3 * rng.normal(size=N), "noise": rng.normal(size=N), "more": rng.normal(size=N)}), x


def targets() -> dict[str, list[str]]:
    """One target, written in many ways; each is read as a line in x."""
    _, x = table()
    return {
        "percent": [f"{90 + v:.1f} %" for v in x],
        "commas": [f"{90 + v:.1f}".replace(".", ",") for v in x],
        "thousands": [f"{1000 * (5 + v):,.1f}" for v in x],
        "limits": ["<90.4" if v < 0.4 else f"{90 + v:.1f}" for v in x],
        "blanks": ["NA" if i == 7 else f"{90 + v:.1f} kg" for i, v in enumerate(x)],
        "dates": [f"{day:%d.%m.%Y}" for day in DAYS],
        "iso": [f"{day:%Y-%m-%d}" for day in DAYS],
        "times": [f"{6 + int(v)}:{int(60 * (v % 1)):02}" for v in x],
    }


def fitted(X, y, **options):
    selector = FeatureSelector("linear_r2", **options).fit(X, y)
    ranking = selector.to_ranking()
    return [(str(ranking.names[j]), ranking.scores[j], ranking.extras["pvalue"][j]) for j in ranking.order]


@pytest.mark.parametrize("name", targets())
@pytest.mark.parametrize("ending", ["csv", "semicolons", "parquet"])
def test_both_doors_read_alike(tmp_path, capsys, name, ending):
    X, _ = table()
    frame = X.assign(target=targets()[name])
    path = tmp_path / f"t.{'parquet' if ending == 'parquet' else 'csv'}"
    if ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep=";" if ending == "semicolons" else ",")
    assert run(["rank", str(path), "-t", "target", "-m", "linear_r2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    python = fitted(X, frame["target"])
    assert [(row["feature"], row["score"], row["pvalue"]) for row in found["features"]] == python
    assert python[0][0] == "x" and "numeric target" in found["labels"]


def test_other_doors_read_alike_too():
    X, _ = table()
    y = targets()["percent"]
    numbers = np.array([float(text.split()[0]) for text in y])
    assert fitted(X, y) == fitted(X, np.array(y)) == fitted(X, pl.Series(y)) == fitted(X, numbers)
    draws = [stability(FeatureSelector("linear_r2"), X, target, n_draws=3).rankings for target in (y, numbers)]
    np.testing.assert_array_equal(*draws)
    np.testing.assert_array_equal(audit_labels(X, y).rank, audit_labels(X, numbers).rank)


@pytest.mark.parametrize("make", [
    lambda: DAYS, lambda: DAYS.tz_localize("Europe/Paris"), lambda: DAYS.to_numpy(), lambda: list(DAYS.date),
    lambda: pd.Series(DAYS), lambda: pl.Series(DAYS.to_numpy()), lambda: pd.Series(DAYS.astype(str)),
    lambda: DAYS.to_numpy() - DAYS.to_numpy()[0],
])  # fmt: skip
def test_dates_are_days_since_the_first(make):
    read = read_supervision(make(), N, target="auto")
    assert isinstance(read, Numbers)
    np.testing.assert_allclose(read.values, 3 * np.arange(N), atol=0.1)  # an hour for summer time


def test_how_it_was_read_is_said(tmp_path, capsys):
    X, _ = table()
    for name, words in (
        ("percent", "a numeric target (in '%')"),
        ("limits", "6 cells such as '<90.4' counted as the limit itself"),
        ("iso", "in days since 2021-03-01"),
        ("times", "in hours"),
    ):
        y = targets()[name]
        assert words in FeatureSelector("linear_r2").fit(X, y).explanation_
        X.assign(target=y).to_csv(tmp_path / "t.csv", index=False)
        assert run(["rank", str(tmp_path / "t.csv"), "-t", "target", "-m", "linear_r2"]) == 0
        assert words.split("(")[-1].strip(")") in " ".join(capsys.readouterr().err.split())


def test_names_of_classes_stay_names():
    for y, classes in (
        (["1", "2", "1", "2"] * 3, ["1", "2"]),
        (["007", "008"] * 6, ["007", "008"]),
        (["10 mg", "0.5 g"] * 6, ["0.5 g", "10 mg"]),
        (["low", "high"] * 6, ["high", "low"]),
    ):
        read = read_supervision(y, 12, target="auto")
        assert isinstance(read, Classes) and read.classes.tolist() == classes
    declared = pd.Series(["1.5", "2.5", "3.5"] * 4, dtype="category")
    assert read_supervision(declared, 12, target="auto").classes.tolist() == ["1.5", "2.5", "3.5"]
    assert read_supervision(targets()["iso"], N, target="classes").n_classes == N
    doses = read_supervision(["1 mg", "2 mg", "10 mg"] * 4, 12, target="auto")
    assert doses.classes.tolist() == [1, 2, 10]  # few whole numbers, as without the unit


@pytest.mark.parametrize("y, words", [
    (["1.5", "2.5", "three", "4.5"], r"mixes numbers \(3 cells\) with text \(1 cell\), first 'three' in row 2: c"),
    ([f"{i + 1},250" if i % 2 else f"{950 + i}" for i in range(49)], "the comma may mark decimals or thousands"),
    ([f"{1 + i % 12}/{1 + i // 12}/2024" for i in range(49)], "day and month cannot be told apart"),
    ([{}, {}], "type dict"),
    (np.array([1 + 2j, 3]), "dtype complex"),
])  # fmt: skip
def test_what_is_unclear_is_refused(y, words):
    with pytest.raises(InputError, match=words):
        read_supervision(y, len(y), target="auto")


def test_a_text_that_means_no_label():
    read = read_supervision(["1.5", "unknown", "2.5"], 3, target="auto", missing_label="unknown")
    assert read.values[[0, 2]].tolist() == [1.5, 2.5] and not read.labelled[1]
    with pytest.raises(InputError, match="holds text, such as 'a' in row 1, where numbers"):
        read_supervision([None, "a", "b"], 3, target="numbers")
    with pytest.raises(InputError, match=r"holds dates or times.* where classes are needed: turn them into"):
        read_supervision(DAYS, N, target="classes")


def test_the_command_names_the_line_of_the_file(tmp_path, capsys):
    (tmp_path / "t.csv").write_text('x,note,y\n1,"two\nlines",1.5\n\n2,b,2.5\n3,c,three\n4,d,4.5\n')
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "y"]) == 2
    assert "first 'three' in line 6 of the file: correct or empty these cells (--unlabelled" in capsys.readouterr().err


def test_ratings_as_text_have_their_order(tmp_path, capsys):
    y = [str(1 + i % 10) for i in range(40)]
    read = read_supervision(y, 40, target="ordered")
    assert read.kind == "ordered" and read.classes.tolist() == list(range(1, 11))
    table()[0].head(40).assign(grade=y).to_parquet(tmp_path / "t.parquet")
    words = ["rank", str(tmp_path / "t.parquet"), "-t", "grade", "--target-kind", "ordered", "--json"]
    assert run(words) == 0
    assert "1 < 2 < 3 < ... < 8 < 9 < 10" in json.loads(capsys.readouterr().out)["labels"]


def test_hostile_targets_are_short_in_messages():
    assert read_supervision(np.array(["NaT"] * 3, dtype="M8[D]"), 3, target="auto").n_labelled == 0
    with pytest.raises(InputError) as error:
        read_supervision(["a" * 5000, "b", "c\x1b[31m"], 3, target="ordered")
    assert len(str(error.value)) < 400
