"""Formulas as MathML, which browsers draw themselves: no script is fetched, so the pages work without a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.util.math import wrap_displaymath


def inline(writer: Any, node: nodes.math) -> None:
    """A formula within a line."""
    writer.body.append(latex2mathml.tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own, which scrolls by itself if it is wider than the page."""
    text = node.astext()
    if "\\\\" in text and "\\begin" not in text:
        text = wrap_displaymath(text, None, numbering=False)
    writer.body.append('<div class="formula" tabindex="0" role="math">')
    writer.body.append(latex2mathml.tex2mathml(text, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
