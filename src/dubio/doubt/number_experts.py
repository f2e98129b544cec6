"""Out-of-fold experts for numbers, and for numbers of which only limits are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri
from sklearn import config_context
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold, KFold

from dubio.doubt.experts import (
    MANY_FEATURES,
    ExpertOptions,
    content_order,
    fit_weighted,
    main_directions,
    relative_weights,
    varying_columns,
)
from dubio.doubt.random_trees import judge_by_trees
from dubio.problem import Problem
from dubio.progress import advance
from dubio.target.intervals import Intervals
from dubio.target.numbers import Numbers, normal_scores

Floats = NDArray[np.float64]

#: With fewer numbers, nothing can be held out.
FEWEST_NUMBERS = 10
#: A residual of more than this many robust standard deviations is a gross error.
GROSS = 2.5
#: Penalties that ridge regression tries.
_PENALTIES = np.logspace(-2, 3, 12)
#: Turns the median absolute deviation of a normal law into its standard deviation.
_MAD_TO_SD = 1.4826


class NumberOpinions(NamedTuple):
    """What the experts say about a numeric target, on the scale of normal scores."""

    scores: Floats
    """(rows,): normal scores of the given numbers; NaN for rows without a number."""
    opinions: Floats
    """(rows,): prediction for each row by experts that have not seen it."""
    gross: NDArray[np.bool_]
    """(rows,): the given number is far from the prediction."""


def number_opinions(
    problem: Problem, *, n_folds: int = 5, random_state: int | None = 0, n_jobs: int | None = None
) -> NumberOpinions:
    r"""Let trees and ridge regression predict the number of every row while it is held out.

    The experts predict normal scores, so that gross errors have little weight. Their mean is weighted by
    :math:`e^{-2}`, with :math:`e` the mean squared error of an expert on held-out rows. A given number is a gross error
    if its residual is more than 2.5 robust standard deviations (1.4826 times the median absolute deviation) from the
    median residual. The experts are trained once per problem. If rows belong together, whole groups are held out.
    """

    def train() -> NumberOpinions:
        known, scores = problem.supervision.labelled, normal_scores(problem.supervision.values)
        is_wide = problem.n_columns > MANY_FEATURES
        said = rows_by_content(problem, scores, is_wide, n_folds, random_state, n_jobs)[2](scores).values()
        row_weights = None if problem.uneven_weights is None else problem.uneven_weights[known]
        errors = [float(np.average((one - scores)[known] ** 2, weights=row_weights)) for one in said]
        weights = [max(error, 1e-12) ** -2.0 for error in errors]
        opinions = np.sum([weight / sum(weights) * one for weight, one in zip(weights, said, strict=True)], axis=0)
        residual = (scores - opinions)[known]
        spread = robust_spread(residual)
        gross = np.zeros(problem.n_rows, dtype=bool)
        gross[known] = np.abs(residual - np.median(residual)) > GROSS * spread if spread > 0 else False
        return NumberOpinions(scores, opinions, gross)

    return problem.once(("number opinions", n_folds, random_state), train)


def robust_spread(residuals: Floats) -> float:
    """1.4826 times the median distance from the median."""
    return float(_MAD_TO_SD * np.median(np.abs(residuals - np.median(residuals))))


def rows_by_content(
    problem: Problem, values: Floats, is_wide: bool, n_folds: int, random_state: int | None, n_jobs: int | None
) -> tuple[NDArray[Any], NDArray[np.int64], Callable[[Floats], dict[str, Floats]]]:
    """The table that experts of numbers see, in an order of the rows in which their place decides nothing; the order;
    and what each expert predicts (:func:`held_out_numbers`) if it learns some values of the rows."""
    table = main_directions(problem) if is_wide else varying_columns(problem.standardized_table)
    order = content_order(table, np.nan_to_num(values, nan=np.inf))
    table, back = table[order], np.argsort(order)
    facts: list[Any] = [None if one is None else one[order] for one in (problem.groups, problem.uneven_weights)]
    groups, weights = facts

    def predict(learned: Floats) -> dict[str, Floats]:
        said = held_out_numbers(table, learned[order], groups, weights, n_folds, random_state, n_jobs)
        return {name: predictions[back] for name, predictions in said.items()}

    return table, order, predict


def held_out_numbers(
    table: NDArray[Any],
    scores: Floats,
    groups: NDArray[np.int64] | None,
    weights: Floats | None,
    n_folds: int,
    random_state: int | None,
    n_jobs: int | None,
) -> dict[str, Floats]:
    """Predictions of each expert: for held-out rows from the other folds, for rows without a number from all folds."""
    known, unknown = np.flatnonzero(~np.isnan(scores)), np.flatnonzero(np.isnan(scores))
    seeds = np.random.RandomState(random_state)
    options = {"shuffle": True, "random_state": seeds.randint(2**31 - 1)}
    together = None if groups is None else groups[known]
    if together is None:
        folds = list(KFold(n_folds, **options).split(known))
    else:
        n_folds = min(n_folds, len(np.unique(together)))
        folds = list(GroupKFold(n_folds, **options).split(known, groups=together))
    there = ~np.isnan(scores)
    trees = judge_by_trees(
        table,
        scores,
        0,
        known=there,
        learned=there,
        groups=groups,
        weights=None if weights is None else relative_weights(weights),
        n_parts=n_folds,
        random_state=seeds,
        n_jobs=n_jobs,
    )[:, 0]
    ridge = np.zeros(len(scores))
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for done, (training, held_out) in enumerate(folds):
            rows, asked = known[training], np.concatenate([known[held_out], unknown])
            own = None if weights is None else weights[rows]
            predicted = fit_weighted(RidgeCV(_PENALTIES), table[rows], scores[rows], own, done).predict(table[asked])
            ridge[known[held_out]] = predicted[: len(held_out)]
            ridge[unknown] += predicted[len(held_out) :] / n_folds
            advance("experts", done + 1, n_folds)
    return {"trees": trees, "ridge": ridge}


#: When the estimate of the distribution stops: after so many steps, or if no probability changes by more than this.
_STEPS, _TOLERANCE = 500, 1e-7


def interval_places(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    r"""The share of all rows below the limits of each row, by Turnbull's estimate of the distribution.

    The probabilities :math:`p_m` of all limits (and of something below and above them) are the fixed point of
    :math:`p_m = \frac{1}{n} \sum_i 1[m \in I_i]\, p_m / P(I_i)` (Turnbull 1976), where :math:`I_i` are the points
    inside the interval of row :math:`i`. If all numbers are known, the middle of both places is the mid-rank
    :math:`(r_i - 1/2) / n`.

    >>> import numpy as np
    >>> from dubio.doubt.number_experts import interval_places
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
    known = cast(Intervals, problem.supervision)
    rows, exact = known.labelled, known.exact
    below, upto = interval_places(known.low[rows], known.high[rows])
    low, high = np.full(known.n_rows, -np.inf), np.full(known.n_rows, np.inf)
    low[rows], high[rows] = ndtri(below), ndtri(upto)
    inside = truncated_mean(np.zeros(len(below)), 1.0, low[rows], high[rows])
    values = np.full(known.n_rows, np.nan)
    values[rows] = np.where(exact[rows], ndtri((below + upto) / 2), inside)
    if known.n_labelled < FEWEST_NUMBERS:
        return values
    found = number_opinions(problem.with_supervision(Numbers(labelled=rows, values=values)), **options.for_numbers)
    trusted = exact if exact.sum() >= FEWEST_NUMBERS else rows
    spread = max(float(np.std((values - found.opinions)[trusted])), 1e-3)
    inside = truncated_mean(found.opinions, spread, low, high)
    return np.where(exact, values, np.where(rows, inside, found.opinions))
