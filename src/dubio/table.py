"""The table of features: turned once into a float matrix, with errors that name the column."""

from __future__ import annotations

from collections import Counter
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_array

#: Values from here on cannot be squared and summed in floating point.
LARGEST = 1e150
#: float64 or float32, dense or CSR: what every method computes on.
Matrix = Any

_REMEDIES = {
    "NaN": "Fill these values, with sklearn.impute.SimpleImputer say, or drop them; FeatureSelector fills them itself, "
    "with the median of their column.",
    "infinity": "Impute or drop these values first.",
}

#: Share of a sum of squares left after a subtraction below which too many digits are lost with the rest.
CANCELLED = 1e-4


def column_names(X: Any, *, name: str = "X") -> list[Any] | None:
    """Names of the columns of a data frame (pandas, polars, ...), or None for anything else; an error for twins."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return None
    names = list(columns)
    if len(set(names)) < len(names):
        twins = [f"{column!r} ({count} columns)" for column, count in Counter(names).items() if count > 1]
        shown = ", ".join(twins[:8]) + (f" and {len(twins) - 8} more" if len(twins) > 8 else "")
        raise ValueError(f"{name} has more than one column of the same name: {shown}. Rename or drop them.")
    return names


def name_column(names: list[Any] | None, index: int) -> str:
    """How an error message calls a column: by its name and position."""
    return f"column {index}" if names is None else f"column {names[index]!r} (position {index})"


def is_dask(X: Any) -> bool:
    """Whether ``X`` is a Dask array, dataframe or series (without importing Dask)."""
    return callable(getattr(X, "__dask_graph__", None))


def read_matrix(
    X: Any,
    *,
    accept_sparse: bool = False,
    allow_nan: bool = False,
    check_values: bool = True,
    name: str = "X",
) -> Matrix:
    """Validate ``X`` and return it as a float matrix, without a copy where it is one already.

    float32 stays float32, anything else becomes float64. Columns that are not numbers are named in the error;
    so are columns with NaN or infinite values, with a count and the first row. ``check_values=False`` leaves
    out the look at every value, for kernels that see a bad value in their own sums (they then call
    :func:`check_finite`).
    """
    if is_dask(X):
        raise ValueError(
            f"{name} is a Dask {type(X).__name__}, and this method needs all rows at once: pass {name}.compute() if it "
            "fits in memory. WeightedLaplacianScore, FisherScore and ConstraintScore take it as it is."
        )
    names = column_names(X)
    _refuse_text_columns(X, names, name)
    matrix = check_array(
        X,
        accept_sparse="csr" if accept_sparse else False,
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        input_name=name,
    )
    if check_values:
        check_finite(matrix, names=names, allow_nan=allow_nan, name=name)
        if not allow_nan:  # methods that take missing values compare values, and square none
            check_squares(matrix, names=names)
    return matrix


def read_mixed_matrix(X: Any, nominal: Any = None, *, name: str = "X") -> tuple[Matrix, NDArray[np.bool_]]:
    """A dense float64 matrix that may hold NaN, and the mask of its nominal columns.

    Nominal are the columns declared so (``nominal``: a mask, positions or names) and, in a data frame, those of
    categories, text or bools. Their categories become whole numbers, in the order of their names; a missing one
    becomes NaN.
    """
    names = column_names(X)
    if names is None:
        matrix = X
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS":
            is_nominal = _declared(nominal, names, X.shape[1])
            matrix = X.astype(object)
            for column in np.flatnonzero(is_nominal):
                matrix[:, column] = _category_codes(X[:, column])
        matrix = read_matrix(matrix, allow_nan=True, name=name).astype(np.float64, copy=False)
        return matrix, _declared(nominal, names, matrix.shape[1])
    is_nominal = _declared(nominal, names, len(names))
    is_nominal |= [_holds_categories(X, j, dtype) for j, dtype in enumerate(X.dtypes)]
    if not is_nominal.any() or X.shape[0] == 0:
        return read_matrix(X, allow_nan=True, name=name).astype(np.float64, copy=False), is_nominal
    matrix = np.empty((len(X), len(names)))
    numeric = np.flatnonzero(~is_nominal)
    if len(numeric):
        matrix[:, numeric] = read_matrix(_safe_indexing(X, numeric, axis=1), check_values=False, name=name)
    for j in np.flatnonzero(is_nominal):
        matrix[:, j] = _category_codes(_column_values(X, int(j)))
    check_finite(matrix, names=names, allow_nan=True, name=name)
    return matrix, is_nominal


def _holds_categories(X: Any, index: int, dtype: Any) -> bool:
    """Whether a column of a data frame is one of categories, text or bools."""
    word = str(dtype).lower()
    if word == "object":  # text in older pandas, but also numbers beside None
        known = [value for value in _column_values(X, index) if not _is_missing(value)]
        return not all(isinstance(v, Number) and not isinstance(v, bool | np.bool_) for v in known)
    return word.startswith(("categor", "enum", "bool", "str", "utf8"))


def _column_values(X: Any, index: int) -> NDArray[Any]:
    return np.asarray(_safe_indexing(X, [index], axis=1).to_numpy(), dtype=object)[:, 0]


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _category_codes(column: NDArray[Any]) -> NDArray[np.float64]:
    """Whole numbers for the categories of one column, NaN where it has none."""
    missing = np.fromiter((_is_missing(value) for value in column), dtype=bool, count=len(column))
    codes = np.full(len(column), np.nan)
    # Text and numbers may stand side by side: categories are told apart by what they print.
    codes[~missing] = np.unique([str(value) for value in column[~missing]], return_inverse=True)[1]
    return codes


def _declared(nominal: Any, names: list[Any] | None, n_features: int) -> NDArray[np.bool_]:
    mask = np.zeros(n_features, dtype=bool)
    if nominal is not None:
        mask[pick_columns(nominal, names, n_features, "nominal")] = True
    return mask


def pick_columns(wanted: Any, names: list[Any] | None, n_features: int, argument: str) -> NDArray[np.int64]:
    """Positions of the columns that ``argument`` names: None for all, a mask, positions or names."""
    if wanted is None:
        return np.arange(n_features)
    columns = np.asarray(wanted)
    if columns.ndim != 1:
        raise ValueError(f"{argument} has {columns.ndim} dimensions: give a list of columns or a mask.")
    if columns.dtype.kind == "b":
        if len(columns) != n_features:
            raise ValueError(f"{argument} is a mask of {len(columns)} columns, and X has {n_features}.")
        return np.flatnonzero(columns)
    if columns.dtype.kind in "iu" or len(columns) == 0:
        outside = [int(j) for j in columns if not 0 <= j < n_features]
        if outside:
            raise ValueError(f"{argument} holds {outside[0]}, and X has the columns 0 to {n_features - 1}.")
        positions = columns.astype(np.int64)
    else:
        unknown = [str(name) for name in columns.tolist() if names is None or name not in names]
        if names is None or unknown:
            why = "X has no column names" if names is None else f"X has no column {unknown[0]!r}"
            raise ValueError(f"{argument} names {len(columns)} column(s), but {why}.")
        positions = np.array([names.index(name) for name in columns.tolist()], dtype=np.int64)
    if len(np.unique(positions)) < len(positions):
        raise ValueError(f"{argument} holds a column more than once.")
    return positions


def check_finite(
    matrix: Matrix, *, names: list[Any] | None = None, allow_nan: bool = False, name: str = "X", first_row: int = 0
) -> None:
    """Raise a ValueError that says where ``matrix`` has its first infinite (or NaN) value.

    ``first_row`` is the number of the first row of ``matrix`` where it is a block of a longer table.
    """
    values = matrix.data if sparse.issparse(matrix) else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one cheap pass; an overflow only costs the slow look below
            return
    for word, test in (("NaN", np.isnan), ("infinity", np.isinf)):
        if word == "NaN" and allow_nan:
            continue
        bad = test(values)
        if not bad.any():
            continue
        if sparse.issparse(matrix):
            coo = matrix.tocoo()
            rows, columns = coo.row[bad], coo.col[bad]
        else:
            rows, columns = np.nonzero(bad)
        column = int(columns.min())
        in_column = np.sort(rows[columns == column])
        others = np.unique(columns)[1:].tolist()
        more = ""
        if others:
            listed = ", ".join(str(j) if names is None else repr(names[j]) for j in others[:8])
            rest = f" and {len(others) - 8} more" if len(others) > 8 else ""
            more = f", and {len(others)} more column(s) have it too: {listed}{rest}"
        raise ValueError(
            f"Input {name} contains {word}: {name_column(names, column)} has it in {len(in_column)} row(s), "
            f"first in row {first_row + in_column[0]}{more}. {_REMEDIES[word]}"
        )


def check_squares(matrix: Matrix, *, names: list[Any] | None = None) -> None:
    """Raise if a value is so large that sums of its square overflow: no method could use its column."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.dtype == np.float32 or values.size == 0:  # squares are summed in float64
        return
    if max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)) < LARGEST:
        return
    large = sparse.csr_array(abs(matrix) >= LARGEST) if sparse.issparse(matrix) else np.abs(matrix) >= LARGEST
    check_overflow(np.where(np.asarray(large.sum(axis=0)).ravel() > 0, np.inf, 0.0), names)


