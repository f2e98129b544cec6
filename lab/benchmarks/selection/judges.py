"""How good an order of features is: three models on the first features, trained and tested on right labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC

from benchmarks.selection.tables import Sample

SIZES = (1, 2, 3, 5, 8, 12, 15)
NEIGHBORS = 7
TREES = 30
#: 100 R2 is never counted below this.
FLOOR = -100.0


class Judge:
    """Judges subsets of the features of one sample; equal subsets are judged once."""

    def __init__(self, sample: Sample, numbers: bool, seed: int) -> None:
        self.sample, self.numbers, self.seed = sample, numbers, seed
        d = sample.X.shape[1]
        self.sizes = [size for size in SIZES if size < d] or [1]  # all features are the same subset for everybody
        self._known: dict[tuple[int, ...], dict[str, tuple[float, float]]] = {}

    def models(self) -> dict[str, Any]:
        k = min(NEIGHBORS, len(self.sample.y))
        if self.numbers:
            forest: Any = RandomForestRegressor(TREES, max_features=1 / 3, random_state=self.seed)
            return {"k-NN": KNeighborsRegressor(k), "ridge": Ridge(), "forest": forest}
        forest = RandomForestClassifier(TREES, random_state=self.seed)
        return {"k-NN": KNeighborsClassifier(k), "SVM": SVC(), "forest": forest}

    def subset(self, columns: Sequence[int]) -> dict[str, tuple[float, float]]:
        """By judge: accuracy and balanced accuracy in percent; for numbers 100 R2, twice."""
        key = tuple(sorted(int(j) for j in columns))
        if key not in self._known:
            X, X_test = self.sample.X[:, key], self.sample.X_test[:, key]
            self._known[key] = {
                name: self._measure(model.fit(X, self.sample.y).predict(X_test))
                for name, model in self.models().items()
            }
        return self._known[key]

    def _measure(self, guess: NDArray[Any]) -> tuple[float, float]:
        truth = self.sample.y_test
        if self.numbers:
            r2 = 1 - float(((guess - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
            return max(FLOOR, 100 * r2), max(FLOOR, 100 * r2)
        hit = guess == truth
        return 100 * float(hit.mean()), 100 * float(np.mean([hit[truth == c].mean() for c in np.unique(truth)]))

    def order(self, order: Sequence[int]) -> dict[str, Any]:
        """The areas of an order of features: means over the sizes, and over the judges."""
        found = [self.subset(order[:size]) for size in self.sizes]
        values = np.array([[one[name] for name in one] for one in found])  # sizes, judges, measures
        return {
            "area": round(float(values[:, :, 0].mean()), 4),
            "balanced": round(float(values[:, :, 1].mean()), 4),
            "judges": {name: round(float(values[:, i, 0].mean()), 4) for i, name in enumerate(found[0])},
            "curve": [round(float(value), 3) for value in values[:, :, 0].mean(axis=1)],
        }
