"""Measure documents: taggers, the registry that names them, and the pass that writes attribute files.

What a measure means for a document's fate is decided in mixing; nothing here drops or changes a document.
"""
