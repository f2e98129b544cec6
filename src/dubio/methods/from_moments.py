"""Methods that need only sums over rows, so they can take a table whole, in blocks, or spread over several machines."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from dubio._sklearn import feature_names
from dubio.checks import resolve_count
from dubio.errors import InputError
from dubio.methods.base import Selector
from dubio.methods.scoring import ScoreSelector
from dubio.moments.class_moments import ClassMoments
from dubio.moments.running import Moments, RunningMoments, dask_moments
from dubio.problem import Problem, read_problem
from dubio.ranking import Answer, Ranking, Scored, default_names, rank_scores
from dubio.table.columns import Columns
from dubio.table.matrix import is_dask


class RunningSelector(Selector):
    """A selector whose answer is a function of sums over rows, so ``fit``, ``partial_fit`` and ``merge`` agree.

    A subclass says which sums (``_moments``), and solves in :meth:`_solve_running`. In memory, its ``_solve`` keeps
    the sums as the attribute ``_running``.
    """

    _takes_sparse = True
    _checks_values_itself = True

    #: The kind of the sums.
    _moments: ClassVar[type[Moments]] = ClassMoments
    #: Moments of all rows seen; None if the fit did not use moments.
    _running = None  # type: RunningMoments[Any] | None

    @abstractmethod
    def _solve_running(self, running: RunningMoments[Any], names: NDArray[Any]) -> Answer:
        """Rank the features by the moments; nothing is stored."""

    @abstractmethod
    def _check_wish(self, n_features: int) -> None:
        """Raise if the wanted number of features cannot be had from moments."""

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

        Returns
        -------
        self

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
            self._raise_no_target()
        running = self._running
        problem = read_problem(
            X,
            y,
            target=self._reads if running is None else running.reads or self._reads,
            missing_label=getattr(self, "missing_label", "auto"),
            sample_weight=sample_weight,
            accept_sparse=True,
            check_values=False,
            is_block=True,
        )
        self._require_kind(problem)
        if running is None:
            feature_names(X)  # raises if only some of the names are text
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
        moments = self._moments.of_problem(problem, first_row=0 if running is None else running.n_rows)
        block = RunningMoments.of_block(problem.supervision, moments)
        names = problem.names
        if running is not None:  # the names of the first block
            names = getattr(self, "feature_names_in_", None)
            names = None if names is None else list(names)
            block = running.merge(block)
        return self._fit_running(block, names, problem.n_features)

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
            raise InputError(
                "other", f"is a {type(other).__name__}", f"only another {type(self).__name__} can be merged"
            )
        mine, theirs = self._running, other._running
        if mine is None or theirs is None:
            raise InputError("other", "cannot be merged", "both selectors must have seen rows (fit or partial_fit)")
        names = [getattr(one, "feature_names_in_", None) for one in (self, other)]
        shown = [
            list(default_names(one.n_features_in_) if known is None else known)
            for one, known in zip((self, other), names, strict=True)
        ]
        if shown[0] != shown[1] or (names[0] is None) != (names[1] is None):
            raise InputError(
                "other",
                f"has different features: {_some(shown[1])}; this selector has {_some(shown[0])}",
                "merge selectors of the same table",
            )
        return self._fit_running(mine.merge(theirs), None if names[0] is None else list(names[0]), self.n_features_in_)

    def fit_moments(self, running: RunningMoments[Any], names: list[Any] | None, n_features: int) -> Self:
        """Fit on the moments of a whole table, which may come from a stream or a cluster.

        Parameters
        ----------
        running : RunningMoments
            Moments of all rows.
        names : list or None
            Names of the columns.
        n_features : int

        Returns
        -------
        self
        """
        self._check_parameters()
        self._require_running(running)
        return self._fit_running(running, names, n_features)

    def _fit(self, X: Any, y: Any, **more: Any) -> Self:
        weights = more.pop("sample_weight", None)
        if is_dask(X) and not any(value is not None for value in more.values()):
            self._check_parameters()  # before all blocks are summed
            columns = getattr(X, "columns", None)
            names = None if columns is None else list(columns)
            options = {"target": self._reads, "missing_label": getattr(self, "missing_label", "auto")}
            running = dask_moments(X, y, weights, kind=self._moments, **options)
            return self.fit_moments(running, names, int(X.shape[1]) if names is None else len(names))
        return super()._fit(X, y, sample_weight=weights, **more)

    def _is_ready(self, running: RunningMoments[Any]) -> bool:
        """Whether there is enough to rank the features yet."""
        return running.has_two_classes

    def _require_running(self, running: RunningMoments[Any]) -> None:
        """Raise unless the moments of the whole table are enough."""
        running.require_two_classes()

    def _require_kind(self, problem: Problem) -> None:
        """Raise unless a block holds a kind of labels that the method takes."""
        known = problem.supervision
        if known.kind not in self._takes:
            raise InputError("y", f"cannot be used: {known.given}, and {type(self).__name__} needs one label per row")

    def _fit_running(self, running: RunningMoments[Any], names: list[Any] | None, n_features: int) -> Self:
        """Rank by the moments so far; nothing can be ranked before a second class appears."""
        self._check_wish(n_features)
        answer = None
        if self._is_ready(running):
            texts = names is not None and all(isinstance(name, str) for name in names)
            answer = self._solve_running(
                running, np.asarray(names, dtype=object) if texts else default_names(n_features)
            )
        self._assign_shape(names, n_features)
        self._running = running
        if running.kind != "numbers":
            self.classes_ = running.classes
        self.n_labelled_ = running.n_labelled
        self.n_unlabelled_ = running.n_rows - running.n_labelled
        if answer is not None:
            self._keep(answer)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ranking_")


class MomentSelector(RunningSelector, ScoreSelector):
    """A selector whose scores are a function of class moments. A subclass implements :meth:`_score_moments`."""

    _scores_are_independent = True

    @abstractmethod
    def _score_moments(self, moments: ClassMoments, columns: Columns | None = None) -> Scored:
        """Scores from the moments of at least two classes; ``columns`` says which columns are one feature."""

    def _score(self, problem: Problem) -> Scored:
        moments = ClassMoments.of_problem(problem)
        scored = self._score_moments(moments, problem.columns)
        # blocks of rows have one column per feature
        running = None if problem.has_wide_features else RunningMoments.of_block(problem.supervision, moments)
        return Scored(scored.scores, scored.columns, {**scored.attributes, "_running": running})

    def _solve_running(self, running: RunningMoments[Any], names: NDArray[Any]) -> Answer:
        count, reason = resolve_count(self.n_features_to_select, len(names))
        scored = self._score_moments(running.moments)
        ranking = rank_scores(scored.scores, lower_is_better=self._lower_is_better)
        direction, support = self._lower_is_better, ranking <= count
        return Answer(
            Ranking(names, scored.scores, direction, ranking, support, type(self).__name__, reason), scored.attributes
        )

    def _check_wish(self, n_features: int) -> None:
        if self.n_features_to_select == "auto":
            raise InputError(
                "n_features_to_select",
                "='auto' shuffles the labels of the whole table, but blocks and Dask tables only keep moments, not "
                "rows",
                "give a count, a share or None",
            )
        resolve_count(self.n_features_to_select, n_features)


def _some(names: list[Any]) -> str:
    return f"{len(names)} ({', '.join(map(str, names[:4]))}{', ...' if len(names) > 4 else ''})"
