"""Matrix product as a kernel of CuPy: one wavefront for each element, joined by shuffles. Passes."""

import cupy
import torch

KERNEL = cupy.RawKernel(
    r"""
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  int lane = threadIdx.x % warpSize, waves = gridDim.x * blockDim.x / warpSize;
  for (int at = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize; at < m * n; at += waves) {
    int row = at / n, column = at % n;
    float sum = 0.0f;
    for (int i = lane; i < k; i += warpSize) sum += a[row * k + i] * b[i * n + column];
    for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
    if (lane == 0) c[at] = sum;
  }
}
""",
    "multiply",
)


def candidate(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    arrays = [cupy.from_dlpack(t) for t in (a, b, c)]
    KERNEL((8,), (256,), (*arrays, *(cupy.int32(v) for v in (m, n, k))))
    return c
