"""Progress of long work: the work reports it, and a listener shows it.

Long work calls :func:`advance` with its name, how much is done and how much there is in total. A front end listens with
:func:`listening`: the command shows a bar, ``verbose=1`` prints lines, a ``progress=`` argument calls a function.
By default nobody listens, and nothing is shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Called with the name of the work, how much is done, and how much there is in total (None if unknown).
Listener = Callable[[str, int, int | None], None]

_listener: ContextVar[Listener | None] = ContextVar("listener to progress", default=None)


def advance(what: str, done: int, total: int | None = None) -> None:
    """Report the progress of the work called ``what``."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Call ``listener`` on every report while the block runs; None keeps the present listener.

    >>> from dubio.progress import advance, listening
    >>> with listening(lambda what, done, total: print(what, done, "of", total)):
    ...     advance("rows", 3, 10)
    rows 3 of 10
    """
    if listener is None:
        yield
        return
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def to_stderr(what: str, done: int, total: int | None) -> None:
    """The listener behind ``progress=True``: one line that is overwritten at each step."""
    end = "\n" if done == total else ""
    known = f"{done:,} of {total:,}" if total else f"{done:,}"
    print(f"\r{what}: {known}", end=end, file=sys.stderr, flush=True)


def listener_of(progress: bool | Callable[..., None], *, of: str = "", with_name: bool = False) -> Listener | None:
    """The listener for a ``progress=`` argument.

    True writes to standard error. A function is called with (done, total); with ``with_name`` the name of the work
    comes first. If ``of`` is given, only the work of that name is reported.
    """
    if not progress:
        return None

    def listen(what: str, done: int, total: int | None) -> None:
        if of and what != of:
            return
        if not callable(progress):
            to_stderr(what, done, total)
        elif with_name:
            progress(what, done, total)
        else:
            progress(done, total)

    return listen


def lines_of(name: str) -> Listener:
    """The listener behind ``verbose=1``: a new line for each step, on standard output."""
    began = time.perf_counter()

    def listen(what: str, done: int, total: int | None) -> None:
        known = f"{done} of {total}" if total else f"{done}"
        print(f"[{name}] {what}: {known}, {time.perf_counter() - began:.1f} s", flush=True)

    return listen
