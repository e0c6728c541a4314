// Softmax over rows, one thread for each row: the task that one_block.hip makes faster.

// /// kengine
// name = "softmax"
// category = "softmax"
// license = "Apache-2.0"
// grid = "ceil_div(rows, 64)"
// block = 64
// inputs = ["x"]
// outputs = ["y"]
// sizes = { rows = "x.shape[0]", width = "x.shape[1]" }
// params = { M = 4, N = 256 }
//
// [arrays.x]
// dtype = "float32"
// shape = ["M", "N"]
//
// [arrays.y]
// dtype = "float32"
// shape = ["rows", "width"]
//
// [[cases]]
// M = 4
// N = 256
//
// [[cases]]
// M = 3
// N = 501
// ///

#include <hip/hip_runtime.h>

__global__ void softmax_row(const float* x, float* y, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float largest = -INFINITY, sum = 0.0f;
  for (int i = 0; i < width; ++i) largest = fmaxf(largest, x[row * width + i]);
  for (int i = 0; i < width; ++i) sum += expf(x[row * width + i] - largest);
  for (int i = 0; i < width; ++i) y[row * width + i] = expf(x[row * width + i] - largest) / sum;
}
