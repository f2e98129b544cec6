"""What is promised for further kinds of doubt: false discoveries, silence, power, shares of positives, wrong numbers.

``python -m benchmarks.kinds_of_doubt tests|positives|numbers [draws per table] [jobs]`` prints the numbers of the pages
on ordered classes, positive rows, intervals and wrong numbers. Real tables get a shuffled copy of each column. An
original column counts as relevant, so the power is a lower bound.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy import stats
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score

from benchmarks.false_discoveries import CLASSES, load, mean_and_error
from dubio import FeatureSelector, audit_labels
from dubio.noise import estimate_positives
from dubio.problem import read_problem
from dubio.significance import relevance_of
from dubio.supervision import blur_numbers, censor_numbers, label_some_positives, misstate_numbers

#: Rows of a draw, and share of the rows of a class that are labelled.
ROWS, SHARE = 300, 0.3
#: Tables on which something was chosen; the others are for reports.
CHOSEN_ON = ("iris", "wine", "vehicle", "ecoli", "glass", "segment")
#: Tables whose columns serve as numeric targets: the table, and the column (None: its own target).
NUMERIC = [
    ("pollen", None),
    ("delve_census_random_order", None),
    ("breast_tissue", 0),
    ("sonar", 20),
    ("vertebral_column", 0),
    ("waveform", 10),
    ("ionosphere", 5),
    ("yeast", 0),
    ("vehicle", 3),
    ("wine", 0),
]


class Draw(NamedTuple):
    """One test: share of false discoveries, power, whether nothing was found, power with the known target."""

    false: float
    power: float
    nothing: bool
    known: float


def numeric_table(name: str, column: int | None) -> tuple[np.ndarray, np.ndarray]:
    """A table and a numeric target."""
    X, y = load(name)
    if column is None:
        return X, y.astype(float)
    return np.delete(X, column, axis=1), X[:, column]


def draw_table(kind: str, table: Any, rng: np.random.Generator) -> tuple[np.ndarray, Any, Any, np.ndarray]:
    """The features with shuffled copies, the doubtful target, the known target, and which features are relevant."""
    if kind == "positives":
        X, y = load(table)
        names, counts = np.unique(y, return_counts=True)
        y = (y == names[counts.argmax()]).astype(int)
    else:
        X, y = numeric_table(*table)
    rows = rng.permutation(len(X))[:ROWS]
    columns = np.sort(rng.permutation(X.shape[1])[:20])
    X, y = X[rows][:, columns], y[rows]
    X = X[:, np.ptp(X, axis=0) > 0]
    A = np.hstack([X, rng.permuted(X, axis=0)])
    return A, y, None, np.arange(A.shape[1]) < X.shape[1]


def doubted(kind: str, y: np.ndarray, seed: int) -> tuple[Any, Any, str, str]:
    """The doubtful and the fully known target, and how each is read."""
    if kind == "positives":
        return label_some_positives(y, 1, SHARE, random_state=seed), y, "auto", "classes"
    if kind == "ordered":
        codes = np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75]))
        return codes, y, "ordered", "numbers"
    if kind == "intervals":
        return blur_numbers(y, 1.0, random_state=seed), y, "auto", "numbers"
    return censor_numbers(y, 0.5, random_state=seed), y, "auto", "numbers"


def one(kind: str, table: Any, seed: int, permuted: bool) -> Draw:
    rng = np.random.default_rng([seed, 1818])
    A, y, _, relevant = draw_table(kind, table, rng)
    if permuted:
        y = rng.permutation(y)
    given, known, target, known_target = doubted(kind, y, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = relevance_of(read_problem(A, given, target=target), random_state=seed).relevant
        fully = kept
        if not permuted:
            fully = relevance_of(read_problem(A, known, target=known_target), random_state=seed).relevant
    false = (kept & ~relevant).sum() / max(1, kept.sum())
    return Draw(false, kept[relevant].mean(), not kept.any(), fully[relevant].mean())


def shown(values: list[list[float]]) -> str:
    """The mean over tables in percent; with several draws per table, with its standard error."""
    return mean_and_error(values) if len(values[0]) > 1 else f"{100 * np.mean(values):.1f}"


def tests(draws: int, jobs: int) -> None:
    """False discoveries, silence and power of each kind."""
    print("| known | draws | false discoveries % | power % | power, target known % | nothing, target permuted % |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    kinds = {"4 ordered classes": "ordered", "30 % of positives labelled": "positives"}
    kinds |= {"intervals one deviation wide": "intervals", "50 % censored": "censored"}
    for words, kind in kinds.items():
        tables: list[Any] = CLASSES if kind == "positives" else NUMERIC
        count = draws if kind == "positives" else max(draws, round(draws * len(CLASSES) / len(NUMERIC)))
        found = []
        for permuted in (False, True):
            flat = joblib.Parallel(n_jobs=jobs)(
                joblib.delayed(one)(kind, table, seed, permuted) for table in tables for seed in range(count)
            )
            found.append([flat[i : i + count] for i in range(0, len(flat), count)])
        cells = [
            shown([[float(getattr(d, name)) for d in table] for table in found[which]])
            for which, name in ((0, "false"), (0, "power"), (0, "known"), (1, "nothing"))
        ]
        print(f"| {words} | {count * len(tables)} | {' | '.join(cells)} |", flush=True)


def one_positive(table: str, seed: int) -> dict[str, Any]:
    """The share of positives, and the area of the selected features, in three ways."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 1819])
    X, y = load(table)
    names, counts = np.unique(y, return_counts=True)
    truth = y == names[np.argsort(-counts)[seed % 2]]
    rows = rng.permutation(len(X))[: 2 * ROWS]
    train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    A = np.hstack([X, rng.permuted(X, axis=0)])
    labels = label_some_positives(truth[train], True, SHARE, random_state=seed)
    rest = ~labels.is_positive
    found = estimate_positives(A[train], labels)
    row = {"table": table, "truth": truth[train][rest].mean(), "share": found.share}
    row["separates"] = roc_auc_score(truth[train][rest], found.scores[rest])
    ways = {"positives": labels, "negatives": labels.is_positive.astype(int), "known": truth[train].astype(int)}
    for way, target in ways.items():
        order = np.argsort(FeatureSelector(random_state=seed).fit(A[train], target).ranking_)[:5]
        forest = RandomForestClassifier(200, min_samples_leaf=2, random_state=0).fit(A[train][:, order], truth[train])
        row[way] = roc_auc_score(truth[test], forest.predict_proba(A[test][:, order])[:, 1])
    return row


