"""How much of a source file is comments, and how much of a page is text: the measures of StarCoder's filters.

Comments are what the lexers of Pygments say, for Python its own tokenizer and parser; the text of a page is
Beautiful Soup's. Which extension is which language stands in ``code_languages``.
"""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
import warnings

from mixle_assets.tagging.code_languages import language_of
from mixle_assets.tagging.code_libraries import require, versions
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures

UNKNOWN = -1.0
"""Written where a share cannot be told, as by Dolma."""

BETWEEN = 0.5
"""Dolma's share of comments in languages that ``code_starcoder_taggers_v2`` does not look into."""

MIN_CHARACTERS_SHOWN = 100
"""A page that shows no more than this has no text."""

LONGEST_LINE = 10_000
"""Characters up to which a line is given to a lexer; many take the square of its length, or worse."""

STEPS = 100_000_000
"""Characters a parser may go over in vain; more, and a page is taken as unreadable."""

_OFTEN_ON_ONE_LINE = ("javascript", "html")
_JOINED = re.compile(r"[\w.$?]{1000,}")
_FILE_NAME = "<a document>"
_DOCUMENTED = {ast.ClassDef: 0, ast.FunctionDef: 1, ast.Module: 2}
"""Where a docstring may stand, in the order in which they are put together; coroutines are left out."""


def _measures(comments: str) -> list[str]:
    """Return the measures of a version, in Dolma's order; the share of comments has a name in each."""
    return ["has_xml_template_doc", "num_github_stars_doc", comments, "code_to_text_ratio_html_doc"]


class _StarCoder:
    """What both versions measure alike."""

    name: str

    def __init__(self) -> None:
        require(self.name, "beautifulsoup4", "pygments")

    def measures_of(self, document: DocumentView, name: str, comments: float, shown: float) -> Measures:
        """Return all measures; ``name`` is that of the share of comments."""
        has_head = float("<?xml version=" in document.text[:100])
        return dict(zip(_measures(name), (has_head, _stars_of(document), comments, shown), strict=True))


def _version() -> str:
    return f"1, {versions('beautifulsoup4', 'pygments', python=True)}"


@tagger(
    "code_starcoder_taggers_v1",
    version=_version,
    measures=_measures("nl_ratio_doc"),
)
class StarCoder(_StarCoder):
    """XML head, stars, share of comments in any language, of HTML the share that is shown; -1 is unknown."""

    name = "code_starcoder_taggers_v1"

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        text = document.text
        language = language_of(document.metadata.get("ext"))
        comments = share_of_comments(text, language) if language else UNKNOWN
        shown = UNKNOWN
        if comments != UNKNOWN:
            shown = share_shown(text) if language == "html" else 1.0
        if shown == UNKNOWN:
            comments = UNKNOWN
        return self.measures_of(document, "nl_ratio_doc", comments, shown)


@tagger(
    "code_starcoder_taggers_v2",
    version=_version,
    measures=_measures("code_to_comment_ratio_doc"),
)
class StarCoder2(_StarCoder):
    """As ``code_starcoder_taggers_v1``, but comments of Python, Java and JavaScript only; 0.5 for others."""

    name = "code_starcoder_taggers_v2"

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        text = document.text
        language = language_of(document.metadata.get("ext"))
        looked_into = language in ("python", "java", "javascript")
        comments = share_of_comments(text, str(language)) if looked_into else BETWEEN
        shown = share_shown(text) if language == "html" else 1.0
        return self.measures_of(document, "code_to_comment_ratio_doc", comments, shown)


def share_of_comments(text: str, language: str) -> float:
    """Return how many characters of a source file are comments, -1 if that cannot be told.

    Args:
        text: The file.
        language: As ``language_of`` names it.
    """
    if language == "python":
        return len(_prose_of_python(text)) / len(text) if text else UNKNOWN
    if not text or _takes_too_long(text, language):
        return UNKNOWN
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment
    from pygments.util import ClassNotFound

    try:
        tokens = get_lexer_by_name(language).get_tokens(text)
        in_comments = sum(len(token) for kind, token in tokens if kind in (Comment.Multiline, Comment.Single))
    except (ClassNotFound, RecursionError):
        return UNKNOWN
    return in_comments / len(text)


