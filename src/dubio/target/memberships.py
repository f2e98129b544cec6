"""Supervision with class probabilities for each labelled row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, name_row
from dubio.kernels.memberships import INFINITE, NEGATIVE, PARTLY_NAN, WRONG_SUM, read_membership_rows
from dubio.kernels.threads import chunks, default_threads, run_chunks
from dubio.target.classes import Classes, OfClasses
from dubio.target.knowledge import Floats, Supervision
from dubio.target.label_values import usual_floats

#: How far the sum of a row of probabilities may be from 1.
SUM_TOLERANCE = 1e-6
_TOLERANCES = {"float32": 10 * SUM_TOLERANCE, "float16": 1000 * SUM_TOLERANCE}


@dataclass(frozen=True, kw_only=True)
class Memberships(OfClasses):
    """A probability for each class of each labelled row.

    Attributes
    ----------
    memberships : array (n_rows, n_classes)
        A row sums to 1; a row without a label is all zero.
    """

    kind: ClassVar[str] = "soft"
    words: ClassVar[str] = "class probabilities"
    given: ClassVar[str] = "the target holds class probabilities"
    resample: ClassVar[str] = "labels"
    _by_row: ClassVar[tuple[str, ...]] = ("memberships",)

    memberships: Floats = field(repr=False)

    def certain(self) -> Supervision:
        """Turn probabilities that are all 0 or 1 into classes."""
        if not np.isin(self.memberships, (0.0, 1.0)).all():
            return self
        return self.likeliest()

    def drawn(self, rng: np.random.Generator) -> Classes:
        """A class for every labelled row, drawn from its probabilities."""
        codes = (rng.random(self.n_rows)[:, None] > self.memberships.cumsum(axis=1)).sum(axis=1)
        codes = np.minimum(codes, self.n_classes - 1)  # a sum may be slightly below 1
        return self._classes(np.where(self.labelled, codes, -1).astype(np.int64))

    def likeliest(self) -> Classes:
        """The most probable class of every labelled row."""
        return self._classes(np.where(self.labelled, self.memberships.argmax(axis=1), -1).astype(np.int64))

    def _classes(self, codes: NDArray[np.int64]) -> Classes:
        found = Classes(n_rows=self.n_rows, labelled=codes >= 0, classes=self.classes, codes=codes, pairs=self.pairs)
        return found

    def _described(self) -> str:
        return f"class probabilities ({counted(self.n_classes, 'class', 'classes')})"


@dataclass(frozen=True)
class SoftLabels:
    """Memberships with the names of their classes. Pass them as ``y`` to any method that accepts soft labels.

    Attributes
    ----------
    memberships : array (n, classes)
        A row sums to 1; a row of NaN is unlabelled.
    classes : array (classes,)
        Name of each column.
    confusions : array (annotators, classes, classes) or None
        With Dawid-Skene: ``confusions[a, k, l]`` is the probability that annotator ``a`` says ``l`` when ``k`` is true.
    priors : array (classes,) or None
        With Dawid-Skene: the share of each class.
    n_iter : int
        Iterations of Dawid-Skene (0 otherwise).
    """

    memberships: Floats
    classes: NDArray[Any]
    confusions: Floats | None = None
    priors: Floats | None = None
    n_iter: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and classes."""
        return self.memberships.shape

    def __len__(self) -> int:
        return len(self.memberships)

    def __iter__(self) -> Iterator[Floats]:
        """The memberships, row by row."""
        return iter(self.memberships)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = np.asarray(self.memberships, dtype=dtype)
        return array.copy() if copy else array

    def __getitem__(self, rows: Any) -> SoftLabels:
        """The labels of some of the rows (a slice, a mask or indices)."""
        if isinstance(rows, tuple):  # scikit-learn's splitters index as y[rows, ...]
            if len(rows) != 2 or rows[1] not in (Ellipsis, slice(None)):
                raise TypeError("SoftLabels can only be indexed by rows; the array itself is .memberships")
            rows = rows[0]
        chosen = self.memberships[rows]
        if chosen.ndim != 2:
            raise TypeError("SoftLabels are indexed by rows: give a slice, a mask or an array of row indices")
        return SoftLabels(chosen, self.classes, self.confusions, self.priors, self.n_iter)

    @property
    def most_likely(self) -> NDArray[Any]:
        """The most probable class of each row (None where unlabelled)."""
        labelled = ~np.isnan(self.memberships).any(axis=1)
        best = np.full(len(self), None, dtype=object)
        best[labelled] = self.classes[self.memberships[labelled].argmax(axis=1)]
        return best


def read_memberships(table: NDArray[Any], names: NDArray[Any] | None) -> Memberships:
    """Class probabilities from a table with one column per class; a row of NaN is unlabelled."""
    if table.dtype.kind == "c":  # NumPy would drop a part of them
        raise InputError("y", "holds complex numbers", "give real numbers")
    try:
        raw = np.ascontiguousarray(usual_floats(table))
    except (TypeError, ValueError) as error:
        raise InputError(
            "y",
            f"has shape {table.shape} and holds values that are not numbers. A 2-D y means class probabilities",
            "if it has one column per annotator, use soft_labels(votes); if each column is a target of its own, "
            "several_targets(y)",
        ) from error
    if raw.shape[1] == 0:
        raise InputError(
            "y", f"has shape {raw.shape}: no class", "give one column per class, or one label per row (1-D)"
        )
    classes = np.arange(raw.shape[1]) if names is None else np.asarray(names)
    n = len(raw)
    memberships = np.empty(raw.shape)
    labelled = np.empty(n, dtype=bool)
    tolerance = _TOLERANCES.get(table.dtype.name, SUM_TOLERANCE)

    def work(start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        count, first = np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)
        read_membership_rows(raw, start, stop, tolerance, memberships, labelled, count, first)
        return count, first

    parts = run_chunks(work, chunks(n, 65_536), default_threads())
    counts = np.sum([count for count, _ in parts], axis=0)
    for problem in (PARTLY_NAN, NEGATIVE, INFINITE, WRONG_SUM):
        if counts[problem]:
            row = next(int(first[problem]) for count, first in parts if count[problem])
            _raise_bad_row(raw, row, int(counts[problem]), problem, classes)
    return Memberships(n_rows=n, labelled=labelled, classes=classes, memberships=memberships)


def _raise_bad_row(raw: NDArray[Any], row: int, count: int, problem: int, classes: NDArray[Any]) -> NoReturn:
    others = f"({counted(count, 'such row')})"
    if problem == PARTLY_NAN:
        raise InputError(
            "y",
            f"lacks some but not all class probabilities of {name_row(row)} {others}",
            "a row of probabilities must be complete, or all NaN (unlabelled)",
            code="partly missing",
        )
    if problem == NEGATIVE:
        column = int(np.flatnonzero(raw[row] < 0)[0])
        raise InputError(
            "y",
            f"has a negative probability, {raw[row, column]:g}, in {name_row(row)}, class {classes.tolist()[column]!r} "
            f"{others}",
            "probabilities must lie in [0, 1]",
        )
    if problem == INFINITE:
        raise InputError("y", f"contains infinity, first in {name_row(row)} {others}")
    raise InputError(
        "y",
        f"has probabilities that sum to {raw[row].sum():.6g}, not to 1, in {name_row(row)} {others}",
        "divide each row by its sum, or pass soft_labels(y, normalize=True). If each column is a target of its own, "
        "pass several_targets(y)",
        code="sum",
    )
