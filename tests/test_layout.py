"""The layout of the house: imports go one way, from the rooms where data comes in to those where people look at it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import dubio

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"

#: The floors of the house, from below. A file imports from its own floor and from lower ones, at the top or inside a
#: function; rooms of one floor may use each other, but never in a circle of files. See CONTRIBUTING.md.
FLOORS = (
    ("_lazy", "errors", "words", "checks", "progress", "_sklearn", "kernels"),
    ("table", "target", "problem", "sampling", "ranking", "findings"),
    ("moments", "neighbors", "alerts", "evidence"),
    ("doubt", "methods", "scores", "searches"),
    ("selector", "simulate", "trust", "pipelines", "streams", "dubio", "charts", "feature_charts", "plots", "__main__"),
    ("dubio_app",),
    ("dubio_papers",),
)

# Imports that go up, each with the reason.
EXCEPTIONS = {
    ("dubio.__main__", "dubio_app.command"): "`python -m dubio` is the command",
}


def module_name(path: Path, base: Path) -> str:
    """``dubio.neighbors.graphs`` for its file, ``dubio.neighbors`` for that folder's ``__init__.py``."""
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PACKAGES = {"dubio": SOURCE, "dubio_app": SOURCE, "dubio_papers": ROOT / "lab"}
MODULES = {
    module_name(path, base): path.read_text(encoding="utf-8")
    for name, base in PACKAGES.items()
    for path in sorted((base / name).rglob("*.py"))
}


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
    return {name for name in found if name.split(".")[0] in PACKAGES}


def room(module: str) -> str:
    package, _, rest = module.partition(".")
    return package if package != "dubio" or not rest else rest.split(".")[0]


def floor(module: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room(module) in rooms)


def test_imports_are_found_wherever_they_stand():
    source = (
        "import dubio.errors\n"
        "def f():\n"
        "    from dubio.scores import laplacian, relief\n"
        "    from dubio import FisherScore\n"
    )
    assert imported(source) == {"dubio.errors", "dubio.scores.laplacian", "dubio.scores.relief", "dubio"}
    assert floor("dubio.errors") < floor("dubio.problem") < floor("dubio.scores.laplacian") < floor("dubio_app.files")


def test_every_file_is_in_a_room():
    assert {room(module) for module in MODULES} == {room for rooms in FLOORS for room in rooms}


def test_the_guide_names_every_room():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {room for rooms in FLOORS for room in rooms} - {"dubio", "__main__"}
    assert {room for room in rooms if f"`{room}`" not in guide} == set()


def test_no_floor_imports_from_a_higher_one():
    up = {(module, t) for module, source in MODULES.items() for t in imported(source) if floor(t) > floor(module)}
    assert up == set(EXCEPTIONS)


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
    assert found == {"dubio.kernels.gpu": False}


def test_only_one_place_stores_what_was_fitted():
    """Methods are pure: beyond constructors, only the base classes assign attributes of an estimator."""
    storing = {
        "dubio.methods.base": {"_assign", "_assign_shape", "_keep"},
        "dubio.methods.from_moments": {"_fit_running"},
    }
    found = defaultdict(set)
    for module, source in MODULES.items():
        if room(module) not in ("methods", "scores", "searches", "selector"):
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


#: Names of all kinds of targets, as classes and as words, and the flags that tell one from another.
KINDS = {"Supervision", "Nothing", "OfClasses", "Classes", "Memberships", "Numbers", "OrderScores", "OrderedClasses"}
KINDS |= {"OrderedMemberships", "Intervals", "Positives", "SeveralTargets", "Voted", "VotedClasses", "VotedNumbers"}
KIND_WORDS = {"none", "hard", "soft", "numbers", "ordered", "ordered soft", "positives", "intervals", "several"}
KIND_WORDS |= {"votes", "votes of numbers"}
KIND_FLAGS = {"has_target", "has_neighbors", "goes_with_pairs", "form", "believed"}


def questions_about_kinds(source: str) -> list[int]:
    """The lines that ask of which kind a target is: of its class, of the word for its kind, or of a flag of it."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            names = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
            found += [node.lineno] if names & KINDS else []
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "kind":
            words = {word.value for word in ast.walk(node) if isinstance(word, ast.Constant)}
            found += [node.lineno] if words & KIND_WORDS or "takes" in ast.unparse(node) else []
        elif isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert | ast.comprehension):
            tests = node.ifs if isinstance(node, ast.comprehension) else [node.test]
            flags = [part for test in tests for part in ast.walk(test) if isinstance(part, ast.Attribute)]
            found += [flag.lineno for flag in flags if flag.attr in KIND_FLAGS]
    return found


def test_questions_about_kinds_are_found():
    source = "if isinstance(x, Classes | Numbers) and x.kind in ('hard', 'soft') or x.has_target: pass\nx.form"
    assert questions_about_kinds(source) == [1, 1, 1]


#: Files outside the room of targets that ask of which kind one is: how often, and why.
ASKED = {
    "dubio.doubt.audit": (3, "numbers and votes have audits of their own, and ordered classes a record of their own"),
    "dubio.doubt.votes": (1, "models learn likely classes or likely numbers"),
    "dubio.methods.base": (2, "without a target there is nothing to test"),
    "dubio.selector": (1, "pairs go only with some kinds, and then pairs decide the method"),
    "dubio_app.command.auditing": (1, "whole numbers may be audited as classes, and the user is told"),
    "dubio_app.command.rank": (1, "some kinds cannot be evaluated: refused before the work starts"),
    "dubio_app.command.trust": (1, "the same kinds have no audit in the report"),
}


def test_hardly_anybody_asks_of_which_kind_a_target_is():
    asked = {module: len(questions_about_kinds(source)) for module, source in MODULES.items()}
    outside = {
        module: n for module, n in asked.items() if n and not module.startswith(("dubio.target", "dubio_papers"))
    }
    assert outside == {module: n for module, (n, _) in ASKED.items()}
    assert sum(outside.values()) < 25


def test_the_library_has_few_files():
    assert sum(module.split(".")[0] == "dubio" for module in MODULES) < 150


def test_estimators_have_few_parameters():
    """At most 20, and the selector over all methods at most 14."""
    counts = {method.name: len(method.estimator._get_param_names()) for method in dubio.METHODS.values()}
    assert max(counts.values()) <= 20, counts
    assert len(dubio.FeatureSelector._get_param_names()) <= 14
