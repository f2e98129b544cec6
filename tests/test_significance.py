"""p-values that are what they say, false discoveries, and how many features are kept."""

from __future__ import annotations

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

import dubio
from dubio.errors import NoFeatureStandsOut
from dubio.evidence.evidence import Evidence
from dubio.evidence.permutation import (
    RatioForms,
    checked_pvalue,
    feature_moments,
    graph_null,
    permutation_moments,
    permutation_pvalues,
)
from dubio.evidence.relations import (
    SmoothNull,
    _with_limits,
    cauchy_combination,
    linear_pvalues,
    orthonormal_basis,
    relation_pvalues,
    smooth_r2,
)
from dubio.evidence.relevance import decide, joint_pvalues, relevance_of, smallest_sufficient_size
from dubio.neighbors.graphs import TargetNeighbors
from dubio.problem import read_problem
from dubio.scores.laplacian import _graph
from dubio.simulate import unsure_annotator
from dubio.table.rows import centred_within
from tests import naive

pvalues = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(pvalues)
def test_q_values_are_monotone_and_reject_as_the_step_up_rule(p):
    p = np.array(p)
    q = stats.false_discovery_control(p)
    assert (q >= p - 1e-15).all() and (q <= 1).all()
    order = np.argsort(p)
    assert (np.diff(q[order]) >= 0).all()
    for alpha in (0.01, 0.05, 0.3):
        # a value on the very edge may go either way by rounding
        if not np.isclose(q, alpha, rtol=1e-9).any():
            assert set(np.flatnonzero(q <= alpha).tolist()) == naive.benjamini_hochberg_rejections(p, alpha)


@given(pvalues, pvalues)
def test_cauchy_combination_lies_between_and_is_symmetric(p, q):
    size = min(len(p), len(q))
    p, q = np.array(p[:size]), np.array(q[:size])
    both = cauchy_combination(p, q)
    np.testing.assert_array_equal(both, cauchy_combination(q, p))
    low, high = np.minimum(p, q), np.minimum(np.maximum(p, q), 0.99)
    assert (both >= np.minimum(low, 0.99) * (1 - 1e-9)).all() and (both <= np.maximum(high, 1e-300) * (1 + 1e-9)).all()


def test_cauchy_combination_is_the_printed_rule_and_nobody_has_a_veto():
    p = np.array([[0.02, 0.3, 0.8], [0.5, 0.04, 0.6]])
    printed = 0.5 - np.arctan(np.tan((0.5 - p) * np.pi).mean(axis=0)) / np.pi
    np.testing.assert_allclose(cauchy_combination(*p), printed, rtol=1e-12)
    weighted = 0.5 - np.arctan(np.average(np.tan((0.5 - p) * np.pi), axis=0, weights=[1, 3])) / np.pi
    np.testing.assert_allclose(cauchy_combination(*p, weights=[1, 3]), weighted, rtol=1e-12)
    assert cauchy_combination([1e-6], [1.0])[0] < 1e-5
    assert cauchy_combination([0.0], [0.5])[0] < 1e-200


@pytest.mark.parametrize("bad", [[1.2], [-0.1], [np.nan], [], 0.1])
def test_bad_p_values(bad):
    with pytest.raises(ValueError, match=r"outside|shape"):
        cauchy_combination(bad)


def test_permutation_moments_are_exact():
    """Against all 720 permutations."""
    rng = np.random.default_rng(0)
    n = 6
    A = rng.normal(size=(n, n))
    centre = np.eye(n) - 1 / n
    M = centre @ (A + A.T) @ centre
    f = rng.exponential(size=n)
    values = [f[list(p)] @ M @ f[list(p)] for p in itertools.permutations(range(n))]
    c = f - f.mean()
    mean, variance = permutation_moments(
        np.array([(c**2).mean()]), np.array([(c**4).mean()]), n, np.trace(M), (np.diag(M) ** 2).sum(), (M**2).sum()
    )
    np.testing.assert_allclose([mean[0], variance[0]], [np.mean(values), np.var(values)], rtol=1e-9)


