"""What a search may believe of the target: doubtful labels left out, unknown ones completed by the experts.

The experts judge each row without having seen its label (``experts.py``, ``number_experts.py``), so no label
can confirm itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from dubio.doubt.audit import Engine, audit_problem
from dubio.doubt.audit_record import LabelAudit
from dubio.doubt.experts import ExpertOptions, judged_codes, pooled_opinions, units_per_class
from dubio.doubt.number_experts import FEWEST_NUMBERS, GROSS, completed_values, number_opinions
from dubio.doubt.positives import problem_positives
from dubio.doubt.votes import consensus_with_columns, join_votes
from dubio.errors import InputWarning, counted, warn
from dubio.problem import Problem
from dubio.target.classes import Classes, Memberships, OfClasses
from dubio.target.intervals import Intervals
from dubio.target.knowledge import Supervision
from dubio.target.numbers import Numbers
from dubio.target.positives import Positives
from dubio.target.several import SeveralTargets
from dubio.words import Note, note

#: Cleaning never removes a whole class: if fewer rows than this would stay trusted, all its labels are kept.
_ROWS_TO_LEAVE = 2


@dataclass(frozen=True)
class CleanedLabels:
    """Labels after the audit, for the rows of the original table."""

    trusted: NDArray[np.bool_]
    """Rows whose label the audit does not doubt."""
    memberships: NDArray[np.float64]
    """(rows, classes): the engine's estimate of the true classes; rows without a label are zero."""
    audit: LabelAudit | None
    """None if there was nothing to audit."""


def clean_labels(problem: Problem, engine: Engine, **options: Any) -> CleanedLabels:
    """Audit the labels of a problem and decide which to trust; see :func:`dubio.audit_labels`.

    If a class has only one row, its label cannot be judged and is trusted. If fewer than two classes are left to
    compare, nothing is audited, with a warning.
    """
    known = problem.supervision
    judged = units_per_class(known, problem.groups) >= 2
    if judged.sum() < 2:
        some = counted(int(judged.sum()), "class has", "classes have")
        warn(InputWarning("y", f"is not audited: {some} at least two rows, but an audit needs two such classes"))
        return CleanedLabels(known.labelled.copy(), known.memberships.copy(), None)
    audit = audit_problem(problem, engine, **options)
    trusted = known.labelled & ~audit.doubtful
    if known.confirmed is not None:
        trusted |= known.confirmed
    left = np.bincount(known.codes[trusted], minlength=known.n_classes)
    trusted |= known.labelled & np.isin(known.codes, np.flatnonzero(left < _ROWS_TO_LEAVE))
    softened = np.array(known.memberships)
    softened[np.ix_(audit.labelled, judged)] = audit.probabilities[audit.labelled]
    return CleanedLabels(trusted, softened, audit)


Floats = NDArray[np.float64]
#: How doubtful labels are cleaned: joined with the experts' opinion, or by one of the engines of the audit.
Cleaning = Literal["experts"] | Engine

#: Weight of the experts' opinion when it is joined with what was given. Chosen in paired trials; the page on choosing
#: a method has the numbers.
_OPINION = 0.75


@dataclass(frozen=True)
class Belief:
    """The target that a search uses, and how it was made."""

    supervision: Supervision
    """Memberships, or numbers, of all rows; rows without a label are those that nothing is believed of."""
    audit: LabelAudit | None = None
    """The audit of the labels, if they are classes and were cleaned."""
    n_completed: int = 0
    """Number of unlabelled rows that the experts completed."""
    n_left_out: int = 0
    """Number of labelled rows left out because their label is doubtful, or their number far from the prediction."""
    left_out: tuple[str, ...] = ("doubtful left out",)
    """Codes of the notes about the rows left out."""
    replaced: Supervision | None = None
    """The same numbers, with the experts' prediction in place of those left out."""
    said: tuple[Note, ...] = ()
    """Further notes."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """Further attributes of the fitted search."""
    joined: str = ""
    """What the experts' opinions were joined with, "labels" or "probabilities"; empty if they were not."""
    by_target: dict[str, Belief] = field(default_factory=dict)
    """If there are several targets: what is believed of each, by name."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows to search on."""
        return np.flatnonzero(self.supervision.labelled)

    def notes(self) -> tuple[Note, ...]:
        """What was done."""
        if self.by_target:
            parts = self.by_target.items()
            return tuple(note("of target", target=name, note=one) for name, belief in parts for one in belief.notes())
        notes = [*self.said, *([note(f"joined {self.joined}")] if self.joined else [])]
        if self.n_left_out:
            code, *more = self.left_out
            notes += [note(code, n=self.n_left_out, far=GROSS), *map(note, more)]
        if self.n_completed:
            notes.append(note("completed", n=self.n_completed))
        return tuple(notes)


