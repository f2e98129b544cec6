"""Several targets: how they are read, the joint matrix and loss, what each feature serves, the command."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import dubio
from dubio.errors import InputError, NoFeatureStandsOut
from dubio.evidence.evidence import Evidence
from dubio.evidence.relations import linear_r2, smooth_r2
from dubio.evidence.relevance import relevance_of, served
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.greedy import ADD
from dubio.neighbors.losses import NeighborLoss
from dubio.problem import read_problem
from dubio.simulate import hide_targets
from dubio.target.reader import read_supervision
from dubio_app.command.run import run
from tests import naive


def two(n=160, seed=0, d=6):
    """Feature 0 serves both targets, feature 1 the number, feature 2 the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    sugar = X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=n)
    ill = np.where(X[:, 0] - X[:, 2] + 0.5 * rng.normal(size=n) > 0, "yes", "no").astype(object)
    return X, {"sugar": sugar, "ill": ill}


def test_reading():
    _, y = two(40)
    read = read_supervision(dubio.several_targets(y), 40, target="auto")
    assert (read.kind, read.names, [part.kind for part in read.parts]) == (
        "several",
        ("sugar", "ill"),
        ["numbers", "hard"],
    )
    frame = pd.DataFrame(y)
    frame.loc[:9, "sugar"] = np.nan
    frame.loc[5:9, "ill"] = None
    read = read_supervision(frame, 40, target="auto")
    assert (
        read.describe()
        == "35 rows with 2 targets: sugar (a number, known in 30); ill (2 classes, known in 35), 5 rows without a label"
    )
    Y = np.random.default_rng(0).normal(size=(40, 3))
    numbers = read_supervision(Y, 40, target="numbers")
    assert numbers.names == ("target 1", "target 2", "target 3") and len(numbers.parts) == 3
    assert read_supervision(pd.DataFrame(Y, columns=list("abc")), 40, target="numbers").names == ("a", "b", "c")
    some = numbers.rows(np.array([3, 3, 7]))
    np.testing.assert_array_equal(some.parts[1].values, Y[[3, 3, 7], 1])
    np.testing.assert_array_equal(numbers.reordered(np.arange(40)[::-1]).parts[2].values, Y[::-1, 2])
    chosen = dubio.several_targets(frame)[np.array([1, 2])]
    assert len(chosen) == 2 and chosen.targets["ill"].tolist() == frame["ill"][1:3].tolist()


def test_probabilities_stay_probabilities():
    P = np.random.default_rng(0).dirichlet([1, 1, 1], size=20)
    assert read_supervision(P, 20, target="auto").kind == "soft"
    assert read_supervision(pd.DataFrame(P), 20, target="classes").kind == "soft"
    assert read_supervision(P, 20, target="numbers").kind == "several"


@pytest.mark.parametrize("form", ["dict", "frame", "array", "record"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_one_target_in_any_form_is_that_target(form):
    X, y = two(90)
    sugar = y["sugar"]
    given = {
        "dict": dubio.several_targets({"sugar": sugar}),
        "frame": pd.DataFrame({"sugar": sugar}),
        "array": sugar[:, None],
        "record": dubio.several_targets(pd.DataFrame({"sugar": sugar})),
    }[form]
    one = dubio.FeatureSelector(target="numbers").fit(X, given)
    other = dubio.FeatureSelector(target="numbers").fit(X, sugar)
    np.testing.assert_array_equal(one.ranking_, other.ranking_)
    np.testing.assert_array_equal(one.pvalues_, other.pvalues_)
    assert "serves" not in one.to_ranking().extras


NUMBER = np.arange(20) / 7


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ({"a": NUMBER, "b": np.full(20, 0.5)}, "target 'b' has the same value, 0.5, in all 20 labelled rows"),
        ({"a": NUMBER, "b": ["x"] * 20}, "target 'b' has only one class"),
        ({"a": NUMBER, "b": np.full(20, np.nan)}, "target 'b' has no value in any row"),
        ({"a": NUMBER, "b": np.r_[np.inf, np.arange(19.0)]}, "target 'b' contains infinity"),
        ({"a": NUMBER, "b": np.arange(19.0)}, "20 rows in 'a' and 19 in 'b'"),
        ({"a": NUMBER, "b": None}, r"targets\['b'\] is None"),
        ({1: np.arange(20.0), "1": np.arange(20.0)}, "two targets with the same name"),
        ({}, "targets is empty"),
        (np.arange(20.0), "targets has 1 dimensions"),
        (pd.DataFrame(np.eye(20)[:, :2], columns=["a", "a"]), "columns with the same name: 'a'"),
        ({"a": np.arange(21.0), "b": np.arange(21.0) ** 2}, "y has 21 rows and X has 20"),
        (pd.DataFrame({"f1": np.arange(20.0), "b": list("xy") * 10}), "y names 'f1', which X has too"),
    ],
)
def test_what_cannot_be_is_said(y, message):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=["f1", "f2", "f3"])
    with pytest.raises(InputError, match=message):
        dubio.FeatureSelector().fit(X, dubio.several_targets(y))


