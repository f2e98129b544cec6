"""The squared distances in the current subset, shared by every criterion that uses neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio._kernels.distances import change_squared_distances, fill_squared_distances
from dubio._kernels.threads import chunks, run_chunks
from dubio.errors import InputError
from dubio.memory import require_memory
from dubio.progress import parts_of
from dubio.search.criterion import ADD

# Rows that a kernel handles at a time. Fixed, so that sums over chunks do not depend on the number of threads.
ROWS_PER_CHUNK = 128

# With fewer rows, starting threads costs more time than it saves.
MIN_ROWS_FOR_THREADS = 500

# With this many rows the array of distances alone takes 3.2 GB.
MAX_ROWS = 20_000


class SubsetDistances:
    """One ``n x n`` float64 array of squared distances that follows a subset of features.

    Adding or removing a feature adds or subtracts the squared gaps of one column. The diagonal is ``inf``. Kernels
    that evaluate candidate subsets read ``squared``, ``columns`` and ``rows`` (see ``_kernels/distances.py``)
    and compute a candidate's distances on the fly. Only this class writes to these arrays.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        The table, finite, already scaled.
    n_threads : int, default=1
        Threads for the updates; a small table uses only one.
    max_rows : int, default=20_000
        A table with more rows is refused, because ``8 n^2`` bytes are needed.
    groups : int64 array (n_rows,), optional
        Rows of one group are infinitely far from each other, so that none is a neighbour of another.

    Attributes
    ----------
    rows, columns : float64 arrays of shape (n_rows, n_features) and (n_features, n_rows)
        The table by rows and by columns, both contiguous.
    squared : float64 array of shape (n_rows, n_rows)
        Squared distances over ``subset``.
    subset : int64 array
        The current features, in increasing order.
    groups : int64 array of shape (n_rows,) or None
        As given.

    Examples
    --------
    >>> from dubio.search import REMOVE, SubsetDistances
    >>> distances = SubsetDistances([[0.0, 0.0], [3.0, 4.0]])
    >>> distances.start([0, 1])
    >>> distances.squared[0, 1]
    np.float64(25.0)
    >>> distances.apply(1, REMOVE)
    >>> distances.squared[0, 1], distances.subset
    (np.float64(9.0), array([0]))
    """

    def __init__(
        self,
        X: ArrayLike,
        *,
        n_threads: int = 1,
        max_rows: int = MAX_ROWS,
        groups: NDArray[np.int64] | None = None,
    ) -> None:
        self.rows: NDArray[np.float64] = np.ascontiguousarray(X, dtype=np.float64)
        self.columns: NDArray[np.float64] = np.ascontiguousarray(self.rows.T)
        n = self.rows.shape[0]
        check_row_limit(n, max_rows)
        require_memory(8.0 * n**2, "the distances of all pairs of rows", "use a sample of the rows")
        self.n_threads = n_threads if n >= MIN_ROWS_FOR_THREADS else 1
        self.row_chunks = chunks(n, ROWS_PER_CHUNK)
        self.squared: NDArray[np.float64] = np.empty((n, n))
        self.subset: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.groups = groups

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    @property
    def n_others(self) -> int:
        """The number of rows that every row can have as neighbours: all but its own group, for the largest group."""
        return self.n_rows - (1 if self.groups is None else int(np.bincount(self.groups).max()))

    def start(self, features: ArrayLike) -> None:
        """Compute the distances over ``features`` from scratch."""
        self.subset = np.sort(np.asarray(features, dtype=np.int64))

        def work(start: int, stop: int) -> None:
            fill_squared_distances(self.columns, self.subset, start, self.squared[start:stop])
            if self.groups is not None:
                self.squared[start:stop][self.groups[start:stop, None] == self.groups] = np.inf

        run_chunks(work, self.row_chunks, self.n_threads, parts_of("distances"))

    def apply(self, feature: int, change: int) -> None:
        """Add or remove one feature."""
        column = self.columns[feature]

        def work(start: int, stop: int) -> None:
            change_squared_distances(column, float(change), self.squared, start, stop)

        run_chunks(work, self.row_chunks, self.n_threads)
        if change == ADD:
            self.subset = np.sort(np.append(self.subset, feature))
        else:
            self.subset = self.subset[self.subset != feature]


def check_row_limit(n_rows: int, max_rows: int) -> None:
    """Refuse a table whose distances would not fit, before any memory is allocated."""
    if n_rows > max_rows:
        raise InputError(
            "X",
            f"has {n_rows} rows, more than max_rows={max_rows}. This method keeps the distances of all pairs of rows: "
            f"{8 * n_rows**2 / 1e9:.1f} GB here, and 50 % more with a noise model",
            "fit on a sample of the rows, or first rank the features one by one (MutualInformationRanking without "
            "label_noise needs no such array), or raise max_rows if there is enough memory",
            code="too many rows",
        )
