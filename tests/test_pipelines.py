"""Models, folds and scores for targets in doubt."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import stats
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dubio import FeatureSelector, InputError, LaplacianScore, LinearR2Score, WeightedLaplacianScore, soft_labels
from dubio.pipelines import (
    DoubtClassifier,
    DoubtRegressor,
    KnownFolds,
    SelectionEvaluation,
    evaluate_problem,
    evaluate_selection,
    expected_accuracy,
    known_r2,
    negative_expected_log_loss,
    usual_model,
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
            (KnownFolds(5), hidden(CLASSES, 0.99), None, "y has 3 labelled rows, fewer than the 5 folds"),
            (KnownFolds(5), CLASSES, np.arange(178) % 2, "y has 2 groups with a label"),
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


def synthetic():
    """Three classes in four of twelve columns."""
    rng = np.random.default_rng(0)
    classes = np.arange(150) % 3
    X = rng.normal(size=(150, 12))
    X[:, :4] += 2.0 * rng.normal(size=(3, 4))[classes]
    return X, classes


TABLES = {
    "wine": lambda: load_wine(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "synthetic": synthetic,
}


class TestSearches:
    """A whole pipeline in GridSearchCV: what is known, how it is judged, and what it should reach."""

    model = make_pipeline(WeightedLaplacianScore(), StandardScaler(), DoubtClassifier(LogisticRegression()))
    grid = {"weightedlaplacianscore__n_features_to_select": [1, 3]}

    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.parametrize("scoring", [expected_accuracy, negative_expected_log_loss])
    @pytest.mark.parametrize("kind", ["missing", "probabilities", "groups", "missing in groups"])
    def test_a_pipeline_in_a_grid_search(self, table, kind, scoring):
        X, classes = TABLES[table]()
        y, routed = {
            "missing": (hidden(classes), {}),
            "probabilities": (0.7 * np.eye(3)[classes] + 0.1, {}),
            "groups": (classes, {"groups": np.arange(len(classes)) // 4}),
            "missing in groups": (hidden(classes), {"groups": np.arange(len(classes)) // 4}),
        }[kind]
        search = GridSearchCV(self.model, self.grid, cv=KnownFolds(3), scoring=scoring, error_score="raise")
        search.fit(X, y, **routed)
        if scoring is expected_accuracy:  # of probabilities, 0.8 is the most
            assert search.best_score_ > (0.7 if kind == "probabilities" else 0.8)
            assert search.best_score_ <= (0.8 if kind == "probabilities" else 1.0) + 1e-9
        else:  # saying a third for each class would give -1.1
            assert search.best_score_ > (-1.0 if kind == "probabilities" else -0.8)
        assert expected_accuracy(search.best_estimator_, X, classes) > 0.8

    def test_numbers_in_a_grid_search(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(150, 8))
        y = np.where(rng.random(150) < 0.7, np.nan, X[:, 0] - X[:, 1])
        model = make_pipeline(LinearR2Score(target="numbers"), DoubtRegressor(Ridge()))
        grid = {"linearr2score__n_features_to_select": [1, 2]}
        search = GridSearchCV(model, grid, cv=KnownFolds(3, target="numbers"), scoring=known_r2, error_score="raise")
        assert search.fit(X, y).best_score_ > 0.9
        assert search.best_params_ == {"linearr2score__n_features_to_select": 2}

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
        assert "not clearly better than chance" in found.headline()
        assert found.estimate(found.selected).low < 0.5 < found.estimate(found.selected).high

    def test_noise_is_not_said_to_help(self):
        """A small form of ``python -m benchmarks.evaluation``."""
        covered, better = [], []
        for seed in range(10):
            rng = np.random.default_rng([22, seed])
            X, y = rng.normal(size=(80, 30)), np.arange(80) % 2
            found = evaluate_selection(LinearR2Score(n_features_to_select=3), GaussianNB(), X, y, sizes=[3])
            selected = found.estimate(found.selected)
            covered.append(selected.low <= 0.5 <= selected.high)
            better.append("better than chance" not in found.verdict())
        assert sum(covered) >= 9 and sum(better) <= 1

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

    @pytest.mark.thorough
    def test_the_same_call_gives_the_same_numbers_whatever_the_jobs(self):
        options = {"n_repeats": 1, "sizes": [2, 5]}
        one = evaluate_selection(LinearR2Score(), GaussianNB(), WINE, CLASSES, **options)
        two = evaluate_selection(LinearR2Score(), GaussianNB(), WINE, CLASSES, n_jobs=2, **options)
        np.testing.assert_array_equal(one.by_size, two.by_size)
        np.testing.assert_array_equal(one.random_by_size, two.random_by_size)

    def test_it_shows_itself(self):
        found = evaluate_selection(LinearR2Score(), GaussianNB(), WINE, CLASSES, n_repeats=1, sizes=[2])
        assert "<table" in found._repr_html_() and str(found) == found.headline()

    def test_a_problem_gives_the_numbers_of_its_table(self):
        selector = FeatureSelector("linear_r2", n_features_to_select=4)
        weights = np.random.default_rng(0).random(len(CLASSES))
        y, groups = hidden(CLASSES, 0.3), np.arange(len(CLASSES)) // 2
        options = {"n_repeats": 1, "sizes": [2, 13]}
        table = evaluate_selection(selector, GaussianNB(), WINE, y, groups=groups, sample_weight=weights, **options)
        read = selector.read_problem(WINE, y, sample_weight=weights, groups=groups)
        problem = evaluate_problem(selector, GaussianNB(), replace(read, groups=groups), **options)
        assert table.record() == problem.record()

    def test_groups_and_weights_for_a_selector_that_takes_none(self):
        groups, weights = np.arange(178) // 4, np.ones(178)
        ranker = LinearR2Score(n_features_to_select=3)
        options = {"n_repeats": 1, "sizes": [3], "sample_weight": weights}
        found = evaluate_selection(ranker, KNeighborsClassifier(), WINE, CLASSES, groups=groups, **options)
        assert found.selected.mean() > 0.5

    def test_equal_rows_of_a_subject_are_no_more_sure_than_one(self):
        """Twenty subjects who are all told apart: the accuracy of other subjects may well be 0.85."""
        y = np.arange(20) % 2
        X = np.random.default_rng(0).normal(size=(20, 3)) + 9 * y[:, None]
        options = {"n_repeats": 1, "sizes": [1]}
        ranker, wilson = LinearR2Score(n_features_to_select=1), stats.binomtest(20, 20).proportion_ci(method="wilson")
        copies = {"X": np.repeat(X, 50, axis=0), "y": np.repeat(y, 50), "groups": np.repeat(np.arange(20), 50)}
        found = evaluate_selection(ranker, GaussianNB(), **copies, **options)
        assert found.n_tested == pytest.approx(20)
        assert found.estimate(found.selected).low == pytest.approx(wilson.low)
        # rows of weight 0 are as good as absent
        weights = np.repeat([1.0, 0.0], 20)
        twice = {"X": np.tile(X, (2, 1)), "y": np.tile(y, 2), "sample_weight": weights}
        weighed = evaluate_selection(ranker, GaussianNB(), **twice, **options)
        assert weighed.record() == evaluate_selection(ranker, GaussianNB(), X, y, **options).record()
        uneven = evaluate_selection(
            ranker, GaussianNB(), X, y, sample_weight=1.0 + 2 * (np.arange(20) % 4 < 2), **options
        )
        assert uneven.n_tested == pytest.approx((10 + 30) ** 2 / (10 + 90))

    def test_an_accuracy_ends_at_0_and_a_difference_at_1(self):
        found = evaluate_selection(
            LinearR2Score(n_features_to_select=1), GaussianNB(), WINE, CLASSES, n_splits=2, n_repeats=1, sizes=[1]
        )
        low = found.estimate(np.array([0.1, 0.6]))
        assert low.low == 0 and low.high == 1
        apart = found.difference(np.array([0.9, 0.2]), np.array([0.1, 0.6]))
        assert (apart.low, apart.high) == (-1, 1)

    def test_random_features_have_one_score_at_one_size(self):
        found = evaluate_selection(
            LinearR2Score(n_features_to_select=4), GaussianNB(), WINE, CLASSES, n_repeats=1, sizes=[2, 4]
        )
        np.testing.assert_array_equal(found.random, found.random_by_size[:, 1])
        np.testing.assert_array_equal(found.selected, found.by_size[:, 1])

    def test_a_feature_of_several_columns_is_one_feature(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 150)
        frame = pd.DataFrame({"noise": rng.normal(size=150), "kind": np.array(["a", "b", "c"])[y]})
        frame.loc[::7, "noise"] = np.nan
        selector = FeatureSelector("linear_r2", n_features_to_select=1)
        problem = selector.read_problem(frame, y)
        found = evaluate_problem(selector, usual_model("logistic"), problem, n_repeats=1)
        assert found.sizes.tolist() == [1, 2] and found.selected.mean() == 1.0

    @pytest.mark.parametrize(
        ("cells", "words"),
        [
            (["12.05.2023", "28.05.2023"] * 20, "some cells are text or dates"),
            (pd.to_datetime(["2023-05-12", "2023-05-28"] * 20), "some cells are text or dates"),
            ([1.0, np.nan] * 20, "some cells are missing"),
        ],
    )
    def test_what_the_model_cannot_read_is_named(self, cells, words):
        frame = pd.DataFrame({"cells": cells, "x": np.arange(40.0)})
        y = np.repeat([0, 1], 20)
        selector = FeatureSelector("linear_r2", n_features_to_select=1)
        with pytest.raises(InputError, match=words) as refused:
            evaluate_selection(selector, LogisticRegression(), frame, y, n_repeats=1, n_splits=2)
        assert "put an encoder and an imputer before the model" in str(refused.value)
        problem = selector.read_problem(frame, y)  # what the message advises
        assert evaluate_problem(selector, usual_model("logistic"), problem, n_repeats=1).selected.mean() > 0.8

    def test_other_faults_of_a_model_stay_its_own(self):
        with pytest.raises(ValueError, match="n_neighbors") as raised:
            evaluate_selection(LinearR2Score(), KNeighborsClassifier(500), WINE, CLASSES, n_repeats=1)
        assert not isinstance(raised.value, InputError)

    @pytest.mark.parametrize("target", ["classes", "numbers"])
    @pytest.mark.parametrize("name", ["logistic", "forest", "svm"])
    def test_usual_models_learn(self, name, target):
        X = np.array(WINE[:, 1:])
        X[::9, 3] = np.nan
        y = CLASSES if target == "classes" else WINE[:, 0]
        assert cross_val_score(usual_model(name, target), X, y, cv=KFold(3, shuffle=True, random_state=0)).mean() > 0.4

    def test_an_unknown_model_is_refused(self):
        with pytest.raises(InputError, match="'logistic', 'forest' or 'svm'"):
            usual_model("tree")

    def test_weights_count_in_the_score(self):
        model = GaussianNB().fit(WINE, CLASSES)
        right = model.predict(WINE) == CLASSES
        assert expected_accuracy(model, WINE, CLASSES, sample_weight=right.astype(float)) == 1.0
        assert expected_accuracy(model, WINE, CLASSES, sample_weight=(~right).astype(float)) == 0.0
        weights = np.random.default_rng(0).random(len(WINE))
        loss = -np.log(np.maximum(model.predict_proba(WINE)[np.arange(178), CLASSES], 1e-12))
        found = negative_expected_log_loss(model, WINE, CLASSES, sample_weight=weights)
        assert found == pytest.approx(-(weights * loss).sum() / weights.sum())
        linear = Ridge().fit(WINE[:, 1:], WINE[:, 0])
        known = np.where(np.arange(178) % 2, WINE[:, 0], np.nan)
        plain = linear.score(WINE[1::2, 1:], WINE[1::2, 0], sample_weight=weights[1::2])
        assert known_r2(linear, WINE[:, 1:], known, sample_weight=weights) == pytest.approx(plain)

    def test_what_cannot_be_judged_is_refused(self):
        problem = LaplacianScore().read_problem(WINE)
        with pytest.raises(InputError, match="no target is given"):
            evaluate_problem(LaplacianScore(), GaussianNB(), problem)

    @pytest.mark.parametrize(
        ("selected", "everything", "random", "words"),
        [
            (0.5, 0.5, 0.5, "not clearly better than chance"),
            (0.9, 0.7, 0.6, "Selection helps"),
            (0.7, 0.9, 0.6, "Selection costs"),
            (0.9, 0.9, 0.6, "as well as all of them"),
            (0.9, 0.9, 0.9, "not clearly help"),
            (0.9, 0.9, 0.895, "The gain over as many random features may be chance (difference +0.005, interval -0."),
        ],
    )
    def test_the_verdict(self, selected, everything, random, words):
        jitter = np.array([-0.01, 0.0, 0.01, 0.0, 0.0])
        scores = {"selected": selected, "all_features": everything, "random": random}
        found = SelectionEvaluation(
            sizes=np.array([1]),
            by_size=np.full((5, 1), 0.5),
            random_by_size=np.full((5, 1), 0.5),
            n_selected=np.array([1, 2, 2, 2, 3]),
            chance=np.full(5, 0.5),
            measure="accuracy",
            share_tested=0.2,
            **{name: np.roll(jitter, k) + value for k, (name, value) in enumerate(scores.items())},
        )
        assert (
            words in found.verdict()
            and "features selected in each fold (1 to 3, on average 2)" in str(found.scores())
            and len(repr(found)) < 100
        )
        assert json.loads(json.dumps(found.record()))["n_folds"] == 5

    def test_folds_that_happen_to_be_alike_are_no_surety(self):
        """One error in each of five folds of 36 rows: the accuracy of other rows may well be 0.93."""
        alike = np.array([35 / 36] * 3 + [34 / 35] * 2)
        found = SelectionEvaluation(
            sizes=np.array([1]),
            by_size=alike[:, None],
            random_by_size=alike[:, None],
            selected=alike,
            all_features=alike - 1 / 36,  # one row more in each fold
            random=alike,
            n_selected=np.full(5, 1),
            chance=np.full(5, 0.5),
            measure="accuracy",
            share_tested=0.2,
            n_tested=178,
        )
        hits, wilson = 173, stats.binomtest(173, 178).proportion_ci(method="wilson")
        kept = found.estimate(np.full(5, hits / 178))
        assert (kept.low, kept.high) == (pytest.approx(wilson.low), pytest.approx(wilson.high))
        assert found.estimate(found.selected).low < 0.94
        assert found.gain.low < 0 < found.gain.mean  # five rows of 178: a sign test has p = 0.06
        assert "random features do about as well (difference +0.000, interval +0.000 to +0.000)" in found.verdict()

    @pytest.mark.parametrize(("option", "value"), [("sizes", [0]), ("sizes", [14]), ("n_repeats", 0)])
    def test_bad_options_are_refused(self, option, value):
        with pytest.raises(InputError, match=option):
            evaluate_selection(LinearR2Score(), GaussianNB(), WINE, CLASSES, **{option: value})


@pytest.mark.parametrize("routed", [True, False])
def test_groups_stay_whole_in_folds_whether_routed_or_not(routed):
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(60, 3)), np.arange(60) % 2, rng.integers(12, size=60)
    asked = {"params": {"groups": groups}} if routed else {"groups": groups}
    with sklearn.config_context(enable_metadata_routing=routed):
        found = cross_validate(LogisticRegression(), X, y, cv=KnownFolds(4), return_indices=True, **asked)
    for train, test in zip(*found["indices"].values(), strict=True):
        assert not set(groups[train]) & set(groups[test])


def test_weights_are_routed_to_the_scores():
    rng = np.random.default_rng(1)
    X, y, weights = rng.normal(size=(60, 2)), rng.integers(2, size=60), rng.random(60)
    folds = KnownFolds(3)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=False)
        found = cross_validate(model, X, y, cv=folds, scoring=expected_accuracy, params={"sample_weight": weights})
    wanted = [
        np.average(LogisticRegression().fit(X[a], y[a]).predict(X[b]) == y[b], weights=weights[b])
        for a, b in folds.split(X, y)
    ]
    np.testing.assert_allclose(found["test_score"], wanted)
