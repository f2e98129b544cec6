"""Alerts about rows: repeated rows, and visits of the same subject."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from dubio.alerts.alert import Alert, View
from dubio.errors import counted
from dubio.target.classes import Classes
from dubio.target.numbers import Numbers, moderate

#: A column that names subjects has at least so many values, of which so many occur in several rows, and at most so many
#: rows per value on average: codes of products, diagnoses or towns often have fewer values, and more rows for each.
_FEWEST_VALUES, _FEWEST_IN_SUBJECT, _MOST_SUBJECT_ROWS = 20, 8, 10.0
#: If only its name says so, it has so many rows per value.
_FEWEST_ROWS_NAMED, _MOST_ROWS_NAMED = 1.2, 20.0
#: Two other columns must be the same in all rows of each value; for each of them, chance does this at most so often.
_CHANCE = 1e-6
#: Mean squared difference between neighbouring values, as a share of that of random ones: an age class is the same for
#: all rows of an age, and changes little from one age to the next. Names in random order have 1, with a standard
#: deviation of one over the root of their number; the line is three of these below 1, but within these limits.
_LOW_STEPS, _HIGH_STEPS = 0.3, 0.7
#: Of a wide table, so many features are looked at as names and as what stays the same.
_MOST_SUBJECT_FEATURES = 100
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
        if len(sizes) < _FEWEST_VALUES or (sizes > 1).sum() < _FEWEST_IN_SUBJECT or sizes.mean() > _MOST_SUBJECT_ROWS:
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
    if len(features) > 2 * _MOST_SUBJECT_FEATURES:  # names stand first or last
        features = [*features[:_MOST_SUBJECT_FEATURES], *features[-_MOST_SUBJECT_FEATURES:]]
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


#: Fewest repeated rows, as a number and as a share of all rows. A row counts if chance gives it at most so many twins.
_FEWEST_REPEATED, _SHARE_REPEATED, _CHANCE_OF_TWIN = 3, 0.02, 0.05
#: Rows of the table and features that are enough to see how alike rows are.
_MOST_ROWS, _MOST_FEATURES = 4000, 200
#: Neighbouring rows are compared in at least so many pairs.
_FEWEST_PAIRS = 30
#: The nearest twentieth of all pairs of rows; among neighbours in the file, so many pairs must be as near as these.
_NEAR, _SHARE_NEAR = 0.05, 0.25
#: Mean squared difference within pairs or groups, as a share of that of random pairs: the median feature has at most
#: this.
_MOST_WITHIN = 0.4
#: A column that is sorted over the file makes neighbours alike; with such a rank correlation it is left out.
_SORTED = 0.9
#: A column that names subjects has at least so many different values, each in at least so many rows on average.
_FEWEST_SUBJECTS, _FEWEST_VISITS = 8, 2.0
#: In this share of the columns, rows of the same subject are alike; in fewer if each subject has one class, which
#: chance does at most so often.
_ALIKE, _ALIKE_IF_PURE, _CHANCE_OF_PURE = 0.5, 1 / 3, 1e-3
#: Of a wide table, so many of the first and of the last columns are taken for names of subjects.
_MOST_CANDIDATES = 50
#: Mean squared difference between the means of neighbouring values, as a share of that of random ones: for names it is
#: near 1, for a measurement that others follow near 0.
_FEWEST_STEPS = 0.7
#: A column that follows the number of the subject goes in even steps, and says nothing.
_LEAST_STEP = 0.05
#: Bins of a numeric target, within which rows are compared.
_BINS = 10


def repeated_alerts(view: View) -> list[Alert]:
    """Rows that occur more than once, more often than the values of the columns make by chance."""
    X = view.X
    if len(X) < 2 or not X.shape[1]:
        return []
    _, first, counts = np.unique(row_keys(view), return_index=True, return_counts=True)
    several = counts > 1
    fewest = max(_FEWEST_REPEATED, _SHARE_REPEATED * len(X))
    if (counts[several] - 1).sum() < fewest:
        return []
    surprising = _twins_by_chance(X, first[several], counts[several]) < _CHANCE_OF_TWIN
    repeated = int((counts[several] - 1)[surprising].sum())
    if repeated < fewest:
        return []
    return [
        Alert(
            "repeated rows",
            (),
            f"{counted(repeated, 'row')} of {len(X)} {'is a repetition' if repeated == 1 else 'are repetitions'} of "
            "other rows",
            "keep each row once, unless different subjects have the same values; q-values assume independent rows",
        )
    ]


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
        return [_same_subject(view, subject, f"rows with the same value of {view.called([subject])} are much alike")]
    same = same_within(view, rows)
    if same is not None:
        feature, others = same
        found = f"rows with the same value of {view.called([feature])} have the same {view.called(others)}"
        like = "several rows of the same subject, or a code with its properties"
        return [_same_subject(view, feature, found, like)]
    if _neighbours_alike(Z, strata, rows):
        return [
            Alert(
                "visits",
                (),
                "rows that stand next to each other in the table are much alike, like visits of the same subject or "
                "moments of the same process; q-values assume independent rows",
                "say with groups= which rows belong together",
            )
        ]
    named = named_subjects(view, rows)
    if named is None:
        return []
    return [_same_subject(view, named, f"many values of {view.called([named])} occur in several rows")]


def _same_subject(view: View, feature: int, found: str, like: str = "visits of the same subject") -> Alert:
    name = str(view.names[feature])
    return Alert(
        "visits",
        (name,),
        f"{found}, like {like}; q-values assume independent rows",
        f"say groups={view.in_python(feature)} if they belong together, and leave the column out",
    )


def _target_codes(view: View) -> NDArray[np.float64] | None:
    known = view.supervision
    if isinstance(known, Classes):
        return known.codes.astype(np.float64)
    return known.values if isinstance(known, Numbers) else None


def row_keys(view: View) -> NDArray[np.uint64]:
    """A number per row that is the same for equal rows (and, but for one in 2**64, only for these)."""
    known = _target_codes(view)
    X = view.X if known is None else np.column_stack([view.X, known])
    factors = np.random.RandomState(0).randint(2**62, size=X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    keys = np.zeros(len(X), dtype=np.uint64)
    for start in range(0, len(X), 8192):
        bits = np.ascontiguousarray(np.nan_to_num(X[start : start + 8192], nan=1e308) + 0.0).view(np.uint64)
        bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        keys[start : start + 8192] = ((bits ^ (bits >> np.uint64(32))) * factors).sum(axis=1, dtype=np.uint64)
    return keys


def _twins_by_chance(
    X: NDArray[np.float64], rows: NDArray[np.int64], repeats: NDArray[np.int64]
) -> NDArray[np.float64]:
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


def _compared(view: View) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Standardised columns of some rows, their features, the stratum of each row (its class), and the rows' places."""
    rows = np.arange(len(view.X))
    if len(rows) > _MOST_ROWS:
        starts = np.linspace(0, len(rows) - 200, _MOST_ROWS // 200).astype(np.int64)
        rows = np.unique(starts[:, None] + np.arange(200))
    columns = np.flatnonzero(view.roles == "value")  # one column per feature
    columns = columns[np.unique(view.feature_of[columns], return_index=True)[1]]
    if len(columns) > _MOST_FEATURES:
        columns = columns[np.linspace(0, len(columns) - 1, _MOST_FEATURES).astype(np.int64)]
    X = view.X[np.ix_(rows, columns)]
    some = ~np.isnan(X).all(axis=0)
    X, columns = X[:, some], columns[some]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X) if X.shape[1] else X
    largest = np.abs(X).max(axis=0) if len(X) else np.ones(X.shape[1])
    X = X / np.where(largest > 0, largest, 1.0)
    spread = X.std(axis=0)
    Z = (X[:, spread > 0] - X[:, spread > 0].mean(axis=0)) / spread[spread > 0]
    return Z, view.feature_of[columns[spread > 0]], _strata(view)[rows], rows


