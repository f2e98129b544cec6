"""Values of any type as arrays: masks, missing values, labels of one type; records that stand for one label per row."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, listed, nearest, quoted
from dubio.table.cells import FORMULA, TYPES, as_float, is_missing, is_valid_text, missing_cells, type_of

#: Letters of the longest name of a class.
LONGEST = 300


def unmasked(values: Any) -> Any:
    """A masked array as a plain one, in which masked cells are missing; anything else as it is.

    >>> import numpy as np
    >>> from dubio.target.label_values import unmasked
    >>> unmasked(np.ma.masked_array([1, 2], mask=[False, True]))
    array([1, None], dtype=object)
    """
    if not np.ma.isMaskedArray(values):
        return values
    data, mask = np.ma.getdata(values), np.ma.getmaskarray(values)
    kind = data.dtype.kind
    if kind == "V" or not mask.any():
        return data
    plain = data.copy() if kind in "fcmM" else data.astype(object)
    plain[mask] = {"f": np.nan, "c": np.nan, "m": "NaT", "M": "NaT"}.get(kind)
    return plain


def as_array(values: Any, argument: str = "y", remedy: str = "give one value per row") -> NDArray[Any]:
    """Values as an array; raises if rows have different lengths."""
    if isinstance(values, list | tuple) and any(isinstance(value, str) for value in values):
        # NumPy would turn numbers and None next to text into text, but such a mix is a mistake to report
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    try:
        return np.asarray(unmasked(values))
    except ValueError as error:
        raise InputError(argument, "has rows of different lengths", remedy) from error


def as_floats(values: Any) -> NDArray[np.float64]:
    """Real numbers of any type as float64: NaN where one is missing, infinity where one is too large.

    Raises a TypeError or a ValueError for anything else.

    >>> from fractions import Fraction
    >>> from dubio.target.label_values import as_floats
    >>> as_floats([Fraction(1, 4), None, 10**400])
    array([0.25,  nan,  inf])
    """
    array = as_array(values)
    cells = array.ravel().tolist() if array.dtype.kind == "O" else []
    if array.dtype.kind == "c" or any(isinstance(cell, np.complexfloating) for cell in cells):
        # NumPy would drop a part of them
        raise TypeError("complex numbers")
    with np.errstate(over="ignore"):
        if array.dtype.kind != "O":
            return array.astype(np.float64, copy=False)
        numbers = [np.nan if is_missing(cell) else as_float(cell) for cell in cells]
        return np.array(numbers, dtype=np.float64).reshape(array.shape)


def usual_floats(array: NDArray[Any]) -> NDArray[Any]:
    """The same floats as float32 or float64, whatever they are."""
    return array if array.dtype in (np.float32, np.float64) else as_floats(array)


def decoded(column: NDArray[np.bytes_]) -> NDArray[np.str_]:
    """Bytes as the text that they stand for in UTF-8."""
    try:
        return np.char.decode(column, "utf-8")
    except UnicodeDecodeError as error:
        found = f"holds bytes that are not UTF-8, such as {error.object!r}"
        raise InputError("y", found, "give text: np.char.decode(y, 'latin-1')") from error


def one_type(values: Sequence[Any] | NDArray[Any], argument: str = "y") -> NDArray[Any]:
    """Known labels as an array of one type; raises if they mix types, or are too long for names of classes."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return usual_floats(values) if values.dtype.kind == "f" else values
    for value in values:
        if isinstance(value, str | bytes) and len(value) > LONGEST:  # an array gives all names the room of the longest
            found = f"holds a text of {len(value)} letters, {quoted(value)}, where names of classes are needed"
            raise InputError(argument, found, f"give names of at most {LONGEST} letters")
    kinds: dict[str, list[Any]] = {}
    names = {one: type_of(one) or one.__name__ for one in set(map(type, values))}
    for value in values:
        kinds.setdefault(names[type(value)], []).append(value)
    unknown = [name for name in kinds if name not in TYPES]
    if unknown:
        odd = kinds[unknown[0]]
        values_of = f"{counted(len(odd), 'value')} of type {unknown[0]}"
        found = f"holds {values_of}, such as {quoted(odd[0])} (Unknown label type)"
        remedy = "give text, bools or numbers. For candidate sets use soft_labels"
        raise InputError(argument, found, remedy, code="label type")
    if len(kinds) > 1:
        shown = {name: quoted(some[0]) if name == "text" else repr(some[0]) for name, some in kinds.items()}
        counts = ", ".join(f"{len(kinds[name])} {name} (such as {example})" for name, example in shown.items())
        raise InputError(argument, f"mixes types: {counts}", "make all labels text or all numbers")
    if not kinds:
        return np.empty(0)
    kind, same = next(iter(kinds.items()))
    if kind == "text":
        return _texts(same, argument)
    if kind == "number":  # whole numbers stay whole if they fit 64 bits
        array = np.asarray(same)
        return array if array.dtype.kind in "iu" else usual_floats(array)
    return np.asarray(same, dtype=bool if kind == "bool" else object)


