"""Votes: several people labelled the same rows, with classes, ordered classes or numbers."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, InputWarning, counted, listed, name_row, quoted, warn
from dubio.table.cells import is_missing, missing_cells
from dubio.table.matrix import column_names
from dubio.target.annotators import ClassConsensus, NumberConsensus, Votes, agree_on_classes, agree_on_numbers
from dubio.target.classes import Classes, Memberships, OfClasses
from dubio.target.knowledge import Floats, Supervision
from dubio.target.label_values import GivenByRow, as_array, class_names, labels_by_row
from dubio.target.numbers import Numbers
from dubio.target.ordered import OrderedMemberships, in_words

Codes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Voted(Supervision, ABC):
    """Votes of several annotators. What they say together is computed from the rows at hand, when it is first needed.

    Tests of relevance see the consensus of the votes alone: with opinions of models in it, a column would be tested
    against itself. Searches believe the consensus of votes and models (``believed``).
    """

    believed: ClassVar[str] = "votes"
    no_worst: ClassVar[str] = "for votes"

    #: Names of the annotators, also of those without a vote in these rows.
    annotators: tuple[str, ...]
    #: The place of each vote's annotator, row by row; -1 where a row has fewer votes than others.
    who: Codes = field(repr=False)

    @property
    def votes(self) -> Votes:
        """All votes in long form."""
        row, place = np.nonzero(self.who >= 0)
        cast = self.values_said[row, place]
        return Votes(row, self.who[row, place], cast, self.n_rows, len(self.annotators))

    @property
    def values_said(self) -> NDArray[Any]:
        """The votes, row by row."""
        raise NotImplementedError

    @cached_property
    def consensus(self) -> Supervision:
        """What the votes alone say of each row: class probabilities or numbers."""
        raise NotImplementedError

    @property
    def truth(self) -> NDArray[Any] | None:
        """What is known to be true, row by row, if anything is."""
        raise NotImplementedError

    def as_tested(self) -> Supervision:
        return self.consensus.as_tested()

    def simpler(self) -> Supervision:
        return self.consensus

    def likeliest(self) -> Supervision | None:
        return self.consensus.likeliest()

    @property
    def strata(self) -> Codes:
        return (self.likeliest() or self.consensus).strata

    def binned(self, n_bins: int) -> Codes:
        return (self.likeliest() or self.consensus).binned(n_bins)

    @property
    def can_be_judged(self) -> bool:
        likeliest = self.likeliest()
        return likeliest is not None and likeliest.can_be_judged

    def drawn(self, rng: np.random.Generator) -> Supervision:
        return self.consensus.drawn(rng)

    def as_drawn(self) -> tuple[Floats, list[str], Codes]:
        return self.consensus.as_drawn()

    def require_enough(self) -> None:
        self.consensus.require_enough()

    def _described(self) -> str:
        votes = counted(int((self.who >= 0).sum()), "vote")
        return f"{votes} of {counted(len(self.annotators), 'annotator')} ({self._in_short()})"

    def _counts_of_labels(self) -> dict[str, int]:
        n_votes = (self.who >= 0).sum(axis=1)
        several = int((n_votes >= 2).sum())
        return {"rows with votes": self.n_labelled, "of these, rows with several votes": several}


@dataclass(frozen=True, kw_only=True)
class VotedClasses(Voted):
    """Votes for classes, which may have an order."""

    kind: ClassVar[str] = "votes"
    words: ClassVar[str] = "votes of annotators"
    given: ClassVar[str] = "the target holds the votes of several annotators"
    instead: ClassVar[str] = "their consensus: soft_labels(votes, combine='dawid-skene')"
    _by_row: ClassVar[dict[str, Any]] = {"who": -1, "codes_said": -1, "true_codes": -1}

    classes: NDArray[Any]
    #: Whether the classes have an order; they then stand in it, the lowest first.
    in_order: bool
    #: The class of each vote, row by row.
    codes_said: Codes = field(repr=False)
    #: The true class of rows where it is known, else -1.
    true_codes: Codes = field(repr=False)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def values_said(self) -> Codes:
        return self.codes_said

    @property
    def truth(self) -> Codes | None:
        return self.true_codes if (self.true_codes >= 0).any() else None

    def agreed(self, opinions: Floats | None = None) -> ClassConsensus:
        """What the votes say together, with opinions of models or alone."""
        ordered = self.in_order and self.n_classes > 2
        return agree_on_classes(self.votes, self.n_classes, opinions=opinions, in_order=ordered, truth=self.truth)

    def believing(self, memberships: Floats, labelled: NDArray[np.bool_]) -> OfClasses:
        """These probabilities of the classes as knowledge."""
        kind = OrderedMemberships if self.in_order and self.n_classes > 2 else Memberships
        return self.as_kind(kind, memberships=np.where(labelled[:, None], memberships, 0.0), labelled=labelled)

    @cached_property
    def consensus(self) -> OfClasses:
        found = self.agreed().memberships if self.labelled.any() else np.zeros((self.n_rows, self.n_classes))
        return self.believing(found, self.labelled)

    def require_enough(self) -> None:
        said = np.unique(self.codes_said[self.codes_said >= 0])
        Classes(labelled=said >= 0, classes=self.classes, codes=said).require_enough()

    def _in_short(self) -> str:
        if self.in_order:
            return f"{counted(self.n_classes, 'ordered class', 'ordered classes')}: {in_words(self.classes)}"
        return counted(self.n_classes, "class", "classes")


@dataclass(frozen=True, kw_only=True)
class VotedNumbers(Voted):
    """Votes that are numbers, such as measurements by several people."""

    kind: ClassVar[str] = "votes of numbers"
    words: ClassVar[str] = "numbers of several annotators"
    given: ClassVar[str] = "the target holds the numbers of several annotators"
    instead: ClassVar[str] = "their mean"
    reads: ClassVar[Literal["classes", "numbers"]] = "numbers"
    has_neighbors: ClassVar[bool] = True
    _by_row: ClassVar[dict[str, Any]] = {"who": -1, "numbers_said": np.nan, "true_numbers": np.nan}

    #: The number of each vote, row by row.
    numbers_said: Floats = field(repr=False)
    #: The true number of rows where it is known, else NaN.
    true_numbers: Floats = field(repr=False)

    @property
    def values_said(self) -> Floats:
        return self.numbers_said

    @property
    def truth(self) -> Floats | None:
        return None if np.isnan(self.true_numbers).all() else self.true_numbers

    def agreed(self, opinions: Floats | None = None) -> NumberConsensus:
        """What the votes say together, with the opinion of models or alone."""
        return agree_on_numbers(self.votes, opinions=opinions, truth=self.truth)

    def believing(self, values: Floats, labelled: NDArray[np.bool_]) -> Numbers:
        """These numbers as knowledge."""
        return self.as_kind(Numbers, values=np.where(labelled, values, np.nan), labelled=labelled)

    @cached_property
    def consensus(self) -> Numbers:
        found = self.agreed().values if self.labelled.any() else np.full(self.n_rows, np.nan)
        return self.believing(found, self.labelled)

    def _in_short(self) -> str:
        return "numbers"


@dataclass(frozen=True, eq=False)
class VotesByRow(GivenByRow):
    """The votes of several annotators, row by row. Made by :func:`dubio.votes`; pass it as ``y``.

    Attributes
    ----------
    said : array (n, most votes of a row)
        The codes of the classes, -1 for none; or numbers, NaN for none.
    who : array (n, most votes of a row)
        The place of each vote's annotator in ``annotators``, -1 for none.
    truth : array (n,)
        What is known to be true, as codes or numbers; -1 or NaN where nothing is.
    annotators : tuple of str
    classes : array or None
        Names of the classes; None for numbers.
    in_order : bool
        Whether the classes have an order.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("said", "who", "truth")

    said: NDArray[Any]
    who: Codes
    truth: NDArray[Any]
    annotators: tuple[str, ...]
    classes: NDArray[Any] | None = None
    in_order: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.said),)


