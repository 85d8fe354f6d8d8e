"""Mixing: align documents with their attributes, judge, rewrite, trim, stamp, write.

Which documents stay and what their texts become is decided here; how often a document is seen in training
is packing's matter, and nothing here samples.
"""
