"""What mending labels changed: features that came in and went out, ranks that moved, and what is left to recheck."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from dubio.errors import counted, listed
from dubio.noise import LabelAudit
from dubio.ranking import Ranking
from dubio.supervision import CorrectedLabels
from dubio.supervision.corrections import CHANGE, RIGHT

#: Spread of the shift, in logits, by which rechecked labels may correct the audit. On eight tables with four kinds of
#: wrong labels, the shift that fits all labels best was 1.4 in the root mean square: a smaller prior would hide it.
_SHIFT = 1.0


@dataclass(frozen=True)
class Mended:
    """Before and after corrections.

    Attributes
    ----------
    corrected : CorrectedLabels
    came_in, went_out : list of str
        Features that are kept now, and those that no longer are.
    moved : list of tuples (name, rank before, rank after)
        Kept features whose rank changed, the largest moves first.
    rate_before : float
        Estimated share of wrong labels before the corrections; NaN without an audit.
    audit : LabelAudit or None
        The audit of the corrected labels, with what the corrections taught about the others (:func:`audit_left`).
    """

    corrected: CorrectedLabels
    came_in: list[str]
    went_out: list[str]
    moved: list[tuple[str, int, int]]
    rate_before: float = float("nan")
    audit: LabelAudit | None = None

    def sentences(self) -> list[str]:
        """Before and after, in words."""
        said = [str(self.corrected)]
        said.append(f"Came in: {listed(self.came_in)}." if self.came_in else "No feature came in.")
        said.append(f"Went out: {listed(self.went_out)}." if self.went_out else "No feature went out.")
        if self.moved:
            said.append("Moved: " + listed((f"{name} from {a} to {b}" for name, a, b in self.moved), 6) + ".")
        if self.audit is not None:
            left = int(self.audit.doubtful.sum())
            said.append(
                f"Estimated share of wrong labels: {100 * self.rate_before:.1f} % before your corrections, "
                f"{100 * self.audit.error_rate:.1f} % after them."
            )
            said.append(
                f"{counted(left, 'label')} {'is' if left == 1 else 'are'} still doubtful."
                if left
                else "No label is doubtful any more."
            )
        return said

    def record(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "right": self.corrected.count("right"),
            "changed": self.corrected.count("change"),
            "unsure": self.corrected.count("unsure"),
            "came_in": self.came_in,
            "went_out": self.went_out,
            "moved": [{"feature": name, "before": a, "after": b} for name, a, b in self.moved],
            "error_rate_before": None if self.audit is None else self.rate_before,
            "error_rate_left": None if self.audit is None else self.audit.error_rate,
            "doubtful_left": None if self.audit is None else int(self.audit.doubtful.sum()),
        }


def compare(
    corrected: CorrectedLabels,
    before: Ranking,
    after: Ranking,
    audit_before: LabelAudit | None = None,
    audit_after: LabelAudit | None = None,
) -> Mended:
    """Compare two rankings of the same features, and two audits, before and after corrections."""
    was, now = before.without_handed_on().support, after.without_handed_on().support
    names = [str(name) for name in after.names]
    order = after.order
    moves = [
        (names[j], int(before.ranking[j]), int(after.ranking[j]))
        for j in order
        if (was[j] or now[j]) and before.ranking[j] != after.ranking[j]
    ]
    moves.sort(key=lambda move: -abs(move[1] - move[2]))
    audits: dict[str, Any] = {}
    if audit_before is not None and audit_after is not None and audit_before.judged and audit_after.judged:
        audits = {
            "rate_before": audit_before.error_rate,
            "audit": audit_left(audit_before, audit_after, corrected),
        }
    return Mended(
        corrected,
        [names[j] for j in order if now[j] and not was[j]],
        [names[j] for j in before.order if was[j] and not now[j]],
        moves,
        **audits,
    )


def audit_left(before: LabelAudit, after: LabelAudit, corrected: CorrectedLabels) -> LabelAudit:
    """The audit of the corrected labels, with probabilities and rates moved by what the decided labels taught.

    The probability of each undecided label to be wrong is that of :func:`calibrated`, and the rates of error move as
    far as the probabilities do on average. Which labels are doubtful stays as the audit found it.

    Parameters
    ----------
    before, after : LabelAudit
        The audits of the labels as they were, and of the corrected ones.
    corrected : CorrectedLabels
        As made by :func:`dubio.apply_corrections`.

    Returns
    -------
    LabelAudit
        Its rates and probabilities are what is left to correct.
    """
    left = calibrated(before, after, corrected)
    was = np.nan_to_num(after.wrong)
    undecided = (corrected.decisions == "") & (was > 0)
    rows, own = np.flatnonzero(undecided), after.codes[undecided]
    probabilities = np.array(after.probabilities)
    probabilities[rows] *= (left[rows] / was[rows])[:, None]
    probabilities[rows, own] = 1.0 - left[rows]
    claimed = was[corrected.decisions == ""].sum()
    moved = float(left.sum() / claimed) if claimed > 0 else 1.0
    wrong = after.joint * (1 - np.eye(len(after.joint)))
    most = np.max(wrong.sum(axis=1) / np.maximum(after.joint.sum(axis=1), 1e-300), initial=0.0)
    wrong *= min(moved, 1.0 / most) if most > 0 else 1.0  # at most all labels of a class are wrong
    joint = wrong + np.diag(after.joint.sum(axis=1) - wrong.sum(axis=1))
    return replace(after, probabilities=probabilities, joint=joint)


def calibrated(before: LabelAudit, after: LabelAudit, corrected: CorrectedLabels) -> NDArray[np.float64]:
    r"""Probability that each label is wrong, after what was learned from the labels that a person decided.

    In the audit before, the decided labels had probabilities :math:`w_i` to be wrong, and now it is known which were.
    One shift :math:`a` on the scale of logits makes both agree: it maximises
    :math:`\sum_i \log P(\text{outcome}_i \mid \sigma(\mathrm{logit}\, w_i + a)) - a^2 / 2`. The same shift is applied
    to the labels that nobody looked at; decided labels have 0, rows without a label too.
    """
    was_wrong = before.wrong
    checked = np.isin(corrected.decisions, (RIGHT, CHANGE)) & np.isfinite(was_wrong)
    odds = logit(np.clip(was_wrong[checked], 1e-3, 1 - 1e-3))
    outcome = (corrected.decisions[checked] == CHANGE).astype(np.float64)

    def loss(shift: float) -> float:
        wrong = expit(odds + shift)
        fit = outcome * np.log(wrong) + (1 - outcome) * np.log1p(-wrong)
        return float(shift**2 / (2 * _SHIFT**2) - fit.sum())

    shift = float(minimize_scalar(loss, bounds=(-4, 4), method="bounded").x) if checked.any() else 0.0
    now = np.nan_to_num(after.wrong)
    shifted = expit(logit(np.clip(now, 1e-6, 1 - 1e-6)) + shift)
    return np.where((corrected.decisions == "") & (now > 0), shifted, 0.0)
