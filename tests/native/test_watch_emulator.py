"""Kernels of the emulator as the followed call sees them: every form of launch, arguments, what they wrote."""

from __future__ import annotations

from typing import Any

import pytest
from kengine.model import Mode
from native_inputs import make_inputs
from watch_support import Seen, followed

torch = pytest.importorskip("torch")

X = torch.arange(1, 201, dtype=torch.float32)
HEAD = '''import cupy as cp
import numpy as np
import torch

SOURCE = r"""
extern "C" __global__ void scale(const float* x, float* y, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factor;
}
extern "C" __global__ void unused(float* x) { x[0] = 0; }
"""
KERNEL = cp.RawKernel(SOURCE, "scale")
'''
RAW = HEAD + """
def candidate(x):
    y = torch.empty_like(x)
    KERNEL((4,), (64,), (cp.from_dlpack(x), cp.from_dlpack(y), cp.float32(2), x.numel()))
    return y
"""
ADDRESS = HEAD + """
def candidate(x):
    y = torch.empty_like(x)
    KERNEL((4,), (64,), (x.data_ptr(), y.data_ptr(), cp.float32(2), x.numel()))
    return y
"""
TABLE = '''import cupy as cp
import torch
KERNEL = cp.RawKernel(r"""
extern "C" __global__ void scale(const long long* table, int n) {
  int i = threadIdx.x;
  const float* x = (const float*)table[0]; float* y = (float*)table[1];
  if (i < n) y[i] = x[i] * 2.0f;
}
""", "scale")

def candidate(x):
    y = torch.empty_like(x)
    table = torch.tensor([x.data_ptr(), y.data_ptr()], dtype=torch.int64, device=x.device)
    KERNEL((1,), (256,), (cp.from_dlpack(table), x.numel()))
    return y
'''
BARE = """
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}
"""
BARE_OPTIONS = {"grid": "ceil_div(x.numel(), 64)", "block": 64, "sizes": {"n": "x.numel()"}}
HOST = """
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}
extern "C" void launch(const float* x, float* y, int n) { scale<<<(n + 63) / 64, 64>>>(x, y, n); }
"""


def look(session: Any, text: str, *args: Any, **given: Any) -> Seen:
    outputs = given.pop("outputs", ())
    loaded = session(text, **given)
    inputs = make_inputs(*args, outputs=outputs)
    return followed(inputs, lambda: loaded.call(inputs, Mode.traced))


@pytest.mark.parametrize("text", [RAW, ADDRESS, TABLE], ids=["arrays", "addresses", "a table of addresses"])
def test_a_raw_kernel_writes_the_answer(session: Any, text: str) -> None:
    seen = look(session, text, X)
    assert torch.equal(seen.value, 2 * X)
    assert [(k.name, k.count) for k in seen.facts.kernels] == [("scale", 1)]
    assert seen.facts.kernels[0].nbytes >= 2 * X.nbytes
    (origin,) = seen.facts.outputs
    assert (origin.inputs, origin.kernels, origin.foreign, origin.writer) == (True, True, False, "scale")
    assert seen.facts.operators == () and seen.facts.foreign_bytes <= 16  # the table came from a list


def test_a_kernel_without_time_for_checks_is_one_launch(session: Any) -> None:
    seen = look(session, RAW, X, check=False)
    assert [(k.name, k.count) for k in seen.facts.kernels] == [("scale", 1)]
    assert seen.facts.outputs[0].kernels


def test_a_bare_file(session: Any) -> None:
    seen = look(session, BARE, X, name="k.cu", entry="scale", options=BARE_OPTIONS, outputs=(torch.zeros(200),))
    assert torch.equal(seen.value, 2 * X)
    assert [(k.name, k.count) for k in seen.facts.kernels] == [("scale", 1)]
    assert seen.facts.outputs[0].kernels and seen.facts.outputs[0].inputs


def test_a_host_function_of_a_bare_file(session: Any) -> None:
    options = {"sizes": {"n": "x.numel()"}}
    seen = look(session, HOST, X, name="k.cu", entry="launch", options=options, outputs=(torch.zeros(200),))
    assert torch.equal(seen.value, 2 * X)
    assert [(k.name, k.count) for k in seen.facts.kernels] == [("scale", 1)]
    (origin,) = seen.facts.outputs
    assert (origin.inputs, origin.kernels, origin.foreign) == (True, True, False)


def test_nothing_is_followed_outside_of_a_followed_call(session: Any) -> None:
    called = session(RAW).call(make_inputs(X), Mode.traced)
    assert torch.equal(called.value, 2 * X)
    assert [launch.kernel for launch in called.launches] == ["scale"]


@pytest.mark.parametrize("mode", [Mode.noop, Mode.raises])
def test_a_launch_that_does_not_happen_is_no_kernel(session: Any, mode: Mode) -> None:
    loaded = session(RAW)
    inputs = make_inputs(X)

    def call() -> Any:
        try:
            return loaded.call(inputs, mode)
        except Exception:
            return None

    assert followed(inputs, call).facts.kernels == ()
