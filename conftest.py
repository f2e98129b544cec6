"""Shared fixtures: the real datasets, found through DUBIO_DATA."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")  # charts in examples need no screen

# Compilation makes first examples slow, and results must not depend on the day.
settings.register_profile("dubio", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("dubio")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real datasets."""
    folder = os.environ.get("DUBIO_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the real datasets are not here: set DUBIO_DATA to their folder")
    return Path(folder)


@pytest.fixture(scope="session")
def load_table(data_dir: Path) -> Callable[[str], tuple[Any, Any]]:
    """``load_table(name)`` gives the features (frame) and the target (series) of a real dataset."""
    import pandas as pd

    def load(name: str) -> tuple[Any, Any]:
        path = data_dir / f"{name}.csv.gz"
        if not path.exists():
            pytest.skip(f"dataset {name} is not in DUBIO_DATA")
        table = pd.read_csv(path)
        return table.drop(columns="target"), table["target"]

    return load
