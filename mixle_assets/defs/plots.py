"""Pictures for the UI: what ``reporting`` draws, as markdown metadata."""

import base64
from collections.abc import Mapping

import dagster as dg

from mixle_assets.reporting.plots import bar_chart_svg


def bar_chart(title: str, values: Mapping[str, int]) -> dg.MarkdownMetadataValue:
    """Return a horizontal bar chart as markdown with the picture inside: a few kilobytes, whatever the data.

    Args:
        title: Stands above the bars, and where pictures are not shown.
        values: Label to length, in the order they are drawn; beyond 20 the rest is one bar.
    """
    picture = base64.b64encode(bar_chart_svg(title, values).encode()).decode()
    return dg.MetadataValue.md(f"![{title}](data:image/svg+xml;base64,{picture})")
