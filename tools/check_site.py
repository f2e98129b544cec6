"""Open the built user guide in Chromium, as a reader would: ``python tools/check_site.py [--all]`` after ``make docs``.

Each page is opened from the file system at the width of a phone and of a desk, light and dark. It may not scroll
sideways, log an error, ask the network for anything, show text with a contrast under 4.5:1 or a picture without
alternative text. Then the search box must find ``NeighborSearch``.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import Missing, View, launch  # noqa: E402

SITE = ROOT / "docs" / "_build" / "html"
PAGES = (
    "index.html",
    "start.html",
    "wrong_labels.html",
    "positives_only.html",
    "comparison.html",
    "gallery/index.html",
    "gallery/plot_classes.html",
    "tutorials/plot_clinic.html",
    "api.html",
    "generated/dubio.FeatureSelector.html",
    "generated/dubio.NeighborSearch.html",
    "search.html",
)
WIDTHS = (360, 1280)
LOWEST = 4.5

#: What is wrong with the page, as a list of sentences. Contrast is that of WCAG 2.2; backgrounds and opacities count.
LOOK = """
(() => {
  const problems = new Set();
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    problems.add(`scrolls sideways: ${root.scrollWidth} > ${root.clientWidth} px`);
    for (const element of document.querySelectorAll("main *, article *"))
      if (element.getBoundingClientRect().right > root.clientWidth + 1)
        problems.add(`  too wide: ${element.tagName} ${element.className} ${element.textContent.trim().slice(0, 40)}`);
  }
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const read = text => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = "rgba(0, 0, 0, 0)";
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const background = element => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const color = read(getComputedStyle(e).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const light = color => {
    const [r, g, b] = color.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const check = (element, style, text) => {
    let opacity = 1;
    for (let e = element; e; e = e.parentElement) opacity *= parseFloat(getComputedStyle(e).opacity);
    if (opacity === 0) return;
    const under = background(element);
    const color = read(element instanceof SVGElement ? style.fill : style.color);
    color[3] *= opacity;
    const [a, b] = [light(over(color, under)), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < LOWEST)
      problems.add(`contrast ${ratio.toFixed(2)}: ${element.tagName.toLowerCase()}.${element.className} in ` +
        `${element.parentElement.className} "${text.trim().slice(0, 40)}" ${style.color} on ${under.map(Math.round)}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent;
    if (!text.trim() || ["SCRIPT", "STYLE", "NOSCRIPT", "TITLE", "SYMBOL"].includes(element.tagName)) continue;
    if (!element.checkVisibility({visibilityProperty: true})) continue;
    const box = element.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue;
    seen += 1;
    check(element, getComputedStyle(element), text);
  }
  if (seen < 20) problems.add(`only ${seen} pieces of text`);
  for (const input of document.querySelectorAll("input[placeholder]"))
    check(input, getComputedStyle(input, "::placeholder"), input.placeholder);
  for (const image of document.querySelectorAll("img")) {
    const named = image.closest("a, .sphx-glr-thumbcontainer")?.textContent.trim();
    const source = image.src.slice(0, 90);
    if (!image.alt.trim() && !(image.hasAttribute("alt") && named)) problems.add(`no alternative text: ${source}`);
    if (!image.complete || image.naturalWidth === 0) {
      if (image.loading !== "lazy") problems.add(`not shown: ${source}`);
    }
  }
  return [...problems];
})()
""".replace("LOWEST", str(LOWEST))


def look(browser: View, page: Path) -> list[str]:
    """Everything that is wrong with one page."""
    browser.open(page)
    found = browser.run(LOOK)
    outside = [f"asks for {url}" for url in browser.requests if not url.startswith(("file:", "data:", "blob:"))]
    return found + outside + [problem[:300] for problem in browser.problems]


def search(browser: View, word: str) -> list[str]:
    """Type a word into the search box of the landing page; the titles and addresses of what is found."""
    browser.open(SITE / "index.html")
    browser.page.locator("form.sidebar-search-container input[name=q]").fill(word)
    browser.press("Enter")
    links = browser.page.locator("ul.search li a")
    links.first.wait_for(timeout=20_000)
    return [f"{link.text_content()} {link.get_attribute('href')}" for link in links.all()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--all", action="store_true", help="every page, not only one of each kind")
    parser.add_argument("--pictures", type=Path, help="a folder for screenshots")
    given = parser.parse_args()
    pages = sorted(str(page.relative_to(SITE)) for page in SITE.rglob("*.html") if "_static" not in page.parts)
    pages = [page for page in pages if given.all or page in PAGES]
    wrong = 0
    try:
        with launch() as chromium:
            for width, dark in product(WIDTHS, (False, True)):
                view = chromium.view(width=width, height=800, dark=dark)
                wrong += check(view, pages, f"{width} px, {'dark' if dark else 'light'}", given.pictures)
    except Missing as missing:
        raise SystemExit(str(missing)) from missing
    return int(wrong > 0)


def check(view: View, pages: list[str], screen: str, pictures: Path | None) -> int:
    """Look at all pages on one screen, and search; the number of pages with problems."""
    bad = 0
    for page in pages:
        problems = look(view, SITE / page)
        bad += bool(problems)
        for problem in problems:
            print(f"{screen}, {page}: {problem}")
        if pictures:
            pictures.mkdir(parents=True, exist_ok=True)
            name = f"{page.replace('/', '-').removesuffix('.html')}-{screen.replace(' px, ', '-')}.png"
            view.page.screenshot(path=pictures / name)
    found = search(view, "NeighborSearch")
    hit = any("dubio.NeighborSearch" in link for link in found[:3])
    for problem in view.problems:
        print(f"{screen}, search: {problem[:300]}")
    print(
        f"{screen}: {len(pages)} pages, {bad} with problems; NeighborSearch {'is found' if hit else 'is not found'} "
        f"({len(found)} results, the first: {found[:1]})"
    )
    return bad + (not hit) + len(view.problems)


if __name__ == "__main__":
    raise SystemExit(main())
