"""A local AMD device: bare files by HIP's own runtime, Python files by CuPy for ROCm and torch for ROCm.

Kept thin, and written against the documentation: it has not been run on AMD hardware.
"""

from __future__ import annotations

import ctypes as c
import functools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kengine.device.trace import launching
from kengine.errors import CandidateFault, TargetUnavailable
from kengine.model import Artifact, Candidate, Mode, Target, TaskView
from kengine.native import definitions, observe
from kengine.native.driver import Configuration, Dialect, Unit
from kengine.native.forms import Form, find_form
from kengine.native.memory import find_place
from kengine.native.session import open_session
from kengine.native.signature import Declared, find_parameters
from kengine.plugins.hooks import Inputs
from kengine.runner import watch

from kengine_hip.chips import Chip
from kengine_hip.figures import figures_of
from kengine_hip.offline import Offline, OfflineModule
from kengine_hip.toolchain import find_toolchain

_NUMBERS: dict[str, Any] = {
    "float": c.c_float, "double": c.c_double, "bool": c.c_bool, "char": c.c_int8, "short": c.c_int16, "int": c.c_int32,
    "unsigned": c.c_uint32, "unsigned int": c.c_uint32, "long": c.c_int64, "long long": c.c_int64, "size_t": c.c_uint64,
    "int64_t": c.c_int64, "int32_t": c.c_int32, "uint32_t": c.c_uint32, "uint64_t": c.c_uint64,
    "unsigned long": c.c_uint64, "unsigned long long": c.c_uint64,
}  # fmt: skip


