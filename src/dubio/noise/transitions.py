"""Labels that are wrong at different rates: the posterior of the true class under a matrix of error rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from dubio.noise.pooled import log_pool, logs_of

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Prior of the experts' weights: around this value, with this strength (in nats per squared difference).
_WEIGHT, _STRENGTH = 0.6, 5.0
#: Prior of the error rates of each class: as if this many rows had been seen, 95 % of them right.
_ROWS_SEEN, _RIGHT = 20.0, 0.95
#: Share of wrong labels in the model that the evidence is compared with.
_FEW_ERRORS = 0.01


@dataclass(frozen=True)
class Transitions:
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

    Parameters
    ----------
    probabilities : array (experts, rows, classes)
        Out-of-fold probabilities.
    codes : int64 array (rows,)
        Observed class, -1 if there is no label.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.noise.transitions import fit_transitions
    >>> sure = np.array([[[0.9, 0.1]] * 80 + [[0.1, 0.9]] * 80])
    >>> labels = np.array([0] * 60 + [1] * 20 + [1] * 80)  # a quarter of the first class is labelled as the second
    >>> model = fit_transitions(sure, labels)
    >>> bool(model.rates[0, 1] > 0.1 > model.rates[1, 0])
    True
    """
    n_experts, _, n_classes = probabilities.shape
    labelled = np.flatnonzero(codes >= 0)
    y = codes[labelled]
    logs = logs_of(probabilities, codes)
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
        return float(_STRENGTH * ((weights - _WEIGHT) ** 2).sum() - np.log(own).sum())

    def loss(parameters: Floats) -> tuple[float, Floats]:
        weights, rates = unpack(parameters)
        pooled = log_pool(known, weights)
        own = np.maximum((pooled @ rates)[rows, y], 1e-300)
        posterior = pooled * rates[:, y].T / own[:, None]
        counts = seen.copy()
        np.add.at(counts.T, y, posterior)
        penalty = _STRENGTH * ((weights - _WEIGHT) ** 2).sum()
        value = -np.log(own).sum() + penalty - (seen * np.log(rates + 1e-12)).sum()
        by_weight = 2 * _STRENGTH * (weights - _WEIGHT) - np.einsum("ik,eik->e", posterior - pooled, known)
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
