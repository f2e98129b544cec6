"""The columns in which the classes differ most, for experts on tables with very many columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin


class BestColumns(TransformerMixin, BaseEstimator):
    """Keep the columns with the largest F statistic: the spread between the classes over the spread within them.

    In a pipeline it is fitted on the rows that an expert learns from, so no label of a held-out row plays a part.

    Parameters
    ----------
    n_columns : int
        Number of columns to keep. Of equal columns, those on the left are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.noise.best_columns import BestColumns
    >>> X = np.array([[0.0, 1.0, 5.0], [1.0, 2.0, 5.0], [0.0, 8.0, 5.0], [1.0, 9.0, 5.0]])
    >>> BestColumns(1).fit(X, [0, 0, 1, 1]).columns_
    array([1])
    """

    def __init__(self, n_columns: int = 50) -> None:
        self.n_columns = n_columns

    def fit(self, X: NDArray[Any], y: Any) -> Self:
        """Choose the columns of a table of finite values."""
        codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
        centred = X - X.mean(axis=0)
        of_class = np.eye(len(counts))[codes].T @ centred  # sums over the rows of a class
        between = np.einsum("cj,cj,c->j", of_class, of_class, 1.0 / counts)
        total = np.einsum("ij,ij->j", centred, centred)
        share = np.divide(between, total, out=np.full(X.shape[1], -1.0), where=total > 0)  # grows with F
        self.columns_ = np.sort(np.argsort(-share, kind="stable")[: self.n_columns])
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        """The chosen columns."""
        return X[:, self.columns_]
