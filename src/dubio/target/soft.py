"""Class probabilities from confidences, votes, candidate sets and tables; agreement of annotators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.errors import InputError, counted, listed, name_row
from dubio.table.cells import is_missing
from dubio.table.matrix import column_names
from dubio.table.rows import first_of
from dubio.target.classes import SoftLabels, read_memberships
from dubio.target.label_values import as_floats, class_names, names_of_columns, unmasked
from dubio.target.reader import read_supervision


def average_votes(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Share of the votes for each class. A row in which everybody abstained (code -1) is NaN."""
    votes = _one_hot(codes, n_classes).sum(axis=1)
    total = votes.sum(axis=1, keepdims=True)
    return np.asarray(votes / np.where(total > 0, total, np.nan))


def dawid_skene(
    codes: NDArray[np.int64], n_classes: int, *, max_iter: int = 100, tol: float = 1e-6, smoothing: float = 0.01
) -> SoftLabels:
    r"""Dawid and Skene's EM on votes ``codes`` (rows, annotators), -1 where an annotator abstains.

    E step: :math:`p_{ik} \propto \pi_k \prod_e \theta^{(e)}_{k, v_{ie}}`, in logs. M step: :math:`\pi` and
    :math:`\theta` from the expected counts. A pseudo-count of ``smoothing`` keeps the entries of a confusion matrix
    above zero, so that no single vote can rule out a class for good. Rows without any vote get NaN.
    """
    said = _one_hot(codes, n_classes)
    voted = said.any(axis=(1, 2))
    P = average_votes(codes, n_classes)
    P[~voted] = 0.0
    confusions = np.empty((codes.shape[1], n_classes, n_classes))
    priors, n_iter = np.empty(n_classes), 0
    while n_iter < max_iter:
        n_iter += 1
        counts = np.einsum("ik,iel->ekl", P, said) + smoothing
        confusions = counts / counts.sum(axis=2, keepdims=True)
        priors = (P.sum(axis=0) + smoothing) / (P.sum() + n_classes * smoothing)
        logs = np.log(priors) + np.einsum("iel,ekl->ik", said, np.log(confusions))
        logs -= logs.max(axis=1, keepdims=True)
        new = np.exp(logs)
        new /= new.sum(axis=1, keepdims=True)
        new[~voted] = 0.0
        change = float(np.abs(new - P).max()) if len(P) else 0.0
        P = new
        if change < tol:
            break
    P[~voted] = np.nan
    return SoftLabels(P, np.arange(n_classes), confusions, priors, n_iter)