def _texts(values: list[str], argument: str) -> NDArray[np.str_]:
    """The text itself, also of the members of an Enum, which show as something else."""
    texts = [str.__str__(value) for value in values]
    cut = next((text for text in texts if text.endswith("\0")), None)
    if cut is not None:
        found = f"holds text that ends with a null character, such as {quoted(cut)}, which an array of text would lose"
        raise InputError(argument, found, "remove it: text.rstrip('\\0')")
    odd = next((text for text in texts if not is_valid_text(text)), None)
    if odd is not None:
        raise InputError(argument, f"holds {quoted(odd)}, which is no valid text", "read the table with its encoding")
    return np.asarray(texts, dtype=str)


def class_names(names: Sequence[Any], argument: str) -> NDArray[Any]:
    """The names of classes as an array of one type."""
    missing = [place for place, name in enumerate(names) if is_missing(name)]
    if missing:
        raise InputError(argument, f"has a class without a name, at position {missing[0]}", "give every class a name")
    return one_type(names, argument)


def names_of_columns(columns: Sequence[Any], argument: str) -> NDArray[Any]:
    """The names of the classes that the columns of a frame stand for; those of several levels, and dates, as text."""
    plain = [str(name) if isinstance(name, tuple | datetime.date | np.datetime64) else name for name in columns]
    return class_names(plain, argument)


def labels_by_row(y: Any, argument: str = "y") -> NDArray[Any]:
    """One label per row, None where there is none."""
    if isinstance(y, str | bytes | dict | set) or not hasattr(y, "__len__"):
        raise InputError(argument, f"is a {type(y).__name__}", "give one label per row")
    values = as_array(y, argument, "give one label per row").astype(object)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1:
        raise InputError(argument, f"has shape {values.shape}", "give one label per row")
    values[missing_cells(values)] = None
    odd = next((value for value in values if np.ndim(value) or isinstance(value, set | dict)), None)
    if odd is not None:
        raise InputError(argument, f"holds a {type(odd).__name__}", "give one label per row")
    return values


