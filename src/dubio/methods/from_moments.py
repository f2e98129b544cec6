"""Methods that need only sums over rows, so they can take a table whole, in blocks, or spread over several machines."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from dubio.errors import InputError, listed
from dubio.methods.base import Selector, Wished
from dubio.moments.class_moments import ClassMoments
from dubio.moments.running import Moments, RunningMoments, dask_moments
from dubio.problem import read_problem
from dubio.ranking import Answer, default_names
from dubio.table.matrix import refuse_mixed_names
from dubio.target.knowledge import nothing


class RunningSelector(Selector):
    """A selector whose answer is a function of sums over rows, so ``fit``, ``partial_fit`` and ``merge`` agree.

    A subclass says which sums (``_moments``), and solves in :meth:`_solve_running`. In memory, its ``_solve`` keeps
    the sums as the attribute ``_running``.
    """

    _takes_sparse = True
    _checks_values_itself = True

    #: The kind of the sums.
    _moments: ClassVar[type[Moments]] = ClassMoments
    #: Whether "auto" can be decided from the sums alone.
    _finds_count: ClassVar[bool] = False
    #: Moments of all rows seen; None if the fit did not use moments.
    _running = None  # type: RunningMoments[Any] | None

    @abstractmethod
    def _solve_running(self, running: RunningMoments[Any], names: NDArray[Any], wished: Wished) -> Answer:
        """Rank the features by the moments; nothing is stored."""

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a block of rows. The result is the same as if ``fit`` had seen all blocks at once (up to 1e-10).

        A class may first appear in any block. The ranking exists once two classes have appeared. If a block raises an
        error, the selector stays as it was.

        Parameters
        ----------
        X : array-like or CSR matrix (n, d)
        y : array-like (n,) or (n, classes)
            Classes or memberships of these rows. Columns of memberships must mean the same in every block.
        sample_weight : array-like (n,), optional

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from dubio import FisherScore
        >>> X, y = load_iris(return_X_y=True)  # sorted by class: the third one comes last
        >>> blocks = FisherScore()
        >>> for start in range(0, 150, 40):
        ...     blocks = blocks.partial_fit(X[start : start + 40], y[start : start + 40])
        >>> np.allclose(blocks.scores_, FisherScore().fit(X, y).scores_, rtol=1e-10)
        True
        """
        self._check_parameters()
        if y is None:
            nothing(0).require_taken_by((), type(self).__name__, needed=True)
        running = self._running
        reading = self._reading
        if running is not None and running.reads:
            reading["target"] = running.reads
        checks: dict[str, Any] = {"accept_sparse": True, "check_values": False, "is_block": True}
        problem = read_problem(X, y, sample_weight=sample_weight, **reading, **checks)
        target = problem.supervision
        if not target.is_taken_by(self._takes):
            raise InputError("y", f"cannot be used: {target.given}, and {type(self).__name__} needs one label per row")
        if running is None:
            refuse_mixed_names(X)
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
        moments = self._moments.of_problem(problem, first_row=0 if running is None else running.n_rows)
        block = RunningMoments.of_block(target, moments)
        if running is None:
            return self._fit_running(block, problem.names, problem.n_features)
        return self._fit_running(running.merge(block), self._names(), problem.n_features)

    def merge(self, other: Self) -> Self:
        """Add the rows of another selector of the same kind, which was fitted in blocks or at once.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from dubio import FisherScore
        >>> X, y = load_iris(return_X_y=True)
        >>> one, two = FisherScore().partial_fit(X[:60], y[:60]), FisherScore().partial_fit(X[60:], y[60:])
        >>> one.merge(two).scores_.round(2)
        array([ 1.62,  0.67, 16.06, 13.06])
        """
        if type(other) is not type(self):
            remedy = f"only another {type(self).__name__} can be merged"
            raise InputError("other", f"is a {type(other).__name__}", remedy)
        mine, theirs = self._running, other._running
        if mine is None or theirs is None:
            raise InputError("other", "cannot be merged", "both selectors must have seen rows (fit or partial_fit)")
        names = [one._names() or default_names(one.n_features_in_).tolist() for one in (self, other)]
        if names[0] != names[1] or (self._names() is None) != (other._names() is None):
            mine_shown, other_shown = (f"{len(some)} ({listed(some, 4)})" for some in names)
            wrong = f"has different features: {other_shown}; this selector has {mine_shown}"
            raise InputError("other", wrong, "merge selectors of the same table")
        return self._fit_running(mine.merge(theirs), self._names(), self.n_features_in_)

    def fit_moments(self, running: RunningMoments[Any], names: list[Any] | None, n_features: int) -> Self:
        """Fit on the moments of a whole table, which may come from a stream or a cluster."""
        self._check_parameters()
        self._require_running(running)
        return self._fit_running(running, names, n_features)

    def _fit_dask(self, X: Any, y: Any, sample_weight: Any = None, **pairs: Any) -> Self:
        if any(value is not None for value in pairs.values()):  # pairs need all rows at once
            return self._fit_rows(X, y, sample_weight=sample_weight, **pairs)
        self._check_parameters()  # before all blocks are summed
        columns = getattr(X, "columns", None)
        names = None if columns is None else list(columns)
        running = dask_moments(X, y, sample_weight, kind=self._moments, **self._reading)
        return self.fit_moments(running, names, int(X.shape[1]) if names is None else len(names))

    def _is_ready(self, running: RunningMoments[Any]) -> bool:
        """Whether there is enough to rank the features yet."""
        return running.has_two_classes

    def _require_running(self, running: RunningMoments[Any]) -> None:
        """Raise unless the moments of the whole table are enough."""
        running.require_two_classes()

    def _names(self) -> list[Any] | None:
        """The names of the columns in the blocks so far."""
        return list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None

    def _fit_running(self, running: RunningMoments[Any], names: list[Any] | None, n_features: int) -> Self:
        """Rank by the moments so far; nothing can be ranked before a second class appears."""
        wished, answer = self._wished(n_features), None
        if wished[0] is None and not self._finds_count:
            wrong = f"={self.n_features_to_select!r} shuffles the labels of the whole table"
            wrong += ", but blocks and Dask tables only keep moments, not rows"
            raise InputError("n_features_to_select", wrong, "give a count, a share or None")
        if self._is_ready(running):
            texts = names is not None and all(isinstance(name, str) for name in names)
            shown = np.asarray(names, dtype=object) if texts else default_names(n_features)
            answer = self._solve_running(running, shown, wished)
        self._assign_shape(names, n_features)
        self._running = running
        for name, value in running.fitted_attributes.items():
            setattr(self, name, value)
        if answer is not None:
            self._keep(answer, {})
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ranking_")
