"""Keys, passwords and tokens in source code, as detect-secrets 1.4.0 finds them.

The library decides what is a secret. Here stands which of its detectors sees which line: one that cannot find
anything in a line is not run over it, and one that would take too long is not either. The library's settings
are neither used nor changed, so any number of threads may scan, and no secret is verified anywhere.
"""

from __future__ import annotations

import pkgutil
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from mixle_assets.errors import RecipeError
from mixle_assets.records import SpanRow
from mixle_assets.tagging.code_libraries import import_quietly, require, version_of, versions
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures

LIBRARY_VERSION = "1.4.0"
FILE_NAME = "code_str.yml"
"""Every document is scanned as if it had this name, as by Dolma: as YAML, whose secrets need no quotes."""

STEPS = 100_000_000
STEPS_PER_CHARACTER = 100
"""What one document may cost where time can grow faster than a line; a step takes some 10 to 30 ns."""

MAX_SEARCHED = 1_000
"""Secrets whose line is looked for in the text from its beginning; the others stand where they stand."""


class _Gate(NamedTuple):
    """What a line must hold for a detector to find anything in it.

    Attributes:
        pattern: Is found in the text on every such line.
        needles: One of them is in every such text, in lower case if ``any_case``; empty asks for none.
        any_case: Whether the detector is blind to case.
        steps: What a line may cost, where it is more than its length.
    """

    pattern: re.Pattern[str]
    needles: tuple[str, ...] = ()
    any_case: bool = False
    steps: Callable[[str], int] | None = None


def _literal(*needles: str) -> _Gate:
    return _Gate(re.compile("|".join(map(re.escape, needles))), needles)


_SPACES = re.compile(" {2,}")
_WHITE_SPACES = re.compile(r"\s{2,}")
_WORDS = re.compile(r"\w{16,}")
_QUOTES = re.compile("['\"]")
_BACKTICKS = re.compile("`")
_KEY = re.compile("key|pw|pass|token", re.IGNORECASE)
# Without suffixes: what follows a word is \w* anyway.
_KEYWORD = re.compile(
    "(?:api|auth|service|account|db|database|priv|private|client)_?key|(?:db|database|key)_?pass"
    "|passw(?:or)?d|pwd|secret|contrase[ñn]a",
    re.IGNORECASE,
)


def _longest(pattern: re.Pattern[str], line: str) -> int:
    return max(map(len, pattern.findall(line)), default=1)


def _steps_of_assignment(line: str) -> int:
    """Three runs of spaces follow each other: ``key`` before 1,000 spaces takes seconds."""
    return len(_KEY.findall(line)) * _longest(_SPACES, line) ** 3


def _steps_of_keywords(line: str) -> int:
    """At each keyword and backtick, what is not quoted is gone over up to the next quote, often again."""
    quotes = [match.start() for match in _QUOTES.finditer(line)]
    quotes.append(len(line))

    def unquoted(start: int) -> int:
        return quotes[bisect_left(quotes, start)] - start

    steps = sum(unquoted(match.start()) for match in _BACKTICKS.finditer(line))
    word, blank = _longest(_WORDS, line), _longest(_WHITE_SPACES, line)
    for match in _KEYWORD.finditer(line):
        # A quote is looked for behind the word, or behind up to fifty characters after each of its letters.
        end = min(match.end() + word + 50, len(line))
        num_backticks = line.count("`", match.end(), min(end, match.end() + 1_000))
        quoted = num_backticks or unquoted(match.end()) < end - match.end()
        times = blank + 2 + (50 * (1 + num_backticks) if quoted else 0)
        steps += 50 * word + times * (end - match.end() + unquoted(end))
        if steps > 100 * STEPS:
            break
    return steps


def _steps_of_tokens(line: str) -> int:
    return line.count("eyJ") * len(line)


def _steps_of_npm(line: str) -> int:
    return line.count("//") * len(line)


_ASSIGNED = ("key", "pw", "pass", "token")

