"""The audit of ordered classes: a label that is several steps away is more suspicious than a near miss."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dubio.noise.audit_record import Floats, LabelAudit


@dataclass(frozen=True, repr=False)
class OrderedAudit(LabelAudit):
    r"""How doubtful the labels of ordered classes are, by row and by class. Made by :func:`dubio.audit_labels`.

    With the probability :math:`p_{it}` of each class and the given class :math:`g_i`, the label of a row is expected to
    be off by :math:`\sum_t p_{it} |t - g_i|` steps. Labels are ranked by these steps, so that a near miss is less
    suspicious than a label at the other end. The suggested class is the median of the probabilities. A label that is
    itself the median is not doubtful, even if another class is more probable.

    Attributes
    ----------
    steps : array (n_rows,)
        Expected number of classes between the given label and the true one; NaN for rows without a label.
    """

    columns: ClassVar[tuple[str, ...]] = ("given", "suggested", "wrong", "steps", "doubtful", "rank")

    @property
    def steps(self) -> Floats:
        """Expected number of classes between the given label and the true one; NaN for rows without a label."""
        apart = np.abs(np.arange(len(self.classes)) - self.codes[:, None])
        return np.where(self.labelled, (self.probabilities * apart).sum(axis=1), np.nan)

    @property
    def suggested(self) -> NDArray[Any]:
        """The median class if the label is doubtful or missing, else the given label."""
        return self.classes[np.where(self.doubtful | ~self.labelled, _medians(self.probabilities), self.codes)]

    def to_frame(self) -> Any:
        """One line per row, with the table's own index (needs pandas)."""
        frame = super().to_frame()
        frame.insert(3, "steps", self.steps)
        return frame

    def _doubt(self) -> Floats:
        return self.steps


def in_order(audit: LabelAudit) -> OrderedAudit:
    """The audit of the same classes, of which the order is known."""
    found = OrderedAudit(**{field.name: getattr(audit, field.name) for field in fields(audit)})
    return replace(found, doubtful=audit.doubtful & (_medians(audit.probabilities) != audit.codes))


def _medians(probabilities: Floats) -> NDArray[np.int64]:
    """The class in the middle of each row's probabilities."""
    below = np.cumsum(probabilities, axis=1) / probabilities.sum(axis=1, keepdims=True)
    return np.minimum((below < 0.5 - 1e-12).sum(axis=1), probabilities.shape[1] - 1)
