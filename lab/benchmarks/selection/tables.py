"""The tables of the comparison: real ones of the folder ``DUBIO_DATA``, and made ones whose relations are known.

The list is fixed. scikit-learn's digits, breast_cancer and diabetes are left out on purpose: they are kept for other
checks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from dubio_papers.datasets.artificial import make_circle, make_spheres, make_y2, make_y5

TRAINING_ROWS = 350
TEST_ROWS = 600
#: Classes with fewer rows are left out.
CLASS_ROWS = 12
#: Most shuffled copies of columns added to a table.
COPIES = 15
MADE_ROWS = 800

Floats = NDArray[np.float64]
Maker = Callable[[np.random.Generator], tuple[Floats, NDArray[Any]]]


class Sample(NamedTuple):
    """Training and test rows with the right classes (numbered from 0) or the right numbers."""

    X: Floats
    y: NDArray[Any]
    X_test: Floats
    y_test: NDArray[Any]


@dataclass(frozen=True)
class Table:
    """A table by name. ``copies`` adds shuffled copies of its columns; ``target`` is the column to predict."""

    name: str
    kind: str  # "classes", "numbers" or "wide" (classes, more columns than rows)
    why: str
    copies: bool = False
    make: Maker | None = None
    target: str = "target"
    columns: tuple[str, str] | None = None

    @property
    def available(self) -> bool:
        return self.make is not None or path_of(self.file).exists()

    @property
    def file(self) -> str:
        return self.name.partition(":")[0]


def path_of(file: str) -> Path:
    return Path(os.environ.get("DUBIO_DATA", "data")) / f"{file}.csv.gz"


# Made tables -----------------------------------------------------------------------------------------------------


def _blocks(rng: np.random.Generator, rows: int, blocks: int, size: int, noise: float = 0.5) -> tuple[Floats, Floats]:
    """Hidden factors, and ``size`` noisy copies of each."""
    hidden = rng.normal(size=(rows, blocks))
    return hidden, np.repeat(hidden, size, axis=1) + noise * rng.normal(size=(rows, blocks * size))


def _product_sign(rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
    X = rng.normal(size=(MADE_ROWS, 16))
    return X, (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0).astype(np.int64)


def _class_blocks(rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
    hidden, X = _blocks(rng, MADE_ROWS, 6, 4)
    scores = hidden[:, :3] + 0.3 * rng.normal(size=(MADE_ROWS, 3))
    return X, scores.argmax(axis=1)


def _unbalanced(rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
    y = rng.choice(3, size=MADE_ROWS, p=(0.75, 0.17, 0.08))
    X = rng.normal(size=(MADE_ROWS, 20))
    X[:, 0] += 1.2 * (y == 1)
    X[:, 1] += 1.5 * (y == 2)
    X[:, 2] *= np.where(y == 0, 1.0, 2.5)
    X[:, 3] += 0.7 * y
    return X, y


def _from_paper(make: Any, **options: Any) -> Maker:
    def made(rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
        problem = make(n_rows=MADE_ROWS, random_state=int(rng.integers(2**31)), **options)
        return problem.X, problem.y

    return made


def _number(relation: Callable[[Floats], Floats], columns: int, noise: float) -> Maker:
    """Uniform columns, a function of some of them, and noise as a share of its standard deviation."""

    def made(rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
        X = rng.uniform(size=(MADE_ROWS, columns))
        clean = relation(X)
        return X, clean + noise * clean.std() * rng.normal(size=MADE_ROWS)

    return made


def _friedman(X: Floats) -> Floats:
    return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def _products(X: Floats) -> Floats:
    Z = 2 * X - 1
    return Z[:, 0] * Z[:, 1] + Z[:, 2] * Z[:, 3] + 0.5 * Z[:, 4]


def _waves(X: Floats) -> Floats:
    return np.sin(4 * np.pi * X[:, 0]) + np.cos(2 * np.pi * X[:, 1]) + np.exp(X[:, 2]) + np.abs(X[:, 3] - 0.5) * 4


def _valleys(X: Floats) -> Floats:
    return 8 * (X[:, 0] - 0.5) ** 2 + np.cos(2 * np.pi * X[:, 1]) + 3 * np.abs(X[:, 2] - 0.5)


def _number_blocks(rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
    hidden, X = _blocks(rng, MADE_ROWS, 8, 4)
    return X, hidden[:, :4] @ np.array([3.0, 2.0, 1.5, 1.0]) + hidden[:, 0] * hidden[:, 4] + rng.normal(size=MADE_ROWS)


def _wide(columns: int, classes: int, relevant: int, shift: float, block: int = 1) -> Maker:
    """Normal columns; each relevant one is shifted in one class, and there are ``block`` noisy copies of it."""

    def made(rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
        y = rng.permutation(np.arange(240) % classes)
        X = rng.normal(size=(240, columns))
        for j in range(relevant):
            signal = shift * (y == j % classes) + rng.normal(size=240)
            for c in range(block):
                X[:, j * block + c] = signal + (0.5 * rng.normal(size=240) if block > 1 else 0.0)
        return X, y

    return made


# The list --------------------------------------------------------------------------------------------------------

TABLES: tuple[Table, ...] = (
    Table("australian", "classes", "credit: mixed columns, two classes", copies=True),
    Table("breast_tissue", "classes", "small: 106 rows, six classes"),
    Table("cleveland", "classes", "five unbalanced classes, missing cells", copies=True),
    Table("ecoli", "classes", "few columns, unbalanced classes", copies=True),
    Table("glass", "classes", "few columns, related to each other"),
    Table("heart_statlog", "classes", "many weak columns", copies=True),
    Table("ionosphere", "classes", "34 radar columns that repeat each other"),
    Table("iris", "classes", "four strong columns among shuffled copies", copies=True),
    Table("olitos", "classes", "120 rows, 25 chemical columns"),
    Table("page_blocks", "classes", "one class has 90 % of the rows", copies=True),
    Table("segment", "classes", "seven classes, repeated columns"),
    Table("sonar", "classes", "60 neighbouring bands"),
    Table("vehicle", "classes", "shapes; columns that help only together", copies=True),
    Table("vertebral_column", "classes", "six columns", copies=True),
    Table("wall_robot", "classes", "24 sensors, sharp rules"),
    Table("water_treatment", "classes", "38 columns with missing cells"),
    Table("waveform", "classes", "19 of 40 columns are noise"),
    Table("wine", "classes", "13 strong columns", copies=True),
    Table("yeast", "classes", "ten classes that overlap", copies=True),
    Table(
        "made:spheres", "classes", "four balls in three of ten columns", make=_from_paper(make_spheres, n_features=10)
    ),
    Table("made:circle", "classes", "inside or outside a circle", make=_from_paper(make_circle, n_features=12)),
    Table("made:smooth", "classes", "a smooth function cut in two", make=_from_paper(make_y5, n_features=15)),
    Table("made:product", "classes", "the sign of a product: two columns matter only together", make=_product_sign),
    Table("made:blocks", "classes", "blocks of four related columns", make=_class_blocks),
    Table("made:unbalanced", "classes", "rare classes; one column differs only in its spread", make=_unbalanced),
    Table("pollen", "numbers", "four related columns among shuffled copies", copies=True),
    Table("delve_census_random_order", "numbers", "house prices: 96 census columns", columns=("P0010001", "H018A002")),
    Table("glass:RI", "numbers", "the refractive index from the chemistry", target="RI", copies=True),
    Table("wine:alcohol", "numbers", "alcohol from the chemistry", target="alcohol", copies=True),
    Table("cleveland:thalach", "numbers", "the highest heart rate from the other columns", target="thalach"),
    Table("water_treatment:DQO_S", "numbers", "quality of the water that leaves, from what comes in", target="DQO_S"),
    Table("made:friedman", "numbers", "five of 20 columns, smooth", make=_number(_friedman, 20, 0.3)),
    Table("made:products", "numbers", "two products and a line among 15 columns", make=_number(_products, 15, 0.3)),
    Table("made:waves", "numbers", "four curves among 18 columns", make=_number(_waves, 18, 0.3)),
    Table("made:number_blocks", "numbers", "eight blocks of four related columns", make=_number_blocks),
    Table("made:y2", "numbers", "a product of two waves of products", make=_from_paper(make_y2)),
    Table("made:valleys", "numbers", "curves that correlation cannot see", make=_number(_valleys, 12, 0.3)),
    Table("colon", "wide", "2,000 genes, 62 rows"),
    Table("leukemia", "wide", "7,129 genes, 72 rows"),
    Table("pie10p", "wide", "2,420 pixels, ten faces"),
    Table("made:wide_sparse", "wide", "8 of 500 columns", make=_wide(500, 2, 8, 1.0)),
    Table("made:wide_classes", "wide", "12 of 1,000 columns, four classes", make=_wide(1000, 4, 12, 1.3)),
    Table("made:wide_blocks", "wide", "10 blocks of eight related columns among 800", make=_wide(800, 3, 10, 1.2, 8)),
)
BY_NAME = {f"{table.kind}/{table.name}": table for table in TABLES}


@lru_cache(maxsize=4)
def _read(file: str) -> pd.DataFrame:
    return pd.read_csv(path_of(file))


def _raw(table: Table, rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
    if table.make is not None:
        return table.make(rng)
    frame = _read(table.file)
    target = frame[table.target]
    if table.kind == "numbers":
        frame, target = frame[target.notna()], target[target.notna()].astype(np.float64)
    if table.name == "water_treatment:DQO_S":  # only what is measured before the water leaves
        frame = frame.loc[:, [name.endswith(("_E", "_P", "_D")) for name in frame.columns]]
    elif table.columns is not None:
        frame = frame.loc[:, table.columns[0] : table.columns[1]]
    frame = frame.drop(columns=["target", table.target], errors="ignore")
    return frame.to_numpy(dtype=np.float64), target.to_numpy()


def draw(table: Table, rng: np.random.Generator) -> Sample:
    """Training and test rows of one draw, standardised on the training rows, columns in random order."""
    X, y = _raw(table, rng)
    rows = rng.permutation(len(X))[: TRAINING_ROWS + TEST_ROWS]
    X, y = X[rows], y[rows]
    classes = table.kind != "numbers"
    if classes:
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        kept = np.isin(codes, np.flatnonzero(counts >= CLASS_ROWS))
        X, y = X[kept], np.unique(codes[kept], return_inverse=True)[1].astype(np.int64)
    training = 120 if table.kind == "wide" and table.make else min(TRAINING_ROWS, int(0.6 * len(X)))
    one, other = train_test_split(
        np.arange(len(X)),
        train_size=training,
        stratify=y if classes else None,
        random_state=int(rng.integers(2**31)),
    )
    train, test = X[one], X[other]
    medians = np.nan_to_num(np.nanmedian(train, axis=0))
    train, test = (np.where(np.isnan(part), medians, part) for part in (train, test))
    varied = train.std(axis=0) > 0
    train, test = train[:, varied], test[:, varied]
    if table.copies:
        chosen = rng.permutation(train.shape[1])[:COPIES]
        train, test = (np.hstack([part, rng.permuted(part[:, chosen], axis=0)]) for part in (train, test))
    order = rng.permutation(train.shape[1])  # no selector should profit from the order of the columns
    train, test = train[:, order], test[:, order]
    # Without this, the one test row farthest out decides how good a straight line is.
    test = np.clip(test, train.min(axis=0), train.max(axis=0))
    centre, scale = train.mean(axis=0), train.std(axis=0)
    return Sample((train - centre) / scale, y[one], (test - centre) / scale, y[other])
