"""Tables: how long a file takes to read, compared with pandas, and what the alerts add to a fit.

``DUBIO_BENCH_MB=20`` writes a smaller file than the default of 200 MB.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import measure, show

ME = "benchmarks.bench_tables"
THROUGHOUT = "Windows-1252 throughout"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        read_files(Path(folder), float(os.environ.get("DUBIO_BENCH_MB", "200")))
    alerts_beside_a_fit()


# --- Files ----------------------------------------------------------------------------------------------------------


def write_csv(path: Path, megabytes: float, kind: str) -> None:
    """A table as people have it: numbers, whole numbers, names, dates, blanks."""
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 20_000
    columns: dict[str, Any] = {f"lab {j}": rng.normal(size=n).round(4) for j in range(12)}
    columns |= {f"count {j}": rng.integers(0, 1000, n) for j in range(4)}
    columns["ward"] = rng.choice(["north", "south" if kind != THROUGHOUT else "süd", "east", "west"], n)
    columns["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D")
    columns["name"] = [f"P{i:06}" for i in rng.integers(0, 10**6, n)]
    frame = pd.DataFrame(columns)
    frame.loc[rng.random(n) < 0.05, "lab 0"] = np.nan
    options: dict[str, Any] = {"sep": ";"} if kind == "semicolons" else {}
    block = frame.to_csv(index=False, header=False, **options)
    with open(path, "w", encoding="cp1252" if "Windows" in kind else "utf-8") as file:
        file.write(frame.head(0).to_csv(index=False, **options))
        written = 0.0
        while written < megabytes * 1e6:
            file.write(block)
            written += len(block)
        if kind == "types change at the end":
            last = [*["1.5"] * 16, "north", "2020-01-01", "P000000"]
            file.write(",".join(last) + "\n")
        if kind == "Windows-1252 at the end":
            file.write(block.splitlines()[0].replace("P", "é") + "\n")


def read_with_dubio(path: str) -> Callable[[], int]:
    from dubio_app.files import read_file

    return lambda: len(read_file(path).frame)


def read_with_pandas(path: str, kind: str) -> Callable[[], int]:
    import pandas as pd

    options: dict[str, Any] = {"sep": ";"} if kind == "semicolons" else {}
    if "Windows" in kind:
        options["encoding"] = "cp1252"
    return lambda: len(pd.read_csv(path, **options))


def read_files(folder: Path, megabytes: float) -> None:
    for kind in ("commas", "semicolons", "types change at the end", "Windows-1252 at the end", THROUGHOUT):
        path = folder / "table.csv"
        write_csv(path, megabytes, kind)
        ours = measure(ME, "read_with_dubio", warmup=1, repeat=3, path=str(path))
        theirs = measure(ME, "read_with_pandas", warmup=1, repeat=3, path=str(path), kind=kind)
        assert ours.value == theirs.value
        size = path.stat().st_size / 1e6
        show(
            f"Read a CSV file of {size:.0f} MB: {kind}",
            [("pandas.read_csv", theirs), ("dubio", ours)],
            "pandas.read_csv",
        )


# --- Alerts ---------------------------------------------------------------------------------------------------------


def problem_of(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n_rows)
    X = rng.normal(size=(n_rows, n_features))
    X[:, :5] += 0.5 * y[:, None]
    return X, y


def alerts_alone(n_rows: int, n_features: int) -> Callable[[], int]:
    from dubio.alerts import find_alerts
    from dubio.problem import read_problem

    problem = read_problem(*problem_of(n_rows, n_features))
    return lambda: len(find_alerts(problem))


def whole_fit(n_rows: int, n_features: int) -> Callable[[], None]:
    from dubio import FeatureSelector

    X, y = problem_of(n_rows, n_features)

    def call() -> None:
        FeatureSelector().fit(X, y)

    return call


def alerts_beside_a_fit() -> None:
    for n_rows, n_features in ((300, 20), (5000, 40), (200, 2000), (1_000_000, 20)):
        size = {"n_rows": n_rows, "n_features": n_features}
        alerts = measure(ME, "alerts_alone", warmup=1, repeat=3, **size)
        fit = measure(ME, "whole_fit", warmup=1, repeat=1, **size)
        title = f"Alerts of {n_rows:,} rows and {n_features:,} features"
        show(title, [("FeatureSelector().fit", fit), ("of it, the alerts", alerts)], "FeatureSelector().fit")


if __name__ == "__main__":
    main()
