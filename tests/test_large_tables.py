"""Tables of every size and kind: sampled, spread over machines, streamed, sparse; refusals before memory is gone."""

from __future__ import annotations

import functools
import io
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow
import pytest
from scipy import sparse

import dubio
from dubio import (
    FeatureSelector,
    MutualInformationSearch,
)
from dubio.checks import free_bytes, require_memory
from dubio.errors import InputError
from dubio.evidence.relevance import relevance_of
from dubio.findings import Alert
from dubio.moments.column_moments import ColumnMoments
from dubio.problem import read_problem
from dubio.progress import _Line, advance, listener_of, listening, with_time_left
from dubio.sampling import sample_rows
from dubio.streams.sample import RowSample, draw_rows, of_the_sample
from dubio.streams.sources import open_source
from dubio.streams.stream import rank_stream
from dubio_app.command.output import hushed, step

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _table(n=3000, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=list("abcdefgh"[:d]))
    y = np.digitize(X["b"] + 0.6 * X["e"], [-0.6, 0.6])
    return X, y


def test_a_sample_keeps_shares_and_rare_classes_and_ignores_the_order_of_rows():
    X, y = _table(2000)
    y = np.where(np.arange(2000) < 12, 3, y)
    y[500:1500] = -1
    problem = read_problem(X, y)
    rows = sample_rows(problem, 300)
    known = problem.supervision
    assert len(rows) == 300 and known.labelled[rows].all()  # labelled rows first
    counts = np.bincount(known.codes[rows], minlength=4)
    assert counts[3] >= 10
    shares = np.bincount(known.codes[known.labelled], minlength=4)[:3] / 990
    np.testing.assert_allclose(counts[:3] / counts[:3].sum(), shares, atol=0.03)
    assert len(sample_rows(problem, 1500)) == 1500
    order = np.random.default_rng(1).permutation(2000)
    again = sample_rows(read_problem(X.iloc[order], y[order]), 300)
    np.testing.assert_array_equal(np.sort(order[again]), rows)
    assert not np.array_equal(sample_rows(problem, 300, 1), rows)
    sparse_rows = sample_rows(read_problem(sparse.csr_array(X.to_numpy()), y, accept_sparse=True), 300)
    assert len(sparse_rows) == 300


@pytest.mark.parametrize("kind", ["numpy", "pandas", "sparse", "dask array", "dask frame", "arrow"])
def test_every_kind_of_table_gets_the_same_answer(kind):
    X, y = _table()
    if kind.startswith("dask"):
        pytest.importorskip("dask")
    table = {
        "numpy": lambda: X.to_numpy(),
        "pandas": lambda: X,
        "sparse": lambda: sparse.csr_array(X.to_numpy()),
        "dask array": lambda: __import__("dask.array").array.from_array(X.to_numpy(), chunks=(700, 3)),
        "dask frame": lambda: __import__("dask.dataframe").dataframe.from_pandas(X, npartitions=3),
        "arrow": lambda: pa.Table.from_pandas(X),
    }[kind]()
    fitted = FeatureSelector(max_rows=800).fit(table, y)
    assert set(np.flatnonzero(fitted.support_)) == {1, 4}
    assert fitted.n_sampled_ == 800
    assert "A sample of 800 of 3,000 rows was used" in fitted.explanation_
    chosen = fitted.transform(table)
    if kind in ("pandas", "numpy"):
        assert chosen.shape == (3000, 2)
    elif kind == "arrow":
        assert chosen.column_names == ["b", "e"]
    elif kind == "dask frame":
        assert list(chosen.columns) == ["b", "e"]
    named = kind in ("pandas", "dask frame", "arrow")
    assert list(fitted.get_feature_names_out()) == (["b", "e"] if named else ["x1", "x4"])


def test_a_dask_table_and_labels_of_other_lengths_are_refused():
    da = pytest.importorskip("dask.array")
    X, y = _table()
    with pytest.raises(ValueError, match="y has 2999 rows and X has 3000"):
        FeatureSelector(max_rows=50).fit(da.from_array(X.to_numpy(), chunks=(700, 6)), y[1:])


