"""What an audit found."""

from __future__ import annotations

import html
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from dubio.doubt.anchor import Anchor
from dubio.errors import InputError
from dubio.ranking import rank_scores
from dubio.words import Note, note, paragraph

Floats = NDArray[np.float64]
#: Experts that explain less than this share of the uncertainty know little.
_LITTLE_SKILL = 0.3
#: Quantile of the normal law for the margin of the largest share of wrong labels.
_SURE = norm.ppf(0.95)
#: Most rows of the table shown in a notebook.
_SHOWN = 20
#: What is audited is judged if the experts beat a constant opinion: one-sided level of this test.
_SKILL_LEVEL = 0.01


def skill_of(
    alone: Floats, losses: dict[str, Floats], groups: NDArray[np.int64] | None = None
) -> tuple[dict[str, float], bool]:
    """The share of the loss without experts, ``alone``, that each of them and the "pool" explain on rows they have not
    seen, and whether the pool is significantly better."""
    skills = {name: float(1.0 - loss.sum() / alone.sum()) for name, loss in losses.items()}
    gain = alone - losses["pool"]
    if groups is not None:  # rows of a group are no independent evidence
        gain = np.asarray(np.bincount(np.unique(groups, return_inverse=True)[1], gain), dtype=np.float64)
    spread = gain.std(ddof=1) * np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    return skills, bool(gain.sum() > norm.ppf(1 - _SKILL_LEVEL) * spread)


