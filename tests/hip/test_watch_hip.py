"""Kernels of HIP in a followed call, on the emulator, and what an artifact says of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from kengine.model import Candidate, CaseView, Mode, SourceFile, Target, TaskView
from native_inputs import make_inputs
from watch_support import followed

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="needs a C++ compiler")

SOURCE = """
#include <hip/hip_runtime.h>
template <typename T> __global__ void unused(T* x) { x[0] = T(0); }
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}
"""
OPTIONS = {"grid": "ceil_div(x.numel(), 64)", "block": 64, "sizes": {"n": "x.numel()"}}


def test_a_bare_file_on_the_emulator(tmp_path: Path) -> None:
    from kengine_hip import compile, launch

    candidate = Candidate((SourceFile("k.hip", SOURCE),), "scale", "hip", OPTIONS)
    target, view = Target("hip", "cpu"), TaskView("function", "scale")
    x = torch.arange(1, 201, dtype=torch.float32)
    inputs = make_inputs(x, outputs=(torch.full((200,), float("nan")),))
    artifact = compile.compile_candidate(candidate, view, target, [inputs], tmp_path)
    assert artifact.details["defined"] == ("unused", "scale")
    assert artifact.details["libraries"] == () and artifact.details["operators"] == ()
    launch.launch_candidate(artifact, CaseView(0, ()), inputs, Mode.normal)
    inputs.destination[0].as_torch().fill_(float("nan"))
    seen = followed(inputs, lambda: launch.launch_candidate(artifact, CaseView(0, ()), inputs, Mode.traced))
    assert torch.equal(seen.value, 2 * x)
    assert seen.kernels == {"scale": 1} and seen.operators == {} and seen.origins == [(True, True, False)]


def test_places_of_arrays_of_cupy() -> None:
    from kengine_hip.device import _places

    array = SimpleNamespace(data=SimpleNamespace(ptr=4096), nbytes=16)
    assert _places([(1, 1), (array, 3, [array])]) == [(4096, 16), (4096, 16)]
