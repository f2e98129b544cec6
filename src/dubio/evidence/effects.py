r"""How each feature acts on the target: direction and size, with an interval.

The effect is the concordance :math:`c`: the share of pairs of rows in which the row with the higher value is the one
with the higher target; pairs that are tied in the target are left out, and pairs tied in the value count half. It is
:math:`(1 + D) / 2` with Somers' D, the area under the curve for two classes, and the C-index for censored times; 1/2 is
no effect. With weights :math:`w_i`, and :math:`s_{ij}` = 1 if two comparable rows agree, -1 if they disagree, else 0,

.. math:: D = \frac{\sum_{ij} w_i w_j s_{ij}}{\sum_{ij} w_i w_j |c_{ij}|}, \qquad
          u_i = \frac{w_i}{B} \Bigl( \sum_j w_j s_{ij} - D \sum_j w_j c_{ij} \Bigr), \qquad
          \mathrm{Var}(c) = \sum_i \frac{u_i^2}{1 - h_i}, \qquad h_i = \frac{2 w_i}{B} \sum_j w_j c_{ij}

where :math:`c_{ij}` is the chance that the two rows can be compared, and :math:`B` the sum below the line. The share
:math:`h_i` of pairs of a row of one of two classes is one over the number of its rows: this is DeLong's variance [1]_.
If rows belong together, the :math:`u_i` of a group are added up first.
The interval is that of :math:`\log(c / (1 - c))` by the t law; its degrees of freedom count the rows, or groups, that
carry the variance. If an effect was chosen among several (a class against the others, a level of a category), its
interval is wide enough for all of them.

References
----------
.. [1] E. DeLong, D. DeLong and D. Clarke-Pearson (1988). Comparing the areas under two or more correlated receiver
   operating characteristic curves. Biometrics 44, 837-845.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.special import expit, logit, stdtrit

from dubio.errors import InputError
from dubio.evidence.residuals import FEW_NUMBERS, without_given
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.problem import Problem
from dubio.target.comparisons import Comparison, Lines
from dubio.words import Note, note

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Cells of columns that one thread handles at a time.
_CELLS = 16_384
#: Share of intervals that hold the effect.
CONFIDENCE = 0.95
#: The least standard error, as a share of that of as many independent pairs as rows: complete separation has none.
_LEAST_ERROR = 0.25
#: Fewest rows, or groups, that must carry the pairs: with fewer, no interval is known. A class of two rows has about 8.
_FEWEST_UNITS = 10.0
#: The least share of the pairs that is counted as left without a row, or a group.
_LEAST_LEFT = 0.1
#: Largest sum of the two shares of wrong labels with which effects are corrected.
_MOST_WRONG = 0.9


class Concordance(NamedTuple):
    """(columns, names): concordances of columns with targets, their standard errors and degrees of freedom."""

    effects: Floats
    errors: Floats
    freedom: Floats
    #: Number of independent rows, or groups, that carry the pairs.
    n_units: Floats

    def on_logit_scale(self) -> tuple[Floats, Floats]:
        """The logits, a little towards 0 so that they are finite, and their standard errors."""
        inside = (self.effects * self.n_units + 0.5) / (self.n_units + 1.0)
        spread = inside * (1.0 - inside)
        return logit(inside), np.maximum(self.errors / spread, _LEAST_ERROR / np.sqrt(self.n_units * spread))

    def interval(self, n_compared: Any = 1) -> tuple[Floats, Floats]:
        """The limits of each effect that hold for as many of them at once."""
        middle, errors = self.on_logit_scale()
        # the quantile of the t law, without the checks of scipy.stats for every feature
        reach = -stdtrit(np.maximum(self.freedom, 1.0), 0.5 * (1.0 - CONFIDENCE) / n_compared) * errors
        known = np.isfinite(errors)
        low, high = expit(middle - np.where(known, reach, 0.0)), expit(middle + np.where(known, reach, 0.0))
        low, high = np.minimum(low, self.effects), np.maximum(high, self.effects)
        return np.where(known, low, 0.0), np.where(known, high, 1.0)


def concordance(lines: Lines, compared: Comparison, groups: Rows | None = None) -> Concordance:
    """The concordances of columns with the targets of a comparison; 1/2, without an interval, if nothing compares."""
    weights = compared.weights[:, None]
    agreeing, comparable = compared.agreeing(lines), compared.comparable
    total = (weights * comparable).sum(axis=0)
    has_pairs = total > 1e-12 * weights.sum() ** 2
    below = np.where(has_pairs, total, 1.0)
    D = np.where(has_pairs, (weights * agreeing).sum(axis=1) / below, 0.0)
    each = weights * (agreeing - D[:, None] * comparable) / below
    comparable = weights * comparable
    if groups is not None:
        each, comparable = _by_group(each, groups), _by_group(comparable[None], groups)[0]
    part = 2.0 * comparable / below  # of a row of one of two classes: one over the number of its rows
    n, squares = each.shape[1], each**2 / np.maximum(1.0 - part, _LEAST_LEFT)
    variance = squares.sum(axis=1)
    n_units = np.divide(total**2, (comparable**2).sum(axis=0), out=np.zeros(len(total)), where=has_pairs)
    kurtosis = np.divide(n * (squares**2).sum(axis=1), variance**2, out=np.ones(variance.shape), where=variance > 0)
    freedom = np.minimum(n - 1.0, 2.0 * n / np.maximum(kurtosis - 1.0, 1e-9))
    enough = has_pairs & (n_units >= _FEWEST_UNITS)
    errors = np.where(enough, np.sqrt(variance), np.inf)
    effects = 0.5 * (1.0 + np.clip(D, -1.0, 1.0))
    return Concordance(effects, errors, freedom, np.broadcast_to(np.maximum(n_units, 1.0), effects.shape))


def _by_group(numbers: Floats, groups: Rows) -> Floats:
    """(columns, groups, names): the sums over the rows of each group."""
    place = np.unique(groups, return_inverse=True)[1]
    return np.stack([np.stack([np.bincount(place, one) for one in rows.T], axis=1) for rows in numbers])


@dataclass(frozen=True)
class Effects:
    """How each feature acts on the target."""

    #: The concordance of each feature with what stands out most, from 0 to 1, and its interval.
    effect: Floats
    low: Floats
    high: Floats
    #: The same in the unit of the column (:meth:`~dubio.target.comparisons.Comparison.differences`).
    difference: Floats
    #: What it is about: the class or the target; the level of a category. Empty text if there is only one.
    of: NDArray[Any]
    level: NDArray[Any]
    #: Standard errors of the effects.
    errors: Floats
    #: The concordance with every class and target, by name.
    each: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def direction(self) -> NDArray[Any]:
        """Whether the target is "higher" where the feature is higher, or "lower"; "none" if the interval holds 1/2."""
        words = np.where(self.low > 0.5, "higher", np.where(self.high < 0.5, "lower", "none"))
        return words.astype(object)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns of the ranking."""
        columns = {"effect": self.effect, "effect_low": self.low, "effect_high": self.high}
        columns |= {"direction": self.direction, "difference": self.difference}
        columns |= {"effect_of": self.of} if any(self.of) else {}
        return columns | ({"effect_level": self.level} if any(self.level) else {})

    def details(self) -> dict[str, NDArray[Any]]:
        """Columns of the ranking on each class and target, if there are several."""
        return {f"effect of {name}": values for name, values in self.each.items()} if len(self.each) > 1 else {}

    def corrected(self, wrong_0: float, wrong_1: float, error: float = 0.0) -> Effects:
        r"""The effects without label errors that do not depend on the features, of two classes.

        With the shares :math:`e_0` and :math:`e_1` of wrong labels among the rows that are *labelled* with the first
        and with the second class, it is :math:`(c - 1/2) / (1 - e_0 - e_1) + 1/2`. The standard ``error`` of
        :math:`e_0 + e_1` widens the interval.
        """
        share = 1.0 - wrong_0 - wrong_1
        if not share > 0:
            wrong = f"and wrong_1 are {wrong_0:g} and {wrong_1:g}: with this many errors labels say nothing"
            raise InputError("wrong_0", wrong, "their sum must be below 1")
        names = ("effect", "low", "high")
        effect, low, high = ((getattr(self, name) - 0.5) / share + 0.5 for name in names)
        moved = stats.norm.isf(0.5 * (1.0 - CONFIDENCE)) * (effect - 0.5) * error / share
        low, high = effect - np.hypot(effect - low, moved), effect + np.hypot(high - effect, moved)
        ends = {name: np.clip(one, 0.0, 1.0) for name, one in zip(names, (effect, low, high), strict=True)}
        return replace(self, **ends, errors=self.errors / share, each={})

    def smallest_found(self, level: float, power: float = 0.8) -> float:
        """The concordance that a two-sided test at this level would have found with this probability."""
        known = self.errors[np.isfinite(self.errors) & (self.errors > 0)]
        if not len(known):
            return 1.0
        reach = stats.norm.isf(0.5 * level) + stats.norm.ppf(power)
        return float(min(1.0, 0.5 + reach * np.median(known)))


