"""The libraries that define what some taggers of source code measure: are they there, and in which version.

They come with the extra ``code`` and are imported by the first document. What they measure stands in
``code_secrets`` and ``starcoder``.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import logging
import platform
import sys
import types
import warnings

from mixle_assets.errors import RecipeError

MODULES = {"detect-secrets": "detect_secrets", "beautifulsoup4": "bs4", "pygments": "pygments"}
"""Package to the module it brings."""


def require(tagger_name: str, *packages: str) -> None:
    """Refuse a tagger whose libraries are not installed.

    Raises:
        RecipeError: One is missing; the message names the extra.
    """
    for package in packages:
        if importlib.util.find_spec(MODULES[package]) is None:
            raise RecipeError(f"{tagger_name} needs {package}: pip install 'mixle_assets[code]'")


@functools.cache
def version_of(package: str) -> str:
    """Return the installed version of a package, ``absent`` if there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def versions(*packages: str, python: bool = False) -> str:
    """Return what stands for the libraries in a fingerprint: ``detect-secrets 1.4.0``.

    Args:
        packages: Their names.
        python: Whether the parsers of the running Python take part, too.
    """
    parts = [f"{package} {version_of(package)}" for package in packages]
    return ", ".join([*parts, f"python {platform.python_version()}"] if python else parts)


def import_quietly(name: str) -> types.ModuleType:
    """Import a module of detect-secrets, and leave warnings and logging of the process as they were.

    The library sends all warnings of the process to the log when it is imported.
    """
    if name in sys.modules:
        return sys.modules[name]
    shown_by = warnings.showwarning
    module = importlib.import_module(name)
    if warnings.showwarning is not shown_by:
        logging.captureWarnings(False)
    return module
