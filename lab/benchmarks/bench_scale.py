"""Large tables: streams, Dask, anchors, sparse tables, and how time grows with size.

``DUBIO_BENCH_GB=12`` writes a Parquet table of that size to a temporary folder; the default is 1 GB.
``DUBIO_BENCH_QUICK=1`` leaves out the part that takes minutes (anchors on a million rows).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Measurement, measure, show

ME = "benchmarks.bench_scale"


def main() -> None:
    quick = bool(os.environ.get("DUBIO_BENCH_QUICK"))
    stream_a_table(float(os.environ.get("DUBIO_BENCH_GB", "1")))
    search_a_long_table()
    one_and_two_workers()
    sparse_text_table()
    anchor_statistics()
    if not quick:
        anchors_of_a_million_rows()
    growth()


# --- A Parquet table larger than memory ----------------------------------------------------------------------------


def write_parquet(path: Path, gigabytes: float, n_features: int = 100) -> None:
    """A table of float64 features and three classes, uncompressed, in row groups of about 50 MB."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    rows_in_group = 65_536
    pool = rng.normal(size=(n_features, rows_in_group))
    schema = pa.schema([*((f"x{j}", pa.float64()) for j in range(n_features)), ("y", pa.string())])
    names = np.asarray(["ant", "bee", "cat"])
    groups = max(1, round(gigabytes * 1e9 / (8 * n_features * rows_in_group)))
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=["y"]) as writer:
        for _ in range(groups):
            y = rng.integers(0, 3, size=rows_in_group)
            shift = rng.normal(size=n_features)
            columns = [pa.array(pool[j] + shift[j] + (0.01 * j) * y) for j in range(n_features)]
            writer.write_table(pa.Table.from_arrays([*columns, pa.array(names[y])], schema=schema))


def peak_resident_mb() -> float:
    """Largest resident memory of this process so far, including imports.

    ``ru_maxrss`` will not do: it also counts the process that started this one.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def read_alone(path: str) -> Callable[[], Any]:
    """pyarrow reads every column of every row, and nothing is done with them.

    ``pre_buffer`` is off: it would read the whole file into memory, which is slower for a file of this size.
    """
    import pyarrow.parquet as pq

    def call() -> float:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for _ in file.iter_batches(batch_size=65_536):
                pass
        return peak_resident_mb()

    return call


def read_and_rank(path: str, method: str = "weighted_laplacian") -> Callable[[], Any]:
    import pyarrow as pa

    from dubio.streams.stream import rank_stream

    rng = np.random.default_rng(0)
    rank_stream(pa.table({"x": rng.normal(size=99), "y": ["a", "b", "c"] * 33}), target="y", method=method)  # compile

    def call() -> float:
        rank_stream(path, target="y", method=method)
        return peak_resident_mb()

    return call


def stream_a_table(gigabytes: float) -> None:
    with tempfile.TemporaryDirectory(prefix="dubio-bench-") as folder:
        path = Path(folder) / "table.parquet"
        write_parquet(path, gigabytes)
        size = path.stat().st_size
        repeat = 3 if gigabytes <= 2 else 1
        rows = [
            ("pyarrow alone", measure(ME, "read_alone", path=str(path), warmup=0, repeat=repeat)),
            ("dubio, three classes", measure(ME, "read_and_rank", path=str(path), warmup=0, repeat=repeat)),
            (
                "dubio, linear search",
                measure(ME, "read_and_rank", path=str(path), method="linear_search", warmup=0, repeat=repeat),
            ),
            (
                "dubio, auto (a sample, and moments of all rows)",
                measure(ME, "read_and_rank", path=str(path), method="auto", warmup=0, repeat=repeat),
            ),
        ]
        show(f"Rank a Parquet table of {size / 1e9:.1f} GB (100 features)", rows, reference="pyarrow alone")
        alone = rows[0][1]
        for name, ours in rows[1:]:
            print(
                f"\nGB/s: pyarrow alone {size / 1e9 / alone.wall:.2f}, {name} {size / 1e9 / ours.wall:.2f}. It reaches "
                f"{alone.wall / ours.wall:.2f} of the speed of pyarrow alone ({alone.cpu / ours.cpu:.2f} by processor "
                f"time). Largest resident memory of the whole process: {ours.value:.0f} MB.",
                flush=True,
            )


# --- A search from second moments ----------------------------------------------------------------------------------


def _five_classes(n: int, d: int, offset: float) -> Any:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, size=n)
    X = rng.normal(size=(n, d)) + offset
    X[:, :5] += 0.1 * y[:, None]
    return X, y


def products(n: int, d: int, offset: float) -> Callable[[], Any]:
    X, _ = _five_classes(n, d, offset)
    return lambda: float((X.T @ X)[0, 0])


def linear_search(n: int, d: int, offset: float) -> Callable[[], Any]:
    from dubio import LinearSearch

    X, y = _five_classes(n, d, offset)
    return lambda: int(LinearSearch().fit(X, y).n_features_)


def search_a_long_table(n: int = 1_000_000, d: int = 50) -> None:
    for offset in (0.0, 1e9):
        rows = [
            ("NumPy: X.T @ X", measure(ME, "products", n=n, d=d, offset=offset)),
            ("dubio LinearSearch, five classes", measure(ME, "linear_search", n=n, d=d, offset=offset)),
        ]
        show(f"Linear search on {n:,} x {d}, columns around {offset:g}", rows, rows[0][0])


# --- Dask ----------------------------------------------------------------------------------------------------------


def on_workers(n_workers: int, n: int, d: int, chunks: int) -> Callable[[], Any]:
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    from dubio import WeightedLaplacianScore

    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)
    client = Client(cluster)
    state = da.random.default_rng(0)
    X = client.persist(state.normal(size=(n, d), chunks=(n // chunks, d)))
    P = client.persist(
        da.full((n, 3), 1 / 3, chunks=(n // chunks, 3)) + 0.1 * da.linspace(-1, 1, n)[:, None] * [1, 0, -1]
    )
    wait([X, P])
    selector = WeightedLaplacianScore()

    def call() -> None:
        selector.fit(X, P)

    return call


def one_and_two_workers(n: int = 14_000_000, d: int = 100, chunks: int = 56) -> None:
    cases = {
        name: measure(ME, "on_workers", n_workers=w, n=n, d=d, chunks=chunks, repeat=5)
        for w, name in ((1, "1 worker"), (2, "2 workers"))
    }
    show(f"Dask, {n:,} x {d} float64 in the workers' memory", list(cases.items()), reference="1 worker")
    one, two = cases.values()
    print(f"\nTwo workers are {one.wall / two.wall:.2f} times as fast as one.", flush=True)


# --- A sparse table of text ----------------------------------------------------------------------------------------


def _text_table(n: int, d: int, stored: int, popular: bool) -> Any:
    """CSR with ``stored`` values per row; columns are equally likely, or like words (the r-th in proportion to 1/r)."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    if popular:
        columns = np.minimum(np.exp(rng.random(size=(n, stored)) * np.log(d + 1)) - 1, d - 1).astype(np.int32)
    else:
        columns = rng.integers(0, d, size=(n, stored), dtype=np.int32)
    columns.sort(axis=1)
    pointers = np.arange(0, n * stored + 1, stored, dtype=np.int32)
    table = sparse.csr_array((rng.random(n * stored), columns.ravel(), pointers), shape=(n, d))
    table.sum_duplicates()
    return table, rng.dirichlet(np.ones(3), size=n)


