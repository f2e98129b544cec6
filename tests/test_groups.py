"""Rows that belong together: each group counts once, and no row is compared with its own group where that misleads."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline

from dubio import FeatureSelector, NeighborSearch, audit_labels, select_features, stability
from dubio.doubt.experts import out_of_fold
from dubio.errors import InputError, NoFeatureStandsOut
from dubio.evidence.evidence import Evidence, independent_parts
from dubio.evidence.permutation import within_moments
from dubio.evidence.relations import fewest_orders, linear_pvalues, linear_r2, smooth_null, smooth_r2
from dubio.evidence.relevance import relevance_of
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.losses import NeighborLoss
from dubio.problem import read_problem
from dubio.sampling import sample_groups, sample_rows
from dubio_app.command.run import run
from tests import naive


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def visits(seed, shift=0.0, patients=40, n=10, labs=20):
    """Patients with several visits; label and labs are drawn per patient, three labs are shifted."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(patients), n)
    y = rng.permutation(np.arange(patients) % 2)
    labs_of = rng.normal(size=(patients, labs))
    labs_of[:, :3] += shift * y[:, None]
    return labs_of[groups] + 0.3 * rng.normal(size=(len(groups), labs)), y[groups], groups


def illness(seed, shift, patients=40, n=8, labs=12):
    """Each patient has levels of their own; at some visits the patient is ill, and two labs rise."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(patients), n)
    ill = (rng.random(len(groups)) < 0.3).astype(int)
    X = 3 * rng.normal(size=(patients, labs))[groups] + rng.normal(size=(len(groups), labs))
    X[:, :2] += shift * ill[:, None]
    return X, ill, groups


def within_groups(X, y, groups):
    """The evidence within groups."""
    return Evidence.of(independent_parts(read_problem(X, y, groups=groups))[-1][0])


# --- what is tested ----------------------------------------------------------------------------------------------


def test_groups_with_one_label_are_tested_as_one_row_each(rng):
    X, y, groups = visits(1, 2.0)
    with_groups = relevance_of(read_problem(X, y, groups=groups))
    means = naive.group_means(X, groups)
    as_rows = relevance_of(read_problem(means, y[::10]))
    assert_allclose(with_groups.parts["linear"], as_rows.parts["linear"], rtol=1e-9)
    # the order of the rows decides which permutations are drawn, and means are rounded
    assert_allclose(with_groups.parts["smooth"], as_rows.parts["smooth"], rtol=0.2, atol=2e-3)


def test_unlabelled_rows_are_not_in_the_means(rng):
    X, y, groups = visits(2, 1.0)
    known = rng.random(len(y)) < 0.7
    target = np.where(known, y, -1)
    ((part, share),) = independent_parts(read_problem(X, target, groups=groups))
    assert share == 1.0
    found = {tuple(row) for row in part.X.round(9)}
    assert found == {tuple(row) for row in naive.group_means(X[known], groups[known]).round(9)}


def test_probabilities_and_numbers_that_vary_are_averaged(rng):
    X, groups = rng.normal(size=(12, 2)), np.repeat(np.arange(4), 3)
    numbers = rng.normal(size=12)
    between, within = independent_parts(read_problem(X, numbers, target="numbers", groups=groups))
    assert between[1] + within[1] == pytest.approx(1.0)
    assert_allclose(sorted(between[0].supervision.values), sorted(naive.group_means(numbers[:, None], groups)[:, 0]))
    P = rng.dirichlet([1, 1, 1], size=12)
    between, _ = independent_parts(read_problem(X, P, groups=groups))
    assert_allclose(np.sort(between[0].supervision.memberships, axis=0), np.sort(naive.group_means(P, groups), axis=0))


def test_the_most_frequent_category_of_a_group():
    X = np.array([[0.0], [2.0], [2.0], [1.0], [1.0], [5.0]])
    problem = read_problem(X, [0, 0, 0, 1, 1, 1], mixed=True, nominal=[0], groups=[0, 0, 0, 1, 1, 1])
    ((part, _),) = independent_parts(problem)
    assert sorted(part.X[:, 0]) == [1.0, 2.0]


def test_equal_values_of_a_group_keep_their_exact_mean():
    X = np.full((30, 1), 0.1)
    X[12:] = 0.3
    problem = read_problem(X, [0] * 12 + [1] * 18, groups=np.r_[np.repeat([0, 1, 2], [3, 7, 2]), np.repeat([3, 4], 9)])
    ((part, _),) = independent_parts(problem)
    assert set(part.X[:, 0]) == {0.1, 0.3}


def test_one_wrong_label_does_not_turn_the_test_around():
    X, y, groups = visits(3, 2.0)
    y = y.copy()
    y[0] = 1 - y[0]
    (between, much), (_, little) = independent_parts(read_problem(X, y, groups=groups))
    assert much > 0.95 > little > 0
    assert between.n_rows == 40
    assert relevance_of(read_problem(X, y, groups=groups)).relevant[:3].all()


def test_within_groups_levels_of_groups_do_not_count(rng):
    X, y, groups = illness(0, 1.0)
    moved = X + 100 * rng.normal(size=(40, X.shape[1]))[groups]
    parts = [independent_parts(read_problem(table, y, groups=groups))[-1][0] for table in (X, moved)]
    assert all(part.groups is not None for part in parts)
    first, second = (linear_pvalues(Evidence.of(part)) for part in parts)
    assert_allclose(first, second, rtol=1e-6)


# --- the tests within groups, against literal ones -----------------------------------------------------------------


@pytest.fixture
def small(rng):
    groups = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2])
    codes = np.array([0, 1, 0, 1, 2, 0, 0, 1, 2])
    X = rng.normal(size=(9, 3)) ** 3
    X[:, 2] = rng.integers(0, 2, size=9)
    return X, codes, groups


def test_moments_within_groups_are_exact(small):
    X, codes, groups = small
    T = naive.without_group_means(np.eye(3)[codes], groups)
    basis = np.linalg.svd(T, full_matrices=False)[0][:, :2]
    centred = naive.without_group_means(X, groups)
    mean, variance = within_moments(centred, basis, groups)
    for j in range(X.shape[1]):
        all_of_them = [
            naive.linear_r2_within(X[order, j], np.eye(3)[codes], groups) for order in naive.orders_within(groups)
        ]
        assert len(all_of_them) == 2 * 6 * 24
        assert_allclose([mean[j], variance[j]], [np.mean(all_of_them), np.var(all_of_them)], rtol=1e-8)


def test_scores_within_groups_equal_the_literal_ones(small):
    X, codes, groups = small
    part = independent_parts(read_problem(X, codes, groups=groups))[-1][0]
    scores = linear_r2(Evidence.of(part))[0]
    assert_allclose(scores, [naive.linear_r2_within(x, np.eye(3)[codes], groups) for x in X.T], rtol=1e-9)


def test_smooth_scores_within_groups_use_ranks_within_groups(rng):
    sizes = [3, 5, 7, 11, 13]  # no two groups share a rank but the middle one
    groups = np.repeat(np.arange(5), sizes)
    y = rng.normal(size=len(groups))
    x = rng.normal(size=len(groups))
    part = independent_parts(read_problem(x[:, None], y, target="numbers", groups=groups))[-1][0]
    T = naive.without_group_means(y[:, None], groups)
    ranks = np.array(naive.rank_within(x, groups))
    possible = [
        naive.smooth_r2_score(ranks + 1e-6 * np.random.default_rng(seed).random(len(x)), T) for seed in range(400)
    ]
    assert np.isclose(smooth_r2(Evidence.of(part))[0], possible, rtol=1e-9).any()


def test_no_pvalue_is_smaller_than_the_orders_allow():
    groups = np.array([0, 0, 0, 0, 1, 1, 1])
    T = np.array([1, 0, 0, 0, 1, 1, 0])[:, None].astype(float)
    distinct = {tuple(T[order, 0]) for order in naive.orders_within(groups)}
    assert fewest_orders(T, groups) == pytest.approx(1 / len(distinct))
    X = naive.without_group_means(np.column_stack([T[:, 0], np.arange(7.0)]), groups)
    pvalues = linear_pvalues(within_groups(X, T[:, 0].astype(int), groups))
    assert pvalues.min() >= 1 / len(distinct)


def test_the_null_within_groups_keeps_groups_together(rng):
    """A target that differs between groups only would be predicted perfectly if rows left their group."""
    groups = np.repeat(np.arange(6), 8)
    target = naive.without_group_means(rng.normal(size=(48, 1)), groups)
    evidence = Evidence(target, target, np.empty(0), groups)
    null = smooth_null(evidence, 200)
    assert len(np.unique(null)) > 150
    assert_array_equal(null, smooth_null(evidence, 200, n_jobs=2))


def test_pvalues_within_groups_are_uniform_without_a_relation():
    pvalues = np.concatenate([linear_pvalues(within_groups(*illness(seed, 0.0))) for seed in range(25)])
    assert abs(np.mean(pvalues <= 0.05) - 0.05) < 0.04
    assert abs(np.median(pvalues) - 0.5) < 0.1


# --- the whole answer ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_visits_without_a_relation_are_not_kept():
    kept = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        for seed in range(6):
            X, y, groups = visits(seed)
            kept.append(relevance_of(read_problem(X, y, groups=groups)).relevant.sum())
            if seed == 0:
                assert relevance_of(read_problem(X, y)).relevant.sum() > 5  # rows taken as independent
    assert sum(kept) <= 1


def test_the_related_labs_are_found():
    X, y, groups = visits(0, 2.0)
    selector = FeatureSelector().fit(X, y, groups=groups)
    assert_array_equal(selector.get_support(indices=True), [0, 1, 2])
    assert "40 groups of rows; each counts once" in selector.explanation_
    assert selector.n_groups_ == 40


def test_illness_within_patients_is_found():
    X, y, groups = illness(1, 1.0)
    selector = FeatureSelector().fit(X, y, groups=groups)
    assert {0, 1} <= set(selector.get_support(indices=True))
    assert "rows within each group" in selector.explanation_
    alone = FeatureSelector().fit(X, y)  # the levels of patients hide it
    assert alone.pvalues_[:2].max() > selector.pvalues_[:2].max()


@pytest.mark.parametrize("method", ["fisher", "mean_rank", "linear_r2", "smooth_r2", "relieff", "linear_search"])
def test_methods_by_name_count_groups_once(method):
    X, y, groups = visits(1, 2.0, labs=6)
    selector = FeatureSelector(method, n_features_to_select="relevant").fit(X, y, groups=groups)
    assert {0, 1, 2} <= set(selector.get_support(indices=True))
    assert "takes rows as independent" in selector.explanation_
    noise = FeatureSelector(method, n_features_to_select="relevant")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        assert noise.fit(X[:, 3:], y, groups=groups).n_relevant_ <= 1
        assert noise.fit(X[:, 3:], y).n_relevant_ >= 2  # rows taken as independent


@pytest.mark.parametrize("kind", ["missing", "soft", "numbers"])
def test_every_kind_of_target(kind, rng):
    X, y, groups = visits(4, 2.5, labs=8)
    if kind == "missing":
        target = np.where(rng.random(len(y)) < 0.5, y, -1)
    elif kind == "soft":
        target = np.column_stack([0.9 - 0.8 * y, 0.1 + 0.8 * y])
    else:
        target = y + 0.2 * rng.normal(size=40)[groups]
    selector = FeatureSelector().fit(X, target, groups=groups)
    assert {0, 1, 2} <= set(selector.get_support(indices=True))


def test_a_group_per_row_changes_nothing(rng):
    X, y, _ = visits(5, 1.0, patients=60, n=2, labs=5)
    plain, apart = FeatureSelector().fit(X, y), FeatureSelector().fit(X, y, groups=np.arange(len(y)))
    assert_array_equal(plain.pvalues_, apart.pvalues_)
    assert_array_equal(plain.ranking_, apart.ranking_)


def test_names_of_groups_and_the_order_of_rows_do_not_matter(rng):
    X, y, groups = visits(6, 1.0, labs=5)
    first = FeatureSelector().fit(X, y, groups=groups)
    order = rng.permutation(len(y))
    names = np.array([f"patient {(7 * g) % 40}" for g in groups])
    second = FeatureSelector().fit(X[order], y[order], groups=pd.Series(names[order]))
    assert_array_equal(first.ranking_, second.ranking_)
    assert_allclose(first.pvalues_, second.pvalues_, rtol=1e-9)


def test_select_features_takes_groups():
    X, y, groups = visits(0, 2.0)
    assert set(np.flatnonzero(select_features(X, y, groups=groups).support)) == {0, 1, 2}


# --- the search, the experts, samples ------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[3, 3, 3, 3], [1, 2, 3, 9]])
def test_neighbours_are_rows_of_other_groups(sizes, rng):
    groups = np.repeat(np.arange(4), sizes)
    n = len(groups)
    X, P, y = rng.normal(size=(n, 3)), rng.dirichlet([1, 1], size=n), rng.normal(size=n)
    k = 4
    losses = (
        NeighborLoss(SubsetDistances(X, groups=groups), [P], n_neighbors=k, balanced=True),
        NeighborLoss(SubsetDistances(X, groups=groups), [y], n_neighbors=k),
    )
    usable = min(k, n - max(sizes))
    for subset in ([0], [0, 2], [0, 1, 2]):
        literal = (
            naive.neighbor_cross_entropy(X[:, subset], P, usable, groups=groups),
            naive.neighbor_squared_error(X[:, subset], y, usable, groups=groups),
        )
        for loss, value in zip(losses, literal, strict=True):
            assert_allclose(loss.start(np.array(subset)), value, rtol=1e-9)
            units = loss.unit_values(np.array(subset))
            assert_allclose(units.sum(), value, rtol=1e-9)
            assert len(units) == 4


def test_candidates_of_a_search_keep_groups_apart(rng):
    groups = np.repeat(np.arange(8), 5)
    X, P = rng.normal(size=(40, 4)), np.eye(2)[rng.integers(0, 2, 40)]
    loss = NeighborLoss(SubsetDistances(X, groups=groups), [P], n_neighbors=6, balanced=True)
    loss.start(np.array([1]))
    values = loss.evaluate(np.array([0, 2, 3]), 1)
    assert_allclose(values, [naive.neighbor_cross_entropy(X[:, [1, j]], P, 6, groups=groups) for j in (0, 2, 3)])
    loss.apply(2, 1)
    values = loss.evaluate(np.array([1, 2]), -1)
    assert_allclose(values, [naive.neighbor_cross_entropy(X[:, [j]], P, 6, groups=groups) for j in (2, 1)])


def test_experts_hold_out_whole_groups():
    X, y, groups = visits(7, 1.0, patients=15, n=4, labs=4)
    folds = out_of_fold(read_problem(X, y, groups=groups)).folds
    assert all(len(set(folds[groups == g])) == 1 for g in range(15))
    assert set(folds) == set(range(5))


def test_a_label_that_only_its_group_confirms_is_not_confirmed():
    """Identical rows in a group: with the group in the training set, the neighbours repeat the label."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    y = rng.permutation(np.arange(60) % 2)[groups]
    X = rng.normal(size=(60, 4))[groups] + 1e-3 * rng.normal(size=(300, 4))
    assert audit_labels(X, y).skills["pool"] > 0.5
    audit = audit_labels(X, y, groups=groups)
    assert not audit.judged


