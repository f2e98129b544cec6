"""Progress of long work: the work reports it, and a listener shows it.

Long work calls :func:`advance` with its name, how much is done and how much there is in total. A front end listens with
:func:`listening`: the command shows a bar, ``verbose=1`` prints lines, a ``progress=`` argument calls a function.
By default nobody listens; then work that takes more than some seconds is shown on a terminal or in a notebook, and
nothing is shown elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dubio.errors import InputError

#: Called with the name of the work, how much is done, and how much there is in total (None if unknown).
Listener = Callable[[str, int, int | None], None]

#: Seconds after which work is shown although nobody listens.
_PATIENCE = 5.0

_listener: ContextVar[Listener | None] = ContextVar("listener to progress", default=None)


def advance(what: str, done: int, total: int | None = None) -> None:
    """Report the progress of the work called ``what``."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)
    elif _somebody_watches():
        _patient(what, done, total)


def parts_of(what: str) -> Callable[[int, int], None]:
    """A function that reports the parts of one step, about once per second; nothing if the step is shorter."""
    last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 1.0:
            last = time.monotonic()
            advance(what, done, total)

    return report


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


class _Patient:
    """The listener if nobody else listens. When work takes long, it shows the share done and the time left."""

    def __init__(self) -> None:
        self._what = ""
        self._began = self._shown = 0.0

    def __call__(self, what: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if what != self._what or done <= 1:
            self._what, self._began, self._shown = what, now, 0.0
        finished = done == total
        waited = now - self._began
        if waited < _PATIENCE or (now - self._shown < 1.0 and not finished):
            return
        self._shown = now
        print(
            f"\r{with_time_left(what, done, total, waited)}", end="\n" if finished else "", file=sys.stderr, flush=True
        )


def with_time_left(what: str, done: int, total: int | None, seconds: float) -> str:
    """``search: 40 %, about 12 s left``.

    >>> from dubio.progress import with_time_left
    >>> with_time_left("search", 10, 25, 8.0)
    'search: 40 %, about 12 s left'
    """
    if not total:
        return f"{what}: {done:,}, {seconds:.0f} s"
    left = seconds * (total - done) / max(done, 1)
    shown = f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} min"
    return f"{what}: {100 * done // total} %, about {shown} left"


def _somebody_watches() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


_patient = _Patient()


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
    if not (callable(progress) or progress is None or isinstance(progress, bool | int)):
        raise InputError("progress", f"={progress!r}", "give True, False or a function")
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
