"""Random files of every format, with columns as people have them: dates, units, marks, long and nested cells."""

from __future__ import annotations

import datetime
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Rng = np.random.Generator

#: Cells of columns, each group of which people write beside each other.
_CELLS: tuple[tuple[Any, ...], ...] = (
    ("1,5", "2,25", "-", "k.A.", "<0,5"),
    ("3 mg/l", "0.5 g/l", "4", "5 mmol/l"),
    ("1.2.2024", "2024-03-01", "3/4/2024", "5 May 2024", "1.2.24"),
    ("2024-01-01T10:00:00+02:00", "2024-01-02T10:00:00Z"),
    ("6:30", "18:45:10", "25:00"),
    ("I", "II", "IIIa", "IV", "0"),
    ("low", "high", "medium", "Low"),
    ("<5", "5-10", ">10", "7"),
    ("4", "6", "8", "rotary"),
    ("m", "männlich", "F", "f"),
    ("1 - 10%", "0", "11 - 20%"),
    ("x" * 3000, "y", ""),
    ("1e400", "-1e400", "NaN", "inf", "１２"),
    ("=1+1", "@x", "+3", "\x1b]0;t\x07", "\x9b31m", "\u202eabc"),
    ("12345678901234567890", "1", "2"),
    ("1 234,5", "1.234,5", "1'234.5", "1,234"),
    ("不明", "3", "4.5", "мужчина"),
    ("#DIV/0!", "1", "2"),
)
_OBJECTS: tuple[Callable[[int], Any], ...] = (
    lambda i: [i, 1],
    lambda i: {"u": i},
    lambda i: b"x",
    lambda i: datetime.date(2024, 1, 1 + i % 28),
    lambda i: datetime.datetime(2024, 1, 1 + i % 28, tzinfo=datetime.UTC),
    lambda i: datetime.time(i % 24),
    lambda i: datetime.timedelta(hours=i),
    lambda i: None if i % 3 else i % 2 == 0,
    lambda i: 2**70 + i,
)

ENDINGS = (".xlsx", ".xls", ".jsonl", ".json", ".sav", ".dta", ".arff", ".h5ad", ".jdx", ".parquet", ".feather")


def column(rng: Rng, n: int, nested: bool = False) -> Any:
    """A column as people have it; ``nested`` also gives cells that no text file holds."""
    if nested and rng.random() < 0.5:
        make = _OBJECTS[int(rng.integers(len(_OBJECTS)))]
        return pd.Series([make(i) for i in range(n)], dtype=object)
    cells = _CELLS[int(rng.integers(len(_CELLS)))]
    return pd.Series([cells[int(i)] for i in rng.integers(len(cells), size=n)], dtype=object)


def file_of(rng: Rng, frame: pd.DataFrame) -> tuple[str, bytes]:
    """The ending and the content of a file of a format that is not text; JSON if the format cannot hold it."""
    ending = str(rng.choice(ENDINGS))
    try:
        return ending, _WRITERS.get(ending, _json)(rng, frame)
    except Exception:  # the writers of other packages refuse in their own ways
        return ".jsonl", _json(rng, frame)


