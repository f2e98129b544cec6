"""The greedy search and the distances it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dubio.kernels.distances import collect_within, nearest_until, scratch_marks
from dubio.neighbors.distances import SubsetDistances, check_row_limit
from dubio.neighbors.greedy import ADD, REMOVE, greedy_search
from dubio.progress import listening
from dubio.table.rows import order_by, stable_orders


class CorrelationCriterion:
    """Squared length of the target explained by the subset: recomputed each time, so it cannot drift."""

    larger_is_better = True

    def __init__(self, X, y):
        self.X, self.y = X - X.mean(0), y - y.mean()
        self.calls = []

    def _value(self, features):
        if len(features) == 0:
            return 0.0
        fitted = self.X[:, features] @ np.linalg.lstsq(self.X[:, features], self.y, rcond=None)[0]
        return float(fitted @ fitted)

    def start(self, features):
        self.subset = set(features.tolist())
        return self._value(sorted(self.subset))

    def evaluate(self, candidates, change):
        changed = (self.subset | {c} if change == ADD else self.subset - {c} for c in candidates.tolist())
        return np.array([self._value(sorted(subset)) for subset in changed])

    def apply(self, feature, change):
        self.calls.append((feature, change))
        self.subset = self.subset | {feature} if change == ADD else self.subset - {feature}


@pytest.fixture
def linear_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    return X, 4 * X[:, 3] + 2 * X[:, 1] + X[:, 0] + 0.1 * rng.normal(size=80)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_search_finds_the_obvious_path(linear_problem, direction):
    path = greedy_search(CorrelationCriterion(*linear_problem), range(5), direction=direction)
    assert path.order()[:3].tolist() == [3, 1, 0]
    assert path.subsets[2].tolist() == [1, 3]
    assert sorted(path.subsets) == sorted(path.values) == [1, 2, 3, 4, 5]
    for step in path.steps:
        assert step.value == path.values[step.size] == step.candidate_values.max()


def test_search_minimises_when_told(linear_problem):
    class Residual(CorrelationCriterion):
        larger_is_better = False

        def _value(self, features):
            return -super()._value(features)

    path = greedy_search(Residual(*linear_problem), range(5), direction="forward")
    assert path.order()[:3].tolist() == [3, 1, 0]


def test_search_stops_and_reports_and_spares_the_last_update(linear_problem):
    seen = []
    criterion = CorrelationCriterion(*linear_problem)
    with listening(lambda what, done, total: seen.append((what, done, total))):
        path = greedy_search(criterion, [0, 1, 3], direction="forward", stop_size=2)
    assert sorted(path.subsets) == [1, 2]
    assert [step.size for step in path.steps] == [1, 2]
    assert seen == [("forward search", 1, 2), ("forward search", 2, 2)]
    assert criterion.calls == [(3, ADD)]


def test_search_keeps_the_features_it_starts_with(linear_problem):
    forward = greedy_search(CorrelationCriterion(*linear_problem), range(5), direction="forward", start=[2])
    assert forward.subsets[1].tolist() == [2] and forward.order()[0] == 3
    backward = greedy_search(CorrelationCriterion(*linear_problem), range(5), start=[2])
    assert backward.subsets[2].tolist() == [2, 3] and all(2 in subset for subset in backward.subsets.values())


@pytest.mark.parametrize("stop_size", [0, 6])
def test_search_refuses_impossible_sizes(linear_problem, stop_size):
    with pytest.raises(ValueError, match=rf"stop_size={stop_size}: give a number from 1 to the 5 features"):
        greedy_search(CorrelationCriterion(*linear_problem), range(5), stop_size=stop_size)


def test_search_refuses_an_unknown_direction(linear_problem):
    with pytest.raises(ValueError, match="direction='both': give 'backward' or 'forward'"):
        greedy_search(CorrelationCriterion(*linear_problem), range(5), direction="both")


@pytest.mark.parametrize("n_threads", [1, 2])
def test_distances_follow_the_subset(n_threads):
    X = np.random.default_rng(1).normal(size=(600, 6)) * 100
    distances = SubsetDistances(X, n_threads=n_threads)
    distances.start(range(6))
    for feature, change in [(2, REMOVE), (5, REMOVE), (2, ADD), (0, REMOVE)]:
        distances.apply(feature, change)
    assert distances.subset.tolist() == [1, 2, 3, 4]
    kept = X[:, distances.subset]
    expected = ((kept[:, None] - kept[None]) ** 2).sum(-1)
    np.fill_diagonal(expected, np.inf)
    np.testing.assert_allclose(distances.squared, expected, rtol=1e-10)


def test_distances_refuse_too_many_rows_before_asking_for_memory():
    with pytest.raises(ValueError, match=r"X has 40000 rows, more than max_rows=20000.*12\.8 GB"):
        check_row_limit(40_000, 20_000)


def test_distances_never_fall_below_zero():
    X = np.array([[1e8, 0.0], [-1e8, 1e-3], [1e-8, 1e-3]])
    distances = SubsetDistances(X)
    distances.start([0, 1])
    distances.apply(0, REMOVE)
    assert (distances.squared >= 0).all()


@pytest.mark.parametrize("n", [3, 8, 21, 64])
def test_collect_within_keeps_what_is_near(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    distances = SubsetDistances(X)
    distances.start([0, 1, 2])
    found, rows = np.empty(n), np.empty(n, dtype=np.int64)
    for i in range(n):
        expected = ((X[i, 1:] - X[:, 1:]) ** 2).sum(1)
        bound = np.median(expected) + 1e-9
        count = collect_within(
            distances.squared[i], distances.columns[0], X[i, 0], -1.0, bound, scratch_marks(n), found, rows
        )
        wanted = [j for j in range(n) if j != i and expected[j] <= bound]
        assert rows[:count].tolist() == wanted
        np.testing.assert_allclose(found[:count], expected[wanted], atol=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.floats(0, 1)), min_size=1, max_size=120),
    st.floats(0.01, 0.99),
)
@settings(max_examples=200, deadline=None)
def test_nearest_until_is_a_sort_and_a_running_sum(entries, share):
    distances = np.array([float(distance) for distance, _ in entries])
    weights = np.array([weight for _, weight in entries]) + 0.01
    rows = np.random.default_rng(0).permutation(len(entries))
    target = share * weights.sum()
    order = np.lexsort((rows, distances))
    place = int(np.argmax(np.cumsum(weights[order]) >= target))
    d, r, w = distances.copy(), rows.copy(), weights.copy()
    found, reached = nearest_until(d, r, w, len(entries), target)
    assert found == place
    assert reached == pytest.approx(np.cumsum(weights[order])[place])
    assert r[found] == rows[order][place]
    assert set(r[: found + 1]) == set(rows[order][: place + 1])


@pytest.mark.parametrize("n_values", [2, 7, 1000])
def test_orders_are_those_of_stable_sorts(n_values):
    rng = np.random.default_rng(n_values)
    table = rng.integers(0, n_values, size=(60, 5)).astype(float)
    table[rng.random(table.shape) < 0.1] = np.nan
    table[:5, 0] = [0.0, -0.0, np.inf, np.inf, -np.inf]
    np.testing.assert_array_equal(order_by(table.T), np.lexsort(table.T[::-1]))
    np.testing.assert_array_equal(stable_orders(table.T), np.argsort(table.T, axis=1, kind="stable"))
