"""gamma: how far the features decide the target."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

from dubio._kernels.threads import resolve_threads
from dubio.fuzzyrough.connectives import IMPLICATORS, MATCHING_IMPLICATOR, T_NORMS
from dubio.fuzzyrough.criterion import ConnectiveCriterion, DependencyCriterion, LukasiewiczCriterion
from dubio.fuzzyrough.decision import hard_decision, number_decision, soft_decision
from dubio.fuzzyrough.similarity import SIMILARITIES, similarity_coordinates
from dubio.supervision import Supervision, read_supervision
from dubio.supervision.reader import Target
from dubio.table import column_names, pick_columns, read_mixed_matrix

Similarity = Literal["std", "range", "gaussian"]
TNorm = Literal["lukasiewicz", "minimum", "product"]
Implicator = Literal["lukasiewicz", "kleene-dienes", "reichenbach", "goedel", "goguen"]


def fuzzy_rough_dependency(
    X: Any,
    y: Any,
    *,
    features: ArrayLike | None = None,
    nominal: ArrayLike | None = None,
    similarity: Similarity = "std",
    t_norm: TNorm = "lukasiewicz",
    implicator: Implicator | None = None,
    sample_weight: ArrayLike | None = None,
    unlabelled_weight: float = 1.0,
    target: Target = "auto",
    missing_label: Any = "auto",
    return_positive_region: bool = False,
    n_jobs: int | None = None,
) -> float | tuple[float, NDArray[np.float64]]:
    r"""Fuzzy-rough dependency of the target on a subset of features.

    With the relation :math:`R_B(x, y) = T_{a \in B} R_a(x, y)` between rows,

    .. math::
        POS_B(x) = \max_C \min_y I(R_B(x, y), C(y)), \qquad \gamma_B = \frac{\sum_x w_x POS_B(x)}{\sum_x w_x},

    where C runs over the fuzzy classes, and an unlabelled row is a class of its own. With the Lukasiewicz
    connectives and one class a row, :math:`POS_B(x)` is the distance :math:`\min(1, \sum_a \min(1, |a(x) - a(y)| /
    \sigma_a))` from x to the nearest row that is not known to be of its class.

    Parameters
    ----------
    X : array or data frame (n_rows, n_features)
        The table, as it is. NaN is a missing value: like every other. Columns of a frame that hold categories, text
        or bools are nominal: two values are either equal or not alike at all.
    y : None, 1-D array, 2-D array (n_rows, classes) or SoftLabels
        Classes, class probabilities or numbers, any of them missing. A numeric target is compared as a numeric
        feature is: C for row x holds each row in the degree that its number is like that of x.
    features : array of int, names or bool, optional
        The subset B; all features by default.
    nominal : array of bool, int or names, optional
        Columns that are nominal although they hold numbers.
    similarity : {"std", "range", "gaussian"}
        ``max(0, 1 - d / standard deviation)``, ``1 - d / range`` or ``exp(-d^2 / (2 variance))``.
    t_norm : {"lukasiewicz", "minimum", "product"}
        Joins the features. Only Lukasiewicz, with one of the linear similarities, avoids the look at all pairs.
    implicator : {"lukasiewicz", "kleene-dienes", "reichenbach", "goedel", "goguen"}, optional
        By default the S-implicator of the t-norm: the first, second and third for the three t-norms.
    sample_weight : array (n_rows,), optional
        Weight of each row in gamma. A row of weight zero is left out altogether.
    unlabelled_weight : float
        Multiplies the weight of the unlabelled rows. They stay full enemies of the others unless it is zero.
    target, missing_label
        See :func:`dubio.supervision.read_supervision`.
    return_positive_region : bool
        Return the positive region too.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    gamma : float
        In [0, 1]; it never falls when a feature is added.
    positive_region : array (n_rows,), with ``return_positive_region=True``
        Membership of each row (0 for rows left out).

    References
    ----------
    R. Jensen, S. Vluymans, N. Mac Parthaláin, C. Cornelis, Y. Saeys, "Semi-supervised fuzzy-rough feature
    selection", 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import fuzzy_rough_dependency
    >>> X, y = load_wine(return_X_y=True)
    >>> round(fuzzy_rough_dependency(X, y), 3), round(fuzzy_rough_dependency(X, y, features=[0, 6]), 3)
    (1.0, 0.627)
    """
    table, is_nominal = read_mixed_matrix(X, nominal)
    supervision = read_supervision(y, len(table), target=target, missing_label=missing_label)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
    chosen = pick_columns(features, column_names(X), table.shape[1], "features")
    criterion, kept = dependency_criterion(
        table[:, chosen],
        supervision,
        weights,
        nominal=is_nominal[chosen],
        similarity=similarity,
        t_norm=t_norm,
        implicator=implicator,
        unlabelled_weight=unlabelled_weight,
        n_threads=resolve_threads(n_jobs),
    )
    if not return_positive_region:
        return criterion.value_all
    region = np.zeros(len(table))
    region[kept] = criterion.region_all
    return criterion.value_all, region


def dependency_criterion(
    table: NDArray[np.float64],
    supervision: Supervision,
    sample_weight: NDArray[np.float64] | None,
    *,
    nominal: NDArray[np.bool_],
    similarity: str,
    t_norm: str,
    implicator: str | None,
    unlabelled_weight: float,
    n_threads: int,
) -> tuple[DependencyCriterion, NDArray[np.int64]]:
    """The criterion for a validated table, and the rows that count in it (those of positive weight)."""
    _check_choice("similarity", similarity, SIMILARITIES)
    _check_choice("t_norm", t_norm, T_NORMS)
    implicator = MATCHING_IMPLICATOR[t_norm] if implicator is None else implicator
    _check_choice("implicator", implicator, IMPLICATORS)
    if not (np.isfinite(unlabelled_weight) and unlabelled_weight >= 0):
        raise ValueError(f"unlabelled_weight={unlabelled_weight!r}: give a number that is not negative.")
    weights = np.ones(len(table)) if sample_weight is None else sample_weight
    weights = np.where(supervision.labelled, weights, unlabelled_weight * weights)
    kept = np.flatnonzero(weights > 0)
    if len(kept) == 0:
        raise ValueError(
            f"sample_weight and unlabelled_weight leave none of the {len(table)} rows with a positive weight."
        )
    if supervision.values is not None:
        decision = number_decision(supervision.values[kept], similarity)
    elif supervision.kind == "soft":
        assert supervision.memberships is not None
        decision = soft_decision(supervision.memberships[kept])
    else:
        codes = np.full(len(table), -1) if supervision.codes is None else supervision.codes
        decision = hard_decision(codes[kept])
    coordinates = similarity_coordinates(table[kept], nominal, similarity)
    if t_norm == implicator == "lukasiewicz" and similarity != "gaussian":
        return LukasiewiczCriterion(coordinates, decision, weights[kept], n_threads), kept
    return ConnectiveCriterion(
        coordinates,
        decision,
        weights[kept],
        n_threads,
        nominal=nominal,
        t_norm=t_norm,
        implicator=implicator,
        gaussian=similarity == "gaussian",
    ), kept


def _check_choice(name: str, value: Any, choices: Any) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r}: give one of {', '.join(map(repr, choices))}.")