def test_methods_that_take_one_target_say_so():
    X, y = two(40)
    several = dubio.several_targets(y)
    for call in (
        lambda: dubio.FeatureSelector("relieff").fit(X, several),
        lambda: dubio.SupervisedLaplacianScore().fit(X, dubio.several_targets(X[:, :2])),
        lambda: dubio.FisherScore().fit(X, dubio.several_targets({"a": y["ill"], "b": y["ill"]})),
        lambda: dubio.MeanRankScore(target="auto").fit(X, several),
        lambda: dubio.audit_labels(X, several),
        lambda: dubio.audit_labels(X, pd.DataFrame(y)),
        lambda: dubio.label_tolerance(X, several, target="auto"),
        lambda: dubio.LinearSearch(target="auto").partial_fit(X, several),
        lambda: dubio.FeatureSelector().fit(X, several, must_link=[(0, 1)]),
    ):
        with pytest.raises(InputError, match="several targets"):
            call()
    with pytest.raises(InputError, match=r"'neighbor_search'.*one target at a time"):
        dubio.FeatureSelector("relieff").fit(X, several)
    with pytest.raises(InputError, match="several_targets"):
        dubio.FeatureSelector().fit(X, np.arange(80).reshape(40, 2) % 3)


@pytest.mark.parametrize("seed", range(3))
def test_the_joint_matrix_and_its_scores_equal_the_literal_ones(seed):
    rng = np.random.default_rng(seed)
    X, y = two(40, seed)
    y["third"] = np.asarray(["a", "b", "c"])[rng.integers(3, size=40)]
    y["sugar"] = 1e6 + y["sugar"]
    hidden = hide_targets(y, 0.3 * seed / 2, random_state=seed)
    known = read_supervision(hidden, 40, target="auto")
    lists = [[None if v is None or v != v else v for v in values] for values in hidden.targets.values()]
    rows = np.flatnonzero(known.labelled)
    T = naive.several_target_matrix([[values[i] for i in rows] for values in lists])
    np.testing.assert_allclose(known.target_matrix(rows), T, atol=1e-8)
    X[:, 3] = np.round(X[:, 3])  # ties
    X[:, 4] = 2.0
    evidence = Evidence.of(read_problem(X, hidden, target="auto"))
    linear = linear_r2(evidence)[0]
    assert linear[4] == 0
    for j in (0, 1, 2, 3, 5):
        assert linear[j] == pytest.approx(naive.linear_r2_score(X[rows, j], T), abs=1e-9)
    smooth = smooth_r2(evidence)
    assert smooth[4] == -np.inf
    for j in (0, 1, 2, 5):
        assert smooth[j] == pytest.approx(naive.smooth_r2_score(X[rows, j], T), abs=1e-9)


