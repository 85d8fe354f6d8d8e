"""The tools we compare ourselves with, each in its own virtual environment under a cache folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

# Plain pip backtracks for ten minutes over dolma's pins; uv does not.
PINS = {
    "dolma": ["dolma==1.2.1"],
    "datatrove": ["datatrove[io]==0.6.0", "tokenizers==0.23.3", "zstandard==0.25.0"],
}


def peer_program(name: str, cache: Path, program_name: str = "") -> str:
    """Return the path of a peer's program; its environment is made on first use.

    Args:
        name: A key of ``PINS``.
        cache: Folder of the environments.
        program_name: The program, such as ``python``; default: the peer's name.

    Raises:
        SystemExit: There is no ``uv``.
    """
    environment = cache / name
    program = environment / "bin" / (program_name or name)
    if not program.exists():
        uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
        if uv is None:
            raise SystemExit("the peers are installed with uv: pip install uv")
        subprocess.run([uv, "venv", "--python", "3.11", str(environment)], check=True)
        python = environment / "bin" / "python"
        subprocess.run([uv, "pip", "install", "--python", str(python), *PINS[name]], check=True)
    return str(program)
