"""Make the pictures of the guide from real pages: ``python docs/pictures.py`` (needs Chromium and Pillow)."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from tests.browser import View, launch  # noqa: E402
from tests.corrections_case import write_case  # noqa: E402

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


def picture(view: View, selector: str, name: str, height: int, colors: int = 48) -> None:
    """The upper part of an element of the page, cut between two lines, as a small PNG."""
    x, y, width, tall = view.run(
        f"(r => [r.left + scrollX, r.top + scrollY, r.width, r.height])"
        f"(document.querySelector({selector!r}).getBoundingClientRect())"
    )
    tall = tall if tall <= height else view.run(f"{_CUT}({y}, {height})")
    shot = view.page.screenshot(full_page=True, clip={"x": x, "y": y, "width": width, "height": tall})
    image = Image.open(io.BytesIO(shot)).convert("P", palette=Image.Palette.ADAPTIVE, colors=colors)
    image.save(FOLDER / name, optimize=True)
    print(name, image.size, (FOLDER / name).stat().st_size, "bytes")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, launch() as chromium:
        table = write_case(Path(folder))
        page = Path(folder) / "patients.html"
        run(["audit", str(table), "-t", "diagnosis", "--id", "patient", "--report", str(page), "-q"])
        desk, phone = chromium.view(width=900), chromium.view(width=380, height=760)
        desk.open(page)
        desk.page.focus(".correct-card")
        desk.press("s", "r", "s")
        desk.run("document.activeElement.blur()")
        picture(desk, "#corrections", "corrections.png", 900)
        phone.open(page)
        picture(phone, "#corrections .correct-card", "corrections-phone.png", 900)
        run(["rank", str(table), "-t", "diagnosis", "--id", "patient", "--report", str(page), "-q"])
        desk.open(page)
        picture(desk, "body", "report.png", 760)


if __name__ == "__main__":
    main()
