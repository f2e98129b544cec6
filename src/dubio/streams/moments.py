"""Moments of one batch of Arrow columns. Class moments need a few columns at a time; second moments need all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, name_row
from dubio.kernels.moments import class_sums_coded, class_sums_column
from dubio.kernels.threads import chunks, default_threads, run_chunks
from dubio.moments.class_moments import (
    ClassMoments,
    centred_moments,
    middle,
    recentred,
    rows_that_count,
    side_by_side,
)
from dubio.moments.running import Moments, RunningMoments
from dubio.moments.second_moments import SecondMoments
from dubio.problem import Problem
from dubio.streams.sources import Batch, as_numbers, coded, is_number, read_ahead
from dubio.table.matrix import check_overflow, name_column
from dubio.target.classes import read_memberships
from dubio.target.knowledge import Supervision
from dubio.target.reader import Target, read_supervision

#: Number of columns that one call in a thread sums.
_COLUMNS = 8
#: Bytes of features in one block. A block fits into the processor's last cache, so each value is fetched only once.
_BLOCK_BYTES = 4 * 2**20
#: Number of rows from which a provisional centre is computed.
_CENTRE_ROWS = 64


@dataclass(frozen=True)
class StreamColumns:
    """The columns of a stream by their role, and how the target is read."""

    features: list[str]
    target: str | None = None
    soft: Sequence[str] = ()
    weight: str | None = None
    reads: Target = "auto"
    missing_label: Any = "auto"

    @property
    def labels(self) -> list[str]:
        """The columns of the target."""
        return [*self.soft] if self.target is None else [self.target]

    @property
    def used(self) -> list[str]:
        """All columns that are read."""
        return [*self.features, *self.labels, *([] if self.weight is None else [self.weight])]


def class_moments_of(batches: Iterator[Batch], columns: StreamColumns) -> Iterator[RunningMoments[ClassMoments]]:
    """Class moments of each batch; it is not kept while the next one is read, so that fewer are in memory."""
    return map(partial(_class_moments, columns=columns), batches)


def second_moments_of(batches: Iterator[Batch], columns: StreamColumns) -> Iterator[RunningMoments[SecondMoments]]:
    """Second moments of each batch; the next batch is read meanwhile. The first labels say how all are read."""

    spare: list[NDArray[np.float64]] = []  # tables that were summed: new memory would cost as much time as reading

    def problems() -> Iterator[tuple[Problem, str, int]]:
        how = columns
        for batch in batches:
            size = len(columns.features) * batch.rows.num_rows
            room = spare.pop() if spare and len(spare[-1]) >= size else np.empty(size)
            problem = _whole_problem(batch, how, room[:size])
            if problem.supervision.n_labelled:
                how = replace(how, reads=problem.supervision.reads)
            yield problem, batch.place, batch.first_row
            del problem, batch

    for problem, place, first_row in read_ahead(problems()):
        try:
            moments = SecondMoments.of_problem(problem, first_row=first_row)
        except InputError as error:
            raise error.at(place) from error
        running = RunningMoments.of_block(problem.supervision, moments)
        spare.append(problem.X.T.reshape(-1))
        del problem
        yield running


#: How batches are summed, by the kind of the sums.
BATCH_MOMENTS: dict[type[Moments], Any] = {ClassMoments: class_moments_of, SecondMoments: second_moments_of}


def _class_moments(batch: Batch, columns: StreamColumns) -> RunningMoments[ClassMoments]:
    """Moments of the rows of a batch, a few columns at a time: it need not be in memory as a whole."""
    supervision, weights = _read_labels(batch, columns), _read_weights(batch, columns.weight)
    P = supervision.memberships if weights is None else supervision.memberships * weights[:, None]
    codes = None if weights is not None or supervision.given_codes is None else supervision.given_codes.astype(np.int32)
    PT = np.ascontiguousarray(P.T) if codes is None else None
    blocks = column_blocks(batch.rows, columns.features)
    parts: list[ClassMoments] = []
    for number, block in enumerate(read_ahead(batch.rows.select(names) for names in blocks)):
        values = [as_numbers(column) for column in block.columns]
        parts.append(_column_moments(values, P, PT, codes, columns.features, number * len(blocks[0]), batch))
    return RunningMoments.of_block(supervision, side_by_side(parts))


def _whole_problem(batch: Batch, columns: StreamColumns, room: NDArray[np.float64]) -> Problem:
    """The batch as a matrix with one row per feature, in the memory ``room``."""
    supervision, weights = _read_labels(batch, columns), _read_weights(batch, columns.weight)
    matrix = room.reshape(len(columns.features), -1)
    start = 0
    for names in column_blocks(batch.rows, columns.features):
        for column in batch.rows.select(names).columns:
            matrix[start] = as_numbers(column)
            start += 1
    return Problem(matrix.T, supervision, list(columns.features), sample_weight=weights)


def column_blocks(rows: Any, features: list[str]) -> list[list[str]]:
    """The features, in blocks that are read at once."""
    width = max(1, _BLOCK_BYTES // (8 * rows.num_rows * _COLUMNS)) * _COLUMNS
    return [features[start : start + width] for start in range(0, len(features), width)]


def _column_moments(
    columns: list[NDArray[Any]], P: Any, PT: Any, codes: Any, names: list[str], first_column: int, batch: Batch
) -> ClassMoments:
    """Moments of some columns, from the memberships and, transposed, ``PT``; or from class codes instead."""
    (n, n_classes), d = P.shape, len(columns)
    some = rows_that_count(P, _CENTRE_ROWS)
    shift = middle(np.column_stack([x[some] for x in columns]))
    shift[~np.isfinite(shift)] = 0.0  # the sums find such a value again, and its place
    first, second, poison = np.zeros((d, n_classes)), np.zeros((d, n_classes)), np.zeros(d)

    def work(start: int, stop: int) -> None:
        if codes is not None:
            class_sums_coded(_alike(columns[start:stop]), codes, shift, start, stop, first, second, poison)
            return
        for r in range(start, stop):
            class_sums_column(columns[r], PT, shift[r], 0, n, first[r], second[r])

    run_chunks(work, chunks(d, _COLUMNS), default_threads())
    here = names[first_column : first_column + d]
    bad = ~np.isfinite(first.sum(axis=1) + second.sum(axis=1) + poison)
    if bad.any():
        tests = (("NaN", np.isnan), ("infinity", np.isinf))
        for word, test, r in ((word, test, r) for word, test in tests for r in np.flatnonzero(bad).tolist()):
            rows = np.flatnonzero(test(columns[r]))
            if len(rows):
                row = name_row(int(batch.first_row + rows[0]))
                found = f"contains {word} in {name_column([*names], first_column + r)}, first in {row}"
                raise InputError("X", f"{found} ({batch.place})", "fill or drop these values first", code=word)
        check_overflow(np.abs(first).sum(axis=1) + second.sum(axis=1), here)
    moments, cancelled = centred_moments(np.ones(n) @ P, first.T, second.T, shift, here)
    if len(cancelled):
        moments = recentred(moments, np.column_stack([columns[r] for r in cancelled]), P, cancelled)
    return moments


def _alike(columns: list[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
    """The same number of arrays, of one type, in every call, so that the kernel is compiled once."""
    if len({x.dtype for x in columns}) > 1:
        columns = [x.astype(np.float64) for x in columns]
    columns = [x.view() for x in columns]
    for x in columns:
        x.flags.writeable = False
    return tuple(columns) + (columns[-1],) * (_COLUMNS - len(columns))


def _read_labels(batch: Batch, columns: StreamColumns) -> Supervision:
    import pyarrow as pa

    how: dict[str, Any] = {"missing_label": columns.missing_label, "is_block": True}
    try:
        if columns.target is not None:
            column = batch.rows.select([columns.target]).column(0)
            is_named = pa.types.is_boolean(column.type) or pa.types.is_dictionary(column.type)
            if columns.reads == "classes" or is_named or not is_number(column.type):
                return _read_classes(column, columns.reads, how)
            values = as_numbers(column).astype(np.float64)
            return read_supervision(values, len(values), target=columns.reads, **how)
        parts = batch.rows.select(columns.labels).columns
        table = np.column_stack([as_numbers(column).astype(np.float64) for column in parts])
        return read_memberships(table, np.asarray(columns.labels))
    except InputError as error:
        raise error.at(f"rows counted within {batch.place}") from error


def _read_classes(column: Any, reads: Target, how: dict[str, Any]) -> Supervision:
    """Read labels once per distinct value, not once per row."""
    import pyarrow as pa

    if reads == "numbers" and not is_number(column.type):
        raise InputError("y", "holds text where numbers are needed", "encode it as numbers")
    dictionary, codes = coded(column)
    used = np.flatnonzero(np.bincount(codes + 1, minlength=len(dictionary) + 1)[1:])
    values = np.asarray(dictionary.take(pa.array(used)).to_pylist(), dtype=object)
    types = {type(value) for value in values}
    common = {bool: bool, int: np.int64, Decimal: np.float64}.get(types.pop(), object) if len(types) == 1 else object
    distinct = read_supervision(values.astype(common), len(values), **how)
    translate = np.full(len(dictionary) + 1, -1, dtype=np.int64)  # code -1 reads the last entry
    translate[used] = distinct.codes
    return distinct.with_codes(translate[codes])


def _read_weights(batch: Batch, name: str | None) -> NDArray[np.float64] | None:
    if name is None:
        return None
    weights = as_numbers(batch.rows.select([name]).column(0)).astype(np.float64)
    wrong = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
    if len(wrong):
        found = f"column {name!r} holds {weights[wrong[0]]:g} in {name_row(int(wrong[0]))} of {batch.place}"
        raise InputError("weight", found, "weights must be finite and not negative")
    return weights
