"""Fuzzy-rough dependency and search: the fast paths against the literal formulas, laws, bad input, the paper."""

from __future__ import annotations

import itertools
import warnings
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dubio.searches.fuzzy_rough_gamma as criterion_module
from dubio import FuzzyRoughSearch, InputError, fuzzy_rough_dependency
from dubio.kernels import connectives
from dubio.neighbors.greedy import ADD
from dubio.searches.fuzzy_rough_gamma import (
    MATCHING_IMPLICATOR,
    Implicator,
    TNorm,
    line_decision,
    scale_numbers,
    similarity_coordinates,
    soft_decision,
)
from tests import naive


def random_table(rng, n, d):
    """Columns of reals, a coarse grid, duplicates, near constants; some are nominal, some have missing values."""
    X = rng.normal(size=(n, d))
    nominal = np.zeros(d, dtype=bool)
    for j in range(d):
        kind = rng.integers(6)
        if kind == 1:
            X[:, j] = rng.integers(0, 4, size=n)
        elif kind == 2:
            X[:, j] = rng.integers(0, 3, size=n)
            nominal[j] = True
        elif kind == 3 and j:
            X[:, j] = X[:, j - 1]
            nominal[j] = nominal[j - 1]
        elif kind == 4:
            X[:, j] = 1e8 + np.round(X[:, j], 1)
        elif kind == 5:
            X[:, j] = 0.1
        if rng.random() < 0.3:
            X[rng.random(n) < 0.2, j] = np.nan
    if rng.random() < 0.5:
        X[rng.integers(n)] = X[rng.integers(n)]
    return X, nominal


def search(X, y, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not determine the target|y needs no feature")
        return FuzzyRoughSearch(**options).fit(X, y)


def order_of(fitted):
    size = len(fitted.dependencies_)
    order = np.argsort(fitted.ranking_, kind="stable")[:size]
    return order.tolist()


def assert_same_search(fitted, expected):
    chosen, path, gamma_all = expected
    assert order_of(fitted) == chosen
    np.testing.assert_allclose(fitted.dependencies_, path, atol=1e-10)
    assert fitted.dependency_all_ == pytest.approx(gamma_all, abs=1e-10)


@pytest.fixture
def small_leaves(monkeypatch):
    """Trees of several levels, although the tables are small."""
    monkeypatch.setattr(criterion_module, "_LEAF_ROWS", 3)


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.9, 1.0])
def test_search_equals_the_literal_one(small_leaves, missing):
    rng = np.random.default_rng(int(100 * missing))
    for _ in range(60):
        n, d = int(rng.integers(2, 18)), int(rng.integers(1, 7))
        X, nominal = random_table(rng, n, d)
        y = rng.integers(0, int(rng.integers(1, 4)), size=n)
        y[rng.random(n) < missing] = -1
        labels = None if missing == 1.0 else np.where(y < 0, None, y)
        similarity = str(rng.choice(["std", "range"]))
        fitted = search(X, labels, nominal=nominal, similarity=similarity)
        assert_same_search(fitted, naive.fuzzy_rough_search(X, y, nominal, similarity=similarity))


def test_soft_classes_equal_the_literal_ones(small_leaves):
    rng = np.random.default_rng(0)
    for _ in range(40):
        n, d = int(rng.integers(2, 14)), int(rng.integers(1, 6))
        X, nominal = random_table(rng, n, d)
        P = rng.dirichlet(np.full(int(rng.integers(2, 4)), 0.5), size=n)
        P[rng.random(n) < 0.3] = np.eye(P.shape[1])[0]
        P[rng.random(n) < 0.2] = np.nan
        weights = rng.random(n) + 0.1
        fitted = FuzzyRoughSearch(nominal=nominal)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted.fit(X, P, sample_weight=weights)
        assert_same_search(fitted, naive.fuzzy_rough_search(X, P, nominal, weights))


def test_numbers_equal_the_literal_ones(small_leaves):
    rng = np.random.default_rng(1)
    for _ in range(40):
        n, d = int(rng.integers(2, 16)), int(rng.integers(1, 6))
        X, nominal = random_table(rng, n, d)
        y = np.round(rng.normal(size=n), 1)
        y[rng.random(n) < 0.3] = np.nan
        similarity = str(rng.choice(["std", "range"]))
        fitted = search(X, y, nominal=nominal, target="numbers", similarity=similarity)
        assert_same_search(fitted, naive.fuzzy_rough_search(X, y, nominal, numeric=True, similarity=similarity))


