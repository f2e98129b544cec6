"""Errors at random in what is known of the target: wrong classes, flattened probabilities, gross errors in numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from dubio.errors import InputError
from dubio.supervision import Classes, Memberships, Numbers, Supervision

Flips = Literal["uniform", "one-class", "next"]

#: A gross error is off by so many standard deviations of the target.
_GROSS = (3.0, 10.0)
#: Distance between two rates of errors, and the first rate.
_STEP, _FIRST = 0.05, 0.025
#: More than half of the numbers being grossly wrong is not worth a question.
_MOST_GROSS = 0.5


def rates_of(known: Supervision, flips: Flips) -> np.ndarray:
    """The rates of errors that are tried, in increasing order, all below the rate at which nothing is left to know."""
    if isinstance(known, Numbers):
        most = _MOST_GROSS
    elif isinstance(known, Classes) and flips == "uniform":
        most = 1.0 - 1.0 / known.n_classes
    elif isinstance(known, Classes) and flips == "next":
        most = 0.5  # beyond it, the next class is the more common label
    else:
        most = 1.0
    steps = np.arange(_STEP, most - 1e-9, _STEP)
    return np.round(np.concatenate([[_FIRST], steps]), 6)


def with_errors(known: Supervision, rate: float, flips: Flips, rng: np.random.Generator) -> Supervision:
    """What is known, with errors at random in a share ``rate`` of the labelled rows.

    Classes: exactly that share of the labels is changed, to any other class ("uniform") or to the next one ("next");
    "one-class": that share of the labels of the largest class, to any other. Probabilities: they are flattened, which
    moves them by the share ``rate`` of the way to the shares of the classes, and one class per row is drawn from them.
    Numbers: that share of them moves by 3 to 10 standard deviations.
    """
    if isinstance(known, Classes):
        return _wrong_classes(known, rate, flips, rng)
    if isinstance(known, Memberships):
        shares = known.memberships[known.labelled].mean(axis=0)
        flat = np.where(known.labelled[:, None], (1.0 - rate) * known.memberships + rate * shares, 0.0)
        return replace(known, memberships=flat).drawn(rng)
    if isinstance(known, Numbers):
        values = np.array(known.values)
        rows = rng.permutation(np.flatnonzero(known.labelled))[: round(rate * known.n_labelled)]
        spread = values[known.labelled].std()
        values[rows] += spread * rng.uniform(*_GROSS, len(rows)) * rng.choice((-1.0, 1.0), len(rows))
        return replace(known, values=values)
    raise InputError("y", f"has no labels that could be wrong: {known.given}", "give classes, probabilities or numbers")


def _wrong_classes(known: Classes, rate: float, flips: Flips, rng: np.random.Generator) -> Classes:
    codes = np.array(known.codes)
    rows = np.flatnonzero(known.labelled)
    if flips == "one-class":
        rows = rows[codes[rows] == known.rows_per_class().argmax()]
    rows = rng.permutation(rows)[: round(rate * len(rows))]
    step = 1 if flips == "next" else rng.integers(1, known.n_classes, len(rows))
    codes[rows] = (codes[rows] + step) % known.n_classes
    return known.with_codes(codes)