def check_overflow(statistic: NDArray[Any], names: list[Any] | None = None) -> None:
    """Raise if a per-feature statistic of a finite matrix overflowed."""
    finite = np.isfinite(statistic)
    if not finite.all():
        column = int(np.flatnonzero(~finite)[0])
        raise ValueError(
            f"X has values too large to square in {name_column(names, column)}: rescale it (divide it by its "
            "largest absolute value, say)."
        )


def varying_columns(matrix: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.intp]:
    """Positions of the columns that vary among ``rows``, the ones that are learnt from; an error if none does."""
    used = matrix[rows]
    varying = np.flatnonzero((used[:1] != used).any(axis=0))
    if len(varying) == 0:
        raise ValueError(
            f"X has no feature that varies: all {matrix.shape[1]} column(s) are constant among the {len(used)} row(s) "
            "that are learnt from."
        )
    return varying


def standardize(matrix: Matrix) -> Matrix:
    """Centre every column and divide it by its standard deviation; constant columns become zero.

    A sparse matrix is scaled, and centred only where a column is far from zero (:func:`centre_far_columns`):
    differences between rows, all that distances need, are the same.
    """
    if sparse.issparse(matrix):
        matrix = centre_far_columns(matrix)
        scale = np.sqrt(np.maximum(_sparse_spread(matrix)[0], 0.0))
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return matrix @ sparse.diags_array(inverse.astype(matrix.dtype))
    centred = matrix - matrix.mean(axis=0, dtype=np.float64).astype(matrix.dtype)
    scale = np.sqrt(np.einsum("ij,ij->j", centred, centred, dtype=np.float64) / len(centred))
    # Rounding of the mean leaves dust in a constant column: it is no spread.
    constant = (matrix == matrix[:1]).all(axis=0)
    scale[constant | (scale == 0)] = np.inf
    centred /= scale.astype(matrix.dtype)
    return centred


