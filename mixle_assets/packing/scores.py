"""Scores of documents, read from the attribute files of the documents they came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.errors import InputError
from mixle_assets.formats.attribute_files import open_attribute_rows
from mixle_assets.packing.doc_sources import DocSources


def read_scores(sources: DocSources, attribute: str, files: Mapping[str, str]) -> NDArray[np.float64]:
    """Return the score of each document: that of the first span of an attribute.

    A document's provenance says the document file and the line; attribute files have the same lines.

    Args:
        sources: The documents.
        attribute: Key of the attribute.
        files: Provenance name of each document file to its attribute file.

    Raises:
        InputError: A file is not among ``files`` or is missing, a document has no row, or its row no number.
    """
    wanted: dict[str, dict[int, list[int]]] = {}
    for document, provenance in enumerate(sources.provenances()):
        name, _, place = provenance.rpartition(":")
        wanted.setdefault(name, {}).setdefault(int(place), []).append(document)
    scores = np.full(sources.num_documents, np.nan)
    for name, lines in wanted.items():
        if name not in files:
            raise InputError(f"no attribute file of {attribute} is known for the documents of {name}")
        for line, document_id, attributes in open_attribute_rows(files[name], keys=(attribute,)):
            for document in lines.pop(line, ()):
                scores[document] = _score_of(attributes, attribute, files[name], line, document_id)
        if lines:
            line, documents = next(iter(lines.items()))
            raise InputError(
                "there is no row of this document's attributes",
                path=files[name],
                line=line,
                document_id=sources.id(documents[0]),
            )
    return scores


def _score_of(attributes: Mapping[str, Any], attribute: str, path: str, line: int, document_id: Any) -> float:
    match attributes.get(attribute):
        case [[_, _, bool() | int() | float() as score, *_], *_]:
            return float(score)
        case value:
            raise InputError(
                f"{attribute} has no span with a score: {value!r}",
                path=path,
                line=line,
                document_id=document_id,
            )
