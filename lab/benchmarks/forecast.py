"""Whether the forecast of a stability holds what fresh samples do: their agreement, and how often they keep a feature.

``python -m benchmarks.forecast [fresh samples] [--draws N] [--own N] [--ways auto tests score]
[--tables choosing|reporting] [--jobs N]``

Of each table with more than 1,400 rows, and of made ones, 300 rows are drawn, twice. ``stability`` sees only these.
Fresh samples of 300 are drawn from all other rows. "auto" keeps what its tests relate to the target; "tests" does the
same with the quick tests of a tolerance, in a small part of the time; "score" keeps a third of the features. The tails
of the forecast were chosen on the tables of "choosing" alone, by "tests" and "score".
"""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.stats import norm

from dubio import FeatureSelector, FisherScore, LinearR2Score, stability
from dubio.problem import read_problem
from dubio.trust.forecast import Forecast, forecast_of
from dubio.trust.resampling import _draw_rows, nogueira_index
from dubio.trust.tolerance import QuickTests
from dubio_papers.datasets.load import load

#: Named before anything was looked at.
SETS = {
    "choosing": ("page_blocks", "waveform", "pollen", "made:twins", "made:steps"),
    "reporting": ("segment", "wall_robot", "yeast", "delve_census_random_order", "made:weak", "made:blocks"),
}
ROWS, OWN, SMALLEST = 300, 2, 0.02


def whole_table(name: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """All rows of a table; classes with fewer than 2 % of the rows are left out."""
    if name.startswith("made:"):
        n, d = 4000, 20
        y, X = np.arange(n) % 2, rng.normal(size=(n, d))
        X[:, :10] += np.linspace(0.1, 0.5 if name == "made:weak" else 0.8, 10) * y[:, None]
        if name == "made:twins":
            X[:, 10:15] = X[:, :5] + 0.5 * rng.normal(size=(n, 5))
        if name == "made:blocks":
            X[:, 5:10] += 2 * X[:, :5]
        return X, y
    table = load(name)
    X, y = np.nan_to_num(pd.DataFrame(table.X).to_numpy(dtype=float)), np.asarray(table.y)
    if y.dtype.kind == "f":
        return X, y
    names, codes, counts = np.unique(y.astype(str), return_inverse=True, return_counts=True)
    rows = np.flatnonzero(np.isin(codes, np.flatnonzero(counts >= SMALLEST * len(y))))
    return X[rows], names[codes[rows]]


def _selector(way: str, y: Any, n_features: int) -> Any:
    if way == "auto":
        return FeatureSelector()
    score = LinearR2Score if y.dtype.kind == "f" else FisherScore
    return score(n_features_to_select=max(2, n_features // 3))


def _kept(way: str, X: Any, y: Any) -> Any:
    warnings.simplefilter("ignore")
    fitted = _selector(way, y, X.shape[1]).fit(X, y)
    return fitted.to_ranking().without_handed_on().support


def one(name: str, way: str, number: int, n_fresh: int, n_draws: int) -> dict[str, Any] | None:
    """One sample: its forecast, and what fresh samples do."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([7, number, sum(map(ord, name))])
    X, y = whole_table(name, np.random.default_rng(sum(map(ord, name))))
    order = rng.permutation(len(y))
    own, rest = order[:ROWS], order[ROWS:]
    drawn = [rng.choice(rest, ROWS, replace=False) for _ in range(n_fresh)]
    if way == "tests":
        forecast, selected, fresh = _by_quick_tests(X, y, own, drawn, n_draws)
    else:
        found = stability(_selector(way, y, X.shape[1]), X[own], y[own], n_draws=n_draws)
        forecast, selected = found.forecast, found.selected
        fresh = np.array([_kept(way, X[rows], y[rows]) for rows in drawn])
    if forecast is None or not fresh.any():
        return None
    agreement, index = nogueira_index(fresh).value, nogueira_index(selected)
    return {
        "table": name,
        "way": way,
        "fresh": agreement,
        "resamples": index.value,
        "forecast": forecast.agreement,
        "width": forecast.high - forecast.low,
        "holds": float(forecast.low <= agreement <= forecast.high),
        "held before": float(index.low <= agreement <= index.high),
        "share off": float(np.abs(forecast.frequency - fresh.mean(axis=0)).mean()),
        "share off before": float(np.abs(selected.mean(axis=0) - fresh.mean(axis=0)).mean()),
    }


def _by_quick_tests(X: Any, y: Any, own: Any, drawn: Any, n_draws: int) -> tuple[Forecast | None, Any, Any]:
    """The forecast, what resamples keep, and what fresh samples keep."""
    target: Any = "numbers" if y.dtype.kind == "f" else "classes"
    whole, tests = read_problem(X[own], y[own], target=target), QuickTests(n_jobs=1)
    pvalues, selected = [], []
    for number in range(n_draws):
        part = whole.rows(_draw_rows(whole.supervision.strata, None, False, np.random.default_rng([number, 7])))
        pvalues.append(tests.pvalues(part, "resample")[0])
        selected.append(tests.kept(part, "resample"))
    fresh = np.array([tests.kept(read_problem(X[rows], y[rows], target=target), "fresh") for rows in drawn])
    kept, statistics = np.array(selected), norm.isf(np.maximum(pvalues, 1e-300) / 2)
    ranks = np.zeros(kept.shape, dtype=np.int64)  # not used: tests decide
    return forecast_of(kept, ranks, 0.632, statistics) if kept.any() else None, kept, fresh


def main() -> None:
    """Print one line per table and way, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fresh", type=int, nargs="?", default=40)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--own", type=int, default=OWN)
    parser.add_argument("--ways", nargs="+", choices=["auto", "tests", "score"], default=["auto", "score"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", choices=list(SETS), action="append")
    options = parser.parse_args()
    for part in options.tables or SETS:
        tasks = [(name, way, number) for name in SETS[part] for way in options.ways for number in range(options.own)]
        done = joblib.Parallel(n_jobs=options.jobs, return_as="generator")(
            joblib.delayed(one)(*task, options.fresh, options.draws) for task in tasks
        )
        found = []
        for row in done:
            if row is not None:
                print(json.dumps(row), flush=True)
                found.append(row)
        table = pd.DataFrame(found)
        print(f"\n{part}\n{table.groupby(['table', 'way'], sort=False).mean().round(2).to_string()}")
        means = table.groupby("way").mean(numeric_only=True).round(3)
        print(f"{means.to_string()}\nall: {table.mean(numeric_only=True).round(3).to_dict()}", flush=True)


if __name__ == "__main__":
    main()
