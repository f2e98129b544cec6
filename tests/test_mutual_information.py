"""Mutual information of uncertain classes: estimators, noise model, criterion and selectors."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma as scipy_digamma
from scipy.stats import ortho_group
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_selection import mutual_info_classif

from dubio import (
    InputWarning,
    MutualInformationRanking,
    MutualInformationSearch,
    estimate_memberships,
    knn_entropy,
    mutual_information,
    noise_tolerant_mutual_information,
    numeric_mutual_information,
    soft_labels,
)
from dubio.errors import InputError
from dubio.kernels.information import digamma
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.greedy import ADD, REMOVE, greedy_search
from dubio.neighbors.information import InformationCriterion
from dubio.simulate import flip_labels
from tests import naive


def small_problem(seed=0, n=60, d=4, n_classes=3):
    """Overlapping Gaussian classes, labels flipped in one row of five."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, size=n)
    X = rng.normal(size=(n, d))
    X[:, : d // 2] += 1.5 * truth[:, None]
    return X, flip_labels(truth, 0.2, random_state=seed), truth


def soft(seed, n, n_classes, concentration=0.5):
    return np.random.default_rng(seed).dirichlet(np.full(n_classes, concentration), size=n)


# --- pieces ---------------------------------------------------------------------------------------------------------


@given(st.floats(1e-6, 1e6))
def test_digamma_is_scipys(x):
    assert digamma(x) == pytest.approx(float(scipy_digamma(x)), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("k", [1, 8])
def test_entropy_equals_naive(d, k):
    X = np.random.default_rng(d).normal(size=(50, d))
    assert knn_entropy(X, n_neighbors=k) == pytest.approx(naive.knn_entropy(X, k), abs=1e-9)


def test_entropy_of_a_gaussian_is_right():
    X = np.random.default_rng(0).normal(size=(4000, 3))
    assert knn_entropy(X) == pytest.approx(1.5 * np.log(2 * np.pi * np.e), abs=0.05)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_mutual_information_equals_naive(k):
    X, y, _ = small_problem()
    assert mutual_information(X, y, n_neighbors=k) == pytest.approx(naive.mutual_information(X, y, k), abs=1e-9)


def test_mutual_information_with_classes_smaller_than_k():
    X, y, _ = small_problem(n=40)
    y[:] = 0
    y[:3], y[3:5] = 1, 2
    assert mutual_information(X, y) == pytest.approx(naive.mutual_information(X, y), abs=1e-9)


@pytest.mark.parametrize("k", [3, 8])
@pytest.mark.parametrize("slack", [0.0, 0.5])
@pytest.mark.parametrize("concentration", [0.05, 0.5, 5.0])
def test_noise_tolerant_information_equals_naive(k, slack, concentration):
    X, _, _ = small_problem(1)
    P = soft(2, len(X), 3, concentration)
    value = noise_tolerant_mutual_information(X, P, n_neighbors=k, slack=slack)
    assert value == pytest.approx(naive.noise_tolerant_mutual_information(X, P, k, slack), abs=1e-9)


@pytest.mark.parametrize("k", [3, 8])
@pytest.mark.parametrize("concentration", [0.05, 0.5, 5.0])
def test_the_printed_form_equals_naive(k, concentration):
    """Below its equation 16 the paper counts the row itself, and its Algorithm 1 has no slack."""
    X, _, _ = small_problem(1)
    P = soft(2, len(X), 3, concentration)
    value = noise_tolerant_mutual_information(X, P, n_neighbors=k, slack=0.0, include_self=True)
    assert value == pytest.approx(naive.noise_tolerant_mutual_information(X, P, k, 0.0, True), abs=1e-9)
    assert abs(value - noise_tolerant_mutual_information(X, P, n_neighbors=k)) > 1e-3


def test_a_noise_model_with_a_whole_matrix_equals_naive():
    """Two thirds of class 0 are called 1, never 2: one rate per class cannot say this."""
    rng = np.random.default_rng(4)
    truth = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 2)) + 4 * np.eye(3)[truth][:, :2]
    y = truth.copy()
    y[:10] = 1
    model = estimate_memberships(X, y, n_init=2, noise="matrix", random_state=3)
    gamma, confusion, _, _ = naive.estimate_memberships(X, y, np.random.RandomState(3), n_init=2, matrix=True)
    np.testing.assert_allclose(model.memberships, gamma, atol=1e-9)
    np.testing.assert_allclose(model.confusion, confusion, atol=1e-9)
    np.testing.assert_allclose(model.confusion.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.error_rates, 1 - np.diag(model.confusion))
    assert model.confusion[0, 1] > 0.2 > 0.02 > model.confusion[0, 2]
    uniform = estimate_memberships(X, y, n_init=2, random_state=3).confusion
    np.testing.assert_allclose(uniform[0, 1], uniform[0, 2])
    with pytest.raises(InputError, match="noise"):
        estimate_memberships(X, y, noise="full")


