"""The whole page: one HTML document that needs nothing else, light or dark as its reader likes it."""

from __future__ import annotations

from functools import partial

from mixle_assets.reporting.html import cards, percent, text
from mixle_assets.reporting.numbers import CorpusNumbers
from mixle_assets.reporting.sections import (
    show_checks,
    show_duplicates,
    show_measures,
    show_records,
    show_rules,
    show_stages,
)
from mixle_assets.reporting.style import STYLE
from mixle_assets.reporting.token_sections import show_packing, show_tokens

_SECTIONS = {
    "stages": ("Stages", show_stages),
    "rules": ("Kept and dropped", show_rules),
    "measures": ("Measures", show_measures),
    "duplicates": ("Duplicates", show_duplicates),
    "tokens": ("Tokens", show_tokens),
    "packing": ("Packed epochs", show_packing),
    "records": ("Records", show_records),
    "checks": ("Checks", show_checks),
}


def render_page(numbers: CorpusNumbers, *, times: bool = True) -> str:
    """Return the report as one HTML document: no script, nothing loaded, the same for the same numbers.

    Args:
        numbers: Of the corpus.
        times: Whether how long something took is shown; without, two builds of one corpus give one page.
    """
    sections = {anchor: show for anchor, (_, show) in _SECTIONS.items()}
    sections["measures"] = partial(show_measures, times=times)
    shown = {anchor: show(numbers) for anchor, show in sections.items()}
    links = "".join(
        f'<a href="#{anchor}">{title}</a>' for anchor, (title, _) in _SECTIONS.items() if shown[anchor]
    )
    title = text(numbers.recipe)
    # The policy refuses whatever is not in this file, should a name from the data ever get past `text`.
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}: corpus report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        f'<header>\n<p class="kind">Corpus report</p>\n<h1>{title}</h1>\n{_cards(numbers)}'
        f'<nav aria-label="Sections">{links}</nav>\n</header>\n<main>\n{"".join(shown.values())}</main>\n'
        "<footer>Made by <code>mixle-assets report</code> from the manifests beside the corpus's files: the "
        "same manifests give the same page.</footer>\n</body>\n</html>\n"
    )


def _cards(numbers: CorpusNumbers) -> str:
    """Return the numbers that are asked for first."""
    facts: list[tuple[str, str]] = []
    if (mixed := numbers.stages.get("mixed_shards")) is not None:
        total = mixed.total
        share = total.num_out / total.num_in if total.num_in else 0.0
        facts += [
            ("documents in", f"{total.num_in:,}"),
            ("documents kept", f"{total.num_out:,}"),
            ("of all", percent(share)),
        ]
    if numbers.tokens:
        num_tokens = sum(done.num_tokens for done in numbers.tokens.values())
        text_in_bytes = sum(done.text_in_bytes for done in numbers.tokens.values())
        facts.append(("tokens", f"{num_tokens:,}"))
        facts.append(("bytes per token", f"{text_in_bytes / num_tokens:.3f}" if num_tokens else "–"))
    if numbers.epochs:
        rows = sum(details["rows"] for details in numbers.epochs.values())
        facts.append((f"rows in {len(numbers.epochs):,} epochs", f"{rows:,}"))
    num_passed = sum(check.num_passed == check.num_keys for check in numbers.checks)
    if numbers.checks:
        facts.append(("checks passed", f"{num_passed} of {len(numbers.checks)}"))
    return cards(facts)
