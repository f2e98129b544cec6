"""Votes of several people: what they say together, with and without columns, and who of them is how good."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

import dubio
from dubio import FeatureSelector, InputError, InputWarning, audit_labels, soft_labels, votes
from dubio.doubt.experts import ExpertOptions
from dubio.doubt.votes import join_votes
from dubio.target import annotators
from dubio.target.annotators import Votes, agree_on_classes, agree_on_numbers, shrunk_confusions
from dubio.target.soft import dawid_skene, krippendorff_alpha
from tests import naive

NAMES = ("ann", "bob", "cleo", "dan")


def drawn(n=240, skill=(0.9, 0.8, 0.65, 0.5), n_classes=2, missing=0.4, seed=0, columns=True):
    """Rows whose first two columns separate the classes (or none does), the truth, and votes as a frame."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = X[:, 0] + X[:, 1] + 0.4 * rng.normal(size=n)
    truth = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    if not columns:
        X = rng.normal(size=(n, 5))
    other = (truth[:, None] + rng.integers(1, n_classes, (n, len(skill)))) % n_classes
    said = np.where(rng.random((n, len(skill))) < skill, truth[:, None], other).astype(float)
    said[rng.random(said.shape) < missing] = np.nan
    return X, truth, pd.DataFrame(said, columns=NAMES[: len(skill)])


def in_long_form(frame):
    row, who = np.nonzero(frame.notna().to_numpy())
    return Votes(row, who, frame.to_numpy()[row, who].astype(np.int64), *frame.shape)


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_em_is_the_literal_one(n_classes, in_order, weighed):
    _, _, frame = drawn(60, n_classes=n_classes, seed=n_classes)
    frame.iloc[7] = np.nan  # a row without votes
    cast = in_long_form(frame)
    cast = cast._replace(weight=np.linspace(0.2, 1.0, len(cast.row)) if weighed else None)
    found = agree_on_classes(cast, n_classes, in_order=in_order)
    parts = (part.tolist() for part in (cast.row, cast.who, cast.value))
    P, theta = naive.agree_on_classes(*parts, *frame.shape, n_classes, in_order, weight=cast.weight)
    voted = frame.notna().any(axis=1).to_numpy()
    assert np.isnan(found.memberships[~voted]).all()
    np.testing.assert_allclose(found.memberships[voted], P[voted], atol=1e-9)
    np.testing.assert_allclose(found.confusions, theta, atol=1e-9)


def test_who_voted_little_borrows_from_the_others():
    good = np.array([[40.0, 4.0], [6.0, 30.0]])
    few = np.array([[1.0, 0.0], [1.0, 0.0]])
    shrunk = shrunk_confusions(np.stack([good] * 8 + [few]))
    assert shrunk[-1, 1, 1] > 0.6  # one wrong vote is no evidence against the experience with eight others
    assert shrunk_confusions(np.stack([good, 20 * few]))[-1, 1, 1] < 0.4  # twenty are


def test_order_of_rows_and_annotators_and_names_change_nothing():
    _, _, frame = drawn(150, n_classes=3, seed=1)
    found = agree_on_classes(in_long_form(frame), 3)
    rng = np.random.default_rng(0)
    rows, people = rng.permutation(150), [2, 0, 3, 1]
    moved = agree_on_classes(in_long_form(frame.iloc[rows, people]), 3)
    np.testing.assert_allclose(moved.memberships, found.memberships[rows], atol=1e-8)
    np.testing.assert_allclose(moved.quality.value, found.quality.value[people], atol=1e-8)
    renamed = agree_on_classes(in_long_form(2 - frame), 3)
    np.testing.assert_allclose(renamed.memberships[:, ::-1], found.memberships, atol=1e-8)


def test_an_adversary_and_a_spammer_are_seen_through():
    _, truth, frame = drawn(400, skill=(0.85, 0.85, 0.1, 0.5), missing=0.0, seed=3)
    found = agree_on_classes(in_long_form(frame), 2)
    right = np.mean(found.memberships.argmax(axis=1) == truth)
    majority = np.mean((frame.mean(axis=1) > 0.5) == truth)
    assert right > majority + 0.1
    assert found.quality.value[2] < 0.25
    assert abs(found.quality.value[3] - 0.5) < 0.1


