"""Tables for the UI: short ones, that say what they leave out."""

from collections.abc import Iterable, Mapping

import dagster as dg

MAX_ROWS = 50


def table(rows: Iterable[Mapping[str, str | int]]) -> dg.TableMetadataValue:
    """Return rows of equal keys as a table of at most ``MAX_ROWS``, and how many are left out."""
    all_rows = list(rows)
    shown: list[dict[str, str | int]] = [dict(row) for row in all_rows[:MAX_ROWS]]
    names = list(shown[0]) if shown else []
    columns = [
        dg.TableColumn(name, "int" if shown and isinstance(shown[0][name], int) else "string")
        for name in names
    ]
    if len(all_rows) > MAX_ROWS:
        columns = [dg.TableColumn(name, "string") for name in names]
        shown.append({**dict.fromkeys(names, ""), names[0]: f"... and {len(all_rows) - MAX_ROWS} more"})
    return dg.MetadataValue.table(
        records=[dg.TableRecord(row) for row in shown], schema=dg.TableSchema(columns=columns)
    )
