"""The tokenizer, where it is trained here, and the doc arrays: what the texts of a shard are as token ids."""

from __future__ import annotations
