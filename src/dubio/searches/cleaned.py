"""Any selector, fitted on labels after an audit."""

from __future__ import annotations

from dataclasses import field, replace
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone

from dubio.checks import HasMethods, Interval, StrOptions
from dubio.doubt.audit import Engine
from dubio.doubt.belief import CleanedLabels, clean_labels
from dubio.doubt.experts import ExpertOptions
from dubio.errors import InputError
from dubio.methods.base import Selector
from dubio.methods.parameters import estimator
from dubio.problem import Problem
from dubio.ranking import Answer, Ranking
from dubio.target.classes import Memberships
from dubio.target.knowledge import Supervision


@estimator
class CleanedSelector(MetaEstimatorMixin, Selector):
    """Fit a selector of dubio or scikit-learn without the labels that an audit doubts.

    Rows are left out only during the selection: ``transform`` returns every row of the table it is given.

    Parameters
    ----------
    selector : estimator with ``fit`` and ``get_support``
        The selector to use; it is cloned.
    clean : {"confident", "pooled", "lnt"}, default="confident"
        Engine of the audit; see :func:`dubio.audit_labels`.
    doubtful : {"drop", "soften"}, default="drop"
        ``"drop"`` removes doubtful labels. A selector of dubio that takes missing labels still uses such a row without
        its label; any other selector does not use the row. ``"soften"`` passes the engine's class probabilities of
        every labelled row to the selector, which must take soft labels.
    random_state : int or None, default=0
        Seed of the audit.

    Attributes
    ----------
    selector_ : estimator
        The fitted clone.
    audit_ : LabelAudit or None
        The result of the audit of the labels.
    trusted_ : array (n_rows,) of bool
        The rows whose label was kept.
    support_, ranking_, n_features_
        Those of ``selector_``. If it has no ``ranking_``, the features it keeps have rank 1 and the others rank 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from dubio import CleanedSelector
    >>> from dubio.simulate import flip_labels
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = CleanedSelector(SelectKBest(k=2)).fit(X, flip_labels(y, 0.2, random_state=0))
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _takes = ("hard",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [HasMethods(["fit", "get_support"])],
        "clean": [StrOptions({"confident", "pooled", "lnt"})],
        "doubtful": [StrOptions({"drop", "soften"})],
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both"), None],
    }

    selector: Any = field(kw_only=False)
    clean: Engine = "confident"
    doubtful: Literal["drop", "soften"] = "drop"
    experts: Any = None
    n_folds: int = 5
    missing_label: Any = "auto"
    random_state: int | None = 0
    n_jobs: int | None = None

    def _solve(self, problem: Problem) -> Answer:
        if self.doubtful == "soften" and "soft" not in getattr(self.selector, "_takes", ()):
            wrong = (
                f"='soften' passes class probabilities on, but {type(self.selector).__name__} needs one label per row"
            )
            raise InputError("doubtful", wrong, "use doubtful='drop', or a selector that takes soft labels")
        options = ExpertOptions(self.experts, self.n_folds, self.random_state, self.n_jobs)
        cleaned = clean_labels(problem, self.clean, **options.for_audit)
        fitted = self._fitted(problem, cleaned)
        if isinstance(fitted, Selector):
            ranking = fitted.to_ranking()
        else:
            support = np.asarray(fitted.get_support(), dtype=bool)
            ranks = np.asarray(getattr(fitted, "ranking_", np.where(support, 1, 2)))
            ranking = Ranking(problem.feature_names, ranks.astype(np.float64), True, ranks, support)
        reason = f"chosen by {type(fitted).__name__}, from the labels that the audit trusts"
        attributes = {"selector_": fitted, "audit_": cleaned.audit, "trusted_": cleaned.trusted}
        return Answer(replace(ranking, method=type(self).__name__, reason=reason), attributes)

    def _fitted(self, problem: Problem, cleaned: CleanedLabels) -> Any:
        """A clone of the selector, fitted on the labels that can be trusted."""
        target, fresh = problem.supervision, clone(self.selector)
        if not isinstance(fresh, Selector):
            rows = np.flatnonzero(cleaned.trusted)
            return fresh.fit(problem.X[rows], target.classes[target.codes[rows]])
        if self.doubtful == "soften":
            memberships = np.where(target.labelled[:, None], cleaned.memberships, 0.0)
            trusted: Supervision = target.as_kind(Memberships, memberships=memberships)
        else:
            trusted = target.with_codes(np.where(cleaned.trusted, target.codes, -1))
        return fresh.fit_problem(problem.with_supervision(trusted))