@pytest.mark.parametrize("skill", [(0.9, 0.8, 0.7, 0.6), (0.75, 0.75, 0.75, 0.75)])
def test_intervals_of_quality_hold_the_true_share_of_right_votes_and_are_not_too_wide(skill):
    held, off = [], []
    for seed in range(25):
        _, _, frame = drawn(200, skill=skill, seed=100 + seed)
        value, low, high = agree_on_classes(in_long_form(frame), 2).quality
        held += ((low <= skill) & (skill <= high)).tolist()
        off += (2 * 1.96 * (logit(skill) - logit(value)) / (logit(high) - logit(low))).tolist()
    assert np.mean(held) >= 0.88  # 100 intervals of 95 %: 88 or more with probability 0.996
    assert 0.8 < np.sqrt(np.mean(np.square(off))) < 1.3  # 1 if the intervals are as wide as they should be


def test_checked_truth_is_kept_and_teaches_about_annotators():
    _, truth, frame = drawn(200, skill=(0.6, 0.55), missing=0.0, seed=5)
    known = np.where(np.arange(200) < 120, truth, -1)
    found = agree_on_classes(in_long_form(frame), 2, truth=known)
    np.testing.assert_array_equal(found.memberships[:120], np.eye(2)[truth[:120]])
    shares = (frame.to_numpy()[:120] == truth[:120, None]).mean(axis=0)
    assert np.abs(found.quality.value - shares).max() < 0.1


def test_errors_by_steps_help_ordered_votes():
    rng = np.random.default_rng(0)
    better = []
    for _ in range(5):
        truth = rng.integers(0, 6, 150)
        noise = rng.normal(size=(150, 4)) * [0.4, 0.7, 1.0, 1.4]
        said = np.clip(np.rint(truth[:, None] + noise), 0, 5)
        said[rng.random(said.shape) < 0.5] = np.nan
        found = audit_labels(np.zeros((150, 1)) + np.arange(150)[:, None] % 2, votes(said, order=[0, 1, 2, 3, 4, 5]))
        known = found.labelled
        distance = np.abs(found.likely[known].astype(float) - truth[known]).mean()
        codes = np.where(np.isnan(said), -1, said).astype(int)
        nominal = np.abs(np.nan_to_num(dawid_skene(codes, 6).memberships)[known].argmax(axis=1) - truth[known]).mean()
        better.append((distance, np.abs(np.nanmedian(said[known], axis=1) - truth[known]).mean(), nominal))
    ours, median, dawid = np.mean(better, axis=0)
    assert ours < median
    assert ours < dawid


def test_numbers_with_bias_spread_and_slips():
    rng = np.random.default_rng(0)
    truth, spread = rng.normal(10, 3, size=300), np.array([0.2, 0.5, 1.0, 2.0])
    said = truth[:, None] + [0.5, 0.0, -0.5, 0.0] + spread * rng.normal(size=(300, 4))
    said[rng.random(said.shape) < 0.4] = np.nan
    said[5] = [np.nan, 300.0, np.nan, truth[5]]  # a slip of the keyboard
    row, who = np.nonzero(~np.isnan(said))
    found = agree_on_numbers(Votes(row, who, said[row, who], 300, 4))
    known = np.unique(row)
    error = np.sqrt(np.mean((found.values[known] - truth[known]) ** 2))
    assert error < 0.6 * np.sqrt(np.mean((np.nanmedian(said[known], axis=1) - truth[known]) ** 2))
    np.testing.assert_allclose(found.bias - found.bias.mean(), [0.5, 0.0, -0.5, 0.0], atol=0.25)
    assert (np.diff(found.quality.value) > 0).all()
    shifted = agree_on_numbers(Votes(row, who, 100 + 2 * said[row, who], 300, 4))
    np.testing.assert_allclose(shifted.values[known], 100 + 2 * found.values[known], rtol=1e-6)


