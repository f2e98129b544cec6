"""How the user guide is built: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from dubio import __version__

project = "dubio"
author = "the dubio developers"
copyright = f"2026, {author}"
release = __version__
language = "en"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "mathml",
    "anchors",
    "sphinx_gallery.gen_gallery",
]
html_math_renderer = "mathml"
# The examples run each time the guide is built; a warning or an error in one of them stops the build.
sphinx_gallery_conf = {
    "examples_dirs": ["../tutorials", "../examples"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 10,
    "remove_config_comments": True,
    "within_subsection_order": "gallery_order.ByTopic",
    "image_scrapers": ("alt_text.scrape",),
    "abort_on_example_error": True,
    "parallel": True,  # as many examples at once as `make docs` has processes
}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# One page per class and function, made from the lists in api.md.
autosummary_generate = True
templates_path = ["_templates"]
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Members are shown by default, except those that scikit-learn makes for its metadata routing.
autodoc_default_options = {
    "members": True,
    "exclude-members": "set_fit_request, set_partial_fit_request, set_score_request, set_split_request, "
    "set_transform_request",
}
html_theme = "furo"
html_title = f"dubio {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# A page that is read from the file system may not fetch others, so results of a search stand without an excerpt.
html_show_search_summary = False
exclude_patterns = ["_build", "**/sg_execution_times.rst", "sg_execution_times.rst"]
# `make docs-links`: links to papers and projects. Publishers that turn programs away are asked only once.
linkcheck_timeout = 20
linkcheck_retries = 1
linkcheck_anchors = False
