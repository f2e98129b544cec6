"""Selection and detection with wrong labels on real tables: the numbers of ``docs/wrong_labels.md``.

``python -m benchmarks.wrong_labels`` (with the datasets in the folder ``DUBIO_DATA``) runs ten paired repetitions on
eight tables and prints the results. Each finished repetition is one line of ``--store``, and a second call continues
where the first one stopped.

A repetition takes at most 500 rows and standardises them. 70 % of them are used for the selection, with some of their
labels flipped. For each subset of each method, a k-NN classifier is trained on the *clean* labels of these rows, with k
chosen by ten-fold cross-validation. Its balanced error is measured on the other 30 %. The number of a method is the
mean over all subset sizes smaller than all features, in points. All methods of a repetition have the same labels, rows
and folds.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TABLES = ["iris", "wine", "vertebral_column", "glass", "ecoli", "vehicle", "segment", "yeast"]
CLASSES_KEPT = {
    "ecoli": ["cp", "im", "pp", "imU", "om"],
    "glass": ["1", "2", "7"],
    "yeast": ["CYT", "NUC", "MIT", "ME3"],
}
MAX_ROWS = 500
JUDGE_NEIGHBORS = np.array([*range(1, 11), *range(12, 21, 2), *range(25, 51, 5)])

#: Names of methods in the selection table; those "on clean labels" do not see the flipped ones.
DEFAULT = "NeighborSearch, clean='confident' (default)"
CLEAN = "NeighborSearch, clean=None, on clean labels"
DEFAULT_CLEAN = "NeighborSearch, clean='confident', on clean labels"
LNT = "LNT-BW (MutualInformationSearch)"
FOREST = "random-forest importance"


def load(name: str, rng: np.random.RandomState) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """At most 500 rows of a table: standardised features (without constant ones), and classes as codes."""
    import pandas as pd

    frame = pd.read_csv(Path(os.environ["DUBIO_DATA"]) / f"{name}.csv.gz")
    target = frame.pop("target").astype(str)
    if name in CLASSES_KEPT:
        frame, target = frame[target.isin(CLASSES_KEPT[name])], target[target.isin(CLASSES_KEPT[name])]
    X, y = frame.to_numpy(dtype=np.float64), np.unique(target, return_inverse=True)[1].astype(np.int64)
    rows = rng.permutation(len(X))[:MAX_ROWS]
    X, y = X[rows], y[rows]
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


class Judge:
    """Balanced test error of k-NN on a subset of features; k is chosen by cross-validation, all on clean labels."""

    def __init__(
        self,
        train: tuple[NDArray[np.float64], NDArray[np.int64]],
        test: tuple[NDArray[np.float64], NDArray[np.int64]],
        seed: int,
    ) -> None:
        from sklearn.model_selection import StratifiedKFold

        (self.X, self.y), (self.X_test, self.y_test) = train, test
        self.n_classes = int(self.y.max()) + 1
        folds = np.empty(len(self.y), dtype=np.int64)
        for f, (_, held) in enumerate(StratifiedKFold(10, shuffle=True, random_state=seed).split(self.X, self.y)):
            folds[held] = f
        self.same_fold = folds[:, None] == folds[None, :]
        self.known: dict[tuple[int, ...], float] = {}

    def errors(self, distances: NDArray[np.float64], truth: NDArray[np.int64]) -> NDArray[np.float64]:
        """Balanced error for every k of ``JUDGE_NEIGHBORS``."""
        most = int(min(JUDGE_NEIGHBORS.max(), np.isfinite(distances).sum(axis=1).min()))
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :most]
        votes = np.cumsum(np.eye(self.n_classes)[self.y[nearest]], axis=1)
        guess = votes[:, np.minimum(JUDGE_NEIGHBORS, most) - 1].argmax(axis=2)
        wrong = guess != truth[:, None]
        return np.mean([wrong[truth == c].mean(axis=0) for c in np.unique(truth)], axis=0)

    def __call__(self, subset: Iterable[int]) -> float:
        key = tuple(sorted(int(j) for j in subset))
        if key not in self.known:
            A, B = self.X[:, key], self.X_test[:, key]
            within = ((A[:, None] - A[None]) ** 2).sum(axis=2)
            within[self.same_fold] = np.inf
            best = int(self.errors(within, self.y).argmin())
            across = ((B[:, None] - A[None]) ** 2).sum(axis=2)
            self.known[key] = float(self.errors(across, self.y_test)[best])
        return self.known[key]


def selections(
    X: NDArray[np.float64], noisy: NDArray[np.int64], clean: NDArray[np.int64], seed: int
) -> dict[str, Callable[[], dict[int, Any]]]:
    """One function per method, which returns a subset for each size."""
    from sklearn.ensemble import RandomForestClassifier

    from dubio import MutualInformationSearch, NeighborSearch

    def forest() -> dict[int, Any]:
        importance = RandomForestClassifier(300, random_state=seed).fit(X, noisy).feature_importances_
        order = np.argsort(-importance, kind="stable")
        return {size: order[:size] for size in range(1, X.shape[1] + 1)}

    def neighbors(labels: NDArray[np.int64], **options: Any) -> Callable[[], dict[int, Any]]:
        return lambda: NeighborSearch(random_state=seed, **options).fit(X, labels).subsets_

    return {
        DEFAULT: neighbors(noisy),
        "NeighborSearch, clean='pooled'": neighbors(noisy, clean="pooled"),
        "NeighborSearch, clean='lnt'": neighbors(noisy, clean="lnt"),
        "NeighborSearch, clean=None": neighbors(noisy, clean=None),
        FOREST: forest,
        LNT: lambda: MutualInformationSearch(random_state=seed).fit(X, noisy).subsets_,
        "BW-N (no noise model)": lambda: (
            MutualInformationSearch(label_noise=False, random_state=seed).fit(X, noisy).subsets_
        ),
        CLEAN: neighbors(clean, clean=None),
        DEFAULT_CLEAN: neighbors(clean),
    }


def detections(
    X: NDArray[np.float64], noisy: NDArray[np.int64], wrong: NDArray[np.bool_], seed: int
) -> dict[str, dict[str, float]]:
    """How well the doubt finds the flipped labels (AUROC), and the estimated share of flips."""
    from cleanlab.classification import CleanLearning
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score

    from dubio import audit_labels

    found = {}
    for engine in ("pooled", "confident", "lnt"):
        audit = audit_labels(X, noisy, engine=engine, random_state=seed)
        rate = 1 - np.trace(audit.joint) / audit.joint.sum() if audit.flip_rate is None else audit.flip_rate
        found[f"audit_labels, {engine}"] = {"auroc": float(roc_auc_score(wrong, audit.disagreement)), "rate": rate}
    issues = CleanLearning(RandomForestClassifier(random_state=seed), seed=seed).find_label_issues(X, noisy)
    found["cleanlab, forest"] = {
        "auroc": float(roc_auc_score(wrong, -issues["label_quality"])),
        "rate": float(issues["is_label_issue"].mean()),
    }
    return found


def flip(kind: str, X: NDArray[np.float64], y: NDArray[np.int64], rate: float, seed: int) -> NDArray[np.int64]:
    """Wrong labels of one kind."""
    from dubio.simulate import flip_labels, flip_labels_near_border, flip_labels_to_next

    if kind == "uniform":
        return flip_labels(y, rate, random_state=seed)
    if kind == "border":
        return flip_labels_near_border(X, y, rate, random_state=seed)
    return flip_labels_to_next(y, rate, random_state=seed)


def repetition(name: str, seed: int, kind: str, rate: float, methods: list[str] | None) -> dict[str, Any]:
    """One line of the store."""
    from sklearn.model_selection import train_test_split

    X, y = load(name, np.random.RandomState(seed))
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    noisy = flip(kind, X[train], y[train], rate, seed)
    judge = Judge((X[train], y[train]), (X[test], y[test]), seed)
    errors, seconds = {}, {}
    for method, select in selections(X[train], noisy, y[train], seed).items():
        if methods and method not in methods:
            continue
        began = time.process_time()
        subsets = select()
        seconds[method] = time.process_time() - began
        errors[method] = 100 * float(np.mean([judge(subsets[size]) for size in range(1, X.shape[1])]))
    whole = flip(kind, X, y, rate, seed)
    return {
        "table": name,
        "seed": seed,
        "kind": kind,
        "rate": rate,
        "errors": errors,
        "seconds": seconds,
        "detection": detections(X, whole, whole != y, seed),
    }


def show(lines: list[dict[str, Any]]) -> None:
    """Print the three tables."""
    tables = [name for name in TABLES if any(line["table"] == name for line in lines)]
    methods = list(lines[0]["errors"])

    def values(pick: Callable[[dict[str, Any]], float]) -> list[NDArray[np.float64]]:
        return [np.array([pick(line) for line in lines if line["table"] == name]) for name in tables]

    def mean_and_error(groups: list[NDArray[np.float64]]) -> tuple[float, float]:
        """Mean over tables of the means over repetitions, and its standard error over the repetitions."""
        variances = [g.var(ddof=1) / len(g) if len(g) > 1 else np.nan for g in groups]
        return float(np.mean([g.mean() for g in groups])), float(np.sqrt(np.sum(variances)) / len(groups))

    print(f"\n{lines[0]['kind']} flips of {lines[0]['rate']:.0%}, {len(lines) // len(tables)} repetitions\n")
    print("| method | " + " | ".join(tables) + " | mean | minus LNT-BW |\n|---|" + "---:|" * (len(tables) + 2))
    for method in methods:
        groups = values(lambda line, m=method: line["errors"][m])
        cells = " | ".join(f"{g.mean():.2f}" for g in groups)
        against = ""
        if LNT in methods:
            gap, error = mean_and_error(values(lambda line, m=method: line["errors"][m] - line["errors"][LNT]))
            against = f"{gap:+.2f} ± {error:.2f}"
        print(f"| {method} | {cells} | {mean_and_error(groups)[0]:.2f} | {against} |")
    print("\n| paired difference | mean ± standard error |\n|---|---:|")
    for a, b in ((DEFAULT, LNT), (DEFAULT, FOREST), (DEFAULT, CLEAN), (DEFAULT_CLEAN, CLEAN)):
        if a in methods and b in methods:
            gap, error = mean_and_error(values(lambda line, a=a, b=b: line["errors"][a] - line["errors"][b]))
            print(f"| {a} minus {b} | {gap:+.2f} ± {error:.2f} |")
    print("\n| AUROC of flipped labels | " + " | ".join(tables) + " | mean | error of the rate, points |")
    print("|---|" + "---:|" * (len(tables) + 2))
    for method in lines[0]["detection"]:
        groups = values(lambda line, m=method: line["detection"][m]["auroc"])
        rates = values(lambda line, m=method: 100 * abs(line["detection"][m]["rate"] - line["rate"]))
        cells = " | ".join(f"{g.mean():.3f}" for g in groups)
        print(f"| {method} | {cells} | {mean_and_error(groups)[0]:.4f} | {mean_and_error(rates)[0]:.1f} |")
    print("\n| method | CPU seconds, all tables, one repetition |\n|---|---:|")
    for method in methods:
        print(f"| {method} | {sum(g.mean() for g in values(lambda line, m=method: line['seconds'][m])):.1f} |")


def main(arguments: list[str] | None = None) -> None:
    """Run the missing repetitions and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=500)
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--methods", nargs="*", help="only these rows of the selection table")
    parser.add_argument("--kind", choices=["uniform", "border", "next"], default="uniform")
    parser.add_argument("--rate", type=float, default=0.2)
    parser.add_argument("--store", type=Path, default=Path("wrong_labels.jsonl"))
    options = parser.parse_args(arguments)
    if "DUBIO_DATA" not in os.environ:
        parser.error("set DUBIO_DATA to the folder with the datasets")
    warnings.filterwarnings("ignore", category=UserWarning)
    lines = [json.loads(line) for line in options.store.read_text().splitlines()] if options.store.exists() else []
    wanted = [(name, options.first_seed + r) for r in range(options.repetitions) for name in options.tables]
    same = [line for line in lines if line["kind"] == options.kind and line["rate"] == options.rate]
    done = {(line["table"], line["seed"]): line for line in same}
    for name, seed in wanted:
        if (name, seed) not in done:
            done[name, seed] = repetition(name, seed, options.kind, options.rate, options.methods)
            with options.store.open("a") as file:
                file.write(json.dumps(done[name, seed]) + "\n")
    show([done[case] for case in wanted])


if __name__ == "__main__":
    main()
