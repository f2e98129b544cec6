"""Patients with several visits: what is kept if rows of a patient count as independent, and if they count as a group.

40 patients have 10 visits each, with 20 labs: a level per patient, and half as much noise per visit.

* *label per patient*: the label is drawn per patient. With a relation, three labs are two standard deviations higher in
  patients with the label.
* *ill at some visits*: each patient is ill at some visits, some patients more often than others. With a relation, three
  labs rise at these visits, by half of the noise of a visit.
* *one wrong label*: as the first, but at one visit the label is wrong.

Run ``python -m benchmarks.visits [draws] [jobs]``.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem

PATIENTS, VISITS, LABS, RELATED = 40, 10, 20, 3
#: Standard deviation of a visit around the level of the patient; levels have 1.
NOISE = 0.5
KINDS = ("label per patient", "ill at some visits", "one wrong label")


class Draw(NamedTuple):
    """One table: how many features were kept, and how many of them are related."""

    kept: int
    found: int


def make(kind: str, related: bool, seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The labs, the labels and the patients of one draw."""
    rng = np.random.default_rng([seed, KINDS.index(kind), int(related), 17])
    patients = np.repeat(np.arange(PATIENTS), VISITS)
    X = rng.normal(size=(PATIENTS, LABS))[patients] + NOISE * rng.normal(size=(len(patients), LABS))
    if kind == "ill at some visits":
        often = rng.beta(2, 4, size=PATIENTS)
        y = (rng.random(len(patients)) < often[patients]).astype(int)
        shift = 0.5 * NOISE
    else:
        y = rng.permutation(np.arange(PATIENTS) % 2)[patients]
        shift = 2.0
    if related:
        X[:, :RELATED] += shift * y[:, None]
    if kind == "one wrong label":
        y[0] = 1 - y[0]
    return X, y, patients


def one(kind: str, related: bool, grouped: bool, seed: int) -> Draw:
    """The features kept in one draw."""
    X, y, patients = make(kind, related, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = relevance_of(read_problem(X, y, groups=patients if grouped else None)).relevant
    return Draw(int(kept.sum()), int(kept[:RELATED].sum()) if related else 0)


def main(draws: int = 100, jobs: int = 1) -> None:
    """Print one line per kind of table; without groups, a fifth of the draws."""
    began = time.perf_counter()
    print("| target | relation | groups | draws | nothing kept % | kept | related found % | false discoveries % |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for kind in KINDS:
        for related in (False, True):
            for grouped in (True, False):
                seeds = range(draws if grouped else max(1, draws // 5))
                found = joblib.Parallel(jobs)(joblib.delayed(one)(kind, related, grouped, seed) for seed in seeds)
                nothing = 100 * np.mean([draw.kept == 0 for draw in found])
                kept = np.mean([draw.kept for draw in found])
                power = f"{100 * np.mean([draw.found / RELATED for draw in found]):.1f}" if related else "–"
                false = 100 * np.mean([(draw.kept - draw.found) / max(1, draw.kept) for draw in found])
                words = ("three labs" if related else "none", "yes" if grouped else "no", len(found))
                print(
                    f"| {kind} | {' | '.join(map(str, words))} | {nothing:.0f} | {kept:.1f} | {power} | {false:.1f} |",
                    flush=True,
                )
    print(f"\n{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
