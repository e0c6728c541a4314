"""Figures of the SIMT emulator: `python benchmarks/simt.py [cache directory]`.

Times are processor time of the calling process, best of several runs, with arrays in guarded memory; compile times are
wall time. Everything is measured in one run on one machine.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import arguments
import numpy as np
from kengine.simt import build
from kengine.simt.toolchain import Mode, find_compiler, precompiled_header, runtime_library

ADD = """
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""
SOFTMAX = """
__global__ void softmax(const float* x, float* y, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, warp = t / 32, lane = t % 32, warps = blockDim.x / 32;
  const float* row = x + (size_t)blockIdx.x * n;
  float m = -INFINITY;
  for (int i = t; i < n; i += blockDim.x) m = fmaxf(m, row[i]);
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  if (!lane) s[warp] = m;
  __syncthreads();
  m = s[0];
  for (int i = 1; i < warps; ++i) m = fmaxf(m, s[i]);
  __syncthreads();
  float sum = 0;
  for (int i = t; i < n; i += blockDim.x) sum += __expf(row[i] - m);
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (!lane) s[warp] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < warps; ++i) sum += s[i];
  for (int i = t; i < n; i += blockDim.x) y[(size_t)blockIdx.x * n + i] = __expf(row[i] - m) / sum;
}
"""
MATMUL = """
#define T 16
__global__ void matmul(const float* A, const float* B, float* C, int n) {
  __shared__ float As[T][T], Bs[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += T) {
    As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}
"""


def best(run: Callable[[], None], repeats: int = 7) -> float:
    """Milliseconds of processor time."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times) * 1e3


def measure(check: bool, cache: Path) -> dict[str, float]:
    """Milliseconds per kernel."""
    rng = np.random.default_rng(0)
    out = {}
    n = 1 << 20
    add, softmax, matmul = (build(s, filename="kernel.cu", check=check, cache=cache) for s in (ADD, SOFTMAX, MATMUL))
    a, b, c = (add.empty(n, np.float32, name) for name in "abc")
    a[:], b[:] = rng.random(n, np.float32), rng.random(n, np.float32)
    out["vector add, 1 Mi"] = best(lambda: add.launch("add", n // 256, 256, (a, b, c, n)))
    assert np.array_equal(c, a + b)
    x, y = softmax.empty((1024, 1024), np.float32, "x"), softmax.empty((1024, 1024), np.float32, "y")
    x[:] = rng.standard_normal((1024, 1024), np.float32)
    out["softmax, 1024 x 1024"] = best(lambda: softmax.launch("softmax", 1024, 256, (x, y, 1024), 32), 4)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    assert np.allclose(y, e / e.sum(axis=1, keepdims=True), atol=1e-6)
    p, q, r = (matmul.empty((256, 256), np.float32, name) for name in "pqr")
    p[:], q[:] = rng.standard_normal((256, 256), np.float32), rng.standard_normal((256, 256), np.float32)
    out["tiled matmul, 256^3"] = best(lambda: matmul.launch("matmul", (16, 16), (16, 16), (p, q, r, 256)), 4)
    assert np.allclose(r, p @ q, atol=1e-3)
    return out


def main(cache_folder: str) -> None:
    """Print the figures and whether they reach their targets."""
    with tempfile.TemporaryDirectory() as temporary:
        cache = Path(cache_folder or temporary)
        print(f"compiler: {find_compiler().version.splitlines()[0]}")
        start = time.perf_counter()
        runtime_library(cache)
        print(f"runtime library, once a machine: {time.perf_counter() - start:.2f} s")
        for check in (False, True):
            start = time.perf_counter()
            precompiled_header(Mode(32, False, check, False), cache)
            print(f"precompiled header, once a machine, check={check}: {time.perf_counter() - start:.2f} s")
            source = ADD + f"// {time.time()}\n"
            for label in ("one kernel", "the same again (cached)"):
                start = time.perf_counter()
                build(source, filename="kernel.cu", check=check, cache=cache)
                print(f"build of {label}, check={check}: {(time.perf_counter() - start) * 1e3:.0f} ms")
        fast, checked = measure(False, cache), measure(True, cache)
        for name, target in zip(fast, (10, 150, 120)):
            ratio = checked[name] / fast[name]
            slow = f"with checks {checked[name]:.1f} ms = {ratio:.1f}x (target 8x)"
            print(f"{name}: {fast[name]:.1f} ms (target {target}), {slow}")


if __name__ == "__main__":
    main(arguments.read(__doc__, cache="").cache)