_GATES = {
    "ArtifactoryDetector": _Gate(re.compile(r"AKC[a-zA-Z0-9]{10}|AP[\dABCDEF][a-zA-Z0-9]{8}"), ("AKC", "AP")),
    "AWSKeyDetector": _Gate(re.compile("AKIA|aws", re.IGNORECASE), ("akia", "aws"), any_case=True),
    "AzureStorageKeyDetector": _literal("AccountKey="),
    "Base64HighEntropyString": _Gate(re.compile(r"['\"][A-Za-z0-9+/\\\-_=]{23,}['\"]")),
    "BasicAuthDetector": _Gate(re.compile(r"://[^:/?#\[\]@!$&'()*+,;=\s]+:"), ("://",)),
    "CloudantDetector": _Gate(
        re.compile(r"cl(?:oudant|ou)?[_-]?(?:api)?(?:key|pw|pass|token)|cloudant\.com", re.IGNORECASE),
        (*_ASSIGNED, "cloudant.com"),
        any_case=True,
        steps=_steps_of_assignment,
    ),
    "DiscordBotTokenDetector": _Gate(re.compile(r"\.[a-zA-Z\d_-]{6}\.[a-zA-Z\d_-]{27}")),
    "GitHubTokenDetector": _literal("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "HexHighEntropyString": _Gate(re.compile(r"['\"][0-9a-fA-F]{9,}['\"]")),
    "IbmCloudIamDetector": _Gate(
        re.compile(r"(?<![a-z0-9_\-])[a-z0-9_\-]{44}", re.IGNORECASE),
        _ASSIGNED,
        any_case=True,
        steps=_steps_of_assignment,
    ),
    "IbmCosHmacDetector": _Gate(
        re.compile("secret", re.IGNORECASE), ("secret",), any_case=True, steps=_steps_of_assignment
    ),
    "JwtTokenDetector": _Gate(re.compile("eyJ"), ("eyJ",), steps=_steps_of_tokens),
    "KeywordDetector": _Gate(
        _KEYWORD, ("key", "pass", "pwd", "secret", "contrase"), any_case=True, steps=_steps_of_keywords
    ),
    "MailchimpDetector": _literal("-us"),
    "NpmDetector": _Gate(re.compile("/:_authToken="), ("/:_authToken=",), steps=_steps_of_npm),
    "PrivateKeyDetector": _literal("PRIVATE KEY", "PuTTY-User-Key-File-2"),
    "SendGridDetector": _literal("SG."),
    "SlackDetector": _Gate(
        re.compile(r"xox|hooks\.slack\.com", re.IGNORECASE), ("xox", "hooks.slack.com"), any_case=True
    ),
    "SoftlayerDetector": _Gate(
        re.compile("sl[_-]?(?:api)?(?:key|pw|pass|token)|softlayer", re.IGNORECASE),
        (*_ASSIGNED, "softlayer"),
        any_case=True,
        steps=_steps_of_assignment,
    ),
    "SquareOAuthDetector": _literal("sq0csp-"),
    "StripeDetector": _literal("k_live_"),
    "TwilioKeyDetector": _Gate(re.compile("(?:AC|SK)[a-z0-9]{32}"), ("AC", "SK")),
}
"""For each detector of the library, by its class. The tests compare with the library without gates."""

SECRET_TYPES = (
    "AWS Access Key",
    "Artifactory Credentials",
    "Azure Storage Account access key",
    "Base64 High Entropy String",
    "Basic Auth Credentials",
    "Cloudant Credentials",
    "Discord Bot Token",
    "GitHub Token",
    "Hex High Entropy String",
    "IBM COS HMAC Credentials",
    "IBM Cloud IAM Key",
    "JSON Web Token",
    "Mailchimp Access Key",
    "NPM tokens",
    "Private Key",
    "Secret Keyword",
    "SendGrid API Key",
    "Slack Token",
    "SoftLayer Credentials",
    "Square OAuth Secret",
    "Stripe Access Key",
    "Twilio API Key",
)

# What the library asks with ([^\v=!:]*)\s*(:=?|[!=]{1,3})\s*([\w.-]+[\[\(][^\v]*[\]\)]), which takes the cube
# of a run of white space: is there a sign before what looks like a call or an index?
_INDIRECT = re.compile(r"[:=!]\s*[\w.-]+[\[(][^\v]*[\])]")
_MAX_INDIRECT = 1_000
"""Longer lines are never references to the library."""
_ID = re.compile("id", re.IGNORECASE)
_LONG_BLANK = re.compile(r"[ \t]{200}")


class _Secret(NamedTuple):
    line: int
    digest: str
    kind: str
    value: str


def _measure_of(kind: str) -> str:
    return f"SECRET_{kind.replace(' ', '_')}"


@tagger(
    "code_secrets_v1",
    version=lambda: f"1, {versions('detect-secrets')}",
    measures=[*map(_measure_of, SECRET_TYPES), "doc"],
)
class CodeSecrets:
    """Keys, passwords and tokens that detect-secrets 1.4.0 finds, and their number for each word."""

    def __init__(self) -> None:
        require("code_secrets_v1", "detect-secrets")
        if (found := version_of("detect-secrets")) != LIBRARY_VERSION:
            raise RecipeError(
                f"code_secrets_v1 has the values of detect-secrets {LIBRARY_VERSION}, but {found} is "
                "installed: pip install 'mixle_assets[code]'"
            )

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        text = document.text
        measures: dict[str, list[SpanRow] | float] = {}
        secrets = self._library.find(text)
        lines = text.splitlines() if secrets else []
        starts = _line_starts(text) if len(secrets) > MAX_SEARCHED else []
        for number, secret in enumerate(secrets):
            line = lines[secret.line]
            # Dolma's span lies where the line's text occurs first, be it inside an earlier line.
            line_start = text.find(line) if number < MAX_SEARCHED else starts[secret.line]
            start = line_start + line.find(secret.value)
            rows = measures.setdefault(_measure_of(secret.kind), [])
            rows.append([start, start + len(secret.value), 1.0])  # type: ignore[union-attr]
        num_words = len(document.words)
        measures["doc"] = len(secrets) / num_words if num_words else -1.0
        return measures

    @cached_property
    def _library(self) -> _Library:
        return _Library()


