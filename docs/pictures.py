"""Make the pictures of the guide from real pages: ``python docs/pictures.py`` (needs Chromium and Pillow)."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import base64  # noqa: E402

from PIL import Image  # noqa: E402
from tests.browser import Browser, find_browser  # noqa: E402
from tests.mending_case import write_case  # noqa: E402

from dubio_app.command.run import run  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"


# A height of at most `limit` pixels below `top` at which no line of text, button or chart is cut.
_CUT = """((top, limit) => {
    const lines = [...document.querySelectorAll("button, input, summary, svg, img, canvas, tr")]
        .map(element => element.getBoundingClientRect());
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let range = document.createRange(); walker.nextNode();) {
        range.selectNodeContents(walker.currentNode);
        lines.push(...range.getClientRects());
    }
    let cut = top + limit;
    for (let moved = true; moved;) {
        moved = false;
        for (const line of lines) {
            const [start, end] = [Math.floor(line.top + scrollY), line.bottom + scrollY];
            if (start > top && start < cut && end > cut + 2) {
                cut = start;
                moved = true;
            }
        }
    }
    return Math.floor(cut - top);
})"""


def picture(browser: Browser, selector: str, name: str, height: int, colors: int = 48) -> None:
    """The upper part of an element of the page, cut between two lines, as a small PNG."""
    box = browser.run(
        f"(r => [r.left + scrollX, r.top + scrollY, r.width, r.height])"
        f"(document.querySelector({selector!r}).getBoundingClientRect())"
    )
    tall = box[3] if box[3] <= height else browser.run(f"{_CUT}({box[1]}, {height})")
    clip = {"x": box[0], "y": box[1], "width": box[2], "height": tall, "scale": 1}
    shot = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert(
        "P", palette=Image.Palette.ADAPTIVE, colors=colors
    )
    image.save(FOLDER / name, optimize=True)
    print(name, image.size, (FOLDER / name).stat().st_size, "bytes")


def main() -> None:
    path = find_browser()
    if path is None:
        raise SystemExit("no Chromium found")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        table = write_case(Path(folder))
        page = Path(folder) / "patients.html"
        run(["audit", str(table), "-t", "diagnosis", "--id", "patient", "--report", str(page), "-q"])
        browser = Browser(path, width=900)
        try:
            # A picture has no scrollbar. If the page had one while it is measured, the right margin would be cut off.
            browser.call("Emulation.setScrollbarsHidden", hidden=True)
            browser.open(page)
            browser.run("document.querySelector('.mend-card').focus()")
            for key in ("s", "r", "s"):
                browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
                browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)
            browser.run("document.activeElement.blur()")
            picture(browser, "#mend", "mending.png", 900)
            browser.call("Emulation.setDeviceMetricsOverride", width=380, height=760, deviceScaleFactor=1, mobile=True)
            browser.open(page)
            picture(browser, "#mend .mend-card", "mending-phone.png", 900)
            browser.call("Emulation.clearDeviceMetricsOverride")
            run(["rank", str(table), "-t", "diagnosis", "--id", "patient", "--report", str(page), "-q"])
            browser.open(page)
            picture(browser, "body", "report.png", 760)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
