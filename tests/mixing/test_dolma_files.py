"""What dolma 1.2.1 made of a folder, as far as one shard shows it: reading, aligning, failing.

Which files are found, how they are packed into shards and what these are called is the pipeline's matter;
``OF_THE_PIPELINE`` lists those cases.
"""

import base64
import json
from pathlib import Path

import pytest

from mixle_assets import storage
from mixle_assets.errors import MixleError
from mixle_assets.mixing.mixer import MixFile, MixTask, mix_shard
from mixle_assets.recipe.models import Tolerate
from mixle_assets.recipe.streams import Stream

GOLDEN = Path(__file__).parent.parent / "golden"
PROBES = {
    probe["name"]: probe
    for probe in map(json.loads, (GOLDEN / "mixer_file_probes.jsonl").read_text("utf-8").split("\n")[:-1])
}
FAILS = "error"
OF_THE_PIPELINE = frozenset(
    name
    for name in PROBES
    if name.startswith(("pack_", "glob_", "unshuffled", "multi_shard_", "resume_", "default_comp_"))
    or name
    in (
        "attr_diff_ext",
        "attr_dup_listed",
        "attr_glob_name",
        "attr_name_with_slash",
        "attr_nested_name",
        "attr_no_documents_in_path",
        "attr_no_documents_in_path_docattrs",
        "attr_path_metachar",
        "attr_two_documents",
        "comp_out_'.gz'",
        "comp_out_'bz2'",
        "comp_out_'gzip'",
        "mixed_s3_local",
        "name_with_dot_zst",
        "name_with_slash",
        "output_in_input_glob",
        "output_path_trailing_slash",
        "processes_0",
        "same_name_two_streams",
        "workdir_given",
    )
)

EXACT = "every digit of an integer is kept and floats are read correctly rounded, Dolma's are changed"
TOLERATED = (
    "blank lines, a byte order mark and lone surrogates are tolerated and counted, Dolma's shard fails"
)
DEEP = "deep nesting is no fault, Dolma's shard fails below 127 levels"
UNREADABLE = "what cannot be read fails the shard, Dolma loses the rest of the file and exits 0"
MISALIGNED = "a missing, short, long or unreadable attribute file fails the shard, Dolma goes on without"
CODEC = "the extensions .GZ and .zstd are known, Dolma reads such files as plain text"


def kept(*documents, name="000.jsonl"):
    return [
        {"id": document_id, "text": text, "metadata": {"provenance": f"{name}:{line}"}}
        for document_id, text, line in documents
    ]


# Ours where Dolma's is another: the rows, or that the shard fails.
DIFFERENCES: dict[str, tuple[object, str]] = {
    "floats2": (
        [
            {
                **kept(("1", "t", 1))[0],
                "v": [
                    *(1.0, 100000.0, 0.1, 1e-07, 1e21, 123456789012345678, 18446744073709551615),
                    *(18446744073709551616, -9223372036854775808, -9223372036854775809, 0, -0.0, 1.1),
                    *(1e20, 5e-324, 0.30000000000000004, 2.225073858507201e-308, 9007199254740992.0),
                    *(1e16, 1e15, 1e17, 12345678.9, 1e-05, 0.0001, 7.038531e-26, 0.9999999999999999),
                    *(1.7976931348623157e308, 3.141592653589793, 8.533e-05, 8.3837272e-18),
                ],
            }
        ],
        EXACT,
    ),
    "lone_surrogate": (kept(("1", "\ufffd", 1)), TOLERATED),
    "bom": (kept(("1", "t", 1)), TOLERATED),
    "blank_mid": (kept(("1", "t", 1), ("2", "u", 3)), TOLERATED),
    "blank_end": (kept(("1", "t", 1)), TOLERATED),
    "space_line": (kept(("1", "t", 1)), TOLERATED),
    "attr_blank": (
        [
            {**row, "attributes": {"x": number}}
            for number, row in enumerate(kept(("1", "t", 1), ("2", "u", 2), ("3", "v", 3)), 1)
        ],
        TOLERATED,
    ),
    "deep": ([{**kept(("1", "t", 1))[0], "v": json.loads("[" * 130 + "]" * 130)}], DEEP),
    "ext_GZ_upper": (kept(("1", "", 1), name="0.jsonl.GZ"), CODEC),
    "zstd_ext": (kept(("1", "", 1), name="0.jsonl.zstd"), CODEC),
    **dict.fromkeys(
        [
            "comp_in_gz_for_plain",
            "gz_named_plain_content",
            "gz_trailing_garbage",
            "gz_zero_bytes",
            "invalid_utf8_mid",
            "plain_named_gz_content",
        ],
        (FAILS, UNREADABLE),
    ),
    **dict.fromkeys(
        [
            "attr_empty_file",
            "attr_extra",
            "attr_invalid_utf8_one",
            "attr_missing_file",
            "attr_missing_first_short_second",
            "attr_missing_one_of_two_dirs",
            "attr_missing_one_of_two_files",
            "attr_missing_with_include",
            "attr_short",
            "attr_short_first_of_two",
            "attr_short_second_of_two",
        ],
        (FAILS, MISALIGNED),
    ),
}

