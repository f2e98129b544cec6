"""Put columns on a common scale: standardise them, centre those far from zero, fill missing cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.errors import InputError, counted, listed, quoted
from dubio.table.matrix import CANCELLED, Columns, Matrix, feature_sums


def varying_columns(matrix: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.intp]:
    """Positions of the columns that vary among ``rows`` (the rows to learn from); raises if none varies."""
    used = matrix[rows]
    varying = np.flatnonzero((used[:1] != used).any(axis=0))
    if len(varying) == 0:
        raise nothing_varies(matrix.shape[1], len(used))
    return varying


#: The code of the error of a table in which nothing varies.
NOTHING_VARIES = "nothing varies"


def nothing_varies(n_columns: int, n_rows: int) -> InputError:
    """The error of a table whose columns are all constant."""
    which = "its only column is" if n_columns == 1 else f"all of its {n_columns} columns are"
    found = f"has no feature that varies: {which} constant among the {counted(n_rows, 'row')} to learn from"
    return InputError("X", found, code=NOTHING_VARIES)


def nothing_is_left(names: NDArray[Any], left_out: Mapping[str, str]) -> InputError:
    """The same error, if it is known which features were ``left_out`` and why.

    >>> import numpy as np
    >>> from dubio.table.scaling import nothing_is_left
    >>> print(nothing_is_left(np.array(["note"]), {"note": "text that could not be used"}))
    X has no feature that varies: left out was 'note' (text that could not be used): give columns that vary.
    """
    were = "was" if len(left_out) == 1 else "were"
    found = f"has no feature that varies: left out {were} "
    found += listed(f"{quoted(name)} ({why})" for name, why in left_out.items())
    others = int((~np.isin(names.astype(str), list(left_out))).sum())
    if others:
        which = "the other column is" if others == 1 else f"the other {others} columns are"
        found += f", and {which} constant among the rows to learn from"
    return InputError("X", found, "give columns that vary", code=NOTHING_VARIES)


def standardize(matrix: Matrix, columns: Columns | None = None) -> Matrix:
    """Centre every column and divide it by its standard deviation; constant columns become zero.

    If a feature has several columns, all of them are divided by the root of the sum of their variances: every feature
    has the same weight in distances, however many columns it has. So two rows of different categories are as far apart
    as two rows whose numbers differ by about one and a half standard deviations.

    A sparse matrix is scaled, but only its columns far from zero are centred (:func:`centre_far_columns`). Distances
    need only differences between rows, and these are the same.
    """
    if sparse.issparse(matrix):
        matrix = centre_far_columns(matrix)
        scale = np.sqrt(np.maximum(_sparse_spread(matrix)[0], 0.0))
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return matrix @ sparse.diags_array(inverse.astype(matrix.dtype))
    centred = matrix - matrix.mean(axis=0, dtype=np.float64).astype(matrix.dtype)
    scale = np.sqrt(np.einsum("ij,ij->j", centred, centred, dtype=np.float64) / len(centred))
    # The rounded mean leaves tiny differences in a constant column; they are not a real spread.
    constant = (matrix == matrix[:1]).all(axis=0)
    if columns is not None and not columns.is_plain:
        scale[constant] = 0.0
        scale = np.sqrt(feature_sums(scale**2, columns))[columns.feature_of]
        centred[:, constant] = 0.0
        constant[:] = False
    scale[constant | (scale == 0)] = np.inf
    centred /= scale.astype(matrix.dtype)
    return centred


def centre_far_columns(matrix: Matrix) -> Matrix:
    """Centre the columns of a CSR matrix that lie far from zero, compared with their spread, so that squares keep
    their digits.

    Such columns hold hardly any zeros, because a zero would add to the spread. So centring them needs little memory.
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
    """Variance (as a difference) and mean square of every column, summed in float64."""
    columns = sparse.csr_array(matrix).astype(np.float64)
    mean, squares = columns.mean(axis=0), columns.multiply(columns).mean(axis=0)
    return squares - mean**2, squares


def fill_missing(X: Matrix, columns: Columns | None = None) -> Matrix:
    """The table with missing cells filled by the median of their column; a column without any value becomes zero.

    Missing cells of a column of categories (several columns of 0 and 1) get the most frequent one.

    >>> import numpy as np
    >>> from dubio.table.scaling import fill_missing
    >>> fill_missing(np.array([[1.0], [3.0], [np.nan]]))
    array([[1.],
           [3.],
           [2.]])
    """
    if sparse.issparse(X):
        raise InputError("X", "is sparse and has missing values", "fill them, or pass a dense table")
    from sklearn.impute import SimpleImputer  # which takes as long to import as a small table takes to rank

    filled = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(X)
    if columns is not None:
        for start, stop in columns.level_blocks():
            missing = np.isnan(X[:, start])
            if missing.any() and not missing.all():
                often = np.argmax(X[~missing, start:stop].sum(axis=0))
                filled[missing, start:stop] = (np.arange(stop - start) == often) * np.nanmax(X[:, start:stop])
    return np.ascontiguousarray(filled)  # rows in memory order, whatever order the table came in
