// RMSNorm in which each lane of a wavefront writes its own sum to one place. Expected: launch_failed, a data race.

// /// kengine
// kernel = "normalize_row<{x}>"
// entry = "normalize_row"
// grid = "x.shape[0]"
// block = 256
// inputs = ["x", "gain"]
// outputs = ["y"]
// args = ["x", "gain", "y", "x.shape[1]", "x.stride(0)", "x.stride(1)", "gain.stride(0)", "1e-6"]
// ///

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

template <class T>
__global__ void normalize_row(const T* x, const T* gain, T* y, int width, long x_step, long x_unit, long gain_unit,
                              float eps) {
  __shared__ float sums[1024 / 32];
  const T* row = x + blockIdx.x * x_step;
  float square = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float v = static_cast<float>(row[i * x_unit]);
    square += v * v;
  }
  for (int d = warpSize / 2; d > 0; d /= 2) square += __shfl_down(square, d);
  int wave = threadIdx.x / warpSize;
  sums[wave] = square;
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < (blockDim.x + warpSize - 1) / warpSize; ++w) total += sums[w];
  float scale = rsqrtf(total / width + eps);
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    y[blockIdx.x * static_cast<long>(width) + i] =
        static_cast<T>(static_cast<float>(row[i * x_unit]) * scale * static_cast<float>(gain[i * gain_unit]));
}
