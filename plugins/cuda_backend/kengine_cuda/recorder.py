"""The driver for a chip that is not here: sources are really compiled for it, launches are noted and do nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kengine.errors import CandidateFault
from kengine.model import Candidate
from kengine.native import observe
from kengine.native.driver import Configuration, Dialect, Unit
from kengine.native.signature import find_mismatch

from kengine_cuda import occupancy
from kengine_cuda.chips import Chip
from kengine_cuda.toolchain.compiler import Binary, Style, compile_unit


@dataclass
class Seen:
    """One kernel that was launched, with the largest block and the most shared memory that it was launched with."""

    name: str
    binary: Binary
    threads: int = 0
    shared: int = 0


class Recorder:
    """Compiles for one chip. See `kengine.native.driver.Driver`. `seen`: kernels by their mangled name."""

    dialect: Dialect = "cuda"
    computes = False
    device = "cpu"

    def __init__(self, chip: Chip, candidate: Candidate, workdir: Path) -> None:
        self.chip = chip
        self.figures = chip.figures
        self.candidate = candidate
        self.workdir = workdir
        self.binaries: list[Binary] = []
        self.seen: dict[str, Seen] = {}

    def begin(self, inputs: Iterable[Any]) -> None:
        """Nothing depends on the call."""

    def build(self, unit: Unit) -> RecordedModule:
        """Compile a source for the chip. Raises CandidateFault."""
        return self.compile(unit, "plain" if self.candidate.language == "python" and not unit.whole else "file")

    def compile(self, unit: Unit, style: Style) -> RecordedModule:
        """The same for a source of any style. Raises CandidateFault."""
        try:
            binary = compile_unit(unit, self.chip, self.workdir, self.candidate.main.path, style)
        except CandidateFault as fault:
            raise observe.current().failed(fault) from None
        self.binaries.append(binary)
        return RecordedModule(self, unit, binary)

    @contextmanager
    def surroundings(self, lenient: bool) -> Iterator[None]:
        """A pretended device with memory of zeros, and the facade of CuPy."""
        from kengine.native.cupy import install
        from kengine.pretence import pretend

        from kengine_cuda.extension import replace

        with ExitStack() as stack:
            stack.enter_context(replace(self))
            stack.enter_context(install(self, self.candidate.main.text))
            stack.enter_context(pretend(self.figures, poison=False, lenient=lenient))
            yield

    def synchronize(self) -> None:
        """Nothing runs."""


@dataclass
class RecordedModule:
    """One compiled source."""

    driver: Recorder
    unit: Unit
    binary: Binary
    variables: dict[str, Any] = field(default_factory=dict)

    def kernels(self) -> tuple[str, ...]:
        """Names of its kernels and of the instances that were asked for."""
        return tuple(self.binary.symbols)

    def launch(self, name: str, configuration: Configuration, arguments: Sequence[Any], strict: bool) -> None:
        """Note a launch. Raises CandidateFault when the chip would refuse it, LaunchRefused."""
        observation = observe.current()
        if not observation.starts(name):
            return
        symbol = self.binary.symbols.get(name)
        if symbol is None:
            known = ", ".join(self.binary.symbols) or "none"
            fault = CandidateFault("launch_failed", f"{self.unit.filename} has no kernel {name!r}; it has {known}")
            raise observation.failed(fault)
        mismatch = find_mismatch(self.unit.text, name, arguments)
        if mismatch:
            raise observation.failed(CandidateFault("launch_failed", mismatch))
        x, y, z = configuration.block
        seen = self.driver.seen.setdefault(symbol, Seen(name, self.binary))
        seen.threads, seen.shared = max(seen.threads, x * y * z), max(seen.shared, configuration.shared)
        usage = self.binary.usage[symbol]
        chip = self.driver.chip
        problem = occupancy.refusal(chip, usage.registers, usage.shared + configuration.shared, x * y * z)
        if problem:
            fault = CandidateFault("launch_failed", f"launch limit: {problem} [kernel {name}, {chip.arch}]")
            raise observation.failed(fault)
        observation.completed(name, configuration.grid)

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """Host functions of a bare file are not run for a chip that is not here; all kernels were compiled."""
        return None

    def symbol(self, name: str) -> tuple[int, int]:
        """Address and size of memory that stands in for a device variable; nothing ever reads it."""
        import numpy as np

        if name not in self.variables:
            if name not in self.unit.text:
                raise KeyError(name)
            self.variables[name] = np.zeros(1 << 16, np.uint8)
        memory = self.variables[name]
        return int(memory.ctypes.data), int(memory.nbytes)
