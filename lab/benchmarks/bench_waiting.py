"""What people wait for: the command, its report, ``auto`` and the first import, beside two things that they know.

Every line is a fresh process. The command is timed as a whole, from the shell's point of view, with the time of its
start. "First time": kernels are compiled into an empty cache. The made tables stand for those of people: survival times
of which a third are censored, spectra with neighbouring columns alike, and a registry of numbers and words with gaps
and with visits of the same subjects. A forest of 200 trees and ``f_classif`` are fitted to the same table in the same
run; they are the measure for ``auto``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import bench_auto
from benchmarks.bench_auto import _table
from benchmarks.harness import Measurement, measure

ME = "benchmarks.bench_waiting"
#: Rows and features of the tables that ``auto`` ranks.
SIZES = ((300, 30), (1_000, 60), (5_000, 2_000), (1_000_000, 50), (100, 20_000))
#: Goals in seconds of wall time, on two cores.
GOALS = {
    "dubio rank, 300 x 12, first time": 5.0,
    "dubio rank, 300 x 12": 1.5,
    "dubio rank --report, 300 x 12": 3.0,
    "survival, 300 x 25, report": 10.0,
    "spectra, 200 x 700, report": 10.0,
    "registry, 570 x 18, report": 10.0,
    "auto, 1,000 x 60": 1.5,
    "auto, 5,000 x 2,000": 8.0,
    "auto, 1,000,000 x 50": 7.0,
    "auto, 100 x 20,000": 4.5,
    "import dubio and one score, beyond scikit-learn": 0.4,
}
#: Features named a, b, ... of the tables of the command are related to the target.
_COMMANDS: dict[str, tuple[str, ...]] = {
    "dubio rank, 300 x 12": ("clinic", "--target", "target"),
    "dubio rank --report, 300 x 12": ("clinic", "--target", "target", "--report", "out.html"),
    "survival, 300 x 25, report": ("survival", "--time", "time", "--event", "died", "--report", "out.html"),
    "spectra, 200 x 700, report": ("spectra", "--target", "target", "--report", "out.html"),
    "registry, 570 x 18, report": (
        *("registry", "--target", "target", "--groups", "subject"),
        *("--report", "out.html"),
    ),
}


def tables() -> dict[str, dict[str, Any]]:
    """The tables of the command, by name; columns by name."""
    rng = np.random.default_rng(0)
    found: dict[str, dict[str, Any]] = {}
    X = rng.normal(size=(300, 12))
    y = np.where(rng.random(300) < 0.1, rng.integers(0, 2, 300), X[:, 0] + X[:, 1] > 0)
    found["clinic"] = {**_named(X), "target": np.where(y, "ill", "well")}
    X = rng.normal(size=(300, 25))
    times, until = (rng.exponential(np.exp(part)) for part in (X[:, 0] + 0.5 * X[:, 1], np.ones(300)))
    died = times <= until
    found["survival"] = {**_named(X), "time": np.minimum(times, until).round(4), "died": np.where(died, "yes", "no")}
    parts = rng.normal(size=(200, 8)) @ np.exp(-(((np.arange(700) - 90 * np.arange(8)[:, None]) / 30) ** 2))
    y = np.where(rng.random(200) < 0.1, rng.integers(0, 3, 200), np.digitize(parts[:, 90], [-0.4, 0.4]))
    found["spectra"] = {**_named(parts + 0.1 * rng.normal(size=(200, 700))), "target": np.array(["a", "b", "c"])[y]}
    X, subjects = rng.normal(size=(570, 18)), np.arange(570) // 3
    X[:, :9] += rng.normal(size=(190, 9))[subjects]
    y = X[:, 0] + X[:, 1] + rng.normal(size=190)[subjects] > 0
    columns: dict[str, Any] = {}
    for j, (name, column) in enumerate(_named(X).items()):
        words = np.array(["low", "middle", "high"])[np.digitize(column, [-0.5, 0.5])]
        cells = words.astype(object) if j % 3 == 2 else column.astype(object)
        columns[name] = np.where(rng.random(570) < 0.05, None, cells)
    found["registry"] = {**columns, "subject": subjects, "target": np.where(y, "yes", "no")}
    return found


def _named(X: Any) -> dict[str, Any]:
    return {f"c{j}": X[:, j].round(4) for j in range(X.shape[1])}


def command(folder: str, table: str, *options: str, cache: str | None = None) -> Measurement:
    """Wall and processor seconds of one call of ``dubio rank`` and its children, and the largest resident memory."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"} | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    began = time.perf_counter()
    words = [sys.executable, "-m", "dubio", "rank", f"{table}.csv", *options]
    with open(os.devnull, "wb") as nothing:
        process = subprocess.Popen(words, cwd=folder, env=environment, stdout=nothing, stderr=subprocess.PIPE)
        assert process.stderr is not None
        message = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(message.decode()[-2000:])
    wall = time.perf_counter() - began
    return Measurement(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def forest(n: int, d: int) -> Callable[[], object]:
    from sklearn.ensemble import RandomForestClassifier

    X, y = _table(n, d)
    return lambda: float(RandomForestClassifier(200, n_jobs=2, random_state=0).fit(X, y).feature_importances_[0])


def f_test(n: int, d: int) -> Callable[[], object]:
    from sklearn.feature_selection import f_classif

    X, y = _table(n, d)
    return lambda: float(f_classif(X, y)[0][0])


_IMPORT = """
import json, sys, time
import sklearn.base, sklearn.utils.validation, sklearn.feature_selection, numba
import numpy as np
before, began, X = set(sys.modules), time.perf_counter(), np.arange(60.0).reshape(20, 3) % 7
from dubio import WeightedLaplacianScore
WeightedLaplacianScore().fit(X, np.arange(20) % 2)
wall, own = time.perf_counter() - began, [name for name in sys.modules if name.partition(".")[0] == "dubio"]
print(json.dumps([wall, len(own), len(set(sys.modules) - before)]))
"""


def start() -> tuple[float, int, int]:
    """Seconds of ``import dubio`` and one score beyond scikit-learn, modules of dubio, and all new modules."""
    done = [subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, check=True) for _ in range(3)]
    wall, own, every = min(json.loads(one.stdout) for one in done)
    return wall, own, every


