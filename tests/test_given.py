"""Columns that are given: the others are judged by what they add to these."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.stats import kstest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import dubio
from dubio import FeatureSelector, InputError, label_tolerance, select_features, stability
from dubio.evidence.effects import effects_of, effects_within
from dubio.evidence.evidence import Evidence, varying_parts
from dubio.evidence.relations import linear_pvalues, linear_r2
from dubio.evidence.relevance import relevance_of
from dubio.evidence.residuals import Regression, basis_of, explained_by_given, without_given
from dubio.pipelines import evaluate_problem, evaluate_selection
from dubio.problem import read_problem
from dubio_app.command.options import Call
from dubio_app.command.run import run
from dubio_app.command.wording import COMMAND
from dubio_app.page.wording import alert_record
from tests.naive import left_out_residuals


def confounded(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Age in a curve moves the classes and five columns; one column is related to the classes, two to nothing."""
    rng = np.random.default_rng(seed)
    age, site = rng.normal(60, 12, n), rng.integers(3, size=n)
    bent = (age - 60) ** 2 / 144
    ill = rng.random(n) < 1 / (1 + np.exp(1.5 - 1.5 * bent))
    X = pd.DataFrame({"marker": rng.normal(size=n) + 1.2 * ill, "n0": rng.normal(size=n), "n1": rng.normal(size=n)})
    for j in range(5):
        X[f"c{j}"] = (0.6 + 0.1 * j) * bent + rng.normal(size=n)
    return X.assign(age=age, site=np.array(list("abc"))[site]), np.where(ill, "ill", "well")


@pytest.fixture(scope="module")
def table():
    return confounded()


@pytest.fixture(scope="module")
def fitted(table):
    X, y = table
    return FeatureSelector().fit(X, y, given=["site", "age"])


def test_only_what_adds_to_the_given_columns_is_kept(table, fitted):
    X, y = table
    without = select_features(X.drop(columns=["age", "site"]), y)
    assert {"c2", "c3", "c4"} <= set(without.names[without.support])
    assert list(fitted.get_feature_names_out()) == ["marker", "age", "site"]
    assert (fitted.n_given_, fitted.n_relevant_, fitted.n_sufficient_) == (2, 1, 1)


def test_given_columns_come_first_are_kept_and_are_not_tested(table, fitted):
    ranking = fitted.to_ranking()
    assert list(ranking.names[ranking.order[:3]]) == ["site", "age", "marker"]
    given = np.isin(ranking.names, ["age", "site"])
    assert (np.isnan(fitted.pvalues_) == given).all() and (np.isnan(fitted.qvalues_) == given).all()
    assert [ranking.line_of(j) for j in ranking.order[:4]] == ["given", "given", "sufficient", ""]
    assert ranking.headline() == "Beyond 'site' and 'age', 1 of 8 columns is related to the target: marker."
    assert "Given are 'site' and 'age'" in fitted.explanation_ and "Kept 1 of 8" in fitted.explanation_
    assert 0.1 < fitted.given_share_ < 0.6


def test_what_adjusting_changed(table, fitted):
    """Per column: p-values with and without the given columns, and whether it is related both ways."""
    X, y = table
    columns = fitted.to_ranking().to_frame().set_index("feature")
    alone = relevance_of(read_problem(X.drop(columns=["age", "site"]), y))
    np.testing.assert_allclose(columns.loc[list(X)[:8], "pvalue_without"], alone.pvalues)
    assert columns.loc[["age", "site"], "pvalue_without"].isna().all()
    words = columns["adjusting"]
    assert words["marker"] == "with and without" and (words[[f"c{j}" for j in range(5)]] == "only without").all()
    assert (words[["age", "site", "n0", "n1"]] == "").all()
    assert "5 columns are related to the target only while nothing is given: 'c0', " in fitted.explanation_


def test_a_column_that_is_hidden_by_what_is_given():
    """Its own relation to the target and that through the age are opposite: it shows only once the age is given."""
    rng = np.random.default_rng(0)
    age = rng.normal(size=200)
    X = pd.DataFrame({"hidden": rng.normal(size=200), "noise": rng.normal(size=200)})
    y = age + X["hidden"] + 0.3 * rng.normal(size=200)
    X["hidden"] -= age
    selector = FeatureSelector("linear_search", n_features_to_select="relevant")
    ranking = selector.fit(X, y, given=age[:, None]).to_ranking()
    assert ranking.extras["adjusting"].tolist() == ["only with", ""]
    assert "1 column is related to the target only once 'given_1' is given: 'hidden'" in selector.explanation_


