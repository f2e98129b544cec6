"""Weights of rows: a common factor changes nothing, 0 leaves a row out, and in tests weights move with the target."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

from dubio import FeatureSelector, FisherScore, LinearR2Score, LinearSearch, NeighborSearch, SmoothR2Score, audit_labels
from dubio.doubt.experts import fit_weighted, rows_in_proportion
from dubio.doubt.random_trees import RandomTrees
from dubio.errors import InputError, NoFeatureStandsOut
from dubio.evidence.evidence import Evidence
from dubio.evidence.permutation import feature_moments, permutation_moments
from dubio.evidence.relations import linear_pvalues, linear_r2, sandwich_pvalues, smooth_null, smooth_r2
from dubio.evidence.relevance import relevance_of
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.losses import NeighborLoss
from dubio.problem import read_problem
from dubio.table.matrix import columns_of_sizes
from tests import naive


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def table(seed, n=150, d=6):
    """Two features tell the classes; weights differ a lot."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d))
    X[:, :2] += 0.9 * y[:, None]
    return X, y, rng.exponential(size=n) + 0.05


# --- against literal versions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(6), 4)])
@pytest.mark.parametrize("balanced", [True, False])
def test_losses_of_neighbours(groups, balanced, rng):
    X, P, y = rng.normal(size=(24, 3)), rng.dirichlet([1, 1, 1], size=24), rng.normal(size=24)
    w = rng.exponential(size=24)
    w /= w.mean()
    entropy = NeighborLoss(SubsetDistances(X, groups=groups), [P], n_neighbors=5, balanced=balanced, weights=w)
    error = NeighborLoss(SubsetDistances(X, groups=groups), [y], n_neighbors=5, weights=w)
    for subset in ([1], [0, 2]):
        literal = naive.neighbor_cross_entropy(X[:, subset], P, 5, balanced, groups, w)
        assert_allclose(entropy.start(np.array(subset)), literal, rtol=1e-9)
        assert_allclose(error.start(np.array(subset)), naive.neighbor_squared_error(X[:, subset], y, 5, groups, w))
    means = [np.average(np.delete(y, i), weights=np.delete(w, i)) for i in range(24)]
    assert_allclose(error.value_of_nothing, np.average((y - means) ** 2, weights=w))


@pytest.mark.parametrize("spread", [1.0, 6.0])
def test_smooth_r2_with_weights(spread, rng):
    n = 70
    X, y = rng.normal(size=(n, 4)), rng.normal(size=n)
    w = np.exp(spread * rng.normal(size=n))
    scores = smooth_r2(Evidence.of(read_problem(X, y, target="numbers", sample_weight=w)))
    assert_allclose(scores, [naive.smooth_r2_score(x, y[:, None], w) for x in X.T], rtol=1e-7, atol=1e-9)


def test_the_linear_test_has_exact_moments(rng):
    n = 7
    x, codes, w = rng.normal(size=n) ** 3, np.array([0, 0, 1, 1, 1, 2, 2]), rng.exponential(size=n)
    problem = read_problem(x[:, None], codes, sample_weight=w)
    scores, basis = linear_r2(Evidence.of(problem), tested=True)
    T = np.eye(3)[codes]
    assert_allclose(scores[0], naive.weighted_covariance_r2(x, T, w))
    literal = [
        naive.weighted_covariance_r2(x, T[list(order)], w[list(order)]) for order in itertools.permutations(range(n))
    ]
    second, fourth, _ = feature_moments(problem.X, None)
    rank, leverage = basis.shape[1], (basis**2).sum(axis=1)
    mean, variance = permutation_moments(second, fourth, n, rank, float((leverage**2).sum()), rank)
    assert_allclose(mean / (n * second), np.mean(literal))
    assert_allclose(variance / (n * second) ** 2, np.var(literal))


