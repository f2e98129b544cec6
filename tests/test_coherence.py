"""Projected overlaps, coherence and the selection of coherent pairs, against the literal geometry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import special_ortho_group

from dubio.scores import coherence as overlap_module
from dubio.scores import constrained_laplacian as som
from dubio.scores.coherence import coherence
from dubio.scores.constrained_laplacian import cluster_rows, ward_clusters
from dubio.target.pairs import read_pairs
from tests import naive


def select_pairs(X, must_link, cannot_link, *, must_link_weights=None, cannot_link_weights=None, **options):
    X = np.asarray(X, dtype=np.float64)
    pairs = read_pairs(must_link, cannot_link, len(X), must_link_weights, cannot_link_weights)
    return overlap_module.select_pairs(X, pairs, **options)


def as_tuples(pairs):
    return [tuple(pair) for pair in np.asarray(pairs).tolist()]


def problem(seed, n=14, d=4, labelled=9):
    """Rows, and some of the pairs of a labelling of some of them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    codes = np.full(n, -1)
    codes[random.permutation(n)[:labelled]] = random.integers(0, 3, labelled)
    must_link, cannot_link = naive.all_pairs(codes)
    return X, must_link, cannot_link


@st.composite
def grid_problem(draw):
    """Small whole numbers: right angles, shared rows, equal rows and touching ends come up all the time."""
    n = draw(st.integers(3, 7))
    X = np.array(
        draw(st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=n, max_size=n)), dtype=float
    )
    codes = draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n))
    return X, *naive.all_pairs(codes)


