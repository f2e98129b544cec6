r"""Tests about the truth, from rows that were drawn at random and checked.

The given labels :math:`Y` of :math:`n` rows may be wrong, even because of a column. The truth :math:`T` is known of
:math:`m` rows, drawn with known chances :math:`\pi_i`. A *proxy* of the truth is known of all rows: the given label,
and what models believe of the row. Let :math:`F_i` be the combination of the proxies that is nearest to the truth among
the checked rows. Then the covariance of a column and the truth is estimated by

.. math::

    \hat\theta = \frac1n \sum_i x_i F_i + \sum_{i \text{ checked}} \omega_i\, x_i (T_i - F_i), \qquad
    \omega_i = \frac{1/\pi_i}{\sum_j 1/\pi_j} .

The second sum repairs whatever is wrong with the proxies, so the estimate is about the truth however bad they are; good
proxies only make it more precise. This is the regression estimator of two-phase sampling [1]_, known for predictions of
models as prediction-powered inference [2]_; fitting the weight of the proxies so that they can only help is [3]_. The
combination is a ridge regression of the truth on the proxies, in which no row plays a part in its own :math:`F_i`
(cross-prediction, [4]_).

With :math:`r_i = x_i (T_i - F_i)` and :math:`u_i = x_i (T_i - \bar T)`, the variance of the estimate is that of the
draw of the checked rows and that of the rows themselves:

.. math::

    \frac{m}{m-1} \Bigl( \sum_i (1 - \pi_i)\, \omega_i^2 (r_i - \bar r)^2
    \; + \; \frac1{n^2} \sum_i \frac1{\pi_i} (u_i - \bar u)^2 \Bigr) .

Both parts are scaled by what they would be in all rows over what they would be in the checked ones, if the truth were
:math:`F_i` and an error of the same spread everywhere: for the first part by the ratio of the mean squares of :math:`x`
(ratio estimation, [1]_), for the second by that of :math:`x_i^2 ((F_i - \bar F)^2 + s^2)`, :math:`s^2` the mean square
of :math:`T_i - F_i`. The columns of all rows are known, and few checked rows may hold none of those in which a column
varies most. Nor may they hold any of the rare rows in which the proxies are wrong. So the first part is multiplied by
:math:`(m s^2 + v) / ((m + 1) s^2)` as well, :math:`v` the variance of the truth: as if one more row had been checked,
of which the proxies say nothing.

If rows belong together, squares are of sums over each group, and :math:`m` counts groups. One number is tested with the
t law of :math:`m - 1` degrees of freedom. If a feature has several columns or the truth several classes, the sum of all
squared estimates over the sum of their variances is compared with Box's F law [5]_. The law assumes that a sum over the
checked rows is about normal; so columns of numbers are replaced by their normal scores.

References
----------
.. [1] C.-E. Särndal, B. Swensson and J. Wretman (1992). Model Assisted Survey Sampling. Springer.
.. [2] A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic (2023). Prediction-powered inference.
   Science 382, 669-674.
.. [3] A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023). PPI++: efficient prediction-powered inference.
   arXiv:2311.01453.
.. [4] T. Zrnic and E. J. Candès (2024). Cross-prediction-powered inference. Proceedings of the National Academy of
   Sciences 121.
.. [5] G. E. P. Box (1954). Some theorems on quadratic forms applied in the study of analysis of variance problems.
   Annals of Mathematical Statistics 25, 290-302.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.stats import false_discovery_control

from dubio.evidence.evidence import Evidence, varying_features
from dubio.problem import Problem
from dubio.table.matrix import Columns, standardize
from dubio.target.numbers import Numbers
from dubio.words import Note, note, say

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Ridge of the regression of the truth on the proxies, as a share of the checked rows (proxies have unit variance).
_RIDGE = 0.01
#: Checked rows of the rarer kind from which on the variance of a share counts more than that of plain checks.
_PRIOR_CHECKS = 10.0
#: Probability that a column like this one is settled by the further rows that a verdict names.
_SETTLED = 0.8


@dataclass(frozen=True, eq=False)
class TruthEvidence:
    """What is known of the truth: the columns and proxies of all rows, and the truth of some."""

    #: (n_rows, n_columns): the columns of the table, centred.
    columns: Floats
    #: (n_proxies, n_rows, q): what stands for the truth in all rows, in the columns of the truth.
    proxies: Floats
    #: The rows that were checked, (m,), and what was found, (m, q).
    checked: Codes
    truth: Floats
    #: (m,): the chance with which each of them was drawn.
    chance: Floats
    #: (n_rows,): weights of the rows with a mean of 1, and the group of each.
    weights: Floats
    groups: Codes
    #: Which columns are one feature.
    layout: Columns | None = None

    def rows(self, kept: NDArray[np.bool_]) -> TruthEvidence:
        """The evidence of some rows alone."""
        left = kept[self.checked]
        return replace(
            self,
            columns=self.columns[kept],
            proxies=self.proxies[:, kept],
            checked=(np.cumsum(kept) - 1)[self.checked[left]],
            truth=self.truth[left],
            chance=self.chance[left],
            weights=self.weights[kept],
            groups=self.groups[kept],
        )

    def minus(self, label: Floats) -> TruthEvidence:
        """The same rows with the truth minus a label of all rows (n_rows, q) in place of the truth."""
        return replace(self, proxies=self.proxies - label, truth=self.truth - label[self.checked])

    def columns_of(self, feature: int) -> Codes:
        """The columns of one feature."""
        return np.array([feature]) if self.layout is None else self.layout.of(feature)

    @property
    def n_drawn(self) -> int:
        """How many were checked: rows, or groups if rows belong together."""
        return len(np.unique(self.groups[self.checked]))

    @property
    def n_features(self) -> int:
        return self.columns.shape[1] if self.layout is None else self.layout.n_features


@dataclass(frozen=True, eq=False)
class Effects:
    """Estimates (columns, q), and ``roots`` (k, columns, q): sums of products over the first axis are covariances."""

    estimates: Floats
    roots: Floats
    #: Degrees of freedom of the variances.
    freedom: float


def effects(evidence: TruthEvidence) -> Effects:
    """The covariance of every column with the truth, and its error: the formulas of this module."""
    return _estimates(evidence, evidence.columns - np.average(evidence.columns, axis=0, weights=evidence.weights))


def means(evidence: TruthEvidence) -> Effects:
    """The mean of the truth over all rows, and its error: the same formulas with :math:`x_i = 1`."""
    return _estimates(evidence, np.ones((len(evidence.weights), 1)))


def _estimates(evidence: TruthEvidence, columns: Floats) -> Effects:
    """The weighted mean of the products of some columns with the truth."""
    rows, weights = evidence.checked, evidence.weights
    drawn = weights[rows] / evidence.chance
    share = drawn / drawn.sum()
    predicted = combined_proxies(evidence)
    some, centred = columns[rows], evidence.truth - share @ evidence.truth
    residuals = some[:, :, None] * (evidence.truth - predicted[rows])[:, None, :]
    moments = some[:, :, None] * centred[:, None, :]
    corrections = np.tensordot(share, residuals, 1)
    estimates = (columns * (weights / weights.sum())[:, None]).T @ predicted + corrections
    groups, starts = np.unique(evidence.groups[rows], return_inverse=True)
    n_drawn = len(groups)
    chance = np.bincount(starts, evidence.chance) / np.bincount(starts)
    of_draw = _sums(share[:, None, None] * (residuals - corrections), starts, n_drawn)
    of_draw *= np.sqrt(1.0 - chance)[:, None, None]
    of_rows = _sums(weights[rows, None, None] * (moments - np.tensordot(share, moments, 1)), starts, n_drawn)
    of_rows /= np.sqrt(chance)[:, None, None] * weights.sum()
    by_group = _sums(share, starts, n_drawn)
    freedom = 1.0 / float((by_group**2).sum()) - 1.0
    spread = share @ (evidence.truth - predicted[rows]) ** 2
    one_more = np.divide(share @ centred**2, spread, out=np.ones(len(spread)), where=spread > 0)
    of_draw *= np.sqrt((n_drawn + one_more) / (n_drawn + 1))
    guesses = predicted - np.average(predicted, axis=0, weights=weights)
    scale_of_draw, scale_of_rows = _scales(evidence, columns, guesses, spread, starts, chance)
    roots = np.concatenate([of_draw * np.sqrt(scale_of_draw)[:, None], of_rows * np.sqrt(scale_of_rows)])
    return Effects(estimates, roots * np.sqrt(n_drawn / max(1, n_drawn - 1)), freedom)


def _scales(
    evidence: TruthEvidence, columns: Floats, guesses: Floats, spread: Floats, starts: Codes, chance: Floats
) -> tuple[Floats, Floats]:
    """The scales of the two variances, (columns,) and (columns, q): what they would be in all rows, over what they
    would be in the checked ones, if the truth were the guess and an error of the same spread everywhere."""
    weights, rows = evidence.weights, evidence.checked
    units, places = np.unique(evidence.groups, return_inverse=True)

    def sums(of: Floats) -> tuple[Floats, Floats]:
        """The squares of the sums over each group: summed over all groups, and over those drawn, for all of them."""
        every = sparse.csr_array((of, (places, np.arange(len(of)))), shape=(len(units), len(of))) @ columns
        some = sparse.csr_array((of[rows], (starts, np.arange(len(rows)))), shape=(len(chance), len(rows)))
        return (every**2).sum(axis=0), (1.0 / chance) @ (some @ columns[rows]) ** 2

    size = sums(weights)
    scales = np.ones_like(spread, shape=(columns.shape[1], len(spread)))
    for k in range(len(spread)):
        whole, part = (own + spread[k] * other for own, other in zip(sums(weights * guesses[:, k]), size, strict=True))
        np.divide(whole, part, out=scales[:, k], where=part > 0)
    of_draw = size[0] / len(units) * (1.0 / chance).sum()
    return np.divide(of_draw, size[1], out=np.ones(len(of_draw)), where=size[1] > 0), scales


def _sums(values: Floats, places: Codes, count: int) -> Floats:
    """Sums over the rows of each group."""
    sums = np.zeros((count, *values.shape[1:]))
    np.add.at(sums, places, values)
    return sums


def combined_proxies(evidence: TruthEvidence) -> Floats:
    """(n_rows, q): the combination of the proxies that is nearest to the truth.

    Each proxy has one weight, and each column of the truth its own mean. A checked row gets the combination that was
    fitted without its group.
    """
    rows, truth = evidence.checked, evidence.truth
    q = truth.shape[1]
    proxies = evidence.proxies - np.average(evidence.proxies, axis=1, weights=evidence.weights)[:, None, :]
    scale = np.sqrt((proxies**2).mean(axis=(1, 2)))
    proxies = proxies[scale > 0] / scale[scale > 0, None, None]
    k = len(proxies)
    design = np.concatenate([proxies.transpose(1, 2, 0), np.broadcast_to(np.eye(q), (proxies.shape[1], q, q))], axis=2)
    weights = evidence.weights[rows] / evidence.chance
    weights = weights / weights.mean()
    some = design[rows] * weights[:, None, None]
    groups, places = np.unique(evidence.groups[rows], return_inverse=True)
    squares = _sums(np.einsum("iqa,iqb->iab", some, design[rows]), places, len(groups))
    products = _sums(np.einsum("iqa,iq->ia", some, truth), places, len(groups))
    ridge = np.diag(np.append(np.full(k, _RIDGE * q * len(rows)), np.full(q, 1e-9 * len(rows))))
    square, product = squares.sum(axis=0), products.sum(axis=0)
    predicted = design @ np.linalg.solve(square + ridge, product)
    without = np.linalg.solve(square - squares + ridge, (product - products)[:, :, None])[places, :, 0]
    predicted[rows] = np.einsum("iqa,ia->iq", design[rows], without)
    return np.asarray(predicted)


def share_interval(share: float, variance: float, n_checked: int, level: float = 0.05) -> tuple[float, float]:
    """The interval of a share that was estimated with this variance: Clopper and Pearson's, for the number of plain
    checks that would estimate it as well.

    If few checked rows are of the rarer kind, the variance is itself uncertain: then the number is nearly that of the
    checked rows.
    """
    near = (min(max(share, 0.0), 1.0) * n_checked + 1.0) / (n_checked + 2.0)
    rarer = min(near, 1.0 - near) * n_checked - 1.0
    ratio = variance * n_checked / (near * (1.0 - near))
    n = n_checked * (rarer + _PRIOR_CHECKS) / (rarer * ratio + _PRIOR_CHECKS)
    hits = min(max(share, 0.0), 1.0) * n
    low = stats.beta.ppf(level / 2, hits, n - hits + 1) if hits > 0 else 0.0
    high = stats.beta.ppf(1 - level / 2, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)


def truth_pvalues(evidence: TruthEvidence, found: Effects) -> Floats:
    """The p-value of every feature: whether it is related to the truth. 1 for a constant feature."""
    pvalues = np.ones(evidence.n_features)
    for feature in range(evidence.n_features):
        places = evidence.columns_of(feature)
        estimate = found.estimates[places].ravel()
        roots = found.roots[:, places].reshape(len(found.roots), -1)
        variance = float((roots**2).sum())
        if variance > 0 and found.freedom > 0:
            inner = roots @ roots.T if len(roots) < roots.shape[1] else roots.T @ roots
            dimension = variance**2 / float((inner**2).sum())
            pvalues[feature] = stats.f.sf(estimate @ estimate / variance, dimension, found.freedom)
    return pvalues


@dataclass(frozen=True, eq=False)
class Comparison:
    """Some features, along the direction of their effect on the label: the effects on the truth and on the label."""

    #: The size of the effect on the label, and the effect on the truth in the same direction.
    label: Floats
    truth: Floats
    #: Standard error of the effect on the truth.
    error: Floats
    #: p-value of the hypothesis that the effect on the truth is at least that on the label.
    pvalues: Floats
    freedom: float


def compare_with_label(evidence: TruthEvidence, label: Floats, features: Codes) -> Comparison:
    """Compare the effect of some features on the truth with that on a label (n_rows, q).

    The difference is estimated as such: it is known that truth and label agree in most rows. All rows have a label.
    """
    weights = evidence.weights / evidence.weights.sum()
    centred = evidence.columns - weights @ evidence.columns
    of_label = (centred * weights[:, None]).T @ label
    of_truth, difference = effects(evidence), effects(evidence.minus(label))
    sizes, along, errors = np.zeros((3, len(features)))
    pvalues = np.ones(len(features))
    for at, feature in enumerate(features.tolist()):
        places = evidence.columns_of(feature)
        direction = of_label[places]
        sizes[at] = np.sqrt((direction**2).sum())
        direction = direction / (sizes[at] or 1.0)
        along[at] = (direction * of_truth.estimates[places]).sum()
        errors[at] = _spread(of_truth, places, direction)
        spread = _spread(difference, places, direction)
        if spread > 0 and difference.freedom > 0:
            less = (direction * difference.estimates[places]).sum() / spread
            pvalues[at] = stats.t.cdf(less, difference.freedom)
    return Comparison(sizes, along, errors, pvalues, difference.freedom)


def _spread(found: Effects, places: Codes, direction: Floats) -> float:
    """Standard error of the estimates of some columns along a direction."""
    return float(np.sqrt(((found.roots[:, places] * direction).sum(axis=(1, 2)) ** 2).sum()))


def further_rows(compared: Comparison, n_checked: int, level: float) -> Floats:
    r"""How many more checked rows would settle each feature: whether its effect on the truth is that on the label or 0.

    An effect as large as that on the label is seen at this two-sided level with a probability of 80 % once its standard
    error is below :math:`|\theta_L| / (z_{1 - level / 2} + z_{0.8})`, and the error falls with the root of the number
    of checked rows.
    """
    reach = stats.norm.ppf(1 - level / 2) + stats.norm.ppf(_SETTLED)
    wanted, none = compared.error * reach, np.full(len(compared.label), np.inf)
    ratio = np.divide(wanted, compared.label, out=none, where=compared.label > 0)
    return np.maximum(0.0, n_checked * (ratio**2 - 1.0))


def _known_everywhere(problem: Problem) -> Numbers:
    """A target of which every row has a value, so that columns are those of all rows; no given column explains it."""
    values = np.random.default_rng(0).normal(size=problem.n_rows)
    return Numbers(labelled=np.ones(problem.n_rows, dtype=bool), values=values)


def evidence_of(problem: Problem) -> TruthEvidence:
    """The evidence about the truth of a problem with checked rows."""
    checks = problem.checks
    assert checks is not None
    whole = Evidence.of(problem.with_supervision(_known_everywhere(problem)), within=False)
    if not whole.are_residuals:  # normal scores of residuals would be related to the given columns again
        whole = whole.on_normal_scores()
    given, truth = problem.supervision.with_truth(checks.truth)
    proxies = [given]
    if checks.belief is not None:
        believed = checks.belief.goals()[0].reshape(problem.n_rows, -1)
        proxies += [believed] if believed.shape == given.shape else []
    rows = np.flatnonzero(checks.truth.labelled)
    return TruthEvidence(
        np.asarray(standardize(np.asarray(whole.columns, dtype=np.float64), whole.layout)),
        np.stack(proxies),
        rows,
        truth[rows],
        checks.chance[rows],
        whole.weights if len(whole.weights) else np.ones(problem.n_rows),
        np.arange(problem.n_rows) if problem.groups is None else problem.groups,
        whole.layout,
    )


@dataclass(frozen=True, eq=False)
class Truth:
    """The answer about the truth, with one entry per feature."""

    pvalues: Floats
    qvalues: Floats
    #: "truth", "labels", "open", "open in all" (checking every row would not settle it), or "none".
    verdicts: NDArray[Any]
    #: How many more checked rows would settle a feature whose verdict is "open"; else 0.
    further: Codes
    n_checked: int
    n_undecided: int

    def are(self, *verdicts: str) -> NDArray[np.bool_]:
        """The features with one of these verdicts."""
        return np.isin(self.verdicts, verdicts)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns of the ranking."""
        told = [say(f"verdict {code}", n=n) for code, n in zip(self.verdicts, self.further.tolist(), strict=True)]
        return {"p_truth": self.pvalues, "q_truth": self.qvalues, "verdict": np.array(told, dtype=object)}

    def note(self, names: NDArray[Any]) -> Note:
        """The answer in a sentence."""
        facts = {name: names[self.are(name)].tolist() for name in ("truth", "labels")}
        n_open = int(self.are("open", "open in all").sum())
        parts = [say(f"checked {name}", names=some, n=len(some)) for name, some in facts.items() if some]
        parts += [say("checked nothing")] if not facts["truth"] else []
        parts += [say("checked open", n=n_open)] if n_open else []
        undecided = say("checked undecided", n=self.n_undecided) if self.n_undecided else ""
        return note("checked", n=self.n_checked, undecided=undecided, parts="; ".join(parts))


