"""How wrong may the labels be: do the bounds hold, does the tolerance hold on fresh flips, are planted fingerprints
found, and does rechecking in the audit's order help?

``python -m benchmarks.how_wrong [worst] [random] [fingerprints] [real] [recheck] [--draws N] [--seed S] [--jobs N]``
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import joblib
import numpy as np

from benchmarks.anchored_audit import REPORTING, table_of
from benchmarks.selection.tables import TABLES, draw
from dubio import FeatureSelector, apply_corrections, audit_labels, label_fingerprints, label_tolerance
from dubio.evidence.relevance import SINGLE, relations_to_any, relevance_of
from dubio.problem import read_problem
from dubio.trust.tolerance import _worst

#: Tables on which nothing here was chosen; those of the brute force, too.
REAL = ("australian", "heart_statlog", "ionosphere", "segment", "vertebral_column", "waveform", "wine", "made:blocks")
BRUTE = (*REAL, "sonar", "glass")


ALPHA = 0.05


def uniform(y: Any, rate: float, rng: np.random.Generator) -> Any:
    """A share of the labels changed to any other class."""
    wrong, k = y.copy(), int(y.max()) + 1
    rows = rng.permutation(len(y))[: round(rate * len(y))]
    wrong[rows] = (y[rows] + rng.integers(1, k, len(rows))) % k
    return wrong


def _sample(name: str, rng: np.random.Generator, most: int = 200) -> tuple[Any, Any]:
    sample = draw(next(table for table in TABLES if table.name == name), rng)
    return sample.X[:most], np.unique(sample.y[:most], return_inverse=True)[1]


def _kept(X: Any, y: Any) -> Any:
    warnings.simplefilter("ignore")
    return relevance_of(read_problem(X, y), only_decides=True).relevant


def _stay(X: Any, y: Any, some: Any) -> Any:
    """Which of some features are kept. Those that tests of single features keep with the help of no other one are; the
    whole refit is only needed if one of these is not."""
    warnings.simplefilter("ignore")
    bounds = relations_to_any(read_problem(X, y).tested).bounds
    alone = bounds[0] / SINGLE <= 0.5 * ALPHA / X.shape[1]
    return np.ones(len(some), dtype=bool) if alone[some].all() else _kept(X, y)[some]


def _worst_of(name: str, number: int, seed: int) -> tuple[int, int, int, int]:
    """One table: all single flips, and chosen flips of all sizes below the bound, with full refits."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 1, number, sum(map(ord, name))])
    X, y = _sample(name, rng)
    kept, k = _kept(X, y), int(y.max()) + 1
    worst = _worst(read_problem(X, y), kept, ALPHA)
    survivors = np.flatnonzero(worst > 1)
    fallen, flips = np.zeros(len(survivors), dtype=bool), 0
    for row in range(len(y)):
        for other in sorted(set(range(k)) - {int(y[row])}):
            flipped = y.copy()
            flipped[row] = other
            fallen |= ~_stay(X, flipped, survivors)
            flips += 1
    for place, j in enumerate(survivors):
        order = np.argsort(X[:, j], kind="stable")
        for size in np.unique(np.linspace(1, worst[j] - 1, 5).astype(int)):
            flipped = y.copy()  # the rows that speak for the feature most, each given the class at the other end
            means = [X[y == c, j].mean() for c in range(k)]
            low, high = int(np.argmin(means)), int(np.argmax(means))
            share = int(rng.integers(0, size + 1))
            flipped[order[y[order] == high][::-1][:share]] = low
            flipped[order[y[order] == low][: size - share]] = high
            fallen[place] |= not _stay(X, flipped, np.array([j]))[0]
            flips += 1
    return int(kept.sum()), len(survivors), int(fallen.sum()), flips


def worst(draws: int, seed: int, jobs: int) -> None:
    """All single flips on ten tables, and chosen flips up to the bound: does a feature fall that should survive?"""
    tasks = [(name, number) for name in BRUTE for number in range(draws)]
    done = joblib.Parallel(n_jobs=jobs, return_as="generator")(joblib.delayed(_worst_of)(*task, seed) for task in tasks)
    total = np.zeros(4, dtype=np.int64)
    for (name, _), one in zip(tasks, done, strict=True):
        kept, survivors, fallen, flips = one
        text = f"{name:18s} {kept} kept, {survivors} survive any one wrong label, {fallen} fell in {flips} flips"
        print(text, flush=True)
        total += one
    print(f"worst case: {total[2]} of {total[1]} features fell below their bound, in {total[3]} flips", flush=True)


