"""The engines of the label audit: confident learning, one flip rate, and a rate for each pair of classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Tolerance when a probability is compared with its threshold, as in cleanlab.
_SLACK = 1e-6


class ConfidentCount(NamedTuple):
    """The result of confident learning on out-of-fold probabilities."""

    thresholds: Floats
    """(classes,): mean probability of a class among the rows with that label; a row above it counts as sure."""
    joint: Floats
    """(classes, classes): estimated number of rows with observed label ``g`` and true class ``t`` at ``[g, t]``."""
    doubtful: NDArray[np.bool_]
    """(rows,): the experts are sure of another class than the label, and find it more probable."""


def confident_count(probabilities: Floats, codes: Codes) -> ConfidentCount:
    r"""Count the rows that surely belong to a class, by observed label and by that class.

    A row surely belongs to class :math:`k` if :math:`p_{ik} \ge t_k`, where :math:`t_k` is the mean of :math:`p_{ik}`
    over the rows labelled :math:`k`. If this holds for several classes, the most probable one counts. The counts are
    scaled so that every observed label keeps its number of rows. They estimate the joint distribution of observed and
    true labels.

    Every class must occur among the labels.

    References
    ----------
    .. [1] C. Northcutt, L. Jiang and I. Chuang (2021). Confident learning: estimating uncertainty in dataset labels.
       Journal of Artificial Intelligence Research 70, 1373-1411.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.doubt.engines import confident_count
    >>> probabilities = np.array([[0.9, 0.1]] * 5 + [[0.2, 0.8]] * 5)
    >>> found = confident_count(probabilities, np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1]))
    >>> found.doubtful.nonzero()[0], found.joint
    (array([4]), array([[4., 0.],
           [1., 5.]]))
    """
    n, n_classes = probabilities.shape
    counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
    own = probabilities[np.arange(n), codes]
    thresholds = np.maximum(np.bincount(codes, own, minlength=n_classes) / counts, 2 * _SLACK)
    sure = probabilities >= thresholds - _SLACK
    predicted = probabilities.argmax(axis=1)
    guess = np.where(sure.sum(axis=1) > 1, predicted, sure.argmax(axis=1))
    counted = sure.any(axis=1)
    joint = np.zeros((n_classes, n_classes))
    np.add.at(joint, (codes[counted], guess[counted]), 1.0)
    np.fill_diagonal(joint, np.maximum(joint.diagonal(), 1.0))
    joint *= (counts / joint.sum(axis=1))[:, None]
    # The experts must also find another class more probable: near a border they are often sure of two classes.
    doubtful = counted & (guess != codes) & (own < probabilities.max(axis=1) - _SLACK)
    return ConfidentCount(thresholds, joint, doubtful)


#: Weight of the class priors mixed into each expert, so that no expert is ever completely sure.
FLOOR = 0.05
#: Prior of the weights: equal ones that sum to 1, with this strength (in nats per squared difference). Without it, the
#: weight of an expert who knows nothing can grow until it looks sure, if there are more columns than rows.
_STRENGTH, _STRENGTH_WITH_FLIPS = 5.0, 1.0
#: The largest flip rate, as a share of the rate of pure chance. A higher rate cannot be told from chance.
_MOST_FLIPS = 0.95


class Pool(NamedTuple):
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
    """Fit the weights of the experts (experts, rows, classes) on the labelled rows, and pool them.

    With ``flips``, an observed label may differ from the class that the experts predict, at a rate that is fitted too.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.doubt.engines import pool_experts
    >>> sure = np.array([[[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 8])
    >>> labels = np.array([0] * 7 + [1] + [1] * 8)
    >>> pool = pool_experts(sure, labels, flips=True)
    >>> int(pool.opinions[7].argmax()), bool(pool.memberships[7, 1] > pool.memberships[0, 1])
    (0, True)
    """
    labelled = np.flatnonzero(codes >= 0)
    y = codes[labelled]
    row_weights = np.ones(len(y)) if row_weights is None else row_weights[labelled]
    logs, row_weights = logs_of(probabilities, y, row_weights), row_weights / row_weights.mean()
    known, rows = logs[:, labelled], np.arange(len(y))
    n_experts, n, n_classes = known.shape
    own_logs, others = known[:, rows, y], n_classes - 1
    strength = _STRENGTH_WITH_FLIPS if flips else _STRENGTH

    def loss(parameters: Floats) -> tuple[float, Floats]:
        rate = parameters[-1] if flips else 0.0
        pooled = log_pool(known, parameters[:n_experts])
        own = pooled[rows, y]
        likelihood = np.maximum((1.0 - rate) * own + rate / others * (1.0 - own), 1e-300)
        slope = (1.0 - rate - rate / others) / likelihood * own * row_weights
        # d own / d w_e = own (log p_e[y] - mean over the pool of log p_e)
        gradient = (own_logs - np.einsum("ik,eik->ei", pooled, known)) @ slope
        away = parameters[:n_experts] - 1.0 / n_experts
        gradient = gradient - 2 * strength * away
        if flips:
            gradient = np.append(gradient, (((1.0 - own) / others - own) / likelihood * row_weights).sum())
        fit = float((np.log(likelihood) * row_weights).sum())
        return (strength * float(away @ away) - fit) / n, -gradient / n

    start, rate = np.full(n_experts, 1.0 / n_experts), 0.0
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * n_experts
    if flips:
        start = np.append(start, 0.1)
        bounds.append((1e-4, _MOST_FLIPS * others / n_classes))
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    weights = found[:n_experts]
    memberships = opinions = log_pool(logs, weights)
    if flips:
        rate, memberships = float(found[-1]), opinions.copy()
        given = np.full((n, n_classes), rate / others)
        given[rows, y] = 1.0 - rate
        memberships[labelled] *= given
        memberships /= memberships.sum(axis=1, keepdims=True)
    return Pool(weights, rate, opinions, memberships)


def logs_of(probabilities: Floats, known: Codes, row_weights: Floats | None = None) -> Floats:
    """Logarithms of the experts' probabilities, mixed with a little of the shares of the known classes."""
    priors = np.bincount(known, row_weights, minlength=probabilities.shape[2])
    priors = priors / priors.sum()
    return np.asarray(np.log((probabilities + FLOOR * priors) / (1.0 + FLOOR) + 1e-12))


def log_pool(logs: Floats, weights: Floats) -> Floats:
    """The log-linear pool of the experts with these weights: (rows, classes)."""
    total = np.tensordot(weights, logs, axes=1)
    total -= total.max(axis=1, keepdims=True)
    np.exp(total, out=total)
    total /= total.sum(axis=1, keepdims=True)
    return total


#: Prior of the experts' weights: around this value, with this strength (in nats per squared difference).
_WEIGHT, _TRANSITION_STRENGTH = 0.6, 5.0
#: Prior of the error rates of each class: as if this many rows had been seen, 95 % of them right.
_ROWS_SEEN, _RIGHT = 20.0, 0.95
#: Share of wrong labels in the model that the evidence is compared with.
_FEW_ERRORS = 0.01


class Transitions(NamedTuple):
    """The fitted model."""

    rates: Floats
    """(classes, classes): probability at ``[t, g]`` that a row of true class ``t`` has the label ``g``."""
    weights: Floats
    """(experts,)"""
    memberships: Floats
    """(rows, classes): posterior of the true class; rows without a label have the experts' opinion."""
    evidence: float
    """How much better the labels are explained than if one in a hundred were wrong (difference of the log-likelihoods,
    each with the prior of the weights)."""


def fit_transitions(probabilities: Floats, codes: Codes) -> Transitions:
    r"""Fit the error rates between all pairs of classes, with priors, and the weights of the experts.

    The pool :math:`q_{it} \propto \prod_e p_{eit}^{w_e}` stands for the true class, and :math:`T_{tg}` is the
    probability that a row of class :math:`t` is labelled :math:`g`. The weights and :math:`T` maximise

    .. math:: \sum_i \log \sum_t q_{it} T_{t y_i} - 5 \sum_e (w_e - 0.6)^2 + \sum_{t,g} a_{tg} \log T_{tg},

    where :math:`a_t` spreads 20 rows over the labels, 95 % of them on the right one. The posterior of the true class is
    :math:`m_{it} \propto q_{it} T_{t y_i}`. Without the priors, a weight can grow until an expert who knows nothing
    looks sure, and any error rate can be explained by sharper or softer experts.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.doubt.engines import fit_transitions
    >>> sure = np.array([[[0.9, 0.1]] * 80 + [[0.1, 0.9]] * 80])
    >>> labels = np.array([0] * 60 + [1] * 20 + [1] * 80)  # a quarter of the first class is labelled as the second
    >>> model = fit_transitions(sure, labels)
    >>> bool(model.rates[0, 1] > 0.1 > model.rates[1, 0])
    True
    """
    n_experts, _, n_classes = probabilities.shape
    labelled = np.flatnonzero(codes >= 0)
    y = codes[labelled]
    logs = logs_of(probabilities, y)
    known = logs[:, labelled]
    rows = np.arange(len(y))
    off = (1.0 - _RIGHT) / max(1, n_classes - 1)
    seen = _ROWS_SEEN * np.where(np.eye(n_classes, dtype=bool), _RIGHT, off)

    def unpack(parameters: Floats) -> tuple[Floats, Floats]:
        rates = parameters[n_experts:].reshape(n_classes, n_classes)
        rates = np.exp(rates - rates.max(axis=1, keepdims=True))
        return parameters[:n_experts], rates / rates.sum(axis=1, keepdims=True)

    def fit(weights: Floats, rates: Floats) -> float:
        own = np.maximum((log_pool(known, weights) @ rates)[rows, y], 1e-300)
        return float(_TRANSITION_STRENGTH * ((weights - _WEIGHT) ** 2).sum() - np.log(own).sum())

    def loss(parameters: Floats) -> tuple[float, Floats]:
        weights, rates = unpack(parameters)
        pooled = log_pool(known, weights)
        own = np.maximum((pooled @ rates)[rows, y], 1e-300)
        posterior = pooled * rates[:, y].T / own[:, None]
        counts = seen.copy()
        np.add.at(counts.T, y, posterior)
        penalty = _TRANSITION_STRENGTH * ((weights - _WEIGHT) ** 2).sum()
        value = -np.log(own).sum() + penalty - (seen * np.log(rates + 1e-12)).sum()
        by_weight = 2 * _TRANSITION_STRENGTH * (weights - _WEIGHT) - np.einsum("ik,eik->e", posterior - pooled, known)
        by_rate = counts.sum(axis=1, keepdims=True) * rates - counts
        return float(value) / len(y), np.concatenate([by_weight, by_rate.ravel()]) / len(y)

    start = np.where(np.eye(n_classes, dtype=bool), 0.85, 0.15 / max(1, n_classes - 1))
    first = np.concatenate([np.full(n_experts, _WEIGHT), np.log(start).ravel()])
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * n_experts + [(-12.0, 12.0)] * n_classes**2
    found = minimize(loss, first, jac=True, bounds=bounds, method="L-BFGS-B").x
    weights, rates = unpack(found)
    memberships = log_pool(logs, weights)
    memberships[labelled] *= rates[:, y].T
    memberships /= memberships.sum(axis=1, keepdims=True)
    few = np.where(np.eye(n_classes, dtype=bool), 1 - _FEW_ERRORS, _FEW_ERRORS / max(1, n_classes - 1))
    with_few = minimize(lambda w: fit(w, few), np.full(n_experts, _WEIGHT), bounds=bounds[:n_experts]).fun
    return Transitions(rates, weights, memberships, float(with_few - fit(weights, rates)))
