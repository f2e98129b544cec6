"""Turn the user's ``y`` into a :class:`Supervision`. This is the only place that decides what ``y`` means.

The first entry of :data:`READERS` that claims ``y`` reads it. A new kind of supervision adds an entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from dubio.checks import require_choice
from dubio.errors import InputError, quoted, warn
from dubio.table.cells import missing_cells
from dubio.table.matrix import column_names, is_numeric, require_same_rows
from dubio.target.classes import Classes, SoftLabels, is_whole, read_classes, read_memberships
from dubio.target.intervals import IntervalLabels, read_intervals
from dubio.target.knowledge import Supervision, nothing
from dubio.target.label_values import (
    CorrectedLabels,
    GivenByRow,
    as_array,
    decoded,
    names_of_columns,
    one_type,
    unmasked,
)
from dubio.target.numbers import WrittenNumbers, days_since_first, read_numbers, read_written
from dubio.target.ordered import OrderedLabels, in_order, refuse_unordered_text
from dubio.target.pairs import Pairs, pairs_from_codes, read_pairs
from dubio.target.positives import PositiveLabels, read_positives
from dubio.target.several import SeveralLabels, SeveralTargets, about_target, several_targets
from dubio.target.voted import VotesByRow, read_votes

Target = Literal["classes", "numbers", "ordered", "auto"]
#: So few different whole numbers may be classes, however rarely they repeat, and so may those within so small a range.
_ALWAYS_FEW, _FAR_APART = 10, 20


@dataclass(frozen=True)
class Question:
    """What a reader needs to know besides y itself; see :func:`read_supervision`."""

    n_rows: int
    target: Target = "classes"
    missing_label: Any = "auto"
    is_block: bool = False


@dataclass(frozen=True)
class Reader:
    """How one form of ``y`` is read."""

    #: Whether ``y`` has this form.
    claims: Callable[[Any], bool]
    #: Read it.
    read: Callable[[Any, Question], Supervision]
    #: What it holds, in words, and the targets that it can be read as.
    holds: str = ""
    targets: tuple[Target, ...] = ("classes", "numbers", "ordered", "auto")


def read_supervision(
    y: Any,
    n_rows: int,
    *,
    target: Target = "classes",
    missing_label: Any = "auto",
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    must_link_weights: ArrayLike | None = None,
    cannot_link_weights: ArrayLike | None = None,
    is_block: bool = False,
) -> Supervision:
    """Validate ``y`` (and pairs) for a table of ``n_rows`` rows.

    Parameters
    ----------
    y : None, 1-D array, 2-D array (n, classes), data frame of probabilities, or SoftLabels and the like
        1-D: classes or numbers, see ``target``. 2-D: class probabilities; a row of NaN is unlabelled. With
        ``target="numbers"``, and in a data frame with a column that holds no numbers, every column is a target.
        Or a record of what one array cannot say, made by ``soft_labels``, ``ordered_classes`` and the like.
    target : {"classes", "numbers", "ordered", "auto"}
        What a 1-D ``y`` holds. "auto" reads text, bools and whole numbers with few distinct values (at most 20, or one
        in twenty rows) as classes, a pandas categorical as classes too (with an order, as ordered classes), and
        anything else as numbers. More than ten whole numbers in a range of 20 or more, of which more than three
        quarters are different (the heart rates of 20 patients), are numbers, too. Text that is a number throughout
        ("96.2 %", "12,5", "<0.1") is read as numbers, and dates as days since the first one; few plain whole numbers as
        text ("1", "2") are names of classes. "ordered": classes with an order, from the lowest number to the highest,
        or that of the categorical; for class probabilities, that of the columns.
    missing_label : "auto", None or a value
        None, NaN and pd.NA always mean "unlabelled". "auto" adds the whole number -1 (scikit-learn's
        convention) if ``y`` holds classes. None adds nothing, so that -1 is an ordinary class. Any other value
        also means "unlabelled".
    must_link, cannot_link, must_link_weights, cannot_link_weights
        See :func:`~dubio.target.pairs.read_pairs`.
    is_block : bool
        Whether these rows are only a part of a longer table. Checks that need the whole table (is there a second
        class?) are then skipped.

    Examples
    --------
    >>> from dubio.target.reader import read_supervision
    >>> s = read_supervision(["cat", None, "dog", "cat"], 4)
    >>> s.kind, s.classes.tolist(), s.codes.tolist()
    ('hard', ['cat', 'dog'], [0, -1, 1, 0])
    """
    require_choice("target", target, get_args(Target))
    if np.ndim(missing_label) > 0 or isinstance(missing_label, set | dict):
        raise InputError("missing_label", f"={missing_label!r}", "give 'auto', None or one value")
    question = Question(n_rows, target, missing_label, is_block)
    supervision = _read_one(y, question)
    if must_link is None and cannot_link is None:
        return supervision
    pairs = read_pairs(must_link, cannot_link, n_rows, must_link_weights, cannot_link_weights)
    return replace(supervision, pairs=pairs)


def _read_soft_labels(y: SoftLabels, question: Question) -> Supervision:
    memberships = read_memberships(np.asarray(y), np.array(y.classes))  # a copy: Memberships freezes its arrays
    return in_order(memberships) if question.target == "ordered" else memberships


def _read_ordered_labels(y: OrderedLabels, question: Question) -> Supervision:
    missing = missing_cells(y.values)
    classes = read_classes(one_type(y.values[~missing]), missing, None, list(y.order), question.is_block)
    return classes if question.target == "classes" else in_order(classes)


def _read_corrected(y: CorrectedLabels, question: Question) -> Supervision:
    """Classes, of which a person decided some."""
    if y.order:
        read = _read_ordered_labels(OrderedLabels(y.labels, y.order), question)
    else:
        wished = question if question.target == "ordered" else replace(question, target="classes")
        read = _read_array(y.labels, wished)
    assert isinstance(read, Classes)
    return replace(read, confirmed=y.confirmed & read.labelled)


def _read_several(y: SeveralLabels, question: Question) -> Supervision:
    """Every target on its own."""
    parts = []
    for name, values in y.targets.items():
        with about_target(name):
            part = _read_one(values, question)
            if not question.is_block and not part.n_labelled:
                raise InputError("y", "has no value in any row", "leave it out")
        parts.append(part)
    return parts[0] if len(parts) == 1 else SeveralTargets.of(tuple(y.targets), tuple(parts))


def _read_one(y: Any, question: Question) -> Supervision:
    y = unmasked(y) if np.ma.isMaskedArray(y) else y
    reader = next(reader for reader in READERS if reader.claims(y))
    if isinstance(y, GivenByRow | SeveralLabels):
        require_same_rows(len(y), question.n_rows)
    if question.target not in reader.targets:
        needed, one = ("numbers", "number") if question.target == "numbers" else ("classes", "class")
        remedy = f"give one {one} per row, or use a method for {reader.holds}"
        raise InputError("y", f"holds {reader.holds}, where {needed} are needed", remedy)
    return reader.read(y, question)


def _read_array(y: Any, question: Question) -> Supervision:
    names = None
    if sparse.issparse(y):
        raise InputError("y", "is a sparse matrix", "give a dense array (y.toarray())")
    if hasattr(y, "columns") and hasattr(y, "dtypes"):
        names = column_names(y, name="y") or []
        if len(names) > 1 and not all(map(is_numeric, y.dtypes)):
            return _read_several(several_targets(y), question)
    column = y if type(y) is np.ndarray else as_array(y, remedy="for candidate sets or votes use soft_labels(...)")
    if column.ndim == 2 and column.shape[1] == 1:
        found = "A column-vector y was passed when a 1d array was expected. It is read as one label per row."
        warn(DataConversionWarning(found))
        column = column.ravel()
    if column.ndim not in (1, 2):
        raise InputError("y", f"has {column.ndim} dimensions", "give one label per row (1-D) or probabilities (2-D)")
    require_same_rows(len(column), question.n_rows)
    if column.ndim == 2 and question.target == "numbers" and column.shape[1] > 1:
        return _read_several(several_targets(column if names is None else y), question)
    if column.ndim == 2:
        memberships = read_memberships(column, None if names is None else names_of_columns(names, "y"))
        return in_order(memberships) if question.target == "ordered" else memberships
    values, missing, ordered = _split_missing(y, column, question.missing_label)
    target, in_order_already, as_read = question.target, has_order(y), ""
    written = None if ordered is not None else _written(values, missing, target)
    if written is not None:
        values, missing, as_read = _without_gaps(written, missing)
        target = "numbers" if written.of_time and target == "auto" else target
    if target == "auto":
        # a block does not show how often its values repeat
        hardly_repeat = not question.is_block and _hardly_repeat(values, question.missing_label)
        named = ordered is not None or (_looks_like_classes(values) and not hardly_repeat)
        target = "ordered" if in_order_already else "classes" if named else "numbers"
    if target == "numbers":
        return read_numbers(values, missing, question.missing_label, as_read)
    if target == "ordered" and not in_order_already:
        if are_whole_numbers_as_text(values):
            values = values.astype(np.int64)
        refuse_unordered_text(values)
        ordered = None
    classes = read_classes(values, missing, question.missing_label, ordered, question.is_block)
    return in_order(classes) if target == "ordered" else classes


def _of_record(kind: type, *reads: Any) -> Reader:
    return Reader(lambda y: isinstance(y, kind), *reads)


#: The readers, in the order in which they are tried.
READERS: list[Reader] = [
    Reader(lambda y: y is None, lambda y, question: nothing(question.n_rows)),
    _of_record(SoftLabels, _read_soft_labels, "class probabilities", ("ordered", "classes", "auto")),
    _of_record(OrderedLabels, _read_ordered_labels, "ordered classes", ("classes", "ordered", "auto")),
    _of_record(PositiveLabels, lambda y, question: read_positives(y), "positive labels", ("classes", "auto")),
    _of_record(CorrectedLabels, _read_corrected),
    _of_record(IntervalLabels, lambda y, question: read_intervals(y), "intervals of numbers", ("numbers", "auto")),
    _of_record(VotesByRow, lambda y, question: read_votes(y, question.target)),
    _of_record(SeveralLabels, _read_several),
    Reader(lambda y: True, _read_array),
]


def _split_missing(
    y: Any, column: NDArray[Any], missing_label: Any
) -> tuple[NDArray[Any], NDArray[np.bool_], list[Any] | None]:
    """The known values (one array, without the missing ones), the mask of missing rows, the declared class order."""
    categories = getattr(getattr(y, "cat", y), "categories", None)
    # pandas categoricals declare the order of their classes
    ordered = None if categories is None or callable(categories) else list(categories)
    if column.dtype.kind in "biu":
        return column, np.zeros(len(column), dtype=bool), ordered
    if column.dtype.kind not in "fUSMmO":
        raise InputError("y", f"has dtype {column.dtype}", "give classes (numbers, text, bools) or numbers")
    column = decoded(column) if column.dtype.kind == "S" else column
    missing = missing_cells(column) | _is_mark(column, missing_label)
    return one_type(column[~missing]), missing, ordered


def _is_mark(column: NDArray[Any], missing_label: Any) -> NDArray[np.bool_]:
    """The cells that hold a text which means "unlabelled"."""
    if not isinstance(missing_label, str) or missing_label == "auto":
        return np.zeros(len(column), dtype=bool)
    return np.fromiter((value == missing_label for value in column.tolist()), dtype=bool, count=len(column))


def numbers_of(y: Any, target: Target = "auto", missing_label: Any = "auto") -> WrittenNumbers | None:
    """The known numbers of a 1-D ``y``, also if they are written as text, or are dates; None if it holds classes."""
    if sparse.issparse(y):
        return None
    y = unmasked(y)
    column = as_array(y)
    if column.ndim != 1:
        return None
    values, missing, ordered = _split_missing(y, column, missing_label)
    written = None if ordered is not None else _written(values, missing, target)
    if written is not None:
        return replace(written, values=_without_gaps(written, missing)[0])
    return WrittenNumbers(values, "") if values.dtype.kind in "iuf" else None


def _written(values: NDArray[Any], missing: NDArray[np.bool_], target: Target) -> WrittenNumbers | None:
    """Numbers that are written as text, or dates; None if the values are what they look like."""
    if values.dtype.kind in "OMm":
        found = days_since_first(values)
        if found is None:
            raise InputError("y", f"has dtype {values.dtype}", "give classes (numbers, text, bools) or numbers")
        if len(values) and target in ("classes", "ordered"):
            dates = f"holds dates or times, such as {quoted(values[0])}, where classes are needed"
            raise InputError("y", dates, "turn them into names of classes, such as years", code="dates as classes")
        return found
    if values.dtype.kind != "U" or not len(values) or target not in ("auto", "numbers"):
        return None
    rows, most = np.flatnonzero(~missing), _most_classes(len(values))
    found = read_written(values, rows, only_numbers=target == "numbers", most=most)
    if found is None or not found.bare or target != "auto":
        return found
    # names of classes stay as they are written
    return None if _looks_like_classes(found.values[~np.isnan(found.values)]) else found


def _without_gaps(
    written: WrittenNumbers, missing: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], str]:
    """The known numbers, the mask of missing rows, and how the numbers were read."""
    gaps, missing = np.isnan(written.values), missing.copy()
    missing[np.flatnonzero(~missing)[gaps]] = True
    return written.values[~gaps], missing, written.as_read


def are_whole_numbers_as_text(values: NDArray[Any]) -> bool:
    """Whether all values are text such as "1", "2", "10", whose order is clear."""
    names = np.unique(values).tolist() if values.dtype.kind == "U" else []
    return bool(names) and all(name.isdecimal() and len(name) < 16 for name in names)


def has_order(y: Any) -> bool:
    """Whether y is a pandas categorical whose classes have an order."""
    return getattr(getattr(y, "cat", y), "ordered", False) is True


def _looks_like_classes(values: NDArray[Any]) -> bool:
    if values.dtype.kind not in "fiu":
        return True
    if not is_whole(values):
        return False
    most = _most_classes(len(values))
    if len(values) and float(values.max()) - float(values.min()) < most:  # whole numbers so close: few distinct ones
        return True
    return len(np.unique(values)) <= most


def _hardly_repeat(values: NDArray[Any], missing_label: Any) -> bool:
    """Whether these are more than ten whole numbers, far apart, most of which occur only once: no classes."""
    if values.dtype.kind not in "fiu":
        return False
    if isinstance(missing_label, str) and (values == -1).any():
        return False  # it may mean "unlabelled", and then the others are classes
    if missing_label is not None and not isinstance(missing_label, str):
        values = values[values != missing_label]
    if not len(values) or float(values.max()) - float(values.min()) < _FAR_APART:
        return False
    n_distinct = len(np.unique(values))
    return n_distinct > _ALWAYS_FEW and 4 * n_distinct > 3 * len(values)


def _most_classes(n_values: int) -> int:
    """More different numbers than this are hardly classes."""
    return max(20, n_values // 20)


def pairs_from_labels(
    y: ArrayLike,
    *,
    n_must_link: int | None = None,
    n_cannot_link: int | None = None,
    missing_label: Any = "auto",
    random_state: Any = 0,
) -> Pairs:
    """Must-links between rows of the same class, cannot-links between rows of different classes.

    Unlabelled rows are in no pair.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Classes, some possibly missing (``None``, NaN, or -1 among integers).
    n_must_link, n_cannot_link : int or None
        How many pairs to draw at random, without repetition, from all pairs of that kind; ``None`` takes all of
        them. 2,000 labelled rows have 2 million pairs. The constraint score of *all* pairs needs no list:
        pass ``y`` to it instead.
    missing_label : object
        What marks an unlabelled row; ``"auto"`` means the values listed for ``y``.
    random_state : int, RandomState or None
        Seed of the draw.

    Examples
    --------
    >>> pairs = pairs_from_labels(["a", "b", "a", None])
    >>> pairs.must_link.tolist(), pairs.cannot_link.tolist()
    ([[0, 2]], [[0, 1], [1, 2]])
    """
    labels = np.asarray(y)
    supervision = read_supervision(y, len(labels), missing_label=missing_label)
    supervision.require_form("hard", cannot="cannot be turned into pairs", remedy="pairs need one class per row")
    wanted = {"n_must_link": n_must_link, "n_cannot_link": n_cannot_link}
    return pairs_from_codes(supervision.codes, **wanted, random_state=random_state)
