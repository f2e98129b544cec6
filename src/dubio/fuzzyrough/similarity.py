"""How similar two rows are in one feature, as distances between coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIMILARITIES = ("std", "range", "gaussian")


def similarity_coordinates(X: NDArray[np.float64], nominal: NDArray[np.bool_], similarity: str) -> NDArray[np.float64]:
    """Rescale columns so that the plain difference ``t`` of two coordinates measures how different two rows are.

    ``"std"`` and ``"range"`` divide by the sample standard deviation or the range, and the similarity is
    ``max(0, 1 - |t|)`` (equation 9 of Jensen and Shen's fuzzy-rough selection; with the standard deviation it
    reproduces the paper's Table 1). ``"gaussian"`` also divides by the standard deviation, and the similarity is
    ``exp(-t**2 / 2)``. Nominal columns become whole numbers, one for each category: two categories differ by at
    least 1, so they are not similar at all. NaN is kept: a missing value is similar to everything. A constant column
    becomes all zeros.

    >>> import numpy as np
    >>> similarity_coordinates(np.array([[0.0, 5], [2, 7], [4, 5]]), np.array([False, True]), "range")
    array([[-0.5,  0. ],
           [ 0. ,  1. ],
           [ 0.5,  0. ]])
    """
    coordinates = np.empty_like(X, dtype=np.float64, order="C")
    for j in range(X.shape[1]):
        column = X[:, j].astype(np.float64)
        known = ~np.isnan(column)
        if nominal[j]:
            coordinates[:, j] = np.nan
            coordinates[known, j] = np.unique(column[known], return_inverse=True)[1]
        else:
            coordinates[:, j] = scale_numbers(column, similarity)
    return coordinates


def scale_numbers(column: NDArray[np.float64], similarity: str) -> NDArray[np.float64]:
    """One numeric column, centred and divided by its standard deviation or range (NaN is ignored and kept)."""
    values = column[~np.isnan(column)]
    if len(values) < 2 or values.min() == values.max():
        return np.where(np.isnan(column), np.nan, 0.0)
    # Divide by the largest magnitude first: squares of very large or very small numbers overflow or underflow.
    centred = column - (values.min() / 2 + values.max() / 2)
    with np.errstate(over="ignore"):  # NumPy 1 warns of overflow here if all numbers are denormal; the result is right
        centred = centred / np.nanmax(np.abs(centred))
    known = centred[~np.isnan(centred)]
    spread = np.ptp(known) if similarity == "range" else np.std(known, ddof=1)
    return centred / spread
