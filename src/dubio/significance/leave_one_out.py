"""Does a feature follow the structure of the *other* features? The Laplacian score on graphs built without it.

On a graph that a feature helped to build it always looks smooth (99 % false positives); on one built without it, a
feature that has nothing to do with the others looks like any permutation of itself.
"""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio._kernels.leave_one_out import leave_one_out_neighbors
from dubio._kernels.threads import chunks, resolve_threads, run_chunks
from dubio.graphs.neighbors import Kernel, Symmetry, heat
from dubio.graphs.quadratic import laplacian_ratio
from dubio.significance.graphs import RatioForms
from dubio.significance.permutation import SCREEN
from dubio.table import Matrix

#: The test is quadratic in the rows: of longer tables a random sample of rows is tested.
MAX_ROWS = 4000
#: Values (features x rows x neighbours) of the neighbour lists held at a time.
_BLOCK = 4_000_000
#: Permutations are tried in rounds of this many; a feature is settled when enough of them did as well.
_ROUND, _ENOUGH = 125, 30


def leave_one_out_pvalues(
    space: Matrix,
    *,
    n_neighbors: int = 5,
    t: float | Literal["mean"] = 1.0,
    kernel: Kernel = "squared",
    symmetry: Symmetry = "or",
    n_permutations: int = 1000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """p-value of every feature's Laplacian score on the neighbour graph of all other features.

    Parameters
    ----------
    space : array (n, d)
        The features in the scale distances are taken in.
    n_neighbors, t, kernel, symmetry
        Of the graphs, as in :func:`~dubio.laplacian_score`.
    n_permutations : int
        Permutations of a feature that the closed-form moments do not show to be ordinary.
    random_state : int
    n_jobs : int, optional
        Threads.

    Returns
    -------
    pvalues : array (d,)
        1 for constant features, and for a table of a single feature.
    """
    X = np.asarray(space.toarray() if sparse.issparse(space) else space, dtype=np.float64)
    if len(X) > MAX_ROWS:
        X = X[np.random.default_rng([random_state, 3]).permutation(len(X))[:MAX_ROWS]]
    X = np.ascontiguousarray(X - X.mean(axis=0))
    n, d = X.shape
    k = min(n_neighbors, n - 1)
    if d < 2 or n < 4:
        return np.ones(d)
    threads = resolve_threads(n_jobs)
    pvalues: list[list[float]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a kernel that is too narrow was reported by the score itself
        for first, last in chunks(d, max(1, _BLOCK // (n * k))):
            neighbors = np.empty((last - first, n, k), dtype=np.int64)
            squared = np.empty((last - first, n, k))

            def search(start: int, stop: int, first: int = first, out: tuple = (neighbors, squared)) -> None:
                leave_one_out_neighbors(X, first, start, stop, *out)

            def test(start: int, stop: int, first: int = first, lists: tuple = (neighbors, squared)) -> list[float]:
                found = []
                for r in range(start, stop):
                    distances = lists[1][r] if kernel == "squared" else np.sqrt(lists[1][r])
                    graph = _graph(lists[0][r], distances, symmetry)
                    graph.data = heat(graph.data, t)
                    rng = np.random.default_rng([random_state, 4, first + r])
                    found.append(_pvalue(graph, X[:, first + r], n_permutations, rng))
                return found

            run_chunks(search, chunks(n, 64), threads)
            pvalues += run_chunks(test, chunks(last - first, 8), threads)
    return np.concatenate(pvalues)


def _graph(neighbors: NDArray[np.int64], distances: NDArray[np.float64], symmetry: Symmetry) -> sparse.csr_array:
    """Symmetric graph of distances from neighbour lists; a distance of zero is an edge like any other."""
    n, k = neighbors.shape
    rows = np.repeat(np.arange(n), k)
    columns = neighbors.ravel()
    keys = np.concatenate([rows * n + columns, columns * n + rows])
    unique, position, count = np.unique(keys, return_index=True, return_counts=True)
    if symmetry == "and":
        unique, position = unique[count == 2], position[count == 2]
    data = np.concatenate([distances.ravel(), distances.ravel()])[position]
    indptr = np.searchsorted(unique, np.arange(n + 1) * n)
    return sparse.csr_array((data, unique % n, indptr), shape=(n, n))


def _pvalue(graph: sparse.csr_array, f: NDArray[np.float64], n_permutations: int, rng: np.random.Generator) -> float:
    """Share of permutations of ``f`` that are as smooth on the graph; from closed-form moments if surely ordinary."""
    if graph.nnz == 0 or (f == f[0]).all():
        return 1.0
    column = f[:, None]
    observed = laplacian_ratio(graph, column)
    quick = float(RatioForms.of_laplacian(graph).pvalues(column, observed)[0])
    if quick > SCREEN:
        return quick
    hits = done = 0
    while done < n_permutations and hits < _ENOUGH:
        batch = min(_ROUND, n_permutations - done)
        shuffled = rng.permuted(np.repeat(column, batch, axis=1), axis=0)
        hits += int((laplacian_ratio(graph, shuffled) <= observed * (1 + 1e-10)).sum())
        done += batch
    return (hits + 1) / (done + 1)
