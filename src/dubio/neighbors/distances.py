"""The squared distances in the current subset, shared by every criterion that uses neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.checks import require_memory
from dubio.errors import InputError
from dubio.kernels.distances import change_squared_distances, fill_squared_distances
from dubio.kernels.distances_gpu import PairDistances
from dubio.kernels.gpu import Device
from dubio.kernels.threads import chunks, run_chunks
from dubio.neighbors.greedy import ADD
from dubio.progress import parts_of
from dubio.table.matrix import Columns

T = TypeVar("T")

#: Rows that a kernel handles at a time. Fixed, so that sums over chunks do not depend on the number of threads.
ROWS_PER_CHUNK = 128
#: With fewer rows, starting threads costs more time than it saves.
MIN_ROWS_FOR_THREADS = 500
#: With this many rows the array of distances alone takes 3.2 GB.
MAX_ROWS = 20_000


class FollowedSubset(ABC):
    """A table and a subset of its features that changes by one feature at a time; subclasses keep its distances.

    The table is finite and already scaled; ``rows`` and ``columns`` hold it contiguous in both ways. The distances of
    ``n_judged`` rows, the first ones, to all rows are kept. Rows of one of the ``groups`` are infinitely far from each
    other, so that none is a neighbour of another. ``features`` says which columns are one feature; by default each.
    ``subset`` has the current features, in increasing order. A small table uses only one thread.
    """

    def __init__(
        self,
        X: ArrayLike,
        *,
        n_judged: int | None = None,
        n_threads: int = 1,
        groups: NDArray[np.int64] | None = None,
        features: Columns | None = None,
    ) -> None:
        self.rows: NDArray[np.float64] = np.ascontiguousarray(X, dtype=np.float64)
        self.columns: NDArray[np.float64] = np.ascontiguousarray(self.rows.T)
        self.n_judged = self.n_rows if n_judged is None else n_judged
        self.n_threads = n_threads if self.n_judged >= MIN_ROWS_FOR_THREADS else 1
        self.row_chunks = chunks(self.n_judged, ROWS_PER_CHUNK)
        self.subset: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.groups = groups
        self.wide = None if features is None or features.is_plain else features

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features; a feature may have several columns."""
        return len(self.columns) if self.wide is None else self.wide.n_features

    def columns_of(self, features: NDArray[np.int64]) -> NDArray[np.int64]:
        """The columns of some features."""
        return features if self.wide is None else self.wide.of_all(features)

    @property
    def subset_columns(self) -> NDArray[np.int64]:
        """The columns of the current features."""
        return self.columns_of(self.subset)

    @property
    def n_others(self) -> int:
        """The number of rows that every row can have as neighbours: all but its own group, for the largest group."""
        return self.n_rows - (1 if self.groups is None else int(np.bincount(self.groups).max()))

    def start(self, features: ArrayLike) -> None:
        """Compute the distances over ``features`` from scratch."""
        self.subset = np.sort(np.asarray(features, dtype=np.int64))
        self._fill()

    def apply(self, feature: int, change: int) -> None:
        """Add or remove one feature."""
        self._change(feature, change)
        if change == ADD:
            self.subset = np.sort(np.append(self.subset, feature))
        else:
            self.subset = self.subset[self.subset != feature]

    @abstractmethod
    def _fill(self) -> None:
        """Compute the distances over the subset."""

    @abstractmethod
    def _change(self, feature: int, change: int) -> None:
        """Compute the distances after a change from those before."""


