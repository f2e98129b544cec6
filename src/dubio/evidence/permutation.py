"""Permutation tests: sequential ones, closed-form moments of graph scores, and checks where few rows decide."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.stats import false_discovery_control

from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.neighbors.quadratic import laplacian_ratio
from dubio.problem import Problem
from dubio.progress import advance
from dubio.ranking import Scored
from dubio.table.matrix import Columns, Matrix
from dubio.table.rows import groups_of_rows, random_order

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Screening p-value above which features are not permuted: they will not be kept in any case.
SCREEN = 0.3
#: Permutations with an equal or better score after which a feature is settled (Besag and Clifford's sequential test).
_ENOUGH = 30
#: Permutations between two checks of which features are settled; those of one batch run on threads.
_BATCH = 25
#: Most permutations of scores that are computed feature by feature, and most rows x features x permutations.
_MOST, _WORK = 64_000, 2e9


@dataclass
class Null:
    """A score of every feature, and random values of that score when features are unrelated to the target."""

    scores: Floats
    #: ``draw(rng, features)`` gives the scores of those features for one random permutation.
    draw: Callable[[np.random.Generator, Codes], Floats]
    n_rows: int
    lower_is_better: bool = True
    #: Whether the score of a feature does not depend on the other features.
    features_are_independent: bool = True
    #: Gives quick p-values, good enough to drop features that are surely not significant; None if unavailable.
    screen: Callable[[], Floats | None] = lambda: None


def relabel_null(score: Callable[[Problem], Scored], problem: Problem, **properties: Any) -> Null:
    """The null of any score of a problem: the target is shuffled among the rows with a label."""

    def draw(rng: np.random.Generator, features: Codes) -> Floats:
        shuffled = problem.shuffled(rng)
        if null.features_are_independent:
            return score(shuffled.features(features)).scores
        return score(shuffled).scores[features]

    null = Null(draw=draw, n_rows=problem.n_rows, **properties)
    return null


def graph_null(graph: sparse.csr_array, X: Matrix, groups: Codes | None = None, columns: Columns | None = None) -> Null:
    """The Laplacian ratio of every feature with shuffled rows, on a graph that does not depend on the features.

    With ``groups``, rows change places only within them.
    """
    columns = None if columns is None or columns.is_plain else columns
    scores = laplacian_ratio(graph, X, columns)

    def screen() -> Floats | None:
        return None if groups is not None else RatioForms.of_laplacian(graph).pvalues(X, scores, columns)

    def draw(rng: np.random.Generator, features: Codes) -> Floats:
        order = random_order(X.shape[0], groups, rng)
        if columns is None:
            return laplacian_ratio(graph, X[:, features][order])
        return laplacian_ratio(graph, X[:, columns.of_all(features)][order], columns.only(features))

    return Null(scores, draw, X.shape[0], screen=screen)


def permutation_pvalues(
    null: Null, *, alpha: float = 0.05, n_permutations: int = 1000, random_state: int = 0, n_jobs: int | None = None
) -> Floats:
    """P-value of every feature: the share of permutations whose score is at least as good.

    The first round has ``n_permutations`` permutations, or fewer for features that are clearly not significant. In a
    wide table this may be too few: no permutation reaches some features, and Benjamini-Hochberg at ``alpha`` still
    cannot keep them. Then the number is doubled, within a bound on the work. The worst possible score (``inf``, for
    constant features) has p-value 1.

    Each permutation has its own seed, so that ``n_jobs`` does not change the result.
    """
    sign = 1.0 if null.lower_is_better else -1.0
    observed = sign * null.scores
    # scores that differ only by rounding count as equal
    limit = observed + 1e-10 * np.maximum(np.abs(np.where(np.isfinite(observed), observed, 0.0)), 1e-300)
    pvalues = np.ones(len(observed))
    active = np.flatnonzero(observed < np.inf)
    quick = null.screen()
    if quick is not None:
        pvalues[active] = quick[active]
        active = active[quick[active] <= SCREEN]
    hits = np.zeros(len(observed), dtype=np.int64)
    threads = resolve_threads(n_jobs)
    done, goal, work = 0, n_permutations, 0.0
    while len(active) and done < goal:

        def draws(start: int, stop: int, features: Codes = active) -> Codes:
            count = np.zeros(len(features), dtype=np.int64)
            for b in range(start, stop):
                rng = np.random.default_rng([random_state, 2, b])
                count += sign * null.draw(rng, features) <= limit[features]
            return count

        batch = min(_BATCH, goal - done)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the score gave its warnings when it was first computed
            counts = run_chunks(draws, [(b, b + 1) for b in range(done, done + batch)], threads)
        hits[active] += np.sum(counts, axis=0)
        done += batch
        work += float(batch) * len(active) * null.n_rows
        pvalues[active] = (hits[active] + 1) / (done + 1)
        active = active[hits[active] < _ENOUGH]
        if done == goal and null.features_are_independent and goal < _MOST and work < _WORK:
            unreached = (hits == 0) & (observed < np.inf) & (pvalues < SCREEN)
            if (unreached & (false_discovery_control(pvalues) > alpha / 2)).any():  # the bar of keep_significant
                goal *= 2
        advance("permutations", done, goal)
    return pvalues


#: p-value below which it is checked if a few rows decide.
SMALL = 0.01
#: Effective number of rows below which the target, or a feature, depends on a few rows.
_ROWS_OF_TARGET, FEW_ROWS_OF_FEATURE = 10.0, 20.0
#: Most and fewest permutations of a check, and how many reach the score before it ends.
MOST_PERMUTATIONS, _FEWEST, _ENOUGH_CHECKS = 9_999, 999, 50
#: Limit on the work of a check, in rows x columns x permutations.
_CHECK_WORK = 3e7
#: Values that are shuffled at once.
_AT_ONCE = 2e6


def effective_rows(lengths: Floats) -> float:
    r"""The number of rows that carry a sum of squared lengths: :math:`(\sum_i l_i)^2 / \sum_i l_i^2`.

    >>> import numpy as np
    >>> from dubio.evidence.permutation import effective_rows
    >>> effective_rows(np.ones(50)), effective_rows(np.array([1.0, 0.0, 0.0]))
    (50.0, 1.0)
    """
    largest = lengths.max(initial=0.0)
    if not largest > 0:
        return float("inf")
    if largest == np.inf:
        return 1.0
    shares = lengths / largest  # squares of very large numbers are infinite
    return float(shares.sum() ** 2 / (shares**2).sum())


def checked_pvalue(
    pvalue: float,
    block: Floats,
    basis: Floats,
    groups: Codes | None,
    seed: list[int],
    most: int = MOST_PERMUTATIONS,
    by_chance: Floats | float = 1.0,
) -> float:
    """The p-value of one feature, or that of permutations if it is small, a few rows decide, and theirs is larger.

    ``block`` holds the columns of the feature, centred as for its :func:`~dubio.evidence.relations.linear_r2`;
    ``basis`` has orthonormal columns that span the target. With ``groups``, rows change places only within groups.
    ``by_chance``: see :class:`~dubio.evidence.evidence.Evidence`.
    """
    if not pvalue < SMALL or not _few_rows_decide(block, basis):
        return pvalue
    n, width = block.shape
    count = int(min(most, max(_FEWEST, _CHECK_WORK / (n * width))))
    limit = float(((basis.T @ block) ** 2 / by_chance).sum()) * (1.0 - 1e-9)  # equal but for rounding counts as equal
    rng = np.random.default_rng(seed)
    at_once = int(np.clip(_AT_ONCE / (n * width), 1, 256))
    done = hits = 0
    while done < count and hits < _ENOUGH_CHECKS:
        orders = np.array([random_order(n, groups, rng) for _ in range(at_once)])
        explained = np.einsum("nr,pnc->prc", basis, block[orders], optimize=True)
        hits += int(((explained**2).sum(axis=(1, 2)) >= limit).sum())
        done += at_once
    return max(pvalue, (1.0 + hits) / (1.0 + done))


def most_squares(block: Floats, rank: int) -> float:
    """The sum of the squared leverages of a target of this rank above which a few rows decide on this feature."""
    half = 0.5 * len(block)  # rows that count alike are never few, however short the table is
    if effective_rows((block**2).sum(axis=1)) >= min(FEW_ROWS_OF_FEATURE, half):
        return float("inf")
    if 2 * len(np.unique(block, axis=0)) <= len(block):  # of numbers that differ, the closed form knows the tails
        return 0.0
    return rank**2 / min(_ROWS_OF_TARGET, half)


def _few_rows_decide(block: Floats, basis: Floats) -> bool:
    return bool(((basis**2).sum(axis=1) ** 2).sum() > most_squares(block, basis.shape[1]))


@dataclass(frozen=True)
class RatioForms:
    """The sums over A and B that the moments of ``A - c B`` need: traces, products of diagonals and of all entries."""

    traces: tuple[float, float]
    diagonals: tuple[float, float, float]  # sum of A_ii^2, of A_ii B_ii, of B_ii^2
    entries: tuple[float, float, float]  # sum of A_ij^2, of A_ij B_ij, of B_ij^2

    @classmethod
    def of_laplacian(cls, graph: sparse.csr_array) -> RatioForms:
        """A = D - S and B = D - D 1 1' D / 1' D 1 of a graph S without self edges: the Laplacian score."""
        d = np.asarray(graph.sum(axis=1)).ravel()
        total = d.sum()
        b = d - d**2 / total
        aa, ab, bb = (d**2).sum(), (d * b).sum(), (b**2).sum()
        apart = (graph.data**2).sum(), d @ (graph @ d) / total, (aa**2 - (d**4).sum()) / total**2
        return cls((total, b.sum()), (aa, ab, bb), (aa + apart[0], ab + apart[1], bb + apart[2]))

    @classmethod
    def of_memberships(cls, P: Floats) -> RatioForms:
        """A = Laplacian of P P' and B = that of the complete graph: the weighted Laplacian score, WLS / (1 + WLS)."""
        n = len(P)
        degrees = P @ P.sum(axis=0)
        lengths = (P**2).sum(axis=1)
        a = degrees - lengths
        trace = a.sum()
        gram = P.T @ P
        return cls(
            (trace, n * (n - 1.0)),
            ((a**2).sum(), (n - 1) * trace, n * (n - 1.0) ** 2),
            ((degrees**2).sum() - 2 * (degrees * lengths).sum() + (gram**2).sum(), n * trace, n**2 * (n - 1.0)),
        )

    def pvalues(self, X: Matrix, ratios: Floats, columns: Columns | None = None) -> Floats:
        """Probability of a ratio this low under permutation, from a normal curve with the exact mean and variance.

        The curve is accurate in the middle, but its p-values are too small in the tail. So use it to screen features,
        not to decide. The p-value is 1 if the ratio is not finite.
        """
        out = np.ones(len(ratios))
        finite = np.isfinite(ratios)
        c = np.where(finite, ratios, 0.0)
        trace = self.traces[0] - c * self.traces[1]
        diagonal, entries = (a - 2 * c * ab + c**2 * b for a, ab, b in (self.diagonals, self.entries))
        second, fourth, gram = feature_moments(X, columns)
        mean, variance = permutation_moments(second, fourth, X.shape[0], trace, diagonal, entries, gram)
        usable = finite & (variance > 0)
        out[usable] = stats.norm.cdf(-mean[usable] / np.sqrt(variance[usable]))
        return out


