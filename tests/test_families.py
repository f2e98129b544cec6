"""Families of features that can stand in for each other, what they add, and how many features chance may give."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import dubio
from dubio.evidence.effects import effects_of, wrong_labels
from dubio.evidence.evidence import Evidence
from dubio.evidence.families import (
    Families,
    _basis_of,
    _folds,
    _Gains,
    _partial_test,
    families_of,
    places_on_a_scale,
    simes,
)
from dubio.evidence.relations import TEST_WEIGHTS, cauchy_combination, linear_tests, shuffled_passes
from dubio.evidence.relevance import Relevance, most_by_chance, relevance_of, sufficient_size
from dubio.findings import how_sure
from dubio.problem import read_problem
from dubio_app.command.run import run
from tests import naive


def families(X, y, relevant=None, pvalues=None, **options):
    problem = dubio.FeatureSelector(**options).read_problem(X, y)
    d = problem.n_features
    relevant = np.ones(d, dtype=bool) if relevant is None else relevant
    pvalues = np.linspace(1e-6, 1e-4, d) if pvalues is None else pvalues
    return families_of(problem, pvalues, relevant, np.ones(d, dtype=bool), 0.05)


@pytest.fixture
def table():
    """Two columns with a stand-in each, of which one lies in a curve, and a column of its own."""
    rng = np.random.default_rng(0)
    n = 300
    y = rng.integers(0, 2, n)
    a, b, c = rng.normal(size=(3, n)) + np.array([1.0, 0.0, 0.8])[:, None] * (y - 0.5)
    b = np.where(y == 1, 2.2, 0.8) * b  # what matters is how far it is from 0
    r = 0.97
    X = np.column_stack([a, b, c, r * a / a.std() + np.sqrt(1 - r * r) * rng.normal(size=n), np.exp(b)])
    return X, y


def test_gains_are_those_of_a_literal_regression(table):
    X, y = table
    problem = read_problem(X, y)
    evidence, folds = Evidence.of(problem).on_normal_scores(), _folds(problem)
    basis = _basis_of(evidence, np.arange(5))
    gains = _Gains(basis, evidence.scores, folds)
    alone = [naive.gains(basis[:, j], evidence.scores, folds) for j in range(5)]
    np.testing.assert_allclose(gains.alone, alone, rtol=1e-9)
    of_one, of_other = gains.given_each_other(np.array([0]), np.array([3]))
    both = naive.gains(basis[:, [0, 3]].reshape(len(X), -1), evidence.scores, folds)
    np.testing.assert_allclose([of_one[0], of_other[0]], [both - alone[3], both - alone[0]], rtol=1e-7)


def test_columns_that_say_the_same_are_one_family(table):
    X, y = table
    found = families(X, y)
    assert found.number.tolist() == [1, 2, 3, 1, 2]
    assert found.repeats(np.arange(5)).tolist() == [False, False, False, True, True]
    assert found.repeats(np.array([3, 4, 0, 1, 2])).tolist() == [False, False, True, True, False]
    with_groups = read_problem(np.repeat(X, 2, axis=0), np.repeat(y, 2), groups=np.repeat(np.arange(300), 2))
    every = np.ones(5, dtype=bool)
    assert families_of(with_groups, np.arange(1, 6) * 1e-6, every, every, 0.05).number.tolist() == [1, 2, 3, 1, 2]


def test_categories_and_their_numbers_are_one_family():
    rng = np.random.default_rng(0)
    size = rng.integers(0, 3, 200)
    y = (size + rng.normal(size=200) > 1).astype(int)
    X = pd.DataFrame({"size": 1.5 * size, "word": np.array(["s", "m", "l"])[size]})
    X["other"] = rng.normal(size=200) + y
    assert families(X, y).number.tolist() == [1, 1, 2]


def test_p_values_of_a_family_are_simes_rule():
    assert simes(np.array([0.01])) == 0.01
    assert simes(np.array([0.04, 0.01, 0.5])) == pytest.approx(min(3 * 0.01, 3 * 0.04 / 2, 0.5))


def test_q_values_count_each_other_column_as_a_family(table):
    X, y = table
    pvalues = np.array([1e-6, 1e-4, 1e-5, 2e-6, 0.4])
    found = families(X, y, relevant=np.arange(5) < 4, pvalues=pvalues)
    of_families = [simes(pvalues[[0, 3]]), 1e-4, 1e-5, 0.4]
    q = [min(p * 4 / (1 + rank) for rank, p in enumerate(sorted(of_families)) if p >= one) for one in of_families]
    np.testing.assert_allclose(found.qvalues, [q[0], q[1], q[2], q[0], 1.0])
    assert found.number[4] == 0 and found.verdicts[4] == ""


def test_what_a_family_adds_is_tested_on_residuals_of_other_rows(table):
    X, y = table
    problem = read_problem(X[:, [0, 2]], y)
    evidence = Evidence.of(problem).on_normal_scores()
    basis = _basis_of(evidence, np.arange(2))
    rest = naive.conditional_test(basis[:, 0, 0], evidence.scores[:, 0], basis[:, 1])
    found = _partial_test(evidence, basis[:, 0, :1], basis[:, 1], 0.05)[0]
    assert rest < 1e-8 and found == pytest.approx(rest, rel=1e-6)


def test_a_twin_adds_nothing_and_a_weak_test_says_so():
    rng = np.random.default_rng(1)
    n = 400
    y = rng.integers(0, 2, n)
    a, c = rng.normal(size=(2, n)) + 1.2 * (y - 0.5)
    twin = 0.8 * a + 0.6 * rng.normal(size=n)
    hidden = a + c + 0.2 * rng.normal(size=n)  # little of it is its own
    found = families(np.column_stack([a, c, twin, hidden]), y)
    assert found.verdicts.tolist()[1] == "adds" or found.weak[1]
    assert found.beyond[2] > 0.05 and found.beyond[3] > 0.05 and found.weak[3]
    plain = families(np.column_stack([a, c, twin]), y)
    assert plain.verdicts.tolist() == ["adds", "adds", "not shown"] and len(set(plain.number)) == 3


def test_chance_is_counted_as_by_literal_permutations(table):
    X, y = table
    evidence = Evidence.of(read_problem(X[:60], y[:60]))
    cut, count = 0.2, 40
    found = shuffled_passes(evidence, cut, count)
    rng, weights = np.random.default_rng([0, 8]), [TEST_WEIGHTS["linear"], TEST_WEIGHTS["scores"]]
    for draw in range(count):
        order = rng.permutation(60)
        tests = linear_tests(Evidence(evidence.columns, evidence.scores[order], evidence.weights), most_permutations=0)
        joined = cauchy_combination(*tests.values(), weights=weights)
        np.testing.assert_array_equal(found[draw], joined <= cut)


def test_a_bound_on_the_false_features_of_this_table():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(80, 1))
    X = factor + 0.01 * rng.normal(size=(80, 60))  # all pass together, or none
    y = rng.integers(0, 2, 80)
    X[:, 0] = rng.normal(size=80) + 2 * y
    problem, relevant = read_problem(X, y), np.arange(60) < 40
    assert most_by_chance(problem, np.where(relevant, 0.1, 0.5), relevant) == 40
    assert most_by_chance(problem, np.where(relevant, 1e-9, 0.5), relevant) == 0


def test_a_list_suffices_if_all_kinds_of_models_do_as_well_with_it():
    noise = np.random.default_rng(0).normal(0, 0.01, size=80)

    def needing(count):
        return lambda features: 1.0 / min(len(features), count) + noise

    assert sufficient_size(np.arange(9), 6, needing(2)).size == 2
    found = sufficient_size(np.arange(9), 6, needing(2), needing(4), needing(3))
    assert found.size == 4 and len(found.losses) == 6
    assert sufficient_size(np.arange(9), 9, needing(2), needing(9)).size == 9


def test_a_region_of_noise_is_not_needed_to_predict():
    """It is related, since it has many columns, but its family does not stand out."""
    copies = sparse.csr_array(np.eye(6, k=1, dtype=bool) | np.eye(6, k=-1, dtype=bool))
    number, few = np.array([1, 1, 2, 2, 3, 0]), np.zeros(6)
    qvalues = np.array([0.001, 0.001, 0.4, 0.4, 0.01, 1.0])
    found = Families(number, sparse.csr_array((6, 6), dtype=bool), qvalues, few, few > 0, 0.05)
    known = Relevance(few, few, number > 0, few > 0, "", families=found)
    assert known.n_needed(np.array([0, 4, 1, 2, 3]), copies_last=False) == 3
    assert known.n_needed(np.array([0, 2, 4, 1, 3]), copies_last=False) == 4
    assert (
        replace(known, families=replace(found, copies=copies)).n_needed(np.array([0, 2, 4, 1, 3]), copies_last=True)
        == 3
    )
    assert replace(known, families=replace(found, qvalues=few + 0.5)).n_needed(np.arange(5), copies_last=False) == 5
    assert replace(known, families=None).n_needed(np.arange(5), copies_last=True) == 5


def test_names_on_a_scale():
    places, unit = places_on_a_scale(np.array(["R400", "R402.5", "R410"]))
    assert places.tolist() == [400, 402.5, 410] and unit == ""
    assert places_on_a_scale(np.array(["a", "b"])) is None
    assert places_on_a_scale(np.array(["1 nm", "1 nm"])) is None
    assert places_on_a_scale(np.array(["x1", "y2"])) is None


@pytest.fixture(scope="module")
def spectra():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    levels = rng.normal(size=(200, 2)) + 1.5 * (y - 0.5)[:, None]
    base = np.cumsum(rng.normal(size=(200, 60)), axis=1)
    base[:, 10:16] = levels[:, [0]] + 0.02 * rng.normal(size=(200, 6))
    base[:, 40:46] = levels[:, [1]] + 0.02 * rng.normal(size=(200, 6))
    names = [f"{1000 + 10 * j} nm" for j in range(60)]
    return pd.DataFrame(base, columns=names), np.where(y == 1, "ill", "well")


def test_a_spectrum_has_regions_and_near_copies_are_not_needed(spectra):
    X, y = spectra
    ranking = dubio.FeatureSelector().fit(X, y).to_ranking()
    assert ranking.n_sufficient == 2 and [len(members) for members in ranking.families[:2]] == [6, 6]
    assert {"1,100 to 1,150 nm", "1,400 to 1,450 nm"} <= set(ranking.extras["region"])
    assert "1,400 to 1,450 nm" in ranking.headline()
    assert len(ranking.losses) < 6
    first = [int(members[0]) for members in ranking.families]
    assert {"adds"} == set(ranking.extras["beyond"][first[:2]])
    texts = " ".join(map(str, how_sure(ranking, 0.05)))
    assert "families" in texts
    for most, words in ((0, "none of the"), (2, f"at most 2 of the {ranking.n_relevant} are")):
        assert words in " ".join(map(str, how_sure(replace(ranking, most_by_chance=most), 0.05)))


@pytest.mark.thorough
def test_every_front_end_has_them(spectra, tmp_path, capsys):
    X, y = spectra
    path = tmp_path / "spectra.csv"
    X.assign(state=y).to_csv(path, index=False)
    page = tmp_path / "report.html"
    assert run(["rank", str(path), "--target", "state", "--json", "--report", str(page)]) == 0
    answer = json.loads(capsys.readouterr().out)
    first = answer["features"][0]
    assert answer["most_by_chance"] <= answer["n_relevant"] and first["family"] >= 1
    assert first["family_head"] == first["feature"] and first["beyond"] == "adds"
    assert '<details class="family">' in page.read_text(encoding="utf-8")


def test_nothing_related_has_no_families():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
    with pytest.warns(dubio.errors.NoFeatureStandsOut):
        found = relevance_of(read_problem(X, y))
    assert found.families is None and found.most_by_chance is None


def test_checked_rows_correct_effects():
    rng = np.random.default_rng(0)
    n = 4000
    truth = rng.integers(0, 2, n)
    x = rng.normal(size=n) + 1.2 * truth
    given = np.where((truth == 1) & (rng.random(n) < 0.4), 0, truth)
    checked = np.where(rng.random(n) < 0.2, truth.astype(object), None)
    problem = read_problem(x[:, None], given, checked=dubio.checked_rows(checked, chance=0.2))
    wrong = wrong_labels(problem)
    assert wrong.wrong_0 == pytest.approx((truth[given == 0] == 1).mean(), abs=0.05) and wrong.wrong_1 < 0.01
    right = effects_of(read_problem(x[:, None], truth)).effect[0]
    found = effects_of(problem)
    corrected = found.corrected(*wrong)
    assert found.effect[0] < right - 0.03 and corrected.low[0] < right < corrected.high[0]
    certain = found.corrected(*wrong[:2])
    assert corrected.high[0] - corrected.low[0] > certain.high[0] - certain.low[0]
    assert wrong_labels(read_problem(x[:, None], given)) is None
    selector = dubio.FeatureSelector().fit(x[:600, None], given[:600],
                                           checked=dubio.checked_rows(checked[:600], chance=0.2))  # fmt: skip
    assert selector.to_ranking().extras["effect_corrected"][0] > selector.to_ranking().extras["effect"][0]
    assert any("corrected effects are those without such errors" in str(one) for one in selector.notes_)


def test_related_features_may_be_the_same_within_all_groups():
    rng = np.random.default_rng(0)
    groups, s = np.repeat(np.arange(60), 3), rng.normal(size=60)
    alike = (s + 0.3 * rng.normal(size=(3, 60)))[:, groups].T
    X = np.column_stack([alike, rng.normal(size=(180, 2))])  # only chance varies within groups
    y = (s[groups] + 0.7 * rng.normal(size=180) > 0).astype(int)
    found = dubio.FeatureSelector().fit(X, y, groups=groups)
    assert found.support_[:3].all()


def test_the_order_of_rows_decides_nothing_with_missing_cells():
    rng = np.random.default_rng(3)
    s = rng.normal(size=120)
    X = pd.DataFrame({f"r{i}": s + 0.8 * rng.normal(size=120) for i in range(6)}).assign(
        site=rng.choice(["a", "b", "c"], 120)
    )
    X, y = X.mask(rng.random(X.shape) < 0.05), (s + 0.4 * rng.normal(size=120) > 0).astype(int)
    order = rng.permutation(120)
    here, there = (
        dubio.select_features(X.iloc[rows].reset_index(drop=True), y[rows]) for rows in (np.arange(120), order)
    )
    for name in ("family", "family_qvalue", "beyond_qvalue"):
        np.testing.assert_allclose(here.extras[name].astype(float), there.extras[name].astype(float), rtol=1e-6)
