"""The tests of the laboratory are thorough ones, but for the short run of the fuzzer."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.get_closest_marker("every_change") is None:
            item.add_marker(pytest.mark.thorough)
