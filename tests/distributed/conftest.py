"""Servers that are started once for all tests here, and ended with them."""

from collections.abc import Iterator
from pathlib import Path

import object_store
import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.dist)


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of an S3 server with an empty bucket ``corpora``."""
    with object_store.run_moto(tmp_path_factory.mktemp("moto") / "log") as endpoint:
        yield endpoint


@pytest.fixture
def bucket(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A folder of one test's own in the bucket; the environment of this process says how to reach it."""
    for name, value in object_store.environment(s3, tmp_path / "cache").items():
        monkeypatch.setenv(name, value)
    return f"s3://corpora/{request.node.name.split('[')[0]}"
