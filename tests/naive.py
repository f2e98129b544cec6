"""Literal, slow, obvious versions of the papers' formulas; the fast paths are compared with them.

Nothing here is shared with the package: loops and n x n arrays as printed.
"""

from __future__ import annotations

import numpy as np

# --- The Laplacian family (WLS paper, equations 1-5; SSLS paper, equations 1-4 and 10-11) -----------------------


def laplacian_quotient(S, f):
    """f~'Lf~ / f~'Df~ with f~ = f - (f'D1 / 1'D1) 1; inf for a feature that does not vary over the graph."""
    n = len(S)
    D = np.diag(S.sum(axis=1))
    L = D - S
    one = np.ones(n)
    if np.ptp(f[S.sum(axis=1) > 0]) == 0:
        return np.inf
    f = f - (f @ D @ one) / (one @ D @ one) * one
    return (f @ L @ f) / (f @ D @ f)


def nearest(distances, i, k):
    """The k rows nearest to row i, itself not counted; of equal distances the lowest index."""
    others = [j for j in range(len(distances)) if j != i]
    return sorted(others, key=lambda j: (distances[i, j], j))[:k]


def close_pairs(distances, k, symmetry="or"):
    """0/1 matrix: i and j are close if one (or each) is among the k nearest of the other."""
    n = len(distances)
    chosen = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in nearest(distances, i, k):
            chosen[i, j] = True
    return chosen | chosen.T if symmetry == "or" else chosen & chosen.T


def squared_distances(X):
    n = len(X)
    return np.array([[((X[i] - X[j]) ** 2).sum() for j in range(n)] for i in range(n)])


def laplacian_score(X, k=5, t=1.0, kernel="squared", symmetry="or"):
    squared = squared_distances(X)
    exponent = squared if kernel == "squared" else np.sqrt(squared)
    S = np.where(close_pairs(squared, k, symmetry), np.exp(-exponent / t), 0.0)
    return np.array([laplacian_quotient(S, f) for f in X.T])


def supervised_laplacian_score(X, y, k=5, t=1.0):
    known = ~np.isnan(y)
    X, y = X[known], y[known]
    distances = np.abs(y[:, None] - y[None, :])
    S = np.where(close_pairs(distances, k), np.exp(-(distances**2) / t), 0.0)
    return np.array([laplacian_quotient(S, f) for f in X.T])


def semi_supervised_laplacian_score(X, y, k=30, k_supervised=5, t=1.0, C=1.0):
    n, d = X.shape
    squared = np.zeros((n, n))
    factor = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            if not np.isnan(y[i]) and not np.isnan(y[j]):
                squared[i, j] = (y[i] - y[j]) ** 2
                factor[i, j] = C
            else:
                squared[i, j] = ((X[i] - X[j]) ** 2).sum() / d
    S = np.where(close_pairs(squared, k), factor * np.exp(-squared / t), 0.0)
    mixed = np.array([laplacian_quotient(S, f) for f in X.T])
    return mixed * supervised_laplacian_score(X, y, k_supervised, t)


def weighted_laplacian_score(X, P, weights=None):
    n = len(X)
    w = np.ones(n) if weights is None else weights
    scores = []
    for f in X.T:
        similar = different = 0.0
        for i in range(n):
            for j in range(n):
                s = float(P[i] @ P[j])
                similar += w[i] * w[j] * s * (f[i] - f[j]) ** 2
                different += w[i] * w[j] * (1 - s) * (f[i] - f[j]) ** 2
        scores.append(similar / different if different > 0 else np.inf)
    return np.array(scores)


def fisher_score(X, y):
    scores = []
    for f in X.T:
        between = sum((y == k).sum() * (f[y == k].mean() - f.mean()) ** 2 for k in set(y))
        within = sum((y == k).sum() * f[y == k].var() for k in set(y))
        scores.append(between / within)
    return np.array(scores)
