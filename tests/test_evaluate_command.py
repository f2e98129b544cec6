"""``dubio rank --evaluate``: what a selection is worth, from the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from dubio_app.command import trust
from tests.test_cli import dubio


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Wine with missing labels, groups, weights, a column of categories and noise; and a table of noise alone."""
    place = tmp_path_factory.mktemp("evaluate")
    table, classes = load_wine(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(0)
    table = table.iloc[:, [0, 6, 9, 12]].assign(
        colour=np.where(rng.random(178) < 0.7, np.array(["red", "dark", "pale"])[classes], "red"),
        **{f"noise_{j}": rng.normal(size=178) for j in range(4)},
        patient=np.arange(178) // 2,
        weight=rng.random(178),
        grape=np.where(rng.random(178) < 0.4, None, np.array(["a", "b", "c"])[classes]),
    )
    table.loc[::10, "alcohol"] = np.nan
    table.to_csv(place / "wine.csv", index=False)
    noise = pd.DataFrame(rng.normal(size=(80, 12)), columns=[f"c{j}" for j in range(12)])
    noise.assign(y=np.arange(80) % 2).to_csv(place / "noise.csv", index=False)
    return place


WINE = ("--target", "grape", "--method", "linear_r2", "--groups", "patient", "--weights", "weight", "--keep", 3)


def test_two_sentences_in_the_terminal(capfd, folder):
    code, out, _ = dubio(capfd, "rank", folder / "wine.csv", *WINE, "--evaluate", "logistic")
    words = " ".join(out.split())
    assert code == 0 and "With logistic regression: accuracy with the features selected in each fold (3): 0." in words
    assert "with as many random features: 0." in words and ("Selection" in words or "do as well as all" in words)


def test_json_has_every_number(capfd, folder):
    code, out, err = dubio(capfd, "rank", folder / "wine.csv", *WINE, "--evaluate", "svm", "--json")
    assert code == 0, err
    found = json.loads(out)["evaluation"]
    assert found["model"] == "svm" and found["n_folds"] == 10
    assert found["selected"]["low"] <= found["selected"]["mean"] <= found["selected"]["high"] <= 1
    assert [row["n_features"] for row in found["by_size"]] == list(range(1, 10))
    assert found["selected"]["mean"] > found["chance"] + 0.2
    at_three = found["by_size"][2]  # one number for one thing: the folds keep three features
    assert found["random"]["mean"] == at_three["random"] and found["selected"]["mean"] == at_three["mean"]
    again = dubio(capfd, "rank", folder / "wine.csv", *WINE, "--evaluate", "svm", "--json", "--jobs", 1)[1]
    assert again.replace(" --jobs 1", "") == out  # threads change nothing


def test_csv_keeps_to_the_ranking(capfd, folder):
    code, out, err = dubio(capfd, "rank", folder / "wine.csv", *WINE, "--evaluate", "logistic", "--csv")
    assert code == 0 and out.startswith("rank,feature") and "accuracy" not in out
    assert "dubio: With logistic regression: accuracy" in err


def test_noise_is_said_plainly(capfd, folder):
    words = ("--target", "y", "--method", "linear_r2", "--evaluate", "logistic")
    code, out, _ = dubio(capfd, "rank", folder / "noise.csv", *words)
    assert code == 0 and "The model is not clearly better than chance (difference " in " ".join(out.split())


def test_numbers_get_the_regressor(capfd, folder):
    words = ("--target", "alcohol", "--ignore", "grape", "--method", "linear_r2", "--evaluate", "logistic")
    code, out, _ = dubio(capfd, "rank", folder / "wine.csv", *words)
    said = "With ridge regression: R2 with the features related to the target in each fold ("
    assert code == 0 and said in " ".join(out.split())


def test_the_report_has_a_section(capfd, folder, tmp_path):
    page = tmp_path / "wine.html"
    words = ("--evaluate", "logistic", "--report", page, "--stability", 0, "--no-tolerance")
    code, _, err = dubio(capfd, "rank", folder / "wine.csv", *WINE, *words)
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    assert '<section id="evaluation">' in text and "With logistic regression" in text


def test_large_tables_are_sampled(capfd, folder, monkeypatch):
    monkeypatch.setattr(trust, "MOST_EVALUATED", 60)
    words = ("--target", "y", "--method", "linear_r2", "--evaluate", "logistic")
    code, _, err = dubio(capfd, "rank", folder / "noise.csv", *words)
    assert code == 0 and "the selection was evaluated on 60 of 80 rows" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ignore", "grape"), "--evaluate needs classes, probabilities or numbers, but no target is given."),
        (("--target", "grape", "--positive", "a"), "--evaluate needs classes, probabilities or numbers, but"),
        (("--target", "grape", "--stream", "-m", "fisher"), "--evaluate cannot be used with --stream"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_at_once(capfd, folder, words, said):
    code, out, err = dubio(capfd, "rank", folder / "wine.csv", *words, "--evaluate", "forest")
    assert code == 2 and out == "" and said in err and err.count("\n") == 1


def test_too_few_labels_are_refused(capfd, folder, tmp_path):
    table = pd.read_csv(folder / "noise.csv").astype({"y": object})
    table.loc[4:, "y"] = None
    table.to_csv(tmp_path / "few.csv", index=False)
    words = ("--target", "y", "--method", "linear_r2", "--evaluate", "logistic")
    code, _, err = dubio(capfd, "rank", tmp_path / "few.csv", *words)
    assert code == 2
    assert err.endswith("has 4 labelled rows, fewer than the 5 folds: label more rows, or leave out --evaluate.\n")
