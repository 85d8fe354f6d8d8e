"""A PostgreSQL server of Debian's package, on a loopback port, in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from object_store import free_port


def find_binaries() -> Path:
    """The folder of ``initdb``, ``pg_ctl`` and ``createdb``, which Debian leaves off the path."""
    on_path = shutil.which("pg_ctl")
    places = [Path(on_path).resolve().parent] if on_path else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    assert places, "PostgreSQL is missing: apt-get install postgresql"
    return places[-1]


@contextmanager
def run_postgres() -> Iterator[str]:
    """Start a server, make the database ``dagster``, yield its URL, and end the server after the block."""
    binaries = find_binaries()
    port = free_port()
    # The server refuses to run as root, and its user may not enter pytest's own folders.
    user = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="postgres", ignore_cleanup_errors=True) as folder:
        if user is not None:
            shutil.chown(folder, user)

        def run(program: str, *arguments: str) -> None:
            done = subprocess.run(
                [str(binaries / program), *arguments],
                user=user,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=300,
            )
            log = Path(folder) / "log"
            assert done.returncode == 0, done.stdout + (log.read_text() if log.exists() else "")

        data = f"{folder}/data"
        run("initdb", "--pgdata", data, "--username=dagster", "--auth=trust", "--no-sync", "--encoding=UTF8")
        options = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync=off"
        # Its output goes into a file: a server that held our pipe would never let it end.
        run("pg_ctl", "start", "-w", "-t", "200", "-D", data, "-l", f"{folder}/log", "-o", options)
        try:
            run("createdb", "--host=127.0.0.1", f"--port={port}", "--username=dagster", "dagster")
            yield f"postgresql://dagster@127.0.0.1:{port}/dagster"
        finally:
            run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", data)
