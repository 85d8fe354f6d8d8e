"""Main text of real pages: how much of it each extractor finds, how much else it takes, and how fast.

    python -m benchmarks extract FOLDER [--main '//*[@role="main"]'] [--pages 300]

``FOLDER`` holds HTML whose main part an XPath names, such as Debian's ``python3.11-doc``. Words are compared
as multisets: precision is the share of extracted words that stand in the main part, recall the share of the
main part's words that were extracted.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
from collections import Counter
from pathlib import Path

from mixle_assets.sourcing.charsets import decode_page
from mixle_assets.sourcing.extractors import load_extractor, versions_of


def words_of(text: str) -> Counter[str]:
    """Return how often each word stands in a text."""
    return Counter(re.findall(r"\w+", text))


def cpu_time() -> float:
    """Return what this process has used, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(arguments: list[str]) -> None:
    """Extract, compare, print."""
    from lxml import html

    parser = argparse.ArgumentParser(prog="benchmarks extract", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--main", default='//*[@role="main"]', help="XPath of a page's main part")
    parser.add_argument("--pages", type=int, default=300)
    options = parser.parse_args(arguments)
    found = sorted(options.folder.rglob("*.html"))
    random.Random(0).shuffle(found)  # noqa: S311
    pages = []
    utf8 = html.HTMLParser(encoding="utf-8")
    for path in found:
        markup = decode_page(path.read_bytes(), is_markup=True)
        parts = html.document_fromstring(markup.encode(), parser=utf8).xpath(options.main) if markup else []
        if len(parts) == 1 and (words := words_of(parts[0].text_content())):
            pages.append((markup, words))
        if len(pages) == options.pages:
            break
    size = sum(len(markup.encode()) for markup, _ in pages)
    print(f"{len(pages)} pages, {size / 1e6:.1f} MB of HTML; {', '.join(versions_of('trafilatura'))}")
    print("| extractor | precision | recall | pages without text | MB/s of HTML |\n|---|---|---|---|---|")
    for name in ("visible", "trafilatura"):
        extract = load_extractor(name)
        extract(pages[0][0])
        begin = cpu_time()
        texts = [extract(markup) for markup, _ in pages]
        used = cpu_time() - begin
        common = taken = wanted = 0
        for text, (_, words) in zip(texts, pages, strict=True):
            extracted = words_of(text)
            common += (extracted & words).total()
            taken += extracted.total()
            wanted += words.total()
        empty = sum(not text.strip() for text in texts)
        print(
            f"| {name} | {common / taken:.3f} | {common / wanted:.3f} | {empty} | {size / used / 1e6:.1f} |"
        )