def _json(rng: Rng, frame: pd.DataFrame) -> bytes:
    rows = [{name: _plain(value) for name, value in row.items()} for row in frame.to_dict("records")]
    if rng.random() < 0.3:
        return json.dumps(rows, default=str).encode()
    return "".join(json.dumps(row, default=str) + "\n" for row in rows).encode()


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _xlsx(rng: Rng, frame: pd.DataFrame) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    sheet: Any = book.active
    if rng.random() < 0.2:
        sheet.append(["a title"])
    if rng.random() < 0.1:
        sheet.append([])
    sheet.append([str(name) for name in frame.columns])
    for row in frame.itertuples(index=False):
        sheet.append([None if value is None or value != value else value for value in row])
    corner = f"A{sheet.max_row}"
    if rng.random() < 0.1:
        sheet[str(rng.choice(["XFD1048576", "B9", corner]))] = str(rng.choice(["=1+1", "x", "#N/A"]))
    if rng.random() < 0.2:
        sheet.merge_cells(str(rng.choice(["A1:B1", "A2:A4", "B3:C5"])))
    if rng.random() < 0.1:
        sheet.row_dimensions[2].hidden = True
        sheet.auto_filter.ref = "A1:B3"
    if rng.random() < 0.1:
        book.create_sheet("more").append(["z"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _xls(rng: Rng, frame: pd.DataFrame) -> bytes:
    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("s")
    for j, name in enumerate(frame.columns):
        sheet.write(0, j, str(name))
        for i, value in enumerate(frame[name].tolist(), start=1):
            if value is not None and value == value:
                sheet.write(i, j, value)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _by_path(write: Callable[[Path], Any], ending: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"t{ending}")
        write(path)
        return path.read_bytes()


def _sav(rng: Rng, frame: pd.DataFrame) -> bytes:
    import pyreadstat

    named = frame.set_axis([f"v{j}" for j in range(len(frame.columns) - 1)] + ["y"], axis=1)
    labels = {"v0": {1.0: "one", 2.0: "two"}} if named["v0"].dtype.kind == "f" else None
    return _by_path(lambda path: pyreadstat.write_sav(named, str(path), variable_value_labels=labels), ".sav")


def _dta(rng: Rng, frame: pd.DataFrame) -> bytes:
    named = frame.set_axis([f"v{j}" for j in range(len(frame.columns) - 1)] + ["y"], axis=1)
    return _by_path(lambda path: named.to_stata(path, write_index=False), ".dta")


def _arff(rng: Rng, frame: pd.DataFrame) -> bytes:
    lines = ["@relation r"]
    for j, name in enumerate(frame.columns):
        values = sorted({str(value) for value in frame[name]})
        kind = "numeric" if frame[name].dtype.kind in "iuf" else "{" + ",".join(f"'{one}'" for one in values) + "}"
        lines.append(f"@attribute {'y' if name == 'y' else f'v{j}'} {kind}")
    lines.append("@data")
    lines += [",".join(f"'{v}'" if isinstance(v, str) else str(v) for v in row) for row in frame.to_numpy(dtype=object)]
    return "\n".join(lines).encode()


def _h5ad(rng: Rng, frame: pd.DataFrame) -> bytes:
    import h5py

    def write(path: Path) -> None:
        with h5py.File(path, "w") as file:
            numbers = frame.select_dtypes("number")
            file["X"] = numbers.to_numpy(dtype=np.float64)
            var, obs = file.create_group("var"), file.create_group("obs")
            var["_index"] = [str(name) for name in numbers.columns]
            obs["_index"] = [f"cell {i}" for i in range(len(frame))]
            for group in (var, obs):
                group.attrs["_index"] = "_index"
            obs["y"] = frame["y"].astype(str).to_numpy(dtype=object)

    return _by_path(write, ".h5ad")


def _jcamp(rng: Rng, frame: pd.DataFrame) -> bytes:
    blocks = []
    for i, row in enumerate(frame.select_dtypes("number").to_numpy()[:8]):
        heights = " ".join(f"{value:.6g}" for value in np.resize(np.nan_to_num(row), 6))
        head = f"##TITLE= s{i}\n##FIRSTX= 400\n##LASTX= 405\n##NPOINTS= 6\n##Y= {frame['y'].iloc[i]}\n"
        blocks.append(f"{head}##XYDATA= (X++(Y..Y))\n400 {heights}\n##END=\n")
    return "".join(blocks).encode()


def _arrow(ending: str) -> Callable[[Rng, pd.DataFrame], bytes]:
    def write(rng: Rng, frame: pd.DataFrame) -> bytes:
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False) if ending == ".parquet" else frame.to_feather(buffer)
        return buffer.getvalue()

    return write


_WRITERS: dict[str, Callable[[Rng, pd.DataFrame], bytes]] = {
    ".xlsx": _xlsx,
    ".xls": _xls,
    ".sav": _sav,
    ".dta": _dta,
    ".arff": _arff,
    ".h5ad": _h5ad,
    ".jdx": _jcamp,
    ".parquet": _arrow(".parquet"),
    ".feather": _arrow(".feather"),
}
