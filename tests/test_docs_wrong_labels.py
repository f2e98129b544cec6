"""The examples on the page about wrong labels are real."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "wrong_labels.md"


def test_examples():
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted >= 15
    assert result.failed == 0
