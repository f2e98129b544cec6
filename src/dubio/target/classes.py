"""Classes: one per labelled row, or a probability for each."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from dubio.checks import require_memory
from dubio.errors import InputError, InputWarning, counted, listed, name_row, nearest, quoted, warn
from dubio.kernels.memberships import INFINITE, NEGATIVE, PARTLY_NAN, WRONG_SUM, read_membership_rows
from dubio.kernels.threads import chunks, default_threads, run_chunks
from dubio.table.cells import type_of
from dubio.table.rows import group_means
from dubio.target.comparisons import Comparison, OneAgainstRest
from dubio.target.knowledge import Floats, SummedColumns, Supervision, mean_if_missing
from dubio.target.label_values import ArrayByRow, usual_floats, written
from dubio.target.pairs import Pairs

#: What many programs write for "no label". With only two classes it may be one of them, as in -1 and 1.
_MINUS_ONE = "-1"
#: Text that usually means "no label". A lower-case "none" is not here: it may well be a class.
_MISSING_IN_WORDS = ("", "nan", "NaN", "None", "<NA>")


class OddClassNames(InputWarning):
    """Classes are read as they are written, which may not be what the user meant."""


def _warn_of_odd_names(classes: NDArray[Any], codes: NDArray[np.int64]) -> None:
    """Warn of text classes that differ only in case or spaces, and of those that look like a missing label."""
    if classes.dtype.kind != "U":
        return
    names = classes.tolist()
    words = (*_MISSING_IN_WORDS, _MINUS_ONE) if len(names) > 2 else _MISSING_IN_WORDS
    missing = [index for index, name in enumerate(names) if name.strip() in words]
    if missing:
        found = f"has text labels that look like missing labels: {_counted(names, codes, missing)}"
        found += ". They are read as classes"
        warn(OddClassNames("y", found, "write None for rows without a label", code="missing in words"))
    spellings: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        spellings.setdefault(name.strip().casefold(), []).append(index)
    alike = [index for group in spellings.values() if len(group) > 1 for index in group if index not in missing]
    if len(alike) > 1:
        found = f"has classes that differ only in case or spaces: {_counted(names, codes, alike)}"
        found += ". They are read as different classes"
        warn(OddClassNames("y", found, "if they are the same class, spell them the same way"))


def _counted(names: list[str], codes: NDArray[np.int64], wanted: list[int]) -> str:
    """``'yes' (12 rows), 'Yes ' (3 rows)``."""
    counts = np.bincount(codes, minlength=len(names))
    return listed((f"{quoted(names[index])} ({counted(int(counts[index]), 'row')})" for index in wanted), 5)


#: More classes than this, with few rows each, are no classes but names of rows.
_MOST_CLASSES = 1000
#: Rows of each class, on average, that more classes than that need.
_FEWEST_ROWS = 10
#: Cells of a table of memberships that fits into any memory (8 MB).
_CELLS_THAT_FIT = 1_000_000
#: Most classes that are compared with all others: the largest.
_MOST_COMPARED = 50
#: Labelled rows from which on values that are all different are no classes.
_ALL_DIFFERENT = 6


@dataclass(frozen=True, kw_only=True)
class OfClasses(Supervision, ABC):
    """Knowledge of classes, sure or not: the names of the classes, and the membership of every row in each class."""

    classes: NDArray[Any]

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    def require_enough(self) -> None:
        refuse_one_class(self.classes, self.rows_per_class() > 0, self.n_rows, self.n_labelled)

    def rows_per_class(self) -> NDArray[np.int64]:
        """How many rows may belong to each class."""
        return np.count_nonzero(self.memberships, axis=0)

    def as_tested(self) -> Supervision:
        return self

    def goals(self) -> list[Floats]:
        return [mean_if_missing(self.memberships, self.labelled)]

    def read_truth(self, values: NDArray[Any]) -> Supervision:
        places = {written(name): code for code, name in enumerate(self.classes.tolist())}
        codes = np.full(self.n_rows, -1, dtype=np.int64)
        for row in np.flatnonzero([value is not None for value in values]).tolist():
            name = written(values[row])
            if name not in places:
                found = f"has {quoted(name)} in {name_row(row)}, and the target has no such class"
                near = nearest(name, list(places))
                hint = f"did you mean {listed(map(quoted, near))}?" if near else f"its classes are {listed(places)}"
                raise InputError("checked", found, hint)
            codes[row] = places[name]
        return self.as_kind(Classes, labelled=codes >= 0, codes=codes)

    def comparisons(self, weights: Floats) -> dict[str, Comparison]:
        """Each class against the others; of two, the second against the first."""
        rows = np.flatnonzero(self.labelled)
        memberships = self.memberships[rows]
        often = np.argsort(-memberships.sum(axis=0), kind="stable")[:_MOST_COMPARED]
        shown = np.array([1]) if self.n_classes == 2 else np.sort(often)
        names = tuple(str(self.classes[k]) for k in shown.tolist())
        return {"": OneAgainstRest(rows, weights[rows], memberships[:, shown], names)}

    def summed_columns(self, weights: Floats) -> SummedColumns:
        mean = weights @ self.memberships / (float(weights.sum()) or 1.0)
        return SummedColumns(np.zeros(self.n_classes), mean, self.memberships.__getitem__)

    def column_names(self) -> NDArray[Any]:
        return self.classes

    def as_drawn(self) -> tuple[Floats, list[str], NDArray[np.int64]]:
        """Memberships, and the classes from the largest to the smallest."""
        order = np.argsort(-self.memberships.sum(axis=0), kind="stable")
        return self.memberships, [str(name) for name in self.classes.tolist()], order

    @classmethod
    def attributes_of(cls, names: NDArray[Any]) -> dict[str, Any]:
        return {"classes_": names}

    @classmethod
    def n_independent(cls, weights: Floats) -> int:
        """One less than there are classes with rows."""
        return int(np.count_nonzero(weights)) - 1

    def require_weights(self, weights: Floats) -> None:
        super().require_weights(weights)
        if np.count_nonzero(self.memberships[weights > 0].any(axis=0)) < 2:
            raise InputError("sample_weight", "leaves only one class", "two classes need rows of positive weight")

    def require_two_rows_per_class(self) -> None:
        rows_of = self.rows_per_class()
        lonely = np.flatnonzero(rows_of == 1)
        if len(lonely) == 0:
            return
        if self.form == "hard" and self.classes.dtype.kind in "iu" and 3 * len(lonely) > len(rows_of) > 20:
            _raise_regression(len(rows_of), self.n_labelled, len(lonely))
        row = int(np.flatnonzero(self.memberships[:, lonely[0]] > 0)[0])
        first, which = self.classes.tolist()[lonely[0]], counted(len(lonely), "such class", "such classes")
        found = f"has only one row of class {first!r} ({name_row(row)}; {which})"
        found += ", so there is no other row of this class to measure a distance to"
        raise InputError("y", found, "give it a second row, merge it with another class, or leave it out")

    def _in_short(self) -> str:
        return counted(self.n_classes, "class", "classes")

    def _counts_of_classes(self) -> list[tuple[str, str]]:
        return [("classes", f"{self.n_classes:,}")]

    def _mean_of_groups(self, groups: NDArray[np.int64], weights: Floats | None) -> Supervision:
        means = group_means(self.memberships, groups, weights)
        return Memberships(labelled=np.ones(len(means), dtype=bool), classes=self.classes, memberships=means)

    def _target_columns(self, rows: NDArray[Any]) -> Floats:
        return np.asarray(self.memberships[rows])


@dataclass(frozen=True, kw_only=True)
class Classes(OfClasses):
    """One class per labelled row; the label may be wrong."""

    kind: ClassVar[str] = "hard"
    usual_scores: ClassVar[tuple[str, ...]] = ("smooth_r2", "relieff")
    words: ClassVar[str] = "classes"
    given: ClassVar[str] = "the target holds classes"
    form: ClassVar[str] = "hard"
    goes_with_pairs: ClassVar[bool] = True
    believed: ClassVar[str] = "classes"
    _by_row: ClassVar[dict[str, Any]] = {"codes": -1}

    #: Position of each row's class in ``classes``; -1 for a row without a label.
    codes: NDArray[np.int64] = field(repr=False)
    #: Rows whose label a person looked at again and decided: it is not doubted.
    confirmed: NDArray[np.bool_] | None = field(default=None, repr=False)

    @cached_property
    def memberships(self) -> Floats:
        """One-hot rows; made when a method first needs them."""
        if self.n_rows * self.n_classes > _CELLS_THAT_FIT:
            what = f"memberships of {self.n_rows} rows in {self.n_classes} classes"
            remedy = "is the target an identifier, or a number (target='numbers')?"
            require_memory(8.0 * self.n_rows * self.n_classes, what, remedy, argument="y")
        memberships = np.empty((self.n_rows, self.n_classes))
        np.equal(self.codes[:, None], np.arange(self.n_classes), out=memberships)
        memberships.setflags(write=False)
        return memberships

    def require_enough(self) -> None:
        if self.n_labelled >= _ALL_DIFFERENT and self.rows_per_class().max() == 1:
            if self.classes.dtype.kind in "iu":
                _raise_regression(self.n_classes, self.n_labelled, self.n_classes)
            found = f"has a different value in each of its {self.n_labelled} labelled rows"
            raise InputError("y", found, "classes must repeat. Is it an identifier, or a number (target='numbers')?")
        super().require_enough()

    @property
    def strata(self) -> NDArray[np.int64]:
        return self.codes

    @property
    def one_per_row(self) -> NDArray[Any] | None:
        return self.codes

    @property
    def given_codes(self) -> NDArray[np.int64]:
        return self.codes

    @property
    def row_numbers(self) -> Floats:
        return self.codes.astype(np.float64)

    def rows_per_class(self) -> NDArray[np.int64]:
        return np.bincount(self.codes[self.codes >= 0], minlength=self.n_classes)

    def likeliest(self) -> Self:
        return self

    @property
    def can_be_judged(self) -> bool:
        return int(np.count_nonzero(self.rows_per_class() >= 2)) >= 2

    @property
    def lonely_classes(self) -> list[Any]:
        return list(self.classes[self.rows_per_class() == 1].tolist())

    def grades(self) -> tuple[Floats, NDArray[np.int64]] | None:
        if self.classes.dtype.kind == "U" and all(name.isdecimal() for name in self.classes.tolist()):
            by_number = np.argsort(self.classes.astype(np.float64), kind="stable")  # as text, "10" is before "2"
        elif self.classes.dtype.kind in "iuf":
            by_number = np.arange(self.n_classes)
        else:
            return None
        return self.classes[by_number].astype(np.float64), np.append(np.argsort(by_number), -1)[self.codes]

    def highest_error_rate(self, flips: str) -> float:
        """For labels changed to any class, chance; to the next class, one half: beyond it, that is the common label."""
        return {"uniform": 1.0 - 1.0 / self.n_classes, "next": 0.5}.get(flips, 1.0)

    def with_errors(self, rate: float, flips: str, rng: np.random.Generator) -> Self:
        """Exactly that share of the labels changed, to any other class ("uniform") or to the next one ("next").

        "one-class": that share of the labels of the largest class, to any other.
        """
        codes = np.array(self.codes)
        rows = np.flatnonzero(self.labelled)
        if flips == "one-class":
            rows = rows[codes[rows] == self.rows_per_class().argmax()]
        rows = rng.permutation(rows)[: round(rate * len(rows))]
        step = 1 if flips == "next" else rng.integers(1, self.n_classes, len(rows))
        codes[rows] = (codes[rows] + step) % self.n_classes
        return self.with_codes(codes)

    def summed_columns(self, weights: Floats) -> SummedColumns:
        """The memberships; they are made of a few rows at a time, so that no one-hot table is needed."""
        sums = np.bincount(self.codes + 1, weights, minlength=self.n_classes + 1)[1:]
        places = np.arange(self.n_classes)
        mean = sums / (float(weights.sum()) or 1.0)
        return SummedColumns(np.zeros(self.n_classes), mean, lambda rows: np.asarray(self.codes[rows, None] == places))

    @classmethod
    def joined_names(cls, mine: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        """All classes, sorted; a block without any label has none."""
        if not (len(mine) and len(theirs)):
            return mine if len(mine) else theirs
        both = (mine, theirs)
        words = {"bool": "bools", "number": "numbers"}
        sorts = [words.get(str(type_of(type(names.tolist()[0]))), "text") for names in both]
        if sorts[0] != sorts[1]:  # check this first: False equals 0 but means another thing
            one, other = (f"{sort} (such as {names.tolist()[0]!r})" for sort, names in zip(sorts, both, strict=True))
            raise InputError("y", f"holds {one} in one block and {other} in another", "give all labels one type")
        return mine if np.array_equal(mine, theirs) else np.unique(np.concatenate([mine, theirs]))

    def at_rows(self, places: NDArray[np.int64], n_rows: int) -> Self:
        return replace(super().at_rows(places, n_rows), confirmed=None)

    def with_codes(self, codes: NDArray[np.int64]) -> Self:
        """The same classes with other labels."""
        confirmed = None if self.confirmed is None else self.confirmed & (codes == self.codes)
        return replace(self, labelled=codes >= 0, codes=codes, confirmed=confirmed)

    def _counts_of_labels(self) -> dict[str, int]:
        return {"rows with one class each": self.n_labelled}

    def _described(self) -> str:
        return f"one class each ({self._in_short()})"

    def _taken(self, index: NDArray[np.int64], pairs: Pairs) -> Self:
        """Classes that none of the chosen rows has are dropped."""
        codes = self.codes[index]
        present = np.bincount(codes[codes >= 0], minlength=self.n_classes) > 0
        classes = self.classes
        if not present.all():
            new_code = np.append(np.cumsum(present) - 1, -1)  # code -1 reads the last place
            codes, classes = new_code[codes], classes[present]
        confirmed = None if self.confirmed is None else self.confirmed[index]
        return replace(self, labelled=codes >= 0, pairs=pairs, classes=classes, codes=codes, confirmed=confirmed)


_REGRESSION = "this looks like regression, and this method needs classes. For a numeric target use a method such as "
_REGRESSION += "SupervisedLaplacianScore"


def _raise_regression(n_classes: int, n_labelled: int, n_lonely: int) -> NoReturn:
    found = f"holds {n_classes} distinct whole numbers in {n_labelled} rows, {n_lonely} of them once"
    raise InputError("y", f"{found} (Unknown label type)", _REGRESSION, code="regression")


def refuse_one_class(classes: NDArray[Any], has_rows: Any, n_rows: int, n_labelled: int) -> None:
    """Raise unless two of the classes have rows."""
    if n_labelled == 0:
        remedy = "label some rows, or use an unsupervised method such as LaplacianScore"
        raise InputError("y", f"has no labelled row (all {n_rows} rows are unlabelled)", remedy, code="no labels")
    present = np.flatnonzero(has_rows)
    if len(present) < 2:
        name = classes.tolist()[present[0]]
        has_blanks = n_labelled < n_rows
        offer = ". If the rows without a label may be of this class or not, pass positive_unlabelled(y)"
        found = f"has only one class ({name!r} in {counted(n_labelled, 'labelled row')})"
        remedy = "at least two classes are needed to tell which features separate them" + (offer if has_blanks else "")
        raise InputError("y", found, remedy, code="one class and blanks" if has_blanks else "")


def read_classes(
    values: NDArray[Any], missing: NDArray[np.bool_], missing_label: Any, ordered: list[Any] | None, is_block: bool
) -> Classes:
    """Classes from the known values, the mask of the missing rows, and a declared order of the classes."""
    if values.dtype.kind == "f":
        values = _whole_classes(values)
    hidden = _also_missing(values, missing, missing_label)
    classes, inverse = _sorted_classes(values[~hidden] if hidden.any() else values)
    if missing_label == "auto" and hidden.any() and len(classes) == 1 and not is_block:
        found = f"holds -1 in {counted(int(hidden.sum()), 'row')} and only one other value ({classes.tolist()[0]!r})"
        found += ". -1 means unlabelled (scikit-learn's convention), so only one class is left"
        raise InputError("y", found, "if -1 is a class, pass missing_label=None", code="minus one")
    if not is_block:
        if len(classes) > _MOST_CLASSES and len(inverse) < _FEWEST_ROWS * len(classes):  # before one is made of each
            labelled, example = counted(len(inverse), "labelled row"), quoted(classes.tolist()[0])
            found = f"holds {len(classes)} different values in {labelled}, such as {example}"
            remedy = "is it an identifier? Give what is to be predicted. If it is a number, say target='numbers'"
            raise InputError("y", found, remedy, code="many names")
        _warn_of_odd_names(classes, inverse)
    if ordered is not None:
        position = {value: index for index, value in enumerate(ordered)}
        order = np.argsort([position.get(value, len(position)) for value in classes.tolist()], kind="stable")
        classes, inverse = classes[order], np.argsort(order)[inverse]
    codes = inverse
    if len(codes) < len(missing):
        codes = np.full(len(missing), -1, dtype=np.int64)
        codes[np.flatnonzero(~missing)[~hidden]] = inverse
    return Classes(labelled=codes >= 0, classes=classes, codes=codes)


def is_whole(values: NDArray[Any]) -> bool:
    """Whether all values are finite whole numbers."""
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def _whole_classes(values: NDArray[Any]) -> NDArray[Any]:
    """Turn classes written as floats (1.0, 2.0) into whole numbers."""
    if not np.isfinite(values).all():
        raise InputError("y", "contains infinity", "use NaN or None for unlabelled rows")
    if not is_whole(values):
        between = values.min() >= 0 and values.max() <= 1
        hint = ". Pass probabilities of one class as two columns: y = np.column_stack([1 - p, p])" if between else ""
        example = values[values != np.floor(values)][0]
        found = f"holds {len(np.unique(values))} distinct numbers that are not whole, such as {example:g}"
        found += " (Unknown label type: continuous)"
        code = "probabilities of one class" if between else "regression"
        raise InputError("y", found, _REGRESSION + hint, code=code)
    if np.abs(values).max(initial=0.0) > 2**53:
        largest = values[np.abs(values).argmax()]
        raise InputError("y", f"holds {largest:g}", "classes that are numbers must be whole and below 2**53")
    return values.astype(np.int64)


def _also_missing(values: NDArray[Any], missing: NDArray[np.bool_], missing_label: Any) -> NDArray[np.bool_]:
    """Which known values mean "unlabelled": -1 by default, or the value of ``missing_label``."""
    hidden = np.zeros(len(values), dtype=bool)
    if missing_label is None:
        return hidden
    if missing_label != "auto":
        try:
            same = np.asarray(values == missing_label, dtype=bool)
        except OverflowError:  # a whole number beyond all that the values can be
            return hidden
        return same if same.shape == values.shape else hidden  # a value of another type equals nothing
    if values.dtype.kind in "iu":
        hidden = values == -1
        if hidden.any() and missing.any():
            one, other = (counted(int(rows.sum()), "row") for rows in (hidden, missing))
            found = f"has both -1 ({one}) and missing values ({other}). Both are read as unlabelled"
            warn(InputWarning("y", found, "pass missing_label=None if -1 is a class", code="minus one"))
    return hidden


def _sorted_classes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct values, sorted, and the position of each value among them."""
    if values.dtype.kind in "iu" and len(values) and int(values.max()) < 2**63:
        lowest, highest = int(values.min()), int(values.max())
        if highest - lowest < 65_536:  # count instead of sorting: ten times faster on a million rows
            offset = values.astype(np.int64)
            offset -= lowest
            occurs = np.bincount(offset) > 0
            return (np.flatnonzero(occurs) + lowest).astype(values.dtype), (np.cumsum(occurs) - 1)[offset]
    classes, inverse = np.unique(values, return_inverse=True)
    return classes, inverse.astype(np.int64)


