"""The reading of each column of a table: what it holds, how it was read, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, joined
from dubio.words import Note, note, say

#: What a column of the matrix holds. "value": numbers; "level": one category, as 0 and 1; "season": a further column of
#: a date; "missing": whether the cell was missing.
Role = Literal["value", "level", "season", "missing"]
#: What a column of the table holds. "text" is left out; "group": several columns that the user put together.
Kind = Literal["number", "yes/no", "category", "ordered", "date", "time", "text", "empty", "group"]


@dataclass(frozen=True)
class ColumnReading:
    """The content of one column of the table, and what was done with it."""

    #: The name of the column; its position if the table has no names.
    name: Any
    kind: Kind = "number"
    #: The unit that all its numbers had.
    unit: str = ""
    #: The categories, in the order of their codes.
    levels: tuple[str, ...] = ()
    n_missing: int = 0
    #: Number of cells such as "<0.1" that were taken at the limit.
    n_limits: int = 0
    #: A comma if its numbers were text with decimal commas.
    decimal: str = ""
    #: Of dates: the first one, from which days are counted.
    first: str = ""
    #: What the user should know.
    notes: tuple[Note, ...] = ()
    #: Why it cannot be used as it is: nothing is computed before that is settled.
    problems: tuple[InputError, ...] = ()
    #: Why it is left out; empty if it is used.
    left_out: str = ""
    #: Some of its values, as they are written.
    examples: tuple[str, ...] = ()
    #: Of text that is left out: a number for each different text, -1 for a missing cell. It may still say which rows
    #: belong together.
    codes: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)

    def record(self) -> dict[str, Any]:
        """The reading as plain data."""
        problems = [{"found": one.found, "remedy": one.remedy, **one.facts} for one in self.problems]
        facts = {name: getattr(self, name) for name in ("name", "kind", "unit", "n_missing", "left_out")}
        return {**facts, "levels": list(self.levels), "examples": list(self.examples), "problems": problems}


def refuse_problems(readings: Iterable[ColumnReading]) -> None:
    """Raise if columns cannot be used as they are; the error names all of them."""
    problems = [problem for reading in readings for problem in reading.problems]
    if problems:
        raise joined(problems)


def notes_of(read: tuple[ColumnReading, ...]) -> list[Note]:
    """Notes on the columns."""
    notes = [one for reading in read for one in reading.notes]
    for kind, words in (("category", "categories"), ("ordered", "ordered categories"), ("date", "dates")):
        if names := [one.name for one in read if one.kind == kind]:
            notes.append(note("columns read", n=len(names), kind=words, names=names))
    if names := [one.name for one in read if one.decimal]:
        notes.append(note("decimal commas", n=len(names), names=names))
    if units := [say("because of", name=one.name, why=one.unit) for one in read if one.unit and one.kind == "number"]:
        notes.append(note("units", columns=units))
    return notes
