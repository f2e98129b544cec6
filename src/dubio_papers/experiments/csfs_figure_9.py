"""CSFS paper, Figure 9 and Table 2: faces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dubio.graphs.neighbors import neighbor_graph
from dubio.methods import relieff_score, spec_score
from dubio_papers.claims import enough
from dubio_papers.experiment import Cell, Curves, Experiment, Finding, Table
from dubio_papers.judges import best_first
from dubio_papers.pair_protocol import SOURCES, csfs, laplacian, set_scene

SIZES = (5, *range(10, 101, 10))
METHODS = ("Laplacian", "ReliefF", "F2+r^4", "F3+r", "CSFS")
PRINTED = {"pie10p": (0.74, 0.97, 0.78, 0.87, 0.91), "pix10p": (0.88, 0.97, 0.94, 0.93, 0.98)}
CURVES = tuple(f"{method} by features" for method in METHODS)


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """Only CSFS depends on the draw of labelled rows. ReliefF sees all training labels, the others see none."""
    scene = set_scene(parameters["dataset"], parameters["labels"], random)
    graph = neighbor_graph(scene.X, n_neighbors=5, t="mean")
    n_classes = len(np.unique(scene.y))
    third = spec_score(scene.X, graph, function=3, n_eigenvectors=n_classes)
    orders = {
        "Laplacian": laplacian(scene),
        "ReliefF": best_first(relieff_score(scene.train, scene.y_train), low_is_good=False),
        "F2+r^4": best_first(spec_score(scene.X, graph, function=2, power=4), low_is_good=True),
        "F3+r": best_first(third, low_is_good=False),
        "CSFS": csfs(scene),
    }
    curves = {name: scene.accuracy(order, SIZES) / 100 for name, order in orders.items()}
    return {
        "x": list(SIZES),
        **{f"{name} by features": curve for name, curve in curves.items()},
        **{name: float(curve.mean()) for name, curve in curves.items()},
    }


def findings(summary: Any) -> list[Finding]:
    found = []
    for cell in summary.cells:
        if enough(summary, cell.key):
            ahead = [m for m in METHODS[:-1] if cell.measures["CSFS"].mean > cell.measures[m].mean]
            expected = [m for m in METHODS[:-1] if not (cell.dataset == "pie10p" and m == "ReliefF")]
            claim = f"{cell.title}: CSFS is better than {', '.join(expected)}."
            found.append(Finding(claim, set(expected) <= set(ahead), f"It beats {', '.join(ahead) or 'none'}."))
    return found


_CELLS = tuple(
    Cell(
        {"dataset": name, "labels": source},
        20,
        1,
        4.0 if name == "pix10p" else 1.5,
        name,
        f"{name}, labels from {source}",
    )
    for name in PRINTED
    for source in SOURCES
)
EXPERIMENTS = (
    Experiment(
        name="csfs-figure-9",
        paper="csfs",
        title="Figure 9 and Table 2: accuracy on faces",
        about="1-NN is trained on the first half of each class and tested on the rest. A quarter of each class is "
        "labelled: only training rows or, as in the paper, any rows. Means are over 5 to 100 features; the paper does "
        "not say which numbers it used. SPEC's scores use a graph of 5 neighbours without labels, because on a graph "
        "of classes all powers give the same ranking.",
        cells=_CELLS,
        protocol=run,
        displays=(
            Table(
                "Table 2: average accuracy",
                METHODS,
                {cell.key: dict(zip(METHODS, PRINTED[str(cell.dataset)], strict=True)) for cell in _CELLS},
                digits=3,
                row_header="dataset",
            ),
            Curves("Accuracy by number of features", CURVES, "number of features", "accuracy"),
        ),
        findings=findings,
    ),
)