class WrongLabels(NamedTuple):
    """Shares of wrong labels among the rows labelled with each of two classes, and the error of their sum."""

    wrong_0: float
    wrong_1: float
    error: float


#: Fewest checked rows of a class from which its share of wrong labels is taken.
_FEWEST_CHECKED = 10


def wrong_labels(problem: Problem) -> WrongLabels | None:
    """What checked rows say of the labels of two classes; None without them, or if they say too little."""
    if problem.checks is None:
        return None
    (labels, *more), (truth, *_) = problem.supervision.goals(), problem.checks.truth.goals()
    known = problem.supervision.labelled & problem.checks.truth.labelled
    if more or labels.ndim < 2 or labels.shape[1] != 2 or not np.isin(labels[known], (0.0, 1.0)).all():
        return None
    weights = np.where(known, 1.0 / np.where(known, problem.checks.chance, 1.0), 0.0)
    weights *= 1.0 if problem.sample_weight is None else problem.sample_weight
    found, variance = [0.0, 0.0], 0.0
    for code in (0, 1):
        own = known & (labels[:, code] == 1.0)
        if own.sum() < _FEWEST_CHECKED or not weights[own].sum() > 0:
            return None
        wrong = truth[own, code] == 0.0
        share = float(np.average(wrong, weights=weights[own]))
        # one more row of each kind, so that a share of 0 has an error too
        spread = (share * (1 - share) * own.sum() + 0.25) / (own.sum() + 1)
        variance += spread * float((weights[own] ** 2).sum() / weights[own].sum() ** 2)
        found[code] = share
    return WrongLabels(found[0], found[1], float(np.sqrt(variance))) if sum(found) < _MOST_WRONG else None


