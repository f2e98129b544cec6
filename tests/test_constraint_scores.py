"""Scores supervised by pairs, against the literal sums; and the selectors over them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import dubio
from dubio import (
    ConstrainedLaplacianScore,
    ConstraintScore,
    constrained_laplacian_score,
    constraint_score,
    fisher_score,
    weighted_laplacian_score,
)
from dubio.neighbors import graphs as cluster_graphs
from dubio.scores.constraint import c4_score, class_graph, spec_score
from dubio.scores.laplacian import laplacian_score
from dubio.target.pairs import read_pairs
from dubio.target.reader import pairs_from_labels
from tests import naive

EXACT = {"rtol": 1e-9, "atol": 0}


def problem(seed, n=16, d=5, labelled=9, classes=3):
    """A table with a duplicate row, a constant column and a far column; and labels of some rows."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    X[1] = X[0]
    X[:, 2] = 3.0
    X[:, 3] += 1e4
    codes = np.full(n, -1)
    codes[random.permutation(n)[:labelled]] = np.arange(labelled) % classes
    return X, codes, random.integers(0, 3, n)


def same_cluster(cluster):
    return cluster[:, None] == cluster[None, :]


class TestConstraintScore:
    @pytest.mark.parametrize("seed", range(5))
    def test_equals_the_literal_sums(self, seed):
        X, codes, _ = problem(seed)
        pairs = naive.all_pairs(codes)
        expected = naive.constraint_score(X, *pairs)
        assert np.isinf(expected[2])
        np.testing.assert_allclose(constraint_score(X, *pairs), expected, **EXACT)
        labels = np.array([f"c{c}" if c >= 0 else None for c in codes], dtype=object)
        np.testing.assert_allclose(constraint_score(X, y=labels), expected, **EXACT)

    @pytest.mark.parametrize("seed", range(5))
    def test_labels_and_pairs_together_equal_the_closed_list(self, seed):
        X, codes, _ = problem(seed)
        free = np.flatnonzero(codes < 0)
        must_link = [(free[0], free[1]), (free[1], np.flatnonzero(codes == 0)[0])]
        cannot_link = [(free[2], free[3]), (free[3], np.flatnonzero(codes == 1)[0])]
        known = naive.all_pairs(codes)
        closed = naive.pair_closure([*must_link, *known[0]], [*cannot_link, *known[1]])
        expected = naive.constraint_score(X, *closed)
        np.testing.assert_allclose(constraint_score(X, must_link, cannot_link, y=codes), expected, **EXACT)
        fitted = ConstraintScore().fit(X, codes, must_link=must_link, cannot_link=cannot_link)
        np.testing.assert_allclose(fitted.scores_, expected, **EXACT)
        assert (fitted.n_must_link_, fitted.n_cannot_link_) == (len(closed[0]), len(closed[1]))

    def test_weights_multiply_terms(self):
        X, codes, _ = problem(0)
        must_link, cannot_link = naive.all_pairs(codes)
        random = np.random.default_rng(0)
        weights = random.uniform(size=len(must_link)), random.uniform(size=len(cannot_link))
        expected = naive.constraint_score(X, must_link, cannot_link, *weights)
        arguments = {"must_link_weights": weights[0], "cannot_link_weights": weights[1]}
        np.testing.assert_allclose(constraint_score(X, must_link, cannot_link, **arguments), expected, **EXACT)
        fitted = ConstraintScore().fit(X, must_link=must_link, cannot_link=cannot_link, **arguments)
        np.testing.assert_allclose(fitted.scores_, expected, **EXACT)

    def test_weighted_pairs_beside_labels(self):
        X, codes, _ = problem(1)
        free = np.flatnonzero(codes < 0)
        known = naive.all_pairs(codes)
        fitted = ConstraintScore().fit(
            X, codes, must_link=[free[:2]], cannot_link=[free[2:4]], must_link_weights=[0.25]
        )
        expected = naive.constraint_score(
            X,
            [*known[0], tuple(free[:2])],
            [*known[1], tuple(free[2:4])],
            [1.0] * len(known[0]) + [0.25],
        )
        np.testing.assert_allclose(fitted.scores_, expected, **EXACT)

    def test_without_closure_only_what_is_given_counts(self):
        X = problem(0)[0]
        pairs = {"must_link": [(0, 2), (2, 4)], "cannot_link": [(4, 5)]}
        fitted = ConstraintScore(closure=False).fit(X, **pairs)
        np.testing.assert_allclose(fitted.scores_, naive.constraint_score(X, *pairs.values()), **EXACT)
        assert (fitted.n_must_link_, fitted.n_cannot_link_) == (2, 1)
        assert ConstraintScore().fit(X, **pairs).n_cannot_link_ == 3

    @given(seed=st.integers(0, 2**20))
    @settings(max_examples=25)
    def test_order_rows_and_scale_of_columns_do_not_matter(self, seed):
        X, codes, _ = problem(seed)
        random = np.random.default_rng(seed)
        must_link, cannot_link = naive.all_pairs(codes)
        scores = constraint_score(X, must_link, cannot_link)
        turned = [pair[::-1] for pair in random.permutation(must_link).tolist()]
        np.testing.assert_allclose(constraint_score(X, turned, cannot_link), scores, rtol=1e-12)
        place = random.permutation(len(X))
        moved = np.empty_like(X)
        moved[place] = X
        scaled = moved * random.uniform(0.5, 200, X.shape[1]) * random.choice([-1, 1], X.shape[1])
        again = constraint_score(scaled, place[np.array(must_link)], place[np.array(cannot_link)])
        np.testing.assert_allclose(again, scores, rtol=1e-7)  # the far column has lost digits to its offset

    def test_a_far_origin(self):
        X, codes, _ = problem(3)
        far = np.round(X, 3) + 2.0**30
        np.testing.assert_allclose(
            constraint_score(far, y=codes), naive.constraint_score(far, *naive.all_pairs(codes)), **EXACT
        )

    @pytest.mark.parametrize(
        ("offset", "dtype", "rtol"), [(1e4, np.float32, 1e-3), (1e4, np.float64, 1e-9), (1e8, np.float64, 1e-6)]
    )
    def test_sparse_columns_far_from_zero_keep_their_digits(self, offset, dtype, rtol):
        X, codes, _ = problem(3)
        X = X - X.mean(axis=0)
        X[:, 0] += offset
        X[:, 1] += offset * (codes == codes.max())  # far in one class only: no one shift brings it near
        X[:, 2] = offset
        X = X.astype(dtype)
        pairs = naive.all_pairs(codes)
        for score in (
            lambda X: constraint_score(X, y=codes),
            lambda X: constraint_score(X, *pairs),
            lambda X: ConstraintScore().fit(X, codes).scores_,
        ):
            dense = score(X)
            assert np.isinf(dense[2])
            np.testing.assert_allclose(score(sparse.csr_array(X)), dense, rtol=rtol)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_layouts(self, dtype, order):
        X, codes, _ = problem(0)
        X = np.array(np.round(X * 4), dtype=dtype, order=order)
        X.setflags(write=False)
        expected = naive.constraint_score(X, *naive.all_pairs(codes))
        np.testing.assert_allclose(constraint_score(X, y=codes), expected, **EXACT)
        np.testing.assert_allclose(constraint_score(X, *naive.all_pairs(codes)), expected, **EXACT)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                {"must_link": [(0, 1)]},
                r"cannot_link is empty \(no cannot-link pair is left\): the denominator.*infinite",
            ),
            (
                {"cannot_link": [(0, 1)]},
                r"must_link is empty \(no must-link pair is left\): the numerator.*every score would be 0",
            ),
            ({}, "no must-link and no cannot-link pair is left.*0/0"),
            ({"y": [0, 1, -1]}, "no must-link pair is left"),
            ({"y": ["a", "a", None]}, "no cannot-link pair is left"),
            ({"must_link": [(0, 3)], "cannot_link": [(1, 2)]}, r"must_link\[0\] = \(0, 3\) names row 3"),
            ({"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}, "chain of must-links 0 - 1 - 2"),
            ({"must_link": [(0, 2)], "y": [0, 0, 1]}, "must_link contradicts the labels"),
            ({"y": np.full((3, 2), 0.5)}, "class probabilities, and ConstraintScore needs pairs of rows or classes"),
            (
                {"must_link": [(0, 1)], "must_link_weights": [0.5], "y": [0, 0, 1]},
                "y is given together with weights",
            ),
        ],
    )
    def test_bad_input(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            constraint_score(np.arange(6.0).reshape(3, 2) ** 2, **arguments)


class TestConstrainedLaplacian:
    @pytest.mark.parametrize("scale", ["mean", "none"])
    @pytest.mark.parametrize("seed", range(4))
    def test_equals_the_literal_sums(self, seed, scale):
        X, codes, cluster = problem(seed)
        X[:, 3] -= 1e4  # distances, too, would lose digits to it
        lam = 0.5 if scale == "mean" else 5.0
        pairs = naive.all_pairs(codes)
        weights = [dict.fromkeys(kind, 1.0) for kind in pairs]
        expected = naive.constrained_laplacian_score(X, same_cluster(cluster), *weights, lam, scale)
        got = constrained_laplacian_score(X, cluster, *pairs, lam=lam, scale=scale)
        np.testing.assert_allclose(got, expected, **EXACT)
        assert np.isinf(got[2])

    def test_a_graph_in_place_of_clusters(self):
        X, codes, _ = problem(0)
        X[:, 3] -= 1e4
        random = np.random.default_rng(0)
        edges = random.uniform(size=(16, 16)) < 0.2
        pairs = naive.all_pairs(codes)
        weights = [dict.fromkeys(kind, 1.0) for kind in pairs]
        expected = naive.constrained_laplacian_score(X, edges | edges.T, *weights, 0.5, "mean")
        got = constrained_laplacian_score(X, sparse.csr_array(edges * 7.0), *pairs, lam=0.5)
        np.testing.assert_allclose(got, expected, **EXACT)

    def test_weights(self):
        X, codes, cluster = problem(1)
        X[:, 3] -= 1e4
        pairs = naive.all_pairs(codes)
        random = np.random.default_rng(0)
        values = [random.uniform(0.1, 1, len(kind)) for kind in pairs]
        weights = [dict(zip(kind, value, strict=True)) for kind, value in zip(pairs, values, strict=True)]
        expected = naive.constrained_laplacian_score(X, same_cluster(cluster), *weights, 0.3, "mean")
        got = constrained_laplacian_score(
            X, cluster, *pairs, lam=0.3, must_link_weights=values[0], cannot_link_weights=values[1]
        )
        np.testing.assert_allclose(got, expected, **EXACT)

    def test_without_pairs_it_is_the_papers_laplacian_score(self):
        X, _, cluster = problem(2)
        X[:, 3] -= 1e4
        expected = naive.paper_laplacian_score(X, same_cluster(cluster), 4.0)
        np.testing.assert_allclose(constrained_laplacian_score(X, cluster, lam=4.0, scale="none"), expected, **EXACT)

    def test_the_graph_in_pieces(self, monkeypatch):
        X, codes, cluster = problem(3, n=40)
        whole = constrained_laplacian_score(X, cluster, *naive.all_pairs(codes))
        monkeypatch.setattr(cluster_graphs.cluster_graph_blocks, "__defaults__", (30,))
        pieces = list(cluster_graphs.cluster_graph_blocks(X, cluster, 1.0))
        assert len(pieces) > 10
        assert max(piece.nnz for _, piece in pieces) <= 60
        np.testing.assert_allclose(constrained_laplacian_score(X, cluster, *naive.all_pairs(codes)), whole, rtol=1e-12)

    @given(seed=st.integers(0, 2**20))
    @settings(max_examples=20)
    def test_order_rows_and_names_of_clusters_do_not_matter(self, seed):
        X, codes, cluster = problem(seed)
        X[:, 3] -= 1e4
        random = np.random.default_rng(seed)
        must_link, cannot_link = (np.array(kind) for kind in naive.all_pairs(codes))
        scores = constrained_laplacian_score(X, cluster, must_link, cannot_link)
        place = random.permutation(len(X))
        moved, names = np.empty_like(X), np.empty(len(X), dtype=object)
        moved[place] = X
        names[place] = np.array(["x", "b", "k"])[cluster]
        again = constrained_laplacian_score(
            moved, names.astype(str), place[random.permutation(must_link)], place[cannot_link][:, ::-1]
        )
        np.testing.assert_allclose(again, scores, rtol=1e-9)

    @pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, np.inf])
    def test_no_width(self, lam):
        with pytest.raises(ValueError, match=rf"lam={lam}: the width of the kernel .* must be positive and finite"):
            constrained_laplacian_score(np.eye(3), [0, 0, 1], lam=lam)

    def test_other_bad_input(self):
        with pytest.raises(ValueError, match="scale='median': give 'mean' or 'none'"):
            constrained_laplacian_score(np.eye(3), [0, 0, 1], scale="median")
        with pytest.raises(ValueError, match=r"has shape \(2,\): it must hold the cluster of each of the 3 rows"):
            constrained_laplacian_score(np.eye(3), [0, 0])
        with pytest.raises(ValueError, match=r"must have shape \(3, 3\)"):
            constrained_laplacian_score(np.eye(3), sparse.eye_array(4))
        with pytest.raises(ValueError, match="names row 3"):
            constrained_laplacian_score(np.eye(3), [0, 0, 1], [(0, 3)])

    def test_underflow_is_warned_of(self):
        X = problem(0)[0] * 100
        with pytest.warns(UserWarning, match=r'lam=0.1 is so small .* underflows: .* pass scale="mean"'):
            scores = constrained_laplacian_score(X, np.zeros(16, dtype=int), scale="none")
        assert not np.isnan(scores).any()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            constrained_laplacian_score(X, np.zeros(16, dtype=int), lam=0.5)
        with pytest.warns(UserWarning, match="underflows.*pass a larger lam"):
            constrained_laplacian_score(X, np.zeros(16, dtype=int), lam=1e-6)


