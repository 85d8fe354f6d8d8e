"""The tokenizer, where it is trained here, and the doc arrays: what the texts of a shard are as token ids."""

from __future__ import annotations

from mixle_assets.pipeline.asking import require_manifests
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages.base import find_shard, section
from mixle_assets.pipeline.stages.mixing import output_path as mixed_shard_path
from mixle_assets.pipeline.work import Output, Work, require_manifest
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import tokenizer_path
from mixle_assets.tokenizing.tokenize import TokenizeTask, tokenize_shard
from mixle_assets.tokenizing.train import TrainTask, train_tokenizer

CODE_VERSION = "1"


def tokenizer_of(loaded: LoadedRecipe) -> Tokenizer:
    """Return the recipe's tokenizer section, where the chain goes that far."""
    if loaded.recipe.tokenizer is None:
        raise ValueError(f"the recipe {loaded.recipe.name!r} has no tokenizer")
    return loaded.recipe.tokenizer


def find_training(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the training of the tokenizer on all mixed shards."""
    spec = tokenizer_of(loaded)
    paths = {shard.key: mixed_shard_path(loaded, shard) for shard in loaded.plan.shards}
    manifests = require_manifests(loaded, {f"mixed_shards {name}": path for name, path in paths.items()})
    inputs = {
        f"mixed_shards/{name}": manifest.content_digest
        for name, manifest in zip(paths, manifests, strict=True)
    }
    path = loaded.layout.tokenizer
    task = TrainTask(tuple(paths.values()), spec, path)
    output = Output("", "tokenizer", path, section(spec.train, spec.boundary, spec.bos), inputs)
    return [Work("tokenizer", key, CODE_VERSION, train_tokenizer, task, (output,))]


def find_work(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the tokenizing of one shard."""
    spec = tokenizer_of(loaded)
    shard, _ = find_shard(loaded, key)
    mixed = mixed_shard_path(loaded, shard)
    inputs = {"mixed_shard": require_manifest(mixed, what=f"mixed_shards {key}").content_digest}
    files = {}
    trained = None
    if spec.train is not None:
        trained = loaded.layout.tokenizer
        inputs["tokenizer"] = require_manifest(trained, what="the tokenizer").content_digest
    elif (given := tokenizer_path(spec, loaded.folder)) is not None:
        files["tokenizer"] = given
    task = TokenizeTask(
        key=key,
        mixed_shard=mixed,
        tokenizer=spec,
        output=loaded.layout.doc_arrays(shard),
        base_folder=loaded.folder,
        trained=trained,
        pad_id=loaded.recipe.packing.pad_id,
        malformed_row=loaded.recipe.tolerate.malformed_row,
    )
    output = Output(
        name="",
        key=key,
        path=task.output,
        # The engine changes no id; the pad id changes at most the dtype.
        fingerprint=section(
            spec.model_copy(update={"engine": "auto", "file": None, "tiktoken": None, "sentencepiece": None}),
            loaded.recipe.packing.pad_id,
            loaded.recipe.tolerate.malformed_row,
        ),
        inputs=inputs,
        files=files,
    )
    return [Work("doc_arrays", key, CODE_VERSION, tokenize_shard, task, (output,))]
