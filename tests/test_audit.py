"""The label audit: experts out of fold, their pool, confident learning, the record."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from dubio import audit_labels
from dubio.doubt import engines as pooled
from dubio.doubt.anchor import Anchor
from dubio.doubt.engines import confident_count, fit_transitions, pool_experts
from dubio.doubt.experts import BestColumns, out_of_fold, out_of_fold_probabilities
from dubio.problem import read_problem
from dubio.simulate import flip_labels
from tests import naive

ENGINES = ["pooled", "confident", "lnt"]


def _blobs(n=150, seed=0, spread=2.5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 4))
    X[np.arange(n), y] += spread
    return X, y


def _options(engine):
    """Quick experts where the engine takes any."""
    return {"engine": engine} if engine == "lnt" else {"engine": engine, "experts": GaussianNB()}


# --- what it finds


@pytest.mark.parametrize("engine", ENGINES)
def test_flipped_labels_are_doubted(engine):
    X, y = _blobs()
    noisy = flip_labels(y, 0.2, random_state=0)
    audit = audit_labels(X, noisy, engine=engine)
    wrong = noisy != y
    assert roc_auc_score(wrong, audit.disagreement) > 0.9
    assert audit.doubtful[wrong].mean() > 0.6
    assert audit.doubtful[~wrong].mean() < 0.1
    assert (audit.suggested == y).mean() > (noisy == y).mean() + 0.1
    assert audit.share_low == 0 and 0.15 < audit.share_high < 0.6
    anchored = audit_labels(X, noisy, share=0.2, **_options(engine))
    assert np.abs(anchored.flip_matrix.diagonal() - 0.8).max() < 0.2


def test_clean_labels_are_left_alone():
    X, y = load_iris(return_X_y=True)
    assert audit_labels(X, y, engine="pooled").flip_rate < 0.05
    audit = audit_labels(X, y)
    assert audit.share_high < 0.1
    assert audit.doubtful.mean() < 0.05


def test_detection_on_real_tables(load_table):
    """The pool beats its own forest at finding flips."""
    gains = []
    for name in ("vertebral_column", "glass"):
        X, target = load_table(name)
        y = np.unique(target, return_inverse=True)[1]
        noisy = flip_labels(y, 0.2, random_state=3)
        every = audit_labels(X.to_numpy(float), noisy, random_state=3)
        forest = audit_labels(X.to_numpy(float), noisy, experts=ExtraTreesClassifier(100), random_state=3)
        gains.append(roc_auc_score(noisy != y, every.disagreement) - roc_auc_score(noisy != y, forest.disagreement))
    assert np.mean(gains) > 0


# --- no leak


def test_a_label_does_not_enter_the_opinion_on_its_row():
    """With the folds fixed, whatever label a row carries, the experts say the same of it: exactly."""
    X, y = _blobs(60)
    folds = np.arange(60) % 5
    experts = {
        "trees": ExtraTreesClassifier(10),
        "neighbors": KNeighborsClassifier(5),
        "tree": DecisionTreeClassifier(),
    }

    def said(labels):
        return out_of_fold_probabilities(X, labels, 3, experts, folds=folds).probabilities

    before = said(y)
    for row in (0, 17, 44):
        other = y.copy()
        other[row] = (y[row] + 1) % 3
        np.testing.assert_array_equal(said(other)[:, row], before[:, row])
    changed = np.where(folds == 0, y, (y + 1) % 3)
    assert (said(changed)[:, 0] != before[:, 0]).any(), "nothing depends on any label: the experts learned nothing"


def test_random_labels_are_doubted_by_their_prior_only():
    """Nothing to learn: on the average the experts find the label a row carries as likely as any row's.

    The mean over rows of log p(own label) - sum_k prior_k log p(k) has expectation 0, but for the weights of the pool:
    a fitted parameter is worth 1/n of a nat on the data it was fitted to. A leak of the own label, such as fitting
    the experts on the rows they judge, makes it large.
    """
    rng = np.random.default_rng(0)
    experts = {"forest": ExtraTreesClassifier(30), "bayes": GaussianNB(), "neighbors": KNeighborsClassifier(15)}
    leaks, doubts = [], []
    for repetition in range(10):
        X = rng.normal(size=(200, 5))
        y = rng.choice(3, size=200, p=[0.5, 0.3, 0.2])
        said = out_of_fold_probabilities(X, y, 3, experts, random_state=repetition).probabilities
        audits = [audit_labels(None, y, engine=engine, probabilities=said) for engine in ("pooled", "confident")]
        logs = np.log(audits[1].probabilities)  # without the label
        leaks.append((logs[np.arange(200), y] - logs @ (np.bincount(y) / len(y))).mean())
        doubts.append([[audit.disagreement[y == k].mean() for k in range(3)] for audit in audits])
    error = np.std(leaks, ddof=1) / np.sqrt(len(leaks))
    assert abs(np.mean(leaks)) < 3 * error + len(experts) / 200
    assert error < 0.02
    # and the doubt follows the prior of the label: the rarer the class, the larger
    assert (np.diff(np.mean(doubts, axis=0), axis=1) > 0).all()

    X = rng.normal(size=(200, 5))
    y = rng.choice(3, size=200)
    forest = ExtraTreesClassifier(50, random_state=0).fit(X, y)
    leaked = np.log(forest.predict_proba(X) + 0.01)
    assert (leaked[np.arange(200), y] - leaked.mean(axis=1)).mean() > 1, "the test would not see a leak"


# --- the experts


def test_row_order_and_names_do_not_matter():
    X, y = _blobs(90)
    noisy = flip_labels(y, 0.2, random_state=0)
    order = np.random.default_rng(0).permutation(90)
    for options in (*map(_options, ENGINES), {}):
        here = audit_labels(X, noisy, **options)
        there = audit_labels(X[order], noisy[order], **options)
        np.testing.assert_allclose(there.probabilities, here.probabilities[order], rtol=1e-6)
        named = audit_labels(X, np.array(["ant", "bee", "cat"])[noisy], **options)
        np.testing.assert_array_equal(named.probabilities, here.probabilities)


def test_the_same_call_gives_the_same_audit_and_the_seed_matters():
    X, y = _blobs(90)
    experts = ExtraTreesClassifier(10)
    one, two = audit_labels(X, y, experts=experts), audit_labels(X, y, experts=experts)
    np.testing.assert_array_equal(one.probabilities, two.probabilities)
    assert (audit_labels(X, y, experts=experts, random_state=1).probabilities != one.probabilities).any()


def test_experts_are_not_touched_and_may_be_given_in_any_form():
    X, y = _blobs(60)
    expert = GaussianNB()
    for experts, names in (
        (expert, ("GaussianNB",)),
        ([expert, LogisticRegression(), GaussianNB()], ("GaussianNB", "LogisticRegression", "GaussianNB 2")),
        ({"mine": expert}, ("mine",)),
    ):
        audit = audit_labels(X, y, experts=experts)
        assert audit.expert_names == names
        assert len(audit.expert_weights) == len(names)
    assert not hasattr(expert, "classes_")


def test_rows_without_a_label_get_one():
    X, y = _blobs(90)
    labels = y.astype(object)
    hidden = np.arange(90) % 5 == 0
    labels[hidden] = None
    for engine in ENGINES:
        audit = audit_labels(X, labels, **_options(engine))
        assert (audit.suggested[hidden] == y[hidden]).mean() > 0.7
        assert np.isnan(audit.disagreement[hidden]).all()
        assert (audit.rank[hidden] == 0).all()
        assert sorted(audit.rank[~hidden]) == list(range(1, 73))
        np.testing.assert_allclose(audit.probabilities.sum(axis=1), 1.0)
        assert audit.joint.sum() == pytest.approx(72)
    minus = np.where(hidden, -1, y)
    np.testing.assert_array_equal(
        audit_labels(X, minus, experts=GaussianNB()).disagreement,
        audit_labels(X, labels, experts=GaussianNB()).disagreement,
    )


def test_a_small_class_reduces_the_folds_and_says_so():
    X, y = _blobs(60)
    y[y == 2] = 1
    y[:3] = 2
    message = "y has 3 labelled rows of class 2, fewer than the 5 folds of the audit: using 3 folds"
    with pytest.warns(UserWarning, match=message):
        audit = audit_labels(X, y)
    assert audit.n_folds == 3
    assert "quadratic" not in audit.expert_names


def test_a_class_of_one_row_is_an_error():
    X, y = _blobs(60)
    y[5] = 7
    with pytest.raises(ValueError, match="y has only one labelled row of class 7, and its label cannot be judged"):
        audit_labels(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "magic"}, "engine='magic': give one of 'transitions', 'pooled', 'confident', 'lnt'"),
        ({"experts": RidgeClassifier()}, r"'RidgeClassifier' \(RidgeClassifier\), which has no predict_proba"),
        ({"experts": {"best": object()}}, r"'best' \(object\), which has no predict_proba"),
        ({"experts": []}, "experts is empty"),
        ({"n_folds": 1}, "n_folds=1: give at least 2"),
        ({"probabilities": np.ones((60, 2)) / 2}, r"shape \(60, 2\), but y has 60 rows and 3 classes \(0, 1, 2\)"),
        ({"probabilities": np.ones((59, 3)) / 3}, r"shape \(59, 3\), but y has 60 rows"),
        ({"probabilities": np.ones(60)}, r"shape \(60,\), but y has 60 rows"),
        ({"probabilities": np.ones((60, 3))}, r"sum to \[3\.0\], not to 1, in row 0 \(60 such rows\)"),
        ({"probabilities": np.full((60, 3), np.nan)}, "missing values in 60 rows, first in row 0"),
        ({"probabilities": np.tile([1.5, -0.5, 0.0], (60, 1))}, "negative or missing values in 60"),
        (
            {"probabilities": np.ones((60, 3)) / 3, "experts": GaussianNB()},
            "experts is given together with probabilities: give one of them",
        ),
        ({"engine": "lnt", "experts": GaussianNB()}, "experts cannot be used with engine='lnt'"),
        ({"engine": "lnt", "probabilities": np.ones((60, 3)) / 3}, "probabilities cannot be used with engine='lnt'"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        audit_labels(*_blobs(60), **options)


def test_bad_labels_are_named():
    X, y = _blobs(60)
    with pytest.raises(ValueError, match="y has only one class"):
        audit_labels(X, np.zeros(60, dtype=int))
    with pytest.raises(ValueError, match=r"y has shape \(60, 3\), class probabilities"):
        audit_labels(X, np.eye(3)[y])
    with pytest.raises(ValueError, match="y cannot be audited: no target is given"):
        audit_labels(X, None)
    with pytest.raises(ValueError, match="X is None: give a table, or probabilities"):
        audit_labels(None, y)
    with pytest.raises(ValueError, match="y has 59 rows and X has 60"):
        audit_labels(X, y[:-1])
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="contains infinity in 1 row of column 1, first in row 3"):
        audit_labels(X, y)


# --- ready probabilities


@pytest.mark.parametrize("engine", ["pooled", "confident"])
def test_ready_probabilities_take_the_place_of_experts(engine):
    X, y = _blobs(90)
    noisy = flip_labels(y, 0.2, random_state=0)
    said = out_of_fold_probabilities(X, noisy, 3, {"bayes": GaussianNB()}).probabilities
    own = audit_labels(X, noisy, engine=engine, experts={"bayes": GaussianNB()})
    for ready in (said, said[0]):
        audit = audit_labels(None, noisy, engine=engine, probabilities=ready)
        np.testing.assert_allclose(audit.probabilities, own.probabilities, rtol=1e-6)
        assert audit.n_folds == 0


# --- the pool


def test_pool_maximises_the_literal_likelihood():
    X, y = _blobs(60, spread=3.0)
    noisy = flip_labels(y, 0.2, random_state=0)
    said = out_of_fold_probabilities(X, noisy, 3, {"a": GaussianNB(), "b": KNeighborsClassifier(7)}).probabilities
    priors = np.bincount(noisy) / 60
    logs = np.log((said + pooled.FLOOR * priors) / (1 + pooled.FLOOR) + 1e-12)
    for flips in (True, False):
        pool = pool_experts(said, noisy, flips=flips)
        assert not flips or 0.01 < pool.flip_rate < 0.5
        best = naive.pooled_log_likelihood(logs, noisy, pool.weights, pool.flip_rate)
        for weights, rate in (
            (pool.weights * 1.05, pool.flip_rate),
            (pool.weights + np.array([0.05, 0.0]), pool.flip_rate),
            (pool.weights + np.array([0.0, 0.05]), pool.flip_rate),
            (pool.weights, pool.flip_rate * 0.9),
        ):
            assert naive.pooled_log_likelihood(logs, noisy, weights, rate) <= best + 1e-9
        if flips:
            slope = approx_fprime(
                [pool.flip_rate], lambda r, w=pool.weights: naive.pooled_log_likelihood(logs, noisy, w, r[0]), 1e-6
            )
            assert abs(slope[0]) < 1e-3


def test_pooled_memberships_are_bayes_rule():
    rng = np.random.default_rng(0)
    said = rng.dirichlet(np.ones(3), size=(2, 50))
    codes = rng.integers(-1, 3, 50)
    pool = pool_experts(said, codes, flips=True)
    for i in range(50):
        expected = pool.opinions[i].copy()
        if codes[i] >= 0:
            expected *= [1 - pool.flip_rate if k == codes[i] else pool.flip_rate / 2 for k in range(3)]
        np.testing.assert_allclose(pool.memberships[i], expected / expected.sum(), rtol=1e-12)


# --- confident learning


@given(st.integers(0, 10_000), st.integers(2, 5), st.floats(0.05, 3.0))
def test_confident_learning_is_cleanlabs(seed, n_classes, concentration):
    count = pytest.importorskip("cleanlab.count")
    filters = pytest.importorskip("cleanlab.filter")
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 60)])
    said = rng.dirichlet(np.full(n_classes, concentration), size=len(codes))
    said[np.arange(len(codes)), codes] += 0.3
    said /= said.sum(axis=1, keepdims=True)
    ours = confident_count(said, codes)
    np.testing.assert_array_equal(
        ours.doubtful, filters.find_label_issues(codes, said, filter_by="confident_learning", n_jobs=1)
    )
    np.testing.assert_allclose(ours.thresholds, count.get_confident_thresholds(codes, said), rtol=1e-12)
    raw = count.compute_confident_joint(codes, said, calibrate=False).astype(float)
    np.testing.assert_allclose(ours.joint, raw / raw.sum(axis=1, keepdims=True) * np.bincount(codes)[:, None])


# --- the record


def test_the_frame_has_the_tables_own_index():
    X, y = _blobs(30)
    names = [f"row {i}" for i in range(30)]
    labels = y.astype(object)
    labels[4] = None
    audit = audit_labels(pd.DataFrame(X, index=names), labels, experts=GaussianNB())
    frame = audit.to_frame()
    assert list(frame.index) == names
    assert list(frame.columns) == ["given", "suggested", "disagreement", "doubtful", "rank"]
    assert pd.isna(frame.loc["row 4", "rank"])
    assert frame.loc["row 4", "given"] is None
    first = frame.sort_values("rank").iloc[0]
    assert first["disagreement"] == frame["disagreement"].max()
    assert list(audit.classes_frame().columns) == ["rows", "doubtful"]
    by_class = audit.with_anchor(Anchor.of(0.1)).classes_frame()
    assert by_class["rows"].tolist() == [10, 9, 10]
    np.testing.assert_allclose(by_class[[f"labelled {k}" for k in range(3)]].sum(axis=1), 1.0)
    from_y = audit_labels(X, pd.Series(y, index=names), experts=GaussianNB())
    assert list(from_y.to_frame().index) == names


def test_the_record_cannot_be_changed():
    audit = audit_labels(*_blobs(30), experts=GaussianNB())
    with pytest.raises(dataclasses.FrozenInstanceError):
        audit.engine = "other"
    with pytest.raises(ValueError, match="read-only"):
        audit.probabilities[0] = 0.0


def test_the_callers_arrays_are_untouched():
    X, y = _blobs(30)
    X, before = np.asfortranarray(X), X.copy()
    X.setflags(write=False)
    y.setflags(write=False)
    audit_labels(X, y, experts=GaussianNB())
    np.testing.assert_array_equal(X, before)


def test_progress_is_told():
    seen = []
    audit_labels(*_blobs(30), experts=GaussianNB(), progress=lambda *what: seen.append(what))
    assert seen == [("experts", fold, 5) for fold in range(1, 6)]


def test_ready_probabilities_are_in_sorted_order_even_for_a_categorical():
    names = np.array(["low", "mid", "high"])
    y = names[np.arange(90) % 3]
    P = np.where(np.sort(names)[None, :] == y[:, None], 0.9, 0.05)
    plain = audit_labels(None, y, probabilities=P, engine="confident")
    declared = pd.Series(pd.Categorical(y, categories=names.tolist()))
    ordered = audit_labels(None, declared, probabilities=P, engine="confident")
    assert list(ordered.classes) == names.tolist()
    np.testing.assert_allclose(ordered.probabilities[:, np.argsort(names)], plain.probabilities)
    assert not ordered.doubtful.any()


def test_labels_of_noise_cannot_be_judged():
    rng = np.random.default_rng(0)
    judged = 0
    for _ in range(10):
        X, y = rng.normal(size=(120, 12)), rng.integers(0, 2, 120)
        audit = audit_labels(X, y, experts=[GaussianNB(), LogisticRegression()])
        judged += audit.judged
        if not audit.judged:
            assert not audit.doubtful.any() and audit.share_high == 1
            assert "cannot be judged" in str(audit)
    assert judged <= 1


def test_wrong_labels_of_one_class_are_flagged():
    """Half of the labels that are wrong belong to one class: a single rate for all classes flags nobody."""
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 3
    X = rng.normal(size=(300, 4)) + 4 * np.eye(3)[truth] @ rng.normal(size=(3, 4))
    y = truth.copy()
    wrong = np.flatnonzero(truth == 0)[:25]
    y[wrong] = 1
    audit = audit_labels(X, y)
    assert audit.doubtful[wrong].mean() > 0.5
    assert (y != truth)[audit.doubtful].mean() > 0.5
    flips = audit.with_anchor(Anchor.of(25 / 300)).flip_matrix
    assert flips[0, 1] > 0.1 > flips[2, 1]
    assert 0 < audit.skills["pool"] < 1


def _more_columns_than_labels_can_judge():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 150))
    truth = (X[:, 0] + X[:, 1] > 0) + 0
    return X, truth, np.where(rng.random(150) < 0.2, 1 - truth, truth)


def test_more_columns_than_rows_do_not_make_the_audit_sure():
    X, truth, y = _more_columns_than_labels_can_judge()
    audit = audit_labels(X, y)
    flagged = audit.doubtful
    assert (
        not flagged.any()
        or abs(audit.with_anchor(Anchor.of(0.2)).wrong[flagged].mean() - (y != truth)[flagged].mean()) < 0.2
    )


def test_transitions_equal_a_literal_maximum():
    rng = np.random.default_rng(0)
    said = rng.dirichlet(np.ones(3), size=(2, 60))
    codes = rng.integers(0, 3, 60)
    model = fit_transitions(said, codes)
    best = naive.transitions_objective(said, codes, model.weights, model.rates)
    for _ in range(50):
        weights = np.maximum(model.weights + rng.normal(0, 0.05, 2), 0)
        rates = np.abs(model.rates * np.exp(rng.normal(0, 0.1, (3, 3))))
        rates /= rates.sum(axis=1, keepdims=True)
        assert naive.transitions_objective(said, codes, weights, rates) <= best + 1e-4


def test_constant_columns_change_nothing():
    """A forest draws its columns at random: one that says nothing must not change the draw."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    classes, numbers = (X[:, 0] + rng.normal(size=90) > 0).astype(int), X[:, 0] + 0.5 * rng.normal(size=90)
    more = np.column_stack([X[:, :2], np.full(90, 7.0), X[:, 2:]])
    for y in (classes, numbers):
        here, there = audit_labels(X, y), audit_labels(more, y)
        np.testing.assert_array_equal(here.disagreement, there.disagreement)


