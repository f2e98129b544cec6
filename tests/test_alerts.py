"""Alerts: every kind is raised where it should be, and not on tables that only look a little like it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from benchmarks.near_leaks import one as near_leak
from dubio import FeatureSelector, audit_labels
from dubio.alerts import find_alerts
from dubio.alerts.alert import standard_columns
from dubio.errors import InputError
from dubio.problem import read_problem
from dubio_app.command.run import run

RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=(120, 3))
Y = np.arange(120) % 3
CLASSES = np.array(["low", "middle", "high"])[Y]
NUMBERS = RNG.normal(size=120)


def raised(X, y=None, **more):
    """The kinds of alert and the features of each."""
    alerts = find_alerts(read_problem(X, y, target="auto", allow_nan=True, any_type=True, **more))
    for alert in alerts:
        assert not alert.sentence.endswith(".") and not alert.remedy.endswith(".") and "\n" not in str(alert)
        assert json.loads(json.dumps(alert.facts)).keys() == alert.facts.keys()  # plain numbers and names
    return {alert.kind: alert.features for alert in alerts}


def table(**columns):
    return pd.DataFrame({"a": NOISE[:, 0], "b": NOISE[:, 1], **columns})


def visits(seed, spread=0.4, relation=False, n_patients=40, n_visits=10, n_labs=20):
    """Labels and labs drawn per patient, with a little change between visits."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), n_visits)
    y = rng.permutation(np.arange(n_patients) % 2)
    labs = rng.normal(size=(n_patients, n_labs))
    labs[:, :3] += 2.0 * relation * y[:, None]
    return labs[patient] + spread * rng.normal(size=(len(patient), n_labs)), y[patient], patient


@pytest.mark.parametrize(
    "copy",
    [
        Y.astype(float),
        np.array([7.0, 1.0, 3.0])[Y],
        np.array(["x", "y", "z"])[Y],
        np.where(np.arange(120) % 10 == 0, None, np.array(["x", "y", "z"])[Y]),
        Y + 1e-3 * 0,
    ],
    ids=["codes", "not monotone", "text", "with gaps", "same"],
)
def test_a_recoding_of_the_classes(copy):
    found = raised(table(c=copy), CLASSES)
    assert found == {"copy": ("c",)}


def test_whether_a_cell_is_missing_may_be_the_target():
    found = raised(table(c=np.where(np.arange(120) % 2, NOISE[:, 2], np.nan)), np.arange(120) % 2)
    assert found == {"copy": ("c",)}


@pytest.mark.parametrize(
    "copy",
    [NUMBERS * 9 / 5 + 32, -NUMBERS, np.exp(NUMBERS), np.round(NUMBERS * 2.2046, 2)],
    ids=["linear", "negative", "monotone", "rounded"],
)
def test_a_copy_of_a_numeric_target(copy):
    assert raised(table(c=copy), NUMBERS) == {"copy": ("c",)}


def test_what_is_no_copy():
    nearly = Y.copy()
    nearly[0] = (Y[0] + 1) % 3
    assert raised(table(c=nearly), CLASSES) == {"near copy": ("c",)}
    assert raised(table(c=NUMBERS + 0.1 * NOISE[:, 2]), NUMBERS) == {}
    few = [0, 0, 1, 1, 1, 0]
    assert raised(pd.DataFrame({"c": few, "d": [1.0, 2, 5, 3, 4, 9]}), np.array(list("xxyyyx"))) == {}  # chance does it
    assert "copy" not in raised(load_iris(as_frame=True).data, load_iris().target)


@pytest.mark.parametrize("kind", ["copy", "codes", "score", "number", "gaps", "gaps of some"])
def test_a_leak_that_disagrees_in_some_rows(kind):
    """The shares are in docs/alerts.md, from lab/benchmarks/near_leaks.py."""
    assert sum(near_leak(kind, 400, 0.4, 0.02, seed) for seed in range(5)) >= 4


