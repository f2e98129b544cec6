"""Extreme numbers, damaged files and other attacks that once broke something."""

from __future__ import annotations

import gzip
import io
import os
import re
import socket
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression

import dubio
from dubio import METHODS, FeatureSelector
from dubio.doubt.experts import rows_in_proportion
from dubio.errors import InputError
from dubio.evidence.permutation import effective_rows
from dubio.neighbors.graphs import TargetNeighbors
from dubio.pipelines import evaluate_selection
from dubio.scores.coherence import select_pairs
from dubio.scores.consensus import redundancy_ranking
from dubio.target.pairs import read_pairs
from dubio_app.command.output import as_csv
from dubio_app.command.run import run
from dubio_app.report import render_report
from dubio_app.report.findings import gather
from dubio_app.whole_files import write_whole
from dubio_papers.store import ResultFile


def _table(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = np.arange(n) % 2
    X[:, 1] += 2 * y
    return X, y


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e-30, 1e-3, 1e30, 1e155, 1e307])
@pytest.mark.parametrize("Score", [dubio.FisherScore, dubio.WeightedLaplacianScore, dubio.LinearSearch])
def test_only_the_ratios_of_weights_matter(Score, factor):
    X, y = _table()
    weights = np.random.default_rng(1).uniform(0.5, 1.0, size=60)
    plain = Score().fit(X, y, sample_weight=weights)
    scaled = Score().fit(X, y, sample_weight=factor * weights)
    np.testing.assert_array_equal(plain.ranking_, scaled.ranking_)
    if Score is dubio.LinearSearch:
        assert scaled.ridge_ == plain.ridge_
    if 1e-100 < factor < 1e100:
        return
    with pytest.raises(ValueError, match="sample_weight has a largest value of"):
        Score().partial_fit(X, y, sample_weight=factor * weights)


@pytest.mark.parametrize("factor", [0.1, 1 / 7, 3.0, 100.0])
@pytest.mark.parametrize("score", [dubio.SupervisedLaplacianScore(), dubio.SemiSupervisedLaplacianScore(n_neighbors=5)])
@pytest.mark.parametrize("known", [1.0, 0.6])
def test_the_unit_of_whole_numbers_does_not_choose_neighbours(score, known, factor):
    rng = np.random.default_rng(3)
    X, repeated, apart = rng.normal(size=(60, 3)), np.arange(60) // 2, rng.permutation(60)
    hidden = rng.random(60) > known
    for y in (repeated, apart):  # many rows are equally near
        here, there = (score.fit(X, np.where(hidden, np.nan, s * y)).scores_ for s in (1.0, factor))
        np.testing.assert_allclose(here, there, rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("method", ["auto", "supervised_laplacian", "linear_r2", "smooth_r2", "linear_search"])
def test_the_scale_of_a_numeric_target_does_not_matter(method, factor):
    X, _ = _table()
    y = X[:, 0] + X[:, 2]
    plain = FeatureSelector(method, n_features_to_select=2).fit(X, y)
    if method == "linear_search":  # it works on sums of squares, which must mean the same in every block
        with pytest.raises(ValueError, match=r"y has values too (small|large) to square"):
            FeatureSelector(method, n_features_to_select=2).fit(X, factor * y)
        return
    scaled = FeatureSelector(method, n_features_to_select=2).fit(X, factor * y)
    np.testing.assert_array_equal(plain.ranking_, scaled.ranking_)


@pytest.mark.parametrize(
    "name", sorted({name for name, one in METHODS.items() if not one.printed} - {"mutual_information_search"})
)
@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e100, 1e149])
def test_the_scale_of_a_column_does_not_matter_or_is_refused_by_name(name, factor):
    X, y = _table()
    target = X[:, 0] + X[:, 2] if METHODS[name].takes[0] == "numbers" else y
    if METHODS[name].takes[0] == "none":
        target = None
    table = pd.DataFrame(X, columns=list("abcd"))
    plain = FeatureSelector(name, n_features_to_select=2).fit(table, target)
    try:
        scaled = FeatureSelector(name, n_features_to_select=2).fit(table.assign(b=factor * table["b"]), target)
    except dubio.errors.InputError as error:
        assert "'b'" in str(error) and "too small to square" in str(error) and factor == 1e-300
        return
    np.testing.assert_array_equal(plain.ranking_, scaled.ranking_)


