"""Models, folds and scores for targets in doubt."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dubio import InputError, LinearR2Score, WeightedLaplacianScore, soft_labels
from dubio.pipelines import (
    DoubtClassifier,
    DoubtRegressor,
    KnownFolds,
    evaluate_selection,
    expected_accuracy,
    known_r2,
    negative_expected_log_loss,
)

WINE, CLASSES = load_wine(return_X_y=True)


def hidden(y, share=0.7, seed=0):
    """Classes with a share of them missing."""
    y = y.astype(object)
    y[np.random.default_rng(seed).random(len(y)) < share] = None
    return y


# The checks use -1 as the name of a class.
@parametrize_with_checks([DoubtClassifier(GaussianNB(), missing_label=None), DoubtRegressor(Ridge())])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class TestModels:
    def test_complete_classes_give_the_model_itself(self):
        plain = GaussianNB().fit(WINE, CLASSES)
        wrapped = DoubtClassifier(GaussianNB()).fit(WINE, CLASSES)
        np.testing.assert_array_equal(plain.predict_proba(WINE), wrapped.predict_proba(WINE))
        assert not wrapped.uses_weights_

    def test_unlabelled_rows_are_left_out(self):
        y = hidden(CLASSES)
        known = np.array([label is not None for label in y])
        plain = GaussianNB().fit(WINE[known], CLASSES[known])
        wrapped = DoubtClassifier(GaussianNB()).fit(WINE, y)
        np.testing.assert_array_equal(plain.predict_proba(WINE), wrapped.predict_proba(WINE))
        assert wrapped.n_labelled_ == known.sum() and wrapped.n_completed_ == 0

    def test_minus_one_is_no_class(self):
        y = np.where(np.arange(len(CLASSES)) % 2, CLASSES, -1)
        assert DoubtClassifier(GaussianNB()).fit(WINE, y).classes_.tolist() == [0, 1, 2]
        assert DoubtClassifier(GaussianNB(), missing_label=None).fit(WINE, y).classes_.tolist() == [-1, 0, 1, 2]

    def test_probabilities_are_weighted_copies(self):
        P = 0.7 * np.eye(3)[CLASSES] + 0.1
        copies = GaussianNB().fit(np.repeat(WINE, 3, axis=0), np.tile([0, 1, 2], len(WINE)), sample_weight=P.ravel())
        wrapped = DoubtClassifier(GaussianNB()).fit(WINE, P)
        np.testing.assert_allclose(copies.predict_proba(WINE), wrapped.predict_proba(WINE), rtol=1e-9)

    def test_weights_reach_the_last_step_of_a_pipeline(self):
        P = 0.7 * np.eye(3)[CLASSES] + 0.1
        inner = make_pipeline(StandardScaler(), GaussianNB())
        assert DoubtClassifier(inner).fit(WINE, P).uses_weights_

    def test_a_model_without_weights_gets_the_likeliest_class(self):
        P = 0.7 * np.eye(3)[CLASSES] + 0.1
        wrapped = DoubtClassifier(KNeighborsClassifier()).fit(WINE, P)
        assert not wrapped.uses_weights_
        np.testing.assert_array_equal(wrapped.predict(WINE), KNeighborsClassifier().fit(WINE, CLASSES).predict(WINE))
        with pytest.raises(InputError, match="sample_weight"):
            wrapped.fit(WINE, P, sample_weight=np.ones(len(WINE)))

    def test_zero_weight_equals_a_missing_label(self):
        weights = (np.arange(len(WINE)) % 2).astype(float)
        weighted = DoubtClassifier(GaussianNB()).fit(WINE, CLASSES, sample_weight=weights)
        without = DoubtClassifier(GaussianNB()).fit(WINE, np.where(weights > 0, CLASSES, -1))
        np.testing.assert_allclose(weighted.predict_proba(WINE), without.predict_proba(WINE), rtol=1e-6)

    def test_completed_rows_help_a_model_with_few_labels(self):
        iris, classes = load_iris(return_X_y=True)
        y = hidden(classes, 0.92)
        completed = DoubtClassifier(LogisticRegression(max_iter=1000), unlabelled="complete").fit(iris, y)
        assert completed.n_completed_ == sum(label is None for label in y)
        assert completed.score(iris, classes) > 0.85

    def test_names_of_classes_come_back(self):
        names = np.array(["ant", "bee", "cat"])[CLASSES]
        assert set(DoubtClassifier(GaussianNB()).fit(WINE, hidden(names)).predict(WINE)) == {"ant", "bee", "cat"}
        labels = soft_labels(names, confidence=np.full(len(names), 0.8))
        assert set(DoubtClassifier(GaussianNB()).fit(WINE, labels).predict(WINE)) == {"ant", "bee", "cat"}

    def test_a_frame_stays_a_frame(self):
        frame = pd.DataFrame(WINE, columns=[f"c{j}" for j in range(WINE.shape[1])])
        wrapped = DoubtClassifier(GaussianNB()).fit(frame, hidden(CLASSES))
        assert wrapped.estimator_.feature_names_in_[0] == "c0"

    def test_numbers_are_left_out_or_completed(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(80, 3))
        truth = X[:, 0] + 100.0
        y = np.where(np.arange(80) % 4 == 0, truth, np.nan)
        known = ~np.isnan(y)
        plain = Ridge().fit(X[known], y[known])
        np.testing.assert_allclose(plain.coef_, DoubtRegressor(Ridge()).fit(X, y).estimator_.coef_)
        completed = DoubtRegressor(Ridge(), unlabelled="complete").fit(X, y)
        assert completed.n_completed_ == 60
        assert completed.score(X, truth) > 0.8

    @pytest.mark.parametrize(
        ("y", "words"), [(None, "y is None"), (np.ones(178, dtype=int), "class"), (np.full(178, -1), "label")]
    )
    def test_bad_targets_are_refused(self, y, words):
        with pytest.raises(ValueError, match=words):
            DoubtClassifier(GaussianNB()).fit(WINE, y)

    def test_no_number_is_refused(self):
        with pytest.raises(InputError, match="no number"):
            DoubtRegressor(Ridge()).fit(WINE, np.full(len(WINE), np.nan))


class TestFolds:
    def test_unlabelled_rows_only_train(self):
        y = hidden(CLASSES)
        unlabelled = np.flatnonzero([label is None for label in y])
        tested = []
        for train, test in KnownFolds(4).split(WINE, y):
            assert np.isin(unlabelled, train).all()
            assert not np.isin(test, train).any()
            tested.extend(test)
        assert sorted(tested) == np.setdiff1d(np.arange(len(y)), unlabelled).tolist()

    def test_groups_stay_whole(self):
        rng = np.random.default_rng(0)
        groups = rng.integers(0, 30, len(CLASSES))
        for train, test in KnownFolds(3).split(WINE, hidden(CLASSES, 0.4), groups):
            assert not np.isin(groups[train], groups[test]).any()

    def test_classes_keep_their_share(self):
        for _, test in KnownFolds(5).split(WINE, CLASSES):
            np.testing.assert_allclose(np.bincount(CLASSES[test]) / len(test), np.bincount(CLASSES) / 178, atol=0.05)

    def test_probabilities_and_numbers(self):
        assert len(list(KnownFolds(3).split(WINE, np.eye(3)[CLASSES] * 0.7 + 0.1))) == 3
        y = np.where(np.arange(178) % 2, WINE[:, 0], np.nan)
        assert sum(len(test) for _, test in KnownFolds(3).split(WINE, y)) == 89
        groups = np.arange(178) // 10
        for train, test in KnownFolds(3).split(WINE, y, groups):
            assert not np.isin(groups[train], groups[test]).any()

    @pytest.mark.parametrize(
        ("folds", "y", "groups", "words"),
        [
            (KnownFolds(1), CLASSES, None, "n_splits=1"),
            (KnownFolds(5), None, None, "y is None"),
            (KnownFolds(5), hidden(CLASSES, 0.99), None, "rows have a label"),
            (KnownFolds(5), CLASSES, np.arange(178) % 2, "groups have a label"),
            (KnownFolds(5), CLASSES, np.zeros(3), "but X has 178 rows"),
        ],
    )
    def test_what_cannot_be_split_is_refused(self, folds, y, groups, words):
        with pytest.raises(InputError, match=words):
            list(folds.split(WINE, y, groups))


class TestScores:
    def test_of_certain_classes_it_is_the_accuracy(self):
        model = GaussianNB().fit(WINE, CLASSES)
        assert expected_accuracy(model, WINE, CLASSES) == model.score(WINE, CLASSES)
        known = CLASSES.copy()
        known[::2] = -1
        assert expected_accuracy(model, WINE, known) == model.score(WINE[1::2], CLASSES[1::2])

    def test_of_probabilities_it_is_literal(self):
        rng = np.random.default_rng(0)
        P = rng.dirichlet([1, 1, 1], size=len(WINE))
        model = GaussianNB().fit(WINE, CLASSES)
        hits = [P[i, k] for i, k in enumerate(model.predict(WINE))]
        assert expected_accuracy(model, WINE, P) == pytest.approx(np.mean(hits))
        said = np.maximum(model.predict_proba(WINE), 1e-12)
        assert negative_expected_log_loss(model, WINE, P) == pytest.approx((P * np.log(said)).sum(axis=1).mean())

    def test_a_class_that_the_model_does_not_know_is_a_miss(self):
        model = GaussianNB().fit(WINE[CLASSES < 2], CLASSES[CLASSES < 2])
        assert expected_accuracy(model, WINE[CLASSES == 2], CLASSES[CLASSES == 2]) == 0.0
        assert negative_expected_log_loss(model, WINE, CLASSES) < -1.0

    def test_nothing_known_is_refused(self):
        with pytest.raises(InputError, match="no labelled row"):
            expected_accuracy(GaussianNB().fit(WINE, CLASSES), WINE, np.full(178, -1))
        with pytest.raises(InputError, match="no labelled row"):
            known_r2(Ridge().fit(WINE, CLASSES), WINE, np.full(178, np.nan))


class TestSearches:
    @pytest.mark.parametrize("load", [load_wine, load_iris])
    def test_a_pipeline_in_a_grid_search(self, load):
        X, classes = load(return_X_y=True)
        P = 0.7 * np.eye(3)[classes] + 0.1
        model = make_pipeline(WeightedLaplacianScore(), StandardScaler(), DoubtClassifier(GaussianNB()))
        grid = {"weightedlaplacianscore__n_features_to_select": [1, 3]}
        for y, scoring, least in (
            (hidden(classes), expected_accuracy, 0.8),
            (P, expected_accuracy, 0.7),
            (P, negative_expected_log_loss, -1.0),
        ):
            search = GridSearchCV(model, grid, cv=KnownFolds(3), scoring=scoring, error_score="raise").fit(X, y)
            assert search.best_score_ > least

    def test_groups_are_routed(self):
        groups = np.arange(len(CLASSES)) // 4
        scores = cross_val_score(
            DoubtClassifier(GaussianNB()), WINE, hidden(CLASSES, 0.3), groups=groups, cv=KnownFolds(4)
        )
        assert scores.mean() > 0.8


class TestEvaluation:
    def test_a_selection_that_helps(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 120)
        X = rng.normal(size=(120, 30))
        X[:, 0] += 2.5 * y
        found = evaluate_selection(LinearR2Score(n_features_to_select=1), KNeighborsClassifier(), X, y, n_repeats=1)
        assert found.gain.mean > 0.05 and found.gain_over_random.low > 0
        assert "Selection helps" in found.headline() or "as well as" in found.headline()
        assert found.sizes[0] == 1 and found.sizes[-1] == 30
        frame = found.to_frame()
        assert frame["accuracy"].iloc[0] > frame["random"].iloc[0]

    def test_the_selector_sees_only_training_rows(self):
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(60, 300)), np.arange(60) % 2
        found = evaluate_selection(LinearR2Score(n_features_to_select=5), GaussianNB(), X, y, n_repeats=2, sizes=[5])
        assert "not better than chance" in found.headline()
        assert found.estimate(found.selected).low < 0.5 < found.estimate(found.selected).high

    def test_probabilities_numbers_and_groups(self):
        P = 0.7 * np.eye(3)[CLASSES] + 0.1
        ranker = LinearR2Score(n_features_to_select=3)
        assert evaluate_selection(ranker, GaussianNB(), WINE, P, n_repeats=1, sizes=[3]).selected.mean() > 0.7
        y = np.where(np.arange(178) % 3, WINE[:, 0], np.nan)
        numbers = evaluate_selection(
            LinearR2Score(n_features_to_select=3, target="numbers"), Ridge(), WINE[:, 1:], y, n_repeats=1, sizes=[3]
        )
        assert numbers.measure == "R2" and 0 < numbers.selected.mean() < 1
        with pytest.raises(InputError, match="is a classifier"):
            evaluate_selection(ranker, GaussianNB(), WINE[:, 1:], y)

    def test_the_same_call_gives_the_same_numbers_whatever_the_jobs(self):
        options = {"n_repeats": 1, "sizes": [2, 5]}
        one = evaluate_selection(LinearR2Score(), GaussianNB(), WINE, CLASSES, **options)
        two = evaluate_selection(LinearR2Score(), GaussianNB(), WINE, CLASSES, n_jobs=2, **options)
        np.testing.assert_array_equal(one.by_size, two.by_size)
        np.testing.assert_array_equal(one.random_by_size, two.random_by_size)

    def test_it_shows_itself(self):
        found = evaluate_selection(LinearR2Score(), GaussianNB(), WINE, CLASSES, n_repeats=1, sizes=[2])
        assert "<table" in found._repr_html_() and repr(found) == found.headline()

    @pytest.mark.parametrize(("option", "value"), [("sizes", [0]), ("sizes", [14]), ("n_repeats", 0)])
    def test_bad_options_are_refused(self, option, value):
        with pytest.raises(InputError, match=option):
            evaluate_selection(LinearR2Score(), GaussianNB(), WINE, CLASSES, **{option: value})
