// /// kengine-corpus
// task = "rms_norm"
// trap = "helpers"
// does = "Joins wavefronts through shared memory; a helper that nobody calls is left from before."
// ///

// /// kengine
// grid = "x.shape[0]"
// block = 256
// inputs = ["x", "gain"]
// outputs = ["y"]
// sizes = { width = "x.shape[1]" }
// ///
#include <hip/hip_runtime.h>

__device__ float sum_of_wave(float value) {
  for (int d = warpSize / 2; d > 0; d /= 2) value += __shfl_down(value, d);
  return value;
}

__device__ float largest_of_wave(float value) {
  for (int d = warpSize / 2; d > 0; d /= 2) value = fmaxf(value, __shfl_down(value, d));
  return value;
}

__global__ void __launch_bounds__(256) rms_norm(const float* x, const float* gain, float* y, int width) {
  __shared__ float partial[16];
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += row[i] * row[i];
  sum = sum_of_wave(sum);
  if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < blockDim.x / warpSize; ++w) total += partial[w];
  float scale = rsqrtf(total / width + 1e-6f);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = row[i] * scale * gain[i];
}