def sum_of_data(**size: Any) -> Callable[[], Any]:
    X, _ = _text_table(**size)
    return lambda: float(X.data.sum())


def read_once(**size: Any) -> Callable[[], Any]:
    """One compiled loop that reads each stored value and its column, in the order of storage."""
    import numba

    @numba.njit
    def read(data: Any, indices: Any) -> float:
        total, columns = 0.0, 0
        for e in range(len(data)):
            total += data[e]
            columns += indices[e]
        return total + columns

    X, _ = _text_table(**size)
    return lambda: float(read(X.data, X.indices))


def column_sums(**size: Any) -> Callable[[], Any]:
    X, _ = _text_table(**size)
    return lambda: float(X.sum(axis=0)[0])


def rank_sparse(**size: Any) -> Callable[[], Any]:
    from dubio import weighted_laplacian_score

    X, P = _text_table(**size)
    return lambda: float(weighted_laplacian_score(X, P)[0])


def sparse_text_table(n: int = 1_000_000, d: int = 100_000, stored: int = 100) -> None:
    for popular in (True, False):
        size = {"n": n, "d": d, "stored": stored, "popular": popular}
        rows = [
            ("sum of the data array (NumPy)", measure(ME, "sum_of_data", **size)),
            ("one compiled pass over data and indices", measure(ME, "read_once", **size)),
            ("sums of the columns (SciPy)", measure(ME, "column_sums", **size)),
            ("dubio weighted_laplacian_score", measure(ME, "rank_sparse", **size)),
        ]
        kind = "columns as frequent as words" if popular else "columns equally likely"
        title = f"CSR {n:,} x {d:,}, {stored} stored per row, three soft classes, {kind}"
        show(title, rows, rows[1][0])


# --- Anchors -------------------------------------------------------------------------------------------------------


