"""Tests of whether a feature is related to the target: linearly, or along any smooth curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dubio._kernels.smooth import shuffled_smooth_errors, smooth_errors
from dubio._kernels.threads import chunks, resolve_threads, run_chunks
from dubio.errors import InputError, counted
from dubio.graphs.targets import target_graph
from dubio.problem import Problem
from dubio.seeds import generator
from dubio.significance.graph_null import GraphNull, column_moments, permutation_moments
from dubio.significance.multiple import cauchy_combination
from dubio.significance.permutation import permutation_pvalues
from dubio.supervision import Numbers

#: Number of columns that one thread handles at a time.
_COLUMNS = 16
#: Permutations per kernel call; each chunk has its own generator, so the number of threads does not matter.
_CHUNK = 64
#: Minimum number of permutations, and the limit on the work (rows x columns of the target x permutations).
_FEWEST, _WORK = 999, 4e8


@dataclass(frozen=True)
class FeatureTests:
    """p-values of every feature: combined, and for each test by name."""

    pvalues: NDArray[np.float64]
    parts: dict[str, NDArray[np.float64]]


def relation_pvalues(
    problem: Problem, *, alpha: float = 0.05, random_state: int = 0, n_jobs: int | None = None
) -> FeatureTests:
    """Test whether each feature is related to the target, linearly or along any smooth curve.

    There are two tests: a linear test with a closed-form null (analysis of variance for classes, its soft form for
    memberships, correlation for numbers), and the rank-smooth R2 with one permutation null for all features. For
    numbers, the supervised Laplacian score is a third test. :func:`~dubio.significance.cauchy_combination` combines the
    p-values.
    """
    parts = {
        "linear": linear_pvalues(problem),
        "smooth": smooth_pvalues(problem, alpha=alpha, random_state=random_state, n_jobs=n_jobs),
    }
    if isinstance(problem.supervision, Numbers):
        known = problem.supervision.labelled
        target = problem.supervision.target_matrix(known)[:, 0]
        null = GraphNull(target_graph(target, n_neighbors=min(5, len(target) - 1)), problem.X[known])
        parts["graph"] = permutation_pvalues(null, alpha=alpha, random_state=random_state, n_jobs=n_jobs)
    return FeatureTests(cauchy_combination(*parts.values()), parts)


def smooth_r2(problem: Problem, *, random_state: Any = 0, n_jobs: int | None = None) -> NDArray[np.float64]:
    """:func:`smooth_r2_score` of a problem."""
    X, supervision = problem.X, problem.supervision
    known = np.flatnonzero(supervision.labelled)
    # Shuffled rows and a stable sort: ties are in a random order, the same for every feature.
    known = known[generator(random_state).permutation(len(known))]
    target = np.ascontiguousarray(supervision.target_matrix(known))
    half = half_window(len(known))
    total = leave_one_out_total(target)

    def work(start: int, stop: int) -> NDArray[np.float64]:
        columns = np.ascontiguousarray(X[known, start:stop].T)
        errors = np.empty(stop - start)
        smooth_errors(target, np.argsort(columns, axis=1, kind="stable"), half, errors)
        return np.where((columns == columns[:, :1]).all(axis=1), -np.inf, 1.0 - errors / total)

    return np.concatenate(run_chunks(work, chunks(X.shape[1], _COLUMNS), resolve_threads(n_jobs)))


def linear_r2(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """:func:`linear_r2_score` of a problem, and the basis of its target with one column per degree of freedom."""
    X, known = problem.X, problem.supervision.labelled
    basis = orthonormal_basis(problem.supervision.target_matrix(known))
    scores = np.zeros(X.shape[1])
    for start, stop in chunks(X.shape[1], 256):
        block = np.array(X[known, start:stop], dtype=np.float64)
        block -= block[0]  # makes a constant column exactly zero
        block -= block.mean(axis=0)
        total = np.einsum("ij,ij->j", block, block)
        explained = ((basis.T @ block) ** 2).sum(axis=0)
        np.divide(explained, total, out=scores[start:stop], where=total > 0)
    return np.minimum(scores, 1.0), basis


def linear_pvalues(problem: Problem) -> NDArray[np.float64]:
    r"""Test of :func:`~dubio.linear_r2_score` with a closed-form null; 1 if there are too few labelled rows.

    Under the normal law :math:`R^2 \sim \mathrm{Beta}(r/2, (n-1-r)/2)`, which is the F-test. If the feature has a heavy
    tail and a class is small, its p-values are too small. So the Beta law gets the variance of :math:`R^2` over all
    permutations, which is known in closed form (the mean is already the same). Box and Andersen [1]_ did this for two
    samples.

    References
    ----------
    .. [1] G. Box and S. Andersen (1955). Permutation theory in the derivation of robust criteria and the study of
       departures from assumption. Journal of the Royal Statistical Society B 17.
    """
    supervision = problem.supervision
    scores, basis = linear_r2(problem)
    n, rank = supervision.n_labelled, basis.shape[1]
    if n - 1 - rank <= 0 or n < 4:
        return np.ones(len(scores))
    leverage = (basis**2).sum(axis=1)
    second, fourth = column_moments(problem.X[supervision.labelled])
    varies = second > 0
    mean = rank / (n - 1)
    _, variance = permutation_moments(second, fourth, n, rank, float((leverage**2).sum()), rank)
    variance = np.divide(variance, (n * second) ** 2, out=np.full(len(scores), np.inf), where=varies)
    # no Beta law has a variance of zero, or one above that of a coin toss
    strength = np.clip(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-3, 1e9)
    pvalues = stats.beta.sf(scores, mean * strength, (1 - mean) * strength)
    return np.where(varies, pvalues, 1.0)


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
    if scores is None:
        scores = smooth_r2(problem, random_state=random_state, n_jobs=n_jobs)
    target = np.ascontiguousarray(problem.supervision.target_matrix(problem.supervision.labelled))
    count = smooth_permutations(*target.shape, n_features=len(scores), alpha=alpha)
    null = smooth_null(target, count, random_state=random_state, n_jobs=n_jobs)
    null.sort()
    # a permutation with the same order as the feature must count as equal, in spite of rounding
    reached = count - np.searchsorted(null, scores - 1e-12 * np.maximum(np.abs(scores), 1.0))
    return np.where(np.isneginf(scores), 1.0, (1.0 + reached) / (1.0 + count))


def smooth_null(
    target: NDArray[np.float64], count: int, *, random_state: int = 0, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Smooth R2 of ``count`` random orders of the rows of a centred target."""
    total = leave_one_out_total(target)
    half = half_window(len(target))

    def work(start: int, stop: int) -> NDArray[np.float64]:
        out = np.empty(stop - start)
        shuffled_smooth_errors(target, half, np.random.default_rng([random_state, 1, start]), out)
        return out

    errors = np.concatenate(run_chunks(work, chunks(count, _CHUNK), resolve_threads(n_jobs)))
    return 1.0 - errors / total


def smooth_permutations(n_rows: int, width: int, *, n_features: int, alpha: float) -> int:
    """Ten times the permutations that a single feature needs to pass Benjamini-Hochberg, within a limit on the work."""
    affordable = _WORK / (n_rows * (width + 2))
    return int(max(_FEWEST, min(10 * n_features / alpha, affordable)))


def half_window(n_rows: int) -> int:
    """Number of neighbours on each side: a sixteenth of the rows, at least four."""
    return max(4, n_rows // 16)


def leave_one_out_total(target: NDArray[np.float64]) -> float:
    """Sum of squared errors when each row is predicted by the mean of all other rows, for a centred target."""
    n = len(target)
    total = float((target**2).sum()) * (n / (n - 1)) ** 2
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
