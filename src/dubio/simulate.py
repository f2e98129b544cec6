"""Simulate doubtful labels: an unsure annotator, wrong labels, hidden labels (for pairs see ``pairs_from_labels``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.neighbors import NearestNeighbors

from dubio._lazy import moved_name
from dubio.checks import NOT_NEGATIVE, Interval, check_parameters, random_of
from dubio.errors import InputError
from dubio.methods.parameters import documented
from dubio.target.classes import SoftLabels
from dubio.target.intervals import IntervalLabels, interval_targets
from dubio.target.positives import PositiveLabels
from dubio.target.several import SeveralLabels, several_targets

Codes = NDArray[np.int64]

__getattr__ = partial(
    moved_name,
    __name__,
    old={"unsure_expert": "dubio.simulate.unsure_annotator", "UnsureExpert": "dubio.simulate.UnsureAnnotator"},
)

_SEED = """\
random_state : int, RandomState or None, default=0
    Seed for all random numbers."""
_WRONG = f"""\
{_SEED}

Returns
-------
array (n_rows,)
    The labels, or numbers, some of them wrong."""
_TRUE = """\
y : array-like (n_rows,)
    The true classes."""

_documented = partial(
    documented,
    texts={
        "true_classes": _TRUE,
        "true_numbers": _TRUE.replace("classes", "numbers"),
        "wrong": _WRONG,
        "flips": f"""\
{_TRUE}
rate : float
    Share of the rows that get a wrong label, from 0 to 1.
{_WRONG}""",
        "intervals": f"""\
{_SEED}

Returns
-------
IntervalLabels
    For ``fit``.""",
        "hides": f"""\
share : float
    Share of the labels, of each target, that are hidden, from 0 to 1.
