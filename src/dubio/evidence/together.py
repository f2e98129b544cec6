"""Features together: a test on rows that the search has not seen, and how many features suffice."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from dubio.errors import InputError, counted, warn
from dubio.evidence.evidence import Evidence
from dubio.evidence.multiple import NoFeatureStandsOut, cauchy_combination, check_alpha
from dubio.evidence.relations import TestedFeatures, linear_r2, smooth_r2
from dubio.kernels.threads import resolve_threads
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.greedy import ADD, greedy_search
from dubio.neighbors.losses import NeighborLoss
from dubio.problem import Problem
from dubio.sampling import sample_half, sample_rows
from dubio.table.columns import Columns, columns_of_sizes
from dubio.table.rows import random_order
from dubio.table.scaling import standardize

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: The loss that each row, or each group of rows, adds, for a list of features (low is good).
RowLosses = Callable[[Codes], Floats]


def _shortest(losses: Iterable[tuple[int, Floats]], best: Floats, level: float) -> int | None:
    r"""The first size whose loss is not significantly above the best one; None if all are clearly worse.

    For each row, take the difference of its loss between a size and the best one. If rows are independent, the sum
    :math:`S` of these differences has the standard error :math:`\sqrt{n}\, s`. A size is too small if
    :math:`S / (\sqrt{n}\, s)` is above the normal quantile of ``1 - level``.
    """
    bar = stats.norm.ppf(1 - level)
    for size, loss in losses:
        worse = np.asarray(loss, dtype=np.float64) - best
        spread = worse.std(ddof=1) * np.sqrt(len(worse)) if len(worse) > 1 else 0.0
        if worse.sum() <= bar * spread:
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

    The criterion must be a sum over rows, so that each row has a value for each subset. Subsets are compared as in
    :func:`sufficient_size`, from the smallest up, only as far as needed.

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
        warn(NoFeatureStandsOut.because(text))
        return sizes[0], f"no feature stands out: {text}; one is kept so that the selection is not empty"
    smaller = sizes[: sizes.index(best)]
    losses = ((size, -sign * np.asarray(row_values(subsets[size]))) for size in smaller)
    size = _shortest(losses, -sign * np.asarray(row_values(subsets[best]), dtype=np.float64), alpha)
    if size is None:
        return best, (
            f"{counted(best, 'feature')}: the best criterion ({values[best]:.4g}); every smaller subset is clearly "
            "worse"
        )
    return size, (
        f"{counted(size, 'feature')}: the smallest subset whose criterion ({values[size]:.4g}) is not "
        f"significantly worse (alpha={alpha:g}) than the best ({values[best]:.4g}, {best} features)"
    )


#: One-sided level of the test whether a shorter list predicts worse. At 0.05 the loss of accuracy was larger.
LEVEL = 0.2
#: Maximum length of a list that is tried.
_LONGEST = 40


def sufficient_size(order: Codes, n_relevant: int, losses: RowLosses, level: float = LEVEL) -> int:
    r"""The shortest beginning of the relevant features that predicts the target as well as any longer one.

    For each row, take the difference of its loss between a short list and the best one. If rows are independent, the
    sum :math:`S` of these differences has the standard error :math:`\sqrt{n}\, s`. A list is too short if
    :math:`S / (\sqrt{n}\, s)` is above the normal quantile of ``1 - level``.

    Parameters
    ----------
    order : array of int
        Features, best first; the first ``n_relevant`` are relevant.
    losses : callable
        ``losses(features)`` gives the loss of each row: an array (n_rows,). If rows belong together, of each group.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.evidence.together import sufficient_size
    >>> noise = np.random.default_rng(0).normal(0, 0.1, size=50)
    >>> def losses(features):  # a third feature adds nothing
    ...     return 1.0 / min(len(features), 2) + noise
    >>> sufficient_size(np.arange(5), 4, losses)
    2
    """
    longest = min(n_relevant, _LONGEST)
    if longest <= 1:
        return longest
    rows = [np.asarray(losses(order[:size]), dtype=np.float64) for size in range(1, longest + 1)]
    best = rows[int(np.argmin([row.sum() for row in rows]))]
    return _shortest(enumerate(rows, 1), best, level) or longest


def row_losses_of(problem: Problem, random_state: int = 0, n_jobs: int | None = None) -> RowLosses:
    """The k-NN loss of the given labels, for methods that have no loss of their own."""
    known = problem.counted.tested.labelled
    known = known.rows(sample_rows(known, _MOST_ROWS, random_state))
    if sparse.issparse(known.X):
        known = replace(known, X=known.X.toarray())
    loss = _loss_on(known, _space(known)[0], n_jobs)
    return lambda features: loss.unit_values(np.sort(features))


#: Maximum number of rows used.
_MOST_ROWS = 1000
#: Minimum number of rows in each half.
_FEWEST_ROWS = 60
#: Maximum number of features that the search begins with.
_MOST_FEATURES = 60
#: Minimum number of groups of rows, if rows belong together.
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
    (:class:`~dubio.neighbors.losses.NeighborJointLoss`; a missing cell counts as the mean of its target). The
    same permutations also give a p-value for each target, in ``by_target``.
    """
    if not has_enough_rows(problem):
        return TestedFeatures(np.ones((3, problem.n_features)))
    known = problem.tested.labelled
    known = known.with_supervision(known.supervision.on_normal_scores())
    known = known.rows(sample_rows(known, _MOST_ROWS, random_state))
    found = [_split_pvalues(known, [random_state, split], n_jobs) for split in range(_SPLITS)]
    pvalues = cauchy_combination(*found)
    bounds = np.stack([pvalues[0], np.min(found, axis=0)[0], np.max(found, axis=0)[0]])
    return TestedFeatures(bounds, by_target=dict(zip(known.supervision.targets, pvalues[1:], strict=False)))