def test_ratio_forms_know_their_matrices():
    """Traces and products of A and B, against the dense matrices."""
    rng = np.random.default_rng(0)
    S = sparse.csr_array(np.triu(rng.uniform(size=(8, 8)) * (rng.uniform(size=(8, 8)) < 0.5), 1))
    S = sparse.csr_array(S + S.T)
    d = S.toarray().sum(axis=1)
    A = np.diag(d) - S.toarray()
    B = np.diag(d) - np.outer(d, d) / d.sum()
    P = rng.dirichlet([1, 2, 3], size=8)
    sim = P @ P.T
    C = np.diag(sim.sum(axis=1)) - sim
    complete = 8 * np.eye(8) - 1
    for forms, (a, b) in ((RatioForms.of_laplacian(S), (A, B)), (RatioForms.of_memberships(P), (C, complete))):
        np.testing.assert_allclose(forms.traces, [np.trace(a), np.trace(b)])
        x, y = np.diag(a), np.diag(b)
        np.testing.assert_allclose(forms.diagonals, [x @ x, x @ y, y @ y])
        np.testing.assert_allclose(forms.entries, [(a * a).sum(), (a * b).sum(), (b * b).sum()])


def test_column_moments_in_units_of_the_largest_deviation():
    X = np.random.default_rng(0).exponential(size=(30, 3)) * [1, 1e-9, 1e9] + [0, 1, 1e12]
    second, fourth, _ = feature_moments(X, None)
    f = X - X.mean(axis=0)
    f /= np.abs(f).max(axis=0)
    np.testing.assert_allclose(second, (f**2).mean(axis=0), rtol=1e-3)
    np.testing.assert_allclose(fourth, (f**4).mean(axis=0), rtol=1e-3)


def _null_pvalues(kind, test, n_tables=60, n=80, d=4):
    found = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(n, d - 1)), rng.integers(0, 3, size=n)])
        if kind == "numbers":
            y = rng.exponential(size=n)
        else:
            y = rng.permutation(np.arange(n) % 3)
            if kind == "soft":
                y = unsure_annotator(y, 0.3, random_state=seed).memberships
        found.append(test(read_problem(X, y, target="numbers" if kind == "numbers" else "classes"), seed))
    return np.concatenate(found)


@pytest.mark.parametrize("kind", ["hard", "soft", "numbers"])
@pytest.mark.parametrize(
    "test",
    [
        lambda problem, seed: linear_pvalues(Evidence.of(problem)),
        lambda problem, seed: linear_pvalues(Evidence.of(problem).on_normal_scores()),
        lambda problem, seed: SmoothNull(Evidence.of(problem), random_state=seed).pvalues(),
    ],
    ids=["linear", "scores", "smooth"],
)
def test_p_values_are_uniform_without_a_relation(kind, test):
    assert stats.kstest(_null_pvalues(kind, test), "uniform").pvalue > 0.01


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["hard", "soft", "numbers"])
def test_combined_p_values_are_honest_in_the_tail(kind):
    p = _null_pvalues(
        kind, lambda problem, seed: relation_pvalues(Evidence.of(problem), random_state=seed).pvalues, n_tables=40
    )
    # 160 p-values: binomial bounds at three standard errors around the level
    for level in (0.05, 0.2):
        assert (p <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / len(p))


def test_normal_scores_equal_the_literal_ones():
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=30), rng.poisson(1.0, 30), np.exp(5 * rng.normal(size=30)), 1e9 + rng.random(30)]
    columns += [np.full(30, 3.0), rng.integers(0, 2, 30)]
    X = np.column_stack(columns).astype(np.float64)
    X.setflags(write=False)
    y = np.arange(30) % 2
    found = Evidence.of(read_problem(X, y)).on_normal_scores().columns
    np.testing.assert_allclose(found, np.column_stack([naive.normal_scores(column) for column in X.T]), rtol=1e-6)
    flags = X[:, 5] - X[:, 5].mean()
    np.testing.assert_allclose(found[:, 5] - found[:, 5].mean(), flags, atol=1e-12)  # two values stay as they are
    rounded = Evidence.of(read_problem(X[:, :3].astype(np.float32), y)).on_normal_scores().columns
    np.testing.assert_allclose(rounded, found[:, :3], rtol=1e-3)


