"""Alerts about rows: repeated rows, and visits of the same subject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from dubio.alerts.alert import Floats, Rows, View, blocks_of_rows, standard_columns, view_of
from dubio.errors import all_of, name_row
from dubio.findings import Alert
from dubio.problem import Problem
from dubio.table.rows import centred_within, group_means

# A column that names subjects:
_SHARE_PRESENT = 0.9  # of the rows have a value, at least
_FEWEST_VALUES = 20  # different values
_FEWEST_IN_SUBJECT = 8  # of these that occur in several rows
_MOST_SUBJECT_ROWS = 10.0  # rows per value, on average: codes of products, diagnoses or towns often have more
_FEWEST_ROWS_NAMED, _MOST_ROWS_NAMED = 1.2, 20.0  # rows per value, on average, if only its name gives it away
_CHANCE = 1e-6  # the most that chance may make another column the same in all rows of each value; two must be
#: Mean squared difference between neighbouring values, as a share of that of random ones: an age class is the same for
#: all rows of an age, and changes little from one age to the next. Names in random order have 1, with a standard
#: deviation of one over the root of their number; the line is three of these below 1, but between these two.
_LOW_STEPS, _HIGH_STEPS = 0.3, 0.7
_MOST_SUBJECT_FEATURES = 100  # the first and the last features of a wide table, as names and as what stays the same
_MOST_SAME = 8  # columns that stay the same, of which no more are looked for
_FIRST_ROWS = 300  # pairs of rows that show at once that most columns do not stay the same
# Fewest repeated rows that are worth an alert:
_FEWEST_REPEATED = 3  # rows
_SHARE_REPEATED = 0.02  # of all rows
_SHOWN_COPIES, _SHOWN_ROWS = 3, 4  # groups of equal rows that are named, and rows of each
_CHANCE_OF_TWIN = 0.05  # twins: a repeated row counts if chance gives it fewer
# What is enough to see how alike rows are:
_MOST_ROWS = 4000  # rows of the table
_MOST_FEATURES = 200  # features
_FEWEST_PAIRS = 30  # pairs of neighbouring rows
_NEAR, _SHARE_NEAR = 0.05, 0.25  # rows are near if among this share of all pairs; share of neighbours that must be near
#: Rows are alike in a feature if the mean squared difference within pairs or groups is at most this share of that of
#: random pairs.
_MOST_WITHIN = 0.4
_SORTED = 0.9  # rank correlation with the place in the file from which a column is left out: it makes neighbours alike
_FEWEST_SUBJECTS, _FEWEST_VISITS = 8, 2.0  # subjects, and rows of each on average, if their rows are compared
_ALIKE = 0.5  # share of the columns in which rows of the same subject are alike
_ALIKE_IF_PURE, _CHANCE_OF_PURE = 1 / 3, 1e-3  # the same if each has one class, and chance does that less often
_MOST_CANDIDATES = 50  # the first and the last columns of a wide table that may be names of subjects
#: Mean squared difference between the means of neighbouring values, as a share of that of random ones: for names it is
#: near 1, for a measurement that others follow near 0.
_FEWEST_STEPS = 0.7
_LEAST_STEP = 0.05  # a column that follows the number of the subject goes in even steps, and says nothing
_BINS = 10  # of a numeric target, within which rows are compared
#: Names that people give to such columns, as a whole: 'age of patient' and 'in-patient' are measurements.
_NUMBER = r"(?:ids?|nr|no|num|number|code|key|name)"
_SUBJECT = r"(?:patient|pat|subject|subj|participant|person|proband|probandin|case|animal|study)"
_SUBJECT_NAME = re.compile(
    rf"[\W_]*(?:(?:patient|subject|participant|person|proband)s?|probandin|subj|pid|mrn|"
    rf"{_SUBJECT}s?[\W_]*{_NUMBER}|{_NUMBER}[\W_]+(?:of[\W_]+)?(?:the[\W_]+)?{_SUBJECT}s?)[\W_]*",
    re.IGNORECASE,
)


def visit_alerts(view: View) -> list[Alert]:
    """Rows that look like several visits of the same subject.

    A column of whole numbers (or names) whose equal values join rows that are much alike, or that have the same values
    in two other columns; or neighbours in the file that are much alike; or a column that is called like a patient's
    name. Rows are compared within classes, so that a file sorted by class raises nothing. If rows are independent and
    in any order, a quarter of the neighbours fall among the nearest twentieth of all pairs of rows with a probability
    below 1 in 1000 (binomial, from 30 pairs on); a column that is sorted over the whole file is not used.
    """
    Z, features, strata, rows = _compared(view)
    if Z.shape[1] == 0 or len(Z) < _FEWEST_PAIRS:
        return []
    subject = _subject_column(view, Z, features, strata, rows)
    if subject is not None:
        return [_visits(view, "alike", subject)]
    wide = sorted({*view.feature_of[view.numbers].tolist(), *view.with_levels, *view.texts})
    codes = {feature: _codes(view.values_of(feature)[rows]) for feature in _ends(wide, _MOST_SUBJECT_FEATURES)}
    codes = {feature: group for feature, group in codes.items() if 0 < group.max() < len(rows) - 1}
    table = np.array([*codes.values()], dtype=np.int32).reshape(len(codes), len(rows))
    sizes = {  # of the columns that may name subjects: the number of rows of each value
        feature: np.bincount(group[group >= 0])
        for feature, group in codes.items()
        if group.max() >= _FEWEST_VALUES - 1 and (group >= 0).mean() >= _SHARE_PRESENT
    }
    for feature, counts in sizes.items():
        may_name = (counts > 1).sum() >= _FEWEST_IN_SUBJECT and counts.mean() <= _MOST_SUBJECT_ROWS
        if may_name and (same := _same_within(codes, table, feature)):
            return [_visits(view, "same values", feature, same)]
    if _neighbours_alike(Z, strata, rows):
        return [Alert("visits", facts={"why": "neighbours alike"})]
    for feature, counts in sizes.items():
        is_named = _SUBJECT_NAME.fullmatch(str(view.names[feature]))
        if is_named and _FEWEST_ROWS_NAMED <= counts.mean() <= _MOST_ROWS_NAMED:
            return [_visits(view, "name", feature)]
    return []


def _visits(view: View, why: str, feature: int, same: Sequence[int] = ()) -> Alert:
    name = None if view.own_names is None else view.own_names[feature]
    column = name.item() if isinstance(name, np.generic) else name
    facts = {"why": why, "same": view.named(same), "position": feature, "column": column}
    return Alert("visits", view.named([feature]), facts)


def _same_within(codes: dict[int, Rows], table: NDArray[np.int32], feature: int) -> list[int]:
    r"""Two or more features that are the same in all rows of each value of ``feature``; none if there are fewer.

    Two columns are evidence if neither follows from the other (a country and a continent, which follow from a city, are
    only one), and if they jump from one value of the feature to the next (age classes, which follow from an age, do
    not). If rows are independent, a column is the same within all values with the probability
    :math:`\prod_g \sum_v p_v^{n_g}`, with its shares :math:`p_v` and the sizes :math:`n_g` of the groups.
    """
    group = codes[feature]
    others = np.array([*codes])[_may_be_same_within(table, group)].tolist()
    same = (other for other in others if other != feature and _is_same_within(codes[other], group))
    pairs = combinations(sorted(islice(same, _MOST_SAME)), 2)
    apart = [(i, j) for i, j in pairs if not follows(codes[i], codes[j]) and not follows(codes[j], codes[i])]
    return sorted({one for pair in apart for one in pair})


def _ends(features: list[int], most: int) -> dict[int, None]:
    """The first and the last features: names stand there."""
    return dict.fromkeys([*features[:most], *features[-most:]])


def _codes(values: Floats) -> Rows:
    """A number for each value, in the order of the values; -1 for a missing cell."""
    codes = np.unique(values, return_inverse=True)[1]
    return np.where(np.isnan(values), -1, codes)


def _may_be_same_within(table: NDArray[np.int32], group: Rows) -> Rows:
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


def _is_same_within(values: Rows, group: Rows) -> bool:
    """Whether all rows of a group have the same value, and chance hardly does that; several groups share a value."""
    present = (values >= 0) & (group >= 0)
    if present.mean() < 0.5 or not follows(values, group) or follows(group, values):
        return False
    values, group = values[present], group[present]
    sizes = np.bincount(group)
    if log_chance_of_one_value(sizes[sizes > 1], np.bincount(values)) > np.log(_CHANCE):
        return False
    of_groups = values[np.unique(group, return_index=True)[1]]  # the groups are in the order of their names
    if np.sort(np.bincount(of_groups))[::-1][1] < 2 and len(np.unique(of_groups)) == 2:
        return False  # it only marks one group
    ranks = np.unique(of_groups, return_inverse=True)[1].astype(np.float64)
    steps = float((np.diff(ranks) ** 2).mean() / (2 * ranks.var()))
    return steps >= min(max(1 - 3 / float(np.sqrt(len(ranks))), _LOW_STEPS), _HIGH_STEPS)


def follows(values: Rows, from_these: Rows) -> bool:
    """Whether equal values of the second always go with one value of the first; -1 is missing."""
    present = (values >= 0) & (from_these >= 0)
    order = np.lexsort((values[present], from_these[present]))
    one, other = from_these[present][order], values[present][order]
    return len(one) > 0 and not bool(((one[1:] == one[:-1]) & (other[1:] != other[:-1])).any())


def log_chance_of_one_value(sizes: Rows, counts: Rows) -> float:
    """Logarithm of the chance that all rows of each group have the same value, if rows are independent.

    ``sizes`` are the numbers of rows of the groups, ``counts`` those of the values.
    """
    log_shares = np.log(counts[counts > 0] / counts.sum())
    different, times = np.unique(sizes, return_counts=True)
    return float(sum(n * np.logaddexp.reduce(size * log_shares) for size, n in zip(different, times, strict=True)))


def repeated_alerts(view: View) -> list[Alert]:
    """Rows that occur more than once, more often than the values of the columns make by chance."""
    X = view.X
    if len(X) < 2 or not X.shape[1]:
        return []
    _, first, counts = np.unique(row_keys(view), return_index=True, return_counts=True)
    first, counts = first[counts > 1], counts[counts > 1]
    fewest = max(_FEWEST_REPEATED, _SHARE_REPEATED * len(X))
    if (counts - 1).sum() < fewest:
        return []
    real = _twins_by_chance(X, first, counts) < _CHANCE_OF_TWIN
    repeated = int((counts - 1)[real].sum())
    if repeated < fewest:
        return []
    keys = row_keys(view)
    which = [_rows_named(view, np.flatnonzero(keys == keys[row])) for row in first[real][:_SHOWN_COPIES]]
    return [Alert("repeated rows", facts={"repeated": repeated, "rows": len(X), "which": which})]


def contradicting_alerts(view: View) -> list[Alert]:
    """Rows that are equal in all features and have different classes."""
    groups = _contradicting(view)
    if not groups:
        return []
    which = [_rows_named(view, group) for group in groups[:_SHOWN_COPIES]]
    return [Alert("contradicting rows", facts={"rows": int(sum(map(len, groups))), "which": which})]


def contradicting_rows(problem: Problem) -> Rows:
    """The rows whose class is not that of most of their copies: rows that are equal in all features, beyond chance."""
    view = view_of(problem)
    if view is None or problem.groups is not None:
        return np.empty(0, dtype=np.int64)
    codes, odd = view.supervision.given_codes, []
    for group in _contradicting(view):
        assert codes is not None
        counts = np.bincount(codes[group])
        odd.append(group[counts[codes[group]] < counts.max()] if (counts == counts.max()).sum() == 1 else group)
    return view.rows[np.concatenate(odd)] if odd else np.empty(0, dtype=np.int64)


def _contradicting(view: View) -> list[Rows]:
    """Groups of labelled rows that are equal in all features, beyond chance, and have different classes."""
    codes = view.supervision.given_codes
    if codes is None or len(view.X) < 2 or not view.X.shape[1]:
        return []
    labelled = np.flatnonzero(codes >= 0)
    keys = row_keys(view, with_target=False)[labelled]
    order = np.lexsort((labelled, keys))
    groups = np.split(labelled[order], np.flatnonzero(np.diff(keys[order])) + 1)
    groups = [group for group in groups if len(np.unique(codes[group])) > 1]
    if not groups:
        return []
    first, sizes = np.array([group[0] for group in groups]), np.array([len(group) for group in groups])
    real = _twins_by_chance(view.X, first, sizes) < _CHANCE_OF_TWIN
    return sorted((group for group, is_real in zip(groups, real, strict=True) if is_real), key=lambda group: group[0])


def _rows_named(view: View, rows: Rows) -> str:
    return all_of(name_row(int(view.rows[row])) for row in rows[:_SHOWN_ROWS])


def row_keys(view: View, with_target: bool = True) -> NDArray[np.uint64]:
    """A number per row that is the same for equal rows (and, but for one in 2**64, only for these)."""
    numbers = view.supervision.row_numbers if with_target else None
    X = view.X if numbers is None else np.column_stack([view.X, numbers])
    factors = np.random.RandomState(0).randint(2**62, size=X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    keys = np.zeros(len(X), dtype=np.uint64)
    for start in range(0, len(X), 8192):
        bits = np.ascontiguousarray(np.nan_to_num(X[start : start + 8192], nan=1e308) + 0.0).view(np.uint64)
        bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        keys[start : start + 8192] = ((bits ^ (bits >> np.uint64(32))) * factors).sum(axis=1, dtype=np.uint64)
    return keys


def _twins_by_chance(X: Floats, rows: Rows, repeats: Rows) -> Floats:
    """About how many rows have the same values as each of these rows by chance.

    The chance of a value is its share in its column, among rows that are not repetitions of this one. Columns are
    related, so that only half of them (half of the sum of the logarithms) are counted.
    """
    logs = np.zeros(len(rows))
    for column in X.T:
        values, counts = np.unique(column, return_counts=True)
        others = counts[np.minimum(np.searchsorted(values, column[rows]), len(counts) - 1)] - repeats
        logs += np.log((np.maximum(others, 0) + 0.5) / len(X))
    return np.asarray(len(X) * np.exp(0.5 * logs))


def _compared(view: View) -> tuple[Floats, Rows, Rows, Rows]:
    """Standardised columns of some rows, their features, the stratum of each row (its class), and the rows' places."""
    rows = blocks_of_rows(len(view.X), _MOST_ROWS)
    columns = np.flatnonzero(view.roles == "value")  # one column per feature
    columns = columns[np.unique(view.feature_of[columns], return_index=True)[1]]
    columns = columns[np.linspace(0, len(columns) - 1, min(len(columns), _MOST_FEATURES)).astype(np.int64)]
    X = view.X[np.ix_(rows, columns)]
    some = ~np.isnan(X).all(axis=0)
    X, columns = X[:, some], columns[some]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X) if X.shape[1] else X
    largest = np.abs(X).max(axis=0, initial=0.0)
    X = X / np.where(largest > 0, largest, 1.0)
    Z, varies = standard_columns(X)
    return Z, view.feature_of[columns[varies]], view.supervision.binned(_BINS)[rows], rows


