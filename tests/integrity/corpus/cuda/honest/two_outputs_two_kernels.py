"""Row sums and places of the largest elements: two functions of one module, a side stream that is joined."""

# /// kengine-corpus
# task = "row_stats"
# trap = "streams"
# does = "On a device the second kernel runs on a side stream which waits for the inputs and is waited for; buffers come from new_empty."
# ///

import contextlib

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void row_sums(const float* x, float* sums, int width) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 32) sum += x[blockIdx.x * width + i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" __global__ void row_places(const float* x, long long* places, int width) {
  float top = -__int_as_float(0x7f800000);
  int place = 0x7fffffff;
  for (int i = threadIdx.x; i < width; i += 32) {
    float value = x[blockIdx.x * width + i];
    if (value > top) { top = value; place = i; }
  }
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_down_sync(0xffffffffu, top, d);
    int there = __shfl_down_sync(0xffffffffu, place, d);
    if (other > top || (other == top && there < place)) { top = other; place = there; }
  }
  if (threadIdx.x == 0) places[blockIdx.x] = place;
}
"""
SUMS = cp.RawKernel(SOURCE, "row_sums")
PLACES = cp.RawKernel(SOURCE, "row_places")


def beside(x):
    if not x.is_cuda:
        return contextlib.nullcontext(), None
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    return cp.cuda.ExternalStream(side.cuda_stream), side


def candidate(x):
    x = x.contiguous()
    rows, width = x.shape
    sums = x.new_empty(rows)
    places = x.new_empty(rows, dtype=torch.int64)
    SUMS((rows,), (32,), (cp.from_dlpack(x), cp.from_dlpack(sums), width))
    context, side = beside(x)
    with context:
        PLACES((rows,), (32,), (cp.from_dlpack(x), cp.from_dlpack(places), width))
    if side is not None:
        torch.cuda.current_stream().wait_stream(side)
    return sums, places