def test_numeric_information_is_its_definition():
    """Loops over the rows; eighths make ties that are exact, and 2^-20ths points that are apart."""
    rng = np.random.default_rng(3)
    for d, k in ((1, 4), (3, 2)):
        X = np.round(rng.normal(size=(60, d)) * 8) / 8
        y = np.round(rng.normal(size=60) * 2**20) / 2**20
        total = 0.0
        for i in range(60):
            in_x, in_y = np.abs(X - X[i]).max(axis=1), np.abs(y - y[i])
            radius = np.sort(np.delete(np.maximum(in_x, in_y), i))[k - 1]
            counts = [(np.delete(gaps, i) < radius).sum() for gaps in (in_x, in_y)]
            total += sum(scipy_digamma(count + 1) for count in counts)
        expected = scipy_digamma(k) + scipy_digamma(60) - total / 60
        assert numeric_mutual_information(X, y, n_neighbors=k) == pytest.approx(expected, abs=1e-12)
        gone = np.where(np.arange(60) < 20, np.nan, y)
        assert numeric_mutual_information(X, gone, n_neighbors=k) == pytest.approx(
            numeric_mutual_information(X[20:], y[20:], n_neighbors=k), abs=1e-12
        )
    assert numeric_mutual_information(X, X[:, 0] ** 2) > numeric_mutual_information(X, y) + 0.1
    with pytest.raises(InputError):
        numeric_mutual_information(X, np.full(60, np.nan))


def test_the_printed_noise_model_and_search_equal_naive():
    X, y, _ = small_problem(6, n=50)
    model = estimate_memberships(X, y, n_init=2, include_self=True, random_state=3)
    gamma, rates, _, _ = naive.estimate_memberships(X, y, np.random.RandomState(3), n_init=2, include_self=True)
    np.testing.assert_allclose(model.memberships, gamma, atol=1e-9)
    np.testing.assert_allclose(model.error_rates, rates, atol=1e-9)
    assert np.abs(gamma - estimate_memberships(X, y, n_init=2, random_state=3).memberships).max() > 1e-3
    for direction in ("backward", "forward"):
        search = MutualInformationSearch.as_published(
            direction=direction, n_init=2, jitter=0.0, standardize=False, random_state=3
        ).fit(X, y)
        subsets, values = naive.information_search(
            X, y, np.random.RandomState(3), True, direction, slack=0.0, include_self=True, n_init=2
        )
        assert {size: subset.tolist() for size, subset in search.subsets_.items()} == subsets
        np.testing.assert_allclose(list(search.values_.values()), [values[size] for size in search.values_], atol=1e-9)


def test_a_row_that_counts_itself_needs_another_row():
    X, y, _ = small_problem(1)
    P = soft(2, len(X), 3)
    for call in (
        lambda: noise_tolerant_mutual_information(X, P, n_neighbors=1, include_self=True),
        lambda: estimate_memberships(X, y, n_neighbors=1, include_self=True),
        lambda: MutualInformationSearch.as_published(n_neighbors_noise=1).fit(X, y),
    ):
        with pytest.raises(InputError, match="2 or more"):
            call()
    with pytest.raises(InputError, match="include_self"):
        noise_tolerant_mutual_information(X, P, include_self="yes")


def test_with_hard_classes_the_row_itself_shifts_all_subsets_alike():
    """The shift is near psi(k) - psi(k - 1) = 1 / (k - 1): it decides no step of a search."""
    X, y, _ = small_problem(3, n=300)
    one_hot = np.eye(3)[y]
    for columns in ([0], [1, 2], [0, 1, 2, 3]):
        plain, itself = (
            noise_tolerant_mutual_information(X[:, columns], one_hot, slack=0.0, include_self=own)
            for own in (False, True)
        )
        assert itself - plain == pytest.approx(1 / 7, abs=0.03)


def test_a_class_with_hardly_any_membership():
    X, _, _ = small_problem(1)
    P = soft(2, len(X), 3)
    P[:, 2] *= 1e-3
    P /= P.sum(axis=1, keepdims=True)
    value = noise_tolerant_mutual_information(X, P)
    assert value == pytest.approx(naive.noise_tolerant_mutual_information(X, P), abs=1e-9)


