"""Scores from sampled rows: unbiased sums, honest standard errors, and the exact score when all rows are sampled."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from scipy import sparse

import dubio
from dubio.neighbors.graphs import AnchorEdges, RowNeighbors, TargetNeighbors, sample_rows
from dubio.neighbors.quadratic import numerator_and_denominator
from tests import naive

OPTIONS = [{}, {"t": "mean"}, {"kernel": "linear"}, {"symmetry": "and"}, {"n_neighbors": 2, "t": 3.0}]


def _table(n=80, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] += 3 * np.sign(X[:, 0])
    X[:, 3] = 2.5  # constant
    return X


def _exact_sums(S, f):
    """V A and V Q - M^2 as printed: sums over all pairs of rows."""
    D = S.sum(axis=1)
    energy = 0.5 * sum(S[i, j] * (f[i] - f[j]) ** 2 for i in range(len(f)) for j in range(len(f)))
    return D.sum() * energy, D.sum() * (D * f**2).sum() - (D * f).sum() ** 2


@pytest.mark.parametrize("symmetry", ["or", "and"])
def test_numerator_and_denominator_are_unbiased_over_all_samples(symmetry):
    """The mean over every possible sample of 3 of 7 rows is the exact value: no tolerance but rounding."""
    X = np.random.default_rng(1).normal(size=(7, 3)) + 50
    squared = naive.squared_distances(X)
    S = np.where(naive.close_pairs(squared, 2, symmetry), np.exp(-squared / 2.0), 0.0)
    whole = RowNeighbors(X, n_neighbors=2, symmetry=symmetry).anchors(2.0, n_anchors=7)
    scale = S[whole.rows[0], whole.neighbors[0]] @ np.ones(2) / (2 * whole.weights[0] @ np.ones(2))
    above, below = [], []
    for sample in itertools.combinations(range(7), 3):
        rows = np.asarray(sample)
        edges = AnchorEdges(7, rows, whole.neighbors[rows], whole.weights[rows])
        pair = numerator_and_denominator(edges, X[rows], X[edges.neighbors])
        above.append(pair[0])
        below.append(pair[1])
    for r in range(3):
        exact = _exact_sums(S, X[:, r])
        ratio = np.mean(above, axis=0)[r] / exact[0]
        # weights are relative to the closest pair's: one factor for all, squared in both products
        np.testing.assert_allclose(np.mean(below, axis=0)[r] / exact[1], ratio, rtol=1e-7)
        np.testing.assert_allclose(
            np.mean(above, axis=0)[r] / np.mean(below, axis=0)[r], exact[0] / exact[1], rtol=1e-7
        )
    assert scale > 0


@pytest.mark.parametrize("options", OPTIONS)
def test_edges_of_all_rows_are_the_graph(options):
    X = _table()
    t = options.get("t", 1.0)
    near = RowNeighbors(X, **{name: value for name, value in options.items() if name != "t"})
    graph = near.graph(t).toarray()
    edges = near.anchors(t, n_anchors=80)
    found = np.zeros((80, 80))
    for row, others, weights in zip(edges.rows, edges.neighbors, edges.weights, strict=True):
        found[row, others] += weights
    np.testing.assert_allclose(found + found.T, graph, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("options", OPTIONS)
def test_all_rows_sampled_is_exact(options):
    X = _table()
    exact = dubio.LaplacianScore(**options).fit(X)
    sampled = dubio.LaplacianScore(neighbors="anchors", n_anchors=80, **options).fit(X)
    np.testing.assert_allclose(sampled.scores_, exact.scores_, rtol=1e-10)
    np.testing.assert_array_equal(sampled.scores_std_error_, np.zeros(5))
    assert not hasattr(exact, "scores_std_error_")
    thin = dubio.LaplacianScore(neighbors="anchors", n_anchors=80, standardize=False, **options)
    np.testing.assert_allclose(thin.fit(sparse.csr_array(X)).scores_, dubio.laplacian_score(X, **options), rtol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.5, 0.9])
def test_all_rows_sampled_is_exact_with_numbers(missing):
    X = _table()
    rng = np.random.default_rng(2)
    y = X[:, 0] ** 3 + 0.1 * rng.normal(size=80)
    y[rng.random(80) < missing] = np.nan
    for exact in (dubio.SupervisedLaplacianScore(), dubio.SemiSupervisedLaplacianScore(n_neighbors=7, C=3.0)):
        expected = exact.fit(X, y).scores_
        exact.set_params(neighbors="anchors", n_anchors=500).fit(X, y)
        np.testing.assert_allclose(exact.scores_, expected, rtol=1e-10)


def test_a_sample_says_how_sure_it_is():
    X = _table(n=2000)
    exact = dubio.LaplacianScore(t="mean").fit(X).scores_
    fitted = dubio.LaplacianScore(t="mean", neighbors="anchors", n_anchors=300, random_state=0).fit(X)
    varies = np.isfinite(exact)
    assert (np.abs(fitted.scores_[varies] - exact[varies]) < 4.5 * fitted.scores_std_error_[varies]).all()
    assert (fitted.scores_std_error_[varies] > 0).all()
    assert fitted.scores_[3] == np.inf and fitted.scores_std_error_[3] == 0
    again = dubio.LaplacianScore(t="mean", neighbors="anchors", n_anchors=300, random_state=0).fit(X)
    np.testing.assert_array_equal(again.scores_, fitted.scores_)
    frame = fitted.to_ranking().to_frame()
    np.testing.assert_allclose(frame["std_error"], fitted.scores_std_error_[fitted.to_ranking().order])
    more = dubio.LaplacianScore(t="mean", neighbors="anchors", n_anchors=1200, random_state=0).fit(X)
    assert (more.scores_std_error_[varies] < fitted.scores_std_error_[varies]).all()
    exact_again = fitted.set_params(neighbors="exact").fit(X)
    assert not hasattr(exact_again, "scores_std_error_")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("selector", "has_target"),
    [
        (dubio.LaplacianScore(t=5.0), False),
        (dubio.LaplacianScore(t="mean"), False),
        (dubio.LaplacianScore(t="mean", symmetry="and"), False),
        (dubio.SupervisedLaplacianScore(t=0.01), True),
        (dubio.SemiSupervisedLaplacianScore(n_neighbors=8, t="mean"), True),
    ],
    ids=["LS", "LS mean", "LS and", "SLS", "SSLS"],
)
def test_error_over_standard_error_has_unit_spread(selector, has_target):
    """Over 200 samples: 0.8 to 1.25, feature by feature; and no bias beyond a quarter of a standard error."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 5))
    X[:, 1] += 2 * np.sign(X[:, 0])
    X[:, 4] = rng.exponential(size=1500)
    y = None
    if has_target:
        y = X[:, 1] + 0.5 * rng.normal(size=1500)
        y[::3] = np.nan
    exact = selector.fit(X, y).scores_
    selector.set_params(neighbors="anchors", n_anchors=200)
    ratios = np.asarray(
        [
            (selector.set_params(random_state=seed).fit(X, y).scores_ - exact) / selector.scores_std_error_
            for seed in range(200)
        ]
    )
    spread = ratios.std(axis=0)
    assert ((spread > 0.8) & (spread < 1.25)).all(), spread
    assert (np.abs(ratios.mean(axis=0)) < 0.25).all(), ratios.mean(axis=0)


