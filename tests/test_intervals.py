"""Intervals and censored numbers: their scores, values completed inside the limits, the command."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dubio
from dubio.doubt.experts import ExpertOptions
from dubio.doubt.number_experts import completed_values, interval_places, truncated_mean
from dubio.errors import InputError
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem
from dubio.simulate import blur_numbers, censor_numbers
from dubio.target.intervals import gehan_scores, logrank_scores
from dubio.target.numbers import normal_scores
from dubio.target.reader import read_supervision
from dubio_app.command.run import run
from tests import naive

INF = np.inf
#: Limits with many ties: known numbers, intervals, and open ends.
LIMITS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 4), st.sampled_from(["known", "between", "above", "below"])),
    min_size=2,
    max_size=25,
)


def limits(rows):
    low = np.array([-INF if kind == "below" else float(a) for a, _, kind in rows])
    high = np.array([INF if kind == "above" else float(a) if kind == "known" else float(a + b) for a, b, kind in rows])
    return low, high


def made(n=200, seed=0):
    """A table in which features 0 and 1 make the number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)


@given(LIMITS)
def test_gehan_scores_equal_the_literal_ones(rows):
    low, high = limits(rows)
    np.testing.assert_array_equal(gehan_scores(low, high), naive.gehan_scores(low, high))


@given(LIMITS)
def test_logrank_scores_equal_the_literal_ones(rows):
    low, high = limits(
        [(a, b, "above" if kind == "below" else "known" if kind == "between" else kind) for a, b, kind in rows]
    )
    np.testing.assert_allclose(logrank_scores(low, high), naive.logrank_scores(low, high), atol=1e-12)
    assert abs(logrank_scores(low, high).sum()) < 1e-9  # scores of a test sum to zero


@given(LIMITS)
def test_places_are_ordered_and_complete(rows):
    below, upto = interval_places(*limits(rows))
    assert (below >= 0).all() and (upto <= 1).all() and (below <= upto).all()


def test_known_numbers_have_the_place_of_their_rank():
    y = np.array([3.0, 1.0, 2.0, 2.0, 9.0])
    below, upto = interval_places(y, y)
    np.testing.assert_allclose(stats.norm.ppf((below + upto) / 2), normal_scores(y), atol=1e-9)


def test_censored_places_are_kaplan_and_meiers():
    low, high = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1.0, INF, 3.0, INF, 5.0])
    below, _ = interval_places(low, high)
    np.testing.assert_allclose(below[[0, 2, 4]], [0.0, 0.2, 1 - 0.8 * 2 / 3], atol=1e-4)


def test_the_mean_between_limits_equals_scipys():
    mean, low, high = (
        np.array([0.0, 1.0, -2.0, 8.0]),
        np.array([-1.0, -INF, 0.5, -INF]),
        np.array([0.5, 0.0, INF, -2.0]),
    )
    expected = [
        stats.truncnorm((a - m) / 0.7, (b - m) / 0.7, m, 0.7).mean() for m, a, b in zip(mean, low, high, strict=True)
    ]
    np.testing.assert_allclose(truncated_mean(mean, 0.7, low, high), expected, rtol=1e-6)
    assert truncated_mean(np.array([40.0]), 0.1, np.array([-1.0]), np.array([1.0]))[0] == pytest.approx(1.0, abs=1e-2)


@pytest.mark.filterwarnings("ignore::dubio.errors.NoFeatureStandsOut")
def test_known_numbers_are_a_numeric_target():
    X, y = made(80)
    some = y.copy()
    some[::4] = np.nan
    one = dubio.FeatureSelector().fit(X, dubio.interval_targets(some, some))
    other = dubio.FeatureSelector().fit(X, some)
    assert one.supervision_.kind == "numbers"
    np.testing.assert_array_equal(one.ranking_, other.ranking_)
    np.testing.assert_array_equal(one.pvalues_, other.pvalues_)


def test_completed_values_lie_inside_their_limits_and_near_the_truth():
    X, y = made()
    for labels in (blur_numbers(y, 2.0, random_state=0), censor_numbers(y, 0.5, random_state=0)):
        problem = read_problem(X, labels, target="auto")
        values = completed_values(problem, ExpertOptions())
        below, upto = interval_places(labels.low, labels.high)
        assert (values >= stats.norm.ppf(below) - 1e-9).all() and (values <= stats.norm.ppf(upto) + 1e-9).all()
        middle = np.clip((below + upto) / 2, 0.01, 0.99)
        assert np.corrcoef(values, y)[0, 1] > np.corrcoef(stats.norm.ppf(middle), y)[0, 1]