def test_one_hot_memberships_are_hard_labels():
    X, y, _ = small_problem(3)
    y[:2] = [3, 3]  # a class of two rows
    one_hot = np.eye(4)[y]
    hard = mutual_information(X, y)
    for slack in (0.0, 0.5, 0.9):
        assert noise_tolerant_mutual_information(X, one_hot, slack=slack) == pytest.approx(hard, abs=1e-12)


def test_slack_keeps_nearly_certain_memberships_near_hard_labels():
    """Without it one row too many is taken as soon as memberships are not exactly 1."""
    X, y = load_iris(return_X_y=True)
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    nearly = np.eye(3)[y] * (1 - 3e-6) + 1e-6
    hard = mutual_information(X, y)
    assert noise_tolerant_mutual_information(X, nearly) == pytest.approx(hard, abs=1e-3)
    assert noise_tolerant_mutual_information(X, nearly, slack=0.0) < hard - 0.03


def test_duplicates_within_reach_are_fine():
    X, y, _ = small_problem(4)
    X[10:13], y[10:13] = X[0], y[0]  # fewer than k copies
    P = 0.9 * np.eye(3)[y] + 0.1 / 3
    assert mutual_information(X, y) == pytest.approx(naive.mutual_information(X, y), abs=1e-9)
    expected = naive.noise_tolerant_mutual_information(X, P)
    assert noise_tolerant_mutual_information(X, P) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("layout", ["float32", "fortran", "read-only", "offset"])
def test_layout_of_the_table(layout):
    X, y, _ = small_problem(5)
    X = X.astype(np.float32).astype(np.float64)
    expected = mutual_information(X, y)
    table = {
        "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X),
        "read-only": X.copy(),
        "offset": X + 2.0**20,  # differences stay exact
    }[layout]
    table.setflags(write=False)
    assert mutual_information(table, y) == pytest.approx(expected, abs=1e-9)


def test_many_dimensions_do_not_underflow():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 500)) + 0.3 * truth[:, None]
    y = flip_labels(truth, 0.1, random_state=0)
    model = estimate_memberships(X, y, n_init=2, random_state=0)
    expected = naive.estimate_memberships(X, y, np.random.RandomState(0), n_init=2)
    np.testing.assert_allclose(model.memberships, expected[0], atol=1e-9)
    assert np.isfinite(model.objective)
    assert model.objective == pytest.approx(expected[3][-1], rel=1e-12)


def test_information_against_scikit_learn_on_one_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = (X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=1500)) > 0.5
    theirs = mutual_info_classif(X, y, n_neighbors=8, random_state=0)
    ours = [mutual_information(X[:, [j]], y) for j in range(3)]
    np.testing.assert_allclose(ours, theirs, atol=0.03)


# --- noise model ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_noise_model_equals_naive(seed, n_classes):
    X, y, _ = small_problem(seed, n_classes=n_classes)
    model = estimate_memberships(X, y, n_init=2, random_state=seed)
    gamma, rates, priors, objectives = naive.estimate_memberships(X, y, np.random.RandomState(seed), n_init=2)
    np.testing.assert_allclose(model.memberships, gamma, atol=1e-9)
    np.testing.assert_allclose(model.error_rates, rates, atol=1e-9)
    np.testing.assert_allclose(model.priors, priors, atol=1e-9)
    np.testing.assert_allclose(model.objectives[model.best_restart], objectives, rtol=1e-10)


def test_noise_model_with_small_classes_and_missing_labels_equals_naive():
    X, y, _ = small_problem(7, n=50)
    y[:] = np.where(np.arange(50) < 2, 2, y % 2)  # two rows of class 2, fewer than k = 3
    y[10:25] = -1
    model = estimate_memberships(X, y, n_init=2, random_state=1)
    gamma, rates, _, _ = naive.estimate_memberships(X, y, np.random.RandomState(1), n_init=2)
    np.testing.assert_allclose(model.memberships, gamma, atol=1e-9)
    np.testing.assert_allclose(model.error_rates, rates, atol=1e-9)


@given(st.integers(0, 1000), st.integers(1, 6), st.integers(2, 4))
def test_memberships_sum_to_one_and_rates_are_probabilities(seed, d, n_classes):
    X, y, _ = small_problem(seed, n=40, d=d, n_classes=n_classes)
    y[:n_classes] = np.arange(n_classes)
    model = estimate_memberships(X, y, n_init=1, random_state=seed)
    np.testing.assert_allclose(model.memberships.sum(axis=1), 1.0, rtol=1e-12)
    assert (model.memberships > 0).all()
    assert ((model.error_rates > 0) & (model.error_rates < 1)).all()
    assert model.priors.sum() == pytest.approx(1.0)


