"""Pictures of the gallery with the alternative text that each example gives in a comment: ``sphinx_gallery_alt``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx_gallery.py_source_parser import extract_file_config
from sphinx_gallery.scrapers import matplotlib_scraper


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures of a block, and say in words what they show."""
    rst = matplotlib_scraper(block, block_vars, gallery_conf)
    if not rst.strip():
        return rst
    example = Path(block_vars["src_file"])
    text = extract_file_config(example.read_text(encoding="utf-8")).get("alt")
    if not text:
        raise ValueError(f"{example.name} draws, but has no comment sphinx_gallery_alt that says what is to be seen.")
    return re.sub(r"^(\s*:alt:).*$", lambda found: f"{found[1]} {text}", rst, flags=re.MULTILINE)
