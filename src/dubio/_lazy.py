"""Public names that are imported when they are first used (PEP 562), so that importing the package takes no time."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package, and its ``__all__``.

    The public names are those that the stub of the package imports (``__init__.pyi``, which type checkers and editors
    read too). Modules of the package can be used as its attributes, without importing them first.
    """
    stub = ast.parse(Path(file).with_name("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    home_of = {alias.name: str(node.module) for node in imports for alias in node.names}

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

    return get, directory, sorted(home_of)
