"""Literal, slow, obvious versions of the papers' formulas; the fast paths are compared with them.

Nothing here is shared with the package: loops and n x n arrays as printed.
"""

from __future__ import annotations

import math

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


# --- Pairs (CSFS paper: equations 1 to 10, figure 2; SPEC; the closure of pairs) ------------------------------


def all_pairs(codes):
    """Every must-link and cannot-link that follows from classes; -1 is unlabelled."""
    must_link, cannot_link = [], []
    for i in range(len(codes)):
        for j in range(i + 1, len(codes)):
            if codes[i] >= 0 and codes[j] >= 0:
                (must_link if codes[i] == codes[j] else cannot_link).append((i, j))
    return must_link, cannot_link


def pair_closure(must_link, cannot_link):
    """Every pair that follows from the given ones, by repeating the two rules until nothing is new."""
    together = {tuple(sorted(pair)) for pair in must_link if pair[0] != pair[1]}
    apart = {tuple(sorted(pair)) for pair in cannot_link}
    while True:
        new_together, new_apart = set(), set()
        for a, b in together:
            for one, shared in ((a, b), (b, a)):
                for c, d in together:
                    if shared in (c, d):
                        other = d if shared == c else c
                        if other != one:
                            new_together.add(tuple(sorted((one, other))))
                for c, d in apart:
                    if shared in (c, d):
                        other = d if shared == c else c
                        new_apart.add(tuple(sorted((one, other))))
        if new_together <= together and new_apart <= apart:
            return sorted(together), sorted(apart)
        together |= new_together
        apart |= new_apart


def constraint_score(X, must_link, cannot_link, must_link_weights=None, cannot_link_weights=None):
    """Equation 3; the worst score where the cannot-links leave no spread."""
    must_link_weights = [1.0] * len(must_link) if must_link_weights is None else must_link_weights
    cannot_link_weights = [1.0] * len(cannot_link) if cannot_link_weights is None else cannot_link_weights
    scores = []
    for r in range(X.shape[1]):
        f = [float(value) for value in X[:, r]]
        above = sum(w * (f[i] - f[j]) ** 2 for (i, j), w in zip(must_link, must_link_weights, strict=True))
        below = sum(w * (f[i] - f[j]) ** 2 for (i, j), w in zip(cannot_link, cannot_link_weights, strict=True))
        scores.append(above / below if below > 0 else math.inf)
    return np.array(scores)


def projected_overlap(X, segment, line):
    """Project the segment on the line of two rows; the length of it that falls between those two rows."""
    p, q = (np.asarray(X[row], dtype=float) for row in segment)
    a, b = (np.asarray(X[row], dtype=float) for row in line)
    direction = b - a
    length = math.sqrt(float(np.sum(direction**2)))
    if length == 0:
        return 0.0
    at = sorted([float(np.sum((p - a) * direction)) / length, float(np.sum((q - a) * direction)) / length])
    return max(0.0, min(at[1], length) - max(at[0], 0.0))


def diameter(X, pairs):
    rows = sorted({row for pair in pairs for row in pair})
    return max((math.dist(X[i], X[j]) for i in rows for j in rows), default=0.0)


def overlaps_nowhere(X, segment, line, scale):
    return projected_overlap(X, segment, line) <= 1e-12 * scale


def coherence(X, must_link, cannot_link):
    """Equations 5 and 6; a constraint that nothing could oppose is coherent."""
    scale = diameter(X, [*must_link, *cannot_link])

    def share(constraint, others):
        return float(np.mean([overlaps_nowhere(X, constraint, o, scale) for o in others])) if others else 1.0

    return (
        np.array([share(m, cannot_link) for m in must_link]),
        np.array([share(c, must_link) for c in cannot_link]),
    )


def select_hard(X, must_link, cannot_link):
    """Figure 2."""
    of_must_link, of_cannot_link = coherence(X, must_link, cannot_link)
    return (
        [m for m, value in zip(must_link, of_must_link, strict=True) if value == 1],
        [c for c, value in zip(cannot_link, of_cannot_link, strict=True) if value == 1],
    )