@pytest.mark.thorough
@pytest.mark.parametrize("similarity", ["std", "gaussian"])
@pytest.mark.parametrize("t_norm", get_args(TNorm))
def test_other_connectives_equal_the_literal_ones(t_norm, similarity):
    rng = np.random.default_rng(2)
    for implicator in [None, *get_args(Implicator)]:
        for kind in ("hard", "soft", "numbers"):
            n, d = int(rng.integers(2, 12)), int(rng.integers(1, 5))
            X, nominal = random_table(rng, n, d)
            if kind == "hard":
                y = rng.integers(-1, 3, size=n)
                labels = np.where(y < 0, None, y)
            elif kind == "soft":
                labels = y = rng.dirichlet(np.full(3, 0.5), size=n)
            else:
                labels = y = rng.normal(size=n)
            fitted = search(
                X,
                labels,
                nominal=nominal,
                t_norm=t_norm,
                implicator=implicator,
                similarity=similarity,
                target="numbers" if kind == "numbers" else "classes",
            )
            name = implicator or MATCHING_IMPLICATOR[t_norm]
            expected = naive.fuzzy_rough_search(
                X, y, nominal, None, kind == "numbers", similarity, t_norm=t_norm, implicator=name
            )
            assert_same_search(fitted, expected)


@pytest.mark.parametrize("kind", ["hard", "soft", "numbers"])
def test_the_two_criteria_agree_on_a_larger_table(small_leaves, kind):
    """The tree search, on threads, against the path that looks at all pairs."""
    rng = np.random.default_rng(3)
    n, d = 600, 9
    X = np.exp(rng.normal(size=(n, d)))
    X[rng.random(X.shape) < 0.02] = np.nan
    total = np.nansum(X[:, :4], axis=1)
    hidden = np.arange(n) % 3 == 0
    if kind == "numbers":
        decision = line_decision(scale_numbers(np.where(hidden, np.nan, total), "std"), crisp=False)
    elif kind == "hard":
        decision = line_decision(np.where(hidden, np.nan, total > 6), crisp=True)
    else:
        P = 0.8 * np.eye(2)[(total > 6).astype(int)] + 0.2 * rng.dirichlet(np.ones(2), size=n)
        decision = soft_decision(np.where(hidden[:, None], 0.0, P))
    nominal = np.zeros(d, dtype=bool)
    coordinates = similarity_coordinates(X, nominal, "std")
    weights = rng.random(n)
    fast = criterion_module.LukasiewiczCriterion(coordinates, decision, weights, 2)
    full = criterion_module.ConnectiveCriterion(
        coordinates,
        decision,
        weights,
        2,
        nominal=nominal,
        t_norm="lukasiewicz",
        implicator="lukasiewicz",
        gaussian=False,
    )
    np.testing.assert_allclose(fast.region_all, full.region_all, atol=1e-12)
    for _ in range(d):
        candidates = fast.candidates
        values = fast.evaluate(candidates, ADD)
        np.testing.assert_allclose(values, full.evaluate(candidates, ADD), atol=1e-11)
        best = int(candidates[values.argmax()])
        full.apply(best, ADD)
        fast.apply(best, ADD)
    assert fast.value == pytest.approx(fast.value_all)


@pytest.mark.parametrize("t_norm", ["lukasiewicz", "minimum"])
def test_the_number_of_threads_changes_nothing(t_norm):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(1000, 6)), rng.integers(0, 3, size=1000)
    one, many = (FuzzyRoughSearch(n_jobs=n_jobs, t_norm=t_norm).fit(X, y) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.dependencies_, many.dependencies_)
    np.testing.assert_array_equal(one.ranking_, many.ranking_)


# --- Laws ---------------------------------------------------------------------------------------------------------

tables = st.integers(0, 10**6).map(lambda seed: random_table(np.random.default_rng(seed), 24, 5))
label_lists = st.lists(st.integers(0, 2), min_size=24, max_size=24).map(np.array)
hidden_lists = st.lists(st.booleans(), min_size=24, max_size=24).map(np.array)


