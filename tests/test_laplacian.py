"""The Laplacian family against the literal formulas, its laws, its edges and its bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer

import dubio
from dubio.neighbors.graphs import MixedNeighbors, RowNeighbors, TargetNeighbors, line_neighbors
from tests import naive


def table(n=40, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def memberships(n=40, classes=3, seed=1):
    P = np.random.default_rng(seed).dirichlet(np.ones(classes), size=n)
    return P


TABLES = {
    "plain": table(),
    "duplicate rows": np.repeat(table(20), 2, axis=0),
    "constant column": np.column_stack([table(d=4), np.full(40, 7.3)]),
    "offset": table() + 1e4,
    "float32": table().astype(np.float32),
    "Fortran": np.asfortranarray(table()),
    "one column": table(d=1),
}


@pytest.fixture(params=TABLES, ids=str)
def X(request):
    array = TABLES[request.param].copy(order="K")
    array.setflags(write=False)
    return array


# --- against the literal definitions ---------------------------------------------------------------------


# ties between equal rows are settled by the neighbour search, not by index: duplicates have a test of their own
@pytest.mark.parametrize("X", [TABLES[name] for name in TABLES if name != "duplicate rows"])
@pytest.mark.parametrize("kernel", ["squared", "linear"])
@pytest.mark.parametrize("symmetry", ["or", "and"])
def test_laplacian_score(X, kernel, symmetry):
    # an offset of 1e4 leaves 12 of the 16 digits of a difference; float32 has 7 to begin with
    rtol = 1e-5 if X.dtype == np.float32 else 1e-10 if abs(X).max() < 100 else 1e-9
    np.testing.assert_allclose(
        dubio.laplacian_score(X, kernel=kernel, symmetry=symmetry, t=2.0),
        naive.laplacian_score(X, t=2.0, kernel=kernel, symmetry=symmetry),
        rtol=rtol,
    )


def test_laplacian_score_of_duplicates_equals_the_literal_one_on_the_same_graph():
    """With ties the choice of neighbours is free; given the choice, the score is exact."""
    X = np.repeat(table(15), 3, axis=0)
    graph = RowNeighbors(X, n_neighbors=4).graph(2.0)
    assert (graph.diagonal() == 0).all()
    expected = [naive.laplacian_quotient(graph.toarray(), f) for f in X.T]
    np.testing.assert_allclose(dubio.laplacian_score(X, n_neighbors=4, t=2.0), expected, rtol=1e-10)


@pytest.mark.parametrize("missing", [0, 30])
@pytest.mark.parametrize("ties", [False, True])
def test_supervised_laplacian_score(X, missing, ties):
    y = np.random.default_rng(3).normal(size=len(X))
    if ties:
        y = np.round(y * 2) / 2
    y[:missing] = np.nan
    np.testing.assert_allclose(
        dubio.supervised_laplacian_score(X, y), naive.supervised_laplacian_score(X.astype(float), y), rtol=1e-9
    )


@pytest.mark.parametrize("missing", [0, 10, 30, 38])
@pytest.mark.parametrize("k", [3, 30])
def test_semi_supervised_laplacian_score(missing, k):
    X = table(seed=5)
    y = np.random.default_rng(4).normal(size=40)
    y[np.random.default_rng(0).permutation(40)[:missing]] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer labelled rows than neighbours
        fast = dubio.semi_supervised_laplacian_score(X, y, n_neighbors=k, C=5.0)
    k_supervised = min(5, 40 - missing - 1)
    np.testing.assert_allclose(
        fast, naive.semi_supervised_laplacian_score(X, y, k=k, k_supervised=k_supervised, C=5.0), rtol=1e-10
    )


def test_weighted_laplacian_score(X):
    P = memberships()
    tolerance = {"rtol": 1e-10} if X.dtype == np.float64 else {"rtol": 1e-6}
    np.testing.assert_allclose(
        dubio.weighted_laplacian_score(X, P), naive.weighted_laplacian_score(X.astype(float), P), **tolerance
    )


def test_weighted_laplacian_score_with_weights_and_unlabelled_rows():
    X, P = table(), memberships()
    weights = np.random.default_rng(2).uniform(0, 3, size=40)
    hidden = P.copy()
    hidden[::3] = np.nan
    kept = ~np.isnan(hidden[:, 0])
    np.testing.assert_allclose(
        dubio.weighted_laplacian_score(X, hidden, sample_weight=weights),
        naive.weighted_laplacian_score(X[kept], P[kept], weights[kept]),
        rtol=1e-10,
    )


def test_large_offset_costs_no_digits():
    """Columns of unit spread around 1e6: the textbook sums would lose twelve digits."""
    X, P = table(), memberships()
    np.testing.assert_allclose(
        dubio.weighted_laplacian_score(X + 1e6, P), dubio.weighted_laplacian_score(X, P), rtol=1e-6
    )
    y = P.argmax(axis=1)
    np.testing.assert_allclose(dubio.fisher_score(X + 1e6, y), dubio.fisher_score(X, y), rtol=1e-6)
    # rows of one kind first, so that the provisional centre is not that of the first rows
    X[:20] -= 50
    np.testing.assert_allclose(
        dubio.weighted_laplacian_score(X + 1e6, P), dubio.weighted_laplacian_score(X, P), rtol=1e-6
    )


def test_fisher_score(X):
    y = memberships().argmax(axis=1)
    expected = naive.fisher_score(X.astype(float)[:, np.ptp(X, axis=0) > 0], y)
    fast = dubio.fisher_score(X, y)
    np.testing.assert_allclose(fast[np.ptp(X, axis=0) > 0], expected, rtol=1e-6 if X.dtype == np.float32 else 1e-9)
    assert (fast[np.ptp(X, axis=0) == 0] == 0).all()


def test_many_rows_and_threads_add_up():
    """More rows than one chunk, in both memory layouts, equal the two-pass formula."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150_000, 3)) + 1e3
    y = rng.integers(0, 2, size=150_000)
    X[:, 1] += y
    expected = naive.fisher_score(X, y)
    np.testing.assert_allclose(dubio.fisher_score(X, y), expected, rtol=1e-9)
    np.testing.assert_allclose(dubio.fisher_score(np.asfortranarray(X), y), expected, rtol=1e-9)