def test_a_far_number_is_no_slip_if_its_votes_agree_and_spreads_are_held():
    held, better = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth, spread = rng.standard_t(2, size=300), np.array([0.2, 0.4, 0.6, 0.9])
        said = truth[:, None] + spread * rng.normal(size=(300, 4))
        said[rng.random(said.shape) < 0.02] += 20.0
        row, who = np.indices(said.shape).reshape(2, -1)
        found = agree_on_numbers(Votes(row, who, said.ravel(), 300, 4))
        held += ((found.quality.low <= spread) & (spread <= found.quality.high)).tolist()
        of_median = np.mean((np.median(said, axis=1) - truth) ** 2)
        better.append(np.sqrt(np.mean((found.values - truth) ** 2) / of_median))
        assert np.abs(found.values - truth)[np.abs(truth) > 5].max() < 1.5
    assert np.mean(held) >= 0.83  # 24 intervals of 95 %: 20 or more with probability 0.998
    assert np.mean(better) < 0.8


def test_peers_of_the_benchmark_are_those_of_crowd_kit():
    crowd = pytest.importorskip("benchmarks.crowd")
    stored = json.loads((Path(__file__).parent / "crowd_kit.json").read_text(encoding="utf-8"))
    said = np.array(stored["votes"])
    np.testing.assert_allclose(crowd.mace(said, 3), stored["mace"], atol=1e-5)
    np.testing.assert_allclose(crowd.glad(said, 3, tolerance=1e-7), stored["glad"], atol=1e-5)
    ours = dawid_skene(said, 3, max_iter=500, tol=0, smoothing=1e-10)
    np.testing.assert_allclose(ours.memberships, stored["dawid_skene"], atol=1e-5)


def test_columns_help_and_noise_does_no_harm():
    gains = []
    for seed in range(2):
        X, truth, frame = drawn(240, skill=(0.8, 0.7, 0.7, 0.6), missing=0.4, seed=seed)
        for table in (X, np.random.default_rng(seed).normal(size=X.shape)):
            problem = FeatureSelector().read_problem(table, votes(frame))
            found, models = join_votes(problem, ExpertOptions())
            known = problem.supervision.labelled
            alone = problem.supervision.consensus.memberships[known].argmax(axis=1) == truth[known]
            joined = np.nan_to_num(found.memberships)[known].argmax(axis=1) == truth[known]
            gains.append((joined.mean() - alone.mean(), bool(models)))
    with_columns, without = gains[::2], gains[1::2]
    assert min(gain for gain, _ in with_columns) > 0.03
    assert all(listened for _, listened in with_columns)
    assert np.mean([gain for gain, _ in without]) > -0.005


def test_the_tests_of_columns_see_votes_alone():
    """With opinions of models in the target, a column would be tested against itself."""
    X, _, frame = drawn(120, seed=2)
    problem = FeatureSelector().read_problem(X, votes(frame))
    alone = agree_on_classes(in_long_form(frame), 2).memberships
    known = problem.supervision.labelled
    np.testing.assert_allclose(problem.tested.supervision.memberships[known], alone[known])


def test_it_flows_through_the_front_door():
    X, _, frame = drawn(240)
    y = votes(frame.replace({0.0: "well", 1.0: "ill"}))
    selector = FeatureSelector().fit(X, y)
    assert sorted(selector.get_support(indices=True).tolist()) == [0, 1]
    assert "votes of 4 annotators (2 classes)" in selector.explanation_
    assert any("votes were joined" in note for note in selector.notes_)
    half = FeatureSelector().fit(X[::2], y[::2])
    assert half.supervision_.n_rows == 120


