"""Knowledge of the target from several people: votes for classes, ordered classes, or numbers."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted
from dubio.target.annotators import ClassConsensus, NumberConsensus, Votes, agree_on_classes, agree_on_numbers
from dubio.target.classes import Classes, Memberships, OfClasses
from dubio.target.knowledge import Floats, Supervision
from dubio.target.label_values import GivenByRow
from dubio.target.numbers import Numbers
from dubio.target.ordered import OrderedMemberships, in_words

Codes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Voted(Supervision, ABC):
    """Votes of several annotators. What they say together is computed from the rows at hand, when it is first needed.

    Tests of relevance see the consensus of the votes alone: with opinions of models in it, a column would be tested
    against itself. Searches believe the consensus of votes and models (``believed``).
    """

    believed: ClassVar[str] = "votes"
    no_worst: ClassVar[str] = "for votes"

    #: Names of the annotators, also of those without a vote in these rows.
    annotators: tuple[str, ...]
    #: The place of each vote's annotator, row by row; -1 where a row has fewer votes than others.
    who: Codes = field(repr=False)
    #: How much each vote counts, row by row. An answer in probabilities is several votes of one annotator.
    weight: Floats = field(repr=False)

    @property
    def votes(self) -> Votes:
        """All votes in long form."""
        at = self.who >= 0
        some = None if (self.weight[at] == 1.0).all() else self.weight[at]
        return Votes(np.nonzero(at)[0], self.who[at], self.values_said[at], self.n_rows, len(self.annotators), some)

    @cached_property
    def answers(self) -> NDArray[np.bool_]:
        """Row by row, the vote of each annotator that counts most: one per answer."""
        found = self.who >= 0
        for row in np.flatnonzero([len(set(who[who >= 0])) < (who >= 0).sum() for who in self.who]).tolist():
            best: dict[int, int] = {}
            for place in np.flatnonzero(found[row]).tolist():
                other = best.setdefault(int(self.who[row, place]), place)
                if self.weight[row, place] > self.weight[row, other]:
                    best[int(self.who[row, place])] = place
            found[row] = np.isin(np.arange(found.shape[1]), list(best.values()))
        return found

    @property
    def values_said(self) -> NDArray[Any]:
        """The votes, row by row."""
        raise NotImplementedError

    @cached_property
    def consensus(self) -> Supervision:
        """What the votes alone say of each row: class probabilities or numbers."""
        raise NotImplementedError

    @property
    def truth(self) -> NDArray[Any] | None:
        """What is known to be true, row by row, if anything is."""
        raise NotImplementedError

    def knowing(self, truth: Supervision) -> Self:
        """The same votes, and what is also known to be true of some rows (:meth:`read_truth`)."""
        raise NotImplementedError

    def as_tested(self) -> Supervision:
        return self.consensus.as_tested()

    def simpler(self) -> Supervision:
        return self.consensus

    def likeliest(self) -> Supervision | None:
        return self.consensus.likeliest()

    @property
    def strata(self) -> Codes:
        return (self.likeliest() or self.consensus).strata

    def binned(self, n_bins: int) -> Codes:
        return (self.likeliest() or self.consensus).binned(n_bins)

    @property
    def can_be_judged(self) -> bool:
        likeliest = self.likeliest()
        return likeliest is not None and likeliest.can_be_judged

    def read_truth(self, values: NDArray[Any]) -> Supervision:
        if self.truth is not None:
            raise InputError("checked", "is given together with the truth of the votes", "leave one of them out")
        return self.consensus.read_truth(values)

    def with_truth(self, truth: Supervision) -> tuple[Floats, Floats]:
        return self.consensus.with_truth(truth)

    def drawn(self, rng: np.random.Generator) -> Supervision:
        return self.consensus.drawn(rng)

    def as_drawn(self) -> tuple[Floats, list[str], Codes]:
        return self.consensus.as_drawn()

    def require_enough(self) -> None:
        self.consensus.require_enough()

    def _described(self) -> str:
        votes = counted(int(self.answers.sum()), "vote")
        return f"{votes} of {counted(len(self.annotators), 'annotator')} ({self._in_short()})"

    def _counts_of_labels(self) -> dict[str, int]:
        n_votes = self.answers.sum(axis=1)
        several = int((n_votes >= 2).sum())
        return {"rows with votes": self.n_labelled, "of these, rows with several votes": several}


@dataclass(frozen=True, kw_only=True)
class VotedClasses(Voted):
    """Votes for classes, which may have an order."""

    kind: ClassVar[str] = "votes"
    words: ClassVar[str] = "votes of annotators"
    given: ClassVar[str] = "the target holds the votes of several annotators"
    instead: ClassVar[str] = "their consensus: soft_labels(votes, combine='dawid-skene')"
    _by_row: ClassVar[dict[str, Any]] = {"who": -1, "weight": 1.0, "codes_said": -1, "true_codes": -1}

    classes: NDArray[Any]
    #: Whether the classes have an order; they then stand in it, the lowest first.
    in_order: bool
    #: The class of each vote, row by row.
    codes_said: Codes = field(repr=False)
    #: The true class of rows where it is known, else -1.
    true_codes: Codes = field(repr=False)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def values_said(self) -> Codes:
        return self.codes_said

    @property
    def truth(self) -> Codes | None:
        return self.true_codes if (self.true_codes >= 0).any() else None

    def knowing(self, truth: Supervision) -> Self:
        codes = cast(Classes, truth).codes
        return replace(self, true_codes=np.where(truth.labelled, codes, self.true_codes))

    def agreed(self, opinions: Floats | None = None) -> ClassConsensus:
        """What the votes say together, with opinions of models or alone."""
        ordered = self.in_order and self.n_classes > 2
        return agree_on_classes(self.votes, self.n_classes, opinions=opinions, in_order=ordered, truth=self.truth)

    def believing(self, memberships: Floats, labelled: NDArray[np.bool_]) -> OfClasses:
        """These probabilities of the classes as knowledge."""
        kind = OrderedMemberships if self.in_order and self.n_classes > 2 else Memberships
        # sums over rows in another order differ in the last digits, and draws depend on every digit of a row
        memberships = np.where(labelled[:, None], memberships, 0.0).round(10)
        return self.as_kind(kind, memberships=memberships, labelled=labelled)

    @cached_property
    def consensus(self) -> OfClasses:
        found = self.agreed().memberships if self.labelled.any() else np.zeros((self.n_rows, self.n_classes))
        return self.believing(found, self.labelled)

    def require_enough(self) -> None:
        said = self.codes_said[self.codes_said >= 0]
        Classes(labelled=said >= 0, classes=self.classes, codes=said).require_enough()

    def _in_short(self) -> str:
        if self.in_order:
            return f"{counted(self.n_classes, 'ordered class', 'ordered classes')}: {in_words(self.classes)}"
        return counted(self.n_classes, "class", "classes")


@dataclass(frozen=True, kw_only=True)
class VotedNumbers(Voted):
    """Votes that are numbers, such as measurements by several people."""

    kind: ClassVar[str] = "votes of numbers"
    words: ClassVar[str] = "numbers of several annotators"
    given: ClassVar[str] = "the target holds the numbers of several annotators"
    instead: ClassVar[str] = "their mean"
    reads: ClassVar[Literal["classes", "numbers"]] = "numbers"
    has_neighbors: ClassVar[bool] = True
    _by_row: ClassVar[dict[str, Any]] = {"who": -1, "weight": 1.0, "numbers_said": np.nan, "true_numbers": np.nan}

    #: The number of each vote, row by row.
    numbers_said: Floats = field(repr=False)
    #: The true number of rows where it is known, else NaN.
    true_numbers: Floats = field(repr=False)

    @property
    def values_said(self) -> Floats:
        return self.numbers_said

    @property
    def truth(self) -> Floats | None:
        return None if np.isnan(self.true_numbers).all() else self.true_numbers

    def knowing(self, truth: Supervision) -> Self:
        numbers = cast(Numbers, truth).values
        return replace(self, true_numbers=np.where(truth.labelled, numbers, self.true_numbers))

    def agreed(self, opinions: Floats | None = None) -> NumberConsensus:
        """What the votes say together, with the opinion of models or alone."""
        return agree_on_numbers(self.votes, opinions=opinions, truth=self.truth)

    def believing(self, values: Floats, labelled: NDArray[np.bool_]) -> Numbers:
        """These numbers as knowledge."""
        # as for classes: of 53 binary digits 30 stay
        digits, exponents = np.frexp(np.where(labelled, values, np.nan))
        values = np.ldexp(np.round(np.ldexp(digits, 30)), exponents - 30)
        return self.as_kind(Numbers, values=values, labelled=labelled)

    @cached_property
    def consensus(self) -> Numbers:
        found = self.agreed().values if self.labelled.any() else np.full(self.n_rows, np.nan)
        return self.believing(found, self.labelled)

    def _in_short(self) -> str:
        return "numbers"


@dataclass(frozen=True, eq=False, repr=False)
class VotesByRow(GivenByRow):
    """The votes of several annotators, row by row. Made by :func:`dubio.votes`; pass it as ``y``.

    Attributes
    ----------
    said : array (n, most votes of a row)
        The codes of the classes, -1 for none; or numbers, NaN for none.
    who : array (n, most votes of a row)
        The place of each vote's annotator in ``annotators``, -1 for none.
    weight : array (n, most votes of a row)
        How much each vote counts: 1, or less if the annotator was not sure.
    truth : array (n,)
        What is known to be true, as codes or numbers; -1 or NaN where nothing is.
    annotators : tuple of str
    classes : array or None
        Names of the classes; None for numbers.
    in_order : bool
        Whether the classes have an order.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("said", "who", "weight", "truth")

    said: NDArray[Any]
    who: Codes
    weight: Floats
    truth: NDArray[Any]
    annotators: tuple[str, ...]
    classes: NDArray[Any] | None = None
    in_order: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.said),)

    def __repr__(self) -> str:
        return f"<VotesByRow: {len(self)} rows, {counted(len(self.annotators), 'annotator')}>"


