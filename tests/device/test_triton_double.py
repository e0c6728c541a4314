"""The Triton plugin on a device, with doubles for the driver and for torch.cuda; in a process of its own.

Kernels are compiled for sm_90 as on a machine that has one. What a launch computes is written in Python beside them.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    pytest.skip("needs torch and triton", allow_module_level=True)

import torch
from device_doubles import KERNEL, Flush, Library, Marks
from kengine.device import activity, cupti
from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, CaseView, Launch, Mode, SourceFile, Target, TaskView, TimingPlan
from kengine.plugins.hooks import Inputs
from kengine.runner.arena import Region
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
    Flush.library = Marks.library = library
    for module in ("activity", "event", "timing"):
        monkeypatch.setattr(f"kengine.device.{module}.Flush", Flush)
    for module in ("activity", "trace"):
        monkeypatch.setattr(f"kengine.device.{module}.Marks", Marks)
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


def test_a_launch_in_a_stream_that_nobody_waits_for(
    device: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kengine.device import streams
    from stream_doubles import Device
    from triton.runtime import driver as config

    inputs = make_inputs(X)
    artifact = build(TEXT, tmp_path, inputs)
    double = Device().install(monkeypatch)
    monkeypatch.setattr(config.active, "get_current_stream", lambda *_: double.current.handle)
    found = []
    for handle in (0, 5):
        with streams.calling(True) as left:
            double.current = double.stream(handle)
            launch(artifact, inputs)
            found.append(left())
    assert found == [(), ("twice",)] and double.current is double.home


def test_the_devices_account_leaves_out_products_of_parameters(device: None, tmp_path: Path) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Library(TorchDispatchMode):
        """What a device does where a product is asked for."""

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.ops.aten.mm.default:
                library.run(KERNEL, 7 * BUSY_NS, "cutlass_gemm")
            return func(*args, **(kwargs or {}))

    weight = torch.eye(8)
    text = TEXT.replace("def candidate(x):", "def candidate(x, w):\n    w @ w\n    PRODUCT")
    for product, seen_ns in (("", {}), ("x[None] @ w", {"cutlass_gemm": 7 * BUSY_NS})):
        inputs = make_inputs(X, weight)
        artifact = build(text.replace("PRODUCT", product), tmp_path, inputs)
        with Library():
            seen = follow_with_parameter(artifact, inputs)
        assert dict(seen.facts.device_ns) == {"twice": BUSY_NS, **seen_ns}


def follow_with_parameter(artifact: Artifact, inputs: Inputs) -> Seen:
    """A followed call whose second argument counts as a parameter."""
    import watch_support

    regions = watch_support._regions

    def labelled(given: Inputs) -> Iterator[Any]:
        for region in regions(given):
            yield Region(region.start, region.end, "parameter w" if region.label == "arg 1" else region.label)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch_support, "_regions", labelled)
        return follow(artifact, inputs)


@pytest.mark.parametrize("stream, found", [(9, {"left"}), (7, set())])
def test_a_kernel_that_goes_on_when_the_callers_stream_has_ended(
    device: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: int, found: set[str]
) -> None:
    """In another stream that is; what ends last in the caller's own has been waited for, whatever clocks say."""
    from kengine.device import streams, trace

    inputs = make_inputs(X)
    artifact = build(TEXT, tmp_path, inputs)
    noted: list[set[str]] = []
    monkeypatch.setattr(streams, "note", noted.append)
    follow(artifact, inputs)
    # The device is waited for after the caller's stream, and does something meanwhile.
    monkeypatch.setattr(streams, "wait", lambda: None)
    synchronize = trace._synchronize

    def late() -> None:
        if trace._current is not None and trace._current.ended is not None:
            library.run(KERNEL, 50_000, "left", stream)
        synchronize()

    monkeypatch.setattr(trace, "_synchronize", late)
    follow(artifact, inputs)
    assert noted == [set(), found]


def test_a_kernel_of_another_stream_that_was_waited_for_is_not_late(
    device: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kengine.device import streams

    inputs = make_inputs(X)
    artifact = build(TEXT, tmp_path, inputs)
    noted: list[set[str]] = []
    monkeypatch.setattr(streams, "note", noted.append)
    monkeypatch.setattr(streams, "wait", lambda: library.run(KERNEL, 50_000, "joined", 9))
    follow(artifact, inputs)
    assert noted == [set()]


def test_calls_in_a_row_are_compared_as_well(device: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate that gives its last answer to a call that comes at once is wrong in what is kept."""
    from kengine.device import rapid
    from kengine.runner import entry

    monkeypatch.setattr(rapid.random.SystemRandom, "sample", lambda self, calls, count: calls[:count])
    flush = Flush.__call__
    monkeypatch.setattr(Flush, "__call__", lambda self: (time.sleep(0.05), flush(self)))
    text = TEXT + (
        "\n\nfrom time import perf_counter_ns\nhonest, last = candidate, (0, None)\n\n\n"
        "def candidate(x):\n    global last\n    at, answer = last\n"
        "    if perf_counter_ns() - at > 20_000_000:\n        answer = honest(x)\n"
        "    last = (perf_counter_ns(), answer)\n    return answer\n"
    )
    inputs = [make_inputs(X), make_inputs(X + 1)]
    artifact = build(text, tmp_path, inputs[0])
    kept = {}
    for writes in ((0,), ()):
        entry.forget()
        plugin.kengine_time(artifact, CaseView(0, (), writes), inputs, TimingPlan(2, 0, "activity"))
        kept[writes] = [entry.returned(one)[1] for one in inputs]
    right = [2 * X, 2 * X + 2]
    assert all(torch.equal(a, b) for a, b in zip(kept[0,], right))
    assert any(not torch.equal(a, b) for a, b in zip(kept[()], right))