@pytest.mark.parametrize("score", [LinearR2Score(), FisherScore(), LinearSearch(ridge=0.01)])
def test_whole_weights_are_repeated_rows(score, rng):
    X, y, _ = table(0, 60)
    w = rng.integers(0, 4, 60)
    rows = np.repeat(np.arange(60), w)
    first, second = sklearn.clone(score).fit(X, y, sample_weight=w), sklearn.clone(score).fit(X[rows], y[rows])
    assert_array_equal(first.ranking_, second.ranking_)
    if hasattr(first, "scores_"):
        assert_allclose(first.scores_, second.scores_, rtol=1e-9)


def test_trees_with_weights_are_those_of_scikit_learn(rng):
    X, y, w = table(1, 90)
    ours = RandomTrees(20, min_samples_leaf=2, random_state=3).fit(X, y, sample_weight=w)
    theirs = ExtraTreesClassifier(20, min_samples_leaf=2, random_state=3).fit(X, y, sample_weight=w)
    assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


def test_rows_are_drawn_in_proportion(rng):
    w, codes = rng.exponential(size=200), rng.integers(0, 3, 200)
    w[codes == 2] *= 1e-4
    rows = rows_in_proportion(w, codes, 0)
    expected = 200 * w / w.sum()
    counts = np.bincount(rows, minlength=200)
    large = codes != 2
    assert (np.abs(counts - expected)[large] < 1.1).all()
    assert counts[codes == 2].sum() == 2  # a class does not vanish

    class Neighbours:
        def fit(self, X, y):
            self.seen = X
            return self

    model = fit_weighted(Neighbours(), np.arange(200.0)[:, None], codes, w, 0)
    assert_array_equal(model.seen[:, 0], rows)


# --- laws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1e-300, 1e300, 3.0])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_common_factor_changes_nothing(factor, kind):
    X, y, w = table(2, 120, 4)
    w = np.clip(w, 0.01, 10)  # 1e300 times more is still a number
    target = y if kind == "classes" else y + 0.3 * X[:, 2]
    first = FeatureSelector().fit(X, target, sample_weight=w)
    second = FeatureSelector().fit(X, target, sample_weight=factor * w)
    assert_array_equal(first.ranking_, second.ranking_)
    assert_allclose(first.pvalues_, second.pvalues_, rtol=1e-6)
    assert_array_equal(first.support_, second.support_)


@pytest.mark.parametrize("method", ["auto", "linear_search", "linear_r2", "smooth_r2", "mean_rank", "fisher"])
@pytest.mark.parametrize("with_groups", [False, True])
def test_a_weight_of_zero_leaves_a_row_out(method, with_groups, rng):
    X, y, w = table(3, 140, 5)
    out = rng.random(140) < 0.3
    X[out] += 20 * rng.normal(size=(out.sum(), 5))
    groups = np.arange(140) // 2 if with_groups else None
    wish = "relevant" if method != "fisher" else 2
    first = FeatureSelector(method, n_features_to_select=wish).fit(
        X, y, sample_weight=np.where(out, 0.0, w), groups=groups
    )
    second = FeatureSelector(method, n_features_to_select=wish).fit(
        X[~out], y[~out], sample_weight=w[~out], groups=None if groups is None else groups[~out]
    )
    assert_array_equal(first.ranking_, second.ranking_)
    assert_array_equal(first.support_, second.support_)
    assert_allclose(first.scores_, second.scores_, rtol=1e-9)
    if hasattr(first, "pvalues_"):
        assert_allclose(first.pvalues_, second.pvalues_, rtol=1e-9)


def test_equal_weights_are_no_weights():
    X, y, _ = table(4, 120, 5)
    first, second = FeatureSelector().fit(X, y), FeatureSelector().fit(X, y, sample_weight=np.full(120, 7.0))
    assert_array_equal(first.pvalues_, second.pvalues_)
    assert_array_equal(first.ranking_, second.ranking_)


