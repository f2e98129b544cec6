"""A numeric target; some values may be missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from dubio.errors import InputError, counted, name_row
from dubio.target.knowledge import Floats, Supervision

#: Numbers whose squares neither overflow nor vanish.
_LEAST, _MOST = 1e-100, 1e100


@dataclass(frozen=True, kw_only=True)
class Numbers(Supervision):
    """One number per labelled row.

    Attributes
    ----------
    values : array (n_rows,)
        The numbers; NaN for a row without a number.
    as_read : str
        What they were read as, if they were written as text or dates: "in days since 2024-03-31".
    """

    kind: ClassVar[str] = "numbers"
    words: ClassVar[str] = "a numeric target"
    given: ClassVar[str] = "the target is numeric"
    is_numeric: ClassVar[bool] = True
    has_neighbors: ClassVar[bool] = True
    _by_row: ClassVar[tuple[str, ...]] = ("values",)

    values: Floats = field(repr=False)
    as_read: str = field(default="", repr=False)

    def _described(self) -> str:
        return f"{self.words} ({self.as_read})" if self.as_read else self.words

    def require_enough(self) -> None:
        """Raise unless at least two rows have a number."""
        if self.n_labelled < 2:
            raise InputError(
                "y",
                f"has {counted(self.n_labelled, 'labelled row')} of {self.n_rows} (n_samples={self.n_labelled})",
                "this method needs at least 2 rows with a number",
            )

    def standardized(self) -> Floats:
        """The numbers with mean 0 and standard deviation 1 over the labelled rows; NaN stays NaN."""
        known = self.values[self.labelled]
        if (known == known[0]).all():
            raise InputError(
                "y",
                f"has the same value, {known[0]:g}, in all {counted(len(known), 'labelled row')}",
                "such a target says nothing about the features",
            )
        values = moderate(self.values)
        known = values[self.labelled]
        return np.asarray((values - known.mean()) / known.std())

    def _target_columns(self, rows: NDArray[Any]) -> Floats:
        values = moderate(self.values[rows][:, None])  # dividing by a tiny number may warn of an overflow
        return np.asarray(values / (float(np.abs(values).max()) or 1.0))


def moderate(values: Floats) -> Floats:
    """The same numbers, times a power of two if their squares would overflow or vanish: that loses no digit."""
    known = values[~np.isnan(values)]
    largest = float(np.abs(known).max()) if len(known) else 1.0
    return values if _LEAST <= largest <= _MOST else np.asarray(np.ldexp(values, -int(np.frexp(largest)[1])))


def read_numbers(values: NDArray[Any], missing: NDArray[np.bool_], missing_label: Any, as_read: str = "") -> Numbers:
    """A numeric target from its known values and the mask of the missing rows."""
    if values.dtype.kind not in "biuf":
        raise InputError(
            "y", f"holds text, such as {str(values[0])!r}, where numbers are needed", "encode it as numbers"
        )
    numbers = values.astype(np.float64)
    infinite = np.flatnonzero(~np.isfinite(numbers))
    if len(infinite):
        row = int(np.flatnonzero(~missing)[infinite[0]])
        raise InputError(
            "y",
            f"contains infinity in {counted(len(infinite), 'row')}, first in {name_row(row)}",
            "use NaN for unlabelled rows",
        )
    full = np.full(len(missing), np.nan)
    full[~missing] = numbers
    if missing_label is not None and missing_label != "auto":
        full[full == missing_label] = np.nan
    return Numbers(n_rows=len(full), labelled=~np.isnan(full), values=full, as_read=as_read)


def normal_scores(values: Floats) -> Floats:
    r"""Replace numbers by the normal quantiles of their ranks: :math:`\Phi^{-1}((r - 1/2) / n)`. NaN stays NaN.

    >>> import numpy as np
    >>> from dubio.target.numbers import normal_scores
    >>> normal_scores(np.array([1.0, 1000.0, 2.0, np.nan])).round(2)
    array([-0.97,  0.97,  0.  ,   nan])
    """
    known = ~np.isnan(values)
    scores = np.full(len(values), np.nan)
    scores[known] = ndtri((rankdata(values[known]) - 0.5) / known.sum())
    return scores
