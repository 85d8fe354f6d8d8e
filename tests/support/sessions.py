"""Processes of a session, so that a test can see that none is left, or end them."""

from pathlib import Path


def members_of(session: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if fields[3] == str(session) and fields[0] != "Z":
                found.append(int(entry.name))
    return found
