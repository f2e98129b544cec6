"""The searches on a GPU and on two cores of the CPU: seconds, speed-up, and whether the answer is the same.

``python -m benchmarks.bench_gpu`` prints two tables: large tables, and the sizes from which the GPU is faster (the rule
of ``device="auto"``). Times are those of the second call in a process; the data are in the memory of the CPU at first.
``--tables`` or ``--sizes`` prints one of the two.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Measurement, measure

MODULE = "benchmarks.bench_gpu"
#: The CPU gets so many threads, and a case so many seconds.
CORES, PATIENCE = 2, 540.0

#: The search on the given labels, without experts.
_PLAIN = {"clean": None, "complete": False, "n_features_to_select": 10}
_EVERY = {**_PLAIN, "max_rows": None, "max_steps": None, "direction": "both"}
_SAMPLED = {**_PLAIN, "max_rows": 1000, "reference_rows": "all", "max_steps": 20}

#: What is measured: words, method, rows, features, options, and the most seconds it should take on one H200.
CASES: list[tuple[str, str, int, int, dict[str, Any], float | None]] = [
    ("NeighborSearch 5,000 x 40, all pairs, forward and backward", "NeighborSearch", 5_000, 40, _EVERY, 3),
    ("NeighborSearch 50,000 x 200, 1,000 rows against all, 20 steps", "NeighborSearch", 50_000, 200, _SAMPLED, 8),
    ("NeighborSearch 200,000 x 100, 1,000 rows against all, 20 steps", "NeighborSearch", 200_000, 100, _SAMPLED, 15),
    (
        "MutualInformationSearch 5,000 x 40, no noise model",
        "MutualInformationSearch",
        5_000,
        40,
        {"label_noise": False, "n_features_to_select": 10},
        10,
    ),
    (
        "MutualInformationSearch 5,000 x 40, noise model, 1 restart",
        "MutualInformationSearch",
        5_000,
        40,
        {"n_init": 1, "n_features_to_select": 10},
        60,
    ),
    ("ReliefFScore 20,000 x 100, all pairs", "ReliefFScore", 20_000, 100, {}, None),
    ("SoftReliefScore 20,000 x 100, all pairs", "SoftReliefScore", 20_000, 100, {}, None),
    ("ReliefFScore 100,000 x 100, all pairs", "ReliefFScore", 100_000, 100, {}, 30),
]
#: Cases that would take the CPU longer than anybody waits.
_TOO_LONG_FOR_CPU = {"ReliefFScore 100,000 x 100, all pairs"}

#: Sizes for the rule of "auto": method, options, and tables.
SIZES: list[tuple[str, dict[str, Any], list[tuple[int, int]]]] = [
    ("NeighborSearch", {**_PLAIN, "max_rows": None, "max_steps": None}, [(200, 20), (600, 20), (2400, 20)]),
    ("NeighborSearch", {**_PLAIN, "max_rows": None, "max_steps": 5}, [(200, 100), (600, 100), (1800, 100)]),
    ("MutualInformationSearch", {"label_noise": False}, [(200, 20), (400, 20), (800, 20), (1600, 20)]),
    ("MutualInformationSearch", {"n_init": 1}, [(200, 20), (400, 20), (800, 20), (1600, 20)]),
    ("MutualInformationRanking", {}, [(200, 20), (400, 20), (800, 20), (1600, 20)]),
    ("ReliefFScore", {}, [(250, 20), (500, 20), (1000, 20), (2000, 20), (8000, 20)]),
]


def table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that depend on three of the features; a fifth of the labels are wrong."""
    from dubio.simulate import flip_labels

    X = np.random.default_rng(0).normal(size=(n, d))
    y = (X[:, 0] + X[:, 1] > 0) + 1 * (X[:, 2] > 0)
    return X, flip_labels(y, 0.2, random_state=0)


def fit(method: str, n: int, d: int, device: str, **options: Any) -> Callable[[], dict[str, Any]]:
    import dubio

    X, y = table(n, d)
    estimator = getattr(dubio, method)(device=device, n_jobs=CORES, **options)

    def call() -> dict[str, Any]:
        estimator.fit(X, y)
        subsets = getattr(estimator, "subsets_", {})
        found: dict[str, Any] = {
            "subsets": {str(size): subset.tolist() for size, subset in subsets.items()},
            "scores": [] if subsets else estimator.scores_.tolist(),
        }
        if device == "cuda":
            import torch

            found["gpu_gb"] = torch.cuda.max_memory_allocated() / 1e9
        return found

    return call


