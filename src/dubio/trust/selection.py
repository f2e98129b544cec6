"""A selection as a small readable file, and its use on the next table: which columns were kept, and what they held."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, false_discovery_control

from dubio.errors import InputError, counted, listed, name_row, nearest, quoted
from dubio.ranking import default_names
from dubio.table.cells import Decimal, is_missing_text, missing_cells
from dubio.table.matrix import column_names, in_memory
from dubio.table.read import ReadTable, column_values, read_any_table
from dubio.table.reading import ColumnReading
from dubio.words import Note, note

Floats = NDArray[np.float64]

#: The version of the file; a later one may hold what this version cannot read.
FORMAT = 1
#: Parts of equal size into which the values of a column of numbers are divided, to see whether they drift.
_PARTS = 10
#: A column has drifted if a test finds it at this false-discovery rate, and if at least this share of its rows would
#: have to move to another part for the two tables to agree: large tables differ in ways that do not matter.
_DRIFT_LEVEL, _DRIFT_SHARE = 0.01, 0.1
#: Fewest cells with a value of each table for a test of drift.
_FEWEST_FOR_DRIFT = 20
#: A number is far outside if it lies beyond the range of the first table by more than this many times its width.
_FAR = 1.0
#: Fewest rows that share what is written where no row may be recognised.
FEWEST_ROWS = 5
#: Digits of numbers where no row may be recognised.
_DIGITS = 3
#: Kinds of columns whose values are numbers, and those whose values are names.
_NUMBERS, _NAMES = ("number", "time", "yes/no"), ("category", "ordered", "text")


@dataclass(frozen=True)
class KeptColumn:
    """One column that was kept, and what it held.

    Attributes
    ----------
    name : str
    kind : str
        "number", "yes/no", "category", "ordered", "date" or "time"; see :class:`~dubio.table.reading.ColumnReading`.
    unit : str
        The unit that was written in its cells.
    levels : tuple of str
        The categories.
    n_values, n_missing : int
        Number of cells with and without a value.
    filled_with : float, str or None
        What its gaps were filled with before the features were ranked.
    limits : tuple of float
        Of numbers: the lowest, the limits between ten parts of equal size, the highest.
    shares : tuple of float
        The share of the values in each of these parts, or in each category.
    """

    name: str
    kind: str = "number"
    unit: str = ""
    levels: tuple[str, ...] = ()
    n_values: int = 0
    n_missing: int = 0
    filled_with: float | str | None = None
    limits: tuple[float, ...] = ()
    shares: tuple[float, ...] = ()

    @classmethod
    def of(cls, name: str, cells: _Cells) -> Self:
        """The description of a column."""
        present = cells.values[~cells.missing]
        column = cls(name, cells.kind, cells.unit, n_values=len(present), n_missing=int(cells.missing.sum()))
        if not len(present) or cells.kind == "date":
            return column
        if cells.kind in _NUMBERS:
            limits = np.unique(np.quantile(present.astype(np.float64), np.linspace(0, 1, _PARTS + 1)))
            column = replace(column, limits=tuple(limits.tolist()), filled_with=float(np.median(present)))
        else:
            levels, counts = np.unique(present.astype(str), return_counts=True)
            written = tuple(cells.levels) or tuple(levels.tolist())
            column = replace(column, levels=written, filled_with=str(levels[np.argmax(counts)]))
        return replace(column, shares=tuple((column.counts(present) / len(present)).tolist()))

    @classmethod
    def anonymous_of(cls, name: str, values: Floats, levels: Sequence[str] = ()) -> KeptColumn:
        """The description of a column without what few rows share; of categories, the values are their codes."""
        missing = np.isnan(values)
        cells = _Cells(values, missing, "number")
        if levels:
            texts = np.full(len(values), None, dtype=object)
            texts[~missing] = [levels[int(code)] for code in values[~missing]]
            cells = _Cells(texts, missing, "category", levels=tuple(levels))
        return cls.of(name, cells).anonymous(cells.values[~missing])

    def in_bins(self) -> tuple[list[str], Floats, list[str]]:
        """The parts or categories in words, their shares, and these as text."""
        names = list(self.levels) or [f"{low:g} to {high:g}" for low, high in pairwise(self.limits)]
        shares = np.asarray(self.shares[: len(names)])
        return names, shares, [f"{100 * share:.0f} %" for share in shares]

    def counts(self, present: NDArray[Any]) -> NDArray[np.int64]:
        """Number of values in each part, or in each category; of categories, those that are new come last."""
        if self.levels:
            places = {level: place for place, level in enumerate(self.levels)}
            of = np.array([places.get(str(value), len(places)) for value in present], dtype=np.int64)
            counts = np.bincount(of, minlength=len(places) + 1)
            return counts if counts[-1] else counts[:-1]
        parts = max(1, len(self.limits) - 1)
        of = np.searchsorted(self.limits[1:-1], present.astype(np.float64), side="left")
        return np.bincount(of, minlength=parts)

    def anonymous(self, present: NDArray[Any]) -> KeptColumn:
        """The same without what fewer than five rows share: no rare category, no number that only few rows have."""
        if 0 < self.n_missing < FEWEST_ROWS:
            return replace(self, n_missing=0, n_values=self.n_values + self.n_missing).anonymous(present)
        if self.levels:
            counts = self.counts(present)[: len(self.levels)]
            common = np.flatnonzero(counts >= FEWEST_ROWS).tolist()
            levels, shares = tuple(self.levels[j] for j in common), tuple(rounded(self.shares[j]) for j in common)
            filled = self.filled_with if self.filled_with in levels else None
            return replace(self, levels=levels, shares=shares, filled_with=filled)
        if not self.limits:
            return self
        values, counts = np.unique(present.astype(np.float64), return_counts=True)
        rare = set(values[counts < FEWEST_ROWS].tolist())
        limits = sorted({limit for limit in map(rounded, self.limits) if limit not in rare})
        column = replace(self, limits=tuple(limits))
        while len(limits) > 2 and (few := np.flatnonzero(column.counts(present) < FEWEST_ROWS)).size:
            limits.pop(min(int(few[0]) + 1, len(limits) - 2))
            column = replace(column, limits=tuple(limits))
        filled = None if self.filled_with is None or rounded(self.filled_with) in rare else rounded(self.filled_with)
        of_parts = (column.counts(present) / max(1, len(present))).tolist()
        return replace(column, filled_with=filled, shares=tuple(map(rounded, of_parts)))


class _Cells(NamedTuple):
    """The cells of a column in their usual form: numbers, text or dates."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    kind: str
    unit: str = ""
    levels: tuple[str, ...] = ()


