"""The stages and the command line work without Dagster: workers and ``--help`` do not pay for it."""

import subprocess
import sys

IMPORT_ALL = """
import importlib, pkgutil, sys
import mixle_assets
for module in pkgutil.walk_packages(mixle_assets.__path__, "mixle_assets."):
    name = module.name
    if name.startswith(("mixle_assets.defs.", "mixle_assets.definitions")) or name.endswith("__main__"):
        continue
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert not error.name.startswith("mixle_assets"), error  # an extra that is not installed
assert not [name for name in sys.modules if name.split(".")[0].startswith("dagster")]
print(len([name for name in sys.modules if name.startswith("mixle_assets.")]))
"""

HELP = """
import sys
from mixle_assets.cli import cli
sys.argv = ["mixle-assets", "--help"]
try:
    cli.main()
except SystemExit:
    pass
heavy = ("dagster", "numba", "pyarrow", "numpy", "tokenizers", "pydantic")
print([name for name in heavy if name in sys.modules])
"""


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_no_module_of_the_core_or_the_command_line_imports_dagster():
    assert int(run_python(IMPORT_ALL)) > 80


def test_help_imports_nothing_heavy():
    assert run_python(HELP).splitlines()[-1] == "[]"


def test_the_home_and_recipe_files_are_found_without_dagster():
    code = "import sys, mixle_assets.cli.ui; print('dagster' in sys.modules)"

    assert run_python(code) == "False\n"
