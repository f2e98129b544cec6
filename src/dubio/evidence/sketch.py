r"""Tests of single features from sums over all rows: for tables that are not in memory.

The rows of each column are counted in bins, whose limits are quantiles of a sample. For every bin the sums of the
target are kept (of classes: how many rows of each), and for every column the power sums. Such sketches merge. From them
come the three tests of :func:`~dubio.evidence.relations.relation_pvalues`:

* the linear test, exactly;
* the linear test of normal scores, with the middle rank of a bin for all of its rows;
* the smooth test. The mean of the target in a window moves over a grid of ranks; within a bin, rows are spread evenly.
  Without a relation, the error that the windows explain is a quadratic form of normal sums, :math:`\sum_j w_j \chi^2_j`
  with weights :math:`w_j` of both signs, and its tail is that of Lugannani and Rice [1]_. No permutation is needed, so
  p-values can be as small as the rows allow.

For numbers, the test by distances (the supervised Laplacian score) is left out.

References
----------
.. [1] D. Kuonen (1999). Saddlepoint approximations for distributions of quadratic forms in normal variables.
   Biometrika 86, 929-935.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import ndtri

from dubio.evidence.permutation import FEW_ROWS_OF_FEATURE, permutation_moments
from dubio.evidence.relations import half_window, relation_combination
from dubio.kernels.moments import binned_sums
from dubio.kernels.threads import run_chunks
from dubio.problem import AllRows, Problem
from dubio.table.matrix import block_lengths, row_blocks

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Most and fewest bins of a column, and numbers in all bins together (8 bytes each). With 2,048, the logarithm of p of
#: normal scores is within 4 % of that in memory where p is below 0.1 (20,000 rows, no ties). That of the smooth test is
#: 2.9 % off on average, at most 9.1 %, from enough permutations: those that are drawn in memory give no p-value below
#: one over their number, and there the sketch is right.
_MOST_BINS, _FEWEST_BINS, _MOST_NUMBERS = 2048, 64, 2**24
#: Windows of the smooth test, and bins of equal size from which its law is found.
_FINE, _COARSE = 4096, 256
#: Cells of equal width by which the bin of a number is looked up.
_CELLS = 4096


@dataclass(frozen=True)
class Bins:
    """Where the bins of some columns end, and the units in which columns and the target are summed."""

    #: (columns, bins - 1): inner limits in increasing order, filled up with infinity; a number equal to one is above.
    limits: Floats
    #: (columns, cells + 1): the first bin of each cell between the first and the last limit.
    first: NDArray[np.int32]
    centre: Floats
    scale: Floats
    n_classes: int
    #: The same for a target of numbers; 0 and 1 for classes.
    target_centre: float = 0.0
    target_scale: float = 1.0

    @property
    def of_numbers(self) -> bool:
        """Whether the target holds numbers."""
        return self.n_classes == 1

    def in_units(self, y: NDArray[Any]) -> Floats:
        """Numbers of the target in these units."""
        return np.asarray((y - self.target_centre) / self.target_scale)

    @classmethod
    def of_sample(cls, X: Floats, y: Floats | Codes, n_classes: int = 2) -> Bins:
        """Bins from a sample of rows without gaps. ``y`` are codes of classes, or numbers."""
        of_numbers = y.dtype.kind == "f"
        n_classes = 1 if of_numbers else max(n_classes, int(y.max()) + 1)
        d = X.shape[1]
        n_bins = int(np.clip(_MOST_NUMBERS // (d * n_classes), _FEWEST_BINS, _MOST_BINS))
        limits = np.full((d, n_bins - 1), np.inf)
        first = np.zeros((d, _CELLS + 1), dtype=np.int32)
        for j in range(d):
            own = _limits_of(np.sort(X[:, j]), n_bins)
            limits[j, : len(own)] = own
            if len(own):
                cells = np.linspace(own[0], own[-1], _CELLS + 1)
                first[j] = np.searchsorted(own, cells, side="left")
        spread = X.std(axis=0)
        unit = np.where(spread > 0, spread, 1.0)
        if not of_numbers:
            return cls(limits, first, X.mean(axis=0), unit, n_classes)
        return cls(limits, first, X.mean(axis=0), unit, 1, float(y.mean()), float(y.std()) or 1.0)


def _limits_of(ordered: Floats, n_bins: int) -> Floats:
    """Limits between the different values of a column, or at its quantiles; frequent values have a bin of their own."""
    values = np.unique(ordered)
    if len(values) <= n_bins:
        return 0.5 * (values[1:] + values[:-1])
    quantiles = ordered[(np.arange(1, n_bins) * len(ordered)) // n_bins]
    often = quantiles[:-1][quantiles[1:] == quantiles[:-1]]
    return np.unique(np.concatenate([quantiles, np.nextafter(often, np.inf)]))[: n_bins - 1]


@dataclass(frozen=True)
class Sketch:
    """Sums over the labelled rows of some columns and their target. Sketches with the same bins merge."""

    bins: Bins
    #: (columns, bins): how many rows. (columns, bins, classes): sums of the target; of classes, their rows.
    counts: Floats
    sums: Floats
    #: (columns, 4): sums of the first four powers of the standardized column; (columns, classes): times the target.
    powers: Floats
    cross: Floats
    #: (columns,): rows without a number.
    missing: Codes
    #: (classes,) rows of each class; of numbers, (4,) sums of the first four powers.
    target: Floats
    #: (1,): the number of rows with a target.
    n_labelled: Floats

    @property
    def n_rows(self) -> int:
        return int(self.n_labelled[0])

    @classmethod
    def empty(cls, bins: Bins) -> Sketch:
        """The sketch of no rows."""
        d, n_bins, k = len(bins.centre), bins.limits.shape[1] + 1, bins.n_classes
        sums = np.zeros((d, n_bins)), np.zeros((d, n_bins, k)), np.zeros((d, 4)), np.zeros((d, k))
        return cls(bins, *sums, np.zeros(d, dtype=np.int64), np.zeros(4 if bins.of_numbers else k), np.zeros(1))

    @classmethod
    def of(cls, bins: Bins, columns: list[NDArray[Any]], y: Floats | Codes) -> Sketch:
        """The sketch of some rows. ``y`` are codes of classes (-1: no label) or numbers (NaN: none)."""
        found = cls.empty(bins)
        found.add(columns, y)
        found.add_target(y)
        return found

    def add(self, columns: list[NDArray[Any]], y: Floats | Codes, start: int = 0, n_threads: int = 1) -> None:
        """Add some columns of further rows, from column ``start`` on; afterwards :meth:`add_target` once."""
        bins = self.bins
        codes, values = (np.where(np.isnan(y), -1, 0), bins.in_units(y)) if bins.of_numbers else (y, np.empty(0))
        codes = codes.astype(np.int32)

        def work(j: int, _: int) -> None:
            place = start + j
            where = bins.limits[place], bins.first[place], bins.centre[place], bins.scale[place]
            sums = self.counts[place], self.sums[place], self.powers[place], self.cross[place]
            self.missing[place] += binned_sums(columns[j], codes, values, *where, *sums)

        run_chunks(work, [(j, j + 1) for j in range(len(columns))], n_threads)

    def add_target(self, y: Floats | Codes) -> None:
        """Add the target of further rows."""
        known = ~np.isnan(y) if self.bins.of_numbers else y >= 0
        self.n_labelled[0] += known.sum()
        if self.bins.of_numbers:
            values = self.bins.in_units(y[known])
            self.target[:] += [(values**power).sum() for power in range(1, 5)]
        else:
            self.target[:] += np.bincount(y[known], minlength=self.bins.n_classes)

    def merge(self, other: Sketch) -> Sketch:
        """Both sets of rows together."""
        names = ("counts", "sums", "powers", "cross", "missing", "target", "n_labelled")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def means(self) -> Floats:
        """The mean of each column over the labelled rows."""
        return np.asarray(self.bins.centre + self.bins.scale * self.powers[:, 0] / self.n_rows)

    @property
    def variances(self) -> Floats:
        return np.asarray(self.bins.scale**2 * self._central(self.powers)[0])

    def tests(self) -> dict[str, Floats]:
        """p-values of the linear test, of that of normal scores, and of the smooth test; NaN where they do not hold.

        They do not hold if a cell was missing, or if a few rows carry the column.
        """
        scores, n = self._normal_scores(), self.n_rows
        powers = np.stack([(self.counts * scores**power).sum(axis=1) for power in range(1, 5)], axis=1)
        cross = np.einsum("jb,jbk->jk", scores, self.sums)
        second, fourth = self._central(self.powers)
        holds = (self.missing == 0) & (second > 1e-18) & (n * second**2 >= FEW_ROWS_OF_FEATURE * fourth)
        found = {
            "linear": self._linear(self.powers, self.cross),
            "scores": self._linear(powers, cross),
            "smooth": self._smooth(),
        }
        return {name: np.where(holds, values, np.nan) for name, values in found.items()}

    def pvalues(self) -> Floats:
        """The three tests joined as for a table in memory; NaN where they do not hold."""
        tests = self.tests()
        untested = np.isnan(tests["linear"])
        joined = relation_combination({name: np.where(untested, 1.0, values) for name, values in tests.items()})
        return np.where(untested, np.nan, joined)

    def _central(self, powers: Floats) -> tuple[Floats, Floats]:
        """The second and the fourth central moments."""
        m1, m2, m3, m4 = (powers / self.n_rows).T
        return m2 - m1**2, m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4

    def _of_target(self) -> tuple[Floats, Floats, int, float]:
        """The sums of the target, its products around the mean, its rank, and the sum of the squared leverages."""
        n = self.n_rows
        if not self.bins.of_numbers:
            there = self.target[self.target > 0]
            leverages = float((there * (1.0 / there - 1.0 / n) ** 2).sum())
            return self.target, np.diag(self.target) - np.outer(self.target, self.target) / n, len(there) - 1, leverages
        second, fourth = (float(one[0]) for one in self._central(self.target[None]))
        return self.target[:1], np.array([[n * second]]), 1, fourth / (n * second**2) if second > 0 else 1.0

    def _linear(self, powers: Floats, cross: Floats) -> Floats:
        """The test of :func:`~dubio.evidence.relations.linear_pvalues`, from power sums and products."""
        n = self.n_rows
        sums, products, rank, leverages = self._of_target()
        second, fourth = self._central(powers)
        away = cross - np.outer(powers[:, 0], sums) / n
        explained = np.einsum("jk,kl,jl->j", away, np.linalg.pinv(products, rcond=1e-12), away)
        varies = second > 1e-18
        r2 = np.clip(np.divide(explained, n * second, out=np.zeros(len(second)), where=varies), 0.0, 1.0)
        _, variance = permutation_moments(second, fourth, n, rank, leverages, rank)
        variance = np.divide(variance, (n * second) ** 2, out=np.full(len(second), np.inf), where=varies)
        mean = rank / (n - 1)
        strength = np.clip(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-3, 1e18)
        return np.where(varies, stats.beta.sf(r2, mean * strength, (1 - mean) * strength), 1.0)

    def _normal_scores(self) -> Floats:
        """(columns, bins): the normal quantile of the middle rank of each bin."""
        middle = np.cumsum(self.counts, axis=1) - 0.5 * self.counts
        return np.asarray(ndtri(np.clip(middle / self.n_rows, 0.5 / self.n_rows, 1.0 - 0.5 / self.n_rows)))

    def _smooth(self) -> Floats:
        n = self.n_rows
        sums, products, _, _ = self._of_target()
        variances = np.linalg.eigvalsh(products)
        variances = variances[variances > 1e-12 * variances.max(initial=0.0)]
        shares = np.full(_COARSE, 1.0 / _COARSE)
        even = np.outer(_law(shares, _form(shares, n)), variances).ravel()
        found = np.ones(len(self.counts))
        for j, (counts, of_bins) in enumerate(zip(self.counts, self.sums, strict=True)):
            used = counts > 0
            shares, totals = counts[used] / n, of_bins[used] - np.outer(counts[used] / n, sums)
            if counts.max() <= n / _COARSE:
                value, law = _explained(shares, totals, n), even
            else:  # equal values are spread evenly, so that their order plays no part
                shares, totals = _joined(shares, totals)
                form = _form(shares, n)
                value, law = float(np.einsum("bk,bc,ck->", totals, form, totals)), _law(shares, form)
                law = np.outer(law, variances).ravel()
            found[j] = quadratic_tail(value, law)
        return found


def _windows(n: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Places between the rows, the two ends of the window of each gap between them, and its number of rows."""
    half, place = half_window(n) / n, np.linspace(0.0, 1.0, _FINE + 1)
    middle = 0.5 * (place[1:] + place[:-1])
    low, high = np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
    return place, low, high, n * (high - low)


