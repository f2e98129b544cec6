"""Read whatever a person knows of the target into a :class:`Supervision`; every message about labels is here.

This is the one place that decides what -1, NaN, None and pd.NA mean.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from dubio._kernels.memberships import INFINITE, NEGATIVE, PARTLY_NAN, WRONG_SUM, one_hot_rows, read_membership_rows
from dubio._kernels.threads import chunks, default_threads, run_chunks
from dubio.supervision.class_names import warn_of_odd_names
from dubio.supervision.pairs import read_pairs
from dubio.supervision.record import SoftLabels, Supervision
from dubio.table import column_names

Target = Literal["classes", "numbers", "auto"]

#: How far the sum of a row of probabilities may be from 1.
SUM_TOLERANCE = 1e-6


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
    y : None, 1-D array, 2-D array (n, classes), data frame of probabilities or SoftLabels
        1-D: classes or numbers, see ``target``. 2-D: class probabilities; a row of NaN is unlabelled.
    n_rows : int
        Rows of the table.
    target : {"classes", "numbers", "auto"}
        What a 1-D ``y`` holds. "auto" takes text, bools and whole numbers with few distinct values (at most 20,
        or one in twenty rows) as classes and anything else as numbers.
    missing_label : "auto", None or a value
        None, NaN and pd.NA always mean "unlabelled". "auto" adds the whole number -1 (scikit-learn's
        convention) when ``y`` holds classes; None adds nothing, so that -1 is a class like any other; any other
        value adds that value.
    must_link, cannot_link : array (m, 2) of row indices
        Pairs of rows of the same class, and of different classes.
    must_link_weights, cannot_link_weights : array (m,)
        Confidence of each pair.
    is_block : bool
        Whether these are some rows of a longer table: what only the whole can tell (is there a second class?) is
        then not asked.

    Examples
    --------
    >>> from dubio.supervision import read_supervision
    >>> s = read_supervision(["cat", None, "dog", "cat"], 4)
    >>> s.kind, s.classes.tolist(), s.codes.tolist()
    ('hard', ['cat', 'dog'], [0, -1, 1, 0])
    """
    supervision = _read_target(y, n_rows, target, missing_label, is_block)
    if must_link is None and cannot_link is None:
        return supervision
    pairs = read_pairs(must_link, cannot_link, n_rows, must_link_weights, cannot_link_weights)
    return replace(
        supervision,
        must_link=pairs.must_link,
        cannot_link=pairs.cannot_link,
        must_link_weights=pairs.must_link_weights,
        cannot_link_weights=pairs.cannot_link_weights,
    )


def require_two_classes(supervision: Supervision) -> None:
    """Raise unless at least two classes have labelled rows."""
    assert supervision.memberships is not None and supervision.classes is not None
    has_rows = supervision.memberships[:1000].any(axis=0)
    if np.count_nonzero(has_rows) < 2:  # not seen in the first rows: look at all
        has_rows = supervision.memberships.any(axis=0)
    refuse_one_class(supervision.classes, has_rows, supervision.n_rows, supervision.n_labelled)


def refuse_one_class(classes: NDArray[Any], has_rows: Any, n_rows: int, n_labelled: int) -> None:
    """Raise unless two of the classes have rows."""
    if n_labelled == 0:
        raise ValueError(
            f"y has no labelled row (all {n_rows} are unlabelled): label some rows, or use an unsupervised method such "
            "as LaplacianScore."
        )
    present = np.flatnonzero(has_rows)
    if len(present) < 2:
        name = classes.tolist()[present[0]]
        raise ValueError(
            f"y has one class only ({name!r} in {n_labelled} labelled row(s)): at least two classes are needed to tell "
            "which features separate them."
        )


def require_two_rows_a_class(supervision: Supervision) -> None:
    """Raise if a class lives in one row only: methods that measure distances within a class have none there."""
    assert supervision.memberships is not None and supervision.classes is not None
    rows_of = (supervision.memberships > 0).sum(axis=0)
    lonely = np.flatnonzero(rows_of == 1)
    if len(lonely) == 0:
        return
    if supervision.kind == "hard" and supervision.classes.dtype.kind in "iu" and 3 * len(lonely) > len(rows_of) > 20:
        raise ValueError(
            f"Unknown label type: y holds {len(rows_of)} distinct whole numbers in {supervision.n_labelled} rows, "
            f"{len(lonely)} of them once. This looks like regression, and this method needs classes; for a numeric "
            "target use a method such as SupervisedLaplacianScore."
        )
    row = int(np.flatnonzero(supervision.memberships[:, lonely[0]] > 0)[0])
    raise ValueError(
        f"class {supervision.classes[lonely[0]]!r} has one row only (row {row}; {len(lonely)} such class(es)), and the "
        "distance to the next row of the class does not exist: give it a second row, merge it with another class, "
        "or leave it out."
    )


