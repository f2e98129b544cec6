"""Load real tables by name, as each paper used them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio_papers.datasets.catalog import CATALOG, UNAVAILABLE, Filtering
from dubio_papers.datasets.checksums import CHECKSUMS
from dubio_papers.datasets.raw_tables import (
    DatasetUnavailable,
    RawTable,
    cache_folder,
    content_checksum,
    data_folder,
    locate,
    read_raw,
)


@dataclass(frozen=True)
class Dataset:
    """A table ready for use.

    Attributes
    ----------
    name, paper
        The arguments of :func:`load`.
    X : float64 array (n_rows, n_features)
        NaN means missing.
    y : array (n_rows,)
        Class names (text), or numbers.
    feature_names : tuple of str
    source : str
        "DUBIO_DATA", "cache", "scikit-learn" or "OpenML".
    checksum : str
        SHA-256 of the unfiltered content.
    filtering : str
        What was changed in the table, and why.
    """

    name: str
    paper: str | None
    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    source: str
    checksum: str
    filtering: str


def load(name: str, *, paper: str | None = None, download: bool = True) -> Dataset:
    """Load a dataset of the papers by its name.

    Sources, in this order: the folder in the environment variable ``DUBIO_DATA`` (files ``<name>.csv.gz``, last column
    ``target``), the cache of earlier downloads, the tables that come with scikit-learn, OpenML.

    Parameters
    ----------
    name : str
        See :func:`names`.
    paper : {"wls", "lnt", "csfs", "ssfrfs", "ssls"}, optional
        Filter the table as this paper does; without it the table stays as it is.
    download : bool
        Whether to download from OpenML if needed.

    Returns
    -------
    Dataset
        The arrays are read-only and shared between calls.

    Raises
    ------
    DatasetUnavailable
        If no source has it; the message says what to do.

    Examples
    --------
    >>> from dubio_papers.datasets.load import load
    >>> wine = load("wine")
    >>> wine.X.shape, sorted(set(wine.y.tolist()))
    ((178, 13), ['1', '2', '3'])
    """
    if name in UNAVAILABLE:
        raise DatasetUnavailable(f"dataset {name!r} is unavailable: {UNAVAILABLE[name]}.")
    if name not in CATALOG:
        raise ValueError(f"there is no dataset {name!r}. The datasets are {', '.join(names())}.")
    entry = CATALOG[name]
    if paper is not None and paper not in entry.papers:
        known = ", ".join(entry.papers) or "no paper"
        raise ValueError(f"paper={paper!r}: dataset {name!r} is used by {known}.")
    source = locate(name, entry)
    if source in (None, "OpenML"):
        return _load.__wrapped__(name, paper, (), download)  # do not cache a failure or a first download
    return _load(name, paper, (source, data_folder(), cache_folder()), download)


def names() -> tuple[str, ...]:
    """Names of all available datasets."""
    return tuple(CATALOG)


def where(name: str) -> str | None:
    """The source from which a dataset would be read, without downloading it; None if it is unavailable."""
    return locate(name, CATALOG[name]) if name in CATALOG else None


@lru_cache(maxsize=8)
def _load(name: str, paper: str | None, place: tuple[Any, ...], download: bool) -> Dataset:
    """Read a table. ``place`` says where it was found: the same name in another folder may be another table."""
    entry = CATALOG[name]
    raw = read_raw(name, entry, download=download)
    if not entry.classes and raw.y.dtype.kind != "f":
        raw = RawTable(raw.X, raw.y.astype(np.float64), raw.feature_names, raw.source)
    checksum = content_checksum(raw)
    if checksum != CHECKSUMS.get(name, checksum):
        warnings.warn(
            f"dataset {name!r} read from {raw.source} differs in some cells from the table behind our published "
            f"results (SHA-256 {checksum[:12]}..., expected {CHECKSUMS[name][:12]}...).",
            UserWarning,
            stacklevel=3,
        )
    filtering = Filtering() if paper is None else entry.papers[paper]
    X, y, features = _filtered(raw, filtering)
    for array in (X, y):
        array.setflags(write=False)
    return Dataset(name, paper, X, y, features, raw.source, checksum, filtering.why)


def _filtered(raw: RawTable, filtering: Filtering) -> tuple[NDArray[np.float64], NDArray[Any], tuple[str, ...]]:
    rows = np.ones(len(raw.y), dtype=bool)
    if filtering.keep_classes:
        rows &= np.isin(raw.y, filtering.keep_classes)
    if filtering.first_rows is not None:
        rows[filtering.first_rows :] = False
    y = raw.y[rows]
    if filtering.merge_classes:
        y = np.array([filtering.merge_classes.get(label, label) for label in y.tolist()])
    keep = [column for column in raw.feature_names if column not in filtering.drop_columns]
    if filtering.columns_through is not None:
        first, last = (raw.feature_names.index(column) for column in filtering.columns_through)
        keep = list(raw.feature_names[first : last + 1])
    columns = [raw.feature_names.index(column) for column in keep]
    return np.ascontiguousarray(raw.X[rows][:, columns]), y.copy(), tuple(keep)