def test_line_neighbours_of_some_rows():
    y = np.random.default_rng(4).integers(0, 9, size=60).astype(float)  # many ties
    edges = TargetNeighbors(y, n_neighbors=5).anchors(1.0, n_anchors=20)
    distances = np.abs(y[:, None] - y[None, :])
    for row, found in zip(edges.rows, edges.neighbors, strict=True):
        assert list(found) == naive.nearest(distances, row, 5)


def test_samples_are_rows_without_repetition():
    rows = sample_rows(100, 40, 0)
    assert len(set(rows.tolist())) == 40 and rows.min() >= 0 and rows.max() < 100
    np.testing.assert_array_equal(sample_rows(5, 9, 0), np.arange(5))
    with pytest.raises(ValueError, match="n_anchors=1"):
        sample_rows(5, 1, 0)


def test_bad_parameters():
    X = _table()
    with pytest.raises(ValueError, match="neighbors"):
        dubio.laplacian_score(X, neighbors="anchor")
    with pytest.raises(ValueError, match="graph is given together with neighbors='anchors'"):
        dubio.laplacian_score(X, graph=sparse.eye_array(80), neighbors="anchors")
    with pytest.raises(ValueError, match="neighbors='approximate': give"):
        dubio.SupervisedLaplacianScore(neighbors="approximate").fit(X, X[:, 0])


def test_few_rows_are_searched_exactly_all_the_same():
    X = _table()
    np.testing.assert_array_equal(dubio.laplacian_score(X, neighbors="approximate"), dubio.laplacian_score(X))


def test_what_approximate_neighbours_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ImportError, match=r"pip install 'dubio\[approximate\]'"):
        dubio.laplacian_score(np.random.default_rng(0).normal(size=(5000, 2)), neighbors="approximate")


@pytest.mark.slow  # pynndescent compiles for minutes
def test_approximate_neighbours_are_nearly_exact():
    pytest.importorskip("pynndescent")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(5000, 6))
    X[:, 1] += 3 * np.sign(X[:, 0])
    y = np.where(np.arange(5000) % 4 == 0, X[:, 1], np.nan)
    for selector, target in (
        (dubio.LaplacianScore(t="mean"), None),
        (dubio.SemiSupervisedLaplacianScore(n_neighbors=10, t="mean"), y),
    ):
        exact = selector.fit(X, target).scores_
        found = selector.set_params(neighbors="approximate", random_state=0).fit(X, target)
        np.testing.assert_allclose(found.scores_, exact, rtol=0.02)
        np.testing.assert_array_equal(found.scores_, selector.fit(X, target).scores_)  # the seed decides
    thin = sparse.csr_array(np.where(rng.random((5000, 40)) < 0.1, rng.random((5000, 40)), 0.0))
    exact = dubio.laplacian_score(thin, t="mean")
    np.testing.assert_allclose(
        dubio.laplacian_score(thin, t="mean", neighbors="approximate", random_state=0), exact, rtol=0.05
    )
