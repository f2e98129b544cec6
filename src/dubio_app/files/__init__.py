"""Tables in files: a file of this folder for each family of formats, which :data:`READERS` joins."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from dubio.errors import InputError, counted, listed, nearest, quoted
from dubio.streams.text_files import TEXT, HowToRead, called, first_line, suffix_of
from dubio_app.files.annotated import read_annotated
from dubio_app.files.arrow import read_arrow
from dubio_app.files.codebook import apply_entries, entries_of
from dubio_app.files.json_objects import read_json
from dubio_app.files.marks import without
from dubio_app.files.redcap import unfold_redcap
from dubio_app.files.spectra import JCAMP, is_folder_of_spectra, read_folder_of_spectra, read_jcamp
from dubio_app.files.spreadsheets import read_spreadsheet
from dubio_app.files.statistics_packages import STATISTICS, read_arff, read_statistics
from dubio_app.files.table_file import TableFile, wrong
from dubio_app.files.text import read_text_file
from dubio_app.files.votes_file import columns_of_votes, join_votes
from dubio_app.files.writing import bytes_of

#: The format of a file, by the ending of its name; :data:`READERS` has a function for each format.
FORMATS = dict.fromkeys(TEXT, "text") | dict.fromkeys((".jsonl", ".ndjson", ".json"), "json")
FORMATS |= {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
FORMATS |= dict.fromkeys((".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"), "excel")
FORMATS |= dict.fromkeys(STATISTICS, "statistics") | {".arff": "arff", ".h5ad": "annotated"}
FORMATS |= dict.fromkeys(JCAMP, "spectra")
#: The function that reads each format.
READERS: dict[str, Callable[[str, HowToRead], TableFile]] = dict.fromkeys(("parquet", "feather"), read_arrow)
READERS |= {"text": read_text_file, "excel": read_spreadsheet, "json": read_json}
READERS |= {"statistics": read_statistics, "arff": read_arff, "annotated": read_annotated, "spectra": read_jcamp}
READERS |= {"folder": read_folder_of_spectra}


def read_table(path: str, *, as_text: Collection[str] = (), **how: Any) -> Any:
    """The table in a file as a pandas frame; see :func:`read_file` and :class:`HowToRead`."""
    return read_file(path, HowToRead(as_text=tuple(as_text), **how)).frame


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
    in_folder = path != "-" and Path(path).is_dir() and is_folder_of_spectra(path)
    if path != "-" and not in_folder:
        _require_file(path)
    kind = "folder" if in_folder else table_format(path)
    _require_fitting(how, kind, path)
    try:
        file = READERS[kind](path, how)
    except InputError:
        raise
    except (pa.ArrowException, ValueError, TypeError, zlib.error, EOFError, OSError, KeyError) as error:
        if getattr(error, "errno", None) is not None:  # of the system, and not of what reads the file
            raise InputError(called(path), f"cannot be read: {error.strerror}") from error  # type: ignore[union-attr]
        raise wrong(path, f"cannot be read as {kind}: {first_line(error)}", "is it damaged?") from error
    file = replace(file, frame=tidy(file.frame, path, how.missing), path=path)
    return unfold_redcap(file, path, how)


def read_with_codebook(path: str, codebook: str, **how: Any) -> Any:
    """The table in a file as a pandas frame, with what a codebook says of its columns."""
    wishes = HowToRead(**how)
    return with_codebook(read_file(path, wishes), codebook, wishes).frame


def with_codebook(file: TableFile, path: str, how: HowToRead) -> TableFile:
    """The table with what a codebook says; ``how`` the table was read is shown in the Python code."""
    names = tuple(map(str, read_table(path).columns))
    return apply_entries(file, entries_of(read_table(path, as_text=names), path), path, how)


def with_votes(file: TableFile, path: str, name: str | None) -> TableFile:
    """The table with one more column per annotator, from a file with one line per vote; ``name`` names the rows."""
    three = columns_of_votes(list(map(str, read_table(path).columns)), path, name)
    return join_votes(file, read_table(path, as_text=tuple(three[:2]))[three], path, name)


def read_with_votes(table: Any, path: str, name: str | None) -> Any:
    """A pandas frame with one more column per annotator, from a file with one line per vote."""
    return with_votes(TableFile(table), path, name).frame


def table_format(path: str) -> str:
    """One of :data:`FORMATS`, from the ending of the file name."""
    suffix = suffix_of(path) if path != "-" else ".csv"
    if is_pipe(path):  # of another program: it may have any name
        return "text"
    if suffix in FORMATS:
        return FORMATS[suffix]
    remedy = f"tables end in {listed(FORMATS, len(FORMATS))}, and text may be compressed (.csv.gz)"
    raise InputError(quoted(path), f"has the ending {quoted(suffix)}", remedy)


def is_pipe(path: str) -> bool:
    """Whether a name stands for what another program writes: ``<(...)`` in a shell."""
    with suppress(OSError, ValueError):
        return stat.S_ISFIFO(os.stat(path).st_mode)
    return False


def frame_bytes(frame: Any, path: str) -> bytes:
    """The frame as the content of a file; the ending of ``path`` decides the format."""
    return bytes_of(frame, path, table_format(path))


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
    if size == 0 and not is_pipe(path):
        raise InputError(quoted(path), "is empty")


def _require_fitting(how: HowToRead, kind: str, path: str) -> None:
    """Raise if something is said about the file that its format does not have."""
    for name, value, kinds, what in (
        ("sep", how.separator, ("text",), "separators"),
        ("decimal", how.decimal, ("text",), "decimal marks"),
        ("encoding", how.encoding, ("text", "json", "statistics", "arff", "spectra", "folder"), "encodings"),
        ("sheet", how.sheet, ("excel",), "sheets"),
        ("header_row", how.header_row, ("excel", "text"), "rows above the names of its columns"),
    ):
        if value is not None and kind not in kinds:
            raise InputError(name, f"={value!r}, but a {suffix_of(path)} file has no {what}", "leave it out")


def tidy(frame: Any, path: str, missing: tuple[str, ...] = ()) -> Any:
    """Give every column a text name, and empty the cells that mean "missing"; raise if there is no row."""
    frame = frame.reset_index(drop=True)
    frame.columns = _full_names([str(name) for name in frame.columns])
    for name in frame.columns:
        if frame[name].dtype == object and frame[name].dropna().map(lambda value: isinstance(value, Decimal)).all():
            frame[name] = frame[name].astype(float)  # Parquet's decimals are numbers
    if len(frame) == 0:
        raise InputError(called(path), f"is empty: it has {counted(len(frame.columns), 'column')} and no rows")
    return without(frame, missing)


def _full_names(names: list[str]) -> list[str]:
    """The names of columns; a blank one becomes ``unnamed_`` and its position, or a number that is not taken."""
    taken = set(names)
    for place, name in enumerate(names):
        if not name.strip():
            free = (f"unnamed_{number}" for number in range(place, len(names) + place + 1))
            names[place] = next(new for new in free if new not in taken)
            taken.add(names[place])
    return names
