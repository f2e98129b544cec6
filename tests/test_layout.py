"""The layout of the house: imports go one way, from the rooms where data comes in to those where people look at it."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dubio"

# A room may import from itself and from the rooms before it, at the top of a file or inside a function.
# "dubio" is the package's own __init__.py.
ROOMS = (
    "_kernels",
    "files",
    "table",
    "supervision",
    "graphs",
    "constraints",
    "scores",
    "subsets",
    "information",
    "noise",
    "fuzzyrough",
    "search",
    "ranking",
    "significance",
    "choice",
    "selectors",
    "methods",
    "dubio",
    "scale",
    "report",
    "plots",
    "datasets",
    "papers",
    "cli",
    "demo",
)

# Imports that go back, each with the reason.
EXCEPTIONS = {
    ("dubio.cli.app", "dubio.demo"): "the command starts the demo, which prints with the tools of the command",
}


def module_name(path: Path) -> str:
    """``dubio.methods.laplacian`` for its file, ``dubio.methods`` for that folder's ``__init__.py``."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def imported(source: str) -> set[str]:
    """The modules of the package that a source imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be followed"
            within = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else str(node.module) for name in within}
    return {name for name in found if name.split(".")[0] == "dubio"}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "dubio"


def goes_back(importer: str, target: str) -> bool:
    return ROOMS.index(room(target)) > ROOMS.index(room(importer))


def test_imports_are_found_wherever_they_stand():
    source = (
        "import dubio.tables.matrix\n"
        "def f():\n"
        "    from dubio.methods import laplacian, fisher_score\n"
        "    from dubio import FisherScore\n"
    )
    assert imported(source) == {"dubio.tables.matrix", "dubio.methods", "dubio.methods.laplacian", "dubio"}
    assert goes_back("dubio.tables.matrix", "dubio.methods.laplacian") and not goes_back(
        "dubio.methods.laplacian", "dubio.tables.matrix"
    )


def test_every_file_is_in_a_room():
    assert {room(module) for module in MODULES} == set(ROOMS)


@pytest.mark.parametrize("name", ROOMS)
def test_no_room_reaches_back(name):
    back = {
        (module, target)
        for module, source in MODULES.items()
        if room(module) == name
        for target in imported(source)
        if goes_back(module, target)
    }
    assert back == {pair for pair in EXCEPTIONS if room(pair[0]) == name}


def test_no_files_import_each_other_in_a_circle():
    imports = {module: imported(source) - {module} for module, source in MODULES.items()}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_the_guide_lists_the_rooms_in_this_order():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", text, flags=re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)(?:/|\.py)?`", row)]
    assert listed == list(ROOMS)
