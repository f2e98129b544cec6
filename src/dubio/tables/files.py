"""Read tables from files (CSV, TSV, Parquet, Feather), with errors that say where the problem is.

:func:`read_table` reads a whole file. Streams take the separator and the rules for missing cells from this module, so
all text tables are read in the same way.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

from dubio.errors import InputError, counted, listed, nearest, quoted

#: Text that means "missing" in a text file, besides empty cells.
MISSING = ("?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "<NA>")
_TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None, ".data": None}
_COMPRESSED = (".gz", ".bz2", ".zst")
#: Bytes per block. Column types are inferred from the first block, and a row must fit into one block.
_BLOCK = 1 << 26


def read_table(path: str, *, as_text: Collection[str] = ()) -> Any:
    """The table in a file as a pandas frame; see :func:`read_parted_table`."""
    return read_parted_table(path, as_text=as_text)[0]


def read_parted_table(path: str, *, as_text: Collection[str] = ()) -> tuple[Any, str]:
    """The table in a file as a pandas frame, and the separator of its columns; ``-`` reads CSV from standard input.

    In text files, the columns named in ``as_text`` stay text even if they look like numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from dubio.tables.files import read_parted_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.csv")
    ...     _ = path.write_text("size,colour\\n1.5,red\\n?,blue\\n")
    ...     read_parted_table(str(path))[0]
       size colour
    0   1.5    red
    1   NaN   blue
    """
    import pyarrow as pa

    if path != "-":
        _require_file(path)
    try:
        kind = table_format(path)
        if kind == "parquet":
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(path)
        elif kind == "feather":
            import pyarrow.feather

            table = pyarrow.feather.read_table(path)
        else:
            frame, separator = _read_text(path, as_text)
            return _tidy(frame, path), separator
    except UnicodeDecodeError as error:
        raise InputError(
            quoted(path),
            f"is not UTF-8 text (byte {error.object[error.start]:#x})",
            'save it as UTF-8, in a spreadsheet as "CSV UTF-8"',
        ) from error
    except (pa.ArrowException, zlib.error, EOFError, gzip.BadGzipFile, KeyError) as error:
        raise InputError(quoted(path), f"cannot be read as {kind}: {first_line(error)}", "is it damaged?") from error
    _refuse_twins(table.column_names, path)
    return _tidy(table.to_pandas(), path), ","


def table_format(path: str) -> str:
    """``"text"``, ``"parquet"`` or ``"feather"``, from the ending of the file name."""
    if path == "-":
        return "text"
    suffix = _suffix(path)
    if suffix in (".parquet", ".pq"):
        return "parquet"
    if suffix in (".feather", ".arrow"):
        return "feather"
    if suffix in _TEXT:
        return "text"
    hint = " (save the sheet as CSV first)" if suffix in (".xlsx", ".xls", ".ods") else ""
    raise InputError(
        quoted(path),
        f"has the ending {quoted(suffix)}{hint}",
        "tables end in .csv, .tsv, .parquet or .feather, and text may be compressed (.csv.gz)",
    )


def frame_bytes(frame: Any, path: str) -> bytes:
    """The frame as the content of a file; the ending of ``path`` decides the format."""
    kind = table_format(path)
    buffer = io.BytesIO()
    if kind == "parquet":
        frame.to_parquet(buffer, index=False)
    elif kind == "feather":
        frame.reset_index(drop=True).to_feather(buffer)
    else:
        text = frame.to_csv(index=False, sep=_TEXT[_suffix(path)] or ",", lineterminator="\n").encode()
        if path.endswith(".gz"):
            return gzip.compress(text, mtime=0)  # no time stamp: the same table gives the same bytes
        if path.endswith(".bz2"):
            return bz2.compress(text)
        if path.endswith(".zst"):
            raise InputError(quoted(path), "cannot be written: .zst files can only be read", "write .csv.gz instead")
        return text
    return buffer.getvalue()


def require_columns(frame: Any, names: list[str], option: str) -> None:
    """Raise if the frame lacks one of these columns; the message suggests similar names."""
    for name in names:
        if name in frame.columns:
            continue
        near = nearest(name, frame.columns)
        hint = (
            f"did you mean {' or '.join(map(quoted, near))}?"
            if near
            else f"it has {listed(map(quoted, frame.columns))}"
        )
        if any("," in other for other in near):
            hint += " Write a comma in a name twice, as in 'a,, b'"
        raise InputError(option, f"names {quoted(name)}, but the table has no such column", hint)


def _suffix(path: str) -> str:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


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


def _read_text(path: str, as_text: Collection[str]) -> tuple[Any, str]:
    import pyarrow as pa
    import pyarrow.csv

    content = sys.stdin.buffer.read() if path == "-" else None
    separator = separator_of(path, content)
    source = pa.input_stream(io.BytesIO(content) if content is not None else path)
    try:
        with source:
            table = pyarrow.csv.read_csv(
                source,
                read_options=pyarrow.csv.ReadOptions(block_size=_BLOCK),
                parse_options=parse_options(separator),
                convert_options=convert_options(column_types=dict.fromkeys(as_text, pa.string())),
            )
    except (pa.ArrowException, OSError) as error:
        _explain(path, content, separator, error)
        import pandas as pd  # the type of a column changes further down: read all rows at once

        with _lines(path, content) as lines:  # pandas would rename columns with the same name
            header = next(csv.reader(lines, delimiter=separator), [])
        _refuse_twins(header, path)
        source_again: Any = io.BytesIO(content) if content is not None else path
        frame = pd.read_csv(
            source_again,
            sep=separator,
            dtype=dict.fromkeys(as_text, str),
            keep_default_na=False,
            na_values=["", *MISSING],
            float_precision="round_trip",
            low_memory=False,
        )
        return frame, separator
    _refuse_twins(table.column_names, path)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_binary(column.type):
            raise InputError(quoted(path), f"holds text that is not UTF-8 in column {quoted(name)}", "save it as UTF-8")
    return table.to_pandas(), separator


def parse_options(separator: str) -> Any:
    """How lines of text are split into cells, for whole files and streams alike."""
    import pyarrow.csv

    return pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True)


def convert_options(**more: Any) -> Any:
    """How cells become values, above all which cells are missing; for whole files and streams alike."""
    import pyarrow.csv

    return pyarrow.csv.ConvertOptions(null_values=["", *MISSING], strings_can_be_null=True, **more)


def separator_of(path: str, content: bytes | None = None) -> str:
    """The separator of the columns: a tab for .tsv, otherwise the most frequent candidate outside quotes in the
    header."""
    with _lines(path, content) as lines:
        try:
            header = next((line for line in lines if line.strip()), "")
        except (OSError, EOFError) as error:
            raise InputError(quoted(path), f"cannot be read: {first_line(error)}") from error
    if not header:
        raise InputError(_called(path), "is empty")
    own = (_TEXT.get(_suffix(path)) if path != "-" else None) or ","
    if own == "\t":
        return own
    header = re.sub(r'"[^"]*"', "", header)
    # if counts are equal, the first candidate wins
    return max((own, ";", "\t", "|"), key=header.count)


@contextmanager
def _lines(path: str, content: bytes | None) -> Iterator[TextIO]:
    """The decompressed text of a file. Bytes that are not UTF-8 are replaced: the text serves for messages only."""
    options: dict[str, Any] = {"encoding": "utf-8-sig", "errors": "replace", "newline": ""}
    if content is not None:
        yield io.TextIOWrapper(io.BytesIO(content), **options)
    elif path.endswith(".gz"):
        with gzip.open(path, "rt", **options) as text:
            yield text
    elif path.endswith(".bz2"):
        with bz2.open(path, "rt", **options) as text:
            yield text
    elif path.endswith(".zst"):
        import pyarrow as pa

        with pa.input_stream(path) as stream:
            yield io.TextIOWrapper(stream, **options)
    else:
        with open(path, **options) as text:
            yield text


def _explain(path: str, content: bytes | None, separator: str, error: Exception) -> None:
    """Raise with the line number of the first row of wrong length; return if all rows have the right length."""
    problem = first_line(error)
    try:
        with _lines(path, content) as lines:
            csv.field_size_limit(sys.maxsize)
            rows = csv.reader(lines, delimiter=separator)
            width = None
            for row in rows:
                if not row:
                    continue
                if width is None:
                    width = len(row)
                elif len(row) != width:
                    raise InputError(
                        f"{quoted(path)}, line {rows.line_num},",
                        f"has {counted(len(row), 'cell')} where the header has {counted(width, 'column')}",
                        "text that contains a comma must be in double quotes",
                    )
    except (OSError, EOFError, csv.Error) as second:
        raise InputError(quoted(path), f"cannot be read: {first_line(second)}") from error
    if "conversion error" not in problem:
        raise InputError(quoted(path), f"cannot be read: {problem}") from error


def _called(path: str) -> str:
    return "standard input" if path == "-" else quoted(path)


def _refuse_twins(names: list[str], path: str) -> None:
    twins = [name for name, count in Counter(names).items() if count > 1 and name]
    if twins:
        names_of = listed(map(quoted, twins), 5)
        raise InputError(quoted(path), f"has more than one column named {names_of}", "rename them")


def _tidy(frame: Any, path: str) -> Any:
    """Give every column a text name; raise if there is no row."""
    frame = frame.reset_index(drop=True)
    frame.columns = [
        str(name) if str(name).strip() else f"unnamed_{position}" for position, name in enumerate(frame.columns)
    ]
    for name in frame.columns:
        if frame[name].dtype == object and frame[name].dropna().map(lambda value: isinstance(value, Decimal)).all():
            frame[name] = frame[name].astype(float)  # Parquet's decimals are numbers
    if len(frame) == 0:
        raise InputError(_called(path), f"is empty: it has {counted(len(frame.columns), 'column')} and no rows")
    return frame


def first_line(error: BaseException) -> str:
    """The first line of an error's text."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]
