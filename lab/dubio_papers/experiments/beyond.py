"""What the papers name as future work, tried: does it help? None of this is a claim of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau
from sklearn.cluster import KMeans
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from dubio.doubt.noise_model import estimate_memberships
from dubio.scores.coherence import coherence_of_set
from dubio.scores.constrained_laplacian import ConstrainedLaplacianScore
from dubio.scores.constraint import constraint_score
from dubio.scores.laplacian import semi_supervised_laplacian_score
from dubio.searches.fuzzy_rough import FuzzyRoughSearch
from dubio.searches.mutual_information import MutualInformationSearch
from dubio.simulate import flip_labels
from dubio.table.matrix import standardize
from dubio_papers.claims import better
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Experiment, Finding, Table
from dubio_papers.experiments.ssls_figures import SIZES
from dubio_papers.judges import best_first, nearest_rmse, scaled, tuned_balanced_error
from dubio_papers.pair_protocol import RANDOM, SOURCES, draw_pairs, set_scene

Floats = NDArray[np.float64]


def _checks(summary: Any, gains: tuple[str, ...]) -> list[Finding]:
    """Each option against the paper's form, in every cell."""
    return [
        replace(better(summary, cell.key, gain, f"{cell.title}: {gain} is above zero.", group=gain), of_paper=False)
        for gain in gains
        for cell in summary.cells
    ]


