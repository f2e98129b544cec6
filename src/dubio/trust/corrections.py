"""Before and after corrections: features that came in or went out, ranks that moved, and labels still in doubt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from dubio.doubt.audit_record import LabelAudit, OrderedAudit, in_order
from dubio.errors import InputError, counted
from dubio.ranking import Ranking
from dubio.target.label_values import CHANGE, RIGHT, CorrectedLabels
from dubio.words import note, sentence

#: Spread of the shift, in logits, by which rechecked labels may correct the audit. On eight tables with four kinds of
#: wrong labels, the shift that fits all labels best was 1.4 in the root mean square: a smaller prior would hide it.
_SHIFT = 1.0
#: Distance in logits below the decided labels at which a third of a shift up is left. On made tables (labels flipped at
#: random, in one class, or near the border), 0.25 and 1 gave the same loss within 1 %; no fading gave 17 % more.
_FADES = 0.5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BeforeAndAfter:
    """Before and after corrections.

    Attributes
    ----------
    corrected : CorrectedLabels
    came_in, went_out : list of str
        Features that are kept now, and those that no longer are.
    moved : list of tuples (name, rank before, rank after)
        Kept features whose rank changed, the largest moves first.
    audit : LabelAudit or None
        The audit of the corrected labels, with what the corrections taught about the others (:func:`audit_left`).
    audit_before : LabelAudit or None
        The audit of the labels as they were.
    """

    corrected: CorrectedLabels
    came_in: list[str]
    went_out: list[str]
    moved: list[tuple[str, int, int]]
    audit: LabelAudit | None = None
    audit_before: LabelAudit | None = None

    def sentences(self) -> list[str]:
        """Before and after, in words."""
        changes = {"kept since": self.came_in, "kept before": self.went_out}
        notes = [note(code, n=len(names), names=names) for code, names in changes.items() if names]
        notes = notes or [note("kept as before")]
        if self.moved:
            moves = [note("rank moved", name=name, before=before, after=after) for name, before, after in self.moved]
            notes.append(note("ranks moved", moves=moves))
        if self.audit is not None and self.audit_before is not None:
            left, ends = int(self.audit.doubtful.sum()), {"before": self.audit_before, "after": self.audit}
            shares = {name: 100 * audit.share_high for name, audit in ends.items()}
            notes += [note("wrong before and after", **shares), note("still doubtful" if left else "none left", n=left)]
        return [str(self.corrected), *map(sentence, notes)]

    def record(self) -> dict[str, Any]:
        """The same as plain values."""
        audit = self.audit
        return {
            "right": self.corrected.count("right"),
            "changed": self.corrected.count("change"),
            "unsure": self.corrected.count("unsure"),
            "came_in": self.came_in,
            "went_out": self.went_out,
            "moved": [{"feature": name, "before": a, "after": b} for name, a, b in self.moved],
            "share_high_before": None if self.audit_before is None else self.audit_before.share_high,
            "share_high_left": None if audit is None else audit.share_high,
            "doubtful_left": None if audit is None else int(audit.doubtful.sum()),
        }


def compare(
    corrected: CorrectedLabels,
    before: Ranking,
    after: Ranking,
    audit_before: LabelAudit | None = None,
    audit_after: LabelAudit | None = None,
) -> BeforeAndAfter:
    """Compare two rankings of the same features, and two audits, before and after corrections."""
    was, now = before.without_handed_on().support, after.without_handed_on().support
    names, old, new = [str(name) for name in after.names], before.ranking.tolist(), after.ranking.tolist()
    moves = [(names[j], old[j], new[j]) for j in after.order if (was[j] or now[j]) and old[j] != new[j]]
    audits: dict[str, Any] = {}
    if audit_before is not None and audit_after is not None and audit_before.judged and audit_after.judged:
        audits = {"audit": audit_left(audit_before, audit_after, corrected), "audit_before": audit_before}
    return BeforeAndAfter(
        corrected,
        [names[j] for j in after.order if now[j] and not was[j]],
        [names[j] for j in before.order if was[j] and not now[j]],
        sorted(moves, key=lambda move: -abs(move[1] - move[2])),
        **audits,
    )


def audit_left(before: LabelAudit, after: LabelAudit, corrected: CorrectedLabels) -> LabelAudit:
    """The audit of the corrected labels, with what the decided labels taught.

    If the first audit was anchored by the share of wrong labels, the share left is what was known less what was
    changed. Else the disagreement with each undecided label is that of :func:`calibrated`; all else follows from it, by
    the measure of the first audit. A label is doubtful if the disagreement is as large as with a label that the first
    audit doubted. And the first audit's own count of wrong labels was a multiple of the sum of its disagreement: the
    count of those left is the same multiple of the sum now.

    Parameters
    ----------
    before, after : LabelAudit
        The audits of the labels as they were, and of the corrected ones.
    corrected : CorrectedLabels
        As made by :func:`dubio.apply_corrections`.

    Returns
    -------
    LabelAudit
        What is left to correct. If one of the audits could not judge the labels, it is ``after`` as it is.
    """
    if not isinstance(corrected, CorrectedLabels):
        raise InputError("corrected", f"is a {type(corrected).__name__}", "give what apply_corrections returned")
    n_rows = len(corrected.decisions)
    for name, audit in (("before", before), ("after", after)):
        if not isinstance(audit, LabelAudit):
            raise InputError(name, f"is a {type(audit).__name__}", "give an audit of labels, made by audit_labels")
        if len(audit) != n_rows:
            found = f"is an audit of {counted(len(audit), 'row')}, but the corrections are of {n_rows}"
            raise InputError(name, found, "give the audits of the same table")
    if not (before.judged and after.judged):
        return after
    if before.anchor is not None:
        n_changed, n_labels = corrected.count("change"), int(before.labelled.sum())
        ends = (before.anchor.share, before.anchor.low, before.anchor.high)
        share, low, high = (max(0.0, end - n_changed / n_labels) for end in ends)
        return after.with_anchor(replace(before.anchor, share=share, low=low, high=high))
    left, was = calibrated(before, after, corrected), np.nan_to_num(after.disagreement)
    rows = np.flatnonzero(left > 0)
    probabilities = np.array(after.probabilities)
    probabilities[rows] *= (left[rows] / was[rows])[:, None]
    probabilities[rows, after.codes[rows]] = 1.0 - left[rows]
    first = np.nan_to_num(before.disagreement)
    if before.doubtful.any():
        doubtful = (left > 0) & (left >= first[before.doubtful].min())
    else:
        doubtful = left > max(0.5, first.max(initial=0.0))
    # labels by given and true class, where decided labels are right: they sum to the number of labels
    codes, n_classes = after.codes, len(after.classes)
    claimed = float(np.nansum(before.disagreement))
    multiple = float(before.joint.sum() - np.trace(before.joint)) / claimed if claimed > 0 else 0.0
    wrong = np.zeros((n_classes, n_classes))
    np.add.at(wrong, codes[rows], multiple * probabilities[rows])
    np.fill_diagonal(wrong, 0.0)
    labels = np.bincount(codes[codes >= 0], minlength=n_classes).astype(np.float64)
    wrong *= np.minimum(1.0, labels / np.maximum(wrong.sum(axis=1), 1e-300))[:, None]  # at most all of a class
    joint = wrong + np.diag(labels - wrong.sum(axis=1))
    disagreement = np.where(after.labelled, left, np.nan)
    result = replace(after, disagreement=disagreement, probabilities=probabilities, doubtful=doubtful, joint=joint)
    return in_order(result) if isinstance(after, OrderedAudit) else result


def calibrated(before: LabelAudit, after: LabelAudit, corrected: CorrectedLabels) -> Floats:
    r"""How much the models disagree with each label, after what was learned from the labels that a person decided.

    In the audit before, the disagreement with the decided labels was :math:`w_i`, and now it is known which were wrong.
    One shift :math:`a` on the scale of logits makes both agree: it maximises
    :math:`\sum_i \log P(\text{outcome}_i \mid \sigma(\mathrm{logit}\, w_i + a)) - a^2 / 2`. A shift down is applied to
    all labels that nobody looked at. A shift up is applied to those that were as doubted as the decided ones; further
    below by :math:`t` logits, it fades with :math:`e^{-2 t}`. Mostly the most doubted labels are decided: that they
    were wrong says little about labels that look right. Decided labels have 0, rows without a label too.
    """
    was_wrong = before.disagreement
    checked = np.isin(corrected.decisions, (RIGHT, CHANGE)) & np.isfinite(was_wrong)
    odds = logit(np.clip(was_wrong[checked], 1e-3, 1 - 1e-3))
    outcome = (corrected.decisions[checked] == CHANGE).astype(np.float64)

    def loss(shift: float) -> float:
        wrong = expit(odds + shift)
        fit = outcome * np.log(wrong) + (1 - outcome) * np.log1p(-wrong)
        return float(shift**2 / (2 * _SHIFT**2) - fit.sum())

    now = np.nan_to_num(after.disagreement)
    place = logit(np.clip(now, 1e-6, 1 - 1e-6))
    shift = np.zeros(len(now))
    if checked.any():
        shift += minimize_scalar(loss, bounds=(-4, 4), method="bounded").x
        if shift[0] > 0:
            shift *= np.exp(-np.maximum(odds.min() - place, 0.0) / _FADES)
    return np.where((corrected.decisions == "") & (now > 0), expit(place + shift), 0.0)
