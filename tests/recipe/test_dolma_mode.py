"""Dolma's mixing configs: what dolma 1.2.1 did with 103 of them, and what we do."""

import json
from pathlib import Path

import pytest

from mixle_assets.errors import RecipeError
from mixle_assets.recipe import parse_recipe

PROBES = [
    json.loads(line.replace("{D}", "/folder"))
    for line in (Path(__file__).parents[1] / "golden/mixer_config_probes.jsonl")
    .read_text("utf-8")
    .splitlines()
]
ENVIRON = {"MYNAME": "envname"}

# Probes whose outcome is another one here, each with the reason.
LOADS_HERE = {
    "filter_incl_nonstr": "expressions are compiled when the pipeline loads the recipe, which refuses `5`",
    "filter_incl_bool": "`true` stays as it is spelled, a jq program; Dolma makes it `True`, which is none",
    "expr_with_escaped": "the escape of `${` works here; Dolma's own error handler crashes on it",
    "list_dot_config_json_surrogates": "the expression `$.é` is compiled when the pipeline loads the recipe",
}
REFUSED_HERE = {
    "name_empty": "a name is part of file names and partition keys",
    "interp_ref": "an absolute path as a name; Dolma strips its slash and nests folders",
}
# Probes of the command line's flags: the file alone is fine.
FLAGS_DECIDE = {"cli_processes_bad", "cli_unknown", "cli_streams"}


@pytest.mark.parametrize("probe", PROBES, ids=[probe["name"] for probe in PROBES])
def test_a_config_is_taken_or_refused_as_dolma_does(probe):
    name = probe["name"]
    dolma_takes_it = probe["expected"]["exit_code"] == 0
    is_taken = name in LOADS_HERE or name in FLAGS_DECIDE or (dolma_takes_it and name not in REFUSED_HERE)
    if name in LOADS_HERE:
        assert not dolma_takes_it

    def load():
        return parse_recipe(json.dumps(probe["config"]), path="config.json", mode="dolma", environ=ENVIRON)

    if not is_taken:
        with pytest.raises(RecipeError) as raised:
            load()
        assert str(raised.value).startswith("config.json:1: ")
        return
    recipe = load()
    if dolma_takes_it and probe["expected"]["output_files"] and not probe["argv"]:
        # Files are called after the stream, below the path; the extensions differ on purpose.
        (output,) = probe["expected"]["output_files"]
        stem = "out/documents/0" if not recipe.shuffle else f"out/{recipe.streams[0].name}-0000"
        assert output.split(".")[0] == stem
        assert recipe.streams[0].output.path == "/folder/out"
        assert recipe.dryrun is False


def test_the_escaped_and_the_spelled_expressions_are_what_they_should_be():
    by_name = {probe["name"]: json.dumps(probe["config"]) for probe in PROBES}

    def rules(name):
        return parse_recipe(by_name[name], path="c.json", mode="dolma").streams[0].filter

    assert rules("expr_with_escaped").exclude == ("$[?(@.text ~= '${x}')]",)
    assert rules("filter_incl_bool").include == ("true",)
    assert rules("filter_incl_nonstr").exclude == ("5",)
    assert rules("list_dot_config_json_surrogates").exclude == ("$.never", "$.é")


# The features that published mixing configs use, in one file: anchors, merged mappings, folded and quoted
# expressions, digits grouped by `_`, variables in paths and expressions, attribute globs, codecs.
PUBLISHED = r"""
streams:
  - name: books
    documents:
      - s3://bucket/v1/documents/books/*.gz
    attributes: &attributes
      - eval_paragraphs
      - 613test_*
    output: &output
      path: ${oc.env:HOME}/mixed/documents/books
      max_size_in_bytes: 4_294_967_296
      discard_fields:
        - attributes
    filter: &filter
      exclude:
        - "$@.attributes[?(@.eval_bff && @.eval_bff[0] && @.eval_bff[0][2] >= 1.0)]"
        - "$.attributes[?(@.gopher__gopher_v1__word_count && @.gopher__gopher_v1__word_count[0]
          && @.gopher__gopher_v1__word_count[0][2] < 50)]"

  - name: stack-v4-train
    documents:
      - s3://bucket/v1/documents/c++/*.jsonl.zstd
    attributes: *attributes
    output:
      <<: *output
      path: ${oc.env:HOME}/mixed/documents/stack
      min_text_length: 25   # characters? no: bytes
    filter:
      include:
        - >-
          ((.attributes."a-b_score"[0][-1] * ${oc.env:ALPHA}) +
          (.text | length)) <= 0.3
      syntax: jq
    span_replacement:
      - span: $.attributes.pii__EMAIL_ADDRESS
        min_score: 0.5
        replacement: " |||EMAIL_ADDRESS||| "
    compression:
      input: zst
      output: zst

work_dir:
  input: "/tmp/mix/input"
  output: "/tmp/mix/output"

shuffle: false
processes: 188
"""


