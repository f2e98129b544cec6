"""Alerts about the target: features that are the target in disguise, ratings read as classes, classes of one row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import rankdata

from dubio.alerts.alert import Floats, Rows, View, standard_columns
from dubio.alerts.of_rows import Units, follows, log_chance_of_one_value
from dubio.findings import Alert

_CHANCE = 1e-3  # alerts about copies are raised if chance makes one in a table of independent columns less often
_SAME = 0.9999  # squared correlation (of values or of ranks) from which a number is a copy of a numeric target
_FEWEST_NUMBERS = 10  # rows with a numeric target
_ROWS_OF_RANKS = 2000  # rows on which ranks are compared first
_MOST_VALUES = 50  # different values of a column that is looked at as one of categories
_PAIRS = 300  # pairs of rows that show at once that a column does not tell the classes
_FEWEST_GRADES = 5  # classes of a rating: shorter scales are more often codes, and their order cannot be tested
_MOST_GRADES = 20  # classes of a rating
_N_ORDERS = 999  # random orders of the classes that the one of the ratings is compared with
_LINE_SHARE = 0.5  # of the differences between classes, which one straight line must explain
_ORDER_CHANCE = 0.01  # the most chance of explaining as much with a random order


def copy_alerts(view: View, units: Units) -> list[Alert]:
    """Features that are the target in disguise, and features that separate its classes completely.

    If rows depend on each other (visits, repeated rows), a value of a feature may occur in one class only because it
    belongs to one subject: chance is then reckoned with one row per unit and class.
    """
    codes, numbers = view.supervision.given_codes, view.supervision.row_numbers
    suspected: dict[str, list[int]] = {}
    if codes is not None:
        suspected = _separating_classes(view, codes, units)
    elif numbers is not None:
        suspected = {"copy": _copies_of_numbers(view, numbers)}
    return [Alert(kind, view.named(features)) for kind, features in suspected.items() if features]


def lonely_alerts(view: View) -> list[Alert]:
    """Classes with only one row: nothing can be learnt about them."""
    lonely = view.supervision.lonely_classes
    if len(view.X) < len(view.whole) or not 0 < len(lonely) < view.supervision.n_classes:
        return []
    return [Alert("lonely class", facts={"classes": tuple(lonely)})]


def rating_alerts(view: View) -> list[Alert]:
    """Whole numbers that were read as classes, while the features follow their order.

    The test: of the differences between the class means of all features, the share that one straight line along the
    class numbers explains is compared with the same share for random orders of the classes.
    """
    if (scale := view.supervision.grades()) is None:
        return []
    labelled, grades = view.supervision.labelled, scale[0]
    codes = scale[1][labelled]
    weights = np.bincount(codes, minlength=len(grades)).astype(np.float64)
    if not _FEWEST_GRADES <= len(grades) <= _MOST_GRADES or (np.diff(grades) != 1).any() or (weights < 2).sum() > 2:
        return []
    Z = view.X[np.ix_(labelled, view.numbers)]
    Z = standard_columns(np.where(np.isnan(Z), np.nanmean(Z, axis=0) if Z.size else 0.0, Z))[0]
    sums = np.zeros((len(grades), Z.shape[1]))
    np.add.at(sums, codes, Z)
    means = sums / np.maximum(weights, 1)[:, None]
    between = float((weights[:, None] * means**2).sum())
    if between <= 0:
        return []
    rng = np.random.RandomState(0)
    orders = np.stack([grades, *(rng.permutation(grades) for _ in range(_N_ORDERS))])
    centred = orders - (orders @ weights)[:, None] / weights.sum()
    slopes = (weights * centred) @ means
    shares = (slopes**2).sum(axis=1) / ((centred**2 @ weights) * between)
    share, better = float(shares[0]), float((shares >= shares[0]).mean())
    if share < _LINE_SHARE or better > _ORDER_CHANCE:
        return []
    ends = {"lowest": float(grades.min()), "highest": float(grades.max())}
    return [Alert("rating", facts={"grades": len(grades), **ends})]


def _separating_classes(view: View, codes: Rows, units: Units) -> dict[str, list[int]]:
    """Features that are one-to-one with the classes, and other features that separate them completely."""
    rows = np.argsort(codes, kind="stable")[np.count_nonzero(codes < 0) :]
    codes = codes[rows]
    counts = np.bincount(codes)
    n_classes = int((counts > 0).sum())
    if n_classes < 2 or not _is_rare(counts, view):
        return {}
    separation_is_rare = _is_rare(np.bincount(codes[units.one_of_each(rows, codes)]), view)
    X = view.X[rows]
    starts = np.searchsorted(codes, np.flatnonzero(counts))
    low, high = np.fmin.reduceat(X, starts, axis=0), np.fmax.reduceat(X, starts, axis=0)
    flat = np.asarray((low == high).all(axis=0))
    by_low = np.argsort(low, axis=0)
    ends, begins = np.take_along_axis(high, by_low, axis=0), np.take_along_axis(low, by_low, axis=0)
    apart = np.asarray((ends[:-1] < begins[1:]).all(axis=0))
    candidates = np.union1d(view.feature_of[apart | flat | _may_be_told(X, codes)], view.with_levels)
    bounds = np.append(np.searchsorted(view.feature_of, np.arange(view.n_features)), len(view.feature_of))
    copies, separating = [], []
    for feature in candidates.astype(np.int64).tolist():
        columns = np.arange(bounds[feature], bounds[feature + 1])
        held = columns[view.roles[columns] != "missing"]
        one_to_one = len(held) and flat[held].all() and len(np.unique(low[:, held], axis=0)) == n_classes
        if one_to_one or (flat & apart)[columns].any():
            copies.append(feature)
            continue
        values = view.values_of(feature)[rows] if feature in view.with_levels else X[:, held[:1]].ravel()
        if (separation_is_rare and apart[columns].any()) or _is_told(values, codes, rows, units, view):
            separating.append(feature)
    return {"copy": copies, "separates": separating}


def _is_rare(counts: Rows, view: View) -> bool:
    """Whether random labels are hardly ever split by a column: one order of the classes of all their arrangements."""
    chance = gammaln((counts > 0).sum() + 1) - (gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())
    return bool(chance + np.log(max(1, view.n_features)) <= np.log(_CHANCE))


def _may_be_told(X: Floats, codes: Rows) -> NDArray[np.bool_]:
    """Columns that do not have the same value in two rows of different classes, in some pairs of rows."""
    rng = np.random.RandomState(0)
    one, other = rng.randint(len(X), size=_PAIRS), rng.randint(len(X), size=_PAIRS)
    differ = codes[one] != codes[other]
    return ~(X[one[differ]] == X[other[differ]]).any(axis=0)


def _is_told(x: Floats, codes: Rows, rows: Rows, units: Units, view: View) -> bool:
    """Whether every value of a feature occurs in one class only, and so often that this is no chance."""
    present = ~np.isnan(x)
    x, codes, rows = x[present], codes[present], rows[present]
    if present.sum() < 0.5 * len(present) or len(np.unique(x[:: max(1, len(x) // (4 * _MOST_VALUES))])) > _MOST_VALUES:
        return False
    values, inverse = np.unique(x, return_inverse=True)
    if not 2 <= len(values) <= _MOST_VALUES or not follows(codes, inverse):
        return False
    one = units.one_of_each(rows, codes)
    chance = log_chance_of_one_value(np.bincount(inverse[one]), np.bincount(codes[one]))
    return bool(chance + np.log(view.n_features) < np.log(_CHANCE))


def _copies_of_numbers(view: View, numbers: Floats) -> list[int]:
    labelled = np.flatnonzero(view.supervision.labelled)
    y = numbers[labelled]
    if len(labelled) < _FEWEST_NUMBERS or len(np.unique(y)) < 3:
        return []
    some = np.linspace(0, len(y) - 1, min(len(y), _ROWS_OF_RANKS)).astype(np.int64)
    copies = []
    for column in view.numbers.tolist():
        x = view.X[labelled, column]
        if _is_copy(x[some], y[some]) and (len(some) == len(labelled) or _is_copy(x, y)):
            copies.append(int(view.feature_of[column]))
    return copies


def _is_copy(x: Floats, y: Floats) -> bool:
    present = ~np.isnan(x)
    if present.sum() < max(_FEWEST_NUMBERS, len(x) / 2) or x[present].min() == x[present].max():
        return False
    x, y = x[present], y[present]
    return _squared_correlation(x, y) >= _SAME or _squared_correlation(rankdata(x), rankdata(y)) >= _SAME


def _squared_correlation(x: Floats, y: Floats) -> float:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x, y = (x - x.mean()) / np.abs(x - x.mean()).max(), (y - y.mean()) / np.abs(y - y.mean()).max()
        squared = float((x @ y) ** 2 / ((x @ x) * (y @ y)))
    return squared if np.isfinite(squared) else 0.0
