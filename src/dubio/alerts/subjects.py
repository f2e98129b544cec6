"""Columns that name subjects: by what stays the same within each of their values, or by what they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dubio.alerts.view import View

#: A column that names subjects has at least so many values that occur in several rows, and at most so many rows per
#: value on average. If only its name says so, it has so many values, and so many rows per value.
_FEWEST_REPEATED, _MOST_VISITS = 8, 20.0
_FEWEST_NAMED, _FEWEST_ROWS_NAMED = 20, 1.2
#: Two other columns must be the same in all rows of each value; for each of them, chance does this at most so often.
_CHANCE = 1e-6
#: Mean squared difference between neighbouring values, as a share of that of random ones: an age class is the same for
#: all rows of an age, and changes little from one age to the next. Names in random order have 1, with a standard
#: deviation of one over the root of their number; the line is three of these below 1, but within these limits.
_LOW_STEPS, _HIGH_STEPS = 0.3, 0.7
#: Of a wide table, so many features are looked at as names and as what stays the same.
_MOST_FEATURES = 100
#: Names that people give to such columns.
_SUBJECT_NAME = re.compile(
    r"(?:^|[\W_])(?i:patient|patients?[\W_]*(?:id|nr|no|number|code|name)|patid|pid|mrn|subject[\W_]*(?:id|nr|no|number|"
    r"code)|subj|participant|participant[\W_]*(?:id|nr|no|number|code)|person[\W_]*(?:id|nr|no|number|code)|proband|"
    r"probandin|study[\W_]*id|animal[\W_]*id)$"
)


def same_within(view: View, rows: NDArray[np.int64]) -> tuple[int, list[int]] | None:
    r"""The feature whose equal values join rows with the same values of two or more others, and these others.

    Two columns are evidence if neither follows from the other (a country and a continent, which follow from a city, are
    only one), and if they jump from one value of the feature to the next (age classes, which follow from an age, do
    not). If rows are independent, a column is the same within all values with the probability
    :math:`\prod_g \sum_v p_v^{n_g}`, with its shares :math:`p_v` and the sizes :math:`n_g` of the groups.
    """
    codes = dict(_codes(view, rows))
    for feature, group in codes.items():
        sizes = np.bincount(group[group >= 0])
        if len(sizes) < _FEWEST_REPEATED or (sizes > 1).sum() < _FEWEST_REPEATED or sizes.mean() > _MOST_VISITS:
            continue
        if (group >= 0).mean() < 0.9:
            continue
        same = [other for other, values in codes.items() if other != feature and _is_same_within(values, group)]
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
    for feature, group in _codes(view, rows):
        sizes = np.bincount(group[group >= 0])
        if (
            _SUBJECT_NAME.search(str(view.names[feature]))
            and len(sizes) >= _FEWEST_NAMED
            and _FEWEST_ROWS_NAMED <= sizes.mean() <= _MOST_VISITS
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