def test_a_sample_holds_whole_groups():
    X, y, groups = visits(0, patients=300, n=7, labs=2)
    problem = read_problem(X, y, groups=groups)
    rows = sample_rows(problem, 900)
    assert 850 < len(rows) <= 900
    counts = np.bincount(groups[rows])
    assert set(counts) == {0, 7}
    assert abs(y[rows].mean() - 0.5) < 0.02
    few = read_problem(X, y, groups=groups % 5)  # five large groups: a part of each
    counts = np.bincount((groups % 5)[sample_rows(few, 500)])
    assert_array_equal(counts, [100] * 5)
    half = sample_groups(problem, 150)
    assert len(half) == 150 * 7


def test_stability_draws_groups():
    X, y, groups = visits(0, 2.0, patients=20, n=4, labs=4)
    seen = []

    class Watching(NeighborSearch):
        def _solve(self, problem):
            seen.append(problem.groups)
            return super()._solve(problem)

    for how in ("subsample", "bootstrap"):
        found = stability(Watching(n_features_to_select=2, clean=None), X, y, groups=groups, n_draws=2, resample=how)
        assert found.frequency.sum() == pytest.approx(2.0)
    assert all((np.bincount(drawn)[np.unique(drawn)] % 4 == 0).all() for drawn in seen)
    assert all(len(np.unique(drawn)) < 20 for drawn in seen)


