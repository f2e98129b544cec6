"""Pairs as a form of supervision: reading, closing, contradictions, and the forms they come in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dubio.target.pairs import (
    close_pairs,
    list_pairs,
    pairs_from_groups,
    pairs_from_signed,
    read_pairs,
    restrict_pairs,
    row_groups,
)
from dubio.target.reader import pairs_from_labels
from tests import naive


def as_tuples(pairs):
    return [tuple(pair) for pair in np.asarray(pairs).tolist()]


@st.composite
def consistent_pairs(draw):
    """Pairs that some true partition explains, in any order and either way round."""
    n = draw(st.integers(2, 9))
    truth = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    row = st.integers(0, n - 1)
    drawn = draw(st.lists(st.tuples(row, row), max_size=8))
    must_link = [(i, j) for i, j in drawn if truth[i] == truth[j]]
    cannot_link = [(i, j) for i, j in drawn if truth[i] != truth[j]]
    return n, must_link, cannot_link


class TestReading:
    def test_each_pair_once_smaller_row_first(self):
        pairs = read_pairs([(3, 1), (1, 3), (2, 2)], [(0, 1), (1, 0)], n_rows=4)
        assert as_tuples(pairs.must_link) == [(1, 3)]
        assert as_tuples(pairs.cannot_link) == [(0, 1)]
        assert pairs.must_link.dtype == np.int64

    def test_the_larger_weight_of_a_repeated_pair_stays_and_weight_zero_drops_a_pair(self):
        pairs = read_pairs([(0, 1), (1, 0), (2, 3)], None, 4, must_link_weights=[0.2, 0.7, 0.0])
        assert as_tuples(pairs.must_link) == [(0, 1)]
        assert pairs.must_link_weights.tolist() == [0.7]

    def test_nothing_given_is_no_pair(self):
        pairs = read_pairs(None, [], n_rows=3)
        assert pairs.must_link.shape == pairs.cannot_link.shape == (0, 2)
        assert len(pairs) == 0

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"must_link": [(0, 1), (2, 7)]}, r"must_link\[1\] = \(2, 7\) names row 7, but the table has rows 0 to 4"),
            ({"cannot_link": [(-1, 2)]}, r"cannot_link\[0\] = \(-1, 2\) names row -1"),
            ({"cannot_link": [(0, 1), (3, 3)]}, r"cannot_link\[1\] = \(3, 3\) says that a row differs from itself"),
            ({"must_link": [0, 1]}, r"must_link has shape \(2,\): it must have shape \(m, 2\)"),
            ({"must_link": [(0, 1, 2)]}, r"must_link has shape \(1, 3\)"),
            ({"must_link": [(0.5, 1)]}, "must_link has dtype float64.* row indices must be whole numbers"),
            ({"must_link": [("a", "b")]}, "must_link has dtype <U1.* row indices must be whole numbers"),
            ({"must_link": [(True, False)]}, "must_link has dtype bool.* row indices must be whole numbers"),
            ({"must_link": [(0, 1)], "must_link_weights": [1.0, 2.0]}, r"one number per pair \(1 pair\)"),
            ({"must_link": [(0, 1)], "must_link_weights": [-0.5]}, r"must_link_weights\[0\] is -0.5"),
            ({"must_link": [(0, 1)], "must_link_weights": [np.nan]}, r"must_link_weights\[0\] is nan"),
            (
                {"must_link": [(0, 1)], "must_link_weights": ["much"]},
                "must_link_weights holds values that are not numbers",
            ),
            ({"cannot_link_weights": [1.0]}, "cannot_link_weights is given without cannot_link"),
        ],
    )
    def test_bad_pairs(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            read_pairs(**{"must_link": None, "cannot_link": None, **arguments}, n_rows=5)

    def test_input_is_not_changed(self):
        given_pairs = np.array([[3, 1], [2, 0]])
        given_pairs.setflags(write=False)
        read_pairs(given_pairs, None, n_rows=4)
        assert given_pairs.tolist() == [[3, 1], [2, 0]]


class TestContradictions:
    def test_the_chain_is_named(self):
        with pytest.raises(ValueError, match=r"rows 0 and 7 differ.*chain of must-links 0 - 4 - 2 - 7: drop"):
            read_pairs([(0, 4), (4, 2), (7, 2), (5, 6)], [(7, 0), (5, 1)], n_rows=8)

    def test_the_chain_is_the_shortest_and_the_rest_is_counted(self):
        with pytest.raises(ValueError, match=r"chain of must-links 0 - 3 \(2 cannot-links"):
            read_pairs([(0, 1), (1, 2), (2, 3), (0, 3)], [(0, 3), (1, 2)], n_rows=4)

    def test_weighted_pairs_are_opinions_and_may_differ(self):
        pairs = read_pairs([(0, 1)], [(0, 1)], 2, must_link_weights=[0.6])
        assert len(pairs.must_link) == len(pairs.cannot_link) == 1

    def test_labels_against_must_links(self):
        pairs = read_pairs([(1, 3), (3, 2)], None, 5)
        message = r"rows 1 and 2 have different classes.*1 - 3 - 2: drop"
        with pytest.raises(ValueError, match=message):
            row_groups(pairs, 5, np.array([0, 0, 1, -1, -1]))

    def test_labels_against_cannot_links(self):
        pairs = read_pairs([(0, 3)], [(3, 1)], 5)
        with pytest.raises(ValueError, match=r"1 - \(same class\) - 0 - 3: drop"):
            row_groups(pairs, 5, np.array([0, 0, 1, -1, -1]))

    @given(consistent_pairs(), st.randoms(use_true_random=False))
    @settings(max_examples=60, deadline=None)
    def test_found_exactly_when_closing_finds_one(self, drawn, random):
        n, must_link, cannot_link = drawn
        extra = (random.randrange(n), random.randrange(n))
        if extra[0] != extra[1]:
            cannot_link = [*cannot_link, extra]
        together, apart = naive.pair_closure(must_link, cannot_link)
        contradictory = bool(set(together) & set(apart)) or any(i == j for i, j in apart)
        if contradictory:
            with pytest.raises(ValueError, match="belong together by the chain of must-links"):
                read_pairs(must_link, cannot_link, n)
        else:
            read_pairs(must_link, cannot_link, n)


class TestClosure:
    @given(consistent_pairs())
    @settings(max_examples=100, deadline=None)
    def test_equals_the_rules_applied_until_nothing_is_new(self, drawn):
        n, must_link, cannot_link = drawn
        closed = close_pairs(read_pairs(must_link, cannot_link, n), n)
        assert (as_tuples(closed.must_link), as_tuples(closed.cannot_link)) == naive.pair_closure(
            must_link, cannot_link
        )

    @given(st.lists(st.integers(-1, 3), min_size=1, max_size=12), consistent_pairs())
    @settings(max_examples=60, deadline=None)
    def test_labels_and_pairs_together(self, codes, drawn):
        n, must_link, cannot_link = drawn
        codes = np.array((codes * n)[:n])
        from_labels = naive.all_pairs(codes)
        together, apart = naive.pair_closure([*must_link, *from_labels[0]], [*cannot_link, *from_labels[1]])
        pairs = read_pairs(must_link, cannot_link, n)
        if set(together) & set(apart) or any(i == j for i, j in apart):
            with pytest.raises(ValueError, match="belong together by the chain of must-links"):
                row_groups(pairs, n, codes)
            return
        groups = row_groups(pairs, n, codes)
        listed = list_pairs(groups)
        assert (as_tuples(listed.must_link), as_tuples(listed.cannot_link)) == (together, apart)
        assert (groups.n_must_link, groups.n_cannot_link) == (len(together), len(apart))

    def test_weighted_pairs_cannot_be_closed(self):
        with pytest.raises(ValueError, match="weights cannot be closed"):
            close_pairs(read_pairs([(0, 1)], None, 2, [0.5]), 2)


class TestRestriction:
    @given(consistent_pairs(), st.randoms(use_true_random=False))
    @settings(max_examples=40, deadline=None)
    def test_what_follows_among_the_rows_that_stay(self, drawn, random):
        n, must_link, cannot_link = drawn
        rows = random.sample(range(n), random.randint(1, n))
        together, apart = naive.pair_closure(must_link, cannot_link)
        kept = restrict_pairs(read_pairs(must_link, cannot_link, n), rows, n)
        for got, expected in ((kept.must_link, together), (kept.cannot_link, apart)):
            assert {tuple(sorted((rows[i], rows[j]))) for i, j in got} == {
                pair for pair in expected if set(pair) <= set(rows)
            }

    def test_weights_stay_with_their_pairs(self):
        pairs = read_pairs([(0, 1), (2, 3)], None, 4, must_link_weights=[0.2, 0.8])
        kept = restrict_pairs(pairs, np.array([False, False, True, True]), 4)
        assert as_tuples(kept.must_link) == [(0, 1)]
        assert kept.must_link_weights.tolist() == [0.8]


class TestForms:
    @given(st.lists(st.integers(-1, 3), min_size=1, max_size=12))
    @settings(max_examples=60, deadline=None)
    def test_all_pairs_of_labels(self, codes):
        # -1 beside a single class is read as a mistake, so unlabelled rows are None here
        pairs = pairs_from_labels(np.array([None if code < 0 else f"c{code}" for code in codes], dtype=object))
        assert (as_tuples(pairs.must_link), as_tuples(pairs.cannot_link)) == naive.all_pairs(codes)

    def test_a_sample_is_seeded_distinct_and_of_the_right_kind(self):
        y = np.repeat([0, 1, 2, -1], 50)
        pairs = pairs_from_labels(y, n_must_link=200, n_cannot_link=300, random_state=0)
        again = pairs_from_labels(y, n_must_link=200, n_cannot_link=300, random_state=0)
        other = pairs_from_labels(y, n_must_link=200, n_cannot_link=300, random_state=1)
        assert len(pairs.must_link) == 200
        assert len(pairs.cannot_link) == 300
        assert (y[pairs.must_link[:, 0]] == y[pairs.must_link[:, 1]]).all()
        assert (y[pairs.cannot_link[:, 0]] != y[pairs.cannot_link[:, 1]]).all()
        assert (y[pairs.rows] >= 0).all()
        assert np.array_equal(pairs.must_link, again.must_link)
        assert not np.array_equal(pairs.must_link, other.must_link)

    def test_a_sample_is_uniform_over_pairs(self):
        y = np.array([0, 0, 0, 1, 1, 1])
        drawn = [as_tuples(pairs_from_labels(y, n_must_link=1, random_state=s).must_link)[0] for s in range(600)]
        counts = [drawn.count(pair) for pair in naive.all_pairs(y)[0]]
        assert len(counts) == 6
        # 100 expected each, standard deviation 9: five of them
        assert min(counts) > 55
        assert max(counts) < 145

    def test_a_sample_from_many_rows_lists_no_more_than_it_draws(self):
        pairs = pairs_from_labels(np.arange(200_000) % 2, n_must_link=5, n_cannot_link=5, random_state=0)
        assert len(pairs) == 10

    def test_too_large_a_sample(self):
        with pytest.raises(ValueError, match="n_must_link=2: give a number from 0 to 1,"):
            pairs_from_labels(["a", "a", "b"], n_must_link=2)

    def test_soft_labels_are_refused(self):
        with pytest.raises(ValueError, match="one class per row"):
            pairs_from_labels(np.array([[0.3, 0.7], [1.0, 0.0]]))

    def test_signed_pairs(self):
        pairs = pairs_from_signed([(0, 1), (2, 1)], [1, -1], n_rows=3)
        assert as_tuples(pairs.must_link) == [(0, 1)]
        assert as_tuples(pairs.cannot_link) == [(1, 2)]
        with pytest.raises(ValueError, match=r"y\[1\] is .*0.*must be \+1"):
            pairs_from_signed([(0, 1), (2, 1)], [1, 0], n_rows=3)
        with pytest.raises(ValueError, match=r"\+1 or -1 per pair \(2 pairs\)"):
            pairs_from_signed([(0, 1), (2, 1)], [1], n_rows=3)

    def test_groups(self):
        pairs = pairs_from_groups([[0, 1, 2], [4], [5, 6]], n_rows=8, apart=True)
        codes = np.array([0, 0, 0, -1, 1, 2, 2, -1])
        assert (as_tuples(pairs.must_link), as_tuples(pairs.cannot_link)) == naive.all_pairs(codes)

    def test_groups_that_share_a_row(self):
        assert len(pairs_from_groups([[0, 1], [1, 2]], n_rows=3).must_link) == 3
        with pytest.raises(ValueError, match="belong together by the chain of must-links"):
            pairs_from_groups([[0, 1], [1, 2]], n_rows=3, apart=True)
        with pytest.raises(ValueError, match="differs from itself"):
            pairs_from_groups([[0, 1], [0, 2]], n_rows=3, apart=True)

    def test_bad_groups(self):
        with pytest.raises(ValueError, match=r"groups\[1\] is \['a'\]: it must be a list of row indices"):
            pairs_from_groups([[0, 1], ["a"]], n_rows=3)
        with pytest.raises(ValueError, match="names row 9"):
            pairs_from_groups([[0, 9]], n_rows=3)
        with pytest.raises(ValueError, match="names row 9"):
            pairs_from_groups([[9]], n_rows=3)
