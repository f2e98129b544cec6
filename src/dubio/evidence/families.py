r"""Families of features that can stand in for each other, and what each family adds beyond the others.

The gain of a feature is how much of the variation of the target it predicts on held-out rows, by a regression on its
normal scores and their squares. Two features can stand in for each other if the gain of each, given the other, is below
a fifth of its gain alone: a size, not a test. The gain of a weak feature is hardly known. So columns of numbers that
share four fifths of their variance (a correlation of 0.9) are near copies, and count too, unless one of them clearly
adds to the other. Features that are linked in this way, directly or by others, are one family: wavelengths of a band,
several measures of the same size.

A family of m related features has the p-value :math:`\min_k m\,p_{(k)} / k` (Simes [1]_), and every other tested
feature is a family of its own; the rule of Benjamini and Hochberg gives their q-values. A family adds beyond all others
if its best feature is still related to the target once both are residuals of a ridge regression on the features outside
the family, those first that resemble it most (:mod:`~dubio.evidence.residuals` [2]_): an F-test, with Benjamini and
Hochberg's rule over all families. Where little of a feature is left beyond the others, the test is weak, and says so.

References
----------
.. [1] R. J. Simes (1986). An improved Bonferroni procedure for multiple tests of significance. Biometrika 73, 751-754.
.. [2] R. D. Shah and J. Peters (2020). The hardness of conditional independence testing and the generalised covariance
   measure. Annals of Statistics 48, 1514-1538.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components
from scipy.stats import false_discovery_control

from dubio.evidence.evidence import Evidence, varying_parts
from dubio.evidence.relations import TEST_WEIGHTS, cauchy_combination
from dubio.evidence.residuals import Regression
from dubio.kernels.threads import chunks
from dubio.problem import Problem
from dubio.sampling import mixed_contents, sample_rows

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Largest share of its own gain that a feature may add to one that stands in for it.
_SHARE = 0.2
#: Smallest correlation of near copies: less than a fifth of the variance of each is its own.
_NEAR_COPY = 0.9
#: Near copies are kept apart if one adds more than this over the number of rows: a chi-squared value of 10.
_CLEARLY = 10.0
#: Smallest correlation of two features that are compared. Of two equally good ones, each adds a fifth at 2/3.
_LEAST = 0.6
#: Most related features that are compared, the best ones; most rows; rows are held out in this many parts.
_MOST, _MOST_ROWS, _FOLDS = 1000, 2000, 10
#: Most columns by which a feature enters a regression, and its ridge as a share of the rows.
_WIDTH, _RIDGE = 6, 1e-3
#: Pairs that are compared at a time.
_PAIRS = 4096
#: Most other features of a regression, as a share of the rows, and in all.
_OTHERS, _MOST_OTHERS = 0.25, 150
#: A test is weak if it would find a feature that acts only by itself in less than this share of tables.
_POWER = 0.5


@dataclass(frozen=True, eq=False)
class Families:
    """Which related features can stand in for each other."""

    #: The family of each feature, from 1 on, the smallest p-value first; 0 for features that are not related.
    number: Codes
    #: (n_features, n_features): the pairs that are near copies.
    copies: Any
    #: q-values of the families, and of what they add beyond all others; 1 for features that are not related.
    qvalues: Floats
    beyond: Floats
    #: Whether the test of what a family adds is too weak to tell.
    weak: NDArray[np.bool_]
    #: Level of the false discoveries.
    alpha: float
    #: The families as regions of a spectrum, by number.
    regions: dict[int, str] = field(default_factory=dict)

    @property
    def verdicts(self) -> NDArray[Any]:
        """What each related feature's family adds beyond all others: "adds", "weak test" or "not shown"; else ""."""
        words = np.where(self.beyond <= self.alpha, "adds", np.where(self.weak, "weak test", "not shown"))
        return np.where(self.number > 0, words, "").astype(object)

    def columns(self, names: NDArray[Any], best_first: Codes) -> dict[str, NDArray[Any]]:
        """Columns of the ranking; the head of a family is its first feature in the order."""
        heads = np.full(len(names), "", dtype=object)
        for feature in best_first[::-1].tolist():
            if self.number[feature]:
                heads[self.number == self.number[feature]] = str(names[feature])
        found = {"family": self.number, "family_head": heads, "family_qvalue": self.qvalues}
        found |= {"beyond_qvalue": self.beyond, "beyond": self.verdicts}
        if self.regions:
            found["region"] = np.array([self.regions.get(int(one), "") for one in self.number], dtype=object)
        return found

    def repeats(self, order: Codes) -> NDArray[np.bool_]:
        """Which features of an order are near copies of an earlier one that is none itself."""
        is_copy = np.zeros(len(self.number), dtype=bool)
        for feature in order.tolist():
            if not is_copy[feature]:
                is_copy[self.copies.indices[self.copies.indptr[feature] : self.copies.indptr[feature + 1]]] = True
                is_copy[feature] = False
        return is_copy[order]


