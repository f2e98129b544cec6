"""How the user guide is built: ``make docs``."""

from __future__ import annotations

from dubio import __version__

project = "dubio"
author = "the dubio developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
html_theme = "furo"
html_title = f"dubio {release}"
exclude_patterns = ["_build"]
# Names such as :class:`Supervision` inside docstrings are text where they are not documented.
# The pages of the papers name their own anchors in HTML, where GitHub finds them too.
suppress_warnings = ["ref.python", "toc.empty_glob", "myst.xref_missing"]
