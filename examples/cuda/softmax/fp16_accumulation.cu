// Softmax that adds up exponentials in half precision. Expected: wrong_result.

// /// kengine
// grid = "x.shape[0]"
// block = 128
// inputs = ["x"]
// outputs = ["y"]
// sizes = { width = "x.shape[1]" }
// ///

#include <cuda_fp16.h>

__device__ float join(float value, float* scratch, bool largest) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      float other = scratch[threadIdx.x + half];
      scratch[threadIdx.x] = largest ? fmaxf(scratch[threadIdx.x], other) : scratch[threadIdx.x] + other;
    }
    __syncthreads();
  }
  float result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void softmax(const float* x, float* y, int width) {
  __shared__ float scratch[128];
  const float* row = x + blockIdx.x * width;
  float top = -3.4e38f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) top = fmaxf(top, row[i]);
  top = join(top, scratch, true);
  __half part = __float2half(0.0f);
  for (int i = threadIdx.x; i < width; i += blockDim.x) part = __hadd(part, __float2half(expf(row[i] - top)));
  float sum = join(__half2float(part), scratch, false);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = expf(row[i] - top) / sum;
}
