"""How wrong may the labels be: are the bounds right, does the tolerance hold on fresh flips, are planted fingerprints
found, and does rechecking in the audit's order help?

``python -m benchmarks.how_wrong [worst] [random] [fingerprints] [recheck] [--draws N] [--seed S]``
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.selection.tables import TABLES, draw
from dubio import FeatureSelector, apply_corrections, audit_labels, label_fingerprints, label_tolerance
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem
from dubio.trust.worst_case import fewest_flips, greedy_flips
from tests import naive

#: Tables on which nothing here was chosen.
REAL = ("australian", "heart_statlog", "ionosphere", "segment", "vertebral_column", "waveform", "wine", "made:blocks")
RATES = (0.05, 0.15, 0.3)


def uniform(y: Any, rate: float, rng: np.random.Generator) -> Any:
    """A share of the labels changed to any other class."""
    wrong, k = y.copy(), int(y.max()) + 1
    rows = rng.permutation(len(y))[: round(rate * len(y))]
    wrong[rows] = (y[rows] + rng.integers(1, k, len(rows))) % k
    return wrong


def worst(draws: int, seed: int) -> None:
    """Random and adversarial flips below the exact bound; how far the greedy bound is from brute force."""
    rng = np.random.default_rng([seed, 1])
    tried = broken = tables = 0
    while tried < 1000 * draws:
        n = int(rng.integers(100, 301))
        codes = (rng.random(n) < rng.uniform(0.2, 0.8)).astype(np.int64)
        f = rng.standard_t(rng.choice((3, 30)), size=n) + rng.uniform(0.3, 2.0) * codes
        cut = rng.uniform(0.1, 0.9) * naive.explained_by_classes(f, codes)
        bound = fewest_flips(f, codes == 1, cut).changes
        if bound < 2:
            continue
        tables += 1
        centred = f - f.mean()
        total = (centred**2).sum()
        order = np.argsort(f * (1 if f[codes == 1].mean() > f[codes == 0].mean() else -1))
        ones, zeros = order[codes[order] == 1][::-1], order[codes[order] == 0]
        for trial in range(200):
            size = bound - 1 if trial % 4 else int(rng.integers(1, bound))
            if trial % 2:
                rows = rng.permutation(n)[:size]
            else:  # the most telling rows, a few of them exchanged for the next ones
                share = int(rng.integers(max(0, size - len(zeros)), min(size, len(ones)) + 1))
                reach = 1 + int(rng.integers(0, 4))
                rows = np.concatenate(
                    [
                        rng.permutation(ones[: share + reach])[:share],
                        rng.permutation(zeros[: size - share + reach])[: size - share],
                    ]
                )
            new = codes.copy()
            new[rows] = 1 - new[rows]
            k = int(new.sum())
            r2 = n * centred[new == 1].sum() ** 2 / (k * (n - k)) / total if 0 < k < n else 0.0
            tried += 1
            broken += r2 < cut * (1 - 1e-12)
    print(f"worst case: {broken} of {tried} flips below the bound pushed a feature out ({tables} features)")
    apart = []
    for _ in range(10 * draws):
        n = int(rng.integers(5, 8))
        codes = np.append([0, 1, 2], rng.integers(0, 3, n - 3))
        f = rng.normal(size=n) + rng.uniform(0, 2) * codes
        cut = naive.explained_by_classes(f, codes) * rng.uniform(0.05, 0.95)
        apart.append(greedy_flips(f, codes, 3, cut).changes - naive.fewest_changes(f, codes, 3, cut))
    print(
        f"greedy bound, 3 classes, 5 to 7 rows: {np.mean(apart):.3f} ± {np.std(apart) / len(apart) ** 0.5:.3f} above "
        f"brute force on average, equal in {100 * np.mean(np.equal(apart, 0)):.0f} % of {len(apart)} tables",
        flush=True,
    )


def random(draws: int, seed: int) -> None:
    """The tolerance, and what happens to the same features on fresh flips, with the full tests."""
    agree, single, costs = [], [], []
    for place, name in enumerate(REAL):
        table = next(t for t in TABLES if t.name == name)
        rng = np.random.default_rng([seed, 2, place])
        sample = draw(table, rng)
        began = time.perf_counter()
        FeatureSelector().fit(sample.X, sample.y)
        fitted = time.perf_counter() - began
        began = time.perf_counter()
        found = label_tolerance(sample.X, sample.y)
        costs.append((time.perf_counter() - began) / fitted)
        line = []
        for rate in RATES:
            kept = np.stack(
                [relevance_of(read_problem(sample.X, uniform(sample.y, rate, rng))).relevant for _ in range(draws)]
            )
            for sure, survives in ((rate < found.low, True), (rate > found.high, False)):
                chosen = np.flatnonzero(found.kept & sure)
                right = (kept[:, chosen].mean(axis=0) > 0.5) == survives
                agree += right.tolist()
                single += (kept[:, chosen] == survives).ravel().tolist()
                line.append(f"{'below' if survives else 'above'} {rate:g}: {right.sum()}/{len(right)}")
        print(f"{name:18s} cost {costs[-1]:.1f} fits, {found.n_draws} draws; {', '.join(line)}", flush=True)
    print(
        f"random tolerance: {100 * np.mean(agree):.1f} % of {len(agree)} predictions outside the interval hold in the "
        f"majority of {draws} fresh draws ({100 * np.mean(single):.1f} % of single draws); cost at most "
        f"{max(costs):.1f} fits"
    )


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


def fingerprints(draws: int, seed: int) -> None:
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


def recheck(draws: int, seed: int) -> None:
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
    parts = {"worst": (worst, 100), "random": (random, 7), "fingerprints": (fingerprints, 100), "recheck": (recheck, 3)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*parts, []], default=[])
    parser.add_argument("--draws", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, (part, usual) in parts.items():
        if not options.parts or name in options.parts:
            part(options.draws or usual, options.seed)


if __name__ == "__main__":
    main()
