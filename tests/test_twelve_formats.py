"""The same table in many formats: the same ranking, p-values and alerts."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from dubio.errors import InputError
from dubio.table.read import read_any_table
from dubio_app.command.run import run
from dubio_app.files import frame_bytes, read_file, statistics_packages
from tests.test_workbooks import written_ods, written_xls

pyreadstat = pytest.importorskip("pyreadstat")
h5py = pytest.importorskip("h5py")

FORMATS = ["csv", "tsv", "semicolons.csv", "jsonl", "xlsx", "xls", "ods", "parquet", "feather", "sav", "dta", "arff"]
FORMATS += ["xpt", "sas7bdat"]


def the_table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 80
    ill = rng.integers(0, 2, n)
    frame = pd.DataFrame({"crp": (rng.normal(size=n) + 1.5 * ill).round(3), "alb": rng.normal(40, 3, n).round(2)})
    frame.loc[rng.random(n) < 0.1, "alb"] = np.nan
    frame["count"] = rng.integers(0, 9, n).astype(float)
    frame["ward"] = np.array(["north", "süd", "west"])[rng.integers(0, 3, n)]
    frame["copy"] = np.array(["p", "q"])[ill]
    frame["device"] = 3.0
    frame["outcome"] = np.array(["well", "ill"])[ill]
    return frame


def cells(frame: pd.DataFrame) -> list[list]:
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return [list(frame.columns), *rows]


def write(path, frame: pd.DataFrame) -> None:
    """The frame in the format of the file's ending."""
    ending = path.suffix
    if path.name.startswith("semicolons"):
        frame.to_csv(path, index=False, sep=";", decimal=",", encoding="cp1252")
    elif ending == ".xls":
        written_xls(path, cells(frame))
    elif ending == ".ods":
        written_ods(path, cells(frame))
    elif ending == ".sav":
        pyreadstat.write_sav(frame, str(path))
    elif ending == ".dta":
        pyreadstat.write_dta(frame, str(path))
    elif ending == ".xpt":
        pyreadstat.write_xport(frame, str(path), file_format_version=8)
    elif ending == ".sas7bdat":  # only readstat writes it
        pyreadstat.write_sav(frame, str(path.with_suffix(".sav")))
        if shutil.which("readstat") is None:
            pytest.skip("needs Debian's readstat")
        subprocess.run(["readstat", path.with_suffix(".sav"), path], check=True, capture_output=True)
    elif ending == ".arff":
        kinds = [
            "numeric" if frame[name].dtype == float else f"{{{','.join(sorted(set(frame[name])))}}}" for name in frame
        ]
        lines = [
            "@relation t",
            *(f"@attribute {name} {kind}" for name, kind in zip(frame, kinds, strict=True)),
            "@data",
        ]
        lines += [",".join("?" if value is None else str(value) for value in row) for row in cells(frame)[1:]]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        path.write_bytes(frame_bytes(frame, str(path)))


def answer(path, capsys) -> tuple[list, np.ndarray, list]:
    words = ["rank", str(path), "-t", "outcome", "-m", "fisher", "--json", "--quiet"]
    assert run(words) == 0, capsys.readouterr().err
    found = json.loads(capsys.readouterr().out)
    names = [row["feature"] for row in found["features"]]
    numbers = np.array([[row["pvalue"], row["qvalue"]] for row in found["features"]], dtype=float)
    return names, numbers, [(one["kind"], one["features"], one["sentence"]) for one in found["alerts"]]


@pytest.mark.parametrize("ending", FORMATS)
def test_the_same_answer(tmp_path, capsys, ending):
    frame = the_table()
    (tmp_path / "plain").mkdir()
    frame.to_parquet(tmp_path / "plain" / "t.parquet", index=False)
    expected = answer(tmp_path / "plain" / "t.parquet", capsys)
    path = tmp_path / (f"t.{ending}" if "." not in ending else ending)
    write(path, frame)
    found = answer(path, capsys)
    assert found[0] == expected[0] and found[2] == expected[2]
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
    assert [one[0] for one in expected[2]] == ["copy", "constant"]


