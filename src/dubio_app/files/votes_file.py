"""Votes in a file of their own, with one line per vote: a row, who labelled it, and the label."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dubio.errors import InputError, all_of, counted, nearest, quoted
from dubio_app.files.table_file import TableFile


def join_votes(file: TableFile, cast: Any, path: str, name: str | None) -> TableFile:
    """The table with one more column per annotator.

    Parameters
    ----------
    file : TableFile
    cast : DataFrame
        The votes, read from ``path``; its first two columns are text. The row, the annotator and the label stand in
        this order.
    path : str
    name : str or None
        The column that names the rows of the table; without one, rows are counted from 1.
    """
    cast = cast.dropna(subset=cast.columns[2])
    row, who, label = cast.columns
    cells = cast[[row, who]].map(lambda cell: str(cell).strip() if cell == cell else "")
    if len(empty := np.flatnonzero((cells == "").any(axis=1))):
        raise _wrong(path, int(cast.index[empty[0]]), "lacks the row or the annotator", "every label needs both")
    names = [str(i + 1) for i in range(len(file.frame))]
    if name is not None:
        names = [str(cell).strip() for cell in file.frame[name]]
        if len(set(names)) < len(names):
            found = f"names several rows {quoted(next(one for one in names if names.count(one) > 1))}"
            raise InputError("id", found, "votes need a column whose values are all different")
    known = set(names)
    if str(row).strip() in known:
        found = f"{quoted(path)} begins with a vote: {row}, {who}, {label}"
        raise InputError("votes", found, "write the names of its columns above it: row, who, label")
    if len(odd := np.flatnonzero(~cells[row].isin(known))):
        stranger = cells[row].iloc[odd[0]]
        near, there = nearest(stranger, names), f"in column {quoted(name)}" if name else f"of 1 to {len(names)}"
        remedy = "name the column with these values by --id" if name is None else "correct it, or drop the vote"
        remedy = f"did you mean {quoted(near[0])}?" if near and name else remedy
        raise _wrong(path, int(cast.index[odd[0]]), f"names row {quoted(stranger)}, which is not {there}", remedy)
    same = cells.assign(label=cast[label]).drop_duplicates()
    twice = same.duplicated([row, who], keep=False).to_numpy()
    if twice.any():
        first = same[twice].sort_values([row, who], kind="stable").iloc[:2]
        said = all_of([quoted(str(one)) for one in first["label"]])
        found = (
            f"holds two different labels of {quoted(first[who].iloc[0])} for row {quoted(first[row].iloc[0])}: {said}"
        )
        raise InputError("votes", f"{quoted(path)} {found}", "keep one of them")
    notes = file.notes
    if len(same) < len(cells):
        notes += (f"{quoted(path)} holds {counted(len(cells) - len(same), 'vote')} twice: each counts once.",)
    wide = same.pivot(index=row, columns=who, values="label").reindex(names).set_axis(file.frame.index)
    people = tuple(map(str, wide.columns))
    if taken := [one for one in people if one in file.frame]:
        found = f"{quoted(path)} has an annotator called {quoted(taken[0])}, like a column of the table"
        raise InputError("votes", found, "give one of them another name")
    frame = file.frame.assign(**{one: wide[one].infer_objects() for one in people})
    code = f"read_with_votes({file.code}, {path!r}, {name!r})"
    imports = "\n".join(filter(None, [file.imports, "from dubio_app.files import read_with_votes"]))
    return replace(file, frame=frame, notes=notes, code=code, imports=imports, annotators=people)


def columns_of_votes(header: list[str], path: str, name: str | None) -> list[str]:
    """The columns with the row, the annotator and the label: by their names, or the only three."""
    row = name if name in header else "row"
    if {row, "who", "label"} <= set(header):
        return [row, "who", "label"]
    if len(header) != 3:
        found = f"{quoted(path)} has {counted(len(header), 'column')}: {all_of(list(map(quoted, header)))}"
        remedy = f"give three columns (row, who, label), or call them {row}, who and label"
        raise InputError("votes", found, remedy)
    return header


def _wrong(path: str, line: int, found: str, remedy: str) -> InputError:
    return InputError(f"--votes: {quoted(path)}, vote {line + 1}", found, remedy)
