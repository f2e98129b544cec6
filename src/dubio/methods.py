"""Every method by name: what it needs, and what it does."""

from __future__ import annotations

from dubio.selectors.consensus import MeanRankScore
from dubio.selectors.constraints import ConstrainedLaplacianScore, ConstraintScore
from dubio.selectors.dependence import LinearR2Score, SmoothR2Score
from dubio.selectors.fuzzy_rough import FuzzyRoughSearch
from dubio.selectors.laplacian import LaplacianScore, SemiSupervisedLaplacianScore, SupervisedLaplacianScore
from dubio.selectors.mutual_information_ranking import MutualInformationRanking
from dubio.selectors.mutual_information_search import MutualInformationSearch
from dubio.selectors.neighbors import NeighborSearch
from dubio.selectors.register import METHODS, Method, get_method
from dubio.selectors.relief import ReliefFScore, SoftReliefScore
from dubio.selectors.weighted import FisherScore, WeightedLaplacianScore

__all__ = ["METHODS", "Method", "get_method"]

METHODS.update(
    (method.name, method)
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
)
