"""Plots for notebooks, in the style of scikit-learn's displays. matplotlib is only imported to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dubio.curves import Curve, size_curve, subset_path
from dubio.errors import InputError
from dubio.ranking import Ranking

_KEPT, _RELATED, _LEFT, _WARN = "#0b6e6e", "#7fb5b5", "#c3c8d1", "#b4441c"


@dataclass
class RankingDisplay:
    """The best features of a ranking as bars, with the interval of their ranks if stability is given.

    Attributes
    ----------
    ranking : Ranking
    stability : Stability or None
    ax_, figure_
        Set by :meth:`plot`, as is ``interval_ax_`` if stability is given.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FisherScore
    >>> from dubio.plots import RankingDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = RankingDisplay.from_estimator(FisherScore().fit(X, y))
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][0]
    'petal length (cm)'
    """

    ranking: Ranking
    stability: Any = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, stability: Any = None, n_features: int = 20, ax: Any = None) -> Self:
        """Draw the ranking of a fitted selector."""
        check_is_fitted(estimator)
        return cls(estimator.to_ranking(), stability).plot(n_features=n_features, ax=ax)

    def plot(self, *, n_features: int = 20, ax: Any = None) -> Self:
        """Draw the best ``n_features``; with stability and no ``ax``, the ranks are shown next to the bars."""
        if n_features < 1:
            raise InputError("n_features", f"={n_features}", "draw at least one feature")
        plt = _pyplot()
        shown = self.ranking.order[:n_features]
        if ax is None:
            parts = 1 if self.stability is None else 2
            figure, axes = plt.subplots(
                1, parts, figsize=(6.4 + 3 * (parts - 1), 1 + 0.28 * len(shown)), sharey=True, squeeze=False
            )
            ax, beside = axes[0][0], axes[0][1] if parts == 2 else None
        else:
            figure, beside = ax.figure, None
        places = np.arange(len(shown))
        scores = np.where(np.isfinite(self.ranking.scores[shown]), self.ranking.scores[shown], 0.0)
        shades = {"sufficient": _KEPT, "kept": _KEPT, "related": _RELATED}
        colours = [shades.get(self.ranking.line_of(int(j)), _LEFT) for j in shown]
        ax.barh(places, scores, color=colours)
        ax.set_yticks(places, [_plain(self.ranking.names[j]) for j in shown])
        ax.set_xlabel(f"score ({'low' if self.ranking.lower_is_better else 'high'} is good)")
        ax.set_title(_plain(self.ranking.method))
        if beside is not None:
            low, median, high = (
                getattr(self.stability, name)[shown] for name in ("rank_low", "rank_median", "rank_high")
            )
            beside.hlines(places, low, high, color="gray")
            beside.scatter(median, places, c=colours, zorder=3)
            beside.set_xlabel("rank when resampled")
            self.interval_ax_ = beside
        ax.invert_yaxis()
        self.ax_, self.figure_ = ax, figure
        return self


@dataclass
class SubsetPathDisplay:
    """The curve behind the chosen number of features: criterion, q-values or scores by size.

    Attributes
    ----------
    curve : Curve
    ax_, figure_
        Set by :meth:`plot`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_wine
    >>> from dubio import FuzzyRoughSearch
    >>> from dubio.plots import SubsetPathDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> SubsetPathDisplay.from_estimator(FuzzyRoughSearch().fit(X, y)).ax_.get_xlabel()
    'number of features'
    """

    curve: Curve

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the criterion of a fitted search, or for other methods the curve behind the chosen size."""
        check_is_fitted(estimator)
        return cls(subset_path(estimator) or size_curve(estimator)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the values by size, and mark the chosen size."""
        plt = _pyplot()
        ax = plt.subplots()[1] if ax is None else ax
        curve = self.curve
        values = np.maximum(curve.values, 1e-12) if curve.logarithmic else curve.values
        ax.plot(curve.sizes, values, color=_KEPT, marker="." if len(values) <= 60 else None)
        if curve.logarithmic:
            ax.set_yscale("log")
        if curve.threshold is not None:
            ax.axhline(curve.threshold, color=_WARN, linestyle="--", label=f"{curve.threshold:g}")
        ax.axvline(curve.chosen, color="black", linestyle=":", label=f"{curve.chosen} chosen")
        ax.set_xlabel("number of features")
        ax.set_ylabel(curve.label)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass
class LabelAuditDisplay:
    """Doubtful labels: the estimated share of wrong labels by class, and what they may be instead.

    Attributes
    ----------
    audit : LabelAudit
    ax_, figure_
        Set by :meth:`plot`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from dubio import audit_labels
    >>> from dubio.plots import LabelAuditDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> y[:5] = 1
    >>> LabelAuditDisplay.from_audit(audit_labels(X, y)).shares.shape
    (3, 3)
    """

    audit: Any

    @classmethod
    def from_audit(cls, audit: Any, *, ax: Any = None) -> Self:
        """Draw a finished audit."""
        return cls(audit).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the audit that a selector made of its labels (``audit_``)."""
        check_is_fitted(estimator)
        inner = getattr(estimator, "selector_", estimator)
        audit = getattr(estimator, "audit_", None) or getattr(inner, "audit_", None)
        if audit is None:
            raise InputError(
                "estimator",
                f"is a {type(estimator).__name__} that did not audit its labels",
                "use from_audit(audit_labels(X, y))",
            )
        return cls(audit).plot(ax=ax)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Estimated share of each true class (columns) among the rows with a given class (rows)."""
        joint = np.asarray(self.audit.joint, dtype=np.float64)
        totals = joint.sum(axis=1, keepdims=True)
        return np.divide(joint, totals, out=np.zeros_like(joint), where=totals > 0)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the shares as a matrix: given classes by likely classes."""
        plt = _pyplot()
        ax = plt.subplots()[1] if ax is None else ax
        shares = self.shares
        names = [_plain(name) for name in self.audit.classes.tolist()]
        ax.imshow(shares, cmap="BuGn", vmin=0, vmax=1)
        ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
        ax.set_yticks(range(len(names)), names)
        ax.set_xlabel("likely class")
        ax.set_ylabel("given class")
        if len(names) <= 12:
            for i, j in np.ndindex(*shares.shape):
                ax.text(j, i, f"{100 * shares[i, j]:.0f} %", ha="center", va="center", fontsize=9)
        doubtful = int(self.audit.doubtful.sum())
        ax.set_title(f"{doubtful} of {int(self.audit.labelled.sum())} labels doubtful")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'dubio[cli]'") from error
    return plt


def _plain(name: object) -> str:
    """A name shown as it is: without the escape, matplotlib would read $...$ as a formula."""
    return str(name).replace("$", r"\$")
