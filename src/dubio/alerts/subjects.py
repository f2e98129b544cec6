"""Columns that name subjects: by what stays the same within each of their values, or by what they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dubio.alerts.view import View

#: A column that names subjects has at least so many values, of which so many occur in several rows, and at most so many
#: rows per value on average: codes of products, diagnoses or towns often have fewer values, and more rows for each.
_FEWEST_VALUES, _FEWEST_REPEATED, _MOST_ROWS = 20, 8, 10.0
#: If only its name says so, it has so many rows per value.
_FEWEST_ROWS_NAMED, _MOST_ROWS_NAMED = 1.2, 20.0
#: Two other columns must be the same in all rows of each value; for each of them, chance does this at most so often.
_CHANCE = 1e-6
#: Mean squared difference between neighbouring values, as a share of that of random ones: an age class is the same for
#: all rows of an age, and changes little from one age to the next. Names in random order have 1, with a standard
#: deviation of one over the root of their number; the line is three of these below 1, but within these limits.
_LOW_STEPS, _HIGH_STEPS = 0.3, 0.7
#: Of a wide table, so many features are looked at as names and as what stays the same.
_MOST_FEATURES = 100
#: So many columns that stay the same are enough to be named; rows that show at once that most do not.
_MOST_SAME, _FIRST_ROWS = 8, 300
#: Names that people give to such columns, as a whole: 'age of patient' and 'in-patient' are measurements.
_NUMBER = r"(?:ids?|nr|no|num|number|code|key|name)"
_SUBJECT = r"(?:patient|pat|subject|subj|participant|person|proband|probandin|case|animal|study)"
_SUBJECT_NAME = re.compile(
    rf"[\W_]*(?:(?:patient|subject|participant|person|proband)s?|probandin|subj|pid|mrn|"
    rf"{_SUBJECT}s?[\W_]*{_NUMBER}|{_NUMBER}[\W_]+(?:of[\W_]+)?(?:the[\W_]+)?{_SUBJECT}s?)[\W_]*",
    re.IGNORECASE,
)


def same_within(view: View, rows: NDArray[np.int64]) -> tuple[int, list[int]] | None:
    r"""The feature whose equal values join rows with the same values of two or more others, and these others.

    Two columns are evidence if neither follows from the other (a country and a continent, which follow from a city, are
    only one), and if they jump from one value of the feature to the next (age classes, which follow from an age, do
    not). If rows are independent, a column is the same within all values with the probability
    :math:`\prod_g \sum_v p_v^{n_g}`, with its shares :math:`p_v` and the sizes :math:`n_g` of the groups.
    """
    codes = dict(_codes(view, rows))
    features = np.array([*codes], dtype=np.int64)
    table = np.array([*codes.values()], dtype=np.int32).reshape(len(codes), len(rows))
    for feature, group in codes.items():
        sizes = np.bincount(group[group >= 0])
        if len(sizes) < _FEWEST_VALUES or (sizes > 1).sum() < _FEWEST_REPEATED or sizes.mean() > _MOST_ROWS:
            continue
        if (group >= 0).mean() < 0.9:
            continue
        same: list[int] = []
        for other in features[_may_be_same_within(table, group)].tolist():
            if other != feature and _is_same_within(codes[other], group):
                same.append(other)
            if len(same) == _MOST_SAME:
                break
        pairs = [
            (one, other)
            for one in same
            for other in same
            if one < other and not _follows(codes[one], codes[other]) and not _follows(codes[other], codes[one])
        ]
        if pairs:
            return feature, sorted({one for pair in pairs for one in pair})
    return None


def named_subjects(view: View, rows: NDArray[np.int64]) -> int | None:
    """The feature that is called like a number or a name of patients, and has the same value in several rows."""
    named = [feature for feature, name in enumerate(view.names) if _SUBJECT_NAME.fullmatch(str(name))]
    if not named:
        return None
    for feature, group in _codes(view, rows):
        sizes = np.bincount(group[group >= 0])
        if (
            feature in named
            and len(sizes) >= _FEWEST_VALUES
            and _FEWEST_ROWS_NAMED <= sizes.mean() <= _MOST_ROWS_NAMED
            and (group >= 0).mean() >= 0.9
        ):
            return feature
    return None


def _codes(view: View, rows: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Features with a number for each of their values, in the order of the values; -1 for a missing cell."""
    columns = {int(view.feature_of[column]): view.X[rows, column] for column in view.numbers()}
    columns |= {feature: view.codes_of(feature)[rows] for feature in view.with_levels().tolist()}
    columns |= {
        feature: np.where(codes[rows] < 0, np.nan, codes[rows].astype(np.float64))
        for feature, codes in view.texts.items()
    }
    features = sorted(columns)
    if len(features) > 2 * _MOST_FEATURES:  # names stand first or last
        features = [*features[:_MOST_FEATURES], *features[-_MOST_FEATURES:]]
    for feature in features:
        values = columns[feature]
        known = ~np.isnan(values)
        codes = np.full(len(values), -1)
        codes[known] = np.unique(values[known], return_inverse=True)[1]
        if 1 < len(np.unique(codes[known])) < len(rows):
            yield feature, codes


def _may_be_same_within(table: NDArray[np.int32], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of ``table`` (one per feature) whose known neighbours within a group are equal."""
    order = np.argsort(group, kind="stable")[np.count_nonzero(group < 0) :]
    within = np.flatnonzero(np.diff(group[order]) == 0)
    one, next_one = order[within], order[within + 1]
    candidates = np.arange(len(table))
    for part in (slice(_FIRST_ROWS), slice(_FIRST_ROWS, None)):  # the first pairs rule out nearly all of them
        values, following = table[np.ix_(candidates, one[part])], table[np.ix_(candidates, next_one[part])]
        differs = ((values != following) & (values >= 0) & (following >= 0)).any(axis=1)
        candidates = candidates[~differs]
    return candidates


def _is_same_within(values: NDArray[np.int64], group: NDArray[np.int64]) -> bool:
    """Whether all rows of a group have the same value, and chance hardly does that; several groups share a value."""
    known = (values >= 0) & (group >= 0)
    if known.mean() < 0.5 or not _follows(values, group) or _follows(group, values):
        return False
    values, group = values[known], group[known]
    sizes = np.bincount(group)
    shares = np.log(np.bincount(values)[np.unique(values)] / len(values))
    counts = np.bincount(sizes[sizes > 1])
    chance = sum(counts[size] * np.logaddexp.reduce(size * shares) for size in np.flatnonzero(counts).tolist())
    if chance > np.log(_CHANCE):
        return False
    first = np.unique(group, return_index=True)[1]
    of_groups = values[first]  # the groups are in the order of their names
    if np.sort(np.bincount(of_groups))[::-1][1] < 2 and len(np.unique(of_groups)) == 2:
        return False  # it only marks one group
    ranks = np.unique(of_groups, return_inverse=True)[1].astype(np.float64)
    steps = float((np.diff(ranks) ** 2).mean() / (2 * ranks.var()))
    return steps >= min(max(1 - 3 / float(np.sqrt(len(ranks))), _LOW_STEPS), _HIGH_STEPS)


def _follows(values: NDArray[np.int64], from_these: NDArray[np.int64]) -> bool:
    """Whether equal values of the second always go with one value of the first."""
    known = (values >= 0) & (from_these >= 0)
    if not known.any():
        return False
    order = np.lexsort((values[known], from_these[known]))
    one, other = from_these[known][order], values[known][order]
    return not bool(((one[1:] == one[:-1]) & (other[1:] != other[:-1])).any())