def feature_moments(X: Matrix, columns: Columns | None) -> tuple[Floats, Floats, Floats | None]:
    r"""Moments of every feature in units of its own spread, with :math:`x_i` the values of row i in its columns.

    Mean of :math:`\|x_i\|^2`, mean of :math:`\|x_i\|^4`, and mean of :math:`(x_i \cdot x_j)^2` over all pairs (None if
    every feature is one column: then it is the square of the first).
    """

    def scaled(block: Any, axis: int | None, order: Any) -> Floats:
        f = np.array(block.toarray() if sparse.issparse(block) else block, dtype=np.float64, order=order)
        f -= f[0]
        f -= f.mean(axis=0)
        largest = np.abs(f).max(axis=axis)
        return np.divide(f, np.where(largest > 0, largest, 1.0), out=f)

    blocks = (scaled(X[:, start:stop], 0, "C") for start, stop in chunks(X.shape[1], 256))
    squares = (f**2 for f in blocks)
    second, fourth = np.hstack([(f2.mean(axis=0), (f2**2).mean(axis=0)) for f2 in squares])
    if columns is None or columns.is_plain:
        return second, fourth, None
    second, fourth = second[columns.starts], fourth[columns.starts]
    gram = second**2
    for feature in np.flatnonzero(columns.sizes > 1).tolist():
        f = scaled(X[:, columns.of(feature)], None, "K")
        lengths = (f**2).sum(axis=1)
        second[feature], fourth[feature] = lengths.mean(), (lengths**2).mean()
        gram[feature] = ((f.T @ f / len(f)) ** 2).sum()
    return second, fourth, gram