class Audit:
    """What audits of labels and of numbers share."""

    #: What is audited, one of it, what the models then know about, and what columns do if they can judge it.
    noun: ClassVar[str]
    one: ClassVar[str]
    known: ClassVar[str]
    judge: ClassVar[str]
    #: What looks like wrong labels in the columns.
    else_: ClassVar[str]
    #: The columns of :meth:`to_frame` that a list of rows shows; an audit without an anchor has none of "wrong".
    _columns: ClassVar[tuple[str, ...]]
    #: What the rows are ranked by.
    _ranked_by: ClassVar[str] = "disagreement"

    disagreement: Floats
    doubtful: NDArray[np.bool_]
    judged: bool
    held_back: bool = False
    skills: dict[str, float]
    index: Any
    anchor: Anchor | None
    contradicts: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.doubtful)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows that have a label or a number."""
        raise NotImplementedError

    @property
    def rank(self) -> NDArray[np.int64]:
        """1 for the most doubtful row, and so on; among equals the earlier row first; 0 for rows without a label."""
        rows = np.flatnonzero(self.labelled)
        ranks = np.zeros(len(self), dtype=np.int64)
        first = 0.0 if self.contradicts is None else 1000.0 * self.contradicts[rows]
        by_class = self.anchor is not None and self.anchor.by_class is not None
        # labels of one class may be wrong more often than those of another with which models disagree as much
        by = "wrong" if by_class and self._ranked_by == "disagreement" else self._ranked_by
        ranks[rows] = rank_scores(getattr(self, by)[rows] + first, lower_is_better=False)
        return ranks

    @property
    def wrong(self) -> Floats:
        """Probability that each label is wrong, if the audit is anchored."""
        raise NotImplementedError

    @property
    def anchored(self) -> bool:
        """Whether the share of wrong labels is known from elsewhere than the columns and the labels."""
        return self.anchor is not None

    def _known(self, name: str) -> Anchor:
        """The anchor of what cannot be said without one."""
        if self.anchor is None:
            found = f"is not known: the columns cannot separate wrong {self.noun} from {self.else_}"
            remedy = (
                "give audit_labels the share of wrong ones if you know it (share=), or rows that somebody checked "
                "(checked=); else use disagreement, share_low and share_high"
            )
            raise InputError(name, found, remedy)
        return self.anchor

    @property
    def error_rate(self) -> float:
        """Share of wrong labels (or numbers), if the audit is anchored; else an error."""
        return self._known("error_rate").share

    @property
    def share_low(self) -> float:
        """The least share of labels that may be wrong: 0 without an anchor."""
        return 0.0 if self.anchor is None else self.anchor.low

    @property
    def share_high(self) -> float:
        """The largest share of labels that may be wrong; without an anchor, as if all disagreement were due to errors.

        That is the mean disagreement, or the engine's own count where it is larger, with a one-sided margin of 95 %. Of
        numbers, it is the share that may be far off, larger the less the models know.
        """
        if self.anchor is not None:
            return self.anchor.high
        if not self.judged:
            return 1.0
        n, share = int(self.labelled.sum()), max(self._estimate, float(np.nanmean(self.disagreement)))
        return float(min(1.0, (share + _SURE * np.sqrt((share * (1 - share) + 1 / n) / n)) / self._visible))

    @property
    def _visible(self) -> float:
        """The part of what is wrong with which the models disagree."""
        return 1.0

    @property
    def _estimate(self) -> float:
        """The engine's own estimate of the share of wrong labels, which overlapping classes make too high."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of :meth:`to_frame` that a list of rows shows."""
        return tuple("disagreement" if name == "wrong" and not self.anchored else name for name in self._columns)

    def to_frame(self) -> Any:
        """One line per row, with the table's own index (needs pandas)."""
        import pandas as pd

        rank = pd.arrays.IntegerArray(self.rank, ~self.labelled)
        return pd.DataFrame({name: getattr(self, name) for name in self.columns} | {"rank": rank}, index=self.index)

    def headline(self) -> Note:
        """The answer in one clause."""
        doubtful = int(self.doubtful.sum())
        facts = {"labels": self.noun, "label": self.one, "n": doubtful, "labelled": int(self.labelled.sum())}
        if not self.judged:
            return note("no skill", judged=self.judge, **facts)
        if self.held_back and not doubtful:
            return note("held back", **facts)
        if not self.anchored:
            return note("disagree" if doubtful else "none disagree", **facts)
        if not doubtful:
            return note("none doubtful", **facts)
        return note("doubtful", expected=100 * float(self.wrong[self.doubtful].mean()), **facts)

    def notes(self) -> list[Note]:
        """The answer, what it means, and what it rests on, as clauses."""
        facts = {"labels": self.noun, "low": 100 * self.share_low, "high": 100 * self.share_high}
        notes = [self.headline()]
        if not self.judged:
            notes.append(note("no better but checked" if self.doubtful.any() else f"no better on {self.noun}"))
        elif self.doubtful.any() and self.skills and self.skills["pool"] < _LITTLE_SKILL:
            notes.append(note("knows little", what=self.known))
        if self.anchor is not None:
            between = " between" if self.anchor.low < self.anchor.high else ""
            notes.append(note(f"anchor {self.anchor.source}{between}", share=100 * self.anchor.share, **facts))
        elif self.judged:
            notes += [note(f"only checking {self.noun}"), note(f"share between {self.noun}", **facts)]
        missing = len(self) - int(self.labelled.sum())
        return notes + ([note("suggested too", n=missing, label=self.one)] if missing and self.judged else [])

    def __str__(self) -> str:
        return paragraph(self.notes())

    def __repr__(self) -> str:
        listed = f"{int(self.doubtful.sum())} of {int(self.labelled.sum())} {self.noun} to look at first"
        return f"<{type(self).__name__}: {listed if self.judged else f'the columns do not {self.judge}'}>"

    def _repr_html_(self) -> str:
        """What the audit says, and the doubtful rows, the most doubtful first (needs pandas)."""
        said = f"<p>{html.escape(str(self))}</p>"
        if not self.doubtful.any():
            return said
        rows = self.to_frame()[list(self.columns)][self.doubtful].sort_values("rank")
        table = rows.head(_SHOWN).drop(columns="doubtful").to_html(border=0, float_format="{:.3g}".format)
        more = f"<p>and {len(rows) - _SHOWN} more</p>" if len(rows) > _SHOWN else ""
        return said + str(table) + more


