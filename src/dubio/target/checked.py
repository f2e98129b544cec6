"""Checked rows: rows drawn with known chances, of which somebody found out the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, InputWarning, counted, listed, name_row, quoted, warn
from dubio.target.knowledge import Supervision
from dubio.target.label_values import GivenByRow, as_array, entries_of, labels_by_row, places_of, row_of

Floats = NDArray[np.float64]

#: Fewest checked rows that can be used, and fewest that usually say anything about single columns.
_FEWEST, _FEW = 10, 30
#: Share of the drawn rows that may stay undecided: those that are hard to judge are not like the others.
_MOST_UNDECIDED = 0.2
#: Columns of a file of checked rows; only the row (or id) and the value are always needed.
COLUMNS = ("row", "id", "value", "chance", "checker")


@dataclass(frozen=True, eq=False)
class CheckedRows(GivenByRow):
    """What was found in rows that were drawn at random. Made by :func:`dubio.checked_rows`.

    Attributes
    ----------
    values : array (n_rows,)
        The true value of each checked row; None for all others.
    chance : array (n_rows,)
        The chance with which each row was to be drawn; NaN for rows that were not drawn, if it is known only of those
        that were.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("values", "chance")

    values: NDArray[Any]
    chance: Floats
    #: Rows that two people checked, and in how many of them they disagree: these count as undecided.
    n_checked_twice: int = 0
    n_disagreements: int = 0

    @property
    def n_checked(self) -> int:
        """Number of rows with a value."""
        return int(sum(value is not None for value in self.values))

    @property
    def undecided(self) -> NDArray[np.int64]:
        """The drawn rows without a value. If all rows have a chance, only those that were drawn for sure are known."""
        drawn = ~np.isnan(self.chance) if np.isnan(self.chance).any() else self.chance == 1.0
        return np.flatnonzero(drawn & np.array([value is None for value in self.values], dtype=bool))

    @property
    def n_undecided(self) -> int:
        """Number of drawn rows without a value."""
        return len(self.undecided)

    def __str__(self) -> str:
        text = f"{counted(self.n_checked, 'row')} of {len(self)} checked"
        text += f", {self.n_undecided} undecided" if self.n_undecided else ""
        twice = f"{self.n_disagreements} of {counted(self.n_checked_twice, 'row')} that two people checked"
        return text + (f"; they disagree in {twice}" if self.n_checked_twice else "")


def checked_rows(values: Any, *, chance: Any) -> CheckedRows:
    """Say what the truth is in rows that were drawn at random and checked.

    The checks do not replace the labels. They say which columns are related to the truth, and which only to how rows
    were labelled (:mod:`dubio.evidence.truth` has the formulas). For that, rows must have been drawn by chance, not
    picked: ``dubio check`` and :func:`dubio.trust.draw_rows` draw them. Fewer than about 30 rarely say anything.

    Parameters
    ----------
    values : array-like (n_rows,)
        One entry per row of the table: the true class or number; None or NaN for rows that were not checked.
    chance : "random", number, or array-like (n_rows,)
        The chance with which each row was drawn. "random": every row had the same chance. An array has one chance per
        row; NaN for rows that were not drawn. Then a row with a chance and no value counts as undecided.

    Returns
    -------
    CheckedRows
        Pass it as ``checked`` to :meth:`FeatureSelector.fit <dubio.FeatureSelector.fit>`.

    Examples
    --------
    >>> from dubio import checked_rows
    >>> print(checked_rows(["ill", None, "well", None], chance="random"))
    2 rows of 4 checked
    >>> print(checked_rows(["ill", None, None, None], chance=[0.5, None, 0.5, None]))
    1 row of 4 checked, 1 undecided
    """
    found = labels_by_row(values, "checked")
    has_value = np.array([value is not None for value in found], dtype=bool)
    if isinstance(chance, str):
        if chance != "random":
            raise InputError("chance", f"={chance!r}", "give 'random', a number, or one number per row")
        chances = np.full(len(found), has_value.mean() if len(found) else np.nan)
    else:
        chances = _chances(chance, len(found))
    bad = np.flatnonzero(has_value & np.isnan(chances))
    if len(bad):
        found_out = f"is missing for {name_row(int(bad[0]))}, which was checked"
        raise InputError("chance", found_out, "give the chance with which it was drawn")
    return CheckedRows(found, chances)