# --- sparse tables ---------------------------------------------------------------------------------------


FAR = [(1e4, np.float32, 1e-3), (1e4, np.float64, 1e-9), (1e8, np.float64, 1e-6)]


@pytest.mark.parametrize(("offset", "dtype", "rtol"), FAR)
@pytest.mark.parametrize("which", ["all columns", "one column"])
def test_sparse_columns_far_from_zero_keep_their_digits(offset, dtype, rtol, which):
    X = np.where(np.random.default_rng(4).random((60, 6)) < 0.4, table(60, 6), 0.0)
    X[:, 5] = 3.7
    X[:, slice(None) if which == "all columns" else 2] += offset
    X = X.astype(dtype)
    thin, y = sparse.csr_array(X), np.random.default_rng(5).normal(size=60)
    graph = RowNeighbors(table(60), n_neighbors=4).graph()
    for score in (
        lambda X: dubio.laplacian_score(X, t="mean"),
        lambda X: dubio.laplacian_score(X, graph=graph),
        lambda X: dubio.laplacian_score(X, t="mean", neighbors="anchors", n_anchors=60),
        lambda X: dubio.supervised_laplacian_score(X, y),
        lambda X: dubio.LaplacianScore(t="mean").fit(X).scores_,
        lambda X: dubio.SupervisedLaplacianScore().fit(X, y).scores_,
    ):
        dense = score(X)
        assert np.isinf(dense[5]) and np.isfinite(dense[:5]).all()
        np.testing.assert_allclose(score(thin), dense, rtol=rtol)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