def test_a_wide_sparse_table_is_sampled_to_what_memory_holds(monkeypatch):
    X, y = _table(1500)
    monkeypatch.setattr("dubio.selector._DENSE_CELLS", 6 * 1200)
    fitted = FeatureSelector("relieff", n_features_to_select=2).fit(sparse.csr_array(X.to_numpy()), y)
    assert fitted.n_sampled_ == 1200
    exact = FeatureSelector("fisher", n_features_to_select=2).fit(sparse.csr_array(X.to_numpy()), y)
    assert exact.n_sampled_ == 1500  # this method takes sparse tables as they are
    holes = sparse.csr_array(np.where(X > 2, np.nan, X))
    assert FeatureSelector("relieff").fit(holes, y).n_missing_values_ == int((X > 2).to_numpy().sum())
    with pytest.raises(ValueError, match="X is sparse and has missing values"):
        FeatureSelector("fisher").fit(holes, y)


@pytest.mark.parametrize("batch", [97, 1000, 5000])
def test_a_stream_is_sampled_the_same_way_in_any_batches(batch):
    X, y = _table()
    labels = np.array(["low", "mid", "high"])[y].astype(object)
    labels[::5] = None
    labels[:4] = "rare"
    table = pa.Table.from_pandas(X.assign(y=labels))
    sample = RowSample(200, 3, list(X.columns), ["y"], None)
    for part in table.to_batches(max_chunksize=batch):
        sample.offer(part)
    found = sample.table().to_pandas()
    assert len(found) == 200 and found["y"].notna().all()
    assert (found["y"] == "rare").sum() == 4
    shares = found["y"].value_counts(normalize=True)
    expected = pd.Series(labels).value_counts(normalize=True)
    assert abs(shares - expected).max() < 0.1
    whole = RowSample(200, 3, list(X.columns), ["y"], None)
    whole.offer(table)
    pd.testing.assert_frame_equal(found, whole.table().to_pandas())


def test_a_stream_of_few_labels_is_filled_up_with_unlabelled_rows():
    X, _ = _table(1000)
    known = np.where(np.arange(1000) % 20 == 0, np.arange(1000) % 2, -1)
    sample = RowSample(300, 0, list(X.columns), ["y"], "auto")
    sample.offer(pa.Table.from_pandas(X.assign(y=known)))
    found = sample.table().to_pandas()["y"]
    assert len(found) == 300 and (found >= 0).sum() == 50


def test_rank_stream_uses_the_same_auto(tmp_path):
    X, y = _table()
    X.assign(y=np.array(list("pqr"))[y]).to_parquet(tmp_path / "t.parquet")
    ranking = rank_stream(tmp_path / "t.parquet", target="y")
    assert set(ranking.names[ranking.support]) == {"b", "e"} and ranking.method == "neighbor_search"
    direct = FeatureSelector(missing_label="auto").fit(X, np.array(list("pqr"))[y])
    np.testing.assert_array_equal(ranking.ranking, direct.ranking_)
    with pytest.raises(ValueError, match="weight cannot be used with method='auto'"):
        rank_stream(tmp_path / "t.parquet", target="y", weight="a")


