"""Columns that are given: false discoveries and power where site, age or batch moves the target and the columns.

Made tables of 20 columns: 5 are related to the target (means of two classes apart by 1.08 to .60 deviations),
10 follow what moves the target (by .4 to 1.2 of its standardised effect; with an age, the spread of one depends on it),
5 are noise. The target follows the same effect (its logit 1.3 times). Effects: nothing, three sites, age, age in a
curve, age that acts differently by site, twelve batches. Targets: classes that are right, 20 % wrong or 10 % known,
probabilities, numbers, ordered classes, censored times, and classes of patients with four rows each. "Nothing kept":
the same tables without the related columns, in which nothing should be kept.

Real tables: every column, and a shuffled copy of it; half of both follow a made site or age, which also draws a part of
the labels anew. Shuffled copies are false. "Alert": how often it is fired without ``given``.

Run ``python -m benchmarks.given [DRAWS] [--first SEED] [--minutes M] [--part made|peers|real|silent|time] [--only WORD]
[--store FILE]``. Every line has its first draw before any has its second. ``--store`` keeps every draw, and a
further call goes on where the last one ended; with 0 draws it only shows them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import false_discovery_control

import dubio
from benchmarks.false_discoveries import load
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem

Floats = NDArray[np.float64]

EFFECTS = ("nothing", "site", "age", "age in a curve", "site x age", "batch")
TARGETS = ("right", "20 % wrong", "10 % known", "probabilities", "numbers", "ordered", "censored", "groups")
ROWS = (120, 400)
#: Means of two classes apart, in standard deviations, and how far the confounded columns follow the effect.
RELATED, FOLLOWING, N_NOISE = np.array([1.08, 0.96, 0.84, 0.72, 0.60]), np.linspace(0.4, 1.2, 10), 5
#: Rows of each patient where rows belong together.
VISITS = 4
REAL = ("wine", "glass", "sonar", "ionosphere", "vehicle", "segment", "vertebral_column", "heart_statlog")
REAL += ("waveform", "ecoli")
#: Rows of a real table at most, and its columns.
MOST_ROWS, MOST_COLUMNS = 400, 15


def effect_of(kind: str, n: int, rng: np.random.Generator) -> tuple[Floats, pd.DataFrame]:
    """What moves the target and the columns, standardised, and the columns that are given."""
    site, batch, age = rng.integers(3, size=n), rng.integers(12, size=n), rng.normal(60, 12, n)
    years = (age - 60) / 12
    effects: dict[str, tuple[Floats, dict[str, Any]]] = {
        "nothing": (np.zeros(n), {"site": site, "age": age}),
        "site": (np.array([-1.0, 0.0, 1.0])[site], {"site": site}),
        "age": (years, {"age": age}),
        "age in a curve": (years**2, {"age": age}),
        "site x age": (np.array([-1.0, 0.0, 1.0])[site] * years, {"site": site, "age": age}),
        "batch": (rng.normal(size=12)[batch], {"batch": batch}),
    }
    effect, given = effects[kind]
    names = {name: [f"{name}{code}" for code in column] for name, column in given.items() if name != "age"}
    effect = effect - effect.mean()
    return effect / (effect.std() or 1.0), pd.DataFrame({**given, **names})


def made(
    effect: str, target: str, n: int, seed: int, *, related: bool = True
) -> tuple[pd.DataFrame, Any, pd.DataFrame, Any]:
    """One made table, what is known of its target, the given columns, and its groups."""
    rng = np.random.default_rng([seed, n, EFFECTS.index(effect), TARGETS.index(target), int(related), 35])
    groups = np.repeat(np.arange(n // VISITS), VISITS) if target == "groups" else None
    units = n if groups is None else n // VISITS
    moved, given = effect_of(effect, units, rng)
    score = 1.3 * moved + rng.logistic(size=units)
    is_number = target in ("numbers", "censored", "ordered")
    truth = score if is_number else (score > 0).astype(np.float64)
    standard = (truth - truth.mean()) / (truth.std() or 1.0)
    X = rng.normal(size=(units, len(RELATED) + len(FOLLOWING) + N_NOISE))
    follows = slice(len(RELATED), len(RELATED) + len(FOLLOWING))
    if related:
        X[:, : len(RELATED)] += RELATED / 2 * standard[:, None]
    X[:, follows] += FOLLOWING * moved[:, None]
    if effect in ("age", "age in a curve"):
        X[:, follows.stop - 1] = rng.normal(size=units) * np.exp(0.5 * (given["age"].to_numpy() - 60) / 12)
    y = known_of(target, truth, score, rng)
    if groups is not None:
        X = X[groups] + 0.5 * rng.normal(size=(n, X.shape[1]))
        y, given = y[groups], given.iloc[groups].reset_index(drop=True)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), y, given, groups


def known_of(target: str, truth: Floats, score: Floats, rng: np.random.Generator) -> Any:
    """What is known of the target."""
    n = len(truth)
    if target == "20 % wrong":
        return np.where(rng.random(n) < 0.2, 1 - truth, truth).astype(int)
    if target == "10 % known":
        return np.where(rng.random(n) < 0.1, truth, -1).astype(int)
    if target == "probabilities":
        sure = 1 / (1 + np.exp(-1.5 * score - rng.normal(size=n)))
        return np.column_stack([1 - sure, sure])
    if target == "ordered":
        codes = np.searchsorted(np.quantile(score, [0.25, 0.5, 0.75]), score)
        return dubio.ordered_classes(np.array(list("abcd"))[codes], order=list("abcd"))
    if target == "censored":
        seen = rng.random(n) < 0.7
        return dubio.interval_targets(score, np.where(seen, score, np.inf))
    return truth if target == "numbers" else truth.astype(int)


def kept_by_us(X: pd.DataFrame, y: Any, given: pd.DataFrame | None, groups: Any) -> NDArray[np.bool_]:
    """The columns that the tests keep."""
    problem = read_problem(X, y, given=given, groups=groups, any_type=True, target="auto")
    found = relevance_of(problem.with_supervision(problem.supervision.certain()).filled, only_decides=True)
    return found.relevant[: X.shape[1]]


def by_pvalues(pvalues: Floats) -> NDArray[np.bool_]:
    return false_discovery_control(pvalues) <= 0.05


def residuals_in_sample(X: Floats, given: pd.DataFrame) -> Floats:
    """Residuals of straight lines and categories."""
    Z = np.column_stack([np.ones(len(X)), pd.get_dummies(given, drop_first=True, dtype=float)])
    return np.asarray(X - Z @ np.linalg.lstsq(Z, X, rcond=None)[0])


def partial_correlation(X: pd.DataFrame, y: Any, given: pd.DataFrame) -> NDArray[np.bool_]:
    """Correlation of the residuals of straight lines."""
    n, k = len(X), pd.get_dummies(given, drop_first=True).shape[1]
    columns, target = residuals_in_sample(X.to_numpy(), given), residuals_in_sample(y[:, None].astype(float), given)
    r = np.clip((columns * target).sum(axis=0) / np.sqrt((columns**2).sum(axis=0) * (target**2).sum()), -1, 1)
    t = r * np.sqrt((n - k - 2) / np.maximum(1 - r**2, 1e-12))
    return by_pvalues(2 * stats.t.sf(np.abs(t), n - k - 2))


def f_of_residuals(X: pd.DataFrame, y: Any, given: pd.DataFrame) -> NDArray[np.bool_]:
    """scikit-learn's f_classif on the residuals of the columns."""
    from sklearn.feature_selection import f_classif

    return by_pvalues(f_classif(residuals_in_sample(X.to_numpy(), given), y)[1])