def votes(
    table: Any = None,
    *,
    row: Any = None,
    who: Any = None,
    label: Any = None,
    rows: Any = None,
    order: Sequence[Any] | None = None,
    classes: Sequence[Any] | None = None,
    truth: Any = None,
) -> VotesByRow:
    """Say what each annotator said of each row: a table with one column per annotator, or a list of votes.

    What they say together is computed inside ``fit``, on the rows of that fit.

    Parameters
    ----------
    table : array-like or frame (n_rows, n_annotators), optional
        The votes; None, NaN and pd.NA (and -1 among whole numbers) mean that an annotator did not vote.
    row, who, label : array-like (n_votes,), optional
        The same in long form, in place of ``table``: the row, the annotator, and what they said.
    rows : int or sequence, optional
        For the long form: the number of rows of the table, or the names of its rows that ``row`` uses. By default
        ``row`` holds positions from 0 and the last one has a vote.
    order : sequence, optional
        All classes, the lowest first, if they have an order.
    classes : sequence, optional
        All classes, in the order you want. By default those that occur, sorted. Votes with a fraction, or of many
        different values, are numbers.
    truth : array-like (n_rows,), optional
        What is known to be true, such as the class that a panel agreed on; missing where nothing is known.

    Returns
    -------
    VotesByRow
        Pass it as ``y`` to :class:`dubio.FeatureSelector` or :func:`dubio.audit_labels`.

    Examples
    --------
    >>> from dubio import votes
    >>> seen = votes({"ann": ["ill", "well", None], "bob": ["ill", "ill", "well"]})
    >>> len(seen), seen.annotators, seen.classes.tolist()
    (3, ('ann', 'bob'), ['ill', 'well'])
    >>> votes(row=[0, 0, 1], who=["ann", "bob", "ann"], label=[1, 2, 1], rows=3).who.tolist()
    [[0, 1], [0, -1], [-1, -1]]
    """
    given = [name for name, value in (("row", row), ("who", who), ("label", label)) if value is not None]
    if table is None and len(given) < 3:
        missing = next(name for name in ("row", "who", "label") if name not in given)
        raise InputError(missing if given else "table", "is missing", "give a table of votes, or row, who and label")
    if table is not None and given:
        raise InputError(given[0], "is given together with a table of votes", "leave one of them out")
    if order is not None and classes is not None:
        raise InputError("classes", "is given together with order", "leave it out: order names all classes")
    places, annotators, cells, n_rows = _wide(table) if table is not None else _long(row, who, label, rows)
    true_cells = np.full(n_rows, None, dtype=object) if truth is None else labels_by_row(truth)
    if len(true_cells) != n_rows:
        raise InputError("truth", f"has {len(true_cells)} entries, but there are {n_rows} rows", "give one per row")
    codes, names = _coded(np.concatenate([cells, true_cells]), order, classes)
    said, true = codes[: len(cells)], codes[len(cells) :]
    given_votes = ~np.isnan(said) if names is None else said >= 0
    (row_of, who_of), said = (one[given_votes] for one in places), said[given_votes]
    row_of, who_of, said = _once(row_of, who_of, said, annotators, names)
    silent = np.flatnonzero(np.bincount(who_of, minlength=len(annotators)) == 0)
    if not len(said):
        raise InputError("table" if table is not None else "label", "holds no vote", "give at least one vote")
    if len(annotators) - len(silent) < 2:
        remedy = "with one annotator, pass the labels themselves as y"
        raise InputError("table" if table is not None else "who", "holds the votes of one annotator only", remedy)
    if len(silent):
        nobody = listed((quoted(annotators[e]) for e in silent), 5)
        warn(InputWarning("votes", f"hold none of {nobody}", "their quality cannot be judged"))
    said, who_of = _by_row(row_of, n_rows, said, who_of)
    return VotesByRow(said, who_of, true, annotators, names, order is not None)


