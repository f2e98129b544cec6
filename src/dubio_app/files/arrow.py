"""Parquet and Feather files."""

from __future__ import annotations

from typing import Any

from dubio.streams.text_files import HowToRead, arrow_to_pandas, refuse_twins, rounded_notes, suffix_of
from dubio_app.files.table_file import TableFile


def read_arrow(path: str, how: HowToRead) -> TableFile:
    """A Parquet or a Feather file."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    parquet = suffix_of(path) in (".parquet", ".pq")
    table = pyarrow.parquet.read_table(path) if parquet else pyarrow.feather.read_table(path)
    for column in table.columns:  # text that is no UTF-8 would fail later, when a cell is looked at
        if not parquet or not (pa.types.is_primitive(column.type) or _is_ascii(column)):
            column.validate(full=True)
    refuse_twins(table.column_names, path)
    for place, column in enumerate(table.columns):
        if pa.types.is_float16(column.type):  # pandas makes no categories of these
            table = table.set_column(place, table.column_names[place], column.cast(pa.float32()))
    code = f"pd.read_{'parquet' if parquet else 'feather'}({path!r})"
    return TableFile(arrow_to_pandas(table), notes=rounded_notes(table, path), code=code)


def _is_ascii(column: Any) -> bool:
    """Whether a column holds plain text without any letter beyond ASCII, which is found out fast."""
    import pyarrow as pa

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    return all(bytes(part.buffers()[2] or b"").isascii() for part in column.chunks)
