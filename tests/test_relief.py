"""Relief scores and the mean rank against their literal versions."""

from __future__ import annotations

import numpy as np
import pytest

from dubio import MeanRankScore, ReliefFScore, relieff_score, soft_relief_score
from dubio.scores.consensus import mean_rank, redundancy_ranking
from tests import naive


def _case(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 100, 0.01, 1]
    X[:, 3] = rng.integers(0, 3, size=n)
    X[5] = X[9]  # equal rows
    return X, rng.integers(0, 3, size=n), rng.dirichlet([1, 1, 1], size=n)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_soft_relief_is_the_literal_one(k):
    X, y, P = _case()
    np.testing.assert_allclose(soft_relief_score(X, P, n_neighbors=k), naive.soft_relief_score(X, P, k), rtol=1e-9)
    one_hot = np.eye(3)[y]
    np.testing.assert_allclose(
        soft_relief_score(X, y, n_neighbors=k), naive.soft_relief_score(X, one_hot, k), rtol=1e-9
    )


@pytest.mark.parametrize("k", [1, 3, 100])
def test_relieff_is_the_literal_one(k):
    X, y, _ = _case()
    y[:3] = 7  # a class of three rows
    y[3] = 8  # and one of a single row
    np.testing.assert_allclose(relieff_score(X, y, n_neighbors=k), naive.relieff_score(X, y, k), rtol=1e-9)


def test_few_rows_use_all_neighbours():
    X, _, P = _case(12)
    np.testing.assert_allclose(soft_relief_score(X, P), naive.soft_relief_score(X, P, 10), rtol=1e-9)


@pytest.mark.parametrize("score", [soft_relief_score, relieff_score])
def test_scale_offset_and_unlabelled_rows_do_not_matter(score):
    X, y, _ = _case()
    reference = score(X, y)
    np.testing.assert_allclose(score(X * [3, 0.1, 7, 1] + [5, -3, 1, 0], y), reference, rtol=1e-6)
    rows = np.arange(60) % 4 > 0
    np.testing.assert_array_equal(score(X, np.where(rows, y, -1)), score(X[rows], y[rows]))
    X[:, 1] = 2.0
    assert score(X, y)[1] == -np.inf


def test_more_neighbors_than_a_machine_can_count_are_all_rows():
    X, y, _ = _case(n=20)
    with pytest.warns(UserWarning, match="n_neighbors"):
        huge = ReliefFScore(n_features_to_select="relevant", n_neighbors=10**30, random_state=0).fit(X, y)
    all_rows = ReliefFScore(n_features_to_select="relevant", n_neighbors=19, random_state=0).fit(X, y)
    np.testing.assert_array_equal(huge.pvalues_, all_rows.pvalues_)


def test_relief_sees_what_matters_only_jointly():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 5))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    for score in (soft_relief_score, relieff_score):
        assert set(np.argsort(score(X, y))[-2:]) == {0, 1}


def test_bad_input_of_relief():
    X, y, P = _case()
    with pytest.raises(ValueError, match="class probabilities"):
        relieff_score(X, P)
    with pytest.raises(ValueError, match="class probabilities"):
        ReliefFScore().fit(X, P)
    for score in (soft_relief_score, relieff_score):
        with pytest.raises(ValueError, match="n_neighbors=0"):
            score(X, y, n_neighbors=0)
        with pytest.raises(ValueError, match="y is None"):
            score(X, None)


def test_mean_rank_joins_directions_and_ties():
    np.testing.assert_allclose(
        mean_rank([[1.0, 2.0, 3.0], [9.0, 9.0, 1.0]], lower_is_better=[True, False]), [1.25, 1.75, 3]
    )
    with pytest.raises(ValueError, match="different lengths"):
        mean_rank([[1.0], [1.0, 2.0]], lower_is_better=[True, True])
    with pytest.raises(ValueError, match=r"scores\[0\] contains NaN in 1 place:"):
        mean_rank([[1.0, np.nan]], lower_is_better=[True])
    with pytest.raises(ValueError, match="0 directions for 1 score"):
        mean_rank([[1.0]], lower_is_better=[])


def test_mean_rank_of_named_methods():
    X, y, P = _case()
    fitted = MeanRankScore(methods=("fisher", "weighted_laplacian")).fit(X, P)
    assert list(fitted.parts_) == ["fisher", "weighted_laplacian"]
    np.testing.assert_allclose(
        fitted.scores_,
        mean_rank(list(fitted.parts_.values()), lower_is_better=[False, True]),
    )
    with pytest.raises(ValueError, match="did you mean 'fisher'"):
        MeanRankScore(methods=["fischer"]).fit(X, y)
    with pytest.raises(ValueError, match=r"methods=array\(3\.\), which is no list: give names"):
        MeanRankScore(methods=np.array(3.0)).fit(X, y)
    with pytest.raises(ValueError, match="needs a numeric target"):
        MeanRankScore(methods=["supervised_laplacian"]).fit(X, y)
    with pytest.raises(ValueError, match="'fuzzy_rough_search', which does not score single features"):
        MeanRankScore(methods=["fuzzy_rough_search"]).fit(X, y)


def test_redundancy_puts_copies_last_and_zero_weight_changes_nothing():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(100, 3))
    X = np.column_stack([base[:, 0], base[:, 0], base[:, 1], base[:, 0] * -2, base[:, 2]])
    order = np.argsort(redundancy_ranking(X, [1, 2, 3, 4, 5]))
    assert order.tolist()[:3] == [0, 2, 4]
    np.testing.assert_array_equal(redundancy_ranking(X, [3, 1, 2, 5, 4], weight=0), [3, 1, 2, 5, 4])
    top = redundancy_ranking(X, [1, 2, 3, 4, 5], n_top=2)  # two are chosen, the others keep their order
    assert np.argsort(top).tolist() == [0, 2, 1, 3, 4]
    with pytest.raises(ValueError, match="shape"):
        redundancy_ranking(X, [1, 2])
    with pytest.raises(ValueError, match="weight"):
        redundancy_ranking(X, [1, 2, 3, 4, 5], weight=-1)
