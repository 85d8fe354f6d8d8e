"""How many malformed rows a shard may skip: up to the recipe's share, and no shard of others is touched."""

from pathlib import Path

import pytest

from mixle_assets.engine import SerialEngine
from mixle_assets.errors import MixleError, RecipeError
from mixle_assets.pipeline.build import BuildReport, build
from mixle_assets.pipeline.load import load
from mixle_assets.pipeline.stages.mixing import output_path
from mixle_assets.pipeline.status import find_status
from mixle_assets.pipeline.work import read_manifest
from mixle_assets.recipe import parse_recipe

RECIPE = """\
streams:
  - {name: prose, documents: [in/*.jsonl], output: {max_size_in_bytes: 1}}
tokenizer: {bytes: true}
packing: {block: 4}
tolerate: {malformed_row: skip, max_skipped_share: SHARE}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two shards: one of three rows of which the second is none, one of a good row."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jsonl").write_text(
        '{"id": "a", "text": "one"}\nno JSON\n{"id": "c", "text": "three"}\n'
    )
    (tmp_path / "in/b.jsonl").write_text('{"id": "d", "text": "four"}\n')
    return tmp_path


def built(folder: Path, share: str) -> BuildReport:
    recipe = folder / "small.yaml"
    recipe.write_text(RECIPE.replace("SHARE", share))
    return build(load(recipe, str(folder / "corpora")), SerialEngine())


def failures(report: BuildReport) -> dict[str, MixleError]:
    return {key: error for outcome in report.outcomes for key, error in outcome.failed.items()}


def test_up_to_the_share_rows_are_skipped_and_counted_in_the_manifest(folder: Path) -> None:
    report = built(folder, "0.34")

    assert not report.failed
    loaded = load(folder / "small.yaml", str(folder / "corpora"))
    manifest = read_manifest(output_path(loaded, loaded.shards["prose/0000"]))
    assert manifest is not None
    assert (manifest.counts.num_in, manifest.counts.num_out) == (3, 2)
    assert manifest.counts.dropped == {"malformed_row": 1}


def test_beyond_it_the_shard_fails_and_the_others_are_built(folder: Path) -> None:
    report = built(folder, "0.33")

    [(key, error)] = failures(report).items()
    assert key == "prose/0000"
    assert "1 of 3 records were skipped (1 malformed_row); tolerate.max_skipped_share is 0.33" in str(error)
    loaded = load(folder / "small.yaml", str(folder / "corpora"))
    assert read_manifest(output_path(loaded, loaded.shards["prose/0000"])) is None
    assert read_manifest(output_path(loaded, loaded.shards["prose/0001"])) is not None


def test_a_higher_share_builds_the_failed_shard_alone_and_a_lower_one_fails_it_again(folder: Path) -> None:
    built(folder, "0.1")

    report = built(folder, "0.5")

    assert not report.failed
    assert [outcome.num_built for outcome in report.outcomes if outcome.stage == "mixed_shards"] == [1]

    (folder / "small.yaml").write_text(RECIPE.replace("SHARE", "0.2"))
    [mixing] = [
        one
        for one in find_status(load(folder / "small.yaml", str(folder / "corpora")))
        if one.stage == "mixed_shards"
    ]
    assert mixing.current == ["prose/0001"]
    assert mixing.stale["prose/0000"].startswith("1 of 3 records were skipped")
    assert list(failures(built(folder, "0.2"))) == ["prose/0000"]


def test_a_share_that_limits_nothing_is_refused() -> None:
    recipe = "streams: [{name: a, documents: [x]}]\ntolerate: {max_skipped_share: 0.1}"

    with pytest.raises(RecipeError, match="max_skipped_share: limits nothing while malformed_row is error"):
        parse_recipe(recipe, path="r.yaml", environ={})
