"""Checked rows: false discoveries about the truth, power, verdicts, and intervals of error rates.

Made tables of 20 columns, 5 of them related to the truth (means of two classes apart by .9, .8, .7, .6 and .5 standard
deviations; numbers: as much of their standard deviation), under labels that are right, 20 % wrong, 40 % of one class
wrong, or missed in 60 % of the cases where an irrelevant column, the *driver*, is above 0.3. Numbers: the same rows
have a number that is 3 standard deviations lower. Groups: three rows of each patient, drawn together.

Real tables: every column, and a copy of all columns whose rows are shuffled together, which is false; a shuffled copy
is the driver. A column counts as true if it passes Bonferroni's rule on all true labels.

For each line: false discoveries about the truth and power of the tests; how often the driver is said to be related to
the truth; how often "related only to how rows were labelled" is said of the driver and of true columns; power of the
checked rows alone, of the labels after correcting those rows, and how often these keep the driver; how often the
interval of the share of wrong labels holds, and its width over that of the checked rows alone. With ``--peers`` also
cleanlab (drop the flagged rows, then the F-test) and ppi-python (its coefficient test, column by column).

Run ``python -m benchmarks.checked [DRAWS] [--jobs N] [--part made|real] [--only WORD] [--peers] [--store FILE]``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import false_discovery_control
from sklearn.feature_selection import f_classif

from benchmarks.false_discoveries import load
from dubio import checked_rows
from dubio.doubt.audit import audit_problem
from dubio.doubt.belief import believe
from dubio.doubt.checked_anchor import anchor_of
from dubio.doubt.experts import ExpertOptions
from dubio.evidence.relevance import relevance_of
from dubio.evidence.truth import effects, evidence_of, truth_of, truth_pvalues
from dubio.problem import read_problem

Floats = NDArray[np.float64]

ERRORS = ("right", "20 % wrong", "40 % of one class", "driven by a column")
TARGETS = ("two classes", "four classes", "numbers", "groups")
#: Rows of the table, and of these checked.
SIZES = ((600, 60), (600, 120), (2000, 120))
RELATED = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
#: Rows of each patient.
VISITS = 3
#: The column that drives the errors.
DRIVER = 5
REAL = ("wine", "glass", "sonar", "ionosphere", "vehicle", "segment", "vertebral_column", "heart_statlog")
REAL += ("waveform", "ecoli")
#: Rows and columns of a real table at most.
MOST_ROWS, MOST_COLUMNS = 400, 15


def wrong_rows(errors: str, truth: NDArray[Any], driver: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """The rows whose label is wrong; "one class" is the last."""
    chance = rng.random(len(truth))
    of_one = truth == truth.max()
    if errors == "20 % wrong":
        return chance < 0.2
    if errors == "40 % of one class":
        return of_one & (chance < 0.4)
    if errors == "driven by a column":
        return of_one & (driver > 0.3) & (chance < 0.6)
    return np.zeros(len(truth), dtype=bool)


class Table(NamedTuple):
    """A table, its truth and its labels, and which columns are related to the truth, and which are not."""

    X: Floats
    truth: NDArray[Any]
    given: NDArray[Any]
    groups: NDArray[Any] | None
    true: NDArray[np.bool_]
    false: NDArray[np.bool_]


def made(target: str, errors: str, n: int, seed: int) -> Table:
    """One made table."""
    rng = np.random.default_rng([seed, TARGETS.index(target), ERRORS.index(errors), n, 37])
    units = n // VISITS if target == "groups" else n
    n_classes = 4 if target == "four classes" else 2
    X, codes = rng.normal(size=(units, 20)), rng.integers(n_classes, size=units)
    wrong_classes = (codes + rng.integers(1, n_classes, units)) % n_classes
    truth: NDArray[Any] = codes
    if target == "numbers":
        truth = rng.normal(size=units)
        X[:, :5] += RELATED / 2 * truth[:, None]
        codes = (truth > 0).astype(np.int64)
    elif n_classes == 2:
        X[:, :5] += RELATED * codes[:, None]
    else:  # each of the columns has its own order of the classes
        X[:, :5] += RELATED * ((codes[:, None] + np.arange(5)) % 4) / 2
    wrong = wrong_rows(errors, codes, X[:, DRIVER], rng)
    lower: Any = truth - 3.0 if target == "numbers" else wrong_classes if errors == "20 % wrong" else 0
    given, groups = np.where(wrong, lower, truth), None
    if target == "groups":
        groups = np.repeat(np.arange(units), VISITS)
        X = X[groups] + 0.5 * rng.normal(size=(len(groups), 20))
        truth, given = truth[groups], given[groups]
    true = np.arange(20) < 5
    return Table(X, truth, given, groups, true, ~true)


def real(name: str, errors: str, seed: int) -> Table:
    """A real table with shuffled copies of its columns, and labels with made errors."""
    rng = np.random.default_rng([seed, REAL.index(name), ERRORS.index(errors), 37])
    X, y = load(name)
    y = np.unique(y, return_inverse=True)[1]
    kept = np.isin(y, np.flatnonzero(np.bincount(y) >= 10))
    rows = rng.permutation(np.flatnonzero(kept))[:MOST_ROWS]
    X, truth = np.asarray(X, dtype=np.float64)[rows], np.unique(y[rows], return_inverse=True)[1]
    X = X[:, X.std(axis=0) > 0]
    X = X[:, rng.permutation(X.shape[1])[:MOST_COLUMNS]]
    copies = X[rng.permutation(len(X))]
    n_true, shuffled = X.shape[1], np.column_stack([copies[:, :DRIVER], rng.permutation(X[:, -1]), copies[:, DRIVER:]])
    true = np.append(np.zeros(n_true + 1, dtype=bool), f_classif(X, truth)[1] < 0.05 / n_true)
    X = np.column_stack([shuffled, X])
    driver = stats.zscore(X[:, DRIVER])
    wrong = wrong_rows(errors, truth, driver, rng)
    others = (truth + rng.integers(1, truth.max() + 1, len(truth))) % (truth.max() + 1)
    given = np.where(wrong, others if errors == "20 % wrong" else 0, truth)
    return Table(X, truth, given, None, true, np.arange(X.shape[1]) <= n_true)


def kept_of(pvalues: Floats) -> NDArray[np.bool_]:
    """The columns that Benjamini and Hochberg's rule keeps at 5 %."""
    return np.asarray(false_discovery_control(pvalues) <= 0.05)


