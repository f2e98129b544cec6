"""Votes: how often the consensus is right, what its probabilities are worth, and the intervals of annotators.

``python -m benchmarks.votes [draws] [--first N] [--seconds S] [--chosen] [--store FILE] [--read]`` draws votes of six
annotators on ten real tables: they are equally good or not, one spams, one is an adversary, or their errors depend on a
column; two or five of them vote per row. It compares the consensus of votes and columns with CROWDLAB (cleanlab), Dawid
and Skene, MACE, GLAD and the majority, on the same votes. CROWDLAB gets the pooled models of this library, trained on
the majority as its guide says. Ordered votes and numbers follow, and the same tables with their rows shuffled, so that
no column is related to the classes. Last comes how good an order of the columns the votes of three annotators give,
and their averages. ``--chosen`` takes the five tables on which the defaults were chosen. Each draw is one line of JSON
at the end of FILE as soon as it is done, and is not repeated; ``--read`` only sums FILE up.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.crowd import glad, mace
from benchmarks.selection.judges import Judge
from benchmarks.selection.tables import BY_NAME
from benchmarks.selection.tables import draw as split_of
from dubio import FeatureSelector, audit_labels, votes
from dubio.doubt.engines import pool_experts
from dubio.doubt.experts import ExpertOptions, out_of_fold
from dubio.doubt.votes import join_votes
from dubio.problem import read_problem
from dubio.simulate import flip_labels
from dubio.target.soft import average_votes, dawid_skene
from dubio_papers.datasets.load import load

#: Tables on which the defaults were chosen, and those that are reported.
CHOSEN_ON = ("sonar", "vehicle", "wine", "ecoli", "heart_statlog")
TABLES = (
    "australian",
    "cleveland",
    "glass",
    "ionosphere",
    "segment",
    "waveform",
    "vertebral_column",
    "yeast",
    "wall_robot",
    "page_blocks",
)
DESIGNS = ("equal", "unequal", "spammer", "adversary", "column")
#: How often three annotators who label every row are wrong, where the order of the columns is judged.
ORDERS = {"order, three alike": (0.3, 0.3, 0.3), "order, three unequal": (0.2, 0.3, 0.4)}
#: Votes per row of each annotator count; the table is cut to this many rows; smaller classes are left out.
PER_ROW, N_ANNOTATORS, MOST_ROWS, FEWEST = (2, 5), 6, 400, 8
#: Right votes of annotators who are alike, of those who are not, and on both sides of a column that drives errors.
ALIKE, WORST, BEST, HARD, EASY = 0.7, 0.5, 0.9, 0.55, 0.85
Row = dict[str, Any]


def table_of(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Some rows of a table, and their classes as codes."""
    read = load(name)
    X, y = np.asarray(read.X, dtype=float), np.asarray(read.y).astype(str)
    some = rng.permutation(len(X))[:MOST_ROWS]
    names, counts = np.unique(y[some], return_counts=True)
    some = some[np.isin(y[some], names[counts >= FEWEST])]
    X = X[some]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    return X, np.unique(y[some], return_inverse=True)[1]


