"""A pool of children that live long, so that imports and compilation are paid once; each call has a time limit."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from fuzz.outcome import FAULT, Outcome

#: A child is replaced after so many calls.
_LIFETIME = 5000


class Child:
    """One child process; it is started again after it died or hung."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._calls = 0

    def ask(self, seed: str) -> Outcome:
        """The outcome of the call with this seed."""
        if self._calls >= _LIFETIME:
            self.stop()
        process = self._process or self._start()
        self._calls += 1
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(f"{seed}\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], self._seconds)
            line = process.stdout.readline() if ready else None
        except BrokenPipeError:
            line = ""
        if line:
            return Outcome(**json.loads(line))
        if line is None:
            self.stop()
            return Outcome(seed, "", FAULT, "it takes too long", f"no answer after {self._seconds:g} s")
        code = process.wait()
        self.stop()
        return Outcome(seed, "", FAULT, "the process died", f"exit code {code}")

    def _start(self) -> subprocess.Popen[str]:
        settings = {"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **settings},
        )
        self._calls = 0
        return self._process

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def run_calls(seeds: Iterable[str], *, children: int, seconds: float) -> Iterator[Outcome]:
    """The outcomes of many calls, in any order."""
    waiting: queue.Queue[str] = queue.Queue()
    for seed in seeds:
        waiting.put(seed)
    count = waiting.qsize()
    outcomes: queue.Queue[Outcome] = queue.Queue()

    def work() -> None:
        child = Child(seconds)
        try:
            while True:
                outcomes.put(child.ask(waiting.get_nowait()))
        except queue.Empty:
            pass
        finally:
            child.stop()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(children)]
    for thread in threads:
        thread.start()
    for _ in range(count):
        yield outcomes.get()


def summary(outcomes: Iterable[Outcome], say: Callable[[str], None], every: int = 1000) -> list[Outcome]:
    """Count the outcomes, show the faults as they come, and return them."""
    counts: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    faults: list[Outcome] = []
    for outcome in outcomes:
        counts[outcome.kind] += 1
        if outcome.kind == FAULT:
            faults.append(outcome)
            groups[outcome.group] += 1
            if groups[outcome.group] <= 3:
                say(f"fault {outcome.seed}: {outcome.group}\n  {outcome.call}\n  {outcome.detail}")
        if sum(counts.values()) % every == 0:
            say(f"{sum(counts.values())} calls: {_counted(counts)}")
    say(f"\n{sum(counts.values())} calls: {_counted(counts)}")
    for group, count in groups.most_common():
        seeds = [fault.seed for fault in faults if fault.group == group][:5]
        say(f"{count:6d}  {group}  (seeds {', '.join(seeds)})")
    return faults


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[kind]} {kind}" for kind in ("fine", "refused", "fault"))