@pytest.mark.parametrize("offset", [0.0, 1e9, -1e9])
def test_moments_of_all_rows_are_those_in_memory(tmp_path, offset):
    rng = np.random.default_rng(0)
    n = 5000
    X = pd.DataFrame(rng.normal(size=(n, 5)) * [1, 10, 0.1, 1, 1] + offset, columns=list("abcde"))
    X["whole"], X["single"] = rng.integers(0, 9, n), rng.normal(size=n).astype(np.float32)
    X["one"], X["empty"] = offset + 0.1, np.nan
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    X.loc[:2000, "c"] = np.nan  # the first batches have no value
    for parts, batch in ((1, None), (1, 700), (3, 64)):
        pieces = [pa.Table.from_pandas(X[k::parts]) for k in range(parts)]
        for k, piece in enumerate(pieces):
            pq.write_table(piece, tmp_path / f"{k}.parquet", row_group_size=900)
        drawn = draw_rows(open_source(tmp_path), list(X.columns), [], batch_rows=batch)
        exact = X.astype(np.float64)
        np.testing.assert_array_equal(drawn.moments.missing, X.isna().sum())
        some = X.columns != "empty"
        np.testing.assert_allclose(drawn.moments.mean[some], exact.mean()[some], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(
            drawn.moments.variance[some], (exact - exact.median()).var(ddof=0)[some], 1e-10, 1e-25
        )
        np.testing.assert_array_equal(drawn.moments.low[some], X.min()[some])
        np.testing.assert_array_equal(drawn.moments.high[some], X.max()[some])
        assert drawn.moments.varies.tolist() == [*[True] * 7, False, False]


def test_the_answer_of_a_stream_speaks_of_all_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("dubio.streams.sample.SAMPLE_ROWS", 2000)
    X, y = _table(3000)
    y = np.where(np.arange(3000) % 10 == 0, None, np.array(list("pqr"))[y])
    X["still"], X["rare"] = 4.0, 0.0
    X.loc[X.index[-1], "rare"] = 1.0  # not in the sample of seed 0
    X.loc[X.index[::4], "a"] = np.nan
    X.assign(y=y).to_parquet(tmp_path / "t.parquet")
    ranking = rank_stream(tmp_path / "t.parquet", target="y")
    known = pd.Series(y).value_counts(normalize=True)
    assert "A sample of 2,000 of 3,000 rows was used. Classes of all rows: " in ranking.reason
    for name, share in known.items():
        assert f"{name!r} {100 * share:.3g} %" in ranking.reason
    assert "(10 % of the rows have no class). 3.12 % of the cells of all rows are missing." in ranking.reason
    assert "Only one value in all rows: 'still'." in ranking.reason
    assert "at most one value in the sample, but others in the rest of the rows: rare." in ranking.reason
    assert "'rare' (only one value in the sample)" in ranking.reason
    frame = ranking.to_frame().set_index("feature")
    np.testing.assert_allclose(frame.loc[X.columns, "std"], X.std(ddof=0), rtol=1e-10)
    np.testing.assert_allclose(frame.loc[X.columns, "missing"], X.isna().mean())
    X.loc[7, "c"] = np.inf
    X.assign(y=y).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="contains infinity in 1 row of column 'c'"):
        rank_stream(tmp_path / "t.parquet", target="y")


def test_memory_is_refused_before_it_is_taken(monkeypatch):
    assert free_bytes() > 0
    monkeypatch.setattr("dubio.checks.free_bytes", lambda: 1_000_000)
    with pytest.raises(ValueError, match=r"they need 0\.0 GB, and 0\.0 GB are free: use less"):
        require_memory(900_000, "the distances", "use less")
    with pytest.raises(ValueError, match="too large for the distances of all pairs of rows"):
        MutualInformationSearch().fit(np.random.default_rng(0).normal(size=(600, 3)), np.arange(600) % 2)


def test_free_memory_comes_from_psutil_or_from_the_system_or_is_assumed(monkeypatch, tmp_path):
    psutil = pytest.importorskip("psutil")
    monkeypatch.setattr("dubio.checks._container_left", lambda: float("inf"))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=12345))
    assert free_bytes() == 12345
    monkeypatch.setitem(sys.modules, "psutil", None)  # it is not installed
    monkeypatch.setattr("dubio.checks._MEMORY_OF_LINUX", tmp_path / "meminfo")
    assert free_bytes() == 8 * 2**30
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable:   300 kB\n")
    assert free_bytes() == 300 * 1024
    monkeypatch.setattr("dubio.checks._container_left", lambda: 1000)
    assert free_bytes() == 1000


def test_long_work_shows_its_share_and_the_time_left(capsys, monkeypatch):
    assert with_time_left("search", 1, 4, 50.0) == "search: 25 %, about 2 min left"
    patient, now = _Line(5.0), iter([0.0, 1.0, 6.0, 9.0, 20.0])
    monkeypatch.setattr("dubio.progress.time.monotonic", lambda: next(now))
    for done in (1, 2, 3, 4, 10):
        patient("work", done, 10)
    err = capsys.readouterr().err
    assert "work: 30 %, about 14 s left" in err and "work: 20 %" not in err
    assert err.endswith("work: 100 %, about 0 s left\n")


