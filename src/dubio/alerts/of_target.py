"""Alerts about the target: features that are the target in disguise, ratings read as classes, classes of one row."""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logit
from scipy.stats import binom, chi2, rankdata

from dubio.alerts.alert import Floats, Rows, View, standard_columns
from dubio.alerts.of_rows import Units, follows, log_chance_of_one_value
from dubio.findings import Alert

_CHANCE = 1e-3  # alerts about copies are raised if chance makes one in a table of independent columns less often
_SAME = 0.9999  # squared correlation (of values or of ranks) from which a number is a copy of a numeric target
_FEWEST_NUMBERS = 10  # rows with a numeric target
_ROWS_OF_RANKS = 2000  # rows on which ranks are compared first
_MOST_VALUES = 50  # different values of a column that is looked at as one of categories
_PAIRS = 300  # pairs of rows that show at once that a column does not tell the classes
# A near copy: a column that predicts the target nearly always, where labels or cells may be wrong. Measured by
# lab/benchmarks/near_leaks.py.
_FEWEST_NEAR, _FEWEST_OF_CLASS = 40, 5  # labelled rows, and rows of each class
_MOST_LEVELS = 20  # different values of a column that is compared value by value; of others, one cut is looked for
_WRONG_VALUES, _SURELY = 0.08, 0.975  # of few values: share of wrong labels allowed for, and quantile of their number
_WRONG_AT_CUT, _SURELY_AT_CUT = 0.05, 0.9  # the same at a cut, in tables of _FEWEST_AT_CUT rows or more
_FEWEST_AT_CUT, _HARDLY_ANY = 200, 0.02  # with fewer rows, only this share of them may disagree
_LEAST_COVERED = 1 / 3  # of a class by rows with a value, or rows without one, if hardly any other class has them
_MAY_COVER = 0.25  # difference of the shares of gaps between classes from which they are looked at
#: Wrong labels are anywhere; rows of classes that overlap are near the cut. Least p-value of "anywhere", and the same
#: if the smaller side has so few rows that overlap is hard to see; disagreeing rows that may be near the cut.
_ANYWHERE, _ANYWHERE_OF_FEW, _FEW_ON_A_SIDE, _FREE = 0.05, 0.2, 60, 2
_APART = 1.5  # distance between the inner deciles of two clumps, in the larger of their quartile ranges
_LEAST_AREA, _AREA_ERRORS = 0.965, 2.33  # area under the curve of a very good number, by this many standard errors
_FEWEST_FOR_AREA = 20  # rows of each class
_LEAST_AGREEMENT = 0.5  # beyond chance (kappa)
_FAR_BETTER, _FAR_ERRORS = 0.08, 2.0  # of the balanced error of all other columns: difference, and in standard errors
_OTHER_COLUMNS, _OTHER_ROWS, _OTHER_FOLDS = 200, 2000, 5  # of the model of all other columns
_EXACT_ROWS, _EXACT = (
    0.85,
    0.005,
)  # of numbers: share of rows on one line with the target, within this share of their quartiles
_LINES = 20  # lines through two random rows that are tried
_FEWEST_GRADES = 3  # classes of a rating
_FEW_GRADES = 6  # fewer grades have so few orders that theirs must be the best of all
_STRAIGHT = 0.92  # of the differences between few grades, which one straight line must explain (iris: 0.91)
_MOST_GRADES = 20  # classes of a rating
_N_ORDERS = 999  # random orders of the classes that the one of the ratings is compared with
_LINE_SHARE = 0.5  # of the differences between classes, which one straight line must explain
_N_DRAWN = 199  # random labels with which the line along few grades is compared
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