def _random_of(name: str, number: int, seed: int, draws: int) -> list[tuple[float, float]]:
    """One table: the tolerance of each feature, and how often it is kept on fresh flips at that rate."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 2, number, sum(map(ord, name))])
    X, y = _sample(name, rng, 300)
    found = label_tolerance(X, y)
    asked = np.flatnonzero(found.kept & (found.random > 0) & (found.random < found.highest))
    asked = asked[:: max(1, len(asked) // 4)][:4]
    return [
        (float(found.random[j]), float(np.mean([_kept(X, uniform(y, found.random[j], rng))[j] for _ in range(draws)])))
        for j in asked
    ]


def random(draws: int, seed: int, jobs: int) -> None:
    """The share of fresh flips in which features are kept at their tolerance, with the full tests: 95 % is wanted."""
    done = joblib.Parallel(n_jobs=jobs, return_as="generator")(
        joblib.delayed(_random_of)(name, 0, seed, draws) for name in REAL
    )
    shares = []
    for name, found in zip(REAL, done, strict=True):
        said = ", ".join(f"{100 * rate:.1f} %: kept in {100 * share:.0f} %" for rate, share in found)
        print(f"{name:18s}", said, flush=True)
        shares += [share for _, share in found]
    mean, error = np.mean(shares), np.std(shares, ddof=1) / len(shares) ** 0.5
    print(f"random tolerance: kept in {100 * mean:.1f} ± {100 * error:.1f} % of fresh draws at the printed rate")


def planted(rng: np.random.Generator, rate: float, way: str) -> tuple[Any, Any, Any]:
    """300 rows, 20 columns, five related; the last one is irrelevant and may decide where labels are wrong."""
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 20))
    X[:, :5] += 1.5 * np.where(np.arange(5) % 2, y[:, None], 1 - y[:, None])
    share = 2 * rate  # the fifth annotator has so many rows that half of them are all the errors
    who = np.where(rng.random(300) < share, 4, rng.integers(0, 4, 300))
    count = round(rate * 300)
    if way == "fair":
        rows = rng.permutation(300)[:count]
    elif way == "column":  # 30 % of the labels are wrong where the column is high, none elsewhere
        rows = rng.permutation(np.argsort(-X[:, -1])[: round(rate / 0.3 * 300)])[:count]
    else:
        own = np.flatnonzero(who == 4)
        rows = own[np.argsort(-X[own, -1])][:count]
    given = y.copy()
    given[rows] = 1 - given[rows]
    return X, given, who


def fingerprints(draws: int, seed: int, jobs: int) -> None:
    """How often a planted fingerprint is found, and how often something is named although errors are fair."""
    for rate in (0.1, 0.2):
        for way in ("column", "annotator", "fair"):
            hits, others, alarms = [], [], []
            for number in range(draws):
                X, y, who = planted(np.random.default_rng([seed, 3, number]), rate, way)
                found = label_fingerprints(X, y, annotators=None if way == "column" else who)
                if way == "fair":
                    alarms.append((found.related.any(), found.marked.any()))
                hits.append(found.marked[-1] if way == "column" else found.annotator[-1] == "4")
                others.append(found.marked[:-1].any())
            if way == "fair":
                alone, any_alarm = np.mean(alarms, axis=0)
                print(
                    f"{rate:.0%} fair errors: doubt alone names a feature in {alone:.0%}, any test in {any_alarm:.0%}"
                )
            else:
                print(
                    f"{rate:.0%} by {way}: found in {np.mean(hits):.0%}, other features named in {np.mean(others):.0%}"
                )
            print(end="", flush=True)


def _real_of(name: str, way: str, number: int, seed: int) -> tuple[bool, bool, bool] | None:
    """A real table with an irrelevant column that decides where 15 % of the labels are wrong: is it kept, is it named,
    and is another feature named?"""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 5, number, sum(map(ord, name + way))])
    X, y = table_of(name, rng)
    X, y = np.nan_to_num(X[:300, rng.permutation(X.shape[1])[:20]]), y[:300]
    z, n, k = rng.normal(size=len(y)), len(y), int(y.max()) + 1
    given, count, high = y.copy(), round(0.15 * n), np.argsort(-z)
    if way == "one way":  # three quarters of the labels of the largest class are wrong where the column is highest
        largest = int(np.bincount(y).argmax())
        high = high[y[high] == largest]
        count = min(count, len(high) // 2)
        given[rng.permutation(high[: round(count / 0.75)])[:count]] = (largest + 1) % k
    else:  # of any class; six tenths where the column is highest, or anywhere
        rows = rng.permutation(high[: round(count / 0.6)] if way == "both ways" else n)[:count]
        given[rows] = (y[rows] + rng.integers(1, k, count)) % k
    if np.bincount(given, minlength=k).min() < 5:
        return None
    table = np.column_stack([X, z])
    found = label_fingerprints(table, given)
    return bool(_kept(table, given)[-1]), bool(found.marked[-1]), bool(found.marked[:-1].any())


def real(draws: int, seed: int, jobs: int) -> None:
    """Columns that decide where labels are wrong, in real tables: how often they are kept, and how often named."""
    for way in ("one way", "both ways", "fair"):
        done = joblib.Parallel(n_jobs=jobs, return_as="generator")(
            joblib.delayed(_real_of)(name, way, number, seed) for name in REPORTING for number in range(draws)
        )
        found = [one for one in done if one is not None]
        kept, named, others = 100 * np.mean(found, axis=0)
        text = f"{way}: kept in {kept:.0f} %, named in {named:.0f} %, another feature named in {others:.0f} %"
        print(f"{text} ({len(found)} draws)", flush=True)


def recheck(draws: int, seed: int, jobs: int) -> None:
    """The top features after rechecking a tenth of the rows: in the audit's order, and at random."""
    gains, levels = [], []
    for place, name in enumerate(REAL):
        table = next(t for t in TABLES if t.name == name)
        line = []
        for number in range(draws):
            rng = np.random.default_rng([seed, 4, place, number])
            sample = draw(table, rng)
            given = uniform(sample.y, 0.2, rng)
            truth = FeatureSelector().fit(sample.X, sample.y).ranking_
            top = max(3, min(10, sample.X.shape[1] // 2))
            count = round(0.1 * len(given))
            audit = audit_labels(sample.X, given)
            orders = (
                np.argsort(-np.nan_to_num(audit.disagreement), kind="stable")[:count],
                rng.permutation(len(given))[:count],
            )
            overlap = []
            for rows in orders:
                decisions = [
                    {
                        "row": i + 1,
                        "given": given[i],
                        "decision": "right" if given[i] == sample.y[i] else "change",
                        "label": sample.y[i],
                    }
                    for i in rows
                ]
                ranks = FeatureSelector().fit(sample.X, apply_corrections(given, decisions)).ranking_
                overlap.append(((ranks <= top) & (truth <= top)).sum() / top)
            gains.append(overlap[0] - overlap[1])
            levels.append(overlap)
            line.append(f"{overlap[0]:.2f}/{overlap[1]:.2f}")
        print(f"{name:18s} audit's order/random: {' '.join(line)}", flush=True)
    mean = np.mean(levels, axis=0)
    print(
        "rechecking 10 % of the rows, 20 % flips: overlap of the top features with those of clean labels "
        f"{mean[0]:.3f} in the audit's order, {mean[1]:.3f} at random; difference {np.mean(gains):+.3f} ± "
        f"{np.std(gains, ddof=1) / len(gains) ** 0.5:.3f} ({len(gains)} pairs)"
    )


def main() -> None:
    parts = {"worst": (worst, 1), "random": (random, 60), "fingerprints": (fingerprints, 100)}
    parts |= {"real": (real, 4), "recheck": (recheck, 3)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*parts, []], default=[])
    parser.add_argument("--draws", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, (part, usual) in parts.items():
        if not options.parts or name in options.parts:
            part(options.draws or usual, options.seed, options.jobs)


if __name__ == "__main__":
    main()
