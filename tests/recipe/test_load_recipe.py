import pickle
import textwrap

import pytest

from mixle_assets.errors import RecipeError
from mixle_assets.recipe import Recipe, TaggerUse, load_recipe, parse_recipe

SMALLEST = "streams: [{name: a, documents: [x]}]\n"


def parsed(text, **kwargs):
    return parse_recipe(textwrap.dedent(text), path="recipes/x.yaml", **kwargs)


def refusal(text):
    with pytest.raises(RecipeError) as raised:
        parsed(text)
    assert raised.value.exit_code == 2
    return str(raised.value)


def test_the_smallest_recipe_has_every_default():
    recipe = parsed(SMALLEST)
    stream = recipe.streams[0]

    assert recipe.name == "x"
    assert (recipe.shuffle, recipe.tokenizer, recipe.mode, recipe.path) == (
        True,
        None,
        "recipe",
        "recipes/x.yaml",
    )
    assert (stream.weight, stream.resample, stream.filter, stream.taggers) == (1.0, False, None, {})
    assert stream.output.model_dump() == {
        "path": None,
        "max_size_in_bytes": 2147483648,
        "min_text_length": 0,
        "discard_fields": (),
    }
    assert stream.compression.model_dump() == {"input": None, "output": "gz"}
    assert recipe.packing.model_dump() == {
        "block": 1024,
        "batch_size": 8,
        "seed": 0,
        "epochs": 1,
        "world_size": 1,
        "pad_id": 0,
        "order": "mixle",
        "residency": "documents",
        "equalize": "none",
        "strategy": "concatenate",
        "materialize": "rows",
        "selector": None,
    }
    assert recipe.tolerate.max_skipped_share == 1.0
    assert set(recipe.tolerate.model_dump(exclude={"max_skipped_share"}).values()) == {"error"}
    assert (recipe.execution.engine, recipe.execution.workers) == ("processes", None)


def test_a_recipe_cannot_change_and_survives_hashing_and_pickling():
    recipe = parsed("streams: [{name: a, documents: [x], taggers: [g, {tagger: t, n: [1, {b: 2}]}]}]")

    assert pickle.loads(pickle.dumps(recipe)) == recipe  # noqa: S301
    assert pickle.loads(pickle.dumps(recipe)).line_of("streams.0.taggers") == 1  # noqa: S301
    assert hash(recipe) == hash(
        parsed("streams: [{name: a, documents: [x], taggers: [g, {tagger: t, n: [1, {b: 2}]}]}]")
    )
    with pytest.raises(TypeError):
        recipe.streams[0].taggers["more"] = ()
    with pytest.raises(ValueError, match="frozen"):
        recipe.name = "other"


def test_a_bare_list_of_taggers_is_the_set_tags():
    recipe = parsed(
        "streams: [{name: a, documents: [x], taggers: [g, {tagger: my.t, threshold: 1e-6, words: [no]}]}]"
    )

    assert recipe.streams[0].taggers == {
        "tags": (
            TaggerUse(tagger="g"),
            TaggerUse(tagger="my.t", parameters={"threshold": 1e-6, "words": ("no",)}),
        )
    }


def test_the_slug_has_only_letters_digits_and_underscores():
    assert Recipe(name="C4 v1.6-é", streams=[{"name": "a", "documents": ["x"]}]).slug == "C4_v1_6__"


def test_text_is_kept_as_it_is_spelled_where_text_is_due():
    recipe = parsed("name: 012\nstreams: [{name: 1e3, documents: [no, 2024-01-01, 1.50, true]}]")

    assert recipe.name == "012"
    assert recipe.streams[0].name == "1e3"
    assert recipe.streams[0].documents == ("no", "2024-01-01", "1.50", "true")


