"""Small pictures as SVG, drawn here so that no plotting library has to be installed for them.

Numbers in, markup out. Colors are attributes, so that a page's style sheet may say others, and a picture that
stands alone has some too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

MAX_BARS = 20
BAR_COLOR = "#4f43dd"
_LABEL_WIDTH, _BAR_WIDTH, _ROW_HEIGHT = 430, 300, 22
_LABEL_CHARACTERS, _LABEL_HEAD = 62, 18

Bucket = tuple[float, float, int]
"""``(low, high, count)``, half-open; ``(0.0, 0.0, count)`` holds what is exactly zero."""


def bar_chart_svg(title: str, values: Mapping[str, int]) -> str:
    """Return a horizontal bar chart as an SVG document that stands alone: a few kilobytes, whatever the data.

    Args:
        title: Stands above the bars.
        values: Label to length, in the order they are drawn; beyond 20 the rest is one bar.
    """
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
        short = label
        if len(label) > _LABEL_CHARACTERS:
            # A rule's end, its threshold, is what tells it from the others.
            short = f"{label[:_LABEL_HEAD]}…{label[_LABEL_HEAD + 1 - _LABEL_CHARACTERS :]}"
        parts += [
            f'<text x="{_LABEL_WIDTH - 8}" y="{y + 16}" text-anchor="end">{escape(short)}</text>',
            f'<rect x="{_LABEL_WIDTH}" y="{y + 4}" width="{length}" height="16" fill="{BAR_COLOR}"/>',
            f'<text x="{_LABEL_WIDTH + length + 6}" y="{y + 16}">{number:,}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def bar_svg(share: float, *, width: int = 160, kind: str = "bar") -> str:
    """Return one bar, ``share`` of ``width`` pixels long, for the cell of a table that also says the number.

    Args:
        share: Between 0 and 1.
        width: In pixels, of a whole bar.
        kind: The bar's class: ``bar``, or ``bar kept`` and the like for a style sheet.
    """
    # What is there at all is seen: a rule that dropped 1 of 100,000 documents is not one that dropped none.
    length = max(round(width * share, 1), 1.0) if share > 0 else 0
    return (
        f'<svg class="cell" width="{width}" height="10" aria-hidden="true">'
        f'<rect class="track" width="{width}" height="10" rx="2" fill="#eeeeee"/>'
        f'<rect class="{kind}" width="{length:g}" height="10" rx="2" fill="{BAR_COLOR}"/></svg>'
    )


def histogram_svg(buckets: Sequence[Bucket], *, name: str, width: int = 220, height: int = 40) -> str:
    """Return a histogram over a logarithmic axis; each bar tells its bounds and number when pointed at.

    A bucket is as wide as it is in octaves. Zero stands apart, between what is below it and what is above,
    and is drawn no taller than the tallest of the others::

        [(0, 0, 3), (1, 2, 5), (2, 4, 1)]     # 3 | 5 1, with a gap where nothing is: between 0 and 1

    Args:
        buckets: In ascending order, not overlapping; none that has zero inside.
        name: What it shows, for who does not see it.
        width: In pixels.
        height: In pixels.
    """
    total = sum(count for _, _, count in buckets)
    if not total:
        return ""
    octaves = [math.log2(min(abs(low), abs(high))) for low, high, _ in buckets if low and high]
    lowest = min(octaves, default=0.0)
    edges = [_edges(low, high, lowest) for low, high, _ in buckets]
    left, right = edges[0][0], edges[-1][1]
    scale = min(width / (right - left), 24.0)  # two bars are no walls
    # Most scores of many measures are zero: at one scale nothing else would be seen.
    tallest = max([count for low, high, count in buckets if low or high], default=total)
    bars = []
    for (low, high, count), (start, stop) in zip(buckets, edges, strict=True):
        bar = max(round((height - 1) * min(count / tallest, 1.0), 1), 1.0)
        kind = "bar" if low or high else "bar zero"
        told = f"{format_number(low)}" if low == high else f"{format_number(low)} to {format_number(high)}"
        bars.append(
            f'<rect class="{kind}" x="{round((start - left) * scale, 1):g}" y="{round(height - bar, 1):g}" '
            f'width="{max(round((stop - start) * scale - 1, 1), 0.8):g}" height="{bar:g}" '
            f'fill="{BAR_COLOR}"><title>{told}: {count:,}</title></rect>'
        )
    label = f"{name}: {total:,} values in {len(buckets)} buckets"
    return (
        f'<svg class="histogram" width="{width}" height="{height}" role="img" aria-label="{escape(label)}">'
        f'<rect class="track" y="{height - 1}" width="{width}" height="1" fill="#cccccc"/>'
        f"{''.join(bars)}</svg>"
    )


def _edges(low: float, high: float, lowest: float) -> tuple[float, float]:
    """Return where a bucket begins and ends on the axis, in octaves; zero has the place from -0.5 to 0.5."""
    if low == high == 0:
        return -0.5, 0.5
    if low < 0:
        start, stop = _edges(-high, -low, lowest)
        return -stop, -start
    return math.log2(low) - lowest + 1, math.log2(high) - lowest + 1


def format_number(number: float) -> str:
    """Return a number as one reads it: whole ones with all their digits, others with four that count."""
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.1f}" if 1000 <= abs(number) < 1e15 else f"{number:.4g}"
