"""WLS paper, Figures 2 to 4: 1-NN on the features chosen from an unsure annotator's labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from dubio.scores.weighted import weighted_laplacian_score
from dubio.simulate import unsure_annotator
from dubio_papers.claims import better, not_worse
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Curves, Experiment, Finding, Table, grid
from dubio_papers.judges import best_first, nearest_accuracy, scaled

METHODS = ("WLS", "y_max", "y_error")


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """One annotator, five folds: choose features with the annotator's labels, train and test 1-NN on true labels."""
    data = load(parameters["dataset"], paper="wls")
    state = np.random.RandomState(random.bit_generator)
    expert = unsure_annotator(data.y, parameters["mu"], random_state=state)
    P = expert.memberships.memberships
    sizes = range(1, data.X.shape[1] + 1)
    curves = dict.fromkeys(METHODS, np.zeros(len(sizes)))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=state).split(data.X, data.y):
        A, B = scaled(data.X[train], data.X[test])
        for method, labels in zip(METHODS, (P[train], expert.y_max[train], expert.y_error[train]), strict=True):
            order = best_first(weighted_laplacian_score(A, labels), low_is_good=True)
            curves[method] = curves[method] + nearest_accuracy(A, data.y[train], B, data.y[test], order, sizes) / 5
    first = parameters["first"]
    gains = {f"over {m}": float(np.mean((curves["WLS"] - curves[m])[:first])) for m in METHODS[1:]}
    return {**curves, **gains}


def findings(summary: Any) -> list[Finding]:
    """The paper claims "better or equal" for Figures 2 and 3, and "outperforms" for Figure 4."""
    strictly = summary.name == "wls-figure-4"
    rule, words = (better, "more accurate than") if strictly else (not_worse, "at least as accurate as")
    return [
        rule(summary, cell.key, f"over {method}", f"{cell.title}: WLS is {words} {method}.")
        for cell in summary.cells
        for method in METHODS[1:]
    ]


def figure(number: int, dataset: str, first: tuple[int, int], seconds: float, claim: str) -> Experiment:
    cells = tuple(
        cell
        for mu, size in zip((0.2, 0.3), first, strict=True)
        for cell in grid(
            full=50, quick=5, seconds=seconds, label="mu = {mu}", dataset=(dataset,), mu=(mu,), first=(size,)
        )
    )
    return Experiment(
        name=f"wls-figure-{number}",
        paper="wls",
        title=f"Figure {number}: 1-NN accuracy on {dataset.replace('_', ' ')}",
        about="Accuracy (%) by number of features, five folds, 50 simulated annotators. Features are chosen on the "
        f"training part, which is standardised. {claim}",
        cells=cells,
        protocol=run,
        displays=(
            Curves("Accuracy by number of features", METHODS, "number of features", "accuracy (%)"),
            Table(
                "Mean gain of WLS, averaged over the first features (points)",
                ("over y_max", "over y_error"),
                digits=2,
                row_header="annotator",
            ),
        ),
        findings=findings,
    )


EXPERIMENTS = (
    figure(
        2,
        "iris",
        (3, 3),
        0.03,
        "In the paper, WLS is better or equal for any number of features; here we compare the first 3.",
    ),
    figure(
        3,
        "breast_tissue",
        (8, 8),
        0.04,
        "There are four classes: fad, mas and gla are merged. In the paper, WLS is better or equal for any number of "
        "features; here we compare the first 8.",
    ),
    figure(
        4,
        "sonar",
        (12, 16),
        0.15,
        "In the paper, WLS is better for the first 12 features (mu = 0.2) and the first 16 (mu = 0.3).",
    ),
)
