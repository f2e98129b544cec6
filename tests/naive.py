"""Literal, slow and simple versions of the papers' formulas, for comparison with the fast code.

Nothing here is shared with the package: only loops and n x n arrays, as printed.
"""

from __future__ import annotations

import itertools
import math
import statistics
from statistics import NormalDist

import numpy as np
from scipy import stats
from scipy.special import digamma, gammaln
from scipy.stats import f as f_law

# --- The Laplacian family (WLS paper, equations 1-5; SSLS paper, equations 1-4 and 10-11) -----------------------


def laplacian_quotient(S, f):
    """f~'Lf~ / f~'Df~ with f~ = f - (f'D1 / 1'D1) 1; inf for a feature that does not vary on the graph."""
    n = len(S)
    D = np.diag(S.sum(axis=1))
    L = D - S
    one = np.ones(n)
    if np.ptp(f[S.sum(axis=1) > 0]) == 0:
        return np.inf
    f = f - (f @ D @ one) / (one @ D @ one) * one
    return (f @ L @ f) / (f @ D @ f)


def nearest(distances, i, k):
    """The k rows nearest to row i, without row i; among equal distances, the lowest index first."""
    others = [j for j in range(len(distances)) if j != i]
    return sorted(others, key=lambda j: (distances[i, j], j))[:k]


def close_pairs(distances, k, symmetry="or"):
    """0/1 matrix: i and j are close if one is among the k nearest of the other ("or"), or both are ("and")."""
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
    near = close_pairs(distances, k)
    if len(set(y.tolist())) < len(y):  # equal numbers: all rows as near as the k-th are neighbours
        near = np.zeros((len(y), len(y)), dtype=bool)
        for i in range(len(y)):
            others = [j for j in range(len(y)) if j != i]
            limit = sorted(distances[i, j] for j in others)[min(k, len(others)) - 1]
            for j in others:
                near[i, j] = distances[i, j] <= limit
        near = near | near.T
    S = np.where(near, np.exp(-(distances**2) / t), 0.0)
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
    """Every pair that follows from the given ones: repeat the two rules until no new pair appears."""
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
    """Equation 3; the worst score if a feature has no spread over the cannot-links."""
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
    """Project the segment on the line through two rows; return the length of the part between these two rows."""
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
    """Equations 5 and 6; a constraint is coherent if there is no constraint of the other kind."""
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
    """The paper's outlook: take constraints in an order, and reject each one that opposes one already taken.

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
    """Equations 7 to 10; the denominator is read so that without pairs it equals that of equation 1.

    ``neighbors[i][j]``: whether two rows are neighbours; ``must_link``, ``cannot_link``: the weight of each pair.
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
    """Equation 1: the double sum divided by the D-weighted spread around the plain mean."""
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


# --- Fuzzy-rough selection (ssFRFS paper, equations 6-11, Theorem 1 and Algorithm 1) ------------------------------


def fuzzy_similarity(column, nominal=False, similarity="std"):
    """R_a(x, y) for all pairs; a missing value has similarity 1 to any value, two different categories have 0."""
    n = len(column)
    known = column[~np.isnan(column)]
    R = np.ones((n, n))
    for x in range(n):
        for y in range(n):
            a, b = column[x], column[y]
            if np.isnan(a) or np.isnan(b) or a == b:
                continue
            if nominal:
                R[x, y] = 0.0
            elif similarity == "gaussian":
                R[x, y] = np.exp(-((a - b) ** 2) / (2 * np.var(known, ddof=1)))
            else:
                width = np.std(known, ddof=1) if similarity == "std" else known.max() - known.min()
                R[x, y] = max(0.0, 1.0 - abs(a - b) / width)
    return R


FUZZY_T_NORMS = {
    "lukasiewicz": lambda a, b: max(0.0, a + b - 1.0),
    "minimum": lambda a, b: min(a, b),
    "product": lambda a, b: a * b,
}
FUZZY_IMPLICATORS = {
    "lukasiewicz": lambda a, b: min(1.0, 1.0 - a + b),
    "kleene-dienes": lambda a, b: max(1.0 - a, b),
    "reichenbach": lambda a, b: 1.0 - a + a * b,
    "goedel": lambda a, b: 1.0 if a <= b else b,
    "goguen": lambda a, b: 1.0 if a <= b else b / a,
}


def fuzzy_classes(y):
    """The fuzzy sets whose lower approximations make up the positive region, each as a list of memberships.

    ``y`` holds codes (-1 is unlabelled) or memberships (a row of NaN or zeros is unlabelled). Every unlabelled row
    is its own class (Section 3).
    """
    y = np.asarray(y)
    n = len(y)
    if y.ndim == 1:
        sets = [[1.0 if y[i] == c else 0.0 for i in range(n)] for c in sorted(set(y[y >= 0]))]
        unlabelled = [i for i in range(n) if y[i] < 0]
    else:
        P = np.nan_to_num(y)
        sets = [[P[i, c] for i in range(n)] for c in range(P.shape[1])]
        unlabelled = [i for i in range(n) if P[i].sum() == 0]
    return sets + [[1.0 if i == u else 0.0 for i in range(n)] for u in unlabelled]


def fuzzy_positive_region(
    relations, features, y, numeric=False, t_norm="lukasiewicz", implicator="lukasiewicz", D=None
):
    """POS_B of every row; ``D`` is the similarity in a numeric target (0 to an unlabelled row)."""
    T, implies = FUZZY_T_NORMS[t_norm], FUZZY_IMPLICATORS[implicator]
    n = len(y)
    R = np.ones((n, n))
    for a in features:
        for x in range(n):
            for z in range(n):
                R[x, z] = T(R[x, z], relations[a][x, z])
    if numeric:
        return np.array([min(implies(R[x, z], D[x, z]) for z in range(n)) for x in range(n)])
    region = np.zeros(n)
    for members in fuzzy_classes(y):
        for x in range(n):
            region[x] = max(region[x], min(implies(R[x, z], members[z]) for z in range(n)))
    return region


def fuzzy_decision_similarity(values, similarity="std"):
    D = fuzzy_similarity(values, similarity=similarity)
    for i in range(len(values)):
        if np.isnan(values[i]):
            D[i, :] = D[:, i] = 0.0
            D[i, i] = 1.0
    return D


def _is_constant(column):
    return len({value for value in column if not np.isnan(value)}) <= 1