class TestComparators:
    @pytest.mark.parametrize("power", [1, 2, 3, 4])
    @pytest.mark.parametrize("function", [1, 2, 3])
    def test_spec_equals_the_spectrum(self, function, power):
        random = np.random.default_rng(0)
        X = random.normal(size=(15, 4)) + 1
        graph = random.uniform(size=(15, 15)) * (random.uniform(size=(15, 15)) < 0.4)
        graph = np.triu(graph, 1) + np.triu(graph, 1).T
        graph[7] = graph[:, 7] = 0.0  # a row without neighbours
        arguments = {"function": function, "power": power}
        if function == 3:
            arguments["n_eigenvectors"] = 4
        expected = naive.spec_score(X, graph, **arguments)
        np.testing.assert_allclose(spec_score(X, sparse.csr_array(graph), **arguments), expected, rtol=1e-9)
        assert np.ptp(expected) > 0

    def test_the_third_function_of_many_rows(self):
        """A few eigenvectors by iteration are those of the whole spectrum, four equal eigenvalues or not."""
        random = np.random.default_rng(0)
        y = np.arange(500) % 4
        X = random.normal(size=(500, 3)) + y[:, None] * [0, 1, 3]
        graph = class_graph(y)
        got = spec_score(X, graph, function=3, n_eigenvectors=4)
        np.testing.assert_allclose(got, naive.spec_score(X, graph.toarray(), 3, 1, n_eigenvectors=4), rtol=1e-7)
        assert got[2] > got[1] > got[0]

    def test_the_second_function_is_the_laplacian_score(self):
        X = problem(0)[0]
        graph = cluster_graphs.RowNeighbors(X, n_neighbors=3).graph()
        np.testing.assert_allclose(spec_score(X, graph, function=2), laplacian_score(X, n_neighbors=3), rtol=1e-9)

    def test_class_graph(self):
        y = np.array(["a", "b", "a", "b", "b"])
        expected = [[(y[i] == y[j]) / np.sum(y == y[i]) for j in range(5)] for i in range(5)]
        np.testing.assert_allclose(class_graph(y).toarray(), expected)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"graph": np.eye(4)}, r"must have shape \(3, 3\)"),
            ({"graph": -np.eye(3)}, "negative or infinite"),
            ({"graph": np.triu(np.ones((3, 3)))}, "not symmetric"),
            ({"graph": np.zeros((3, 3))}, "no edge"),
            ({"graph": np.ones((3, 3)), "function": 4}, "function=4: give 1, 2 or 3"),
            ({"graph": np.ones((3, 3)), "power": 0}, "power=0: give a whole number"),
            ({"graph": np.ones((3, 3)), "function": 3}, "n_eigenvectors is needed"),
            (
                {"graph": np.ones((3, 3)), "function": 3, "n_eigenvectors": 9},
                "n_eigenvectors=9: give a number from 1 to 3",
            ),
        ],
    )
    def test_bad_input(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            spec_score(np.arange(6.0).reshape(3, 2), **arguments)

    def test_c4_is_the_product(self):
        X, codes, _ = problem(0)
        X[:, 3] -= 1e4
        pairs = naive.all_pairs(codes)
        expected = naive.constraint_score(X, *pairs) * laplacian_score(X)
        got = c4_score(X, *pairs)
        np.testing.assert_allclose(got[[0, 1, 3, 4]], expected[[0, 1, 3, 4]], rtol=1e-9)
        assert np.isinf(got[2])
        np.testing.assert_allclose(c4_score(X, y=codes), got, rtol=1e-9)
        halved = c4_score(X, *pairs, must_link_weights=np.full(len(pairs[0]), 0.5))
        np.testing.assert_allclose(halved, got / 2, rtol=1e-9)


@parametrize_with_checks(
    [
        ConstrainedLaplacianScore(neighbors="knn", selection="soft"),
        ConstrainedLaplacianScore(unlabelled="rows", selection="hard"),
        ConstraintScore(closure=False),
    ]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_checks_of_variants(estimator, check):
    check(estimator)


@pytest.fixture
def blobs():
    random = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = random.normal(size=(120, 8))
    X[:, :3] += 4 * np.eye(3)[y]
    hidden = np.where(np.arange(120) < 30, y, -1)
    return X, y, hidden


class TestSelectors:
    @pytest.mark.parametrize(
        "parameters",
        [
            {},
            {"unlabelled": "rows"},
            {"neighbors": "knn"},
            {"selection": "soft"},
            {"selection": "soft", "order": "random", "random_state": 0, "neighbors": "knn"},
        ],
    )
    @pytest.mark.filterwarnings("ignore:(must|cannot)_link is empty")
    def test_finds_the_features_that_tell_classes_apart(self, blobs, parameters):
        X, _, hidden = blobs
        fitted = ConstrainedLaplacianScore(n_features_to_select=3, **parameters).fit(X, hidden)
        assert fitted.support_.tolist() == [True] * 3 + [False] * 5

    def test_clusters_score_is_the_function_on_prototypes(self, blobs):
        X, _, hidden = blobs
        fitted = ConstrainedLaplacianScore().fit(X, hidden)
        space = StandardScaler().fit_transform(X)
        found = dubio.scores.constrained_laplacian.cluster_rows(space, np.arange(30))
        pairs = naive.all_pairs(hidden[:30])
        expected = constrained_laplacian_score(found.points, found.point_cluster, *pairs)
        np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-9)
        assert fitted.map_shape_ == found.map_shape
        assert fitted.n_clusters_ == found.n_clusters
        assert (fitted.n_must_link_, fitted.n_cannot_link_) == (len(pairs[0]), len(pairs[1]))
        rows = ConstrainedLaplacianScore(unlabelled="rows").fit(X, hidden)
        expected = constrained_laplacian_score(space, rows.row_clusters_, *pairs)
        np.testing.assert_allclose(rows.scores_, expected, rtol=1e-9)

    @pytest.mark.filterwarnings("ignore:cannot_link is empty")
    def test_selected_pairs_are_what_counts(self, blobs):
        X, _, hidden = blobs
        fitted = ConstrainedLaplacianScore(selection="soft", neighbors="knn", standardize=False).fit(X, hidden)
        kept = dubio.scores.coherence.select_pairs(X, read_pairs(*naive.all_pairs(hidden), len(X)), how="soft")
        assert (fitted.n_must_link_kept_, fitted.n_cannot_link_kept_) == (
            len(kept.must_link),
            len(kept.cannot_link),
        )
        assert 0 < len(kept) < fitted.n_must_link_ + fitted.n_cannot_link_
        edges = cluster_graphs.RowNeighbors(X, n_neighbors=5).graph()
        expected = constrained_laplacian_score(X, edges, kept.must_link, kept.cannot_link)
        np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-9)

    def test_empty_hard_selection_warns_and_uses_all(self):
        random = np.random.default_rng(0)
        X = random.normal(size=(40, 6))
        y = np.where(np.arange(40) < 16, np.arange(40) % 2, -1)
        with pytest.warns(UserWarning, match="kept none of 56 must-link and 64 cannot-link.*All of them are used"):
            hard = ConstrainedLaplacianScore(selection="hard").fit(X, y)
        assert hard.n_must_link_kept_ == 56
        np.testing.assert_array_equal(hard.scores_, ConstrainedLaplacianScore().fit(X, y).scores_)

    def test_one_kind_of_pair_is_warned_of(self, blobs):
        X = blobs[0]
        with pytest.warns(UserWarning, match="no cannot-link pair is given.*denominator only measures the spread"):
            ConstrainedLaplacianScore().fit(X, must_link=[(0, 3)])
        with pytest.warns(UserWarning, match="no must-link pair is given.*only keeps neighbours together"):
            ConstrainedLaplacianScore().fit(X, cannot_link=[(0, 1)])
        with pytest.warns(UserWarning, match="must_link and cannot_link are empty: the score is a plain Laplacian"):
            ConstrainedLaplacianScore().fit(X)
        with pytest.raises(ValueError, match="no cannot-link pair is left"):
            ConstraintScore().fit(X, must_link=[(0, 3)])

    def test_pairs_alone_equal_the_labels_they_come_from(self, blobs):
        X, _, hidden = blobs
        pairs = dubio.target.reader.pairs_from_labels(hidden)
        for selector in (ConstraintScore(), ConstrainedLaplacianScore()):
            by_labels = clone(selector).fit(X, hidden)
            by_pairs = clone(selector).fit(X, must_link=pairs.must_link, cannot_link=pairs.cannot_link)
            np.testing.assert_allclose(by_pairs.scores_, by_labels.scores_, rtol=1e-12)

    @pytest.mark.parametrize("selector", [ConstraintScore(), ConstrainedLaplacianScore()])
    def test_pairs_are_routed_in_a_pipeline(self, blobs, selector):
        X, y, hidden = blobs
        pairs = {"must_link": [(40, 43), (43, 46)], "cannot_link": [(40, 41), (41, 42)]}
        with sklearn.config_context(enable_metadata_routing=True):
            step = clone(selector).set_fit_request(must_link=True, cannot_link=True)
            pipe = make_pipeline(StandardScaler(), step, KNeighborsClassifier())
            pipe.fit(X, y, **pairs)
            scaled = StandardScaler().fit_transform(X)
            alone = clone(selector).fit(scaled, y, **pairs)
            np.testing.assert_array_equal(pipe[1].scores_, alone.scores_)
            pipe = make_pipeline(StandardScaler(), step)
            pipe.fit(X, hidden, **pairs)
            assert pipe[-1].n_must_link_ == clone(selector).fit(scaled, hidden, **pairs).n_must_link_
            assert pipe[-1].n_must_link_ > clone(selector).fit(scaled, hidden).n_must_link_

    def test_contradictory_pairs_and_rows_out_of_range(self, blobs):
        X, y, _ = blobs
        for selector in (ConstraintScore(), ConstrainedLaplacianScore()):
            with pytest.raises(ValueError, match="must_link contradicts the labels: rows 0 and 1"):
                clone(selector).fit(X, y, must_link=[(0, 1)])
            with pytest.raises(ValueError, match=r"cannot_link\[0\] = \(0, 120\) names row 120"):
                clone(selector).fit(X, y, cannot_link=[(0, 120)])
            with pytest.raises(ValueError, match="chain of must-links 0 - 3 - 6"):
                clone(selector).fit(X, must_link=[(0, 3), (3, 6)], cannot_link=[(0, 6)])
        with pytest.raises(ValueError, match="lam"):
            ConstrainedLaplacianScore(lam=0.0).fit(X, y)

    def test_the_published_setting(self, blobs):
        selector = ConstrainedLaplacianScore.as_published(n_features_to_select=3)
        assert (selector.selection, selector.scale, selector.lam, selector.closure) == ("hard", "none", 0.1, False)
        with pytest.warns(UserWarning):
            selector.fit(blobs[0], blobs[2])
        assert selector.n_features_ == 3


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_no_label_at_all_is_told_for_dense_and_sparse_tables(convert):
    X = convert(np.eye(4)[:, :2] + 1)
    with pytest.raises(ValueError, match="no must-link and no cannot-link"):
        constraint_score(X, y=[None] * 4)
    with pytest.raises(ValueError, match="no must-link and no cannot-link"):
        ConstraintScore().fit(X, [None] * 4)
    later = dubio.FisherScore().partial_fit(X, [None] * 4).partial_fit(X, ["a", "b", "a", "b"])
    np.testing.assert_allclose(later.scores_, dubio.fisher_score(X, ["a", "b", "a", "b"]))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_wls_of_equal_classes_is_a_function_of_fishers_score(n_classes):
    """WLS = 1 / (K (1 + F) - 1); with unequal classes it is another function, so the test could fail."""
    rng = np.random.default_rng(n_classes)
    y = np.repeat(np.arange(n_classes), 30)
    X = rng.normal(size=(len(y), 6)) * [1, 10, 1e-3, 1, 1, 1] + [0, 1e4, 0, 0, 0, 5] + y[:, None] * [0, 5, 0, 2, 0.3, 0]
    expected = 1 / (n_classes * (1 + fisher_score(X, y)) - 1)
    np.testing.assert_allclose(weighted_laplacian_score(X, y), expected, rtol=1e-12)
    X, y = X[7:], y[7:]
    gaps = weighted_laplacian_score(X, y) * (n_classes * (1 + fisher_score(X, y)) - 1) - 1
    assert np.abs(gaps).max() > 1e-3


