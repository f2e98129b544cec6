"""How people label: the confusions, bias and spread of each annotator, and what their votes say together.

Pure functions on votes in long form. The kinds of target made of votes are in ``voted.py``; what models of the columns
add is in ``doubt/votes.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, gammaln, logit, logsumexp, softmax

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Votes that are counted before any is seen, and the share of these that are right; votes of each true class that are
#: right as often as those of all classes. Without the last, a rare class gets rows of a frequent one on which
#: annotators differ: on made tables with one class of 90 %, right consensus was 0.6 to 1.1 points lower with 20 votes.
_SEEN, _RIGHT, _ALIKE = 20.0, 0.7, 100.0
#: Strengths of a prior to choose from, in votes; first those of how often an annotator errs. Where rows are unsure, all
#: annotators look more alike than they are: with strengths up to 200, good and bad ones were often taken for one. On
#: five tables, two votes per row, right consensus was 0.6 to 1 point lower, and intervals held in 81 % against 89 %.
_OWN_STRENGTHS = np.array([1.0, 2.0, 5.0, 10.0])
_STRENGTHS = np.array([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0])
#: The strengths in the first iterations, and how many these are: as long as the rows are unsure, all annotators look
#: alike, and a strong prior would keep them so. On five tables with an adversary, right consensus 78 % against 68 %.
_FIRST_STRENGTH, _FIRST_STEPS = 2.0, 20
#: No annotator is ever completely sure to be right or wrong.
_LEAST = 1e-3
#: Prior of the weights of the opinions: around this value, with this strength (in nats per squared difference).
_WEIGHT, _WEIGHT_STRENGTH = 0.5, 2.0
#: The same for the offsets of the classes, around 0; without opinions, rows that each class is given.
_OFFSET_STRENGTH, _OFFSET_SEEN = 0.5, 1.0
#: When the EM stops: after this many iterations, or when no probability changes by more than this.
_STEPS, _TOLERANCE = 300, 1e-5
#: Degrees of freedom of the law of the numbers themselves: far rows are rare, but not unheard of.
_FREEDOM = 4.0
#: The share of votes that are slips before any is seen, the votes that this counts as, and the spread of slips in
#: spreads of all votes.
_SLIPS, _SLIPS_SEEN, _SLIP_SIZE = 0.02, 20.0, 5.0
#: Prior of the variance of an annotator's errors: the geometric mean of those of all annotators, as if seen in this
#: many votes. With 5 votes and the arithmetic mean, the spread of the best of six was 0.36 in place of 0.20.
_SPREAD_SEEN = 1.0
#: Standard errors in half an interval of 95 %.
_HALF = 1.96


class Votes(NamedTuple):
    """Votes in long form: who said what of which row."""

    row: Codes
    who: Codes
    value: NDArray[np.int64] | Floats
    """The class as a code from 0, or a number."""
    n_rows: int
    n_annotators: int
    weight: Floats | None = None
    """How much each vote counts, from 0 to 1, if votes for classes differ in that."""


class Quality(NamedTuple):
    """How good each annotator is: the share of right votes, or the standard deviation of the errors of numbers, each
    with an interval."""

    value: Floats
    low: Floats
    high: Floats


class ClassConsensus(NamedTuple):
    """What votes for classes say together."""

    memberships: Floats
    """(rows, classes): the probability of each class; NaN in rows of which nothing is known."""
    before: Floats
    """(rows, classes): the same before the votes of the row are counted."""
    confusions: Floats
    """(annotators, classes, classes): at ``[e, k, l]`` the probability that annotator ``e`` says ``l`` where ``k`` is
    true."""
    weights: Floats
    """(models,): the weight of the opinion of each model."""
    quality: Quality
    """The share of right votes of each annotator, with an interval of 95 %."""
    fit: float
    """The logarithm of the likelihood of the votes."""
    n_iter: int


class NumberConsensus(NamedTuple):
    """What votes that are numbers say together."""

    values: Floats
    """(rows,): the likely number; NaN in rows of which nothing is known."""
    spread: Floats
    """(rows,): its standard deviation."""
    bias: Floats
    """(annotators,): how far the numbers of each annotator are above the consensus, on average."""
    quality: Quality
    """The standard deviation of the errors of each annotator around their bias, slips aside; interval of 95 %."""
    n_iter: int


def agree_on_classes(
    votes: Votes,
    n_classes: int,
    *,
    opinions: Floats | None = None,
    in_order: bool = False,
    truth: Codes | None = None,
) -> ClassConsensus:
    r"""The probability of each class, from votes and, if there are any, opinions of models that saw neither.

    Annotator :math:`e` says :math:`l` with probability :math:`\theta^{(e)}_{kl}` where :math:`k` is true, and the row
    itself has the probabilities :math:`q_{ik} \propto \exp(b_k + \sum_m w_m o_{mik})`, with the logarithms
    :math:`o` of the models' opinions. EM [1]_ alternates between

    .. math:: p_{ik} \propto q_{ik} \prod_{(i, e, l)} \theta^{(e)}_{kl}

    and :math:`\theta, w, b` from these. The confusions have a hierarchical prior (:func:`shrunk_confusions`): who voted
    little borrows from the others. A vote of weight :math:`v` counts as :math:`\theta^v`. The weights :math:`w` are
    those under which the opinions say most about the consensus, so models that know nothing get none.

    Parameters
    ----------
    votes : Votes
        The votes; ``value`` holds codes.
    n_classes : int
        Number of classes, at least two.
    opinions : array (models, rows, classes), optional
        Logarithms of probabilities. The model must not have seen the row.
    in_order : bool
        Whether the classes have an order, so that errors are counted by steps.
    truth : array (rows,), optional
        The true class of rows where it is known, else -1.

    References
    ----------
    .. [1] A. P. Dawid and A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM
       algorithm. Applied Statistics 28, 20-28.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.target.annotators import Votes, agree_on_classes
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=300)
    >>> right = rng.random((300, 3)) < [0.95, 0.9, 0.5]  # the third one guesses
    >>> row, who = np.indices((300, 3)).reshape(2, -1)
    >>> said = np.where(right, truth[:, None], 1 - truth[:, None]).ravel()
    >>> found = agree_on_classes(Votes(row, who, said, 300, 3), 2)
    >>> found.quality.value.round(1), float((found.memberships.argmax(axis=1) == truth).mean().round(2))
    (array([0.9, 0.9, 0.5]), 0.93)
    """
    shape = (votes.n_annotators * n_classes, votes.n_rows)
    weight = np.ones(len(votes.row)) if votes.weight is None else votes.weight
    counter = sparse.csr_matrix((weight, (votes.who * n_classes + votes.value, votes.row)), shape)
    shares = np.zeros((votes.n_rows, n_classes))
    np.add.at(shares, (votes.row, votes.value.astype(np.int64)), weight)
    fixed = np.flatnonzero(truth >= 0) if truth is not None else np.empty(0, dtype=np.int64)
    certain = np.eye(n_classes)[truth[fixed]] if truth is not None else np.empty((0, n_classes))
    known = np.union1d(votes.row, fixed)
    logs = np.zeros((0, votes.n_rows, n_classes)) if opinions is None else opinions
    parameters = np.concatenate([np.full(len(logs), _WEIGHT), np.zeros(n_classes)])
    P = (shares + 1.0 / n_classes) / (shares.sum(axis=1, keepdims=True) + 1.0)
    P[fixed] = certain
    confusions, before, joint, n_iter = np.empty(0), P, P, 0
    while n_iter < _STEPS:
        n_iter += 1
        counts = (counter @ P).reshape(votes.n_annotators, n_classes, n_classes).transpose(0, 2, 1)
        strength = _FIRST_STRENGTH if n_iter <= _FIRST_STEPS else None
        confusions = shrunk_confusions(counts, in_order=in_order, strength=strength)
        parameters = _weigh(logs[:, known], P[known], parameters)
        before = _before_votes(logs, parameters)
        likelihood = counter.T @ np.log(confusions.transpose(0, 2, 1)).reshape(-1, n_classes)
        joint = np.log(before + 1e-300) + likelihood
        new = softmax(joint, axis=1)
        new[fixed] = certain
        change = float(np.abs(new - P)[known].max(initial=0.0))
        P = new
        if change < _TOLERANCE and n_iter > _FIRST_STEPS:
            break
    quality = _share_right(votes, weight, P, before, confusions, apart_by_prior(counts, in_order=in_order))
    if opinions is None:
        P[np.setdiff1d(np.arange(votes.n_rows), known)] = np.nan
    fit = float(logsumexp(joint, axis=1).sum())
    return ClassConsensus(P, before, confusions, parameters[: len(logs)], quality, fit, n_iter)


def shrunk_confusions(counts: Floats, *, in_order: bool = False, strength: float | None = None) -> Floats:
    r"""Confusions of annotators from (expected) counts (annotators, true classes, classes said), with shared priors.

    With :math:`n^{(e)}_{kl}` votes of annotator :math:`e`,

    .. math:: \theta^{(e)}_{kl} = (n^{(e)}_{kl} + s \beta^{(e)}_{kl}) / (n^{(e)}_{k\cdot} + s).

    The prior :math:`\beta^{(e)}` has the errors of all annotators, as much more or less frequent as this annotator errs
    more or less often; classes with an order are confused by steps instead (the same distribution of :math:`l - k` for
    all :math:`k`). The strengths :math:`s` are those under which the counts are most likely, unless one is given:
    annotators who are alike are taken for one, and those who differ are not.
    """
    base, s, _ = _prior(counts, in_order, strength)
    return np.asarray((counts + s * base) / (counts.sum(axis=2, keepdims=True) + s))


def apart_by_prior(counts: Floats, *, in_order: bool = False) -> float:
    """How far annotators are apart by the priors of these counts: the variance of the log odds of right votes."""
    _, s, s_own = _prior(counts, in_order, None)
    seen = counts.sum(axis=(0, 2))
    right = float(np.clip(np.einsum("ekk->", counts) / seen.sum(), _LEAST, 1.0 - _LEAST))
    # errors by steps have a Dirichlet law, shares of errors a gamma law
    own = 1.0 / ((s_own + 1.0) * right * (1.0 - right)) if in_order else 1.0 / (s_own * right**2)
    return float(own + (seen @ seen / seen.sum() ** 2) / ((s + 1.0) * right * (1.0 - right)))


def _prior(counts: Floats, in_order: bool, strength: float | None) -> tuple[Floats, float, float]:
    """The means of the confusions, their strength, and that of what annotators have in common."""
    base, s_own = _errors_by_steps(counts, strength) if in_order else _errors_by_share(counts, strength)
    base = np.maximum(base, _LEAST / counts.shape[1])
    base /= base.sum(axis=2, keepdims=True)
    # classes at the ends are confused on one side only, so errors by steps are but a first guess
    return base, _best_strength(counts, base, strength, _OWN_STRENGTHS if in_order else _STRENGTHS), s_own


def _best_strength(counts: Floats, base: Floats, given: float | None, choices: Floats) -> float:
    """The strength of a Dirichlet prior of mean ``base`` (last axis) under which the counts are most likely."""
    if given is not None:
        return given
    totals = counts.sum(axis=-1)

    def fit(s: float) -> float:
        return float((gammaln(s) - gammaln(s + totals)).sum() + (gammaln(counts + s * base) - gammaln(s * base)).sum())

    return float(max(choices, key=fit))


def _errors_by_share(counts: Floats, strength: float | None) -> tuple[Floats, float]:
    """Confusions of annotators who all make the same errors, but some more often than others."""
    n_classes = counts.shape[1]
    same = np.eye(n_classes, dtype=bool)
    pooled = counts.sum(axis=0)
    right = (np.trace(pooled) + _SEEN * _RIGHT) / (pooled.sum() + _SEEN)
    pooled += _ALIKE * np.where(same, right, (1.0 - right) / (n_classes - 1))
    pooled /= pooled.sum(axis=1, keepdims=True)
    off = np.where(same, 0.0, pooled)
    share = off.sum(axis=1)
    off /= share[:, None]
    wrong, expected = counts[:, ~same].sum(axis=1), counts.sum(axis=2) @ share

    def fit(s: float) -> float:  # of the numbers of wrong votes, Poisson laws whose rates vary by a gamma law
        return float((s * np.log(s) - gammaln(s) + gammaln(s + wrong) - (s + wrong) * np.log(s + expected)).sum())

    s = strength or float(max(_OWN_STRENGTHS, key=fit))
    share = np.clip(((wrong + s) / (expected + s))[:, None] * share, _LEAST, 1.0 - _LEAST)
    return np.where(same, 1.0 - share[:, :, None], share[:, :, None] * off), s


def _errors_by_steps(counts: Floats, strength: float | None) -> tuple[Floats, float]:
    """Confusions of annotators who are off by one class, two classes, ..., wherever the true class is."""
    n_classes = counts.shape[1]
    step = np.arange(n_classes) - np.arange(n_classes)[:, None] + n_classes - 1
    by_step = np.stack([counts[:, step == s].sum(axis=1) for s in range(2 * n_classes - 1)], axis=1)
    away = np.abs(np.arange(2 * n_classes - 1) - n_classes + 1)
    seen = np.where(away == 0, _RIGHT, (1.0 - _RIGHT) * 0.5**away)
    pooled = by_step.sum(axis=0) + _SEEN * n_classes * seen / seen.sum()
    pooled /= pooled.sum()
    s = _best_strength(by_step, pooled, strength, _OWN_STRENGTHS)
    own = (by_step + s * pooled) / (by_step.sum(axis=1, keepdims=True) + s)
    return own[:, step], s


def _before_votes(logs: Floats, parameters: Floats) -> Floats:
    """The probabilities of the rows by the opinions alone, with their weights and the offsets of the classes."""
    weights, offsets = parameters[: len(logs)], parameters[len(logs) :]
    return np.asarray(softmax(np.tensordot(weights, logs, axes=1) + offsets, axis=1))


def _weigh(logs: Floats, P: Floats, start: Floats) -> Floats:
    """The weights of the opinions, and the offsets of the classes, under which they say most about the memberships."""
    n_models = len(logs)
    if not n_models:
        return np.log(P.sum(axis=0) + _OFFSET_SEEN)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        q = _before_votes(logs, parameters)
        away, offsets = parameters[:n_models] - _WEIGHT, parameters[n_models:]
        penalty = _WEIGHT_STRENGTH * away @ away + _OFFSET_STRENGTH * offsets @ offsets
        by_weight = np.einsum("ik,mik->m", q - P, logs) + 2 * _WEIGHT_STRENGTH * away
        by_offset = (q - P).sum(axis=0) + 2 * _OFFSET_STRENGTH * offsets
        return float(penalty - (P * np.log(q + 1e-300)).sum()), np.concatenate([by_weight, by_offset])

    bounds = [(0.0, None)] * n_models + [(None, None)] * P.shape[1]
    return np.asarray(minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 20}).x)


def _share_right(votes: Votes, weight: Floats, P: Floats, before: Floats, confusions: Floats, apart: float) -> Quality:
    """The share of right votes of each annotator.

    The interval is that of a common factor of the odds of right votes of all classes, from the scores of the rows: a
    vote's probability to be right, less what was expected. Rows in which the others are unsure say little.
    """
    right = np.diagonal(confusions, axis1=1, axis2=2)
    expected = np.einsum("vk,vk->v", P[votes.row], right[votes.who])
    score = weight * (P[votes.row, votes.value] - expected)
    n_votes = np.bincount(votes.who, weight, votes.n_annotators)
    n_votes = np.where(n_votes > 0, n_votes, 1.0)
    value = np.bincount(votes.who, weight * expected, votes.n_annotators) / n_votes
    value = np.clip(value, _LEAST, 1.0 - _LEAST)
    slope = np.einsum("vk,vk->v", P[votes.row], (right * (1.0 - right))[votes.who])
    slope = np.bincount(votes.who, weight * slope, votes.n_annotators) / n_votes
    # the opinions may also be more or less sure than they should be: they count as one more annotator
    sure = ((P - before) * np.log(before + 1e-300)).sum(axis=1)
    n = votes.n_annotators
    prior = (np.eye(n) - 1.0 / n) / apart + np.diag(value * (1.0 - value))
    error = _standard_errors(votes, score, prior, sure)
    half = _HALF * error * slope / (value * (1.0 - value))
    return Quality(value, expit(logit(value) - half), expit(logit(value) + half))


def _standard_errors(votes: Votes, scores: Floats, prior: Floats, of_rows: Floats) -> Floats:
    """Standard errors of one parameter per annotator, from the score of each vote and the prior information."""
    shape = (votes.n_rows, votes.n_annotators + 1)
    rows, columns = np.arange(votes.n_rows), np.full(votes.n_rows, votes.n_annotators)
    entries = np.concatenate([scores, of_rows])
    S = sparse.csr_matrix((entries, (np.append(votes.row, rows), np.append(votes.who, columns))), shape)
    information = np.asarray((S.T @ S).todense())
    information[:-1, :-1] += prior
    information[-1, -1] += 1.0
    return np.sqrt(np.diagonal(np.linalg.inv(information))[:-1])


def _middle(votes: Votes, said: Floats, opinion: Floats) -> Floats:
    """The median of the votes of each row and the opinion on it."""
    row = np.append(votes.row, np.arange(votes.n_rows))
    value = np.append(said, opinion)
    order = np.lexsort((value, row))
    counts = np.bincount(row)
    start = np.cumsum(counts) - counts
    ordered = value[order]
    return np.asarray((ordered[start + (counts - 1) // 2] + ordered[start + counts // 2]) / 2.0)


def agree_on_numbers(votes: Votes, *, opinions: Floats | None = None, truth: Floats | None = None) -> NumberConsensus:
    r"""The likely number of each row, from votes and, if there is one, an opinion of models that saw none.

    Annotator :math:`e` says :math:`t_i + b_e + \sigma_e \epsilon`, with :math:`\epsilon` from a normal law, or slips
    and says anything. The number itself is :math:`t_i = \alpha + \gamma o_i + \tau \epsilon'` with the opinion
    :math:`o_i` and :math:`\epsilon'` from a t law with 4 degrees of freedom, so that a far row can be true if its votes
    agree. The bias :math:`b_e` has a normal prior around 0 whose spread is fitted, and :math:`\sigma_e^2` is shrunk to
    the geometric mean of all annotators. EM alternates between :math:`t` and all these. It starts at the median of the
    votes of each row and the opinion.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.target.annotators import Votes, agree_on_numbers
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=300)
    >>> said = truth[:, None] + [0.0, 0.5, -0.5] + [0.1, 0.2, 0.8] * rng.normal(size=(300, 3))
    >>> row, who = np.indices((300, 3)).reshape(2, -1)
    >>> found = agree_on_numbers(Votes(row, who, said.ravel(), 300, 3))
    >>> found.bias.round(1), found.quality.value.round(1)
    (array([-0.1,  0.4, -0.5]), array([0.1, 0.2, 0.8]))
    """
    row, who, n_annotators = votes.row, votes.who, votes.n_annotators
    centre = float(np.median(votes.value))
    lower, upper = np.quantile(votes.value, [0.1, 0.9])
    scale = float((upper - lower) / 2.5631) or float(np.std(votes.value)) or 1.0  # 1 for a normal law
    said = np.asarray((votes.value - centre) / scale, dtype=np.float64)
    model = np.zeros((votes.n_rows, 0)) if opinions is None else ((opinions - centre) / scale)[:, None]
    design = np.column_stack([np.ones(votes.n_rows), model])
    fixed = np.flatnonzero(~np.isnan(truth)) if truth is not None else np.empty(0, dtype=np.int64)
    certain = (truth[fixed] - centre) / scale if truth is not None else np.empty(0)
    known = np.union1d(row, fixed)
    wide = _SLIP_SIZE**2

    def of_annotators(values: Floats) -> Floats:
        return np.asarray(np.bincount(who, values, n_annotators), dtype=np.float64)

    def of_rows(values: Floats) -> Floats:
        return np.asarray(np.bincount(row, values, votes.n_rows), dtype=np.float64)

    mean = _middle(votes, said, model[:, 0] if model.shape[1] else np.zeros(votes.n_rows))
    mean[fixed] = certain
    variance = np.where(of_rows(np.ones(len(row))) > 0, 0.25, 1.0)
    variance[fixed] = 0.0
    bias, spread2, between2, slips = np.zeros(n_annotators), np.full(n_annotators, 0.25), 1.0, _SLIPS
    trust, squares, usual, tau2, n_iter = np.empty(0), np.empty(0), np.ones(votes.n_rows), 1.0, 0
    while n_iter < _STEPS:
        n_iter += 1
        squares = (said - bias[who] - mean[row]) ** 2 + variance[row]
        meant = np.log1p(-slips) - (np.log(spread2[who]) + squares / spread2[who]) / 2.0
        trust = expit(meant - np.log(slips) + (np.log(wide) + squares / wide) / 2.0)
        slips = (float((1.0 - trust).sum()) + _SLIPS_SEEN * _SLIPS) / (len(row) + _SLIPS_SEEN)
        trusted = of_annotators(trust)
        precision = trusted / spread2
        bias = of_annotators(trust * (said - mean[row])) / spread2 / (precision + 1.0 / between2)
        between2 = max(float((bias**2 + 1.0 / (precision + 1.0 / between2)).mean()), 1e-8)
        squares = (said - bias[who] - mean[row]) ** 2 + variance[row]
        pooled = np.exp(trusted @ np.log(spread2) / trusted.sum())
        spread2 = (of_annotators(trust * squares) + _SPREAD_SEEN * pooled) / (trusted + _SPREAD_SEEN)
        spread2 = np.maximum(spread2, 1e-8)
        root = np.sqrt(usual[known])
        line = np.linalg.lstsq(root[:, None] * design[known], root * mean[known], rcond=None)[0]
        expected = design @ line
        away = (mean - expected) ** 2 + variance
        usual = (_FREEDOM + 1.0) / (_FREEDOM + away / tau2)
        tau2 = max(float((usual * away)[known].mean()), 1e-8)
        weight = trust / spread2[who]
        variance = 1.0 / (usual / tau2 + of_rows(weight))
        new = variance * (usual * expected / tau2 + of_rows(weight * (said - bias[who])))
        new[fixed], variance[fixed] = certain, 0.0
        change = float(np.abs(new - mean)[known].max(initial=0.0))
        mean = new
        if change < _TOLERANCE:
            break
    score = trust * (squares / spread2[who] - 1.0)
    sure = np.zeros(votes.n_rows)
    away = (mean - expected) ** 2 + variance
    sure[known] = ((_FREEDOM + 1.0) * away / (_FREEDOM * tau2 + away) - 1.0)[known]
    error = _standard_errors(votes, score, _SPREAD_SEEN * np.eye(n_annotators), sure)
    size, half = scale * np.sqrt(spread2), np.exp(_HALF * error)
    values, deviation = centre + scale * mean, scale * np.sqrt(variance)
    if opinions is None:
        unknown = np.setdiff1d(np.arange(votes.n_rows), known)
        values[unknown] = deviation[unknown] = np.nan
    return NumberConsensus(values, deviation, scale * bias, Quality(size, size / half, size * half), n_iter)
