"""Doc arrays and packed rows in the formats of other trainers' loaders, and two of those formats back.

A format lives in the module of its name; what all share is in ``export``, ``flat`` and ``files``.
"""

from mixle_assets.exporting.export import FORMATS, ExportTask, export_documents, export_shard, finish_export
from mixle_assets.exporting.imports import import_megatron, import_olmo
from mixle_assets.exporting.rows import export_rows

__all__ = [
    "FORMATS",
    "ExportTask",
    "export_documents",
    "export_rows",
    "export_shard",
    "finish_export",
    "import_megatron",
    "import_olmo",
]