def families_of(
    problem: Problem, pvalues: Floats, relevant: NDArray[np.bool_], counts: NDArray[np.bool_], alpha: float
) -> Families:
    """The families of the related features of a problem without missing cells; ``counts``: the features tested."""
    related = np.flatnonzero(relevant & problem.is_judged)
    alike, copies = stand_ins(problem, related[np.argsort(pvalues[related], kind="stable")])
    number = np.zeros(problem.n_features, dtype=np.int64)
    codes = connected_components(alike[related][:, related], directed=False)[1] if len(related) else related
    smallest = [pvalues[related[codes == code]].min() for code in range(int(codes.max(initial=-1)) + 1)]
    place = np.empty(len(smallest), dtype=np.int64)
    place[np.argsort(smallest, kind="stable")] = np.arange(1, len(smallest) + 1)
    number[related] = place[codes]
    members = [np.flatnonzero(number == one) for one in range(1, len(smallest) + 1)]
    qvalues, beyond, weak = np.ones(len(number)), np.ones(len(number)), np.zeros(len(number), dtype=bool)
    if members:
        alone = pvalues[counts & (number == 0)]
        of_families = false_discovery_control(np.append([simes(pvalues[some]) for some in members], alone))
        added = _beyond(problem, members, pvalues, alpha / len(of_families))
        # a feature is only asked if it is related, so all others count as asked in vain
        of_beyond = false_discovery_control(np.append(added.pvalues, np.ones(len(alone))))
        for place_of, some in enumerate(members):
            qvalues[some], beyond[some] = of_families[place_of], of_beyond[place_of]
            weak[some] = added.weak[place_of]
    return Families(number, copies, qvalues, beyond, weak, alpha, _regions(problem, members))


def simes(pvalues: Floats) -> float:
    """Simes' p-value of the hypothesis that no feature of a family is related.

    >>> import numpy as np
    >>> from dubio.evidence.families import simes
    >>> simes(np.array([0.02, 0.03]))
    0.03
    """
    return float(min(1.0, (np.sort(pvalues) * len(pvalues) / np.arange(1, len(pvalues) + 1)).min()))


# ---- stand-ins -------------------------------------------------------------------------------------------------------


def stand_ins(problem: Problem, features: Codes) -> tuple[Any, Any]:
    """(n_features, n_features), sparse: which of some features, best first, can stand in for each other, and which of
    these are near copies."""
    whole, features = problem.n_features, features[:_MOST]
    if len(features) < 2:
        nothing = sparse.csr_array((whole, whole), dtype=bool)
        return nothing, nothing
    problem = problem.counted.tested.labelled
    problem = problem.rows(np.argsort(mixed_contents(problem, 0), kind="stable"))  # the row order decides nothing
    problem = problem.rows(sample_rows(problem, _MOST_ROWS, 0))
    evidence = Evidence.of(problem, within=False).on_normal_scores()
    basis = _basis_of(evidence, features)
    root = np.sqrt(evidence.weights)[:, None] if len(evidence.weights) else 1.0
    gains = _Gains(basis * np.expand_dims(root, -1), evidence.scores * root, _folds(problem))
    wide = np.array([not _is_number(evidence, int(one)) for one in features])
    one, other = gains.resembling()
    near = gains.resemblance[one, other] >= _NEAR_COPY
    near &= ~(wide[one] | wide[other])
    slack = np.where(near, _CLEARLY / problem.n_rows, 0.0)
    of_one, of_other = gains.given_each_other(one, other)
    useful = near | ((gains.alone[one] > 0) & (gains.alone[other] > 0))
    alike = useful & (of_one < _SHARE * gains.alone[one] + slack) & (of_other < _SHARE * gains.alone[other] + slack)

    def linked(some: NDArray[np.bool_]) -> Any:
        rows, columns = features[one[some]], features[other[some]]
        pairs = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        return sparse.csr_array((np.ones(2 * len(rows), dtype=bool), pairs), shape=(whole, whole))

    return linked(alike), linked(alike & near)


