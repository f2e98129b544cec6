"""Numbers of which only limits are known: intervals, and censored numbers such as survival times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.errors import InputError, counted, name_row
from dubio.table.rows import first_of
from dubio.target.comparisons import Comparison, Limits
from dubio.target.knowledge import Floats, Supervision
from dubio.target.label_values import GivenByRow, as_floats
from dubio.target.numbers import Numbers


@dataclass(frozen=True, kw_only=True)
class Intervals(Supervision):
    """For each labelled row, a lowest and a highest number: equal if it is known, infinite if there is no limit."""

    kind: ClassVar[str] = "intervals"
    words: ClassVar[str] = "intervals or censored numbers"
    drawn_as: ClassVar[str] = "target drawn as score"
    given: ClassVar[str] = "the target holds intervals or censored numbers"
    believed: ClassVar[str] = "intervals"
    _by_row: ClassVar[dict[str, Any]] = {"low": -np.inf, "high": np.inf}

    low: Floats = field(repr=False)
    high: Floats = field(repr=False)

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Rows whose number is known."""
        return self.labelled & (self.low == self.high)

    @property
    def censored(self) -> NDArray[np.bool_]:
        """Rows that are known to lie above a number, and nothing more."""
        return self.labelled & np.isposinf(self.high)

    def as_tested(self) -> Supervision:
        """Log-rank scores of numbers that are known or censored, as survival times; Gehan's of other intervals."""
        values = np.full(self.n_rows, np.nan)
        score = logrank_scores if (self.exact | self.censored)[self.labelled].all() else gehan_scores
        values[self.labelled] = score(self.low[self.labelled], self.high[self.labelled])
        return self.as_kind(Numbers, values=values)

    def comparisons(self, weights: Floats) -> dict[str, Comparison]:
        rows = np.flatnonzero(self.labelled)
        return {"": Limits(rows, weights[rows], self.low[rows], self.high[rows])}

    def require_enough(self) -> None:
        low, high = self.low[self.labelled], self.high[self.labelled]
        if not len(low) or not np.ptp(gehan_scores(low, high)) > 0:
            found = f"has {counted(self.n_labelled, 'row')} with limits, and none of them is surely above another"
            remedy = "intervals that all overlap say nothing about the features: give narrower ones"
            raise InputError("y", found, remedy)

    def _counts(self) -> tuple[int, int, int]:
        """How many rows have a known number, a censored one, and other limits."""
        exact, above = int(self.exact.sum()), int(self.censored.sum())
        return exact, above, self.n_labelled - exact - above

    def _described(self) -> str:
        counts = zip(("known", "censored", "between limits"), self._counts(), strict=True)
        return "numbers: " + ", ".join(f"{count} {name}" for name, count in counts if count)

    def _in_short(self) -> str:
        return "limits of a number"

    def _counts_of_labels(self) -> dict[str, int]:
        names = ("rows with a known number", "rows with a censored number", "rows with other limits")
        return dict(zip(names, self._counts(), strict=True))


def gehan_scores(low: Floats, high: Floats) -> Floats:
    r"""Of how many other rows a row is surely above, minus of how many it is surely below (Gehan 1965).

    Row :math:`j` is surely below row :math:`i` if :math:`high_j \le low_i`, unless both numbers are known and equal. A
    number is taken to lie above its lower limit, so that one censored at 5 is above a known 5. If all numbers are known
    and different, the score is :math:`2 r_i - n - 1` with the rank :math:`r_i`.

    >>> import numpy as np
    >>> from dubio.target.intervals import gehan_scores
    >>> gehan_scores(np.array([1.0, 2.0, 2.0, 0.0]), np.array([1.0, 2.0, np.inf, 1.5]))
    array([-2.,  1.,  3., -2.])
    """
    exact = low == high
    below = np.searchsorted(np.sort(high), low, side="right").astype(np.float64)
    above = len(low) - np.searchsorted(np.sort(low), high, side="left").astype(np.float64)
    known = np.sort(low[exact])
    equal = np.searchsorted(known, low[exact], side="right") - np.searchsorted(known, low[exact], side="left")
    below[exact] -= equal
    above[exact] -= equal
    return below - above