def gamma(table, y, **options):
    X, nominal = table
    return fuzzy_rough_dependency(X, y, nominal=nominal, target="classes", **options)


@given(tables, label_lists, hidden_lists, st.permutations(range(5)))
def test_gamma_never_falls_when_a_feature_is_added(table, y, hidden, order):
    y = np.where(hidden, None, y)
    values = [gamma(table, y, features=sorted(order[:size])) for size in range(6)]
    assert all(0.0 <= value <= 1.0 for value in values)
    assert all(more >= fewer - 1e-12 for fewer, more in itertools.pairwise(values))


@given(tables, label_lists, hidden_lists)
def test_hiding_labels_never_raises_gamma(table, y, hidden):
    """Theorem 2."""
    assert gamma(table, np.where(hidden, None, y)) <= gamma(table, y) + 1e-12


@given(tables, label_lists, hidden_lists, st.integers(0, 100))
def test_row_order_and_column_scale_do_not_matter(table, y, hidden, seed):
    X, nominal = table
    y = np.where(hidden, None, y)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))
    scale = np.where(nominal, 1.0, -(2.0 ** rng.integers(-20, 20, size=5)))
    _, region = fuzzy_rough_dependency(X, y, nominal=nominal, target="classes", return_positive_region=True)
    moved = fuzzy_rough_dependency(
        X[rows] * scale, y[rows], nominal=nominal, target="classes", return_positive_region=True
    )
    np.testing.assert_allclose(moved[1], region[rows], atol=1e-9)


@given(tables, label_lists)
def test_one_hot_rows_equal_hard_classes(table, y):
    assert gamma(table, np.eye(3)[y]) == pytest.approx(gamma(table, y), abs=1e-12)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_connectives_are_what_they_are_called(a, b, c):
    for name in get_args(TNorm):
        t_norm = getattr(connectives, f"{name}_t_norm")
        assert t_norm(a, 1.0) == pytest.approx(a)
        assert t_norm(a, b) == t_norm(b, a) == pytest.approx(naive.FUZZY_T_NORMS[name](a, b))
        assert t_norm(t_norm(a, b), c) == pytest.approx(t_norm(a, t_norm(b, c)), abs=1e-12)
    for name in get_args(Implicator):
        implicator = getattr(connectives, f"{name.replace('-', '_')}_implicator")
        assert implicator(1.0, b) == pytest.approx(b)
        assert implicator(0.0, b) == 1.0
        assert implicator(a, b) == pytest.approx(naive.FUZZY_IMPLICATORS[name](a, b))
        assert implicator(min(a, c), b) >= implicator(max(a, c), b) - 1e-12
        assert implicator(a, min(b, c)) <= implicator(a, max(b, c)) + 1e-12


def test_weights_and_left_out_rows():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 4)), rng.integers(0, 2, size=40)
    weights = rng.random(40)
    weights[:5] = 0
    value, region = fuzzy_rough_dependency(X, y, sample_weight=weights, return_positive_region=True)
    part, part_region = fuzzy_rough_dependency(X[5:], y[5:], return_positive_region=True)
    np.testing.assert_allclose(region[5:], part_region)
    assert (region[:5] == 0).all()
    assert value == pytest.approx(np.average(part_region, weights=weights[5:]))
    assert fuzzy_rough_dependency(X, y, sample_weight=7 * weights) == pytest.approx(value)
    assert value != pytest.approx(part)

    some = np.where(np.arange(40) % 2, y, -1)
    _, region = fuzzy_rough_dependency(X, some, return_positive_region=True)
    light = fuzzy_rough_dependency(X, some, unlabelled_weight=0.25)
    assert light == pytest.approx(np.average(region, weights=np.where(some < 0, 0.25, 1.0)))
    only = fuzzy_rough_dependency(X, some, unlabelled_weight=0)
    assert only == pytest.approx(fuzzy_rough_dependency(X[1::2], y[1::2]))


def test_subset_can_lose_what_the_full_labels_need():
    """The paper's claim that a subset found with missing labels is a (super)reduct of the labelled data is false
    when gamma of all features is below 1 (docs/fuzzy_rough.md)."""
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    full = np.array([0, 0, 1, 1, 1])
    some = np.array([0, None, 1, None, 1], dtype=object)
    fitted = FuzzyRoughSearch(nominal=[0, 1]).fit(X, some)
    complete = FuzzyRoughSearch(nominal=[0, 1]).fit(X, full)
    assert fitted.dependency_all_ < 1
    chosen = np.flatnonzero(fitted.support_)
    reached = fuzzy_rough_dependency(X, full, features=chosen, nominal=[0, 1])
    assert reached < complete.dependency_all_ - 1e-6


