"""Making documents from what is none yet: the standard library, and other sources, one module each.

A stream with a ``source:`` gets its document files from here; what happens to them afterwards is the same as
for documents that lay there before.
"""

from mixle_assets.sourcing.sources import Left, SourceTask, make_documents, source_digest

__all__ = ["Left", "SourceTask", "make_documents", "source_digest"]
