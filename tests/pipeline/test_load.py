from collections.abc import Callable
from pathlib import Path

import pytest

from mixle_assets.errors import RecipeError
from mixle_assets.pipeline.load import load

Edit = Callable[[str, str], None]


def test_a_word_list_is_found_from_the_recipes_folder(
    small: Path, edit: Edit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(
        "taggers: {quality: [char_length_v1],",
        "taggers: {quality: [char_length_v1, {tagger: c4_v2, word_list: bad.txt}],",
    )
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(RecipeError, match=r"small\.yaml:5: .*bad\.txt"):
        load(small)

    (small.parent / "bad.txt").write_text("darn\n")
    assert load(small).recipe.streams[0].taggers["quality"][1].parameters["word_list"] == str(
        small.parent / "bad.txt"
    )


def test_a_misspelt_attribute_of_our_own_is_a_dead_rule_with_the_nearest_key(small: Path, edit: Edit) -> None:
    edit("quality__char_length_v1__length[0]", "quality__char_length_v1__lenght[0]")

    with pytest.raises(RecipeError, match=r"small\.yaml:9: .*did you mean quality__char_length_v1__length\?"):
        load(small)


def test_a_tolerated_dead_rule_is_a_warning(small: Path, edit: Edit) -> None:
    edit("quality__char_length_v1__length[0]", "quality__char_length_v1__lenght[0]")
    edit("packing:", "tolerate: {dead_rule: warn}\npacking:")

    assert any("quality__char_length_v1__lenght" in warning for warning in load(small).warnings)


def test_a_rule_that_can_never_match_is_refused(small: Path, edit: Edit) -> None:
    edit("[0][2] < 10)]", "[0][2] < 10 && 1 > 2)]")

    with pytest.raises(
        RecipeError, match=r"small\.yaml:9: streams\.0\.filter\.exclude\.0: .*the rule can never match"
    ):
        load(small)


def test_duplicates_that_no_rule_names_are_a_warning(small: Path) -> None:
    (warning,) = load(small).warnings

    assert "marks duplicates as bff_duplicate_paragraph_spans, but no rule and no span names it" in warning


def test_attributes_of_another_tool_may_be_named_unseen(small: Path, edit: Edit) -> None:
    edit("quality__char_length_v1__length[0]", "theirs__score__value[0]")

    assert not any("theirs__score__value" in warning for warning in load(small).warnings)


def test_the_set_that_deduping_writes_is_taken(small: Path, edit: Edit) -> None:
    edit("quality: [char_length_v1]", "duplicates: [char_length_v1]")

    with pytest.raises(RecipeError, match=r"small\.yaml:\d+: .*duplicates"):
        load(small)


def test_a_rule_may_read_the_share_of_repeated_paragraphs(small: Path, edit: Edit) -> None:
    edit("paragraphs: {}", "paragraphs: {share_name: repeated_share}")
    edit(
        "        - $.attributes[?(@.bff_duplicate_docs ",
        "        - $.attributes[?(@.repeated_share[0][2] > 0.5)]\n"
        "        - $.attributes[?(@.bff_duplicate_docs ",
    )

    assert not any("repeated_share" in warning for warning in load(small, str(small.parent)).warnings)
