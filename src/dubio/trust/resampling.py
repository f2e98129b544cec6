"""How stable a selection is: fit again on resampled rows, labels or pairs, and see what changes."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from sklearn.base import clone

from dubio.checks import Interval, check_parameters, seed_of
from dubio.errors import InputError, InputTypeError, counted, listed, require_choice
from dubio.kernels.threads import resolve_threads
from dubio.problem import Problem
from dubio.progress import advance, listener_of, listening
from dubio.ranking import default_names, rank_scores
from dubio.table.columns import array_of_names, column_names
from dubio.table.matrix import is_dask
from dubio.table.rows import groups_of_rows, most_frequent_codes, read_groups, some_rows
from dubio.target.classes import Memberships
from dubio.target.knowledge import Supervision
from dubio.target.pairs import Pairs
from dubio.target.reader import read_supervision

Resample = Literal["auto", "bootstrap", "subsample", "labels", "pairs"]
#: Share of the rows in a subsample: the same as the share of distinct rows in a bootstrap sample.
_SHARE = 0.632
#: What is drawn, in words.
_DRAWN = {"bootstrap": "rows (bootstrap)", "subsample": "rows", "labels": "labels", "pairs": "pairs"}
#: Features shown in a notebook.
_SHOWN = 20
#: Valid values of the parameters that are not checked elsewhere.
_VALID: dict[str, list[Any]] = {
    "n_draws": [Interval(Integral, 2, None, closed="left")],
    "confidence": [Interval(Real, 0, 1, closed="neither")],
}


class NogueiraIndex(NamedTuple):
    """Stability of subsets, with a confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Stability:
    """The result of :func:`stability`.

    Attributes
    ----------
    names : array (n_features,)
    rankings : array (n_draws, n_features) of int
        Rank of each feature in each draw.
    selected : array (n_draws, n_features) of bool
        Whether the feature was kept in the draw.
    rank_low, rank_median, rank_high : array (n_features,)
        Quantiles of the ranks; a share ``confidence`` of the draws lies between low and high.
    frequency : array (n_features,)
        Share of the draws that kept the feature.
    index : NogueiraIndex
        1: always the same features; 0: no more similar than by chance.
    resample : str
        What was resampled.
    confidence : float
    """

    names: NDArray[Any]
    rankings: NDArray[np.int64]
    selected: NDArray[np.bool_]
    rank_low: NDArray[np.float64]
    rank_median: NDArray[np.float64]
    rank_high: NDArray[np.float64]
    frequency: NDArray[np.float64]
    index: NogueiraIndex
    resample: str
    confidence: float

    def to_frame(self) -> Any:
        """One row per feature, those kept most often first (needs pandas)."""
        import pandas as pd

        table = pd.DataFrame(
            {
                "feature": self.names,
                "rank_low": self.rank_low,
                "rank_median": self.rank_median,
                "rank_high": self.rank_high,
                "frequency": self.frequency,
            }
        )
        return table.iloc[self._most_often_first].reset_index(drop=True)

    @property
    def _most_often_first(self) -> NDArray[np.intp]:
        return np.lexsort((self.rank_median, -self.frequency))

    def __repr__(self) -> str:
        often, draws = int((self.frequency > 0.5).sum()), len(self.rankings)
        features = counted(len(self.names), "feature")
        return f"<Stability {self.index.value:.2f} over {draws} draws: {often} of {features} kept in most of them>"

    def __str__(self) -> str:
        index, order = self.index, self._most_often_first
        often = [f"{self.names[j]} ({100 * self.frequency[j]:.0f} %)" for j in order if self.frequency[j] > 0.5]
        return (
            f"Stability {index.value:.2f} ({index.low:.2f} to {index.high:.2f}) over {len(self.rankings)} draws of "
            f"{_DRAWN[self.resample]}; 1 is always the same features, 0 is chance. "
            f"Kept in most draws, {len(often)} of {counted(len(self.names), 'feature')}: {listed(often) or 'none'}."
        )

    def _repr_html_(self) -> str:
        table = self.to_frame()
        shown = table.head(_SHOWN).round(2).to_html(index=False, border=0)
        more = f"<p>and {len(table) - _SHOWN} more</p>" if len(table) > _SHOWN else ""
        return f"<p>{html.escape(str(self))}</p>{shown}{more}"


