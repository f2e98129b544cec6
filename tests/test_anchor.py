"""An audit accuses nobody until it is anchored; then its probabilities are those of the share that is known."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from sklearn.naive_bayes import GaussianNB

from dubio import FeatureSelector, InputError, audit_labels, ordered_classes
from dubio.doubt.anchor import _SLOPE, Anchor
from dubio.plots import LabelAuditDisplay
from dubio.words import COLUMNS
from dubio_app.command.run import run
from dubio_app.report import write_report

#: What no screen of an audit without an anchor may say.
ACCUSES = r"(?i)wrong with|probabilit|likely wrong|estimated share|p\(wrong\)|error.rate"
ACCUSES += r"|looks? wrong|(?<!hether )\b\w+ (?:is|are) wrong|wrong (?:labels|numbers)|mislabel|mistaken|is off\b"


def _overlapping(n=160, seed=0):
    """Two classes that overlap; no label is wrong."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["well", "ill"], n // 2)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["age", "dose", "mass"])
    X["age"] += 1.5 * (y == "ill")
    return X, y


# --- the map from disagreement to P(wrong)


def test_probabilities_have_the_share_as_their_mean_and_keep_the_order():
    rng = np.random.default_rng(0)
    doubt = np.append(rng.beta(0.5, 2, 200), [np.nan, 0.0])
    for share in (0.001, 0.05, 0.4, 0.9):
        wrong = Anchor.of(share).wrong(doubt)
        assert np.nanmean(wrong) == pytest.approx(share, abs=1e-9)
        assert np.isnan(wrong[-2]) and wrong[-1] == 0
        assert (np.diff(wrong[:-2][np.argsort(doubt[:-2])]) >= 0).all()
    assert (Anchor.of(0).wrong(doubt[:200]) == 0).all()
    assert (Anchor.of(0.5).wrong(np.zeros(4)) == 0).all() and np.isnan(Anchor.of(0.5).wrong(np.full(2, np.nan))).all()
    assert np.isfinite(Anchor.of(1e-300).wrong(doubt[:200])).all()


def test_the_map_is_the_literal_one():
    doubt = np.array([0.02, 0.3, 0.5, 0.97])
    literal = []
    shift = brentq(lambda a: sum(1 / (1 + np.exp(-a) * ((1 - d) / d) ** _SLOPE) for d in doubt) - 4 * 0.3, -50, 50)
    for d in doubt:
        literal.append(1 / (1 + np.exp(-shift) * ((1 - d) / d) ** _SLOPE))
    np.testing.assert_allclose(Anchor.of(0.3).wrong(doubt), literal, rtol=1e-9)


def test_rows_that_were_looked_at_correct_how_steep_the_map_is():
    doubt = np.linspace(0.01, 0.99, 99)
    known = np.full(99, np.nan)
    known[::3] = doubt[::3] > 0.7  # as steep as can be
    usual, steep = Anchor.of(0.3), Anchor(0.3, 0.2, 0.4, "checked", outcomes=known)
    assert steep.wrong(doubt)[-1] > usual.wrong(doubt)[-1] and np.nanmean(steep.wrong(doubt)) == pytest.approx(0.3)
    known[::3] = np.arange(33) % 3 == 0  # whatever the models say
    flat = Anchor(0.3, 0.2, 0.4, "checked", outcomes=known, weights=np.ones(99))
    assert flat.wrong(doubt)[-1] < usual.wrong(doubt)[-1]


@pytest.mark.parametrize("share", [-0.1, 1.0, "10 %", (0.2, 0.1), (0.1, 0.2, 0.3), [], np.nan, True, {}, np.array(0.1)])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(InputError, match="share"):
        audit_labels(*_overlapping(), share=share, experts=GaussianNB())


# --- the audit


def test_without_an_anchor_nothing_is_said_of_wrong_labels():
    X, y = _overlapping()
    audit = audit_labels(X, y, experts=GaussianNB())
    assert not audit.anchored and audit.share_low == 0 < audit.share_high < 1
    for name in ("wrong", "error_rate", "error_rates", "flip_matrix"):
        with pytest.raises(InputError, match=rf"{name} is not known.*share=.*checked="):
            getattr(audit, name)
    numbers = audit_labels(X, X["age"] + 0.1 * np.sin(np.arange(160)))
    for name in ("wrong", "error_rate"):
        with pytest.raises(InputError, match=rf"{name} is not known.*share=.*checked="):
            getattr(numbers, name)


