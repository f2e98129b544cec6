"""CSFS paper, Figure 9 and Table 2: faces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.scores.constrained_laplacian import ConstrainedLaplacianScore
from dubio.scores.constraint import spec_score
from dubio.scores.relief import relieff_score
from dubio_papers.claims import better
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Curves, Experiment, Finding, Table
from dubio_papers.judges import best_first, nearest_accuracy
from dubio_papers.pair_protocol import RANDOM, SPLITS, STATED, half_of_each_class, quarter_of_each_class

Floats = NDArray[np.float64]

SIZES = tuple(range(50, 501, 50))
BASELINES = ("Laplacian", "ReliefF", "F2+r^4", "F3+r")
PRINTED: dict[str, tuple[float, ...]] = {
    "pie10p": (0.74, 0.97, 0.78, 0.87, 0.91),
    "pix10p": (0.88, 0.97, 0.94, 0.93, 0.98),
}
LEAKING, LITERAL = "CSFS, labels from all rows", "CSFS, lambda = 0.1 on grey levels"
#: Orders that know nothing: a score must beat them to mean anything.
NAIVE = ("random pixels", "file order")
OWN = ("CSFS", LEAKING, LITERAL, *NAIVE)
UNDEFINED = "scores that are 0/0 with lambda = 0.1 on grey levels (%)"
CURVES = ("CSFS", *BASELINES, NAIVE[0])


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """All orders on one split. ReliefF sees all training labels, CSFS a quarter, the others see none."""
    data = load(parameters["dataset"], paper="csfs")
    training = half_of_each_class(data.y, parameters["split"], random)
    labelled = quarter_of_each_class(data.y, random)  # for the variant that sees rows that are tested later
    X = _to_unit_range(data.X, training)
    train, y_train = X[training], data.y[training]
    known = _hidden(y_train, quarter_of_each_class(y_train, random))
    graph = _kernel_graph(train)
    third = spec_score(train, graph, function=3, n_eigenvectors=len(np.unique(y_train)))
    literal = ConstrainedLaplacianScore.as_published(standardize=False).fit(data.X[training], known)
    orders = {
        "Laplacian": best_first(spec_score(train, graph, function=2), low_is_good=True),
        "ReliefF": best_first(relieff_score(train, y_train, n_neighbors=10), low_is_good=False),
        "F2+r^4": best_first(spec_score(train, graph, function=2, power=4), low_is_good=True),
        "F3+r": best_first(third, low_is_good=False),
        "CSFS": _csfs(train, known),
        LEAKING: _csfs(X, _hidden(data.y, labelled)),
        LITERAL: np.argsort(literal.ranking_, kind="stable"),
        NAIVE[0]: random.permutation(X.shape[1]),
        NAIVE[1]: np.arange(X.shape[1]),
    }
    test, y_test = X[~training], data.y[~training]
    curves = {name: nearest_accuracy(train, y_train, test, y_test, order, SIZES) for name, order in orders.items()}
    means = {name: float(curve.mean()) for name, curve in curves.items()}
    return {
        "x": list(SIZES),
        **{f"{name} by features": curves[name] / 100 for name in CURVES},
        **{name: mean / 100 for name, mean in means.items()},
        **{f"over {name}": means["CSFS"] - means[name] for name in (*BASELINES, *NAIVE)},
        UNDEFINED: 100 * float(np.mean(~np.isfinite(literal.scores_))),
    }


def _to_unit_range(X: Floats, training: NDArray[np.bool_]) -> Floats:
    """Columns from 0 to 1 on the training rows."""
    low, reach = X[training].min(axis=0), np.ptp(X[training], axis=0)
    result: Floats = (X - low) / np.where(reach > 0, reach, 1.0)
    return result


def _hidden(y: NDArray[Any], labelled: NDArray[np.bool_]) -> NDArray[Any]:
    known = y.astype(object)
    known[~labelled] = None
    return known


def _kernel_graph(X: Floats) -> Floats:
    """All pairs of rows, exp(-d^2 / (0.1 mean d^2))."""
    squares = np.einsum("ij,ij->i", X, X)
    squared = np.maximum(squares[:, None] + squares[None, :] - 2 * X @ X.T, 0.0)
    np.fill_diagonal(squared, 0.0)
    graph: Floats = np.exp(-squared / (0.1 * squared.sum() / (len(X) * (len(X) - 1))))
    return graph


def _csfs(X: Floats, known: NDArray[Any]) -> NDArray[np.int64]:
    """dubio's default, on the columns as they are."""
    return np.argsort(ConstrainedLaplacianScore(standardize=False).fit(X, known).ranking_, kind="stable")


