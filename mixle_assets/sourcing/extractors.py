"""Which text of a page becomes the document: all that is visible, or what a library takes for its main part.

``visible`` is ours and keeps every word. ``trafilatura`` guesses which part of a page is its article; it is
optional, and what it gives depends on its version, which is part of a source's digest.

Resiliparse is fifteen times as fast, but its time grows with the cube of how deep elements are nested: a page
of 10,000 ``<div>`` took version 2.0.1 eighteen seconds, and such pages are out there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from mixle_assets.errors import RecipeError
from mixle_assets.sourcing.markup import visible_text

Extractor: TypeAlias = Callable[[str], str]
"""Markup to text; an empty text where there is no main part."""

_PACKAGES = {
    # What has a say in the text: lxml parses, justext is asked where trafilatura finds too little.
    "trafilatura": ("trafilatura", "lxml", "lxml_html_clean", "jusText"),
}


def load_extractor(name: str) -> Extractor:
    """Return what makes text of a page.

    Args:
        name: ``visible`` or ``trafilatura``.

    Raises:
        RecipeError: Its package is not installed.
    """
    if name == "visible":
        return visible_text
    versions_of(name)  # refuses one that is not installed, in our words
    return _load_trafilatura()


def versions_of(name: str) -> list[str]:
    """Return the packages that decide what an extractor gives, as ``trafilatura 2.3.1``; ours has none.

    Raises:
        RecipeError: One of them is not installed.
    """
    try:
        return [f"{package} {version(package)}" for package in _PACKAGES.get(name, ())]
    except PackageNotFoundError as error:
        raise RecipeError(
            f"{name} needs the package {error.name}: pip install 'mixle_assets[web]'", key="source.extractor"
        ) from error


def _load_trafilatura() -> Extractor:
    import trafilatura

    # It reports each page without a main part as an error; ours are counted.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

    def extract(markup: str) -> str:
        # Deduplication would remember earlier pages, and make the text of one depend on the others.
        text: str | None = trafilatura.extract(markup, include_comments=False, deduplicate=False)
        return text or ""

    return extract
