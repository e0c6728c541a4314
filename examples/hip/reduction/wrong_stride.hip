// Sum whose blocks all step by one block, so that most elements count often. Expected: wrong_result.

// /// kengine
// entry = "add_up"
// inputs = ["x"]
// outputs = ["total"]
// sizes = { n = "x.numel()" }
//
// [[launch]]
// kernel = "clear"
// grid = 1
// block = 1
//
// [[launch]]
// kernel = "add_up"
// grid = "min(ceil_div(n, 256), 8)"
// block = 256
// ///

#include <hip/hip_runtime.h>

__global__ void clear(float* total) { *total = 0.0f; }

__global__ void add_up(const float* x, float* total, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
  if (threadIdx.x % warpSize == 0) atomicAdd(total, sum);
}
