"""A corpus of real text for benchmarks, from Debian's documentation packages, in Dolma's layout.

The same package versions and arguments give the same rows. Real text alone gives filters and span rules
little to do, so known shares of repeats, contact lines and runs are put in. Attributes are made by the tools
that are compared (``mix``), never here.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

PACKAGES = (
    "anarchism",
    "bible-kjv-text",
    "debian-handbook",
    "debian-reference-en",
    "developers-reference",
    "dict-foldoc",
    "dict-gcide",
    "dict-jargon",
    "fortunes",
    "git-doc",
    "gnu-standards",
    "harden-doc",
    "jargon-text",
    "linux-doc-6.1",
    "manpages-de",
    "manpages-dev",
    "manpages-fr",
    "manpages-pl",
    "maxima-doc",
    "miscfiles",
    "octave-doc",
    "perl-doc",
    "postgresql-doc-15",
    "python3.11-doc",
    "sqlite3-doc",
    "wordnet-base",
    "zsh-doc",
)
LONGEST_PARAGRAPH = 20_000  # characters; a giant line of a table is cut there

_NOT_TEXT = re.compile(r"\.(svg|css|js|json|map|inv|png|gif|jpe?g|ico|eps|pdf|index|xml|dtd|u8|sgml|3pm)$")
_HTML_SKIPPED = re.compile(r"(?is)<(script|style|head|nav)\b.*?</\1>|<!--.*?-->")
_HTML_BREAK = re.compile(
    r"(?i)</?(?:p|div|h[1-6]|li|ul|ol|tr|table|dd|dt|dl|br|pre|section|blockquote|hr)\b[^>]*>"
)
_HTML_TAG = re.compile(r"<[^>]{0,2000}>")
_ROFF_REQUEST = re.compile(r"(?m)^[.'](?!B |I |BR |BI |IR ).*$")
_ROFF_ESCAPE = re.compile(r"\\f(?:\[\w*\]|\w)|\\[&|^]|^\.(?:B|I|BR|BI|IR) ", re.M)
_BLANK = re.compile(r"\n\s*\n|\n%\n")


def make_corpus(
    folder: Path, cache: Path, *, megabytes: float, num_files: int, seed: int
) -> dict[str, object]:
    """Write ``folder/documents/000.jsonl.gz`` and so on, and return what they hold.

    Args:
        folder: Where the corpus goes.
        cache: Where the packages are kept.
        megabytes: Text, in 10^6 UTF-8 bytes.
        num_files: Files of about equal numbers of documents.
        seed: Decides the order, the lengths and what is put in.
    """
    random_text = random.Random(seed)  # noqa: S311 - reproducible text, no secret
    versions = _fetch(cache)
    documents = _take(list(_documents(cache, versions, random_text)), megabytes * 1e6, random_text)
    boilerplate = [" ".join(random_text.choice(documents)[1].split()[:30]) for _ in range(200)]
    repeats = set(random_text.sample(range(1, len(documents)), len(documents) // 50))
    target = folder / "documents"
    target.mkdir(parents=True, exist_ok=True)
    num_bytes = 0
    share = -(-len(documents) // num_files)
    for number in range(num_files):
        rows = []
        for index in range(number * share, min(len(documents), (number + 1) * share)):
            place, text = documents[index]
            if index in repeats:
                text = documents[random_text.randrange(index)][1]
            text = _put_in(text, boilerplate, random_text)
            num_bytes += len(text.encode())
            rows.append(_row(index, place, text, random_text))
        with (target / f"{number:03d}.jsonl.gz").open("wb") as stored:
            stored.write(gzip.compress("".join(rows).encode(), 6, mtime=0))
    facts = {"packages": versions, "documents": len(documents), "text_bytes": num_bytes, "seed": seed}
    (folder / "corpus.json").write_text(json.dumps(facts, indent=1) + "\n")
    return facts


def _row(index: int, place: str, text: str, random_text: random.Random) -> str:
    day = f"20{random_text.randint(10, 23)}-{random_text.randint(1, 12):02d}-{random_text.randint(1, 28):02d}"
    document = {
        "id": f"{index:08x}-{random_text.getrandbits(96):024x}",
        "text": text,
        "source": place.partition("/")[0],
        "added": "2024-01-01T00:00:00.000Z",
        "created": f"{day}T12:00:00.000Z",
        "version": "v0",
        "metadata": {"url": f"https://docs.example.org/{place}", "length": len(text)},
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def _put_in(text: str, boilerplate: list[str], random_text: random.Random) -> str:
    """Add boilerplate to 4 % of the texts, contact lines to 6 %, a run of one token to 1 %."""
    paragraphs = text.split("\n")
    added = []
    if random_text.random() < 0.04:
        added += random_text.choices(boilerplate, k=random_text.randint(1, 4))
    if random_text.random() < 0.06:
        for _ in range(random_text.randint(1, 3)):
            number = random_text.randrange(10**6)
            added.append(
                (
                    f"Write to reader{number}@mail{number % 97}.example.com if this page is of no use.",
                    f"The desk answers at (555) 010-{number % 10_000:04d} between nine and five.",
                    f"A test server listens on 192.0.2.{number % 256} and on 198.51.100.{number % 256} .",
                )[number % 3]
            )
    if random_text.random() < 0.01:
        added.append(random_text.choice(("ha ", "-=", "0 ", "na na ")) * random_text.randint(20, 300))
    for paragraph in added:
        paragraphs.insert(random_text.randint(0, len(paragraphs)), paragraph)
    return "\n".join(paragraphs)


def _take(
    documents: list[tuple[str, str]], num_bytes: float, random_text: random.Random
) -> list[tuple[str, str]]:
    random_text.shuffle(documents)
    taken = 0
    for number, (_, text) in enumerate(documents, 1):
        taken += len(text.encode())
        if taken > num_bytes:
            return documents[:number]
    return documents


def _documents(
    cache: Path, versions: dict[str, str], random_text: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield (place, text): paragraphs of a file up to a log-normal length, median about 2,200 characters."""
    for package in sorted(versions):
        root = cache / "unpacked" / package
        for path in sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink()):
            place = f"{package}/{path.relative_to(root).as_posix()}"
            if package == "linux-doc-6.1" and place.endswith(".html"):
                continue  # its sources are there too
            waiting: list[str] = []
            size, wanted = 0, random_text.lognormvariate(7.7, 1.0)
            for paragraph in _paragraphs(path):
                waiting += [
                    paragraph[start : start + LONGEST_PARAGRAPH]
                    for start in range(0, len(paragraph), LONGEST_PARAGRAPH)
                ]
                size += len(paragraph) + 1
                if size >= wanted:
                    yield place, "\n".join(waiting)
                    waiting, size, wanted = [], 0, random_text.lognormvariate(7.7, 1.0)
            if size > 40:
                yield place, "\n".join(waiting)


