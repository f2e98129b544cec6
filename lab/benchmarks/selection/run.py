"""Run the cells that are missing: one cell is a draw of a table in a regime, with every selector on the same rows."""

from __future__ import annotations

import hashlib
import json
import platform
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np

import dubio
from benchmarks.selection.judges import Judge
from benchmarks.selection.previous import fingerprint
from benchmarks.selection.regimes import REGIMES
from benchmarks.selection.selectors import AUTO, PREVIOUS, Selector, selectors
from benchmarks.selection.tables import BY_NAME, Table, draw
from dubio_app.whole_files import write_whole
from dubio_papers.run_progress import Progress
from dubio_papers.store import Record, ResultFile

PACKAGES = ("dubio", "numpy", "scipy", "scikit-learn", "numba", "boruta", "cleanlab", "fastcan", "shap", "skrebate")
VERSIONS = "versions.json"
#: ``auto`` is what all others are compared with, so it has so many times the limit of the others.
PATIENCE = 10
SOURCE = str(Path(dubio.__file__).parents[1])


class Task(NamedTuple):
    """What is to be done in one cell."""

    regime: str
    table: str  # kind/name
    draw: int
    selectors: tuple[str, ...]

    @property
    def key(self) -> str:
        """Tasks with the same key take about the same time."""
        return f"{self.regime}|{self.table}"

    @property
    def rows(self) -> tuple[int, str]:
        """Tasks that are equal here have the same rows, whatever is doubted of them."""
        return self.draw, self.table

    @property
    def seconds(self) -> float:
        """A first guess."""
        return 0.7 * len(self.selectors) * (4.0 if self.table.startswith("wide") else 1.0)


class TooSlow(Exception):
    """A selector passed the time limit."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow after so many seconds (at once in Python code, else when the running library call returns)."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield  # no alarm can be set here, so the time is only looked at afterwards
        return

    def stop(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def random(*name: Any) -> np.random.Generator:
    """Random numbers by name: the same on every computer and in any order of running."""
    digest = hashlib.sha256("|".join(map(str, name)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def select(selector: Selector, known: Any, limit: float) -> tuple[Any, Record]:
    """The order of a selector (None if there is none), and what happened."""
    began = time.perf_counter()
    try:
        with time_limit(limit):
            order = [int(j) for j in selector.order(known)]
        outcome: Record = {}
        if sorted(order) != list(range(known.X.shape[1])):
            raise ValueError("it did not order all features")
    except Exception as error:  # a stopped compiled function raises an error of its own
        slow = time.perf_counter() - began >= limit
        order = None
        outcome = {} if slow else {"failed": f"{type(error).__name__}: {error}"[:200]}
    seconds = time.perf_counter() - began
    if seconds >= limit:
        outcome |= {"slow": True, "limit": limit}
    return order, {"seconds": round(seconds, 4), **outcome}


@lru_cache(maxsize=2)
def judge_of(table: Table, draw_number: int) -> Judge:
    """The judge of a draw of a table. It stays, because every regime has the same rows and many of the same subsets."""
    name = f"{table.kind}/{table.name}"
    sample = draw(table, random(name, draw_number))
    return Judge(sample, table.kind == "numbers", int(random("judge", name, draw_number).integers(2**31)))


def run_cell(task: Task, limit: float, previous: str | None) -> tuple[Task, list[Record], float]:
    """The records of one cell, one for each selector, and the seconds of it all."""
    began = time.perf_counter()
    regime, known_selectors = REGIMES[task.regime], selectors(previous)
    records = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge = judge_of(BY_NAME[task.table], task.draw)
        cell = regime.doubt(judge.sample, random(task.regime, task.table, task.draw))
        if cell.sample is not judge.sample:  # it has one column more
            judge = Judge(cell.sample, judge.numbers, judge.seed)
        for name in task.selectors:
            selector = known_selectors[name]
            order, outcome = select(selector, cell.known, PATIENCE * limit if name in (AUTO, PREVIOUS) else limit)
            record: Record = {"cell": f"{task.table}|{name}", "repetition": task.draw, **outcome}
            if order is not None:
                record |= {"first": order[:15], **judge.order(order)}
                if cell.culprit is not None:
                    record["culprit"] = order.index(cell.culprit) + 1
            if selector.family in ("dubio", "previous"):
                record["source"] = fingerprint(previous if name == PREVIOUS and previous else SOURCE)
            record["features"] = cell.sample.X.shape[1]
            record["when"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            records.append(record)
    return task, records, time.perf_counter() - began


def missing_tasks(
    folder: Path, regimes: Sequence[str], tables: Sequence[str], wanted: dict[str, Selector], draws: Sequence[int]
) -> list[Task]:
    """Cells with selectors that are not stored yet; a selector too slow on its first draw of a table is left out."""
    tasks = []
    for regime in regimes:
        stored = ResultFile(folder, regime).read()
        mine = [name for name, selector in wanted.items() if selector.applies(REGIMES[regime])]
        for table in tables:
            if BY_NAME[table].kind != REGIMES[regime].tables:
                continue
            slow = {name for name in mine if stored.get((f"{table}|{name}", 0), {}).get("slow")}
            for number in draws:
                todo = [name for name in mine if name not in slow and (f"{table}|{name}", number) not in stored]
                if todo:
                    tasks.append(Task(regime, table, number, tuple(todo)))
    return tasks


def run(
    folder: Path,
    *,
    regimes: Sequence[str],
    tables: Sequence[str],
    wanted: dict[str, Selector],
    draws: int,
    jobs: int = 1,
    limit: float = 60.0,
    previous: str | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Run what is missing, the first draw of everything before the others; return the number of cells run."""
    count = 0
    note_versions(folder)
    for numbers in (range(1), range(1, draws)):
        tasks = missing_tasks(folder, regimes, tables, wanted, numbers)
        tasks.sort(key=lambda task: task.rows)  # a stopped run has some of each table and regime
        if not tasks:
            continue
        progress = Progress("first draw" if numbers.start == 0 else "other draws", tasks, jobs, say)
        with ExitStack() as stack:
            add = {name: stack.enter_context(ResultFile(folder, name).append()) for name in {t.regime for t in tasks}}
            for task, records, seconds in _cells(tasks, jobs, limit, previous):
                for record in records:
                    add[task.regime](record)
                progress.one_done(task.key, seconds)
                count += 1
        progress.finish()
    return count