def test_sparse_equals_dense(container):
    X = np.where(np.random.default_rng(0).uniform(size=(60, 8)) < 0.3, table(60, 8), 0.0)
    X[:, 7] = 0.0
    y = np.random.default_rng(1).integers(0, 2, size=60)
    numbers = np.random.default_rng(2).normal(size=60)
    S = container(X)
    pairs = [
        (dubio.weighted_laplacian_score(S, y), dubio.weighted_laplacian_score(X, y)),
        (dubio.fisher_score(S, y), dubio.fisher_score(X, y)),
        (dubio.supervised_laplacian_score(S, numbers), dubio.supervised_laplacian_score(X, numbers)),
        (dubio.LaplacianScore().fit(S).scores_, dubio.LaplacianScore().fit(X).scores_),
    ]
    for sparse_scores, dense_scores in pairs:
        np.testing.assert_allclose(sparse_scores, dense_scores, rtol=1e-9)


# --- graphs ----------------------------------------------------------------------------------------------


@given(
    values=st.lists(st.integers(-3, 3), min_size=2, max_size=12),
    k=st.integers(1, 11),
)
def test_neighbors_on_a_line_are_those_of_a_full_sort(values, k):
    values = np.asarray(values, dtype=float)
    k = min(k, len(values) - 1)
    distances = np.abs(values[:, None] - values[None, :])
    expected = [naive.nearest(distances, i, k) for i in range(len(values))]
    np.testing.assert_array_equal(line_neighbors(values, k, np.arange(len(values))), expected)


@given(
    n=st.integers(2, 30),
    k=st.integers(1, 8),
    seed=st.integers(0, 100),
    symmetry=st.sampled_from(["or", "and"]),
    grid=st.booleans(),
)
def test_graph_laws(n, k, seed, symmetry, grid):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    if grid:
        X = np.round(X)  # duplicates and ties
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = RowNeighbors(X, n_neighbors=k, symmetry=symmetry).graph()
    dense = graph.toarray()
    np.testing.assert_array_equal(dense, dense.T)
    assert (np.diag(dense) == 0).all()
    assert (dense >= 0).all() and (dense <= 1).all()
    degree = (dense > 0).sum(axis=1)
    k = min(k, n - 1)
    assert (degree >= k).all() if symmetry == "or" else (degree <= k).all()
    laplacian = np.diag(dense.sum(axis=1)) - dense
    assert np.linalg.eigvalsh(laplacian).min() > -1e-9


def test_mixed_graph_without_labels_is_the_neighbour_graph_and_with_all_the_target_graph():
    X, y = table(), table(d=1).ravel()
    nothing = np.full(40, np.nan)
    scaled = X / np.sqrt(X.shape[1])
    np.testing.assert_allclose(
        MixedNeighbors(X, nothing, n_neighbors=6).graph().toarray(),
        RowNeighbors(scaled, n_neighbors=6).graph().toarray(),
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        MixedNeighbors(X, y, n_neighbors=6).graph().toarray(),
        TargetNeighbors(y, n_neighbors=6).graph().toarray(),
        rtol=1e-12,
    )


def test_k_is_clipped_with_a_warning():
    with pytest.warns(UserWarning, match="n_neighbors=50, but there are only 39 other"):
        clipped = dubio.laplacian_score(table(), n_neighbors=50)
    np.testing.assert_array_equal(clipped, dubio.laplacian_score(table(), n_neighbors=39))