def believe(problem: Problem, clean: Cleaning | None, complete: bool, options: ExpertOptions) -> Belief:
    """Decide what to believe of each row.

    *Classes*: each label counts a quarter, the pooled opinion of the experts three quarters (``clean="experts"``); or
    labels that the audit doubts are left out (``"confident"``) or softened (other engines). Rows without a label get
    the pooled opinion (``complete``). *Probabilities*: with ``clean``, the search uses the same mixture, with experts
    that are trained on the likeliest class of each row. *Numbers*: gross errors are left out, and rows without a number
    get the experts' prediction, on the scale of normal scores. *Ordered classes* are numbers: their normal scores.
    *Intervals*: numbers inside their limits, near the experts' prediction. *Positive rows only*: every other row is
    positive with the probability that the experts give it. *Several targets*: each on its own; a number that would be
    left out gets the experts' prediction, so that its row can serve the other targets.
    """
    return _WAYS[problem.supervision.believed](problem, clean, complete, options)


def _believe_classes(problem: Problem, clean: Cleaning | None, complete: bool, options: ExpertOptions) -> Belief:
    supervision = cast(Classes, problem.supervision)
    known = supervision.labelled
    memberships, trusted, audit = supervision.memberships, known, None
    can_judge = (units_per_class(supervision, problem.groups) >= 2).sum() >= 2
    if clean is not None:
        cleaned = clean_labels(problem, "confident" if clean == "experts" else clean, **options.for_audit)
        audit = cleaned.audit
        if clean == "confident":
            trusted = cleaned.trusted
        elif clean != "experts":
            memberships = cleaned.memberships
        elif can_judge:
            # the label of a class's only row stays as it is, and so do labels that a person decided
            stays = judged_codes(supervision, problem.groups) < 0
            stays = stays if supervision.confirmed is None else stays | supervision.confirmed
            mixed = _OPINION * pooled_opinions(problem, options) + (1.0 - _OPINION) * memberships
            memberships = np.where(stays[:, None], memberships, mixed)
    filled = ~known & (complete and can_judge)
    if filled.any():
        memberships = np.where(filled[:, None], pooled_opinions(problem, options), memberships)
    used = trusted | filled
    return Belief(
        _memberships(supervision, memberships, used),
        audit,
        n_completed=int(filled.sum()),
        n_left_out=int((known & ~trusted).sum()),
        joined="labels" if clean == "experts" and can_judge else "",
    )


def _believe_memberships(problem: Problem, clean: Cleaning | None, complete: bool, options: ExpertOptions) -> Belief:
    supervision, join = cast(Memberships, problem.supervision), clean is not None
    known = supervision.labelled
    likeliest = problem.once("likeliest", lambda: problem.with_supervision(supervision.likeliest()))
    used = known | complete
    can_judge = (units_per_class(likeliest.supervision, problem.groups) >= 2).sum() >= 2
    if not can_judge or not (join or (used & ~known).any()):
        return Belief(supervision)
    opinions = pooled_opinions(likeliest, options)
    memberships = np.where(known[:, None], supervision.memberships, opinions)
    if join:
        memberships = memberships + _OPINION * (opinions - memberships)
    return Belief(
        _memberships(supervision, memberships, used),
        n_completed=int((used & ~known).sum()),
        joined="probabilities" if join else "",
    )


