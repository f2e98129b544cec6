"""Progress of long work: the work reports it, and a listener shows it.

Long work calls :func:`advance` with its name, how much is done and how much there is in total. A front end listens with
:func:`listening`: the command shows a bar, ``verbose=1`` prints lines, a ``progress=`` argument calls a function.
By default nobody listens; then work that takes more than some seconds is shown on a terminal or in a notebook, and
nothing is shown elsewhere. Whoever shows the progress also says once how long long work will take: before it starts if
the work can tell (:func:`foretell`), else from its first seconds (:class:`Forecast`).
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dubio.errors import InputError

#: Called with the name of the work, how much is done, and how much there is in total (None if unknown).
Listener = Callable[[str, int, int | None], None]

#: Seconds after which work is shown although nobody listens.
_PATIENCE = 5.0
#: Work is watched for so many seconds before its time is forecast; shorter forecasts than this are not said.
_WATCHED, _SHORT = 2.0, 10.0
#: A wait of at most so many seconds may be the compilation of code that is used for the first time.
_COMPILING = 60.0

#: Seconds of :func:`pace` where the times of work were measured, and the numbers that it sorts.
_PACE, _SORTED = 1.5e-3, 20_000

_listener: ContextVar[Listener | None] = ContextVar("listener to progress", default=None)


@dataclass(frozen=True)
class _Step:
    """One step of longer work: the name of that work, the share of it done before this step, and the step's share."""

    what: str
    before: float
    size: float


_step: ContextVar[_Step | None] = ContextVar("step of longer work", default=None)