def test_normal_scores_within_groups_leave_categories_alone():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": np.exp(rng.normal(size=60)), "b": rng.choice(list("xyz"), 60)})
    problem = read_problem(table, np.arange(60) % 2, groups=np.arange(60) // 6, any_type=True)
    evidence = Evidence.of(problem)
    scores = evidence.on_normal_scores()
    np.testing.assert_allclose(centred_within(scores.columns, problem.groups), scores.columns, atol=1e-12)
    np.testing.assert_allclose(scores.columns[:, 1:], centred_within(evidence.columns, problem.groups)[:, 1:])


@pytest.mark.parametrize("skew", [lambda X: 2.0 ** (3 * X), lambda X: X + 30 * (np.abs(X - 1.3) < 0.1)])
def test_skew_and_outliers_hide_no_feature(skew):
    """With the linear test of the columns alone, most of them are lost."""
    rng = np.random.default_rng(0)
    y = np.arange(150) % 2
    X = rng.normal(size=(150, 60))
    X[:, :15] += 0.6 * y[:, None]
    plain, skewed = (relation_pvalues(Evidence.of(read_problem(table, y))) for table in (X, skew(X)))
    kept = [(stats.false_discovery_control(found.pvalues) <= 0.05).sum() for found in (plain, skewed)]
    assert kept[1] >= 0.8 * kept[0] >= 8
    alone = stats.false_discovery_control(cauchy_combination(skewed.parts["linear"], skewed.parts["smooth"]))
    assert (alone <= 0.05).sum() <= 0.5 * kept[0]


def test_a_wide_search_begins_with_ranks():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 60))
    X[:, 7] += 1.2 * y
    search = dubio.NeighborSearch(n_features_to_select=1, max_features=3, clean=None).fit(np.exp(4 * X), y)
    assert 7 in search.searched_features_


def test_heavy_tails_and_a_tiny_class_do_not_fool_the_linear_test():
    """The plain F-test rejects a third of such features at 1 %."""
    p, plain = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X = rng.standard_cauchy(size=(100, 1)) ** 3
        y = np.zeros(100, dtype=int)
        y[:2] = 1
        y = rng.permutation(y)
        p.append(linear_pvalues(Evidence.of(read_problem(X, y)))[0])
        groups = [X[y == k, 0] for k in (0, 1)]
        plain.append(stats.f_oneway(*groups).pvalue)
    assert np.mean(np.array(p) <= 0.01) <= 0.03
    assert np.mean(np.array(plain) <= 0.01) <= np.mean(np.array(plain) <= 0.05)


def test_permutation_p_values_of_a_graph_score_are_uniform():
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        null = graph_null(TargetNeighbors(rng.normal(size=60)).graph(), rng.exponential(size=(60, 5)))
        found.append(permutation_pvalues(null, n_permutations=200, random_state=seed))
    found = np.concatenate(found)
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_screening_agrees_with_permutations():
    rng = np.random.default_rng(0)
    null = graph_null(TargetNeighbors(rng.normal(size=100)).graph(), rng.normal(size=(100, 40)))
    quick = null.screen()
    null.screen = lambda: None
    full = permutation_pvalues(null, n_permutations=400)
    middle = (full > 0.1) & (full < 0.9)
    assert np.abs(quick - full)[middle].max() < 0.15