def test_an_anchor_changes_neither_order_nor_list_and_all_figures_agree():
    X, y = _overlapping()
    plain = audit_labels(X, y, experts=GaussianNB())
    for share in (0.05, (0.02, 0.2)):
        audit = audit_labels(X, y, experts=GaussianNB(), share=share)
        middle = np.mean(share)
        assert audit.anchored and audit.error_rate == middle == pytest.approx(audit.wrong.mean())
        assert (audit.share_low, audit.share_high) == (np.min(share), np.max(share))
        np.testing.assert_array_equal(audit.rank, plain.rank)
        np.testing.assert_array_equal(audit.doubtful, plain.doubtful)
        np.testing.assert_allclose(audit.probabilities.sum(axis=1), 1.0)
        by_class = [audit.wrong[audit.given == name].mean() for name in audit.classes]
        np.testing.assert_allclose(audit.error_rates, by_class)
        np.testing.assert_allclose(audit.flip_matrix.sum(axis=1), 1.0)
        assert list(audit.to_frame().columns[:3]) == ["given", "suggested", "wrong"]
        again = audit.with_anchor(Anchor.of(share))
        np.testing.assert_allclose(again.wrong, audit.wrong)
    none = audit_labels(X, y, experts=GaussianNB(), share=0)
    assert (none.wrong == 0).all() and none.error_rate == 0
    numbers = audit_labels(X, X["age"] + 0.1 * np.sin(np.arange(160)), share=0.1)
    assert numbers.error_rate == 0.1 and numbers.wrong.mean() == pytest.approx(0.1)


def test_a_share_is_split_over_the_classes_by_the_errors_that_the_engine_counts():
    X, y = _overlapping()
    plain = audit_labels(X, y, experts=GaussianNB())
    errors = plain.joint.sum(axis=1) - plain.joint.diagonal()
    slope = 2.4 / (2 * (errors**2).sum() / errors.sum() ** 2)
    for share in (0.02, 0.1):
        found = plain.with_anchor(Anchor.of(share))
        of_classes = np.bincount(found.codes, found.wrong)
        np.testing.assert_allclose(of_classes, share * len(y) * errors**1.5 / (errors**1.5).sum(), rtol=1e-9)
        for code in range(2):  # within a class, the literal map
            rows = found.codes == code
            literal = replace(Anchor.of(of_classes[code] / rows.sum()), slope=slope).wrong(plain.disagreement[rows])
            np.testing.assert_allclose(found.wrong[rows], literal)
    # more wrong labels than a class has rows: the share is that of all rows alike
    lone = plain.with_anchor(Anchor.of(0.9))
    whole = Anchor.of(0.9).wrong_in_classes(plain.disagreement, plain.codes, np.array([1.0, 0.0]))
    np.testing.assert_allclose(whole, replace(Anchor.of(0.9), slope=1.2).wrong(plain.disagreement))
    assert lone.wrong.mean() == pytest.approx(0.9)


def test_anchored_probabilities_are_right_as_often_as_they_say():
    """Two classes that overlap, and two in five labels of one class are wrong: deciles of six tables."""
    said, alike, truth = [], [], []
    for seed in range(6):
        rng = np.random.default_rng([36, seed])
        y = np.arange(300) % 2
        X = rng.normal(size=(300, 4)) + 1.5 * y[:, None] * [1, 1, 0, 0]
        given = np.where((y == 0) & (rng.random(300) < 0.4), 1, y)
        audit, anchor = audit_labels(X, given, n_jobs=1), Anchor.of(float((given != y).mean()))
        said.append(audit.with_anchor(anchor).wrong)
        alike.append(anchor.wrong(audit.disagreement))
        truth.append(given != y)

    def off(found):
        parts = np.array_split(np.argsort(found, kind="stable"), 10)
        return np.mean([abs(found[part].mean() - np.concatenate(truth)[part].mean()) for part in parts])

    assert off(np.concatenate(said)) < 0.06
    assert off(np.concatenate(alike)) > 0.09, "a share that is not split over the classes is not good enough"


def test_ready_probabilities_and_labels_that_cannot_be_judged_are_anchored_too():
    _, y = _overlapping()
    ready = np.random.default_rng(0).dirichlet(np.ones(2), 160)
    audit = audit_labels(None, y, probabilities=ready, share=0.1)
    assert audit.wrong.mean() == pytest.approx(0.1) and "10 % of the labels are wrong" in str(audit)
    assert not audit.judged and audit_labels(None, y, probabilities=ready).share_high == 1


# --- the screens


def _texts(audit):
    return [str(audit), repr(audit), audit._repr_html_(), *audit.to_frame().columns]


