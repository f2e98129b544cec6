"""Sheets of workbooks (.xlsx, .xls, .xlsb, .ods) as people have them: titles, merged cells, two rows of names."""

from __future__ import annotations

import contextlib
import datetime
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dubio.errors import InputError, counted, listed, quoted
from dubio.streams.text_files import HowToRead, called, first_line, refuse_twins, suffix_of
from dubio.table.cells import EXACT, MISSING
from dubio.words import note
from dubio_app.files.table_file import TableFile, own_code, wrong
from dubio_app.files.workbook_scan import SheetScan, damaged, protected, refuse_extent, scan_workbook
from dubio_app.files.workbooks_apart import read_apart

Cells = list[list[Any]]

#: Formats in which some damage ends the process that reads them.
_OLD = (".xls", ".xlsb")
#: A row above the names of the columns has at most this share of the cells of the widest row.
_TITLE_SHARE = 1 / 3
#: Rows at the top among which the names of the columns are looked for, and rows below them that show what columns hold.
_TOP_ROWS, _ROWS_BELOW = 30, 20
_MARKS = frozenset({"", *MISSING})


class _Header(NamedTuple):
    """The rows with the names of the columns, from 0 on; the upper one is -1 if there is only one."""

    upper: int
    lower: int


@dataclass
class _Sheet:
    """The cells of a sheet, from its first row and column on, and what to say about them."""

    path: str
    name: str
    rows: Cells
    merges: list[tuple[tuple[int, int], tuple[int, int]]]
    scan: SheetScan
    notes: list[str]


def read_spreadsheet(path: str, how: HowToRead) -> TableFile:
    """One sheet of a workbook: the named one, or the first that is not empty."""
    sheet, others = _open(path, how)
    width = max(map(len, sheet.rows), default=0)
    if not any(map(_count, sheet.rows)):
        raise InputError(called(path), f"is empty: sheet {quoted(sheet.name)} has no cells")
    header = _named_header(sheet, how.header_row) if how.header_row is not None else _find_header(sheet, width)
    names_of = _unfold(sheet, header)
    below = range(header.lower + 1, len(sheet.rows))
    body = [place for place in below if sheet.rows[place][0] != "" or _count(sheet.rows[place])]
    used = [j for j in range(width) if names_of[j] or any(sheet.rows[place][j] != "" for place in body)]
    refuse_twins([names_of[j] for j in used], path)
    _refuse_formulas(sheet, header, names_of)
    as_text = {j for j in used if names_of[j] in how.as_text}
    by_column = list(zip(*(sheet.rows[place] for place in body), strict=True)) or [()] * width
    columns = [_column(list(by_column[j]), j in as_text) for j in used]
    frame = _frame(columns, [names_of[j] for j in used], len(body))
    if not body and others:
        remedy = f"--sheet names another one: {listed(map(quoted, others))}"
        found = f"has no rows in sheet {quoted(sheet.name)}"
        raise InputError(called(path), found, remedy, code="empty sheet", sheets=others)
    sheets = f"{note('other sheets', name=sheet.name, file=called(path), others=others)}." if others else ""
    notes = [sheets, *sheet.notes] if sheets else sheet.notes
    numbers = np.array(body) + 1
    plain = header == (-1, 0) and not sheet.merges and body == list(range(1, len(sheet.rows)))
    code = _pandas_code(path, sheet.name) if plain else own_code(path, replace(how, sheet=sheet.name))
    return TableFile(
        frame,
        notes=(*notes, *_notes_on(sheet)),
        row_name=lambda row: f"row {numbers[row]} of sheet {quoted(sheet.name)}",
        sheets=sheets,
        **code,
    )


