"""Progress on standard error, for people only: nothing is shown when it goes to a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dubio.cli.output import visible

Advance = Callable[[int, int], None]


@contextmanager
def step(what: str) -> Iterator[Advance]:
    """Show a step with its time; call what it yields with (done, total) where that is known."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(visible(what), total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