def _measured(device: str, method: str, n: int, d: int, options: dict[str, Any], repeat: int = 1) -> Measurement | None:
    """None if it takes too long."""
    threads = {name: str(CORES) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}
    try:
        return measure(
            MODULE,
            "fit",
            repeat=repeat,
            # a long call of the CPU is not made twice: compilation takes seconds of its minutes
            warmup=1 if device == "cuda" or n * d <= 200_000 else 0,
            environment=threads,
            timeout=PATIENCE,
            method=method,
            device=device,
            n=n,
            d=d,
            **options,
        )
    except subprocess.TimeoutExpired:
        return None


def same(ours: Any, theirs: Any) -> str:
    """Whether two answers are the same, in a word."""
    if ours["subsets"] != theirs["subsets"]:
        return "no"
    return "yes" if np.allclose(ours["scores"], theirs["scores"], rtol=1e-9, atol=1e-12) else "no"


def large_tables() -> None:
    """Print the table of large tables. With many cores, the CPU works on several cases while the GPU works."""
    many = (os.cpu_count() or 1) >= 8
    with ThreadPoolExecutor(4 if many else 1) as pool:
        waiting: dict[str, Future[Measurement | None]] = {}
        for words, method, n, d, options, _ in sorted(CASES, key=lambda case: -case[2] * case[3]):
            if words not in _TOO_LONG_FOR_CPU:
                waiting[words] = pool.submit(_measured, "cpu", method, n, d, options)
                waiting[words].add_done_callback(partial(_say, "CPU", words))
        if not many:
            for future in waiting.values():
                future.result()
        rows = []
        for words, method, n, d, options, most in CASES:
            gpu = _measured("cuda", method, n, d, options)
            rows.append((words, gpu, most))
            print(f"(GPU: {words}: {gpu.wall if gpu else float('nan'):.2f} s)", file=sys.stderr, flush=True)
    print("\n## large tables\n")
    print("| work | GPU s | at most | GPU memory | two cores s | speed-up | same answer |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for words, gpu, most in rows:
        cpu = waiting[words].result() if words in waiting else None
        cells = ["?", "" if most is None else f"{most:g}", "?", f"> {PATIENCE:.0f}", "", ""]
        if words in _TOO_LONG_FOR_CPU:
            cells[3] = "not run"
        if gpu is not None:
            cells[0], cells[2] = f"{gpu.wall:.2f}", f"{gpu.value['gpu_gb']:.1f} GB"
        if gpu is not None and cpu is not None:
            cells[3:] = [f"{cpu.wall:.1f}", f"{cpu.wall / gpu.wall:.0f}", same(gpu.value, cpu.value)]
        print(f"| {words} | {' | '.join(cells)} |", flush=True)


def _say(device: str, words: str, future: Future[Measurement | None]) -> None:
    found = future.result()
    print(f"({device}: {words}: {found.wall if found else float('nan'):.2f} s)", file=sys.stderr, flush=True)


def sweep(method: str, device: str, sizes: list[list[int]], **options: Any) -> Callable[[], list[float]]:
    """Seconds of the first call in this process; then of the best of three calls for each size."""
    calls = [fit(method, n, d, device, **options) for n, d in sizes]

    def seconds(call: Callable[[], object]) -> float:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began

    return lambda: [seconds(calls[0])] + [min(seconds(call) for _ in range(3)) for call in calls]


def sizes_for_auto() -> None:
    """Print from which size the GPU is faster."""
    threads = {name: str(CORES) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}
    print("\n## from which size the GPU is faster\n")
    print("| method | table | two cores s | GPU s | GPU, first call in a process s |\n|---|---|---:|---:|---:|")
    for method, options, sizes in SIZES:
        of = {
            device: measure(
                MODULE,
                "sweep",
                warmup=0,
                repeat=1,
                environment=threads,
                method=method,
                device=device,
                sizes=sizes,
                **options,
            ).value
            for device in ("cpu", "cuda")
        }
        said = ", ".join(f"{name}={value}" for name, value in options.items() if name not in _PLAIN)
        for place, (n, d) in enumerate(sizes):
            first = f"{of['cuda'][0]:.1f}" if place == 0 else ""
            cpu, gpu = of["cpu"][place + 1], of["cuda"][place + 1]
            print(f"| {method} {said} | {n} x {d} | {cpu:.3f} | {gpu:.3f} | {first} |", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, if there is a GPU."""
    wanted = arguments or []
    try:
        import torch

        name = torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    except ImportError:
        name = ""
    if not name:
        print("\nThere is no GPU here, or no torch that can use it: nothing was measured.")
        return
    print(f"\nOne {name}, torch {torch.__version__}, {CORES} threads of the CPU.")
    if "--sizes" not in wanted:
        large_tables()
    if "--tables" not in wanted:
        sizes_for_auto()


if __name__ == "__main__":
    main(sys.argv[1:])
