"""Smooth and linear R2 against their literal versions, and the laws they obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif, r_regression

from dubio import LinearR2Score, SmoothR2Score, fisher_score, linear_r2_score, smooth_r2_score
from tests import naive


def _table(n=90, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("n", [5, 9, 33, 90, 200])
def test_smooth_r2_is_the_literal_one(n):
    X = _table(n)
    y = X[:, 0] ** 2 + X[:, 1]
    P = np.random.default_rng(1).dirichlet([1, 1, 1], size=n)
    np.testing.assert_allclose(
        smooth_r2_score(X, y, target="numbers"),
        [naive.smooth_r2_score(x, y[:, None]) for x in X.T],
        rtol=1e-10,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        smooth_r2_score(X, P), [naive.smooth_r2_score(x, P) for x in X.T], rtol=1e-10, atol=1e-12
    )


def test_linear_r2_is_the_literal_one():
    X = _table()
    P = np.random.default_rng(1).dirichlet([1, 1, 1], size=len(X))
    np.testing.assert_allclose(linear_r2_score(X, P), [naive.linear_r2_score(x, P[:, :2]) for x in X.T], rtol=1e-9)


def test_linear_r2_is_known_under_other_names():
    X = _table()
    y = np.random.default_rng(2).integers(0, 3, size=len(X))
    fisher = fisher_score(X, y)
    np.testing.assert_allclose(linear_r2_score(X, y), fisher / (1 + fisher), rtol=1e-9)
    ratio = f_classif(X, y)[0]
    np.testing.assert_allclose(linear_r2_score(X, y), ratio * 2 / (ratio * 2 + len(X) - 3), rtol=1e-9)
    np.testing.assert_allclose(
        linear_r2_score(X, X[:, 0] + X[:, 1]), r_regression(X, X[:, 0] + X[:, 1]) ** 2, rtol=1e-9
    )


@given(st.integers(0, 10_000), st.sampled_from([np.exp, np.cbrt, lambda x: 3 * x + 7, np.arctan]))
def test_smooth_r2_depends_on_ranks_only(seed, monotone):
    X = _table(40, 3, seed)
    y = np.random.default_rng(seed).normal(size=40)
    np.testing.assert_allclose(smooth_r2_score(X, y), smooth_r2_score(monotone(X), y), rtol=1e-12)


@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-1e6, 1e6))
def test_smooth_r2_knows_no_direction_and_no_units_of_y(seed, scale, offset):
    X = _table(40, 3, seed)
    y = np.random.default_rng(seed).normal(size=40)
    there = smooth_r2_score(X, y, target="numbers")
    np.testing.assert_allclose(there, smooth_r2_score(-X, y, target="numbers"), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(there, smooth_r2_score(X, scale * y + offset, target="numbers"), rtol=1e-6, atol=1e-7)
    assert (there <= 1).all()


def test_ties_are_broken_by_the_seed_and_equal_columns_score_alike():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, size=120)] * 2).astype(float)
    y = rng.normal(size=120) + X[:, 0]
    scores = smooth_r2_score(X, y, random_state=1)
    assert scores[0] == scores[1]
    np.testing.assert_array_equal(scores, smooth_r2_score(X, y, random_state=1))
    assert scores[0] != smooth_r2_score(X, y, random_state=2)[0]
    assert scores[0] > 0.3


def test_a_target_that_is_in_the_order_of_the_rows_does_not_lead_ties():
    """Sorted y and a feature of few values: without a random order of ties it would look related."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.normal(size=200))
    X = np.array([rng.permutation(np.repeat([0.0, 1.0], 100)) for _ in range(20)]).T
    assert np.abs(smooth_r2_score(X, y)).mean() < 0.1


@pytest.mark.parametrize("score", [smooth_r2_score, linear_r2_score])
def test_constant_columns_offsets_and_unlabelled_rows(score):
    X = _table()
    X[:, 3] = 4.0
    y = np.random.default_rng(1).integers(0, 2, size=len(X)).astype(float)
    worst = -np.inf if score is smooth_r2_score else 0.0
    assert score(X, y)[3] == worst
    np.testing.assert_allclose(score(X + 1e6, y), score(X, y), rtol=1e-6)
    hidden = y.copy()
    hidden[60:] = np.nan
    np.testing.assert_allclose(score(X, hidden)[:3], score(X[:60], y[:60])[:3], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("score", [smooth_r2_score, linear_r2_score])
def test_bad_targets(score):
    X = _table(20)
    with pytest.raises(ValueError, match="target y is None"):
        score(X, None)
    with pytest.raises(ValueError, match="is the same for all 20"):
        score(X, np.full((20, 2), 0.5))
    with pytest.raises(ValueError, match="is the same for all 20"):
        score(X, np.full(20, 3.5))
    with pytest.raises(ValueError, match="only one class"):
        score(X, np.zeros(20, dtype=int))
    with pytest.raises(ValueError, match=r"target='words'"):
        score(X, np.arange(20), target="words")


def test_target_may_be_said():
    X = _table(100)
    y = np.arange(100) % 7
    as_classes = SmoothR2Score(target="classes").fit(X, y).scores_
    as_numbers = SmoothR2Score(target="numbers").fit(X, y).scores_
    assert not np.allclose(as_classes, as_numbers)
    assert hasattr(LinearR2Score(target="classes").fit(X, y), "classes_")
    assert not hasattr(LinearR2Score(target="numbers").fit(X, y), "classes_")
