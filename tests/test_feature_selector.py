"""The front door: which method is chosen, what is said, and every method by name."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import dubio
from dubio import METHODS, FeatureSelector, select_features
from dubio.methods.choice import choose
from dubio.problem import read_problem
from dubio.significance import NoFeatureStandsOut
from dubio.significance.relation_tests import relation_pvalues
from dubio.supervision import pairs_from_labels, read_supervision, unsure_expert


def _table(n=90, d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"f{j}" for j in range(d)])
    X["f1"] += 2 * y
    X["f4"] -= y
    return X, y


def _numbers(n=90):
    X, _ = _table(n)
    return X, X["f1"].to_numpy() ** 2 + X["f4"].to_numpy()


def test_each_form_of_supervision_gets_its_method():
    X, y = _table()
    pairs = pairs_from_labels(y, n_must_link=40, n_cannot_link=40, random_state=0)
    few = np.where(np.arange(90) < 20, y, -1)
    cases = {
        "hard": ({"y": y}, "neighbor_search"),
        "few hard": ({"y": few}, "neighbor_search"),
        "soft": ({"y": unsure_expert(y, random_state=0).memberships}, "neighbor_search"),
        "numbers": ({"y": _numbers()[1]}, "neighbor_search"),
        "pairs": ({"must_link": pairs.must_link, "cannot_link": pairs.cannot_link}, "constraint"),
        "nothing": ({}, "laplacian"),
    }
    for name, (known, method) in cases.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoFeatureStandsOut)
            fitted = FeatureSelector().fit(X, **known)
        assert fitted.method_ == method, name
        assert "because" in fitted.explanation_ and "Kept" in fitted.explanation_
        assert fitted.support_.any() and fitted.n_features_ == fitted.support_.sum()
        assert fitted.qvalues_.shape == fitted.pvalues_.shape == (6,)


def test_there_is_one_rule_whatever_the_size():
    for known in (np.eye(2)[np.arange(200_000) % 2] * 0.8 + 0.1, np.arange(200_000) % 2, np.linspace(0, 1, 50_000)):
        assert choose(read_supervision(known, len(known), target="auto")).method == "neighbor_search"
    assert choose(read_supervision(None, 5)).method in METHODS


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_by_name(name):
    method = METHODS[name]
    X, y = _table()
    known = {"y": y}
    if "hard" not in method.takes:
        known = {"y": _numbers()[1]} if "numbers" in method.takes else {}
    options = {"method_params": {"n_init": 1}} if "n_init" in method.estimator().get_params() else {}
    fitted = FeatureSelector(name, n_features_to_select=2, **options).fit(X, **known)
    assert fitted.method_ == name and isinstance(fitted.selector_, method.estimator)
    assert fitted.n_features_ == 2
    assert method.needs and method.does
    assert list(fitted.transform(X).shape) == [90, 2]
    assert method.is_search == name.endswith("search")


def test_only_related_features_are_kept_and_the_ranking_is_the_method_s():
    X, y = _table(150)
    P = unsure_expert(y, random_state=0).memberships
    fitted = FeatureSelector().fit(X, P)
    assert {"f1", "f4"} <= set(fitted.get_feature_names_out())
    np.testing.assert_array_equal(fitted.support_, fitted.qvalues_ <= 0.05)
    tests = relation_pvalues(read_problem(X.to_numpy(), P))
    np.testing.assert_array_equal(fitted.pvalues_, tests.pvalues)
    np.testing.assert_array_equal(fitted.ranking_, dubio.NeighborSearch().fit(X, P).ranking_)


def test_a_search_tells_its_sufficient_subset_and_certain_probabilities_are_classes():
    X, y = _table(150)
    fitted = FeatureSelector().fit(X, np.eye(3)[y])
    assert fitted.method_ == "neighbor_search" and fitted.supervision_.kind == "hard"
    assert 1 in fitted.sufficient_subset_ and "as well as any subset" in fitted.explanation_
    np.testing.assert_array_equal(fitted.support_, fitted.qvalues_ <= 0.05)
    np.testing.assert_array_equal(fitted.support_, FeatureSelector("mean_rank").fit(X, y).support_)
    fitted.set_params(n_features_to_select=2).fit(X, y)
    assert not hasattr(fitted, "sufficient_subset_") and not hasattr(fitted, "pvalues_")
    np.testing.assert_array_equal(np.flatnonzero(fitted.support_), fitted.selector_.subsets_[2])


def test_nothing_related_says_so():
    X, y = _table()
    X["f1"] -= 2 * y
    X["f4"] += y
    with pytest.warns(NoFeatureStandsOut):
        fitted = FeatureSelector().fit(X, np.random.default_rng(1).permutation(y))
    assert fitted.n_features_ == 1 and "no feature stands out" in fitted.explanation_


def test_missing_cells_are_filled_and_counted_and_handed_back():
    X, y = _table()
    X.loc[[3, 7], "f0"] = np.nan
    X["empty"] = np.nan
    fitted = FeatureSelector("fisher", n_features_to_select=3).fit(X, y)
    assert fitted.n_missing_values_ == 92
    assert "92 missing values in the table were filled" in fitted.explanation_
    filled = X.assign(f0=X["f0"].fillna(X["f0"].median()), empty=0.0)
    np.testing.assert_array_equal(fitted.ranking_, FeatureSelector("fisher").fit(filled, y).ranking_)
    assert np.isnan(fitted.transform(X[[*X.columns]])).any() == fitted.support_[0]
    assert X["f0"].isna().sum() == 2  # the table of the caller is as it was


def test_redundancy_moves_copies_down():
    X, y = _table()
    X["copy"] = X["f1"] * 1.0001
    plain = FeatureSelector("fisher", n_features_to_select=2).fit(X, y)
    assert set(plain.get_feature_names_out()) == {"f1", "copy"}
    fitted = FeatureSelector("fisher", n_features_to_select=2, redundancy=1.0).fit(X, y)
    assert len({"f1", "copy"} & set(fitted.get_feature_names_out())) == 1
    assert max(fitted.ranking_[[1, 6]]) == 7  # the other one of the two goes last
    assert "redundancy weight 1)" in fitted.explanation_


def test_select_features_is_the_same_in_one_call():
    X, y = _table()
    ranking = select_features(X, y, method="fisher", n_features_to_select=2)
    fitted = FeatureSelector("fisher", n_features_to_select=2).fit(X, y)
    np.testing.assert_array_equal(ranking.support, fitted.support_)
    assert ranking.reason == fitted.explanation_ and list(ranking.names) == list(X.columns)


def test_the_same_seed_gives_the_same_and_jobs_do_not_matter():
    X, y = _numbers()
    one = FeatureSelector(random_state=3).fit(X, y)
    for other in (FeatureSelector(random_state=3, n_jobs=2).fit(X, y), FeatureSelector(random_state=3).fit(X, y)):
        np.testing.assert_array_equal(one.pvalues_, other.pvalues_)
        assert one.explanation_ == other.explanation_


def test_labels_of_any_kind_reach_the_method():
    X, y = _table()
    text = np.asarray(["no", "perhaps", "yes"], dtype=object)[y]
    reference = FeatureSelector("relieff", n_features_to_select=2).fit(X, y)
    np.testing.assert_array_equal(
        reference.scores_, FeatureSelector("relieff", n_features_to_select=2).fit(X, text).scores_
    )
    two = np.where(y == 2, 1, -1)  # -1 as a class
    kept = FeatureSelector("relieff", n_features_to_select=2, missing_label=None).fit(X, two)
    assert list(kept.classes_) == [-1, 1] and kept.supervision_.n_labelled == 90


@pytest.mark.parametrize(
    ("options", "known", "message"),
    [
        ({"method": "fischer"}, "y", "did you mean 'fisher'"),
        ({"method": "supervised_laplacian"}, "y", "needs a numeric target, but the target holds classes"),
        ({"method": "fisher"}, "numbers", "needs classes or class probabilities, but the target is numeric"),
        ({"method": "fisher"}, None, "needs classes or class probabilities, but no target is given"),
        ({"method": "constraint"}, None, "needs pairs of rows or classes"),
        ({"method": "fisher", "method_params": {"k": 3}}, "y", "'k', which is not a parameter of FisherScore"),
        ({"redundancy": -1.0}, "y", "redundancy"),
        ({"target": "words"}, "y", "target"),
    ],
)
def test_bad_wishes(options, known, message):
    X, y = _table()
    target = {"y": y, "numbers": _numbers()[1], None: None}[known]
    with pytest.raises(ValueError, match=message):
        FeatureSelector(**options).fit(X, target)


def test_pairs_beside_numbers_are_refused():
    X, y = _numbers()
    with pytest.raises(ValueError, match="leave one of them out"):
        FeatureSelector().fit(X, y, must_link=[(0, 1)], cannot_link=[(1, 2)])


def test_the_page_on_how_many_runs():
    import re
    from pathlib import Path

    page = (Path(__file__).parents[1] / "docs" / "how_many.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "how_many.md", "exec"), {})


@pytest.mark.parametrize("method", ["fisher", "laplacian", "relieff"])
def test_pairs_are_never_dropped_silently(method):
    X = np.random.default_rng(0).normal(size=(40, 4))
    with pytest.raises(ValueError, match="takes no pairs, but 1 must-link"):
        FeatureSelector(method, n_features_to_select=1).fit(X, np.arange(40) % 2, must_link=[[0, 2]])
