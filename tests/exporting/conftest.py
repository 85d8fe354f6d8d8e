"""Readers of other tools come from folders that scripts beside this file fill; without, they are not run.

``MIXLE_READERS`` names what ``fetch_readers.py`` fetched, ``MIXLE_WHOLE_READERS`` what
``install_readers.py`` installed; the latter needs torch and is no part of the normal run (``make readers``).
"""

import os

_NEEDS = {"test_real_readers.py": "MIXLE_READERS", "test_whole_readers.py": "MIXLE_WHOLE_READERS"}
collect_ignore = [name for name, variable in _NEEDS.items() if not os.environ.get(variable)]


def pytest_terminal_summary(terminalreporter):
    if "test_real_readers.py" in collect_ignore:
        terminalreporter.write_line(
            "exports were not opened by Megatron's and MDS's own readers: "
            "see tests/exporting/fetch_readers.py"
        )
