"""Rules of ad blockers' lists, as far as they can be decided by the address of a page alone.

Understood are ``||host^``, ``|`` at either end, ``*``, ``^``, ``@@`` and ``/regular expression/``. Rules that
hide parts of a page, and rules with options that ask for more than an address (``$third-party``), are not
about a document and are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import re2

_COMMENT = re.compile(r"\s*(?:$|!|\[)")
_COSMETIC = re.compile(r"#@?[?$%]?#")
_OPTIONS = re.compile(r"\$([\w~,=|.\-]+)$")
_PAGE_OPTIONS = frozenset({"important", "all", "document", "doc"})
_HOST = re.compile(r"\|\|([\w\-.]+)\^\|?")
_SCHEME = r"^[a-z][a-z0-9+.\-]*://"
_SEPARATOR = r"(?:[^\w.%\-]|$)"


class FilterRules:
    """Decides whether a list blocks an address.

    Args:
        lines: The list, a rule a line, in any order.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        blocking: list[str] = []
        excepting: list[str] = []
        for line in sorted(set(lines)):
            if _COMMENT.match(line) or _COSMETIC.search(line):
                continue
            rule = line.strip()
            into = excepting if rule.startswith("@@") else blocking
            rule = rule.removeprefix("@@")
            is_expression = len(rule) > 2 and rule.startswith("/") and rule.endswith("/")
            options = None if is_expression else _OPTIONS.search(rule)
            if options is not None:
                if not _PAGE_OPTIONS.issuperset(options.group(1).split(",")):
                    continue
                rule = rule[: options.start()]
            if rule:
                into.append(rule)
        self._blocking = _Matcher(blocking)
        self._excepting = _Matcher(excepting)

    def block(self, url: str) -> bool:
        """Return whether a rule blocks the address and no exception lets it pass."""
        return self._blocking.matches(url) and not self._excepting.matches(url)


class _Matcher:
    """Rules for whole hosts are looked up; all others run as one automaton."""

    def __init__(self, rules: list[str]) -> None:
        self._hosts = {found.group(1).lower() for rule in rules if (found := _HOST.fullmatch(rule))}
        options = re2.Options()
        options.case_sensitive = False
        options.max_mem = 256 << 20
        options.log_errors = False
        self._patterns = re2.Set.SearchSet(options)
        self._num_patterns = 0
        for rule in rules:
            if not _HOST.fullmatch(rule):
                try:
                    self._patterns.Add(_expression_of(rule))
                except re2.error:  # a regular expression with look-around: none of re2's
                    continue
                self._num_patterns += 1
        if self._num_patterns:
            self._patterns.Compile()

    def matches(self, url: str) -> bool:
        labels = re.split("[/:]", url.partition("://")[2], maxsplit=1)[0].split(".")
        if any(".".join(labels[first:]) in self._hosts for first in range(len(labels))):
            return True
        return bool(self._num_patterns and self._patterns.Match(url))


def _expression_of(rule: str) -> str:
    """Return a rule as a regular expression."""
    if len(rule) > 2 and rule.startswith("/") and rule.endswith("/"):
        return rule[1:-1]
    before = after = ""
    if rule.startswith("||"):
        before, rule = rf"{_SCHEME}(?:[^/?#]*\.)?", rule[2:]
    elif rule.startswith("|"):
        before, rule = "^", rule[1:]
    if rule.endswith("|"):
        after, rule = "$", rule[:-1]
    pieces = [".*" if one == "*" else _SEPARATOR if one == "^" else re.escape(one) for one in rule]
    return before + "".join(pieces) + after