def share_shown(text: str) -> float:
    """Return how many characters of a page are text that it shows, -1 if it cannot be read.

    Scripts and styles show nothing; nor does a page that shows up to 100 characters.
    """
    if not text or _steps_of_page(text) > STEPS:
        return UNKNOWN
    from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning
    from bs4.exceptions import ParserRejectedMarkup

    # A page that looks like XML, or like the name of a file, is a page all the same.
    for category in (MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning):
        _ignore_warnings(category)
    try:
        page = BeautifulSoup(text, features="html.parser")
    except (ParserRejectedMarkup, RecursionError):
        return UNKNOWN
    for hidden in page(["script", "style"]):
        hidden.extract()
    num_shown = len(page.get_text())
    return num_shown / len(text) if num_shown > MIN_CHARACTERS_SHOWN else 0.0


def _prose_of_python(text: str) -> str:
    """Return docstrings and comments, the latter without ``#``, and without white space around all."""
    return f"{_docstrings(text)}\n{_comments(text)}".strip()


def _docstrings(text: str) -> str:
    """Return all docstrings, by what they document and its name; none of a file that does not parse."""
    # What Python has to say about a document is no matter of the user's: an escape it does not know, for one.
    _ignore_warnings(Warning, _FILE_NAME)
    try:
        tree = ast.parse(text, _FILE_NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return ""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module)]
    nodes.sort(key=lambda node: (_DOCUMENTED[type(node)], getattr(node, "name", "")))
    return "\n".join(filter(None, map(ast.get_docstring, nodes)))


def _comments(text: str) -> str:
    """Return all comments, one after the other; none of a file that cannot be cut into tokens to its end."""
    try:
        tokens = [
            token.string
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT
        ]
    except (SyntaxError, tokenize.TokenError):
        return ""
    return "".join(tokens).replace("#", "")


def _takes_too_long(text: str, language: str) -> bool:
    """Return whether a lexer may take the square of a text's length.

    Lines of minified JavaScript and HTML are as long as the file, so of these the stretches are measured that
    make their lexers slow: names joined by dots, ampersands, and tags without an end.
    """
    if language not in _OFTEN_ON_ONE_LINE:
        return max(map(len, text.split("\n"))) > LONGEST_LINE
    joined = max(map(_num_joints, _JOINED.findall(text)), default=0)
    if joined > LONGEST_LINE // 5:
        return True
    return language == "html" and _steps_of_page(text) + _steps_of_ampersands(text) > STEPS


def _num_joints(names: str) -> int:
    return names.count(".") + names.count("$") + names.count("?")


def _steps_of_ampersands(text: str) -> int:
    return sum(word.count("&") * len(word) for word in text.split() if len(word) > LONGEST_LINE)


def _steps_of_page(text: str) -> int:
    """Return how often a parser goes over characters in search of an end of tag, comment or section."""
    steps = sum((opened - 1) * len(piece) for piece in text.split(">") if (opened := piece.count("<")) > 1)
    for start, end in (("<!--", "-->"), ("<![", "]>")):
        unended = len(text) - (text.rfind(end) + 1)
        steps += text.count(start, len(text) - unended) * unended
    return steps


def _stars_of(document: DocumentView) -> float:
    """Return ``metadata.max_stars_count``, 0 if there is none, or it is no number."""
    stars = document.metadata.get("max_stars_count") or 0
    try:
        number = float(stars)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) else 0.0


def _ignore_warnings(category: type[Warning], module: str = "") -> None:
    """Ignore such warnings from now on, of one module or of all: restoring filters is not safe in threads."""
    if ("ignore", None, category, re.compile(module) if module else None, 0) not in warnings.filters:
        warnings.filterwarnings("ignore", category=category, module=module)
