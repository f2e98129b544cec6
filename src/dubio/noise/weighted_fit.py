"""Train any model on weighted rows: by its own weights if it takes them, else on rows drawn in proportion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

Floats = NDArray[np.float64]


def fit_weighted(model: Any, X: NDArray[Any], y: NDArray[Any], weights: Floats | None, seed: int) -> Any:
    """Fit a model with weights; ``y`` are codes of classes, or numbers.

    A model whose ``fit`` takes no ``sample_weight`` (nearest neighbours, Gaussian classifiers) learns from as many rows
    as there are, each repeated in proportion to its weight (see :func:`rows_in_proportion`).
    """
    if weights is None:
        return model.fit(X, y)
    weights = _rounded(weights / weights.mean())
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(X, y, sample_weight=weights)
    rows = rows_in_proportion(weights, y if y.dtype.kind == "i" else np.zeros(len(y), dtype=np.int64), seed)
    return model.fit(X[rows], y[rows])


def _rounded(weights: Floats) -> Floats:
    """Weights with 24 binary digits. A common factor changes the last of 53, and a tree might then split elsewhere."""
    digits, exponents = np.frexp(weights)
    return np.asarray(np.ldexp(np.round(np.ldexp(digits, 24)), exponents - 24))


def rows_in_proportion(weights: Floats, codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """``len(weights)`` rows, each as often as its weight says, in increasing order (systematic sampling).

    The number of rows of a class is its share of the weights, rounded up or down, but at least two if the class has as
    many; then there may be more rows in all. Within a class of :math:`m` such rows, a row occurs
    :math:`m w_i / \\sum w` times (the sum is over the class), rounded up or down.

    >>> import numpy as np
    >>> from dubio.noise.weighted_fit import rows_in_proportion
    >>> rows_in_proportion(np.array([2.0, 1.0, 0.5, 0.5]), np.zeros(4, dtype=np.int64), seed=0)
    array([0, 0, 1, 3])
    """
    share = weights * (len(weights) / weights.sum())
    start = np.random.RandomState(seed).random_sample()
    place = np.unique(codes, return_inverse=True)[1]
    wanted = np.bincount(place, share)
    counts = np.floor(wanted).astype(np.int64)
    counts[np.argsort(counts - wanted, kind="stable")[: len(codes) - counts.sum()]] += 1  # the largest remainders
    drawn = []
    for code, rounded in enumerate(counts.tolist()):
        own = np.flatnonzero(place == code)
        upto = np.cumsum(share[own])
        count = max(min(2, len(own)), rounded)
        drawn.append(
            own[
                np.searchsorted(upto, (np.arange(count) + start) * upto[-1] / count, side="right").clip(
                    max=len(own) - 1
                )
            ]
        )
    return np.sort(np.concatenate(drawn))