def _open(path: str, how: HowToRead) -> tuple[_Sheet, list[str]]:
    """The cells of the sheet, and the names of the others that hold some."""
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise ImportError("workbooks need python-calamine: pip install 'dubio[cli]'") from error
    scans = scan_workbook(path)
    try:
        with _no_panic_on_standard_error():
            is_old = suffix_of(path) in _OLD
            book = read_apart(path, how.sheet) if is_old else calamine.CalamineWorkbook.from_path(path)
            names = list(book.sheet_names)
            if how.sheet is not None and how.sheet not in names:
                found = f"={how.sheet!r}, but the file has {listed(map(quoted, names))}"
                raise InputError("sheet", found, "give one of them")
            rows: Cells = []
            merges: list[Any] = []
            filled: list[str] = []
            for name in names if how.sheet is None else [how.sheet]:
                if filled and name in scans:  # another sheet was read: it is enough that this one holds cells
                    filled += [name] if scans[name].height else []
                    continue
                refuse_extent(path, name, scans.get(name, scans.get("", SheetScan())))
                sheet = book.get_sheet_by_name(name)
                found_rows = sheet.to_python(skip_empty_area=False)
                if not filled:
                    rows, merges = found_rows, list(sheet.merged_cell_ranges or [])
                filled += [name] if any(map(_count, found_rows)) else []
    except calamine.PasswordError as error:
        raise protected(path) from error
    except InputError:
        raise
    except Exception as error:
        raise damaged(path, first_line(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of the reader's own language
            raise
        raise damaged(path, first_line(error)) from error
    name = filled[0] if filled else how.sheet or next(iter(names), "")
    width = max(map(len, rows), default=0)
    rows = [row if len(row) == width else [*row, *[""] * (width - len(row))] for row in rows]
    others = [other for other in filled if other != name]
    return _Sheet(path, name, rows, merges, scans.get(name, SheetScan()), []), others


@contextlib.contextmanager
def _no_panic_on_standard_error() -> Iterator[None]:
    """In this block, the reader's own language writes no backtrace: its panic is an error, which is said in words."""
    try:
        own, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # standard error is closed
        yield
        return
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)
        os.close(nowhere)


def _count(row: list[Any]) -> int:
    return len(row) - row.count("")


def _named_header(sheet: _Sheet, number: int) -> _Header:
    if not 1 <= number <= len(sheet.rows) or not _count(sheet.rows[number - 1]):
        found = f"={number}, but sheet {quoted(sheet.name)} has no cells in that row"
        raise InputError("header_row", found, "give the number of the row with the names of the columns")
    return _Header(-1, number - 1)


def _find_header(sheet: _Sheet, width: int) -> _Header:
    """The rows with the names of the columns: below titles, which have few cells."""
    top = [place for place, row in enumerate(sheet.rows) if _count(row)][:_TOP_ROWS]
    inside = {place for (first, _), (last, _) in sheet.merges for place in range(first, last + 1)}
    widest = max(_count(sheet.rows[place]) for place in top)
    few = max(1.0, _TITLE_SHARE * widest)
    titles: list[int] = []
    for place in top:
        if widest < 2 or _count(sheet.rows[place]) > few or (place in inside and _spans(sheet, place) > few):
            break
        titles.append(place)
    lower = next((place for place in top if place not in titles), top[0])
    if titles and lower in titles:
        titles = []
    if titles:
        shown = next(str(cell) for cell in sheet.rows[titles[0]] if cell != "")
        if not all(isinstance(cell, str) for cell in sheet.rows[lower]):
            found = (
                f"has only {quoted(shown)} in row {titles[0] + 1} of sheet {quoted(sheet.name)}, where the names of "
            )
            remedy = "name all columns, or the row with their names by --header-row"
            raise wrong(sheet.path, f"{found}{counted(widest, 'column')} should be", remedy)
        were = "row was" if len(titles) == 1 else "rows were"
        where = f"above the names of the columns of sheet {quoted(sheet.name)}"
        sheet.notes.append(f"{len(titles)} {were} skipped {where}: {quoted(shown)}.")
    has_second = lower + 1 in top and _is_second(sheet, lower, width)
    return _Header(lower, lower + 1) if has_second else _Header(-1, lower)


def _spans(sheet: _Sheet, place: int) -> int:
    """Cells of a row with those that are merged into them; a title that spans the table counts as one cell."""
    spans = [last[1] - first[1] + 1 for first, last in sheet.merges if first[0] <= place <= last[0]]
    return _count(sheet.rows[place]) if len(spans) == 1 and _count(sheet.rows[place]) == 1 else sum(spans)


def _is_second(sheet: _Sheet, upper: int, width: int) -> bool:
    """Whether the row below the first names holds names too: text in all its cells, over columns that hold more.

    The upper row then has gaps, or cells that are merged with others; and no column is without a name.
    """
    rows, lower = sheet.rows, upper + 1
    is_merged = any(first[0] == upper and first != last for first, last in sheet.merges)
    named = [j for j in range(width) if rows[lower][j] != ""]
    texts = all(isinstance(rows[lower][j], str) for j in named)
    nameless = [j for j in range(width) if rows[lower][j] == rows[upper][j] == ""]
    if not texts or not (is_merged or _count(rows[upper]) < len(named)) or (nameless and not is_merged):
        return False
    below = [rows[place] for place in range(lower + 1, min(len(rows), lower + 1 + _ROWS_BELOW))]
    return any(any(not isinstance(row[j], str) for row in below) for j in named)


def _unfold(sheet: _Sheet, header: _Header) -> list[str]:
    """Write the value of merged cells into all of them, and say so; the names of the columns."""
    per_column: Counter[int] = Counter()
    first_row = header.upper if header.upper >= 0 else header.lower
    for (top, left), (bottom, right) in sheet.merges:
        if top < first_row or top >= len(sheet.rows):
            continue
        value = sheet.rows[top][left] if left < len(sheet.rows[top]) else ""
        for row in range(top, min(bottom, len(sheet.rows) - 1) + 1):
            for column in range(left, min(right, len(sheet.rows[row]) - 1) + 1):
                sheet.rows[row][column] = value
                per_column[column] += top > header.lower and (row, column) != (top, left)
    names = _names(sheet, header)
    shown = [f"{quoted(names[j])} ({counted(n, 'cell')})" for j, n in sorted(per_column.items()) if n]
    if shown:
        sheet.notes.append(f"the value of merged cells was written into all rows of {listed(shown)}.")
    return names


def _names(sheet: _Sheet, header: _Header) -> list[str]:
    """The names of the columns: of two rows the lower ones, or both if the lower ones are not unique."""
    lower = list(map(_as_name, sheet.rows[header.lower]))
    if header.upper < 0:
        return lower
    upper = list(map(_as_name, sheet.rows[header.upper]))
    names = [low or up for up, low in zip(upper, lower, strict=True)]
    given = [name for name in names if name]
    both = len(set(given)) < len(given)
    if both:
        names = [" ".join(dict.fromkeys(filter(None, pair))) for pair in zip(upper, lower, strict=True)]
    text = f"rows {header.upper + 1} and {header.lower + 1} of sheet {quoted(sheet.name)} name the columns"
    text += ": their names were joined" if both else f", and those of row {header.lower + 1} were taken"
    sheet.notes.append(f"{text}.")
    return names


def _as_name(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else " ".join(str(cell).split())


def _refuse_formulas(sheet: _Sheet, header: _Header, names: list[str]) -> None:
    """Raise if the table has formulas whose value is not stored: they would be empty cells."""
    cells = [cell for cell in sheet.scan.without_value if int("".join(filter(str.isdigit, cell))) > header.lower + 1]
    if cells:
        found = f"has {counted(len(cells), 'formula')} without a stored value, first in cell {cells[0]} of sheet "
        remedy = "open the file in a spreadsheet program, which calculates them, and save it again"
        raise InputError(called(sheet.path), f"{found}{quoted(sheet.name)}", remedy, n=len(cells), example=cells[0])


def _notes_on(sheet: _Sheet) -> list[str]:
    """Notes on what a person may not see in the sheet, or does not expect to be read."""
    scan, name, notes = sheet.scan, quoted(sheet.name), []
    if scan.n_hidden_rows:
        by, are = ", by a filter" if scan.has_filter else "", "is" if scan.n_hidden_rows == 1 else "are"
        hidden = counted(scan.n_hidden_rows, "row")
        notes.append(f"{hidden} of sheet {name} {are} hidden{by}, and {are} used like the others.")
    if scan.n_errors:
        errors, count = counted(scan.n_errors, "cell"), "counts" if scan.n_errors == 1 else "count"
        notes.append(f"{errors} of sheet {name} with an error such as #DIV/0! {count} as missing.")
    return notes


def _column(cells: list[Any], as_text: bool) -> Any:
    """The cells of a column as an array: numbers, dates, or anything; None where there is no value."""
    if as_text:
        return np.array([None if cell in _MARKS else _as_written(cell) for cell in cells], dtype=object)
    kinds = set(map(type, cells))
    if kinds <= {float} and cells:
        numbers = np.array(cells)
        is_whole = (np.abs(numbers) < EXACT).all() and (numbers == np.round(numbers)).all()
        return numbers.astype(np.int64) if is_whole else numbers
    if str in kinds:
        cells = [None if isinstance(cell, str) and cell.strip() in _MARKS else cell for cell in cells]
        kinds = set(map(type, cells))
    if kinds <= {float, type(None)}:
        return np.array(cells, dtype=np.float64)  # None is NaN
    if kinds <= {datetime.date, datetime.datetime, type(None)} and len(kinds - {type(None)}):
        return np.array([np.datetime64("NaT") if cell is None else cell for cell in cells], dtype="datetime64[us]")
    if kinds == {bool}:
        return np.array(cells)
    values = np.empty(len(cells), dtype=object)
    values[:] = [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]
    return values


def _as_written(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _frame(columns: list[Any], names: list[str], n_rows: int) -> Any:
    import pandas as pd

    frame = pd.DataFrame(dict(enumerate(columns)), index=range(n_rows))
    frame.columns = names
    return frame


def _pandas_code(path: str, sheet: str) -> dict[str, Any]:
    how = f"engine='calamine', dtype=object, keep_default_na=False, na_values={['', *MISSING]!r}"
    return {"code": f"pd.read_excel({path!r}, sheet_name={sheet!r}, {how}).infer_objects()"}
