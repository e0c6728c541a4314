// Row norms that read sums of wavefronts that may still run. Expected: launch_failed, a data race.

// /// kengine
// grid = "x.shape[0]"
// block = 128
// inputs = ["x"]
// outputs = ["norms"]
// sizes = { width = "x.shape[1]" }
// ///

#include <hip/hip_runtime.h>

__global__ void row_norms(const float* x, float* norms, int width) {
  __shared__ float sums[8];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float v = x[blockIdx.x * width + i];
    sum += v * v;
  }
  for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
  if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = sum;
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / warpSize; ++w) sum += sums[w];
    norms[blockIdx.x] = sqrtf(sum);
  }
}
