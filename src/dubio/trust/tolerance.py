"""Tolerance of features to wrong labels: the errors with which a feature is still kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import isotonic_regression

from dubio.checks import check_alpha, require_choice, seed_of
from dubio.errors import counted
from dubio.evidence.evidence import Evidence, varying_features, varying_parts
from dubio.evidence.permutation import most_squares
from dubio.evidence.relations import (
    CEILING,
    TEST_WEIGHTS,
    linear_law,
    linear_tests,
    pvalues_against,
    relation_combination,
    smooth_null,
    smooth_r2,
)
from dubio.evidence.relevance import SINGLE, TOGETHER, has_enough_rows, joint_pvalues, passes, qvalues_of, relevance_of
from dubio.methods.parameters import documented
from dubio.problem import Problem, read_problem
from dubio.progress import advance, listener_of, listening
from dubio.sampling import sample_rows
from dubio.table.matrix import check_squares
from dubio.target.reader import Target
from dubio.trust.worst_case import fewest_changes, smallest_shift

Floats = NDArray[np.float64]
Flips = Literal["uniform", "one-class", "next"]

#: Distance between two rates of errors, and the first of them.
_STEP, _FIRST = 0.05, 0.025


#: Most permutations behind the smooth test, and behind the linear one where a few rows decide.
_MOST_PERMUTATIONS, _MOST_CHECKS = 50_000, 999


class QuickTests:
    """Decides as :func:`~dubio.evidence.relevance.relevance_of` does, in a small part of its time.

    The linear test has a closed-form null. The null of the smooth test depends on the number of rows and the shares of
    the classes, so it is drawn once for all draws of one kind. Without ``together``, features are not searched for
    together. The third test of numbers, on a graph, is left out: it would take longer than all else.
    """

    def __init__(
        self, alpha: float = 0.05, random_state: int = 0, n_jobs: int | None = None, *, together: bool = False
    ) -> None:
        self.alpha, self.seed, self.n_jobs = alpha, random_state, n_jobs
        self._nulls: dict[Hashable, Floats] = {}
        self.together = together

    def kept(self, problem: Problem, kind: Hashable) -> NDArray[np.bool_]:
        """The features of a problem, with a label in every row, that are kept; ``kind`` names the kind of draw."""
        return passes(qvalues_of(*self.pvalues(problem, kind)), self.alpha)

    def pvalues(self, problem: Problem, kind: Hashable) -> tuple[Floats, NDArray[np.bool_]]:
        """Their p-values, and which of them count as hypotheses."""
        problem = problem.tested
        pvalues = np.ones(problem.n_features)
        counts = np.zeros(problem.n_features, dtype=bool)
        target = problem.supervision.target_matrix(np.arange(problem.n_rows))
        if (target == target[:1]).all():  # only one class is left
            return pvalues, counts
        for part, varying, share in varying_parts(problem):
            counts[varying] = part.is_judged
            evidence, null = Evidence.of(part), (kind, part.groups is None)
            if null not in self._nulls:
                wanted = int(np.clip(10 * evidence.n_features / self.alpha, 999, _MOST_PERMUTATIONS))
                seed = int(np.random.default_rng([self.seed, len(self._nulls)]).integers(2**31))
                self._nulls[null] = np.sort(smooth_null(evidence, wanted, random_state=seed, n_jobs=self.n_jobs))
            smooth = pvalues_against(self._nulls[null], smooth_r2(evidence, n_jobs=self.n_jobs))
            tests = linear_tests(evidence, most_permutations=_MOST_CHECKS)
            levels = evidence.level_features  # smooth R2 of categories has another null
            smooth[levels] = tests["linear"][levels]
            tested = relation_combination({**tests, "smooth": smooth}) / (SINGLE if has_enough_rows(part) else 1.0)
            if self.together:
                joint = joint_pvalues(part, random_state=self.seed, n_jobs=self.n_jobs).pvalues
                tested = np.minimum(tested, joint / TOGETHER)
            pvalues[varying] = np.minimum(pvalues[varying], tested / share)
        return pvalues, counts


#: Draws at one rate of errors: at a time, and at most.
_LOOK, _MOST_LOOKS = 6, 24
#: Share of the draws in which a feature is kept up to its tolerance. It is surely kept in more than the second share,
#: and surely in fewer than the first, unless chance would show so many draws with the third probability.
_KEPT, _SURELY, _LEVEL = 0.95, 0.8, 0.02
#: Halvings of the shift that a feature survives.
_HALVINGS = 20
#: Most draws in all, and if features that matter only together must be searched for in each of them.
_MOST_DRAWS, _MOST_DRAWS_TOGETHER = 240, 48
#: Most labelled rows used.
_MOST_ROWS = 5000
#: What a feature survives at random, in words.
_KEPT_WITH = {
    "hard": "kept with up to {} wrong labels at random",
    "soft": "kept with probabilities flattened by up to {}",
    "numbers": "kept with up to {} gross errors",
}
#: What a feature survives at worst, by what is known, or by how sure the number is.
#: What it survives at worst, for kinds that are no classes.
_SURVIVES = {"numbers": "survives any shift of {worst:.2f} standard deviations (root mean square)"}


@dataclass(frozen=True)
class LabelTolerance:
    """Errors in the labels with which each feature is still kept. Made by :func:`dubio.label_tolerance`.

    Attributes
    ----------
    names : array (n_features,)
    kept : array (n_features,) of bool
        The features that are related to the target with the labels as they are. All other fields are NaN elsewhere.
    random, low, high : array (n_features,)
        The share of labels that may be wrong at random before the feature is kept in fewer than 95 % of the draws, and
        its interval: at rates below ``low`` it is surely kept in more than 80 %, above ``high`` surely in fewer than
        95 %. For probabilities: how far all of them may be flattened. For numbers: the share of gross errors.
    worst : array (n_features,)
        With fewer changed labels than this, whichever they are, the feature is kept; perhaps with more too. For
        numbers: with a smaller shift of the numbers (root mean square, in standard deviations). NaN if the linear test
        does not keep the feature without the help of other features, and for probabilities.
    kind : str
        What is known: "hard" (classes), "soft" (probabilities) or "numbers".
    flips : str
        Which classes the wrong labels have.
    highest : float
        The highest rate tried; a tolerance of this size means "at least".
    n_labelled : int
        Number of labelled rows used.
    n_draws : int
        Number of draws that were needed.
    no_worst : str
        For what no worst case is known, such as "for rows in groups"; empty if one is looked for.
    """

    names: NDArray[Any]
    kept: NDArray[np.bool_]
    random: Floats
    low: Floats
    high: Floats
    worst: Floats
    kind: str
    flips: str
    highest: float
    n_labelled: int
    n_draws: int
    no_worst: str = ""

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns for the ranking: the tolerance, its interval, and the worst case."""
        rates = {"tolerance": self.random, "tolerance_low": self.low, "tolerance_high": self.high}
        return {**rates, "worst_case": self.worst}

    def to_frame(self) -> Any:
        """One row per kept feature, the most tolerant first (needs pandas)."""
        import pandas as pd

        order = np.flatnonzero(self.kept)
        order = order[np.lexsort((-np.nan_to_num(self.worst[order]), -self.random[order]))]
        columns = {"feature": self.names, **self.columns()}
        return pd.DataFrame({name: values[order] for name, values in columns.items()})

    def __repr__(self) -> str:
        kept, features = int(self.kept.sum()), counted(len(self.names), "feature")
        return f"<LabelTolerance of the {kept} kept of {features}, from {counted(self.n_draws, 'draw')}>"

    def __str__(self) -> str:
        order = np.flatnonzero(self.kept)
        order = order[np.argsort(-self.random[order], kind="stable")]
        lines = [f"{self.names[j]}: {self.in_words(j) or 'no tolerance is known'}" for j in order.tolist()]
        return "\n".join(lines) or "No feature is kept, even with the labels as they are."

    def _repr_html_(self) -> str:
        shown = self.to_frame().round(3).to_html(index=False, border=0)
        return f"<p>How wrong the labels may be before a feature is no longer kept</p>{shown}"

    def in_words(self, feature: int) -> str:
        """The errors that one feature survives, in a sentence; "" if it is not kept."""
        value, clauses = self.random[feature], [self.worst_in_words(feature)]
        if np.isfinite(value):
            low, high = (f"{100 * end[feature]:.3g}" for end in (self.low, self.high))
            within = f"{100 * value:.3g} % (interval {low} to {high} %)"
            if value >= self.highest:
                within = f"{100 * self.highest:.3g} %, the highest rate tried,"
            clauses.insert(0, _KEPT_WITH[self.kind].format(within))
        return "; ".join(clause for clause in clauses if clause)

    def worst_in_words(self, feature: int) -> str:
        """The worst case of one feature, in a clause; "" if it is not known."""
        worst = self.worst[feature]
        if not np.isfinite(worst):
            return ""
        wrong = counted(max(0, int(worst) - 1), "wrong label")
        survives = _SURVIVES.get(
            self.kind, "survives any {wrong} of {of}" if worst > 1 else "one label may push it out"
        )
        return survives.format(worst=worst, wrong=wrong, of=self.n_labelled)


