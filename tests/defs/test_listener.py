"""What a stage writes into the log of its run while it goes on: every line is a row of a database."""

import pytest

from mixle_assets.defs import resources
from mixle_assets.defs.resources import SECONDS_BETWEEN_LOGS, Listener


def test_progress_is_logged_every_few_seconds_however_many_outputs_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(resources.time, "monotonic", lambda: now)
    lines: list[str] = []
    on_progress = Listener().progress(lines.append)

    for done in range(10_001):  # 10,000 outputs in 20 seconds
        now = 1000.0 + done * 0.002
        on_progress("attributes", done, 10_000)

    assert SECONDS_BETWEEN_LOGS == 5
    assert lines == [
        "attributes: 2500 of 10000 outputs are done",
        "attributes: 5000 of 10000 outputs are done",
        "attributes: 7500 of 10000 outputs are done",
        "attributes: 10000 of 10000 outputs are done",
    ]
