"""What was read from a file, and errors about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dubio.errors import InputError, counted_from_1
from dubio.streams.text_files import HowToRead, called


@dataclass(frozen=True)
class TableFile:
    """What was read from a file."""

    #: The table as a pandas frame; text stays text.
    frame: Any
    #: What separates the columns of a text file; a comma for other files.
    separator: str = ","
    #: What the user should know about how the file was read.
    notes: tuple[str, ...] = ()
    #: The Python expression that reads the same table, and the line that it needs before it.
    code: str = ""
    imports: str = ""
    #: Where a row is in the file, in words, given its position in the frame.
    row_name: Callable[[int], str] = counted_from_1
    #: A sentence on the sheets of a workbook, if there were several to choose from.
    sheets: str = ""
    #: What columns mean, by their names, as the file or a codebook says.
    labels: dict[str, str] = field(default_factory=dict)
    #: The units of columns, as a codebook says.
    units: dict[str, str] = field(default_factory=dict)
    #: Columns that are one feature together, by its name.
    together: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: The column that says which rows are of one subject; "" if none is known.
    subject: str = ""
    #: Columns that are no features.
    unused: tuple[str, ...] = ()
    #: Columns with the votes of annotators that a file of votes added.
    annotators: tuple[str, ...] = ()
    #: Where the file is.
    path: str = ""


def wrong(path: str, found: str, remedy: str = "write one object per line", *, at: str = "") -> InputError:
    """An error about a file, or about a place in it."""
    return InputError(f"{called(path)}, {at}," if at else called(path), found, remedy)


def own_code(path: str, how: HowToRead) -> dict[str, Any]:
    """Code that reads a file as the command does, for formats that pandas reads in another way."""
    wishes = {name: getattr(how, name) for name in ("sheet", "header_row", "encoding", "missing", "as_text")}
    given = "".join(f", {name}={value!r}" for name, value in wishes.items() if value)
    return {"code": f"read_table({path!r}{given})", "imports": "from dubio_app.files import read_table"}