@given(tables, label_lists, hidden_lists, st.booleans())
def test_subset_is_a_superreduct_where_hiding_cost_nothing(table, y, hidden, discernible):
    """What is true of the claim: if gamma of all features is the same with the hidden labels as without them (as
    it is when it is 1), the subset found keeps the positive region of the fully labelled table."""
    X, nominal = table
    if discernible:  # every row its own category: gamma is 1 at any share of labels
        X, nominal = np.hstack([X, np.arange(len(X))[:, None] * 1.0]), np.append(nominal, True)
    some = np.where(hidden, None, y)
    fitted = search(X, some, nominal=nominal, target="classes")
    cost = gamma((X, nominal), y) - gamma((X, nominal), some)
    assert not discernible or cost == 0.0
    if cost < 1e-12:
        chosen = np.sort(order_of(fitted))
        assert gamma((X, nominal), y, features=chosen) == pytest.approx(gamma((X, nominal), y))


# --- Input -----------------------------------------------------------------------------------------------------------


def test_nominal_columns_of_frames():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 3, size=(50, 4)).astype(float)
    numbers = rng.normal(size=50)
    y = rng.integers(0, 2, size=50)
    text = np.array(["ab", "cd", "ef"], dtype=object)[codes.astype(int)]
    text[::7, 0] = None
    codes[::7, 0] = np.nan
    codes[:, 3] = codes[:, 3] > 0
    text[3, 2] = None
    codes[3, 2] = np.nan
    frame = pd.DataFrame(
        {
            "text": text[:, 0],
            "category": pd.Categorical(text[:, 1]),
            "string": pd.array(text[:, 2], dtype="string"),
            "flag": codes[:, 3].astype(bool),
            "number": numbers,
        }
    )
    expected = fuzzy_rough_dependency(np.column_stack([codes, numbers]), y, nominal=[0, 1, 2, 3])
    assert fuzzy_rough_dependency(frame, y) == pytest.approx(expected)
    assert fuzzy_rough_dependency(frame, y, features=["text", "flag"]) == pytest.approx(
        fuzzy_rough_dependency(codes, y, features=[0, 3], nominal=[0, 1, 2, 3])
    )
    polars = pytest.importorskip("polars")
    assert fuzzy_rough_dependency(polars.from_pandas(frame), y) == pytest.approx(expected)
    as_object = frame.to_numpy(dtype=object)
    assert fuzzy_rough_dependency(as_object, y, nominal=[0, 1, 2, 3]) == pytest.approx(expected)
    with pytest.raises(ValueError, match="X has 3 columns that are not numeric: column 0, column 1, column 2:"):
        fuzzy_rough_dependency(as_object, y)


def test_columns_of_frames_that_hold_numbers_stay_numbers():
    rng = np.random.default_rng(12)
    X = rng.integers(0, 30, size=(40, 3)).astype(float)
    X[4, 0] = np.nan
    y = rng.integers(0, 2, size=40)
    frame = pd.DataFrame({"a": pd.array(X[:, 0], dtype="Int64"), "b": X[:, 1], "c": X[:, 2]})
    assert fuzzy_rough_dependency(frame, y) == fuzzy_rough_dependency(X, y)
    some = fuzzy_rough_dependency(frame.assign(d="same"), y, nominal=["c"])
    assert some == fuzzy_rough_dependency(X, y, nominal=[2]) != fuzzy_rough_dependency(X, y)
    with pytest.raises(ValueError, match=r"not numeric: 'b' \(object\)"):  # numbers, but not said to be: no guess
        fuzzy_rough_dependency(frame.assign(b=X[:, 1].astype(object)), y)
    with pytest.raises(ValueError, match=r"not numeric: 'd' \(datetime64"):
        fuzzy_rough_dependency(frame.assign(d=pd.Timestamp("2020-01-01")), y)
    with pytest.raises(ValueError, match=r"contains infinity in 40 rows of column 'c' \(position 3\), first in row 0"):
        fuzzy_rough_dependency(frame.assign(c=np.inf).reindex(columns=["a", "b", "x", "c"]).assign(x="t"), y)


