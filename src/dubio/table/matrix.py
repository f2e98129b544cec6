"""The matrix that methods compute on: tables of numbers, read and checked once; names of columns, and which are one
feature; Dask and Arrow tables; columns on a common scale, without gaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from dubio.errors import InputError, InputTypeError, counted, has_row_names, listed, name_row, quoted
from dubio.table.cells import is_valid_text
from dubio.table.reading import ColumnReading
from dubio.table.rows import some_rows


def column_names(X: Any, *, name: str = "X") -> list[Any] | None:
    """Column names of a data frame (pandas, polars, ...), None for anything else; raises if a name occurs twice."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return None
    names = list(columns)
    require_distinct(names, name)
    return names


def require_distinct(names: list[Any], name: str = "X") -> None:
    """Raise if a column name occurs twice, or cannot be written: half of a pair of UTF-16, for example."""
    if len(set(names)) < len(names):
        twins = [f"{column!r} ({count} columns)" for column, count in Counter(names).items() if count > 1]
        raise InputError(name, f"has columns with the same name: {listed(twins)}", "rename or drop them")
    for column in names:
        if isinstance(column, str) and not is_valid_text(column):
            raise InputError(name, f"has a column named {quoted(column)}, which is no valid text", "rename it")


def refuse_mixed_names(X: Any) -> None:
    """Raise if only some of the column names are text."""
    names = column_names(X) or []
    if 0 < sum(isinstance(name, str) for name in names) < len(names):
        kinds = sorted({type(name).__name__ for name in names})
        found = f"has column names of different types ({', '.join(kinds)})"
        raise InputTypeError("X", found, "make all of them text: X.columns = X.columns.astype(str)")


def some_columns(X: Any, positions: Any) -> Any:
    """Some columns of a data frame, an array or a sparse matrix, by their positions; a single one as a column."""
    return X.iloc[:, positions] if hasattr(X, "iloc") else X[:, positions]


def array_of_names(names: list[Any]) -> NDArray[Any]:
    """Names as an array with one entry per name: a name may be a tuple."""
    return np.fromiter(names, dtype=object, count=len(names))


def name_column(names: list[Any] | None, index: int) -> str:
    """A column in a message: its name and, in Python, its position."""
    if names is None:
        return f"column {index}"
    name = f"column {quoted(names[index])}" if isinstance(names[index], str) else f"column {names[index]!r}"
    return name if has_row_names() else f"{name} (position {index})"


