"""Anchors that a page sets in HTML, for GitHub, become targets of the guide, so that its links to them are checked."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx


def targets(app: Sphinx, docname: str, source: list[str]) -> None:
    """Write ``<a id="name"></a>`` before a heading as ``(name)=``."""
    source[0] = re.sub(r'^<a id="([\w-]+)"></a>\n+(?=#)', r"(\1)=\n", source[0], flags=re.MULTILINE)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", targets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
