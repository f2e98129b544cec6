"""The two lines of the answer: the features that are related to the target, and how many of them suffice.

Features are tested alone, and together with others on rows that the search has not seen; false discoveries are limited.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.stats import false_discovery_control

from dubio.checks import check_alpha
from dubio.errors import InputError, NoFeatureStandsOut, counted, warn
from dubio.evidence.evidence import Evidence, varying_features, varying_parts, within_problem
from dubio.evidence.families import Families, families_of
from dubio.evidence.relations import (
    TEST_WEIGHTS,
    TestedFeatures,
    cauchy_combination,
    linear_r2,
    relation_pvalues,
    shuffled_passes,
    smooth_r2,
)
from dubio.evidence.residuals import Regression, without_given
from dubio.evidence.truth import Truth, truth_of
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.greedy import ADD, REMOVE, greedy_search
from dubio.neighbors.losses import NeighborLoss
from dubio.problem import Problem
from dubio.progress import advance, listening
from dubio.sampling import mixed_contents, sample_half, sample_rows
from dubio.table.matrix import Columns, columns_of_sizes, standardize
from dubio.table.rows import random_order
from dubio.words import Note, capital, note, say

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Fewest rows with which a target is tested alone.
_FEWEST_ROWS_OF_TARGET = 4


def relations_to_any(problem: Problem, **options: Any) -> TestedFeatures:
    """Test whether each feature is related to the target, or to any of several targets and to each of them.

    Of several targets, the tests of :func:`~dubio.evidence.relations.relation_pvalues` are done on all side by side,
    and on each alone with the rows in which it is known. The first see what several targets share, the others what only
    one of them has. :func:`~dubio.evidence.relations.cauchy_combination` joins them. ``by_target`` has the p-values of
    each target.
    """
    joint = relation_pvalues(Evidence.of(problem), **options)
    alone = {
        name: _relations_to_one(problem.with_supervision(part).labelled, **options)
        for name, part in problem.supervision.targets.items()
    }
    bounds = cauchy_combination(joint.bounds, *alone.values()) if alone else joint.bounds
    parts = {name: joint.parts[name] for name in ("linear", "scores", "smooth")}
    return TestedFeatures(bounds, parts, {name: one[0] for name, one in alone.items()})


def _relations_to_one(problem: Problem, **options: Any) -> Floats:
    """p-values of one target, and their limits; 1 for features that do not vary in its rows.

    Within groups: only the rows of groups in which this target varies."""
    if problem.groups is not None and problem.n_rows:
        problem = within_problem(problem)
    bounds, n = np.ones((3, problem.n_features)), problem.n_rows
    if n < _FEWEST_ROWS_OF_TARGET or not problem.supervision.target_matrix(np.arange(n)).any():
        return bounds
    varying = np.flatnonzero(varying_features(problem))
    if len(varying):
        bounds[:, varying] = relation_pvalues(Evidence.of(problem.features(varying)), **options).bounds
    return bounds


def served(pvalues: Mapping[str, Floats], relevant: NDArray[np.bool_], n_tested: int, alpha: float) -> NDArray[Any]:
    r"""The names of the targets that each relevant feature serves, as text; "" for other features.

    Of a relevant feature, the targets are a family of hypotheses. In each family, Benjamini and Hochberg's rule is
    applied at the level :math:`\alpha R / m`, with :math:`R` relevant features among :math:`m` tested ones; then the
    average share of false targets in the families is at most :math:`\alpha` [1]_. If no target passes, the one with the
    smallest p-value is named with a question mark: the feature is related to the targets, but to which is not clear.

    References
    ----------
    .. [1] Y. Benjamini and M. Bogomolov (2014). Selective inference on multiple families of hypotheses. Journal of the
       Royal Statistical Society B 76, 297-318.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.evidence.relevance import served
    >>> p = {"a": np.array([1e-9, 0.03, 0.5]), "b": np.array([1e-6, 0.2, 0.5])}
    >>> served(p, np.array([True, True, False]), 3, 0.05)
    array(['a, b', 'a?', ''], dtype=object)
    """
    names = list(pvalues)
    table = np.stack([pvalues[name] for name in names], axis=1)
    serves = np.full(len(relevant), "", dtype=object)
    level = alpha * relevant.sum() / max(1, n_tested)
    for feature in np.flatnonzero(relevant):
        passed = np.flatnonzero(false_discovery_control(table[feature]) <= level)
        best = names[int(np.argmin(table[feature]))]
        serves[feature] = ", ".join(names[place] for place in passed) if len(passed) else f"{best}?"
    return serves


#: Shares of the allowed false discoveries for tests of single features, and for the test of features together.
SINGLE, TOGETHER = 0.8, 0.2


def needed_alone(alpha: float, n_features: int) -> float:
    """The p-value of the test of normal scores with which one feature alone stands out among so many."""
    share = TEST_WEIGHTS["scores"] / sum(TEST_WEIGHTS[name] for name in ("linear", "scores", "smooth"))
    return SINGLE * share * 0.5 * alpha / max(1, n_features)


@dataclass(frozen=True)
class Relevance:
    """The result of the tests. Features that take no part, constant ones, have p- and q-values of 1."""

    pvalues: Floats
    qvalues: Floats
    relevant: NDArray[np.bool_]
    #: The decision may change with other permutations or halves of the rows: there were too few to decide it.
    at_the_line: NDArray[np.bool_]
    #: The reason for the number of relevant features.
    reason: str
    #: p-values of each test, by name.
    parts: dict[str, Floats] = field(default_factory=dict)
    #: If there are several targets: p-values of each of them, by name, and those that each relevant feature serves.
    by_target: dict[str, Floats] = field(default_factory=dict)
    serves: NDArray[Any] | None = None
    #: If rows were checked: the answer about the truth, and the same in a sentence.
    truth: Truth | None = None
    about_truth: Note | None = None
    #: Which related features can stand in for each other.
    families: Families | None = None
    #: The most features that pass the same cut by chance, in nearly all permutations of the target.
    most_by_chance: int | None = None

    def columns(self, given: Codes | None = None) -> dict[str, NDArray[Any]]:
        """Columns of the ranking: p-values, q-values, and the targets that each feature serves if there are several.

        ``given``: features that were not tested; NaN stands for their p- and q-values.
        """
        columns: dict[str, NDArray[Any]] = {"pvalue": self.pvalues, "qvalue": self.qvalues}
        columns |= {f"pvalue of {name}": values for name, values in self.by_target.items()}
        columns |= {} if self.truth is None else self.truth.columns()
        if given is not None and len(given):
            columns = {name: _without(values, given) for name, values in columns.items()}
        return columns if self.serves is None else {**columns, "serves": self.serves}

    def serving(self, by_target: dict[str, Floats], counts: NDArray[np.bool_], alpha: float) -> Relevance:
        """The same result with the targets that each relevant feature serves; ``counts``: the features tested."""
        serves = served(by_target, self.relevant, int(counts.sum()), alpha)
        return replace(self, by_target=by_target, serves=serves)

    def with_families(self, problem: Problem, counts: NDArray[np.bool_], alpha: float) -> Relevance:
        """The same result with families, if two or more features are related."""
        if sparse.issparse(problem.X) or self.relevant.sum() < 2 or not problem.supervision.goals():
            return self
        return replace(self, families=families_of(problem.filled, self.pvalues, self.relevant, counts, alpha))

    def with_bound(self, problem: Problem, random_state: int) -> Relevance:
        """The same result with the most features that chance may give, if there is one test of one target."""
        if not self.relevant.any() or self.truth is not None or self.by_target:
            return self
        return replace(self, most_by_chance=most_by_chance(problem, self.pvalues, self.relevant, random_state))

    def beside_truth(self, problem: Problem, alpha: float) -> Relevance:
        """The same result with the answer about the truth, if rows of the problem were checked.

        What is related only to how rows were labelled is no longer relevant; what is related to the truth is."""
        if problem.checks is None:
            return self
        truth = truth_of(problem, self.relevant, alpha)
        relevant = (self.relevant & ~truth.are("labels")) | truth.are("truth")
        reason = self.reason
        if not relevant.any():
            warn(NoFeatureStandsOut.because(reason if not self.relevant.any() else say("only labelling")))
        elif not self.relevant.any():
            reason = say("stand out", n=int(relevant.sum()), percent=100 * alpha)
        found: dict[str, Any] = {"truth": truth, "about_truth": truth.note(problem.feature_names), "reason": reason}
        return replace(self, relevant=relevant, **found)

    def family_columns(self, names: NDArray[Any], best_first: Codes) -> dict[str, NDArray[Any]]:
        """Columns of the ranking on families, if there are any."""
        return {} if self.families is None else self.families.columns(names, best_first)

    def repeats(self, order: Codes) -> NDArray[np.bool_]:
        """Which features of an order are near copies of earlier ones."""
        return np.zeros(len(order), dtype=bool) if self.families is None else self.families.repeats(order)

    def n_needed(self, front: Codes, *, copies_last: bool) -> int:
        """How many of the relevant features, in their order, may be needed to predict the target.

        Near copies at the end are not, nor are features there whose family does not stand out among families: a region
        of noise passes as many tests as it has columns, and seems to help on the rows on which it passed them.
        """
        if self.families is None:
            return len(front)
        front = front[: len(front) - int(self.repeats(front).sum()) * copies_last]
        stand_out = np.flatnonzero(self.families.qvalues[front] <= self.families.alpha)
        return int(stand_out[-1]) + 1 if len(stand_out) else len(front)

    def relevant_first(self, best_first: Codes, *, copies_last: bool = False) -> Codes:
        """One order: relevant features in the given order, then the others in that of their p-values.

        Equal p-values keep the given order. ``copies_last``: near copies of earlier relevant
        features come after all other relevant ones.
        """
        if self.truth is not None:  # related to the truth, related to the label, all others
            places = np.where(self.truth.are("truth"), 0, np.where(self.relevant, 1, 2))
            best_first = best_first[np.argsort(places[best_first], kind="stable")]
        is_relevant = self.relevant[best_first]
        front, rest = best_first[is_relevant], best_first[~is_relevant]
        if copies_last:
            repeats = self.repeats(front)
            front = np.concatenate([front[~repeats], front[repeats]])
        return np.concatenate([front, rest[np.argsort(self.pvalues[rest], kind="stable")]])


def _without(values: NDArray[Any], given: Codes) -> NDArray[Any]:
    """The values of features, of which some were not tested."""
    values = values.copy()
    values[given] = np.nan if values.dtype.kind == "f" else ""
    return values


def relevance_of(
    problem: Problem,
    *,
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
    only_decides: bool = False,
) -> Relevance:
    r"""Test every feature alone and together with others, and keep the false-discovery rate at ``alpha``.

    A feature has two p-values: :math:`p_1` for a linear or smooth relation to the target
    (:func:`~dubio.evidence.relations.relation_pvalues`), and :math:`p_2` for its part in a subset that a
    search found on other rows (:func:`~dubio.evidence.relevance.joint_pvalues`). They share the error:
    :math:`p = \min(p_1 / 0.8, p_2 / 0.2)`. Benjamini and Hochberg's rule then decides. Constant features are no
    hypotheses and do not count.

    Of several targets, a feature is relevant if it is related to any of them
    (:func:`~dubio.evidence.relevance.relations_to_any`), and ``serves`` says to which.

    If rows belong together, groups are compared with groups, and rows only with rows of their group
    (:func:`~dubio.evidence.evidence.independent_parts`).

    If rows were checked, every feature is also tested against the truth (:mod:`dubio.evidence.truth`).

    ``only_decides``: which features are related, and neither their families nor what chance may give.

    If the rows are a sample of a table that is not in memory, :math:`p_1` of columns of numbers without gaps comes from
    all rows (:mod:`dubio.evidence.sketch`).
    """
    whole, problem = problem, problem.tested
    bounds = np.ones((3, problem.n_features))
    parts: dict[str, Floats] = {}
    by_target = {name: np.ones(problem.n_features) for name in problem.supervision.targets}
    counts = np.zeros(problem.n_features, dtype=bool)
    for part, varying, share in varying_parts(problem):
        counts[varying] = part.is_judged
        tested = _alone_and_together(part, alpha, random_state, n_jobs)
        bounds[:, varying] = np.minimum(bounds[:, varying], tested.bounds / share)
        for name, values in tested.by_target.items():
            by_target[name][varying] = np.minimum(by_target[name][varying], values / share)
        for name, values in tested.parts.items():
            name = name if part.groups is None else f"{name} within groups"
            parts[name] = np.ones(problem.n_features)
            parts[name][varying] = values
    pvalues, *limits = bounds
    moves = np.not_equal(*(passes(qvalues_of(end, counts), alpha) for end in limits))
    decided = decide(pvalues, qvalues_of(pvalues, counts), alpha, warns=problem.checks is None)
    relevance = replace(decided, at_the_line=moves, parts=parts)
    if moves.any():
        at_the_line = capital(note("at the line", names=problem.feature_names[moves].tolist()))
        relevance = replace(relevance, reason=f"{relevance.reason}. {at_the_line}")
    relevance = relevance.beside_truth(whole, alpha)
    relevance = relevance.serving(by_target, counts, alpha) if by_target else relevance
    if only_decides:
        return relevance
    relevance = relevance.with_families(whole, counts, alpha)
    return relevance if whole.is_resample else relevance.with_bound(whole, random_state)


def tests_without_given(problem: Problem, is_related: NDArray[np.bool_], **options: Any) -> dict[str, NDArray[Any]]:
    """What it changes that columns are given, for each feature that is judged: columns of the ranking.

    "pvalue_without" is the p-value if nothing is given, and "adjusting" says whether the feature is related to the
    target "with and without" the given columns, "only without" them, "only with" them, or not at all (""). Checked rows
    play no part. ``options`` are those of :func:`relevance_of`; ``is_related``: its answer with the given columns.
    """
    judged, pvalues = problem.is_judged, np.full(problem.n_features, np.nan)
    without = np.zeros(problem.n_features, dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        alone = replace(problem.without_given_features, checks=None)
        relevance = relevance_of(alone, **options, only_decides=True)
    pvalues[judged], without[judged] = relevance.pvalues, relevance.relevant
    words = np.full(problem.n_features, "", dtype=object)
    words[is_related & judged] = "only with"
    words[without] = np.where(is_related[without], "with and without", "only without")
    return {"pvalue_without": pvalues, "adjusting": words}


def _alone_and_together(problem: Problem, alpha: float, random_state: int, n_jobs: int | None) -> TestedFeatures:
    """p-values of features that vary, alone and together with others."""
    all_rows = problem.all_rows
    problem = problem.rows(np.argsort(mixed_contents(problem, 0), kind="stable"))  # the row order decides nothing
    single = relations_to_any(problem, alpha=alpha, random_state=random_state, n_jobs=n_jobs)
    single = single if all_rows is None else single.with_all_rows(all_rows.pvalues)
    # its halves depend on the contents of the table, not on the seed: no seed may decide what is kept
    together = joint_pvalues(problem, random_state=0, n_jobs=n_jobs)
    # with too few rows for the second test, the first one has all of the error
    share = SINGLE if has_enough_rows(problem) else 1.0

    def least(one: Floats, other: Floats) -> Floats:
        return np.minimum(1.0, np.minimum(one / share, other / TOGETHER))

    nothing = np.ones(problem.n_features)
    return TestedFeatures(
        least(single.bounds, together.bounds),
        {**single.parts, "together": together.pvalues},
        {name: least(values, together.by_target.get(name, nothing)) for name, values in single.by_target.items()},
    )


def qvalues_of(pvalues: Floats, counts: NDArray[np.bool_]) -> Floats:
    """q-values (Benjamini-Hochberg) of the features that count; 1 for the others."""
    qvalues = np.ones(len(pvalues))
    if counts.any():
        qvalues[counts] = false_discovery_control(pvalues[counts])
    return qvalues


def decide(pvalues: Floats, qvalues: Floats, alpha: float, *, warns: bool = True) -> Relevance:
    """The features with ``q <= alpha``, and the reason in words; if there is none, it ``warns``.

    If no feature is related to the target, the smallest q-value still falls below ``alpha`` in a share ``alpha`` of all
    tables. So the first feature must reach ``alpha / 2``: noise alone is then called a finding half as often.
    """
    relevant = passes(qvalues, alpha)
    if relevant.any():
        reason = say("stand out", n=int(relevant.sum()), percent=100 * alpha)
    else:
        why = say("smallest", smallest=qvalues.min(), needed=alpha / 2)
        if warns:
            warn(NoFeatureStandsOut.because(why))
        reason = say("nothing stands out", why=why)
    return Relevance(pvalues, qvalues, relevant, np.zeros(len(pvalues), dtype=bool), reason)


def passes(qvalues: Floats, alpha: float) -> NDArray[np.bool_]:
    """The features with ``q <= alpha``; none if even the smallest q-value is above ``alpha / 2``."""
    return (qvalues <= alpha) & (qvalues.min() <= alpha / 2)


#: Permutations of the target, the share of them in which the bound holds, and most rows of a permutation. The cut is
#: that of the table itself, so a quantile of 0.95 held in 92 of 101 draws (``python -m benchmarks.families``).
_SHUFFLES, _BOUND, _SHUFFLED_ROWS = 400, 0.975, 1000


def most_by_chance(problem: Problem, pvalues: Floats, relevant: NDArray[np.bool_], random_state: int = 0) -> int:
    """A bound on the number of false features among the relevant ones of this table.

    The target is permuted 400 times (within groups, if rows belong together). Each time, the features are counted whose
    p-value is at most the largest one that was kept; the bound is the 97.5 % quantile of these numbers. In permutations
    a feature has the p-values of the linear tests, joined as in :func:`~dubio.evidence.relations.relation_pvalues`, and
    they have all of the error: features of noise pass together if they are correlated, whichever test is asked.
    """
    cut, kept = float(pvalues[relevant].max()), int(relevant.sum())
    passed = np.zeros((_SHUFFLES, problem.n_features), dtype=bool)
    for part, varying, share in varying_parts(problem.tested.labelled):
        rows = np.argsort(mixed_contents(part, 0), kind="stable")
        part = part.rows(rows[np.sort(sample_rows(part.rows(rows), _SHUFFLED_ROWS, 0))])
        passed[:, varying] |= shuffled_passes(Evidence.of(part), cut * share, _SHUFFLES, random_state)
    counts = passed[:, problem.is_judged].sum(axis=1)
    return min(kept, int(np.quantile(counts, _BOUND, method="higher")))


#: Most rows and features of the search in the joint test.
_MOST_ROWS, _MOST_FEATURES = 1000, 60
#: With more features than this, the search of the joint test leaves out a share of them at a time.
_ONE_BY_ONE, _SHARE_AT_A_TIME = 20, 0.1
#: Fewest rows in each half; fewest groups, if rows belong together.
_FEWEST_ROWS_IN_HALF, _FEWEST_GROUPS = 60, 20
#: Permutations of a feature, and splits into halves: more of them make the result depend less on the seed.
_PERMUTATIONS, _SPLITS = 60, 2


def joint_pvalues(problem: Problem, *, random_state: int = 0, n_jobs: int | None = None) -> TestedFeatures:
    r"""Test whether features matter together with others; 1 for features that the search does not find.

    The labelled rows are split in two halves, in which each class has its share. A backward search on the k-NN loss
    finds a small sufficient subset on the first half. On the other half, each of its features is permuted among the
    rows. If the subset predicts the target better with the feature in its place than with 60 permutations of it, the
    feature matters. With mean :math:`m` and standard deviation :math:`s` of the permuted losses,
    :math:`p = P(T_{59} \le (L - m) / (s \sqrt{1 + 1/60}))`, a tail of the t law: 60 permutations cannot reach small
    p-values. Then the halves change places, and :math:`p` is twice the smaller of the two. Rows that were searched are
    never used to test, so the search cannot mislead the test. The p-values of two different splits are joined by
    :func:`~dubio.evidence.relations.cauchy_combination`.

    If the problem has groups (it is then the part within groups), halves are made of whole groups, a row is predicted
    by rows of other groups, and features are permuted within groups.

    Features that are given are in every subset, and the others are residuals
    (:mod:`~dubio.evidence.residuals`).

    Only labels of the table are used, not those completed by experts, who have seen all rows.

    Of several targets, the search and the test use the joint loss
    (:class:`~dubio.neighbors.losses.NeighborLoss`; a missing cell counts as the mean of its target). The same
    permutations also give a p-value for each target, in ``by_target``.
    """
    if not has_enough_rows(problem):
        return TestedFeatures(np.ones((3, problem.n_features)))
    problem = without_given(problem, centred=problem.groups is not None).tested.labelled
    problem = problem.with_supervision(problem.supervision.on_normal_scores())
    problem = problem.rows(sample_rows(problem, _MOST_ROWS, random_state))
    of_splits = _pvalues_of_splits(problem, random_state, n_jobs)
    pvalues = cauchy_combination(*of_splits)
    bounds = np.stack([pvalues[0], np.min(of_splits, axis=0)[0], np.max(of_splits, axis=0)[0]])
    return TestedFeatures(bounds, by_target=dict(zip(problem.supervision.targets, pvalues[1:], strict=False)))


def has_enough_rows(problem: Problem) -> bool:
    """Whether a search on half of the labelled rows can find anything."""
    problem = problem.tested.labelled
    enough_groups = problem.groups is None or problem.n_groups >= _FEWEST_GROUPS
    return problem.n_rows >= 2 * _FEWEST_ROWS_IN_HALF and enough_groups


def _pvalues_of_splits(problem: Problem, random_state: int, n_jobs: int | None) -> list[Floats]:
    """For each split (1 + targets, features): p-values for all targets together, and for each of them."""
    tasks: list[tuple[int, Codes, Codes]] = []
    for split in range(_SPLITS):
        one = sample_half(problem, int(np.random.default_rng([random_state, split]).integers(2**31)))
        other = np.setdiff1d(np.arange(problem.n_rows), one)
        tasks += [(split, one, other), (split, other, one)]
    threads = resolve_threads(n_jobs)
    own = max(1, threads // len(tasks))

    def work(start: int, stop: int) -> Floats:
        ((split, searched, tested),) = tasks[start:stop]
        pvalues = np.ones((1 + len(problem.supervision.goals()), problem.n_features))
        with listening(lambda *_: None):  # a listener hears of whole tasks, in its own thread
            subset = _searched_subset(problem.rows(searched), own)
            if len(subset):
                pvalues[:, subset] = _permuted_pvalues(problem.rows(tested), subset, [random_state, split], own)
        return pvalues

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        done = run_chunks(work, chunks(len(tasks), 1), threads, partial(advance, "test of features together"))
    return [np.minimum(1.0, 2.0 * np.minimum(*done[place : place + 2])) for place in range(0, len(tasks), 2)]


def _searched_subset(problem: Problem, n_jobs: int | None) -> NDArray[np.intp]:
    """A small subset that predicts the target, by a backward search; empty if no subset predicts it."""
    space, varying = _space(problem)
    start = np.intersect1d(problem.given_features, varying)
    if len(varying) > _MOST_FEATURES:
        part = problem.features(varying)
        evidence = Evidence.of(part, within=False).on_normal_scores()
        score = np.maximum(linear_r2(evidence)[0], smooth_r2(evidence, n_jobs=n_jobs))
        score[np.isin(varying, start)] = np.inf
        varying = np.sort(varying[np.argsort(-score, kind="stable")[: max(_MOST_FEATURES, len(start))]])
    if not len(varying):
        return varying
    loss = _loss_on(problem.features(varying), space[:, problem.columns_of(varying)], n_jobs)
    fixed = np.searchsorted(varying, start)
    subsets, values = _dropped_by_shares(loss, len(varying), fixed)
    path = greedy_search(loss, subsets[min(subsets)], direction="backward", start=fixed)
    subsets, values = subsets | path.subsets, values | path.values
    if min(values.values()) >= loss.value_of_nothing:
        return varying[:0]
    size, _ = smallest_sufficient_size(subsets, values, loss.unit_values, larger_is_better=False)
    return varying[subsets[size]]


def _dropped_by_shares(loss: NeighborLoss, n_features: int, fixed: Codes) -> tuple[dict[int, Codes], dict[int, float]]:
    """All features, and the subsets in which a share of them is left out at a time: those without which the loss is
    lowest. The last one is small enough to go on one by one."""
    inside = np.arange(n_features)
    subsets, values = {n_features: inside}, {n_features: loss.start(inside)}
    while len(inside) > max(_ONE_BY_ONE, len(fixed)):
        movable = np.setdiff1d(inside, fixed)
        count = min(int(np.ceil(_SHARE_AT_A_TIME * len(inside))), len(inside) - _ONE_BY_ONE, len(movable))
        worst = movable[np.argsort(loss.evaluate(movable, REMOVE), kind="stable")[:count]]
        inside = np.setdiff1d(inside, worst)
        subsets[len(inside)], values[len(inside)] = inside, loss.start(inside)
    return subsets, values


def _permuted_pvalues(problem: Problem, subset: NDArray[np.intp], seed: list[int], n_jobs: int | None) -> Floats:
    """(1 + targets, subset): p-values of its features, from permutations of each among the rows."""
    space, _ = _space(problem)
    rng = np.random.default_rng([*seed, 1])
    pvalues: list[Floats] = [np.ones(1)] * len(subset)
    for position, feature in enumerate(subset):
        if feature in problem.given_features:  # in every subset, and not judged
            continue
        block = space[:, problem.columns_of(np.array([feature]))]
        if (block == block[0]).all():
            continue
        # the columns of a feature move together
        orders = (random_order(problem.n_rows, problem.groups, rng) for _ in range(_PERMUTATIONS))
        copies = np.hstack([block, *(block[order] for order in orders)])
        rest = np.delete(subset, position)
        others = space[:, problem.columns_of(rest)]
        sizes = [1] * len(rest) if problem.columns is None else problem.columns.sizes[rest].tolist()
        features = columns_of_sizes([*sizes, *[block.shape[1]] * (_PERMUTATIONS + 1)])
        loss = _loss_on(problem, np.hstack([others, copies]), n_jobs, features)
        loss.start(np.arange(len(rest)))
        each = loss.evaluate_each(np.arange(len(rest), len(rest) + _PERMUTATIONS + 1), ADD)
        values = np.column_stack([each.sum(axis=1), each])
        spread = values[1:].std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / _PERMUTATIONS)
        gain = values[0] - values[1:].mean(axis=0)
        better = np.divide(gain, spread, out=np.full(len(spread), np.inf), where=spread > 0)
        pvalues[position] = stats.t.cdf(better, _PERMUTATIONS - 1)
    return np.stack(np.broadcast_arrays(*pvalues), axis=1)


def _space(problem: Problem) -> tuple[Floats, NDArray[np.intp]]:
    """The table with features of unit variance, and the features that vary."""
    space = np.asarray(standardize(problem.table, problem.columns))
    varying = np.flatnonzero((space != space[:1]).any(axis=0))
    return space, varying if problem.columns is None else np.unique(problem.columns.feature_of[varying])


def _loss_on(problem: Problem, space: Floats, n_jobs: int | None, features: Columns | None = None) -> NeighborLoss:
    """The k-NN loss of the given labels on some columns; with few rows, fewer neighbours.

    ``features`` says which columns are one feature; by default, those of the problem.
    """
    k = _neighbors(problem.n_rows)
    features = problem.columns if features is None else features
    distances = SubsetDistances(space, n_threads=resolve_threads(n_jobs), groups=problem.groups, features=features)
    goals = problem.supervision.goals()
    return NeighborLoss(distances, goals, n_neighbors=k, weights=problem.uneven_weights)


def _neighbors(n_rows: int) -> int:
    """Number of neighbours: with few rows, 15 are no longer near."""
    return int(min(15, max(3, n_rows // 8)))


#: The loss that each row, or each group of rows, adds, for a list of features (low is good).
RowLosses = Callable[[Codes], Floats]


def _shortest(losses: Iterable[tuple[int, Floats]], best: Floats, level: float) -> int | None:
    """The first size whose loss is not significantly above the best one (:func:`sufficient_size`); None if all are."""
    limit = stats.norm.ppf(1 - level)
    for size, loss in losses:
        worse = np.asarray(loss, dtype=np.float64) - best
        spread = worse.std(ddof=1) * np.sqrt(len(worse)) if len(worse) > 1 else 0.0
        if worse.sum() <= limit * spread:
            return size
    return None


def smallest_sufficient_size(
    subsets: dict[int, Codes],
    values: dict[int, float],
    row_values: Callable[[Codes], Floats],
    *,
    larger_is_better: bool,
    alpha: float = 0.05,
    value_of_nothing: float | None = None,
) -> tuple[int, str]:
    r"""The smallest size whose criterion is not significantly worse than the best, and the reason in words.

    ``subsets`` and ``values`` have the features and the criterion for each size. The criterion must be a sum over rows:
    ``row_values(subset)`` returns what each of them adds to it. Subsets are compared as in :func:`sufficient_size`,
    from the smallest up, only as far as needed. If none is better than ``value_of_nothing``, the criterion of the empty
    subset, one feature is kept, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.evidence.relevance import smallest_sufficient_size
    >>> rng = np.random.default_rng(0)
    >>> gains = {1: rng.normal(0.5, 0.1, 50), 2: rng.normal(1.0, 0.1, 50), 3: rng.normal(1.0, 0.1, 50)}
    >>> subsets = {size: np.arange(size) for size in gains}
    >>> values = {1: 25.0, 2: 50.0, 3: 50.1}
    >>> smallest_sufficient_size(subsets, values, lambda s: gains[len(s)], larger_is_better=True)[0]
    2
    """
    if not subsets or set(subsets) != set(values):
        found = f"has {len(subsets)} sizes and values has {len(values)}"
        raise InputError("subsets", found, "give the same sizes, one or more")
    check_alpha(alpha)
    sign = 1.0 if larger_is_better else -1.0
    sizes = sorted(values)
    best = max(sizes, key=lambda size: (sign * values[size], -size))  # among equals the smaller
    if value_of_nothing is not None and sign * values[best] <= sign * value_of_nothing:
        text = f"the best criterion of any subset, {values[best]:.4g}, is no better than the criterion without any"
        text = f"{text} feature, {value_of_nothing:.4g}"
        warn(NoFeatureStandsOut.because(text))
        return sizes[0], f"no feature stands out: {text}; one is kept so that the selection is not empty"
    smaller = sizes[: sizes.index(best)]
    losses = ((size, -sign * np.asarray(row_values(subsets[size]))) for size in smaller)
    size = _shortest(losses, -sign * np.asarray(row_values(subsets[best]), dtype=np.float64), alpha)
    text = f"the best criterion ({values[best]:.4g}); every smaller subset is clearly worse"
    if size is not None:
        enough = f"the smallest subset whose criterion ({values[size]:.4g}) is not significantly worse"
        text = f"{enough} (alpha={alpha:g}) than the best ({values[best]:.4g}, {best} features)"
    size = best if size is None else size
    return size, f"{counted(size, 'feature')}: {text}"


#: One-sided level of the test whether a shorter list predicts worse. At 0.05 the loss of accuracy was larger.
LEVEL = 0.2
#: A model's loss this much above that with all relevant features, as a share of it, is as good. In seven draws of five
#: tables, short lists then lost 0.0 points of accuracy; with a test at a level of 0.2 in its place, 3.7.
_MARGIN = 0.01
#: Maximum length of a list that is tried, and of the list of all related features with which it is compared.
_LONGEST, _ALL = 40, 200
#: From one list that is tried to the next, beyond the one that suffices for nearest neighbours.
_STEP = 1.2


class Sufficient(NamedTuple):
    """How many features suffice, and the mean loss of the first judge by number of features."""

    size: int
    losses: Floats


def sufficient_size(
    order: Codes, n_relevant: int, losses: RowLosses, *models: RowLosses, level: float = LEVEL
) -> Sufficient:
    r"""The shortest beginning of the relevant features that predicts the target as well as any longer one.

    For each row, take the difference of its loss between a short list and the best one. If rows are independent, the
    sum :math:`S` of these differences has the standard error :math:`\sqrt{n}\, s`. A list is too short if
    :math:`S / (\sqrt{n}\, s)` is above the normal quantile of ``1 - level``. In ``order`` are the features, best first;
    ``losses(features)`` gives the loss of each row or, if rows belong together, of each group.

    The list must also be long enough for other ``models``: with it, the loss of each is at most a hundredth above its
    loss with all relevant features. (A test would call too many lists long enough: it has little power.)

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.evidence.relevance import sufficient_size
    >>> noise = np.random.default_rng(0).normal(0, 0.1, size=50)
    >>> def losses(features):  # a third feature adds nothing
    ...     return 1.0 / min(len(features), 2) + noise
    >>> sufficient_size(np.arange(5), 4, losses).size
    2
    """
    longest = min(n_relevant, _LONGEST)
    if longest < 1:
        return Sufficient(longest, np.empty(0))
    rows = [np.asarray(losses(order[:size]), dtype=np.float64) for size in range(1, longest + 1)]
    means = np.array([row.mean() for row in rows])
    found = _shortest(enumerate(rows, 1), rows[int(means.argmin())], level) or longest
    if models and found < n_relevant:
        limits = [(1.0 + _MARGIN) * model(order[: min(n_relevant, _ALL)]).sum() for model in models]
        judged = list(zip(models, limits, strict=True))
        lists = (size for size in _sizes(found, longest) if all(one(order[:size]).sum() <= end for one, end in judged))
        found = next(lists, n_relevant)
    return Sufficient(found, means)


def _sizes(first: int, last: int) -> Iterator[int]:
    """Numbers of features from the first to the last, in steps that grow."""
    while first < last:
        yield first
        first = max(first + 1, int(first * _STEP))
    yield last


def goals_to_judge(problem: Problem) -> list[Floats]:
    """The targets (rows, classes) or (rows, 1) that models predict, each with a variance of 1 in all."""
    goals = problem.with_supervision(problem.supervision.on_normal_scores()).supervision.goals()
    tables = [goal.reshape(len(goal), -1) for goal in goals]
    return [table / max(float(np.sqrt(table.var(axis=0).sum())), 1e-300) for table in tables]


def line_errors_of(problem: Problem) -> RowLosses:
    """The squared error of ridge regression, which predicts each row from the others, for a list of features."""
    problem, columns = rows_to_judge(problem)
    goals = np.hstack(goals_to_judge(problem))

    def losses(features: Codes) -> Floats:
        basis = columns[:, problem.columns_of(np.sort(features))]
        regression = Regression(basis, problem.uneven_weights, problem.groups)
        missed = regression.residuals(goals, together=True) ** 2
        return by_unit(problem, missed.sum(axis=1))

    return losses


def neighbor_errors_of(problem: Problem) -> RowLosses:
    """The squared error of the mean of the nearest other rows, of other groups, for a list of features."""
    problem, columns = rows_to_judge(problem)
    goals, n = np.hstack(goals_to_judge(problem)), problem.n_rows
    groups = np.arange(n) if problem.groups is None else problem.groups
    weights = np.ones(n) if problem.uneven_weights is None else problem.uneven_weights
    k = min(_neighbors(n), n - 1)

    def losses(features: Codes) -> Floats:
        space = columns[:, problem.columns_of(np.sort(features))]
        squares = (space**2).sum(axis=1)
        distances = squares[:, None] + squares - 2.0 * (space @ space.T)
        distances[groups[:, None] == groups] = np.inf
        near = np.argpartition(distances, k - 1, axis=1)[:, :k]
        said = (weights[near, None] * goals[near]).sum(axis=1) / weights[near].sum(axis=1)[:, None]
        return by_unit(problem, ((goals - said) ** 2).sum(axis=1))

    return losses


def row_losses_of(problem: Problem, random_state: int = 0, n_jobs: int | None = None) -> RowLosses:
    """The k-NN loss of the given labels, for methods that have no loss of their own."""
    problem, columns = rows_to_judge(problem, random_state)
    loss = _loss_on(problem, columns, n_jobs)
    return lambda features: loss.unit_values(np.sort(features))


def rows_to_judge(problem: Problem, random_state: int = 0) -> tuple[Problem, Floats]:
    """The labelled rows on which lists of features are compared, or a sample, and their columns on one scale."""
    problem = problem.counted.tested.labelled
    problem = problem.rows(sample_rows(problem, _MOST_ROWS, random_state))
    problem = problem.dense
    return problem, _space(problem)[0]


def by_unit(problem: Problem, values: Floats) -> Floats:
    """The values of rows, times their weights; if rows belong together, the sum over each group."""
    values = values if problem.uneven_weights is None else values * problem.uneven_weights
    if problem.groups is None:
        return values
    return np.bincount(np.unique(problem.groups, return_inverse=True)[1], values).astype(np.float64)