def rounded(number: Any) -> Any:
    """A number with three digits; anything else as it is."""
    return float(f"{number:.{_DIGITS}g}") if isinstance(number, float) else number


def _cells_of(X: Any, index: int, decimal: Decimal | None = None, *, as_category: bool = False) -> _Cells:
    """The cells of one column of a table, read as the library reads them."""
    names = column_names(X)
    column = X[[names[index]]] if names is not None else np.asarray(X)[:, [index]]
    if as_category:
        return _categories(column if names is None else X, 0 if names is None else index, ())
    read = read_any_table(column, decimal=decimal, was_missing=False)
    reading = read.read[0] if read.read else ColumnReading(None)
    if reading.kind in _NAMES:
        return _categories(X, index, reading.levels, reading.kind)
    values = np.asarray(read.matrix, dtype=np.float64)[:, 0]
    missing = np.isnan(values)
    if reading.kind == "date":
        days = np.where(missing, 0.0, values) * 86_400e6
        dates = np.datetime64(reading.first, "us") + np.round(days).astype("timedelta64[us]")
        return _Cells(np.where(missing, np.datetime64("NaT"), dates), missing, "date")
    return _Cells(values, missing, reading.kind, reading.unit)


def _categories(X: Any, index: int, levels: tuple[str, ...], kind: str = "category") -> _Cells:
    """The cells of a column as names; whole numbers are written without a decimal point."""
    values = column_values(X, index) if hasattr(X, "columns") else np.asarray(X)[:, index].astype(object)
    values = values.astype(object)
    missing = missing_cells(values)
    missing |= np.array([isinstance(value, str) and is_missing_text(value) for value in values], dtype=bool)
    texts = np.full(len(values), None, dtype=object)
    for row in np.flatnonzero(~missing).tolist():
        value = values[row]
        whole = isinstance(value, float) and value.is_integer()
        texts[row] = str(int(value) if whole else value).strip()
    return _Cells(texts, missing, kind, levels=levels)