def pick_columns(wanted: Any, names: list[Any] | None, n_features: int, argument: str) -> NDArray[np.int64]:
    """Positions of the ``wanted`` columns, given as None (all), a mask, positions or names."""
    if wanted is None:
        return np.arange(n_features)
    columns = np.asarray(wanted)
    if columns.ndim != 1:
        raise InputError(argument, f"has {columns.ndim} dimensions", "give a list of columns or a mask")
    if columns.dtype.kind == "b":
        if len(columns) != n_features:
            raise InputError(argument, f"is a mask of {len(columns)} columns, but the table has {n_features}")
        return np.flatnonzero(columns)
    if columns.dtype.kind in "iu" or len(columns) == 0:
        if outside := [int(j) for j in columns if not 0 <= j < n_features]:
            raise InputError(argument, f"holds {outside[0]}, but the table has columns 0 to {n_features - 1}")
        positions = columns.astype(np.int64)
    else:
        unknown = [str(name) for name in columns.tolist() if names is None or name not in names]
        if names is None or unknown:
            why = "the table has no column names" if names is None else f"the table has no column {unknown[0]!r}"
            raise InputError(argument, f"names {counted(len(columns), 'column')}, but {why}")
        positions = np.array([names.index(name) for name in columns.tolist()], dtype=np.int64)
    if len(np.unique(positions)) < len(positions):
        raise InputError(argument, "holds a column more than once")
    return positions


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the matrix by feature. The columns of one feature are side by side."""

    #: The feature of each column of the matrix: 0, ..., in order.
    feature_of: NDArray[np.int64]
    #: What each column holds.
    roles: NDArray[np.str_]
    #: Whether it is the first column of a column of the table.
    leads: NDArray[np.bool_]
    #: What was done with each column of the table.
    read: tuple[ColumnReading, ...] = ()
    #: For each feature, the positions of its columns in the table.
    inputs: tuple[tuple[int, ...], ...] = ()
    #: The names of the columns of the table.
    input_names: list[Any] | None = None

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first column of each feature."""
        return np.flatnonzero(np.diff(self.feature_of, prepend=-1))

    @property
    def n_features(self) -> int:
        return len(self.starts)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of columns of each feature."""
        return np.diff(self.starts, append=len(self.feature_of))

    @property
    def is_plain(self) -> bool:
        """Whether every feature is one column."""
        return len(self.starts) == len(self.feature_of)

    def of(self, feature: int) -> NDArray[np.int64]:
        """The columns of one feature."""
        return self.of_all([feature])

    def of_all(self, features: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
        """The columns of some features, feature by feature."""
        features = np.asarray(features, dtype=np.int64)
        sizes = self.sizes[features]
        return np.arange(sizes.sum()) + np.repeat(self.starts[features] - np.cumsum(sizes) + sizes, sizes)

    def only(self, features: NDArray[Any]) -> Columns:
        """The columns of some features, numbered again."""
        columns = self.of_all(features)
        counts = self.sizes[features]
        inputs = tuple(self.inputs[int(f)] for f in features) if self.inputs else ()
        of, roles, leads = np.repeat(np.arange(len(counts)), counts), self.roles[columns], self.leads[columns]
        return replace(self, feature_of=of, roles=roles, leads=leads, inputs=inputs)

    def level_blocks(self) -> list[tuple[int, int]]:
        """First column, and the one after the last, of each column of categories."""
        levels = self.roles == "level"
        inner = np.append(levels & ~self.leads, False)
        starts = np.flatnonzero(levels & self.leads).tolist()
        return [(start, start + 1 + int(np.argmin(inner[start + 1 :]))) for start in starts]

    def reading_of(self, feature: int) -> ColumnReading | None:
        """The reading of the table's column of a feature; None if the feature has several, or there is none."""
        inputs = self.inputs[feature] if self.inputs else ()
        return self.read[inputs[0]] if len(inputs) == 1 and self.read else None


def feature_sums(values: NDArray[np.float64], columns: Columns | None) -> NDArray[np.float64]:
    """Sums over the columns of each feature, along the last axis; the values themselves if features are columns.

    >>> import numpy as np
    >>> from dubio.table.matrix import columns_of_sizes, feature_sums
    >>> feature_sums(np.array([1.0, 2.0, 4.0]), columns_of_sizes([1, 2]))
    array([1., 6.])
    """
    if columns is None or columns.is_plain:
        return values
    return np.add.reduceat(values, columns.starts, axis=-1)


def columns_of_sizes(sizes: Sequence[int] | NDArray[Any]) -> Columns:
    """Columns of numbers; ``sizes`` is their number for each feature."""
    feature_of = np.repeat(np.arange(len(sizes)), sizes)
    roles = np.full(len(feature_of), "value", dtype="<U7")
    return Columns(feature_of, roles, np.ones(len(feature_of), dtype=bool))


def is_arrow(X: Any) -> bool:
    """Whether ``X`` is a stream of Arrow batches (a pyarrow or DuckDB table, ...) and not a frame of another kind."""
    is_stream = hasattr(X, "__arrow_c_stream__") and column_names(X) is None and getattr(X, "ndim", 2) != 1
    return is_stream and type(X).__module__.split(".")[0] != "narwhals"  # which wraps frames of any kind


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
        found = f"is a {type(X).__name__}: one column, and not a table"
        raise InputError(name, found, "give a table with this column") from error


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
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8()).cast(pa.float64())
        if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
            column = column.cast(pa.float64())
        # Long whole numbers beside missing cells stay whole here, so that their rounding is noted like that of others.
        types = whole.get if column.null_count else None
        columns[column_name] = column.to_pandas(date_as_object=False, types_mapper=types)
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
        remedy = f"pass {name}.compute() if it fits in memory. WeightedLaplacianScore, FisherScore, ConstraintScore "
        remedy += "and LinearSearch accept Dask tables"
        raise InputError(name, f"is a Dask {type(X).__name__}, and this method needs all rows at once", remedy)
    if callable(getattr(X, "collect_schema", None)) and not hasattr(X, "shape"):  # of polars
        raise InputError(name, f"is a {type(X).__name__}, which holds no rows yet", f"pass {name}.collect()")
    return _of_another_library(X, name)