def _wide(table: Any) -> tuple[tuple[Codes, Codes], tuple[str, ...], NDArray[Any], int]:
    """Places (row, annotator), names of the annotators, and cells of a table of votes; and the number of rows."""
    if isinstance(table, dict):
        names, cells = list(table), np.array([labels_by_row(column) for column in table.values()], dtype=object).T
    else:
        names, cells = column_names(table, name="table"), as_array(table, "table", "give one vote per cell")
    if cells.ndim != 2:
        remedy = "give one column per annotator, or row=, who= and label="
        raise InputError("table", f"has {cells.ndim} dimensions", remedy)
    row, who = np.indices(cells.shape).reshape(2, -1)
    shown = names if names is not None else [f"annotator {e + 1}" for e in range(cells.shape[1])]
    return (row, who), _distinct([str(name) for name in shown]), cells.astype(object).ravel(), len(cells)


def _long(row: Any, who: Any, label: Any, rows: Any) -> tuple[tuple[Codes, Codes], tuple[str, ...], NDArray[Any], int]:
    """The same of a list of votes."""
    row_of, who_of, cells = (labels_by_row(one) for one in (row, who, label))
    for name, one in (("who", who_of), ("label", cells)):
        if len(one) != len(row_of):
            raise InputError(name, f"has {len(one)} entries, but row has {len(row_of)}", "give one entry per vote")
    for name, one in (("row", row_of), ("who", who_of)):
        gaps = np.flatnonzero([is_missing(value) for value in one])
        if len(gaps):
            raise InputError(name, f"is missing for vote {gaps[0] + 1}", "every vote needs a row and an annotator")
    names = sorted({str(value) for value in who_of})
    place = {name: e for e, name in enumerate(names)}
    whose = np.asarray([place[str(value)] for value in who_of], dtype=np.int64)
    if rows is None or np.ndim(rows) == 0:
        positions, n_rows = _positions(row_of, rows)
    else:
        position = {value: i for i, value in enumerate(labels_by_row(rows).tolist())}
        unknown = [value for value in row_of.tolist() if value not in position]
        if unknown:
            raise InputError("row", f"names {unknown[0]!r}, which is not in rows", "give the names of all rows")
        positions, n_rows = np.asarray([position[value] for value in row_of.tolist()], dtype=np.int64), len(position)
    return (positions, whose), tuple(names), cells, n_rows


