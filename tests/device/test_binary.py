"""Binaries loaded and launched by the driver, against a double: what it is given, in which types, on which stream."""

from __future__ import annotations

import ctypes as c
import importlib.util
from types import SimpleNamespace
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("needs torch", allow_module_level=True)

import torch
from kengine.device import graphs
from kengine.errors import CandidateFault
from kengine.model import Launch, Mode
from kengine.native import observe
from kengine.native.driver import Configuration, Unit
from kengine.native.lines import locate
from kengine_cuda.chips import find
from kengine_cuda.device import context, driver
from kengine_cuda.recorder import Recorder
from kengine_cuda.toolchain.compiler import Binary

SOURCE = "__global__ void scale(const float* x, float* y, int n, float by, double past) { y[0] = x[0] * by; }\n"
ONCE = Configuration((4, 2, 1), (128, 1, 1))


class Library:
    """Stands for libcuda: one module whose kernel `_Z5scale` has five parameters."""

    sizes = (8, 8, 4, 4, 8)

    def __init__(self) -> None:
        self.launched: list[tuple[Any, ...]] = []
        self.attributes: list[tuple[int, int]] = []
        self.code = 0

    def cuModuleLoadData(self, module: Any, image: Any) -> int:
        assert image.raw == b"\x7fELF code"
        module._obj.value = 5
        return 0

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        assert module.value == 5
        function._obj.value = 9
        return 0 if name == b"_Z5scale" else 500

    def cuFuncGetParamInfo(self, function: Any, index: Any, offset: Any, size: Any) -> int:
        if index.value >= len(self.sizes):
            return 1
        size._obj.value = self.sizes[index.value]
        return 0

    def cuFuncSetAttribute(self, function: Any, which: int, value: int) -> int:
        self.attributes.append((which, value))
        return 0

    def cuLaunchKernel(self, function: Any, *given: Any) -> int:
        *numbers, stream, pointers, extra = given
        kinds = (c.c_uint64, c.c_uint64, c.c_int32, c.c_float, c.c_double)
        values = [kind.from_address(pointers[n]).value for n, kind in enumerate(kinds)]
        self.launched.append(("plain", [n.value for n in numbers], stream.value, values))
        assert function.value == 9 and extra is None
        return self.code

    def cuLaunchCooperativeKernel(self, function: Any, *given: Any) -> int:
        *numbers, stream, _ = given
        self.launched.append(("cooperative", [n.value for n in numbers], stream.value))
        return self.code

    def cuModuleGetGlobal_v2(self, address: Any, size: Any, module: Any, name: bytes) -> int:
        address._obj.value, size._obj.value = 4096, 64
        return 0 if name == b"table" else 500

    def cuGetErrorName(self, code: int, text: Any) -> int:
        text._obj.value = b"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
        return 0

    def cuGetErrorString(self, code: int, text: Any) -> int:
        text._obj.value = b"too many resources requested for launch"
        return 0


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library()
    monkeypatch.setattr(context, "library", lambda: made)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda *_: SimpleNamespace(cuda_stream=123))
    return made


@pytest.fixture
def module(library: Library, tmp_path: Any) -> driver.DeviceModule:
    unit = Unit(SOURCE, "k.cu", locate(SOURCE, SOURCE))
    binary = Binary(b"\x7fELF code", {"scale": "_Z5scale"}, {}, "", "double")
    # What a Device keeps of launches is what a Recorder keeps.
    kept: Any = Recorder(find("sm_90"), SimpleNamespace(), tmp_path)  # type: ignore[arg-type]
    return driver.DeviceModule(kept, unit, binary)


def test_arguments_have_the_types_of_the_signature(library: Library, module: driver.DeviceModule) -> None:
    x, y = torch.ones(8), torch.zeros(8)
    with observe.observing(Mode.normal) as seen:
        module.launch("scale", ONCE, [x, y, 8, 2, 0.5], strict=False)
    assert library.launched == [
        ("plain", [4, 2, 1, 128, 1, 1, 0], 123, [x.data_ptr(), y.data_ptr(), 8, 2.0, 0.5])
    ]  # fmt: skip
    assert seen.launches == [Launch("scale", (4, 2))] and library.attributes == []
    (kept,) = module.driver.seen.values()
    assert (kept.name, kept.threads, kept.shared) == ("scale", 128, 0)
    assert module.symbol("table") == (4096, 64) and module.kernels() == ("scale",)
    with pytest.raises(KeyError):
        module.symbol("none")


def test_much_shared_memory_is_asked_for_and_cooperation_is_kept(library: Library, module: driver.DeviceModule) -> None:
    given = [torch.ones(8), torch.zeros(8), 8, 2.0, 0.5]
    with observe.observing(Mode.normal):
        module.launch("scale", Configuration((1, 1, 1), (64, 1, 1), 100 << 10, True), given, strict=False)
        module.launch("scale", Configuration((1, 1, 1), (64, 1, 1), 1024, False, 8192), given, strict=False)
    assert library.attributes == [(8, 100 << 10), (8, 8192)]
    assert library.launched[0] == ("cooperative", [1, 1, 1, 64, 1, 1, 100 << 10], 123)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([None, None, 8, 2.0], "scale takes 5 arguments .* 4 given"),
        ([1.5, None, 8, 2.0, 0.5], "argument 0 for 'const float\\* ?x': expected an array, got float"),
    ],
)
def test_wrong_arguments_are_named_and_nothing_is_launched(
    library: Library, module: driver.DeviceModule, given: list[Any], message: str
) -> None:
    with observe.observing(Mode.normal) as seen, pytest.raises(CandidateFault, match=message) as caught:
        module.launch("scale", ONCE, given, strict=False)
    assert caught.value.status == "launch_failed" and library.launched == [] and seen.launches == []
    assert seen.pending() is caught.value


def test_what_the_driver_refuses_is_in_its_own_words(library: Library, module: driver.DeviceModule) -> None:
    library.code = 701
    with observe.observing(Mode.normal) as seen, pytest.raises(CandidateFault) as caught:
        module.launch("scale", ONCE, [torch.ones(8), torch.zeros(8), 8, 2.0, 0.5], strict=False)
    assert "launching _Z5scale: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources" in caught.value.message
    assert seen.launches == []
    with observe.observing(Mode.normal), pytest.raises(CandidateFault, match="no kernel 'other'; there are scale"):
        module.launch("other", ONCE, [], strict=False)


def test_launches_are_withheld_and_refused(library: Library, module: driver.DeviceModule) -> None:
    given = [torch.ones(8), torch.zeros(8), 8, 2.0, 0.5]
    with observe.observing(Mode.noop) as seen:
        module.launch("scale", ONCE, given, strict=False)
    with observe.observing(Mode.raises), pytest.raises(observe.LaunchRefused):
        module.launch("scale", ONCE, given, strict=False)
    assert library.launched == [] and seen.launches == []


def test_a_captured_launch_counts_when_it_is_replayed(
    library: Library, module: driver.DeviceModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = torch.ones(8), torch.zeros(8)
    capture = graphs.Capture()
    monkeypatch.setattr(graphs, "_captures", [(object(), capture)])
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    with observe.observing(Mode.normal) as seen:
        module.launch("scale", ONCE, [x, y, 8, 2.0, 0.5], strict=False)
    assert seen.launches == [] and len(library.launched) == 1
    assert capture.events == [graphs.Launched("scale", (4, 2, 1), ((x.data_ptr(), 32), (y.data_ptr(), 32)))]