def test_weights_of_an_audit():
    X, y, w = table(5, 150, 4)
    first = audit_labels(X, y, sample_weight=w)
    assert_allclose(first.probabilities, audit_labels(X, y, sample_weight=1e-300 * w).probabilities, rtol=1e-6)
    assert not np.allclose(first.probabilities, audit_labels(X, y).probabilities)
    out = np.arange(150) % 4 == 0
    without = audit_labels(X, y, sample_weight=np.where(out, 0.0, w))
    assert_allclose(without.probabilities[~out], audit_labels(X[~out], y[~out], sample_weight=w[~out]).probabilities)
    assert not without.labelled[out].any()
    equal = audit_labels(X, y, sample_weight=np.full(150, 0.3))
    assert_array_equal(equal.probabilities, audit_labels(X, y).probabilities)


def test_rows_that_cannot_be_trusted_get_little_weight(rng):
    """Half of the rows have shuffled labels: with small weights for them, the ranking is that of the others."""
    X, y, _ = table(6, 300, 10)
    X[:, 5] += 2.0 * (np.arange(300) < 150) * rng.permutation(y)
    bad = np.arange(300) >= 150
    y = np.where(bad, (X[:, 7] > 0).astype(int), y)  # another feature decides these labels
    plain = FeatureSelector().fit(X, y)
    weighed = FeatureSelector().fit(X, y, sample_weight=np.where(bad, 1e-3, 1.0))
    assert plain.ranking_[7] == 1
    assert weighed.ranking_[7] > 2
    assert set(np.argsort(weighed.ranking_)[:2]) == {0, 1}
    assert "Rows have different weights" in weighed.explanation_


@pytest.mark.parametrize("kind", ["missing", "soft", "numbers"])
def test_every_kind_of_target(kind, rng):
    X, y, w = table(7, 160, 5)
    if kind == "missing":
        target = np.where(rng.random(160) < 0.6, y, -1)
    elif kind == "soft":
        target = np.column_stack([0.8 - 0.6 * y, 0.2 + 0.6 * y])
    else:
        target = y + 0.1 * rng.normal(size=160)
    selector = FeatureSelector().fit(X, target, sample_weight=w)
    assert {0, 1} & set(selector.get_support(indices=True))
    assert set(np.argsort(selector.ranking_)[:2]) <= {0, 1, *selector.get_support(indices=True)}


# --- the tests hold their level ------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [1, 3])
def test_pvalues_are_those_of_chance_if_weights_depend_on_the_target(power):
    pvalues, smooth = [], []
    for seed in range(40):
        rng = np.random.default_rng([seed, 8])
        y = rng.integers(0, 2, 60)
        w = np.where(y == 1, 5.0, 1.0) * rng.exponential(size=60)
        evidence = Evidence.of(read_problem(rng.normal(size=(60, 10)) ** power, y, sample_weight=w))
        pvalues.append(linear_pvalues(evidence))
        null = np.sort(smooth_null(evidence, 300, random_state=seed))
        smooth.append(1 - np.searchsorted(null, smooth_r2(evidence)) / len(null))
    for found, is_exact in ((np.concatenate(pvalues), power == 1), (np.concatenate(smooth), True)):
        assert np.mean(found <= 0.05) < 0.085
        if is_exact:  # with heavy tails, the sandwich form is careful
            assert np.mean(found <= 0.05) > 0.015
            assert abs(np.median(found) - 0.5) < 0.1