def _explained(shares: Floats, totals: Floats, n: int) -> float:
    """The squared error that moving means explain, up to a constant, from the sums of a centred target in bins.

    A row is predicted by the mean of the other rows of its window, :math:`(W - y) / (m - 1)`, so that its error is
    :math:`(m y - W) / (m - 1)`.
    """
    place, low, high, rows = _windows(n)
    upto, explained = np.append(0.0, np.cumsum(shares)), 0.0
    for total in totals.T:
        along = np.append(0.0, np.cumsum(total))
        steps = np.diff(np.interp(place, upto, along))
        inside = np.interp(high, upto, along) - np.interp(low, upto, along)
        explained += float(((2.0 * rows * steps * inside - n / _FINE * inside**2) / (rows - 1.0) ** 2).sum())
    return explained


def _form(shares: Floats, n: int) -> Floats:
    """The matrix M for which :math:`t^T M t` is that error, from the sums t of the target in bins."""
    place, low, high, rows = _windows(n)
    start = np.cumsum(shares) - shares

    def below(ends: Floats) -> Floats:  # (places, bins): the part of each bin below a place
        return np.clip((ends[:, None] - start) / shares, 0.0, 1.0)

    inside, weight = below(high) - below(low), 1.0 / (rows - 1.0) ** 2
    cross = np.diff(below(place), axis=0).T @ ((rows * weight)[:, None] * inside)
    return np.asarray(cross + cross.T - (n / _FINE) * inside.T @ (weight[:, None] * inside))


