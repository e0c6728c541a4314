"""The driver that really launches: see `kengine.native.driver.Driver`."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kengine.device import graphs
from kengine.device.trace import launching, tracing
from kengine.errors import CandidateFault
from kengine.model import Candidate
from kengine.native import observe
from kengine.native.driver import Configuration, Dialect, Unit
from kengine.native.forms import Form, find_form
from kengine.native.signature import find_parameters
from kengine.runner import watch

from kengine_cuda.chips import Chip
from kengine_cuda.device import arguments, operators
from kengine_cuda.device.context import DriverError, LoadedBinary
from kengine_cuda.recorder import Seen
from kengine_cuda.toolchain.compiler import Binary, compile_unit

if TYPE_CHECKING:
    from kengine.extension import Extension


class Device:
    """The device of this machine. `binaries`, `seen`: what was compiled and launched, for the artifact.

    texts, generated, extensions: sources of kernels, names of those that CuPy generates, and extensions of torch, that
    the candidate has made.
    """

    dialect: Dialect = "cuda"
    computes = True
    device = "cuda"

    def __init__(self, chip: Chip, candidate: Candidate, workdir: Path) -> None:
        self.chip = chip
        self.figures = chip.figures
        self.candidate = candidate
        self.workdir = workdir
        self.binaries: list[Binary] = []
        self.seen: dict[str, Seen] = {}
        self.texts: list[str] = []
        self.generated: list[str] = []
        self.extensions: list[Extension] = []
        self._call = ExitStack()
        if find_form(candidate) is Form.cupy and importlib.util.find_spec("cupy") is None:
            raise CandidateFault("unsupported", "no module cupy, which kernels of CuPy need: pip install cupy-cuda13x")

    def begin(self, inputs: Iterable[Any]) -> None:
        """A new call of the candidate begins: where it is followed, the device is traced until it ends."""
        self._call.close()
        self._call.enter_context(tracing())

    def build(self, unit: Unit) -> DeviceModule:
        """Compile and load the source of a bare file. Raises CandidateFault."""
        try:
            binary = compile_unit(unit, self.chip, self.workdir, self.candidate.main.path, "file")
        except CandidateFault as fault:
            raise observe.current().failed(fault) from None
        self.binaries.append(binary)
        self.texts.append(unit.text)
        return DeviceModule(self, unit, binary)

    @contextmanager
    def surroundings(self, lenient: bool) -> Iterator[None]:
        """CuPy's kernels and extensions of torch, watched."""
        from kengine_cuda.device import cupy, extension

        with ExitStack() as stack:
            stack.enter_context(cupy.watch(self))
            stack.enter_context(extension.watch(self))
            stack.callback(self._call.close)
            yield

    def synchronize(self) -> None:
        """Wait for the device. Raises CandidateFault with what went wrong there."""
        from kengine.device import streams

        try:
            streams.wait()
        except RuntimeError as error:
            names = ", ".join(dict.fromkeys(launch.kernel for launch in observe.current().launches[-5:]))
            text = str(error).strip().split("\n")[0]
            fault = CandidateFault("launch_failed", f"{text} [kernels launched before: {names or 'none'}]", str(error))
            raise observe.current().failed(fault) from None


class DeviceModule:
    """One source, compiled and loaded."""

    def __init__(self, driver: Device, unit: Unit, binary: Binary) -> None:
        self.driver, self.unit, self.binary = driver, unit, binary
        with _translated():
            self._loaded = LoadedBinary(binary.image)

    def kernels(self) -> tuple[str, ...]:
        """Names of its kernels and of the instances that were asked for."""
        return tuple(self.binary.symbols)

    def launch(self, name: str, configuration: Configuration, values: Sequence[Any], strict: bool) -> None:
        """Launch a kernel; see `kengine.native.driver.Module`."""
        observation = observe.current()
        if not observation.starts(name):
            return
        symbol = self.binary.symbols.get(name)
        if symbol is None:
            known = ", ".join(self.binary.symbols) or "none"
            raise observation.failed(CandidateFault("launch_failed", f"no kernel {name!r}; there are {known}"))
        x, y, z = configuration.block
        seen = self.driver.seen.setdefault(symbol, Seen(name, self.binary))
        seen.threads, seen.shared = max(seen.threads, x * y * z), max(seen.shared, configuration.shared)
        with _translated():
            sizes = self._loaded.parameter_sizes(symbol)
            made = arguments.pack(name, find_parameters(self.unit.text, name) or (), sizes, values)
            given = [*values, *watch.blocks(v for v in values if type(v) is int)]
            with launching(name, given):
                self._loaded.launch(symbol, configuration, made)
        if not graphs.captured(name, configuration.grid, lambda: operators.memory(given)):
            observation.completed(name, configuration.grid)

    def call(self, name: str, values: Sequence[Any]) -> Any:
        """Host functions of bare files have no way to be called on a device yet."""
        problem = "a host function of a bare file is not called on a device; use a launch block or load_inline"
        raise observe.current().failed(CandidateFault("unsupported", problem))

    def symbol(self, name: str) -> tuple[int, int]:
        """Address and size of a device variable. Raises KeyError."""
        return self._loaded.symbol(name)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (DriverError, arguments.ArgumentError) as error:
        raise observe.current().failed(CandidateFault("launch_failed", str(error))) from None
