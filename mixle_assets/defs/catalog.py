"""What the graph says of each asset: its description, what it reads, and what kind of files it is."""

from dataclasses import dataclass

from mixle_assets.pipeline.build import stages_of
from mixle_assets.pipeline.load import LoadedRecipe

SHARD_PLAN = "shard_plan"


@dataclass(frozen=True)
class Entry:
    """One asset as the graph shows it.

    Attributes:
        reads: The assets it is made from, as far as a recipe has them.
        kinds: Icons in the UI.
        description: Markdown.
        recipe_key: The part of the recipe that says what it holds.
        runs_alone: Whether a run makes one partition, instead of a range.
    """

    reads: tuple[str, ...]
    kinds: frozenset[str]
    description: str
    recipe_key: str = "streams"
    runs_alone: bool = False


CATALOG: dict[str, Entry] = {
    "documents": Entry(
        reads=(),
        kinds=frozenset({"json"}),
        description="Documents with stable ids and their provenance, made from the streams' `source:`. "
        "Streams that name existing `documents:` are read where they lie and have nothing here.",
    ),
    SHARD_PLAN: Entry(
        reads=("documents",),
        kinds=frozenset({"json"}),
        description="The frozen plan: which document files make which shard. Materialize it to add new files "
        "at the end; shards that are planned keep their names and files. **Reload the code location "
        "afterwards:** the partitions of the other assets come from this plan.",
    ),
    "attributes": Entry(
        reads=("documents", SHARD_PLAN),
        kinds=frozenset({"json"}),
        description="What the taggers measured, as spans in each document: a file for each attribute set and "
        "document file, line for line. A new set is tagged alone. Sets of other tools are not copied here; "
        "they are aligned with the documents and read where they lie.",
    ),
    "content_hashes": Entry(
        reads=("documents", SHARD_PLAN),
        kinds=frozenset({"arrow"}),
        description="Hashes of each document and paragraph of a shard, from which repetitions are found.",
    ),
    "duplicate_index": Entry(
        reads=("content_hashes",),
        kinds=frozenset({"arrow"}),
        description="The one step where all shards meet: of equal hashes the first in plan order survives. "
        "It writes a slice for each shard, and what follows depends on its own slice only, so a new file "
        "rebuilds no shard whose duplicates stay the same.",
    ),
    "duplicate_attributes": Entry(
        reads=("content_hashes", "duplicate_index"),
        kinds=frozenset({"json"}),
        description="Which documents and paragraphs are repetitions, as attributes. Nothing is removed here: "
        "a rule or a span of the recipe must name them.",
    ),
    "mixed_shards": Entry(
        reads=("documents", "attributes", "duplicate_attributes"),
        kinds=frozenset({"json"}),
        description="Documents that passed the recipe's rules, rewritten and stamped, a file for each shard. "
        "Every character that a span replacement selects is gone from its place; `metadata.provenance` names "
        "the file and line that a document came from.",
    ),
    "tokenizer": Entry(
        reads=("mixed_shards",),
        kinds=frozenset({"json"}),
        description="A byte-level BPE tokenizer, trained here on a seeded sample of the mixed shards.",
        recipe_key="tokenizer",
    ),
    "doc_arrays": Entry(
        reads=("mixed_shards", "tokenizer"),
        kinds=frozenset({"arrow"}),
        description="The token ids of each document, without boundaries, in Arrow files made for mapping.",
        recipe_key="tokenizer",
    ),
    "packed_epoch": Entry(
        reads=("doc_arrays",),
        kinds=frozenset({"numpy"}),
        description="One pass over the corpus for every rank: the order of documents, rows of `block + 1` "
        "tokens, and the plan that says which document each token came from. `StreamingCorpus` reads it.",
        recipe_key="packing",
        runs_alone=True,
    ),
}


def assets_of(loaded: LoadedRecipe) -> list[str]:
    """Return the assets of a recipe in order of work."""
    stages = {stage.name for stage in stages_of(loaded)}
    return [name for name in CATALOG if name == SHARD_PLAN or name in stages]


def upstream_of(loaded: LoadedRecipe, asset: str) -> list[str]:
    """Return what an asset of a recipe is made from, in order of work.

    Where a recipe neither tags nor dedupes, mixing is the first to follow the plan.
    """
    present = assets_of(loaded)
    upstream = [name for name in CATALOG[asset].reads if name in present]
    if asset == "mixed_shards" and not {"attributes", "duplicate_attributes"} & set(upstream):
        upstream.append(SHARD_PLAN)
    return upstream