@pytest.mark.parametrize("Score", [dubio.FisherScore, dubio.LinearSearch, dubio.LaplacianScore])
def test_a_column_of_tiny_numbers_is_refused_by_name(Score):
    X, y = _table()
    X[:, 3] *= 1e-300
    with pytest.raises(ValueError, match="X has values too small to square in column 3"):
        Score().fit(X, y)


def test_large_columns_are_audited():
    X, y = _table()
    plain = dubio.audit_labels(X, y)
    X[:, 3] *= 1e100
    np.testing.assert_allclose(dubio.audit_labels(X, y).disagreement, plain.disagreement, atol=0.2)


@pytest.mark.parametrize("ranks", [[1, 1, 2], [1, np.nan, 3], [-1, 2, 3], [0, 1, 2]])
def test_a_ranking_is_checked(ranks):
    with pytest.raises(ValueError, match="ranking does not hold each rank"):
        redundancy_ranking(_table()[0][:, :3], ranks)


def test_redundancy_never_keeps_a_constant_column():
    rng = np.random.default_rng(0)
    a = rng.normal(size=80)
    X = np.column_stack([a, a + 0.1 * rng.normal(size=80), np.ones(80)])
    fitted = FeatureSelector("fisher", n_features_to_select=2, redundancy=1.0).fit(X, (a > 0) + 0)
    assert fitted.support_.tolist() == [True, True, False]


def _said(capfd, *words):
    code = run([str(word) for word in words])
    return code, capfd.readouterr().err


def test_damaged_files_are_one_line_errors(capfd, tmp_path):
    X, y = _table(400)
    pd.DataFrame(X).assign(y=y).to_csv(tmp_path / "whole.csv", index=False)
    packed = bytearray(gzip.compress((tmp_path / "whole.csv").read_bytes(), mtime=0))
    packed[2000:2100] = bytes(100)
    (tmp_path / "damaged.csv.gz").write_bytes(packed)
    (tmp_path / "cut.csv.gz").write_bytes(packed[:1000])
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1" + bytes(200) + b"PAR1")
    (tmp_path / "damaged.feather").write_bytes(b"ARROW1" + bytes(300) + b"ARROW1")
    for name in ("damaged.csv.gz", "cut.csv.gz", "damaged.parquet", "damaged.feather"):
        code, err = _said(capfd, "rank", tmp_path / name, "-t", "y")
        assert code == 2 and err.count("\n") == 1 and "internal error" not in err, (name, err)


def test_an_empty_target_and_a_closed_output_are_one_line_errors(capfd, tmp_path, monkeypatch):
    X, y = _table()
    pd.DataFrame(X).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    code, err = _said(capfd, "audit", tmp_path / "t.csv", "--target=")
    assert code == 2 and "--target is empty" in err
    monkeypatch.setattr(sys, "stdout", None)
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "y", "-m", "fisher", "-k", "1"]) == 2
    monkeypatch.undo()
    assert "standard output is closed" in capfd.readouterr().err


def test_no_other_file_is_overwritten(capfd, tmp_path):
    X, y = _table()
    pd.DataFrame(X).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "pairs.csv").write_text("a,b,kind\n1,3,must\n1,2,cannot\n")
    words = ["rank", tmp_path / "t.csv", "--pairs", tmp_path / "pairs.csv", "--ignore", "y", "-k", "1"]
    code, err = _said(capfd, *words, "--save-table", tmp_path / "pairs.csv")
    assert code == 2 and "is the file of pairs" in err
    same = tmp_path / "same.csv"
    code, err = _said(capfd, "rank", tmp_path / "t.csv", "-t", "y", "--report", same, "--save-table", same)
    assert code == 2 and "are the same file" in err
    (tmp_path / "old.csv").write_text("mine")
    os.chmod(tmp_path / "old.csv", 0o444)
    if not os.access(tmp_path / "old.csv", os.W_OK):  # the superuser may write anything
        code, err = _said(capfd, "rank", tmp_path / "t.csv", "-t", "y", "--save-table", tmp_path / "old.csv")
        assert code == 2 and "read-only" in err


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink() and Path(tmp_path / "real.txt").read_text() == "new"


@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("Score", [dubio.SupervisedLaplacianScore, dubio.SemiSupervisedLaplacianScore])
def test_rows_with_equal_numbers_are_treated_alike(Score, share):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = np.clip(np.round(5.5 + X[:, 0] + rng.normal(size=400)), 3, 8)
    y[rng.random(400) > share] = np.nan
    order = rng.permutation(400)
    here, there = Score().fit(X, y).scores_, Score().fit(X[order], y[order]).scores_
    np.testing.assert_allclose(here, there, rtol=1e-9)
    assert np.argmin(here) == 0


