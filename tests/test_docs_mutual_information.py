"""The examples on the page about mutual information are real."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "mutual_information.md"


def test_examples():
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted >= 10
    assert result.failed == 0
