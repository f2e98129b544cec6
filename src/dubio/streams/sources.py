"""Read a Parquet, CSV or Arrow file, a folder of such files, or an Arrow dataset in batches, in bounded memory."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, listed
from dubio.streams.text_files import BLANKS, HowToRead, first_line, text_form

#: Fewest rows of a row group, on average, and most bytes of a column of one, if row groups are read by columns.
_ROW_GROUP_ROWS, _COLUMN_BYTES = 8192, 32 * 2**20
#: Row groups with more bytes than this are read by pages, not in one piece, with this buffer (bytes) for each column.
_LARGE_ROW_GROUP, _PAGE_BUFFER = 48 * 2**20, 64 * 1024
#: Bytes of a batch of whole rows; two are in memory at once. Smaller ones are slower, larger ones need more memory.
_BATCH_BYTES = 24 * 2**20
#: Bytes of text that are parsed at once.
_CSV_BLOCK = 8 * 2**20


@dataclass(frozen=True)
class Piece:
    """One file or dataset: its columns and their Arrow types, its number of rows if known, and how to read it."""

    name: str
    types: dict[str, Any]
    n_rows: int | None
    #: ``read(columns, batch_rows)`` gives batches of these columns. Each batch has ``num_rows`` and ``select(names)``.
    #: If ``batch_rows`` is None, the source chooses the number of rows.
    read: Callable[[list[str], int | None], Iterator[Any]]
    #: Rows of the largest batch if the source chooses them and reads columns on demand; else 0.
    largest: int = 0
    #: What separates the columns of a text file, and what the user should know about how it is read.
    separator: str = ","
    #: Whether the rows can be read only once.
    read_once: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batch:
    """Some rows (``num_rows``, ``select(names)``), where they are (for messages), and the number of the first one."""

    rows: Any
    place: str
    first_row: int


def batches_of(pieces: list[Piece], columns: list[str], batch_rows: int | None) -> Iterator[Batch]:
    """The rows of some files, in order."""
    done = 0
    for piece in pieces:
        start = done
        for rows in piece.read(columns, batch_rows):
            n_rows = rows.num_rows
            if n_rows == 0:
                continue
            batch = Batch(rows, f"the batch of {piece.name} that starts at row {done - start}", done)
            del rows
            yield batch
            del batch  # before the next one is read, so that fewer batches are in memory
            done += n_rows


def total_rows(pieces: list[Piece]) -> int | None:
    """Number of rows of all files; None if it is unknown."""
    rows = [piece.n_rows for piece in pieces]
    return None if None in rows else sum(n for n in rows if n is not None)


def open_source(source: Any, how: HowToRead | None = None) -> list[Piece]:
    """The pieces of a source, in order: a path to a file or folder, an Arrow dataset, table or batch reader.

    Only the headers and footers of the files are read. So a broken file is found before any work is done. ``how`` says
    how text files are to be read. Pieces that were opened before are given back.
    """
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
    except ImportError as error:
        raise ImportError("reading files needs pyarrow: pip install 'dubio[cli]'") from error
    if isinstance(source, list) and all(isinstance(piece, Piece) for piece in source):
        return source
    if isinstance(source, str | Path):
        return [_open_file(path, how or HowToRead()) for path in _files(Path(source))]
    if isinstance(source, ds.Dataset):
        return [_dataset_piece(source)]
    if isinstance(source, pa.Table):
        return [_dataset_piece(ds.dataset(source))]
    if isinstance(source, pa.RecordBatchReader):
        types = _types(source.schema)

        def read(columns: list[str], _: int | None) -> Iterator[Any]:
            return (batch.select(columns) for batch in source)

        return [Piece("the reader", types, None, read, read_once=True)]
    remedy = "give the path of a Parquet, CSV or Arrow file, a folder of such files, or a pyarrow Dataset, Table or "
    raise InputError("source", f"is a {type(source).__name__}", f"{remedy}RecordBatchReader")


@dataclass(frozen=True)
class RowGroup:
    """A row group of a Parquet file. Its columns are read when they are selected, and are not kept."""

    file: Any
    path: Path
    number: int
    num_rows: int

    def select(self, names: list[str]) -> Any:
        with _readable(self.path):
            table = self.file.read_row_group(self.number, columns=names)
        return table.select(names).combine_chunks().to_batches()[0]


def read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """The same batches. The next one is read while the current one is in use."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, batches, None)
        while (batch := following.result()) is not None:
            following = pool.submit(next, batches, None)
            yield batch
            del batch


def sort_of(arrow_type: Any) -> str:
    """The content of a column of this type: "numbers", "text", or the name of the type."""
    import pyarrow as pa

    if pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    if any(test(arrow_type) for test in tests):
        return "numbers"
    return "text" if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type) else str(arrow_type)


def is_number(arrow_type: Any) -> bool:
    """Whether a column of this type can be a feature."""
    return sort_of(arrow_type) == "numbers"