def test_stability_of_other_selectors_draws_groups():
    from sklearn.feature_selection import SelectKBest

    X, y, groups = visits(0, 2.0, patients=20, n=4, labs=4)
    sizes = []

    class Watching(SelectKBest):
        def fit(self, X, y):
            sizes.append(len(X))
            return super().fit(X, y)

    stability(Watching(k=2), X, y, groups=groups, n_draws=3)
    assert all(size % 4 == 0 and size < 80 for size in sizes)


# --- scikit-learn --------------------------------------------------------------------------------------------------


def test_groups_are_routed_through_a_pipeline():
    X, y, groups = visits(0, 2.0, labs=6)
    with sklearn.config_context(enable_metadata_routing=True):
        seen = []

        class Watching(NeighborSearch):
            def fit(self, X, y=None, groups=None):
                seen.append(groups)
                return super().fit(X, y, groups=groups)

        search = Watching(n_features_to_select=3, clean=None).set_fit_request(groups=True)
        pipe = make_pipeline(search, LogisticRegression())
        found = cross_validate(pipe, X, y, cv=GroupKFold(4), params={"groups": groups}, error_score="raise")
        assert len(seen) == 4
        assert all(len(np.unique(part)) == 30 for part in seen)
        assert found["test_score"].mean() > 0.7
        front = FeatureSelector("fisher", n_features_to_select=3).set_fit_request(groups=True)
        make_pipeline(front, LogisticRegression()).fit(X, y, groups=groups)


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1, 2, 3], "has 3 values, but X has 8 rows"),
        ([[1], [2], [3], [4], [5], [6], [7], [8]], "has shape"),
        ([1, 1, 2, 2, None, 3, 3, 3], "is missing in 1 row, first in row 4"),
        ([1, 1, 2, 2, np.nan, 3, 3, 3], "is missing in 1 row, first in row 4"),
        (pd.Series(["a", "a", "b", "b", pd.NA, "c", "c", "c"]), "is missing in 1 row, first in row 4"),
        (["same"] * 8, "puts all rows into one group"),
    ],
)
def test_bad_groups_are_refused(groups, words, rng):
    with pytest.raises(InputError, match=words):
        FeatureSelector().fit(rng.normal(size=(8, 2)), [0, 1] * 4, groups=groups)