def _chances(chance: Any, n_rows: int) -> Floats:
    """One chance per row, above 0 and at most 1; NaN where none is given."""
    try:
        given = as_array(chance, "chance", "give one number per row")
        given = np.full(n_rows, given) if given.ndim == 0 else given
        chances = np.array([np.nan if one is None else float(one) for one in given.tolist()], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("chance", f"cannot be read: {error}", "give 'random', a number, or one per row") from error
    if len(chances) != n_rows:
        raise InputError("chance", f"has {counted(len(chances), 'value')}, and there are {counted(n_rows, 'row')}")
    bad = np.flatnonzero(~np.isnan(chances) & ~((chances > 0) & (chances <= 1)))
    if len(bad):
        found = f"is {chances[bad[0]]:g} in {name_row(int(bad[0]))}"
        raise InputError("chance", found, "a chance is above 0 and at most 1; rows that cannot be drawn say nothing")
    return chances


@dataclass(frozen=True, eq=False)
class Checks:
    """Checked rows beside a target: the truth of some rows, and the chance with which they were drawn."""

    #: The truth, labelled in the rows that were checked; of the kind of the target.
    truth: Supervision
    chance: Floats
    n_undecided: int = 0
    #: What models and labels together believe of every row: a further proxy of the truth.
    belief: Supervision | None = None

    @property
    def n_checked(self) -> int:
        return self.truth.n_labelled

    def rows(self, index: NDArray[Any]) -> Self:
        """The checks of some rows."""
        belief = None if self.belief is None else self.belief.rows(index)
        return replace(self, truth=self.truth.rows(index), chance=self.chance[index], belief=belief)


def read_checks(checked: Any, supervision: Supervision) -> Checks:
    """Read checked rows for a target."""
    if not isinstance(checked, CheckedRows):
        remedy = "say with which chance rows were drawn: checked_rows(values, chance='random')"
        raise InputError("checked", f"is a {type(checked).__name__}", remedy)
    if len(checked) != supervision.n_rows:
        found = f"has {counted(len(checked), 'entry', 'entries')}, and X has {counted(supervision.n_rows, 'row')}"
        raise InputError("checked", found, "give one entry per row, None for rows that were not checked")
    if supervision.has_pairs:
        raise InputError("checked", "cannot be used together with pairs of rows", "leave one of them out")
    truth = supervision.read_truth(checked.values)
    drawn = truth.n_labelled + checked.n_undecided
    if checked.n_undecided > _MOST_UNDECIDED * drawn:
        first = name_row(int(checked.undecided[0]))
        found = f"has {checked.n_undecided} undecided of {drawn} drawn rows, first {first}"
        raise InputError("checked", found, "rows that are hard to judge differ from others: decide at least 80 %")
    if truth.n_labelled < _FEWEST:
        found = f"has only {counted(truth.n_labelled, 'row')} with a value"
        raise InputError("checked", found, f"check at least {_FEW} rows, better 60 to 120")
    if truth.n_labelled < _FEW:
        found = f"has only {truth.n_labelled} rows with a value"
        warn(InputWarning("checked", found, f"fewer than {_FEW} rarely say anything about single columns"))
    return Checks(truth, checked.chance, checked.n_undecided)


def join_checks(files: Sequence[Any], n_rows: int, ids: Any = None) -> CheckedRows:
    """Join files of checked rows into one entry per row of the table.

    Parameters
    ----------
    files : sequence of paths, frames, or lists of mappings
        Their columns are ``row`` (from 1) or ``id``, ``value`` (empty if it is undecided), ``chance``, and perhaps
        ``checker``. The chance of a row may stand in another file than its value.
    n_rows : int
        Number of rows of the table.
    ids : array-like (n_rows,), optional
        A name for each row. Rows are then found by ``id``.

    Returns
    -------
    CheckedRows
        If two checkers give a row different values, it counts as undecided. Without a column ``checker``, each file is
        that of another checker.

    Examples
    --------
    >>> from dubio.target.checked import join_checks
    >>> drawn = [{"row": 1, "chance": 0.5}, {"row": 3, "chance": 0.5}]
    >>> judged = [{"row": 1, "value": "ill"}, {"row": 3, "value": "well"}]
    >>> join_checks([drawn, judged], 4).values.tolist()
    ['ill', None, 'well', None]
    """
    places = None if ids is None else places_of(ids, n_rows)
    values: dict[int, dict[str, str]] = {}
    chances: dict[int, float] = {}
    for file_number, file in enumerate(files, 1):
        listed_before: set[tuple[int, str]] = set()
        for number, entry in enumerate(entries_of(file, COLUMNS, "checked", needed=()), 1):
            row = row_of(entry, number, n_rows, places, "checked")
            if entry["chance"]:
                _add_chance(chances, row, entry, number)
            if entry["value"]:
                who = entry["checker"] or f"file {file_number}"
                if (row, who) in listed_before and values[row][who] == entry["value"]:
                    found = f"[entry {number}] is the second one about {name_row(row)}"
                    raise InputError("checked", found, "leave one of them out, or name two checkers")
                listed_before.add((row, who))
                _add_value(values.setdefault(row, {}), row, who, entry, number)
    undrawn = sorted(values.keys() - chances.keys())
    if undrawn:
        remedy = "give the file of the draw too, or a column chance; rows that were picked by hand cannot be used"
        raise InputError("checked", f"has no chance for {name_row(undrawn[0])}", remedy)
    agreed = {row: next(iter(said.values())) for row, said in values.items() if len(set(said.values())) == 1}
    array, chance = np.full(n_rows, None, dtype=object), np.full(n_rows, np.nan)
    for row, value in agreed.items():
        array[row] = value
    for row, one in chances.items():
        chance[row] = one
    twice = sum(len(said) > 1 for said in values.values())
    return replace(checked_rows(array, chance=chance), n_checked_twice=twice, n_disagreements=len(values) - len(agreed))


def _add_chance(chances: dict[int, float], row: int, entry: Mapping[str, str], number: int) -> None:
    try:
        chance = float(entry["chance"].replace(",", "."))  # a spreadsheet may have saved it with a comma
    except ValueError:
        chance = np.nan
    if not 0 < chance <= 1:
        found = f"[entry {number}] has the chance {quoted(entry['chance'])}"
        raise InputError("checked", found, "a chance is a number above 0 and at most 1")
    if chances.setdefault(row, chance) != chance:
        found = f"[entry {number}] gives {name_row(row)} another chance than an entry before"
        raise InputError("checked", found, "leave out files of earlier draws: that of the last one holds their rows")


def _add_value(said: dict[str, str], row: int, who: str, entry: Mapping[str, str], number: int) -> None:
    before = said.setdefault(who, entry["value"])
    if before != entry["value"]:
        found = (
            f"[entry {number}] gives {name_row(row)} the value {quoted(entry['value'])}, and before {quoted(before)}"
        )
        raise InputError("checked", found, "leave one of them out, or name two checkers in a column checker")
    if len(said) > 2:
        found = f"[entry {number}] is the third opinion about {name_row(row)}: {listed(said)}"
        raise InputError("checked", found, "give at most two")
