"""Samples and orders of rows that depend on the contents of the rows, never on their places."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.kernels.threads import chunks
from dubio.table.rows import groups_of_rows, most_frequent_codes
from dubio.target.knowledge import Supervision


class Rows(Protocol):
    """A table, what is known of its target, and which rows belong together: a :class:`~dubio.problem.Problem`."""

    @property
    def X(self) -> Any: ...
    @property
    def supervision(self) -> Supervision: ...
    @property
    def groups(self) -> NDArray[np.int64] | None: ...
    @property
    def n_rows(self) -> int: ...


#: Fewest rows of each class in a sample, if there are as many.
_ROWS_PER_CLASS = 10
#: Fewest groups in a sample, if there are as many.
_GROUPS = 100
#: Number of cells whose contents are mixed at a time: as many as the cache of a processor holds.
_MIXED_CELLS = 32_768


def sample_rows(problem: Rows, most: int, random_state: int | None = 0) -> NDArray[np.int64]:
    """At most ``most`` rows, in increasing order: labelled rows first, each class with its share of the table.

    Which rows are drawn depends on their contents and the seed, not on their place in the table. If rows belong
    together, whole groups are drawn. Only if there would be fewer than 100 groups, large groups give a part of their
    rows.

    >>> import numpy as np
    >>> from dubio.problem import read_problem
    >>> from dubio.sampling import sample_rows
    >>> problem = read_problem(np.random.default_rng(0).normal(size=(600, 2)), np.arange(600) % 3)
    >>> np.bincount(problem.supervision.codes[sample_rows(problem, 90)])
    array([30, 30, 30])
    """
    if problem.n_rows <= most:
        return np.arange(problem.n_rows)
    numbers = mixed_contents(problem, random_state)
    if problem.groups is None:
        return np.sort(_in_shares(problem.supervision.strata, numbers)[:most])
    codes = np.unique(problem.groups, return_inverse=True)[1]
    sizes = np.bincount(codes)
    place = _places_within(codes, numbers, ~problem.supervision.labelled)  # labelled rows come first
    part = max(1, most // min(len(sizes), _GROUPS))
    drawn, left = np.zeros(len(sizes), dtype=bool), most
    for group in _groups_in_shares(problem, problem.groups, numbers):
        size = min(int(sizes[group]), part)
        drawn[group] = size <= left
        left -= size if drawn[group] else 0
    return np.flatnonzero(drawn[codes] & (place < part))


def sample_groups(problem: Rows, count: int, random_state: int | None = 0) -> NDArray[np.int64]:
    """All rows of ``count`` groups, in increasing order: groups with labels first, each class with its share."""
    assert problem.groups is not None
    chosen = _groups_in_shares(problem, problem.groups, mixed_contents(problem, random_state))[:count]
    return np.flatnonzero(np.isin(np.unique(problem.groups, return_inverse=True)[1], chosen))


def sample_half(problem: Rows, random_state: int) -> NDArray[np.int64]:
    """Half of the rows, in which each class has its share; if rows belong together, half of the groups."""
    if problem.groups is None:
        return sample_rows(problem, problem.n_rows // 2, random_state)
    return sample_groups(problem, len(np.unique(problem.groups)) // 2, random_state)


def _in_shares(strata: NDArray[np.int64], numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """An order with random places, of which every beginning holds each stratum with its share, and -1 last."""
    place = _places_within(strata, numbers)
    key = (place + 0.5) / np.bincount(strata + 1)[strata + 1]
    key[place < _ROWS_PER_CLASS] -= 1.0
    key[strata == -1] += 2.0  # unlabelled rows come last
    return np.argsort(key, kind="stable")


def _places_within(codes: NDArray[Any], *keys: NDArray[Any]) -> NDArray[np.int64]:
    """The place of each row among those with the same code, in the order of the keys; the last key decides first."""
    order = np.lexsort((*keys, codes))
    places = np.empty(len(codes), dtype=np.int64)
    places[order] = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    return places


#: In tables with more rows than this, the order of groups depends on the values, and not only on their ranks.
_RANKED_ROWS = 20_000


def order_of_groups(problem: Rows) -> NDArray[np.int64]:
    """The group of each row, with groups numbered in an order that depends on their contents, not on their names."""
    assert problem.groups is not None
    order, starts, _ = groups_of_rows(problem.groups)
    ranked = problem.n_rows <= _RANKED_ROWS
    numbers = scrambled(numbers_of_ranks(problem)) if ranked else mixed_contents(problem, 0)
    places = np.argsort(np.argsort(np.add.reduceat(numbers[order], starts), kind="stable"))
    return np.asarray(places[np.unique(problem.groups, return_inverse=True)[1]])


def _groups_in_shares(problem: Rows, groups: NDArray[np.int64], numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The groups (by their place among the sorted groups) in such an order; their numbers come from their rows."""
    order, starts, _ = groups_of_rows(groups)
    strata = most_frequent_codes(problem.supervision.strata, groups)
    return _in_shares(strata, scrambled(np.add.reduceat(numbers[order], starts)))


