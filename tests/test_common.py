"""What must hold for every estimator: scikit-learn's own checks and ours."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import dubio

#: One instance of each estimator; a new estimator is added here and nowhere else.
ESTIMATORS = [
    dubio.LaplacianScore(),
    dubio.SupervisedLaplacianScore(),
    dubio.SemiSupervisedLaplacianScore(n_neighbors=5),
    dubio.WeightedLaplacianScore(),
    dubio.FisherScore(),
    dubio.FeatureSelector("mean_rank"),  # quick; what "auto" chooses has tests of its own
    dubio.MeanRankScore(),
    dubio.SmoothR2Score(),
    dubio.LinearR2Score(),
    dubio.SoftReliefScore(),
    dubio.ReliefFScore(),
    dubio.ConstraintScore(),
    dubio.ConstrainedLaplacianScore(),
    dubio.FuzzyRoughSearch(),
    dubio.MutualInformationSearch(n_init=2, random_state=0),
    dubio.MutualInformationRanking(n_init=2, random_state=0),
    dubio.NeighborSearch(clean=None),
    dubio.NeighborSearch(target="numbers"),
    dubio.LinearSearch(),
    dubio.LinearSearch(target="numbers"),
]


def _no_repeats(estimator):
    """Methods for which a weight is not a repeated row: copies of a row would be its nearest rows, and new evidence."""
    if not isinstance(estimator, dubio.FeatureSelector | dubio.NeighborSearch | dubio.SmoothR2Score):
        return {}
    reason = "a row of weight 2 is one piece of evidence, two equal rows are two"
    kinds = ("dense", "sparse") if estimator._takes_sparse else ("dense",)
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_no_repeats)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def _reads(estimator):
    """What a 1-D y is read as: none, classes, numbers or auto."""
    return getattr(estimator, "target", estimator._target)


def _target(estimator, n, rng):
    """A target of the kind the estimator takes, none, classes or numbers."""
    kind = _reads(estimator)
    if kind == "none":
        return None
    return rng.normal(size=n) if kind == "numbers" else rng.integers(0, 3, size=n)


@pytest.fixture(params=ESTIMATORS, ids=lambda e: type(e).__name__)
def case(request):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 6)) * [1, 10, 0.1, 5, 2, 1] + [0, 5, -3, 100, 1, 0]
    return clone(request.param), X, _target(request.param, 60, rng)


def _result(estimator):
    return estimator.scores_ if hasattr(estimator, "scores_") else estimator.ranking_


def test_row_order_does_not_matter(case):
    estimator, X, y = case
    order = np.random.default_rng(1).permutation(len(X))
    there = clone(estimator).fit(X, y)
    back = clone(estimator).fit(X[order], None if y is None else y[order])
    np.testing.assert_allclose(_result(there), _result(back), rtol=1e-9)


def test_class_names_do_not_matter(case):
    estimator, X, y = case
    if _reads(estimator) in ("none", "numbers"):
        pytest.skip("takes no classes")
    # names whose alphabetical order is that of the numbers, so that columns keep their places
    named = np.asarray(["ant", "bee", "cat"], dtype=object)[y]
    np.testing.assert_array_equal(_result(clone(estimator).fit(X, y)), _result(clone(estimator).fit(X, named)))


def test_hard_labels_equal_one_hot(case):
    estimator, X, y = case
    if _reads(estimator) in ("none", "numbers") or "soft" not in estimator._takes:
        pytest.skip("takes no soft labels")
    if "label_noise" in estimator.get_params():  # hard labels are doubted there, probabilities are not
        estimator = clone(estimator).set_params(label_noise=False)
    np.testing.assert_allclose(
        _result(clone(estimator).fit(X, y)), _result(clone(estimator).fit(X, np.eye(3)[y])), rtol=1e-12
    )


def test_unlabelled_rows_are_not_a_class(case):
    """What every peer gets wrong: labels replaced by -1, None or NaN are all 'unlabelled', and say the same."""
    estimator, X, y = case
    if _reads(estimator) in ("none", "numbers"):
        pytest.skip("takes no missing classes")
    hidden = np.arange(len(y)) % 3 == 0
    minus = np.where(hidden, -1, y)
    none = y.astype(object)
    none[hidden] = None
    nan = np.where(hidden, np.nan, y)
    results = [_result(clone(estimator).fit(X, labels)) for labels in (minus, none, nan, pd.array(none, "Int64"))]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_missing_numbers_are_accepted(case):
    estimator, X, y = case
    if _reads(estimator) != "numbers":
        pytest.skip("takes no numbers")
    y = y.copy()
    y[::4] = np.nan
    fitted = estimator.fit(X, y)
    assert fitted.n_unlabelled_ == 15
    assert not np.isnan(_result(fitted)).any()


def test_input_is_untouched_and_may_be_read_only(case):
    estimator, X, y = case
    for order in "CF":
        table = np.array(X, order=order)
        before = table.copy()
        table.setflags(write=False)
        target = None if y is None else y.copy()
        if target is not None:
            target.setflags(write=False)
        clone(estimator).fit(table, target)
        np.testing.assert_array_equal(table, before)


def test_memory_layout_and_precision(case):
    estimator, X, y = case
    reference = _result(clone(estimator).fit(X, y))
    np.testing.assert_allclose(_result(clone(estimator).fit(np.asfortranarray(X), y)), reference, rtol=1e-9)
    exact32 = X.astype(np.float32)  # the same numbers in both precisions
    np.testing.assert_allclose(
        _result(clone(estimator).fit(exact32, y)),
        _result(clone(estimator).fit(exact32.astype(np.float64), y)),
        rtol=1e-3,  # distances are standardised in the table's own precision
    )


def test_constant_feature_is_worst_and_never_nan(case):
    estimator, X, y = case
    X = X.copy()
    X[:, 2] = 2.0
    fitted = clone(estimator).set_params(n_features_to_select=5).fit(X, y)
    assert not np.isnan(_result(fitted)).any()
    assert fitted.ranking_[2] == fitted.ranking_.max()
    assert not fitted.support_[2]


def test_n_jobs_gives_the_same(case):
    estimator, X, y = case
    if "n_jobs" not in estimator.get_params():
        pytest.skip("has no n_jobs")
    one = clone(estimator).set_params(n_jobs=1).fit(X, y)
    two = clone(estimator).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(_result(one), _result(two))


def test_pickle_and_clone(case):
    estimator, X, y = case
    fitted = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    assert clone(fitted).get_params() == estimator.get_params()


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_names_in_and_out(case, container):
    estimator, X, y = case
    names = [f"f{j}" for j in range(6)]
    frame = pd.DataFrame(X, columns=names)
    if container == "polars":
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    fitted = clone(estimator).set_output(transform=container).fit(frame, y)
    out = fitted.transform(frame)
    assert list(out.columns) == list(fitted.get_feature_names_out())
    assert set(out.columns) == {names[j] for j in np.flatnonzero(fitted.support_)}
    ranking = fitted.to_ranking()
    assert list(ranking.names) == names
    assert ranking.to_frame()["rank"].tolist() == sorted(ranking.ranking.tolist())


def test_in_a_pipeline(case):
    estimator, X, y = case
    pipe = make_pipeline(sklearn.preprocessing.StandardScaler(), clone(estimator))
    assert pipe.fit(X, y).transform(X).shape == (60, pipe[-1].n_features_)


def test_sample_weight_is_routed(case):
    estimator, X, y = case
    if not hasattr(estimator, "set_fit_request"):
        pytest.skip("takes no metadata")
    with sklearn.config_context(enable_metadata_routing=True):
        if "sample_weight" not in estimator.get_metadata_routing().fit.requests:
            pytest.skip("takes no sample_weight")
        weights = np.arange(60) % 2.0
        pipe = make_pipeline(
            sklearn.preprocessing.StandardScaler().set_fit_request(sample_weight=False),
            clone(estimator).set_fit_request(sample_weight=True),
        )
        pipe.fit(X, y, sample_weight=weights)
        half = clone(estimator).fit(X[1::2], y[1::2])
        np.testing.assert_allclose(_result(pipe[-1]), _result(half), rtol=1e-9)


@pytest.mark.parametrize(
    ("value", "kept"), [(None, 3), (2, 2), (0.5, 3), (1.0, 6), (1, 1), (np.int64(4), 4), (0.01, 1), (0.67, 4)]
)
def test_how_many_are_kept(case, value, kept):
    estimator, X, y = case
    fitted = clone(estimator).set_params(n_features_to_select=value).fit(X, y)
    assert fitted.support_.sum() == fitted.n_features_ == kept


@pytest.mark.parametrize("value", [0, -1, 7, 1.5, "many", 0.0])
def test_impossible_counts_are_refused(case, value):
    estimator, X, y = case
    with pytest.raises(ValueError, match="n_features_to_select"):
        clone(estimator).set_params(n_features_to_select=value).fit(X, y)


def test_text_columns_are_named(case):
    estimator, X, y = case
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(name="x")
    if estimator._takes_nan:
        pytest.skip("takes nominal columns")
    with pytest.raises(ValueError, match=r"1 column that is not numeric: 'name'"):
        clone(estimator).fit(frame, y)


def test_nan_is_located_by_column_name(case):
    estimator, X, y = case
    if estimator._takes_nan:
        pytest.skip("takes NaN")
    frame = pd.DataFrame(X.copy(), columns=list("abcdef"))
    frame.loc[[5, 9], "c"] = np.nan
    with pytest.raises(ValueError, match=r"NaN in 2 rows of column 'c' \(position 2\), first in row 5"):
        clone(estimator).fit(frame, y)
    frame.loc[0, ["e", "f"]] = np.nan
    with pytest.raises(
        ValueError, match=r"2 more columns also contain it: 'e', 'f': fill .*SimpleImputer.*FeatureSelector"
    ):
        clone(estimator).fit(frame, y)
    frame = pd.DataFrame(X.copy(), columns=list("abcdef"))
    frame["c"] = np.where(frame.index == 11, np.inf, 0.0)
    with pytest.raises(ValueError, match=r"infinity in 1 row of column 'c'.*first in row 11"):
        clone(estimator).fit(frame, y)


def test_columns_of_the_same_name_are_refused(case):
    estimator, X, y = case
    frame = pd.DataFrame(X, columns=list("abcabf"))
    with pytest.raises(ValueError, match=r"X has columns with the same name: 'a' \(2 columns\), 'b' \(2 columns\)"):
        clone(estimator).fit(frame, y)


def test_transform_before_fit_says_only_that(case):
    estimator, X, _ = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NotFittedError):
            clone(estimator).transform(pd.DataFrame(X, columns=list("abcdef")))


def test_rows_of_y_must_match(case):
    estimator, X, y = case
    if y is None:
        pytest.skip("y is ignored")
    with pytest.raises(ValueError, match="y has 59 rows and X has 60"):
        clone(estimator).fit(X, y[:-1])


def test_an_empty_table_is_refused(case):
    estimator = case[0]
    with pytest.raises(ValueError, match=r"0 sample|0 feature"):
        clone(estimator).fit(np.empty((0, 3)), [])
