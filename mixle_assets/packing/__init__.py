"""From doc arrays to training batches: the order of documents, rows of ``block + 1`` tokens, who reads which.

The first five public functions of the package live here, and the one stage function, ``epoch.pack_epoch``.
Tokens are never changed: packing copies them, and says where each one came from.
"""
