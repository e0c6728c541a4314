"""Running sums, one wavefront for each row, a carry between its steps."""

# /// kengine-corpus
# task = "prefix_sum"
# trap = "queries"
# does = "Asks the device for its wavefront size and launches that many lanes; shuffles within the wavefront."
# ///

import cupy
import torch

SOURCE = r"""
extern "C" __global__ void scan_row(const float* x, float* y, int width) {
  const float* row = x + blockIdx.x * width;
  int lane = threadIdx.x;
  float carry = 0.0f;
  for (int start = 0; start < width; start += warpSize) {
    int i = start + lane;
    float value = i < width ? row[i] : 0.0f;
    for (int d = 1; d < warpSize; d *= 2) {
      float below = __shfl_up(value, d);
      if (lane >= d) value += below;
    }
    value += carry;
    if (i < width) y[blockIdx.x * width + i] = value;
    carry = __shfl(value, warpSize - 1);
  }
}
"""
KERNEL = cupy.RawKernel(SOURCE, "scan_row")
_lanes = None


def lanes():
    global _lanes
    if _lanes is None:
        _lanes = int(cupy.cuda.Device().attributes["WarpSize"])
    return _lanes


def candidate(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    KERNEL((x.shape[0],), (lanes(),), (cupy.from_dlpack(x), cupy.from_dlpack(y), cupy.int32(x.shape[1])))
    return y
