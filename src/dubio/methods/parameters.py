"""Parameters that many methods share: their valid values and their meaning, each in one place.

A docstring includes a shared text by its name in braces, on a separate line::

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    width : float
        One of the method's own.

and :func:`documented` inserts the texts. ``{all of laplacian_score}`` stands for what that function of the same module
says about its parameters which are parameters of the class too; ``{t of laplacian_score}`` for one of them.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from textwrap import indent
from types import MappingProxyType
from typing import Any, Literal, TypeVar, dataclass_transform, get_args

from dubio.checks import AT_LEAST_ONE, POSITIVE, Interval, StrOptions
from dubio.target.reader import Target

T = TypeVar("T")

#: How many features to keep: a count, a share, "auto" or "relevant" (those that stand out), "sufficient", None (half).
Count = int | float | Literal["auto", "relevant", "sufficient"] | None

#: Valid values of the shared parameters.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [
        None,
        *AT_LEAST_ONE,
        Interval(Real, 0, 1, closed="right"),
        StrOptions({"auto", "relevant", "sufficient"}),
    ],
    "alpha": [Interval(Real, 0, 1, closed="neither")],
    "target": [StrOptions(set(get_args(Target)))],
    "missing_label": [object],
    "random_state": ["random_state"],
    "standardize": ["boolean"],
    "n_jobs": [None, Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right")],
    "n_neighbors": AT_LEAST_ONE,
    "n_neighbors_supervised": AT_LEAST_ONE,
    "n_neighbors_noise": AT_LEAST_ONE,
    "neighbors": [StrOptions({"exact", "approximate", "anchors"})],
    "n_anchors": [Interval(Integral, 2, None, closed="left")],
    "n_folds": [Interval(Integral, 2, None, closed="left")],
    "max_rows": AT_LEAST_ONE,
    "t": [*POSITIVE, StrOptions({"mean"})],
    "verbose": ["verbose"],
    "device": [StrOptions({"cpu", "cuda", "auto"})],
}

_TEXTS = {
    "n_features_to_select": """\
n_features_to_select : int, float, "auto", "relevant", "sufficient" or None
    A count, a share, "auto" or "relevant" for the features that stand out (see
    :class:`~dubio.methods.base.ScoreSelector`), "sufficient" for as many of these as predict the target as
    well as all of them, or None for half of all features.""",
    "alpha": """\
alpha : float, default=0.05
    With "auto": the allowed share of false discoveries.""",
    "target": """\
target : {"auto", "classes", "numbers", "ordered"}
    What a 1-D ``y`` holds. "auto" treats text, bools and whole numbers with few distinct values as classes, and pandas
    categoricals with an order as ordered classes. "ordered": classes with an order (:func:`dubio.ordered_classes`).
    A 2-D ``y`` holds class probabilities; with "numbers", a target in every column (:func:`dubio.several_targets`).""",
    "missing_label": """\
missing_label : "auto", None or a value
    The value that means "unlabelled" in classes, besides None and NaN. With "auto" it is the whole number -1.""",
    "random_state": """\
random_state : int, RandomState or None, default=0
    Seed for all random numbers.""",
    "n_jobs": """\
n_jobs : int, optional
    Number of threads. The result does not depend on it.""",
    "standardize": """\
standardize : bool
    Whether every column is scaled to unit variance before distances are computed. Estimators do so by default;
    functions use X as it is by default. The columns returned are always the original ones.""",
    "neighbors": """\
neighbors : {"exact", "approximate", "anchors"}
    How the neighbours are found: exactly; by nearest-neighbour descent (needs pynndescent); or exactly, but only for
    ``n_anchors`` sampled rows, which gives estimates with standard errors. The last two are for many rows.""",
    "n_anchors": """\
n_anchors : int
    Number of rows sampled for "anchors".""",
    "sample_weight": """\
sample_weight : array-like (n_rows,), optional
    The weight of each row; a row with weight 2 counts twice.""",
    "scores": """\
scores_, ranking_, support_, n_features_, explanation_, pvalues_, qvalues_
    See :class:`~dubio.methods.base.ScoreSelector`.""",
    "labelled": """\
n_labelled_, n_unlabelled_ : int
    Number of rows with and without a label.""",
    "max_rows": """\
max_rows : int, default=20_000
    A table with more rows is refused, because the distances of all pairs of rows are kept in memory.""",
    "device": """\
device : {"cpu", "cuda", "auto"}
    Where the distances of rows are computed. "cuda" is an NVIDIA GPU and needs torch (``pip install 'dubio[gpu]'``).
    "auto" takes the GPU, if there is one, for tables so large that it is faster.""",
    "experts": """\
experts : classifier, list or dict of classifiers, optional
    Your own scikit-learn classifiers with ``predict_proba``, instead of the default experts of the audit.""",
    "n_folds": """\
n_folds : int, default=5
    Number of folds of the audit; reduced, with a warning, if a class has fewer rows.""",
}


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[T]) -> type[T]:
    """Make the annotated fields of a class its parameters: the constructor takes them, and the docstring lists them.

    Parameters that several methods share are fields of a common base class.

    >>> from dubio.methods.parameters import estimator
    >>> @estimator
    ... class Wide:
    ...     width: float = 1.0
    >>> Wide(width=2.0).width
    2.0
    """
    return documented(dataclass(kw_only=True, eq=False, repr=False)(cls))


def documented(thing: T, texts: Mapping[str, str] = MappingProxyType({})) -> T:
    """Insert the shared texts, and those of a family of functions, into the docstring of a class or function.

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

    def insert(found: re.Match[str]) -> str:
        name, function = found[2], found[3]
        if function is None:
            return indent({**_TEXTS, **texts}[name], found[1])
        entries = _parameter_texts(getattr(sys.modules[thing.__module__], function))
        own = inspect.signature(thing).parameters  # type: ignore[arg-type]
        wanted = [text for names, text in entries.items() if name in names or (name == "all" and names[0] in own)]
        return indent("\n".join(wanted), found[1])

    if thing.__doc__:
        thing.__doc__ = re.sub(r"^( *)\{(\w+)(?: of (\w+))?\}$", insert, thing.__doc__, flags=re.MULTILINE)
    return thing


def _parameter_texts(function: Any) -> dict[tuple[str, ...], str]:
    """Each entry of the section "Parameters" of a docstring, by the names that it is about."""
    section = inspect.getdoc(function).split("Parameters\n----------\n")[1].split("\n\n")[0]  # type: ignore[union-attr]
    entries = re.split(r"\n(?=\w)", section)
    return {tuple(entry.split(" : ")[0].split("\n")[0].split(", ")): entry for entry in entries}
