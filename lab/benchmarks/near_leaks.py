"""Near-leaks: how often a column that is the target in disguise is named, and how often a very good honest one is.

Tables have twelve other columns: four differ between the classes by half a standard deviation, eight are noise. One
column is added; labels are wrong in some rows, so that it disagrees there.

* *copy*: the class itself. *codes*: five codes, of which three stand for one class. *score*: whole numbers from 0 to
  10. *number*: six standard deviations between the classes.
* *gaps*: a number that only the rows of one class have. *gaps of some*: that only six in ten of them have.
* *honest*: a number with an area under the curve of 0.95, normal, with a heavy tail (t with 4 degrees of freedom) or
  exponential. Nothing should be named.

Run ``python -m benchmarks.near_leaks [draws] [jobs] [first seed]``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from dubio.alerts import find_alerts
from dubio.findings import LEAKS
from dubio.problem import read_problem

LEAKING = ("copy", "codes", "score", "number", "gaps", "gaps of some")
HONEST = ("honest normal", "honest heavy tail", "honest exponential")
#: Differences between the classes with an area of 0.95; of the exponential, the ratio of the means.
NORMAL, HEAVY, RATIO = 2.326, 3.12, 19.0


def column(kind: str, truth: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """The column of one kind."""
    n = len(truth)
    if kind == "codes":
        return np.where(truth == 1, rng.integers(0, 3, n) * 2, rng.integers(0, 2, n) * 2 + 1).astype(float)
    if kind == "score":
        return np.where(truth == 1, rng.integers(6, 11, n), rng.integers(0, 6, n)).astype(float)
    if kind in ("gaps", "gaps of some"):
        has = (truth == 1) & (rng.random(n) < (1.0 if kind == "gaps" else 0.6))
        return np.where(has, rng.gamma(2, 10, n), np.nan)
    noise: dict[str, Any] = {
        "copy": truth.astype(float),
        "number": 6 * truth + rng.normal(size=n),
        "honest normal": NORMAL * truth + rng.normal(size=n),
        "honest heavy tail": HEAVY * truth + rng.standard_t(4, size=n),
        "honest exponential": rng.exponential(np.where(truth == 1, RATIO, 1.0)),
    }
    return np.asarray(noise[kind])


def one(kind: str, n: int, share: float, wrong: float, seed: int) -> bool:
    """Whether the column of one draw is named."""
    rng = np.random.default_rng([seed, (*LEAKING, *HONEST).index(kind), n, int(100 * share), int(100 * wrong)])
    truth = rng.permutation((np.arange(n) < share * n).astype(int))
    X = rng.normal(size=(n, 13))
    X[:, :4] += 0.5 * truth[:, None]
    X[:, 12] = column(kind, truth, rng)
    y = np.where(rng.permutation(n) < round(wrong * n), 1 - truth, truth)
    alerts = find_alerts(read_problem(X, y, allow_nan=True))
    return any("x12" in alert.features for alert in alerts if alert.kind in LEAKS)


def main(draws: int = 200, jobs: int = 1, first: int = 0) -> None:
    """Print one line per kind of column, number of rows and share of the smaller class."""
    began = time.perf_counter()
    print("| column | rows | ill % | wrong labels % | draws | named % | wanted |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for kind in (*LEAKING, *HONEST):
        for n in (200, 400, 1000):
            for share in (0.2, 0.5):
                for wrong in (0.0, 0.02, 0.05, 0.1) if kind in LEAKING else (0.0,):
                    seeds = range(first, first + draws)
                    named = joblib.Parallel(jobs)(joblib.delayed(one)(kind, n, share, wrong, s) for s in seeds)
                    wanted = "<= 5" if kind in HONEST else "" if wrong == 0.1 else ">= 95"
                    facts = (kind, n, f"{100 * share:.0f}", f"{100 * wrong:.0f}", draws, f"{100 * np.mean(named):.1f}")
                    print(f"| {' | '.join(map(str, facts))} | {wanted} |", flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
