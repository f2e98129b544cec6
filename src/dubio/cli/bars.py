"""Progress bars on standard error. They are shown only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dubio.cli.output import visible
from dubio.progress import listening


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show a step and its time, and how much of it is done if the work reports that (``dubio/progress.py``)."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(visible(what), total=None)

        def listen(part: str, done: int, total: int | None) -> None:
            known = f"{done:,} of {total:,}" if total else f"{done:,}"
            progress.update(task, description=visible(f"{what}: {part} {known}"), completed=done, total=total)

        with listening(listen):
            yield
