"""Choose pairs that agree with each other: the paper's hard rule, and the soft rule suggested in its outlook."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio._kernels.overlap import select_greedily, still_coherent
from dubio.constraints.overlap import PairGeometry, pair_geometry
from dubio.errors import InputError, require_choice
from dubio.seeds import random_of
from dubio.supervision.pairs import Pairs, read_pairs
from dubio.tables.matrix import read_numbers_table

Order = Literal["shortest", "random", "weight"]


def select_pairs(
    X: ArrayLike,
    must_link: ArrayLike,
    cannot_link: ArrayLike,
    *,
    how: Literal["hard", "soft"] = "soft",
    order: Order = "shortest",
    must_link_weights: ArrayLike | None = None,
    cannot_link_weights: ArrayLike | None = None,
    random_state: Any = 0,
) -> Pairs:
    """Keep pairs that have no projected overlap with pairs of the other kind.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Used as it is.
    must_link, cannot_link : array-like of shape (m, 2) and (c, 2)
        Row indices.
    how : {"hard", "soft"}
        ``"hard"`` keeps the pairs with coherence 1 among all given pairs, as the paper does. With many pairs these
        are few or none. ``"soft"`` takes the pairs one by one and rejects a pair that overlaps, projected either way,
        with a pair of the other kind already taken. The pairs that are kept are coherent with each other.
    order : {"shortest", "random", "weight"}
        For ``how="soft"``, which pairs come first: the shortest, random ones (seeded by ``random_state``), or those
        with the largest weight (ties by length).
    must_link_weights, cannot_link_weights : array-like or None
        How certain each pair is; kept pairs keep their weights.
    random_state : int, RandomState or None
        Seed for ``order="random"``.

    Returns
    -------
    Pairs
        The pairs kept; there may be none.

    Notes
    -----
    The soft rule holds the Gram matrix of the distinct rows in pairs: 8 bytes times the squared number of these rows.

    References
    ----------
    Hindawi, Allab, Benabdeslem, "Constraint selection based semi-supervised feature selection", 2011,
    figure 2 (hard) and conclusion (soft).

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [9.0, 0.0]]
    >>> kept = select_pairs(X, [(0, 1)], [(0, 2), (1, 2)], how="soft")
    >>> kept.must_link, kept.cannot_link
    (array([[0, 1]]), array([[0, 2]]))
    """
    table = read_numbers_table(X)
    pairs = read_pairs(must_link, cannot_link, len(table), must_link_weights, cannot_link_weights)
    require_choice("how", how, ("hard", "soft"))
    return select_hard(table, pairs) if how == "hard" else select_soft(table, pairs, order, random_state)


def select_hard(X: NDArray[np.float64], pairs: Pairs) -> Pairs:
    """Keep the pairs whose coherence is 1.

    A pair is dropped at its first overlap, so this is much less work than :func:`coherence`, which counts them all.
    """
    geometry = pair_geometry(X, pairs.rows)
    together, apart = geometry.position[pairs.must_link], geometry.position[pairs.cannot_link]
    return keep(pairs, _without_overlap(geometry, together, apart), _without_overlap(geometry, apart, together))


def _without_overlap(
    geometry: PairGeometry, segments: NDArray[np.int64], lines: NDArray[np.int64]
) -> NDArray[np.bool_]:
    alive = np.arange(len(segments))
    for start, stop in geometry.line_chunks(len(lines)):
        block = lines[start:stop]
        alive = still_coherent(geometry.products(block), block, segments, alive, geometry.tolerance, geometry.rounding)
        if not len(alive):
            break
    return np.isin(np.arange(len(segments)), alive)


def select_soft(X: NDArray[np.float64], pairs: Pairs, order: Order = "shortest", random_state: Any = 0) -> Pairs:
    """Keep pairs greedily, in ``order``."""
    both = np.concatenate([pairs.must_link, pairs.cannot_link])
    kind = np.arange(len(both)) < len(pairs.must_link)
    # The rule needs every product at once, so the Gram matrix is always computed, even if it is large.
    geometry = pair_geometry(X, pairs.rows, gram_bytes=np.iinfo(np.int64).max)
    if geometry.gram is None:
        return pairs
    kept = select_greedily(
        geometry.gram,
        geometry.position[both],
        kind,
        _ordered(X, pairs, both, order, random_state),
        geometry.tolerance,
        geometry.rounding,
    )
    return keep(pairs, kept[kind], kept[~kind])


def keep(pairs: Pairs, must_link: NDArray[np.bool_], cannot_link: NDArray[np.bool_]) -> Pairs:
    """The pairs selected by two masks, with their weights."""
    return Pairs(
        pairs.must_link[must_link],
        pairs.cannot_link[cannot_link],
        None if pairs.must_link_weights is None else pairs.must_link_weights[must_link],
        None if pairs.cannot_link_weights is None else pairs.cannot_link_weights[cannot_link],
    )


def _ordered(
    X: NDArray[np.float64], pairs: Pairs, both: NDArray[np.int64], order: Order, random_state: Any
) -> NDArray[np.int64]:
    require_choice("order", order, ("shortest", "random", "weight"))
    if order == "random":
        return random_of(random_state).permutation(len(both)).astype(np.int64)
    shortest_first = np.argsort(squared_lengths(X, both), kind="stable")
    if order == "shortest":
        return shortest_first
    if pairs.are_sure:
        raise InputError("order", "='weight' needs weights", "give must_link_weights or cannot_link_weights")
    weights = np.concatenate(
        [
            np.ones(len(members)) if own is None else own
            for members, own in (
                (pairs.must_link, pairs.must_link_weights),
                (pairs.cannot_link, pairs.cannot_link_weights),
            )
        ]
    )
    return shortest_first[np.argsort(-weights[shortest_first], kind="stable")]


def squared_lengths(X: NDArray[np.float64], pairs: NDArray[np.int64], block: int = 2**22) -> NDArray[np.float64]:
    """Squared distance between the two rows of each pair, computed one block of pairs at a time."""
    lengths = np.empty(len(pairs))
    step = max(1, block // max(1, X.shape[1]))
    for start in range(0, len(pairs), step):
        part = pairs[start : start + step]
        difference = X[part[:, 0]] - X[part[:, 1]]
        lengths[start : start + step] = np.einsum("ij,ij->i", difference, difference)
    return lengths
