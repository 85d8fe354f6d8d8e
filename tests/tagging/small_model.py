"""A fastText model written by hand, so that every score can be worked out on paper.

Two words, two labels, two dimensions::

    the = [1, 0]   der = [0, 1]      en = [ln 3, 0]   de = [0, ln 3]

A text's vector is the mean of its words': "the" scores en : de = e^ln3 : e^0 = 3 : 1, "the der" 1 : 1.
fastText adds 0.00001 to each score before it takes the logarithm.
"""

import math
import struct

LN_3 = math.log(3)


def write_model(path, *, labels=("en", "de"), words=("the", "der"), kind=3, longest_ngram=0, magic=793712314):
    """Write a model: dense, softmax (3), no n-grams; each word goes with the label at its place."""
    arguments = (2, 5, 1, 1, 5, 1, 3, kind, 0, 0, longest_ngram, 100)
    content = struct.pack("<2i12id", magic, 12, *arguments, 1e-4)
    content += struct.pack("<3i2q", len(words) + len(labels), len(words), len(labels), 10, -1)
    for word in words:
        content += word.encode() + b"\0" + struct.pack("<qb", 5, 0)
    for label in labels:
        content += f"__label__{label}".encode() + b"\0" + struct.pack("<qb", 5, 1)
    for value in (1.0, LN_3):
        rows = [value, 0.0, 0.0, value]
        content += b"\0" + struct.pack("<2q4f", 2, 2, *rows)
    path.write_bytes(content)
    return str(path)
