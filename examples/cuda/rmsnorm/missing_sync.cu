// RMSNorm whose first warp reads the partial sums of warps that may still run. Expected: launch_failed, a data race.

// /// kengine
// kernel = "rmsnorm<{x}>"
// entry = "rmsnorm"
// inputs = ["x", "gain"]
// outputs = ["y"]
// grid = "x.shape[0]"
// block = 128
// args = ["x", "gain", "y", "x.shape[1]", "x.stride(0)", "x.stride(1)", "gain.stride(0)", "1e-6"]
// ///

#include <cuda_fp16.h>

__device__ float sum_of_warp(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

template <typename T>
__global__ void rmsnorm(const T* x, const T* gain, T* y, int width, int x_step, int x_unit, int gain_unit, float eps) {
  __shared__ float partial[32];
  const T* row = x + blockIdx.x * x_step;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float value = float(row[i * x_unit]);
    sum += value * value;
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    sum = sum_of_warp(sum);
    if (threadIdx.x == 0) partial[0] = rsqrtf(sum / width + eps);
  }
  __syncthreads();
  float scale = partial[0];
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    y[blockIdx.x * width + i] = T(float(row[i * x_unit]) * scale * float(gain[i * gain_unit]));
}
