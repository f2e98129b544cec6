"""Stability: draws that do not depend on threads, and the index of Nogueira."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression

from dubio import (
    ConstraintScore,
    FeatureSelector,
    FisherScore,
    InputError,
    LaplacianScore,
    SupervisedLaplacianScore,
    WeightedLaplacianScore,
    stability,
)
from dubio.findings import how_sure
from dubio.simulate import unsure_annotator
from dubio.trust.forecast import forecast_of
from dubio.trust.resampling import nogueira_index
from tests import naive

subsets = st.tuples(st.integers(2, 12), st.integers(1, 8)).flatmap(lambda shape: arrays(np.bool_, shape))


@given(subsets)
def test_nogueira_index_is_the_literal_one_and_bounded(Z):
    if not Z.any():
        with pytest.raises(InputError, match="nothing to compare"):
            nogueira_index(Z)
        return
    found = nogueira_index(Z)
    if Z.sum() < Z.size:
        assert found.value == pytest.approx(naive.nogueira_index(Z.astype(float)), abs=1e-12)
    else:
        assert found == (1.0, 1.0, 1.0)
    assert -1 / (len(Z) - 1) - 1e-9 <= found.value <= 1 + 1e-12
    assert found.low <= found.value <= found.high + 1e-12


@given(subsets, st.integers(0, 100))
def test_nogueira_index_knows_no_order(Z, seed):
    rng = np.random.default_rng(seed)
    shuffled = Z[rng.permutation(len(Z))][:, rng.permutation(Z.shape[1])]
    assume(Z.any())
    np.testing.assert_allclose(nogueira_index(Z), nogueira_index(shuffled), atol=1e-12)


def test_interval_of_the_index_covers_the_truth():
    """Features kept independently with given probabilities: the limit is known."""
    p = np.array([0.9, 0.9, 0.6, 0.4, 0.1, 0.1])
    k = p.mean()
    truth = 1 - (p * (1 - p)).mean() / (k * (1 - k))
    rng = np.random.default_rng(0)
    intervals = [nogueira_index(rng.uniform(size=(60, 6)) < p) for _ in range(200)]
    covered = np.mean([i.low <= truth <= i.high for i in intervals])
    assert covered >= 0.90  # 95 % asked for, three standard errors less


def _overlap(kept):
    """Of the features that one sample keeps, the share that another one keeps as well: the mean over all pairs."""
    pairs = [(one, other) for i, one in enumerate(kept) for j, other in enumerate(kept) if i != j]
    return sum((one & other).sum() for one, other in pairs) / sum(one.sum() for one, _ in pairs)


def _simulated(rng, truth, decides):
    """A table with these true statistics: its resamples, and what fresh samples keep and have in common."""
    line, share, n_features, tested = 3.0, 0.632, len(truth), decides == "tests"

    def keep(values):
        if tested:
            return np.abs(values) > line
        return values >= np.sort(values, axis=1)[:, [-5]]

    fresh = keep(truth + rng.normal(size=(80, n_features)))
    whole = truth + rng.normal(size=n_features)
    values = np.sqrt(share) * whole + np.sqrt(1 - share) * rng.normal(size=(40, n_features))
    selected = keep(values)
    rankings = np.argsort(np.argsort(-values, axis=1), axis=1) + 1
    facts = {"statistics": np.abs(values)} if tested else {"scores": values} if decides == "scores" else {}
    found = forecast_of(selected, rankings, share, **facts)
    return found, _overlap(selected), _overlap(fresh), selected.mean(axis=0), fresh.mean(axis=0)


@pytest.mark.parametrize("decides", ["tests", "scores", "ranks"])
def test_the_forecast_holds_what_fresh_samples_do_and_resamples_do_not(decides):
    rng = np.random.default_rng(36)
    truth = np.concatenate([np.linspace(1.5, 5.5, 12), np.zeros(12)])
    inside, apart, resampled, shares, often = [], [], [], [], []
    for _ in range(60):
        found, among, fresh, kept, will = _simulated(rng, truth, decides)
        inside.append(found.low <= fresh <= found.high)
        apart.append(found.agreement - fresh)
        resampled.append(among - fresh)
        shares.append(found.frequency - will)
        often.append(kept - will)
    assert np.mean(inside) >= 0.85
    assert abs(np.mean(apart)) < 0.04
    if decides == "tests":  # resamples have fewer rows: true features fall below the line
        assert abs(np.mean(shares)) < 0.04 < -np.mean(often)
    else:
        assert np.mean(resampled) > np.mean(apart) + 0.02, "resamples share rows: they agree more than fresh samples do"


def test_scores_that_lead_clearly_are_forecast_to_stay():
    """Two features with scores far above all others, in the same order in every resample; ranks alone cannot tell."""
    rng = np.random.default_rng(0)
    scores = np.array([9.0, 8.0, 1.0, 1.0, 1.0, 1.0]) + 0.3 * rng.normal(size=(30, 6))
    selected = np.arange(6) < np.full((30, 1), 2)
    ranks = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1
    assert forecast_of(selected, ranks, 0.632, scores=scores).agreement > 0.99
    assert forecast_of(selected, ranks, 0.632).agreement < 0.9
    # scores that do not decide what is kept play no part
    swapped = forecast_of(selected, ranks, 0.632, scores=-scores)
    assert swapped.agreement == forecast_of(selected, ranks, 0.632).agreement


def test_samples_that_keep_nearly_all_features_agree():
    rng = np.random.default_rng(0)
    statistics = np.abs(6.0 + rng.normal(size=(20, 8)))
    selected = statistics > 4.0
    selected[0, 0] = False  # one resample drops one feature: an index that takes chance out calls this no agreement
    found = forecast_of(selected, np.tile(np.arange(8) + 1, (20, 1)), 0.632, statistics)
    assert found.low > 0.5 and found.agreement > 0.95


@pytest.mark.filterwarnings("ignore:X has no feature")
def test_nothing_kept_is_said_and_never_called_stable():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    found = stability(FeatureSelector("linear_r2"), X, y, n_draws=4)
    if not found.selected.any():
        assert found.index is None and found.forecast is None
        assert "nothing was kept" in str(found) and "1.00" not in str(found) + repr(found)
    none = replace(found, selected=np.zeros((4, 4), dtype=bool), index=None, forecast=None, frequency=np.zeros(4))
    assert str(none).endswith("nothing was kept.") and "1.00" not in repr(none)


def test_a_feature_that_is_seldom_kept_is_named():
    X, y = _table()
    selector = FisherScore(n_features_to_select=3).fit(X, y)
    sure = stability(selector, X, y, n_draws=12)
    seldom = replace(sure, forecast=sure.forecast._replace(frequency=np.array([1.0, 0.9, 0.2, 0.2, 0.2])))
    said = " ".join(map(str, how_sure(selector.to_ranking(), None, seldom)))
    weak = [name for name in selector.get_feature_names_out() if name not in ("a", "b")]
    assert f"a fresh sample would keep {weak[0]} less often than not" in said
    assert "very stable" not in said and "confidence" not in said and "another should keep" in said


@pytest.mark.parametrize("bad", [[[True, False]], [True, False], np.zeros((3, 0)), [[0.5, 1.0], [1.0, 0.0]]])
def test_bad_subsets(bad):
    with pytest.raises(ValueError, match="selected"):
        nogueira_index(bad)


def _table(n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    X["a"] += 3 * y
    X["b"] += y
    return X, y


@pytest.mark.thorough
@pytest.mark.parametrize("resample", ["bootstrap", "subsample"])
def test_draws_of_rows_do_not_depend_on_jobs(resample):
    X, y = _table()
    y = np.where(np.arange(60) % 4 == 0, -1, y)
    one = stability(FisherScore(n_features_to_select=2), X, y, n_draws=8, resample=resample)
    two = stability(FisherScore(n_features_to_select=2), X, y, n_draws=8, resample=resample, n_jobs=2)
    np.testing.assert_array_equal(one.rankings, two.rankings)
    assert one.index == two.index
    assert one.frequency[0] == 1.0 and one.rank_low[0] == one.rank_high[0] == 1
    assert one.to_frame()["feature"].tolist()[0] == "a"
    other = stability(FisherScore(n_features_to_select=2), X, y, n_draws=8, resample=resample, random_state=5)
    assert (other.rankings != one.rankings).any()


def test_soft_labels_are_drawn_and_pairs_are_drawn():
    X, y = _table()
    P = unsure_annotator(y, 0.3, random_state=0).memberships
    sure = stability(WeightedLaplacianScore(n_features_to_select=2), X, P, n_draws=10)
    assert sure.resample == "labels" and sure.frequency[0] == 1.0
    assert len(np.unique(sure.rankings, axis=0)) > 1
    must = [(i, i + 3) for i in range(40)]
    cannot = [(i, i + 1) for i in range(40)]
    sure = stability(ConstraintScore(n_features_to_select=2), X, must_link=must, cannot_link=cannot, n_draws=5)
    assert sure.resample == "pairs" and sure.frequency[0] == 1.0


def test_no_labels_and_numbers():
    X, y = _table()
    assert stability(LaplacianScore(), X, n_draws=3).resample == "subsample"
    numbers = y + np.random.default_rng(0).normal(size=60)
    numbers[::5] = np.nan
    assert stability(SupervisedLaplacianScore(), X, numbers, n_draws=3).frequency[0] == 1.0
    assert stability(FeatureSelector(n_features_to_select=2), X.to_numpy(), y, n_draws=3).names.tolist()[0] == "x0"


def test_progress_is_reported(capsys):
    X, y = _table()
    seen = []
    stability(FisherScore(), X, y, n_draws=4, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    stability(FisherScore(), X, y, n_draws=2, progress=True)
    said = capsys.readouterr()
    assert said.err.endswith("resamples: 2 of 2\n") and said.out == ""


def test_the_selector_itself_is_left_alone():
    X, y = _table()
    selector = FisherScore()
    stability(selector, X, y, n_draws=2)
    assert not hasattr(selector, "ranking_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_draws": 1}, "n_draws=1"),
        ({"confidence": 1.0}, "confidence"),
        ({"resample": "columns"}, "resample='columns'"),
        ({"resample": "labels"}, "y holds none"),
        ({"resample": "pairs"}, "no pairs are given"),
    ],
)
def test_bad_options(options, message):
    X, y = _table()
    with pytest.raises(ValueError, match=message):
        stability(FisherScore(), X, y, **options)


@pytest.mark.filterwarnings("ignore:Features .* are constant")
@pytest.mark.parametrize(
    ("selector", "ranks"),
    [
        (SelectKBest(k=2), [1, 2, 3, 4]),
        (RFE(LogisticRegression(), n_features_to_select=2), [1, 1, 2, 3]),
        (SelectFromModel(LogisticRegression(), max_features=2, threshold=-np.inf), [1, 1, 2, 2]),
    ],
)
def test_selectors_of_scikit_learn(selector, ranks):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 60)
    X = rng.normal(size=(120, 4))
    X[60:, :2] += [4.0, 3.0]
    X[:, 3] = 0.0  # its score is NaN
    with np.errstate(all="ignore"):
        found = stability(selector, X, y, n_draws=5)
    assert found.frequency.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert sorted(found.rankings[0].tolist()) == ranks and found.index.value == 1.0
    P = pd.DataFrame({"a": np.where(y == "a", 0.9, 0.1), "b": np.where(y == "a", 0.1, 0.9)})
    assert stability(selector, X[:, :3], P, n_draws=3).resample == "labels"


def test_what_is_no_selector_is_refused():
    X, y = np.zeros((4, 2)), [0, 1, 0, 1]
    with pytest.raises(TypeError, match=r"selector is LogisticRegression\(\): give a selector of dubio"):
        stability(LogisticRegression(), X, y)


def test_rows_are_not_drawn_beside_pairs():
    X, _ = _table()
    with pytest.raises(ValueError, match="use resample='pairs'"):
        stability(ConstraintScore(), X, must_link=[(0, 3)], cannot_link=[(0, 1)], resample="bootstrap")


def test_minus_one_is_a_class_to_other_selectors():
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.tile([-1, 1], 30)
    X[:, 2] += y
    assert stability(SelectKBest(k=1), X, y, n_draws=4, random_state=0).frequency[2] == 1.0