class TestCoherence:
    @given(grid_problem())
    @settings(max_examples=150, deadline=None)
    def test_equals_the_geometry_on_a_grid(self, drawn):
        X, must_link, cannot_link = drawn
        for got, expected in zip(
            coherence(X, must_link, cannot_link), naive.coherence(X, must_link, cannot_link), strict=True
        ):
            np.testing.assert_allclose(got, expected, rtol=1e-12)

    @pytest.mark.parametrize("d", [1, 2, 30])
    @pytest.mark.parametrize("seed", range(4))
    def test_equals_the_geometry(self, seed, d):
        X, must_link, cannot_link = problem(seed, d=d)
        for got, expected in zip(
            coherence(X, must_link, cannot_link), naive.coherence(X, must_link, cannot_link), strict=True
        ):
            np.testing.assert_allclose(got, expected, rtol=1e-12)

    def test_order_and_repetitions_are_the_callers(self):
        X = problem(0)[0]
        once = coherence(X, [(0, 1), (2, 3)], [(4, 5), (6, 7)])
        turned = coherence(X, [(2, 3), (1, 0)], [(6, 7), (5, 4)])
        assert np.array_equal(turned[0], once[0][::-1]) and np.array_equal(turned[1], once[1][::-1])
        twice = coherence(X, [(2, 3), (1, 0), (2, 3)], [(6, 7), (5, 4)])
        assert np.array_equal(twice[0], once[0][[1, 0, 1]])
        alone = [coherence(X, [pair], [(6, 7), (5, 4)])[1] for pair in ((2, 3), (1, 0), (2, 3))]
        np.testing.assert_allclose(twice[1], np.mean(alone, axis=0))  # a repetition counts

    def test_a_point_has_no_overlap_and_is_none(self):
        X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
        assert coherence(X, [(2, 3)], [(0, 1)])[0].item() == 1
        assert coherence(X, [(0, 1)], [(0, 3)])[0].item() == 1

    def test_a_far_origin_costs_no_digits(self):
        X, must_link, cannot_link = problem(1)
        for got, expected in zip(
            coherence(X + 1e6, must_link, cannot_link), coherence(X, must_link, cannot_link), strict=True
        ):
            assert np.array_equal(got, expected)

    def test_names_a_row_that_is_not_there(self):
        with pytest.raises(ValueError, match=r"cannot_link\[0\] = \(0, 5\) names row 5"):
            coherence(np.eye(3), [(0, 1)], [(0, 5)])

    def test_in_blocks_without_the_gram_matrix(self, monkeypatch):
        X, must_link, cannot_link = problem(2, n=30, labelled=20)
        whole = coherence(X, must_link, cannot_link)
        monkeypatch.setattr(overlap_module, "BLOCK_BYTES", 500)
        monkeypatch.setattr(overlap_module.pair_geometry, "__defaults__", (0,))
        blocks = coherence(X, must_link, cannot_link, n_jobs=2)
        for a, b in zip(whole, blocks, strict=True):
            assert np.array_equal(a, b)

    @given(seed=st.integers(0, 2**20))
    @settings(max_examples=25, deadline=None)
    def test_order_rows_translation_rotation(self, seed):
        X, must_link, cannot_link = problem(seed, d=3)
        random = np.random.default_rng(seed)
        of_must, of_cannot = coherence(X, must_link, cannot_link)
        if must_link:
            shuffled = random.permutation(len(must_link))
            turned = [must_link[k][:: random.choice([-1, 1])] for k in shuffled]
            again = coherence(X, turned, cannot_link)
            assert np.array_equal(again[0], of_must[shuffled])
            assert np.array_equal(again[1], of_cannot)
        new_place = random.permutation(len(X))
        moved = np.empty_like(X)
        moved[new_place] = X
        rotated = moved @ special_ortho_group.rvs(3, random_state=seed % 1000) + 5 * random.normal(size=3)
        places = [[(new_place[i], new_place[j]) for i, j in pairs] for pairs in (must_link, cannot_link)]
        after = coherence(rotated, *places)
        assert np.array_equal(after[0], of_must)
        assert np.array_equal(after[1], of_cannot)

    def test_nothing_to_oppose_is_coherent(self):
        of_must, of_cannot = coherence(np.eye(3), [(0, 1)], [])
        assert of_must.tolist() == [1.0]
        assert of_cannot.shape == (0,)
        assert coherence(np.eye(3), [], [])[0].shape == (0,)

    def test_pairs_of_a_labelling_are_almost_never_coherent(self):
        """Two angles of one triangle would both have to be at least right."""
        random = np.random.default_rng(0)
        X = random.normal(size=(20, 6))
        must_link, cannot_link = naive.all_pairs(np.repeat([0, 1], 10))
        of_must, _ = coherence(X, must_link, cannot_link)
        assert (of_must < 1).all()

    @pytest.mark.parametrize("X", [np.asfortranarray(np.eye(4)), np.eye(4, dtype=np.float32)])
    def test_other_layouts(self, X):
        X.setflags(write=False)
        expected = coherence(np.eye(4), [(0, 1)], [(1, 2), (2, 3)])
        got = coherence(X, [(0, 1)], [(1, 2), (2, 3)])
        assert np.array_equal(got[0], expected[0])
        assert np.array_equal(got[1], expected[1])

    def test_contradictory_pairs(self):
        with pytest.raises(ValueError, match="0 - 1 - 2"):
            coherence(np.eye(3), [(0, 1), (1, 2)], [(0, 2)])