def centre_far_columns(matrix: Matrix) -> Matrix:
    """A CSR matrix whose columns far from zero, compared with their spread, are centred: squares keep their digits.

    A row at zero would itself be spread: such columns hold hardly any, and centred take no more room.
    """
    spread, squares = _sparse_spread(matrix)
    is_far = spread < CANCELLED * squares
    if not is_far.any():
        return matrix
    far, near = np.flatnonzero(is_far), np.flatnonzero(~is_far)
    columns = sparse.csr_array(matrix)
    centred = columns[:, far].toarray().astype(np.float64)
    centred -= centred[0].copy()  # so that a constant column is exactly zero
    centred -= centred.mean(axis=0)
    joined = sparse.hstack([columns[:, near], sparse.csr_array(centred.astype(matrix.dtype))], format="csr")
    return joined[:, np.argsort(np.concatenate([near, far]))]


def _sparse_spread(matrix: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Variance (by subtraction) and mean square of every column, summed in float64."""
    columns = sparse.csr_array(matrix).astype(np.float64)
    mean, squares = columns.mean(axis=0), columns.multiply(columns).mean(axis=0)
    return squares - mean**2, squares


def _refuse_text_columns(X: Any, names: list[Any] | None, name: str) -> None:
    if names is None:
        if isinstance(X, np.ndarray) and X.dtype.kind == "O" and X.ndim == 2:
            bad = [j for j in range(X.shape[1]) if any(isinstance(v, str) for v in X[:, j])]
            if bad:
                _raise_text(name, [f"column {j}" for j in bad])
        return
    dtypes = list(X.dtypes)
    bad = [j for j, dtype in enumerate(dtypes) if not _is_numeric(dtype)]
    if bad:
        _raise_text(name, [f"{names[j]!r} ({dtypes[j]})" for j in bad])


def _raise_text(name: str, columns: list[str]) -> None:
    shown = ", ".join(columns[:8]) + (f" and {len(columns) - 8} more" if len(columns) > 8 else "")
    raise ValueError(
        f"{name} has {len(columns)} column(s) that are not numbers: {shown}. Encode them as numbers or drop them "
        "(could not convert them to float)."
    )


def _is_numeric(dtype: Any) -> bool:
    kind = getattr(dtype, "kind", None)  # NumPy and pandas extension dtypes
    if kind is not None:
        if isinstance(dtype, np.dtype) and kind == "O":
            return False
        return kind in "biuf" and getattr(dtype, "name", "") != "category"
    is_numeric = getattr(dtype, "is_numeric", None)  # polars
    return bool(is_numeric()) or str(dtype) == "Boolean" if callable(is_numeric) else True