@pytest.mark.thorough
def test_votes_go_with_facts_about_rows_methods_by_name_and_resampling():
    X, _, frame = drawn(240)
    y = votes(frame)
    for facts in ({"groups": np.arange(240) // 2}, {"sample_weight": np.linspace(1, 2, 240)}):
        assert set(FeatureSelector().fit(X, y, **facts).get_support(indices=True)) >= {0, 1}
    assert 0 in FeatureSelector("weighted_laplacian", n_features_to_select=2).fit(X, y).get_support(indices=True)
    assert dubio.stability(FeatureSelector(), X, y, n_draws=2).frequency[0] == 1


def test_ordered_votes_and_numbers_flow_through_the_front_door():
    X, _, frame = drawn(200, skill=(0.8, 0.8, 0.7), n_classes=4)
    selector = FeatureSelector().fit(X, votes(frame, order=[0, 1, 2, 3]))
    assert "4 ordered classes: 0 < 1 < 2 < 3" in selector.explanation_
    assert 0 in selector.get_support(indices=True)
    rng = np.random.default_rng(0)
    numbers = X[:, [0]] + 0.3 * rng.normal(size=(200, 3))
    selector = FeatureSelector().fit(X, votes(numbers))
    assert selector.supervision_.kind == "votes of numbers"
    assert selector.get_support(indices=True).tolist() == [0]


def test_the_audit_names_votes_annotators_and_whom_to_ask():
    X, truth, frame = drawn(240, missing=0.3)
    audit = audit_labels(pd.DataFrame(X, index=[f"case {i}" for i in range(240)]), votes(frame))
    known = audit.labelled
    assert np.mean(audit.likely[known].astype(int) == truth[known]) > 0.9
    assert audit.annotators_frame().index.tolist() == ["ann", "bob", "cleo", "dan"]
    flagged = audit.votes_frame().query("doubtful")
    assert (flagged["said"] != flagged["likely"]).all()
    wrong = np.array([audit.said[v] != truth[r] for v, r in enumerate(audit.row)])
    assert wrong[audit.doubtful_votes].mean() > 0.85
    asked = np.flatnonzero(audit.ask)
    assert all(audit.gain[asked] > 0)
    for row in asked:  # nobody is asked twice
        assert audit.ask[row] not in [audit.annotators[e] for e in audit.who[audit.row == row]]
    assert "ann agrees with the likely truth in" in str(audit)
    assert audit.to_frame().index[0] == "case 0"
    soft = audit.soft_labels()
    assert FeatureSelector().fit(X, soft).n_features_ >= 1


def test_on_which_rows_an_annotator_errs():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, 3)), columns=["size", "texture", "other"])
    truth = (X["texture"] > 0).to_numpy().astype(int)
    skill = np.column_stack([np.full(240, 0.9), np.full(240, 0.9), np.where(X["size"] < 0, 0.5, 0.95)])
    said = np.where(rng.random((240, 3)) < skill, truth[:, None], 1 - truth[:, None])
    audit = audit_labels(X, votes(pd.DataFrame(said, columns=NAMES[:3])))
    assert audit.errors_frame().iloc[0].tolist()[:2] == ["cleo", "size"]
    assert "cleo errs more often where 'size' is low (q = " in str(audit)
    assert audit.by_column[2, 0] < 0.01 < audit.by_column[[0, 1, 2, 2], [0, 0, 1, 2]].min()
    assert audit_labels(X, votes(said), groups=np.arange(240) // 2).by_column is None


def test_disagreements_and_rows_without_votes_are_counted():
    X, _, frame = drawn(120, missing=0.0, seed=4)
    frame.iloc[[7, 9]] = np.nan
    audit = audit_labels(X, votes(frame))
    apart = [len(set(row[~np.isnan(row)])) > 1 for row in frame.to_numpy()]
    assert audit.disagree.tolist() == apart
    assert f"The votes disagree in {sum(apart)} rows" in str(audit)
    assert "2 rows have no vote" in str(audit) and "(row 7, row 9)" in str(audit)


def test_an_unsure_vote_counts_less_and_probabilities_are_the_same():
    _, truth, frame = drawn(200, skill=(0.9, 0.8), missing=0.0, seed=6)
    rng = np.random.default_rng(0)
    right = frame.to_numpy() == truth[:, None]
    sure = np.where(right, rng.uniform(0.7, 1.0, right.shape), rng.uniform(0.5, 0.8, right.shape))
    codes = frame.to_numpy().astype(int)
    given = np.stack([np.where(codes == k, sure, 1 - sure) for k in range(2)], axis=2)
    one = votes(codes, classes=[0, 1], confidence=sure)
    other = votes({"a": given[:, 0], "b": given[:, 1]}, classes=[0, 1])
    np.testing.assert_array_equal(one.said, other.said)
    np.testing.assert_allclose(one.weight, 2 * sure - 1)
    np.testing.assert_allclose(other.weight, one.weight)
    X = np.zeros((200, 1)) + np.arange(200)[:, None] % 2
    plain, weighed = audit_labels(X, votes(codes, classes=[0, 1])), audit_labels(X, one)
    accuracy = [np.mean(audit.likely.astype(int) == truth) for audit in (plain, weighed)]
    assert accuracy[1] > accuracy[0] + 0.05
    full = votes(codes, classes=[0, 1], confidence=np.ones(codes.shape))
    np.testing.assert_allclose(audit_labels(X, full).probability, plain.probability)
    three = np.tile([0.5, 0.3, 0.2], (200, 1))  # two parts of one answer
    several = audit_labels(X, votes({"a": three, "b": codes[:, 0], "c": 2 - codes[:, 1]}, classes=[0, 1, 2]))
    assert several.n_votes.tolist() == [200, 200, 200]
    assert len(several.row) == 600 and (several.said[several.who == 0] == 0).all()


def test_the_audit_does_not_depend_on_the_order_of_rows_and_people_or_names_of_classes():
    X, _, frame = drawn(120)
    one = audit_labels(X, votes(frame))
    rows, people = np.random.default_rng(0).permutation(120), [2, 0, 3, 1]
    for order, who, said in (
        (rows, range(4), frame.iloc[rows]),
        (range(120), people, frame.iloc[:, people]),
        (range(120), range(4), 1 - frame),
    ):
        other = audit_labels(X[order], votes(said))
        np.testing.assert_allclose(other.probability, one.probability[order], atol=1e-9)
        np.testing.assert_allclose(other.low, one.low[who], atol=1e-9)
        np.testing.assert_allclose(other.by_column, one.by_column[who], atol=1e-9)


def test_wide_and_long_form_are_the_same():
    _, _, frame = drawn(50)
    row, who = np.nonzero(frame.notna().to_numpy())
    order = np.random.default_rng(0).permutation(len(row))
    said = frame.to_numpy()[row, who][order]
    names = np.array([f"r{i}" for i in range(50)])
    long = votes(row=names[row[order]], who=np.array(frame.columns)[who[order]], label=said, rows=names)
    wide = votes(frame)
    np.testing.assert_array_equal(long.said, wide.said)
    np.testing.assert_array_equal(long.who, wide.who)
    assert long.annotators == wide.annotators


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"table": [["a", "b"], ["b", "z"]], "classes": ["a", "b"]}, "not among those listed: 'z'"),
        ({"table": [[None, None]]}, "holds no vote"),
        ({"table": [["a"], ["b"]]}, "votes of one annotator only"),
        ({"table": [[["a"], ["b"]]]}, "has 3 dimensions"),
        ({"row": [0, 0], "who": ["ann", "ann"], "label": ["a", "b"]}, "two different votes of 'ann' on row 0"),
        ({"row": [0], "who": ["ann"]}, "label is missing"),
        ({"row": ["x"], "who": ["ann"], "label": ["a"]}, "holds 'x', which is no position"),
        ({"row": [0, 5], "who": ["a", "b"], "label": [1, 2], "rows": 3}, "positions are whole numbers from 0 to 2"),
        ({"row": [0, 1], "who": ["a", None], "label": [1, 2]}, "who is missing for vote 2"),
        ({"row": ["p"], "who": ["a"], "label": [1], "rows": ["p", "q", "q"]}, "rows names 'q' twice"),
        ({"row": ["r"], "who": ["a"], "label": [1], "rows": ["p", "q"]}, "row names 'r', which is not in rows"),
        ({"table": [[1, 2]], "order": [1, 2], "classes": [1, 2]}, "given together with order"),
        ({"table": [[1, 2]], "truth": [1, 2]}, "truth has 2 entries"),
        ({"table": {"ann": ["a", "b"], "bob": ["z", "a"]}, "classes": ["a", "b"]}, "that of 'bob' on row 0"),
        ({"table": [["a", "b"]], "confidence": [[0.5, 2]]}, "confidence is 2 for the vote of 'annotator 2' on row 0"),
        ({"table": [["a", "b"]], "confidence": [[0.5]]}, "confidence has 1 entries, but there are 2 votes"),
        ({"table": [[0.5, 1.5]], "confidence": [[1, 1]]}, "the votes are numbers"),
        ({"table": {"ann": [[0.5, 0.5]], "bob": ["a"]}}, "name the classes of the probabilities"),
        ({"table": {"ann": [[0.5, 0.6]], "bob": ["a"]}, "classes": ["a", "b"]}, "'ann' that do not sum to 1"),
        ({"table": {"ann": ["a", "b"], "bob": ["a"]}}, "has columns of different lengths"),
    ],
)
def test_bad_votes_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        votes(**given)