def test_noise_model_finds_flipped_rows_of_separate_classes():
    X, y, truth = small_problem(0, n=150)
    X[:, 0] += 8 * truth
    model = estimate_memberships(X, y, random_state=0)
    assert (model.memberships.argmax(axis=1) == truth).mean() > 0.97
    assert (y == truth).mean() < 0.9
    assert model.converged
    assert len(model.objectives) == 5
    assert model.objective == max(objective[-1] for objective in model.objectives)


def test_unlabelled_rows_get_memberships_from_their_neighbours():
    X, _, truth = small_problem(0, n=90, n_classes=2)
    X[:, 0] += 8 * truth
    y = np.where(np.arange(90) % 3 == 0, truth, -1)
    model = estimate_memberships(X, y, random_state=0)
    assert (model.memberships.argmax(axis=1) == truth).all()


def test_soft_labels_are_kept_and_only_missing_rows_estimated():
    X, _, truth = small_problem(0, n=90, n_classes=2)
    X[:, 0] += 8 * truth
    P = np.where(np.eye(2)[truth] > 0, 0.8, 0.2)
    P[::3] = np.nan
    model = estimate_memberships(X, P, random_state=0)
    given_rows = np.arange(90) % 3 != 0
    np.testing.assert_allclose(model.memberships[given_rows], P[given_rows], rtol=1e-12)
    assert (model.memberships.argmax(axis=1) == truth).all()
    assert model.error_rates is None


def test_noise_model_record_is_frozen():
    X, y, _ = small_problem()
    model = estimate_memberships(X, y, random_state=0)
    with pytest.raises(AttributeError):
        model.converged = False
    with pytest.raises(ValueError, match="read-only"):
        model.memberships[0] = 0


def test_iterations_are_bounded():
    X, y, _ = small_problem()
    model = estimate_memberships(X, y, n_init=3, max_iter=2, tol=0.0, random_state=0)
    assert [len(objective) for objective in model.objectives] == [2, 2, 2]
    assert not model.converged


# --- laws -----------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
def test_information_does_not_depend_on_row_order_or_class_names(seed):
    X, y, _ = small_problem(seed, n=40)
    order = np.random.default_rng(seed).permutation(40)
    renamed = np.array(["z", "m", "a"])[y]
    expected = mutual_information(X, y)
    assert mutual_information(X[order], y[order]) == pytest.approx(expected, abs=1e-9)
    assert mutual_information(X, renamed) == pytest.approx(expected, abs=1e-9)
    P = soft(seed, 40, 3)
    expected = noise_tolerant_mutual_information(X, P)
    assert noise_tolerant_mutual_information(X[order], P[order]) == pytest.approx(expected, abs=1e-9)
    assert noise_tolerant_mutual_information(X, P[:, [2, 0, 1]]) == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3))
def test_information_does_not_depend_on_a_common_scale_or_a_rotation(seed, scale):
    X, _, _ = small_problem(seed, n=40)
    P = soft(seed, 40, 3)
    expected = noise_tolerant_mutual_information(X, P)
    assert noise_tolerant_mutual_information(scale * X, P) == pytest.approx(expected, abs=1e-9)
    rotation = ortho_group.rvs(X.shape[1], random_state=seed)
    assert noise_tolerant_mutual_information(X @ rotation, P) == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 10_000))
def test_memberships_follow_the_rows_and_the_scale(seed):
    X, y, _ = small_problem(seed, n=40, n_classes=2)
    order = np.random.default_rng(seed).permutation(40)
    expected = estimate_memberships(X, y, n_init=1, random_state=0).memberships
    permuted = estimate_memberships(X[order], y[order], n_init=1, random_state=0).memberships
    np.testing.assert_allclose(permuted, expected[order], atol=1e-9)
    scaled = estimate_memberships(100 * X, y, n_init=1, random_state=0).memberships
    np.testing.assert_allclose(scaled, expected, atol=1e-9)