@dataclass(frozen=True)
class Selection:
    """Which columns of a table were kept, what they held, and how they were chosen.

    It holds no rows. It can be written to a file that people can read, and be used on the next table.

    Attributes
    ----------
    columns : tuple of KeptColumn
        In the order of the table.
    target : str
        The name of the target.
    method, explanation : str
    estimator : dict
        The class of the selector and its parameters.
    options : dict
        The options of the command, if it made the selection.
    versions : dict
        Python, dubio and the libraries below.
    table : dict
        Number of rows and columns of the table, and a hash of what it holds.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FeatureSelector
    >>> from dubio.trust import Selection
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = FeatureSelector(n_features_to_select=2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "selection.json")
    ...     Selection.of(selector, X, target="species").save(path)
    ...     applied = Selection.load(path).apply(X[X.columns[::-1]])
    >>> list(applied.table.columns), applied.notes
    (['petal length (cm)', 'petal width (cm)'], ())
    """

    columns: tuple[KeptColumn, ...]
    target: str = ""
    method: str = ""
    explanation: str = ""
    estimator: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    table: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        selector: Any,
        X: Any,
        *,
        target: str = "",
        options: Mapping[str, Any] | None = None,
        read: ReadTable | None = None,
        anonymous: bool = False,
    ) -> Self:
        """The selection of a fitted selector.

        Parameters
        ----------
        selector : estimator
            Fitted on ``X``.
        X : array or data frame
        target : str
            The name of the target.
        options : dict, optional
            Further settings to remember.
        read : ReadTable, optional
            The same table, if it has been read before.
        anonymous : bool, default=False
            Whether nothing may be written that fewer than five rows share: rare categories, exact numbers.
        """
        X = in_memory(X)
        read = read_any_table(X) if read is None else read
        ranking = selector.to_ranking()
        names = column_names(X)
        written = default_names(X.shape[1]).tolist() if names is None else names
        columns = []
        for index in np.flatnonzero(selector.get_support()).tolist():
            cells = _cells_of(X, index)
            column = KeptColumn.of(str(written[index]), cells)
            columns.append(column.anonymous(cells.values[~cells.missing]) if anonymous else column)
        what = {"class": f"dubio.{type(selector).__name__}", "parameters": _plain(selector.get_params())}
        return cls(
            tuple(columns),
            target,
            ranking.method,
            str(getattr(selector, "explanation_", ranking.reason)),
            what,
            _plain(dict(options or {})),
            versions(),
            {"rows": int(X.shape[0]), "columns": int(X.shape[1]), "hash": table_hash(read)},
        )

    def as_json(self) -> str:
        """The selection as text that people can read, and :meth:`load` reads again."""
        content = {"format": FORMAT, **{one.name: getattr(self, one.name) for one in fields(self)}}
        content["columns"] = [asdict(column) for column in self.columns]
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the selection to a JSON file."""
        Path(path).write_text(self.as_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a selection from a JSON file; raises if the file is no selection."""
        place = quoted(str(path))
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content["format"] > FORMAT:
                found = f"has format {content['format']!r}, and this version of dubio reads format {FORMAT}"
                raise InputError(place, found, "use the version of dubio that wrote it, or a later one")
            columns = tuple(KeptColumn(**{**one, **_tuples(one)}) for one in content.pop("columns"))
            return cls(columns, **{name: value for name, value in content.items() if name != "format"})
        except (UnicodeError, ValueError, TypeError, KeyError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            remedy = "give the file that dubio rank --save-selection, or Selection.save, wrote"
            raise InputError(place, "is not a selection", remedy) from error

    def apply(self, X: Any, *, decimal: Decimal | None = None) -> Applied:
        """The kept columns of another table, by their names, in any order and form, and what is different in it.

        Numbers may be written as text ("3,2", "3.2 mg"); they become numbers. Gaps stay gaps. A column that is missing
        or that cannot be read as before is refused.

        Parameters
        ----------
        X : data frame
            It needs only the kept columns.
        decimal : "." or ",", optional
            The decimal mark of numbers that are text; by default it is found.

        Returns
        -------
        Applied
            Its ``table`` is a pandas frame, its ``notes`` say what is different.
        """
        import pandas as pd

        X = in_memory(X)
        names = column_names(X)
        if names is None:
            raise InputError("X", "has no column names", "give a data frame: the kept columns are found by their names")
        places = {str(name): place for place, name in enumerate(names)}
        if absent := [column.name for column in self.columns if column.name not in places]:
            near = nearest(absent[0], places)
            remedy = f"did you mean {quoted(near[0])}?" if near else "rename or add it"
            raise InputError("X", f"lacks {counted(len(absent), 'kept column')}: {listed(map(quoted, absent))}", remedy)
        table: dict[str, NDArray[Any]] = {}
        notes: list[Note] = []
        drift: list[_Drift | None] = []
        for column in self.columns:
            cells = _cells_of(X, places[column.name], decimal, as_category=column.kind in _NAMES)
            _refuse_other_content(column, cells)
            table[column.name] = cells.values
            notes += _differences(column, cells)
            drift.append(_drift(column, cells))
        frame = pd.DataFrame(table, index=getattr(X, "index", None))
        return Applied(frame, (*notes, *_drifted(self.columns, drift)))


def _tuples(column: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) for name, value in column.items() if isinstance(value, list)}


