import textwrap

from mixle_assets.recipe import parse_recipe, render_resolved, resolved

TEXT = textwrap.dedent("""\
    streams:
      - name: prose
        source: {python_stdlib: prose}
        taggers: [gopher_v1]
        span_replacement:
          - {span: $.x, replacement: "${oc.env:GREETING}"}
          - {span: $.y, replacement: "a ${oc.env:S3_TOKEN}"}
          - {span: $.z, replacement: "\\\\${literal}"}
    packing: {block: "${oc.env:BLOCK,256}", seed: "${.block}"}
    """)
ENVIRON = {"GREETING": "hello", "S3_TOKEN": "hunter2"}


def test_each_value_says_whether_it_comes_from_the_file_the_environment_or_a_default():
    origins = {
        each.key: (each.value, each.origin)
        for each in resolved(parse_recipe(TEXT, path="x.yaml", environ=ENVIRON))
    }

    assert origins["name"] == ("x", "default: the file's stem")
    assert origins["streams.0.name"] == ("prose", "x.yaml:2")
    assert origins["streams.0.source.python_stdlib"] == ("prose", "x.yaml:3")
    assert origins["streams.0.taggers.tags.0"] == ("gopher_v1", "x.yaml:4")
    assert origins["streams.0.span_replacement.0.replacement"] == ("hello", "x.yaml:6, environment GREETING")
    assert origins["streams.0.span_replacement.0.syntax"] == ("jsonpath", "default")
    assert origins["streams.0.output.max_size_in_bytes"] == (2147483648, "default")
    assert origins["packing.block"] == (256, "x.yaml:9")
    assert origins["packing.seed"] == (256, "x.yaml:9")


def test_a_secret_of_the_environment_is_not_shown():
    recipe = parse_recipe(TEXT, path="x.yaml", environ=ENVIRON)

    text = render_resolved(recipe)

    assert "hunter2" not in text
    assert '- span: "$.y"' in text
    assert 'replacement: "a ${oc.env:S3_TOKEN}"' in text
    assert recipe.streams[0].span_replacement[1].replacement == "a hunter2"


def test_what_is_printed_loads_to_the_same_recipe():
    recipe = parse_recipe(TEXT, path="x.yaml", environ=ENVIRON)

    again = parse_recipe(render_resolved(recipe), path="x.yaml", environ=ENVIRON)

    assert again.model_dump() == recipe.model_dump()


def test_a_dolma_config_is_printed_with_dolmas_keys():
    stream = '{name: a, documents: [x], output: {path: out}, filter: {exclude: ["$.a"]}}'
    text = f"streams: [{stream}]\nprocesses: 3\n"
    recipe = parse_recipe(text, path="x.yaml")

    printed = render_resolved(recipe)

    assert printed.splitlines()[0] == "streams:"
    assert "weight" not in printed
    assert "missing_value" not in printed
    assert f"{'processes: 3':<60}  # x.yaml:2\n" in printed
    assert parse_recipe(printed, path="x.yaml").model_dump() == recipe.model_dump()
