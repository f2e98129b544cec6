"""How sure a selection is: fit again on resampled rows, labels or pairs, and see what changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from dubio.ranking import default_names, rank_scores
from dubio.supervision import Supervision, read_supervision
from dubio.supervision.handover import clone_for_classes
from dubio.table import column_names

Resample = Literal["auto", "bootstrap", "subsample", "labels", "pairs"]
#: Share of the rows in a subsample: that of distinct rows in a bootstrap sample.
_SHARE = 0.632


class NogueiraIndex(NamedTuple):
    """Stability of subsets, with its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Stability:
    """What :func:`stability` found.

    Attributes
    ----------
    names : array (n_features,)
    rankings : array (n_draws, n_features) of int
        Rank of every feature in every draw.
    selected : array (n_draws, n_features) of bool
        Whether it was kept.
    rank_low, rank_median, rank_high : array (n_features,)
        Quantiles of the ranks; between low and high lies the share ``confidence`` of the draws.
    frequency : array (n_features,)
        Share of the draws that kept the feature.
    index : NogueiraIndex
        1: always the same features; 0: no more alike than chance.
    resample : str
        What was drawn anew.
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
        """One row a feature, the most often kept first (needs pandas)."""
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
        order = np.lexsort((self.rank_median, -self.frequency))
        return table.iloc[order].reset_index(drop=True)


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
) -> Stability:
    """Fit a selector on many resampled versions of the data: how far do ranks move, how often is a feature kept?

    Parameters
    ----------
    selector : estimator
        Any selector of dubio, or one with scikit-learn's ``get_support``; it is cloned, never fitted itself. Of a
        selector without ``ranking_`` the ranks are those of its ``scores_`` (the highest is best); where it has
        neither, the features it keeps have rank 1 and all others rank 2.
    X, y, must_link, cannot_link
        What it would be fitted on.
    n_draws : int
        Fits.
    resample : {"auto", "bootstrap", "subsample", "labels", "pairs"}
        What is drawn anew. "bootstrap": rows with replacement, within each class and among rows without a label.
        "subsample": 63.2 % of the rows without replacement, likewise. "labels": a class for every row from its
        probabilities. "pairs": pairs with replacement. "auto": "labels" where y holds probabilities, "pairs" where
        pairs are given, otherwise "subsample": to a method that looks at neighbours the copies of a row in a
        bootstrap are its nearest neighbours, and irrelevant features seem to matter.
    confidence : float
        Of the intervals.
    random_state : int, RandomState or None
        Every draw has a seed of its own, so that ``n_jobs`` does not matter.
    n_jobs : int, optional
        Draws fitted at a time (joblib).
    progress : bool or callable
        True writes a line to stderr as draws are done; a callable gets (draws done, draws in all).

    Returns
    -------
    Stability

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
    if not isinstance(n_draws, int | np.integer) or n_draws < 2:
        raise ValueError(f"n_draws={n_draws!r}: give a whole number, at least 2.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must lie strictly between 0 and 1.")
    if not hasattr(selector, "get_support") or not hasattr(selector, "fit"):
        raise TypeError(
            f"selector is {selector!r}: give a feature selector, of dubio or with scikit-learn's fit and get_support."
        )
    n_rows = len(X) if hasattr(X, "__len__") and not hasattr(X, "shape") else X.shape[0]
    supervision = _supervision(selector, y, n_rows, must_link, cannot_link)
    kind = _resolve(resample, supervision)
    seeds = np.random.SeedSequence(_entropy(random_state)).spawn(n_draws)
    report = _reporter(progress)

    work = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(_one_draw)(selector, X, y, supervision, kind, seed) for seed in seeds
    )
    rankings, selected = [], []
    for done, (ranking, support) in enumerate(work, start=1):
        rankings.append(ranking)
        selected.append(support)
        report(done, n_draws)
    names = column_names(X)
    labels = default_names(len(rankings[0])) if names is None else np.asarray(names, dtype=object)
    return _summary(labels, np.array(rankings), np.array(selected), kind, confidence)


def nogueira_index(selected: ArrayLike, *, confidence: float = 0.95) -> NogueiraIndex:
    r"""Stability of M subsets of d features, corrected for chance, with a confidence interval [1]_.

    .. math:: \Phi = 1 - \frac{\frac1d \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
              {\frac{\bar k}{d} (1 - \frac{\bar k}{d})},

    :math:`\hat p_f` being the share of subsets with feature f and :math:`\bar k` the mean size. Where every subset
    has all features, or none has any, there is nothing to vary: 1.

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
    >>> from dubio.significance import nogueira_index
    >>> round(nogueira_index([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).value, 3)
    0.333
    """
    Z = np.asarray(selected, dtype=np.float64)
    if Z.ndim != 2 or len(Z) < 2 or Z.shape[1] == 0:
        raise ValueError(f"selected has shape {Z.shape}: give a row for each of two or more subsets.")
    if not np.isin(Z, (0.0, 1.0)).all():
        raise ValueError("selected holds values other than True and False.")
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