def _positions(row_of: NDArray[Any], rows: Any) -> tuple[Codes, int]:
    """Rows that are given as positions from 0, and the number of rows."""
    try:
        positions = np.asarray(row_of.tolist(), dtype=np.float64)
    except (TypeError, ValueError):
        odd = next(value for value in row_of.tolist() if isinstance(value, str))
        raise InputError("row", f"holds {odd!r}, which is no position", "give the names of all rows: rows=") from None
    n_rows = int(positions.max(initial=-1)) + 1 if rows is None else int(rows)
    if (positions != np.floor(positions)).any() or positions.min(initial=0) < 0 or positions.max(initial=0) >= n_rows:
        odd = next(p for p in positions.tolist() if p != np.floor(p) or not 0 <= p < n_rows)
        raise InputError("row", f"holds {odd:g}", f"positions are whole numbers from 0 to {n_rows - 1}")
    return positions.astype(np.int64), n_rows


def _distinct(names: list[str]) -> tuple[str, ...]:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError("table", f"has two annotators called {quoted(twice[0])}", "give each a name of their own")
    return tuple(names)


def _coded(
    cells: NDArray[Any], order: Sequence[Any] | None, classes: Sequence[Any] | None
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Votes as codes (-1 for none) and the names of the classes; or as numbers (NaN for none) and None."""
    from dubio.target.reader import read_supervision  # which reads records of votes, too

    wanted = list(order) if order is not None else None if classes is None else list(classes)
    if wanted is None:
        read = read_supervision(cells, len(cells), target="auto")
        if read.reads == "numbers":
            return np.array(read.row_numbers), None
        return np.array(read.codes), read.classes
    names = class_names(wanted, "order" if order is not None else "classes")
    position = {value: k for k, value in enumerate(names.tolist())}
    if len(position) < len(names):
        raise InputError("order" if order is not None else "classes", "names a class twice", "name every class once")
    missing = missing_cells(cells)
    if names.dtype.kind in "iuf" and -1 not in position:
        missing |= np.fromiter((cell == -1 for cell in cells.tolist()), dtype=bool, count=len(cells))
    odd = {repr(cell) for cell in cells[~missing].tolist() if cell not in position}
    if odd:
        found = f"holds {counted(len(odd), 'class', 'classes')} not among those listed: {listed(sorted(odd), 5)}"
        raise InputError("votes", found, "list all classes, or correct these votes")
    codes = [-1 if gap else position[cell] for cell, gap in zip(cells.tolist(), missing.tolist(), strict=True)]
    return np.asarray(codes, dtype=np.int64), names


def _once(
    row: Codes, who: Codes, said: NDArray[Any], annotators: tuple[str, ...], names: NDArray[Any] | None
) -> tuple[Codes, Codes, NDArray[Any]]:
    """Votes in the order of rows and annotators, each once; raises if somebody contradicts themselves."""
    order = np.lexsort((said, who, row))
    row, who, said = row[order], who[order], said[order]
    same = (row[1:] == row[:-1]) & (who[1:] == who[:-1])
    odd = np.flatnonzero(same & (said[1:] != said[:-1]))
    if len(odd):
        i = int(odd[0])
        both = [repr(value) for value in (said[i : i + 2] if names is None else names[said[i : i + 2]]).tolist()]
        found = f"hold two different votes of {quoted(annotators[who[i]])} on {name_row(int(row[i]))}: {both[0]} and "
        raise InputError("votes", f"{found}{both[1]}", "keep one of them")
    if same.any():
        found = f"hold {counted(int(same.sum()), 'vote')} twice, first that of {quoted(annotators[who[:-1][same][0]])}"
        warn(InputWarning("votes", f"{found} on {name_row(int(row[:-1][same][0]))}", "each counts once"))
    first = np.append(True, ~same) if len(row) else np.zeros(0, dtype=bool)
    return row[first], who[first], said[first]


def _by_row(row: Codes, n_rows: int, said: NDArray[Any], who: Codes) -> tuple[NDArray[Any], Codes]:
    """Votes and annotators with one line per row, as wide as the row with most votes."""
    counts = np.bincount(row, minlength=n_rows)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = int(counts.max(initial=0))
    table = np.full((n_rows, width), np.nan if said.dtype.kind == "f" else -1, dtype=said.dtype)
    people = np.full((n_rows, width), -1, dtype=np.int64)
    table[row, place], people[row, place] = said, who
    return table, people


def read_votes(y: VotesByRow, target: str) -> Voted:
    """What a record of votes says; ``target`` is what they are read as."""
    labelled = (y.who >= 0).any(axis=1)
    shared: dict[str, Any] = {"annotators": y.annotators, "who": np.array(y.who)}
    if y.classes is None:
        if target in ("classes", "ordered"):
            raise InputError("y", "holds votes that are numbers, where classes are needed", "name them: classes=[...]")
        labelled = labelled | ~np.isnan(y.truth)
        return VotedNumbers(labelled=labelled, numbers_said=np.array(y.said), true_numbers=np.array(y.truth), **shared)
    if target == "numbers":
        raise InputError("y", "holds votes for classes, where numbers are needed", "give a method that takes classes")
    return VotedClasses(
        labelled=labelled | (y.truth >= 0),
        classes=np.array(y.classes),
        in_order=y.in_order or target == "ordered",
        codes_said=np.array(y.said),
        true_codes=np.array(y.truth),
        **shared,
    )
