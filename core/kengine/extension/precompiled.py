"""Torch's own headers, precompiled: what makes a build with them take half the time, once somebody has needed one.

A precompiled header serves one kind of unit (host, device, device with volatile accesses) and one way to build (CUDA or
HIP, lanes of a warp, with checks or without). A build that finds none makes do, and wishes for it; a zygote that offers
these builds them in the background then, for all who come later.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from kengine.errors import CandidateFault, InfraError
from kengine.extension import toolkit
from kengine.extension.settings import Settings
from kengine.runner import wishes
from kengine.simt import toolchain
from kengine.simt.fault import CompileError
from kengine.simt.toolchain import Mode, find_compiler, locked, run

NEEDED_BYTES = 4 << 30
"""Free space of the disk, and free memory, without which none is built in the background: they are for others first."""
WARM_SECONDS = 90.0
"""What building them may take while a process warms up; what is not done by then is built in the background."""
_BACKGROUND_SECONDS = 24 * 3600.0
_COMPILED = ("full.h.gch", "full.h.pch")

# What names both kinds of device comes before the bridge, which makes them one; device/ATen/AccumulateType.h steps out.
_EMULATED = """#include <torch/extension.h>
#define LIGHT_FULL_HEADERS 1
#include "@SIMT@/simt.h"
#include "kengine_full.h"
"""
# Conversions between torch's narrow types and the device's, and the device's names for the CPU.
_BRIDGE = """#pragma once
namespace at {
struct EmulatedContext : Context {
  static bool hasCUDA() { return true; }
  void lazyInitCUDA() {}
};
inline EmulatedContext& emulatedContext() { return static_cast<EmulatedContext&>(globalContext()); }
// Torch defines it for the compilers of device code only.
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};
}  // namespace at
#define globalContext() emulatedContext()
// Which torch, too, defines for those compilers only.
#undef C10_LAUNCH_BOUNDS_0
#undef C10_LAUNCH_BOUNDS_1
#undef C10_LAUNCH_BOUNDS_2
#define C10_LAUNCH_BOUNDS_0
#define C10_LAUNCH_BOUNDS_1(...)
#define C10_LAUNCH_BOUNDS_2(...)
#define is_cuda() is_cpu()
#define kCUDA kCPU
#define CUDA CPU
#define cuda(...) clone()
#define cpu() to(at::TensorOptions(), true, true)
"""


def full_flags(settings: Settings, is_device: bool, volatile: bool) -> list[str]:
    """Options with which a unit is compiled for the emulator with torch's own headers.

    CandidateFault (unsupported) where Python's headers are not installed.
    """
    mode = Mode(settings.lanes, settings.dialect == "hip", settings.check and is_device, is_device and volatile)
    own = [f for f in mode.flags() if f != "-fvisibility=hidden"]
    if not is_device:
        own = ["-O1" if f == "-O3" else f for f in own]
    if not find_compiler().is_clang:
        own.append("-fno-gnu-unique")  # shared variables of templates would be one for all extensions of the process
    return [
        *own,
        f"-std={toolkit.language()}",
        f"-I{toolkit.ROOT / 'device'}",
        f"-I{toolkit.ROOT}",
        f"-I{toolchain.SOURCES / 'include'}",
        *toolkit.torch_include(),
    ]


def header(settings: Settings, is_device: bool, volatile: bool, place: Path) -> Path:
    """The header that a unit includes by force: the precompiled one, else one written to `place`, and a wish for it."""
    ready = _folder(settings, full_flags(settings, is_device, volatile))
    if not _is_there(ready):
        wishes.wish(_name(settings, is_device, volatile))
        ready = place
        _write(place)
    return ready / "full.h"


def precompile(settings: Settings, seconds: float = toolchain.COMPILE_SECONDS) -> None:
    """Precompile torch's headers for emulated units, host and device: half a minute of a processor and 700 MB for each.

    Raises CompilerUnusable, InfraError where they are not done within `seconds`, OSError.
    """
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda is_device: _build(settings, is_device, False, until), (True, False)))


def offer(settings: Settings) -> None:
    """While a process warms up: let runners wish for them, or, where torch's own headers are the only ones, build them.

    Raises CompilerUnusable, OSError.
    """
    try:
        toolkit.torch_include()
    except CandidateFault:  # without Python's headers nothing can be built with torch's
        return
    kinds = ((False, False), (True, False), (True, True))
    for is_device, volatile in kinds:
        wishes.offer(_name(settings, is_device, volatile), partial(_build_later, settings, is_device, volatile))
    if _only_full(settings):
        try:
            precompile(settings, WARM_SECONDS)
        except InfraError:
            wishes.order(*(_name(settings, is_device, False) for is_device in (False, True)))


def _only_full(settings: Settings) -> bool:
    try:
        return settings.headers == "full"
    except CandidateFault:  # a word that every candidate will be told of
        return False


def _name(settings: Settings, is_device: bool, volatile: bool) -> str:
    """What a kind is wished for by. Host units have no checks."""
    kind = "host" if not is_device else "device-volatile" if volatile else "device"
    return f"full-{settings.dialect}-{settings.lanes}-{kind}{'-check' if settings.check and is_device else ''}"


def _build_later(settings: Settings, is_device: bool, volatile: bool) -> None:
    """Build one where the machine has room for it and for others."""
    if shutil.disk_usage(settings.shared).free >= NEEDED_BYTES and _free_memory() >= NEEDED_BYTES:
        _build(settings, is_device, volatile, time.monotonic() + _BACKGROUND_SECONDS)


def _free_memory() -> int:
    """Bytes of memory that the system can give without swapping; as much as is needed where it does not say."""
    with contextlib.suppress(OSError), open("/proc/meminfo", encoding="ascii") as file:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", file.read(), re.M)
        return int(found[1]) << 10 if found else NEEDED_BYTES
    return NEEDED_BYTES


def _build(settings: Settings, is_device: bool, volatile: bool, until: float) -> None:
    flags = full_flags(settings, is_device, volatile)
    folder = _folder(settings, flags)
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    compiler = find_compiler()
    compiled = folder / _COMPILED[compiler.is_clang]
    with locked(folder.with_suffix(".lock")):
        if compiled.exists():
            return
        _write(folder)
        part = compiled.with_suffix(".part")
        command = [*compiler.command, *flags, "-x", "c++-header", str(folder / "full.h"), "-o", str(part)]
        try:
            run(command, folder, max(0.1, until - time.monotonic()))
            part.chmod(0o644)  # runners are other users, whatever the umask is
            os.replace(part, compiled)
        except CompileError as error:
            if error.log:
                raise toolchain.unusable(error) from None
            raise InfraError(f"torch's own headers are not precompiled: {error.message}") from None
        finally:
            part.unlink(missing_ok=True)


def _folder(settings: Settings, flags: list[str]) -> Path:
    key = hashlib.sha256(repr((toolkit.identity(), flags, _EMULATED, _BRIDGE)).encode()).hexdigest()[:16]
    return settings.shared / f"full-{key}"


def _is_there(folder: Path) -> bool:
    return any((folder / name).exists() for name in _COMPILED)


def _write(folder: Path) -> None:
    # By its path: the emulator has a math.h, which must not stand in for the system's.
    text = _EMULATED.replace("@SIMT@", str(toolchain.SOURCES / "simt"))
    for name, content in (("full.h", text), ("kengine_full.h", _BRIDGE)):
        (folder / name).write_text(content, encoding="utf-8")
        (folder / name).chmod(0o644)
