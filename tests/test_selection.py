"""A selection as a file, and its use on the next table."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from dubio import FeatureSelector, InputError, WeightedLaplacianScore
from dubio.trust import Selection
from dubio_app.command.run import run


@pytest.fixture(scope="module")
def patients() -> tuple[pd.DataFrame, np.ndarray]:
    """200 patients: numbers with a unit, numbers with gaps, a category and a date that follow the diagnosis; noise."""
    rng = np.random.default_rng(0)
    n = 200
    ill = rng.integers(0, 2, n) == 1
    table = pd.DataFrame(
        {
            "crp": [f"{value:.1f}".replace(".", ",") + " mg/l" for value in rng.gamma(2, 3, n) + 4 * ill],
            "age": np.round(rng.normal(60, 10, n) + 8 * ill, 1),
            "colour": np.where(rng.random(n) < 0.2 + 0.6 * ill, "red", np.where(rng.random(n) < 0.5, "blue", "green")),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 100, n) + 60 * ill, "D"),
            "remark": [f"text {row}" for row in range(n)],
            "noise": rng.normal(size=n),
        }
    )
    table.loc[3:9, "age"] = np.nan
    return table, np.where(ill, "ill", "well")


@pytest.fixture(scope="module")
def selector(patients) -> FeatureSelector:
    return FeatureSelector().fit(*patients)


def test_the_file_says_what_was_kept(tmp_path, patients, selector):
    Selection.of(selector, patients[0], target="diagnosis").save(tmp_path / "s.json")
    content = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    columns = {column["name"]: column for column in content["columns"]}
    assert list(columns) == ["crp", "age", "colour", "seen"]
    assert (columns["crp"]["unit"], columns["age"]["n_missing"], columns["colour"]["levels"]) == (
        "mg/l",
        7,
        ["blue", "green", "red"],
    )
    assert columns["age"]["filled_with"] == np.nanmedian(patients[0]["age"])
    assert content["estimator"]["class"] == "dubio.FeatureSelector" and content["table"]["rows"] == 200
    assert Selection.load(tmp_path / "s.json") == Selection.of(selector, patients[0], target="diagnosis")


def test_the_same_rows_have_the_same_values_in_any_form(tmp_path, patients, selector):
    table, _ = patients
    selection = Selection.of(selector, table)
    same = selection.apply(table)
    kept = selector.set_output(transform="pandas").transform(table)
    assert same.notes == () and list(same.table) == list(kept)
    for name in ("age", "colour", "seen"):
        assert (same.table[name].isna() | (same.table[name] == kept[name])).all()
    numbers = table["crp"].str.removesuffix(" mg/l").str.replace(",", ".").astype(float)
    np.testing.assert_array_equal(same.table["crp"], numbers)
    other = table[["seen", "colour", "age", "crp"]].assign(crp=numbers)
    other.to_csv(tmp_path / "other.csv", sep=";", decimal=",", index=False)
    other.to_excel(tmp_path / "other.xlsx", index=False)
    selection.save(tmp_path / "s.json")
    for name in ("other.csv", "other.xlsx"):
        assert run(["apply", str(tmp_path / "s.json"), str(tmp_path / name), "--save", str(tmp_path / "k.csv")]) == 0
        again = pd.read_csv(tmp_path / "k.csv", parse_dates=["seen"])
        pd.testing.assert_frame_equal(again, same.table, check_dtype=False)


def test_the_names_of_the_rows_come_first(tmp_path, patients, selector, capsys):
    table = patients[0].assign(patient=[f"{row:03d}" for row in range(200)])
    table.to_csv(tmp_path / "t.csv", index=False)
    Selection.of(selector, patients[0]).save(tmp_path / "s.json")
    words = ["apply", str(tmp_path / "s.json"), str(tmp_path / "t.csv"), "--save", str(tmp_path / "k.csv"), "--id"]
    assert run([*words, "patient,remark,age"]) == 0  # age is one of the kept columns
    kept = pd.read_csv(tmp_path / "k.csv", dtype={"patient": str})
    assert list(kept) == ["patient", "remark", "crp", "age", "colour", "seen"]
    assert kept["patient"].tolist() == table["patient"].tolist()
    np.testing.assert_array_equal(kept["age"], table["age"])
    assert run([*words, "pateint"]) == 2
    assert "--id names 'pateint', but the table has no such column: did you mean 'patient'?" in capsys.readouterr().err


def test_what_is_different_is_said(patients, selector):
    table = patients[0].copy()
    table["age"] += 8
    table.loc[0, ["colour", "age"]] = "violet", 900.0
    notes = {one.code: one.facts for one in Selection.of(selector, patients[0]).apply(table).notes}
    assert notes["applied new categories"]["levels"] == ["violet"]
    assert notes["applied far outside"]["example"] == "900"
    assert notes["applied drifted"]["name"] == "age" and 20 < notes["applied drifted"]["percent"] < 50
    plain = patients[0].assign(crp=1.5, age=np.nan)
    codes = [one.code for one in Selection.of(selector, patients[0]).apply(plain).notes]
    assert codes[:2] == ["applied without unit", "applied empty"]


def test_a_fresh_sample_of_the_same_kind_has_not_drifted(patients, selector):
    """At the level of 1 % and a tenth of the rows, halves of one table hardly ever differ."""
    table = patients[0].sample(frac=1, random_state=1)
    selection = Selection.of(selector, table.iloc[:100])
    drifts = [one for seed in range(20) for one in selection.apply(table.sample(60, random_state=seed)).notes]
    assert sum(one.code == "applied drifted" for one in drifts) <= 1


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"age": None}, "lacks 1 kept column: 'age'"),
        ({"age": "old"}, "'age' holds categories, first 'old' in row 0, but it held numbers"),
        ({"crp": "3 g/l"}, "'crp' is in g/l, but it was in mg/l"),
        ({"seen": 3.0}, "'seen' holds numbers"),
    ],
)
def test_what_cannot_be_read_as_before_is_refused(patients, selector, change, match):
    name, value = next(iter(change.items()))
    table = patients[0].drop(columns=name) if value is None else patients[0].assign(**change)
    with pytest.raises(InputError, match=match):
        Selection.of(selector, patients[0]).apply(table)


def test_what_is_no_selection_is_refused(tmp_path):
    for content in (
        "",
        "[]",
        '{"format": 1}',
        '{"format": 99, "columns": []}',
        "\x00",
        '{"format": "x", "columns": 3}',
    ):
        (tmp_path / "s.json").write_text(content)
        with pytest.raises(InputError):
            Selection.load(tmp_path / "s.json")


def test_an_anonymous_selection_holds_nothing_rare(patients, selector):
    table = patients[0].copy()
    table.loc[:2, "colour"] = "puce"
    columns = {one.name: one for one in Selection.of(selector, table, anonymous=True).columns}
    assert "puce" not in columns["colour"].levels
    for name in ("age", "crp"):
        values = Selection.of(selector, table).apply(table).table[name].dropna()
        counts = values.value_counts()
        assert not set(columns[name].limits) & set(counts[counts < 5].index)
        assert (columns[name].counts(values.to_numpy()) >= 5).all()


def test_transform_of_a_frame_needs_only_the_kept_columns(patients, selector):
    table, y = patients
    kept = list(selector.get_feature_names_out())
    plain = FeatureSelector().fit(table, y)
    np.testing.assert_array_equal(plain.transform(table[kept[::-1]]).astype(str), plain.transform(table).astype(str))
    more = table[kept].assign(later=0)
    assert list(FeatureSelector().set_output(transform="pandas").fit(table, y).transform(more)) == kept
    with pytest.raises(ValueError, match="yet now missing"):
        plain.transform(table.drop(columns=kept[0]))
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc"))
    score = WeightedLaplacianScore(n_features_to_select=2).fit(numbers, numbers["a"] > 0)
    two = list(score.get_feature_names_out())
    np.testing.assert_array_equal(score.transform(numbers[two[::-1]]), score.transform(numbers))