def _folds(problem: Problem) -> Codes:
    """The part of each row; rows of a group are in one part."""
    units = np.arange(problem.n_rows) if problem.groups is None else np.unique(problem.groups, return_inverse=True)[1]
    return np.random.default_rng(0).permutation(int(units.max()) + 1)[units] % _FOLDS


def _basis_of(evidence: Evidence, features: Codes) -> Floats:
    """(rows, features, width): the columns by which features enter regressions, of mean 0 and variance 1, or zero.

    Of a number on normal scores itself, its square without what is linear, and where it is missing; of several columns
    their main directions. These are of columns that are only centred: of columns with one spread, no direction would be
    the main one, and rounding would decide.
    """
    columns = [np.asarray(evidence.columns[:, evidence.columns_of(int(one))], dtype=np.float64) for one in features]
    width = min(_WIDTH, max([2, *(one.shape[1] + 1 for one in columns)]))
    basis = np.zeros((evidence.n_rows, len(features), width))
    for place, (feature, block) in enumerate(zip(features.tolist(), columns, strict=True)):
        block = block - block[0]
        if _is_number(evidence, feature):
            number, gaps = _unit(block[:, :1]), _unit(block[:, 1:])
            square = number**2 - 1.0
            square = _unit(square - number * (number * square).mean(axis=0))
            for part in (number, square):
                gaps = gaps - part * (part * gaps).mean(axis=0)
            block = np.hstack([number, square, _unit(gaps)])
        else:
            left, values, _ = np.linalg.svd(block - block.mean(axis=0), full_matrices=False)
            block = left[:, values > 1e-6 * max(values[0], 1e-300)][:, :width] * np.sqrt(len(block))
        basis[:, place, : block.shape[1]] = block
    return basis


def _is_number(evidence: Evidence, feature: int) -> bool:
    """Whether a feature is one column of numbers, perhaps with gaps."""
    columns = evidence.columns_of(feature)
    if evidence.layout is None or len(columns) == 1:
        return len(columns) == 1
    roles = evidence.layout.roles[columns]
    return bool(roles[0] == "value" and (roles[1:] == "missing").all())


def _unit(columns: Floats) -> Floats:
    """Columns of mean 0 and variance 1; zero where they do not vary."""
    columns = columns - columns.mean(axis=0)
    spread = columns.std(axis=0)
    return np.divide(columns, spread, out=np.zeros_like(columns), where=spread > 1e-8 * spread.max(initial=1e-300))


class _Gains:
    """Shares of the variation of the target that features predict on held-out rows, from sums of products alone."""

    def __init__(self, basis: Floats, scores: Floats, folds: Codes) -> None:
        n, self._n_features, self._width = basis.shape
        table, self._total = basis.reshape(n, -1), float((scores**2).sum())
        parts = [table[folds == fold] for fold in np.unique(folds)]
        targets = [scores[folds == fold] for fold in np.unique(folds)]
        self._products = np.stack([part.T @ part for part in parts])
        self._with_target = np.stack([part.T @ target for part, target in zip(parts, targets, strict=True)])
        self._all, self._all_with_target = self._products.sum(axis=0), self._with_target.sum(axis=0)
        self._ridge = _RIDGE * n
        self._places = np.arange(table.shape[1]).reshape(self._n_features, self._width)
        self.alone = self._of(self._places)
        lead = self._all[:: self._width, :: self._width]
        scale = np.sqrt(np.maximum(np.diag(lead), 1e-300))
        #: Correlations of the first column of each feature, without their signs.
        self.resemblance = np.abs(lead) / np.outer(scale, scale)

    def resembling(self) -> tuple[Codes, Codes]:
        """The pairs of features that are so much alike that they might stand in for each other."""
        one, other = np.triu_indices(self._n_features, 1)
        kept = []
        for start, stop in chunks(len(one), _PAIRS):
            blocks = self._all[self._places[one[start:stop], :, None], self._places[other[start:stop], None, :]]
            kept.append((blocks**2).sum(axis=(1, 2)) >= (_LEAST * self._all.diagonal().max()) ** 2)
        alike = np.concatenate(kept) if kept else np.zeros(0, dtype=bool)
        return one[alike], other[alike]

    def given_each_other(self, one: Codes, other: Codes) -> tuple[Floats, Floats]:
        """What the first of each pair adds to the second, and the second to the first."""
        both = self._of(np.hstack([self._places[one], self._places[other]]))
        return both - self.alone[other], both - self.alone[one]

    def _of(self, places: Codes) -> Floats:
        """The gain of each row of columns."""
        gains = np.zeros(len(places))
        for start, stop in chunks(len(places), _PAIRS):
            some = places[start:stop]
            block, ridge = (some[:, :, None], some[:, None, :]), self._ridge * np.eye(some.shape[1])
            for products, with_target in zip(self._products, self._with_target, strict=True):
                learned = self._all[block] - products[block] + ridge
                slopes = np.linalg.solve(learned, (self._all_with_target - with_target)[some])
                fitted = 2.0 * with_target[some] - products[block] @ slopes
                gains[start:stop] += (slopes * fitted).sum(axis=(1, 2))
        return gains / self._total