def test_effects_within_each_level():
    rng = np.random.default_rng(1)
    site, y = rng.integers(3, size=400), rng.integers(2, size=400)
    X = pd.DataFrame({"same": 1.0 * y, "differs": np.where(site == 0, 1.5, 0.0) * y}) + rng.normal(size=(400, 2))
    given = pd.Series(np.array(["north", "south", "east"])[site], name="site")
    selector = FeatureSelector("linear_search", n_features_to_select="relevant").fit(X, y, given=given)
    (within,) = selector.effects_within_
    assert (within.given, within.levels) == ("site", ("east", "north", "south"))
    assert sorted(within.features) == ["differs", "same"]
    assert dict(zip(within.features, within.differs.tolist(), strict=True)) == {"same": False, "differs": True}
    assert "The effect of 'differs' differs between the levels of 'site'" in selector.explanation_
    np.testing.assert_array_equal(within.n_rows, np.bincount(site)[[2, 0, 1]])
    problem = without_given(read_problem(X, y, given=given.to_frame(), any_type=True))
    column, rows = list(X).index(within.features[0]), site == 2
    case, control = (problem.X[rows & (y == k), column] for k in (1, 0))
    share = (case[:, None] > control).mean() + 0.5 * (case[:, None] == control).mean()
    assert within.effect[0, 0] == pytest.approx(share)
    assert (within.low < within.effect).all() and (within.effect < within.high).all()
    assert [one["levels"][1]["rows"] for one in within.record()] == [int((site == 0).sum())] * 2


def test_effects_that_are_the_same_in_all_levels_seldom_differ():
    pvalues = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        site, y = rng.integers(3, size=240), rng.normal(size=240)
        X = y[:, None] * 0.5 + (site == 1)[:, None] + rng.normal(size=(240, 6))
        problem = read_problem(X, y + (site == 0), given=site[:, None], target="numbers")
        (within,) = effects_within(problem, effects_of(problem), np.arange(6))
        pvalues.append(within.pvalue)
    assert (np.concatenate(pvalues) < 0.05).mean() < 0.1


def test_an_alert_names_what_to_give(table):
    X, y = table
    (alert,) = (one for one in FeatureSelector().fit(X, y).alerts_ if one.kind == "confounder")
    assert alert.features == ("age",) and set(alert.facts["gone"]) == {f"c{j}" for j in range(5)}
    assert "5 of 6 related columns are no longer related once 'age' is given" in str(alert)
    assert "say given='age'" in alert.remedy and "only you can" in alert.remedy
    assert "add --given age if" in alert.advice(COMMAND)
    assert alert_record(alert, Call())["clicks"] == [{"label": "It is known already", "adds": {"given": ["age"]}}]
    cells = X.drop(columns="site").to_numpy(dtype=float)
    assert not [one for one in FeatureSelector().fit(cells, y).alerts_ if one.kind == "confounder"]  # no name, no clue
    given = FeatureSelector().fit(X, y, given="age")
    assert not [one for one in given.alerts_ if one.kind == "confounder"]


def test_one_column_that_clearly_follows_a_named_one_is_enough():
    rng = np.random.default_rng(0)
    age = rng.normal(60, 12, 300)
    ill = rng.random(300) < 1 / (1 + np.exp((60 - age) / 6))
    X = pd.DataFrame(rng.normal(size=(300, 6)) + [1, 0.9, 0.8, 0, 0, 0] * ill[:, None], columns=list("abcdef"))
    X["d"] += (age - 60) / 9
    selector = FeatureSelector("linear_search", n_features_to_select="relevant")
    (alert,) = selector.fit(X.assign(age=age), ill).alerts_
    assert alert.kind == "confounder" and alert.features == ("age",) and alert.facts["gone"] == ["d"]
    assert "1 of 4 related columns is no longer related once 'age' is given: 'd'" in str(alert)
    assert selector.fit(X.assign(protein=age), ill).alerts_ == ()  # another measurement is only redundant


