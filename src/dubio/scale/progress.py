"""Show how far a long reading of rows has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Called with the rows read so far and, where it is known, their number in all.
Report = Callable[[int, int | None], None]


@contextmanager
def reporting(progress: bool | Report, n_rows: int | None) -> Iterator[Report]:
    """A function to call with the rows read so far: the caller's own, a bar on the terminal, or nothing."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done, total: None
    else:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.completed:,.0f} rows"), BarColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("rows", total=n_rows)
            yield lambda done, total: bar.update(task, completed=done)
