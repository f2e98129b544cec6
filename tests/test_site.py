"""What ``make docs-look`` looks for is seen: a page with every fault is called faulty, and a plain one is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.check_site import LOOK, WIDTHS

pytestmark = pytest.mark.thorough

TEXT = "".join(f"<p>Line {i} of a page that can be read.</p>" for i in range(30))
FAULTS = {
    "scrolls sideways": '<div style="width: 2000px">wide</div>',
    "contrast": '<p style="color: #999; background: #eee">pale</p>',
    "contrast 1.": '<p style="color: #000; opacity: 0.2">faint</p>',
    "no alternative text": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==">',
    "not shown": '<img src="missing.png" alt="A picture that is not there">',
}


def test_faults_are_seen(chromium, tmp_path: Path) -> None:
    view = chromium.view(width=WIDTHS[0], height=800)
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{TEXT}", encoding="utf-8")
    view.open(page)
    assert view.run(LOOK) == []
    for said, fault in FAULTS.items():
        page.write_text(f"<!doctype html><meta charset=utf-8><body>{TEXT}{fault}", encoding="utf-8")
        view.open(page)
        assert any(problem.startswith(said) for problem in view.run(LOOK)), said