def test_groups_and_pairs_cannot_be_combined(rng):
    with pytest.raises(InputError, match="pairs"):
        FeatureSelector().fit(rng.normal(size=(8, 2)), must_link=[[0, 1]], groups=[0, 0, 1, 1, 2, 2, 3, 3])


def test_a_class_in_one_group_cannot_be_judged(rng):
    X, y, groups = visits(0, patients=10, n=4, labs=3)
    y = np.where(groups == 3, 2, y)
    with pytest.raises(InputError, match="class 2 in only one group"):
        audit_labels(X, y, groups=groups)
    FeatureSelector(n_features_to_select=1).fit(X, y, groups=groups)  # the search trusts its label
    with pytest.raises(InputError, match="lnt"):
        audit_labels(X, y, groups=groups, engine="lnt")


def test_the_arrays_given_stay_as_they_are(rng):
    X, y, groups = visits(0, patients=12, n=3, labs=3)
    kept = [array.copy() for array in (X, y, groups)]
    for array in (X, y, groups):
        array.setflags(write=False)
    FeatureSelector(n_features_to_select=1).fit(np.asfortranarray(X.astype(np.float32)), y, groups=groups)
    FeatureSelector(n_features_to_select=1).fit(X, y, groups=groups)
    for array, before in zip((X, y, groups), kept, strict=True):
        assert_array_equal(array, before)


