"""Votes of several people, as a table or a list, and how they are checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, InputWarning, counted, listed, name_row, quoted, warn
from dubio.table.cells import is_missing, missing_cells
from dubio.table.matrix import column_names
from dubio.target.label_values import as_array, as_floats, class_names, labels_by_row
from dubio.target.reader import read_supervision
from dubio.target.voted import VotesByRow

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


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
    confidence: Any = None,
) -> VotesByRow:
    """Say what each annotator said of each row: a table with one column per annotator, or a list of votes.

    What they say together is computed inside ``fit``, on the rows of that fit.

    Parameters
    ----------
    table : array-like or frame (n_rows, n_annotators), optional
        The votes; None, NaN and pd.NA (and -1 among whole numbers) mean that an annotator did not vote. In a
        dictionary, an annotator who answers with probabilities has a table (n_rows, n_classes) in place of a column.
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
    confidence : array-like, optional
        How sure each vote is, from 0 to 1, in the form of the votes; missing counts as 1. A vote with the confidence
        :math:`c` for one of :math:`K` classes counts as :math:`(cK - 1) / (K - 1)` votes.

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
    listed_classes = classes if order is None else order
    if table is None:
        places, annotators, cells, n_rows = _long(row, who, label, rows)
        answer, weight = np.arange(len(cells)), np.ones(len(cells))
    else:
        places, annotators, cells, n_rows, answer, weight = _wide(table, listed_classes)
    true_cells = np.full(n_rows, None, dtype=object) if truth is None else labels_by_row(truth)
    if len(true_cells) != n_rows:
        raise InputError("truth", f"has {len(true_cells)} entries, but there are {n_rows} rows", "give one per row")

    def name_of(i: int) -> str:
        return f"{quoted(annotators[places[1][i]])} on {name_row(int(places[0][i]))}" if i < len(cells) else "truth"

    codes, names = _coded(np.concatenate([cells, true_cells]), listed_classes, order is not None, name_of)
    said, true = codes[: len(cells)], codes[len(cells) :]
    if confidence is not None:
        weight = weight * _counts_as(confidence, len(cells), names, name_of)
    at = ~np.isnan(said) if names is None else said >= 0
    found = _once(places[0][at], places[1][at], said[at], answer[at], weight[at], annotators, names)
    row_of, who_of, said, weight = found
    silent = np.flatnonzero(np.bincount(who_of, minlength=len(annotators)) == 0)
    if not len(said):
        raise InputError("table" if table is not None else "label", "holds no vote", "give at least one vote")
    if len(annotators) - len(silent) < 2:
        remedy = "with one annotator, pass the labels themselves as y"
        raise InputError("table" if table is not None else "who", "holds the votes of one annotator only", remedy)
    if len(silent):
        nobody = listed((quoted(annotators[e]) for e in silent), 5)
        warn(InputWarning("votes", f"hold none of {nobody}", "their quality cannot be judged"))
    said, who_of, weight = _by_row(row_of, n_rows, said, who_of, weight)
    return VotesByRow(said, who_of, weight, true, annotators, names, order is not None)


def _wide(
    table: Any, classes: Sequence[Any] | None
) -> tuple[tuple[Codes, Codes], tuple[str, ...], NDArray[Any], int, Codes, Floats]:
    """Places (row, annotator), names of the annotators, and cells of a table of votes; the number of rows; and the
    answer that each vote is a part of, and how much it counts."""
    names: list[Any] | None
    if isinstance(table, dict):
        names = list(table)
        if any(np.ndim(column) == 2 for column in table.values()):
            return _with_probabilities(table, classes)
        columns = [labels_by_row(column) for column in table.values()]
        if len({len(column) for column in columns}) > 1:
            raise InputError("table", "has columns of different lengths", "give one vote per row, None for no vote")
        cells = np.array(columns, dtype=object).T
    else:
        names, cells = column_names(table, name="table"), as_array(table, "table", "give one vote per cell")
    if cells.ndim != 2:
        remedy = "give one column per annotator, or row=, who= and label="
        raise InputError("table", f"has {cells.ndim} dimensions", remedy)
    row, who = np.indices(cells.shape).reshape(2, -1)
    shown = names if names is not None else [f"annotator {e + 1}" for e in range(cells.shape[1])]
    distinct = _distinct([str(name) for name in shown])
    return (row, who), distinct, cells.astype(object).ravel(), len(cells), np.arange(cells.size), np.ones(cells.size)