def fuzzy_rough_search(
    X, y, nominal=None, weights=None, numeric=False, similarity="std", t_norm="lukasiewicz", implicator="lukasiewicz"
):
    """Algorithm 1: returns the features in order, gamma after each feature, and gamma of all features."""
    n, d = X.shape
    nominal = np.zeros(d, dtype=bool) if nominal is None else nominal
    weights = np.ones(n) if weights is None else weights
    relations = [fuzzy_similarity(X[:, j], nominal[j], similarity) for j in range(d)]
    D = fuzzy_decision_similarity(y, similarity) if numeric else None

    def gamma(features):
        region = fuzzy_positive_region(relations, features, y, numeric, t_norm, implicator, D)
        return sum(weights * region) / sum(weights)

    gamma_all = gamma(range(d))
    chosen, path, now = [], [], gamma([])
    while abs(now - gamma_all) > 1e-9:
        values = {a: gamma([*chosen, a]) for a in range(d) if a not in chosen}
        now = max(values.values())
        equal = [a for a in values if values[a] >= now - 1e-9]
        best = min(equal, key=lambda a: (_is_constant(X[:, a]), a))  # of equal features, constant ones come last
        chosen.append(best)
        path.append(values[best])
    return chosen, path, gamma_all


# --- Label-noise-tolerant mutual information (LNT paper, equations 5, 6, 15-19, 24-29, Algorithms 1 and 2) ---------


def neighbour_order(X, i):
    """The other rows in order of their distance to row i (ties by index), and the distances of all rows."""
    distances = np.sqrt(((X - X[i]) ** 2).sum(axis=1))
    others = [j for j in np.argsort(distances, kind="stable") if j != i]
    return others, distances


def log_unit_ball(d):
    """Log volume of a ball of diameter 1 (epsilon is a diameter)."""
    return d / 2 * np.log(np.pi) - gammaln(d / 2 + 1) - d * np.log(2.0)


def knn_entropy(X, k=8):
    """Equation 5, with the volume of the ball in place of the printed surface."""
    n, d = X.shape
    total = 0.0
    for i in range(n):
        others, distances = neighbour_order(X, i)
        total += np.log(2 * distances[others[k - 1]])
    return digamma(n) - digamma(k) + log_unit_ball(d) + d / n * total


def mutual_information(X, y, k=8):
    """Equations 5 and 7: H(X) - sum_y p(y) H(X | Y = y); the same as equation 6 if every class has more than k rows."""
    value = knn_entropy(X, k)
    for c in np.unique(y):
        own = X[y == c]
        value -= len(own) / len(X) * knn_entropy(own, min(k, len(own) - 1))
    return value


def grow_balls(X, gamma, k, slack, include_self=False):
    """Algorithm 1: diameters and sums of memberships.

    Without ``include_self`` the row itself is left out of the order. A ball grows until the sum over the other rows
    reaches min(k, available) - min(slack, available / 2), up to rounding; with ``include_self``, the row has its share
    in k and in the sum.
    """
    n, n_classes = gamma.shape
    diameters, sums = np.zeros((n, n_classes)), np.zeros((n, n_classes))
    for s in range(n_classes):
        for i in range(n):
            others, distances = neighbour_order(X, i)
            available = gamma[:, s].sum() - gamma[i, s]
            own = gamma[i, s] if include_self else 0.0
            target = (min(k - own, available) - min(slack, available / 2)) * (1 - 1e-9)
            count, total = 1, gamma[others[0], s]
            while total < target:
                total += gamma[others[count], s]
                count += 1
            diameters[i, s] = 2 * distances[others[count - 1]]
            sums[i, s] = total + own
    return diameters, sums


def log_densities(X, gamma, k, slack=0.0, include_self=False):
    """Equation 15."""
    d = X.shape[1]
    diameters, sums = grow_balls(X, gamma, k, slack, include_self)
    return digamma(sums) - digamma(gamma.sum(axis=0)) - log_unit_ball(d) - d * np.log(diameters)


def noise_tolerant_mutual_information(X, gamma, k=8, slack=0.5, include_self=False):
    """Equations 15 to 19."""
    n = len(X)
    densities = log_densities(X, gamma, k, slack, include_self)
    value = knn_entropy(X, k)
    for s in range(gamma.shape[1]):
        total = gamma[:, s].sum()
        entropy = -(gamma[:, s] * densities[:, s]).sum() / total
        value -= total / n * entropy
    return value


def label_likelihood(codes, rates):
    """Equation 20 for every row and true class; 1 for a row without a label. ``rates`` may be a whole matrix."""
    n_classes = len(rates)
    likelihood = np.ones((len(codes), n_classes))
    for i, y in enumerate(codes):
        for s in range(n_classes):
            if y >= 0 and np.ndim(rates) == 2:
                likelihood[i, s] = rates[s, y]
            elif y >= 0:
                likelihood[i, s] = 1 - rates[s] if y == s else rates[s] / (n_classes - 1)
    return likelihood


def posterior(densities, codes, rates, priors):
    """Equation 26 in log space with memberships of at least 1e-12, and the sum of the logs of its denominators (24)."""
    gamma = np.zeros(densities.shape)
    evidence = 0.0
    likelihood = label_likelihood(codes, rates)
    for i in range(len(gamma)):
        joint = densities[i] + np.log(likelihood[i]) + np.log(priors)
        top = joint.max()
        total = np.exp(joint - top).sum()
        gamma[i] = np.maximum(np.exp(joint - top) / total, 1e-12)
        gamma[i] /= gamma[i].sum()
        evidence += top + np.log(total)
    return gamma, evidence


def estimate_memberships(
    X, codes, random_state, k=3, n_init=5, max_iter=50, tol=1e-3, include_self=False, matrix=False
):
    """Section 4.3: the memberships, error rates, priors and objectives of the best of ``n_init`` restarts."""
    n, n_classes = len(X), codes.max() + 1
    labelled = codes >= 0
    label_priors = np.array([(codes[labelled] == s).mean() for s in range(n_classes)])
    starts = random_state.uniform(0.0, 0.5, size=(n_init, n_classes))
    best = None
    for start in starts:
        rates, priors = np.maximum(start, 1e-6), label_priors
        gamma, _ = posterior(np.zeros((n, n_classes)), codes, rates, priors)
        objectives = []
        for _ in range(max_iter):
            gamma, evidence = posterior(log_densities(X, gamma, k, 0.0, include_self), codes, rates, priors)
            objectives.append(evidence - np.log(label_priors[codes[labelled]]).sum())
            rates = np.array(
                [gamma[labelled & (codes != s), s].sum() / gamma[labelled, s].sum() for s in range(n_classes)]
            )
            rates = np.clip(rates, 1e-6, 1 - 1e-6)
            if matrix:  # the share of each label among the members of each class
                every = range(n_classes)
                counts = [[gamma[labelled & (codes == y), s].sum() for y in every] for s in every]
                rates = np.array([[c / sum(row) for c in row] for row in counts])
                rates = np.maximum(rates, 1e-6) / np.maximum(rates, 1e-6).sum(axis=1, keepdims=True)
            priors = gamma.mean(axis=0)
            if len(objectives) > 1 and abs(objectives[-1] - objectives[-2]) <= tol * n:
                break
        if best is None or objectives[-1] > best[3][-1]:
            best = gamma, rates, priors, objectives
    return best


