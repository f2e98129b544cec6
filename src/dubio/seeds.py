"""Turn scikit-learn's ``random_state`` into a seed or a NumPy generator."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from dubio.errors import InputError


def random_of(random_state: Any) -> np.random.RandomState:
    """NumPy's older kind of generator; the error for anything that is no seed names the argument.

    >>> from dubio.seeds import random_of
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
