"""Rows that come in blocks, sparse rows and float32 rows give what all rows at once give."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import dubio
from dubio.moments.class_moments import class_moments
from dubio.moments.running import RunningMoments, merge_all
from dubio.target.reader import read_supervision
from tests import naive

SELECTORS = [dubio.WeightedLaplacianScore(), dubio.FisherScore(), dubio.ConstraintScore()]


@pytest.fixture(params=SELECTORS, ids=lambda s: type(s).__name__)
def selector(request):
    return clone(request.param)


def _table(n=97, d=5, seed=0, classes=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, size=n)
    X = rng.normal(size=(n, d)) + y[:, None] * np.arange(d) * 0.3
    X[:, 0] += 1e8  # an offset that eats half the digits of a double
    X[:, 3] = 7.1  # constant
    return X, y


def _in_blocks(selector, X, y, size):
    for start in range(0, len(y), size):
        selector.partial_fit(X[start : start + size], y[start : start + size])
    return selector


@pytest.mark.parametrize("size", [1, 2, 13, 50, 96, 97, 200])
def test_blocks_of_any_size_equal_fit(selector, size):
    X, y = _table()
    whole = clone(selector).fit(X, y)
    blocks = _in_blocks(selector, X, y, size)
    np.testing.assert_allclose(blocks.scores_, whole.scores_, rtol=1e-10)
    np.testing.assert_array_equal(blocks.ranking_, whole.ranking_)
    np.testing.assert_array_equal(blocks.classes_, whole.classes_)
    assert (blocks.n_labelled_, blocks.n_unlabelled_) == (whole.n_labelled_, whole.n_unlabelled_)


def test_the_literal_formula_by_blocks():
    X, _ = _table(n=40)
    X[:, 0] -= 1e8  # the literal formula loses the digits
    P = np.random.default_rng(1).dirichlet([1, 1, 1], size=40)
    blocks = _in_blocks(dubio.WeightedLaplacianScore(), X, P, 7)
    np.testing.assert_allclose(blocks.scores_, naive.weighted_laplacian_score(X, P), rtol=1e-10)


def test_a_class_that_first_appears_in_the_last_block(selector):
    X, y = _table()
    order = np.argsort(y, kind="stable")  # sorted by class: each block meets new ones
    names = np.asarray(["ant", "bee", "cat", "dog"])[y]
    whole = clone(selector).fit(X, names)
    np.testing.assert_allclose(_in_blocks(selector, X[order], names[order], 30).scores_, whole.scores_, rtol=1e-10)
    assert list(selector.classes_) == ["ant", "bee", "cat", "dog"]
    backwards = _in_blocks(clone(selector), X[order[::-1]], names[order[::-1]], 30)
    np.testing.assert_allclose(backwards.scores_, whole.scores_, rtol=1e-10)
    assert list(backwards.classes_) == list(selector.classes_)


def test_one_class_so_far_is_not_fitted_yet(selector):
    X, y = _table()
    order = np.argsort(y, kind="stable")
    selector.partial_fit(X[order[:5]], y[order[:5]])
    with pytest.raises(NotFittedError):
        selector.transform(X)
    selector.partial_fit(X, y)
    assert selector.transform(X).shape == (97, 2)


def test_minus_one_and_a_single_class_in_a_block_is_no_error(selector):
    X, y = _table()
    y = np.where(np.arange(97) % 3 == 0, -1, y)
    first = np.flatnonzero((y == 0) | (y == -1))
    rest = np.setdiff1d(np.arange(97), first)
    blocks = selector.partial_fit(X[first], y[first]).partial_fit(X[rest], y[rest])
    np.testing.assert_allclose(blocks.scores_, clone(selector).fit(X, y).scores_, rtol=1e-10)
    assert blocks.n_unlabelled_ == (y == -1).sum()


def test_a_block_without_any_label(selector):
    X, y = _table()
    for labels in (np.full(5, -1), np.asarray([None] * 5, dtype=object)):
        blocks = clone(selector).partial_fit(X[:5] * 3, labels).partial_fit(X, y).partial_fit(X[:5] * 3, labels)
        np.testing.assert_allclose(blocks.scores_, clone(selector).fit(X, y).scores_, rtol=1e-10)
        assert blocks.n_unlabelled_ == 10


def test_merge_equals_fit_and_refuses_strangers(selector):
    X, y = _table()
    parts = [clone(selector).partial_fit(X[a:b], y[a:b]) for a, b in ((0, 10), (10, 60), (60, 97))]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    np.testing.assert_allclose(merged.scores_, clone(selector).fit(X, y).scores_, rtol=1e-10)
    with pytest.raises(ValueError, match="different features"):
        merged.merge(clone(selector).partial_fit(X[:, :3], y))
    with pytest.raises(ValueError, match="have seen rows"):
        merged.merge(clone(selector))
    stranger = dubio.FisherScore() if not isinstance(selector, dubio.FisherScore) else dubio.WeightedLaplacianScore()
    with pytest.raises(ValueError, match="only another"):
        merged.merge(stranger.partial_fit(X, y))


def test_fit_starts_anew(selector):
    X, y = _table()
    again = selector.partial_fit(X * 5, y).fit(X, y)
    np.testing.assert_array_equal(again.scores_, clone(selector).fit(X, y).scores_)
    more = again.partial_fit(X[:40], y[:40])
    both = clone(selector).fit(np.vstack([X, X[:40]]), np.concatenate([y, y[:40]]))
    np.testing.assert_allclose(more.scores_, both.scores_, rtol=1e-10)


def test_a_bad_block_leaves_the_selector_as_it_was(selector):
    X, y = _table()
    selector.partial_fit(X, y)
    before = selector.scores_.copy()
    bad = X[:4].copy()
    bad[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in 1 row of column 1, first in row 99"):
        selector.partial_fit(bad, y[:4])
    with pytest.raises(ValueError, match=r"numbers \(such as 0\) in one block and text \(such as 'a'\)"):
        selector.partial_fit(X[:4], ["a", "b", "a", "b"])
    with pytest.raises(ValueError, match="4 features"):
        selector.partial_fit(X[:4, :4], y[:4])
    np.testing.assert_array_equal(selector.scores_, before)
    assert selector.n_labelled_ == 97
    other = clone(selector).partial_fit(X, y).partial_fit(X, y).scores_
    np.testing.assert_array_equal(selector.partial_fit(X, y).scores_, other)


def test_bools_and_numbers_are_not_the_same_classes(selector):
    X, y = _table(classes=2)
    numbers, bools = (clone(selector).fit(X, labels) for labels in (y, y > 0))
    message = r"numbers \(such as 0\) in one block and bools \(such as False\) in another"
    with pytest.raises(ValueError, match=message):
        numbers.merge(bools)
    with pytest.raises(ValueError, match=message):
        numbers.partial_fit(X, y > 0)
    with pytest.raises(ValueError, match="give all labels one type"):
        bools.partial_fit(X, (y > 0).astype(object)).partial_fit(X, y)
    assert numbers.merge(clone(selector).fit(X, y.astype(float))).n_labelled_ == 2 * len(X)


def test_blocks_forget_the_tests_of_an_earlier_fit():
    X, y = _table(classes=2)
    selector = dubio.FisherScore(n_features_to_select="auto").fit(X, y)
    assert selector.qvalues_.shape == (5,)
    selector.set_params(n_features_to_select=2).partial_fit(X, y)
    assert not hasattr(selector, "pvalues_") and not hasattr(selector, "qvalues_")
    assert selector.to_ranking().extras == {}


def test_soft_blocks_must_agree():
    X, _ = _table(n=10)
    P = np.full((10, 2), 0.5)
    selector = dubio.FisherScore().partial_fit(X, pd.DataFrame(P, columns=["a", "b"]))
    with pytest.raises(ValueError, match=r"different classes in different blocks: \['a', 'b'\] and \['a', 'c'\]"):
        selector.partial_fit(X, pd.DataFrame(P, columns=["a", "c"]))
    with pytest.raises(ValueError, match="one class per row in others"):
        selector.partial_fit(X, ["a", "b"] * 5)
    with pytest.raises(ValueError, match="one label per row"):
        dubio.ConstraintScore().partial_fit(X, P)


def test_sample_weight_by_blocks():
    X, y = _table()
    weights = np.random.default_rng(2).random(97)
    blocks = dubio.FisherScore()
    for part in np.array_split(np.arange(97), 5):
        blocks.partial_fit(X[part], y[part], sample_weight=weights[part])
    np.testing.assert_allclose(blocks.scores_, dubio.FisherScore().fit(X, y, weights).scores_, rtol=1e-10)


def test_pairs_cannot_be_continued():
    X, y = _table()
    selector = dubio.ConstraintScore().fit(X, must_link=[(0, 1)], cannot_link=[(0, 2)])
    with pytest.raises(ValueError, match="fitted on pairs"):
        selector.partial_fit(X, y)


@given(
    cuts=st.lists(st.integers(0, 60), max_size=6),
    seed=st.integers(0, 1000),
    offset=st.sampled_from([0.0, 1e3, -1e7]),
)
def test_moments_of_any_partition_are_those_of_the_whole(cuts, seed, offset):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) + offset
    y = rng.integers(0, 4, size=60)
    parts = []
    for rows in np.split(rng.permutation(60), sorted(cuts)):
        if len(rows):
            block = read_supervision(y[rows], len(rows), is_block=True)
            parts.append(RunningMoments.of_block(block, class_moments(X[rows], block.memberships)))
    merged, onehot = merge_all(parts), np.eye(4)[y]
    present = np.flatnonzero(onehot.any(axis=0))
    for k, code in enumerate(present):
        group = X[y == code] - offset
        np.testing.assert_allclose(merged.moments.weight[k], len(group))
        np.testing.assert_allclose(merged.moments.m2[k], group.var(axis=0) * len(group), rtol=1e-7, atol=1e-7)
    assert merged.n_rows == 60


def test_a_far_away_column_keeps_its_digits():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, size=500)
    near = np.round(rng.normal(size=(500, 1)) + y[:, None], 3)
    far = near + 2.0**33  # exactly representable: the same differences
    near = far - 2.0**33
    for form in (np.asarray, np.asfortranarray, sparse.csr_array):
        np.testing.assert_allclose(dubio.fisher_score(form(far), y), dubio.fisher_score(near, y), rtol=1e-10)
        blocks = _in_blocks(dubio.FisherScore(), form(far), y, 70)
        np.testing.assert_allclose(blocks.scores_, dubio.fisher_score(near, y), rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("unsorted", [False, True])
def test_sparse_equals_dense(n_classes, unsorted):
    rng = np.random.default_rng(4)
    X = np.where(rng.random((300, 40)) < 0.1, rng.normal(size=(300, 40)), 0.0)
    X[:, 5] = 0.0
    X[:, 6] = 3.7  # constant and stored everywhere
    X[:, 7] = 1e7 + rng.normal(size=300)  # stored everywhere and far from zero
    P = rng.dirichlet(np.ones(n_classes), size=300)
    P[::7] = np.nan
    table = sparse.csr_array(X)
    if unsorted:
        for i in range(300):
            row = slice(table.indptr[i], table.indptr[i + 1])
            table.indices[row], table.data[row] = table.indices[row][::-1].copy(), table.data[row][::-1].copy()
        table.has_sorted_indices = False
    for score in (dubio.weighted_laplacian_score, dubio.fisher_score):
        np.testing.assert_allclose(score(table, P), score(X, P), rtol=1e-10)
        assert score(table, P)[6] == score(X, P)[6]  # exactly the worst


def test_a_sparse_value_stored_in_parts():
    parts = sparse.csr_array((np.asarray([1.0, 2.0, 5.0, 1.0]), [0, 0, 0, 0], [0, 2, 3, 4, 4]), shape=(4, 1))
    before = parts.data.copy()
    np.testing.assert_allclose(
        dubio.fisher_score(parts, [0, 0, 1, 1]), dubio.fisher_score([[3.0], [5.0], [1.0], [0.0]], [0, 0, 1, 1])
    )
    np.testing.assert_array_equal(parts.data, before)


def test_sparse_column_stored_in_one_class_only():
    """A value near 1e6 in one class and nothing in the other: the spread within the class must not cancel."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 100)
    X = np.where(y == 0, 1e6 + rng.normal(size=200), 0.0)[:, None]
    np.testing.assert_allclose(dubio.fisher_score(sparse.csr_array(X), y), dubio.fisher_score(X, y), rtol=1e-10)


