"""Tests of single features on all rows of a table that is not in memory: the p-values of the table in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dubio import FeatureSelector
from dubio.evidence.evidence import Evidence
from dubio.evidence.relations import linear_tests, relation_pvalues, smooth_null, smooth_r2
from dubio.evidence.sketch import Bins, Sketch, quadratic_tail
from dubio.problem import read_problem
from dubio.streams.stream import rank_stream

pa = pytest.importorskip("pyarrow")


def _table(n: int = 8_000) -> tuple[np.ndarray, np.ndarray]:
    """Columns without ties, skewed, of two and of five values, and one whose relation is not linear; a target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    X[:, 1] = np.exp(X[:, 1])
    X[:, 2], X[:, 3] = X[:, 2] > 0, np.digitize(X[:, 3], [-1.0, 0.0, 0.5, 1.0])
    u = 0.06 * (X[:, 0] + np.log(X[:, 1]) + X[:, 2] + X[:, 3] + X[:, 4] ** 2) + rng.normal(size=n)
    return X, u


@pytest.fixture(params=["classes", "numbers"])
def table(request):
    X, u = _table()
    return X, np.digitize(u, [-0.3, 0.6]) if request.param == "classes" else u


def _sketch(X, y, n_parts):
    bins = Bins.of_sample(X[::2], y[::2])
    parts = np.array_split(np.arange(len(y)), n_parts)
    sketches = [Sketch.of(bins, [np.ascontiguousarray(column) for column in X[part].T], y[part]) for part in parts]
    while len(sketches) > 1:
        sketches = [sketches[0].merge(sketches[1]), *sketches[2:]]
    return sketches[0]


def test_a_sketch_gives_the_moments_and_the_tests_of_the_table(table):
    X, y = table
    target = "numbers" if y.dtype.kind == "f" else "classes"
    evidence, sketch = Evidence.of(read_problem(X, y, target=target)), _sketch(X, y, 7)
    np.testing.assert_allclose(sketch.means, X.mean(axis=0), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(sketch.variances, X.var(axis=0), rtol=1e-8)
    tests, literal = sketch.tests(), linear_tests(evidence)
    np.testing.assert_allclose(tests["linear"], literal["linear"], rtol=1e-8)
    strong = literal["scores"] < 0.1
    assert strong.sum() >= 4
    np.testing.assert_allclose(np.log10(tests["scores"][strong]), np.log10(literal["scores"][strong]), rtol=0.05)
    scores, null = smooth_r2(evidence), smooth_null(evidence, 6_000)
    smooth = np.array([(1 + (null >= score).sum()) / (1 + len(null)) for score in scores])
    for j in (0, 1, 4, 5):  # ties are in a random order in memory
        if 30 / len(null) < smooth[j] < 0.5:
            assert np.log10(tests["smooth"][j]) == pytest.approx(np.log10(smooth[j]), rel=0.1)


def test_a_sketch_does_not_depend_on_the_parts(table):
    X, y = table
    one, many = _sketch(X, y, 1), _sketch(X, y, 13)
    for name in ("counts", "sums", "missing", "target"):
        np.testing.assert_allclose(getattr(one, name), getattr(many, name), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(one.pvalues(), many.pvalues(), rtol=1e-8)


def test_pvalues_of_chance_are_uniform_also_with_ties():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4_000, 300))
    X[:, 100:200] = np.round(X[:, 100:200])
    X[:, 200:] = X[:, 200:] > 1
    tests = _sketch(X, rng.integers(0, 3, len(X)), 2).tests()
    for pvalues in tests.values():
        for part in np.split(pvalues, 3):
            assert abs(part.mean() - 0.5) < 4 * 0.29 / 10  # four standard errors
            assert (part < 0.05).mean() < 0.05 + 4 * 0.022


def test_columns_with_gaps_or_carried_by_few_rows_are_not_tested():
    X, u = _table(2_000)
    X[7, 0], X[:, 1] = np.nan, 0.0
    X[:3, 1] = 1e6
    y = (u > 0).astype(int)
    bins = Bins.of_sample(np.nan_to_num(X), y)
    pvalues = Sketch.of(bins, list(np.ascontiguousarray(X.T)), y).pvalues()
    assert np.isnan(pvalues).tolist() == [True, True, False, False, False, False]


@pytest.mark.parametrize(("value", "weights"), [(30.0, [1.0, 2.0, 3.0]), (8.0, [2.0, -1.0, 0.5]), (-6.0, [1.0, -3.0])])
def test_the_tail_of_a_quadratic_form(value, weights):
    drawn = np.random.default_rng(0).chisquare(1, size=(400_000, len(weights))) @ weights
    assert quadratic_tail(value, np.array(weights)) == pytest.approx((drawn > value).mean(), rel=0.1)


def _large() -> tuple[pd.DataFrame, np.ndarray]:
    """A table and its classes; the relation of the first column is too weak for a sample of 1,000 rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 4))
    y = np.where(0.1 * X[:, 0] + rng.normal(size=len(X)) > 0, "ill", "well")
    return pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(X[:, 2] > 0, "left", "right")), y


def test_a_stream_is_tested_on_all_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("dubio.streams.sample.SAMPLE_ROWS", 1_000)
    frame, y = _large()
    frame = frame.drop(columns="e")
    path = tmp_path / "large.parquet"
    frame.assign(y=y).to_parquet(path, row_group_size=9_000)
    found = rank_stream(path, target="y")
    assert "4 of 4 columns were tested alone on all 30,000 labelled rows" in found.reason
    pvalue = found.extras["pvalue"][found.names.tolist().index("a")]
    alone = relation_pvalues(Evidence.of(read_problem(frame[["a"]], y))).pvalues[0]
    assert pvalue < 1e-8 and np.log10(pvalue) == pytest.approx(np.log10(alone / 0.8), rel=0.05)
    # a reader gives its rows only once
    table = pa.Table.from_pandas(frame.assign(y=y))
    once = rank_stream(table.to_reader(max_chunksize=9_000), target="y")
    assert "tested alone" not in once.reason and once.extras["pvalue"].min() > 1e-8


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_dask_is_tested_on_all_rows(kind):
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    frame, y = _large()
    lazy = da.from_array(frame.drop(columns="e").to_numpy(), chunks=(7_000, 4))
    lazy = dd.from_pandas(frame, npartitions=4) if kind == "frame" else lazy
    selector = FeatureSelector(max_rows=1_000).fit(lazy, y)
    of = 4 if kind == "array" else 5
    assert f"4 of {of} columns were tested alone on all 30,000 labelled rows" in selector.explanation_
    alone = relation_pvalues(Evidence.of(read_problem(frame[["a"]], y))).pvalues[0]
    assert np.log10(selector.pvalues_[0]) == pytest.approx(np.log10(alone / 0.8), rel=0.05)
