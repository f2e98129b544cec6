"""Tables of Arrow, such as those of pyarrow and DuckDB, as data frames."""

from __future__ import annotations

from typing import Any

from dubio.errors import InputError
from dubio.tables.columns import column_names, require_distinct


def is_arrow(X: Any) -> bool:
    """Whether ``X`` is a stream of Arrow batches (a pyarrow or DuckDB table, ...) and not a frame of another kind."""
    return hasattr(X, "__arrow_c_stream__") and column_names(X) is None and getattr(X, "ndim", 2) != 1


def arrow_reader(X: Any, name: str = "X") -> Any:
    """The batches of an Arrow stream, one after the other."""
    try:
        import pandas  # noqa: F401
        import pyarrow as pa
    except ImportError as error:
        raise ImportError("reading an Arrow table needs pyarrow and pandas: pip install 'dubio[cli]'") from error
    try:
        return pa.RecordBatchReader.from_stream(X)
    except pa.ArrowException as error:
        raise InputError(
            name, f"is a {type(X).__name__}: one column, and not a table", "give a table with this column"
        ) from error


def arrow_frame(X: Any, name: str = "X") -> Any:
    """An Arrow table as a pandas frame; numbers of every kind (whole, boolean, decimal, coded) become NumPy's."""
    import pandas as pd
    import pyarrow as pa

    table = X if isinstance(X, pa.Table) else arrow_reader(X, name).read_all()
    require_distinct(table.column_names, name)
    whole = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
    columns = {}
    for column_name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if any(test(kind) for test in (pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)):
            column = column.cast(pa.float64() if not pa.types.is_boolean(kind) else pa.uint8()).cast(pa.float64())
        # Long whole numbers beside missing cells stay whole here, so that their rounding is noted like that of others.
        columns[column_name] = column.to_pandas(
            date_as_object=False, types_mapper=whole.get if column.null_count else None
        )
    return pd.DataFrame(columns)
