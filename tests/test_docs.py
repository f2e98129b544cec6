"""Every example of the user guide and of the README is run."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from dubio_app.command.run import run

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
_FENCE = re.compile(r"^(?:```|<!-- )(\w+)\n(.*?)^(?:```|-->)", re.MULTILINE | re.DOTALL)
_OPTIONAL = ("dask", "distributed", "pynndescent")
_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """Python blocks share one namespace per page; console blocks run in the folder the page has written to.

    A comment that begins with "setup" is run too: it makes small versions of the big files and tables on the page.
    """
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        language, block = found[1], found[2]
        line = text[: found.start()].count("\n") + 1
        if language == "python" and ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, scope, page.name, str(page), line)
            problems: list[str] = []
            doctest.DocTestRunner(optionflags=_OPTIONS).run(test, out=problems.append, clear_globs=False)
            assert not problems, "".join(problems)
            scope = test.globs
        elif language in ("python", "setup"):
            try:
                exec(compile("\n" * line + block, str(page), "exec"), scope)
            except ModuleNotFoundError as error:
                if error.name not in _OPTIONAL:
                    raise
        elif language == "console":
            for command in re.findall(r"^\$ dubio (.*)$", block, re.MULTILINE):
                assert run(shlex.split(command)) == 0, f"{page.name}: dubio {command}\n{capfd.readouterr().err}"


def anchors(page: Path) -> set[str]:
    """Names of the headings of a page, as GitHub and the guide make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def test_links_lead_somewhere() -> None:
    """Links to pages, to their headings and to files of the repository. Outside links: ``make docs-links``."""
    for page in [*PAGES, *ROOT.glob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"\w+:", target) or target in ("tutorials/index", "gallery/index"):
                continue
            name, _, anchor = target.partition("#")
            goal = page.parent / name if name else page
            assert goal.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors(goal), f"{page.name} links to {target}, but there is no such heading"


def test_pictures_have_words() -> None:
    """Every picture of a page says in words what is to be seen."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        words = re.findall(r"!\[([^]]*)\]\(", text)
        for _, options in re.findall(r"```{(image|figure)}[^\n]*\n((?::.*\n)*)", text):
            words += re.findall(r":alt: (.*)", options) or [""]
        assert all(len(said) > 20 for said in words), f"{page.name}: {words}"


def test_pages_name_files_and_options_that_exist(capsys: Any) -> None:
    for words in ([], ["rank"], ["audit"]):
        assert run([*words, "--help"]) == 0
    known = set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))
    text = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    assert set(re.findall(r"--[a-z][a-z-]*", text)) <= known | {"--help"}
    for page in PAGES:
        for path in re.findall(r"`(src/[\w/.]+)`", page.read_text(encoding="utf-8")):
            assert (ROOT / path).exists(), f"{page.name} names {path}"


def test_readme_names_both_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text and "make test" in text


def in_reference() -> dict[str, Any]:
    """What the reference lists: full name and object."""
    found: dict[str, Any] = {}
    module = ""
    for line in (ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines():
        if directive := re.match(r"\.\. currentmodule:: (\S+)$", line):
            module = directive[1]
        elif listed := re.match(r"   (\w+)$", line):
            full = f"{module}.{listed[1]}"
            assert full not in found, f"{full} is listed twice"
            found[full] = getattr(importlib.import_module(module), listed[1])
    return found


def test_pages_of_the_reference_differ_by_more_than_case() -> None:
    """Some file systems do not tell ``stability.html`` from ``Stability.html``."""
    files = [name.lower() for name in in_reference()]
    assert [name for name in files if files.count(name) > 1] == []


def public_packages() -> list[str]:
    """Packages that say what is public in them."""
    files = sorted((ROOT / "src").rglob("__init__.py"))
    return [
        ".".join(file.parent.relative_to(ROOT / "src").parts)
        for file in files
        if re.search(r"^__all__", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]


@pytest.mark.parametrize("package", public_packages())
def test_every_public_name_is_in_the_reference(package: str) -> None:
    listed = list(in_reference().values())
    module = importlib.import_module(package)
    missing = [name for name in module.__all__ if not any(getattr(module, name) is thing for thing in listed)]
    assert missing == []


def test_what_the_problem_and_the_errors_are_is_in_the_reference() -> None:
    names = {"dubio.problem.Problem", "dubio.problem.read_problem", "dubio.InputError", "dubio.InputWarning"}
    assert names <= in_reference().keys()


def test_everything_in_the_reference_has_words_to_show() -> None:
    things = {name: thing for name, thing in in_reference().items() if isinstance(thing, type) or callable(thing)}
    assert [name for name, thing in things.items() if not (thing.__doc__ or "").strip()] == []
