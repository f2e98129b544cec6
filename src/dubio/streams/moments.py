"""Moments of one batch of Arrow columns. Class moments need a few columns at a time; second moments need all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, name_row
from dubio.kernels.moments import class_sums_coded, class_sums_column
from dubio.kernels.threads import chunks, default_threads, run_chunks
from dubio.moments.class_moments import (
    ClassMoments,
    cancelled_columns,
    centred_moments,
    middle,
    recentred,
    rows_that_count,
    side_by_side,
)
from dubio.moments.running import Moments, RunningMoments
from dubio.moments.second_moments import SecondMoments
from dubio.problem import Problem
from dubio.streams.sources import is_number, read_ahead
from dubio.table.columns import name_column
from dubio.table.matrix import check_overflow, check_vanished
from dubio.target.classes import Classes, OfClasses
from dubio.target.knowledge import Supervision
from dubio.target.memberships import Memberships
from dubio.target.reader import Target, read_supervision

#: Number of columns that one call in a thread sums.
_COLUMNS = 8
#: Bytes of features in one block. A block fits into the processor's last cache, so each value is fetched only once.
_BLOCK_BYTES = 4 * 2**20
#: Number of rows from which a provisional centre is computed.
_CENTRE_ROWS = 64


@dataclass(frozen=True)
class Labels:
    """The columns with the target and the weights, and how the target is read."""

    target: str | None
    soft: list[str]
    weight: str | None
    reads: Target
    missing_label: Any


@dataclass(frozen=True)
class Batch:
    """Some rows: their columns, where they are (for messages), and the number of the first of them.

    Only ``num_rows`` and ``select(names)`` of the columns are used.
    """

    columns: Any
    place: str
    first_row: int


def class_moments_of(
    batches: Iterator[Batch], features: list[str], labels: Labels
) -> Iterator[RunningMoments[ClassMoments]]:
    """Class moments of each batch."""
    for batch in batches:
        moments = _class_moments(batch.columns, features, labels, batch.place, batch.first_row)
        del batch  # before the next one is read, so that fewer batches are in memory
        yield moments


def second_moments_of(
    batches: Iterator[Batch], features: list[str], labels: Labels
) -> Iterator[RunningMoments[SecondMoments]]:
    """Second moments of each batch; the next batch is read meanwhile. The first labels say how all are read."""

    spare: list[NDArray[np.float64]] = []  # tables that were summed: new memory would cost as much time as reading

    def problems() -> Iterator[tuple[Problem, str, int]]:
        known = labels
        for batch in batches:
            size = len(features) * batch.columns.num_rows
            room = spare.pop() if spare and len(spare[-1]) >= size else np.empty(size)
            problem = _whole_problem(batch.columns, features, known, batch.place, room[:size])
            kind = problem.supervision.kind
            if problem.supervision.n_labelled:
                known = replace(known, reads="numbers" if kind == "numbers" else "classes")
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
BATCH_MOMENTS: dict[type[Moments], Callable[[Iterator[Batch], list[str], Labels], Iterator[RunningMoments[Any]]]] = {
    ClassMoments: class_moments_of,
    SecondMoments: second_moments_of,
}


def _class_moments(
    batch: Any, features: list[str], labels: Labels, place: str, first_row: int
) -> RunningMoments[ClassMoments]:
    """Moments of the rows of ``batch``. Messages use ``place`` and ``first_row`` to say which rows these are.

    Only ``num_rows`` and ``select(names)`` of a batch are used, for a few columns at a time. So a batch that reads its
    columns on demand is never in memory as a whole.
    """
    supervision, weights = _read_labels(batch, labels, place), _read_weights(batch, labels.weight, place)
    assert isinstance(supervision, OfClasses)
    known = _Known.of(supervision, weights)
    blocks = column_blocks(batch, features)
    parts: list[ClassMoments] = []
    for number, block in enumerate(read_ahead(batch.select(names) for names in blocks)):
        columns = [as_numbers(column) for column in block.columns]
        parts.append(_column_moments(columns, known, features, number * len(blocks[0]), first_row, place))
    return RunningMoments.of_block(supervision, side_by_side(parts))


def _whole_problem(batch: Any, features: list[str], labels: Labels, place: str, room: NDArray[np.float64]) -> Problem:
    """The batch as a matrix with one row per feature, in the memory ``room``."""
    supervision, weights = _read_labels(batch, labels, place), _read_weights(batch, labels.weight, place)
    columns = room.reshape(len(features), -1)
    start = 0
    for names in column_blocks(batch, features):
        for column in batch.select(names).columns:
            columns[start] = as_numbers(column)
            start += 1
    return Problem(columns.T, supervision, list(features), sample_weight=weights)


def column_blocks(batch: Any, features: list[str]) -> list[list[str]]:
    """The features, in blocks that are read at once."""
    width = max(1, _BLOCK_BYTES // (8 * batch.num_rows * _COLUMNS)) * _COLUMNS
    return [features[start : start + width] for start in range(0, len(features), width)]


@dataclass(frozen=True)
class _Known:
    """The labels of a batch in the form that the sums need: transposed memberships, or class codes instead."""

    P: NDArray[np.float64]
    PT: NDArray[np.float64] | None
    codes: NDArray[np.int32] | None
    some: NDArray[np.intp]

    @classmethod
    def of(cls, supervision: OfClasses, weights: NDArray[np.float64] | None) -> _Known:
        P = supervision.memberships
        P = P if weights is None else P * weights[:, None]
        some = rows_that_count(P, _CENTRE_ROWS)
        if isinstance(supervision, Classes) and weights is None:
            return cls(P, None, supervision.codes.astype(np.int32), some)
        return cls(P, np.ascontiguousarray(P.T), None, some)


def _column_moments(
    columns: list[NDArray[Any]],
    known: _Known,
    names: list[str],
    first_column: int,
    first_row: int,
    place: str,
) -> ClassMoments:
    n, n_classes = known.P.shape
    d = len(columns)
    shift = middle(np.column_stack([x[known.some] for x in columns]))
    shift[~np.isfinite(shift)] = 0.0  # the sums find such a value again, and its place
    first, second, poison = np.zeros((d, n_classes)), np.zeros((d, n_classes)), np.zeros(d)

    def work(start: int, stop: int) -> None:
        if known.codes is not None:
            class_sums_coded(_alike(columns[start:stop]), known.codes, shift, start, stop, first, second, poison)
            return
        for r in range(start, stop):
            class_sums_column(columns[r], known.PT, shift[r], 0, n, first[r], second[r])

    run_chunks(work, chunks(d, _COLUMNS), default_threads())
    bad = ~np.isfinite(first.sum(axis=1) + second.sum(axis=1) + poison)
    if bad.any():
        _raise_bad_value(columns, np.flatnonzero(bad), names, first_column, first_row, place)
        check_overflow(np.abs(first).sum(axis=1) + second.sum(axis=1), list(names[first_column : first_column + d]))
    here = list(names[first_column : first_column + d])
    check_vanished(np.abs(first).sum(axis=1), second.sum(axis=1), here)
    moments = centred_moments(np.ones(n) @ known.P, first.T, second.T, shift)
    cancelled = cancelled_columns(moments, second.T)
    if len(cancelled):
        moments = recentred(moments, np.column_stack([columns[r] for r in cancelled]), known.P, cancelled)
    return moments


def _alike(columns: list[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
    """The same number of arrays, of one type, in every call, so that the kernel is compiled once."""
    if len({x.dtype for x in columns}) > 1:
        columns = [x.astype(np.float64) for x in columns]
    columns = [x.view() for x in columns]
    for x in columns:
        x.flags.writeable = False
    return tuple(columns) + (columns[-1],) * (_COLUMNS - len(columns))


def _raise_bad_value(
    columns: list[NDArray[Any]],
    suspects: NDArray[np.intp],
    names: list[str],
    first_column: int,
    first_row: int,
    place: str,
) -> None:
    for word, test in (("NaN", np.isnan), ("infinity", np.isinf)):
        for r in suspects:
            rows = np.flatnonzero(test(columns[r]))
            if len(rows):
                raise InputError(
                    "X",
                    f"contains {word} in {name_column(list(names), first_column + int(r))}, first in "
                    f"{name_row(int(first_row + rows[0]))} ({place})",
                    "fill or drop these values first",
                    code=word,
                )


def _read_labels(batch: Any, labels: Labels, place: str) -> Supervision:
    try:
        if labels.target is not None:
            column = batch.select([labels.target]).column(0)
            if labels.reads == "classes" or not _may_be_numbers(column.type):
                return _read_classes(column, labels)
            values = as_numbers(column).astype(np.float64)
            return read_supervision(
                values, len(values), target=labels.reads, missing_label=labels.missing_label, is_block=True
            )
        columns = batch.select(labels.soft).columns
        table = np.column_stack([as_numbers(column).astype(np.float64) for column in columns])
        found = read_supervision(table, len(table), is_block=True)
        assert isinstance(found, Memberships)
        return replace(found, classes=np.asarray(labels.soft))
    except InputError as error:
        raise error.at(f"rows counted within {place}") from error


def _may_be_numbers(arrow_type: Any) -> bool:
    import pyarrow as pa

    return is_number(arrow_type) and not (pa.types.is_boolean(arrow_type) or pa.types.is_dictionary(arrow_type))


def _read_classes(column: Any, labels: Labels) -> Classes:
    """Read labels once per distinct value, not once per row."""
    import pyarrow as pa

    if labels.reads == "numbers" and not is_number(column.type):
        raise InputError("y", "holds text where numbers are needed", "encode it as numbers")

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    used = np.flatnonzero(np.bincount(codes + 1, minlength=len(encoded.dictionary) + 1)[1:])
    values = np.asarray(encoded.dictionary.take(pa.array(used)).to_pylist(), dtype=object)
    distinct = read_supervision(_of_common_type(values), len(values), missing_label=labels.missing_label, is_block=True)
    assert isinstance(distinct, Classes)
    translate = np.full(len(encoded.dictionary) + 1, -1, dtype=np.int64)  # code -1 reads the last entry
    translate[used] = distinct.codes
    codes = translate[codes]
    return Classes(n_rows=len(codes), labelled=codes >= 0, classes=distinct.classes, codes=codes)


def _of_common_type(values: NDArray[Any]) -> NDArray[Any]:
    """An array of objects as an array of their common type, if they have one."""
    if len(values) and all(isinstance(v, bool) for v in values):
        return values.astype(bool)
    if len(values) and all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        return values.astype(np.int64)
    if len(values) and all(isinstance(v, Decimal) for v in values):
        return values.astype(np.float64)
    return values


def _read_weights(batch: Any, name: str | None, place: str) -> NDArray[np.float64] | None:
    if name is None:
        return None
    weights = as_numbers(batch.select([name]).column(0)).astype(np.float64)
    wrong = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
    if len(wrong):
        raise InputError(
            "weight",
            f"column {name!r} holds {weights[wrong[0]]:g} in {name_row(int(wrong[0]))} of {place}",
            "weights must be finite and not negative",
        )
    return weights


def as_numbers(column: Any) -> NDArray[Any]:
    """The column as float32 or float64, without a copy if it is one of these. Missing values become NaN."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if kind not in (pa.float64(), pa.float32()):
        # whole numbers above 2**53 lose their last digits, as in every float64 table
        column = column.cast(pa.float32() if pa.types.is_float16(kind) else pa.float64(), safe=False)
    if column.null_count:
        column = column.fill_null(float("nan"))
    return np.asarray(column.to_numpy(zero_copy_only=True))
