"""A followed call on a device, without one: the trace, launches of extensions and CuPy's operators against doubles."""

from __future__ import annotations

import ctypes as c
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kengine.device import marks, trace
from kengine.device.cupti import Activity, CuptiError
from kengine.plugins.hooks import Inputs
from kengine.provenance import contents
from kengine.runner import watch
from watch_support import Seen, followed

torch = pytest.importorskip("torch")

RUNTIME = """
#include <cstddef>
#include <cstring>
struct Dim3 { unsigned x, y, z; };
struct Body { float* data; long n; };
static char log[256];
extern "C" {
int cudaLaunchKernel(const void* k, Dim3, Dim3, void** a, size_t, void*) {
  strcat(log, "ran ");
  if (k == (void*)3) return 0;
  float* y = *static_cast<float**>(a[1]);
  float* x = static_cast<Body*>(a[0])->data;
  for (int i = 0; i < 4; ++i) y[i] = 2 * x[i];
  return 0;
}
int cudaLaunchCooperativeKernel(const void* k, Dim3 g, Dim3 b, void** a, size_t s, void* t) {
  return cudaLaunchKernel(k, g, b, a, s, t);
}
int __cudaLaunchKernel_ptsz(const void* k, Dim3 g, Dim3 b, void** a, size_t s, void* t) {
  return cudaLaunchKernel(k, g, b, a, s, t);
}
int cudaFuncGetName(const char** name, const void* k) {
  *name = k == (void*)3 ? "_Z4idlev" : "_Z5twice4BodyPf";
  return 0;
}
int cudaGetFuncBySymbol(const void** f, const void* k) { *f = static_cast<const char*>(k) + 1; return 0; }
int cuFuncGetParamInfo(const void* f, size_t i, size_t* offset, size_t* size) {
  if (f == (void*)4 || i > 1) return 1;
  *offset = 16 * i, *size = i ? 8 : 16;
  return 0;
}
const char* said() { return log; }
}
"""


@pytest.fixture
def launches(tmp_path: Path) -> Iterator[c.CDLL]:
    """The library between extensions and the runtime, in front of a runtime that knows two kernels."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    from kengine_cuda.device.interpose import SOURCE, load

    text, double, library = tmp_path / "runtime.cpp", tmp_path / "libdouble.so", tmp_path / "liblaunches.so"
    text.write_text(RUNTIME)
    subprocess.run([compiler, "-shared", "-fPIC", str(text), "-o", str(double)], check=True)
    subprocess.run([compiler, "-std=c++17", "-shared", "-fPIC", str(SOURCE), "-o", str(library)], check=True)
    c.CDLL(str(double), mode=c.RTLD_GLOBAL)
    yield load(library)


class _Dim3(c.Structure):
    _fields_ = [("x", c.c_uint), ("y", c.c_uint), ("z", c.c_uint)]


def launch(library: c.CDLL, kernel: int, x: Any, y: Any, stream: int = 0, name: str = "__wrap_cudaLaunchKernel") -> int:
    body, out = (c.c_void_p * 2)(x.data_ptr(), 4), c.c_void_p(y.data_ptr())
    values = (c.c_void_p * 2)(c.addressof(body), c.addressof(out))
    one = _Dim3(1, 1, 1)
    function = getattr(library, name)
    function.argtypes = [c.c_void_p, _Dim3, _Dim3, c.c_void_p, c.c_size_t, c.c_void_p]
    return int(function(kernel, one, one, c.addressof(values), 0, stream))


def call(function: Any, *tensors: Any) -> Seen:
    from native_inputs import make_inputs

    inputs = make_inputs(*tensors)
    return followed(inputs, lambda: _entered(function, inputs))


def _entered(function: Any, inputs: Inputs) -> Any:
    with watch.entered():
        return function(*(a.as_torch() for a in inputs.args))


def test_launches_of_an_extension_are_followed_with_the_memory_of_their_arguments(
    launches: c.CDLL, cupti: _Cupti
) -> None:
    from kengine_cuda.device import extension
    from kengine_cuda.device.interpose import observed

    x = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def function(given: Any) -> Any:
        y = torch.empty_like(given)
        with observed(launches, extension._launch):
            assert launch(launches, 1, given, y) == 0
            assert launch(launches, 3, given, y) == 0
        assert launch(launches, 1, given, y) == 0
        return y

    seen = call(function, x)
    assert torch.equal(seen.value, 2 * x)
    assert [(kernel.name, kernel.count, kernel.nbytes) for kernel in seen.facts.kernels] == [
        ("twice", 1, 32), ("idle", 1, 0)
    ]  # fmt: skip
    assert seen.origins == [(True, True, False)] and launches.kengine_launches_count() == 3


def test_a_launch_that_is_withheld_is_not_told(launches: c.CDLL) -> None:
    from kengine_cuda.device.interpose import observed

    told: list[str] = []

    @contextmanager
    def note(kernel: str, words: list[int], stream: int) -> Iterator[None]:
        told.append(kernel)
        yield

    x, y = torch.ones(4), torch.zeros(4)
    launches.kengine_launches_begin(1)
    with observed(launches, note):
        launch(launches, 1, x, y)
    launches.kengine_launches_begin(0)
    assert told == [] and y.tolist() == [0, 0, 0, 0]


def test_launches_on_streams_made_in_cpp_are_told_with_their_stream(
    launches: c.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a stream of an extension's own still does when the caller's has ended is found, whatever torch's is."""
    from kengine.device import streams
    from kengine_cuda.device import extension
    from stream_doubles import Device

    device = Device(8).install(monkeypatch)
    x = torch.ones(4)
    own = device.stream(3)

    def function() -> None:
        launch(launches, 1, x, torch.zeros(4))
        launch(launches, 3, x, torch.zeros(4), own.handle)

    def left(joined: bool) -> tuple[tuple[str, ...], int]:
        with streams.calling(True) as late:
            extension._watched(function, launches)()
            if joined:
                own.synchronize()
            streams.wait()
            return late(), device.held_ns

    late, held = left(joined=False)
    assert late == ("idle",) and held == (streams.BEFORE_CYCLES + streams.AFTER_CYCLES) // 2
    assert left(joined=True)[0] == ()