def read_votes(y: VotesByRow, target: str) -> Voted:
    """What a record of votes says; ``target`` is what they are read as."""
    labelled = (y.who >= 0).any(axis=1)
    shared: dict[str, Any] = {"annotators": y.annotators, "who": np.array(y.who), "weight": np.array(y.weight)}
    if y.classes is None:
        if target in ("classes", "ordered"):
            raise InputError("y", "holds votes that are numbers, where classes are needed", "name them: classes=[...]")
        labelled = labelled | ~np.isnan(y.truth)
        return VotedNumbers(labelled=labelled, numbers_said=np.array(y.said), true_numbers=np.array(y.truth), **shared)
    if target == "ordered" and not y.in_order and y.classes.dtype.kind not in "iuf":
        found = f"holds votes such as {y.classes.tolist()[0]!r}, and the order of the classes is not known"
        raise InputError(
            "y", found, "name all classes, the lowest first: votes(..., order=[...])", code="unknown order"
        )
    if target == "numbers":
        raise InputError("y", "holds votes for classes, where numbers are needed", "give a method that takes classes")
    return VotedClasses(
        labelled=labelled | (y.truth >= 0),
        classes=np.array(y.classes),
        in_order=y.in_order or target == "ordered",
        codes_said=np.array(y.said),
        true_codes=np.array(y.truth),
        **shared,
    )
