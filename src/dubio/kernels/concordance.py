"""Sums over pairs of rows of which one is surely higher in the target, for one column."""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(cache=True, nogil=True)
def _add(tree: Any, place: int, value: float) -> None:
    place += 1
    while place < len(tree):
        tree[place] += value
        place += place & -place


@numba.njit(cache=True, nogil=True)
def _sum_before(tree: Any, place: int) -> float:
    """Sum of the values at places smaller than ``place``."""
    total = 0.0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@numba.njit(cache=True, nogil=True)
def limit_sums(below: Any, by_low: Any, by_high: Any, n_below: Any, smaller: Any, upto: Any, weights: Any, tree: Any,
               agreeing: Any, comparable: Any) -> None:  # fmt: skip
    """For each row, weights of the rows surely lower in the target: those smaller in the column, minus the larger ones.

    The ``n_below[i]`` first rows of ``by_high`` are surely lower than row ``by_low[i]``. ``smaller`` and ``upto`` count
    the rows with a smaller value in the column, and with one that is not larger. With ``below`` = -1 the roles change:
    rows surely higher are compared. Adds to ``agreeing`` and ``comparable``; ``tree`` is scratch.
    """
    tree[:] = 0.0
    mass, done = 0.0, 0
    for i in range(len(by_low)):
        row = by_low[i]
        while done < n_below[i]:
            other = by_high[done]
            _add(tree, smaller[other], weights[other])
            mass += weights[other]
            done += 1
        less = _sum_before(tree, smaller[row])
        more = mass - _sum_before(tree, upto[row])
        agreeing[row] += below * (less - more)
        comparable[row] += mass
