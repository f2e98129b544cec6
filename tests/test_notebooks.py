"""Results show themselves: one short line in a console, a table in a notebook, and no text of a user becomes markup."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from dubio import FisherScore, LinearR2Score, audit_labels, label_tolerance, ordered_classes, stability
from dubio.pipelines import evaluate_selection

HOSTILE = ("<b>ill</b>", "</td><script>alert(1)</script>", "well & <i>")


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = np.arange(120) % 3
    X = pd.DataFrame(rng.normal(size=(120, 3)) + 3.0 * codes[:, None], index=[f"<u>{i}</u>" for i in range(120)])
    given = np.where(np.arange(120) < 40, (codes + 1) % 3, codes)
    return X, given


def test_an_audit(table):
    X, given = table
    audit = audit_labels(X, np.array(HOSTILE, dtype=object)[given])
    assert repr(audit) == f"<LabelAudit: {audit.doubtful.sum()} of 120 labels to look at first>"
    shown = audit._repr_html_()
    assert audit.doubtful.sum() > 20 and f"and {audit.doubtful.sum() - 20} more" in shown
    assert shown.count("<tr") == 1 + 20
    assert not any(mark in shown for mark in ("<b>", "<script", "<i>", "<u>")) and "&lt;b&gt;ill" in shown
    first = int(np.flatnonzero(audit.rank == 1)[0])
    assert shown.index(f"&lt;u&gt;{first}&lt;") == shown.index("&lt;u&gt;")


def test_an_audit_of_ordered_classes_and_of_numbers(table):
    X, given = table
    ordered = audit_labels(X, ordered_classes(given, [0, 1, 2]))
    assert repr(ordered).startswith("<OrderedAudit: ") and len(repr(ordered)) < 70
    assert "steps" in ordered._repr_html_()
    numbers = np.array(X.sum(axis=1))
    numbers[:4] += 30
    audit = audit_labels(X, numbers, target="numbers")
    assert repr(audit) == f"<NumberAudit: {audit.doubtful.sum()} of 120 numbers to look at first>"
    assert audit._repr_html_().count("<tr") == 1 + min(20, audit.doubtful.sum())


def test_an_audit_that_cannot_judge():
    rng = np.random.default_rng(0)
    audit = audit_labels(rng.normal(size=(60, 2)), np.arange(60) % 2)
    assert repr(audit) == "<LabelAudit: the columns do not separate the classes>"
    assert "<table" not in audit._repr_html_() and "cannot be judged" in audit._repr_html_()


def test_a_ranking(table):
    X, given = table
    ranking = FisherScore(n_features_to_select=2).fit(X.to_numpy(), given).to_ranking()
    assert repr(ranking) == "<Ranking of 3 features by FisherScore, 2 kept>"
    assert "<table>" in ranking._repr_html_() and str(ranking).startswith("rank  feature")


def test_an_evaluation(table):
    X, given = table
    names = np.array(HOSTILE, dtype=object)[given]
    found = evaluate_selection(LinearR2Score(), GaussianNB(), X.to_numpy(), names, n_repeats=1, sizes=[1, 3])
    assert len(repr(found)) < 100 and str(found) == found.headline()
    assert found._repr_html_().count("<tr") == 1 + 2 and "<b>" not in found._repr_html_()


def test_a_stability_and_a_tolerance(table):
    X, given = table
    X = X.set_axis(list(HOSTILE), axis=1).reset_index(drop=True)
    sure = stability(FisherScore(n_features_to_select=2), X, given, n_draws=6)
    often = (sure.frequency > 0.5).sum()
    agree = f"agreement of resamples {sure.index.value:.2f}"
    assert repr(sure) == f"<Stability over 6 draws: {agree}, {often} of 3 features kept in most of them>"
    assert "(forecast; " in str(sure) and len(str(sure)) < 500
    best = sure.to_frame()["feature"][0]
    assert f"Kept in most draws, {often} of 3 features: {best} (" in str(sure)
    found = label_tolerance(X, given)
    assert repr(found).startswith("<LabelTolerance of the 3 kept of 3 features, from ")
    assert len(str(found).splitlines()) == 3 and found.in_words(0) in str(found)
    for shown in (sure._repr_html_(), found._repr_html_()):
        assert shown.count("<tr") == 1 + 3 and not any(mark in shown for mark in ("<b>", "<script", "<i>"))
