"""The block that is proposed where there is none: by the kernel's parameters, and good enough to be judged with."""

from __future__ import annotations

import importlib.util
import shutil

import pytest
from kengine import Engine, Plan, tasks
from kengine.native.proposal import propose_block

TASK = """import torch
def make_inputs(seed, device, n=1000):
    draw = torch.Generator(device).manual_seed(seed)
    return torch.randn(n, generator=draw, device=device), torch.randn(n, generator=draw, device=device)
def reference(a, b):
    return a * 2 + b
"""
KERNEL = """template <typename T>
__global__ void scale_add(T* __restrict__ out, const T* __restrict__ a, const T* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * (T)2 + b[i];
}
"""


@pytest.mark.parametrize(
    ("text", "kernel", "lines"),
    [
        (
            KERNEL, "scale_add",
            ['kernel = "scale_add<{a}>"', 'grid = "ceil_div(out.numel(), 256)"', "block = 256", 'inputs = ["a", "b"]',
             'outputs = ["out"]', 'sizes = { n = "a.numel()" }'],
        ),
        (
            "__global__ void norm(const float* x, float* y, int width, float eps, double gain) { }", "norm",
            ['grid = "ceil_div(y.numel(), 256)"', "block = 256", 'inputs = ["x"]', 'outputs = ["y"]',
             'sizes = { width = "x.shape[-1]", eps = "1e-6", gain = "1.0" }'],
        ),
        ("__global__ void k() { }", "k", ['grid = "ceil_div(x.numel(), 256)"', "block = 256"]),
    ],
)  # fmt: skip
def test_the_kernels_parameters_make_the_block(text: str, kernel: str, lines: list[str]) -> None:
    assert propose_block(text, kernel) == ("// /// kengine", *(f"// {line}" for line in lines), "// ///")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
@pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="needs a C++ compiler")
@pytest.mark.parametrize(("target", "suffix"), [("cuda:cpu", ".cu"), ("hip:cpu", ".hip")])
def test_what_is_said_of_a_missing_block_can_be_pasted(target: str, suffix: str) -> None:
    task = tasks.parse_task(TASK)
    with Engine(target=target, compile_for=(), plan=Plan(cases=2), workers=1) as engine:
        missing = engine.verify(tasks.pair(KERNEL, task, f"k{suffix}"))
        assert missing.status == "compile_failed" and "`// block = 256`" in missing.message
        assert missing.log.splitlines() == list(propose_block(KERNEL, "scale_add"))
        mended = engine.verify(tasks.pair(f"{missing.log}\n\n{KERNEL}", task, f"k{suffix}"))
        assert mended.passed, mended.message
