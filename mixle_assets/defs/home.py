"""Where Dagster keeps what it recorded: beside the corpora it is about. Imports no Dagster.

The command line and the UI agree on this place, so what one built is green in the other.
"""

from __future__ import annotations

import os
from pathlib import Path

from mixle_assets.pipeline.load import DEFAULT_ROOT

HOME_VARIABLE = "DAGSTER_HOME"

_INSTANCE_SETTINGS = """\
# Made by mixle-assets; yours to change, it is not written again. All settings:
# https://docs.dagster.io/deployment/oss/dagster-yaml
telemetry:
  enabled: false
nux:
  enabled: false
# The records are Dagster's own SQLite files; the events of a range are written together, not one by one.
instance_class:
  module: mixle_assets.defs.event_log
  class: HomeInstance
"""


def prepare_home(root: str) -> Path:
    """Return the folder of the Dagster instance for a root, and make it if it is ours to make.

    ``$DAGSTER_HOME`` is taken as it is. Otherwise it is ``<root>/.dagster``, or, for a root that is no folder
    of this machine, ``corpora/.dagster`` in the working directory.
    """
    given = os.environ.get(HOME_VARIABLE)
    if given:
        home = Path(given).expanduser().absolute()
        home.mkdir(parents=True, exist_ok=True)
        return home
    home = Path(DEFAULT_ROOT if "://" in root else root).absolute() / ".dagster"
    home.mkdir(parents=True, exist_ok=True)
    settings = home / "dagster.yaml"
    if not settings.exists():
        settings.write_text(_INSTANCE_SETTINGS, encoding="utf-8")
    return home