def select_soft(X, must_link, cannot_link, order):
    """The paper's outlook: take constraints in an order, reject what opposes one already taken.

    ``order`` counts the must-links first, then the cannot-links.
    """
    scale = diameter(X, [*must_link, *cannot_link])
    kept_must_link, kept_cannot_link = [], []
    for position in order:
        is_must_link = position < len(must_link)
        pair = must_link[position] if is_must_link else cannot_link[position - len(must_link)]
        others = kept_cannot_link if is_must_link else kept_must_link
        if all(overlaps_nowhere(X, pair, o, scale) and overlaps_nowhere(X, o, pair, scale) for o in others):
            (kept_must_link if is_must_link else kept_cannot_link).append(pair)
    return sorted(kept_must_link), sorted(kept_cannot_link)


def mean_squared_distance(X):
    """Over all pairs of different rows."""
    n = len(X)
    return float(np.mean([np.sum((X[i] - X[j]) ** 2) for i in range(n) for j in range(n) if i != j]))


def constrained_laplacian_score(X, neighbors, must_link, cannot_link, lam, scale):
    """Equations 7 to 10, the denominator read so that without pairs it is that of equation 1.

    ``neighbors[i][j]``: whether two rows are neighbours; ``must_link``, ``cannot_link``: weight of each pair.
    """
    X = np.asarray(X, dtype=float)
    n = len(X)
    unit = mean_squared_distance(X) if scale == "mean" else 1.0
    w = np.array([[math.exp(-np.sum((X[i] - X[j]) ** 2) / unit / lam) for j in range(n)] for i in range(n)])
    S, N, C = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            together = max(must_link.get((i, j), 0.0), must_link.get((j, i), 0.0))
            apart = max(cannot_link.get((i, j), 0.0), cannot_link.get((j, i), 0.0))
            near = i != j and neighbors[i][j]
            S[i, j] = w[i, j] if near else 0.0
            if near:
                N[i, j] = together * w[i, j] + apart * w[i, j] ** 2
            else:
                N[i, j] = together * w[i, j] ** 2
            C[i, j] = apart
    D = S.sum(axis=1)
    scores = []
    for r in range(X.shape[1]):
        f = X[:, r]
        mu = f.mean()
        above = sum((f[i] - f[j]) ** 2 * (S[i, j] + N[i, j]) for i in range(n) for j in range(n))
        below = sum(D[i] * ((f[i] - mu) ** 2 + sum(C[i, j] * (f[i] - f[j]) ** 2 for j in range(n))) for i in range(n))
        scores.append(above / below if below > 0 else math.inf)
    return np.array(scores)


def paper_laplacian_score(X, neighbors, lam):
    """Equation 1: the double sum over the D-weighted spread around the plain mean."""
    return constrained_laplacian_score(X, neighbors, {}, {}, lam, "none")


def spec_score(X, graph, function, power, n_eigenvectors=None):
    """Zhao and Liu's three functions, by the full spectrum of the normalised Laplacian."""
    degree = graph.sum(axis=1)
    root = np.sqrt(degree)
    inverse = np.array([1 / value if value > 0 else 0.0 for value in root])
    normalised = np.diag((degree > 0).astype(float)) - inverse[:, None] * graph * inverse[None, :]
    values, vectors = np.linalg.eigh(normalised)
    trivial = root / np.linalg.norm(root)
    scores = []
    for r in range(X.shape[1]):
        f = root * X[:, r]
        f = f / np.linalg.norm(f)
        alpha = vectors.T @ f
        smooth = float(np.sum(alpha**2 * values**power))
        if function == 1:
            scores.append(smooth)
        elif function == 2:
            scores.append(smooth / (1 - float(f @ trivial) ** 2))
        else:
            gain = sum((2**power - values[j] ** power) * alpha[j] ** 2 for j in range(n_eigenvectors))
            scores.append(gain - 2**power * float(f @ trivial) ** 2)
    return np.array(scores)
