"""CuPy's kernels on a device against a double of CuPy: counted, withheld, followed, described, and their errors."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("needs torch", allow_module_level=True)

import torch
from kengine.device import graphs, streams, trace
from kengine.device.cupti import CuptiError
from kengine.errors import CandidateFault
from kengine.model import Candidate, Launch, Mode, SourceFile
from kengine.native import observe
from kengine.runner import watch
from kengine_cuda.device import cupy as watched
from native_inputs import make_inputs
from stream_doubles import Device
from watch_support import followed

CODE = "__global__ void twice(const float* x, float* y) {\n  y[threadIdx.x] = 2 * x[threadIdx.x];\n}\n"
TEXT = f"import cupy\nCODE = r'''{CODE}'''\nKERNEL = cupy.RawKernel(CODE, 'twice')\n"


class CompileException(Exception):
    def get_message(self) -> str:
        return 'kernel.cu(2): error: identifier "z" is undefined\n1 error detected'


class Array:
    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.nbytes = tensor.numel() * tensor.element_size()
        self.data = SimpleNamespace(ptr=tensor.data_ptr())

    def fill(self, value: float) -> None:
        self.tensor.fill_(value)


class RawKernel:
    """A compiled kernel of two arrays."""

    def __init__(self, code: str, name: str) -> None:
        self.code, self.name = code, name

    @property
    def attributes(self) -> dict[str, int]:
        return {"num_regs": 18, "local_size_bytes": 0, "shared_size_bytes": 256}

    def compile(self) -> None:
        if " z" in self.code:
            raise CompileException

    def __call__(self, grid: Any, block: Any, args: Any, shared_mem: int = 0) -> None:
        self.compile()
        x, y = args
        with torch.utils._python_dispatch._disable_current_modes():
            y.tensor.copy_(2 * x.tensor)


class ElementwiseKernel:
    """A kernel that CuPy generates around an expression, and whose result it makes."""

    operation = "y = x + 1"

    def __init__(self, ins: str, outs: str, operation: str, name: str) -> None:
        self.name = name

    def __call__(self, x: Any) -> Any:
        with torch.utils._python_dispatch._disable_current_modes():
            return Array(x.tensor + 1)


class RawModule:
    def __init__(self, code: str) -> None:
        self.code = code

    def get_function(self, name: str) -> RawKernel:
        return RawKernel(self.code, name)


class Stream:
    def begin_capture(self) -> None:
        pytest.fail("captured")


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def no_trace() -> Any:
        raise CuptiError("a double has none")

    made: Any = types.ModuleType("cupy")
    made.__spec__ = importlib.util.spec_from_loader("cupy", None)
    made.RawKernel, made.RawModule, made.ElementwiseKernel = RawKernel, RawModule, ElementwiseKernel
    made.ReductionKernel = type("ReductionKernel", (), {})
    made.ndarray = Array
    made.cuda = SimpleNamespace(Stream=type("Stream", (Stream,), {}), ExternalStream=type("External", (Stream,), {}))
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(trace, "recorder", no_trace)
    monkeypatch.setattr(watched._Watched, "_device", None)
    yield made


@pytest.fixture
def device(cupy: Any) -> Iterator[Any]:
    candidate = Candidate((SourceFile("k.py", TEXT),), "candidate")
    made = SimpleNamespace(texts=[], generated=[], binaries=[], seen={}, candidate=candidate)
    with watched.watch(made):
        yield made


def arrays() -> tuple[Array, Array]:
    return Array(torch.arange(8.0)), Array(torch.zeros(8))


def test_a_kernel_counts_and_is_described(cupy: Any, device: Any) -> None:
    x, y = arrays()
    kernel = cupy.RawKernel(CODE, "twice")
    with observe.observing(Mode.normal) as seen:
        kernel((2,), (4, 1, 1), (x, y), shared_mem=64)
        kernel((2,), (4, 1, 1), (x, y), shared_mem=64)
    assert seen.launches == [Launch("twice", (2,), 2)] and torch.equal(y.tensor, 2 * x.tensor)
    assert device.texts == [CODE] and device.generated == []
    (kept,) = device.seen.values()
    assert (kept.name, kept.threads, kept.shared) == ("twice", 4, 64)
    (binary,) = device.binaries
    assert (binary.usage["twice"].registers, binary.usage["twice"].shared) == (18, 256)
    function = cupy.RawModule(code=CODE).get_function("twice")
    with observe.observing(Mode.normal) as seen:
        function((1,), (8,), (x, y))
    assert seen.launches == [Launch("twice", (1,))] and function.name == "twice"


def test_launches_are_withheld_and_refused(cupy: Any, device: Any) -> None:
    x, y = arrays()
    kernel, plus = cupy.RawKernel(CODE, "twice"), cupy.ElementwiseKernel("T x", "T y", "y = x + 1", "plus")
    assert device.generated == ["plus"]
    with observe.observing(Mode.noop) as seen:
        assert kernel((1,), (8,), (x, y)) is None
        assert torch.equal(plus(x).tensor, torch.zeros(8))  # an output that holds nothing
    assert seen.launches == [] and torch.equal(y.tensor, torch.zeros(8))
    for launch in (lambda: kernel((1,), (8,), (x, y)), lambda: plus(x)):
        with observe.observing(Mode.raises), pytest.raises(observe.LaunchRefused):
            launch()


def test_a_followed_call_knows_what_kernels_were_given_and_made(cupy: Any, device: Any) -> None:
    kernel, plus = cupy.RawKernel(CODE, "twice"), cupy.ElementwiseKernel("T x", "T y", "y = x + 1", "plus")
    inputs = make_inputs(torch.arange(8.0))

    def call() -> Any:
        with watch.entered(), observe.observing(Mode.traced):
            (given,) = (a.as_torch() for a in inputs.args)
            with watch.pause():
                x, y = Array(given), Array(torch.empty(8))
            kernel((1,), (8,), (x, y))
            return plus(y).tensor

    seen = followed(inputs, call)
    assert torch.equal(seen.value, 2 * torch.arange(8.0) + 1)
    assert seen.kernels == {"twice": 1, "plus": 1} and seen.origins == [(True, True, False)]


def test_a_launch_is_held_up_in_cupys_stream(cupy: Any, device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy has a current stream of its own, and takes one for a launch: neither is torch's."""
    double = Device(8).install(monkeypatch)
    x, y = arrays()
    kernel = cupy.RawKernel(CODE, "twice")
    current = SimpleNamespace(ptr=0)
    cupy.cuda.get_current_stream = lambda: current
    monkeypatch.setattr(RawKernel, "__call__", lambda self, *_, stream=None: None)

    def late(ptr: int, **given: Any) -> tuple[str, ...]:
        current.ptr = ptr
        with streams.calling(True) as left:
            with observe.observing(Mode.normal):
                kernel((1,), (8,), (x, y), **given)
            streams.wait()
            return left()

    assert late(0) == () and double.held_ns == 0
    assert late(1) == (), "another handle of the default stream"
    assert late(4) == ("twice",)
    assert late(0, stream=SimpleNamespace(ptr=5)) == ("twice",)
    assert late(4, stream=SimpleNamespace(ptr=0)) == ()
    monkeypatch.delattr(cupy.cuda, "get_current_stream", raising=False)
    assert watched.stream_of({}) is None