def require_numbers(supervision: Supervision, at_least: int = 2) -> None:
    """Raise unless at least so many rows have a number."""
    if supervision.n_labelled < at_least:
        raise ValueError(
            f"y has {supervision.n_labelled} labelled row(s) of {supervision.n_rows} (n_samples="
            f"{supervision.n_labelled}): this method needs at least {at_least} rows with a number."
        )


def _read_target(y: Any, n_rows: int, target: Target, missing_label: Any, is_block: bool) -> Supervision:
    if target not in ("classes", "numbers", "auto"):
        raise ValueError(f"target={target!r}: give 'classes', 'numbers' or 'auto'.")
    if y is None:
        return Supervision("none", n_rows, np.zeros(n_rows, dtype=bool))
    if sparse.issparse(y):
        raise ValueError("y is a sparse matrix: give a dense array (y.toarray()).")
    names = None
    if isinstance(y, SoftLabels):
        names = np.array(y.classes)  # a copy: the record freezes its arrays
    elif hasattr(y, "columns") and hasattr(y, "dtypes"):
        names = np.asarray(column_names(y, name="y"), dtype=object)
    column = _as_array(y)
    if column.ndim == 2 and column.shape[1] == 1 and not isinstance(y, SoftLabels):
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected: it is read as y.ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        column = column.ravel()
    if column.ndim not in (1, 2):
        raise ValueError(f"y has {column.ndim} dimensions: give one label a row (1-D) or probabilities (2-D).")
    if len(column) != n_rows:
        raise ValueError(f"y has {len(column)} rows and X has {n_rows}: they must be the same rows.")
    if column.ndim == 2:
        if target == "numbers":
            raise ValueError(f"y has shape {column.shape}: this method needs one number a row (1-D).")
        return _read_memberships(column, names)
    values, missing, ordered = _split_missing(y, column)
    if target == "auto":
        target = "classes" if _looks_like_classes(values) else "numbers"
    if target == "numbers":
        return _read_numbers(values, missing, n_rows, missing_label)
    return _read_classes(values, missing, n_rows, missing_label, ordered, is_block)


def _as_array(y: Any) -> NDArray[Any]:
    if isinstance(y, list | tuple) and any(isinstance(value, str) for value in y):
        # NumPy would turn numbers beside text into text; the mix is a mistake to report
        array = np.empty(len(y), dtype=object)
        array[:] = y
        return array
    try:
        return np.asarray(y)
    except ValueError as error:
        raise ValueError(
            "y is ragged: its rows have different lengths. Candidate sets or votes go through soft_labels(...)."
        ) from error


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _split_missing(y: Any, column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_], list[Any] | None]:
    """The known values (one array, no missing ones), the mask of missing rows, a declared order of classes."""
    ordered = None
    categories = getattr(getattr(y, "cat", None), "categories", None)
    if categories is None:
        categories = getattr(y, "categories", None)
    if categories is not None and not callable(categories):
        ordered = list(categories)  # pandas categoricals declare the order of their classes
    kind = column.dtype.kind
    if kind in "biu":
        return column, np.zeros(len(column), dtype=bool), ordered
    if kind == "f":
        missing = np.isnan(column)
        return column[~missing], missing, ordered
    if kind in "US":
        return column.astype(str) if kind == "S" else column, np.zeros(len(column), dtype=bool), ordered
    if kind != "O":
        raise ValueError(f"y has dtype {column.dtype}: give classes (numbers, text, bools) or numbers.")
    missing = np.fromiter((_is_missing(v) for v in column), dtype=bool, count=len(column))
    return _one_type(column[~missing]), missing, ordered


