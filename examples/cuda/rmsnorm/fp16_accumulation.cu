// RMSNorm that accumulates a row's squares in half precision, one thread for each row. Expected: wrong_result.

// /// kengine
// kernel = "rmsnorm<{x}>"
// entry = "rmsnorm"
// inputs = ["x", "gain"]
// outputs = ["y"]
// grid = "ceil_div(x.shape[0], 32)"
// block = 32
// args = ["x", "gain", "y", "x.shape[0]", "x.shape[1]", "x.stride(0)", "x.stride(1)", "gain.stride(0)", "1e-6"]
// ///

#include <cuda_fp16.h>

template <typename T>
__global__ void rmsnorm(const T* x, const T* gain, T* y, int rows, int width, int x_step, int x_unit, int gain_unit,
                        float eps) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  __half sum = __float2half(0.0f);
  for (int i = 0; i < width; ++i) {
    __half value = __half(float(x[row * x_step + i * x_unit]));
    sum = __hadd(sum, __hmul(value, value));
  }
  float scale = rsqrtf(__half2float(sum) / width + eps);
  for (int i = 0; i < width; ++i)
    y[row * width + i] = T(float(x[row * x_step + i * x_unit]) * scale * float(gain[i * gain_unit]));
}
