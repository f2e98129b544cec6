"""A random sample of the rows of a stream, and what all rows say."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, quoted
from dubio.evidence.sketch import Bins, Sketch, tested_on_all_rows
from dubio.findings import Alert, Findings
from dubio.kernels.threads import default_threads
from dubio.moments.column_moments import ColumnMoments
from dubio.problem import Problem
from dubio.progress import advance
from dubio.sampling import scrambled
from dubio.streams.moments import column_blocks
from dubio.streams.sources import Piece, as_numbers, batches_of, coded, is_number, read_ahead, total_rows
from dubio.target.knowledge import Supervision
from dubio.words import Note, note, say

Floats = NDArray[np.float64]

#: Number of rows drawn from a stream.
SAMPLE_ROWS = 20_000
#: Fewest rows of each class in the sample, if there are as many, and the largest number of classes that this is for.
_ROWS_PER_CLASS, _MOST_CLASSES = 10, 1000
#: Added to the key of unlabelled rows: they come last.
_LATE = 2.0


class RowSample:
    """A random sample of rows: labelled rows first, each class with its share, and at least ten rows of each class.

    Every row has a random key that depends only on the seed and on its number, so the size of the batches does not
    matter. The ``most`` rows with the smallest keys are kept. ``labels`` are the columns of the target: one of labels,
    or several of probabilities.
    """

    def __init__(self, most: int, seed: int, features: list[str], labels: list[str], missing_label: Any) -> None:
        self.most, self.seed = most, seed
        self.features, self.labels = features, labels
        is_auto = isinstance(missing_label, str) and missing_label == "auto"
        self._missing = -1 if is_auto else missing_label
        self._missing_number = None if is_auto else missing_label  # -1 may be a number like others
        self.n_rows = 0
        self._kept = np.empty(0, dtype=[("key", float), ("class", np.int64), ("number", np.int64)])
        self._tables: list[Any] = []  # the rows kept
        self._class_ids: dict[Any, int] = {}
        self._fractions = False
        self._class_limits = np.empty(0)
        self._class_counts = np.zeros(0, dtype=np.int64)

    @property
    def class_counts(self) -> dict[Any, int]:
        """Number of rows of each class so far; empty if the target has very many values, or fractions."""
        if self._fractions or len(self._class_ids) > _MOST_CLASSES:
            return {}
        counts = dict(zip(self._class_ids, self._class_counts.tolist(), strict=True))
        return {value: count for value, count in counts.items() if value is not None and value != self._missing}

    def offer(self, batch: Any) -> ColumnMoments:
        """Keep the chosen rows of one batch; the moments of all its rows: of the features, then of the labels."""
        import pyarrow as pa

        rows = np.empty(batch.num_rows, dtype=self._kept.dtype)
        rows["number"] = self.n_rows + np.arange(batch.num_rows)
        rows["key"], rows["class"] = _random_keys(rows["number"], self.seed), -1
        self.n_rows += batch.num_rows
        columns = None
        if self.labels:
            columns = batch.select(self.labels)
            rows["class"] = self._class_of(columns)
            rows["key"][self._is_unlabelled(columns)] += _LATE
        keys = self._kept["key"]
        limit = np.partition(keys, self.most - 1)[self.most - 1] if len(keys) >= self.most else np.inf
        chosen = np.flatnonzero((rows["key"] < limit) | self._protected(rows))
        if len(chosen) > self.most:
            chosen = np.sort(chosen[np.argsort(self._priority(rows[chosen]))[: self.most]])
        index = pa.array(chosen)
        taken: dict[str, Any] = {}
        moments: list[ColumnMoments] = []
        for block in read_ahead(batch.select(names) for names in column_blocks(batch, self.features)):
            moments.append(moments_of(block))
            if len(chosen):
                taken |= {name: block.column(name).take(index) for name in block.schema.names}
        if columns is not None:
            moments.append(self._moments_of_labels(columns))
            taken |= {name: columns.column(name).take(index) for name in self.labels}
        if len(chosen):
            self._tables.append(pa.table(taken))
            self._kept = np.append(self._kept, rows[chosen])
            if len(self._kept) > 2 * self.most:
                self._cut()
        return ColumnMoments.side_by_side(moments)

    def table(self) -> Any:
        """The rows drawn, in the order of the stream, as a pyarrow table."""
        if not self._tables:
            raise InputError("source", "has no rows")
        self._cut()
        return self._tables[0]

    def _cut(self) -> None:
        import pyarrow as pa

        best = np.sort(np.argsort(self._priority(self._kept), kind="stable")[: self.most])
        self._tables = [pa.concat_tables(self._tables, promote_options="permissive").take(pa.array(best))]
        self._kept = self._kept[best]
        limits = np.full(len(self._class_ids), np.inf)
        for number in np.unique(self._kept["class"][self._kept["class"] >= 0]):
            keys = self._kept["key"][self._kept["class"] == number]
            if len(keys) >= _ROWS_PER_CLASS and number < len(limits):
                limits[number] = np.partition(keys, _ROWS_PER_CLASS - 1)[_ROWS_PER_CLASS - 1]
        self._class_limits = limits

    def _priority(self, rows: NDArray[Any]) -> Floats:
        return np.asarray(rows["key"] - self._protected(rows))

    def _protected(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """The rows with the smallest keys of each class; rows that come after enough others of their class are not."""
        protected = np.zeros(len(rows), dtype=bool)
        if len(self._class_ids) > _MOST_CLASSES:
            return protected
        limits = np.full(len(self._class_ids) + 1, np.inf)
        limits[: len(self._class_limits)] = self._class_limits
        limits[-1] = -np.inf  # rows without a class
        may = np.flatnonzero(rows["key"] <= limits[rows["class"]])
        order = may[np.lexsort((rows["key"][may], rows["class"][may]))]
        classes = rows["class"][order]
        protected[order] = np.arange(len(order)) - np.searchsorted(classes, classes) < _ROWS_PER_CLASS
        return protected

    def _class_of(self, columns: Any) -> NDArray[np.int64]:
        """A number for the class of each row; -1 without a class, and for targets with very many values."""
        import pyarrow as pa

        nobody = np.full(columns.num_rows, -1, dtype=np.int64)
        column = columns.column(0)
        if len(self.labels) > 1 or self._fractions or len(self._class_ids) > _MOST_CLASSES:
            return nobody
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if pa.types.is_floating(column.type):
            numbers = as_numbers(column)
            unknown = np.isnan(numbers)
            self._fractions = not np.array_equal(np.round(numbers[~unknown]), numbers[~unknown])
            if self._fractions:
                return nobody
            column = pa.array(numbers, mask=unknown)
        dictionary, codes = coded(column)
        values = dictionary.to_pylist() if len(dictionary) <= _MOST_CLASSES else range(_MOST_CLASSES + 1)
        ids = np.array([*(self._class_ids.setdefault(value, len(self._class_ids)) for value in values), -1])
        if len(self._class_ids) > _MOST_CLASSES:
            return nobody
        classes = np.asarray(ids[codes])
        counts = np.bincount(classes[classes >= 0], minlength=len(self._class_ids))
        counts[: len(self._class_counts)] += self._class_counts
        self._class_counts = counts
        return classes

    def _moments_of_labels(self, columns: Any) -> ColumnMoments:
        """Moments of the target; a number that means "unlabelled" is missing."""
        column, label = columns.column(0), self._missing_number
        is_given = isinstance(label, Real) and not isinstance(label, bool)
        if len(self.labels) > 1 or not is_given or not is_number(column.type):
            return moments_of(columns)
        numbers = as_numbers(column)
        return ColumnMoments.of([np.where(numbers == label, np.nan, numbers)])

    def _is_unlabelled(self, columns: Any) -> NDArray[np.bool_]:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = columns.column(0)
        hidden = pc.is_null(column, nan_is_null=True)
        if self._missing is not None and len(self.labels) == 1:
            with suppress(pa.ArrowException, OverflowError):  # a value of another type equals nothing
                same = pc.equal(column, pa.scalar(self._missing, type=column.type))
                hidden = pc.or_(hidden, pc.fill_null(same, False))
        return np.asarray(hidden).astype(bool)


def with_tests_of_all_rows(problem: Problem, drawn: DrawnRows, labels: list[str], missing_label: Any = None) -> Problem:
    """The problem of a sample, with tests of single features on all rows: the files are read a second time.

    Not if rows belong together, have weights, or were checked; if columns are given; if the target is not read as it is
    written; or if the rows cannot be read again.
    """
    facts = problem.groups, problem.sample_weight, problem.checks, problem.given
    names = None if problem.columns is None else problem.columns.input_names
    names = problem.names if names is None else names
    target, pieces = problem.supervision.one_per_row, drawn.pieces
    if len(labels) != 1 or names is None or target is None or problem.supervision.has_pairs:
        return problem
    if (
        len(drawn.table) == drawn.n_rows
        or any(one is not None for one in facts)
        or any(one.read_once for one in pieces)
    ):
        return problem
    label = labels[0]
    as_written = _one_per_row(drawn.table.column(label), problem.supervision, missing_label)
    if not np.array_equal(as_written, target, equal_nan=True):
        return problem

    def raw(place: int) -> NDArray[Any] | None:
        name = str(names[place])
        if name not in drawn.columns or not is_number(drawn.table.schema.field(name).type):
            return None
        return as_numbers(drawn.table.column(name)).astype(np.float64)

    def sketched(places: list[int], bins: Bins) -> Sketch | None:
        wanted, done = [str(names[place]) for place in places], 0
        found: Sketch | None = None
        for batch in batches_of(pieces, [*wanted, label], None):
            target = _one_per_row(batch.rows.select([label]).column(0), problem.supervision, missing_label)
            found = Sketch.empty(bins) if found is None else found
            start = 0
            for some in read_ahead(batch.rows.select(part) for part in column_blocks(batch.rows, wanted)):
                columns = [as_numbers(column) for column in some.columns]
                found.add(columns, target, start, default_threads())
                start += len(columns)
            found.add_target(target)
            done += batch.rows.num_rows
            del batch
            advance("tests of all rows", done, drawn.n_rows)
        return found

    return replace(problem, all_rows=tested_on_all_rows(problem, raw, sketched))


def _one_per_row(column: Any, supervision: Supervision, missing_label: Any) -> NDArray[Any]:
    """The code of the class of each row (-1: none), or its number (NaN), as in the sample."""
    if supervision.given_codes is None:
        numbers = as_numbers(column).astype(np.float64)
        is_number_too = isinstance(missing_label, Real) and not isinstance(missing_label, bool)
        return np.where(numbers == missing_label, np.nan, numbers) if is_number_too else numbers
    code_of = {value: code for code, value in enumerate(supervision.classes.tolist())}
    values, codes = coded(column.combine_chunks() if hasattr(column, "combine_chunks") else column)
    written = [
        value if value in code_of or not isinstance(value, str) else value.strip() for value in values.to_pylist()
    ]
    found = [code_of.get(value, -1) for value in written]
    return np.array([*found, -1], dtype=np.int64)[codes]


@dataclass(frozen=True)
class DrawnRows:
    """A sample of rows, and what is known of all rows."""

    #: The sample, in the order of the files: a pyarrow table.
    table: Any
    #: Number of all rows.
    n_rows: int
    #: All columns, those of the target last.
    columns: list[str]
    #: Moments of these columns over all rows.
    moments: ColumnMoments
    #: Number of rows of each class, over all rows; empty if the target does not hold classes.
    class_counts: dict[Any, int]
    #: The files.
    pieces: list[Piece] = field(default_factory=list)


def draw_rows(
    pieces: list[Piece],
    features: list[str],
    labels: list[str],
    *,
    seed: int = 0,
    missing_label: Any = None,
    batch_rows: int | None = None,
) -> DrawnRows:
    """A sample of the rows of some files, and the moments of all rows."""
    sample = RowSample(SAMPLE_ROWS, seed, features, labels, missing_label)
    total = total_rows(pieces)
    moments: ColumnMoments | None = None
    for batch in batches_of(pieces, [*features, *labels], batch_rows):
        found = sample.offer(batch.rows)
        moments = found if moments is None else moments.merge(found)
        del batch  # before the next one is read, so that fewer batches are in memory
        advance("rows", sample.n_rows, total)
    table = sample.table()
    assert moments is not None
    return DrawnRows(table, sample.n_rows, [*features, *labels], moments, sample.class_counts, pieces)


def moments_of(columns: Any) -> ColumnMoments:
    """Moments of the columns of a batch; of text, dates and the like, only missing cells are counted."""
    counts = ((len(column) - column.null_count, column.null_count) for column in columns.columns)
    both = zip(columns.columns, counts, strict=True)
    return ColumnMoments.of([as_numbers(column) if is_number(column.type) else count for column, count in both])


def _random_keys(numbers: NDArray[np.int64], seed: int) -> Floats:
    """One number in [0, 1) per row number: SplitMix64 [1]_.

    .. [1] G. Steele, D. Lea and C. Flood (2014). Fast splittable pseudorandom number generators. OOPSLA.
    """
    start = (seed * 0x632BE59BD9B4E019 + 1) % 2**64
    state = scrambled((numbers.astype(np.uint64) + np.uint64(start)) * np.uint64(0x9E3779B97F4A7C15))
    return np.asarray((state >> np.uint64(11)) / 2.0**53)


def columns_of_all_rows(drawn: DrawnRows, features: list[str]) -> dict[str, NDArray[Any]]:
    """Further columns of a ranking, from the numbers in all rows; a column without any has 0 and NaN."""
    at, moments = _places(drawn, features), drawn.moments
    known = moments.low[at] <= moments.high[at]
    return {
        "mean": moments.mean[at],
        "std": np.sqrt(moments.variance[at]),
        "min": np.where(known, moments.low[at], np.nan),
        "max": np.where(known, moments.high[at], np.nan),
        "missing": moments.missing_share[at],
    }


def refuse_infinity(drawn: DrawnRows, features: list[str]) -> None:
    """Raise if a feature is infinite in any row, as for a table in memory."""
    for name, count in zip(features, drawn.moments.infinite[_places(drawn, features)], strict=True):
        if count:
            found = f"contains infinity in {counted(int(count), 'row')} of column {quoted(name)}"
            raise InputError("X", found, "empty these cells")


def with_all_rows(findings: Findings, drawn: DrawnRows, features: list[str], labels: list[str]) -> Findings:
    """The findings of a sample, with what is known of all rows."""
    if len(drawn.table) == drawn.n_rows:
        return findings
    moments, at = drawn.moments, _places(drawn, features)
    # those that have only one value in the sample, but vary in all rows
    moving = [
        features[j] for j in np.flatnonzero(moments.varies[at] & ~moments_of(drawn.table.select(features)).varies)
    ]
    sampled = note("sampled", n_rows=len(drawn.table), n_in_all=drawn.n_rows)
    why = say("constant in sample left out")
    left_out = {name: why if name in moving else reason for name, reason in findings.ranking.left_out.items()}
    has_numbers = np.isfinite(moments.low)
    counted_columns = at[has_numbers[at] | (moments.present[at] == 0)]  # in text, "?" or "" may mean missing
    missing, of_all = int(moments.missing[counted_columns].sum()), []
    if missing:
        share = _percent(missing / (drawn.n_rows * len(counted_columns)))
        of_all.append(note("cells missing in all rows", share=share))
    still = [features[j] for j in np.flatnonzero(has_numbers[at] & ~moments.varies[at])]
    if still:
        of_all.append(note("constant in all rows", names=still))
    return replace(
        findings,
        ranking=findings.ranking.with_left_out(left_out),
        alerts=of_the_sample(findings.alerts, moving),
        notes=(sampled, *_notes_on_target(drawn, labels, findings.supervision), *of_all, *findings.notes),
    )


def of_the_sample(alerts: tuple[Alert, ...], varying: list[str]) -> tuple[Alert, ...]:
    """The alerts about a sample of rows; the features ``varying`` have at most one value there, but not in all rows."""
    changed: list[Alert] = []
    for alert in alerts:
        outside = tuple(name for name in alert.features if alert.kind == "constant" and name in varying)
        inside = tuple(name for name in alert.features if name not in outside)
        if inside or not outside:
            changed.append(replace(alert, features=inside) if outside else alert)
        if outside:
            changed.append(replace(alert, features=outside, facts=alert.facts | {"varies outside": True}))
    return tuple(changed)


def _notes_on_target(drawn: DrawnRows, labels: list[str], supervision: Supervision) -> list[Note]:
    if supervision.given_codes is not None:
        counts = _rows_of_classes(drawn, supervision)
        n_labelled = sum(counts.values())
        if not n_labelled:
            return []
        shares = [f"{value} {_percent(n / n_labelled)}" for value, n in counts.most_common()]
        if n_labelled == drawn.n_rows:
            return [note("classes of all rows", shares=shares)]
        without = _percent(1 - n_labelled / drawn.n_rows)
        return [note("some classes of all rows", shares=shares, without=without)]
    at = _places(drawn, labels)
    if not supervision.targets and len(at) and np.isfinite(drawn.moments.low[at]).all():
        means = zip(labels, drawn.moments.mean[at], strict=True)
        return [note("means of all rows", means=[f"{quoted(name)} {mean:.4g}" for name, mean in means])]
    return []


def _rows_of_classes(drawn: DrawnRows, supervision: Supervision) -> Counter[str]:
    """Number of rows of each class over all rows, by the name to show.

    A value is the class that equals it: 1, 1.0 and True are the same. Text that is no class may be one without the
    blanks around it, as the reader of a text file takes it.
    """
    classes = set(supervision.classes.tolist())
    counts: Counter[str] = Counter()
    for value, n in drawn.class_counts.items():
        known = value if value in classes else value.strip() if isinstance(value, str) else None
        if known in classes:
            counts[_shown(known)] += n
    return counts


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _places(drawn: DrawnRows, names: list[str]) -> NDArray[np.intp]:
    place = {name: j for j, name in enumerate(drawn.columns)}
    return np.array([place[name] for name in names], dtype=np.intp)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