def test_odd_votes_are_told():
    with pytest.warns(InputWarning, match="hold 1 vote twice, first that of 'ann' on row 0"):
        votes(row=[0, 0, 0], who=["ann", "ann", "bob"], label=["a", "a", "b"])
    with pytest.warns(InputWarning, match="hold none of 'annotator 3'"):
        votes([["a", "b", None], ["b", "b", None]])


def test_what_cannot_be_done_with_votes_is_said():
    X, _, frame = drawn(60)
    with pytest.raises(InputError, match="share cannot be used"):
        audit_labels(X, votes(frame), share=0.1)
    named = votes(frame.replace({0.0: "mild", 1.0: "severe"}))
    with pytest.raises(InputError, match="the order of the classes is not known"):
        audit_labels(X, named, target="ordered")


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_agreement_beyond_chance_is_the_literal_one(level):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 4, (12, 3))
    gaps = rng.random(table.shape) < 0.3
    cells = [[None if gap else int(v) for v, gap in zip(*pair, strict=True)] for pair in zip(table, gaps, strict=True)]
    every = [v for row in cells if sum(v is not None for v in row) >= 2 for v in row if v is not None]

    def ordinal(a, b):
        between = sum(min(a, b) <= v <= max(a, b) for v in every)
        return (between - (every.count(a) + every.count(b)) / 2) ** 2

    squared = {"nominal": lambda a, b: a != b, "ordinal": ordinal, "interval": lambda a, b: (a - b) ** 2}[level]
    given = np.where(gaps, np.nan, table) if level == "interval" else np.where(gaps, -1, table)
    assert krippendorff_alpha(given, level) == pytest.approx(naive.krippendorff(cells, squared))