def near_copy_alerts(view: View, units: Units, named: set[str]) -> list[Alert]:
    """Features that predict the target far better than all others together, alone or by their gaps.

    Some labels may be wrong, so some rows may disagree. A column of few values is compared value by value; of a column
    of numbers, one cut is looked for. Disagreeing rows near the cut are what classes that overlap make, so they must be
    anywhere; or the area under the curve is very near 1.
    """
    codes, numbers = view.supervision.given_codes, view.supervision.row_numbers
    if codes is None:
        copies = [] if numbers is None else _nearly_on_a_line(view, numbers)
        features = [one for one in copies if str(view.names[one]) not in named]
        return [Alert("near copy", view.named(features), {"why": "numbers"})] if features else []
    rows = np.flatnonzero(codes >= 0)
    rows = rows[units.one_of_each(rows, codes[rows])]
    y = np.unique(codes[rows], return_inverse=True)[1]
    counts = np.bincount(y, minlength=1)
    if len(rows) < _FEWEST_NEAR or len(counts) < 2 or counts.min() < _FEWEST_OF_CLASS:
        return []
    X = view.X[rows]
    level = np.log(_CHANCE / max(1, view.n_features))
    likely: dict[int, _Likely] = {}
    for feature, gaps in _may_nearly_tell(view, X, y):
        if str(view.names[feature]) in named:
            continue
        values = view.values_of(feature)[rows]
        found = _by_values(np.isnan(values) * 1.0, y, level, gaps) if gaps else _by_values(values, y, level)
        found = _by_a_cut(values, y, level) if found is None and not gaps else found
        if found is not None and (feature not in likely or found.error < likely[feature].error):
            likely[feature] = found
    if not likely:
        return []
    apart = {*likely, *(place for place, name in enumerate(view.names.tolist()) if str(name) in named)}
    others = _error_of_others(X[:, ~np.isin(view.feature_of, list(apart))], y)
    likely = {
        feature: one
        for feature, one in likely.items()
        if one.one_sided or others - one.error >= max(_FAR_BETTER, _FAR_ERRORS * _spread([one.error, others], counts))
    }
    alerts = []
    for why in ("values", "gaps"):
        these = sorted((one for one in likely if likely[one].why == why), key=lambda one: likely[one].error)
        if these:
            facts = {"why": why, "disagree": likely[these[0]].disagree, "rows": len(rows), "others": 100 * (1 - others)}
            alerts.append(Alert("near copy", view.named(these), facts))
    return alerts


class _Likely(NamedTuple):
    """A feature that may be a copy of the classes: by its values or its gaps, rows that disagree, balanced error."""

    why: str
    disagree: int
    error: float
    #: Whether its gaps tell only one of the classes.
    one_sided: bool = False


def _spread(errors: list[float], counts: Rows) -> float:
    """Standard error of the difference of two mean errors of the classes."""
    return float(np.sqrt(sum(error * (1 - error) for error in errors) * (1 / counts).sum()) / len(counts))


def _may_nearly_tell(view: View, X: Floats, y: Rows) -> list[tuple[int, bool]]:
    """Features that may nearly tell the classes, and features whose gaps may."""
    rng = np.random.RandomState(0)
    one, other = rng.randint(len(X), size=_PAIRS), rng.randint(len(X), size=_PAIRS)
    columns = view.numbers
    cells, filled = np.isnan(X[:, columns]), np.nan_to_num(X[:, columns], nan=1e308)
    same, alike = y[one] == y[other], filled[one] == filled[other]
    few = (alike[same].mean(axis=0) >= 1 / (2 * _MOST_LEVELS)) & (alike[~same].mean(axis=0) <= 0.35)
    halves = np.zeros(len(columns), dtype=bool)
    if len(np.bincount(y)) == 2:
        with np.errstate(invalid="ignore", over="ignore"):
            low, high = (_medians(X[y == code][:, columns]) for code in (0, 1))
            above = X[:, columns] > (low / 2 + high / 2)
            shares = np.array([above[y == code].mean(axis=0) for code in (0, 1)])
        halves = np.abs(shares[1] - shares[0]) >= 0.5
    features = [*view.feature_of[columns[few | halves]].tolist(), *view.with_levels]
    gaps = cells.mean(axis=0)
    by_class = np.array([cells[y == code].mean(axis=0) for code in range(int(y.max()) + 1)])
    telling = (gaps > 0) & (gaps < 1) & (np.ptp(by_class, axis=0) >= _MAY_COVER)
    missing = view.feature_of[columns[telling]].tolist()
    missing += [one for one in view.with_levels if 0 < np.isnan(view.values_of(one)).mean() < 1]
    return [*((one, False) for one in features), *((one, True) for one in missing)]


def _medians(X: Floats) -> Floats:
    """The medians of the columns; 0 of a column without values."""
    empty = np.isnan(X).all(axis=0)
    return np.asarray(np.nanmedian(np.where(empty, 0.0, X), axis=0))


