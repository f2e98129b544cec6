"""Literal, slow, obvious versions of the papers' formulas; the fast paths are compared with them.

Nothing here is shared with the package: loops and n x n arrays as printed.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln

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


# --- Label-noise-tolerant mutual information (LNT paper, equations 5, 6, 15-19, 24-29, Algorithms 1 and 2) ---------


def neighbour_order(X, i):
    """The other rows by distance to row i, ties by index, and their distances."""
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
    """Equations 5 and 7: H(X) - sum_y p(y) H(X | Y = y); equation 6 when every class has more than k rows."""
    value = knn_entropy(X, k)
    for c in np.unique(y):
        own = X[y == c]
        value -= len(own) / len(X) * knn_entropy(own, min(k, len(own) - 1))
    return value


def grow_balls(X, gamma, k, slack):
    """Algorithm 1: diameters and membership sums, the row itself left out of the ordering.

    The ball stops at min(k, available) - slack, of little memberships at half of what there is; up to rounding.
    """
    n, n_classes = gamma.shape
    diameters, sums = np.zeros((n, n_classes)), np.zeros((n, n_classes))
    for s in range(n_classes):
        for i in range(n):
            others, distances = neighbour_order(X, i)
            available = gamma[:, s].sum() - gamma[i, s]
            target = (min(k, available) - min(slack, available / 2)) * (1 - 1e-9)
            count, total = 1, gamma[others[0], s]
            while total < target:
                total += gamma[others[count], s]
                count += 1
            diameters[i, s] = 2 * distances[others[count - 1]]
            sums[i, s] = total
    return diameters, sums


def log_densities(X, gamma, k, slack=0.0):
    """Equation 15."""
    d = X.shape[1]
    diameters, sums = grow_balls(X, gamma, k, slack)
    return digamma(sums) - digamma(gamma.sum(axis=0)) - log_unit_ball(d) - d * np.log(diameters)


def noise_tolerant_mutual_information(X, gamma, k=8, slack=0.5):
    """Equations 15 to 19."""
    n = len(X)
    densities = log_densities(X, gamma, k, slack)
    value = knn_entropy(X, k)
    for s in range(gamma.shape[1]):
        total = gamma[:, s].sum()
        entropy = -(gamma[:, s] * densities[:, s]).sum() / total
        value -= total / n * entropy
    return value


def label_likelihood(codes, rates):
    """Equation 20 for every row and true class; 1 for a row without a label."""
    n_classes = len(rates)
    likelihood = np.ones((len(codes), n_classes))
    for i, y in enumerate(codes):
        for s in range(n_classes):
            if y >= 0:
                likelihood[i, s] = 1 - rates[s] if y == s else rates[s] / (n_classes - 1)
    return likelihood


def posterior(densities, codes, rates, priors):
    """Equation 26 in log space, memberships kept above 1e-12, and the log of its denominator summed (24)."""
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


def estimate_memberships(X, codes, random_state, k=3, n_init=5, max_iter=50, tol=1e-3):
    """Section 4.3: memberships, error rates, priors and objectives of the best of ``n_init`` restarts."""
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
            gamma, evidence = posterior(log_densities(X, gamma, k), codes, rates, priors)
            objectives.append(evidence - np.log(label_priors[codes[labelled]]).sum())
            rates = np.array(
                [gamma[labelled & (codes != s), s].sum() / gamma[labelled, s].sum() for s in range(n_classes)]
            )
            rates = np.clip(rates, 1e-6, 1 - 1e-6)
            priors = gamma.mean(axis=0)
            if len(objectives) > 1 and abs(objectives[-1] - objectives[-2]) <= tol * n:
                break
        if best is None or objectives[-1] > best[3][-1]:
            best = gamma, rates, priors, objectives
    return best


def information_search(X, codes, random_state, label_noise=True, direction="backward", k=8, **noise):
    """Algorithm 2 (backward), plain backward search, and the forward ones: subsets and values by size."""
    d = X.shape[1]
    plain = np.eye(codes.max() + 1)[codes]
    subset = list(range(d)) if direction == "backward" else []
    subsets, values = {}, {}
    steps = d - 1 if direction == "backward" else d
    for step in range(steps + 1):
        gamma = plain
        if label_noise and (step < steps or step == 0):
            gamma = estimate_memberships(X[:, subset or list(range(d))], codes, random_state, **noise)[0]
        if step == 0 and direction == "backward":
            subsets[d], values[d] = list(subset), noise_tolerant_mutual_information(X, gamma, k)
        if step == steps:
            break
        if direction == "backward":
            candidates = {j: [f for f in subset if f != j] for j in subset}
        else:
            candidates = {j: sorted([*subset, j]) for j in range(d) if j not in subset}
        found = {j: noise_tolerant_mutual_information(X[:, s], gamma, k) for j, s in candidates.items()}
        best = max(found, key=lambda j: (found[j], -j))
        subset = candidates[best]
        subsets[len(subset)], values[len(subset)] = subset, found[best]
    return subsets, values


# --- Wrong labels: k-NN losses of a subset, pooled experts, confident learning --------------------------------------


def neighbor_cross_entropy(X, P, k=15):
    """Class-balanced leave-one-out cross-entropy of memberships under the k nearest rows and one row of priors."""
    n, n_classes = P.shape
    distances = squared_distances(X)
    sizes = [sum(P[i, s] for i in range(n)) for s in range(n_classes)]
    present = [s for s in range(n_classes) if sizes[s] > 0]
    loss = 0.0
    for s in present:
        of_class = 0.0
        for i in range(n):
            chosen = nearest(distances, i, min(k, n - 1))
            predicted = (sum(P[j, s] for j in chosen) + sizes[s] / sum(sizes)) / (len(chosen) + 1)
            of_class -= P[i, s] * np.log(predicted)
        loss += of_class / sizes[s] / len(present)
    return loss


def neighbor_squared_error(X, y, k=15):
    """Mean squared error of the mean of the k nearest other rows."""
    n = len(y)
    distances = squared_distances(X)
    return np.mean([(y[i] - np.mean([y[j] for j in nearest(distances, i, min(k, n - 1))])) ** 2 for i in range(n)])


def greedy_path(X, value, direction):
    """Subsets of a greedy search that minimises ``value(columns)``; ties to the lowest index."""
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
    """Mean log-likelihood of observed labels under q ~ prod p^w and a uniform flip rate."""
    n_experts, n, n_classes = logs.shape
    total = 0.0
    for i in range(n):
        q = np.array([np.exp(sum(weights[e] * logs[e, i, k] for e in range(n_experts))) for k in range(n_classes)])
        q /= q.sum()
        own = q[codes[i]]
        total += np.log((1 - rate) * own + rate / (n_classes - 1) * (1 - own))
    return total / n
