"""What loads device code and launches it: the emulator, a real device, or a compiler that only looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from kengine.native.lines import LineMap
from kengine.pretence import Figures

Dialect = Literal["cuda", "hip"]


@dataclass(frozen=True)
class Unit:
    """One device source as the candidate gave it.

    options: compiler options in the vendor's spelling. instances: template kernels by name (`scale<float>`).
    exports: host functions that are called by name. whole: host code is allowed beside the device's.
    """

    text: str
    filename: str
    lines: LineMap
    options: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class Configuration:
    """How a kernel is launched: blocks and threads along x, y, z, dynamic shared memory in bytes.

    max_shared: the kernel's raised limit of dynamic shared memory, None when nobody raised it.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0
    cooperative: bool = False
    max_shared: int | None = None


class Module(Protocol):
    """Loaded device code."""

    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels that can be launched."""

    def launch(self, name: str, configuration: Configuration, arguments: Sequence[Any], strict: bool) -> None:
        """Launch a kernel and count it. Arrays are torch tensors, numpy arrays of the facade, addresses or None.

        strict: scalars keep the size that they have (numpy scalars; Python's int and float have 8 bytes), and what
        does not fit the signature is a fault; else they are converted to the types of the signature. Raises
        CandidateFault (launch_failed, timed_out, unsupported), LaunchRefused.
        """

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """Call a host function of the source, which launches for itself. Raises as `launch` does."""

    def symbol(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a device variable. Raises KeyError."""


class Driver(Protocol):
    """Makes modules.

    dialect: the language of its sources. figures: what host code is told of the device. computes: whether launches
    really run. device: where arrays lie, "cpu" or "cuda".
    """

    dialect: Dialect
    figures: Figures
    computes: bool
    device: str

    def begin(self, inputs: Iterable[Any]) -> None:
        """A new call of the candidate begins, on these arrays."""

    def build(self, unit: Unit) -> Module:
        """Compile and load a source. Raises CandidateFault (compile_failed with the candidate's line, unsupported)."""

    def surroundings(self, lenient: bool) -> AbstractContextManager[None]:
        """What candidate code must run inside of: a pretended device, replaced modules."""

    def synchronize(self) -> None:
        """Wait until everything that was launched has ended. Raises what went wrong there."""