def test_unseen_categories_pass_through_transform():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], size=30), "b": rng.normal(size=30)})
    fitted = FuzzyRoughSearch(n_features_to_select=2).set_output(transform="pandas").fit(frame, frame["a"])
    new = pd.DataFrame({"a": ["never seen", None], "b": [1.0, np.nan]})
    pd.testing.assert_frame_equal(fitted.transform(new), new)
    assert fitted.set_output(transform="default").transform(new)[0, 0] == "never seen"


def test_a_declared_nominal_column_has_no_order():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = [0, 1, 0, 1]
    assert fuzzy_rough_dependency(X, y, nominal=[True]) == 1.0
    assert fuzzy_rough_dependency(X, y) < 0.9


def test_equal_rows_give_a_warning_and_no_feature():
    X = np.ones((8, 3))
    message = r"X does not determine the target: the dependency on all features is 0\. Each of the 8 rows"
    for y in ([0, 1] * 4, None):
        with pytest.warns(UserWarning, match=message):
            fitted = FuzzyRoughSearch().fit(X, y)
        assert len(fitted.dependencies_) == 0
        assert fitted.dependency_all_ == 0.0
        assert fitted.ranking_.tolist() == [1, 2, 3]
        assert fitted.support_.tolist() == [True, False, False]  # the documented minimum


def test_the_minimum_kept_is_not_a_constant_column():
    X = np.column_stack([np.ones(6), [1.0, 1, 2, 2, 3, 3]])
    with pytest.warns(UserWarning, match="does not determine the target: the dependency on all features is 0"):
        fitted = FuzzyRoughSearch().fit(X, [0, 1] * 3)
    assert fitted.support_.tolist() == [False, True]


def test_one_class_needs_no_feature():
    X = np.random.default_rng(8).normal(size=(10, 3))
    with pytest.warns(UserWarning, match="y needs no feature"):
        fitted = FuzzyRoughSearch().fit(X, np.zeros(10, dtype=int))
    assert fitted.dependency_all_ == 1.0
    assert fitted.support_.sum() == 1


def test_counts_beyond_and_below_the_reduct():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(30, 5))
    X[:, 1] = 4.0
    X[:, 2] = y = np.arange(30) % 2  # decides y alone
    fitted = FuzzyRoughSearch(n_features_to_select=4, nominal=[2]).fit(X, y)
    assert fitted.ranking_.tolist() == [2, 5, 1, 3, 4]
    assert fitted.support_.tolist() == [True, False, True, True, True]
    hard = FuzzyRoughSearch().fit(rng.normal(size=(60, 6)), rng.integers(0, 2, size=60))
    assert len(hard.dependencies_) > 2
    assert hard.subsets_[2].tolist() == np.sort(order_of(hard)[:2]).tolist()


def test_xor_is_found_although_no_feature_helps_alone():
    X = np.array([[5.0, 0, 0], [5, 0, 1], [5, 1, 0], [5, 1, 1]])
    fitted = FuzzyRoughSearch(nominal=[1, 2]).fit(X, [0, 1, 1, 0])
    # no feature helps alone; the search goes on, with the first of equals that varies
    assert fitted.dependencies_.tolist() == [0.0, 1.0]
    assert fitted.ranking_.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nominal": [True, False]}, "nominal is a mask of 2 columns, but the table has 3"),
        ({"nominal": [0, 3]}, "nominal holds 3, but the table has columns 0 to 2"),
        ({"nominal": ["a"]}, "nominal names 1 column, but the table has no column names"),
        ({"nominal": [[0]]}, "nominal has 2 dimensions"),
        ({"features": [1, 1]}, "features holds a column more than once"),
        ({"similarity": "cosine"}, "similarity='cosine': give 'gaussian', 'range' or 'std'"),
        ({"t_norm": "sum"}, "t_norm='sum'"),
        ({"implicator": "sum"}, "implicator='sum'"),
        ({"unlabelled_weight": -1}, "unlabelled_weight=-1"),
        ({"sample_weight": np.arange(10) % 2, "unlabelled_weight": 0}, "leave none of the 10 rows"),
    ],
)
def test_bad_arguments_are_named(options, message):
    X = np.random.default_rng(0).normal(size=(10, 3))
    with pytest.raises(ValueError, match=message):
        fuzzy_rough_dependency(X, np.where(np.arange(10) % 2, None, "a"), **options)


