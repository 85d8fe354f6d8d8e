"""What lies on disk, read and written: codecs, lines, documents, attributes, doc arrays, packed rows.

Nothing here knows a recipe or decides which record stays; each module is imported by its own name.
"""
