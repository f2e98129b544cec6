"""JSON: one object per line, or a list of objects."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from dubio.errors import quoted
from dubio.streams.text_files import HowToRead, arrow_to_pandas, first_line, plain_bytes, rounded_note, rounded_notes
from dubio.table.cells import MISSING, as_float
from dubio_app.files.marks import without
from dubio_app.files.table_file import TableFile, wrong

#: The remedy for a column of JSON with values of several kinds.
_ALL_ALIKE = "write all values of a column as numbers, or all as text"


def read_json(path: str, how: HowToRead) -> TableFile:
    """One object per line, or a list of objects. A column is every name that any of them has."""
    import pyarrow as pa

    try:
        with plain_bytes(path) as stream:
            text = stream.read().decode(how.encoding or "utf-8-sig")
    except OSError as error:
        raise wrong(path, f"cannot be read: {first_line(error)}", "is it damaged?") from error
    except UnicodeError as error:
        raise wrong(path, f"is not UTF-8 text ({first_line(error)})", "name its encoding") from error
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
            raise wrong(path, found, _ALL_ALIKE) from error
        if pa.types.is_string(columns[name].type):
            with contextlib.suppress(pa.ArrowInvalid):  # not all of them are dates
                columns[name] = columns[name].cast(pa.timestamp("s"))
    table = pa.table(columns)
    frame = without(arrow_to_pandas(table), MISSING, text_only=True)
    code = f"pd.read_json({path!r}{'' if _is_list(text) else ', lines=True'})"
    notes += rounded_notes(table, path)
    return TableFile(frame, notes=tuple(notes), code=code, row_name=lambda row: f"{places[row]} of the file")


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
            raise wrong(path, f"is {quoted(json.dumps(row)[:40])}", remedy, at=place)
    return rows, places


def _from_json(path: str, text: str, place: str = "") -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise wrong(path, f"is not JSON: {first_line(error)}", at=place) from error
    except RecursionError as error:
        found = "holds too many lists or objects inside each other"
        raise wrong(path, found, "give each value a column of its own", at=place) from error


def _refuse_odd(values: list[Any], name: str, path: str, places: list[str]) -> None:
    """Raise if a column holds lists or objects, or values of several kinds."""
    first: tuple[type, str] | None = None
    for value, place in zip(values, places, strict=True):
        if value is None:
            continue
        if isinstance(value, list | dict):
            found = f"holds lists or objects in column {quoted(name)}, such as {quoted(value)}"
            raise wrong(path, found, "give each value a column of its own")
        kind = float if type(value) is int else type(value)
        first = first or (kind, place)
        if kind is not first[0]:
            found = f"has {quoted(value)} in column {quoted(name)}, and {first[1]} has a value of another kind"
            raise wrong(path, found, _ALL_ALIKE, at=place)
