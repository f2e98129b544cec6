"""Direction and size of each feature: literal and borrowed references, intervals that hold, and every front end."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import somersd
from sklearn.metrics import roc_auc_score

import dubio
from dubio.evidence.effects import Effects, effects_of
from dubio.problem import read_problem
from dubio_app.command.run import run
from tests import naive


def effects_in(problem) -> Effects:
    found = effects_of(problem)
    assert found is not None
    return found


def effects(X, y, **options) -> Effects:
    return effects_in(dubio.FeatureSelector(**options).read_problem(X, y))


@pytest.fixture
def table():
    """Values with ties, offsets and a constant column."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=50).round(1), rng.integers(0, 3, 50), 1e9 + rng.random(50), np.ones(50)])
    X.setflags(write=False)
    return X, rng


def test_two_classes_are_the_area_under_the_curve(table):
    X, rng = table
    y = rng.integers(0, 2, 50)
    found = effects(X, y)
    np.testing.assert_allclose(found.effect, [roc_auc_score(y, column) for column in X.T], rtol=1e-12)
    known = [naive.concordance(column, y, y) for column in X.T]
    np.testing.assert_allclose(found.effect, known, rtol=1e-12)


def test_several_classes_are_compared_with_the_rest(table):
    X, rng = table
    y = rng.choice(["a", "b", "c"], 50)
    found = effects(X, y)
    for name in "abc":
        known = [roc_auc_score(y == name, column) for column in X.T]
        np.testing.assert_allclose(found.each[name], known, rtol=1e-12)
    assert set(found.of[:3]) <= set("abc")
    chosen = [found.each[name][j] for j, name in enumerate(found.of)]
    np.testing.assert_array_equal(found.effect, chosen)


def test_numbers_and_ordered_classes_are_somers_d(table):
    X, rng = table
    number, grade = (X[:, 0] + rng.normal(size=50)).round(1), rng.integers(0, 4, 50)
    for target, y in ((number, number), (grade, dubio.ordered_classes(grade, order=range(4)))):
        known = [0.5 * (1 + somersd(target, column).statistic) for column in X[:, :3].T]
        found = effects(X, y, target="numbers" if y is number else "auto")
        np.testing.assert_allclose(found.effect[:3], known, rtol=1e-12)
        assert found.effect[3] == 0.5 and found.direction[3] == "none"


def test_censored_times_are_the_c_index(table):
    X, rng = table
    low = rng.integers(1, 9, 50).astype(float)
    high = np.where(rng.random(50) < 0.4, np.inf, low)
    high[:5] = low[:5] + 2  # also intervals
    found = effects(X, dubio.interval_targets(low, high))
    known = [naive.concordance(column, low, high) for column in X.T]
    np.testing.assert_allclose(found.effect, known, rtol=1e-12)


def test_probabilities_count_by_their_pairs(table):
    X, rng = table
    P, weights = rng.dirichlet([1, 1, 1], 50), rng.uniform(0.5, 2, 50)
    one = effects_in(read_problem(X, P[:, :2] / P[:, :2].sum(axis=1, keepdims=True), sample_weight=weights))
    two = P[:, :2] / P[:, :2].sum(axis=1, keepdims=True)
    known = [naive.soft_concordance(column, two, weights) for column in X.T]
    np.testing.assert_allclose(one.effect, known, rtol=1e-10)
    problem = dubio.FeatureSelector(target="ordered").read_problem(X, P, sample_weight=weights)
    known = [naive.soft_concordance(column, P, weights) for column in X.T]
    np.testing.assert_allclose(effects_in(problem).effect, known, rtol=1e-10)


def test_the_standard_error_is_near_that_of_the_jackknife(table):
    X, rng = table
    y = X[:, 0] + rng.normal(size=50)
    known = [naive.jackknife_error(column, y, y) for column in X[:, :3].T]
    np.testing.assert_allclose(effects(X, y, target="numbers").errors[:3], known, rtol=0.06)


def test_the_standard_error_of_two_classes_is_delongs(table):
    X, _ = table
    y = np.arange(50) % 7 < 1  # a rare class
    known = [naive.delong_error(column, y) for column in X[:, :3].T]
    np.testing.assert_allclose(effects(X, y).errors[:3], known, rtol=1e-10)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 1)), min_size=6, max_size=30))