@pytest.mark.parametrize("kind", ["gaps of some", "number"])
def test_a_leak_of_few_rows_that_disagrees_in_some(kind):
    assert sum(near_leak(kind, 200, 0.2, 0.05, seed) for seed in range(10)) >= 9


@pytest.mark.parametrize("kind", ["normal", "heavy tail", "exponential"])
def test_a_very_good_number_is_no_leak(kind):
    assert sum(near_leak(f"honest {kind}", 400, 0.4, 0.0, seed) for seed in range(10)) <= 1
    assert sum(near_leak(f"honest {kind}", 200, 0.2, 0.0, seed) for seed in range(20)) <= 3


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_column_without_values_is_no_number_like_the_target():
    cells = 3.0 * NUMBERS + 1
    cells[:8] = RNG.normal(size=8)
    assert raised(table(c=cells, d=np.nan), NUMBERS)["near copy"] == ("c",)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_one_grade_is_no_rating():
    problem = read_problem(np.random.default_rng(1).normal(size=(3, 9)), np.eye(3)[[1, 1, 1]])
    assert not find_alerts(problem.with_supervision(problem.supervision.certain()))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_the_columns_of_visits_may_hold_very_large_numbers():
    standard, varies = standard_columns(np.array([[1e200, 1.0], [-1e200, 1.0], [3e200, 1.0]]))
    assert varies.tolist() == [True, False] and standard.std() == pytest.approx(1.0)


def test_a_suspected_feature_comes_first_in_words(tmp_path, capsys):
    rng = np.random.default_rng(3)
    ill = rng.integers(0, 2, 400)
    X = pd.DataFrame({"age": rng.normal(60, 9, 400), "crp": rng.normal(size=400) + 0.6 * ill})
    X["hours to ICU"] = np.where(ill == 1, rng.gamma(2, 9, 400).round(1), np.nan)
    X["followup_score"] = np.where(rng.random(400) < 0.02, 1 - ill, ill) * 6 + rng.normal(size=400)
    selector = FeatureSelector().fit(X, ill)
    assert {alert.kind for alert in selector.alerts_[:2]} == {"copy", "near copy"}
    assert selector.to_ranking().headline().startswith("Look at 'hours to ICU' and 'followup_score' first")
    left = FeatureSelector(drop_leaks=True).fit(X, ill)
    assert not left.to_ranking().suspected and left.get_feature_names_out().tolist() == ["crp"]
    X.assign(ill=ill).to_csv(tmp_path / "t.csv", index=False)
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "ill"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Look at 'hours to ICU' and 'followup_score' first" in out and "only you can know" in out


def test_a_number_that_is_nearly_the_target():
    cells = 3.0 * NUMBERS + 1
    cells[:8] = RNG.normal(size=8)
    assert raised(table(c=cells), NUMBERS) == {"near copy": ("c",)}


def test_a_feature_that_separates_the_classes():
    apart = 10.0 * np.array([2, 0, 1])[Y] + NOISE[:, 2]
    assert raised(table(c=apart), CLASSES) == {"separates": ("c",)}
    wards = np.array(["A1", "B1", "C1", "A2", "B2", "C2"])[Y + 3 * (np.arange(120) % 2)]
    assert raised(table(c=wards), CLASSES) == {"separates": ("c",)}
    assert raised(table(c=3.0 * Y + NOISE[:, 2]), CLASSES) == {}  # overlaps
    assert raised(table(c=[f"n{i}" for i in range(120)]), CLASSES) == {"identifier": ("c",)}


