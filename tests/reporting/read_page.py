"""Reads a page as its reader does: tables by their captions, cells as they are shown."""

from html.parser import HTMLParser

_VOID = {"meta", "br"}


class Page(HTMLParser):
    """The tables and references of a page.

    Attributes:
        tables: ``(caption, rows)`` in order; the first row has the headings.
        references: Values of all attributes that could make a browser load something.
        tags: All tags that were opened.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[list[str]]]] = []
        self.references: list[str] = []
        self.tags: set[str] = set()
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def rows(self, caption: str, number: int = 0) -> list[list[str]]:
        """Return the rows, without headings, of the n-th table whose caption begins so."""
        found = [rows for name, rows in self.tables if name.startswith(caption)][number]
        return [[cell.strip() for cell in row] for row in found[1:]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.references += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href")]
        if tag in _VOID:
            return
        self._open.append(tag)
        if tag == "table":
            self.tables.append(("", []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "title" in self._open and "svg" in self._open:
            return  # shown when pointed at
        if "caption" in self._open:
            self.tables[-1] = (self.tables[-1][0] + data, self.tables[-1][1])
        elif "td" in self._open or "th" in self._open:
            row = self.tables[-1][1][-1]
            row[-1] += data
