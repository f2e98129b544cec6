"""Labels that a person looked at again: a file of decisions, and the labels with these decisions applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, listed, nearest, quoted
from dubio.table.values import is_missing
from dubio.target.label_values import unmasked

#: The columns of a file of corrections.
COLUMNS = ("row", "id", "given", "decision", "label")
#: What a person may decide about a label.
RIGHT, CHANGE, UNSURE = "right", "change", "unsure"


@dataclass(frozen=True)
class CorrectedLabels:
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

    labels: NDArray[Any]
    given: NDArray[Any]
    decisions: NDArray[Any]

    @property
    def confirmed(self) -> NDArray[np.bool_]:
        """Rows whose label a person decided: the cleaning trusts them."""
        return np.isin(self.decisions, (RIGHT, CHANGE))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, as a shape."""
        return self.labels.shape

    def __len__(self) -> int:
        return len(self.labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = np.asarray(self.labels, dtype=dtype)
        return array.copy() if copy else array

    def __getitem__(self, rows: Any) -> CorrectedLabels:
        """The labels of some of the rows (a slice, a mask or indices)."""
        return CorrectedLabels(self.labels[rows], self.given[rows], self.decisions[rows])

    def count(self, decision: str) -> int:
        """How many rows have this decision."""
        return int((self.decisions == decision).sum())

    def __str__(self) -> str:
        looked_at = int((self.decisions != "").sum())
        return (
            f"{counted(looked_at, 'label')} looked at: {self.count(RIGHT)} right, {self.count(CHANGE)} changed, "
            f"{self.count(UNSURE)} left open."
        )


def apply_corrections(y: Any, corrections: Any, ids: Any = None) -> CorrectedLabels:
    """Apply the decisions of a person to labels.

    Each decision names a row, the label it had, and says that the label is right, is another class, or that nobody can
    tell (the row then has no label). What does not match the table is refused, and nothing is applied.

    Parameters
    ----------
    y : array-like (n_rows,)
        The labels, one class per row.
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
    >>> mended = apply_corrections(["a", "b", "b", "a"], decisions)
    >>> mended.labels.tolist(), mended.confirmed.tolist()
    (['a', 'a', 'b', 'a'], [False, True, False, False])
    """
    given = np.asarray(unmasked(y), dtype=object)
    if given.ndim != 1:
        raise InputError("y", f"has {given.ndim} dimensions", "give one class per row")
    written = [_written(label) for label in given]
    classes = {text: label for text, label in zip(written, given, strict=True) if text}
    places = None if ids is None else _places(ids, len(given))
    labels, decisions = given.copy(), np.full(len(given), "", dtype=object)
    for number, entry in enumerate(_entries(corrections), 1):
        row = _row_of(entry, number, len(given), places)
        if decisions[row]:
            raise _mismatch(number, f"decides about row {row + 1} for the second time", "leave one of them out")
        before, decision, after = entry["given"], entry["decision"], entry["label"]
        if before != written[row]:
            raise _mismatch(
                number,
                f"says that row {row + 1} was labelled {quoted(before)}, but its label is {quoted(written[row])}",
                "it belongs to another table, or was applied before",
            )
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
    return CorrectedLabels(labels, given, decisions)


def read_corrections(path: Any) -> list[dict[str, str]]:
    """The rows of a file of corrections, as text."""
    import csv

    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            header = file.readline()
            file.seek(0)
            # a spreadsheet may have saved it with another separator
            table = csv.DictReader(file, delimiter=max(",;\t", key=header.count))
            rows = [dict(row) for row in table]
            missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            "corrections", f"cannot be read as CSV ({error})", "give the file that the page wrote"
        ) from None
    if missing:
        raise InputError(
            "corrections",
            f"has no column {quoted(missing[0])}",
            f"give the file that the page wrote, with the columns {', '.join(COLUMNS)}",
        )
    return rows


def _entries(corrections: Any) -> Iterable[dict[str, str]]:
    if isinstance(corrections, str) or hasattr(corrections, "__fspath__"):
        corrections = read_corrections(corrections)
    elif hasattr(corrections, "to_dict"):
        corrections = corrections.to_dict("records")
    for number, entry in enumerate(corrections, 1):
        if not isinstance(entry, Mapping):
            raise _mismatch(number, "is not a mapping", "give row, given, decision and label")
        yield {name: _written(entry.get(name)) for name in COLUMNS}


def _row_of(entry: dict[str, str], number: int, n_rows: int, places: dict[str, int] | None) -> int:
    if places is not None and entry["id"]:
        if entry["id"] not in places:
            raise _mismatch(number, f"has the id {quoted(entry['id'])}, which no row has", "is it another table?")
        return places[entry["id"]]
    if not entry["row"].isdecimal() or not 1 <= int(entry["row"]) <= n_rows:
        raise _mismatch(number, f"has the row {quoted(entry['row'])}", f"rows are counted from 1 to {n_rows}")
    return int(entry["row"]) - 1


def _places(ids: Any, n_rows: int) -> dict[str, int]:
    names = [_written(name) for name in np.asarray(ids, dtype=object)]
    if len(names) != n_rows:
        raise InputError("ids", f"has {len(names)} entries, but there are {n_rows} labels", "give one name per row")
    if len(set(names)) < n_rows:
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("ids", f"has {quoted(twice)} more than once", "give names that differ, or leave them out")
    return {name: row for row, name in enumerate(names)}


def _written(value: Any) -> str:
    """A label, a name or a number as it stands in the file; "" for a missing one. Whole numbers have no point."""
    if is_missing(value):
        return ""
    if isinstance(value, float | np.floating):
        return str(int(value)) if value == int(value) else str(value)
    return str.__str__(value) if isinstance(value, str) else str(value)  # of an Enum, the text itself


def _mismatch(number: int, found: str, remedy: str) -> InputError:
    return InputError("corrections", f"[entry {number}] {found}", remedy)
