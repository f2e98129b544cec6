"""Tables that are not arrays in memory: Dask collections and Arrow streams, and a few of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted
from dubio.tables.arrow import arrow_frame, arrow_reader
from dubio.tables.matrix import is_dask


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
