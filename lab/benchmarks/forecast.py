"""Whether the forecast of a stability holds what fresh samples do: of the features that one of them keeps, the share
that another keeps as well ("fresh"), and how often they keep a feature.

``python -m benchmarks.forecast [fresh samples] [--draws N] [--own N] [--ways auto tests score]
[--tables choosing|reporting] [--store FOLDER] [--minutes N]``

Of each table with more than 1,400 rows, and of made ones, 300 rows are drawn, twice. ``stability`` sees only these.
Fresh samples of 300 are drawn from all other rows. "auto" keeps what its tests relate to the target; "tests" does the
same with the quick tests of a tolerance, in a small part of the time; "score" keeps a third of the features. The tails
of the forecast were chosen on the tables of "choosing" alone, by "tests" and "score".
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from dubio import FisherScore, LinearR2Score
from dubio.evidence.relevance import passes, qvalues_of, relevance_of
from dubio.problem import read_problem
from dubio.trust.forecast import forecast_of
from dubio.trust.resampling import _draw_rows
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


def _drawn(name: str, way: str, number: int, n_fresh: int, n_draws: int) -> dict[str, Any]:
    """One sample: what its resamples keep, and why, and what fresh samples keep."""
    rng = np.random.default_rng([7, number, sum(map(ord, name))])
    X, y = whole_table(name, np.random.default_rng(sum(map(ord, name))))
    order = rng.permutation(len(y))
    own, rest = order[:ROWS], order[ROWS:]
    target: Any = "numbers" if y.dtype.kind == "f" else "classes"
    whole = read_problem(X[own], y[own], target=target)
    parts = [
        whole.rows(_draw_rows(whole.supervision.strata, None, False, np.random.default_rng([draw, 7])))
        for draw in range(n_draws)
    ]
    fresh = [rng.choice(rest, ROWS, replace=False) for _ in range(n_fresh)]
    parts += [read_problem(X[rows], y[rows], target=target) for rows in fresh]
    tests = QuickTests(n_jobs=1)
    decided = [_decided(way, part, target, tests) for part in parts]
    kept, why = (np.array(found) for found in zip(*decided, strict=True))
    return {"kept": kept[:n_draws], "why": why[:n_draws], "fresh": kept[n_draws:]}


def _decided(way: str, part: Any, target: str, tests: QuickTests) -> tuple[Any, Any]:
    """The features that are kept of a table, and the statistics or scores by which they are."""
    if way == "score":
        score = LinearR2Score if target == "numbers" else FisherScore
        fitted = score(n_features_to_select=max(2, part.n_features // 3)).fit_problem(part)
        return fitted.support_, fitted.scores_
    if way == "auto":  # the selector keeps what these tests relate to the target; its search only orders it
        found = relevance_of(part, n_jobs=1, only_decides=True)
        kept, pvalues = found.relevant, found.pvalues
    else:
        pvalues, counts = tests.pvalues(part, part.n_rows)
        kept = passes(qvalues_of(pvalues, counts), tests.alpha)
    return kept, norm.isf(np.maximum(pvalues, 1e-300) / 2)


def one(name: str, way: str, number: int, n_fresh: int, n_draws: int, store: Path | None) -> dict[str, Any] | None:
    """One sample: its forecast, and what fresh samples do."""
    warnings.simplefilter("ignore")
    file = None if store is None else store / f"{name.replace(':', '_')}-{way}-{number}-{n_fresh}-{n_draws}.npz"
    if file is not None and file.exists():
        with np.load(file) as stored:
            drawn = dict(stored)
    else:
        drawn = _drawn(name, way, number, n_fresh, n_draws)
        if file is not None:
            np.savez_compressed(file, **drawn)
    selected, fresh = drawn["kept"], drawn["fresh"]
    ranks = np.array(
        [np.lexsort((-why, ~kept)).argsort() + 1 for kept, why in zip(selected, drawn["why"], strict=True)]
    )
    if not (selected.any() and fresh.any()):
        return None
    why = {"scores" if way == "score" else "statistics": drawn["why"]}
    forecast = forecast_of(selected, ranks, 0.632, **why)
    agreement = overlap(fresh)
    return {
        "table": name,
        "way": way,
        "number": number,
        "kept": float(fresh.mean()),
        "fresh": agreement,
        "resamples": overlap(selected),
        "forecast": forecast.agreement,
        "width": forecast.high - forecast.low,
        "holds": float(forecast.low <= agreement <= forecast.high),
        "share off": float(np.abs(forecast.frequency - fresh.mean(axis=0)).mean()),
        "share off before": float(np.abs(selected.mean(axis=0) - fresh.mean(axis=0)).mean()),
    }


def overlap(kept: Any) -> float:
    """Of the features that one sample keeps, the share that another one keeps as well: mean over pairs of samples."""
    counts, samples = kept.sum(axis=0), len(kept)
    return float((counts * (counts - 1)).sum() / (samples - 1) / counts.sum())


def main() -> None:
    """Print one line per table and way, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fresh", type=int, nargs="?", default=40)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--own", type=int, default=OWN)
    parser.add_argument("--ways", nargs="+", choices=["auto", "tests", "score"], default=["auto", "tests", "score"])
    parser.add_argument("--tables", choices=list(SETS), action="append")
    parser.add_argument("--store", type=Path, help="a folder; what is in it is not drawn again")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no sample after this time")
    options = parser.parse_args()
    if options.store is not None:
        options.store.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    for part in options.tables or SETS:
        found = []
        for number, way, name in itertools.product(range(options.own), options.ways, SETS[part]):
            if time.monotonic() - began > 60 * options.minutes:
                break
            row = one(name, way, number, options.fresh, options.draws, options.store)
            if row is not None:
                print(json.dumps(row), flush=True)
                found.append(row)
        table = pd.DataFrame(found)
        print(f"\n{part}\n{table.groupby(['table', 'way'], sort=False).mean().round(2).to_string()}")
        means = table.groupby("way").mean(numeric_only=True).round(3)
        print(f"{means.to_string()}\nall: {table.mean(numeric_only=True).round(3).to_dict()}", flush=True)


if __name__ == "__main__":
    main()