def test_a_wide_table_says_why_no_label_is_flagged():
    X, _, y = _more_columns_than_labels_can_judge()
    held = audit_labels(X, y)
    assert held.judged and held.held_back and not held.doubtful.any()
    assert "No label is listed: the table has many columns" in str(held)
    free = audit_labels(X[:, :10], y)
    assert not free.held_back and free.doubtful.any() and "many columns" not in str(free)


def test_best_columns_are_those_of_the_f_test():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), rng.integers(3, size=60)
    X[:, 7] += y
    X[:, 11] = 4.0  # constant
    wanted = np.flatnonzero(SelectKBest(f_classif, k=5).fit(np.delete(X, 11, axis=1), y).get_support())
    wanted = np.where(wanted >= 11, wanted + 1, wanted)
    np.testing.assert_array_equal(BestColumns(5).fit(X, y).columns_, wanted)
    assert 11 not in BestColumns(29).fit(X, y).columns_


def test_experts_on_the_best_columns_see_what_main_directions_hide():
    """Three of 300 columns tell the classes; the folds of both kinds of experts are the same."""
    rng = np.random.default_rng(1)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 300))
    X[:, :3] += 1.5 * y[:, None]
    said = out_of_fold(read_problem(X, y), random_state=0)
    right = dict(zip(said.names, said.probabilities[:, np.arange(120), y].mean(axis=1), strict=True))
    assert len(right) == 4 and right["linear, best columns"] > right["linear"] + 0.1
    assert not audit_labels(X, rng.permutation(y)).judged  # no label helps to choose the columns that judge it
