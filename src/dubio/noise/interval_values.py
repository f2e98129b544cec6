"""Intervals and censored numbers completed by experts: a value for every row, kept inside its limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri

from dubio.noise.number_experts import FEWEST_NUMBERS, number_opinions
from dubio.noise.opinions import ExpertOptions
from dubio.problem import Problem
from dubio.supervision import Intervals, Numbers

Floats = NDArray[np.float64]

#: When the estimate of the distribution stops: after so many steps, or if no probability changes by more than this.
_STEPS, _TOLERANCE = 500, 1e-7


def interval_places(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    r"""The share of all rows below the limits of each row, by Turnbull's estimate of the distribution.

    The probabilities :math:`p_m` of all limits (and of something below and above them) are the fixed point of
    :math:`p_m = \frac{1}{n} \sum_i 1[m \in I_i]\, p_m / P(I_i)` (Turnbull 1976), where :math:`I_i` are the points
    inside the interval of row :math:`i`. If all numbers are known, the middle of both places is the mid-rank
    :math:`(r_i - 1/2) / n`.

    >>> import numpy as np
    >>> from dubio.noise.interval_values import interval_places
    >>> below, upto = interval_places(np.array([1.0, 2.0, 3.0]), np.array([1.0, np.inf, 3.0]))
    >>> below.round(2), upto.round(2)  # the censored row shares the place above 2 with the row at 3
    (array([0.  , 0.33, 0.33]), array([0.33, 1.  , 1.  ]))
    """
    points = np.unique(np.concatenate([low, high, [-np.inf, np.inf]]))
    exact = low == high
    start = np.where(exact | np.isneginf(low), np.searchsorted(points, low), np.searchsorted(points, low, side="right"))
    stop = np.searchsorted(points, high, side="right")
    n, m = len(low), len(points)
    p = np.full(m, 1.0 / m)
    for _ in range(_STEPS):
        total = np.append(0.0, np.cumsum(p))
        share = 1.0 / np.maximum(total[stop] - total[start], 1e-300)
        change = np.bincount(start, share, minlength=m + 1) - np.bincount(stop, share, minlength=m + 1)
        new = p * np.cumsum(change[:m]) / n
        moved = float(np.abs(new - p).max())
        p = new / new.sum()
        if moved < _TOLERANCE:
            break
    total = np.append(0.0, np.cumsum(p))
    return total[start], np.minimum(total[stop], 1.0)


def truncated_mean(mean: Floats, spread: float, low: Floats, high: Floats) -> Floats:
    r"""The mean of a normal law between two limits: :math:`\mu + \sigma (\phi(a) - \phi(b)) / (\Phi(b) - \Phi(a))`."""
    a, b = (low - mean) / spread, (high - mean) / spread
    flip = a > 0  # work in the lower tail, where small probabilities keep their digits
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    log_mass = log_ndtr(b) + np.log1p(-np.exp(np.minimum(log_ndtr(a) - log_ndtr(b), -1e-15)))
    root = 0.5 * np.log(2 * np.pi)
    with np.errstate(invalid="ignore", over="ignore"):
        shift = np.exp(-(a**2) / 2 - root - log_mass) - np.exp(-(b**2) / 2 - root - log_mass)
    found = mean + spread * np.where(flip, -shift, shift)
    return np.clip(np.where(np.isfinite(found), found, np.clip(mean, low, high)), low, high)


def completed_values(problem: Problem, options: ExpertOptions) -> Floats:
    """A value of every row on the scale of normal scores: inside its limits, and near the experts' prediction.

    First every row gets the mean of a normal law between its limits. Experts learn these values and predict every row
    while it is held out. Then a row with limits gets the mean of a normal law around its prediction, between its
    limits. A row without limits gets the prediction, and a known number stays. With too few rows for experts, the first
    values stay.
    """
    known = problem.supervision
    assert isinstance(known, Intervals)
    rows = known.labelled
    below, upto = interval_places(known.low[rows], known.high[rows])
    low, high = np.full(known.n_rows, -np.inf), np.full(known.n_rows, np.inf)
    low[rows], high[rows] = ndtri(below), ndtri(upto)
    exact = known.exact
    values = np.full(known.n_rows, np.nan)
    values[rows] = truncated_mean(np.zeros(len(below)), 1.0, low[rows], high[rows])
    middle = np.full(known.n_rows, np.nan)
    middle[rows] = ndtri((below + upto) / 2)
    values[exact] = middle[exact]
    if known.n_labelled < FEWEST_NUMBERS:
        return values
    first = Numbers(n_rows=known.n_rows, labelled=rows, values=values)
    asked = problem.with_supervision(first)
    found = number_opinions(asked, n_folds=options.n_folds, random_state=options.random_state, n_jobs=options.n_jobs)
    trusted = exact if exact.sum() >= FEWEST_NUMBERS else rows
    spread = max(float(np.std((values - found.opinions)[trusted])), 1e-3)
    inside = truncated_mean(found.opinions, spread, low, high)
    return np.where(exact, values, np.where(rows, inside, found.opinions))