def run_confusion(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """How well both noise models find the true classes, with wrong labels of any class or of the next one only."""
    data = load(parameters["dataset"], paper="lnt")
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    X, n_classes = standardize(data.X) + random.normal(scale=1e-3, size=data.X.shape), int(y.max()) + 1
    if parameters["flips"] == "any class":
        noisy = flip_labels(y, 0.3, random_state=int(random.integers(2**31)))
    else:
        noisy = np.where(random.random(len(y)) < 0.3, (y + 1) % n_classes, y)
    seed = int(random.integers(2**31))
    found = {}
    for noise in ("uniform", "matrix"):
        memberships = estimate_memberships(X, noisy, noise=noise, random_state=seed).memberships
        found[noise] = 100 * float(np.mean(memberships[np.arange(len(y)), y]))
    return {**found, "matrix over uniform": found["matrix"] - found["uniform"]}


def _balanced_error(X: Floats, y: NDArray[np.int64], order: NDArray[np.int64], folds: NDArray[np.int64]) -> float:
    """Mean over the sizes of the cross-validated error of k-NN on the given labels."""
    return float(tuned_balanced_error(X, y, X, y, order, folds)[:-1].mean())


def run_resampled_k(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """The protocol of Figures 4 to 6 at 20 %: k = 8, and k chosen by three-fold resampling of the noisy labels."""
    data = load(parameters["dataset"], paper="lnt")
    X, y = standardize(data.X), np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    train, test = np.split(random.permutation(len(X)), [round(0.7 * len(X))])
    noisy = flip_labels(y[train], 0.2, random_state=int(random.integers(2**31)))
    folds, seed = random.permutation(np.arange(len(train)) % 10), int(random.integers(2**31))

    def order_of(rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        search = MutualInformationSearch(
            n_features_to_select=1, n_neighbors=k, n_init=2, standardize=False, random_state=seed
        )
        return np.argsort(search.fit(X[train[rows]], noisy[rows]).ranking_)

    parts = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(X[train], noisy))
    errors = {}
    for k in NUMBERS:
        held_out = []
        for inner, outer in parts:
            order = order_of(inner, k)
            for size in range(1, len(order)):
                model = KNeighborsClassifier(5).fit(X[train[inner]][:, order[:size]], noisy[inner])
                held_out.append(np.mean(model.predict(X[train[outer]][:, order[:size]]) != noisy[outer]))
        errors[k] = float(np.mean(held_out))
    chosen = min(errors, key=lambda k: (errors[k], k))
    everything = np.arange(len(train))
    found = {
        name: float(
            tuned_balanced_error(X[train], y[train], X[test], y[test], order_of(everything, k), folds)[:-1].mean()
        )
        for name, k in (("k = 8", 8), ("k resampled", chosen))
    }
    return {**found, "resampled over 8": found["k = 8"] - found["k resampled"], "k chosen": float(chosen)}


NUMBERS = (3, 5, 8, 15)


def run_resampled_ssls(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """k, t and C of SSLS chosen by the leave-one-out error of 3-NN on the known targets, against the paper's choice."""
    data = load(parameters["dataset"], paper="ssls")
    sizes = [size for size in SIZES if size <= data.X.shape[1]][:-1]
    totals = dict.fromkeys(("paper", "resampled"), 0.0)
    for train, test in KFold(5, shuffle=True, random_state=int(random.integers(2**31))).split(data.X):
        A, B = scaled(data.X[train], data.X[test])
        known = np.zeros(len(train), dtype=bool)
        known[random.permutation(len(train))[: max(12, round(0.05 * len(train)))]] = True
        y = (data.y[train] - data.y[train][known].mean()) / data.y[train][known].std()

        def order_of(A: Floats, y: Floats, known: NDArray[np.bool_], k: int, t: float, C: float) -> NDArray[np.int64]:
            scores = semi_supervised_laplacian_score(A, np.where(known, y, np.nan), n_neighbors=k, t=t, C=C)
            return best_first(scores, low_is_good=True)

        def left_out(order: NDArray[np.int64], A: Floats, y: Floats, known: NDArray[np.bool_]) -> float:
            rows, errors = np.flatnonzero(known), []
            for size in sizes:
                gaps = ((A[rows][:, None, order[:size]] - A[rows][None, :, order[:size]]) ** 2).sum(axis=2)
                np.fill_diagonal(gaps, np.inf)
                near = np.argsort(gaps, axis=1)[:, :3]
                errors.append(np.mean((y[rows][near].mean(axis=1) - y[rows]) ** 2))
            return float(np.mean(errors))

        orders = {choice: order_of(A, y, known, *choice) for choice in CHOICES}
        best = min(CHOICES, key=lambda choice: left_out(orders[choice], A, y, known))
        for name, choice in (("paper", CHOICES[0]), ("resampled", best)):
            totals[name] += nearest_rmse(A, data.y[train], B, data.y[test], orders[choice], sizes).mean() / 5
    spread = data.y.std() / 100
    return {**totals, "resampled over paper": (totals["paper"] - totals["resampled"]) / spread}


#: k, t and C; the paper's first.
CHOICES = (
    (30, 1.0, 5.0),
    (5, 1.0, 5.0),
    (100, 1.0, 5.0),
    (30, 0.1, 5.0),
    (30, 10.0, 5.0),
    (30, 1.0, 1.0),
    (30, 1.0, 50.0),
)

CONNECTIVES: dict[str, dict[str, Any]] = {
    "the paper's form": {},
    "pruned": {"prune": True},
    "weaker enemies (0.5)": {"unlabelled_enmity": 0.5},
    "unlabelled rows no enemies": {"unlabelled_enmity": 0.0},
    "similarity by range": {"similarity": "range"},
    "Gaussian similarity": {"similarity": "gaussian"},
    "minimum": {"t_norm": "minimum"},
    "product": {"t_norm": "product"},
}


def run_fuzzy_rough(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """Size of the subset and accuracy of 3-NN on it, ten folds, with 50 % of the labels missing."""
    data = load(parameters["dataset"], paper="ssfrfs")
    measures = {f"{what}, {name}": 0.0 for what in ("size", "accuracy") for name in CONNECTIVES}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=int(random.integers(2**31))).split(data.X, data.y):
        labels = data.y[train].astype(object)
        labels[random.permutation(len(train))[: len(train) // 2]] = None
        A, B = scaled(data.X[train], data.X[test])
        for name, options in CONNECTIVES.items():
            search = FuzzyRoughSearch(target="classes", **options).fit(data.X[train], labels)
            kept = np.flatnonzero(search.support_)
            model = KNeighborsClassifier(3).fit(A[:, kept], data.y[train])
            measures[f"size, {name}"] += len(kept) / 5
            measures[f"accuracy, {name}"] += 100 * float(np.mean(model.predict(B[:, kept]) == data.y[test])) / 5
    first = next(iter(CONNECTIVES))
    gains = {
        f"{name} over the paper's form": measures[f"accuracy, {name}"] - measures[f"accuracy, {first}"]
        for name in CONNECTIVES
        if name != first
    }
    return {**measures, **gains}


def run_clusters(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """Accuracy of 1-NN, mean over the sizes, for several ways to find the neighbours of CSFS."""
    scene = set_scene(parameters["dataset"], SOURCES[0], random, RANDOM)
    n_classes = len(np.unique(scene.y))
    ways: dict[str, dict[str, Any]] = {
        "Davies-Bouldin": {},
        "as many as classes": {"n_clusters": n_classes},
        "k-means": {"neighbors": KMeans(n_classes, n_init=5, random_state=0)},
    }
    sizes = list(range(1, scene.X.shape[1]))
    found = {}
    for name, options in ways.items():
        order = np.argsort(ConstrainedLaplacianScore(**options).fit(scene.X, scene.known).ranking_, kind="stable")
        found[name] = float(scene.accuracy(order, sizes).mean())
    first = next(iter(ways))
    return {**found, **{f"{name} over {first}": found[name] - found[first] for name in ways if name != first}}


def run_coherence(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """Kendall's tau between the coherence of sets of sixteen pairs and the accuracy of the constraint score on them."""
    scene = set_scene(parameters["dataset"], SOURCES[0], random, RANDOM)
    sizes = sorted({1 + round(share * (scene.X.shape[1] - 2)) for share in (0.0, 0.1, 0.2, 0.35, 0.5, 0.75)})
    sets, accuracies = [], []
    for _ in range(30):
        pairs = draw_pairs(scene, 16, random)
        scores = constraint_score(scene.X, pairs.must_link, pairs.cannot_link)
        sets.append(coherence_of_set(scene.X, pairs.must_link, pairs.cannot_link))
        accuracies.append(scene.accuracy(best_first(scores, low_is_good=True), sizes).mean())
    tau = float(kendalltau(sets, accuracies).statistic)
    return {"coherence of a set (%)": 100 * float(np.mean(sets)), COHERENCE: 0.0 if np.isnan(tau) else tau}


COHERENCE = "tau of coherence and accuracy"
_CONFUSION = ("matrix over uniform",)
_SEARCH_K, _SSLS = ("resampled over 8",), ("resampled over paper",)
_FUZZY = tuple(f"{name} over the paper's form" for name in CONNECTIVES if name != "the paper's form")
_CLUSTERS = ("as many as classes over Davies-Bouldin", "k-means over Davies-Bouldin")


def _beyond(
    name: str,
    paper: str,
    title: str,
    about: str,
    cells: tuple[Cell, ...],
    protocol: Any,
    measures: tuple[str, ...],
    gains: tuple[str, ...],
) -> Experiment:
    return Experiment(
        name=f"beyond-{name}",
        paper=paper,
        title=f"Beyond the paper: {title}",
        about=about,
        cells=cells,
        protocol=protocol,
        displays=(Table(title.capitalize(), (*measures, *gains), digits=2, row_header="dataset"),),
        findings=lambda summary: _checks(summary, gains),
    )


def _cells(full: int, seconds: float, *names: str, **more: tuple[str, ...]) -> tuple[Cell, ...]:
    (key, values), *_ = [*more.items(), ("", ("",))]
    return tuple(
        Cell(
            {"dataset": name, **({key: value} if key else {})},
            full,
            0,
            seconds,
            name,
            ", ".join(filter(None, (name.replace("_", " "), value))),
        )
        for name in names
        for value in values
    )


EXPERIMENTS = (
    _beyond(
        "confusion",
        "lnt",
        "a noise model with a whole matrix",
        "The paper's noise model has one error rate for each true class. Here it has one for each pair of true "
        "class and label (noise='matrix'). 30 % of the labels are wrong: any other class, or always the next one. The "
        "measure is the mean membership in the true class (%).",
        _cells(20, 0.1, "iris", "wine", "vertebral_column", "glass", "vehicle", flips=("any class", "next class")),
        run_confusion,
        ("uniform", "matrix"),
        _CONFUSION,
    ),
    _beyond(
        "resampled-k",
        "lnt",
        "the number of neighbours by resampling",
        "The protocol of Figures 4 to 6 with 20 % of the labels flipped. k of the mutual information is 8, or the one "
        "of 3, 5, 8 and 15 with the lowest error of 5-NN on held-out noisy labels (three folds). Balanced error (%).",
        _cells(10, 4.0, "iris", "vertebral_column", "glass"),
        run_resampled_k,
        ("k = 8", "k resampled", "k chosen"),
        _SEARCH_K,
    ),
    _beyond(
        "resampled-ssls",
        "ssls",
        "k, t and C by resampling",
        "5 % of the targets are known (at least twelve). k, t and C are the paper's (30, 1, 5), or the best of seven "
        "choices by the leave-one-out error of 3-NN on the known targets. RMSE; the gain is in % of the spread of y.",
        _cells(10, 1.0, "pollen", "diabetes"),
        run_resampled_ssls,
        ("paper", "resampled"),
        _SSLS,
    ),
    _beyond(
        "fuzzy-rough",
        "ssfrfs",
        "pruning, weaker enemies, connectives and similarities",
        "Half of the labels are missing. Five folds; accuracy of 3-NN on the chosen features (%), and their number. "
        "Each form is compared with the paper's: Lukasiewicz, similarity by the standard deviation, unlabelled rows as "
        "full enemies, no pruning.",
        _cells(5, 5.0, "wine", "glass", "heart_statlog", "ionosphere", "olitos"),
        run_fuzzy_rough,
        tuple(f"{what}, {name}" for what in ("size", "accuracy") for name in CONNECTIVES),
        _FUZZY,
    ),
    _beyond(
        "clusters",
        "csfs",
        "other clusters",
        "Neighbours are rows of a cluster: of a map and Ward's tree cut by the Davies-Bouldin index (the paper) or "
        "at the number of classes, or of k-means on the rows with as many clusters as classes. Labels are a quarter of "
        "the training rows, halves are random. Mean accuracy of 1-NN (%).",
        _cells(20, 0.3, "iris", "ionosphere", "sonar", "soybean_small"),
        run_clusters,
        ("Davies-Bouldin", "as many as classes", "k-means"),
        _CLUSTERS,
    ),
    _beyond(
        "coherence",
        "csfs",
        "the coherence of a set",
        "Thirty sets of eight must-links and eight cannot-links are drawn from a labelled quarter of the training "
        "rows. If coherent sets are better, their coherence (equation 4) and the accuracy of 1-NN on the features that "
        "the constraint score ranks first go together: Kendall's tau is above zero.",
        _cells(15, 1.0, "iris", "ionosphere", "sonar", "soybean_small"),
        run_coherence,
        ("coherence of a set (%)",),
        (COHERENCE,),
    ),
)
