"""Faults found in other feature-selection packages, each as a test that passes here."""

from __future__ import annotations

import numpy as np
import pytest

import dubio
from dubio.neighbors.graphs import RowNeighbors


@pytest.fixture
def problem():
    """300 rows, six columns of which the fifth is relevant, and 80 % of the labels to hide."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = (X[:, 4] + 0.3 * rng.normal(size=300) > 0).astype(int)
    return X, y, rng.uniform(size=300) < 0.8


@pytest.mark.parametrize("method", [dubio.WeightedLaplacianScore, dubio.FisherScore])
@pytest.mark.parametrize("mark", [-1, None, np.nan])
def test_unlabelled_is_not_one_more_class(problem, method, mark):
    """Peers score -1 and NaN as a class of their own, silently; here such rows are left out and counted."""
    X, y, hidden = problem
    labels = y.astype(object)
    labels[hidden] = mark
    fitted = method().fit(X, labels)
    np.testing.assert_allclose(fitted.scores_, method().fit(X[~hidden], y[~hidden]).scores_, rtol=1e-9)
    assert fitted.n_unlabelled_ == hidden.sum()
    assert list(fitted.classes_) == [0, 1]
    assert fitted.ranking_[4] == 1


def test_probabilities_are_taken_as_they_are(problem):
    X, y, _ = problem
    assert dubio.WeightedLaplacianScore().fit(X, np.column_stack([1 - 0.8 * y, 0.8 * y])).ranking_[4] == 1


@pytest.mark.parametrize("score", [dubio.fisher_score, dubio.weighted_laplacian_score])
def test_a_probability_in_one_column_is_refused_not_scored_as_300_classes(problem, score):
    X, y, _ = problem
    with pytest.raises(ValueError, match=r"looks like regression.*column_stack"):
        score(X, np.clip(0.8 * y + 0.1 * np.abs(X[:, 0]), 0, 1))


def test_input_is_unchanged_by_the_default_graph(problem):
    X = problem[0].copy()
    dubio.laplacian_score(X)
    np.testing.assert_array_equal(X, problem[0])


def test_duplicates_are_not_mistaken_for_the_row_itself():
    """A row's own place among its neighbours is not always the first: with duplicates it may be any."""
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 4, axis=0)
    graph = RowNeighbors(X, n_neighbors=3).graph()
    assert (graph.diagonal() == 0).all()
    groups = np.arange(40) // 4
    rows = np.repeat(np.arange(40), np.diff(graph.indptr))
    assert (groups[rows] == groups[graph.indices]).all()  # the three nearest of each are its copies
    np.testing.assert_array_equal(np.diff(graph.indptr), 3)


def test_scores_are_kept_beside_the_ranking(problem):
    X, y, _ = problem
    fitted = dubio.FisherScore().fit(X, y)
    np.testing.assert_array_equal(np.argsort(-fitted.scores_), fitted.to_ranking().order)


@pytest.mark.parametrize("value", [2.0, 0.1, 1e6])
def test_a_constant_column_is_never_chosen_first(problem, value):
    X, y, _ = problem
    X = X.copy()
    X[:, 0] = value
    for fitted in (dubio.LaplacianScore().fit(X), dubio.FisherScore().fit(X, y)):
        assert fitted.ranking_[0] == 6
        assert not np.isnan(fitted.scores_).any()


def test_integer_tables_are_not_truncated(problem):
    X, y, _ = problem
    whole = np.round(10 * X).astype(int)
    np.testing.assert_allclose(
        dubio.laplacian_score(whole, t="mean"), dubio.laplacian_score(whole.astype(float), t="mean")
    )
    np.testing.assert_allclose(dubio.fisher_score(whole, y), dubio.fisher_score(whole.astype(float), y))


def test_a_closed_formula_needs_no_square_matrix():
    """A peer builds an n x n array for the Fisher score and dies at 50,000 rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60_000, 3)), rng.integers(0, 2, size=60_000)
    assert np.isfinite(dubio.fisher_score(X, y)).all()