@pytest.mark.parametrize("kind", ["blurred", "censored"])
def test_the_front_door(kind):
    X, y = made()
    labels = blur_numbers(y, 1.0) if kind == "blurred" else censor_numbers(y, 0.5)
    selector = dubio.FeatureSelector().fit(X, labels)
    assert set(selector.get_support(indices=True)) == {0, 1}
    assert "inside their limits" in selector.explanation_
    order = np.random.default_rng(1).permutation(len(X))
    back = dubio.FeatureSelector().fit(X[order], labels[order])
    np.testing.assert_array_equal(selector.ranking_, back.ranking_)
    assert dubio.SmoothR2Score(n_features_to_select=2).fit(X, labels).support_[:2].all()


def test_rows_without_limits_are_completed():
    X, y = made(120)
    labels = blur_numbers(np.where(np.arange(120) % 3 == 0, np.nan, y), 1.0)
    selector = dubio.NeighborSearch(n_features_to_select=2).fit(X, labels)
    assert selector.n_unlabelled_ == 40 and selector.n_completed_ == 40


def test_nothing_stands_out_in_noise():
    silent = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels = censor_numbers(rng.normal(size=100), 0.5, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = read_problem(rng.normal(size=(100, 5)), labels, target="auto")
            silent += not relevance_of(problem, random_state=seed).relevant.any()
    assert silent >= 9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dubio.interval_targets([1, 5], [2, 4]), "low is above high in row 1: 5 > 4"),
        (lambda: dubio.interval_targets([1], [2, 4]), "high has 2 rows, and low has 1"),
        (lambda: dubio.interval_targets([INF], [INF]), "low is inf in row 0"),
        (lambda: dubio.interval_targets(["a"], [1]), "low holds values that are not numbers"),
        (lambda: dubio.interval_targets([[1]], [[1]]), "low has shape"),
        (
            lambda: dubio.FeatureSelector().fit(np.eye(3), dubio.interval_targets([0] * 3, [1] * 3)),
            "surely above another",
        ),
        (lambda: read_supervision(dubio.interval_targets([0], [1]), 1), "where classes are needed"),
        (lambda: dubio.LinearSearch().fit(np.eye(3), dubio.interval_targets([0, 1, 2], [1, 2, 3])), "intervals"),
    ],
)
def test_what_cannot_be_is_said(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_describing():
    read = read_supervision(dubio.interval_targets([1, 2, 3, np.nan, np.nan], [1, INF, 4, 2, np.nan]), 5, target="auto")
    assert read.describe() == "4 rows with numbers: 1 known, 1 censored, 2 between limits, 1 row without a label"


def test_the_command(tmp_path, capsys):
    X, y = made(150)
    labels = censor_numbers(np.exp(y), 0.5)
    seen = labels.low == labels.high
    table = pd.DataFrame(X, columns=list("abcdef")).assign(days=labels.low, died=np.where(seen, "yes", "no"))
    table["from"], table["to"] = labels.low, np.where(seen, labels.low, np.nan)
    path, report = tmp_path / "times.csv", tmp_path / "page.html"
    table.to_csv(path, index=False)
    kept = []
    for words in (["--time", "days", "--event", "died"], ["--low", "from", "--high", "to"]):
        ignored = ["--ignore", "from,to"] if "--time" in words else ["--ignore", "days,died"]
        more = ["--json", "--stability", "0", *ignored, *(["--report", str(report)] if "--time" in words else [])]
        assert run(["rank", str(path), *words, *more]) == 0, capsys.readouterr().err
        said = json.loads(capsys.readouterr().out)
        assert said["labels"] == "150 rows with numbers: 75 known, 75 censored"
        kept.append(said["kept"])
    assert kept[0] == kept[1] and {"a", "b"} <= set(kept[0])
    assert "interval_targets(table[" in report.read_text()
    for wrong, message in (
        (["--time", "days"], "--time and --event belong together"),
        (["--low", "from"], "--low and --high belong together"),
        (["--time", "days", "--event", "a"], "--event: column 'a' must hold yes or no"),
        (["--low", "died", "--high", "to"], "--low: column 'died' holds 'yes' in line 2 of the file"),
        (["--low", "to", "--high", "from", "--target", "a"], "both say what the target is"),
    ):
        assert run(["rank", str(path), *wrong]) == 2
        assert message in capsys.readouterr().err


def test_the_wrong_words_of_an_event_are_counted():
    from dubio_app.command.question import happened

    frame = pd.DataFrame({"days": [1.0, 2, 3, 4, 5, 6, np.nan], "stage": ["yes", "II", "I", "II", None, "no", "II"]})
    with pytest.raises(InputError, match=r"has 'II' in 2 rows with a time, and neither yes nor no in 2 more\.$"):
        happened(frame["stage"], frame["days"].notna())
    few = frame.iloc[[0, 4, 5, 6]]
    with pytest.raises(InputError, match=r"has an empty cell in 1 row with a time\.$"):
        happened(few["stage"], few["days"].notna())
