"""How well the label audit does: wrong labels found, precision, claimed probabilities, rates; on real and wide tables.

``python -m benchmarks.audit_quality [--draws 3]`` prints the tables of docs/wrong_labels.md.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from dubio import audit_labels
from dubio.doubt.anchor import Anchor
from dubio.doubt.engines import confident_count
from dubio.doubt.experts import out_of_fold
from dubio.problem import read_problem
from dubio.simulate import flip_labels_near_border
from dubio_papers.datasets.load import load

TABLES = ("sonar", "vehicle", "segment", "heart_statlog", "wine", "waveform", "ecoli", "glass")
KINDS = ("uniform", "next", "one class", "border")
RATES = (0.05, 0.1, 0.2)
MOST_ROWS, FEWEST = 400, 12


def wrong_labels(X: Any, codes: Any, kind: str, rate: float, rng: np.random.Generator) -> Any:
    """The codes with a share of them made wrong, in one of four ways."""
    n, k = len(codes), int(codes.max()) + 1
    given = codes.copy()
    chosen = rng.random(n) < rate
    if kind == "uniform":
        given[chosen] = (codes[chosen] + rng.integers(1, k, chosen.sum())) % k
    elif kind == "next":
        given[chosen] = (codes[chosen] + 1) % k
    elif kind == "one class":
        largest = int(np.bincount(codes).argmax())
        rows = np.flatnonzero(codes == largest)
        given[rng.permutation(rows)[: min(int(rate * n), len(rows) // 2)]] = (largest + 1) % k
    else:
        given = np.asarray(flip_labels_near_border(X, codes, rate, random_state=int(rng.integers(2**31))))
    return given


def measured(name: str, wrong: Any, doubt: Any, flagged: Any, rate: float | None = None) -> dict[str, Any]:
    """Counts from one audit: what was wrong, what was flagged, what was claimed."""
    some = 0 < wrong.sum() < len(wrong)
    return {
        "way": name,
        "auroc": roc_auc_score(wrong, doubt) if some else np.nan,
        "wrong": wrong.sum(),
        "flagged": flagged.sum(),
        "found": (wrong & flagged).sum(),
        "claimed": doubt[flagged].sum(),
        "rate error": np.nan if rate is None else 100 * abs(rate - wrong.mean()),
    }


def audited(X: Any, given: Any, truth: Any) -> list[dict[str, Any]]:
    """The default engine, the uniform one, and cleanlab's rule on the forest alone."""
    wrong = given != truth
    rows = []
    for engine in ("transitions", "pooled"):
        found = audit_labels(X, given, engine=engine)
        found = found.with_anchor(Anchor.of(wrong.mean()))
        rows.append(measured(engine, wrong, found.wrong, found.doubtful, found.error_rate) | {"judged": found.judged})
    forest = out_of_fold(read_problem(X, given), random_state=0).probabilities[0]
    codes = np.unique(given, return_inverse=True)[1]
    own = forest[np.arange(len(given)), codes]
    rows.append(measured("forest, cleanlab's rule", wrong, 1 - own, confident_count(forest, codes).doubtful))
    return rows


def summary(rows: list[dict[str, Any]], by: list[str]) -> str:
    """Shares over all draws."""
    table = pd.DataFrame(rows)
    sums = table.groupby(by, sort=False)[["wrong", "flagged", "found", "claimed"]].sum()
    means = table.groupby(by, sort=False)[["auroc", "rate error"]].mean()
    shown = means.assign(
        **{
            "found %": 100 * sums["found"] / sums["wrong"],
            "precision %": 100 * sums["found"] / sums["flagged"],
            "claimed %": 100 * sums["claimed"] / sums["flagged"],
            "flagged": sums["flagged"],
        }
    )
    if "judged" in table:
        shown["judged %"] = (
            100 * table.assign(judged=table["judged"].astype(float)).groupby(by, sort=False)["judged"].mean()
        )
    return shown.round({"auroc": 3}).round(1).to_string()


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    rows = []
    for name in TABLES:
        table = load(name)
        y = np.asarray(table.y).astype(str)
        X = np.asarray(table.X, dtype=float)
        names, counts = np.unique(y, return_counts=True)
        enough = np.isin(y, names[counts >= FEWEST])
        X, codes = X[enough], np.unique(y[enough], return_inverse=True)[1]
        for kind in KINDS:
            for rate in RATES:
                for draw in range(draws):
                    rng = np.random.default_rng([9000 + draw, len(rows)])
                    some = rng.permutation(len(X))[:MOST_ROWS]
                    given = wrong_labels(X[some], codes[some], kind, rate, rng)
                    if np.bincount(given, minlength=codes.max() + 1).min() < 3:
                        continue
                    rows += [row | {"kind": kind} for row in audited(X[some], given, codes[some])]
    print(summary(rows, ["kind", "way"]))
    rows = []
    for columns in (50, 200, 500, 2000):
        for rate in (0.0, 0.1, 0.2, None):
            for draw in range(draws * 4):
                rng = np.random.default_rng([columns, draw, 9])
                X = rng.normal(size=(200, columns))
                truth = (X[:, 0] + X[:, 1] > 0).astype(int) if rate is not None else rng.integers(0, 2, 200)
                given = np.where(rng.random(200) < (rate or 0.0), 1 - truth, truth)
                label = "noise" if rate is None else f"{100 * rate:.0f} %"
                rows += [row | {"columns": columns, "wrong labels": label} for row in audited(X, given, truth)[:1]]
    print(summary(rows, ["columns", "wrong labels"]))


if __name__ == "__main__":
    main()
