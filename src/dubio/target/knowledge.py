"""What is known of the target: the operations that every kind of knowledge has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted
from dubio.target.pairs import Pairs, restrict_pairs

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Supervision(ABC):
    """Validated knowledge of the target. Made by :func:`dubio.target.reader.read_supervision`.

    Each kind is a class of its own (:class:`Nothing`, :class:`Classes`, :class:`Memberships`, :class:`Numbers`). Any
    kind may come with pairs of rows. A new kind subclasses this class, lists in ``_by_row`` the fields with one entry
    per row, describes itself in ``words`` and ``given``, and adds a reader (see ``supervision/reader.py``).

    Attributes
    ----------
    n_rows : int
        Number of rows of the table.
    labelled : array (n_rows,) of bool
        The rows about which something is known.
    pairs : Pairs
        Pairs of rows that belong together, and pairs that do not.
    """

    #: Short name of the kind; methods list the kinds they accept by this name.
    kind: ClassVar[str]
    #: The kind in words, written to follow "needs".
    words: ClassVar[str]
    #: A clause that says what was given, written to follow "but".
    given: ClassVar[str]
    #: Fields with one entry per row, besides ``labelled``.
    _by_row: ClassVar[tuple[str, ...]] = ()
    #: Whether there is any target.
    has_target: ClassVar[bool] = True
    #: Whether it has ``classes`` and ``memberships``, sure or not.
    has_classes: ClassVar[bool] = False
    #: Whether each labelled row has one class, which may be wrong: ``codes``.
    has_codes: ClassVar[bool] = False
    #: Whether its classes have an order.
    is_ordered: ClassVar[bool] = False
    #: Whether each labelled row has one number: ``values``.
    is_numeric: ClassVar[bool] = False
    #: Whether rows with near numbers are neighbours.
    has_neighbors: ClassVar[bool] = False
    #: How rows are drawn in each of several samples, unless it is said: "subsample" or "labels".
    resample: ClassVar[str] = "subsample"

    if TYPE_CHECKING:  # only some kinds have these: see has_classes, has_codes, is_numeric

        @property
        def classes(self) -> NDArray[Any]:
            """Names of the classes."""

        @property
        def memberships(self) -> Floats:
            """(n_rows, n_classes): a row sums to 1, or to 0 if nothing is known about it."""

        @property
        def codes(self) -> NDArray[np.int64]:
            """Position of the class of each row; -1 for a row without a label."""

        @property
        def values(self) -> Floats:
            """The number of each row; NaN for a row without a number."""

    n_rows: int
    labelled: NDArray[np.bool_] = field(repr=False)
    pairs: Pairs = field(default_factory=Pairs.none, repr=False)

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def n_labelled(self) -> int:
        """Number of rows about which something is known."""
        return int(np.count_nonzero(self.labelled))

    @property
    def n_unlabelled(self) -> int:
        """Number of rows about which nothing is known."""
        return self.n_rows - self.n_labelled

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 if the target has no classes."""
        return 0

    @property
    def targets(self) -> dict[str, Supervision]:
        """What is known of each target, by name, if there are several; else empty."""
        return {}

    @property
    def has_pairs(self) -> bool:
        """Whether there is any must-link or cannot-link."""
        return len(self.pairs) > 0

    @property
    def strata(self) -> NDArray[np.int64]:
        """The stratum of each row for random draws: its class, else 0; -1 for rows without a label."""
        return self.labelled.astype(np.int64) - 1

    def rows(self, index: NDArray[Any]) -> Self:
        """The knowledge about some rows, in the given order; a row may occur more than once."""
        index = np.flatnonzero(index) if index.dtype.kind == "b" else index
        pairs = restrict_pairs(self.pairs, index, self.n_rows) if self.has_pairs else self.pairs
        return self._taken(index, pairs)

    def reordered(self, order: NDArray[np.int64]) -> Self:
        """Move the knowledge about row ``order[i]`` to row ``i``; ``order`` is a permutation, pairs follow the rows."""
        return self._taken(order, self.pairs.moved(np.argsort(order)) if self.has_pairs else self.pairs)

    def shuffled(self, rng: np.random.Generator) -> Self:
        """The same knowledge, moved to random other rows: see :meth:`shuffled_order`."""
        return self.reordered(self.shuffled_order(rng))

    def shuffled_order(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """A random order in which only the rows about which something is known change places."""
        known = np.union1d(np.flatnonzero(self.labelled), self.pairs.rows)
        order = np.arange(self.n_rows)
        order[known] = known[rng.permutation(len(known))]
        return order

    def target_matrix(self, rows: NDArray[Any]) -> Floats:
        """The target of those rows as columns of numbers: centred, with a mean square of 1."""
        target = self._target_columns(rows)
        target = target - target[0]  # exactly zero if all rows are the same
        target -= target.mean(axis=0)
        spread = np.sqrt((target**2).mean())
        return target / spread if spread > 0 else target

    def certain(self) -> Supervision:
        """The same knowledge in its simplest kind: probabilities that are all 0 or 1 become classes."""
        return self

    def as_tested(self) -> Supervision:
        """The same knowledge as the tests of relevance see it: classes, probabilities or numbers. Most kinds are."""
        return self

    def simpler(self) -> Supervision:
        """The same knowledge without what only some methods understand, such as an order of the classes."""
        return self

    @abstractmethod
    def require_enough(self) -> None:
        """Raise unless there is something to learn from: two classes, two numbers."""

    def describe(self) -> str:
        """One sentence a person can check the reading of their labels against."""
        missing = f", {counted(self.n_unlabelled, 'row')} without a label" if self.n_unlabelled else ""
        return f"{counted(self.n_labelled, 'row')} with {self._described()}{missing}{self._described_pairs()}"

    def _described(self) -> str:
        """What each labelled row has, for :meth:`describe`."""
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
    """Nothing is known of the target, except perhaps pairs."""

    kind: ClassVar[str] = "none"
    words: ClassVar[str] = "no labels"
    given: ClassVar[str] = "no target is given"
    has_target: ClassVar[bool] = False

    def require_enough(self) -> None:
        """Never raises: no labels are needed."""

    def describe(self) -> str:
        """One sentence a person can check the reading of their labels against."""
        return f"{counted(self.n_rows, 'row')}, no labels{self._described_pairs()}"


def nothing(n_rows: int) -> Nothing:
    """No knowledge about any of ``n_rows`` rows."""
    return Nothing(n_rows=n_rows, labelled=np.zeros(n_rows, dtype=bool))


def kinds_in_words(kinds: tuple[str, ...]) -> str:
    """Translate short names of kinds into words: ``classes or class probabilities``."""
    words = {"pairs": "pairs of rows"}
    classes = list(Supervision.__subclasses__())
    while classes:
        cls = classes.pop()
        classes += cls.__subclasses__()
        if "kind" in vars(cls):
            words[cls.kind] = cls.words
    return " or ".join(words[kind] for kind in kinds)
