"""CuPy's kernels on a device, watched: modes, counts, compiler errors with the candidate's lines, registers."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kengine.device import graphs
from kengine.device.trace import launching
from kengine.errors import CandidateFault
from kengine.native import faults, observe
from kengine.native.lines import locate

from kengine_cuda.device import operators
from kengine_cuda.toolchain.compiler import Binary
from kengine_cuda.toolchain.ptxas import Usage

if TYPE_CHECKING:
    from kengine_cuda.device.driver import Device

_KINDS = ("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel")
_ERROR = re.compile(r"(?P<file>[^\s(]+)\((?P<line>\d+)\): (?:catastrophic )?error\s*:?\s*(?P<text>.*)")


def install() -> bool:
    """Replace CuPy's kernel classes and operators by watched ones, for good; False without CuPy. It is done before what
    stands there is noted, so that it is not taken for a candidate's doing."""
    if importlib.util.find_spec("cupy") is None:
        return False
    import cupy

    if not issubclass(cupy.RawKernel, _Watched):
        for kind in _KINDS:
            setattr(cupy, kind, type(kind, (_Watched,), {"_real": getattr(cupy, kind)}))
        for stream in (cupy.cuda.Stream, cupy.cuda.ExternalStream):
            stream.begin_capture = _refuse_capture
        operators.install()
    return True


@contextmanager
def watch(device: Device) -> Iterator[None]:
    """Have what CuPy's kernel classes make from here on watched as this device's."""
    install()
    _Watched._device = device
    yield


class _Watched:
    """One kernel, module or function of CuPy; everything but calls goes through."""

    _real: Any = None
    _device: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        made = type(self)._real(*args, **kwargs)
        object.__setattr__(self, "_inner", made)
        code = args[0] if args and isinstance(args[0], str) else kwargs.get("code", "")
        object.__setattr__(self, "_code", str(code or ""))
        if self._device is not None:
            self._device.texts.append(self._code)
            if "__global__" not in self._code and hasattr(made, "name"):
                self._device.generated.append(str(made.name))
        object.__setattr__(self, "_name", str(getattr(made, "name", type(self).__name__)))

    def __getattr__(self, name: str) -> Any:
        with self._translated():
            return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._inner, name, value)

    def get_function(self, name: str) -> Any:
        """A kernel of a module, watched too."""
        with self._translated():
            inner = self._inner.get_function(name)
        made = _Watched.__new__(_Watched)
        for key, value in (("_inner", inner), ("_code", self._code), ("_name", name)):
            object.__setattr__(made, key, value)
        return made

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """CuPy's own, with its error translated."""
        with self._translated():
            return self._inner.compile(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        observation = observe.current()
        if not observation.starts(self._name):
            return self._nothing(*args, **kwargs)
        returned: list[object] = []
        given = operators.places([args, kwargs])
        with self._translated(), launching(self._name, given, returned, stream_of(kwargs)):
            value = self._inner(*args, **kwargs)
            returned += operators.places([value])
        grid = tuple(int(n) for n in (args[0] if args and isinstance(args[0], tuple) else ()))
        self._describe(args, kwargs)
        if not graphs.captured(self._name, grid, lambda: [*given, *operators.places([value])]):
            observation.completed(self._name, grid)
        return value

    def _nothing(self, *args: Any, **kwargs: Any) -> Any:
        """What a generated kernel gives when its launch does nothing: outputs that hold anything."""
        if "operation" not in dir(self._inner) and "reduce_expr" not in dir(self._inner):
            return None
        value = self._inner(*args, **kwargs)
        for array in value if isinstance(value, tuple) else (value,):
            if hasattr(array, "fill"):
                array.fill(0)
        return value

    def _describe(self, args: Any, kwargs: Any) -> None:
        """Note registers and memory of a raw kernel, once."""
        from kengine_cuda.recorder import Seen

        device = type(self)._device or _Watched._device
        if device is None or self._name in device.seen:
            return
        try:
            attributes = dict(self._inner.attributes)
        except Exception:  # generated kernels have none
            return
        usage = Usage(
            self._name, int(attributes.get("num_regs", 0)), int(attributes.get("local_size_bytes", 0)), 0, 0,
            int(attributes.get("shared_size_bytes", 0)),
        )  # fmt: skip
        binary = Binary(b"", {self._name: self._name}, {self._name: usage}, "", "cupy")
        threads = 1
        for size in args[1] if len(args) > 1 and isinstance(args[1], tuple) else ():
            threads *= int(size)
        device.binaries.append(binary)
        device.seen[self._name] = Seen(self._name, binary, threads, int(kwargs.get("shared_mem", 0)))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if type(error).__name__ != "CompileException":
                raise
            raise observe.current().failed(self._fault(error)) from None

    def _fault(self, error: Exception) -> CandidateFault:
        device = _Watched._device
        text, path = (device.candidate.main.text, device.candidate.main.path) if device else ("", "")
        log = str(getattr(error, "get_message", lambda: str(error))())
        lines = locate(self._code, text)
        first = _ERROR.search(log)
        if first is None:
            return faults.compile_fault(log.strip().split("\n")[0], None, log, "kernel.cu", lines, path)
        name = first["file"].rsplit("/", 1)[-1]
        return faults.compile_fault(first["text"], int(first["line"]), log, name, lines, path)


def stream_of(given: dict[str, Any]) -> int | None:
    """Handle of the stream that a launch of CuPy goes to: the one that it is given, else CuPy's current one, which is
    not torch's."""
    cuda = getattr(sys.modules.get("cupy"), "cuda", None)
    current = getattr(cuda, "get_current_stream", None)
    stream = given.get("stream") or (current() if current is not None else None)
    handle = getattr(stream, "ptr", None)
    return int(handle) if handle is not None else None


def _refuse_capture(stream: Any, *args: Any, **kwargs: Any) -> None:
    """A graph of CuPy's own: its replays are seen by nobody."""
    problem = "a CUDA graph of CuPy's own, whose replays cannot be followed; capture it with torch.cuda.graph"
    raise observe.current().failed(CandidateFault("unsupported", problem))


def loaded() -> bool:
    """Whether CuPy is imported in this process."""
    return "cupy" in sys.modules
