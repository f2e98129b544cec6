"""Pairs of rows in a file: two rows, by number or by name, and "must" or "cannot"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.cli.wording import UserError
from dubio.errors import counted, name_row, nearest, quoted
from dubio.tables.files import read_file
from dubio.tables.text_files import HowToRead

_MUST = {"must", "must_link", "must-link", "same", "1", "+1", "1.0", "true"}
_CANNOT = {"cannot", "cannot_link", "cannot-link", "different", "-1", "-1.0", "0", "0.0", "false"}


def read_pairs_file(
    path: str, n_rows: int, named: Any = None, notes: list[str] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Must-links and cannot-links from a file with three columns: row, row, kind.

    ``named`` is the column of the table that names its rows (``--id``). Without it, rows are numbers, and row 1 is the
    first row under the header, as in the list of an audit; a note shows how the first pair was read. The kind is
    "must" or "cannot" (or 1 and -1, or same and different). The result counts rows from 0, as arrays do.
    """
    file = read_file(path)
    header = [str(name) for name in file.frame.columns]
    if len(header) == 3 and named is not None:  # the names of rows stay as they are written (007)
        file = read_file(path, HowToRead(as_text=tuple(header[:2])))
    frame = _with_header(file.frame, named)
    if len(frame.columns) != 3:
        raise UserError(
            f"--pairs: {quoted(path)} has {counted(len(frame.columns), 'column')}: give three columns (row, row, must "
            "or cannot), with or without a header."
        )
    first, second, kind = (frame[name] for name in frame.columns)
    find = (lambda column: _row_numbers(column, path, n_rows)) if named is None else _finder(named, path)
    rows = np.column_stack([find(column) for column in (first, second)])
    words = kind.astype(str).str.strip().str.casefold()
    must, cannot = words.isin(_MUST).to_numpy(), words.isin(_CANNOT).to_numpy()
    strange = np.flatnonzero(~(must | cannot))
    if len(strange):
        raise UserError(
            f"--pairs: {quoted(path)}, pair {strange[0] + 1}: {quoted(kind.iloc[strange[0]])} is neither must nor "
            f"cannot ({counted(len(strange), 'such pair')})."
        )
    itself = np.flatnonzero(cannot & (rows[:, 0] == rows[:, 1]))
    if len(itself):
        raise UserError(
            f"--pairs: {quoted(path)}, pair {itself[0] + 1} says that row {first.iloc[itself[0]]} differs from itself "
            f"({counted(len(itself), 'such pair')}): drop it."
        )
    if named is None and notes is not None and len(rows):
        places = " and ".join(name_row(int(row)) for row in rows[0])
        notes.append(
            "the pairs count rows from 1, the first row under the header: the first pair "
            f"({first.iloc[0]}, {second.iloc[0]}) is {places} (--id COLUMN names rows by their identifiers)."
        )
    return rows[must], rows[cannot]


def _with_header(frame: Any, named: Any) -> Any:
    """The same frame. If its first line reads like a pair, and not like a header, that line becomes a pair too."""
    import pandas as pd

    names = [str(name).strip() for name in frame.columns]
    if len(names) != 3:
        return frame
    known = str.isdecimal if named is None else set(_written(named)).__contains__
    if not (known(names[0]) and known(names[1])):
        return frame
    rows = [int(name) if named is None else name for name in names[:2]]
    first = pd.DataFrame([[*rows, names[2].casefold()]], columns=["row", "other", "kind"])
    return pd.concat([first, frame.set_axis(first.columns, axis=1)], ignore_index=True)


def _written(column: Any) -> list[str]:
    """The names of rows as text; a whole number is written without a decimal point."""
    values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in column.tolist()]
    return [str(value).strip() for value in values]


def _finder(named: Any, path: str) -> Any:
    """A function from names of rows to their numbers; raises if a name is unknown, or names more than one row."""
    place: dict[str, int] = {}
    twice = set()
    for number, name in enumerate(_written(named)):
        if place.setdefault(name, number) != number:
            twice.add(name)

    def find(column: Any) -> NDArray[np.int64]:
        names = _written(column)
        for pair, name in enumerate(names, start=1):
            where = f"--pairs: {quoted(path)}, pair {pair} names {quoted(name)}"
            if name not in place:
                near = nearest(name, place)
                hint = f"did you mean {quoted(near[0])}?" if near else "give a value of that column."
                raise UserError(f"{where}, which is not in column {quoted(named.name)}: {hint}")
            if name in twice:
                raise UserError(
                    f"{where}, but more than one row has this value in column {quoted(named.name)}: name rows by a "
                    "column whose values are all different."
                )
        return np.array([place[name] for name in names], dtype=np.int64)

    return find


def _row_numbers(column: Any, path: str, n_rows: int) -> NDArray[np.int64]:
    if column.dtype.kind not in "iu":
        strange = next((value for value in column if not isinstance(value, int)), column.iloc[0])
        raise UserError(
            f"--pairs: column {quoted(column.name)} of {quoted(path)} holds {quoted(strange)}, not a row number: give "
            "whole numbers from 1 on, or name the column with these values by --id."
        )
    numbers = column.to_numpy(dtype=np.int64)
    bad = np.flatnonzero((numbers < 1) | (numbers > n_rows))
    if len(bad):
        raise UserError(
            f"--pairs: {quoted(path)}, pair {bad[0] + 1} names row {numbers[bad[0]]}, but the table has rows 1 to "
            f"{n_rows} ({counted(len(bad), 'such number')}): rows are counted from 1, the first row under the header."
        )
    return numbers - 1