# With tolerate: {missing_attributes: skip} only the values that are missing are missing.
TOLERANT = {
    "attr_empty_file": [{}, {}, {}],
    "attr_extra": [{"x": 1}, {"x": 2}, {"x": 3}],
    "attr_missing_file": [None],
    "attr_missing_first_short_second": [{}],
    "attr_missing_one_of_two_dirs": [{"x": 1}],
    "attr_missing_one_of_two_files": [{"x": 1}, None],
    "attr_short": [{"x": 1}, {}, {}],
    "attr_short_first_of_two": [{"x": 1, "y": 1}, {"y": 2}, {"y": 3}],  # Dolma's loses y as well
}


def rows_of_dolma(probe):
    """The rows of all shards in order, or that dolma failed (by exit code, or by a panic and no output)."""
    expected = probe["expected"]
    if expected["exit_code"] or expected["error_kind"]:
        return FAILS
    shards = sorted(expected["files"].items(), key=lambda item: item[0].split(".")[0])
    return [json.loads(line) for _, shard in shards for line in shard["text"].split("\n")[:-1]]


def rows_of_ours(folder, probe, **tolerate):
    """The rows of one shard made of all documents that the patterns find, or that it failed."""
    for name, stored in probe["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = base64.b64decode(stored["b64"]) if "b64" in stored else stored["text"].encode()
        path.write_bytes(content)
    [config] = [dict(stream) for stream in probe["config"]["streams"]]
    sets = config.pop("attributes", [])
    output = {key: value for key, value in config.pop("output").items() if key == "discard_fields"}
    patterns = [pattern.replace("{D}", str(folder)) for pattern in config.pop("documents")]
    paths = [path for pattern in patterns for path in storage.find_files(pattern)]
    files = tuple(
        MixFile(
            path,
            Path(path).name,
            tuple((name, path.replace("/documents/", f"/attributes/{name}/")) for name in sets),
        )
        for path in paths
    )
    target = folder / "mixed.jsonl"
    try:
        stream = Stream(documents=tuple(patterns), output=output, **config)
        mix_shard(
            MixTask(
                "s/0000",
                stream,
                files,
                str(target),
                Tolerate(key_collision="last", **tolerate),
                output_codec="",
            )
        )
    except MixleError:
        assert not target.exists()
        return FAILS
    return [json.loads(line) for line in target.read_bytes().split(b"\n")[:-1]]


def in_one_form(rows):
    return json.dumps(rows, sort_keys=True)


@pytest.mark.parametrize(
    "name", [name for name in PROBES if name not in OF_THE_PIPELINE | DIFFERENCES.keys()]
)
def test_a_folder_becomes_what_dolma_makes_of_it(tmp_path, name):
    assert in_one_form(rows_of_ours(tmp_path, PROBES[name])) == in_one_form(rows_of_dolma(PROBES[name]))


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_folder_is_ours_where_dolma_changes_loses_or_refuses(tmp_path, name):
    expected, _ = DIFFERENCES[name]

    assert in_one_form(rows_of_ours(tmp_path, PROBES[name])) == in_one_form(expected)
    assert in_one_form(expected) != in_one_form(rows_of_dolma(PROBES[name]))


@pytest.mark.parametrize("name", TOLERANT)
def test_a_tolerated_gap_costs_only_the_values_that_are_missing(tmp_path, name):
    rows = rows_of_ours(tmp_path, PROBES[name], missing_attributes="skip")

    assert [row.get("attributes") for row in rows] == TOLERANT[name]


def test_every_case_is_on_one_list():
    assert len(PROBES) == 123
    assert PROBES.keys() >= OF_THE_PIPELINE | DIFFERENCES.keys()
    assert not OF_THE_PIPELINE & DIFFERENCES.keys()
    assert len(OF_THE_PIPELINE) == 53
