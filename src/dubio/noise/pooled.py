"""Combine the opinions of several experts: a log-linear pool, and the posterior of the true class.

The pool is ``q_ik ~ prod_e p_eik ** w_e`` with weights ``w_e >= 0`` that maximise the likelihood of the observed
labels, with a prior towards equal ones. There are two ways to read those labels:

* *stacked*: the experts predict the observed label, so the likelihood of row ``i`` is ``q_i[y_i]``;
* *pooled*: the experts predict the true class, and every label is wrong with the same probability ``rho``, with equal
  chances for all other classes. So the likelihood is ``(1 - rho) q_i[y_i] + rho / (K - 1) (1 - q_i[y_i])``. The
  posterior of the true class given the row *and* its label follows by Bayes' rule.

There are only a few parameters for all rows, and no expert has seen the row it judges. So a label cannot confirm
itself. It could if a model were trained on these posteriors and then used to judge the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Weight of the class priors mixed into each expert, so that no expert is ever completely sure.
FLOOR = 0.05
#: Prior of the weights: equal ones that sum to 1, with this strength (in nats per squared difference). Without it, the
#: weight of an expert who knows nothing can grow until it looks sure, if there are more columns than rows.
_STRENGTH, _STRENGTH_WITH_FLIPS = 5.0, 1.0
#: The largest flip rate, as a share of the rate of pure chance. A higher rate cannot be told from chance.
_MOST_FLIPS = 0.95


@dataclass(frozen=True)
class Pool:
    """The pooled opinion on every row."""

    weights: Floats
    """(experts,)"""
    flip_rate: float
    """The fitted rate of uniform flips; 0.0 if the model has no flips."""
    opinions: Floats
    """(rows, classes): the experts' opinion of a row, without its label."""
    memberships: Floats
    """(rows, classes): the opinion together with the label; equal to ``opinions`` without flips."""


def pool_experts(probabilities: Floats, codes: Codes, *, flips: bool, row_weights: Floats | None = None) -> Pool:
    """Fit the weights (and, with ``flips``, the flip rate) on the labelled rows and pool the experts.

    Parameters
    ----------
    probabilities : array (experts, rows, classes)
        Out-of-fold probabilities.
    codes : int64 array (rows,)
        Observed class, -1 if there is no label.
    flips : bool
        Whether an observed label may differ from the class that the experts predict.
    row_weights : array (rows,), optional
        Weight of each row in the likelihood; only the ratios matter.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.noise.pooled import pool_experts
    >>> sure = np.array([[[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 8])
    >>> labels = np.array([0] * 7 + [1] + [1] * 8)
    >>> pool = pool_experts(sure, labels, flips=True)
    >>> int(pool.opinions[7].argmax()), bool(pool.memberships[7, 1] > pool.memberships[0, 1])
    (0, True)
    """
    labelled = codes >= 0
    n_classes = probabilities.shape[2]
    logs = logs_of(probabilities, codes, row_weights)
    known_weights = None if row_weights is None else row_weights[labelled] / row_weights[labelled].mean()
    weights, rate = _fit(logs[:, labelled], codes[labelled], flips, known_weights)
    opinions = log_pool(logs, weights)
    memberships = opinions
    if flips:
        memberships = opinions.copy()
        given = np.full((int(labelled.sum()), n_classes), rate / (n_classes - 1))
        given[np.arange(len(given)), codes[labelled]] = 1.0 - rate
        memberships[labelled] *= given
        memberships /= memberships.sum(axis=1, keepdims=True)
    return Pool(weights, rate, opinions, memberships)


def logs_of(probabilities: Floats, codes: Codes, row_weights: Floats | None = None) -> Floats:
    """Logarithms of the experts' probabilities, mixed with a little of the class priors."""
    labelled = codes >= 0
    priors = np.bincount(codes[labelled], minlength=probabilities.shape[2]) / labelled.sum()
    if row_weights is not None:
        priors = np.bincount(codes[labelled], row_weights[labelled], minlength=probabilities.shape[2])
        priors = priors / priors.sum()
    return np.asarray(np.log((probabilities + FLOOR * priors) / (1.0 + FLOOR) + 1e-12))


def log_pool(logs: Floats, weights: Floats) -> Floats:
    """The log-linear pool of the experts with these weights: (rows, classes)."""
    total = np.tensordot(weights, logs, axes=1)
    total -= total.max(axis=1, keepdims=True)
    np.exp(total, out=total)
    total /= total.sum(axis=1, keepdims=True)
    return total


def _fit(logs: Floats, codes: Codes, flips: bool, row_weights: Floats | None) -> tuple[Floats, float]:
    n_experts, n, n_classes = logs.shape
    rows = np.arange(n)
    own_logs = logs[:, rows, codes]
    others = n_classes - 1

    def loss(parameters: Floats) -> tuple[float, Floats]:
        rate = parameters[-1] if flips else 0.0
        pooled = log_pool(logs, parameters[:n_experts])
        own = pooled[rows, codes]
        likelihood = (1.0 - rate) * own + rate / others * (1.0 - own)
        likelihood = np.maximum(likelihood, 1e-300)
        slope = (1.0 - rate - rate / others) / likelihood * own
        fit = np.log(likelihood)
        by_rate = ((1.0 - own) / others - own) / likelihood
        if row_weights is not None:
            slope, fit, by_rate = slope * row_weights, fit * row_weights, by_rate * row_weights
        # d own / d w_e = own (log p_e[y] - mean over the pool of log p_e)
        gradient = (own_logs - np.einsum("ik,eik->ei", pooled, logs)) @ slope
        away = parameters[:n_experts] - 1.0 / n_experts
        gradient = gradient - 2 * strength * away
        if flips:
            gradient = np.append(gradient, by_rate.sum())
        return (strength * float(away @ away) - float(fit.sum())) / n, -gradient / n

    strength = _STRENGTH_WITH_FLIPS if flips else _STRENGTH
    start = np.full(n_experts, 1.0 / n_experts)
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * n_experts
    if flips:
        start = np.append(start, 0.1)
        bounds.append((1e-4, _MOST_FLIPS * others / n_classes))
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return found[:n_experts], float(found[-1]) if flips else 0.0
