"""The linear search equals an elimination that fits again for every candidate, in every form the table may come in."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_info

import dubio
from dubio import LinearSearch
from dubio.errors import NoFeatureStandsOut
from dubio.kernels.threads import one_blas_thread
from dubio.moments.second_moments import SecondMoments
from dubio.problem import read_problem
from dubio.searches.linear_search import gcv_ridge, ridge_elimination
from dubio.streams.stream import fit_stream, rank_stream
from tests import naive

KINDS = ("hard", "soft", "numbers")


def _table(n=120, d=7, seed=0):
    """A table with a duplicate, a constant column and columns on different scales; the target of every kind."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    X = rng.normal(size=(n, d)) * np.logspace(-2, 2, d) + 5.0
    X[:, 1] += 0.02 * y
    X[:, 4] += 30.0 * (y == 1)
    X[:, 5] = 3.0  # constant
    X[:, 6] = X[:, 4]  # a duplicate
    P = 0.7 * np.eye(3)[y] + 0.3 * rng.dirichlet([1, 1, 1], size=n)
    numbers = X[:, 1] * 40 - X[:, 4] / 10 + rng.normal(size=n)
    return X, {"hard": y, "soft": P, "numbers": numbers}


def _columns(y):
    """The target as columns, as the formula wants it."""
    if np.ndim(y) == 2:
        return np.asarray(y)
    return np.eye(3)[y] if np.asarray(y).dtype.kind == "i" else np.asarray(y)[:, None]


def _same(found, expected, rtol=1e-10):
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    assert list(found.values_) == list(expected.values_)
    np.testing.assert_allclose(list(found.values_.values()), list(expected.values_.values()), rtol=rtol)
    np.testing.assert_allclose(found.ridge_, expected.ridge_, rtol=1e-12)
    for size, subset in expected.subsets_.items():
        np.testing.assert_array_equal(found.subsets_[size], subset)
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert (found.n_labelled_, found.n_unlabelled_) == (expected.n_labelled_, expected.n_unlabelled_)
    assert hasattr(found, "classes_") == hasattr(expected, "classes_")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ridge", [1e-6, 0.05, 3.0])
def test_it_is_the_literal_elimination(kind, ridge):
    X, targets = _table()
    found = LinearSearch(ridge=ridge).fit(X, targets[kind])
    order, values = naive.linear_search(X, _columns(targets[kind]), ridge)
    assert found.to_ranking().order.tolist() == order
    np.testing.assert_allclose([found.values_[size] for size in values], list(values.values()), rtol=1e-7)
    assert found.subsets_[3].tolist() == order[:3] and found.ranking_[5] == 7
    # what each feature adds is its score; the constant column adds nothing
    adds = np.diff([0.0, *(found.values_[size] for size in sorted(found.values_))])
    np.testing.assert_allclose(found.to_ranking().scores[order[:-1]], adds, atol=1e-7)
    assert found.to_ranking().scores[5] == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_the_literal_elimination_with_weights_and_missing_labels(kind):
    X, targets = _table()
    y = targets[kind].astype(float) if kind == "numbers" else targets[kind]
    weights = np.random.default_rng(1).integers(0, 4, size=120).astype(float)
    hidden = np.arange(120) % 5 == 0
    labels = (
        np.where(hidden, -1, y) if kind == "hard" else np.where(hidden[:, None] if y.ndim == 2 else hidden, np.nan, y)
    )
    found = LinearSearch(ridge=0.01).fit(X, labels, weights)
    order, values = naive.linear_search(X, _columns(y), 0.01, np.where(hidden, 0.0, weights))
    assert found.to_ranking().order.tolist() == order
    np.testing.assert_allclose([found.values_[size] for size in values], list(values.values()), rtol=1e-8)
    assert (found.n_labelled_, found.n_unlabelled_) == (96, 24)
    # a weight of 3 is the row three times
    times = np.where(hidden, 0, weights).astype(int)
    _same_values(found, LinearSearch(ridge=0.01).fit(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0)))