# --- search ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["backward", "forward"])
@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_every_candidate_of_a_search_equals_the_estimator(direction, kind, monkeypatch):
    """The incremental path against a fresh estimate of each subset it looks at, exact for all candidates."""
    monkeypatch.setattr("dubio.neighbors.information.MINOR", 0.0)
    X, y, _ = small_problem(2, n=80, d=6)
    P = np.eye(3)[y] if kind == "hard" else soft(3, 80, 3)
    criterion = InformationCriterion(SubsetDistances(X), lambda _: P, n_neighbors=8)
    path = greedy_search(criterion, range(6), direction=direction)
    for step in path.steps:
        before = set(range(6)) if step is path.steps[0] and direction == "backward" else set()
        index = path.steps.index(step)
        if index:
            before = set(path.subsets[path.steps[index - 1].size].tolist())
        for feature, value in zip(step.candidates.tolist(), step.candidate_values, strict=True):
            subset = sorted(before - {feature} if direction == "backward" else before | {feature})
            assert value == pytest.approx(noise_tolerant_mutual_information(X[:, subset], P), abs=1e-9)


def test_bounds_hold_and_do_not_change_the_winner(monkeypatch):
    X, y, _ = small_problem(2, n=120, d=6)
    X[:, 0] += 4 * y
    P = 0.999 * np.eye(3)[y] + 0.001 / 3
    for change, start in ((REMOVE, np.arange(6)), (ADD, np.array([0, 3]))):
        criterion = InformationCriterion(SubsetDistances(X), lambda _: P, n_neighbors=8)
        criterion.start(start)
        candidates = np.setdiff1d(np.arange(6), start) if change == ADD else start
        lower, upper = criterion._bounds(candidates, change, 1e-2)
        exact = criterion._bounds(candidates, change, 0.0)[0]
        assert (lower <= exact + 1e-12).all()
        assert (exact <= upper + 1e-12).all()
        assert (upper - lower > 1e-6).all()
        values = criterion.evaluate(candidates, change)
        assert values.argmax() == exact.argmax()
        assert values.max() == pytest.approx(exact.max(), abs=1e-12)


