# /// kengine-corpus
# task = "row_stats"
# trap = "destination"
# does = "Returns two outputs that one kernel wrote, of different types."
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void row_stats(const float* x, float* sums, long long* places, int width) {
  __shared__ float total[64];
  __shared__ float best[64];
  __shared__ int where[64];
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f, top = -__int_as_float(0x7f800000);
  int place = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    sum += row[i];
    if (row[i] > top) top = row[i], place = i;
  }
  total[threadIdx.x] = sum, best[threadIdx.x] = top, where[threadIdx.x] = place;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    int other = threadIdx.x + half;
    if (threadIdx.x < half) {
      total[threadIdx.x] += total[other];
      bool wins = best[other] > best[threadIdx.x] ||
                  (best[other] == best[threadIdx.x] && where[other] < where[threadIdx.x]);
      if (wins) best[threadIdx.x] = best[other], where[threadIdx.x] = where[other];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = total[0], places[blockIdx.x] = where[0];
}
"""
KERNEL = cp.RawKernel(SOURCE, "row_stats")


def candidate(x):
    rows, width = x.shape
    sums = x.new_empty(rows)
    places = torch.empty(rows, dtype=torch.int64, device=x.device)
    KERNEL((rows,), (64,), tuple(cp.from_dlpack(t) for t in (x, sums, places)) + (width,))
    return sums, places
