"""Every example of the user guide and of the README is run."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import dubio
from dubio.cli.run import run

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
_FENCE = re.compile(r"^(?:```|<!-- )(\w+)\n(.*?)^(?:```|-->)", re.MULTILINE | re.DOTALL)
_OPTIONAL = ("dask", "distributed", "pynndescent")
_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """Python blocks share one namespace a page; console blocks run in the folder the page has written to.

    A comment that begins with "setup" is run too: small stand-ins for the big files and tables a page speaks of.
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


def test_pages_link_to_pages_that_exist() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([\w/]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_readme_names_both_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text and "make test" in text


def test_every_public_name_is_in_the_reference() -> None:
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    modules = [importlib.import_module(name) for name in re.findall(r"automodule:: (\S+)", reference)]
    covered = {name for module in modules for name in getattr(module, "__all__", [])}
    missing = [name for name in dubio.__all__ if name not in covered and not re.search(rf"\b{name}\b", reference)]
    assert missing == []
