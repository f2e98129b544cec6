"""Moments of Dask arrays and dataframes: one task per block, merged in a tree; the table is never collected."""

from __future__ import annotations

from typing import Any

import numpy as np

from dubio.errors import InputError, counted
from dubio.moments.running import M, RunningMoments, merge_all
from dubio.problem import read_problem
from dubio.supervision.reader import Target
from dubio.tables.large import block_lengths, row_blocks
from dubio.tables.matrix import is_dask

#: Number of blocks merged by one task of the tree.
_MERGED_AT_ONCE = 8


def dask_moments(
    X: Any, y: Any, sample_weight: Any = None, *, kind: type[M], target: Target = "classes", missing_label: Any = "auto"
) -> RunningMoments[M]:
    """Moments of some kind of the rows of a Dask collection, on the active scheduler or cluster.

    ``y`` and ``sample_weight`` may be Dask collections with the same blocks of rows, or plain arrays. The order in
    which blocks are merged does not depend on the workers, so the result does not either. If a worker is lost, its
    blocks are computed again.
    """
    from dask import delayed

    if y is None:
        raise InputError(
            "y", "is missing: this score requires y to be passed, but the target y is None", code="no target"
        )
    blocks, lengths = row_blocks(X)
    targets, lengths = _row_blocks_like(y, "y", blocks, lengths)
    weights, lengths = _row_blocks_like(sample_weight, "sample_weight", blocks, lengths)
    starts = [None] * len(blocks) if lengths is None else [0, *np.cumsum(lengths).tolist()]
    task = delayed(_block_moments, pure=False)
    parts = [
        task(x, labels, weight, kind, target, missing_label, number, starts[number])
        for number, (x, labels, weight) in enumerate(zip(blocks, targets, weights, strict=True))
    ]
    merge = delayed(_merge, pure=False)
    while len(parts) > 1:
        parts = [merge(parts[i : i + _MERGED_AT_ONCE]) for i in range(0, len(parts), _MERGED_AT_ONCE)]
    running: RunningMoments[M] | None = parts[0].compute()
    if running is None:
        raise InputError("X", "has no rows")
    return running


def _row_blocks_like(
    values: Any, name: str, blocks: list[Any], lengths: list[int] | None
) -> tuple[list[Any], list[int] | None]:
    """Blocks of ``values`` that belong to the given blocks of rows; the lengths are computed only if needed."""
    if values is None:
        return [None] * len(blocks), lengths
    if is_dask(values):
        if lengths is not None and hasattr(values, "chunks") and not np.isnan(values.shape[0]):
            if values.shape[0] != sum(lengths):
                raise InputError(
                    name,
                    f"has {counted(values.shape[0], 'row')} and X has {sum(lengths)}",
                    "they must be the same rows",
                )
            values = values.rechunk({0: tuple(lengths)})
        found, _ = row_blocks(values)
        if len(found) != len(blocks):
            raise InputError(
                name,
                f"has {counted(len(found), 'block')} of rows and X has {len(blocks)}",
                "give both the same partitions",
            )
        return found, lengths
    lengths = block_lengths(blocks) if lengths is None else lengths
    n_rows = len(values)
    if n_rows != sum(lengths):
        raise InputError(name, f"has {counted(n_rows, 'row')} and X has {sum(lengths)}", "they must be the same rows")
    ends = np.cumsum(lengths).tolist()
    take = getattr(values, "iloc", values if hasattr(values, "shape") else np.asarray(values))
    return [take[end - rows : end] for end, rows in zip(ends, lengths, strict=True)], lengths


def _block_moments(
    x: Any,
    y: Any,
    weight: Any,
    kind: type[M],
    target: Target,
    missing_label: Any,
    number: int,
    first_row: int | None,
) -> RunningMoments[M] | None:
    if x.shape[0] == 0:
        return None
    counted_in = f"rows counted within block {number}" if first_row is None else f"in block {number}"
    try:
        problem = read_problem(
            x,
            y,
            target=target,
            missing_label=missing_label,
            sample_weight=weight,
            accept_sparse=True,
            check_values=False,
            is_block=True,
        )
        # One thread: the scheduler already runs as many blocks at once as there are cores.
        moments = kind.of_problem(problem, first_row=first_row or 0, n_threads=1)
    except InputError as error:
        raise error.at(counted_in) from error
    except ValueError as error:
        raise ValueError(f"{error} ({counted_in})") from error
    return RunningMoments.of_block(problem.supervision, moments)


def _merge(parts: list[RunningMoments[M] | None]) -> RunningMoments[M] | None:
    found = [part for part in parts if part is not None]
    return merge_all(found) if found else None