def test_infinity_is_refused_and_input_is_untouched():
    X = np.random.default_rng(0).normal(size=(10, 3))
    y = np.arange(10) % 2
    before = X.copy()
    X.setflags(write=False)
    fuzzy_rough_dependency(X, y, nominal=[1])
    np.testing.assert_array_equal(X, before)
    with pytest.raises(ValueError, match="contains infinity in 10 rows of column 1, first in row 0"):
        fuzzy_rough_dependency(np.where(np.arange(3) == 1, np.inf, X), y)


def test_extreme_scales():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, size=30)
    plain = fuzzy_rough_dependency(X, y)
    assert fuzzy_rough_dependency(X * [1e200, 1e-200, 1], y) == pytest.approx(plain, abs=1e-12)
    coarse = np.round(X, 3)
    shifted = fuzzy_rough_dependency(coarse + 1e9, y)
    assert shifted == pytest.approx(fuzzy_rough_dependency(coarse, y), abs=1e-3)  # 1e9 leaves 7 decimals


def test_weights_without_any_label():
    X = np.random.default_rng(11).normal(size=(20, 3))
    weights = np.r_[np.zeros(5), np.ones(15)]
    fitted = FuzzyRoughSearch().fit(X, sample_weight=weights)
    np.testing.assert_array_equal(fitted.ranking_, FuzzyRoughSearch().fit(X[5:]).ranking_)


def test_a_pruned_search_ends_in_a_reduct():
    """No feature of it can be left out, which the greedy search alone does not promise."""
    rng = np.random.default_rng(2)
    pruned_some = False
    for _ in range(30):
        X = rng.normal(size=(25, 6))
        y = rng.integers(0, 2, 25)
        plain, pruned = FuzzyRoughSearch().fit(X, y), FuzzyRoughSearch(prune=True).fit(X, y)
        kept = np.flatnonzero(pruned.support_)
        assert set(kept) <= set(np.flatnonzero(plain.support_))
        everything = fuzzy_rough_dependency(X, y)
        assert fuzzy_rough_dependency(X, y, features=kept) == pytest.approx(everything, abs=1e-9)
        for feature in kept:
            assert fuzzy_rough_dependency(X, y, features=np.setdiff1d(kept, feature)) < everything - 1e-9
        for size, value in enumerate(pruned.dependencies_, start=1):
            own = np.argsort(pruned.ranking_)[:size]
            assert fuzzy_rough_dependency(X, y, features=own) == pytest.approx(value, abs=1e-9)
        pruned_some |= len(kept) < plain.n_features_
    assert pruned_some


@pytest.mark.parametrize("enmity", [0.0, 0.4, 1.0])
def test_unlabelled_rows_can_be_weaker_enemies(enmity):
    """POS of a labelled row: the least of R's complements, plus 1 - enmity at an unlabelled row."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 2)), rng.integers(0, 2, 20).astype(object)
    y[:8] = None
    relations = [naive.fuzzy_similarity(column) for column in X.T]
    R = np.maximum(0.0, relations[0] + relations[1] - 1.0)
    expected = np.empty(20)
    for x in range(20):
        others = [z for z in range(20) if z != x and (y[x] is None or y[z] != y[x])]
        weaker = [1.0 - enmity if y[x] is not None and y[z] is None else 0.0 for z in others]
        expected[x] = min(1.0, min(1.0 - R[x, z] + w for z, w in zip(others, weaker, strict=True)))
    gamma, region = fuzzy_rough_dependency(
        X, y, unlabelled_enmity=enmity, target="classes", return_positive_region=True
    )
    np.testing.assert_allclose(region, expected, atol=1e-9)
    assert gamma == pytest.approx(expected.mean(), abs=1e-9)


def test_weaker_enemies_need_classes():
    with pytest.raises(InputError, match="unlabelled_enmity"):
        FuzzyRoughSearch(unlabelled_enmity=0.5, target="numbers").fit(np.eye(4), [0.1, 0.2, np.nan, 0.7])
