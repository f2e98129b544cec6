"""SSLS paper, Figures 1 to 10: 5-NN regression on the chosen features, with all targets known and with few."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from dubio.neighbors.information import numeric_mutual_information
from dubio.scores.laplacian import laplacian_score, semi_supervised_laplacian_score, supervised_laplacian_score
from dubio_papers.claims import better, not_worse
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Curves, Experiment, Finding, Table
from dubio_papers.judges import best_first, nearest_rmse, scaled

#: Numbers of features at which curves are computed; at most 50 features are chosen.
SIZES = (*range(1, 11), *range(12, 21, 2), *range(25, 51, 5))
#: What a gain is measured in.
SPREAD = "gain (% of the standard deviation of y)"
TITLES = {
    "delve_census": "Delve census",
    "delve_census_random_order": "Delve census, random order",
    "pollen": "pollen",
    "diabetes": "diabetes (not in the paper)",
    "orange_juice": "orange juice",
    "nitrogen": "nitrogen",
}
Ranker = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], int], NDArray[np.int64]]


def correlation(
    X: NDArray[np.float64], y: NDArray[np.float64], known: NDArray[np.bool_], seed: int
) -> NDArray[np.int64]:
    centred = X[known] - X[known].mean(axis=0)
    norm = np.sqrt((centred**2).sum(axis=0))
    scores = np.abs(centred.T @ (y[known] - y[known].mean())) / np.where(norm > 0, norm, np.inf)
    return best_first(scores, low_is_good=False)


def information(
    X: NDArray[np.float64], y: NDArray[np.float64], known: NDArray[np.bool_], seed: int
) -> NDArray[np.int64]:
    neighbors = min(5, int(known.sum()) - 1)
    scores = [numeric_mutual_information(column[:, None], y[known], n_neighbors=neighbors) for column in X[known].T]
    return best_first(scores, low_is_good=False)


def supervised(
    X: NDArray[np.float64], y: NDArray[np.float64], known: NDArray[np.bool_], seed: int
) -> NDArray[np.int64]:
    return best_first(supervised_laplacian_score(X[known], y[known]), low_is_good=True)


def unsupervised(
    X: NDArray[np.float64], y: NDArray[np.float64], known: NDArray[np.bool_], seed: int
) -> NDArray[np.int64]:
    return best_first(laplacian_score(X), low_is_good=True)


def semi_supervised(
    X: NDArray[np.float64], y: NDArray[np.float64], known: NDArray[np.bool_], seed: int, C: float = 5.0
) -> NDArray[np.int64]:
    return best_first(semi_supervised_laplacian_score(X, np.where(known, y, np.nan), C=C), low_is_good=True)


ALL_KNOWN: dict[str, Ranker] = {"SLS": supervised, "correlation": correlation, "MI": information, "LS": unsupervised}
FEW_KNOWN: dict[str, Ranker] = {
    "SSLS": semi_supervised,
    "SLS": supervised,
    "correlation": correlation,
    "MI": information,
    "LS": unsupervised,
}


def five_folds(
    dataset: str, random: np.random.Generator, methods: Mapping[str, tuple[Ranker, float | int]]
) -> dict[str, Any]:
    """RMSE by number of features, mean over five folds; each method has a share or a number of known targets.

    Known rows are nested: a larger set contains the smaller ones. So methods can be compared in pairs.
    """
    data = load(dataset, paper="ssls")
    sizes = [size for size in SIZES if size <= data.X.shape[1]]
    curves = {name: np.zeros(len(sizes)) for name in methods}
    for train, test in KFold(5, shuffle=True, random_state=int(random.integers(2**31))).split(data.X):
        A, B = scaled(data.X[train], data.X[test])
        order, seed = random.permutation(len(train)), int(random.integers(2**31))
        for name, (rank, amount) in methods.items():
            count = amount if isinstance(amount, int) else max(3, round(amount * len(train)))
            known = np.zeros(len(train), dtype=bool)
            known[order[:count]] = True
            y = (data.y[train] - data.y[train][known].mean()) / data.y[train][known].std()
            features = rank(A, y, known, seed)
            curves[name] += nearest_rmse(A, data.y[train], B, data.y[test], features, sizes) / 5
    means = {f"mean {name}": float(curve[:-1].mean()) for name, curve in curves.items()}
    return {"x": sizes, **curves, **means}


def run_all_known(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    return five_folds(parameters["dataset"], random, {name: (rank, 1.0) for name, rank in ALL_KNOWN.items()})


def run_few_known(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    methods = {name: (rank, parameters["known"]) for name, rank in FEW_KNOWN.items()}
    measures = five_folds(parameters["dataset"], random, methods)
    scale = load(parameters["dataset"], paper="ssls").y.std() / 100
    for other in FEW_KNOWN:
        if other != "SSLS":
            measures[f"over {other}"] = (measures[f"mean {other}"] - measures["mean SSLS"]) / scale
    return measures


def run_by_count(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    methods = {f"{count} known": (semi_supervised, count) for count in COUNTS}
    measures = five_folds(parameters["dataset"], random, methods)
    scale = load(parameters["dataset"], paper="ssls").y.std() / 100
    first, last = f"mean {COUNTS[0]} known", f"mean {COUNTS[-1]} known"
    return {**measures, "gain of most over fewest": (measures[first] - measures[last]) / scale}


def run_by_C(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    def with_C(C: float) -> Ranker:
        return lambda X, y, known, seed: semi_supervised(X, y, known, seed, C)

    measures = five_folds(parameters["dataset"], random, {f"C = {C}": (with_C(C), 10) for C in WEIGHTS})
    scale = load(parameters["dataset"], paper="ssls").y.std() / 100
    return {**measures, "gain of C = 1 over C = 1000": (measures["mean C = 1000"] - measures["mean C = 1"]) / scale}


COUNTS = (5, 10, 20, 40)
WEIGHTS = (1, 5, 20, 100, 1000)
_SECONDS = {"delve_census": 6.0, "delve_census_random_order": 6.0, "pollen": 0.2, "diabetes": 0.25}


def _cell(dataset: str, full: int, factor: float, words: str = "", quick: int = 1, **more: Any) -> Cell:
    seconds = factor * _SECONDS.get(dataset, 1.0)
    return Cell({"dataset": dataset, **more}, full, quick, seconds, dataset, f"{TITLES[dataset]}{words}")


def _few_known_findings(summary: Any) -> list[Finding]:
    found = []
    for cell in summary.cells:
        if not cell.skipped and cell.dataset != "diabetes":
            rule = better if cell.dataset == "pollen" else not_worse
            words = "better" if cell.dataset == "pollen" else "not worse"
            found.append(
                rule(
                    summary,
                    cell.key,
                    "over SLS",
                    f"{cell.title}: SSLS is {words} than SLS (% of the spread of y).",
                    scale=SPREAD,
                )
            )
            claim = f"{cell.title}: SSLS is not worse than correlation."
            found.append(not_worse(summary, cell.key, "over correlation", claim, scale=SPREAD))
    return found


def _gain_findings(measure: str, words: str) -> Callable[[Any], list[Finding]]:
    def findings(summary: Any) -> list[Finding]:
        return [
            better(summary, c.key, measure, f"{c.title}: {words}.", scale=SPREAD)
            for c in summary.cells
            if not c.skipped
        ]

    return findings


def _means(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"mean {name}" for name in names)


_ABOUT = (
    "RMSE of 5-NN by number of features (at most 50), five folds. Features and known targets are standardised. The "
    "predictor sees all training targets. Means leave out the last size, because there all subsets of a small table "
    "are equal. "
)
_CURVES = ("number of features", "RMSE")
_OFTEN = ("delve_census", "pollen", "diabetes")

EXPERIMENTS = (
    Experiment(
        name="ssls-figures-1-2",
        paper="ssls",
        title="Figures 1 and 2: RMSE with all targets known",
        about=_ABOUT + "The paper shows one cross-validation; we show the mean of ten.",
        cells=(
            _cell("delve_census", 10, 3),
            _cell("delve_census_random_order", 10, 3, quick=0),
            _cell("orange_juice", 10, 3),
            _cell("pollen", 10, 1),
            _cell("diabetes", 10, 1),
        ),
        protocol=run_all_known,
        displays=(
            Curves("RMSE by number of features", tuple(ALL_KNOWN), *_CURVES),
            Table("Mean RMSE over the sizes", _means(list(ALL_KNOWN)), digits=3, row_header="dataset"),
        ),
    ),
    Experiment(
        name="ssls-figures-3-6",
        paper="ssls",
        title="Figures 3 to 6: RMSE with 3 and 5 % of the targets known",
        about=_ABOUT
        + "Ten repetitions, C = 5, k = 30. Gains are in % of the standard deviation of y. The orange juice and "
        "nitrogen tables (Figures 3 and 4) are unavailable.",
        cells=tuple(
            _cell(dataset, 10, 1.2, f", {share:.0%} known", known=share, quick=0 if "random" in dataset else 1)
            for dataset in (
                "orange_juice",
                "nitrogen",
                "delve_census",
                "delve_census_random_order",
                "pollen",
                "diabetes",
            )
            for share in (0.03, 0.05)
        ),
        protocol=run_few_known,
        displays=(
            Curves("RMSE by number of features", tuple(FEW_KNOWN), *_CURVES),
            Table(
                "Mean gain of SSLS, averaged over the sizes (% of the standard deviation of y)",
                tuple(f"over {name}" for name in FEW_KNOWN if name != "SSLS"),
                digits=2,
                row_header="dataset",
            ),
        ),
        findings=_few_known_findings,
    ),
    Experiment(
        name="ssls-figures-7-9",
        paper="ssls",
        title="Figures 7 to 9: SSLS by the number of known targets",
        about=_ABOUT + "The paper does not print how many targets were known; here it is 5 to 40.",
        cells=tuple(_cell(dataset, 10, 1.5) for dataset in ("nitrogen", *_OFTEN)),
        protocol=run_by_count,
        displays=(
            Curves("RMSE by number of features", tuple(f"{count} known" for count in COUNTS), *_CURVES),
            Table(
                "Mean RMSE over the sizes; gain of the most over the fewest known targets (% of the standard deviation "
                "of y)",
                (*_means([f"{count} known" for count in COUNTS]), "gain of most over fewest"),
                digits=3,
                row_header="dataset",
            ),
        ),
        findings=_gain_findings("gain of most over fewest", "more known targets lower the error"),
    ),
    Experiment(
        name="ssls-figure-10",
        paper="ssls",
        title="Figure 10: SSLS by the weight C of known targets",
        about=_ABOUT
        + "Ten targets are known. The paper shows orange juice, which is unavailable, so we show other tables.",
        cells=tuple(_cell(dataset, 10, 1.8) for dataset in ("orange_juice", *_OFTEN)),
        protocol=run_by_C,
        displays=(
            Curves("RMSE by number of features", tuple(f"C = {C}" for C in WEIGHTS), *_CURVES),
            Table(
                "Mean RMSE over the sizes, and the gain of C = 1 over C = 1000 (% of the standard deviation of y)",
                (*_means([f"C = {C}" for C in WEIGHTS]), "gain of C = 1 over C = 1000"),
                digits=3,
                row_header="dataset",
            ),
        ),
    ),
)
