"""How often ``n_features_to_select="auto"`` keeps features unrelated to the target, and how often it finds the others.

The irrelevant features are known in two kinds of tables: the papers' artificial problems, and real tables with a
shuffled copy of each column added. In real tables every original column counts as relevant. Some of them are not, so
the power there is a lower bound.

Run ``python -m benchmarks.false_discoveries [draws per table] [jobs]``, ``... rankers``, ``... together [draws]
[jobs]`` for features that matter only together: the class is the sign of a product of two, or of three, of them; or
``... weights [draws]`` for rows whose weights depend on a column, while nothing is related to the target.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata

from dubio import FeatureSelector
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem
from dubio.simulate import hide_labels, unsure_annotator
from dubio_papers.datasets.artificial import (
    make_circle,
    make_spheres,
    make_squares,
    make_y1,
    make_y2,
    make_y3,
    make_y4,
    make_y5,
)

CLASSES = [
    "iris",
    "breast_tissue",
    "sonar",
    "ecoli",
    "glass",
    "page_blocks",
    "segment",
    "vehicle",
    "vertebral_column",
    "wall_robot",
    "waveform",
    "wine",
    "yeast",
    "ionosphere",
    "australian",
    "heart_statlog",
    "olitos",
]
NUMBERS = ["pollen", "delve_census_random_order"]
ARTIFICIAL_CLASSES = [make_spheres, make_squares, make_circle, make_y4, make_y5]
ARTIFICIAL_NUMBERS = [make_y1, make_y2, make_y3]
ROWS = 300
FEW = 60
#: Minimum number of draws for each line of the table.
TOTAL = int(os.environ.get("DUBIO_DRAWS", "200"))


class Draw(NamedTuple):
    """One fit: share of irrelevant features among the kept, share of relevant features kept, whether none stood out."""

    false: float
    power: float
    nothing: bool


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A real table without its constant columns."""
    table = pd.read_csv(Path(os.environ.get("DUBIO_DATA", "data")) / f"{name}.csv.gz")
    X = table.drop(columns="target").to_numpy(dtype=np.float64)
    return X[:, np.ptp(X, axis=0) > 0], table["target"].to_numpy()


