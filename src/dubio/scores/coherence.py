"""Coherence of pairs, and the selection of coherent ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.checks import random_of, require_choice
from dubio.errors import InputError
from dubio.kernels.overlap import count_coherent, select_greedily
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.table.matrix import read_numbers_table
from dubio.target.pairs import Pairs, read_indices, read_pairs

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
#: An overlap below this share of the diameter of the rows counts as none.
OVERLAP_TOLERANCE = 1e-12

#: Bytes that a block of inner products may take.
BLOCK_BYTES = 2**25
#: Bytes that the whole Gram matrix may take; a larger one is replaced by blocks.
GRAM_BYTES = 2**30
#: Lines after which pairs with an overlap are dropped.
_LINES_AT_ONCE = 16


@dataclass(frozen=True)
class PairGeometry:
    """The distinct rows that occur in pairs, centred, and all their inner products if these fit in memory.

    ``position`` maps a row of the table to its position here, -1 for a row in no pair; equal rows share a position.
    """

    rows: Floats
    position: Places
    gram: Floats | None
    tolerance: float
    rounding: float

    def products(self, lines: Places) -> Floats:
        """Products of every distinct row with the direction of every line; one row per line."""
        if self.gram is None:
            return (self.rows[lines[:, 1]] - self.rows[lines[:, 0]]) @ self.rows.T
        # G is symmetric, so its rows are its columns, and rows are contiguous in memory.
        return self.gram[lines[:, 1]] - self.gram[lines[:, 0]]

    def line_chunks(self, n_lines: int, most: int = BLOCK_BYTES) -> list[tuple[int, int]]:
        return chunks(n_lines, max(1, min(most, BLOCK_BYTES // (8 * max(1, len(self.rows))))))


def pair_geometry(X: Floats, used: Places, gram_bytes: int = GRAM_BYTES) -> PairGeometry:
    """Prepare the rows ``used`` of a validated table for overlaps of pairs between them."""
    position = np.full(len(X), -1, dtype=np.int64)
    if not len(used):
        return PairGeometry(np.empty((0, X.shape[1])), position, None, 0.0, 0.0)
    # Overlaps do not depend on the origin; centred products lose the fewest digits.
    rows = X[used] - X[used[0]]
    rows -= rows.mean(axis=0)
    rows, place = np.unique(rows + 0.0, axis=0, return_inverse=True)  # adding 0.0 turns -0.0 into 0.0
    position[used] = place.reshape(-1)
    squares = np.einsum("ij,ij->i", rows, rows)
    gram = None
    if 8 * len(rows) ** 2 <= gram_bytes:
        gram = rows @ rows.T
        np.copyto(squares, np.diagonal(gram))
    largest = 0.0  # squared distance of two rows
    for start, stop in chunks(len(rows), max(1, BLOCK_BYTES // (8 * len(rows)))):
        products = gram[start:stop] if gram is not None else rows[start:stop] @ rows.T
        largest = max(largest, float((squares[start:stop, None] + squares[None, :] - 2 * products).max()))
    rounding = 16 * float(np.finfo(np.float64).eps) * float(squares.max())
    return PairGeometry(rows, position, gram, float(OVERLAP_TOLERANCE * np.sqrt(largest)), rounding)


def coherence(
    X: ArrayLike, must_link: ArrayLike | None, cannot_link: ArrayLike | None, *, n_jobs: int | None = None
) -> tuple[Floats, Floats]:
    r"""Coherence of each pair: the share of pairs of the other kind on which it has no projected overlap.

    .. math::
        Coh(m) = \frac{1}{|CL|} \sum_{c \in CL} [over_c(m) = 0], \qquad
        Coh(c) = \frac{1}{|ML|} \sum_{m \in ML} [over_m(c) = 0]

    where :math:`over_c(m)` is the length of the projection of segment m on the line of c that falls inside
    segment c. An overlap of up to 1e-12 of the diameter of the rows that occur in pairs counts as none.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Used as it is: coherence changes when columns are scaled.
    must_link, cannot_link : array-like of shape (m, 2) and (c, 2)
        Row indices; None means no pairs. The order of the results is the order given; repetitions are kept and counted.
    n_jobs : int or None
        Threads.

    Returns
    -------
    of_must_link, of_cannot_link : ndarray of shape (m,) and (c,)
        Values in [0, 1]. If there is no pair of the other kind, nothing contradicts a pair, and its value is 1.

    Notes
    -----
    All projections follow from the Gram matrix of the distinct rows in pairs. It is held in memory if it takes no more
    than 1 GiB (11,000 rows). Otherwise products are computed for one block of lines at a time, with 32 MiB per thread.
    Work grows with m times c.

    With *all* pairs of a labelling, hardly any pair has coherence 1. Take a must-link (x1, x2) and any x3 of another
    class: without an overlap with (x1, x3) and with (x2, x3), two angles of one triangle would have to be at least
    right angles.

    References
    ----------
    Davidson, Wagstaff, Basu, "Measuring constraint-set utility for partitional clustering algorithms", 2006.
    Hindawi, Allab, Benabdeslem, "Constraint selection based semi-supervised feature selection", 2011,
    equations 5 and 6.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [9.0, 0.0]]
    >>> coherence(X, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 2)])
    (array([0.5]), array([1., 0.]))
    """
    table = read_numbers_table(X)
    read_pairs(must_link, cannot_link, len(table))  # only checks them: their order and repetitions are kept here
    together, apart = read_indices("must_link", must_link), read_indices("cannot_link", cannot_link)
    geometry = pair_geometry(table, np.unique(np.concatenate([together.ravel(), apart.ravel()])))
    together, apart = geometry.position[together], geometry.position[apart]
    n_threads = resolve_threads(n_jobs)
    ways = ((together, apart), (apart, together))
    of_must_link, of_cannot_link = (_coherent_share(geometry, *way, n_threads) for way in ways)
    return of_must_link, of_cannot_link


def coherence_of_set(
    X: ArrayLike, must_link: ArrayLike | None, cannot_link: ArrayLike | None, *, n_jobs: int | None = None
) -> float:
    r"""Coherence of a set of pairs: the share of its (must-link, cannot-link) pairs without a projected overlap.

    .. math:: Coh(W) = \frac{1}{|ML| |CL|} \sum_{m \in ML} \sum_{c \in CL} [over_c(m) = 0]

    It is the mean coherence of the must-links (:func:`dubio.coherence`).

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Used as it is: coherence changes when columns are scaled.
    must_link, cannot_link : array-like of shape (m, 2) and (c, 2)
        Row indices; None means no pairs.
    n_jobs : int or None
        Threads.

    Returns
    -------
    float
        In [0, 1]; 1 if there are no pairs of one kind, because then nothing is at odds.

    References
    ----------
    M. Hindawi, K. Allab and K. Benabdeslem (2011). Constraint selection based semi-supervised feature selection. ICDM,
    1080-1085, equation 4.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [9.0, 0.0]]
    >>> coherence_of_set(X, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 2)])
    0.5
    """
    of_must_link, of_cannot_link = coherence(X, must_link, cannot_link, n_jobs=n_jobs)
    return float(of_must_link.mean()) if len(of_must_link) and len(of_cannot_link) else 1.0


def _coherent_share(geometry: PairGeometry, segments: Places, lines: Places, n_threads: int) -> Floats:
    if not len(lines):
        return np.ones(len(segments))

    def count(start: int, stop: int) -> Any:
        block = lines[start:stop]
        return count_coherent(geometry.products(block), block, segments, geometry.tolerance, geometry.rounding)

    return np.sum(run_chunks(count, geometry.line_chunks(len(lines)), n_threads), axis=0) / len(lines)


Order = Literal["shortest", "random", "weight"]


def select_pairs(
    X: Floats, pairs: Pairs, *, how: Literal["hard", "soft"] = "soft", order: Order = "shortest", random_state: Any = 0
) -> Pairs:
    """Keep pairs, with their weights, that have no projected overlap with pairs of the other kind.

    Parameters
    ----------
    how : {"hard", "soft"}
        ``"hard"`` keeps the pairs with coherence 1 among all given pairs, as the paper does. With many pairs these
        are few or none. ``"soft"`` takes the pairs one by one and rejects a pair that overlaps, projected either way,
        with a pair of the other kind already taken. The pairs that are kept are coherent with each other.
    order : {"shortest", "random", "weight"}
        For ``how="soft"``, which pairs come first: the shortest, random ones (seeded by ``random_state``), or those
        with the largest weight (ties by length).
    random_state : int, RandomState or None
        Seed for ``order="random"``.

    Notes
    -----
    The hard rule drops a pair at its first overlap, so it is much less work than :func:`coherence`, which counts them
    all. The soft rule holds the Gram matrix of the distinct rows in pairs: 8 bytes times the squared number of rows.

    References
    ----------
    Hindawi, Allab, Benabdeslem, "Constraint selection based semi-supervised feature selection", 2011,
    figure 2 (hard) and conclusion (soft).

    Examples
    --------
    >>> from dubio.target.pairs import read_pairs
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [9.0, 0.0]])
    >>> kept = select_pairs(X, read_pairs([(0, 1)], [(0, 2), (1, 2)], 4), how="soft")
    >>> kept.must_link, kept.cannot_link
    (array([[0, 1]]), array([[0, 2]]))
    """
    require_choice("how", how, ("hard", "soft"))
    if how == "hard":
        geometry = pair_geometry(X, pairs.rows)
        together, apart = geometry.position[pairs.must_link], geometry.position[pairs.cannot_link]
        return _kept(pairs, _without_overlap(geometry, together, apart), _without_overlap(geometry, apart, together))
    both = np.concatenate([pairs.must_link, pairs.cannot_link])
    kind = np.arange(len(both)) < len(pairs.must_link)
    # The rule needs every product at once, so the Gram matrix is always computed, even if it is large.
    geometry = pair_geometry(X, pairs.rows, gram_bytes=np.iinfo(np.int64).max)
    if geometry.gram is None:
        return pairs
    places, first = geometry.position[both], _ordered(X, pairs, both, order, random_state)
    kept = select_greedily(geometry.gram, places, kind, first, geometry.tolerance, geometry.rounding)
    return _kept(pairs, kept[kind], kept[~kind])


def _without_overlap(geometry: PairGeometry, segments: Places, lines: Places) -> NDArray[np.bool_]:
    alive = np.arange(len(segments))
    for start, stop in geometry.line_chunks(len(lines), _LINES_AT_ONCE):
        if not len(alive):
            break
        block, left = lines[start:stop], segments[alive]
        counts = count_coherent(geometry.products(block), block, left, geometry.tolerance, geometry.rounding)
        alive = alive[counts == len(block)]
    return np.isin(np.arange(len(segments)), alive)


def _kept(pairs: Pairs, must_link: NDArray[np.bool_], cannot_link: NDArray[np.bool_]) -> Pairs:
    """The pairs selected by two masks, with their weights."""
    given = (pairs.must_link_weights, must_link), (pairs.cannot_link_weights, cannot_link)
    weights = (None if some is None else some[mask] for some, mask in given)
    return Pairs(pairs.must_link[must_link], pairs.cannot_link[cannot_link], *weights)


def _ordered(X: Floats, pairs: Pairs, both: Places, order: Order, random_state: Any) -> Places:
    require_choice("order", order, ("shortest", "random", "weight"))
    if order == "random":
        return random_of(random_state).permutation(len(both)).astype(np.int64)
    shortest_first = np.argsort(squared_lengths(X, both), kind="stable")
    if order == "shortest":
        return shortest_first
    if pairs.are_sure:
        raise InputError("order", "='weight' needs weights", "give must_link_weights or cannot_link_weights")
    both_weights = (pairs.must_link_weights, pairs.must_link), (pairs.cannot_link_weights, pairs.cannot_link)
    weights = np.concatenate([np.ones(len(ends)) if given is None else given for given, ends in both_weights])
    return shortest_first[np.argsort(-weights[shortest_first], kind="stable")]


def squared_lengths(X: Floats, pairs: Places, block: int = 2**22) -> Floats:
    """Squared distance between the two rows of each pair, computed one block of pairs at a time."""
    lengths = np.empty(len(pairs))
    for start, stop in chunks(len(pairs), max(1, block // max(1, X.shape[1]))):
        difference = X[pairs[start:stop, 0]] - X[pairs[start:stop, 1]]
        lengths[start:stop] = np.einsum("ij,ij->i", difference, difference)
    return lengths