#: Libraries whose tables are read as they are.
_OWN = ("numpy", "pandas", "polars", "scipy", "builtins")


def _of_another_library(X: Any, name: str) -> Any:
    """A frame of another library (Arrow, Modin, narwhals, ...) as one of pandas or polars; anything else as it is."""
    if type(X).__module__.split(".")[0] in _OWN:
        return X
    import narwhals as nw

    wrapped = isinstance(X, nw.DataFrame | nw.LazyFrame)
    if not wrapped and is_arrow(X):
        return arrow_frame(X, name)
    frame = X if wrapped else nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise InputError(name, f"is a {type(X).__name__}, which holds no rows yet", f"pass {name}.collect()")
    if not isinstance(frame, nw.DataFrame):
        return X
    if frame.implementation.is_pandas() or frame.implementation.is_polars():
        return frame.to_native()
    return arrow_frame(frame.to_native(), name) if frame.implementation.is_pyarrow() else frame.to_pandas()


def read_matrix(
    X: Any, *, accept_sparse: bool = False, allow_nan: bool = False, check_values: bool = True, name: str = "X"
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


#: Most cells of a sparse table that is made dense because it must be (2 GB).
MOST_DENSE = 250_000_000


def as_dense(matrix: Matrix, name: str = "X") -> NDArray[Any]:
    """A table with all its cells; raises if these are too many of a sparse one."""
    if not sparse.issparse(matrix):
        return np.asarray(matrix)
    require_dense(matrix.shape, name)
    return np.asarray(matrix.toarray())


def require_dense(shape: tuple[int, ...], name: str = "X") -> None:
    """Raise if a table of this shape is too large to be made dense."""
    if shape[0] * shape[1] > MOST_DENSE:
        found = f"has {counted(shape[0], 'row')} and {counted(shape[1], 'column')}, too many for a dense table"
        raise InputError(name, f"{found}, which is needed here", "give fewer rows or columns")


def read_numbers_table(X: Any, *, name: str = "X") -> NDArray[np.float64]:
    """A dense table of finite float64 numbers, for functions that use it as it is."""
    return np.asarray(read_matrix(X, name=name), dtype=np.float64)


def _as_floats(X: Any, name: str, accept_sparse: bool) -> Matrix:
    """scikit-learn's own check of a table; its errors become ours. The words that its test suite asks for remain."""
    if X is None:
        raise InputError(name, "is None", "give a table: one row per case, one column per feature")
    if sparse.issparse(X) and not accept_sparse:
        found = "is a sparse table, but a dense one is needed here"
        raise InputTypeError(name, found, "give X.toarray(), or that of a sample of the rows")
    if (
        hasattr(X, "to_numpy")
        and column_names(X) is not None  # a frame, and not one of its columns
        and all(isinstance(one, np.dtype) and one.kind in "biuf" for one in X.dtypes)
    ):
        X = X.to_numpy()  # scikit-learn looks at a frame through a library that takes long to import
    how: dict[str, Any] = {"accept_sparse": "csr" if accept_sparse else False, "ensure_all_finite": False}
    try:
        with np.errstate(over="ignore"):  # a number that is too large becomes infinite, and is refused as such
            matrix = check_array(X, dtype=(np.float64, np.float32), input_name=name, **how)
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
        in_column = rows[columns == column]
        others = np.unique(columns)[1:].tolist()
        count, first = counted(len(in_column), "row"), name_row(int(first_row + in_column.min()))
        found = f"contains {word} in {count} of {name_column(names, column)}, first in {first}"
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
            found = f"has values too {size} to square in {name_column(names, int(np.argmax(bad)))}"
            raise InputError("X", found, "rescale it, for example divide it by its largest absolute value")


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
    """Some columns of a Dask collection or an Arrow table, not computed; ``names`` are those the selector has seen."""
    if not is_dask(X):
        import pyarrow as pa

        X = X if isinstance(X, pa.Table) else pa.table(X)
    found = [None] * int(X.shape[1]) if hasattr(X, "chunks") else list(X.columns if is_dask(X) else X.column_names)
    wanted = [names[j] for j in positions] if names else []
    if not hasattr(X, "chunks") and wanted and set(wanted) <= set(found):
        return X[wanted] if is_dask(X) else X.select(wanted)
    if len(found) != n_columns:
        raise InputError("X", f"has {counted(len(found), 'feature')}, but the selector was fitted on {n_columns}")
    if hasattr(X, "chunks"):
        return X[:, positions]
    if names:
        raise InputError("X", "does not have the same column names as the table the selector was fitted on")
    return X[[found[j] for j in positions]] if is_dask(X) else X.select(positions.tolist())


def _take_dask_rows(X: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    from dask import compute, delayed

    blocks, lengths = row_blocks(X)
    lengths = block_lengths(blocks) if lengths is None else lengths
    require_same_rows(n_rows, sum(lengths))
    starts = np.cumsum(lengths) - lengths
    inside = np.split(rows, np.searchsorted(rows, starts[1:]))
    pick = delayed(some_rows, pure=False)
    chosen = zip(blocks, inside, starts, strict=True)
    parts = compute(*(pick(block, index - start) for block, index, start in chosen if len(index)))
    if hasattr(parts[0], "columns"):
        import pandas as pd

        return pd.concat(parts)
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def _take_arrow_rows(X: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    reader = arrow_reader(X)
    import pyarrow as pa

    parts, start = [], 0
    for batch in reader:
        first, last = np.searchsorted(rows, [start, start + batch.num_rows])
        parts.append(batch.take(pa.array(rows[first:last] - start)))
        start += batch.num_rows
    require_same_rows(n_rows, start)
    return arrow_frame(pa.Table.from_batches(parts, schema=reader.schema))


def require_same_rows(n_rows: int, n_of_table: int) -> None:
    """Raise unless the target has as many rows as the table."""
    if n_rows != n_of_table:
        raise InputError("y", f"has {n_rows} rows and X has {n_of_table}", "they must be the same rows")


def varying_columns(matrix: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.intp]:
    """Positions of the columns that vary among ``rows`` (the rows to learn from); raises if none varies."""
    used = matrix[rows]
    varying = np.flatnonzero((used[:1] != used).any(axis=0))
    if len(varying) == 0:
        raise nothing_varies(matrix.shape[1], len(used))
    return varying


#: The code of the error of a table in which nothing varies.
NOTHING_VARIES = "nothing varies"


def nothing_varies(n_columns: int, n_rows: int) -> InputError:
    """The error of a table whose columns are all constant."""
    which = "its only column is" if n_columns == 1 else f"all of its {n_columns} columns are"
    found = f"has no feature that varies: {which} constant among the {counted(n_rows, 'row')} to learn from"
    return InputError("X", found, code=NOTHING_VARIES)


def nothing_is_left(names: NDArray[Any], left_out: Mapping[str, str]) -> InputError:
    """The same error, if it is known which features were ``left_out`` and why.

    >>> import numpy as np
    >>> from dubio.table.matrix import nothing_is_left
    >>> print(nothing_is_left(np.array(["note"]), {"note": "text that could not be used"}))
    X has no feature that varies: left out was 'note' (text that could not be used): give columns that vary.
    """
    were = "was" if len(left_out) == 1 else "were"
    found = f"has no feature that varies: left out {were} "
    found += listed(f"{quoted(name)} ({why})" for name, why in left_out.items())
    others = int((~np.isin(names.astype(str), list(left_out))).sum())
    if others:
        which = "the other column is" if others == 1 else f"the other {others} columns are"
        found += f", and {which} constant among the rows to learn from"
    return InputError("X", found, "give columns that vary", code=NOTHING_VARIES)


def standardize(matrix: Matrix, columns: Columns | None = None) -> Matrix:
    """Centre every column and divide it by its standard deviation; constant columns become zero.

    If a feature has several columns, all of them are divided by the root of the sum of their variances: every feature
    has the same weight in distances, however many columns it has. So two rows of different categories are as far apart
    as two rows whose numbers differ by about one and a half standard deviations.

    A sparse matrix is scaled, but only its columns far from zero are centred (:func:`centre_far_columns`). Distances
    need only differences between rows, and these are the same.
    """
    if sparse.issparse(matrix):
        matrix = centre_far_columns(matrix)
        scale = np.sqrt(np.maximum(_sparse_spread(matrix)[0], 0.0))
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return matrix @ sparse.diags_array(inverse.astype(matrix.dtype))
    centred = matrix - matrix.mean(axis=0, dtype=np.float64).astype(matrix.dtype)
    scale = np.sqrt(np.einsum("ij,ij->j", centred, centred, dtype=np.float64) / len(centred))
    # The rounded mean leaves tiny differences in a constant column; they are not a real spread.
    constant = (matrix == matrix[:1]).all(axis=0)
    if columns is not None and not columns.is_plain:
        scale[constant] = 0.0
        scale = np.sqrt(feature_sums(scale**2, columns))[columns.feature_of]
        centred[:, constant] = 0.0
        constant[:] = False
    scale[constant | (scale == 0)] = np.inf
    centred /= scale.astype(matrix.dtype)
    return centred


def centre_far_columns(matrix: Matrix) -> Matrix:
    """Centre the columns of a CSR matrix that lie far from zero, compared with their spread, so that squares keep
    their digits.

    Such columns hold hardly any zeros, because a zero would add to the spread. So centring them needs little memory.
    """
    spread, squares = _sparse_spread(matrix)
    is_far = spread < CANCELLED * squares
    if not is_far.any():
        return matrix
    far, near = np.flatnonzero(is_far), np.flatnonzero(~is_far)
    columns = sparse.csr_array(matrix)
    centred = columns[:, far].toarray().astype(np.float64)
    centred -= centred[0].copy()  # so that a constant column is exactly zero
    centred -= centred.mean(axis=0)
    joined = sparse.hstack([columns[:, near], sparse.csr_array(centred.astype(matrix.dtype))], format="csr")
    return joined[:, np.argsort(np.concatenate([near, far]))]


def _sparse_spread(matrix: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Variance (as a difference) and mean square of every column, summed in float64."""
    columns = sparse.csr_array(matrix).astype(np.float64)
    mean, squares = columns.mean(axis=0), columns.multiply(columns).mean(axis=0)
    return squares - mean**2, squares


def fill_missing(X: Matrix, columns: Columns | None = None) -> Matrix:
    """The table with missing cells filled by the median of their column; a column without any value becomes zero.

    Missing cells of a column of categories (several columns of 0 and 1) get the most frequent one.

    >>> import numpy as np
    >>> from dubio.table.matrix import fill_missing
    >>> fill_missing(np.array([[1.0], [3.0], [np.nan]]))
    array([[1.],
           [3.],
           [2.]])
    """
    if sparse.issparse(X):
        raise InputError("X", "is sparse and has missing values", "fill them, or pass a dense table")
    from sklearn.impute import SimpleImputer  # which takes as long to import as a small table takes to rank

    filled = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(X)
    if columns is not None:
        for start, stop in columns.level_blocks():
            missing = np.isnan(X[:, start])
            if missing.any() and not missing.all():
                often = np.argmax(X[~missing, start:stop].sum(axis=0))
                filled[missing, start:stop] = (np.arange(stop - start) == often) * np.nanmax(X[:, start:stop])
    return np.ascontiguousarray(filled)  # rows in memory order, whatever order the table came in
