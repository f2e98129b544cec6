"""Real tables by name, as each paper used them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio_papers.datasets.catalog import CATALOG, UNAVAILABLE, Filtering
from dubio_papers.datasets.checksums import CHECKSUMS
from dubio_papers.datasets.raw_tables import DatasetUnavailable, RawTable, content_checksum, locate, read_raw


@dataclass(frozen=True)
class Dataset:
    """A table ready for use.

    Attributes
    ----------
    name, paper
        What was asked for.
    X : float64 array (n_rows, n_features)
        NaN = missing.
    y : array (n_rows,)
        Class names (text), or numbers.
    feature_names : tuple of str
    source : str
        "DUBIO_DATA", "cache", "scikit-learn" or "OpenML".
    checksum : str
        SHA-256 of the unfiltered content.
    filtering : str
        What was done to it, and why.
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

    Sources, in this order: the folder named by the environment variable ``DUBIO_DATA`` (files ``<name>.csv.gz``, last
    column ``target``), the cache of earlier downloads, scikit-learn's bundled tables, OpenML.

    Parameters
    ----------
    name : str
        See :func:`names`.
    paper : {"wls", "lnt", "csfs", "ssfrfs", "ssls"}, optional
        Apply that paper's own filtering; without it the table is as it came.
    download : bool
        Whether OpenML may be asked.

    Returns
    -------
    Dataset
        The arrays are read-only and shared between calls.

    Raises
    ------
    DatasetUnavailable
        If no source has it; the message says what would help.

    Examples
    --------
    >>> from dubio_papers.datasets import load
    >>> wine = load("wine")
    >>> wine.X.shape, sorted(set(wine.y.tolist()))
    ((178, 13), ['1', '2', '3'])
    """
    if name in UNAVAILABLE:
        raise DatasetUnavailable(f"dataset {name!r} is unavailable: {UNAVAILABLE[name]}.")
    if name not in CATALOG:
        raise ValueError(f"no dataset is called {name!r}; there are {', '.join(names())}.")
    entry = CATALOG[name]
    if paper is not None and paper not in entry.papers:
        known = ", ".join(entry.papers) or "no paper"
        raise ValueError(f"paper={paper!r}: dataset {name!r} is used by {known}.")
    source = locate(name, entry)
    if source in (None, "OpenML"):
        return _load.__wrapped__(name, paper, source, download)  # a failure, or a first download, is not remembered
    return _load(name, paper, source, download)


def names() -> tuple[str, ...]:
    """Names of all datasets that some source has."""
    return tuple(CATALOG)


def where(name: str) -> str | None:
    """The source a dataset would come from, without a download; None where it is unavailable."""
    return locate(name, CATALOG[name]) if name in CATALOG else None


@lru_cache(maxsize=8)
def _load(name: str, paper: str | None, source: str | None, download: bool) -> Dataset:
    entry = CATALOG[name]
    raw = read_raw(name, entry, download=download)
    if not entry.classes and raw.y.dtype.kind != "f":
        raw = RawTable(raw.X, raw.y.astype(np.float64), raw.feature_names, raw.source)
    checksum = content_checksum(raw)
    if checksum != CHECKSUMS.get(name, checksum):
        warnings.warn(
            f"dataset {name!r} read from {raw.source} differs in some cells from the one our published results were "
            f"made with (SHA-256 {checksum[:12]}..., expected {CHECKSUMS[name][:12]}...).",
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
