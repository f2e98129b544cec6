"""Make pairs from other forms: class labels, signed pairs as in metric-learn, groups of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.random import sample_without_replacement

from dubio.checks import random_of
from dubio.errors import InputError, counted
from dubio.target.classes import Classes
from dubio.target.knowledge import Supervision
from dubio.target.pairs import (
    Pairs,
    list_pairs,
    read_indices,
    read_pairs,
    row_groups,
)
from dubio.target.reader import read_supervision


def pairs_from_labels(
    y: ArrayLike,
    *,
    n_must_link: int | None = None,
    n_cannot_link: int | None = None,
    missing_label: Any = "auto",
    random_state: Any = 0,
) -> Pairs:
    """Must-links between rows of the same class, cannot-links between rows of different classes.

    Unlabelled rows are in no pair.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Classes, some possibly missing (``None``, NaN, or -1 among integers).
    n_must_link, n_cannot_link : int or None
        How many pairs to draw at random, without repetition, from all pairs of that kind; ``None`` takes all of
        them. 2,000 labelled rows have 2 million pairs. The constraint score of *all* pairs needs no list:
        pass ``y`` to it instead.
    missing_label : object
        What marks an unlabelled row; ``"auto"`` means the values listed for ``y``.
    random_state : int, RandomState or None
        Seed of the draw.

    Examples
    --------
    >>> pairs = pairs_from_labels(["a", "b", "a", None])
    >>> pairs.must_link.tolist(), pairs.cannot_link.tolist()
    ([[0, 2]], [[0, 1], [1, 2]])
    """
    labels = np.asarray(y)
    supervision = read_supervision(y, len(labels), missing_label=missing_label)
    if not isinstance(supervision, Classes):
        raise InputError("y", f"cannot be turned into pairs: {supervision.given}, and pairs need one class per row")
    return pairs_from_codes(
        supervision.codes,
        n_must_link=n_must_link,
        n_cannot_link=n_cannot_link,
        random_state=random_state,
    )


def pairs_from_codes(
    codes: NDArray[np.int64],
    *,
    n_must_link: int | None = None,
    n_cannot_link: int | None = None,
    random_state: Any = 0,
) -> Pairs:
    """The same as :func:`pairs_from_labels`, for classes as integers; -1 is unlabelled."""
    rows = np.flatnonzero(codes >= 0)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    _, sizes = np.unique(codes[rows], return_counts=True)
    random = random_of(random_state)
    # Pairs are numbered class by class and decoded from their numbers, so a sample never lists all of them.
    stops = np.cumsum(sizes)
    starts = stops - sizes
    together = _draw("n_must_link", n_must_link, sizes * (sizes - 1) // 2, random)
    first, second = _triangle(together[1])
    must_link = np.column_stack([first, second]) + starts[together[0]][:, None]
    later = len(rows) - stops
    apart = _draw("n_cannot_link", n_cannot_link, sizes * later, random)
    width = np.maximum(later[apart[0]], 1)
    cannot_link = np.column_stack([starts[apart[0]] + apart[1] // width, stops[apart[0]] + apart[1] % width])
    return read_pairs(rows[must_link], rows[cannot_link], len(codes))


def _draw(
    name: str, wanted: int | None, per_class: NDArray[np.int64], random: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The drawn pairs, each as its class and its number within the class."""
    total = int(per_class.sum())
    if wanted is None:
        numbers = np.arange(total)
    elif not 0 <= wanted <= total:
        raise InputError(name, f"={wanted}", f"give a number from 0 to {total}, the number of such pairs in y")
    else:
        numbers = np.sort(sample_without_replacement(total, wanted, random_state=random))
    stops = np.cumsum(per_class)
    block = np.searchsorted(stops, numbers, side="right")
    return block, numbers - (stops - per_class)[block]


