"""Install the whole packages that read our exports, with torch, into an environment of their own: 1.3 GB.

    python tests/exporting/install_readers.py .venv/whole-readers
    MIXLE_WHOLE_READERS=$PWD/.venv/whole-readers pytest tests/exporting/test_whole_readers.py

``make readers`` does both. Needs Python 3.11, for which all of them have wheels. PyPI's own torch brings CUDA
along, 3 GB more: have pip find the CPU's wheel first (``PIP_FIND_LINKS`` or ``PIP_EXTRA_INDEX_URL``).
"""

import shutil
import subprocess
import sys
from pathlib import Path

# With what they depend on.
WHOLE = ["torch==2.13.0", "numpy==2.4.6", "ai2-olmo-core==3.0.0"]
# These ask for torchvision, transformers or other versions of torch; none of our columns needs those.
ALONE = ["megatron-core==0.16.1", "litdata==0.2.76", "mosaicml-streaming==0.13.0"]
THEIRS = [
    "boto3==1.44.8",
    "brotli==1.2.1",
    "catalogue==2.0.10",
    "filelock==3.32.7",
    "lightning-utilities==0.15.3",
    "obstore==0.12.1",
    "pillow==13.0.0",
    "python-snappy==0.7.3",
    "requests==2.34.2",
    "tifffile==2026.3.3",
    "xxhash==4.1.0",
    "zstd==1.5.7.2",
]


def install(folder: Path) -> None:
    """Make the environment, unless it is the one that is wanted."""
    wanted = "\n".join([*WHOLE, *ALONE, *THEIRS])
    done = folder / "installed.txt"
    if done.exists() and done.read_text() == wanted:
        return
    python = shutil.which("python3.11")
    if python is None:
        raise SystemExit("the readers need Python 3.11")
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, WHOLE[0]], check=True)  # alone first, so that nothing chooses another build of it
    subprocess.run([*pip, *WHOLE, *THEIRS], check=True)
    subprocess.run([*pip, "--no-deps", *ALONE], check=True)
    done.write_text(wanted)


if __name__ == "__main__":
    install(Path(sys.argv[1]))