# --- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def visits_file(tmp_path_factory):
    X, y, groups = visits(0, 2.0, labs=5)
    table = pd.DataFrame(X.round(4), columns=[f"lab{j}" for j in range(5)])
    table.insert(0, "patient", [f"p{g:03d}" for g in groups])
    table["weight"] = np.random.default_rng(0).exponential(size=len(table)).round(3)
    table["ill"] = np.where(y, "yes", "no")
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    table.to_csv(path, index=False)
    return path, table


def test_the_command_takes_groups_and_weights(visits_file, capfd, tmp_path):
    path, table = visits_file
    saved = tmp_path / "small.csv"
    words = ["rank", path, "-t", "ill", "--groups", "patient", "--weights", "weight", "--json", "--save-table", saved]
    assert run([str(word) for word in words]) == 0
    found = json.loads(capfd.readouterr().out)
    assert sorted(found["kept"]) == ["lab0", "lab1", "lab2"]
    features = [f"lab{j}" for j in range(5)]
    assert sorted(row["feature"] for row in found["features"]) == features
    assert "40 groups of rows; each counts once" in found["explanation"]
    selector = FeatureSelector(target="classes").fit(
        table[features], table["ill"], groups=table["patient"], sample_weight=table["weight"]
    )
    ranks = {row["feature"]: row["rank"] for row in found["features"]}
    assert [ranks[name] for name in features] == selector.ranking_.tolist()
    qvalues = {row["feature"]: row["qvalue"] for row in found["features"]}
    assert_allclose([qvalues[name] for name in features], selector.qvalues_, rtol=1e-6)
    assert {"patient", "weight", "ill"} <= set(pd.read_csv(saved).columns)


