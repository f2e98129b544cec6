"""Is a feature related to doubt about the labels? A test by permutations among rows that look alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from dubio.problem import Problem

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Parts of equal size into which the rows of a likely class are divided by how sure the class is; rows in a part.
_PARTS, _ROWS_IN_PART = 4, 15
#: Permutations, at most and at least, and the limit on their work (rows x features x permutations).
_MOST, _FEWEST, _WORK = 999, 99, 3e8
#: An annotator with fewer rows is not tested.
FEWEST_ROWS = 20


class DoubtTest:
    """Tests whether features are related to doubt, by permutations among rows that look alike."""

    def __init__(self, problem: Problem, random_state: int) -> None:
        self._table, self._seed = problem.table, random_state
        self._columns = [problem.columns_of(np.array([j])) for j in range(problem.n_features)]

    def pvalues(self, rows: Codes, doubt: Floats, opinions: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """p-values of all features on some rows, and the side on which there is more doubt; 1 with too few rows.

        A feature of several columns has the smallest p-value of these, times their number.
        """
        tested, sides = self._of_columns(rows, doubt, opinions)
        best = [own[int(tested[own].argmin())] for own in self._columns]
        counts = np.asarray([len(own) for own in self._columns])
        return np.minimum(1.0, counts * tested[best]), sides[best]

    def _of_columns(self, rows: Codes, doubt: Floats, opinions: Floats) -> tuple[Floats, NDArray[np.int64]]:
        n, d = len(rows), self._table.shape[1]
        if n < FEWEST_ROWS:
            return np.ones(d), np.ones(d, dtype=np.int64)
        likely = opinions.argmax(axis=1)
        parts = _Alike(likely, opinions.max(axis=1))
        x = np.apply_along_axis(rankdata, 0, self._table[rows])
        x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        centres = np.zeros((opinions.shape[1], d))
        for k in np.unique(likely):
            centres[k] = x[likely == k].mean(axis=0)
        towards = parts.centred(x * (centres - centres[np.unique(likely)].mean(axis=0))[likely])
        away = parts.centred((x - centres[likely]) ** 2)
        feature, rest = parts.centred(x), np.repeat(parts.centred(doubt[:, None]), d, axis=1)
        # what the feature says for the class is taken out of both, column by column (Gram and Schmidt)
        for base in (towards, away - _along(away, towards)):
            feature, rest = feature - _along(feature, base), rest - _along(rest, base)
        feature, rest = parts.centred(feature), parts.centred(rest)
        spread = np.sqrt(
            (parts.sums(feature**2) * parts.sums(rest**2) / np.maximum(parts.sizes - 1, 1)[:, None]).sum(0)
        )
        varies = spread > 1e-9 * np.sqrt((rest**2).sum(axis=0)).max(initial=1e-300)
        found = (feature * rest).sum(axis=0)
        strength = np.divide(np.abs(found), spread, out=np.zeros(d), where=varies)
        # permutations do not know that two directions were taken out, which matters with few rows
        left = n - len(parts.sizes)
        strength *= np.sqrt(max(left - 2, 1) / max(left, 1))
        rng = np.random.default_rng([self._seed, n])
        count = int(np.clip(_WORK / (n * d), _FEWEST, _MOST))
        null = np.empty((count, d))
        for b in range(count):
            drawn = (feature * rest[parts.shuffled(rng)]).sum(axis=0)
            null[b] = np.divide(np.abs(drawn), spread, out=np.zeros(d), where=varies)
        # in units of its own spread, every feature has about the same null, so that they share the permutations
        pool = np.sort(null[:, varies].ravel())
        reached = len(pool) - np.searchsorted(pool, strength - 1e-12)
        pvalues = np.where(varies, (1.0 + reached) / (1.0 + len(pool)), 1.0)
        return pvalues, np.where(found >= 0, 1, -1)


class _Alike:
    """Rows of the same likely class, in parts by how sure that class is."""

    def __init__(self, likely: Codes, sure: Floats) -> None:
        part = np.zeros(len(likely), dtype=np.int64)
        for k in np.unique(likely):
            rows = np.flatnonzero(likely == k)
            n_parts = max(1, min(_PARTS, len(rows) // _ROWS_IN_PART))
            part[rows] = k * _PARTS + np.argsort(np.argsort(sure[rows], kind="stable")) * n_parts // len(rows)
        self._part = np.unique(part, return_inverse=True)[1]
        self.sizes = np.bincount(self._part)
        self._order = np.argsort(self._part, kind="stable")

    def sums(self, values: Floats) -> Floats:
        """Sums over the rows of each part."""
        out = np.zeros((len(self.sizes), values.shape[1]))
        np.add.at(out, self._part, values)
        return out

    def centred(self, values: Floats) -> Floats:
        """Values without the mean of their part."""
        return np.asarray(values - (self.sums(values) / self.sizes[:, None])[self._part])

    def shuffled(self, rng: np.random.Generator) -> Codes:
        """A random order of the rows within each part."""
        order = np.empty(len(self._part), dtype=np.int64)
        order[self._order] = np.lexsort((rng.random(len(self._part)), self._part))
        return order


def _along(values: Floats, base: Floats) -> Floats:
    """The part of each column that lies along the same column of ``base``."""
    length = (base**2).sum(axis=0)
    return base * np.divide((base * values).sum(axis=0), length, out=np.zeros(len(length)), where=length > 1e-12)
