"""Alerts about columns: empty or constant, identifiers, equal columns, numbers that stand for "missing"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np

from dubio.alerts.alert import Floats, Rows, View
from dubio.findings import Alert

_FEWEST_ROWS = 20  # rows of which all may be different without being an identifier
_DENSE = 2.0  # times the number of rows: whole numbers in this range count the rows if all are different
#: Names of identifiers. "number" and "code" alone also name measurements, so the values must be all different too.
_ID_NAME = re.compile(r"(?:^|[\W_])(?i:id|ids|uuid|guid|key|index|mrn|nr|no|number|code|record)$|[a-z]I[Dd]$")
_ALIKE = 0.9999  # squared correlation from which two columns say the same
_MOST_COMPARED = 1500  # columns of which all pairs are compared; of more columns, only equal ones are found
_ROWS_COMPARED = 1000  # rows on which pairs of columns are compared
#: Numbers that people write for "missing", with how far away they must be from all other values, in ranges of these.
_SENTINELS = {1.0 - 10.0**n: 0.5 for n in range(1, 7)} | {10.0**n - 1.0: 1.0 for n in range(2, 7)}  # -9; 99
_FEWEST_SENTINELS = 2
#: Most categories that are compared; most letters of a short form, and fewest of what it stands for.
_MOST_LEVELS, _SHORT, _LONG = 100, 2, 4


def constant_alerts(view: View) -> list[Alert]:
    """Columns without a value, and columns with only one."""
    low, high = np.fmin.reduce(view.X, axis=0), np.fmax.reduce(view.X, axis=0)
    if len(view.X) < len(view.whole):  # what does not vary in the rows that were looked at may vary in others
        still = np.flatnonzero(~(high > low))
        low[still], high[still] = np.fmin.reduce(view.whole[:, still]), np.fmax.reduce(view.whole[:, still])
    varies = np.bincount(view.feature_of, weights=high > low, minlength=view.n_features) > 0
    empty = np.bincount(view.feature_of, weights=~np.isnan(low), minlength=view.n_features) == 0
    empty[list(view.texts)] = False  # text that was left out is not constant
    varies[list(view.texts)] = True
    return [
        Alert("constant", view.named(np.flatnonzero(mask)), {"values": values, "others vary": bool(varies.any())})
        for values, mask in enumerate((empty, ~varies & ~empty))
        if mask.any()
    ]


def identifier_alerts(view: View) -> list[Alert]:
    """Whole numbers that are different in every row, and look like a count of the rows or are named like one."""
    if len(view.X) < _FEWEST_ROWS:
        return []
    columns, X = view.numbers, view.X[:, view.numbers]
    with np.errstate(invalid="ignore"):
        columns = columns[((np.floor(X) == X).all(axis=0)) & (X[0] != X[-1])]
    numbers = []
    for column in columns.tolist():
        values, feature = np.sort(view.X[:, column]), int(view.feature_of[column])
        is_count = values[-1] - values[0] < _DENSE * len(view.whole)
        if (is_count or _ID_NAME.search(str(view.names[feature]))) and (values[1:] != values[:-1]).all():
            numbers.append(feature)
    found = {"whole number": numbers, "text": _identifiers_of_text(view)}
    return [Alert("identifier", view.named(those), {"value": value}) for value, those in found.items() if those]


def text_alerts(view: View) -> list[Alert]:
    """Text that was left out; text that is different in every row is an identifier, see above."""
    others = [feature for feature in view.texts if feature not in _identifiers_of_text(view)]
    return [Alert("text", view.named(others))] if others else []


def variant_alerts(view: View) -> list[Alert]:
    """Categories, or classes of the target, that are written in several ways: "F" and "f", "m" and "male"."""
    classes = getattr(view.supervision, "classes", ())
    of_target = (
        _variants([str(name) for name in classes]) if getattr(classes, "dtype", np.dtype(int)).kind in "OU" else []
    )
    found = {feature: _variants(levels) for feature, levels in view.levels.items()}
    alerts = [Alert("variants", view.named([one]), {"groups": groups}) for one, groups in found.items() if groups]
    return ([Alert("variants", (), {"groups": of_target})] if of_target else []) + alerts


def _variants(levels: Sequence[str]) -> list[tuple[str, ...]]:
    """Groups of names that differ only in case, blanks or signs, or of which one is short for the other."""
    if len(levels) > _MOST_LEVELS:
        return []
    plain = {level: re.sub(r"[\W_]+", "", level.casefold()) or level for level in levels}
    groups: dict[str, list[str]] = {}
    for level in levels:
        groups.setdefault(plain[level], []).append(level)
    for short in [key for key in groups if len(key) <= _SHORT and key.isalpha()]:
        longer = [key for key in groups if len(key) >= _LONG and key.isalpha() and key.startswith(short)]
        if len(longer) == 1:
            groups[longer[0]] = [*groups.pop(short), *groups[longer[0]]]
    return [tuple(names) for names in groups.values() if len(names) > 1]


def _identifiers_of_text(view: View) -> list[int]:
    """Features of text that has another value in every row, and a value in nearly all of them."""
    known = {feature: codes[codes >= 0] for feature, codes in view.texts.items()}
    different = {feature: len(np.unique(codes)) == len(codes) > 0.9 * len(view.X) for feature, codes in known.items()}
    return [feature for feature in different if different[feature]]


def alike_alerts(view: View) -> list[Alert]:
    """Features that are equal, or differ only by their unit."""
    rows = np.linspace(0, len(view.X) - 1, min(len(view.X), _ROWS_COMPARED)).astype(np.int64)
    if len(rows) < 3:
        return []
    unit, kept = _unit_columns(view.X[np.ix_(rows, view.numbers)])
    columns = view.numbers[kept]
    groups = _equal_groups(unit) if len(columns) > _MOST_COMPARED else _close_groups(unit)
    groups = [group for group in groups if _really_alike(view.X[:, columns[group]])]
    alike = [view.named(view.feature_of[columns[group]]) for group in groups] + _equal_categories(view)
    return [Alert("alike", tuple(chain(*alike)), {"groups": alike})] if alike else []


def sentinel_alerts(view: View) -> list[Alert]:
    """Numbers such as -999 that stand far from all other values of their column and occur more than once."""
    if len(view.X) < _FEWEST_ROWS:
        return []
    features: dict[float, list[int]] = {}
    extremes = np.stack([end.reduce(view.X[:, view.numbers], axis=0) for end in (np.fmin, np.fmax)])
    for column in view.numbers[np.isin(extremes, list(_SENTINELS)).any(axis=0)].tolist():
        values = view.X[:, column]
        rest = values[~np.isnan(values) & ~np.isin(values, list(_SENTINELS))]
        for mark, distance in _SENTINELS.items():
            if (values == mark).sum() < _FEWEST_SENTINELS or len(np.unique(rest)) < 2:
                continue
            gap = rest.min() - mark if mark < 0 else mark - rest.max()
            if gap > distance * (rest.max() - rest.min()):
                features.setdefault(mark, []).append(int(view.feature_of[column]))
    return [Alert("sentinel", view.named(those), {"mark": mark}) for mark, those in features.items()]


def _unit_columns(X: Floats) -> tuple[Floats, Rows]:
    """Columns of mean 0 and length 1 (a missing cell counts as the mean), and which columns vary."""
    with np.errstate(invalid="ignore", over="ignore"):
        present = ~np.isnan(X)
        count = np.maximum(present.sum(axis=0), 1)
        first = np.fmin.reduce(X, axis=0)
        centred = np.where(present, X - first, 0.0)
        centred = np.where(present, centred - centred.sum(axis=0) / count, 0.0)
        largest = np.abs(centred).max(axis=0)
        centred = centred / np.where(largest > 0, largest, 1.0)
        length = np.sqrt((centred**2).sum(axis=0))
    kept = np.flatnonzero((length > 0) & np.isfinite(length) & (present.sum(axis=0) >= max(3, len(X) // 2)))
    return centred[:, kept] / length[kept], kept


def _close_groups(unit: Floats) -> list[Rows]:
    """Groups of columns with squared correlations near 1 to the first of the group."""
    close = np.triu((unit.T @ unit) ** 2 >= _ALIKE, 1)
    groups, taken = [], np.zeros(unit.shape[1], dtype=bool)
    for j in np.flatnonzero(close.any(axis=1)).tolist():
        others = np.flatnonzero(close[j] & ~taken)
        if not taken[j] and len(others):
            groups.append(np.append(j, others))
            taken[groups[-1]] = True
    return groups


def _equal_groups(unit: Floats) -> list[Rows]:
    """Groups of columns that are equal up to sign and rounding, by their products with a few random rows."""
    signs = np.sign(unit[np.abs(unit).argmax(axis=0), np.arange(unit.shape[1])])
    keys = np.round((np.random.RandomState(0).normal(size=(2, len(unit))) @ (unit * signs)), 7)
    _, inverse, counts = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    return [np.flatnonzero(inverse.ravel() == group) for group in np.flatnonzero(counts > 1).tolist()]


def _equal_categories(view: View) -> list[tuple[str, ...]]:
    """Groups of features whose categories are one-to-one: rows that share one share the others."""
    same: dict[bytes, list[int]] = {}
    for feature in view.with_levels:
        codes = view.values_of(feature)
        if np.isnan(codes).mean() < 0.5:
            first, inverse = np.unique(np.nan_to_num(codes, nan=-1.0), return_index=True, return_inverse=True)[1:]
            same.setdefault(first.argsort().argsort()[inverse].astype(np.int32).tobytes(), []).append(feature)
    return [view.named(features) for features in same.values() if len(features) > 1]


def _really_alike(X: Floats) -> bool:
    """Whether the columns agree on all rows, and are not two rare events that a few rows decide."""
    unit, kept = _unit_columns(X)
    if len(kept) < X.shape[1]:
        return False
    modes = [np.unique(column[~np.isnan(column)], return_counts=True)[1].max() for column in X.T]
    return bool(((unit[:, 0] @ unit[:, 1:]) ** 2 >= _ALIKE).all()) and max(modes) < 0.95 * len(X)