def _paragraphs(path: Path) -> list[str]:
    """Return the paragraphs of a file, each unwrapped to one line, as web corpora have them."""
    content, name = path.read_bytes(), path.name
    if name.endswith((".gz", ".dz")):
        content, name = gzip.decompress(content), name.rpartition(".")[0]
    if b"\0" in content[:4096] or _NOT_TEXT.search(name):
        return []
    text = content.decode("utf-8", "replace").replace("\ufffd", "")
    if name.endswith((".html", ".htm", ".xhtml")):
        text = _HTML_BREAK.sub("\n\n", _HTML_SKIPPED.sub(" ", text))
        text = html.unescape(_HTML_TAG.sub("", text))
    elif ".TH" in text[:4000]:
        text = _ROFF_ESCAPE.sub("", _ROFF_REQUEST.sub("\n\n", text)).replace("\\-", "-")
    return [unwrapped for block in _BLANK.split(text) if (unwrapped := " ".join(block.split()))]


def _fetch(cache: Path) -> dict[str, str]:
    """Download and unpack the packages that are missing; return name to version."""
    cache.mkdir(parents=True, exist_ok=True)
    versions = {}
    for package in PACKAGES:
        if not list(cache.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", "-qq", package], cwd=cache, check=True)
        archive = max(cache.glob(f"{package}_*.deb"))
        versions[package] = archive.name.split("_")[1]
        unpacked = cache / "unpacked" / package
        if not unpacked.exists():
            unpacked.parent.mkdir(exist_ok=True)
            subprocess.run(["dpkg-deb", "-x", archive.resolve(), unpacked.resolve()], check=True)
    return versions


def main(arguments: list[str]) -> None:
    """Make a corpus from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks corpus", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, required=True, help="where the packages are kept")
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    facts = make_corpus(
        given.folder, given.cache, megabytes=given.megabytes, num_files=given.files, seed=given.seed
    )
    print(json.dumps({name: value for name, value in facts.items() if name != "packages"}))
