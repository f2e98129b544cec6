"""Pairs of rows in a file: two row numbers and "must" or "cannot"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.cli.wording import UserError
from dubio.errors import counted, quoted
from dubio.tables.files import read_table

_MUST = {"must", "must_link", "must-link", "same", "1", "+1", "1.0", "true"}
_CANNOT = {"cannot", "cannot_link", "cannot-link", "different", "-1", "-1.0", "0", "0.0", "false"}


def read_pairs_file(path: str, n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Must-links and cannot-links from a file with three columns: row, row, kind.

    Row 0 is the first row under the header of the table. The kind is "must" or "cannot" (or 1 and -1, or same and
    different).
    """
    frame = _with_header(read_table(path))
    if len(frame.columns) != 3:
        raise UserError(
            f"--pairs: {quoted(path)} has {counted(len(frame.columns), 'column')}: give three columns (row number, row "
            "number, must or cannot), with or without a header."
        )
    first, second, kind = (frame[name] for name in frame.columns)
    rows = np.column_stack([_row_numbers(column, path, n_rows) for column in (first, second)])
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
            f"--pairs: {quoted(path)}, pair {itself[0] + 1} says that row {rows[itself[0], 0]} differs from itself "
            f"({counted(len(itself), 'such pair')}): drop it."
        )
    return rows[must], rows[cannot]


def _with_header(frame: Any) -> Any:
    """The same frame. If its first line reads like a pair, and not like a header, that line becomes a pair too."""
    import pandas as pd

    names = [str(name).strip() for name in frame.columns]
    if len(names) != 3 or not (names[0].isdecimal() and names[1].isdecimal()):
        return frame
    kind = names[2].casefold()
    first = pd.DataFrame([[int(names[0]), int(names[1]), kind]], columns=["row", "other", "kind"])
    return pd.concat([first, frame.set_axis(first.columns, axis=1)], ignore_index=True)


def _row_numbers(column: Any, path: str, n_rows: int) -> NDArray[np.int64]:
    if column.dtype.kind not in "iu":
        raise UserError(
            f"--pairs: column {quoted(column.name)} of {quoted(path)} must hold row numbers: whole numbers from 0."
        )
    numbers = column.to_numpy(dtype=np.int64)
    bad = np.flatnonzero((numbers < 0) | (numbers >= n_rows))
    if len(bad):
        raise UserError(
            f"--pairs: {quoted(path)}, pair {bad[0] + 1} names row {numbers[bad[0]]}, but the table has rows 0 to "
            f"{n_rows - 1} ({counted(len(bad), 'such number')})."
        )
    return numbers