# ---- what a family adds ----------------------------------------------------------------------------------------------


class _Added(NamedTuple):
    """p-values of what each family adds beyond the others, and whether the test is weak."""

    pvalues: Floats
    weak: NDArray[np.bool_]


def _beyond(problem: Problem, members: list[Codes], pvalues: Floats, level: float) -> _Added:
    """Test what the best feature of each family adds to all features outside the family; a test that would not pass at
    this level is weak."""
    heads = np.array([some[np.argmin(pvalues[some])] for some in members])
    family = np.full(problem.n_features, -1)
    for code, some in enumerate(members):
        family[some] = code
    found, power = np.ones(len(members)), np.zeros(len(members))
    for part, varying, share in varying_parts(problem.tested.labelled):
        judged = np.flatnonzero(part.is_judged)
        evidence, names = Evidence.of(part).on_normal_scores(), varying[judged]
        leads = _unit(evidence.columns[:, [int(evidence.columns_of(int(one))[0]) for one in judged]])
        related = np.flatnonzero(family[names] >= 0)
        basis = _basis_of(evidence, judged[related])
        for place, feature in zip(range(len(related)), names[related], strict=True):
            code = int(family[feature])
            if heads[code] == feature:
                others = _others(leads, basis[:, :, 1:], related, place, family[names] != code, evidence)
                tested = _partial_test(evidence, basis[:, place], others, level * share)
                found[code], power[code] = min(found[code], tested[0] / share), max(power[code], tested[1])
    return _Added(np.minimum(found, 1.0), power < _POWER)


