"""Random tables: every type, order, container and pathology."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

Rng = np.random.Generator

#: Names that a page, a terminal, a spreadsheet or a template might obey.
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></svg><b>",
    "{{ 7919 * 7907 }}",
    "{% for x in y %}",
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "-1+1",
    "[red]bold[/red]",
    "a,b",
    'quote"s',
    "two\nlines",
    "tab\tname",
    "\x1b[31mred\x07",
    "\u202eright to left",
    "é" * 40,
    "x" * 300,
    " ",
    "",
    "0",
    "nan",
    "__class__",
    "../../etc/passwd",
    "%s%n",
    "😀",
)


@dataclass(frozen=True)
class Table:
    """A table as a user would hand it over, and the same as plain numbers if they can be compared with the result."""

    X: Any
    values: NDArray[np.float64] | None
    says: str

    @property
    def n_rows(self) -> int:
        return 0 if self.values is None else len(self.values)


def shape(rng: Rng) -> tuple[int, int]:
    """Rows and columns: small, with the smallest ones often."""
    rows = rng.choice([1, 2, 3, 4, 6, 9, 14, 20, 30, 45], p=[0.02, 0.03, 0.03, 0.04, 0.08, 0.1, 0.2, 0.2, 0.2, 0.1])
    return int(rows), int(rng.choice([1, 2, 3, 4, 6], p=[0.1, 0.2, 0.3, 0.25, 0.15]))


def numbers(rng: Rng, n: int, d: int) -> NDArray[np.float64]:
    """Values that every method should be able to use: ties, copies, constants and offsets among them."""
    X = rng.normal(size=(n, d))
    how = rng.random()
    if how < 0.15:
        X = np.round(X * 2)
    elif how < 0.25:
        X = (X > 0).astype(np.float64)
    elif how < 0.3:
        X = rng.pareto(1.0, size=(n, d))
    if rng.random() < 0.15:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, -3.5, 0.1, 1e15, 1e25, 1e-20])
    if d > 1 and rng.random() < 0.1:
        X[:, 0] = X[:, d - 1]
    if n > 2 and rng.random() < 0.15:
        X[rng.integers(n, size=n // 2)] = X[rng.integers(n)]
    if rng.random() < 0.1:
        X[:, rng.integers(d)] += rng.choice([1e3, 1e6, -1e9])
    if rng.random() < 0.1:
        X[:, rng.integers(d)] *= rng.choice([1e-100, 1e-9, 1e9, 1e100])
    return X


def generic(rng: Rng, n: int, d: int) -> NDArray[np.float64]:
    """Values without ties."""
    return rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + rng.normal(size=d)


def names(rng: Rng, d: int) -> list[Any]:
    """Names of columns: plain, hostile, of other types."""
    how = rng.random()
    if how < 0.6:
        return [f"f{j}" for j in range(d)]
    if how < 0.9:
        return [HOSTILE[j] for j in rng.choice(len(HOSTILE), size=d, replace=False)]
    if how < 0.95:
        return list(range(d))
    return [("a", j) if j else "a" for j in range(d)]


def good_table(rng: Rng, *, allow_sparse: bool = False, allow_nan: bool = False) -> Table:
    """A table that a method should take, in one of many containers."""
    n, d = shape(rng)
    X = numbers(rng, n, d)
    holder = str(rng.choice(list(_CONTAINERS), p=_weights(_CONTAINERS)))
    if holder in ("csr", "csc", "coo") and not allow_sparse:
        holder = "array"
    if allow_nan and rng.random() < 0.2 and holder in ("array", "fortran", "frame", "list"):
        X[rng.random(X.shape) < 0.1] = np.nan
    if holder in ("float32", "float16", "int8", "bool"):
        X = np.clip(np.nan_to_num(X), -100, 100)
        X = X.astype(holder).astype(np.float64)
    given = _CONTAINERS[holder](rng, X)
    return Table(given, X, f"{holder} {n}x{d}")


def bad_table(rng: Rng) -> Table:
    """Something that is no table, or a table with values that most methods refuse."""
    n, d = shape(rng)
    X = numbers(rng, n, d)
    kind = str(rng.choice(list(_PATHOLOGIES)))
    given = _PATHOLOGIES[kind](rng, X)
    plain = isinstance(given, np.ndarray) and given.dtype == np.float64 and given.ndim == 2
    return Table(given, given if plain and not np.ma.isMaskedArray(given) else None, f"{kind} {n}x{d}")


def _read_only(rng: Rng, X: NDArray[Any]) -> Any:
    copy = X.copy()
    copy.setflags(write=False)
    return copy


def _strided(rng: Rng, X: NDArray[Any]) -> Any:
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _frame(rng: Rng, X: NDArray[Any]) -> Any:
    frame = pd.DataFrame(X, columns=names(rng, X.shape[1]))
    if rng.random() < 0.3:
        frame.index = pd.Index(rng.permutation(len(frame)) + 100)
    return frame


def _nullable(rng: Rng, X: NDArray[Any]) -> Any:
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).astype("Float64")


def _polars(rng: Rng, X: NDArray[Any]) -> Any:
    import polars

    return polars.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])], orient="row")


def _arrow(rng: Rng, X: NDArray[Any]) -> Any:
    import pyarrow

    return pyarrow.table({f"f{j}": X[:, j] for j in range(X.shape[1])})


_CONTAINERS: dict[str, Callable[[Rng, NDArray[Any]], Any]] = {
    "array": lambda rng, X: X.copy(),
    "fortran": lambda rng, X: np.asfortranarray(X),
    "read-only": _read_only,
    "strided": _strided,
    "backwards": lambda rng, X: X[::-1].copy()[::-1],
    "float32": lambda rng, X: X.astype(np.float32),
    "float16": lambda rng, X: X.astype(np.float16),
    "longdouble": lambda rng, X: X.astype(np.longdouble),
    "int8": lambda rng, X: X.astype(np.int8),
    "bool": lambda rng, X: X.astype(bool),
    "swapped": lambda rng, X: X.astype(">f8"),
    "object": lambda rng, X: X.astype(object),
    "list": lambda rng, X: X.tolist(),
    "frame": _frame,
    "nullable": _nullable,
    "polars": _polars,
    "arrow": _arrow,
    "csr": lambda rng, X: sparse.csr_matrix(X),
    "csc": lambda rng, X: sparse.csc_array(X),
    "coo": lambda rng, X: sparse.coo_array(X),
}


def _weights(containers: dict[str, Any]) -> NDArray[np.float64]:
    """Plain arrays and frames are as frequent as all others together."""
    weights = np.array([8.0 if name == "array" else 6.0 if name == "frame" else 1.0 for name in containers])
    return weights / weights.sum()


def _with(X: NDArray[Any], rng: Rng, value: float) -> Any:
    X = X.copy()
    X[rng.integers(X.shape[0]), rng.integers(X.shape[1])] = value
    return X


def _column(X: NDArray[Any], rng: Rng, factor: float) -> Any:
    X = np.round(X, 3)
    X[:, rng.integers(X.shape[1])] *= factor
    return X


def _missing_column(rng: Rng, X: NDArray[Any]) -> Any:
    X = X.copy()
    X[:, rng.integers(X.shape[1])] = np.nan
    return X


def _text_frame(rng: Rng, X: NDArray[Any]) -> Any:
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    frame["text"] = rng.choice(["a", "b", "=1+1"], size=len(frame))
    frame["when"] = pd.Timestamp("2020-01-01")
    return frame


def _odd_cells(rng: Rng, n: int) -> Any:
    """One column whose cells few people think of."""
    makers: list[Callable[[], Any]] = [
        lambda: pd.array([pd.NA] * n, dtype="Int64"),
        lambda: pd.array(rng.integers(0, 2, n).astype(bool), dtype="boolean"),
        lambda: pd.Categorical(pd.date_range("2020", periods=n).as_unit("ns"), ordered=bool(rng.random() < 0.5)),
        lambda: pd.Categorical(rng.choice(["low", "high"], n), categories=["low", "high", "never"], ordered=True),
        lambda: pd.date_range("2020", periods=n, tz="Europe/Paris"),
        lambda: pd.to_timedelta(np.arange(n), unit="h"),
        lambda: pd.period_range("2020", periods=n, freq="M"),
        lambda: [Decimal("sNaN") if i % 3 == 0 else Decimal(i) for i in range(n)],
        lambda: [Fraction(10**400, 7) if i == 0 else Fraction(i, 7) for i in range(n)],
        lambda: [10**400 + i for i in range(n)],
        lambda: [2**64 + i for i in range(n)],
        lambda: ["9" * 400 + str(i) for i in range(n)],
        lambda: ["<" + " " * 500 + "x" for _ in range(n)],
        lambda: ["short"] * (n - 1) + ["long" * 5000],
        lambda: ["a\0", "a"] * (n // 2) + ["b"] * (n % 2),
        lambda: [np.timedelta64(i, "D") for i in range(n)],
        lambda: rng.normal(size=n).astype(np.longdouble) * np.longdouble("1e400"),
        lambda: [f"{i},5 mg" for i in range(n)],
        lambda: [[i] for i in range(n)],
        lambda: [b"\xff", b"a"] * (n // 2) + [b"b"] * (n % 2),
    ]
    return makers[int(rng.integers(len(makers)))]()


def _odd_column(rng: Rng, X: NDArray[Any]) -> Any:
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    cells = _odd_cells(rng, len(X))
    # As objects where they are a list: old versions of pandas cannot guess a type for whole numbers that are too long.
    frame["odd"] = pd.Series(cells, dtype=object) if isinstance(cells, list) else cells
    return frame


def _arrow_dates(rng: Rng, X: NDArray[Any]) -> Any:
    import pyarrow

    days = pyarrow.array([None, *range(len(X) - 1)], type=pyarrow.date32())
    columns = [pyarrow.array(X[:, 0]), days]
    return pyarrow.table(columns, names=["a", "a" if rng.random() < 0.3 else "day"])


def _twins(rng: Rng, X: NDArray[Any]) -> Any:
    return pd.DataFrame(X, columns=["same"] * X.shape[1])


def _mixed_names(rng: Rng, X: NDArray[Any]) -> Any:
    return pd.DataFrame(X, columns=[j if j else "a" for j in range(X.shape[1])])


_PATHOLOGIES: dict[str, Callable[[Rng, NDArray[Any]], Any]] = {
    "nan": lambda rng, X: _with(X, rng, np.nan),
    "inf": lambda rng, X: _with(X, rng, -np.inf),
    "huge cell": lambda rng, X: _with(X, rng, rng.choice([1e151, 1e300, -1.7e308])),
    "huge column": lambda rng, X: _column(X, rng, 1e160),
    "tiny column": lambda rng, X: _column(X, rng, 1e-300),
    "denormal": lambda rng, X: _column(X, rng, 1e-320),
    "small": lambda rng, X: X * 1e-140,
    "missing column": _missing_column,
    "all missing": lambda rng, X: np.full_like(X, np.nan),
    "all constant": lambda rng, X: np.ones_like(X),
    "no rows": lambda rng, X: X[:0],
    "no columns": lambda rng, X: X[:, :0],
    "nothing": lambda rng, X: np.empty((0, 0)),
    "none": lambda rng, X: None,
    "one dimension": lambda rng, X: X[:, 0],
    "three dimensions": lambda rng, X: X[:, :, None],
    "scalar": lambda rng, X: 3.0,
    "text": lambda rng, X: "table",
    "text array": lambda rng, X: X.astype(str),
    "words": lambda rng, X: np.full(X.shape, "word", dtype=object),
    "ragged": lambda rng, X: [[1.0], [1.0, 2.0]],
    "objects": lambda rng, X: np.full(X.shape, object(), dtype=object),
    "dicts": lambda rng, X: [{"a": 1.0}] * len(X),
    "complex": lambda rng, X: X * 1j,
    "dates": lambda rng, X: np.zeros(X.shape, dtype="datetime64[s]"),
    "spans": lambda rng, X: np.zeros(X.shape, dtype="timedelta64[s]"),
    "masked": lambda rng, X: np.ma.masked_array(X, mask=X > 0.5),
    "series": lambda rng, X: pd.Series(X[:, 0]),
    "text frame": _text_frame,
    "odd column": _odd_column,
    "odd column again": _odd_column,
    "arrow with dates": _arrow_dates,
    "levels of names": lambda rng, X: pd.DataFrame(
        X, columns=pd.MultiIndex.from_tuples([("a", j) for j in range(X.shape[1])])
    ),
    "twin names": _twins,
    "mixed names": _mixed_names,
    "sparse nan": lambda rng, X: sparse.csr_matrix(_with(X, rng, np.nan)),
    "generator": lambda rng, X: (row for row in X),
    "set": lambda rng, X: {1.0, 2.0},
    "bytes": lambda rng, X: b"abc",
}
