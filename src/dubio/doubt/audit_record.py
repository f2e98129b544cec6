"""What an audit found."""

from __future__ import annotations

import html
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from dubio.errors import counted
from dubio.ranking import rank_scores

Floats = NDArray[np.float64]
#: Experts that explain less than this share of the uncertainty know little.
_LITTLE_SKILL = 0.3
_HELD_BACK = (
    "No label is flagged, though some may be wrong: the table has many columns for so few labels (a category counts "
    "one column for each of its values) that a wrong label cannot be told from a mistake of the experts. Leave out "
    "columns that cannot matter, and give names of batches or patients as groups."
)
#: Most rows of the table shown in a notebook.
_SHOWN = 20
#: What is audited is judged if the experts beat a constant opinion: one-sided level of this test.
_SKILL_LEVEL = 0.01


def skill_of(
    alone: Floats, losses: dict[str, Floats], groups: NDArray[np.int64] | None = None
) -> tuple[dict[str, float], bool]:
    """The share of the loss without experts, ``alone``, that each of them and the "pool" explain on rows they have not
    seen, and whether the pool is significantly better."""
    skills = {name: float(1.0 - loss.sum() / alone.sum()) for name, loss in losses.items()}
    gain = alone - losses["pool"]
    if groups is not None:  # rows of a group are no independent evidence
        gain = np.asarray(np.bincount(np.unique(groups, return_inverse=True)[1], gain), dtype=np.float64)
    spread = gain.std(ddof=1) * np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    return skills, bool(gain.sum() > norm.ppf(1 - _SKILL_LEVEL) * spread)


class Audit:
    """What audits of labels and of numbers share."""

    #: The columns of :meth:`to_frame` that a list of rows shows.
    columns: ClassVar[tuple[str, ...]]
    #: What is audited, and what columns do if they can judge it.
    noun: ClassVar[str]
    judge: ClassVar[str]
    #: What the rows are ranked by.
    _ranked_by: ClassVar[str] = "wrong"

    doubtful: NDArray[np.bool_]
    judged: bool
    held_back: bool = False
    skills: dict[str, float]
    index: Any

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.doubtful)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows that have a label or a number."""
        raise NotImplementedError

    @property
    def rank(self) -> NDArray[np.int64]:
        """1 for the most doubtful row, and so on; among equals the earlier row first; 0 for rows without a label."""
        rows = np.flatnonzero(self.labelled)
        ranks = np.zeros(len(self), dtype=np.int64)
        ranks[rows] = rank_scores(getattr(self, self._ranked_by)[rows], lower_is_better=False)
        return ranks

    @property
    def _knows_little(self) -> bool:
        return bool(self.skills) and self.skills["pool"] < _LITTLE_SKILL

    def why_held_back(self) -> str:
        """Why nothing is flagged, if that is not because everything looks right; else empty."""
        return _HELD_BACK if self.held_back else ""

    def to_frame(self) -> Any:
        """One line per row, with the table's own index (needs pandas)."""
        import pandas as pd

        rank = pd.arrays.IntegerArray(self.rank, ~self.labelled)
        return pd.DataFrame({name: getattr(self, name) for name in self.columns} | {"rank": rank}, index=self.index)

    def __repr__(self) -> str:
        found = f"{int(self.doubtful.sum())} of {int(self.labelled.sum())} {self.noun} are doubtful"
        return f"<{type(self).__name__}: {found if self.judged else f'the columns do not {self.judge}'}>"

    def _repr_html_(self) -> str:
        """What the audit says, and the doubtful rows, the most doubtful first (needs pandas)."""
        said = f"<p>{html.escape(str(self))}</p>"
        if not self.doubtful.any():
            return said
        rows = self.to_frame()[list(self.columns)][self.doubtful].sort_values("rank")
        table = rows.head(_SHOWN).drop(columns="doubtful").to_html(border=0, float_format="{:.3g}".format)
        more = f"<p>and {len(rows) - _SHOWN} more</p>" if len(rows) > _SHOWN else ""
        return said + str(table) + more


