"""The test whether features are related to doubt about labels, beyond what they say about the classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from dubio.problem import Problem
from dubio.table.rows import centred_within, group_means, random_order

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Most parts of equal size into which the rows of a likely class are divided by how sure the class is, and fewest rows
#: in such a part, unless a class has fewer.
_PARTS, _ROWS_IN_PART = 4, 15
#: Fewest and most permutations, and the limit on their work, in rows x features x permutations.
_FEWEST, _MOST, _WORK = 99, 999, 3e8
#: An annotator with fewer rows is not tested.
_FEWEST_ROWS = 20
#: The share of wrong labels at which the measure of doubt is the best one.
_ERRORS = 0.1


class DoubtTest:
    """Tests whether features are related to doubt, by permutations among rows that look alike."""

    def __init__(self, problem: Problem, random_state: int) -> None:
        self._table, self._seed = problem.table, random_state
        self._columns = [problem.columns_of(np.array([j])) for j in range(problem.n_features)]

    def pvalues(self, rows: Codes, doubt: Floats, opinions: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """p-values of all features on some rows, and the side on which there is more doubt; 1 with too few rows.

        A feature of several columns has the smallest p-value of these, times their number.
        """
        n, d = len(rows), self._table.shape[1]
        if n < _FEWEST_ROWS:
            return np.ones(len(self._columns)), np.ones(len(self._columns), dtype=np.int64)
        likely = opinions.argmax(axis=1)
        parts = _parts(likely, opinions.max(axis=1))
        sizes = np.bincount(parts)
        x = np.apply_along_axis(rankdata, 0, self._table[rows])
        x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        centres = np.zeros((opinions.shape[1], d))
        present = np.unique(likely)
        centres[present] = group_means(x, likely)
        towards = centred_within(x * (centres - centres[present].mean(axis=0))[likely], parts)
        away = centred_within((x - centres[likely]) ** 2, parts)
        feature, rest = centred_within(x, parts), np.repeat(centred_within(doubt[:, None], parts), d, axis=1)
        # what the feature says for the class is taken out of both, column by column (Gram and Schmidt)
        for base in (towards, away - _along(away, towards)):
            feature, rest = feature - _along(feature, base), rest - _along(rest, base)
        feature, rest = centred_within(feature, parts), centred_within(rest, parts)
        squares = group_means(feature**2, parts) * group_means(rest**2, parts)
        spread = np.sqrt((squares * (sizes**2 / np.maximum(sizes - 1, 1))[:, None]).sum(axis=0))
        varies = spread > 1e-9 * np.sqrt((rest**2).sum(axis=0)).max(initial=1e-300)

        def strength_of(found: Floats) -> Floats:
            return np.divide(np.abs(found), spread, out=np.zeros(d), where=varies)

        found = (feature * rest).sum(axis=0)
        # permutations do not know that two directions were taken out, which matters with few rows
        left = n - len(sizes)
        strength = strength_of(found) * np.sqrt(max(left - 2, 1) / max(left, 1))
        rng = np.random.default_rng([self._seed, n])
        null = np.empty((int(np.clip(_WORK / (n * d), _FEWEST, _MOST)), d))
        for b in range(len(null)):
            null[b] = strength_of((feature * rest[random_order(n, parts, rng)]).sum(axis=0))
        # in units of its own spread, every feature has about the same null, so that they share the permutations
        pool = np.sort(null[:, varies].ravel())
        reached = len(pool) - np.searchsorted(pool, strength - 1e-12)
        tested = np.where(varies, (1.0 + reached) / (1.0 + len(pool)), 1.0)
        best = [places[int(tested[places].argmin())] for places in self._columns]
        counts = np.asarray([len(places) for places in self._columns])
        return np.minimum(1.0, counts * tested[best]), np.where(found >= 0, 1, -1)[best]


def _parts(likely: Codes, sure: Floats) -> Codes:
    """The part of each row: rows of the same likely class, of which the models are about as sure."""
    part = np.zeros(len(likely), dtype=np.int64)
    for k in np.unique(likely):
        rows = np.flatnonzero(likely == k)
        n_parts = max(1, min(_PARTS, len(rows) // _ROWS_IN_PART))
        part[rows] = k * _PARTS + np.argsort(np.argsort(sure[rows], kind="stable")) * n_parts // len(rows)
    return np.unique(part, return_inverse=True)[1]


def _along(values: Floats, base: Floats) -> Floats:
    """The part of each column that lies along the same column of ``base``."""
    length = (base**2).sum(axis=0)
    return base * np.divide((base * values).sum(axis=0), length, out=np.zeros(len(length)), where=length > 1e-12)


def doubt_of(opinions: Floats, codes: Codes) -> Floats:
    """Evidence of each label for a higher rate of errors, given an opinion that has not seen it."""
    given = np.clip(opinions[np.arange(len(codes)), codes], 1e-6, 1.0 - 1e-6)
    other = (1.0 - given) / max(1, opinions.shape[1] - 1)
    return (other - given) / ((1.0 - _ERRORS) * given + _ERRORS * other)