@pytest.mark.parametrize("label_noise", [False, True])
@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_small_search_path_equals_naive(label_noise, direction):
    X, y, _ = small_problem(6, n=50)
    search = MutualInformationSearch(
        label_noise=label_noise, direction=direction, n_init=2, jitter=0.0, standardize=False, random_state=3
    ).fit(X, y)
    subsets, values = naive.information_search(X, y, np.random.RandomState(3), label_noise, direction, n_init=2)
    assert {size: subset.tolist() for size, subset in search.subsets_.items()} == subsets
    for size, value in values.items():
        assert search.values_[size] == pytest.approx(value, abs=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("label_noise", [False, True])
def test_backward_path_on_wine_equals_naive(label_noise):
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    X = (X - X.mean(axis=0)) / X.std(axis=0) + 1e-3 * rng.normal(size=X.shape)
    y = flip_labels(y, 0.2, random_state=0)
    search = MutualInformationSearch(
        label_noise=label_noise, n_init=1, jitter=0.0, standardize=False, random_state=0
    ).fit(X, y)
    subsets, values = naive.information_search(X, y, np.random.RandomState(0), label_noise, n_init=1)
    assert {size: subset.tolist() for size, subset in search.subsets_.items()} == subsets
    for size, value in values.items():
        assert search.values_[size] == pytest.approx(value, abs=1e-9)


def test_search_does_not_depend_on_threads():
    X, y, _ = small_problem(0, n=600, d=5)
    one, two = (MutualInformationSearch(random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.values_ == two.values_


def test_search_does_not_depend_on_row_order_although_it_jitters():
    X, y = load_iris(return_X_y=True)  # full of ties
    order = np.random.default_rng(0).permutation(len(y))
    here = MutualInformationSearch(random_state=0).fit(X, y)
    there = MutualInformationSearch(random_state=0).fit(X[order], y[order])
    for size, value in here.values_.items():
        assert there.values_[size] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_search_finds_features_that_only_tell_together(direction):
    """Exclusive-or of two signs, which no feature shows alone; a third copies the first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 1] > 0) ^ (X[:, 3] > 0)
    search = MutualInformationSearch(
        n_features_to_select=2, direction=direction, label_noise=False, random_state=0
    ).fit(X, y)
    if direction == "backward":
        assert search.get_support(indices=True).tolist() == [1, 3]
    assert search.values_[2] <= np.log(2) + 0.1
    ranking = MutualInformationRanking(label_noise=False, random_state=0).fit(X, y)
    assert ranking.scores_.max() < 0.1


@pytest.mark.thorough
def test_noise_model_rescues_the_search():
    """Three informative features among eight, 20 % of the labels wrong: more of them are found than without it."""
    hits = {True: 0, False: 0}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, size=300)
        X = rng.normal(size=(300, 8))
        X[:, :3] += 2 * truth[:, None]
        y = flip_labels(truth, 0.2, random_state=seed)
        found = {}
        for label_noise in hits:
            search = MutualInformationSearch(n_features_to_select=3, label_noise=label_noise, random_state=0)
            found[label_noise] = search.fit(X, y)
            hits[label_noise] += search.get_support()[:3].sum()
        assert found[True].noise_model_.error_rates == pytest.approx([0.2, 0.2], abs=0.16)
        assert found[False].noise_model_ is None
        assert found[True].values_[3] > found[False].values_[3] + 0.1
    assert hits[True] > hits[False]


def test_soft_labels_see_a_relation_that_is_not_linear():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(400, 4))
    p = 0.5 + 0.45 * np.sign(np.cos(np.pi * X[:, 2]))  # stripes: neither means nor variances differ much
    P = np.column_stack([p, 1 - p])
    search = MutualInformationSearch(n_features_to_select=1, random_state=0).fit(X, P)
    assert search.get_support(indices=True).tolist() == [2]
    assert search.noise_model_ is None
    alone = MutualInformationRanking(random_state=0).fit(X, P).scores_
    assert alone[2] > 0.3
    assert np.delete(alone, 2).max() < 0.1


def test_soft_labels_with_missing_rows():
    X, _, truth = small_problem(0, n=90, n_classes=2)
    P = np.where(np.eye(2)[truth] > 0, 0.9, 0.1)
    P[::2] = np.nan
    search = MutualInformationSearch(random_state=0).fit(X, P)
    assert search.noise_model_.error_rates is None
    assert search.n_unlabelled_ == 45
    assert search.subsets_[1][0] in (0, 1)


def test_unlabelled_rows_help():
    """Twelve labels among 200 rows: all rows take part, and a feature that separates the clusters is best."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 6))
    X[:, [1, 4]] += 5 * truth[:, None]
    y = np.full(200, -1)
    y[[0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105]] = [0] * 6 + [1] * 6
    search = MutualInformationSearch(n_features_to_select=1, random_state=0).fit(X, y)
    assert search.get_support(indices=True)[0] in (1, 4)
    assert search.noise_model_.memberships.shape == (200, 2)


def test_plain_search_leaves_unlabelled_rows_out():
    X, y, _ = small_problem(0, n=80)
    hidden = np.where(np.arange(80) < 20, -1, y)
    plain = MutualInformationSearch(label_noise=False, jitter=0.0, standardize=False)
    assert plain.fit(X, hidden).values_ == plain.fit(X[20:], y[20:]).values_


def test_reestimate_once_uses_one_model(monkeypatch):
    X, y, _ = small_problem()
    calls = []
    from dubio.doubt.noise_model import NoiseTracker

    fit = NoiseTracker.fit
    monkeypatch.setattr(NoiseTracker, "fit", lambda self, d: (calls.append(len(d.subset)), fit(self, d))[1])
    MutualInformationSearch(reestimate="once", random_state=0).fit(X, y)
    assert calls == [4, 2]  # all features, and the chosen subset at the end
    calls.clear()
    MutualInformationSearch(random_state=0).fit(X, y)
    assert calls == [4, 3, 2, 2]


def test_prescreen_searches_among_the_best():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=100)
    X = rng.normal(size=(100, 60))
    X[:, [7, 31]] += 2 * y[:, None]
    X[:, 50] = 1.0
    plain = {"label_noise": False, "random_state": 0}
    search = MutualInformationSearch(n_features_to_select=2, prescreen=6, **plain).fit(X, y)
    assert search.get_support(indices=True).tolist() == [7, 31]
    assert sorted(search.subsets_) == [1, 2, 3, 4, 5, 6]
    assert sorted(search.ranking_) == list(range(1, 61))
    assert search.ranking_[50] == 60
    alone = MutualInformationRanking(**plain).fit(X, y)
    first_six = set(np.flatnonzero(alone.ranking_ <= 6))
    assert set(search.subsets_[6].tolist()) == first_six


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_ranking_equals_the_estimator_on_each_feature(kind):
    X, y, _ = small_problem(3, n=80)
    labels = y if kind == "hard" else soft(3, 80, 3)
    ranking = MutualInformationRanking(label_noise=False, jitter=0.0, standardize=False).fit(X, labels)
    for j in range(X.shape[1]):
        value = noise_tolerant_mutual_information(X[:, [j]], labels)
        assert ranking.scores_[j] == pytest.approx(value, abs=1e-9)


def test_ranking_with_label_noise_uses_the_model_of_all_features():
    X, y, _ = small_problem(3, n=80)
    ranking = MutualInformationRanking(jitter=0.0, standardize=False, random_state=4).fit(X, y)
    model = estimate_memberships(X, y, random_state=4)
    np.testing.assert_array_equal(ranking.noise_model_.memberships, model.memberships)
    for j in range(X.shape[1]):
        value = noise_tolerant_mutual_information(X[:, [j]], model.memberships)
        assert ranking.scores_[j] == pytest.approx(value, abs=1e-9)


def test_constant_features_are_never_in_a_subset():
    X, y, _ = small_problem()
    X = np.column_stack([np.full(60, 3.0), X, np.zeros(60)])
    search = MutualInformationSearch(n_features_to_select=2, random_state=0).fit(X, y)
    assert sorted(search.subsets_) == [1, 2, 3, 4]
    assert search.ranking_[[0, 5]].tolist() == [5, 6]
    assert search.to_ranking().scores[0] == -np.inf


@pytest.mark.parametrize("label_noise", [True, False])
def test_features_constant_among_the_labelled_rows_come_last(label_noise):
    rng = np.random.default_rng(0)
    y = np.arange(60.0) % 2
    X = rng.normal(size=(60, 3))
    X[:, 0] += 3 * y
    y[::4] = np.nan
    Z = np.column_stack([np.isnan(y), X])
    search = MutualInformationSearch(n_features_to_select=2, label_noise=label_noise, random_state=0).fit(Z, y)
    assert search.ranking_[0] == 4 and search.ranking_[1] == 1
    assert sorted(search.subsets_) == [1, 2, 3]
    ranking = MutualInformationRanking(label_noise=label_noise, random_state=0).fit(Z, y)
    assert ranking.scores_[0] == -np.inf
    with pytest.raises(ValueError, match="its only column is constant among the 45 rows"):
        MutualInformationSearch(label_noise=label_noise).fit(Z[:, [0]], y)


def test_verbose_and_interruption(capsys, monkeypatch):
    X, y, _ = small_problem()
    MutualInformationSearch(label_noise=False, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for step, line in enumerate(lines, start=1):
        assert re.fullmatch(rf"\[MutualInformationSearch\] backward search: {step} of 3, \d+\.\d s", line)

    evaluate = InformationCriterion.evaluate

    def stop_at_two(self, candidates, change):
        if len(candidates) == 2:
            raise KeyboardInterrupt
        return evaluate(self, candidates, change)

    monkeypatch.setattr(InformationCriterion, "evaluate", stop_at_two)
    with pytest.raises(KeyboardInterrupt, match=r"stopped after 2 of 3 steps; removed so far: x\d, x\d"):
        MutualInformationSearch(label_noise=False, random_state=0).fit(X, y)


# --- bad input ------------------------------------------------------------------------------------------------------


def call_all(X, y):
    """Every way in."""
    return [
        lambda: mutual_information(X, y),
        lambda: MutualInformationSearch().fit(X, y),
        lambda: MutualInformationSearch(label_noise=False).fit(X, y),
        lambda: MutualInformationRanking().fit(X, y),
    ]


def test_a_sure_row_that_is_alone_in_its_class():
    """No other row tells where its class lies: the density there is zero, and what is given stays."""
    X = np.random.default_rng(0).normal(size=(8, 2))
    P = np.eye(2)[[1, 0, 0, 0, 0, 0, 0, 0]]
    model = estimate_memberships(X, soft_labels(P), n_neighbors=3)
    np.testing.assert_array_equal(model.memberships, P)
    assert np.isfinite(model.objectives[0]).all()


def test_a_class_with_one_row():
    X, y, _ = small_problem()
    y = y % 2
    y[17] = 5
    for call in call_all(X, y):
        with pytest.raises(ValueError, match=r"y has only one row of class 5 \(row 17; 1 such class\)"):
            call()


def test_too_many_neighbors():
    X, y, _ = small_problem(n=8, n_classes=2)
    y[:] = [0, 1] * 4
    for call, where in zip(call_all(X, y), ("labelled rows", "rows", "rows", "rows"), strict=True):
        with pytest.warns(InputWarning, match=rf"^n_neighbors=8, but there are only 7 other {where}: using 7\.$"):
            call()
    with pytest.warns(InputWarning, match=r"^n_neighbors_noise=8, but there are only 7 other rows: using 7\.$"):
        noisy = MutualInformationSearch(n_neighbors=3, n_neighbors_noise=8).fit(X, y)
    assert noisy.values_ == MutualInformationSearch(n_neighbors=3, n_neighbors_noise=7).fit(X, y).values_
    with pytest.warns(InputWarning, match=r"^n_neighbors=60, but there are only 7 other rows: using 7\.$"):
        assert knn_entropy(X, n_neighbors=60) == knn_entropy(X, n_neighbors=7)
    with pytest.warns(InputWarning, match=r"^n_neighbors=8, but there is only 1 other row: using 1\.$"):
        assert knn_entropy(X[:2]) == knn_entropy(X[:2], n_neighbors=1)
    with pytest.raises(ValueError, match="n_neighbors=0: give a whole number of neighbours, at least 1"):
        estimate_memberships(X, y, n_neighbors=0)


def test_identical_rows_and_ties():
    y = np.tile([0, 1], 15)
    same = np.ones((30, 3))
    with pytest.raises(ValueError, match=r"too many equal rows.*zero 60 times.*jitter=1e-3"):
        mutual_information(same, y)
    with pytest.raises(ValueError, match=r"too many equal rows.*zero 60 times.*jitter=1e-3"):
        estimate_memberships(same, y)
    with pytest.raises(ValueError, match="no feature that varies: all of its 3 columns are constant among the 30 rows"):
        MutualInformationSearch().fit(same, y)
    discrete = np.random.default_rng(0).integers(0, 2, size=(200, 3)).astype(float)
    labels = np.arange(200) % 2
    for estimator in (MutualInformationSearch(jitter=0.0), MutualInformationRanking(jitter=0.0)):
        with pytest.raises(ValueError, match=r"too many equal rows.*ties, duplicates, constant or discrete"):
            estimator.fit(discrete, labels)
    assert len(MutualInformationSearch(random_state=0).fit(discrete, labels).subsets_) == 3


def test_nan_in_the_table():
    X, y, _ = small_problem()
    X[3, 1] = np.nan
    for call in call_all(X, y):
        with pytest.raises(ValueError, match="NaN"):
            call()


@pytest.mark.parametrize("labels", [np.linspace(0, 1, 60) ** 2, np.arange(60)])
def test_a_numeric_target_looks_like_regression(labels):
    X, _, _ = small_problem()
    for call in call_all(X, labels):
        with pytest.raises(ValueError, match="looks like regression"):
            call()


def test_memberships_that_do_not_sum_to_one():
    X, _, _ = small_problem()
    P = soft(0, 60, 3)
    P[4] *= 2
    for call in [*call_all(X, P), lambda: noise_tolerant_mutual_information(X, P)]:
        with pytest.raises(ValueError, match="y has probabilities that sum to 2, not to 1, in row 4"):
            call()


def test_one_class_or_no_labels():
    X, _, _ = small_problem()
    for labels, message in (
        (np.zeros(60, dtype=int), "y has only one class"),
        (np.full(60, np.nan), "no labelled row"),
    ):
        for call in call_all(X, labels):
            with pytest.raises(ValueError, match=message):
                call()
    for function in (mutual_information, noise_tolerant_mutual_information):
        with pytest.raises(ValueError, match="y cannot be used: no target is given"):
            function(X, None)
    with pytest.raises(ValueError, match="y cannot be used: no target is given"):
        estimate_memberships(X, None)


def test_too_many_rows_are_refused_before_memory_is_asked_for():
    X = np.random.default_rng(0).normal(size=(500, 2))
    y = np.arange(500) % 2
    for call in (
        lambda: MutualInformationSearch(max_rows=400).fit(X, y),
        lambda: MutualInformationRanking(max_rows=400).fit(X, y),
        lambda: estimate_memberships(X, y, max_rows=400),
    ):
        with pytest.raises(ValueError, match=r"500 rows, more than max_rows=400.*GB here.*sample of the rows"):
            call()
    MutualInformationRanking(label_noise=False, max_rows=400).fit(X, y)  # keeps no such array


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"slack": 1.0}, "slack"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"direction": "sideways"}, "direction"),
        ({"reestimate": "never"}, "reestimate"),
        ({"jitter": -1.0}, "jitter"),
        ({"prescreen": 1, "n_features_to_select": 2}, "prescreen=1, but 2 features are to be selected"),
    ],
)
def test_wrong_parameters(parameters, message):
    X, y, _ = small_problem()
    with pytest.raises(ValueError, match=message):
        MutualInformationSearch(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=r"slack=1\.0: it must lie in \[0, 1\)"):
        noise_tolerant_mutual_information(X, y, slack=1.0)
