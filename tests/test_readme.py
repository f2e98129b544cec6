"""The examples in the README are real."""

import doctest
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_readme_examples():
    result = doctest.testfile(str(README), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 5
    assert result.failed == 0


def test_readme_names_both_commands():
    text = README.read_text()
    assert "make demo" in text and "make test" in text
