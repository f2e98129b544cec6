"""Every example of the gallery, and every tutorial, runs and ends in a picture."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted([*(ROOT / "examples").glob("plot_*.py"), *(ROOT / "tutorials").glob("plot_*.py")])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs_and_draws(path, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    plt.close("all")
    runpy.run_path(str(path), run_name="__main__")
    assert plt.get_fignums()
    plt.close("all")


def test_every_example_says_what_it_shows():
    """In its first lines, and once more in words for those who do not see the picture."""
    assert len(EXAMPLES) >= 14
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        told = re.findall(r'^# sphinx_gallery_alt = "(.{40,})"$', text, re.MULTILINE)
        assert len(told) == 1 and "plt.show()" in lines[-4:], path.name
        assert lines[0] == '"""' and set(lines[2]) == {"="} and len(lines[1]) <= len(lines[2]), path.name


def test_every_example_has_its_place_in_the_gallery():
    order = runpy.run_path(str(ROOT / "docs" / "extensions" / "gallery_order.py"))["ORDER"]
    assert sorted(order) == sorted(path.stem.removeprefix("plot_") for path in EXAMPLES)
