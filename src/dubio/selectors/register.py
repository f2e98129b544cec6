"""The register of methods: selectors that work through others find these here by name.

It knows no selector. ``dubio/methods.py``, which knows them all, fills it when the package is imported.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Literal

from dubio.selectors.base import BaseSelector
from dubio.supervision import Supervision

Known = Literal["none", "hard", "soft", "numbers", "pairs"]

_WORDS = {
    "none": "no labels",
    "hard": "classes",
    "soft": "class probabilities",
    "numbers": "a numeric target",
    "pairs": "pairs of rows",
}


@dataclass(frozen=True)
class Method:
    """A selector by its short name."""

    name: str
    estimator: type[BaseSelector]
    takes: tuple[Known, ...]
    does: str

    @property
    def needs(self) -> str:
        """What must be known of the target, in words."""
        return " or ".join(_WORDS[kind] for kind in self.takes)

    @property
    def is_search(self) -> bool:
        """Whether it searches subsets, rather than ranking features one by one."""
        return self.estimator.__name__.endswith("Search")

    def make(self, **parameters: Any) -> Any:
        """An instance with those of the parameters that it has."""
        own = self.estimator().get_params()
        return self.estimator(**{key: value for key, value in parameters.items() if key in own})

    def require(self, supervision: Supervision) -> None:
        """Raise unless the method can use this supervision, all of it."""
        if supervision.has_pairs and "pairs" not in self.takes:
            able = ", ".join(repr(method.name) for method in METHODS.values() if "pairs" in method.takes)
            raise ValueError(
                f"method {self.name!r} takes no pairs, and {len(supervision.must_link)} must-link and "
                f"{len(supervision.cannot_link)} cannot-link pair(s) are given: use {able}, or leave the pairs out."
            )
        if supervision.kind in self.takes or (supervision.has_pairs and "pairs" in self.takes):
            return
        raise ValueError(f"method {self.name!r} needs {self.needs}, but y holds {_WORDS[supervision.kind]}.")


#: The methods, by name.
METHODS: dict[str, Method] = {}


def get_method(name: str) -> Method:
    """The method of that name; an unknown name is an error that offers the nearest ones."""
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(str(name), METHODS, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(METHODS)}."
    raise ValueError(f"method={name!r} is unknown: {hint}")