@pytest.mark.parametrize(("name", "given", "told"), [
    ("__wrap_cudaLaunchKernel", 0, 0), ("__wrap_cudaLaunchKernel", 77, 77),
    ("__wrap_cudaLaunchCooperativeKernel", 5, 5),
    ("__wrap___cudaLaunchKernel_ptsz", 0, 2), ("__wrap___cudaLaunchKernel_ptsz", 9, 9),
])  # fmt: skip
def test_the_stream_of_every_kind_of_launch(launches: c.CDLL, name: str, given: int, told: int) -> None:
    from kengine_cuda.device.interpose import observed

    seen: list[int] = []

    @contextmanager
    def note(kernel: str, words: list[int], stream: int) -> Iterator[None]:
        seen.append(stream)
        yield

    with observed(launches, note):
        launch(launches, 1, torch.ones(4), torch.zeros(4), given, name)
    assert seen == [told]


class _Cupti:
    """A clock that counts, and a trace of what `run` was called with by a clock that is ahead of it."""

    def __init__(self) -> None:
        self.at = 0
        self.ahead = 0
        self.seen: list[Activity] = []

    def now_ns(self) -> int:
        self.at += 10
        return self.at

    def run(self, name: str, kind: str = "kernel") -> None:
        begin = self.now_ns() + self.ahead
        self.seen.append(Activity(kind, name, begin, begin + 7, 0))

    def fill(self, nbytes: int) -> None:
        begin = self.now_ns() + self.ahead
        self.seen.append(Activity("fill", "fill", begin, begin + 2, 0, nbytes))

    @contextmanager
    def record(self, kernels_only: bool = False) -> Iterator[list[Activity]]:
        records: list[Activity] = []
        yield records
        records += self.seen


@pytest.fixture
def cupti(monkeypatch: pytest.MonkeyPatch) -> _Cupti:
    made = _Cupti()
    monkeypatch.setattr(trace, "recorder", lambda: made)
    monkeypatch.setattr(marks, "_allocate", lambda nbytes: None)
    monkeypatch.setattr(marks, "_fill", lambda memory, words: made.fill(4 * words))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    return made


