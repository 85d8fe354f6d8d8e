"""What holds for every recipe: it is printed and read back, and a slip in any key is caught."""

import json
import string

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import RecipeError
from mixle_assets.recipe import Recipe, parse_recipe, render_resolved
from mixle_assets.recipe.interpolation import escape
from mixle_assets.recipe.keys import distance, entries

names = st.text(alphabet=string.ascii_letters + string.digits + "_-.", min_size=1, max_size=8).filter(
    lambda name: ".." not in name
)
set_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,6}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "no",
        "012",
        "1e-6",
        "null",
        "~",
        "${x}",
        r"\${",
        "$.a[?(@.b < 1)]",
        " x ",
        "# x",
        "- a",
        "a: b",
        "é\u2028",
        "😀",
    ]
)
filled = texts.filter(bool)
text_lists = st.lists(filled, max_size=3, unique=True)
plain = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
parameters = st.dictionaries(
    texts.filter(lambda key: key not in ("tagger", "parameters")),
    st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
        max_leaves=4,
    ),
    max_size=2,
)
taggers = st.lists(
    st.tuples(filled, parameters).map(lambda pair: {**pair[1], "tagger": pair[0]}),
    min_size=1,
    max_size=2,
    unique_by=lambda use: use["tagger"],
)
spans = st.fixed_dictionaries(
    {"span": texts},
    optional={"min_score": st.floats(-1, 0), "max_score": st.floats(0.5, 2), "replacement": texts},
)


@st.composite
def streams(draw, name):
    stream = {
        "name": name,
        **draw(st.sampled_from([{"documents": ["x"]}, {"source": {"python_stdlib": "code"}}])),
    }
    rules = draw(st.lists(texts, max_size=4, unique=True))
    optional = {
        "taggers": draw(taggers | st.dictionaries(set_names, taggers, max_size=2)),
        "dedupe": draw(
            st.sampled_from(
                [
                    None,
                    {"documents": {}},
                    {"paragraphs": {"by_ngram": {"ngram_length": 3}}, "keep": {"prefer": [name]}},
                ]
            )
        ),
        "attributes": draw(st.sampled_from([[], ["their set"], ["a*", "0"]])),
        "filter": {"syntax": "jq", "include": rules[:1], "exclude": rules[1:]},
        "span_replacement": draw(st.lists(spans, max_size=2)),
        "output": draw(
            st.fixed_dictionaries(
                {}, optional={"min_text_length": st.integers(0, 9), "discard_fields": text_lists}
            )
        ),
        "compression": draw(st.sampled_from([{}, {"input": "zst"}, {"output": ""}])),
        "weight": draw(st.floats(0.1, 9)),
    }
    stream |= {key: optional[key] for key in sorted(draw(st.sets(st.sampled_from(sorted(optional)))))}
    return stream


@st.composite
def recipes(draw):
    stream_names = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    return {
        "name": draw(filled),
        "streams": [draw(streams(name)) for name in stream_names],
        "shuffle": draw(st.booleans()),
        "tokenizer": draw(
            st.sampled_from(
                [None, {"bytes": True}, {"train": {"vocab_size": 300}}, {"file": "t", "bos": "x"}]
            )
        ),
        "packing": draw(
            st.fixed_dictionaries({}, optional={"seed": st.integers(0, 2**64), "block": st.integers(1, 99)})
        ),
    }


@settings(deadline=None)
@given(value=recipes())
def test_any_valid_recipe_is_printed_and_loads_to_itself(value):
    recipe = Recipe.model_validate(value)

    again = parse_recipe(render_resolved(recipe), path="x.yaml")

    assert again.model_dump() == recipe.model_dump()
    assert hash(again.streams) == hash(recipe.streams)


def escaped(value):
    if isinstance(value, dict):
        return {key: escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [escaped(item) for item in value]
    return escape(value) if isinstance(value, str) else value


@settings(deadline=None)
@given(value=recipes(), ascii_only=st.booleans(), indent=st.sampled_from([None, 2, "\t"]))
def test_a_recipe_written_as_json_is_read_as_it_was_meant(value, ascii_only, indent):
    text = json.dumps(escaped(value), ensure_ascii=ascii_only, indent=indent)

    recipe = parse_recipe(text, path="x.json")

    assert recipe.model_dump() == Recipe.model_validate(value).model_dump()


LONG_KEYS = [place for place in entries("recipe") if len(place[-1]) > 3]


@st.composite
def slips(draw):
    """A key and what a slip of the finger makes of it: a letter more, less, another, or two swapped."""
    place = draw(st.sampled_from(LONG_KEYS))
    key = place[-1]
    at = draw(st.integers(0, len(key) - 1))
    letter = draw(st.sampled_from(string.ascii_lowercase))
    slip = draw(
        st.sampled_from(
            [
                key[:at] + letter + key[at:],
                key[:at] + key[at + 1 :],
                key[:at] + letter + key[at + 1 :],
                key[:at] + key[at : at + 2][::-1] + key[at + 2 :],
            ]
        )
    )
    return place, slip


SECTIONS = {
    ("streams", "*", "source"): {"python_stdlib": "prose"},
    ("streams", "*", "dedupe"): {"documents": {}},
    ("tokenizer",): {"bytes": True},
}


def written_at(place, value):
    """A recipe in which ``value`` stands at a key, with what else is needed around it."""
    for depth in range(len(place) - 1, -1, -1):
        part = place[depth]
        value = [value] if part == "*" else {part: value}
        if place[:depth] == ("streams", "*"):
            value = {"name": "a", "documents": ["x"], **value}
    return value


@settings(deadline=None)
@given(slip=slips())
def test_a_slip_in_any_key_is_refused_with_the_key_that_was_meant(slip):
    place, key = slip
    if any(each[-1] == key for each in entries("recipe")):
        return  # the slip made another key of it
    text = yaml.safe_dump(written_at((*place[:-1], key), 1))

    with pytest.raises(RecipeError) as raised:
        parse_recipe(text, path="x.yaml")

    assert f"unknown key `{key}`" in raised.value.message
    meant = raised.value.message.partition("did you mean ")[2].strip("`?").rpartition(".")[2]
    # Another key may be as near as the one that was meant, but none is nearer.
    assert distance(key, meant) == 1
    assert raised.value.line is not None
    assert raised.value.key.endswith(key)


@settings(deadline=None)
@given(
    text=st.text(max_size=60) | st.text(alphabet="streams:[]{}- \nnamedocux&*!|>'\"#%@`,?1.<", max_size=80)
)
def test_any_text_is_a_recipe_or_an_error_of_the_recipe(text):
    try:
        recipe = parse_recipe(text, path="x.yaml", environ={})
    except RecipeError as error:
        recipe, place = None, error.path
    assert recipe is not None or place == "x.yaml"
