"""Values of any type as arrays: masks, missing values, labels of one type; records that stand for one label per row."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, quoted
from dubio.table.values import as_float, is_missing, is_valid_text


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


def as_array(values: Any) -> NDArray[Any]:
    """Values as an array; raises a ValueError if rows have different lengths."""
    if isinstance(values, list | tuple) and any(isinstance(value, str) for value in values):
        # NumPy would turn numbers and None next to text into text, but such a mix is a mistake to report
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    return np.asarray(unmasked(values))


def as_floats(values: Any) -> NDArray[np.float64]:
    """Real numbers of any type as float64: NaN where one is missing, infinity where one is too large.

    Raises a TypeError or a ValueError for anything else.

    >>> from fractions import Fraction
    >>> from dubio.target.label_values import as_floats
    >>> as_floats([Fraction(1, 4), None, 10**400])
    array([0.25,  nan,  inf])
    """
    array = as_array(values)
    if array.dtype.kind == "c":  # NumPy would drop a part of them
        raise TypeError("complex numbers")
    with np.errstate(over="ignore"):
        if array.dtype.kind != "O":
            return array.astype(np.float64, copy=False)
        return np.array([_real(value) for value in array.ravel()], dtype=np.float64).reshape(array.shape)


def _real(value: Any) -> float:
    if is_missing(value):
        return np.nan
    if isinstance(value, np.complexfloating):
        raise TypeError("a complex number")
    return as_float(value)


def usual_floats(array: NDArray[Any]) -> NDArray[Any]:
    """The same floats as float32 or float64, whatever they are."""
    return array if array.dtype in (np.float32, np.float64) else as_floats(array)


def decoded(column: NDArray[np.bytes_]) -> NDArray[np.str_]:
    """Bytes as the text that they stand for in UTF-8."""
    try:
        return np.char.decode(column, "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            "y", f"holds bytes that are not UTF-8, such as {error.object!r}", "give text: np.char.decode(y, 'latin-1')"
        ) from error


def one_type(values: Sequence[Any] | NDArray[Any], argument: str = "y") -> NDArray[Any]:
    """Known labels as an array of one type; raises if they mix types."""
    kinds: dict[str, list[Any]] = {}
    for value in values:
        if isinstance(value, str):
            kinds.setdefault("text", []).append(value)
        elif isinstance(value, bool | np.bool_):
            kinds.setdefault("bool", []).append(value)
        elif isinstance(value, datetime.timedelta | np.timedelta64):  # NumPy counts its durations as whole numbers
            kinds.setdefault("duration", []).append(value)
        elif isinstance(value, int | float | Decimal | Real):
            kinds.setdefault("number", []).append(value)
        elif isinstance(value, datetime.date | np.datetime64):
            kinds.setdefault("date", []).append(value)
        elif isinstance(value, datetime.time):
            kinds.setdefault("time", []).append(value)
        else:
            kinds.setdefault(type(value).__name__, []).append(value)
    unknown = [name for name in kinds if name not in ("text", "bool", "number", "date", "duration", "time")]
    if unknown:
        odd = kinds[unknown[0]]
        raise InputError(
            argument,
            f"holds {counted(len(odd), 'value')} of type {unknown[0]}, such as {quoted(odd[0])} (Unknown label type)",
            "give text, bools or numbers. For candidate sets use soft_labels",
            code="label type",
        )
    if len(kinds) > 1:
        counts = ", ".join(
            f"{len(v)} {k} (such as {quoted(v[0]) if k == 'text' else repr(v[0])})" for k, v in kinds.items()
        )
        raise InputError(argument, f"mixes types: {counts}", "make all labels text or all numbers")
    if not kinds:
        return np.empty(0)
    kind, same = next(iter(kinds.items()))
    if kind == "text":
        return _texts(same, argument)
    if kind == "number":
        return _numbers(same)
    return np.asarray(same, dtype=bool if kind == "bool" else object)


def _texts(values: list[str], argument: str) -> NDArray[np.str_]:
    """The text itself, also of the members of an Enum, which show as something else."""
    texts = [str.__str__(value) for value in values]
    cut = next((text for text in texts if text.endswith("\0")), None)
    if cut is not None:
        raise InputError(
            argument,
            f"holds text that ends with a null character, such as {quoted(cut)}, which an array of text would lose",
            "remove it: text.rstrip('\\0')",
        )
    odd = next((text for text in texts if not is_valid_text(text)), None)
    if odd is not None:
        raise InputError(argument, f"holds {quoted(odd)}, which is no valid text", "read the table with its encoding")
    return np.asarray(texts, dtype=str)


def _numbers(values: list[Any]) -> NDArray[Any]:
    """Whole numbers stay whole if they fit 64 bits."""
    array = np.asarray(values)
    return array if array.dtype.kind in "iu" else usual_floats(array)


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


def labels_by_row(y: Any) -> NDArray[Any]:
    """One label per row, None where there is none."""
    if isinstance(y, str | bytes | dict | set) or not hasattr(y, "__len__"):
        raise InputError("y", f"is a {type(y).__name__}", "give one label per row")
    try:
        given = np.asarray(unmasked(y), dtype=object)
    except ValueError:
        raise InputError("y", "has rows of different lengths", "give one label per row") from None
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise InputError("y", f"has shape {given.shape}", "give one label per row")
    values = np.empty(len(given), dtype=object)
    values[:] = [None if is_missing(value) else value for value in given]
    odd = next((value for value in values if np.ndim(value) or isinstance(value, set | dict)), None)
    if odd is not None:
        raise InputError("y", f"holds a {type(odd).__name__}", "give one label per row")
    return values


class GivenByRow:
    """A record of arrays with one entry per row. A subclass is a frozen dataclass that lists them in ``_by_row``."""

    _by_row: ClassVar[tuple[str, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, as a shape."""
        return (len(self),)

    def __len__(self) -> int:
        return len(getattr(self, self._by_row[0]))

    def __getitem__(self, rows: Any) -> Self:
        """The same knowledge of some of the rows (a slice, a mask or indices)."""
        if isinstance(rows, tuple):  # scikit-learn's splitters index as y[rows, ...]
            rows = rows[0]
        chosen: dict[str, NDArray[Any]] = {name: getattr(self, name)[rows] for name in self._by_row}
        if any(np.ndim(values) != np.ndim(getattr(self, name)) for name, values in chosen.items()):
            raise TypeError(f"{type(self).__name__} is indexed by rows: give a slice, a mask or an array of indices")
        return replace(self, **chosen)  # type: ignore[type-var]