class _Library:
    """The detectors and filters of detect-secrets, each called by itself."""

    def __init__(self) -> None:
        package = import_quietly("detect_secrets.plugins")
        self._detectors = {
            name: detector()
            for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
            for name, detector in vars(import_quietly(module.name)).items()
            if name in _GATES and detector.__module__ == module.name
        }
        file_types = import_quietly("detect_secrets.util.filetype")
        keyword = import_quietly("detect_secrets.plugins.keyword")
        self._keyword_patterns = keyword.REGEX_BY_FILETYPE[file_types.determine_file_type(FILE_NAME)]
        self._snippet = import_quietly("detect_secrets.util.code_snippet").get_code_snippet
        self._is_allowed = import_quietly("detect_secrets.filters.allowlist").is_line_allowlisted
        self._digest = import_quietly("detect_secrets.core.potential_secret").PotentialSecret.hash_secret
        heuristic = import_quietly("detect_secrets.filters.heuristic")
        self._is_id = heuristic.is_likely_id_string
        self._is_no_secret = (
            heuristic.is_sequential_string,
            heuristic.is_potential_uuid,
            heuristic.is_templated_secret,
            heuristic.is_prefixed_with_dollar_sign,
            heuristic.is_not_alphanumeric_string,
        )

    def find(self, text: str) -> list[_Secret]:
        """Return each secret of a text once, where it is first; by line, then by SHA-1 as in the library."""
        names_by_line = _may_hold(text)
        if not names_by_line:
            return []
        lines = text.splitlines()
        left = STEPS + STEPS_PER_CHARACTER * len(text)
        found: dict[tuple[str, str], _Secret] = {}
        for number in sorted(names_by_line):
            line = lines[number].rstrip()
            for name in names_by_line[number]:
                if (steps := _GATES[name].steps) is not None:
                    cost = steps(line)
                    if cost > left:
                        continue
                    left -= cost
                candidates = self._candidates(name, line)
                # Each is looked for in the line.
                cost = len(candidates) * len(line) // 10
                if cost > left:
                    continue
                left -= cost
                kind = self._detectors[name].secret_type
                for value in self._secrets_among(candidates, name, line, lines, number):
                    found.setdefault((kind, value), _Secret(number, self._digest(value), kind, value))
        return sorted(found.values())

    def _secrets_among(
        self, candidates: list[str], name: str, line: str, lines: list[str], number: int
    ) -> list[str]:
        values = [one for one in candidates if not any(test(one) for test in self._is_no_secret)]
        if values and _ID.search(line):
            values = [one for one in values if not self._is_id(one, line, self._detectors[name])]
        return [] if values and self._is_passed_over(line, lines, number) else values

    def _candidates(self, name: str, line: str) -> list[str]:
        """Return what a detector takes for secrets in a line, each once."""
        detector = self._detectors[name]
        if name == "KeywordDetector":
            return list(dict.fromkeys(detector.analyze_string(line, self._keyword_patterns)))
        try:
            values = list(dict.fromkeys(detector.analyze_string(line)))
        except RecursionError:  # a token of JSON that is nested too deep to be read
            return []
        if name.endswith("HighEntropyString"):
            return [one for one in values if detector.calculate_shannon_entropy(one) > detector.entropy_limit]
        return values

    def _is_passed_over(self, line: str, lines: list[str], number: int) -> bool:
        """Return whether a comment allows the line's secrets, or its value comes from a call."""
        if len(line) <= _MAX_INDIRECT and _INDIRECT.search(line):
            return True
        comments = (line, lines[number - 1] if number else "")
        if not any("pragma" in one for one in comments) or any(map(_LONG_BLANK.search, comments)):
            return False
        return bool(self._is_allowed(FILE_NAME, line, self._snippet(lines, number + 1)))


def _may_hold(text: str) -> dict[int, list[str]]:
    """Return the lines in which detectors may find something, by number from 0, and these detectors."""
    # The two letters that count as another one where case does not count, but keep theirs in lower case.
    lowered = text.lower().replace("\u017f", "s").replace("\u0131", "i")
    found: dict[int, list[str]] = {}
    starts: list[int] = []
    for name, gate in _GATES.items():
        if gate.needles and not any(
            needle in (lowered if gate.any_case else text) for needle in gate.needles
        ):
            continue
        match = gate.pattern.search(text)
        while match is not None:
            starts = starts or _line_starts(text)
            number = bisect_right(starts, match.start()) - 1
            found.setdefault(number, []).append(name)
            match = gate.pattern.search(text, starts[number + 1]) if number + 1 < len(starts) else None
    return found


def _line_starts(text: str) -> list[int]:
    """Return where the lines of ``str.splitlines`` begin."""
    return [0, *accumulate(map(len, text.splitlines(keepends=True)))][:-1]
