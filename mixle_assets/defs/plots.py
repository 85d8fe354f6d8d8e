"""Small pictures for the UI, drawn here as SVG so that no plotting library has to be installed for them."""

import base64
from collections.abc import Mapping
from html import escape

import dagster as dg

MAX_BARS = 20
_LABEL_WIDTH, _BAR_WIDTH, _ROW_HEIGHT = 430, 300, 22
_LABEL_CHARACTERS = 62


def bar_chart(title: str, values: Mapping[str, int]) -> dg.MarkdownMetadataValue:
    """Return a horizontal bar chart as markdown with the picture inside: a few kilobytes, whatever the data.

    Args:
        title: Stands above the bars, and where pictures are not shown.
        values: Label to length, in the order they are drawn; beyond 20 the rest is one bar.
    """
    picture = base64.b64encode(bar_chart_svg(title, values).encode()).decode()
    return dg.MetadataValue.md(f"![{title}](data:image/svg+xml;base64,{picture})")


def bar_chart_svg(title: str, values: Mapping[str, int]) -> str:
    """Return the chart as an SVG document."""
    bars = list(values.items())
    if len(bars) > MAX_BARS:
        rest = bars[MAX_BARS - 1 :]
        bars = [*bars[: MAX_BARS - 1], (f"{len(rest)} more", sum(number for _, number in rest))]
    longest = max([number for _, number in bars], default=0) or 1
    height = _ROW_HEIGHT * (len(bars) + 1) + 8
    width = _LABEL_WIDTH + _BAR_WIDTH + 110
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="8" y="16" font-weight="bold">{escape(title)}</text>',
    ]
    for row, (label, number) in enumerate(bars, start=1):
        y = row * _ROW_HEIGHT
        length = round(_BAR_WIDTH * number / longest, 1)
        short = label if len(label) <= _LABEL_CHARACTERS else label[: _LABEL_CHARACTERS - 1] + "…"
        parts += [
            f'<text x="{_LABEL_WIDTH - 8}" y="{y + 16}" text-anchor="end">{escape(short)}</text>',
            f'<rect x="{_LABEL_WIDTH}" y="{y + 4}" width="{length}" height="16" fill="#4f43dd"/>',
            f'<text x="{_LABEL_WIDTH + length + 6}" y="{y + 16}">{number:,}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])