@pytest.mark.parametrize("sizes", [(30, 30), (5, 20, 60), (2, 3, 4, 50)])
def test_spec_on_the_graph_of_classes_is_a_function_of_fishers_score(sizes):
    """Its second function is 1 / (1 + F) for classes of any sizes."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).normal(size=(len(y), 5)) + y[:, None] * [0, 1, 2, 0, 0.5]
    np.testing.assert_allclose(spec_score(X, class_graph(y), function=2), 1 / (1 + fisher_score(X, y)), rtol=1e-12)


def test_the_coherence_of_a_set_is_the_share_of_pairs_of_pairs():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 2))
    together, apart = rng.permutation(20)[:8].reshape(4, 2), rng.permutation(20)[:10].reshape(5, 2)
    share = np.mean([naive.coherence(X, [m], [c])[0][0] for m in together for c in apart])
    assert 0 < share < 1
    assert dubio.coherence_of_set(X, together, apart) == pytest.approx(share)
    assert dubio.coherence_of_set(X, together, None) == dubio.coherence_of_set(X, None, apart) == 1.0


def test_clusters_may_be_counted_or_come_from_a_clusterer(blobs):
    X, _, few = blobs[0], blobs[1], blobs[2]
    for count in (2, 5):
        assert ConstrainedLaplacianScore(n_clusters=count).fit(X, few).n_clusters_ == count
    clusterer = KMeans(4, n_init=2, random_state=0)
    fitted = ConstrainedLaplacianScore(neighbors=clusterer).fit(X, few)
    labels = clone(clusterer).fit_predict((X - X.mean(axis=0)) / X.std(axis=0))
    assert fitted.n_clusters_ == 4 and fitted.map_shape_ is None and not hasattr(clusterer, "labels_")
    pairs = pairs_from_labels(few)
    expected = constrained_laplacian_score(X, labels, pairs.must_link, pairs.cannot_link, standardize=True)
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-9)
    for wrong in ({"n_clusters": 0}, {"neighbors": "ward"}, {"neighbors": 5}):
        with pytest.raises(dubio.InputError, match=next(iter(wrong))):
            ConstrainedLaplacianScore(**wrong).fit(X, few)
