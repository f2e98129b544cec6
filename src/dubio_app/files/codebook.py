"""Codebooks: what the columns of a table mean, from a file with a line for each of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dubio.errors import InputError, joined, listed, nearest, quoted
from dubio.streams.text_files import HowToRead
from dubio_app.files.marks import without
from dubio_app.files.table_file import TableFile

#: The columns of a codebook, and what they are called elsewhere (the last ones in a data dictionary of REDCap).
_COLUMNS = {
    "column": ("column", "name", "variable", "variable name", "field", "variable / field name", "spalte", "colonne"),
    "label": ("label", "meaning", "description", "variable label", "field label", "bezeichnung", "libellé"),
    "type": ("type", "kind", "typ"),
    "unit": ("unit", "units", "einheit", "unité"),
    "levels": ("levels", "values", "value labels", "codes", "choices, calculations, or slider labels", "werte"),
    "order": ("order", "ordered", "ordnung"),
    "missing": ("missing", "missing codes", "missing values", "na", "fehlend"),
}
#: Words for the types of columns.
_TYPES = {
    "number": ("number", "numeric", "float", "integer", "int", "continuous", "real", "zahl", "nombre"),
    "category": ("category", "categorical", "nominal", "factor", "yes/no", "boolean", "binary", "kategorie"),
    "ordered": ("ordered", "ordinal", "ordered category", "geordnet"),
    "date": ("date", "datetime", "time", "datum"),
    "ignore": ("ignore", "id", "identifier", "text", "free text", "string", "exclude"),
}
_PAIR = re.compile(r"\s*(?P<code>[^=:]*?)\s*[=:]\s*(?P<name>.*?)\s*")
_REDCAP_PAIR = re.compile(r"\s*(?P<code>[^,]+?)\s*,\s*(?P<name>.+?)\s*")
_YES = ("yes", "y", "true", "1", "ja", "oui", "ano")


@dataclass(frozen=True)
class Entry:
    """The meaning of one column."""

    column: str
    label: str = ""
    type: str = ""
    unit: str = ""
    #: The names of values, by the values.
    levels: dict[str, str] | None = None
    #: The values or their names, the lowest first; empty if they have no order.
    order: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def meaning(self) -> str:
        """The label with the unit."""
        return f"{self.label} ({self.unit})" if self.label and self.unit else self.label or self.unit


def entries_of(frame: Any, path: str) -> dict[str, Entry]:
    """The entries of a codebook, by their columns; one error names all of its problems."""
    frame = frame.astype(object)
    frame = frame.where(frame.notna(), "")
    own = {str(name).strip().casefold(): name for name in frame.columns}
    places = {part: next((own[word] for word in words if word in own), None) for part, words in _COLUMNS.items()}
    if places["column"] is None:
        remedy = "give a table with the columns column, label, type, unit, levels, order and missing"
        raise InputError("codebook", f"{quoted(path)} has no column 'column'", remedy)
    entries: dict[str, Entry] = {}
    problems: list[InputError] = []
    for row in frame.to_dict("records"):
        cells = {part: "" if name is None else str(row[name]).strip() for part, name in places.items()}
        if not cells["column"]:
            continue
        try:
            if cells["column"] in entries:
                raise InputError("codebook", f"has column {quoted(cells['column'])} twice", "name it once")
            entries[cells["column"]] = _entry(cells)
        except InputError as problem:
            problems.append(problem)
    if problems:
        raise joined(problems)
    return entries


def _entry(cells: dict[str, str]) -> Entry:
    column, wish = cells["column"], cells["type"].casefold()
    kind = next((kind for kind, words in _TYPES.items() if wish in words), "")
    if wish and not kind and wish not in ("radio", "dropdown", "yesno", "truefalse", "checkbox", "calc", "notes"):
        found = f"gives column {quoted(column)} the type {quoted(cells['type'])}"
        raise InputError("codebook", found, f"give {listed(_TYPES)}", column=column)
    pairs = re.split(r"[|;\n]" if re.search(r"[|;\n]", cells["levels"]) else ",", cells["levels"])
    form = _REDCAP_PAIR if "|" in cells["levels"] and "=" not in cells["levels"] else _PAIR
    found_pairs = [form.fullmatch(pair) or _PAIR.fullmatch(f"{pair}={pair}") for pair in pairs if pair.strip()]
    levels = {match["code"]: match["name"] for match in found_pairs if match}
    in_order = cells["order"].casefold() in _YES or (kind == "ordered" and not cells["order"])
    parts = [
        part.strip() for part in re.split(r"[|;<]" if re.search(r"[|;<]", cells["order"]) else ",", cells["order"])
    ]
    order = tuple(levels.values()) if in_order else tuple(part for part in parts if part)
    order = () if cells["order"].casefold() in ("no", "n", "false", "0", "nein", "non") else order
    if kind == "ordered" and len(order) < 2:
        found = f"says that column {quoted(column)} is ordered, but not how"
        raise InputError("codebook", found, "write its values under order, the lowest first: I, II, III", column=column)
    missing = tuple(part for part in re.split(r"[|;,\s]+", cells["missing"]) if part)
    return Entry(column, cells["label"], kind, cells["unit"], levels or None, order, missing)


def apply_entries(file: TableFile, entries: dict[str, Entry], path: str, how: HowToRead) -> TableFile:
    """The table with the names of its values, its orders and missing codes, and the meaning of its columns."""
    frame, problems, notes = file.frame.copy(deep=False), [], []
    absent = [name for name in entries if name not in frame.columns]
    if len(absent) == len(entries):
        near = nearest(absent[0], frame.columns) if absent else []
        hint = f"did you mean {quoted(near[0])} for {quoted(absent[0])}?" if near else "name the columns of the table"
        raise InputError("codebook", f"{quoted(path)} names no column of the table", hint)
    if absent:
        notes.append(f"the codebook has columns that the table does not have: {listed(map(quoted, absent), 5)}.")
    for name, entry in entries.items():
        if name in absent:
            continue
        try:
            frame[name] = _as_said(frame[[name]], entry, file)
        except InputError as problem:
            problems.append(problem)
    if problems:
        raise joined(problems)
    meanings = {name: one.meaning for name, one in entries.items() if one.meaning and name in frame.columns}
    units = {name: one.unit for name, one in entries.items() if one.unit and name in frame.columns}
    unused = tuple(name for name, one in entries.items() if one.type == "ignore" and name in frame.columns)
    wishes = [f"{one.name}={value!r}" for one in fields(how) if (value := getattr(how, one.name))]
    return replace(
        file,
        frame=frame,
        notes=(*file.notes, *notes),
        code=f"read_with_codebook({', '.join([repr(file.path), repr(path), *wishes])})",
        imports="from dubio_app.files import read_with_codebook",
        labels={**file.labels, **meanings},
        units={**file.units, **units},
        unused=(*file.unused, *unused),
    )


def _as_said(frame: Any, entry: Entry, file: TableFile) -> Any:
    """One column as its entry says."""
    import pandas as pd

    column = without(frame, entry.missing)[entry.column]
    if entry.levels and any(code != name for code, name in entry.levels.items()):
        column = _named(column, entry, file)
    if entry.order:
        cells = column.map(_written, na_action="ignore")
        names = entry.levels or {}
        order = [names.get(level, level) for level in entry.order]
        _refuse_others(cells, order, entry, file, "order")
        return pd.Series(pd.Categorical(cells, order, ordered=True), index=column.index)
    if entry.type == "category":
        return column.map(_written, na_action="ignore").astype("category")
    if entry.levels and not entry.type:  # names of values make categories, also if only some are there
        return column.astype("category")
    return column


def _named(column: Any, entry: Entry, file: TableFile) -> Any:
    """The names of the values; a cell may also hold the name itself."""
    assert entry.levels is not None
    cells = column.map(_written, na_action="ignore")
    names = {**{name: name for name in entry.levels.values()}, **entry.levels}
    if entry.type == "number":  # a few values have names, as "0 = not detected" has
        return column
    _refuse_others(cells, list(names), entry, file, "levels")
    return cells.map(names, na_action="ignore")


def _refuse_others(cells: Any, levels: list[str], entry: Entry, file: TableFile, part: str) -> None:
    odd = np.flatnonzero((cells.notna() & ~cells.isin(levels)).to_numpy())
    if len(odd):
        others = list(dict.fromkeys(cells.iloc[odd].tolist()))
        found = f"has no {part} for {listed(map(quoted, others), 5)} of column {quoted(entry.column)}"
        found += f", first in {file.row_name(int(odd[0]))}"
        remedy = f"add them to its {part}, or to its missing codes"
        raise InputError("codebook", found, remedy, column=entry.column, row=int(odd[0]), example=others[0], n=len(odd))


def _written(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
