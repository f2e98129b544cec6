"""Workbooks of old formats, read in a process of its own: some damage ends the process that reads them."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
from typing import Any, NamedTuple

#: Most memory and most seconds of the process. A whole sheet of an .xls file has 16 million cells.
_MEMORY, _SECONDS = 4 * 2**30, 300


class SheetApart(NamedTuple):
    """The cells of a sheet, as python-calamine gives them."""

    rows: list[list[Any]]
    merged_cell_ranges: list[Any]

    def to_python(self, skip_empty_area: bool = False) -> list[list[Any]]:
        """All rows."""
        return self.rows


class BookApart(NamedTuple):
    """A workbook whose sheets were read."""

    sheet_names: list[str]
    sheets: dict[str, SheetApart]

    def get_sheet_by_name(self, name: str) -> SheetApart:
        """A sheet."""
        return self.sheets[name]


def read_apart(path: str, sheet: str | None) -> BookApart:
    """The workbook, with this sheet or all of them; raises what its reader raised."""
    words = [sys.executable, "-P", __file__, path, *([] if sheet is None else [sheet])]
    try:
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"it was not read within {_SECONDS} s") from error
    if ended.returncode:
        raise ValueError("its reader broke off")
    found = pickle.loads(ended.stdout)
    if isinstance(found, Exception):
        raise found
    names, sheets = found
    return BookApart(names, {name: SheetApart(*cells) for name, cells in sheets.items()})


def _main(path: str, *wanted: str) -> None:
    import python_calamine

    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        sheets = {}
        for name in [one for one in book.sheet_names if one in (wanted or book.sheet_names)]:
            sheet = book.get_sheet_by_name(name)
            sheets[name] = sheet.to_python(skip_empty_area=False), list(sheet.merged_cell_ranges or [])
        found: Any = (list(book.sheet_names), sheets)
    except python_calamine.PasswordError as error:
        found = error
    except Exception as error:
        found = ValueError(str(error))
    sys.stdout.buffer.write(pickle.dumps(found))


if __name__ == "__main__":
    _main(*sys.argv[1:])
