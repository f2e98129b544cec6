"""Which method to use, given what is known: the rules of ``FeatureSelector(method="auto")``.

Rules are tried from top to bottom, and the first one that fits is used. The page on choosing a method has the
measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dubio.supervision import Supervision


@dataclass(frozen=True)
class Case:
    """What the rules depend on."""

    supervision: Supervision
    n_features: int

    @property
    def few_labels(self) -> bool:
        """Less than half of the rows have a label, or there are fewer than ten labelled rows per class."""
        known = self.supervision
        return 2 * known.n_labelled < known.n_rows or known.n_labelled < 10 * known.n_classes

    @property
    def search_is_affordable(self) -> bool:
        """A search compares all pairs of rows for all pairs of features: about ten seconds at this limit."""
        return (self.supervision.n_labelled * self.n_features) ** 2 <= 2e9

    @property
    def relief_is_affordable(self) -> bool:
        """Relief compares all pairs of rows: about ten seconds at this limit."""
        return self.supervision.n_labelled**2 * self.n_features <= 1e10


@dataclass(frozen=True)
class Choice:
    """A method, its parameters, and why it was chosen."""

    method: str
    because: str
    parameters: dict[str, Any] = field(default_factory=dict)


def _kind(*kinds: str) -> Callable[[Case], bool]:
    return lambda case: case.supervision.kind in kinds


RULES: tuple[tuple[Callable[[Case], bool], Choice], ...] = (
    (
        lambda case: case.supervision.has_pairs,
        Choice("constraint", "pairs of rows are given, and the constraint score was the best method for pairs"),
    ),
    (
        _kind("none"),
        Choice("laplacian", "nothing is known of the target, and the Laplacian score does not need a target"),
    ),
    (
        _kind("numbers"),
        Choice(
            "mean_rank",
            "the target is a number: correlation was hard to beat, and the supervised Laplacian score finds relations "
            "that correlation misses",
            {"methods": ("linear_r2", "supervised_laplacian")},
        ),
    ),
    (
        lambda case: case.supervision.kind == "hard" and case.few_labels and case.relief_is_affordable,
        Choice("relieff", "there are few labelled rows per class, and then ReliefF on the labelled rows did best"),
    ),
    (
        lambda case: case.supervision.kind == "hard" and case.search_is_affordable,
        Choice(
            "neighbor_search",
            "some of the classes may be wrong: an audit of the labels, followed by a search on the cross-entropy of "
            "near rows, came as close to the results with clean labels as any method",
        ),
    ),
    (
        lambda case: case.supervision.kind == "hard" and case.relief_is_affordable,
        Choice(
            "mean_rank",
            "the table is too large for a search of subsets, and the mean rank of two scores is better than either one",
            {"methods": ("smooth_r2", "relieff")},
        ),
    ),
    (
        lambda case: case.relief_is_affordable,
        Choice(
            "mean_rank",
            "for class probabilities, the mean rank of smooth R2 and soft Relief did better than either of the two and "
            "than the weighted Laplacian score",
            {"methods": ("smooth_r2", "soft_relief")},
        ),
    ),
    (
        lambda case: True,
        Choice(
            "mean_rank",
            "the table has too many rows for methods that compare all pairs of rows, and the mean rank of linear and "
            "smooth R2 was next best",
            {"methods": ("linear_r2", "smooth_r2")},
        ),
    ),
)


def choose(supervision: Supervision, n_features: int) -> Choice:
    """The first rule that fits."""
    case = Case(supervision, n_features)
    return next(choice for fits, choice in RULES if fits(case))
