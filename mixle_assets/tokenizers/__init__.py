"""Text to token ids and back, whatever file says how: one object with named boundary and BOS ids.

What a document is, which documents are taken and where ids are stored is the business of ``tokenizing``.
"""

from mixle_assets.tokenizers.loading import load_tokenizer, tokenizer_path
from mixle_assets.tokenizers.tokenizer import Encoded, Engine, TextTokenizer, smallest_dtype

__all__ = ["Encoded", "Engine", "TextTokenizer", "load_tokenizer", "smallest_dtype", "tokenizer_path"]