def draw_votes(
    X: np.ndarray, truth: np.ndarray, design: str, per_row: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of votes (rows, annotators), -1 for none; and the share of right votes of each annotator."""
    n, n_classes = len(truth), int(truth.max()) + 1
    right = np.full((n, N_ANNOTATORS), ALIKE)
    if design != "equal":
        right[:] = np.linspace(WORST, BEST, N_ANNOTATORS)
    if design == "spammer":
        right[:, 0] = 1.0 / n_classes
    if design == "adversary":
        right[:, 0] = 0.1
    if design == "column":
        column = X[:, rng.integers(X.shape[1])]
        right[:] = np.where(column > np.median(column), HARD, EASY)[:, None]
    other = (truth[:, None] + rng.integers(1, n_classes, right.shape)) % n_classes
    said = np.where(rng.random(right.shape) < right, truth[:, None], other)
    if design == "spammer":
        said[:, 0] = rng.integers(0, n_classes, n)
    voted = rng.random(right.shape).argsort(axis=1).argsort(axis=1) < per_row
    return np.where(voted, said, -1), right.mean(axis=0)


def opinions_of(X: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Pooled out-of-fold probabilities of the models that learn these labels."""
    problem = read_problem(X, labels)
    found = np.zeros((len(X), n_classes))
    pooled = pool_experts(out_of_fold(problem).probabilities, problem.supervision.codes, flips=False)
    found[:, problem.supervision.classes] = pooled.opinions
    return found


def crowdlab(said: np.ndarray, opinions: np.ndarray) -> np.ndarray:
    """The consensus of CROWDLAB."""
    from cleanlab.multiannotator import get_label_quality_multiannotator

    given = pd.DataFrame(np.where(said < 0, np.nan, said))
    with contextlib.redirect_stdout(io.StringIO()):
        found = get_label_quality_multiannotator(given, opinions, verbose=False)["label_quality"]
    return found["consensus_label"].to_numpy().astype(int)


def expected_error(sure: np.ndarray, right: np.ndarray, n_bins: int = 10) -> float:
    """Mean distance of claimed and true share of right rows, in bins of equally many rows."""
    order = np.array_split(np.argsort(sure, kind="stable"), n_bins)
    return float(sum(len(part) * abs(sure[part].mean() - right[part].mean()) for part in order) / len(sure))


def of_classes(name: str, design: str, per_row: int, draw: int, shuffled: bool) -> Row:
    """One draw of votes for classes."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([draw, *map(ord, name + design), per_row])
    X, truth = table_of(name, rng)
    if shuffled:
        X = X[rng.permutation(len(X))]
    n_classes = int(truth.max()) + 1
    said, skill = draw_votes(X, truth, design, per_row, rng)
    problem = read_problem(X, votes(np.where(said < 0, np.nan, said), classes=list(range(n_classes)))).filled
    joined = join_votes(problem, ExpertOptions()).consensus
    likely, sure = joined.memberships.argmax(axis=1), joined.memberships.max(axis=1)
    consensus = {"Dawid-Skene": dawid_skene(said, n_classes).memberships.argmax(axis=1), "votes": likely}
    if not shuffled:
        shares = average_votes(said, n_classes)
        majority = (shares + 1e-3 * rng.random(shares.shape)).argmax(axis=1)
        consensus |= {
            "majority": majority,
            "MACE": mace(said, n_classes).argmax(axis=1),
            "GLAD": glad(said, n_classes).argmax(axis=1),
            "CROWDLAB": crowdlab(said, opinions_of(X, majority, n_classes)),
        }
    row: Row = {way: 100 * float((found == truth).mean()) for way, found in consensus.items()}
    row["claimed - right"] = 100 * float(sure.mean()) - row["votes"]
    row["bins"] = [sure.round(4).tolist(), (likely == truth).astype(int).tolist()]
    low, high = joined.quality.low, joined.quality.high
    row["covered"] = 100 * float(((low <= skill) & (skill <= high)).mean())
    row["width"] = 100 * float((high - low).mean())
    return row


def of_ordered(name: str, per_row: int, draw: int) -> Row:
    """One draw of votes for five ordered classes, by steps: quantiles of a column or score of the table."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([draw, *map(ord, name), per_row, 1])
    X, number = numbers_of(name, rng)
    # a column with few values has fewer classes
    truth = np.unique(np.digitize(number, np.quantile(number, [0.2, 0.4, 0.6, 0.8])), return_inverse=True)[1]
    highest = int(truth.max())
    noise = rng.normal(size=(len(X), N_ANNOTATORS)) * np.linspace(0.4, 1.6, N_ANNOTATORS)
    said = np.clip(np.rint(truth[:, None] + rng.choice([-0.5, 0, 0.5], N_ANNOTATORS) + noise), 0, highest)
    said = said.astype(int)
    said = np.where(rng.random(said.shape).argsort(axis=1).argsort(axis=1) < per_row, said, -1)
    table = np.where(said < 0, np.nan, said)
    audit = audit_labels(X, votes(table, order=list(range(highest + 1))))
    consensus = {
        "median": np.nanmedian(table, axis=1),
        "Dawid-Skene": dawid_skene(said, highest + 1).memberships.argmax(axis=1),
        "votes": audit.likely.astype(float),
    }
    row: Row = {way: float(np.abs(found - truth).mean()) for way, found in consensus.items()}
    return row


def numbers_of(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The table without the column that varies most with the others, and this column as a numeric target."""
    X, _ = table_of(name, rng)
    X = X[:, X.std(axis=0) > 0]
    related = np.abs(np.corrcoef(X.T)).sum(axis=0)
    distinct = np.array([len(np.unique(column)) for column in X.T])
    target = int(np.argmax(np.where(distinct >= 20, related, 0.0)))
    number = X[:, target]
    return np.delete(X, target, axis=1), (number - number.mean()) / number.std()


def of_numbers(name: str, per_row: int, draw: int) -> Row:
    """One draw of votes that are numbers, with bias and spread; one in fifty is a slip."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([draw, *map(ord, name), per_row, 2])
    X, truth = numbers_of(name, rng)
    bias, spread = rng.normal(0, 0.3, N_ANNOTATORS), np.linspace(0.2, 1.0, N_ANNOTATORS)
    bias -= bias.mean()
    table = truth[:, None] + bias + spread * rng.normal(size=(len(X), N_ANNOTATORS))
    table = np.where(rng.random(table.shape) < 0.02, truth[:, None] + 5 * rng.normal(size=table.shape), table)
    table[rng.random(table.shape).argsort(axis=1).argsort(axis=1) >= per_row] = np.nan
    audit = audit_labels(X, votes(table))
    consensus = {"mean": np.nanmean(table, axis=1), "median": np.nanmedian(table, axis=1), "votes": audit.likely}
    row: Row = {way: float(np.sqrt(((found - truth) ** 2).mean())) for way, found in consensus.items()}
    row["covered"] = 100 * float(((audit.low <= spread) & (spread <= audit.high)).mean())
    return row


def of_orders(name: str, rates: tuple[float, ...], draw: int) -> Row:
    """One draw of the regime "three annotators" of ``benchmarks.selection``: how good the order of the columns is."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([draw, *map(ord, name), *(round(100 * rate) for rate in rates)])
    sample = split_of(BY_NAME[f"classes/{name}"], rng)
    said = np.column_stack([flip_labels(sample.y, rate, random_state=int(rng.integers(2**31))) for rate in rates])
    n_classes, judge = int(sample.y.max()) + 1, Judge(sample, False, int(rng.integers(2**31)))
    given = {"average": average_votes(said, n_classes), "votes": votes(said, classes=list(range(n_classes)))}
    areas = {}
    for way, y in given.items():
        ranking = FeatureSelector(random_state=draw).fit(sample.X, y).ranking_
        areas[way] = float(judge.order(np.argsort(ranking, kind="stable").tolist())["area"])
    return areas


def kind_of(design: str) -> Any:
    """The function that draws a design."""
    if design in ORDERS:
        return lambda table, per_row, draw: of_orders(table, ORDERS[design], draw)
    name, _, shuffled = design.partition(", ")
    own = {"ordered": of_ordered, "numbers": of_numbers}.get(name)
    return own or (lambda table, per_row, draw: of_classes(table, name, per_row, draw, bool(shuffled)))


def summary(rows: list[Row]) -> str:
    """Means over tables and draws; paired differences with their standard errors over tables and draws."""
    table, shown = pd.DataFrame(rows), []
    for (design, per_row), part in table.groupby(["design", "per row"], sort=False):
        numeric = part.drop(columns=["table", "design", "per row", "draw", "bins"], errors="ignore")
        numeric = numeric.dropna(axis=1, how="all")
        line: Row = {"design": design, "per row": per_row, "draws": len(part), **numeric.mean().round(2).to_dict()}
        for way in numeric.columns.drop(["votes", "covered", "width", "claimed - right"], errors="ignore"):
            apart = part["votes"] - part[way]
            line[f"votes - {way}"] = f"{apart.mean():+.2f} ± {apart.sem():.2f}"
        if "covered" in numeric:
            line["covered ±"] = round(float(numeric["covered"].sem()), 2)
        if "bins" in part and part["bins"].notna().all():
            sure, right = (np.concatenate([np.asarray(one[k], float) for one in part["bins"]]) for k in (0, 1))
            line["expected error"] = round(100 * expected_error(sure, right), 1)
        shown.append(line)
    return "\n\n".join(pd.Series(line).to_string() for line in shown)


def main() -> None:
    """Draw, store and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=int, nargs="?", default=2)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--seconds", type=float, default=np.inf, help="no draw begins later")
    parser.add_argument("--chosen", action="store_true")
    parser.add_argument("--store", type=Path, default=Path("bench-results/votes.jsonl"))
    parser.add_argument("--read", action="store_true")
    asked = parser.parse_args()
    if not asked.read:
        draw_all(asked)
    print(summary([json.loads(line) for line in asked.store.read_text(encoding="utf-8").splitlines()]))


def draw_all(asked: argparse.Namespace) -> None:
    """Every draw that is not stored; the first draws of all tables and designs come first."""
    start, shuffled = time.monotonic(), [f"{one}, shuffled" for one in DESIGNS[:4]]
    designs = [(one, per_row) for one in (*DESIGNS, "ordered", "numbers", *shuffled) for per_row in PER_ROW]
    designs += [(one, 3) for one in ORDERS]
    asked.store.parent.mkdir(parents=True, exist_ok=True)
    asked.store.touch()
    stored = [json.loads(line) for line in asked.store.read_text(encoding="utf-8").splitlines()]
    done = {(one["table"], one["design"], one["per row"], one["draw"]) for one in stored}
    draws = range(asked.first, asked.first + asked.draws)
    names = CHOSEN_ON if asked.chosen else TABLES
    with asked.store.open("a", encoding="utf-8") as lines:
        for draw, (design, per_row), name in product(draws, designs, names):
            place = {"table": name, "design": design, "per row": per_row, "draw": draw}
            if tuple(place.values()) in done or time.monotonic() - start > asked.seconds:
                continue
            row = kind_of(design)(name, per_row, draw)
            lines.write(json.dumps(place | row) + "\n")
            lines.flush()


if __name__ == "__main__":
    main()