def test_no_object_without_an_anchor_accuses():
    X, y = _overlapping()
    grades = pd.cut(X["age"], 3, labels=False).to_numpy().copy()
    grades[::20] = 2 - grades[::20]
    audits = [
        audit_labels(X, y, experts=GaussianNB()),
        audit_labels(X, ordered_classes(grades, order=[0, 1, 2]), experts=GaussianNB()),
        audit_labels(X, X["age"] + np.where(np.arange(160) % 20 == 0, 9.0, 0.0)),
    ]
    for audit in audits:
        assert audit.doubtful.any()
        for text in _texts(audit):
            assert not re.search(ACCUSES, text), text
    labels = audits[0]
    assert not re.search(ACCUSES, " ".join(labels.classes_frame().columns))
    display = LabelAuditDisplay.from_audit(labels)
    drawn = [display.ax_.get_title(), display.ax_.get_xlabel(), display.ax_.get_ylabel()]
    assert not re.search(ACCUSES, " ".join(drawn))
    said = " ".join(_texts(labels.with_anchor(Anchor.of(0.1))))
    assert re.search(ACCUSES, said), "the pattern sees nothing"


@pytest.fixture
def table(tmp_path):
    X, y = _overlapping(120)
    path = tmp_path / "patients.csv"
    X.assign(diagnosis=y).to_csv(path, index=False)
    return path


def _seen(page):
    """What a page shows, and the data of its tables."""
    return unescape(re.sub(r"(?s)<style.*?</style>|<script(?! type=.application/json).*?</script>|<[^>]+>", " ", page))


def _accuses(said):
    """The first word that accuses, or gives a probability other than a p-value."""
    return re.search(ACCUSES, " ".join(said.split()).replace(COLUMNS["pvalue"][1], ""))


@pytest.mark.parametrize(
    "kind", ["classes", *(pytest.param(k, marks=pytest.mark.thorough) for k in ("ordered", "numbers"))]
)
def test_no_screen_of_the_command_accuses_without_an_anchor(table, capsys, kind):
    page, frame = table.with_suffix(".html"), pd.read_csv(table)
    if kind != "classes":
        y = frame["age"] + 0.1 * frame["dose"] + np.where(np.arange(120) % 20 == 0, 9.0, 0.0)
        frame["diagnosis"] = pd.cut(y.clip(-2, 3), 4, labels=False) if kind == "ordered" else y
        frame.to_csv(table, index=False)
    target = [str(table), "-t", "diagnosis", "--target-kind", kind]
    for more in ([], ["--all"], ["--csv"], ["--json"], ["--report", str(page)]):
        assert run(["audit", *target, *more]) == 0
        said = capsys.readouterr()
        assert not _accuses(said.out + said.err), _accuses(said.out + said.err)
        assert "disagree" in said.out
    shown = _seen(page.read_text(encoding="utf-8"))
    assert "only checking can tell" in shown
    assert not _accuses(shown), _accuses(shown)


@pytest.mark.thorough
def test_no_screen_of_a_ranking_and_no_help_accuses(table, capsys):
    page = table.with_suffix(".html")
    assert run(["rank", str(table), "-t", "diagnosis", "--no-tolerance", "--report", str(page)]) == 0
    said = capsys.readouterr()
    shown = _seen(page.read_text(encoding="utf-8"))
    assert "only checking can tell" in shown
    assert not _accuses(said.out + said.err + shown), _accuses(said.out + said.err + shown)
    assert run(["audit", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    anchors = "Share of wrong labels, if you know it, or from where to where it reaches. Each label then gets the "
    assert anchors in shown  # the one option that gives probabilities anchors them
    assert not _accuses(shown.replace(anchors + "probability that it is wrong.", ""))


def test_the_command_takes_a_share(table, capsys):
    assert run(["audit", str(table), "-t", "diagnosis", "--share", "5%-15%", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["anchored"] and found["error_rate"] == pytest.approx(0.1)
    assert (found["share_low"], found["share_high"]) == (0.05, 0.15) and "wrong" in found["rows"][0]
    assert run(["audit", str(table), "-t", "diagnosis", "--share", "0.1"]) == 0
    assert "P(wrong)" in capsys.readouterr().out
    for bad in ("10", "x", "20%-10%", "1-2-3"):
        assert run(["audit", str(table), "-t", "diagnosis", "--share", bad]) == 2
        assert f"--share '{bad}'" in capsys.readouterr().err


def test_the_front_of_a_report_says_one_sentence_about_labels(tmp_path):
    X, y = _overlapping()
    selector = FeatureSelector("linear_r2").fit(X, y)
    audit = audit_labels(X, y, experts=GaussianNB())
    write_report(tmp_path / "page.html", selector, X, y, audit=audit)
    front = _seen((tmp_path / "page.html").read_text(encoding="utf-8").split("<section")[1])
    about = [one.strip() for one in front.split(".") if "label" in one]
    assert len(about) == 1 and about[0].endswith("rows the models disagree with the label: look at them first")