@documented
def label_tolerance(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    given: Any = None,
    flips: Flips = "uniform",
    alpha: float = 0.05,
    target: Target = "auto",
    missing_label: Any = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Callable[[str, int, int], None] = False,
) -> LabelTolerance:
    """Measure how wrong the labels may be before a feature is no longer kept.

    *At random*: labels are made wrong at growing rates, and the features are tested again in each draw
    (:func:`~dubio.evidence.relevance.relevance_of`: false discoveries held at ``alpha``). The tolerance of a feature is
    the largest rate at which it is kept in 95 % of the draws. Rates are halved between one at which it is surely kept
    and one at which it is surely not, with more draws where this is not clear. Errors that do not depend on the columns
    cost power; they never make a false feature.

    *At worst*: a number of changed labels with which the feature is sure to be kept, whichever they are. It is the
    largest with which the linear test of its normal scores alone keeps it, without the help of other tests and other
    features (:func:`~dubio.trust.worst_case.fewest_changes`). Perhaps the feature survives more.

    Parameters
    ----------
    X : array-like (n_rows, n_features)
        The table; missing cells are filled with the median of their column.
    y : array-like
        Classes, class probabilities or numbers; some may be missing.
    groups : array-like (n_rows,), optional
        Which rows belong together, such as the visits of one patient; the tests are those of a selector with groups.
    sample_weight : array-like (n_rows,), optional
        The weight of each row in the tests; rows of weight 0 are left out. The errors fall on all other rows alike.
    given : str, int, a list of these, or a table (n_rows, any), optional
        Columns that are known already, as in :meth:`FeatureSelector.fit`: the others are kept for what they add.
    flips : {"uniform", "one-class", "next"}, default="uniform"
        What wrong labels are: any other class; labels of the largest class only, to any other (rates are shares of that
        class); the next class in order.
    alpha : float, default=0.05
        The share of false discoveries that is allowed.
    {target}
    {missing_label}
    {random_state}
    {n_jobs}
    progress : bool or callable, default=False
        True shows the progress on standard error; a callable gets ``(what, done, total)``.

    Returns
    -------
    LabelTolerance
        For every feature: both answers.

    Notes
    -----
    Probabilities: flattening alone changes none of the tests, which depend only on the pattern. So one class per row is
    drawn from the flattened probabilities. Of more than 5,000 labelled rows, a sample is used.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import label_tolerance
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 60)
    >>> X = rng.normal(size=(120, 4))
    >>> X[:, 0] += 3 * y
    >>> found = label_tolerance(X, y)
    >>> print(found.in_words(0))  # doctest: +ELLIPSIS
    kept with up to ... % (interval ... %) wrong labels at random; survives any ... wrong labels of 120
    """
    check_alpha(alpha)
    facts = {"groups": groups, "sample_weight": sample_weight, "given": given}
    problem = read_problem(X, y, target=target, missing_label=missing_label, any_type=True, **facts)
    with listening(listener_of(progress, with_name=True)):
        return problem_tolerance(problem, flips=flips, alpha=alpha, random_state=seed_of(random_state), n_jobs=n_jobs)