def _strata(view: View) -> NDArray[np.int64]:
    known = view.supervision
    if isinstance(known, Numbers):
        if not known.labelled.any():
            return np.full(len(known.labelled), -1)
        values = np.where(known.labelled, moderate(known.values), np.nan)
        edges = np.nanquantile(values, np.linspace(0, 1, _BINS + 1)[1:-1])
        return np.where(known.labelled, np.digitize(values, edges), -1)
    return np.asarray(known.strata)


def _neighbours_alike(Z: NDArray[np.float64], strata: NDArray[np.int64], rows: NDArray[np.int64]) -> bool:
    place = np.arange(len(Z), dtype=np.float64)
    with np.errstate(invalid="ignore"):
        ranks = rankdata(Z, axis=0)
        ranks = ranks - ranks.mean(axis=0)
        along = (place - place.mean()) @ ranks / np.sqrt(((place - place.mean()) ** 2).sum() * (ranks**2).sum(axis=0))
    Z = Z[:, np.abs(along) < _SORTED]
    first = np.flatnonzero((strata[:-1] == strata[1:]) & (np.diff(rows) == 1))
    if len(first) < _FEWEST_PAIRS or Z.shape[1] == 0:
        return False
    one, other = _random_pairs(strata, strata[first])
    if len(one) < _FEWEST_PAIRS:
        return False
    near, far = (Z[first] - Z[first + 1]) ** 2, (Z[one] - Z[other]) ** 2
    scale = far.mean(axis=0)
    moving = scale > 0
    if not moving.any() or np.median(near[:, moving].mean(axis=0) / scale[moving]) > _MOST_WITHIN:
        return False
    line = np.quantile(far.mean(axis=1), _NEAR)
    return bool((near.mean(axis=1) <= line).mean() >= _SHARE_NEAR)


