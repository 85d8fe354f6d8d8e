"""Whether the columns beside an attribute file hold its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from mixle_assets.formats.attribute_files import columns_path_of, open_attribute_rows
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.work import Work
from mixle_assets.records import Violation


def writes_columns(loaded: LoadedRecipe) -> bool:
    """Return whether attributes are written as columns too."""
    return loaded.recipe.execution.attributes_format == "parquet"


def find_other_rows_in_columns(loaded: LoadedRecipe, all_work: Sequence[Work]) -> Iterator[Violation]:
    """Yield every row that the columns hold otherwise than the lines: types and order of keys count too."""
    for path in (output.path for work in all_work for output in work.outputs if output.columns):
        columns = columns_path_of(path)
        rows = zip_longest(open_attribute_rows(path), open_attribute_rows(columns))
        for number, (line, found) in enumerate(rows, start=1):
            expected, is_held = ("no further row" if row is None else repr(row[1:]) for row in (line, found))
            if expected != is_held:
                yield Violation(f"{columns}:{number}", expected, is_held)