def with_shuffled_copies(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """At most ROWS rows and 30 columns, with a shuffled copy of each column; the target; which columns are relevant."""
    X, y = load(name)
    rows = rng.permutation(len(X))[:ROWS]
    columns = np.sort(rng.permutation(X.shape[1])[:30])
    X, y = X[rows][:, columns], y[rows]
    X = X[:, np.ptp(X, axis=0) > 0]
    if y.dtype.kind != "f":  # a class with one or two rows tells nothing
        names, counts = np.unique(y, return_counts=True)
        keep = np.isin(y, names[counts >= 3])
        X, y = X[keep], y[keep]
    copies = rng.permuted(X, axis=0)
    order = rng.permutation(2 * X.shape[1])  # no method should profit from the order of the columns
    return np.hstack([X, copies])[:, order], y, (order < X.shape[1])


def artificial(make: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    problem = make(random_state=int(rng.integers(2**31)))
    X, y = problem.X[:ROWS], problem.y[:ROWS]
    return X, y, np.arange(X.shape[1]) < problem.n_relevant


def supervise(kind: str, y: np.ndarray, rng: np.random.Generator) -> Any:
    seed = int(rng.integers(2**31))
    if kind == "soft":
        return unsure_annotator(y, mean=0.3, random_state=seed).memberships
    if kind in ("few classes", "few numbers"):
        share = max(0.0, 1 - FEW / len(y))
        return hide_labels(y.astype(float) if kind == "few numbers" else y, share, random_state=seed)
    return y


def made(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tables that are hard for tests: wide, correlated, with heavy tails, of whole numbers, with wrong labels."""
    n, d = (80, 500) if name == "wide" else (ROWS, 30)
    X = rng.normal(size=(n, d))
    y = rng.integers(0, 3, n)
    if name == "correlated":
        X[:, 6:] = 0.8 * rng.normal(size=(n, 1)) + 0.6 * X[:, 6:]
    X[:, :6] += rng.uniform(0.3, 1.2, size=6) * rng.normal(size=(3, 6))[y]
    if name == "heavy tails":
        X = np.sign(X) * np.abs(X) ** 4
    if name == "whole numbers":
        X = np.round(X)
    if name == "20 % flips":
        y = np.where(rng.random(n) < 0.2, (y + rng.integers(1, 3, n)) % 3, y)
    return X, y, np.arange(d) < 6


MADE = ["wide", "correlated", "heavy tails", "whole numbers", "20 % flips"]


def draw_table(table: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The features, the target, and which features are relevant."""
    if not isinstance(table, str):
        return artificial(table, rng)
    return made(table, rng) if table in MADE else with_shuffled_copies(table, rng)


def one(table: Any, kind: str, seed: int, permuted: bool, method: str = "auto") -> Draw:
    rng = np.random.default_rng([seed, 77])
    X, y, relevant = draw_table(table, rng)
    if permuted:
        y = rng.permutation(y)
    known = supervise(kind, y, rng)
    target: Any = "numbers" if "numbers" in kind else "classes"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "auto":  # the tests alone decide which features are kept; the search would only order them
            problem = read_problem(X, known, target=target)
            kept = relevance_of(problem, random_state=seed, only_decides=True).relevant
        else:
            kept = FeatureSelector(method, random_state=seed, target=target).fit(X, known).to_ranking()
            kept = kept.without_handed_on().support
    return Draw((kept & ~relevant).sum() / max(1, kept.sum()), kept[relevant].mean(), not kept.any())


def measure(kind: str, tables: list[Any], draws: int, jobs: int, permuted: bool = False) -> list[list[Draw]]:
    """The draws of each table."""
    flat = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(one)(table, kind, seed, permuted) for table in tables for seed in range(draws)
    )
    return [flat[i : i + draws] for i in range(0, len(flat), draws)]


def mean_and_error(values: list[list[float]]) -> str:
    """Mean over tables of the means over draws, in percent, with its standard error over draws."""
    means = [np.mean(v) for v in values]
    error = np.sqrt(np.sum([np.var(v, ddof=1) / len(v) for v in values])) / len(values)
    return f"{100 * np.mean(means):.1f} ± {100 * error:.1f}"


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    kinds = {
        "soft": (ARTIFICIAL_CLASSES, CLASSES),
        "few classes": (ARTIFICIAL_CLASSES, CLASSES),
        "classes": (ARTIFICIAL_CLASSES, CLASSES),
        "few numbers": (ARTIFICIAL_NUMBERS, NUMBERS),
        "numbers": (ARTIFICIAL_NUMBERS, NUMBERS),
    }
    chosen = os.environ.get("DUBIO_KINDS")
    kinds = {kind: groups for kind, groups in kinds.items() if not chosen or kind in chosen.split(",")}
    began = time.perf_counter()
    print("| known | tables | draws | false discoveries % | power % | nothing, target permuted % |")
    print("|---|---|---:|---:|---:|---:|")
    for kind, groups in kinds.items():
        everything: list[list[list[Draw]]] = [[], []]
        for what, tables in zip(("artificial", "real, shuffled copies added"), groups, strict=True):
            count = max(draws, -(-TOTAL // len(tables)))
            both = [measure(kind, tables, count, jobs, permuted) for permuted in (False, True)]
            show(kind, f"{len(tables)} {what}", *both)
            for kept, more in zip(everything, both, strict=True):
                kept += more
        show(kind, "all", *everything)
    for name in MADE:
        both = [measure("classes", [name], TOTAL, jobs, permuted) for permuted in (False, True)]
        show("classes", name, *both)
    print(f"\n{time.perf_counter() - began:.0f} s", file=sys.stderr)


def rankers(draws: int = 2) -> None:
    """The same for some named rankers, each with its own test."""
    print("| method | draws | false discoveries % | power % |\n|---|---:|---:|---:|")
    for method in ("relieff", "soft_relief", "weighted_laplacian", "fisher", "smooth_r2", "linear_r2", "laplacian"):
        found = [[one(table, "classes", seed, False, method) for seed in range(draws)] for table in CLASSES]
        false = mean_and_error([[d.false for d in table] for table in found])
        power = mean_and_error([[d.power for d in table] for table in found])
        print(f"| {method} | {draws * len(CLASSES)} | {false} | {power} |", flush=True)


def one_product(n_factors: int, n_noise: int, flips: float, seed: int) -> tuple[float, bool, bool]:
    """Share of false discoveries; are all factors kept, and is none?"""
    rng = np.random.default_rng([seed, n_factors, n_noise, int(100 * flips), 78])
    n = 600 if n_factors == 2 else 1000
    X = rng.normal(size=(n, n_factors + n_noise))
    y = np.sign(X[:, :n_factors].prod(axis=1)) * np.where(rng.random(n) < flips, -1, 1)
    kept = relevance_of(read_problem(X, y > 0), random_state=seed, only_decides=True).relevant
    factors = np.arange(X.shape[1]) < n_factors
    return (kept & ~factors).sum() / max(1, kept.sum()), bool(kept[factors].all()), not kept[factors].any()


def together(draws: int = 40, jobs: int = 1) -> None:
    """Features of which each alone tells nothing."""
    print("| class is the sign of | rows | noise columns | flips % | draws | all kept % | none kept % | false % |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for n_factors, n_noise, flips in ((2, 6, 0), (2, 6, 0.1), (2, 18, 0), (2, 18, 0.1), (3, 6, 0), (3, 6, 0.1)):
        found = np.array(
            joblib.Parallel(n_jobs=jobs)(
                joblib.delayed(one_product)(n_factors, n_noise, flips, seed) for seed in range(draws)
            ),
            dtype=float,
        )
        false, kept, none = 100 * found.mean(axis=0)
        rows, words = (600, "a b") if n_factors == 2 else (1000, "a b c")
        print(
            f"| {words} | {rows} | {n_noise} | {100 * flips:.0f} | {draws} | {kept:.0f} | {none:.0f} | {false:.1f} |",
            flush=True,
        )


#: Weights of rows, from a column (by its normal scores) and from whether the target is above its mean.
WEIGHTS: dict[str, Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]] = {
    "e^|x|": lambda x, _, __: np.exp(np.abs(x)),
    "e^x": lambda x, _, __: np.exp(x),
    "5 in one stratum of x": lambda x, _, __: np.where(x > 0.8, 5.0, 1.0),
    "e^|x|, and 3 in one class": lambda x, above, __: np.exp(np.abs(x)) * np.where(above, 3.0, 1.0),
    "3 in one class": lambda _, above, __: np.where(above, 3.0, 1.0),
    "e^normal, at random": lambda x, _, rng: np.exp(rng.normal(size=len(x))),
}


def one_weighted(kind: str, table: str, seed: int) -> bool:
    """Whether anything is kept in a table with a permuted target and weights."""
    rng = np.random.default_rng([seed, 79, *kind.encode()])
    X, y = load(table)
    rows = rng.permutation(len(X))[: int(rng.choice([100, 200]))]
    X, y = X[rows], rng.permutation(y[rows])
    if table not in NUMBERS:
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        X, y = X[counts[codes] >= 3], codes[counts[codes] >= 3]
    X = X[:, rng.permutation(np.flatnonzero(np.ptp(X, axis=0) > 0))[:15]]
    x = norm.ppf((rankdata(X[:, 0]) - 0.5) / len(X))
    weights = WEIGHTS[kind](x, y > y.mean(), rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target: Any = "numbers" if table in NUMBERS else "classes"
        problem = read_problem(X, y.astype(float), target=target, sample_weight=weights)
        return bool(relevance_of(problem, random_state=seed, only_decides=True).relevant.any())


def weighted(draws: int = 200) -> None:
    """How often something is kept although nothing is related to the target."""
    print("| weights | draws | something kept % |\n|---|---:|---:|")
    tables = [*CLASSES, *NUMBERS]
    for kind in WEIGHTS:
        kept = [one_weighted(kind, tables[seed % len(tables)], seed) for seed in range(draws)]
        error = 100 * (np.mean(kept) * (1 - np.mean(kept)) / draws) ** 0.5
        print(f"| {kind} | {draws} | {100 * np.mean(kept):.1f} ± {error:.1f} |", flush=True)


def show(kind: str, what: str, found: list[list[Draw]], shuffled: list[list[Draw]]) -> None:
    false = mean_and_error([[d.false for d in table] for table in found])
    power = mean_and_error([[d.power for d in table] for table in found])
    nothing = mean_and_error([[float(d.nothing) for d in table] for table in shuffled])
    print(f"| {kind} | {what} | {sum(map(len, found))} | {false} | {power} | {nothing} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["rankers"]:
        rankers()
    elif sys.argv[1:2] == ["together"]:
        together(*[int(word) for word in sys.argv[2:4]])
    elif sys.argv[1:2] == ["weights"]:
        weighted(*[int(word) for word in sys.argv[2:3]])
    else:
        main()
