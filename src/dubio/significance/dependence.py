"""Is a feature related to the target at all? Tests of the linear and of the smooth relation, and of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dubio._kernels.smooth import shuffled_smooth_errors
from dubio._kernels.threads import chunks, resolve_threads, run_chunks
from dubio.graphs.targets import target_graph
from dubio.scores.dependence import (
    half_window,
    leave_one_out_total,
    linear_r2,
    orthonormal_basis,
    smooth_r2,
    target_matrix,
)
from dubio.significance.graphs import GraphNull, column_moments, permutation_moments
from dubio.significance.multiple import cauchy_combination
from dubio.significance.permutation import permutation_pvalues
from dubio.supervision import Supervision
from dubio.table import Matrix

#: Permutations of one kernel call; each chunk has its own generator, so threads do not matter.
_CHUNK = 64
#: Fewest permutations, and the work (rows x columns of the target x permutations) beyond which there are no more.
_FEWEST, _WORK = 999, 4e8


@dataclass(frozen=True)
class FeatureTests:
    """p-values of every feature: the combined ones, and each test by name."""

    pvalues: NDArray[np.float64]
    parts: dict[str, NDArray[np.float64]]


def relation_pvalues(
    X: Matrix, supervision: Supervision, *, alpha: float = 0.05, random_state: int = 0, n_jobs: int | None = None
) -> FeatureTests:
    """Test whether each feature is related to the target, linearly or along any smooth curve.

    A linear test with a closed null (analysis of variance for classes, its soft form for memberships, correlation
    for numbers) and the rank-smooth R2 with one permutation null for all features; for numbers the supervised
    Laplacian score too. The p-values are joined by :func:`cauchy_combination`. Validated data only.
    """
    parts = {
        "linear": linear_pvalues(X, supervision),
        "smooth": smooth_pvalues(X, supervision, alpha=alpha, random_state=random_state, n_jobs=n_jobs),
    }
    if supervision.kind == "numbers":
        known = supervision.labelled
        target = target_matrix(supervision, known)[:, 0]
        null = GraphNull(target_graph(target, n_neighbors=min(5, len(target) - 1)), X[known])
        parts["graph"] = permutation_pvalues(null, alpha=alpha, random_state=random_state, n_jobs=n_jobs)
    return FeatureTests(cauchy_combination(*parts.values()), parts)


def linear_pvalues(X: Matrix, supervision: Supervision) -> NDArray[np.float64]:
    r"""Test of :func:`~dubio.linear_r2_score` with a closed null; 1 where the labelled rows are too few for it.

    Under the normal law :math:`R^2 \sim \mathrm{Beta}(r/2, (n-1-r)/2)`, which is the F-test. A heavy tail of the
    feature together with a small class makes that too bold. So the variance of the Beta law is made that of
    :math:`R^2` over all permutations, which is known in closed form (its mean is the same), as Box and Andersen [1]_
    did for two samples.

    References
    ----------
    .. [1] G. Box and S. Andersen (1955). Permutation theory in the derivation of robust criteria and the study of
       departures from assumption. Journal of the Royal Statistical Society B 17.
    """
    known = supervision.labelled
    scores, rank = linear_r2(X, supervision)
    n = supervision.n_labelled
    if n - 1 - rank <= 0 or n < 4:
        return np.ones(len(scores))
    basis = orthonormal_basis(target_matrix(supervision, known))
    leverage = (basis**2).sum(axis=1)
    second, fourth = column_moments(X[known])
    varies = second > 0
    mean = rank / (n - 1)
    _, variance = permutation_moments(second, fourth, n, rank, float((leverage**2).sum()), rank)
    variance = np.divide(variance, (n * second) ** 2, out=np.full(len(scores), np.inf), where=varies)
    # a variance beyond that of a coin toss, or of nothing, has no Beta law
    strength = np.clip(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-3, 1e9)
    pvalues = stats.beta.sf(scores, mean * strength, (1 - mean) * strength)
    return np.where(varies, pvalues, 1.0)


def smooth_pvalues(
    X: Matrix,
    supervision: Supervision,
    *,
    scores: NDArray[np.float64] | None = None,
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Permutation test of :func:`~dubio.smooth_r2_score`: one null, of all permutations, serves every feature.

    The score depends on the order a feature puts the rows in and on nothing else; without a relation every order is
    as likely as any other. So the null is drawn once, with as many permutations as the number of features calls for.
    """
    if scores is None:
        scores = smooth_r2(X, supervision, random_state=random_state, n_jobs=n_jobs)
    target = np.ascontiguousarray(target_matrix(supervision, supervision.labelled))
    count = smooth_permutations(*target.shape, n_features=len(scores), alpha=alpha)
    null = smooth_null(target, count, random_state=random_state, n_jobs=n_jobs)
    null.sort()
    # a permutation that gives the very order of the feature must count as equal, whatever the rounding
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
    """Enough that one lone feature could pass Benjamini-Hochberg ten times over, within a bound on the work."""
    affordable = _WORK / (n_rows * (width + 2))
    return int(max(_FEWEST, min(10 * n_features / alpha, affordable)))
