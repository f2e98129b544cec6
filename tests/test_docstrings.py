"""Docstrings follow numpydoc, so that every page of the reference has the same parts in the same order."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import pytest

from dubio import METHODS
from tests.test_docs import in_reference

numpydoc = pytest.importorskip("numpydoc.validate")

#: What holds for every name: no tabs, known sections in their order, a summary of one line that begins with a capital
#: and ends with a full stop, no parameter that does not exist, types and descriptions written alike.
EVERYWHERE = {
    *("GL05", "GL06", "GL07", "GL08", "GL09", "GL10", "SS01", "SS02", "SS03", "SS04", "SS06"),
    *("PR02", "PR05", "PR06", "PR09", "PR10", "RT04", "RT05", "YD01", "SA02", "SA03", "SA04"),
}
#: What also holds for the names that most people use: every parameter and every result is there and has a description.
IN_FRONT = {*EVERYWHERE, "PR01", "PR07", "PR08", "RT01", "RT03"}
FRONT = ("dubio", "dubio.alerts", "dubio.pipelines", "dubio.plots", "dubio.streams")
# Not asked for: examples, further words and links for every name (EX01, ES01, SA01); a type beside "as in ..." (PR04);
# the order of parameters that are given by name (PR03); a verb at the beginning (SS05); results without a name (RT02).


def is_in_front(name: str, thing: Any) -> bool:
    module = name.rpartition(".")[0]
    return module in FRONT or (module == "dubio.simulate" and not isinstance(thing, type))


def problems(name: str, wanted: set[str]) -> list[str]:
    found = numpydoc.validate(name)
    return [f"{name}: {code} {text}" for code, text in found["errors"] if code in wanted]


def is_said_under_attributes(problem: str, thing: Any) -> bool:
    """A record has no parameters apart from its attributes: they are documented once."""
    if "PR01" not in problem or not dataclasses.is_dataclass(thing):
        return False
    attributes = (thing.__doc__ or "").partition("Attributes\n")[2]
    missing = re.findall(r"'(\w+)'", problem)
    return all(re.search(rf"^    (\w+, )*{name}(, \w+)*\b", attributes, re.MULTILINE) for name in missing)


def test_every_name_in_the_reference() -> None:
    found = []
    for name, thing in in_reference().items():
        if callable(thing):
            wanted = IN_FRONT if is_in_front(name, thing) else EVERYWHERE
            found += [problem for problem in problems(name, wanted) if not is_said_under_attributes(problem, thing)]
    assert "\n".join(found) == ""


def test_every_method_of_a_class_in_front() -> None:
    found = []
    for name, thing in in_reference().items():
        if isinstance(thing, type) and is_in_front(name, thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    found += problems(f"{name}.{member}", EVERYWHERE)
    assert "\n".join(found) == ""


@pytest.mark.parametrize("name", sorted(name for name, method in METHODS.items() if not method.printed))
def test_every_method_says_where_it_comes_from_and_when_not_to_use_it(name: str) -> None:
    doc = inspect.getdoc(METHODS[name].estimator) or ""
    notes = doc.partition("\nNotes\n-----\n")[2].partition("\n\n")[0]
    assert "ssumes" in notes and "Do not use it" in notes
    references = doc.partition("\nReferences\n----------\n")[2].partition("\n\n")[0]
    assert re.search(r"^\.\. \[1\] .*\((19|20)\d\d\)", references)
    for number in re.findall(r"\[(\d)\]_", doc):
        assert f".. [{number}] " in references
