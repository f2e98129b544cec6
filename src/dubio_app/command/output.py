"""What the command prints: tables, bars, notes."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from dubio.evidence.multiple import NoFeatureStandsOut
from dubio.progress import listening
from dubio_app.command.wording import UserError, one_line

#: Spreadsheets run cells that begin with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def plain(value: Any) -> Any:
    """A value that JSON and CSV can hold: NumPy scalars become Python scalars, NaN and infinity become None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame as plain dictionaries."""
    columns = {str(name): [_missing(plain(value)) for value in frame[name].tolist()] for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_json(content: dict[str, Any]) -> str:
    """Indented JSON, with the keys in the given order."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(rows: Sequence[dict[str, Any]], header: Sequence[str] = ()) -> str:
    """CSV with a header (given if there may be no row). None becomes an empty cell; numbers have all digits.

    Text that a spreadsheet would run as a formula gets an apostrophe in front. JSON has the text as it is.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if rows or header:
        writer.writerow([_inert(name) for name in (rows[0] if rows else header)])
        writer.writerows([[_csv_cell(value) for value in row.values()] for row in rows])
    return buffer.getvalue()


def print_text(content: str) -> None:
    """Write to standard output as UTF-8, in any locale."""
    if sys.stdout is None:
        raise UserError("standard output is closed: nothing can be printed.")
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(content)
    else:
        sys.stdout.flush()
        stream.write(content.encode("utf-8", errors="backslashreplace"))
        stream.flush()


def print_table(
    title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], caption: str = ""
) -> None:
    """Print a table. ``columns`` gives the name of each column and its side, "left" or "right"."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(visible(title)), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for c, (name, side) in enumerate(columns):
        number = side == "right"  # numbers are never wrapped
        longest = max([len(name), *(len(_cell(row[c])) for row in rows)])
        table.add_column(
            Text(visible(name)),
            justify="right" if number else "left",
            overflow="fold",
            no_wrap=number,
            min_width=longest if number else min(10, longest),
        )
    for row in rows:
        # Text, not markup: a feature may be called "[red]"
        table.add_row(*[Text(visible(_cell(value))) for value in row])
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console = Console(file=sys.stdout, highlight=False, width=max(100, _width(columns, rows)))
    console.print(table)
    if caption:
        console.print(Text(visible(caption)), width=min(console.width, 100))


def terminal_width() -> int:
    """Width of the terminal that the tables go to; plenty in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else 100


def visible(text: object) -> str:
    """The text with control characters written out, so that a terminal does not obey them."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in str(text))


def _width(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> int:
    """Width at which no cell is folded: a pipe should get each row on one line."""
    widths = [
        max([len(name), *(len(visible(_cell(row[c]))) for row in rows)]) + 3 for c, (name, _) in enumerate(columns)
    ]
    return sum(widths) + 1


def _cell(value: Any) -> str:
    value = plain(value)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _csv_cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else _inert(value)


def _inert(value: Any) -> Any:
    """The value; text that begins like a formula, and is not simply a number, gets an apostrophe in front."""
    if not isinstance(value, str) or not value.lstrip(" ").startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def _missing(value: Any) -> Any:
    return None if type(value).__name__ in ("NAType", "NaTType") else value


_THEIRS = re.compile(r"[/\\](sklearn|scipy|numpy|pandas|joblib|cleanlab)[/\\]")


@contextlib.contextmanager
def notes_from_warnings(notes: list[str]) -> Iterator[None]:
    """Collect the library's warnings as notes. Each note appears once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for warning in caught:
                # warnings of the libraries that we use are not meant for this user
                if issubclass(warning.category, UserWarning) and not _THEIRS.search(warning.filename):
                    message = warning.message
                    text = one_line(message)
                    if isinstance(message, NoFeatureStandsOut):  # the command hands nothing on
                        text = f"the table {message.found}."
                    if text not in notes:
                        notes.append(text)


def tell(notes: list[str], quiet: bool) -> None:
    """Print the notes on standard error, one per line."""
    if not quiet:
        for note in notes:
            sys.stderr.write(f"dubio: {visible(note)}\n")
        sys.stderr.flush()


_hushed = False


@contextmanager
def hushed(quiet: bool) -> Iterator[None]:
    """No progress is shown in this block, if ``quiet``."""
    global _hushed
    before, _hushed = _hushed, quiet
    try:
        yield
    finally:
        _hushed = before


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show a step and its time, and how much of it is done if the work reports that (``dubio/progress.py``)."""
    if _hushed or not sys.stderr.isatty():
        with listening(lambda part, done, total: None):
            yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    text, left = TextColumn("{task.description}", markup=False), TextColumn("left", markup=False)
    columns = (SpinnerColumn(), text, BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), left)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(visible(what), total=None)
        current = ""

        def listen(part: str, done: int, total: int | None) -> None:
            nonlocal current
            if part != current:  # a new part of the work: its own share and time left
                current = part
                progress.reset(task)
            known = f"{done:,} of {total:,}" if total else f"{done:,}"
            progress.update(task, description=visible(f"{what}: {part} {known}"), completed=done, total=total)

        with listening(listen):
            yield
