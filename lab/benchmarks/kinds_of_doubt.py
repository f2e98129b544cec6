"""What is promised for further kinds of doubt: false discoveries, silence, power, shares of positives, wrong numbers.

``python -m benchmarks.kinds_of_doubt draw [minutes] [jobs]`` draws until the time is over and adds a line per draw to
``bench-results/kinds_of_doubt.jsonl``; a later call goes on where it stopped. ``... page`` writes what was found so far
into the pages on ordered classes, positive rows, intervals, wrong numbers and several targets. Real tables get a
shuffled copy of each column. An original column counts as relevant, so the power is a lower bound.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy import stats
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score

from benchmarks.false_discoveries import CLASSES, load, mean_and_error
from dubio import FeatureSelector, NeighborSearch, audit_labels, several_targets
from dubio.doubt.positives import estimate_positives
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem
from dubio.simulate import blur_numbers, censor_numbers, hide_targets, label_some_positives, misstate_numbers

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
#: Classes of tables on which nothing was chosen: how many of the other rows are positive?
SHARES = [
    ("page_blocks", "1"),
    ("vertebral_column", "Spondylolisthesis"),
    ("wall_robot", "Sharp-Right-Turn"),
    ("wall_robot", "Move-Forward"),
    ("waveform", "0"),
    ("waveform", "2"),
    ("ionosphere", "g"),
    ("ionosphere", "b"),
    ("sonar", "M"),
    ("australian", "1"),
    ("yeast", "MIT"),
    ("yeast", "ME3"),
]
#: The kinds whose tests are measured: their words, their page.
KINDS = {
    "ordered": ("4 ordered classes", "ordered"),
    "positives": ("30 % of positives labelled", "positives_only"),
    "intervals": ("intervals one standard deviation wide", "intervals"),
    "censored": ("50 % censored", "intervals"),
    "several": ("a number and a class, 30 % of the cells of each hidden", "several_targets"),
}
RESULTS = Path("bench-results/kinds_of_doubt.jsonl")
Row = dict[str, Any]


def numeric_table(name: str, column: int | None) -> tuple[np.ndarray, np.ndarray]:
    """A table and a numeric target."""
    X, y = load(name)
    if column is None:
        return X, y.astype(float)
    return np.delete(X, column, axis=1), X[:, column]


def draw_table(kind: str, table: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The features with shuffled copies, the known target, and which features are relevant."""
    if kind == "positives":
        X, y = load(table)
        names, counts = np.unique(y, return_counts=True)
        y = (y == names[counts.argmax()]).astype(int)
    else:
        X, y = numeric_table(*table)
    rows = rng.permutation(len(X))[:ROWS]
    if kind == "several":  # a further column is the second target
        y = np.column_stack([y, X[:, -1]])
        X = X[:, :-1]
    columns = np.sort(rng.permutation(X.shape[1])[:20])
    X, y = X[rows][:, columns], y[rows]
    X = X[:, np.ptp(X, axis=0) > 0]
    A = np.hstack([X, rng.permuted(X, axis=0)])
    return A, y, np.arange(A.shape[1]) < X.shape[1]


def doubted(kind: str, y: np.ndarray, seed: int) -> tuple[Any, Any, str, str]:
    """The doubtful and the fully known target, and how each is read."""
    if kind == "positives":
        return label_some_positives(y, 1, SHARE, random_state=seed), y, "auto", "classes"
    if kind == "ordered":
        codes = np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75]))
        return codes, y, "ordered", "numbers"
    if kind == "intervals":
        return blur_numbers(y, 1.0, random_state=seed), y, "auto", "numbers"
    if kind == "several":
        high = np.where(y[:, 1] > np.median(y[:, 1]), "high", "low").astype(object)
        known = several_targets({"number": y[:, 0] + 0.5, "class": high})
        return hide_targets(known, 0.3, random_state=seed), known, "auto", "auto"
    return censor_numbers(y, 0.5, random_state=seed), y, "auto", "numbers"


