"""Pieces of a page: tables, cards, sections. Every string from outside goes through ``text``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from mixle_assets.reporting.plots import bar_svg


@dataclass(frozen=True)
class Markup:
    """What is HTML already; a plain string is not, and is escaped.

    Attributes:
        html: The markup.
        is_number: Whether it is set as a number in a table.
    """

    html: str
    is_number: bool = False


Cell = str | int | Markup
"""What stands in a table: a number is set right and with separators."""


def text(value: str) -> str:
    """Return a string from outside as it may stand anywhere in a page, in attributes too.

    Control characters, which HTML does not allow, are shown as pictures of themselves.
    """
    shown = "".join(chr(0x2400 + ord(char)) if char < " " and char not in "\n\t" else char for char in value)
    return escape(shown.encode("utf-8", "replace").decode("utf-8"), quote=True)


def code(value: str) -> Markup:
    """Return an expression, a digest, a name from data."""
    return Markup(f"<code>{text(value)}</code>")


def percent(share: float) -> str:
    """Return a share with one decimal; what is there at all is never shown as none."""
    return "under 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def bar(number: int, of: int, *, kind: str = "bar", width: int = 160) -> Markup:
    """Return a number's share of a whole, as a bar and in percent."""
    share = number / of if of else 0.0
    return share_bar(share, kind=kind, width=width)


def share_bar(share: float, *, kind: str = "bar", width: int = 160) -> Markup:
    """Return a share as a bar and in percent."""
    shown = f'{bar_svg(share, width=width, kind=kind)} <span class="share">{percent(share)}</span>'
    return Markup(f'<span class="cellbar">{shown}</span>')


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, kind: str = "") -> str:
    """Return a table whose first column names its rows.

    Args:
        caption: Says what it shows.
        columns: Headings.
        rows: A cell for each column.
        kind: Class for the style sheet.
    """
    all_rows = [list(row) for row in rows]
    numeric = [bool(all_rows) and all(_is_number(row[at]) for row in all_rows) for at in range(len(columns))]
    head = "".join(
        f'<th scope="col"{_number(is_number)}>{text(name)}</th>'
        for name, is_number in zip(columns, numeric, strict=True)
    )
    body = "\n".join(f"<tr>{_row(row)}</tr>" for row in all_rows)
    return (
        f'<div class="scroll"><table{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>'
        f"<caption>{text(caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
    )


def _row(row: Sequence[Cell]) -> str:
    first, *others = row
    cells = "".join(f"<td{_number(_is_number(cell))}>{_cell(cell)}</td>" for cell in others)
    return f'<th scope="row">{_cell(first)}</th>{cells}'


def _is_number(cell: Cell) -> bool:
    return cell.is_number if isinstance(cell, Markup) else isinstance(cell, int)


def _number(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def _cell(cell: Cell) -> str:
    if isinstance(cell, Markup):
        return cell.html
    return f"{cell:,}" if isinstance(cell, int) else text(cell)


def matrix(caption: str, names: Sequence[str], values: Sequence[Sequence[int]]) -> str:
    """Return a square of numbers as a table that is also a heat map: the fuller the color, the larger.

    A table and no picture, so that it can be read aloud, searched and copied. The diagonal is marked, and is
    a scale of its own, since no other number in its row or column can be larger.
    """
    others = [value for row, line in enumerate(values) for column, value in enumerate(line) if row != column]
    largest = max(others, default=0) or 1
    head = "".join(f'<th scope="col" class="number">{text(name)}</th>' for name in names)
    lines = []
    for row, line in enumerate(values):
        cells = []
        for column, value in enumerate(line):
            if row == column:
                cells.append(f'<td class="number diagonal">{value:,}</td>')
            elif value:
                heat = max(round(75 * value / largest), 6)
                cells.append(f'<td class="number heat" style="--heat:{heat}%">{value:,}</td>')
            else:
                cells.append('<td class="number none">·</td>')
        lines.append(f'<tr><th scope="row">{text(names[row])}</th>{"".join(cells)}</tr>')
    body = "\n".join(lines)
    return (
        f'<div class="scroll"><table class="matrix"><caption>{text(caption)}</caption>\n'
        f'<thead><tr><th scope="col">rule</th>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n'
    )


def cards(facts: Iterable[tuple[str, str]]) -> str:
    """Return a row of large numbers, each with what it counts."""
    items = "".join(f"<div><dd>{text(number)}</dd><dt>{text(what)}</dt></div>" for what, number in facts)
    return f'<dl class="cards">{items}</dl>\n'


def section(anchor: str, title: str, lead: str, body: str) -> str:
    """Return a section with its heading and a sentence on how to read it."""
    return (
        f'<section id="{anchor}">\n<h2>{text(title)}</h2>\n'
        f'<p class="lead">{text(lead)}</p>\n{body}</section>\n'
    )


def fold(summary: str, body: str) -> str:
    """Return something that is opened by a click."""
    return f"<details><summary>{text(summary)}</summary>\n{body}</details>\n"
