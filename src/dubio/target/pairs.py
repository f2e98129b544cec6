"""Pairs of rows that belong together, and pairs that do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components
from sklearn.utils.random import sample_without_replacement

from dubio.checks import random_of
from dubio.errors import InputError, counted, has_row_names, name_row


@dataclass(frozen=True)
class Pairs:
    """Validated pairs: sorted, each pair once, the smaller row first.

    ``must_link_weights`` and ``cannot_link_weights`` say how sure each pair is; ``None`` means sure pairs.
    """

    must_link: NDArray[np.int64]
    cannot_link: NDArray[np.int64]
    must_link_weights: NDArray[np.float64] | None = None
    cannot_link_weights: NDArray[np.float64] | None = None

    @classmethod
    def none(cls) -> Pairs:
        """No pairs."""
        empty = np.empty((0, 2), dtype=np.int64)
        return cls(empty, empty)

    @property
    def are_sure(self) -> bool:
        """Whether the pairs have no weights. Only sure pairs can be closed, and only they can contradict each other."""
        return self.must_link_weights is None and self.cannot_link_weights is None

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows that occur in any pair, in ascending order."""
        return np.unique(np.concatenate([self.must_link.ravel(), self.cannot_link.ravel()]))

    def moved(self, place: NDArray[np.int64]) -> Pairs:
        """The same pairs after the rows have moved: row ``i`` is now row ``place[i]``."""
        return replace(self, must_link=place[self.must_link], cannot_link=place[self.cannot_link])

    def __len__(self) -> int:
        return len(self.must_link) + len(self.cannot_link)


