"""Output of the command: JSON, CSV and tables, notes, files, and the progress of the work."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import combinations
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from dubio.errors import quoted
from dubio.progress import listening
from dubio.table.cells import FORMULA, is_missing
from dubio_app.command.options import Call, UserError
from dubio_app.command.wording import one_line
from dubio_app.files import table_format

Rows = list[dict[str, Any]]

_WIDTH = 80  # of a paragraph


def plain(value: Any) -> Any:
    """A value that JSON and CSV can hold: a Python scalar, None if it is missing or infinite."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if is_missing(value) else str(value)  # a date, for example


def records(frame: Any) -> Rows:
    """The rows of a frame as plain dictionaries."""
    columns = {str(name): [plain(value) for value in frame[name].tolist()] for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_csv(rows: Sequence[dict[str, Any]], header: Sequence[str] = ()) -> str:
    """CSV with a header (given if there may be no row). None becomes an empty cell; numbers have all digits.

    Text that a spreadsheet would run as a formula gets an apostrophe in front. JSON has the text as it is.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if rows or header:
        writer.writerow([inert(name) for name in (rows[0] if rows else header)])
        writer.writerows([[_csv_cell(value) for value in row.values()] for row in rows])
    return buffer.getvalue()


def print_text(content: str) -> None:
    """Write to standard output as UTF-8, in any locale; a terminal gets no control characters."""
    if sys.stdout is None:
        raise UserError("standard output is closed: nothing can be printed.")
    content = visible(content) if sys.stdout.isatty() else content
    if (stream := getattr(sys.stdout, "buffer", None)) is None:
        sys.stdout.write(content)
    else:
        sys.stdout.flush()
        stream.write(content.encode("utf-8", errors="backslashreplace"))
        stream.flush()


def print_answer(call: Call, rows: Rows, content: Callable[[], dict[str, Any]], header: Sequence[str] = ()) -> bool:
    """Print the rows as CSV, or the content as JSON, if a program is to read the answer; return whether it is."""
    if call.csv:
        print_text(as_csv(rows, header))
    elif call.json:
        print_text(json.dumps(content(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    return bool(call.csv or call.json)


def print_table(title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Any], caption: str = "") -> None:
    """Print a table. ``columns`` gives the name of each column and its side, "left" or "right"."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[visible(_cell(value)) for value in row] for row in rows]
    longest = [max(len(column[0]), *(len(row[c]) for row in cells), 0) for c, column in enumerate(columns)]
    table = Table(title=Text(visible(title)), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for (name, side), width in zip(columns, longest, strict=True):
        number = side == "right"  # numbers are never wrapped
        more: dict[str, Any] = {"justify": side, "min_width": width if number else min(10, width)}
        table.add_column(Text(visible(name)), overflow="fold", no_wrap=number, **more)
    for row in cells:
        table.add_row(*map(Text, row))  # Text, not markup: a feature may be called "[red]"
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:  # in a pipe, no cell is folded: each row is on one line
        console = Console(file=sys.stdout, highlight=False, width=max(100, sum(longest) + 3 * len(longest) + 1))
    console.print(table)
    if caption:
        console.print(Text(visible(caption)), width=min(console.width, 100))


def paragraph(text: str) -> str:
    """The text on lines that are not too long to read."""
    return fill(text, min(_WIDTH, terminal_width()))


def print_paragraph(text: str) -> None:
    """Print a paragraph."""
    print_text(visible(paragraph(text)) + "\n")


def terminal_width() -> int:
    """Width of the terminal that the tables go to; plenty in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else 100


def visible(text: object) -> str:
    """The text with control characters written out, so that a terminal does not obey them."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in str(text))


def _cell(value: Any) -> str:
    value = plain(value)
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: ""}[value]
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _csv_cell(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return repr(value) if isinstance(value, float) else inert(value)


def inert(value: Any) -> Any:
    """The value; text that begins like a formula, and is not simply a number, gets an apostrophe in front."""
    if isinstance(value, str) and value.lstrip(" ").startswith(FORMULA):
        try:
            float(value)
        except ValueError:
            return f"'{value}"
    return value


_THEIRS = re.compile(r"[/\\\\](sklearn|scipy|numpy|pandas|joblib|cleanlab)[/\\\\]")


@contextmanager
def notes_from_warnings(notes: list[str]) -> Iterator[None]:
    """Collect the library's warnings as notes. Each note appears once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for warning in caught:
                text = one_line(warning.message)
                theirs = _THEIRS.search(warning.filename)  # warnings of libraries are not meant for this user
                if issubclass(warning.category, UserWarning) and not theirs and text not in notes:
                    notes.append(text)


def tell(notes: Sequence[str], *, quiet: bool) -> None:
    """Print the notes on standard error, one per line."""
    if not quiet:
        sys.stderr.writelines(f"dubio: {visible(note)}\n" for note in notes)
        sys.stderr.flush()


def require_places(call: Call) -> None:
    """Refuse files that cannot be written, or that are read too, before the work starts and not after it."""
    read = {"the table itself": call.table, "the file of pairs": call.pairs}
    read["the file of corrections"], read["the selection"] = call.corrections, call.selection
    read["the codebook"], read["the file of votes"] = call.codebook, call.votes
    read |= {f"the file of checked rows {quoted(path)}": path for path in call.checked}
    written = {one.flag: getattr(call, name) for name, one in call.chosen().items() if one.value.startswith("OUT.")}
    for (flag, path), (other_flag, other) in combinations(written.items(), 2):
        if Path(path).resolve() == Path(other).resolve():
            raise UserError(f"{flag} and {other_flag} are the same file: give two names.")
    for flag, path in written.items():
        for what, other in read.items():
            if other and Path(path).is_file() and Path(other).exists() and Path(path).samefile(other):
                raise UserError(f"{quoted(path)} is {what} and would be overwritten: give another name.")
        _require_writable(path)
        is_new = Path(path).is_file() or not Path(path).exists()  # and not /dev/stdout
        if flag == "--report" and is_new and Path(path).suffix.casefold() not in (".html", ".htm", ".pdf"):
            raise UserError(f"--report {quoted(path)}: a report is a web page or a PDF, give a name in .html or .pdf.")
    for table in (call.save_table, call.save):
        if table:
            table_format(table)
    if call.report:
        from dubio_app.report.pdf import browser, is_pdf

        _ = is_pdf(call.report) and browser()
    if call.paper:
        _require_kit_folder(Path(call.paper))


def _require_kit_folder(folder: Path) -> None:
    """Raise if the folder of a paper kit cannot be written, or holds something else than a kit."""
    shown = f"--paper: {quoted(folder)}"
    if folder.is_file():
        raise UserError(f"{shown} is a file: give the name of a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "run.toml").is_file():
        raise UserError(f"{shown} holds other files: give the name of a new folder.")
    if not folder.parent.is_dir() or not os.access(folder if folder.is_dir() else folder.parent, os.W_OK):
        raise UserError(f"{shown} cannot be written.")


def _require_writable(path: str) -> None:
    folder = Path(path).parent
    if Path(path).is_file() and not os.access(path, os.W_OK):
        raise UserError(f"{quoted(path)} cannot be written: the file is read-only.")
    if Path(path).is_dir():
        raise UserError(f"{quoted(path)} is a folder: give the name of a file.")
    if not folder.is_dir():
        raise UserError(f"{quoted(path)} cannot be written: there is no folder {quoted(folder)}.")
    if not os.access(folder, os.W_OK):
        raise UserError(f"{quoted(path)} cannot be written: no permission to write in {quoted(folder)}.")


_hushed: ContextVar[bool] = ContextVar("whether no progress is shown", default=False)


@contextmanager
def hushed(quiet: bool) -> Iterator[None]:
    """No progress is shown in this block, if ``quiet``."""
    token = _hushed.set(quiet)
    try:
        yield
    finally:
        _hushed.reset(token)


_told: ContextVar[Callable[[str, str, int, int | None], None] | None] = ContextVar("who is told", default=None)


@contextmanager
def progress_goes_to(listener: Callable[[str, str, int, int | None], None]) -> Iterator[None]:
    """In this block, steps are not shown: ``listener(step, part, done, total)`` is called."""
    token = _told.set(listener)
    try:
        yield
    finally:
        _told.reset(token)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show a step of the work on a terminal: how much of it is done, and the time left, as the work reports it."""
    if (listener := _told.get()) is not None:
        listener(what, "", 0, None)
        with listening(partial(listener, what)):
            yield
        return
    if _hushed.get() or not sys.stderr.isatty():
        with listening(lambda part, done, total: None):
            yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    text, left = TextColumn("{task.description}", markup=False), TextColumn("left", markup=False)
    columns = (SpinnerColumn(), text, BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), left)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(visible(what), total=None)
        shown = ""

        def listen(part: str, done: int, total: int | None) -> None:
            nonlocal shown
            if part != shown:  # a new part of the work: its own share and time left
                shown = part
                progress.reset(task)
            share = f"{done:,} of {total:,}" if total else f"{done:,}"
            progress.update(task, description=visible(f"{what}: {part} {share}"), completed=done, total=total)

        with listening(listen):
            yield
