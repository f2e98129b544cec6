"""Classes with an order: their scores, what reads them, the audit of near misses, the command."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dubio
from dubio.errors import InputError, NoFeatureStandsOut
from dubio.evidence.evidence import Evidence
from dubio.evidence.relations import linear_r2, smooth_r2
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem
from dubio.simulate import flip_labels_to_neighbor, unsure_annotator
from dubio.target.numbers import normal_scores
from dubio.target.reader import read_supervision
from dubio_app.command.run import run
from tests import naive


def staged(n=200, seed=0, noise=0.7):
    """A table in which features 0 and 1 make the stage, and stages that are not in alphabetical order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    codes = np.digitize(X[:, 0] - X[:, 1] + noise * rng.normal(size=n), [-1.2, 0.2, 1.5])
    return X, np.asarray(["zero", "few", "many", "all"])[codes], ["zero", "few", "many", "all"]


@given(st.lists(st.integers(0, 3), min_size=4, max_size=30).filter(lambda codes: len(set(codes)) > 2))
def test_scores_of_one_class_each_are_normal_scores_of_mid_ranks(codes):
    codes = np.asarray(codes)
    known = read_supervision(codes, len(codes), target="ordered")
    scores = known.as_tested().values
    np.testing.assert_allclose(scores, normal_scores(codes.astype(float)), rtol=1e-12, atol=1e-12)
    P = np.eye(4)[codes]
    np.testing.assert_allclose(scores, naive.ordered_scores(P), rtol=1e-9, atol=1e-12)


def test_scores_of_probabilities_equal_the_literal_ones():
    P = unsure_annotator(np.arange(20) % 4, mean=0.3, random_state=1).memberships.memberships
    known = read_supervision(P, 20, target="ordered")
    assert known.kind == "ordered soft"
    np.testing.assert_allclose(known.as_tested().values, naive.ordered_scores(P), rtol=1e-9)
    some = P.copy()
    some[3:6] = np.nan
    partly = read_supervision(some, 20, target="ordered").as_tested()
    assert np.isnan(partly.values[3:6]).all() and partly.n_labelled == 17
    rest = np.delete(np.arange(20), [3, 4, 5])
    np.testing.assert_allclose(partly.values[rest], naive.ordered_scores(P[rest]), rtol=1e-9)


def test_probabilities_of_zero_and_one_are_ordered_classes():
    codes = np.arange(12) % 3
    hard = read_supervision(np.eye(3)[codes], 12, target="ordered").certain()
    assert hard.kind == "ordered"
    np.testing.assert_array_equal(hard.codes, codes)


@pytest.mark.filterwarnings("ignore::dubio.errors.NoFeatureStandsOut")
def test_two_ordered_classes_are_two_classes():
    y = ["low", "high", "low", None]
    read = read_supervision(dubio.ordered_classes(y, ["low", "mid", "high"]), 4)
    assert read.kind == "hard" and read.classes.tolist() == ["low", "high"]
    X, codes = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    one = dubio.FeatureSelector(target="ordered").fit(X, codes)
    other = dubio.FeatureSelector().fit(X, codes)
    np.testing.assert_array_equal(one.pvalues_, other.pvalues_)
    np.testing.assert_array_equal(one.ranking_, other.ranking_)


def test_the_order_comes_from_the_person_the_categories_or_the_numbers():
    y = ["b", "c", "a", None, "b"]
    for given_y, target in (
        (dubio.ordered_classes(y, ["b", "a", "c"]), "auto"),
        (pd.Series(pd.Categorical(y, ["b", "a", "c"], ordered=True)), "auto"),
        (pd.Categorical(y, ["b", "a", "c"], ordered=True), "ordered"),
    ):
        read = read_supervision(given_y, 5, target=target)
        assert (read.kind, read.classes.tolist(), read.codes.tolist()) == ("ordered", ["b", "a", "c"], [0, 2, 1, -1, 0])
    assert read_supervision([3, 10, 2], 3, target="ordered").classes.tolist() == [2, 3, 10]
    assert read_supervision(pd.Series(pd.Categorical(y, ["b", "a", "c"])), 5).kind == "hard"
    assert (
        read_supervision(pd.Series(pd.Categorical(y, ["b", "a", "c"], ordered=True)), 5, target="classes").kind
        == "hard"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dubio.ordered_classes(["a", "b", "x"], ["a", "b"]), "order misses 1 class of y: 'x'"),
        (lambda: dubio.ordered_classes(["a"], ["a", "a"]), "order names 'a' twice"),
        (lambda: read_supervision(["a", "b", "c"], 3, target="ordered"), "the order of its classes is not known"),
        (lambda: read_supervision(dubio.ordered_classes(["a"], ["a"]), 2), "y has 1 rows and X has 2"),
        (
            lambda: read_supervision(dubio.ordered_classes(["a"], ["a"]), 1, target="numbers"),
            "where numbers are needed",
        ),
        (lambda: dubio.FisherScore().fit_problem(read_problem(np.eye(6), [0, 1, 2] * 2, target="ordered")), "ordered"),
        (lambda: flip_labels_to_neighbor(["a", "b"], 0.5, order=["a"]), "order misses the class 'b'"),
    ],
)
def test_what_cannot_be_is_said(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_methods_that_know_no_order_still_take_ordered_categoricals():
    X, y, order = staged(90)
    categories = pd.Series(pd.Categorical(y, order, ordered=True))
    for method in ("fisher", "linear_search", "soft_relief", "mean_rank"):
        there = dubio.FeatureSelector(method, n_features_to_select=2).fit(X, categories)
        np.testing.assert_array_equal(
            there.ranking_, dubio.FeatureSelector(method, n_features_to_select=2).fit(X, y).ranking_
        )
    np.testing.assert_array_equal(
        dubio.LinearSearch().fit(X, categories).ranking_, dubio.LinearSearch().fit(X, y).ranking_
    )


def test_the_scores_are_what_is_tested_and_searched():
    X, y, order = staged()
    given_y = dubio.ordered_classes(y, order)
    problem = read_problem(X, given_y, target="auto")
    numbers = read_problem(X, problem.supervision.as_tested().values, target="numbers")
    one, other = Evidence.of(problem), Evidence.of(numbers)
    np.testing.assert_array_equal(linear_r2(one)[0], linear_r2(other)[0])
    np.testing.assert_array_equal(smooth_r2(one), smooth_r2(other))
    one = dubio.NeighborSearch(n_features_to_select=2).fit(X, given_y)
    other = dubio.NeighborSearch(n_features_to_select=2, target="numbers").fit(X, numbers.supervision.values)
    np.testing.assert_array_equal(one.ranking_, other.ranking_)
    assert set(one.get_support(indices=True)) == {0, 1}


def test_the_order_adds_power():
    """Eight ordered classes and few rows: the tests that know the order find weak relations that others miss."""
    found = {"classes": 0, "ordered": 0}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 8))
        y = np.clip(np.round(2 * (X[:, 0] + 2.2 * rng.normal(size=100)) / 2.4 + 3.5), 0, 7).astype(int)
        for target in found:
            problem = read_problem(X, y, target=target)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NoFeatureStandsOut)
                found[target] += bool(relevance_of(problem, random_state=seed).relevant[0])
    assert found["ordered"] >= found["classes"] + 3