def test_the_graph_of_equal_numbers_joins_all_or_none():
    y = np.array([1.0, 1, 1, 2, 2, 5, 9])
    graph = TargetNeighbors(y, n_neighbors=2).graph().toarray() > 0
    assert graph[:3, :3].sum() == 6 and not graph[0, 5]  # two others share the number 1
    assert graph[3, :5].tolist() == [True, True, True, False, True]  # one shares 2; the next number is 1, all its rows
    assert (graph == graph.T).all() and not graph.diagonal().any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: dubio.FisherScore().fit(X, [f"n{i}" for i in range(60)]), "a different value in each of its 60"),
        (lambda X, y: FeatureSelector().fit(X, [f"n{i}" for i in range(60)]), "a different value in each of its 60"),
        (lambda X, y: dubio.FisherScore().fit(np.ma.masked_array(X, mask=X > 1), y), "is a masked array"),
        (lambda X, y: dubio.FisherScore().fit(np.zeros((60, 2), dtype="datetime64[s]"), y), "not numbers"),
        (lambda X, y: dubio.CleanedSelector(dubio.FisherScore(), random_state=-1).fit(X, y), "random_state=-1"),
        (lambda X, y: dubio.NeighborSearch(random_state=-1).fit(X, y), "random_state=-1"),
        (
            lambda X, y: dubio.smooth_r2_score(X, np.vstack([[0.5, 0.5], np.full((59, 2), np.nan)])),
            "the same for all 1",
        ),
        (lambda X, y: dubio.FisherScore().fit(np.empty((0, 2)), np.empty((0, 2))), "0 sample"),
        (lambda X, y: dubio.stability(dubio.FisherScore(), None, y), "X is None"),
        (lambda X, y: dubio.stability(dubio.FisherScore(), X, y, n_jobs=np.inf), "n_jobs=inf"),
        (lambda X, y: dubio.stability(dubio.FisherScore(), X, y, random_state=""), "random_state=''"),
        (lambda X, y: dubio.stability("fisher", X, y), "selector is 'fisher'"),
        (lambda X, y: dubio.audit_labels(X, y, n_jobs=np.inf), "n_jobs=inf"),
        (lambda X, y: dubio.audit_labels(X, y, random_state=-1), "random_state=-1"),
        (lambda X, y: dubio.knn_entropy(X, n_jobs=0), "n_jobs=0"),
        (lambda X, y: dubio.FisherScore().fit(X[:, 0], y), "Expected 2D array, got 1D array instead"),
        (lambda X, y: dubio.FisherScore().fit(X * 1j, y), "Complex data not supported"),
        (lambda X, y: dubio.FisherScore().fit([[object()]], [0]), "argument must be a string or a real number"),
        (lambda X, y: dubio.coherence(X, [[0, 1], [2]], None), "must_link holds pairs of different lengths"),
        (lambda X, y: dubio.coherence(X, [[0, 1]], [[1e300, 2]]), "cannot_link has dtype float64"),
        (lambda X, y: dubio.FisherScore().fit(X, y, sample_weight=np.inf), "sample_weight cannot be used"),
        (lambda X, y: dubio.FisherScore().fit(X, y, sample_weight=1j), "sample_weight cannot be used"),
        (lambda X, y: dubio.FisherScore().fit(X, y, sample_weight=np.full(60, np.nan)), "sample_weight cannot be used"),
        (lambda X, y: dubio.FisherScore().fit(pd.DataFrame(X, columns=["a", 1, 2, 3]), y), "names of different types"),
        (lambda X, y: dubio.FisherScore().fit(X, np.empty((60, 0))), "no class"),
        (lambda X, y: dubio.FisherScore().fit(X, np.full((60, 2), 0.5 + 0j)), "complex"),
        (lambda X, y: dubio.LinearSearch().fit(X, np.full((60, 2), 0.5)), "same value in all 60"),
        (lambda X, y: dubio.linear_r2_score(X, y, missing_label=np.array([1, 2])), "missing_label="),
        (lambda X, y: dubio.laplacian_score(X, t=[1]), r"t=\[1\]"),
        (lambda X, y: dubio.supervised_laplacian_score(X, 1e200 * X[:, 0]), "y has values too large to square"),
        (lambda X, y: dubio.select_features(pd.Series(y), y), "Expected a 2-dimensional container"),
        (lambda X, y: redundancy_ranking(X, [1, 2, 3, 4], weight=[1]), "weight="),
        (lambda X, y: redundancy_ranking(X, "ranks"), "ranking does not hold numbers"),
        (lambda X, y: dubio.estimate_memberships(X, y, max_rows=None), "max_rows=None"),
        (lambda X, y: dubio.estimate_memberships(X, y, n_init="auto"), "n_init='auto'"),
        (lambda X, y: dubio.fuzzy_rough_dependency(X, y, implicator=np.array(3.0)), "implicator="),
        (lambda X, y: dubio.noise_tolerant_mutual_information(X, np.eye(2)[y], slack=[1]), "slack="),
        (lambda X, y: dubio.stability(dubio.FisherScore, X, y), "selector is <class"),
        (lambda X, y: dubio.stability(dubio.FisherScore(), X, y, confidence=object()), "confidence="),
        (lambda X, y: dubio.audit_labels(X, y, n_folds=b"x"), "n_folds="),
        (lambda X, y: dubio.audit_labels(3.0, y, probabilities=np.eye(2)[y]), "X is a float"),
        (lambda X, y: dubio.audit_labels(X, y, engine={}), "engine="),
        (lambda X, y: dubio.audit_labels(X, 5e-324 * (1 + y), target="numbers"), "y has numbers that spread by"),
        (lambda X, y: dubio.stability(dubio.FisherScore(), X, y, progress=np.array([1, 2])), "progress="),
        (lambda X, y: dubio.stability(dubio.FisherScore(), X, y, progress=len), "called with 2 arguments"),
        (lambda X, y: dubio.constrained_laplacian_score(X, y, [[0, 2]], [[0, 1]], standardize=[1, 2]), "standardize="),
        (lambda X, y: dubio.constrained_laplacian_score(X, y, [[0, 2]], [[0, 1]], lam="x"), "lam="),
        (
            lambda X, y: dubio.constraint_score(X, [[0, 2]], [[0, 1]], must_link_weights=[1e300]),
            "must_link_weights has a largest value of 1e.300",
        ),
        (lambda X, y: dubio.soft_labels(1), "labels is a int"),
        (lambda X, y: dubio.soft_labels(np.empty((0, 2))), "labels is empty"),
        (lambda X, y: dubio.soft_labels(y, confidence=[[1], [1, 2]]), "does not hold real numbers"),
        (lambda X, y: dubio.soft_labels(y, confidence="y"), "confidence does not hold real numbers"),
        (lambda X, y: dubio.soft_labels(y, confidence=np.full(60, 1j)), "does not hold real numbers"),
    ],
)
def test_odd_input_is_an_error_that_names_it(call, message):
    with pytest.raises(dubio.errors.InputError, match=message):
        call(*_table())


