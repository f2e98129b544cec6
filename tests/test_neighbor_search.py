"""The k-NN losses of a subset, and the search on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from dubio import NeighborSearch
from dubio.kernels.neighbor_loss import fill_nearest
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.greedy import ADD, REMOVE, SearchPath, best_subsets, greedy_search, order_by_presence
from dubio.neighbors.losses import NeighborLoss
from dubio.simulate import flip_labels, hide_labels
from tests import naive

#: The search on the given labels alone, over all rows and features.
PLAIN = {"clean": None, "complete": False, "max_rows": None, "max_steps": None, "class_weight": "balanced"}


@parametrize_with_checks(
    [NeighborSearch(experts=GaussianNB(), n_folds=2)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "a row of weight 2 is one piece of evidence, two rows are two"
    },
)
def test_scikit_learn_checks_with_cleaning(estimator, check):
    check(estimator)


def _problem(n=40, d=5, seed=0, whole=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, d)).astype(float) if whole else rng.normal(size=(n, d))
    y = (X[:, 0] + X[:, 1] > np.median(X[:, 0] + X[:, 1])) + 1 * (X[:, 2] > np.quantile(X[:, 2], 0.7))
    return X, y


def _soft(y, seed=0):
    rng = np.random.default_rng(seed)
    P = np.eye(3)[y] + rng.uniform(0, 0.5, size=(len(y), 3))
    return P / P.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("whole", [False, True])  # whole numbers: many ties and duplicate rows, exact arithmetic
@pytest.mark.parametrize("k", [1, 4, 39, 100])
@pytest.mark.parametrize("change", [ADD, REMOVE])
def test_losses_equal_the_literal_ones(whole, k, change):
    X, y = _problem(whole=whole)
    P = _soft(y)
    numbers = X @ [1.0, -2.0, 0.0, 0.0, 1.0]
    start = np.array([0, 2, 4]) if change == ADD else np.arange(5)
    candidates = np.array([1, 3]) if change == ADD else np.array([0, 3, 4])
    subsets = [np.union1d(start, [c]) if change == ADD else np.setdiff1d(start, [c]) for c in candidates]
    for criterion, literal in (
        (
            NeighborLoss(SubsetDistances(X), [P], n_neighbors=k, balanced=True),
            lambda s: naive.neighbor_cross_entropy(s, P, k),
        ),
        (
            NeighborLoss(SubsetDistances(X), [numbers], n_neighbors=k),
            lambda s: naive.neighbor_squared_error(s, numbers, k),
        ),
    ):
        assert criterion.start(start) == pytest.approx(literal(X[:, start]), rel=1e-12)
        expected = [literal(X[:, subset]) for subset in subsets]
        np.testing.assert_allclose(criterion.evaluate(candidates, change), expected, rtol=1e-12)
        criterion.apply(int(candidates[0]), change)
        rest = np.array([c for c in (1, 3) if c != candidates[0]]) if change == ADD else candidates[1:]
        expected = [literal(X[:, np.union1d(subsets[0], [c])]) for c in rest]
        if change == REMOVE:
            expected = [literal(X[:, np.setdiff1d(subsets[0], [c])]) for c in rest]
        np.testing.assert_allclose(criterion.evaluate(rest, change), expected, rtol=1e-12)


def test_a_class_without_any_membership_does_not_count():
    X, y = _problem()
    P = np.column_stack([np.eye(3)[y], np.zeros(len(y))])
    wide = NeighborLoss(SubsetDistances(X), [P], n_neighbors=5, balanced=True).start(np.arange(5))
    narrow = NeighborLoss(SubsetDistances(X), [P[:, :3]], n_neighbors=5, balanced=True).start(np.arange(5))
    assert wide == narrow


def test_loss_is_that_of_the_priors_when_every_row_is_a_neighbour():
    """With all other rows as neighbours no feature matters: the leave-one-out class shares."""
    X, y = _problem()
    P = np.eye(3)[y]
    n, sizes = len(y), P.sum(axis=0)
    criterion = NeighborLoss(SubsetDistances(X), [P], n_neighbors=n, balanced=True)
    expected = -np.log((sizes - 1 + sizes / n) / n).mean()
    np.testing.assert_allclose(criterion.start(np.arange(5)), expected, rtol=1e-12)
    np.testing.assert_allclose(criterion.evaluate(np.arange(5), REMOVE), expected, rtol=1e-12)


def test_losses_do_not_depend_on_threads():
    X, y = _problem(n=300)
    X, values = np.repeat(X, 2, axis=0), []  # with fewer rows there is one thread
    for n_threads in (1, 2):
        loss = NeighborLoss(SubsetDistances(X, n_threads=n_threads), [np.eye(3)[np.repeat(y, 2)]], balanced=True)
        loss.start(np.arange(0))
        values.append(loss.evaluate(np.arange(5), ADD))
    np.testing.assert_array_equal(*values)


def test_distances_that_are_no_numbers_read_no_foreign_memory():
    rng = np.random.default_rng(0)
    X, y = _problem(n=60)
    loss = NeighborLoss(SubsetDistances(X), [np.eye(3)[y]])
    loss.start(np.arange(3))
    loss.distances.squared[:] = rng.choice([np.nan, np.inf, -np.inf, 1.0], size=(60, 60))
    for change in (ADD, REMOVE):
        assert len(loss.evaluate(np.arange(3), change)) == 3


@pytest.mark.parametrize(("n_rows", "words"), [(0, "0 labelled rows"), (1, "1 labelled row")])
def test_a_loss_needs_another_row(n_rows, words):
    with pytest.raises(ValueError, match=f"^X has {words}: a row is predicted by others"):
        NeighborLoss(SubsetDistances(np.zeros((n_rows, 2))), [np.zeros(n_rows)])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_losses_after_a_change_are_those_of_all_distances(seed):
    """Many equal distances, groups and few rows: each way to the nearest rows finds the same ones."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 90)), int(rng.integers(2, 7))
    X, values = rng.normal(size=(n, d)), rng.normal(size=n)
    X = X if rng.random() < 0.3 else (4 * X).round() / rng.choice([1, 4, 16])  # sums of their squares are exact
    groups = np.unique(rng.integers(0, n // 2, n), return_inverse=True)[1] if rng.random() < 0.5 else None
    loss = NeighborLoss(SubsetDistances(X, groups=groups), [values], n_neighbors=int(rng.integers(1, 16)))
    subset = np.sort(rng.permutation(d)[: rng.integers(0, d)])
    loss.start(subset)
    for change, candidates in ((ADD, np.setdiff1d(np.arange(d), subset)), (REMOVE, subset[: len(subset) - 1])):
        for candidate, found in zip(candidates.tolist(), loss.evaluate(candidates, change), strict=True):
            changed = np.append(subset, candidate) if change == ADD else subset[subset != candidate]
            distances = sum((X[:, None, j] - X[None, :, j]) ** 2 for j in changed.tolist()) + np.zeros((n, n))
            own = np.arange(n) if groups is None else groups
            distances[own[:, None] == own] = np.inf
            nearest = np.argsort(distances, axis=1, kind="stable")[:, : loss.n_neighbors]
            expected = ((values - values[nearest].mean(axis=1)) ** 2).mean()
            assert found == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=70), st.integers(1, 20))
