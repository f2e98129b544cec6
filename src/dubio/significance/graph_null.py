r"""Ratios of graph quadratic forms when a feature's values are shuffled over the rows.

Let a score be :math:`f^T A f / f^T B f`, with symmetric matrices whose rows sum to zero. It is at most c exactly when
:math:`f^T (A - c B) f \le 0`. The left side is a quadratic form. Its mean and variance over all permutations are known
in closed form, as for Geary's C. They show at once which features are surely not significant. Permutations decide the
others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from dubio._kernels.threads import chunks
from dubio.graphs.quadratic import laplacian_ratio
from dubio.tables.features import Columns
from dubio.tables.matrix import Matrix
from dubio.tables.row_groups import shuffled_within


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
        return cls(
            (d.sum(), b.sum()),
            ((d**2).sum(), (d * b).sum(), (b**2).sum()),
            (
                (d**2).sum() + (graph.data**2).sum(),
                (d * b).sum() + d @ (graph @ d) / total,
                (b**2).sum() + ((d**2).sum() ** 2 - (d**4).sum()) / total**2,
            ),
        )

    @classmethod
    def of_memberships(cls, P: NDArray[np.float64]) -> RatioForms:
        """A = Laplacian of P P' and B = that of the complete graph: the weighted Laplacian score, WLS / (1 + WLS)."""
        n = len(P)
        degrees = P @ P.sum(axis=0)
        own = (P**2).sum(axis=1)
        a = degrees - own
        trace = a.sum()
        gram = P.T @ P
        return cls(
            (trace, n * (n - 1.0)),
            ((a**2).sum(), (n - 1) * trace, n * (n - 1.0) ** 2),
            ((degrees**2).sum() - 2 * (degrees * own).sum() + (gram**2).sum(), n * trace, n**2 * (n - 1.0)),
        )

    def pvalues(self, X: Matrix, ratios: NDArray[np.float64], columns: Columns | None = None) -> NDArray[np.float64]:
        """Probability of a ratio this low under permutation, from a normal curve with the exact mean and variance.

        The curve is accurate in the middle, but its p-values are too small in the tail. So use it to screen features,
        not to decide. The p-value is 1 if the ratio is not finite.
        """
        out = np.ones(len(ratios))
        finite = np.isfinite(ratios)
        c = np.where(finite, ratios, 0.0)
        a, b = self.traces
        trace = a - c * b
        diagonal = self.diagonals[0] - 2 * c * self.diagonals[1] + c**2 * self.diagonals[2]
        entries = self.entries[0] - 2 * c * self.entries[1] + c**2 * self.entries[2]
        second, fourth, gram = feature_moments(X, columns)
        mean, variance = permutation_moments(second, fourth, X.shape[0], trace, diagonal, entries, gram)
        usable = finite & (variance > 0)
        out[usable] = stats.norm.cdf(-mean[usable] / np.sqrt(variance[usable]))
        return out


def column_moments(X: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Second and fourth central moments of every column, each column in units of its own spread."""
    second, fourth = [], []
    for start, stop in chunks(X.shape[1], 256):
        block = X[:, start:stop]
        f = np.array(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)
        f -= f[0]
        f -= f.mean(axis=0)
        largest = np.abs(f).max(axis=0)
        f /= np.where(largest > 0, largest, 1.0)
        second.append((f**2).mean(axis=0))
        fourth.append((f**4).mean(axis=0))
    return np.concatenate(second), np.concatenate(fourth)


def feature_moments(
    X: Matrix, columns: Columns | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]:
    r"""Moments of every feature in units of its own spread, with :math:`x_i` the values of row i in its columns.

    Mean of :math:`\|x_i\|^2`, mean of :math:`\|x_i\|^4`, and mean of :math:`(x_i \cdot x_j)^2` over all pairs (None if
    every feature is one column: then it is the square of the first).
    """
    second, fourth = column_moments(X)
    if columns is None or columns.is_plain:
        return second, fourth, None
    second, fourth = second[columns.starts], fourth[columns.starts]
    gram = second**2
    for feature in np.flatnonzero(columns.sizes > 1).tolist():
        f = np.array(X[:, columns.of(feature)], dtype=np.float64)
        f -= f[0]
        f -= f.mean(axis=0)
        largest = float(np.abs(f).max())
        f /= largest if largest > 0 else 1.0
        lengths = (f**2).sum(axis=1)
        second[feature], fourth[feature] = lengths.mean(), (lengths**2).mean()
        gram[feature] = ((f.T @ f / len(f)) ** 2).sum()
    return second, fourth, gram


def permutation_moments(
    second: NDArray[np.float64],
    fourth: NDArray[np.float64],
    n: int | NDArray[np.int64],
    trace: NDArray[np.float64] | float,
    diagonal_squares: NDArray[np.float64] | float,
    squares: NDArray[np.float64] | float,
    gram: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
    mean = trace * second * n / (n - 1)
    if gram is not None:
        crossed = n * gram
        expected_square = (
            g2 * fourth
            + 4 * g2 * fourth / (n - 1)
            + ((t2 - g2) * (pairs - fourth) + 2 * (s2 - g2) * (crossed - fourth)) / (n - 1)
            + (2 * (2 * g2 - t2) * (2 * fourth - pairs) + 4 * (2 * g2 - s2) * (2 * fourth - crossed))
            / ((n - 1) * triples)
            + (t2 + 2 * s2 - 6 * g2) * (pairs + 2 * crossed - 6 * fourth) / ((n - 1) * triples * fours)
        )
        return mean, np.maximum(expected_square - mean**2, 0.0)
    expected_square = (
        g2 * fourth
        + 4 * g2 * fourth / (n - 1)
        + (t2 - 3 * g2 + 2 * s2) * (pairs - fourth) / (n - 1)
        + (12 * g2 - 2 * t2 - 4 * s2) * (2 * fourth - pairs) / ((n - 1) * triples)
        + (t2 + 2 * s2 - 6 * g2) * (3 * pairs - 6 * fourth) / ((n - 1) * triples * fours)
    )
    return mean, np.maximum(expected_square - mean**2, 0.0)


class GraphNull:
    """The Laplacian ratio of every feature with shuffled rows, on a graph that does not depend on the features."""

    lower_is_better = True
    features_are_independent = True

    def __init__(
        self,
        graph: sparse.csr_array,
        X: Matrix,
        groups: NDArray[np.int64] | None = None,
        columns: Columns | None = None,
    ) -> None:
        self.graph = graph
        self.X = X
        self._columns = None if columns is None or columns.is_plain else columns
        self._groups = groups  # rows change places only within them
        self.scores = laplacian_ratio(graph, X, self._columns)

    def screen(self) -> NDArray[np.float64] | None:
        if self._groups is not None:
            return None
        return RatioForms.of_laplacian(self.graph).pvalues(self.X, self.scores, self._columns)

    def draw(self, rng: np.random.Generator, features: NDArray[np.int64]) -> NDArray[np.float64]:
        groups, columns = self._groups, self._columns
        order = rng.permutation(self.X.shape[0]) if groups is None else shuffled_within(groups, rng)
        if columns is None:
            return laplacian_ratio(self.graph, self.X[:, features][order])
        return laplacian_ratio(self.graph, self.X[:, columns.of_all(features)][order], columns.only(features))
