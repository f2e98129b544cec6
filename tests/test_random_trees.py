"""The audit's forest: scikit-learn's own, to the last bit, whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.tree import ExtraTreeClassifier

from dubio import _sklearn
from dubio._sklearn import grow_random_trees
from dubio.doubt import random_trees
from dubio.doubt.random_trees import RandomTrees, judge_by_trees, random_parts
from dubio.errors import InputError


@pytest.mark.parametrize(("n", "d", "n_classes", "leaf"), [(20, 1, 2, 1), (60, 5, 3, 2), (300, 40, 6, 2)])
def test_probabilities_are_those_of_scikit_learn(n, d, n_classes, leaf):
    rng = np.random.default_rng(n)
    X = np.round(rng.normal(size=(n, d)), 1)  # ties
    X[:, -1] = 3.0 if d > 1 else X[:, -1]  # a constant column
    y = rng.integers(0, n_classes, n) * 2 + 1
    for seed in range(3):
        theirs = ExtraTreesClassifier(30, min_samples_leaf=leaf, random_state=seed).fit(X, y)
        for n_jobs in (None, 2):
            ours = RandomTrees(30, min_samples_leaf=leaf, random_state=seed, n_jobs=n_jobs).fit(X, y)
            np.testing.assert_array_equal(ours.classes_, theirs.classes_)
            np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


def test_the_public_trees_are_the_same_if_scikit_learn_hides_its_builder(monkeypatch):
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(80, 6)), rng.integers(0, 3, 80), rng.uniform(0.5, 2.0, 80)
    expected = RandomTrees(20, min_samples_leaf=2).fit(X, y, weights).predict_proba(X)
    for fault in (ImportError, TypeError):

        def gone(*_, fault=fault):
            raise fault

        monkeypatch.setattr(_sklearn, "compiled_trees", gone)
        np.testing.assert_array_equal(RandomTrees(20, min_samples_leaf=2).fit(X, y, weights).predict_proba(X), expected)


def test_layout_and_precision_do_not_matter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)).astype(np.float32), rng.integers(0, 2, 50)
    expected = RandomTrees(10, random_state=0).fit(X, y).predict_proba(X)
    other = np.asfortranarray(X.astype(np.float64))
    other.setflags(write=False)
    np.testing.assert_array_equal(RandomTrees(10, random_state=0).fit(other, y).predict_proba(other), expected)


def test_values_beyond_single_precision_are_refused():
    X = np.array([[1.0], [1e39], [2.0], [3.0]])
    with pytest.raises(InputError, match="X has values above 3e38, too large for the trees of the audit"):
        RandomTrees(2).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("hidden", [False, True])
def test_trees_of_numbers_are_those_of_scikit_learn(hidden, monkeypatch):
    rng = np.random.default_rng(2)
    X, y, w = rng.normal(size=(70, 5)).astype(np.float32), rng.normal(size=70), rng.uniform(0.5, 2.0, 70)
    if hidden:
        monkeypatch.delattr("sklearn.tree._criterion.MSE")
    for weights in (None, w):
        theirs = ExtraTreesRegressor(8, min_samples_leaf=2, random_state=0).fit(X, y, weights)
        seeds = [tree.random_state for tree in theirs.estimators_]
        ours = grow_random_trees(X, y[:, None], seeds, 2, weights, n_classes=0)
        np.testing.assert_array_equal(sum(tree.predict(X)[:, 0] for tree in ours) / 8, theirs.predict(X))


def _judged(X, y, n_classes, *, known=None, seed=0, **more):
    known = np.ones(len(y), dtype=bool) if known is None else known
    more = {"learned": known, "n_parts": 3, **more}
    return judge_by_trees(X, y, n_classes, known=known, random_state=np.random.RandomState(seed), **more)


def test_every_row_is_judged_by_trees_that_have_not_seen_it(monkeypatch):
    """Literally: for each part of each split, a tree of scikit-learn that learned from the other parts."""
    monkeypatch.setattr(random_trees, "N_TREES", 12)
    rng = np.random.default_rng(1)
    n, n_classes = 50, 3
    X, y = rng.normal(size=(n, 4)).astype(np.float32), rng.integers(0, n_classes, n)
    known, learned = rng.random(n) < 0.8, rng.random(n) < 0.9
    weights = rng.uniform(0.5, 2.0, n)
    seeds = np.random.RandomState(5).randint(np.iinfo(np.int32).max, size=4)
    said = [[] for _ in range(n)]
    for seed in seeds:
        state = np.random.RandomState(seed)
        part_of = np.full(n, -1)
        part_of[known] = random_parts(y[known], None, 3, state)
        for part in range(3):
            training = known & learned & (part_of != part)
            tree = ExtraTreeClassifier(min_samples_leaf=2, random_state=state.randint(np.iinfo(np.int32).max))
            tree.fit(X[training], y[training], weights[training])
            for row in np.flatnonzero((part_of == part) | ~known):
                said[row].append(tree.predict_proba(X[row : row + 1])[0])
    assert {len(one) for one in said} == {4, 12}
    found = _judged(X, y, n_classes, known=known, learned=learned, weights=weights, seed=5)
    np.testing.assert_allclose(found, [np.mean(one, axis=0) for one in said], rtol=1e-12)
    two = _judged(X, y, n_classes, known=known, learned=learned, weights=weights, seed=5, n_jobs=2)
    np.testing.assert_array_equal(two, found)


def test_the_value_of_a_row_does_not_change_its_own_prediction():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    groups = np.repeat(np.arange(20), 2)
    for together, own in ((None, [7]), (groups, [6, 7])):
        changed = y.copy()
        changed[7] += 50.0
        before, after = (_judged(X, values, 0, groups=together) for values in (y, changed))
        np.testing.assert_array_equal(before[own], after[own])
        assert (before != after).mean() > 0.5


def test_a_class_in_one_group_is_unknown_where_this_group_is_held_out():
    rng = np.random.default_rng(4)
    y, groups = np.repeat([0, 1, 2], [20, 20, 4]), np.repeat(np.arange(11), 4)
    found = _judged(rng.normal(size=(44, 3)), y, 3, groups=groups)
    assert (found[y == 2, 2] == 0).all() and (found[y < 2, 2] > 0).any()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_parts_share_out_strata_and_keep_groups_whole():
    rng = np.random.default_rng(6)
    strata = rng.integers(0, 4, 203)
    parts = random_parts(strata, None, 5, np.random.RandomState(0))
    counts = np.array([np.bincount(parts[strata == s], minlength=5) for s in range(4)])
    assert (np.ptp(counts, axis=1) <= 1).all() and np.ptp(np.bincount(parts)) <= 1
    groups = rng.integers(0, 30, 203)
    parts = random_parts(strata, groups, 5, np.random.RandomState(0))
    assert all(len(set(parts[groups == group])) == 1 for group in range(30)) and set(parts) == set(range(5))
