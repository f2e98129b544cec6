"""How far long work has come: whoever works says so, and whoever wants to know listens.

Work calls :func:`advance` with what it does, how much is done and how much there is in all. A front end listens with
:func:`listening`: the command shows a bar, ``verbose=1`` prints lines, a ``progress=`` argument calls a function.
Nobody listens by default, and then nothing is said.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

#: Called with what is being done, how much of it is done, and how much there is in all (None: nobody knows).
Listener = Callable[[str, int, int | None], None]

_listener: ContextVar[Listener | None] = ContextVar("listener to progress", default=None)


def advance(what: str, done: int, total: int | None = None) -> None:
    """Say how far the work called ``what`` has come."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Have ``listener`` called while the block runs; None leaves whoever listens already.

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


def silence() -> Any:
    """A block in which nobody listens."""
    return listening(lambda what, done, total: None)


def to_stderr(what: str, done: int, total: int | None) -> None:
    """The listener behind ``progress=True``: a line that is written over."""
    end = "\n" if done == total else ""
    known = f"{done:,} of {total:,}" if total else f"{done:,}"
    print(f"\r{what}: {known}", end=end, file=sys.stderr, flush=True)


def listener_of(progress: bool | Callable[..., None], *, of: str = "", with_name: bool = False) -> Listener | None:
    """The listener that a ``progress=`` argument asks for.

    True writes to standard error. A function is called with (done, total), or with the name of the work before them;
    ``of`` is the work it wants to hear of, others being left out.
    """
    if not progress:
        return None
    if not callable(progress):
        return to_stderr

    def listen(what: str, done: int, total: int | None) -> None:
        if of and what != of:
            return
        if with_name:
            progress(what, done, total)
        else:
            progress(done, total)

    return listen


def lines_of(name: str) -> Listener:
    """The listener behind ``verbose=1``: a line of its own for every step, on standard output."""
    began = time.perf_counter()

    def listen(what: str, done: int, total: int | None) -> None:
        known = f"{done} of {total}" if total else f"{done}"
        print(f"[{name}] {what}: {known}, {time.perf_counter() - began:.1f} s", flush=True)

    return listen
