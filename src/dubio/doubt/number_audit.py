"""The audit of a numeric target: which numbers look wrong, and what they may be instead."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import KFold

from dubio.doubt.audit_record import shown_in_notebook
from dubio.doubt.experts import MANY_FEATURES, content_order, main_directions, varying_columns
from dubio.doubt.number_experts import FEWEST_NUMBERS, held_out_numbers
from dubio.errors import InputError, counted
from dubio.problem import Problem
from dubio.target.numbers import Numbers

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
#: Level of the interval of a suggested number, and of the test whether the experts know anything.
_INTERVAL, _SKILL_LEVEL = 0.9, 0.01
_MAD_TO_SD = 1.4826
#: Experts that explain less than this share of the variance know little.
_LITTLE_SKILL = 0.3


@dataclass(frozen=True)
class NumberAudit:
    """How doubtful the numbers of a target are, row by row. Made by :func:`dubio.audit_labels`.

    Attributes
    ----------
    given : array (n_rows,)
        The numbers; NaN for rows without one.
    predicted, spread : array (n_rows,)
        What experts that had not seen the row predict, and how far right numbers are from it (a standard deviation).
    low, high : array (n_rows,)
        The interval that should hold nine of ten right numbers.
    wrong : array (n_rows,)
        Probability that the number is wrong; NaN for rows without one.
    doubtful : array (n_rows,) of bool
        Numbers that are more likely wrong than right.
    error_rate : float
        Estimated share of wrong numbers.
    judged : bool
        False if the experts are not significantly better than the mean of all numbers. Then no number is doubtful.
    skills : dict of str to float
        The share of the variance that each expert and the pool explain on rows they have not seen.
    n_folds : int
    index
        Row names of the table, if it has any.
    """

    #: The columns of :meth:`to_frame` that a list of rows shows.
    columns: ClassVar[tuple[str, ...]] = ("given", "suggested", "low", "high", "wrong", "doubtful", "rank")
    engine: ClassVar[str] = "numbers"
    noun: ClassVar[str] = "numbers"
    #: What columns do, if they can judge the numbers.
    judge: ClassVar[str] = "predict the numbers"
    assumption: ClassVar[str] = ASSUMPTION

    given: Floats = field(repr=False)
    predicted: Floats = field(repr=False)
    spread: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    wrong: Floats = field(repr=False)
    doubt: Floats = field(repr=False)
    doubtful: NDArray[np.bool_] = field(repr=False)
    error_rate: float
    judged: bool
    skills: dict[str, float]
    n_folds: int
    index: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.given)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows that have a number."""
        return ~np.isnan(self.given)

    @property
    def rank(self) -> NDArray[np.int64]:
        """1 for the most doubtful number, and so on; among equals the earlier row first; 0 for rows without one."""
        rows = np.flatnonzero(self.labelled)
        order = rows[np.argsort(-self.doubt[rows], kind="stable")]
        ranks = np.zeros(len(self), dtype=np.int64)
        ranks[order] = np.arange(1, len(order) + 1)
        return ranks

    @property
    def suggested(self) -> Floats:
        """The prediction if the number is doubtful or missing, else the given number."""
        return np.where(self.doubtful | ~self.labelled, self.predicted, self.given)

    def how_likely(self) -> str:
        """A warning if the experts know little; else empty."""
        if self.skills["pool"] >= _LITTLE_SKILL:
            return ""
        return "The experts know little about the numbers, so this is a list of rows to check, not of errors."

    def why_held_back(self) -> str:
        """Empty: doubtful numbers are flagged on tables of every shape."""
        return ""

    def to_frame(self) -> Any:
        """One line per row, with the table's own index (needs pandas)."""
        import pandas as pd

        rank = pd.array(self.rank, dtype="Int64")
        rank[~self.labelled] = pd.NA
        values = [self.given, self.suggested, self.low, self.high, self.wrong, self.doubtful, rank]
        return pd.DataFrame(dict(zip(self.columns, values, strict=True)), index=self.index)

    def __repr__(self) -> str:
        found = f"{int(self.doubtful.sum())} of {int(self.labelled.sum())} numbers are doubtful"
        return f"<{type(self).__name__}: {found if self.judged else 'the columns do not predict the numbers'}>"

    def _repr_html_(self) -> str:
        return shown_in_notebook(self)

    def __str__(self) -> str:
        if not self.judged:
            return (
                "The columns do not predict the numbers: they cannot be judged. The models predict held-out numbers no "
                "better than their mean does, so no number is flagged and no rate is given."
            )
        likely = self.how_likely()
        missing = len(self) - int(self.labelled.sum())
        doubtful, given = int(self.doubtful.sum()), int(self.labelled.sum())
        found = f"{doubtful} of {given} numbers are doubtful: more likely wrong than right."
        return (
            f"{found if doubtful else f'None of the {given} numbers is more likely wrong than right.'} "
            + (f"{likely} " if likely and self.doubtful.any() else "")
            + f"Estimated share of wrong numbers: {self.error_rate:.1%}."
            + (f" A number is suggested for {counted(missing, 'row')} without one." if missing else "")
            + f" Assumed: {self.assumption}."
        )


