"""Checks of counts, seeds and memory, before any work begins."""

from __future__ import annotations

import os
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from dubio.errors import InputError, InputWarning, counted, warn


class NeighborsCut(InputWarning):
    """The user wanted more neighbours than there are rows."""


def clip_neighbors(n_neighbors: int, available: int, name: str = "n_neighbors", where: str = "row") -> int:
    """The number of neighbours to use: ``n_neighbors``, but at most ``available``; warns if it had to be cut.

    Every method follows this rule.
    """
    if not isinstance(n_neighbors, Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1:
        raise InputError(name, f"={n_neighbors!r}", "give a whole number of neighbours, at least 1")
    if available < 1:
        raise InputError("X", f"has n_samples={available + 1} {where}", "a neighbour needs at least two rows")
    if n_neighbors > available:
        others = f"there {'is' if available == 1 else 'are'} only {counted(available, f'other {where}')}"
        warn(
            NeighborsCut(
                name,
                f"={n_neighbors}, but {others}",
                f"using {available}",
            )
        )
    return int(min(n_neighbors, available))


def random_of(random_state: Any) -> np.random.RandomState:
    """NumPy's older kind of generator; the error for anything that is no seed names the argument.

    >>> from dubio.checks import random_of
    >>> random_of(-1)
    Traceback (most recent call last):
    dubio.errors.InputError: random_state=-1: give a whole number from 0 to 4294967295, a RandomState or None.
    """
    try:
        if isinstance(random_state, bool):
            raise ValueError
        return check_random_state(random_state)
    except ValueError:
        raise InputError(
            "random_state", f"={random_state!r}", "give a whole number from 0 to 4294967295, a RandomState or None"
        ) from None


def seed_of(random_state: Any) -> int:
    """A whole number: the one given, or one drawn from the given generator (for None, from NumPy's global one)."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    random = random_of(random_state)
    return int(random_state) if isinstance(random_state, Integral) else int(random.randint(2**31))


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_of(random_state))


#: Assumed if the system does not say how much is free.
_UNKNOWN = 8 * 2**30
#: Work may take this share of what is free.
_SHARE = 0.8


def free_bytes() -> int:
    """Memory that the system can give to this process, in bytes; limits of a container count."""
    found = [_linux_available(), _container_left(), _pages_free()]
    return min((value for value in found if value is not None), default=_UNKNOWN)


def require_memory(needed: float, what: str, remedy: str, argument: str = "X") -> None:
    """Raise if work needs more memory than is free, before it starts.

    >>> from dubio.checks import require_memory
    >>> require_memory(1e15, "the distances of all pairs of rows", "use a sample")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dubio.errors.InputError: X is too large for the distances of all pairs of rows: they need 1000000.0 GB, ...
    """
    free = free_bytes()
    if needed > _SHARE * free:
        raise InputError(
            argument,
            f"is too large for {what}: they need {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free",
            remedy,
            code="memory",
        )


def _linux_available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith("kB")}
    found = kilobytes.get("MemAvailable")
    return None if found is None else 1024 * found


def _container_left() -> int | None:
    """What a container's limit leaves (cgroups, version 2)."""
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used)


def _pages_free() -> int | None:
    """All memory of the machine, where the free part is not known."""
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None
