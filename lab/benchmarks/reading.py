"""Reading files: the time of dubio beside that of the package that reads the format.

Tables have twenty columns: numbers, decimal numbers, dates, two columns of categories. pandas reads CSV, Parquet and,
with python-calamine, workbooks; pyreadstat reads SPSS. python-calamine alone gives the cells of a workbook, which are
no table yet. Each file is read once before, so that it is in the memory of the system; the fastest of the repetitions
counts, in seconds of processors (several threads add up), which other work on the machine changes little.

Run ``python -m benchmarks.reading [megabytes] [repetitions] [folder]``; files in the folder are kept and used again.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dubio_app.files import read_file

#: Bytes of a row in each format, roughly, and the share of the size that is made: workbooks take long to write.
ROW = {".csv": 150, ".parquet": 90, ".sav": 200, ".xlsx": 110}
SHARE = {".xlsx": 0.04}


def table(n: int, names: bool = True) -> pd.DataFrame:
    """The table of a benchmark."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"x{j}": rng.normal(size=n).round(3) for j in range(12)}
    columns |= {f"k{j}": rng.integers(0, 1000, n) for j in range(5)}
    columns["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    if names:
        columns |= {f"c{j}": np.array(["red", "green", "blue"])[rng.integers(0, 3, n)] for j in range(2)}
    return pd.DataFrame(columns)


def others(path: Path) -> dict[str, Callable[[], Any]]:
    """What reads the file in the packages of its format."""
    import pyreadstat
    import python_calamine

    name = str(path)
    readers: dict[str, dict[str, Callable[[], Any]]] = {
        ".csv": {"pandas": lambda: pd.read_csv(name)},
        ".parquet": {"pandas": lambda: pd.read_parquet(name)},
        ".sav": {"pyreadstat": lambda: pyreadstat.read_sav(name)},
        ".xlsx": {
            "pandas with python-calamine": lambda: pd.read_excel(name, engine="calamine"),
            "python-calamine": lambda: (
                python_calamine.CalamineWorkbook.from_path(name).get_sheet_by_index(0).to_python()
            ),
        },
    }
    return readers[path.suffix]


def write(path: Path, size: float) -> None:
    """A file of about that many bytes."""
    import pyreadstat

    n = int(size * SHARE.get(path.suffix, 1.0) / ROW[path.suffix])
    if path.suffix == ".sav":
        pyreadstat.write_sav(table(n), str(path))
    elif path.suffix == ".xlsx":
        table(n).to_excel(path, index=False)
    elif path.suffix == ".parquet":
        table(n).to_parquet(path, index=False)
    else:
        table(n).to_csv(path, index=False)


def fastest(work: Callable[[], Any], repetitions: int) -> float:
    """Seconds of the fastest repetition."""
    times = []
    for _ in range(repetitions):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def main(megabytes: int = 200, repetitions: int = 3, kept: str = "") -> None:
    """Print one line per format and package."""
    print("| file | MB | package | package, s | dubio, s | ratio | wanted |")
    print("|---|---:|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as new:
        for ending in ROW:
            path = Path(kept or new, f"table{ending}")
            if not path.exists():
                write(path, megabytes * 1e6)
            read_file(str(path))
            ours = fastest(lambda place=path: read_file(str(place)), repetitions)
            size = path.stat().st_size / 1e6
            for package, work in others(path).items():
                work()
                theirs = fastest(work, repetitions)
                facts = f"{theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} | <= 1.20"
                print(f"| {ending} | {size:.0f} | {package} | {facts} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