class TestSelection:
    @given(grid_problem())
    @settings(max_examples=100, deadline=None)
    def test_hard_equals_the_literal_rule(self, drawn):
        X, must_link, cannot_link = drawn
        kept = select_pairs(X, must_link, cannot_link, how="hard")
        expected = naive.select_hard(X, must_link, cannot_link)
        assert (as_tuples(kept.must_link), as_tuples(kept.cannot_link)) == expected

    @pytest.mark.parametrize("order", ["shortest", "random", "weight"])
    @pytest.mark.parametrize("seed", range(6))
    def test_soft_equals_the_literal_rule(self, seed, order):
        X, must_link, cannot_link = problem(seed, n=20, d=5, labelled=14)
        both = [*must_link, *cannot_link]
        lengths = np.array([np.linalg.norm(X[i] - X[j]) for i, j in both])
        weights = np.random.default_rng(seed).choice([0.3, 0.6, 1.0], len(both))
        expected_order = {
            "shortest": np.argsort(lengths),
            "random": np.random.RandomState(seed).permutation(len(both)),
            "weight": np.lexsort([lengths, -weights]),
        }[order]
        extra = {}
        if order == "weight":
            extra = {
                "must_link_weights": weights[: len(must_link)],
                "cannot_link_weights": weights[len(must_link) :],
            }
        kept = select_pairs(X, must_link, cannot_link, how="soft", order=order, random_state=seed, **extra)
        expected = naive.select_soft(X, must_link, cannot_link, expected_order.tolist())
        assert (as_tuples(kept.must_link), as_tuples(kept.cannot_link)) == expected
        assert 0 < len(kept) < len(both)
        if order == "weight":
            of = dict(zip(both, weights, strict=True))
            assert kept.must_link_weights.tolist() == [of[pair] for pair in as_tuples(kept.must_link)]

    @given(grid_problem())
    @settings(max_examples=60, deadline=None)
    def test_what_the_soft_rule_keeps_is_coherent(self, drawn):
        kept = select_pairs(*drawn, how="soft")
        again = select_pairs(drawn[0], kept.must_link, kept.cannot_link, how="hard")
        assert len(again) == len(kept)

    @given(seed=st.integers(0, 2**20))
    @settings(max_examples=20, deadline=None)
    def test_soft_does_not_depend_on_the_order_given_or_on_the_axes(self, seed):
        X, must_link, cannot_link = problem(seed, d=3)
        random = np.random.default_rng(seed)
        kept = select_pairs(X, must_link, cannot_link)
        rotated = X @ special_ortho_group.rvs(3, random_state=seed % 1000) + random.normal(size=3)
        again = select_pairs(rotated, must_link[::-1], [pair[::-1] for pair in cannot_link])
        assert as_tuples(kept.must_link) == as_tuples(again.must_link)
        assert as_tuples(kept.cannot_link) == as_tuples(again.cannot_link)

    def test_bad_choices(self):
        with pytest.raises(ValueError, match="how='maybe': give 'hard' or 'soft'"):
            select_pairs(np.eye(3), [(0, 1)], [(1, 2)], how="maybe")
        with pytest.raises(ValueError, match="order='longest': give 'shortest', 'random' or 'weight'"):
            select_pairs(np.eye(3), [(0, 1)], [(1, 2)], order="longest")
        with pytest.raises(ValueError, match="order='weight' needs weights"):
            select_pairs(np.eye(3), [(0, 1)], [(1, 2)], order="weight")

    def test_no_pairs(self):
        assert len(select_pairs(np.eye(3), [], [], how="soft")) == 0
        assert len(select_pairs(np.eye(3), [], [], how="hard")) == 0


