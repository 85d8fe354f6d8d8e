"""Taggers of a document's address (``metadata.url``) by lists of addresses, domains or filter rules.

Dolma fetches its lists; here every tagger takes a file of yours. Values are Dolma's for the same list, so the
names with ``_v1`` keep its way of reading lists and hosts. ``domain_list_v2`` looks hosts up as one expects.
"""

from __future__ import annotations

import ipaddress
import re

from mixle_assets import storage
from mixle_assets.tagging.filter_rules import FilterRules
from mixle_assets.tagging.registry import FilePath, tagger
from mixle_assets.tagging.views import DocumentView, Measures

_ADDRESS_LISTS = ("url_list_v1",)
_DOMAIN_LISTS = (
    "domain_list_v1",
    "domain_blocklist_utp_v1",
    "domain_blocklist_phishing_v1",
    *(f"blocklist_project_{kind}_v1" for kind in ("ads", "crime", "nsfw", "social", "vice")),
    *(
        f"blocklist_firebog_{kind}_v1"
        for kind in ("ads", "crypto", "malicious", "nsfw", "social", "suspicious", "trackers")
    ),
    *(f"blocklist_hosts_{kind}_v1" for kind in ("adware_malware", "fakenews", "gambling", "porn", "social")),
    "allowlist_wikidata_v1",
    "allowlist_wikidata_cleaned_v1",
)
_RULE_LISTS = (
    "filter_rules_v1",
    *(f"oisd_{kind}_abp_v1" for kind in ("small", "big", "nsfw")),
    *(f"brave_{kind}_abp_v1" for kind in ("core", "nsfw")),
)

_COMMENT = re.compile(r"\s*(?:[#;!=]|$)")
_HOST_LINE = re.compile(r"[\w\-.:/]+\.?\w", re.ASCII)
_RULE_LINE = re.compile(r"\|{1,2}([^|^\s]+)\^")


class _ByAddress:
    """One span over the text if the document's address is on the list."""

    def __init__(self, *, url_list: FilePath) -> None:
        lines = storage.read_bytes(url_list).decode("utf-8-sig").split("\n")
        self._load([line.rstrip("\r") for line in lines])

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        url = document.metadata.get("url")
        if not isinstance(url, str) or not url or not self._holds(clean_url(url)):
            return {}
        return {"url": 1.0}

    def _load(self, lines: list[str]) -> None:
        self._entries = frozenset(entry for line in lines for entry in _entries_of(line))

    def _holds(self, url: str) -> bool:
        return url in self._entries


class _ByLine(_ByAddress):
    """One span over the text if the document's address is a line of the list, taken as it stands."""

    def _load(self, lines: list[str]) -> None:
        self._entries = frozenset(line.strip() for line in lines) - {""}


class _ByDomain(_ByAddress):
    """One span over the text if the address's host is on the list, any ``w`` and dots before it left out.

    That goes for both sides, so ``www.wikipedia.org`` stands for ``ikipedia.org`` too, as in Dolma.
    Hosts below it are not found.
    """

    def _load(self, lines: list[str]) -> None:
        super()._load(lines)
        self._entries = frozenset(_bare_host(entry) for entry in self._entries)

    def _holds(self, url: str) -> bool:
        host = _bare_host(url)
        return host in self._entries or f"www.{host}" in self._entries


class _ByRules(_ByAddress):
    """One span over the text if the rules of an ad blocker's list block the address; ``@@`` lets it pass."""

    def _load(self, lines: list[str]) -> None:
        self._rules = FilterRules(lines)

    def _holds(self, url: str) -> bool:
        return self._rules.block(f"http://{url}")


@tagger("domain_list_v2", measures=["url"])
class ByHost(_ByAddress):
    """One span over the text if the address's host, or one it lies below, is on the list."""

    def _load(self, lines: list[str]) -> None:
        super()._load(lines)
        self._entries = frozenset(_host(entry).removeprefix("www.") for entry in self._entries)

    def _holds(self, url: str) -> bool:
        labels = _host(url).split(".")
        return any(".".join(labels[first:]) in self._entries for first in range(len(labels)))


def _register() -> None:
    kinds: dict[type[_ByAddress], tuple[str, ...]] = {
        _ByAddress: _ADDRESS_LISTS,
        _ByLine: ("link_blocklist_phishing_v1",),
        _ByDomain: _DOMAIN_LISTS,
        _ByRules: _RULE_LISTS,
    }
    for kind, names in kinds.items():
        for name in names:
            tagger(name, measures=["url"])(kind)


_register()


def clean_url(url: str) -> str:
    """Return host, port and path in lower case: ``HTTP://A.org:80/B/?q#f`` gives ``a.org:80/b``."""
    rest = url.partition("://")[2] or url
    return re.split("[?#]", rest, maxsplit=1)[0].rstrip("/").lower()


def _host(url: str) -> str:
    return re.split("[/:]", url, maxsplit=1)[0]


def _bare_host(url: str) -> str:
    return _host(url).lstrip("w.")


def _entries_of(line: str) -> list[str]:
    """Return what one line of a list names: nothing, an address, or a number and a host of a hosts file."""
    if _COMMENT.match(line):
        return []
    line = line.strip()
    parts = line.split()
    if len(parts) > 1 and re.fullmatch(r"[\d.]+|[\da-fA-F:]*:[\da-fA-F:.]*", parts[0]):
        try:
            number = str(ipaddress.ip_address(parts[0]))
        except ValueError:
            return []
        return [number] if parts[1] in ("localhost", "localdomain") else [number, clean_url(parts[1])]
    rule = _RULE_LINE.match(line)
    if rule:
        return [clean_url(rule.group(1))]
    return [clean_url(line)] if _HOST_LINE.match(line) else []
