"""The tests of relevance, made quick for many draws of labels or rows: draws of one kind share one null."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from dubio.problem import Problem
from dubio.significance.group_units import independent_parts
from dubio.significance.joint_test import has_enough_rows, joint_pvalues
from dubio.significance.lines import level_features
from dubio.significance.multiple import cauchy_combination
from dubio.significance.relation_tests import (
    linear_pvalues,
    pvalues_against,
    relation_target,
    smooth_null,
    smooth_r2,
    varying_features,
)
from dubio.significance.relevance import SINGLE, TOGETHER, passes, qvalues_of

Floats = NDArray[np.float64]

#: Permutations behind the smooth test, at most, and behind the linear test where a few rows decide.
_MOST_PERMUTATIONS, _MOST_CHECKS = 50_000, 999


class QuickTests:
    """Decides as :func:`~dubio.significance.relevance_of` does, in a small part of its time.

    The linear test has a closed-form null. The null of the smooth test depends on the number of rows and the shares of
    the classes, so it is drawn once for all draws of one kind. Without ``together``, features are not searched for
    together. The third test of numbers, on a graph, is left out: it would take longer than all else.
    """

    def __init__(self, alpha: float, random_state: int, n_jobs: int | None, *, together: bool = False) -> None:
        self._alpha, self._seed, self._n_jobs = alpha, random_state, n_jobs
        self._nulls: dict[Hashable, Floats] = {}
        self.together = together

    def kept(self, problem: Problem, kind: Hashable) -> NDArray[np.bool_]:
        """The features of a problem, with a label in every row, that are kept; ``kind`` names the kind of draw."""
        problem = problem.tested
        pvalues = np.ones(problem.n_features)
        counts = np.zeros(problem.n_features, dtype=bool)
        target = problem.supervision.target_matrix(np.arange(problem.n_rows))
        if (target == target[:1]).all():  # only one class is left
            return counts
        for place, (part, share) in enumerate(independent_parts(problem)):
            varying = np.flatnonzero(varying_features(part))
            if not len(varying):
                continue
            counts[varying] = True
            part = part.features(varying)
            tested = self._single(part, (kind, place)) / (SINGLE if has_enough_rows(part) else 1.0)
            if self.together:
                both = joint_pvalues(part, random_state=self._seed, n_jobs=self._n_jobs).pvalues / TOGETHER
                tested = np.minimum(tested, both)
            pvalues[varying] = np.minimum(pvalues[varying], tested / share)
        return passes(qvalues_of(pvalues, counts), self._alpha)

    def _single(self, problem: Problem, kind: Hashable) -> Floats:
        within = problem.groups is not None
        if kind not in self._nulls:
            wanted = int(np.clip(10 * problem.n_features / self._alpha, 999, _MOST_PERMUTATIONS))
            target = np.ascontiguousarray(relation_target(problem, np.arange(problem.n_rows), within))
            seed = int(np.random.default_rng([self._seed, len(self._nulls)]).integers(2**31))
            null = smooth_null(
                target,
                wanted,
                groups=problem.groups,
                weights=problem.uneven_weights,
                random_state=seed,
                n_jobs=self._n_jobs,
            )
            self._nulls[kind] = np.sort(null)
        smooth = pvalues_against(self._nulls[kind], smooth_r2(problem, within=within, n_jobs=self._n_jobs))
        linear = linear_pvalues(problem, most_permutations=_MOST_CHECKS)
        levels = level_features(problem)  # smooth R2 of categories has another null
        smooth[levels] = linear[levels]
        return cauchy_combination(linear, smooth)
