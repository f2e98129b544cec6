"""Every method by name, with what can be said about it without fitting anything.

A method states in its own class attributes what it is (a ranking or a search), what it takes and what it does. Front
ends, and selectors that use other methods (``FeatureSelector``, ``MeanRankScore``, streams), look it up here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

from dubio.errors import InputError, counted
from dubio.methods.base import SearchSelector, Selector
from dubio.target.knowledge import Supervision, kinds_in_words

M = TypeVar("M", bound=type[Selector])

#: The estimators, in the order in which `dubio methods` lists them.
_ESTIMATORS = (
    "scores.consensus:MeanRankScore",
    "scores.relation:SmoothR2Score",
    "scores.relation:LinearR2Score",
    "scores.relief:SoftReliefScore",
    "scores.relief:ReliefFScore",
    "scores.weighted:WeightedLaplacianScore",
    "scores.weighted:FisherScore",
    "scores.numeric_laplacian:SupervisedLaplacianScore",
    "scores.numeric_laplacian:SemiSupervisedLaplacianScore",
    "scores.laplacian:LaplacianScore",
    "scores.constraint:ConstraintScore",
    "scores.constrained_laplacian:ConstrainedLaplacianScore",
    "searches.neighbor_search:NeighborSearch",
    "searches.linear_search:LinearSearch",
    "searches.mutual_information:MutualInformationSearch",
    "searches.mutual_information:MutualInformationRanking",
    "searches.fuzzy_rough:FuzzyRoughSearch",
)


@dataclass(frozen=True)
class Method:
    """A selector by its short name."""

    estimator: type[Selector]

    @property
    def name(self) -> str:
        return self.estimator._name

    @property
    def does(self) -> str:
        """What it does, in a few words."""
        return self.estimator._does

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
        return self.estimator(**{key: value for key, value in parameters.items() if key in own})

    def require(self, supervision: Supervision) -> None:
        """Raise unless the method can use all of this supervision."""
        pairs = supervision.pairs
        if supervision.has_pairs and "pairs" not in self.takes:
            able = " or ".join(repr(method.name) for method in METHODS.values() if "pairs" in method.takes)
            raise InputError(
                "method",
                f"={self.name!r} takes no pairs, but {counted(len(pairs.must_link), 'must-link pair')} and "
                f"{counted(len(pairs.cannot_link), 'cannot-link pair')} are given",
                f"use {able}, or leave the pairs out",
            )
        if supervision.is_taken_by(self.takes) or (supervision.has_pairs and "pairs" in self.takes):
            return
        code = "" if supervision.has_target else "no target"
        able = ", ".join(repr(method.name) for method in METHODS.values() if supervision.is_taken_by(method.takes))
        remedy = f"use {able}, or rank for one target at a time" if supervision.targets else ""
        raise InputError("method", f"={self.name!r} needs {self.needs}, but {supervision.given}", remedy, code=code)

    def require_weights(self) -> None:
        """Raise unless the method takes weights of rows."""
        if not self.estimator._takes_weights:
            able = ", ".join(repr(method.name) for method in METHODS.values() if method.estimator._takes_weights)
            raise InputError("sample_weight", f"cannot be used by {self.name!r}", f"leave it out, or use one of {able}")


class _Register(MutableMapping[str, Method]):
    """The methods by name. Their files are imported when the first one is looked up: a score alone needs none."""

    @cached_property
    def _methods(self) -> dict[str, Method]:
        homes = (home.split(":") for home in _ESTIMATORS)
        estimators = [getattr(import_module(f"dubio.{module}"), name) for module, name in homes]
        return {estimator._name: Method(estimator) for estimator in estimators}

    def __getitem__(self, name: str) -> Method:
        return self._methods[name]

    def __setitem__(self, name: str, method: Method) -> None:
        self._methods[name] = method

    def __delitem__(self, name: str) -> None:
        del self._methods[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)


METHODS = _Register()


def register(estimator: M) -> M:
    """Add an estimator that is not in this library to the register; also as a decorator."""
    if not estimator._name or not estimator._does:
        raise TypeError(f"{estimator.__name__} needs the class attributes _name and _does to be registered.")
    METHODS[estimator._name] = Method(estimator)
    return estimator


def get_method(name: str) -> Method:
    """The method with this name; for an unknown name, the error suggests the most similar names."""
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(str(name), METHODS, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"give one of {', '.join(METHODS)}"
    raise InputError("method", f"={name!r} is unknown", hint)