def test_own_graph_and_transformer():
    X = table(60)
    graph = RowNeighbors(X, n_neighbors=7).graph(2.0)
    expected = dubio.laplacian_score(X, n_neighbors=7, t=2.0)
    np.testing.assert_array_equal(dubio.laplacian_score(X, graph=graph), expected)
    with_self = graph + sparse.eye_array(60)
    np.testing.assert_array_equal(dubio.laplacian_score(X, graph=with_self), expected)
    transformer = KNeighborsTransformer(n_neighbors=7, mode="distance")
    np.testing.assert_allclose(dubio.laplacian_score(X, graph=transformer, t=2.0), expected, rtol=1e-12)
    estimator = dubio.LaplacianScore(graph=transformer, t=2.0, standardize=False).fit(X)
    np.testing.assert_allclose(estimator.scores_, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (sparse.eye_array(3), r"shape \(3, 3\), but X has 40 rows"),
        (np.eye(40), "sparse"),
        (sparse.csr_array(([1.0], ([0], [1])), shape=(40, 40)), "not symmetric"),
        (sparse.csr_array(([-1.0, -1.0], ([0, 1], [1, 0])), shape=(40, 40)), "negative"),
        (sparse.csr_array((40, 40)), "no edge"),
    ],
)
def test_bad_graphs(graph, message):
    with pytest.raises(ValueError, match=message):
        dubio.laplacian_score(table(), graph=graph)


def test_wide_tables_do_not_underflow():
    """exp(-d^2) of 5,000 standardised columns is 0 in floating point; scores must not be."""
    X = table(30, 5000)
    with pytest.warns(UserWarning, match="t=1 makes the kernel too narrow"):
        scores = dubio.laplacian_score(X)
    assert np.isfinite(scores).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(dubio.laplacian_score(X, t="mean")).all()


# --- laws ------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000), scale=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3))
def test_weighted_score_ignores_scale_and_offset_of_a_column(seed, scale, shift):
    X, P = table(20, 3, seed), memberships(20, 3, seed)
    np.testing.assert_allclose(
        dubio.weighted_laplacian_score(X * scale + shift, P), dubio.weighted_laplacian_score(X, P), rtol=1e-6
    )


@given(seed=st.integers(0, 1000))
def test_bounds(seed):
    """0 <= LS, SLS <= 2: eigenvalues of the normalised Laplacian."""
    X = table(25, 4, seed)
    for scores in (dubio.laplacian_score(X), dubio.supervised_laplacian_score(X, X[:, 0] ** 2)):
        assert (scores >= 0).all() and (scores <= 2 + 1e-12).all()


@given(seed=st.integers(0, 1000))
def test_doubling_every_row_doubles_nothing(seed):
    """Weights of 2 and rows written twice are the same table."""
    X, P = table(15, 3, seed), memberships(15, 2, seed)
    weights = np.random.default_rng(seed).integers(1, 4, size=15)
    repeated = np.repeat(np.arange(15), weights)
    np.testing.assert_allclose(
        dubio.weighted_laplacian_score(X, P, sample_weight=weights),
        dubio.weighted_laplacian_score(X[repeated], P[repeated]),
        rtol=1e-9,
    )


# --- features without information ------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 0.1, -1e6, 2.0, 1e-300])
def test_constant_columns_are_worst(value):
    X = table()
    X[:, 3] = value
    y = np.random.default_rng(0).normal(size=40)
    classes = y > 0
    few = np.where(np.arange(40) < 30, np.nan, y)
    assert np.isinf(dubio.laplacian_score(X)[3])
    assert np.isinf(dubio.supervised_laplacian_score(X, y)[3])
    assert np.isinf(dubio.semi_supervised_laplacian_score(X, few)[3])
    assert np.isinf(dubio.weighted_laplacian_score(X, classes)[3])
    assert dubio.fisher_score(X, classes)[3] == 0


def test_constant_among_the_labelled_rows_is_worst_too():
    X = table()
    X[30:, 3] = 0.1
    y = np.where(np.arange(40) < 30, np.nan, table(d=1).ravel())
    classes = np.where(np.arange(40) < 30, -1, np.arange(40) % 2)
    assert np.isinf(dubio.supervised_laplacian_score(X, y)[3])
    assert np.isinf(dubio.semi_supervised_laplacian_score(X, y)[3])
    assert np.isinf(dubio.weighted_laplacian_score(X, classes)[3])
    assert dubio.fisher_score(X, classes)[3] == 0


