// RMSNorm over rows, one thread for each row: the task that one_block.hip makes faster.

// /// kengine
// name = "rmsnorm"
// category = "normalization"
// license = "Apache-2.0"
// grid = "ceil_div(rows, 64)"
// block = 64
// inputs = ["x", "gain"]
// outputs = ["y"]
// sizes = { rows = "x.shape[0]", width = "x.shape[1]" }
// params = { M = 4, N = 128 }
//
// [arrays.x]
// dtype = "float32"
// shape = ["M", "N"]
//
// [arrays.gain]
// dtype = "float32"
// shape = ["N"]
//
// [arrays.y]
// dtype = "float32"
// shape = ["rows", "width"]
//
// [[cases]]
// M = 4
// N = 128
//
// [[cases]]
// M = 3
// N = 127
//
// [[cases]]
// M = 5
// N = 1000
// layout = "strided"
// ///

#include <hip/hip_runtime.h>

__global__ void normalize_row(const float* x, const float* gain, float* y, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float square = 0.0f;
  for (int i = 0; i < width; ++i) square += x[row * width + i] * x[row * width + i];
  float scale = 1.0f / sqrtf(square / width + 1e-6f);
  for (int i = 0; i < width; ++i) y[row * width + i] = x[row * width + i] * scale * gain[i];
}
