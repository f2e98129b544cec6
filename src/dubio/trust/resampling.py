"""Stability of a selection: fits on resampled rows, labels or pairs, and what changes between them."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from sklearn.base import clone

from dubio.checks import Interval, check_parameters, require_choice, seed_of
from dubio.errors import InputError, InputTypeError, counted
from dubio.kernels.threads import resolve_threads
from dubio.problem import Problem
from dubio.progress import advance, listener_of, listening
from dubio.ranking import default_names, rank_scores
from dubio.table.matrix import array_of_names, column_names, is_dask
from dubio.table.rows import groups_of_rows, most_frequent_codes, number_of_rows, read_groups, some_rows
from dubio.target.knowledge import Supervision
from dubio.target.pairs import Pairs
from dubio.target.reader import read_supervision
from dubio.trust.forecast import Forecast, forecast_of
from dubio.words import Note, note, paragraph, say, sentence

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Resample = Literal["auto", "bootstrap", "subsample", "labels", "pairs"]
#: Share of the rows in a subsample: the same as the share of distinct rows in a bootstrap sample.
_SHARE = 0.632
#: What can be drawn; and of draws of rows, the share of different rows in them (None: with replacement).
_DRAWN = ("bootstrap", "subsample", "labels", "pairs")
_SHARES = {"bootstrap": None, "subsample": _SHARE}
#: Features shown in a notebook.
_SHOWN = 20
#: Valid values of the parameters that are not checked elsewhere.
_VALID: dict[str, list[Any]] = {
    "n_draws": [Interval(Integral, 2, None, closed="left")],
    "confidence": [Interval(Real, 0, 1, closed="neither")],
}


class NogueiraIndex(NamedTuple):
    """Agreement of subsets, with an asymptotic interval for infinitely many subsets drawn in the same way."""

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
        Share of the draws that kept the feature. Resamples share rows, and have fewer different ones than the table: a
        fresh sample may keep a feature more often, or less.
    index : NogueiraIndex or None
        Agreement of the resamples. 1: always the same features; 0: no more similar than by chance. That of fresh
        samples is mostly lower. None if nothing was kept.
    forecast : Forecast or None
        What fresh samples of the same size will keep (:func:`dubio.trust.forecast.forecast_of`). None if nothing was
        kept, or if no rows were drawn.
    resample : str
        What was resampled.
    confidence : float
    """

    names: NDArray[Any]
    rankings: Rows
    selected: NDArray[np.bool_]
    rank_low: NDArray[np.float64]
    rank_median: NDArray[np.float64]
    rank_high: NDArray[np.float64]
    frequency: NDArray[np.float64]
    index: NogueiraIndex | None
    resample: str
    confidence: float
    forecast: Forecast | None = None

    def to_frame(self) -> Any:
        """One row per feature, those kept most often first (needs pandas)."""
        import pandas as pd

        fields = ("rank_low", "rank_median", "rank_high", "frequency")
        table = pd.DataFrame({"feature": self.names, **{name: getattr(self, name) for name in fields}})
        if self.forecast is not None:
            table["fresh"] = self.forecast.frequency
        return table.iloc[self._most_often_first].reset_index(drop=True)

    @property
    def _most_often_first(self) -> NDArray[np.intp]:
        return np.lexsort((self.rank_median, -self.frequency))

    def __repr__(self) -> str:
        often, draws = int((self.frequency > 0.5).sum()), len(self.rankings)
        if not self.selected.any():
            return f"<Stability over {draws} draws: nothing kept in any of them>"
        features = counted(len(self.names), "feature")
        agree = "" if self.index is None else f"agreement of resamples {self.index.value:.2f}, "
        return f"<Stability over {draws} draws: {agree}{often} of {features} kept in most of them>"

    def __str__(self) -> str:
        facts: dict[str, Any] = {"resampled": say(f"resampled {self.resample}"), "draws": len(self.rankings)}
        if self.index is None:
            return sentence(note("never kept", **facts))
        often = [
            f"{self.names[j]} ({100 * self.frequency[j]:.0f} %)"
            for j in self._most_often_first
            if self.frequency[j] > 0.5
        ]
        kept = note("often kept", n=len(often), of=len(self.names), names=often) if often else note("seldom kept")
        return paragraph([self.agreement(), kept])

    def agreement(self) -> Note:
        """How far selections agree: those of fresh samples, if resamples show it; else those of the resamples."""
        assert self.index is not None
        if self.forecast is None:
            facts: dict[str, Any] = {"resampled": say(f"resampled {self.resample}"), "draws": len(self.rankings)}
            facts["agreement"] = f"{round(self.index.value, 2) + 0.0:.2f}"  # never "-0.00"
            return note("agreement of resamples", **facts)
        shares = {"forecast": self.forecast.agreement, "low": self.forecast.low, "high": self.forecast.high}
        shares["chance"] = float(self.forecast.frequency.mean())
        return note("forecast", **{name: 100 * share for name, share in shares.items()})

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
    given: Any = None,
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
    given : str, int, a list of these, or a table (n_rows, any), optional
        Columns that are known already, for a :class:`~dubio.FeatureSelector`. They are always kept, and do not count in
        the index.

    Returns
    -------
    Stability
        Ranks and frequencies, the agreement of the resamples, and a forecast for fresh samples.

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
        remedy = "give a selector of dubio, or one with scikit-learn's fit and get_support"
        raise InputTypeError("selector", f"is {selector!r}", remedy)
    options: dict[str, Any] = {"n_draws": n_draws, "resample": resample, "confidence": confidence}
    options |= {"random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    pairs = {"must_link": must_link, "cannot_link": cannot_link}
    if is_dask(X):
        X, y = X.compute(), y.compute() if is_dask(y) else y
    if hasattr(selector, "read_problem"):
        facts = {
            name: value for name, value in {**pairs, "groups": groups, "given": given}.items() if value is not None
        }
        return problem_stability(selector, selector.read_problem(X, y, **facts), **options)
    if given is not None:
        raise InputError("given", f"cannot be used by {type(selector).__name__}", "use FeatureSelector")
    n_rows, names = number_of_rows(X), column_names(X)
    # for selectors of other libraries -1 is an ordinary class
    supervision = read_supervision(y, n_rows, target="auto", missing_label=None, **pairs)
    labels = default_names(np.shape(X)[1]) if names is None else array_of_names(names)
    return _stability(partial(_fit_arrays, selector, X, y), supervision, read_groups(groups, n_rows), labels, **options)


def problem_stability(selector: Any, problem: Problem, **options: Any) -> Stability:
    """The same as :func:`stability`, for a selector of dubio and a problem; the options are the same."""
    names = default_names(problem.n_features) if problem.names is None else array_of_names(problem.names)
    names, facts = names[: problem.n_own], (problem.supervision, problem.groups)
    judged = problem.is_judged[: problem.n_own]
    return _stability(partial(_fit_problem, selector, problem), *facts, names, judged=judged, **options)


def _stability(
    fit: Callable[[str, Rows | None, Supervision], Any],
    supervision: Supervision,
    groups: Rows | None,
    names: NDArray[Any],
    *,
    judged: NDArray[np.bool_] | slice = slice(None),
    n_draws: int = 50,
    resample: Resample = "auto",
    confidence: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Stability:
    check_parameters(_VALID, {"n_draws": n_draws, "confidence": confidence})
    kind = _resolve(resample, supervision)
    seeds = np.random.SeedSequence(seed_of(random_state)).spawn(n_draws)
    work = joblib.Parallel(n_jobs=min(resolve_threads(n_jobs), n_draws), return_as="generator")(
        joblib.delayed(_fit_draw)(fit, supervision, groups, kind, seed) for seed in seeds
    )
    fitted = []
    with listening(listener_of(progress, of="resamples")):
        for one in work:
            fitted.append(one)
            advance("resamples", len(fitted), n_draws)
    rankings, selected = (np.array([one[part] for one in fitted]) for part in (0, 1))
    statistics, scores = (_of_all([one[part] for one in fitted]) for part in (2, 3))
    tail = (1 - confidence) / 2
    low, median, high = np.quantile(rankings, [tail, 0.5, 1 - tail], axis=0)
    among = selected[:, judged]
    index = nogueira_index(among, confidence=confidence) if selected.any() else None
    frequency, forecast = selected.mean(axis=0), None
    if selected.any() and kind in _SHARES:
        of_judged = [None if one is None else one[:, judged] for one in (statistics, scores)]
        n_given = selected.shape[1] - among.shape[1]  # these come first
        found = forecast_of(among, rankings[:, judged] - n_given, _SHARES[kind], *of_judged)
        fresh = np.array(frequency)
        fresh[judged] = found.frequency
        forecast = found._replace(frequency=fresh)
    return Stability(names, rankings, selected, low, median, high, frequency, index, kind, confidence, forecast)


def nogueira_index(selected: ArrayLike, *, confidence: float = 0.95) -> NogueiraIndex:
    r"""Stability of M subsets of d features, corrected for chance, with a confidence interval [1]_.

    .. math:: \Phi = 1 - \frac{\frac1d \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
              {\frac{\bar k}{d} (1 - \frac{\bar k}{d})},

    where :math:`\hat p_f` is the share of subsets with feature f and :math:`\bar k` is the mean size. If every subset
    has all features, nothing can vary, and the index is 1. If none has any, there is nothing to compare: an error.

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
    if not Z.any():
        raise InputError("selected", "keeps no feature in any subset", "there is nothing to compare")
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


def _resolve(resample: str, supervision: Supervision) -> str:
    """The kind of draw; raises if there is nothing of this kind to draw."""
    require_choice("resample", resample, ("auto", *_DRAWN))
    if resample == "auto":
        return "pairs" if supervision.has_pairs else supervision.resample
    if resample == "labels" and supervision.resample != "labels":
        raise InputError("resample", "='labels' draws classes from probabilities, but y holds none")
    if resample == "pairs" and not supervision.has_pairs:
        raise InputError("resample", "='pairs' draws from the pairs, but no pairs are given")
    if resample in ("bootstrap", "subsample") and supervision.has_pairs:
        found = f"={resample!r} draws rows, but pairs name rows by their position"
        raise InputError("resample", found, "use resample='pairs'")
    return resample


def _fit_draw(
    fit: Callable[[str, Rows | None, Supervision], Any],
    supervision: Supervision,
    groups: Rows | None,
    kind: str,
    seed: np.random.SeedSequence,
) -> tuple[Rows, NDArray[np.bool_], Floats | None, Floats | None]:
    """The ranking of a selector fitted to one draw, what it keeps, the statistics of the tests that decide so, and its
    scores, of which high ones are good."""
    rng, rows = np.random.default_rng(seed), None
    if kind == "labels":
        supervision = supervision.drawn(rng)
    elif kind == "pairs":
        kinds = (supervision.pairs.must_link, supervision.pairs.cannot_link)
        pairs = [rng.choice(one, len(one)) if len(one) else one for one in kinds]  # a pair drawn twice counts once
        supervision = replace(supervision, pairs=Pairs(*(np.unique(one, axis=0) for one in pairs)))
    else:
        rows = _draw_rows(supervision.strata, groups, kind == "bootstrap", rng)
    fitted = fit(kind, rows, supervision)
    support, statistics = np.asarray(fitted.get_support(), dtype=bool), None
    if hasattr(fitted, "to_ranking"):  # a feature that is only handed on is not kept
        ranking = fitted.to_ranking().without_handed_on()
        support = ranking.support
        if ranking.n_relevant == ranking.n_kept and "pvalue" in ranking.extras and ranking.about_truth is None:
            # tests of the given labels alone decide what is kept
            statistics = norm.isf(np.maximum(ranking.extras["pvalue"], 1e-300) / 2)
    scores = getattr(fitted, "scores_", None)
    if scores is not None:
        scores = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf)
    if getattr(fitted, "ranking_", None) is not None:
        ranks = np.asarray(fitted.ranking_)
        if scores is not None and scores[ranks.argmin()] < scores[ranks.argmax()]:  # low ones are good
            scores = -scores
        return ranks, support, statistics, scores
    ranks = np.where(support, 1, 2) if scores is None else rank_scores(scores, lower_is_better=False)
    return ranks, support, statistics, scores


def _of_all(values: list[Floats | None]) -> Floats | None:
    """The values of all draws; None if one has none."""
    return None if any(one is None for one in values) else np.array(values)


def _fit_problem(selector: Any, problem: Problem, kind: str, rows: Rows | None, supervision: Supervision) -> Any:
    drawn = problem.with_supervision(supervision) if rows is None else problem.rows(rows)
    return clone(selector).fit_problem(replace(drawn, is_resample=True))


def _fit_arrays(selector: Any, X: Any, y: Any, kind: str, rows: Rows | None, drawn: Supervision) -> Any:
    """Fit a selector of another library, which reads each draw itself."""
    if rows is not None:
        return clone(selector).fit(some_rows(X, rows), None if y is None else some_rows(y, rows))
    if kind == "pairs":
        return clone(selector).fit(X, y, must_link=drawn.pairs.must_link, cannot_link=drawn.pairs.cannot_link)
    labels = np.full(drawn.n_rows, None, dtype=object)
    labels[drawn.labelled] = drawn.classes[drawn.codes[drawn.labelled]].tolist()
    return clone(selector).fit(X, labels)


def _draw_rows(strata: Rows, groups: Rows | None, bootstrap: bool, rng: np.random.Generator) -> Rows:
    """Draw rows separately within each class, so that no class is lost, and among the unlabelled rows.

    If rows belong together, draw whole groups, by the most frequent class of each.
    """
    strata = strata if groups is None else most_frequent_codes(strata, groups)
    drawn = []
    for value in np.unique(strata):
        units = np.flatnonzero(strata == value)
        size = len(units) if bootstrap else max(1, round(_SHARE * len(units)))
        drawn.append(rng.choice(units, size, replace=bootstrap))
    found = np.sort(np.concatenate(drawn))
    if groups is None:
        return found
    order, starts, sizes = groups_of_rows(groups)
    return np.sort(np.concatenate([order[starts[g] : starts[g] + sizes[g]] for g in found]))
