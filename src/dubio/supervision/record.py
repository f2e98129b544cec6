"""What is known of the target, as one small immutable record that every method takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["none", "hard", "soft", "numbers"]


def _no_pairs() -> NDArray[np.int64]:
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class Supervision:
    """Validated knowledge of the target. Made by :func:`dubio.supervision.read_supervision`.

    ``kind`` says which of the fields below hold something: "none" (nothing is known), "hard" (one class a row),
    "soft" (a probability for each class), "numbers" (a numeric target). Pairs may stand beside any kind.
    Unlabelled rows have ``labelled[i] = False``, code -1, a zero row of memberships, and the value NaN.
    """

    kind: Kind
    n_rows: int
    labelled: NDArray[np.bool_]
    classes: NDArray[Any] | None = None
    codes: NDArray[np.int64] | None = None
    memberships: NDArray[np.float64] | None = None
    values: NDArray[np.float64] | None = None
    must_link: NDArray[np.int64] = field(default_factory=_no_pairs)
    cannot_link: NDArray[np.int64] = field(default_factory=_no_pairs)
    must_link_weights: NDArray[np.float64] | None = None
    cannot_link_weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def n_labelled(self) -> int:
        """Number of rows of which something is known."""
        return int(np.count_nonzero(self.labelled))

    @property
    def n_classes(self) -> int:
        """Number of classes (0 for a numeric or unknown target)."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def has_pairs(self) -> bool:
        """Whether any must-link or cannot-link is given."""
        return len(self.must_link) + len(self.cannot_link) > 0

    def certain_as_hard(self) -> Supervision:
        """Probabilities that are all 0 or 1 as the classes they are; anything else as it is."""
        if self.kind != "soft" or self.memberships is None or not np.isin(self.memberships, (0.0, 1.0)).all():
            return self
        codes = np.where(self.labelled, self.memberships.argmax(axis=1), -1)
        return replace(self, kind="hard", codes=codes.astype(np.int64))

    def describe(self) -> str:
        """One sentence a person can check the reading of their labels against."""
        missing = self.n_rows - self.n_labelled
        tail = f", {missing} row(s) without a label" if missing and self.kind != "none" else ""
        pairs = (
            f"; {len(self.must_link)} must-link and {len(self.cannot_link)} cannot-link pair(s)"
            if self.has_pairs
            else ""
        )
        if self.kind == "none":
            return f"{self.n_rows} rows, no labels{pairs}"
        if self.kind == "numbers":
            return f"{self.n_labelled} rows with a numeric target{tail}{pairs}"
        word = "one class each" if self.kind == "hard" else "class probabilities"
        return f"{self.n_labelled} rows with {word} ({self.n_classes} classes){tail}{pairs}"


@dataclass(frozen=True)
class SoftLabels:
    """Memberships with the names of their classes; pass it as ``y`` to any method that takes soft labels.

    Attributes
    ----------
    memberships : array (n, classes)
        Rows sum to 1; a row of NaN is unlabelled.
    classes : array (classes,)
        Name of each column.
    confusions : array (experts, classes, classes) or None
        With Dawid-Skene: ``confusions[e, k, l]`` is the probability that expert ``e`` says ``l`` when ``k`` is true.
    priors : array (classes,) or None
        With Dawid-Skene: the share of each class.
    n_iter : int
        Iterations of Dawid-Skene (0 otherwise).
    """

    memberships: NDArray[np.float64]
    classes: NDArray[Any]
    confusions: NDArray[np.float64] | None = None
    priors: NDArray[np.float64] | None = None
    n_iter: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.memberships.shape

    def __len__(self) -> int:
        return len(self.memberships)

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        """The memberships of one row after the other."""
        return iter(self.memberships)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = np.asarray(self.memberships, dtype=dtype)
        return array.copy() if copy else array

    def __getitem__(self, rows: Any) -> SoftLabels:
        """The same labels for some of the rows (a slice, a mask or indices)."""
        if isinstance(rows, tuple):  # scikit-learn's splitters index as y[rows, ...]
            if len(rows) != 2 or rows[1] not in (Ellipsis, slice(None)):
                raise TypeError("SoftLabels are indexed by rows alone; the array itself is .memberships")
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