def _one_type(values: NDArray[Any]) -> NDArray[Any]:
    kinds: dict[str, list[Any]] = {}
    for value in values:
        if isinstance(value, str):
            kinds.setdefault("text", []).append(value)
        elif isinstance(value, bool | np.bool_):
            kinds.setdefault("bool", []).append(value)
        elif isinstance(value, int | float | np.number):
            kinds.setdefault("number", []).append(value)
        else:
            kinds.setdefault(type(value).__name__, []).append(value)
    unknown = [name for name in kinds if name not in ("text", "bool", "number")]
    if unknown:
        raise ValueError(
            f"y holds {len(kinds[unknown[0]])} value(s) of type {unknown[0]}, such as {kinds[unknown[0]][0]!r}: "
            "Unknown label type. Give text, bools or numbers (candidate sets go through soft_labels)."
        )
    if len(kinds) > 1:
        counts = ", ".join(f"{len(v)} {k} (such as {v[0]!r})" for k, v in kinds.items())
        raise ValueError(f"y mixes types: {counts}. Make all labels text or all numbers.")
    if not kinds:
        return np.empty(0)
    name = next(iter(kinds))
    return np.asarray(list(values), dtype={"text": str, "bool": bool, "number": None}[name])


def _looks_like_classes(values: NDArray[Any]) -> bool:
    if values.dtype.kind != "f" and values.dtype.kind not in "iu":
        return True
    if values.dtype.kind == "f" and not _is_whole(values):
        return False
    return len(np.unique(values)) <= max(20, len(values) // 20)


def _is_whole(values: NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def _read_numbers(values: NDArray[Any], missing: NDArray[np.bool_], n_rows: int, missing_label: Any) -> Supervision:
    if values.dtype.kind not in "biuf":
        example = values[0]
        raise ValueError(f"y holds text, such as {str(example)!r}, where numbers are needed: encode it as numbers.")
    numbers = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~missing)[np.flatnonzero(~np.isfinite(numbers))[0]])
        count = int((~np.isfinite(numbers)).sum())
        raise ValueError(
            f"Input y contains infinity in {count} row(s), first in row {row}: use NaN for unlabelled rows."
        )
    full = np.full(n_rows, np.nan)
    full[~missing] = numbers
    if missing_label is not None and missing_label != "auto":
        full[full == missing_label] = np.nan
    return Supervision("numbers", n_rows, ~np.isnan(full), values=full)


def _read_classes(
    values: NDArray[Any],
    missing: NDArray[np.bool_],
    n_rows: int,
    missing_label: Any,
    ordered: list[Any] | None,
    is_block: bool,
) -> Supervision:
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise ValueError("Input y contains infinity: use NaN or None for unlabelled rows.")
        if not _is_whole(values):
            hint = (
                " Probabilities of one class go in as two columns: y = np.column_stack([1 - p, p])."
                if values.min() >= 0 and values.max() <= 1
                else ""
            )
            raise ValueError(
                f"Unknown label type: y holds {len(np.unique(values))} distinct numbers that are not whole, such as "
                f"{values[values != np.floor(values)][0]:g}. This looks like regression, and this method needs "
                f"classes; for a numeric target use a method such as SupervisedLaplacianScore.{hint}"
            )
        if np.abs(values).max(initial=0.0) > 2**53:
            raise ValueError(
                f"y holds {values[np.abs(values).argmax()]:g}: classes that are numbers must be whole and below 2**53."
            )
        values = values.astype(np.int64)
    minus_one = np.zeros(len(values), dtype=bool)
    if missing_label == "auto":
        if values.dtype.kind in "iu":
            minus_one = values == -1
            if minus_one.any() and missing.any():
                warnings.warn(
                    f"y has both -1 ({int(minus_one.sum())} rows) and NaN/None ({int(missing.sum())} rows): both are "
                    "read as unlabelled. Pass missing_label=None if -1 is a class.",
                    UserWarning,
                    stacklevel=5,
                )
    elif missing_label is not None:
        minus_one = np.asarray(values == missing_label, dtype=bool)
        if minus_one.shape != values.shape:  # a value of another type equals nothing
            minus_one = np.zeros(len(values), dtype=bool)
    classes, inverse = _sorted_classes(values[~minus_one] if minus_one.any() else values)
    if missing_label == "auto" and minus_one.any() and len(classes) == 1 and not is_block:
        raise ValueError(
            f"y holds -1 in {int(minus_one.sum())} row(s) and only one class beside it ({classes.tolist()[0]!r}): -1 "
            "means unlabelled (scikit-learn's convention), so one class is left. If -1 is a class, pass "
            "missing_label=None."
        )
    if not is_block:
        warn_of_odd_names(classes, inverse, stacklevel=6)
    if ordered is not None:
        position = {value: index for index, value in enumerate(ordered)}
        order = np.argsort([position.get(value, len(position)) for value in classes.tolist()], kind="stable")
        new_code = np.empty(len(order), dtype=np.int64)
        new_code[order] = np.arange(len(order))
        classes, inverse = classes[order], new_code[inverse]
    codes = inverse
    if len(codes) < n_rows:
        codes = np.full(n_rows, -1, dtype=np.int64)
        codes[np.flatnonzero(~missing)[~minus_one]] = inverse
    memberships = np.empty((n_rows, len(classes)))
    ranges = chunks(n_rows, 65_536)
    run_chunks(lambda start, stop: one_hot_rows(codes, start, stop, memberships), ranges, default_threads())
    return Supervision("hard", n_rows, codes >= 0, classes, codes, memberships)


