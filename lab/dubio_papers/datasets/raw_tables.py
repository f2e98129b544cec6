"""Read a table from its source: a folder of CSV files, the cache, scikit-learn's own tables, or OpenML."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError
from dubio_app.files import read_table
from dubio_app.whole_files import write_whole
from dubio_papers.datasets.catalog import Entry


class DatasetUnavailable(LookupError):
    """The dataset is unavailable; the message says what to do."""


@dataclass(frozen=True)
class RawTable:
    """A table as its source gives it: class names are text, a numeric target is float64."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    source: str


def data_folder() -> Path | None:
    """The folder in the environment variable DUBIO_DATA, if it exists."""
    folder = os.environ.get("DUBIO_DATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


def cache_folder() -> Path:
    """Where downloaded tables are kept: DUBIO_CACHE, or ``dubio`` in the user's cache folder."""
    if os.environ.get("DUBIO_CACHE"):
        return Path(os.environ["DUBIO_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dubio"


def locate(name: str, entry: Entry) -> str | None:
    """The source from which a table would be read, or None; reads nothing and does not use the network."""
    for label, folder in (("DUBIO_DATA", data_folder()), ("cache", cache_folder())):
        if folder is not None and (folder / f"{name}.csv.gz").is_file():
            return label
    if entry.bundled:
        return "scikit-learn"
    return None if entry.openml is None else "OpenML"


def read_raw(name: str, entry: Entry, *, download: bool = True) -> RawTable:
    """Read a table from the first source that has it."""
    source = locate(name, entry)
    if source == "DUBIO_DATA":
        folder = data_folder()
        assert folder is not None
        table = read_csv(folder / f"{name}.csv.gz", source)
    elif source == "cache":
        table = read_csv(cache_folder() / f"{name}.csv.gz", source)
    elif source == "scikit-learn":
        table = _bundled(entry)
    elif source == "OpenML" and download and not os.environ.get("DUBIO_OFFLINE"):
        table = _from_openml(name, entry)
    else:
        help_ = f"put {name}.csv.gz (header, last column 'target') into a folder and set DUBIO_DATA to it"
        if source == "OpenML":
            help_ += f", or allow the download of OpenML's table {entry.openml}"
        raise DatasetUnavailable(f"dataset {name!r} was not found: {help_}.")
    _check_shape(name, entry, table)
    return table


def content_checksum(table: RawTable) -> str:
    """SHA-256 of the values, not of the file: cells as little-endian float64, then the target."""
    digest = hashlib.sha256(np.ascontiguousarray(table.X, dtype="<f8").tobytes())
    if table.y.dtype.kind == "f":
        digest.update(np.ascontiguousarray(table.y, dtype="<f8").tobytes())
    else:
        digest.update("\n".join(table.y.tolist()).encode())
    return digest.hexdigest()


def read_csv(path: Path, source: str) -> RawTable:
    """Read a gzipped CSV file with a header, numbers (an empty cell is missing), and the target in the last column."""
    frame = read_table(str(path), as_text=("target",))
    *features, last = frame.columns
    if last != "target":
        raise InputError(str(path), f"has the last column {last!r}", "the last column must be 'target'")
    X = np.ascontiguousarray(frame[features].to_numpy(dtype=np.float64))
    return RawTable(X, _target(frame["target"].fillna("").tolist()), tuple(features), source)


def write_csv(path: Path, table: RawTable) -> None:
    """Write a file that :func:`read_csv` can read, completely or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.feature_names, "target"])
    for cells, label in zip(table.X.tolist(), table.y.tolist(), strict=True):
        writer.writerow(["" if cell != cell else repr(cell) for cell in cells] + [str(label)])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, gzip.compress(text.getvalue().encode()))


def _target(words: list[str]) -> NDArray[Any]:
    """Classes as text."""
    return np.array([_class_name(word) for word in words])


def _class_name(word: Any) -> str:
    """A class as text; 1.0 and 1 are the same class."""
    try:
        number = float(word)
    except (TypeError, ValueError):
        return str(word)
    return str(int(number)) if number.is_integer() else str(word)


def _bundled(entry: Entry) -> RawTable:
    from sklearn import datasets

    table = getattr(datasets, f"load_{entry.bundled}")(**({"scaled": False} if entry.bundled == "diabetes" else {}))
    names = tuple(str(name) for name in table.feature_names)
    if not entry.classes:
        return RawTable(table.data.astype(np.float64), table.target.astype(np.float64), names, "scikit-learn")
    # The catalog lists the classes in the order of scikit-learn's codes.
    return RawTable(table.data, np.array(list(entry.classes))[table.target], names, "scikit-learn")


def _from_openml(name: str, entry: Entry) -> RawTable:
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=entry.openml, as_frame=True, parser="auto", n_retries=1, delay=0.5)
        frame = bunch.data.apply(_as_numbers)
        labels: NDArray[Any] = np.array([_class_name(label) for label in bunch.target.tolist()])
    except Exception as error:
        raise DatasetUnavailable(
            f"dataset {name!r} could not be downloaded from OpenML (table {entry.openml}): {type(error).__name__}: "
            f"{error}. Without a network, put {name}.csv.gz (header, last column 'target') into a folder and set "
            "DUBIO_DATA to it."
        ) from error
    if entry.classes:
        labels = _names_by_size(labels, entry)
    table = RawTable(frame.to_numpy(dtype=np.float64), labels, tuple(str(column) for column in frame.columns), "OpenML")
    _check_shape(name, entry, table)
    write_csv(cache_folder() / f"{name}.csv.gz", table)
    return table


def _as_numbers(column: Any) -> Any:
    """A column of numbers stays as it is; categories become codes, and missing ones become NaN."""
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    try:
        return column.astype(str).astype(np.float64)
    except ValueError:
        codes = column.astype("category").cat.codes.astype(np.float64)
        return codes.where(codes >= 0)


def _names_by_size(labels: NDArray[Any], entry: Entry) -> NDArray[Any]:
    """Replace the class names of another source by ours, if the class sizes show which is which."""
    found = Counter(labels.tolist())
    if set(found) == set(entry.classes):
        return labels
    by_size = {size: name for name, size in entry.classes.items()}
    if len(by_size) < len(entry.classes) or sorted(found.values()) != sorted(entry.classes.values()):
        return labels  # classes of equal size keep their names
    return np.array([by_size[found[label]] for label in labels.tolist()])


def _check_shape(name: str, entry: Entry, table: RawTable) -> None:
    expected = (entry.n_rows, entry.n_features)
    if table.X.shape != expected:
        raise DatasetUnavailable(
            f"dataset {name!r} read from {table.source} has {table.X.shape[0]} rows and {table.X.shape[1]} features, "
            f"but the papers' table has {expected[0]} and {expected[1]}: it is a different table."
        )
    if entry.classes and sorted(Counter(table.y.tolist()).values()) != sorted(entry.classes.values()):
        raise DatasetUnavailable(
            f"dataset {name!r} read from {table.source} has these rows per class: {dict(Counter(table.y.tolist()))}, "
            f"but the papers' table has {dict(entry.classes)}: it is a different table."
        )