def _triangle(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Decode 0, 1, 2, ... to (0, 1), (0, 2), (1, 2), (0, 3), ..."""
    second = ((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    # Rounding may put the square root on the wrong side of a whole number.
    second -= second * (second - 1) // 2 > numbers
    second += second * (second + 1) // 2 <= numbers
    return numbers - second * (second - 1) // 2, second


def pairs_from_signed(pairs: ArrayLike, y: ArrayLike, n_rows: int) -> Pairs:
    """Pairs in the form of metric-learn: row indices of shape (m, 2), and +1 (together) or -1 (apart) for each pair.

    Examples
    --------
    >>> read = pairs_from_signed([(0, 1), (1, 2)], [1, -1], n_rows=3)
    >>> read.must_link.tolist(), read.cannot_link.tolist()
    ([[0, 1]], [[1, 2]])
    """
    indices = read_indices("pairs", pairs)
    signs = np.asarray(y)
    if signs.shape != (len(indices),):
        raise InputError("y", f"has shape {signs.shape}", f"give +1 or -1 per pair ({counted(len(indices), 'pair')})")
    wrong = ~np.isin(signs, (-1, 1))
    if wrong.any():
        at = np.flatnonzero(wrong)[0]
        raise InputError(
            "y", f"[{at}] is {signs[at]!r}", "it must be +1 (the rows belong together) or -1 (they do not)"
        )
    return read_pairs(indices[signs == 1], indices[signs == -1], n_rows)


def pairs_from_groups(groups: Iterable[Sequence[int]], n_rows: int, *, apart: bool = False) -> Pairs:
    """Must-links between the rows of each list; with ``apart`` also cannot-links between rows of different lists.

    Lists that share a row form one group; with ``apart`` that is a contradiction.

    Examples
    --------
    >>> pairs = pairs_from_groups([[0, 1, 2], [4, 5]], n_rows=6)
    >>> pairs.must_link.tolist(), len(pairs.cannot_link)
    ([[0, 1], [0, 2], [1, 2], [4, 5]], 0)
    >>> len(pairs_from_groups([[0, 1, 2], [4, 5]], n_rows=6, apart=True).cannot_link)
    6
    """
    members = [np.asarray(group) for group in groups]
    for position, group in enumerate(members):
        if group.ndim != 1 or len(group) == 0 or group.dtype.kind not in "iu":
            raise InputError("groups", f"[{position}] is {group.tolist()!r}", "it must be a list of row indices")
    # A chain through each list is enough: its closure contains all pairs of the list.
    chain = [np.column_stack([group[:-1], group[1:]]) for group in members]
    single = [np.column_stack([group, group]) for group in members if len(group) == 1]
    heads = np.array([group[0] for group in members], dtype=np.int64)
    first, second = np.triu_indices(len(heads) if apart else 0, 1)
    must_link = np.concatenate([*chain, *single]) if members else np.empty((0, 2), dtype=np.int64)
    pairs = read_pairs(must_link, np.column_stack([heads[first], heads[second]]), n_rows)
    return list_pairs(row_groups(pairs, n_rows))


def supervision_pairs(supervision: Supervision, *, closure: bool = True) -> Pairs:
    """List all pairs of a supervision: the given pairs, those between labelled rows, and those that follow from both.

    With ``closure=False`` the pairs that follow are left out. Weighted pairs are never closed; pairs from labels then
    have weight 1.
    """
    pairs, n = supervision.pairs, supervision.n_rows
    codes = class_codes(supervision)
    if pairs.are_sure:
        groups = row_groups(pairs, n, codes)  # raises where pairs and labels contradict each other
        if closure:
            return list_pairs(groups)
    if codes is None:
        return pairs
    known = pairs_from_codes(codes)
    weights = [
        None if own is None else np.concatenate([own, np.ones(len(more))])
        for own, more in (
            (pairs.must_link_weights, known.must_link),
            (pairs.cannot_link_weights, known.cannot_link),
        )
    ]
    return read_pairs(
        np.concatenate([pairs.must_link, known.must_link]),
        np.concatenate([pairs.cannot_link, known.cannot_link]),
        n,
        *weights,
    )


def class_codes(supervision: Supervision) -> NDArray[np.int64] | None:
    """Class of each row, -1 if unknown; None if nothing but pairs is known."""
    if isinstance(supervision, Classes):
        return supervision.codes
    if supervision.n_labelled:
        raise InputError("y", f"cannot be used with pairs: {supervision.given}, and pairs need one class per row")
    return None
