"""Relevant features: tests of single features and of features together, with false discoveries limited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from dubio.errors import warn
from dubio.evidence.evidence import Evidence, independent_parts, varying_features, within_problem
from dubio.evidence.multiple import NoFeatureStandsOut, cauchy_combination
from dubio.evidence.relations import TestedFeatures, relation_pvalues
from dubio.evidence.together import has_enough_rows, joint_pvalues
from dubio.problem import Problem
from dubio.sampling import mixed_contents
from dubio.words import capital, note, say

Floats = NDArray[np.float64]

#: With fewer rows a target cannot be tested alone.
_FEWEST_ROWS = 4


def relations_to_any(problem: Problem, **options: Any) -> TestedFeatures:
    """Test whether each feature is related to the target, or to any of several targets and to each of them.

    Of several targets, the tests of :func:`~dubio.evidence.relations.relation_pvalues` are done on all side by side,
    and on each alone with the rows in which it is known. The first see what several targets share, the others what only
    one of them has. :func:`~dubio.evidence.multiple.cauchy_combination` joins them. ``by_target`` has the p-values of
    each target.
    """
    joint = relation_pvalues(Evidence.of(problem), **options)
    alone = {
        name: _relations_to_one(problem.with_supervision(part).labelled, **options)
        for name, part in problem.supervision.targets.items()
    }
    if not alone:
        return joint
    bounds = cauchy_combination(joint.bounds, *alone.values())
    parts = {name: joint.parts[name] for name in ("linear", "smooth")}
    return TestedFeatures(bounds, parts, {name: one[0] for name, one in alone.items()})


def _relations_to_one(problem: Problem, **options: Any) -> Floats:
    """p-values of one target, and their limits; 1 for features that do not vary in its rows.

    Within groups: only the rows of groups in which this target varies."""
    if problem.groups is not None and problem.n_rows:
        problem = within_problem(problem)
    bounds = np.ones((3, problem.n_features))
    if problem.n_rows < _FEWEST_ROWS or not problem.supervision.target_matrix(np.arange(problem.n_rows)).any():
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
    said = np.full(len(relevant), "", dtype=object)
    level = alpha * relevant.sum() / max(1, n_tested)
    for feature in np.flatnonzero(relevant):
        passed = np.flatnonzero(false_discovery_control(table[feature]) <= level)
        best = names[int(np.argmin(table[feature]))]
        said[feature] = ", ".join(names[place] for place in passed) if len(passed) else f"{best}?"
    return said


#: Share of the allowed false discoveries for tests of single features.
SINGLE = 0.8
#: Share of the allowed false discoveries for the test of features together.
TOGETHER = 0.2


@dataclass(frozen=True)
class Relevance:
    """The result of the tests.

    Attributes
    ----------
    pvalues, qvalues : array (n_features,)
        1 for features that take no part: constant ones.
    relevant : array (n_features,) of bool
    at_the_line : array (n_features,) of bool
        The decision may change with other permutations or halves of the rows: the budget did not suffice to tell.
    reason : str
        Why so many.
    parts : dict of arrays
        p-values of each test, by name.
    by_target : dict of arrays
        If there are several targets: p-values of each of them, by name.
    serves : array (n_features,) of str, or None
        If there are several targets: those that each relevant feature serves
        (:func:`~dubio.evidence.relevance.served`).
    """

    pvalues: Floats
    qvalues: Floats
    relevant: NDArray[np.bool_]
    at_the_line: NDArray[np.bool_]
    reason: str
    parts: dict[str, Floats] = field(default_factory=dict)
    by_target: dict[str, Floats] = field(default_factory=dict)
    serves: NDArray[Any] | None = None

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns of the ranking: p-values, q-values, and the targets that each feature serves if there are several."""
        columns: dict[str, NDArray[Any]] = {"pvalue": self.pvalues, "qvalue": self.qvalues}
        if self.serves is not None:
            columns["serves"] = self.serves
            columns |= {f"pvalue of {name}": values for name, values in self.by_target.items()}
        return columns

    def serving(self, by_target: dict[str, Floats], counts: NDArray[np.bool_], alpha: float) -> Relevance:
        """The same result with the targets that each relevant feature serves; ``counts``: the features tested."""
        serves = served(by_target, self.relevant, int(counts.sum()), alpha)
        return replace(self, by_target=by_target, serves=serves)

    def relevant_first(self, best_first: NDArray[np.int64]) -> NDArray[np.int64]:
        """One order: relevant features first, each part in the given order.

        If no feature is relevant, the one with the smallest p-value comes first.
        """
        front = self.relevant[best_first]
        if not front.any():
            front = best_first == best_first[np.argmin(self.pvalues[best_first])]
        return np.concatenate([best_first[front], best_first[~front]])


