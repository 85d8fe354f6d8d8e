"""Where each output of a recipe lies below the root. Names only; nothing is read or written here."""

from __future__ import annotations

from dataclasses import dataclass

from mixle_assets.manifest import MANIFEST_SUFFIX
from mixle_assets.planning.plan import DOCUMENTS_FOLDER, PlannedFile, Shard
from mixle_assets.storage import join

EXTENSIONS = {"gz": ".jsonl.gz", "zst": ".jsonl.zst", "": ".jsonl"}


@dataclass(frozen=True)
class Layout:
    """The folder of one recipe, and the places in it.

    Attributes:
        root: Where all recipes build, such as ``corpora``.
        slug: The recipe's slug.
    """

    root: str
    slug: str

    @property
    def folder(self) -> str:
        """The recipe's own folder."""
        return join(self.root, self.slug)

    @property
    def plan(self) -> str:
        """The frozen shard plan."""
        return join(self.folder, "plan.json")

    def documents_folder(self, stream: str) -> str:
        """The folder of the documents that a source makes for a stream."""
        return join(self.folder, DOCUMENTS_FOLDER, stream)

    def attributes(self, attribute_set: str, stream: str, file: PlannedFile) -> str:
        """The attribute file of one set for one document file."""
        return join(self.folder, "attributes", attribute_set, stream, file.attribute_name)

    def content_hashes(self, shard: Shard) -> str:
        """The hashes of a shard's documents and paragraphs."""
        return join(self.folder, "content_hashes", shard.file_stem + ".arrow")

    def eligible(self, shard: Shard) -> str:
        """Which of a shard's documents pass the filter, where copies are looked for among these alone."""
        return join(self.folder, "content_hashes", shard.file_stem + ".eligible.npy")

    def duplicate_index(self, shard: Shard) -> str:
        """A shard's slice of the duplicate index."""
        return join(self.folder, "duplicate_index", shard.file_stem + ".arrow")

    @property
    def mixed_shards(self) -> str:
        """The folder of the mixed shards."""
        return join(self.folder, "mixed_shards")

    @property
    def tokenizer(self) -> str:
        """The tokenizer that is trained here."""
        return join(self.folder, "tokenizer", "tokenizer.json")

    def doc_arrays(self, shard: Shard) -> str:
        """The token ids of a shard's documents."""
        return join(self.folder, "doc_arrays", shard.file_stem + ".arrow")

    def packed_epoch(self, epoch: int) -> str:
        """The folder of one packed epoch."""
        return join(self.folder, "packed_epoch", f"{epoch:04d}")


def manifest_path(output: str) -> str:
    """Return where the manifest of an output stands: beside it."""
    return output + MANIFEST_SUFFIX