@settings(max_examples=100)
def test_nearest_rows_are_those_of_a_stable_sort(gaps, k):
    squared = np.array(gaps, dtype=float)
    squared[0] = np.inf
    k = min(k, len(gaps) - 1)
    expected = np.argsort(squared, kind="stable")[:k]
    for near in (np.arange(len(gaps)), np.arange(len(gaps))[::-1][:k], expected):  # whatever gives the first bound
        found, distances = np.empty((1, k), dtype=np.int32), np.empty((1, k))
        fill_nearest(squared[None], near.astype(np.int32)[None], found, distances, 1)
        np.testing.assert_array_equal(found[0], expected)
        np.testing.assert_array_equal(distances[0], squared[expected])


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_search_follows_the_literal_path(direction):
    X, y = _problem(n=30)
    fitted = NeighborSearch(**PLAIN, direction=direction, n_neighbors=4, standardize=False).fit(X, y)
    expected = naive.greedy_path(X, lambda s: naive.neighbor_cross_entropy(s, np.eye(3)[y], 4), direction)
    assert {size: subset.tolist() for size, subset in fitted.subsets_.items()} == expected
    for size, subset in expected.items():
        literal = naive.neighbor_cross_entropy(X[:, subset], np.eye(3)[y], 4)
        assert fitted.values_[size] == pytest.approx(literal, rel=1e-10)
    order = np.argsort(fitted.ranking_)
    assert all(set(order[:size]) == set(subset) for size, subset in expected.items())