def test_the_order_of_the_rows_may_confound():
    rng = np.random.default_rng(0)
    drift = np.linspace(-2, 2, 300)
    y = rng.random(300) < 1 / (1 + np.exp(-drift))
    X = drift[:, None] * np.linspace(0.4, 1, 6) + rng.normal(size=(300, 6))
    selector = FeatureSelector("linear_search", n_features_to_select="relevant")
    (alert,) = selector.fit(X, y).alerts_
    assert alert.kind == "confounder" and alert.features == () and len(alert.facts["gone"]) == 6
    assert "once the order of the rows is given" in alert.sentence and "a batch or a date" in alert.remedy
    by_class = np.argsort(y, kind="stable")
    noisy = np.where(rng.random(300) < 0.2, ~y[by_class], y[by_class])
    table = rng.normal(size=(300, 6)) + y[by_class][:, None]
    assert selector.fit(table, noisy).alerts_ == ()  # the table is sorted by class
    mixed = rng.permutation(300)
    assert selector.fit(X[mixed], y[mixed]).alerts_ == ()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["nothing", "only the target", "only the columns", "a mark of the class"])
def test_no_alert_where_nothing_confounds(kind):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        site, n = rng.integers(3, size=240), 240
        logit = 1.5 * (site - 1) if kind == "only the target" else np.zeros(n)
        y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
        X = pd.DataFrame(rng.normal(size=(n, 10)) + np.linspace(0, 1, 10) * y[:, None])
        if kind == "only the columns":
            X = X + np.linspace(1, 0, 10) * site[:, None]
        if kind == "a mark of the class":
            site = np.where(rng.random(n) < 0.6, y, site)
        X = X.rename(columns=str).assign(site=np.array(list("abc"))[site])
        selector = FeatureSelector("linear_search", n_features_to_select="relevant").fit(X, y)
        assert not [one for one in selector.alerts_ if one.kind == "confounder"], seed


def test_a_draw_is_not_explained(table):
    """Resamples ask only what is kept: nothing else is computed for them."""
    X, y = table
    problem = FeatureSelector().read_problem(X, y, given="age")
    drawn = FeatureSelector().fit_problem(replace(problem, is_resample=True))
    assert "adjusting" not in drawn.to_ranking().extras and drawn.effects_within_ == ()


@pytest.mark.parametrize("kind", ["nearly the target", "separates", "two together", "levels of one class"])
def test_what_explains_everything_is_named(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    number = X["a"] + rng.normal(size=200)
    y, given = number, pd.DataFrame({"twin": number + 0.1 * rng.normal(size=200)})
    if kind == "two together":
        given = pd.DataFrame({"twin": X["b"] + rng.normal(size=200)}).assign(other=lambda t: number - t["twin"])
    if kind in ("separates", "levels of one class"):
        y = (number > 0).astype(int)
        given = pd.DataFrame({"twin": 10 * y + rng.normal(size=200)})
    selector = FeatureSelector("linear_search", n_features_to_select="relevant")
    if kind == "levels of one class":
        given = pd.DataFrame({"twin": [f"{'xz'[k]}{rng.integers(4)}" for k in y]})
        with pytest.raises(InputError, match="given explains all of the target: 'twin'"):
            selector.fit(X, y, given=given)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dubio.InputWarning)
        selector.fit(X, y, given=given)
    (alert,) = (one for one in selector.alerts_ if one.kind == "explained")
    assert alert.features == tuple(given) and "of the variation of the target" in alert.sentence


