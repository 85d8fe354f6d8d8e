from mixle_assets.packing.corpus import Corpus as Corpus
from mixle_assets.packing.corpus import load_corpus as load_corpus
from mixle_assets.packing.order import global_document_order as global_document_order
from mixle_assets.packing.order import shard_documents_for_rank as shard_documents_for_rank
from mixle_assets.packing.rows import PackedCorpus as PackedCorpus
from mixle_assets.packing.rows import pack_documents as pack_documents
from mixle_assets.packing.streaming import StreamingCorpus as StreamingCorpus
from mixle_assets.recipe import load_recipe as load_recipe

__all__ = [
    "Corpus",
    "PackedCorpus",
    "StreamingCorpus",
    "global_document_order",
    "load_corpus",
    "load_recipe",
    "pack_documents",
    "shard_documents_for_rank",
]
