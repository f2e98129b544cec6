"""Out-of-fold experts for a numeric target: regressors that predict rows they were not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsRegressor

from dubio.noise.experts import MANY_FEATURES, content_order, main_directions, varying_columns
from dubio.noise.weighted_fit import fit_weighted
from dubio.problem import Problem
from dubio.progress import advance
from dubio.supervision import Numbers

Floats = NDArray[np.float64]

#: With fewer numbers, nothing can be held out.
FEWEST_NUMBERS = 10
#: A residual of more than this many robust standard deviations is a gross error.
GROSS = 2.5
#: Turns the median absolute deviation of a normal law into its standard deviation.
_MAD_TO_SD = 1.4826


@dataclass(frozen=True)
class NumberOpinions:
    """What the experts say about a numeric target, on the scale of normal scores."""

    scores: Floats
    """(rows,): normal scores of the given numbers; NaN for rows without a number."""
    opinions: Floats
    """(rows,): prediction for each row by experts that have not seen it."""
    gross: NDArray[np.bool_]
    """(rows,): the given number is far from the prediction."""
    weights: dict[str, float]
    """Weight of each expert."""


def normal_scores(values: Floats) -> Floats:
    r"""Replace numbers by the normal quantiles of their ranks: :math:`\Phi^{-1}((r - 1/2) / n)`. NaN stays NaN.

    >>> import numpy as np
    >>> from dubio.noise.number_experts import normal_scores
    >>> normal_scores(np.array([1.0, 1000.0, 2.0, np.nan])).round(2)
    array([-0.97,  0.97,  0.  ,   nan])
    """
    known = ~np.isnan(values)
    scores = np.full(len(values), np.nan)
    scores[known] = ndtri((rankdata(values[known]) - 0.5) / known.sum())
    return scores


def number_opinions(
    problem: Problem, *, n_folds: int = 5, random_state: int | None = 0, n_jobs: int | None = None
) -> NumberOpinions:
    r"""Let trees, ridge regression and nearest neighbours predict the number of every row while it is held out.

    The experts predict normal scores, so that gross errors have little weight. Their mean is weighted by
    :math:`e^{-2}`, with :math:`e` the mean squared error of an expert on held-out rows. A given number is a gross error
    if its residual is more than 2.5 robust standard deviations (1.4826 times the median absolute deviation) from the
    median residual. The experts are trained once per problem. If rows belong together, whole groups are held out.
    """

    def train() -> NumberOpinions:
        supervision = problem.supervision
        assert isinstance(supervision, Numbers)
        table: NDArray[Any] = varying_columns(problem.standardized_table)
        if problem.n_columns > MANY_FEATURES:
            table = main_directions(problem, random_state)
        scores = normal_scores(supervision.values)
        order = content_order(table, np.nan_to_num(scores, nan=np.inf))  # the place of a row decides nothing
        row_groups, row_weights = problem.groups, problem.uneven_weights
        groups = None if row_groups is None else row_groups[order]
        ordered = None if row_weights is None else row_weights[order]
        said = held_out_numbers(table[order], scores[order], groups, ordered, n_folds, random_state, n_jobs)
        back = np.argsort(order)
        known = supervision.labelled
        known_weights = None if row_weights is None else row_weights[known]
        errors = {
            name: float(np.average((p[back] - scores)[known] ** 2, weights=known_weights)) for name, p in said.items()
        }
        weights = {name: max(error, 1e-12) ** -2.0 for name, error in errors.items()}
        total = sum(weights.values())
        weights = {name: weight / total for name, weight in weights.items()}
        opinions = np.sum([weights[name] * said[name] for name in said], axis=0)[back]
        residual = (scores - opinions)[known]
        residual -= np.median(residual)
        spread = _MAD_TO_SD * np.median(np.abs(residual))
        gross = np.zeros(problem.n_rows, dtype=bool)
        gross[known] = np.abs(residual) > GROSS * spread if spread > 0 else False
        return NumberOpinions(scores, opinions, gross, weights)

    return problem.once(("number opinions", n_folds, random_state), train)


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
    if groups is None:
        folds = list(KFold(n_folds, **options).split(known))
    else:
        n_folds = min(n_folds, len(np.unique(groups[known])))
        folds = list(GroupKFold(n_folds, **options).split(known, groups=groups[known]))
    makers: dict[str, Callable[[int], Any]] = {
        "trees": lambda n: ExtraTreesRegressor(
            100, min_samples_leaf=2, random_state=seeds.randint(2**31 - 1), n_jobs=n_jobs
        ),
        "ridge": lambda n: RidgeCV(np.logspace(-2, 3, 12)),
        "neighbors": lambda n: KNeighborsRegressor(min(7, n), weights="distance", n_jobs=n_jobs),
    }
    said = {name: np.zeros(len(scores)) for name in makers}
    done = 0
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for name, make in makers.items():
            for training, held_out in folds:
                rows, asked = known[training], np.concatenate([known[held_out], unknown])
                own = None if weights is None else weights[rows]
                fitted = fit_weighted(make(len(rows)), table[rows], scores[rows], own, done)
                predicted = fitted.predict(table[asked])
                said[name][known[held_out]] = predicted[: len(held_out)]
                said[name][unknown] += predicted[len(held_out) :] / n_folds
                done += 1
                advance("experts", done, len(makers) * n_folds)
    return said
