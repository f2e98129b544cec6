"""What ``make docs-look`` looks for is seen: a page with every fault is called faulty, and a plain one is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.check_site import LOOK, READY, WIDTHS

from tests.browser import Browser, find_browser

TEXT = "".join(f"<p>Line {i} of a page that can be read.</p>" for i in range(30))
FAULTS = {
    "scrolls sideways": '<div style="width: 2000px">wide</div>',
    "contrast": '<p style="color: #999; background: #eee">pale</p>',
    "contrast 1.": '<p style="color: #000; opacity: 0.2">faint</p>',
    "no alternative text": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==">',
    "not shown": '<img src="missing.png" alt="A picture that is not there">',
}


@pytest.mark.skipif(find_browser() is None, reason="no Chromium")
def test_faults_are_seen(tmp_path: Path) -> None:
    path = find_browser()
    assert path is not None
    browser = Browser(path, width=WIDTHS[0])
    try:
        size = {"width": WIDTHS[0], "height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.call("Emulation.setDeviceMetricsOverride", **size)
        page = tmp_path / "page.html"
        page.write_text(f"<!doctype html><meta charset=utf-8><body>{TEXT}", encoding="utf-8")
        browser.open(page, ready=READY)
        assert browser.run(LOOK) == []
        for said, fault in FAULTS.items():
            page.write_text(f"<!doctype html><meta charset=utf-8><body>{TEXT}{fault}", encoding="utf-8")
            browser.open(page, ready=READY)
            assert any(problem.startswith(said) for problem in browser.run(LOOK)), said
    finally:
        browser.close()
