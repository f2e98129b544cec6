"""Pairs: sums without a list of pairs, overlaps from the Gram matrix, and a whole constrained Laplacian score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.harness import Measurement, measure, show

MODULE = "benchmarks.bench_constraints"


def _labelled(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.normal(size=(rows, columns)), np.arange(rows) % 2


def closed_form(rows: int, columns: int) -> Callable[[], object]:
    from dubio import constraint_score

    X, y = _labelled(rows, columns)
    return lambda: constraint_score(X, y=y).tolist()


def pair_list(rows: int, columns: int, listing: bool) -> Callable[[], object]:
    """The score of listed pairs; ``listing`` includes the time to list them."""
    from dubio import constraint_score
    from dubio.target.reader import pairs_from_labels

    X, y = _labelled(rows, columns)
    pairs = pairs_from_labels(y)

    def call() -> object:
        used = pairs_from_labels(y) if listing else pairs
        return constraint_score(X, used.must_link, used.cannot_link).tolist()

    return call


def literal_sums(rows: int, columns: int) -> Callable[[], object]:
    """Equation 3, pair by pair: the first version one would write."""
    from dubio.target.reader import pairs_from_labels

    X, y = _labelled(rows, columns)
    pairs = pairs_from_labels(y)

    def call() -> object:
        sums = [np.zeros(columns), np.zeros(columns)]
        for total, kind in zip(sums, (pairs.must_link, pairs.cannot_link), strict=True):
            for i, j in kind:
                total += (X[i] - X[j]) ** 2
        return (sums[0] / sums[1]).tolist()

    return call


def _some_pairs(rows: int) -> tuple[np.ndarray, np.ndarray]:
    from dubio.target.reader import pairs_from_labels

    pairs = pairs_from_labels(np.arange(rows) % 2)
    return pairs.must_link, pairs.cannot_link


def coherence_by_gram(rows: int, columns: int) -> Callable[[], object]:
    from dubio import coherence

    X, _ = _labelled(rows, columns)
    must_link, cannot_link = _some_pairs(rows)
    return lambda: [values.tolist() for values in coherence(X, must_link, cannot_link)]


def coherence_literal(rows: int, columns: int, every: int) -> Callable[[], object]:
    """Project both ends of every segment, but only on one line in ``every``."""
    X, _ = _labelled(rows, columns)
    kinds = _some_pairs(rows)
    used = np.unique(np.concatenate(kinds))
    tolerance = 1e-12 * max(np.linalg.norm(X[used] - X[row], axis=1).max() for row in used)

    def share(segments: np.ndarray, lines: np.ndarray) -> list[float]:
        apart = np.zeros(len(segments))
        for a, b in lines[::every]:
            direction = X[b] - X[a]
            length = np.linalg.norm(direction)
            first = (X[segments[:, 0]] - X[a]) @ direction / length
            second = (X[segments[:, 1]] - X[a]) @ direction / length
            overlap = np.minimum(np.maximum(first, second), length) - np.maximum(np.minimum(first, second), 0)
            apart += overlap <= tolerance
        return (apart / len(lines)).tolist()

    return lambda: [share(*kinds), share(kinds[1], kinds[0])]


def coherence_by_rows(rows: int, columns: int) -> Callable[[], object]:
    """Project every row on every line, one line at a time, as a careful first version does."""
    X, _ = _labelled(rows, columns)
    kinds = _some_pairs(rows)
    tolerance = 1e-12 * max(np.linalg.norm(X - row, axis=1).max() for row in X)

    def share(segments: np.ndarray, lines: np.ndarray) -> list[float]:
        apart = np.zeros(len(segments))
        for a, b in lines:
            direction = X[b] - X[a]
            length = np.linalg.norm(direction)
            at = (X - X[a]) @ direction / length
            first, second = at[segments[:, 0]], at[segments[:, 1]]
            overlap = np.minimum(np.maximum(first, second), length) - np.maximum(np.minimum(first, second), 0)
            apart += overlap <= tolerance
        return (apart / len(lines)).tolist()

    return lambda: [share(*kinds), share(kinds[1], kinds[0])]


def constrained(rows: int, columns: int, neighbors: str) -> Callable[[], object]:
    from dubio import ConstrainedLaplacianScore

    X, y = _labelled(rows, columns)
    y = np.where(np.arange(rows) < rows // 20, y, -1)
    return lambda: float(ConstrainedLaplacianScore(neighbors=neighbors).fit(X, y).scores_[0])


def _same(rows: list[tuple[str, Measurement]]) -> None:
    values = [np.concatenate([np.ravel(part) for part in m.value]) for _, m in rows]
    print(f"\nlargest difference between the rows: {max(np.abs(v - values[0]).max() for v in values):.1e}")


def main() -> None:
    size = {"rows": 2000, "columns": 50}
    rows = [
        ("closed form, from labels", measure(MODULE, "closed_form", repeat=1000, warmup=50, **size)),
        ("our sums over listed pairs", measure(MODULE, "pair_list", repeat=3, listing=False, **size)),
        ("the same, listing them first", measure(MODULE, "pair_list", repeat=3, listing=True, **size)),
        ("equation 3, pair by pair", measure(MODULE, "literal_sums", repeat=1, warmup=0, **size)),
    ]
    show("Constraint score of all pairs of 2,000 labelled rows x 50 columns", rows, rows[0][0])
    _same(rows)
    size = {"rows": 60, "columns": 7000}
    some = measure(MODULE, "coherence_literal", repeat=1, warmup=0, every=50, **size)
    whole = replace(some, wall=50 * some.wall, cpu=50 * some.cpu)
    rows = [
        ("from the Gram matrix", measure(MODULE, "coherence_by_gram", repeat=20, warmup=2, **size)),
        ("every row on every line", measure(MODULE, "coherence_by_rows", repeat=1, warmup=0, **size)),
        ("every segment on every line (one line in 50, times 50)", whole),
    ]
    show("Coherence of all pairs of 60 labelled rows x 7,000 columns", rows, rows[0][0])
    _same(rows[:2])
    rows = [
        (f"{neighbors}, 5,000 x 20", measure(MODULE, "constrained", rows=5000, columns=20, neighbors=neighbors))
        for neighbors in ("clusters", "knn")
    ]
    show("Constrained Laplacian score, one row in 20 labelled", rows)


if __name__ == "__main__":
    main()
