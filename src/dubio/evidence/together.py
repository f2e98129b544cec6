"""A test of features that matter only together, on rows that the search has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import norm

from dubio.errors import InputError, counted, warn
from dubio.evidence.multiple import NoFeatureStandsOut, cauchy_combination, check_alpha
from dubio.evidence.relations import TestedFeatures, linear_r2, smooth_r2
from dubio.kernels.threads import resolve_threads
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.greedy import ADD, greedy_search
from dubio.neighbors.losses import NeighborLoss
from dubio.problem import Problem
from dubio.sampling import sample_groups, sample_rows
from dubio.table.columns import Columns, columns_of_sizes
from dubio.table.groups import shuffled_within
from dubio.table.scaling import standardize
from dubio.target.knowledge import Supervision
from dubio.target.numbers import Numbers, normal_scores
from dubio.target.several import SeveralTargets


def smallest_sufficient_size(
    subsets: dict[int, NDArray[np.int64]],
    values: dict[int, float],
    row_values: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    *,
    larger_is_better: bool,
    alpha: float = 0.05,
    value_of_nothing: float | None = None,
) -> tuple[int, str]:
    r"""The smallest size whose criterion is not significantly worse than the best, and the reason in words.

    The criterion must be a sum over rows, so that each row has a value for each subset. For each row, take the
    difference between the best subset and a smaller one. If rows are independent, the sum :math:`S` of these
    differences has the standard error :math:`\sqrt{n}\, s`. A size is sufficient if :math:`S / (\sqrt{n}\, s)` stays
    below the normal quantile of :math:`1 - \alpha`. Sizes are tried from the smallest up, only as far as needed.

    Parameters
    ----------
    subsets, values : dict
        The features and the criterion for each size.
    row_values : callable
        ``row_values(subset)`` returns what each row adds to the criterion: an array (n_rows,).
    larger_is_better : bool
    alpha : float
        Level of the one-sided test.
    value_of_nothing : float, optional
        The criterion of the empty subset. If no subset is better, one feature is kept, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.evidence.together import smallest_sufficient_size
    >>> rng = np.random.default_rng(0)
    >>> gains = {1: rng.normal(0.5, 0.1, 50), 2: rng.normal(1.0, 0.1, 50), 3: rng.normal(1.0, 0.1, 50)}
    >>> subsets = {size: np.arange(size) for size in gains}
    >>> values = {1: 25.0, 2: 50.0, 3: 50.1}
    >>> smallest_sufficient_size(subsets, values, lambda s: gains[len(s)], larger_is_better=True)[0]
    2
    """
    if not subsets or set(subsets) != set(values):
        raise InputError(
            "subsets", f"has {len(subsets)} sizes and values has {len(values)}", "give the same sizes, one or more"
        )
    check_alpha(alpha)
    sign = 1.0 if larger_is_better else -1.0
    sizes = sorted(values)
    best = max(sizes, key=lambda size: (sign * values[size], -size))  # among equals the smaller
    if value_of_nothing is not None and sign * values[best] <= sign * value_of_nothing:
        text = (
            f"the best criterion of any subset, {values[best]:.4g}, is no better than the criterion without any "
            f"feature, {value_of_nothing:.4g}"
        )
        warn(
            NoFeatureStandsOut(
                "X",
                f"has no feature that stands out: {text}. One feature is kept, but nothing shows that it matters",
            )
        )
        return sizes[0], f"no feature stands out: {text}; one is kept so that the selection is not empty"
    bar = norm.ppf(1 - alpha)
    reference = sign * np.asarray(row_values(subsets[best]), dtype=np.float64)
    for size in sizes:
        if size >= best:
            break
        loss = reference - sign * np.asarray(row_values(subsets[size]), dtype=np.float64)
        spread = loss.std(ddof=1) * np.sqrt(len(loss)) if len(loss) > 1 else 0.0
        if loss.sum() <= bar * spread:
            return size, (
                f"{counted(size, 'feature')}: the smallest subset whose criterion ({values[size]:.4g}) is not "
                f"significantly worse (alpha={alpha:g}) than the best ({values[best]:.4g}, {best} features)"
            )
    return (
        best,
        f"{counted(best, 'feature')}: the best criterion ({values[best]:.4g}); every smaller subset is clearly worse",
    )


#: Rows used, at most, and fewest in each half; features that the search begins with, at most.
_MOST_ROWS, _FEWEST_ROWS, _MOST_FEATURES = 1000, 60, 60
#: Fewest groups of rows, if rows belong together.
_FEWEST_GROUPS = 20
#: Permutations of a feature among the rows of the other half.
_PERMUTATIONS = 60
#: Different splits into halves. More of them make the result depend less on the seed.
_SPLITS = 2


def joint_pvalues(problem: Problem, *, random_state: int = 0, n_jobs: int | None = None) -> TestedFeatures:
    r"""Test whether features matter together with others; 1 for features that the search does not find.

    The labelled rows are split in two halves, in which each class has its share. A backward search on the k-NN loss
    finds a small sufficient subset on the first half. On the other half, each of its features is permuted among the
    rows. If the subset predicts the target better with the feature in its place than with 60 permutations of it, the
    feature matters. With mean :math:`m` and standard deviation :math:`s` of the permuted losses,
    :math:`p = P(T_{59} \le (L - m) / (s \sqrt{1 + 1/60}))`, a tail of the t law: 60 permutations cannot reach small
    p-values. Then the halves change places, and :math:`p` is twice the smaller of the two. Rows that were searched are
    never used to test, so the search cannot mislead the test. The p-values of two different splits are joined by
    :func:`~dubio.evidence.multiple.cauchy_combination`.

    If the problem has groups (it is then the part within groups), halves are made of whole groups, a row is predicted
    by rows of other groups, and features are permuted within groups.

    Only given labels are used, not those completed by experts, who have seen all rows.

    Of several targets, the search and the test use the joint loss
    (:class:`~dubio.neighbors.losses.NeighborLoss`; a missing cell counts as the mean of its target). The
    same permutations also give a p-value for each target, in ``by_target``.
    """
    known = problem.tested.labelled
    if not has_enough_rows(problem):
        nothing = np.ones(problem.n_features)
        return TestedFeatures(nothing, nothing, nothing)
    known = known.with_supervision(_on_normal_scores(known.supervision))
    known = known.rows(sample_rows(known, _MOST_ROWS, random_state))
    found = [_split_pvalues(known, [random_state, split], n_jobs) for split in range(_SPLITS)]
    pvalues = cauchy_combination(*(split.ravel() for split in found)).reshape(found[0].shape)
    low, high = np.min(found, axis=0), np.max(found, axis=0)
    names = known.supervision.names if isinstance(known.supervision, SeveralTargets) else ()
    by_target = {name: pvalues[1 + place] for place, name in enumerate(names)}
    return TestedFeatures(pvalues[0], low[0], high[0], by_target=by_target)


def _on_normal_scores(known: Supervision) -> Supervision:
    if isinstance(known, SeveralTargets):
        return known.with_parts(tuple(_on_normal_scores(part) for part in known.parts))
    return replace(known, values=normal_scores(known.values)) if isinstance(known, Numbers) else known


def has_enough_rows(problem: Problem) -> bool:
    """Whether a search on half of the labelled rows can find anything."""
    problem = problem.tested
    if problem.groups is not None and len(np.unique(problem.groups[problem.supervision.labelled])) < _FEWEST_GROUPS:
        return False
    return problem.supervision.n_labelled >= 2 * _FEWEST_ROWS


def _split_pvalues(problem: Problem, seed: list[int], n_jobs: int | None) -> NDArray[np.float64]:
    """(1, features): the p-value of each feature; of several targets (1 + targets, features): first the joint one."""
    one = _half(problem, int(np.random.default_rng(seed).integers(2**31)))
    other = np.setdiff1d(np.arange(problem.n_rows), one)
    known = problem.supervision
    smaller = np.ones((1 + (known.n_targets if isinstance(known, SeveralTargets) else 0), problem.n_features))
    for searched, tested in ((one, other), (other, one)):
        subset = _found(problem.rows(searched), n_jobs)
        if len(subset):
            judged = _tested(problem.rows(tested), subset, seed, n_jobs)
            smaller[:, subset] = np.minimum(smaller[:, subset], judged)
    return np.minimum(1.0, 2.0 * smaller)


def _half(problem: Problem, seed: int) -> NDArray[np.int64]:
    """Half of the rows, in which each class has its share; if rows belong together, half of the groups."""
    if problem.groups is None:
        return sample_rows(problem, problem.n_rows // 2, seed)
    return sample_groups(problem, len(np.unique(problem.groups)) // 2, seed)


def _found(problem: Problem, n_jobs: int | None) -> NDArray[np.intp]:
    """A small subset that predicts the target, by a backward search; empty if no subset predicts it."""
    space, varying = standardized_space(problem)
    if len(varying) > _MOST_FEATURES:
        part = problem.features(varying)
        score = np.maximum(linear_r2(part)[0], smooth_r2(part, n_jobs=n_jobs))
        varying = np.sort(varying[np.argsort(-score, kind="stable")[:_MOST_FEATURES]])
    if not len(varying):
        return varying
    loss = neighbor_loss(problem.features(varying), space[:, problem.columns_of(varying)], n_jobs)
    path = greedy_search(loss, np.arange(len(varying)), direction="backward")
    if min(path.values.values()) >= loss.value_of_nothing:
        return varying[:0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        size, _ = smallest_sufficient_size(path.subsets, path.values, loss.unit_values, larger_is_better=False)
    return varying[path.subsets[size]]


def _tested(problem: Problem, subset: NDArray[np.intp], seed: list[int], n_jobs: int | None) -> NDArray[np.float64]:
    """(1 or 1 + targets, subset): p-values of its features, from permutations of each among the rows."""
    space, _ = standardized_space(problem)
    rng = np.random.default_rng([*seed, 1])
    pvalues: list[NDArray[np.float64]] = [np.ones(1)] * len(subset)
    for position, feature in enumerate(subset):
        own = space[:, problem.columns_of(np.array([feature]))]
        if (own == own[0]).all():
            continue
        # the columns of a feature move together
        copies = np.hstack([own, *(_permuted(own, problem, rng) for _ in range(_PERMUTATIONS))])
        rest = np.delete(subset, position)
        others = space[:, problem.columns_of(rest)]
        sizes = [1] * len(rest) if problem.columns is None else problem.columns.sizes[rest].tolist()
        features = columns_of_sizes([*sizes, *[own.shape[1]] * (_PERMUTATIONS + 1)])
        loss = neighbor_loss(problem, np.hstack([others, copies]), n_jobs, features)
        loss.start(np.arange(len(rest)))
        values = _losses(loss, np.arange(len(rest), len(rest) + _PERMUTATIONS + 1))
        spread = values[1:].std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / _PERMUTATIONS)
        better = np.divide(
            values[0] - values[1:].mean(axis=0), spread, out=np.full(len(spread), np.inf), where=spread > 0
        )
        pvalues[position] = stats.t.cdf(better, _PERMUTATIONS - 1)
    return np.stack(np.broadcast_arrays(*pvalues), axis=1)


def _losses(loss: NeighborLoss, added: NDArray[np.int64]) -> NDArray[np.float64]:
    """The loss with each of the added features, as a column; of several targets, followed by the loss of each."""
    each = loss.evaluate_each(added, ADD)
    return each if each.shape[1] == 1 else np.column_stack([each.sum(axis=1), each])


def _permuted(column: NDArray[np.float64], problem: Problem, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.permutation(column) if problem.groups is None else column[shuffled_within(problem.groups, rng)]


def standardized_space(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The table with features of unit variance, and the features that vary."""
    space = np.asarray(standardize(problem.table, problem.columns))
    varying = np.flatnonzero((space != space[:1]).any(axis=0))
    return space, varying if problem.columns is None else np.unique(problem.columns.feature_of[varying])


def neighbor_loss(
    problem: Problem, space: NDArray[np.float64], n_jobs: int | None, features: Columns | None = None
) -> NeighborLoss:
    """The k-NN loss of the given labels on some columns; with few rows, fewer neighbours.

    ``features`` says which columns are one feature; by default, those of the problem.
    """
    k = int(min(15, max(3, problem.n_rows // 8)))
    features = problem.columns if features is None else features
    distances = SubsetDistances(space, n_threads=resolve_threads(n_jobs), groups=problem.groups, features=features)
    return NeighborLoss(distances, problem.supervision.goals(), n_neighbors=k, weights=problem.uneven_weights)
