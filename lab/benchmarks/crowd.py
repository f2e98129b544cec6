"""MACE and GLAD on votes in long form, written from their papers; the consensus of votes without columns.

crowd-kit has both, but takes seconds for a table on which these take milliseconds, and pulls a deep learning library.
``tests/test_votes.py`` holds them against values that crowd-kit 1.4.2 gave.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import digamma, expit, log_expit, logsumexp, softmax

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Priors of MACE: of the shares of spammed votes, and of the classes that spammers say.
_SPAM, _STRATEGY = 0.5, 10.0


def long_form(said: Codes) -> tuple[Codes, Codes, Codes]:
    """Row, annotator and code of each vote of a table (rows, annotators) with -1 for none."""
    row, who = np.nonzero(said >= 0)
    return row, who, said[row, who]


def mace(said: Codes, n_classes: int, *, steps: int = 50, seed: int = 0) -> Floats:
    """Probabilities of the classes by MACE [1]_ with variational Bayes: a vote is right, or drawn from habit.

    References
    ----------
    .. [1] D. Hovy, T. Berg-Kirkpatrick, A. Vaswani and E. Hovy (2013). Learning whom to trust with MACE. Proceedings of
       NAACL-HLT, 1120-1130.
    """
    row, who, code = long_form(said)
    n, m = said.shape
    rng = np.random.default_rng(seed)
    spam = rng.uniform(1.0, 1.5, (m, 2))
    spam /= spam.sum(axis=1, keepdims=True)
    habit = rng.uniform(1.0, 1.5, (m, n_classes))
    habit /= habit.sum(axis=1, keepdims=True)
    same = code[:, None] == np.arange(n_classes)
    P = np.empty((n, n_classes))
    for step in range(steps + 1):
        by_habit = spam[who, 0] * habit[who, code]
        likelihood = by_habit[:, None] + spam[who, 1][:, None] * same
        logs = np.zeros((n, n_classes))
        np.add.at(logs, row, np.log(likelihood))
        P = softmax(logs, axis=1)
        if step == steps:
            break
        spammed = (P[row] * by_habit[:, None] / likelihood).sum(axis=1)
        counts = np.zeros((m, n_classes))
        np.add.at(counts, (who, code), spammed)
        of_spam = np.stack([np.bincount(who, spammed, m), np.bincount(who, 1.0 - spammed, m)], axis=1)
        spam = np.exp(digamma(of_spam + _SPAM) - digamma((of_spam + _SPAM).sum(axis=1, keepdims=True)))
        habit = np.exp(digamma(counts + _STRATEGY) - digamma((counts + _STRATEGY).sum(axis=1, keepdims=True)))
    return P


def glad(said: Codes, n_classes: int, *, steps: int = 100, tolerance: float = 1e-5) -> Floats:
    """Probabilities of the classes by GLAD [1]_: a vote is right with the odds exp(ability x exp(ease of the row)).

    References
    ----------
    .. [1] J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma and J. Movellan (2009). Whose vote should count more: optimal
       integration of labels from labelers of unknown expertise. Advances in Neural Information Processing Systems 22.
    """
    row, who, code = long_form(said)
    n, m = said.shape
    parameters = np.ones(m + n)

    def posterior(parameters: Floats) -> Floats:
        odds = parameters[who] * np.exp(parameters[m + row])
        other = log_expit(-odds) - np.log(max(n_classes - 1, 1))
        logs = np.zeros((n, n_classes))
        np.add.at(logs, row, other[:, None])
        np.add.at(logs, (row, code), log_expit(odds) - other)
        return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))

    P = posterior(parameters)
    for _ in range(steps):
        right = P[row, code]

        def loss(parameters: Floats, right: Floats = right) -> tuple[float, Floats]:
            ease = np.exp(parameters[m + row])
            odds = parameters[who] * ease
            fit = (right * log_expit(odds) + (1.0 - right) * log_expit(-odds)).sum()
            off = right - expit(odds)
            by_ability = np.bincount(who, off * ease, m)
            by_ease = np.bincount(row, off * odds, n)
            away = parameters - 1.0
            return float(away @ away / 2.0 - fit), away - np.concatenate([by_ability, by_ease])

        parameters = minimize(loss, parameters, jac=True, method="L-BFGS-B", options={"maxiter": 25}).x
        new = posterior(parameters)
        if np.abs(new - P).max() < tolerance:
            return new
        P = new
    return P