def test_wide_tables_get_more_permutations():
    """One strong feature among many cannot pass Benjamini-Hochberg with a thousand permutations."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 120))
    X[:, 7] += 6 * y
    fitted = dubio.WeightedLaplacianScore(n_features_to_select="auto").fit(X, y)
    assert fitted.pvalues_[7] < 1 / 3000
    assert fitted.support_[7]


def test_leave_one_out_graphs_are_the_literal_ones():
    from dubio.kernels.edges import leave_one_out_neighbors
    from dubio.neighbors.graphs import heat
    from dubio.neighbors.quadratic import laplacian_ratio

    X = np.random.default_rng(0).normal(size=(40, 4))
    X[3] = X[4]
    neighbors, squared = np.empty((4, 40, 5), dtype=np.int64), np.empty((4, 40, 5))
    leave_one_out_neighbors(X, np.arange(4), np.arange(1, 5), 0, 0, 40, neighbors, squared)
    for r in range(4):
        graph = _graph(neighbors[r], squared[r], "or")
        graph.data = heat(graph.data, 1.0)
        np.testing.assert_allclose(
            laplacian_ratio(graph, X[:, [r]])[0], naive.leave_one_out_laplacian_score(X, r), rtol=1e-9
        )
    wide = np.empty((1, 40, 5), dtype=np.int64)  # a feature of two columns leaves the other two
    leave_one_out_neighbors(X, np.array([0, 2]), np.array([2, 4]), 0, 0, 40, wide, np.empty((1, 40, 5)))
    gaps = ((X[:, None, 2:] - X[None, :, 2:]) ** 2).sum(axis=2)
    np.fill_diagonal(gaps, np.inf)
    np.testing.assert_array_equal(np.sort(wide[0]), np.sort(np.argsort(gaps, axis=1, kind="stable")[:, :5]))


def test_a_graph_of_its_own_is_never_used_unsupervised():
    """Independent features: hardly any may look related to the others (on their own graph nearly all do)."""
    tables = [np.random.default_rng(s).normal(size=(80, 6)) for s in range(25)]
    scores = [dubio.LaplacianScore(standardize=False, random_state=s) for s in range(25)]
    found = np.concatenate([score._leave_one_out_pvalues(X, None) for score, X in zip(scores, tables, strict=True)])
    assert (found <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(found))
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(80, 1))
    X = np.hstack([shared + 0.3 * rng.normal(size=(80, 3)), rng.normal(size=(80, 2))])
    fitted = dubio.LaplacianScore(n_features_to_select="auto").fit(X)
    np.testing.assert_array_equal(fitted.support_, [True, True, True, False, False])


def test_shuffling_keeps_what_is_known_together():
    y = np.array([0, 0, 1, 1, -1, -1, -1, -1])
    problem = read_problem(np.zeros((8, 1)), y, must_link=[(0, 4)], cannot_link=[(2, 5)], sample_weight=np.arange(8.0))
    shuffled = problem.shuffled(np.random.default_rng(3))
    s, moved, weights = problem.supervision, shuffled.supervision, shuffled.sample_weight
    assert sorted(moved.codes.tolist()) == sorted(s.codes.tolist())
    for a, b in ((s, moved),):
        for pair, other in zip(a.pairs.must_link, b.pairs.must_link, strict=True):
            assert [a.codes[i] for i in pair] == [b.codes[i] for i in other]
    np.testing.assert_array_equal(weights[moved.labelled].sum(), np.arange(8.0)[s.labelled].sum())
    assert set(np.flatnonzero(moved.labelled)) <= {0, 1, 2, 3, 4, 5}  # rows of which something is known


RANKERS = [
    dubio.LaplacianScore(),
    dubio.SupervisedLaplacianScore(),
    dubio.SemiSupervisedLaplacianScore(n_neighbors=5),
    dubio.WeightedLaplacianScore(),
    dubio.FisherScore(),
    dubio.SmoothR2Score(),
    dubio.LinearR2Score(),
    dubio.SoftReliefScore(),
    dubio.ReliefFScore(),
    dubio.MeanRankScore(),
    dubio.ConstraintScore(),
    dubio.MutualInformationRanking(label_noise=False, random_state=0),
    dubio.FeatureSelector(),
]


@pytest.mark.parametrize("selector", RANKERS, ids=lambda s: type(s).__name__)
def test_auto_finds_what_is_there_and_says_when_nothing_is(selector):
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=80)
    X = rng.normal(size=(80, 8))
    X[:, :2] = hidden[:, None] + 0.3 * X[:, :2]
    y = hidden if getattr(selector, "target", selector._target) == "numbers" else (hidden > 0).astype(int)
    if "random_state" in selector.get_params():  # unseeded permutations would make this a gamble
        selector.set_params(random_state=0)
    selector.set_params(n_features_to_select="auto").fit(X, y)
    assert selector.support_[:2].all()
    assert selector.support_.sum() <= 4
    assert "stand out" in selector.explanation_
    np.testing.assert_array_equal(selector.support_, selector.qvalues_ <= 0.05)
    table = selector.to_ranking().to_frame()
    assert {"pvalue", "qvalue"} <= set(table.columns)
    with pytest.warns(NoFeatureStandsOut, match="X has no feature that stands out"):
        selector.fit(rng.normal(size=(80, 8)), rng.permutation(y))
    assert selector.n_features_ == 1 and selector.ranking_[selector.support_] == [1]
    assert "no feature stands out" in selector.explanation_.lower()


def test_smooth_p_values_share_one_null():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 30))
    evidence = Evidence.of(read_problem(X, rng.normal(size=50), target="numbers"))
    p, scores = SmoothNull(evidence).pvalues(), smooth_r2(evidence)
    assert (np.diff(p[np.argsort(-scores)]) >= 0).all()  # the order of the scores is that of the p-values


def test_weights_travel_with_their_labels():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3))
    X[:, 0] += 2 * y
    fitted = dubio.FisherScore(n_features_to_select="auto").fit(X, y, sample_weight=rng.uniform(0.5, 2, size=60))
    assert fitted.support_[0]


def test_relevant_features_come_first():
    best_first = np.array([2, 0, 1])
    found = decide(np.array([0.01, 0.02, 0.9]), np.array([0.02, 0.04, 0.9]), 0.05)
    assert found.relevant.tolist() == [True, True, False] and "2 features stand out" in found.reason
    assert found.relevant_first(best_first).tolist() == [0, 1, 2]
    with pytest.warns(NoFeatureStandsOut):
        found = decide(np.array([0.3, 0.2, 0.9]), np.array([0.6, 0.6, 0.9]), 0.05)
    assert not found.relevant.any()
    assert found.relevant_first(best_first).tolist() == [1, 0, 2]  # without evidence, the p-values decide
    found = decide(np.array([0.01, 0.9, 0.9, 0.4]), np.array([0.02, 0.9, 0.9, 0.6]), 0.05)
    assert found.relevant_first(np.array([3, 2, 1, 0])).tolist() == [0, 3, 2, 1]  # equal ones in the given order


def test_features_that_matter_together_have_small_p_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    problem = read_problem(X, ((X[:, 0] * X[:, 1]) > 0) + 0)
    found = joint_pvalues(problem).pvalues
    assert found[:2].max() < 1e-3 < found[2]
    few = joint_pvalues(problem.rows(np.arange(110)))
    assert few.pvalues.tolist() == [1.0, 1.0, 1.0]  # too few rows to search on half of them


def test_chance_in_permutations_is_bounded():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = np.arange(80) % 2
    X[:, 0] += 0.55 * y
    evidence = Evidence.of(read_problem(X, y))
    runs = [relation_pvalues(evidence, random_state=seed).bounds for seed in range(6)]
    for pvalues, low, high in runs:
        assert (low <= pvalues).all() and (pvalues <= high).all()
    for _, low, _ in runs:
        for _, _, high in runs:
            assert (low <= high + 1e-12).all()


def test_limits_of_p_values_are_numbers():
    _, low, high = _with_limits(np.array([0.0, 1e-5, 0.001, 0.5, 1.0]), 999)
    assert (low <= high).all() and low[0] == 0.0 and high[-1] == 1.0
    assert (low[:4] <= [0.0, 1e-3, 0.001, 0.5]).all() and (high[1:] >= [1e-5, 0.001, 0.5, 1.0]).all()


def test_a_tiny_alpha_takes_no_minutes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 3)), [0, 0, 0, 1, 1, 1]
    with pytest.warns(NoFeatureStandsOut):
        dubio.FeatureSelector(alpha=1e-9).fit(X, y)


def test_smallest_sufficient_size():
    rng = np.random.default_rng(0)
    noise = {size: rng.normal(scale=0.1, size=200) for size in (1, 2, 3, 4)}
    rows = {1: noise[1] + 0.2, 2: noise[2] + 1, 3: noise[3] + 1, 4: noise[4] + 1.001}
    subsets = {size: np.arange(size) for size in rows}
    values = {size: float(v.sum()) for size, v in rows.items()}
    values[4] = max(values.values()) + 1
    size, reason = smallest_sufficient_size(subsets, values, lambda s: rows[len(s)], larger_is_better=True)
    assert size == 2 and "not significantly worse" in reason
    losses = {s: -v for s, v in rows.items()}
    flipped = {s: -v for s, v in values.items()}
    assert smallest_sufficient_size(subsets, flipped, lambda s: losses[len(s)], larger_is_better=False)[0] == 2
    with pytest.warns(NoFeatureStandsOut, match="no better than"):
        worse = smallest_sufficient_size(
            subsets, flipped, lambda s: losses[len(s)], larger_is_better=False, value_of_nothing=-1e9
        )
    assert worse[0] == 1
    with pytest.raises(ValueError, match="same sizes"):
        smallest_sufficient_size(subsets, {}, lambda s: rows[1], larger_is_better=True)
    with pytest.raises(ValueError, match="alpha"):
        smallest_sufficient_size(subsets, values, lambda s: rows[1], larger_is_better=True, alpha=2)


@pytest.mark.parametrize(
    "search",
    [dubio.NeighborSearch(clean=None), dubio.MutualInformationSearch(label_noise=False, random_state=0)],
    ids=lambda s: type(s).__name__,
)
def test_searches_keep_a_sufficient_subset(search):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=120)
    X = rng.normal(size=(120, 5))
    X[:, 1] += 3 * y
    fitted = search.set_params(n_features_to_select="auto").fit(X, y)
    assert fitted.support_[1] and fitted.n_features_ == fitted.n_relevant_ <= 2
    assert 1 <= fitted.n_sufficient_ <= fitted.n_relevant_
    assert re.match(r"(1 feature stands|2 features stand) out", fitted.explanation_)
    np.testing.assert_array_equal(fitted.support_, fitted.ranking_ <= fitted.n_features_)


@pytest.mark.parametrize("name", ["neighbor", "information"])
def test_row_values_sum_to_the_criterion(name):
    from dubio.neighbors.distances import SubsetDistances
    from dubio.neighbors.information import InformationCriterion
    from dubio.neighbors.losses import NeighborLoss

    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(50, 4)), np.eye(3)[np.arange(50) % 3]
    distances = SubsetDistances(X)
    if name == "neighbor":
        criterion = NeighborLoss(distances, [P], balanced=True)
    else:
        criterion = InformationCriterion(distances, lambda _: P, n_neighbors=4)
    features = np.array([0, 2])
    value = criterion.start(features)
    values = criterion.unit_values(features) if name == "neighbor" else criterion.row_values(features)
    np.testing.assert_allclose(values.sum(), value, rtol=1e-9)


def test_alpha_is_obeyed_and_checked():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 20)), rng.normal(size=100)
    X[:, 0] += 0.35 * y
    counts = []
    for alpha in (1e-6, 0.2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoFeatureStandsOut)
            fitted = dubio.LinearR2Score(n_features_to_select="auto", alpha=alpha).fit(X, y)
        counts.append((fitted.qvalues_ <= alpha).sum())
    assert counts[0] < counts[1]
    with pytest.raises(ValueError, match="alpha"):
        dubio.LinearR2Score(n_features_to_select="auto", alpha=1.5).fit(X, y)


def test_a_small_pvalue_that_hangs_on_one_row_is_that_of_permutations():
    """Two rows of eight have a category; one of them is the only row of its class. All 40,320 orders are tried."""
    y, cat = np.array([0, 0, 0, 0, 1, 1, 1, 2]), np.array([0, 0, 0, 0, 0, 0, 1, 1.0])
    basis = orthonormal_basis(np.eye(3)[y] - np.eye(3)[y].mean(axis=0))
    block = (cat - cat.mean())[:, None]
    explained = [((basis.T @ block[list(order)]) ** 2).sum() for order in itertools.permutations(range(8))]
    true = np.mean(np.array(explained) >= explained[0] - 1e-9)
    found = checked_pvalue(1e-9, block, basis, None, [0])
    assert abs(found - true) < 5 * np.sqrt(true * (1 - true) / 50)  # it ends at 50 hits
    assert checked_pvalue(0.3, block, basis, None, [0]) == 0.3
    pairs = np.array([0, 0, 1, 1, 2, 2, 3, 3])  # the last two rows can only change places: that gives the same square
    last = centred_within((np.arange(8) == 7.0)[:, None], pairs)
    of_pairs = orthonormal_basis(centred_within(np.eye(3)[y], pairs))
    assert checked_pvalue(1e-9, last, of_pairs, pairs, [0]) == 1.0
    many = np.repeat([0.0, 1.0], 100)[:, None] - 0.5  # every row counts alike: the closed form is right
    assert checked_pvalue(1e-30, many, many / 10 * np.sqrt(2), None, [0]) == 1e-30


def test_rare_categories_and_small_classes_are_no_finding():
    """Without the check of small p-values, something was kept in 10 of 60 tables of noise much like these."""
    found = 0
    for seed in range(25):
        rng = np.random.default_rng([seed, 20])
        X = pd.DataFrame(rng.normal(size=(20, 3)), columns=list("abc"))
        X["rare"] = rng.choice(["u", "v"], 20, p=[0.93, 0.07])
        X["three"] = rng.choice(["x", "y", "z"], 20, p=[0.6, 0.3, 0.1])
        X["gaps"] = np.where(rng.random(20) < 0.08, np.nan, rng.normal(size=20))
        problem = dubio.FeatureSelector().read_problem(X, [f"class {k}" for k in rng.integers(0, 12, 20)]).filled
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoFeatureStandsOut)
            tested = relevance_of(problem)
        assert tested.pvalues.min() > 1e-4
        found += tested.relevant.any()
    assert found <= 3
