"""Public names that are imported when they are first used (PEP 562), so that importing the package takes no time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazy_names(
    package: str, homes: Sequence[str], names: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package.

    A name is looked up in its homes, in their order: put modules that import others after them. Modules of the package
    can be used as its attributes too, without importing them first.
    """

    def get(name: str) -> Any:
        here = sys.modules[package]
        if name in names:
            for home in homes:
                found = vars(import_module(home))
                if name in found:
                    setattr(here, name, found[name])  # the next time it is found at once
                    return found[name]
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=here)

    def directory() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return get, directory