def information_search(
    X, codes, random_state, label_noise=True, direction="backward", k=8, slack=0.5, include_self=False, **noise
):
    """Algorithm 2 (backward), plain backward search, and both forward searches: subsets and values by size."""
    d = X.shape[1]
    plain = np.eye(codes.max() + 1)[codes]
    subset = list(range(d)) if direction == "backward" else []
    subsets, values = {}, {}
    steps = d - 1 if direction == "backward" else d
    for step in range(steps + 1):
        gamma = plain
        if label_noise and (step < steps or step == 0):
            gamma = estimate_memberships(
                X[:, subset or list(range(d))], codes, random_state, include_self=include_self, **noise
            )[0]
        if step == 0 and direction == "backward":
            subsets[d], values[d] = list(subset), noise_tolerant_mutual_information(X, gamma, k, slack, include_self)
        if step == steps:
            break
        if direction == "backward":
            candidates = {j: [f for f in subset if f != j] for j in subset}
        else:
            candidates = {j: sorted([*subset, j]) for j in range(d) if j not in subset}
        found = {
            j: noise_tolerant_mutual_information(X[:, s], gamma, k, slack, include_self) for j, s in candidates.items()
        }
        best = max(found, key=lambda j: (found[j], -j))
        subset = candidates[best]
        subsets[len(subset)], values[len(subset)] = subset, found[best]
    return subsets, values


# --- Our own scores and tests: smooth R2, Relief, permutations, stability ------------------------------------------