def audit_numbers(
    problem: Problem,
    *,
    n_folds: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    index: Any = None,
) -> NumberAudit:
    r"""Find doubtful numbers: experts predict every row without having seen it.

    Trees, ridge regression and nearest neighbours predict each number while it is held out, twice: the second time
    without the rows that were far off in the first. A further forest predicts how far right numbers are from the
    prediction :math:`m_i` (the spread :math:`s_i`, used if it explains held-out residuals better than one spread for
    all). The residual :math:`z_i = (y_i - m_i) / s_i` of a right number follows a t law :math:`f` with 5 degrees of
    freedom. A wrong number may lie anywhere in the range :math:`W` of the numbers. So

    .. math:: P(\text{wrong}_i) = \frac{\pi\, s_i / W}{\pi\, s_i / W + (1 - \pi) f(z_i)},

    with the share :math:`\pi` of wrong numbers that is most likely under a prior (as if one of 20 rows had been wrong).
    """
    supervision = problem.supervision
    assert isinstance(supervision, Numbers)
    if supervision.n_labelled < FEWEST_AUDITED:
        raise InputError(
            "y",
            f"has {counted(supervision.n_labelled, 'row')} with a number",
            f"an audit of numbers needs at least {FEWEST_AUDITED}",
        )
    supervision.standardized()  # raises if all numbers are equal
    known = supervision.labelled
    centre = float(np.median(supervision.values[known]))
    with np.errstate(over="ignore", invalid="ignore"):
        scale = _robust_spread(supervision.values[known] - centre) or float(supervision.values[known].std())
    if not 1e-290 < scale < 1e290:
        raise InputError("y", f"has numbers that spread by {scale:.3g}", "rescale them, so that they are about 1")
    y = (supervision.values - centre) / scale
    learned = np.clip(y, -_CLIPPED, _CLIPPED)

    table: NDArray[Any] = varying_columns(problem.standardized_table)
    if problem.n_features > MANY_FEATURES:
        table = main_directions(problem, random_state)
    order = content_order(table, np.nan_to_num(learned, nan=np.inf))  # the place of a row decides nothing
    back = np.argsort(order)
    groups = None if problem.groups is None else problem.groups[order]
    weights = None if problem.uneven_weights is None else problem.uneven_weights[order]

    def predict(values: Floats) -> dict[str, Floats]:
        said = held_out_numbers(table[order], values[order], groups, weights, n_folds, random_state, n_jobs)
        return {name: predictions[back] for name, predictions in said.items()}

    first = _pooled(predict(learned), learned)
    off = np.abs(learned - first)
    bar = _SUSPICIOUS * _robust_spread((learned - first)[known])
    bar = max(bar, float(np.quantile(off[known], 1 - _MOST_SUSPICIOUS)))
    trusted = known & ~(off > bar)
    said = predict(np.where(trusted, learned, np.nan))
    predicted = _pooled(said, np.where(trusted, learned, np.nan))
    skills, judged = _skill(said, predicted, learned, known)
    spread = _spreads(table[order], (learned - predicted)[order], trusted[order], random_state, n_jobs)[back]
    residual = np.where(known, (y - predicted) / spread, np.nan)
    width = float(np.ptp(y[known])) + 2 * float(np.median(spread))
    rate, wrong, doubt = _mixture(residual[known], spread[known] / width)
    half = float(np.quantile(np.abs(residual[trusted]), _INTERVAL)) * spread
    everything = [np.full(len(y), np.nan), np.full(len(y), np.nan)]
    everything[0][known], everything[1][known] = wrong, doubt
    doubtful = np.nan_to_num(everything[0]) > 0.5
    return NumberAudit(
        given=np.array(supervision.values),
        predicted=centre + scale * predicted,
        spread=scale * spread,
        low=centre + scale * (predicted - half),
        high=centre + scale * (predicted + half),
        wrong=everything[0],
        doubt=everything[1],
        doubtful=doubtful if judged else np.zeros(len(y), dtype=bool),
        error_rate=rate if judged else np.nan,
        judged=judged,
        skills=skills,
        n_folds=n_folds,
        index=index,
    )


