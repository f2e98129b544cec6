"""What mending labels changed: features that came in and went out, ranks that moved, and what is left to recheck."""

from __future__ import annotations

from dataclasses import dataclass
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

#: A label is worth a second look if it is wrong with at least this probability.
WORTH = 0.2
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
    rate_before, rate_left : float
        Estimated share of wrong labels with the given labels, and now; NaN without an audit.
    worth : int
        How many further labels are worth a second look: they are wrong with a probability of 20 % or more.
    """

    corrected: CorrectedLabels
    came_in: list[str]
    went_out: list[str]
    moved: list[tuple[str, int, int]]
    rate_before: float = float("nan")
    rate_left: float = float("nan")
    worth: int = 0

    def sentences(self) -> list[str]:
        """Before and after, in words."""
        said = [str(self.corrected)]
        said.append(f"Came in: {listed(self.came_in)}." if self.came_in else "No feature came in.")
        said.append(f"Went out: {listed(self.went_out)}." if self.went_out else "No feature went out.")
        if self.moved:
            said.append("Moved: " + listed((f"{name} from {a} to {b}" for name, a, b in self.moved), 6) + ".")
        if np.isfinite(self.rate_left):
            said.append(
                f"Estimated share of wrong labels: {100 * self.rate_before:.1f} % before, {100 * self.rate_left:.1f} % "
                "left."
            )
            more = f"{counted(self.worth, 'more label')} {'is' if self.worth == 1 else 'are'}"
            said.append(
                f"{more} worth a second look: each is wrong with a probability of {100 * WORTH:g} % or more."
                if self.worth
                else "No further label is worth a second look."
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
            "error_rate_before": self.rate_before if np.isfinite(self.rate_before) else None,
            "error_rate_left": self.rate_left if np.isfinite(self.rate_left) else None,
            "worth_rechecking": self.worth,
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
    rates: dict[str, Any] = {}
    if audit_before is not None and audit_after is not None and audit_before.judged and audit_after.judged:
        left = calibrated(audit_before, audit_after, corrected)
        claimed = np.nan_to_num(audit_after.wrong)[corrected.decisions == ""].sum()
        rates = {
            "rate_before": audit_before.error_rate,
            # the audit's own estimate, moved as far as the probabilities of single labels were
            "rate_left": float(audit_after.error_rate * (left.sum() / claimed if claimed > 0 else 1.0)),
            "worth": int((left >= WORTH).sum()),
        }
    return Mended(
        corrected,
        [names[j] for j in order if now[j] and not was[j]],
        [names[j] for j in before.order if was[j] and not now[j]],
        moves,
        **rates,
    )


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
