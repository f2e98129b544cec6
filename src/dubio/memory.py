"""How much memory is free, and a refusal before work that would need more."""

from __future__ import annotations

import os
from pathlib import Path

from dubio.errors import InputError

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

    >>> from dubio.memory import require_memory
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
