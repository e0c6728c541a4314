"""Warming up: in the zygote everything that needs no device, in a standby runner the device itself."""

from __future__ import annotations

import contextlib
from typing import Literal

from kengine.errors import TargetUnavailable
from kengine.model import Target
from kengine.native import cache
from kengine.native.warm import import_all, rehearse

from kengine_hip import toolchain
from kengine_hip.targets import EMULATORS


def warm_up(target: Target) -> bool:
    """Import torch (one thread); build the emulator's parts, or find the compiler for a chip."""
    import_all()
    from kengine_hip import compile, launch  # noqa: F401

    if target.arch in EMULATORS:
        chip = EMULATORS[target.arch]
        lanes: Literal[32, 64] = 64 if chip.lanes == 64 else 32
        other: Literal[32, 64] = 32 if lanes == 64 else 64
        cache.prepare(other, "hip")  # answers are compared between both widths
        rehearse("hip", lanes, chip.arch)
    else:
        # What is missing is said by the first compile.
        with contextlib.suppress(TargetUnavailable):
            toolchain.find_toolchain()
            _share()
    return True


def open_device(target: Target) -> bool:
    """Open the device's context; nothing to do where there is no device."""
    if target.arch in EMULATORS:
        return True
    import torch

    if torch.cuda.is_available() and getattr(torch.version, "hip", None):
        torch.zeros(16, device="cuda").add_(1)
        torch.cuda.synchronize()
    return True


def _share() -> None:
    """Let runners read the compiler, its headers and libraries, which lie in packages of the environment."""
    from kengine.runner.sandbox import paths

    found = toolchain.find_toolchain()
    paths.share(str(found.root))
    if found.libraries is not None:
        paths.share(str(found.libraries))