def findings(summary: Any) -> list[Finding]:
    """In the paper CSFS is better than all but ReliefF on Pie10P; the orders that know nothing are our addition."""
    found = []
    for cell in summary.cells:
        split = cell.key.split("split=")[1]
        for other in (*BASELINES, *NAIVE):
            if (cell.dataset, other) != ("pie10p", "ReliefF"):
                claim = f"{cell.title}: CSFS is more accurate than {other}."
                group = f"{'orders that know nothing' if other in NAIVE else 'other scores'}, {split}"
                finding = better(summary, cell.key, f"over {other}", claim, group=group)
                found.append(replace(finding, of_paper=other not in NAIVE))
    return found


_CELLS = tuple(
    Cell(
        {"dataset": name, "split": split},
        50,
        1,
        4.0 if name == "pix10p" else 3.0,
        name,
        f"{name}, {split}",
    )
    for name in PRINTED
    for split in SPLITS
)


def _keys(split: str) -> tuple[str, ...]:
    return tuple(cell.key for cell in _CELLS if cell.parameters["split"] == split)


def _printed(measures: tuple[str, ...], columns: slice) -> dict[str, dict[str, float]]:
    return {cell.key: dict(zip(measures, PRINTED[str(cell.dataset)][columns], strict=True)) for cell in _CELLS}


EXPERIMENTS = (
    Experiment(
        name="csfs-figure-9",
        paper="csfs",
        title="Figure 9 and Table 2: accuracy on faces",
        about="1-NN is trained on half of each class and tested on the other half: the first half in the order of the "
        "file, as the paper says, or a random half. Columns are scaled to [0, 1], and scores see the training rows "
        "only. The Laplacian and both SPEC scores use all pairs of rows with the weight exp(-d^2 / (0.1 mean d^2)); "
        "ReliefF uses 10 neighbours and all training labels; CSFS uses a quarter of the training labels. A mean is "
        "over 50, 100, ..., 500 features. This protocol was chosen afterwards, because the four baselines of Table 2 "
        "reproduce with it on random halves. A printed number is one split, so the band is the band of single splits. "
        "Random pixels and pixels in the order of the file know nothing of the data: a score must beat them to mean "
        "anything. With lambda = 0.1 on grey levels as they are, all weights underflow to 0, and a score is 0/0; "
        "features with such a score stay in the order of the file.",
        cells=_CELLS,
        protocol=run,
        displays=(
            *(
                Table(
                    f"Table 2, {split}: average accuracy of the baselines",
                    BASELINES,
                    {key: row for key, row in _printed(BASELINES, slice(0, 4)).items() if key in _keys(split)},
                    digits=3,
                    row_header="dataset",
                    cells=_keys(split),
                    beside=() if split == STATED else BASELINES,
                )
                for split in SPLITS
            ),
            Table(
                "Table 2, CSFS: average accuracy, and what it must beat",
                OWN,
                _printed(("CSFS",), slice(4, 5)),
                digits=3,
                row_header="dataset",
                beside=_keys(RANDOM),
            ),
            Table("Scores that are not defined", (UNDEFINED,), row_header="dataset"),
            Curves(
                "Accuracy by number of features",
                tuple(f"{name} by features" for name in CURVES),
                "number of features",
                "accuracy",
            ),
        ),
        findings=findings,
    ),
)