def _believe_numbers(problem: Problem, clean: Cleaning | None, complete: bool, options: ExpertOptions) -> Belief:
    supervision = cast(Numbers, problem.supervision)
    known = supervision.labelled
    filled = ~known & complete
    one_group = problem.groups is not None and len(np.unique(problem.groups[known])) < 2
    if (clean is None and not filled.any()) or supervision.n_labelled < FEWEST_NUMBERS or one_group:
        return Belief(supervision)
    found = number_opinions(problem, **options.for_numbers)
    trusted = known & ~found.gross if clean is not None else known
    every = np.where(trusted, found.scores, found.opinions)
    used, with_all = trusted | filled, known | filled
    return Belief(
        replace(supervision, values=np.where(used, every, np.nan), labelled=used),
        n_completed=int(filled.sum()),
        n_left_out=int((known & ~trusted).sum()),
        left_out=("far left out", "audit is stricter"),  # the rule is not that of the audit of numbers
        replaced=replace(supervision, values=np.where(with_all, every, np.nan), labelled=with_all),
    )


def _believe_intervals(problem: Problem, clean: Cleaning | None, complete: bool, options: ExpertOptions) -> Belief:
    supervision = cast(Intervals, problem.supervision)
    values = completed_values(problem, options)
    if not complete:
        values = np.where(supervision.labelled, values, np.nan)
    used = ~np.isnan(values)
    found = supervision.as_kind(Numbers, labelled=used, values=values)
    inside = note("set inside", n=int((supervision.labelled & ~supervision.exact).sum()))
    return Belief(found, n_completed=int((used & ~supervision.labelled).sum()), said=(inside,))


def _believe_positives(problem: Problem, clean: Cleaning | None, complete: bool, options: ExpertOptions) -> Belief:
    supervision = cast(Positives, problem.supervision)
    found = problem_positives(problem, options)
    believed = supervision.as_kind(
        Memberships,
        labelled=np.ones(supervision.n_rows, dtype=bool),
        classes=supervision.names,
        memberships=np.stack([1.0 - found.posterior, found.posterior], axis=1),
    )
    # Joined with experts that learn the likelier class of each row, the order was no better: areas of 0.932 and 0.940.
    notes = found.notes(given=supervision.prior is not None)
    return Belief(believed, said=notes, attributes={"positives_": found})


def _believe_votes(problem: Problem, clean: Cleaning | None, complete: bool, options: ExpertOptions) -> Belief:
    """Votes and columns say together what is likely; the rest is as for probabilities, or numbers, that were given."""
    joined = problem.with_supervision(consensus_with_columns(problem, options))
    belief = believe(joined, clean, complete, options)
    joined_with_columns = bool(join_votes(problem, options).models)
    return replace(belief, said=(*belief.said, note("joined votes" if joined_with_columns else "votes alone")))


def _believe_several(problem: Problem, clean: Cleaning | None, complete: bool, options: ExpertOptions) -> Belief:
    supervision = cast(SeveralTargets, problem.supervision)
    found: dict[str, Belief] = {}
    for name, part in supervision.targets.items():
        one = believe(problem.with_supervision(part), clean, complete, options)
        if one.n_left_out and one.replaced is not None:
            one = replace(one, supervision=one.replaced, left_out=("far replaced", *one.left_out[1:]))
        found[name] = one
    believed = SeveralTargets.of(supervision.names, tuple(one.supervision for one in found.values()))
    attributes: dict[str, Any] = {"audits_": {name: one.audit for name, one in found.items() if one.audit is not None}}
    for name, belief in found.items():
        for attribute, value in belief.attributes.items():
            attributes.setdefault(attribute, {})[name] = value
    return Belief(
        believed,
        n_completed=sum(one.n_completed for one in found.values()),
        n_left_out=sum(one.n_left_out for one in found.values()),
        attributes=attributes,
        by_target=found,
    )


#: How given labels and experts become one belief; a kind of target names its way (``Supervision.believed``).
_WAYS: dict[str, Callable[[Problem, Cleaning | None, bool, ExpertOptions], Belief]] = {
    "classes": _believe_classes,
    "memberships": _believe_memberships,
    "numbers": _believe_numbers,
    "intervals": _believe_intervals,
    "positives": _believe_positives,
    "several": _believe_several,
    "votes": _believe_votes,
    # the audit of classes may doubt more than these or fewer
    "ordered": lambda problem, *options: replace(believe(problem.tested, *options), left_out=("far left out",)),
    "tested": lambda problem, *options: believe(problem.tested, *options),
}


def _memberships(supervision: OfClasses, memberships: Floats, used: NDArray[np.bool_]) -> Memberships:
    return supervision.as_kind(Memberships, labelled=used, memberships=np.where(used[:, None], memberships, 0.0))
