"""Features that are related to how rows were labelled."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dubio import FeatureSelector, InputError, audit_labels, label_fingerprints
from dubio.doubt import doubt_test
from dubio.problem import read_problem
from dubio.target.soft import krippendorff_alpha
from dubio_app.command.run import run
from dubio_app.report import render_report
from dubio_app.report.findings import gather


def planted(seed: int, *, by_column: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """300 rows; the last column decides where one of five annotators is wrong, or nothing does (as many errors)."""
    rng = np.random.default_rng(seed)
    truth = np.arange(300) % 2
    X = rng.normal(size=(300, 8))
    X[:, :3] += 1.8 * truth[:, None]
    who = rng.integers(0, 5, 300)
    given = truth.copy()
    own = np.flatnonzero(who == 0)
    rows = own[np.argsort(-X[own, -1])][: len(own) // 2] if by_column else rng.permutation(300)[: len(own) // 2]
    given[rows] = 1 - given[rows]
    return X, given, np.array(["ann", "bob", "cyd", "dee", "eve"])[who]


def test_planted_fingerprint_is_found_with_its_annotator() -> None:
    X, y, who = planted(0)
    found = label_fingerprints(X, y, annotators=who)
    assert found.annotator.tolist() == [""] * 7 + ["ann"]
    assert "x7" in str(found) and "ann" in str(found)
    assert found.columns()["doubt"] is found.doubt and np.isnan(found.agreement)
    assert found.n_labels.sum() == 300 and found.confusions.sum() == pytest.approx(300)
    ann = found.confusions[found.annotators.index("ann")]
    assert ann.trace() < 0.75 * ann.sum()


@pytest.mark.thorough
def test_fair_errors_are_no_fingerprint() -> None:
    alarms = 0
    for seed in range(6):
        X, y, who = planted(seed, by_column=False)
        alarms += label_fingerprints(X, y, annotators=who).marked.any()
    assert alarms <= 1


def where_low() -> tuple[np.ndarray, np.ndarray]:
    """Three classes; half of the labels are wrong where the last of six columns is low."""
    rng = np.random.default_rng(3)
    truth = np.arange(300) % 3
    X = rng.normal(size=(300, 6))
    X[:, :3] += 4 * (truth[:, None] == np.arange(3))
    return X, np.where((X[:, 5] < -0.5) & (rng.random(300) < 0.5), (truth + 1) % 3, truth)


def test_fingerprint_without_annotators() -> None:
    X, y = where_low()
    found = label_fingerprints(X, y)
    assert found.related.tolist() == [False] * 5 + [True]
    assert "x5: labels are more doubtful where it is low. Only checked rows settle" in str(found)
    assert found.annotators == () and "annotator" not in found.columns()


def test_fingerprint_in_votes_needs_no_experts() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(150) % 2
    X = rng.normal(size=(150, 5))
    X[:, 0] += truth
    votes = np.repeat(truth[:, None], 4, axis=1)
    votes = np.where(rng.random(votes.shape) < 0.1, 1 - votes, votes)
    votes[:, 2] = np.where(X[:, 4] > 0.5, 1 - truth, votes[:, 2])
    frame = pd.DataFrame(np.where(votes == 1, "ill", "well"), columns=["ann", "bob", "cyd", "dee"])
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    found = label_fingerprints(X, annotators=frame)
    assert found.annotator[4] == "cyd" and set(found.annotator[:4]) == {""}
    assert 0 < found.agreement < 1
    assert found.classes.tolist() == ["ill", "well"]


def test_feature_that_is_kept_only_because_of_one_annotator() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 5))
    X[:, 0] += 2 * truth
    who = np.arange(400) % 4
    y = np.where(who == 1, X[:, 4] > 0, truth).astype(int)  # this annotator looks at the wrong column
    found = label_fingerprints(X, y, annotators=who)
    assert found.only_because.tolist() == ["", "", "", "", "1"]
    assert "kept only because of the labels of 1" in found.in_words(4)


def test_krippendorff_alpha_of_a_worked_example() -> None:
    """The coincidences of every pair of votes of a row, counted one by one."""
    rng = np.random.default_rng(0)
    votes = rng.integers(-1, 3, size=(12, 4))
    coincidence = np.zeros((3, 3))
    for row in votes:
        given = [v for v in row if v >= 0]
        for i, a in enumerate(given):
            for j, b in enumerate(given):
                if i != j:
                    coincidence[a, b] += 1 / (len(given) - 1)
    totals = coincidence.sum(axis=1)
    n = totals.sum()
    observed = (n - coincidence.trace()) / n
    expected = sum(totals[a] * totals[b] for a in range(3) for b in range(3) if a != b) / (n * (n - 1))
    assert krippendorff_alpha(votes) == pytest.approx(1 - observed / expected)
    assert krippendorff_alpha(np.array([[0, 0], [1, 1]])) == 1.0
    assert np.isnan(krippendorff_alpha(np.array([[0, -1], [1, -1]])))
    assert np.isnan(krippendorff_alpha(np.array([[0, 0], [0, 0]])))


def test_fingerprints_refuse_what_they_cannot_use() -> None:
    X, y, who = planted(0)
    with pytest.raises(InputError, match="annotators"):
        label_fingerprints(X, y, annotators=who[:-1])
    with pytest.raises(InputError, match="fewer than two"):
        label_fingerprints(X, y, annotators=["ann"] * 300)
    with pytest.raises(InputError, match="y is missing"):
        label_fingerprints(X)
    with pytest.raises(InputError, match="one class per row"):
        label_fingerprints(X, np.column_stack([1 - y, y]) * 0.8 + 0.1)


def test_report_and_command_name_the_annotator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y, who = planted(0)
    who = np.where(who == "ann", "<script>alert(1)</script>", who)
    names = [*(f"f{j}" for j in range(7)), "scanner"]
    table = pd.DataFrame(X, columns=names).assign(kind=np.where(y == 1, "ill", "well"), who=who)
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    page = tmp_path / "t.html"
    assert run(["audit", str(path), "-t", "kind", "--annotator", "who", "--report", str(page), "--json"]) == 0
    printed = capsys.readouterr()
    assert any("scanner" in note for note in json.loads(printed.out)["notes"])
    text = page.read_text(encoding="utf-8")
    section = text.split('id="labellers"')[1].split("</section>")[0]
    assert "<li>scanner: " in section and "errors of &lt;script&gt;alert" in section
    assert text.count("<script") == 2
    assert run(["rank", str(path), "--annotator", "who"]) == 2
    assert "--target too" in capsys.readouterr().err


def test_the_front_of_a_page_names_a_kept_column_along_which_labels_are_doubtful() -> None:
    X, y = where_low()
    selector = FeatureSelector("linear_r2", n_features_to_select=6).fit(X, y)
    more = {"fingerprints": label_fingerprints(X, y), "audit": audit_labels(X, y)}
    front = unescape(render_report(gather(selector, X, y, **more)).split("<section")[1])
    said = [one for one in re.sub(r"<[^>]*>", ". ", front).split(". ") if "label" in one]
    assert len(said) == 1, "the front says one sentence about labels"
    assert "labels are more doubtful along 'x5', and only checked rows settle whether it is related" in said[0]


def test_page_says_when_no_feature_has_a_fingerprint() -> None:
    X, y, _ = planted(2, by_column=False)
    selector = FeatureSelector("linear_r2").fit(X, y)
    page = render_report(gather(selector, X, y, fingerprints=label_fingerprints(X, y)))
    assert "No feature is related to doubt" in page


def test_pvalues_of_features_without_a_fingerprint_are_those_of_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubt_test, "_MOST", 99)
    pvalues = []
    for seed in range(40):
        rng = np.random.default_rng([5, seed])
        y = rng.integers(0, 2, 56)
        X = rng.normal(size=(56, 20))
        X[:, :5] += 1.5 * y[:, None]
        likely = np.clip(1 / (1 + np.exp(-(X[:, :5] - 0.75).sum(axis=1))), 0.02, 0.98)
        given = np.where(rng.random(56) < 0.1, 1 - y, y)
        test = doubt_test.DoubtTest(read_problem(X, given), 0)
        opinions = np.column_stack([1 - likely, likely])
        pvalues.append(test.pvalues(np.arange(56), doubt_test.doubt_of(opinions, given), opinions)[0])
    share = np.mean(np.concatenate(pvalues) <= 0.05)
    assert 0.03 < share < 0.07  # 800 p-values: 0.05 with a standard error of 0.008