class Applied(NamedTuple):
    """The kept columns of another table, and what is different in it, as notes whose text is a clause."""

    table: Any
    notes: tuple[Note, ...]


def _refuse_other_content(column: KeptColumn, cells: _Cells) -> None:
    """Raise if a column does not hold what it held, or has another unit."""
    fits = cells.kind in (column.kind, "empty") or column.kind in _NAMES
    fits |= {column.kind, cells.kind} <= {"number", "yes/no"}
    name = f"column {quoted(column.name)}"
    if not fits:
        row = int(np.argmax(~cells.missing))
        found = f"holds {_KINDS[cells.kind]}, first {quoted(cells.values[row])} in {name_row(row)}"
        raise InputError(name, f"{found}, but it held {_KINDS[column.kind]} when it was selected", "correct it")
    if cells.unit and column.unit and cells.unit != column.unit:
        found = f"is in {cells.unit}, but it was in {column.unit} when it was selected"
        raise InputError(name, found, f"convert it to {column.unit}")


_KINDS = {"number": "numbers", "yes/no": "yes or no", "category": "categories", "ordered": "ordered categories"}
_KINDS |= {"date": "dates", "time": "times of the day", "text": "text", "empty": "nothing"}


def _differences(column: KeptColumn, cells: _Cells) -> Iterator[Note]:
    """What is different in a column of the next table."""
    present = cells.values[~cells.missing]
    if not len(present):
        yield note("applied empty", name=column.name)
        return
    if column.unit and not cells.unit:
        yield note("applied without unit", name=column.name, unit=column.unit)
    if column.levels:
        new = sorted(set(present.astype(str)) - set(column.levels))
        rows = int(np.isin(present.astype(str), new).sum()) if new else 0
        if new:
            yield note("applied new categories", name=column.name, n=len(new), levels=new, rows=rows)
    elif len(column.limits) > 1:
        low, high = column.limits[0], column.limits[-1]
        far = np.flatnonzero((present < low - _FAR * (high - low)) | (present > high + _FAR * (high - low)))
        if len(far):
            more = {"example": f"{present[far[0]]:g}", "low": f"{low:g}", "high": f"{high:g}"}
            yield note("applied far outside", name=column.name, n=len(far), **more)