def test_classes_above_half_of_the_unsigned_numbers():
    X, y = _table()
    names = np.where(y == 1, 2**63 + 1, 2**63 + 2).astype(np.uint64)
    np.testing.assert_array_equal(dubio.FisherScore().fit(X, names).scores_, dubio.FisherScore().fit(X, y).scores_)


def test_thousands_of_names_are_refused_before_anything_is_made_for_each(monkeypatch):
    monkeypatch.setattr("dubio.target.classes.Classes.memberships", property())  # whoever makes them fails
    X = np.random.default_rng(0).normal(size=(6000, 2))
    names = [f"patient {i // 4}" for i in range(6000)]
    message = r"y holds 1500 different values in 6000 labelled rows, such as 'patient 0': is it an identifier\?"
    for call in (dubio.FeatureSelector().fit, dubio.FisherScore().fit, dubio.audit_labels, dubio.fisher_score):
        with pytest.raises(dubio.errors.InputError, match=message):
            call(X, names)
    numbers = np.arange(6000) // 4
    assert (
        dubio.FeatureSelector(n_features_to_select=1, method="linear_r2").fit(X, numbers).supervision_.kind == "numbers"
    )


def test_many_classes_with_many_rows_each_are_classes():
    X = np.random.default_rng(0).normal(size=(11_000, 1))
    assert len(dubio.FisherScore().fit(X, np.arange(11_000) % 1100).classes_) == 1100


def test_memberships_that_do_not_fit_are_refused(monkeypatch):
    X, _ = _table()
    monkeypatch.setattr("dubio.checks.free_bytes", lambda: 1000)
    monkeypatch.setattr("dubio.target.classes._CELLS_THAT_FIT", 100)
    with pytest.raises(ValueError, match="y is too large for memberships of 60 rows in 20 classes"):
        dubio.WeightedLaplacianScore().fit(X, np.arange(60) % 20)


