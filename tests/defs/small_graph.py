"""A corpus of seven shards that can be read at a glance, and real Dagster runs in this process on it."""

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from mixle_assets.defs.location import recipe_definitions
from mixle_assets.defs.partitions import RANGE_END, RANGE_START
from mixle_assets.defs.resources import EngineResource, Listener, ReportResource
from mixle_assets.pipeline.inputs import freeze_plan
from mixle_assets.pipeline.load import LoadedRecipe, load

RECIPE = """\
name: small
streams:
  - name: prose
    documents: [in/documents/prose/*.jsonl.gz]
    taggers: {quality: [char_length_v1]}
    dedupe: {documents: {}}
    filter:
      exclude:
        - $.attributes[?(@.quality__char_length_v1__length[0][2] < 10)]
        - $.attributes[?(@.bff_duplicate_docs && @.bff_duplicate_docs[0])]
    output: {max_size_in_bytes: 1}
  - name: notes
    documents: [in/documents/notes/*.jsonl.gz]
    output: {max_size_in_bytes: 1}
tokenizer: {bytes: true}
packing: {block: 16, batch_size: 2, seed: 3, epochs: 2, world_size: 2}
execution: {engine: serial}
"""
PROSE = tuple(f"prose/{number:04d}" for number in range(5))
NOTES = ("notes/0000", "notes/0001")
SHARDS = (*PROSE, *NOTES)
SHARD_ASSETS = (
    "attributes",
    "content_hashes",
    "duplicate_index",
    "duplicate_attributes",
    "mixed_shards",
    "doc_arrays",
)


def write_documents(path: Path, documents: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in documents)


def write_corpus(folder: Path, recipe: str = RECIPE) -> Path:
    """Write the documents and the recipe into a folder, and return the recipe's path."""
    for key in SHARDS:
        stream, number = key.split("/")
        documents = [
            {"id": f"{key}-a", "text": f"The first document of {key} says hello."},
            {"id": f"{key}-b", "text": "short"},
            {"id": f"{key}-c", "text": "The same text stands in every shard."},
        ]
        write_documents(folder / "in" / "documents" / stream / f"{number}.jsonl.gz", documents)
    path = folder / "small.yaml"
    path.write_text(recipe)
    return path


@pytest.fixture
def recipe_path(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


@pytest.fixture
def root(tmp_path: Path) -> str:
    return str(tmp_path / "corpora")


@pytest.fixture
def loaded(recipe_path: Path, root: str) -> LoadedRecipe:
    """The small recipe, planned."""
    recipe = load(recipe_path, root)
    freeze_plan(recipe)
    return recipe


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield instance


Run = Callable[..., dg.ExecuteInProcessResult]


@pytest.fixture
def run(instance: dg.DagsterInstance) -> Run:
    """Run assets of a recipe with their checks, over one partition, a range of them, or neither."""

    def materialize(
        loaded: LoadedRecipe, names: Sequence[str], *, keys: Sequence[str] = (), **options: Any
    ) -> dg.ExecuteInProcessResult:
        definitions = recipe_definitions(loaded)
        tags = {RANGE_START: keys[0], RANGE_END: keys[-1]} if len(keys) > 1 else {}
        return dg.materialize(
            [*definitions.assets, *definitions.asset_checks],
            selection=dg.AssetSelection.assets(*([loaded.recipe.slug, name] for name in names)),
            instance=instance,
            resources={"engine": EngineResource(), "listener": Listener(), "report": ReportResource()},
            partition_key=keys[0] if len(keys) == 1 else None,
            tags=tags,
            raise_on_error=False,
            **options,
        )

    return materialize


@pytest.fixture
def built(loaded: LoadedRecipe, run: Run) -> LoadedRecipe:
    """The small recipe with everything built through its assets."""
    assert run(loaded, SHARD_ASSETS, keys=SHARDS).success
    for epoch in "01":
        assert run(loaded, ["packed_epoch"], keys=[epoch]).success
    return loaded