def _random_pairs(strata: NDArray[np.int64], wanted: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Random pairs of rows of the same stratum, for each stratum in proportion to ``wanted``."""
    rng = np.random.RandomState(0)
    first, second = [], []
    for stratum, count in zip(*np.unique(wanted, return_counts=True), strict=True):
        members = np.flatnonzero(strata == stratum)
        one, other = rng.choice(members, 3 * count), rng.choice(members, 3 * count)
        first.append(one[one != other])
        second.append(other[one != other])
    return np.concatenate(first), np.concatenate(second)


def _subject_column(
    view: View,
    Z: NDArray[np.float64],
    features: NDArray[np.int64],
    strata: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> int | None:
    """The feature whose equal values join rows that are much alike in all others; None if there is none.

    Rows with the next larger value must not be alike: otherwise the column is a measurement that others follow.
    """
    frequent = (np.median(Z, axis=0) != Z).sum(axis=0) >= _FEWEST_SUBJECTS  # a rare event may fall into one group
    Z, features = Z[:, frequent], features[frequent]
    Z = Z - _group_means(Z, np.unique(strata, return_inverse=True)[1])
    moving = (Z**2).sum(axis=0) > 0
    Z, features = Z[:, moving], features[moving]
    if not Z.shape[1]:
        return None
    Z = Z / np.sqrt((Z**2).mean(axis=0))
    columns = view.numbers()
    if len(columns) > 2 * _MOST_CANDIDATES:  # names stand first or last
        columns = np.concatenate([columns[:_MOST_CANDIDATES], columns[-_MOST_CANDIDATES:]])
    for column in columns.tolist():
        values = view.X[rows, column]
        known = np.flatnonzero(~np.isnan(values))
        if len(known) < 0.9 * len(values) or (values[known] != np.floor(values[known])).any():
            continue
        others = Z[:, features != view.feature_of[column]]
        group = _groups_alike(values, known, others, strata)
        if group is None:
            continue
        alike = _within_shares(others[known], group) <= _MOST_WITHIN
        means = _group_means(others[known], group)[np.unique(group, return_index=True)[1]][:, alike]
        steps = ((means[1:] - means[:-1]) ** 2).mean(axis=0) / (2 * means.var(axis=0) + 1e-300)
        if (steps > _LEAST_STEP).any() and np.median(steps[steps > _LEAST_STEP]) >= _FEWEST_STEPS:
            return int(view.feature_of[column])
    for feature, codes in [*view.texts.items(), *((f, view.codes_of(f)) for f in view.with_levels().tolist())]:
        values = codes[rows].astype(np.float64)
        known = np.flatnonzero(~np.isnan(values) & (values >= 0))
        if len(known) >= 0.9 * len(values) and _groups_alike(values, known, Z, strata) is not None:
            return int(feature)
    return None


def _groups_alike(
    values: NDArray[np.float64], known: NDArray[np.int64], Z: NDArray[np.float64], strata: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """The groups of rows with equal values, if there are enough of them and their rows are much alike; else None.

    They must be alike in half of the columns; in a third of them if also each group has only one class, and chance
    hardly does that.
    """
    levels, group = np.unique(values[known], return_inverse=True)
    if not Z.shape[1]:
        return None
    if len(levels) < _FEWEST_SUBJECTS or len(known) < _FEWEST_VISITS * len(levels):
        return None
    few = Z[:, :: max(1, Z.shape[1] // 10)]
    if (_within_shares(few[known], group) < 1.5 * _MOST_WITHIN).mean() < 0.2:
        return None
    alike = float((_within_shares(Z[known], group) <= _MOST_WITHIN).mean())
    needed = _ALIKE_IF_PURE if _are_pure(group, strata[known]) else _ALIKE
    return np.asarray(group) if alike >= needed else None


def _are_pure(group: NDArray[np.int64], strata: NDArray[np.int64]) -> bool:
    """Whether all rows of a group have the same class, and random classes would hardly do that."""
    classes, codes = np.unique(strata, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    if (np.minimum.reduceat(codes[order], starts) != np.maximum.reduceat(codes[order], starts)).any():
        return False
    shares = np.log(np.bincount(codes, minlength=len(classes)) / len(codes))
    sizes = np.diff(starts, append=len(order))
    return bool(sum(np.logaddexp.reduce(size * shares) for size in sizes.tolist()) < np.log(_CHANCE_OF_PURE))


def _group_means(Z: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    """For each row, the means of the rows of its group."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sums = np.add.reduceat(Z[order], starts, axis=0)
    counts = np.diff(starts, append=len(order))
    return np.asarray((sums / counts[:, None])[group])


def _within_shares(Z: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    """The variance within groups as a share of the whole, for each column."""
    within = ((Z - _group_means(Z, group)) ** 2).sum(axis=0) / max(1, len(Z) - int(group.max()) - 1)
    return np.asarray(within / np.maximum(Z.var(axis=0), 1e-300))


@dataclass(frozen=True, eq=False)
class Units:
    """Rows that belong together, or seem to.

    Attributes
    ----------
    shared : tuple of array (n_rows,)
        For each reason why rows depend on each other: a number that such rows share.
    neighbours : bool
        Whether rows that stand next to each other in the table depend on each other.
    """

    shared: tuple[NDArray[np.int64], ...] = ()
    neighbours: bool = False

    def one_of_each(self, rows: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions in ``rows`` of one row of each unit and class; all of them if rows are independent.

        If neighbours depend on each other, neighbours of one class are one unit: nobody knows where a subject ends.
        """
        chosen = np.ones(len(rows), dtype=bool)
        shared = [numbers[rows] for numbers in self.shared]
        if self.neighbours:
            order = np.argsort(rows)
            runs = np.zeros(len(rows), dtype=np.int64)
            runs[order] = np.cumsum(np.diff(codes[order], prepend=-1) != 0)
            shared.append(runs)
        for numbers in shared:
            first = np.unique(numbers * (int(codes.max(initial=0)) + 1) + codes, return_index=True)[1]
            chosen &= np.isin(np.arange(len(rows)), first)
        return np.flatnonzero(chosen)


def units_of(view: View, groups: NDArray[np.int64] | None, of_rows: Sequence[Alert]) -> Units:
    """The units of a table: groups that are given, or what the alerts about its rows suspect."""
    if groups is not None:
        return Units((groups[view.rows],))
    shared, neighbours = [], False
    for alert in of_rows:
        if alert.kind == "repeated rows":
            shared.append(np.unique(row_keys(view), return_inverse=True)[1])
        elif alert.features:
            feature = [str(name) for name in view.names].index(alert.features[0])
            shared.append(np.unique(view.values_of(feature), return_inverse=True)[1])
        else:
            neighbours = True
    return Units(tuple(shared), neighbours)
