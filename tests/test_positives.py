"""Positive and unlabelled rows: how they are read and tested, how many are positive, the command."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import dubio
from dubio.doubt.positives import estimate_positives, positive_interval, positive_share
from dubio.errors import InputError
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem
from dubio.simulate import label_some_positives
from dubio.target.reader import read_supervision
from dubio.words import capital
from dubio_app.command.run import run
from tests import naive


def ill(n=300, seed=0, share=0.3, apart=3.0):
    """A table in which features 0 and 1 tell the ill, some of whom are known to be ill."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) < 2 * n // 5
    X = rng.normal(size=(n, 6))
    X[:, :2] += apart * truth[:, None] / 2
    return X, truth, label_some_positives(truth, True, share, random_state=seed)


def test_reading():
    y = dubio.positive_unlabelled(["ill", None, np.nan, "ill", None])
    read = read_supervision(y, 5)
    assert (read.kind, read.positive, read.n_labelled, read.n_unlabelled) == ("positives", "ill", 2, 3)
    assert read.describe() == "2 rows labelled ill, 3 rows that may be ill or not"
    assert dubio.positive_unlabelled([1, 0, 0, 1], positive=1).is_positive.tolist() == [True, False, False, True]
    assert read_supervision(y[1:4], 3).labelled.tolist() == [False, False, True]
    tested = read.as_tested()
    assert tested.n_labelled == 5 and tested.codes.tolist() == [1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dubio.positive_unlabelled(["a", "b"]), "y holds 2 values .'a', 'b'.*positive="),
        (lambda: dubio.positive_unlabelled([None, None]), "y has no labelled row"),
        (lambda: dubio.positive_unlabelled(["a", None], positive="x"), "positive='x' is not a value of y"),
        (lambda: dubio.positive_unlabelled(["a", None], prior=1.5), "prior=1.5"),
        (
            lambda: dubio.FeatureSelector().fit(np.eye(4), dubio.positive_unlabelled(["a", None, None, None])),
            "y has 1 row of the positive class 'a'",
        ),
        (lambda: dubio.FeatureSelector().fit(np.eye(3), dubio.positive_unlabelled(["a"] * 3)), "not labelled 'a'"),
        (lambda: read_supervision(dubio.positive_unlabelled(["a", None]), 2, target="numbers"), "numbers are needed"),
        (
            lambda: dubio.FisherScore().fit(np.eye(4), dubio.positive_unlabelled(["a", "a", None, None])),
            "only positive rows are labelled, and FisherScore needs classes",
        ),
        (lambda: dubio.FeatureSelector().fit(np.eye(4), ["a", "a", None, None]), "pass positive_unlabelled"),
    ],
)
def test_what_cannot_be_is_said(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_tests_compare_labelled_with_unlabelled_rows():
    X, _, y = ill()
    there = relevance_of(read_problem(X, y, target="auto"))
    plain = relevance_of(read_problem(X, y.is_positive.astype(int)))
    np.testing.assert_array_equal(there.pvalues, plain.pvalues)
    assert set(np.flatnonzero(there.relevant)) == {0, 1}


def test_the_interval_holds_the_share_and_chance_alone_does_not_make_it():
    """Scores of models that separate the positive rows well, or hardly: 95 % is promised, at most 45 points wide."""
    rng = np.random.default_rng(11)
    inside, widths = [], []
    for number in range(60):
        n, share, apart = 400, rng.choice([0.1, 0.2, 0.35, 0.5]), (0.8, 1.6, 3.0)[number % 3]
        truth = np.arange(n) < round(share * n)
        labelled = truth & (rng.random(n) < 0.3)
        _, low, high = positive_interval(rng.normal(size=n) + apart * truth, labelled)
        inside.append(low <= truth[~labelled].mean() <= high)
        widths.append(high - low)
    assert np.mean(inside) >= 0.9 and np.mean(widths) < 0.45


def test_with_a_prior_of_zero_they_are_two_classes():
    X, truth, _ = ill(120)
    one = dubio.FeatureSelector().fit(X, dubio.positive_unlabelled(truth, positive=True, prior=0.0))
    other = dubio.FeatureSelector().fit(X, truth)
    assert one.supervision_.kind == "hard" and one.classes_.tolist() == ["not True", "True"]
    np.testing.assert_array_equal(one.ranking_, other.ranking_)
    np.testing.assert_array_equal(one.pvalues_, other.pvalues_)


@pytest.mark.parametrize("seed", range(4))
def test_the_share_equals_the_literal_one(seed):
    rng = np.random.default_rng(seed)
    labelled = rng.random(80) < 0.3
    scores = np.round(rng.random(80) * 0.5 + 0.3 * labelled, 1 + seed)  # ties
    assert positive_share(scores, labelled) == pytest.approx(naive.positive_share(scores, labelled), rel=1e-12)


def test_the_share_of_positives_is_found():
    errors = []
    for seed in range(3):
        X, truth, y = ill(seed=seed, apart=5.0)
        found = estimate_positives(X, y)
        rest = ~y.is_positive
        errors.append(abs(found.share - truth[rest].mean()))
        assert found.low <= found.share <= found.high
        assert found.posterior[rest].mean() == pytest.approx(found.share, abs=1e-6)
        assert ((found.posterior > 0.5) == truth)[rest].mean() > 0.9
        assert found.frequency == pytest.approx(y.is_positive.sum() / (y.is_positive.sum() + found.share * rest.sum()))
    assert np.mean(errors) < 0.05


def test_a_given_prior_wins():
    X, _, y = ill(150)
    given = dubio.target.PositiveLabels(y.is_positive, y.positive, 0.5)
    found = estimate_positives(X, given)
    assert (found.share, found.low, found.high) == (0.5, 0.5, 0.5)
    assert found.posterior[~y.is_positive].mean() == pytest.approx(0.5, abs=1e-6)


def test_labelled_rows_that_are_no_random_part_give_a_sign():
    signs = {"random": 0, "clear cases": 0}
    for seed in range(3):
        X, truth, y = ill(400, seed=seed, apart=6.0)
        clear = X[:, 0] + X[:, 1] + np.random.default_rng(seed).normal(size=400)
        some = label_some_positives(truth, True, 0.3, by=clear)  # clear cases are labelled more often
        for name, labels in (("random", y), ("clear cases", some)):
            signs[name] += "A sign that this does not hold" in capital(estimate_positives(X, labels).hint or "")
    assert signs["random"] == 0 and signs["clear cases"] > 0


def test_the_front_door():
    X, _, y = ill()
    selector = dubio.FeatureSelector().fit(X, y)
    assert {0, 1} <= set(selector.get_support(indices=True))
    assert "of the unlabelled rows are positive" in selector.explanation_ and "Assumed:" in selector.explanation_
    assert selector.n_labelled_ == y.is_positive.sum() and selector.selector_.positives_.share > 0
    shuffled = np.random.default_rng(1).permutation(len(X))
    back = dubio.FeatureSelector().fit(X[shuffled], y[shuffled])
    np.testing.assert_array_equal(selector.ranking_, back.ranking_)


def test_nothing_stands_out_in_noise():
    silent = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(120, 5)), label_some_positives(rng.random(120) < 0.4, True, 0.3, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            silent += not relevance_of(read_problem(X, y, target="auto"), random_state=seed).relevant.any()
    assert silent >= 9


def test_the_command(tmp_path, capsys):
    X, _, y = ill(150)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(ill=np.where(y.is_positive, "yes", None))
    path, report = tmp_path / "ill.csv", tmp_path / "page.html"
    table.to_csv(path, index=False)
    words = ["rank", str(path), "-t", "ill", "--positive", "yes", "--json", "--report", str(report)]
    assert run([*words, "--stability", "0"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["labels"].endswith("rows that may be yes or not") and {"a", "b"} <= set(said["kept"])
    assert "positive_unlabelled(y, positive=&#39;yes&#39;)" in report.read_text()
    assert run(["rank", str(path), "-t", "ill"]) == 2
    assert "add --positive yes" in capsys.readouterr().err
    for wrong, message in (
        (["--positive", "no"], "--positive 'no' has no row in 'ill'"),
        (["--positive", "yes", "--prior", "2"], "--prior 2"),
        (["--prior", "0.2"], "--prior is the share of positive rows among the others: give --positive too."),
        (["--positive", "yes", "--regression"], "--regression and --positive contradict each other"),
    ):
        assert run(["rank", str(path), "-t", "ill", *wrong]) == 2
        assert message in capsys.readouterr().err
