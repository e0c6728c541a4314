"""Beyond one machine: `Engine(executor="ray")` judges on the nodes of a Ray cluster.

Actors lease a device, or processors, and hold a local engine each. Ray places them and tells when one is lost; each
item goes to an actor that is free, and again to another one when its actor is lost before the verdict is here. Nothing
but verdicts that arrived counts, so none is lost and none is doubled, and all of them come together in one store.
"""

from __future__ import annotations

import importlib
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kengine.engine.ray_actors import Actors
from kengine.errors import UsageError
from kengine.model import Target

if TYPE_CHECKING:
    from kengine.config import Plan


@dataclass(frozen=True)
class Cluster:
    """Which Ray cluster judges, and what one of its actors leases: `Engine(executor=Cluster(...))`.

    address: of a cluster; None joins the one that this program has joined, or RAY_ADDRESS, or starts one here.
    slots: candidates side by side in one actor, one CPU each; None takes a node's processors, at most 8, for each
    device. lease: resources of one actor beside these CPUs; None takes a GPU for a target on a GPU, and nothing for
    an emulator. patience_s: seconds without any living actor before an item ends in WorkerLost.
    """

    address: str | None = None
    slots: int | None = None
    lease: Mapping[str, float] | None = None
    patience_s: float = 300.0


def connect(
    executor: str | Cluster,
    backend: str | None,
    target: str | None,
    compile_for: Sequence[str] | None,
    plan: Plan,
    workers: int | None,
) -> Actors:
    """Start the actors of an engine. Raises UsageError for an executor that there is not, and as `Actors` does."""
    cluster = Cluster() if executor == "ray" else executor
    if not isinstance(cluster, Cluster):
        raise UsageError(f"executor is {executor!r}, allowed: 'local', 'ray', or a kengine.engine.ray.Cluster")
    name = _backend_name(backend, target)
    ray = _join(cluster)
    return Actors(ray, lambda: _leave(ray), cluster, name, backend, target, compile_for, plan, workers)


_lock = threading.Lock()
_joined = {"engines": 0, "ours": 0}


def _join(cluster: Cluster) -> Any:
    """Ray, joined to a cluster. Raises UsageError when it is not installed or cannot be reached."""
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(f"executor 'ray' needs Ray ({error}): pip install 'kernel-engine[ray]'") from None
    with _lock:
        if not ray.is_initialized():
            _knock(cluster.address)
            try:
                ray.init(address=cluster.address, include_dashboard=None if cluster.address else False)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise UsageError(f"no Ray cluster at {cluster.address or 'RAY_ADDRESS'}: {error}") from error
            _joined["ours"] = 1
        _joined["engines"] += 1
    return ray


def _knock(address: str | None) -> None:
    """Raise UsageError when nobody listens at an address: Ray itself would try for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise UsageError(f"no Ray cluster at {address}: {error}") from None


def _leave(ray: Any) -> None:
    """Shut Ray down with the last engine, if it was an engine that joined the cluster."""
    with _lock:
        _joined["engines"] -= 1
        if _joined["ours"] and not _joined["engines"]:
            _joined["ours"] = 0
            with suppress(Exception):
                ray.shutdown()


def _backend_name(backend: str | None, target: str | None) -> str:
    if target is None:
        if backend is None:
            raise UsageError("no backend given: backend=NAME or target=BACKEND:ARCH; `kengine backends` lists them")
        return backend
    wanted = Target.parse(target)
    if backend is not None and backend != wanted.backend:
        raise UsageError(f"target {target} belongs to the backend {wanted.backend!r}, asked for was {backend!r}")
    return wanted.backend