def _law(shares: Floats, form: Floats) -> Floats:
    """The weights of the law of the form without a relation: rows are drawn into bins of these shares."""
    root = np.sqrt(shares)
    scaled = root[:, None] * form * root
    away = np.eye(len(root)) - np.outer(root, root)  # the sums add up to zero
    return np.asarray(np.linalg.eigvalsh(away @ scaled @ away))


def _joined(shares: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Neighbouring bins joined up to a share of one cell; larger ones stay as they are."""
    middle = np.cumsum(shares) - 0.5 * shares
    is_large = shares > 1.0 / _COARSE
    cell = np.floor(middle * _COARSE) + np.cumsum(is_large) * 2.0 * _COARSE
    number = np.cumsum(np.append(True, (np.diff(cell) != 0) | is_large[1:] | is_large[:-1])) - 1
    joined = np.zeros((number[-1] + 1, totals.shape[1]))
    np.add.at(joined, number, totals)
    return np.asarray(np.bincount(number, shares), dtype=np.float64), joined


def quadratic_tail(value: float, weights: Floats) -> float:
    r"""The probability that :math:`\sum_j w_j \chi^2_j` exceeds a value, by a saddlepoint.

    >>> import numpy as np
    >>> from scipy.stats import chi2
    >>> from dubio.evidence.sketch import quadratic_tail
    >>> round(float(quadratic_tail(40.0, np.ones(10)) / chi2.sf(40.0, 10)), 2)
    1.0
    """
    scale = float(np.abs(weights).max(initial=0.0))
    if not scale > 0:
        return 1.0
    value, w = value / scale, weights / scale
    mean, variance = float(w.sum()), 2.0 * float((w**2).sum())
    if abs(value - mean) < 1e-4 * np.sqrt(variance):
        return 0.5

    def slope(s: float) -> float:
        return float((w / (1.0 - 2.0 * s * w)).sum()) - value

    high = 0.5 / w.max() if w.max() > 0 else 1e6
    low = 0.5 / w.min() if w.min() < 0 else -1e6
    ends = (1e-12 * high, high * (1.0 - 1e-13)) if value > mean else (low * (1.0 - 1e-13), 1e-12 * low)
    if slope(ends[0]) * slope(ends[1]) > 0:  # beyond what the law can reach
        return 0.0 if value > mean else 1.0
    s = float(optimize.brentq(slope, *ends, xtol=1e-15, rtol=1e-14))
    inner = 1.0 - 2.0 * s * w
    root = float(np.sign(s) * np.sqrt(max(2.0 * (s * value + 0.5 * np.log(inner).sum()), 1e-300)))
    other = s * np.sqrt(2.0 * float(((w / inner) ** 2).sum()))
    return float(np.clip(stats.norm.sf(root + np.log(other / root) / root), 0.0, 1.0))


#: Gives the sketch of all rows for some columns of the table, by their places, and bins.
Sketcher = Callable[[list[int], Bins], Sketch | None]


def tested_on_all_rows(
    sample: Problem, raw: Callable[[int], NDArray[Any] | None], sketched: Sketcher
) -> AllRows | None:
    """Test features on all rows of a table of which the problem is a sample; None if no feature can be tested.

    Only columns of numbers are that have no gap in the sample, and whose numbers are used as they are in the table:
    ``raw`` gives a column of the sample by its place in the table, None if it holds no numbers.
    """
    target = sample.supervision.one_per_row
    layout = sample.columns
    sizes, roles = np.ones(sample.n_features, dtype=np.int64), np.full(sample.n_columns, "value")
    if layout is not None:
        sizes, roles = layout.sizes, layout.roles
    starts = np.append(0, np.cumsum(sizes)[:-1])
    features = np.flatnonzero((sizes == 1) & (roles[starts] == "value"))
    labelled = sample.supervision.labelled
    table = np.asarray(sample.X[np.ix_(np.flatnonzero(labelled), starts[features])], dtype=np.float64)
    inputs = [(j,) for j in range(sample.n_features)] if layout is None or not layout.inputs else layout.inputs
    places = [inputs[feature][0] for feature in features]
    columns = [raw(place) for place in places]
    there = np.isfinite(table).all(axis=0)
    as_given = zip(columns, table.T, strict=True)
    there = there & np.array(
        [one is not None and np.array_equal(one[labelled], own) for one, own in as_given], dtype=bool
    )
    features, table, places = features[there], table[:, there], [places[j] for j in np.flatnonzero(there)]
    if target is None or not len(features) or len(np.unique(target[labelled])) < 2:
        return None
    sketch = sketched(places, Bins.of_sample(table, target[labelled], len(getattr(sample.supervision, "classes", ()))))
    if sketch is None:
        return None
    pvalues = np.full(sample.n_features, np.nan)
    pvalues[features] = sketch.pvalues()
    return AllRows(pvalues, sketch.n_rows)


def merged(sketches: Iterable[Sketch | None]) -> Sketch | None:
    """All rows together; None if there are none."""
    there = [one for one in sketches if one is not None]
    return reduce(Sketch.merge, there) if there else None


#: Blocks of a Dask collection whose sketches are merged at a time.
_MERGED_AT_ONCE = 8


def sketch_dask(X: Any, target: NDArray[Any], places: list[int], bins: Bins) -> Sketch | None:
    """The sketch of a Dask collection: a task for each block of rows, and a tree of tasks that merges them."""
    from dask import delayed

    blocks, lengths = row_blocks(X)
    ends = np.cumsum(block_lengths(blocks) if lengths is None else lengths).tolist()
    task, merge, shared = delayed(_sketch_block, pure=False), delayed(merged, pure=False), delayed(bins)
    starts = [0, *ends[:-1]]
    parts = [
        task(block, target[start:end], places, shared) for block, start, end in zip(blocks, starts, ends, strict=True)
    ]
    while len(parts) > 1:
        parts = [merge(parts[i : i + _MERGED_AT_ONCE]) for i in range(0, len(parts), _MERGED_AT_ONCE)]
    found: Sketch | None = parts[0].compute()
    return found


def _sketch_block(block: Any, target: NDArray[Any], places: list[int], bins: Bins) -> Sketch | None:
    """The sketch of one block; its numbers are read as they are."""
    if not len(block):
        return None
    return Sketch.of(bins, [np.ascontiguousarray(column_of(block, place)) for place in places], target)


def column_of(table: Any, place: int) -> NDArray[np.float64] | None:
    """A column of numbers of a frame or an array; None if it holds something else."""
    column = table.iloc[:, place].to_numpy() if hasattr(table, "iloc") else table[:, place]
    return np.asarray(column, dtype=np.float64) if column.dtype.kind in "iuf" else None
