"""The audit of a numeric target: which numbers look wrong, and what they may be instead."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.model_selection import KFold

from dubio.doubt.anchor import Anchor
from dubio.doubt.audit_record import Audit, skill_of
from dubio.doubt.experts import MANY_FEATURES
from dubio.doubt.number_experts import FEWEST_NUMBERS, robust_spread, rows_by_content
from dubio.errors import InputError, counted
from dubio.problem import Problem

Floats = NDArray[np.float64]

ASSUMPTION = (
    "most numbers are right, and the experts predict them; a wrong number may be anything in the range of the numbers. "
    "A wrong number near the right one cannot be seen"
)
#: An audit of numbers needs so many.
FEWEST_AUDITED = 2 * FEWEST_NUMBERS
#: Numbers are clipped at so many robust standard deviations before experts learn them.
_CLIPPED = 6.0
#: Residuals of more than so many robust standard deviations are left out of the second round, at most this share.
_SUSPICIOUS, _MOST_SUSPICIOUS = 3.0, 0.25
#: Degrees of freedom of the law of right numbers around their prediction: with heavier tails than the normal law.
_FREEDOM = 5.0
#: Prior of the share of wrong numbers: as if this many rows had been seen, of which this share was wrong.
_ROWS_SEEN, _WRONG = 20.0, 0.05
#: Level of the interval of a suggested number.
_INTERVAL = 0.9


@dataclass(frozen=True, repr=False)
class NumberAudit(Audit):
    """How doubtful the numbers of a target are, row by row. Made by :func:`dubio.audit_labels`.

    Attributes
    ----------
    given : array (n_rows,)
        The numbers; NaN for rows without one.
    predicted, spread : array (n_rows,)
        What experts that had not seen the row predict, and how far right numbers are from it (a standard deviation).
    low, high : array (n_rows,)
        The interval that should hold nine of ten right numbers.
    disagreement : array (n_rows,)
        How much the models disagree with each number, from 0 to 1; NaN for rows without one. It is no probability that
        the number is wrong: numbers that are hard to predict have it too.
    doubtful : array (n_rows,) of bool
        Numbers with a disagreement of more than one half.
    estimate : float
        The model's own estimate of the share of wrong numbers; the share itself if the audit is anchored.
    anchor : Anchor or None
        What is known of wrong numbers from elsewhere: :class:`dubio.doubt.anchor.Anchor`.
    judged : bool
        False if the experts are not significantly better than the mean of all numbers. Then no number is doubtful.
    skills : dict of str to float
        The share of the variance that each expert and the pool explain on rows they have not seen.
    n_folds : int
    index
        Row names of the table, if it has any.
    """

    _columns: ClassVar[tuple[str, ...]] = ("given", "suggested", "low", "high", "wrong", "doubtful", "rank")
    engine: ClassVar[str] = "numbers"
    noun: ClassVar[str] = "numbers"
    one: ClassVar[str] = "number"
    known: ClassVar[str] = "numbers"
    else_: ClassVar[str] = "numbers that are hard to predict"
    judge: ClassVar[str] = "predict the numbers"
    assumption: ClassVar[str] = ASSUMPTION
    _ranked_by: ClassVar[str] = "doubt"

    given: Floats = field(repr=False)
    predicted: Floats = field(repr=False)
    spread: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    disagreement: Floats = field(repr=False)
    doubt: Floats = field(repr=False)
    doubtful: NDArray[np.bool_] = field(repr=False)
    estimate: float
    judged: bool
    skills: dict[str, float]
    n_folds: int
    index: Any = field(default=None, repr=False)
    anchor: Anchor | None = None

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows that have a number."""
        return ~np.isnan(self.given)

    @property
    def suggested(self) -> Floats:
        """The prediction if the number is doubtful or missing, else the given number."""
        return np.where(self.doubtful | ~self.labelled, self.predicted, self.given)

    @property
    def wrong(self) -> Floats:
        """Probability that the number is wrong, if the audit is anchored; NaN for rows without one."""
        return self._known("wrong").wrong(self.disagreement)

    @property
    def _estimate(self) -> float:
        return self.estimate

    @property
    def _visible(self) -> float:
        """As much as the models explain of the standard deviation: the less they know, the more gross errors hide."""
        return float(np.clip(self.skills["pool"], 0.01, 1.0) ** 0.5)

    def with_anchor(self, anchor: Anchor) -> Self:
        """The same audit, with what is known of wrong numbers."""
        return replace(self, anchor=anchor, estimate=anchor.share)