def problem_tolerance(
    problem: Problem,
    *,
    flips: Flips = "uniform",
    alpha: float = 0.05,
    relevant: NDArray[np.bool_] | None = None,
    together: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> LabelTolerance:
    """The same as :func:`label_tolerance`, for a problem.

    ``relevant`` are the features in question, if they were found before. Without ``together``, features that only the
    test of features together keeps have no tolerance (NaN): searching for them in each draw takes long.
    """
    require_choice("flips", flips, ("uniform", "one-class", "next"))
    check_squares(problem.X, names=problem.column_names)
    own = slice(problem.n_own)
    problem = problem.with_supervision(problem.supervision.certain())
    remedy = "give classes, probabilities or numbers, of one target at a time"
    problem.supervision.require_form("hard", "soft", "numbers", remedy=remedy)
    problem = problem.counted.filled.labelled
    problem.supervision.require_enough()
    if relevant is None:
        options: dict[str, Any] = {"alpha": alpha, "random_state": random_state, "n_jobs": n_jobs}
        relevant = relevance_of(problem, **options, only_decides=True).relevant
    relevant = np.isin(np.arange(problem.n_features), np.flatnonzero(relevant))  # none of those beside the table
    is_sampled = problem.n_rows > _MOST_ROWS
    problem = problem.rows(sample_rows(problem, _MOST_ROWS, random_state))
    tests = QuickTests(alpha, random_state, n_jobs)
    asked = np.flatnonzero(relevant)
    seen = tests.kept(problem, "as given")[asked]
    tests.together = together and not seen.all()
    crossing = _Crossing(problem, flips, tests, asked, random_state)
    random, low, high = found = np.full((3, problem.n_features), np.nan)
    if len(asked):
        found[:, asked] = crossing.found()
        if not tests.together:  # nothing can be said of features that these tests do not keep
            found[:, asked[~seen]] = np.nan
    known = problem.supervision
    reasons = (
        (known.no_worst, known.no_worst),
        (problem.groups is not None, "for rows in groups"),
        (problem.given is not None, "with given columns"),
        (problem.uneven_weights is not None, "for rows of different weights"),
        (is_sampled, "for a sample of the rows"),
        (problem.has_wide_features, "in a table with features of several columns (dates, categories, missing cells)"),
    )
    no_worst = next((why for holds, why in reasons if holds), "")
    worst = _worst(problem, relevant if not no_worst else np.zeros_like(relevant), alpha)
    return LabelTolerance(
        problem.feature_names[own],
        relevant[own],
        random[own],
        low[own],
        high[own],
        worst[own],
        kind=known.form,
        flips=flips,
        highest=float(crossing.rates[-1]),
        n_labelled=problem.n_rows,
        n_draws=crossing.n_draws,
        no_worst=no_worst,
    )


class _Crossing:
    """Finds, for each feature, the rate of errors up to which it is kept in 95 % of the draws."""

    def __init__(
        self, problem: Problem, flips: Flips, tests: QuickTests, asked: NDArray[np.int64], random_state: int
    ) -> None:
        self._problem, self._flips, self._tests, self._asked, self._seed = problem, flips, tests, asked, random_state
        # all below the rate at which nothing is left to know
        steps = np.arange(_STEP, problem.supervision.highest_error_rate(flips) - 1e-9, _STEP)
        self.rates = np.round(np.concatenate([[_FIRST], steps]), 6)
        self._draws = np.zeros(len(self.rates), dtype=np.int64)
        self._kept = np.zeros((len(self.rates), len(asked)), dtype=np.int64)
        self._most = _MOST_DRAWS_TOGETHER if tests.together else _MOST_DRAWS

    @property
    def n_draws(self) -> int:
        return int(self._draws.sum())

    def found(self) -> tuple[Floats, Floats, Floats]:
        """The rate for each feature, and its interval."""
        while self.n_draws < self._most and (rate := self._wanted()) is not None:
            for _ in range(min(_LOOK, _MOST_LOOKS - int(self._draws[rate]))):
                rng = np.random.default_rng([self._seed, rate, int(self._draws[rate])])
                supervision = self._problem.supervision.with_errors(float(self.rates[rate]), self._flips, rng)
                self._kept[rate] += self._tests.kept(self._problem.with_supervision(supervision), rate)[self._asked]
                self._draws[rate] += 1
        # where the share of draws that keep a feature, made to fall with the rate, crosses the wanted one
        seen = np.flatnonzero(self._draws)
        rates, weights = np.append(0.0, self.rates[seen]), np.append(1.0, self._draws[seen])
        found = np.empty(len(self._asked))
        for j in range(len(found)):
            shares = np.append(1.0, self._kept[seen, j] / self._draws[seen])
            falling = isotonic_regression(shares, weights=weights, increasing=False).x
            found[j] = np.interp(-_KEPT, -falling, rates)
        low, high = self._bounds()
        edges = np.concatenate([[0.0], self.rates, [self.rates[-1]]])
        return found, edges[low + 1], edges[high + 1]

    def _bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each feature the last rate at which it is surely kept (-1: none) and the first at which it is not."""
        places, draws = np.arange(len(self.rates))[:, None], self._draws[:, None]
        is_kept = stats.binom.sf(self._kept - 1, draws, _SURELY) <= _LEVEL
        is_out = (stats.binom.cdf(self._kept, draws, _KEPT) <= _LEVEL) & ~is_kept
        high = np.where(is_out, places, len(self.rates)).min(axis=0)
        return np.where(is_kept & (places < high), places, -1).max(axis=0), high

    def _wanted(self) -> int | None:
        """The rate that most features need: the middle one between their bounds that can still be decided."""
        low, high = self._bounds()
        open_rates = np.zeros(len(self.rates), dtype=np.int64)
        done, total = 0, len(self._asked) * (len(self.rates) + 1)
        for one, other in zip(low.tolist(), high.tolist(), strict=True):
            between = [g for g in range(one + 1, other) if self._draws[g] < _MOST_LOOKS]
            done += len(self.rates) + 1 - len(between)
            if between:
                open_rates[between[len(between) // 2]] += 1
        advance("label tolerance", done, total)
        return int(open_rates.argmax()) if open_rates.any() else None


def _worst(problem: Problem, relevant: NDArray[np.bool_], alpha: float) -> Floats:
    """The worst case of every relevant feature that the test of its normal scores keeps by itself; NaN for others.

    A feature is kept, whatever the others do, if its p-value is at most alpha / 2 over the number of features. Then it
    reaches Benjamini and Hochberg's cut alone, and the stricter one of the first feature. In the Cauchy rule, the other
    tests count at worst as 0.99. This gives the p-value that the test of normal scores must reach.
    """
    worst = np.full(problem.n_features, np.nan)
    if not relevant.any():
        return worst
    classes, evidence = problem.supervision.n_classes, Evidence.of(problem).on_normal_scores()
    needed = alpha / 2 / varying_features(problem).sum() * (SINGLE if has_enough_rows(problem) else 1.0)
    others = ["linear", "smooth"] if classes else ["linear", "smooth", "graph"]
    ratio = sum(TEST_WEIGHTS[name] for name in others) / TEST_WEIGHTS["scores"]
    cotangent = (1.0 + ratio) / np.tan(np.pi * needed) - ratio / np.tan(np.pi * CEILING)
    level = float(np.arctan2(1.0, cotangent) / np.pi)

    law, columns = linear_law(evidence), np.asarray(evidence.columns, dtype=np.float64)
    # where a few rows decide, small p-values are checked by permutations, and a cut says nothing
    rank, centred = law.basis.shape[1], columns - columns.mean(axis=0)
    limits = np.array([most_squares(centred[:, [j]], rank) for j in range(problem.n_features)])

    def cuts_of(*squares: Floats | float) -> Floats:
        """The largest cut of each feature, for some sums of squared leverages of the target."""
        cuts = []
        for one in squares:
            law = linear_law(evidence, one)
            cuts.append(np.where(limits < one, np.inf, stats.beta.isf(level, law.below, law.above)))
        return np.asarray(np.nan_to_num(np.max(cuts, axis=0), nan=np.inf))

    own = float(((law.basis**2).sum(axis=1) ** 2).sum())
    asked = np.flatnonzero(relevant & (law.scores >= cuts_of(own)))
    if not len(asked):
        return worst
    if not classes:
        worst[asked] = _shifts(law.scores, own, cuts_of)[asked]
        return worst
    codes = problem.supervision.codes
    cuts = _cuts_of_classes(np.bincount(codes, minlength=classes), cuts_of)
    for j in asked:
        worst[j] = fewest_changes(columns[:, j], codes, classes, cuts[:, j])
    return worst


def _cuts_of_classes(sizes: NDArray[np.int64], cuts_of: Callable[..., Floats]) -> Floats:
    r"""(changes, features): the largest cut that so many changed labels can lead to.

    The squared leverages of classes of :math:`n_c` rows sum to :math:`\sum_c 1 / n_c - (2 C - 1) / n`. With :math:`m`
    changes, it is largest if the smallest class loses them, and falls by at most
    :math:`m / (n_{\min} (n_{\min} + 1))`. The cut is taken for 1, 2, 4, ... changes, each for all up to the next.
    """
    n, n_classes, least = int(sizes.sum()), len(sizes), int(sizes.min())
    constant, inverse = (2 * n_classes - 1) / n, float((1.0 / sizes).sum())
    cuts = [cuts_of(inverse - constant)]
    while len(cuts) < least:
        most = min(2 * len(cuts), least) - 1
        lowest = max(n_classes**2 / n, inverse - most / (least * (least + 1)))
        highest = inverse - 1 / least + 1 / (least - most)
        largest = np.maximum(cuts[-1], cuts_of(lowest - constant, highest - constant))
        cuts += [largest] * (most + 1 - len(cuts))
    return np.array(cuts)


def _shifts(scores: Floats, squares: float, cuts_of: Callable[..., Floats]) -> Floats:
    r"""The largest shift of the numbers, in standard deviations, that each feature is sure to survive.

    With a shift of :math:`\delta` (root mean square), the fourth root of the sum of squared leverages lies between
    :math:`(\ell - \delta) / (1 + \delta)` and :math:`(\ell + \delta) / (1 - \delta)`, by the triangle inequality for
    the norms of order 2 and 4. So the cut depends on the shift; the largest shift that does not reach its own cut is
    found by halving.
    """
    length = squares**0.25
    low, high = np.zeros(len(scores)), smallest_shift(scores, cuts_of(squares))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fewest = (np.maximum(0.0, length - middle) / (1 + middle)) ** 4
        most = np.minimum(1.0, (length + middle) / np.maximum(1 - middle, 1e-9)) ** 4
        is_safe = smallest_shift(scores, cuts_of(fewest, most)) >= middle
        low, high = np.where(is_safe, middle, low), np.where(is_safe, high, middle)
    return low