def test_missing_stages_and_rows_in_another_order():
    X, y, order = staged(150)
    some = y.astype(object)
    some[::3] = None
    there = dubio.FeatureSelector().fit(X, dubio.ordered_classes(some, order))
    assert there.n_unlabelled_ == 50 and {0, 1} <= set(there.get_support(indices=True))
    shuffled = np.random.default_rng(1).permutation(150)
    back = dubio.FeatureSelector().fit(X[shuffled], dubio.ordered_classes(some, order)[shuffled])
    np.testing.assert_array_equal(there.ranking_, back.ranking_)
    np.testing.assert_allclose(there.pvalues_, back.pvalues_)


def test_the_search_does_not_call_the_audit_of_ordered_classes_stricter():
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=120))
    y = np.repeat(np.arange(4), 30)
    y[[0, 1, 118, 119]] = [3, 3, 0, 0]
    X = np.column_stack([x, rng.normal(size=(120, 2))])
    said = {kind: dubio.FeatureSelector(target=kind).fit(X, y).explanation_ for kind in ("ordered", "numbers")}
    assert all("left out of the search" in text for text in said.values())
    assert "audit is stricter" in said["numbers"] and "audit is stricter" not in said["ordered"]


def test_near_misses_are_less_suspicious_than_far_ones():
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(4), 50)
    X = rng.normal(size=(200, 3)) * 0.35 + codes[:, None]
    wrong = codes.copy()
    near, far = np.arange(0, 4), np.arange(4, 8)  # rows of the lowest stage
    wrong[near], wrong[far] = 1, 3
    audit = dubio.audit_labels(X, dubio.ordered_classes(wrong, range(4)))
    assert isinstance(audit, dubio.doubt.audit_record.OrderedAudit)
    assert audit.rank[far].max() < audit.rank[near].min()
    assert (audit.suggested[far] == 0).all() and audit.doubtful[far].all() and audit.doubtful[near].mean() >= 0.75
    expected = [
        sum(p * abs(t - g) for t, p in enumerate(row)) for row, g in zip(audit.probabilities, wrong, strict=True)
    ]
    np.testing.assert_allclose(audit.steps, expected)
    assert list(audit.to_frame().columns[:6]) == ["given", "suggested", "disagreement", "steps", "doubtful", "rank"]
    plain = dubio.audit_labels(X, wrong)
    np.testing.assert_allclose(plain.probabilities, audit.probabilities)  # only what is made of them differs


def test_the_command(tmp_path, capsys):
    X, y, _ = staged(120)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(stage=y)
    path = tmp_path / "stages.csv"
    table.to_csv(path, index=False)
    report = tmp_path / "page.html"
    words = ["rank", str(path), "-t", "stage", "--order", "zero,few,many,all", "--json", "--report", str(report)]
    assert run([*words, "--stability", "0"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["labels"] == "120 rows with one of 4 ordered classes (zero < few < many < all)"
    assert {"a", "b"} <= set(said["kept"])
    page = report.read_text()
    assert "zero &lt; few &lt; many &lt; all" in page and "ordered_classes(y, order=" in page
    assert run(["audit", str(path), "-t", "stage", "--order", "zero,few,many,all", "--csv"]) == 0
    assert capsys.readouterr().out.startswith("row,given,suggested,disagreement,steps,doubtful,rank")
    for wrong, message in (
        (["--order", "zero,few"], "--order misses 2 classes of y"),
        (["--target-kind", "ordered"], "the order of its classes is not known: add --order"),
        (["--order", "zero,few,many,all", "--regression"], "contradict each other"),
    ):
        assert run(["rank", str(path), "-t", "stage", *wrong]) == 2
        assert message in capsys.readouterr().err


def test_near_misses_are_simulated():
    y = np.repeat([0, 1, 2, 3], 25)
    wrong = flip_labels_to_neighbor(y, 0.2, random_state=0)
    assert (wrong != y).sum() == 20 and (np.abs(wrong - y) <= 1).all()
    np.testing.assert_array_equal(wrong, flip_labels_to_neighbor(y, 0.2, random_state=0))