def _neighbours_alike(Z: Floats, strata: Rows, rows: Rows) -> bool:
    middle = (len(Z) - 1) / 2
    place, ranks = np.arange(len(Z)) - middle, rankdata(Z, axis=0) - 1 - middle
    with np.errstate(invalid="ignore"):
        along = place @ ranks / np.sqrt((place**2).sum() * (ranks**2).sum(axis=0))
    Z = Z[:, np.abs(along) < _SORTED]
    first = np.flatnonzero((strata[:-1] == strata[1:]) & (np.diff(rows) == 1))
    if len(first) < _FEWEST_PAIRS or Z.shape[1] == 0:
        return False
    one, other = _random_pairs(strata, strata[first])
    if len(one) < _FEWEST_PAIRS:
        return False
    near, far = (Z[first] - Z[first + 1]) ** 2, (Z[one] - Z[other]) ** 2
    moving = far.any(axis=0)
    if not moving.any() or np.median(near[:, moving].mean(axis=0) / far[:, moving].mean(axis=0)) > _MOST_WITHIN:
        return False
    line = np.quantile(far.mean(axis=1), _NEAR)
    return bool((near.mean(axis=1) <= line).mean() >= _SHARE_NEAR)


def _random_pairs(strata: Rows, wanted: Rows) -> Rows:
    """Random pairs of rows of the same stratum, for each stratum in proportion to ``wanted``."""
    rng = np.random.RandomState(0)
    pairs = []
    for stratum, count in zip(*np.unique(wanted, return_counts=True), strict=True):
        members = np.flatnonzero(strata == stratum)
        one, other = rng.choice(members, 3 * count), rng.choice(members, 3 * count)
        pairs.append(np.stack([one, other])[:, one != other])
    return np.hstack(pairs)