def test_the_audit_command_takes_groups_and_weights(visits_file, capfd):
    path, table = visits_file
    assert run(["audit", str(path), "-t", "ill", "--groups", "patient", "--weights", "weight", "--json", "--all"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    features = [f"lab{j}" for j in range(5)]
    audit = audit_labels(table[features], table["ill"], groups=table["patient"], sample_weight=table["weight"])
    known = audit.labelled
    assert_allclose(
        [row["disagreement"] for row, here in zip(rows, known, strict=True) if here],
        audit.disagreement[known],
        rtol=1e-6,
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--groups", "pat"], "--groups names 'pat', but the table has no such column"),
        (["--groups", "ill"], "--groups names 'ill', which is the target"),
        (["--weights", "patient"], "--weights: column 'patient' holds 'p000' in line 2 of the file"),
        (["--weights", "lab0"], "--weights: column 'lab0' holds '-"),
        (["--weights", "weight", "-m", "relieff"], "--weights cannot be used by 'relieff'"),
        (["--groups", "patient", "--stream"], "--groups cannot be used with --stream"),
    ],
)
def test_the_command_refuses_in_its_own_words(visits_file, capfd, words, message):
    assert run(["rank", str(visits_file[0]), "-t", "ill", *words]) == 2
    assert message in capfd.readouterr().err


def test_empty_groups_are_refused_with_their_row(tmp_path, capfd):
    path = tmp_path / "gaps.csv"
    path.write_text("patient,a,y\np1,1,x\np1,2,z\n,3,x\np2,4,z\n")
    assert run(["rank", str(path), "-t", "y", "--groups", "patient"]) == 2
    assert "'patient' is empty in 1 row, first in line 4 of the file" in capfd.readouterr().err