def _one_hot(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    return (codes[:, :, None] == np.arange(n_classes)).astype(np.float64)


def labels_with_doubt(
    labels: Any,
    *,
    confidence: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    combine: Literal["average", "dawid-skene"] = "average",
    normalize: bool = False,
    missing_label: Any = "auto",
    max_iter: int = 100,
    tol: float = 1e-6,
) -> SoftLabels:
    """The same as :func:`dubio.soft_labels`, without models of columns."""
    labels = unmasked(labels)
    if confidence is not None and (isinstance(labels, SoftLabels) or _holds_sets(labels)):
        raise InputError("confidence", "needs one class per row", "leave it out for candidate sets and memberships")
    if isinstance(labels, SoftLabels):
        return labels
    if _holds_sets(labels):
        return _from_sets(labels, classes, missing_label)
    table = np.asarray(labels, dtype=object) if isinstance(labels, list | tuple) else np.asarray(labels)
    remedy = "give one label per row, votes or probabilities"
    if table.ndim == 0 or len(table) == 0:
        raise InputError("labels", "is empty" if table.ndim else f"is a {type(labels).__name__}", remedy)
    if table.ndim == 1:
        return _from_confidence(labels, confidence, classes, missing_label)
    if confidence is not None:
        raise InputError("confidence", "needs one label per row (1-D labels)", "leave it out for a 2-D table")
    if table.ndim != 2:
        raise InputError("labels", f"has {table.ndim} dimensions", remedy)
    if _is_probability_table(table) or (normalize and table.dtype.kind in "iuf"):
        return _from_probabilities(labels, table, classes, normalize)
    codes, names = code_votes(table, classes, missing_label)
    if not len(names):
        raise InputError("labels", "holds no vote: every cell is missing", "give at least one label")
    if combine == "average":
        return SoftLabels(average_votes(codes, len(names)), names)
    return replace(dawid_skene(codes, len(names), max_iter=max_iter, tol=tol), classes=names)


def _holds_sets(labels: Any) -> bool:
    if isinstance(labels, np.ndarray) and labels.dtype.kind != "O":
        return False
    if getattr(labels, "ndim", 1) != 1 or hasattr(labels, "columns") or not isinstance(labels, Iterable):
        return False
    return any(isinstance(item, set | frozenset) for item in labels)


def _from_sets(labels: Any, classes: Sequence[Any] | None, missing_label: Any) -> SoftLabels:
    marker = -1 if missing_label == "auto" else missing_label
    rows: list[Collection[Any]] = []
    for index, item in enumerate(labels):
        is_set = isinstance(item, set | frozenset)
        if is_set and not item:
            found = f"has an empty candidate set in {name_row(index)}"
            raise InputError("labels", found, "write None for an unlabelled row")
        unlabelled = not is_set and (is_missing(item) or (marker is not None and item == marker))
        rows.append(item if is_set else () if unlabelled else {item})  # a single candidate needs no set
    names = _class_names({value for row in rows for value in row}, classes)
    position = {name: index for index, name in enumerate(names.tolist())}
    P = np.full((len(rows), len(names)), np.nan)
    for index, row in enumerate(rows):
        if row:
            P[index] = 0.0
            P[index, [position[value] for value in row]] = 1.0 / len(row)
    return SoftLabels(P, names)


def _from_confidence(
    labels: Any, confidence: ArrayLike | None, classes: Sequence[Any] | None, missing_label: Any
) -> SoftLabels:
    codes, names = _coded(labels, classes, missing_label)
    n, n_classes, labelled = len(codes), len(names), codes >= 0
    if n_classes < 2:
        raise InputError("labels", "has only one class", "list all classes in classes=[...], to share out the doubt")
    try:
        sure = np.ones(n) if confidence is None else as_floats(confidence)
    except (TypeError, ValueError) as error:
        raise InputError("confidence", "does not hold real numbers", "give one probability per row") from error
    if sure.shape != (n,):
        raise InputError("confidence", f"has shape {sure.shape}, but there are {n} labels", "give one number per row")
    bad = np.flatnonzero(labelled & ~((sure >= 0) & (sure <= 1)))
    if len(bad):
        raise InputError("confidence", f"is {sure[bad[0]]:g} in {first_of(bad)}", "give probabilities in [0, 1]")
    P = np.repeat(((1.0 - sure) / (n_classes - 1))[:, None], n_classes, axis=1)
    P[np.flatnonzero(labelled), codes[labelled]] = sure[labelled]
    P[~labelled] = np.nan
    return SoftLabels(P, names)


def _is_probability_table(table: NDArray[Any]) -> bool:
    if table.dtype.kind == "O" and all(isinstance(v, float | np.floating) for v in table.ravel()):
        table = table.astype(np.float64)
    if table.dtype.kind != "f":
        return False
    known = table[~np.isnan(table)]
    if not len(known) or (known != np.floor(known)).any():
        return True
    # Whole numbers are votes for numbered classes if some are not 0 or 1, or if rows do not sum to 1.
    complete = ~np.isnan(table).any(axis=1)
    return bool(complete.any() and (table[complete].sum(axis=1) == 1).all() and known.max() <= 1)


def _from_probabilities(labels: Any, table: NDArray[Any], classes: Sequence[Any] | None, normalize: bool) -> SoftLabels:
    if normalize:
        table = as_floats(table)
        known = ~np.isnan(table).all(axis=1)
        bad = np.flatnonzero(known & ~(table >= 0).all(axis=1))
        if len(bad):
            found = f"has negative or missing values in {first_of(bad)}"
            remedy = "a row must be complete and not negative, or all NaN (unlabelled)"
            raise InputError("labels", found, remedy, code="partly missing")
        sums = table.sum(axis=1, keepdims=True)
        empty = np.flatnonzero(sums[:, 0] == 0)
        if len(empty):
            found = f"sums to 0 in {first_of(empty)}"
            raise InputError("labels", found, "if the row is unlabelled, fill it with NaN", code="sum of zero")
        table = table / np.where(np.isinf(sums), 1.0, sums)  # infinite cells stay, and are refused
    read = read_memberships(table, None)
    P = read.memberships.copy()
    P[~read.labelled] = np.nan
    columns, names = column_names(labels, name="labels"), read.classes
    if classes is not None:
        names = class_names(list(classes), "classes")
    elif columns is not None:
        names = names_of_columns(columns, "labels")
    if len(names) != P.shape[1]:
        raise InputError("classes", f"names {len(names)} classes, but the table has {P.shape[1]} columns")
    return SoftLabels(P, names)


def code_votes(
    table: NDArray[Any], classes: Sequence[Any] | None, missing_label: Any
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Votes (rows, annotators) as codes, -1 where there is none, and the names of the classes."""
    codes, names = _coded(table.ravel(), classes, missing_label)
    return codes.reshape(table.shape), names


def _coded(labels: Any, classes: Sequence[Any] | None, missing_label: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The code of each label, -1 where there is none, and the names of the classes."""
    read = read_supervision(labels, len(labels), target="classes", missing_label=missing_label)
    names = _class_names(set(read.classes.tolist()), classes)
    position = {name: index for index, name in enumerate(names.tolist())}
    recode = np.asarray([*map(position.__getitem__, read.classes.tolist()), -1], dtype=np.int64)
    return recode[read.codes], names


def _class_names(found: set[Any], classes: Sequence[Any] | None) -> NDArray[Any]:
    if classes is None:
        try:
            return class_names(sorted(found), "labels")
        except TypeError as error:
            raise InputError("labels", f"mixes types that cannot be sorted: {sorted(map(repr, found))}") from error
    names = list(classes)
    unknown = sorted(map(repr, found - set(names)))
    if unknown:
        unnamed = counted(len(unknown), "class", "classes")
        raise InputError("labels", f"holds {unnamed} not listed in classes: {listed(unknown, 5)}")
    if len(set(names)) != len(names):
        raise InputError("classes", "lists a class twice")
    return class_names(names, "classes")


def krippendorff_alpha(
    values: NDArray[np.int64] | NDArray[np.float64], level: Literal["nominal", "ordinal", "interval"] = "nominal"
) -> float:
    r"""Krippendorff's alpha: 1 is full agreement, 0 is chance, below 0 is less than chance.

    :math:`\alpha = 1 - D_o / D_e`. Rows with one vote or none do not count. In a row with :math:`m` votes, each pair of
    different votes adds :math:`\delta^2 / (m - 1)` to the observed disagreement :math:`D_o`; :math:`D_e` is that of two
    votes drawn at random from all that count [1]_. For classes, :math:`\delta^2` is 1; with an order, it is the squared
    number of votes from one class to the other (half of both); for numbers, their squared difference.

    Parameters
    ----------
    values : array (rows, votes)
        The class of each vote, -1 for none; or its number, NaN for none.
    level : {"nominal", "ordinal", "interval"}
        Whether the votes are classes, classes with an order, or numbers.

    Returns
    -------
    float
        NaN if no row has two votes, or if all votes are the same.

    References
    ----------
    .. [1] K. Krippendorff (2004). Content Analysis: An Introduction to Its Methodology. Sage.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.target.soft import krippendorff_alpha
    >>> round(krippendorff_alpha(np.array([[0, 0], [1, 1], [0, 1], [1, 1]])), 3)
    0.533
    """
    if level == "interval":
        cast = ~np.isnan(values)
        per_row = cast.sum(axis=1)
        several = per_row >= 2
        if not several.any():
            return float("nan")
        known = np.where(cast & several[:, None], values - float(values[cast].mean()), 0.0)
        sums, squares, m = known.sum(axis=1), (known**2).sum(axis=1), np.maximum(per_row, 2)
        n, total = int(per_row[several].sum()), float(known.sum())
        observed = (2 * (m * squares - sums**2) / (m - 1))[several].sum() / n
        expected = 2 * (n * squares.sum() - total**2) / (n * (n - 1))
        return float(1.0 - observed / expected) if expected > 0 else float("nan")
    codes = values.astype(np.int64)
    votes = _one_hot(codes, int(codes.max(initial=0)) + 1).sum(axis=1)
    votes = votes[votes.sum(axis=1) >= 2]
    per_row, totals = votes.sum(axis=1), votes.sum(axis=0)
    middle = np.cumsum(totals) - totals / 2
    apart = (middle[:, None] - middle) ** 2 if level == "ordinal" else 1.0 - np.eye(len(totals))
    n = totals.sum()
    expected = totals @ apart @ totals / (n * (n - 1)) if n > 1 else 0.0
    if expected == 0.0:
        return float("nan")
    observed = (np.einsum("ik,kl,il->i", votes, apart, votes) / (per_row - 1)).sum() / n
    return float(1.0 - observed / expected)
