"""A plain score does without the house: the files that it imports, and those that its fit passes through."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: Run in a process of its own: imports one name, fits it, and prints the modules it loaded and the files of the library
#: in which a function ran. Functions that run during an import, such as decorators, do not count.
COUNT = """
import inspect, json, os, sys, warnings
import numpy as np
import dubio

name = sys.argv[1]
estimator = getattr(dubio, name)
modules = [module for module in sys.modules if module.split(".")[0] == "dubio"]
home, passed = os.path.dirname(dubio.__file__), set()

def is_import(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False

def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(home) and code.co_flags & inspect.CO_OPTIMIZED:
        if code.co_filename not in passed and not is_import(frame):
            passed.add(code.co_filename)

X = np.random.default_rng(0).normal(size=(60, 4))
y = np.arange(60) % 2
X[:, 0] += 2 * y
selector = estimator()
warnings.simplefilter("ignore")
sys.setprofile(note)
selector.fit(X, y)
sys.setprofile(None)
print(json.dumps([sorted(modules), sorted(os.path.relpath(path, home) for path in passed)]))
"""


def counted(name: str) -> tuple[list[str], list[str]]:
    """The modules that one public name imports, and the files that its fit passes through."""
    done = subprocess.run([sys.executable, "-c", COUNT, name], capture_output=True, text=True, check=True, timeout=300)
    modules, files = json.loads(done.stdout)
    return modules, files


@pytest.fixture(scope="module")
def score() -> tuple[list[str], list[str]]:
    return counted("WeightedLaplacianScore")


def test_a_score_imports_few_modules(score):
    modules, _ = score
    assert len(modules) < 60, modules
    rooms = {module.split(".")[1] for module in modules if "." in module}
    assert not rooms & {"alerts", "doubt", "evidence", "searches", "selector", "streams", "trust", "pipelines", "plots"}


def test_a_score_passes_through_few_files(score):
    _, files = score
    assert len(files) <= 12, files


def test_the_selector_passes_through_not_too_many_files():
    _, files = counted("FeatureSelector")
    assert len(files) <= 40, files
