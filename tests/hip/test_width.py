"""Two answers of one candidate, with wavefronts of two widths."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest
from kengine import Engine, Plan, Status, tasks
from kengine.model import Candidate, Mode, SourceFile, Target, TaskView
from kengine.plugins.hooks import Inputs
from kengine_hip import width
from kengine_hip.chips import EMULATED
from kengine_hip.width import difference, is_sensitive


def test_answers_that_agree() -> None:
    a = np.array([1.0, np.nan, np.inf, 1000.0], np.float32)
    assert difference(a, a.copy()) == ""
    assert difference(a, a + np.array([1e-2, 0, 0, 0], np.float32)) == ""
    assert difference((a, [a]), (a, [a])) == ""


@pytest.mark.parametrize(
    ("a", "b", "part"),
    [
        (np.zeros(3), np.array([0, 1, 0.0]), "output 0: 1 of 3 elements"),
        (np.ones(3), np.array([1, np.nan, 1.0]), "output 0: 1 of 3 elements"),
        (np.zeros(3), np.zeros(4), "shape [3] and [4]"),
        ((np.zeros(3), np.zeros(3)), np.zeros(3), "2 arrays and 1"),
    ],
)
def test_answers_that_do_not(a, b, part) -> None:
    assert part in difference(a, b)


@pytest.mark.parametrize(
    ("text", "sensitive"),
    [("y[i] = __shfl(v, 0);", True), ("int lane = threadIdx.x & 31;", True), ("y[i] = x[i] + 1;", False)],
)
def test_what_may_depend_on_the_width(text, sensitive) -> None:
    assert is_sensitive(Candidate((SourceFile("k.hip", text),), "k", "hip")) is sensitive


SUMS = """// /// kengine
// grid = 1
// block = 64
// args = ["x", "y", "n"]
// inputs = ["x"]
// outputs = ["y"]
// sizes = { n = "x.numel()" }
// ///
#include <hip/hip_runtime.h>
__global__ void total(const float* x, float* y, int n) {
  float v = threadIdx.x < n ? x[threadIdx.x] : 0.0f;
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
  if (threadIdx.x == 0) y[0] = v;
}
"""
TASK = """
# /// kengine
# [[cases]]
# n = 8
# [[cases]]
# n = 20
# [[cases]]
# n = 31
# [[cases]]
# n = 64
# ///
import torch

def reference(x):
    return x.sum().reshape(1)

def make_inputs(seed, device, n=8):
    return (torch.ones(n, device=device) + torch.rand(n, generator=torch.Generator(device).manual_seed(seed)),)
"""
RAW = '''
import cupy as cp
import torch

KERNEL = cp.RawKernel(r"""SOURCE""", "total")

def candidate(x):
    y = torch.empty(1, device=x.device)
    KERNEL((1,), (64,), (cp.from_dlpack(x), cp.from_dlpack(y), x.numel()))
    return y
'''.replace("SOURCE", SUMS[SUMS.index("#include") :].replace("__global__", 'extern "C" __global__'))


@pytest.mark.parametrize("name", ["k.hip", "k.py"])
@pytest.mark.parametrize("cases", [3, 4])
def test_every_case_is_repeated_with_the_other_width(name: str, cases: int) -> None:
    """Up to 32 elements one half of the wavefront holds them all: only the last case depends on the width."""
    if importlib.util.find_spec("torch") is None or not any(map(shutil.which, ("g++", "clang++", "c++"))):
        pytest.skip("needs torch and a C++ compiler")
    task = TASK if cases == 4 else TASK.replace("# [[cases]]\n# n = 64\n", "")
    with Engine(target="hip:cpu", compile_for=(), plan=Plan(), workers=1) as engine:
        verdict = engine.verify(tasks.parse(SUMS if name == "k.hip" else RAW, name, task_text=task))
    assert verdict.status is Status.passed, verdict.message
    details = verdict.stages.launch.details
    told = "same answer" if cases == 3 else "differs: output 0: 1 of 1 elements (case 3)"
    assert (details["with_32_lanes"], details["with_32_lanes_cases"]) == (told, len(verdict.stages.launch.launches))


def test_second_runs_end_when_their_time_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    target = Target("hip", "cpu")
    other = width._Other(
        Candidate((SourceFile("k.hip", "__shfl"),), "k", "hip"), TaskView("function", "k"), target, EMULATED, Path(), ()
    )
    monkeypatch.setattr(width, "_others", {target: other})
    monkeypatch.setattr(other, "call", lambda inputs: made.append(1) or np.ones(2))
    inputs = Inputs((), (), {}, ())
    for case in (0, 0, 1):
        if (repeated := width.prepare(target, case, inputs, Mode.normal)) is not None:
            repeated.compare(np.ones(2))
    assert len(made) == 2 and width.summary(target) == {
        "with_64_lanes": "same answer", "with_64_lanes_cases": 2
    }  # fmt: skip
    other.seconds = 0.0
    assert width.prepare(target, 2, inputs, Mode.normal) is None
    other.seconds = 1.0
    late = width.prepare(target, 2, inputs, Mode.normal)
    late.begun -= 0.5 * other.view.timeout_s
    late.compare(np.zeros(2))
    assert len(made) == 2, "the call has used too much of its time"
    width.prepare(target, 3, inputs, Mode.normal).compare(np.zeros(2))
    assert width.summary(target)["with_64_lanes"] == "differs: output 0: 2 of 2 elements (case 3)"
    assert width.prepare(target, 5, inputs, Mode.noop) is None
