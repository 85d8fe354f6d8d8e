"""A Ray cluster as engine: the items run on its nodes, and a node that dies costs only what it was at.

The cluster is there already and is found by its address; starting machines is not our business. Every node
needs this package, the user's own taggers, and the same view of root and documents: an object store, or a
file system that all of them mount.
"""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from mixle_assets.engine.processes import ONE_THREAD_EACH
from mixle_assets.engine.protocol import Outcome, run_one, without_collector
from mixle_assets.errors import MixleError, RecipeError, ShardError

Item = TypeVar("Item")
Result = TypeVar("Result")

ADDRESS_VARIABLE = "RAY_ADDRESS"
IN_FLIGHT_PER_WORKER = 2
"""Items handed to the cluster per CPU: one at work, and one so that nobody waits for us."""
# Nodes are taken away for reasons that are no item's fault, so there is one try more than on one machine.
ATTEMPTS_PER_ITEM = 3
_SECONDS_BETWEEN_LOOKS = 1.0


class RayEngine:
    """Runs items on an existing Ray cluster, one item per CPU.

    The connection is made by the first ``run`` and kept until the ``with`` block ends; outside of one, each
    ``run`` connects anew. Where the program has connected to Ray itself, that connection is used and left.

    Args:
        workers: Items at work at a time; None means one per CPU of the cluster.
        address: ``host:port`` of the cluster's head; None takes ``$RAY_ADDRESS``, else this machine's.
    """

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.workers = workers
        self.address = address or os.environ.get(ADDRESS_VARIABLE) or "auto"
        self._keeps_connection = False
        self._connected = False

    def __enter__(self) -> RayEngine:
        self._keeps_connection = True
        return self

    def __exit__(self, *error: object) -> None:
        self._keeps_connection = False
        self._disconnect()

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Generator[Outcome[Result], None, None]:
        """See ``Engine.run``; ``function`` and the items must pickle, so the function stands in a module.

        An item whose worker or node died is tried again, three times in all.

        Raises:
            RecipeError: ``ray`` is not installed here, or there is no cluster at the address.
        """
        if not items:
            return
        ray = self._connect()
        remote = ray.remote(num_cpus=1, max_retries=0)(_run_item)
        pending = deque((index, 1) for index in range(len(items)))
        in_flight: dict[Any, tuple[int, int]] = {}
        try:
            while pending or in_flight:
                limit = self.workers or IN_FLIGHT_PER_WORKER * self._num_cpus(ray)
                while pending and len(in_flight) < limit:
                    index, attempt = pending.popleft()
                    in_flight[remote.remote(function, index, items[index])] = (index, attempt)
                ready, _ = ray.wait(list(in_flight), timeout=_SECONDS_BETWEEN_LOOKS)
                for reference in ready:
                    index, attempt = in_flight.pop(reference)
                    outcome = _outcome_of(ray, reference, index, attempt)
                    if outcome is None:
                        pending.appendleft((index, attempt + 1))
                    else:
                        yield outcome
        finally:
            for reference in in_flight:
                ray.cancel(reference, force=True)
            if not self._keeps_connection:
                self._disconnect()

    def _connect(self) -> Any:
        # Ray prints news of dying workers on standard output, which is the command's; ours say it again.
        os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
        try:
            import ray
        except ImportError as error:
            raise RecipeError(
                "the engine ray needs the package: pip install 'mixle_assets[ray]'", key="execution.engine"
            ) from error
        if ray.is_initialized():
            return ray
        try:
            _knock(self.address)
            ray.init(
                address=self.address,
                namespace="mixle_assets",
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": ONE_THREAD_EACH},
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise RecipeError(
                f"no Ray cluster can be reached at {self.address!r}: {error}", key="execution.ray_address"
            ) from error
        self._connected = True
        return ray

    def _disconnect(self) -> None:
        if self._connected:
            import ray

            ray.shutdown()
            self._connected = False

    def _num_cpus(self, ray: Any) -> int:
        """Return the CPUs of the nodes that are alive now: nodes come and go."""
        return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _run_item(function: Callable[[Any], Any], index: int, item: Any) -> Outcome[Any]:
    """Run one item in a worker of the cluster; as in ``worker``, the collector rests while it does."""
    with without_collector():
        return run_one(function, index, item)


def _knock(address: str) -> None:
    """Raise an ``OSError`` if nobody listens at ``host:port``; Ray itself takes minutes to say so."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _outcome_of(ray: Any, reference: Any, index: int, attempt: int) -> Outcome[Any] | None:
    """Return how an item ended, or None if its worker or node died and it may be tried again."""
    from ray.exceptions import RayError, RayTaskError

    try:
        outcome: Outcome[Any] = ray.get(reference)
    except RayTaskError as error:
        # ``run_one`` hands back every error of the function: this is a node that cannot import it.
        return Outcome(index, error=ShardError(f"a node of the cluster could not start the work: {error}"))
    except RayError as error:
        if attempt < ATTEMPTS_PER_ITEM:
            return None
        first = str(error).strip().split("\n", 1)[0]
        died: MixleError = ShardError(
            f"the worker process or its node died ({type(error).__name__}: {first}), {attempt} times on this "
            "piece of work; memory is the usual reason: use smaller shards, or fewer CPUs per node"
        )
        return Outcome(index, error=died)
    return outcome