def _robust_spread(residuals: Floats) -> float:
    """1.4826 times the median distance from the median."""
    return float(_MAD_TO_SD * np.median(np.abs(residuals - np.median(residuals))))


def _pooled(said: dict[str, Floats], values: Floats) -> Floats:
    """The mean of the experts, weighted by the inverse square of their squared error on the better nine tenths."""
    known = ~np.isnan(values)
    weights = []
    for predictions in said.values():
        squares = np.sort((predictions - values)[known] ** 2)
        weights.append(max(float(squares[: max(1, int(0.9 * len(squares)))].mean()), 1e-12) ** -2.0)
    return np.asarray(np.average(list(said.values()), axis=0, weights=weights))


def _skill(
    said: dict[str, Floats], predicted: Floats, values: Floats, known: NDArray[np.bool_]
) -> tuple[dict[str, float], bool]:
    """The share of the variance that each expert and the pool explain, and whether the pool knows anything."""
    y = values[known]
    alone = (y - y.mean()) ** 2
    losses = {name: (y - expert[known]) ** 2 for name, expert in {**said, "pool": predicted}.items()}
    skills = {name: float(1.0 - loss.sum() / alone.sum()) for name, loss in losses.items()}
    gain = alone - losses["pool"]
    bar = stats.norm.ppf(1 - _SKILL_LEVEL) * gain.std(ddof=1) * np.sqrt(len(gain))
    return skills, bool(gain.sum() > bar)


def _spreads(
    table: NDArray[Any], residuals: Floats, trusted: NDArray[np.bool_], random_state: int | None, n_jobs: int | None
) -> Floats:
    """How far right numbers are from the prediction, for each row: one spread, or one that depends on the row."""
    common = max(_robust_spread(residuals[trusted]), 1e-6 + 1e-3 * float(np.std(residuals[trusted])))
    size = np.log(np.abs(residuals) + 0.1 * common)
    found = np.zeros(len(residuals))
    rows = np.flatnonzero(trusted)
    leaf = max(10, len(rows) // 20)
    folds = list(KFold(5, shuffle=True, random_state=random_state).split(rows))
    others = np.flatnonzero(~trusted)
    for training, held_out in folds:
        trees = ExtraTreesRegressor(100, min_samples_leaf=leaf, random_state=random_state, n_jobs=n_jobs)
        trees.fit(table[rows[training]], size[rows[training]])
        found[rows[held_out]] = trees.predict(table[rows[held_out]])
        if len(others):
            found[others] += trees.predict(table[others]) / len(folds)
    found -= np.median(found[rows])
    best, spread = -np.inf, np.full(len(residuals), common)
    for share in (0.0, 0.5, 1.0):
        shape = np.exp(share * found)
        scale = max(_robust_spread(residuals[rows] / shape[rows]), 1e-9)
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
