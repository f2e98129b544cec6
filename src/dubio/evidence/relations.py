"""Tests of whether a feature is related to the target: linearly, or along any smooth curve."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import false_discovery_control

from dubio.checks import generator
from dubio.errors import InputError, counted
from dubio.evidence.groups import GroupRanks, fewest_orders, within_moments
from dubio.evidence.multiple import cauchy_combination
from dubio.evidence.permutation import (
    MOST_PERMUTATIONS,
    SMALL,
    GraphNull,
    checked_pvalue,
    feature_moments,
    permutation_moments,
    permutation_pvalues,
)
from dubio.kernels import smooth
from dubio.kernels.smooth import shuffled_smooth_errors, shuffled_within_smooth_errors, smooth_errors
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.neighbors.graphs import TargetNeighbors
from dubio.problem import Problem
from dubio.table.groups import centred_within
from dubio.table.scaling import standardize
from dubio.target.numbers import Numbers


def level_features(problem: Problem) -> NDArray[np.int64]:
    """The features that are categories: all their columns are 0 or 1, one column per category."""
    columns = problem.columns
    if columns is None or columns.is_plain:
        return np.zeros(0, dtype=np.int64)
    found = []
    for feature in np.flatnonzero(columns.sizes > 1).tolist():
        own = columns.of(feature)
        if columns.leads[own].sum() == 1 and columns.roles[own[0]] == "level":
            found.append(feature)
    return np.asarray(found, dtype=np.int64)


def levels_of(problem: Problem, feature: int, rows: NDArray[Any]) -> NDArray[np.int64]:
    """The category of each row; rows in which it was missing are one more category."""
    assert problem.columns is not None
    own = problem.X[rows][:, problem.columns.of(feature)]
    return np.unique(own, axis=0, return_inverse=True)[1].reshape(-1)


def lines_of_features(problem: Problem, rows: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    """One line of numbers per feature (features, rows), by which the rows are sorted.

    A feature of one column is its own line. A number or a date that was missing in some rows has these rows at the end;
    the season of a date plays no part. Several columns that were put together are projected on their first principal
    component. Of categories only the varying matters here (see :func:`levels_of`).
    """
    columns = problem.columns
    if columns is None or columns.is_plain:
        return np.ascontiguousarray(problem.X[rows, start:stop].T)
    lines = [_line(problem, feature, rows) for feature in range(start, stop)]
    return np.ascontiguousarray(np.vstack(lines))


def _line(problem: Problem, feature: int, rows: NDArray[Any]) -> NDArray[Any]:
    assert problem.columns is not None
    own = problem.columns.of(feature)
    roles = problem.columns.roles[own]
    table = problem.X[rows][:, own]
    values = np.isin(roles, ("value", "level"))
    if values.sum() > 1:
        space = np.asarray(standardize(np.asarray(table[:, values], dtype=np.float64)))
        # the component of a tiny matrix; its sign does not matter
        return space @ np.linalg.eigh(space.T @ space)[1][:, -1]
    line = table[:, 0].astype(np.float64)
    if (roles == "missing").any():
        line[table[:, roles == "missing"][:, 0] > 0] = np.inf
    return line


#: Permutations per kernel call. The test ends at so many of them, or once so many reached the score.
_LEVEL_CHUNK, _MOST_LEVEL_DRAWS, _ENOUGH = 64, 100_000, 200

Floats = NDArray[np.float64]


def level_error(target: Floats, weights: Floats, codes: NDArray[np.int64]) -> float:
    """Sum of squared errors if each row is predicted by the mean of the other rows of its category.

    The only row of a category is predicted by the mean of all other rows. ``weights`` is empty if all rows count alike.
    """
    order = np.argsort(codes, kind="stable")
    return float(smooth.level_error(target, weights, order, np.bincount(codes), np.empty((2, target.shape[1]))))


class LevelNull:
    """Smooth R2 of one feature of categories when the target is shuffled; ends early if it is clearly ordinary."""

    def __init__(self, target: Floats, weights: Floats, codes: NDArray[np.int64], seed: list[int]) -> None:
        self._target, self._weights, self._counts = target, weights, np.bincount(codes)
        self._seed = seed
        # permutations that only differ by rounding count as equal
        self._error = level_error(target, weights, codes) * (1.0 + 1e-12)
        self._constant = len(self._counts) < 2
        self.count = self._hits = 0

    @property
    def pvalue(self) -> float:
        return 1.0 if self._constant else (1.0 + self._hits) / (1.0 + self.count)

    def draw(self, count: int) -> None:
        """Go on until there are ``count`` permutations, or enough hits to call the feature ordinary."""
        errors = np.empty(_LEVEL_CHUNK)
        while self.count < min(count, _MOST_LEVEL_DRAWS) and self._hits < _ENOUGH and not self._constant:
            rng = np.random.default_rng([*self._seed, self.count])
            smooth.shuffled_level_errors(self._target, self._weights, self._counts, rng, errors)
            self._hits += int((errors <= self._error).sum())
            self.count += _LEVEL_CHUNK


#: Number of columns that one thread handles at a time.
_COLUMNS = 16
#: Permutations per kernel call; each chunk has its own generator, so the number of threads does not matter.
_CHUNK = 64
#: Fewest and most permutations, and the limit on the work (rows x columns of the target x permutations).
_FEWEST, _MOST, _WORK = 999, 500_000, 4e8
#: The fewest if even so many exceed the limit on the work: a target with hundreds of classes.
_FEWEST_OF_ALL = 199
#: A decision is safe if chance in the permutations would change it less often than this.
_UNSAFE = 1e-3


@dataclass(frozen=True)
class TestedFeatures:
    """p-values of every feature, and how far chance in the test itself may move them.

    Attributes
    ----------
    pvalues, low, high : array (n_features,)
        Combined p-values, and limits that another seed would stay within, except once in a thousand times.
    parts : dict of arrays
        p-values of each test, by name.
    by_target : dict of arrays
        If there are several targets: p-values of each of them, by name.
    """

    pvalues: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    parts: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    by_target: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    __test__ = False  # not a class of tests


def relation_pvalues(
    problem: Problem, *, alpha: float = 0.05, random_state: int = 0, n_jobs: int | None = None
) -> TestedFeatures:
    """Test whether each feature is related to the target, linearly or along any smooth curve.

    There are two tests: a linear test with a closed-form null (analysis of variance for classes, its soft form for
    memberships, correlation for numbers), and the rank-smooth R2 with one permutation null for all features. For
    numbers, the supervised Laplacian score is a third test. :func:`~dubio.evidence.multiple.cauchy_combination`
    combines the p-values. Permutations of smooth R2 go on until every decision of Benjamini and Hochberg's rule at
    ``alpha`` is safe, or until a limit on the work is reached.

    If the problem has groups, it must be the part within groups of
    :func:`~dubio.evidence.groups.independent_parts`: then the target, too, is taken without the means of the
    groups, smooth R2 orders rows by their rank within their group, and rows change places only within groups.
    """
    problem = problem.tested
    fixed = {"linear": linear_pvalues(problem)}
    low, high = dict(fixed), dict(fixed)
    if isinstance(problem.supervision, Numbers) and problem.supervision.has_neighbors:
        known = problem.supervision.labelled
        groups = None if problem.groups is None else problem.groups[known]
        target = relation_target(problem, known, within=True)[:, 0]
        near = TargetNeighbors(target, n_neighbors=min(5, len(target) - 1))
        graph = _weighted(near.graph(), _weights_of(problem, known))
        null = GraphNull(graph, problem.X[known], groups, problem.columns)
        fixed["graph"] = permutation_pvalues(null, alpha=alpha, random_state=random_state, n_jobs=n_jobs)
        low["graph"], high["graph"] = _limits(fixed["graph"], _FEWEST)
    shuffled = SmoothNull(problem, alpha=alpha, random_state=random_state, n_jobs=n_jobs)
    while True:
        parts = {"linear": fixed["linear"], "smooth": shuffled.pvalues(), **fixed}
        low["smooth"], high["smooth"] = _limits(parts["smooth"], shuffled.counts)
        ends = [cauchy_combination(*(end[name] for name in parts)) for end in (low, high)]
        moves = np.not_equal(*(false_discovery_control(end) <= alpha for end in ends))
        if not moves.any() or not shuffled.more():
            return TestedFeatures(cauchy_combination(*parts.values()), ends[0], ends[1], parts)


def _weighted(graph: Any, weights: NDArray[np.float64]) -> Any:
    """The graph with every edge multiplied by the weights of its two rows."""
    if len(weights):
        graph = graph.copy()
        graph.data *= np.repeat(weights, np.diff(graph.indptr)) * weights[graph.indices]
    return graph


def _limits(pvalues: NDArray[np.float64], count: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Limits (Clopper and Pearson's) for p-values that come from ``count`` permutations."""
    hits = np.clip(np.round(pvalues * (count + 1) - 1), 0, count)
    low = np.where(hits > 0, stats.beta.ppf(_UNSAFE, np.maximum(hits, 1), count - hits + 1), 0.0)
    high = np.where(hits < count, stats.beta.ppf(1 - _UNSAFE, hits + 1, np.maximum(count - hits, 1)), 1.0)
    return low, high