def test_columns_beside_the_table_give_the_same_answer(table, fitted):
    X, y = table
    own = X.drop(columns=["age", "site"])
    beside = FeatureSelector().fit(own, y, given=X[["site", "age"]])
    assert beside.n_given_ == 0 and beside.n_features_in_ == 8 and len(beside.ranking_) == 8
    assert list(beside.get_feature_names_out()) == ["marker"]
    assert beside.transform(own).shape == (240, 1)
    assert beside.to_ranking().given == ("site", "age")
    problems = read_problem(own, y, given=X[["site", "age"]]), read_problem(X, y, given=["site", "age"], any_type=True)
    one, other = (linear_pvalues(Evidence.of(problem))[:8] for problem in problems)
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_arrays_and_series_are_further_columns_too(table):
    X, y = table
    cells, given = X.iloc[:, :8].to_numpy(), X[["age"]].to_numpy()
    by_array = FeatureSelector("linear_search", n_features_to_select="relevant").fit(cells, y, given=given)
    by_series = FeatureSelector("linear_search", n_features_to_select="relevant").fit(X.iloc[:, :8], y, given=X["age"])
    by_index, by_name = (read_problem(X, y, given=one, any_type=True) for one in (X.columns[-2:], ["age", "site"]))
    assert by_index.given_names == by_name.given_names
    by_place = FeatureSelector("linear_search", n_features_to_select="relevant").fit(
        np.column_stack([cells, given]), y, given=[8]
    )
    assert by_array.to_ranking().given == ("given_1",) and by_series.to_ranking().given == ("age",)
    np.testing.assert_array_equal(by_array.pvalues_, by_series.pvalues_)
    np.testing.assert_array_equal(by_array.support_, by_place.support_[:8])
    assert not hasattr(by_array, "feature_names_in_") and by_array.transform(cells).shape[1] == 1


@pytest.mark.parametrize("n_groups", [None, 10])
@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_are_those_of_fits_without_the_row_or_its_group(n_groups, weighted):
    rng = np.random.default_rng(1)
    n = 30
    basis, table = rng.normal(size=(n, 4)), rng.normal(size=(n, 3)) + 1e3
    weights = rng.uniform(0.5, 2.0, n) if weighted else None
    weights = None if weights is None else weights / weights.mean()
    groups = None if n_groups is None else rng.integers(n_groups, size=n)
    regression = Regression(basis, weights, groups)
    found = regression.residuals(table)
    np.testing.assert_allclose(found, left_out_residuals(basis, table, weights, groups), rtol=1e-6, atol=1e-8)
    assert (regression.residuals(np.full((n, 1), 7.0)) == 0).all()
    inside = regression.residuals(basis[:, :1] * 5 + 3)
    assert np.abs(inside).max() < 0.05


@pytest.mark.parametrize("share_of_rows", [1.0, 0.5])
def test_residuals_share_more_by_chance_than_shuffled_rows(share_of_rows):
    """The closed form is that of the matrix that takes columns to residuals, one row of it per row with scores."""
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(6), 7)
    basis = np.eye(6)[codes] * np.linspace(0.5, 1.5, 6)
    n, m = len(basis), int(share_of_rows * len(basis))
    table = basis @ rng.normal(size=(6, 3)) * [3.0, 1.0, 0.0] + rng.normal(size=(n, 3))
    rows = rng.permutation(n)[:m]
    scores = Regression(basis, None, None).residuals(rng.normal(size=(n, 2)))[rows]
    scores -= scores.mean(axis=0)
    regression = Regression(basis, None, None)
    found = regression.shared(table, rows, scores, m - 1)
    for j in range(3):
        # residuals are linear in a column but for the choice of the penalty
        moves = np.column_stack([regression.residuals(table[:, [j]] + 1e-7 * one[:, None])[:, 0] for one in np.eye(n)])
        matrix = ((moves - regression.residuals(table[:, [j]])) / 1e-7)[rows]
        products, squares = ((matrix.T @ scores) ** 2).sum() / (scores**2).sum(), (matrix**2).sum()
        if m < n:  # the rows are centred once more
            squares -= (matrix.sum(axis=0) ** 2).sum() / m
        assert found[j] == pytest.approx(max(1.0, products / (squares / (m - 1))), rel=1e-4 if m == n else 0.02)
    assert m < n or found[0] > found[2] >= 1.0


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(40), 3)])
def test_chance_is_counted_where_a_regression_has_used_up_many_rows(groups):
    """Twelve batches and 120 rows: columns of noise that follow the batch share with the target what chance gives."""
    rng = np.random.default_rng(4)
    n = 120
    batch = rng.integers(12, size=n if groups is None else 40)
    batch = batch if groups is None else batch[groups]
    moved = rng.normal(size=12)[batch]
    X = moved[:, None] * 2.0 + rng.normal(size=(n, 1500))
    y = moved + rng.normal(size=n)
    given = np.array(list("abcdefghijkl"))[batch][:, None]
    problem = read_problem(X, y, given=given, groups=groups, any_type=True, target="numbers")
    for part, _, _ in varying_parts(problem):
        evidence = Evidence.of(part)
        free = evidence.n_rows - (1 if evidence.exchange is None else len(np.unique(evidence.exchange)))
        plain, tested = (free * linear_r2(evidence, tested=one)[0][:1500].mean() for one in (False, True))
        assert 0.85 < tested < 1.1
        assert plain > 1.02 * tested or evidence.exchange is not None  # within groups, a batch is the same


