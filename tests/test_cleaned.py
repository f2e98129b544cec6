"""Any selector on cleaned labels, and the simulators of wrong labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from dubio import CleanedSelector, FisherScore, NeighborSearch, SmoothR2Score, WeightedLaplacianScore
from dubio.simulate import flip_labels, flip_labels_near_border, flip_labels_to_next


@parametrize_with_checks(
    [
        CleanedSelector(FisherScore(), experts=GaussianNB(), n_folds=2),
        CleanedSelector(SelectKBest(k=1), clean="pooled", experts=GaussianNB(), n_folds=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def noisy_problem():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 5))
    X[:, 3] += 3 * y
    X[:, 1] += 2 * y
    return X, y, flip_labels(y, 0.2, random_state=0)


def test_scores_come_near_those_of_clean_labels(noisy_problem):
    X, y, noisy = noisy_problem
    clean = SelectKBest().set_params(k=2).fit(X, y).scores_
    plain = SelectKBest(k=2).fit(X, noisy).scores_
    cleaned = CleanedSelector(SelectKBest(k=2)).fit(X, noisy)
    gap = np.abs(cleaned.selector_.scores_ - clean)[[1, 3]]
    assert (gap < np.abs(plain - clean)[[1, 3]]).all()
    assert cleaned.get_support().tolist() == [False, True, False, True, False]
    assert cleaned.transform(X).shape == (200, 2)


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(k=2),
        RFE(LogisticRegression(), n_features_to_select=2),
        SelectFromModel(RandomForestClassifier(20, random_state=0), max_features=2),
        FisherScore(n_features_to_select=2),
        NeighborSearch(n_features_to_select=2, clean=None),
    ],
    ids=lambda s: type(s).__name__,
)
def test_every_kind_of_selector_profits(noisy_problem, selector):
    X, _, noisy = noisy_problem
    fitted = CleanedSelector(selector, experts=GaussianNB()).fit(X, noisy)
    assert np.flatnonzero(fitted.support_).tolist() == [1, 3]
    np.testing.assert_array_equal(fitted.ranking_ == 1, getattr(fitted.selector_, "ranking_", fitted.ranking_) == 1)
    assert not hasattr(selector, "n_features_in_"), "the selector given was fitted itself"


def test_dropped_labels_equal_dropped_rows(noisy_problem):
    X, _, noisy = noisy_problem
    fitted = CleanedSelector(FisherScore(), experts=GaussianNB()).fit(X, noisy)
    assert 20 < (~fitted.trusted_).sum() < 80
    by_hand = FisherScore().fit(X[fitted.trusted_], noisy[fitted.trusted_])
    np.testing.assert_allclose(fitted.selector_.scores_, by_hand.scores_)


def test_softened_labels_are_the_posteriors(noisy_problem):
    X, _, noisy = noisy_problem
    some = noisy.astype(object)
    some[::9] = None
    fitted = CleanedSelector(
        WeightedLaplacianScore(), clean="pooled", doubtful="soften", experts=GaussianNB(), missing_label=None
    ).fit(X, some)
    known = np.arange(200) % 9 != 0
    by_hand = WeightedLaplacianScore().fit(X[known], fitted.audit_.probabilities[known])
    np.testing.assert_allclose(fitted.selector_.scores_, by_hand.scores_)


def test_softening_needs_a_selector_that_takes_it(noisy_problem):
    X, _, noisy = noisy_problem
    with pytest.raises(ValueError, match="doubtful='soften' passes class probabilities on, but SelectKBest needs one"):
        CleanedSelector(SelectKBest(k=1), doubtful="soften").fit(X, noisy)
    with pytest.raises(ValueError, match="y cannot be used: the target holds class probabilities, and CleanedSelector"):
        CleanedSelector(FisherScore()).fit(X, np.eye(2)[noisy])


def test_a_class_is_never_cleaned_away():
    """Five rows of a rare class in the middle of another: all are doubted, and all are kept."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = np.repeat([0, 1], 50)
    X[y == 1, 0] += 6
    y[10:15] = 2
    fitted = CleanedSelector(FisherScore(), experts=GaussianNB(), clean="pooled").fit(X, y)
    if fitted.audit_.doubtful[10:15].sum() >= 4:
        assert fitted.trusted_[10:15].all()
    assert set(y[fitted.trusted_]) == {0, 1, 2}


# --- simulators


def test_flips_to_the_next_class():
    y = np.repeat(["a", "b", "c"], 20)
    flipped = flip_labels_to_next(y, 0.25, random_state=0)
    moved = flipped != y
    assert moved.sum() == 15
    assert {(old, new) for old, new in zip(y[moved], flipped[moved], strict=True)} <= {
        ("a", "b"),
        ("b", "c"),
        ("c", "a"),
    }


def test_flips_near_the_border_are_near_it_and_go_across():
    X = np.concatenate([np.arange(100.0), np.arange(200.0, 300.0), np.arange(301.0, 401.0)])[:, None]
    y = np.repeat([0, 1, 2], 100)
    flipped = flip_labels_near_border(X, y, 0.05, random_state=0)
    moved = np.flatnonzero(flipped != y)
    assert len(moved) == 15
    assert (np.abs(X[moved, 0] - 300) < 20).all(), "class 0 is far from the others"
    assert (flipped[moved] == 3 - y[moved]).all()
    assert (flip_labels_near_border(X, y, 0.05, random_state=0) == flipped).all()


def test_flips_of_duplicate_rows_and_lonely_classes():
    X = np.array([[0.0], [0.0], [0.0], [5.0]])
    flipped = flip_labels_near_border(X, [0, 0, 1, 2], 0.5, random_state=0)
    assert (flipped != [0, 0, 1, 2]).sum() == 2


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_impossible_rates_are_refused(rate):
    y = [0, 0, 1, 1]
    for flip in (
        lambda: flip_labels_to_next(y, rate),
        lambda: flip_labels_near_border(np.zeros((4, 1)), y, rate),
        lambda: flip_labels(y, rate),
    ):
        with pytest.raises(ValueError, match=rf"rate={rate}: give a number \(at least 0, at most 1\)"):
            flip()
    with pytest.raises(ValueError, match=r"X has shape \(3, 1\) and y has 4 rows"):
        flip_labels_near_border(np.zeros((3, 1)), y, 0.5)


def test_labels_handed_on_keep_their_meaning():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3 - 1  # -1 is a class here
    X = rng.normal(size=(150, 4)) + 3 * y[:, None] * [1, 0, 0, 0]
    fitted = CleanedSelector(FisherScore(), missing_label=None).fit(X, y)
    assert list(fitted.selector_.classes_) == [-1, 0, 1]
    many = np.arange(300) % 25  # so many whole numbers look like a numeric target
    wide = CleanedSelector(SmoothR2Score()).fit(rng.normal(size=(300, 4)), many)
    assert len(wide.selector_.classes_) == 25
