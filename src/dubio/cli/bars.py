"""Progress on standard error: bars on a terminal; elsewhere one line that says how long long work will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dubio.cli.notes import tell
from dubio.cli.output import visible
from dubio.progress import Forecast, listening

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
    if _hushed:
        yield
        return
    forecast = Forecast()
    if not sys.stderr.isatty():

        def foretell(part: str, done: int, total: int | None) -> None:
            if line := forecast.line(part, done, total, time.monotonic()):
                tell([f"{what}: {line}"], quiet=False)

        with listening(foretell):
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
            if line := forecast.line(part, done, total, time.monotonic()):
                progress.print(visible(f"{what}: {line}"), markup=False, highlight=False)
            if part != current:  # a new part of the work: its own share and time left
                current = part
                progress.reset(task)
            known = f"{done:,} of {total:,}" if total else f"{done:,}"
            progress.update(task, description=visible(f"{what}: {part} {known}"), completed=done, total=total)

        with listening(listen):
            yield
