"""Any selector, fitted on labels that were audited first."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from dubio.noise.audit import Engine
from dubio.noise.cleaning import CleanedLabels, clean_labels
from dubio.selectors.base import BaseSelector
from dubio.supervision import SoftLabels, Supervision
from dubio.supervision.handover import clone_for_classes
from dubio.table import Matrix


class CleanedSelector(MetaEstimatorMixin, BaseSelector):
    """Fit a selector of dubio or scikit-learn without the labels that an audit doubts.

    Rows are left out of the selection only: ``transform`` hands back every row of the table it is given.

    Parameters
    ----------
    selector : estimator with ``fit`` and ``get_support``
        What selects; it is cloned.
    clean : {"confident", "pooled", "lnt"}, default="confident"
        Engine of the audit; see :func:`dubio.audit_labels`.
    doubtful : {"drop", "soften"}, default="drop"
        ``"drop"`` takes doubtful labels away: a selector of dubio that takes missing labels still sees the row, any
        other does not. ``"soften"`` gives the selector the engine's class probabilities of every labelled row; it must
        take soft labels.
    experts : classifier, list or dict of classifiers, optional
        For the audit.
    n_folds : int, default=5
        Folds of the audit.
    missing_label : "auto", None or a value
        What means "unlabelled" besides None and NaN.
    random_state : int or None, default=0
        Seed of the audit.
    n_jobs : int, optional
        For the default experts.

    Attributes
    ----------
    selector_ : estimator
        The fitted clone.
    audit_ : LabelAudit or None
        What was thought of the labels.
    trusted_ : array (n_rows,) of bool
        The rows whose label was kept.
    support_, ranking_, n_features_
        As ``selector_`` says; without a ``ranking_`` of its own, 1 for what it keeps and 2 for the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from dubio import CleanedSelector
    >>> from dubio.supervision import flip_labels
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = CleanedSelector(SelectKBest(k=2)).fit(X, flip_labels(y, 0.2, random_state=0))
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _takes_soft = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [HasMethods(["fit", "get_support"])],
        "clean": [StrOptions({"confident", "pooled", "lnt"})],
        "doubtful": [StrOptions({"drop", "soften"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": [Integral, None],
    }

    def __init__(
        self,
        selector: Any,
        *,
        clean: Engine = "confident",
        doubtful: Literal["drop", "soften"] = "drop",
        experts: Any = None,
        n_folds: int = 5,
        missing_label: Any = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.selector = selector
        self.clean = clean
        self.doubtful = doubtful
        self.experts = experts
        self.n_folds = n_folds
        self.missing_label = missing_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> None:
        if self.doubtful == "soften" and not getattr(self.selector, "_takes_soft", False):
            raise ValueError(
                f"doubtful='soften' hands class probabilities on, and {type(self.selector).__name__} needs one label a "
                "row: use doubtful='drop', or a selector that takes soft labels."
            )
        cleaned = clean_labels(
            X,
            supervision,
            self.clean,
            experts=self.experts,
            n_folds=self.n_folds,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        rows, labels = self._view(supervision, cleaned)
        self.selector_ = clone_for_classes(self.selector).fit(X[rows], labels)
        self.audit_ = cleaned.audit
        self.trusted_ = cleaned.trusted
        self.support_ = np.asarray(self.selector_.get_support())
        ranking = getattr(self.selector_, "ranking_", None)
        self.ranking_ = np.where(self.support_, 1, 2) if ranking is None else np.asarray(ranking)
        self.n_features_ = int(self.support_.sum())

    def _view(self, supervision: Supervision, cleaned: CleanedLabels) -> tuple[NDArray[np.int64], Any]:
        """The rows the selector sees, and their labels."""
        assert supervision.codes is not None and supervision.classes is not None
        everything = np.arange(supervision.n_rows)
        if self.doubtful == "soften":
            memberships = np.where(supervision.labelled[:, None], cleaned.memberships, np.nan)
            return everything, SoftLabels(memberships, supervision.classes)
        if isinstance(self.selector, BaseSelector) and self.selector._takes_missing:
            labels = np.full(supervision.n_rows, None, dtype=object)
            labels[cleaned.trusted] = supervision.classes[supervision.codes[cleaned.trusted]]
            return everything, labels
        rows = np.flatnonzero(cleaned.trusted)
        return rows, supervision.classes[supervision.codes[rows]]
