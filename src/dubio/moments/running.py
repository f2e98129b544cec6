"""Moments that grow block by block, in memory and in Dask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted
from dubio.moments.class_moments import ClassMoments
from dubio.moments.second_moments import SecondMoments
from dubio.problem import read_problem
from dubio.table.matrix import block_lengths, is_dask, row_blocks
from dubio.target.classes import refuse_one_class
from dubio.target.knowledge import Supervision
from dubio.target.reader import Target

#: Bytes that the sums of all classes may take. If they need more, the target is probably not made of classes.
_MOST_BYTES = 2**30


#: Sums over rows that can be merged.
Moments = ClassMoments | SecondMoments
M = TypeVar("M", bound=Moments)


@dataclass(frozen=True)
class RunningMoments(Generic[M]):
    """Moments with the kind of their target, the names of its columns, and the number of rows they come from.

    :meth:`merge` is exact and, up to rounding, gives the same result in any order. Classes are kept sorted (for soft
    labels: in the order of their columns), so that the order of blocks makes no difference.
    """

    kind: type[Supervision]
    names: NDArray[Any]
    moments: M
    n_rows: int
    n_labelled: int

    @classmethod
    def of_block(cls, target: Supervision, moments: M) -> RunningMoments[M]:
        """Moments of one validated block of rows."""
        target.require_block()
        return cls(type(target), target.column_names(), moments, target.n_rows, target.n_labelled)

    def merge(self, other: RunningMoments[M]) -> RunningMoments[M]:
        """Both sets of rows together."""
        n_rows, n_labelled = self.n_rows + other.n_rows, self.n_labelled + other.n_labelled
        if self.kind.reads != other.kind.reads:
            if self.n_labelled and other.n_labelled:
                found = "looks like numbers in some blocks and like classes in others"
                raise InputError("y", found, "say what it holds: target='numbers' or target='classes'")
            return replace(self if self.n_labelled else other, n_rows=n_rows)
        if self.kind is not other.kind:
            found = "holds class probabilities in some blocks and one class per row in others"
            raise InputError("y", found, "use one form")
        names = self.kind.joined_names(self.names, other.names)
        if len(names) > len(self.names) and len(names) * self.moments.bytes_per_class > _MOST_BYTES:
            found = f"has {len(names)} distinct values so far, too many for classes"
            raise InputError("y", found, "is it a number or an identifier?")
        place_of = {name: place for place, name in enumerate(names.tolist())}

        def placed(part: RunningMoments[M]) -> Any:
            places = np.asarray([place_of[name] for name in part.names.tolist()], dtype=np.intp)
            return part.moments.place(places, len(names))

        return RunningMoments(self.kind, names, placed(self).merge(placed(other)), n_rows, n_labelled)

    def require_two_classes(self) -> None:
        """Raise unless at least two classes have rows."""
        refuse_one_class(self.names, self.moments.class_weight > 0, self.n_rows, self.n_labelled)

    @property
    def reads(self) -> Target | None:
        """How further blocks of ``y`` are read; None if no row has a label so far."""
        return self.kind.reads if self.n_labelled else None

    @property
    def independent_columns(self) -> int:
        """Number of columns of the target that say something of their own: of classes, one less than have rows."""
        return self.kind.n_independent(self.moments.class_weight)

    @property
    def fitted_attributes(self) -> dict[str, Any]:
        """Attributes of an estimator that was fitted on these rows."""
        n_labelled = self.n_labelled
        counts = {"n_labelled_": n_labelled, "n_unlabelled_": self.n_rows - n_labelled}
        return {**self.kind.attributes_of(self.names), **counts}

    @property
    def has_two_classes(self) -> bool:
        return int(np.count_nonzero(self.moments.class_weight)) >= 2


def merge_all(parts: Sequence[RunningMoments[M] | None]) -> RunningMoments[M] | None:
    """Merge neighbours with neighbours, level by level: a tree has smaller rounding errors than a chain.

    None is a block without rows.
    """
    level = [part for part in parts if part is not None]
    while len(level) > 1:
        level = [a.merge(b) for a, b in zip(level[::2], level[1::2], strict=False)] + level[len(level) & ~1 :]
    return level[0] if level else None


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
        found = "is missing: this score requires y to be passed, but the target y is None"
        raise InputError("y", found, code="no target")
    blocks, lengths = row_blocks(X)
    targets, lengths = _row_blocks_like(y, "y", blocks, lengths)
    weights, lengths = _row_blocks_like(sample_weight, "sample_weight", blocks, lengths)
    starts = [None] * len(blocks) if lengths is None else [0, *np.cumsum(lengths).tolist()]
    task = delayed(_block_moments, pure=False)
    parts = [
        task(x, labels, weight, kind, number, starts[number], target=target, missing_label=missing_label)
        for number, (x, labels, weight) in enumerate(zip(blocks, targets, weights, strict=True))
    ]
    merge = delayed(merge_all, pure=False)
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
            _require_as_many(values.shape[0], sum(lengths), name)
            values = values.rechunk({0: tuple(lengths)})
        found, _ = row_blocks(values)
        if len(found) != len(blocks):
            differ = f"has {counted(len(found), 'block')} of rows and X has {len(blocks)}"
            raise InputError(name, differ, "give both the same partitions")
        return found, lengths
    lengths = block_lengths(blocks) if lengths is None else lengths
    _require_as_many(len(values), sum(lengths), name)
    ends = np.cumsum(lengths).tolist()
    take = getattr(values, "iloc", values if hasattr(values, "shape") else np.asarray(values))
    return [take[end - rows : end] for end, rows in zip(ends, lengths, strict=True)], lengths


def _require_as_many(n_rows: int, n_in_X: int, name: str) -> None:
    if n_rows != n_in_X:
        raise InputError(name, f"has {counted(n_rows, 'row')} and X has {n_in_X}", "they must be the same rows")


def _block_moments(
    x: Any, y: Any, weight: Any, kind: type[M], number: int, first_row: int | None, **reading: Any
) -> RunningMoments[M] | None:
    if x.shape[0] == 0:
        return None
    counted_in = f"rows counted within block {number}" if first_row is None else f"in block {number}"
    reading |= {"sample_weight": weight, "accept_sparse": True, "check_values": False, "is_block": True}
    try:
        problem = read_problem(x, y, **reading)
        # One thread: the scheduler already runs as many blocks at once as there are cores.
        moments: Any = kind.of_problem(problem, first_row=first_row or 0, n_threads=1)
    except InputError as error:
        raise error.at(counted_in) from error
    except ValueError as error:
        raise ValueError(f"{error} ({counted_in})") from error
    return RunningMoments.of_block(problem.supervision, moments)
