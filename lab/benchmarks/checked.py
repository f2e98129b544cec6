"""Checked rows: false discoveries about the truth, power, verdicts, and intervals of error rates.

Made tables of 20 columns, 5 of them related to the truth (means of two classes apart by .9, .8, .7, .6 and .5 standard
deviations; numbers: as much of their standard deviation), under labels that are right, 20 % wrong, 40 % of one class
wrong, or missed in 60 % of the cases where an irrelevant column, the *driver*, is above 0.3. Numbers: the same rows
have a number that is 3 standard deviations lower. Groups: three rows of each patient, drawn together.

Real tables: every column, and a copy of all columns whose rows are shuffled together, which is false; a shuffled copy
is the driver. A column counts as true if it passes Bonferroni's rule on all true labels.

For each line, in percent with standard errors: false discoveries about the truth and power of the tests, and power of
the checked rows alone; how often the driver is said to be related to the truth; how often "related only to how rows
were labelled" is said of the driver and of true columns; power of the given labels, and how often they keep the driver,
also after the checked rows are corrected. Then how often intervals hold, and their width over the exact binomial one of
the checked rows alone: of the share of wrong labels, of all and of each given class, and of the accuracy of a logistic
regression trained on the given labels (out of fold); how far that accuracy and the one against given labels are off.
How often errors are said to depend on the driver, and on any column: uniform errors depend on none. Of labels that were
not checked: how far P(wrong) is off, on average over its deciles, and which share of those on the list of the audit is
said to be wrong, and is.
With ``--peers`` also cleanlab (drop the flagged rows, then the F-test) and ppi-python (the coefficient of each column,
with a forest as the prediction). ``--part forecast`` measures the forecasts of rows to check: how often the weakest
column is found with as many rows, and how often a column that is not settled is so with the further rows of its
verdict.

Run ``python -m benchmarks.checked [DRAWS] [--jobs N] [--part made|real|forecast] [--only WORD] [--peers] [--store FILE]
[--minutes N]``. Lines are drawn in turns, so a run that is stopped has about as many draws of each.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import false_discovery_control
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from benchmarks.false_discoveries import load
from dubio import checked_rows
from dubio.doubt.audit import audit_problem
from dubio.doubt.belief import believe
from dubio.doubt.checked_anchor import anchor_of
from dubio.doubt.experts import ExpertOptions
from dubio.evidence.evidence import Evidence, varying_parts
from dubio.evidence.relations import linear_tests, relation_combination
from dubio.evidence.truth import effects, evidence_of, truth_of, truth_pvalues
from dubio.pipelines.truth_scores import truth_scores
from dubio.problem import Problem, read_problem
from dubio.target.checked import read_checks
from dubio.target.knowledge import Supervision
from dubio.trust import rows_needed

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
#: Draws of a line before the next one has its turn.
ROUND = 5
#: Checked rows of a given class from which on its interval is compared.
FEWEST_OF_CLASS = 10
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


class Known(NamedTuple):
    """A table, and what its columns and given labels say whatever is checked: models take most of the time."""

    table: Table
    problem: Problem
    belief: Supervision


@lru_cache(maxsize=ROUND)
def known(name: str, errors: str, n: int, seed: int) -> Known:
    """One table; lines that differ in the number of checked rows follow each other, and share it."""
    table = made(name, errors, n, seed) if name in TARGETS else real(name, errors, seed)
    problem = read_problem(table.X, table.given, groups=table.groups, target="auto")
    return Known(table, problem, believe(problem, "experts", True, ExpertOptions()).supervision)


def kept_of(pvalues: Floats) -> NDArray[np.bool_]:
    """The columns that Benjamini and Hochberg's rule keeps at 5 %."""
    return np.asarray(false_discovery_control(pvalues) <= 0.05)


def related_to_label(problem: Problem) -> NDArray[np.bool_]:
    """The columns that are related to the given label, by the linear tests of single columns: they need no
    permutations, which would take most of the time."""
    problem = problem.tested
    pvalues = np.ones(problem.n_features)
    for part, varying, share in varying_parts(problem):
        found = relation_combination(linear_tests(Evidence.of(part)))
        pvalues[varying] = np.minimum(pvalues[varying], found / share)
    return kept_of(np.minimum(pvalues, 1.0))