def test_work_that_was_interrupted_has_a_new_time_left(capsys, monkeypatch):
    line, now = _Line(), [0.0]
    monkeypatch.setattr("dubio.progress.time.monotonic", lambda: now[0])
    line("resamples", 1, 20)
    now[0] = 1800.0
    for done in range(1, 10):
        line("resamples", done, 20)
        now[0] += 1.0
    err = capsys.readouterr().err
    assert err.endswith("resamples: 45 %, about 10 s left") and " h " not in err and " min" not in err


@pytest.mark.parametrize("stderr", ["closed", "none"])
def test_work_goes_on_without_standard_error(stderr, monkeypatch, capsys):
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr("sys.stderr", stream if stderr == "closed" else None)
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    advance("x", 1, 2)
    with listening(listener_of(True)):
        advance("x", 2, 2)
    assert capsys.readouterr().out == ""


def test_moments_of_the_largest_numbers():
    cases = [[1e308, -1e308, 1e308], [1.7e308] + [-1.7e308] * 3, [1.7e308] * 10]
    for case in cases:
        mean = sum(x / len(case) for x in case)
        assert ColumnMoments.of([np.array(case)]).mean[0] == pytest.approx(mean)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parts = [ColumnMoments.of([np.array([x])]) for x in case]
            merged = functools.reduce(ColumnMoments.merge, parts)
        assert merged.mean[0] == pytest.approx(mean) and merged.high[0] == max(case)


def test_the_command_shows_progress_on_a_terminal_only(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)  # where the library itself shows it
    monkeypatch.setattr("dubio.progress._patient", _Line())
    with step("ranking"):
        advance("neighbours", 1, 10)
    with hushed(True):
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        with step("ranking"):
            advance("neighbours", 1, 10)
    assert capsys.readouterr().err == ""
    advance("neighbours", 1, 10)
    assert "neighbours: 1 of 10" in capsys.readouterr().err


def test_a_large_audit_learns_from_a_sample_and_judges_every_row(monkeypatch):
    monkeypatch.setattr("dubio.doubt.experts.MOST_TRAINED", 300)
    X, y = _table(1500)
    wrong = np.random.default_rng(0).random(1500) < 0.05
    given = np.where(wrong, (y + 1) % 3, y)
    audit = dubio.audit_labels(X, given)
    assert (audit.rank > 0).all()
    assert audit.disagreement[wrong].mean() > 2 * audit.disagreement[~wrong].mean()


