"""The pages about object stores and deployments show what works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

from mixle_assets.recipe import load_recipe

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_a_corpus_is_built_into_a_bucket_and_read_from_it_as_shown(bucket: str, tmp_path: Path) -> None:
    printed = ""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for language, body in FENCE.findall((HOW_TO / "object-stores.md").read_text()):
        if language in ("sh", "python"):
            program = ["bash", "-euo", "pipefail", "-c"] if language == "sh" else [sys.executable, "-c"]
            done = subprocess.run(
                [*program, body], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            printed += done.stdout

    assert "0 rebuilt" in printed
    assert "(4, 256)" in printed


def test_settings_that_are_shown_are_yaml_and_recipes_load(tmp_path: Path) -> None:
    shown = {
        page: [body for kind, body in FENCE.findall((HOW_TO / page).read_text()) if kind == "yaml"]
        for page in ("object-stores.md", "ray.md", "kubernetes-celery-postgres.md")
    }
    assert [len(settings) for settings in shown.values()] == [1, 1, 3]
    for body in shown["kubernetes-celery-postgres.md"]:
        assert isinstance(yaml.safe_load(body), dict)
    (stream,), (execution,) = shown["object-stores.md"], shown["ray.md"]
    recipe = tmp_path / "shown.yaml"
    recipe.write_text(stream + execution)

    loaded = load_recipe(recipe)
    assert loaded.execution.ray_address == "10.0.0.5:6379"
    assert loaded.locate_pattern(loaded.streams[0].documents[0]) == "s3://corpora/documents/**/*.jsonl.gz"