def positives(draws: int, jobs: int) -> None:
    """Error of the share, and the area under the curve of five features."""
    tables = [name for name in CLASSES if name not in CHOSEN_ON]
    rows = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(one_positive)(table, seed) for table in tables for seed in range(draws)
    )
    error = np.array([abs(row["share"] - row["truth"]) for row in rows])
    clear = np.array([row["separates"] >= 0.95 for row in rows])
    print(f"share of positives: off by {100 * error.mean():.1f} points on average ({len(rows)} draws)")
    if clear.any():
        print(f"by {100 * error[clear].mean():.1f} where the experts separate the classes ({clear.sum()} draws)")
    area = {way: np.array([row[way] for row in rows]) for way in ("positives", "negatives", "known")}
    for way, values in area.items():
        print(f"area of five features, {way}: {values.mean():.4f}")
    for other in ("negatives", "known"):
        gain = area["positives"] - area[other]
        p = stats.ttest_1samp(gain, 0).pvalue
        print(f"positives minus {other}: {gain.mean():+.4f} ± {stats.sem(gain):.4f} (p = {p:.2g})")


def one_number(table: tuple[str, int | None], seed: int) -> dict[str, float]:
    """The area under the curve of finding a tenth of grossly wrong numbers: ours, and cleanlab's regression audit."""
    from cleanlab.regression.learn import CleanLearning

    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 1820])
    X, y = numeric_table(*table)
    rows = rng.permutation(len(X))[:ROWS]
    X, y = X[rows], y[rows]
    given = misstate_numbers(y, 0.1, random_state=seed)
    wrong = given != y
    audit = audit_labels(X, given, target="numbers")
    found = {"dubio": roc_auc_score(wrong, -audit.rank), "rate": abs(audit.error_rate - 0.1)}
    found |= {"flagged": audit.doubtful.sum(), "right": (audit.doubtful & wrong).sum(), "wrong": wrong.sum()}
    for name, model in (("cleanlab", None), ("cleanlab with a forest", RandomForestRegressor(100, random_state=0))):
        issues = CleanLearning(model=model, seed=0).find_label_issues(X, given)
        found[name] = roc_auc_score(wrong, -issues["label_quality"])
    return found


def numbers(draws: int, jobs: int) -> None:
    """Finding a tenth of grossly wrong numbers, on tables on which nothing was chosen."""
    tables = [table for table in NUMERIC if table[0] not in (*CHOSEN_ON, "pollen")]
    rows = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(one_number)(table, seed) for table in tables for seed in range(draws)
    )
    print(f"{len(rows)} draws from {len(tables)} tables")
    for name in ("dubio", "cleanlab", "cleanlab with a forest"):
        print(f"area, {name}: {np.mean([row[name] for row in rows]):.3f}")
        gain = np.array([row["dubio"] - row[name] for row in rows])
        print(
            f"  dubio minus this: {gain.mean():+.3f} ± {stats.sem(gain):.3f}; at least as good in {(gain >= 0).sum()}"
        )
    total = {name: sum(row[name] for row in rows) for name in ("flagged", "right", "wrong")}
    print(f"flagged {total['flagged']}, of which wrong {total['right']}, of {total['wrong']} wrong numbers")
    print(f"share of wrong numbers: off by {100 * np.nanmean([row['rate'] for row in rows]):.1f} points on average")


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "tests"
    began = time.perf_counter()
    {"tests": tests, "positives": positives, "numbers": numbers}[what](
        int(sys.argv[2]) if len(sys.argv) > 2 else 2, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    )
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
