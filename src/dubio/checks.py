"""Checks of parameters, counts, seeds and memory, before any work begins."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from dubio.errors import InputError, InputWarning, counted, one_of, warn


@dataclass(frozen=True, eq=False)
class Values:
    """Values that are described in ``words`` (written to follow "give") and recognised by a function."""

    words: list[str]
    allows: Callable[[Any], bool]


def Interval(kind: Any, low: float | None, high: float | None, *, closed: str) -> Values:
    """Numbers of a kind (``Integral`` or ``Real``) between two limits; None is no limit.

    ``closed`` says which of the limits are valid themselves: "left", "right", "both" or "neither".
    """
    above, at_least = (operator.ge, "at least") if closed in ("left", "both") else (operator.gt, "above")
    below, at_most = (operator.le, "at most") if closed in ("right", "both") else (operator.lt, "below")
    words = ", ".join(f"{word} {limit}" for word, limit in ((at_least, low), (at_most, high)) if limit is not None)
    low, high = -np.inf if low is None else low, np.inf if high is None else high

    def allows(value: Any) -> bool:
        return isinstance(value, kind) and bool(above(value, low) and below(value, high))

    return Values([f"a {'whole ' if kind is Integral else ''}number ({words})"], allows)


def StrOptions(options: Collection[str]) -> Values:
    """Some words."""
    return Values(sorted(map(repr, options)), lambda value: isinstance(value, str) and value in options)


def HasMethods(methods: list[str]) -> Values:
    """Objects with these methods."""
    words = [f"an object with {' and '.join(methods)}"]
    return Values(words, lambda value: all(callable(getattr(value, m, None)) for m in methods))


#: Valid values of parameters that are counts or numbers.
AT_LEAST_ONE: list[Any] = [Interval(Integral, 1, None, closed="left")]
POSITIVE: list[Any] = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE: list[Any] = [Interval(Real, 0, None, closed="left")]

_SEED = Interval(Integral, 0, 2**32 - 1, closed="both")
_NAMED = {
    None: Values(["None"], lambda value: value is None),
    "boolean": Values(["True", "False"], lambda value: isinstance(value, bool | np.bool_)),
    "verbose": Values(["a whole number (at least 0)"], NOT_NEGATIVE[0].allows),
    "array-like": Values(["a list or an array"], lambda one: hasattr(one, "__len__") and not isinstance(one, str)),
    "sparse matrix": Values(["a sparse matrix"], sparse.issparse),
    "random_state": Values(
        [*_SEED.words, "a RandomState", "None"],
        lambda value: value is None or isinstance(value, np.random.RandomState) or _SEED.allows(value),
    ),
}


def _values(rule: Any) -> Any:
    if isinstance(rule, type):
        return Values([f"a {rule.__name__}"], lambda value: isinstance(value, rule))
    return _NAMED.get(rule, rule)


def check_parameters(constraints: Mapping[str, list[Any]], values: Mapping[str, Any]) -> None:
    """Raise unless every value satisfies one of the constraints of its parameter.

        >>> from numbers import Integral
    >>> from dubio.checks import Interval, check_parameters
        >>> check_parameters({"k": [Interval(Integral, 1, None, closed="left"), None]}, {"k": 0})
        Traceback (most recent call last):
        dubio.errors.InputError: k=0: give a whole number (at least 1) or None.
    """
    for name, value in values.items():
        rules = [_values(rule) for rule in constraints.get(name, [object])]
        if not any(rule.allows(value) for rule in rules):
            valid = one_of(word for rule in rules for word in rule.words)
            raise InputError(name, f"={value!r}", f"give {valid}", code=f"parameter {name}")


def require_choice(argument: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise if a value is none of the words that an argument takes.

    >>> from dubio.checks import require_choice
    >>> require_choice("flips", "odd", ("uniform", "next"))
    Traceback (most recent call last):
    dubio.errors.InputError: flips='odd': give 'uniform' or 'next'.
    """
    if not isinstance(value, str) or value not in choices:  # an array would be compared cell by cell
        raise InputError(argument, f"={value!r}", f"give {one_of(map(repr, choices))}")


def check_alpha(alpha: Any) -> None:
    """Raise if ``alpha`` is no share of false discoveries."""
    if not isinstance(alpha, Real) or isinstance(alpha, bool | np.bool_) or not 0 < float(alpha) < 1:
        raise InputError("alpha", f"={alpha!r}", "it must lie strictly between 0 and 1")


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
        warn(NeighborsCut(name, f"={n_neighbors}, but {others}", f"using {available}"))
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
        remedy = "give a whole number from 0 to 4294967295, a RandomState or None"
        raise InputError("random_state", f"={random_state!r}", remedy) from None


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


#: Memory in bytes that is assumed if the system does not say how much is free.
_UNKNOWN = 8 * 2**30
_MEMORY_OF_LINUX = Path("/proc/meminfo")
#: Share of the free memory that work may take.
_SHARE = 0.8


def free_bytes() -> int:
    """Memory that the system can give to this process, in bytes; limits of a container count."""
    return int(min(_system_available(), _container_left()))


def require_memory(needed: float, what: str, remedy: str, argument: str = "X") -> None:
    """Raise if work needs more memory than is free, before it starts.

    >>> from dubio.checks import require_memory
    >>> require_memory(1e15, "the distances of all pairs of rows", "use a sample")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dubio.errors.InputError: X is too large for the distances of all pairs of rows: they need 1000000.0 GB, ...
    """
    free = free_bytes()
    if needed > _SHARE * free:
        found = f"is too large for {what}: they need {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free"
        raise InputError(argument, found, remedy, code="memory")


def _system_available() -> int:
    """Free memory of the machine; without psutil, that of Linux, else an assumption."""
    with suppress(ImportError):
        import psutil

        return int(psutil.virtual_memory().available)
    with suppress(OSError, StopIteration):
        lines = _MEMORY_OF_LINUX.read_text(encoding="ascii").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return _UNKNOWN


def _container_left() -> float:
    """Memory that a container's limit leaves (cgroups, version 2); infinite without a limit."""
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # ValueError: the limit is "max"
        return float("inf")
    return max(0, limit - used)
