"""The layout of the house: imports go one way, from the rooms where data comes in to those where people look at it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"

# A room may import from itself and from the rooms before it, at the top of a file or inside a function.
# "dubio" is the package's own __init__.py; "dubio_papers" is the laboratory, beside the library.
ROOMS = (
    "_lazy",
    "errors",
    "_kernels",
    "progress",
    "seeds",
    "counts",
    "whole_files",
    "memory",
    "_gpu",
    "_sklearn",
    "tables",
    "supervision",
    "problem",
    "alerts",
    "graphs",
    "constraints",
    "search",
    "information",
    "moments",
    "ranking",
    "noise",
    "fuzzyrough",
    "significance",
    "methods",
    "pipelines",
    "dubio",
    "scale",
    "report",
    "plots",
    "dubio_papers",
    "cli",
    "__main__",
    "demo",
)

# Imports that go back, each with the reason.
EXCEPTIONS = {
    ("dubio.cli.app", "dubio.demo"): "the command starts the demo, which prints with the tools of the command",
}

#: Lines of a file above which there must be two subjects in it.
MOST_LINES = 600


def module_name(path: Path) -> str:
    """``dubio.graphs.neighbors`` for its file, ``dubio.graphs`` for that folder's ``__init__.py``."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = [path for name in ("dubio", "dubio_papers") for path in sorted((SOURCE / name).rglob("*.py"))]
MODULES = {module_name(path): path.read_text(encoding="utf-8") for path in FILES}


def imported(source: str) -> set[str]:
    """The modules of the library and the laboratory that a source imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be followed"
            within = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else str(node.module) for name in within}
    return {name for name in found if name.split(".")[0] in ("dubio", "dubio_papers")}


def room(module: str) -> str:
    if module.startswith("dubio_papers"):
        return "dubio_papers"
    return module.split(".")[1] if "." in module else "dubio"


def goes_back(importer: str, target: str) -> bool:
    return ROOMS.index(room(target)) > ROOMS.index(room(importer))


def test_imports_are_found_wherever_they_stand():
    source = (
        "import dubio.errors\n"
        "def f():\n"
        "    from dubio.methods import laplacian, fisher_score\n"
        "    from dubio import FisherScore\n"
    )
    assert imported(source) == {"dubio.errors", "dubio.methods", "dubio.methods.laplacian", "dubio"}
    assert goes_back("dubio.errors", "dubio.methods.laplacian")
    assert not goes_back("dubio.methods.laplacian", "dubio.errors")


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


def test_private_helpers_of_scikit_learn_come_through_one_door():
    found = set()
    for module, source in MODULES.items():
        for node in ast.walk(ast.parse(source)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            if any(re.match(r"sklearn\.(.*\.)?_", name) for name in names):
                found.add(module)
    assert found == {"dubio._sklearn"}


def test_torch_comes_through_one_door_and_only_when_it_is_used():
    found = {}
    for module, source in MODULES.items():
        tree = ast.parse(source)
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] == "torch" for name in names):
                found[module] = node in tree.body
    assert found == {"dubio._gpu.torch_door": False}


def test_no_file_is_so_long_that_a_second_subject_crept_in():
    assert {module: lines for module, text in MODULES.items() if (lines := text.count("\n")) > MOST_LINES} == {}


def test_no_two_files_of_one_name_stand_in_different_rooms():
    """Unless they are the same thing at two levels: a kernel (for the CPU or a GPU), and what calls it."""
    places = defaultdict(set)
    for module in MODULES:
        folder, _, name = module.rpartition(".")
        if room(module) not in ("_kernels", "_gpu"):
            places[name].add(folder)
    assert {name: sorted(folders) for name, folders in places.items() if len(folders) > 1} == {}


def test_only_one_place_stores_what_was_fitted():
    """Methods are pure: beyond constructors, only the base classes assign attributes of an estimator."""
    storing = {
        "dubio.methods.base": {"_assign", "_assign_shape", "_keep"},
        "dubio.methods.score_selector": {"_keep"},
        "dubio.methods.moment_selector": {"_fit_running"},
    }
    found = defaultdict(set)
    for module, source in MODULES.items():
        if not module.startswith("dubio.methods."):
            continue
        for cls in [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]:
            if not any(
                isinstance(base, ast.Name) and base.id.endswith(("Selector", "SelectorMixin", "Score"))
                for base in cls.bases
            ):
                continue
            for function in [node for node in cls.body if isinstance(node, ast.FunctionDef)]:
                if function.name == "__init__":
                    continue
                for node in ast.walk(function):
                    targets = node.targets if isinstance(node, ast.Assign) else []
                    targets = [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else targets
                    for target in [part for t in targets for part in ast.walk(t)]:
                        if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                            found[module].add(function.name)
    assert {module: names - storing.get(module, set()) for module, names in found.items()} == {
        module: set() for module in found
    }
    assert set(found) == set(storing)


def test_the_guide_lists_the_rooms_in_this_order():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", text, flags=re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)(?:/|\.py)?`", row)]
    assert listed == list(ROOMS)