@dataclass(frozen=True)
class RowGroups:
    """The closure of sure pairs: rows of one group belong together, rows of rival groups do not.

    ``group`` is the group of each row, or -1 for a row that occurs in no pair; ``rivals`` is a symmetric 0/1
    matrix over the groups.
    """

    group: NDArray[np.int64]
    rivals: sparse.csr_array

    @property
    def n_groups(self) -> int:
        return int(self.rivals.shape[0])

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.group[self.group >= 0], minlength=self.n_groups)

    @property
    def n_must_link(self) -> int:
        """How many must-link pairs the groups represent."""
        sizes = self.sizes
        return int((sizes * (sizes - 1) // 2).sum())

    @property
    def n_cannot_link(self) -> int:
        """How many cannot-link pairs the rival groups represent."""
        sizes = self.sizes
        return round(float(sizes @ (self.rivals @ sizes)) / 2)


def read_pairs(
    must_link: Any, cannot_link: Any, n_rows: int, must_link_weights: Any = None, cannot_link_weights: Any = None
) -> Pairs:
    """Validate pairs of row indices.

    Parameters
    ----------
    must_link, cannot_link : array-like of shape (m, 2) or None
        Row indices from 0 to ``n_rows - 1``; ``None`` means no pairs.
    n_rows : int
        Number of rows of the table.
    must_link_weights, cannot_link_weights : array-like of shape (m,) or None
        How sure each pair is: finite and not negative; a pair of weight 0 is dropped.

    Returns
    -------
    Pairs
        Each pair once, the smaller row first. A pair given twice keeps its larger weight. A must-link of a row
        with itself has no meaning and is dropped.

    Raises
    ------
    ValueError
        For a wrong shape, an index outside the table, a cannot-link of a row with itself, or a bad weight.
        Without weights, also for a cannot-link between two rows that a chain of must-links connects. Weighted
        pairs are opinions, and opinions may differ: they are not checked against each other.

    Examples
    --------
    >>> read_pairs([(2, 0), (0, 2), (1, 1)], [(0, 3)], n_rows=4).must_link
    array([[0, 2]])
    >>> read_pairs([(0, 1), (1, 2)], [(0, 2)], n_rows=3)
    Traceback (most recent call last):
    dubio.errors.InputError: cannot_link says that rows 0 and 2 differ, but they belong together by the chain of
    must-links 0 - 1 - 2: drop one of these pairs, or give weights if the pairs are not sure.
    """
    together, together_weights = _read_kind("must_link", must_link, must_link_weights, n_rows)
    apart, apart_weights = _read_kind("cannot_link", cannot_link, cannot_link_weights, n_rows)
    pairs = Pairs(together, apart, together_weights, apart_weights)
    if pairs.are_sure and len(together) and len(apart):
        row_groups(pairs, n_rows)
    return pairs


def row_groups(pairs: Pairs, n_rows: int, codes: NDArray[np.int64] | None = None) -> RowGroups:
    """Close sure pairs, and class labels if there are any, into groups of rows and rival groups.

    Parameters
    ----------
    pairs : Pairs
        Sure pairs, as :func:`read_pairs` returns them.
    n_rows : int
        Number of rows of the table.
    codes : array of shape (n_rows,) or None
        Class of each row as an integer from 0, or -1 if unknown. Rows of one class belong together, rows of
        different classes do not.

    Raises
    ------
    ValueError
        If pairs and classes contradict each other; the message names the chain of rows.

    Examples
    --------
    >>> closed = row_groups(read_pairs([(0, 1), (1, 2)], [(2, 3)], n_rows=5), n_rows=5)
    >>> closed.group, closed.n_must_link, closed.n_cannot_link
    (array([ 0,  0,  0,  1, -1]), 3, 3)
    """
    if not pairs.are_sure:
        remedy = "pairs with weights cannot be closed: a chain of pairs has no weight"
        raise InputError("must_link_weights", "are given", remedy)
    if codes is None:
        codes = np.full(n_rows, -1, dtype=np.int64)
    labelled = np.flatnonzero(codes >= 0)
    # Each class is an extra node joined to its rows: so a class of 2,000 rows costs 2,000 edges, not 2 million.
    classes, class_of = np.unique(codes[labelled], return_inverse=True)
    if len(pairs) == 0:
        group = np.full(n_rows, -1, dtype=np.int64)
        group[labelled] = class_of
        return RowGroups(group, sparse.csr_array(1.0 - np.eye(len(classes))))
    nodes = np.concatenate([pairs.must_link, np.column_stack([labelled, class_of + n_rows])])
    links = _symmetric_zero_one(nodes, n_rows + len(classes))
    _, component = connected_components(links, directed=False)
    _refuse_two_classes(links, component, n_rows)

    # The groups are the components that contain a pair or a label, in the order of their first rows.
    used = np.union1d(pairs.rows, labelled)
    order, first = np.unique(component[used], return_index=True)
    order = order[np.argsort(first)]
    group_of_component = np.full(component.max() + 1, -1, dtype=np.int64)
    group_of_component[order] = np.arange(len(order))
    group = group_of_component[component[:n_rows]]
    apart = group[pairs.cannot_link]
    contradicted = pairs.cannot_link[apart[:, 0] == apart[:, 1]]
    if len(contradicted):
        more = f" ({len(contradicted)} cannot-links are contradicted in total)" if len(contradicted) > 1 else ""
        first_row, second_row = contradicted[0].tolist()
        chain = _by_chain(_path(links, first_row, second_row), n_rows)
        remedy = "drop one of these pairs, or give weights if the pairs are not sure"
        found = f"says that {_two(first_row, second_row)} differ, {chain}{more}"
        raise InputError("cannot_link", found, remedy, code="contradiction")
    heads = group_of_component[component[n_rows:]]
    of_classes = heads[np.column_stack(np.triu_indices(len(classes), 1))]
    return RowGroups(group, _symmetric_zero_one(np.concatenate([apart, of_classes]), len(order)))


def close_pairs(pairs: Pairs, n_rows: int) -> Pairs:
    """List every pair that follows from sure pairs.

    If a and b belong together, and b and c, then so do a and c. A row that differs from one of them differs from
    all. The list grows with the square of the group sizes (2,000 rows in one group make 2 million pairs). Scores
    that can use :func:`row_groups` need no list.

    Examples
    --------
    >>> close_pairs(read_pairs([(0, 1)], [(1, 2)], n_rows=3), n_rows=3).cannot_link
    array([[0, 2],
           [1, 2]])
    """
    return list_pairs(row_groups(pairs, n_rows))


def list_pairs(groups: RowGroups) -> Pairs:
    """List every pair that the groups of rows represent."""
    members = [np.flatnonzero(groups.group == g) for g in range(groups.n_groups)]
    together = [np.column_stack([rows[i], rows[j]]) for rows in members for i, j in [np.triu_indices(len(rows), 1)]]
    first, second = sparse.triu(groups.rivals).nonzero()
    apart = [
        np.column_stack([np.repeat(members[a], len(members[b])), np.tile(members[b], len(members[a]))])
        for a, b in zip(first, second, strict=True)
    ]
    empty = np.empty((0, 2), dtype=np.int64)
    listed = [_sorted_once(np.concatenate([empty, *blocks]))[0] for blocks in (together, apart)]
    return Pairs(listed[0], listed[1])


def restrict_pairs(pairs: Pairs, rows: ArrayLike, n_rows: int) -> Pairs:
    """Pairs for a table that keeps only some rows. The indices are positions among ``rows``, not in the whole table.

    Sure pairs are closed first, so that a chain through a dropped row is not lost. You need this function if you write
    your own cross-validation loop: scikit-learn's cross-validation drops rows of the table but does not change pairs.

    Examples
    --------
    >>> pairs = read_pairs([(0, 1), (1, 2)], [(2, 3)], n_rows=4)
    >>> kept = restrict_pairs(pairs, [3, 2, 0], n_rows=4)
    >>> kept.must_link, kept.cannot_link
    (array([[1, 2]]), array([[0, 1],
           [0, 2]]))
    """
    chosen = np.asarray(rows)
    if chosen.dtype.kind == "b":
        chosen = np.flatnonzero(chosen)
    position = np.full(n_rows, -1, dtype=np.int64)
    position[chosen] = np.arange(len(chosen))
    known = close_pairs(pairs, n_rows) if pairs.are_sure else pairs
    moved = [position[kind] for kind in (known.must_link, known.cannot_link)]
    kept = [(kind >= 0).all(axis=1) for kind in moved]
    given = known.must_link_weights, known.cannot_link_weights
    weights = (w if w is None else w[some] for w, some in zip(given, kept, strict=True))
    return read_pairs(moved[0][kept[0]], moved[1][kept[1]], len(chosen), *weights)


def pair_graph(pairs: NDArray[np.int64], weights: NDArray[np.float64] | None, n_rows: int) -> sparse.csr_array:
    """The symmetric graph whose edges are the pairs; an edge has the weight of its pair, or 1."""
    weights = np.ones(len(pairs)) if weights is None else weights
    both = np.concatenate([pairs, pairs[:, ::-1]]).T
    return sparse.csr_array((np.concatenate([weights, weights]), tuple(both)), shape=(n_rows, n_rows))


def _read_kind(
    name: str, pairs: Any, weights: Any, n_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    if pairs is None:
        if weights is not None:
            raise InputError(f"{name}_weights", f"is given without {name}", "give both or neither")
        return np.empty((0, 2), dtype=np.int64), None
    pairs = read_indices(name, pairs)
    refuse_outside(name, pairs, n_rows)
    itself = pairs[:, 0] == pairs[:, 1]
    if name == "cannot_link" and itself.any():
        at = np.flatnonzero(itself)[0]
        such = f"({counted(int(itself.sum()), 'such pair')} of {len(pairs)})"
        found = f"[{at}] = {tuple(pairs[at].tolist())} says that a row differs from itself {such}"
        raise InputError("cannot_link", found, "drop it")
    keep = ~itself
    if weights is not None:
        weights = _read_weights(f"{name}_weights", weights, len(pairs))
        keep &= weights > 0
        weights = weights[keep]
    return _sorted_once(pairs[keep], weights)


def read_indices(name: str, pairs: Any) -> NDArray[np.int64]:
    """Turn ``pairs`` into integers of shape (m, 2), or raise an error that says what is wrong. None means no pairs."""
    try:
        array = np.asarray([] if pairs is None else pairs)
    except ValueError as error:
        raise InputError(name, "holds pairs of different lengths", "give two row indices per line") from error
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        remedy = "it must have shape (m, 2), with one pair of row indices per line"
        raise InputError(name, f"has shape {array.shape}", remedy)
    is_whole = array.dtype.kind == "f" and (np.abs(array) < 2**53).all() and (array == np.floor(array)).all()
    if array.dtype.kind in "iu" or is_whole:
        return array.astype(np.int64)
    raise InputError(name, f"has dtype {array.dtype}, as in {array[0].tolist()}", "row indices must be whole numbers")


def refuse_outside(name: str, pairs: NDArray[np.int64], n_rows: int) -> None:
    """Raise if a pair names a row outside the table."""
    outside = (pairs < 0) | (pairs >= n_rows)
    if outside.any():
        at, side = np.argwhere(outside)[0]
        found = f"[{at}] = {tuple(pairs[at].tolist())} names row {pairs[at, side]}, but the table has rows 0 to "
        found += f"{n_rows - 1} ({counted(int(outside.any(axis=1).sum()), 'such pair')} of {len(pairs)})"
        raise InputError(name, found, "pairs are positions in the table, not index labels")


def _read_weights(name: str, weights: Any, expected: int) -> NDArray[np.float64]:
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, "holds values that are not numbers", "give one number per pair") from None
    if array.shape != (expected,):
        raise InputError(name, f"has shape {array.shape}", f"give one number per pair ({counted(expected, 'pair')})")
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        at = np.flatnonzero(bad)[0]
        found = f"[{at}] is {array[at]:g} ({counted(int(bad.sum()), 'bad weight')} of {expected})"
        raise InputError(name, found, "a weight must be finite and not negative")
    largest = array.max(initial=0.0)
    if largest and not 1e-100 <= largest <= 1e100:
        raise InputError(name, f"has a largest value of {largest:.3g}", "divide all weights by it")
    return array


def _sorted_once(
    pairs: NDArray[np.int64], weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Each pair once, smaller row first, with the largest of its weights."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    # Sorting one integer per pair is many times faster than sorting rows of two.
    base = np.int64(high.max(initial=0)) + 1
    once, position = np.unique(low * base + high, return_inverse=True)
    distinct = np.column_stack([once // base, once % base])
    if weights is None:
        return distinct, None
    largest = np.zeros(len(once))
    np.maximum.at(largest, position, weights)
    return distinct, largest


def _symmetric_zero_one(edges: NDArray[np.int64], n_nodes: int) -> sparse.csr_array:
    graph = pair_graph(edges, None, n_nodes)
    graph.data[:] = 1.0
    return graph


def _refuse_two_classes(links: sparse.csr_array, component: NDArray[np.int64], n_rows: int) -> None:
    """Raise if a group holds two classes; ``component`` lists the rows first, then the classes."""
    class_component = component[n_rows:]
    order = np.argsort(class_component, kind="stable")
    joined = np.flatnonzero(np.diff(class_component[order]) == 0)
    if not len(joined):
        return
    first, second = (int(order[joined[0] + step]) + n_rows for step in (0, 1))
    path = _path(links, first, second)[1:-1]
    found = f"contradicts the labels: {_two(path[0], path[-1])} have different classes, {_by_chain(path, n_rows)}"
    raise InputError("must_link", found, "drop one of these pairs, or correct a label")


def _path(links: sparse.csr_array, first: int, second: int) -> list[int]:
    """The shortest chain of links from one node to another."""
    _, before = breadth_first_order(links, first, directed=False)
    path = [second]
    while path[-1] != first:
        path.append(int(before[path[-1]]))
    return path[::-1]


def _by_chain(path: list[int], n_rows: int) -> str:
    name = name_row if has_row_names() else str
    chain = " - ".join("(same class)" if node >= n_rows else name(node) for node in path)
    return f"but they belong together by the chain of must-links {chain}"


def _two(first: int, second: int) -> str:
    return f"{name_row(first)} and {name_row(second)}" if has_row_names() else f"rows {first} and {second}"


def pairs_from_codes(
    codes: NDArray[np.int64], *, n_must_link: int | None = None, n_cannot_link: int | None = None, random_state: Any = 0
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
        remedy = "it must be +1 (the rows belong together) or -1 (they do not)"
        raise InputError("y", f"[{at}] is {signs[at]!r}", remedy)
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
    must_link = np.concatenate([*chain, *single]) if members else None
    pairs = read_pairs(must_link, np.column_stack([heads[first], heads[second]]), n_rows)
    return list_pairs(row_groups(pairs, n_rows))


def join_pairs(pairs: Pairs, n_rows: int, codes: NDArray[np.int64] | None, closure: bool) -> Pairs:
    """The given pairs, those between rows with class codes, and (``closure``) those that follow from sure ones."""
    if pairs.are_sure:
        groups = row_groups(pairs, n_rows, codes)  # raises where pairs and labels contradict each other
        if closure:
            return list_pairs(groups)
    if codes is None:
        return pairs
    more = pairs_from_codes(codes)
    both = [np.concatenate(two) for two in ((pairs.must_link, more.must_link), (pairs.cannot_link, more.cannot_link))]
    own = pairs.must_link_weights, pairs.cannot_link_weights  # a pair from labels has the weight 1
    weights = [w if w is None else np.append(w, np.ones(len(all_) - len(w))) for w, all_ in zip(own, both, strict=True)]
    return read_pairs(both[0], both[1], n_rows, *weights)