def _cells(
    tasks: Sequence[Task], jobs: int, limit: float, previous: str | None
) -> Iterator[tuple[Task, list[Record], float]]:
    if jobs == 1:
        for task in tasks:
            yield run_cell(task, limit, previous)
    else:  # cells of the same rows go to the same process: their judge knows most subsets already
        calls = (
            joblib.delayed(_run_cells)(list(cells), limit, previous) for _, cells in groupby(tasks, lambda t: t.rows)
        )
        for done in joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(calls):
            yield from done


def _run_cells(tasks: Sequence[Task], limit: float, previous: str | None) -> list[tuple[Task, list[Record], float]]:
    return [run_cell(task, limit, previous) for task in tasks]


def note_versions(folder: Path) -> None:
    """Keep the versions of the libraries beside the results."""
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / VERSIONS, json.dumps(found, indent=1) + "\n")


def forget(folder: Path, regimes: Sequence[str], names: Sequence[str]) -> int:
    """Remove the stored results of these selectors, so that they are run again; return how many there were."""
    count = 0
    for regime in regimes:
        file = ResultFile(folder, regime)
        if not file.path.exists():
            continue
        with file.append():  # nobody else may be writing
            lines = file.path.read_text().splitlines(keepends=True)
            kept = [line for line in lines if json.loads(line)["cell"].partition("|")[2] not in names]
            write_whole(file.path, "".join(kept))
            count += len(lines) - len(kept)
    return count


def stale(folder: Path, regimes: Sequence[str]) -> list[str]:
    """Selectors of dubio with stored results of another version of the code than this one."""
    now = fingerprint(SOURCE)
    found = {
        record["cell"].partition("|")[2]
        for regime in regimes
        for record in ResultFile(folder, regime).read().values()
        if record.get("source", now) != now
    }
    return sorted(found - {PREVIOUS})
