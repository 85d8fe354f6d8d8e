"""Fixtures of these tests; what they are made of stands in the module beside this one."""

from deduped_corpus import (
    dedupe,
)

__all__ = [
    "dedupe",
]
