"""Public names that are imported when they are first used (PEP 562), so that importing the package takes no time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package.

    ``homes`` has, for each module of the package, the public names that it holds, with blanks between them. Modules of
    the package can be used as its attributes too, without importing them first.
    """
    home_of = {name: f"{package}.{home}" for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        here = sys.modules[package]
        if name in home_of:
            setattr(here, name, getattr(import_module(home_of[name]), name))  # the next time it is found at once
            return vars(here)[name]
        if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=here)

    def directory() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return get, directory
