"""Fixtures of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser import Browser, Missing, View, launch


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of pages take a browser each: they are thorough ones."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium for the tests of one file."""
    try:
        with launch() as browser:
            yield browser
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def browser(chromium: Browser) -> Iterator[View]:
    """An empty page of a headless Chromium, as wide as on a desk."""
    view = chromium.view()
    yield view
    view.page.context.close()