def _same_values(found, expected, rtol=1e-10):
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    np.testing.assert_allclose(list(found.values_.values()), list(expected.values_.values()), rtol=rtol)


def test_many_copies_and_ties():
    """Equal columns: the first of them stays longest. With a small penalty the digits must last."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, size=400)
    base = rng.normal(size=(400, 4)) + y[:, None] * [1.0, 0.5, 0.25, 0.0]
    X = np.hstack([base, base * 2.0, 1.0 - base])
    for ridge in (1e-6, "auto"):
        found = LinearSearch(ridge=ridge).fit(X, y)
        assert set(found.to_ranking().order[:3]) == {0, 1, 2}
        assert set(found.subsets_[4]) in ({0, 1, 2, 3}, {0, 1, 2, 4})  # a second copy still relieves the penalty
        values = naive.linear_search(X, np.eye(2)[y], found.ridge_)[1]
        np.testing.assert_allclose([found.values_[size] for size in values], list(values.values()), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["fortran", "float32", "sparse", "read only", "strided", "frame"])
def test_every_form_of_the_table(kind, form):
    X, targets = _table()
    if form == "float32":
        X = X.astype(np.float32)
        X[:, 6] = X[:, 4]
    if form == "sparse":
        X[:, 0] = np.where(np.arange(120) % 3 == 0, X[:, 0], 0.0)
        X[:, 2] += 1e6  # stored everywhere and far from zero
    expected = LinearSearch().fit(X.astype(np.float64), targets[kind])
    table = X.copy()
    table.setflags(write=False)
    forms = {
        "fortran": lambda: np.asfortranarray(X),
        "float32": lambda: X,
        "sparse": lambda: sparse.csr_array(X),
        "read only": lambda: table,
        "strided": lambda: np.repeat(X, 2, axis=0)[::2],
        "frame": lambda: pd.DataFrame(X, columns=list("abcdefg")),
    }
    _same(LinearSearch().fit(forms[form](), targets[kind]), expected)


def test_sparse_with_weights_and_values_stored_in_parts():
    rng = np.random.default_rng(3)
    X = np.where(rng.random((300, 20)) < 0.1, rng.normal(size=(300, 20)), 0.0)
    X[:, 5], X[:, 6] = 0.0, 3.7
    X[:, 7] = 1e7 + rng.normal(size=300)
    y, weights = rng.integers(-1, 3, size=300), rng.random(300)
    _same(LinearSearch().fit(sparse.csr_array(X), y, weights), LinearSearch().fit(X, y, weights))
    parts = sparse.csr_array((np.asarray([1.0, 2.0, 5.0, 1.0]), [0, 0, 0, 0], [0, 2, 3, 4, 4]), shape=(4, 1))
    _same(LinearSearch().fit(parts, [0, 0, 1, 1]), LinearSearch().fit([[3.0], [5.0], [1.0], [0.0]], [0, 0, 1, 1]))
    assert parts.nnz == 4


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_far_away_columns_and_numbers_lose_no_digits(form):
    rng = np.random.default_rng(4)
    near = np.round(rng.normal(size=(500, 5)), 3) + np.arange(5)
    far = near + 2.0**30  # about 1e9: the digits that are left are the same
    near = far - 2.0**30
    y = near[:, 0] - near[:, 3] + np.round(rng.normal(size=500), 3)
    far_y = y + 2.0**30
    y = far_y - 2.0**30
    expected = LinearSearch(target="numbers").fit(near, y)
    _same(LinearSearch(target="numbers").fit(form(far), far_y), expected)
    blocks = LinearSearch(target="numbers")
    for rows in np.array_split(np.arange(500), 9):
        blocks.partial_fit(form(far)[rows], far_y[rows])
    _same(blocks, expected)


def test_a_column_whose_first_rows_mislead():
    """The provisional centre is far from the mean, compared with the spread of nearly all rows."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1000, 3))
    X[:, 1] *= 1e-6
    X[np.arange(256) * 999 // 255, 1] += 1e3  # the sampled rows
    y = rng.integers(0, 2, size=1000)
    weights = np.ones(1000)
    weights[np.arange(256) * 999 // 255] = 1e-18
    moments = SecondMoments.of_problem(read_problem(X, y, sample_weight=weights))
    keep = weights == 1
    spread = (X[keep, 1] - X[keep, 1].mean()) ** 2
    np.testing.assert_allclose(moments.products[1, 1], spread.sum() + 256e-18 * 1e6, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 13, 50, 119, 200])
def test_blocks_of_any_size_and_order(kind, size):
    X, targets = _table()
    y = targets[kind]
    selector = LinearSearch(target="numbers" if kind == "numbers" else "classes")
    whole = clone(selector).fit(X, y)
    starts = list(range(0, 120, size))
    for order in (starts, starts[::-1]):
        blocks = clone(selector)
        for start in order:
            blocks.partial_fit(X[start : start + size], y[start : start + size])
        _same(blocks, whole)


def test_late_classes_unlabelled_blocks_weights_and_merge():
    X, targets = _table()
    y = targets["hard"]
    order = np.argsort(y, kind="stable")
    X, names = X[order], np.asarray(["ant", "bee", "cat"])[y[order]]
    weights = np.random.default_rng(6).random(120)
    whole = LinearSearch().fit(X, names, weights)
    parts = [
        LinearSearch().partial_fit(X[a : a + 25], names[a : a + 25], weights[a : a + 25]) for a in range(0, 120, 25)
    ]
    merged = parts[3].merge(parts[0]).merge(parts[4]).merge(parts[1]).merge(parts[2])
    _same(merged, whole)
    assert list(merged.classes_) == ["ant", "bee", "cat"]
    merged.partial_fit(X[:4] * 9, [None] * 4)
    np.testing.assert_array_equal(merged.ranking_, whole.ranking_)
    assert merged.n_unlabelled_ == 4
    with pytest.raises(ValueError, match="only another LinearSearch"):
        merged.merge(dubio.FisherScore().fit(X, names))


def test_what_a_block_may_hold():
    X, targets = _table()
    numbers = LinearSearch().partial_fit(X[:60], targets["numbers"][:60])
    numbers.partial_fit(X[60:], np.round(targets["numbers"][60:] / 50))  # few whole numbers are still numbers
    assert not hasattr(numbers, "classes_") and numbers.n_labelled_ == 120
    numbers.partial_fit(X[:5], np.full(5, np.nan))
    assert numbers.n_unlabelled_ == 5
    first_unlabelled = LinearSearch(target="numbers").partial_fit(X[:5], np.full(5, np.nan))
    first_unlabelled.partial_fit(X, targets["numbers"])
    np.testing.assert_allclose(first_unlabelled.values_[3], LinearSearch().fit(X, targets["numbers"]).values_[3])
    with pytest.raises(ValueError, match="looks like numbers in some blocks and like classes in others"):
        numbers.merge(LinearSearch().fit(X, targets["hard"]))
    constant = LinearSearch().partial_fit(X[:2], [0.5, 0.5])
    assert not hasattr(constant, "ranking_")
    bad = X[:4].copy()
    bad[2, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity in 1 row of column 1, first in row 127"):
        numbers.partial_fit(bad, targets["numbers"][:4])
    assert numbers.n_labelled_ == 120


@pytest.mark.parametrize("kind", KINDS)
def test_streams(kind, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    X, targets = _table(500)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    options = {"target": "y"}
    if kind == "soft":
        frame = frame.assign(p=targets["soft"][:, 0], q=targets["soft"][:, 1], r=targets["soft"][:, 2])
        options = {"soft": ["p", "q", "r"]}
    else:
        frame["y"] = targets[kind]
    frame["w"] = np.random.default_rng(7).random(500)
    expected = LinearSearch().fit(X, targets[kind], frame["w"])
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "t.parquet", row_group_size=170)
    for batch_rows in (7, 256, None):
        found = fit_stream(LinearSearch(), tmp_path / "t.parquet", weight="w", batch_rows=batch_rows, **options)
        _same(found, expected)
    ranking = rank_stream(
        tmp_path / "t.parquet", method="linear_search", n_features_to_select="auto", weight="w", **options
    )
    np.testing.assert_array_equal(ranking.ranking, expected.ranking_)
    assert "BIC" in ranking.reason
    frame.loc[300, "c"] = np.nan
    with pytest.raises(
        ValueError, match=r"NaN in 1 row of column 'c' \(position 2\), first in row 300 .*starts at row"
    ):
        rank_stream(pa.Table.from_pandas(frame), method="linear_search", weight="w", batch_rows=90, **options)


def test_streams_of_text_and_whole_numbers():
    pa = pytest.importorskip("pyarrow")
    X, targets = _table(300)
    columns = {f"x{j}": X[:, j] for j in range(7)}
    text = np.asarray(["ant", "bee", "cat"])[targets["hard"]]
    for labels in (text, pa.array(text).dictionary_encode(), targets["hard"] > 0):
        found = fit_stream(LinearSearch(), pa.table({**columns, "y": labels}), target="y", batch_rows=40)
        plain = text if not (isinstance(labels, np.ndarray) and labels.dtype == bool) else labels
        _same(found, LinearSearch().fit(pd.DataFrame(columns), plain))
    with pytest.raises(ValueError, match="holds text where numbers are needed"):
        fit_stream(LinearSearch(target="numbers"), pa.table({**columns, "y": text}), target="y")
    found = fit_stream(LinearSearch(target="numbers"), pa.table({**columns, "y": targets["hard"]}), target="y")
    _same(found, LinearSearch(target="numbers").fit(pd.DataFrame(columns), targets["hard"]))


@pytest.mark.parametrize("kind", KINDS)
def test_dask(kind):
    da = pytest.importorskip("dask.array")
    dd = pytest.importorskip("dask.dataframe")
    X, targets = _table(400)
    y, weights = targets[kind], np.random.default_rng(8).random(400)
    expected = LinearSearch(n_features_to_select="auto").fit(X, y, weights)
    found = LinearSearch(n_features_to_select="auto").fit(
        da.from_array(X, chunks=(90, 3)), da.from_array(y, chunks=90), da.from_array(weights, chunks=100)
    )
    _same(found, expected)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    found = LinearSearch().fit(dd.from_pandas(frame, npartitions=5), y)
    _same(found, LinearSearch().fit(frame, y))
    with pytest.raises(ValueError, match=r"NaN.*in block 2"):
        LinearSearch().fit(da.from_array(np.where(np.arange(400)[:, None] == 250, np.nan, X), chunks=(100, 7)), y)


@pytest.mark.parametrize("kind", KINDS)
def test_the_penalty_has_the_smallest_cross_validation_error(kind):
    X, targets = _table(300)
    X = X[:, :5]
    found = LinearSearch().fit(X, targets[kind])
    grid = np.logspace(-6, 2, 33)
    errors = [naive.gcv_error(X, _columns(targets[kind]), ridge) for ridge in grid]
    best = grid[np.flatnonzero(errors <= np.min(errors) * (1 + 1e-6))[-1]]
    np.testing.assert_allclose(found.ridge_, best)
    few = LinearSearch().fit(X[:20], targets[kind][:20])
    assert few.ridge_ == 0.25 and LinearSearch(ridge=0.5).fit(X, targets[kind]).ridge_ == 0.5


def test_a_long_elimination_keeps_its_digits():
    rng = np.random.default_rng(9)
    factors = rng.normal(size=(600, 8))
    X = factors @ rng.normal(size=(8, 60)) + 0.01 * rng.normal(size=(600, 60))  # nearly dependent columns
    y = X[:, 3] + factors[:, 0] + 0.1 * rng.normal(size=600)
    found = LinearSearch(ridge=1e-6).fit(X, y)
    C = np.corrcoef(X.T)
    B = (X - X.mean(axis=0)).T @ (y - y.mean())[:, None] / 600 / X.std(axis=0)[:, None] / y.std()
    for size, subset in found.subsets_.items():
        A = C[np.ix_(subset, subset)] + 1e-6 * np.eye(size)
        np.testing.assert_allclose(found.values_[size], B[subset, 0] @ np.linalg.solve(A, B[subset, 0]), rtol=1e-8)


def test_auto_keeps_what_is_needed_and_says_why():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(400, 12))
    y = 2 * X[:, 2] - X[:, 7] + X[:, 9] + rng.normal(size=400)
    found = LinearSearch(n_features_to_select="auto").fit(X, y)
    assert set(np.flatnonzero(found.support_)) == {2, 7, 9}
    assert found.explanation_.startswith("3 features: the smallest")
    exact = LinearSearch(n_features_to_select="auto").fit(X, X[:, 2] - X[:, 7])
    assert set(np.flatnonzero(exact.support_)) == {2, 7}
    blocks = LinearSearch(n_features_to_select="auto").partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    _same(blocks, found)
    assert blocks.explanation_ == found.explanation_
    with pytest.warns(NoFeatureStandsOut, match="no subset has a better BIC"):
        nothing = LinearSearch(n_features_to_select="auto").fit(X, rng.normal(size=400))
    assert nothing.n_features_ == 1


def test_auto_seldom_keeps_noise():
    rng = np.random.default_rng(11)
    fooled = 0
    for _ in range(40):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", NoFeatureStandsOut)
            LinearSearch(n_features_to_select="auto").fit(rng.normal(size=(150, 20)), rng.integers(0, 2, size=150))
        fooled += not any(isinstance(one.message, NoFeatureStandsOut) for one in told)
    assert fooled <= 4


def test_bad_inputs():
    X, targets = _table()
    y = targets["hard"]
    with pytest.raises(ValueError, match=r"X has 20000 columns.*3\.2 GB.*keep at most 11585 columns"):
        LinearSearch().fit(sparse.csr_array((40, 20_000)), np.arange(40) % 2)
    with pytest.raises(ValueError, match="no feature that varies: all of its 2 columns are constant"):
        LinearSearch().fit(np.ones((6, 2)), [0, 1] * 3)
    with pytest.raises(ValueError, match="same value in all 4 labelled rows"):
        LinearSearch().fit(X[:4], [0.5] * 4)
    with pytest.raises(ValueError, match="only one class"):
        LinearSearch().fit(X, np.zeros(120, dtype=int))
    with pytest.raises(ValueError, match="ridge"):
        LinearSearch(ridge=0.0).fit(X, y)
    with pytest.raises(ValueError, match="ridge"):
        LinearSearch(ridge="much").fit(X, y)
    with pytest.raises(ValueError, match="too large to square in column 2"):
        LinearSearch().fit(np.where(np.arange(7) == 2, 1e200 * X, X), y)
    with pytest.raises(ValueError, match="y has values too large to square"):
        LinearSearch().fit(X, targets["numbers"] * 1e200)
    with pytest.raises(ValueError, match="y has values too large to square"):
        LinearSearch(target="numbers").fit(X, np.where(y == 0, 1.7e308, -1.7e308))  # their difference is no number
    hidden = np.where(np.arange(120) < 10, -1, y)
    for form in (np.asarray, np.asfortranarray, sparse.csr_array):
        bad = X.copy()
        bad[3, 2] = np.nan  # in an unlabelled row: seen all the same
        with pytest.raises(ValueError, match=r"NaN in 1 row of column 2, first in row 3"):
            LinearSearch().fit(form(bad), hidden)


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    scales=st.lists(st.floats(1e-4, 1e4), min_size=7, max_size=7),
    shifts=st.lists(st.floats(-1e4, 1e4), min_size=7, max_size=7),
)
def test_scale_offset_and_order_of_rows_do_not_matter(seed, kind, scales, shifts):
    X, targets = _table(60, seed=seed)
    X[:, 6] += np.random.default_rng(seed).normal(size=60)  # no duplicate: rounding would decide between them
    y = targets[kind]
    expected = LinearSearch(ridge=0.1).fit(X, y)
    order = np.random.default_rng(seed).permutation(60)
    moved = (X * np.where(np.arange(7) % 2, -1, 1) * scales + shifts)[order]
    moved[:, 5] = shifts[5]
    y = y[order] * (3.0 if kind == "numbers" else 1) if kind != "hard" else y[order]
    found = LinearSearch(ridge=0.1).fit(moved, y)
    np.testing.assert_allclose(list(found.values_.values()), list(expected.values_.values()), rtol=1e-6)
    assert found.ranking_[5] == 7


