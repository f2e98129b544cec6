"""Streams of Arrow batches: the numbers of the whole table, in bounded memory, and errors that say where."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import dubio
from dubio.streams.stream import fit_stream, rank_stream

pa = pytest.importorskip("pyarrow")
from pyarrow import csv  # noqa: E402
from pyarrow import dataset as ds  # noqa: E402
from pyarrow import parquet as pq  # noqa: E402

METHODS = {
    "weighted_laplacian": dubio.WeightedLaplacianScore,
    "fisher": dubio.FisherScore,
    "constraint": dubio.ConstraintScore,
    "linear_search": dubio.LinearSearch,
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=1000)
    frame = pd.DataFrame(rng.normal(size=(1000, 6)) + 0.2 * y[:, None] * np.arange(6), columns=list("abcdef"))
    frame["b"] += 1e7
    frame["c"] = np.round(64 * frame["c"]).astype(np.float32) / np.float32(64)  # the same number in a CSV file
    frame["d"] = rng.integers(-5, 5, size=1000)
    frame["e"] = rng.random(1000) < 0.3
    frame["f"] = 4.2  # constant
    frame["y"] = np.asarray(["ant", "bee", "cat"], dtype=object)[y]
    memberships = rng.dirichlet([1, 1, 1], size=1000)
    memberships[::9] = np.nan
    return frame.assign(p=memberships[:, 0], q=memberships[:, 1], r=memberships[:, 2])


def _sources(frame, folder):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, folder / "one.parquet", row_group_size=170)
    csv.write_csv(table, folder / "one.csv")
    parts = folder / "parts"
    parts.mkdir()
    for number, start in enumerate(range(0, 1000, 300)):
        pq.write_table(table.slice(start, 300), parts / f"part-{number}.parquet")
    (parts / "_SUCCESS").write_text("")
    with pa.OSFile(str(folder / "one.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=90)
    return {
        "parquet": folder / "one.parquet",
        "csv": str(folder / "one.csv"),
        "folder": parts,
        "arrow": folder / "one.arrow",
        "dataset": ds.dataset(parts, format="parquet"),
        "table": table,
    }


@pytest.mark.parametrize("kind", ["parquet", "csv", "folder", "arrow", "dataset", "table", "reader"])
@pytest.mark.parametrize("batch_rows", [7, 256, None])
def test_every_source_and_batch_size_equals_memory(frame, tmp_path, kind, batch_rows):
    sources = _sources(frame, tmp_path)
    reader = sources["table"].to_reader(max_chunksize=batch_rows or 500) if kind == "reader" else None
    X = frame[list("abcdef")].astype({"d": float, "e": float})
    for method, selector in METHODS.items():
        if kind == "reader" and method != "fisher":
            continue  # a reader can be read once
        found = rank_stream(
            reader or sources[kind],
            target="y",
            exclude=["p", "q", "r"],
            method=method,
            batch_rows=batch_rows,
        )
        expected = selector().fit(X, frame["y"]).to_ranking()
        np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-10)
        np.testing.assert_array_equal(found.ranking, expected.ranking)
        assert list(found.names) == list("abcdef")
        assert str(found).splitlines()[0] == str(expected).splitlines()[0]


@pytest.mark.parametrize("batch_rows", [1, 100, None])
def test_soft_columns(frame, tmp_path, batch_rows):
    path = _sources(frame, tmp_path)["parquet"]
    found = rank_stream(path, soft=["p", "q", "r"], exclude=["y"], batch_rows=batch_rows, method="weighted_laplacian")
    X = frame[list("abcdef")].astype({"d": float, "e": float})
    expected = dubio.WeightedLaplacianScore().fit(X, frame[["p", "q", "r"]])
    np.testing.assert_allclose(found.scores, expected.scores_, rtol=1e-10)
    fitted = fit_stream(dubio.WeightedLaplacianScore(), path, soft=["p", "q", "r"], exclude=["y"])
    assert list(fitted.classes_) == ["p", "q", "r"]
    assert (fitted.n_labelled_, fitted.n_unlabelled_) == (expected.n_labelled_, expected.n_unlabelled_)


def test_weights_features_and_counts(frame, tmp_path):
    path = _sources(frame, tmp_path)["parquet"]
    with pytest.raises(ValueError, match=r"weight column 'p' holds nan in row 0"):
        rank_stream(path, target="y", weight="p", features=["a", "c"], method="weighted_laplacian")
    weights = frame["p"].fillna(0.0)
    table = pa.Table.from_pandas(frame.assign(p=weights), preserve_index=False)
    found = rank_stream(table, target="y", weight="p", features=["a", "c"], method="fisher", n_features_to_select=1)
    expected = dubio.FisherScore(n_features_to_select=1).fit(frame[["a", "c"]], frame["y"], weights).to_ranking()
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-10)
    np.testing.assert_array_equal(found.support, expected.support)


@pytest.mark.parametrize("labels", ["numbers", "bools", "dictionary", "floats"])
def test_kinds_of_labels(labels):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 3)), rng.integers(-1, 3, size=300)
    form = {
        "numbers": pa.array(y),
        "bools": pa.array(y > 0),
        "dictionary": pa.array([None if v < 0 else "abc"[v] for v in y]).dictionary_encode(),
        "floats": pa.array(np.where(y < 0, np.nan, y)),
    }[labels]
    table = pa.table({f"x{j}": X[:, j] for j in range(3)} | {"y": form})
    expected = dubio.fisher_score(X, y > 0 if labels == "bools" else y)
    np.testing.assert_allclose(
        rank_stream(table, target="y", method="fisher", batch_rows=11).scores, expected, rtol=1e-10
    )


def test_a_class_only_in_the_last_batch(frame):
    ordered = frame.sort_values("y", kind="stable").reset_index(drop=True)
    ordered.loc[999, "y"] = "zebra"
    table = pa.Table.from_pandas(ordered[["a", "b", "y"]], preserve_index=False)
    fitted = fit_stream(dubio.FisherScore(), table, target="y", batch_rows=50)
    np.testing.assert_allclose(fitted.scores_, dubio.fisher_score(ordered[["a", "b"]], ordered["y"]), rtol=1e-10)
    assert list(fitted.classes_) == ["ant", "bee", "cat", "zebra"]


def test_progress_is_reported(frame, tmp_path):
    seen = []
    rank_stream(
        _sources(frame, tmp_path)["folder"],
        target="y",
        exclude=list("pqr"),
        batch_rows=100,
        progress=lambda done, total: seen.append((done, total)),
        method="weighted_laplacian",
    )
    assert seen[-1] == (1000, 1000)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    rank_stream(tmp_path / "one.csv", target="y", exclude=list("pqr"), progress=True, method="weighted_laplacian")


# --- Bad input -----------------------------------------------------------------------------------------------------


def test_a_missing_column_says_which_exist(frame, tmp_path):
    path = _sources(frame, tmp_path)["parquet"]
    with pytest.raises(ValueError, match=r"target column 'Y' is not in one.parquet, which has 10 columns \('a', "):
        rank_stream(path, target="Y", method="weighted_laplacian")
    with pytest.raises(ValueError, match=r"soft column 'pp'.*: did you mean 'p'\?"):
        rank_stream(path, soft=["pp", "q"], method="weighted_laplacian")
    with pytest.raises(ValueError, match="exclude column 'z'"):
        rank_stream(path, target="y", exclude=["z"], method="weighted_laplacian")
    with pytest.raises(ValueError, match=r"target or soft is needed: .*, not both"):
        rank_stream(path, method="weighted_laplacian")
    with pytest.raises(ValueError, match="method='lap'"):
        rank_stream(path, target="y", method="lap")
    with pytest.raises(ValueError, match="takes one class per row"):
        rank_stream(path, soft=["p", "q", "r"], exclude=["y"], method="constraint")
    with pytest.raises(ValueError, match="has no feature left: every column is a label, a weight or excluded"):
        rank_stream(path, target="y", exclude=list("abcdefpqr"), method="weighted_laplacian")


def test_text_columns_are_named(frame, tmp_path):
    with pytest.raises(ValueError, match=r"1 column that is not numeric: 'y' \(.*string\): .*name it in exclude"):
        rank_stream(_sources(frame, tmp_path)["parquet"], soft=["p", "q", "r"], method="weighted_laplacian")


def test_a_file_whose_type_differs_from_the_first(tmp_path):
    good = pa.table({"a": [1.0, 2.0], "y": ["u", "v"]})
    pq.write_table(good, tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["one", "two"], "y": ["u", "v"]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"column 'a' is double in 1.parquet and (large_)?string in 2.parquet"):
        rank_stream(tmp_path, target="y", method="weighted_laplacian")
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": [1, 2]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"column 'y' is (large_)?string in 1.parquet and int64 in 2.parquet"):
        rank_stream(tmp_path, target="y", method="weighted_laplacian")
    pq.write_table(pa.table({"b": [1.0, 2.0], "y": ["u", "v"]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2.parquet lacks 1 column of 1.parquet: \['a'\]"):
        rank_stream(tmp_path, target="y", method="weighted_laplacian")
    pq.write_table(good.append_column("b", pa.array([1, 2])), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2.parquet has 1 column that 1.parquet lacks: \['b'\]"):
        rank_stream(tmp_path, target="y", method="weighted_laplacian")


def test_numbers_of_another_width_and_columns_in_another_order_are_fine(tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 9, size=(40, 2)), rng.integers(0, 2, size=40)
    pq.write_table(pa.table({"a": X[:20, 0], "b": X[:20, 1], "y": y[:20]}), tmp_path / "1.parquet")
    second = {"y": y[20:].astype(np.int8), "b": X[20:, 1].astype(np.float32), "a": X[20:, 0].astype(np.int16)}
    pq.write_table(pa.table(second), tmp_path / "2.parquet")
    found = rank_stream(tmp_path, target="y", method="fisher")
    np.testing.assert_allclose(found.scores, dubio.fisher_score(X, y), rtol=1e-10)


def test_csv_with_whole_numbers_first_and_fractions_and_text_later(tmp_path, monkeypatch):
    from dubio.streams import sources

    monkeypatch.setattr(sources, "_CSV_BLOCK", 200)
    rows = [f"{i},{i % 2}" for i in range(100)]
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "\n".join([*rows, "0.5,1"]) + "\n")
    expected = dubio.fisher_score(np.append(np.arange(100.0), 0.5)[:, None], np.append(np.arange(100) % 2, 1))
    np.testing.assert_allclose(rank_stream(path, target="y", method="fisher").scores, expected, rtol=1e-10)
    path.write_text("a,y\n" + "\n".join([*rows, "oops,1"]) + "\n")
    with pytest.raises(ValueError, match=r"t.csv has rows that cannot be read \(.*oops"):
        rank_stream(path, target="y", method="weighted_laplacian")


def test_a_truncated_file(frame, tmp_path):
    folder = _sources(frame, tmp_path)["folder"]
    whole = (folder / "part-2.parquet").read_bytes()
    (folder / "part-2.parquet").write_bytes(whole[: len(whole) // 2])
    seen = []
    with pytest.raises(ValueError, match=r"part-2.parquet cannot be read as a Parquet file \(.*\): is it cut short\?"):
        rank_stream(
            folder, target="y", exclude=list("pqr"), progress=lambda *at: seen.append(at), method="weighted_laplacian"
        )
    assert seen == []  # found before any row was read
    broken = bytearray(whole)
    broken[4:400] = b"\xff" * 396
    (folder / "part-2.parquet").write_bytes(bytes(broken))
    with pytest.raises(ValueError, match=r"part-2.parquet"):
        rank_stream(folder, target="y", exclude=list("pqr"), method="weighted_laplacian")
    assert {path.name for path in folder.iterdir()} == {"_SUCCESS", *(f"part-{i}.parquet" for i in range(4))}


@pytest.mark.parametrize("bad", ["nan", "null", "inf"])
def test_a_bad_value_is_located(frame, tmp_path, bad):
    column = frame["a"].to_list()
    column[777] = {"nan": float("nan"), "null": None, "inf": float("inf")}[bad]
    table = pa.table({"b": frame["b"], "a": pa.array(column, from_pandas=False), "y": frame["y"]})
    pq.write_table(table.slice(0, 700), tmp_path / "1.parquet")
    pq.write_table(table.slice(700), tmp_path / "2.parquet")
    word = "infinity" if bad == "inf" else "NaN"
    for batch_rows in (50, 1000):
        with pytest.raises(
            ValueError,
            match=rf"{word} in column 'a' \(position 1\), .* row 777 \(the batch of 2.parquet that starts at row",
        ):
            rank_stream(tmp_path, target="y", batch_rows=batch_rows, method="weighted_laplacian")


def test_a_nan_in_row_7000001_is_located(tmp_path):
    """Far into a long table: the row's number is that of the whole."""
    x = np.tile(np.random.default_rng(3).normal(size=1000), 7001).astype(np.float32)[:7_000_100]
    x[7_000_001] = np.nan
    table = pa.table({"x": x, "y": pa.array(np.arange(7_000_100) % 2, type=pa.int8())})
    with pytest.raises(ValueError, match=r"NaN in column 'x' \(position 0\), first in row 7000001 "):
        rank_stream(table, target="y", batch_rows=65_536, method="weighted_laplacian")