def has_enough_rows(problem: Problem) -> bool:
    """Whether a search on half of the labelled rows can find anything."""
    known = problem.tested.labelled
    return known.n_rows >= 2 * _FEWEST_ROWS and (known.groups is None or known.n_groups >= _FEWEST_GROUPS)


def _split_pvalues(problem: Problem, seed: list[int], n_jobs: int | None) -> Floats:
    """(1 + targets, features): the p-value of each feature for all targets together, and for each of them."""
    one = sample_half(problem, int(np.random.default_rng(seed).integers(2**31)))
    other = np.setdiff1d(np.arange(problem.n_rows), one)
    smaller = np.ones((1 + len(problem.supervision.goals()), problem.n_features))
    for searched, tested in ((one, other), (other, one)):
        subset = _searched(problem.rows(searched), n_jobs)
        if len(subset):
            judged = _tested(problem.rows(tested), subset, seed, n_jobs)
            smaller[:, subset] = np.minimum(smaller[:, subset], judged)
    return np.minimum(1.0, 2.0 * smaller)


def _searched(problem: Problem, n_jobs: int | None) -> NDArray[np.intp]:
    """A small subset that predicts the target, by a backward search; empty if no subset predicts it."""
    space, varying = _space(problem)
    if len(varying) > _MOST_FEATURES:
        part = problem.features(varying)
        evidence = Evidence.of(part, within=False)
        score = np.maximum(linear_r2(evidence)[0], smooth_r2(evidence, n_jobs=n_jobs))
        varying = np.sort(varying[np.argsort(-score, kind="stable")[:_MOST_FEATURES]])
    if not len(varying):
        return varying
    loss = _loss_on(problem.features(varying), space[:, problem.columns_of(varying)], n_jobs)
    path = greedy_search(loss, np.arange(len(varying)), direction="backward")
    if min(path.values.values()) >= loss.value_of_nothing:
        return varying[:0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        size, _ = smallest_sufficient_size(path.subsets, path.values, loss.unit_values, larger_is_better=False)
    return varying[path.subsets[size]]


def _tested(problem: Problem, subset: NDArray[np.intp], seed: list[int], n_jobs: int | None) -> Floats:
    """(1 + targets, subset): p-values of its features, from permutations of each among the rows."""
    space, _ = _space(problem)
    rng = np.random.default_rng([*seed, 1])
    pvalues: list[Floats] = [np.ones(1)] * len(subset)
    for position, feature in enumerate(subset):
        own = space[:, problem.columns_of(np.array([feature]))]
        if (own == own[0]).all():
            continue
        # the columns of a feature move together
        orders = (random_order(problem.n_rows, problem.groups, rng) for _ in range(_PERMUTATIONS))
        copies = np.hstack([own, *(own[order] for order in orders)])
        rest = np.delete(subset, position)
        others = space[:, problem.columns_of(rest)]
        sizes = [1] * len(rest) if problem.columns is None else problem.columns.sizes[rest].tolist()
        features = columns_of_sizes([*sizes, *[own.shape[1]] * (_PERMUTATIONS + 1)])
        loss = _loss_on(problem, np.hstack([others, copies]), n_jobs, features)
        loss.start(np.arange(len(rest)))
        each = loss.evaluate_each(np.arange(len(rest), len(rest) + _PERMUTATIONS + 1), ADD)
        values = np.column_stack([each.sum(axis=1), each])
        spread = values[1:].std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / _PERMUTATIONS)
        better = np.divide(
            values[0] - values[1:].mean(axis=0), spread, out=np.full(len(spread), np.inf), where=spread > 0
        )
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
    k = int(min(15, max(3, problem.n_rows // 8)))
    features = problem.columns if features is None else features
    distances = SubsetDistances(space, n_threads=resolve_threads(n_jobs), groups=problem.groups, features=features)
    goals = problem.supervision.goals()
    return NeighborLoss(distances, goals, n_neighbors=k, weights=problem.uneven_weights)
