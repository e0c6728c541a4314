"""The local device: compile, launch in every mode, faults, and time by each clock. Needs an NVIDIA GPU."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    pytest.skip("needs torch and triton", allow_module_level=True)

import torch
from kengine.array import Array, span
from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, CaseView, Mode, SourceFile, Target, TaskView, TensorSpec, TimingPlan
from kengine.plugins.hooks import Inputs
from triton_candidates import (
    ADD,
    BLOCKED,
    DESTINATION,
    HEAD,
    HEURISTIC,
    MODULE,
    MULTI_ROW,
    NESTED,
    ONE_ROW,
    SEVERAL,
    TUNED,
    matmul,
)

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def array(value: torch.Tensor) -> Array:
    """A tensor as an `Array` over device memory."""
    spec = TensorSpec(
        str(value.dtype).removeprefix("torch."), tuple(value.shape), tuple(value.stride()), value.storage_offset()
    )
    made = Array(spec, torch.zeros(max(span(spec), 1), dtype=torch.uint8, device="cuda"))
    made.as_torch().copy_(value)
    return made


def local_target() -> Target:
    major, minor = torch.cuda.get_device_capability()
    return Target("triton", f"sm_{major}{minor}")


def reference(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    x, w = x.double(), w.double()
    return x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w


class Runner:
    """One candidate on the device."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def compile(self, source: str, *samples: Inputs, entry: str = "candidate", form: Any = "function") -> Artifact:
        from kengine_triton import plugin

        candidate = Candidate((SourceFile("kernel.py", HEAD + source),), entry)
        artifact = plugin.kengine_compile(candidate, TaskView(form, entry), local_target(), samples, self.folder)
        assert isinstance(artifact, Artifact)
        return artifact

    def launch(self, artifact: Artifact, inputs: Inputs, mode: str = "normal") -> Any:
        from kengine_triton import plugin

        return plugin.kengine_launch(artifact, CaseView(0, ()), inputs, Mode(mode))


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    return Runner(tmp_path)


X = torch.arange(1000, dtype=torch.float32)


@pytest.mark.parametrize("source", [ONE_ROW, BLOCKED, MULTI_ROW], ids=["one-row", "blocked", "multi-row"])
def test_rmsnorm(runner: Runner, source: str) -> None:
    x, w = torch.randn(64, 777), torch.randn(777)
    inputs = Inputs((array(x), array(w)))
    artifact = runner.compile(source, inputs)
    (kernel,) = artifact.kernels
    assert kernel.name == "rms"
    assert kernel.registers and kernel.occupancy
    outputs = runner.launch(artifact, inputs)
    torch.testing.assert_close(outputs.value.cpu().double(), reference(x, w), rtol=1e-5, atol=1e-5)
    assert [(launch.kernel, launch.count) for launch in outputs.launches] == [("rms", 1)]


@pytest.mark.parametrize(
    "source, expected",
    [(TUNED, X + 1), (HEURISTIC, X + 1), (NESTED, X + 1), (SEVERAL, (X + 1) * 8)],
    ids=["tuned", "heuristics", "nested", "several"],
)
def test_structures(runner: Runner, source: str, expected: torch.Tensor) -> None:
    inputs = Inputs((array(X),))
    artifact = runner.compile(source, inputs)
    outputs = runner.launch(artifact, inputs)
    assert torch.equal(outputs.value.cpu(), expected)
    assert sum(launch.count for launch in outputs.launches) == (4 if source is SEVERAL else 1)


def test_destination_and_module(runner: Runner) -> None:
    inputs = Inputs((array(X),), destination=(array(torch.full((1000,), float("nan"))),))
    outputs = runner.launch(runner.compile(DESTINATION, inputs), inputs)
    assert torch.equal(inputs.destination[0].as_torch().cpu(), X + 1)
    state = {"scale": array(torch.full((1000,), 5.0)), "kept": array(torch.full((1000,), 2.0))}
    inputs = Inputs((array(X),), (3.0,), state)
    artifact = runner.compile(MODULE, inputs, entry="ModelNew", form="module")
    outputs = runner.launch(artifact, inputs)
    assert torch.equal(outputs.value.cpu(), 3 + X * 5)