def test_bad_labels_are_located(frame):
    X = {"a": frame["a"]}
    half = frame["p"].fillna(0.5).to_numpy()
    wrong = np.where(np.arange(1000) == 640, 0.7, 0.0)
    table = pa.table(X | {"p": half, "q": 1 - half + wrong})
    with pytest.raises(ValueError, match=r"y .* sum to 1\.7, not to 1, in row 40 .*that starts at row 600\)"):
        rank_stream(table, soft=["p", "q"], batch_rows=100, method="weighted_laplacian")
    with pytest.raises(ValueError, match=r"only one class \('ant'"):
        rank_stream(pa.table(X | {"y": ["ant"] * 1000}), target="y", method="weighted_laplacian")
    with pytest.raises(ValueError, match="no labelled row"):
        rank_stream(pa.table(X | {"y": pa.nulls(1000, pa.string())}), target="y", method="weighted_laplacian")
    with pytest.raises(ValueError, match="regression"):
        rank_stream(pa.table(X | {"y": frame["a"]}), target="y", method="weighted_laplacian")


def test_what_is_no_table(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        rank_stream(tmp_path / "none.parquet", target="y", method="weighted_laplacian")
    with pytest.raises(ValueError, match="no Parquet, CSV or Arrow file"):
        rank_stream(tmp_path, target="y", method="weighted_laplacian")
    (tmp_path / "a.xlsx").write_text("")
    with pytest.raises(ValueError, match="must end in"):
        rank_stream(tmp_path / "a.xlsx", target="y", method="weighted_laplacian")
    with pytest.raises(ValueError, match="source is a dict"):
        rank_stream({}, target="y", method="weighted_laplacian")
    with pytest.raises(ValueError, match="source has no rows"):
        rank_stream(
            pa.table({"a": pa.array([], pa.float64()), "y": pa.array([], pa.int64())}),
            target="y",
            method="weighted_laplacian",
        )


@pytest.mark.slow
def test_a_gigabyte_in_half_a_gigabyte_of_memory(tmp_path):
    """The whole process, imports and all, stays under 500 MB while it ranks a 1 GB table."""
    code = """
import sys
from benchmarks.bench_scale import write_parquet, peak_resident_mb
from dubio.streams.stream import rank_stream
ranking = rank_stream(sys.argv[1], target="y", method="weighted_laplacian")
print(len(ranking.names), peak_resident_mb())
"""
    from benchmarks.bench_scale import write_parquet

    path = tmp_path / "big.parquet"
    write_parquet(path, gigabytes=1.0)
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    n_features, peak = done.stdout.split()
    assert int(n_features) == 100
    assert float(peak) < 500


def test_odd_types_of_columns():
    """Whole numbers beyond float64's own, decimals as classes; structures are refused by name."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=300)
    big = rng.integers(0, 2**62, size=300) + y * 2**61
    found = rank_stream(
        pa.table({"a": big, "b": rng.normal(size=300), "y": y}), target="y", method="weighted_laplacian"
    )
    assert found.scores[0] == pytest.approx(dubio.weighted_laplacian_score(big[:, None].astype(float), y)[0], rel=1e-9)
    decimals = pa.array(y).cast(pa.decimal128(21, 1))
    same = rank_stream(
        pa.table({"a": big, "b": rng.normal(size=300), "y": decimals}), target="y", method="weighted_laplacian"
    )
    assert same.scores[0] == found.scores[0]
    records = pa.array([{"k": int(v)} for v in y])
    with pytest.raises(ValueError, match=r"'y' .* holds struct.* text, whole numbers or booleans"):
        rank_stream(pa.table({"a": big, "y": records}), target="y", method="weighted_laplacian")


def test_missing_words_of_text_files(tmp_path):
    """In a CSV file "?" and "NA" are missing, in a column of labels as well; line ends may stand in quotes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=200)
    x = rng.normal(size=200) + y
    words = np.where(rng.random(200) < 0.3, rng.choice(["?", "NA", ""], size=200), np.array(["p", "q"])[y])
    text = "".join(f'{a},"{w}","two\nlines"\n' for a, w in zip(x, words, strict=True))
    (tmp_path / "t.csv").write_text("x,y,note\n" + text)
    known = np.isin(words, ["p", "q"])
    found = rank_stream(tmp_path / "t.csv", target="y", exclude=["note"], method="weighted_laplacian")
    assert found.scores[0] == pytest.approx(dubio.weighted_laplacian_score(x[known, None], y[known])[0], rel=1e-9)