@dataclass(frozen=True, repr=False)
class LabelAudit(Audit):
    """How doubtful the labels are, by row and by class. Made by :func:`dubio.audit_labels`.

    Attributes
    ----------
    engine : str
        The method of the audit.
    assumption : str
        What the error rates assume, in words.
    classes : array (n_classes,)
        Names of the classes.
    codes : array (n_rows,)
        Observed class of each row as a position in ``classes``, -1 if it has no label.
    disagreement : array (n_rows,)
        How much the models disagree with each label, from 0 to 1; NaN for rows without one. It ranks the rows. It is no
        probability that the label is wrong: rows of classes that overlap have it too.
    probabilities : array (n_rows, n_classes)
        What the engine makes of each class. They are probabilities of the true class only if the audit is anchored.
    doubtful : array (n_rows,) of bool
        The labels that the models disagree with, by the rule of the engine. If rows were checked: as many labels as are
        expected to be wrong, those with the largest probability of it.
    joint : array (n_classes, n_classes)
        Number of labelled rows with observed class ``g`` and true class ``t`` at ``[g, t]``. Without an anchor it is
        the engine's own count, which takes classes that overlap for wrong labels.
    anchor : Anchor or None
        What is known of wrong labels from elsewhere: :class:`dubio.doubt.anchor.Anchor`.
    flip_rate : float or None
        The single error rate of the pooled engine.
    expert_names, expert_weights
        The experts and their weights in the pool (none for ``"lnt"``).
    n_folds : int
        Number of folds; 0 if no experts were trained.
    index
        Row names of the table, if it has any.
    judged : bool
        False if the experts are not significantly better than the class shares alone: the columns do not tell the
        classes. Then no label is doubtful, except those that were checked and are wrong.
    held_back : bool
        True if no label is flagged because the table has many columns for its labels, and wrong labels do not explain
        what the experts say clearly better than their own mistakes.
    skills : dict of str to float
        For each expert and for the pool, the share of the uncertainty about the labels that it explains on rows it has
        not seen: 1 is everything, 0 is no better than the class shares.
    contradicts : array (n_rows,) of bool or None
        Rows that are equal to others in all columns and have another label than most of these: they come first. None if
        there are none.
    counted : array (n_classes, n_classes) or None
        Of an anchored audit, ``joint`` as the engine counted it.
    """

    _columns: ClassVar[tuple[str, ...]] = ("given", "suggested", "wrong", "doubtful", "rank")
    noun: ClassVar[str] = "labels"
    one: ClassVar[str] = "label"
    known: ClassVar[str] = "classes"
    else_: ClassVar[str] = "classes that overlap"
    judge: ClassVar[str] = "separate the classes"

    engine: str
    assumption: str
    classes: NDArray[Any]
    codes: NDArray[np.int64] = field(repr=False)
    disagreement: Floats = field(repr=False)
    probabilities: Floats = field(repr=False)
    doubtful: NDArray[np.bool_] = field(repr=False)
    joint: Floats = field(repr=False)
    flip_rate: float | None
    expert_names: tuple[str, ...]
    expert_weights: Floats
    n_folds: int
    index: Any = field(default=None, repr=False)
    judged: bool = True
    held_back: bool = False
    skills: dict[str, float] = field(default_factory=dict)
    anchor: Anchor | None = None
    contradicts: NDArray[np.bool_] | None = field(default=None, repr=False)
    counted: Floats | None = field(default=None, repr=False)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows that have a label."""
        return self.codes >= 0

    @property
    def given(self) -> NDArray[Any]:
        """The label of each row; None for rows without one."""
        given = np.full(len(self), None, dtype=object)
        given[self.labelled] = self.classes[self.codes[self.labelled]]
        return given

    @property
    def wrong(self) -> Floats:
        """Probability that the given label is wrong, if the audit is anchored; NaN for rows without a label."""
        self._known("wrong")
        return disagreement_of(self.probabilities, self.codes)

    @property
    def suggested(self) -> NDArray[Any]:
        """The given label; if it is doubtful, the most probable other class; if missing, the most probable class."""
        return self.classes[self.suggested_codes]

    @property
    def suggested_codes(self) -> NDArray[np.int64]:
        """The suggested class of each row as a position in ``classes``."""
        others = np.array(self.probabilities)
        others[self.doubtful, self.codes[self.doubtful]] = -1.0
        return np.where(self.doubtful | ~self.labelled, others.argmax(axis=1), self.codes)

    @property
    def error_rates(self) -> Floats:
        """Share of wrong labels among the rows labelled with each class, if the audit is anchored."""
        self._known("error_rates")
        return 1.0 - self.joint.diagonal() / self.joint.sum(axis=1)

    @property
    def flip_matrix(self) -> Floats:
        """Probability at ``[t, g]`` that a row of true class ``t`` has the label ``g``, if the audit is anchored."""
        self._known("flip_matrix")
        totals = self.joint.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            flips = (self.joint / totals).T
        flips[totals <= 0] = np.eye(len(totals))[totals <= 0]  # no row is left in this class: nothing is known about it
        return flips

    @property
    def _estimate(self) -> float:
        return float(1.0 - np.trace(self.joint) / self.joint.sum())

    def with_anchor(self, anchor: Anchor) -> Self:
        """The same audit, with what is known of wrong labels: probabilities, rates and counts follow from it.

        If the rates of the classes were found by checking rows, the list of doubtful labels follows from it too.
        """
        counted = self.joint if self.counted is None else self.counted
        wrong = anchor.wrong_in_classes(self.disagreement, self.codes, counted.sum(axis=1) - counted.diagonal())
        rows = np.flatnonzero(self.labelled)
        probabilities = np.array(self.probabilities)
        others = probabilities[rows]
        others[np.arange(len(rows)), self.codes[rows]] = 0.0
        others += 1e-12  # where nothing speaks for any other class, all of them are alike
        others[np.arange(len(rows)), self.codes[rows]] = 0.0
        others *= (wrong[rows] / others.sum(axis=1))[:, None]
        others[np.arange(len(rows)), self.codes[rows]] = 1.0 - wrong[rows]
        probabilities[rows] = others
        seen = np.zeros(len(self), dtype=bool)
        if anchor.truth is not None:
            told = np.asarray(anchor.truth[:, None] == self.classes)
            seen = np.asarray(told.any(axis=1))
            probabilities[seen] = told[seen]
        joint = np.zeros_like(self.joint)
        np.add.at(joint, self.codes[rows], probabilities[rows])
        found = replace(self, probabilities=probabilities, joint=joint, anchor=anchor, counted=counted)
        return found if anchor.truth is None else found._doubting_the_likeliest(seen)

    def _doubting_the_likeliest(self, seen: NDArray[np.bool_]) -> Self:
        """The same audit, in which as many labels are doubtful as are expected to be wrong: the likeliest.

        If the columns cannot tell, these are the labels that were checked (``seen``) and are wrong. Rows that
        contradict others stay on the list, unless their label was checked and is right.
        """
        wrong = np.nan_to_num(self.wrong)
        counted = wrong if self.judged and not self.held_back else wrong * seen
        doubtful = np.zeros(len(self), dtype=bool)
        doubtful[np.argsort(-counted, kind="stable")[: round(float(counted.sum()))]] = True
        doubtful &= self._can_be_doubtful
        if self.contradicts is None:
            return replace(self, doubtful=doubtful)
        contradicts = self.contradicts & ~(seen & (wrong == 0))
        return replace(self, doubtful=doubtful | (contradicts & self.judged), contradicts=contradicts)

    @property
    def _can_be_doubtful(self) -> NDArray[np.bool_]:
        """Rows with a label."""
        return self.labelled

    def notes(self) -> list[Note]:
        """The answer, what it means, and what it rests on, as clauses."""
        if not self.anchored or not self.judged:
            return super().notes()
        assert self.anchor is not None
        rates = [f"{name} {rate:.1%}" for name, rate in zip(self.classes, self.error_rates, strict=True)]
        if self.anchor.by_class is not None:
            ends = self.anchor.by_class[:, 1:].tolist()
            rates = [f"{rate} ({low:.1%} to {high:.1%})" for rate, (low, high) in zip(rates, ends, strict=True)]
        return [*super().notes(), note("rates by class", rates=rates), *self.anchor.notes()]

    def to_frame(self) -> Any:
        """One line per row, with the table's own index; anchored, with class probabilities (needs pandas)."""
        shares = {f"p({name})": self.probabilities[:, k] for k, name in enumerate(self.classes)}
        return super().to_frame().assign(**(shares if self.anchored else {}))

    def classes_frame(self) -> Any:
        """One line per class: rows, doubtful labels; anchored, error rate and flip matrix too (needs pandas)."""
        import pandas as pd

        n_classes = len(self.classes)
        columns: dict[str, Any] = {
            "rows": np.bincount(self.codes[self.labelled], minlength=n_classes),
            "doubtful": np.bincount(self.codes[self.doubtful], minlength=n_classes),
        }
        if self.anchored:
            assert self.anchor is not None
            columns["error rate"] = self.error_rates
            if self.anchor.by_class is not None:
                columns |= {"from": self.anchor.by_class[:, 1], "to": self.anchor.by_class[:, 2]}
            columns |= {f"labelled {name}": self.flip_matrix[:, g] for g, name in enumerate(self.classes)}
        return pd.DataFrame(columns, index=pd.Index(self.classes, name="class"))


