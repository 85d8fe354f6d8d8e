"""The report of a corpus: one HTML page of numbers and pictures, made from manifests alone.

Adds up what manifests say and draws it; which manifests there are is the pipeline's to know. Reads nothing,
writes nothing: numbers in, text out, and the same text for the same numbers.
"""

from mixle_assets.reporting.numbers import CheckNumbers, CorpusNumbers
from mixle_assets.reporting.page import render_page

__all__ = ["CheckNumbers", "CorpusNumbers", "render_page"]
