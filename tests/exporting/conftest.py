"""The readers of Megatron and MDS come from a folder that fetch_readers.py fills: MIXLE_READERS names it."""

import os

collect_ignore = [] if os.environ.get("MIXLE_READERS") else ["test_real_readers.py"]


def pytest_terminal_summary(terminalreporter):
    if collect_ignore:
        terminalreporter.write_line(
            "exports were not opened by Megatron's and MDS's own readers: "
            "see tests/exporting/fetch_readers.py"
        )