@dataclass(frozen=True, repr=False)
class LabelAudit(Audit):
    """How doubtful the labels are, by row and by class. Made by :func:`dubio.audit_labels`.

    Attributes
    ----------
    engine : str
        The method of the audit.
    assumption : str
        What the error rates assume, in words.
    classes : array (n_classes,)
        Names of the classes.
    codes : array (n_rows,)
        Observed class of each row as a position in ``classes``, -1 if it has no label.
    probabilities : array (n_rows, n_classes)
        Probability of each class. Engines ``"transitions"``, ``"pooled"`` and ``"lnt"`` take the observed label into
        account; ``"confident"`` gives the experts' opinion without it.
    doubtful : array (n_rows,) of bool
        The labels that the engine does not trust.
    joint : array (n_classes, n_classes)
        Estimated number of labelled rows with observed class ``g`` and true class ``t`` at ``[g, t]``.
    flip_rate : float or None
        The single error rate of the pooled engine.
    expert_names, expert_weights
        The experts and their weights in the pool (none for ``"lnt"``).
    n_folds : int
        Number of folds; 0 if no experts were trained.
    index
        Row names of the table, if it has any.
    judged : bool
        False if the experts are not significantly better than the class shares alone: the columns do not tell the
        classes. Then no label is doubtful, and rates are NaN.
    held_back : bool
        True if no label is flagged because the table has many columns for its labels, and wrong labels do not explain
        what the experts say clearly better than their own mistakes. The rates are still estimated.
    skills : dict of str to float
        For each expert and for the pool, the share of the uncertainty about the labels that it explains on rows it has
        not seen: 1 is everything, 0 is no better than the class shares.
    """

    columns: ClassVar[tuple[str, ...]] = ("given", "suggested", "wrong", "doubtful", "rank")
    noun: ClassVar[str] = "labels"
    judge: ClassVar[str] = "separate the classes"

    engine: str
    assumption: str
    classes: NDArray[Any]
    codes: NDArray[np.int64] = field(repr=False)
    probabilities: Floats = field(repr=False)
    doubtful: NDArray[np.bool_] = field(repr=False)
    joint: Floats = field(repr=False)
    flip_rate: float | None
    expert_names: tuple[str, ...]
    expert_weights: Floats
    n_folds: int
    index: Any = field(default=None, repr=False)
    judged: bool = True
    held_back: bool = False
    skills: dict[str, float] = field(default_factory=dict)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows that have a label."""
        return self.codes >= 0

    @property
    def given(self) -> NDArray[Any]:
        """The label of each row; None for rows without one."""
        given = np.full(len(self), None, dtype=object)
        given[self.labelled] = self.classes[self.codes[self.labelled]]
        return given

    @property
    def wrong(self) -> Floats:
        """Probability that the given label is wrong; NaN for rows without a label."""
        own = self.probabilities[np.arange(len(self)), np.maximum(self.codes, 0)]
        return np.where(self.labelled, 1.0 - own, np.nan)

    @property
    def suggested(self) -> NDArray[Any]:
        """The given label; if it is doubtful, the most probable other class; if missing, the most probable class."""
        others = np.array(self.probabilities)
        others[self.doubtful, self.codes[self.doubtful]] = -1.0
        best = np.where(self.doubtful | ~self.labelled, others.argmax(axis=1), self.codes)
        return self.classes[best]

    @property
    def error_rate(self) -> float:
        """Estimated share of wrong labels (see ``assumption``)."""
        return float(1.0 - np.trace(self.joint) / self.joint.sum())

    @property
    def error_rates(self) -> Floats:
        """Estimated share of wrong labels among the rows labelled with each class (see ``assumption``)."""
        return 1.0 - self.joint.diagonal() / self.joint.sum(axis=1)

    @property
    def flip_matrix(self) -> Floats:
        """Probability at ``[t, g]`` that a row of true class ``t`` has the label ``g`` (see ``assumption``)."""
        totals = self.joint.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            flips = (self.joint / totals).T
        flips[totals <= 0] = np.eye(len(totals))[totals <= 0]  # no row is left in this class: nothing is known about it
        return flips

    def how_likely(self) -> str:
        """How many doubtful labels are more likely wrong than right, and whether the experts know much."""
        likely, doubtful = int((self.wrong[self.doubtful] > 0.5).sum()), int(self.doubtful.sum())
        them = f"{likely} of them {'is' if likely == 1 else 'are'}"
        if likely == doubtful:
            them = "It is" if likely == 1 else "All of them are"
        elif likely == 0:
            them = "None of them is" if doubtful > 1 else "It is not"
        text = f"{them} more likely wrong than right."
        if self._knows_little:
            text += " The models know little about the classes, so this is a list of rows to check, not of errors."
        return text

    def to_frame(self) -> Any:
        """One line per row, with the table's own index (needs pandas)."""
        shares = {f"p({name})": self.probabilities[:, k] for k, name in enumerate(self.classes)}
        return super().to_frame().assign(**shares)

    def classes_frame(self) -> Any:
        """One line per class: rows, doubtful labels, estimated error rate, flip matrix (needs pandas)."""
        import pandas as pd

        n_classes = len(self.classes)
        columns: dict[str, Any] = {
            "rows": np.bincount(self.codes[self.labelled], minlength=n_classes),
            "doubtful": np.bincount(self.codes[self.doubtful], minlength=n_classes),
            "error rate": self.error_rates,
        }
        columns |= {f"labelled {name}": self.flip_matrix[:, g] for g, name in enumerate(self.classes)}
        return pd.DataFrame(columns, index=pd.Index(self.classes, name="class"))

    def __str__(self) -> str:
        if not self.judged:
            return (
                "The columns do not separate the classes: the labels cannot be judged. The models predict held-out "
                "labels no better than the class shares do, so no label is flagged and no rate is given."
            )
        rates = ", ".join(f"{name} {rate:.1%}" for name, rate in zip(self.classes, self.error_rates, strict=True))
        missing = len(self) - int(self.labelled.sum())
        return (
            f"{int(self.doubtful.sum())} of {int(self.labelled.sum())} labels are doubtful ({self.engine} engine). "
            + (f"{self.how_likely()} " if self.doubtful.any() else "")
            + (f"{self.why_held_back()} " if self.held_back else "")
            + f"Estimated share of wrong labels: {self.error_rate:.1%}; by given class: {rates}."
            + (f" A label is suggested for {counted(missing, 'row')} without one." if missing else "")
            + f" Assumed: {self.assumption}."
        )


