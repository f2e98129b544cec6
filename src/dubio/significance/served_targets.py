"""Several targets: whether a feature is related to any of them, and which of them it serves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from dubio.problem import Problem
from dubio.significance.group_units import within_problem
from dubio.significance.multiple import cauchy_combination
from dubio.significance.relation_tests import TestedFeatures, relation_pvalues, varying_features
from dubio.supervision import SeveralTargets

Floats = NDArray[np.float64]

#: With fewer rows a target cannot be tested alone.
_FEWEST_ROWS = 4


def target_problems(problem: Problem) -> dict[str, Problem]:
    """For each target, the rows in which it is known, with this target alone. Within groups: of these, the rows of
    groups in which it varies."""
    known = problem.supervision
    assert isinstance(known, SeveralTargets)
    found = {}
    for name, part in zip(known.names, known.parts, strict=True):
        alone = problem.with_supervision(part).labelled
        found[name] = alone if alone.groups is None or not alone.n_rows else within_problem(alone)
    return found


def relations_to_any(
    problem: Problem, *, alpha: float = 0.05, random_state: int = 0, n_jobs: int | None = None
) -> TestedFeatures:
    """Test whether each feature is related to any of several targets, and to each of them.

    The tests of :func:`~dubio.significance.relation_tests.relation_pvalues` are done on all targets side by side, and
    on each target alone with the rows in which it is known. The first see what several targets share, the others what
    only one of them has. :func:`~dubio.significance.cauchy_combination` joins them. ``by_target`` has the p-values of
    each target.
    """
    options: dict[str, Any] = {"alpha": alpha, "random_state": random_state, "n_jobs": n_jobs}
    joint = relation_pvalues(problem, **options)
    alone = {name: _relations_to_one(part, **options) for name, part in target_problems(problem).items()}
    found = (joint, *alone.values())
    return TestedFeatures(
        cauchy_combination(*(one.pvalues for one in found)),
        cauchy_combination(*(one.low for one in found)),
        cauchy_combination(*(one.high for one in found)),
        {name: joint.parts[name] for name in ("linear", "smooth")},
        {name: one.pvalues for name, one in alone.items()},
    )


def _relations_to_one(problem: Problem, **options: Any) -> TestedFeatures:
    """The tests of one target; 1 for features that do not vary in its rows."""
    pvalues, low, high = np.ones((3, problem.n_features))
    if problem.n_rows < _FEWEST_ROWS or not problem.supervision.target_matrix(np.arange(problem.n_rows)).any():
        return TestedFeatures(pvalues, low, high)
    varying = np.flatnonzero(varying_features(problem))
    if len(varying):
        found = relation_pvalues(problem.features(varying), **options)
        pvalues[varying], low[varying], high[varying] = found.pvalues, found.low, found.high
    return TestedFeatures(pvalues, low, high)


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
    >>> from dubio.significance.served_targets import served
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
