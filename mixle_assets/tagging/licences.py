"""Taggers of Creative Commons links in the page a document came from (``metadata.html``).

Values are Dolma's, but a document without that field has no licence here instead of stopping the work. A link
says what a page refers to, not what it is under: read the score as a rank among the page's links.
"""

from __future__ import annotations

import functools
import re

from mixle_assets.records import SpanRow
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures

_SITE = r"https?://creativecommons\.org/"


@functools.cache
def _link_in_tag() -> re.Pattern[str]:
    return re.compile(
        r"<(?:a|A|meta)\s[^<>]*(?:href|HREF|content)=[\"']"
        + _SITE
        + r"(?:licenses/(by(?:-nc)?(?:-nd)?(?:-sa)?)"
        r"|(publicdomain/(?:zero|mark)))"
        # The version, then at most a country, then the language, alone or of the deed.
        r"(?:/(\d+\.\d+))?(?:/(?:\w\w/)?(?:deed\.)?(\w\w))?[^>\n]*[\"'][^>\n]*>"
    )


@functools.cache
def _any_link() -> re.Pattern[str]:
    return re.compile(_SITE + r"licenses/(by-nc-nd|by-nc-sa|by-nc|by-nd|by-sa|by|publicdomain)[\"/ >]")


@tagger("cc_re")
def find_licences(document: DocumentView) -> Measures:
    """Licence, version and language of each link in an a or meta tag; the n-th scores 0.5 + 0.5 / n."""
    return _ranked(
        document,
        [
            "_".join(part for part in found.groups() if part)
            for found in _link_in_tag().finditer(_html_of(document))
        ],
    )


@tagger("cc_re_fast")
def find_licences_anywhere(document: DocumentView) -> Measures:
    """Licence of each link wherever it stands, without version; the n-th scores 0.5 + 0.5 / n."""
    return _ranked(document, _any_link().findall(_html_of(document)))


def _ranked(document: DocumentView, licences: list[str]) -> Measures:
    measures: dict[str, list[SpanRow]] = {}
    for number, licence in enumerate(licences, 1):
        measures.setdefault(f"cc_{licence}", []).append([0, len(document.text), 0.5 + 0.5 / number])
    return measures


def _html_of(document: DocumentView) -> str:
    html = document.metadata.get("html")
    # Most pages have no such link, and this is found out at memory speed.
    return html if isinstance(html, str) and "creativecommons.org/" in html else ""
