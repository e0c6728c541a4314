"""The driver that compiles for a chip that is not here: launches are written down, and compute nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kengine.errors import CandidateFault
from kengine.model import Candidate
from kengine.native import observe
from kengine.native.driver import Configuration, Dialect, Unit
from kengine.native.lines import locate
from kengine.native.signature import find_mismatch
from kengine.pretence import Figures

from kengine_hip import code_object, diagnostics, occupancy, source
from kengine_hip.chips import Chip
from kengine_hip.code_object import KernelCode
from kengine_hip.compiler import ChipUnknown, CodeObject, Refused, Surroundings, compile_source
from kengine_hip.demangle import demangle
from kengine_hip.figures import figures_of
from kengine_hip.options import device_options
from kengine_hip.toolchain import Toolchain, pip_problem, pip_toolchain

if TYPE_CHECKING:
    from kengine.extension.sources import SourceSet
    from kengine.extension.sources import Unit as ExtensionUnit


@dataclass
class Offline:
    """Compiles units for one chip. See `kengine.native.driver.Driver`."""

    chip: Chip
    toolchain: Toolchain
    candidate: Candidate
    workdir: Path
    modules: list[OfflineModule] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dialect: Dialect = "hip"
    computes: bool = False
    device: str = "cpu"
    figures: Figures = field(init=False)

    def __post_init__(self) -> None:
        self.figures = figures_of(self.chip)

    def begin(self, inputs: Iterable[Any] = ()) -> None:
        """Nothing depends on the call."""

    def end(self) -> None:
        """Nothing depends on it."""

    def give_up_checks(self) -> bool:
        """There are none."""
        return False

    def build(self, unit: Unit, headers: tuple[str, ...] = ()) -> OfflineModule:
        """Compile a source, with these headers of torch in front. Raises CandidateFault."""
        try:
            compiled = self._compile(unit, headers)
        except Refused as refusal:
            fault = diagnostics.explain(refusal.log, unit, self.chip, self.candidate.main.path)
            raise observe.current().failed(fault) from None
        except ChipUnknown as problem:
            raise observe.current().failed(CandidateFault("unsupported", str(problem))) from None
        module = OfflineModule(self.chip, unit, code_object.read_kernels(compiled.data), compiled.waves, compiled.data)
        self.modules.append(module)
        return module

    @contextmanager
    def surroundings(self, lenient: bool) -> Iterator[None]:
        """A pretended device for torch, and the facade of CuPy."""
        from kengine.native.cupy import install
        from kengine.native.unrun import collecting
        from kengine.pretence import pretend

        with ExitStack() as stack:
            stack.enter_context(collecting(self._extend, self.dialect))
            stack.enter_context(install(self, self.candidate.main.text))
            stack.enter_context(pretend(self.figures, poison=False, lenient=lenient))
            yield

    def synchronize(self) -> None:
        """Nothing runs."""

    def _extend(self, given: ExtensionUnit, sources: SourceSet) -> None:
        """Compile one device source of an extension of torch."""
        lines = locate(given.text, self.candidate.main.text)
        name = given.filename.replace(".cu", ".hip") if given.filename.endswith(".cu") else given.filename
        self.build(Unit(given.text, name, lines, tuple(sources.device_flags)), given.headers)

    def _compile(self, unit: Unit, headers: tuple[str, ...]) -> CodeObject:
        """The source without its host code; the whole of it where that is not enough to know what is launched."""
        if not source.has_host_code(unit.text):
            return self._compile_text(source.with_instances(unit.text, unit.instances), unit, ())
        part = source.without_host(unit.text)
        whole = source.with_instances(unit.text, unit.instances)
        try:
            text = source.with_instances(part.text, (*unit.instances, *part.instances))
            compiled = self._compile_text(text, unit, ())
        except Refused as refusal:
            try:
                return self._compile_text(whole, unit, headers)
            except Refused as second:
                # What the kernels alone are refused for may be host code that could not be told from them.
                raise (second if source.names_host(diagnostics.first_error(refusal.log, unit.filename)[0])
                       else refusal) from None  # fmt: skip
        if not part.unknown or unit.instances:
            return compiled
        try:
            return self._compile_text(whole, unit, headers)
        except Refused:
            self.notes.append(f"not compiled, since the text does not show their types: {', '.join(part.unknown)}")
            return compiled

    def _compile_text(self, text: str, unit: Unit, headers: tuple[str, ...]) -> CodeObject:
        try:
            return self._compile_with(self.toolchain, text, unit, headers)
        except ChipUnknown:
            # An older ROCm; the packages know every chip.
            if pip_problem():
                raise
            self.toolchain = pip_toolchain()
            return self._compile_with(self.toolchain, text, unit, headers)

    def _compile_with(self, toolchain: Toolchain, text: str, unit: Unit, headers: tuple[str, ...]) -> CodeObject:
        return compile_source(
            toolchain, self.chip, text, unit.filename, device_options(unit.options, self.workdir),
            self.workdir / ".kengine" / "hip",
            Surroundings(bool(headers) or source.needs_standard(text), source.is_cuda(unit.text), headers),
        )  # fmt: skip


@dataclass
class OfflineModule:
    """What one source was compiled to, and the launches that were asked for."""

    chip: Chip
    unit: Unit
    code: tuple[KernelCode, ...]
    waves: dict[str, int]
    data: bytes = b""
    configurations: dict[str, list[Configuration]] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)

    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels as they are written."""
        return tuple(demangle(kernel.name) for kernel in self.code)

    def launch(self, name: str, configuration: Configuration, arguments: Sequence[Any], strict: bool) -> None:
        """Write a launch down. Raises CandidateFault (launch_failed) for one that the chip would refuse, a kernel that
        is not there, or the wrong number of arguments."""
        observation = observe.current()
        if not observation.starts(name):
            return
        kernel = self.find(name)
        if kernel is None:
            known = ", ".join(self.kernels()) or "none"
            raise observation.failed(
                CandidateFault("launch_failed", f"{self.unit.filename} has no kernel {name!r}; it has {known}")
            )
        mismatch = find_mismatch(self.unit.text, name, arguments)
        if not mismatch and len(kernel.arguments) != len(arguments):
            mismatch = f"{name} takes {len(kernel.arguments)} arguments, {len(arguments)} given"
        if mismatch:
            raise observation.failed(CandidateFault("launch_failed", mismatch))
        threads = configuration.block[0] * configuration.block[1] * configuration.block[2]
        problem = occupancy.refusal(self.chip, kernel.threads, threads, kernel.shared + configuration.shared)
        if problem:
            raise observation.failed(
                CandidateFault("launch_failed", f"launch limit: {problem} [kernel {name}, {self.chip.arch}]")
            )
        self.configurations.setdefault(kernel.name, []).append(configuration)
        observation.completed(name, configuration.grid)

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """Host functions are not compiled for a chip that is not here; what they launch is described by itself."""
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

    def static_shared(self, name: str) -> int:
        """Bytes of the shared variables that a kernel declares itself."""
        kernel = self.find(name)
        return kernel.shared if kernel else 0

    def find(self, name: str) -> KernelCode | None:
        """The kernel of a name, with template arguments spelled in any spacing."""
        wanted = _spelled(name)
        return next((k for k in self.code if wanted in (_spelled(demangle(k.name)), k.name)), None)


def _spelled(name: str) -> str:
    return "".join(name.split())