@pytest.mark.parametrize("kind", ["plain", "groups", "weights", "balanced"])
def test_the_joint_loss_equals_the_literal_one(kind):
    rng = np.random.default_rng(1)
    n = 24
    X, number = rng.normal(size=(n, 4)), rng.normal(size=n)
    P = rng.dirichlet([1, 1, 1], size=n)
    hard = np.eye(2)[np.arange(n) % 2]
    targets = [number, P, number**2, hard]
    groups = np.arange(n) // 2 if kind == "groups" else None
    weights = None
    if kind == "weights":
        weights = rng.uniform(0.5, 2, size=n)
        weights /= weights.mean()
    options = {"balanced": kind == "balanced", "weights": weights}
    loss = NeighborLoss(SubsetDistances(X, groups=groups), targets, n_neighbors=5, **options)
    for subset in ([0], [0, 1], [1, 2, 3]):
        expected = naive.neighbor_joint_loss(X[:, subset], targets, 5, groups=groups, **options)
        assert loss.start(np.asarray(subset)) == pytest.approx(expected, rel=1e-10)
        assert loss.unit_values(np.asarray(subset)).sum() == pytest.approx(expected, rel=1e-10)
    loss.start(np.array([0]))
    candidates = np.array([1, 2, 3])
    each = loss.evaluate_each(candidates, ADD)
    np.testing.assert_allclose(each.sum(axis=1), loss.evaluate(candidates, ADD), rtol=1e-12)
    for place, j in enumerate(candidates):
        expected = naive.neighbor_joint_loss(X[:, [0, j]], targets, 5, groups=groups, **options)
        assert each[place].sum() == pytest.approx(expected, rel=1e-10)
    assert loss.value_of_nothing == 1.0


def test_linear_search_fits_all_columns_of_the_target():
    X, y = two(60)
    known = read_supervision(dubio.several_targets(y), 60, target="auto")
    T = known.target_matrix(np.arange(60))
    found = dubio.LinearSearch(n_features_to_select=3, ridge=0.1).fit(X, dubio.several_targets(y))
    order, values = naive.linear_search(X, T, 0.1)
    assert np.argsort(found.ranking_).tolist() == order and set(order[:3]) == {0, 1, 2}
    for size, value in values.items():
        assert found.values_[size] == pytest.approx(value, rel=1e-9)


def test_what_each_feature_serves():
    X, y = two()
    selector = dubio.FeatureSelector().fit(X, dubio.several_targets(y))
    ranking = selector.to_ranking()
    assert selector.method_ == "neighbor_search" and set(selector.get_support(indices=True)) == {0, 1, 2}
    assert ranking.extras["serves"].tolist() == ["sugar, ill", "sugar", "ill", "", "", ""]
    frame = ranking.to_frame()
    assert {"serves", "pvalue of sugar", "pvalue of ill"} <= set(frame.columns)
    assert set(selector.selector_.audits_) == {"ill"}
    assert any(note.startswith("Target 'ill': each label was joined") for note in selector.notes_)