@pytest.mark.parametrize("sparse", [False, True])
def test_annotated_matrices(tmp_path, capsys, sparse):
    frame = the_table().fillna(40.0)
    numbers = frame[["crp", "alb", "count"]].to_numpy()
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        if sparse:
            from scipy.sparse import csr_array

            matrix, group = csr_array(numbers), file.create_group("X")
            group.attrs["encoding-type"] = "csr_matrix"
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        else:
            file["X"] = numbers
        for name, index, columns in (
            ("var", ["crp", "alb", "count"], []),
            ("obs", [f"c{i}" for i in range(80)], ["outcome"]),
        ):
            group = file.create_group(name)
            group.attrs["_index"], group.attrs["column-order"] = "_index", columns
            group["_index"] = np.array(index, dtype="S")
        known = file["obs"].create_group("outcome")
        known["codes"] = pd.Categorical(frame["outcome"]).codes
        known["categories"] = np.array(["ill", "well"], dtype="S")
    file = read_file(str(tmp_path / "t.h5ad"))
    assert file.row_name(2) == "row 3 (c2)" and list(file.frame.columns) == ["crp", "alb", "count", "outcome"]
    frame[["crp", "alb", "count", "outcome"]].to_parquet(tmp_path / "t.parquet", index=False)
    found, expected = (answer(tmp_path / f"t.{ending}", capsys) for ending in ("h5ad", "parquet"))
    assert found[0] == expected[0]
    np.testing.assert_array_equal(found[1], expected[1])


def test_labels_and_missing_codes_of_a_package(tmp_path):
    frame = pd.DataFrame({"sex": [1.0, 2, 1, 2], "pain": [1.0, 2, 3, 1], "n": [5.0, 99, 7, 8], "k": [5.0, 98, 7, 8]})
    labels = {
        "sex": {1: "male", 2: "female"},
        "pain": {1: "mild", 2: "bad", 3: "worst"},
        "n": {99: "refused"},
        "k": {98: "no"},
    }
    more = {
        "variable_measure": {"pain": "ordinal"},
        "missing_ranges": {"n": [99]},
        "column_labels": {"sex": "Sex at birth"},
    }
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels=labels, **more)
    file = read_file(str(tmp_path / "t.sav"))
    assert file.frame["sex"].tolist() == ["male", "female"] * 2 and file.labels == {"sex": "Sex at birth"}
    assert list(file.frame["pain"].cat.categories) == ["mild", "bad", "worst"] and file.frame["pain"].cat.ordered
    assert np.isnan(file.frame["n"][1]) and file.frame["k"][1] == 98
    assert len(file.notes) == 1 and "98 (no)" in file.notes[0]


