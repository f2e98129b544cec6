"""The front door: which method is chosen, what is said, and every method by name."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import dubio
from dubio import METHODS, FeatureSelector, select_features
from dubio.errors import InputError, NoFeatureStandsOut
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem
from dubio.selector import choose
from dubio.simulate import unsure_annotator
from dubio.target.reader import pairs_from_labels, read_supervision


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
        "soft": ({"y": unsure_annotator(y, random_state=0).memberships}, "neighbor_search"),
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
        assert choose(read_supervision(known, len(known), target="auto"))[0] == "neighbor_search"
    assert choose(read_supervision(None, 5))[0] in METHODS


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
    assert method.is_search == name.removesuffix("_as_published").endswith("search")


def test_printed_forms_have_names_of_their_own():
    printed = {name: one for name, one in METHODS.items() if one.printed}
    assert set(printed) == {
        f"{name}_as_published"
        for name in ("constraint", "constrained_laplacian", "mutual_information", "mutual_information_search")
    }
    X, y = _table()
    for name, method in printed.items():
        params = method.estimator.as_published().get_params()
        assert method.make().get_params() == params != method.estimator().get_params()
        extra = {"n_init": 1} if "n_init" in params else {"closure": True}
        fitted = FeatureSelector(name, n_features_to_select=2, method_params=extra).fit(X, y)
        own = fitted.selector_.get_params()
        for key, value in {**method.estimator._as_published, **extra}.items():
            assert own[key] == value
        assert name.removesuffix("_as_published") in METHODS and fitted.to_ranking().method == name


def _is_one_order(fitted):
    """What is kept is the beginning of the ranking, and the two lines are in order."""
    np.testing.assert_array_equal(fitted.support_, fitted.ranking_ <= fitted.n_features_)
    assert sorted(fitted.ranking_) == list(range(1, len(fitted.ranking_) + 1))
    if hasattr(fitted, "n_sufficient_"):
        assert fitted.n_sufficient_ <= fitted.n_relevant_
    return True


def test_relevant_features_come_in_the_order_of_the_search_and_the_others_by_their_pvalues():
    X, y = _table(150)
    P = unsure_annotator(y, random_state=0).memberships
    fitted = FeatureSelector().fit(X, P)
    assert _is_one_order(fitted)
    assert {"f1", "f4"} <= set(fitted.get_feature_names_out())
    np.testing.assert_array_equal(fitted.support_, fitted.qvalues_ <= 0.05)
    assert fitted.n_features_ == fitted.n_relevant_
    tests = relevance_of(read_problem(X, P))
    np.testing.assert_array_equal(fitted.pvalues_, tests.pvalues)
    own = np.argsort(dubio.NeighborSearch().fit(X, P).ranking_)
    relevant, others = own[fitted.support_[own]], own[~fitted.support_[own]]
    others = others[np.argsort(fitted.pvalues_[others], kind="stable")]
    np.testing.assert_array_equal(np.argsort(fitted.ranking_), np.concatenate([relevant, others]))


@pytest.mark.parametrize("wish", ["auto", "relevant", "sufficient", 2, 0.5, None])
@pytest.mark.parametrize(
    "method", ["auto", "neighbor_search", "mutual_information_search", "fuzzy_rough_search", "fisher"]
)
def test_what_is_kept_is_the_beginning_of_the_ranking(method, wish):
    X, y = _table(120)
    fitted = FeatureSelector(method, n_features_to_select=wish).fit(X, y)
    assert _is_one_order(fitted)
    expected = {"sufficient": getattr(fitted, "n_sufficient_", None), 2: 2, 0.5: 3, None: 3}
    assert fitted.n_features_ == expected.get(wish, getattr(fitted, "n_relevant_", None))
    frame = fitted.to_ranking().to_frame()
    if isinstance(wish, str):
        assert frame["relevant"].tolist() == [True] * fitted.n_relevant_ + [False] * (6 - fitted.n_relevant_)
    if hasattr(fitted, "n_sufficient_"):
        assert frame["sufficient"].sum() == fitted.n_sufficient_


def test_auto_and_its_method_by_name_give_the_same_answer():
    X, y = _table(150)
    one, two = FeatureSelector().fit(X, y), FeatureSelector("neighbor_search").fit(X, y)
    np.testing.assert_array_equal(one.ranking_, two.ranking_)
    assert (one.n_relevant_, one.n_sufficient_) == (two.n_relevant_, two.n_sufficient_)


@pytest.mark.parametrize("flips", [0.0, 0.1])
@pytest.mark.parametrize("n_noise", [6, 18])
def test_features_that_matter_only_together_are_kept(n_noise, flips):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 2 + n_noise))
    y = np.where(rng.random(600) < flips, -1, 1) * np.sign(X[:, 0] * X[:, 1])
    fitted = FeatureSelector(missing_label=None).fit(X, y.astype(int))
    assert set(np.flatnonzero(fitted.support_)) >= {0, 1}
    assert fitted.n_relevant_ <= 3 and fitted.n_sufficient_ >= 2
    assert set(np.argsort(fitted.ranking_)[: fitted.n_sufficient_]) >= {0, 1}


def test_certain_probabilities_are_classes():
    X, y = _table(150)
    fitted = FeatureSelector().fit(X, np.eye(3)[y])
    assert fitted.method_ == "neighbor_search" and fitted.supervision_.kind == "hard"
    np.testing.assert_array_equal(fitted.support_, FeatureSelector().fit(X, y).support_)
    fitted.set_params(n_features_to_select=2).fit(X, y)
    assert not hasattr(fitted, "n_relevant_") and not hasattr(fitted, "pvalues_")
    np.testing.assert_array_equal(np.flatnonzero(fitted.support_), fitted.selector_.subsets_[2])


def test_an_empty_column_changes_no_p_value():
    X, y = _table(120)
    plain = FeatureSelector().fit(X, y)
    with_empty = FeatureSelector().fit(X.assign(empty=np.nan, constant=3.0), y)
    np.testing.assert_array_equal(with_empty.qvalues_[:6], plain.qvalues_)
    assert with_empty.qvalues_[6:].tolist() == [1.0, 1.0]
    assert set(with_empty.ranking_[6:]) == {7, 8}


@pytest.mark.parametrize("numbers", [False, True])
def test_decisions_do_not_hang_on_a_seed(numbers):
    X, y = _numbers(120) if numbers else _table(120)
    kept = []
    for seed in range(5):
        fitted = FeatureSelector(random_state=seed).fit(X, y)
        kept.append(fitted.support_ & ~fitted.at_the_line_)
    sure = [set(np.flatnonzero(k)) for k in kept]
    assert all(one == sure[0] for one in sure)


def test_nothing_related_says_so():
    X, y = _table()
    X["f1"] -= 2 * y
    X["f4"] += y
    with pytest.warns(NoFeatureStandsOut):
        fitted = FeatureSelector().fit(X, np.random.default_rng(1).permutation(y))
    assert fitted.n_features_ == 1 and "No feature stands out" in fitted.explanation_
    assert fitted.n_relevant_ == fitted.n_sufficient_ == 0
    assert np.argmin(fitted.pvalues_) == np.argmin(fitted.ranking_) == np.argmax(fitted.support_)
    assert fitted.to_ranking().headline().startswith("No feature stands out")


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
    assert max(fitted.ranking_[[1, 6]]) == 3  # the other one of the two goes below the third relevant feature
    noise = [0, 2, 3, 5]
    np.testing.assert_array_equal(fitted.ranking_[noise], FeatureSelector("fisher").fit(X, y).ranking_[noise])
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


def test_redundancy_of_a_search_from_sums():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 6))
    X[:, 5] = X[:, 0] + 0.01 * rng.normal(size=150)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    fitted = FeatureSelector("linear_search", n_features_to_select=2, redundancy=5.0).fit(X, y)
    assert fitted.support_[1] and fitted.support_[[0, 5]].sum() == 1


def test_tests_that_are_impossible_are_refused():
    X, y = _table()
    sums = dubio.LinearSearch(n_features_to_select="relevant")
    for call in (lambda: sums.fit(sparse.csr_array(X.to_numpy()), y), lambda: sums.partial_fit(X, y)):
        with pytest.raises(ValueError, match="='relevant' needs the rows of a dense table"):
            call()
    found = FeatureSelector("fuzzy_rough_search").fit(X.iloc[:30])
    assert not hasattr(found, "pvalues_") and found.n_features_ >= 1


def test_a_cleaned_selector_hands_the_lines_on():
    X, y = _table(150)
    ranking = dubio.CleanedSelector(FeatureSelector()).fit(X, y).to_ranking()
    assert ranking.n_relevant >= 2 and ranking.n_sufficient >= 1
    with pytest.warns(NoFeatureStandsOut):
        noise = dubio.CleanedSelector(FeatureSelector()).fit(np.random.default_rng(0).normal(size=(150, 4)), y)
    assert noise.to_ranking().nothing_stands_out


@pytest.mark.parametrize(
    ("columns", "more", "said"),
    [
        ({"a": "text", "b": "text"}, {}, "left out were 'a' (a different text in every row), 'b' (a different text"),
        ({"a": "text", "c": "copy"}, {"drop_leaks": True}, "'c' (perhaps a copy of the target)"),
        ({"a": "none", "b": "one"}, {}, "left out were 'a' (no value), 'b' (only one value): give"),
        ({"a": "one", "b": "late"}, {}, "left out was 'a' (only one value), and the other column is constant among"),
    ],
)
@pytest.mark.parametrize("method", ["auto", "linear_search"])
def test_an_error_says_why_nothing_varies(columns, more, said, method):
    y = np.array(["u", "v"] * 15 + [None] * 30)
    values = {
        "text": [f"word {i} {i * 7919 % 61} of many" for i in range(60)],
        "copy": np.arange(60) % 2,
        "none": np.full(60, np.nan),
        "one": np.ones(60),
        "late": np.repeat([1.0, 2.0], 30),
    }
    X = pd.DataFrame({name: values[kind] for name, kind in columns.items()})
    with pytest.raises(InputError) as caught:
        FeatureSelector(method, **more).fit(X, y)
    assert said in str(caught.value) and "all of its" not in str(caught.value)


def test_groups_are_told_as_they_were_used():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(80, 4)), np.arange(80) // 2
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    y[40:] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counted = FeatureSelector(n_features_to_select=2).fit(X, y, groups=groups)
        tested = FeatureSelector().fit(X, y, groups=groups)
    assert counted.notes_[0].startswith("20 of 40 groups of rows have a label")
    assert "20 of 40 groups of rows have a label; tests compare their means" in tested.explanation_
    found = FeatureSelector().fit(sparse.csr_matrix(X[:40]), y[:40])
    assert found.notes_[-1].startswith("No alerts were looked for")