def _others(
    leads: Floats, squares: Floats, related: Codes, head: int, outside: NDArray[np.bool_], evidence: Evidence
) -> Floats:
    """The columns of the features outside the family of a head: those that resemble it most, and the squares of those
    that are related."""
    alike = np.abs(leads[:, related[head]] @ leads)
    nearest = np.flatnonzero(outside)[np.argsort(-alike[outside], kind="stable")]
    nearest = nearest[: min(_MOST_OTHERS, int(_OTHERS * _independent_rows(evidence)))]
    bent = np.flatnonzero(np.isin(related, nearest[: len(nearest) // 2]))
    return np.hstack([leads[:, nearest], squares[:, bent].reshape(len(leads), -1)])[:, : evidence.n_rows // 2]


def _independent_rows(evidence: Evidence) -> float:
    """The number of rows, less one for each group of rows, as if all had the same weight."""
    n, weights = float(evidence.n_rows), evidence.weights
    n = float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else n
    return n - (1.0 if evidence.exchange is None else len(np.unique(evidence.exchange)))


def _partial_test(evidence: Evidence, own: Floats, others: Floats, level: float) -> tuple[float, float]:
    """The p-value of a feature and the target, both without what others say; and the power if all of it is its own.

    ``own`` and ``others`` are their columns.
    """
    regression = Regression(others, evidence.weights if len(evidence.weights) else None, None)
    n = _independent_rows(evidence)
    rest = regression.centred(regression.residuals(own[:, own.any(axis=0)]))
    target = regression.centred(regression.residuals(evidence.scores, together=True))
    own = regression.centred(own)
    spans, values, _ = np.linalg.svd(target, full_matrices=False)
    spans = spans[:, values > 1e-6 * max(values[0], 1e-300)]
    share = min(1.0, float((rest[:, 0] ** 2).sum() / (own[:, 0] ** 2).sum()))
    if n <= spans.shape[1] or not spans.shape[1] or not share > 0:
        return 1.0, 0.0
    first = _f_test(rest[:, :1], spans, n)
    whole = _f_test(rest, spans, n)
    weights = [TEST_WEIGHTS["scores"], TEST_WEIGHTS["smooth"]]
    pvalue = float(cauchy_combination([first], [whole], weights=weights)[0])
    if len(evidence.weights):  # White's sandwich takes nothing for granted about the weights
        products = rest[:, :1] * spans
        sums = products.sum(axis=0)
        wald = float(sums @ np.linalg.pinv(products.T @ products) @ sums)
        pvalue = max(pvalue, float(stats.f.sf(wald / spans.shape[1], spans.shape[1], n - spans.shape[1])))
    scores = regression.centred(evidence.scores)
    basis_of_target = np.linalg.svd(scores, full_matrices=False)[0][:, : spans.shape[1]]
    alone = float(((basis_of_target.T @ own[:, 0]) ** 2).sum() / (own[:, 0] ** 2).sum())
    size = n * share * max(0.0, alone - spans.shape[1] / n) / max(1.0 - alone, 1e-9)
    rank, bound = spans.shape[1], stats.chi2.isf(level, spans.shape[1])
    return pvalue, float(stats.ncx2.sf(bound, rank, max(size, 1e-9)))


def _f_test(rest: Floats, spans: Floats, freedom: float) -> float:
    """The p-value of the columns of a feature against a target, both residuals that leave so many degrees of freedom.

    The roles are those of a regression of the target on the columns, or of the columns on the target if it has more.
    """
    columns, values, _ = np.linalg.svd(rest, full_matrices=False)
    columns = columns[:, values > 1e-6 * values[0]]
    one, other = columns.shape[1], spans.shape[1]
    products = (spans.T @ columns) ** 2
    explained = min(float(products.sum()) / min(one, other), 1.0 - 1e-12)  # Pillai's trace
    small, large = min(one, other), max(one, other)
    above, below = small * large, small * (freedom - large)
    if below <= 0:
        return 1.0
    return float(stats.f.sf(explained / (1.0 - explained) * below / above, above, below))


# ---- spectra ---------------------------------------------------------------------------------------------------------

#: Fewest columns of a spectrum, and the least median correlation of its neighbours.
_FEWEST_COLUMNS, _NEIGHBOURS = 20, 0.8
_NUMBERED = re.compile(r"(\D*?)(-?\d+(?:\.\d+)?)(\D*)")


def places_on_a_scale(names: NDArray[Any]) -> tuple[Floats, str] | None:
    """The numbers in names that differ only by a number that rises or falls, and their unit; None for other names.

    >>> import numpy as np
    >>> from dubio.evidence.families import places_on_a_scale
    >>> places_on_a_scale(np.array(["400 nm", "410 nm", "420 nm"]))
    (array([400., 410., 420.]), 'nm')
    """
    found = [_NUMBERED.fullmatch(str(name)) for name in names]
    if not len(found) or None in found:
        return None
    parts = [one.groups() for one in found if one is not None]
    places = np.array([float(number) for _, number, _ in parts])
    steps = np.diff(places)
    one_kind = len({(before, after) for before, _, after in parts}) == 1
    return (places, parts[0][2].strip()) if one_kind and ((steps > 0).all() or (steps < 0).all()) else None


def _regions(problem: Problem, members: list[Codes]) -> dict[int, str]:
    """The families of a spectrum as regions: its columns are numbered, and neighbours are alike."""
    if problem.n_features < _FEWEST_COLUMNS or problem.has_wide_features:
        return {}
    scale = places_on_a_scale(problem.feature_names)
    if scale is None:
        return {}
    table = _unit(np.asarray(problem.table, dtype=np.float64))
    if np.median(np.abs((table[:, 1:] * table[:, :-1]).mean(axis=0))) < _NEIGHBOURS:
        return {}
    places, unit = scale
    return {number: _as_regions(places, some, unit) for number, some in enumerate(members, start=1)}


def _as_regions(places: Floats, members: Codes, unit: str) -> str:
    """Runs of neighbouring columns, each from its lowest to its highest place."""
    runs = np.split(members, np.flatnonzero(np.diff(members) > 1) + 1)
    ends = sorted((float(places[run].min()), float(places[run].max())) for run in runs)
    texts = [f"{low:,.10g} to {high:,.10g}" if low < high else f"{low:,.10g}" for low, high in ends]
    return f"{' and '.join(texts)} {unit}".strip()
