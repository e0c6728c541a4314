"""What was seen of one call, as it crosses from the process that made the call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class OperatorUse:
    """A framework's operator on data that descends from the call's inputs.

    kind: see `operators.find_kind`. cost: bytes read and written, or FLOPs over `operators.FLOPS_PER_BYTE` where that
    is more, over all calls.
    """

    name: str
    kind: str
    count: int
    cost: int


@dataclass(frozen=True)
class KernelUse:
    """A kernel that ran: how often, and the bytes of its distinct arguments over all launches."""

    name: str
    count: int
    nbytes: int


@dataclass(frozen=True)
class OutputOrigin:
    """Where one returned array comes from: inputs, kernels, memory of unknown origin; and who wrote to it last.

    older: its memory was there before the call, and is not an input's.
    """

    inputs: bool
    kernels: bool
    foreign: bool
    writer: str
    older: bool = False


@dataclass(frozen=True)
class Facts:
    """One call. input_bytes: of all inputs. exported_bytes: of those whose data the candidate took as Python's numbers.

    addressed_bytes: inputs whose address the candidate asked for. foreign_bytes: data of unknown origin that kernels
    read or that was returned. unwritten_bytes: memory that kernels read and nobody has been seen to write. opaque:
    operators of extensions, which are not looked into. threads: threads that the call started. libraries: shared
    libraries that it loaded. device_ns: kernels by the device's own trace, in nanoseconds. followed: False where
    nothing can be followed. moved: operators that only moved data of the inputs, for references that do nothing else.
    array_bytes: inputs that became numpy arrays on the host.
    """

    operators: tuple[OperatorUse, ...] = ()
    kernels: tuple[KernelUse, ...] = ()
    outputs: tuple[OutputOrigin, ...] = ()
    input_bytes: int = 0
    exported_bytes: int = 0
    addressed_bytes: int = 0
    foreign_bytes: int = 0
    unwritten_bytes: int = 0
    opaque: tuple[str, ...] = ()
    threads: int = 0
    libraries: tuple[str, ...] = ()
    device_ns: Mapping[str, int] = field(default_factory=dict)
    followed: bool = True
    moved: tuple[OperatorUse, ...] = ()
    array_bytes: int = 0
