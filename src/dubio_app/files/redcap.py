"""Exports of REDCap: boxes that were ticked are one feature, and repeated instruments are visits of a subject."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from dubio.errors import InputError, counted, listed, quoted
from dubio_app.files.table_file import TableFile, own_code

_BOX = re.compile(r"(?P<field>.+)___(?P<code>[^_].*|_\d+)")
_INSTRUMENT, _INSTANCE, _EVENT = "redcap_repeat_instrument", "redcap_repeat_instance", "redcap_event_name"
_TICKED = frozenset({"0", "1", "0.0", "1.0", "checked", "unchecked", "true", "false"})


def unfold_redcap(file: TableFile, path: str, how: Any) -> TableFile:
    """The same table; of an export of REDCap, with what belongs together."""
    frame = file.frame
    boxes = _boxes(frame)
    if _INSTRUMENT not in frame.columns and _INSTANCE not in frame.columns and _EVENT not in frame.columns:
        if boxes:
            file = replace(file, together=boxes, notes=(*file.notes, _note_on(boxes)))
        return file
    subject = str(frame.columns[0])
    notes = [_note_on(boxes)] if boxes else []
    rows = np.arange(len(frame))
    if _INSTRUMENT in frame.columns:
        rows, frame = _visits(frame, subject, path)
        code = own_code(path, how)
    else:
        code = {"code": file.code, "imports": file.imports}
    repeats = frame[subject].duplicated().any()
    if repeats:
        notes.append(f"an export of REDCap: rows with the same {quoted(subject)} are visits of one subject.")
    unused = tuple(name for name in (_INSTRUMENT, _INSTANCE) if name in frame.columns)
    name_of = file.row_name
    return replace(
        file,
        frame=frame,
        notes=(*file.notes, *notes),
        row_name=lambda row: name_of(int(rows[row])),
        together=boxes,
        subject=subject if repeats else "",
        unused=(*file.unused, *unused),
        **code,
    )


def _boxes(frame: Any) -> dict[str, tuple[str, ...]]:
    """The columns of each field of which several boxes may be ticked."""
    fields: dict[str, list[str]] = {}
    for name in map(str, frame.columns):
        match = _BOX.fullmatch(name)
        if match and set(frame[name].dropna().astype(str).str.casefold().unique()) <= _TICKED:
            fields.setdefault(match["field"], []).append(name)
    taken = set(map(str, frame.columns))
    return {field: tuple(names) for field, names in fields.items() if len(names) > 1 and field not in taken}


def _note_on(boxes: dict[str, tuple[str, ...]]) -> str:
    shown = [f"{quoted(field)} ({counted(len(names), 'box', 'boxes')})" for field, names in boxes.items()]
    return f"columns of boxes that can be ticked are one feature each: {listed(shown, 5)}."


def _visits(frame: Any, subject: str, path: str) -> tuple[Any, Any]:
    """The rows of the visits, with what is known of the subject; of a subject without visits, its own row."""
    instrument = frame[_INSTRUMENT]
    if instrument.dtype != object:
        instrument = instrument.astype(object)
    repeated = instrument.notna() & (instrument.astype(str).str.strip() != "")
    names = sorted(instrument[repeated].astype(str).unique())
    if len(names) > 1:
        remedy = "export one of them at a time, so that each row is one visit"
        raise InputError(
            quoted(path), f"has {len(names)} repeated instruments ({listed(map(quoted, names), 5)})", remedy
        )
    if not repeated.any():
        return np.arange(len(frame)), frame
    fixed = [name for name in frame.columns if frame[name][repeated].isna().all() and frame[name].notna().any()]
    base = frame[~repeated].drop_duplicates(subject).set_index(subject)
    frame = frame.copy(deep=False)
    for name in fixed:
        known = frame[subject].map(base[name])
        frame[name] = frame[name].where(~repeated, known)
    has_visits = frame[subject].isin(set(frame[subject][repeated]))
    rows = np.flatnonzero((repeated | ~has_visits).to_numpy())
    return rows, frame.iloc[rows].reset_index(drop=True)
