"""Everything a report or a plot shows, gathered from a fitted selector in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.methods import METHODS
from dubio.ranking import Ranking
from dubio.supervision import Supervision, read_supervision
from dubio.table import column_names


@dataclass(frozen=True)
class Curve:
    """What a choice of size rests on: a value for every number of features."""

    sizes: NDArray[np.int64]
    values: NDArray[np.float64]
    chosen: int
    label: str
    threshold: float | None = None
    logarithmic: bool = False


@dataclass(frozen=True)
class Findings:
    """A selection with its table and all that is known about how sure it is."""

    ranking: Ranking
    table: NDArray[np.float64]
    supervision: Supervision
    explanation: str
    method: str
    method_does: str
    curve: Curve
    alpha: float | None
    stability: Any = None
    audit: Any = None
    table_name: str = "the table"
    target_name: str = "the target"
    code: str = ""
    command: str = ""
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def n_kept(self) -> int:
        """How many features were kept."""
        return int(self.ranking.support.sum())

    @property
    def kept(self) -> list[str]:
        """Names of the features kept, best first."""
        return [str(self.ranking.names[j]) for j in self.ranking.order if self.ranking.support[j]]

    @property
    def stands_out(self) -> bool:
        """False if the features were tested and none passed."""
        qvalues = self.ranking.extras.get("qvalue")
        return qvalues is None or self.alpha is None or bool((qvalues <= self.alpha).any())


def gather(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    stability: Any = None,
    audit: Any = None,
    table_name: str = "the table",
    target_name: str = "the target",
    code: str = "",
    command: str = "",
    notes: Sequence[str] = (),
) -> Findings:
    """Collect what a fitted selector found on ``X``; any selector with ``to_ranking()`` will do."""
    ranking = selector.to_ranking()
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(ranking.names):
        raise ValueError(f"X has shape {table.shape}, but the selector was fitted on {len(ranking.names)} feature(s).")
    names = column_names(X)
    if names is not None and [str(name) for name in names] != [str(name) for name in ranking.names]:
        raise ValueError("X has other column names than the table the selector was fitted on.")
    method = METHODS.get(ranking.method)
    tested = "qvalue" in ranking.extras
    return Findings(
        ranking=ranking,
        table=table,
        supervision=_supervision(selector, y, len(table)),
        explanation=str(getattr(selector, "explanation_", ranking.reason)),
        method=_method_name(selector, ranking),
        method_does=method.does if method else (type(selector).__doc__ or "").strip().splitlines()[0],
        curve=size_curve(selector),
        alpha=float(getattr(selector, "alpha", 0.05)) if tested else None,
        stability=stability,
        audit=audit,
        table_name=table_name,
        target_name=target_name,
        code=code,
        command=command,
        notes=tuple(notes),
    )


def size_curve(selector: Any) -> Curve:
    """The curve that chose the size: q-values, the criterion of a search, or else the scores."""
    ranking = selector.to_ranking()
    kept = int(ranking.support.sum())
    path = subset_path(selector)
    if path is not None:
        sizes, values, label = path
        return Curve(sizes, values, kept, label)
    qvalues = ranking.extras.get("qvalue")
    if qvalues is not None:
        alpha = float(getattr(selector, "alpha", 0.05))
        steps = np.arange(1, len(qvalues) + 1)
        return Curve(steps, np.sort(qvalues), kept, "q-value of the last feature taken in", alpha, True)
    scores = ranking.scores[ranking.order]
    return Curve(
        np.arange(1, len(scores) + 1), scores, kept, f"score ({'low' if ranking.lower_is_better else 'high'} is good)"
    )


def subset_path(selector: Any) -> tuple[NDArray[np.int64], NDArray[np.float64], str] | None:
    """Sizes and criterion values of a search; None for a method that ranks features one by one."""
    inner = getattr(selector, "selector_", selector)
    if not hasattr(inner, "subsets_"):
        return None
    for attribute, label in (
        ("values_", "criterion"),
        ("criteria_", "criterion"),
        ("dependencies_", "dependency (high is good)"),
        ("mutual_information_", "mutual information (high is good)"),
    ):
        values = getattr(inner, attribute, None)
        if values is None:
            continue
        if not isinstance(values, dict):
            values = dict(zip(sorted(inner.subsets_), np.asarray(values, dtype=np.float64).tolist(), strict=False))
        if values:
            sizes = sorted(values)
            return np.asarray(sizes, dtype=np.int64), np.asarray([values[s] for s in sizes], dtype=np.float64), label
    return None


def _method_name(selector: Any, ranking: Ranking) -> str:
    parts = getattr(getattr(selector, "selector_", selector), "parts_", None)
    return f"{ranking.method} of {' and '.join(parts)}" if parts else ranking.method


def _supervision(selector: Any, y: Any, n_rows: int) -> Supervision:
    known = getattr(selector, "supervision_", None)
    if known is not None and known.n_rows == n_rows:
        return known
    target: Any = getattr(selector, "target", getattr(selector, "_target", "auto"))
    if target == "none":
        y, target = None, "classes"
    return read_supervision(y, n_rows, target=target, missing_label=getattr(selector, "missing_label", "auto"))
