"""How often the intervals of effects hold the effect, for each kind of target.

The effect of a whole population is that of 200,000 rows. Of each draw, the interval of the effect is compared with it.
The interval of the class that stands out among four is wide enough for all: it holds if those of all four do. "flips":
20 % of the labels are wrong, and the effect is corrected by the shares of wrong labels among the rows labelled 0 and 1.
With 8 groups no interval is given: such draws do not count.

Run ``python -m benchmarks.effects [draws] [--first N]``: 2,000 draws of each line take about a minute on one core.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dubio
from benchmarks.draws import drawn, mean_and_error, parser_of
from dubio.evidence.effects import Effects, concordance, effects_of
from dubio.problem import read_problem
from dubio.target.comparisons import Lines

SIZES = (40, 100, 300)
POPULATION = 200_000
Rng = np.random.Generator


def _two(z: NDArray[Any], rng: Rng) -> Any:
    return (z + 0.8 * rng.logistic(size=len(z)) > 0.5).astype(int)


def _censored(z: NDArray[Any], rng: Rng) -> Any:
    times, ends = np.exp(0.8 * z + rng.gumbel(size=len(z))), rng.exponential(3, len(z))
    return dubio.interval_targets(np.minimum(times, ends), np.where(times <= ends, times, np.inf))


def _probabilities(z: NDArray[Any], rng: Rng) -> Any:
    p = 1 / (1 + np.exp(-2 * z + rng.normal(size=len(z))))
    return np.column_stack([1 - p, p])


def _steps(z: NDArray[Any], rng: Rng) -> Any:
    return np.digitize(z + 0.8 * rng.normal(size=len(z)), [-0.7, 0.3, 1])


KINDS: dict[str, Any] = {
    "two classes": _two,
    "one in ten": lambda z, rng: (z + 0.5 * rng.logistic(size=len(z)) > 1.7).astype(int),
    "nearly separate": lambda z, rng: (z + 0.15 * rng.logistic(size=len(z)) > 0).astype(int),
    "four classes": _steps,
    "numbers": lambda z, rng: z + 0.6 * rng.normal(size=len(z)),
    "ordered": lambda z, rng: dubio.ordered_classes(_steps(z, rng), order=range(4)),
    "censored": _censored,
    "probabilities": _probabilities,
    "groups": _two,
    "weights": _two,
    "flips": _two,
}


def effects(kind: str, n: int, seed: Any) -> Effects:
    """The effect of one column in one draw."""
    rng = np.random.default_rng(seed)
    z, groups, weights = rng.normal(size=n), None, None
    if kind == "groups":
        groups = np.arange(n) // 5
        z = 0.7 * rng.normal(size=n)[groups] + 0.7 * z
    if kind == "weights":
        weights = rng.uniform(0.3, 3, n)
    y = KINDS[kind](z, rng)
    wrong = None
    if kind == "flips":
        truth, y = y, np.where(rng.random(n) < 0.2, 1 - y, y)
        share = truth.mean()
        wrong = [0.2 * share / (0.8 * (1 - share) + 0.2 * share), 0.2 * (1 - share) / (0.8 * share + 0.2 * (1 - share))]
        y = truth if n == POPULATION else y
    target: Any = "numbers" if kind == "numbers" else "auto"
    found = effects_of(read_problem(z[:, None], y, target=target, groups=groups, sample_weight=weights))
    assert found is not None
    return found if wrong is None or n == POPULATION else found.corrected(*wrong)


def all_hold(n: int, seed: Any, truth: Effects) -> bool:
    """Whether the intervals of four classes hold, all at once."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    compared = read_problem(z[:, None], KINDS["four classes"](z, rng)).supervision.comparisons(np.ones(n))[""]
    (low, *_), (high, *_) = concordance(Lines.of(z[None]), compared).interval(len(truth.each))
    middles = np.array([values[0] for values in truth.each.values()])
    return bool(((low <= middles) & (middles <= high)).all())


def one(kind: str, n: int, seed: int, truth: Effects) -> tuple[float, float]:
    """Whether the interval holds, and its width; NaN if none is given."""
    found = effects(kind, n, [seed, n, 7])
    width = float(found.high[0] - found.low[0])
    if len(truth.each) > 1:
        return float(all_hold(n, [seed, n, 7], truth)), width
    holds = float(found.low[0] <= truth.effect[0] <= found.high[0])
    return (holds, width) if width < 1 else (np.nan, np.nan)


def main() -> None:
    asked = parser_of(__doc__, 2000).parse_args()
    truths = {kind: effects(kind, POPULATION, 1) for kind in KINDS}
    lines = {(kind, n): f"{kind}: {n} rows" for kind in KINDS for n in SIZES}
    found = drawn({text: partial(one, *line, truth=truths[line[0]]) for line, text in lines.items()}, asked)
    print("| target | effect % | draws | " + " | ".join(f"{n} rows: holds % | width" for n in SIZES) + " |")
    print("|---|---:|---:|" + "---:|---:|" * len(SIZES))
    for kind in KINDS:
        cells, draws = [], 0
        for n in SIZES:
            (holds, width), (error, _), (count, _) = mean_and_error(100 * found[lines[kind, n]])
            cells.append(f"{holds:.1f} ± {error:.1f} | {width:.0f}" if count else "|")
            draws = max(draws, count)
        print(f"| {kind} | {100 * truths[kind].effect[0]:.1f} | {draws} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
