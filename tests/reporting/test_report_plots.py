"""Pictures: where bars stand, how long they are, and what is written on them."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.reporting.plots import bar_chart_svg, bar_svg, format_number, histogram_svg

Svg = list[tuple[float, float, float]]


def bars(svg: str) -> Svg:
    """``(x, width, height)`` of every bar."""
    found = [one for one in ElementTree.fromstring(svg) if one.get("class", "").startswith("bar")]
    return [
        (float(one.get("x", 0)), float(one.get("width", 0)), float(one.get("height", 0))) for one in found
    ]


def test_a_histogram_has_a_bar_for_each_bucket_as_wide_as_its_octaves() -> None:
    svg = histogram_svg([(1.0, 2.0, 10), (2.0, 8.0, 5)], name="lengths", width=60, height=41)

    assert bars(svg) == [(0.0, 19.0, 40.0), (20.0, 39.0, 20.0)]
    assert re.findall("<title>(.*?)</title>", svg) == ["1 to 2: 10", "2 to 8: 5"]
    assert 'aria-label="lengths: 15 values in 2 buckets"' in svg


def test_zeros_stand_apart_and_hide_nothing() -> None:
    svg = histogram_svg([(0.0, 0.0, 1000), (1.0, 2.0, 4), (2.0, 4.0, 2)], name="hits", height=41)

    zero, one, two = bars(svg)
    assert (zero[2], one[2], two[2]) == (40.0, 40.0, 20.0)
    assert one[0] > zero[0] + zero[1] + 1
    assert "<title>0: 1,000</title>" in svg


def test_negative_scores_are_the_mirror_of_positive_ones() -> None:
    svg = histogram_svg([(-2.0, -1.0, 1), (0.0, 0.0, 1), (1.0, 2.0, 1)], name="logits")

    left, middle, right = bars(svg)
    assert left[1] == right[1]
    assert middle[0] - (left[0] + left[1]) == pytest.approx(right[0] - (middle[0] + middle[1]))


def test_without_values_there_is_no_histogram() -> None:
    assert histogram_svg([], name="nothing") == ""


@settings(deadline=None)
@given(st.lists(st.integers(-1000, 1000), unique=True, min_size=1), st.integers(1, 10**12))
def test_bars_stand_in_order_and_inside_the_picture(octaves: list[int], count: int) -> None:
    ascending = [(2.0**octave, 2.0 ** (octave + 1), count) for octave in sorted(octaves)]

    found = bars(histogram_svg(ascending, name="any", width=220))

    assert [x for x, _, _ in found] == sorted(x for x, _, _ in found)
    assert all(x >= 0 and x + width <= 221 for x, width, _ in found)


def test_one_of_a_million_is_still_seen() -> None:
    assert 'class="bar" width="1"' in bar_svg(1e-6)
    assert 'class="bar" width="0"' in bar_svg(0.0)
    assert 'class="bar" width="160"' in bar_svg(1.0)


def test_a_chart_names_its_bars_and_adds_up_those_that_do_not_fit() -> None:
    svg = bar_chart_svg("a < b", {f"rule {number}": 1 for number in range(25)})

    texts = [one.text for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "a < b"
    assert texts[-2:] == ["6 more", "6"]
    assert len(texts) == 1 + 2 * 20


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.0, "0"),
        (229202.0, "229,202"),
        (15970.83, "15,970.8"),
        (0.0006129, "0.0006129"),
        (-3.5, "-3.5"),
        (1e300, "1e+300"),
    ],
)
def test_a_number_is_written_as_it_is_read(number: float, shown: str) -> None:
    assert format_number(number) == shown


def test_a_label_that_is_cut_keeps_the_threshold_by_which_rules_differ():
    rule = "$.attributes[?(@.quality__gopher_v1__fraction_of_words_with_alpha_character[0][2] < 0.{})]"

    svg = bar_chart_svg("Dropped", {rule.format(5): 1, rule.format(8): 2})

    assert "$.attributes[?(@.q…of_words_with_alpha_character[0][2] &lt; 0.5)]" in svg
    assert "$.attributes[?(@.q…of_words_with_alpha_character[0][2] &lt; 0.8)]" in svg
