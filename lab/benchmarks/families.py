"""Families, what they add, and the bound on false features of a table, where the truth is known.

*stand-ins*: two independent true columns of 12, and a stand-in of the first with the correlation r; 20 % of the labels
are wrong. How often the two are in one family, and how often the two true columns are, where all three are related.
*spectrum*: two bands of 27 of 700 wavelengths, each with one level for the whole band and a little noise, beside smooth
noise. How often the bands are two families, and two features sufficient.
*beyond*: five true columns, a twin of each (correlation r) that has nothing of its own, and 20 noise columns; 20 % of
the labels are wrong. Shares of false families among those that add something beyond all others, and of true columns in
such families; beside them hidimstat's dCRT with Benjamini and Hochberg's rule.
*bound*: 12 true columns and 288 others, which are independent, share factors or are smooth like a spectrum. How often
the number of false features is at most the printed bound, among draws that keep something.

Run ``python -m benchmarks.families [draws] [--first N] [--only NAME ...] [--store FILE] [--seconds N]``: 200 draws of
each line take about 30 minutes on one core, 18 of them the spectra. hidimstat is in the extra ``bench``; without it its
columns are empty.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.stats import false_discovery_control

from benchmarks.draws import Draw, drawn, mean_and_error, parser_of
from dubio import FeatureSelector
from dubio.evidence.relevance import Relevance, relevance_of
from dubio.problem import read_problem

try:
    from hidimstat import D0CRT
    from sklearn.linear_model import LassoCV
except ImportError:
    D0CRT = None

Table = NDArray[np.float64]
ALPHA = 0.05
#: Rows, and the correlation of twins.
BEYOND = ((200, 0.6), (200, 0.8), (400, 0.6), (400, 0.8))


def flipped(y: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    return np.where(rng.random(len(y)) < 0.2, 1 - y, y)


def twin(column: Table, r: float, rng: np.random.Generator) -> Table:
    """A column with this correlation to another one."""
    return r * column / column.std() + np.sqrt(1 - r * r) * rng.normal(size=len(column))


def relevance(X: Table, y: NDArray[Any], seed: int) -> Relevance:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return relevance_of(read_problem(X, y), random_state=seed)


def stand_ins(n: int, r: float, draw: int) -> tuple[float, ...]:
    """Whether the stand-in is joined, and the unrelated column."""
    rng = np.random.default_rng([1, n, draw])
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 12))
    X[:, :2] += 1.2 * (y - 0.5)[:, None]
    X[:, 2] = twin(X[:, 0], r, rng)
    found = relevance(X, flipped(y, rng), draw)
    if not found.relevant[:3].all() or found.families is None:
        return (np.nan, np.nan)
    number = found.families.number
    return float(number[0] == number[2]), float(number[1] in number[[0, 2]])


def spectrum(n: int, draw: int) -> tuple[float, ...]:
    """Whether the two bands are two families, whether two features suffice, and whether no other one is related."""
    rng = np.random.default_rng([2, n, draw])
    y = rng.integers(0, 2, n)
    levels = rng.normal(size=(n, 2)) + 1.2 * (y - 0.5)[:, None]
    base = gaussian_filter1d(rng.normal(size=(n, 700)), 12, axis=1)
    base /= base.std()
    bands = [np.arange(200, 227), np.arange(480, 507)]
    for level, band in zip(levels.T, bands, strict=True):
        base[:, band] = level[:, None] + 0.05 * base[:, band]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranking = FeatureSelector(random_state=draw).fit(base, y).to_ranking()
    if not ranking.n_relevant:
        return (0.0, 0.0, 1.0)
    numbers = [set(ranking.extras["family"][band].tolist()) - {0} for band in bands]
    two = len(numbers[0]) == len(numbers[1]) == 1 and numbers[0] != numbers[1]
    outside = np.setdiff1d(ranking.best_first[: ranking.n_relevant], np.concatenate(bands))
    return float(two), float(ranking.n_sufficient == 2), float(not len(outside))


def beyond(n: int, r: float, draw: int) -> tuple[float, ...]:
    """False share and power of families that add something, and of dCRT."""
    rng = np.random.default_rng([3, n, draw])
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 30))
    X[:, :5] += np.linspace(0.8, 1.4, 5) * (y - 0.5)[:, None]
    for j in range(5):
        X[:, 5 + j] = twin(X[:, j], r, rng)
    given = flipped(y, rng)
    found = relevance(X, given, draw)
    false = power = 0.0
    if found.families is not None:
        number, adds = found.families.number, found.families.verdicts == "adds"
        adding = set(number[adds].tolist())
        true = set(number[:5].tolist()) & adding
        false = len(adding - true) / max(1, len(adding))
        power = float(np.isin(number[:5], list(adding)).mean())
    if D0CRT is None:
        return false, power, np.nan, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = D0CRT(LassoCV(alphas=10), screening_threshold=100, random_state=draw)
        peer.fit_importance(X, given - given.mean())  # its models have no intercept
        kept = false_discovery_control(np.nan_to_num(peer.pvalues_, nan=1.0)) <= ALPHA
    return false, power, float(kept[5:].sum() / max(1, kept.sum())), float(kept[:5].mean())


def bound(kind: str, draw: int) -> tuple[float, ...]:
    """Whether the bound holds; the share of false features, and that of the bound, in percent of the related ones."""
    rng = np.random.default_rng([4, len(kind), draw])
    n = 120
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 300))
    if kind == "factors":
        X += rng.normal(size=(n, 5)) @ ((rng.random((5, 300)) < 0.2) * rng.choice([-1.5, 1.5], (5, 300)))
    if kind == "spectra":
        X = gaussian_filter1d(X, 8, axis=1)
    # true columns share nothing with the others, which would else help to predict: they take noise out of true ones
    true = np.arange(300) < 12
    X[:, true] = rng.normal(size=(n, 12)) + np.outer(y - 0.5, rng.uniform(0.6, 1.4, 12))
    found = relevance(X, y, draw)
    if found.most_by_chance is None:
        return (np.nan, np.nan, np.nan)
    kept = found.relevant.sum()
    false = int((found.relevant & ~true).sum())
    return float(false <= found.most_by_chance), false / kept, found.most_by_chance / kept


#: The lines by name: what is printed, and the function of a draw.
LINES: dict[str, list[tuple[str, Draw]]] = {
    "stand-ins": [
        (f"{n} rows, r = {r}", lambda draw, n=n, r=r: stand_ins(n, r, draw)) for n in (150, 400) for r in (0.95, 0.99)
    ],
    "spectrum": [(f"{n} rows", lambda draw, n=n: spectrum(n, draw)) for n in (150, 300)],
    "beyond": [
        (f"{n} rows, r = {r}", lambda draw, n=n, r=r: beyond(n, r, draw)) for n in (200, 400) for r in (0.6, 0.8)
    ],
    "bound": [(kind, lambda draw, kind=kind: bound(kind, draw)) for kind in ("plain", "factors", "spectra")],
}
HEADS = {
    "stand-ins": ("stand-in joined %", "unrelated joined %"),
    "spectrum": ("two families %", "2 sufficient %", "nothing false %"),
    "beyond": ("false %", "power %", "dCRT false %", "dCRT power %"),
    "bound": ("bound holds %", "false %", "bound %"),
}


def main() -> None:
    parser = parser_of(__doc__, 200)
    parser.add_argument("--only", choices=list(LINES), nargs="+", default=list(LINES))
    asked = parser.parse_args()
    by_name = {f"{name}: {line}": draw for name in asked.only for line, draw in LINES[name]}
    found = drawn(by_name, asked)
    for name in asked.only:
        print(f"\n| {name} | draws | {' | '.join(HEADS[name])} |\n|---|---:|{'---:|' * len(HEADS[name])}")
        for line in [line for line, _ in LINES[name] if f"{name}: {line}" in found]:
            means, errors, counts = mean_and_error(100 * found[f"{name}: {line}"])
            cells = (f"{mean:.1f} ± {error:.1f}" for mean, error in zip(means, errors, strict=True))
            print(f"| {line} | {counts.max(initial=0)} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
