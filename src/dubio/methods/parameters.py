"""Parameters that many methods share: their valid values and their meaning, each in one place.

:func:`documented` adds the text of every parameter that a docstring leaves out: what the function that a class names in
``_function`` says about it, or the shared text. A docstring can also insert a text by its name in braces, on a separate
line: ``{alpha}``, to go on about it.
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
    **dict.fromkeys(("n_neighbors", "n_neighbors_supervised", "n_neighbors_noise", "max_rows"), AT_LEAST_ONE),
    "neighbors": [StrOptions({"exact", "approximate", "anchors"})],
    **{name: [Interval(Integral, 2, None, closed="left")] for name in ("n_anchors", "n_folds")},
    "t": [*POSITIVE, StrOptions({"mean"})],
    "verbose": ["verbose"],
    "device": [StrOptions({"cpu", "cuda", "auto"})],
}

_TEXTS = {
    "X": """\
X : array-like (n, d)
    The table, on any scale: the score does not depend on the scale or offset of a column.""",
    "t": """\
t : float or "mean"
    Width of the kernel; "mean" uses the mean (squared) distance over the edges.""",
    "n_features_to_select": """\
n_features_to_select : int, float, "auto", "relevant", "sufficient" or None
    A count, a share, "auto" or "relevant" for the features that tests find related to the target (see
    :mod:`dubio.methods.base`), "sufficient" for as many of these as predict the target as well as all of them, or None
    for half of all features.""",
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
    "max_rows": """\
max_rows : int, default=20_000
    A table with more rows is refused, because the distances of all pairs of rows are kept in memory.""",
    "device": """\
device : {"cpu", "cuda", "auto"}
    Where the distances of rows are computed. "cuda" is an NVIDIA GPU and needs torch (``pip install 'dubio[gpu]'``).
    "auto" takes the GPU, if there is one, for tables so large that it is faster.""",
    "verbose": """\
verbose : int, default=0
    1 prints a line after each step, also of the training of experts.""",
    "experts": """\
experts : classifier, list or dict of classifiers, optional
    Your own scikit-learn classifiers with ``predict_proba``, instead of the default experts of the audit.""",
    "n_folds": """\
n_folds : int, default=5
    Number of folds of the audit; reduced, with a warning, if a class has fewer rows.""",
}


#: Attributes that estimators share: a base class lists them in ``_attributes``.
_ATTRIBUTES = {
    "scores": """\
scores_, ranking_, support_, n_features_, explanation_, pvalues_, qvalues_
    See :class:`~dubio.methods.base.ScoreSelector`. {} scores are good.""",
    "subsets": """\
subsets_, values_, ranking_, support_, n_features_, explanation_, n_relevant_, n_sufficient_, pvalues_, qvalues_
    See :class:`~dubio.methods.base.SearchSelector`.""",
    "classes": """\
classes_ : array
    The classes, in the order of the columns of soft labels.""",
    "std_error": """\
scores_std_error_ : array (n_features,)
    With ``neighbors="anchors"``: the standard error of each score.""",
    "labelled": """\
n_labelled_, n_unlabelled_ : int
    Number of rows with and without a label.""",
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
    """Insert the shared texts, those of a family of functions, and attributes into a docstring.

    >>> from dubio.methods.parameters import documented
    >>> @documented
    ... def f(alpha):
    ...     '''Do it.'''
    >>> "share of false discoveries" in f.__doc__
    True
    """
    function = getattr(sys.modules[thing.__module__], getattr(thing, "_function", ""), None)
    texts = {**_TEXTS, **texts, **dict(_entries(inspect.getdoc(function) or "", "Parameters"))}
    own = list(inspect.signature(thing).parameters)  # type: ignore[arg-type]
    doc = inspect.cleandoc(thing.__doc__ or "")
    doc = re.sub(r"^\{(\w+)\}$", lambda found: texts[found[1]], doc, flags=re.MULTILINE)
    told = _entries(doc, "Parameters")
    names = {name for entry in told for name in entry[1].partition(" : ")[0].split("\n")[0].split(", ")}
    told += [(name, texts[name]) for name in own if name in texts and name not in names]
    told.sort(key=lambda entry: own.index(entry[0]) if entry[0] in own else len(own))
    doc = _with_section(doc, "Parameters", [text for _, text in told])
    if isinstance(thing, type) and "_attributes" not in vars(thing):
        shared = [_ATTRIBUTES[name] for name in getattr(thing, "_attributes", ())]
        shared = [text.format("Low" if getattr(thing, "_lower_is_better", True) else "High") for text in shared]
        doc = _with_section(doc, "Attributes", shared + [text for _, text in _entries(doc, "Attributes")])
    thing.__doc__ = indent(doc, "    ").lstrip()
    return thing


_SECTION = r"\n\n{}\n-+\n(.*?)(?=\n\n\w[\w ]*\n---|\Z)"


def _entries(doc: str, section: str) -> list[tuple[str, str]]:
    """Each entry of a section of a docstring, with the first name that it is about."""
    found = re.search(_SECTION.format(section), doc, re.DOTALL)
    return [(re.split(r"\W", text)[0], text) for text in re.split(r"\n(?=\S)", found[1])] if found else []


def _with_section(doc: str, section: str, entries: list[str]) -> str:
    """The docstring with these entries in a section, which comes before others unless it is there."""
    found = re.search(_SECTION.format(section), doc, re.DOTALL)
    found = found or re.search(r"(?=\n\n(?!Parameters)\w[\w ]*\n---)|\Z", doc)
    title = f"\n\n{section}\n{'-' * len(section)}\n" if entries else ""
    return doc[: found.start()] + title + "\n".join(entries) + doc[found.end() :] if found else doc