def hidimstat_d0crt(X: pd.DataFrame, y: Any, given: pd.DataFrame) -> NDArray[np.bool_]:
    """hidimstat's distilled conditional randomisation test, with the given columns beside the others."""
    from hidimstat import D0CRT
    from sklearn.linear_model import LassoCV

    table = np.column_stack([X, pd.get_dummies(given, drop_first=True, dtype=float)])
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    test = D0CRT(estimator=LassoCV(), screening_threshold=None)
    test.fit_importance(table, y.astype(float) - y.mean())
    return by_pvalues(np.nan_to_num(test.pvalues_[: X.shape[1]], nan=1.0))


PEERS: dict[str, Callable[..., NDArray[np.bool_]]] = {
    "partial correlation": partial_correlation,
    "f_classif of residuals": f_of_residuals,
    "hidimstat D0CRT": hidimstat_d0crt,
}


def scored(kept: NDArray[np.bool_]) -> tuple[float, float]:
    """Share of false discoveries, and share of the related columns that are kept."""
    n = len(RELATED)
    return kept[n:].sum() / max(1, kept.sum()), float(kept[:n].mean())


def one_made(effect: str, target: str, n: int, seed: int) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y, given, groups = made(effect, target, n, seed)
        false, power = scored(kept_by_us(X, y, given, groups))
        none = made(effect, target, n, seed, related=False)
        found = {"false": false, "power": power, "nothing kept": not kept_by_us(*none).any()}
        if effect == "nothing":
            without = scored(kept_by_us(X, y, None, groups))
            found |= {"power without": without[1], "power lost": without[1] - power}
    return found