@dataclass(frozen=True, repr=False)
class OrderedAudit(LabelAudit):
    r"""How doubtful the labels of ordered classes are, by row and by class. Made by :func:`dubio.audit_labels`.

    With the probability :math:`p_{it}` of each class and the given class :math:`g_i`, the label of a row is expected to
    be off by :math:`\sum_t p_{it} |t - g_i|` steps. Labels are ranked by these steps, so that a near miss is less
    suspicious than a label at the other end. The suggested class is the median of the probabilities. A label that is
    itself the median is not doubtful, even if another class is more probable.
    """

    columns: ClassVar[tuple[str, ...]] = ("given", "suggested", "wrong", "steps", "doubtful", "rank")
    _ranked_by: ClassVar[str] = "steps"

    @property
    def steps(self) -> Floats:
        """Expected number of classes between the given label and the true one; NaN for rows without a label."""
        apart = np.abs(np.arange(len(self.classes)) - self.codes[:, None])
        return np.where(self.labelled, (self.probabilities * apart).sum(axis=1), np.nan)

    @property
    def suggested(self) -> NDArray[Any]:
        """The median class if the label is doubtful or missing, else the given label."""
        return self.classes[np.where(self.doubtful | ~self.labelled, _medians(self.probabilities), self.codes)]


def in_order(audit: LabelAudit) -> OrderedAudit:
    """The audit of the same classes, of which the order is known."""
    found = OrderedAudit(**{field.name: getattr(audit, field.name) for field in fields(audit)})
    return replace(found, doubtful=audit.doubtful & (_medians(audit.probabilities) != audit.codes))


def _medians(probabilities: Floats) -> NDArray[np.int64]:
    """The class in the middle of each row's probabilities."""
    below = np.cumsum(probabilities, axis=1) / probabilities.sum(axis=1, keepdims=True)
    return np.minimum((below < 0.5 - 1e-12).sum(axis=1), probabilities.shape[1] - 1)