def test_both_keeps_the_better_subset_of_each_size():
    X = np.random.default_rng(3).normal(size=(120, 8))
    y = 1 * ((X[:, 0] > 0) != (X[:, 1] > 0))  # one of the two alone says nothing: forward cannot begin with them
    one = {d: NeighborSearch(**PLAIN, direction=d).fit(X, y) for d in ("forward", "backward")}
    both = NeighborSearch(**PLAIN, direction="both").fit(X, y)
    differ = 0
    for size in range(1, 9):
        values = {d: one[d].values_[size] for d in one}
        better = min(values, key=values.get)
        assert both.values_[size] == values[better]
        differ += values["forward"] != values["backward"]
        if values["forward"] != values["backward"]:
            np.testing.assert_array_equal(both.subsets_[size], one[better].subsets_[size])
    assert differ > 0, "the two directions agree everywhere: this data tests nothing"
    assert both.support_.sum() == 4
    np.testing.assert_array_equal(np.flatnonzero(both.support_), both.subsets_[4])


def test_combined_paths_of_unequal_length():
    long = SearchPath("backward", {3: np.array([0, 1, 2]), 2: np.array([0, 1])}, {3: 1.0, 2: 2.0}, ())
    short = SearchPath("forward", {1: np.array([2]), 2: np.array([1, 2])}, {1: 5.0, 2: 3.0}, ())
    subsets, values = best_subsets([long, short])
    assert values == {1: 5.0, 2: 2.0, 3: 1.0}
    assert order_by_presence(subsets, 4).tolist() == [2, 0, 1, 3]


@pytest.mark.parametrize("clean", ["experts", "confident", "pooled", "lnt", None])
def test_wrong_labels_are_survived(clean):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    X = rng.normal(size=(240, 6))
    X[:, 4] += 3 * (y == 1)
    X[:, 1] += 3 * (y == 2)
    noisy = flip_labels(y, 0.2, random_state=1)
    fitted = NeighborSearch(n_features_to_select=2, clean=clean).fit(X, noisy)
    assert fitted.subsets_[2].tolist() == [1, 4]
    if clean is None:
        assert fitted.audit_ is None
        assert len(fitted.used_rows_) == 240
    else:
        assert fitted.audit_.engine == ("confident" if clean == "experts" else clean)
    if clean == "confident":
        dropped = np.setdiff1d(np.arange(240), fitted.used_rows_)
        np.testing.assert_array_equal(dropped, np.flatnonzero(fitted.audit_.doubtful))
        assert (noisy != y)[dropped].mean() > 0.8
        assert len(dropped) > 20


@pytest.mark.parametrize("clean", ["experts", "confident", "pooled", "lnt", None])
def test_row_order_does_not_matter_with_any_cleaning(clean):
    X, y = _problem(n=80, whole=clean != "lnt")
    order = np.random.default_rng(1).permutation(80)
    search = NeighborSearch(clean=clean, experts=None if clean in ("lnt", None) else GaussianNB())
    here = search.fit(X, y).subsets_
    there = search.fit(X[order], y[order]).subsets_
    for size in here:
        np.testing.assert_array_equal(here[size], there[size])


def test_ties_do_not_favour_the_first_class():
    """All rows alike in the first feature, classes in blocks: index order would predict everybody from one class."""
    X = np.column_stack([np.repeat([0.0, 0.0, 1.0], 40), np.random.default_rng(0).normal(size=120)])
    y = np.repeat([0, 1, 2], 40)
    fitted = NeighborSearch(direction="forward", clean=None, standardize=False, n_features_to_select=1).fit(X, y)
    # rows of classes 0 and 1 are mixed evenly, so their loss is near log 2, not that of a sure and wrong prediction
    assert fitted.subsets_[1].tolist() == [0]
    assert fitted.values_[1] == pytest.approx(2 / 3 * np.log(2), abs=0.1)


def test_unlabelled_rows_are_left_out_unless_they_are_completed():
    X, y = _problem(n=90)
    some = hide_labels(y, 0.3, random_state=0)
    known = np.array([label is not None for label in some])
    for clean in (None, "pooled"):
        search = NeighborSearch(clean=clean, complete=False, experts=GaussianNB(), standardize=False)
        partly, only = search.fit(X, some).values_, search.fit(X[known], y[known]).values_
        if clean is None:
            assert partly == only
        assert set(search.fit(X, some).used_rows_) == set(np.flatnonzero(known))


