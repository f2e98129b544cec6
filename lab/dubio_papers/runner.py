"""Run experiments: each repetition is independent, gets its seed from its name, and is stored when it is done."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from dubio_papers.datasets.load import load
from dubio_papers.datasets.raw_tables import DatasetUnavailable
from dubio_papers.experiment import Cell, Experiment, Protocol
from dubio_papers.run_progress import Progress
from dubio_papers.store import Record, ResultFile


def seed(experiment: str, cell: str, repetition: int) -> np.random.SeedSequence:
    """The seed of a repetition: a hash of its name, the same on every computer and in any order of running.

    >>> int(seed("wls-table-1", "mu=0.3", 0).generate_state(1)[0]) == int(
    ...     seed("wls-table-1", "mu=0.3", 0).generate_state(1)[0])
    True
    """
    name = f"{experiment}|{cell}|{repetition}".encode()
    return np.random.SeedSequence(int.from_bytes(hashlib.sha256(name).digest()[:16], "big"))


def run_experiments(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    full: bool = False,
    n_jobs: int | None = None,
    cells: str = "*",
    say: Callable[[str], None] | None = None,
) -> None:
    """Run all repetitions that are not yet in ``folder``.

    Repetitions run through joblib, so a backend set by ``joblib.parallel_config`` can run them, for example on a
    cluster. Each repetition uses one thread.

    Parameters
    ----------
    experiments : sequence of Experiment
    folder : Path
        Results of earlier runs are kept and not repeated: a quick run is part of the full run.
    full : bool
        Whether to run the full number of repetitions.
    n_jobs : int, optional
        Number of repetitions at the same time; by default joblib's setting, or one. Results do not depend on it.
    cells : str
        Pattern for the keys of the cells to run.
    say : callable, optional
        Called with each line of progress.
    """
    for experiment in experiments:
        if experiment.protocol is not None:
            jobs = get_active_backend()[1] if n_jobs is None else n_jobs
            _run(experiment, Path(folder), full, jobs, cells, say or (lambda line: None))


def _run(
    experiment: Experiment, folder: Path, full: bool, n_jobs: int, pattern: str, say: Callable[[str], None]
) -> None:
    results = ResultFile(folder, experiment.name)
    wanted = [cell for cell in experiment.cells if fnmatch(cell.key, pattern) and cell.repetitions(full)]
    checksums, missing = _read_datasets(experiment.paper, wanted)
    for message in dict.fromkeys(missing.values()):
        say(f"{experiment.name}: skipped, {message}")
    datasets = {cell.key: cell.dataset for cell in wanted}
    with results.append() as add:
        done = results.read()
        tasks = [
            (cell, repetition)
            for cell in wanted
            if cell.dataset not in missing
            for repetition in range(cell.repetitions(full))
            if (cell.key, repetition) not in done
        ]
        tasks.sort(key=lambda task: task[1])  # first repetitions of all cells first: a stopped run has some of each
        progress = Progress(experiment.name, [cell for cell, _ in tasks], n_jobs, say)
        for record in _records(experiment, tasks, n_jobs):
            dataset = datasets[record["cell"]]
            if dataset:
                record["data"] = {dataset: checksums[dataset]}
            add(record)
            progress.one_done(record["cell"], record["seconds"])
        progress.finish()


def _records(experiment: Experiment, tasks: Sequence[tuple[Cell, int]], n_jobs: int) -> Iterator[Record]:
    """The records of all tasks, each as soon as it is finished."""
    assert experiment.protocol is not None
    calls = [(experiment.name, experiment.protocol, dict(cell.parameters), cell.key, r) for cell, r in tasks]
    if n_jobs == 1:
        for call in calls:
            yield run_repetition(*call)
    elif getattr(get_active_backend()[0], "supports_return_generator", False):
        yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(run_repetition)(*c) for c in calls)
    else:  # such a backend returns nothing before everything is done, so give it small batches
        for start in range(0, len(calls), 64):
            yield from Parallel(n_jobs=n_jobs)(delayed(run_repetition)(*c) for c in calls[start : start + 64])


def run_repetition(
    experiment: str, protocol: Protocol, parameters: Mapping[str, Any], cell: str, repetition: int
) -> Record:
    """One repetition, with one thread."""
    from dubio import __version__

    random = np.random.default_rng(seed(experiment, cell, repetition))
    began = time.perf_counter()
    with _threads().limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # protocols have tiny classes and empty selections on purpose
        measures = protocol(parameters, random)
    return {
        "cell": cell,
        "repetition": repetition,
        "measures": {name: _plain(value) for name, value in measures.items()},
        "seconds": round(time.perf_counter() - began, 4),
        "dubio": __version__,
        "when": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def _plain(value: Any) -> Any:
    """Plain numbers for JSON, which keeps them exactly: a double that is written and read again is the same."""
    if isinstance(value, str):
        raise TypeError(f"a measure must be a number or a curve, got {value!r}.")
    return [float(x) for x in value] if np.ndim(value) else float(value)


def _read_datasets(paper: str, cells: Sequence[Cell]) -> tuple[dict[str, str], dict[str, str]]:
    """Checksums of the tables that the cells need, and the reason for each unavailable table.

    The tables are read here first, so that a download is in the cache before many processes need it.
    """
    checksums, missing = {}, {}
    for name in dict.fromkeys(cell.dataset for cell in cells if cell.dataset):
        try:
            checksums[name] = load(name, paper=paper).checksum
        except DatasetUnavailable as error:
            missing[name] = str(error)
    return checksums, missing