def disagreement_of(probabilities: Floats, codes: NDArray[np.int64]) -> Floats:
    """How much the probabilities disagree with each label: one minus that of the label; NaN without a label."""
    own = probabilities[np.arange(len(codes)), np.maximum(codes, 0)]
    return np.where(codes >= 0, 1.0 - own, np.nan)


@dataclass(frozen=True, repr=False)
class OrderedAudit(LabelAudit):
    r"""How doubtful the labels of ordered classes are, by row and by class. Made by :func:`dubio.audit_labels`.

    With the probability :math:`p_{it}` of each class and the given class :math:`g_i`, the label of a row is expected to
    be off by :math:`\sum_t p_{it} |t - g_i|` steps. Labels are ranked by these steps, so that a near miss is less
    suspicious than a label at the other end. The suggested class is the median of the probabilities. A label that is
    itself the median is not doubtful, even if another class is more probable.
    """

    _columns: ClassVar[tuple[str, ...]] = ("given", "suggested", "wrong", "steps", "doubtful", "rank")
    _ranked_by: ClassVar[str] = "steps"

    @property
    def steps(self) -> Floats:
        """How many classes the probabilities lie away from the given label, on average; NaN for rows without one."""
        apart = np.abs(np.arange(len(self.classes)) - self.codes[:, None])
        return np.where(self.labelled, (self.probabilities * apart).sum(axis=1), np.nan)

    @property
    def _can_be_doubtful(self) -> NDArray[np.bool_]:
        """Rows with a label other than the median."""
        return self.labelled & (_medians(self.probabilities) != self.codes)

    @property
    def suggested_codes(self) -> NDArray[np.int64]:
        """The median class if the label is doubtful or missing, else the given label, as a position in ``classes``.

        If the median of a doubtful label is the label itself, it is the most probable other class.
        """
        medians = np.where(self.doubtful | ~self.labelled, _medians(self.probabilities), self.codes)
        return np.where(self.doubtful & (medians == self.codes), super().suggested_codes, medians)


def in_order(audit: LabelAudit) -> OrderedAudit:
    """The audit of the same classes, of which the order is known."""
    found = OrderedAudit(**{field.name: getattr(audit, field.name) for field in fields(audit)})
    return replace(found, doubtful=found.doubtful & found._can_be_doubtful)


def _medians(probabilities: Floats) -> NDArray[np.int64]:
    """The class in the middle of each row's probabilities."""
    below = np.cumsum(probabilities, axis=1) / probabilities.sum(axis=1, keepdims=True)
    return np.minimum((below < 0.5 - 1e-12).sum(axis=1), probabilities.shape[1] - 1)
