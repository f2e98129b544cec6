"""Class memberships, one row at a time, from a table of probabilities that may have errors."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

#: What may be wrong with a row, in the order in which problems are reported; 0 means no problem.
PARTLY_NAN, NEGATIVE, INFINITE, WRONG_SUM = 1, 2, 3, 4


@numba.njit(cache=True, nogil=True)
def read_membership_rows(
    P: Any, start: int, stop: int, tolerance: float, out: Any, labelled: Any, count: Any, first: Any
) -> None:
    """Write rows ``start:stop`` of ``P``, divided by their sums, to ``out`` (zeros for a row that is all NaN).

    ``count[kind]`` is the number of rows with a problem of that kind, and ``first[kind]`` the first such row.
    """
    n_classes = P.shape[1]
    for i in range(start, stop):
        n_nan, kind, total = 0, 0, 0.0
        for k in range(n_classes):
            p = np.float64(P[i, k])
            if np.isnan(p):
                n_nan += 1
            elif p < 0.0:
                kind = NEGATIVE
            elif np.isinf(p):
                kind = INFINITE
            total += p
        labelled[i] = n_nan < n_classes
        if n_nan == n_classes:
            for k in range(n_classes):
                out[i, k] = 0.0
            continue
        if n_nan > 0:
            kind = PARTLY_NAN
        elif kind == 0 and abs(total - 1.0) > tolerance:
            kind = WRONG_SUM
        if kind > 0:
            if count[kind] == 0:
                first[kind] = i
            count[kind] += 1
            continue
        for k in range(n_classes):
            out[i, k] = P[i, k] / total
