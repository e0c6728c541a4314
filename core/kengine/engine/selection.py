"""Which target judges: the one asked for, or the backend's device, or its emulator."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from kengine.errors import TargetUnavailable, UsageError
from kengine.model import Capability, Target, TargetInfo
from kengine.plugins import backend as backends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kengine.plugins.backend import Backend


def choose(
    backend: str | None, target: str | None, device_only: bool, need: Capability = Capability.launch
) -> tuple[Backend, TargetInfo]:
    """Pick the backend and the target that launches (or compiles, when `need` says so).

    Raises UsageError when nothing or something unknown was asked for, TargetUnavailable when it cannot do so here.
    """
    if target is not None:
        wanted = Target.parse(target)
        if backend is not None and backend != wanted.backend:
            raise UsageError(f"target {target} belongs to the backend {wanted.backend!r}, asked for was {backend!r}")
        loaded = backends.load(wanted.backend)
        info = find(loaded, wanted)
        if need not in info.capabilities:
            reason = info.reasons.get(need.value, "no reason given")
            raise TargetUnavailable(f"{wanted} cannot {need} here: {reason}{_instead(loaded, info, need)}")
        if device_only and info.emulated:
            raise TargetUnavailable(f"{wanted} is an emulator, and only a device was asked for")
        return loaded, info
    if backend is None:
        raise UsageError("no backend given: --backend NAME or --target BACKEND:ARCH; `kengine backends` lists them")
    loaded = backends.load(backend)
    return loaded, _default(loaded, device_only, need)


def find(backend: Backend, target: Target) -> TargetInfo:
    """The target's description. Raises UsageError with the list of what there is."""
    infos = {info.target: info for info in backend.targets()}
    if target in infos:
        return infos[target]
    names = sorted(str(t) for t in infos)
    close = get_close_matches(str(target), names, 1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise UsageError(f"unknown target {target}{hint}; the backend {backend.name!r} has: {', '.join(names)}")


def find_all(backend: Backend, targets: Sequence[str]) -> tuple[Target, ...]:
    """Parse and check targets to compile for; a bare architecture belongs to the backend."""
    parsed = [Target.parse(t if ":" in t else f"{backend.name}:{t}") for t in targets]
    for target in parsed:
        info = find(backend, target)
        if Capability.compile not in info.capabilities:
            raise TargetUnavailable(f"{target} cannot compile here: {info.reasons.get('compile', 'no reason given')}")
    return tuple(parsed)


def _default(backend: Backend, device_only: bool, need: Capability) -> TargetInfo:
    able = [info for info in backend.targets() if need in info.capabilities]
    devices = [info for info in able if not info.emulated]
    if devices:
        return devices[0]
    if device_only:
        raise TargetUnavailable(f"no device for the backend {backend.name!r} here: {_reasons(backend)}")
    if able:
        return able[0]
    raise TargetUnavailable(f"no target of the backend {backend.name!r} can {need} here: {_reasons(backend)}")


def _reasons(backend: Backend) -> str:
    infos = [info for info in backend.targets() if info.reasons.get("launch")]
    # Devices first: the reason of an emulator is seldom what a person asks about.
    infos.sort(key=lambda info: info.emulated)
    reasons = [f"{info.target}: {info.reasons['launch']}" for info in infos[:3]]
    return "; ".join(reasons) or "no reason given"


def _instead(backend: Backend, info: TargetInfo, need: Capability) -> str:
    emulators = [i.target for i in backend.targets() if i.emulated and Capability.launch in i.capabilities]
    if info.emulated or not emulators or need is not Capability.launch:
        return ""
    beside = f" --compile-for {info.target.arch}" if Capability.compile in info.capabilities else ""
    return f"; to judge without the device: --target {emulators[0]}{beside}"