def show(name: str, found: Measurement, trees: float | None = None, f_seconds: float | None = None) -> None:
    """Print one line at once."""
    goal = GOALS.get(name)
    goal = trees if name == "auto, 300 x 30" else goal
    ratios = [f"{found.wall / one:.2f}" if one else "" for one in (goal, trees)]
    ratios.append(f"{found.wall / f_seconds:,.0f}" if f_seconds else "")
    shown = f"{goal:.2f}" if goal else ""
    print(f"| {name} | {found.wall:.2f} | {found.cpu:.2f} | {shown} | {' | '.join(ratios)} |", flush=True)


def main() -> None:
    import pandas as pd

    print("\n## What people wait for, two jobs\n")
    print("| what | wall s | cpu s | goal s | of the goal | of a forest of 200 trees | of f_classif |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        for name, columns in tables().items():
            pd.DataFrame(columns).to_csv(Path(folder) / f"{name}.csv", index=False)
        first, later = "dubio rank, 300 x 12, first time", "dubio rank, 300 x 12"
        show(first, command(folder, *_COMMANDS[later], cache=cache))
        for name, words in _COMMANDS.items():
            command(folder, *words)  # compile what is not compiled yet
            show(name, min((command(folder, *words) for _ in range(2)), key=lambda one: one.wall))
    for n, d in SIZES:
        of_size: dict[str, Any] = {"n": n, "d": d, "warmup": 0, "repeat": 1}
        found = measure(bench_auto.__name__, "auto", **(of_size | {"repeat": 3 if n < 5_000 else 1}))
        f_seconds = measure(ME, "f_test", n=n, d=d).wall
        trees = measure(ME, "forest", **of_size).wall if n < 1_000_000 else None
        show(f"auto, {n:,} x {d:,}", found, trees, f_seconds)
    wall, own, every = start()
    show("import dubio and one score, beyond scikit-learn", Measurement(wall, wall, 0))
    print(f"\nModules of dubio for one score: {own}; other modules beside those of scikit-learn: {every - own}.")


if __name__ == "__main__":
    main()
