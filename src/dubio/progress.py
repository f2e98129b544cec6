"""Progress of long work: the work reports it, a listener hears it, a line shows it.

Long work calls :func:`advance` with its name, how much is done and how much there is in total. A front end listens with
:func:`listening`: the command shows a bar, ``verbose=1`` prints lines, a ``progress=`` argument calls a function.
By default nobody listens; then work that takes more than some seconds is shown on a terminal or in a notebook, and
nothing is shown elsewhere.
"""

from __future__ import annotations

import inspect
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
    elif _has_stderr() and ("ipykernel" in sys.modules or sys.stderr.isatty()):
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
    token = _listener.set(_listener.get() if listener is None else listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listener_of(progress: bool | Callable[..., None], *, of: str = "", with_name: bool = False) -> Listener | None:
    """The listener for a ``progress=`` argument.

    True shows a line on standard error. A function is called with (done, total); with ``with_name`` the name of the
    work comes first. If ``of`` is given, only the work of that name is reported.
    """
    if not (callable(progress) or progress is None or isinstance(progress, bool | int)):
        raise InputError("progress", f"={progress!r}", "give True, False or a function")
    if not progress:
        return None
    call: Listener = _Line()
    if callable(progress):
        names = ("what", "done", "total") if with_name else ("done", "total")
        try:
            inspect.signature(progress).bind(*names)
        except TypeError:
            found = f"is a function that cannot be called with {len(names)} arguments"
            raise InputError("progress", found, f"give a function that takes ({', '.join(names)})") from None
        except ValueError:  # some functions of C do not say what they take
            pass
        call = progress if with_name else lambda _, done, total: progress(done, total)
    return lambda what, done, total: call(what, done, total) if not of or what == of else None


def lines_of(name: str) -> Listener:
    """The listener behind ``verbose=1``: a new line for each step, on standard output."""
    began = time.perf_counter()

    def listen(what: str, done: int, total: int | None) -> None:
        share = f"{done} of {total}" if total else f"{done}"
        print(f"[{name}] {what}: {share}, {time.perf_counter() - began:.1f} s", flush=True)

    return listen


class _Line:
    """A line on standard error with the share done and the time left, once work takes longer than ``patience`` seconds.

    It is overwritten once per second.
    """

    def __init__(self, patience: float = 0.0) -> None:
        self._patience = patience
        self._work: tuple[str, int | None] = "", 0
        self._done = 0
        self._began = self._shown = 0.0

    def __call__(self, what: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if (what, total) != self._work or done <= self._done:  # new work
            self._began, self._shown = now, float("-inf")
        self._work, self._done = (what, total), done
        finished = done == total
        if now - self._began < self._patience or (now - self._shown < 1.0 and not finished) or not _has_stderr():
            return
        self._shown = now
        text = with_time_left(what, done, total, now - self._began)
        print(f"\r{60 * ' '}\r{text}", end="\n" if finished else "", file=sys.stderr, flush=True)


_patient = _Line(_PATIENCE)


#: Seconds of a unit, the time in seconds below which it is used, and its name.
_UNITS = ((1, 120, "s"), (60, 7200, "min"), (3600, float("inf"), "h"))


def with_time_left(what: str, done: int, total: int | None, seconds: float) -> str:
    """``search: 40 %, about 12 s left``; in the first second, ``search: 10 of 25``.

    >>> from dubio.progress import with_time_left
    >>> with_time_left("search", 10, 25, 8.0)
    'search: 40 %, about 12 s left'
    """
    if not total:
        return f"{what}: {done:,}, {seconds:.0f} s"
    if seconds < 1.0:
        return f"{what}: {done:,} of {total:,}"
    left = seconds * (total - done) / max(done, 1)
    duration = next(f"{left / unit:.0f} {name}" for unit, most, name in _UNITS if left < most)
    return f"{what}: {100 * done // total} %, about {duration} left"


def _has_stderr() -> bool:
    """Whether there is a standard error; a program may have closed it, or have none."""
    return sys.stderr is not None and not getattr(sys.stderr, "closed", False)