def test_no_pairs_at_all_have_no_coherence():
    together, apart = dubio.coherence(_table()[0], None, None)
    assert together.shape == apart.shape == (0,)


def test_text_that_looks_like_a_formula_is_inert_in_csv(capfd, tmp_path):
    X, y = _table()
    formulas = ["=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "\ttab"]
    pd.DataFrame(X, columns=formulas).assign(y=y, n="-2").to_csv(tmp_path / "t.csv", index=False)
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "y", "-m", "fisher", "-k", "1", "--csv", "--ignore", "n"]) == 0
    found = pd.read_csv(io.StringIO(capfd.readouterr().out))["feature"]
    assert sorted(found) == sorted(f"'{name}" for name in formulas)
    assert as_csv([{"cell": "-2.5"}, {"cell": "+1e5"}, {"cell": -3}, {"cell": "-"}]) == "cell\n-2.5\n+1e5\n-3\n'-\n"


@pytest.mark.parametrize("value", [1e25, -1e25, 1e149, 1e-300, 0.0])
def test_the_report_of_a_constant_column(value, tmp_path):
    X, y = _table(100)
    X[:, 3] = value
    selector = FeatureSelector("fisher", n_features_to_select=4).fit(X, y)
    assert "nan" not in re.findall(r'(?:cx|cy|x|y|points)="([^"]*)"', render_report(gather(selector, X, y)))


def test_a_result_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """A disk that takes only a part of a line: first slowly, then not at all."""
    store, write = ResultFile(tmp_path, "toy"), os.write
    monkeypatch.setattr("dubio_papers.store.os.write", lambda handle, data: write(handle, data[:5]))
    with store.append() as add:
        add({"cell": "a", "repetition": 0})
    full = iter([5, 5])

    def refuse(handle, data):
        if next(full, None) is None:
            raise OSError(28, "No space left on device")
        return write(handle, data[:5])

    monkeypatch.setattr("dubio_papers.store.os.write", refuse)
    with store.append() as add:
        with pytest.raises(OSError, match="No space left"):
            add({"cell": "a", "repetition": 1})
        monkeypatch.setattr("dubio_papers.store.os.write", write)
        add({"cell": "a", "repetition": 2})
    assert [repetition for _, repetition in store.read()] == [0, 2]


def test_the_order_of_columns_does_not_matter_where_numbers_are_equal():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(40, 3)), 1)
    y = np.round(X[:, 0])
    y[::3] = np.nan
    score = dubio.SemiSupervisedLaplacianScore()
    here, there = score.fit(X, y).scores_, score.fit(X[:, [2, 0, 1]], y).scores_
    np.testing.assert_allclose(here[[2, 0, 1]], there, rtol=1e-9)
    order = rng.permutation(40)
    np.testing.assert_allclose(score.fit(X[order], y[order]).scores_, here, rtol=1e-9)


@pytest.mark.thorough
def test_nothing_is_sent_anywhere(tmp_path, monkeypatch):
    X, y = _table()
    pd.DataFrame(X).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a connection was opened"))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: pytest.fail("an address was looked up"))
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "y", "--report", str(tmp_path / "r.html")]) == 0
    assert run(["audit", str(tmp_path / "t.csv"), "-t", "y"]) == 0
    page = (tmp_path / "r.html").read_text().replace("href = URL.createObjectURL(", "")  # a download, made in the page
    assert not re.findall(r"""(?:src|href|action)\s*=\s*["']?(?!data:|#)\w|url\((?!["']?data:)|@import""", page)