def advance(what: str, done: int, total: int | None = None) -> None:
    """Report the progress of the work called ``what``."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)
    elif _somebody_watches():
        _patient(what, done, total)


@dataclass(frozen=True)
class _Estimate:
    """What work that starts now will take."""

    seconds: float
    memory: float

    def __str__(self) -> str:
        memory = f", {self.memory / 1e9:.1f} GB of memory" if self.memory >= 5e7 else ""
        return f"about {_duration(self.seconds)} in all{memory}"


_estimate: ContextVar[_Estimate | None] = ContextVar("estimate of the work that starts", default=None)


def foretell(what: str, total: int, seconds: float, memory: float = 0.0) -> None:
    """Report that the work ``what`` starts, and what it will take: an estimate in seconds, and in bytes of memory.

    Short work is not reported.

    >>> from dubio.progress import Forecast, foretell, listening
    >>> forecast = Forecast()
    >>> with listening(lambda what, done, total: print(forecast.line(what, done, total, now=0.0))):
    ...     foretell("neighbours", 300_000, seconds=430.0, memory=2e8)
    ...     foretell("neighbours", 300, seconds=0.4)
    neighbours: about 7 min in all, 0.2 GB of memory
    """
    if seconds < _SHORT:
        return
    token = _estimate.set(_Estimate(seconds, memory))
    try:
        advance(what, 0, total)
    finally:
        _estimate.reset(token)


@cache
def pace() -> float:
    """How long this computer takes for what took one second where the times of work were measured.

    It sorts some numbers, which takes a few milliseconds; once in each process.
    """
    numbers, seconds = np.random.default_rng(0).random(_SORTED), float("inf")
    for _ in range(3):
        began = time.perf_counter()
        np.argsort(numbers, kind="stable")
        seconds = min(seconds, time.perf_counter() - began)
    return seconds / _PACE


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


@contextmanager
def step_of(what: str, before: float, size: float) -> Iterator[None]:
    """What is reported in the block is one step of the work ``what``.

    ``before`` is the share of that work done before the step, ``size`` the share of the step itself. So the time of all
    steps can be told from the first part of the first one.
    """
    token = _step.set(_Step(what, before, size))
    try:
        yield
    finally:
        _step.reset(token)


@dataclass(frozen=True)
class _Watched:
    """Work since its first report: when that was, the share done then and now, and the longest wait between reports."""

    began: float
    start: float
    size: int
    now: float
    share: float
    longest: float = 0.0
    """Seconds of the longest wait."""
    in_longest: float = 0.0
    """The share done in it."""

    def at(self, share: float, now: float) -> _Watched:
        """The same work at its next report."""
        wait = now - self.now
        if wait > self.longest:
            return replace(self, now=now, share=share, longest=wait, in_longest=share - self.share)
        return replace(self, now=now, share=share)

    def seconds_in_all(self) -> float | None:
        """About how long the whole work takes, or None as long as nobody can know.

        The longest wait counts once: code that is used for the first time is compiled then.
        """
        once, in_it = (self.longest, self.in_longest) if self.longest <= _COMPILING else (0.0, 0.0)
        watched, done = self.now - self.began - once, self.share - self.start - in_it
        if watched < _WATCHED or done <= 0 or self.share > 1 - 1e-9:
            return None
        return once + (1.0 - in_it) * watched / done


class Forecast:
    """Foretells the time of long work: by its own estimate when it starts, else from its first seconds.

    A forecast is said once per name of work; again only if it has more than doubled, as when later steps are slower.

    >>> from dubio.progress import Forecast
    >>> forecast = Forecast()
    >>> [forecast.line("neighbours", done, 300_000, now=done / 500) for done in (1000, 2000, 3000, 4000)]
    ['', '', 'neighbours: about 10 min in all', '']
    """

    def __init__(self) -> None:
        self._watched: dict[str, _Watched] = {}
        self._said: dict[str, float] = {}

    def line(self, what: str, done: int, total: int | None, now: float) -> str:
        """What is to be said about the time, at a report of the work at the time ``now``; mostly nothing."""
        if not total:
            return ""
        estimate = _estimate.get()
        if estimate is not None:
            self._watched[what] = _Watched(now, 0.0, total, now, 0.0)
            if estimate.seconds < 2 * self._said.get(what, 0.0):  # the same work again, on other rows
                return ""
            self._said[what] = estimate.seconds
            return f"{what}: {estimate}"
        step, share, size = _step.get(), done / total, total
        if step is not None:
            share = step.before + step.size * (1.0 if what == step.what else share)
            what, size = step.what, 0  # the steps may be of different sizes
        before = self._watched.get(what)
        if before is None or share <= before.share or size != before.size:  # new work, perhaps of a name known before
            self._watched[what] = _Watched(now, share, size, now, share)
            return ""
        self._watched[what] = watched = before.at(share, now)
        seconds = watched.seconds_in_all()
        if seconds is None or seconds < max(_SHORT, 2 * self._said.get(what, 0.0)):
            return ""
        self._said[what] = seconds
        return f"{what}: about {_duration(seconds)} in all"


class _Patient:
    """The listener if nobody else listens. When work takes long, it shows the share done and the time left."""

    def __init__(self) -> None:
        self._what, self._done = "", 0
        self._total: int | None = None
        self._began = self._shown = 0.0
        self._forecast = Forecast()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if line := self._forecast.line(what, done, total, now):
            _over_line(line)
        if what != self._what or done <= self._done or total != self._total:  # new work
            self._began, self._shown = now, 0.0
        self._what, self._done, self._total = what, done, total
        finished = done == total
        waited = now - self._began
        if waited < _PATIENCE or (now - self._shown < 1.0 and not finished):
            return
        self._shown = now
        _on_stderr(f"\r{with_time_left(what, done, total, waited)}", end="\n" if finished else "")


def with_time_left(what: str, done: int, total: int | None, seconds: float) -> str:
    """``search: 40 %, about 12 s left``.

    >>> from dubio.progress import with_time_left
    >>> with_time_left("search", 10, 25, 8.0)
    'search: 40 %, about 12 s left'
    """
    if not total:
        return f"{what}: {done:,}, {seconds:.0f} s"
    left = seconds * (total - done) / max(done, 1)
    return f"{what}: {100 * done // total} %, about {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _over_line(line: str) -> None:
    """A line of its own on standard error, in the place of a line of progress."""
    _on_stderr(f"\r{line:<60}")


def _on_stderr(text: str, end: str = "\n") -> None:
    """Print on standard error; a program may have closed it, or have none."""
    if _has_stderr():
        print(text, end=end, file=sys.stderr, flush=True)


def _has_stderr() -> bool:
    return sys.stderr is not None and not getattr(sys.stderr, "closed", False)


def _somebody_watches() -> bool:
    return _has_stderr() and ("ipykernel" in sys.modules or sys.stderr.isatty())


_patient = _Patient()


def to_stderr(what: str, done: int, total: int | None) -> None:
    """The listener behind ``progress=True``: one line that is overwritten at each step."""
    end = "\n" if done == total else ""
    known = f"{done:,} of {total:,}" if total else f"{done:,}"
    _on_stderr(f"\r{what}: {known}", end)


def listener_of(progress: bool | Callable[..., None], *, of: str = "", with_name: bool = False) -> Listener | None:
    """The listener for a ``progress=`` argument.

    True writes to standard error. A function is called with (done, total); with ``with_name`` the name of the work
    comes first. If ``of`` is given, only the work of that name is reported.
    """
    if not (callable(progress) or progress is None or isinstance(progress, bool | int)):
        raise InputError("progress", f"={progress!r}", "give True, False or a function")
    if not progress:
        return None
    if callable(progress):
        _require_arguments(progress, ("what", "done", "total") if with_name else ("done", "total"))
    forecast = Forecast()

    def listen(what: str, done: int, total: int | None) -> None:
        if of and what != of:
            return
        if not callable(progress):
            if line := forecast.line(what, done, total, time.monotonic()):
                _over_line(line)
            to_stderr(what, done, total)
        elif with_name:
            progress(what, done, total)
        else:
            progress(done, total)

    return listen


def _require_arguments(function: Callable[..., None], names: tuple[str, ...]) -> None:
    """Raise if the function cannot be called with so many arguments; some functions of C do not say what they take."""
    try:
        inspect.signature(function).bind(*names)
    except ValueError:
        return
    except TypeError:
        found = f"is a function that cannot be called with {len(names)} arguments"
        raise InputError("progress", found, f"give a function that takes ({', '.join(names)})") from None


def lines_of(name: str) -> Listener:
    """The listener behind ``verbose=1``: a new line for each step, on standard output."""
    began, forecast = time.perf_counter(), Forecast()

    def listen(what: str, done: int, total: int | None) -> None:
        if line := forecast.line(what, done, total, time.monotonic()):
            print(f"[{name}] {line}", flush=True)
        known = f"{done} of {total}" if total else f"{done}"
        print(f"[{name}] {what}: {known}, {time.perf_counter() - began:.1f} s", flush=True)

    return listen
