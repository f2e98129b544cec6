"""Table 1 of the ssFRFS paper: average sizes of the subsets, at 0 to 90 % missing labels, on its real datasets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from dubio import FuzzyRoughSearch

MISSING = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)

# As printed, except wine at 0 %: the paper repeats vehicle's 8.42 there, and the literal search gives 5.0.
PRINTED = {
    "cleveland": (7.64, 8.32, 9.20, 9.78, 10.08, 10.24),
    "ecoli": (6.00, 6.00, 6.00, 6.00, 6.00, 6.00),
    "glass": (9.00, 8.84, 8.92, 8.98, 9.00, 9.00),
    "heart_statlog": (7.06, 7.96, 8.90, 9.72, 10.14, 10.32),
    "olitos": (5.00, 5.10, 5.44, 5.74, 5.86, 5.94),
    "wine": (5.00, 5.80, 6.34, 6.56, 6.74, 6.80),
}


def sizes(X, y, shares, repetitions):
    """Subset size for each share (columns) in each of ten stratified training parts, repeated."""
    found = []
    for repetition in range(repetitions):
        folds = StratifiedKFold(10, shuffle=True, random_state=repetition).split(X, y)
        for fold, (train, _) in enumerate(folds):
            order = np.random.default_rng([repetition, fold]).permutation(len(train))
            row = []
            for share in shares:
                labels = y[train].astype(object)
                labels[order[: round(share * len(train))]] = None
                row.append(len(FuzzyRoughSearch(target="classes").fit(X[train], labels).dependencies_))
            found.append(row)
    return np.array(found)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("name", list(PRINTED))
def test_small_datasets(name, load_table):
    """The paper's own number of repetitions; with two, single cells of ours move by 0.3 and more."""
    X, y = load_table(name)
    ours = sizes(X.to_numpy(dtype=float), y.to_numpy(), MISSING, repetitions=5).mean(axis=0)
    np.testing.assert_allclose(ours, PRINTED[name], atol=0.3)


def test_vehicle_with_all_labels(load_table):
    X, y = load_table("vehicle")
    ours = sizes(X.to_numpy(dtype=float), y.to_numpy(), (0.0,), repetitions=1).mean()
    assert ours == pytest.approx(8.42, abs=0.3)


def test_segment_keeps_all_but_two_features(load_table):
    """16 of 18 on every training part, says the table; on the whole dataset too."""
    X, y = load_table("segment")
    X = X.drop(columns="region_pixel_count")  # constant: the paper counts 18 features
    assert len(FuzzyRoughSearch().fit(X, y).dependencies_) == 16