def test_one_penalty_for_the_scores_of_one_target():
    """The scores of classes sum to zero, and those without what is given do too: no further dimension to test."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "b", "age"])
    evidence = Evidence.of(read_problem(X, rng.integers(3, size=90), given="age"))
    assert np.linalg.matrix_rank(evidence.scores, tol=1e-6) == 2
    assert (evidence.columns[:, 2] == 0).all() and (evidence.scores**2).mean() == pytest.approx(1)


def test_the_basis_has_curves_levels_and_products(table):
    X, y = table
    both, age, site = (
        basis_of(read_problem(X, y, given=one, any_type=True)) for one in (["age", "site"], "age", "site")
    )
    assert site.shape[1] == 3 and age.shape[1] >= 7
    assert both.shape[1] > age.shape[1] + site.shape[1]
    for basis in (both, age, site):
        np.testing.assert_allclose(basis.mean(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("rows", ["plain", "groups", "weights"])
def test_pvalues_are_uniform_for_columns_that_only_follow_what_is_given(rows):
    """Also with a curve, with groups whose rows are alike, and with weights."""
    pvalues = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 160
        groups = np.repeat(np.arange(n // 4), 4) if rows == "groups" else None
        age = rng.normal(size=n) if groups is None else np.repeat(rng.normal(size=n // 4), 4) + rng.normal(size=n)
        y = (rng.random(n) < 1 / (1 + np.exp(-2 * np.sin(age)))).astype(int)
        X = np.sin(age)[:, None] + rng.normal(size=(n, 8))
        weights = rng.uniform(0.5, 2, n) if rows == "weights" else None
        problem = read_problem(X, y, given=age[:, None], groups=groups, sample_weight=weights)
        for part, _, _ in varying_parts(problem):
            pvalues.append(linear_pvalues(Evidence.of(part))[:8])
    values = np.concatenate(pvalues)
    assert kstest(values, "uniform").pvalue > 0.001
    assert (values < 0.01).mean() < 0.06


@pytest.mark.parametrize("target", ["numbers", "memberships", "ordered", "intervals", "several", "positives", "few"])
def test_every_kind_of_target(target):
    X, y = confounded(240, seed=3)
    rng = np.random.default_rng(0)
    ill = (y == "ill").astype(float)
    number = 2 * ill + X["c0"].to_numpy() * 0 + rng.normal(0, 0.3, 240)
    targets = {
        "numbers": number,
        "memberships": np.column_stack([0.1 + 0.8 * ill, 0.9 - 0.8 * ill]),
        "ordered": dubio.ordered_classes(np.where(ill > 0, rng.choice(["b", "c"], 240), "a"), order=["a", "b", "c"]),
        "intervals": dubio.interval_targets(number, np.where(rng.random(240) < 0.2, np.inf, number)),
        "several": dubio.several_targets({"one": y, "two": number}),
        "positives": dubio.positive_unlabelled(np.where(ill * rng.random(240) > 0.3, 1, 0), positive=1),
        "few": np.where(rng.random(240) < 0.5, y, None),
    }
    fitted = FeatureSelector(max_rows=None).fit(X, targets[target], given=["age", "site"])
    assert "marker" in fitted.get_feature_names_out()
    assert fitted.ranking_[list(X).index("age")] == 1 and fitted.n_given_ == 2


def test_missing_cells_of_given_columns_are_filled_as_elsewhere(table):
    X, y = table
    X = X.copy()
    X.loc[::7, "age"] = np.nan
    X.loc[::11, "site"] = None
    fitted = FeatureSelector().fit(X, y, given=["age", "site"])
    assert "marker" in fitted.get_feature_names_out() and np.isfinite(fitted.scores_).all()


def test_a_column_that_follows_from_what_is_given_is_nothing(table):
    X, y = table
    X = X.assign(days=365.25 * X["age"], same=X["site"])
    fitted = FeatureSelector().fit(X, y, given=["age", "site"])
    assert (fitted.pvalues_[[list(X).index(name) for name in ("days", "same")]] > 0.5).all()


def test_nothing_adds_to_what_is_given(table):
    X, y = table
    with pytest.warns(dubio.InputWarning):
        fitted = FeatureSelector().fit(X[["n0", "c0", "age"]], y, given="age")
    ranking = fitted.to_ranking()
    assert ranking.headline() == "No feature stands out: nothing in the table clearly adds to 'age'."
    assert list(ranking.without_handed_on().support) == [False, False, True]


def test_counts_are_of_the_other_columns(table):
    X, y = table
    for method in ("auto", "linear_search"):
        fitted = FeatureSelector(method, n_features_to_select=2).fit(X, y, given="age")
        assert fitted.n_features_ == 3 and fitted.support_[list(X).index("age")]
    with pytest.raises(InputError, match="the table has 9 features"):
        FeatureSelector(n_features_to_select=10).fit(X, y, given="age")


def test_the_answer_does_not_depend_on_the_order_of_the_rows(table):
    X, y = table
    order = np.random.default_rng(5).permutation(len(y))
    one, other = (
        relevance_of(read_problem(X.iloc[o], y[o], given=["age", "site"], any_type=True))
        for o in (np.arange(len(y)), order)
    )
    np.testing.assert_allclose(one.pvalues, other.pvalues, rtol=1e-6)


def test_effects_do_not_depend_on_the_order_of_the_rows():
    """Also where rows belong together and many residuals are equal: rounding may not decide which is larger."""
    rng = np.random.default_rng(0)
    groups, n = np.repeat(np.arange(60), 4), 240
    age, y, weights = np.round(rng.normal(60, 12, 60))[groups], rng.integers(2, size=n), rng.uniform(0.5, 2, n)
    X = pd.DataFrame(np.round(rng.normal(size=(n, 4)) + 0.5 * y[:, None], 1) + (age / 20)[:, None]).assign(age=age)
    X.columns = [*list("abcd"), "age"]
    one, other = (
        FeatureSelector("linear_search", n_features_to_select="relevant")
        .fit(X.iloc[order], y[order], given="age", groups=groups[order], sample_weight=weights[order])
        .to_ranking()
        .to_frame()
        .set_index("feature")
        .sort_index()
        for order in (np.arange(n), rng.permutation(n))
    )
    for name in ("pvalue", "effect", "effect_low", "pvalue_without"):
        np.testing.assert_allclose(one[name].astype(float), other[name].astype(float), rtol=1e-9, err_msg=name)


def test_the_table_is_not_changed_and_residuals_are_computed_once(table):
    X, y = table
    problem = read_problem(X, y, given="age", any_type=True)
    before = problem.X.copy()
    assert without_given(problem) is without_given(problem)
    np.testing.assert_array_equal(problem.X, before)
    assert without_given(read_problem(X, y, any_type=True)).given is None
    assert 0 < explained_by_given(problem) < 1


def test_a_forecast_is_about_the_columns_that_are_not_given():
    rng = np.random.default_rng(0)
    y, given = rng.integers(0, 2, 200), rng.normal(size=(200, 3))
    X = rng.normal(size=(200, 5))
    X[:, 0] += 1.5 * y
    alone = stability(FeatureSelector(), X, y, n_draws=10)
    beside = stability(FeatureSelector(), np.hstack([X, given]), y, given=[5, 6, 7], n_draws=10)
    assert alone.forecast.frequency[0] > 0.9
    np.testing.assert_allclose(beside.forecast.frequency[:5], alone.forecast.frequency, atol=0.15)


def test_stability_and_tolerance(table):
    X, y = table
    X, given = X[["marker", "n0", "c4"]], X[["age"]]
    selector = FeatureSelector("linear_search", n_features_to_select="relevant")
    sure = stability(selector, X, y, given=given, n_draws=4, random_state=0)
    assert sure.names.tolist() == ["marker", "n0", "c4"] and sure.frequency[0] == 1 and sure.frequency[2] < 1
    found = label_tolerance(X, y, given=given)
    assert found.kept.tolist() == [True, False, False] and found.random[0] > 0 and np.isnan(found.worst).all()
    assert found.no_worst == "with given columns"
    fitted = selector.fit(X, y, given=given)
    with pytest.raises(InputError, match="given is missing"):
        fitted.tolerance(X, y)
    assert fitted.tolerance(X, y, given=given).kept.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("agee", "given names 'agee', which is not a column of the table: did you mean 'age'"),
        (12, "given names column 12, but the table has columns 0 to 9"),
        (["age", "age"], "names a column twice"),
        ([], "names no column"),
        ([True], "holds True"),
        (1.5, "is a float"),
        (np.arange(240.0), "240 entries, as many as the table has rows"),
        (list(range(240)), "so they may be names of columns, or values"),
        ({"age": 1}, "is a dict"),
        (pd.DataFrame({"age": np.arange(240)}), "has a column 'age', which is also a column of the table"),
        (pd.DataFrame({"a": np.ones(240)}), "'a', which has only one value"),
        (np.ones((20, 1)), "has 20 rows, but the table has 240"),
        (pd.DataFrame({"nr": [f"p{i}" for i in range(240)]}), "'nr', which cannot be used"),
        (pd.DataFrame({"nr": ["a"] * 237 + ["b", "c", "d"]}), "have a single row"),
        (list(confounded()[0]), "names all columns"),
    ],
)
def test_what_cannot_be_given_is_refused(table, given, message):
    X, y = table
    with pytest.raises(InputError) as error:
        FeatureSelector().fit(X, y, given=given)
    assert message in str(error.value).replace('"', "'"), error.value


def test_given_needs_a_target_and_a_search(table):
    X, y = table
    with pytest.raises(InputError, match="given needs a target"):
        FeatureSelector().fit(X, given="age")
    with pytest.raises(InputError, match="given cannot be used with pairs"):
        FeatureSelector().fit(X, must_link=[[0, 1]], given="age")
    with pytest.raises(InputError, match="given cannot be used by 'fisher'"):
        FeatureSelector("fisher").fit(X, y, given="age")
    with pytest.raises(InputError, match="cannot be combined with given columns"):
        FeatureSelector(redundancy=0.5).fit(X, y, given="age")
    with pytest.raises(InputError, match="copy of the target"):
        FeatureSelector().fit(X.assign(code=np.where(y == "ill", "x", "z")), y, given=["age", "code"])
    with pytest.raises(InputError, match="one of several columns of a feature"):
        FeatureSelector(feature_groups={"both": ["n0", "n1"]}).fit(X, y, given="n0")


def words_of_rank(path: Path) -> list[str]:
    return ["rank", str(path), "-t", "dx", "-m", "linear_search", "--keep", "relevant", "--stability", "0"]


def test_the_command(table, tmp_path, capsys):
    X, y = table
    path = tmp_path / "table.csv"
    X[["marker", "n0", "c4", "age"]].assign(site=X["site"], dx=y).to_csv(path, index=False)
    page = tmp_path / "page.html"
    words = ["rank", str(path), "-t", "dx", "--given", "age,site", "--report", str(page), "--stability", "0"]
    assert run(words) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Beyond 'age' and 'site', 1 of 3 columns is related to 'dx': marker." in printed and "1 age given" in printed
    shown = page.read_text(encoding="utf-8")
    for words in (
        "Beyond &#39;age&#39; and &#39;site&#39;, 1 of 3",
        "What do the other columns of table.csv add to &#39;age&#39; and &#39;site&#39; about",
        "p-values with and without the given columns",
        "Effects within each level of &#39;site&#39;",
    ):
        assert words in shown, words
    above, below = printed.split("rank feature line")
    assert "alone explain" in above and "1 column is related to the target only while nothing is given: 'c4'" in above
    assert "alone explain" not in below and "only without" in below
    assert run([*words_of_rank(path), "--given", "site", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["given"] == ["site"] and 0 <= answer["given_share"] < 0.2
    assert [len(one["levels"]) for one in answer["effects_within"]] == [3] * answer["n_relevant"]
    assert run(words_of_rank(path)) == 0
    assert "once 'age' is given" not in capsys.readouterr().out  # two columns are too few
    for given, message in (("dx", "--given names 'dx', which --target uses"), ("agee", "did you mean 'age'?")):
        assert run(["rank", str(path), "-t", "dx", "--given", given]) == 2
        assert message in capsys.readouterr().err


def test_what_the_selection_adds_to_the_given_columns(table):
    X, y = table
    cells = X[["marker", "n0", "c4"]].assign(age=X["age"])
    selector = FeatureSelector("linear_search", n_features_to_select="relevant")
    found = evaluate_selection(selector, LogisticRegression(), cells, y, given="age", n_repeats=1)
    alone = evaluate_problem(selector, LogisticRegression(), selector.read_problem(cells, y, given="age"), n_repeats=1)
    for one in (found, alone):
        assert one.given_alone is not None and one.added is not None
        np.testing.assert_allclose(one.added.mean, (one.selected - one.given_alone).mean())
        assert one.added.low > 0 and one.n_selected.max() <= 3 and one.sizes[0] == 1
        assert "the selected features add to the given columns" in one.verdict().casefold()
        assert "with the given columns alone" in one.headline() and one.record()["added"]["mean"] == one.added.mean
    np.testing.assert_array_equal(found.by_size[:, 0], found.given_alone)
    none = evaluate_selection(selector, LogisticRegression(), cells.drop(columns="marker"), y, given="age", n_repeats=1)
    assert "do not clearly add to the given columns" in none.verdict()
    for beside in (X["age"], X[["age"]].to_numpy()):  # further columns: the model gets them too
        own = cells.drop(columns="age") if hasattr(beside, "iloc") else cells.drop(columns="age").to_numpy()
        further = evaluate_selection(selector, LogisticRegression(), own, y, given=beside, n_repeats=1)
        np.testing.assert_allclose(further.given_alone, found.given_alone)
        np.testing.assert_allclose(further.selected, found.selected)
    for given, message in (("agee", "did you mean"), (X[["n0"]], "which is also a column of the table")):
        with pytest.raises(InputError, match=message):
            evaluate_selection(selector, LogisticRegression(), cells, y, given=given)
    with pytest.raises(InputError, match="cannot be used by SelectKBest"):
        evaluate_selection(SelectKBest(k=1), LogisticRegression(), cells, y, given="age")


def test_the_audit_sees_given_columns(table):
    X, y = table
    own = X[["n0", "n1"]]
    without, with_marker = (dubio.audit_labels(own, y, given=given) for given in (None, X[["marker"]]))
    assert np.abs(with_marker.probabilities - without.probabilities).max() > 0.05
    np.testing.assert_array_equal(
        dubio.audit_labels(X, y, given="age").probabilities, dubio.audit_labels(X, y).probabilities
    )


def test_scikit_learn_routes_further_columns(table):
    X, y = table
    own, given = X[["marker", "n0", "c4"]], X[["age"]]
    with sklearn.config_context(enable_metadata_routing=True):
        selector = FeatureSelector("linear_search", n_features_to_select="relevant").set_fit_request(given=True)
        model = make_pipeline(selector, LogisticRegression())
        scores = cross_val_score(model, own, y, params={"given": given}, cv=3, error_score="raise")
        model.fit(own, y, given=given)
    assert scores.min() > 0.5 and model[0].support_.tolist() == [True, False, False]


def test_tables_that_are_not_in_memory(table):
    pa = pytest.importorskip("pyarrow")
    X, y = table
    own = X[["marker", "n0", "c4"]]
    named = FeatureSelector(max_rows=150).fit(pa.Table.from_pandas(own.assign(age=X["age"])), y, given="age")
    beside = FeatureSelector(max_rows=150).fit(pa.Table.from_pandas(own), y, given=X[["age"]])
    assert named.n_sampled_ == beside.n_sampled_ == 150
    assert named.support_.tolist() == [True, False, False, True] and beside.support_.tolist() == [True, False, False]