def effects_of(problem: Problem, n_jobs: int | None = None) -> Effects | None:
    """The effect of every feature of a problem. Rows in which the feature is missing are left out.

    If columns are given, it is that of the residuals of the others. None without a target, and of sparse tables.
    """
    if sparse.issparse(problem.X):
        return None
    of_two = _columns_of_two_values(problem)
    problem = (problem if problem.given is None else without_given(problem.filled)).counted
    weights = np.ones(problem.n_rows) if problem.sample_weight is None else problem.sample_weight
    compared = problem.supervision.comparisons(weights / weights.mean())
    if not any(one.names for one in compared.values()):
        return None

    def work(start: int, stop: int) -> list[_Acting]:
        return _acting(problem, compared, range(start, stop), of_two)

    at_a_time = max(1, _CELLS // max(1, problem.n_rows))
    done = run_chunks(work, chunks(problem.n_features, at_a_time), resolve_threads(n_jobs))
    acting = [one for part in done for one in part]
    names = [_name(target, name) for target, one in compared.items() for name in one.names]
    numbers = np.array([[one.effect, one.low, one.high, one.error, one.difference] for one in acting])
    effect, low, high, errors, difference = numbers.T
    of, level = (np.array(texts, dtype=object) for texts in zip(*((one.of, one.level) for one in acting), strict=True))
    every = np.array([one.each for one in acting])
    return Effects(effect, low, high, difference, of, level, errors, dict(zip(names, every.T, strict=True)))


@dataclass(frozen=True)
class EffectsWithin:
    """The effects of some features within each level of a given category, and whether they are the same in all."""

    #: The given column, its levels, and how many rows with a known target each level has.
    given: str
    levels: tuple[str, ...]
    n_rows: Rows
    features: tuple[str, ...]
    #: (levels, features): the concordances and their intervals; from 0 to 1 if a level has too few rows.
    effect: Floats
    low: Floats
    high: Floats
    #: For each feature: p-value of the test whether all levels have the same effect, and the same as a q-value. NaN if
    #: fewer than two levels have enough rows.
    pvalue: Floats
    qvalue: Floats
    alpha: float = 0.05

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Whether the effect of each feature differs between the levels."""
        return np.nan_to_num(self.qvalue, nan=1.0) <= self.alpha

    def note(self) -> Note:
        """For which features the effects differ."""
        names = [name for name, one in zip(self.features, self.differs.tolist(), strict=True) if one]
        return note("effects differ" if names else "effects same", names=names, n=len(names), given=self.given)

    def record(self) -> list[dict[str, Any]]:
        """Each feature with its effects by level, as plain data."""
        numbers = {"effect": self.effect, "low": self.low, "high": self.high}
        return [
            {
                "feature": name,
                "given": self.given,
                "pvalue": self.pvalue[j] if np.isfinite(self.pvalue[j]) else None,
                "qvalue": self.qvalue[j] if np.isfinite(self.pvalue[j]) else None,
                "levels": [
                    {"level": level, "rows": int(self.n_rows[k]), **{key: v[k, j] for key, v in numbers.items()}}
                    for k, level in enumerate(self.levels)
                ],
            }
            for j, name in enumerate(self.features)
        ]


def effects_within(problem: Problem, effects: Effects, features: Rows, alpha: float = 0.05) -> list[EffectsWithin]:
    r"""The effects of some features within each level of every given category, and whether they differ.

    With :math:`\theta_k` the logit of the concordance within level k and :math:`s_k` its standard error, they differ
    if :math:`\sum_k (\theta_k - \bar\theta)^2 / s_k^2`, with the mean weighted by :math:`1 / s_k^2`, is large for a
    chi-squared variable with one degree of freedom less than levels [1]_; levels with too few rows take no part.

    References
    ----------
    .. [1] W. G. Cochran (1954). The combination of estimates from different experiments. Biometrics 10, 101-129.
    """
    within = without_given(problem.filled).counted
    weights = np.ones(within.n_rows) if within.sample_weight is None else within.sample_weight
    compared, found = within.supervision.comparisons(weights / weights.mean()), []
    for given, named in zip(
        problem.given_features.tolist(), problem.given.levels if problem.given else (), strict=True
    ):
        levels, codes = _levels_of(problem.filled.counted, given, named)
        if len(levels) < 2 or not compared or not len(features):
            continue
        parts = [_within_levels(within, compared, effects, int(j), codes, len(levels)) for j in features]
        middle, low, high = (np.stack([part[end] for part in parts], axis=1) for end in range(3))
        pvalues = np.array([part[3] for part in parts])
        known, qvalues = np.isfinite(pvalues), np.full(len(parts), np.nan)
        if known.any():
            qvalues[known] = stats.false_discovery_control(pvalues[known])
        names = problem.feature_names[[given, *features.tolist()]].astype(str).tolist()
        n_rows = np.bincount(codes[within.supervision.labelled & (codes >= 0)], minlength=len(levels))
        found.append(
            EffectsWithin(names[0], levels, n_rows, tuple(names[1:]), middle, low, high, pvalues, qvalues, alpha)
        )
    return found


def _levels_of(problem: Problem, feature: int, named: tuple[str, ...]) -> tuple[tuple[str, ...], Rows]:
    """The levels of a given feature and the one of each row, -1 if it has none; none if it holds many numbers."""
    places = problem.columns_of(np.array([feature]))
    cells = np.asarray(problem.X[:, places], dtype=np.float64)
    if problem.columns is not None and (levels := problem.columns.roles[places] == "level").sum() > 1:
        block = cells[:, levels]
        names = named if len(named) == block.shape[1] else tuple(map(str, range(1, block.shape[1] + 1)))
        return names, np.where(block.any(axis=1), block.argmax(axis=1), -1)
    values, codes = np.unique(cells[:, 0], return_inverse=True)
    if len(values) > FEW_NUMBERS:
        return (), codes
    return named if len(named) == len(values) else tuple(f"{value:g}" for value in values), codes


def _within_levels(
    problem: Problem, compared: Mapping[str, Comparison], effects: Effects, feature: int, codes: Rows, n_levels: int
) -> tuple[Floats, Floats, Floats, float]:
    """The effects of one feature by level, the ends of their intervals, and the p-value of their difference."""
    columns = _columns(problem, feature)
    values = np.asarray(problem.X[:, columns.get(effects.level[feature], next(iter(columns.values())))], np.float64)
    about = effects.of[feature]
    one, place = next(
        (one, place)
        for target, one in compared.items()
        for place, name in enumerate(one.names)
        if not about or _name(target, name) == about
    )
    parts = [one.only(codes[one.rows] == level) for level in range(n_levels)]
    found = [_compared(values[None, part.rows], part, problem.groups)[2] for part in parts]
    middles, errors = np.array([[part[0, place] for part in level.on_logit_scale()] for level in found]).T
    ends = np.array([[part[0, place] for part in level.interval()] for level in found]).T
    known = np.isfinite(errors)
    pvalue = float("nan")
    if known.sum() > 1:
        weights = errors[known] ** -2.0
        mean = np.average(middles[known], weights=weights)
        pvalue = float(stats.chi2.sf(float(weights @ (middles[known] - mean) ** 2), known.sum() - 1))
    return np.array([level.effects[0, place] for level in found]), ends[0], ends[1], pvalue


class _Acting(NamedTuple):
    """The effect of one feature."""

    effect: float
    low: float
    high: float
    error: float
    difference: float
    of: str
    level: str
    each: Floats


def _columns_of_two_values(problem: Problem) -> NDArray[np.bool_]:
    """The columns of the table that hold two values at most, missing ones apart."""
    found = []
    for start, stop in chunks(problem.X.shape[1], max(1, _CELLS // max(1, problem.n_rows))):
        block = np.asarray(problem.X[:, start:stop], dtype=np.float64)
        ends = (np.fmin.reduce(block, axis=0, initial=np.inf), np.fmax.reduce(block, axis=0, initial=-np.inf))
        found.append((np.isnan(block) | (block == ends[0]) | (block == ends[1])).all(axis=0))
    return np.concatenate(found) if found else np.zeros(0, dtype=bool)


def _acting(
    problem: Problem, compared: Mapping[str, Comparison], features: range, of_two: NDArray[np.bool_]
) -> list[_Acting]:
    """The column, class and target of each feature that stand out most."""
    named = [_columns(problem, feature) for feature in features]
    names = [_name(target, name) for target, one in compared.items() for name in one.names]
    sizes, levels = np.array([len(one) for one in named]), [level for one in named for level in one]
    n_compared = np.repeat(np.maximum(1, sizes * len(names)), sizes)[:, None]
    columns = [place for one in named for place in one.values()]
    table = np.asarray(problem.X[:, columns], dtype=np.float64).T
    numbers = []
    for one in compared.values():
        values, part = table[:, one.rows], np.empty((6, len(columns), len(one.names)))
        gaps = np.isnan(values).any(axis=1)
        for some in (np.flatnonzero(~gaps), *np.flatnonzero(gaps)[:, None]):
            if len(some):
                lines, own, effects = _compared(values[some], one, problem.groups)
                part[:, some] = _standing_out(lines, own, effects, n_compared[some], of_two[columns][some])
        numbers.append(part)
    every = np.concatenate(numbers, axis=2)
    places = every[0].argmax(axis=1)
    best, found = every[:, np.arange(len(columns)), places], list[_Acting]()
    for size, last in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
        if not size:
            found.append(_Acting(0.5, 0.0, 1.0, np.inf, np.nan, "", "", np.empty(0)))
            continue
        column = last - size + int(best[0, last - size : last].argmax())
        effect, low, high, error, difference = best[1:, column].tolist()
        about = names[places[column]], levels[column], every[1, column]
        found.append(_Acting(effect, low, high, error, difference, *about))
    return found


def _compared(values: Floats, whole: Comparison, groups: Rows | None) -> tuple[Lines, Comparison, Concordance]:
    """The effects of columns (columns, rows) with the same gaps on the targets of a comparison."""
    there = ~np.isnan(values[0])
    one = whole if there.all() else whole.only(there)
    lines = Lines.of(np.ascontiguousarray(values[:, there]))
    return lines, one, concordance(lines, one, None if groups is None else groups[one.rows])


def _standing_out(
    lines: Lines, compared: Comparison, found: Concordance, n_compared: Rows, of_two: NDArray[np.bool_]
) -> Floats:
    """(6, columns, names): how much each effect stands out, the effect, its interval and error, and the difference in
    the unit of the column, which is only known of the name that stands out most."""
    middle, spread = found.on_logit_scale()
    strengths, differences = np.abs(middle) / spread, np.full(middle.shape, np.nan)
    places = strengths.argmax(axis=1)
    known = np.flatnonzero(np.isfinite(found.errors[np.arange(len(places)), places]))
    differences[known, places[known]] = compared.differences(lines.only(known), places[known], of_two[known])
    return np.stack([strengths, found.effects, *found.interval(n_compared), found.errors, differences])


def _columns(problem: Problem, feature: int) -> dict[str, int]:
    """The columns by which a feature acts: one, one per category, or those that the user put together, by name."""
    layout = problem.columns
    if layout is None:
        return {"": feature}
    places = layout.of(feature)
    values, levels = (places[layout.roles[places] == role].tolist() for role in ("value", "level"))
    reading = layout.reading_of(feature)
    if reading is not None and levels:
        return dict(zip(map(str, reading.levels), levels, strict=False))
    if len(values) + len(levels) == 1:
        return {"": (values + levels)[0]}
    inputs = layout.inputs[feature] if layout.inputs else ()
    owner = np.cumsum(layout.leads[places]) - 1
    names = [str(layout.input_names[i]) if layout.input_names else str(i) for i in inputs]
    named: dict[str, int] = {}
    for place, own, role in zip(places.tolist(), owner.tolist(), layout.roles[places].tolist(), strict=True):
        if role in ("value", "level"):
            name = names[own] if own < len(names) else str(place)
            named[name if name not in named else f"{name} {place}"] = place
    return named


def _name(target: str, name: str) -> str:
    """A class, a target, or a class of a target."""
    return ": ".join(part for part in (target, name) if part)