def test_modes(runner: Runner) -> None:
    source = (
        ADD + "def candidate(x):\n    y = torch.zeros_like(x)\n    kernel[(8,)](x, y, 1000, BLOCK=128)\n    return y\n"
    )
    inputs = Inputs((array(X),))
    artifact = runner.compile(source, inputs)
    assert torch.equal(runner.launch(artifact, inputs, "traced").value.cpu(), X + 1)
    noop = runner.launch(artifact, inputs, "noop")
    assert noop.value.count_nonzero().item() == 0
    assert noop.launches == ()
    with pytest.raises(CandidateFault, match="was refused") as caught:
        runner.launch(artifact, inputs, "raise")
    assert caught.value.status == "launch_failed"
    assert torch.equal(runner.launch(artifact, inputs).value.cpu(), X + 1)


def test_missing_constexpr(runner: Runner) -> None:
    inputs = Inputs((array(torch.randn(4, 64)), array(torch.randn(64))))
    with pytest.raises(CandidateFault, match="constexpr") as caught:
        runner.compile(ONE_ROW.replace("BLOCK: tl.constexpr", "BLOCK"), inputs)
    assert caught.value.status == "compile_failed"
    assert caught.value.line == 7


def test_small_dot_and_no_room(runner: Runner) -> None:
    a = array(torch.zeros((256, 256), dtype=torch.float16))
    with pytest.raises(CandidateFault, match="K >= 16") as caught:
        runner.compile(matmul(4, 4, 4), Inputs((a, a)))
    assert caught.value.status == "compile_failed"
    with pytest.raises(CandidateFault, match="out of resource: shared memory") as caught:
        runner.compile(matmul(256, 256, 128, warps=8, stages=4), Inputs((a, a)))
    assert caught.value.status == "compile_failed"


def test_host_tensor(runner: Runner) -> None:
    source = (
        ADD + "def candidate(x):\n    y = torch.empty(1000)\n    kernel[(8,)](x, y, 1000, BLOCK=128)\n    return y\n"
    )
    with pytest.raises(CandidateFault, match="cpu tensor") as caught:
        runner.compile(source, Inputs((array(X),)))
    assert caught.value.status == "launch_failed"


def test_companion_is_recorded_beside_the_device(runner: Runner) -> None:
    from kengine_triton import plugin

    inputs = Inputs((array(X),))
    artifact = runner.compile(TUNED, inputs)
    candidate = Candidate((SourceFile("kernel.py", HEAD + TUNED),), "candidate")
    for arch in ("sm_80", "gfx942"):
        other = plugin.kengine_compile(
            candidate, TaskView("function", "candidate"), Target("triton", arch), [inputs], runner.folder
        )
        assert other.kernels
    assert torch.equal(runner.launch(artifact, inputs).value.cpu(), X + 1)


@pytest.mark.parametrize("method", ["activity", "event", "wall"])
@pytest.mark.parametrize("size", [1 << 12, 1 << 20, 1 << 26])
def test_time(runner: Runner, method: Any, size: int) -> None:
    from kengine_triton import plugin

    source = (
        ADD
        + """
def candidate(x):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
"""
    )
    inputs = [Inputs((array(torch.zeros(size)),)) for _ in range(3)]
    artifact = runner.compile(source, inputs[0])
    timing = plugin.kengine_time(artifact, CaseView(0, ()), inputs, TimingPlan(50, 10, method))
    assert timing is not None
    samples = sorted(timing.samples_ns)
    print(f"{method}->{timing.method} {size}: median {samples[25]} ns, spread {samples[5]}..{samples[45]}, "
          f"launches {timing.launches}")  # fmt: skip
    assert timing.method == method
    assert len(samples) == 50
    assert timing.launches == (50 if method == "activity" else 0)
    # 2 x 4 bytes an element cannot move faster than 10 TB/s.
    assert samples[0] > size * 8 / 10_000


def test_properties() -> None:
    from kengine.device.properties import describe

    found = describe()
    assert found["arch"] == local_target().arch
    assert int(str(found["l2_bytes"])) > 1 << 20