# --- bad input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: dubio.laplacian_score(X, n_neighbors=0), "n_neighbors=0"),
        (lambda X: dubio.laplacian_score(X, n_neighbors=2.5), "n_neighbors=2.5"),
        (lambda X: dubio.laplacian_score(X, t=0), "t=0"),
        (lambda X: dubio.laplacian_score(X, t=-1.0), "t=-1.0"),
        (lambda X: dubio.laplacian_score(X, t="wide"), "t='wide'"),
        (lambda X: dubio.laplacian_score(X, kernel="cubic"), "kernel='cubic'"),
        (lambda X: dubio.laplacian_score(X, symmetry="xor"), "symmetry='xor'"),
        (lambda X: dubio.laplacian_score(X[:1]), "n_samples=1"),
        (lambda X: dubio.supervised_laplacian_score(X, X[:, 0], n_neighbors=0), "n_neighbors=0"),
        (lambda X: dubio.supervised_laplacian_score(X, X[:, 0], t=0.0), "t=0.0"),
        (lambda X: dubio.supervised_laplacian_score(X, np.full(40, np.nan)), "0 labelled rows of 40"),
        (lambda X: dubio.supervised_laplacian_score(X, np.where(np.arange(40), np.nan, 1)), "1 labelled row of 40"),
        (lambda X: dubio.supervised_laplacian_score(X, ["a"] * 40), "text, such as 'a'"),
        (lambda X: dubio.supervised_laplacian_score(X, np.where(np.arange(40), 1, np.inf)), "infinity.*row 0"),
        (lambda X: dubio.supervised_laplacian_score(X, X[:, :2]), "several targets are given"),
        (lambda X: dubio.semi_supervised_laplacian_score(X, X[:, 0], C=0), "C=0"),
        (lambda X: dubio.semi_supervised_laplacian_score(X, X[:, 0], C=np.nan), "C=nan"),
        (lambda X: dubio.weighted_laplacian_score(X, None), "y is None"),
        (lambda X: dubio.weighted_laplacian_score(X, np.full((40, 2), np.nan)), "no labelled row"),
        (lambda X: dubio.weighted_laplacian_score(X * 1e200, np.arange(40) % 2), "too large to square in column 0"),
        (lambda X: dubio.weighted_laplacian_score(X, np.arange(40) % 2, sample_weight=-np.ones(40)), "[Nn]egative"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(table())


def test_nan_in_an_unlabelled_row_is_still_reported():
    X = table()
    X[7, 2] = np.nan
    y = np.arange(40) % 2
    y[7] = -1
    for layout in "CF":
        with pytest.raises(ValueError, match=r"NaN in 1 row of column 2, first in row 7"):
            dubio.weighted_laplacian_score(np.array(X, order=layout), y)
    with pytest.raises(ValueError, match="NaN in 1 row of column 2"):
        dubio.weighted_laplacian_score(sparse.csr_array(X), y)


def test_a_constant_target_is_refused():
    with pytest.raises(ValueError, match="same value, 3, in all 40 labelled"):
        dubio.SupervisedLaplacianScore().fit(table(), np.full(40, 3.0))


@pytest.mark.parametrize("scale", [1e160, 1e200, 1e307])
@pytest.mark.parametrize(
    "call",
    [
        dubio.laplacian_score,
        lambda X: dubio.laplacian_score(sparse.csr_array(X)),
        lambda X: dubio.supervised_laplacian_score(X, np.arange(40.0)),
        lambda X: dubio.weighted_laplacian_score(X, np.arange(40) % 2),
        lambda X: dubio.linear_r2_score(X, np.arange(40.0)),
        lambda X: dubio.relieff_score(X, np.arange(40) % 2),
        lambda X: dubio.constraint_score(X, [(0, 1)], [(0, 2)]),
        lambda X: dubio.NeighborSearch(clean=None).fit(X, np.arange(40) % 2),
    ],
)
def test_values_too_large_to_square_are_named(call, scale):
    X = table(d=3)
    X[:, 1] *= scale
    with pytest.raises(ValueError, match="too large to square in column 1"):
        call(X)
