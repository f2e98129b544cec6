"""``import dubio`` imports nothing large; its public names are imported when they are first used."""

from __future__ import annotations

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import dubio
import dubio_papers

SOURCE = Path(__file__).parents[1] / "src"
PATHS = [str(SOURCE), str(SOURCE.parent / "lab")]
LARGE = {"numpy", "scipy", "sklearn", "numba", "joblib", "pandas"}


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path[:0] = [{str(SOURCE)!r}, {str(SOURCE.parent / 'lab')!r}]\n{code}"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", ["dubio", "dubio_papers"])
def test_the_package_alone_is_small(package):
    assert run(f"import {package}\nprint(sorted({LARGE!r} & sys.modules.keys()))") == "[]\n"


def test_names_submodules_and_stars():
    code = """
import dubio
assert dubio.trust.stability is dubio.stability      # a package that nobody imported
assert "FeatureSelector" in dir(dubio) and "stability" in vars(dubio)
from dubio import *
from dubio import pipelines
assert NeighborSearch is dubio.NeighborSearch and pipelines.KnownFolds
print(sorted(name for name in dubio.__all__ if name not in globals()))
"""
    assert run(code) == "[]\n"


@pytest.mark.parametrize("package", [dubio, dubio_papers], ids=lambda package: package.__name__)
def test_every_public_name_is_what_type_checkers_see(package):
    tree = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    seen = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in seen for alias in node.names}
    assert sorted(homes) == sorted(package.__all__) and len(set(package.__all__)) == len(package.__all__)
    for name, home in homes.items():
        assert getattr(package, name) is getattr(importlib.import_module(home), name)


@pytest.mark.parametrize("name", ["Stability", "SoftLabels", "redundancy_ranking"])
def test_names_that_moved_say_where_they_are_now(name):
    with pytest.warns(DeprecationWarning, match=rf"dubio\.{name} is now dubio\.\S+\.{name}$") as told:
        found = getattr(dubio, name)
    assert found.__name__ == name and told[0].filename == __file__
    assert name not in dubio.__all__ and name not in dir(dubio)


@pytest.mark.parametrize("package", [dubio.trust, dubio.target])
def test_rooms_have_their_names(package):
    assert all(getattr(package, name) for name in package.__all__)


@pytest.mark.parametrize("name", ["no_such_name", "_private", "__wrapped__", "cli2"])
def test_other_names_are_refused_as_usual(name):
    assert not hasattr(dubio, name)
    with pytest.raises(AttributeError, match=f"module 'dubio' has no attribute '{name}'"):
        getattr(dubio, name)
    with pytest.raises(ImportError, match=name):
        exec(f"from dubio import {name}")


@pytest.mark.thorough
def test_estimators_are_pickled_and_read_back_in_a_new_process():
    written = pickle.dumps(dubio.FisherScore(n_features_to_select=2))
    assert run(f"import pickle\nprint(pickle.loads({written!r}))") == "FisherScore(n_features_to_select=2)\n"