class GivenByRow:
    """A record of arrays with one entry per row. A subclass is a frozen dataclass that lists them in ``_by_row``."""

    _by_row: ClassVar[tuple[str, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first array."""
        return np.shape(getattr(self, self._by_row[0]))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Self:
        """The same knowledge of some of the rows (a slice, a mask or indices)."""
        rows = only_rows(rows, type(self).__name__)
        return replace(self, **{name: getattr(self, name)[rows] for name in self._by_row})  # type: ignore[type-var]


def only_rows(rows: Any, name: str) -> Any:
    """What a record that is not an array is indexed by: a slice, a mask or indices of rows."""
    if isinstance(rows, tuple) and all(rest in (Ellipsis, slice(None)) for rest in rows[1:]):
        rows = rows[0]  # scikit-learn's splitters index as y[rows, ...]
    if isinstance(rows, tuple) or (np.ndim(rows) == 0 and not isinstance(rows, slice)):
        raise TypeError(f"{name} is indexed by rows: give a slice, a mask or an array of indices")
    return rows


class ArrayByRow(GivenByRow):
    """A record that counts as its first array where it is not known."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = np.asarray(getattr(self, self._by_row[0]), dtype=dtype)
        return array.copy() if copy else array

    def __iter__(self) -> Iterator[Any]:
        """The rows of the array."""
        return iter(np.asarray(self))


#: The columns of a file of corrections.
COLUMNS = ("row", "id", "given", "decision", "label")
#: What a person may decide about a label.
RIGHT, CHANGE, UNSURE = "right", "change", "unsure"


@dataclass(frozen=True)
class CorrectedLabels(ArrayByRow):
    """Labels after a person looked at some of them. Made by :func:`dubio.apply_corrections`; pass it as ``y``.

    Attributes
    ----------
    labels : array (n_rows,)
        The labels; None where the person could not tell.
    given : array (n_rows,)
        The labels before.
    decisions : array (n_rows,) of str
        "right", "change" or "unsure"; "" for rows that nobody looked at.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("labels", "given", "decisions")

    labels: NDArray[Any]
    given: NDArray[Any]
    decisions: NDArray[Any]
    #: All classes, the lowest first, if they have an order.
    order: tuple[Any, ...] = ()

    @property
    def confirmed(self) -> NDArray[np.bool_]:
        """Rows whose label a person decided: the cleaning trusts them."""
        return np.isin(self.decisions, (RIGHT, CHANGE))

    def count(self, decision: str) -> int:
        """How many rows have this decision."""
        return int((self.decisions == decision).sum())

    def __str__(self) -> str:
        looked_at = int((self.decisions != "").sum())
        right, changed, left = map(self.count, (RIGHT, CHANGE, UNSURE))
        return f"{counted(looked_at, 'label')} looked at: {right} right, {changed} changed, {left} left open."


def apply_corrections(y: Any, corrections: Any, ids: Any = None) -> CorrectedLabels:
    """Apply the decisions of a person to labels.

    Each decision names a row, the label it had, and says that the label is right, is another class, or that nobody can
    tell (the row then has no label). What does not match the table is refused, and nothing is applied.

    Parameters
    ----------
    y : array-like (n_rows,)
        The labels, one class per row; or :func:`dubio.ordered_classes`.
    corrections : path, frame, or sequence of mappings
        The file that the page of a report wrote (``corrections.csv``), or its rows: ``row`` (from 1), ``id``,
        ``given``, ``decision`` ("right", "change" or "unsure") and ``label``.
    ids : array-like (n_rows,), optional
        A name for each row. Rows are then found by ``id``, so that the order of the table may have changed.

    Returns
    -------
    CorrectedLabels
        Pass it as ``y`` to :class:`~dubio.FeatureSelector` or :func:`~dubio.audit_labels`: labels that a person
        decided are trusted.

    Examples
    --------
    >>> from dubio import apply_corrections
    >>> decisions = [{"row": 2, "given": "b", "decision": "change", "label": "a"}]
    >>> corrected = apply_corrections(["a", "b", "b", "a"], decisions)
    >>> corrected.labels.tolist(), corrected.confirmed.tolist()
    (['a', 'a', 'b', 'a'], [False, True, False, False])
    """
    order = tuple(getattr(y, "order", ()))  # of ordered classes
    given = np.asarray(unmasked(y.values if order else y), dtype=object)
    if given.ndim != 1:
        raise InputError("y", f"has {given.ndim} dimensions", "give one class per row")
    texts = [written(label) for label in given]
    classes = {text: label for text, label in zip(texts, given, strict=True) if text}
    places = None if ids is None else places_of(ids, len(given))
    labels, decisions = given.copy(), np.full(len(given), "", dtype=object)
    for number, entry in enumerate(entries_of(corrections, COLUMNS, "corrections", needed=COLUMNS), 1):
        row = row_of(entry, number, len(given), places)
        if decisions[row]:
            raise _mismatch(number, f"decides about row {row + 1} for the second time", "leave one of them out")
        before, decision, after = entry["given"], entry["decision"], entry["label"]
        if before != texts[row]:
            found = f"says that row {row + 1} was labelled {quoted(before)}, but its label is {quoted(texts[row])}"
            raise _mismatch(number, found, "it belongs to another table, or was applied before")
        if decision not in (RIGHT, CHANGE, UNSURE):
            raise _mismatch(number, f"has the decision {quoted(decision)}", "use right, change or unsure")
        if decision == CHANGE and (after not in classes or after == before):
            near = nearest(after, [name for name in classes if name != before])
            hint = f"did you mean {listed(map(quoted, near))}?" if near else "give another class of the table"
            raise _mismatch(number, f"changes row {row + 1} to {quoted(after)}", hint)
        if decision == RIGHT and not before:
            raise _mismatch(number, f"says that row {row + 1} is right, but it has no label", "give it a class")
        decisions[row] = decision
        labels[row] = classes[after] if decision == CHANGE else None if decision == UNSURE else labels[row]
    return CorrectedLabels(labels, given, decisions, order)


def _cells_of(file: Any, encoding: str) -> tuple[Sequence[str], list[dict[Any, Any]]]:
    """The names of the columns of a CSV file, and its rows."""
    with open(file, encoding=encoding, newline="") as opened:
        header = opened.readline()
        opened.seek(0)
        # a spreadsheet may have saved it with another separator
        table = csv.DictReader(opened, delimiter=max(",;\t", key=header.count))
        rows = [{name: _without_guard(cell) for name, cell in row.items()} for row in table]
        return table.fieldnames or (), rows


def entries_of(file: Any, columns: Sequence[str], argument: str, *, needed: Sequence[str]) -> Iterable[dict[str, str]]:
    """The rows of a file of decisions about rows, of a frame or of a list, as text: only these columns."""
    if isinstance(file, str) or hasattr(file, "__fspath__"):
        try:
            try:
                names, file = _cells_of(file, "utf-8-sig")
            except UnicodeDecodeError:  # a spreadsheet may have saved it in its own encoding
                names, file = _cells_of(file, "cp1252")
        except io.UnsupportedOperation:  # its first line decides how all are read
            raise InputError(argument, f"={str(file)!r}, which is a pipe", "save it, and give the file") from None
        except (UnicodeDecodeError, csv.Error) as error:
            found = f"cannot be read as CSV ({error})"
            raise InputError(argument, found, "give the file that the page wrote") from None
        for name in needed:
            if name not in names:
                remedy = f"give the file that the page wrote, with the columns {', '.join(columns)}"
                raise InputError(argument, f"has no column {quoted(name)}", remedy)
    elif hasattr(file, "to_dict"):
        file = file.to_dict("records")
    for number, entry in enumerate(file, 1):
        if not isinstance(entry, Mapping):
            raise _mismatch(number, "is not a mapping", f"give {', '.join(columns)}", argument)
        yield {name: written(entry.get(name)) for name in columns}


def _without_guard(cell: Any) -> Any:
    """The cell of a file without the apostrophe that keeps spreadsheets from running it."""
    is_guarded = isinstance(cell, str) and cell.startswith("'") and cell[1:].lstrip(" ").startswith(FORMULA)
    return cell[1:] if is_guarded else cell


def row_of(
    entry: dict[str, str], number: int, n_rows: int, places: dict[str, int] | None, argument: str = "corrections"
) -> int:
    """The row that an entry is about, by its id or its number from 1."""
    if places is not None and entry["id"]:
        if entry["id"] not in places:
            found = f"has the id {quoted(entry['id'])}, which no row has"
            raise _mismatch(number, found, "is it another table?", argument)
        return places[entry["id"]]
    if not entry["row"].isdecimal() or not 1 <= int(entry["row"]) <= n_rows:
        found = f"has the row {quoted(entry['row'])}"
        raise _mismatch(number, found, f"rows are counted from 1 to {n_rows}", argument)
    return int(entry["row"]) - 1


def places_of(ids: Any, n_rows: int) -> dict[str, int]:
    """The row of each name."""
    names = [written(name) for name in np.asarray(ids, dtype=object)]
    if len(names) != n_rows:
        raise InputError("ids", f"has {len(names)} entries, but there are {n_rows} labels", "give one name per row")
    if len(set(names)) < n_rows:
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("ids", f"has {quoted(twice)} more than once", "give names that differ, or leave them out")
    return {name: row for row, name in enumerate(names)}


def written(value: Any) -> str:
    """A label, a name or a number as it stands in the file; "" for a missing one. Whole numbers have no point."""
    if is_missing(value):
        return ""
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else str(value)
    return str.__str__(value) if isinstance(value, str) else str(value)  # of an Enum, the text itself


def _mismatch(number: int, found: str, remedy: str, argument: str = "corrections") -> InputError:
    return InputError(argument, f"[entry {number}] {found}", remedy)
