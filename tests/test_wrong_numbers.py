"""The audit of a numeric target: gross errors found, intervals, numbers that cannot be judged, the command."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import dubio
from dubio.doubt.number_audit import NumberAudit, _mixture
from dubio.errors import InputError
from dubio.simulate import misstate_numbers
from dubio_app.command.run import run
from tests import naive


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = 100 + 20 * (X[:, 0] + np.sin(X[:, 1])) + 4 * rng.normal(size=n)
    wrong = misstate_numbers(y, 0.1, random_state=seed)
    return X, y, wrong, wrong != y


@pytest.fixture(scope="module")
def audited():
    X, y, given, bad = table()
    return dubio.audit_labels(X, given), y, given, bad


def test_gross_errors_are_found(audited):
    audit, y, given, bad = audited
    assert isinstance(audit, NumberAudit) and audit.judged
    assert roc_auc_score(bad, audit.disagreement) > 0.97
    assert audit.doubtful[bad].mean() > 0.8 and bad[audit.doubtful].mean() > 0.8
    assert abs(audit.estimate - 0.1) < 0.05
    np.testing.assert_array_equal(audit.suggested[~audit.doubtful], given[~audit.doubtful])
    found = audit.doubtful & bad
    assert np.abs(audit.suggested - y)[found].mean() < 0.4 * np.abs(given - y)[found].mean()


def test_intervals_hold_nine_of_ten_right_numbers(audited):
    audit, y, _, bad = audited
    inside = ((y >= audit.low) & (y <= audit.high))[~bad]
    assert 0.8 < inside.mean() < 0.98


def test_the_order_of_doubt_is_that_of_the_probability(audited):
    audit = audited[0]
    order = np.argsort(audit.rank)
    assert (np.diff(audit.disagreement[order]) <= 1e-12).all()
    assert list(audit.to_frame().columns) == ["given", "suggested", "low", "high", "disagreement", "doubtful", "rank"]


def test_the_mixture_equals_the_literal_one():
    rng = np.random.default_rng(0)
    z = np.append(rng.standard_t(5, size=40), [8.0, -12.0, 30.0])
    elsewhere = rng.uniform(0.02, 0.05, size=43)
    rate, wrong, _ = _mixture(z, elsewhere)
    expected_rate, expected = naive.wrong_numbers(z, elsewhere, stats.t(5).pdf)
    assert rate == pytest.approx(expected_rate, abs=1e-5)
    np.testing.assert_allclose(wrong, expected, atol=1e-4)


def test_the_spread_follows_the_rows():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(400, 3))
    y = 3 * X[:, 1] + np.where(X[:, 0] > 0, 1.5, 0.15) * rng.normal(size=400)
    spread = dubio.audit_labels(X, y).spread
    assert np.median(spread[X[:, 0] > 0]) > 2 * np.median(spread[X[:, 0] < 0])


def test_noise_cannot_be_judged():
    rng = np.random.default_rng(0)
    audit = dubio.audit_labels(rng.normal(size=(100, 5)), rng.normal(size=100))
    assert not audit.judged and not audit.doubtful.any() and audit.share_high == 1
    assert "cannot be judged" in str(audit)


def test_missing_numbers_are_suggested_and_the_order_of_rows_does_not_matter():
    X, y, given, _ = table(120)
    given[::6] = np.nan
    audit = dubio.audit_labels(X, given)
    assert np.isnan(audit.disagreement[::6]).all() and np.corrcoef(audit.suggested[::6], y[::6])[0, 1] > 0.7
    order = np.random.default_rng(0).permutation(120)
    np.testing.assert_allclose(dubio.audit_labels(X[order], given[order]).predicted, audit.predicted[order], rtol=1e-9)


def test_what_cannot_be_is_said():
    X, _, given, _ = table(60)
    with pytest.raises(InputError, match="y has 10 rows with a number"):
        dubio.audit_labels(X[:10], given[:10])
    with pytest.raises(InputError, match="same value"):
        dubio.audit_labels(X, np.full(60, 1.5))
    with pytest.raises(InputError, match="engine cannot be used: the target is numeric"):
        dubio.audit_labels(X, given, engine="pooled")
    whole = np.round(given).astype(int)
    assert isinstance(dubio.audit_labels(X, whole, target="numbers"), NumberAudit)


@pytest.mark.thorough
def test_the_command(tmp_path, capsys):
    X, _, given, bad = table(120)
    path, report = tmp_path / "numbers.csv", tmp_path / "page.html"
    pd.DataFrame(X, columns=list("abcd")).assign(level=given).to_csv(path, index=False)
    assert run(["audit", str(path), "-t", "level", "--json", "--report", str(report)]) == 0, capsys.readouterr().err
    said = json.loads(capsys.readouterr().out)
    assert said["engine"] == "numbers" and said["judged"]
    assert {row["row"] - 1 for row in said["rows"]} & set(np.flatnonzero(bad))
    assert "rows the models disagree with the number" in report.read_text()
    assert run(["audit", str(path), "-t", "level", "--share", "10%"]) == 0
    assert "P(wrong)" in capsys.readouterr().out
