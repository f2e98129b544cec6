"""Class moments of Dask arrays and dataframes: a task a block, merged by a tree; the table is never gathered."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from dubio.moments.running import RunningMoments, merge_all
from dubio.scores.weighted import supervision_moments
from dubio.supervision import read_supervision
from dubio.table import is_dask, read_matrix

#: Blocks merged by one task of the tree.
_MERGED_AT_ONCE = 8


def dask_moments(X: Any, y: Any, sample_weight: Any = None, *, missing_label: Any = "auto") -> RunningMoments:
    """Moments of the rows of a Dask collection, on whatever scheduler or cluster is active.

    ``y`` and ``sample_weight`` may be Dask collections with the same blocks of rows, or plain arrays. Which blocks are
    merged with which does not depend on the workers, so neither does the result, and a block that was lost with its
    worker is computed again.
    """
    from dask import delayed

    if y is None:
        raise ValueError("this score requires y to be passed, but the target y is None.")
    blocks, lengths = _row_blocks(X)
    targets, lengths = _row_blocks_like(y, "y", blocks, lengths)
    weights, lengths = _row_blocks_like(sample_weight, "sample_weight", blocks, lengths)
    starts = [None] * len(blocks) if lengths is None else [0, *np.cumsum(lengths).tolist()]
    task = delayed(_block_moments, pure=False)
    parts = [
        task(x, target, weight, missing_label, number, starts[number])
        for number, (x, target, weight) in enumerate(zip(blocks, targets, weights, strict=True))
    ]
    merge = delayed(_merge, pure=False)
    while len(parts) > 1:
        parts = [merge(parts[i : i + _MERGED_AT_ONCE]) for i in range(0, len(parts), _MERGED_AT_ONCE)]
    running: RunningMoments | None = parts[0].compute()
    if running is None:
        raise ValueError("X has no rows: 0 sample(s) found.")
    return running


def _row_blocks(X: Any) -> tuple[list[Any], list[int] | None]:
    """Blocks of whole rows, delayed, and how many rows each has where that is known."""
    if not hasattr(X, "chunks"):  # a dataframe or series
        return list(X.to_delayed()), None
    if X.ndim > 1 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    lengths = [float(rows) for rows in X.chunks[0]]
    return list(X.to_delayed().ravel()), None if np.isnan(lengths).any() else [int(rows) for rows in lengths]


def _row_blocks_like(
    values: Any, name: str, blocks: list[Any], lengths: list[int] | None
) -> tuple[list[Any], list[int] | None]:
    """Blocks of ``values`` that belong to the given blocks of rows; the lengths are computed if they must be known."""
    if values is None:
        return [None] * len(blocks), lengths
    if is_dask(values):
        if lengths is not None and hasattr(values, "chunks") and not np.isnan(values.shape[0]):
            if values.shape[0] != sum(lengths):
                raise ValueError(f"{name} has {values.shape[0]} rows and X has {sum(lengths)}: they must be the same.")
            values = values.rechunk({0: tuple(lengths)})
        found, _ = _row_blocks(values)
        if len(found) != len(blocks):
            raise ValueError(
                f"{name} has {len(found)} block(s) of rows and X has {len(blocks)}: give both the same partitions."
            )
        return found, lengths
    from dask import compute, delayed

    if lengths is None:
        lengths = list(compute(*(delayed(len)(block) for block in blocks)))
    n_rows = len(values)
    if n_rows != sum(lengths):
        raise ValueError(f"{name} has {n_rows} rows and X has {sum(lengths)}: they must be the same rows.")
    ends = np.cumsum(lengths).tolist()
    take = getattr(values, "iloc", values if hasattr(values, "shape") else np.asarray(values))
    return [take[end - rows : end] for end, rows in zip(ends, lengths, strict=True)], lengths


def _block_moments(
    x: Any, y: Any, weight: Any, missing_label: Any, number: int, first_row: int | None
) -> RunningMoments | None:
    if x.shape[0] == 0:
        return None
    try:
        matrix = read_matrix(x, accept_sparse=True, check_values=False)
        supervision = read_supervision(y, matrix.shape[0], missing_label=missing_label, is_block=True)
        if weight is not None:
            weight = _check_sample_weight(weight, matrix, dtype=np.float64, ensure_non_negative=True)
        names = list(x.columns) if hasattr(x, "columns") else None
        # One thread: the scheduler already runs as many blocks at once as there are cores for.
        moments = supervision_moments(matrix, supervision, weight, names, first_row=first_row or 0, n_threads=1)
    except ValueError as error:
        counted = f"rows counted within block {number}" if first_row is None else f"in block {number}"
        raise ValueError(f"{error} ({counted})") from error
    return RunningMoments.of_block(supervision, moments)


def _merge(parts: list[RunningMoments | None]) -> RunningMoments | None:
    found = [part for part in parts if part is not None]
    return merge_all(found) if found else None