def one_test(kind: str, table: Any, seed: int) -> Row:
    """Share of false discoveries and power with the doubtful target, power with the known one, silence if permuted."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 1818])
    A, y, relevant = draw_table(kind, table, rng)
    given, known, target, known_target = doubted(kind, y, seed)
    kept = relevance_of(read_problem(A, given, target=target), random_state=seed).relevant
    fully = relevance_of(read_problem(A, known, target=known_target), random_state=seed).relevant
    shuffled = doubted(kind, rng.permutation(y), seed)[0]
    nothing = not relevance_of(read_problem(A, shuffled, target=target), random_state=seed).relevant.any()
    false = (kept & ~relevant).sum() / max(1, kept.sum())
    return {"false": false, "power": kept[relevant].mean(), "known": fully[relevant].mean(), "nothing": float(nothing)}


def one_area(table: str, seed: int) -> Row:
    """The area under the curve of a forest on the first five features, with three targets and other selectors."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 1819])
    X, y = load(table)
    names, counts = np.unique(y, return_counts=True)
    truth = y == names[np.argsort(-counts)[seed % 2]]
    rows = rng.permutation(len(X))[: 2 * ROWS]
    train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    A = np.hstack([X, rng.permuted(X, axis=0)])
    labels = label_some_positives(truth[train], True, SHARE, random_state=seed)
    ways = {"positives": labels, "negatives": labels.is_positive.astype(int), "known": truth[train].astype(int)}
    orders = {way: FeatureSelector(random_state=seed).fit(A[train], target).ranking_ for way, target in ways.items()}
    orders["trusted"] = NeighborSearch(clean=None, random_state=seed).fit(A[train], ways["negatives"]).ranking_
    importance = RandomForestClassifier(500, random_state=seed).fit(A[train], ways["negatives"]).feature_importances_
    orders["forest"] = -importance
    row = {}
    for way, ranking in orders.items():
        order = np.argsort(ranking, kind="stable")[:5]
        forest = RandomForestClassifier(200, min_samples_leaf=2, random_state=0).fit(A[train][:, order], truth[train])
        row[way] = roc_auc_score(truth[test], forest.predict_proba(A[test][:, order])[:, 1])
    return row


def one_share(table: tuple[str, str], seed: int) -> Row:
    """The estimated share of positives, the true one, and how well the experts tell positives (area)."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 1821])
    X, y = load(table[0])
    rows = rng.permutation(len(X))[: ROWS * (1 + seed % 2)]
    X, truth = X[rows], y[rows].astype(str) == table[1]
    labels = label_some_positives(truth, True, SHARE, random_state=seed)
    rest = ~labels.is_positive
    found = estimate_positives(X, labels)
    inside = found.low <= truth[rest].mean() <= found.high
    area = roc_auc_score(truth[rest], found.scores[rest])
    return {"truth": truth[rest].mean(), "share": found.share, "area": area, "inside": float(inside)}


def one_number(table: tuple[str, int | None], seed: int) -> Row:
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
    found = {"dubio": roc_auc_score(wrong, -audit.rank), "rate": abs(audit.estimate - 0.1)}
    found |= {"flagged": audit.doubtful.sum(), "right": (audit.doubtful & wrong).sum(), "wrong": wrong.sum()}
    for name, model in (("cleanlab", None), ("cleanlab with a forest", RandomForestRegressor(100, random_state=0))):
        issues = CleanLearning(model=model, seed=0).find_label_issues(X, given)
        found[name] = roc_auc_score(wrong, -issues["label_quality"])
    return found


def parts() -> dict[str, tuple[list[Any], Callable[[Any, int], Row]]]:
    """What is drawn: the tables, and the function of a table and a seed."""
    found: dict[str, tuple[list[Any], Callable[[Any, int], Row]]] = {}
    for kind in KINDS:
        tables: list[Any] = CLASSES if kind == "positives" else NUMERIC
        found[kind] = (tables, lambda table, seed, kind=kind: one_test(kind, table, seed))
    found["share"] = (SHARES, one_share)
    found["numbers"] = ([table for table in NUMERIC if table[0] not in (*CHOSEN_ON, "pollen")], one_number)
    found["area"] = ([name for name in CLASSES if name not in CHOSEN_ON], one_area)
    return found


def results() -> list[Row]:
    """All draws so far."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def job(part: str, table: Any, seed: int) -> Row:
    row = parts()[part][1](table, seed)
    return {"part": part, "table": table, "seed": seed, **{name: float(value) for name, value in row.items()}}


def draw(minutes: float, jobs: int) -> None:
    """Draw what is missing, one seed after the other for all parts, until the time is over."""
    RESULTS.parent.mkdir(exist_ok=True)
    done = {(row["part"], json.dumps(row["table"]), row["seed"]) for row in results()}
    wanted = [
        (part, table, seed)
        for seed in range(1000)
        for part, (tables, _) in parts().items()
        for table in tables
        if (part, json.dumps(table), seed) not in done
    ]
    end = time.monotonic() + 60 * minutes
    while wanted and time.monotonic() < end:
        now, wanted = wanted[: 4 * jobs], wanted[4 * jobs :]
        found = joblib.Parallel(n_jobs=jobs)(joblib.delayed(job)(*one) for one in now)
        with RESULTS.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in found)
    print(f"{len(results())} draws in {RESULTS}")


def of_part(part: str) -> dict[str, list[Row]]:
    """The draws of a part, by table."""
    found: dict[str, list[Row]] = {}
    for row in results():
        if row["part"] == part:
            found.setdefault(json.dumps(row["table"]), []).append(row)
    return found


def shown(tables: dict[str, list[Row]], name: str) -> str:
    """The mean over tables in percent; with two draws of every table, with its standard error."""
    values = [[row[name] for row in rows] for rows in tables.values()]
    return mean_and_error(values) if min(map(len, values)) > 1 else f"{100 * np.mean([np.mean(v) for v in values]):.1f}"


