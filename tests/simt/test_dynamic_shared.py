"""Dynamic shared memory that grows from launch to launch is checked in its whole length each time."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")

SOURCE = """
__global__ void turn(const float* x, float* y, int n) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = s[n - 1 - i];
}
"""


def test_a_later_launch_may_use_more(compile_source):
    program = compile_source(SOURCE, lanes=32, dialect="cuda", check=True)
    for n in (32, 4096, 64, 8192):
        x, y = np.arange(n, dtype=np.float32), np.zeros(n, dtype=np.float32)
        program.launch("turn", (1,), (64,), (x, y, n), shared_bytes=4 * n)
        assert np.array_equal(y, x[::-1])