def _with_probabilities(
    table: dict[Any, Any], classes: Sequence[Any] | None
) -> tuple[tuple[Codes, Codes], tuple[str, ...], NDArray[Any], int, Codes, Floats]:
    """The same of columns of votes and of tables of probabilities.

    Equal probabilities say nothing about the class: each part counts as much as it is above the smallest one.
    """
    if classes is None:
        raise InputError("classes", "is missing", "name the classes of the probabilities: classes=[...]")
    names, n_rows = list(classes), max(len(column) for column in table.values())
    rows, people, cells, answers, weights = [], [], [], [], []
    for e, (name, column) in enumerate(table.items()):
        if len(column) != n_rows:
            raise InputError("table", f"has {len(column)} votes of {quoted(str(name))}, but {n_rows} rows")
        if np.ndim(column) == 1:
            row, said, weight = np.arange(n_rows), labels_by_row(column), np.ones(n_rows)
        else:
            P = np.asarray(column, dtype=np.float64)
            bad = np.flatnonzero(~np.isnan(P).all(axis=1) & ~((P >= 0).all(axis=1) & (abs(P.sum(axis=1) - 1) < 1e-6)))
            if P.shape[1] != len(names) or len(bad):
                where = f"; first in {name_row(int(bad[0]))}" if len(bad) else ""
                found = f"has probabilities of {quoted(str(name))} that do not sum to 1 over the {len(names)} classes"
                raise InputError("table", found + where, "give one probability per class, or NaN for no vote")
            above = np.nan_to_num(P - P.min(axis=1, keepdims=True))
            above[~np.isnan(P).any(axis=1) & (above.max(axis=1) == 0), 0] = 1e-9  # a vote that says nothing
            row, code = np.nonzero(above > 0)
            said, weight = np.asarray(names, dtype=object)[code], above[row, code]
        rows.append(row)
        people.append(np.full(len(row), e))
        cells.append(said)
        answers.append(row * len(table) + e)
        weights.append(weight)
    distinct = _distinct([str(name) for name in table])
    places = (np.concatenate(rows), np.concatenate(people))
    return places, distinct, np.concatenate(cells), n_rows, np.concatenate(answers), np.concatenate(weights)


def _counts_as(confidence: Any, n_votes: int, names: NDArray[Any] | None, name_of: Callable[[int], str]) -> Floats:
    """How much each vote counts, by how sure it is."""
    if names is None:
        raise InputError("confidence", "is given, but the votes are numbers", "leave it out")
    try:
        sure = as_floats(np.ravel(as_array(confidence, "confidence", "give one number per vote")))
    except (TypeError, ValueError) as error:
        raise InputError("confidence", "does not hold real numbers", "give numbers from 0 to 1") from error
    if len(sure) != n_votes:
        raise InputError("confidence", f"has {len(sure)} entries, but there are {n_votes} votes", "give one per vote")
    bad = np.flatnonzero((sure < 0) | (sure > 1))
    if len(bad):
        found = f"is {sure[bad[0]]:g} for the vote of {name_of(int(bad[0]))}"
        raise InputError("confidence", found, "give numbers from 0 to 1")
    k = len(names)
    return np.asarray(np.where(np.isnan(sure), 1.0, np.clip((sure * k - 1.0) / max(k - 1, 1), 0.0, 1.0)))


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
        every = labels_by_row(rows).tolist()
        position = {value: i for i, value in enumerate(every)}
        if len(position) < len(every):
            twice = next(value for i, value in enumerate(every) if position[value] > i)
            raise InputError("rows", f"names {twice!r} twice", "give each row a name of its own")
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
    cells: NDArray[Any], every: Sequence[Any] | None, in_order: bool, name_of: Callable[[int], str]
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Votes as codes (-1 for none) and the names of the classes; or as numbers (NaN for none) and None."""
    argument = "order" if in_order else "classes"
    if every is None:
        read = read_supervision(cells, len(cells), target="auto")
        if read.reads == "numbers":
            return np.array(read.row_numbers), None
        return np.array(read.codes), read.classes
    names = class_names(list(every), argument)
    position = {value: k for k, value in enumerate(names.tolist())}
    if len(position) < len(names):
        raise InputError(argument, "names a class twice", "name every class once")
    missing = missing_cells(cells)
    if names.dtype.kind in "iuf" and -1 not in position:
        missing |= np.fromiter((cell == -1 for cell in cells.tolist()), dtype=bool, count=len(cells))
    odd = [i for i in np.flatnonzero(~missing).tolist() if cells[i] not in position]
    if odd:
        others = {repr(cells[i]) for i in odd}
        found = f"holds {counted(len(others), 'class', 'classes')} not among those listed: {listed(sorted(others), 5)}"
        found += f"; first that of {name_of(odd[0])}"
        raise InputError("votes", found, "list all classes, or correct these votes")
    codes = [-1 if gap else position[cell] for cell, gap in zip(cells.tolist(), missing.tolist(), strict=True)]
    return np.asarray(codes, dtype=np.int64), names


def _once(
    row: Codes,
    who: Codes,
    said: NDArray[Any],
    answer: Codes,
    weight: Floats,
    annotators: tuple[str, ...],
    names: NDArray[Any] | None,
) -> tuple[Codes, Codes, NDArray[Any], Floats]:
    """Votes in the order of rows and annotators, each once; raises if somebody contradicts themselves."""
    order = np.lexsort((weight, said, who, row))
    row, who, said, answer, weight = row[order], who[order], said[order], answer[order], weight[order]
    same = (row[1:] == row[:-1]) & (who[1:] == who[:-1]) & (answer[1:] != answer[:-1])
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
    return row[first], who[first], said[first], weight[first]


def _by_row(
    row: Codes, n_rows: int, said: NDArray[Any], who: Codes, weight: Floats
) -> tuple[NDArray[Any], Codes, Floats]:
    """Votes, annotators and weights with one line per row, as wide as the row with most votes."""
    counts = np.bincount(row, minlength=n_rows)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = int(counts.max(initial=0))
    table = np.full((n_rows, width), np.nan if said.dtype.kind == "f" else -1, dtype=said.dtype)
    people = np.full((n_rows, width), -1, dtype=np.int64)
    weights = np.ones((n_rows, width))
    table[row, place], people[row, place], weights[row, place] = said, who, weight
    return table, people, weights
