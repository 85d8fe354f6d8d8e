"""Dagster's records in PostgreSQL: builds side by side, none of them locked out."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest
from postgres_server import run_postgres

RECIPE = """\
name: corpus_{number}
streams:
  - name: prose
    source: {{python_stdlib: prose, only: [json]}}
    taggers: {{quality: [char_length_v1]}}
tokenizer: {{bytes: true}}
packing: {{block: 64, batch_size: 4, epochs: 2}}
"""

SETTINGS = """\
storage:
  postgres:
    postgres_url: {env: DAGSTER_POSTGRES_URL}
telemetry: {enabled: false}
instance_class: {module: mixle_assets.defs.event_log, class: HomeInstance}
"""


@pytest.fixture
def postgres() -> Iterator[str]:
    with run_postgres() as url:
        yield url


def test_builds_side_by_side_record_all_they_did_in_postgres(postgres: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text(SETTINGS)
    environment = os.environ | {
        "DAGSTER_HOME": str(home),
        "DAGSTER_POSTGRES_URL": postgres,
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    builds = []
    for number in range(2):
        recipe = tmp_path / f"{number}.yaml"
        recipe.write_text(RECIPE.format(number=number))
        arguments = ["build", str(recipe), "--root", str(tmp_path / "root"), "--json", "--workers", "1"]
        builds.append(
            subprocess.Popen(
                [sys.executable, "-m", "mixle_assets", *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
            )
        )
    for process in builds:
        said, errors = process.communicate(timeout=500)
        assert process.returncode == 0, errors
        assert json.loads(said)["failed"] == {}

    connection = psycopg2.connect(postgres)
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "select asset_key, count(distinct partition) from event_logs "
            "where dagster_event_type = 'ASSET_MATERIALIZATION' and asset_key like '%packed_epoch%' "
            "group by asset_key order by asset_key"
        )
        assert cursor.fetchall() == [
            ('["corpus_0", "packed_epoch"]', 2),
            ('["corpus_1", "packed_epoch"]', 2),
        ]
        cursor.execute("select distinct status from runs")
        assert cursor.fetchall() == [("SUCCESS",)]
    connection.close()
    assert list(home.rglob("*.db")) == []
