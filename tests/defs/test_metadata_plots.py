"""The pictures in the UI."""

from xml.etree import ElementTree

from mixle_assets.defs.plots import bar_chart
from mixle_assets.reporting.plots import bar_chart_svg


def texts(svg: str) -> list[str | None]:
    return [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


def test_a_chart_names_each_bar_and_its_number():
    svg = bar_chart_svg("Records", {"kept": 1200, "$.attributes[?(@.x < 3)]": 34})

    assert texts(svg) == ["Records", "kept", "1,200", "$.attributes[?(@.x < 3)]", "34"]


def test_bars_are_as_long_as_their_numbers_say():
    svg = bar_chart_svg("", {"a": 10, "b": 5, "c": 0})

    rects = [element for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("rect")]
    assert [float(rect.attrib["width"]) for rect in rects[1:]] == [300.0, 150.0, 0.0]


def test_a_chart_of_nothing_is_a_chart():
    assert texts(bar_chart_svg("Nothing", {"kept": 0})) == ["Nothing", "kept", "0"]


def test_many_long_rules_stay_a_small_picture():
    many = {f"$.attributes[?(@.rule_{number}{'x' * 300} < 1)]": number for number in range(1000)}

    chart = bar_chart("Rules", many)

    assert chart.value is not None
    assert len(chart.value) < 20_000
    assert "981 more" in str(texts(bar_chart_svg("Rules", many)))
