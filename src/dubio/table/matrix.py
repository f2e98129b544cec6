"""Tables of numbers: arrays, sparse matrices, Dask and Arrow tables, read and checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from dubio.errors import InputError, InputTypeError, counted, listed, name_row
from dubio.table.columns import column_names, name_column, require_distinct


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


#: Squares of values this large would overflow when they are summed; those of values this small would vanish.
LARGEST, SMALLEST = 1e150, 1e-150
#: The form every method computes on: float64 or float32, dense or CSR.
Matrix = Any

_REMEDIES = {
    "NaN": "fill these values (sklearn.impute.SimpleImputer) or drop them. FeatureSelector fills them with the median "
    "of their column",
    "infinity": "replace or drop these values first",
}

#: If a subtraction leaves less than this share of a sum of squares, too many digits are lost.
CANCELLED = 1e-4


def is_dask(X: Any) -> bool:
    """Whether ``X`` is a Dask array, dataframe or series (without importing Dask)."""
    return callable(getattr(X, "__dask_graph__", None))


def in_memory(X: Any, name: str = "X") -> Any:
    """The table as it is, an Arrow table as a data frame; raises if its rows are not in memory."""
    if is_dask(X):
        raise InputError(
            name,
            f"is a Dask {type(X).__name__}, and this method needs all rows at once",
            f"pass {name}.compute() if it fits in memory. WeightedLaplacianScore, FisherScore, ConstraintScore "
            "and LinearSearch accept Dask tables",
        )
    if callable(getattr(X, "collect_schema", None)) and not hasattr(X, "shape"):  # of polars
        raise InputError(name, f"is a {type(X).__name__}, which holds no rows yet", f"pass {name}.collect()")
    return arrow_frame(X, name) if is_arrow(X) else X


def read_matrix(
    X: Any,
    *,
    accept_sparse: bool = False,
    allow_nan: bool = False,
    check_values: bool = True,
    name: str = "X",
) -> Matrix:
    """Validate ``X`` and return it as a float matrix, without a copy if it is one already.

    float32 stays float32, anything else becomes float64. Errors name the columns that are not numbers, and the
    columns with NaN or infinite values, with a count and the first row. ``check_values=False`` skips the check of
    every value. It is for kernels that notice a bad value in their own sums and then call :func:`check_finite`.
    """
    X = in_memory(X, name)
    names = column_names(X)
    _refuse_text_columns(X, names, name)
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise InputError(name, "is a masked array, and its mask would be ignored", "fill it: X.filled(np.nan)")
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise InputError(name, f"holds {X.dtype} values, not numbers", "turn them into numbers, such as days")
    matrix = _as_floats(X, name, accept_sparse)
    if check_values:
        check_finite(matrix, names=names, allow_nan=allow_nan, name=name)
        if not allow_nan:  # methods that accept missing values only compare values, never square them
            check_squares(matrix, names=names)
    return matrix


def read_numbers_table(X: Any, *, name: str = "X") -> NDArray[np.float64]:
    """A dense table of finite float64 numbers, for functions that use it as it is."""
    return np.asarray(read_matrix(X, name=name), dtype=np.float64)


def _as_floats(X: Any, name: str, accept_sparse: bool) -> Matrix:
    """scikit-learn's own check of a table; its errors become ours. The words that its test suite asks for remain."""
    if X is None:
        raise InputError(name, "is None", "give a table: one row per case, one column per feature")
    if sparse.issparse(X) and not accept_sparse:
        raise InputTypeError(
            name,
            "is a sparse table, but a dense one is needed here",
            "give X.toarray(), or that of a sample of the rows",
        )
    try:
        with np.errstate(over="ignore"):  # a number that is too large becomes infinite, and is refused as such
            matrix = check_array(
                X,
                accept_sparse="csr" if accept_sparse else False,
                dtype=(np.float64, np.float32),
                ensure_all_finite=False,
                input_name=name,
            )
    except TypeError as error:
        raise InputTypeError(name, f"cannot be read as a table of numbers: {error}") from error
    except (ValueError, OverflowError) as error:
        # a long message prints the array between the line that says what is wrong and the one that says what to do
        first, *_, last = [*str(error).splitlines(), ""]
        remedy = last if last.startswith("Reshape") else ""
        raise InputError(name, f"cannot be read as a table of numbers: {first.rstrip(':.')}", remedy) from error
    columns = matrix.indices if sparse.issparse(matrix) else np.zeros(0, dtype=np.intp)
    if len(columns) and not 0 <= columns.min() <= columns.max() < matrix.shape[1]:
        raise InputError(name, "is a sparse table with cells outside its columns", "is it damaged?")
    return matrix