#: How far the sum of a row of probabilities may be from 1.
SUM_TOLERANCE = 1e-6
_TOLERANCES = {"float32": 10 * SUM_TOLERANCE, "float16": 1000 * SUM_TOLERANCE}


@dataclass(frozen=True, kw_only=True)
class Memberships(OfClasses):
    """A probability for each class of each labelled row, which sum to 1; a row without a label is all zero."""

    kind: ClassVar[str] = "soft"
    usual_scores: ClassVar[tuple[str, ...]] = ("smooth_r2", "soft_relief")
    words: ClassVar[str] = "class probabilities"
    given: ClassVar[str] = "the target holds class probabilities"
    no_audit: ClassVar[tuple[str, str]] = (
        "has shape ({0.n_rows}, {0.n_classes}), class probabilities, which already express uncertainty",
        "an audit needs one label per row: give the labels of one person, or the class that most people chose",
    )
    form: ClassVar[str] = "soft"
    believed: ClassVar[str] = "memberships"
    resample: ClassVar[str] = "labels"
    no_worst: ClassVar[str] = "for probabilities"
    _by_row: ClassVar[dict[str, Any]] = {"memberships": 0.0}

    memberships: Floats = field(repr=False)

    @classmethod
    def joined_names(cls, mine: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        if not np.array_equal(mine, theirs):
            found = f"has different classes in different blocks: {mine.tolist()} and {theirs.tolist()}"
            raise InputError("y", found, "give the same columns of probabilities in every block")
        return mine

    def certain(self) -> Supervision:
        return self.likeliest() if np.isin(self.memberships, (0.0, 1.0)).all() else self

    def drawn(self, rng: np.random.Generator) -> Classes:
        codes = (rng.random(self.n_rows)[:, None] > self.memberships.cumsum(axis=1)).sum(axis=1)
        codes = np.minimum(codes, self.n_classes - 1)  # a sum may be slightly below 1
        return self._classes(np.where(self.labelled, codes, -1).astype(np.int64))

    def likeliest(self) -> Classes:
        return self._classes(np.where(self.labelled, self.memberships.argmax(axis=1), -1).astype(np.int64))

    def with_errors(self, rate: float, flips: str, rng: np.random.Generator) -> Classes:
        """Classes drawn from probabilities that moved by the share ``rate`` of the way to the shares of the classes."""
        shares = self.memberships[self.labelled].mean(axis=0)
        flat = np.where(self.labelled[:, None], (1.0 - rate) * self.memberships + rate * shares, 0.0)
        return replace(self, memberships=flat).drawn(rng)

    def _counts_of_labels(self) -> dict[str, int]:
        certain = int((self.memberships[self.labelled].max(axis=1) >= 1 - 1e-9).sum())
        return {"rows with class probabilities": self.n_labelled, "of these, rows with a certain class": certain}

    def _classes(self, codes: NDArray[np.int64]) -> Classes:
        return self.as_kind(Classes, labelled=codes >= 0, codes=codes)

    def _described(self) -> str:
        return f"class probabilities ({self._in_short()})"


@dataclass(frozen=True)
class SoftLabels(ArrayByRow):
    """Memberships with the names of their classes. Pass them as ``y`` to any method that accepts soft labels.

    Attributes
    ----------
    memberships : array (n, classes)
        A row sums to 1; a row of NaN is unlabelled.
    classes : array (classes,)
        Name of each column.
    confusions : array (annotators, classes, classes) or None
        With Dawid-Skene: ``confusions[a, k, l]`` is the probability that annotator ``a`` says ``l`` when ``k`` is true.
    priors : array (classes,) or None
        With Dawid-Skene: the share of each class.
    n_iter : int
        Iterations of Dawid-Skene (0 otherwise).
    """

    _by_row: ClassVar[tuple[str, ...]] = ("memberships",)

    memberships: Floats
    classes: NDArray[Any]
    confusions: Floats | None = None
    priors: Floats | None = None
    n_iter: int = 0

    @property
    def most_likely(self) -> NDArray[Any]:
        """The most probable class of each row (None where unlabelled)."""
        labelled = ~np.isnan(self.memberships).any(axis=1)
        best = np.full(len(self), None, dtype=object)
        best[labelled] = self.classes[self.memberships[labelled].argmax(axis=1)]
        return best


def read_memberships(table: NDArray[Any], names: NDArray[Any] | None) -> Memberships:
    """Class probabilities from a table with one column per class; a row of NaN is unlabelled."""
    if table.dtype.kind == "c":  # NumPy would drop a part of them
        raise InputError("y", "holds complex numbers", "give real numbers")
    try:
        raw = np.ascontiguousarray(usual_floats(table))
    except (TypeError, ValueError) as error:
        found = f"has shape {table.shape} and holds values that are not numbers. A 2-D y means class probabilities"
        remedy = "if it has one column per annotator, use soft_labels(votes); if each column is a target of its own, "
        raise InputError("y", found, f"{remedy}several_targets(y)") from error
    if raw.shape[1] == 0:
        remedy = "give one column per class, or one label per row (1-D)"
        raise InputError("y", f"has shape {raw.shape}: no class", remedy)
    classes = np.arange(raw.shape[1]) if names is None else np.asarray(names)
    memberships, labelled = np.empty(raw.shape), np.empty(len(raw), dtype=bool)
    tolerance = _TOLERANCES.get(table.dtype.name, SUM_TOLERANCE)

    def work(start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        count, first = np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)
        read_membership_rows(raw, start, stop, tolerance, memberships, labelled, count, first)
        return count, first

    parts = run_chunks(work, chunks(len(raw), 65_536), default_threads())
    counts = sum((count for count, _ in parts), np.zeros(5, dtype=np.int64))
    for problem in (PARTLY_NAN, NEGATIVE, INFINITE, WRONG_SUM):
        if counts[problem]:
            row = next(int(first[problem]) for count, first in parts if count[problem])
            _raise_bad_row(raw, row, int(counts[problem]), problem, classes)
    return Memberships(labelled=labelled, classes=classes, memberships=memberships)


def _raise_bad_row(raw: NDArray[Any], row: int, count: int, problem: int, classes: NDArray[Any]) -> NoReturn:
    others = f"({counted(count, 'such row')})"
    if problem == PARTLY_NAN:
        found = f"lacks some but not all class probabilities of {name_row(row)} {others}"
        remedy = "a row of probabilities must be complete, or all NaN (unlabelled)"
        raise InputError("y", found, remedy, code="partly missing")
    if problem == NEGATIVE:
        column = int(np.flatnonzero(raw[row] < 0)[0])
        where = f"in {name_row(row)}, class {classes.tolist()[column]!r} {others}"
        found = f"has a negative probability, {raw[row, column]:g}, {where}"
        raise InputError("y", found, "probabilities must lie in [0, 1]")
    if problem == INFINITE:
        raise InputError("y", f"contains infinity, first in {name_row(row)} {others}")
    found = f"has probabilities that sum to {raw[row].sum():.6g}, not to 1, in {name_row(row)} {others}"
    remedy = "divide each row by its sum, or pass soft_labels(y, normalize=True). If each column is a target of its "
    remedy += "own, pass several_targets(y)"
    raise InputError("y", found, remedy, code="sum")
