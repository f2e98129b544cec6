"""Open a Parquet, CSV or Arrow file, a folder of them, or an Arrow dataset as batches of rows in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Bytes of a row group above which it is read by pages and not in one piece.
_LARGE_ROW_GROUP = 48 * 2**20
#: Bytes read ahead in each column of such a row group.
_PAGE_BUFFER = 64 * 1024
#: Bytes of text parsed at once.
_CSV_BLOCK = 8 * 2**20


@dataclass(frozen=True)
class Piece:
    """One file or dataset: its columns and their Arrow types, its rows if known, and how to read it."""

    name: str
    types: dict[str, Any]
    n_rows: int | None
    #: ``read(columns, batch_rows)`` gives record batches with these columns.
    read: Callable[[list[str], int], Iterator[Any]]


def open_source(source: Any) -> list[Piece]:
    """The pieces of a source, in order: a path to a file or folder, an Arrow dataset, table or batch reader.

    Only headers and footers are read, of every file, so that a broken one is found before any work is done.
    """
    _require_pyarrow()
    import pyarrow as pa
    import pyarrow.dataset as ds

    if isinstance(source, str | Path):
        return [_open_file(path) for path in _files(Path(source))]
    if isinstance(source, ds.Dataset):
        return [_dataset_piece(source)]
    if isinstance(source, pa.Table):
        return [_dataset_piece(ds.dataset(source))]
    if isinstance(source, pa.RecordBatchReader):
        return [
            Piece("the reader", _types(source.schema), None, lambda columns, _: (b.select(columns) for b in source))
        ]
    raise ValueError(
        f"source is a {type(source).__name__}: give the path of a Parquet, CSV or Arrow file, a folder of such files, "
        "or a pyarrow Dataset, Table or RecordBatchReader."
    )


def read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """The same batches, the next one being read while the current one is worked on."""
    import pyarrow as pa

    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, batches, None)
        while (batch := following.result()) is not None:
            following = pool.submit(next, batches, None)
            yield batch
            del batch
            pa.default_memory_pool().release_unused()  # or pyarrow keeps about twice as much as it uses


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError("reading files needs pyarrow: pip install 'dubio[cli]'") from error


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.exists():
        raise ValueError(f"source {path} does not exist.")
    found = sorted(
        file
        for file in path.rglob("*")
        if file.is_file() and _format(file) and not any(p.startswith(("_", ".")) for p in file.relative_to(path).parts)
    )
    if not found:
        raise ValueError(f"the folder {path} has no Parquet, CSV or Arrow file in it.")
    kinds = {_format(file) for file in found}
    if len(kinds) > 1:
        raise ValueError(f"the folder {path} mixes {' and '.join(sorted(map(str, kinds)))} files: keep one kind.")
    return found


def _format(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz")
    endings = {
        (".parquet", ".pq"): "Parquet",
        (".csv", ".tsv", ".txt"): "CSV",
        (".arrow", ".feather", ".ipc"): "Arrow",
    }
    return next((kind for ends, kind in endings.items() if name.endswith(ends)), None)


def _open_file(path: Path) -> Piece:
    import pyarrow as pa

    kind = _format(path)
    opener = {"Parquet": _parquet_piece, "CSV": _csv_piece, "Arrow": _arrow_piece}.get(str(kind))
    if opener is None:
        raise ValueError(f"source {path}: the name must end in .parquet, .csv, .tsv, .arrow or .feather.")
    try:
        piece = opener(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} cannot be read as a {kind} file; is it cut short? ({_first_line(error)})") from error

    def read(columns: list[str], batch_rows: int) -> Iterator[Any]:
        try:
            yield from piece.read(columns, batch_rows)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            raise ValueError(f"{path} has rows that cannot be read: {_first_line(error)}") from error

    return Piece(piece.name, piece.types, piece.n_rows, read)


def _parquet_piece(path: Path) -> Piece:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        types, footer = _types(file.schema_arrow), file.metadata
    largest = max((footer.row_group(g).total_byte_size for g in range(footer.num_row_groups)), default=0)
    by_pages = {"buffer_size": _PAGE_BUFFER} if largest > _LARGE_ROW_GROUP else {}

    def read(columns: list[str], batch_rows: int) -> Iterator[Any]:
        with pq.ParquetFile(path, metadata=footer, pre_buffer=False, **by_pages) as file:
            yield from file.iter_batches(batch_size=batch_rows, columns=columns)

    return Piece(path.name, types, footer.num_rows, read)


def _csv_piece(path: Path) -> Piece:
    import pyarrow as pa
    from pyarrow import csv

    parse = csv.ParseOptions(delimiter="\t" if ".tsv" in path.name.lower() else ",")
    block = csv.ReadOptions(block_size=_CSV_BLOCK)
    with csv.open_csv(path, read_options=block, parse_options=parse) as first:
        inferred = _types(first.schema)

    def read(columns: list[str], batch_rows: int) -> Iterator[Any]:
        # Types are inferred from the first block alone: whole numbers there may be fractions later.
        types = {name: pa.float64() if _grows(inferred[name]) else inferred[name] for name in columns}
        convert = csv.ConvertOptions(include_columns=columns, column_types=types)
        with csv.open_csv(path, read_options=block, parse_options=parse, convert_options=convert) as reader:
            yield from reader

    return Piece(path.name, inferred, None, read)


def _arrow_piece(path: Path) -> Piece:
    import pyarrow.dataset as ds

    return _dataset_piece(ds.dataset(path, format="ipc"), path.name)


def _dataset_piece(dataset: Any, name: str = "the dataset") -> Piece:
    def read(columns: list[str], batch_rows: int) -> Iterator[Any]:
        yield from dataset.to_batches(columns=columns, batch_size=batch_rows, batch_readahead=2, fragment_readahead=1)

    return Piece(name, _types(dataset.schema), dataset.count_rows(), read)


def _types(schema: Any) -> dict[str, Any]:
    repeated = sorted({name for name in schema.names if schema.names.count(name) > 1}) if _repeats(schema) else []
    if repeated:
        raise ValueError(f"the table has more than one column named {', '.join(map(repr, repeated))}: rename them.")
    return {field.name: field.type for field in schema}


def _repeats(schema: Any) -> bool:
    return len(set(schema.names)) < len(schema.names)


def _grows(arrow_type: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(arrow_type) or pa.types.is_null(arrow_type))


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