@pytest.mark.thorough
def test_a_hundred_thousand_votes_take_seconds():
    rng = np.random.default_rng(0)
    truth, skill = rng.integers(0, 5, 20_000), rng.uniform(0.4, 0.95, 500)
    row, who = np.repeat(np.arange(20_000), 5), rng.integers(0, 500, 100_000)
    wrong = (truth[row] + rng.integers(1, 5, 100_000)) % 5
    said = np.where(rng.random(100_000) < skill[who], truth[row], wrong)
    start = time.process_time()
    found = agree_on_classes(Votes(row, who, said, 20_000, 500), 5)
    assert time.process_time() - start < 20
    assert np.mean(found.memberships.argmax(axis=1) == truth) > 0.9
    assert np.corrcoef(found.quality.value, skill)[0, 1] > 0.9


def test_constants_of_the_literal_version_are_those_of_the_library():
    assert annotators._STRENGTHS.tolist() == naive.STRENGTHS
    assert annotators._OWN_STRENGTHS.tolist() == naive.OWN_STRENGTHS


def test_soft_labels_with_columns():
    X, truth, frame = drawn(240, missing=0.3)
    joined = soft_labels(frame, combine="columns", X=X)
    alone = soft_labels(frame, combine="dawid-skene")
    known = ~np.isnan(alone.memberships[:, 0])
    right = [np.mean(one.memberships[known].argmax(axis=1) == truth[known]) for one in (joined, alone)]
    assert right[0] > right[1] + 0.03
    np.testing.assert_array_equal(joined.memberships, audit_labels(X, votes(frame)).memberships)
    for wrong in ({"combine": "columns"}, {"X": X}):
        with pytest.raises(InputError, match="X is"):
            soft_labels(frame, **wrong)
    with pytest.raises(InputError, match="holds no votes"):
        soft_labels([0, 1, 0], combine="columns", X=X[:3])


@pytest.mark.parametrize("numbers", [False, True])
def test_the_order_of_rows_and_people_does_not_change_tests_of_votes(numbers):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 5))
    truth = (X[:, 0] > 0).astype(int)
    said = np.where(rng.random((120, 3)) < 0.8, truth[:, None], 1 - truth[:, None])
    said = X[:, [0]] + [0.3, 0.5, 1.0] * rng.normal(size=(120, 3)) if numbers else said
    order = rng.permutation(120)
    one = dubio.select_features(X, votes(said))
    for rows, people in ((order, [0, 1, 2]), (np.arange(120), [2, 0, 1])):
        other = dubio.select_features(X[rows], votes(said[rows][:, people]))
        np.testing.assert_allclose(one.extras["pvalue"], other.extras["pvalue"], rtol=1e-9)
