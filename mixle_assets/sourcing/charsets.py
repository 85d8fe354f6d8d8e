"""The bytes of a page as text: which character set they are in, by what the page and its server say.

Nothing is guessed from statistics: a page that says nothing and is no UTF-8 is read as browsers read it.
"""

from __future__ import annotations

import codecs
import re

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_MARKUP_HEAD_IN_BYTES = 2048
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode_page(content: bytes, content_type: str = "", *, is_markup: bool) -> str:
    """Return the text of a page.

    Tried in order: a byte order mark, the ``charset`` of ``content_type``, that of the markup's own head,
    UTF-8, and Windows-1252, which gives every byte some character.

    Args:
        content: The page, taken out of what HTTP wrapped around it.
        content_type: What the server said, such as ``text/html; charset=EUC-KR``; empty if nobody did.
        is_markup: Whether the page itself may name its character set.
    """
    names = [name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)]
    named = _CHARSET.search(content_type.encode("latin-1", "replace"))
    if named is None and is_markup:
        named = _CHARSET.search(content[:_MARKUP_HEAD_IN_BYTES])
    if named is not None:
        names.append(named[1].decode("ascii"))
    for name in [*names, "utf-8-sig"]:
        try:
            text = content.decode(name)
            text.encode()  # some charsets can spell half a surrogate pair, which is no text
        except (LookupError, ValueError):  # no such charset, or the page is not in it
            continue
        return text
    return content.decode("cp1252", "replace")