def one_of_peers(effect: str, target: str, n: int, seed: int) -> dict[str, float]:
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y, given, _ = made(effect, target, n, seed)
        found["dubio, false"], found["dubio, power"] = scored(kept_by_us(X, y, given, None))
        found["nothing given, false"], found["nothing given, power"] = scored(kept_by_us(X, y, None, None))
        for name, peer in PEERS.items():
            try:
                found[f"{name}, false"], found[f"{name}, power"] = scored(peer(X, y, given))
            except ImportError:
                continue
    return found


def real(name: str, seed: int, confounded: bool = True) -> tuple[pd.DataFrame, Any, str, NDArray[np.bool_]]:
    """A real table with shuffled copies, a made confounder as a column, its name, and which columns are false."""
    rng = np.random.default_rng([seed, REAL.index(name), 36])
    X, y = load(name)
    codes = np.unique(y, return_inverse=True)[1]
    codes = (codes == np.bincount(codes).argmax()).astype(int)  # the largest class against the others
    rows, columns = rng.permutation(len(X))[:MOST_ROWS], np.sort(rng.permutation(X.shape[1])[:MOST_COLUMNS])
    X, codes = X[rows][:, columns], codes[rows]
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    table = np.hstack([X, rng.permuted(X, axis=0)])
    by_site = seed % 2 == 0
    effect, given = effect_of("site" if by_site else "age", len(table), rng)
    if confounded:
        moved = rng.permutation(table.shape[1])[: table.shape[1] // 2]
        table[:, moved] += rng.uniform(0.5, 1.2, len(moved)) * effect[:, None]
        drawn = (rng.random(len(codes)) < 1 / (1 + np.exp(-2.5 * effect))).astype(int)
        codes = np.where(rng.random(len(codes)) < 0.5, drawn, codes)
    is_false = np.arange(table.shape[1]) >= X.shape[1]
    order = rng.permutation(table.shape[1])
    frame = pd.DataFrame(table[:, order], columns=[f"x{j}" for j in range(table.shape[1])])
    column = str(given.columns[0])
    return frame.assign(**{column: given[column]}), codes, column, is_false[order]


def one_real(name: str, seed: int) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y, column, is_false = real(name, seed)
        own = X.drop(columns=column)
        kept, without = kept_by_us(own, y, X[[column]], None), kept_by_us(own, y, None, None)
        alerts = dubio.FeatureSelector("linear_search", n_features_to_select="relevant").fit(X, y).alerts_
    return {
        "false": (kept & is_false).sum() / max(1, kept.sum()),
        "power": float(kept[~is_false].mean()),
        "false without": (without & is_false).sum() / max(1, without.sum()),
        "alert": any(one.kind == "confounder" and column in one.features for one in alerts),
    }


def one_silent(name: str, seed: int) -> dict[str, float]:
    """A real table in which nothing confounds: a site or an age has nothing to do with it, or only with the columns, or
    only with the target; or the rows are sorted by class, a fifth of which is then wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y, column, _ = real(name, seed, confounded=False)
        found = {"nothing": X, "columns alone": X.copy(), "target alone": X.copy()}
        rng, own = np.random.default_rng([seed, 37]), [one for one in X if one != column]
        number = np.unique(X[column], return_inverse=True)[1].astype(float)
        number = (number - number.mean()) / number.std()
        half = rng.permutation(own)[: len(own) // 2]
        found["columns alone"][half] += rng.uniform(0.5, 1.2, len(half)) * number[:, None]
        moved = number + 1.5 * y
        sites = pd.cut(moved, 3, labels=["site0", "site1", "site2"]).astype(str)
        found["target alone"][column] = moved if column == "age" else sites
        order = np.argsort(y, kind="stable")
        found["sorted by class"] = X.iloc[order].reset_index(drop=True)
        labels = dict.fromkeys(found, y)
        labels["sorted by class"] = np.where(rng.random(len(y)) < 0.2, 1 - y[order], y[order])
        return {kind: float(_fires(table, labels[kind])) for kind, table in found.items()}


def _fires(X: pd.DataFrame, y: Any) -> bool:
    alerts = dubio.FeatureSelector("linear_search", n_features_to_select="relevant").fit(X, y).alerts_
    return any(one.kind == "confounder" for one in alerts)


def one_time(n: int, d: int, n_given: int, seed: int) -> dict[str, float]:
    """Processor time with and without given columns: it hardly depends on what else is running."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=n) > 0).astype(int)
    dubio.FeatureSelector().fit(X[:300], y[:300], given=[d - 1])  # everything is compiled
    seconds = []
    for given in (None, list(range(d - n_given, d))):
        began = time.process_time()
        dubio.FeatureSelector().fit(X, y, given=given)
        seconds.append(time.process_time() - began)
    return {"without, s": seconds[0], "given, s": seconds[1], "ratio": seconds[1] / seconds[0]}


def lines_of(part: str) -> list[tuple[str, Callable[..., dict[str, float]], tuple[Any, ...]]]:
    """The lines of a part of the benchmark: a name, a function, and its arguments."""
    if part == "made":
        every = [(e, t, n) for t in TARGETS for n in ROWS for e in EFFECTS if not (t == "10 % known" and n < 400)]
        return [(f"{t}, {e}, {n} rows", one_made, (e, t, n)) for e, t, n in every]
    if part == "peers":
        every = [(e, t, n) for t in TARGETS[:2] for n in ROWS for e in EFFECTS]
        return [(f"{t}, {e}, {n} rows", one_of_peers, (e, t, n)) for e, t, n in every]
    if part == "time":
        return [(f"{n} x {d}, {k} given", one_time, (n, d, k)) for n, d, k in ((5000, 100, 5),)]
    return [(name, one_real if part == "real" else one_silent, (name,)) for name in REAL]


#: What a value has to be in every line, in percent: at most, or at least.
AT_MOST, AT_LEAST = {"false": 5.0, "power lost": 3.0}, {"nothing kept": 95.0, "alert": 80.0}
AT_MOST |= {"nothing": 5.0, "columns alone": 5.0, "target alone": 5.0, "sorted by class": 5.0}


def summary(draws: list[dict[str, float]], factor: float) -> pd.DataFrame:
    """The means of all values and their standard errors, each draw by itself."""
    frame = factor * pd.DataFrame(draws).astype(float)
    return pd.DataFrame({"mean": frame.mean(), "error": frame.std() / np.sqrt(frame.count()), "draws": frame.count()})


def show(stored: dict[str, dict[str, dict[str, float]]], factor: float) -> None:
    """All lines, lines joined by target and by what confounds, and how many lines miss what has to hold."""
    joined: dict[str, list[dict[str, float]]] = {}
    beyond: dict[str, list[float]] = {}
    for name, by_seed in stored.items():
        draws, words = list(by_seed.values()), name.split(", ")
        if len(words) > 2:
            joined.setdefault(f"all: {words[0]}, {words[2]}", []).extend(draws)
            joined.setdefault(f"all: {words[1]}, {words[2]}", []).extend(draws)
        joined.setdefault("all", []).extend(draws)
        found = summary(draws, factor)
        for key, one in found.iterrows():
            miss = one["mean"] - AT_MOST[key] if key in AT_MOST else AT_LEAST.get(key, -np.inf) - one["mean"]
            if key in AT_MOST or key in AT_LEAST:
                beyond.setdefault(str(key), []).append(miss / max(one["error"], 1e-9))
        print(f"{name}: {_cells(found)}", flush=True)
    print()
    for name, draws in joined.items():
        print(f"{name}: {_cells(summary(draws, factor))}")
    for key, misses in beyond.items():
        none, two, four = (int((np.array(misses) > errors).sum()) for errors in (0, 2, 4))
        print(f"{key}: {len(misses)} lines, beyond what has to hold {none}, by two errors {two}, by four {four}")


def _cells(found: pd.DataFrame) -> str:
    cells = (f"{key} {one['mean']:.1f} ± {one['error']:.1f} ({one['draws']:.0f})" for key, one in found.iterrows())
    return ", ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("draws", type=int, nargs="?", default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--minutes", type=float, default=np.inf, help="longest time by the clock")
    parser.add_argument("--part", choices=("made", "peers", "real", "silent", "time"), default="made")
    parser.add_argument("--only", default="", help="lines whose name holds this")
    parser.add_argument("--store", type=Path, help="JSON file of all draws")
    asked = parser.parse_args()
    end, factor = time.monotonic() + 60 * asked.minutes, 1.0 if asked.part == "time" else 100.0
    stored = json.loads(asked.store.read_text(encoding="utf-8")) if asked.store and asked.store.exists() else {}
    lines = [line for line in lines_of(asked.part) if asked.only in line[0]]
    for seed in range(asked.first, asked.first + asked.draws):
        for name, function, arguments in lines:
            draws = stored.setdefault(name, {})
            if str(seed) in draws or time.monotonic() > end:
                continue
            draws[str(seed)] = {key: float(value) for key, value in function(*arguments, seed).items()}
            if asked.store:
                asked.store.write_text(json.dumps(stored), encoding="utf-8")
    show({name: stored[name] for name, *_ in lines if stored.get(name)}, factor)


if __name__ == "__main__":
    main()