def as_numbers(column: Any) -> NDArray[Any]:
    """The column as float32 or float64, without a copy if it is one of these. Missing values become NaN."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if kind not in (pa.float64(), pa.float32()):
        # whole numbers above 2**53 lose their last digits, as in every float64 table
        column = column.cast(pa.float32() if pa.types.is_float16(kind) else pa.float64(), safe=False)
    if column.null_count:
        column = column.fill_null(float("nan"))
    return np.asarray(column.to_numpy(zero_copy_only=True))


def coded(column: Any) -> tuple[Any, NDArray[np.int64]]:
    """The different values of a column, in an Arrow array, and the place of each cell among them; -1: missing."""
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return encoded.dictionary, encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.exists():
        raise InputError("source", f"{path} does not exist")
    tables = (file for file in path.rglob("*") if file.is_file() and file.suffix != ".txt" and _format(file))
    found = sorted(f for f in tables if not any(p.startswith(("_", ".")) for p in f.relative_to(path).parts))
    if not found:
        raise InputError(f"the folder {path}", "contains no Parquet, CSV or Arrow file")
    kinds = {_format(file) for file in found}
    if len(kinds) > 1:
        mixed = " and ".join(sorted(map(str, kinds)))
        raise InputError(f"the folder {path}", f"mixes {mixed} files", "keep only one kind")
    return found


def _format(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz")
    endings = {(".parquet", ".pq"): "Parquet", (".csv", ".tsv", ".txt"): "CSV", (".arrow", ".feather", ".ipc"): "Arrow"}
    return next((kind for ends, kind in endings.items() if name.endswith(ends)), None)


def _open_file(path: Path, how: HowToRead) -> Piece:
    import pyarrow as pa
    import pyarrow.dataset as ds

    kind = _format(path)
    if kind is None:
        raise InputError("source", f"is {path}", "the name must end in .parquet, .csv, .tsv, .arrow or .feather")
    try:
        if kind == "Arrow":
            piece = _dataset_piece(ds.dataset(path, format="ipc"), path.name)
        else:
            piece = _csv_piece(path, how) if kind == "CSV" else _parquet_piece(path)
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
        problem = f"cannot be read as a {kind} file ({first_line(error).rstrip('.')})"
        raise InputError(str(path), problem, "is it cut short?") from error

    def read(columns: list[str], batch_rows: int | None) -> Iterator[Any]:
        with _readable(path):
            yield from piece.read(columns, batch_rows)

    return replace(piece, read=read)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(str(path), f"has rows that cannot be read ({first_line(error).rstrip('.')})") from error


def _parquet_piece(path: Path) -> Piece:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        types, footer = _types(file.schema_arrow), file.metadata
    groups = [footer.row_group(g) for g in range(footer.num_row_groups)]
    largest = max((group.total_byte_size for group in groups), default=0)
    rows = [group.num_rows for group in groups]
    by_columns = footer.num_rows >= _ROW_GROUP_ROWS * len(rows) and 8 * max(rows, default=0) <= _COLUMN_BYTES
    by_pages = {"buffer_size": _PAGE_BUFFER} if largest > _LARGE_ROW_GROUP else {}

    def read(columns: list[str], batch_rows: int | None) -> Iterator[Any]:
        if by_columns and batch_rows is None:
            text = [name for name in columns if str(types[name]) in ("string", "large_string")]
            with pq.ParquetFile(path, metadata=footer, pre_buffer=False, read_dictionary=text) as file:
                yield from (RowGroup(file, path, number, n) for number, n in enumerate(rows) if n)
        else:
            with pq.ParquetFile(path, metadata=footer, pre_buffer=False, **by_pages) as file:
                yield from _whole_rows(file.iter_batches(batch_rows or usual_rows(columns), columns=columns))

    return Piece(path.name, types, footer.num_rows, read, max(rows) if by_columns and rows else 0)


def usual_rows(columns: list[str]) -> int:
    """A power of two, like the size of most row groups: batches across two row groups cost time and memory."""
    return int(2 ** np.clip(round(np.log2(_BATCH_BYTES / (8 * len(columns)))), 10, 16))


def _whole_rows(batches: Iterator[Any]) -> Iterator[Any]:
    """The same batches, read ahead. Unused memory is released: pyarrow would keep about twice what it uses."""
    import pyarrow as pa

    for batch in read_ahead(batches):
        yield batch
        del batch
        pa.default_memory_pool().release_unused()


def _csv_piece(path: Path, how: HowToRead) -> Piece:
    import pyarrow as pa
    from pyarrow import csv

    form = text_form(str(path), how, whole=False)
    if form.separator == BLANKS:
        raise InputError(str(path), "has columns separated by blanks, which cannot be streamed", "write it with commas")

    def opened(**convert: Any) -> Any:
        return csv.open_csv(path, **form.for_pyarrow(_CSV_BLOCK, form.encoding, **convert))

    with opened(column_types=dict.fromkeys(how.as_text, pa.string())) as first:
        inferred = _types(first.schema)

    def read(columns: list[str], batch_rows: int | None) -> Iterator[Any]:
        # Types are inferred from the first block only: a column of whole numbers may have fractions later.
        whole = [name for name in columns if pa.types.is_integer(inferred[name]) or pa.types.is_null(inferred[name])]
        types = {name: inferred[name] for name in columns} | dict.fromkeys(whole, pa.float64())
        with opened(include_columns=columns, column_types=types) as reader:
            yield from _whole_rows(reader)

    return Piece(path.name, inferred, None, read, separator=form.separator, notes=form.notes)


def _dataset_piece(dataset: Any, name: str = "the dataset") -> Piece:
    def read(columns: list[str], batch_rows: int | None) -> Iterator[Any]:
        size = batch_rows or usual_rows(columns)
        batches = dataset.to_batches(columns=columns, batch_size=size, batch_readahead=2, fragment_readahead=1)
        yield from _whole_rows(batches)

    return Piece(name, _types(dataset.schema), dataset.count_rows(), read)


def _types(schema: Any) -> dict[str, Any]:
    repeated = sorted(name for name, count in Counter(schema.names).items() if count > 1)
    if repeated:
        raise InputError("the table", f"has more than one column named {listed(map(repr, repeated))}", "rename them")
    return {field.name: field.type for field in schema}