def test_units_do_not_matter_and_a_mirror_mirrors(rows):
    x, y = np.array(rows, dtype=float).T
    if len(np.unique(y)) < 2:
        return
    found = effects_in(read_problem(np.column_stack([x, np.exp(x), -x]), y.astype(int)))
    np.testing.assert_allclose(found.effect[1], found.effect[0], atol=1e-12)
    np.testing.assert_allclose([found.low[2], found.effect[2], found.high[2]],
                               1 - np.array([found.high[0], found.effect[0], found.low[0]]), atol=1e-12)  # fmt: skip
    assert (found.low <= found.effect).all() and (found.effect <= found.high).all()
    assert ((found.low >= 0) & (found.high <= 1)).all()


def test_weights_repeat_rows_and_groups_widen(table):
    X, rng = table
    y = rng.integers(0, 2, 50)
    weights = rng.integers(1, 4, 50)
    weighted = effects_in(read_problem(X, y, sample_weight=weights))
    repeated = effects_in(read_problem(np.repeat(X, weights, axis=0), np.repeat(y, weights)))
    np.testing.assert_allclose(weighted.effect, repeated.effect, rtol=1e-9)
    doubled = np.repeat(np.arange(50), 2)
    once, twice = effects_in(read_problem(X, y)), effects_in(read_problem(X[doubled], y[doubled], groups=doubled))
    np.testing.assert_allclose(twice.errors[:3], once.errors[:3], rtol=1e-9)  # copies add nothing


def test_missing_cells_categories_and_groups_of_columns():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    kind = np.where(y == 1, rng.choice(["x", "y"], 120), rng.choice(["y", "z"], 120)).astype(object)
    values = rng.normal(size=120) + y
    gaps = rng.random(120) < 0.3
    X = pd.DataFrame({"kind": kind, "value": np.where(gaps, np.nan, values), "p": rng.normal(size=120), "q": values})
    problem = dubio.FeatureSelector(feature_groups={"both": ["p", "q"]}).read_problem(X, y)
    found = dict(zip(problem.feature_names, effects_in(problem).effect, strict=True))
    assert found["value"] == pytest.approx(roc_auc_score(y[~gaps], values[~gaps]))
    levels = dict(zip(problem.feature_names, effects_in(problem).level, strict=True))
    assert levels["kind"] in ("x", "z") and levels["both"] == "q" and levels["value"] == ""
    assert found["both"] == pytest.approx(roc_auc_score(y, values))
    assert found["kind"] == pytest.approx(roc_auc_score(y, kind == levels["kind"]))


def test_differences_are_in_the_unit_of_the_column():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = (x > 0.3).astype(int)
    of_classes = effects_in(read_problem(x[:, None], y)).difference[0]
    assert of_classes == pytest.approx(np.median(x[y == 1]) - np.median(x[y == 0]))
    number = 3 * x + rng.normal(size=400)
    slope = effects(x[:, None], number, target="numbers").difference[0]
    assert slope == pytest.approx(np.polyfit(x, number, 1)[0])
    times = rng.exponential(np.exp(0.7 * x))  # the hazard falls by exp(-0.7) per unit
    censored = dubio.interval_targets(np.minimum(times, 2), np.where(times < 2, times, np.inf))
    ratio = effects(x[:, None], censored).difference[0]
    assert ratio == pytest.approx(np.exp(-0.7 * x.std()), rel=0.15)


def test_differences_of_categories_are_between_shares_beyond_given_columns_too():
    rng = np.random.default_rng(0)
    y, age = rng.integers(2, size=300), rng.normal(60, 10, 300)
    smokes = np.where(rng.random(300) < np.where(y, 0.3, 0.6), "no", "yes").astype(object)
    smokes[:9] = "perhaps"
    table = pd.DataFrame({"smokes": smokes, "sex": np.where(rng.random(300) < np.where(y, 0.3, 0.7), "m", "f")})
    alone, beyond = (effects_of(read_problem(table, y, given=given, any_type=True)) for given in (None, age[:, None]))
    np.testing.assert_allclose(beyond.difference[:2], alone.difference, atol=0.05)
    assert (np.abs(alone.difference) > 0.2).all() and (np.abs(alone.difference) < 0.6).all()


