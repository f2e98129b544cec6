"""Tables as the content of files."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from typing import Any

from dubio.errors import InputError, quoted
from dubio.streams.text_files import TEXT, first_line, suffix_of
from dubio.table.cells import EXACT, as_text, decimal_mark_of, is_missing


def bytes_of(frame: Any, path: str, kind: str) -> bytes:
    """The frame as the content of a file of this format."""
    buffer = io.BytesIO()
    frame = frame if kind == "excel" else _text_beside_text(frame)
    if kind == "parquet":
        frame.to_parquet(buffer, index=False)
    elif kind == "feather":
        frame.reset_index(drop=True).to_feather(buffer)
    elif kind == "excel" and suffix_of(path) in (".xlsx", ".xlsm"):
        _write_excel(_whole_beside_blanks(frame), buffer, path)
    elif kind not in ("text", "json"):
        raise InputError(quoted(path), "is of a format that can only be read", "write .csv, .parquet or .xlsx instead")
    if kind not in ("text", "json"):
        return buffer.getvalue()
    frame = _whole_beside_blanks(frame)
    separator = TEXT.get(suffix_of(path)) or ","
    text = _json_lines(frame) if kind == "json" else frame.to_csv(index=False, sep=separator, lineterminator="\n")
    if path.endswith(".gz"):
        return gzip.compress(text.encode(), mtime=0)  # no time stamp: the same table gives the same bytes
    if path.endswith(".zst"):
        raise InputError(quoted(path), "cannot be written: .zst files can only be read", "write .csv.gz instead")
    return bz2.compress(text.encode()) if path.endswith(".bz2") else bytes(text.encode())


def _write_excel(frame: Any, buffer: io.BytesIO, path: str) -> None:
    _require_openpyxl()
    from openpyxl.utils.exceptions import IllegalCharacterError

    try:
        frame.to_excel(buffer, index=False)
    except IllegalCharacterError as error:
        found = f"cannot be written: Excel takes no control characters, as in {quoted(first_line(error))}"
        raise InputError(quoted(path), found, "write .csv or .parquet instead") from error


def _text_beside_text(frame: Any) -> Any:
    """The same frame; cells beside text are text, and numbers have the decimal mark of that text: 5,6 beside 1,7 mg/l.

    In such a file a column has one type, and it would be read with one decimal mark.
    """
    columns = {}
    for name, values in frame.items():
        is_text = [isinstance(value, str) for value in values] if values.dtype == object else []
        if any(is_text) and not all(text or is_missing(value) for text, value in zip(is_text, values, strict=True)):
            mark = decimal_mark_of(values[is_text].tolist())
            kept = (isinstance(value, str) or is_missing(value) for value in values)
            columns[name] = [
                value if as_it_is else as_text(value, mark) for value, as_it_is in zip(values, kept, strict=True)
            ]
    return frame.assign(**columns) if columns else frame


def _whole_beside_blanks(frame: Any) -> Any:
    """The same frame; columns of whole numbers that became 49.0 because of an empty cell hold 49 again."""
    import numpy as np
    import pandas as pd

    whole = {}
    for place, name in enumerate(frame.columns):
        values = frame.iloc[:, place]
        if not (isinstance(values.dtype, np.dtype) and values.dtype.kind == "f" and values.isna().any()):
            continue
        known = values.dropna().to_numpy()
        minus_zero = np.signbit(known) & (known == 0)  # no whole number: its sign would be lost
        if len(known) and ((np.abs(known) < EXACT) & (known == np.round(known)) & ~minus_zero).all():
            whole[name] = pd.array(values.to_numpy(), dtype="Int64")
    return frame.assign(**whole) if whole else frame


def _json_lines(frame: Any) -> str:
    """One object per row, with all digits of the numbers; a missing cell is null."""
    columns = {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame.columns}
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)


def _require_openpyxl() -> None:
    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise ImportError("Excel files need openpyxl: pip install 'dubio[excel]'") from error
