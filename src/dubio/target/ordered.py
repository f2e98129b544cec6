"""Classes with an order, such as the stages of a disease: one per labelled row, or a probability for each."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dubio.errors import InputError, counted, listed, quoted
from dubio.target.classes import Classes, Memberships, OfClasses
from dubio.target.comparisons import Comparison, InOrder
from dubio.target.knowledge import Floats, Supervision
from dubio.target.label_values import GivenByRow, labels_by_row
from dubio.target.numbers import Numbers


@dataclass(frozen=True, kw_only=True)
class OrderScores(Numbers):
    """Numbers that stand for classes with an order."""

    has_neighbors: ClassVar[bool] = False


class _InOrder(OfClasses, ABC):
    """Classes with an order, sure or not; ``classes`` has them in their order, the lowest first. There are three or
    more.
    """

    goes_with_pairs: ClassVar[bool] = False
    believed: ClassVar[str] = "ordered"
    #: The same kind without an order.
    _unordered: ClassVar[type[OfClasses]]
    #: Content of each labelled row, in words.
    _row: ClassVar[str]

    @property
    def one_per_row(self) -> NDArray[Any] | None:
        return None  # scores depend on how many rows each class has

    def as_tested(self) -> Supervision:
        """The normal score of each row, or the expected one: see :func:`order_scores`."""
        values = np.full(self.n_rows, np.nan)
        if self.labelled.any():
            memberships = self.memberships[self.labelled]
            values[self.labelled] = memberships @ order_scores(memberships)
        return self.as_kind(OrderScores, values=values)

    def comparisons(self, weights: Floats) -> dict[str, Comparison]:
        rows = np.flatnonzero(self.labelled)
        return {"": InOrder(rows, weights[rows], self.memberships[rows])}

    def simpler(self) -> Supervision:
        return self.as_kind(self._unordered)

    def with_truth(self, truth: Supervision) -> tuple[Floats, Floats]:
        """The order scores of the classes."""
        scores = order_scores(self.memberships[self.labelled])
        return self.as_tested().goals()[0][:, None], (truth.memberships @ scores)[:, None]

    def as_drawn(self) -> tuple[Floats, list[str], NDArray[np.int64]]:
        memberships, names, _ = super().as_drawn()
        return memberships, names, np.arange(self.n_classes)

    def _counts_of_classes(self) -> list[tuple[str, str]]:
        return [*super()._counts_of_classes(), ("order of the classes", in_words(self.classes))]

    def _described(self) -> str:
        return f"{self._row} {self.n_classes} ordered classes ({in_words(self.classes)})"


@dataclass(frozen=True, kw_only=True)
class OrderedClasses(_InOrder, Classes):
    """One class per labelled row; the classes have an order."""

    kind: ClassVar[str] = "ordered"
    words: ClassVar[str] = "ordered classes"
    given: ClassVar[str] = "the target holds ordered classes"
    no_worst: ClassVar[str] = "for classes with an order"
    _unordered: ClassVar[type[OfClasses]] = Classes
    _row: ClassVar[str] = "one of"

    def grades(self) -> None:
        """None: their order was declared."""


@dataclass(frozen=True, kw_only=True)
class OrderedMemberships(_InOrder, Memberships):
    """A probability for each of some classes with an order."""

    kind: ClassVar[str] = "ordered soft"
    words: ClassVar[str] = "probabilities of ordered classes"
    given: ClassVar[str] = "the target holds probabilities of ordered classes"
    resample: ClassVar[str] = "subsample"
    _unordered: ClassVar[type[OfClasses]] = Memberships
    _row: ClassVar[str] = "probabilities of"

    def _classes(self, codes: NDArray[np.int64]) -> Classes:
        return self.as_kind(OrderedClasses, labelled=codes >= 0, codes=codes)


def order_scores(memberships: Floats) -> Floats:
    r"""The normal score of each class, from the mid-ranks of its rows.

    Let :math:`w_k = \sum_i m_{ik}` be the number of rows of class :math:`k`, and :math:`n` that of all rows. The rows
    of class :math:`k` share the places after those of lower classes, so the share of rows below the middle of the class
    is Bross's ridit [1]_, and the score is its normal quantile:

    .. math:: s_k = \Phi^{-1}\Bigl(\frac{\sum_{l < k} w_l + w_k / 2}{n}\Bigr).

    For one class per row this is the normal score of the mid-rank. A class without rows has the score 0, which nothing
    uses.

    References
    ----------
    .. [1] I. D. J. Bross (1958). How to use ridit analysis. Biometrics 14, 18-38.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.target.ordered import order_scores
    >>> order_scores(np.eye(3)[[0, 0, 1, 2]]).round(2)
    array([-0.67,  0.32,  1.15])
    """
    weights = memberships.sum(axis=0)
    middles = (np.cumsum(weights) - weights / 2) / weights.sum()
    return np.asarray(np.where(weights > 0, ndtri(np.where(weights > 0, middles, 0.5)), 0.0))


def in_words(classes: NDArray[Any]) -> str:
    """``I < II < III``; the middle is left out if there are many."""
    names = [str(name) for name in classes.tolist()]
    return " < ".join(names if len(names) <= 7 else [*names[:3], "...", *names[-3:]])


@dataclass(frozen=True, eq=False)
class OrderedLabels(GivenByRow):
    """Classes and their order. Made by :func:`dubio.ordered_classes`; pass it as ``y``.

    Attributes
    ----------
    values : array (n,)
        The class of each row; None where it is missing.
    order : tuple
        All classes, the lowest first.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("values",)

    values: NDArray[Any]
    order: tuple[Any, ...]