def check_finite(
    matrix: Matrix, *, names: list[Any] | None = None, allow_nan: bool = False, name: str = "X", first_row: int = 0
) -> None:
    """Raise a ValueError that says where ``matrix`` has its first infinite (or NaN) value.

    If ``matrix`` is a block of a longer table, ``first_row`` is the number of its first row there.
    """
    values = matrix.data if sparse.issparse(matrix) else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one cheap pass; if the sum overflows, the slow check below decides
            return
    for word, test in (("NaN", np.isnan), ("infinity", np.isinf)):
        if word == "NaN" and allow_nan:
            continue
        bad = test(values)
        if not bad.any():
            continue
        if sparse.issparse(matrix):
            coo = matrix.tocoo()
            rows, columns = coo.row[bad], coo.col[bad]
        else:
            rows, columns = np.nonzero(bad)
        column = int(columns.min())
        in_column = np.sort(rows[columns == column])
        others = np.unique(columns)[1:].tolist()
        found = (
            f"contains {word} in {counted(len(in_column), 'row')} of {name_column(names, column)}, first in "
            f"{name_row(int(first_row + in_column[0]))}"
        )
        if others:
            shown = listed(str(j) if names is None else repr(names[j]) for j in others)
            verb = "contains" if len(others) == 1 else "contain"
            found += f"; {counted(len(others), 'more column')} also {verb} it: {shown}"
        raise InputError(name, found, _REMEDIES[word], code=word)


