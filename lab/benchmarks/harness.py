"""Run one case in a fresh process and report its wall time, CPU time and growth of resident memory.

A case is a function ``case(**parameters)`` that prepares its data and returns a callable. Only that callable is
measured: the best of ``repeat`` calls, after ``warmup`` calls that do not count (compilation, page faults).
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

_CHILD = """
import importlib, json, os, resource, sys, threading, time
spec = json.loads(sys.argv[1])
case = getattr(importlib.import_module(spec["module"]), spec["function"])
call = case(**spec["parameters"])
for _ in range(spec["warmup"]):
    call()

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

before, peak, done = resident(), [0], threading.Event()
def watch():
    while not done.is_set():
        peak[0] = max(peak[0], resident())
        time.sleep(0.002)
watcher = threading.Thread(target=watch)
watcher.start()
wall, cpu, value = [], [], None
for _ in range(spec["repeat"]):
    w, c = time.perf_counter(), time.process_time()
    value = call()
    wall.append(time.perf_counter() - w)
    cpu.append(time.process_time() - c)
done.set(); watcher.join()
best = wall.index(min(wall))
if not isinstance(value, (int, float, str, list, dict, type(None))):
    value = None
print("RESULT " + json.dumps(
    {"wall": wall[best], "cpu": cpu[best], "peak_mb": max(0, peak[0] - before) / 2**20, "value": value}))
"""


@dataclass(frozen=True)
class Measurement:
    """What one case cost."""

    wall: float
    cpu: float
    peak_mb: float
    value: Any = None


def measure(
    module: str,
    function: str,
    *,
    warmup: int = 1,
    repeat: int = 3,
    environment: dict[str, str] | None = None,
    timeout: float | None = None,
    **parameters: Any,
) -> Measurement:
    """Measure ``module.function(**parameters)()`` in a new Python process (parameters must be JSON)."""
    import os

    spec = {
        "module": module,
        "function": function,
        "parameters": parameters,
        "warmup": warmup,
        "repeat": repeat,
    }
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, json.dumps(spec)],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return Measurement(**json.loads(line[7:]))
    raise RuntimeError(f"{module}.{function} failed:\n{done.stderr[-2000:]}")


def show(title: str, rows: list[tuple[str, Measurement]], reference: str | None = None) -> None:
    """Print the rows as a table; ``ratio`` is the wall time divided by that of the row named ``reference``."""
    base = dict(rows).get(reference) if reference else None
    print(f"\n## {title}\n\n| case | wall s | cpu s | peak +MB | ratio |\n|---|---:|---:|---:|---:|")
    for name, m in rows:
        ratio = f"{m.wall / base.wall:.2f}" if base else ""
        print(f"| {name} | {m.wall:.4f} | {m.cpu:.4f} | {m.peak_mb:.0f} | {ratio} |", flush=True)