class TestMap:
    @pytest.mark.parametrize(
        ("name", "n_mapped", "sides"),
        [
            ("iris", 111, (11, 5)),
            ("ionosphere", 263, (12, 7)),
            ("sonar", 156, (9, 7)),
            ("soybean_small", 34, (8, 4)),
            ("leukemia", 54, (7, 5)),
            ("pie10p", 160, (9, 7)),  # printed for Pix10P: the two are exchanged in the paper
            ("pix10p", 70, (8, 5)),
        ],
    )
    def test_printed_sizes(self, load_table, name, n_mapped, sides):
        """Seven of the eight sizes of the paper's Table 1 (colon's 6 x 6 would be 9 x 4)."""
        X = load_table(name)[0].to_numpy(dtype=float)
        spread = X.std(axis=0)
        space = (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]
        largest, second = np.linalg.eigvalsh(space @ space.T if X.shape[1] > len(X) else space.T @ space)[:-3:-1]
        assert som.map_shape(n_mapped, largest, second) == sides

    def test_the_rule_is_the_som_toolboxs(self):
        """By hand: 16 rows, 20 units; ratio 2 gives sides sqrt(17.32 / 2) = 2.94 and 20 / 3 = 6.67."""
        assert som.map_shape(16, 4.0, 1.0) == (7, 3)
        assert som.map_shape(16, 1.0, 0.0) == (20, 1)
        assert som.map_shape(17, 1.0, 1e-300) == (21, 1)

    def test_the_sheet_is_hexagonal(self):
        """On a plane much larger than the map, inner units have six neighbours at about the same distance."""
        X = np.random.default_rng(0).uniform(size=(3000, 2))
        sheet = som.fit_map(X)
        grid = sheet.prototypes.reshape(*sheet.shape, 2)
        six = []
        for i in range(4, sheet.shape[0] - 4):
            for j in range(4, sheet.shape[1] - 4):
                gaps = np.sort(np.linalg.norm(sheet.prototypes - grid[i, j], axis=1))[1:8]
                six.append(gaps[6] / gaps[5])  # the seventh neighbour is clearly farther than the sixth
        assert np.median(six) > 1.2

    def test_units_lie_among_the_rows_and_cover_them(self):
        random = np.random.default_rng(0)
        X = random.uniform(size=(400, 2))
        sheet = som.fit_map(X)
        assert len(sheet.prototypes) == sheet.shape[0] * sheet.shape[1]
        assert abs(len(sheet.prototypes) - 5 * np.sqrt(400)) <= 10
        error = np.linalg.norm(X - sheet.prototypes[sheet.unit], axis=1).mean()
        # a perfect grid of 100 cells has a mean error of 0.038
        assert error < 0.06
        nearest = np.linalg.norm(X[:, None] - sheet.prototypes[None], axis=2).argmin(axis=1)
        assert np.array_equal(sheet.unit, nearest)

    def test_neighbouring_units_are_neighbours_in_the_table(self):
        X = np.random.default_rng(1).uniform(size=(400, 2))
        sheet = som.fit_map(X)
        grid = sheet.prototypes.reshape(*sheet.shape, 2)
        step = np.linalg.norm(np.diff(grid, axis=0), axis=-1).mean()
        assert step < np.linalg.norm(grid[0, 0] - grid[-1, -1]) / 5

    def test_is_the_same_every_time_and_follows_a_shift(self):
        X = np.random.default_rng(2).normal(size=(60, 5))
        first, second = som.fit_map(X), som.fit_map(X + 100)
        np.testing.assert_allclose(second.prototypes - 100, first.prototypes, atol=1e-9)
        assert np.array_equal(first.unit, second.unit)

    @pytest.mark.parametrize("X", [np.zeros((5, 3)), np.ones((1, 2)), np.arange(6.0)[:, None]])
    def test_thin_tables(self, X):
        sheet = som.fit_map(X)
        assert np.isfinite(sheet.prototypes).all()
        assert len(sheet.unit) == len(X)


class TestClusters:
    def test_finds_separate_clouds_from_prototypes_and_labelled_rows(self):
        random = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], 60)
        X = random.normal(size=(180, 3)) * 0.3 + np.eye(3)[truth] * 8
        found = cluster_rows(X, labelled=np.arange(0, 180, 20))
        assert found.map_shape is not None
        assert len(found.points) == 9 + np.prod(found.map_shape)
        assert found.n_clusters >= 3
        # a cluster never mixes clouds
        for cluster in range(found.n_clusters):
            assert len(set(truth[found.row_cluster == cluster])) <= 1

    def test_without_unlabelled_rows_there_is_no_map(self):
        X = np.random.default_rng(0).normal(size=(10, 2))
        found = cluster_rows(X, labelled=np.arange(10))
        assert found.map_shape is None
        assert np.array_equal(found.point_cluster, found.row_cluster)

    def test_equal_or_few_points_are_one_cluster(self):
        assert ward_clusters(np.zeros((6, 2))).tolist() == [0] * 6
        assert ward_clusters(np.eye(2)).tolist() == [0, 0]
