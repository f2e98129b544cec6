"""Sums over pairs of rows of which one is surely higher in the target, for one column."""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(cache=True, nogil=True)
def add(tree: Any, place: int, value: float) -> None:
    """Add a value at a place of a Fenwick tree."""
    place += 1
    while place < len(tree):
        tree[place] += value
        place += place & -place


@numba.njit(cache=True, nogil=True)
def sum_before(tree: Any, place: int) -> float:
    """Sum of the values at smaller places."""
    total = 0.0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@numba.njit(cache=True, nogil=True)
def agreeing_pairs(
    rows: Any, others: Any, counts: Any, smaller: Any, upto: Any, weights: Any, tree: Any, out: Any
) -> None:
    """For each row, add to ``out`` the weights of its others with a smaller value, minus those with a larger one.

    The others of ``rows[i]`` are the first ``counts[i]`` of ``others``; counts do not fall. ``smaller`` and ``upto``
    count, for each row, the rows with a smaller value, and with one that is not larger. ``tree`` is scratch.
    """
    tree[:] = 0.0
    mass, done = 0.0, 0
    for i in range(len(rows)):
        while done < counts[i]:
            other = others[done]
            add(tree, smaller[other], weights[other])
            mass += weights[other]
            done += 1
        row = rows[i]
        out[row] += sum_before(tree, smaller[row]) + sum_before(tree, upto[row]) - mass
