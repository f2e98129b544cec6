"""Skewed columns and wide tables: true columns kept by the tests, against a test that skew cannot hurt.

Twenty columns are related to one of two classes; the others are noise, in part correlated: 30 factors, each in a tenth
of the columns. 15 % of the labels are wrong. Columns are as drawn, or skewed: powers of two, one value in ten an
outlier, or counts. The yardstick is the F-test of the normal scores of each column, with Benjamini and Hochberg's rule.

Run ``python -m benchmarks.skewed [draws] [--first N] [--store FILE] [--seconds N]``: ten draws of each line take about
4 minutes on one core.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.draws import drawn, mean_and_error, parser_of
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem

SHAPES = [(150, 1000), (300, 300), (80, 3000)]
SKEWS: dict[str, Any] = {
    "none": lambda X, rng: X,
    "2^x": lambda X, rng: 2.0 ** (1.5 * X + 6),
    "outliers": lambda X, rng: X + (rng.random(X.shape) < 0.1) * rng.normal(0, 10, X.shape),
    "counts": lambda X, rng: rng.poisson(np.exp(X + 0.5)).astype(np.float64),
}
N_TRUE = 20


def table(n: int, d: int, skew: str, seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """The columns, the classes, and which columns are true."""
    rng = np.random.default_rng([seed, n, d])
    y = rng.integers(0, 2, n)
    loads = (rng.random((30, d)) < 0.1) * rng.choice([-0.5, 0.5], size=(30, d))
    X = (rng.normal(size=(n, d)) + rng.normal(size=(n, 30)) @ loads) / np.sqrt(1 + (loads**2).sum(axis=0))
    true = np.isin(np.arange(d), rng.permutation(d)[:N_TRUE])
    X[:, true] += np.outer(y - 0.5, rng.uniform(0.6, 1.2, N_TRUE) * rng.choice([-1, 1], N_TRUE))
    flipped = np.where(rng.random(n) < 0.15, 1 - y, y)
    return SKEWS[skew](X, rng), flipped, true


def kept_by(pvalues: NDArray[Any], relevant: NDArray[Any], true: NDArray[Any]) -> list[float]:
    """True columns kept, share of false ones, and true columns among the first 20 by p-value."""
    first = np.argsort(pvalues, kind="stable")[:N_TRUE]
    false = (relevant & ~true).sum() / max(1, relevant.sum())
    return [float((relevant & true).sum()), float(false), float(true[first].sum())]


def one(n: int, d: int, skew: str, seed: int) -> list[float]:
    X, y, true = table(n, d, skew, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = relevance_of(read_problem(X, y), random_state=seed, only_decides=True)
    scores = stats.norm.ppf((stats.rankdata(X, axis=0) - 0.5) / n)
    pvalues = stats.f_oneway(scores[y == 0], scores[y == 1]).pvalue
    kept = stats.false_discovery_control(pvalues) <= 0.05
    return [*kept_by(found.pvalues, found.relevant, true), *kept_by(pvalues, kept, true)]


def main() -> None:
    asked = parser_of(__doc__, 200).parse_args()
    found = drawn({f"{n} x {d:,} | {skew}": partial(one, n, d, skew) for n, d in SHAPES for skew in SKEWS}, asked)
    print("| rows x columns | skew | draws | true kept | F-test | share | false % | first 20 | F-test | share |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for line, draws in found.items():
        (kept, false, first, their_kept, _, their_first), errors, counts = mean_and_error(draws)
        of_kept = f"{kept:.1f} | {their_kept:.1f} | {kept / max(their_kept, 1e-9):.2f}"
        of_first = f"{first:.1f} | {their_first:.1f} | {first / their_first:.2f}"
        print(f"| {line} | {counts[0]} | {of_kept} | {100 * false:.1f} ± {100 * errors[1]:.1f} | {of_first} |")


if __name__ == "__main__":
    main()
