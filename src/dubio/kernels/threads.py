"""Run a serial, GIL-free kernel over chunks of work on a few threads.

Kernels are compiled once, with ``nogil=True``, and are given a range. They are never ``parallel=True``. So the same
compiled version works for one thread and for many, and nothing breaks under ``fork`` or when the caller is itself a
thread. Results do not depend on the number of threads: the chunks are always the same, and their partial results are
returned in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from threading import Lock
from typing import Any, TypeVar

import joblib
import numba
from threadpoolctl import ThreadpoolController

from dubio.errors import InputError

T = TypeVar("T")

#: The most threads anybody may ask for; the libraries underneath fail at numbers that are far too large.
MOST_THREADS = 1024


def default_threads() -> int:
    """Number of threads a memory-bound kernel may use: numba's own limit, which joblib lowers inside its workers."""
    return int(numba.config.NUMBA_NUM_THREADS)


def resolve_threads(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads (``None`` is 1 unless joblib says otherwise)."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise InputError("n_jobs", f"={n_jobs!r}", "give a number of threads, -1 for all processors, or None")
    if n_jobs is not None and abs(n_jobs) > MOST_THREADS:
        raise InputError("n_jobs", f"={n_jobs!r}", f"give at most {MOST_THREADS}, or -1 for all processors")
    return int(joblib.effective_n_jobs(n_jobs))


def chunks(n: int, size: int) -> list[tuple[int, int]]:
    """Consecutive ``(start, stop)`` ranges of at most ``size`` that cover ``range(n)``."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def run_chunks(
    work: Callable[[int, int], T],
    ranges: Iterable[tuple[int, int]],
    n_threads: int,
    on_done: Callable[[int, int], None] | None = None,
) -> list[T]:
    """Call ``work(start, stop)`` for every range, on up to ``n_threads`` threads; results in range order.

    ``on_done`` is called in the caller's thread with the number of ranges done so far and in total.
    """
    ranges = list(ranges)
    n_threads = min(n_threads, len(ranges))
    results: list[T] = []

    def keep(found: Iterable[T]) -> list[T]:
        for result in found:
            results.append(result)
            if on_done is not None:
                on_done(len(results), len(ranges))
        return results

    if n_threads <= 1:
        return keep(work(start, stop) for start, stop in ranges)
    with ThreadPoolExecutor(n_threads) as pool:
        return keep(pool.map(lambda r: work(*r), ranges))


@contextmanager
def beside(work: Callable[[], T], n_threads: int) -> Iterator[Callable[[], T]]:
    """A function that gives the result of ``work``, which runs beside the block; with one thread, when it is called.

    ``work`` may not change the filters of warnings: they belong to all threads.
    """
    if n_threads <= 1:
        yield work
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products in this block use one thread each.

    Threads of BLAS wait for each other, which takes longer than a small product itself if the processor is busy. Blocks
    may overlap: the number of threads of before comes back when the last one ends.
    """
    with _BLAS_LOCK:
        _LIMITS.append(None if _LIMITS else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _BLAS_LOCK:
            first = _LIMITS[0]
            _LIMITS.pop()
            if not _LIMITS:
                first.restore_original_limits()


#: Finding the libraries takes milliseconds, so it is done once.
_controller = cache(ThreadpoolController)
_BLAS_LOCK = Lock()
#: The limit that holds now, and None for each further block that asked for it.
_LIMITS: list[Any] = []