def relevance_of(
    problem: Problem, *, alpha: float = 0.05, random_state: int = 0, n_jobs: int | None = None
) -> Relevance:
    r"""Test every feature alone and together with others, and keep the false-discovery rate at ``alpha``.

    A feature has two p-values: :math:`p_1` for a linear or smooth relation to the target
    (:func:`~dubio.evidence.relations.relation_pvalues`), and :math:`p_2` for its part in a subset that a
    search found on other rows (:func:`~dubio.evidence.together.joint_pvalues`). They share the error:
    :math:`p = \min(p_1 / 0.8, p_2 / 0.2)`. Benjamini and Hochberg's rule then decides. Constant features are no
    hypotheses and do not count.

    Of several targets, a feature is relevant if it is related to any of them
    (:func:`~dubio.evidence.relevance.relations_to_any`), and ``serves`` says to which.

    If rows belong together, groups are compared with groups, and rows only with rows of their group
    (:func:`~dubio.evidence.evidence.independent_parts`).
    """
    problem = problem.tested
    bounds = np.ones((3, problem.n_features))
    parts: dict[str, Floats] = {}
    by_target = {name: np.ones(problem.n_features) for name in problem.supervision.targets}
    counts = np.zeros(problem.n_features, dtype=bool)
    for part, share in [(problem.counted, 1.0)] if problem.groups is None else independent_parts(problem):
        varying = np.flatnonzero(varying_features(part))
        if not len(varying):
            continue
        counts[varying] = True
        tested = _tested(part.features(varying), alpha, random_state, n_jobs)
        bounds[:, varying] = np.minimum(bounds[:, varying], tested.bounds / share)
        for name, values in tested.by_target.items():
            by_target[name][varying] = np.minimum(by_target[name][varying], values / share)
        for name, values in tested.parts.items():
            name = name if part.groups is None else f"{name} within groups"
            parts[name] = np.ones(problem.n_features)
            parts[name][varying] = values
    pvalues, *limits = bounds
    moves = np.not_equal(*(passes(qvalues_of(end, counts), alpha) for end in limits))
    found = decide(pvalues, qvalues_of(pvalues, counts), alpha, moves, parts, problem.feature_names)
    return found.serving(by_target, counts, alpha) if by_target else found


def _tested(problem: Problem, alpha: float, random_state: int, n_jobs: int | None) -> TestedFeatures:
    """p-values of features that vary, alone and together with others."""
    # the order of the rows decides nothing
    problem = problem.rows(np.argsort(mixed_contents(problem, 0), kind="stable"))
    single = relations_to_any(problem, alpha=alpha, random_state=random_state, n_jobs=n_jobs)
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


def decide(
    pvalues: Floats,
    qvalues: Floats,
    alpha: float,
    at_the_line: NDArray[np.bool_] | None = None,
    parts: dict[str, Floats] | None = None,
    names: NDArray[np.object_] | None = None,
) -> Relevance:
    """The features with ``q <= alpha``, and the reason in words; warns if there is none.

    If no feature is related to the target, the smallest q-value still falls below ``alpha`` in a share ``alpha`` of all
    tables. So the first feature must reach ``alpha / 2``: noise alone is then called a finding half as often.
    """
    relevant = passes(qvalues, alpha)
    at_the_line = np.zeros(len(pvalues), dtype=bool) if at_the_line is None else at_the_line
    if relevant.any():
        reason = say("stand out", n=int(relevant.sum()), percent=100 * alpha)
    else:
        why = say("smallest", smallest=qvalues.min(), needed=alpha / 2)
        warn(NoFeatureStandsOut.because(why))
        reason = say("nothing stands out", why=why)
    if at_the_line.any() and names is not None:
        reason = f"{reason}. {capital(note('at the line', names=names[at_the_line].tolist()))}"
    return Relevance(pvalues, qvalues, relevant, at_the_line, reason, parts or {})


def passes(qvalues: Floats, alpha: float) -> NDArray[np.bool_]:
    """The features with ``q <= alpha``; none if even the smallest q-value is above ``alpha / 2``."""
    return (qvalues <= alpha) & (qvalues.min() <= alpha / 2)