@given(seed=st.integers(0, 10_000), d=st.integers(1, 9))
def test_every_step_loses_least_and_values_grow_with_size(seed, d):
    rng = np.random.default_rng(seed)
    X, T = rng.normal(size=(40, d)), rng.normal(size=(40, 2))
    X, T = (X - X.mean(axis=0)) / X.std(axis=0), T - T.mean(axis=0)
    C, B, total = X.T @ X / 40, X.T @ T / 40, float((T**2).mean(axis=0).sum())
    ridge = gcv_ridge(C, B, total, 40, np.logspace(-6, 2, 33))
    path = ridge_elimination(C, B, total, ridge)
    assert (np.diff(path.values) >= -1e-12).all() and path.values[-1] <= 1
    np.testing.assert_allclose(np.diff(path.values)[::-1], path.costs, atol=1e-10)
    left = np.arange(d)
    for step, feature in enumerate(path.dropped):
        losses = []
        for j in left:
            rest = left[left != j]
            A = C[np.ix_(rest, rest)] + ridge * np.eye(len(rest))
            losses.append(path.values[d - step] - (B[rest] * np.linalg.solve(A, B[rest])).sum() / total)
        assert losses[int(np.flatnonzero(left == feature)[0])] <= min(losses) + 1e-10
        left = left[left != feature]


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize(("n", "d", "n_classes"), [(400, 3, 20), (200, 320, 2), (70_000, 3, 4)])
def test_many_classes_many_columns_and_many_rows(form, n, d, n_classes):
    """These are summed in other ways: the target apart, all rows in one piece, chunks of rows in threads."""
    rng = np.random.default_rng(12)
    y = rng.integers(0, n_classes, size=n)
    X = rng.normal(size=(n, d)) + 0.1 * y[:, None] * (np.arange(d) < 2)
    moments = SecondMoments.of_problem(read_problem(form(X), y, accept_sparse=True))
    Z, T = X - X.mean(axis=0), np.eye(n_classes)[y] - np.eye(n_classes)[y].mean(axis=0)
    np.testing.assert_allclose(moments.products, Z.T @ Z, atol=1e-10 * n)
    np.testing.assert_allclose(moments.cross, Z.T @ T, atol=1e-10 * n)
    np.testing.assert_allclose(moments.squares, (T**2).sum(axis=0))
    np.testing.assert_allclose(moments.class_weight, np.bincount(y))
    _same(LinearSearch().fit(form(X), y), LinearSearch().fit(X, y))


def test_threads_of_matrix_products_come_back():
    def threads():
        return {pool["filepath"]: pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = threads()
    with one_blas_thread():
        assert set(threads().values()) == {1}
        with one_blas_thread():
            pass
        assert set(threads().values()) == {1}
    assert threads() == before