def test_errors_of_the_compiler_are_at_the_candidates_line(cupy: Any, device: Any) -> None:
    x, y = arrays()
    with observe.observing(Mode.normal) as seen, pytest.raises(CandidateFault, match='identifier "z"') as caught:
        cupy.RawKernel(CODE.replace("2 *", " z *"), "twice")((1,), (8,), (x, y))
    assert caught.value.status == "compile_failed" and seen.pending() is caught.value


def test_a_captured_kernel_counts_when_it_is_replayed(cupy: Any, device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = arrays()
    capture = graphs.Capture()
    monkeypatch.setattr(graphs, "_captures", [(object(), capture)])
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    with observe.observing(Mode.normal) as seen:
        cupy.RawKernel(CODE, "twice")((1,), (8,), (x, y))
    assert seen.launches == []
    places = ((x.data.ptr, 32), (y.data.ptr, 32))
    assert capture.events == [graphs.Launched("twice", (1,), places)]


def test_graphs_of_cupys_own_cannot_be_judged(cupy: Any, device: Any) -> None:
    for stream in (cupy.cuda.Stream(), cupy.cuda.ExternalStream()):
        with (
            observe.observing(Mode.normal),
            pytest.raises(CandidateFault, match=r"capture it with torch\.cuda\.graph") as caught,
        ):
            stream.begin_capture()
        assert caught.value.status == "unsupported"


def test_operators_are_watched_before_there_is_a_candidate(cupy: Any) -> None:
    from kengine_cuda.device import operators

    assert watched.install()
    assert hasattr(cupy.ndarray.fill, operators._MARK) and issubclass(cupy.RawKernel, watched._Watched)
