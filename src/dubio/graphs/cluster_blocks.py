"""Kernel graphs between the rows of a cluster, built one block at a time: a whole graph may have n x n entries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from dubio._kernels.threads import chunks

#: Number of entries in one block.
BLOCK_ENTRIES = 2**21


def cluster_graph_blocks(
    X: NDArray[np.float64], cluster: NDArray[np.int64], width: float, block_entries: int = BLOCK_ENTRIES
) -> Iterator[tuple[NDArray[np.int64], sparse.csr_array]]:
    """The graph of weights exp(-d^2 / width) between all rows of a cluster, in symmetric pieces.

    Yields ``(rows, piece)``: ``piece`` connects some of ``rows``. Each edge of the graph is in exactly one piece, and a
    piece holds at most about twice ``block_entries`` entries. Weights that underflow are left out.
    """
    order = np.argsort(cluster, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1):
        if len(rows) < 2:
            continue
        members = X[rows]
        for start, stop in chunks(len(rows), max(1, block_entries // len(rows))):
            # Rows start:stop with themselves and all later rows: later pieces contain none of their edges.
            weights = np.exp(-cdist(members[start:stop], members[start:], "sqeuclidean") / width)
            upper = sparse.coo_array(np.triu(weights, k=1))
            size = len(rows) - start
            half = sparse.csr_array((upper.data, (upper.row, upper.col)), shape=(size, size))
            yield rows[start:], half + half.T