def _subject_column(view: View, Z: Floats, features: Rows, strata: Rows, rows: Rows) -> int | None:
    """The feature whose equal values join rows that are much alike in all others; None if there is none.

    Rows with the next larger value must not be alike: otherwise the column is a measurement that others follow.
    """
    frequent = (np.median(Z, axis=0) != Z).sum(axis=0) >= _FEWEST_SUBJECTS  # a rare event may fall into one group
    Z = centred_within(Z[:, frequent], np.unique(strata, return_inverse=True)[1])
    moving = (Z**2).sum(axis=0) > 0
    Z, features = Z[:, moving], features[frequent][moving]
    if not Z.shape[1]:
        return None
    Z = Z / np.sqrt((Z**2).mean(axis=0))
    numbers = view.feature_of[view.numbers].tolist()
    candidates = _ends(numbers, _MOST_CANDIDATES)
    for feature in (*candidates, *view.texts, *view.with_levels):
        values = view.values_of(feature)[rows]
        present = np.flatnonzero(~np.isnan(values))
        if len(present) < _SHARE_PRESENT * len(rows) or (values[present] != np.floor(values[present])).any():
            continue
        group, others = np.unique(values[present], return_inverse=True)[1], Z[:, features != feature][present]
        if not _are_alike(group, others, strata[present]):
            continue
        if feature not in candidates:  # text, or categories
            return feature
        means = group_means(others, group)[:, _within_shares(others, group) <= _MOST_WITHIN]
        steps = ((means[1:] - means[:-1]) ** 2).mean(axis=0) / (2 * means.var(axis=0) + 1e-300)
        if (steps > _LEAST_STEP).any() and np.median(steps[steps > _LEAST_STEP]) >= _FEWEST_STEPS:
            return feature
    return None


