"""Knowledge of the target: the operations that every kind of it has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted
from dubio.table.rows import centred_within, groups_of_rows
from dubio.target.comparisons import Comparison
from dubio.target.pairs import Pairs, join_pairs, restrict_pairs

Floats = NDArray[np.float64]
Kind = TypeVar("Kind", bound="Supervision")


@dataclass(frozen=True)
class SummedColumns:
    """A target as columns of numbers around an origin, made a few rows at a time."""

    #: What was subtracted from the columns, and their weighted mean after that.
    origin: Floats
    mean: Floats
    #: The columns of a slice of the rows; 0 in rows without a label.
    of: Callable[[slice], NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class Supervision(ABC):
    """Validated knowledge of the target. Made by :func:`dubio.target.reader.read_supervision`.

    Each kind is a class of its own (:class:`Nothing`, :class:`Classes`, :class:`Memberships`, :class:`Numbers`). Any
    kind may come with pairs of rows. A new kind subclasses this class, lists in ``_by_row`` the fields with one entry
    per row, describes itself in ``words`` and ``given``, says in ``as_tested`` which classes, probabilities or numbers
    stand for it, and adds a reader (see ``target/reader.py``). Nobody outside this room asks of which kind a target
    is: what depends on it is one of the operations below.

    Attributes
    ----------
    labelled : array (n_rows,) of bool
        The rows about which something is known.
    pairs : Pairs
        Pairs of rows that belong together, and pairs that do not.
    """

    #: Short name of the kind; methods list the kinds that they take by this name.
    kind: ClassVar[str]
    #: The kind in words, written to follow "needs".
    words: ClassVar[str]
    #: A clause that says what was given, written to follow "but".
    given: ClassVar[str]
    #: For a kind that most methods cannot use: what they can be given in its place, written to follow "use" or "for".
    instead: ClassVar[str] = ""
    #: Code of the error of a method that cannot use it.
    refused: ClassVar[str] = "wrong kind"
    #: What each row holds, for those who have one way for each: "hard" (a class), "soft" (probabilities), "numbers", or
    #: "" for all other kinds, which have to be translated first (:meth:`as_tested`).
    form: ClassVar[str] = ""
    #: Fields with one entry per row besides ``labelled``, with the value of a row without a label.
    _by_row: ClassVar[dict[str, Any]] = {}
    #: Whether there is any target.
    has_target: ClassVar[bool] = True
    #: Whether "auto" has a method for it together with pairs of rows.
    goes_with_pairs: ClassVar[bool] = False
    #: Whether rows with near numbers are neighbours.
    has_neighbors: ClassVar[bool] = False
    #: How further blocks of the same rows are read, and which models learn it.
    reads: ClassVar[Literal["classes", "numbers"]] = "classes"
    #: How experts and what was given become one belief: a name in ``doubt/belief.py``. "tested": as ``as_tested()``.
    believed: ClassVar[str] = "tested"
    #: How rows are drawn in each of several samples, unless it is said: "subsample" or "labels".
    resample: ClassVar[str] = "subsample"
    #: The code of what a chart calls the target.
    drawn_as: ClassVar[str] = "target drawn"
    #: The method that "auto" chooses, and why.
    usual_method: ClassVar[tuple[str, str]] = (
        "neighbor_search",
        "it gave the best order for every kind of target in our trials",
    )
    #: Scores of single features whose mean rank is a good score; see :class:`~dubio.MeanRankScore`.
    usual_scores: ClassVar[tuple[str, ...]] = ("smooth_r2", "linear_r2")
    #: Code of the question that a page about it answers, if more than pairs is known.
    question: ClassVar[str] = "question"
    #: Why a kind without one label per row cannot be audited, and what can be.
    no_audit: ClassVar[tuple[str, str]] = ("cannot be audited: {0.given}, and an audit needs one label per row", "")
    #: For what no worst case of wrong labels is known, in a few words; "" if it is.
    no_worst: ClassVar[str] = ""
    #: What numbers were read as, if they were written as text or dates: "in days since 2024-03-31".
    as_read: ClassVar[str] = ""

    if TYPE_CHECKING:  # only some kinds have these: see ``form``

        @property
        def classes(self) -> NDArray[Any]: ...
        @property
        def memberships(self) -> Floats: ...
        @property
        def codes(self) -> NDArray[np.int64]: ...
        @property
        def values(self) -> Floats: ...
        @property
        def confirmed(self) -> NDArray[np.bool_] | None: ...
        def with_codes(self, codes: NDArray[np.int64]) -> Self: ...
        def standardized(self) -> Floats: ...

    labelled: NDArray[np.bool_] = field(repr=False)
    pairs: Pairs = field(default=Pairs.none(), repr=False)

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.labelled)

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
        """Knowledge of each target, by name, if there are several; else empty."""
        return {}

    def by_row(self) -> list[NDArray[Any]]:
        """The knowledge about each row, as arrays: they identify a row."""
        return [getattr(self, name) for name in self._by_row]

    @property
    def used(self) -> NDArray[np.bool_]:
        """The rows that a score uses: the labelled ones; without any target, all rows."""
        return self.labelled

    @property
    def has_pairs(self) -> bool:
        """Whether there is any must-link or cannot-link."""
        return bool(len(self.pairs.must_link) or len(self.pairs.cannot_link))

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
        rows = np.union1d(np.flatnonzero(self.labelled), self.pairs.rows)
        order = np.arange(self.n_rows)
        order[rows] = rows[rng.permutation(len(rows))]
        return order

    def target_matrix(self, rows: NDArray[Any]) -> Floats:
        """The target of those rows as columns of numbers: centred, with a mean square of 1."""
        target = self._target_columns(rows)
        target = target - target[0]  # exactly zero if all rows are the same
        target -= target.mean(axis=0)
        spread = np.sqrt((target**2).mean())
        return target / spread if spread > 0 else target

    def goals(self) -> list[Floats]:
        """Goals of a search, one for each target: numbers (n_rows,) or memberships (n_rows, classes)."""
        return self.as_tested().goals()

    def summed_columns(self, weights: Floats) -> SummedColumns:
        """The target as columns for sums of products over rows with these weights."""
        rows = self.target_matrix(np.flatnonzero(self.labelled)) if self.n_labelled else np.zeros((0, 1))
        columns = np.zeros((self.n_rows, rows.shape[1]))
        columns[self.labelled] = rows
        mean = weights @ columns / (float(weights.sum()) or 1.0)
        return SummedColumns(np.zeros(len(mean)), mean, columns.__getitem__)

    def column_names(self) -> NDArray[Any]:
        """Names of the columns of :meth:`summed_columns`: the classes; or only their numbers."""
        return np.array([0])

    @classmethod
    def joined_names(cls, mine: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        """Names of the columns of two blocks of rows together; raises if the blocks do not go together."""
        return mine

    @classmethod
    def n_independent(cls, weights: Floats) -> int:
        """Number of columns that say something of their own; ``weights`` are the sums of the columns."""
        return len(weights)

    @classmethod
    def attributes_of(cls, names: NDArray[Any]) -> dict[str, Any]:
        """Attributes of a fitted estimator, such as ``classes_``, from the names of the columns."""
        return {}

    def require_block(self) -> None:  # noqa: B027 (most kinds can come in blocks)
        """Raise unless the target can be read in blocks of rows."""

    def of_groups(self, groups: NDArray[np.int64], weights: Floats | None) -> Supervision:
        """Knowledge of each group of rows, in the order of the groups: that of all its rows, or their mean."""
        order, starts, _ = groups_of_rows(groups)
        if not centred_within(self.target_matrix(np.arange(self.n_rows)), groups).any():
            return self.rows(order[starts])
        return self._mean_of_groups(groups, weights)

    def at_rows(self, places: NDArray[np.int64], n_rows: int) -> Self:
        """The same knowledge at some rows of a longer table; of its other rows nothing is known."""
        longer: dict[str, Any] = {"labelled": np.isin(np.arange(n_rows), places)}
        for name, missing in self._by_row.items():
            old = getattr(self, name)
            longer[name] = np.full((n_rows, *old.shape[1:]), missing, dtype=old.dtype)
            longer[name][places] = old
        return replace(self, **longer)

    def as_kind(self, kind: type[Kind], **others: Any) -> Kind:
        """Another kind of knowledge about these rows: the fields that both kinds have, and the ``others``."""
        shared = {one.name for one in fields(kind)} - others.keys()
        return kind(**{name: getattr(self, name) for name in shared if hasattr(self, name)}, **others)

    def is_taken_by(self, kinds: tuple[str, ...]) -> bool:
        """Whether a method that takes these kinds takes this one."""
        return self.kind in kinds or (self.has_target and "any" in kinds)

    def require_taken_by(self, kinds: tuple[str, ...], name: str, *, needed: bool) -> None:
        """Raise unless the method of this name, which takes these kinds, can use it; ``needed``: it needs a target."""
        if not self.is_taken_by(kinds):
            wrong = f"cannot be used: {self.given}, and {name} needs {kinds_in_words(kinds)}"
            raise InputError("y", wrong, self.instead and f"use FeatureSelector, or {self.instead}", code=self.refused)

    def taken_by(self, kinds: tuple[str, ...]) -> Supervision:
        """The knowledge for a method that takes these kinds: without the order of classes if it takes none."""
        return self if self.is_taken_by(kinds) else self.simpler()

    def read_truth(self, values: NDArray[Any]) -> Supervision:
        """What was found in the rows that were checked, None in all others, as knowledge of this kind."""
        remedy = "checked rows go with classes, their probabilities, ordered classes, numbers and votes"
        raise InputError("checked", f"cannot be used: {self.given}", remedy)

    def with_truth(self, truth: Supervision) -> tuple[Floats, Floats]:
        """This knowledge and the truth (:meth:`read_truth`), both as (n_rows, q) columns on one scale.

        Rows without a label have the mean of the others; rows that were not checked are undefined.
        """
        return self.goals()[0], truth.goals()[0]

    def certain(self) -> Supervision:
        """The same knowledge in its simplest kind: probabilities that are all 0 or 1 become classes."""
        return self

    @property
    def one_per_row(self) -> NDArray[Any] | None:
        """The code of the class of each row (-1: no label), or its number (NaN), if tests need no more than that."""
        return None

    @abstractmethod
    def as_tested(self) -> Supervision:
        """The same knowledge as the tests of relevance see it: classes, probabilities or numbers."""

    def simpler(self) -> Supervision:
        """The same knowledge without what only some methods understand, such as an order of the classes."""
        return self

    def on_normal_scores(self) -> Supervision:
        """The same knowledge with numbers replaced by normal scores."""
        return self

    def comparisons(self, weights: Floats) -> dict[str, Comparison]:
        """Which of two rows is higher, by the name of the target; "" if there is only one. Rows have weights."""
        return self.as_tested().comparisons(weights)

    def likeliest(self) -> Supervision | None:
        """The likeliest class of every labelled row; None if there are no classes."""
        return None

    @property
    def given_codes(self) -> NDArray[np.int64] | None:
        """The codes of the classes if each labelled row has one, which may be wrong; else None."""
        return None

    @property
    def row_numbers(self) -> Floats | None:
        """One number per row that says all that is known: its value, or the code of its class; None if none can."""
        return None

    def binned(self, n_bins: int) -> NDArray[np.int64]:
        """The stratum of each row, numbers in bins with equally many rows; -1 for rows without a label."""
        return self.strata

    @property
    def can_be_judged(self) -> bool:
        """Whether there are two classes with two rows or more, so that models can be trained and judged on them."""
        return False

    @property
    def lonely_classes(self) -> list[Any]:
        """Classes that only one row has: nothing can be learnt about them."""
        return []

    def grades(self) -> tuple[Floats, NDArray[np.int64]] | None:
        """Classes that are numbers without a declared order: the numbers in order, and the place of each row's."""
        return None

    def highest_error_rate(self, flips: str) -> float:
        """The share of errors at which nothing is left to know; ``flips`` says what wrong labels are."""
        return 1.0

    def with_errors(self, rate: float, flips: str, rng: np.random.Generator) -> Supervision:
        """The same knowledge with errors at random in a share ``rate`` of the labelled rows."""
        found = f"has no labels that could be wrong: {self.given}"
        raise InputError("y", found, "give classes, probabilities or numbers")

    def drawn(self, rng: np.random.Generator) -> Supervision:
        """A class for every labelled row, drawn from its probabilities."""
        raise InputError("y", f"holds no probabilities to draw from: {self.given}", "draw rows")

    def as_drawn(self) -> tuple[Floats, list[str], NDArray[np.int64]]:
        """Content of a chart: numbers (n_rows,) without names, or memberships, names of classes and their order."""
        return self.as_tested().as_drawn()

    @property
    def codes_of_pairs(self) -> NDArray[np.int64] | None:
        """Class of each row as pairs use it, -1 if unknown; None if nothing but pairs is known."""
        if self.given_codes is None and self.n_labelled:
            raise InputError("y", f"cannot be used with pairs: {self.given}, and pairs need one class per row")
        return self.given_codes

    def all_pairs(self, *, closure: bool = True) -> Pairs:
        """All pairs: those given, those between labelled rows, and (``closure``) those that follow from both."""
        return join_pairs(self.pairs, self.n_rows, self.codes_of_pairs, closure)

    def require_form(self, *forms: str, remedy: str, cannot: str = "cannot be used") -> None:
        """Raise unless each row holds what is needed; see :attr:`form`."""
        if self.form not in forms:
            raise InputError("y", f"{cannot}: {self.given}", remedy)

    def require_weights(self, weights: Floats) -> None:
        """Raise if the weights of the rows leave nothing to learn from."""
        if self.has_target and not weights[self.labelled].any():
            raise InputError("sample_weight", "is zero on every labelled row", "give some of them a positive weight")

    def require_given(self) -> None:
        """Raise unless some columns can be given: what the others add to them is asked about a target."""
        if self.has_pairs or not self.has_target:
            found = "cannot be used with pairs of rows" if self.has_pairs else "needs a target"
            remedy, code = ("leave it out", "") if self.has_pairs else ("give y, or leave it out", "no target")
            raise InputError("given", found, remedy, code=code)

    @abstractmethod
    def require_enough(self) -> None:
        """Raise unless there is something to learn from: two classes, two numbers."""

    def require_two_rows_per_class(self) -> None:  # noqa: B027 (most kinds have no classes)
        """Raise if a class has only one row: then there is no distance within the class to measure."""

    def require_two_values(self, remedy: str) -> None:
        """Raise if all numbers are the same."""
        values = np.empty(0) if self.row_numbers is None else self.row_numbers[self.labelled]
        if len(values) and (values == values[0]).all():
            rows = counted(len(values), "labelled row")
            raise InputError("y", f"has the same value, {values[0]:g}, in all {rows}", remedy)

    def describe(self) -> str:
        """One sentence a person can check the reading of their labels against."""
        missing = f", {counted(self.n_unlabelled, 'row')} without a label" if self.n_unlabelled else ""
        return f"{counted(self.n_labelled, 'row')} with {self._described()}{missing}{self._described_pairs()}"

    def counts(self) -> list[tuple[str, str]]:
        """How the labels were read: names of counts, and the counts as text."""
        counts = {"rows": self.n_rows, **self._counts_of_labels()}
        if self.has_target:
            counts["rows without a label"] = self.n_unlabelled
        pairs = {"must-link pairs": len(self.pairs.must_link), "cannot-link pairs": len(self.pairs.cannot_link)}
        before, after = ([(name, f"{n:,}") for name, n in some.items()] for some in (counts, pairs))
        return [*before, *self._counts_of_classes(), *(after if self.has_pairs else [])]

    def described_among(self, name: str) -> str:
        """The same in brackets after its name, if it is one of several targets."""
        rows = f", known in {self.n_labelled}" if self.n_unlabelled else ""
        return f"{name} ({self._in_short()}{rows})"

    def _described(self) -> str:
        """Content of each labelled row, for :meth:`describe`."""
        return self.words

    def _in_short(self) -> str:
        """Content of each labelled row, for :meth:`described_among`."""
        return self.words

    def _counts_of_labels(self) -> dict[str, int]:
        return {f"rows with {self.words}": self.n_labelled}

    def _counts_of_classes(self) -> list[tuple[str, str]]:
        return []

    def _mean_of_groups(self, groups: NDArray[np.int64], weights: Floats | None) -> Supervision:
        raise NotImplementedError

    def _described_pairs(self) -> str:
        if not self.has_pairs:
            return ""
        together, apart = len(self.pairs.must_link), len(self.pairs.cannot_link)
        return f"; {counted(together, 'must-link pair')} and {counted(apart, 'cannot-link pair')}"

    def _target_columns(self, rows: NDArray[Any]) -> Floats:
        """Numbers (rows, columns) that stand for the target in sums of squares."""
        return self.as_tested()._target_columns(rows)

    def _taken(self, index: NDArray[np.int64], pairs: Pairs) -> Self:
        return replace(self, pairs=pairs, **{name: getattr(self, name)[index] for name in ("labelled", *self._by_row)})


