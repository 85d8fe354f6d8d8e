"""Comments are counted as Python and Pygments see them, pages as they show; what cannot be told is -1."""

import platform
import subprocess
import sys
import time
import warnings

import pytest

from mixle_assets.errors import RecipeError
from mixle_assets.recipe import TaggerUse
from mixle_assets.tagging.code_languages import language_of
from mixle_assets.tagging.code_libraries import require
from mixle_assets.tagging.registry import fingerprint_of, resolve_tagger
from mixle_assets.tagging.starcoder import share_of_comments, share_shown
from mixle_assets.tagging.views import view_of_text


def measure(version, text, **metadata):
    tagger = resolve_tagger(TaggerUse(tagger=f"code_starcoder_taggers_{version}", parameters={}))
    return tagger.measure(view_of_text(text, metadata))


def test_of_python_docstrings_and_comments_count_without_their_marks():
    text = 'class A:\n    """Of A."""\n\n    async def f():\n        """Left out."""  # but this\n'

    # "Of A.", a line feed, " but this"; the mark is left out, so is the docstring of a coroutine.
    assert share_of_comments(text, "python") == 15 / len(text)


def test_a_file_that_does_not_parse_has_no_docstrings_but_comments():
    assert share_of_comments('"""Of it."""\nprint "x"  # two\n', "python") == 3 / 30
    assert share_of_comments('"""Of it."""\nx = (  # open\n', "python") == 0.0


def test_python_has_nothing_to_say_about_documents():
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        assert share_of_comments('"""\\d"""\n', "python") == 2 / 9
        assert share_shown("<?xml version='1.0'?><p>" + "shown " * 20) == 120 / 144
        assert share_shown("<?xml version='1.0'?><rss xmlns='x'><p>" + "shown " * 20) == 120 / 159
        assert share_shown("<rss xmlns='x'>" + "shown " * 20) == 120 / 135
        assert share_shown("a/file/name.html") == share_shown("https://a.b/c") == 0.0


@pytest.mark.parametrize(
    ("extension", "language"),
    [
        ("py", "python"),
        ("h", "c"),
        ("H", "c++"),
        ("htm", "html"),
        ("kts", "kotlin"),
        ("cs", None),
        ("PY", None),
    ],
)
def test_extensions_are_of_dolmas_languages_where_pygments_has_a_lexer(extension, language):
    assert language_of(extension) == language


@pytest.mark.parametrize("extension", ["unheard-of", None, 7, ["py"], {"py": 1}])
def test_without_a_known_extension_v1_does_not_know_and_v2_is_in_between(extension):
    assert measure("v1", "// a", ext=extension) == {
        "has_xml_template_doc": 0.0,
        "num_github_stars_doc": 0.0,
        "nl_ratio_doc": -1.0,
        "code_to_text_ratio_html_doc": -1.0,
    }
    assert measure("v2", "// a", ext=extension) == {
        "has_xml_template_doc": 0.0,
        "num_github_stars_doc": 0.0,
        "code_to_comment_ratio_doc": 0.5,
        "code_to_text_ratio_html_doc": 1.0,
    }


def test_v2_looks_for_comments_in_three_languages_only():
    def shares(extension):
        return [
            measure("v1", "// four\n", ext=extension)["nl_ratio_doc"],
            measure("v2", "// four\n", ext=extension)["code_to_comment_ratio_doc"],
        ]

    assert shares("java") == shares("js") == [7 / 8, 7 / 8]
    assert shares("c") == [8 / 8, 0.5]


@pytest.mark.parametrize("extension", ["py", "java", "html"])
def test_an_empty_file_has_no_shares(extension):
    v1, v2 = measure("v1", "", ext=extension), measure("v2", "", ext=extension)

    assert v1["nl_ratio_doc"] == v1["code_to_text_ratio_html_doc"] == -1.0
    assert v2["code_to_comment_ratio_doc"] == (0.5 if extension == "html" else -1.0)
    assert v2["code_to_text_ratio_html_doc"] == (-1.0 if extension == "html" else 1.0)


@pytest.mark.parametrize(
    ("stars", "expected"),
    [
        (12, 12.0),
        (None, 0.0),
        ("7", 7.0),
        ("many", 0.0),
        ([1], 0.0),
        (10**400, 0.0),
        ("nan", 0.0),
        (True, 1.0),
    ],
)
def test_stars_that_are_no_number_are_none(stars, expected):
    assert measure("v1", "x", max_stars_count=stars)["num_github_stars_doc"] == expected
    assert measure("v2", "x", max_stars_count=stars)["num_github_stars_doc"] == expected


def test_a_page_shows_neither_scripts_nor_styles_nor_a_hundred_characters():
    head = "<style>p{}</style><script>var a = 1;</script>"

    assert share_shown(head + "<p>" + "x" * 101 + "</p>") == 101 / (len(head) + 108)
    assert share_shown(head + "<p>" + "x" * 100 + "</p>") == 0.0


LONG = {
    "html": ["<a", "<!--", "<!", "<?", "</", "<a b='", "<![CDATA[", "&", "&#", "<script>", "<div>", "a."],
    "javascript": ["a.", "a", "(", "/*", "`", "${"],
    "java": ["<a", "a.", "(", "<script>"],
    "perl": ["<", "<<a"],
    "xml": ["<!--", "&"],
    "python": ["(", "a.", "#", "[a,", "x=1;"],
}


@pytest.mark.parametrize(("language", "unit"), [(one, unit) for one, units in LONG.items() for unit in units])
def test_long_lines_take_seconds(language, unit):
    text = unit * (100_000 // len(unit))
    started = time.process_time()

    share_of_comments(text, language)
    if language == "html":
        share_shown(text)

    assert time.process_time() - started < 30


def test_a_file_with_a_line_that_is_too_long_is_not_read_and_minified_javascript_is():
    line = "x = 1; " * 2_000 + "// end"

    assert share_of_comments(f"/* a */\n{line}\n", "java") == -1.0
    assert share_of_comments(f"/* a */\n{line}\n", "javascript") == 13 / (len(line) + 9)


def test_versions_of_the_libraries_and_of_python_are_part_of_the_fingerprint():
    program = (
        "import platform, sys\n"
        "from mixle_assets.recipe import TaggerUse\n"
        "from mixle_assets.tagging.registry import fingerprint_of\n"
        "platform.python_version = lambda: sys.argv[1]\n"
        "print(fingerprint_of(TaggerUse(tagger='code_starcoder_taggers_v2', parameters={})))\n"
    )

    def fingerprint(python):
        done = subprocess.run(
            [sys.executable, "-c", program, python], capture_output=True, check=True, text=True
        )
        return done.stdout.strip()

    assert fingerprint("3.11.0") != fingerprint("3.11.1")
    ours = fingerprint_of(TaggerUse(tagger="code_starcoder_taggers_v2", parameters={}))
    assert ours == fingerprint(platform.python_version())


def test_without_a_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bs4", None)

    with pytest.raises(RecipeError, match=r"needs beautifulsoup4: pip install 'mixle_assets\[code\]'"):
        require("code_starcoder_taggers_v1", "beautifulsoup4", "pygments")
