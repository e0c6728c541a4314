"""The Triton plugin on a device, with doubles for the driver and for torch.cuda; in a process of its own.

Kernels are compiled for sm_90 as on a machine that has one. What a launch computes is written in Python beside them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    pytest.skip("needs torch and triton", allow_module_level=True)

import torch
from device_doubles import KERNEL, Flush, Library
from kengine.device import activity, cupti
from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, CaseView, Launch, Mode, SourceFile, Target, TaskView, TimingPlan
from kengine.plugins.hooks import Inputs
from kengine_triton import chips, compile, plugin
from kengine_triton.record.driver import StubDriver, Utilities
from native_inputs import make_inputs
from watch_support import Seen, followed

SM_90 = Target("triton", "sm_90")
TEXT = """import torch
import triton
import triton.language as tl


@triton.jit
def twice(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


def candidate(x):
    y = torch.zeros_like(x)
    twice[(triton.cdiv(x.numel(), 4),)](x, y, x.numel(), BLOCK=4)
    return y
"""
X = torch.arange(1.0, 9.0)
BUSY_NS = 1500
library = Library()


class Loader(Utilities):
    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[Any, ...]:
        assert kernel[:4] == b"\x7fELF"
        return (1, 2, 24, 0, 1024)[: len(super().load_binary(name, kernel, shared, device))]


class Launcher:
    """Does what `twice` does, and leaves it in the device's record."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self.name = metadata.name

    def __call__(self, x: int, y: int, z: int, stream: int, function: Any, *args: Any) -> None:
        assert (self.name, x, y, z) == ("twice", 2, 1, 1) and function == 2
        given, out, *_ = args[-4:]
        library.run(KERNEL, BUSY_NS, "twice")
        with torch.utils._python_dispatch._disable_current_modes():
            out.copy_(2 * given)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    from triton.runtime import driver as config

    class Driver(StubDriver):
        launcher_cls = Launcher

    driver = Driver(chips.find("sm_90"), None)
    driver.utils = Loader(driver.chip)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(config, "_active" if hasattr(config, "_active") else "active", driver)
    monkeypatch.setattr(cupti, "_load", lambda: library)
    activity.recorder.cache_clear()
    Flush.library = library
    for module in ("activity", "event", "timing"):
        monkeypatch.setattr(f"kengine.device.{module}.Flush", Flush)
    answers = {
        "is_available": True, "get_device_capability": (9, 0), "current_device": 0, "synchronize": None,
        "is_current_stream_capturing": False,
    }  # fmt: skip
    for name, answer in answers.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    monkeypatch.setattr(compile, "_on_device", lambda samples: True)
    yield
    activity.recorder.cache_clear()


def build(text: str, folder: Path, inputs: Inputs) -> Artifact:
    candidate = Candidate((SourceFile("kernel.py", text),), "candidate")
    view = TaskView("function", "candidate")
    made = plugin.kengine_compile(candidate, view, SM_90, [inputs], folder)
    assert isinstance(made, Artifact)
    return made


def launch(artifact: Artifact, inputs: Inputs, mode: Mode = Mode.normal) -> Any:
    return plugin.kengine_launch(artifact, CaseView(0, ()), inputs, mode)


def follow(artifact: Artifact, inputs: Inputs) -> Seen:
    return followed(inputs, lambda: launch(artifact, inputs, Mode.traced))


def test_compile_launch_and_withhold(device: None, tmp_path: Path) -> None:
    inputs = make_inputs(X)
    artifact = build(TEXT, tmp_path, inputs)
    (kernel,) = artifact.kernels
    assert (kernel.name, kernel.registers, kernel.spills) == ("twice", 24, 0) and kernel.occupancy
    assert artifact.details["launches"] == ("twice[2] x1",) and list(artifact.details["defined"]) == ["twice"]
    outputs = launch(artifact, inputs)
    assert torch.equal(outputs.value, 2 * X) and outputs.launches == (Launch("twice", (2,)),)
    withheld = launch(artifact, inputs, Mode.noop)
    assert withheld.launches == () and withheld.value.count_nonzero() == 0
    with pytest.raises(CandidateFault, match="launch of kernel 'twice' was refused") as caught:
        launch(artifact, inputs, Mode.raises)
    assert caught.value.status == "launch_failed"


def test_a_followed_call_has_the_devices_own_account(device: None, tmp_path: Path) -> None:
    inputs = make_inputs(X)
    artifact = build(TEXT, tmp_path, inputs)
    seen = follow(artifact, inputs)
    assert torch.equal(seen.value, 2 * X)
    assert seen.kernels == {"twice": 1} and seen.origins == [(True, True, False)]
    assert dict(seen.facts.device_ns) == {"twice": BUSY_NS}
    assert library.enabled == set()


def test_times_are_those_of_the_device(device: None, tmp_path: Path) -> None:
    inputs = [make_inputs(X), make_inputs(X + 1)]
    artifact = build(TEXT, tmp_path, inputs[0])
    timing = plugin.kengine_time(artifact, CaseView(0, ()), inputs, TimingPlan(4, 2, "activity"))
    assert (timing.samples_ns, timing.method, timing.launches) == ((BUSY_NS,) * 4, "activity", 4)


def test_a_fault_of_the_device_is_the_candidates(device: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = make_inputs(X)
    artifact = build(TEXT, tmp_path, inputs)

    def broken(*_: Any) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(torch.cuda, "synchronize", broken)
    with pytest.raises(CandidateFault, match="illegal memory access") as caught:
        launch(artifact, inputs)
    assert caught.value.status in ("launch_failed", "crashed")
    with pytest.raises(CandidateFault, match="illegal memory access"):
        plugin.kengine_time(artifact, CaseView(0, ()), [inputs], TimingPlan(2, 1, "activity"))


def test_what_the_compiler_refuses_has_its_line(device: None, tmp_path: Path) -> None:
    with pytest.raises(CandidateFault, match="no_such_function") as caught:
        build(TEXT.replace("2 * tl.load", "tl.no_such_function(2) * tl.load"), tmp_path, make_inputs(X))
    # Triton 3.3 finds out when the kernel is launched, and tells that line.
    assert caught.value.status == "compile_failed" and caught.value.line in (9, 14)
