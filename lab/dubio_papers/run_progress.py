"""The progress of a run, and the time it still needs."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from statistics import median

from joblib import effective_n_jobs

from dubio_papers.experiment import Cell

#: Seconds between two lines of output.
_PAUSE = 5.0


class Progress:
    """Counts repetitions, and estimates the time left from the measured times of each cell."""

    def __init__(self, name: str, tasks: Sequence[Cell], n_jobs: int, say: Callable[[str], None]) -> None:
        self._name, self._say, self._n_jobs = name, say, effective_n_jobs(n_jobs)
        self._total = len(tasks)
        self._left = Counter(cell.key for cell in tasks)
        self._expected = {cell.key: cell.seconds for cell in tasks}
        self._measured: defaultdict[str, list[float]] = defaultdict(list)
        self._began = self._last = time.monotonic()
        if tasks:
            say(f"{name}: {self._total} repetitions to do, about {duration(self.seconds_left())}")

    def one_done(self, cell: str, seconds: float) -> None:
        """Count one repetition, and print the progress from time to time."""
        self._left[cell] -= 1
        self._measured[cell].append(seconds)
        if time.monotonic() - self._last >= _PAUSE:
            self._last = time.monotonic()
            done = self._total - self._left.total()
            self._say(f"{self._name}: {done} of {self._total}, {duration(self.seconds_left())} left")

    def finish(self) -> None:
        """Print how long the run took."""
        if self._total:
            self._say(f"{self._name}: done in {duration(time.monotonic() - self._began)}")

    def seconds_left(self) -> float:
        """Estimated seconds left, from the measured times of each cell.

        A cell without measured times uses its expected time, corrected by the error of the expected times so far.
        Medians are used because the first repetition may include compilation.
        """
        measured = sum(len(times) * median(times) for times in self._measured.values())
        expected = sum(len(times) * self._expected[cell] for cell, times in self._measured.items())
        factor = measured / expected if expected else 1.0
        left = 0.0
        for cell, count in self._left.items():
            times = self._measured.get(cell)
            left += count * (median(times) if times else factor * self._expected[cell])
        return left / self._n_jobs


def duration(seconds: float) -> str:
    """A time in readable units.

    >>> duration(42), duration(600), duration(8000)
    ('42 s', '10 min', '2.2 h')
    """
    if seconds < 99:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
