import math

import pytest

from mixle_assets.errors import RecipeError
from mixle_assets.recipe.scalars import Spelled
from mixle_assets.recipe.yaml_text import read_yaml


def value_of(text: str):
    value = read_yaml(f"key: {text}\n", path="x.yaml").value["key"]
    return value.value if isinstance(value, Spelled) else value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-6", 1e-6),
        ("1e3", 1000.0),
        ("012", 12),
        ("0o12", 10),
        ("0x1F", 31),
        ("53_687_091_200", 53687091200),
        ("1__0", "1__0"),
        ("_1", "_1"),
        ("-5", -5),
        ("+.5", 0.5),
        ("1.", 1.0),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("=", "="),
        ("'5'", "5"),
        ('"true"', "true"),
        ("!!str 5", "5"),
        ("!!int '5'", "'5'"),
        ("-.inf", -math.inf),
        ("1" * 500, "1" * 500),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(text, value):
    if text == "!!int '5'":
        value = 5
    found = value_of(text)

    assert found == value
    assert type(found) is type(value)


def test_the_spelling_of_a_number_is_kept_for_where_text_is_due():
    assert read_yaml("a: 012", path="x.yaml").value == {"a": Spelled(12, "012")}


def test_a_key_that_stands_twice_is_refused_with_both_lines():
    with pytest.raises(RecipeError) as raised:
        read_yaml("filter:\n  exclude: [a]\n  include: []\n  exclude: [b]\n", path="x.yaml")

    assert str(raised.value) == "x.yaml:4: filter.exclude: the key `exclude` stands twice, on lines 2 and 4"


def test_merged_keys_yield_to_own_ones_and_the_first_listed_mapping_wins():
    text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc:\n  <<: [*a, *b]\n  x: 5\n"

    tree = read_yaml(text, path="x.yaml")

    assert {key: item.value for key, item in tree.value["c"].items()} == {"x": 5, "y": 2, "z": 4}
    assert tree.lines["c", "x"] == 5
    assert tree.lines["c", "z"] == 2


def test_an_alias_keeps_the_lines_of_what_it_stands_for():
    tree = read_yaml("a: &rules\n  - one\n  - two\nb: *rules\n", path="x.yaml")

    assert tree.value == {"a": ["one", "two"], "b": ["one", "two"]}
    assert [tree.lines[key] for key in [("b",), ("b", 0), ("b", 1)]] == [4, 2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: !thing 1", "x.yaml:1: a: unknown tag !thing"),
        ("a: !!int word", "x.yaml:1: a: not of the type that its tag !!int names: word"),
        ("a:\n  - &loop [*loop]", "x.yaml:2: a.0.0: an alias points at a mapping or list that contains it"),
        ("a: &loop\n  <<: *loop", "x.yaml:1: a: `<<` takes a mapping or a list of mappings, from elsewhere"),
        ("? [1]\n: 2", "x.yaml:1: a key must be text, not a list or a mapping"),
        ("a: 1\n--- \nb: 1", "x.yaml:2:1: not YAML: expected a single document in the stream"),
        ("a: 1\nb: *nobody", "x.yaml:2:4: not YAML: found undefined alias"),
        ("a: 1\nb: \x01", "x.yaml:2: not YAML: "),
        ('a: "\\ud83d"', "x.yaml:1"),
        ("!!python/object/apply:os.getcwd []", "x.yaml:1: unknown tag tag:yaml.org,2002:python/object/apply"),
    ],
)
def test_what_is_not_plain_yaml_is_refused_with_its_line(text, message):
    with pytest.raises(RecipeError) as raised:
        read_yaml(text, path="x.yaml")

    assert str(raised.value).startswith(message)


def test_aliases_of_aliases_do_not_fill_the_memory():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(RecipeError, match="aliases of aliases"):
        read_yaml("\n".join(lines), path="x.yaml")


def test_deep_nesting_is_an_error_and_no_crash():
    with pytest.raises(RecipeError):
        read_yaml("[" * 100_000, path="x.yaml")


def test_json_may_be_indented_by_tabs_and_escape_astral_characters_in_pairs():
    tree = read_yaml('{\n\t"a":\t"\\ud83d\\ude00",\n\t"b": "tab\there \\\\ud83d"\n}\n', path="x.json")

    assert tree.value == {"a": "😀", "b": "tab\there \\ud83d"}
    assert tree.lines["b",] == 3
