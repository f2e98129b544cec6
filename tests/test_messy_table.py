"""One table with everything that people bring, in every format: the command and Python read it alike."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dubio import FeatureSelector
from dubio_app.command.run import run
from dubio_app.files import frame_bytes, read_file


def messy_table() -> pd.DataFrame:
    """Four visits of 50 patients: dates, units, categories, blanks, a copy of the target, -999, decimal commas, ids."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(50), 4)
    n = len(patient)
    ill = (np.arange(50) % 2)[patient]
    labs = rng.normal(size=(50, 6))[patient] + 0.3 * rng.normal(size=(n, 6))
    frame = pd.DataFrame({f"lab {j}": labs[:, j].round(4) for j in range(6)})
    frame["lab 0"] += 2.0 * ill
    frame["patient"] = [f"P{i:03}" for i in patient]
    frame["record id"] = rng.permutation(n) + 7000
    frame["admitted"] = pd.Timestamp("2021-03-01") + pd.to_timedelta(300 * ill + rng.integers(0, 600, n), unit="D")
    frame["weight"] = [f"{value:.1f} kg".replace(".", ",") for value in rng.normal(70, 9, n)]
    frame["crp"] = [f"{value:.2f}".replace(".", ",") for value in np.exp(rng.normal(size=n) + ill)]
    frame["ward"] = np.array(["north", "süd", "east, old", "west"])[rng.integers(0, 4, n)]
    frame.loc[rng.random(n) < 0.1, "ward"] = None
    frame["smoker"] = rng.random(n) < 0.4
    frame["sodium"] = rng.normal(140, 3, n).round(1)
    frame.loc[rng.random(n) < 0.05, "sodium"] = -999.0
    frame.loc[rng.random(n) < 0.08, "sodium"] = np.nan
    frame["code of outcome"] = np.array([7, 3])[ill]
    frame["remark"] = [f"seen by {rng.integers(10**6)} at {i}" for i in range(n)]
    frame["device"] = 3
    frame["outcome"] = np.array(["well", "ill"])[ill]
    return frame


FORMATS = {
    "t.csv": {},
    "semicolons.csv": {"sep": ";", "encoding": "cp1252"},
    "t.tsv": {"sep": "\t", "encoding": "utf-16"},
    "t.csv.gz": {},
    "t.xlsx": None,
    "t.jsonl": None,
    "t.parquet": None,
    "t.feather": None,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("messy")
    frame = messy_table()
    for name, options in FORMATS.items():
        if options is None:
            (place / name).write_bytes(frame_bytes(frame, name))
        else:
            frame.to_csv(place / name, index=False, **options)
    return place


def in_short(selector: FeatureSelector) -> tuple:
    ranking = selector.to_ranking()
    order = ranking.order
    numbers = [ranking.scores[order], ranking.extras["pvalue"][order], ranking.extras["qvalue"][order]]
    return [str(name) for name in ranking.names[order]], np.stack(numbers), selector.alerts_


@pytest.fixture(scope="module")
def expected():
    frame = messy_table()
    return in_short(FeatureSelector("fisher").fit(frame.drop(columns="outcome"), frame["outcome"]))


def test_the_alerts_name_everything(expected):
    found = {alert.kind: alert.features for alert in expected[2] if alert.kind != "identifier"}
    assert found["copy"] == ("code of outcome",)
    assert found["visits"] == ("patient",)
    assert found["sentinel"] == ("sodium",)
    assert found["constant"] == ("device",)
    identifiers = [alert.features for alert in expected[2] if alert.kind == "identifier"]
    assert identifiers == [("record id",), ("remark",)]
    assert len(expected[2]) == 6


def test_every_feature_has_one_rank(expected):
    names = expected[0]
    assert sorted(names) == sorted(name for name in messy_table().columns if name != "outcome")
    assert names[0] == "code of outcome" and {"lab 0", "crp", "admitted"} <= set(names[:6])


@pytest.mark.parametrize("name", FORMATS)
def test_python_reads_every_file_alike(folder, expected, name):
    frame = read_file(str(folder / name)).frame
    same(in_short(FeatureSelector("fisher").fit(frame.drop(columns="outcome"), frame["outcome"])), expected)


def test_polars_is_read_alike(expected):
    frame = pl.from_pandas(messy_table())
    same(in_short(FeatureSelector("fisher").fit(frame.drop("outcome"), frame["outcome"].to_list())), expected)


def same(found, expected):
    assert found[0] == expected[0] and found[2] == expected[2]
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("name", FORMATS)
def test_the_command_gives_the_same(folder, expected, capfd, name):
    words = ["rank", str(folder / name), "--target", "outcome", "--method", "fisher", "--json"]
    code = run(words)
    out, err = capfd.readouterr()
    assert code == 0, err
    found = json.loads(out)
    names, numbers, alerts = expected
    unused = {"device", "remark"}  # not listed by the command
    assert set(names[-2:]) == unused and [row["feature"] for row in found["features"]] == names[:-2]
    columns = [[row[key] for row in found["features"]] for key in ("score", "pvalue", "qvalue")]
    shown = np.where(np.isfinite(numbers), numbers, np.nan)[:, :-2]  # JSON has no infinity
    np.testing.assert_array_equal(np.array(columns, dtype=float), shown)
    assert [(alert["kind"], tuple(alert["features"]), alert["sentence"]) for alert in found["alerts"]] == [
        (alert.kind, alert.features, alert.sentence) for alert in alerts
    ]


def test_without_the_copy_and_with_what_the_alerts_ask_for(folder, capfd):
    words = ["rank", str(folder / "t.xlsx"), "-t", "outcome", "-m", "fisher", "--json", "--drop-leaks", "--na", "-999"]
    assert run([*words, "--id", "record id,remark"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [alert["kind"] for alert in found["alerts"]] == ["copy", "visits", "constant"]
    assert "code of outcome" not in {row["feature"] for row in found["features"]}
    frame = messy_table().replace(-999.0, np.nan)
    X = frame.drop(columns=["outcome", "record id", "remark"])
    selector = FeatureSelector("fisher", drop_leaks=True).fit(X, frame["outcome"])
    names = [str(name) for name in selector.to_ranking().names[selector.to_ranking().order]]
    assert [row["feature"] for row in found["features"]] == names[:-2]


def test_a_target_with_a_unit_is_a_number(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    frame = pd.DataFrame({"x": x, "noise": rng.normal(size=80)})
    plain, units = frame.assign(oxygen=(95 + x).round(1)), frame.assign(oxygen=[f"{95 + v:.1f} %" for v in x])
    found = []
    for name, table in (("plain", plain), ("units", units)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        assert run(["rank", str(tmp_path / f"{name}.csv"), "-t", "oxygen", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert [row["pvalue"] for row in found[0]["features"]] == [row["pvalue"] for row in found[1]["features"]]
    assert found[1]["kept"] == ["x"]