def permutation_moments(
    second: Floats,
    fourth: Floats,
    n: int | Codes,
    trace: Floats | float,
    diagonal_squares: Floats | float,
    squares: Floats | float,
    gram: Floats | None = None,
) -> tuple[Floats, Floats]:
    r"""Mean and variance of :math:`f^T M f` over all permutations of f, when the rows of M sum to zero.

    For a feature of several columns it is the sum of their forms, :math:`\sum_{ij} M_{ij} G_{ij}` with
    :math:`G_{ij} = x_i \cdot x_j`, and ``gram`` is the mean of :math:`G_{ij}^2` (see :func:`feature_moments`). Then the
    products of M and those of G are sorted alike, as for the RV coefficient (Kazi-Aoual et al. 1995).

    ``second`` and ``fourth`` are central moments of f (divided by n). The result depends on M only through
    :math:`\mathrm{tr} M`, :math:`\sum_i M_{ii}^2` and :math:`\sum_{ij} M_{ij}^2`. In the second moment, the products
    :math:`M_{ij} M_{kl}` are sorted by which of the four indices are equal: all, three, two pairs, one pair, none.
    ``n`` may be an array, if columns have different numbers of rows, at least two; a term without enough different
    indices is then zero.
    """
    if isinstance(n, int) and n < 4:
        nothing = np.zeros_like(second)
        return nothing, nothing  # fewer rows than four different indices: the variance is unknown
    t2, g2, s2 = np.square(trace), diagonal_squares, squares
    triples, fours = np.maximum(n - 2, 1), np.maximum(n - 3, 1)
    pairs = n * second**2
    crossed = pairs if gram is None else n * gram
    mean = trace * second * n / (n - 1)
    expected_square = (
        g2 * fourth
        + 4 * g2 * fourth / (n - 1)
        + ((t2 - g2) * (pairs - fourth) + 2 * (s2 - g2) * (crossed - fourth)) / (n - 1)
        + (2 * (2 * g2 - t2) * (2 * fourth - pairs) + 4 * (2 * g2 - s2) * (2 * fourth - crossed)) / ((n - 1) * triples)
        + (t2 + 2 * s2 - 6 * g2) * (pairs + 2 * crossed - 6 * fourth) / ((n - 1) * triples * fours)
    )
    return mean, np.maximum(expected_square - mean**2, 0.0)


