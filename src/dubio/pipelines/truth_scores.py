"""Scores of a model against the truth, from rows that were drawn at random and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from dubio.evidence.truth import TruthEvidence, means, share_interval
from dubio.pipelines.estimate import Estimate
from dubio.target.checked import Checks
from dubio.target.knowledge import Supervision
from dubio.words import Note, note

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TruthScores:
    """Scores of a model against the truth, each with its interval.

    Attributes
    ----------
    accuracy, balanced_accuracy : Estimate
        The share of rows of which the model names the true class; the mean of this share over the true classes.
    auc : Estimate or None
        Of two classes: how often a row of the second class has a higher score than a row of the first.
    n_checked : int
        Checked rows on which the model was tested.
    """

    accuracy: Estimate
    balanced_accuracy: Estimate
    auc: Estimate | None
    n_checked: int

    def note(self) -> Note:
        """The scores in a clause."""
        code = "scores of truth" if self.auc is None else "scores of truth with auc"
        return note(code, n=self.n_checked, **vars(self))

    def record(self) -> dict[str, Any]:
        """Everything as plain numbers, for JSON."""
        return {name: vars(value) if isinstance(value, Estimate) else value for name, value in vars(self).items()}


def truth_scores(
    checks: Checks,
    supervision: Supervision,
    named: Floats,
    scores: Floats,
    weights: Floats | None,
    groups: NDArray[np.int64] | None,
) -> TruthScores | None:
    r"""Scores of predictions of rows that the model had not seen; None if too few of these were checked.

    Let :math:`P_{ik}` be how often row :math:`i` was said to be of class :math:`k`, and :math:`T_{ik}` be 1 if it is.
    The accuracy is the mean of :math:`\sum_k P_{ik} T_{ik}`, and the share of class :math:`k` that is found is the mean
    of :math:`P_{ik} T_{ik}` over that of :math:`T_{ik}`. With the ranks :math:`r_i` of the scores among all rows, as
    shares, and :math:`\pi` the share of the second class, the area under the curve is
    :math:`(E[r T] / \pi - \pi / 2) / (1 - \pi)`. All of these are functions of means, which
    :func:`dubio.evidence.truth.means` estimates with the given labels as proxies; their errors follow by the delta
    method.

    Parameters
    ----------
    checks, supervision
        The truth of some rows, and what is known of the target.
    named : array (n_rows, n_classes)
        How often each row was said to be of each class; NaN for rows that were not predicted.
    scores : array (n_rows,)
        Scores of the second class, for two classes.
    weights, groups
        Of the rows; None if all weigh the same, and if no rows belong together.
    """
    rows = np.asarray(~np.isnan(named).any(axis=1))
    n, n_classes = named.shape
    ranks = np.full(n, np.nan)
    ranks[rows] = (rankdata(scores[rows]) - 0.5) / rows.sum()

    def columns(of: Floats) -> Floats:
        return np.column_stack([named * of, of, ranks * of[:, -1]])

    proxies = [supervision.goals()[0]] + ([] if checks.belief is None else [checks.belief.goals()[0]])
    checked = np.flatnonzero(checks.truth.labelled)
    evidence = TruthEvidence(
        np.zeros((n, 0)),
        np.nan_to_num(np.stack([columns(one) for one in proxies])),
        checked,
        np.nan_to_num(columns(checks.truth.memberships))[checked],
        checks.chance[checked],
        np.ones(n) if weights is None else weights,
        np.arange(n) if groups is None else groups,
    ).rows(rows)
    m = len(evidence.checked)
    if m < n_classes + 2 or (evidence.truth[:, n_classes : 2 * n_classes].sum(axis=0) == 0).any():
        return None
    evidence = replace(evidence, weights=evidence.weights / evidence.weights.mean())
    found = means(evidence)
    mean, roots = found.estimates[0], found.roots[:, 0]
    hits, shares = mean[:n_classes], np.maximum(mean[n_classes : 2 * n_classes], 1e-9)

    def estimate(value: float, gradient: Floats) -> Estimate:
        value = float(np.clip(value, 0.0, 1.0))
        low, high = share_interval(value, float(((roots @ gradient) ** 2).sum()), evidence.n_drawn)
        return Estimate(value, min(low, value), max(high, value))

    zeros = np.zeros(n_classes)
    accuracy = estimate(hits.sum(), np.concatenate([zeros + 1.0, zeros, [0.0]]))
    of_classes = np.concatenate([1.0 / shares, -hits / shares**2, [0.0]]) / n_classes
    balanced = estimate((hits / shares).mean(), of_classes)
    auc = None
    if n_classes == 2:
        product, share = float(mean[-1]), float(np.clip(shares[1], 1e-6, 1 - 1e-6))
        area = (product / share - share / 2) / (1 - share)
        of_share = (-product / share**2 - 0.5) / (1 - share) + area / (1 - share)
        auc = estimate(area, np.array([0.0, 0.0, 0.0, of_share, 1.0 / (share * (1 - share))]))
    return TruthScores(accuracy, balanced, auc, m)
