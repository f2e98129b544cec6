"""Tests of whether a feature is related to the target: linearly, or along any smooth curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import gammaln
from scipy.stats import false_discovery_control

from dubio.checks import generator
from dubio.errors import InputError, counted
from dubio.evidence.evidence import Evidence
from dubio.evidence.permutation import (
    MOST_PERMUTATIONS,
    SMALL,
    checked_pvalue,
    feature_moments,
    graph_null,
    permutation_moments,
    permutation_pvalues,
    within_moments,
)
from dubio.kernels import smooth
from dubio.kernels.smooth import shuffled_smooth_errors, smooth_errors
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.neighbors.graphs import TargetNeighbors
from dubio.table.matrix import feature_sums
from dubio.table.rows import centred_within, groups_of_rows, random_order, stable_orders

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Largest p-value in the Cauchy rule: near 1 it would outweigh all others (its tangent goes to minus infinity).
CEILING = 0.99


def cauchy_combination(*pvalues: ArrayLike, weights: Sequence[float] | None = None) -> NDArray[np.float64]:
    r"""One p-value from several tests of the same feature, which may depend on each other in any way [1]_.

    .. math:: p = \tfrac12 - \tfrac1\pi \arctan\Bigl( \sum_{i=1}^m w_i \tan\bigl((\tfrac12 - p_i)\pi\bigr) \Bigr).

    The weights :math:`w_i` are divided by their sum; by default all are equal. p-values above 0.99 count as 0.99, so
    that one test that sees nothing cannot cancel another.

    References
    ----------
    .. [1] Y. Liu and J. Xie (2020). Cauchy combination test. Journal of the American Statistical Association 115.

    Examples
    --------
    >>> from dubio.evidence.relations import cauchy_combination
    >>> cauchy_combination([0.001, 0.5], [0.4, 0.5]).round(4)
    array([0.002, 0.5  ])
    """
    if not pvalues:
        raise InputError("pvalues", "is empty", "pass one array or more")
    tables = [np.asarray(p, dtype=np.float64) for p in pvalues]
    for i, p in enumerate(tables):
        if p.size == 0 or p.ndim == 0:
            raise InputError(f"pvalues[{i}]", f"has shape {p.shape}", "give one p-value per feature")
        bad = p[~((p >= 0) & (p <= 1))]
        if len(bad):
            raise InputError(f"pvalues[{i}]", f"has {counted(len(bad), 'value')} outside [0, 1], first {bad[0]:g}")
    table = np.clip(np.stack(tables), 1e-300, CEILING)
    # tan((1/2 - p) pi) = 1 / tan(p pi); the right side stays accurate for tiny p
    mean = np.average(1.0 / np.tan(np.pi * table), axis=0, weights=weights)
    return np.arctan2(1.0, mean) / np.pi


#: Permutations per kernel call; each chunk has its own generator, so the number of threads does not matter.
_CHUNK = 64
#: Most permutations of a feature of categories, and how many reach its score before its test ends.
_MOST_LEVEL_DRAWS, _ENOUGH_HITS = 100_000, 200


def level_error(target: Floats, weights: Floats, codes: Codes) -> float:
    """Sum of squared errors if each row is predicted by the mean of the other rows of its category.

    The only row of a category is predicted by the mean of all other rows. ``weights`` is empty if all rows count alike.
    """
    order = np.argsort(codes, kind="stable")
    return float(smooth.level_error(target, weights, order, np.bincount(codes), np.empty((2, target.shape[1]))))


class LevelNull:
    """Smooth R2 of one feature of categories when the target is shuffled; ends early if it is clearly ordinary."""

    def __init__(self, target: Floats, weights: Floats, codes: Codes, seed: list[int]) -> None:
        self._target, self._weights, self._counts, self._seed = target, weights, np.bincount(codes), seed
        # permutations that only differ by rounding count as equal
        self._error = level_error(target, weights, codes) * (1.0 + 1e-12)
        self._constant = len(self._counts) < 2
        self.count = self._hits = 0

    @property
    def pvalue(self) -> float:
        return 1.0 if self._constant else (1.0 + self._hits) / (1.0 + self.count)

    def draw(self, count: int) -> None:
        """Go on until there are ``count`` permutations, or enough hits to call the feature ordinary."""
        errors = np.empty(_CHUNK)
        while self.count < min(count, _MOST_LEVEL_DRAWS) and self._hits < _ENOUGH_HITS and not self._constant:
            rng = np.random.default_rng([*self._seed, self.count])
            smooth.shuffled_level_errors(self._target, self._weights, self._counts, rng, errors)
            self._hits += int((errors <= self._error).sum())
            self.count += _CHUNK


#: Number of columns that one thread handles at a time.
_COLUMNS = 16
#: Fewest and most permutations, and a limit on the work, in rows x columns of the target x permutations.
_FEWEST, _MOST, _WORK = 999, 500_000, 4e8
#: Fewest permutations where 999 exceed the limit on the work: a target with hundreds of classes.
_FEWEST_OF_ALL = 199
#: Probability with which chance in the permutations may change a decision that is called safe.
_UNSAFE = 1e-3


@dataclass(frozen=True)
class TestedFeatures:
    """p-values of every feature, and how far chance in the test itself may move them."""

    #: (3, n_features): combined p-values, and their lower and upper limits. Another seed would stay within them, except
    #: once in a thousand times.
    bounds: Floats
    #: p-values of each test, by name.
    parts: dict[str, Floats] = field(default_factory=dict)
    #: If there are several targets: p-values of each of them, by name.
    by_target: dict[str, Floats] = field(default_factory=dict)

    __test__ = False  # not a class of tests

    def with_all_rows(self, pvalues: Floats) -> TestedFeatures:
        """The same tests; features that have a p-value from all rows of a table (not NaN) have this one."""
        return replace(self, bounds=np.where(np.isnan(pvalues), self.bounds, pvalues))

    @property
    def pvalues(self) -> Floats:
        """The combined p-values."""
        return self.bounds[0]


#: Weight of each test of a single feature. With 1 : 4 : 1 (columns as they are, normal scores, smooth), 85 % of the
#: true columns that a test of the scores alone finds are kept at 150 rows x 1,000 skewed columns; with 1 : 2 : 1 it is
#: 79 %, with 0 : 2 : 1 84 %, and without scores 31 %. More for the scores gains 2 %, and costs curves without a slope.
TEST_WEIGHTS = {"linear": 1.0, "scores": 4.0, "smooth": 1.0, "graph": 1.0}


def relation_combination(pvalues: Mapping[str, Floats]) -> Floats:
    """The p-values of tests of single features, by the name of the test, as one."""
    return cauchy_combination(*pvalues.values(), weights=[TEST_WEIGHTS[name] for name in pvalues])


def linear_tests(
    evidence: Evidence, *, most_permutations: int = MOST_PERMUTATIONS, n_jobs: int | None = None
) -> dict[str, Floats]:
    """The linear test of the columns as they are, and of their normal scores, which skew and outliers cannot hurt."""
    both = {"linear": evidence, "scores": evidence.on_normal_scores(n_jobs)}
    return {name: linear_pvalues(one, most_permutations=most_permutations) for name, one in both.items()}


def relation_pvalues(
    evidence: Evidence, *, alpha: float = 0.05, random_state: int = 0, n_jobs: int | None = None
) -> TestedFeatures:
    """Test whether each feature is related to the target, linearly or along any smooth curve.

    There are three tests: a linear test with a closed-form null (analysis of variance for classes, its soft form for
    memberships, correlation for numbers) of the columns as they are and of their normal scores, and the rank-smooth R2
    with one permutation null for all features. For numbers, the supervised Laplacian score is another test.
    :func:`~dubio.evidence.relations.cauchy_combination` combines the p-values, with the weights
    :data:`~dubio.evidence.relations.TEST_WEIGHTS`. Permutations of smooth R2 go on until every decision of Benjamini
    and Hochberg's rule at ``alpha`` is safe, or until a limit on the work is reached.

    If rows change places only within groups, smooth R2 orders rows by their rank within their group.
    """
    ranges = {name: np.stack([pvalues] * 3) for name, pvalues in linear_tests(evidence, n_jobs=n_jobs).items()}
    if evidence.has_distances:
        target = evidence.scores[:, 0]
        graph, weights = TargetNeighbors(target, n_neighbors=min(5, len(target) - 1)).graph(), evidence.weights
        if len(weights):  # every edge is multiplied by the weights of its two rows
            graph.data *= np.repeat(weights, np.diff(graph.indptr)) * weights[graph.indices]
        null = graph_null(graph, evidence.columns, evidence.exchange, evidence.layout)
        pvalues = permutation_pvalues(null, alpha=alpha, random_state=random_state, n_jobs=n_jobs)
        ranges["graph"] = _with_limits(pvalues, _FEWEST)
    shuffled = SmoothNull(evidence, alpha=alpha, random_state=random_state, n_jobs=n_jobs)
    while True:
        ranges["smooth"] = _with_limits(shuffled.pvalues(), shuffled.counts)
        bounds = relation_combination(ranges)
        moves = np.not_equal(*(false_discovery_control(end) <= alpha for end in bounds[1:]))
        if not moves.any() or not shuffled.more():
            return TestedFeatures(bounds, {name: one[0] for name, one in ranges.items()})


def _with_limits(pvalues: Floats, count: Any) -> Floats:
    """p-values that come from ``count`` permutations, and their limits (Clopper and Pearson's)."""
    hits = np.clip(np.round(pvalues * (count + 1) - 1), 0, count)
    low = np.where(hits > 0, stats.beta.ppf(_UNSAFE, np.maximum(hits, 1), count - hits + 1), 0.0)
    high = np.where(hits < count, stats.beta.ppf(1 - _UNSAFE, hits + 1, np.maximum(count - hits, 1)), 1.0)
    return np.stack([pvalues, low, high])


def smooth_r2(evidence: Evidence, *, random_state: Any = 0, n_jobs: int | None = None) -> Floats:
    """:func:`smooth_r2_score` of evidence; if rows change places only within groups, of ranks within groups.

    A feature of several columns puts the rows in an order (:meth:`~dubio.evidence.evidence.Evidence.lines`), except for
    categories: there a row is predicted by the others of its category.
    """
    # Shuffled rows and a stable sort: ties are in a random order, the same for every feature.
    rows = generator(random_state).permutation(evidence.n_rows)
    target = np.ascontiguousarray(evidence.scores[rows])
    weights = evidence.weights[rows] if len(evidence.weights) else evidence.weights
    ranks = None if evidence.exchange is None else GroupRanks(evidence.exchange[rows])
    half = half_window(len(rows))
    total = leave_one_out_total(target, weights)

    def work(start: int, stop: int) -> Floats:
        lines = evidence.lines(start, stop, rows)
        errors = np.empty(stop - start)
        orders = stable_orders(lines) if ranks is None else np.array([ranks.order(line) for line in lines])
        smooth_errors(target, weights if len(weights) else None, orders, half, errors)
        return np.where((lines == lines[:, :1]).all(axis=1), -np.inf, 1.0 - errors / total)

    scores = np.concatenate(run_chunks(work, chunks(evidence.n_features, _COLUMNS), resolve_threads(n_jobs)))
    for feature in evidence.level_features.tolist() if ranks is None else []:
        codes = evidence.levels(feature)[rows]
        scores[feature] = 1.0 - level_error(target, weights, codes) / total if codes.any() else -np.inf
    return scores


def linear_r2(evidence: Evidence, *, tested: bool = False) -> tuple[Floats, Floats]:
    r""":func:`linear_r2_score` of evidence, and the basis of its target with one column per degree of freedom.

    For a feature of several columns, above and below the line of the fraction stand sums over its columns. For
    categories and classes this is Goodman and Kruskal's tau.

    With weights, it is the R2 of a weighted regression. ``tested``: instead, the weights belong to the target. With the
    rows :math:`w_i (t_i - \bar t_w)` in place of the target, the products with a feature are its weighted covariances,
    and everything but the target stays the same when rows change places. So permutations of it have a closed form.
    """
    target, weights = evidence.scores, evidence.weights
    if len(weights):
        target = target * (weights if tested else np.sqrt(weights))[:, None]
    basis = orthonormal_basis(target)
    n_columns = evidence.columns.shape[1]
    total, explained = np.zeros((2, n_columns))
    for start, stop in chunks(n_columns, 256):
        block = np.array(evidence.columns[:, start:stop], dtype=np.float64, order="C")
        block -= block[0]  # makes a constant column exactly zero
        if len(weights) and not tested:
            block -= np.average(block, axis=0, weights=weights)
            block *= np.sqrt(weights)[:, None]
        else:
            block -= block.mean(axis=0)
        total[start:stop] = np.einsum("ij,ij->j", block, block)
        explained[start:stop] = ((basis.T @ block) ** 2).sum(axis=0)
    if tested:
        explained /= evidence.by_chance_of(slice(None))
    total, explained = feature_sums(total, evidence.layout), feature_sums(explained, evidence.layout)
    scores = np.divide(explained, total, out=np.zeros(len(total)), where=total > 0)
    return np.minimum(scores, 1.0), basis


def linear_pvalues(evidence: Evidence, *, most_permutations: int = MOST_PERMUTATIONS) -> Floats:
    r"""Test of :func:`~dubio.linear_r2_score` with a closed-form null; 1 if there are too few labelled rows.

    Under the normal law :math:`R^2 \sim \mathrm{Beta}(r/2, (n-1-r)/2)`, which is the F-test. If the feature has a heavy
    tail and a class is small, its p-values are too small. So the Beta law gets the variance of :math:`R^2` over all
    permutations, which is known in closed form (the mean is already the same). Box and Andersen [1]_ did this for two
    samples. If rows change places only within groups, mean and variance are those of such permutations
    (:func:`~dubio.evidence.permutation.within_moments`). A column "was missing" is also tested alone, because it may
    have little weight in its feature; both p-values are combined
    (:func:`~dubio.evidence.relations.cauchy_combination`).

    If a few rows decide, such as a rare category and a class of one row, no such law is right. Then a small p-value is
    checked by permutations, and is at least theirs (:mod:`dubio.evidence.permutation`).

    Permutations move a weight with the target of its row. That is right unless weights depend on the feature, so a
    p-value of rows with weights is at least that of :func:`sandwich_pvalues`.

    References
    ----------
    .. [1] G. Box and S. Andersen (1955). Permutation theory in the derivation of robust criteria and the study of
       departures from assumption. Journal of the Royal Statistical Society B 17.
    """
    pvalues = _checked_linear_pvalues(evidence, most_permutations)
    if evidence.layout is not None and not evidence.layout.is_plain:
        gaps = np.flatnonzero(evidence.layout.roles == "missing")
        if len(gaps):
            by_chance = np.broadcast_to(evidence.by_chance_of(gaps), len(gaps))
            parts = replace(evidence, columns=evidence.columns[:, gaps], layout=None, by_chance=by_chance)
            alone = _checked_linear_pvalues(parts, most_permutations)
            for feature, pvalue in zip(evidence.layout.feature_of[gaps], alone, strict=True):
                pvalues[feature] = cauchy_combination(pvalues[[feature]], [pvalue])[0]
    return pvalues


def _checked_linear_pvalues(evidence: Evidence, most: int) -> Floats:
    law = linear_law(evidence)
    pvalues = law.pvalues()
    for feature in np.flatnonzero(pvalues < SMALL).tolist():
        columns = evidence.columns_of(feature)
        block = np.array(evidence.columns[:, columns], dtype=np.float64)
        block -= block.mean(axis=0)
        about = evidence.exchange, [0, feature], most, evidence.by_chance_of(columns)
        pvalues[feature] = checked_pvalue(pvalues[feature], block, law.basis, *about)
    return np.maximum(pvalues, sandwich_pvalues(evidence, law.basis)) if len(evidence.weights) else pvalues


def sandwich_pvalues(evidence: Evidence, basis: Floats) -> Floats:
    r"""Test of the weighted covariance of each feature and the target, whatever the weights depend on.

    The covariances are the sums of :math:`u_i = w_i (t_i - \bar t_w)(x_i - \bar x_w)`, one for each column of the
    target and of the feature. Their own spread over the rows, :math:`V = \sum_i (u_i - \bar u)(u_i - \bar u)^T`, is the
    middle of White's sandwich [1]_, and takes nothing for granted about the weights. Without a relation,
    :math:`(1 - 1/n)\,|\sum_i u_i|^2 / \mathrm{tr}\,V` has about the law :math:`F(\nu, n - 1)` with
    :math:`\nu = (\mathrm{tr}\,V)^2 / \mathrm{tr}\,V^2`.

    ``basis``: orthonormal columns that span :math:`w_i (t_i - \bar t_w)`.

    References
    ----------
    .. [1] H. White (1980). A heteroskedasticity-consistent covariance matrix estimator and a direct test for
       heteroskedasticity. Econometrica 48.
    """
    n, weights, pvalues = evidence.n_rows, evidence.weights, np.ones(evidence.n_features)
    for feature in range(evidence.n_features):
        block = np.array(evidence.columns[:, evidence.columns_of(feature)], dtype=np.float64)
        block = block - block[0]
        if evidence.exchange is None:
            block -= np.average(block, axis=0, weights=weights)
        else:
            block = centred_within(block, evidence.exchange, weights)
        block /= np.abs(block).max() or 1.0  # units do not matter, but their fourth power may not be a number
        products = (basis[:, :, None] * block[:, None, :]).reshape(n, -1)
        covariance = products.sum(axis=0)
        products -= products.mean(axis=0)
        spread = products.T @ products if products.shape[1] <= n else products @ products.T
        if (total := float(np.trace(spread))) > 0:
            freedom = total**2 / float((spread**2).sum())
            ratio = (1.0 - 1.0 / n) * float(covariance @ covariance) / total
            ratio /= float(np.mean(evidence.by_chance_of(evidence.columns_of(feature))))
            pvalues[feature] = stats.f.sf(ratio, freedom, n - 1)
    return pvalues


class LinearLaw(NamedTuple):
    """The linear R2 of every feature, the two parameters of its Beta law without a relation (NaN where there is no
    test), the smallest p-value that is possible, and orthonormal columns that span the target."""

    scores: Floats
    below: Floats
    above: Floats
    least: float
    basis: Floats

    def pvalues(self) -> Floats:
        """The probability of a score as high, without a relation."""
        pvalues = np.maximum(stats.beta.sf(self.scores, self.below, self.above), self.least)
        return np.where(np.isfinite(self.below), pvalues, 1.0)


def linear_law(evidence: Evidence, squares: Floats | float | None = None) -> LinearLaw:
    """The scores of :func:`linear_pvalues`, and their law without a relation.

    The law depends on the target only through the sum of the squared leverages of its rows. ``squares`` is this sum for
    another target, or one sum for each feature.
    """
    scores, basis = linear_r2(evidence, tested=True)
    n, rank = basis.shape
    if n - 1 - rank <= 0 or n < 4:
        nothing = np.full(len(scores), np.nan)
        return LinearLaw(scores, nothing, nothing, 0.0, basis)
    mean: Any
    least = 0.0
    if evidence.exchange is not None:
        mean, variance = within_moments(evidence.columns, basis, evidence.exchange, evidence.layout)
        varies = (mean > 0) & (mean < 1)
        mean = np.where(varies, mean, 0.5)
        moved = [evidence.scores] if not len(evidence.weights) else [evidence.scores, evidence.weights]
        least = fewest_orders(np.column_stack(moved), evidence.exchange)
    else:
        squares = float(((basis**2).sum(axis=1) ** 2).sum()) if squares is None else squares
        second, fourth, gram = feature_moments(evidence.columns, evidence.layout)
        varies = second > 0
        mean = rank / (n - 1)
        _, variance = permutation_moments(second, fourth, n, rank, squares, rank, gram)
        variance = np.divide(variance, (n * second) ** 2, out=np.full(len(scores), np.inf), where=varies)
    # no Beta law has a variance of zero, or one above that of a coin toss
    strength = np.clip(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-3, 1e9)
    strength = np.where(varies, strength, np.nan)
    return LinearLaw(scores, mean * strength, (1 - mean) * strength, least, basis)


#: Numbers in memory at a time while the target is permuted.
_PRODUCTS_AT_ONCE = 4e6


def shuffled_passes(evidence: Evidence, cut: float, count: int, random_state: int = 0) -> NDArray[np.bool_]:
    """(permutations, features): whether the linear tests, joined, reach ``cut`` if the target is permuted."""
    both = [evidence, evidence.on_normal_scores()]
    laws = [linear_law(one) for one in both]
    weights = [TEST_WEIGHTS[name] for name in ("linear", "scores")]
    columns = [np.array(one.columns, dtype=np.float64) for one in both]
    for table in columns:
        table -= table[:1].copy()
        table -= table.mean(axis=0)
    totals = [feature_sums((table**2).sum(axis=0), evidence.layout) for table in columns]
    # a joined p-value at the cut needs one of the two at this or below
    low = min(1.0, cut * sum(weights) / min(weights))
    bars = [np.where(np.isfinite(law.below), stats.beta.isf(low, law.below, law.above), np.inf) for law in laws]
    rng = np.random.default_rng([random_state, 8])
    passed = np.zeros((count, evidence.n_features), dtype=bool)
    n, rank = laws[0].basis.shape
    at_once = int(np.clip(_PRODUCTS_AT_ONCE / (rank * max(n, columns[0].shape[1])), 1, count))
    for start, stop in chunks(count, at_once):
        orders = [random_order(n, evidence.exchange, rng) for _ in range(start, stop)]
        shuffled = np.stack([laws[0].basis[order] for order in orders]).transpose(0, 2, 1).reshape(-1, n)
        scores = []
        for table, total in zip(columns, totals, strict=True):
            explained = ((shuffled @ table) ** 2).reshape(stop - start, rank, -1).sum(axis=1)
            explained = feature_sums(explained, evidence.layout)
            scores.append(np.divide(explained, total, out=np.zeros_like(explained), where=total > 0))
        draw, feature = np.nonzero((scores[0] >= bars[0]) | (scores[1] >= bars[1]))
        if len(draw):
            pvalues = [
                np.maximum(stats.beta.sf(found[draw, feature], law.below[feature], law.above[feature]), law.least)
                for found, law in zip(scores, laws, strict=True)
            ]
            passed[start + draw, feature] = cauchy_combination(*pvalues, weights=weights) <= cut
    return passed


def fewest_orders(target: Floats, groups: Codes) -> float:
    """One over the number of different targets that permutations within groups can give: no p-value can be smaller."""
    order, starts, sizes = groups_of_rows(groups)
    logs = gammaln(sizes + 1.0).sum()
    for start, size in zip(starts, sizes, strict=True):
        same = np.unique(target[order[start : start + size]], axis=0, return_counts=True)[1]
        logs -= gammaln(same + 1.0).sum()
    return float(np.exp(-logs))


class SmoothNull:
    """Permutation test of :func:`~dubio.smooth_r2_score`, with the same permutations as the null of every feature.

    The score depends only on the order in which a feature puts the rows. Without a relation, every order is equally
    likely. So the null is drawn once; the more features there are, the more permutations are drawn.
    """

    def __init__(
        self,
        evidence: Evidence,
        *,
        scores: Floats | None = None,
        alpha: float = 0.05,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self._evidence, self._seed, self._n_jobs = evidence, random_state, n_jobs
        # rows with equal values are ordered in the same way for every seed: a decision must not depend on it
        within = evidence.exchange is not None
        self.scores = smooth_r2(evidence, n_jobs=n_jobs) if scores is None or within else scores
        affordable = int(_WORK / (evidence.n_rows * (evidence.scores.shape[1] + 2)))
        self._most = max(_FEWEST_OF_ALL, min(_MOST, affordable))
        wanted = 20 * len(self.scores) / alpha  # 20 times what a single feature needs to pass Benjamini-Hochberg
        self._null = np.empty(0)
        self._levels = {
            j: LevelNull(evidence.scores, evidence.weights, evidence.levels(j), [random_state, 6, j])
            for j in (() if within else evidence.level_features.tolist())
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

    def pvalues(self) -> Floats:
        """The share of permutations that reach the score of each feature."""
        pvalues = pvalues_against(self._null, self.scores)
        for feature, null in self._levels.items():
            pvalues[feature] = null.pvalue
        return pvalues

    @property
    def counts(self) -> Codes:
        """Number of permutations of each feature so far: a feature of categories has a number of its own."""
        counts = np.full(len(self.scores), self.count)
        for feature, null in self._levels.items():
            counts[feature] = max(1, null.count)
        return counts

    def _draw(self, count: int) -> None:
        more = smooth_null(self._evidence, count, first=self.count, random_state=self._seed, n_jobs=self._n_jobs)
        self._null = np.sort(np.concatenate([self._null, more]))
        for null in self._levels.values():
            null.draw(count)


def pvalues_against(null: Floats, scores: Floats) -> Floats:
    """The share of the values of a null (in increasing order) that reach each score; 1 for minus infinity."""
    # a permutation with the same order as the feature must count as equal, in spite of rounding
    bar = scores - 1e-12 * np.maximum(np.abs(scores), 1.0)
    reached = len(null) - np.searchsorted(null, bar)
    return np.where(np.isneginf(scores), 1.0, (1.0 + reached) / (1.0 + len(null)))


def smooth_null(
    evidence: Evidence, count: int, *, first: int = 0, random_state: int = 0, n_jobs: int | None = None
) -> Floats:
    """Smooth R2 of random orders of the rows of the target: those with the numbers ``first`` to ``count``.

    Rows change places only where they may. Weights move together with the target.
    """
    target, weights, n = evidence.scores, evidence.weights, len(evidence.scores)
    total, half = leave_one_out_total(target, weights), half_window(n)
    slots: tuple[Any, ...] = np.arange(n), np.zeros(1, np.int64), np.array([n]), None
    if evidence.exchange is not None:
        slots = GroupRanks(evidence.exchange).slots

    def work(start: int, stop: int) -> Floats:
        out, rng = np.empty(stop - start), np.random.default_rng([random_state, 1, first + start])
        shuffled_smooth_errors(target, weights if len(weights) else None, *slots, half, rng, out)
        return out

    errors = np.concatenate(run_chunks(work, chunks(count - first, _CHUNK), resolve_threads(n_jobs)))
    return 1.0 - errors / total


class GroupRanks:
    r"""Orders of all rows by their rank within their group: :math:`(r - 1/2) / n_g`.

    A row takes the place of its rank, so a feature's level and spread in a group do not matter. Without a relation,
    every order of the rows of a group is equally likely, whatever the feature. So one set of permutations serves all
    features, as without groups.
    """

    def __init__(self, groups: Codes) -> None:
        rows, starts, sizes = groups_of_rows(groups)
        rank = np.arange(len(groups)) - np.repeat(starts, sizes)
        share = (rank + 0.5) / np.repeat(sizes, sizes)
        tie = np.random.default_rng(0).permutation(len(groups))  # equal ranks of different groups: in a random order
        self._groups = groups
        #: The rows by group, where each group starts, its size, and the places of all ranks in the common order.
        self.slots = rows, starts, sizes, np.lexsort((tie, share))

    def order(self, column: NDArray[np.floating]) -> Codes:
        """The rows in the order of a feature's ranks within groups; equal values keep the order of the rows."""
        return np.asarray(np.lexsort((column, self._groups))[self.slots[3]])


def half_window(n_rows: int) -> int:
    """Number of neighbours on each side: a sixteenth of the rows, at least four."""
    return max(4, n_rows // 16)


def leave_one_out_total(target: Floats, weights: Floats) -> float:
    """Sum of squared errors when each row is predicted by the mean of all other rows, for a centred target."""
    n = len(target)
    if n < 2:
        _raise_same(n)
    if not len(weights):
        total = float((target**2).sum()) * (n / (n - 1)) ** 2
    else:
        factor = weights.sum() / (weights.sum() - weights)
        total = float((weights * factor**2) @ (target**2).sum(axis=1))
    if not total > 0:
        _raise_same(n)
    return total


def orthonormal_basis(target: Floats) -> Floats:
    """Orthonormal columns that span a centred target; columns that add nothing are left out."""
    left, values, _ = np.linalg.svd(target, full_matrices=False)
    if not values[0] > 0:
        _raise_same(len(target))
    return left[:, values > values[0] * 1e-9]


def _raise_same(n_rows: int) -> None:
    found = f"is the same for all {counted(n_rows, 'labelled row')}"
    raise InputError("y", found, "features can only be ranked by a target that varies")