def stability(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    n_draws: int = 50,
    resample: Resample = "auto",
    confidence: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    must_link: Any = None,
    cannot_link: Any = None,
    groups: Any = None,
) -> Stability:
    """Fit a selector on resampled versions of the data, to see how ranks vary and how often a feature is kept.

    Parameters
    ----------
    selector : estimator
        Any selector of dubio, or one with scikit-learn's ``get_support``; it is cloned, the given object is never
        fitted. If a selector has no ``ranking_``, its ``scores_`` are ranked (the highest is best). If it has neither,
        the features it keeps get rank 1 and all others rank 2.
    X, y, must_link, cannot_link
        The data for ``fit``.
    n_draws : int
        Number of fits.
    resample : {"auto", "bootstrap", "subsample", "labels", "pairs"}
        What is drawn in each fit. "bootstrap": rows with replacement, separately within each class and among rows
        without a label. "subsample": 63.2 % of the rows without replacement, in the same way. "labels": a class for
        every row, from its probabilities. "pairs": pairs with replacement. "auto": "labels" if y holds probabilities,
        "pairs" if there are pairs, otherwise "subsample". (In a bootstrap, copies of a row are its nearest neighbours;
        then methods that use neighbours overrate irrelevant features.)
    confidence : float
        Confidence level of the intervals.
    random_state : int, RandomState or None
        Each draw has its own seed, so that ``n_jobs`` does not change the result.
    n_jobs : int, optional
        Number of draws fitted at the same time (joblib).
    progress : bool or callable
        True shows the progress on standard error; a callable gets (draws done, draws in total).
    groups : array-like (n_rows,), optional
        Which rows belong together: "bootstrap" and "subsample" then draw whole groups, and a selector of dubio gets
        them too. A group that is drawn twice is still one group.

    Returns
    -------
    Stability
        Ranks and frequencies with their intervals, and the stability index.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FisherScore, stability
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> sure = stability(FisherScore(n_features_to_select=2), X, y, n_draws=20)
    >>> sure.frequency
    array([0., 0., 1., 1.])
    >>> sure.index.value
    1.0
    """
    is_one = hasattr(selector, "get_support") and hasattr(selector, "fit")
    if not is_one or isinstance(selector, type):
        raise InputTypeError(
            "selector", f"is {selector!r}", "give a selector of dubio, or one with scikit-learn's fit and get_support"
        )
    draws: _Draws
    if is_dask(X):
        X, y = X.compute(), y.compute() if is_dask(y) else y
    if hasattr(selector, "read_problem"):
        more = {"must_link": must_link, "cannot_link": cannot_link, "groups": groups}
        given = {name: value for name, value in more.items() if value is not None}
        draws = _ProblemDraws(selector, selector.read_problem(X, y, **given))
    else:
        draws = _ArrayDraws(selector, X, y, must_link, cannot_link, groups)
    return stability_of(
        draws,
        n_draws=n_draws,
        resample=resample,
        confidence=confidence,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )


def problem_stability(selector: Any, problem: Problem, **options: Any) -> Stability:
    """The same as :func:`stability`, for a selector of dubio and a problem; the options are the same."""
    return stability_of(_ProblemDraws(selector, problem), **options)


