"""Tables that hold both categories and numbers, and cells without a value."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio._sklearn import safe_indexing
from dubio.tables.columns import column_names, name_column, pick_columns
from dubio.tables.matrix import Matrix, check_finite, in_memory, read_matrix
from dubio.tables.pieces import column_values, refuse_odd_cells
from dubio.tables.values import distinct_texts, is_missing


def read_mixed_matrix(X: Any, nominal: Any = None, *, name: str = "X") -> tuple[Matrix, NDArray[np.bool_]]:
    """A dense float64 matrix that may hold NaN, and the mask of its nominal columns.

    A column is nominal if ``nominal`` (a mask, positions or names) declares it, or if it holds categories, text or
    bools in a data frame. Its categories become whole numbers, in the order of their names; a missing one becomes NaN.
    """
    X = in_memory(X, name)
    names = column_names(X)
    if names is None:
        matrix = X
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS":
            is_nominal = _declared(nominal, names, X.shape[1])
            matrix = X.astype(object)
            for column in np.flatnonzero(is_nominal):
                matrix[:, column] = _category_codes(X[:, column], name_column(names, int(column)), name)
        matrix = read_matrix(matrix, allow_nan=True, name=name).astype(np.float64, copy=False)
        return matrix, _declared(nominal, names, matrix.shape[1])
    is_nominal = _declared(nominal, names, len(names))
    is_nominal |= np.array([_holds_categories(X, j, dtype) for j, dtype in enumerate(X.dtypes)], dtype=bool)
    if not is_nominal.any() or X.shape[0] == 0:
        return read_matrix(X, allow_nan=True, name=name).astype(np.float64, copy=False), is_nominal
    matrix = np.empty((len(X), len(names)))
    numeric = np.flatnonzero(~is_nominal)
    if len(numeric):
        matrix[:, numeric] = read_matrix(safe_indexing(X, numeric, axis=1), check_values=False, name=name)
    for j in np.flatnonzero(is_nominal):
        matrix[:, j] = _category_codes(column_values(X, int(j)), name_column(names, int(j)), name)
    check_finite(matrix, names=names, allow_nan=True, name=name)
    return matrix, is_nominal


def _holds_categories(X: Any, index: int, dtype: Any) -> bool:
    """Whether a column of a data frame holds categories, text or bools."""
    word = str(dtype).lower()
    if word == "object":  # text in older pandas, but also numbers mixed with None
        known = [value for value in column_values(X, index) if not is_missing(value)]
        return not all(isinstance(v, Number) and not isinstance(v, bool | np.bool_) for v in known)
    return word.startswith(("categor", "enum", "bool", "str", "utf8"))


def _category_codes(column: NDArray[Any], called: str, name: str) -> NDArray[np.float64]:
    """Whole numbers for the categories of one column; NaN for a cell without a value."""
    missing = np.fromiter((is_missing(value) for value in column), dtype=bool, count=len(column))
    refuse_odd_cells(column, missing, called, name)
    codes = np.full(len(column), np.nan)
    # A column may mix text and numbers: values that print alike are the same category.
    codes[~missing] = distinct_texts([str(value) for value in column[~missing]])[1]
    return codes


def _declared(nominal: Any, names: list[Any] | None, n_features: int) -> NDArray[np.bool_]:
    mask = np.zeros(n_features, dtype=bool)
    if nominal is not None:
        mask[pick_columns(nominal, names, n_features, "nominal")] = True
    return mask
