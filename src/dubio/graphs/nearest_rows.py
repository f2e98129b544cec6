"""Find the nearest rows of each row: exactly, or approximately if there are too many rows."""

from __future__ import annotations

import time
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from dubio._kernels.threads import resolve_threads
from dubio.progress import advance, foretell
from dubio.seeds import random_of
from dubio.tables.matrix import Matrix
from dubio.tables.scaling import centre_far_columns

#: How a graph is found: exact neighbours of every row, approximate ones, or exact ones of sampled rows only.
Route = Literal["exact", "approximate", "anchors"]

#: With fewer rows, an exact search is as fast as an approximate one.
_FEW_ROWS = 4096
#: Number of rows whose neighbours are searched in one call.
_SEARCHED_AT_ONCE = 1000
#: From so many rows on, the neighbours of a few are searched first, to tell how long all of them will take.
_MANY_ROWS, _TRIED = 20_000, 100


class RowSearch:
    """Nearest rows in a table: for all its rows, for some of them, or for other points.

    Parameters
    ----------
    points : array or CSR matrix (n, d)
        See :func:`centre_columns`.
    k : int
        The largest number of neighbours that will be requested.
    approximate : bool
        Use nearest-neighbour descent (pynndescent) instead of scikit-learn's exact search. Tables with fewer than 4,096
        rows are always searched exactly.
    random_state, n_jobs
        ``random_state`` is for the descent, ``n_jobs`` for both kinds of search.
    """

    def __init__(
        self,
        points: Matrix,
        k: int,
        *,
        approximate: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self._points = points
        resolve_threads(n_jobs)  # raises for a number that nobody can use
        self._n_jobs = n_jobs
        self._descent = None
        if approximate and points.shape[0] >= _FEW_ROWS:
            self._descent = _descent(self._points, k, random_state, n_jobs)
        else:
            self._exact = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(self._points)

    def others(self, k: int, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """The k nearest other rows of every row, or of ``rows``: (m, k), nearest first."""
        if self._descent is not None:
            found = self._descent.neighbor_graph[0][:, : k + 1]
            found = found if rows is None else found[rows]
            return self._complete(drop_self(found, np.arange(len(found)) if rows is None else rows), rows, k)
        if rows is None:
            return self._others_of_all(k)
        found = self._exact.kneighbors(self._points[rows], n_neighbors=k + 1, return_distance=False)
        return drop_self(found, rows)

    def _others_of_all(self, k: int) -> NDArray[np.int64]:
        """The k nearest other rows of every row; many rows are searched in parts, so that the progress can be seen."""
        n = self._points.shape[0]
        if n <= _SEARCHED_AT_ONCE:
            return np.asarray(self._exact.kneighbors(n_neighbors=k, return_distance=False))
        if n >= _MANY_ROWS:
            foretell("neighbours", n, n * self._seconds_per_row(k), 8.0 * n * (k + self._points.shape[1]))
        parts = []
        for start in range(0, n, _SEARCHED_AT_ONCE):
            rows = np.arange(start, min(start + _SEARCHED_AT_ONCE, n))
            found = self._exact.kneighbors(self._points[rows], n_neighbors=k + 1, return_distance=False)
            other = found != rows[:, None]
            other[other.all(axis=1), 0] = False  # more copies of a row than neighbours: as scikit-learn does
            parts.append(found[other].reshape(len(rows), k))
            advance("neighbours", int(rows[-1]) + 1, n)
        return np.concatenate(parts)

    def _seconds_per_row(self, k: int) -> float:
        """The time that a search takes for one row, tried on some rows throughout the table."""
        few = self._points[np.linspace(0, self._points.shape[0] - 1, _TRIED).astype(np.int64)]
        began = time.perf_counter()
        self._exact.kneighbors(few, n_neighbors=k + 1, return_distance=False)
        return (time.perf_counter() - began) / _TRIED

    def nearest(self, points: Matrix, k: int) -> NDArray[np.int64]:
        """The k rows nearest to each of some other points."""
        if self._descent is not None:
            found = self._descent.query(points, k=k)[0]
            if (found >= 0).all():
                return np.asarray(found, dtype=np.int64)
            self._exact = NearestNeighbors(n_neighbors=k, n_jobs=self._n_jobs).fit(self._points)
        return np.asarray(self._exact.kneighbors(points, n_neighbors=k, return_distance=False))

    def _complete(self, neighbors: NDArray[Any], rows: NDArray[np.int64] | None, k: int) -> NDArray[np.int64]:
        """Find exactly the lists that the descent left unfinished (marked by -1)."""
        unfinished = np.flatnonzero((neighbors < 0).any(axis=1))
        neighbors = neighbors.astype(np.int64)
        if len(unfinished):
            exact = NearestNeighbors(n_neighbors=k, n_jobs=self._n_jobs).fit(self._points)
            these = unfinished if rows is None else rows[unfinished]
            found = exact.kneighbors(self._points[these], n_neighbors=k + 1, return_distance=False)
            neighbors[unfinished] = drop_self(found, these)
        return neighbors


def centre_columns(X: Matrix) -> Matrix:
    """Centre the columns: neighbour search expands squares, and a large offset would then cost digits."""
    if sparse.issparse(X):
        return centre_far_columns(X)
    return X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)


def drop_self(found: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Remove each row from its own list of k + 1 neighbours (or the last entry if duplicates pushed the row out)."""
    is_self = found == rows[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    return np.asarray(found[~is_self].reshape(len(rows), -1))


def _descent(points: Matrix, k: int, random_state: Any, n_jobs: int | None) -> Any:
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError("neighbors='approximate' needs pynndescent: pip install 'dubio[approximate]'") from error
    seed = random_of(random_state).randint(2**31 - 1)
    # With longer lists than needed, the descent finds more of the true neighbours.
    return NNDescent(points, n_neighbors=max(k + 1, 15), random_state=seed, n_jobs=n_jobs)