def test_soft_labels_are_taken_as_they_are_without_cleaning():
    X, y = _problem()
    P = _soft(y)
    fitted = NeighborSearch(**PLAIN, n_neighbors=4, standardize=False).fit(X, P)
    assert fitted.audit_ is None
    last = naive.neighbor_cross_entropy(X, P, 4)
    assert fitted.values_[5] == pytest.approx(last, rel=1e-10)


def test_numbers_are_predicted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = X[:, 5] ** 2 + np.abs(X[:, 2])
    y[::7] = np.nan
    assert NeighborSearch(n_features_to_select=2).fit(X, y).subsets_[2].tolist() == [2, 5]
    fitted = NeighborSearch(**PLAIN, n_features_to_select=2).fit(X, y)
    assert fitted.subsets_[2].tolist() == [2, 5]
    assert fitted.audit_ is None
    known = ~np.isnan(y)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    literal = naive.neighbor_squared_error(scaled[known][:, [2, 5]], y[known])
    assert fitted.values_[2] == pytest.approx(literal, rel=1e-9)


def test_constant_features_come_last_and_nothing_else_will_do():
    X, y = _problem()
    X[:, 3] = 7.0
    fitted = NeighborSearch(clean=None, n_features_to_select=5).fit(X, y)
    assert fitted.ranking_[3] == 5
    assert sorted(fitted.subsets_) == [1, 2, 3, 4]
    assert fitted.support_.all()
    with pytest.raises(ValueError, match="no feature that varies: all of its 2 columns are constant"):
        NeighborSearch(clean=None).fit(np.ones((40, 2)), y)


@pytest.mark.parametrize("clean", ["experts", "confident", None])
@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_features_constant_among_the_rows_searched_come_last(target, clean):
    rng = np.random.default_rng(0)
    y = np.arange(60.0) % 2
    X = rng.normal(size=(60, 3))
    X[:, 0] += 3 * y
    y[::4] = np.nan
    Z = np.column_stack([X, np.isnan(y)])
    fitted = NeighborSearch(n_features_to_select=2, target=target, clean=clean).fit(Z, y)
    assert fitted.ranking_[3] == 4 and not fitted.support_[3]
    assert sorted(fitted.subsets_) == [1, 2, 3]
    with pytest.raises(ValueError, match="its only column is constant among the 45 rows"):
        NeighborSearch(target=target, clean=clean).fit(Z[:, [3]], y)


def test_too_many_rows_for_the_memory_are_refused_before_they_are_compared(monkeypatch):
    X, y = _problem()
    monkeypatch.setattr("dubio.checks.free_bytes", lambda: 15_000)
    with pytest.raises(ValueError, match=r"distances of all pairs of rows: they need .* use a sample of the rows"):
        NeighborSearch(max_rows=None, experts=GaussianNB()).fit(X, y)
    assert len(NeighborSearch(max_rows=30, experts=GaussianNB()).fit(X, y).used_rows_) == 30


def test_without_experts_and_limits_it_is_the_search_on_the_given_labels():
    """Forward and backward, the better subset of each size, every class with the same weight."""
    X, y = _problem(n=50, whole=True)
    y = np.where(np.arange(50) % 6 == 0, -1, y)
    known = y >= 0
    fitted = NeighborSearch(**PLAIN, direction="both", n_neighbors=4, standardize=False).fit(X, y)

    order = np.lexsort((*np.eye(3)[y[known]].T, *X[known].T))
    order = order[np.random.RandomState(0).permutation(len(order))]

    def shuffled_loss(columns):
        return naive.neighbor_cross_entropy(columns, np.eye(3)[y[known][order]], 4)

    paths = [naive.greedy_path(X[known][order], shuffled_loss, direction) for direction in ("forward", "backward")]
    for size, subset in fitted.subsets_.items():
        best = min(shuffled_loss(X[known][order][:, path[size]]) for path in paths)
        assert fitted.values_[size] == pytest.approx(best, rel=1e-10)
        assert subset.tolist() in [path[size] for path in paths]
    assert fitted.audit_ is None and fitted.n_completed_ == 0 and fitted.notes_ == ()
    np.testing.assert_array_equal(fitted.used_rows_, np.flatnonzero(known))


def test_every_row_counts_alike_by_default():
    X, y = _problem(n=60)
    y[:50] = 0
    fitted = NeighborSearch(**(PLAIN | {"class_weight": None}), direction="forward", n_neighbors=4, standardize=False)
    fitted.fit(X, y)
    P = np.eye(3)[y][:, np.unique(y)]
    order = np.lexsort((*P.T, *X.T))[np.random.RandomState(0).permutation(60)]
    for size, subset in fitted.subsets_.items():
        literal = naive.neighbor_cross_entropy(X[order][:, subset], P[order], 4, balanced=False)
        assert fitted.values_[size] == pytest.approx(literal, rel=1e-10), size