def drawn_rows(table: Table, m: int, seed: list[int]) -> NDArray[np.bool_]:
    """``m`` rows (whole groups) that are drawn at random; with the same seed, more rows hold fewer ones."""
    units = np.arange(len(table.X)) if table.groups is None else table.groups
    order = np.random.default_rng(seed).permutation(len(np.unique(units)))
    return np.isin(units, order[: m if table.groups is None else m // VISITS])


def problem_of(known: Known, drawn: NDArray[np.bool_]) -> Problem:
    """The table, of which these rows are checked, with what models believe of all rows."""
    values = np.where(drawn, known.table.truth.astype(object), None)
    checks = read_checks(checked_rows(values, chance=float(drawn.mean())), known.problem.supervision)
    return known.problem.with_checks(replace(checks, belief=known.belief))


def forecast(known: Known, m: int, seed: int) -> dict[str, Any]:
    """What forecasts are worth: of the rows to check beforehand, for the weakest related column, whose correlation with
    the truth is about that of the forecast; and of those that would settle the first column that is not settled."""
    table = known.table
    problem = problem_of(known, drawn_rows(table, m, [seed, 2]))
    n_forecast = rows_needed(audit_problem(problem, random_state=0).disagreement)
    found = truth_of(problem_of(known, drawn_rows(table, n_forecast, [seed, 2])), table.true, 0.05)
    line = {"forecast, rows / 100": n_forecast / 100, "weakest found": found.are("truth")[len(RELATED) - 1]}
    now = truth_of(problem, table.true, 0.05)
    unsettled = np.flatnonzero(now.are("open") & table.true)
    if len(unsettled):
        first = int(unsettled[0])
        more = drawn_rows(table, m + int(now.further[first]), [seed, 2])
        line["further rows / 100"] = now.further[first] / 100
        line["then settled"] = truth_of(problem_of(known, more), table.true, 0.05).are("truth")[first]
    return line


def one(known: Known, m: int, seed: int, driven: bool, peers: bool) -> dict[str, Any]:
    """What is found in one table of which ``m`` rows are checked; labels are corrected if a column drives errors."""
    X, truth, given, groups, true, false = known.table
    drawn = drawn_rows(known.table, m, [seed, m, 1])
    problem = problem_of(known, drawn)
    label = related_to_label(known.problem)
    found = truth_of(problem, label, 0.05)
    about = found.are("truth")
    alone = evidence_of(problem)
    alone = replace(alone, proxies=np.zeros((1, *alone.proxies.shape[1:])))
    alone_kept = kept_of(truth_pvalues(alone, effects(alone)))
    line = {
        "false": (about & false).sum() / max(1, about.sum()),
        "power": _share_of(about, true),
        "alone: power": _share_of(alone_kept, true),
        "driver kept": about[DRIVER],
        "driver only labels": found.are("labels")[DRIVER],
        "true only labels": _share_of(found.are("labels"), true),
        "labels: power": _share_of(label, true),
        "labels: driver": label[DRIVER],
    }
    if driven:
        corrected = read_problem(X, np.where(drawn, truth, given), groups=groups, target="auto")
        line["corrected: driver"] = related_to_label(corrected)[DRIVER]
    if problem.supervision.given_codes is None:
        return line
    line |= _of_errors(problem, truth, given, drawn) | _of_model(problem, X, truth, given, drawn)
    return line | (_peers(X, truth, given, drawn, true) if peers and groups is None else {})


def _share_of(kept: NDArray[np.bool_], true: NDArray[np.bool_]) -> float:
    return float(kept[true].mean()) if true.any() else np.nan


def _of_errors(problem: Problem, truth: Any, given: Any, drawn: NDArray[np.bool_]) -> dict[str, Any]:
    """Whether the intervals of the shares of wrong labels hold, of all and of each given class, and their widths."""
    audit = audit_problem(problem, random_state=0)
    anchor, wrong = anchor_of(problem, audit.disagreement, audit.codes), truth != given
    every = np.ones(len(wrong), dtype=bool)
    one = _interval((anchor.low, anchor.high), wrong, drawn, every, problem.groups)
    classes = [
        _interval((low, high), wrong, drawn, audit.codes == code, problem.groups)
        for code, (_, low, high) in enumerate(anchor.by_class.tolist())
        if (drawn & (audit.codes == code)).sum() >= FEWEST_OF_CLASS
    ]
    of_class = np.mean(classes, axis=0) if classes else (np.nan, np.nan)
    names = "wrong labels: holds", "width", "of a class: holds", "width "
    anchored, others = audit.with_anchor(anchor), np.flatnonzero(~drawn)
    said, listed = anchored.wrong, anchored.doubtful & ~drawn
    deciles = np.array_split(others[np.argsort(said[others], kind="stable")], 10)
    line = dict(zip(names, (*one, *of_class), strict=True))
    line["errors along: driver"] = str(problem.feature_names[DRIVER]) in anchor.along
    line["errors along: any"] = bool(anchor.along)
    line["P(wrong): off"] = np.mean([abs(said[part].mean() - wrong[part].mean()) for part in deciles])
    if listed.any():
        line |= {"list: said": said[listed].mean(), "list: wrong": wrong[listed].mean()}
    return line


def _of_model(problem: Problem, X: Floats, truth: Any, given: Any, drawn: NDArray[np.bool_]) -> dict[str, Any]:
    """The same for the accuracy and the area of a model that was trained on the given labels, out of fold."""
    units = np.arange(len(X)) if problem.groups is None else problem.groups
    folds = GroupKFold(5, shuffle=True, random_state=0)
    said = cross_val_predict(
        LogisticRegression(), stats.zscore(X), given, groups=units, cv=folds, method="predict_proba"
    )
    n_classes = problem.supervision.n_classes
    if said.shape[1] != n_classes or n_classes <= truth.max():
        return {}
    facts = problem.checks, problem.supervision, np.eye(n_classes)[said.argmax(axis=1)], said[:, -1]
    scores = truth_scores(*facts, None, problem.groups)
    if scores is None:
        return {}
    right = said.argmax(axis=1) == truth
    ends = scores.accuracy.low, scores.accuracy.high
    of_model = _interval(ends, right, drawn, np.ones(len(right), dtype=bool), problem.groups)
    line = dict(zip(("accuracy: holds", "width  "), of_model, strict=True))
    balanced = np.mean([right[truth == code].mean() for code in range(n_classes)])
    line["balanced: holds"] = scores.balanced_accuracy.low <= balanced <= scores.balanced_accuracy.high
    line["error, points"] = abs(scores.accuracy.mean - right.mean())
    line["given: error"] = abs((said.argmax(axis=1) == given).mean() - right.mean())
    if scores.auc is not None:
        line["area: holds"] = scores.auc.low <= roc_auc_score(truth, said[:, 1]) <= scores.auc.high
    return line


def _interval(
    ends: tuple[float, float], hits: Any, drawn: NDArray[np.bool_], rows: NDArray[np.bool_], groups: Any
) -> tuple[float, float]:
    """Whether an interval holds the share of hits among some rows, and its width over the exact binomial one of the
    checked rows alone; rows that belong together count once."""
    seen = drawn & rows
    n = int(seen.sum()) if groups is None else len(np.unique(groups[seen]))
    exact = _exact(round(n * float(hits[seen].mean())), n)
    return float(ends[0] <= hits[rows].mean() <= ends[1]), (ends[1] - ends[0]) / (exact[1] - exact[0])


def _exact(hits: int, n: int) -> tuple[float, float]:
    low = stats.beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    return float(low), float(stats.beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0


def _peers(
    X: Floats, truth: NDArray[Any], given: NDArray[Any], drawn: NDArray[np.bool_], true: NDArray[np.bool_]
) -> dict[str, Any]:
    """cleanlab on out-of-fold probabilities of a forest, and ppi-python on each column (two classes)."""
    from cleanlab.filter import find_label_issues
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(200, random_state=0)
    said = cross_val_predict(forest, X, given, cv=5, method="predict_proba")
    left = ~find_label_issues(given, said)
    kept = kept_of(f_classif(X[left], given[left])[1])
    line = {"cleanlab: power": _share_of(kept, true), "cleanlab: driver": kept[DRIVER]}
    if truth.max() > 1:
        return line
    from ppi_py import ppi_ols_ci

    pvalues = np.ones(X.shape[1])
    for j in range(X.shape[1]):
        design = np.column_stack([np.ones(len(X)), stats.zscore(X[:, j])])
        parts = design[drawn], truth[drawn].astype(float), said[drawn, 1], design[~drawn], said[~drawn, 1]
        low, high = ppi_ols_ci(*parts, alpha=0.05)
        pvalues[j] = 2 * stats.norm.sf(abs(low[1] + high[1]) / (high[1] - low[1]) * stats.norm.ppf(0.975))
    kept = kept_of(pvalues)
    false = {"ppi-python: false": (kept & ~true).sum() / max(1, kept.sum())}
    return line | false | {"ppi-python: power": _share_of(kept, true), "ppi-python: driver": kept[DRIVER]}


def lines_of(part: str, only: str) -> list[tuple[str, ...]]:
    """The lines of a part whose name holds a word."""
    if part == "real":
        lines = [(name, errors, "0", str(m)) for name in REAL for errors in ERRORS for m in (60,)]
    elif part == "forecast":
        lines = [("forecast", errors, "600", "60") for errors in ERRORS[1:]]
    else:
        lines = [(target, errors, str(n), str(m)) for target in TARGETS for errors in ERRORS for n, m in SIZES]
    return [line for line in lines if any(words in " ".join(line) for words in only.split(","))]


def draw(line: tuple[str, ...], seed: int, peers: bool) -> dict[str, Any]:
    """One draw of a line."""
    warnings.simplefilter("ignore")
    name, errors, n, m = line
    if name == "forecast":
        return forecast(known(TARGETS[0], errors, int(n), seed), int(m), seed)
    return one(known(name, errors, int(n), seed), int(m), seed, errors == ERRORS[-1], peers)


def main() -> None:
    """Print one row per line, in percent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("draws", nargs="?", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--part", choices=("made", "real", "forecast"), default="made")
    parser.add_argument("--only", default="", help="words, one of which names a line; separated by commas")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--store", type=Path, help="draws that are done; those of an earlier run are not repeated")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no line after this time")
    given = parser.parse_args()
    lines = lines_of(given.part, given.only)
    stored: list[dict[str, Any]] = []
    if given.store and given.store.exists():
        stored = [json.loads(line) for line in given.store.read_text().splitlines()]
    done = {(*one["line"], one["seed"]) for one in stored}
    until = time.perf_counter() + 60 * given.minutes
    for first in range(0, given.draws, ROUND):
        for line in lines:
            if time.perf_counter() > until:
                break
            seeds = [seed for seed in range(first, min(first + ROUND, given.draws)) if (*line, seed) not in done]
            found = joblib.Parallel(given.jobs)(joblib.delayed(draw)(line, seed, given.peers) for seed in seeds)
            rows = [{"line": line, "seed": seed, "found": one} for seed, one in zip(seeds, found, strict=True)]
            stored += rows
            if given.store:
                with given.store.open("a") as file:
                    file.writelines(json.dumps(row, default=float) + "\n" for row in rows)
    print_lines([(line, [one["found"] for one in stored if tuple(one["line"]) == line]) for line in lines])


def print_lines(results: list[tuple[tuple[str, ...], list[dict[str, Any]]]]) -> None:
    """One row per line: its number of draws, and means with standard errors."""
    columns = list(dict.fromkeys(name for _, draws in results for one in draws for name in one))
    print(f"| table | labels | rows | checked | draws | {' | '.join(columns)} |")
    print("|---" * 2 + "|---:" * (3 + len(columns)) + "|")
    for line, draws in results:
        cells = []
        for name in columns:
            values = np.array([one.get(name, np.nan) for one in draws], dtype=float)
            values = 100 * values[~np.isnan(values)]
            cells.append(f"{values.mean():.1f} ± {values.std() / len(values) ** 0.5:.1f}" if len(values) else "")
        print(f"| {' | '.join([*line, str(len(draws)), *cells])} |")


if __name__ == "__main__":
    main()
