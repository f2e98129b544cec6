"""Folds for cross-validation with a target in doubt: rows without a label only ever train, groups stay whole."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from dubio._sklearn import Interval, check_parameters
from dubio.checks import seed_of
from dubio.errors import InputError
from dubio.table.groups import read_groups
from dubio.target.classes import Memberships
from dubio.target.numbers import Numbers
from dubio.target.reader import Target, read_supervision


class KnownFolds(BaseCrossValidator):
    """Split the labelled rows into folds; rows without a label are in every training set and in no test set.

    Folds of classes keep the share of each class (of probabilities, that of the likeliest class). With ``groups``, all
    rows of a group are on the same side, and unlabelled rows of a tested group are left out. With scikit-learn's
    metadata routing, groups that are passed on reach the folds too.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    target : {"auto", "classes", "numbers"}
        What a 1-D y holds.
    missing_label : "auto", None or a value
        The label that means "unlabelled", besides None and NaN.
    random_state : int or None, default=0
        Seed of the division into folds.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.pipelines.known_folds import KnownFolds
    >>> y = np.array(["a", "b", None, "a", "b", None], dtype=object)
    >>> for train, test in KnownFolds(2).split(np.zeros((6, 1)), y):
    ...     print(train, test)
    [0 2 4 5] [1 3]
    [1 2 3 5] [0 4]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}  # scikit-learn's name for it

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_splits": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self, n_splits: int = 5, *, target: Target = "auto", missing_label: Any = "auto", random_state: Any = 0
    ) -> None:
        self.n_splits = n_splits
        self.target = target
        self.missing_label = missing_label
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits.

        Parameters
        ----------
        X, y, groups
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Give the rows to train on and the rows to test on, fold by fold.

        Parameters
        ----------
        X : table (n_rows, n_features)
            Only its length is used.
        y : array-like
            What is known of the target.
        groups : array-like (n_rows,), optional
            Rows of one group stay together.

        Yields
        ------
        train, test : array of int
        """
        check_parameters(self._parameter_constraints, vars(self))
        if y is None:
            raise InputError("y", "is None", "folds of known rows need the target")
        supervision = read_supervision(y, len(y), target=self.target, missing_label=self.missing_label).certain()
        labelled = np.flatnonzero(supervision.labelled)
        group_of = read_groups(groups, supervision.n_rows)
        strata = None
        if not isinstance(supervision, Numbers):
            known = supervision.likeliest() if isinstance(supervision, Memberships) else supervision
            strata = known.strata[labelled]
        self._require_enough(labelled, strata, None if group_of is None else group_of[labelled])
        seed = seed_of(self.random_state)
        others = np.flatnonzero(~supervision.labelled)
        for training, tested in self._folds(labelled, strata, group_of, seed):
            extra = others
            if group_of is not None:
                extra = others[~np.isin(group_of[others], group_of[labelled[tested]])]
            yield np.sort(np.append(labelled[training], extra)), labelled[tested]

    def _folds(
        self,
        labelled: NDArray[np.int64],
        strata: NDArray[np.int64] | None,
        group_of: NDArray[np.int64] | None,
        seed: int,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        options: dict[str, Any] = {"n_splits": self.n_splits, "shuffle": True, "random_state": seed}
        if group_of is None:
            maker = KFold if strata is None else StratifiedKFold
            yield from maker(**options).split(labelled, strata)
        elif strata is None:  # GroupKFold shuffles only from scikit-learn 1.6 on, which is the least we need
            yield from GroupKFold(**options).split(labelled, groups=group_of[labelled])
        else:
            yield from StratifiedGroupKFold(**options).split(labelled, strata, group_of[labelled])

    def _require_enough(
        self, labelled: NDArray[np.int64], strata: NDArray[np.int64] | None, groups: NDArray[np.int64] | None
    ) -> None:
        if len(labelled) < self.n_splits:
            raise InputError("n_splits", f"={self.n_splits}, but only {len(labelled)} rows have a label", "use fewer")
        if groups is not None and len(np.unique(groups)) < self.n_splits:
            found = len(np.unique(groups))
            raise InputError("n_splits", f"={self.n_splits}, but only {found} groups have a label", "use fewer")
        if strata is not None and np.unique(strata, return_counts=True)[1].max() < self.n_splits:
            raise InputError("n_splits", f"={self.n_splits}, but every class has fewer labelled rows", "use fewer")
