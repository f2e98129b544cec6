"""Numbers written with a decimal comma: 3,14 in a table whose separator is not a comma."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from dubio.errors import counted, listed, quoted

_NUMBER = re.compile(r"[+-]?(?:\d+(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?")
#: 1,234 may mean 1.234 or 1234. In 0,234 and 1234,567 the comma can only be a decimal comma.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})?")


def read_decimal_commas(frame: Any, spared: Collection[str], notes: list[str], code: list[str]) -> Any:
    """Turn columns of text such as 3,14 into numbers; the columns in ``spared`` stay as they are.

    A column becomes numbers if every value in it is a number. If every comma could also mark thousands (one to three
    digits before it, three after it), the column stays text. The notes say which columns were read.

    Examples
    --------
    >>> import pandas as pd
    >>> from dubio.tables.decimal_commas import read_decimal_commas
    >>> notes = []
    >>> table = pd.DataFrame({"pi": ["3,14", "3"], "price": ["1,250", "2,000"], "word": ["a,b", "3,1"]})
    >>> read_decimal_commas(table, (), notes, [])["pi"].tolist()
    [3.14, 3.0]
    >>> notes[0]
    "1 column with decimal commas was read as numbers: 'pi'."
    """
    read: list[str] = []
    for name in frame.columns:
        if name in spared or str(frame[name].dtype) not in ("object", "str", "string"):
            continue
        values = [value.strip() if isinstance(value, str) else "?" for value in frame[name].dropna().unique()]
        if not values or not all(map(_NUMBER.fullmatch, values)) or not any("," in value for value in values):
            continue
        if not all(map(_THOUSANDS.fullmatch, values)):
            read.append(name)
    if read:
        frame = frame.copy(deep=False)
        for name in read:
            frame[name] = frame[name].str.replace(",", ".").astype(float)
        code.append(f'for name in {read!r}:\n    table[name] = table[name].str.replace(",", ".").astype(float)')
        verb = "was" if len(read) == 1 else "were"
        shown = listed(map(quoted, read), 5)
        notes.append(f"{counted(len(read), 'column')} with decimal commas {verb} read as numbers: {shown}.")
    return frame
