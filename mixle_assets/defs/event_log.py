"""Dagster's SQLite records, with the events of a range written together.

Dagster (1.13) opens two databases anew for each event and compiles each statement anew: about 14 ms of CPU
an event, two events a partition. Here a database keeps its compiled statements, and what Dagster hands over
as one batch is one transaction. Tables and files are Dagster's own, so either may read and write them.
"""

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import dagster as dg
import yaml
from dagster._core.events import ASSET_EVENTS
from dagster._core.events.log import EventLogEntry
from dagster._core.instance.config import dagster_instance_config
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import NullPool

# A batch holds the write lock of the index for about a tenth of a second; others wait up to 30.
EVENTS_AT_ONCE = 250

_KEPT_ENGINES = 16  # one for the index, and one for each run that is written or looked at just now


class RangeEventLog(SqliteEventLogStorage):
    """Dagster's event log in SQLite; a batch of asset events is one transaction a database."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engine_of = functools.lru_cache(maxsize=_KEPT_ENGINES)(self._make_engine)
        super().__init__(base_dir, inst_data)

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store events in their order; the asset events among them together."""
        for is_asset_event, group in groupby(events, key=_is_asset_event):
            if is_asset_event:
                self._store_asset_events(list(group))
            else:
                for event in group:
                    self.store_event(event)

    def _store_asset_events(self, events: Sequence[EventLogEntry]) -> None:
        rows = [self._event_to_row(event) for event in events]
        for run_id, own in groupby(rows, key=lambda row: row["run_id"]):
            with self.run_connection(run_id) as connection:
                connection.execute(SqlEventLogStorageTable.insert(), list(own))
        # The mirror over all runs, which is what the UI asks; its ids go into the tags.
        with self.index_transaction() as connection:
            ids = [_insert(connection, row) for row in rows]
            self._store_asset_event_tags(connection, events, ids)
            # A key's row holds its last event of each kind: only these are written.
            last: dict[tuple[Any, Any], tuple[EventLogEntry, int]] = {}
            for row, event, number in zip(rows, events, ids, strict=True):
                kind = (row["asset_key"], row["dagster_event_type"])
                last.pop(kind, None)
                last[kind] = (event, number)
            for event, number in last.values():
                self._store_asset_event(connection, event, number)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock:
            engine = self._engine_of(shard)
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            with engine.begin() as connection:
                yield connection

    def _make_engine(self, shard: str) -> Engine:
        # Without a pool nothing stays open: what is kept are the compiled statements.
        return create_engine(
            self.conn_string_for_shard(shard),
            poolclass=NullPool,
            connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS},
        )


class HomeStorage(DagsterSqliteStorage):
    """Dagster's SQLite files of an instance, with our event log."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        own: SqliteEventLogStorage = self._event_log_storage
        self._event_log_storage = RangeEventLog(own._base_dir)

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Any) -> "HomeStorage":
        """Return the storage that a ``dagster.yaml`` asks for."""
        return cls.from_local(inst_data=inst_data, **config_value)


class HomeInstance(dg.DagsterInstance):
    """An instance whose records lie in SQLite as above, unless its ``dagster.yaml`` names another storage."""

    @staticmethod
    def config_schema() -> dict[str, Any]:
        """Return what the class adds to a ``dagster.yaml``: nothing."""
        return {}

    @staticmethod
    def config_defaults(base_dir: str) -> dict[str, ConfigurableClassData | None]:
        """Return what holds where a ``dagster.yaml`` in ``base_dir`` says nothing."""
        storage = ConfigurableClassData(__name__, "HomeStorage", yaml.dump({"base_dir": base_dir}))
        return {**InstanceRef.config_defaults(base_dir), "storage": storage}

    def _get_event_batch_size(self) -> int:
        return EVENTS_AT_ONCE


def open_instance(home: str) -> dg.DagsterInstance:
    """Open the instance of a folder; what its ``dagster.yaml`` says of storages and classes holds."""
    _, given_class = dagster_instance_config(home)
    own = {"module": __name__, "class": "HomeInstance"}
    overrides = {"instance_class": own} if given_class is None else {}
    return dg.DagsterInstance.from_ref(InstanceRef.from_dir(home, overrides=overrides))


def _is_asset_event(event: EventLogEntry) -> bool:
    if not event.is_dagster_event or event.dagster_event_type not in ASSET_EVENTS:
        return False
    return event.get_dagster_event().asset_key is not None


def _insert(connection: Connection, row: dict[str, Any]) -> int:
    done = connection.execute(SqlEventLogStorageTable.insert(), row)
    key = done.inserted_primary_key
    if key is None:
        raise RuntimeError("SQLite gave an event no number")
    number: int = key[0]
    return number
