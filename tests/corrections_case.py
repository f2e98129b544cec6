"""The worked case of docs/corrections.md: a table of patients in which a known part of the diagnoses is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def patients(seed: int = 4) -> tuple[pd.DataFrame, pd.Series]:
    """300 patients, 40 of whose diagnoses were mixed up, and the true diagnoses."""
    rng = np.random.default_rng(seed)
    ill = np.arange(300) % 2 == 0
    table = pd.DataFrame(
        {
            "patient": [f"P{i:03d}" for i in range(1, 301)],
            "age": rng.normal(55, 12, 300).round(),
            "pressure": rng.normal(np.where(ill, 150, 128), 13).round(),
            "glucose": rng.normal(np.where(ill, 7.6, 5.8), 1.1).round(1),
            "pulse": rng.normal(np.where(ill, 76, 73), 9).round(),
            "sodium": rng.normal(140, 3, 300).round(),
            "height": rng.normal(171, 9, 300).round(),
        }
    )
    truth = pd.Series(np.where(ill, "ill", "well"), name="diagnosis")
    rows = rng.permutation(300)[:40]
    given = truth.copy()
    given[rows] = np.where(truth[rows] == "ill", "well", "ill")
    return table.assign(diagnosis=given), truth


def write_case(folder: Path) -> Path:
    """Write the table as patients.csv."""
    path = folder / "patients.csv"
    patients()[0].to_csv(path, index=False)
    return path
