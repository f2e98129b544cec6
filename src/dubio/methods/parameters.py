"""Parameters that many methods share: what they may be, and what they mean, each said once.

A docstring takes a shared text by its name in braces on a line of its own::

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    width : float
        One of the method's own.

and :func:`documented` puts the texts in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from numbers import Integral, Real
from textwrap import indent
from typing import Any, Literal, TypeVar, dataclass_transform

from dubio._sklearn import Interval, StrOptions

T = TypeVar("T")

#: How many features to keep: a count, a share, "auto" (those that stand out), or None for half.
Count = int | float | Literal["auto"] | None
#: What a parameter may be that counts something.
AT_LEAST_ONE: list[Any] = [Interval(Integral, 1, None, closed="left")]
POSITIVE: list[Any] = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE: list[Any] = [Interval(Real, 0, None, closed="left")]

#: What the shared parameters may be.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [None, *AT_LEAST_ONE, Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
    "alpha": [Interval(Real, 0, 1, closed="neither")],
    "target": [StrOptions({"auto", "classes", "numbers"})],
    "missing_label": [object],
    "random_state": ["random_state"],
    "standardize": ["boolean"],
    "n_jobs": [None, Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right")],
    "n_neighbors": AT_LEAST_ONE,
    "n_neighbors_supervised": AT_LEAST_ONE,
    "n_neighbors_noise": AT_LEAST_ONE,
    "n_anchors": [Interval(Integral, 2, None, closed="left")],
    "n_folds": [Interval(Integral, 2, None, closed="left")],
    "max_rows": AT_LEAST_ONE,
    "t": [*POSITIVE, StrOptions({"mean"})],
    "verbose": ["verbose"],
}

_TEXTS = {
    "n_features_to_select": """\
n_features_to_select : int, float, "auto" or None
    A count, a share, "auto" for the features that stand out (see :class:`~dubio.methods.base.ScoreSelector`), or None
    for half of them.""",
    "alpha": """\
alpha : float, default=0.05
    With "auto": the share of false discoveries to allow.""",
    "target": """\
target : {"auto", "classes", "numbers"}
    What a 1-D ``y`` holds. "auto" takes text, bools and whole numbers with few distinct values as classes.""",
    "missing_label": """\
missing_label : "auto", None or a value
    What means "unlabelled" in classes, besides None and NaN. "auto" adds the whole number -1.""",
    "random_state": """\
random_state : int, RandomState or None, default=0
    Seed of everything that is drawn at random.""",
    "n_jobs": """\
n_jobs : int, optional
    Threads. The result does not depend on it.""",
    "standardize": """\
standardize : bool
    Whether every column is scaled to unit variance before distances are taken. Estimators do so by default, functions
    take X as it is by default. The columns handed back are always the original ones.""",
    "neighbors": """\
neighbors : {"exact", "approximate", "anchors"}
    How the graph of many rows is found: exactly; by nearest-neighbour descent (needs pynndescent); or from the exact
    neighbours of ``n_anchors`` sampled rows, which gives estimates with standard errors.""",
    "n_anchors": """\
n_anchors : int
    Rows sampled for "anchors".""",
    "sample_weight": """\
sample_weight : array-like (n_rows,), optional
    A weight of 2 counts a row twice.""",
    "scores": """\
scores_, ranking_, support_, n_features_, explanation_, pvalues_, qvalues_
    See :class:`~dubio.methods.base.ScoreSelector`.""",
    "labelled": """\
n_labelled_, n_unlabelled_ : int
    Rows with and without a label.""",
    "max_rows": """\
max_rows : int, default=20_000
    More rows are refused before memory is asked for: the distances of all pairs of rows are kept.""",
    "experts": """\
experts : classifier, list or dict of classifiers, optional
    Your own scikit-learn classifiers with ``predict_proba``, in place of the default experts of the audit.""",
    "n_folds": """\
n_folds : int, default=5
    Folds of the audit; fewer, with a warning, if a class has fewer rows.""",
}


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[T]) -> type[T]:
    """A class whose parameters are its annotated fields: the constructor is made of them, and they are documented.

    Parameters that several methods share are fields of a common base, and stand there once.

    >>> from dubio.methods.parameters import estimator
    >>> @estimator
    ... class Wide:
    ...     width: float = 1.0
    >>> Wide(width=2.0).width
    2.0
    """
    return documented(dataclass(kw_only=True, eq=False, repr=False)(cls))


def documented(thing: T) -> T:
    """Put the shared texts into the docstring of a class or function.

    >>> from dubio.methods.parameters import documented
    >>> @documented
    ... def f(alpha):
    ...     '''Do it.
    ...
    ...     Parameters
    ...     ----------
    ...     {alpha}
    ...     '''
    >>> "share of false discoveries" in f.__doc__
    True
    """
    if thing.__doc__:
        thing.__doc__ = re.sub(
            r"^( *)\{(\w+)\}$", lambda found: indent(_TEXTS[found[2]], found[1]), thing.__doc__, flags=re.MULTILINE
        )
    return thing
