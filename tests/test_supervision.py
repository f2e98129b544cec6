"""What a person may know of the target, and how it is read."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

import dubio
from dubio import simulate as simulators
from dubio import soft_labels
from dubio.simulate import flip_labels, flip_labels_by_matrix, hide_labels, unsure_annotator
from dubio.target.classes import OddClassNames, SoftLabels
from dubio.target.reader import pairs_from_labels, read_supervision

# --- forms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        ["b", None, "a", "b"],
        np.array(["b", None, "a", "b"], dtype=object),
        np.array(["b", np.nan, "a", "b"], dtype=object),
        pd.Series(["b", pd.NA, "a", "b"]),
        pd.Series(["b", None, "a", "b"], dtype="string"),
        pd.Series(["b", None, "a", "b"], dtype="category"),
        pd.Categorical(["b", None, "a", "b"]),
        pd.Series(["b", None, "a", "b"]).to_numpy(),
    ],
    ids=lambda v: type(v).__name__,
)
def test_text_classes(labels):
    s = read_supervision(labels, 4)
    assert s.kind == "hard"
    assert list(s.classes) == ["a", "b"]
    assert list(s.codes) == [1, -1, 0, 1]
    assert list(s.labelled) == [True, False, True, True]
    np.testing.assert_array_equal(s.memberships, [[0, 1], [0, 0], [1, 0], [0, 1]])


def test_polars_series():
    polars = pytest.importorskip("polars")
    assert list(read_supervision(polars.Series(["b", None, "a"]), 3).codes) == [1, -1, 0]
    assert list(read_supervision(polars.Series([2, None, 5]), 3).codes) == [0, -1, 1]


@pytest.mark.parametrize(
    "labels",
    [
        np.array([1, -1, 0, 1]),
        [1, None, 0, 1],
        [1.0, np.nan, 0.0, 1.0],
        pd.array([1, None, 0, 1], dtype="Int64"),
        np.array([1, -1, 0, 1], dtype=np.int8),
        [True, None, False, True],
        pd.Series([True, None, False, True], dtype="boolean"),
    ],
    ids=str,
)
def test_whole_numbers_and_bools(labels):
    s = read_supervision(labels, 4)
    assert list(s.codes) == [1, -1, 0, 1]
    assert [int(c) for c in s.classes] == [0, 1]


def test_declared_order_of_categories_is_kept():
    y = pd.Categorical(["high", "low", "mid", "low"], categories=["low", "mid", "high"])
    s = read_supervision(y, 4)
    assert list(s.classes) == ["low", "mid", "high"]
    assert list(s.codes) == [2, 0, 1, 0]


def test_soft_classes():
    P = np.array([[0.2, 0.8], [np.nan, np.nan], [1.0, 0.0]])
    s = read_supervision(P, 3)
    assert s.kind == "soft" and not hasattr(s, "codes") and list(s.classes) == [0, 1]
    np.testing.assert_array_equal(s.memberships, [[0.2, 0.8], [0, 0], [1, 0]])
    named = read_supervision(pd.DataFrame(P, columns=["ill", "well"]), 3)
    assert list(named.classes) == ["ill", "well"]
    assert np.isnan(P[1]).all()


def test_numbers():
    s = read_supervision([1.5, None, -1.0], 3, target="numbers")
    assert s.kind == "numbers"
    np.testing.assert_array_equal(s.values, [1.5, np.nan, -1.0])
    ints = read_supervision(np.array([3, -1, 2]), 3, target="numbers")
    np.testing.assert_array_equal(ints.values, [3, -1, 2])  # -1 is a number like any other
    marked = read_supervision(np.array([3, -999, 2]), 3, target="numbers", missing_label=-999)
    np.testing.assert_array_equal(marked.labelled, [True, False, True])


def test_nothing():
    s = read_supervision(None, 5)
    assert s.kind == "none" and s.n_labelled == 0 and s.describe() == "5 rows, no labels"


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (["a", "b"] * 20, "hard"),
        ([0, 1, 2, 3] * 10, "hard"),
        (list(range(40)), "numbers"),
        (list(np.linspace(0, 1, 40)), "numbers"),
        ([True, False] * 20, "hard"),
        ([1.0, 2.0, None, 1.0] * 10, "hard"),
        ([None] * 22 + [60 + 7 * i for i in range(18)], "numbers"),  # far apart, and none repeats: heart rates
        ([None] * 30 + [100 * i for i in range(10)], "hard"),  # ten may be codes of classes
        ([60 + 7 * i for i in range(20)] * 2, "hard"),
        ([-1] * 22 + [60 + 7 * i for i in range(18)], "hard"),  # -1 means "unlabelled", so the others are classes
        (pd.Series([None] * 22 + [60 + 7 * i for i in range(18)]).astype("category"), "hard"),
        ([None] * 22 + [f"{60 + 7 * i:05}" for i in range(18)], "hard"),
        (pd.Series(range(40)).astype("category"), "hard"),
    ],
)
def test_auto_tells_classes_from_numbers(y, kind):
    assert read_supervision(y, 40, target="auto").kind == kind


def test_a_block_of_codes_that_do_not_repeat_in_it_is_read_as_the_whole_table_is():
    y = np.tile(100 * np.arange(1, 13), 5)
    X = np.random.default_rng(0).normal(size=(60, 4)) + 0.002 * y[:, None] * [1, 0, 0, 1]
    blocks = dubio.LinearSearch(n_features_to_select=2)
    for start in range(0, 60, 15):  # 12 codes in 15 rows
        blocks.partial_fit(X[start : start + 15], y[start : start + 15])
    whole = dubio.LinearSearch(n_features_to_select=2).fit(X, y)
    np.testing.assert_array_equal(blocks.ranking_, whole.ranking_)
    assert blocks.values_[2] == pytest.approx(whole.values_[2], rel=1e-10)


def test_classes_of_which_only_some_are_alone_are_no_identifier():
    y = np.array([f"k{k}" for k in [*range(13), 0, 0, 1, 2, 3, 4, 5]])  # of 20 rows, 13 are in a class of two or more
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[:, 0] += np.arange(20) % 13
    assert dubio.FeatureSelector(n_features_to_select=1).fit(X, y).ranking_.min() == 1
    with pytest.raises(ValueError, match="a different value in each of its 13 labelled rows"):
        dubio.FeatureSelector().fit(X[:13], y[:13])


def test_column_vector_is_flattened_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert list(read_supervision(np.array([[1], [0]]), 2).codes) == [1, 0]


def test_the_record_cannot_be_changed():
    y = np.array([0, 1, 0])
    s = read_supervision(y, 3)
    for array in (s.codes, s.memberships, s.labelled):
        with pytest.raises(ValueError):
            array[0] = 1
    with pytest.raises(AttributeError):
        s.kind = "soft"
    y[0] = 1  # the caller's array is still the caller's


def test_reading_does_not_freeze_the_callers_array():
    P = np.array([[0.5, 0.5], [0.1, 0.9]])
    y = np.array([0.5, 1.5])
    read_supervision(P, 2)
    read_supervision(y, 2, target="numbers")
    P[0] = [1, 0]
    y[0] = 3


# --- -1 --------------------------------------------------------------------------------------------------------


def test_minus_one_and_plus_one_is_refused_with_the_way_out():
    y = np.array([-1, 1, -1, 1])
    message = r"-1 in 2 rows and only one other value.*only one class is left.*missing_label=None"
    with pytest.raises(ValueError, match=message):
        dubio.WeightedLaplacianScore().fit(np.eye(4), y)
    fitted = dubio.WeightedLaplacianScore(missing_label=None).fit(np.random.default_rng(0).normal(size=(4, 3)), y)
    assert list(fitted.classes_) == [-1, 1]


def test_both_minus_one_and_nan_warns():
    with pytest.warns(UserWarning, match=r"both -1 \(1 row\) and missing values \(1 row\)"):
        s = read_supervision([0, 1, -1, None], 4)
    assert s.n_labelled == 2


def test_text_minus_one_is_a_class():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(read_supervision(["-1", "1", "-1"], 3).classes) == ["-1", "1"]
    with pytest.warns(OddClassNames, match=r"look like missing labels: '-1' \(2 rows\)"):
        assert read_supervision(["-1", "ok", "-1", "defect"], 4).n_classes == 3


def test_missing_labels_in_words_are_named():
    labels = ["a", "", "b", "nan", "NaN", "nan", "None", "none", "b"]
    with pytest.warns(OddClassNames, match=r"'' \(1 row.*'NaN' \(1 row.*'None' \(1 row.*'nan' \(2 row.*write None"):
        read = read_supervision(labels, 9)
    assert read.n_labelled == 9 and read.n_classes == 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_supervision(["none", "mild", None, "none"], 4)
        read_supervision(["nan", "a", "b"], 3, missing_label="nan")


def test_classes_in_two_spellings_are_named_and_not_merged():
    labels = ["yes", "Yes ", "no", "YES", "yes"]
    with pytest.warns(OddClassNames, match=r"'YES' \(1 row\), 'Yes ' \(1 row\), 'yes' \(2 rows\)") as caught:
        read = read_supervision(labels, 5)
    assert len(caught) == 1 and read.n_classes == 4
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(UserWarning) as caught:
        dubio.FeatureSelector(n_features_to_select=1).fit(X, labels * 8)
    assert sum(issubclass(warning.category, OddClassNames) for warning in caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_supervision([1, 2, 1], 3)
        read_supervision(["yes", "no"], 2)


def test_classes_of_the_same_name_are_refused():
    P = pd.DataFrame([[0.5, 0.5], [0.1, 0.9]], columns=["k", "k"])
    with pytest.raises(ValueError, match=r"y has columns with the same name: 'k' \(2 columns\)"):
        read_supervision(P, 2)


def test_counts_are_normalized_as_a_table_of_whole_numbers():
    counts = [[3, 1], [0, 4]]
    assert soft_labels(np.array(counts), normalize=True).memberships.tolist() == [[0.75, 0.25], [0.0, 1.0]]
    assert soft_labels(np.array(counts)).classes.tolist() == [0, 1, 3, 4]  # votes


def test_own_missing_label():
    assert list(read_supervision(["a", "?", "b"], 3, missing_label="?").codes) == [0, -1, 1]
    assert list(read_supervision([1, 9, 2, -1], 4, missing_label=9).codes) == [1, -1, 2, 0]
    assert list(read_supervision([1, 2], 2, missing_label="?").codes) == [0, 1]


# --- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], r"y has probabilities that sum to 1.1, not to 1, in row 0 \(1 such row"),
        ([[0.0, 0.0], [0.5, 0.5]], "y has probabilities that sum to 0, not to 1, in row 0"),
        ([[-1.0, 1.0], [0.5, 0.5]], "negative probability, -1"),
        ([1e20, 2e20], "below 2"),
        ([[0.5, 0.5], [-0.5, 1.5]], "negative probability, -0.5, in row 1, class 0"),
        ([[0.5, 0.5], [np.nan, 1.0]], "some but not all class probabilities of row 1"),
        ([[np.inf, 0.5], [0.5, 0.5]], "infinity"),
        ([["a", "b"], ["a", "a"]], "not numbers.*soft_labels"),
        ([0.5, 1.5], "looks like regression"),
        ([0.5, 0.25], r"np.column_stack\(\[1 - p, p\]\)"),
        ([np.inf, 1.0], "infinity"),
        (["a", 1], "mixes types: 1 text .*1 number"),
        ([("a",), ("b", "c")], "different lengths|type tuple"),
        (np.array([(1, 2), {3}, "x"], dtype=object)[[0, 1]], "type"),
        ([1, 2, 3], "y has 3 rows and X has 2"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (sparse.csr_array(np.eye(2)), "sparse"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), "dates or times, such as '2020-01-01', where classes"),
        (np.array([1j, 2]), "dtype complex"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        read_supervision(y, 2)


def test_bad_options():
    with pytest.raises(ValueError, match="target='words'"):
        read_supervision([1, 2], 2, target="words")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"] * 4, r"only one class \('a' in 4 labelled rows"),
        (["a", None, None, None], "only one class"),
        ([None] * 4, "no labelled row.*LaplacianScore"),
        (None, "requires y to be passed"),
        (np.repeat([[1.0, 0.0]], 4, axis=0), "only one class"),
    ],
)
def test_too_little_is_known(y, message):
    with pytest.raises(ValueError, match=message):
        dubio.WeightedLaplacianScore().fit(np.random.default_rng(0).normal(size=(4, 3)), y)


# --- soft labels -----------------------------------------------------------------------------------------------


def test_confidence():
    P = soft_labels(["a", "b", "c", None], confidence=[0.8, 1.0, 0.0, 0.3]).memberships
    np.testing.assert_allclose(P, [[0.8, 0.1, 0.1], [0, 1, 0], [0.5, 0.5, 0], [np.nan] * 3])


def test_votes_are_averaged_without_abstentions():
    soft = soft_labels([["a", "b", "a"], ["b", None, None], [None, None, None]])
    np.testing.assert_allclose(soft.memberships, [[2 / 3, 1 / 3], [0, 1], [np.nan, np.nan]])
    frame = pd.DataFrame({"e1": ["a", "b"], "e2": ["b", "b"]})
    np.testing.assert_allclose(soft_labels(frame).memberships, [[0.5, 0.5], [0, 1]])
    numbers = soft_labels(np.array([[1, 2, -1], [2, 2, 2]]))
    np.testing.assert_allclose(numbers.memberships, [[0.5, 0.5], [0, 1]])
    assert list(numbers.classes) == [1, 2]


def test_candidate_sets():
    soft = soft_labels([{"a", "b"}, {"c"}, None, "a"])
    np.testing.assert_allclose(soft.memberships, [[0.5, 0.5, 0], [0, 0, 1], [np.nan] * 3, [1, 0, 0]])


def test_probability_table_and_class_names():
    soft = soft_labels([[0.2, 0.8], [1.0, 0.0]], classes=["no", "yes"])
    assert list(soft.classes) == ["no", "yes"] and list(soft.most_likely) == ["yes", "no"]
    counted = soft_labels(np.array([[2.5, 7.5], [1.0, 0.0]]), normalize=True)
    np.testing.assert_allclose(counted.memberships, [[0.25, 0.75], [1, 0]])


def test_soft_labels_go_straight_into_a_method_and_keep_their_names():
    X = np.random.default_rng(0).normal(size=(6, 3))
    soft = soft_labels(["x", "y"] * 3, confidence=np.full(6, 0.9))
    fitted = dubio.WeightedLaplacianScore().fit(X, soft)
    assert list(fitted.classes_) == ["x", "y"]
    half = soft[:3]
    assert isinstance(half, SoftLabels) and half.shape == (3, 2)
    np.testing.assert_array_equal(fitted.scores_, dubio.weighted_laplacian_score(X, np.asarray(soft)))


def test_dawid_skene_finds_the_bad_expert():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, size=400)
    votes = np.empty((400, 4), dtype=int)
    for expert, skill in enumerate([0.9, 0.85, 0.8, 0.2]):
        wrong = (truth + rng.integers(1, 3, size=400)) % 3
        votes[:, expert] = np.where(rng.uniform(size=400) < skill, truth, wrong)
    votes[rng.uniform(size=votes.shape) < 0.1] = -1
    average, skilled = soft_labels(votes), soft_labels(votes, combine="dawid-skene")
    right = [(s.memberships.argmax(axis=1) == truth).mean() for s in (average, skilled)]
    assert right[1] > right[0] + 0.02
    diagonal = np.einsum("ekk->ek", skilled.confusions).mean(axis=1)
    np.testing.assert_allclose(diagonal, [0.9, 0.85, 0.8, 0.2], atol=0.06)
    np.testing.assert_allclose(skilled.confusions.sum(axis=2), 1)
    np.testing.assert_allclose(skilled.priors.sum(), 1)


def test_dawid_skene_does_not_underflow_with_many_experts():
    votes = np.repeat(np.array([[0], [1]] * 5), 2000, axis=1)
    soft = soft_labels(votes, combine="dawid-skene")
    assert np.isfinite(soft.memberships).all()
    np.testing.assert_allclose(soft.memberships.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: soft_labels(["a", "b"], confidence=[0.5]), r"confidence has shape \(1,\)"),
        (lambda: soft_labels(["a", "b"], confidence=[0.5, 1.5]), "confidence is 1.5 in row 1"),
        (lambda: soft_labels(["a", "b"], confidence=[np.nan, 1]), "confidence is nan in row 0"),
        (lambda: soft_labels(["a", "a"], confidence=[0.5, 1]), "only one class"),
        (lambda: soft_labels([["a"], ["b"]], confidence=[0.5, 1]), "confidence needs one label"),
        (lambda: soft_labels([set(), {"a"}]), "labels has an empty candidate set in row 0"),
        (lambda: soft_labels(["a", "b"], classes=["a"]), "1 class not listed in classes: 'b'"),
        (lambda: soft_labels(["a", "b"], classes=["a", "b", "a"]), "twice"),
        (lambda: soft_labels([[0.2, 0.8]], classes=["a"]), "names 1 classes, but the table has 2"),
        (lambda: soft_labels([[0.2, 0.7]]), "sum to 0.9"),
        (lambda: soft_labels([[0.0, 0.0], [0.5, 0.5]], normalize=True), "labels sums to 0 in row 0"),
        (lambda: soft_labels(["a", "b"], combine="vote"), "combine='vote'"),
        (lambda: soft_labels([{"a"}, {"b"}], confidence=[0.5, 0.5]), "confidence needs one class per row"),
        (lambda: soft_labels([[-0.2, -0.4], [0.2, 0.2]], normalize=True), "labels has negative .* in row 0"),
        (
            lambda: soft_labels([[0.2, np.nan], [0.5, 0.5]], normalize=True),
            "labels has negative or missing values in row 0",
        ),
        (lambda: soft_labels([{"a"}, {1}]), "mixes types"),
    ],
)
def test_bad_soft_labels(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_soft_labels_are_iterated_and_sliced_by_rows():
    soft = soft_labels(["a", "b", "a"], confidence=[0.9, 0.8, 0.7])
    assert len(list(soft)) == 3
    np.testing.assert_array_equal(list(soft)[1], soft.memberships[1])
    for index in (0, (slice(2), 1)):
        with pytest.raises(TypeError, match="indexed by rows"):
            soft[index]
    assert soft[np.array([0, 2]), ...].shape == (2, 2)


def test_reading_soft_labels_leaves_their_class_names_writable():
    names = np.array(["x", "y"])
    dubio.weighted_laplacian_score(np.eye(3), SoftLabels(np.array([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]]), names))
    names[0] = "z"


def test_minus_one_among_candidate_sets_is_unlabelled():
    soft = soft_labels([{0, 1}, {0}, -1])
    assert list(soft.classes) == [0, 1] and np.isnan(soft.memberships[2]).all()


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_small_integers_with_a_wide_range(dtype):
    top = np.iinfo(dtype).max
    assert list(read_supervision(np.array([-top, top, top], dtype=dtype), 3).codes) == [0, 1, 1]


def test_one_column_frames_are_labels_not_probabilities():
    with pytest.warns(DataConversionWarning):
        assert list(read_supervision(pd.DataFrame({"y": ["b", "a", "b"]}), 3).codes) == [1, 0, 1]


def test_a_weight_that_leaves_one_class_is_refused():
    y = np.arange(6) % 2
    with pytest.raises(ValueError, match="sample_weight leaves only one class"):
        dubio.FisherScore().fit(np.random.default_rng(0).normal(size=(6, 2)), y, sample_weight=y == 0)


# --- simulators ------------------------------------------------------------------------------------------------


def test_old_names_of_the_unsure_annotator_still_work():
    with pytest.warns(DeprecationWarning, match="unsure_expert is now dubio.simulate.unsure_annotator"):
        assert simulators.unsure_expert is unsure_annotator
    with pytest.raises(AttributeError, match="no attribute 'sure_expert'"):
        getattr(simulators, "sure_expert")  # noqa: B009


def test_unsure_annotator_has_the_stated_mean_and_variance():
    y = np.repeat([0, 1, 2], 20_000)
    expert = unsure_annotator(y, 0.3, random_state=0)
    P = expert.memberships.memberships
    doubt = 1 - P[np.arange(len(y)), y]
    assert abs(doubt.mean() - 0.3) < 0.005 and abs(doubt.var() - 0.1) < 0.002
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert ((P > 0).sum(axis=1) <= 2).all()
    np.testing.assert_array_equal(expert.y_max, P.argmax(axis=1))
    # a label is switched with probability beta, so as often as the mean doubt, and only to the class that has it
    assert abs((expert.y_error != y).mean() - 0.3) < 0.01
    assert (P[np.arange(len(y)), expert.y_error] > 0).all()


@given(rate=st.floats(0, 1), n=st.integers(2, 60), seed=st.integers(0, 100))
def test_flips_have_the_exact_rate(rate, n, seed):
    y = np.arange(n) % 3 if n > 2 else np.array([0, 1])
    assert (flip_labels(y, rate, random_state=seed) != y).sum() == round(rate * n)


def test_flips_by_matrix():
    y = np.repeat(["a", "b"], 20_000)
    flipped = flip_labels_by_matrix(y, [[0.9, 0.1], [0.4, 0.6]], random_state=0)
    assert abs((flipped[:20_000] == "b").mean() - 0.1) < 0.01
    assert abs((flipped[20_000:] == "a").mean() - 0.4) < 0.015


def test_hidden_labels():
    y = np.repeat([0, 1, 2], [50, 45, 5])
    hidden = hide_labels(y, 0.9, min_per_class=2, random_state=0)
    s = read_supervision(hidden, 100)
    assert s.n_labelled == 10
    assert (s.memberships.sum(axis=0) >= 2).all()
    numbers = hide_labels(np.linspace(0, 1, 50), 0.5, random_state=0)
    assert np.isnan(numbers).sum() == 25


@pytest.mark.parametrize("wanted", [(5, 7), (40, 60), (0, 3)])
def test_pairs_from_labels(wanted):
    y = np.array(list("aaaaabbbbbccccc") * 2)
    pairs = pairs_from_labels(y, n_must_link=wanted[0], n_cannot_link=wanted[1], random_state=0)
    must, cannot = pairs.must_link, pairs.cannot_link
    assert must.shape == (wanted[0], 2) and cannot.shape == (wanted[1], 2)
    assert (y[must[:, 0]] == y[must[:, 1]]).all() and (y[cannot[:, 0]] != y[cannot[:, 1]]).all()
    for drawn in (must, cannot):
        assert len({tuple(pair) for pair in drawn.tolist()}) == len(drawn)
        assert (drawn[:, 0] < drawn[:, 1]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unsure_annotator([0, 1], 0.0), "mean=0.0"),
        (lambda: unsure_annotator([0, 1], 0.3, variance=0.3), "variance=0.3"),
        (lambda: unsure_annotator([1, 1], 0.3), "only one class"),
        (lambda: flip_labels([0, 1], 1.5), "rate=1.5"),
        (lambda: flip_labels_by_matrix([0, 1], np.eye(3)), r"shape \(3, 3\), but y has 2"),
        (lambda: flip_labels_by_matrix([0, 1], [[0.5, 0.6], [0, 1]]), "sum to 1"),
        (lambda: hide_labels([0, 1], 2.0), "share=2.0"),
        (lambda: hide_labels([0, 1, 0, 1], 0.9, min_per_class=2), "hide at most 0"),
        (lambda: pairs_from_labels([0, 1, 1], n_must_link=2), "n_must_link=2: give a number from 0 to 1"),
    ],
)
def test_bad_simulations(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "simulate",
    [
        lambda y, seed: unsure_annotator(y, random_state=seed).y_error,
        lambda y, seed: flip_labels(y, 0.3, random_state=seed),
        lambda y, seed: flip_labels_by_matrix(y, [[0.5, 0.5], [0.5, 0.5]], random_state=seed),
        lambda y, seed: hide_labels(y, 0.5, random_state=seed),
        lambda y, seed: pairs_from_labels(y, n_must_link=5, n_cannot_link=5, random_state=seed).must_link,
    ],
)
def test_seeds(simulate):
    y = np.arange(40) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(simulate(y, 1), simulate(y, 1))
    assert (np.asarray(simulate(y, 1)) != np.asarray(simulate(y, 2))).any()
