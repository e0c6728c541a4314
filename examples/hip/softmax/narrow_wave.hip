// Softmax whose shuffles add up 32 lanes of each wavefront. Expected: wrong_result where wavefronts have 64.

// /// kengine
// grid = "x.shape[0]"
// block = 128
// inputs = ["x"]
// outputs = ["y"]
// sizes = { width = "x.shape[1]" }
// ///

#include <hip/hip_runtime.h>

__device__ float reduce(float v, float* scratch, bool maximum) {
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_down(v, d);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  if (threadIdx.x % warpSize == 0) scratch[threadIdx.x / warpSize] = v;
  __syncthreads();
  float result = scratch[0];
  for (int w = 1; w < blockDim.x / warpSize; ++w) result = maximum ? fmaxf(result, scratch[w]) : result + scratch[w];
  __syncthreads();
  return result;
}

__global__ void softmax_row(const float* x, float* y, int width) {
  __shared__ float scratch[128];
  const float* row = x + blockIdx.x * width;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < width; i += blockDim.x) largest = fmaxf(largest, row[i]);
  largest = reduce(largest, scratch, true);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += __expf(row[i] - largest);
  sum = reduce(sum, scratch, false);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = __expf(row[i] - largest) / sum;
}