def _are_alike(group: Rows, Z: Floats, strata: Rows) -> bool:
    """Whether there are enough groups, and their rows are much alike.

    They must be alike in half of the columns; in a third of them if also each group has only one class, and chance
    hardly does that.
    """
    n_groups, classes = int(group.max(initial=-1)) + 1, np.unique(strata, return_inverse=True)[1]
    if not Z.shape[1] or n_groups < _FEWEST_SUBJECTS or len(group) < _FEWEST_VISITS * n_groups:
        return False
    if (_within_shares(Z[:, :: max(1, Z.shape[1] // 10)], group) < 1.5 * _MOST_WITHIN).mean() < 0.2:
        return False
    alike = float((_within_shares(Z, group) <= _MOST_WITHIN).mean())
    chance = log_chance_of_one_value(np.bincount(group), np.bincount(classes))
    are_pure = follows(classes, group) and chance < np.log(_CHANCE_OF_PURE)
    return alike >= (_ALIKE_IF_PURE if are_pure else _ALIKE)


def _within_shares(Z: Floats, group: Rows) -> Floats:
    """The variance within groups as a share of the whole, for each column."""
    within = (centred_within(Z, group) ** 2).sum(axis=0) / max(1, len(Z) - int(group.max()) - 1)
    return np.asarray(within / np.maximum(Z.var(axis=0), 1e-300))


class Units(NamedTuple):
    """Rows that belong together, or seem to.

    Attributes
    ----------
    shared : list of array (n_rows,)
        For each reason why rows depend on each other: a number that such rows share.
    neighbours : bool
        Whether rows that stand next to each other in the table depend on each other.
    """

    shared: list[Rows]
    neighbours: bool = False

    def one_of_each(self, rows: Rows, codes: Rows) -> Rows:
        """Positions in ``rows`` of one row of each unit and class; all of them if rows are independent.

        If neighbours depend on each other, neighbours of one class are one unit: nobody knows where a subject ends.
        """
        chosen = np.ones(len(rows), dtype=bool)
        shared = [numbers[rows] for numbers in self.shared]
        if self.neighbours:
            order = np.argsort(rows)
            shared.append(np.cumsum(np.diff(codes[order], prepend=-1) != 0)[np.argsort(order)])
        for numbers in shared:
            first = np.unique(numbers * (int(codes.max(initial=0)) + 1) + codes, return_index=True)[1]
            chosen &= np.isin(np.arange(len(rows)), first)
        return np.flatnonzero(chosen)


def units_of(view: View, groups: Rows | None, of_rows: Sequence[Alert]) -> Units:
    """The units of a table: groups that are given, or what the alerts about its rows suspect."""
    if groups is not None:
        return Units([groups[view.rows]])
    shared, neighbours = [], False
    for alert in of_rows:
        if alert.kind == "repeated rows":
            shared.append(np.unique(row_keys(view), return_inverse=True)[1])
        elif alert.features:
            shared.append(np.unique(view.values_of(alert.facts["position"]), return_inverse=True)[1])
        else:
            neighbours = True
    return Units(shared, neighbours)
