// RMSNorm, 32 lanes for each row, as if a wavefront had no more. Expected: wrong_result where it has 64.

// /// kengine
// kernel = "normalize_row<{x}>"
// entry = "normalize_row"
// grid = "ceil_div(x.shape[0], 2)"
// block = 64
// inputs = ["x", "gain"]
// outputs = ["y"]
// args = ["x", "gain", "y", "x.shape[0]", "x.shape[1]", "x.stride(0)", "x.stride(1)", "gain.stride(0)"]
// ///

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

template <class T>
__global__ void normalize_row(const T* x, const T* gain, T* y, int rows, int width, long x_step, long x_unit,
                              long gain_unit) {
  int which = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const T* row = x + which * x_step;
  float square = 0.0f;
  if (which < rows)
    for (int i = lane; i < width; i += 32) {
      float v = static_cast<float>(row[i * x_unit]);
      square += v * v;
    }
  for (int d = 16; d > 0; d /= 2) square += __shfl_down(square, d);
  float scale = rsqrtf(__shfl(square, 0) / width + 1e-6f);
  if (which < rows)
    for (int i = lane; i < width; i += 32)
      y[which * static_cast<long>(width) + i] =
          static_cast<T>(static_cast<float>(row[i * x_unit]) * scale * static_cast<float>(gain[i * gain_unit]));
}