@dataclass(frozen=True, kw_only=True)
class Nothing(Supervision):
    """Nothing is known of the target, except perhaps pairs."""

    kind: ClassVar[str] = "none"
    words: ClassVar[str] = "no labels"
    given: ClassVar[str] = "no target is given"
    refused: ClassVar[str] = "no target"
    has_target: ClassVar[bool] = False
    question: ClassVar[str] = "question of groups"
    goes_with_pairs: ClassVar[bool] = True
    usual_method: ClassVar = ("laplacian", "nothing is known of the target, and the Laplacian score needs none")

    @property
    def used(self) -> NDArray[np.bool_]:
        return np.ones(self.n_rows, dtype=bool)

    def as_tested(self) -> Supervision:
        return self

    def require_taken_by(self, kinds: tuple[str, ...], name: str, *, needed: bool) -> None:
        """Raise if the method of this name needs a target."""
        if needed:  # scikit-learn's checks ask for these words
            missing = f"is missing: {name} requires y to be passed, but the target y is None"
            raise InputError("y", missing, "without labels, use LaplacianScore", code=self.refused)

    def require_enough(self) -> None:
        """Never raises: no labels are needed."""

    def goals(self) -> list[Floats]:
        return []

    def comparisons(self, weights: Floats) -> dict[str, Comparison]:
        return {}

    def as_drawn(self) -> tuple[Floats, list[str], NDArray[np.int64]]:
        return np.ones((self.n_rows, 1)), [], np.zeros(1, dtype=np.int64)

    def _counts_of_labels(self) -> dict[str, int]:
        return {}

    def _target_columns(self, rows: NDArray[Any]) -> Floats:
        return np.zeros((self.n_rows, 1))[rows]

    def describe(self) -> str:
        return f"{counted(self.n_rows, 'row')}, no labels{self._described_pairs()}"


def mean_if_missing(values: Floats, labelled: NDArray[np.bool_]) -> Floats:
    """The same numbers or memberships, with the mean of the labelled rows in all others."""
    if labelled.all() or not labelled.any():
        return values
    rows = labelled if values.ndim == 1 else labelled[:, None]
    return np.asarray(np.where(rows, values, values[labelled].mean(axis=0)))


def nothing(n_rows: int) -> Nothing:
    """No knowledge about any of ``n_rows`` rows."""
    return Nothing(labelled=np.zeros(n_rows, dtype=bool))


def kinds_in_words(kinds: tuple[str, ...]) -> str:
    """Translate short names of kinds into words: ``classes or class probabilities``."""
    words, classes = {"pairs": "pairs of rows"}, Supervision.__subclasses__()
    for cls in classes:
        classes += cls.__subclasses__()
        words |= {cls.kind: cls.words} if "kind" in vars(cls) else {}
    return " or ".join(words[kind] for kind in kinds if kind != "any")