def _sorted_classes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct values, sorted, and the position of each value among them."""
    if values.dtype.kind in "iu" and len(values):
        lowest, highest = int(values.min()), int(values.max())
        if highest - lowest < 65_536:  # count instead of sorting: ten times faster on a million rows
            offset = values.astype(np.int64)
            offset -= lowest
            present = np.flatnonzero(np.bincount(offset))
            if len(present) == highest - lowest + 1:
                return (present + lowest).astype(values.dtype), offset
            position = np.zeros(highest - lowest + 1, dtype=np.int64)
            position[present] = np.arange(len(present))
            return (present + lowest).astype(values.dtype), position[offset]
    classes, inverse = np.unique(values, return_inverse=True)
    return classes, inverse.astype(np.int64)


def _read_memberships(table: NDArray[Any], names: NDArray[Any] | None) -> Supervision:
    try:
        raw = np.ascontiguousarray(table, dtype=table.dtype if table.dtype.kind == "f" else np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y has shape {table.shape} and holds values that are not numbers: a 2-D y means class probabilities. "
            "One column an expert goes through soft_labels(votes)."
        ) from error
    classes = np.arange(raw.shape[1]) if names is None else np.asarray(names)
    n = len(raw)
    memberships = np.empty(raw.shape)
    labelled = np.empty(n, dtype=bool)
    tolerance = SUM_TOLERANCE if raw.dtype != np.float32 else 10 * SUM_TOLERANCE

    def work(start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        count, first = np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)
        read_membership_rows(raw, start, stop, tolerance, memberships, labelled, count, first)
        return count, first

    parts = run_chunks(work, chunks(n, 65_536), default_threads())
    counts = np.sum([count for count, _ in parts], axis=0)
    for problem in (PARTLY_NAN, NEGATIVE, INFINITE, WRONG_SUM):
        if counts[problem]:
            row = next(int(first[problem]) for count, first in parts if count[problem])
            _raise_bad_row(raw, row, int(counts[problem]), problem, classes)
    return Supervision("soft", n, labelled, classes, memberships=memberships)


def _raise_bad_row(raw: NDArray[Any], row: int, count: int, problem: int, classes: NDArray[Any]) -> NoReturn:
    others = f"({count} such row(s))"
    if problem == PARTLY_NAN:
        raise ValueError(
            f"y has NaN in some but not all classes of row {row} {others}: a row of probabilities is either complete "
            "or all NaN (unlabelled)."
        )
    if problem == NEGATIVE:
        column = int(np.flatnonzero(raw[row] < 0)[0])
        raise ValueError(
            f"y has a negative probability, {raw[row, column]:g}, in row {row}, class {classes.tolist()[column]!r} "
            f"{others}: probabilities lie in [0, 1]."
        )
    if problem == INFINITE:
        raise ValueError(f"Input y contains infinity, first in row {row} {others}.")
    raise ValueError(
        f"the probabilities in row {row} of y sum to {raw[row].sum():.6g}, not to 1 {others}: divide each row by its "
        "sum, or pass soft_labels(y, normalize=True)."
    )
