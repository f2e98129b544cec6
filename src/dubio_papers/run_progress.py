"""How far a run is, and how long it will still take."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from statistics import median

from joblib import effective_n_jobs

from dubio_papers.experiment import Cell

#: Seconds between two lines.
_PAUSE = 5.0


class Progress:
    """Counts repetitions and estimates the time left from what those of each cell took."""

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
        """Note a repetition, and say something now and then."""
        self._left[cell] -= 1
        self._measured[cell].append(seconds)
        if time.monotonic() - self._last >= _PAUSE:
            self._last = time.monotonic()
            done = self._total - self._left.total()
            self._say(f"{self._name}: {done} of {self._total}, {duration(self.seconds_left())} left")

    def finish(self) -> None:
        """Say how long it took."""
        if self._total:
            self._say(f"{self._name}: done in {duration(time.monotonic() - self._began)}")

    def seconds_left(self) -> float:
        """Measured times where a cell has any; elsewhere the expected ones, corrected by how wrong they were so far.

        Medians: the first repetition may have compiled something.
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
    """Time for people.

    >>> duration(42), duration(600), duration(8000)
    ('42 s', '10 min', '2.2 h')
    """
    if seconds < 99:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
