"""The main text of a page by trafilatura, the visible text by ours: what each takes, the same each time."""

import importlib
import io
import json
import logging
import pydoc
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from mixle_assets.errors import RecipeError
from mixle_assets.recipe import Source
from mixle_assets.sourcing import extractors, source_digest
from mixle_assets.sourcing.extractors import load_extractor, versions_of
from mixle_assets.sourcing.files import find_documents as find_in_files
from mixle_assets.sourcing.sources import Left
from mixle_assets.sourcing.warc import find_documents as find_in_archives

NAME = "trafilatura"

ARTICLE = [
    "The lighthouse on the northern cape was built in eighteen hundred and four, of granite from the island.",
    "Its keeper wrote down the weather four times a day, and nobody has found a single day without an entry.",
    "When the lamp was changed from oil to gas, the ships could see it from nineteen miles away.",
    "The last keeper left in nineteen hundred and seventy-one; since then the lamp is lit by a clock.",
]
PAGE = """<!DOCTYPE html><html lang="en"><head><title>Lighthouses</title><style>p {{}}</style></head><body>
<header><div class="menu"><a href="/">Startpage</a> <a href="/shop">Giftshop</a></div></header>
<nav><ul><li><a href="/a">Chapters</a></li><li><a href="/b">Glossary</a></li></ul></nav>
<main><article><h1>The northern lighthouse</h1>{article}</article></main>
<aside class="sidebar"><h2>Related</h2><ul><li><a href="/c">Harbours</a></li></ul></aside>
<footer id="footer"><p>Copyright Coastguard, <a href="/privacy">Privacy</a></p></footer>
<script>track("visitor")</script></body></html>"""
MARKUP = PAGE.format(article="".join(f"<p>{text}</p>" for text in ARTICLE))
AROUND = {"Startpage", "Giftshop", "Harbours", "Copyright", "Coastguard", "Privacy"}


def words_of(text):
    return re.findall(r"\w+", text)


def test_a_library_takes_the_article_whole_and_leaves_what_is_around_it():
    text = load_extractor(NAME)(MARKUP)

    assert [line for line in text.splitlines() if line in ARTICLE] == ARTICLE
    assert not AROUND & set(words_of(text))


def test_what_is_visible_keeps_everything_but_scripts_and_navigation():
    text = load_extractor("visible")(MARKUP)

    assert set(words_of(text)) >= AROUND
    assert not {"track", "Glossary"} & set(words_of(text))


@pytest.mark.parametrize(
    "markup", ["", " \n", "<p>", "\x00", "<nav>menu</nav>", "<" * 10_000, '<?xml version="1.0"?>', "&#0;"]
)
def test_a_page_without_main_text_is_no_error_and_says_nothing(markup, caplog):
    with caplog.at_level(logging.WARNING):
        assert load_extractor(NAME)(markup) == ""

    assert caplog.records == []


def test_elements_nested_deeply_take_no_time():
    assert load_extractor(NAME)("<div>" * 50_000 + "deep" + "</p>" * 50_000) == ""


MODULES = ["textwrap", "shelve", "calendar", "fractions", "zipfile", "argparse"]


@pytest.fixture(scope="module")
def documentation():
    """The HTML documentation of modules, as ``pydoc`` writes it."""
    return [
        pydoc.html.page(name, pydoc.html.document(importlib.import_module(name), name)) for name in MODULES
    ]


@pytest.mark.parametrize("name", ["visible", NAME])
def test_a_page_gives_the_same_text_whatever_came_before_it(name, documentation):
    extract = load_extractor(name)
    first = [extract(page) for page in documentation]

    assert [extract(page) for page in reversed(documentation)] == first[::-1]
    assert all(len(text) > 1000 for text in first)


PROGRAM = """
import hashlib, json, sys
from mixle_assets.sourcing.extractors import load_extractor
pages = json.load(sys.stdin)
for name in ("visible", "trafilatura"):
    extract = load_extractor(name)
    print(hashlib.sha256("\\0".join(map(extract, pages)).encode()).hexdigest())
"""


def test_processes_with_other_hash_seeds_give_the_same_texts(documentation):
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps([*documentation, MARKUP]),
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(found) == 1


def test_files_and_archives_go_through_the_extractor_that_the_recipe_names(tmp_path):
    (tmp_path / "a.html").write_text(MARKUP)
    (tmp_path / "b.html").write_text("<p>")
    (tmp_path / "c.txt").write_text("Giftshop")
    with (tmp_path / "a.warc.gz").open("wb") as file:
        headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        writer = WARCWriter(file, gzip=True)
        record = writer.create_warc_record(
            "http://example.org/", "response", payload=io.BytesIO(MARKUP.encode()), http_headers=headers
        )
        writer.write_record(record)
        record.raw_stream.close()
    expected = load_extractor(NAME)(MARKUP)

    page, empty, plain = find_in_files(
        Source(files=[f"{tmp_path}/*.html", f"{tmp_path}/*.txt"], extractor=NAME)
    )
    [stored] = find_in_archives(Source(warc=[f"{tmp_path}/*.warc.gz"], extractor=NAME))

    assert page["text"] == stored["text"] == expected
    assert empty == Left("empty")
    assert plain["text"] == "Giftshop"


def test_the_version_of_a_library_is_part_of_the_sources_digest(tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text(MARKUP)
    sources = [Source(files=[f"{tmp_path}/*.html"], extractor=name) for name in ("visible", NAME)]
    before = [source_digest(source) for source in sources]
    assert len(set(before)) == 2

    monkeypatch.setattr(extractors, "version", lambda _: "99")

    after = [source_digest(source) for source in sources]
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert versions_of("trafilatura") == ["trafilatura 99", "lxml 99", "lxml_html_clean 99", "jusText 99"]


def test_a_library_that_is_not_installed_is_named_before_any_page_is_read(tmp_path, monkeypatch):
    def missing(package):
        raise PackageNotFoundError(package)

    (tmp_path / "a.html").write_text(MARKUP)
    monkeypatch.setattr(extractors, "version", missing)
    source = Source(files=[f"{tmp_path}/*.html"], extractor=NAME)

    for ask in (source_digest, lambda source: list(find_in_files(source))):
        with pytest.raises(
            RecipeError,
            match=r"source\.extractor: trafilatura needs the package trafilatura: pip install 'mixle_as",
        ):
            ask(source)


def test_what_is_visible_does_not_need_it(tmp_path):
    program = (
        "import sys; sys.modules['trafilatura'] = sys.modules['lxml'] = None\n"
        "from mixle_assets.recipe import Source; from mixle_assets.sourcing.files import find_documents\n"
        "print([each['text'] for each in find_documents(Source(files=['a.html']))])"
    )
    (tmp_path / "a.html").write_text("<p>one</p>two")

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout == "['one\\ntwo']\n"


def test_half_a_surrogate_pair_that_a_charset_spells_does_not_come_through(tmp_path):
    (tmp_path / "a.html").write_bytes(rb"<meta charset=unicode_escape><body>x\ud800y")

    [document] = find_in_files(Source(files=[f"{tmp_path}/a.html"]))

    assert document["text"] == r"x\ud800y"
