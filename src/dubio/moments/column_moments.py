"""Column moments: how many cells of each column are missing, and the mean, spread and range of the others.

Moments of blocks of rows can be merged, so those of all rows are known after one pass over a table of any length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from dubio.kernels.moments import squares_around, sum_around

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class ColumnMoments:
    """Moments of each of d columns. Missing and infinite cells are counted, and left out of the others.

    Means are stored as ``offset`` from ``origin``, a value of the column. So a column far from zero keeps its digits.
    ``squares`` are sums of squared deviations from the mean; ``low`` and ``high`` are infinity and -infinity without a
    number.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.moments.column_moments import ColumnMoments
    >>> one = ColumnMoments.of([np.array([1.0, 2.0, np.nan])])
    >>> both = one.merge(ColumnMoments.of([np.array([6.0])]))
    >>> both.mean, both.variance, both.missing
    (array([3.]), array([4.66666667]), array([1]))
    """

    present: Counts
    missing: Counts
    infinite: Counts
    origin: Floats
    offset: Floats
    squares: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, columns: Sequence[NDArray[np.floating] | tuple[int, int]]) -> ColumnMoments:
        """Moments of some columns, each float32 or float64; a missing cell is NaN.

        Of a column that holds no numbers, the number of cells with and without a value may be given instead.
        """
        rows = [(*x, 0, 0.0, 0.0, 0.0, np.inf, -np.inf) if isinstance(x, tuple) else _one_column(x) for x in columns]
        values = np.array(rows, dtype=np.float64).reshape(-1, 8).T
        return cls(*values[:3].astype(np.int64), *values[3:])

    @property
    def mean(self) -> Floats:
        return np.asarray(self.origin + self.offset)

    @property
    def variance(self) -> Floats:
        """Mean squared deviation from the mean; 0 without a number."""
        return np.asarray(self.squares / np.maximum(self.present, 1))

    @property
    def missing_share(self) -> Floats:
        """Share of the cells that are missing."""
        return np.asarray(self.missing / np.maximum(self.present + self.missing + self.infinite, 1))

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Whether the column has two different numbers."""
        return np.asarray(self.low < self.high)

    def merge(self, other: ColumnMoments) -> ColumnMoments:
        """Moments of both sets of rows together (exact: Chan, Golub and LeVeque's update)."""
        present = self.present + other.present
        share = other.present / np.maximum(present, 1)
        origin = np.where(self.present > 0, self.origin, other.origin)
        offset = np.where(self.present > 0, self.offset, other.offset)
        with np.errstate(over="ignore", invalid="ignore"):  # numbers so large that a difference or square is infinite
            delta = np.where(other.present > 0, (other.origin - origin) + (other.offset - offset), 0.0)
            squares = self.squares + other.squares + delta**2 * (self.present * share)
        offset, huge = offset + np.where(np.isfinite(delta), delta, 0.0) * share, ~np.isfinite(delta)
        if huge.any():
            whole = self.mean * (self.present / np.maximum(present, 1)) + other.mean * share
            origin, offset = np.where(huge, 0.0, origin), np.where(huge, whole, offset)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        missing, infinite = self.missing + other.missing, self.infinite + other.infinite
        return ColumnMoments(present, missing, infinite, origin, offset, squares, low, high)

    @classmethod
    def side_by_side(cls, parts: list[ColumnMoments]) -> ColumnMoments:
        """Moments of all columns, from parts that each hold some columns of the same rows."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


def _one_column(x: NDArray[np.floating]) -> tuple[float, ...]:
    if not len(x):
        return 0, 0, 0, 0.0, 0.0, 0.0, np.inf, -np.inf
    x = _read_only(x)
    n, origin = len(x), float(x[0])
    offset = sum_around(x, origin) / n
    if not np.isfinite(offset):
        finite = np.isfinite(x)
        if not finite.all():
            missing = int(np.count_nonzero(np.isnan(x)))
            present, _, _, *others = _one_column(x[finite])
            return present, missing, n - missing - int(present), *others
        origin, offset = 0.0, float((x.astype(np.float64) / n).sum())  # numbers so large that their sum is not finite
    squares = squares_around(x, origin, offset)
    # not fmin and fmax, which are slower: nothing is missing here
    return n, 0, 0, origin, offset, max(squares, 0.0) if np.isfinite(squares) else np.inf, x.min(), x.max()


def _read_only(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """So that the kernels are compiled for one kind of array, that of Arrow."""
    x = np.ascontiguousarray(x).view()
    x.flags.writeable = False
    return x
