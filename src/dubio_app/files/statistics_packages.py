"""Files of SPSS (.sav, .por), Stata (.dta) and SAS (.sas7bdat, .xpt), with their labels and missing codes."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from dubio.errors import InputError
from dubio.streams.text_files import HowToRead, called, first_line, refuse_twins, suffix_of
from dubio.table.cells import MISSING
from dubio.words import note
from dubio_app.files.marks import without
from dubio_app.files.table_file import TableFile, own_code, wrong

#: The function of pyreadstat for each ending.
STATISTICS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}
STATISTICS |= {".sas7bdat": "read_sas7bdat", ".xpt": "read_xport"}
#: Bytes of cells that are read at a time: while they are read, text takes several times its size.
_PART_BYTES = 1 << 25
#: Memory that a table takes, in times of its cells, and bytes of a cell of text besides its letters.
_ROOM, _TEXT_BYTES = 1.5, 8


def read_statistics(path: str, how: HowToRead) -> TableFile:
    """A file of a statistics package: missing codes are no values, and values with a label have its text."""
    try:
        import pyreadstat
    except ImportError as error:
        raise ImportError("files of SPSS, Stata and SAS need pyreadstat: pip install 'dubio[stats]'") from error
    read = getattr(pyreadstat, STATISTICS[suffix_of(path)])
    encoding = {} if how.encoding is None else {"encoding": how.encoding}
    try:
        _, meta = (None, None) if path.endswith(".por") else read(path, metadataonly=True, **encoding)
        frame, meta = read(path, **encoding) if meta is None else _in_parts(path, read, meta, encoding)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, UnicodeError, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise wrong(path, f"cannot be read: {first_line(error)}", "is it damaged, or of another encoding?") from error
    refuse_twins(list(frame.columns), path)
    notes: list[str] = []
    frame = without(frame, ("", *MISSING), text_only=True)
    for name in frame.columns:
        labels = meta.variable_value_labels.get(name) or {}
        if labels:
            frame[name] = _labelled(frame[name], labels, meta.variable_measure.get(name), notes)
    return TableFile(frame, notes=tuple(notes), labels=_labels(meta), **own_code(path, how))


def _labels(meta: Any) -> dict[str, str]:
    return {str(name): str(text) for name, text in meta.column_names_to_labels.items() if text}


def _labelled(column: Any, labels: dict[Any, str], measure: Any, notes: list[str]) -> Any:
    """The values with the texts of their labels, if all have one; ordered if the file says so."""
    import pandas as pd

    present = set(column.dropna().unique().tolist())
    if not present <= set(labels):
        odd = sorted(present & set(labels), key=str)
        if odd:
            shown = [f"{_plain(code)} ({labels[code]})" for code in odd]
            notes.append(f"{note('labelled values', n=len(odd), column=column.name, shown=shown)}.")
        return column
    codes = [code for code in sorted(labels, key=lambda code: (isinstance(code, str), code)) if code in present]
    texts = [str(labels[code]) for code in codes]
    if len(set(texts)) < len(texts):  # one text for two codes
        texts = [f"{text} ({_plain(code)})" for text, code in zip(texts, codes, strict=True)]
    named = column.map(dict(zip(codes, texts, strict=True)), na_action="ignore")
    return pd.Series(pd.Categorical(named, texts, ordered=True)) if measure == "ordinal" else named


def _plain(code: Any) -> Any:
    return int(code) if isinstance(code, float) and code.is_integer() else code


def _in_parts(path: str, read: Any, head: Any, encoding: dict[str, str]) -> tuple[Any, Any]:
    """The table and what the file says of it, read some rows at a time; raises if it does not fit into memory."""
    import pandas as pd

    n_rows, types = head.number_rows or 0, head.readstat_variable_types
    widths = [max(8, width) + _TEXT_BYTES * (types[name] == "string") for name, width in _widths(head).items()]
    _require_room(path, n_rows * sum(widths))
    rows = max(1, _PART_BYTES // max(1, sum(widths)))
    if n_rows <= rows:
        return read(path, **encoding)
    parts: list[list[Any]] = []
    for start in range(0, n_rows, rows):
        frame, meta = read(path, row_offset=start, row_limit=rows, **encoding)
        parts.append([frame.iloc[:, j].copy() for j in range(frame.shape[1])])  # a column alone can be let go
    columns: dict[int, Any] = {}
    for j in range(len(parts[0])):
        columns[j] = _joined([part[j] for part in parts])
        for part in parts:
            part[j] = None
    frame, names = pd.DataFrame(columns, copy=False), frame.columns
    frame.columns = names
    return frame, meta


def _joined(parts: list[Any]) -> Any:
    """Parts of a column as one; a part without any value says nothing of its type."""
    import pandas as pd

    typed = next((part.dtype for part in parts if part.notna().any()), parts[0].dtype)
    parts = [part if part.dtype == typed or part.notna().any() else part.astype(typed) for part in parts]
    return pd.concat(parts, ignore_index=True)


def _widths(head: Any) -> dict[str, int]:
    return {name: int(width or 0) for name, width in head.variable_storage_width.items()}


def _require_room(path: str, n_bytes: int) -> None:
    """Raise if a table with so many bytes in its cells does not fit into memory."""
    import psutil

    room = psutil.virtual_memory().available
    if n_bytes * _ROOM > room:
        needed = f"needs about {n_bytes * _ROOM / 2**30:.0f} GB of memory, and {room / 2**30:.0f} GB are free"
        raise InputError(called(path), needed, "save only the rows or columns that are needed")


def read_arff(path: str, how: HowToRead) -> TableFile:
    """A file of Weka: numbers and named values."""
    import pandas as pd
    from scipy.io import arff

    try:
        text = Path(path).read_text(encoding=how.encoding or "utf-8")
        coded = re.sub(r"[^\x00-\x7f]", lambda letter: f"_u{ord(letter[0]):06x}_", text)  # SciPy reads only ASCII
        records, meta = arff.loadarff(io.StringIO(coded))
    except (arff.ArffError, ValueError, NotImplementedError, StopIteration, IndexError, KeyError, OSError) as error:
        found = f"cannot be read as ARFF: {first_line(error)}"
        raise wrong(path, found, "text and sparse rows are not read: write .csv instead") from error
    columns = {}
    for name in meta.names():
        values = np.atleast_1d(records[name])
        if values.dtype.kind == "S":
            values = np.array([_decoded(value.decode()) for value in values.tolist()], dtype=object)
        columns[_decoded(name)] = values
    return TableFile(without(pd.DataFrame(columns), MISSING, text_only=True), **own_code(path, how))


def _decoded(text: str) -> str:
    return re.sub("_u([0-9a-f]{6})_", lambda code: chr(int(code[1], 16)), text)