def test_numbers_in_quotes_are_taken_and_words_for_switches_too():
    recipe = parsed("""
        shuffle: no
        streams:
        - {name: a, documents: [x], weight: "0.5", resample: on, output: {max_size_in_bytes: "1_000"}}
    """)

    assert (recipe.shuffle, recipe.streams[0].resample) == (False, True)
    assert recipe.streams[0].weight == 0.5
    assert recipe.streams[0].output.max_size_in_bytes == 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "shuffel: false\n" + SMALLEST,
            ":1: shuffel: unknown key `shuffel` in the top of the file: did you mean `shuffle`?",
        ),
        (
            "streams:\n- name: a\n  documents: [x]\n  filter:\n    exlude: []\n",
            ":5: streams.0.filter.exlude: unknown key `exlude` in streams[].filter: did you mean `exclude`?",
        ),
        (
            "streams:\n- name: a\n  documents: [x]\n  span_replacement:\n  - {span: $.x, min_scroe: 0.5}\n",
            ":5: streams.0.span_replacement.0.min_scroe: unknown key `min_scroe` in "
            "streams[].span_replacement[]: did you mean `min_score`?",
        ),
        (
            "streams:\n- name: a\n  documents: [x]\n  exclude: []\n",
            ":4: streams.0.exclude: unknown key `exclude` in streams[]: did you mean "
            "streams[].filter.exclude?",
        ),
        (
            "seed: 1\n" + SMALLEST,
            ":1: seed: unknown key `seed` in the top of the file: did you mean packing.seed?",
        ),
        (
            "streams:\n- {name: a, documents: [x], max_size_in_bytes: 5}\n",
            ":2: streams.0.max_size_in_bytes: unknown key `max_size_in_bytes` in streams[]: did you mean "
            "streams[].output.max_size_in_bytes?",
        ),
        (
            "processes: 4\n" + SMALLEST,
            ":1: processes: unknown key `processes` in the top of the file: a key of Dolma configs, whose "
            "streams have output.path; here it is execution.workers",
        ),
        (
            "packing:\n  max_docs: 4\n" + SMALLEST,
            ":2: packing.max_docs: unknown key `max_docs` in packing: there are block, batch_size, seed, "
            "epochs, world_size, pad_id, order, residency, equalize, strategy, materialize, selector",
        ),
    ],
)
def test_a_mistyped_or_misplaced_key_is_refused_with_the_one_that_was_meant(text, message):
    assert refusal(text) == "recipes/x.yaml" + message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: streams: is missing"),
        ("streams: []", ":1: streams: no streams: a recipe needs at least one"),
        ("streams: {a: 1}", ":1: streams: must be a list, got {'a': 1}"),
        ("- a", ":1: a recipe is a mapping with `streams`, got ['a']"),
        ("just text", ":1: a recipe is a mapping with `streams`, got 'just text'"),
        ("streams: [{documents: [x]}]", ":1: streams.0.name: is missing"),
        (
            "streams: [{name: a}]",
            ":1: streams.0: the stream 'a' has no documents: give `documents` or `source`",
        ),
        (
            "streams: [{name: a, documents: x.gz}]",
            ":1: streams.0.documents: must be a list, got 'x.gz': write ['x.gz']",
        ),
        (
            "streams: [{name: a, documents: [x], source: {python_stdlib: prose}}]",
            ":1: streams.0.documents: a stream has `source` or `documents`, not both",
        ),
        (
            "streams: [{name: a, source: {python_stdlib: proze}}]",
            ":1: streams.0.source.python_stdlib: must be one of prose, code, got 'proze': "
            "did you mean prose?",
        ),
        ("streams: [{name: a, source: {only: [json]}}]", ":1: streams.0.source: names no source"),
        (
            "streams: [{name: a, source: {warc: [x], files: [y]}}]",
            ":1: streams.0.source.warc: names 2 sources (files, warc): give one",
        ),
        (
            "streams: [{name: a, source: {warc: [x], only: [json]}}]",
            ":1: streams.0.source.only: goes with python_stdlib; this is warc",
        ),
        (
            "streams: [{name: a, source: {parquet: [x], extractor: trafilatura}}]",
            ":1: streams.0.source.extractor: goes with files or warc; this is parquet",
        ),
        (
            "streams: [{name: a, source: {files: [x], text: body}}]",
            ":1: streams.0.source.text: goes with parquet or datasets; this is files",
        ),
        (
            "streams:\n- {name: a, documents: [x]}\n- {name: b, documents: [x]}\n- {name: a, documents: [y]}",
            ":4: streams.2.name: two streams are called 'a' (streams.0 and streams.2): "
            "their files would overwrite each other",
        ),
        ("streams: [{name: a/b, documents: [x]}]", ":1: streams.0.name: 'a/b' cannot name a stream"),
        ("streams: [{name: a..b, documents: [x]}]", ":1: streams.0.name: 'a..b' cannot name a stream"),
        ("streams: [{name: 'a b', documents: [x]}]", ":1: streams.0.name: 'a b' cannot name a stream"),
        ("streams: [{name: é, documents: [x]}]", ":1: streams.0.name: 'é' cannot name a stream"),
        ("streams: [{name: '', documents: [x]}]", ":1: streams.0.name: '' cannot name a stream"),
        (
            "streams: [{name: a, documents: [x], weight: -1}]",
            ":1: streams.0.weight: must be at least 0, got -1",
        ),
        (
            "streams: [{name: a, documents: [x], weight: .nan}]",
            ":1: streams.0.weight: must be a finite number, got .nan",
        ),
        (
            "streams: [{name: a, documents: [x], weight: .inf}]",
            ":1: streams.0.weight: must be a finite number, got .inf",
        ),
        (
            "streams: [{name: a, documents: [x], weight: many}]",
            ":1: streams.0.weight: must be a number, got 'many'",
        ),
        (
            "streams: [{name: a, documents: [x], weight: true}]",
            ":1: streams.0.weight: must be a number, got true",
        ),
        (
            "streams: [{name: a, documents: [x], weight: 0}]\ntokenizer: {bytes: true}",
            ":1: streams: every stream has weight 0: an epoch would be empty",
        ),
        (
            "streams: [{name: a, documents: [x], weight: 2, resample: true}]",
            ":1: streams.0.resample: resample draws a fraction anew, but weight 2 has none",
        ),
        (
            "streams: [{name: a, documents: [x, y, x]}]",
            ":1: streams.0.documents: the same pattern stands twice: x",
        ),
        (
            "streams:\n- name: a\n  documents: [x]\n  filter:\n"
            "    exclude:\n      - $.a\n      - $.b\n    include: [$.b]",
            ":7: streams.0.filter.exclude.1: stands in include as well, so nothing is kept by it: $.b",
        ),
        (
            "streams:\n- name: a\n  documents: [x]\n  filter:\n    exclude:\n      - $.a\n      - $.a",
            ":7: streams.0.filter.exclude.1: the same expression stands twice: $.a",
        ),
        (
            "streams:\n- name: a\n  documents: [x]\n  span_replacement:\n"
            "  - span: $.x\n    min_score: 0.8\n    max_score: 0.5",
            ":7: streams.0.span_replacement.0.max_score: no score is at least 0.8 (min_score) and below 0.5",
        ),
        (
            "streams: [{name: a, documents: [x], filter: {syntax: JQ}}]",
            ":1: streams.0.filter.syntax: must be one of jsonpath, jq, got 'JQ'",
        ),
        (
            "streams: [{name: a, documents: [x], filter: {exclude: $.a}}]",
            ":1: streams.0.filter.exclude: must be a list",
        ),
        (
            "streams: [{name: a, documents: [x], filter: {exclude: [null]}}]",
            ":1: streams.0.filter.exclude.0: must be text",
        ),
        (
            "streams: [{name: a, documents: [x], taggers: {1a: [g]}}]",
            ":1: streams.0.taggers.1a: '1a' cannot name",
        ),
        (
            "streams: [{name: a, documents: [x], taggers: {q: []}}]",
            ":1: streams.0.taggers.q: must not be empty",
        ),
        (
            "streams: [{name: a, documents: [x], taggers: [g, g]}]",
            ":1: streams.0.taggers: g stands twice in the set 'tags'",
        ),
        (
            "streams: [{name: a, documents: [x], taggers: [{n: 1}]}]",
            ":1: streams.0.taggers.0: has no `tagger`: {'n': 1}",
        ),
        (
            "streams: [{name: a, documents: [x], taggers: {q: [g]}, attributes: [q]}]",
            ":1: streams.0.attributes: the set 'q' is both made here (taggers) and foreign (attributes)",
        ),
        (
            "streams: [{name: a, documents: [x], dedupe: {}}]",
            ":1: streams.0.dedupe: marks nothing: give one of documents",
        ),
        (
            "streams: [{name: a, documents: [x], dedupe: {documents: {}}, attributes: [duplicates]}]",
            ":1: streams.0.attributes: the set 'duplicates' is the one that `dedupe` writes",
        ),
        (
            "streams: [{name: a, documents: [x], dedupe: {documents: {}, keep: {prefer: [b]}}}]",
            ":1: streams.0.dedupe.keep.prefer: there is no stream 'b'; there are a",
        ),
        (
            "streams: [{name: a, documents: [x], dedupe: {documents: {}, keep: last}}]",
            ":1: streams.0.dedupe.keep: must be first, none or {prefer: [stream, ...]}, got 'last'",
        ),
        (
            "streams: [{name: a, documents: [x], output: null}]",
            ":1: streams.0.output: must be a mapping, got null",
        ),
        (
            "streams: [{name: a, documents: [x], output: {max_size_in_bytes: 1e9}}]",
            ":1: streams.0.output.max_size_in_bytes: must be a whole number, got 1e9: write 1_000_000_000",
        ),
        (
            "streams: [{name: a, documents: [x], compression: {output: bz2}}]",
            ":1: streams.0.compression.output: must be one of",
        ),
        (SMALLEST + "tokenizer: {}", ":2: tokenizer: names no tokenizer: give one of file, tiktoken"),
        (
            SMALLEST + "tokenizer:\n  file: t.json\n  train: {}",
            ":4: tokenizer.train: names 2 tokenizers (file, train): give one",
        ),
        (
            SMALLEST + "tokenizer: {bytes: true, pattern: x}",
            ":2: tokenizer.pattern: only tiktoken ranks are split by a pattern; this is bytes",
        ),
        (SMALLEST + "packing: {world_size: 0}", ":2: packing.world_size: must be more than 0, got 0"),
        (SMALLEST + "packing: {block: 0}", ":2: packing.block: must be more than 0, got 0"),
        (SMALLEST + "packing: {block: 12.5}", ":2: packing.block: must be a whole number, got 12.5"),
        (
            SMALLEST + "packing: {equalize: dorp}",
            ":2: packing.equalize: must be one of none, drop, pad, got 'dorp': did you mean drop?",
        ),
        (SMALLEST + "packing:", ":2: packing: must be a mapping, got null"),
        (SMALLEST + "execution: {workers: 0}", ":2: execution.workers: must be more than 0, got 0"),
        (SMALLEST + "shuffle: maybe", ":2: shuffle: must be true or false, got 'maybe'"),
        (SMALLEST + "name: ''", ":2: name: must not be empty"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_file_line_key_and_value(text, message):
    assert refusal(text).startswith("recipes/x.yaml" + message)


def test_several_faults_are_told_at_once_in_the_order_of_the_file():
    assert refusal("""\
        streams:
        - name: a b
          documents: [x]
          weight: -1
        packing: {block: 0}
    """) == (
        "recipes/x.yaml:2: streams.0.name: 'a b' cannot name a stream: letters, digits, `_`, `.` and `-`, "
        "no `..`\n"
        "  also 4: streams.0.weight: must be at least 0, got -1\n"
        "  also 5: packing.block: must be more than 0, got 0"
    )


def test_lines_of_keys_are_known_afterwards():
    recipe = parsed("""\
        streams:
        - name: a
          documents: [x]
          filter:
            exclude:
              - $.a
              - >-
                $.b
              - $.c
    """)

    assert recipe.line_of("streams.0.filter.exclude.2") == 9
    assert recipe.line_of("streams.0.filter.exclude.1") == 7
    assert recipe.line_of("streams.0.filter.syntax") == 4
    assert recipe.line_of("packing.block") == 1


def test_paths_start_at_the_recipes_folder_and_its_brackets_are_no_pattern():
    recipe = parse_recipe(SMALLEST, path="my [1] recipes/x.yaml")

    assert recipe.locate("in/a.gz") == "my [1] recipes/in/a.gz"
    assert recipe.locate("/in/a.gz") == "/in/a.gz"
    assert recipe.locate("s3://bucket/a.gz") == "s3://bucket/a.gz"
    assert recipe.locate_pattern("in/[ab]/*.gz") == "my [[]1] recipes/in/[ab]/*.gz"
    assert recipe.locate_pattern("/in/*.gz") == "/in/*.gz"


def test_the_files_of_a_source_start_at_the_recipes_folder_too():
    recipe = parse_recipe(
        "streams:\n- {name: a, source: {parquet: [in/*.parquet, /abs/x.parquet], text: body}}\n"
        "- {name: b, source: {datasets: [saved]}}\n- {name: c, source: {python_stdlib: code}}",
        path="here/x.yaml",
    )

    located = [recipe.locate_source(stream.source) for stream in recipe.streams]

    assert located[0].parquet == ("here/in/*.parquet", "/abs/x.parquet")
    assert located[1].datasets == ("here/saved",)
    assert located[2] == recipe.streams[2].source
    assert [source.kind for source in located] == ["parquet", "datasets", "python_stdlib"]


def test_a_file_is_read_with_byte_order_mark_and_windows_line_ends(tmp_path):
    path = tmp_path / "my.recipe.yaml"
    path.write_bytes("\ufeffstreams:\r\n- name: a\r\n  documents: [é]\r\n".encode())

    recipe = load_recipe(path)

    assert recipe.name == "my.recipe"
    assert recipe.streams[0].documents == ("é",)
    assert recipe.path == str(path)


def test_a_file_that_cannot_be_read_is_an_error_of_the_recipe(tmp_path):
    with pytest.raises(RecipeError, match=r"nothing\.yaml: cannot be read: No such file"):
        load_recipe(tmp_path / "nothing.yaml")
    with pytest.raises(RecipeError, match="cannot be read: Is a directory"):
        load_recipe(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    with pytest.raises(RecipeError, match=r"latin\.yaml:2: not UTF-8: byte 0xe9"):
        load_recipe(tmp_path / "latin.yaml")


def test_a_curriculum_is_named_alone_or_with_its_parameters():
    def selector(yaml):
        text = "streams: [{name: a, documents: [x]}]\ntokenizer: {bytes: true}\npacking: {selector: %s}"
        return parse_recipe(text % yaml, path="r.yaml", environ={}).packing.selector

    alone, with_parameters = selector("shortest_first"), selector("{selector: length_buckets, edges: [4, 8]}")
    assert (alone.selector, alone.parameters) == ("shortest_first", {})
    assert (with_parameters.selector, with_parameters.parameters) == ("length_buckets", {"edges": (4, 8)})
    with pytest.raises(RecipeError, match=r"packing.selector: must be a name or \{selector: name, ...\}"):
        selector("{edges: [4]}")