def _clustered_table(n: int, d: int = 6) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    centres = rng.normal(scale=3, size=(12, d // 2))
    X[:, : d // 2] += centres[rng.integers(0, 12, size=n)] * np.linspace(1, 0.3, d // 2)
    return X


def anchor_spread(n: int, m: int, seeds: int) -> Callable[[], Any]:
    from dubio import LaplacianScore

    X = _clustered_table(n)
    exact = LaplacianScore(t="mean").fit(X).scores_

    def call() -> list[list[float]]:
        ratios = []
        for seed in range(seeds):
            found = LaplacianScore(t="mean", neighbors="anchors", n_anchors=m, random_state=seed).fit(X)
            ratios.append((found.scores_ - exact) / found.scores_std_error_)
        return [np.std(ratios, axis=0).tolist(), np.mean(ratios, axis=0).tolist()]

    return call


def anchor_statistics(n: int = 20_000, m: int = 500, seeds: int = 200) -> None:
    spread, mean = measure(ME, "anchor_spread", n=n, m=m, seeds=seeds, warmup=0, repeat=1).value
    print(f"\n## Anchors: {m} of {n:,} rows, {seeds} seeds\n")
    print("| feature | sd of error / standard error | mean |\n|---|---:|---:|")
    for j, (s, b) in enumerate(zip(spread, mean, strict=True)):
        print(f"| x{j} | {s:.2f} | {b:+.2f} |", flush=True)


def laplacian(n: int, neighbors: str, m: int = 2000) -> Callable[[], Any]:
    from dubio import LaplacianScore

    X = _clustered_table(n)
    selector = LaplacianScore(t="mean", neighbors=neighbors, n_anchors=m, random_state=0, n_jobs=2)  # type: ignore[arg-type]

    def call() -> list[list[float]]:
        selector.fit(X)
        return [selector.scores_.tolist(), getattr(selector, "scores_std_error_", selector.scores_ * 0).tolist()]

    return call


def anchors_of_a_million_rows(n: int = 1_000_000) -> None:
    rows = [
        (name, measure(ME, "laplacian", n=n, neighbors=name, warmup=0, repeat=1))
        for name in ("exact", "approximate", "anchors")
    ]
    show(f"Laplacian score of {n:,} x 6, three ways (2,000 anchors)", rows, "exact")
    exact, estimate, error = np.asarray(rows[0][1].value[0]), *np.asarray(rows[2][1].value)
    print("\n| feature | exact | approximate | anchors | standard error |\n|---|---:|---:|---:|---:|")
    for j in np.argsort(exact):
        print(f"| x{j} | {exact[j]:.5f} | {rows[1][1].value[0][j]:.5f} | {estimate[j]:.5f} | {error[j]:.5f} |")
    kept = wrong = 0
    for a in range(len(exact)):
        for b in range(a):
            if abs(estimate[a] - estimate[b]) > 3 * np.hypot(error[a], error[b]):
                kept += 1
                wrong += int((estimate[a] < estimate[b]) != (exact[a] < exact[b]))
    print(f"\nPairs of features more than three standard errors apart: {kept}; of these in the wrong order: {wrong}.")


# --- Growth --------------------------------------------------------------------------------------------------------


def weighted(n: int, d: int) -> Callable[[], Any]:
    from dubio import weighted_laplacian_score

    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(n, d)), rng.dirichlet(np.ones(3), size=n)
    return lambda: float(weighted_laplacian_score(X, P)[0])


def fisher(n: int, d: int) -> Callable[[], Any]:
    from dubio import fisher_score

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), rng.integers(0, 3, size=n)
    return lambda: float(fisher_score(X, y)[0])


def anchored(n: int, d: int) -> Callable[[], Any]:
    from dubio import laplacian_score

    X = np.random.default_rng(0).normal(size=(n, d))
    return lambda: float(laplacian_score(X, t="mean", neighbors="anchors", n_anchors=200, random_state=0)[0])


def exponent(case: str, grows: str, sizes: list[int], fixed: dict[str, int]) -> tuple[float, list[Measurement]]:
    """Slope of log(processor time) over log(size): 1 means proportional."""
    found = [measure(ME, case, **{grows: size}, **fixed, environment={"NUMBA_NUM_THREADS": "1"}) for size in sizes]
    return float(np.polyfit(np.log(sizes), np.log([m.cpu for m in found]), 1)[0]), found


def growth() -> None:
    print("\n## Growth: time is proportional to size ** exponent\n\n| case | in | sizes | exponent | seconds |")
    print("|---|---|---|---:|---:|")
    cases = [
        ("weighted", "n", [50_000, 100_000, 200_000, 400_000], {"d": 50}),
        ("weighted", "d", [50, 100, 200, 400], {"n": 50_000}),
        ("fisher", "n", [50_000, 100_000, 200_000, 400_000], {"d": 50}),
        ("fisher", "d", [50, 100, 200, 400], {"n": 50_000}),
        ("anchored", "n", [10_000, 20_000, 40_000, 80_000], {"d": 20}),
        ("anchored", "d", [20, 40, 80, 160], {"n": 10_000}),
    ]
    for case, grows, sizes, fixed in cases:
        power, found = exponent(case, grows, sizes, fixed)
        seconds = " ".join(f"{m.cpu:.3f}" for m in found)
        print(f"| {case} | {grows} | {' '.join(map(str, sizes))} | {power:.2f} | {seconds} |", flush=True)


if __name__ == "__main__":
    began = time.perf_counter()
    main()
    print(f"\n{time.perf_counter() - began:.0f} s")