def one(table: Table, m: int, seed: int, peers: bool) -> dict[str, Any]:
    """What is found in one table of which ``m`` rows are checked."""
    warnings.simplefilter("ignore")
    X, truth, given, groups, true, false = table
    rng = np.random.default_rng([seed, m, 1])
    units = np.arange(len(X)) if groups is None else groups
    n_units = len(np.unique(units))
    drawn = np.isin(units, rng.permutation(n_units)[: m if groups is None else m // VISITS])
    values = np.where(drawn, truth.astype(object), None)
    checked = checked_rows(values, chance=float(drawn.mean()))
    problem = read_problem(X, given, groups=groups, checked=checked, target="auto")
    options = ExpertOptions()
    problem = problem.with_checks(
        replace(problem.checks, belief=believe(problem, "experts", True, options).supervision)
    )
    label = relevance_of(replace(problem, checks=None)).relevant
    found = truth_of(problem, label, 0.05)
    about = found.are("truth")
    alone = evidence_of(problem)
    nothing = np.zeros((1, *alone.proxies.shape[1:]))
    alone_kept = kept_of(truth_pvalues(replace(alone, proxies=nothing), effects(replace(alone, proxies=nothing))))
    corrected = relevance_of(read_problem(X, np.where(drawn, truth, given), groups=groups, target="auto")).relevant
    line = {
        "false": (about & false).sum() / max(1, about.sum()),
        "power": about[true].mean() if true.any() else np.nan,
        "driver kept": about[DRIVER],
        "driver only labels": found.are("labels")[DRIVER],
        "true only labels": found.are("labels")[true].mean() if true.any() else np.nan,
        "alone: power": alone_kept[true].mean() if true.any() else np.nan,
        "labels: power": label[true].mean() if true.any() else np.nan,
        "labels: driver": label[DRIVER],
        "corrected: driver": corrected[DRIVER],
    }
    known = problem.supervision
    if known.given_codes is not None:
        audit = audit_problem(problem, random_state=0)
        anchor, wrong = anchor_of(problem, audit.disagreement, audit.codes), truth != given
        hits, rows = int(wrong[drawn].sum()), int(drawn.sum())
        exact = _exact(hits, rows)
        line["interval holds"] = anchor.low <= wrong.mean() <= anchor.high
        line["width"] = (anchor.high - anchor.low) / (exact[1] - exact[0])
    return line | (
        _peers(X, truth, given, drawn, true) if peers and groups is None and known.given_codes is not None else {}
    )


def _exact(hits: int, n: int) -> tuple[float, float]:
    low = stats.beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    return float(low), float(stats.beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0


def _peers(
    X: Floats, truth: NDArray[Any], given: NDArray[Any], drawn: NDArray[np.bool_], true: NDArray[np.bool_]
) -> dict[str, Any]:
    """cleanlab on out-of-fold probabilities of a forest, and ppi-python on each column (two classes)."""
    from cleanlab.filter import find_label_issues
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import cross_val_predict

    forest = RandomForestClassifier(200, random_state=0)
    said = cross_val_predict(forest, X, given, cv=5, method="predict_proba")
    left = ~find_label_issues(given, said)
    kept = kept_of(f_classif(X[left], given[left])[1])
    line = {"cleanlab: power": kept[true].mean(), "cleanlab: driver": kept[DRIVER]}
    if truth.max() > 1:
        return line
    from ppi_py import ppi_ols_ci

    level, pvalues = 0.05 / X.shape[1], np.ones(X.shape[1])
    for j in range(X.shape[1]):
        design = np.column_stack([np.ones(len(X)), X[:, j]])
        parts = design[drawn], truth[drawn].astype(float), said[drawn, 1], design[~drawn], said[~drawn, 1]
        low, high = ppi_ols_ci(*parts, alpha=level)
        pvalues[j] = 0.0 if low[1] > 0 or high[1] < 0 else 1.0
    kept = pvalues == 0
    return line | {"ppi-python: power": kept[true].mean(), "ppi-python: driver": kept[DRIVER]}


def lines_of(part: str, only: str) -> list[tuple[str, ...]]:
    """The lines of a part whose name holds a word."""
    if part == "real":
        lines = [(name, errors, "0", str(m)) for name in REAL for errors in ERRORS for m in (60,)]
    else:
        lines = [(target, errors, str(n), str(m)) for target in TARGETS for errors in ERRORS for n, m in SIZES]
    return [line for line in lines if only in " ".join(line)]


def draw(line: tuple[str, ...], seed: int, peers: bool) -> dict[str, Any]:
    """One draw of a line."""
    name, errors, n, m = line
    table = made(name, errors, int(n), seed) if name in TARGETS else real(name, errors, seed)
    return one(table, int(m), seed, peers)


def main() -> None:
    """Print one row per line, in percent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("draws", nargs="?", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--part", choices=("made", "real"), default="made")
    parser.add_argument("--only", default="")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    lines = lines_of(given.part, given.only)
    work = [(line, seed) for line in lines for seed in range(given.draws)]
    began = time.perf_counter()
    found = joblib.Parallel(given.jobs)(joblib.delayed(draw)(line, seed, given.peers) for line, seed in work)
    by_line: dict[tuple[str, ...], list[dict[str, Any]]] = {line: [] for line in lines}
    for (line, _), result in zip(work, found, strict=True):
        by_line[line].append(result)
    columns = list(dict.fromkeys(name for results in found for name in results))
    print(f"| table | labels | rows | checked | {' | '.join(columns)} |")
    print("|---" * 2 + "|---:" * (2 + len(columns)) + "|")
    summary = []
    for line, results in by_line.items():
        means = {name: 100 * float(np.nanmean([one.get(name, np.nan) for one in results])) for name in columns}
        summary.append({"line": line, "draws": len(results), **means})
        print(f"| {' | '.join(line)} | {' | '.join(f'{value:.1f}' for value in means.values())} |")
    print(f"{given.draws} draws, {time.perf_counter() - began:.0f} s")
    if given.store:
        given.store.write_text(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
