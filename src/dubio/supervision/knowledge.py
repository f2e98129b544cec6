"""What is known of the target, whatever kind of knowledge it is: the operations that every kind has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted
from dubio.supervision.pairs import Pairs, restrict_pairs

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Supervision(ABC):
    """Validated knowledge of the target. Made by :func:`dubio.supervision.read_supervision`.

    Each kind is a class of its own (:class:`Nothing`, :class:`Classes`, :class:`Memberships`, :class:`Numbers`). Pairs
    of rows may stand beside any kind. A new kind subclasses this one, names the fields that hold one entry per row in
    ``_by_row``, says in words what it is, and adds a reader (see ``supervision/reader.py``).

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    labelled : array (n_rows,) of bool
        The rows of which something is known.
    pairs : Pairs
        Pairs of rows that belong together, or do not.
    """

    #: Short name of the kind: what a method says that it takes.
    kind: ClassVar[str]
    #: The kind in words, after "needs".
    words: ClassVar[str]
    #: A clause that says what was given, after "but".
    given: ClassVar[str]
    #: Fields with one entry per row, besides ``labelled``.
    _by_row: ClassVar[tuple[str, ...]] = ()

    n_rows: int
    labelled: NDArray[np.bool_] = field(repr=False)
    pairs: Pairs = field(default_factory=Pairs.none, repr=False)

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def n_labelled(self) -> int:
        """Number of rows of which something is known."""
        return int(np.count_nonzero(self.labelled))

    @property
    def n_unlabelled(self) -> int:
        """Number of rows of which nothing is known."""
        return self.n_rows - self.n_labelled

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for a target that has none."""
        return 0

    @property
    def has_pairs(self) -> bool:
        """Whether any must-link or cannot-link is given."""
        return len(self.pairs) > 0

    @property
    def strata(self) -> NDArray[np.int64]:
        """Group of each row for draws that keep the shares of the groups: the class where there is one, else 0; -1
        for rows without a label."""
        return self.labelled.astype(np.int64) - 1

    def rows(self, index: NDArray[Any]) -> Self:
        """The same knowledge of some rows, in that order; a row may be taken more than once."""
        index = np.flatnonzero(index) if index.dtype.kind == "b" else index
        pairs = restrict_pairs(self.pairs, index, self.n_rows) if self.has_pairs else self.pairs
        return self._taken(index, pairs)

    def reordered(self, order: NDArray[np.int64]) -> Self:
        """What is known of row ``order[i]`` goes to row ``i``, for a permutation ``order``; pairs follow their rows."""
        return self._taken(order, self.pairs.moved(np.argsort(order)) if self.has_pairs else self.pairs)

    def shuffled(self, rng: np.random.Generator) -> Self:
        """The same knowledge about the wrong rows: see :meth:`shuffled_order`."""
        return self.reordered(self.shuffled_order(rng))

    def shuffled_order(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """A random order in which rows of which something is known change places among each other."""
        known = np.union1d(np.flatnonzero(self.labelled), self.pairs.rows)
        order = np.arange(self.n_rows)
        order[known] = known[rng.permutation(len(known))]
        return order

    def target_matrix(self, rows: NDArray[Any]) -> Floats:
        """What is to be explained in those rows, as columns: centred, with a mean square of 1."""
        target = self._target_columns(rows)
        target = target - target[0]  # exactly zero when all rows say the same
        target -= target.mean(axis=0)
        spread = np.sqrt((target**2).mean())
        return target / spread if spread > 0 else target

    def certain(self) -> Supervision:
        """The same knowledge in its plainest kind: probabilities that are all 0 or 1 are classes."""
        return self

    def without_pairs(self) -> Self:
        """The same, pairs left out."""
        return replace(self, pairs=Pairs.none())

    @abstractmethod
    def require_enough(self) -> None:
        """Raise unless there is something to learn from: two classes, two numbers."""

    def describe(self) -> str:
        """One sentence a person can check the reading of their labels against."""
        missing = f", {counted(self.n_unlabelled, 'row')} without a label" if self.n_unlabelled else ""
        return f"{counted(self.n_labelled, 'row')} with {self._described()}{missing}{self._described_pairs()}"

    def _described(self) -> str:
        """What a labelled row has, for :meth:`describe`."""
        return self.words

    def _described_pairs(self) -> str:
        if not self.has_pairs:
            return ""
        together, apart = len(self.pairs.must_link), len(self.pairs.cannot_link)
        return f"; {counted(together, 'must-link pair')} and {counted(apart, 'cannot-link pair')}"

    def _target_columns(self, rows: NDArray[Any]) -> Floats:
        """Numbers (rows, columns) that stand for the target in sums of squares."""
        raise InputError("y", f"cannot be used here: {self.given}", "use a method for this kind of target")

    def _taken(self, index: NDArray[np.int64], pairs: Pairs) -> Self:
        fields = {name: getattr(self, name)[index] for name in ("labelled", *self._by_row)}
        return replace(self, n_rows=len(index), pairs=pairs, **fields)


@dataclass(frozen=True, kw_only=True)
class Nothing(Supervision):
    """Nothing is known of the target, except pairs perhaps."""

    kind: ClassVar[str] = "none"
    words: ClassVar[str] = "no labels"
    given: ClassVar[str] = "no target is given"

    def require_enough(self) -> None:
        """Nothing is needed where nothing is given."""

    def describe(self) -> str:
        """One sentence a person can check the reading of their labels against."""
        return f"{counted(self.n_rows, 'row')}, no labels{self._described_pairs()}"


def nothing(n_rows: int) -> Nothing:
    """Nothing known of so many rows."""
    return Nothing(n_rows=n_rows, labelled=np.zeros(n_rows, dtype=bool))


def kinds_in_words(kinds: tuple[str, ...]) -> str:
    """Kinds of supervision, by their short names, in words: ``classes or class probabilities``."""
    words = {"pairs": "pairs of rows"}
    classes = list(Supervision.__subclasses__())
    while classes:
        cls = classes.pop()
        classes += cls.__subclasses__()
        if "kind" in vars(cls):
            words[cls.kind] = cls.words
    return " or ".join(words[kind] for kind in kinds)