def _one_draw(
    selector: Any, X: Any, y: Any, supervision: Supervision, kind: str, seed: np.random.SeedSequence
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    fresh = clone_for_classes(selector) if kind == "labels" else clone(selector)
    pairs = {"must_link": supervision.must_link, "cannot_link": supervision.cannot_link}
    if kind == "labels":
        fresh.fit(X, _draw_labels(supervision, rng))
    elif kind == "pairs":
        drawn = {name: rng.choice(p, len(p)) if len(p) else p for name, p in pairs.items()}
        fresh.fit(X, y, **drawn)
    else:
        rows = _draw_rows(supervision, kind, rng)
        fresh.fit(_safe_indexing(X, rows), None if y is None else _safe_indexing(y, rows))
    support = np.asarray(fresh.get_support(), dtype=bool)
    return _ranking_of(fresh, support), support


def _ranking_of(fitted: Any, support: NDArray[np.bool_]) -> NDArray[np.int64]:
    ranking = getattr(fitted, "ranking_", None)
    if ranking is not None:
        return np.asarray(ranking)
    scores = getattr(fitted, "scores_", None)
    if scores is None:
        return np.where(support, 1, 2)
    return rank_scores(np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf), lower_is_better=False)


def _draw_labels(supervision: Supervision, rng: np.random.Generator) -> NDArray[Any]:
    """A class for every labelled row, from its probabilities; None for the others."""
    assert supervision.memberships is not None and supervision.classes is not None
    cumulative = supervision.memberships.cumsum(axis=1)
    codes = (rng.random(supervision.n_rows)[:, None] > cumulative).sum(axis=1)
    drawn = np.full(supervision.n_rows, None, dtype=object)
    known = supervision.labelled
    last = len(supervision.classes) - 1  # a sum a hair below 1
    drawn[known] = supervision.classes[np.minimum(codes, last)[known]].tolist()
    return drawn


def _draw_rows(supervision: Supervision, kind: str, rng: np.random.Generator) -> NDArray[np.int64]:
    """Rows within each class, so that none is lost, and within labelled and unlabelled ones."""
    stratum = supervision.labelled.astype(np.int64) - 1
    if supervision.codes is not None:
        stratum = supervision.codes
    parts = []
    for value in np.unique(stratum):
        rows = np.flatnonzero(stratum == value)
        size = len(rows) if kind == "bootstrap" else max(1, round(_SHARE * len(rows)))
        parts.append(rng.choice(rows, size, replace=kind == "bootstrap"))
    return np.sort(np.concatenate(parts))


def _supervision(selector: Any, y: Any, n_rows: int, must_link: Any, cannot_link: Any) -> Supervision:
    target: Any = getattr(selector, "target", getattr(selector, "_target", "auto"))
    if target == "none":
        y, target = None, "classes"
    # To other libraries' selectors -1 is a class as any other.
    missing_label = getattr(selector, "missing_label", "auto" if hasattr(selector, "_target") else None)
    return read_supervision(
        y, n_rows, target=target, missing_label=missing_label, must_link=must_link, cannot_link=cannot_link
    )


def _resolve(resample: str, supervision: Supervision) -> str:
    if resample == "auto":
        if supervision.has_pairs:
            return "pairs"
        return "labels" if supervision.kind == "soft" else "subsample"
    if resample not in ("bootstrap", "subsample", "labels", "pairs"):
        raise ValueError(f"resample={resample!r}: give 'auto', 'bootstrap', 'subsample', 'labels' or 'pairs'.")
    if resample == "labels" and supervision.kind != "soft":
        raise ValueError("resample='labels' draws classes from probabilities, and y holds none.")
    if resample == "pairs" and not supervision.has_pairs:
        raise ValueError("resample='pairs' draws pairs anew, and none are given.")
    if resample in ("bootstrap", "subsample") and supervision.has_pairs:
        raise ValueError(f"resample={resample!r} draws rows, and pairs name rows by position: use resample='pairs'.")
    return resample


def _summary(
    names: NDArray[Any], rankings: NDArray[np.int64], selected: NDArray[np.bool_], kind: str, confidence: float
) -> Stability:
    tail = (1 - confidence) / 2
    low, median, high = np.quantile(rankings, [tail, 0.5, 1 - tail], axis=0)
    index = nogueira_index(selected, confidence=confidence)
    return Stability(names, rankings, selected, low, median, high, selected.mean(axis=0), index, kind, confidence)


def _entropy(random_state: Any) -> int | None:
    if random_state is None or isinstance(random_state, int | np.integer):
        return None if random_state is None else int(random_state)
    return int(random_state.randint(2**31))


def _reporter(progress: bool | Callable[[int, int], None]) -> Callable[[int, int], None]:
    if callable(progress):
        return progress
    if not progress:
        return lambda done, total: None

    def write(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        print(f"\rstability: {done} of {total} draws", end=end, file=sys.stderr, flush=True)

    return write