def compile_on_device(
    candidate: Candidate, view: TaskView, target: Target, chip: Chip, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Load the candidate over the device and call it once. Raises CandidateFault."""
    from kengine_hip.compile import describe

    device = Device(chip, candidate, workdir)
    session = open_session(candidate, view, target, device, workdir, samples)
    for sample in samples[:1]:
        session.call(sample, Mode.normal)
    found, log = describe(device.compiler)
    texts = [module.unit.text for module in device.compiler.modules]
    details = definitions.describe(texts, [], session.mapped, workdir)
    return Artifact(target, found, log=log, note="; ".join(device.compiler.notes), details=details)


class Device:
    """Launches on the current device. See `kengine.native.driver.Driver`."""

    dialect: Dialect = "hip"
    computes = True
    device = "cuda"

    def __init__(self, chip: Chip, candidate: Candidate, workdir: Path) -> None:
        try:
            self.compiler = Offline(chip, find_toolchain(), candidate, workdir)
        except TargetUnavailable as error:
            raise CandidateFault("unsupported", str(error)) from None
        self.figures = figures_of(chip)
        self.form = find_form(candidate)

    def begin(self, inputs: Iterable[Any]) -> None:
        """Nothing depends on the call."""

    def end(self) -> None:
        """Nothing depends on it."""

    def give_up_checks(self) -> bool:
        """There are none."""
        return False

    def build(self, unit: Unit) -> LoadedModule:
        """Compile a bare file and load it. Raises CandidateFault."""
        if self.form is Form.host:
            raise CandidateFault(
                "unsupported", "a bare file whose entry is a host function is not launched on an AMD device; "
                "give it a launch block, or use load_inline",
            )  # fmt: skip
        return LoadedModule(self.compiler.build(unit))

    @contextmanager
    def surroundings(self, lenient: bool) -> Iterator[None]:
        """CuPy's kernels are counted and knocked out as the mode wants; extensions are torch's own."""
        _watch_cupy()
        yield

    def synchronize(self) -> None:
        """Wait for the device."""
        from kengine.device import streams

        streams.wait()


class LoadedModule:
    """A code object in the current context."""

    def __init__(self, compiled: OfflineModule) -> None:
        import torch

        torch.cuda.synchronize()  # torch's context is made and current after this
        self._compiled = compiled
        self._image = c.create_string_buffer(compiled.data, len(compiled.data))
        self._module = c.c_void_p()
        _check(_runtime().hipModuleLoadData(c.byref(self._module), self._image), "loading the code object")

    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels as they are written."""
        return self._compiled.kernels()

    def launch(self, name: str, configuration: Configuration, arguments: Sequence[Any], strict: bool) -> None:
        """Launch on torch's stream. Raises CandidateFault (launch_failed), LaunchRefused."""
        import torch

        # Notes the launch, and refuses what the chip would.
        before = len(observe.current().launches)
        self._compiled.launch(name, configuration, arguments, strict)
        if len(observe.current().launches) == before and observe.current().mode is Mode.noop:
            return
        kernel = self._compiled.find(name)
        assert kernel is not None
        function = c.c_void_p()
        _check(
            _runtime().hipModuleGetFunction(c.byref(function), self._module, kernel.name.encode()), f"finding {name}"
        )
        declared = find_parameters(self._compiled.unit.text, name) or ()
        values = [pack(p, v) for p, v in zip(declared, arguments)]
        pointers = (c.c_void_p * max(1, len(values)))(*(c.addressof(value) for value in values))
        sizes = [c.c_uint(n) for n in (*configuration.grid, *configuration.block, configuration.shared)]
        stream = c.c_void_p(int(torch.cuda.current_stream().cuda_stream))
        with launching(name, [*arguments, *watch.blocks(a for a in arguments if type(a) is int)]):
            _check(_runtime().hipModuleLaunchKernel(function, *sizes, stream, pointers, None), f"launching {name}")

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """Raises CandidateFault (unsupported)."""
        raise CandidateFault("unsupported", f"the host function {name} of a bare file is not called on a device")

    def symbol(self, name: str) -> tuple[int, int]:
        """Address and size of a device variable. Raises KeyError."""
        address, size = c.c_void_p(), c.c_size_t()
        if _runtime().hipModuleGetGlobal(c.byref(address), c.byref(size), self._module, name.encode()):
            raise KeyError(name)
        return address.value or 0, size.value


def pack(parameter: Declared, value: Any) -> Any:
    """A ctypes value for one parameter. Raises CandidateFault (launch_failed) for what it cannot hold."""
    place = find_place(value)
    if place is not None and parameter.is_pointer:
        return c.c_uint64(place.address)
    if parameter.is_pointer and (value is None or type(value) is int):
        return c.c_uint64(value or 0)
    kind = _NUMBERS.get(" ".join(parameter.type.replace("const", " ").split()))
    if kind is None or place is not None or parameter.is_pointer:
        raise CandidateFault(
            "launch_failed", f"{type(value).__name__} cannot be passed as '{parameter.type} {parameter.name}'"
        )
    return kind(float(value) if kind in (c.c_float, c.c_double) else int(value))


@functools.lru_cache(maxsize=1)
def _runtime() -> Any:
    """HIP's runtime library. Raises CandidateFault (unsupported) where there is none."""
    try:
        return c.CDLL("libamdhip64.so")
    except OSError as error:
        raise CandidateFault("unsupported", f"HIP's runtime library cannot be loaded: {error}") from None


def _check(code: int, doing: str) -> None:
    if code:
        _runtime().hipGetErrorString.restype = c.c_char_p
        text = (_runtime().hipGetErrorString(code) or b"").decode(errors="replace")
        raise observe.current().failed(CandidateFault("launch_failed", f"{doing}: {text or code}"))


def _watch_cupy() -> None:
    """Count CuPy's launches, and leave them out or refuse them in the modes that say so."""
    import importlib.util

    if importlib.util.find_spec("cupy") is None:
        return
    import cupy

    for kind in ("RawKernel", "ElementwiseKernel", "ReductionKernel"):
        real = getattr(cupy, kind)
        if not getattr(real, "kengine_watched", False):
            setattr(cupy, kind, _watched(real))


def _places(values: Any) -> list[tuple[int, int]]:
    """Address and size of every array of CuPy in nested values."""
    found = [place for v in values if isinstance(v, (list, tuple)) for place in _places(v)]
    return [*found, *((int(v.data.ptr), int(v.nbytes)) for v in values if hasattr(getattr(v, "data", None), "ptr"))]


def _watched(real: Any) -> Any:
    class Watched:
        kengine_watched = True

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._kernel = real(*args, **kwargs)

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            name = str(getattr(self._kernel, "name", real.__name__))
            if not observe.current().starts(name):
                return None
            with launching(name, _places([args])):
                result = self._kernel(*args, **kwargs)
            grid = args[0] if args and isinstance(args[0], tuple) else ()
            observe.current().completed(name, tuple(n for n in grid if isinstance(n, int)))
            return result

        def __getattr__(self, name: str) -> Any:
            return getattr(self._kernel, name)

    return Watched
