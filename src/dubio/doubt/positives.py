"""How many unlabelled rows are positive, and which, if only positive rows are labelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dubio.doubt.experts import ExpertOptions, pooled_opinions
from dubio.problem import Problem, read_problem
from dubio.target.positives import Positives
from dubio.words import Note, note

Floats = NDArray[np.float64]

#: Draws for the interval of the share, and its level.
_DRAWS, _LEVEL = 200, 0.95
#: What chance does not show: the share is known only from above, so the estimate is too high where no rows are surely
#: positive; odd rows make it too low. So the interval reaches down to this part of its lower end, and up by this share.
#: On ten tables (137 draws) it then held the truth in 95 %, without it in 83 %; its mean width was 44 points.
_PART_BELOW, _BEYOND = 0.6, 0.05
#: Level of the margins of the best bin (Garg et al. use 0.1), and of the check of the assumption.
_MARGIN, _CHECK = 0.1, 0.01
#: The margins hold for all thresholds at once. With half of them the share was nearer to the truth: 4.2 instead of 4.7
#: points off where classes separate, 7.5 instead of 10.1 in all (96 draws from six tables).
_OF_MARGIN = 0.5


@dataclass(frozen=True)
class PositiveEstimate:
    """How many unlabelled rows are positive, and which.

    Attributes
    ----------
    share : float
        Share of positive rows among the unlabelled ones: the given one, or the estimate.
    low, high : float
        Its 95 % interval, from resampled rows and from the errors on tables where the truth is known; equal to
        ``share`` if it was given.
    frequency : float
        The share of the positive rows that are labelled (Elkan and Noto's labelling frequency).
    scores : array (n_rows,)
        Probability that a row is labelled, by experts that had not seen whether it is.
    posterior : array (n_rows,)
        Probability that a row is positive: 1 for labelled rows.
    hint : Note or None
        A sign that the assumption may fail.
    """

    share: float
    low: float
    high: float
    frequency: float
    scores: Floats = field(repr=False)
    posterior: Floats = field(repr=False)
    hint: Note | None = None

    def notes(self, given: bool) -> tuple[Note, ...]:
        """The result in words to come."""
        code = "positives given" if given else "positives"
        share = note(code, percent=100 * self.share, low=100 * self.low, high=100 * self.high)
        return (share, note("positives assumed"), *([self.hint] if self.hint else []))


def estimate_positives(
    X: Any, y: Any, *, experts: Any = None, n_folds: int = 5, random_state: int | None = 0, n_jobs: int | None = None
) -> PositiveEstimate:
    r"""Estimate the share of positive rows among the unlabelled ones, and the probability that each of them is.

    Experts predict the probability :math:`g(x)` that a row is labelled, each row while it is held out. If the labelled
    rows are a random part of all positive rows, :math:`g(x) = c\, P(\text{positive} | x)` with the labelling frequency
    :math:`c` (Elkan and Noto [1]_). Let :math:`q_p(t)` and :math:`q_u(t)` be the shares of the labelled and of the
    unlabelled rows with :math:`g \ge t`. Where nearly all rows are positive, :math:`q_u / q_p` is the share of
    positives among the unlabelled. It is read at the best threshold (Garg et al. [2]_),

    .. math:: \hat t = \arg\min_t \frac{q_u(t) + \epsilon}{q_p(t)},\qquad
              \epsilon = \tfrac12 \bigl(\sqrt{\log(40) / 2 n_u} + \sqrt{\log(40) / 2 n_p}\bigr),

    which was nearer to the truth than Elkan and Noto's mean of :math:`g` over the labelled rows. With the share
    :math:`\pi`, :math:`c = n_p / (n_p + \pi n_u)`. An unlabelled row is positive with probability
    :math:`\min(1, \kappa\, g / (1 - g))`, with :math:`\kappa` such that the mean over the unlabelled rows is
    :math:`\pi` (for calibrated experts :math:`\kappa = (1 - c) / c`, which is Elkan and Noto's weight).

    A prior that :func:`dubio.positive_unlabelled` was given is used instead of the estimate.

    References
    ----------
    .. [1] C. Elkan and K. Noto (2008). Learning classifiers from only positive and unlabeled data. KDD, 213-220.
    .. [2] S. Garg, Y. Wu, A. Smola, S. Balakrishnan and Z. Lipton (2021). Mixture proportion estimation and PU
       learning: a modern approach. NeurIPS 34.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import positive_unlabelled
    >>> from dubio.doubt.positives import estimate_positives
    >>> rng = np.random.default_rng(0)
    >>> ill = np.arange(400) < 160
    >>> X = rng.normal(size=(400, 3)) + 3 * ill[:, None]
    >>> y = np.where(ill & (rng.random(400) < 0.3), "ill", None)
    >>> found = estimate_positives(X, positive_unlabelled(y))
    >>> bool(abs(found.share - ill[y == None].mean()) < 0.05)  # noqa: E711
    True
    """
    problem = read_problem(X, y, target="auto")
    problem.supervision.require_enough()
    return problem_positives(problem, ExpertOptions(experts, n_folds, random_state, n_jobs))


def positive_share(scores: Floats, labelled: NDArray[np.bool_]) -> float:
    """The share of positives among the unlabelled rows, at the best threshold: see :func:`estimate_positives`."""
    given, others = np.sort(scores[labelled])[::-1], np.sort(scores[~labelled])
    n_p, n_u = len(given), len(others)
    last = np.searchsorted(-given, -given, side="right")  # labelled rows with at least this score
    q_p = last / n_p
    q_u = (n_u - np.searchsorted(others, given)) / n_u
    margin = _OF_MARGIN * np.sqrt(np.log(4 / _MARGIN) / 2 / np.array([n_u, n_p])).sum()
    best = int(np.argmin((q_u + margin) / q_p))
    return float(min(1.0, q_u[best] / q_p[best]))


def positive_interval(
    scores: Floats, labelled: NDArray[np.bool_], random_state: int | None = 0
) -> tuple[float, float, float]:
    """The share of positives among the unlabelled rows, and its 95 % interval.

    Rows are drawn again, labelled and unlabelled ones apart; and the interval reaches as far beyond as the errors on
    tables where the truth is known.
    """
    share = positive_share(scores, labelled)
    order = np.argsort(scores, kind="stable")  # the order of the rows decides nothing
    there, known = scores[order], labelled[order]
    given, others = np.flatnonzero(known), np.flatnonzero(~known)
    rng = np.random.RandomState(random_state)
    drawn = []
    for _ in range(_DRAWS):
        rows = np.concatenate([part[rng.randint(len(part), size=len(part))] for part in (given, others)])
        drawn.append(positive_share(there[rows], known[rows]))
    low, high = (float(end) for end in np.quantile(drawn, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]))
    return share, min(low, share) * _PART_BELOW, min(1.0, max(high, share) + _BEYOND)


def problem_positives(problem: Problem, options: ExpertOptions) -> PositiveEstimate:
    """The same as :func:`estimate_positives`, for a problem; the experts are trained once per problem."""
    supervision = cast(Positives, problem.supervision)
    scores, labelled = pooled_opinions(problem.tested, options)[:, 1], supervision.labelled
    n_p, n_u = supervision.n_labelled, supervision.n_unlabelled
    if supervision.prior is None:
        share, low, high = positive_interval(scores, labelled, options.random_state)
    else:
        share = low = high = supervision.prior
    posterior = np.ones(len(scores))
    if share < 1.0:  # in proportion to the odds of the scores, at most 1, with this mean
        odds = np.clip(scores[~labelled], 1e-9, 1 - 1e-9)
        odds = odds / (1 - odds)
        least, most = 0.0, 1.0 / odds.min()
        for _ in range(100):
            middle = (least + most) / 2
            is_low = np.minimum(1.0, middle * odds).mean() < share
            least, most = (middle, most) if is_low else (least, middle)
        posterior[~labelled] = np.minimum(1.0, most * odds)
    frequency = n_p / (n_p + share * n_u)
    return PositiveEstimate(share, low, high, frequency, scores, posterior, _hint(scores, labelled))


def _hint(scores: Floats, labelled: NDArray[np.bool_]) -> Note | None:
    """A sign that the labelled rows are not a random part of the positive ones.

    If they were, and positives were easy to tell, the share of labelled rows would be the same among the rows that look
    most positive and among the next ones. Two groups are compared: down to the median score of the labelled rows, and
    from there to their lower fifth.
    """
    middle, fifth = np.quantile(scores[labelled], [0.5, 0.2])
    first, second = scores >= middle, (scores < middle) & (scores >= fifth)
    table = np.array([[(labelled & group).sum(), (~labelled & group).sum()] for group in (first, second)])
    if (table.sum(axis=1) < 5).any() or stats.fisher_exact(table).pvalue >= _CHECK:
        return None
    shares = 100 * table[:, 0] / table.sum(axis=1)
    return note("positives look odd", first=shares[0], second=shares[1])