def smooth_r2(
    problem: Problem, *, within: bool = False, random_state: Any = 0, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """:func:`smooth_r2_score` of a problem; ``within``: of ranks within groups, to the target without group means.

    A feature of several columns puts the rows in an order (:mod:`dubio.evidence.relations`), except for categories:
    there a row is predicted by the others of its category.
    """
    problem = problem.tested
    known = np.flatnonzero(problem.supervision.labelled)
    # Shuffled rows and a stable sort: ties are in a random order, the same for every feature.
    known = known[generator(random_state).permutation(len(known))]
    target, weights = np.ascontiguousarray(relation_target(problem, known, within)), _weights_of(problem, known)
    ranks = GroupRanks(problem.groups[known]) if within and problem.groups is not None else None
    half = half_window(len(known))
    total = leave_one_out_total(target, weights)

    def work(start: int, stop: int) -> NDArray[np.float64]:
        lines = lines_of_features(problem, known, start, stop)
        errors = np.empty(stop - start)
        if ranks is None:
            orders = np.argsort(lines, axis=1, kind="stable")
        else:
            orders = np.array([ranks.order(line) for line in lines])
        smooth_errors(target, weights, orders, half, errors)
        return np.where((lines == lines[:, :1]).all(axis=1), -np.inf, 1.0 - errors / total)

    scores = np.concatenate(run_chunks(work, chunks(problem.n_features, _COLUMNS), resolve_threads(n_jobs)))
    for feature in [] if within else level_features(problem).tolist():
        codes = levels_of(problem, feature, known)
        scores[feature] = 1.0 - level_error(target, weights, codes) / total if codes.any() else -np.inf
    return scores


def linear_r2(
    problem: Problem, *, within: bool = False, tested: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r""":func:`linear_r2_score` of a problem, and the basis of its target with one column per degree of freedom.

    For a feature of several columns, above and below the line of the fraction stand sums over its columns. For
    categories and classes this is Goodman and Kruskal's tau.

    ``within``: the target is taken without the means of the groups. With weights, it is the R2 of a weighted
    regression. ``tested``: instead, the weights belong to the target. With the rows :math:`w_i (t_i - \bar t_w)` in
    place of the target, the products with a feature are its weighted covariances, and everything but the target stays
    the same when rows change places. So permutations of it have a closed form.
    """
    problem = problem.tested
    X, known = problem.X, problem.supervision.labelled
    target, weights = relation_target(problem, known, within), _weights_of(problem, known)
    if len(weights):
        target = target * (weights if tested else np.sqrt(weights))[:, None]
    basis = orthonormal_basis(target)
    total, explained = np.zeros((2, X.shape[1]))
    for start, stop in chunks(X.shape[1], 256):
        block = np.array(X[known, start:stop], dtype=np.float64)
        block -= block[0]  # makes a constant column exactly zero
        if len(weights) and not tested:
            block -= np.average(block, axis=0, weights=weights)
            block *= np.sqrt(weights)[:, None]
        else:
            block -= block.mean(axis=0)
        total[start:stop] = np.einsum("ij,ij->j", block, block)
        explained[start:stop] = ((basis.T @ block) ** 2).sum(axis=0)
    total, explained = problem.per_feature(total), problem.per_feature(explained)
    scores = np.divide(explained, total, out=np.zeros(len(total)), where=total > 0)
    return np.minimum(scores, 1.0), basis


def linear_pvalues(problem: Problem, *, most_permutations: int = MOST_PERMUTATIONS) -> NDArray[np.float64]:
    r"""Test of :func:`~dubio.linear_r2_score` with a closed-form null; 1 if there are too few labelled rows.

    Under the normal law :math:`R^2 \sim \mathrm{Beta}(r/2, (n-1-r)/2)`, which is the F-test. If the feature has a heavy
    tail and a class is small, its p-values are too small. So the Beta law gets the variance of :math:`R^2` over all
    permutations, which is known in closed form (the mean is already the same). Box and Andersen [1]_ did this for two
    samples. For a problem with groups, mean and variance are those of permutations within groups
    (:func:`~dubio.evidence.groups.within_moments`). A column "was missing" is also tested alone, because it
    may have little weight in its feature; both p-values are combined
    (:func:`~dubio.evidence.multiple.cauchy_combination`).

    If a few rows decide, such as a rare category and a class of one row, no such law is right. Then a small p-value is
    checked by permutations, and is at least theirs (:mod:`dubio.evidence.permutation`).

    References
    ----------
    .. [1] G. Box and S. Andersen (1955). Permutation theory in the derivation of robust criteria and the study of
       departures from assumption. Journal of the Royal Statistical Society B 17.
    """
    pvalues = _checked_linear_pvalues(problem, most_permutations)
    columns = problem.columns
    if columns is not None and not columns.is_plain:
        gaps = np.flatnonzero(columns.roles == "missing")
        if len(gaps):
            missing = replace(problem, X=problem.X[:, gaps], names=None, columns=None)
            alone = _checked_linear_pvalues(missing, most_permutations)
            for place, column in enumerate(gaps.tolist()):
                feature = columns.feature_of[column]
                pvalues[feature] = cauchy_combination(pvalues[[feature]], alone[[place]])[0]
    return pvalues


def _checked_linear_pvalues(problem: Problem, most: int) -> NDArray[np.float64]:
    law = linear_law(problem)
    pvalues = law.pvalues()
    problem = problem.tested
    rows = np.flatnonzero(problem.supervision.labelled)
    groups = None if problem.groups is None else problem.groups[rows]
    for feature in np.flatnonzero(pvalues < SMALL).tolist():
        own = np.array([feature]) if problem.columns is None else problem.columns.of(feature)
        block = np.array(problem.X[np.ix_(rows, own)], dtype=np.float64)
        block -= block.mean(axis=0)
        pvalues[feature] = checked_pvalue(pvalues[feature], block, law.basis, groups, [0, feature], most)
    return pvalues


class LinearLaw(NamedTuple):
    """The linear R2 of every feature, the two parameters of its Beta law without a relation (NaN where there is no
    test), the smallest p-value that is possible, and orthonormal columns that span the target."""

    scores: NDArray[np.float64]
    below: NDArray[np.float64]
    above: NDArray[np.float64]
    least: float
    basis: NDArray[np.float64]

    def pvalues(self) -> NDArray[np.float64]:
        """The probability of a score as high, without a relation."""
        pvalues = np.maximum(stats.beta.sf(self.scores, self.below, self.above), self.least)
        return np.where(np.isfinite(self.below), pvalues, 1.0)


def linear_law(problem: Problem) -> LinearLaw:
    """What :func:`linear_pvalues` stands on."""
    problem = problem.tested
    supervision = problem.supervision
    scores, basis = linear_r2(problem, within=problem.groups is not None, tested=True)
    n, rank = supervision.n_labelled, basis.shape[1]
    if n - 1 - rank <= 0 or n < 4:
        nothing = np.full(len(scores), np.nan)
        return LinearLaw(scores, nothing, nothing, 0.0, basis)
    mean: Any
    least = 0.0
    if problem.groups is not None:
        known = supervision.labelled
        groups = problem.groups[known]
        mean, variance = within_moments(problem.X[known], basis, groups, problem.columns)
        varies = (mean > 0) & (mean < 1)
        mean = np.where(varies, mean, 0.5)
        target = relation_target(problem, known, within=True)
        weights = _weights_of(problem, known)
        least = fewest_orders(np.column_stack([target, weights]) if len(weights) else target, groups)
    else:
        leverage = (basis**2).sum(axis=1)
        second, fourth, gram = feature_moments(problem.X[supervision.labelled], problem.columns)
        varies = second > 0
        mean = rank / (n - 1)
        _, variance = permutation_moments(second, fourth, n, rank, float((leverage**2).sum()), rank, gram)
        variance = np.divide(variance, (n * second) ** 2, out=np.full(len(scores), np.inf), where=varies)
    # no Beta law has a variance of zero, or one above that of a coin toss
    strength = np.clip(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-3, 1e9)
    strength = np.where(varies, strength, np.nan)
    return LinearLaw(scores, mean * strength, (1 - mean) * strength, least, basis)


def relation_target(problem: Problem, rows: NDArray[Any], within: bool) -> NDArray[np.float64]:
    """The target of some rows as columns of numbers with a mean square of 1: centred, or centred within groups."""
    target, weights = problem.supervision.target_matrix(rows), _weights_of(problem, rows)
    if len(weights):
        target = target - np.average(target, axis=0, weights=weights)
    if not within or problem.groups is None:
        return target
    target = centred_within(target, problem.groups[rows], weights if len(weights) else None)
    spread = np.sqrt((target**2).mean())
    return target / spread if spread > 0 else target


def _weights_of(problem: Problem, rows: NDArray[Any]) -> NDArray[np.float64]:
    """The weights of some rows, with a mean of 1; empty if all rows weigh the same."""
    weights = problem.uneven_weights
    return np.empty(0) if weights is None else weights[rows] / weights[rows].mean()


def smooth_pvalues(
    problem: Problem,
    *,
    scores: NDArray[np.float64] | None = None,
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Permutation test of :func:`~dubio.smooth_r2_score`, with the same permutations as the null of every feature.

    The score depends only on the order in which a feature puts the rows. Without a relation, every order is equally
    likely. So the null is drawn once; the more features there are, the more permutations are drawn.
    """
    return SmoothNull(problem, scores=scores, alpha=alpha, random_state=random_state, n_jobs=n_jobs).pvalues()


class SmoothNull:
    """The permutations of :func:`smooth_pvalues`, of which there may be more."""

    def __init__(
        self,
        problem: Problem,
        *,
        scores: NDArray[np.float64] | None = None,
        alpha: float = 0.05,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        problem = problem.tested
        self._seed, self._n_jobs = random_state, n_jobs
        # rows with equal values are ordered in the same way for every seed: a decision must not hang on it
        within = problem.groups is not None
        self.scores = smooth_r2(problem, within=within, n_jobs=n_jobs) if scores is None or within else scores
        known = problem.supervision.labelled
        self._target = np.ascontiguousarray(relation_target(problem, known, within))
        self._weights = _weights_of(problem, known)
        self._groups = None if problem.groups is None else problem.groups[known]
        affordable = int(_WORK / (len(self._target) * (self._target.shape[1] + 2)))
        self._most = max(_FEWEST_OF_ALL, min(_MOST, affordable))
        wanted = 10 * len(self.scores) / alpha  # ten times what a single feature needs to pass Benjamini-Hochberg
        self._null = np.empty(0)
        rows = np.flatnonzero(known)
        features = level_features(problem).tolist() if problem.groups is None else []
        self._levels = {
            j: LevelNull(self._target, self._weights, levels_of(problem, j, rows), [random_state, 6, j])
            for j in features
        }
        self._draw(int(min(max(_FEWEST, wanted), self._most)))

    @property
    def count(self) -> int:
        """Number of permutations so far."""
        return len(self._null)

    def more(self) -> bool:
        """Draw four times as many permutations; False if the limit is reached."""
        if self.count >= self._most:
            return False
        self._draw(min(4 * self.count, self._most))
        return True

    def pvalues(self) -> NDArray[np.float64]:
        """The share of permutations that reach the score of each feature."""
        pvalues = pvalues_against(self._null, self.scores)
        for feature, null in self._levels.items():
            pvalues[feature] = null.pvalue
        return pvalues

    @property
    def counts(self) -> int | NDArray[np.int64]:
        """Number of permutations of each feature so far: categories have their own."""
        if not self._levels:
            return self.count
        counts = np.full(len(self.scores), self.count)
        for feature, null in self._levels.items():
            counts[feature] = max(1, null.count)
        return counts

    def _draw(self, count: int) -> None:
        more = smooth_null(
            self._target,
            count,
            first=self.count,
            groups=self._groups,
            weights=self._weights,
            random_state=self._seed,
            n_jobs=self._n_jobs,
        )
        self._null = np.sort(np.concatenate([self._null, more]))
        for null in self._levels.values():
            null.draw(count)


def pvalues_against(null: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the values of a null (in increasing order) that reach each score; 1 for minus infinity."""
    # a permutation with the same order as the feature must count as equal, in spite of rounding
    bar = scores - 1e-12 * np.maximum(np.abs(scores), 1.0)
    reached = len(null) - np.searchsorted(null, bar)
    return np.where(np.isneginf(scores), 1.0, (1.0 + reached) / (1.0 + len(null)))


def smooth_null(
    target: NDArray[np.float64],
    count: int,
    *,
    first: int = 0,
    groups: NDArray[np.int64] | None = None,
    weights: NDArray[np.float64] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Smooth R2 of random orders of the rows of a centred target: those with the numbers ``first`` to ``count``.

    With ``groups``, rows change places only within their group. ``weights`` move together with the target.
    """
    weights = np.empty(0) if weights is None else weights
    total = leave_one_out_total(target, weights)
    half = half_window(len(target))
    ranks = None if groups is None else GroupRanks(groups)

    def work(start: int, stop: int) -> NDArray[np.float64]:
        out, rng = np.empty(stop - start), np.random.default_rng([random_state, 1, first + start])
        if ranks is None:
            shuffled_smooth_errors(target, weights, half, rng, out)
        else:
            shuffled_within_smooth_errors(target, weights, *ranks.slots, half, rng, out)
        return out

    errors = np.concatenate(run_chunks(work, chunks(count - first, _CHUNK), resolve_threads(n_jobs)))
    return 1.0 - errors / total


def half_window(n_rows: int) -> int:
    """Number of neighbours on each side: a sixteenth of the rows, at least four."""
    return max(4, n_rows // 16)


def leave_one_out_total(target: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float:
    """Sum of squared errors when each row is predicted by the mean of all other rows, for a centred target."""
    n = len(target)
    if n < 2:
        _raise_same(n)
    if weights is None or not len(weights):
        total = float((target**2).sum()) * (n / (n - 1)) ** 2
    else:
        factor = weights.sum() / (weights.sum() - weights)
        total = float((weights * factor**2) @ (target**2).sum(axis=1))
    if not total > 0:
        _raise_same(n)
    return total


def orthonormal_basis(target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal columns that span a centred target; columns that add nothing are left out."""
    left, values, _ = np.linalg.svd(target, full_matrices=False)
    if not values[0] > 0:
        _raise_same(len(target))
    return left[:, values > values[0] * 1e-9]


def _raise_same(n_rows: int) -> None:
    raise InputError(
        "y",
        f"is the same for all {counted(n_rows, 'labelled row')}",
        "features can only be ranked by a target that varies",
    )


def varying_features(problem: Problem) -> NDArray[np.bool_]:
    """The features that vary among the labelled rows."""
    X = problem.labelled.X
    varying = np.asarray((X[:1] != X).any(axis=0)).ravel()
    return varying if problem.columns is None else problem.per_feature(varying.astype(np.float64)) > 0