@pytest.mark.parametrize("ahead", [0, -30, 30, -40_000_000, 40_000_000])
def test_the_trace_leaves_out_what_the_follower_does(
    cupti: _Cupti, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    """Also where the clocks of host and device disagree."""
    cupti.ahead = ahead
    late: list[set[str]] = []
    monkeypatch.setattr(trace.streams, "note", late.append)
    digest = contents.digest
    monkeypatch.setattr(contents, "digest", lambda *given: (cupti.run("at::native::digest"), digest(*given))[1])

    def function(given: Any) -> Any:
        with trace.tracing():
            cupti.run("ampere_sgemm_128x64")
            with trace.launching("scale", [given]):
                cupti.run("scale")
                given.mul_(2)
            cupti.run("copy", "copy")
            cupti.run("ampere_sgemm_128x64")
        return given

    seen = call(function, torch.ones(4))
    assert dict(seen.facts.device_ns) == {"ampere_sgemm_128x64": 14, "scale": 7} and late == [set()]
    assert seen.kernels == {"scale": 1} and seen.origins == [(True, True, False)]


def test_a_trace_without_one_of_its_marks_says_nothing(cupti: _Cupti, monkeypatch: pytest.MonkeyPatch) -> None:
    fill, count = cupti.fill, iter(range(99))
    monkeypatch.setattr(cupti, "fill", lambda nbytes: None if next(count) == 2 else fill(nbytes))

    def function(given: Any) -> Any:
        with trace.tracing():
            cupti.run("ampere_sgemm_128x64")
            with trace.launching("scale", [given]):
                cupti.run("scale")
                given.mul_(2)
        return given

    seen = call(function, torch.ones(4))
    assert dict(seen.facts.device_ns) == {} and seen.kernels == {"scale": 1}


def test_what_is_set_apart_stays_so_when_it_is_nested_or_fails(cupti: _Cupti) -> None:
    def function(given: Any) -> Any:
        with trace.tracing():
            with trace._hidden(), trace._hidden():
                cupti.run("ours")
            cupti.run("theirs")
            with pytest.raises(ValueError), trace._hidden():
                raise ValueError
            cupti.run("theirs")
            with trace._hidden():
                cupti.run("ours")
            cupti.run("theirs")
        return given.mul_(2)

    assert dict(call(function, torch.ones(4)).facts.device_ns) == {"theirs": 21}


def test_a_device_that_cannot_be_traced_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Any:
        raise CuptiError("no library")

    monkeypatch.setattr(trace, "recorder", refuse)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)

    def function(given: Any) -> Any:
        with trace.tracing(), trace.launching("scale", [given]):
            given.mul_(2)
        return given

    seen = call(function, torch.ones(4))
    assert dict(seen.facts.device_ns) == {} and seen.kernels == {"scale": 1}


def test_nothing_is_traced_outside_of_a_followed_call(cupti: _Cupti) -> None:
    with trace.tracing(), trace.launching("scale", []):
        cupti.run("scale")
    assert trace._current is None and cupti.at == 10


def test_a_launch_that_is_captured_is_not_followed(cupti: _Cupti, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)

    def function(given: Any) -> Any:
        with trace.launching("scale", [given]):
            given.mul_(2)
        return given

    assert call(function, torch.ones(4)).kernels == {}


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module with arrays over memory that is known by address alone, as on a device."""
    import numpy as np

    module: Any = types.ModuleType("cupy")

    class ndarray:
        def __init__(self, memory: Any) -> None:
            self.memory = memory
            self.nbytes = memory.nbytes
            self.data = types.SimpleNamespace(ptr=memory.ctypes.data)

        def __matmul__(self, other: Any) -> Any:
            return module.matmul(self, other)

        def __iadd__(self, other: Any) -> Any:
            self.memory += other.memory
            return self

        def reshape(self, *shape: int) -> Any:
            return ndarray(self.memory.reshape(*shape))

    module.ndarray = ndarray
    module.matmul = lambda a, b: ndarray(a.memory @ b.memory)
    module.multiply = lambda a, b, out=None: ndarray(np.multiply(a.memory, b.memory, out=out.memory if out else None))
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_operators_of_cupy_are_noted(cupy: Any) -> None:
    from kengine_cuda.device import operators

    operators.install()
    before = dict(vars(cupy)), dict(vars(cupy.ndarray))
    operators.install()
    assert (dict(vars(cupy)), dict(vars(cupy.ndarray))) == before  # once
    kept = cupy.multiply  # as a candidate keeps it that imports it by name

    def function(a: Any, b: Any) -> Any:
        with watch.pause():
            x, y = (cupy.ndarray(t.numpy()) for t in (a, b))
        z = (x @ y).reshape(16).reshape(4, 4)
        kept(z, z, out=z)
        z += y
        return torch.frombuffer(memoryview(z.memory).cast("B"), dtype=torch.float32)

    a, b = torch.rand(4, 4), torch.rand(4, 4)
    seen = call(function, a, b)
    assert seen.operators == {"cupy::matmul": 1, "cupy::multiply": 1, "cupy::add": 1}
    assert seen.origins[0][0] is True
    x = cupy.ndarray(a.numpy())
    assert (x @ x).memory is not None  # outside of a followed call they do what they did
