"""How the user guide is built: ``make docs``."""

from __future__ import annotations

from dubio import __version__

project = "dubio"
author = "the dubio developers"
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
# The examples run each time the guide is built; a warning or an error in one of them stops the build.
sphinx_gallery_conf = {
    "examples_dirs": ["../tutorials", "../examples"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 10,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "abort_on_example_error": True,
}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Members are shown by default, except those that scikit-learn makes for its metadata routing.
autodoc_default_options = {
    "members": True,
    "exclude-members": "set_fit_request, set_partial_fit_request, set_score_request, set_transform_request",
}
html_theme = "furo"
html_title = f"dubio {release}"
exclude_patterns = ["_build", "**/sg_execution_times.rst", "sg_execution_times.rst"]
# Names such as :class:`Supervision` in docstrings stay plain text where they are not in the reference.
# The pages of the papers set their own anchors in HTML, so that GitHub finds them too.
suppress_warnings = ["ref.python", "toc.empty_glob", "myst.xref_missing"]