def test_sparse_constraint_score_with_pairs():
    rng = np.random.default_rng(6)
    X = np.where(rng.random((60, 8)) < 0.3, rng.normal(size=(60, 8)), 0.0)
    X[:, 2] = 0.0
    pairs = {"must_link": [(0, 1), (1, 2), (5, 6)], "cannot_link": [(0, 5), (7, 8), (2, 30)]}
    labels = np.where(np.arange(60) % 4 == 0, np.arange(60) % 3, -1)
    for options in ({}, {"closure": False}):
        dense = dubio.ConstraintScore(**options).fit(X, **pairs)
        thin = dubio.ConstraintScore(**options).fit(sparse.csr_array(X), **pairs)
        np.testing.assert_allclose(thin.scores_, dense.scores_, rtol=1e-10)
    thin = dubio.ConstraintScore().fit(sparse.csr_array(X), labels, must_link=[(0, 1)], cannot_link=[(1, 7)])
    np.testing.assert_allclose(
        thin.scores_,
        dubio.ConstraintScore().fit(X, labels, must_link=[(0, 1)], cannot_link=[(1, 7)]).scores_,
        rtol=1e-10,
    )
    np.testing.assert_allclose(
        dubio.constraint_score(sparse.csr_array(X), y=labels), dubio.constraint_score(X, y=labels), rtol=1e-10
    )


def test_a_bad_sparse_value_is_located():
    rng = np.random.default_rng(7)
    cells = np.where(rng.random((50, 6)) < 0.2, rng.random((50, 6)), 0.0)
    cells[0, 0] = 1.0
    X = sparse.csr_array(cells)
    y = np.where(np.arange(50) < 20, -1, np.arange(50) % 2)
    for bad in (np.nan, np.inf):
        table = X.copy()
        table.data[0] = bad  # in an unlabelled row: seen all the same
        with pytest.raises(ValueError, match=r"in 1 row of column \d, first in row 0"):
            dubio.fisher_score(table, y)


@pytest.mark.parametrize("order", ["C", "F"])
def test_float32_is_not_copied_and_summed_in_float64(order):
    rng = np.random.default_rng(8)
    X = np.asarray(rng.normal(size=(50_000, 100)) + 1000, dtype=np.float32, order=order)
    y = rng.integers(0, 2, size=50_000)
    selector = dubio.WeightedLaplacianScore().fit(X[:100], y[:100])  # compiled
    tracemalloc.start()
    selector.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes  # labels and memberships, no second table
    np.testing.assert_allclose(selector.scores_, dubio.weighted_laplacian_score(X.astype(np.float64), y), rtol=1e-10)
