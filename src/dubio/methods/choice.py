"""Which method, by what is known: the one table that ``FeatureSelector(method="auto")`` follows.

Rules are tried from the top; the first that fits is taken. The page on choosing a method has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dubio.supervision import Supervision


@dataclass(frozen=True)
class Case:
    """What the rules look at."""

    supervision: Supervision
    n_features: int

    @property
    def few_labels(self) -> bool:
        """Less than half of the rows, or under ten rows per class, have a label."""
        known = self.supervision
        return 2 * known.n_labelled < known.n_rows or known.n_labelled < 10 * known.n_classes

    @property
    def search_is_affordable(self) -> bool:
        """A search compares all pairs of rows for all pairs of features: some ten seconds at this bound."""
        return (self.supervision.n_labelled * self.n_features) ** 2 <= 2e9

    @property
    def relief_is_affordable(self) -> bool:
        """Relief looks at all pairs of rows: some ten seconds at this bound."""
        return self.supervision.n_labelled**2 * self.n_features <= 1e10


@dataclass(frozen=True)
class Choice:
    """A method, its parameters, and why."""

    method: str
    because: str
    parameters: dict[str, Any] = field(default_factory=dict)


def _kind(*kinds: str) -> Callable[[Case], bool]:
    return lambda case: case.supervision.kind in kinds


RULES: tuple[tuple[Callable[[Case], bool], Choice], ...] = (
    (
        lambda case: case.supervision.has_pairs,
        Choice("constraint", "pairs of rows are given, and the constraint score was the best of the methods for pairs"),
    ),
    (
        _kind("none"),
        Choice("laplacian", "nothing is known of the target, and the Laplacian score needs nothing"),
    ),
    (
        _kind("numbers"),
        Choice(
            "mean_rank",
            "the target is a number: correlation was hard to beat, and the supervised Laplacian score insures against "
            "relations it cannot see",
            {"methods": ("linear_r2", "supervised_laplacian")},
        ),
    ),
    (
        lambda case: case.supervision.kind == "hard" and case.few_labels and case.relief_is_affordable,
        Choice("relieff", "few rows have a class, and ReliefF on these rows alone did best then"),
    ),
    (
        lambda case: case.supervision.kind == "hard" and case.search_is_affordable,
        Choice(
            "neighbor_search",
            "some of the classes may be wrong, and a search on the cross-entropy of near rows, after an audit of the "
            "labels, came as close to clean labels as any method",
        ),
    ),
    (
        lambda case: case.supervision.kind == "hard" and case.relief_is_affordable,
        Choice(
            "mean_rank",
            "the table is too large for a search of subsets, and a mean rank is better than each of its parts",
            {"methods": ("smooth_r2", "relieff")},
        ),
    ),
    (
        lambda case: case.relief_is_affordable,
        Choice(
            "mean_rank",
            "for class probabilities the mean rank of smooth R2 and soft Relief beat each of the two, and the weighted "
            "Laplacian score",
            {"methods": ("smooth_r2", "soft_relief")},
        ),
    ),
    (
        lambda case: True,
        Choice(
            "mean_rank",
            "the table is too long for methods that compare all pairs of rows; linear and smooth R2 together came next",
            {"methods": ("linear_r2", "smooth_r2")},
        ),
    ),
)


def choose(supervision: Supervision, n_features: int) -> Choice:
    """The first rule that fits."""
    case = Case(supervision, n_features)
    return next(choice for fits, choice in RULES if fits(case))
