"""Every kind of target with groups, weights, features of several columns, sparse tables, tables of any type, the
evaluation, the tolerance, the report and the command: each works, or says plainly that it does not."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import dubio
from dubio.errors import InputError, NoFeatureStandsOut
from dubio.pipelines import evaluate_selection
from dubio.simulate import blur_numbers, censor_numbers, label_some_positives
from dubio_app.command.run import run
from dubio_app.report import write_report

N = 120
KINDS = ["ordered", "positives", "intervals", "censored", "several"]


def table(kind):
    """Features 0 and 1 make a number; what is known of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    number = X[:, 0] + X[:, 1] + 0.4 * rng.normal(size=N)
    known = {
        "ordered": lambda: dubio.ordered_classes(np.digitize(number, [-1, 0, 1]), range(4)),
        "positives": lambda: label_some_positives(number > 0.3, True, 0.7),
        "intervals": lambda: blur_numbers(number, 0.5),
        "censored": lambda: censor_numbers(number, 0.4),
        "several": lambda: dubio.several_targets({"number": number, "class": np.where(X[:, 0] > 0, "u", "v")}),
    }
    return X, known[kind]()


@pytest.mark.parametrize("kind", KINDS)
def test_groups(kind):
    X, y = table(kind)
    doubled = np.repeat(np.arange(N), 2)  # each row twice: no new evidence
    once = dubio.FeatureSelector("linear_r2").fit(X, y)
    twice = dubio.FeatureSelector("linear_r2").fit(X[doubled], y[doubled], groups=doubled)
    assert twice.n_groups_ == N
    np.testing.assert_allclose(twice.pvalues_, once.pvalues_, rtol=1e-6)
    engine = dubio.FeatureSelector().fit(X, y, groups=np.arange(N) // 2)
    assert 1 in engine.get_support(indices=True) and not engine.support_[2:].any()


@pytest.mark.parametrize("kind", KINDS)
def test_weights(kind):
    X, y = table(kind)
    weights = np.where(np.arange(N) < 90, 3.0, 0.0)
    for selector in (dubio.FeatureSelector("linear_r2"), dubio.NeighborSearch(n_features_to_select=2)):
        some = clone(selector).fit(X, y, sample_weight=weights)
        rest = selector.fit(X[:90], y[:90])
        np.testing.assert_array_equal(some.ranking_, rest.ranking_)
    uneven = dubio.FeatureSelector("linear_r2").fit(X, y, sample_weight=np.linspace(0.5, 2, N))
    assert {0, 1} <= set(uneven.get_support(indices=True))


@pytest.mark.parametrize("kind", KINDS)
def test_features_of_several_columns_and_tables_of_any_type(kind):
    X, y = table(kind)
    frame = pd.DataFrame(X[:, 1:], columns=["f1", "f2", "f3"])
    frame["f2"] = [f"{value:.2f} kg" for value in X[:, 2]]
    frame["level"] = np.asarray(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.7, 0.7])]
    frame.loc[3, "f3"] = np.nan
    found = dubio.FeatureSelector().fit(frame, y)
    assert {"f1", "level"} <= set(found.get_feature_names_out()) and "f2" not in found.get_feature_names_out()
    wide = dubio.FeatureSelector("smooth_r2", feature_groups={"both": [0, 1]}).fit(X, y)
    assert set(wide.get_support(indices=True)) == {0, 1}


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_tables(kind):
    X, y = table(kind)
    for options in ({"method": "linear_r2"}, {"n_features_to_select": 2}):
        one = dubio.FeatureSelector(**options).fit(sparse.csr_matrix(X), y)
        np.testing.assert_array_equal(one.ranking_, dubio.FeatureSelector(**options).fit(X, y).ranking_)


@pytest.mark.parametrize("kind", KINDS)
def test_evaluation_and_tolerance(kind):
    X, y = table(kind)
    selector, few = dubio.LinearR2Score(n_features_to_select=2), {"n_repeats": 1, "n_splits": 3}
    if kind == "ordered":
        assert evaluate_selection(selector, GaussianNB(), X, y, **few).measure == "accuracy"
        with pytest.raises(InputError, match="model is a regressor"):
            evaluate_selection(selector, LinearRegression(), X, y, **few)
        assert dubio.label_tolerance(X, y, target="auto").kept[:2].all()
        return
    with pytest.raises(InputError, match=r"y cannot be evaluated: .*give classes, probabilities or numbers"):
        evaluate_selection(selector, GaussianNB(), X, y, **few)
    with pytest.raises(InputError, match=r"y cannot be used: .*give classes, probabilities or numbers"):
        dubio.label_tolerance(X, y, target="auto")


@pytest.mark.parametrize("kind", KINDS)
def test_stability_and_report(kind, tmp_path):
    X, y = table(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        selector = dubio.FeatureSelector("linear_r2").fit(X, y)
        sure = dubio.stability(selector, X, y, n_draws=4)
    assert len(sure.rankings) == 4
    write_report(tmp_path / "page.html", selector, X, y, stability=sure, target_name="the <target>")
    page = (tmp_path / "page.html").read_text()
    assert "the &lt;target&gt;" in page and "the <target>" not in page


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_with_groups_and_weights(kind, tmp_path, capsys):
    X, y = table(kind)
    frame = pd.DataFrame(X, columns=["f0", "f1", "f2", "f3"])
    frame["patient"], frame["weight"] = np.arange(N) // 2, np.random.default_rng(1).uniform(0.5, 2, size=N)
    if kind == "ordered":
        frame["y"], words = y.values.astype(int), ["-t", "y", "--target-kind", "ordered"]
    elif kind == "positives":
        frame["y"], words = np.where(y.is_positive, "yes", None), ["-t", "y", "--positive", "yes"]
    elif kind == "intervals":
        frame["from"], frame["to"], words = y.low, y.high, ["--low", "from", "--high", "to"]
    elif kind == "censored":
        frame["time"], frame["died"], words = y.low, np.isfinite(y.high), ["--time", "time", "--event", "died"]
    else:
        frame, words = frame.assign(**y.targets), ["-t", "number,class"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    given = ["rank", str(tmp_path / "t.csv"), *words, "--groups", "patient", "--weights", "weight", "--json"]
    given += ["--method", "linear_r2"]
    assert run(given) == 0
    said = json.loads(capsys.readouterr().out)
    assert {row["feature"] for row in said["features"]} == {"f0", "f1", "f2", "f3"}
    assert "f1" in said["kept"] and "60 groups" in said["explanation"] and "weights" in said["explanation"]
