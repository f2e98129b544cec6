"""The criterion of fuzzy-rough searches: gamma, the degree to which the features determine the target."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dubio._sklearn import NOT_NEGATIVE, check_parameters
from dubio.errors import InputError
from dubio.fuzzyrough.connectives import IMPLICATORS, MATCHING_IMPLICATOR, T_NORMS
from dubio.fuzzyrough.decision import Decision, hard_decision, number_decision, soft_decision
from dubio.fuzzyrough.gamma import ConnectiveCriterion, DependencyCriterion, LukasiewiczCriterion
from dubio.fuzzyrough.similarity import SIMILARITIES, similarity_coordinates
from dubio.problem import Problem
from dubio.supervision import Classes, Memberships, Numbers, Supervision

Similarity = Literal["std", "range", "gaussian"]
TNorm = Literal["lukasiewicz", "minimum", "product"]
Implicator = Literal["lukasiewicz", "kleene-dienes", "reichenbach", "goedel", "goguen"]


def dependency_criterion(
    problem: Problem,
    *,
    similarity: str,
    t_norm: str,
    implicator: str | None,
    unlabelled_weight: float,
    n_threads: int,
) -> tuple[DependencyCriterion, NDArray[np.int64]]:
    """The criterion for a problem, and the rows that count in it (those with a positive weight)."""
    _check_choice("similarity", similarity, SIMILARITIES)
    _check_choice("t_norm", t_norm, T_NORMS)
    implicator = MATCHING_IMPLICATOR[t_norm] if implicator is None else implicator
    _check_choice("implicator", implicator, IMPLICATORS)
    check_parameters({"unlabelled_weight": NOT_NEGATIVE}, {"unlabelled_weight": unlabelled_weight})
    weights = np.ones(problem.n_rows) if problem.sample_weight is None else problem.sample_weight
    weights = np.where(problem.supervision.labelled, weights, unlabelled_weight * weights)
    kept = np.flatnonzero(weights > 0)
    if len(kept) == 0:
        raise InputError(
            "sample_weight",
            f"and unlabelled_weight leave none of the {problem.n_rows} rows with a positive weight",
            "give some rows a positive weight",
        )
    decision = _decision(problem.supervision, kept, similarity)
    coordinates = similarity_coordinates(problem.table[kept], problem.nominal, similarity)
    if _uses_trees(similarity, t_norm, implicator):
        return LukasiewiczCriterion(coordinates, decision, weights[kept], n_threads), kept
    return ConnectiveCriterion(
        coordinates,
        decision,
        weights[kept],
        n_threads,
        nominal=problem.nominal,
        t_norm=t_norm,
        implicator=implicator,
        gaussian=similarity == "gaussian",
    ), kept


def search_seconds(n_rows: int, n_features: int, similarity: str, t_norm: str, implicator: str | None) -> float:
    """About how long a search takes on one core (:func:`dubio.progress.pace` times that).

    Measured with 1,000 to 20,000 rows and 10 to 50 features. How many steps are needed depends on the table, so it may
    be off by a factor of two, or more.
    """
    if _uses_trees(similarity, t_norm, MATCHING_IMPLICATOR[t_norm] if implicator is None else implicator):
        return 4.2 * (n_rows / 20_000) ** 1.4 * (n_features / 50) ** 0.5
    return 1.5e-8 * n_rows**2 * n_features


def _uses_trees(similarity: str, t_norm: str, implicator: str) -> bool:
    """Whether near rows can be found in a tree; else all pairs of rows are visited."""
    return t_norm == implicator == "lukasiewicz" and similarity != "gaussian"


def _decision(supervision: Supervision, rows: NDArray[np.int64], similarity: str) -> Decision:
    if isinstance(supervision, Numbers):
        return number_decision(supervision.values[rows], similarity)
    if isinstance(supervision, Memberships):
        return soft_decision(supervision.memberships[rows])
    codes = supervision.codes if isinstance(supervision, Classes) else np.full(supervision.n_rows, -1)
    return hard_decision(codes[rows])


def _check_choice(name: str, value: Any, choices: Any) -> None:
    if not isinstance(value, str) or value not in choices:
        raise InputError(name, f"={value!r}", f"give one of {', '.join(map(repr, choices))}")