def tests_table(page: str) -> str:
    """False discoveries, silence and power of the kinds of a page."""
    lines = [
        "| known | draws | false discoveries % | power % | power, target fully known % | nothing found, target "
        "permuted % |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for kind, (words, its_page) in KINDS.items():
        tables = of_part(kind)
        if its_page == page and tables:
            cells = [shown(tables, name) for name in ("false", "power", "known", "nothing")]
            lines.append(f"| {words} | {sum(map(len, tables.values()))} | {' | '.join(cells)} |")
    return "\n".join(lines)


def gain(rows: list[Row], one: str, other: str) -> str:
    """The mean difference, its standard error and the p-value of a t-test."""
    difference = np.array([row[one] - row[other] for row in rows])
    p = stats.ttest_1samp(difference, 0).pvalue
    return f"{difference.mean():+.3f} ± {stats.sem(difference):.3f} (p = {p:.2g})"


def positives_lines() -> str:
    """The area of five features, and the error of the share."""
    rows = [row for table in of_part("area").values() for row in table]
    lines: list[str] = []
    if rows:
        lines += ["", f"Area under the curve of a forest on the first five features, {len(rows)} draws:", ""]
        lines += ["| target | area | positives only minus this |", "|---|---:|---:|"]
    for way, words in (
        ("positives", "positives only"),
        ("negatives", "all others taken for negative, labels doubted as always"),
        ("trusted", "all others taken for negative, labels trusted (`clean=None`)"),
        ("forest", "all others taken for negative, importance in a forest"),
        ("known", "all classes known"),
    ):
        if rows:
            against = "" if way == "positives" else gain(rows, "positives", way)
            lines.append(f"| {words} | {np.mean([row[way] for row in rows]):.3f} | {against} |")
    rows = [row for table in of_part("share").values() for row in table]
    lines += ["", f"Error of the share of positives, 300 or 600 rows, {len(rows)} draws:", ""]
    lines += ["| area of the experts | draws | points off | too high by | inside the interval % |"]
    lines += ["|---|---:|---:|---:|---:|"]
    for words, low, high in (
        ("at least 0.95", 0.95, 1.01),
        ("0.9 to 0.95", 0.9, 0.95),
        ("0.8 to 0.9", 0.8, 0.9),
        ("below 0.8", 0.0, 0.8),
    ):
        some = [row for row in rows if low <= row["area"] < high]
        if some:
            error = np.array([row["share"] - row["truth"] for row in some])
            spread = f" ± {100 * stats.sem(np.abs(error)):.1f}" if len(some) > 1 else ""
            inside = 100 * np.mean([row["inside"] for row in some])
            lines.append(
                f"| {words} | {len(some)} | {100 * np.abs(error).mean():.1f}{spread} | {100 * error.mean():+.1f} | "
                f"{inside:.0f} |"
            )
    return "\n".join(lines)


def numbers_lines() -> str:
    """Finding a tenth of grossly wrong numbers, on tables on which nothing was chosen."""
    rows = [row for table in of_part("numbers").values() for row in table]
    lines = [f"{len(rows)} draws from {len(of_part('numbers'))} tables:", ""]
    lines += ["| audit | area of finding the wrong numbers | dubio minus this |", "|---|---:|---:|"]
    for name in ("dubio", "cleanlab", "cleanlab with a forest"):
        against = "" if name == "dubio" else gain(rows, "dubio", name)
        lines.append(f"| {name} | {np.mean([row[name] for row in rows]):.3f} | {against} |")
    total = {name: int(sum(row[name] for row in rows)) for name in ("flagged", "right", "wrong")}
    off = 100 * np.nanmean([row["rate"] for row in rows])
    lines += [
        "",
        f"Of {total['flagged']} flagged numbers {total['right']} were wrong, of {total['wrong']} wrong ones in all. "
        f"The share of wrong numbers was off by {off:.1f} points on average.",
    ]
    return "\n".join(lines)


def page() -> None:
    """Write what was found between the marks of each page."""
    content = {name: tests_table(name) for name in ("ordered", "positives_only", "intervals", "several_targets")}
    content["positives_only"] += "\n" + positives_lines()
    content["wrong_numbers"] = numbers_lines()
    for name, text in content.items():
        path = Path("docs") / f"{name}.md"
        before, mark, rest = path.read_text().partition("<!-- measured -->\n")
        _, end, after = rest.partition("<!-- end of what was measured -->\n")
        if not (mark and end):
            raise SystemExit(f"{path} has no marks")
        path.write_text(f"{before}{mark}\n{text}\n\n{end}{after}")
        print(f"## {name}\n\n{text}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["page"]:
        page()
    else:
        draw(*[float(word) for word in sys.argv[2:3]] or [10.0], *[int(word) for word in sys.argv[3:4]] or [1])
