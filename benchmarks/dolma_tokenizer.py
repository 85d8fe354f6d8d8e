"""Given to Dolma as a module of taggers: its tokenizer comes from a file, not from a hub.

Runs in Dolma's environment, so it imports nothing of ours.
"""

import os

import tokenizers

tokenizers.Tokenizer.from_pretrained = lambda *_: tokenizers.Tokenizer.from_file(
    os.environ["DOLMA_TOKENIZER"]
)