def test_unlabelled_rows_are_completed_by_the_experts():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 12))
    X[:, 3] += 2.5 * y
    X[:, 7] += 2.0 * y
    few = np.where(np.arange(200) < 16, y, -1)
    fitted = NeighborSearch(n_features_to_select=2).fit(X, few)
    assert fitted.n_completed_ == 184
    assert len(fitted.used_rows_) == 200
    assert fitted.subsets_[2].tolist() == [3, 7]
    assert "184 unlabelled rows were completed by models" in fitted.notes_


def test_gross_errors_in_numbers_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = 2 * X[:, 1] + X[:, 4] + 0.2 * rng.normal(size=200)
    wrong = np.arange(200) % 8 == 0
    y[wrong] = 30 * rng.normal(size=wrong.sum())
    fitted = NeighborSearch(n_features_to_select=2).fit(X, y)
    assert fitted.subsets_[2].tolist() == [1, 4]
    left_out = np.setdiff1d(np.arange(200), fitted.used_rows_)
    assert fitted.n_left_out_ == len(left_out) >= 15
    assert wrong[left_out].mean() > 0.8


def test_a_large_table_is_sampled_by_content_not_by_place():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5))
    y = (X[:, 2] > 0) + 0
    search = NeighborSearch(max_rows=100, experts=GaussianNB())
    here = search.fit(X, y)
    ranking, used, notes = here.ranking_, here.used_rows_, here.notes_
    assert len(used) == 100 and 40 <= y[used].sum() <= 60
    assert notes[:2] == (
        "The models learned from a sample of 500 of 900 rows",
        "The search used a sample of 100 rows",
    )
    order = rng.permutation(900)
    there = search.fit(X[order], y[order])
    np.testing.assert_array_equal(ranking, there.ranking_)
    np.testing.assert_array_equal(np.sort(order[there.used_rows_]), used)


def test_features_that_the_search_did_not_reach_follow_in_order():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 30))
    y = X[:, 4] + 0.7 * X[:, 9] + 0.5 * X[:, 21]
    short = NeighborSearch(max_steps=2, max_features=10).fit(X, y)
    assert sorted(short.subsets_) == [1, 2]
    assert len(short.searched_features_) == 10
    ranks = short.ranking_
    assert sorted(ranks) == list(range(1, 31))
    assert ranks[[4, 9]].max() == 2
    assert set(np.flatnonzero(ranks <= 10)) == set(short.searched_features_)
    last = short.paths_["forward"].steps[-1]
    by_value = last.candidates[np.argsort(last.candidate_values)]
    assert short.searched_features_[by_value[1]] == np.flatnonzero(ranks == 3)[0]
    assert "The search looked at the best 10 of 30 features, by ranks and smooth R2" in short.notes_


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y has only one class"):
        NeighborSearch(target="classes").fit(np.random.default_rng(0).normal(size=(20, 2)), np.zeros(20, dtype=int))


def test_lonely_classes_are_trusted_and_said():
    X, y = _problem(n=60)
    y[0] = 9
    fitted = NeighborSearch(experts=GaussianNB()).fit(X, y)
    assert 0 in fitted.used_rows_
    assert 9 not in fitted.audit_.classes
    with pytest.warns(UserWarning, match="y is not audited: 1 class has at least two rows"):
        alone = NeighborSearch(experts=GaussianNB()).fit(X[:8], [0, 0, 0, 0, 0, 0, 1, 2])
    assert alone.audit_ is None
    assert len(alone.used_rows_) == 8


def test_verbose_says_where_it_is(capsys):
    X, y = _problem()
    NeighborSearch(experts=GaussianNB(), verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out.count("[NeighborSearch]") == 10
    assert out.count("[NeighborSearch] forward search: ") == 5
    assert "[NeighborSearch] experts: 5 of 5, " in out
    assert err == ""


def test_search_accepts_the_criterion_as_any_other():
    X, y = _problem()
    path = greedy_search(
        NeighborLoss(SubsetDistances(X), [np.eye(3)[y]], balanced=True), [0, 1, 4], direction="forward"
    )
    assert sorted(path.subsets) == [1, 2, 3]