def within_moments(
    X: NDArray[np.floating], basis: Floats, groups: Codes, columns: Columns | None = None
) -> tuple[Floats, Floats]:
    r"""Mean and variance of :math:`\|B^T f\|^2 / \|f\|^2` over permutations within groups, for every feature f.

    The columns of X and B are centred within every group g, so :math:`M = B B^T` has blocks :math:`M_{gh}` whose rows
    sum to zero. With :math:`s_g = \|f_g\|^2 / (n_g - 1)` and :math:`C_g = B_g^T B_g`,

    .. math:: E = \sum_g s_g\,\mathrm{tr}\,C_g, \qquad
              V = \sum_g \mathrm{Var}(f_g^T M_{gg} f_g)
                  + 2\Bigl(\bigl\|\sum_g s_g C_g\bigr\|^2 - \sum_g s_g^2 \|C_g\|^2\Bigr),

    because different groups are permuted independently. :func:`~dubio.evidence.permutation.permutation_moments` has
    the variance of one group. Every group has at least two rows. A constant column has mean and variance 0. For a
    feature of several columns F, the sums of squares are summed over them, and :math:`s_g C_g` is the Kronecker product
    of :math:`F_g^T F_g / (n_g - 1)` and :math:`C_g`.
    """
    order, starts, sizes = groups_of_rows(groups)
    B = basis[order]
    rank = B.shape[1]
    products = np.add.reduceat(B[:, :, None] * B[:, None, :], starts, axis=0)  # C_g: (groups, rank, rank)
    traces = np.einsum("gkk->g", products)
    squares = (products**2).sum(axis=(1, 2))
    leverages = np.add.reduceat((B**2).sum(axis=1) ** 2, starts)
    mean, variance = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for start, stop in chunks(X.shape[1], 256):
        f = np.array(X[:, start:stop], dtype=np.float64, order="C")[order]
        total = np.sqrt(np.einsum("ij,ij->j", f, f))
        f /= np.where(total > 0, total, 1.0)
        second = np.add.reduceat(f**2, starts, axis=0)
        fourth = np.add.reduceat(f**4, starts, axis=0)
        spread = second / (sizes - 1)[:, None]  # s_g: (groups, columns)
        mean[start:stop] = traces @ spread
        n = sizes[:, None]
        own = permutation_moments(second / n, fourth / n, n, traces[:, None], leverages[:, None], squares[:, None])[1]
        joined = spread.T @ products.reshape(len(sizes), rank * rank)
        variance[start:stop] = own.sum(axis=0) + 2.0 * ((joined**2).sum(axis=1) - squares @ spread**2)
    if columns is None or columns.is_plain:
        return mean, np.maximum(variance, 0.0)
    mean, variance = mean[columns.starts], variance[columns.starts]
    for feature in np.flatnonzero(columns.sizes > 1).tolist():
        f = np.array(X[:, columns.of(feature)], dtype=np.float64)[order]
        total = float(np.sqrt((f**2).sum()))
        f /= total if total > 0 else 1.0
        lengths = (f**2).sum(axis=1)
        gram = np.add.reduceat(f[:, :, None] * f[:, None, :], starts, axis=0)
        second, fourth = np.add.reduceat(lengths, starts), np.add.reduceat(lengths**2, starts)
        mean[feature] = traces @ (second / (sizes - 1))
        inner = (gram**2).sum(axis=(1, 2))
        given = second / sizes, fourth / sizes, sizes, traces, leverages, squares, inner / sizes**2.0
        own = permutation_moments(*given)[1]
        spread = gram / (sizes - 1)[:, None, None]
        joined = np.einsum("gab,gkl->abkl", spread, products)
        apart = ((spread**2).sum(axis=(1, 2)) * squares).sum()
        variance[feature] = own.sum() + 2.0 * (float((joined**2).sum()) - apart)
    return mean, np.maximum(variance, 0.0)