def check_squares(matrix: Matrix, *, names: list[Any] | None = None) -> None:
    """Raise if a value is so large that sums of its square overflow, or all values of a column are so small that their
    squares vanish: no method can use such a column."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.dtype == np.float32 or values.size == 0:  # squares are summed in float64
        return
    if sparse.issparse(matrix):
        largest = np.zeros(matrix.shape[1])
        np.maximum.at(largest, matrix.indices, np.abs(matrix.data))
        varies = largest > 0
    else:
        high, low = np.fmax.reduce(matrix, axis=0), np.fmin.reduce(matrix, axis=0)
        largest, varies = np.maximum(high, -low), high != low
    _check_scale(np.where(varies | (largest >= LARGEST), largest, 0.0), names)


def check_vanished(first: NDArray[Any], second: NDArray[Any], names: list[Any] | None = None) -> None:
    """Raise if the squares of a column vanished: it has sums ``first``, but none of its squares ``second``."""
    _check_scale(np.where((first != 0) & (second == 0), SMALLEST / 2, 0.0), names)


def check_overflow(statistic: NDArray[Any], names: list[Any] | None = None) -> None:
    """Raise if a per-feature statistic of a finite matrix overflowed."""
    _check_scale(np.where(np.isfinite(statistic), 0.0, np.inf), names)


def _check_scale(largest: NDArray[Any], names: list[Any] | None) -> None:
    """Raise if the largest absolute value of a column is too large or too small to be squared."""
    for size, bad in (("large", largest >= LARGEST), ("small", (largest > 0) & (largest < SMALLEST))):
        if bad.any():
            raise InputError(
                "X",
                f"has values too {size} to square in {name_column(names, int(np.argmax(bad)))}",
                "rescale it, for example divide it by its largest absolute value",
            )


def _refuse_text_columns(X: Any, names: list[Any] | None, name: str) -> None:
    bad: list[str] = []
    if names is not None:
        types = zip(names, X.dtypes, strict=True)
        bad = [f"{column!r} ({dtype})" for column, dtype in types if not is_numeric(dtype)]
    elif isinstance(X, np.ndarray) and X.dtype.kind == "O" and X.ndim == 2:
        bad = [f"column {j}" for j in range(X.shape[1]) if any(isinstance(v, str) for v in X[:, j])]
    if bad:
        raise not_numeric(name, bad)


def not_numeric(name: str, columns: list[str], remedy: str = "encode {them} as numbers or drop {them}") -> InputError:
    """The error of a table that has text in columns of numbers."""
    verb, them = ("is", "it") if len(columns) == 1 else ("are", "them")
    found = f"has {counted(len(columns), 'column')} that {verb} not numeric: {listed(columns)}"
    return InputError(name, found, remedy.format(them=them), code="text columns")


def is_numeric(dtype: Any) -> bool:
    """Whether a column of a data frame holds numbers (or bools), by its type."""
    if hasattr(dtype, "kind"):  # of NumPy, and of pandas' extensions
        return dtype.kind in "biuf" and getattr(dtype, "name", "") != "category"
    is_number = getattr(dtype, "is_numeric", None)  # of polars
    return callable(is_number) and (bool(is_number()) or str(dtype) == "Boolean")


def row_blocks(X: Any) -> tuple[list[Any], list[int] | None]:
    """Blocks of whole rows of a Dask collection, delayed, and the number of rows of each if it is known."""
    if not hasattr(X, "chunks"):  # a dataframe or series
        return list(X.to_delayed()), None
    if X.ndim > 1 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    lengths = [float(rows) for rows in X.chunks[0]]
    return list(X.to_delayed().ravel()), None if np.isnan(lengths).any() else [int(rows) for rows in lengths]


def block_lengths(blocks: list[Any]) -> list[int]:
    """Number of rows of each delayed block."""
    from dask import compute, delayed

    return list(compute(*(delayed(len)(block) for block in blocks)))


def count_rows(X: Any) -> int:
    """Number of rows of a Dask collection or an Arrow stream."""
    if is_dask(X):
        blocks, lengths = row_blocks(X)
        return sum(block_lengths(blocks) if lengths is None else lengths)
    if hasattr(X, "num_rows"):
        return int(X.num_rows)
    raise InputError("X", f"is a {type(X).__name__} whose number of rows is unknown", "give y, or a pyarrow table")


def take_rows(X: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    """Some rows (in increasing order) of a Dask collection or an Arrow stream of ``n_rows`` rows, in memory."""
    return _take_dask_rows(X, rows, n_rows) if is_dask(X) else _take_arrow_rows(X, rows, n_rows)


def take_columns(X: Any, positions: NDArray[np.intp], names: list[Any], n_columns: int) -> Any:
    """Some columns of a Dask collection or an Arrow table, as a table of the same kind; nothing is computed.

    ``names`` are the names of all columns when the selector was fitted, if it saw any.
    """
    if hasattr(X, "chunks"):
        _require_columns(None, int(X.shape[1]), names, n_columns)
        return X[:, positions]
    if is_dask(X):
        columns = list(X.columns)
        _require_columns(columns, len(columns), names, n_columns)
        return X[[columns[j] for j in positions]]
    import pyarrow as pa

    table = X if isinstance(X, pa.Table) else pa.table(X)
    _require_columns(table.column_names, table.num_columns, names, n_columns)
    return table.select([int(j) for j in positions])


def _require_columns(found: list[Any] | None, n_found: int, names: list[Any], n_columns: int) -> None:
    if n_found != n_columns:
        raise InputError("X", f"has {counted(n_found, 'feature')}, but the selector was fitted on {n_columns}")
    if found is not None and names and found != names:
        raise InputError("X", "does not have the same column names as the table the selector was fitted on")


def _take_dask_rows(X: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    from dask import compute, delayed

    blocks, lengths = row_blocks(X)
    lengths = block_lengths(blocks) if lengths is None else lengths
    _require_same(sum(lengths), n_rows)
    ends = np.cumsum(lengths)
    inside = [
        rows[(rows >= end - length) & (rows < end)] - (end - length) for end, length in zip(ends, lengths, strict=True)
    ]
    pick = delayed(_pick, pure=False)
    parts = compute(*(pick(block, index) for block, index in zip(blocks, inside, strict=True) if len(index)))
    if hasattr(parts[0], "columns"):
        import pandas as pd

        return pd.concat(parts)
    if hasattr(parts[0], "toarray"):
        from scipy import sparse

        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


def _pick(block: Any, index: NDArray[np.int64]) -> Any:
    return block.iloc[index] if hasattr(block, "iloc") else block[index]


def _take_arrow_rows(X: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    reader = arrow_reader(X)
    import pyarrow as pa

    parts, start = [], 0
    for batch in reader:
        stop = start + batch.num_rows
        first, last = np.searchsorted(rows, [start, stop])
        if last > first:
            parts.append(batch.take(pa.array(rows[first:last] - start)))
        start = stop
    _require_same(start, n_rows)
    return arrow_frame(pa.Table.from_batches(parts, schema=reader.schema))


def _require_same(n_found: int, n_rows: int) -> None:
    if n_found != n_rows:
        raise InputError("y", f"has {counted(n_rows, 'row')} and X has {n_found}", "they must be the same rows")
