"""Warming up: in the zygote everything that needs no device, in a standby runner the device itself."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from kengine.model import Target
from kengine.native.cache import VARIABLE
from kengine.native.driver import Unit
from kengine.native.lines import locate
from kengine.native.warm import KERNEL, import_all, rehearse, temporary_folder

from kengine_cuda.chips import EMULATED, Chip, find


def warm_up(target: Target) -> bool:
    """Import torch (one thread) and the parts of kengine; build the emulator's parts, or compile one small kernel."""
    import_all()
    from kengine_cuda import compile, launch, occupancy, resources  # noqa: F401

    if target.arch == "cpu":
        rehearse("cuda", 32, EMULATED.arch)
        return True
    from kengine_cuda import extension, recorder, time  # noqa: F401

    _prepare_host_check()

    chip = find(target.arch)
    if chip is not None and VARIABLE not in os.environ:
        _rehearse(chip)
    elif chip is not None:
        _apart(lambda: _rehearse(chip))
        _prepare_device(chip.arch)
    return True


def open_device(target: Target) -> bool:
    """Open the device's context and launch one kernel; nothing to do for a target that is no device here."""
    if target.arch == "cpu" or VARIABLE not in os.environ:
        return True
    from kengine_cuda.device import open_context

    open_context()
    return True


def _prepare_host_check() -> None:
    """Precompile what the host code of extensions is parsed with; without a C++ compiler that can it is not."""
    from kengine.extension import Settings, warm
    from kengine.native import cache
    from kengine.simt import CompileError, CompilerMissing

    with contextlib.suppress(CompilerMissing, CompileError):
        folder = cache.parts_folder()
        warm(Settings(cache=folder))
        cache.publish(folder)


def _rehearse(chip: Chip) -> None:
    """Compile one small kernel, so that compiler and headers are in memory."""
    from kengine_cuda.toolchain.compiler import compile_unit

    with temporary_folder() as folder:
        unit = Unit(KERNEL, "increment.cu", locate(KERNEL, KERNEL))
        compile_unit(unit, chip, folder, "increment.cu", "plain")


def _apart(work: Callable[[], object]) -> None:
    """Do something in a fork of its own, whose end says nothing: NVRTC initialises the driver of a machine that has
    one, and no fork of a process in which that was done can open a device."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def _prepare_device(arch: str) -> None:
    """Build what extensions share on the device of this machine; without nvcc or a C++ compiler there are none."""
    from kengine.errors import TargetUnavailable
    from kengine.extension import Settings, warm
    from kengine.native import cache
    from kengine.simt import CompileError, CompilerMissing

    from kengine_cuda.device.interpose import find_library

    try:
        folder = cache.parts_folder()
    except CompilerMissing:
        return
    try:
        find_library(folder)
        warm(Settings(cache=folder, mode="nvcc", arch=arch))
    except (TargetUnavailable, CompileError):
        return
    finally:
        cache.publish(folder)