def stability_of(
    draws: _Draws,
    *,
    n_draws: int = 50,
    resample: Resample = "auto",
    confidence: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Stability:
    """The same as :func:`stability`, for draws of any kind."""
    check_parameters(_VALID, {"n_draws": n_draws, "confidence": confidence})
    workers = min(resolve_threads(n_jobs), n_draws)
    kind = _resolve(resample, draws.supervision)
    seeds = np.random.SeedSequence(seed_of(random_state)).spawn(n_draws)
    work = joblib.Parallel(n_jobs=workers, return_as="generator")(joblib.delayed(draws)(kind, seed) for seed in seeds)
    rankings, selected = [], []
    with listening(listener_of(progress, of="resamples")):
        for done, fitted in enumerate(work, start=1):
            ranking, support = fitted
            rankings.append(ranking)
            selected.append(support)
            advance("resamples", done, n_draws)
    return _summary(draws.names, np.array(rankings), np.array(selected), kind, confidence)


def nogueira_index(selected: ArrayLike, *, confidence: float = 0.95) -> NogueiraIndex:
    r"""Stability of M subsets of d features, corrected for chance, with a confidence interval [1]_.

    .. math:: \Phi = 1 - \frac{\frac1d \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
              {\frac{\bar k}{d} (1 - \frac{\bar k}{d})},

    where :math:`\hat p_f` is the share of subsets with feature f and :math:`\bar k` is the mean size. If every subset
    has all features, or none has any, nothing can vary, and the index is 1.

    Parameters
    ----------
    selected : array-like (M, d) of bool
    confidence : float

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis and G. Brown (2018). On the stability of feature selection algorithms. Journal of
       Machine Learning Research 18.

    Examples
    --------
    >>> from dubio.trust.resampling import nogueira_index
    >>> round(nogueira_index([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).value, 3)
    0.333
    """
    Z = np.asarray(selected, dtype=np.float64)
    if Z.ndim != 2 or len(Z) < 2 or Z.shape[1] == 0:
        raise InputError("selected", f"has shape {Z.shape}", "give one row for each of two or more subsets")
    if not np.isin(Z, (0.0, 1.0)).all():
        raise InputError("selected", "holds values other than True and False")
    M, d = Z.shape
    share = Z.mean(axis=0)
    sizes = Z.sum(axis=1)
    fill = sizes.mean() / d
    chance = fill * (1 - fill)
    if chance == 0:
        return NogueiraIndex(1.0, 1.0, 1.0)
    value = 1 - (M / (M - 1) * share * (1 - share)).mean() / chance
    # asymptotic variance: theorem 7 of the paper
    phi = (Z @ share / d - sizes * fill / d + value / 2 * (2 * fill * sizes / d - sizes / d - fill + 1)) / chance
    spread = np.sqrt(4 / M**2 * ((phi - phi.mean()) ** 2).sum()) * norm.ppf(0.5 + confidence / 2)
    return NogueiraIndex(float(value), float(value - spread), float(min(value + spread, 1.0)))


class _Draws(ABC):
    """Fits of a selector on resampled data."""

    names: NDArray[Any]
    supervision: Supervision

    def __call__(self, kind: str, seed: np.random.SeedSequence) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        fitted = self.fitted(kind, np.random.default_rng(seed))
        support = np.asarray(fitted.get_support(), dtype=bool)
        if hasattr(fitted, "to_ranking"):  # a feature that is only handed on is not kept
            support = fitted.to_ranking().without_handed_on().support
        return _ranking_of(fitted, support), support

    @abstractmethod
    def fitted(self, kind: str, rng: np.random.Generator) -> Any:
        """A clone of the selector, fitted on one draw."""


class _ProblemDraws(_Draws):
    """Draws for a selector of dubio: the data are read once, and each draw is a new problem."""

    def __init__(self, selector: Any, problem: Problem) -> None:
        self._selector, self._problem = selector, problem
        self.supervision = problem.supervision
        self.names = default_names(problem.n_features)
        if problem.names is not None:
            self.names = array_of_names(problem.names)

    def fitted(self, kind: str, rng: np.random.Generator) -> Any:
        known, problem = self.supervision, self._problem
        if kind == "labels":
            assert isinstance(known, Memberships)
            problem = problem.with_supervision(known.drawn(rng))
        elif kind == "pairs":
            problem = problem.with_supervision(replace(known, pairs=_draw_pairs(known.pairs, rng)))
        else:
            problem = problem.rows(_draw_rows(known, problem.groups, kind, rng))
        return clone(self._selector).fit_problem(problem)


class _ArrayDraws(_Draws):
    """Draws for any other selector, which reads each draw itself."""

    def __init__(self, selector: Any, X: Any, y: Any, must_link: Any, cannot_link: Any, groups: Any) -> None:
        self._selector, self._X, self._y = selector, X, y
        n_rows = len(X) if hasattr(X, "__len__") and not hasattr(X, "shape") else X.shape[0]
        # For selectors of other libraries -1 is an ordinary class.
        self.supervision = read_supervision(
            y, n_rows, target="auto", missing_label=None, must_link=must_link, cannot_link=cannot_link
        )
        self._groups = read_groups(groups, n_rows)
        names = column_names(X)
        n_features = np.shape(X)[1] if names is None else len(names)
        self.names = default_names(n_features) if names is None else array_of_names(names)

    def fitted(self, kind: str, rng: np.random.Generator) -> Any:
        known, fresh = self.supervision, clone(self._selector)
        if kind == "labels":
            assert isinstance(known, Memberships)
            drawn = known.drawn(rng)
            labels = np.full(drawn.n_rows, None, dtype=object)
            labels[drawn.labelled] = drawn.classes[drawn.codes[drawn.labelled]].tolist()
            return fresh.fit(self._X, labels)
        if kind == "pairs":
            pairs = _draw_pairs(known.pairs, rng)
            return fresh.fit(self._X, self._y, must_link=pairs.must_link, cannot_link=pairs.cannot_link)
        rows = _draw_rows(known, self._groups, kind, rng)
        return fresh.fit(some_rows(self._X, rows), None if self._y is None else some_rows(self._y, rows))


def _draw_pairs(pairs: Pairs, rng: np.random.Generator) -> Pairs:
    """Draw as many pairs of each kind, with replacement; a pair drawn twice counts once."""
    kinds = [rng.choice(kind, len(kind)) if len(kind) else kind for kind in (pairs.must_link, pairs.cannot_link)]
    return Pairs(*(np.unique(kind, axis=0) for kind in kinds))


def _ranking_of(fitted: Any, support: NDArray[np.bool_]) -> NDArray[np.int64]:
    ranking = getattr(fitted, "ranking_", None)
    if ranking is not None:
        return np.asarray(ranking)
    scores = getattr(fitted, "scores_", None)
    if scores is None:
        return np.where(support, 1, 2)
    return rank_scores(np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf), lower_is_better=False)


