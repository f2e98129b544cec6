"""Every method by name, with what can be said about it without fitting anything.

A method states in its own class attributes what it is (a ranking or a search), what it takes and what it does. Front
ends, and selectors that use other methods (``FeatureSelector``, ``MeanRankScore``, streams), look it up here.
"""

from __future__ import annotations

import difflib
from collections import UserDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

from dubio.errors import InputError, counted
from dubio.methods.base import SearchSelector, Selector
from dubio.target.knowledge import Supervision, kinds_in_words

M = TypeVar("M", bound=type[Selector])

#: The estimators by the names of their methods, in the order in which `dubio methods` lists them.
_ESTIMATORS = {
    "mean_rank": "scores.consensus:MeanRankScore",
    "smooth_r2": "scores.relation:SmoothR2Score",
    "linear_r2": "scores.relation:LinearR2Score",
    "soft_relief": "scores.relief:SoftReliefScore",
    "relieff": "scores.relief:ReliefFScore",
    "weighted_laplacian": "scores.weighted:WeightedLaplacianScore",
    "fisher": "scores.weighted:FisherScore",
    "supervised_laplacian": "scores.laplacian:SupervisedLaplacianScore",
    "semi_supervised_laplacian": "scores.laplacian:SemiSupervisedLaplacianScore",
    "laplacian": "scores.laplacian:LaplacianScore",
    "constraint": "scores.constraint:ConstraintScore",
    "constrained_laplacian": "scores.constrained_laplacian:ConstrainedLaplacianScore",
    "neighbor_search": "searches.neighbor_search:NeighborSearch",
    "linear_search": "searches.linear_search:LinearSearch",
    "mutual_information_search": "searches.mutual_information:MutualInformationSearch",
    "mutual_information": "searches.mutual_information:MutualInformationRanking",
    "fuzzy_rough_search": "searches.fuzzy_rough:FuzzyRoughSearch",
}


#: What the name of a method in its printed form ends with.
AS_PUBLISHED = "_as_published"


@dataclass(frozen=True)
class Method:
    """A selector by its short name; ``printed``: with the parameters of its paper instead of the defaults."""

    estimator: type[Selector]
    printed: bool = False

    @property
    def name(self) -> str:
        return self.estimator._name + AS_PUBLISHED * self.printed

    @property
    def does(self) -> str:
        """What it does, in a few words."""
        return self.estimator._does + ", as printed" * self.printed

    @property
    def takes(self) -> tuple[str, ...]:
        """Kinds of supervision that it takes; "pairs" can be one of them."""
        return self.estimator._takes

    @property
    def needs(self) -> str:
        """What must be known of the target, in words."""
        return kinds_in_words(self.takes)

    @property
    def is_search(self) -> bool:
        """Whether it searches subsets instead of ranking features one by one."""
        return issubclass(self.estimator, SearchSelector)

    def make(self, **parameters: Any) -> Any:
        """An instance with the given parameters; parameters that it does not have are ignored."""
        own = self.estimator().get_params()
        given = {key: value for key, value in parameters.items() if key in own}
        return self.estimator(**({**self.estimator._as_published, **given} if self.printed else given))

    def require(self, supervision: Supervision) -> None:
        """Raise unless the method can use all of this supervision."""
        pairs = supervision.pairs
        takes_pairs = "pairs" in self.takes
        if supervision.has_pairs and not takes_pairs:
            able = _able(lambda one: "pairs" in one._takes, " or ")
            given = f"{counted(len(pairs.must_link), 'must-link pair')} and "
            given += f"{counted(len(pairs.cannot_link), 'cannot-link pair')} are given"
            remedy = f"use {able}, or leave the pairs out"
            raise InputError("method", f"={self.name!r} takes no pairs, but {given}", remedy)
        if supervision.is_taken_by(self.takes) or (supervision.has_pairs and takes_pairs):
            return
        remedy = ""
        if supervision.instead:
            remedy = f"use {_able(lambda one: supervision.is_taken_by(one._takes))}, or rank for {supervision.instead}"
        wrong = f"={self.name!r} needs {self.needs}, but {supervision.given}"
        raise InputError("method", wrong, remedy, code=supervision.refused)

    def require_weights(self) -> None:
        """Raise unless the method takes weights of rows."""
        if not self.estimator._takes_weights:
            able = _able(lambda one: one._takes_weights)
            raise InputError("sample_weight", f"cannot be used by {self.name!r}", f"leave it out, or use one of {able}")

    def require_given(self) -> None:
        """Raise unless the method can begin with given columns."""
        if not self.estimator._takes_given:
            able = _able(lambda one: one._takes_given, " or ")
            raise InputError("given", f"cannot be used by {self.name!r}", f"leave it out, or use {able}")


def _able(test: Callable[[type[Selector]], bool], joined: str = ", ") -> str:
    """The names of the methods that pass a test."""
    return joined.join(repr(name) for name, method in METHODS.items() if test(method.estimator))


class _Register(UserDict[str, Method]):
    """The methods by name. Their files are imported when they are first listed: a score alone needs none."""

    def __init__(self) -> None:
        """Import nothing yet."""

    @cached_property
    def data(self) -> dict[str, Method]:  # type: ignore[override]
        return {method.name: method for name in _ESTIMATORS for method in _forms(_imported(name))}


def _imported(name: str) -> type[Selector]:
    """The estimator of a method of this library."""
    module, _, estimator = _ESTIMATORS[name].partition(":")
    found: type[Selector] = getattr(import_module(f"dubio.{module}"), estimator)
    return found


def _forms(estimator: type[Selector]) -> list[Method]:
    """The method with its defaults, and in its printed form where this differs."""
    return [Method(estimator), *([Method(estimator, printed=True)] if estimator._as_published else [])]


METHODS = _Register()


def register(estimator: M) -> M:
    """Add an estimator that is not in this library to the register; also as a decorator."""
    if not estimator._name or not estimator._does:
        raise TypeError(f"{estimator.__name__} needs the class attributes _name and _does to be registered.")
    METHODS.update({method.name: method for method in _forms(estimator)})
    return estimator


def get_method(name: str) -> Method:
    """The method with this name; for an unknown name, the error suggests the most similar names."""
    if isinstance(name, str) and name in _ESTIMATORS and "data" not in vars(METHODS):  # import only this one
        return Method(_imported(name))
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(str(name), METHODS, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"give one of {', '.join(METHODS)}"
    raise InputError("method", f"={name!r} is unknown", hint)