@pytest.mark.parametrize("n_columns", [1, 3, 40])
def test_the_sandwich_is_the_literal_one(n_columns, rng):
    x, codes, w = rng.normal(size=(30, n_columns)), np.arange(30) % 3, rng.exponential(size=30)
    problem = read_problem(x, codes, sample_weight=w)
    evidence = replace(Evidence.of(problem), layout=columns_of_sizes([n_columns]))
    basis = linear_r2(evidence, tested=True)[1]
    literal = naive.sandwich_pvalue(x, np.eye(3)[codes], evidence.weights)
    assert_allclose(sandwich_pvalues(evidence, basis), [literal], rtol=1e-9)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_weights_that_depend_on_a_column_make_no_false_feature(kind):
    """Without the sandwich form, 30 % of these p-values are below 5 %."""
    pvalues = []
    for seed in range(150):
        rng = np.random.default_rng([seed, 12])
        X = rng.normal(size=(100, 3))
        y = rng.normal(size=100) if kind == "numbers" else rng.integers(0, 2, 100)
        weighted = read_problem(X, y, target=kind, sample_weight=np.exp(np.abs(X[:, 0])))
        pvalues.append(linear_pvalues(Evidence.of(weighted)))
    own, *others = (np.array(pvalues) <= 0.05).mean(axis=0)
    assert own < 0.12  # four standard errors above 5 %
    assert 0.005 < np.mean(others) < 0.1


def test_what_the_tests_assume_of_weights_is_said():
    X, y, w = table(2)
    said = [
        FeatureSelector(method, n_features_to_select=count).fit(X, y, sample_weight=w).explanation_
        for method, count in (("linear_r2", "auto"), ("fisher", "auto"), ("fisher", 2))
    ]
    assert "the tests hold even if these depend on a column" in said[0]
    assert "the tests of this method assume that these depend on no column" in said[1]
    assert "different weights" in said[2] and "column" not in said[2].split("different weights")[1].split(".")[0]


def test_noise_is_rarely_kept():
    kept = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        for seed in range(12):
            rng = np.random.default_rng([seed, 9])
            w = rng.exponential(size=80)
            found = relevance_of(read_problem(rng.normal(size=(80, 10)), rng.integers(0, 2, 80), sample_weight=w))
            kept += found.relevant.any()
    assert kept <= 2


# --- scikit-learn, and what is refused -----------------------------------------------------------------------------


def test_weights_are_routed_through_a_pipeline():
    X, y, w = table(0, 120, 5)
    with sklearn.config_context(enable_metadata_routing=True):
        search = NeighborSearch(n_features_to_select=2, clean=None).set_fit_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=True)
        judge = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        pipe = make_pipeline(search, model)
        found = cross_validate(
            pipe, X, y, cv=3, scoring=judge, params={"sample_weight": w}, error_score="raise", return_estimator=True
        )
        plain = cross_validate(pipe, X, y, cv=3, params={}, return_estimator=True)
    assert found["test_score"].mean() > 0.6
    values = [[fitted[0].values_ for fitted in run["estimator"]] for run in (found, plain)]
    assert values[0] != values[1]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.r_[np.zeros(20), 1.0], "zero on every labelled row"),
        (np.r_[np.ones(10), np.zeros(11)], "leaves only one class"),
    ],
)
def test_weights_that_leave_nothing_are_refused(weights, words, rng):
    X, y = rng.normal(size=(21, 3)), np.r_[np.repeat([0, 1], 10), -1]
    for selector in (FeatureSelector(), NeighborSearch()):
        with pytest.raises(InputError, match=words):
            selector.fit(X, y, sample_weight=weights)


def test_a_method_without_weights_says_so(rng):
    X, y = rng.normal(size=(20, 3)), np.repeat([0, 1], 10)
    with pytest.raises(InputError, match="cannot be used by 'relieff': leave it out, or use one of"):
        FeatureSelector("relieff").fit(X, y, sample_weight=np.arange(20.0))
    with pytest.raises(InputError, match="none are trained here"):
        audit_labels(X, y, engine="lnt", sample_weight=np.ones(20))
    with pytest.raises(ValueError, match="negative"):
        FeatureSelector().fit(X, y, sample_weight=-np.ones(20))
    assert SmoothR2Score().fit(X, y, sample_weight=np.arange(1.0, 21)).ranking_ is not None
