"""Everything that a report or a plot shows, collected from a fitted selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.charts import Curve, size_curve, subset_path
from dubio.errors import InputError, counted, quoted
from dubio.methods.register import METHODS
from dubio.problem import Problem, read_problem
from dubio.ranking import Ranking
from dubio.table.matrix import column_names, is_dask
from dubio.target.knowledge import Supervision
from dubio.words import Note, note, say


@dataclass(frozen=True)
class Findings:
    """A selection, its table, and everything that is known about its certainty.

    ``target_name`` names the target in charts, ``asked`` in sentences: in quotes, so that it is not read as a word.
    """

    ranking: Ranking
    problem: Problem
    explanation: str
    method: str
    method_does: str
    curve: Curve
    path: Curve | None
    alpha: float | None
    stability: Any = None
    audit: Any = None
    tolerance: Any = None
    fingerprints: Any = None
    corrected: Any = None
    evaluation: Any = None
    #: The effects of related features within the levels of given categories.
    within: Sequence[Any] = ()
    #: Notes on given columns (:attr:`dubio.findings.Findings.beyond`).
    beyond: Sequence[Note] = ()
    model: str = "the model"
    table_name: str = "the table"
    target_name: str = "the target"
    asked: str = "the target"
    code: str = ""
    command: str = ""
    notes: Sequence[str] = field(default_factory=tuple)
    alerts: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    identifiers: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    written: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    about_labels: bool = False
    #: Whether nothing is shown that fewer than five rows share.
    no_rows: bool = False

    def say(self, code: str, **facts: Any) -> str:
        """The sentence of a code, with its facts."""
        common: dict[str, Any] = {"asked": self.asked, "table": self.table_name, "labels": "labels"}
        if self.audit is not None:
            common["labels"] = self.audit.noun
        return say(code, **{**common, **facts})

    def doubtful_along(self) -> list[Note]:
        """The kept features along which labels are doubtful, unless checked rows have settled it."""
        marks, ranking = self.fingerprints, self.ranking
        if marks is None or self.no_rows or ranking.about_truth is not None:
            return []
        names = [str(ranking.names[j]) for j in ranking.order if marks.marked[j] and ranking.support[j]]
        return [note("doubtful along", features=names, n=len(names))] if names else []

    @property
    def table(self) -> NDArray[np.float64]:
        """One column of numbers per feature, to be drawn; categories are counted from 0, and a missing cell is NaN."""
        return self.problem.once("drawn", lambda: drawn_table(self.problem))

    def levels(self, feature: int) -> list[str]:
        """The categories of a feature, in the order of their codes; empty if the feature holds numbers."""
        columns = self.problem.columns
        reading = None if columns is None else columns.reading_of(feature)
        return [] if reading is None else [str(level) for level in reading.levels or ()]

    def holds_numbers(self, feature: int) -> bool:
        """Whether a feature holds numbers, which may be written as text: "0,5", "<0.1"."""
        reading = None if self.problem.columns is None else self.problem.columns.reading_of(feature)
        return reading is None or reading.kind == "number"

    def cells(self, feature: int, rows: NDArray[np.int64]) -> list[Any] | None:
        """The cells of a feature in some rows as they were written ("<0.1", "11 mg"); None if they are numbers."""
        levels, name, shown = self.levels(feature), str(self.ranking.names[feature]), self.table[rows, feature].tolist()
        if levels:
            return [levels[int(code)] if code == code else "\u2013" for code in shown]
        if name not in self.written:
            return None
        written = [self.written[name][row] for row in rows.tolist()]
        return ["\u2013" if cell is None or cell != cell else f"{cell}" for cell in written]

    @property
    def supervision(self) -> Supervision:
        """What is known of the target."""
        return self.problem.supervision

    @property
    def n_kept(self) -> int:
        """How many features were kept."""
        return self.ranking.n_kept

    @property
    def n_enough(self) -> int:
        """How many of the kept features predict the target as well as all of them; 0 if all are needed, or unknown."""
        enough = self.ranking.n_sufficient or 0
        return enough if self.keeps_the_related and enough < self.n_kept else 0

    @property
    def keeps_the_related(self) -> bool:
        """Whether the kept features are those that passed the tests."""
        return self.n_kept == self.ranking.n_relevant

    @property
    def kept(self) -> list[str]:
        """Names of the kept features besides the given ones, best first."""
        return [str(self.ranking.names[j]) for j in self.order[self.ranking.n_given :] if self.ranking.support[j]]

    @property
    def order(self) -> NDArray[np.int64]:
        """The features that could be used, best first; those that were left out come after them."""
        return self.ranking.order[: self.ranking.n_ranked]

    @property
    def stands_out(self) -> bool:
        """False if the features were tested and none passed."""
        return self.ranking.n_relevant != 0


def drawn_table(problem: Problem) -> NDArray[np.float64]:
    """One column per feature: the first of its columns, or the place of its category among all."""
    columns = problem.columns
    if columns is None:
        return problem.table
    table = problem.table[:, columns.starts].copy()
    for feature in np.flatnonzero(columns.roles[columns.starts] == "level").tolist():
        own = columns.of(feature)
        levels = problem.table[:, own[columns.roles[own] == "level"]]
        table[:, feature] = np.where(np.isnan(levels[:, 0]), np.nan, np.nan_to_num(levels).argmax(axis=1))
    for feature in range(columns.n_features):
        reading = columns.reading_of(feature)
        if reading is not None and len(reading.levels) == 1:  # its only category is 1, beside missing cells
            table[:, feature] = np.where(np.isnan(table[:, feature]), np.nan, 0.0)
    return table


def gather(selector: Any, X: Any, y: Any = None, **more: Any) -> Findings:
    """Collect the findings of a fitted selector on ``X``; any selector with ``to_ranking()`` works.

    Further arguments are fields of :class:`Findings`, such as ``stability``, ``audit`` and ``table_name``.
    """
    names, ranked = column_names(X), selector.to_ranking().names
    if names is not None and len(names) == len(ranked) and [str(n) for n in names] != [str(n) for n in ranked]:
        raise InputError("X", "does not have the same column names as the table the selector was fitted on")
    X = X.compute() if is_dask(X) else X.toarray() if sparse.issparse(X) else X
    more.setdefault("written", written_cells(X))
    target: Any = getattr(selector, "target", getattr(selector, "_target", "auto"))
    if target == "none":
        y, target = None, "classes"
    known = getattr(selector, "supervision_", None)
    options: dict[str, Any] = {"mixed": True, "nominal": getattr(selector, "nominal", None)}
    if hasattr(selector, "feature_groups"):
        options = {"any_type": True, "feature_groups": selector.feature_groups}
    options |= {"target": target, "missing_label": getattr(selector, "missing_label", "auto")}
    problem = read_problem(X, None if known is not None else y, **options)
    if known is not None and known.n_rows != problem.n_rows:
        raise InputError("X", f"has {problem.n_rows} rows, but the selector was fitted on {known.n_rows}")
    return gather_problem(selector, problem if known is None else problem.with_supervision(known), **more)


def written_cells(table: Any) -> dict[str, list[Any]]:
    """The cells of each column of text in a pandas frame; nothing of other tables."""
    if not hasattr(table, "iloc") or not hasattr(table, "columns"):
        return {}
    texts = [place for place, dtype in enumerate(table.dtypes) if getattr(dtype, "kind", "O") not in "biufcmM"]
    return {str(table.columns[place]): table.iloc[:, place].tolist() for place in texts}


def gather_problem(selector: Any, problem: Problem, *, ranking: Ranking | None = None, **more: Any) -> Findings:
    """The same as :func:`gather`, for a problem; ``ranking`` takes the place of the selector's own."""
    ranking = selector.to_ranking().without_handed_on() if ranking is None else ranking
    if problem.n_features != len(ranking.names):
        there = counted(len(ranking.names), "feature")
        raise InputError("X", f"has shape {problem.X.shape}, but the selector was fitted on {there}")
    method, parts = METHODS.get(ranking.method), getattr(getattr(selector, "selector_", selector), "parts_", None)
    tested, name = "qvalue" in ranking.extras, more.get("target_name", "the target")
    facts: dict[str, Any] = {
        "explanation": str(getattr(selector, "explanation_", ranking.reason)),
        "method": f"{ranking.method} of {' and '.join(parts)}" if parts else ranking.method,
        "method_does": method.does if method else (type(selector).__doc__ or "").strip().splitlines()[0],
        "curve": size_curve(selector),
        "path": subset_path(selector) if tested and not ranking.nothing_stands_out else None,
        "alpha": float(getattr(selector, "alpha", 0.05)) if tested else None,
        "alerts": [alert.record() for alert in getattr(selector, "alerts_", ()) if not alert.asks_nothing],
        "beyond": selector.findings_.beyond if hasattr(selector, "findings_") else (),
        "within": getattr(selector, "effects_within_", ()),
        "asked": name if name == "the target" else quoted(name),
    }
    return Findings(ranking, problem, **{**facts, **more})