def test_equal_rows_are_divided_between_a_sample_and_the_rest():
    """If equal rows went together, the target would depend on the features within the sample."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(2000, 3)).astype(float)
    y = rng.integers(0, 2, 2000)
    drawn = np.zeros(2000, dtype=bool)
    drawn[sample_rows(read_problem(X, y), 1000)] = True
    pattern = (X @ [1, 2, 4] + 8 * y).astype(int)
    shares = np.array([drawn[pattern == k].mean() for k in range(16)])
    assert (np.abs(shares - 0.5) < 0.2).all()


def test_noise_with_repeated_rows_has_no_relevant_feature():
    found = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, size=(400, 6)).astype(float), rng.integers(0, 2, 400)
        found += relevance_of(read_problem(X, y)).relevant.any()
    assert found <= 1


@pytest.mark.parametrize("decimals", [0, 6])
def test_the_order_of_rows_changes_no_decision(decimals):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(150, 6))
    y = (X[:, 0] + 0.35 * X[:, 1] + 0.3 * X[:, 2] + 1.2 * rng.normal(size=150) > 0).astype(int)
    X = X.round(decimals)
    order = rng.permutation(150)
    here, there = relevance_of(read_problem(X, y)), relevance_of(read_problem(X[order], y[order]))
    np.testing.assert_allclose(here.pvalues, there.pvalues, rtol=1e-9)


def test_arrow_columns_of_every_kind_of_number_are_features():
    X, y = _table(400)
    table = pa.table(
        {
            "bool": pa.array([bool(v > 0) if i % 7 else None for i, v in enumerate(X["a"])]),
            "coded": pa.array(X["b"].round(1)).dictionary_encode(),
            "whole": pa.array(X["c"].round().astype("i4")),
            "e": pa.array(X["e"]),
        }
    )
    fitted = FeatureSelector().fit(table, y)
    assert {"coded", "e"} <= set(fitted.get_feature_names_out())
    labels = pa.array((y > 0).astype("u1"))
    ranking = rank_stream(table.append_column("y", labels), target="y")
    assert {"coded", "e"} <= set(ranking.names[ranking.support])
    coded = pa.array([None if i % 9 == 0 else str(v) for i, v in enumerate(y)]).dictionary_encode()
    assert rank_stream(table.append_column("y", coded), target="y").support.any()


def test_a_stream_has_one_target():
    X, y = _table(60)
    table = pa.Table.from_pandas(X.assign(y=y))
    with pytest.raises(ValueError, match="not both"):
        rank_stream(table, target="y", soft=["a", "b"])
    with pytest.raises(ValueError, match="at least two"):
        rank_stream(table, soft=["a"])


@pytest.mark.parametrize(
    ("values", "missing", "said"),
    [
        (["ill ", "ill", "well", "well"], "auto", "'well' 50 %, 'ill ' 25 %, 'ill' 25 %."),
        ([2**53, 2**53 + 1, 2**53 + 2, 2**53 + 2], "auto", f"{2**53 + 2} 50 %, {2**53} 25 %, {2**53 + 1} 25 %."),
        ([0.0, 1.0, 1.0, np.nan], "auto", "1 66.7 %, 0 33.3 % (25 % of the rows have no class)."),
        ([True, False, True, True], "auto", "True 75 %, False 25 %."),
        (["x\ny", "<b>", "<b>", "<b>"], "auto", "'<b>' 75 %, 'x\\ny' 25 %."),
        ([0.5, 1.25, 2.0, -999.0], -999.0, "Mean of all rows: 'y' 1.25."),
    ],
    ids=["blanks", "large", "floats", "bools", "hostile", "numbers"],
)
def test_the_target_of_all_rows_is_told_as_it_is(values, missing, said, monkeypatch):
    monkeypatch.setattr("dubio.streams.sample.SAMPLE_ROWS", 60)
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=400), "b": rng.normal(size=400), "y": pa.array(values * 100)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing stands out
        assert said in rank_stream(table, target="y", missing_label=missing, batch_rows=90).reason


def test_an_arrow_table_with_other_columns_is_refused_by_transform():
    X, y = _table(200)
    fitted = FeatureSelector(n_features_to_select=2).fit(X.to_numpy(), y)
    assert fitted.transform(pa.Table.from_pandas(X)).num_columns == 2  # fitted without names: by position
    with pytest.raises(ValueError, match="X has 5 features, but the selector was fitted on 6"):
        fitted.transform(pa.Table.from_pandas(X.iloc[:, :5]))
    named = FeatureSelector(n_features_to_select=2).fit(X, y)
    kept = list(named.get_feature_names_out())
    assert named.transform(pa.Table.from_pandas(X[list("bacdef")])).column_names == kept  # by name
    with pytest.raises(ValueError, match="same column names"):
        named.transform(pa.Table.from_pandas(X.rename(columns={kept[0]: "other"})))


def test_alerts_of_a_sample_say_what_varies_in_the_rest():
    both = Alert("constant", ("still", "rare"), {"values": 1, "others vary": True})
    other = Alert("copy", ("rare",))
    assert of_the_sample((both, other), []) == (both, other)
    still, rare, same = of_the_sample((both, other), ["rare"])
    assert still.features == ("still",) and "rare" not in still.sentence and same is other
    assert rare.features == ("rare",) and "others in the rest of the rows: rare" in rare.sentence


def test_a_target_without_a_length_is_refused_as_ever():
    X = pyarrow.table({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 0.0, 3.0, 2.0]})
    with pytest.raises(InputError, match="y is a sparse matrix"):
        FeatureSelector().fit(X, sparse.csr_array(np.eye(4)))
    with pytest.raises(InputError, match="y has 0 dimensions"):
        FeatureSelector().fit(X, np.array(3))
