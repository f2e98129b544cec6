"""Tables in files: CSV, Excel, JSON, Parquet and Feather."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from dubio.errors import InputError, counted, counted_from_1, listed, nearest, quoted
from dubio.streams.text_files import (
    TEXT,
    HowToRead,
    arrow_to_pandas,
    called,
    first_line,
    line_of,
    plain_bytes,
    read_text,
    refuse_twins,
    rounded_note,
    rounded_notes,
    suffix_of,
)
from dubio.table.cells import EXACT, MISSING, as_float

#: The remedy for a column of JSON with values of several kinds.
_ALL_ALIKE = "write all values of a column as numbers, or all as text"

#: The format of a file, by the ending of its name; :data:`READERS` has a function for each format.
FORMATS = dict.fromkeys(TEXT, "text") | dict.fromkeys((".jsonl", ".ndjson", ".json"), "json")
FORMATS |= {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
FORMATS |= {".xlsx": "excel", ".xlsm": "excel"}


@dataclass(frozen=True)
class TableFile:
    """What was read from a file."""

    #: The table as a pandas frame; text stays text.
    frame: Any
    #: What separates the columns of a text file; a comma for other files.
    separator: str = ","
    #: What the user should know about how the file was read.
    notes: tuple[str, ...] = ()
    #: The Python expression that reads the same table.
    code: str = ""
    #: Where a row is in the file, in words, given its position in the frame.
    row_name: Callable[[int], str] = counted_from_1
    #: A sentence on the sheets of a workbook, if there were several to choose from.
    sheets: str = ""


def read_table(path: str, *, as_text: Collection[str] = ()) -> Any:
    """The table in a file as a pandas frame; see :func:`read_file`."""
    return read_file(path, HowToRead(as_text=tuple(as_text))).frame


def read_file(path: str, how: HowToRead | None = None) -> TableFile:
    """Read the table in a file; ``-`` reads CSV from standard input.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from dubio_app.files import read_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.csv")
    ...     _ = path.write_text("size;colour\\n1.5;red\\n?;blue\\n")
    ...     read_file(str(path)).frame
       size colour
    0   1.5    red
    1   NaN   blue
    """
    import pyarrow as pa

    how = how or HowToRead()
    if path != "-":
        _require_file(path)
    kind = table_format(path)
    _require_fitting(how, kind, path)
    try:
        file = READERS[kind](path, how)
    except (pa.ArrowException, UnicodeError, zlib.error, EOFError, gzip.BadGzipFile, KeyError) as error:
        raise _wrong(path, f"cannot be read as {kind}: {first_line(error)}", "is it damaged?") from error
    return replace(file, frame=tidy(file.frame, path, how.missing))


def table_format(path: str) -> str:
    """One of :data:`FORMATS`, from the ending of the file name."""
    suffix = suffix_of(path) if path != "-" else ".csv"
    if suffix in FORMATS:
        return FORMATS[suffix]
    hint = " (save the sheet as .xlsx or CSV first)" if suffix in (".xls", ".ods", ".xlsb") else ""
    remedy = "tables end in .csv, .tsv, .xlsx, .jsonl, .parquet or .feather, and text may be compressed (.csv.gz)"
    raise InputError(quoted(path), f"has the ending {quoted(suffix)}{hint}", remedy)


def frame_bytes(frame: Any, path: str) -> bytes:
    """The frame as the content of a file; the ending of ``path`` decides the format."""
    kind, buffer = table_format(path), io.BytesIO()
    if kind == "parquet":
        frame.to_parquet(buffer, index=False)
    elif kind == "feather":
        frame.reset_index(drop=True).to_feather(buffer)
    elif kind == "excel":
        _write_excel(_whole_beside_blanks(frame), buffer, path)
    if kind not in ("text", "json"):
        return buffer.getvalue()
    frame = _whole_beside_blanks(frame)
    separator = TEXT.get(suffix_of(path)) or ","
    text = _json_lines(frame) if kind == "json" else frame.to_csv(index=False, sep=separator, lineterminator="\n")
    if path.endswith(".gz"):
        return gzip.compress(text.encode(), mtime=0)  # no time stamp: the same table gives the same bytes
    if path.endswith(".zst"):
        raise InputError(quoted(path), "cannot be written: .zst files can only be read", "write .csv.gz instead")
    return bz2.compress(text.encode()) if path.endswith(".bz2") else bytes(text.encode())


def _write_excel(frame: Any, buffer: io.BytesIO, path: str) -> None:
    _require_openpyxl()
    from openpyxl.utils.exceptions import IllegalCharacterError

    try:
        frame.to_excel(buffer, index=False)
    except IllegalCharacterError as error:
        found = f"cannot be written: Excel takes no control characters, as in {quoted(first_line(error))}"
        raise InputError(quoted(path), found, "write .csv or .parquet instead") from error


def _whole_beside_blanks(frame: Any) -> Any:
    """The same frame; columns of whole numbers that became 49.0 because of an empty cell hold 49 again."""
    import numpy as np
    import pandas as pd

    whole = {}
    for place, name in enumerate(frame.columns):
        values = frame.iloc[:, place]
        if not (isinstance(values.dtype, np.dtype) and values.dtype.kind == "f" and values.isna().any()):
            continue
        known = values.dropna().to_numpy()
        minus_zero = np.signbit(known) & (known == 0)  # no whole number: its sign would be lost
        if len(known) and ((np.abs(known) < EXACT) & (known == np.round(known)) & ~minus_zero).all():
            whole[name] = pd.array(values.to_numpy(), dtype="Int64")
    return frame.assign(**whole) if whole else frame


def _json_lines(frame: Any) -> str:
    """One object per row, with all digits of the numbers; a missing cell is null."""
    columns = {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame.columns}
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)


def require_columns(frame: Any, names: list[str], option: str, sheets: str = "") -> None:
    """Raise if the frame lacks one of these columns; the message suggests similar names, or other ``sheets``."""
    for name in (name for name in names if name not in frame.columns):
        near = nearest(name, frame.columns)
        did, it = ("Did", "It") if sheets else ("did", "it")  # after the sentence on sheets
        similar, there = " or ".join(map(quoted, near)), listed(map(quoted, frame.columns))
        hint = f"{did} you mean {similar}?" if near else f"{it} has {there}"
        hint += " Write a comma in a name twice, as in 'a,, b'" if "," in "".join(near) else ""
        raise InputError(option, f"names {quoted(name)}, but the table has no such column", f"{sheets} {hint}".strip())


def _require_file(path: str) -> None:
    place = Path(path)
    try:
        size = place.stat().st_size
    except FileNotFoundError as error:
        folder = place.parent
        near = nearest(place.name, sorted(os.listdir(folder))) if folder.is_dir() else []
        hint = f"did you mean {' or '.join(quoted(str(folder / name)) for name in near)}?" if near else ""
        raise InputError(quoted(path), "does not exist", hint) from error
    except OSError as error:
        raise InputError(quoted(path), f"cannot be opened: {error.strerror}") from error
    if place.is_dir():
        raise InputError(quoted(path), "is a folder", "give one file")
    if size == 0:
        raise InputError(quoted(path), "is empty")


def _require_fitting(how: HowToRead, kind: str, path: str) -> None:
    """Raise if something is said about the file that its format does not have."""
    for name, value, kinds, what in (
        ("sep", how.separator, ("text",), "separators"),
        ("decimal", how.decimal, ("text",), "decimal marks"),
        ("encoding", how.encoding, ("text", "json"), "encodings"),
        ("sheet", how.sheet, ("excel",), "sheets"),
    ):
        if value is not None and kind not in kinds:
            raise InputError(name, f"={value!r}, but a {suffix_of(path)} file has no {what}", "leave it out")


def _read_text_file(path: str, how: HowToRead) -> TableFile:
    content = sys.stdin.buffer.read() if path == "-" else None
    frame, form = read_text(path, how, content)
    code = f"pd.read_csv({'sys.stdin' if path == '-' else repr(path)}, {form.pandas_code()})"
    return TableFile(frame, form.separator, form.notes, code, lambda row: line_of(path, content, form, row))


def _read_arrow(path: str, how: HowToRead) -> TableFile:
    """A Parquet or a Feather file."""
    import pyarrow.feather
    import pyarrow.parquet

    parquet = table_format(path) == "parquet"
    table = pyarrow.parquet.read_table(path) if parquet else pyarrow.feather.read_table(path)
    table.validate(full=True)  # text that is no UTF-8 would fail later, when a cell is looked at
    refuse_twins(table.column_names, path)
    code = f"pd.read_{table_format(path)}({path!r})"
    return TableFile(arrow_to_pandas(table), notes=rounded_notes(table, path), code=code)


def _read_json(path: str, how: HowToRead) -> TableFile:
    """One object per line, or a list of objects. A column is every name that any of them has."""
    import pyarrow as pa

    try:
        with plain_bytes(path) as stream:
            text = stream.read().decode(how.encoding or "utf-8-sig")
    except OSError as error:
        raise _wrong(path, f"cannot be read: {first_line(error)}", "is it damaged?") from error
    except UnicodeError as error:
        raise _wrong(path, f"is not UTF-8 text ({first_line(error)})", "name its encoding") from error
    rows, places = _objects(path, text)
    columns, notes = {}, []
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        _refuse_odd(values, name, path, places)
        large = [value for value in values if isinstance(value, int) and not -(2**63) <= value < 2**64]
        if large:  # no column of Arrow holds them
            values = [as_float(value) if type(value) is int else value for value in values]
            notes.append(rounded_note(name, path, max(large, key=abs)))
        try:
            columns[name] = pa.array(values)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            found = f"cannot be read as json: in column {quoted(name)}, {first_line(error)}"
            raise _wrong(path, found, _ALL_ALIKE) from error
        if pa.types.is_string(columns[name].type):
            with contextlib.suppress(pa.ArrowInvalid):  # not all of them are dates
                columns[name] = columns[name].cast(pa.timestamp("s"))
    table = pa.table(columns)
    frame = _without(arrow_to_pandas(table), MISSING, text_only=True)
    code = f"pd.read_json({path!r}{'' if _is_list(text) else ', lines=True'})"
    notes += rounded_notes(table, path)
    return TableFile(frame, notes=tuple(notes), code=code, row_name=lambda row: f"{places[row]} of the file")


def _wrong(path: str, found: str, remedy: str = "write one object per line", *, at: str = "") -> InputError:
    """An error about a file, or about a place in it."""
    return InputError(f"{called(path)}, {at}," if at else called(path), found, remedy)


def _is_list(text: str) -> bool:
    """Whether JSON is one list, and not one object per line."""
    return text.lstrip()[:1] == "["


def _objects(path: str, text: str) -> tuple[list[Any], list[str]]:
    """The objects of a file with their places in it."""
    if _is_list(text):
        rows = _from_json(path, text)
        places = [f"object {number}" for number in range(1, len(rows) + 1)]
    else:
        full = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        places = [f"line {number}" for number, _ in full]
        rows = [_from_json(path, line, place) for (_, line), place in zip(full, places, strict=True)]
    for row, place in zip(rows, places, strict=True):
        if not isinstance(row, dict):
            remedy = "write a list of objects" if _is_list(text) else "write one object per line"
            raise _wrong(path, f"is {quoted(json.dumps(row)[:40])}", remedy, at=place)
    return rows, places


def _from_json(path: str, text: str, place: str = "") -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _wrong(path, f"is not JSON: {first_line(error)}", at=place) from error
    except RecursionError as error:
        found = "holds too many lists or objects inside each other"
        raise _wrong(path, found, "give each value a column of its own", at=place) from error


def _refuse_odd(values: list[Any], name: str, path: str, places: list[str]) -> None:
    """Raise if a column holds lists or objects, or values of several kinds."""
    first: tuple[type, str] | None = None
    for value, place in zip(values, places, strict=True):
        if value is None:
            continue
        if isinstance(value, list | dict):
            found = f"holds lists or objects in column {quoted(name)}, such as {quoted(value)}"
            raise _wrong(path, found, "give each value a column of its own")
        kind = float if type(value) is int else type(value)
        first = first or (kind, place)
        if kind is not first[0]:
            found = f"has {quoted(value)} in column {quoted(name)}, and {first[1]} has a value of another kind"
            raise _wrong(path, found, _ALL_ALIKE, at=place)


def _require_openpyxl() -> None:
    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise ImportError("Excel files need openpyxl: pip install 'dubio[excel]'") from error


def _read_excel(path: str, how: HowToRead) -> TableFile:
    """One sheet of a workbook: the named one, or the first that is not empty."""
    import zipfile

    import pandas as pd

    _require_openpyxl()
    try:
        book = pd.ExcelFile(path, engine="openpyxl")
    except (zipfile.BadZipFile, OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise _wrong(path, f"cannot be read as Excel: {first_line(error)}", "is it damaged?") from error
    sheets = ""
    with book:
        names = [str(name) for name in book.sheet_names]
        sheet = how.sheet
        if sheet is not None and sheet not in names:
            raise InputError("sheet", f"={sheet!r}, but the file has {listed(map(quoted, names))}", "give one of them")
        if sheet is None:
            filled = [name for name in names if _holds_cells(book.book[name])]
            sheet = filled[0] if filled else names[0]
            if len(filled) > 1:
                others = listed(map(quoted, (name for name in filled if name != sheet)))
                sheets = f"sheet {quoted(sheet)} of {called(path)} was read; --sheet names another one: {others}."
        marks = ["", *MISSING]
        raw = pd.read_excel(book, sheet, header=None, dtype=object, keep_default_na=False, na_values=marks)
    raw = raw.dropna(how="all", axis=0)
    raw = raw.loc[:, raw.notna().any(axis=0)] if len(raw) else raw
    if not len(raw):
        raise InputError(called(path), f"is empty: sheet {quoted(sheet)} has no cells")
    header, body = raw.iloc[0], raw.iloc[1:]
    if header.notna().sum() <= 1 < raw.shape[1] and len(body) and body.iloc[0].notna().sum() > 1:
        place = f"{quoted(header.dropna().iloc[0])} in row {raw.index[0] + 1} of sheet {quoted(sheet)}"
        found = f"has only {place}, where the names of {counted(raw.shape[1], 'column')} should be"
        raise _wrong(path, found, "delete what stands above the names of the columns")
    names_of = ["" if pd.isna(name) else str(name) for name in header]
    refuse_twins(names_of, path)
    frame = body.set_axis(names_of, axis=1).reset_index(drop=True).infer_objects()
    as_text = [name for name in how.as_text if name in frame.columns]
    frame[as_text] = frame[as_text].map(lambda value: value if pd.isna(value) else str(value))
    how_read = f"dtype=object, keep_default_na=False, na_values={marks!r}"
    code = f"pd.read_excel({path!r}, sheet_name={sheet!r}, {how_read}).infer_objects()"
    rows, notes = body.index.to_numpy() + 1, (sheets,) if sheets else ()
    return TableFile(frame, ",", notes, code, lambda row: f"row {rows[row]} of sheet {quoted(sheet)}", sheets)


#: The function that reads each format.
READERS = dict.fromkeys(("parquet", "feather"), _read_arrow)
READERS |= {"text": _read_text_file, "excel": _read_excel, "json": _read_json}


def _holds_cells(sheet: Any) -> bool:
    """Whether a sheet holds any cell; a chart sheet does not."""
    return hasattr(sheet, "iter_rows") and any(
        cell is not None for row in sheet.iter_rows(values_only=True, max_row=100) for cell in row
    )


def _without(frame: Any, marks: tuple[str, ...], *, text_only: bool = False) -> Any:
    """The frame with the cells that hold one of the marks made missing; -999 also means -999.0."""
    numbers = []
    for mark in marks:
        with contextlib.suppress(ValueError):
            numbers.append(float(mark))
    frame = frame.copy(deep=False)
    for name, column in frame.items():
        kind = getattr(column.dtype, "kind", "O")
        if kind in ("OUS" if text_only else "OUSiuf"):
            hidden = column.isin(numbers if kind in "iuf" else marks)
            frame[name] = column.mask(hidden) if hidden.any() else column
    return frame


def tidy(frame: Any, path: str, missing: tuple[str, ...] = ()) -> Any:
    """Give every column a text name, and empty the cells that mean "missing"; raise if there is no row."""
    frame = frame.reset_index(drop=True)
    frame.columns = [str(name) if str(name).strip() else f"unnamed_{j}" for j, name in enumerate(frame.columns)]
    for name in frame.columns:
        if frame[name].dtype == object and frame[name].dropna().map(lambda value: isinstance(value, Decimal)).all():
            frame[name] = frame[name].astype(float)  # Parquet's decimals are numbers
    if len(frame) == 0:
        raise InputError(called(path), f"is empty: it has {counted(len(frame.columns), 'column')} and no rows")
    return _without(frame, missing)
