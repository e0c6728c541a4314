"""What nodes of a Ray cluster have, what an actor leases of them, and whether a node has what this machine has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from kengine import __version__
from kengine.engine import selection
from kengine.errors import BackendNotFound, KengineError, TargetUnavailable, UsageError
from kengine.model import Target, TargetInfo

if TYPE_CHECKING:
    from kengine.config import Plan
    from kengine.plugins.backend import Backend

MAX_SLOTS = 8
"""Most candidates side by side in one actor, unless more are asked for: they share one judge."""


def find_lease(
    ray: Any, backend: Backend, target: str | None, plan: Plan, asked: Mapping[str, float] | None
) -> dict[str, float]:
    """What an actor leases beside its CPUs: what was asked for, else a GPU where the target is on one.

    Raises UsageError for a device that Ray does not count as GPU, and for a target that there is not.
    """
    infos = backend.targets() if target is None else (selection.find(backend, Target.parse(target)),)
    if asked is not None:
        wrong = {name: amount for name, amount in asked.items() if amount <= 0}
        if wrong:
            raise UsageError(f"lease: want amounts above 0, got {wrong}")
        return dict(asked)
    devices = [info for info in infos if not info.emulated]
    if not plan.check or not devices:
        return {}
    if target is not None:
        check_lease(infos[0], {"GPU": 1} if infos[0].device == "cuda" else {})
        return {"GPU": 1}
    return {"GPU": 1} if any(i.device == "cuda" for i in devices) and ray.cluster_resources().get("GPU", 0) else {}


def check_lease(info: TargetInfo, lease: Mapping[str, float]) -> None:
    """Raise UsageError for a device that nothing was leased of: two actors would share it and never know."""
    if not info.emulated and not lease:
        raise UsageError(
            f"{info.target} is a device, and which resource of a Ray node that is cannot be told: "
            "say what one actor leases, for instance executor=Cluster(lease={'neuron_cores': 1})"
        )


def find_shape(
    nodes: Sequence[Mapping[str, Any]], lease: Mapping[str, float], slots: int | None, workers: int | None
) -> tuple[dict[str, float], int, int]:
    """Resources of one actor, candidates side by side in it, and how many actors there are to be.

    Raises TargetUnavailable when no node has room; with both slots and workers given, an autoscaler may yet bring it.
    """
    for name, value in (("slots", slots), ("workers", workers)):
        if value is not None and value < 1:
            raise UsageError(f"{name}: want at least 1, got {value}")
    shares = []
    for node in nodes:
        have = node["Resources"] if node["Alive"] else {}
        devices = min((int(have.get(name, 0) // amount) for name, amount in lease.items()), default=1)
        cpus = int(have.get("CPU", 0))
        if devices and cpus:
            shares.append((devices, cpus))
    chosen = slots or min(MAX_SLOTS, *(max(1, cpus // devices) for devices, cpus in shares), MAX_SLOTS)
    chosen = min(chosen, workers or chosen)
    room = sum(min(devices if lease else cpus, cpus // chosen) for devices, cpus in shares)
    wanted = ceil(workers / chosen) if workers else room
    count = wanted if slots and workers else min(room, wanted)
    whole = {**lease, "CPU": chosen}
    if not count:
        raise TargetUnavailable(f"no node of the Ray cluster has {write(whole)} to lease; it has {describe(nodes)}")
    return whole, chosen, count


def describe(nodes: Sequence[Mapping[str, Any]]) -> str:
    """Write what the living nodes have, without Ray's own marks and its memory."""
    texts = []
    for node in nodes:
        if node["Alive"]:
            have = {k: v for k, v in sorted(node["Resources"].items()) if ":" not in k and "memory" not in k}
            texts.append(f"{node['NodeManagerAddress']} with {write(have)}")
    return "; ".join(texts) or "no node"


def write(resources: Mapping[str, float]) -> str:
    """Write resources: `CPU 4, GPU 1`."""
    return ", ".join(f"{name} {amount:g}" for name, amount in sorted(resources.items())) or "nothing"


def name(nodes: Sequence[Mapping[str, Any]], id: str) -> str:
    """Name a node for a person: its name or host name, and its address."""
    for node in nodes:
        if node["NodeID"] == id:
            address = node["NodeManagerAddress"]
            own = node.get("NodeName") or address
            return f"node {own if own != address else node['NodeManagerHostname']} ({address})"
    return f"node {id[:12]}"


def check(where: str, answer: Mapping[str, Any], backend: Backend) -> None:
    """Raise the KengineError, with the node's name, of a node that lacks a package or cannot judge."""
    core, shipped = f"kernel-engine {__version__}", f"{backend.distribution} {backend.version}"
    if not answer["kengine"]:
        problem = f"{where}: kengine is missing there ({answer['problem']}); {_install(core)}"
        raise BackendNotFound(problem, backend.name, "kernel-engine")
    if answer["kengine"] != __version__:
        raise TargetUnavailable(
            f"{where}: has kernel-engine {answer['kengine']}, and this machine {__version__}: "
            f"two versions may judge differently; {_install(core)}"
        )
    error = answer["error"]
    if isinstance(error, BackendNotFound):
        raise BackendNotFound(
            f"{where}: the backend {backend.name!r} is missing there; this machine has it from {shipped}; "
            f"{_install(shipped)}",
            backend.name,
            backend.distribution,
        )
    if answer["backend"] and answer["backend"] != shipped:
        raise TargetUnavailable(
            f"{where}: has the backend {backend.name!r} from {answer['backend']}, and this machine from {shipped}: "
            f"two versions may judge differently; {_install(shipped)}"
        )
    if isinstance(error, KengineError):
        error.args = (f"{where}: {error}", *error.args[1:])
        raise error


def write_versions(info: TargetInfo) -> str:
    """Write the versions of a toolchain."""
    return ", ".join(f"{package} {version}" for package, version in sorted(info.versions.items())) or "no toolchain"


def _install(shipped: str) -> str:
    wanted = "==".join(shipped.rsplit(" ", 1))
    return f"install {wanted} on that node, or have Ray do it: ray.init(runtime_env={{'pip': ['{wanted}']}})"
