"""Softmax as a kernel of CuPy, one wavefront for each row. Passes."""

import cupy
import torch

KERNEL = cupy.RawKernel(
    r"""
extern "C" __global__ void softmax_row(const float* x, float* y, int width) {
  const float* row = x + blockIdx.x * width;
  float largest = -INFINITY, sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += warpSize) largest = fmaxf(largest, row[i]);
  for (int d = warpSize / 2; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor(largest, d));
  for (int i = threadIdx.x; i < width; i += warpSize) sum += expf(row[i] - largest);
  for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_xor(sum, d);
  for (int i = threadIdx.x; i < width; i += warpSize) y[blockIdx.x * width + i] = expf(row[i] - largest) / sum;
}
""",
    "softmax_row",
)


def candidate(x):
    lanes = cupy.cuda.Device().attributes["WarpSize"]
    y = torch.empty_like(x)
    KERNEL((x.shape[0],), (lanes,), (cupy.from_dlpack(x), cupy.from_dlpack(y), cupy.int32(x.shape[1])))
    return y