def truth_of(problem: Problem, related: NDArray[np.bool_], alpha: float) -> Truth:
    """Test every feature against the truth, and compare with the features that are ``related`` to the given label.

    A feature is *related only to how rows were labelled* if it is related to the label but not to the truth, the
    difference of both effects is significant (Benjamini and Hochberg's rule among such features), and the interval of
    the effect on the truth lies below the effect on the label. To say it of every feature that is related to the label
    and not to the truth would say it of 10 to 48 % of the features that are related to the truth: with few checks, most
    of them are not settled.
    """
    problem = problem.counted
    checks = problem.checks
    assert checks is not None
    evidence = evidence_of(problem)
    pvalues = truth_pvalues(evidence, effects(evidence))
    counts = varying_features(problem.with_supervision(_known_everywhere(problem))) & problem.is_judged
    qvalues = np.ones(len(pvalues))
    qvalues[counts] = false_discovery_control(pvalues[counts])
    found = (qvalues <= alpha) & (qvalues.min() <= alpha / 2)
    verdicts = np.where(found, "truth", "none").astype(object)
    further = np.zeros(len(pvalues), dtype=np.int64)
    open_ones = np.flatnonzero(related & ~found)
    labelled = problem.supervision.labelled
    if len(open_ones):
        part = evidence.rows(labelled)
        compared = compare_with_label(part, part.proxies[0], open_ones)
        highest = compared.truth + stats.t.ppf(1 - alpha / 2, max(compared.freedom, 1.0)) * compared.error
        only = (false_discovery_control(compared.pvalues) <= alpha) & (highest < compared.label)
        rows = further_rows(compared, len(part.checked), alpha)
        left = problem.n_rows_in_all - len(part.checked)
        verdicts[open_ones] = np.where(only, "labels", np.where(rows > left, "open in all", "open"))
        tens = 10 * np.ceil(np.clip(rows, 1, left) / 10).astype(np.int64)
        further[open_ones] = np.where(verdicts[open_ones] == "open", tens, 0)
    return Truth(pvalues, qvalues, verdicts, further, checks.n_checked, checks.n_undecided)