@pytest.mark.parametrize(
    "ending", ["sav", "dta", "sas7bdat", "xpt", "por", "arff", "h5ad", "xls", "xlsb", "ods", "parquet"]
)
def test_what_is_no_such_file_is_named(tmp_path, capsys, ending):
    path = tmp_path / f"t.{ending}"
    for content in (b"no such file\n" * 30, b"\0" * 500, b"PK\x03\x04" + bytes(range(256))):
        path.write_bytes(content)
        assert run(["rank", str(path), "-t", "y"]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and f"t.{ending}" in err


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_files_of_packages_are_read_in_parts(tmp_path, monkeypatch, ending):
    """While text is read it takes several times its size, so large files are read some rows at a time."""
    n = 25
    frame = pd.DataFrame({"x": np.arange(n) + 0.5, "word": [f"w{i}" * (1 + i % 3) for i in range(n)]})
    frame["day"] = pd.Timestamp("2020-02-01") + pd.to_timedelta(np.arange(n), unit="D")
    frame["sex"] = np.arange(n) % 2 + 1.0
    frame.loc[:9, ["x", "word", "day"]] = None  # the first parts have no value at all
    path = str(tmp_path / f"t.{ending}")
    labels = {"variable_value_labels": {"sex": {1: "male", 2: "female"}}} if ending != "xpt" else {}
    getattr(pyreadstat, {"sav": "write_sav", "dta": "write_dta", "xpt": "write_xport"}[ending])(frame, path, **labels)
    whole = read_file(path)
    monkeypatch.setattr(statistics_packages, "_PART_BYTES", 100)
    in_parts = read_file(path)
    pd.testing.assert_frame_equal(in_parts.frame, whole.frame)
    assert in_parts.labels == whole.labels and in_parts.notes == whole.notes


def test_a_file_of_a_package_that_does_not_fit_is_refused_before(tmp_path, capsys, monkeypatch):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(the_table(), str(path))
    monkeypatch.setattr(statistics_packages, "_ROOM", 1e12)
    assert run(["rank", str(path), "-t", "outcome"]) == 2
    assert "GB of memory" in capsys.readouterr().err


def sparse_cells(path, n: int = 60, d: int = 9) -> None:
    """A file of single cells whose matrix is stored without zeros."""
    from scipy.sparse import csc_array

    rng = np.random.default_rng(0)
    ill = np.arange(n) % 2
    counts = rng.poisson(0.4 + 0.9 * (np.arange(d) < 2) * ill[:, None], size=(n, d)).astype(np.float32)
    with h5py.File(path, "w") as file:
        group, matrix = file.create_group("X"), csc_array(counts)
        group.attrs["encoding-type"] = "csc_matrix"
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(matrix, part)
        for name, index in (("var", [f"g{j}" for j in range(d)]), ("obs", [f"c{i}" for i in range(n)])):
            group = file.create_group(name)
            group.attrs["_index"], group["_index"] = "_index", np.array(index, dtype="S")
        file["obs"].attrs["column-order"] = ["batch", "depth", "state"]
        file["obs"]["batch"] = np.array([f"b{i % 3}" for i in range(n)], dtype="S")
        file["obs"]["depth"] = rng.integers(1000, 9000, n)
        file["obs"]["state"] = np.array(["well", "ill"], dtype="S")[ill]


def test_a_sparse_matrix_stays_sparse(tmp_path, capsys, monkeypatch):
    path = tmp_path / "t.h5ad"
    sparse_cells(path)
    file = read_file(str(path))
    assert all(isinstance(file.frame[f"g{j}"].dtype, pd.SparseDtype) for j in range(9)) and "batch" in file.unused
    words = ["rank", str(path), "-t", "state", "-m", "fisher", "--quiet"]
    found = {}
    for cells in (1, 10_000_000):  # most of a table that is made dense although it need not be
        monkeypatch.setattr("dubio.table.read._SMALL_CELLS", cells)
        assert run([*words, "--json", "--stability", "2"]) == 0, capsys.readouterr().err
        found[cells] = json.loads(capsys.readouterr().out)
        assert run([*words, "--report", str(tmp_path / "out.html")]) == 0, capsys.readouterr().err
        assert ("sparse" in capsys.readouterr().out) == (cells == 1)
    rows = [[(one["feature"], one["pvalue"]) for one in found[cells]["features"]] for cells in found]
    assert [name for name, _ in rows[0]] == [name for name, _ in rows[1]] and len(rows[0]) == 10
    np.testing.assert_allclose([p for _, p in rows[0]], [p for _, p in rows[1]], rtol=1e-6)
    for command in ("audit", "look"):
        assert run([command, str(path), *(["-t", "state"] if command == "audit" else [])]) == 0
    monkeypatch.setattr("dubio.table.matrix.MOST_DENSE", 100)
    assert run(["audit", str(path), "-t", "state"]) == 2
    assert "too many for a dense table" in capsys.readouterr().err


@pytest.mark.parametrize("place", [500_000_000, -5, 10_000])
def test_a_sparse_matrix_with_places_outside_is_refused(tmp_path, place, capsys):
    import h5py

    path = tmp_path / "t.h5ad"
    sparse_cells(path)
    with h5py.File(path, "r+") as file:
        file["X"]["indices"][0] = place
    assert run(["look", str(path)]) == 2
    assert "is it damaged?" in capsys.readouterr().err


def test_a_large_sparse_frame_holds_numbers_only(monkeypatch):
    monkeypatch.setattr("dubio.table.read._SMALL_CELLS", 1)
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1, 0, 2]), "b": [1, 2, 3, 4], "c": list("xyxy")})
    table = read_any_table(frame[["a", "b"]], accept_sparse=True)
    assert table.names == ["a", "b"] and table.matrix.toarray().tolist() == [[0, 1], [1, 2], [0, 3], [2, 4]]
    with pytest.raises(InputError, match="in 'c'"):
        read_any_table(frame, accept_sparse=True)
