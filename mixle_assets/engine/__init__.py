"""Run one function over many items: in this process, on a pool of worker processes, or on a cluster.

An engine never looks at what it runs, and never changes what comes out: only paths cross a process border.
"""

from mixle_assets.engine.cluster import RayEngine
from mixle_assets.engine.processes import ProcessEngine
from mixle_assets.engine.protocol import Engine, Outcome
from mixle_assets.engine.serial import SerialEngine

__all__ = ["Engine", "Outcome", "ProcessEngine", "RayEngine", "SerialEngine", "open_engine"]


def open_engine(kind: str, workers: int | None = None, *, ray_address: str | None = None) -> Engine:
    """Return the engine of that name.

    Args:
        kind: ``serial``, ``processes`` or ``ray``.
        workers: Number of worker processes; None means one per usable core, of this machine or of the
            cluster. One of ``processes`` is this process itself: a single worker would only take longer to
            start.
        ray_address: ``host:port`` of a Ray cluster; None takes ``$RAY_ADDRESS``, else this machine's.

    Raises:
        ValueError: There is no such engine, or ``workers`` is not positive.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be positive, got {workers}")
    if kind == "serial":
        return SerialEngine()
    if kind == "processes":
        return SerialEngine() if workers == 1 else ProcessEngine(workers)
    if kind == "ray":
        return RayEngine(workers, ray_address)
    raise ValueError(f"engine must be serial, processes or ray, got {kind!r}")
