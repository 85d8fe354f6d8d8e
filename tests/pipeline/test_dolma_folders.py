"""What dolma 1.2.1 made of a folder, as far as finding, packing and naming go: run by ``mixle-assets mix``.

How rows are read and aligned is replayed beside the mixer; together the two lists hold all 123 cases.
"""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mixle_assets.engine import SerialEngine
from mixle_assets.errors import RecipeError
from mixle_assets.formats.documents import read_documents
from mixle_assets.pipeline.dolma import load_config, mix

GOLDEN = Path(__file__).parents[1] / "golden" / "mixer_file_probes.jsonl"
PROBES = {probe["name"]: probe for probe in map(json.loads, GOLDEN.read_text("utf-8").split("\n")[:-1])}
PREFIXES = ("pack_", "glob_", "unshuffled", "multi_shard_", "resume_", "default_comp_")
NAMES = {
    *("attr_diff_ext", "attr_dup_listed", "attr_glob_name", "attr_name_with_slash", "attr_nested_name"),
    *("attr_no_documents_in_path", "attr_no_documents_in_path_docattrs", "attr_path_metachar"),
    *("attr_two_documents", "comp_out_'.gz'", "comp_out_'bz2'", "comp_out_'gzip'", "mixed_s3_local"),
    *("name_with_dot_zst", "name_with_slash", "output_in_input_glob", "output_path_trailing_slash"),
    *("processes_0", "same_name_two_streams", "workdir_given"),
}
CASES = sorted(name for name in PROBES if name.startswith(PREFIXES) or name in NAMES)

Outcome = dict[str, Any]
REFUSED: Outcome = {"refused": True}


def fails(**files: Any) -> Outcome:
    return {"failed": True, "files": files}