class _Drift(NamedTuple):
    """The p-value of a test whether two tables have the same values in a column, and how far they are apart."""

    pvalue: float
    share: float


def _drift(column: KeptColumn, cells: _Cells) -> _Drift | None:
    """Compare the values of a column with the parts, or categories, of the first table.

    The share is the total variation distance: that of the rows that would have to move to another part.
    """
    present = cells.values[~cells.missing]
    if len(column.shares) < 2 or min(len(present), column.n_values) < _FEWEST_FOR_DRIFT:
        return None
    counts = column.counts(present)
    before = np.append(column.shares, np.zeros(len(counts) - len(column.shares))) * column.n_values
    before, counts = np.round(before)[(before + counts) > 0], counts[(before + counts) > 0]
    share = 0.5 * float(np.abs(before / before.sum() - counts / counts.sum()).sum())
    occupied = before + counts > 0
    return _Drift(float(chi2_contingency(np.stack([before, counts])[:, occupied]).pvalue), share)


def _drifted(columns: tuple[KeptColumn, ...], drifts: list[_Drift | None]) -> list[Note]:
    """Notes on the columns whose values have drifted, the strongest drift first."""
    tested = [(column, drift) for column, drift in zip(columns, drifts, strict=True) if drift is not None]
    if not tested:
        return []
    qvalues = false_discovery_control([drift.pvalue for _, drift in tested])
    drifted = [
        (drift.share, column.name)
        for (column, drift), qvalue in zip(tested, qvalues, strict=True)
        if qvalue <= _DRIFT_LEVEL and drift.share >= _DRIFT_SHARE
    ]
    return [note("applied drifted", name=name, percent=100 * share) for share, name in sorted(drifted, reverse=True)]


#: Rows of a table that are hashed at a time, because those of a sparse one are made dense for it.
_HASHED_ROWS = 1000


def table_hash(read: ReadTable) -> str:
    """A SHA-256 hash of what a table holds: names, numbers, categories and text; its file format plays no part.

    >>> import numpy as np
    >>> from dubio.table.read import read_any_table
    >>> one, other = np.eye(3), np.eye(3)
    >>> other[0, 1] = 1e-300
    >>> table_hash(read_any_table(one)) == table_hash(read_any_table(other))
    False
    """
    digest = hashlib.sha256(repr((read.names, read.matrix.shape)).encode("utf-8", "backslashreplace"))
    for start in range(0, read.matrix.shape[0], _HASHED_ROWS):
        rows = read.matrix[start : start + _HASHED_ROWS]
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        digest.update(np.ascontiguousarray(np.asarray(rows, dtype=np.float64)).tobytes())
    for reading in read.read:
        described = (reading.name, reading.kind, reading.unit, reading.levels, reading.first)
        digest.update(repr(described).encode("utf-8", "backslashreplace"))
        if reading.codes is not None:
            digest.update(np.ascontiguousarray(reading.codes).tobytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """The versions of Python, dubio and the libraries that compute."""
    found = {"python": platform.python_version()}
    for name in ("dubio", "numpy", "scipy", "scikit-learn", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # not installed as a package
            found[name] = "unknown"
    return found


def _plain(value: Any) -> Any:
    """Settings as JSON holds them; what it cannot hold is written as Python shows it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    plain = value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and np.isfinite(value))
    return value if plain else repr(value)
