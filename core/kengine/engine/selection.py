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


def why_not_compiled(backend: Backend, info: TargetInfo) -> str:
    """Why what an emulator launches is compiled for no chip of its backend; "" when one could, or there is none."""
    chips = [other for other in backend.targets() if not other.emulated]
    if not info.emulated or any(Capability.compile in chip.capabilities for chip in chips):
        return ""
    return "; ".join(_grouped(chips, Capability.compile).keys())


def how_to_time(backend: str | None, target: str | None, device_only: bool = False) -> str:
    """What is to be done where the chosen target cannot measure, as a sentence; "" when it can."""
    loaded, info = choose(backend, target, device_only)
    if Capability.time in info.capabilities:
        return ""
    able = [other.target for other in loaded.targets() if Capability.time in other.capabilities]
    if able:
        return f"here {', '.join(map(str, able))} can: --target {able[0]}"
    devices = [other for other in loaded.targets() if not other.emulated]
    reasons = _explain(devices, Capability.time) if devices else f"{loaded.name} has no target that measures"
    return (
        f"measuring needs a device ({reasons}); without one leave the timing out: `kengine verify`, and neither "
        "--time, --min-speedup nor time in the configuration"
    )


def _default(backend: Backend, device_only: bool, need: Capability) -> TargetInfo:
    able = [info for info in backend.targets() if need in info.capabilities]
    devices = [info for info in able if not info.emulated]
    if devices:
        # A device that is here; else the chip for which the emulator's verdicts are compiled.
        here = [info for info in devices if Capability.launch in info.capabilities]
        usual = {target for info in backend.targets() for target in info.companions}
        return (here or [info for info in devices if info.target in usual] or devices)[0]
    if device_only:
        chips = [info for info in backend.targets() if not info.emulated]
        raise TargetUnavailable(f"no device for the backend {backend.name!r} here: {_explain(chips, need)}")
    if able:
        return able[0]
    raise TargetUnavailable(
        f"no target of the backend {backend.name!r} can {need} here: {_explain(backend.targets(), need)}"
    )


def _explain(infos: Sequence[TargetInfo], need: Capability) -> str:
    """Each reason once, with its targets; that of an emulator first, for which mostly a package is missing."""
    groups = _grouped(sorted(infos, key=lambda info: not info.emulated), need)
    parts = [f"{_listed(targets)}: {reason}" for reason, targets in list(groups.items())[:3]]
    return "; ".join(parts) or "no reason given"


def _grouped(infos: Sequence[TargetInfo], need: Capability) -> dict[str, list[TargetInfo]]:
    """Targets by their reason; reasons that begin alike and differ in the chip they need are told by the beginning."""
    alike: dict[str, list[TargetInfo]] = {}
    for info in infos:
        if reason := info.reasons.get(need.value, ""):
            alike.setdefault(reason.partition("; ")[0], []).append(info)
    groups: dict[str, list[TargetInfo]] = {}
    for beginning, same in alike.items():
        reasons = {info.reasons[need.value] for info in same}
        groups[reasons.pop() if len(reasons) == 1 else beginning] = same
    return groups


def _listed(infos: Sequence[TargetInfo]) -> str:
    names = [f"{info.target} (emulator)" if info.emulated else str(info.target) for info in infos]
    return ", ".join(names) if len(names) < 5 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _instead(backend: Backend, info: TargetInfo, need: Capability) -> str:
    emulators = [i.target for i in backend.targets() if i.emulated and Capability.launch in i.capabilities]
    if info.emulated or not emulators or need is not Capability.launch:
        return ""
    beside = f" --compile-for {info.target.arch}" if Capability.compile in info.capabilities else ""
    return f"; to judge without the device: --target {emulators[0]}{beside}"
