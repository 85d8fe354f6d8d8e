import re
from pathlib import Path

import pytest

from mixle_assets.recipe import parse_recipe
from mixle_assets.recipe.dolma import TOLERATE
from mixle_assets.recipe.keys import entries
from mixle_assets.recipe.reference import fill_page, sections, sections_of_page

PAGE = (Path(__file__).parents[2] / "docs/reference/recipe.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_every_key_with_its_default_and_meaning_stands_in_the_reference():
    assert fill_page(PAGE) == PAGE
    assert sections_of_page(PAGE) == list(sections())


def test_every_key_has_a_meaning():
    assert [place for place, entry in entries("recipe").items() if not entry.field.description] == []


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_examples_of_the_reference_load(number):
    assert parse_recipe(EXAMPLES[number], path="example.yaml", environ={}).streams


def test_the_keys_of_dolmas_configs_are_those_the_reference_lists():
    (line,) = [line for line in PAGE.splitlines() if line.startswith("- Keys:")]
    for place in entries("dolma"):
        if len(place) == 1 or place[:-1] == ("streams", "*"):
            assert f"`{place[-1]}`" in line
    assert f"`tolerate.key_collision` is `{TOLERATE['key_collision']}`" in PAGE
    assert f"`tolerate.dead_rule` is `{TOLERATE['dead_rule']}`" in PAGE