class SubsetDistances(FollowedSubset):
    """One float64 array of squared distances that follows a subset of features.

    Adding or removing a feature adds or subtracts the squared gaps of one column. The distance of a row to itself is
    ``inf``. Kernels that evaluate candidate subsets read ``squared``, ``columns`` and ``rows`` (see
    ``kernels/distances.py``) and compute a candidate's distances on the fly. Only this class writes to these arrays.

    Examples
    --------
    >>> from dubio.neighbors.greedy import REMOVE
    >>> from dubio.neighbors.distances import SubsetDistances
    >>> distances = SubsetDistances([[0.0, 0.0], [3.0, 4.0]])
    >>> distances.start([0, 1])
    >>> float(distances.squared[0, 1])
    25.0
    >>> distances.apply(1, REMOVE)
    >>> float(distances.squared[0, 1]), distances.subset
    (9.0, array([0]))
    """

    def __init__(self, X: ArrayLike, **options: Any) -> None:
        super().__init__(X, **options)
        remedy = "use a sample of the rows (max_rows, if the method has it)"
        require_memory(8.0 * self.n_judged * self.n_rows, "the distances of all pairs of rows", remedy)
        #: (n_judged, n_rows): squared distances over ``subset``.
        self.squared: NDArray[np.float64] = np.empty((self.n_judged, self.n_rows))

    def changes(self, candidates: NDArray[np.int64], change: int) -> Iterator[Change]:
        """The candidates as kernels take them: by one column that is added to, or removed from, known distances.

        All candidates of one column come first, together. For a candidate of several columns, all but the last are
        first added to a copy of the distances, or removed from it.
        """
        if self.wide is None:
            yield Change(slice(None), candidates, self.squared, self.subset)
            return
        inside = self.subset_columns
        sizes = self.wide.sizes[candidates] if change else np.ones(len(candidates))  # without a change, none has parts
        single = np.flatnonzero(sizes == 1)
        if len(single):
            yield Change(single, self.wide.starts[candidates[single]], self.squared, inside)
        for place in np.flatnonzero(sizes > 1):
            *first, last = self.wide.of(int(candidates[place])).tolist()
            squared = self.squared.copy()
            for column in first:
                self._change_column(column, change, squared)
            subset = np.union1d(inside, first) if change == ADD else np.setdiff1d(inside, first)
            yield Change(np.array([place]), np.array([last]), squared, subset)

    def in_chunks(
        self, candidates: NDArray[np.int64], change: int, work: Callable[[Change, int, int], T]
    ) -> Iterator[tuple[Any, list[T]]]:
        """The places of the candidates of each step of :meth:`changes`, and ``work(step, start, stop)`` of chunks."""
        for step in self.changes(candidates, change):
            on_done = parts_of("one step of the search")
            yield step.places, run_chunks(partial(work, step), self.row_chunks, self.n_threads, on_done)

    def _fill(self) -> None:
        used = self.subset_columns

        def work(start: int, stop: int) -> None:
            fill_squared_distances(self.columns, used, start, self.squared[start:stop])
            if self.groups is not None:
                self.squared[start:stop][self.groups[start:stop, None] == self.groups] = np.inf

        run_chunks(work, self.row_chunks, self.n_threads, parts_of("distances"))

    def _change(self, feature: int, change: int) -> None:
        for column in [feature] if self.wide is None else self.wide.of(feature).tolist():
            self._change_column(column, change, self.squared)

    def _change_column(self, column: int, change: int, squared: NDArray[np.float64]) -> None:
        values = self.columns[column]

        def work(start: int, stop: int) -> None:
            change_squared_distances(values, float(change), squared, start, stop)

        run_chunks(work, self.row_chunks, self.n_threads)


class Change(NamedTuple):
    """Candidates as kernels take them: their places in the list, and the column of each.

    This column changes the distances ``squared`` (n_judged, n_rows), which are those over the columns ``subset``.
    """

    places: Any
    columns: NDArray[np.int64]
    squared: NDArray[np.float64]
    subset: NDArray[np.int64]


class DeviceDistances(FollowedSubset):
    """The distances on a device (a GPU): kept there if they fit, else computed again for every tile of rows.

    ``pairs`` has the distances; only kernels look into them.
    """

    def __init__(self, X: ArrayLike, device: Device, **options: Any) -> None:
        super().__init__(X, **options)
        self.pairs = PairDistances(device, self.columns, self.n_judged, self.groups)

    def _fill(self) -> None:
        self.pairs.start(self.subset)

    def _change(self, feature: int, change: int) -> None:
        self.pairs.change(feature, change)


#: Distances on the processor or on a device.
Distances = SubsetDistances | DeviceDistances


def check_row_limit(n_rows: int, max_rows: int) -> None:
    """Refuse a table whose distances would not fit, before any memory is allocated."""
    if n_rows > max_rows:
        room = f"{8 * n_rows**2 / 1e9:.1f} GB here, and 50 % more with a noise model"
        found = (
            f"has {n_rows} rows, more than max_rows={max_rows}. This method keeps the distances of all pairs of rows"
        )
        one_by_one = "(MutualInformationRanking without label_noise needs no such array)"
        remedy = f"fit on a sample of the rows, or first rank the features one by one {one_by_one}, or raise max_rows"
        raise InputError("X", f"{found}: {room}", f"{remedy} if there is enough memory", code="too many rows")