def _by_values(x: Floats, y: Rows, level: float, gaps: bool = False) -> _Likely | None:
    """A column whose few values nearly tell the classes, missing as one of them; gaps may tell only one class."""
    values, places = np.unique(np.nan_to_num(x, nan=1e308), return_inverse=True)
    if not 2 <= len(values) <= min(_MOST_LEVELS, len(x) // 5):
        return None
    table = np.zeros((len(values), int(y.max()) + 1))
    np.add.at(table, (places, y), 1)
    wrong = int(len(x) - table.max(axis=1).sum())
    if _log_chance(table) > level:
        return None
    one_sided = gaps and _tells_one(table)
    allowed = wrong <= binom.ppf(_SURELY, len(x), _WRONG_VALUES) and _beyond_chance(table) >= _LEAST_AGREEMENT
    if not allowed and not one_sided:
        return None
    right = np.zeros(table.shape[1])
    np.add.at(right, table.argmax(axis=1), table.max(axis=1))
    why = "gaps" if gaps else "values"
    return _Likely(why, wrong, float(1 - (right / table.sum(axis=0)).mean()), one_sided)


def _tells_one(table: Floats) -> bool:
    """Whether nearly all rows with a value, or all without one, are of one class, and a good part of that class."""
    for rows in table:
        code, n = int(rows.argmax()), int(rows.sum())
        pure = n - rows[code] <= binom.ppf(_SURELY, n, _WRONG_VALUES)
        if pure and rows[code] >= _LEAST_COVERED * table[:, code].sum() and table[:, code].sum() <= 0.6 * table.sum():
            return True
    return False


def _by_a_cut(x: Floats, y: Rows, level: float) -> _Likely | None:
    """A column of numbers that nearly tells two classes by one cut."""
    present = ~np.isnan(x)
    x, y = x[present], y[present]
    n, counts = len(x), np.bincount(y, minlength=2)
    if n < max(_FEWEST_NEAR, len(present) / 2) or len(counts) > 2 or counts.min() < _FEWEST_OF_CLASS:
        return None
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    ends = np.flatnonzero(x[1:] != x[:-1])
    if not len(ends):
        return None
    ones = np.cumsum(y)[ends]
    wrong = ones + counts[0] - (ends + 1 - ones)  # if ones are above the cut
    swapped = int(n - wrong.max() < wrong.min())
    y, wrong = (1 - y, n - wrong) if swapped else (y, wrong)
    best = int(ends[wrong.argmin()])
    below, above = np.flatnonzero(y[: best + 1] == 1), np.flatnonzero(y[best + 1 :] == 0)
    n_wrong, n_below = len(below) + len(above), best + 1
    table = np.array([[n_below - len(below), len(below)], [len(above), n - n_below - len(above)]], dtype=np.float64)
    if _log_chance(table) + np.log(len(ends)) > level:
        return None
    allowed = 1 + _HARDLY_ANY * n if n < _FEWEST_AT_CUT else binom.ppf(_SURELY_AT_CUT, n, _WRONG_AT_CUT)
    distances = np.concatenate([(best - below + 0.5) / n_below, (above + 0.5) / (n - n_below)])
    few = min(n_below, n - n_below) < _FEW_ON_A_SIDE
    anywhere = n_wrong <= _FREE or _chance_of_anywhere(distances) >= (_ANYWHERE_OF_FEW if few else _ANYWHERE)
    wrong_labels = n_wrong <= allowed and (anywhere or _are_apart(x[: best + 1], x[best + 1 :]))
    if not (wrong_labels or _is_very_good(x, y)):
        return None
    return _Likely("values", n_wrong, float((table[0, 1] / table[:, 1].sum() + table[1, 0] / table[:, 0].sum()) / 2))


def _chance_of_anywhere(distances: Floats) -> float:
    """The chance that rows with any distance from the cut, in ranks of their side, lie as near to it (Fisher)."""
    return float(chi2.sf(-2 * np.log(distances).sum(), 2 * len(distances)))


def _are_apart(below: Floats, above: Floats) -> bool:
    """Whether the numbers on both sides of a cut are two clumps with a wide gap between them."""
    with np.errstate(over="ignore", invalid="ignore"):
        ranges = [float(np.subtract(*np.quantile(side, [0.75, 0.25]))) for side in (below, above)]
        return bool(np.quantile(above, 0.1) - np.quantile(below, 0.9) > _APART * max(ranges))


def _is_very_good(x: Floats, y: Rows) -> bool:
    """Whether the area under the curve is surely very near 1: DeLong's standard error, on the scale of log odds."""
    counts = np.bincount(y, minlength=2)
    if counts.min() < _FEWEST_FOR_AREA:
        return False
    ranks = rankdata(x)
    ones, zeros = ((ranks[y == code] - rankdata(x[y == code])) / counts[1 - code] for code in (1, 0))
    error = np.sqrt(ones.var(ddof=1) / counts[1] + zeros.var(ddof=1) / counts[0])
    area = ones.mean()
    return bool(area == 1.0 or logit(area) - _AREA_ERRORS * error / (area * (1 - area)) > logit(_LEAST_AREA))


def _log_chance(table: Floats) -> float:
    """Logarithm of the chance of a table that is as far from independence (G test)."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        G = 2 * np.nansum(np.where(table > 0, table * np.log(table / expected), 0.0))
    return float(chi2.logsf(G, (table.shape[0] - 1) * (table.shape[1] - 1)))


def _beyond_chance(table: Floats) -> float:
    """Agreement beyond chance of the classes with the most frequent class of each value (kappa)."""
    n = table.sum()
    told = np.bincount(table.argmax(axis=1), table.sum(axis=1), table.shape[1])
    by_chance = float(told @ table.sum(axis=0)) / n**2
    return float((table.max(axis=1).sum() / n - by_chance) / max(1 - by_chance, 1e-12))


def _error_of_others(X: Floats, y: Rows) -> float:
    """Mean error of the classes by a linear model of the columns, on rows that it has not seen."""
    from sklearn.linear_model import RidgeClassifierCV
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    rows = np.linspace(0, len(X) - 1, min(len(X), _OTHER_ROWS)).astype(np.int64)
    X, y = X[rows], y[rows]
    with np.errstate(invalid="ignore", over="ignore"):
        X = np.where(np.isnan(X), _medians(X), X)
        Z = standard_columns(X)[0] if X.shape[1] else X
    counts = np.bincount(y)
    if not Z.shape[1] or counts.min() < 2:
        return 1 - 1 / len(counts)
    between = sum(counts[code] * Z[y == code].mean(axis=0) ** 2 for code in range(len(counts)))
    Z = Z[:, np.sort(np.argsort(-np.asarray(between), kind="stable")[:_OTHER_COLUMNS])]
    folds = StratifiedKFold(min(_OTHER_FOLDS, int(counts.min())), shuffle=True, random_state=0)
    model = RidgeClassifierCV(np.logspace(-1, 4, 6), class_weight="balanced")
    guessed = cross_val_predict(model, Z, y, cv=folds)
    return float(min(1 - 1 / len(counts), np.mean([(guessed != y)[y == code].mean() for code in range(len(counts))])))


def _nearly_on_a_line(view: View, numbers: Floats) -> list[int]:
    """Columns of numbers that lie on one line with a numeric target, but for some wrong cells."""
    rows = np.flatnonzero(view.supervision.labelled)
    y, columns = numbers[rows], view.numbers[~np.isnan(view.X[np.ix_(rows, view.numbers)]).all(axis=0)]
    if len(rows) < _FEWEST_NEAR or len(np.unique(y)) < 2 * _FEWEST_NUMBERS or not len(columns):
        return []
    X, rng = view.X[np.ix_(rows, columns)], np.random.RandomState(0)
    on_line = np.zeros(len(columns))
    with np.errstate(all="ignore"):
        reach = _EXACT * np.subtract(*np.nanquantile(X, [0.75, 0.25], axis=0))  # a few far values are no spread
        for _ in range(_LINES):
            one, other = rng.randint(len(rows), size=2)
            if y[one] == y[other]:
                continue
            slope = (X[one] - X[other]) / (y[one] - y[other])
            near = np.abs(X - X[one] - slope * (y - y[one])[:, None]) <= reach
            on_line = np.fmax(on_line, np.where(slope != 0, near.mean(axis=0), 0.0))
    return [int(view.feature_of[columns[j]]) for j in np.flatnonzero((on_line >= _EXACT_ROWS) & (reach > 0))]


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
    Z = Z[:, ~np.isnan(Z).all(axis=0)]
    Z = standard_columns(np.where(np.isnan(Z), np.nanmean(Z, axis=0) if Z.size else 0.0, Z))[0]
    sums = np.zeros((len(grades), Z.shape[1]))
    np.add.at(sums, codes, Z)
    means = sums / np.maximum(weights, 1)[:, None]
    between = float((weights[:, None] * means**2).sum())
    if between <= 0 or (weights > 0).sum() < 2:
        return []
    rng = np.random.RandomState(0)
    few = len(grades) < _FEW_GRADES
    others = permutations(grades) if few else (rng.permutation(grades) for _ in range(_N_ORDERS))
    orders = np.stack([grades, *map(np.asarray, others)])
    centred = orders - (orders @ weights)[:, None] / weights.sum()
    slopes = (weights * centred) @ means
    sizes = centred**2 @ weights
    along = (slopes**2).sum(axis=1) / sizes
    share, better = float(along[0] / between), float((along[1:] >= along[0] * (1 - 1e-9)).mean())
    if few:  # an order and its reverse are one; chance alone makes differences too, alike in all directions
        drawn = np.array([_along(rng.permutation(codes), Z, grades) for _ in range(_N_DRAWN)])
        chance = float(drawn.mean())
        share = (along[0] - chance) / max(between - chance * (len(grades) - 1), 1e-12)
        if (drawn >= along[0]).mean() > _ORDER_CHANCE or share < _STRAIGHT or better > 2 / len(orders[1:]):
            return []
    elif share < _LINE_SHARE or better > _ORDER_CHANCE:
        return []
    ends = {"lowest": float(grades.min()), "highest": float(grades.max())}
    return [Alert("rating", facts={"grades": len(grades), **ends})]


def _along(codes: Rows, Z: Floats, grades: Floats) -> float:
    """The sum of squares that one straight line along the grades explains."""
    x = grades[codes] - grades[codes].mean()
    return float(((x @ Z) ** 2).sum() / (x @ x))


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