min_per_class : int
    How many labels of each class are kept; of a numeric target, how many labels in total.
{_SEED}""",
    },
)


class UnsureAnnotator(NamedTuple):
    """The labels of an unsure annotator: see :func:`unsure_annotator`."""

    memberships: SoftLabels
    y_error: NDArray[Any]
    y_max: NDArray[Any]


@_documented
def unsure_annotator(
    y: ArrayLike, mean: float = 0.3, *, variance: float = 0.1, random_state: Any = 0
) -> UnsureAnnotator:
    r"""An annotator who gives probabilities and sometimes errs: the "expert" of section 5.1 of the WLS paper [1]_.

    For each row, a doubt :math:`\beta_i` is drawn from a Beta distribution with the given mean and variance, and a
    wrong class :math:`s` uniformly from the other classes. Then :math:`p_{i,y_i} = 1 - \beta_i` and
    :math:`p_{i,s} = \beta_i`.

    Parameters
    ----------
    {true_classes}
    mean : float, default=0.3
        Mean doubt, between 0 and 1.
    variance : float, default=0.1
        Its variance over the rows.
    {random_state}

    Returns
    -------
    UnsureAnnotator
        ``memberships``; ``y_error``, the label switched to :math:`s` with probability :math:`\beta_i`;
        ``y_max``, the class with the largest membership.

    References
    ----------
    .. [1] G. Doquire and M. Verleysen (2012). Handling imprecise labels in feature selection with graph Laplacian.

    Examples
    --------
    >>> from dubio.simulate import unsure_annotator
    >>> annotator = unsure_annotator([0, 1, 2, 1], mean=0.3, random_state=0)
    >>> annotator.memberships.shape, annotator.memberships.memberships.sum(axis=1)
    ((4, 3), array([1., 1., 1., 1.]))
    """
    largest = mean * (1 - mean)
    most = {"mean": 1, "variance": largest}  # of a Beta distribution with this mean
    rules = {name: [Interval(Real, 0, end, closed="neither")] for name, end in most.items()}
    check_parameters(rules, {"mean": mean, "variance": variance})
    classes, codes = _classes(y)
    rng = random_of(random_state)
    size = largest / variance - 1
    doubt = rng.beta(mean * size, (1 - mean) * size, len(codes))
    wrong = _other_class(codes, len(classes), rng)
    P = np.zeros((len(codes), len(classes)))
    np.put_along_axis(P, codes[:, None], 1 - doubt[:, None], axis=1)
    np.put_along_axis(P, wrong[:, None], doubt[:, None], axis=1)
    switched = np.where(rng.uniform(size=len(codes)) < doubt, wrong, codes)
    return UnsureAnnotator(SoftLabels(P, classes), classes[switched], classes[P.argmax(axis=1)])


@_documented
def flip_labels(y: ArrayLike, rate: float, *, random_state: Any = 0) -> NDArray[Any]:
    """Change exactly ``round(rate * n)`` labels to another class, chosen uniformly.

    Parameters
    ----------
    {flips}

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.simulate import flip_labels
    >>> y = np.repeat(["a", "b"], 10)
    >>> int((flip_labels(y, 0.2, random_state=0) != y).sum())
    4
    """
    return _flipped(*_classes(y), rate, random_state, _other_class)


@_documented
def flip_labels_to_next(y: ArrayLike, rate: float, *, random_state: Any = 0) -> NDArray[Any]:
    """Change exactly ``round(rate * n)`` labels to the next class in sorted order (the last to the first).

    Parameters
    ----------
    {flips}

    Examples
    --------
    >>> from dubio.simulate import flip_labels_to_next
    >>> flip_labels_to_next(["a", "b", "c"], 1.0).tolist()
    ['b', 'c', 'a']
    """
    return _flipped(*_classes(y), rate, random_state, lambda codes, n_classes, rng: (codes + 1) % n_classes)


@_documented
def flip_labels_to_neighbor(
    y: ArrayLike, rate: float, *, order: Sequence[Any] | None = None, random_state: Any = 0
) -> NDArray[Any]:
    """Change exactly ``round(rate * n)`` labels of ordered classes to the class above or below: near misses.

    At an end there is only one way to go.

    Parameters
    ----------
    order : sequence, optional
        All classes, the lowest first; by default they are sorted.
    {flips}

    Examples
    --------
    >>> from dubio.simulate import flip_labels_to_neighbor
    >>> flip_labels_to_neighbor(["low", "mid", "high"], 1.0, order=["low", "mid", "high"]).tolist()
    ['mid', 'high', 'mid']
    """
    classes, codes = _classes(y)
    if order is not None:
        missed = [name for name in classes.tolist() if name not in list(order)]
        if missed:
            raise InputError("order", f"misses the class {missed[0]!r}", "name all classes, the lowest first")
        position = np.argsort([list(order).index(name) for name in classes.tolist()])
        classes, codes = classes[position], np.argsort(position)[codes]

    def step(codes: Codes, n_classes: int, rng: np.random.RandomState) -> Codes:
        steps = np.where(rng.uniform(size=len(codes)) < 0.5, -1, 1)
        outside = (codes + steps < 0) | (codes + steps >= n_classes)
        return np.asarray(codes + np.where(outside, -steps, steps))

    return _flipped(classes, codes, rate, random_state, step)


@_documented
def flip_labels_near_border(X: ArrayLike, y: ArrayLike, rate: float, *, random_state: Any = 0) -> NDArray[Any]:
    """Change exactly ``round(rate * n)`` labels of rows near another class to that class.

    For each row, take the distance to the nearest row of another class and divide it by the distance to the nearest
    other row of its own class. The smaller the ratio, the nearer the row is to the border. The ``2 * round(rate * n)``
    rows nearest to the border are candidates, and half of them are drawn at random. Each gets the class of its nearest
    row of another class. Distances are measured in ``X`` as it is: scale it first.

    Parameters
    ----------
    X : array-like (n_rows, n_features)
        The table in which distances are measured.
    {flips}

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.simulate import flip_labels_near_border
    >>> y = np.repeat([0, 1], 50)
    >>> flipped = flip_labels_near_border(np.arange(100.0)[:, None], y, 0.02, random_state=0)
    >>> bool(np.isin(np.flatnonzero(flipped != y), [48, 49, 50, 51]).all())
    True
    """
    classes, codes = _classes(y)
    wanted = _rows_wanted(rate, len(codes))
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(codes):
        raise InputError("X", f"has shape {table.shape} and y has {len(codes)} rows", "they must be the same rows")
    to_class = np.empty((len(classes), len(codes)))  # the distance to the nearest other row of each class
    for k in range(len(classes)):
        mine = codes == k
        tree = NearestNeighbors(n_neighbors=1).fit(table[mine])
        to_class[k, ~mine] = tree.kneighbors(table[~mine])[0][:, 0]
        to_class[k, mine] = tree.kneighbors()[0][:, 0] if mine.sum() > 1 else np.inf
    to_own = np.take_along_axis(to_class, codes[None, :], axis=0)[0]
    np.put_along_axis(to_class, codes[None, :], np.inf, axis=0)
    nearness = np.divide(to_class.min(axis=0), to_own, out=np.full(len(codes), np.inf), where=to_own > 0)
    near = np.argsort(nearness, kind="stable")[: 2 * wanted]
    rows = random_of(random_state).permutation(near)[:wanted]
    flipped = codes.copy()
    flipped[rows] = to_class.argmin(axis=0)[rows]
    return classes[flipped]


@_documented
def flip_labels_by_matrix(y: ArrayLike, matrix: ArrayLike, *, random_state: Any = 0) -> NDArray[Any]:
    """Draw a new label for each row from ``matrix[k]``, where ``k`` is its true class (classes in sorted order).

    Parameters
    ----------
    {true_classes}
    matrix : array-like (n_classes, n_classes)
        The probability of each given class (columns) for each true one (rows).
    {wrong}
    """
    classes, codes = _classes(y)
    flips = np.asarray(matrix, dtype=np.float64)
    if flips.shape != (len(classes), len(classes)):
        raise InputError("matrix", f"has shape {flips.shape}, but y has {len(classes)} classes")
    sums = flips.sum(axis=1)
    if (flips < 0).any() or not np.allclose(sums, 1.0, atol=1e-6):
        raise InputError("matrix", f"has rows that sum to {sums}", "they must be probabilities that sum to 1")
    rng = random_of(random_state)
    drawn = (rng.uniform(size=len(codes))[:, None] > flips.cumsum(axis=1)[codes]).sum(axis=1)
    return classes[np.minimum(drawn, len(classes) - 1)]


@_documented
def label_some_positives(
    y: ArrayLike, positive: Any, share: float, *, by: ArrayLike | None = None, random_state: Any = 0
) -> PositiveLabels:
    """Label ``round(share * n_positive)`` rows of the positive class, at least two; all other rows have no label.

    Parameters
    ----------
    {true_classes}
    positive : object
        The positive class.
    share : float
        Share of the positive rows that are labelled.
    by : array-like (n_rows,), optional
        By default every positive row is equally likely to be labelled. With one number per row, rows with larger
        numbers are labelled first: then the labelled rows are no random part of the positive ones.
    {random_state}

    Returns
    -------
    PositiveLabels
        For ``fit``.

    Examples
    --------
    >>> from dubio.simulate import label_some_positives
    >>> int(label_some_positives(["ill"] * 6 + ["well"] * 6, "ill", 0.5).is_positive.sum())
    3
    """
    labels = np.asarray(y)
    rows = np.flatnonzero(labels == positive)
    wanted = _rows_wanted(share, len(rows), "share")
    if len(rows) < 2:
        raise InputError("positive", f"={positive!r} has {len(rows)} rows in y", "it needs at least two")
    order = random_of(random_state).permutation(len(rows))
    if by is not None:
        order = np.argsort(-np.asarray(by, dtype=np.float64)[rows], kind="stable")
    return PositiveLabels(np.isin(np.arange(len(labels)), rows[order[: max(2, wanted)]]), positive)


@_documented
def blur_numbers(y: ArrayLike, width: float, *, random_state: Any = 0) -> IntervalLabels:
    """Replace each number by an interval that contains it, ``width`` standard deviations wide, at a random place.

    Parameters
    ----------
    {true_numbers}
    width : float
        Width of the intervals, in standard deviations of the numbers.
    {intervals}

    Examples
    --------
    >>> from dubio.simulate import blur_numbers
    >>> blurred = blur_numbers([1.0, 2.0, 3.0], 0.5)
    >>> bool(((blurred.low <= [1, 2, 3]) & (blurred.high >= [1, 2, 3])).all())
    True
    """
    check_parameters({"width": NOT_NEGATIVE}, {"width": width})
    values = np.asarray(y, dtype=np.float64)
    wide = width * float(np.nanstd(values))
    low = values - random_of(random_state).uniform(size=len(values)) * wide
    return interval_targets(low, np.maximum(low + wide, values))


@_documented
def censor_numbers(y: ArrayLike, share: float, *, random_state: Any = 0) -> IntervalLabels:
    """Censor about this share of the numbers from above, at random numbers that do not depend on them.

    Of a censored row it is only known that its number is above the limit.

    Parameters
    ----------
    {true_numbers}
    share : float
        Share of the rows that are censored, from 0 to below 1.
    {intervals}

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.simulate import censor_numbers
    >>> round(float(np.isinf(censor_numbers(np.arange(100.0), 0.5).high).mean()), 1)
    0.5
    """
    check_parameters({"share": [Interval(Real, 0, 1, closed="left")]}, {"share": share})
    values = np.asarray(y, dtype=np.float64)
    limit = random_of(random_state).permutation(values)
    limit = limit + np.quantile(values - limit, 1 - share)
    return interval_targets(np.minimum(values, limit), np.where(values <= limit, values, np.inf))


@_documented
def misstate_numbers(y: ArrayLike, rate: float, *, size: float = 3.0, random_state: Any = 0) -> NDArray[np.float64]:
    """Make exactly ``round(rate * n)`` numbers grossly wrong: off by about ``size`` standard deviations.

    Parameters
    ----------
    {true_numbers}
    rate : float
        Share of the rows that are made wrong, from 0 to 1.
    size : float, default=3.0
        How far wrong numbers are off, in standard deviations: between 2/3 and 4/3 of it.
    {wrong}

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.simulate import misstate_numbers
    >>> int((misstate_numbers(np.arange(50.0), 0.1) != np.arange(50)).sum())
    5
    """
    values = np.array(y, dtype=np.float64)
    wanted = _rows_wanted(rate, len(values))
    rng = random_of(random_state)
    rows = rng.permutation(len(values))[:wanted]
    away = size * rng.uniform(2 / 3, 4 / 3, size=wanted) * rng.choice([-1.0, 1.0], size=wanted)
    values[rows] += away * float(np.nanstd(values))
    return values


@_documented
def hide_labels(y: ArrayLike, share: float, *, min_per_class: int = 1, random_state: Any = 0) -> NDArray[Any]:
    """Hide ``round(share * n)`` labels, but keep at least ``min_per_class`` of each class.

    Parameters
    ----------
    y : array-like (n_rows,)
        Classes, or floats for a numeric target.
    {hides}

    Returns
    -------
    array (n_rows,)
        The labels. Hidden ones are None; of a numeric target, NaN.

    Examples
    --------
    >>> from dubio.simulate import hide_labels
    >>> hide_labels(["a", "a", "b", "b"], 0.5).tolist().count(None)
    2
    """
    labels = np.asarray(y)
    wanted = _rows_wanted(share, len(labels), "share")
    is_numeric = labels.dtype.kind == "f"
    order = random_of(random_state).permutation(len(labels))
    codes = np.zeros(len(labels), dtype=np.int64) if is_numeric else _classes(y)[1]
    kept = np.concatenate([order[codes[order] == k][:min_per_class] for k in range(codes.max(initial=0) + 1)])
    free = order[~np.isin(order, kept)]
    if wanted > len(free):
        found = f"={share} would hide {wanted} of {len(labels)} labels, but min_per_class={min_per_class} keeps "
        raise InputError("share", found + f"{len(kept)}", f"hide at most {len(free)}")
    hidden = labels.astype(np.float64 if is_numeric else object)
    hidden[free[:wanted]] = np.nan if is_numeric else None
    return hidden


@_documented
def hide_targets(targets: Any, share: float, *, min_per_class: int = 2, random_state: Any = 0) -> SeveralLabels:
    """Hide this share of the cells of each of several targets, independently: see :func:`hide_labels`.

    Parameters
    ----------
    targets : data frame, 2-D array or dict of str to target
        As in :func:`dubio.several_targets`.
    {hides}

    Returns
    -------
    SeveralLabels
        The targets with missing cells.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.simulate import hide_targets
    >>> hidden = hide_targets({"a": np.arange(50.0), "b": np.arange(50) % 2}, 0.5)
    >>> int(np.isnan(hidden.targets["a"]).sum()), hidden.targets["b"].tolist().count(None)
    (25, 25)
    """
    rng, given = random_of(random_state), several_targets(targets)
    hidden = {
        name: hide_labels(values, share, min_per_class=min_per_class, random_state=rng.randint(2**31 - 1))
        for name, values in given.targets.items()
    }
    return SeveralLabels(hidden, given.named)


def _flipped(
    classes: NDArray[Any],
    codes: Codes,
    rate: float,
    random_state: Any,
    other: Callable[[Codes, int, np.random.RandomState], Codes],
) -> NDArray[Any]:
    """The labels, ``round(rate * n)`` of which ``other`` changes."""
    rng = random_of(random_state)
    rows = rng.permutation(len(codes))[: _rows_wanted(rate, len(codes))]
    flipped = codes.copy()
    flipped[rows] = other(codes[rows], len(classes), rng)
    return classes[flipped]


def _rows_wanted(rate: float, n_rows: int, argument: str = "rate") -> int:
    check_parameters({argument: [Interval(Real, 0, 1, closed="both")]}, {argument: rate})
    return round(rate * n_rows)


def _classes(y: ArrayLike) -> tuple[NDArray[Any], Codes]:
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) < 2:
        raise InputError("y", "has only one class", "there is nothing to confuse it with")
    return classes, codes.astype(np.int64)


def _other_class(codes: Codes, n_classes: int, rng: np.random.RandomState) -> Codes:
    return (codes + rng.randint(1, n_classes, size=len(codes))) % n_classes
