// The row norms of a matrix, one thread for each row: the task that one_block.hip makes faster.

// /// kengine
// name = "row_norms"
// category = "reduction"
// license = "Apache-2.0"
// grid = "ceil_div(rows, 64)"
// block = 64
// inputs = ["x"]
// outputs = ["norms"]
// sizes = { rows = "x.shape[0]", width = "x.shape[1]" }
// params = { M = 5, N = 200 }
//
// [arrays.x]
// dtype = "float32"
// shape = ["M", "N"]
//
// [arrays.norms]
// dtype = "float32"
// shape = ["rows"]
//
// [[cases]]
// M = 5
// N = 200
//
// [[cases]]
// M = 3
// N = 129
// ///

#include <hip/hip_runtime.h>

__global__ void row_norms(const float* x, float* norms, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < width; ++i) sum += x[row * width + i] * x[row * width + i];
  norms[row] = sqrtf(sum);
}