def mixed_contents(problem: Rows, random_state: int | None) -> NDArray[np.uint64]:
    """One random-looking number per row, from its contents and the seed.

    Equal rows get different numbers, by their count: otherwise they would all be drawn, or none, and the target would
    depend on the features within a sample.
    """
    rng = np.random.RandomState(random_state)
    numbers = np.zeros(problem.n_rows, dtype=np.uint64)
    for table in (problem.X, *problem.supervision.by_row()):
        width = table.shape[1] if table.ndim == 2 else 1
        factors = rng.randint(2**63, size=width, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        if sparse.issparse(table):
            sums = np.append(np.uint64(0), np.cumsum(_bits(table.data) * factors[table.indices]))
            numbers += sums[table.indptr[1:]] - sums[table.indptr[:-1]]
            continue
        for start, stop in chunks(len(table), max(1, _MIXED_CELLS // max(1, width))):
            block = _bits(table[start:stop]).reshape(-1, width)
            block *= factors
            numbers[start:stop] += block.sum(axis=1, dtype=np.uint64)
    numbers = scrambled(numbers)
    return scrambled(numbers + _places_within(numbers).astype(np.uint64) * np.uint64(0xD1B54A32D192ED03))


def order_of_contents(problem: Rows) -> NDArray[np.int64]:
    """An order of the rows, whatever the places of rows and columns, and their units; equal rows keep their order."""
    return np.lexsort((numbers_of_ranks(problem), *_keys_of_target(problem)))


def numbers_of_ranks(problem: Rows) -> NDArray[np.uint64]:
    """One random-looking number per row, from what is known of its target and its ranks in the columns."""
    label = np.zeros(problem.n_rows, dtype=np.uint64)
    for key in _keys_of_target(problem):
        label = scrambled(label + np.unique(key, return_inverse=True)[1].astype(np.uint64))
    numbers = label.copy()
    columns = problem.X.tocsc() if sparse.issparse(problem.X) else problem.X
    for j in range(problem.X.shape[1]):
        column = columns[:, [j]].toarray().ravel() if sparse.issparse(columns) else columns[:, j]
        place = scrambled(np.unique(column, return_inverse=True)[1].astype(np.uint64) + np.uint64(1))
        column_itself = scrambled(place + label).sum(dtype=np.uint64)  # the same wherever the column stands
        numbers += scrambled(place ^ column_itself)
    return numbers


def _keys_of_target(problem: Rows) -> list[NDArray[np.float64]]:
    columns = [column for values in problem.supervision.by_row() for column in np.atleast_2d(values.T)]
    return [np.where(np.isnan(column), np.inf, column) for column in columns]


def scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of the result depends on every bit of a number (the last step of SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """The bits of numbers as whole numbers, mixed a little; zero has one form."""
    bits = (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)
    bits ^= bits >> np.uint64(32)
    return bits
