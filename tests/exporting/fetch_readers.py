"""Fetch the two packages whose readers open our exports, without what they depend on; twice costs nothing.

python tests/exporting/fetch_readers.py .venv/readers
MIXLE_READERS=$PWD/.venv/readers pytest tests/exporting
"""

import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = {"mosaicml-streaming==0.13.0": "streaming/", "megatron-core==0.16.1": "megatron/core/datasets/"}

# One wheel for every machine: only Python code is taken out of it.
ANY_MACHINE = ("--only-binary=:all:", "--python-version=3.11", "--platform=manylinux_2_28_x86_64")


def fetch(folder: Path) -> None:
    """Download the wheels and unpack the parts that read files."""
    done = folder / "fetched.txt"
    wanted = "\n".join(PACKAGES)
    if done.exists() and done.read_text() == wanted:
        return
    pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--quiet", "--no-deps"]
    subprocess.run([*pip, *ANY_MACHINE, f"--dest={folder}", *PACKAGES], check=True)
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(tuple(PACKAGES.values()))]
            archive.extractall(folder, names)
    done.write_text(wanted)


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
