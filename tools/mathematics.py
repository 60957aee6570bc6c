r"""Formulas of the documentation, written in TeX, as MathML that browsers render by themselves.

A hook of mkdocs.  ``arithmatex`` marks what stands between dollars; here it becomes MathML when
the site is built, so that a page loads no script and reads as well without a network.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert

MARKED = re.compile(
    r'<(span|div) class="arithmatex">\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</\1>', re.DOTALL
)


def on_page_content(content: str, **_: Any) -> str:
    return MARKED.sub(_rendered, content)


def _rendered(found: re.Match[str]) -> str:
    """The MathML of one formula; what TeX does not know is an error of the page."""
    shown = "block" if found["open"] == "[" else "inline"
    rendered = convert(html.unescape(found["tex"]), display=shown)
    if "\\" in rendered:  # the converter writes down a command that it does not know
        raise ValueError(f"a formula has a command that is not known: {found['tex']}")
    if shown == "block":  # wider than a phone: it scrolls by itself, and not the page
        return f'<div style="overflow-x: auto">{rendered}</div>'
    return rendered
