"""Only positive rows are labelled; every other row may be positive or not."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, listed
from dubio.target.classes import Classes
from dubio.target.knowledge import Supervision
from dubio.target.label_values import GivenByRow, labels_by_row

#: With fewer positive or unlabelled rows, nothing can be held out.
_FEWEST = 2


@dataclass(frozen=True, kw_only=True)
class Positives(Supervision):
    """Some of the positive rows are labelled (``labelled``); of all other rows nothing is known."""

    kind: ClassVar[str] = "positives"
    words: ClassVar[str] = "positive rows only"
    given: ClassVar[str] = "only positive rows are labelled"
    believed: ClassVar[str] = "positives"
    _by_row: ClassVar[dict[str, Any]] = {"labelled": False}

    #: The name of the positive class.
    positive: Any
    #: The share of positive rows among the unlabelled ones, if it was given.
    prior: float | None = None

    @property
    def names(self) -> NDArray[Any]:
        """The two classes: not positive, and positive."""
        return np.asarray([f"not {self.positive}", str(self.positive)], dtype=object)

    @property
    def strata(self) -> NDArray[np.int64]:
        """1 for labelled rows, else 0: a sample keeps the share of both."""
        return self.labelled.astype(np.int64)

    def shuffled_order(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """A random order of all rows: that a row is not labelled is knowledge too."""
        return rng.permutation(self.n_rows)

    def as_tested(self) -> Supervision:
        """Labelled against unlabelled rows."""
        return self._as_classes(["unlabelled", str(self.positive)])

    def _as_classes(self, names: list[str]) -> Classes:
        """Two classes, that of all other rows and the positive one, with these names."""
        everything = np.ones(self.n_rows, dtype=bool)
        classes = np.asarray(names, dtype=object)
        return self.as_kind(Classes, labelled=everything, classes=classes, codes=self.labelled.astype(np.int64))

    def require_enough(self) -> None:
        if self.n_labelled < _FEWEST:
            found = f"has {counted(self.n_labelled, 'row')} of the positive class {self.positive!r}"
            raise InputError("y", found, f"label at least {_FEWEST} rows")
        if self.n_unlabelled < _FEWEST:
            found = f"has {counted(self.n_unlabelled, 'row')} not labelled {self.positive!r}"
            raise InputError("y", found, "there is nothing to compare the positive rows with: add rows without a label")

    def describe(self) -> str:
        share = "" if self.prior is None else f"; {100 * self.prior:g} % of these are said to be positive"
        labelled, others = (counted(n, "row") for n in (self.n_labelled, self.n_unlabelled))
        may_be = f"{others} that may be {self.positive} or not{share}{self._described_pairs()}"
        return f"{labelled} labelled {self.positive}, {may_be}"

    def described_among(self, name: str) -> str:
        return f"{name} ({self.describe()})"

    def _counts_of_labels(self) -> dict[str, int]:
        return {f"rows labelled {self.positive}": self.n_labelled}


@dataclass(frozen=True, eq=False)
class PositiveLabels(GivenByRow):
    """Rows that are labelled positive. Made by :func:`dubio.positive_unlabelled`; pass it as ``y``.

    Attributes
    ----------
    is_positive : array (n,) of bool
        The rows labelled positive; all others may be positive or not.
    positive : object
        The name of the positive class.
    prior : float or None
        The share of positive rows among the others, if it is known.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("is_positive",)

    is_positive: NDArray[np.bool_]
    positive: Any
    prior: float | None = None


def positive_unlabelled(y: Any, *, positive: Any = None, prior: float | None = None) -> PositiveLabels:
    """Say that only positive rows are labelled, and that every other row may be positive or not.

    Parameters
    ----------
    y : array-like (n,)
        The labels. Rows with the value ``positive`` are positive; all other values, and missing ones, count as
        unlabelled.
    positive : optional
        The positive class. By default the only value of ``y`` that is not missing.
    prior : float, optional
        The share of positive rows among the unlabelled ones, from 0 to 1, if you know it. By default it is estimated.
        With 0, all other rows are known to be negative, and both are ordinary classes.

    Returns
    -------
    PositiveLabels
        Pass it as ``y`` to :class:`dubio.FeatureSelector`.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import FeatureSelector, positive_unlabelled
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> ill = X[:, 1] + X[:, 2] > 0.5
    >>> y = np.where(ill & (rng.random(300) < 0.3), "ill", None)  # a third of the ill are known to be ill
    >>> selector = FeatureSelector().fit(X, positive_unlabelled(y))
    >>> sorted(selector.get_support(indices=True).tolist())
    [1, 2]
    """
    values = labels_by_row(y)
    labels: dict[str, Any] = {repr(value): value for value in values if value is not None}
    if positive is None:
        if len(labels) != 1:
            found = f"holds {counted(len(labels), 'value')} ({listed(labels, 5)})" if labels else "has no labelled row"
            raise InputError("y", found, "say which one is the positive class: positive=...", code="positive")
        positive = next(iter(labels.values()))
    is_positive = np.asarray([value is not None and bool(value == positive) for value in values], dtype=bool)
    if not is_positive.any():
        found = f"={positive!r} is not a value of y" + (f", which holds {listed(labels, 5)}" if labels else "")
        raise InputError("positive", found, "give the value of the rows that are labelled positive")
    if prior is not None and not (isinstance(prior, Real) and 0 <= float(prior) <= 1):
        raise InputError("prior", f"={prior!r}", "give the share of positive rows among the others, from 0 to 1")
    return PositiveLabels(is_positive, positive, None if prior is None else float(prior))


def read_positives(y: PositiveLabels) -> Supervision:
    """Positive and unlabelled rows; two classes if all other rows are known to be negative."""
    positives = Positives(labelled=np.array(y.is_positive, dtype=bool), positive=y.positive, prior=y.prior)
    return positives if y.prior != 0.0 else positives._as_classes(positives.names.tolist())
