"""Does the evaluation of a selection tell noise from signal, and do its intervals hold?

Tables of 120 rows and 40 columns, of which five are kept. Without a relation, the labels have nothing to do with the
columns: selection must not be said to help, and the interval of the accuracy should hold the accuracy of guessing. With
a relation, three columns are one standard deviation higher in one class.

* *classes*: two classes, as many rows of each.
* *few labels*: 70 % of them are missing.
* *probabilities*: an annotator gives the class 0.8.
* *groups*: 40 groups of three rows that share their label and resemble each other.
* *numbers*: a numeric target, judged by R2. A fitted model does worse than the mean on noise, so that only the verdict
  is counted.

Run ``python -m benchmarks.evaluation [draws] [jobs]``.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, NamedTuple

import joblib
import numpy as np

from dubio import LinearR2Score
from dubio.pipelines import evaluate_selection, usual_model

ROWS, COLUMNS, KEPT, RELATED = 120, 40, 5, 3
KINDS = ("classes", "few labels", "probabilities", "groups", "numbers")


class Draw(NamedTuple):
    """One table: the verdict, whether the interval holds the score of guessing, and the scores."""

    better_than_chance: bool
    helps: bool
    covered: bool
    selected: float
    everything: float


def make(kind: str, related: bool, seed: int) -> tuple[Any, Any, Any]:
    """The table, what is known of its target, and the groups of one draw."""
    rng = np.random.default_rng([seed, KINDS.index(kind), int(related), 22])
    groups = None
    X = rng.normal(size=(ROWS, COLUMNS))
    y: Any = rng.permutation(np.arange(ROWS) % 2)
    if kind == "groups":
        groups = np.arange(ROWS) // 3
        X = 0.8 * rng.normal(size=(ROWS // 3, COLUMNS))[groups] + 0.6 * X
        y = rng.permutation(np.arange(ROWS // 3) % 2)[groups]
    if related:
        X[:, :RELATED] += y[:, None]
    if kind == "few labels":
        hidden = np.concatenate([rng.permutation(np.flatnonzero(y == k))[: int(0.35 * ROWS)] for k in (0, 1)])
        y = y.astype(object)
        y[hidden] = None
    elif kind == "probabilities":
        y = np.where(np.eye(2)[y] > 0, 0.8, 0.2)
    elif kind == "numbers":
        y = rng.normal(size=ROWS) + (X[:, :RELATED].sum(axis=1) if related else 0.0)
    return X, y, groups


def one(kind: str, related: bool, seed: int) -> Draw:
    """The evaluation of one draw."""
    X, y, groups = make(kind, related, seed)
    target = "numbers" if kind == "numbers" else "classes"
    selector, model = LinearR2Score(n_features_to_select=KEPT, target=target), usual_model("logistic", target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = evaluate_selection(selector, model, X, y, groups=groups, target=target, sizes=[KEPT])
    selected = found.estimate(found.selected)
    return Draw(
        found.above_chance.low > 0,
        found.gain.low > 0,
        selected.low <= 0.5 <= selected.high,
        selected.mean,
        float(found.all_features.mean()),
    )


def main(draws: int = 50, jobs: int = 1) -> None:
    """Print one line per kind of table."""
    began = time.perf_counter()
    print(
        "| target | relation | draws | better than chance % | better than all % | 0.5 covered % | kept features | all |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for kind in KINDS:
        for related in (False, True):
            found = joblib.Parallel(jobs)(joblib.delayed(one)(kind, related, seed) for seed in range(draws))
            better, helps, covered, selected, everything = np.mean(found, axis=0)
            relation = "three columns" if related else "none"
            shown = "–" if kind == "numbers" or related else f"{100 * covered:.0f}"
            print(
                f"| {kind} | {relation} | {draws} | {100 * better:.0f} | {100 * helps:.0f} "
                f"| {shown} | {selected:.3f} | {everything:.3f} |",
                flush=True,
            )
    print(f"\n{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