def audit_numbers(
    problem: Problem,
    *,
    n_folds: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    index: Any = None,
    anchor: Anchor | None = None,
) -> NumberAudit:
    r"""Find doubtful numbers: experts predict every row without having seen it.

    Trees and ridge regression predict each number while it is held out, twice: the second time
    without the rows that were far off in the first. A further forest predicts how far right numbers are from the
    prediction :math:`m_i` (the spread :math:`s_i`, used if it explains held-out residuals better than one spread for
    all). The residual :math:`z_i = (y_i - m_i) / s_i` of a right number follows a t law :math:`f` with 5 degrees of
    freedom. A wrong number may lie anywhere in the range :math:`W` of the numbers. So

    .. math:: P(\text{wrong}_i) = \frac{\pi\, s_i / W}{\pi\, s_i / W + (1 - \pi) f(z_i)},

    with the share :math:`\pi` of wrong numbers that is most likely under a prior (as if one of 20 rows had been wrong).
    """
    supervision = problem.supervision
    if supervision.n_labelled < FEWEST_AUDITED:
        found = f"has {counted(supervision.n_labelled, 'row')} with a number"
        raise InputError("y", found, f"an audit of numbers needs at least {FEWEST_AUDITED}")
    supervision.standardized()  # raises if all numbers are equal
    known = supervision.labelled
    centre = float(np.median(supervision.values[known]))
    with np.errstate(over="ignore", invalid="ignore"):
        scale = robust_spread(supervision.values[known] - centre) or float(supervision.values[known].std())
    if not 1e-290 < scale < 1e290:
        raise InputError("y", f"has numbers that spread by {scale:.3g}", "rescale them, so that they are about 1")
    y = (supervision.values - centre) / scale
    learned = np.clip(y, -_CLIPPED, _CLIPPED)

    is_wide = problem.n_features > MANY_FEATURES
    table, order, predict = rows_by_content(problem, learned, is_wide, n_folds, random_state, n_jobs)
    first = _pooled(predict(learned), learned)
    off = np.abs(learned - first)
    bar = _SUSPICIOUS * robust_spread((learned - first)[known])
    trusted = known & ~(off > max(bar, float(np.quantile(off[known], 1 - _MOST_SUSPICIOUS))))
    believed = np.where(trusted, learned, np.nan)
    said = predict(believed)
    predicted = _pooled(said, believed)
    opinions, there = {**said, "pool": predicted}, learned[known]
    losses = {name: (there - opinion[known]) ** 2 for name, opinion in opinions.items()}
    skills, judged = skill_of((there - there.mean()) ** 2, losses)
    spread = np.empty(len(y))
    spread[order] = _spreads(table, (learned - predicted)[order], trusted[order], random_state, n_jobs)
    residual = np.where(known, (y - predicted) / spread, np.nan)
    width = float(np.ptp(y[known])) + 2 * float(np.median(spread))
    wrong, doubt = np.full((2, len(y)), np.nan)
    rate, wrong[known], doubt[known] = _mixture(residual[known], spread[known] / width)
    half = float(np.quantile(np.abs(residual[trusted]), _INTERVAL)) * spread
    audit = NumberAudit(
        given=np.array(supervision.values),
        predicted=centre + scale * predicted,
        spread=scale * spread,
        low=centre + scale * (predicted - half),
        high=centre + scale * (predicted + half),
        disagreement=wrong,
        doubt=doubt,
        doubtful=(np.nan_to_num(wrong) > 0.5) & judged,
        estimate=rate,
        judged=judged,
        skills=skills,
        n_folds=n_folds,
        index=index,
    )
    return audit if anchor is None else audit.with_anchor(anchor)


def _pooled(said: dict[str, Floats], values: Floats) -> Floats:
    """The mean of the experts, weighted by the inverse square of their squared error on the better nine tenths."""
    known = ~np.isnan(values)
    weights = []
    for predictions in said.values():
        squares = np.sort((predictions - values)[known] ** 2)
        weights.append(max(float(squares[: max(1, int(0.9 * len(squares)))].mean()), 1e-12) ** -2.0)
    return np.asarray(np.average(list(said.values()), axis=0, weights=weights))


def _spreads(
    table: NDArray[Any], residuals: Floats, trusted: NDArray[np.bool_], random_state: int | None, n_jobs: int | None
) -> Floats:
    """How far right numbers are from the prediction, for each row: one spread, or one that depends on the row."""
    common = max(robust_spread(residuals[trusted]), 1e-6 + 1e-3 * float(np.std(residuals[trusted])))
    size = np.log(np.abs(residuals) + 0.1 * common)
    found = np.zeros(len(residuals))
    rows = np.flatnonzero(trusted)
    leaf = max(10, len(rows) // 20)
    folds = list(KFold(5, shuffle=True, random_state=random_state).split(rows))
    others = np.flatnonzero(~trusted)
    for training, held_out in folds:
        from sklearn.ensemble import ExtraTreesRegressor

        trees = ExtraTreesRegressor(100, min_samples_leaf=leaf, random_state=random_state, n_jobs=n_jobs)
        trees.fit(table[rows[training]], size[rows[training]])
        found[rows[held_out]] = trees.predict(table[rows[held_out]])
        if len(others):
            found[others] += trees.predict(table[others]) / len(folds)
    found -= np.median(found[rows])
    best, spread = -np.inf, np.full(len(residuals), common)
    for share in (0.0, 0.5, 1.0):
        shape = np.exp(share * found)
        scale = max(robust_spread(residuals[rows] / shape[rows]), 1e-9)
        fit = stats.t.logpdf(residuals[rows] / (shape[rows] * scale), _FREEDOM) - np.log(shape[rows] * scale)
        if fit.sum() > best + (2.0 if share else 0.0):  # a spread for each row must be worth it
            best, spread = float(fit.sum()), shape * scale
    return spread


def _mixture(residuals: Floats, elsewhere: Floats) -> tuple[float, Floats, Floats]:
    """The share of wrong numbers, the probability of each to be wrong, and the evidence for it (log odds)."""
    right = stats.t.logpdf(residuals, _FREEDOM)
    evidence = np.log(elsewhere) - right
    rate = _WRONG
    for _ in range(200):
        wrong = 1.0 / (1.0 + np.exp(-np.clip(evidence + np.log(rate / (1 - rate)), -700, 700)))
        new = float((wrong.sum() + _ROWS_SEEN * _WRONG) / (len(wrong) + _ROWS_SEEN))
        if abs(new - rate) < 1e-9:
            break
        rate = new
    return rate, wrong, evidence
