"""The kinds of doubt: what a selector is told about the training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from benchmarks.selection.tables import Floats, Sample
from dubio.simulate import flip_labels, flip_labels_to_next, hide_labels, unsure_annotator
from dubio.target.soft import average_votes

#: Error rates of the three annotators.
ANNOTATORS = (0.2, 0.3, 0.4)
#: Labels that depend on an irrelevant column flip in this share of the rows, with this probability.
HIGH, FLIP = 0.3, 2 / 3


class Known(NamedTuple):
    """What a selector is given.

    ``y`` is for selectors that take doubt: class names (None = unknown), probabilities, or numbers (NaN = unknown).
    ``labels`` is for those that do not: the likeliest class or the number of every row, to be used on ``rows`` only.
    """

    X: Floats
    kind: str  # "hard", "soft" or "numbers"
    y: NDArray[Any]
    labels: NDArray[Any]
    rows: NDArray[np.int64]
    seed: int


class Cell(NamedTuple):
    """Rows to judge on, what is known, and the irrelevant column that causes flips (or None)."""

    sample: Sample
    known: Known
    culprit: int | None = None


@dataclass(frozen=True)
class Regime:
    """A kind of doubt. ``doubt`` makes the labels of a sample doubtful."""

    name: str
    title: str
    tables: str  # the kind of its tables
    how: str
    doubt: Callable[[Sample, np.random.Generator], Cell]
    wrong: bool = False  # hard labels that may be wrong
    few: bool = False


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _hard(sample: Sample, labels: NDArray[np.int64], rng: np.random.Generator, culprit: int | None = None) -> Cell:
    names = np.array([f"c{code}" for code in labels])
    return Cell(sample, Known(sample.X, "hard", names, labels, np.arange(len(labels)), _seed(rng)), culprit)


def _soft(sample: Sample, P: Floats, rng: np.random.Generator) -> Cell:
    likeliest = (P + 1e-9 * rng.uniform(size=P.shape)).argmax(axis=1)  # ties at random
    return Cell(sample, Known(sample.X, "soft", P, likeliest, np.arange(len(P)), _seed(rng)))


def _numbers(sample: Sample, y: Floats, rng: np.random.Generator) -> Cell:
    return Cell(sample, Known(sample.X, "numbers", y, y, np.flatnonzero(~np.isnan(y)), _seed(rng)))


def right(sample: Sample, rng: np.random.Generator) -> Cell:
    return _hard(sample, sample.y, rng)


def uniform_flips(sample: Sample, rng: np.random.Generator) -> Cell:
    return _hard(sample, flip_labels(sample.y, 0.2, random_state=_seed(rng)), rng)


def next_flips(sample: Sample, rng: np.random.Generator) -> Cell:
    return _hard(sample, flip_labels_to_next(sample.y, 0.3, random_state=_seed(rng)), rng)


def one_class_flips(sample: Sample, rng: np.random.Generator) -> Cell:
    n_classes = int(sample.y.max()) + 1
    mine = np.flatnonzero(sample.y == rng.integers(n_classes))
    rows = rng.permutation(mine)[: round(0.3 * len(mine))]
    labels = sample.y.copy()
    labels[rows] = (labels[rows] + rng.integers(1, n_classes, size=len(rows))) % n_classes
    return _hard(sample, labels, rng)


def column_flips(sample: Sample, rng: np.random.Generator) -> Cell:
    culprit = int(rng.integers(sample.X.shape[1] + 1))
    train, test = rng.normal(size=len(sample.X)), rng.normal(size=len(sample.X_test))
    centre, scale = train.mean(), train.std()
    wider = Sample(
        np.insert(sample.X, culprit, (train - centre) / scale, axis=1),
        sample.y,
        np.insert(sample.X_test, culprit, (test - centre) / scale, axis=1),
        sample.y_test,
    )
    n_classes = int(sample.y.max()) + 1
    flips = (train > np.quantile(train, 1 - HIGH)) & (rng.uniform(size=len(train)) < FLIP)
    shift = rng.integers(1, n_classes, size=len(train))
    return _hard(wider, np.where(flips, (sample.y + shift) % n_classes, sample.y), rng, culprit)


def few(share: float) -> Callable[[Sample, np.random.Generator], Cell]:
    def doubt(sample: Sample, rng: np.random.Generator) -> Cell:
        names = np.array([f"c{code}" for code in sample.y])
        counts = np.bincount(sample.y)
        most = len(names) - int(np.minimum(counts, 3).sum())
        hidden = min(1 - share, most / len(names))
        y = hide_labels(names, hidden, min_per_class=3, random_state=_seed(rng))
        rows = np.flatnonzero([label is not None for label in y])
        return Cell(sample, Known(sample.X, "hard", y, sample.y, rows, _seed(rng)))

    return doubt


def expert(sample: Sample, rng: np.random.Generator) -> Cell:
    return _soft(sample, unsure_annotator(sample.y, mean=0.3, random_state=_seed(rng)).memberships.memberships, rng)


def weak_model(sample: Sample, rng: np.random.Generator) -> Cell:
    known = few(0.1)(sample, rng).known
    model = RandomForestClassifier(25, max_depth=3, random_state=_seed(rng))
    return _soft(sample, model.fit(sample.X[known.rows], sample.y[known.rows]).predict_proba(sample.X), rng)


def annotators(sample: Sample, rng: np.random.Generator) -> Cell:
    votes = np.column_stack([flip_labels(sample.y, rate, random_state=_seed(rng)) for rate in ANNOTATORS])
    return _soft(sample, average_votes(votes, int(sample.y.max()) + 1), rng)


def all_numbers(sample: Sample, rng: np.random.Generator) -> Cell:
    return _numbers(sample, sample.y.astype(np.float64), rng)


def few_numbers(sample: Sample, rng: np.random.Generator) -> Cell:
    y = np.full(len(sample.y), np.nan)
    rows = rng.permutation(len(y))[: max(20, round(0.1 * len(y)))]
    y[rows] = sample.y[rows]
    return _numbers(sample, y, rng)


def gross_errors(sample: Sample, rng: np.random.Generator) -> Cell:
    y = sample.y.astype(np.float64)
    rows = rng.permutation(len(y))[: round(0.2 * len(y))]
    y[rows] += y.std() * rng.uniform(3, 10, size=len(rows)) * rng.choice((-1, 1), size=len(rows))
    return _numbers(sample, y, rng)


REGIMES = {
    regime.name: regime
    for regime in (
        Regime("right", "All classes right", "classes", "the classes as they are", right, wrong=True),
        Regime("uniform", "20 % of the classes wrong", "classes", "any other class", uniform_flips, wrong=True),
        Regime("next", "30 % moved to the next class", "classes", "the next class in order", next_flips, wrong=True),
        Regime("one_class", "30 % of one class wrong", "classes", "one class, drawn anew", one_class_flips, wrong=True),
        Regime(
            "column",
            "Flips that depend on an irrelevant column",
            "classes",
            f"a column of noise is added; of the {HIGH:.0%} of the rows where it is highest, {FLIP:.0%} are flipped",
            column_flips,
            wrong=True,
        ),
        Regime("few5", "5 % of the classes known", "classes", "at least three rows of each class", few(0.05), few=True),
        Regime(
            "few10", "10 % of the classes known", "classes", "at least three rows of each class", few(0.1), few=True
        ),
        Regime("expert", "Probabilities: an unsure expert", "classes", "mean doubt 30 %, sometimes wrong", expert),
        Regime(
            "weak",
            "Probabilities: a weak model",
            "classes",
            "a forest of 25 trees of depth three, trained on 10 % of the rows",
            weak_model,
        ),
        Regime(
            "annotators",
            "Probabilities: three annotators",
            "classes",
            "votes averaged; the annotators are wrong in "
            + ", ".join(f"{rate:.0%}" for rate in ANNOTATORS)
            + " of the rows",
            annotators,
        ),
        Regime("numbers", "All numbers right", "numbers", "the numbers as they are", all_numbers),
        Regime("numbers10", "10 % of the numbers known", "numbers", "at least 20 rows", few_numbers, few=True),
        Regime(
            "gross", "20 % gross errors in the numbers", "numbers", "off by 3 to 10 standard deviations", gross_errors
        ),
        Regime("wide", "More columns than rows, classes right", "wide", "the classes as they are", right, wrong=True),
        Regime(
            "wide_flips",
            "More columns than rows, 20 % of the classes wrong",
            "wide",
            "any other class",
            uniform_flips,
            wrong=True,
        ),
    )
}
