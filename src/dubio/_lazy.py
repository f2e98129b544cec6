"""Public names that are imported when they are first used (PEP 562), so that importing the package takes no time."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def lazy_names(
    package: str, file: str, old: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package, and its ``__all__``.

    The public names are those that the stub of the package imports (``__init__.pyi``, which type checkers and editors
    read too). Modules of the package can be used as its attributes, without importing them first. ``old`` has the full
    new name of each old one.
    """
    stub = ast.parse(Path(file).with_name("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    home_of = {alias.name: str(node.module) for node in imports for alias in node.names}

    def get(name: str) -> Any:
        here = sys.modules[package]
        if name in home_of:
            setattr(here, name, getattr(import_module(home_of[name]), name))  # the next time it is found at once
            return vars(here)[name]
        if old and name in old:
            return moved_name(package, name, old, stacklevel=3)
        if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=here)

    def directory() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return get, directory, sorted(home_of)


def moved_name(module: str, name: str, old: Mapping[str, str], stacklevel: int = 2) -> Any:
    """The object behind an old name of a module, with a warning that gives its full new name."""
    if name not in old:
        raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
    warnings.warn(f"{module}.{name} is now {old[name]}", DeprecationWarning, stacklevel=stacklevel)
    home, _, new = old[name].rpartition(".")
    return getattr(import_module(home), new)