def ordered_classes(y: Any, order: Sequence[Any]) -> OrderedLabels:
    """Say in which order the classes of a target stand.

    Parameters
    ----------
    y : array-like (n,)
        One class per row; None, NaN and pd.NA mean "no label".
    order : sequence
        All classes, the lowest first. Classes without a row may be among them.

    Returns
    -------
    OrderedLabels
        Pass it as ``y`` to :class:`dubio.FeatureSelector` or :func:`dubio.audit_labels`.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import FeatureSelector, ordered_classes
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> stage = np.array(["I", "II", "III", "IV"])[np.digitize(X[:, 3] + rng.normal(size=200), [-1, 0, 1])]
    >>> selector = FeatureSelector().fit(X, ordered_classes(stage, ["I", "II", "III", "IV"]))
    >>> selector.supervision_.describe()
    '200 rows with one of 4 ordered classes (I < II < III < IV)'
    >>> selector.get_support(indices=True)
    array([3])
    """
    if isinstance(order, str | bytes | set | dict) or not hasattr(order, "__len__"):
        raise InputError("order", f"={order!r}", "give a list of all classes, the lowest first")
    places = list(order)
    twice = sorted({repr(name) for name in places if places.count(name) > 1})
    if twice:
        raise InputError("order", f"names {twice[0]} twice", "name every class once, the lowest first")
    values = labels_by_row(y)
    missed = {repr(value): value for value in values if value is not None and value not in places}
    if missed:
        found = f"misses {counted(len(missed), 'class', 'classes')} of y: {listed(missed, 5)}"
        raise InputError("order", found, "name all classes, the lowest first", code="order")
    return OrderedLabels(values, tuple(places))


def in_order(labels: Classes | Memberships) -> Classes | Memberships:
    """The same labels as those of ordered classes. Of two classes the order says nothing, so they stay as they are."""
    if labels.n_classes < 3:
        return labels
    kind: type[Classes | Memberships] = OrderedClasses if isinstance(labels, Classes) else OrderedMemberships
    return labels.as_kind(kind)


def refuse_unordered_text(values: NDArray[Any]) -> None:
    """Raise if classes are text, of which nobody has said the order."""
    if values.dtype.kind == "U" and len(np.unique(values)) > 2:
        found = f"holds text, such as {quoted(values[0])}, and the order of its classes is not known"
        remedy = "say it: ordered_classes(y, order=[...]), or a pandas categorical with ordered=True"
        raise InputError("y", found, remedy, code="order")
