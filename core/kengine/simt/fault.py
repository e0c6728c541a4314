"""What can go wrong in an emulated kernel, as typed records and the exceptions that carry them."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from kengine.errors import TargetUnavailable


class FaultKind(enum.Enum):
    """The kinds of faults; the values are stable names."""

    OUT_OF_BOUNDS_READ = "out_of_bounds_read"
    OUT_OF_BOUNDS_WRITE = "out_of_bounds_write"
    SHARED_OUT_OF_BOUNDS = "shared_out_of_bounds"
    MISALIGNED = "misaligned"
    NULL = "null"
    DIVISION_BY_ZERO = "division_by_zero"
    STACK_OVERFLOW = "stack_overflow"
    BARRIER_DIVERGENCE = "barrier_divergence"
    DEADLOCK = "deadlock"
    BAD_SHUFFLE_MASK = "bad_shuffle_mask"
    UNINITIALISED_SHARED = "uninitialised_shared"
    ENDLESS_LOOP = "endless_loop"
    LAUNCH_LIMIT = "launch_limit"
    RACE_SHARED = "race_shared"
    RACE_GLOBAL = "race_global"
    ASSERT_FAILED = "assert_failed"


@dataclass(frozen=True)
class Fault:
    """One fault of a kernel.

    `block` and `thread` are (x, y, z) indices, None where the fault belongs to the launch as a whole. `argument` names
    the kernel's parameter or the shared variable, `byte_offset` counts from its start (negative in front of it).
    `line` is a line of the candidate's own source, None if unknown.
    """

    kind: FaultKind
    kernel: str
    block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    argument: str | None
    byte_offset: int | None
    file: str | None
    line: int | None
    message: str

    def __str__(self) -> str:
        where = [f"kernel {self.kernel}"] if self.kernel else []
        if self.block is not None:
            where.append("block ({},{},{})".format(*self.block))
        if self.thread is not None:
            where.append("thread ({},{},{})".format(*self.thread))
        if self.line is not None:
            where.append(f"{self.file}:{self.line}")
        return f"{self.kind.value}: {self.message} [{', '.join(where)}]"


class SimtError(Exception):
    """Anything the emulator raises."""


class CompilerMissing(SimtError, TargetUnavailable):
    """No C++ compiler was found on this machine."""


class CompilerUnusable(CompilerMissing):
    """The compiler that was found does not build kengine's own code. It says nothing against the candidate.

    `log` is the compiler's whole output.
    """

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class CompileError(SimtError):
    """The candidate does not compile. `line` is its own line of the first error, `log` the compiler's whole output."""

    def __init__(self, message: str, line: int | None, log: str) -> None:
        super().__init__(message)
        self.message, self.line, self.log = message, line, log


class LaunchError(SimtError):
    """A launch that does not fit the kernel: unknown name, wrong number or type of arguments."""


class Unsupported(SimtError):
    """The emulator cannot run this. It says nothing against the candidate."""

    def __init__(self, construct: str, line: int | None = None) -> None:
        super().__init__(f"{construct} (line {line})" if line else construct)
        self.construct, self.line = construct, line


class KernelFault(SimtError):
    """A kernel went wrong; `fault` says how and where."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


class LaunchRefused(SimtError):
    """A kernel was launched while launches are set to raise."""