def smooth_r2_score(x, T, weights=None):
    """Leave-one-out moving mean along the order of x (without ties); T is (n, columns)."""
    n = len(x)
    w = np.ones(n) if weights is None else weights
    h = max(4, n // 16)
    order = sorted(range(n), key=lambda i: x[i])
    error = total = 0.0
    for p in range(n):
        near = [order[q] for q in range(max(0, p - h), min(n, p + h + 1)) if q != p]
        others = [order[q] for q in range(n) if q != p]
        own = T[order[p]]
        here = w[order[p]]
        error += here * ((own - np.average(T[near], axis=0, weights=w[near])) ** 2).sum()
        total += here * ((own - np.average(T[others], axis=0, weights=w[others])) ** 2).sum()
    return 1 - error / total


def linear_r2_score(x, T):
    """R2 of the regression of x on the columns of T and an intercept."""
    A = np.column_stack([np.ones(len(x)), T])
    fitted = A @ np.linalg.lstsq(A, x, rcond=None)[0]
    return 1 - ((x - fitted) ** 2).sum() / ((x - x.mean()) ** 2).sum()


def _to_range(X):
    spread = X.max(axis=0) - X.min(axis=0)
    return (X - X.min(axis=0)) / np.where(spread > 0, spread, 1)


def soft_relief_score(X, P, k=10):
    X = _to_range(X)
    n, d = X.shape
    distances = np.array([[np.abs(X[i] - X[j]).sum() for j in range(n)] for i in range(n)])
    scores = np.zeros(d)
    used = 0
    for i in range(n):
        near = nearest(distances, i, 4 * k)
        q = np.array([P[i] @ P[j] for j in near])
        difference = np.array([np.abs(X[i] - X[j]) for j in near])
        if (1 - q).sum() > 1e-9 and q.sum() > 1e-9:
            scores += (1 - q) @ difference / (1 - q).sum() - q @ difference / q.sum()
            used += 1
    return scores / max(1, used)


def relieff_score(X, y, k=10):
    X = _to_range(X)
    n, d = X.shape
    share = {c: np.mean(y == c) for c in set(y)}
    scores = np.zeros(d)
    for i in range(n):
        for c in set(y):
            rows = [j for j in range(n) if j != i and y[j] == c]
            near = sorted(rows, key=lambda j: (np.abs(X[i] - X[j]).sum(), j))[:k]
            if near:
                difference = np.mean([np.abs(X[i] - X[j]) for j in near], axis=0)
                scores += -difference if c == y[i] else share[c] / (1 - share[y[i]]) * difference
    return scores / n


def benjamini_hochberg_rejections(p, alpha):
    """The step-up rule as printed: the largest i with p_(i) <= i alpha / d."""
    d = len(p)
    order = np.argsort(p)
    largest = max([i for i in range(1, d + 1) if p[order[i - 1]] <= i * alpha / d], default=0)
    return set(order[:largest].tolist())


def nogueira_index(Z):
    """1 - V / V0: V is the mean unbiased variance of a feature's selection, V0 that of random subsets of equal size."""
    M, d = Z.shape
    variance = sum(Z[:, f].var(ddof=1) for f in range(d)) / d
    k = Z.sum() / M
    return 1 - variance / (k / d * (1 - k / d))


def leave_one_out_laplacian_score(X, r, k=5, t=1.0):
    """Laplacian score of feature r on the graph of the other features."""
    squared = squared_distances(np.delete(X, r, axis=1))
    S = np.where(close_pairs(squared, k), np.exp(-squared / t), 0.0)
    return laplacian_quotient(S, X[:, r])


# --- Wrong labels: k-NN losses of a subset, pooled experts, confident learning --------------------------------------


def _apart(distances, groups):
    """Distances in which rows of one group are infinitely far from each other."""
    n = len(distances)
    together = [[groups is not None and groups[i] == groups[j] for j in range(n)] for i in range(n)]
    return np.where(together, np.inf, distances)


def neighbor_cross_entropy(X, P, k=15, balanced=True, groups=None, weights=None, n_judged=None):
    """Leave-one-out cross-entropy of memberships; the k nearest rows and a row of priors predict.

    Every class has the same weight (balanced), or every row. Weights have the mean 1; neighbours are of other groups.
    Only the first ``n_judged`` rows are judged.
    """
    n, n_classes = P.shape
    judged = range(n if n_judged is None else n_judged)
    w = np.ones(n) if weights is None else weights
    distances = _apart(squared_distances(X), groups)
    sizes = [sum(w[i] * P[i, s] for i in range(n)) for s in range(n_classes)]
    judged_sizes = [sum(w[i] * P[i, s] for i in judged) for s in range(n_classes)]
    present = [s for s in range(n_classes) if judged_sizes[s] > 0]
    loss = 0.0
    for s in present:
        of_class = 0.0
        for i in judged:
            chosen = nearest(distances, i, min(k, n - 1))
            predicted = (sum(w[j] * P[j, s] for j in chosen) + sizes[s] / sum(sizes)) / (sum(w[j] for j in chosen) + 1)
            of_class -= w[i] * P[i, s] * np.log(predicted)
        loss += of_class / judged_sizes[s] / len(present) if balanced else of_class / sum(judged_sizes)
    return loss


def neighbor_squared_error(X, y, k=15, groups=None, weights=None, n_judged=None):
    """Mean squared error when the mean of the k nearest other rows predicts; of the first ``n_judged`` rows."""
    n = len(y)
    judged = range(n if n_judged is None else n_judged)
    w = np.ones(n) if weights is None else weights
    distances = _apart(squared_distances(X), groups)
    near = [nearest(distances, i, min(k, n - 1)) for i in judged]
    means = [sum(w[j] * y[j] for j in near[i]) / sum(w[j] for j in near[i]) for i in judged]
    return sum(w[i] * (y[i] - means[i]) ** 2 for i in judged) / sum(w[i] for i in judged)


def greedy_path(X, value, direction):
    """Subsets of a greedy search that minimises ``value(columns)``; ties go to the lowest index."""
    d = X.shape[1]
    subset = [] if direction == "forward" else list(range(d))
    subsets = {} if direction == "forward" else {d: subset}
    while len(subset) != (d if direction == "forward" else 1):
        if direction == "forward":
            tried = [sorted([*subset, j]) for j in range(d) if j not in subset]
        else:
            tried = [[i for i in subset if i != j] for j in subset]
        values = [value(X[:, columns]) for columns in tried]
        subset = tried[int(np.argmin(values))]
        subsets[len(subset)] = subset
    return subsets


def pooled_log_likelihood(logs, codes, weights, rate):
    """Mean log-likelihood of the observed labels, with q ~ prod p^w and a uniform flip rate."""
    n_experts, n, n_classes = logs.shape
    total = 0.0
    for i in range(n):
        q = np.array([np.exp(sum(weights[e] * logs[e, i, k] for e in range(n_experts))) for k in range(n_classes)])
        q /= q.sum()
        own = q[codes[i]]
        total += np.log((1 - rate) * own + rate / (n_classes - 1) * (1 - own))
    return total / n


# --- Backward elimination of ridge regression ---------------------------------------------------------------------


def ridge_value(X, T, weights, ridge):
    """Share of the target that a ridge regression explains after the penalty: the objective at its minimum."""
    n = weights.sum()
    X, T = X - weights @ X / n, T - weights @ T / n
    X = X / np.sqrt(weights @ X**2 / n)
    roots = np.sqrt(weights)[:, None]
    # least squares with the penalty as further rows
    d = X.shape[1]
    rows = np.vstack([roots * X / np.sqrt(n), np.sqrt(ridge) * np.eye(d)])
    goal = np.vstack([roots * T / np.sqrt(n), np.zeros((d, T.shape[1]))])
    W = np.linalg.lstsq(rows, goal, rcond=None)[0]
    return 1.0 - ((goal - rows @ W) ** 2).sum() / (weights @ T**2).sum() * n


def linear_search(X, T, ridge, weights=None):
    """Backward elimination that fits a ridge regression again for every candidate; constant columns come last.

    Returns all features, best first, and the value of every size. Equal values: the last column is dropped.
    """
    weights = np.ones(len(X)) if weights is None else weights
    X, T, weights = X[weights > 0], T[weights > 0], weights[weights > 0]
    left = [j for j in range(X.shape[1]) if (X[:, j] != X[0, j]).any()]
    constant = [j for j in range(X.shape[1]) if j not in left]
    values, dropped = {}, []
    while left:
        values[len(left)] = ridge_value(X[:, left], T, weights, ridge)
        losses = []
        for j in left:
            others = [k for k in left if k != j]
            losses.append(values[len(left)] - (ridge_value(X[:, others], T, weights, ridge) if others else 0.0))
        worst = max(k for k, loss in enumerate(losses) if loss <= min(losses) + 1e-9)
        dropped.append(left.pop(worst))
    return dropped[::-1] + constant, values


def gcv_error(X, T, ridge):
    """Generalised cross-validation error of a ridge regression, with the hat matrix written out."""
    n, d = X.shape
    Z, T = (X - X.mean(axis=0)) / X.std(axis=0), T - T.mean(axis=0)
    hat = Z @ np.linalg.inv(Z.T @ Z + n * ridge * np.eye(d)) @ Z.T + 1.0 / n  # and the mean
    return ((T - hat @ T) ** 2).sum() / n / (1.0 - np.trace(hat) / n) ** 2


def transitions_objective(said, codes, weights, rates):
    """Penalised log-likelihood of error rates between classes and of the weights of the experts; row by row."""
    n_experts, n, n_classes = said.shape
    priors = [np.mean(codes == k) for k in range(n_classes)]
    total = -5.0 * sum((w - 0.6) ** 2 for w in weights)
    for t in range(n_classes):
        for g in range(n_classes):
            seen = 20 * 0.95 if t == g else 20 * 0.05 / (n_classes - 1)
            total += seen * np.log(rates[t, g] + 1e-12)
    for i in range(n):
        pooled = []
        for t in range(n_classes):
            value = 1.0
            for e in range(n_experts):
                value *= ((said[e, i, t] + 0.05 * priors[t]) / 1.05 + 1e-12) ** weights[e]
            pooled.append(value)
        total += np.log(sum(pooled[t] * rates[t, codes[i]] for t in range(n_classes)) / sum(pooled))
    return total


# --- How wrong the labels may be ---------------------------------------------------------------------------------


def explained_by_classes(f, codes):
    """R2 of one-way analysis of variance; 0 if only one class has rows."""
    present = sorted(set(codes.tolist()))
    if len(present) < 2:
        return 0.0
    between = sum((codes == k).sum() * (f[codes == k].mean() - f.mean()) ** 2 for k in present)
    return between / ((f - f.mean()) ** 2).sum()


def fewest_changes(f, codes, n_classes, cut):
    """The smallest number of changed labels with R2 < cut: every possible labelling is tried."""
    best = len(codes)
    for labels in itertools.product(range(n_classes), repeat=len(codes)):
        new = np.array(labels)
        changes = int((new != codes).sum())
        if changes < best and explained_by_classes(f, new) < cut:
            best = changes
    return best


# --- Rows that belong together -------------------------------------------------------------------------------------


def group_means(X, groups):
    """One row per group, in the order of the groups: the mean of its rows."""
    return np.array(
        [
            [np.mean([X[i][j] for i in range(len(X)) if groups[i] == g]) for j in range(len(X[0]))]
            for g in sorted(set(groups))
        ]
    )


def without_group_means(X, groups):
    """Each row without the mean of its group."""
    X = np.asarray(X, dtype=float)
    return np.array(
        [X[i] - np.mean([X[j] for j in range(len(X)) if groups[j] == groups[i]], axis=0) for i in range(len(X))]
    )


def orders_within(groups):
    """Every order of the rows in which rows change places only within their group."""
    groups = list(groups)
    rows = [[i for i in range(len(groups)) if groups[i] == g] for g in sorted(set(groups))]
    for places in itertools.product(*(itertools.permutations(own) for own in rows)):
        order = [0] * len(groups)
        for own, taken in zip(rows, places, strict=True):
            for i, j in zip(own, taken, strict=True):
                order[i] = j
        yield order


def linear_r2_within(x, T, groups):
    """R2 of the regression of x on T, both without the means of their groups."""
    x, T = without_group_means(np.reshape(x, (-1, 1)), groups)[:, 0], without_group_means(T, groups)
    fitted = T @ np.linalg.lstsq(T, x, rcond=None)[0]
    return 1 - ((x - fitted) ** 2).sum() / (x**2).sum()


def rank_within(x, groups):
    """(rank - 1/2) / size of the group, for every row."""
    ranks = []
    for i in range(len(x)):
        own = [x[j] for j in range(len(x)) if groups[j] == groups[i]]
        ranks.append((sorted(own).index(x[i]) + 0.5) / len(own))
    return ranks


# --- More kinds of doubt ------------------------------------------------------------------------------------------


def ordered_scores(P):
    """The expected normal score of each row: Phi^-1 of the share of rows below the middle of each class."""
    n, n_classes = P.shape
    scores = []
    for k in range(n_classes):
        below = sum(P[i, m] for i in range(n) for m in range(k))
        own = sum(P[i, k] for i in range(n))
        scores.append(NormalDist().inv_cdf((below + own / 2) / n) if own > 0 else 0.0)
    return np.array([sum(P[i, k] * scores[k] for k in range(n_classes)) for i in range(n)])


def positive_share(scores, labelled):
    """Garg and others' best bin: q_u / q_p at the threshold with the smallest (q_u + margins) / q_p."""
    given, others = scores[labelled], scores[~labelled]
    margin = (math.sqrt(math.log(40) / 2 / len(others)) + math.sqrt(math.log(40) / 2 / len(given))) / 2
    best, share = math.inf, 1.0
    for t in sorted(given, reverse=True):
        q_p = sum(g >= t for g in given) / len(given)
        q_u = sum(g >= t for g in others) / len(others)
        if (q_u + margin) / q_p < best:
            best, share = (q_u + margin) / q_p, q_u / q_p
    return min(1.0, share)


def sandwich_pvalue(columns, target, weights):
    """Products of weighted, centred rows: their sum against their spread, by Satterthwaite's F law."""
    n = len(weights)
    t = target - sum(w * row for w, row in zip(weights, target, strict=True)) / sum(weights)
    x = columns - sum(w * row for w, row in zip(weights, columns, strict=True)) / sum(weights)
    left = np.linalg.svd(weights[:, None] * t, full_matrices=False)
    basis = left[0][:, left[1] > 1e-9 * left[1][0]]
    products = [np.outer(basis[i], x[i]).ravel() for i in range(n)]
    total, mean = sum(products), sum(products) / n
    spread = sum(np.outer(p - mean, p - mean) for p in products)
    freedom = np.trace(spread) ** 2 / np.trace(spread @ spread)
    ratio = (n - 1) / n * total @ total / np.trace(spread)
    return f_law.sf(ratio, freedom, n - 1)


def weighted_covariance_r2(x, T, weights):
    """Squared weighted covariances of x with the target, in units of what any feature of this spread can reach.

    The rows w (t - weighted mean of t) stand for the target; x is neither weighted nor, in permutations, moved.
    """
    mean = sum(weights[i] * T[i] for i in range(len(x))) / sum(weights)
    S = np.array([weights[i] * (T[i] - mean) for i in range(len(x))])
    x = x - np.mean(x)
    fitted = S @ np.linalg.lstsq(S, x, rcond=None)[0]
    return (fitted**2).sum() / (x**2).sum()


def gehan_scores(low, high):
    """Rows surely below minus rows surely above; two equal known numbers are neither."""
    n = len(low)

    def surely_below(j, i):
        both_known = low[i] == high[i] and low[j] == high[j]
        return high[j] < low[i] if both_known else high[j] <= low[i]

    return [
        sum(surely_below(j, i) for j in range(n) if j != i) - sum(surely_below(i, j) for j in range(n) if j != i)
        for i in range(n)
    ]


def logrank_scores(low, high):
    """Nelson and Aalen's cumulative hazard at the time of a row, minus 1 if its number is known."""
    n = len(low)
    scores = []
    for i in range(n):
        hazard = 0.0
        for time in sorted({low[j] for j in range(n) if low[j] == high[j] and low[j] <= low[i]}):
            events = sum(low[j] == high[j] == time for j in range(n))
            hazard += events / sum(low[j] >= time for j in range(n))
        scores.append(hazard - (low[i] == high[i]))
    return scores


def wrong_numbers(z, elsewhere, density):
    """The share of wrong numbers that is most likely with a prior of one in 20, and the probability of each."""
    right = [density(value) for value in z]
    best, rate = -math.inf, 0.5
    for step in range(1, 100000):
        pi = step / 100000
        fit = sum(math.log(pi * w + (1 - pi) * r) for w, r in zip(elsewhere, right, strict=True))
        fit += 1.0 * math.log(pi) + 19.0 * math.log(1 - pi)
        if fit > best:
            best, rate = fit, pi
    return rate, [rate * w / (rate * w + (1 - rate) * r) for w, r in zip(elsewhere, right, strict=True)]


def normal_scores(column):
    """The normal quantile of the share of rows below the middle of each value's place, times a factor that keeps the
    standard deviation of the column."""
    n, scores = len(column), []
    for value in column:
        below = sum(other < value for other in column)
        equal = sum(other == value for other in column)
        scores.append(statistics.NormalDist().inv_cdf((below + equal / 2) / n))
    spread = statistics.pstdev(scores)
    return [score * statistics.pstdev(column) / spread if spread > 1e-12 else 0.0 for score in scores]


# Features of several columns: ``parts`` lists the columns of each feature. Forms are summed over them.


def wide_linear_r2(X, T, parts):
    """Explained over total sums of squares of the regression of all columns of a feature on the target."""
    T = T - T.mean(axis=0)
    scores = []
    for part in parts:
        f = X[:, part] - X[:, part].mean(axis=0)
        fitted = T @ np.linalg.lstsq(T, f, rcond=None)[0]
        scores.append((fitted**2).sum() / (f**2).sum())
    return np.array(scores)


def wide_laplacian_ratio(S, X, parts):
    """Sum over columns of f'Lf over the sum of f'Df, columns centred by their D-weighted mean."""
    d = S.sum(axis=1)
    scores = []
    for part in parts:
        above = below = 0.0
        for c in part:
            f = X[:, c] - (d @ X[:, c]) / d.sum()
            for i in range(len(f)):
                below += d[i] * f[i] ** 2
                for j in range(len(f)):
                    above += 0.5 * S[i, j] * (f[i] - f[j]) ** 2
        scores.append(above / below)
    return np.array(scores)


def wide_fisher_score(X, y, parts):
    """Spread between class means over spread within classes, both summed over the columns."""
    scores = []
    for part in parts:
        between = within = 0.0
        for c in part:
            for k in np.unique(y):
                f = X[y == k, c]
                between += len(f) * (f.mean() - X[:, c].mean()) ** 2
                within += ((f - f.mean()) ** 2).sum()
        scores.append(between / within)
    return np.array(scores)


def wide_relieff_score(X, y, k, parts):
    """ReliefF with L1 distances over all columns; ``X`` is scaled so that each feature reaches from 0 to 1 in all."""
    n = len(X)
    priors = {c: np.mean(y == c) for c in np.unique(y)}
    scores = np.zeros(len(parts))
    for i in range(n):
        distance = np.abs(X - X[i]).sum(axis=1)
        for c, prior in priors.items():
            rows = [j for j in np.argsort(distance, kind="stable") if j != i and y[j] == c][:k]
            gain = -1.0 if c == y[i] else prior / (1.0 - priors[y[i]])
            for f, part in enumerate(parts):
                scores[f] += gain * np.mean([np.abs(X[i, part] - X[j, part]).sum() for j in rows]) / n
    return scores


def level_smooth_r2(codes, T):
    """Each row predicted by the mean of the other rows of its category; alone, by the mean of all other rows."""
    n = len(codes)
    error = total = 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        same = [j for j in others if codes[j] == codes[i]] or others
        error += ((T[i] - T[same].mean(axis=0)) ** 2).sum()
        total += ((T[i] - T[others].mean(axis=0)) ** 2).sum()
    return 1.0 - error / total


def wide_permutation_variance(X, M):
    """Variance of tr(M P G P') over all permutations P of the rows, with G = X X' of centred columns."""
    from itertools import permutations

    G = X @ X.T
    values = [sum(M[i, j] * G[p[i], p[j]] for i in range(len(X)) for j in range(len(X)))
              for p in permutations(range(len(X)))]  # fmt: skip
    return np.mean(values), np.var(values)


def wide_ridge_costs(Z, T, ridge, parts):
    """What a ridge regression loses, as a share of the target, without each feature: fitted again each time."""

    def value(columns):
        Zs, n = Z[:, columns], len(Z)
        A, B = Zs.T @ Zs / n + ridge * np.eye(len(columns)), Zs.T @ T / n
        return np.trace(B.T @ np.linalg.solve(A, B)) / ((T**2).sum() / n)

    every = np.concatenate(parts)
    return np.array([value(every) - value(np.setdiff1d(every, part)) for part in parts])


def wide_squared_distances(X, parts, subset):
    """Squared distances of all pairs of rows over the columns of some features."""
    columns = [c for f in subset for c in parts[f]]
    return np.array([[sum((a[c] - b[c]) ** 2 for c in columns) for b in X] for a in X])


def several_target_matrix(targets):
    """All targets side by side; ``targets`` are lists with one entry per row: a number, a class (text) or None.

    A number becomes one column, a class one column per class. Each column is centred over the rows in which the target
    is known, and the columns of a target are divided by the root of their mean sum of squares per known row. A missing
    cell is 0. At last all is divided by the root of the mean square of all entries.
    """
    blocks = []
    for target in targets:
        known = [i for i, value in enumerate(target) if value is not None]
        values = [target[i] for i in known]
        if isinstance(values[0], str):
            columns = [[float(value == name) for value in values] for name in sorted(set(values))]
        else:
            columns = [[float(value) for value in values]]
        columns = [[v - sum(column) / len(column) for v in column] for column in columns]
        total = sum(v * v for column in columns for v in column) / len(known)
        block = np.zeros((len(target), len(columns)))
        for c, column in enumerate(columns):
            for i, v in zip(known, column, strict=True):
                block[i, c] = v / np.sqrt(total)
        blocks.append(block)
    T = np.hstack(blocks)
    return T / np.sqrt((T**2).mean())


def neighbor_joint_loss(X, targets, k=15, balanced=False, groups=None, weights=None):
    """Mean over targets of the loss of the nearest rows, divided by the loss without features."""
    n, shares = len(X), []
    w = np.ones(n) if weights is None else np.asarray(weights) / np.mean(weights)
    for target in targets:
        if target.ndim == 1:
            loss = neighbor_squared_error(X, target, k, groups=groups, weights=weights)
            alone = []
            for i in range(n):
                others = [j for j in range(n) if j != i]
                alone.append((target[i] - np.average(target[others], weights=w[others])) ** 2)
            nothing = np.average(alone, weights=w)
        else:
            loss = neighbor_cross_entropy(X, target, k, balanced=balanced, groups=groups, weights=weights)
            mass = w @ target
            priors = mass / mass.sum()
            of_class = [1 / len(priors)] * len(priors) if balanced else priors
            nothing = -sum(c * np.log(p) for c, p in zip(of_class, priors, strict=True))
        shares.append(loss / nothing)
    return sum(shares) / len(shares)


# --- The truth, from checked rows -------------------------------------------------------------------------------


def truth_effect(x, truth, proxies, checked, chance):
    """Estimate and variance of the covariance of a column and the truth: one number per row, all weights 1.

    ``truth`` has an entry for every row, of which only those of ``checked`` rows are used; ``chance`` likewise.
    """
    n, m, k = len(x), len(checked), len(proxies)
    x = x - sum(x) / n
    units = []
    for proxy in proxies:
        proxy = proxy - sum(proxy) / n
        spread = math.sqrt(sum(proxy**2) / n)
        if spread > 0:
            units.append(proxy / spread)
    k = len(units)

    def fitted(rows, weights):
        A, b = np.diag([0.01 * m] * k + [1e-9 * m]), np.zeros(k + 1)
        for i in rows:
            z = np.array([unit[i] for unit in units] + [1.0])
            A = A + weights[i] * np.outer(z, z)
            b = b + weights[i] * truth[i] * z
        return np.linalg.solve(A, b)

    mean_weight = sum(1 / chance[i] for i in checked) / m
    weights = {i: 1 / chance[i] / mean_weight for i in checked}
    everyone = fitted(checked, weights)
    F = []
    for i in range(n):
        beta = fitted([j for j in checked if j != i], weights) if i in checked else everyone
        F.append(sum(beta[a] * units[a][i] for a in range(k)) + beta[k])
    omega = {i: 1 / chance[i] / sum(1 / chance[j] for j in checked) for i in checked}
    mean_truth = sum(omega[i] * truth[i] for i in checked)
    r = {i: x[i] * (truth[i] - F[i]) for i in checked}
    u = {i: x[i] * (truth[i] - mean_truth) for i in checked}
    mean_r, mean_u = sum(omega[i] * r[i] for i in checked), sum(omega[i] * u[i] for i in checked)
    estimate = sum(x[i] * F[i] for i in range(n)) / n + mean_r
    of_draw = sum((1 - chance[i]) * omega[i] ** 2 * (r[i] - mean_r) ** 2 for i in checked)
    of_rows = sum((u[i] - mean_u) ** 2 / chance[i] for i in checked) / n**2
    mean_F = sum(F) / n
    spread = sum(omega[i] * (truth[i] - F[i]) ** 2 for i in checked)
    size = {i: x[i] ** 2 for i in range(n)}
    moved = {i: size[i] * ((F[i] - mean_F) ** 2 + spread) for i in range(n)}
    sizes = sum(size.values()) / n, sum(omega[i] * size[i] for i in checked)
    moves = sum(moved.values()), sum(moved[i] / chance[i] for i in checked)
    of_draw *= sizes[0] / sizes[1] if sizes[1] > 0 else 1
    variance = sum(omega[i] * (truth[i] - mean_truth) ** 2 for i in checked)
    of_draw *= (m * spread + variance) / (m + 1) / spread if spread > 0 else 1
    of_rows *= moves[0] / moves[1] if moves[1] > 0 else 1
    return estimate, (of_draw + of_rows) * m / (m - 1)


def left_out_residuals(basis, table, weights=None, groups=None):
    """What ridge regressions on all rows of other groups (or on all other rows) miss of each row.

    The penalty of each column is that of generalised cross-validation on all rows, with the mean as a free column.
    """
    n, m = basis.shape
    w = np.ones(n) if weights is None else weights
    groups = np.arange(n) if groups is None else groups
    out = np.empty(table.shape)
    design = np.column_stack([np.ones(n), basis - np.average(basis, axis=0, weights=w)])
    for j in range(table.shape[1]):
        t = table[:, j] - np.average(table[:, j], weights=w)
        errors = []
        for penalty in np.logspace(-5, 2, 22):
            P = n * penalty * np.diag([0.0] + [1.0] * m)
            H = design @ np.linalg.solve(design.T @ (w[:, None] * design) + P, design.T * w)
            freedom = np.trace(H)
            rest = (w * (t - H @ t) ** 2).sum()
            errors.append(rest / (1 - freedom / n) ** 2 if freedom <= n / 2 else np.inf)
        penalty = np.logspace(-5, 2, 22)[int(np.argmin(errors))]
        for group in np.unique(groups):
            rows, rest = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
            P = n * penalty * np.diag([0.0] + [1.0] * m)
            A = design[rest]
            beta = np.linalg.solve(A.T @ (w[rest, None] * A) + P, A.T @ (w[rest] * t[rest]))
            out[rows, j] = t[rows] - design[rows] @ beta
    return out


# --- Votes of annotators ------------------------------------------------------------------------------------------

OWN_STRENGTHS = [1.0, 2.0, 5.0, 10.0]
STRENGTHS = [*OWN_STRENGTHS, 20.0, 50.0, 100.0, 200.0]


def dirichlet_fit(counts, base, s):
    """Log-likelihood of counts (lists of rows) under Dirichlet priors of mean ``base`` and strength ``s``."""
    fit = 0.0
    for row, prior in zip(counts, base, strict=True):
        fit += gammaln(s) - gammaln(s + sum(row))
        for n, b in zip(row, prior, strict=True):
            fit += gammaln(n + s * b) - gammaln(s * b)
    return fit


def shrunk_confusions(counts, strength=None, in_order=False):
    """Confusions (annotators, true, said) with shared priors, from expected counts."""
    m, K = counts.shape[:2]
    base = np.zeros((m, K, K))
    if in_order:
        steps = list(range(1 - K, K))
        seen = np.array([0.7 if d == 0 else 0.3 * 0.5 ** abs(d) for d in steps])
        own = [[sum(counts[e, k, k + d] for k in range(K) if 0 <= k + d < K) for d in steps] for e in range(m)]
        pooled = np.array([sum(row[j] for row in own) for j in range(len(steps))]) + 20.0 * K * seen / seen.sum()
        pooled = pooled / pooled.sum()
        s = strength or max(OWN_STRENGTHS, key=lambda s: dirichlet_fit(own, [pooled] * m, s))
        for e in range(m):
            by_step = [(own[e][j] + s * pooled[j]) / (sum(own[e]) + s) for j in range(len(steps))]
            for k in range(K):
                for c in range(K):
                    base[e, k, c] = by_step[c - k + K - 1]
                base[e, k] /= base[e, k].sum()
    else:
        right = (sum(counts[e, k, k] for e in range(m) for k in range(K)) + 20.0 * 0.7) / (counts.sum() + 20.0)
        alike = [[right if k == c else (1 - right) / (K - 1) for c in range(K)] for k in range(K)]
        pooled = counts.sum(axis=0) + 100.0 * np.array(alike)
        pooled = pooled / pooled.sum(axis=1, keepdims=True)
        wrong = [sum(counts[e, k, c] for k in range(K) for c in range(K) if k != c) for e in range(m)]
        expected = [sum(counts[e, k].sum() * (1 - pooled[k, k]) for k in range(K)) for e in range(m)]

        def fit(s):
            pairs = zip(wrong, expected, strict=True)
            return sum(s * np.log(s) - gammaln(s) + gammaln(s + w) - (s + w) * np.log(s + x) for w, x in pairs)

        s = strength or max(OWN_STRENGTHS, key=fit)
        for e in range(m):
            for k in range(K):
                share = min(max((wrong[e] + s) / (expected[e] + s) * (1 - pooled[k, k]), 1e-3), 1 - 1e-3)
                for c in range(K):
                    base[e, k, c] = 1 - share if c == k else share * pooled[k, c] / (1 - pooled[k, k])
    base = np.maximum(base, 1e-3 / K)
    base /= base.sum(axis=2, keepdims=True)
    rows, priors = counts.reshape(-1, K), base.reshape(-1, K)
    choices = OWN_STRENGTHS if in_order else STRENGTHS
    s = strength or max(choices, key=lambda s: dirichlet_fit(rows, priors, s))
    return (counts + s * base) / (counts.sum(axis=2, keepdims=True) + s)


def agree_on_classes(row, who, code, n_rows, n_annotators, K, in_order=False, steps=300, weight=None):
    """Memberships and confusions of the EM on votes alone, one vote at a time."""
    weight = [1.0] * len(row) if weight is None else weight
    votes = list(zip(row, who, code, weight, strict=True))
    P = np.full((n_rows, K), 1.0 / K)
    for i in range(n_rows):
        for k in range(K):
            said = sum(w for r, _, c, w in votes if r == i and c == k)
            P[i, k] = (said + 1.0 / K) / (sum(w for r, _, _, w in votes if r == i) + 1.0)
    voted = sorted(set(row))
    for step in range(1, steps + 1):
        counts = np.zeros((n_annotators, K, K))
        for r, e, c, w in votes:
            counts[e, :, c] += w * P[r]
        theta = shrunk_confusions(counts, strength=2.0 if step <= 20 else None, in_order=in_order)
        shares = np.array([sum(P[i, k] for i in voted) + 1.0 for k in range(K)])
        shares /= shares.sum()
        new = np.tile(shares, (n_rows, 1))
        for r, e, c, w in votes:
            for k in range(K):
                new[r, k] *= theta[e, k, c] ** w
        new /= new.sum(axis=1, keepdims=True)
        moved = max(abs(new[i, k] - P[i, k]) for i in voted for k in range(K))
        P = new
        if moved < 1e-5 and step > 20:
            break
    return P, theta


def krippendorff(values, squared):
    """Alpha from all pairs of votes of a row, and all pairs of votes; ``squared`` is the squared distance of two."""
    rows = [[v for v in row if v is not None] for row in values]
    rows = [row for row in rows if len(row) >= 2]
    every = [v for row in rows for v in row]
    observed = sum(squared(a, b) / (len(row) - 1) for row in rows for a, b in itertools.permutations(row, 2))
    expected = sum(squared(a, b) for a, b in itertools.permutations(every, 2))
    return 1 - (observed / len(every)) / (expected / (len(every) * (len(every) - 1)))


def concordance(x, low, high, weights=None):
    """Literal C-index: of all pairs of rows of which one is surely higher, those in which it has the larger x."""
    n = len(x)
    weights = [1.0] * n if weights is None else weights
    above = below = 0.0
    for i in range(n):
        for j in range(n):
            both_known = low[i] == high[i] and low[j] == high[j]
            if i == j or not low[i] >= high[j] or (both_known and low[i] == low[j]):
                continue
            pair = weights[i] * weights[j]
            below += pair
            above += pair * (1.0 if x[i] > x[j] else 0.5 if x[i] == x[j] else 0.0)
    return above / below


def soft_concordance(x, P, weights):
    """The same of classes with an order, whose memberships are probabilities."""
    n, k = P.shape
    above = below = 0.0
    for i in range(n):
        for j in range(n):
            for a in range(k):
                for b in range(a) if i != j else ():
                    pair = weights[i] * weights[j] * P[i, a] * P[j, b]  # row i is higher
                    below += pair
                    above += pair * (1.0 if x[i] > x[j] else 0.5 if x[i] == x[j] else 0.0)
    return above / below


def jackknife_error(x, low, high):
    """The standard error of the C-index by leaving out each row."""
    n = len(x)
    without = []
    for i in range(n):
        rest = [j for j in range(n) if j != i]
        without.append(concordance([x[j] for j in rest], [low[j] for j in rest], [high[j] for j in rest]))
    mean = sum(without) / n
    return math.sqrt((n - 1) / n * sum((one - mean) ** 2 for one in without))


def delong_error(x, second):
    """The standard error of the area under the curve, from the shares of the other class that each row is above."""
    shares = [[], []]
    for i in range(len(x)):
        others = [x[j] for j in range(len(x)) if second[j] != second[i]]
        above = sum(1.0 if x[i] > value else 0.5 if x[i] == value else 0.0 for value in others) / len(others)
        shares[int(second[i])].append(above)
    return math.sqrt(sum(np.var(part, ddof=1) / len(part) for part in shares))


def gains(columns, target, folds):
    """What a regression on some columns predicts of a target on held-out rows, as a share of its sum of squares."""
    ridge, left = 1e-3 * len(columns), 0.0
    for fold in np.unique(folds):
        learned, asked = folds != fold, folds == fold
        A = columns[learned].T @ columns[learned] + ridge * np.eye(columns.shape[1])
        slopes = np.linalg.solve(A, columns[learned].T @ target[learned])
        left += ((target[asked] - columns[asked] @ slopes) ** 2).sum()
    return 1.0 - left / (target**2).sum()


def conditional_test(column, target, others):
    """The p-value of the correlation of a column and a target, both predicted for each row from all other rows."""
    rest, missed = left_out_residuals(others, np.column_stack([column, target])).T
    return float(stats.pearsonr(rest, missed).pvalue)
