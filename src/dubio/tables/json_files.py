"""Tables in JSON: one object per line, or a list of objects."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

from dubio.errors import InputError, quoted
from dubio.tables.text_files import called, first_line, name_line, rounded_note, rounded_notes
from dubio.tables.values import as_float

#: Lists and objects inside each other, from which on a file of JSON is refused.
_DEEPEST = 100
#: In JSON, all that does not open or close a list or an object.
_NO_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[^"\[\]{}]+')


class JsonTable(NamedTuple):
    """A pyarrow table, notes on how it was read, the code that reads it, and where a row is in the file."""

    table: Any
    notes: tuple[str, ...]
    code: str
    row_name: Callable[[int], str]


def read_json_text(path: str, text: str) -> JsonTable:
    """The table in the text of a file."""
    import pyarrow as pa
    import pyarrow.json

    if text.lstrip()[:1] == "[":
        return _read_list(path, text)
    _refuse_what_ends_pyarrow(path, text)
    try:
        table = pyarrow.json.read_json(io.BytesIO(text.encode()))
    except (pa.ArrowException, ValueError) as error:
        _explain(path, text, error)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_nested(column.type):
            raise _nested(path, name, column.drop_null()[0])
    lines = text.split("\n")
    full = [number for number, line in enumerate(lines, start=1) if line.strip()]

    def written(name: str, row: int) -> str:
        return str(_whole_in(lines[full[row] - 1], name)) if row < len(full) else ""

    return JsonTable(
        table,
        rounded_notes(table, path, written),
        f"pd.read_json({path!r}, lines=True)",
        lambda row: name_line(full[row] if row < len(full) else None),
    )


def _whole_in(line: str, name: str) -> int | None:
    """The whole number in one cell of JSON lines; None if the cell holds anything else."""
    try:
        value = json.loads(line).get(name)
    except (ValueError, AttributeError):
        return None
    return value if isinstance(value, int) else None


def _read_list(path: str, text: str) -> JsonTable:
    """A list of objects. A column is every name that any of them has."""
    import pyarrow as pa

    try:
        rows = json.loads(text)
    except ValueError as error:
        raise InputError(
            called(path), f"cannot be read as json: {first_line(error)}", "write one object per line"
        ) from error
    except RecursionError as error:
        raise _too_deep(path) from error
    odd = next((place for place, row in enumerate(rows) if not isinstance(row, dict)), None)
    if odd is not None:
        raise InputError(
            f"{called(path)}, object {odd + 1},", f"is {quoted(json.dumps(rows[odd])[:40])}", "write a list of objects"
        )
    columns, notes = {}, []
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        nested = next((value for value in values if isinstance(value, list | dict)), None)
        if nested is not None:
            raise _nested(path, name, nested)
        large = [value for value in values if isinstance(value, int) and not -(2**63) <= value < 2**64]
        if large:  # no column of Arrow holds them
            values = [as_float(value) if type(value) is int else value for value in values]
            notes.append(rounded_note(name, path, max(large, key=abs)))
        try:
            columns[name] = pa.array(values)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            raise InputError(
                called(path),
                f"cannot be read as json: in column {quoted(name)}, {first_line(error)}",
                "write all values of a column as numbers, or all as text",
            ) from error
    table = pa.table(columns)
    notes += rounded_notes(table, path)
    return JsonTable(table, tuple(notes), f"pd.read_json({path!r})", lambda row: f"object {row + 1} of the file")


def _refuse_what_ends_pyarrow(path: str, text: str) -> None:
    """Raise if pyarrow's reader would end the process: over a null where an object should be, and deep nesting."""
    null = re.search(r"^\s*null\b", text, re.MULTILINE)
    if null is not None:
        number = text.count("\n", 0, null.end()) + 1
        raise InputError(f"{called(path)}, line {number},", "is 'null'", "write one object per line")
    lines = (line for line in map(str.strip, text.split("\n")) if line)
    if all(line[0] == "{" and line[-1] == "}" and line.count("{") + line.count("[") < _DEEPEST for line in lines):
        return
    steps = (1 if bracket in "[{" else -1 for bracket in _NO_BRACKETS.sub("", text) if bracket != '"')
    if max(accumulate(steps), default=0) >= _DEEPEST:
        raise _too_deep(path)


def _too_deep(path: str) -> InputError:
    found = f"holds more than {_DEEPEST} lists or objects inside each other"
    return InputError(called(path), found, "give each value a column of its own")


def _nested(path: str, name: str, example: object) -> InputError:
    return InputError(
        called(path),
        f"holds lists or objects in column {quoted(name)}, such as {quoted(example)}",
        "give each value a column of its own",
    )


def _explain(path: str, text: str, error: Exception) -> None:
    """Raise with the number of the first line that is not an object like the others."""
    kinds: dict[str, tuple[type, int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as bad:
            raise InputError(
                f"{called(path)}, line {number},", f"is not JSON: {first_line(bad)}", "write one object per line"
            ) from error
        if not isinstance(record, dict):
            raise InputError(
                f"{called(path)}, line {number},", f"is {quoted(line[:40])}", "write one object per line"
            ) from error
        for name, value in record.items():
            kind = float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)
            before, where = kinds.setdefault(name, (kind, number)) if value is not None else (kind, number)
            if kind is not before:
                raise InputError(
                    f"{called(path)}, line {number},",
                    f"has {quoted(value)} in column {quoted(name)}, and line {where} has a value of another kind",
                    "write all values of a column as numbers, or all as text",
                ) from error
    raise InputError(
        called(path), f"cannot be read as json: {first_line(error)}", "write one object per line"
    ) from error
