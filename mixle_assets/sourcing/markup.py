"""The visible text of an HTML page: blocks as lines, without scripts, styles and navigation.

A plain reading, with nothing but the standard library: every visible word stays, in order. It does not guess
which part of a page is the article; a tagger and a rule can.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "head",
        "svg",
        "math",
        "iframe",
        "object",
        "nav",
        "select",
        "button",
        "title",
    ]
)
# What may hold a hidden element; where it ends, so does an element inside it that was never closed.
_HOLDERS = frozenset(
    [
        "article",
        "aside",
        "body",
        "div",
        "footer",
        "form",
        "header",
        "html",
        "main",
        "section",
        "table",
        "td",
        "ul",
    ]
)
_BLOCKS = frozenset(
    """address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hr html li main ol option p pre section summary table tbody td
    tfoot th thead tr ul""".split()  # noqa: SIM905 (a list of eighty lines says no more)
)
_DEEPEST = 500
_SPACE = re.compile(r"[ \t\n\r\f]+")


def visible_text(markup: str) -> str:
    """Return the text that a reader of the page sees, a line for each block, without empty lines.

    ``<h1>A&amp;B</h1><p>one <b>two</b><br>three`` becomes::

        A&B
        one two
        three

    White space is collapsed as browsers do, but for ``<pre>``, whose lines are kept.
    """
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.line: list[str] = []
        self.open: list[str] = []
        self.num_hidden = 0
        self.num_pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self.close_all("head")  # a head that was never closed ends here
        if tag in _BLOCKS:
            self.end_line()
        if (tag in _HIDDEN or tag in _HOLDERS) and len(self.open) < _DEEPEST:
            self.open.append(tag)
            self.num_hidden += tag in _HIDDEN
        self.num_pre += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN or tag in _HOLDERS:
            self.close_all(tag)
        if tag in _BLOCKS:
            self.end_line()
        self.num_pre = max(0, self.num_pre - (tag == "pre"))

    def close_all(self, tag: str) -> None:
        """End the innermost open element of this name and everything inside it."""
        while tag in self.open:
            last = self.open.pop()
            self.num_hidden -= last in _HIDDEN
            if last == tag:
                return

    def handle_data(self, data: str) -> None:
        if self.num_hidden:
            return
        if not self.num_pre:
            self.line.append(data)
            return
        first, *others = data.split("\n")
        self.line.append(first)
        for line in others:
            self.end_line()
            self.line.append(line)

    def end_line(self) -> None:
        text = "".join(self.line)
        line = text.rstrip() if self.num_pre else _SPACE.sub(" ", text).strip(" ")
        if line.strip():
            self.lines.append(line)
        self.line.clear()

    def text(self) -> str:
        self.end_line()
        return "\n".join(self.lines)
