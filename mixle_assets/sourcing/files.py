"""Documents from files of text or HTML: a file, compressed or not, is a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mixle_assets.formats.codecs import read_chunks
from mixle_assets.recipe import Source
from mixle_assets.sourcing.charsets import decode_page
from mixle_assets.sourcing.extractors import load_extractor, versions_of
from mixle_assets.sourcing.inputs import digest_of_files, find_source_files
from mixle_assets.sourcing.sources import Left

SOURCE = "files"

_CODECS = (".gz", ".zst")
_MARKUP = (".html", ".htm", ".xhtml")


def find_documents(source: Source) -> Iterator[dict[str, Any] | Left]:
    """Yield one document a file, in the order of the patterns; the id is the file's name below them.

    ``.html``, ``.htm`` and ``.xhtml`` give the text that the source's extractor takes, in the character set
    that they name; everything else is UTF-8 text, with or without a byte order mark. Line ends become LF.

    Raises:
        InputError: A pattern matches nothing, or a compressed file is cut short.
        RecipeError: The extractor is not installed.
    """
    extract = load_extractor(source.extractor)
    for file in find_source_files(source.files):
        content = b"".join(read_chunks(file.path))
        if _kind_of(file.name) in _MARKUP:
            text = extract(decode_page(content, is_markup=True).replace("\r\n", "\n"))
        else:
            try:
                text = content.decode("utf-8-sig").replace("\r\n", "\n")
            except UnicodeDecodeError:
                yield Left("not UTF-8")
                continue
        metadata = {"path": file.name}
        document = {"id": file.name, "text": text, "source": SOURCE, "metadata": metadata}
        yield document if text.strip() else Left("empty")


def digest_of(source: Source) -> str:
    """Return a digest of the files' names, sizes and modification times, and the extractor's version."""
    return digest_of_files(find_source_files(source.files), SOURCE, *versions_of(source.extractor))


def _kind_of(name: str) -> str:
    lower = name.lower()
    for codec in _CODECS:
        lower = lower.removesuffix(codec)
    return lower[lower.rfind(".") :] if "." in lower else ""
