"""The audit's forest: scikit-learn's own, to the last bit, whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from dubio import _sklearn
from dubio.doubt.random_trees import RandomTrees
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