def _draw_rows(
    supervision: Supervision, groups: NDArray[np.int64] | None, kind: str, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw rows separately within each class, so that no class is lost, and among the unlabelled rows.

    If rows belong together, draw whole groups, by the most frequent class of each.
    """
    if groups is not None:
        drawn = _draw_units(most_frequent_codes(supervision.strata, groups), kind, rng)
        order, starts, sizes = groups_of_rows(groups)
        return np.sort(np.concatenate([order[starts[g] : starts[g] + sizes[g]] for g in drawn]))
    return _draw_units(supervision.strata, kind, rng)


def _draw_units(stratum: NDArray[np.int64], kind: str, rng: np.random.Generator) -> NDArray[np.int64]:
    parts = []
    for value in np.unique(stratum):
        rows = np.flatnonzero(stratum == value)
        size = len(rows) if kind == "bootstrap" else max(1, round(_SHARE * len(rows)))
        parts.append(rng.choice(rows, size, replace=kind == "bootstrap"))
    return np.sort(np.concatenate(parts))


def _resolve(resample: str, supervision: Supervision) -> str:
    require_choice("resample", resample, ("auto", "bootstrap", "subsample", "labels", "pairs"))
    if resample == "auto":
        if supervision.has_pairs:
            return "pairs"
        return "labels" if supervision.kind == "soft" else "subsample"
    if resample == "labels" and supervision.kind != "soft":
        raise InputError("resample", "='labels' draws classes from probabilities, but y holds none")
    if resample == "pairs" and not supervision.has_pairs:
        raise InputError("resample", "='pairs' draws from the pairs, but no pairs are given")
    if resample in ("bootstrap", "subsample") and supervision.has_pairs:
        raise InputError(
            "resample", f"={resample!r} draws rows, but pairs name rows by their position", "use resample='pairs'"
        )
    return resample


def _summary(
    names: NDArray[Any], rankings: NDArray[np.int64], selected: NDArray[np.bool_], kind: str, confidence: float
) -> Stability:
    tail = (1 - confidence) / 2
    low, median, high = np.quantile(rankings, [tail, 0.5, 1 - tail], axis=0)
    index = nogueira_index(selected, confidence=confidence)
    return Stability(names, rankings, selected, low, median, high, selected.mean(axis=0), index, kind, confidence)