def test_a_feature_that_separates_the_classes_of_groups():
    """Visits of a patient count once, given or suspected: codes that say the class are seen, names of patients not."""
    rng = np.random.default_rng(5)
    patient = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    ill = rng.integers(0, 2, 60)[patient]
    code = np.where(ill, rng.choice(["M05", "M06"], len(ill)), rng.choice(["M17", "M19", "M25"], len(ill)))
    X = pd.DataFrame({"lab": rng.normal(size=len(ill)), "icd": code})
    assert raised(X, ill, groups=patient) == {"separates": ("icd",)}
    named = X.assign(patient=[f"P{i}" for i in patient])
    assert raised(named, ill) == {"separates": ("icd",), "visits": ("patient",)}
    again = X.assign(more=rng.random(len(X)), third=rng.random(len(X)))
    again = pd.concat([again, again[:40]])
    assert raised(again, np.r_[ill, ill[:40]]) == {"separates": ("icd",), "repeated rows": ()}
    few = np.repeat(np.arange(8), 10)  # what stays the same for a patient says nothing of the class
    own = pd.DataFrame({"lab": rng.normal(size=80), "town": few // 2 * 2.0, "age": 10.0 * few})
    assert raised(own, few // 2 % 2, groups=few) == {}
    assert raised(own[["lab", "age"]], few // 4, groups=few) == {}  # 1 of 35 ways to choose 4 of 8 patients
    alone = np.random.default_rng(0).permutation(80)
    assert raised(pd.DataFrame({"lab": own["lab"], "age": alone / 7}), alone >= 40) == {"separates": ("age",)}


def test_neighbours_of_one_class_count_once():
    X, y, patient = visits(0, n_patients=80, n_visits=5)
    town = np.array(list("abcdefgh"))[np.random.default_rng(0).integers(0, 4, 80) * 2 + y[::5]][patient]
    frame = pd.DataFrame(X).rename(columns=str)
    assert raised(frame.assign(town=town), y) == {"separates": ("town",), "visits": ()}
    assert raised(frame.assign(town=patient // 2), np.repeat(np.arange(80) // 2 % 2, 5)).get("separates") is None


def test_visits_of_the_same_subject():
    for seed in range(5):
        X, y, patient = visits(seed)
        assert raised(X, y) == {"visits": ()}
        assert raised(X, y, groups=patient) == {}
        named = np.column_stack([patient, X])
        mixed = np.random.default_rng(seed).permutation(len(X))
        assert raised(named, y) == {"visits": ("x0",)}
        assert raised(named[mixed], y[mixed]) == {"visits": ("x0",)}
        assert raised(X[mixed][:, :1], y[mixed]) == {}


@pytest.mark.parametrize(("n_patients", "n_visits"), [(40, 10), (200, 3)], ids=["categories", "text"])
def test_visits_by_the_name_of_the_patient(n_patients, n_visits):
    X, y, patient = visits(0, n_patients=n_patients, n_visits=n_visits)
    mixed = np.random.default_rng(0).permutation(len(X))
    named = pd.DataFrame(X).rename(columns=str).assign(who=[f"patient {i}" for i in patient]).iloc[mixed]
    left_out = {} if n_patients <= 100 else {"text": ("who",)}
    assert raised(named, y[mixed]) == {"visits": ("who",), **left_out}
    named["who"] = np.random.default_rng(1).permutation(named["who"])  # a name that says nothing
    assert raised(named, y[mixed]) == left_out


def clinic(seed=0, n_patients=60):
    """Patients with one to four visits each: age and sex stay, everything else changes."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), rng.integers(1, 5, n_patients))
    n = len(patient)
    labs = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("vwxyz"))
    who = [f"K{i:03d}" for i in patient]
    age, sex = rng.integers(30, 90, n_patients)[patient], rng.choice(["f", "m"], n_patients)[patient]
    return labs.assign(who=who, age=age, sex=sex), rng.choice(["ill", "well"], n)


def test_visits_by_what_stays_the_same():
    X, y = clinic()
    [alert] = find_alerts(read_problem(X, y, any_type=True))
    assert (alert.kind, alert.features) == ("visits", ("who",))
    assert "'age', 'sex'" in alert.sentence
    assert raised(X.drop(columns="sex"), y) == {}  # one column alone may follow from a code
    assert raised(X.drop(columns=["age", "sex"]), y) == {}
    assert raised(X.drop(columns=["age", "sex"]).rename(columns={"who": "patient"}), y) == {"visits": ("patient",)}
    number = X["who"].str.removeprefix("K").astype(int)
    assert raised(X.assign(who=number), y) == {"visits": ("who",)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(
            (name, True)
            for name in ("patient", "Patients", "subject", "case_id", "PatientID", "patient no.", "id_patient")
        ),
        *(
            (name, True)
            for name in ("subject nr", "MRN", "pid", "participant_code", "number of the patient", "study_id")
        ),
        *((name, False) for name in ("age of patient", "age_patient", "cost per patient", "n_patient", "is_patient")),
        *((name, False) for name in ("in-patient", "case", "patient_age", "study", "rapid", "n_subjects")),
    ],
)
def test_visits_by_the_name_of_the_column(name, expected):
    X, y = clinic()
    frame = X.drop(columns=["age", "sex"]).rename(columns={"who": name})
    assert raised(frame, y) == ({"visits": (name,)} if expected else {})


def test_a_code_with_its_properties():
    """Few values with many rows each are no subjects; many values may be, and the alert says what else they may be."""
    rng = np.random.default_rng(2)
    y, x = rng.choice(["ill", "well"], 400), rng.normal(size=400)

    def products(count):
        code = rng.integers(0, count, 400)
        colour, kind = rng.choice(["red", "blue", "green"], count)[code], rng.choice(["a", "b", "c", "d"], count)[code]
        return pd.DataFrame({"product": [f"p{i}" for i in code], "colour": colour, "kind": kind, "x": x})

    assert raised(products(15), y) == raised(products(30), y) == {}
    [alert] = find_alerts(read_problem(products(90), y, any_type=True))
    assert alert.kind == "visits" and "or a code with its properties" in alert.sentence


def test_what_stays_the_same_is_what_a_literal_comparison_finds():
    from dubio.alerts.of_rows import _may_be_same_within

    rng = np.random.default_rng(0)
    for _ in range(20):
        group = rng.integers(-1, 200, 900)
        table = rng.integers(0, 3, (40, 201))[:, group].astype(np.int32)
        for row in range(0, 40, 2):  # one cell differs
            table[row, rng.integers(900)] += 1
        literal = [all(len(set(values[group == one].tolist())) <= 1 for one in range(200)) for values in table]
        assert np.array_equal(_may_be_same_within(table, group), np.flatnonzero(literal))
    table[1, 5] = -1  # a missing cell differs from nothing
    assert 1 in _may_be_same_within(table, group)


def test_a_column_is_not_compared_with_itself():
    """A number that nothing follows but itself, among two columns: half of the columns are not 'the others'."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 200), rng.normal(size=200)])
    assert raised(X, rng.integers(0, 2, 200)) == {}
    shared = np.column_stack([X[:, 0], rng.normal(size=40)[X[:, 0].astype(int)], *rng.normal(size=(2, 200))])
    assert raised(shared, rng.integers(0, 2, 200)) == {}  # one of three others, not two of four


def test_the_remedy_names_what_the_caller_has():
    X, y, patient = visits(0)
    [alert] = find_alerts(read_problem(np.column_stack([X[:, :5], patient]), y))
    assert "groups=X[:, 5]" in alert.remedy
    frame = pd.DataFrame(X[:, :5]).rename(columns=str).assign(who=patient)
    [alert] = find_alerts(read_problem(frame, y))
    assert "groups=X['who']" in alert.remedy
    [alert] = find_alerts(read_problem(frame.set_axis([*range(6)], axis=1), y))
    assert "groups=X[5]" in alert.remedy
    [alert] = FeatureSelector("fisher").fit(np.column_stack([X[:, :5], patient]), y).alerts_
    assert "groups=X[:, 5]" in alert.remedy


def test_columns_that_follow_from_another_are_no_visits():
    rng = np.random.default_rng(0)
    y, x = rng.choice(["ill", "well"], 300), rng.normal(size=300)
    age = rng.integers(20, 90, 300)
    assert raised(pd.DataFrame({"age": age, "decade": age // 10, "retired": age > 66, "x": x}), y) == {}
    land = rng.integers(0, 7, 40)[city := rng.integers(0, 40, 300)]
    names = {"city": [f"c{i}" for i in city], "land": [f"l{i}" for i in land], "part": [f"p{i % 3}" for i in land]}
    assert raised(pd.DataFrame({**names, "x": x}), y) == {}
    rare = pd.DataFrame({"code": [f"c{i}" for i in city], "event": city == 3, "other": city == 5, "x": x})
    assert raised(rare, y) == {}


def test_rows_that_are_not_visits():
    rng = np.random.default_rng(3)
    y = np.sort(rng.integers(0, 2, 400))
    assert raised(rng.normal(size=(400, 20)) + 2 * y[:, None], y) == {}  # sorted by class
    X = rng.normal(size=(400, 6))
    assert raised(X[np.argsort(X[:, 0])], rng.integers(0, 2, 400)) == {}  # sorted by a feature
    score = rng.integers(10, 60, size=400)  # a whole number that others follow is no name
    assert raised(np.column_stack([score, score[:, None] + rng.normal(size=(400, 4))]), rng.integers(0, 2, 400)) == {}
    values = np.sort(rng.normal(size=400))
    assert raised(values[:, None] + 0.5 * rng.normal(size=(400, 5)), values) == {}  # sorted by the target


@pytest.mark.parametrize("make", [load_iris, load_wine])
def test_clean_tables_raise_nothing(make):
    X, y = make(return_X_y=True, as_frame=True)
    assert raised(X, y) == {}


def test_false_alarms_about_rows_are_rare():
    """Independent rows of many kinds: none of 100 tables raises an alert."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 200)
        factor = rng.normal(size=(200, 1))
        for X in (
            rng.normal(size=(200, 8)),
            np.round(10 * (factor + 0.5 * rng.normal(size=(200, 8)))),
            rng.poisson(4, size=(200, 8)).astype(float),
            np.column_stack([rng.integers(0, 3, size=(200, 6)), rng.normal(size=(200, 1))]),
        ):
            assert raised(X, y) == {}, seed


def test_repeated_rows():
    again = np.concatenate([NOISE, NOISE[:10]])
    assert raised(again, np.concatenate([Y, Y[:10]])) == {"repeated rows": ()}
    assert raised(np.concatenate([NOISE, NOISE[:2]]), np.concatenate([Y, Y[:2]])) == {}
    answers = RNG.integers(0, 3, size=(300, 4))  # few answers: equal rows are no surprise
    assert raised(answers, RNG.integers(0, 2, 300)) == {}


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("nr", np.arange(120), True),
        ("record", RNG.permutation(120) + 5000, True),
        ("patient_id", RNG.permutation(10**6)[:120], True),
        ("patientID", RNG.permutation(10**6)[:120], True),
        ("income", RNG.permutation(10**6)[:120], False),
        ("x", NOISE[:, 2], False),
        ("count", RNG.integers(0, 100, 120), False),
        ("grid", RNG.permutation(10**6)[:120], False),
    ],
)
def test_identifiers(name, values, expected):
    assert raised(table(**{name: values}), CLASSES) == ({"identifier": (name,)} if expected else {})


@pytest.mark.parametrize("n_different", [80, 120])
def test_numbers_of_different_units_are_refused_with_the_reason(n_different):
    """Also if each cell is different: it is no identifier."""
    weights = [f"{i % n_different + 0.5} {'mg' if i % 2 else 'U'}" for i in range(120)]
    with pytest.raises(InputError, match=r"unclear in column .weight.* different units"):
        read_problem(table(weight=weights), CLASSES, any_type=True)


def test_empty_and_constant_columns():
    found = raised(table(c=np.ones(120), d=np.full(120, np.nan)), CLASSES)
    assert found.keys() == {"constant"}
    alerts = find_alerts(read_problem(table(c=np.ones(120), d=np.full(120, np.nan)), CLASSES, any_type=True))
    assert [alert.features for alert in alerts] == [("d",), ("c",)]
    assert raised(table(c=np.arange(120) == 0), CLASSES) == {}


def test_a_column_that_varies_only_where_nobody_looked(monkeypatch):
    monkeypatch.setattr("dubio.alerts.alert._MOST_CELLS", 1000)
    X = np.column_stack([RNG.normal(size=(5000, 3)), np.zeros(5000)])
    y = np.arange(5000) % 2
    assert raised(X, y) == {"constant": ("x3",)}
    X[317, 3] = 1.0
    assert raised(X, y) == {}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (NOISE[:, 0], True),
        (-2.2046 * NOISE[:, 0] + 3, True),
        (np.round(NOISE[:, 0], 3), True),
        (NOISE[:, 0] + 0.1 * NOISE[:, 2], False),
    ],
)
def test_features_that_are_alike(other, expected, monkeypatch):
    assert raised(table(c=other), CLASSES) == ({"alike": ("a", "c")} if expected else {})
    if np.array_equal(other, NOISE[:, 0]):
        monkeypatch.setattr("dubio.alerts.of_columns._MOST_COMPARED", 2)  # a table with very many columns
        assert raised(table(c=other), CLASSES) == {"alike": ("a", "c")}


def test_categories_that_are_alike():
    first = RNG.integers(0, 4, 120)
    found = raised(table(c=np.array(list("wxyz"))[first], d=np.array(["k", "a", "m", "b"])[first]), CLASSES)
    assert found == {"alike": ("c", "d")}
    other = np.where(np.arange(120) == 3, (first + 1) % 4, first)
    assert raised(table(c=np.array(list("wxyz"))[first], d=np.array(list("kamb"))[other]), CLASSES) == {}


def test_rare_events_are_not_alike():
    rare = np.zeros(120)
    rare[5] = 1
    assert raised(table(c=rare, d=2 * rare), CLASSES) == {}


def test_a_rating_read_as_classes():
    rng = np.random.default_rng(1)
    rating = rng.integers(1, 11, 400)
    X = rating[:, None] * np.array([0.3, 0.0, 0.2]) + rng.normal(size=(400, 3))
    assert raised(X, rating) == raised(X, rating.astype(str)) == {"rating": ()}
    code = rng.permutation(10)[rating - 1] + 1  # the same classes with numbers that are only names
    assert raised(X, code) == {}
    assert raised(rng.normal(size=(400, 3)), rating) == {}
    assert raised(X, rating.astype(float) + 0.5) == {}  # read as numbers


@pytest.mark.parametrize("grades", [3, 4, 5])
def test_a_rating_of_few_grades(grades):
    rng = np.random.default_rng(grades)
    rating = rng.integers(1, grades + 1, 600)
    X = rating[:, None] * np.array([0.4, 0.0, 0.25, 0.1]) + rng.normal(size=(600, 4))
    assert raised(X, rating) == {"rating": ()} and raised(rng.normal(size=(600, 4)), rating) == {}
    code = np.array([2, 1, 3, 4, 5])[rating - 1]
    assert raised(X, code) == {}


def test_codes_of_classes_are_rarely_taken_for_a_rating():
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        code = rng.integers(0, 6, 300)
        X = rng.normal(size=(6, 4))[code] + rng.normal(size=(300, 4))
        found += "rating" in raised(X, code)
    assert found <= 6  # 1 % are expected


def test_a_class_of_one_row():
    alone = CLASSES.copy().astype(object)
    alone[7] = "rare"
    assert raised(table(), alone) == {"lonely class": ()}
    alone[8] = "rare"
    assert raised(table(), alone) == {}


@pytest.mark.parametrize(
    ("mark", "count", "expected"),
    [(-999, 4, True), (9999, 3, True), (-9, 2, True), (-999, 1, False), (-3, 5, False), (9, 5, False)],
)
def test_numbers_that_mean_missing(mark, count, expected):
    values = np.abs(NOISE[:, 2]).round(3)
    values[5 : 5 + count] = mark
    found = raised(table(c=values), CLASSES)
    assert found == ({"sentinel": ("c",)} if expected else {})


def test_large_numbers_are_not_missing():
    assert raised(table(c=np.r_[np.arange(60), np.arange(60)] * 30.0, d=RNG.integers(0, 1500, 120)), CLASSES) == {}


def test_alerts_of_the_selector_and_copies_that_are_left_out():
    X = table(copy=Y * 2.0 + 1, useful=Y + 0.5 * NOISE[:, 2], flat=np.ones(120))
    plain = FeatureSelector("fisher").fit(X, CLASSES)
    assert [alert.kind for alert in plain.alerts_] == ["copy", "constant"]
    assert plain.ranking_[2] == 1 and plain.ranking_[4] == 5
    assert "Alert: 'copy' is a copy of the target" in plain.explanation_
    dropped = FeatureSelector("fisher", drop_leaks=True).fit(X, CLASSES)
    assert dropped.alerts_ == plain.alerts_ and "left out" in dropped.explanation_
    assert dropped.ranking_[3] == 1 and dropped.ranking_[2] >= 4 and not dropped.support_[2]
    without = FeatureSelector("fisher").fit(X.drop(columns="copy"), CLASSES)
    assert np.array_equal(without.pvalues_, np.delete(dropped.pvalues_, 2))
    assert (X["copy"] == Y * 2.0 + 1).all()


def test_alerts_in_the_command(capfd, tmp_path):
    X = table(copy=Y * 2.0 + 1, useful=Y + 0.5 * NOISE[:, 2], flat=np.ones(120), lab=np.round(NOISE[:, 2] + 4, 3))
    X.loc[:3, "lab"] = -999
    X["<b>bold</b>"] = X["useful"]
    path, page = tmp_path / "t.csv", tmp_path / "page.html"
    X.assign(y=CLASSES).to_csv(path, index=False)
    words = ["rank", str(path), "-t", "y", "-m", "fisher"]

    def command(*more):
        code = run([*words, *more])
        out, err = capfd.readouterr()
        assert code == 0, err
        return out, err

    found = json.loads(command("--json", "--report", str(page), "--stability", "0")[0])
    fitted = FeatureSelector("fisher").fit(X, CLASSES)
    assert [alert["kind"] for alert in found["alerts"]] == [alert.kind for alert in fitted.alerts_]
    assert [alert["sentence"] for alert in found["alerts"]] == [alert.sentence for alert in fitted.alerts_]
    assert {row["feature"] for row in found["features"]} == {"a", "b", "copy", "useful", "lab", "<b>bold</b>"}
    by_kind = {alert["kind"]: alert for alert in found["alerts"]}
    assert "--drop-leaks" in by_kind["copy"]["remedy"] and "--na -999" in by_kind["sentinel"]["remedy"]
    text = page.read_text()
    assert "Look at this first" in text and "&lt;b&gt;bold" in text and "<b>bold" not in text
    assert text.index("Look at this first") < text.index('id="ranking"')
    out, err = command()
    assert "Alert: 'copy' is a copy of the target" in out.replace("\n", " ")
    out, err = command("--csv")
    assert "'copy' is a copy of the target" in err and "Alert" not in out
    found = json.loads(command("--json", "--drop-leaks", "--na", "-999")[0])
    assert "copy" not in {row["feature"] for row in found["features"]}
    assert "sentinel" not in {alert["kind"] for alert in found["alerts"]}


def test_leaks_in_the_command(capfd, tmp_path):
    """Features that separate the classes are left out on request, and an audit says what they hide."""
    wards = np.array(["A1", "B1", "C1", "A2", "B2", "C2"])[Y + 3 * (np.arange(120) % 2)]
    X = table(copy=Y * 2.0 + 1, ward=wards, useful=Y + 0.5 * NOISE[:, 2])
    path = tmp_path / "t.csv"
    X.assign(y=CLASSES).to_csv(path, index=False)

    def command(*words):
        assert run([words[0], str(path), "-t", "y", *words[1:]]) == 0
        return capfd.readouterr()

    found = json.loads(command("rank", "-m", "fisher", "--json", "--drop-leaks").out)
    assert found["left_out"] == {
        "copy": "perhaps a copy of the target",
        "ward": "separates the classes completely",
    }
    assert found["kept"] == ["useful"] and {alert["remedy"] for alert in found["alerts"]} == {
        "left out by --drop-leaks"
    }
    assert "separates the classes completely" in found["explanation"]
    found = json.loads(command("rank", "-m", "fisher", "--json").out)
    assert all(f"--ignore {alert['features'][0]} or --drop-leaks" in alert["remedy"] for alert in found["alerts"])
    out, err = command("audit")
    words = " ".join(out.split())
    assert words.index("'ward' separates the classes completely: it may have been written") < words.index(
        "only checking"
    )
    assert "--ignore ward" in words and "drop-leaks" not in out + err and "separates" not in err
    out, err = command("audit", "--csv")
    assert "'copy' is a copy of the target, or a recoding of it: it may have been written" in err
    assert "drop-leaks" not in err and "Alert" not in out
    found = json.loads(command("audit", "--json").out)
    assert [alert["kind"] for alert in found["alerts"]] == ["copy", "separates"]
    assert not any("drop-leaks" in alert["remedy"] for alert in found["alerts"])


def test_sparse_tables_have_no_alerts():
    from scipy import sparse

    X = sparse.csr_matrix(np.abs(NOISE) > 1).astype(float)
    assert FeatureSelector("fisher").fit(X, Y).alerts_ == ()


def test_copies_with_different_labels_come_first(tmp_path, capsys):
    rng = np.random.default_rng(8)
    y = np.arange(80) % 2
    X = pd.DataFrame(rng.normal(size=(80, 3)) + y[:, None], columns=list("abc"))
    X = pd.concat([X, X.iloc[[4, 9, 9]]], ignore_index=True)
    y = np.r_[y, 1 - y[4], y[9], 1 - y[9]]
    audit = audit_labels(X, y)
    assert set(np.argsort(np.where(audit.rank > 0, audit.rank, 999))[:3]) == {4, 80, 82}  # 9 and 81 agree
    (alert,) = [one for one in find_alerts(read_problem(X, y)) if one.kind == "contradicting rows"]
    assert alert.facts == {"rows": 5, "which": ["row 4 and row 80", "row 9, row 81 and row 82"]}
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    assert run(["audit", str(tmp_path / "t.csv"), "-t", "y"]) == 0
    said = capsys.readouterr()
    out = " ".join(said.out.split())
    assert out.startswith("Alert: 5 rows are equal to others") and "line 6 of the file and line 82 of the file" in out
    few = pd.DataFrame({"a": rng.integers(0, 2, 80), "b": rng.integers(0, 2, 80)})  # chance makes copies
    assert raised(few, np.arange(80) % 2) == {}


@pytest.mark.parametrize(
    ("levels", "groups"),
    [
        (["F", "f", "M"], [("F", "f")]),
        (["m", "männlich", "w", "weiblich"], [("m", "männlich"), ("w", "weiblich")]),
        (["non-smoker", "Non smoker", "smoker"], [("non-smoker", "Non smoker")]),
        (["A", "B", "AB", "0"], []),
        (["east", "west", "north"], []),
    ],
)
def test_categories_written_in_several_ways(levels, groups):
    cells = np.array(levels)[RNG.integers(0, len(levels), 120)]
    alerts = [
        one for one in find_alerts(read_problem(table(c=cells), CLASSES, any_type=True)) if one.kind == "variants"
    ]
    assert [sorted(map(sorted, one.facts["groups"])) for one in alerts] == (
        [sorted(map(sorted, groups))] if groups else []
    )
    of_target = [one for one in find_alerts(read_problem(table(), cells)) if one.kind == "variants"]
    assert bool(of_target) == bool(groups) and all("classes of the target" in one.sentence for one in of_target)
