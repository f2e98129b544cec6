"""Every method by name: what it needs, and what it does."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Literal

from dubio.selectors.base import BaseSelector
from dubio.selectors.consensus import MeanRankScore
from dubio.selectors.constraints import ConstrainedLaplacianScore, ConstraintScore
from dubio.selectors.dependence import LinearR2Score, SmoothR2Score
from dubio.selectors.fuzzy_rough import FuzzyRoughSearch
from dubio.selectors.laplacian import LaplacianScore, SemiSupervisedLaplacianScore, SupervisedLaplacianScore
from dubio.selectors.mutual_information_ranking import MutualInformationRanking
from dubio.selectors.mutual_information_search import MutualInformationSearch
from dubio.selectors.neighbors import NeighborSearch
from dubio.selectors.relief import ReliefFScore, SoftReliefScore
from dubio.selectors.weighted import FisherScore, WeightedLaplacianScore
from dubio.supervision import Supervision

Known = Literal["none", "hard", "soft", "numbers", "pairs"]

_WORDS = {
    "none": "no labels",
    "hard": "classes",
    "soft": "class probabilities",
    "numbers": "a numeric target",
    "pairs": "pairs of rows",
}


@dataclass(frozen=True)
class Method:
    """A selector by its short name."""

    name: str
    estimator: type[BaseSelector]
    takes: tuple[Known, ...]
    does: str

    @property
    def needs(self) -> str:
        """What must be known of the target, in words."""
        return " or ".join(_WORDS[kind] for kind in self.takes)

    @property
    def is_search(self) -> bool:
        """Whether it searches subsets, rather than ranking features one by one."""
        return self.estimator.__name__.endswith("Search")

    def make(self, **parameters: Any) -> Any:
        """An instance with those of the parameters that it has."""
        own = self.estimator().get_params()
        return self.estimator(**{key: value for key, value in parameters.items() if key in own})

    def require(self, supervision: Supervision) -> None:
        """Raise unless the method can use this supervision, all of it."""
        if supervision.has_pairs and "pairs" not in self.takes:
            able = ", ".join(repr(method.name) for method in METHODS.values() if "pairs" in method.takes)
            raise ValueError(
                f"method {self.name!r} takes no pairs, and {len(supervision.must_link)} must-link and "
                f"{len(supervision.cannot_link)} cannot-link pair(s) are given: use {able}, or leave the pairs out."
            )
        if supervision.kind in self.takes or (supervision.has_pairs and "pairs" in self.takes):
            return
        raise ValueError(f"method {self.name!r} needs {self.needs}, but y holds {_WORDS[supervision.kind]}.")


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("mean_rank", MeanRankScore, ("hard", "soft", "numbers"), "consensus: the mean rank of two scores"),
        Method("smooth_r2", SmoothR2Score, ("hard", "soft", "numbers"), "any smooth relation of one feature"),
        Method("linear_r2", LinearR2Score, ("hard", "soft", "numbers"), "correlation; analysis of variance"),
        Method("soft_relief", SoftReliefScore, ("soft", "hard"), "unlike neighbours, weighted by class probabilities"),
        Method("relieff", ReliefFScore, ("hard",), "nearest rows of each class, ReliefF"),
        Method("weighted_laplacian", WeightedLaplacianScore, ("soft", "hard"), "likely classmates close together, WLS"),
        Method("fisher", FisherScore, ("hard", "soft"), "spread between classes over spread within"),
        Method("supervised_laplacian", SupervisedLaplacianScore, ("numbers",), "close where the target is, SLS"),
        Method(
            "semi_supervised_laplacian",
            SemiSupervisedLaplacianScore,
            ("numbers",),
            "SLS with the rows whose number is missing, SSLS",
        ),
        Method(
            "laplacian",
            LaplacianScore,
            ("none", "hard", "soft", "numbers"),
            "smooth over neighbours; labels are not used",
        ),
        Method("constraint", ConstraintScore, ("pairs", "hard"), "must-links close, cannot-links apart"),
        Method(
            "constrained_laplacian",
            ConstrainedLaplacianScore,
            ("pairs", "hard"),
            "Laplacian score that respects pairs, CSFS",
        ),
        Method(
            "neighbor_search",
            NeighborSearch,
            ("hard", "soft", "numbers"),
            "subsets in which near rows tell the target; wrong labels cleaned",
        ),
        Method(
            "mutual_information_search",
            MutualInformationSearch,
            ("hard", "soft"),
            "subsets with most information on classes that may be wrong, LNT",
        ),
        Method(
            "mutual_information",
            MutualInformationRanking,
            ("hard", "soft"),
            "information of one feature on classes that may be wrong, LNT",
        ),
        Method(
            "fuzzy_rough_search",
            FuzzyRoughSearch,
            ("hard", "soft", "numbers", "none"),
            "smallest set that decides the target, FRFS and ssFRFS",
        ),
    )
}


def get_method(name: str) -> Method:
    """The method of that name; an unknown name is an error that offers the nearest ones."""
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(str(name), METHODS, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(METHODS)}."
    raise ValueError(f"method={name!r} is unknown: {hint}")
