// Sum whose first thread reads sums of wavefronts that may still run. Expected: launch_failed, a data race.

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
  __shared__ float sums[8];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
  if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = sum;
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / warpSize; ++w) sum += sums[w];
    atomicAdd(total, sum);
  }
}