def write_inputs(folder: Path, probe: dict[str, Any]) -> Path:
    for name, content in probe["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content["text"].encode() if "text" in content else base64.b64decode(content["b64"]))
    config = folder / "config.json"
    config.write_text(json.dumps(probe["config"]).replace("{D}", str(folder)))
    return config


def rows_of(text: str) -> list[Any]:
    """Return the rows in one form: without the folder of their provenance, which only ours has."""
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        provenance = row["metadata"]["provenance"]
        row["metadata"]["provenance"] = provenance.rpartition("/")[2]
    return rows


def ours(folder: Path, probe: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Outcome:
    config = write_inputs(folder, probe)
    if probe["cwd"]:
        monkeypatch.chdir(folder)
    before = set(folder.rglob("*"))
    try:
        loaded = load_config(config)
    except RecipeError:
        return REFUSED
    report = mix(loaded, SerialEngine())
    files = {}
    for shard, manifests in report.outcomes[0].finished.items():
        assert manifests[0].key == shard
    for path in sorted(set(folder.rglob("*")) | before):
        name = path.relative_to(folder).as_posix()
        manifest = path.with_name(path.name + ".manifest.json")
        if path.is_file() and manifest.exists():
            rows = [json.dumps(row) for _, row in read_documents(str(path))]
            files[name] = rows_of("\n".join(rows))
    assert not [path for path in folder.rglob("*") if path.name.endswith((".partial", ".tmp"))]
    return {"failed": True, "files": files} if report.failed else {"files": files}


def dolmas(folder: Path, probe: dict[str, Any]) -> Outcome:
    expected = probe["expected"]
    if expected["error_kind"] == "config":
        return REFUSED
    files = {}
    for name, content in expected["files"].items():
        if "text" in content:
            name = name.replace("{D_without_leading_slash}", str(folder).lstrip("/"))
            # Dolma calls the last shard of a stream .json, the others .jsonl; here all are .jsonl.
            files[re.sub(r"-(\d{4})\.json(?=$|\.)", r"-\1.jsonl", name)] = rows_of(content["text"])
    return {"failed": True, "files": files} if expected["exit_code"] else {"files": files}


X = {"id": "0", "text": "x", "metadata": {"provenance": "000.jsonl:1"}}
EMPTY = {"id": "1", "text": "", "metadata": {"provenance": "0.jsonl:1"}}

MISSING = "a missing attribute file is an error, Dolma goes on without"
ONLY_KNOWN = "an unknown codec is refused, Dolma writes plain text under its name"
ALL_MATCH = "each pattern must name a file, Dolma goes on with the others"
ONCE = "a file or a set that is named twice counts once or is refused, Dolma takes it twice"
BY_MANIFEST = "resume goes by manifest, Dolma's by the existence of a file"

# Ours where Dolma's is another, and why.
DIFFERENCES: dict[str, tuple[Outcome, str]] = {
    "attr_diff_ext": (fails(), MISSING),
    "attr_dup_listed": (REFUSED, ONCE),
    "attr_no_documents_in_path_docattrs": (
        fails(),
        "attributes need a documents folder in the path, Dolma takes the document file itself for one",
    ),
    "attr_path_metachar": (
        {
            "files": {
                "out/s-0000.jsonl": [
                    {**EMPTY, "id": "0", "attributes": {"x": 1}, "metadata": {"provenance": "x[1].jsonl:1"}}
                ]
            }
        },
        "a bracket in a file's name is a bracket, Dolma does not find its attributes",
    ),
    "comp_out_'.gz'": (REFUSED, ONLY_KNOWN),
    "comp_out_'bz2'": (REFUSED, ONLY_KNOWN),
    "comp_out_'gzip'": (REFUSED, ONLY_KNOWN),
    "glob_one_missing": (REFUSED, ALL_MATCH),
    "glob_plain_one_missing": (REFUSED, ALL_MATCH),
    "glob_two_dup": (
        {"files": {"out/s-0000.jsonl": [X, {**X, "id": "1", "metadata": {"provenance": "001.jsonl:1"}}]}},
        ONCE,
    ),
    "mixed_s3_local": (REFUSED, ONCE),
    "multi_shard_one_panics": (
        fails(
            **{
                "out/s-0000.jsonl": [EMPTY],
                "out/s-0002.jsonl": [{**EMPTY, "id": "3", "metadata": {"provenance": "2.jsonl:1"}}],
            }
        ),
        "a shard that fails fails the run, Dolma's panic exits 0",
    ),
    "processes_0": (REFUSED, "a number of workers is positive, Dolma panics"),
    "resume_abs_exists": ({"files": {"out/s-0000.jsonl": [X]}}, BY_MANIFEST),
    "resume_rel_exists_workdir_cwd": ({"files": {"out/s-0000.jsonl": [X]}}, BY_MANIFEST),
    "same_name_two_streams": (REFUSED, "two streams with one name are refused, Dolma's overwrite each other"),
    "unshuffled_gz_input_out_zst": (
        {"files": {"out/documents/0.jsonl.zst": [{**EMPTY, "metadata": {"provenance": "0.jsonl.gz:1"}}]}},
        "a file's name says its codec, Dolma writes zstd into a file called .gz",
    ),
    "unshuffled_no_documents": (
        {"files": {"out/documents/0.jsonl": [EMPTY]}},
        "no folder of the machine is in a name, Dolma repeats the whole path below the output",
    ),
}


@pytest.mark.parametrize("name", [name for name in CASES if name not in DIFFERENCES])
def test_a_config_makes_the_files_that_dolma_makes(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ours(tmp_path, PROBES[name], monkeypatch) == dolmas(tmp_path, PROBES[name])


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_config_makes_ours_where_dolma_loses_or_guesses(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = DIFFERENCES[name]

    assert ours(tmp_path, PROBES[name], monkeypatch) == expected
    assert expected != dolmas(tmp_path, PROBES[name])


def test_the_compatibility_page_counts_these_cases() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/dolma-compatibility.md").read_text()
    counts = f"| {len(CASES)} | {len(CASES) - len(DIFFERENCES)} | {len(DIFFERENCES)} |"

    assert f"| folders, found and packed and named {counts} `tests/pipeline/test_dolma_folders.py` |" in page
    for _, reason in DIFFERENCES.values():
        assert f"| {reason} | {sum(other == reason for _, other in DIFFERENCES.values())} |" in page
