"""The anchor of an audit by checked rows: how many labels of each class are wrong, and along which columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from dubio.doubt.anchor import Anchor, shifted
from dubio.evidence.truth import TruthEvidence, effects, evidence_of, means, share_interval, truth_pvalues
from dubio.problem import Problem
from dubio.words import Note, note

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
#: Features are named if labels are wrong more often where they are high or low: level of the false discoveries.
_LEVEL = 0.05
#: Fewest checked rows of a class from which its share of wrong labels is estimated.
_FEWEST = 2


@dataclass(frozen=True)
class CheckedAnchor(Anchor):
    r"""What checked rows say of wrong labels. They anchor an audit, which cannot know it from the columns.

    The share of wrong labels, of all and of each given class, is the mean of a number that is 1 where label and truth
    differ. It is estimated with the disagreement of the models as a proxy (:func:`dubio.evidence.truth.means`). The
    interval is Clopper and Pearson's, for as many plain checks as would be as precise. Within each given class, labels
    are wrong with probabilities that sum to its share, estimated with one more check that has the share of all: where
    few checks found no wrong label, there may be some.

    Attributes
    ----------
    codes : array (n_rows,)
        The given class of each row; -1 for rows without a label.
    n_checked : int
        Rows with a label that were checked.
    along : tuple of str
        Features along which labels are wrong more often, at 5 % false discoveries.
    pvalues : array (n_features,)
        p-values of the hypothesis that errors do not depend on a feature.
    """

    codes: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    n_checked: int = 0
    along: tuple[str, ...] = ()
    pvalues: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    def wrong(self, disagreement: Floats) -> Floats:
        """The probability that each label is wrong; of a checked label, it is known."""
        assert self.outcomes is not None
        assert self.weights is not None
        assert self.by_class is not None
        wrong = np.where(np.isnan(disagreement), np.nan, 0.0)
        of_all = (self.share * self.n_checked + 0.5) / (self.n_checked + 1)
        for code, (share, low, high) in enumerate(self.by_class.tolist()):
            rows = self.codes == code
            n_checked = int(np.isfinite(self.outcomes[rows]).sum())
            n_checked = 0 if n_checked < _FEWEST else n_checked
            share = (share * n_checked + of_all) / (n_checked + 1)
            facts = {"outcomes": self.outcomes[rows], "weights": self.weights[rows]}
            wrong[rows] = Anchor(share, low, high, "checked", **facts).wrong(disagreement[rows])
            seen = rows & np.isfinite(self.outcomes)
            others = rows & ~seen & (disagreement > 0)
            left = wrong[rows].sum() - self.outcomes[seen].sum()
            if others.any():  # what the checked rows were expected to have and have not is left to the others
                wrong[others] = shifted(wrong[others], float(np.clip(left, 0.0, others.sum())))
            wrong[seen] = self.outcomes[seen]
        return wrong

    def notes(self) -> tuple[Note, ...]:
        """Along which columns labels are wrong more often."""
        return (note("errors along", names=list(self.along)) if self.along else note("errors along none"),)


def anchor_of(problem: Problem, disagreement: Floats, codes: Codes) -> CheckedAnchor:
    """The anchor of the checked rows of a problem with classes.

    ``disagreement`` of the models with each label, and ``codes``, the place of each given class among those judged, are
    those of the audit.
    """
    assert problem.checks is not None
    truth = problem.checks.truth
    checked = truth.labelled & (codes >= 0)
    differs = np.where(checked, (truth.codes != problem.supervision.codes).astype(np.float64), np.nan)
    whole = evidence_of(problem)
    of_errors = replace(
        whole,
        proxies=np.nan_to_num(disagreement)[None, :, None],
        truth=differs[whole.checked][:, None],
    ).rows(codes >= 0)
    share, low, high = _share(of_errors)
    labelled = codes[codes >= 0]
    by_class = np.array([_share(of_errors.rows(labelled == code)) for code in range(int(labelled.max()) + 1)])
    pvalues = truth_pvalues(of_errors, effects(of_errors))
    varying = pvalues < 1
    qvalues = np.ones(len(pvalues))
    if varying.any():
        qvalues[varying] = false_discovery_control(pvalues[varying])
    weights = np.ones(problem.n_rows)
    weights[whole.checked] = 1.0 / whole.chance
    names = np.full(problem.n_rows, None, dtype=object)
    names[truth.labelled] = truth.classes[truth.codes[truth.labelled]]
    facts: dict[str, Any] = {"outcomes": differs, "weights": weights, "codes": codes, "by_class": by_class}
    facts["truth"] = names
    along = tuple(map(str, problem.feature_names[qvalues <= _LEVEL]))
    return CheckedAnchor(
        share, low, high, "checked", n_checked=int(checked.sum()), along=along, pvalues=pvalues, **facts
    )


def _share(evidence: TruthEvidence) -> tuple[float, float, float]:
    """The share of wrong labels and its interval; from 0 to 1 if nobody checked any."""
    n_checked = evidence.n_drawn
    if n_checked < _FEWEST:
        return 0.5, 0.0, 1.0
    found = means(evidence)
    share = float(np.clip(found.estimates[0, 0], 0.0, 1.0))
    low, high = share_interval(share, float((found.roots**2).sum()), n_checked)
    return share, min(low, share), max(high, share)
