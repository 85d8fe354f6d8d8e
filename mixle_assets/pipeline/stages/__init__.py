"""The stages of the graph in order of work: what each reads and writes, for one recipe and one partition.

Each module here turns a recipe's section into tasks of one stage package; nothing here does the work.
"""

from mixle_assets.pipeline.stages import attributes, documents, duplicates, epochs, mixing, tokens
from mixle_assets.pipeline.stages.base import Stage

STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        documents.STAGE,
        attributes.STAGE,
        duplicates.HASHES,
        duplicates.INDEX,
        duplicates.MARKS,
        mixing.STAGE,
        tokens.TOKENIZER,
        tokens.STAGE,
        epochs.STAGE,
    )
}

__all__ = ["STAGES", "Stage"]
