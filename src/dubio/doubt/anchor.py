"""What anchors an audit: the share of wrong labels, known from elsewhere, turns disagreement into P(wrong).

The columns and the labels alone cannot tell wrong labels from classes that overlap. So an audit without an anchor says
only how much the models disagree with each label.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, logit

from dubio.errors import InputError
from dubio.words import Note

Floats = NDArray[np.float64]

#: Slope of the log odds that a label is wrong, on the log odds of the disagreement, if nothing is known of classes.
_SLOPE = 2.0
#: Of classes, the slope is this over how much the errors gather in one class, and the share of wrong labels is split
#: over the classes in proportion to this power of the engine's counts of errors. On nine tables (90 draws each) with
#: 20 % wrong labels, all of one class, deciles were then 2 points off, and 4 with one slope and counts as they are.
_SLOPE_OF_CLASSES, _GATHERED = 2.4, 1.5
#: Standard deviation of the logarithm of the best slope, over these tables and kinds of errors.
_SLOPE_SPREAD = 0.6
#: Disagreement is kept this far from 0 and 1, so that its log odds are finite.
_LEAST = 1e-6
#: The log odds are shifted by at most this much: enough for any share of wrong labels.
_FARTHEST = 60.0


@dataclass(frozen=True)
class Anchor:
    r"""What is known of wrong labels from elsewhere than the columns and the labels.

    With the disagreement :math:`d_i` of the models with each label, the label is wrong with probability

    .. math:: P_i = \sigma\bigl(a + b\,\mathrm{logit}\,d_i\bigr),

    where :math:`a` is such that the mean of :math:`P_i` is the share of wrong labels, and the slope :math:`b` was
    measured on tables with known errors. Of classes, each has an :math:`a` of its own: the share is split over them in
    proportion to :math:`e_k^{1.5}`, where the engine counts :math:`e_k` errors. Then

    .. math:: b = 2.4 \Big/ \Bigl(K \sum_k e_k^2\Bigr)\,\Bigl(\sum_k e_k\Bigr)^2.

    So it is smaller if errors gather in one class: the models have learned some of them, and disagreement says less.
    Rows whose label somebody has looked at (``outcomes``) correct the slope, by their likelihood and its spread from
    table to table. A label with which the models do not disagree at all is right: that of a row a person decided.

    Attributes
    ----------
    share : float
        Share of wrong labels among the rows with one.
    low, high : float
        Its interval.
    source : {"share", "checked", "votes"}
        Who knows it: the user, rows that were checked, or several votes per row.
    outcomes : array (n_rows,), optional
        1 for a label that was looked at and is wrong, 0 for one that is right; NaN for all others.
    weights : array (n_rows,), optional
        What each of these rows stands for, such as one over its chance to be looked at.
    by_class : array (n_classes, 3), optional
        For each given class the share of wrong labels and its interval, if that is known too.
    truth : array (n_rows,), optional
        The true class of each row that was checked; None for all others.
    slope : float
        :math:`b`, if nothing is known of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.doubt.anchor import Anchor
    >>> wrong = Anchor.of(0.25).wrong(np.array([0.05, 0.1, 0.3, 0.9, np.nan]))
    >>> float(np.nanmean(wrong).round(6)), bool((np.diff(wrong[:4]) > 0).all())
    (0.25, True)
    """

    share: float
    low: float
    high: float
    source: Literal["share", "checked", "votes"] = "share"
    outcomes: Floats | None = field(default=None, repr=False)
    weights: Floats | None = field(default=None, repr=False)
    by_class: Floats | None = field(default=None, repr=False)
    truth: NDArray[Any] | None = field(default=None, repr=False)
    slope: float = field(default=_SLOPE, repr=False)

    @classmethod
    def of(cls, share: Any) -> Anchor:
        """The anchor of somebody who knows the share of wrong labels, or from where to where it reaches."""
        ends = list(share) if isinstance(share, tuple | list | np.ndarray) and np.ndim(share) == 1 else [share]
        numbers = [float(end) for end in ends if isinstance(end, Real) and not isinstance(end, bool)]
        if len(numbers) != len(ends) or len(ends) not in (1, 2) or not all(0 <= end < 1 for end in numbers):
            remedy = "give the share of wrong labels (0.1), or from where to where it reaches ((0.05, 0.15))"
            raise InputError("share", f"={share!r}", remedy)
        low, high = numbers[0], numbers[-1]
        if low > high:
            raise InputError("share", f"={share!r} ends before it begins", "give the smaller number first")
        return cls((low + high) / 2, low, high)

    def notes(self) -> tuple[Note, ...]:
        """What else is known of wrong labels."""
        return ()

    def wrong(self, disagreement: Floats) -> Floats:
        """The probability that each label is wrong, from the models' disagreement with it; NaN without a label."""
        wrong = np.where(np.isnan(disagreement), np.nan, 0.0)
        rows = np.flatnonzero(disagreement > 0)
        if not self.share or not len(rows):
            return wrong
        odds = np.asarray(logit(np.clip(disagreement[rows], _LEAST, 1 - _LEAST)), dtype=np.float64)
        total, slope = self.share * int(np.isfinite(disagreement).sum()), self.slope
        if self.outcomes is not None:
            slope = self._slope(odds, total, self.outcomes[rows], None if self.weights is None else self.weights[rows])
        wrong[rows] = _with_total(slope * odds, total)
        return wrong

    def wrong_in_classes(self, disagreement: Floats, codes: NDArray[np.int64], errors: Floats) -> Floats:
        """The same, with the share split over the classes by the engine's count of ``errors``.

        If a class would have more wrong labels than rows, the share is that of all rows alike.
        """
        if self.by_class is not None or not errors.any():
            return self.wrong(disagreement)
        parts_of_errors = errors / errors.sum()
        totals = parts_of_errors**_GATHERED
        totals *= self.share * int((codes >= 0).sum()) / totals.sum()
        gathered = len(errors) * float((parts_of_errors**2).sum())
        anchor = replace(self, slope=_SLOPE_OF_CLASSES / gathered)
        parts = [np.flatnonzero((codes == code) & (disagreement > 0)) for code in range(len(errors))]
        if any(total > len(part) for total, part in zip(totals, parts, strict=True)):
            return anchor.wrong(disagreement)
        wrong = np.where(np.isnan(disagreement), np.nan, 0.0)
        for total, part in zip(totals, parts, strict=True):
            if len(part):
                wrong[part] = replace(anchor, share=float(total / len(part))).wrong(disagreement[part])
        return wrong

    def _slope(self, odds: Floats, total: float, outcomes: Floats, weights: Floats | None) -> float:
        """The slope that explains the outcomes best, not far from the usual one."""
        seen = np.isfinite(outcomes)
        bad = outcomes[seen] > 0
        each = np.ones(len(bad)) if weights is None else weights[seen] / weights[seen].mean()

        def loss(log_slope: float) -> float:
            right = _with_total(self.slope * np.exp(log_slope) * odds, total)[seen]
            likelihood = np.clip(np.where(bad, right, 1 - right), 1e-12, 1.0)
            return float((log_slope / _SLOPE_SPREAD) ** 2 / 2 - (each * np.log(likelihood)).sum())

        return float(self.slope * np.exp(minimize_scalar(loss, bounds=(-2.0, 2.0), method="bounded").x))


def shifted(wrong: Floats, total: float) -> Floats:
    """The same probabilities, their log odds all shifted alike such that they sum to a total."""
    return _with_total(np.asarray(logit(np.clip(wrong, _LEAST, 1 - _LEAST)), dtype=np.float64), total)


def _with_total(odds: Floats, total: float) -> Floats:
    """Probabilities with these log odds, all shifted alike, such that they sum to a total (or to as near as can be)."""
    if total >= len(odds):
        return np.ones(len(odds))
    if total <= float(expit(odds - _FARTHEST).sum()):
        return np.zeros(len(odds))
    shift = brentq(lambda a: float(expit(odds + a).sum()) - total, -_FARTHEST, _FARTHEST)
    return np.asarray(expit(odds + shift), dtype=np.float64)
