"""The SIMT emulator: unmodified CUDA and HIP sources, compiled by the machine's C++ compiler and run on the CPU.

    program = build(source, filename="scale.cu", lanes=32, dialect="cuda", check=True, limits=limits, cache=directory)
    program.launch("scale", grid, block, (x, y, n))

- `build` compiles (cached by content) and loads; `CompileError` carries the candidate's own line, `CompilerUnusable`
  says that the machine's compiler does not build the emulator itself.
- `Program.launch` runs a kernel on numpy arrays; `Program.call` calls an exported host function that launches kernels
  itself; `Program.empty` makes guarded arrays used in place; `Program.register` tells the bounds of foreign memory;
  `Program.variable` is a device or constant variable; `Program.symbol` any address.
- What goes wrong in a kernel is a `Fault` (kind, kernel, block, thread, argument, byte offset, line), raised as
  `KernelFault`; code that launches outside of `launch` and `call` asks `Program.take_fault`.
- `find_unsupported` lists what cannot be emulated; `build` raises `Unsupported` for the first of them.
- `Program.set_mode("noop" | "raise")` knocks launches out, `Program.launches()` lists what was launched.

How it runs: one block at a time, one fiber a thread. A thread that ends without waiting hands its stack to the next
one, so a kernel without synchronisation is a plain loop. With `check`, the compiler puts a hook in front of every
memory access (thread-sanitizer instrumentation over a runtime of our own), which checks bounds exactly, and races and
uninitialised shared memory to the byte. The mode, the record of launches and the registry of memory belong to the
process; one launch runs at a time.

Importing this package imports neither numpy nor a compiler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.simt.compilation import build
    from kengine.simt.fault import (
        CompileError,
        CompilerMissing,
        CompilerUnusable,
        Fault,
        FaultKind,
        KernelFault,
        LaunchError,
        LaunchRefused,
        SimtError,
        Unsupported,
    )
    from kengine.simt.limits import DeviceLimits
    from kengine.simt.memory import Parameter
    from kengine.simt.program import Kernel, Program
    from kengine.simt.runtime import LaunchRecord, MemoryRecord
    from kengine.simt.unsupported import find_unsupported

_HOMES = {
    "build": "compilation",
    "find_unsupported": "unsupported",
    "DeviceLimits": "limits",
    "Program": "program",
    "Kernel": "program",
    "Parameter": "memory",
    "LaunchRecord": "runtime",
    "MemoryRecord": "runtime",
    **dict.fromkeys(
        (
            "Fault",
            "FaultKind",
            "KernelFault",
            "CompileError",
            "CompilerMissing",
            "CompilerUnusable",
            "LaunchError",
            "LaunchRefused",
            "SimtError",
            "Unsupported",
        ),
        "fault",
    ),
}

__all__ = [
    "CompileError",
    "CompilerMissing",
    "CompilerUnusable",
    "DeviceLimits",
    "Fault",
    "FaultKind",
    "Kernel",
    "KernelFault",
    "LaunchError",
    "LaunchRecord",
    "LaunchRefused",
    "MemoryRecord",
    "Parameter",
    "Program",
    "SimtError",
    "Unsupported",
    "build",
    "find_unsupported",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
