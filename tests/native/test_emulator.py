"""The emulator's driver: how long checks may take, what a launch that is given up leaves, bare files."""

from __future__ import annotations

import pytest
from kengine.errors import CandidateFault
from kengine.model import Mode
from native_inputs import make_inputs

torch = pytest.importorskip("torch")

SLOW = '''import cupy as cp
import torch

SOURCE = r"""
__device__ int calls = 3;
extern "C" __global__ void work(float* x, int rounds) {
  if (threadIdx.x == 0) calls += 1;
  __syncthreads();
  float sum = 0.0f;
  for (int r = 0; r < rounds; ++r) sum += x[(threadIdx.x + r) % 256] * 0.5f;
  x[256 + threadIdx.x] += sum + calls;
}
"""
KERNEL = cp.RawKernel(SOURCE, "work")

def candidate(x):
    KERNEL((1,), (256,), (cp.from_dlpack(x), 10))
    KERNEL((1,), (256,), (cp.from_dlpack(x), ROUNDS))
    return x
'''


def test_a_launch_that_checks_make_too_slow_runs_without_them(session) -> None:
    rounds = 300_000
    called = session(SLOW.replace("ROUNDS", str(rounds)), timeout_s=1.0).call(
        make_inputs(torch.full((512,), 1.0)), Mode.normal
    )
    assert (called.checked, called.unchecked) == (1, 1)
    got = called.value[256:]
    # One addition for each of the launches: what the launch that was given up had written is gone, and the device
    # variable has gone with the kernel from one program to the other.
    assert torch.allclose(got, torch.full((256,), 1.0 + (5.0 + 4) + (0.5 * rounds + 5)), rtol=1e-3)


def test_without_checks_everything_runs_without_them(session) -> None:
    called = session(SLOW.replace("ROUNDS", "10"), check=False).call(make_inputs(torch.ones(512)), Mode.normal)
    assert (called.checked, called.unchecked) == (0, 2)


def test_an_endless_loop_is_timed_out_with_its_place(session) -> None:
    text = SLOW.replace("ROUNDS", "10").replace("r < rounds", "true")
    with pytest.raises(CandidateFault) as caught:
        session(text, timeout_s=1.0).call(make_inputs(torch.ones(512)), Mode.normal)
    assert caught.value.status == "timed_out" and caught.value.message.startswith("endless loop")
    assert "kernel work" in caught.value.message


BARE = """
template <typename T> __global__ void scale(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * T(2);
}

void run(const float* x, float* y, int n) {
  scale<float><<<(n + 63) / 64, 64>>>(x, y, n);
}
"""
OPTIONS = {"kernel": "scale<{x}>", "grid": "ceil_div(n, 64)", "block": 64, "inputs": ("x",), "outputs": ("y",),
           "sizes": {"n": "x.numel()"}}  # fmt: skip


def test_a_bare_file_is_compiled_once_for_the_types_of_its_samples(session) -> None:
    given = [
        make_inputs(torch.arange(100).to(t), outputs=(torch.zeros(100, dtype=t),)) for t in (torch.float32, torch.int64)
    ]
    loaded = session(BARE, "k.cu", "scale", OPTIONS, samples=given)
    assert [have for have in loaded.modules] == [("scale<float>", "scale<long long>")]
    for inputs in given:
        called = loaded.call(inputs, Mode.normal)
        assert torch.equal(called.value, 2 * inputs.args[0].as_torch())
    assert len(loaded.modules) == 1
    half = make_inputs(torch.ones(100, dtype=torch.float64), outputs=(torch.zeros(100, dtype=torch.float64),))
    assert torch.equal(loaded.call(half, Mode.normal).value, torch.full((100,), 2.0, dtype=torch.float64))


def test_a_host_function_launches_for_itself(session) -> None:
    inputs = make_inputs(torch.arange(100.0), outputs=(torch.zeros(100),))
    loaded = session(BARE, "k.cu", "run", {"sizes": {"n": "x.numel()"}}, samples=(inputs,))
    called = loaded.call(inputs, Mode.normal)
    assert torch.equal(called.value, 2 * torch.arange(100.0))
    assert [(launch.kernel, launch.grid) for launch in called.launches] == [("scale<float>", (2,))]
    withheld = loaded.call(make_inputs(torch.arange(100.0), outputs=(torch.zeros(100),)), Mode.noop)
    assert withheld.launches == () and not withheld.value.any()


def test_a_kernel_that_the_block_names_and_the_file_lacks(session) -> None:
    with pytest.raises(CandidateFault) as caught:
        session(BARE, "k.cu", "scale", {**OPTIONS, "kernel": "scala<{x}>"})
    assert caught.value.status == "compile_failed"
    assert (
        "names the kernel 'scala<{x}>', which the file does not define; did you mean 'scale'?" in caught.value.message
    )