def logrank_scores(low: Floats, high: Floats) -> Floats:
    r"""The log-rank (Savage) score of numbers that are known or censored: :math:`\hat\Lambda(t_i) - \delta_i`.

    :math:`\hat\Lambda(t) = \sum_{s \le t} d_s / n_s` is Nelson and Aalen's estimate, with :math:`d_s` known numbers
    equal to :math:`s` and :math:`n_s` rows not below :math:`s`; :math:`\delta_i` is 1 for a known number. High scores
    are high numbers. The log-rank test is the test of these scores (Peto and Peto 1972).

    >>> import numpy as np
    >>> from dubio.target.intervals import logrank_scores
    >>> logrank_scores(np.array([1.0, 2.0, 3.0]), np.array([1.0, np.inf, 3.0])).round(2)
    array([-0.67,  0.33,  0.33])
    """
    known = low == high
    times, counts = np.unique(low[known], return_counts=True)
    at_risk = len(low) - np.searchsorted(np.sort(low), times, side="left")
    hazard = np.append(0.0, np.cumsum(counts / at_risk))
    return np.asarray(hazard[np.searchsorted(times, low, side="right")] - known)


@dataclass(frozen=True, eq=False)
class IntervalLabels(GivenByRow):
    """Lowest and highest numbers. Made by :func:`dubio.interval_targets`; pass it as ``y``.

    Attributes
    ----------
    low, high : array (n,)
        Limits of each row; ``-inf`` and ``inf`` where there is none.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("low", "high")

    low: Floats
    high: Floats


def interval_targets(low: ArrayLike, high: ArrayLike) -> IntervalLabels:
    """Say that the number of each row lies between two limits.

    Parameters
    ----------
    low, high : array-like (n,)
        The limits. Equal: the number is known. NaN or infinite: no limit on this side; so a survival time that is
        censored at ``t`` has ``low=t, high=inf``. Without both limits, a row counts as unlabelled.

    Returns
    -------
    IntervalLabels
        Pass it as ``y`` to :class:`dubio.FeatureSelector`. If every number is known, it is an ordinary numeric target.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import FeatureSelector, interval_targets
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> time = np.exp(X[:, 2] + 0.5 * rng.normal(size=200))
    >>> end = rng.uniform(0, 3, size=200)  # when the study ended for this row
    >>> y = interval_targets(np.minimum(time, end), np.where(time <= end, time, np.inf))
    >>> FeatureSelector().fit(X, y).get_support(indices=True)
    array([2])
    """
    lowest, highest = _limits(low, "low", -np.inf), _limits(high, "high", np.inf)
    if lowest.shape != highest.shape:
        raise InputError("high", f"has {len(highest)} rows, and low has {len(lowest)}", "they must be the same rows")
    for name, values, wrong in (("low", lowest, np.inf), ("high", highest, -np.inf)):
        bad = np.flatnonzero(values == wrong)
        if len(bad):
            raise InputError(name, f"is {wrong:g} in {first_of(bad)}", "no number is there")
    bad = np.flatnonzero(lowest > highest)
    if len(bad):
        row, such = int(bad[0]), counted(len(bad), "such row")
        found = f"is above high in {name_row(row)}: {lowest[row]:g} > {highest[row]:g} ({such})"
        raise InputError("low", found, "exchange the two, or correct the row")
    return IntervalLabels(lowest, highest)


def read_intervals(y: IntervalLabels) -> Supervision:
    """Intervals; a numeric target if every number is known."""
    low, high = np.array(y.low, dtype=np.float64), np.array(y.high, dtype=np.float64)
    labelled = np.isfinite(low) | np.isfinite(high)
    if (low[labelled] == high[labelled]).all():
        return Numbers(labelled=labelled, values=np.where(labelled, low, np.nan))
    return Intervals(labelled=labelled, low=low, high=high)


def _limits(values: ArrayLike, name: str, missing: float) -> Floats:
    try:
        limits = as_floats(values).copy()
    except (TypeError, ValueError) as error:
        remedy = "give numbers; NaN where there is no limit"
        raise InputError(name, "holds values that are not numbers", remedy) from error
    if limits.ndim != 1:
        raise InputError(name, f"has shape {limits.shape}", "give one number per row")
    limits[np.isnan(limits)] = missing
    return limits
