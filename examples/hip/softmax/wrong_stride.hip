// Softmax that takes the matrix for one stored column by column. Expected: wrong_result.

// /// kengine
// grid = "x.shape[0]"
// block = 128
// inputs = ["x"]
// outputs = ["y"]
// sizes = { width = "x.shape[1]" }
// ///

#include <hip/hip_runtime.h>

__device__ float reduce(float v, float* scratch, bool maximum) {
  scratch[threadIdx.x] = v;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      float other = scratch[threadIdx.x + half];
      scratch[threadIdx.x] = maximum ? fmaxf(scratch[threadIdx.x], other) : scratch[threadIdx.x] + other;
    }
    __syncthreads();
  }
  float result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void softmax_row(const float* x, float* y, int width) {
  __shared__ float scratch[128];
  const float* row = x + blockIdx.x;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < width; i += blockDim.x) largest = fmaxf(largest, row[i * gridDim.x]);
  largest = reduce(largest, scratch, true);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += __expf(row[i * gridDim.x] - largest);
  sum = reduce(sum, scratch, false);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = __expf(row[i * gridDim.x] - largest) / sum;
}