@pytest.mark.parametrize("method", ["linear_r2", "smooth_r2"])
@pytest.mark.parametrize("grouped", [False, True])
def test_scores_of_single_features_say_it_too(method, grouped):
    X, y = two()
    groups = {"groups": np.arange(160) // 2} if grouped else {}
    ranking = dubio.select_features(X, dubio.several_targets(y), method=method, **groups)
    assert ranking.extras["serves"].tolist()[1:3] == ["sugar", "ill"] and "sugar" in ranking.extras["serves"][0]


def test_features_that_matter_only_together_serve_their_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = {"product": (X[:, 1] * X[:, 2] > 0).astype(str), "line": X[:, 0] + 0.3 * rng.normal(size=400)}
    found = relevance_of(read_problem(X, dubio.several_targets(y), target="auto"))
    assert found.serves.tolist() == ["line", "product", "product", "", ""]


def test_of_families_of_targets_the_rule_is_that_of_selected_families():
    p = {"a": np.array([0.001, 0.02, 0.2, 1e-9]), "b": np.array([0.04, 0.9, 0.1, 0.5])}
    relevant = np.array([True, True, True, False])
    # three of four features: BH in each pair at 0.0375. 0.001 passes, 0.04 does not; 0.02 doubled is above
    assert served(p, relevant, 4, 0.05).tolist() == ["a", "a?", "b?", ""]
    assert served(p, relevant, 4, 0.06).tolist() == ["a, b", "a", "b?", ""]


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_found_where_nothing_is(seed):
    rng = np.random.default_rng([seed, 5])
    X, y = two(120, seed)
    order = rng.permutation(120)
    shuffled = {name: values[order] for name, values in y.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        found = relevance_of(read_problem(X, dubio.several_targets(shuffled), target="auto"))
    assert not found.relevant.any() and (found.serves == "").all()


def test_missing_cells_are_used_target_by_target():
    X, y = two(240)
    hidden = hide_targets(y, 0.6, random_state=1)
    selector = dubio.FeatureSelector().fit(X, hidden)
    assert set(selector.get_support(indices=True)) == {0, 1, 2}
    assert selector.selector_.n_completed_ == 2 * 144
    only_given = dubio.NeighborSearch(n_features_to_select=3, complete=False).fit(X, hidden)
    assert set(only_given.get_support(indices=True)) == {0, 1, 2} and only_given.n_completed_ == 0
    order = np.random.default_rng(2).permutation(240)
    back = dubio.FeatureSelector().fit(X[order], hidden[order])
    np.testing.assert_array_equal(selector.ranking_, back.ranking_)
    np.testing.assert_allclose(selector.pvalues_, back.pvalues_)


def test_other_kinds_of_knowledge_may_be_among_them():
    X, y = two(200)
    more = {
        "limits": dubio.interval_targets(y["sugar"], y["sugar"] + 1),
        "some": dubio.positive_unlabelled(np.where(np.arange(200) % 3 > 0, y["ill"], None), positive="yes"),
        "stage": dubio.ordered_classes(np.digitize(X[:, 3], [-1, 0, 1]), range(4)),
    }
    selector = dubio.FeatureSelector().fit(X, dubio.several_targets(more))
    serves = selector.to_ranking().extras["serves"]
    assert "limits" in serves[0] and serves[1] == "limits" and serves[2] == "some" and serves[3] == "stage"
    assert set(selector.selector_.positives_) == {"some"}


def test_alerts_name_the_target():
    X, y = two(80)
    X[:, 4] = 3 * y["sugar"] + 1
    alerts = dubio.FeatureSelector().fit(X, dubio.several_targets(y)).alerts_
    assert [alert.sentence for alert in alerts if alert.kind == "copy"] == [
        "target 'sugar': 'x4' is a copy of the target, or a recoding of it"
    ]


def test_the_command(tmp_path, capsys):
    X, y = two(120)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(**y)
    table.loc[:20, "sugar"] = np.nan
    path, report, small = tmp_path / "t.csv", tmp_path / "page.html", tmp_path / "small.csv"
    table.to_csv(path, index=False)
    words = ["rank", str(path), "-t", "sugar,ill", "--stability", "0"]
    assert run([*words, "--json", "--report", str(report), "--save-table", str(small)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["target"] == ["sugar", "ill"] and {"a", "b", "c"} <= set(said["kept"])
    assert {row["feature"]: row["serves"] for row in said["features"]}["b"] == "sugar"
    page = report.read_text()
    assert "several_targets(targets)" in page and ">serves<" in page.replace('"label":"serves"', ">serves<")
    assert {"sugar", "ill"} <= set(pd.read_csv(small).columns)
    assert run([*words, "--csv"]) == 0
    assert "serves" in capsys.readouterr().out.splitlines()[0].split(",")
    assert run(words) == 0
    shown = capsys.readouterr().out
    assert "serves" in shown and "pvalue of" not in shown
    for more, message in (
        (["--positive", "yes"], "--positive goes with one target, and --target names 2"),
        (["--order", "no,yes"], "--order goes with one target"),
        (["--tolerance"], "give one --target"),
        (["--method", "fisher"], "one target at a time"),
    ):
        assert run([*words, *more]) == 2
        assert message in capsys.readouterr().err
    assert run(["rank", str(path), "-t", "sugar,sugar"]) == 2
    assert "twice" in capsys.readouterr().err
    assert run(["rank", str(path), "-t", "sugar,pain"]) == 2
    assert "pain" in capsys.readouterr().err
    assert run(["audit", str(path), "-t", "sugar,ill"]) == 2
    assert "run it once for each (--target sugar, then --target ill)" in capsys.readouterr().err
    table.rename(columns={"a": "sugar,ill"}).to_csv(path, index=False)
    assert run(["rank", str(path), "-t", "sugar,ill", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == "sugar,ill"


def test_hiding_is_seeded():
    _, y = two(50)
    one, other = hide_targets(y, 0.4, random_state=3), hide_targets(y, 0.4, random_state=3)
    for name in y:
        assert [v is None or v != v for v in one.targets[name]] == [v is None or v != v for v in other.targets[name]]
    assert sum(v is None for v in one.targets["ill"]) == 20