def test_groups_of_rows_without_any_label():
    X, _ = _table()
    selector = FeatureSelector("laplacian", n_features_to_select=1)
    here = selector.fit(X, np.full(60, -1), groups=np.arange(60) // 3).ranking_
    np.testing.assert_array_equal(here, selector.fit(X).ranking_)


def test_scores_that_differ_by_rounding_share_their_rank():
    scores = np.array([0.1, 0.3, 0.3 * (1 + 1e-15), 0.3 * (1 - 1e-15), np.inf])
    ranks = dubio.scores.consensus.mean_rank([scores], lower_is_better=[True])
    np.testing.assert_array_equal(ranks, [1, 3, 3, 3, 5])
    ranks = dubio.scores.consensus.mean_rank([[1e-16, 0.0, -1e-16]], lower_is_better=[True])
    np.testing.assert_array_equal(ranks, [2, 2, 2])


def test_no_number_is_known():
    X, _ = _table()
    with pytest.raises(ValueError, match="0 labelled rows"):
        FeatureSelector(target="numbers").fit(X, np.full(60, np.nan))


def test_of_equal_features_a_constant_is_taken_last():
    X = np.ones((9, 3))
    X[:, 1:] = np.random.default_rng(0).integers(2, size=(9, 2))
    assert dubio.FuzzyRoughSearch(n_features_to_select=None).fit(X).ranking_[0] == 3


def test_small_groups_leave_few_rows_to_learn_from():
    rng = np.random.default_rng(0)
    groups = np.array([3, 3, 0, 1, 2, 3, 3, 2, 0, 2, 1, 1, 3, 2])
    y = np.isin(groups, [0, 3]).astype(int)
    found = dubio.audit_labels(rng.normal(size=(14, 3)), y, groups=groups)
    assert np.isfinite(found.disagreement).all()


def test_rows_of_different_lengths_beside_probabilities():
    with pytest.raises(ValueError, match="X has rows of different lengths"):
        dubio.audit_labels([[1, 2], [3]], [0, 1], probabilities=[[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(dubio.InputError):
        dubio.audit_labels(_table()[0], [[1], [1, 2]] * 30)


@pytest.mark.parametrize("alpha", [10**30, 0, 1, True, "0.1", np.nan])
@pytest.mark.parametrize("asked", [dubio.label_tolerance, dubio.label_fingerprints])
def test_alpha_is_a_share(asked, alpha):
    with pytest.raises(ValueError, match=r"alpha=.*strictly between 0 and 1"):
        asked(*_table(), alpha=alpha)


def test_a_table_in_which_nothing_varies(tmp_path, capfd):
    file = tmp_path / "table.csv"
    file.write_text("a,y\n1,0\n1,0\n1,1\n1,1\n")
    assert run(["rank", str(file), "--target", "y", "--method", "relieff"]) == 2
    assert "left out was 'a' (only one value)" in capfd.readouterr().err


def test_a_column_too_large_to_square_beside_categories(tmp_path, capfd):
    file = tmp_path / "table.csv"
    rows = [f"{['red', 'green', 'blue'][i % 3]},{i},1e{160 + i % 2},{i % 2}" for i in range(12)]
    file.write_text("a,b,c,y\n" + "\n".join(rows) + "\n")
    assert run(["audit", str(file), "--target", "y"]) == 2
    assert "column 'c'" in capfd.readouterr().err


def test_the_sufficient_features_of_a_sparse_table():
    X, y = _table()
    found = [
        dubio.FisherScore(n_features_to_select="sufficient").fit(table, y).support_
        for table in (X, scipy.sparse.csr_array(X))
    ]
    np.testing.assert_array_equal(*found)


def test_no_annotator_said_anything():
    with pytest.raises(ValueError, match="labels holds no vote"):
        dubio.soft_labels([[None, None], [None, None]])


@pytest.mark.parametrize("Score", [dubio.SupervisedLaplacianScore, dubio.SemiSupervisedLaplacianScore])
def test_numbers_that_are_equally_far_apart(Score):
    X, _ = _table()
    y, order = np.arange(60.0), np.random.default_rng(1).permutation(60)
    np.testing.assert_allclose(Score().fit(X, y).scores_, Score().fit(X[order], y[order]).scores_, rtol=1e-9)


@pytest.mark.parametrize("y", ["yes", 3, None, {"a": 1}, {1}, np.ones((3, 2)), [[1], [1, 2]], [{1}, {2}]])
def test_ordered_and_positive_labels_are_one_per_row(y):
    for say in (lambda: dubio.ordered_classes(y, [1, 2]), lambda: dubio.positive_unlabelled(y, positive=1)):
        with pytest.raises(dubio.InputError, match=r"^y .*give one label per row"):
            say()


@pytest.mark.parametrize("order", [None, "I,II", {1, 2}, 3])
def test_an_order_is_a_list(order):
    with pytest.raises(dubio.InputError, match="give a list of all classes"):
        dubio.ordered_classes([1, 2], order)


@pytest.mark.parametrize("prior", [-1, 2.0, "0.3", np.nan, [0.3]])
def test_the_share_of_positives_is_a_share(prior):
    with pytest.raises(dubio.InputError, match="prior="):
        dubio.positive_unlabelled([1, None], prior=prior)


def test_a_class_of_hardly_any_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    weight = np.where(y == 1, 1e-9, 1.0)
    found = dubio.audit_labels(X, y, sample_weight=weight)
    assert np.isfinite(found.disagreement).all()


def test_tests_before_a_fuzzy_rough_search_refuse_what_cannot_be_squared():
    X, y = _table()
    X[:, 2] *= 1e160
    with pytest.raises(dubio.InputError, match="too large to square in column 2"):
        FeatureSelector("fuzzy_rough_search", redundancy=0.5).fit(X, y)


def test_a_class_to_which_no_row_belongs():
    X, y = _table(12)
    known = np.eye(2)[y]
    known[3] = np.nan
    wider = np.insert(known, 0, 0 * known[:, 0], axis=1)
    one, two = (dubio.MutualInformationRanking().fit(X, P) for P in (known, wider))
    np.testing.assert_allclose(one.scores_, two.scores_)


def test_sums_that_overflow_in_both_directions():
    X, y = _table()
    X[3, 0] = -1.7e308
    with pytest.raises(dubio.InputError, match="too large to square in column 0"):
        dubio.FisherScore().fit(X, y, sample_weight=np.linspace(0.5, 2, 60))


def test_a_counter_that_is_infinite(tmp_path, capfd):
    file = tmp_path / "table.csv"
    file.write_text("row,a,y\ninf,1,0\ninf,2,0\ninf,3,1\ninf,5,1\n")
    assert run(["rank", str(file), "--target", "y", "--method", "relieff"]) == 2
    assert "column 'row'" in capfd.readouterr().err


def test_fingerprints_need_two_classes_with_two_rows():
    with pytest.raises(dubio.InputError, match="fewer than two classes with two rows"):
        dubio.label_fingerprints(_table(6)[0], [0, 0, 0, 0, 0, 1])


def test_limits_are_real_numbers():
    with pytest.raises(dubio.InputError, match="low holds values that are not numbers"):
        dubio.interval_targets(np.arange(3) * 1j, np.arange(3))


@pytest.mark.parametrize("targets", [{"a": [[1], [1, 2]]}, [[1], [1, 2]]])
def test_ragged_targets(targets):
    with pytest.raises(dubio.InputError, match="has rows of different lengths"):
        dubio.several_targets(targets)


def test_a_count_given_as_true_is_one():
    X, y = _table()
    one, two = (dubio.estimate_memberships(X, y, n_init=n, max_iter=n) for n in (1, True))
    np.testing.assert_array_equal(one.memberships, two.memberships)


@pytest.mark.parametrize("n_jobs", [10**30, -(10**30), 5000])
def test_absurd_numbers_of_jobs_are_refused(n_jobs):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    calls = [
        lambda: dubio.stability(dubio.FisherScore(), X, y, n_draws=2, n_jobs=n_jobs),
        lambda: dubio.FeatureSelector(n_jobs=n_jobs).fit(X, y),
        lambda: dubio.LaplacianScore(n_jobs=n_jobs).fit(X),
        lambda: dubio.audit_labels(X, y, n_jobs=n_jobs),
        lambda: dubio.audit_labels(X, X[:, 0], target="numbers", n_jobs=n_jobs),
        lambda: evaluate_selection(dubio.FisherScore(), LogisticRegression(), X, y, n_jobs=n_jobs),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"n_jobs=.* give at most 1024"):
            call()


def test_sparse_targets_are_refused_and_a_far_missing_label_hides_nothing():
    for targets in (scipy.sparse.csr_array(np.eye(4)), {"a": scipy.sparse.csr_array(np.eye(4))}):
        with pytest.raises(InputError, match="is sparse: give a dense array"):
            dubio.several_targets(targets)
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = X[:, 0] > 0
    assert dubio.mutual_information(X, y, missing_label=10**30) == dubio.mutual_information(X, y)


def test_rows_without_weight_leave_the_nearest_neighbours_enough_rows():
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 4):
        codes = np.arange(16) % n_classes
        for _ in range(50):
            weights = rng.random(16) * (rng.random(16) < 0.6) + 1e-3
            assert len(rows_in_proportion(weights, codes, 0)) >= 16


@pytest.mark.parametrize("bad", [np.array([1, 2]), ["auto"], None, 7])
def test_a_choice_that_is_no_word_is_refused(bad):
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    calls = {
        "resample": lambda: dubio.stability(dubio.FisherScore(), X, y, resample=bad, n_draws=2),
        "how": lambda: select_pairs(X, read_pairs([(0, 1)], [(0, 2)], 20), how=bad),
        "order": lambda: select_pairs(X, read_pairs([(0, 1)], [(0, 2)], 20), how="soft", order=bad),
        "flips": lambda: dubio.label_tolerance(X, y, flips=bad),
        "target": lambda: dubio.audit_labels(X, y, target=bad),
        "combine": lambda: dubio.soft_labels(np.eye(2), combine=bad),
    }
    for argument, call in calls.items():
        with pytest.raises(InputError, match=f"^{argument}=.*give '"):
            call()


def test_fingerprints_of_a_huge_column_and_an_array_for_yes_or_no():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    with pytest.raises(InputError, match="return_positive_region=array"):
        dubio.fuzzy_rough_dependency(X, y, return_positive_region=np.array([1, 2]))
    X[:, 1] *= 1e200
    votes = np.column_stack([y, y, rng.integers(0, 2, 30)])
    for more in ({}, {"annotators": votes}):
        with pytest.raises(InputError, match="too large to square in column 1"):
            dubio.label_fingerprints(X, y, **more)


@pytest.mark.parametrize("change", [lambda X: X + 1e9, lambda X: X * 1e-40, lambda X: X * [1e30, 1e-40, 1.0, 1e-20]])
@pytest.mark.parametrize("groups", [None, np.arange(120) // 4])
def test_units_and_offsets_do_not_change_an_audit(change, groups):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)).round(3)
    y = np.where(rng.random(120) < 0.1, X[:, 0] < 0, X[:, 0] > 0).astype(int)
    here, there = (dubio.audit_labels(table, y, groups=groups).probabilities for table in (X, change(X)))
    np.testing.assert_allclose(here, there, atol=1e-6)


def test_units_that_are_powers_of_two_change_no_digit():
    rng = np.random.default_rng(16)
    X, y = rng.normal(size=(25, 5)), rng.integers(3, size=25)
    factors = 2.0 ** rng.integers(-200, 200, size=5)
    here, there = (dubio.audit_labels(table, y).probabilities for table in (X, X * factors))
    np.testing.assert_array_equal(here, there)
    here, there = (dubio.NeighborSearch(random_state=46).fit(table, y).values_ for table in (X, X * factors))
    assert here == there


def test_damaged_names_huge_targets_and_absurd_starts(tmp_path, capfd):
    pd.DataFrame({"a": np.arange(12.0), "yXs": np.arange(12.0), "y": np.arange(12) % 2}).to_feather(
        tmp_path / "t.feather"
    )
    content = (tmp_path / "t.feather").read_bytes()
    (tmp_path / "t.feather").write_bytes(content.replace(b"yXs", b"y\xffs"))
    assert run(["rank", str(tmp_path / "t.feather"), "--target", "y"]) == 2
    assert "is it damaged?" in capfd.readouterr().err
    X = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.raises(InputError, match="probabilities holds what is no number"):
        dubio.audit_labels(X, np.arange(9) % 2, probabilities="auto")
    with pytest.raises(InputError, match="n_init="):
        dubio.estimate_memberships(X, np.arange(9) % 2, n_init=10**30)
    with pytest.raises(InputError, match="too large to square in column 1"):
        dubio.label_tolerance(X * [1, 1e200], X[:, 0])
    here, there = (
        dubio.FeatureSelector(target="numbers", n_features_to_select=1).fit(X, X[:, 1] * s) for s in (1, 2.0**700)
    )
    assert (here.ranking_ == there.ranking_).all()


def test_the_order_of_rows_does_not_turn_the_map_of_two_features():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(31, 2)), np.where(rng.random(31) < 0.2, -1, np.arange(31) % 2)
        order, turn = rng.permutation(31), [1, 0]
        here = dubio.ConstrainedLaplacianScore().fit(X, y).scores_
        np.testing.assert_allclose(dubio.ConstrainedLaplacianScore().fit(X[order], y[order]).scores_, here)
        np.testing.assert_allclose(dubio.ConstrainedLaplacianScore().fit(X[:, turn], y).scores_, here[turn])


def test_very_long_rows_and_a_target_without_rows():
    lengths = np.array([1.0, 2.0, 2.0])
    assert effective_rows(lengths * 1e200) == pytest.approx(effective_rows(lengths))
    assert effective_rows(np.zeros(3)) == np.inf and effective_rows(np.array([np.inf, 1.0])) == 1.0
    with pytest.raises(InputError, match="y has 0 rows and X has 45"):
        dubio.select_features(np.arange(90.0).reshape(45, 2), np.empty((0, 2)))
