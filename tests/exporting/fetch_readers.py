"""Fetch the two packages whose readers open our exports, without what they depend on.

python tests/exporting/fetch_readers.py FOLDER
MIXLE_READERS=FOLDER pytest tests/exporting
"""

import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = {"mosaicml-streaming==0.13.0": "streaming/", "megatron-core==0.16.1": "megatron/core/datasets/"}


def fetch(folder: Path) -> None:
    """Download the wheels and unpack the parts that read files."""
    for package in PACKAGES:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--quiet",
            "--dest",
            str(folder),
            package,
        ]
        subprocess.run(command, check=True)
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(tuple(PACKAGES.values()))]
            archive.extractall(folder, names)


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
