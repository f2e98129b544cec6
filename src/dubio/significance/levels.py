"""Smooth R2 of categories: each row is predicted by the other rows of its category."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dubio._kernels import smooth

#: Permutations per kernel call. The test ends at so many of them, or once so many reached the score.
_CHUNK, _MOST, _ENOUGH = 64, 100_000, 200

Floats = NDArray[np.float64]


def level_error(target: Floats, weights: Floats, codes: NDArray[np.int64]) -> float:
    """Sum of squared errors if each row is predicted by the mean of the other rows of its category.

    The only row of a category is predicted by the mean of all other rows. ``weights`` is empty if all rows count alike.
    """
    order = np.argsort(codes, kind="stable")
    return float(smooth.level_error(target, weights, order, np.bincount(codes), np.empty((2, target.shape[1]))))


class LevelNull:
    """Smooth R2 of one feature of categories when the target is shuffled; ends early if it is clearly ordinary."""

    def __init__(self, target: Floats, weights: Floats, codes: NDArray[np.int64], seed: list[int]) -> None:
        self._target, self._weights, self._counts = target, weights, np.bincount(codes)
        self._seed = seed
        # permutations that only differ by rounding count as equal
        self._error = level_error(target, weights, codes) * (1.0 + 1e-12)
        self._constant = len(self._counts) < 2
        self.count = self._hits = 0

    @property
    def pvalue(self) -> float:
        return 1.0 if self._constant else (1.0 + self._hits) / (1.0 + self.count)

    def draw(self, count: int) -> None:
        """Go on until there are ``count`` permutations, or enough hits to call the feature ordinary."""
        errors = np.empty(_CHUNK)
        while self.count < min(count, _MOST) and self._hits < _ENOUGH and not self._constant:
            rng = np.random.default_rng([*self._seed, self.count])
            smooth.shuffled_level_errors(self._target, self._weights, self._counts, rng, errors)
            self._hits += int((errors <= self._error).sum())
            self.count += _CHUNK