@pytest.mark.parametrize("kind", ["classes", "numbers", "groups"])
def test_intervals_hold(kind):
    """The effect of a feature of which the truth is known in closed form: 95 of 100 intervals hold it."""
    rng, hits = np.random.default_rng(0), []
    truth = {"classes": 0.76025, "numbers": 0.75, "groups": 0.76025}[kind]
    for _ in range(300):
        if kind == "numbers":  # concordance of two normal numbers: 1/2 + asin(r) / pi
            y = rng.normal(size=60)
            x = np.sqrt(0.5) * y + np.sqrt(0.5) * rng.normal(size=60)
            found = effects(x[:, None], y, target="numbers")
        else:
            n, size = (60, 1) if kind == "classes" else (200, 5)
            groups = np.repeat(np.arange(n // size), size)
            y = np.arange(n // size)[groups] % 2
            x = rng.normal(size=n // size)[groups] + 1.0 * y  # the rows of a group are copies
            found = effects_in(read_problem(x[:, None], y, groups=groups if size > 1 else None))
        hits.append(found.low[0] <= truth <= found.high[0])
    assert 0.915 <= np.mean(hits) <= 0.98


def test_effects_without_the_errors_of_labels():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    x = rng.normal(size=4000) + y
    flipped = np.where(rng.random(4000) < np.where(y == 1, 0.3, 0.1), 1 - y, y)
    clean, doubtful = (effects_in(read_problem(x[:, None], labels)) for labels in (y, flipped))
    wrong = [float((y[flipped == k] != k).mean()) for k in (0, 1)]
    corrected = doubtful.corrected(*wrong)
    assert clean.effect[0] - doubtful.effect[0] > 0.08
    assert corrected.effect[0] == pytest.approx(clean.effect[0], abs=0.02)
    assert corrected.low[0] < clean.effect[0] < corrected.high[0]
    with pytest.raises(dubio.InputError, match="below 1"):
        doubtful.corrected(0.6, 0.5)


def test_too_few_rows_give_no_interval():
    found = effects_in(read_problem(np.arange(12.0)[:, None], np.arange(12) >= 11))
    assert (found.effect[0], found.low[0], found.high[0], found.direction[0]) == (1.0, 0.0, 1.0, "none")


def test_every_front_end_has_them(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.repeat(["ill", "well"], 60)
    X = pd.DataFrame({"up": rng.normal(size=120) + 1.5 * (y == "well"), "noise": rng.normal(size=120)})
    frame = dubio.FeatureSelector().fit(X, y).to_ranking().to_frame().set_index("feature")
    assert frame.loc["up", "direction"] == "higher" and frame.loc["up", "effect_of"] == "well"
    assert frame.loc["up", "effect_low"] > 0.7 and frame.loc["noise", "direction"] == "none"
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    words = ["rank", str(tmp_path / "t.csv"), "-t", "y", "--stability", "0"]
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["features"][0]["effect"] == pytest.approx(frame.loc["up", "effect"])
    assert run([*words, "--report", str(tmp_path / "r.html")]) == 0
    printed, page = capsys.readouterr().out, (tmp_path / "r.html").read_text(encoding="utf-8")
    share = f"{100 * frame.loc['up', 'effect']:.0f} %"
    assert f"{share} ({100 * frame.loc['up', 'effect_low']:.0f} to" in printed and "direction" in printed
    assert "goes with 'well'" in printed and "rows of 'well' have the higher values" in printed.replace("\n", " ")
    assert "concordance" in page and f"up: {share}" in page


def test_the_user_names_the_class_of_the_effects():
    """Of two classes, the last one in the order that is given."""
    y = np.repeat(["case", "control"], 30)
    X, order = np.arange(60.0)[:, None], ["control", "case"]
    for target in (dubio.ordered_classes(y, order=order), pd.Series(pd.Categorical(y, categories=order))):
        found = effects_in(read_problem(X, target))
        assert (found.of[0], found.effect[0], found.direction[0]) == ("case", 0.0, "lower")
    assert effects_in(read_problem(X, y)).of[0] == "control"


def test_effects_on_each_of_several_classes_are_in_files_only(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.repeat(["ill", "unsure", "well"], 40)
    pd.DataFrame({"effect of age": rng.normal(size=120) + 1.5 * (y == "well"), "y": y}).to_csv(tmp_path / "t.csv")
    words = ["rank", str(tmp_path / "t.csv"), "-t", "y", "--stability", "0"]
    assert run(words) == 0
    printed = capsys.readouterr().out
    assert "effect of age" in printed and "effect of well" not in printed
    assert run([*words, "--csv"]) == 0
    assert "effect of ill,effect of unsure,effect of well" in capsys.readouterr().out


def test_nothing_found_says_what_would_have_been():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    with pytest.warns(dubio.errors.NoFeatureStandsOut):
        selector = dubio.FeatureSelector().fit(X, np.arange(100) % 2)
    assert "would have been found in 4 of 5 such tables" in selector.explanation_
    assert 0.6 < effects_in(read_problem(X, np.arange(100) % 2)).smallest_found(0.005) < 0.75