def test_what_published_configs_use_is_understood():
    recipe = parse_recipe(PUBLISHED, path="c4.yaml", environ={"HOME": "/home/me", "ALPHA": "0.5"})
    books, stack = recipe.streams

    assert (recipe.mode, recipe.name, recipe.shuffle, recipe.execution.workers) == ("dolma", "c4", False, 188)
    assert recipe.tolerate.model_dump() == {
        "missing_attributes": "error",
        "malformed_row": "error",
        "max_skipped_share": 1.0,
        "key_collision": "last",
        "dead_rule": "warn",
    }
    assert books.attributes == stack.attributes == ("eval_paragraphs", "613test_*")
    assert books.output.path == "/home/me/mixed/documents/books"
    assert stack.output.path == "/home/me/mixed/documents/stack"
    assert (stack.output.max_size_in_bytes, stack.output.min_text_length) == (4294967296, 25)
    assert stack.output.discard_fields == ("attributes",)
    assert books.filter.exclude[1] == (
        "$.attributes[?(@.gopher__gopher_v1__word_count && @.gopher__gopher_v1__word_count[0] "
        "&& @.gopher__gopher_v1__word_count[0][2] < 50)]"
    )
    assert stack.filter.include == ('((.attributes."a-b_score"[0][-1] * 0.5) + (.text | length)) <= 0.3',)
    assert (stack.filter.syntax, stack.compression.input, stack.compression.output) == ("jq", "zst", "zst")
    assert stack.span_replacement[0].replacement == " |||EMAIL_ADDRESS||| "
    assert recipe.line_of("streams.1.filter.include.0") == 30
    assert recipe.locate("in/x.gz") == "in/x.gz"


STREAM = "{name: a, documents: [x], output: {path: out}, filter: {exclude: [$.a]}"


def test_a_faults_override_is_the_one_key_of_ours_that_a_dolma_config_may_have():
    recipe = parse_recipe(f"streams: [{STREAM}}}]\ntolerate: {{missing_attributes: skip}}", path="c.yaml")

    assert recipe.mode == "dolma"
    assert recipe.tolerate.missing_attributes == "skip"
    assert recipe.tolerate.key_collision == "last"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"streams:\n- {STREAM}, taggers: [g]}}",
            "c.yaml:2: streams.0.taggers: unknown key `taggers` in streams[]: a key of our own recipes; "
            "this is a Dolma config, since its streams have output.path",
        ),
        (
            f"streams:\n- {STREAM}}}\npacking: {{block: 5}}",
            "c.yaml:3: packing: unknown key `packing` in the top",
        ),
        (f"streams:\n- {STREAM}}}\nname: x", "c.yaml:3: name: "),
        (
            f"streams:\n- {STREAM}}}\n- {{name: b, documents: [x], filter: {{exclude: [$.a]}}}}",
            "c.yaml:3: streams.1.output.path: is missing; in a Dolma config every stream has one",
        ),
        (f"streams:\n- {STREAM}}}\n- {STREAM}}}", "c.yaml:3: streams.1.name: two streams are called 'a'"),
        (
            "streams:\n- {name: a, documents: [x], output: {path: '???'}, filter: {exclude: [a]}}",
            "c.yaml:2: streams.0",
        ),
    ],
)
def test_a_file_that_mixes_both_kinds_or_lacks_what_dolma_asks_for_is_refused(text, message):
    with pytest.raises(RecipeError) as raised:
        parse_recipe(text, path="c.yaml")

    assert str(raised.value).startswith(message)


def test_a_stream_of_a_dolma_config_may_be_named_into_a_folder_but_not_out_of_it():
    assert (
        parse_recipe(f"streams: [{STREAM.replace('a,', 'en/a,', 1)}}}]", path="c").streams[0].name == "en/a"
    )
    for name in ("../a", "/a", "a/", "a//b"):
        with pytest.raises(RecipeError, match="cannot name a stream"):
            parse_recipe(f"streams: [{STREAM.replace('a,', f'{name},', 1)}}}]", path="c")
